/* SPDX-License-Identifier: Apache-2.0 */
/* The table machinery on a table of its own. */
#include "schema.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "config/profile.h"

typedef struct target {
    char name[HAC_NAME_MAX];
    char *text;
    int choice;
    bool truth;
    uint32_t integer;
    double number, rate, duration;
    uint64_t size;
    int own;
} target;

static const hac_choice choices[] = {{"red", 3}, {"green", 5}, {NULL, 0}};

#define AT(field) offsetof(target, field)

static const hac_key keys[] = {
    {.path = "name", .type = HAC_KEY_NAME, .offset = AT(name), .fallback = "n", .help = "a | b"},
    {.path = "text",
     .type = HAC_KEY_TEXT,
     .offset = AT(text),
     .allowed = "any",
     .fallback = "t",
     .help = "h"},
    {.path = "s.choice",
     .type = HAC_KEY_CHOICE,
     .flags = HAC_KEY_OVERRIDE,
     .offset = AT(choice),
     .choices = choices,
     .fallback = "green",
     .help = "h"},
    {.path = "s.truth", .type = HAC_KEY_BOOL, .offset = AT(truth), .fallback = "true", .help = "h"},
    {.path = "integer",
     .type = HAC_KEY_INTEGER,
     .flags = HAC_KEY_REQUIRED,
     .offset = AT(integer),
     .min = "2",
     .max = "9",
     .word = "auto",
     .help = "h"},
    {.path = "number",
     .type = HAC_KEY_NUMBER,
     .offset = AT(number),
     .min = "0.5",
     .unit = "items/s",
     .fallback = "1.5",
     .help = "h"},
    {.path = "rate", .type = HAC_KEY_RATE, .offset = AT(rate), .fallback = "2kB/s", .help = "h"},
    {.path = "duration",
     .type = HAC_KEY_DURATION,
     .offset = AT(duration),
     .max = "1h",
     .fallback = "2ms",
     .help = "h"},
    {.path = "size",
     .type = HAC_KEY_SIZE,
     .offset = AT(size),
     .min = "1KiB",
     .max = "1TiB",
     .fallback = "2KiB",
     .help = "h"},
    {.path = "list[].own",
     .type = HAC_KEY_INTEGER,
     .offset = AT(own),
     .max = "9",
     .fallback = "7",
     .help = "h"},
};

static const hac_config_schema schema = {
    .entries = "list[].", .keys = keys, .n_keys = sizeof keys / sizeof *keys};

static hac_status read_text(const char *text, bool entry, target *t, hac_error *err)
{
    hac_yaml_node *root = NULL;
    assert_int_equal(hac_yaml_parse("f", text, strlen(text), &root, err), HAC_OK);
    const hac_scope scope = {.schema = &schema, .file = "f", .entry = entry, .err = err};
    hac_status status = hac_schema_read(&scope, root, t);
    hac_yaml_free(root);
    return status;
}

static void assert_message(const char *text, bool entry, const char *message)
{
    hac_error err = HAC_ERROR_NONE;
    target t = {.text = NULL};
    assert_int_equal(read_text(text, entry, &t, &err), HAC_INVALID);
    assert_string_equal(err.message, message);
    free(t.text);
}

static void test_defaults(void **state)
{
    (void)state;
    hac_error err = HAC_ERROR_NONE;
    target t = {.integer = 99, .own = 99};
    assert_int_equal(hac_schema_defaults(&schema, &t, &err), HAC_OK);
    assert_string_equal(t.name, "n");
    assert_string_equal(t.text, "t");
    assert_int_equal(t.choice, 5);
    assert_true(t.truth);
    assert_int_equal(t.integer, 99); /* required: no default */
    assert_int_equal(t.own, 99);     /* of entries */
    assert_true(t.number == 1.5 && t.rate == 2000 && t.duration == 0.002);
    assert_int_equal(t.size, 2048);
    free(t.text);
}

static void test_values(void **state)
{
    (void)state;
    hac_error err = HAC_ERROR_NONE;
    target t = {.integer = 99};
    assert_int_equal(
        read_text("{integer: auto, s: {choice: red, truth: false}, text: x, size: 1TiB}", false, &t, &err),
        HAC_OK);
    assert_int_equal(t.integer, 0);
    assert_int_equal(t.choice, 3);
    assert_string_equal(t.text, "x");
    assert_int_equal(t.size, UINT64_C(1) << 40);
    assert_int_equal(read_text("{integer: 9, text: second}", false, &t, &err), HAC_OK); /* frees the first */
    assert_int_equal(t.integer, 9);
    assert_string_equal(t.text, "second");
    free(t.text);
}

