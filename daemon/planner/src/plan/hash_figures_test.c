/* SPDX-License-Identifier: Apache-2.0 */
#include "planner/hash_figures.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>
#include <cmocka.h>

/* A piece of `n` work-groups: work-group g had 100 rows, and g % 100 hits. */
static void add_piece(hac_hash_figures *f, uint64_t n)
{
    uint64_t v[HAC_AGGREGATE_N_VALUES] = {0};
    v[HAC_AGGREGATE_VALUE_ROWS] = 200 * n; /* some were filtered out */
    v[HAC_AGGREGATE_VALUE_SAMPLED] = 10 * n;
    v[HAC_AGGREGATE_VALUE_COVERED] = 4 * n;
    v[HAC_AGGREGATE_VALUE_HOT_KEYS] = n;
    v[HAC_AGGREGATE_VALUE_CHOSEN] = 1;
    v[HAC_AGGREGATE_VALUE_BEHIND] = 100 * n;
    v[HAC_AGGREGATE_VALUE_LOCAL_HITS] = 75 * n;
    v[HAC_AGGREGATE_VALUE_PAIRS_LOCAL] = 3 * n;
    v[HAC_AGGREGATE_VALUE_PAIRS_GLOBAL] = 5 * n;
    v[HAC_AGGREGATE_VALUE_WORK_GROUPS] = n;
    v[HAC_AGGREGATE_VALUE_HIT_RATE_MIN] = 0;
    v[HAC_AGGREGATE_VALUE_HIT_RATE_MAX] = (n - 1) * 10000;
    for (uint64_t g = 0; g < n; g++) {
        v[HAC_AGGREGATE_VALUE_HOT_HITS] += g;
        v[HAC_AGGREGATE_VALUE_BARS + hac_hot_bar(g, n)] += 100;
        v[HAC_AGGREGATE_VALUE_BARS + HAC_HOT_BARS + hac_hot_bar(g, n)] += g;
    }
    hac_hash_figures_add(f, v, HAC_AGGREGATE_N_VALUES);
}

static cJSON *json_of(const hac_hash_figures *f, bool on)
{
    hac_text text = HAC_TEXT_NONE;
    char *all = NULL;
    hac_json_open(&text, NULL, '{');
    hac_hash_figures_json(f, on, &text);
    hac_json_close(&text, '}');
    assert_int_equal(hac_text_finish(&text, &all, NULL, NULL), HAC_OK);
    cJSON *json = cJSON_Parse(all);
    assert_non_null(json);
    free(all);
    return json;
}

static double number(const cJSON *object, const char *key)
{
    const cJSON *n = cJSON_GetObjectItem(object, key);
    assert_true(cJSON_IsNumber(n));
    return n->valuedouble;
}

static void assert_near(double a, double b)
{
    assert_true(fabs(a - b) < 1e-9);
}

/* Bars lie side by side, without gaps, and have the rows and hits of their own work-groups. */
static void check_bars(const cJSON *groups, uint64_t n, unsigned pieces)
{
    const cJSON *bar;
    double next = 0;
    assert_true(number(groups, "work_groups") == (double)n);
    assert_true(number(groups, "min") == 0);
    assert_near(number(groups, "max"), (double)(n - 1) / 100);
    cJSON_ArrayForEach(bar, cJSON_GetObjectItem(groups, "bars"))
    {
        double first = number(bar, "first"), last = number(bar, "last"), wide = last - first + 1;
        assert_true(first == next && last >= first);
        assert_true(number(bar, "rows") == 100 * wide * pieces);
        assert_true(number(bar, "hits") == (first + last) / 2 * wide * pieces);
        assert_near(number(bar, "hit_rate"), (first + last) / 200);
        next = last + 1;
    }
    assert_true(next == (double)n);
}

