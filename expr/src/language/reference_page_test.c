/* SPDX-License-Identifier: Apache-2.0 */
/* docs/expressions.md and docs/sql-words.md match the tables; the target hac_expr_docs writes them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "functions.h"
#include "test_run.h"

static void check_page(const char *path, void (*make)(hac_text *))
{
    hac_text page = HAC_TEXT_NONE;
    make(&page);
    assert_false(page.broken);
    hac_autofree char *found = calloc(1, page.bytes + 2);
    hac_autofclose FILE *in = fopen(path, "re");
    if (in == NULL)
        fail_msg("%s is missing; build the target hac_expr_docs", path);
    size_t n = fread(found, 1, page.bytes + 1, in);
    if (n != page.bytes || memcmp(found, page.data, n) != 0)
        fail_msg("%s differs from the table; build the target hac_expr_docs", path);
    hac_text_clear(&page);
}

static void test_pages(void **state)
{
    (void)state;
    check_page(HAC_SOURCE_DIR "/docs/expressions.md", hac_expression_reference);
    check_page(HAC_SOURCE_DIR "/docs/sql-words.md", hac_sql_words_page);
}

/* Each row of the table has a line of seven cells. */
static void test_rows(void **state)
{
    (void)state;
    size_t n = 0, lines = 0;
    (void)hac_functions(&n);
    hac_text page = HAC_TEXT_NONE;
    hac_expression_reference(&page);
    char *at = strstr(page.data, "\n## Functions\n");
    assert_non_null(at);
    const char *end = strstr(at, "\n### Other names\n"); /* a table of two cells */
    assert_non_null(end);
    for (char *line = at; (line = strstr(line, "\n| `")) != NULL && line < end; lines++) {
        int cells = -1;
        for (line++; *line != '\n'; line++)
            cells += line[0] == '|' && line[-1] != '\\';
        assert_int_equal(cells, 7);
    }
    assert_int_equal(lines, n);
    assert_non_null(strstr(at, "| `a \\|\\| b` | string, string | string | "));
    assert_non_null(strstr(at, "| `coalesce(a, …)` | any | that type | the first argument that is not null | "
                               "see description | yes | "
                               "`coalesce(null, 2, 3)` is `2` |"));
    assert_non_null(strstr(at, "| `exp(a)` | number | f64 | e to the power of a | null | no | "));
    hac_text_clear(&page);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pages),
        cmocka_unit_test(test_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
