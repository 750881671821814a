/* SPDX-License-Identifier: Apache-2.0 */
/* Strings in windows of partials (partial.h): lengths around the limit of strings inside the cells, and
 * refusal of strings with wrong offsets. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/test_support.h"
#include "query/group_table.h"
#include "query/partial.h"

#define ROWS       50000u             /* rows after the first 32,768 go into a window */
#define IN_WINDOW  (ROWS - 2 * 16384) /* two runs of the rule of partial.h */
#define PARTITIONS 8u
#define LONGEST    40u

static hac_program_output output = {.type = {HAC_KIND_STRING, 0, 0}};
static hac_program program = {.outputs = &output, .n_outputs = 1};
static hac_aggregate count = {
    .function = HAC_AGGREGATE_COUNT_ROWS, .argument = -1, .type = {HAC_KIND_U64, 0, 0}};
static const hac_query query = {
    .rows = &program, .aggregates = true, .n_keys = 1, .aggregate = &count, .n_aggregates = 1};

/* Row `row` is its number, padded with dots to a length of its own. */
static uint32_t text_of(uint32_t row, char ret[LONGEST + 1])
{
    uint32_t n = (uint32_t)sprintf(ret, "%u", row), length = n + row % (LONGEST - 8);
    memset(ret + n, '.', length - n);
    return length;
}

static uint8_t *write_partial(const hac_group_options *options, uint64_t *ret_bytes)
{
    _Alignas(64) static hac_string_ref refs[HAC_BATCH_ROWS];
    static char texts[HAC_BATCH_ROWS * LONGEST];
    hac_column column = {.type = output.type, .values = refs, .bytes = (uint8_t *)texts};
    hac_partial_writer *w;
    uint64_t capacity = 8 << 20, groups;
    uint8_t *region = malloc(capacity);
    assert_int_equal(hac_partial_writer_new(&query, options, &w, NULL), HAC_OK);
    hac_partial_begin(w, 0, region, capacity);
    for (uint32_t first = 0; first < ROWS; first += HAC_BATCH_ROWS) {
        uint32_t n = ROWS - first < HAC_BATCH_ROWS ? ROWS - first : HAC_BATCH_ROWS, used = 0;
        for (uint32_t i = 0; i < n; i++) {
            char text[LONGEST + 1];
            refs[i] = (hac_string_ref){used, text_of(first + i, text)};
            memcpy(texts + used, text, refs[i].length);
            used += refs[i].length;
        }
        assert_int_equal(hac_partial_add(w, &column, n, NULL), HAC_OK);
    }
    assert_int_equal(hac_partial_end(w, ret_bytes, &groups, NULL), HAC_OK);
    assert_true(*ret_bytes <= capacity);
    hac_partial_writer_free(w);
    return realloc(region, *ret_bytes);
}

/* Checks the table's groups: each is a row that has not been seen. */
static void check_groups(hac_group_table *t, uint8_t *seen)
{
    hac_column results[2];
    for (uint64_t g = 0; g < hac_group_table_groups(t); g++) {
        char got[LONGEST + 1] = "", text[LONGEST + 1];
        assert_int_equal(hac_group_table_results(t, g, 1, results, NULL), HAC_OK);
        hac_string_ref ref = *(const hac_string_ref *)results[0].values;
        assert_in_range(ref.length, 1, LONGEST);
        memcpy(got, results[0].bytes + ref.offset, ref.length);
        uint32_t row = (uint32_t)strtoul(got, NULL, 10);
        assert_in_range(row, 0, ROWS - 1);
        assert_int_equal(text_of(row, text), ref.length);
        assert_memory_equal(text, got, ref.length);
        assert_int_equal(seen[row]++, 0);
        assert_int_equal(*(const uint64_t *)results[1].values, 1);
    }
}

static hac_status merge_all(hac_group_table *t, const uint8_t *partial, uint64_t bytes, uint8_t *seen,
                            hac_error *err)
{
    hac_status status = HAC_OK;
    for (uint32_t p = 0; status == HAC_OK && p < PARTITIONS; p++) {
        hac_group_table_reset(t);
        status = hac_group_table_merge(t, 0, partial, bytes, p, err);
        if (status == HAC_OK && seen != NULL)
            check_groups(t, seen);
    }
    return status;
}

/* Offset of the strings of the only window. */
static uint8_t *cells_of(uint8_t *partial)
{
    hac_partial_header h;
    memcpy(&h, partial, sizeof h);
    assert_int_equal(h.n_windows, 1);
    assert_int_equal(h.rows, IN_WINDOW);
    return partial + sizeof h + (sizeof(hac_partial_window) + (PARTITIONS + 1) * 4 + 7) / 8 * 8;
}

static void refused(hac_group_table *t, const uint8_t *partial, uint64_t bytes)
{
    hac_error err = HAC_ERROR_NONE;
    assert_int_equal(merge_all(t, partial, bytes, NULL, &err), HAC_INVALID);
    hac_test_assert_says(err.message, "a row's string lies outside of it");
}

static void test_strings(void **state)
{
    (void)state;
    hac_group_options options = {.seed = 5, .memory = UINT64_MAX, .partitions = PARTITIONS};
    hac_group_table *t;
    uint64_t bytes;
    uint8_t *partial = write_partial(&options, &bytes), *seen = calloc(ROWS, 1);
    assert_int_equal(hac_group_table_new(&query, &options, &t, NULL), HAC_OK);
    assert_int_equal(merge_all(t, partial, bytes, seen, NULL), HAC_OK);
    assert_null(memchr(seen, 0, ROWS));
    uint8_t *cells = cells_of(partial);
    size_t shorts = 0, longs = 0;
    for (uint32_t i = 0; i < IN_WINDOW; i += 97) {
        uint8_t cell[16];
        uint32_t n, max = UINT32_MAX;
        uint64_t far = UINT64_MAX - 3;
        memcpy(cell, cells + i * 16, 16);
        memcpy(&n, cell, 4);
        bool is_long = n > 12;
        shorts += !is_long;
        longs += is_long;
        memcpy(cells + i * 16, &max, 4);
        refused(t, partial, bytes);
        memcpy(cells + i * 16, cell, 16);
        if (!is_long)
            continue;
        memcpy(cells + i * 16 + 8, &far, 8);
        refused(t, partial, bytes);
        memcpy(cells + i * 16, cell, 16);
    }
    assert_true(shorts > 10 && longs > 10);
    hac_group_table_free(t);
    free(partial);
    free(seen);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_strings)};
    return cmocka_run_group_tests(tests, hac_test_fds_setup, hac_test_fds_teardown);
}
