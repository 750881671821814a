/* SPDX-License-Identifier: Apache-2.0 */
/* Worked examples, and what holds for every decomposition. */
#include "opsplit/decompose.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"

static hac_logic *parse(const char *text, const hac_library *library)
{
    hac_logic *logic = NULL;
    hac_error err = HAC_ERROR_NONE;
    if (hac_logic_parse("t.yaml", text, strlen(text), library, &logic, NULL, &err) != HAC_OK)
        fail_msg("%s\n%s", text, err.message);
    return logic;
}

static hac_decomposition *decompose(const hac_logic *logic, unsigned components)
{
    hac_decomposition *d = NULL;
    hac_error err = HAC_ERROR_NONE;
    hac_decompose_options options = {.components = components, .threads = 3};
    assert_int_equal(hac_decompose(logic, &options, &d, &err), HAC_OK);
    return d;
}

static const hac_part *part_of(const hac_decomposed_step *d, size_t suboperator, unsigned component)
{
    for (size_t i = 0; i < d->n_parts; i++)
        if (d->parts[i].suboperator == suboperator && d->parts[i].component == component)
            return &d->parts[i];
    return NULL;
}

/* Each component of each sub-operator is there once, and after what it depends on. */
static void check_step(const hac_decomposed_step *d)
{
    size_t n = 0;
    for (size_t i = 0; i < d->n_suboperators; i++) {
        const hac_suboperator *s = &d->suboperators[i];
        n += s->components;
        for (unsigned c = 0; c < s->components; c++) {
            const hac_part *part = part_of(d, i, c);
            assert_non_null(part);
            for (size_t k = 0; k < s->n_after; k++) {
                const hac_suboperator *before = &d->suboperators[s->after[k].on];
                assert_true(s->after[k].on < i && before->depth < s->depth);
                assert_true(s->after[k].whole || before->components == s->components);
                for (unsigned b = 0; b < before->components; b++) {
                    const hac_part *other = part_of(d, s->after[k].on, b);
                    assert_true((!s->after[k].whole && b != c) || (other < part && other->slot < part->slot));
                }
            }
        }
    }
    assert_int_equal(n, d->n_parts);
    for (size_t i = 1; i < d->n_parts; i++)
        assert_true(d->parts[i - 1].slot <= d->parts[i].slot);
    for (size_t i = 0; i < d->n_body; i++)
        check_step(&d->body[i]);
    for (size_t i = 0; i < d->n_otherwise; i++)
        check_step(&d->otherwise[i]);
}

/* ---- the worked examples ---- */

static hac_library *library_of(const char *directory, const char *const *texts, size_t n)
{
    hac_library *library = NULL;
    hac_error err = HAC_ERROR_NONE;
    assert_int_equal(hac_library_open(directory, &library, &err), HAC_OK);
    for (size_t i = 0; i < n; i++) {
        hac_library_added added;
        if (hac_library_add(library, HAC_LIBRARY_SUBOP, "lib.yaml", texts[i], strlen(texts[i]), &added, NULL,
                            &err) != HAC_OK)
            fail_msg("%s", err.message);
    }
    return library;
}

static void remove_folder(const char *path)
{
    char command[256];
    snprintf(command, sizeof command, "rm -r '%s'", path);
    assert_int_equal(system(command), 0);
}

/* Library A, B, C and the OP A-B-D: A and B are of the library, D is an exception. Each component passes
 * through all three in order, as in a pipeline. */