static void test_json(void **state)
{
    (void)state;
    hac_hash_figures f = {.partials = 7, .pairs_merged = 70, .groups_merged = 60};
    for (uint64_t n = 1; n <= 100; n += n < 20 ? 1 : 16) {
        hac_hash_figures one = {.n_groups = 0};
        add_piece(&one, n);
        add_piece(&one, n);
        cJSON *json = json_of(&one, true), *hot = cJSON_GetObjectItem(json, "hot_keys");
        assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(hot, "work_groups")), 1);
        check_bars(cJSON_GetArrayItem(cJSON_GetObjectItem(hot, "work_groups"), 0), n, 2);
        cJSON_Delete(json);
    }
    add_piece(&f, 4);
    add_piece(&f, 40);
    cJSON *json = json_of(&f, true), *hot = cJSON_GetObjectItem(json, "hot_keys");
    const cJSON *merge = cJSON_GetObjectItem(json, "merge");
    assert_near(number(hot, "sample_coverage"), 10.0 / 110);
    assert_near(number(hot, "sample_hit_rate"), 0.4);
    assert_near(number(hot, "hit_rate"), (6 + 780) / 4400.0); /* 0 + … + 3, 0 + … + 39 */
    assert_near(number(hot, "local_hit_rate"), 0.75);
    assert_true(number(hot, "hot_set") == 40 && number(hot, "chosen") == 2);
    assert_true(number(hot, "pairs_local") == 132 && number(hot, "pairs_global") == 220);
    assert_true(number(merge, "partials") == 7 && number(merge, "pairs") == 70 &&
                number(merge, "groups") == 60);
    check_bars(cJSON_GetArrayItem(cJSON_GetObjectItem(hot, "work_groups"), 0), 4, 1);
    check_bars(cJSON_GetArrayItem(cJSON_GetObjectItem(hot, "work_groups"), 1), 40, 1);
    cJSON_Delete(json);
}

/* Without rows there is no rate; fewer values say nothing; shapes without end are not kept. */
static void test_limits(void **state)
{
    (void)state;
    hac_hash_figures f = {.n_groups = 0};
    uint64_t few[] = {50, 40, 0, 10, 100};
    cJSON *json = json_of(&f, false);
    assert_true(cJSON_IsNull(cJSON_GetObjectItem(cJSON_GetObjectItem(json, "hot_keys"), "hit_rate")));
    cJSON_Delete(json);
    hac_hash_figures_add(&f, few, 5);
    hac_hash_figures_add(&f, few, 0);
    assert_int_equal(f.sampled, 0);
    assert_int_equal(f.n_groups, 0);
    for (uint64_t n = 1; n < 100; n++)
        add_piece(&f, n);
    assert_int_equal(f.n_groups, HAC_HASH_SHAPES);
}

/* An executor that has been taken over may report any number of work-groups. */
static void test_most_groups(void **state)
{
    (void)state;
    hac_hash_figures f = {.n_groups = 0};
    hac_text text = HAC_TEXT_NONE;
    char *all = NULL;
    uint64_t v[HAC_AGGREGATE_N_VALUES] = {0};
    v[HAC_AGGREGATE_VALUE_PAIRS_LOCAL] = 1;
    v[HAC_AGGREGATE_VALUE_WORK_GROUPS] = UINT64_MAX;
    hac_hash_figures_add(&f, v, HAC_AGGREGATE_N_VALUES);
    hac_json_open(&text, NULL, '{');
    hac_hash_figures_json(&f, true, &text);
    hac_json_close(&text, '}');
    assert_int_equal(hac_text_finish(&text, &all, NULL, NULL), HAC_OK);
    assert_non_null(strstr(all, "\"first\":0,\"last\":1152921504606846975,")); /* 2^60 - 1 */
    assert_non_null(strstr(all, "\"first\":17293822569102704640,\"last\":18446744073709551614,"));
    free(all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_json), cmocka_unit_test(test_limits),
                                       cmocka_unit_test(test_most_groups)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
