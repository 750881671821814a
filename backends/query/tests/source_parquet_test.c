/* SPDX-License-Identifier: Apache-2.0 */
/* Parquet sources: the rows that a filter keeps equal those of a loop over all rows, for every division into
 * row groups, pages and chunks. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/test_support.h"
#include "parquet/writer.h"
#include "query/source.h"

#define ROWS 5000

HAC_DEFINE_CLEANUP(hac_parquet_file *, hac_parquet_close)
HAC_DEFINE_CLEANUP(hac_query *, hac_query_free)
HAC_DEFINE_CLEANUP(hac_source *, hac_source_free)

/* The rows: a growing column k, a with some nulls, s with few values, t with many long ones. */
static int64_t k_of(uint64_t row)
{
    return (int64_t)(row / 3);
}
static bool a_is_null(uint64_t row)
{
    return row % 7 == 3;
}
static double a_of(uint64_t row)
{
    return (double)(row * 2654435761u % 1000) / 10;
}
static bool s_is_null(uint64_t row)
{
    return row % 11 == 5;
}
static size_t s_of(uint64_t row, char *ret)
{
    return (size_t)sprintf(ret, "name %u", (unsigned)(row * 40503 % 13));
}
static size_t t_of(uint64_t row, char *ret)
{
    size_t n = (size_t)sprintf(ret, "%u:", (unsigned)row), end = n + row * 31 % 90;
    for (; n < end; n++)
        ret[n] = (char)('a' + (row + n) % 26);
    return n;
}

/* ---- the file ---- */

typedef struct bytes {
    uint8_t *data;
    size_t n, capacity;
} bytes;

static void clear_bytes(bytes *b)
{
    free(b->data);
}

static hac_status sink(void *context, const uint8_t *data, size_t n, hac_error *err)
{
    bytes *b = context;
    (void)err;
    if (b->n + n > b->capacity) {
        b->capacity = 2 * (b->n + n);
        b->data = realloc(b->data, b->capacity);
        assert_non_null(b->data);
    }
    memcpy(b->data + b->n, data, n);
    b->n += n;
    return HAC_OK;
}

static const hac_field fields[] = {{.name = "k", .type = {HAC_KIND_I64, 0, 0}},
                                   {.name = "a", .type = {HAC_KIND_F64, 0, 0}},
                                   {.name = "s", .type = {HAC_KIND_STRING, 0, 0}},
                                   {.name = "t", .type = {HAC_KIND_STRING, 0, 0}}};

typedef struct rows {
    _Alignas(64) int64_t k[HAC_BATCH_ROWS];
    _Alignas(64) double a[HAC_BATCH_ROWS];
    hac_string_ref s[HAC_BATCH_ROWS], t[HAC_BATCH_ROWS];
    uint8_t a_states[HAC_BATCH_ROWS], s_states[HAC_BATCH_ROWS];
    char s_bytes[HAC_BATCH_ROWS * 16], t_bytes[HAC_BATCH_ROWS * 128];
} rows;

static void fill(rows *r, uint64_t first, size_t n)
{
    uint32_t s_at = 0, t_at = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t row = first + i;
        r->k[i] = k_of(row);
        r->a[i] = a_of(row);
        r->a_states[i] = a_is_null(row) ? HAC_ROW_NULL : HAC_ROW_OK;
        r->s_states[i] = s_is_null(row) ? HAC_ROW_NULL : HAC_ROW_OK;
        r->s[i] = (hac_string_ref){s_at, (uint32_t)s_of(row, r->s_bytes + s_at)};
        r->t[i] = (hac_string_ref){t_at, (uint32_t)t_of(row, r->t_bytes + t_at)};
        s_at += r->s[i].length;
        t_at += r->t[i].length;
    }
}

static bytes write_file(uint64_t n, const hac_parquet_write_options *options)
{
    hac_error err = HAC_ERROR_NONE;
    hac_schema schema = {.fields = (hac_field *)(uintptr_t)fields, .n_fields = 4};
    hac_parquet_writer *writer = NULL;
    hac_autofree rows *r = malloc(sizeof *r);
    bytes file = {0};
    uint64_t size;
    assert_non_null(r);
    if (hac_parquet_writer_new(&schema, 4, options, sink, &file, &writer, &err) != HAC_OK)
        fail_msg("%s", err.message);
    for (uint64_t row = 0; row < n; row += HAC_BATCH_ROWS) {
        size_t some = n - row < HAC_BATCH_ROWS ? (size_t)(n - row) : HAC_BATCH_ROWS;
        fill(r, row, some);
        hac_column columns[] = {
            {.type = fields[0].type, .values = r->k},
            {.type = fields[1].type, .values = r->a, .states = r->a_states},
            {.type = fields[2].type, .values = r->s, .states = r->s_states, .bytes = (uint8_t *)r->s_bytes},
            {.type = fields[3].type, .values = r->t, .bytes = (uint8_t *)r->t_bytes}};
        assert_int_equal(hac_parquet_writer_add(writer, columns, some, &err), HAC_OK);
    }
    assert_int_equal(hac_parquet_writer_end(writer, &size, &err), HAC_OK);
    assert_int_equal(size, file.n);
    hac_parquet_writer_free(writer);
    return file;
}