static void test_a_b_d(void **state)
{
    static const char *const texts[] = {"subop: A\narguments: {x: f64}\nexpr: x + 1\n",
                                        "subop: B\narguments: {x: f64}\nexpr: x * 2\n",
                                        "subop: C\narguments: {x: f64}\nexpr: x - 3\n"};
    char directory[] = "/tmp/hac-decompose-XXXXXX";
    (void)state;
    assert_non_null(mkdtemp(directory));
    hac_library *library = library_of(directory, texts, 3);
    hac_logic *logic = parse("inputs: {p: {parse: csv, schema: \"x:f64\"}}\n"
                             "vectors: {a: {template: FixValueVector, type: f64, split: 3}}\n"
                             "operators:\n"
                             "  - op: abd\n"
                             "    do:\n"
                             "      - A: {x: p.x, out: a}\n"
                             "      - B: {x: a, out: b}\n"
                             "      - D: {expr: \"sqrt(b)\", out: d, device: gpu}\n"
                             "outputs: {o: {columns: [d]}}\n",
                             library);
    hac_decomposition *all = decompose(logic, 3);
    const hac_decomposed_step *d = &all->steps[0];
    assert_int_equal(d->n_suboperators, 3);
    assert_int_equal(d->suboperators[0].kind, HAC_SUBOPERATOR_USER);
    assert_int_equal(d->suboperators[1].kind, HAC_SUBOPERATOR_USER);
    assert_int_equal(d->suboperators[2].kind, HAC_SUBOPERATOR_EXCEPTION);
    assert_string_equal(d->suboperators[2].piece->device, "gpu");
    for (size_t i = 0; i < 3; i++)
        for (unsigned c = 0; c < 3; c++)
            assert_int_equal(part_of(d, i, c)->slot, i + c);
    assert_int_equal(d->slots, 5);
    check_step(d);
    hac_decomposition_free(all);
    hac_logic_free(logic);
    hac_library_free(library);
    remove_folder(directory);
}

static void test_loop(void **state)
{
    static const uint64_t expected[] = {0, 2, 4, 6, 8, 10};
    hac_logic *logic = parse("operators:\n"
                             "  - for: {index: i, from: 0, to: 10, split: 5, collect: {s: all}}\n"
                             "    do: [{let: {s: \"i * 2\"}}]\n"
                             "outputs: {o: {columns: [all]}}\n",
                             NULL);
    hac_decomposition *all = decompose(logic, 1);
    const hac_decomposed_step *d = &all->steps[0];
    (void)state;
    assert_true(logic->steps[0].independent);
    assert_int_equal(d->components, 5);
    for (unsigned i = 0; i < 5; i++) {
        assert_int_equal(d->sub_loops[i].first, expected[i]);
        assert_int_equal(d->sub_loops[i].first + d->sub_loops[i].count, expected[i + 1]);
        assert_int_equal(part_of(d, 0, i)->slot, 0);
    }
    assert_true(logic->vectors[hac_logic_vector_find(logic, "s")].local);
    hac_decomposition_free(all);
    hac_logic_free(logic);
}

