/* SPDX-License-Identifier: Apache-2.0 */
/* Fixed rows (groups/fixed_rows.h) compared with arrays indexed by key number: counts, and exact sums and
 * variances to the bit. The same rows are added as fixed columns and as batches of columns. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "base/test_support.h"
#include "query/group_table.h"
#include "query/partial.h"

#include "groups/fixed_rows.h"

/* The rule of partial.h for fixed rows. */
#define RUN        4096
#define NEW_WEIGHT 12
#define MAX_GROUPS 53248

static uint64_t random_state = 7;

typedef struct named_key {
    uint64_t word;
    uint32_t number;
} named_key;

static int by_word(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

typedef __int128 wide;

static const hac_value_type no_sum = {HAC_KIND_NONE, 0, 0}, f64 = {HAC_KIND_F64, 0, 0},
                            i64 = {HAC_KIND_I64, 0, 0}, u64 = {HAC_KIND_U64, 0, 0},
                            decimal = {HAC_KIND_DECIMAL, 18, 2};

typedef struct input {
    hac_query query;
    hac_program program;
    hac_program_output outputs[2];
    hac_aggregate aggregates[2];
    size_t rows, chunk, distinct;
    unsigned spread;  /* how far the exponents of floats lie apart */
    bool variance;    /* var_pop instead of a sum */
    uint32_t *number; /* number of each row's key */
    uint8_t *keys;    /* as in a table, at an odd address */
    uint8_t *values;
    named_key *names; /* all keys, ordered by word */
} input;

static size_t width(const input *in)
{
    return hac_value_size(in->outputs[0].type);
}

/* Key number `number`, as the 64-bit word of its representation. */
static uint64_t key_word(const input *in, uint32_t number)
{
    uint64_t word = (number + 1) * UINT64_C(0x9e3779b97f4a7c15);
    if (number == 0)
        word = 0;
    if (width(in) == 8)
        return word;
    word = number * UINT64_C(2654435761) & UINT32_MAX;
    return in->outputs[0].type.kind == HAC_KIND_U32 ? word : (uint64_t)(int64_t)(int32_t)word;
}

static double value_at(const input *in, size_t row)
{
    double value;
    memcpy(&value, in->values + row * 8, 8);
    return value;
}

/* For variances: whole numbers below 2^32, whose exponents lie far apart where `far`. Sums of their squares
 * fit 128 bits. */
static double draw_whole(bool far)
{
    uint64_t r = hac_random_u64(&random_state);
    double number = far ? ldexp((double)(r & 0xfff), (int)(r >> 12 & 0xff) % 21) : (double)(r & 0xffffffff);
    return r >> 63 != 0 ? -number : number;
}

/* Floats that have limbs (exact_limbs.h), that do not, that sometimes do not, that grow from row to row. */
enum { NEAR, FAR, SOMETIMES_FAR, GROWING, SPREADS };

static double draw_float(unsigned spread, size_t row)
{
    static const unsigned ranges[SPREADS] = {12, 60, 12, 4};
    uint64_t r = hac_random_u64(&random_state);
    int exponent = (int)(hac_random_u64(&random_state) % ranges[spread]) - 90;
    double number = r % 100 == 0 ? 0.0 : ldexp((double)(int64_t)r, exponent);
    if (spread == FAR && r % 1000 == 1) /* far from the others */
        return ldexp(number, (int)(hac_random_u64(&random_state) % 1900) - 1000);
    if (spread == SOMETIMES_FAR && r % 5000 == 1)
        return ldexp(number, (int)(hac_random_u64(&random_state) % 60) - 20);
    return spread == GROWING ? ldexp(number, (int)(row / 500)) : number;
}

/* The summed value as a word: integers are so small that the sum of all rows is one word. */
static uint64_t draw_value(hac_value_type type, unsigned spread, size_t row)
{
    double number = draw_float(spread, row);
    uint64_t word = hac_random_u64(&random_state) >> 24;
    if (type.kind == HAC_KIND_F64)
        memcpy(&word, &number, sizeof word);
    else if (type.kind != HAC_KIND_U64)
        word -= UINT64_C(1) << 39;
    return word;
}

static wide wide_at(const input *in, size_t row)
{
    uint64_t word;
    memcpy(&word, in->values + row * 8, 8);
    return in->outputs[1].type.kind == HAC_KIND_U64 ? (wide)word : (int64_t)word;
}

/* Nine of ten rows have one of `common` keys. */
static void make(input *in, unsigned kind, hac_value_type sum, size_t rows, size_t distinct, size_t common,
                 size_t chunk)
{
    static unsigned made;
    *in = (input){.rows = rows, .chunk = chunk, .distinct = distinct, .spread = made++ % SPREADS};
    in->variance = sum.kind == HAC_KIND_F64 && made % 2 == 0;
    in->outputs[0].type.kind = (uint8_t)kind;
    in->outputs[1].type = sum;
    in->program = (hac_program){.outputs = in->outputs, .n_outputs = sum.kind != HAC_KIND_NONE ? 2 : 1};
    in->query =
        (hac_query){.rows = &in->program, .aggregates = true, .n_keys = 1, .aggregate = in->aggregates};
    in->aggregates[in->query.n_aggregates++] =
        (hac_aggregate){.function = HAC_AGGREGATE_COUNT_ROWS, .argument = -1, .type = {HAC_KIND_U64, 0, 0}};
    hac_value_type result = sum;
    if (sum.kind == HAC_KIND_DECIMAL)
        result.precision = HAC_DECIMAL_DIGITS_MAX;
    if (sum.kind != HAC_KIND_NONE)
        in->aggregates[in->query.n_aggregates++] =
            (hac_aggregate){.function = in->variance ? HAC_AGGREGATE_VAR_POP : HAC_AGGREGATE_SUM,
                            .argument = 1,
                            .type = result};
    in->number = malloc((rows + 1) * sizeof *in->number);
    in->keys = malloc(rows * 8 + 2);
    in->values = malloc(rows * 8 + 2);
    assert_true(in->number != NULL && in->keys != NULL && in->values != NULL);
    in->names = calloc(distinct, sizeof *in->names);
    assert_non_null(in->names);
    for (uint32_t k = 0; k < distinct; k++)
        in->names[k] = (named_key){key_word(in, k), k};
    qsort(in->names, distinct, sizeof *in->names, by_word);
    for (size_t i = 0; i < rows; i++) {
        size_t some = hac_random_u64(&random_state) % 10 == 0 ? distinct : common;
        in->number[i] = (uint32_t)(hac_random_u64(&random_state) % some);
        uint64_t word = key_word(in, in->number[i]), value = draw_value(sum, in->spread, i);
        double whole = draw_whole(made % 4 == 0);
        if (in->variance)
            memcpy(&value, &whole, sizeof value);
        memcpy(in->keys + i * width(in), &word, width(in));
        memcpy(in->values + i * 8, &value, 8);
    }
}

static void clear(input *in)
{
    free(in->number);
    free(in->names);
    free(in->keys);
    free(in->values);
}

/* ---- what is right ---- */

typedef struct expected {
    uint64_t *rows, windows; /* chunks with windows */
    double *sums;
    wide *wides; /* sums of integers */
} expected;

/* The number of a chunk's rows that are aggregated. */
static size_t aggregated(const input *in, size_t first, size_t end, uint8_t *seen)
{
    size_t fresh = 0, groups = 0;
    memset(seen, 0, in->distinct);
    for (size_t i = first; i < end; i++) {
        fresh += !seen[in->number[i]];
        groups += !seen[in->number[i]];
        seen[in->number[i]] = 1;
        if ((i + 1 - first) % RUN != 0)
            continue;
        if (i + 1 - first > RUN && groups + NEW_WEIGHT * fresh > MAX_GROUPS)
            return i + 1 - first;
        fresh = 0;
    }
    return end - first;
}

/* (n · Σx² - (Σx)²) / n² of whole numbers, rounded once: below the bits that a division of integers finds,
 * one more says whether there are others. */
static double variance(uint64_t n, wide sum, wide squares)
{
    wide spread = (wide)n * squares - sum * sum, below = (wide)n * (wide)n;
    int bits = 0;
    for (; spread != 0 && spread >> 118 == 0; bits++)
        spread *= 2;
    wide quotient = spread / below, exact = quotient * below == spread;
    return ldexp((double)(quotient << 1 | !exact), -bits - 1);
}

static void expect_variances(const input *in, expected *ret)
{
    wide *sums = calloc(in->distinct, sizeof *sums), *squares = calloc(in->distinct, sizeof *squares);
    uint64_t *n = calloc(in->distinct, sizeof *n);
    assert_true(sums != NULL && squares != NULL && n != NULL);
    for (size_t i = 0; i < in->rows; i++) {
        wide value = (wide)value_at(in, i);
        n[in->number[i]]++;
        sums[in->number[i]] += value;
        squares[in->number[i]] += value * value;
    }
    for (size_t k = 0; k < in->distinct; k++)
        ret->sums[k] = n[k] == 0 ? 0 : variance(n[k], sums[k], squares[k]);
    free(sums);
    free(squares);
    free(n);
}

static void expect(const input *in, expected *ret)
{
    hac_test_fsum *sums = calloc(in->distinct, sizeof *sums);
    uint8_t *seen = calloc(in->distinct, 1);
    ret->rows = calloc(in->distinct, sizeof *ret->rows);
    ret->sums = calloc(in->distinct, sizeof *ret->sums);
    ret->wides = calloc(in->distinct, sizeof *ret->wides);
    ret->windows = 0;
    assert_true(sums != NULL && seen != NULL && ret->rows != NULL && ret->sums != NULL && ret->wides != NULL);
    for (size_t i = 0; i < in->rows; i++)
        ret->wides[in->number[i]] += wide_at(in, i);
    for (size_t i = 0; in->outputs[1].type.kind == HAC_KIND_F64 && i < in->rows; i++)
        hac_test_fsum_add(&sums[in->number[i]], value_at(in, i));
    for (size_t k = 0; k < in->distinct; k++)
        ret->sums[k] = hac_test_fsum_result(&sums[k]);
    if (in->variance)
        expect_variances(in, ret);
    for (size_t first = 0; first < in->rows; first += in->chunk) {
        size_t end = in->rows - first < in->chunk ? in->rows : first + in->chunk;
        size_t stop = first + aggregated(in, first, end, seen);
        for (size_t i = first; i < end; i++)
            ret->rows[in->number[i]]++;
        ret->windows += stop < end;
    }
    free(sums);
    free(seen);
}

/* ---- what comes out ---- */

/* Rows [first, end) as columns, as the machine converts columns. */
static void add_vectors(const input *in, hac_partial_writer *w, size_t first, size_t end)
{
    _Alignas(64) static uint64_t keys[HAC_BATCH_ROWS], values[HAC_BATCH_ROWS];
    hac_column columns[2] = {{.type = in->outputs[0].type, .values = keys},
                             {.type = in->outputs[1].type, .values = values}};
    for (size_t n; first < end; first += n) {
        n = end - first < HAC_BATCH_ROWS ? end - first : HAC_BATCH_ROWS;
        for (size_t i = 0; i < n; i++)
            keys[i] = key_word(in, in->number[first + i]);
        memcpy(values, in->values + first * 8, n * 8);
        assert_int_equal(hac_partial_add(w, columns, n, NULL), HAC_OK);
    }
}

static void add_fixed(const input *in, hac_partial_writer *w, size_t first, size_t end, bool pieces)
{
    for (size_t n; first < end; first += n) {
        n = pieces ? 1 + hac_random_u64(&random_state) % 100000 : end - first;
        n = n < end - first ? n : end - first;
        const uint8_t *columns[2] = {in->keys + first * width(in), in->values + first * 8};
        assert_int_equal(hac_partial_add_plain(w, columns, n, NULL), HAC_OK);
    }
}

static uint8_t *write_chunk(const input *in, hac_partial_writer *w, size_t c, unsigned way, uint64_t *ret)
{
    size_t first = c * in->chunk, end = in->rows - first < in->chunk ? in->rows : first + in->chunk;
    uint64_t capacity = (end - first) * 128 + 65536, groups;
    uint8_t *region = malloc(capacity);
    hac_partial_begin(w, c, region, capacity);
    if (way == 0)
        add_vectors(in, w, first, end);
    else if (way < 3)
        add_fixed(in, w, first, end, way == 2);
    else { /* one after the other */
        size_t middle = first + hac_random_u64(&random_state) % (end - first + 1);
        size_t begin = way == 3 ? first : first + hac_random_u64(&random_state) % (middle - first + 1);
        add_fixed(in, w, first, begin, false);
        add_vectors(in, w, begin, middle);
        add_fixed(in, w, middle, end, false);
    }
    assert_int_equal(hac_partial_end(w, ret, &groups, NULL), HAC_OK);
    assert_true(*ret <= capacity);
    /* exact size, so that a sanitizer sees reads beyond the end */
    return realloc(region, *ret);
}

static uint32_t number_of(const input *in, uint64_t word)
{
    const named_key *key = bsearch(&word, in->names, in->distinct, sizeof *key, by_word);
    assert_non_null(key);
    return key->number;
}

static void compare_sum(const input *in, const expected *wanted, const hac_column *got, size_t row,
                        uint32_t key)
{
    uint8_t kind = in->outputs[1].type.kind;
    if (kind == HAC_KIND_F64)
        assert_memory_equal((const double *)got->values + row, &wanted->sums[key], sizeof(double));
    else if (kind == HAC_KIND_DECIMAL)
        assert_memory_equal((const wide *)got->values + row, &wanted->wides[key], sizeof(wide));
    else if (kind != HAC_KIND_NONE)
        assert_true(((const int64_t *)got->values)[row] == wanted->wides[key]);
}

static void compare(const input *in, const expected *wanted, hac_group_table *t, uint8_t *found)
{
    hac_column results[3];
    for (uint64_t g = 0; g < hac_group_table_groups(t); g += HAC_BATCH_ROWS) {
        uint64_t left = hac_group_table_groups(t) - g;
        size_t n = left < HAC_BATCH_ROWS ? (size_t)left : HAC_BATCH_ROWS;
        assert_int_equal(hac_group_table_results(t, g, n, results, NULL), HAC_OK);
        for (size_t i = 0; i < n; i++) {
            uint32_t k = number_of(in, ((const uint64_t *)results[0].values)[i]);
            assert_int_equal(found[k], 0);
            found[k] = 1;
            assert_int_equal(((const uint64_t *)results[1].values)[i], wanted->rows[k]);
            compare_sum(in, wanted, &results[2], i, k);
        }
    }
}

static void check(const input *in, const expected *wanted, unsigned way, uint32_t partitions)
{
    size_t chunks = (in->rows + in->chunk - 1) / in->chunk;
    hac_group_options options = {
        .seed = hac_random_u64(&random_state), .memory = UINT64_MAX, .partitions = partitions};
    hac_partial_writer *w;
    hac_group_table *t;
    uint8_t **partials = calloc(chunks + 1, sizeof *partials), *found = calloc(in->distinct, 1);
    uint64_t *bytes = calloc(chunks + 1, sizeof *bytes);
    assert_int_equal(hac_partial_writer_new(&in->query, &options, &w, NULL), HAC_OK);
    assert_int_equal(hac_group_table_new(&in->query, &options, &t, NULL), HAC_OK);
    assert_true(hac_partial_takes_plain(w));
    for (size_t c = 0; c < chunks; c++)
        partials[c] = write_chunk(in, w, c, way, &bytes[c]);
    for (uint32_t p = 0; p < partitions; p++) {
        hac_group_table_reset(t);
        for (size_t c = 0; c < chunks; c++)
            assert_int_equal(hac_group_table_merge(t, c, partials[c], bytes[c], p, NULL), HAC_OK);
        compare(in, wanted, t, found);
    }
    for (size_t k = 0; k < in->distinct; k++)
        assert_int_equal(found[k], wanted->rows[k] != 0);
    for (size_t c = 0; c < chunks; c++)
        free(partials[c]);
    free(partials);
    free(bytes);
    free(found);
    hac_partial_writer_free(w);
    hac_group_table_free(t);
}

static void check_skewed(unsigned kind, hac_value_type sum, size_t rows, size_t distinct, size_t common,
                         size_t chunk, bool windows)
{
    static const uint32_t partitions[] = {1, 16, 256, 4096};
    input in;
    expected wanted;
    make(&in, kind, sum, rows, distinct, common, chunk);
    expect(&in, &wanted);
    assert_int_equal(wanted.windows != 0, windows);
    for (unsigned way = 0; way < 5; way++)
        check(&in, &wanted, way, partitions[(way + rows) % 4]);
    free(wanted.rows);
    free(wanted.sums);
    free(wanted.wides);
    clear(&in);
}

static void check_all(unsigned kind, hac_value_type sum, size_t rows, size_t distinct, size_t chunk,
                      bool windows)
{
    check_skewed(kind, sum, rows, distinct, distinct, chunk, windows);
}

/* ---- tests ---- */

static const unsigned kinds[] = {HAC_KIND_U32, HAC_KIND_I32, HAC_KIND_DATE,
                                 HAC_KIND_U64, HAC_KIND_I64, HAC_KIND_TIMESTAMP};

static const hac_value_type *const sums[] = {&no_sum, &f64, &i64, &u64, &decimal};

static void test_sizes(void **state)
{
    (void)state;
    static const size_t sizes[] = {1, 1023, 1024, 1025, RUN - 1, RUN, RUN + 1, 2 * RUN - 1, 2 * RUN};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (size_t s = k % HAC_TEST_CASES(1, 3); s < sizeof sizes / sizeof *sizes; s += HAC_TEST_CASES(1, 3))
            for (size_t distinct = 1; distinct <= 3000; distinct = distinct * 7 + 1)
                check_all(kinds[k], *sums[(s + k) % 5], sizes[s], distinct, sizes[s], false);
}

static void test_chunks(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        check_all(kinds[k], f64, 70000, 900, 20000, false);
        check_all(kinds[k], *sums[k % 5], 30000, 3000, 10007, false);
    }
}

