/* SPDX-License-Identifier: Apache-2.0 */
#include "box_table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "screen_text.h"

/* Gives the rows in pieces of `piece` bytes. */
static char *drawn(const char *rows, const char *const *types, size_t n_types, size_t width, size_t piece)
{
    const hac_box_look look = {.width = width};
    hac_text text = HAC_TEXT_NONE;
    hac_error err = HAC_ERROR_NONE;
    char *all = NULL;
    hac_box_table *box = hac_box_table_new(&err);
    assert_non_null(box);
    for (size_t at = 0, n = strlen(rows); at < n; at += piece)
        assert_int_equal(hac_box_table_add(box, rows + at, piece < n - at ? piece : n - at, &err), HAC_OK);
    hac_box_table_write(box, types, n_types, &look, &text);
    assert_int_equal(hac_text_finish(&text, &all, NULL, NULL), HAC_OK);
    hac_box_table_free(box);
    return all;
}

static void check(const char *rows, const char *const *types, size_t n_types, size_t width,
                  const char *wanted)
{
    for (size_t piece = 1; piece < 40; piece += 6) {
        char *all = drawn(rows, types, n_types, width, piece);
        assert_string_equal(all, wanted);
        free(all);
    }
}

static void draws(void **state)
{
    static const char *const types[] = {"string", "decimal(18,2)"};
    (void)state;
    check("name\tprice\npear\t1.50\n\\N\t\\N\na\\tb\t12.00\n", types, 2, 0,
          "┌────────┬───────────────┐\n"
          "│ name   │         price │\n"
          "│ string │ decimal(18,2) │\n"
          "├────────┼───────────────┤\n"
          "│ pear   │          1.50 │\n"
          "│ NULL   │          NULL │\n"
          "│ a\\tb   │         12.00 │\n"
          "└────────┴───────────────┘\n");
    check("漢\tx\n漢字\t1\n", types, 0, 0,
          "┌──────┬───┐\n"
          "│ 漢   │ x │\n"
          "│      │   │\n"
          "├──────┼───┤\n"
          "│ 漢字 │ 1 │\n"
          "└──────┴───┘\n");
}

static void cuts_wide_text(void **state)
{
    static const char *const types[] = {"i64", "string"};
    (void)state;
    check("n\ttext\n1\tone two three four\n", types, 2, 20,
          "┌─────┬────────────┐\n"
          "│   n │ text       │\n"
          "│ i64 │ string     │\n"
          "├─────┼────────────┤\n"
          "│   1 │ one two t… │\n"
          "└─────┴────────────┘\n");
}

static void leaves_out_columns(void **state)
{
    static const char *const types[] = {"i64", "i64", "i64", "i64", "i64"};
    (void)state;
    check("a\tb\tc\td\te\n1\t2\t3\t4\t5\n", types, 5, 23,
          "┌─────┬─────┬───┬─────┐\n"
          "│   a │   b │ … │   e │\n"
          "│ i64 │ i64 │ … │ i64 │\n"
          "├─────┼─────┼───┼─────┤\n"
          "│   1 │   2 │ … │   5 │\n"
          "└─────┴─────┴───┴─────┘\n"
          "1 row, 5 columns of which 3 are shown\n");
}

/* Of many rows the first and the last ones are shown, and the count of the others. */
static void cuts_rows_in_the_middle(void **state)
{
    static const char *const types[] = {"i64"};
    static const size_t counts[] = {0, 1, 39, 40, 41, 2000};
    (void)state;
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
        hac_text rows = HAC_TEXT_NONE;
        char wanted[64], *line;
        hac_text_add(&rows, "number of a row\n");
        for (size_t i = 0; i < counts[k]; i++)
            hac_text_addf(&rows, "%zu\n", i);
        hac_text_add_bytes(&rows, "", 1);
        char *all = drawn(rows.data, types, 1, 80, 100);
        size_t lines = 0, shown = 0, next = 0;
        for (line = strtok(all, "\n"); line != NULL; line = strtok(NULL, "\n"), lines++) {
            if (strncmp(line, "│ ", sizeof "│ " - 1) != 0 || lines < 4)
                continue;
            if (strstr(line, "…") != NULL) {
                next = counts[k] - HAC_BOX_ROWS;
                assert_int_equal(shown, HAC_BOX_ROWS);
                assert_non_null(strstr(line, counts[k] == 41 ? "… 1 row …" : "… 1,960 rows …"));
                continue;
            }
            sprintf(wanted, "│ %15zu │", next++);
            assert_string_equal(line, wanted);
            shown++;
        }
        assert_int_equal(shown, counts[k] < 2 * HAC_BOX_ROWS ? counts[k] : 2 * HAC_BOX_ROWS);
        free(all);
        hac_text_clear(&rows);
    }
}

/* Random text and widths: each line has the same width, and that of the terminal is kept if it can be. */
static void random_tables_are_straight(void **state)
{
    static const char *const types[] = {"string", "i64", "f64", "string", "date", "bool"};
    static const char *const pieces[] = {"a",    "漢",   "\\t",          "\\\\", "e\xcc\x81",
                                         "\x1b", "\xff", "\xe2\x80\x8b", " "};
    uint64_t random = 5;
    (void)state;
    for (int round = 0; round < 2000; round++) {
        hac_text rows = HAC_TEXT_NONE;
        size_t columns = 1 + hac_random_u64(&random) % 6, n = hac_random_u64(&random) % 50, width;
        for (size_t i = 0; i < (n + 1) * columns; i++) {
            for (uint64_t k = hac_random_u64(&random) % 12; k > 0; k--)
                hac_text_add(&rows, pieces[hac_random_u64(&random) % 9]);
            hac_text_add(&rows, i % columns == columns - 1 ? "\n" : "\t");
        }
        hac_text_add_bytes(&rows, "", 1);
        width = 40 + hac_random_u64(&random) % 60;
        char *all = drawn(rows.data, types, columns, width, 1 + hac_random_u64(&random) % 99);
        size_t straight = hac_screen_width(strtok(all, "\n"));
        assert_true(straight <= width);
        for (char *line = strtok(NULL, "\n"); line != NULL; line = strtok(NULL, "\n"))
            assert_true((line[0] >= '0' && line[0] <= '9') || hac_screen_width(line) == straight);
        free(all);
        hac_text_clear(&rows);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(draws),
        cmocka_unit_test(cuts_wide_text),
        cmocka_unit_test(leaves_out_columns),
        cmocka_unit_test(cuts_rows_in_the_middle),
        cmocka_unit_test(random_tables_are_straight),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
