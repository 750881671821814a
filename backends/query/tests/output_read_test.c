/* SPDX-License-Identifier: Apache-2.0 */
/* Results written as tsv and as typed bytes are read back unchanged. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/random.h"
#include "query/output.h"
#include "source_support.h"

#define ROWS 5000
#define SCHEMA                                                                                               \
    "a:string b:i64 c:bool d:i8 e:i16 f:i32 g:u8 h:u16 i:u32 j:u64 k:f32 l:f64 m:date n:timestamp "          \
    "o:decimal(9,2) p:decimal(30,5) q:bytes r:string"

/* The values come from jsonl; each row has some nulls. */
static void add_json_string(hac_text *text, uint64_t v)
{
    static const char *const parts[] = {"x",
                                        "\\t",
                                        "\\n",
                                        "\\r",
                                        "\\\\",
                                        "\\\"",
                                        "\xc3\xa4",
                                        "\\\\N",
                                        "N",
                                        " ",
                                        ",",
                                        "\\u0000",
                                        "abcdefghijklmnopqrstuvwxyz"};
    hac_text_add(text, "\"");
    for (uint64_t n = v % 6; n > 0; n--, v = v * 6364136223846793005u + 1)
        hac_text_add(text, parts[(v >> 33) % (sizeof parts / sizeof *parts)]);
    hac_text_add(text, "\"");
}

static void add_row(hac_text *text, uint64_t *seed)
{
    uint64_t v = hac_random_u64(seed), nulls = hac_random_u64(seed);
    hac_text_add(text, "{\"a\":");
    add_json_string(text, v);
#define FIELD(name, bit, ...)                                                                                \
    if ((nulls >> 3 * (bit)&7) != 0)                                                                         \
    hac_text_addf(text, ",\"" name "\":" __VA_ARGS__)
    FIELD("b", 0, "%lld", (long long)v);
    FIELD("c", 1, "%s", v % 2 != 0 ? "true" : "false");
    FIELD("d", 2, "%d", (int8_t)v);
    FIELD("e", 3, "%d", (int16_t)v);
    FIELD("f", 4, "%d", (int32_t)v);
    FIELD("g", 5, "%u", (uint8_t)v);
    FIELD("h", 6, "%u", (uint16_t)v);
    FIELD("i", 7, "%u", (uint32_t)v);
    FIELD("j", 8, "%llu", (unsigned long long)v);
    FIELD("k", 9, "%.9g", (double)(float)((double)(int64_t)v / 3e10));
    FIELD("l", 10, "%s", v % 11 == 0 ? "NaN" : v % 13 == 0 ? "-Infinity" : "1e-3");
    FIELD("m", 11, "\"%04d-%02d-%02d\"", (int)(v % 9000) + 1, (int)(v % 12) + 1, (int)(v % 28) + 1);
    FIELD("n", 12, "\"20%02d-01-31 12:34:%02d.%06d\"", (int)(v % 99), (int)(v % 60), (int)(v % 1000000));
    FIELD("o", 13, "%d.%02d", (int)(v % 9999999), (int)(v % 100));
    FIELD("p", 14, "-%llu.5", (unsigned long long)v);
    FIELD("q", 15, "\"%0*llx\"", (int)(v % 5) * 2 + 16, (unsigned long long)v);
    if ((nulls >> 48 & 3) != 0) {
        hac_text_add(text, ",\"r\":");
        add_json_string(text, v * 3);
    }
    hac_text_add(text, "}\n");
}

static hac_source *open_text(const test_query *q, const hac_text *text)
{
    hac_source_place place = {.fd = -1, .memory = (const uint8_t *)text->data, .bytes = text->bytes};
    hac_source *source = NULL;
    hac_error err = HAC_ERROR_NONE;
    if (hac_source_open(&q->query, &place, NULL, &source, &err) != HAC_OK ||
        hac_source_begin(source, 0, text->bytes, false, &err) != HAC_OK)
        fail_msg("%s", err.message);
    return source;
}

