/* SPDX-License-Identifier: Apache-2.0 */
#include "config/yaml_tree.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "base/test_support.h"

static hac_yaml_node *parse(const char *text)
{
    hac_error err = HAC_ERROR_NONE;
    hac_yaml_node *root = NULL;
    if (hac_yaml_parse("t.yaml", text, strlen(text), &root, &err) != HAC_OK)
        fail_msg("%s", err.message);
    return root;
}

static void assert_refused_bytes(const char *text, size_t length, const char *message)
{
    hac_error err = HAC_ERROR_NONE;
    hac_yaml_node *root = NULL;
    assert_int_equal(hac_yaml_parse("t.yaml", text, length, &root, &err), HAC_INVALID);
    assert_null(root);
    if (strncmp(err.message, message, strlen(message)) != 0)
        fail_msg("got \"%s\", expected \"%s\"", err.message, message);
    assert_int_equal(hac_yaml_parse("t.yaml", text, length, &root, NULL), HAC_INVALID);
}

static void assert_refused(const char *text, const char *message)
{
    assert_refused_bytes(text, strlen(text), message);
}

/* `count` times `text`, behind what is there already. */
static void repeat(char *buffer, const char *text, size_t count)
{
    char *end = buffer + strlen(buffer);
    for (size_t i = 0; i < count; i++)
        end = stpcpy(end, text);
}

static void test_tree(void **state)
{
    (void)state;
    hac_yaml_node *root = parse("# comment\n"
                                "a: 1\n"
                                "b:\n"
                                "  c: 'two'\n"
                                "  d: [x, {y: z}]\n"
                                "e:\n"
                                "  - 5\n");
    assert_int_equal(root->kind, HAC_YAML_MAP);
    assert_int_equal(root->count, 3);
    const hac_yaml_node *a = hac_yaml_get(root, "a"), *c = hac_yaml_get(root, "b.c"),
                        *d = hac_yaml_get(root, "b.d");
    assert_string_equal(a->text, "1");
    assert_true(a->plain);
    assert_int_equal(a->line, 2);
    assert_string_equal(c->text, "two");
    assert_false(c->plain);
    assert_int_equal(c->line, 4);
    assert_int_equal(d->kind, HAC_YAML_LIST);
    assert_int_equal(d->count, 2);
    assert_string_equal(d->first->next->first->text, "z");
    const hac_yaml_node *e = hac_yaml_get(root, "e");
    assert_int_equal(e->key_line, 6);
    assert_int_equal(e->line, 7);
    assert_null(hac_yaml_get(root, "b.x"));
    assert_null(hac_yaml_get(root, "a.x"));
    assert_null(hac_yaml_get(root, "bb"));
    assert_null(hac_yaml_get(root, "e.0"));
    assert_ptr_equal(hac_yaml_get(root, ""), root);
    hac_yaml_free(root);
}

static void test_path(void **state)
{
    (void)state;
    char path[HAC_YAML_PATH_SIZE];
    hac_yaml_node *root = parse("executors: [{}, {memory: {limit: 1}}]\n");
    const hac_yaml_node *entry = hac_yaml_get(root, "executors")->first->next;
    assert_string_equal(hac_yaml_path(root, path), "");
    assert_string_equal(hac_yaml_path(entry, path), "executors[1]");
    assert_string_equal(hac_yaml_path(hac_yaml_get(entry, "memory.limit"), path),
                        "executors[1].memory.limit");
    hac_yaml_free(root);
}

static void test_long_path_is_cut(void **state)
{
    (void)state;
    char text[4096] = "", path[HAC_YAML_PATH_SIZE];
    for (int i = 0; i < HAC_YAML_DEPTH_MAX - 2; i++) {
        repeat(text, "{", 1);
        repeat(text, "abcdefghij", 10);
        repeat(text, ": ", 1);
    }
    repeat(text, "1", 1);
    repeat(text, "}", HAC_YAML_DEPTH_MAX - 2);
    hac_yaml_node *root = parse(text);
    const hac_yaml_node *deepest = root;
    while (deepest->first != NULL)
        deepest = deepest->first;
    assert_int_equal(strlen(hac_yaml_path(deepest, path)), HAC_YAML_PATH_SIZE - 1);
    hac_yaml_free(root);
}

