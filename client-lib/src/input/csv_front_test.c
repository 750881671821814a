/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "csv_front.h"
#include "front_run.h"

static char *usual_form(hac_input_format format, const hac_input_options *options, const char *text,
                        size_t piece, size_t capacity)
{
    hac_front *front = NULL;
    assert_int_equal(hac_csv_front_new(format, options, &front, NULL), HAC_OK);
    return hac_test_front_run(front, text, piece, capacity);
}

static void check_as(hac_input_format format, const hac_input_options *options, const char *text,
                     const char *right)
{
    static const size_t sizes[] = {1, 2, 3, 7, 100000};
    for (size_t i = 0; i < 5; i++)
        for (size_t k = 0; k < 5; k++) {
            hac_autofree char *got = usual_form(format, options, text, sizes[i], sizes[k]);
            assert_string_equal(got, right);
        }
}

static void check(const hac_input_options *options, const char *text, const char *right)
{
    check_as(HAC_INPUT_CSV, options, text, right);
}

static void quotes(void **state)
{
    const hac_input_options single = {.quote = '\''}, none = {.quote = HAC_MARK_NONE, .delimiter = ';'};
    (void)state;
    check(&single, "a,b\n'x,y','it''s'\n", "a,b\n\"x,y\",\"it's\"\n");
    check(&single, "'a'\r\n'x\ny'\r\n''", "\"a\"\r\n\"x\ny\"\r\n\"\"");
    check(&single, "5\" pipe,'6\" pipe'\r\nit's,\"\n", "\"5\"\" pipe\",\"6\"\" pipe\"\r\nit's,\"\"\"\"\n");
    check(&single, ",,\n\r\n\n'',\n", ",,\n\r\n\n\"\",\n");
    check(&single, "\xef\xbb\xbf'a',b\n", "\xef\xbb\xbf\"a\",b\n");
    check(&single, "\xef\xbc\xa1,'b'\n", "\xef\xbc\xa1,\"b\"\n");
    check(&single, "'a'x,b\n",
          "\"a!line 1: text behind the closing quote of a field: a quote within the field must be doubled "
          "(''), or "
          "stand behind the character that --escape says");
    check(&single, "a\nb,'c\nd\n",
          "a\nb,\"c\nd\n!line 2: the quoted field that begins here has no closing quote");
    check(&none, "\"a;'b\n\"\"\n", "\"\"\"a\";'b\n\"\"\"\"\"\"\n");
}

static void escapes(void **state)
{
    const hac_input_options back = {.escape = '\\'}, both = {.quote = '\'', .escape = '^', .delimiter = '|'};
    (void)state;
    check(&back, "\"a \\\"b\\\" c\",\"\\\\\"\n", "\"a \"\"b\"\" c\",\"\\\"\n");
    check(&back, "a\\,b,c\\\nd\\\"\n", "\"a,b\",\"c\nd\"\"\"\n");
    check(&back, "\\N,x\\N,\\Nx,\"\\N\"\r\n\\N\r\n\\N", ",xN,Nx,\"N\"\r\n\r\n");
    check(&back, "a\\", "a\\");
    check(&back, "\"a\"\"b\"", "\"a\"\"b\"");
    check(&both, "'a^'b''c'|x^|y|^'z'\n", "\"a'b'c\"|\"x|y\"|'z'\n");
}

static void comments(void **state)
{
    const hac_input_options hash = {.comment = '#'}, tsv = {.comment = '#'};
    const hac_input_options all = {.comment = '#', .quote = '\'', .delimiter = ';'};
    (void)state;
    check(&hash, "# a \"b\n#\r\na,b\n\"x\n#y\",#z\n# c\n1,2", "a,b\n\n\n\"x\n#y\",#z\n\n1,2");
    check(&hash, "# a\nb\n#c\nd\n#e", "b\nd\n#");
    check(&hash, "a\"b,c\n", "a\"b,c\n");
    check(&all, "#'x\n'a';b\n'\n#c';d\n#;\n", "\"a\";b\n\n\"\n#c\";d\n\n");
    check_as(HAC_INPUT_TSV, &tsv, "#x\na\t\"b\\t\n", "a\t\"b\\t\n\n");
}

static void tsv(void **state)
{
    const hac_input_options quoted = {.quote = '"'}, none = {.escape = HAC_MARK_NONE},
                            own = {.quote = '"', .escape = '\\'};
    (void)state;
    check_as(HAC_INPUT_TSV, &quoted, "a\t\"b\tc\\\nd\"\"\"\t\\N\tx\\ty\r\n",
             "a\tb\\tc\\\\\\nd\"\t\\N\tx\\ty\r\n");
    check_as(HAC_INPUT_TSV, &none, "a\\tb\t\\N\n", "a\\\\tb\t\\\\N\n");
    check_as(HAC_INPUT_TSV, &own, "\"a\\\"b\\\\\"\tc\\td\n", "a\"b\\\\\tc\\td\n");
}

static void looks(void **state)
{
    (void)state;
    const hac_input_options options = {.quote = '\'', .escape = '\\'};
    static const char text[] = "a,b,c\n'x','',1\n'y\\'',,'2'\n\n'z',,\n";
    hac_cleanup(hac_front_free_cleanup) hac_front *front = NULL;
    uint8_t out[256];
    size_t used, n;
    assert_int_equal(hac_csv_front_new(HAC_INPUT_CSV, &options, &front, NULL), HAC_OK);
    assert_int_equal(
        hac_front_run(front, (const uint8_t *)text, sizeof(text) - 1, &used, out, sizeof(out), &n, NULL),
        HAC_OK);
    hac_csv_look look = hac_csv_front_look(front);
    assert_true(look.records == 4 && look.fields == 3 && !look.uneven);
    assert_int_equal(look.quoted, 5);
    assert_int_equal(look.escaped, 1);
    assert_int_equal(look.all_quoted, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(quotes), cmocka_unit_test(escapes),
                                       cmocka_unit_test(comments), cmocka_unit_test(tsv),
                                       cmocka_unit_test(looks)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