/* Converts all rows of `text` from format `from` to `to`. */
static void rewrite(hac_input_format from, const hac_text *text, hac_result_format to, const char *columns,
                    hac_text *ret)
{
    test_query q;
    hac_batch batch;
    hac_status status;
    hac_error err = HAC_ERROR_NONE;
    test_query_make(&q, from, false, columns);
    hac_source *source = open_text(&q, text);
    while ((status = hac_source_next(source, &batch, &err)) == HAC_OK) {
        hac_output_buffer wanted = {.capacity = 0};
        hac_output_rows(&wanted, to, &q.query.columns, batch.n_columns, batch.columns, batch.rows);
        hac_autofree uint8_t *data = malloc(wanted.bytes);
        assert_non_null(data);
        hac_output_buffer output = {.data = data, .capacity = wanted.bytes};
        hac_output_rows(&output, to, &q.query.columns, batch.n_columns, batch.columns, batch.rows);
        assert_int_equal(output.bytes, wanted.bytes);
        hac_text_add_bytes(ret, (const char *)data, output.bytes);
    }
    if (status != HAC_NOT_FOUND)
        fail_msg("%s", err.message);
    hac_source_free(source);
}

static void make_rows(hac_text *ret, uint64_t seed)
{
    for (size_t i = 0; i < ROWS; i++)
        add_row(ret, &seed);
}

static void check_same(const hac_text *a, const hac_text *b)
{
    size_t at = 0, max = a->bytes < b->bytes ? a->bytes : b->bytes;
    while (at < max && a->data[at] == b->data[at])
        at++;
    if (at == max && a->bytes == b->bytes)
        return;
    size_t from = at > 100 ? at - 100 : 0;
    fail_msg("at byte %zu of %zu and %zu:\n%.200s\nand\n%.200s", at, a->bytes, b->bytes, a->data + from,
             b->data + from);
}

static void test_tsv(void **state)
{
    (void)state;
    hac_text json = HAC_TEXT_NONE, tsv = HAC_TEXT_NONE, wanted = HAC_TEXT_NONE, got = HAC_TEXT_NONE;
    make_rows(&json, 5);
    rewrite(HAC_INPUT_JSONL, &json, HAC_RESULT_TSV, SCHEMA, &tsv);
    rewrite(HAC_INPUT_JSONL, &json, HAC_RESULT_JSON, SCHEMA, &wanted);
    rewrite(HAC_INPUT_TSV, &tsv, HAC_RESULT_JSON, SCHEMA, &got);
    check_same(&wanted, &got);
    hac_text_clear(&json);
    hac_text_clear(&tsv);
    hac_text_clear(&wanted);
    hac_text_clear(&got);
}

/* Nulls of text columns come back as empty text, which these values do not have. */
static void test_typed(void **state)
{
    (void)state;
    static const char *const schemas[] = {
        ("a:string b:i64 c:bool d:i8 e:i16 f:i32 g:u8 h:u16 i:u32 j:u64 k:f32 "
         "l:f64 m:date n:timestamp o:decimal(9,2) p:decimal(30,5)"),
        "b:i64 a:string", "m:date l:f64", "a:string j:u64 l:f64"};
    hac_text json = HAC_TEXT_NONE;
    make_rows(&json, 6);
    for (size_t i = 0; i < sizeof schemas / sizeof *schemas; i++) {
        hac_text typed = HAC_TEXT_NONE, wanted = HAC_TEXT_NONE, got = HAC_TEXT_NONE;
        rewrite(HAC_INPUT_JSONL, &json, HAC_RESULT_TYPEDBYTES, schemas[i], &typed);
        rewrite(HAC_INPUT_JSONL, &json, HAC_RESULT_JSON, schemas[i], &wanted);
        rewrite(HAC_INPUT_TYPEDBYTES, &typed, HAC_RESULT_JSON, schemas[i], &got);
        check_same(&wanted, &got);
        hac_text_clear(&typed);
        hac_text_clear(&wanted);
        hac_text_clear(&got);
    }
    hac_text_clear(&json);
}

