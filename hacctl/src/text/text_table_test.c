/* SPDX-License-Identifier: Apache-2.0 */
#include "text_table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const hac_text_column columns[] = {{"NAME", false}, {"MEMORY", true}, {"NOTE", false}};

static char *written(hac_text_table *table)
{
    hac_text text = HAC_TEXT_NONE;
    char *all = NULL;
    hac_text_table_write(table, &text);
    assert_int_equal(hac_text_finish(&text, &all, NULL, NULL), HAC_OK);
    hac_text_table_clear(table);
    return all;
}

static void aligns(void **state)
{
    hac_text_table table = HAC_TEXT_TABLE(columns);
    (void)state;
    hac_text_table_add(&table, "cpu");
    hac_text_table_addf(&table, "%d GiB", 4);
    hac_text_table_add(&table, NULL);
    hac_text_table_add(&table, "a-longer-name");
    hac_text_table_add(&table, "512 MiB");
    hac_text_table_add(&table, "fast");
    assert_int_equal(hac_text_table_rows(&table), 2);
    char *all = written(&table);
    assert_string_equal(all, "NAME            MEMORY  NOTE\n"
                             "cpu              4 GiB  -\n"
                             "a-longer-name  512 MiB  fast\n");
    free(all);
}

static void empty_has_its_header(void **state)
{
    hac_text_table table = HAC_TEXT_TABLE(columns);
    (void)state;
    char *all = written(&table);
    assert_string_equal(all, "NAME  MEMORY  NOTE\n");
    free(all);
}

static void utf8_counts_characters(void **state)
{
    hac_text_table table = HAC_TEXT_TABLE(columns);
    (void)state;
    hac_text_table_add(&table, "größer");
    hac_text_table_add(&table, "1");
    hac_text_table_add(&table, "x");
    char *all = written(&table);
    assert_string_equal(all, "NAME    MEMORY  NOTE\ngrößer       1  x\n");
    free(all);
}

static void controls_do_not_reach_the_terminal(void **state)
{
    char line[] = "a\033[31mb\nc\td\177\302\233e";
    char lines[] = "a\033\nc\td";
    (void)state;
    hac_text_table_sanitise(line, false);
    assert_string_equal(line, "a?[31mb?c?d???e");
    hac_text_table_sanitise(lines, true);
    assert_string_equal(lines, "a?\nc\td");
}

static void many_rows(void **state)
{
    hac_text_table table = HAC_TEXT_TABLE(columns);
    (void)state;
    for (int i = 0; i < 3000; i++)
        hac_text_table_addf(&table, "%d", i);
    assert_int_equal(hac_text_table_rows(&table), 1000);
    char *all = written(&table);
    assert_non_null(strstr(all, "\n2997    2998  2999\n"));
    free(all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(aligns),
        cmocka_unit_test(empty_has_its_header),
        cmocka_unit_test(utf8_counts_characters),
        cmocka_unit_test(controls_do_not_reach_the_terminal),
        cmocka_unit_test(many_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
