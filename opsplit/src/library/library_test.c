/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the tables, the pages made from them, and the definitions of users. */
#include "opsplit/logic.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "base/test_support.h"

/* ---- pages ---- */

static void assert_committed(const char *name, void (*make)(hac_text *ret))
{
    hac_text page = HAC_TEXT_NONE;
    hac_autofree char *path = NULL;
    assert_true(asprintf(&path, "%s/%s", HAC_SOURCE_DIR, name) > 0);
    make(&page);
    assert_false(page.broken);
    hac_autofree char *found = calloc(1, page.bytes + 2);
    hac_autofclose FILE *in = fopen(path, "re");
    if (in == NULL)
        fail_msg("%s is missing; build the target hac_opsplit_docs", name);
    size_t n = fread(found, 1, page.bytes + 1, in);
    if (n != page.bytes || memcmp(found, page.data, n) != 0)
        fail_msg("%s differs from the tables; build the target hac_opsplit_docs", name);
    hac_text_clear(&page);
}

static void test_pages(void **state)
{
    (void)state;
    for (int i = HAC_VECTOR_NONE + 1; i < HAC_VECTOR_END; i++)
        if (hac_vector_template_get((hac_vector_template)i) == NULL)
            fail_msg("vector template %d has no row in opsplit/src/library/templates.c", i);
    assert_committed("docs/opsplit-library.md", hac_library_reference);
    assert_committed("docs/opsplit.schema.json", hac_library_json_schema);
}

/* ---- tables ---- */

static void check_argument(const hac_subop_info *s, const hac_subop_argument *a)
{
    bool result = a->kind == HAC_ARGUMENT_RESULT || a->kind == HAC_ARGUMENT_RESULTS;
    assert_true(a->kind > 0 && a->kind < HAC_ARGUMENT_KIND_END);
    assert_true((a->kind == HAC_ARGUMENT_WORD) == (a->words != NULL));
    if (a->kind == HAC_ARGUMENT_VECTOR || a->kind == HAC_ARGUMENT_VECTORS)
        assert_true(a->forms != 0);
    if (a->elements == HAC_ELEMENT_SAME || a->elements == HAC_ELEMENT_TOTAL ||
        a->elements == HAC_ELEMENT_KEYED) {
        char first[32];
        snprintf(first, sizeof first, "%.*s", (int)strcspn(a->same, " "), a->same);
        assert_non_null(hac_subop_argument_find(s, first));
    }
    if (result)
        assert_true(a->elements >= HAC_ELEMENT_BOOL || a->elements == HAC_ELEMENT_TEXT);
    assert_ptr_equal(hac_subop_argument_find(s, a->name), a);
}

/* An example is correct if its only problems are missing vectors. */
static void check_example(const hac_subop_info *s)
{
    hac_logic *logic = NULL;
    hac_error err = HAC_ERROR_NONE;
    hac_autofree char *text = NULL;
    assert_true(asprintf(&text,
                         "vectors: {none: {value: 1}}\noutputs: {o: {columns: [none]}}\noperators:\n%s\n",
                         s->example) > 0);
    if (s->walk != HAC_WALK_CONTROL &&
        hac_logic_parse("t.yaml", text, strlen(text), NULL, &logic, NULL, &err) != HAC_OK &&
        strstr(err.message, "no vector is called") == NULL)
        fail_msg("%s\n%s", s->example, err.message);
    hac_logic_free(logic);
}

static void test_subops(void **state)
{
    (void)state;
    for (int i = HAC_SUBOP_NONE + 1; i < HAC_SUBOP_END; i++) {
        const hac_subop_info *s = hac_subop_get((hac_subop_id)i);
        if (s == NULL || s->id != (hac_subop_id)i)
            fail_msg("sub-operator %d is not in the table", i);
        assert_ptr_equal(hac_subop_find(s->name), s);
        assert_true(strlen(s->text) > 10 && strlen(s->text) < 110);
        assert_true(strncmp(s->example, "- ", 2) == 0);
        for (const hac_subop_argument *a = s->arguments; a->name != NULL; a++)
            check_argument(s, a);
        check_example(s);
    }
    assert_null(hac_subop_get(HAC_SUBOP_NONE));
    assert_null(hac_subop_get(HAC_SUBOP_END));
    assert_null(hac_subop_find("nope"));
}

