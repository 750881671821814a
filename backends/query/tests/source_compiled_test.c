/* SPDX-License-Identifier: Apache-2.0 */
/* Queries of hac_query_compile, written and read back: the positions of their columns in the source. */
#include <string.h>

#include "source_support.h"

static hac_query *compiled(const hac_query_text *text, const hac_schema *header)
{
    hac_error err = HAC_ERROR_NONE;
    hac_query *query = NULL, *back = NULL;
    hac_text bytes = HAC_TEXT_NONE;
    if (hac_query_compile(text, header, &query, &err) != HAC_OK ||
        hac_query_write(query, &bytes, &err) != HAC_OK ||
        hac_query_read((const uint8_t *)bytes.data, bytes.bytes, &back, &err) != HAC_OK)
        fail_msg("%s", err.message);
    hac_query_free(query);
    hac_text_clear(&bytes);
    return back;
}

static void check(hac_query_text text, const char *data, size_t bytes, const char *wanted)
{
    text.limit = UINT64_MAX;
    bool header_line = text.source.format == HAC_INPUT_CSV;
    hac_schema header = {0};
    hac_source_place place = {.fd = -1, .memory = (const uint8_t *)data, .bytes = bytes};
    if (header_line)
        assert_int_equal(hac_source_header(&text.source, &place, &header, NULL), HAC_OK);
    hac_query *query = compiled(&text, header_line ? &header : NULL);
    test_check_chunks(query, data, bytes, wanted);
    hac_query_free(query);
    hac_schema_clear(&header);
}

static void test_fixed(void **state)
{
    (void)state;
    static const char data[] = "\x01\x02\x00\xff\xff\xff\xff\x03\x04\x00\x05\x00\x00\x00";
    hac_query_text text = {
        .schema = "a:i8,b:u16,c:i32", .select = "c", .source = {.format = HAC_INPUT_FIXED}};
    check(text, data, 14, "-1|\n5|\n");
    text.select = "b, a";
    check(text, data, 14, "1|2|\n3|4|\n");
    text.select = "count()";
    check(text, data, 14, "\n\n");
    hac_query *query = NULL;
    hac_error err = HAC_ERROR_NONE;
    text.schema = "a:i8,s:string";
    text.select = "a";
    assert_int_equal(hac_query_compile(&text, NULL, &query, &err), HAC_INVALID);
    assert_non_null(strstr(err.message, "--schema: column 's' is a string"));
}

static void test_wide_fixed_records(void **state)
{
    (void)state;
    hac_text schema = HAC_TEXT_NONE;
    for (int i = 0; i < HAC_COLUMNS_MAX; i++)
        hac_text_addf(&schema, "%sc%d:decimal(38,0)", i > 0 ? "," : "", i);
    hac_text_add_bytes(&schema, "", 1);
    char data[HAC_RECORD_BYTES_MAX] = {0};
    data[HAC_RECORD_BYTES_MAX - 16] = 9;
    hac_query_text text = {.schema = schema.data, .select = "c255", .source = {.format = HAC_INPUT_FIXED}};
    check(text, data, sizeof data, "0:9|\n");
    hac_text_clear(&schema);
}

static void test_csv(void **state)
{
    (void)state;
    static const char data[] = "x,\"y \"\"z\",w\n1,2,3\n4,5,6\n";
    hac_query_text text = {.schema = "w:i64,\"y \"\"z\":f64", .select = "\"y \"\"z\" + w"};
    text.source.format = HAC_INPUT_CSV;
    check(text, data, strlen(data), "2|3|\n5|6|\n");
    text.schema = NULL;
    text.select = "x";
    check(text, data, strlen(data), "<1:1>|\n<1:4>|\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fixed),
        cmocka_unit_test(test_wide_fixed_records),
        cmocka_unit_test(test_csv),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