static void test_null(void **state)
{
    (void)state;
    hac_yaml_node *root = parse("a:\nb: ~\nc: null\nd: ''\ne: 'null'\nf: {}\ng: NULL\nh: nil\n");
    assert_true(hac_yaml_is_null(hac_yaml_get(root, "a")));
    assert_int_equal(hac_yaml_get(root, "a")->line, 1);
    assert_true(hac_yaml_is_null(hac_yaml_get(root, "b")));
    assert_true(hac_yaml_is_null(hac_yaml_get(root, "c")));
    assert_false(hac_yaml_is_null(hac_yaml_get(root, "d")));
    assert_false(hac_yaml_is_null(hac_yaml_get(root, "e")));
    assert_false(hac_yaml_is_null(hac_yaml_get(root, "f")));
    assert_true(hac_yaml_is_null(hac_yaml_get(root, "g")));
    assert_false(hac_yaml_is_null(hac_yaml_get(root, "h")));
    hac_yaml_free(root);
}

static void test_empty(void **state)
{
    (void)state;
    static const char *const empty[] = {"",           "\n\n", "# a comment\n", "---\n",
                                        "---\n...\n", "{}",   "\xEF\xBB\xBF"};
    for (size_t i = 0; i < sizeof empty / sizeof *empty; i++) {
        hac_yaml_node *root = parse(empty[i]);
        assert_int_equal(root->kind, HAC_YAML_MAP);
        assert_int_equal(root->count, 0);
        hac_yaml_free(root);
    }
}

static void test_root(void **state)
{
    (void)state;
    assert_refused("- a\n- b\n", "t.yaml:1: the file holds a list; allowed: keys with values");
    assert_refused("\n\nhello\n", "t.yaml:3: the file holds a single value");
    assert_refused("a: 1\n---\nb: 2\n", "t.yaml:2: a second document begins");
    assert_refused("%TAG ! tag:x,2000:\n---\na: 1\n", "t.yaml:1: %TAG is not allowed");
}

static void test_duplicates(void **state)
{
    (void)state;
    assert_refused("a: 1\nb: 2\na: 3\n", "t.yaml:3: key `a`: given twice, first in line 1; allowed: once");
    assert_refused("a:\n  b: 1\n  c: 2\n  'b': 3\n", "t.yaml:4: key `a.b`: given twice, first in line 2");
    assert_refused("{a: 1, a: 1}", "t.yaml:1: key `a`: given twice");
    hac_yaml_node *root = parse("a: {x: 1}\nb: {x: 1}\n"); /* in different maps */
    hac_yaml_free(root);
}

static void test_aliases(void **state)
{
    (void)state;
    assert_refused("a: &x 1\nb: *x\n", "t.yaml:1: anchors (&) are not allowed");
    assert_refused("a: &x [1]\n", "t.yaml:1: anchors (&) are not allowed");
    assert_refused("a: 1\nb: &x {c: 1}\n", "t.yaml:2: anchors (&) are not allowed");
    assert_refused("&k a: 1\n", "t.yaml:1: anchors (&) are not allowed");
    assert_refused("a: 1\nb: *x\n",
                   "t.yaml:2: aliases are not allowed; put a text that begins with * in quotes");
    assert_refused("*x : 1\n", "t.yaml:1: aliases are not allowed");
    assert_refused("a: 1\nb: *NVIDIA*\n",
                   "t.yaml:2: aliases are not allowed; put a text that begins with * in quotes");
    assert_refused("a: *\n", "t.yaml:1: aliases are not allowed");
    assert_refused("a: &a [x]\nb: &b [*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b]\n", "t.yaml:1: anchors");
    assert_refused("base: {a: 1}\nx:\n  <<: *base\n", "t.yaml:3: aliases are not allowed");
}

static void test_tags(void **state)
{
    (void)state;
    assert_refused("a: !!int 3\n", "t.yaml:1: tags (!) are not allowed");
    assert_refused("a: !local x\n", "t.yaml:1: tags (!) are not allowed");
    assert_refused("a: 1\nb: !!map {}\n", "t.yaml:2: tags (!) are not allowed");
    assert_refused("a: !!seq []\n", "t.yaml:1: tags (!) are not allowed");
    assert_refused("!!str a: 1\n", "t.yaml:1: tags (!) are not allowed");
    assert_refused("!!python/object:os.system {}\n", "t.yaml:1: tags (!) are not allowed");
}