/* ---- filters, and what a loop makes of them ---- */

static bool all(uint64_t row)
{
    (void)row;
    return true;
}
static bool none(uint64_t row)
{
    (void)row;
    return false;
}
static bool few_k(uint64_t row)
{
    return k_of(row) >= 700 && k_of(row) < 720;
}
static bool one_name(uint64_t row)
{
    char s[16];
    return !s_is_null(row) && s_of(row, s) == 6 && memcmp(s, "name 3", 6) == 0;
}
static bool name_and_a(uint64_t row)
{
    return one_name(row) && !a_is_null(row) && a_of(row) < 50;
}
static bool not_null_s(uint64_t row)
{
    return !s_is_null(row);
}
static bool null_or_large(uint64_t row)
{
    return a_is_null(row) || a_of(row) > 99;
}
static bool long_t(uint64_t row)
{
    char t[128];
    return t_of(row, t) > 90;
}
static bool k_and_t(uint64_t row)
{
    return few_k(row) && long_t(row);
}

static const struct {
    const char *where;
    bool (*wanted)(uint64_t row);
} filters[] = {
    {"", all},
    {"k < 0", none},
    {"s = 'no such name'", none},
    {"k >= 700 and k < 720", few_k},
    {"s = 'name 3'", one_name},
    {"s like '%3' and length(s) = 6", one_name},
    {"s = 'name 3' and a < 50", name_and_a},
    {"a < 50 and s in ('name 3')", name_and_a},
    {"s is not null", not_null_s},
    {"a is null or a > 99", null_or_large},
    {"length(t) > 90", long_t},
    {"k between 700 and 719 and length(t) > 90", k_and_t},
};

/* ---- reading ---- */

static hac_query *compile(const char *select, const char *where)
{
    hac_error err = HAC_ERROR_NONE;
    hac_query *query = NULL;
    hac_schema schema = {.fields = (hac_field *)(uintptr_t)fields, .n_fields = 4};
    hac_query_text text = {
        .select = select, .where = where, .limit = UINT64_MAX, .source = {.format = HAC_INPUT_PARQUET}};
    if (hac_query_compile(&text, &schema, &query, &err) != HAC_OK)
        fail_msg("%s: %s", where, err.message);
    return query;
}

static void check_text(const hac_column *v, size_t i, bool null, size_t (*of)(uint64_t, char *), uint64_t row)
{
    char text[128];
    assert_int_equal(v->states != NULL && v->states[i] != HAC_ROW_OK, null);
    hac_string_ref ref = ((const hac_string_ref *)v->values)[i];
    if (null)
        return;
    assert_int_equal(ref.length, of(row, text));
    assert_memory_equal(v->bytes + ref.offset, text, ref.length);
}

/* The index of the column with that name. */
static void check_value(const hac_column *v, char name, size_t i, uint64_t row)
{
    if (name == 'k') {
        assert_int_equal(((const int64_t *)v->values)[i], k_of(row));
    } else if (name == 'a') {
        assert_int_equal(v->states != NULL && v->states[i] != HAC_ROW_OK, a_is_null(row));
        assert_true(a_is_null(row) || ((const double *)v->values)[i] == a_of(row));
    } else if (name == 's') {
        check_text(v, i, s_is_null(row), s_of, row);
    } else {
        check_text(v, i, false, t_of, row);
    }
}

static void check_row(const hac_batch *batch, size_t i, uint64_t row)
{
    for (size_t c = 0; c < 4; c++)
        check_value(&batch->columns[c], "kast"[c], i, row);
}

/* The rows that are kept, in order; further rows must not have passed the filter that the source has
 * applied. */
