/* SPDX-License-Identifier: Apache-2.0 */
/* The table of functions: every row can be reached, has operations for its arguments, and gives the value of
 * its example. */
#include "functions.h"

#include <stdio.h>
#include <string.h>

#include "test_run.h"

/* Every example gives its value. Aggregates are over a column x. */
static void test_examples(void **state)
{
    (void)state;
    size_t n = 0;
    const hac_function *rows = hac_functions(&n);
    for (size_t i = 0; i < n; i++) {
        char found[512];
        if (hac_is_aggregate(&rows[i]))
            continue;
        assert_non_null(rows[i].gives);
        test_value(rows[i].example, found, sizeof found);
        if (strcmp(found, rows[i].gives) != 0)
            fail_msg("%s is %s and not %s", rows[i].example, found, rows[i].gives);
    }
}

static void test_aggregate_examples(void **state)
{
    (void)state;
    size_t n = 0;
    const hac_function *rows = hac_functions(&n);
    for (size_t i = 0; i < n; i++) {
        hac_query_text text = {.schema = "x:i32",
                               .select = rows[i].example,
                               .limit = UINT64_MAX,
                               .source = {.format = HAC_INPUT_JSONL}};
        hac_query *query = NULL;
        hac_error err = HAC_ERROR_NONE;
        if (!hac_is_aggregate(&rows[i]))
            continue;
        if (hac_query_compile(&text, NULL, &query, &err) != HAC_OK)
            fail_msg("%s: %s", rows[i].example, err.message);
        assert_int_equal(query->n_aggregates, 1);
        assert_int_equal(query->aggregate[0].function, rows[i].k);
        hac_query_free(query);
    }
}

/* The examples with columns in place of constants: nothing is folded, and the machine runs. */
static void test_on_columns(void **state)
{
    static const struct {
        char letter;
        const char *columns[4];
    } kinds[] = {
        {'I', {"i8", "u8", "i64", "u64"}},
        {'i', {"i8", "u32", "i64", "u64"}},
        {'F', {"f32", "f32", "f32", "f32"}},
        {'N', {"f64", "f32", "i64", "w"}},
        {'B', {"b", "b", "b", "b"}},
        {'S', {"s", "s", "s", "s"}},
        {'Y', {"raw", "raw", "raw", "raw"}},
        {'D', {"p", "w", "p", "w"}},
        {'E', {"p", "w", "p", "w"}},
        {'d', {"d", "d", "d", "d"}},
        {'t', {"t", "t", "t", "t"}},
        {'p', {"'a'", "'%'", "'!'", "'_'"}},
        {'k', {"1", "2", "3", "3"}},
        {'u', {"'year'", "'month'", "'week'", "'quarter'"}},
        {'n', {"0", "0.5", "1", "1e0"}},
        {'X', {"s", "s", "s", "s"}},
        {'f', {"'%Y'", "'%H:%M'", "'%%'", "'x'"}},
        {'r', {"'(a)(b)(c)'", "'(b+)(a)(c)|'", "'(.)(.)(.)'", "'^()()()$'"}},
        {'o', {"'i'", "'s'", "'c'", "''"}},
        {'j', {"'$'", "'$.a[0]'", "'a'", "'/a/0'"}},
        {'A', {"d", "s", "w", "b"}},
        {'C', {"f32", "i64", "u64", "w"}},
        {'M', {"f32", "i64", "t", "w"}},
    };
    (void)state;
    size_t n = 0;
    const hac_function *rows = hac_functions(&n);
    for (size_t i = 0; i < n; i++) {
        const hac_function *row = &rows[i];
        bool named = row->name[0] >= 'a' && row->name[0] <= 'z' && strchr(row->name, ' ') == NULL &&
                     strcmp(row->name, "and") != 0 && strcmp(row->name, "or") != 0 &&
                     strcmp(row->name, "not") != 0 && strcmp(row->name, "in") != 0 &&
                     strcmp(row->name, "like") != 0 && strcmp(row->name, "negate") != 0 &&
                     strcmp(row->name, "plus") != 0;
        size_t letters = strlen(row->args) - (strchr(row->args, '+') != NULL);
        for (size_t variant = 0; variant < 4 && named && !hac_is_aggregate(row); variant++) {
            char text[256], found[2048];
            size_t used = (size_t)snprintf(text, sizeof text, "%s(", row->name);
            for (size_t a = 0; a < letters; a++) {
                char letter = hac_function_letter(row, a, letters);
                for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
                    if (kinds[k].letter == letter)
                        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", a > 0 ? ", " : "",
                                                 kinds[k].columns[variant]);
            }
            snprintf(text + used, sizeof text - used, ")");
            if (test_run(text, found, sizeof found)[0] == '\0')
                fail_msg("%s: %s", text, found);
        }
    }
}

static void test_rows(void **state)
{
    (void)state;
    size_t n = 0;
    const hac_function *rows = hac_functions(&n);
    for (size_t i = 0; i < n; i++) {
        assert_true(rows[i].text != NULL && rows[i].example != NULL);
        assert_true(rows[i].section < HAC_SECTIONS);
        /* rows of a section are adjacent, and rows of a name */
        for (size_t j = i + 2; j < n; j++)
            if (strcmp(rows[i].name, rows[j].name) == 0 && strcmp(rows[i].name, rows[j - 1].name) != 0)
                fail_msg("the rows of %s do not follow each other", rows[i].name);
        assert_true(i == 0 || rows[i].section >= rows[i - 1].section);
        /* the first row of a name has a text */
        if (i == 0 || strcmp(rows[i].name, rows[i - 1].name) != 0)
            assert_ptr_equal(hac_function_find(rows[i].name), &rows[i]);
        assert_true(hac_is_aggregate(&rows[i]) || (rows[i].emit != NULL) != (rows[i].ops != NULL));
    }
    assert_null(hac_function_find("nothing"));
    assert_null(hac_function_find("LOWER"));
}

static void test_letters(void **state)
{
    (void)state;
    const hac_function *substr = hac_function_find("substr"), *coalesce = hac_function_find("coalesce");
    const hac_function *greatest = hac_function_find("greatest"), *pi = hac_function_find("pi");
    assert_int_equal(hac_function_letter(substr, 0, 2), 'S');
    assert_int_equal(hac_function_letter(substr, 1, 2), 'i');
    assert_int_equal(hac_function_letter(substr, 1, 3), 0);
    assert_int_equal(hac_function_letter(coalesce, 0, 1), 'X');
    assert_int_equal(hac_function_letter(coalesce, 41, 42), 'X');
    assert_int_equal(hac_function_letter(greatest, 0, 1), 0);
    assert_int_equal(hac_function_letter(greatest, 1, 2), 'X');
    assert_int_equal(hac_function_letter(pi, 0, 1), 0);
    assert_int_equal(hac_function_letter(hac_function_find("="), 1, 2), 'C');
    assert_int_equal(hac_function_letter(hac_function_find("="), 1, 3), 0);
    assert_int_equal(hac_function_letter(hac_function_find("in"), 5, 6), 'C');
}

static void test_exact(void **state)
{
    (void)state;
    assert_false(hac_function_exact(hac_function_find("exp")));
    assert_false(hac_function_exact(hac_function_find("pow")));
    assert_true(hac_function_exact(hac_function_find("sqrt")));
    assert_true(hac_function_exact(hac_function_find("+")));
    assert_true(hac_function_exact(hac_function_find("if")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_examples),   cmocka_unit_test(test_aggregate_examples),
        cmocka_unit_test(test_on_columns), cmocka_unit_test(test_rows),
        cmocka_unit_test(test_letters),    cmocka_unit_test(test_exact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
