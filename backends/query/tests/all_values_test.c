/* SPDX-License-Identifier: Apache-2.0 */
/* Quantiles of groups through one table and through merged partials, compared with sorted values. */
#include "group_harness.h"

static const hac_value_type f64 = {HAC_KIND_F64, 0, 0};

static int by_value(const void *p, const void *q)
{
    long double x = *(const long double *)p, y = *(const long double *)q;
    return (x > y) - (x < y);
}

/* The values as long doubles, which are exact for the values of the harness. */
static long double number(const hac_column *v, size_t row)
{
    __int128 wide;
    switch (hac_repr_of(v->type)) {
    case HAC_REPR_F64:
        return (long double)((const double *)v->values)[row];
    case HAC_REPR_U64:
        return (long double)((const uint64_t *)v->values)[row];
    case HAC_REPR_I128:
        memcpy(&wide, (const uint8_t *)v->values + row * 16, sizeof wide);
        return (long double)wide / 100;
    default:
        return (long double)((const int64_t *)v->values)[row];
    }
}

static void reference(const harness *h, double share, char (*ret)[HARNESS_TEXT])
{
    const hac_column *v = &h->columns[1];
    long double *values = calloc(h->rows + 1, sizeof *values);
    assert_non_null(values);
    for (size_t g = 0; g < h->groups; g++) {
        size_t n = 0, there = 0;
        for (size_t i = 0; i < h->rows; i++) {
            bool mine = ((const int64_t *)h->columns[0].values)[i] == (int64_t)g;
            there += mine;
            if (mine && v->states[i] == 0)
                values[n++] = number(v, i);
        }
        qsort(values, n, sizeof *values, by_value);
        long double position = (long double)(share * (double)(n - 1));
        size_t k = n == 0 ? 0 : (size_t)position;
        long double part = position - (long double)k;
        double x[2] = {0}; /* as large as the largest value that the harness prints */
        hac_column one = {.type = f64, .values = x};
        if (n != 0)
            x[0] = (double)(part > 0 ? values[k] + (values[k + 1] - values[k]) * part : values[k]);
        if (there != 0 && n == 0)
            strcpy(ret[g], "null");
        if (n != 0)
            harness_print(&one, 0, ret[g]);
    }
    free(values);
}

/* The values of the harness are few; these make selection work, without NaN. */
static void spread(harness *h)
{
    for (size_t i = 0; i < h->rows; i++) {
        int64_t k = (int64_t)(hac_random_u64(&h->random) % 1000) - 500;
        __int128 wide = (__int128)k * 100 * ((__int128)1 << 80);
        hac_column *v = &h->columns[1];
        if (hac_repr_of(v->type) == HAC_REPR_F64)
            ((double *)v->values)[i] = (double)k / 4;
        else if (hac_repr_of(v->type) == HAC_REPR_I128)
            memcpy((uint8_t *)v->values + i * 16, &wide, sizeof wide);
        else if (hac_repr_of(v->type) == HAC_REPR_U64)
            ((uint64_t *)v->values)[i] = (uint64_t)(k + 500) + (i % 2 != 0 ? UINT64_C(1) << 40 : 0);
        else
            ((int64_t *)v->values)[i] = k;
    }
}

static void check(const harness *h, double share)
{
    char(*wanted)[HARNESS_TEXT] = calloc(h->groups, HARNESS_TEXT);
    char(*got)[HARNESS_TEXT] = calloc(h->groups, HARNESS_TEXT);
    assert_true(wanted != NULL && got != NULL);
    reference(h, share, wanted);
    for (size_t chunks = 0; chunks <= 50; chunks += chunks < 2 ? 1 : 24) {
        memset(got, 0, h->groups * HARNESS_TEXT);
        if (chunks == 0)
            harness_table(h, got);
        else
            harness_merged(h, chunks, chunks == 2 ? 3 : 1, got);
        for (size_t g = 0; g < h->groups; g++)
            assert_string_equal(got[g], wanted[g]);
    }
    free(wanted);
    free(got);
}

static void test_quantiles(void **state)
{
    static const hac_value_type kinds[] = {
        {HAC_KIND_I64, 0, 0}, {HAC_KIND_U64, 0, 0}, {HAC_KIND_F64, 0, 0}, {HAC_KIND_DECIMAL, 38, 2}};
    static const size_t sizes[][2] = {{0, 1}, {1, 1}, {2, 1}, {3000, 1}, {3000, 7}, {3000, 2000}};
    (void)state;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            harness h;
            harness_init(&h, sizes[s][0], sizes[s][1], 2, &kinds[k], k * 10 + s);
            spread(&h);
            harness_query(&h, (hac_aggregate){.function = HAC_AGGREGATE_MEDIAN, .argument = 1, .type = f64});
            check(&h, 0.5);
            for (double share = 0; share <= 1; share += 0.125) {
                harness_query(&h, (hac_aggregate){.function = HAC_AGGREGATE_QUANTILE,
                                                  .argument = 1,
                                                  .low = hac_constant_real(share),
                                                  .type = f64});
                check(&h, share);
            }
            harness_clear(&h);
        }
    }
}

/* Sorted, reversed, equal and organ-pipe values. */
static void test_adversaries(void **state)
{
    (void)state;
    for (int form = 0; form < 4; form++) {
        harness h;
        harness_init(&h, 20000, 1, 2, &f64, 1);
        for (size_t i = 0; i < h.rows; i++) {
            double x = (double)i;
            ((double *)h.columns[1].values)[i] = form == 0   ? x
                                                 : form == 1 ? -x
                                                 : form == 2 ? 3
                                                 : i < 10000 ? x
                                                             : 20000 - x;
        }
        harness_query(&h, (hac_aggregate){.function = HAC_AGGREGATE_MEDIAN, .argument = 1, .type = f64});
        check(&h, 0.5);
        harness_clear(&h);
    }
}

static void test_memory_limit(void **state)
{
    harness h;
    hac_group_options options = {.seed = 1, .memory = 100000, .partitions = 1};
    hac_group_table *t;
    hac_column part[3];
    hac_error err = HAC_ERROR_NONE;
    hac_status status = HAC_OK;
    (void)state;
    harness_init(&h, 30000, 3, 2, &f64, 1);
    harness_query(&h, (hac_aggregate){.function = HAC_AGGREGATE_MEDIAN, .argument = 1, .type = f64});
    assert_int_equal(hac_group_table_new(&h.query, &options, &t, NULL), HAC_OK);
    for (size_t i = 0; i < h.rows && status == HAC_OK; i += 1000)
        status = hac_group_table_add(t, harness_part(&h, i, part), 1000, &err);
    assert_int_equal(status, HAC_NO_MEMORY);
    assert_non_null(strstr(err.message, "100000 bytes"));
    hac_group_table_free(t);
    harness_clear(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_quantiles), cmocka_unit_test(test_adversaries),
                                       cmocka_unit_test(test_memory_limit)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