static void test_keys_are_words(void **state)
{
    (void)state;
    assert_refused("? [a, b]\n: 1\n", "t.yaml:1: a key must be a word");
    assert_refused("? {a: b}\n: 1\n", "t.yaml:1: a key must be a word");
}

static void test_bytes(void **state)
{
    (void)state;
    assert_refused_bytes("a: 1\nb: \0x\n", 11,
                         "t.yaml:2: control characters are not allowed; allowed: UTF-8 text");
    assert_refused_bytes("\0\0\0\0", 4, "t.yaml:1: control characters are not allowed");
    assert_refused("a: \"x\\0y\"\n", "t.yaml:1: a text holds a NUL character");
    assert_refused("\"a\\0\": 1\n", "t.yaml:1: a text holds a NUL character");
    assert_refused("a: 1\n\nb: \xFF\xFE\n", "t.yaml:3: invalid leading UTF-8 octet; allowed: UTF-8 text");
    assert_refused("a: \xC3(\n", "t.yaml:1: invalid trailing UTF-8 octet");
    assert_refused("a: \xC0\xAF\n", "t.yaml:1: invalid length of a UTF-8 sequence");
    assert_refused("a: \xED\xA0\x80\n", "t.yaml:1: invalid Unicode character");
    assert_refused("a: \xE2\x82", "t.yaml:1: incomplete UTF-8 octet sequence");
    assert_refused("a: \x1B[31m\n", "t.yaml:1: control characters are not allowed");
    assert_refused_bytes("\xFF\xFE"
                         "a\0:\0 \0"
                         "1\0",
                         10, "t.yaml:1: invalid leading UTF-8 octet"); /* UTF-16 */
}

static void test_syntax(void **state)
{
    (void)state;
    assert_refused("a: [1, 2\n", "t.yaml:2: did not find expected ',' or ']'");
    assert_refused("a: 1\n\tb: 2\n", "t.yaml:2: a TAB cannot stand here");
    assert_refused("a: %x\n", "t.yaml:1: found character that cannot start any token");
    assert_refused("a:\n\tb: 1\n", "t.yaml:2: a TAB cannot stand here; indent with spaces");
    assert_refused("# é\nä: 1\nö: {é: \t%}\n", "t.yaml:3: found character that cannot start any token");
    assert_refused("# é\nä:\n  ö: 1\n\tc: 2\n", "t.yaml:4: a TAB cannot stand here");
    assert_refused("a: 'x\n", "t.yaml:2: found unexpected end of stream, while scanning a quoted scalar");
    assert_refused("a: 1\n  b: 2\n", "t.yaml:2: mapping values are not allowed in this context");
    assert_refused("%YAML 2.0\n---\na: 1\n", "t.yaml:1: found incompatible YAML document");
}

static void test_depth(void **state)
{
    (void)state;
    char text[2 * 20000 + 16] = "a: ";
    repeat(text, "[", HAC_YAML_DEPTH_MAX - 2);
    repeat(text, "x", 1);
    repeat(text, "]", HAC_YAML_DEPTH_MAX - 2);
    hac_yaml_node *root = parse(text); /* a map, 14 lists, a scalar: 16 levels */
    hac_yaml_free(root);
    strcpy(text, "a: ");
    repeat(text, "[", HAC_YAML_DEPTH_MAX - 1);
    repeat(text, "x", 1);
    repeat(text, "]", HAC_YAML_DEPTH_MAX - 1);
    assert_refused(text, "t.yaml:1: nested too deep; allowed: 16 levels");
    strcpy(text, "a: ");
    repeat(text, "[", 20000);
    assert_refused(text, "t.yaml:1: nested too deep");
    strcpy(text, "");
    repeat(text, "{a: ", 5000);
    assert_refused(text, "t.yaml:1: nested too deep");
    strcpy(text, "");
    repeat(text, "- ", 5000);
    assert_refused(text, "t.yaml:1: nested too deep");
}

