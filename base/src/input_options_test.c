/* SPDX-License-Identifier: Apache-2.0 */
#include "base/input_options.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/format.h"

static void parse(const char *key, const char *text, hac_input_options *options)
{
    hac_error err = HAC_ERROR_NONE;
    if (hac_input_option_parse(hac_input_option_find(key), text, options, &err) != HAC_OK)
        fail_msg("%s: %s", key, err.message);
}

static void refuses(const char *key, const char *text, const char *says)
{
    hac_error err = HAC_ERROR_NONE;
    hac_input_options options = {.null_text = "kept"};
    const hac_input_options before = options;
    assert_int_equal(hac_input_option_parse(hac_input_option_find(key), text, &options, &err), HAC_INVALID);
    assert_non_null(strstr(err.message, says));
    assert_memory_equal(&options, &before, sizeof options);
}

static void values(void **state)
{
    hac_input_options o = {.null_text = "longer before"};
    (void)state;
    parse("header", "false", &o);
    parse("delimiter", "tab", &o);
    parse("null_text", "NA", &o);
    parse("byte_order", "big", &o);
    parse("on_error", "skip", &o);
    parse("trim", "true", &o);
    parse("first_row_group", "9223372036854775807", &o);
    parse("row_groups", "12", &o);
    assert_true(o.no_header == 1 && o.delimiter == '\t' && o.big_endian == 1 && o.skip_errors == 1 &&
                o.trim == 1);
    assert_memory_equal(o.null_text, "NA\0\0\0\0\0\0", 8);
    assert_true(o.first_row_group == INT64_MAX && o.row_groups == 12);
    parse("header", "true", &o);
    parse("delimiter", "\xff", &o);
    parse("byte_order", "little", &o);
    assert_true(o.no_header == 0 && o.delimiter == 0xff && o.big_endian == 0);
    char wide[HAC_NULL_BYTES_MAX + 2] = "";
    memset(wide, '1', HAC_NULL_BYTES_MAX);
    parse("null_text", wide, &o);
    assert_int_equal(strlen(o.null_text), HAC_NULL_BYTES_MAX);
    wide[HAC_NULL_BYTES_MAX] = '1';
    refuses("null_text", wide, "at most 127 bytes");
    refuses("null_text", "\xff", "valid UTF-8");
    refuses("header", "no", "'no' is not possible; allowed: true or false");
    refuses("on_error", "fail skip", "'fail skip' is not possible; allowed: fail skip");
    refuses("on_error", "", "allowed: fail skip");
    refuses("row_groups", "-1", "a whole number");
    refuses("row_groups", "99999999999999999999", "a whole number");
    static const char *const no_bytes[] = {"", ";;", "\"", "\n", "\r", "ä"};
    for (size_t i = 0; i < sizeof no_bytes / sizeof *no_bytes; i++)
        refuses("delimiter", no_bytes[i], "one byte, or \\t");
    assert_int_equal(hac_input_option_find("delimiter "), HAC_INPUT_OPTIONS);
}

static void marks(void **state)
{
    hac_input_options o = {.trim = 1};
    hac_error err = HAC_ERROR_NONE;
    (void)state;
    parse("quote", "'", &o);
    parse("escape", "\\", &o);
    parse("comment", "none", &o);
    assert_true(o.quote == '\'' && o.escape == '\\' && o.comment == HAC_MARK_NONE);
    static const char *const no_marks[] = {"", "a", "1", " ", "\t", "''", "\x7f", "ä"};
    for (size_t i = 0; i < sizeof no_marks / sizeof *no_marks; i++)
        refuses("quote", no_marks[i], "one character that is no letter, digit or space, or none");
    assert_true(hac_input_is_dialect(HAC_INPUT_CSV, &o) && !hac_input_is_dialect(HAC_INPUT_JSONL, &o));
    hac_input_options_plain(&o);
    assert_true(!hac_input_is_dialect(HAC_INPUT_CSV, &o) && o.trim == 1);
    o = (hac_input_options){.quote = '"', .escape = '"', .comment = HAC_MARK_NONE};
    assert_true(!hac_input_is_dialect(HAC_INPUT_CSV, &o) && hac_input_is_dialect(HAC_INPUT_TSV, &o));
    assert_int_equal(hac_input_options_check(HAC_INPUT_CSV, &o, &err), HAC_OK);
    o = (hac_input_options){.escape = '"'};
    assert_false(hac_input_is_dialect(HAC_INPUT_CSV, &o));
    o = (hac_input_options){.delimiter = ';', .comment = ';'};
    assert_int_equal(hac_input_options_check(HAC_INPUT_CSV, &o, &err), HAC_INVALID);
    assert_string_equal(err.message, "--comment: ';' is the delimiter; say another, or none");
    o = (hac_input_options){.quote = '~', .comment = '~'};
    assert_int_equal(hac_input_options_check(HAC_INPUT_TSV, &o, &err), HAC_INVALID);
    o = (hac_input_options){.quote = 'a'};
    assert_int_equal(hac_input_options_check(HAC_INPUT_CSV, &o, &err), HAC_INVALID);
}