static void test_names(void **state)
{
    (void)state;
    for (int i = HAC_VECTOR_NONE + 1; i < HAC_VECTOR_END; i++) {
        const hac_vector_template_info *t = hac_vector_template_get((hac_vector_template)i);
        assert_non_null(t);
        assert_int_equal(hac_vector_template_find(t->name), i);
    }
    assert_int_equal(hac_vector_template_find("vector"), HAC_VECTOR_NONE);
    assert_null(hac_vector_template_get(HAC_VECTOR_END));
    for (int i = 0; i < HAC_OP_FUNCTION_END; i++)
        assert_int_equal(hac_op_function_find(hac_op_function_name((hac_op_function)i)), i);
    assert_int_equal(hac_op_function_find("avg"), -1);
    assert_int_equal(hac_element_find("f64"), HAC_KIND_F64);
    assert_int_equal(hac_element_find("i8"), HAC_KIND_NONE);
    for (int i = 0; i < HAC_KIND_END; i++)
        assert_int_equal(hac_element_size((hac_kind)i), hac_op_element_size((unsigned)i));
    assert_string_equal(hac_operation_name(HAC_OPERATION_DIR_MAP), "DirMap");
    assert_null(hac_operation_name(HAC_OPERATION_END));
}

/* ---- what users add ---- */

typedef struct fixture {
    char directory[64];
    hac_library *library;
    hac_error err;
} fixture;

static int setup(void **state)
{
    fixture *f = calloc(1, sizeof *f);
    strcpy(f->directory, "/tmp/hac-library-XXXXXX");
    assert_non_null(mkdtemp(f->directory));
    strcat(f->directory, "/a/b"); /* folders are made when needed */
    assert_int_equal(hac_library_open(f->directory, &f->library, &f->err), HAC_OK);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    fixture *f = *state;
    char command[128];
    hac_library_free(f->library);
    f->directory[strlen(f->directory) - 4] = '\0';
    snprintf(command, sizeof command, "rm -r '%s'", f->directory);
    assert_int_equal(system(command), 0);
    free(f);
    return 0;
}

static hac_status add(fixture *f, hac_library_kind kind, const char *text, hac_library_added *ret)
{
    return hac_library_add(f->library, kind, "new.yaml", text, strlen(text), ret, NULL, &f->err);
}

static void assert_added(fixture *f, hac_library_kind kind, const char *text, unsigned version, bool is_new)
{
    hac_library_added added = {.version = 0};
    if (add(f, kind, text, &added) != HAC_OK)
        fail_msg("%s\n%s", text, f->err.message);
    assert_int_equal(added.version, version);
    assert_int_equal(added.is_new, is_new);
    assert_non_null(strstr(text, added.name));
}

static void assert_refused(fixture *f, hac_library_kind kind, const char *text, const char *message)
{
    hac_library_added added;
    size_t n = hac_library_count(f->library);
    assert_int_equal(add(f, kind, text, &added), HAC_INVALID);
    if (strncmp(f->err.message, message, strlen(message)) != 0)
        fail_msg("%s\nsays: %s\nand not: %s", text, f->err.message, message);
    assert_int_equal(hac_library_count(f->library), n);
}

static const char damp1[] =
    "subop: damp\ntext: PageRank's damping\narguments: {spread: f64, damping: f64, n: u64}\n"
    "expr: \"(1 - damping) / n + damping * spread\"\n";
static const char damp2[] = "subop: damp\narguments: {spread: f64, damping: f64, n: u64}\nresult: f32\n"
                            "expr: \"(1 - damping) / n + damping * spread\"\n";
static const char step1[] = "op: rank_step\ntext: one round\n"
                            "parameters:\n"
                            "  link: {template: SparseMatrix, type: f64, rows: n, columns: n}\n"
                            "  rank: {template: FixValueVector, type: f64, rows: n}\n"
                            "  degree: {template: FixValueVector, type: f64, rows: n}\n"
                            "  damping: {template: Var, type: f64}\n"
                            "  n: {template: Var, type: u64}\n"
                            "results:\n"
                            "  next: {template: FixValueVector, type: f64}\n"
                            "  residual: {template: Var, type: f64}\n"
                            "operation: VectorMap\n"
                            "do:\n"
                            "  - map: {expr: \"rank / degree\", out: share}\n"
                            "  - spmv: {matrix: link, in: share, out: spread}\n"
                            "  - damp@1: {spread: spread, damping: damping, n: n, out: next}\n"
                            "  - reduce: {expr: \"abs(next - rank)\", out: residual}\n";