/* More keys than the rule allows: full and partial windows. */
static void test_windows(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        check_all(kinds[k], *sums[k % 5], 2 * RUN + 1, 300000, 2 * RUN + 1, true);
        check_all(kinds[k], *sums[(k + 2) % 5], 50000, 90000, 17000, true);
    }
    check_all(HAC_KIND_U32, f64, 2 * RUN + 2 * HAC_PARTIAL_WINDOW, 200000, 1 << 20, true);
    check_all(HAC_KIND_I64, decimal, 2 * RUN + 2 * HAC_PARTIAL_WINDOW + 1, 200000, 1 << 20, true);
    /* evenly distributed keys: either many are new early, or there are never too many */
    check_all(HAC_KIND_I32, f64, 200000, 90000, 1 << 20, true);
    check_all(HAC_KIND_U64, u64, 200000, 40000, 1 << 20, false);
    /* few keys of a run are new, but in total there are too many */
    check_skewed(HAC_KIND_U32, f64, 800000, 200000, 100, 1 << 20, true);
    check_skewed(HAC_KIND_I64, i64, 800000, MAX_GROUPS - 5000, 100, 1 << 20, false);
}

static void open_both(const input *in, uint32_t partitions, hac_partial_writer **ret_writer,
                      hac_group_table **ret_table)
{
    hac_group_options options = {.seed = 3, .memory = UINT64_MAX, .partitions = partitions};
    assert_int_equal(hac_partial_writer_new(&in->query, &options, ret_writer, NULL), HAC_OK);
    assert_int_equal(hac_group_table_new(&in->query, &options, ret_table, NULL), HAC_OK);
}

