/* SPDX-License-Identifier: Apache-2.0 */
/* Queries as bytes: a query reads back as it was written; hostile bytes are refused or harmless. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "query_verify.h"
#include "run_on_zeros.h"
#include "test_run.h"

static const struct {
    const char *where, *group_by, *select, *order_by;
} queries[] = {
    {"", "", "*", ""},
    {"i8 > 0 and s like 'A%'", "", "s, i64 * 2 as x, lower(s) || 'ä'", "x desc, s"},
    {"", "", "count()", ""},
    {"u64 in (1, 2, 3)", "s, year(d) as y", "sum(p) as total, avg(f32), count(distinct s)", "total desc, y"},
    {"", "s", "", "count() desc"},
    {"b", "", "top_k(s, 3), histogram(i8, -1.5, 10, 5), approx_quantile(f64, 0.25), string_list(s)", ""},
    {"w > 1.5", "w", "min(w), max(t), first(b), last(d), stddev(i32), sum(w) / 2", "w"},
    {"", "", "cast('x' as i64) as bad, 1.5 as one, date '2020-01-31' as d2, try_cast(s as f32) as f", ""},
};
#define N_QUERIES (sizeof queries / sizeof *queries)

static hac_query *make(size_t i)
{
    hac_query *query = NULL;
    hac_error err = HAC_ERROR_NONE;
    if (test_compile(queries[i].where, queries[i].group_by, queries[i].select, queries[i].order_by, &query,
                     &err) != HAC_OK)
        fail_msg("%zu: %s", i, err.message);
    return query;
}

static void write(const hac_query *query, hac_text *ret)
{
    hac_error err = HAC_ERROR_NONE;
    if (hac_query_write(query, ret, &err) != HAC_OK)
        fail_msg("%s", err.message);
}

static void test_round_trip(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_QUERIES; i++) {
        hac_query *query = make(i), *again = NULL;
        hac_text bytes = HAC_TEXT_NONE, second = HAC_TEXT_NONE;
        hac_error err = HAC_ERROR_NONE;
        query->limit = 1234567890123 + i;
        query->output = HAC_RESULT_JSON;
        query->source =
            (hac_source_options){HAC_INPUT_CSV,
                                 i % 3 == 0,
                                 {.delimiter = ';', .skip_errors = i % 2 == 0, .null_text = "NULL"},
                                 i % 5 == 0};
        query->parquet = (hac_parquet_settings){1, 1 << 20, i, 1 << 21};
        for (size_t k = 0; k < query->columns.n_fields; k++)
            query->columns.fields[k].inferred = k % 2 != 0, query->columns.fields[k].member = k % 3 == 1;
        write(query, &bytes);
        if (hac_query_read((const uint8_t *)bytes.data, bytes.bytes, &again, &err) != HAC_OK)
            fail_msg("%zu: %s", i, err.message);
        write(again, &second);
        assert_int_equal(bytes.bytes, second.bytes);
        assert_memory_equal(bytes.data, second.data, bytes.bytes);
        assert_int_equal(again->limit, query->limit);
        assert_int_equal(again->output, HAC_RESULT_JSON);
        assert_int_equal(again->source.options.delimiter, ';');
        assert_string_equal(again->source.options.null_text, "NULL");
        assert_true(again->parquet.compression == 1 && again->parquet.group_bytes == 1 << 20);
        assert_true(again->parquet.group_rows == i && again->parquet.block_bytes == 1 << 21);
        assert_true(!again->source.options.no_header && again->source.options.skip_errors == (i % 2 == 0));
        assert_int_equal(again->source.inferred, i % 3 == 0);
        assert_int_equal(again->source.all_names, i % 5 == 0);
        assert_int_equal(again->columns.n_fields, query->columns.n_fields);
        for (size_t k = 0; k < query->columns.n_fields; k++)
            assert_int_equal(again->columns.fields[k].inferred + 2 * again->columns.fields[k].member,
                             k % 2 + (k % 3 == 1 ? 2 : 0));
        assert_int_equal(again->schema_columns, query->schema_columns);
        assert_memory_equal(again->positions, query->positions,
                            query->columns.n_fields * sizeof *query->positions);
        assert_int_equal(again->n_visible, query->n_visible);
        for (size_t k = 0; k < query->outputs.n_fields; k++)
            assert_string_equal(again->outputs.fields[k].name, query->outputs.fields[k].name);
        hac_text_clear(&bytes);
        hac_text_clear(&second);
        hac_query_free(query);
        hac_query_free(again);
    }
}

/* Whether the bytes are accepted as a query. An accepted query must be complete. The bytes are copied to
 * memory of their exact size. */