static void test_versions(void **state)
{
    fixture *f = *state;
    assert_added(f, HAC_LIBRARY_SUBOP, damp1, 1, true);
    assert_added(f, HAC_LIBRARY_SUBOP, damp1, 1, false);
    assert_added(f, HAC_LIBRARY_SUBOP, damp2, 2, true);
    assert_added(f, HAC_LIBRARY_SUBOP, damp1, 3, true);
    assert_added(f, HAC_LIBRARY_OP, step1, 1, true);
    assert_int_equal(hac_library_count(f->library), 4);
    assert_string_equal(hac_library_find(f->library, HAC_LIBRARY_SUBOP, "damp", 0)->text, damp1);
    assert_string_equal(hac_library_find(f->library, HAC_LIBRARY_SUBOP, "damp", 2)->text, damp2);
    assert_string_equal(hac_library_find(f->library, HAC_LIBRARY_SUBOP, "damp", 1)->about,
                        "PageRank's damping");
    assert_null(hac_library_find(f->library, HAC_LIBRARY_OP, "damp", 0));
    hac_library_free(f->library); /* the folder has these files and no others */
    f->library = NULL;
    assert_int_equal(hac_library_open(f->directory, &f->library, &f->err), HAC_OK);
    assert_int_equal(hac_library_count(f->library), 4);
    assert_int_equal(hac_library_at(f->library, 2)->version, 3);
    assert_int_equal(hac_library_at(f->library, 3)->kind, HAC_LIBRARY_OP);
    assert_null(hac_library_at(f->library, 4));
    assert_int_equal(hac_library_remove(f->library, HAC_LIBRARY_SUBOP, "damp", 2, &f->err), HAC_OK);
    assert_int_equal(hac_library_remove(f->library, HAC_LIBRARY_SUBOP, "damp", 2, &f->err), HAC_NOT_FOUND);
    assert_int_equal(hac_library_remove(f->library, HAC_LIBRARY_SUBOP, "map", 0, &f->err), HAC_INVALID);
    assert_added(f, HAC_LIBRARY_SUBOP, damp2, 4,
                 true); /* a number is not given twice as long as newer versions exist */
    assert_int_equal(hac_library_remove(f->library, HAC_LIBRARY_SUBOP, "damp", 0, &f->err), HAC_OK);
    assert_int_equal(hac_library_count(f->library), 1);
    hac_library_free(f->library);
    f->library = NULL;
    assert_int_equal(hac_library_open(f->directory, &f->library, &f->err), HAC_OK);
    assert_int_equal(hac_library_count(f->library), 1);
}

/* A damaged file only fails its users. Its version number stays taken, and it can be removed. */
static void test_damaged(void **state)
{
    fixture *f = *state;
    char path[128];
    assert_added(f, HAC_LIBRARY_SUBOP, damp1, 1, true);
    snprintf(path, sizeof path, "%s/subop/damp@2.yaml", f->directory);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs("subop: [\n", file) >= 0);
    assert_int_equal(fclose(file), 0);
    hac_library_free(f->library);
    f->library = NULL;
    assert_int_equal(hac_library_open(f->directory, &f->library, &f->err), HAC_OK);
    assert_int_equal(hac_library_count(f->library), 2);
    const hac_library_entry *newest = hac_library_find(f->library, HAC_LIBRARY_SUBOP, "damp", 0);
    assert_int_equal(newest->version, 2);
    assert_non_null(strstr(newest->damage, "subop/damp@2.yaml:2:1: "));
    assert_null(hac_library_find(f->library, HAC_LIBRARY_SUBOP, "damp", 1)->damage);
    assert_added(f, HAC_LIBRARY_OP, step1, 1, true); /* uses damp@1 */
    assert_added(f, HAC_LIBRARY_SUBOP, damp1, 3, true);
    assert_int_equal(hac_library_remove(f->library, HAC_LIBRARY_SUBOP, "damp", 3, &f->err), HAC_OK);
    assert_int_equal(hac_library_remove(f->library, HAC_LIBRARY_SUBOP, "damp", 2, &f->err), HAC_OK);
    assert_int_equal(access(path, F_OK), -1);
    assert_null(hac_library_find(f->library, HAC_LIBRARY_SUBOP, "damp", 0)->damage);
}