static void close_all(input *in, hac_partial_writer *writer, hac_group_table *table)
{
    hac_partial_writer_free(writer);
    hac_group_table_free(table);
    clear(in);
}

/* The null group has space for a key, but no key. */
static void test_null_group(void **state)
{
    (void)state;
    enum { NULLS = 5, ROWS = 3000 };
    _Alignas(64) static uint64_t keys[HAC_BATCH_ROWS], values[HAC_BATCH_ROWS];
    static uint8_t states[HAC_BATCH_ROWS], region[1 << 16];
    input in;
    make(&in, HAC_KIND_U32, i64, ROWS, 1, 1, ROWS); /* all keys are 0 */
    hac_partial_writer *w;
    hac_group_table *t;
    uint64_t bytes, groups;
    open_both(&in, 1, &w, &t);
    memset(states, HAC_ROW_NULL, NULLS);
    hac_column columns[2] = {{.type = in.outputs[0].type, .values = keys, .states = states},
                             {.type = in.outputs[1].type, .values = values}};
    hac_partial_begin(w, 0, region, sizeof region);
    assert_int_equal(hac_partial_add(w, columns, NULLS, NULL), HAC_OK);
    add_fixed(&in, w, 0, ROWS, false);
    assert_int_equal(hac_partial_end(w, &bytes, &groups, NULL), HAC_OK);
    assert_int_equal(hac_group_table_merge(t, 0, region, bytes, 0, NULL), HAC_OK);
    assert_int_equal(hac_group_table_groups(t), 2);
    hac_column results[3];
    assert_int_equal(hac_group_table_results(t, 0, 2, results, NULL), HAC_OK);
    for (size_t g = 0; g < 2; g++) {
        bool null = results[0].states != NULL && results[0].states[g] == HAC_ROW_NULL;
        assert_int_equal(((const uint64_t *)results[1].values)[g], null ? NULLS : ROWS);
    }
    close_all(&in, w, t);
}