/* A list of `n` items in a map, so that the file has n + 1 values besides the root. */
static char *list_of(size_t n, const char *item)
{
    char *text = calloc(1, n * strlen(item) + 16);
    assert_non_null(text);
    strcpy(text, "a: [");
    repeat(text, item, n);
    strcat(text, "]");
    return text;
}

static void test_children(void **state)
{
    (void)state;
    hac_autofree char *max = list_of(HAC_YAML_CHILDREN_MAX, "x,");
    hac_yaml_node *root = parse(max);
    assert_int_equal(root->first->count, HAC_YAML_CHILDREN_MAX);
    hac_yaml_free(root);
    hac_autofree char *more = list_of(HAC_YAML_CHILDREN_MAX + 1, "x,");
    assert_refused(more, "t.yaml:1: too many entries; allowed: at most 1024 in a map or list");
}

static void test_nodes(void **state)
{
    (void)state;
    /* the root, the list, and n × (list + 9 scalars) */
    hac_autofree char *max = list_of((HAC_YAML_NODES_MAX - 2) / 10, "[1,2,3,4,5,6,7,8,9],");
    hac_yaml_node *root = parse(max);
    hac_yaml_free(root);
    hac_autofree char *more = list_of(HAC_YAML_NODES_MAX / 10, "[1,2,3,4,5,6,7,8,9],");
    assert_refused(more, "t.yaml:1: too many values; allowed: at most 10000 in a file");
}

static void test_size(void **state)
{
    (void)state;
    size_t size = HAC_YAML_BYTES_MAX + 1;
    hac_autofree char *text = malloc(size + 1);
    assert_non_null(text);
    memset(text, 'x', size);
    memcpy(text, "a: ", 3);
    text[size] = '\0';
    assert_refused(text, "t.yaml:1: the file is too large; allowed: at most 256KiB");
    text[size - 1] = '\0'; /* one huge scalar is fine here; keys bound their values */
    hac_yaml_node *root = parse(text);
    assert_int_equal(strlen(root->first->text), HAC_YAML_BYTES_MAX - 3);
    hac_yaml_free(root);
    memset(text, ' ', size - 1);
    root = parse(text);
    hac_yaml_free(root);
}

static void test_long_file_name(void **state)
{
    (void)state;
    hac_error err = HAC_ERROR_NONE;
    hac_yaml_node *root = NULL;
    char name[4096];
    memset(name, 'd', sizeof name);
    strcpy(name + sizeof name - 7, "e.yaml");
    assert_int_equal(hac_yaml_parse(name, "- a", 3, &root, &err), HAC_INVALID);
    assert_non_null(strstr(err.message, "de.yaml:1: the file holds a list"));
    assert_memory_equal(err.message, "...ddd", 6);
}

static void test_show(void **state)
{
    (void)state;
    char buffer[HAC_YAML_SHOW_SIZE], text[64];
    assert_string_equal(hac_yaml_show("a\033[31m\nb\x7F", buffer), "a?[31m?b?");
    memset(text, 'x', sizeof text);
    text[40] = '\0';
    assert_string_equal(hac_yaml_show(text, buffer), text);
    text[40] = 'x';
    text[41] = '\0';
    hac_yaml_show(text, buffer);
    assert_int_equal(strlen(buffer), 43);
    assert_string_equal(buffer + 40, "...");
    memcpy(text + 39, "\xE2\x82\xAC", 4); /* the euro sign is not cut into */
    assert_string_equal(hac_yaml_show(text, buffer) + 39, "...");
}