static void test_bad_definitions(void **state)
{
    fixture *f = *state;
    assert_refused(f, HAC_LIBRARY_SUBOP, "expr: 1\n", "new.yaml:1:1: `subop` is missing: the name");
    assert_refused(f, HAC_LIBRARY_SUBOP, "subop: a\n", "new.yaml:1:1: `expr` is missing");
    assert_refused(f, HAC_LIBRARY_SUBOP, "subop: map\nexpr: 1\n",
                   "new.yaml:1:8: `map` is built in; choose another name");
    assert_refused(f, HAC_LIBRARY_SUBOP, "subop: a b\nexpr: 1\n", "new.yaml:1:8: `a b` cannot be a name");
    assert_refused(f, HAC_LIBRARY_SUBOP, "subop: a\nexpr: x + 1\n",
                   "new.yaml:2:7: no vector is called `x`; there are none");
    assert_refused(f, HAC_LIBRARY_SUBOP, "subop: a\narguments: {x: f65}\nexpr: x\n",
                   "new.yaml:2:16: `f65` is not known here");
    assert_refused(f, HAC_LIBRARY_SUBOP, "subop: a\narguments: {out: f64}\nexpr: out\n",
                   "new.yaml:2:13: an argument cannot be called `out`");
    assert_refused(f, HAC_LIBRARY_SUBOP, "subop: a\narguments: {x: f64}\nexpr: upper('x')\n",
                   "new.yaml:3:7: this gives string");
    assert_refused(f, HAC_LIBRARY_SUBOP, "subop: a\nargs: {}\nexpr: 1\n",
                   "new.yaml:2:1: unknown key `args`; there are: subop, text, arguments, result, expr");
    assert_refused(f, HAC_LIBRARY_SUBOP, "subop: [\n", "new.yaml:2:1: ");
    assert_refused(f, HAC_LIBRARY_OP, "op: a\ndo: []\n", "new.yaml:1:1: `results` is missing");
    assert_refused(f, HAC_LIBRARY_OP, "op: a\nresults: {r: {template: Var, type: f64}}\n",
                   "new.yaml:1:1: `do` is missing");
    assert_refused(f, HAC_LIBRARY_OP, "op: a\nresults: {r: {template: Var}}\ndo: []\n",
                   "new.yaml:2:11: `r` needs `template` and `type`");
    assert_refused(f, HAC_LIBRARY_OP, "op: a\nresults: {r: {template: Var, type: f64}}\ndo: []\n",
                   "new.yaml:2:11: no step gives the result `r` a value");
    assert_refused(f, HAC_LIBRARY_OP,
                   "op: a\nresults: {r: {template: Var, type: f64}}\ndo: [{let: {r: 1}}]\n",
                   "new.yaml:2:11: the result `r` is said to be a Var of f64, and is a Var of i64");
    assert_refused(f, HAC_LIBRARY_OP,
                   "op: a\nparameters: {r: {template: Var, type: f64}}\nresults: {r: {template: Var, type: "
                   "f64}}\ndo: []\n",
                   "new.yaml:3:11: `r` is a parameter and a result");
    assert_refused(
        f, HAC_LIBRARY_OP,
        "op: a\nparameters: {p: {template: Var, type: f64}}\nresults: {r: {template: Var, type: f64}}\n"
        "do: [{let: {p: 1.5, r: p}}]\n",
        "new.yaml:4:13: `p` is a parameter, which is not written");
    assert_refused(f, HAC_LIBRARY_OP, step1, "new.yaml:16:5: `damp@1` is in no library");
    hac_library_added added;
    hac_library *none = NULL;
    assert_int_equal(hac_library_open(NULL, &none, &f->err), HAC_OK);
    hac_library *kept = f->library;
    f->library = none;
    assert_int_equal(add(f, HAC_LIBRARY_SUBOP, damp1, &added), HAC_INVALID);
    f->library = kept;
    hac_library_free(none);
}

/* ---- where they are used ---- */

static const char head[] =
    "inputs: {p: {parse: csv, schema: \"x:f64,k:i64\"}, g: {parse: csv, schema: \"a:i64,b:i64\"}}\n"
    "vectors: {damping: {value: 0.85}}\n"
    "operators:\n"
    "  - index: {in: [g.a, g.b], out: [s, d], distinct: node}\n"
    "  - csr: {row: s, column: d, symmetric: true, out: link}\n"
    "  - row_reduce: {in: link, out: degree}\n"
    "  - reduce: {in: node, function: count, out: n}\n"
    "  - fill: {value: 0.5, rows: node, out: rank}\n";

static hac_logic *use(fixture *f, const char *steps, const char *message)
{
    hac_logic *logic = NULL;
    hac_autofree char *text = NULL;
    assert_true(asprintf(&text, "%s%soutputs: {o: {columns: [node]}}\n", head, steps) > 0);
    hac_status status = hac_logic_parse("t.yaml", text, strlen(text), f->library, &logic, NULL, &f->err);
    if (message == NULL && status != HAC_OK)
        fail_msg("%s\n%s", steps, f->err.message);
    if (message != NULL && (status == HAC_OK || strncmp(f->err.message, message, strlen(message)) != 0))
        fail_msg("%s\nsays: %s\nand not: %s", steps, status == HAC_OK ? "nothing" : f->err.message, message);
    return logic;
}