/* A partial with a row in the wrong partition is refused. */
static void test_damaged(void **state)
{
    (void)state;
    input in;
    make(&in, HAC_KIND_U32, i64, 30000, 200000, 200000, 30000);
    hac_partial_writer *w;
    hac_group_table *t;
    hac_error err = HAC_ERROR_NONE;
    uint64_t bytes;
    open_both(&in, 16, &w, &t);
    uint8_t *partial = write_chunk(&in, w, 0, 1, &bytes);
    hac_partial_header h;
    memcpy(&h, partial, sizeof h);
    assert_true(h.n_windows == 1 && h.rows != 0);
    /* changes the first key of the window */
    uint8_t *keys = partial + sizeof h + sizeof(hac_partial_window) + (17 * 4 + 7) / 8 * 8;
    hac_status status = HAC_OK;
    for (unsigned i = 0; i < 4 && status == HAC_OK; i++) {
        keys[i] ^= 0x55;
        hac_group_table_reset(t);
        status = hac_group_table_merge(t, 0, partial, bytes, 0, &err);
    }
    assert_int_equal(status, HAC_INVALID);
    assert_non_null(strstr(err.message, "partition"));
    free(partial);
    partial = write_chunk(&in, w, 0, 1, &bytes);
    /* a group has no rows; its key is changed */
    uint8_t *group = partial + h.groups_offset, key = group[1];
    uint64_t none = 0, some;
    hac_group_table_reset(t);
    memcpy(&some, group + 8, sizeof some);
    memcpy(group + 8, &none, sizeof none);
    assert_int_equal(hac_group_table_merge(t, 0, partial, bytes, 0, &err), HAC_INVALID);
    assert_non_null(strstr(err.message, "without rows"));
    memcpy(group + 8, &some, sizeof some);
    status = HAC_OK;
    for (unsigned i = 0; i < 8 && status == HAC_OK; i++) {
        group[1] = (uint8_t)(key ^ (1 << i));
        hac_group_table_reset(t);
        status = hac_group_table_merge(t, 0, partial, bytes, 0, &err);
    }
    assert_int_equal(status, HAC_INVALID);
    assert_non_null(strstr(err.message, "a group in a partition"));
    free(partial);
    close_all(&in, w, t);
}