/* The exact bytes, one row of each kind. */
static const struct {
    const char *schema, *json, *hex;
} rows[] = {
    {"a:i64", "{\"a\":1}",
     "040000000000000001"
     "0700000000"},
    {"a:string b:i8", "{\"a\":\"xy\",\"b\":-1}",
     "07000000027879"
     "01ff"},
    {"a:bool b:bytes", "{\"a\":true,\"b\":\"00ff\"}",
     "0201"
     "000000000200ff"},
    {"a:u8 b:i16", "{\"a\":200,\"b\":-2}",
     "03000000c8"
     "03fffffffe"},
    {"a:u16 b:i32", "{\"a\":65535,\"b\":-2147483648}",
     "030000ffff"
     "0380000000"},
    {"a:u32 b:u64", "{\"a\":4294967295,\"b\":1}",
     "0400000000ffffffff"
     "040000000000000001"},
    {"a:u64 b:u64", "{\"a\":9223372036854775807,\"b\":9223372036854775808}",
     "047fffffffffffffff"
     "070000001339323233333732303336383534373735383038"},
    {"a:f32 b:f64", "{\"a\":1.5,\"b\":0.1}",
     "053fc00000"
     "063fb999999999999a"},
    {"a:date b:decimal(3,1)", "{\"a\":\"2020-01-31\",\"b\":1.5}",
     "070000000a323032302d30312d3331"
     "0700000003312e35"},
    {"a:timestamp b:i64", "{\"a\":\"2020-01-31 00:00:01\"}",
     "0700000013323032302d30312d33312030303a30303a3031"
     "0000000000"},
    {"a:string b:i8 c:string", "{\"a\":\"k\",\"b\":1,\"c\":\"\"}",
     "07000000016b"
     "0800000002"
     "0101"
     "0700000000"},
};

static void test_typed_bytes(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        hac_text json = HAC_TEXT_NONE, typed = HAC_TEXT_NONE, hex = HAC_TEXT_NONE;
        hac_text_add(&json, rows[i].json);
        rewrite(HAC_INPUT_JSONL, &json, HAC_RESULT_TYPEDBYTES, rows[i].schema, &typed);
        for (size_t b = 0; b < typed.bytes; b++)
            hac_text_addf(&hex, "%02x", (uint8_t)typed.data[b]);
        assert_string_equal(hex.data, rows[i].hex);
        hac_text_clear(&json);
        hac_text_clear(&typed);
        hac_text_clear(&hex);
    }
}

static void test_tsv_text(void **state)
{
    (void)state;
    hac_text json = HAC_TEXT_NONE, tsv = HAC_TEXT_NONE;
    hac_text_add(&json,
                 "{\"a\":\"\\t\\n\\r\\\\N ä,\\\"\",\"b\":\"00ff\",\"c\":1.0}\n{\"b\":\"\"}\n{\"a\":\"\"}\n");
    rewrite(HAC_INPUT_JSONL, &json, HAC_RESULT_TSV, "a:string b:bytes c:f64", &tsv);
    hac_text_add_bytes(&tsv, "", 1);
    assert_string_equal(tsv.data, "\\t\\n\\r\\\\N ä,\"\t00ff\t1.0\n\\N\t\t\\N\n\t\\N\t\\N\n");
    hac_text_clear(&json);
    hac_text_clear(&tsv);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tsv),
        cmocka_unit_test(test_typed),
        cmocka_unit_test(test_typed_bytes),
        cmocka_unit_test(test_tsv_text),
    };
    return cmocka_run_group_tests(tests, hac_test_fds_setup, hac_test_fds_teardown);
}