static void check_source(const hac_query *query, hac_source *source, uint64_t n, uint64_t chunk,
                         bool (*wanted)(uint64_t row))
{
    hac_error err = HAC_ERROR_NONE;
    hac_source_counters counters = {0};
    uint64_t next = 0, given = 0;
    for (uint64_t first = 0; first < n; first += chunk) {
        hac_batch batch;
        hac_status status = hac_source_begin(source, first, first + chunk, false, &err);
        while (status == HAC_OK && (status = hac_source_next(source, &batch, &err)) == HAC_OK) {
            assert_in_range(batch.rows, 1, HAC_BATCH_ROWS);
            assert_true(query->filter == NULL || hac_source_filtered(source));
            for (size_t i = 0; i < batch.rows; i++, next++) {
                while (next < n && !wanted(next))
                    next++;
                assert_in_range(next, first, (first + chunk < n ? first + chunk : n) - 1);
                check_row(&batch, i, next);
            }
            given += batch.rows;
        }
        if (status != HAC_NOT_FOUND)
            fail_msg("%s", err.message);
    }
    while (next < n && !wanted(next))
        next++;
    assert_int_equal(next, n);
    hac_source_count(source, &counters);
    assert_int_equal(given + counters.passed_over, n);
}

static void check_file(const bytes *file, uint64_t n, uint64_t chunk)
{
    hac_error err = HAC_ERROR_NONE;
    hac_cleanup(hac_parquet_close_cleanup) hac_parquet_file *parquet = NULL;
    hac_parquet_place place = {.fd = -1, .memory = file->data, .bytes = file->n};
    if (hac_parquet_open(&place, &(hac_parquet_limits){0}, &parquet, &err) != HAC_OK)
        fail_msg("%s", err.message);
    hac_source_place at = {.fd = -1, .memory = file->data, .bytes = file->n, .parquet = parquet};
    for (size_t i = 0; i < sizeof filters / sizeof *filters; i++) {
        hac_cleanup(hac_query_free_cleanup) hac_query *query = compile("*", filters[i].where);
        hac_cleanup(hac_source_free_cleanup) hac_source *source = NULL;
        assert_int_equal(hac_source_open(query, &at, NULL, &source, &err), HAC_OK);
        check_source(query, source, n, chunk, filters[i].wanted);
    }
}

static void test_filters(void **state)
{
    (void)state;
    static const uint64_t groups[] = {0, 1, 700, 1024, 1025}, pages[] = {100, 4096, 0},
                          sizes[] = {1, 1024, 1025, ROWS};
    for (size_t g = 0; g < 5; g++) {
        for (size_t p = 0; p < 3; p++) {
            for (size_t s = 0; s < 4; s++) {
                uint64_t n = groups[g] == 1 && sizes[s] == ROWS ? 300 : sizes[s];
                hac_parquet_write_options options = {.codec = p == 1 ? HAC_PARQUET_SNAPPY
                                                                     : HAC_PARQUET_UNCOMPRESSED,
                                                     .group_rows = groups[g],
                                                     .page_bytes = pages[p],
                                                     .no_dictionary = g == 2};
                hac_cleanup(clear_bytes) bytes file = write_file(n, &options);
                check_file(&file, n, n);
                check_file(&file, n, 1 + (g * 37 + p * 501 + s * 11) % 900);
            }
        }
    }
}

/* A column that only the filter reads exists if the filter is undecided; otherwise it need not exist. */
static void check_left_out(const hac_query *query, hac_source *source, size_t *ret_decided,
                           size_t *ret_undecided)
{
    hac_error err = HAC_ERROR_NONE;
    hac_batch batch;
    uint64_t next = 0;
    assert_int_equal(query->columns.n_fields, 3);
    hac_source_reads(source, query->rows);
    assert_int_equal(hac_source_begin(source, 0, UINT64_MAX, false, &err), HAC_OK);
    while (hac_source_next(source, &batch, &err) == HAC_OK) {
        bool decided = hac_source_filtered(source);
        ++*(decided ? ret_decided : ret_undecided);
        for (size_t i = 0; i < batch.rows; i++, next++) {
            while (!one_name(next))
                next++;
            assert_true(decided == (k_of(next) <= UINT8_MAX));
            for (size_t c = 0; c < 3; c++)
                if (decided && query->columns.fields[c].name[0] == 's')
                    assert_null(batch.columns[c].values);
                else
                    check_value(&batch.columns[c], query->columns.fields[c].name[0], i, next);
        }
    }
    while (next < ROWS && !one_name(next))
        next++;
    assert_int_equal(next, ROWS);
}

