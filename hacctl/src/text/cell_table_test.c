/* SPDX-License-Identifier: Apache-2.0 */
#include "cell_table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const hac_cell_column columns[] = {{"na,me", "string"}, {"n", "i64"}, {"x", "f64"}};

static const char *const rows[][3] = {{"a,\"b\"", "1", "1.5"},
                                      {"", "-2", "inf"},
                                      {NULL, NULL, NULL},
                                      {"t\tn\nr\rb\\", "0", "nan"},
                                      {"<a|b> & c", "7", "1e300"}};

typedef void (*writer)(const hac_cell_table *table, hac_text *text);

static void check(size_t n, writer write, const char *wanted)
{
    hac_cell_table table = HAC_CELL_TABLE(columns);
    hac_text text = HAC_TEXT_NONE;
    char *all = NULL;
    for (size_t i = 0; i < n * 3; i++)
        hac_cell_table_add(&table, rows[i / 3][i % 3]);
    write(&table, &text);
    assert_int_equal(hac_text_finish(&text, &all, NULL, NULL), HAC_OK);
    assert_string_equal(all, wanted);
    hac_cell_table_clear(&table);
    free(all);
}

static void csv(void **state)
{
    (void)state;
    check(0, hac_cell_table_csv, "\"na,me\",n,x\n");
    check(
        5, hac_cell_table_csv,
        "\"na,me\",n,x\n\"a,\"\"b\"\"\",1,1.5\n\"\",-2,inf\n,,\n\"t\tn\nr\rb\\\",0,nan\n<a|b> & c,7,1e300\n");
}

static void tsv(void **state)
{
    (void)state;
    check(5, hac_cell_table_tsv,
          "na,me\tn\tx\na,\"b\"\t1\t1.5\n\t-2\tinf\n\\N\t\\N\t\\N\nt\\tn\\nr\\rb\\\\\t0\tnan\n<a|b> & "
          "c\t7\t1e300\n");
}

static void json(void **state)
{
    (void)state;
    check(0, hac_cell_table_json, "");
    check(5, hac_cell_table_json,
          "{\"na,me\":\"a,\\\"b\\\"\",\"n\":1,\"x\":1.5}\n"
          "{\"na,me\":\"\",\"n\":-2,\"x\":\"inf\"}\n"
          "{\"na,me\":null,\"n\":null,\"x\":null}\n"
          "{\"na,me\":\"t\\tn\\nr\\rb\\\\\",\"n\":0,\"x\":\"nan\"}\n"
          "{\"na,me\":\"<a|b> & c\",\"n\":7,\"x\":1e300}\n");
}

static void markdown(void **state)
{
    (void)state;
    check(5, hac_cell_table_markdown,
          "| na,me | n | x |\n|---|---|---|\n| a,\"b\" | 1 | 1.5 |\n|  | -2 | inf |\n|  |  |  |\n"
          "| t\tn<br>rb\\\\ | 0 | nan |\n| &lt;a\\|b> &amp; c | 7 | 1e300 |\n");
}

static void many_cells(void **state)
{
    hac_cell_table table = HAC_CELL_TABLE(columns);
    hac_text text = HAC_TEXT_NONE;
    char *all = NULL;
    (void)state;
    for (size_t i = 0; i < 3 * 1000; i++)
        hac_cell_table_add(&table, "12345");
    hac_cell_table_tsv(&table, &text);
    assert_int_equal(hac_text_finish(&text, &all, NULL, NULL), HAC_OK);
    assert_int_equal(strlen(all), strlen("na,me\tn\tx\n") + 1000 * 18);
    hac_cell_table_clear(&table);
    free(all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(csv),      cmocka_unit_test(tsv),        cmocka_unit_test(json),
        cmocka_unit_test(markdown), cmocka_unit_test(many_cells),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