static void test_used(void **state)
{
    fixture *f = *state;
    assert_added(f, HAC_LIBRARY_SUBOP, damp1, 1, true);
    assert_added(f, HAC_LIBRARY_SUBOP, damp2, 2, true);
    assert_added(f, HAC_LIBRARY_OP, step1, 1, true);
    hac_logic *logic = use(f,
                           "  - op: step\n    use: rank_step\n    device: gpu\n    with: {link: link, rank: "
                           "rank, degree: degree, "
                           "damping: damping, n: n, next: next, residual: left}\n"
                           "  - damp: {spread: next, damping: damping, n: n, out: again}\n",
                           NULL);
    const hac_logic_step *step = &logic->steps[1];
    assert_string_equal(step->name, "step");
    assert_int_equal(step->operation, HAC_OPERATION_VECTOR_MAP);
    assert_int_equal(step->n_pieces, 4);
    assert_int_equal(step->pieces[2].kind, HAC_PIECE_USER);
    assert_int_equal(step->pieces[2].version, 1);
    assert_string_equal(step->pieces[2].device, "gpu");
    assert_string_equal(logic->vectors[step->pieces[2].writes[0]].name, "next");
    assert_true(hac_logic_vector_find(logic, "step.share") >= 0);
    assert_int_equal(logic->steps[2].pieces[0].version, 2);
    assert_int_equal(logic->vectors[hac_logic_vector_find(logic, "again")].kind, HAC_KIND_F32);
    const hac_logic_expression *e = hac_logic_argument_expression(&step->pieces[2], "expr");
    assert_int_equal(e->n_vectors, 3);
    assert_string_equal(logic->vectors[e->vectors[0]].name, "step.spread");
    hac_logic_free(logic);
}

static void test_used_wrongly(void **state)
{
    fixture *f = *state;
    assert_added(f, HAC_LIBRARY_SUBOP, damp1, 1, true);
    assert_added(f, HAC_LIBRARY_OP, step1, 1, true);
    use(f, "  - damp: {spread: rank, damping: damping, out: z}\n",
        "t.yaml:9:5: `n` of `damp` is missing: a vector of u64");
    use(f, "  - damp: {spread: rank, damping: damping, n: p.k, out: z}\n",
        "t.yaml:9:47: `p.k` has elements of type i64, and `n` of `damp` takes u64");
    use(f, "  - damp: {spread: rank, damping: p.x, n: n, out: z}\n",
        "t.yaml:9:11: `spread` has as many rows as `index` gives "
        "in line 4, and `damping` has as many rows as input "
        "`p`");
    use(f, "  - damp: {spread: rank, damping: damping, n: n, x: 1, out: z}\n",
        "t.yaml:9:50: unknown key `x`; there are: "
        "spread, damping, n, out, device");
    use(f, "  - damp@9: {spread: rank, damping: damping, n: n, out: z}\n",
        "t.yaml:9:5: `damp@9` is in no library");
    use(f, "  - op: s\n    use: rank_stpe\n",
        "t.yaml:10:10: no OP is called `rank_stpe`; of your own there are: damp, "
        "rank_step (did you mean rank_step?)");
    use(f, "  - op: s\n    use: rank_step\n    with: {link: link}\n",
        "t.yaml:10:10: `rank_step` needs `with: {rank: …}`");
    use(f, "  - op: s\n    use: rank_step\n    with: {link: rank}\n",
        "t.yaml:11:18: `rank` is a FixValueVector of f64, and "
        "`link` takes a SparseMatrix of f64");
    use(f,
        "  - op: s\n    use: rank_step\n    with: {link: link, rank: p.x, degree: degree, damping: damping, "
        "n: n, next: a, "
        "residual: b}\n",
        "t.yaml:11:30: `rank` has as many rows as input `p`, and `link` has as many rows as `index` gives in "
        "line "
        "4");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pages),
        cmocka_unit_test(test_subops),
        cmocka_unit_test(test_names),
        cmocka_unit_test_setup_teardown(test_versions, setup, teardown),
        cmocka_unit_test_setup_teardown(test_damaged, setup, teardown),
        cmocka_unit_test_setup_teardown(test_bad_definitions, setup, teardown),
        cmocka_unit_test_setup_teardown(test_used, setup, teardown),
        cmocka_unit_test_setup_teardown(test_used_wrongly, setup, teardown),
    };
    return cmocka_run_group_tests(tests, hac_test_fds_setup, hac_test_fds_teardown);
}