static void test_left_out(void **state)
{
    (void)state;
    hac_error err = HAC_ERROR_NONE;
    for (int fixed = 0; fixed < 2; fixed++) {
        /* row groups end where the errors begin */
        hac_parquet_write_options options = {.group_rows = 3 * (UINT8_MAX + 1), .no_dictionary = fixed == 1};
        hac_cleanup(clear_bytes) bytes file = write_file(ROWS, &options);
        hac_cleanup(hac_parquet_close_cleanup) hac_parquet_file *parquet = NULL;
        hac_parquet_place place = {.fd = -1, .memory = file.data, .bytes = file.n};
        assert_int_equal(hac_parquet_open(&place, &(hac_parquet_limits){0}, &parquet, &err), HAC_OK);
        hac_source_place at = {.fd = -1, .memory = file.data, .bytes = file.n, .parquet = parquet};
        hac_cleanup(hac_query_free_cleanup) hac_query *query =
            compile("k, t", "s is not null and s = 'name 3' and cast(k as u8) < 256");
        hac_cleanup(hac_source_free_cleanup) hac_source *source = NULL;
        size_t decided = 0, undecided = 0;
        assert_int_equal(hac_source_open(query, &at, NULL, &source, &err), HAC_OK);
        check_left_out(query, source, &decided, &undecided);
        assert_true(decided > 0 && undecided > 0);
    }
}

static void test_row_groups(void **state)
{
    (void)state;
    hac_error err = HAC_ERROR_NONE;
    hac_parquet_write_options options = {.group_rows = 1000};
    hac_cleanup(clear_bytes) bytes file = write_file(ROWS, &options);
    hac_cleanup(hac_parquet_close_cleanup) hac_parquet_file *parquet = NULL;
    hac_parquet_place place = {.fd = -1, .memory = file.data, .bytes = file.n};
    assert_int_equal(hac_parquet_open(&place, &(hac_parquet_limits){0}, &parquet, &err), HAC_OK);
    hac_source_place at = {.fd = -1, .memory = file.data, .bytes = file.n, .parquet = parquet};
    hac_cleanup(hac_query_free_cleanup) hac_query *query = compile("*", "");
    static const uint64_t chosen[][3] = {{0, 0, 5}, {1, 2, 2}, {4, 1, 1}, {4, 0, 1}, {5, 0, 0}};
    for (size_t i = 0; i < 5; i++) {
        hac_source *source = NULL;
        hac_batch batch;
        uint64_t row = chosen[i][0] * 1000, end = row + chosen[i][2] * 1000;
        query->source.options.first_row_group = chosen[i][0];
        query->source.options.row_groups = chosen[i][1];
        assert_int_equal(hac_source_open(query, &at, NULL, &source, &err), HAC_OK);
        assert_int_equal(hac_source_begin(source, 0, UINT64_MAX, false, &err), HAC_OK);
        while (hac_source_next(source, &batch, &err) == HAC_OK)
            for (size_t r = 0; r < batch.rows; r++)
                check_row(&batch, r, row++);
        assert_int_equal(row, end);
        hac_source_free(source);
    }
    hac_source *source = NULL;
    query->source.options.first_row_group = 3;
    query->source.options.row_groups = 3;
    assert_int_equal(hac_source_open(query, &at, NULL, &source, &err), HAC_INVALID);
    hac_test_assert_says(err.message, "row groups 3 … 5 are wanted, and the file has 5");
}

/* Chunks of one source in any order. */
static void test_backwards(void **state)
{
    (void)state;
    hac_error err = HAC_ERROR_NONE;
    hac_parquet_write_options options = {.group_rows = 2000, .page_bytes = 512};
    hac_cleanup(clear_bytes) bytes file = write_file(ROWS, &options);
    hac_cleanup(hac_parquet_close_cleanup) hac_parquet_file *parquet = NULL;
    hac_parquet_place place = {.fd = -1, .memory = file.data, .bytes = file.n};
    assert_int_equal(hac_parquet_open(&place, &(hac_parquet_limits){0}, &parquet, &err), HAC_OK);
    hac_source_place at = {.fd = -1, .memory = file.data, .bytes = file.n, .parquet = parquet};
    hac_cleanup(hac_query_free_cleanup) hac_query *query = compile("*", "");
    hac_cleanup(hac_source_free_cleanup) hac_source *source = NULL;
    assert_int_equal(hac_source_open(query, &at, NULL, &source, &err), HAC_OK);
    for (uint64_t end = ROWS; end > 0; end -= 100) {
        hac_batch batch;
        uint64_t row = end - 100;
        assert_int_equal(hac_source_begin(source, row, end, false, &err), HAC_OK);
        while (hac_source_next(source, &batch, &err) == HAC_OK)
            for (size_t r = 0; r < batch.rows; r++)
                check_row(&batch, r, row++);
        assert_int_equal(row, end);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_filters), cmocka_unit_test(test_left_out),
                                       cmocka_unit_test(test_row_groups), cmocka_unit_test(test_backwards)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