static void formats(void **state)
{
    hac_input_options o = {.null_text = "NA", .skip_errors = 1};
    hac_error err = HAC_ERROR_NONE;
    (void)state;
    assert_int_equal(hac_input_options_check(HAC_INPUT_CSV, &o, &err), HAC_OK);
    assert_int_equal(hac_input_options_check(HAC_INPUT_KV, &o, &err), HAC_INVALID);
    assert_string_equal(err.message, "--null: this is an option of csv, tsv, and the input is kv");
    o = (hac_input_options){.big_endian = 1};
    assert_int_equal(hac_input_options_check(HAC_INPUT_LINES, &o, &err), HAC_INVALID);
    assert_string_equal(err.message,
                        "--byte-order: this is an option of fixed, lengths, and the input is lines");
    o.big_endian = 2;
    assert_int_equal(hac_input_options_check(HAC_INPUT_FIXED, &o, &err), HAC_INVALID);
    o = (hac_input_options){.delimiter = '"'};
    assert_int_equal(hac_input_options_check(HAC_INPUT_CSV, &o, &err), HAC_INVALID);
    memset(o.null_text, 'x', sizeof o.null_text);
    assert_int_equal(hac_input_options_check(HAC_INPUT_CSV, &o, &err), HAC_INVALID);
    o = (hac_input_options){.thousands = HAC_THOUSANDS_POINT, .decimal = HAC_DECIMAL_COMMA};
    assert_int_equal(hac_input_options_check(HAC_INPUT_CSV, &o, &err), HAC_OK);
    o.decimal = HAC_DECIMAL_AUTO;
    assert_int_equal(hac_input_options_check(HAC_INPUT_CSV, &o, &err), HAC_INVALID);
    assert_string_equal(err.message, "--thousands: the point is the decimal sign; say --decimal comma");
}

/* Every option, at a value that is not its default, in each format that takes it. */
static void fill(hac_input_format format, hac_input_options *ret)
{
    *ret = (hac_input_options){0};
    for (unsigned id = 0; id < HAC_INPUT_OPTIONS; id++) {
        const hac_input_option *row = &hac_input_option_rows[id];
        uint8_t *member = (uint8_t *)ret + row->offset;
        if ((row->formats >> format & 1) == 0)
            continue;
        memset(member, 0, row->bytes);
        bool byte = row->kind == HAC_OPTION_TEXT || row->kind == HAC_OPTION_BYTE;
        member[0] = byte ? 'x' : 1;
    }
}

static void bytes(void **state)
{
    (void)state;
    for (int f = HAC_INPUT_TABLE; f < HAC_INPUT_END; f++) {
        hac_input_options options, again;
        hac_text text = HAC_TEXT_NONE;
        hac_input_format format = (hac_input_format)f;
        fill(format, &options);
        hac_input_options_write(&options, &text);
        assert_true(!text.broken && text.bytes <= HAC_INPUT_OPTIONS_BYTES_MAX);
        const uint8_t *data = (const uint8_t *)text.data;
        assert_int_equal(hac_input_options_read(data, text.bytes, format, &again, NULL), HAC_OK);
        assert_memory_equal(&again, &options, sizeof options);
        /* damaged bytes are refused, or are other valid options */
        for (size_t at = 0; at < text.bytes; at++) {
            uint8_t damaged[HAC_INPUT_OPTIONS_BYTES_MAX];
            memcpy(damaged, data, text.bytes);
            for (int change = 1; change < 256; change++) {
                damaged[at] = (uint8_t)(data[at] ^ change);
                if (hac_input_options_read(damaged, text.bytes, format, &again, NULL) == HAC_OK)
                    assert_int_equal(hac_input_options_check(format, &again, NULL), HAC_OK);
            }
        }
        hac_text_clear(&text);
    }
}

static void malformed(void **state)
{
    static const struct {
        const char *bytes;
        size_t n;
    } cases[] = {{"\4", 1},
                 {"\4\x08\1\0\0\0\0\0\0", 9},
                 {"\4\1\1", 3},
                 {"\4\x08\0\0\0\0\0\0\0\0", 10},
                 {"\4\x08\1\1\0\0\0\0\0\0", 10},
                 {"\4\x08\2\0\0\0\0\0\0\0", 10},
                 {"\x63\x08\1\0\0\0\0\0\0\0", 10},
                 {"\2\0", 2},
                 {"\2\2a\0", 4},
                 {"\4\x08\1\0\0\0\0\0\0\0\4\x08\1\0\0\0\0\0\0\0", 20}};
    hac_input_options options = {.null_text = "kept"};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(hac_input_options_read((const uint8_t *)cases[i].bytes, cases[i].n, HAC_INPUT_CSV,
                                                &options, NULL),
                         HAC_INVALID);
    assert_string_equal(options.null_text, "kept");
    assert_int_equal(hac_input_options_read(NULL, 0, HAC_INPUT_CSV, &options, NULL), HAC_OK);
    assert_string_equal(options.null_text, "");
}

static void rows(void **state)
{
    (void)state;
    for (unsigned id = 0; id < HAC_INPUT_OPTIONS; id++) {
        const hac_input_option *row = &hac_input_option_rows[id];
        bool text = row->kind == HAC_OPTION_TEXT;
        assert_int_equal(hac_input_option_find(row->key), id);
        assert_true(row->name != NULL && row->help != NULL &&
                    row->bytes == (text ? row->max + 1 : row->bytes));
        assert_true(text || row->bytes == 8 || row->max <= 0xff);
        assert_int_equal(row->words != NULL, row->kind == HAC_OPTION_WORD);
    }
}

static void keep(void **state)
{
    hac_input_options o;
    (void)state;
    fill(HAC_INPUT_CSV, &o);
    hac_input_options_keep(HAC_INPUT_TSV, &o);
    assert_true(o.null_text[0] == 'x' && o.delimiter == 0 && o.no_header == 1 && o.skip_errors == 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values), cmocka_unit_test(marks),     cmocka_unit_test(formats),
        cmocka_unit_test(bytes),  cmocka_unit_test(malformed), cmocka_unit_test(rows),
        cmocka_unit_test(keep),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