/* Partials whose sums exceed 128 bits when they are added: only the result is too large. */
static void test_overflow(void **state)
{
    (void)state;
    enum { ROWS = 100 };
    input in;
    make(&in, HAC_KIND_U32, i64, ROWS, 10, 10, ROWS);
    hac_partial_writer *w;
    hac_group_table *t;
    hac_error err = HAC_ERROR_NONE;
    uint64_t bytes;
    open_both(&in, 1, &w, &t);
    uint8_t *partial = write_chunk(&in, w, 0, 1, &bytes);
    hac_partial_header h;
    memcpy(&h, partial, sizeof h);
    const wide max = (wide)(~(unsigned __int128)0 >> 1);
    assert_int_equal(h.stride, 24 + sizeof max);
    memcpy(partial + h.groups_offset + 24, &max, sizeof max);
    hac_column results[3];
    for (int i = 0; i < 2; i++)
        assert_int_equal(hac_group_table_merge(t, 0, partial, bytes, 0, &err), HAC_OK);
    assert_int_equal(hac_group_table_results(t, 0, 1, results, &err), HAC_FAILED);
    assert_non_null(strstr(err.message, "does not fit"));
    const wide min = -max; /* and taken away again */
    memcpy(partial + h.groups_offset + 24, &min, sizeof min);
    for (int i = 0; i < 2; i++)
        assert_int_equal(hac_group_table_merge(t, 0, partial, bytes, 0, &err), HAC_OK);
    assert_int_equal(hac_group_table_results(t, 0, 1, results, &err), HAC_OK);
    assert_true(((const int64_t *)results[2].values)[0] == 0);
    /* rows are added to the table, whatever the result */
    const uint8_t *values[2] = {in.keys, in.values};
    assert_int_equal(hac_fixed_rows_add(t, values, ROWS, 0, NULL), HAC_OK);
    assert_int_equal(hac_group_table_groups(t), 10);
    free(partial);
    close_all(&in, w, t);
}

