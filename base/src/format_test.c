/* SPDX-License-Identifier: Apache-2.0 */
#include "base/format.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void words_are_the_table(void **state)
{
    (void)state;
    char words[256] = "";
    for (unsigned f = HAC_INPUT_CSV; f < HAC_INPUT_END; f++) {
        strcat(words, f > HAC_INPUT_CSV ? " " : "");
        strcat(words, hac_formats[f].name);
        assert_int_equal(hac_format_named(hac_formats[f].name, strlen(hac_formats[f].name)), f);
    }
    assert_string_equal(words, HAC_FORMAT_WORDS);
    assert_int_equal(hac_format_named("table", 5), HAC_INPUT_NONE);
    assert_int_equal(hac_format_named("csv,", 4), HAC_INPUT_NONE);
    assert_int_equal(hac_format_named("csv,", 3), HAC_INPUT_CSV);
}

static void suffixes(void **state)
{
    (void)state;
    static const struct {
        const char *path;
        hac_input_format format;
    } cases[] = {
        {"a.csv", HAC_INPUT_CSV},      {"d.x/a.TSV", HAC_INPUT_TSV}, {"a.jsonl", HAC_INPUT_JSONL},
        {"a.nDjson", HAC_INPUT_JSONL}, {"a.b.txt", HAC_INPUT_LINES}, {"a.parquet", HAC_INPUT_PARQUET},
        {"a.csv.gz", HAC_INPUT_CSV},   {"a.tsv.ZST", HAC_INPUT_TSV}, {"csv", HAC_INPUT_NONE},
        {".csv", HAC_INPUT_NONE},      {".csv.gz", HAC_INPUT_NONE},  {"a.csv/b", HAC_INPUT_NONE},
        {"a.cs", HAC_INPUT_NONE},      {"a.csvx", HAC_INPUT_NONE},   {"a.csv.gz.gz", HAC_INPUT_NONE},
        {"a.gz", HAC_INPUT_NONE},      {"a.", HAC_INPUT_NONE},       {"", HAC_INPUT_NONE},
        {"a.jsonl ", HAC_INPUT_NONE}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(hac_format_of_path(cases[i].path), cases[i].format);
}

static void delimiters(void **state)
{
    (void)state;
    assert_int_equal(hac_format_delimiter(HAC_INPUT_CSV, 0), ',');
    assert_int_equal(hac_format_delimiter(HAC_INPUT_CSV, 255), 255);
    assert_int_equal(hac_format_delimiter(HAC_INPUT_TSV, 0), '\t');
    assert_int_equal(hac_format_delimiter(HAC_INPUT_TSV, ';'), '\t');
    assert_int_equal(hac_format_delimiter(HAC_INPUT_JSONL, ';'), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(words_are_the_table), cmocka_unit_test(suffixes),
                                       cmocka_unit_test(delimiters)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