static bool harmless(const uint8_t *data, size_t bytes)
{
    hac_query *query = NULL;
    hac_error err = HAC_ERROR_NONE;
    uint8_t *exact = malloc(bytes > 0 ? bytes : 1);
    assert_non_null(exact);
    if (bytes > 0)
        memcpy(exact, data, bytes);
    hac_status status = hac_query_read(exact, bytes, &query, &err);
    free(exact);
    if (status != HAC_OK) {
        assert_int_equal(status, HAC_INVALID);
        assert_true(err.message[0] != '\0');
        assert_null(query);
        return false;
    }
    hac_text again = HAC_TEXT_NONE;
    write(query, &again);
    assert_int_equal(again.bytes, bytes);
    hac_text_clear(&again);
    run_query_on_zeros(query);
    hac_query_free(query);
    return true;
}

static void test_truncated(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_QUERIES; i++) {
        hac_query *query = make(i);
        hac_text bytes = HAC_TEXT_NONE;
        write(query, &bytes);
        const uint8_t *data = (const uint8_t *)bytes.data;
        assert_true(harmless(data, bytes.bytes));
        for (size_t n = 0; n < bytes.bytes; n++)
            assert_false(harmless(data, n));
        hac_text_add_bytes(&bytes, "\0", 1);
        assert_false(harmless((const uint8_t *)bytes.data, bytes.bytes));
        hac_text_clear(&bytes);
        hac_query_free(query);
    }
}

static void test_flipped(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_QUERIES; i++) {
        hac_query *query = make(i);
        hac_text bytes = HAC_TEXT_NONE;
        write(query, &bytes);
        uint8_t *data = (uint8_t *)bytes.data;
        for (size_t at = 0; at < bytes.bytes; at++) {
            uint8_t was = data[at];
            static const uint8_t changes[] = {1, 2, 4, 8, 16, 32, 64, 128, 255};
            for (size_t k = 0; k < sizeof changes; k++) {
                data[at] = was ^ changes[k];
                (void)harmless(data, bytes.bytes);
            }
            data[at] = was;
        }
        assert_true(harmless(data, bytes.bytes));
        hac_text_clear(&bytes);
        hac_query_free(query);
    }
}

/* The parts of the query are valid, but do not fit together. */
static void assert_refused(hac_query *query, const char *what)
{
    hac_error err = HAC_ERROR_NONE;
    hac_text bytes = HAC_TEXT_NONE;
    if (hac_query_verify(query, &err) != HAC_INVALID)
        fail_msg("taken: %s", what);
    write(query, &bytes);
    if (harmless((const uint8_t *)bytes.data, bytes.bytes))
        fail_msg("read: %s", what);
    hac_text_clear(&bytes);
    hac_query_free(query);
}