/* Groups that were read are found by the following rows. */
static void test_read_between(void **state)
{
    (void)state;
    enum { ROWS = 200 };
    static const size_t distinct[] = {1, 5, 8, 9, 20};
    for (size_t d = 0; d < sizeof distinct / sizeof *distinct; d++) {
        input in;
        make(&in, HAC_KIND_U32, i64, ROWS, distinct[d], distinct[d], ROWS);
        hac_partial_writer *w;
        hac_group_table *t;
        hac_column results[3];
        uint64_t bytes;
        open_both(&in, 1, &w, &t);
        uint8_t *partial = write_chunk(&in, w, 0, 1, &bytes);
        assert_int_equal(hac_group_table_merge(t, 0, partial, bytes, 0, NULL), HAC_OK);
        assert_int_equal(hac_group_table_results(t, 0, 1, results, NULL), HAC_OK);
        const uint8_t *values[2] = {in.keys, in.values};
        assert_int_equal(hac_fixed_rows_add(t, values, ROWS, 0, NULL), HAC_OK);
        assert_int_equal(hac_group_table_groups(t), distinct[d]);
        free(partial);
        close_all(&in, w, t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes),        cmocka_unit_test(test_chunks),  cmocka_unit_test(test_windows),
        cmocka_unit_test(test_null_group),   cmocka_unit_test(test_damaged), cmocka_unit_test(test_overflow),
        cmocka_unit_test(test_read_between),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
