/* SPDX-License-Identifier: Apache-2.0 */
#include "compile_query.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/test_support.h"

/* The note about columns a (text because of NA), data (whole numbers) and b (text because of -). */
static char *note_of(const hac_query_options *options)
{
    hac_field fields[] = {{.name = "a", .type = {.kind = HAC_KIND_STRING}, .odd = {HAC_ODD_NUMBERS, 1, "NA"}},
                          {.name = "data", .type = {.kind = HAC_KIND_I64}},
                          {.name = "b", .type = {.kind = HAC_KIND_STRING}, .odd = {HAC_ODD_TIMES, 1, "-"}}};
    const hac_source_columns columns = {.schema = {fields, 3}, .inferred = true};
    hac_compiled_query *compiled = NULL;
    hac_error err = HAC_ERROR_NONE;
    for (size_t i = 0; i < 3; i++)
        fields[i].inferred = true;
    if (hac_query_compile_options(options, &columns, &compiled, &err) != HAC_OK)
        fail_msg("%s", err.message);
    char *note = strdup(compiled->note);
    free(compiled);
    return note;
}

static void check(const hac_query_options *options, const char *wanted)
{
    char *note = note_of(options);
    assert_string_equal(note, wanted);
    free(note);
}

#define NOTE_A                                                                                               \
    "a is text because of values such as 'NA', but others are numbers; say --null 'NA' if that is null, or " \
    "list it in --schema as a string"
#define NOTE_B                                                                                               \
    "b is text because of values such as '-', but others are dates or times; list it in --schema as a "      \
    "string"

static void test_odd_columns_of_sorts(void **state)
{
    (void)state;
    static const struct {
        const char *order_by, *where, *note;
    } cases[] = {{NULL, NULL, ""},
                 {"data", NULL, ""},
                 {"a", NULL, NOTE_A},
                 {"data desc, a desc", NULL, NOTE_A},
                 {"b, a", NULL, NOTE_A "; " NOTE_B},
                 {"data", "a > 'x'", NOTE_A}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        hac_query_options options = HAC_QUERY_OPTIONS_INIT;
        options.input_format = HAC_INPUT_CSV;
        options.infer_schema = 1;
        options.select = "*";
        options.sort_rows = 1;
        options.order_by = cases[i].order_by;
        options.where = cases[i].where;
        check(&options, cases[i].note);
    }
}

static void test_odd_columns(void **state)
{
    (void)state;
    hac_query_options options = HAC_QUERY_OPTIONS_INIT;
    options.input_format = HAC_INPUT_CSV;
    options.infer_schema = 1;
    options.select = "max(a) as m";
    check(&options, NOTE_A);
    strcpy(options.input_options.null_text, "NULL");
    check(&options,
          "a is text because of values such as 'NA', but others are numbers; say --null 'NULL,NA' if that is "
          "null, or list it in --schema as a string");
    memset(options.input_options.null_text, 'x', HAC_NULL_BYTES_MAX - 2); /* NA does not fit */
    check(
        &options,
        "a is text because of values such as 'NA', but others are numbers; list it in --schema as a string");
    options.select = "max(data) as m";
    check(&options, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_odd_columns_of_sorts),
                                       cmocka_unit_test(test_odd_columns)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