#define REFUSED(index, change)                                                                               \
    do {                                                                                                     \
        hac_query *q = make(index);                                                                          \
        change;                                                                                              \
        assert_refused(q, #change);                                                                          \
    } while (0)

static void swap(void *a, void *b)
{
    void *t;
    memcpy(&t, a, sizeof t);
    memcpy(a, b, sizeof t);
    memcpy(b, &t, sizeof t);
}

/* An order of n times the query's first item. */
static void repeat_order(hac_query *q, size_t n)
{
    hac_order_item *order = malloc(n * sizeof *order);
    assert_non_null(order);
    for (size_t i = 0; i < n; i++)
        order[i] = q->order[0];
    free(q->order);
    q->order = order;
    q->n_order = n;
}

/* NOLINTNEXTLINE(readability-function-size): one line a reference */
static void test_cross_references(void **state)
{
    (void)state;
    REFUSED(0, q->source.format = HAC_INPUT_NONE);
    REFUSED(0, q->source.format = HAC_INPUT_END);
    REFUSED(0, q->source.options.delimiter = '"');
    REFUSED(0, q->source.options.no_header = 1); /* the query reads jsonl */
    REFUSED(0, memset(q->source.options.null_text, 'x', sizeof q->source.options.null_text));
    REFUSED(0, q->output = HAC_RESULT_END);
    REFUSED(0, q->parquet.compression = HAC_COMPRESSION_END);
    REFUSED(0, q->positions[1] = q->positions[0]);
    REFUSED(0, q->positions[13] = 14);
    REFUSED(0, q->schema_columns = 13);
    REFUSED(0, q->columns.n_fields = 13);
    REFUSED(0, q->columns.fields[3].type.kind = HAC_KIND_I16);
    REFUSED(0, q->columns.fields[3].type.kind = HAC_KIND_END);
    REFUSED(0, q->columns.fields[3].name[0] = '\0');
    REFUSED(0, q->outputs.fields[3].type.kind = HAC_KIND_I16);
    REFUSED(0, q->outputs.fields[3].name[0] = '\0');
    REFUSED(0, q->n_visible = 13);
    REFUSED(0, q->n_visible = 0);
    REFUSED(0, q->aggregates = true);
    REFUSED(0, q->n_keys = 1);
    REFUSED(1, q->order[1].column = (uint16_t)q->outputs.n_fields);
    REFUSED(1, repeat_order(q, HAC_ORDER_MAX + 1));
    REFUSED(1, repeat_order(q, HAC_PROGRAM_OUTPUTS_MAX));
    REFUSED(1, swap(&q->filter, &q->rows));
    REFUSED(3, swap(&q->finals, &q->rows));
    REFUSED(3, q->aggregates = false);
    REFUSED(3, q->n_keys = 1);
    REFUSED(3, q->n_keys = 3);
    REFUSED(3, q->n_aggregates = 1);
    REFUSED(3, q->aggregate[0].argument = 1);
    REFUSED(3, q->aggregate[0].argument = -1);
    REFUSED(3, q->aggregate[0].argument = (int16_t)q->rows->n_outputs);
    REFUSED(3, q->aggregate[0].function = HAC_AGGREGATE_END);
    REFUSED(3, q->aggregate[0].function = HAC_AGGREGATE_COUNT);
    REFUSED(3, q->aggregate[0].type.scale = 3);
    REFUSED(3, q->aggregate[1].function = HAC_AGGREGATE_COUNT_ROWS);
    REFUSED(2, q->aggregate[0].argument = 0);
    REFUSED(2, q->aggregate[0].k = 1);
    REFUSED(5, q->aggregate[0].k = 0);
    REFUSED(5, q->aggregate[0].k = 1001);
    REFUSED(5, q->aggregate[1].low = hac_constant_decimal(11, 0));
    REFUSED(5, q->aggregate[1].high = hac_constant_real(1.0 / 0.0));
    REFUSED(5, q->aggregate[1].low = hac_constant_real(0.0 / 0.0));
    REFUSED(5, q->aggregate[2].low = hac_constant_decimal(15, 1));
    REFUSED(5, q->aggregate[2].low = hac_constant_real(-0.5));
    REFUSED(5, q->aggregate[2].high = hac_constant_decimal(1, 0));
    REFUSED(5, q->aggregate[2].high.scale = HAC_DECIMAL_DIGITS_MAX + 1);
}

/* As many items as the compiler makes at most. */
static void test_longest_order(void **state)
{
    (void)state;
    hac_query *query = make(1), *again = NULL;
    hac_text bytes = HAC_TEXT_NONE;
    repeat_order(query, HAC_ORDER_MAX);
    write(query, &bytes);
    assert_int_equal(hac_query_read((const uint8_t *)bytes.data, bytes.bytes, &again, NULL), HAC_OK);
    assert_int_equal(again->n_order, HAC_ORDER_MAX);
    hac_query_free(again);
    hac_query_free(query);
    hac_text_clear(&bytes);
}

static hac_query *make_lengths(void)
{
    const hac_query_text text = {.schema = "a:i32,b:string,c:decimal(30,2),d:bytes,e:u8",
                                 .select = "c, e",
                                 .limit = UINT64_MAX,
                                 .source = {.format = HAC_INPUT_LENGTHS, .options.big_endian = true}};
    hac_query *query = NULL;
    assert_int_equal(hac_query_compile(&text, NULL, &query, NULL), HAC_OK);
    return query;
}

/* The position of a column in a record depends on all columns before it, whether they are read or not. */
static void test_widths(void **state)
{
    (void)state;
    static const uint8_t widths[] = {4, 0, 16, 0, 1};
    hac_query *query = make_lengths(), *again = NULL;
    hac_text bytes = HAC_TEXT_NONE;
    write(query, &bytes);
    assert_int_equal(hac_query_read((const uint8_t *)bytes.data, bytes.bytes, &again, NULL), HAC_OK);
    assert_true(again->source.options.big_endian && again->schema_columns == 5 &&
                again->columns.n_fields == 2);
    assert_true(again->positions[0] == 2 && again->positions[1] == 4);
    assert_memory_equal(again->widths, widths, sizeof widths);
    for (size_t n = 0; n < bytes.bytes; n++)
        assert_false(harmless((const uint8_t *)bytes.data, n));
    hac_query_free(again);
    hac_query_free(query);
    hac_text_clear(&bytes);
    query = make_lengths();
    query->widths[0] = 3;
    assert_refused(query, "a width that there is none of");
    query = make_lengths();
    query->widths[0] = 32;
    assert_refused(query, "a width that is too large");
    query = make_lengths();
    query->widths[4] = 2;
    assert_refused(query, "another width than the column's type");
    query = make_lengths();
    query->positions[1] = 5;
    assert_refused(query, "a column behind the last");
}

static void test_not_one(void **state)
{
    (void)state;
    uint8_t noise[600];
    uint64_t random = 88172645463325252u;
    for (size_t i = 0; i < 2000; i++) {
        for (size_t k = 0; k < sizeof noise; k++) {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            noise[k] = (uint8_t)random;
        }
        memcpy(noise, "hacq\1", i % 2 == 0 ? 5 : 0);
        assert_false(harmless(noise, i % sizeof noise));
    }
    static uint8_t large[HAC_QUERY_BYTES_MAX + 1] = "hacq\1";
    assert_false(harmless(large, sizeof large));
}

/* Writing refuses a query that is too large for a message: here, because of its names. */
static void test_too_large(void **state)
{
    (void)state;
    hac_text schema = HAC_TEXT_NONE, bytes = HAC_TEXT_NONE;
    hac_query *query = NULL;
    hac_error err = HAC_ERROR_NONE;
    for (size_t i = 0; i < 240; i++)
        hac_text_addf(&schema, "%sa%070zu:i64", i > 0 ? "," : "", i);
    hac_query_text text = {.schema = schema.data, .source = {.format = HAC_INPUT_JSONL}};
    if (hac_query_compile(&text, NULL, &query, &err) != HAC_OK)
        fail_msg("%s", err.message);
    assert_int_equal(hac_query_write(query, &bytes, &err), HAC_INVALID);
    assert_non_null(strstr(err.message, "the query is too large"));
    hac_query_free(query);
    hac_text_clear(&schema);
    hac_text_clear(&bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),    cmocka_unit_test(test_truncated),
        cmocka_unit_test(test_flipped),       cmocka_unit_test(test_cross_references),
        cmocka_unit_test(test_longest_order), cmocka_unit_test(test_not_one),
        cmocka_unit_test(test_too_large),     cmocka_unit_test(test_widths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