static void test_entries(void **state)
{
    (void)state;
    hac_error err = HAC_ERROR_NONE;
    target t = {.own = 0};
    assert_int_equal(read_text("{own: 3, s: {choice: red}}", true, &t, &err),
                     HAC_OK); /* nothing is required */
    assert_int_equal(t.own, 3);
    assert_message(
        "own: 3", false,
        "f:1: key `own`: unknown key, did you mean `list[].own`?; allowed: name, text, s, integer, "
        "number, rate, duration, size");
    assert_message(
        "\nname: x", true,
        "f:2: key `name`: cannot be given in an entry of a list, only for the whole file; allowed: s, own");
    assert_message("s: {truth: true}", true,
                   "f:1: key `s.truth`: cannot be given in an entry of a list, only for the whole file; "
                   "allowed: choice");
}

static void test_messages(void **state)
{
    (void)state;
    assert_message("name: x", false,
                   "f:1: key `integer`: is missing; allowed: whole number from 2 to 9, or `auto`");
    assert_message("integer: 1", false,
                   "f:1: key `integer`: `1` is too small; allowed: whole number from 2 to 9, or `auto`");
    assert_message("integer: 10", false,
                   "f:1: key `integer`: `10` is too large; allowed: whole number from 2 to 9, or `auto`");
    assert_message("number: 0.4", false,
                   "f:1: key `number`: `0.4` is too small; allowed: number of at least 0.5, items/s");
    assert_message(
        "duration: 61min", false,
        "f:1: key `duration`: `61min` is too large; allowed: duration of at most 1h (ns, us, ms, s, min, h)");
    assert_message("rate: 5", false,
                   "f:1: key `rate`: `5` has no unit; allowed: rate (B/s, kB/s, MB/s, GB/s, TB/s, KiB/s, "
                   "MiB/s, GiB/s, TiB/s)");
    assert_message("size: 1023", false,
                   "f:1: key `size`: `1023` is too small; allowed: size from 1KiB to 1TiB (B, kB, MB, GB, "
                   "TB, KiB, MiB, GiB, TiB)");
    assert_message("s: {choice: blue}", false,
                   "f:1: key `s.choice`: `blue` is not known; allowed: `red`, `green`");
    assert_message("s: {s: 1}", false, "f:1: key `s.s`: unknown key; allowed: choice, truth");
    assert_message("s: {choice: {choice: red}}", false,
                   "f:1: key `s.choice`: is a map, not a single value; allowed: `red`, `green`");
}

static void test_meant(void **state)
{
    (void)state;
    static const char *const cases[][2] = {{"nam", "name"},
                                           {"nmae", "name"},
                                           {"Name", "name"},
                                           {"names", "name"},
                                           {"integr", "integer"},
                                           {"Integers", "integer"},
                                           {"durations", "duration"},
                                           {"choice", "s.choice"},
                                           {"zzz", "-"},
                                           {"x", "-"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[64], meant[64];
        hac_error err = HAC_ERROR_NONE;
        target t = {.text = NULL};
        snprintf(text, sizeof text, "%s: 1", cases[i][0]);
        snprintf(meant, sizeof meant, "did you mean `%s`?", cases[i][1]);
        assert_int_equal(read_text(text, false, &t, &err), HAC_INVALID);
        bool suggested = strstr(err.message, "did you mean") != NULL;
        if (suggested != (cases[i][1][0] != '-') || (suggested && strstr(err.message, meant) == NULL))
            fail_msg("%s: %s", cases[i][0], err.message);
    }
}

static void test_names(void **state)
{
    (void)state;
    char longest[HAC_NAME_MAX + 1];
    memset(longest, 'x', sizeof longest);
    longest[HAC_NAME_MAX] = '\0';
    assert_false(hac_name_is_valid(longest));
    longest[HAC_NAME_MAX - 1] = '\0';
    assert_true(hac_name_is_valid(longest));
    assert_true(hac_name_is_valid("a"));
    assert_true(hac_name_is_valid("0"));
    assert_true(hac_name_is_valid("cpu.0_A-b"));
    static const char *const bad[] = {"",    ".",   "..",  "-a",       "_a",   "a b",
                                      "a/b", "a,b", "a\n", "\xC3\xA4", "a\x7F"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(hac_name_is_valid(bad[i]));
}

static void test_page(void **state)
{
    (void)state;
    hac_autofree char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    hac_schema_table(&schema, out);
    fclose(out);
    assert_non_null(strstr(text, "| `name` | name | letters, "));
    assert_non_null(strstr(text, "| `n` | no | a \\| b |\n"));
    assert_non_null(strstr(
        text, "| `integer` | whole number | whole number from 2 to 9, or `auto` | required | no | h |"));
    assert_non_null(strstr(text, "| `s.choice` | word | `red`, `green` | `green` | yes | h |"));
    assert_non_null(
        strstr(text, "| `list[].own` | whole number | whole number of at most 9 | `7` | only | h |"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults), cmocka_unit_test(test_values), cmocka_unit_test(test_entries),
        cmocka_unit_test(test_messages), cmocka_unit_test(test_meant),  cmocka_unit_test(test_names),
        cmocka_unit_test(test_page),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
