/* SPDX-License-Identifier: Apache-2.0 */
/* arg_min and arg_max of all pairs of types, compared with a loop over the rows of each group. */
#include "group_harness.h"

static int compare_floats(double x, double y)
{
    if (isnan(x) || isnan(y))
        return isnan(x) - isnan(y);
    if (x < y || x > y)
        return x < y ? -1 : 1;
    return signbit(y) - signbit(x) == 0 ? 0 : signbit(x) ? -1 : 1;
}

/* In the order of sort: -0.0 below 0.0, NaN above all numbers, strings byte by byte. */
static int compare(const hac_column *v, size_t i, size_t k)
{
    const int64_t *words = v->values;
    __int128 x, y;
    switch (hac_repr_of(v->type)) {
    case HAC_REPR_BOOL:
        return ((const uint8_t *)v->values)[i] - ((const uint8_t *)v->values)[k];
    case HAC_REPR_F32:
        return compare_floats((double)((const float *)v->values)[i], (double)((const float *)v->values)[k]);
    case HAC_REPR_F64:
        return compare_floats(((const double *)v->values)[i], ((const double *)v->values)[k]);
    case HAC_REPR_I128:
        memcpy(&x, words + 2 * i, sizeof x);
        memcpy(&y, words + 2 * k, sizeof y);
        return (x > y) - (x < y);
    case HAC_REPR_STRING: {
        char a[HARNESS_TEXT], b[HARNESS_TEXT];
        hac_string_ref p = ((const hac_string_ref *)v->values)[i], q = ((const hac_string_ref *)v->values)[k];
        snprintf(a, sizeof a, "%.*s", (int)p.length, (const char *)v->bytes + p.offset);
        snprintf(b, sizeof b, "%.*s", (int)q.length, (const char *)v->bytes + q.offset);
        return strcmp(a, b);
    }
    default:
        return (words[i] > words[k]) - (words[i] < words[k]);
    }
}

static void reference(const harness *h, char (*ret)[HARNESS_TEXT])
{
    const hac_column *a = &h->columns[1], *b = &h->columns[h->aggregate.second];
    for (size_t g = 0; g < h->groups; g++) {
        size_t best = SIZE_MAX;
        bool there = false;
        for (size_t i = 0; i < h->rows; i++) {
            if (((const int64_t *)h->columns[0].values)[i] != (int64_t)g)
                continue;
            there = true;
            if (b->states[i] != 0)
                continue;
            int order = best == SIZE_MAX ? -1 : compare(b, i, best);
            if (best != SIZE_MAX && h->aggregate.function == HAC_AGGREGATE_ARG_MAX)
                order = -order;
            if (order == 0 && a->states[i] == 0)
                order = a->states[best] != 0 ? -1 : compare(a, i, best);
            best = order < 0 ? i : best;
        }
        if (there)
            strcpy(ret[g], "null");
        if (best != SIZE_MAX)
            harness_print(a, best, ret[g]);
    }
}

static void same(const harness *h, char (*wanted)[HARNESS_TEXT], char (*got)[HARNESS_TEXT])
{
    for (size_t g = 0; g < h->groups; g++)
        assert_string_equal(got[g], wanted[g]);
    memset(got, 0, h->groups * HARNESS_TEXT);
}

static void check(const harness *h)
{
    char(*wanted)[HARNESS_TEXT] = calloc(h->groups, HARNESS_TEXT),
    (*got)[HARNESS_TEXT] = calloc(h->groups, HARNESS_TEXT);
    assert_true(wanted != NULL && got != NULL);
    reference(h, wanted);
    harness_table(h, got);
    same(h, wanted, got);
    for (size_t chunks = 1; chunks <= 50; chunks = chunks * 2 + chunks / 2 + 1) { /* 1, 3, 8, 21 */
        harness_merged(h, chunks, chunks == 3 ? 2 : 1, got);
        same(h, wanted, got);
    }
    harness_merged(h, 50, 1, got);
    same(h, wanted, got);
    free(wanted);
    free(got);
}

static const hac_value_type kinds[] = {
    {HAC_KIND_I64, 0, 0}, {HAC_KIND_U64, 0, 0},      {HAC_KIND_BOOL, 0, 0},  {HAC_KIND_F32, 0, 0},
    {HAC_KIND_F64, 0, 0}, {HAC_KIND_DECIMAL, 38, 2}, {HAC_KIND_STRING, 0, 0}};

static void test_pairs(void **state)
{
    (void)state;
    for (size_t a = 0; a < sizeof kinds / sizeof *kinds; a++) {
        for (size_t b = 0; b < sizeof kinds / sizeof *kinds; b++) {
            harness h;
            harness_init(&h, 2000, 1 + (a * 7 + b) % 5 * 40, 3, (hac_value_type[]){kinds[a], kinds[b]},
                         a * 100 + b);
            for (unsigned f = HAC_AGGREGATE_ARG_MIN; f <= HAC_AGGREGATE_ARG_MAX; f++) {
                harness_query(&h, (hac_aggregate){
                                      .function = (uint8_t)f, .argument = 1, .second = 2, .type = kinds[a]});
                check(&h);
            }
            harness_clear(&h);
        }
    }
}

/* Both arguments are one column; one row, with a value and without. */
static void test_few(void **state)
{
    harness h;
    (void)state;
    harness_init(&h, 1000, 10, 2, &kinds[4], 3);
    harness_query(
        &h, (hac_aggregate){.function = HAC_AGGREGATE_ARG_MAX, .argument = 1, .second = 1, .type = kinds[4]});
    check(&h);
    harness_clear(&h);
    harness_init(&h, 1, 1, 3, (hac_value_type[]){kinds[6], kinds[6]}, 4);
    harness_query(
        &h, (hac_aggregate){.function = HAC_AGGREGATE_ARG_MIN, .argument = 1, .second = 2, .type = kinds[6]});
    check(&h);
    harness_clear(&h);
    harness_init(&h, 1, 1, 3, (hac_value_type[]){kinds[6], kinds[6]}, 5);
    h.columns[2].states[0] = HAC_ROW_NULL;
    harness_query(
        &h, (hac_aggregate){.function = HAC_AGGREGATE_ARG_MIN, .argument = 1, .second = 2, .type = kinds[6]});
    check(&h);
    harness_clear(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_pairs), cmocka_unit_test(test_few)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