/* A dependent loop is not split, even if it states `split`. */
static void test_dependent_loops(void **state)
{
    static const struct {
        const char *body;
        bool independent;
    } cases[] = {
        {"[{let: {s: \"s + i\"}}]", false},
        {"[{let: {s: \"i\"}}, {let: {t: \"s + 1\"}}]", true},
        {"[{let: {t: \"s + 1\"}}, {let: {s: \"i\"}}]", false},
        {"[{if: {condition: \"i > 3\"}, then: [{let: {s: 1}}]}, {let: {t: s}}]", false},
        {"[{if: {condition: \"i > 3\"}, then: [{let: {s: 1}}], else: [{let: {s: 2}}]}, {let: {t: s}}]", true},
        {"[{for: {index: j, from: 0, to: 3}, do: [{let: {s: j}}]}, {let: {t: s}}]", false},
        {"[{for: {index: j, from: 0, to: 3}, do: [{let: {t: \"j + i\"}}]}]", true},
        {"[{let: {t: i}}, {while: {condition: \"t < 9\", rounds: 9}, do: [{let: {t: \"t + 1\"}}]}]", true},
        {"[{while: {condition: \"s < 9\", rounds: 9}, do: [{let: {s: \"s + 1\"}}]}]", false},
        {"[{let: {i: \"i + 1\"}}]", false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[512];
        snprintf(text, sizeof text,
                 "vectors: {s: {value: 1}}\noperators:\n  - for: {index: i, from: 0, to: 10, split: 5}\n    "
                 "do: %s\n"
                 "outputs: {o: {columns: [s]}}\n",
                 cases[i].body);
        hac_logic *logic = parse(text, NULL);
        hac_decomposition *all = decompose(logic, 4);
        if (logic->steps[0].independent != cases[i].independent)
            fail_msg("%s is %sindependent", cases[i].body, cases[i].independent ? "not " : "");
        assert_int_equal(all->steps[0].components, cases[i].independent ? 5 : 1);
        check_step(&all->steps[0]);
        hac_decomposition_free(all);
        hac_logic_free(logic);
    }
}

/* Independent sub-operators begin with different components, and take all of them in turn. */
static void test_side_by_side(void **state)
{
    hac_logic *logic = parse("inputs: {p: {parse: csv, schema: \"x:f64\"}}\n"
                             "operators:\n"
                             "  - reduce: {in: p.x, function: sum, out: a}\n"
                             "  - reduce: {in: p.x, function: min, out: b}\n"
                             "  - reduce: {in: p.x, function: max, out: c}\n"
                             "  - map: {expr: \"(p.x - b) / (c - b)\", out: d}\n"
                             "outputs: {o: {columns: [d]}}\n",
                             NULL);
    hac_decomposition *all = decompose(logic, 3);
    const hac_decomposed_step *d = &all->steps[0];
    (void)state;
    for (size_t j = 0; j < 3; j++)
        for (unsigned r = 0; r < 3; r++)
            assert_int_equal(part_of(d, j, (unsigned)((r + j) % 3))->slot, r);
    assert_int_equal(d->suboperators[3].n_after, 2); /* on b and c, not on a */
    assert_true(d->suboperators[3].after[0].whole);
    assert_int_equal(part_of(d, 3, 0)->slot, 3);
    check_step(d);
    hac_decomposition_free(all);
    hac_logic_free(logic);
}

static void test_whole(void **state)
{
    hac_logic *logic =
        parse("inputs: {p: {parse: csv, schema: \"x:f64\"}}\n"
              "operators:\n"
              "  - op: own\n"
              "    do: [{one: {expr: \"p.x + 1\", out: a}}, {two: {expr: \"a * a\", out: b}}]\n"
              "outputs: {o: {columns: [b]}}\n",
              NULL);
    hac_decomposition *all = decompose(logic, 4);
    (void)state;
    assert_int_equal(all->steps[0].n_suboperators, 1);
    assert_int_equal(all->steps[0].suboperators[0].kind, HAC_SUBOPERATOR_WHOLE);
    assert_int_equal(all->steps[0].components, 1);
    hac_decomposition_free(all);
    hac_logic_free(logic);
}

/* What depends on all components, and what only on its own. */
static void test_edges(void **state)
{
    static const struct {
        const char *first, *then;
        int whole; /* -1: independent */
    } cases[] = {
        {"map: {expr: \"p.x + 1\", out: a}", "map: {expr: \"a + p.x\", out: b}", 0},
        {"map: {expr: \"p.x + 1\", out: a}", "map: {expr: \"p.x * 2\", out: b}", -1},
        {"map: {expr: \"p.x + 1\", out: a}", "reduce: {in: a, out: b}", 0},
        {"map: {expr: \"p.x + 1\", out: a}", "gather: {in: a, index: p.k, out: b}", 1},
        {"map: {expr: \"p.k + 0\", out: a}", "gather: {in: p.x, index: a, out: b}", 0},
        {"map: {expr: \"p.x + 1\", out: a}", "fill: {value: 1, rows: a, out: b}", 1},
        {"reduce: {in: p.x, out: a}", "map: {expr: \"p.x / a\", out: b}", 1},
        {"scan: {in: p.x, out: a}", "map: {expr: \"p.x / a\", out: b}", 1},
        {"sort: {in: p.x, out: a}", "map: {expr: \"p.x / a\", out: b}", 1},
        {"nearest: {in: m.t, to: m.t, out: a}", "gather: {in: m.t, index: a, out: b}", 0},
        {"map: {expr: \"m.t + 1\", out: a}", "nearest: {in: m.t, to: a, out: b}", 1},
        {"map: {expr: \"m.t + 1\", out: a}", "nearest: {in: a, to: m.t, out: b}", 0},
        {"map: {expr: \"q + 1\", out: b}", "map: {expr: \"p.x + 1\", out: q}", 0},
        {"map: {expr: \"p.x + 2\", out: b}", "map: {expr: \"p.x + 1\", out: b}", 1},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[1024];
        snprintf(text, sizeof text,
                 "inputs: {p: {parse: csv, schema: \"x:f64,k:i64\"}, m: {parse: csv, schema: "
                 "\"a:f64,b:f64\", matrix: {t: "
                 "[a, b]}}}\noperators:\n  - map: {expr: \"p.x\", out: q}\n  - if: {condition: \"true\"}\n   "
                 " then: []\n"
                 "  - %s\n  - %s\noutputs: {o: {columns: [b]}}\n",
                 cases[i].first, cases[i].then);
        hac_logic *logic = parse(text, NULL);
        hac_decomposition *all = decompose(logic, 4);
        const hac_suboperator *then = &all->steps[2].suboperators[1];
        int whole = then->n_after == 0 ? -1 : then->after[0].whole;
        if (whole != cases[i].whole)
            fail_msg("%s, then %s: %d and not %d", cases[i].first, cases[i].then, whole, cases[i].whole);
        check_step(&all->steps[2]);
        hac_decomposition_free(all);
        hac_logic_free(logic);
    }
}

/* ---- explain ---- */

static void test_explain(void **state)
{
    hac_logic *logic = parse("inputs: {p: {parse: csv, schema: \"x:f64\"}}\n"
                             "vectors: {a: {template: FixValueVector, type: f64, split: 2}}\n"
                             "operators:\n"
                             "  - op: first\n"
                             "    operation: VectorMap\n"
                             "    do:\n"
                             "      - map: {expr: \"p.x + 1\", out: a}\n"
                             "      - reduce: {in: a, out: s}\n"
                             "  - while: {condition: \"s > 1\", rounds: 3}\n"
                             "    do: [{let: {s: \"s / 2\"}}]\n"
                             "  - for: {index: i, from: 0, to: 4, split: 2}\n"
                             "    do: [{let: {t: i}}]\n"
                             "outputs: {o: {columns: [a]}}\n",
                             NULL);
    static const char expected[] =
        "OP first (VectorMap): 2 sub-operators, 2 components\n"
        "  1. map (library; p.x → a): components [0, 5) [5, 10) of `a` (range)\n"
        "  2. reduce (library; a → s): components [0, 5) [5, 10) of `a` (range); after 1\n"
        "  order: 1.1 | 1.2 2.1 | 2.2\n"
        "while s > 1, at most 3 rounds\n"
        "  OP let: 1 sub-operator, 1 component\n"
        "    1. let (library; s → s): component all\n"
        "for i from 0 to 4: independent, 2 sub-loops: [0, 2) [2, 4)\n"
        "  OP let: 1 sub-operator, 1 component\n"
        "    1. let (library; i → t): component all\n";
    hac_text text = HAC_TEXT_NONE, json = HAC_TEXT_NONE;
    uint64_t rows[64];
    char *printed = NULL;
    (void)state;
    for (size_t i = 0; i < 64; i++)
        rows[i] = 10;
    hac_decomposition *all = decompose(logic, 1);
    hac_decomposition_print(all, rows, NULL, &text);
    assert_int_equal(hac_text_finish(&text, &printed, NULL, NULL), HAC_OK);
    assert_string_equal(printed, expected);
    free(printed);
    hac_json_open(&json, NULL, '{');
    hac_decomposition_json(all, NULL, NULL, "steps", &json);
    hac_json_close(&json, '}');
    assert_int_equal(hac_text_finish(&json, &printed, NULL, NULL), HAC_OK);
    assert_non_null(strstr(printed, "\"sub_loops\":[[0,2],[2,4]]"));
    assert_non_null(strstr(printed, "\"codelets\":[\"op.reduce\",\"op.combine\"]"));
    free(printed);
    hac_decomposition_free(all);
    hac_logic_free(logic);
}

/* Keys are numbered as a whole, then each value is reduced over all components. */
static void test_reducer(void **state)
{
    hac_logic *logic = parse("inputs: {p: {parse: csv, schema: \"k:string,x:f64\"}}\n"
                             "operators:\n"
                             "  - op: reducer\n"
                             "    do: [{map: {expr: \"p.x + 1\", out: y}}]\n"
                             "reducer:\n"
                             "  key: p.k\n"
                             "  keys: each\n"
                             "  values: {most: {function: max, in: y}, n: {function: count, in: y}}\n"
                             "outputs: {o: {columns: [each, most, n]}}\n",
                             NULL);
    static const char expected[] =
        "OP reducer: 1 sub-operator, 2 components\n"
        "  1. map (library; p.x → y): components [0, 5) [5, 10) of `y` (range)\n"
        "  order: 1.1 | 1.2\n"
        "reducer: 3 sub-operators, 2 components\n"
        "  1. index (library; p.k → each): component all\n"
        "  2. reduce_by_key (library; p.k, y, each → most): components [0, 5) [5, 10) of `p.k` (range); "
        "after 1 (all of it)\n"
        "  3. reduce_by_key (library; p.k, each → n): components [0, 5) [5, 10) of `p.k` (range); after 1 "
        "(all of it)\n"
        "  order: 1 | 2.1 3.2 | 2.2 3.1\n";
    hac_text text = HAC_TEXT_NONE, json = HAC_TEXT_NONE;
    uint64_t rows[64];
    char *printed = NULL;
    (void)state;
    for (size_t i = 0; i < 64; i++)
        rows[i] = 10;
    assert_int_equal(logic->n_pieces, 4);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(logic->reducer->step->pieces[i].number, i + 1);
    hac_decomposition *all = decompose(logic, 2);
    assert_int_equal(all->n_steps, 2);
    for (size_t i = 0; i < all->n_steps; i++)
        check_step(&all->steps[i]);
    hac_decomposition_print(all, rows, NULL, &text);
    assert_int_equal(hac_text_finish(&text, &printed, NULL, NULL), HAC_OK);
    assert_string_equal(printed, expected);
    free(printed);
    hac_decomposition_json(all, NULL, NULL, NULL, &json);
    assert_int_equal(hac_text_finish(&json, &printed, NULL, NULL), HAC_OK);
    const char *step =
        strstr(printed, "{\"kind\":\"reducer\",\"name\":\"reducer\",\"line\":5,\"components\":2");
    assert_non_null(step);
    assert_null(strstr(step + 1, "\"kind\":\"op\"")); /* the last */
    assert_non_null(strstr(step, "\"codelets\":[\"op.index\"],\"reads\":[\"p.k\"],\"writes\":[\"each\"]"));
    assert_non_null(strstr(step, "\"codelets\":[\"op.keys\",\"op.keys_combine\"]"));
    free(printed);
    hac_decomposition_free(all);
    hac_logic_free(logic);
}

/* ---- properties ---- */

static void test_rows(void **state)
{
    uint64_t random = 1;
    (void)state;
    for (unsigned round = 0; round < 20000; round++) {
        uint64_t rows = hac_random_u64(&random) >> (hac_random_u64(&random) % 64), next = 0;
        uint64_t grain = 1 + (hac_random_u64(&random) % (round % 2 == 0 ? 1 : 8192));
        unsigned n = 1 + (unsigned)(hac_random_u64(&random) % 64);
        uint64_t min = UINT64_MAX, max = 0;
        for (unsigned i = 0; i < n; i++) {
            hac_component_range range = hac_component_of_rows(rows, n, grain, i);
            assert_true(range.first == next && (range.count == 0 || range.first % grain == 0));
            next += range.count;
            min = range.count < min ? range.count : min;
            max = range.count > max ? range.count : max;
        }
        assert_true(next == rows);
        assert_true(max - min <= 2 * grain);
    }
}

static void test_weights(void **state)
{
    uint64_t random = 2;
    (void)state;
    for (unsigned round = 0; round < 700; round++) {
        uint64_t rows = hac_random_u64(&random) % 2000, next;
        unsigned n = 1 + (unsigned)(hac_random_u64(&random) % 20);
        uint64_t grain = round % 3 == 0 ? 1 : 1 + hac_random_u64(&random) % 100;
        uint64_t first = rows > 0 && round % 4 == 0 ? hac_random_u64(&random) % rows / grain * grain : 0;
        double *weights = calloc(rows + 1, sizeof *weights), *sums = calloc(rows + 1, sizeof *sums);
        double largest = 0;
        for (uint64_t i = 0; i < rows; i++) {
            weights[i] = round % 5 == 0 ? 0.0 : (double)(hac_random_u64(&random) % 1000);
            if (i == 1 && round % 7 == 0)
                weights[i] = round % 2 == 0 ? NAN : -5.0;
            largest = weights[i] > largest ? weights[i] : largest;
        }
        hac_weight_sums(weights, rows, sums);
        next = first;
        for (unsigned i = 0; i < n; i++) {
            hac_component_range range = hac_component_by_weight(sums, first, rows, n, grain, i);
            double sum = 0, equal = (sums[rows] - sums[first]) / n;
            assert_true(range.first == next);
            assert_true(range.count == 0 || (range.first - first) % grain == 0);
            next += range.count;
            for (uint64_t j = range.first; j < next; j++)
                sum += weights[j] > 0 ? weights[j] : 0;
            if (largest > 0)
                assert_true(fabs(sum - equal) <= largest * (double)grain + 1e-6);
            else /* all have the same weight */
                assert_true(fabs((double)range.count - (double)(rows - first) / n) <= (double)grain + 1e-6);
        }
        assert_true(next == rows);
        free(weights);
        free(sums);
    }
}

static void test_row_by_row(void **state)
{
    uint64_t random = 3;
    size_t counts[8] = {0};
    (void)state;
    for (unsigned i = 0; i < 80000; i++) {
        uint64_t value = hac_random_u64(&random);
        unsigned n = 1 + (unsigned)(value % 1024);
        assert_true(hac_component_of_row(HAC_PARTITION_HASH, i, value, n) < n);
        assert_int_equal(hac_component_of_row(HAC_PARTITION_ROUND_ROBIN, i, value, n), i % n);
        assert_true(hac_component_of_row(HAC_PARTITION_EXPRESSION, i, value, n) < n);
        counts[hac_component_of_row(HAC_PARTITION_HASH, 0, i, 8)]++;
    }
    assert_int_equal(hac_component_of_row(HAC_PARTITION_EXPRESSION, 0, (uint64_t)-1, 4), 3);
    for (unsigned i = 0; i < 8; i++)
        /* Consecutive values go to different components. */
        assert_true(counts[i] > 9500 && counts[i] < 10500);
}

static void test_iterations(void **state)
{
    static const struct {
        int64_t from, to, by;
        uint64_t n;
    } cases[] = {{0, 10, 1, 10},
                 {0, 10, 3, 4},
                 {10, 0, -1, 10},
                 {10, 0, 1, 0},
                 {0, 0, 1, 0},
                 {5, 6, 100, 1},
                 {9, -1, -2, 5},
                 {-3, 3, 2, 3},
                 {0, 1, 0, 0},
                 {INT64_MIN, INT64_MAX, 1, UINT64_MAX},
                 {INT64_MAX, INT64_MIN, INT64_MIN, 2}};
    uint64_t random = 4;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_true(hac_loop_iterations(cases[i].from, cases[i].to, cases[i].by) == cases[i].n);
    for (unsigned round = 0; round < 10000; round++) { /* every iteration is in exactly one sub-loop */
        uint64_t n = hac_random_u64(&random) % 100000, next = 0;
        unsigned parts = 1 + (unsigned)(hac_random_u64(&random) % 100);
        for (unsigned i = 0; i < parts; i++) {
            hac_component_range range = hac_sub_loop(n, parts, i);
            assert_true(range.first == next && range.count <= n / parts + 1);
            next += range.count;
        }
        assert_true(next == n);
    }
}

static void random_piece(uint64_t which, const char *x, const char *y, const char *z, char *ret,
                         size_t capacity)
{
    switch (which) {
    case 0:
        snprintf(ret, capacity, "map: {expr: \"%s + %s\", out: %s}", x, y, z);
        break;
    case 1:
        snprintf(ret, capacity, "scan: {in: %s, out: %s}", x, z);
        break;
    case 2:
        snprintf(ret, capacity, "sort: {in: %s, out: %s}", x, z);
        break;
    case 3:
        snprintf(ret, capacity, "dot: {in: [%s, %s], out: s%s}", x, y, z);
        break;
    case 4:
        snprintf(ret, capacity, "axpy: {a: 2, x: %s, y: %s, out: %s}", x, y, z);
        break;
    default:
        snprintf(ret, capacity, "odd: {expr: \"%s * %s\", out: %s}", x, y, z);
    }
}

/* Programs of random pieces over a few vectors, so that many pieces depend on each other. */
static void test_random_programs(void **state)
{
    static const char *const names[] = {"a", "b", "c", "d", "e"};
    uint64_t random = 5;
    (void)state;
    for (unsigned round = 0; round < 300; round++) {
        char text[4096];
        size_t used = (size_t)snprintf(
            text, sizeof text,
            "vectors:\n  a: {value: [1.0, 2, 3], split: %u}\n  b: {value: [1.0, 2, 3]}\n  c: {value: "
            "[1.0, 2, 3]}\n  d: {value: [1.0, 2, 3]}\n  e: {value: [1.0, 2, 3]}\noperators:\n",
            1 + round % 7);
        for (unsigned i = 0; i < 2 + round % 12; i++) {
            const char *x = names[hac_random_u64(&random) % 5], *y = names[hac_random_u64(&random) % 5];
            const char *z = names[hac_random_u64(&random) % 5];
            char piece[160];
            random_piece(hac_random_u64(&random) % 6, x, y, z, piece, sizeof piece);
            used += (size_t)snprintf(text + used, sizeof text - used, "  - %s\n", piece);
        }
        snprintf(text + used, sizeof text - used, "outputs: {o: {columns: [a]}}\n");
        hac_logic *logic = parse(text, NULL);
        hac_decomposition *all = decompose(logic, 1 + round % 5);
        for (size_t i = 0; i < all->n_steps; i++)
            check_step(&all->steps[i]);
        hac_decomposition_free(all);
        hac_logic_free(logic);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_b_d),
        cmocka_unit_test(test_loop),
        cmocka_unit_test(test_dependent_loops),
        cmocka_unit_test(test_side_by_side),
        cmocka_unit_test(test_whole),
        cmocka_unit_test(test_edges),
        cmocka_unit_test(test_explain),
        cmocka_unit_test(test_reducer),
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_weights),
        cmocka_unit_test(test_row_by_row),
        cmocka_unit_test(test_iterations),
        cmocka_unit_test(test_random_programs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
