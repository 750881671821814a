/* SPDX-License-Identifier: Apache-2.0 */
/* Made names against what a reader would do by hand: no name is empty or comes twice, and every name that
 * is the first of its kind stays. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/test_support.h"
#include "expr/column_names.h"

static void complete(const char *const *names, size_t n, hac_schema *ret)
{
    *ret = (hac_schema){.fields = calloc(n + 1, sizeof(hac_field)), .n_fields = n};
    for (size_t i = 0; i < n; i++)
        strcpy(ret->fields[i].name, names[i]);
    assert_int_equal(hac_column_names_complete(ret, NULL), HAC_OK);
}

static void test_examples(void **state)
{
    (void)state;
    static const struct {
        const char *names[5], *right[5], *note;
        size_t n;
    } cases[] = {
        {{"a", "b"}, {"a", "b"}, "", 2},
        {{"", "x", ""}, {"column1", "x", "column3"}, "column1, column3", 3},
        {{"a", "a", "a"}, {"a", "a_1", "a_2"}, "a_1, a_2", 3},
        {{"a", "a_1", "a"}, {"a", "a_1", "a_2"}, "a_2", 3},
        {{"a", "a", "a_1"}, {"a", "a_2", "a_1"}, "a_2", 3},
        {{"", "column1", "column1"}, {"column1_1", "column1", "column1_2"}, "column1_1, column1_2", 3},
        {{"", "", "", "", ""},
         {"column1", "column2", "column3", "column4", "column5"},
         "column4 and so on (5)",
         5}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        hac_schema schema;
        char note[256];
        complete(cases[c].names, cases[c].n, &schema);
        for (size_t i = 0; i < cases[c].n; i++) {
            assert_string_equal(schema.fields[i].name, cases[c].right[i]);
            assert_int_equal(schema.fields[i].made, strcmp(cases[c].names[i], cases[c].right[i]) != 0);
        }
        hac_column_names_note(&schema, note, sizeof note);
        assert_true(cases[c].note[0] == '\0' ? note[0] == '\0' : strstr(note, cases[c].note) != NULL);
        hac_schema_clear(&schema);
    }
}

static void check_all(const char *const *names, size_t n)
{
    hac_schema schema;
    complete(names, n, &schema);
    for (size_t i = 0; i < n; i++) {
        bool first = names[i][0] != '\0';
        for (size_t j = 0; j < i; j++) {
            assert_string_not_equal(schema.fields[i].name, schema.fields[j].name);
            first = first && strcmp(names[i], names[j]) != 0;
        }
        assert_true(schema.fields[i].name[0] != '\0' && strlen(schema.fields[i].name) < HAC_FIELD_NAME_MAX);
        assert_int_equal(schema.fields[i].made, !first);
        if (first)
            assert_string_equal(schema.fields[i].name, names[i]);
    }
    hac_schema_clear(&schema);
}

static void test_random(void **state)
{
    (void)state;
    enum { MOST = 300 };
    static char text[MOST][HAC_FIELD_NAME_MAX];
    const char *names[MOST];
    unsigned seed = 1;
    for (int run = 0; run < 100; run++) {
        size_t n = (size_t)rand_r(&seed) % MOST, same = 1 + (size_t)rand_r(&seed) % 40;
        for (size_t i = 0; i < n; i++) {
            size_t which = (size_t)rand_r(&seed) % same;
            char *name = text[i];
            memset(name, 0, HAC_FIELD_NAME_MAX);
            if (which % 4 == 1)
                snprintf(name, HAC_FIELD_NAME_MAX, "a_%zu", which / 4);
            else if (which % 4 == 2)
                snprintf(name, HAC_FIELD_NAME_MAX, "column%zu", which);
            else if (which % 4 == 3) /* as long as can be: a suffix needs room */
                memset(name, 'x', HAC_FIELD_NAME_MAX - 1 - which / 4);
            names[i] = name;
        }
        check_all(names, n);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_examples), cmocka_unit_test(test_random)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