static void test_read_file(void **state)
{
    (void)state;
    char directory[] = "/tmp/hac-yaml-XXXXXX", path[64];
    assert_non_null(mkdtemp(directory));
    hac_error err = HAC_ERROR_NONE;
    hac_autofree char *text = NULL;
    size_t length = 0;
    snprintf(path, sizeof path, "%s/x.yaml", directory);
    assert_int_equal(hac_yaml_read_file(path, &text, &length, &err), HAC_NOT_FOUND);
    assert_non_null(strstr(err.message, "x.yaml: cannot open: No such file or directory"));
    assert_int_equal(hac_yaml_read_file(directory, &text, &length, &err), HAC_INVALID);
    assert_non_null(strstr(err.message, "not a regular file"));
    assert_int_equal(mkfifo(path, 0600), 0); /* must not wait for a writer */
    assert_int_equal(hac_yaml_read_file(path, &text, &length, &err), HAC_INVALID);
    assert_int_equal(unlink(path), 0);
    int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    assert_int_equal(write(fd, "a: 1\n", 5), 5);
    assert_int_equal(hac_yaml_read_file(path, &text, &length, &err), HAC_OK);
    assert_int_equal(length, 5);
    assert_memory_equal(text, "a: 1\n", 5);
    char *before = text;
    assert_int_equal(ftruncate(fd, HAC_YAML_BYTES_MAX + 1), 0);
    assert_int_equal(hac_yaml_read_file(path, &text, &length, &err), HAC_INVALID);
    assert_non_null(strstr(err.message, "the file is too large"));
    assert_ptr_equal(text, before);
    close(fd);
    unlink(path);
    rmdir(directory);
}

static void test_columns(void **state)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"a: 1\n  b: 2\n", "t.yaml:2:4: mapping values are not allowed"},
        {"ä: {c: &x 1}\n", "t.yaml:1:8: anchors (&) are not allowed"},
        {"a: 1\nbc: {d: 1, d: 2}\n", "t.yaml:2:12: key `bc.d`: given twice"},
        {"a: 1\näb: \xFF\n", "t.yaml:2:5: invalid leading UTF-8 octet"},
        {"  - a\n", "t.yaml:1:3: the file holds a list"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        hac_yaml_node *root = NULL;
        hac_error err = HAC_ERROR_NONE;
        const char *text = cases[i].text;
        assert_int_equal(hac_yaml_parse_columns("t.yaml", text, strlen(text), &root, &err), HAC_INVALID);
        if (strncmp(err.message, cases[i].message, strlen(cases[i].message)) != 0)
            fail_msg("%s: %s", text, err.message);
    }
}

/* Where a text begins, character by character, is known for those that stand in one line as they are. */
static void test_text_columns(void **state)
{
    static const char text[] = "aä: bc\nd: \"e f\"\ng: \"h\\n\"\ni: j\n  k\nl: 'it''s'\nm: [n, 'ö']\n";
    static const struct {
        const char *path;
        unsigned line, column, key_column, text_column;
    } cases[] = {{"aä", 1, 5, 1, 5}, {"d", 2, 4, 1, 5}, {"g", 3, 4, 1, 0},
                 {"i", 4, 4, 1, 0},  {"l", 6, 4, 1, 0}, {"m", 7, 4, 1, 0}};
    hac_yaml_node *root = NULL;
    hac_error err = HAC_ERROR_NONE;
    (void)state;
    assert_int_equal(hac_yaml_parse("t.yaml", text, strlen(text), &root, &err), HAC_OK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const hac_yaml_node *node = hac_yaml_get(root, cases[i].path);
        assert_int_equal(node->line, cases[i].line);
        assert_int_equal(node->column, cases[i].column);
        assert_int_equal(node->key_column, cases[i].key_column);
        assert_int_equal(node->text_column, cases[i].text_column);
    }
    const hac_yaml_node *list = hac_yaml_get(root, "m");
    assert_int_equal(list->first->text_column, 5);
    assert_int_equal(list->first->next->text_column, 9);
    hac_yaml_free(root);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_columns),
        cmocka_unit_test(test_text_columns),
        cmocka_unit_test(test_tree),
        cmocka_unit_test(test_path),
        cmocka_unit_test(test_long_path_is_cut),
        cmocka_unit_test(test_null),
        cmocka_unit_test(test_empty),
        cmocka_unit_test(test_root),
        cmocka_unit_test(test_duplicates),
        cmocka_unit_test(test_aliases),
        cmocka_unit_test(test_tags),
        cmocka_unit_test(test_keys_are_words),
        cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_syntax),
        cmocka_unit_test(test_depth),
        cmocka_unit_test(test_children),
        cmocka_unit_test(test_nodes),
        cmocka_unit_test(test_size),
        cmocka_unit_test(test_long_file_name),
        cmocka_unit_test(test_show),
        cmocka_unit_test_setup_teardown(test_read_file, hac_test_fds_setup, hac_test_fds_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
