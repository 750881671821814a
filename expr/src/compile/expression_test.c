/* SPDX-License-Identifier: Apache-2.0 */
/* Single expressions: the columns that they read, their results, and the positions of errors. */
#include "expr/expression.h"

#include <stdio.h>
#include <string.h>

#include "expr/machine.h"
#include "test_run.h"

static const char columns[] = "unused:f32,a:i64,\"edges.a\":i32,b:f64,s:string";

static hac_status compile(const char *text, const char *as, hac_expression *ret, size_t *ret_character,
                          hac_error *err)
{
    hac_schema schema;
    hac_value_type type = {0};
    assert_int_equal(hac_schema_parse(columns, &schema, err), HAC_OK);
    if (as != NULL)
        assert_int_equal(hac_value_type_parse(as, strlen(as), &type, err), HAC_OK);
    hac_status status = hac_expression_compile(text, &schema, type, ret, ret_character, err);
    hac_schema_clear(&schema);
    return status;
}

static void test_columns_and_types(void **state)
{
    static const struct {
        const char *text, *as, *type, *reads;
    } cases[] = {
        {"a + 1", NULL, "i64", "1"},
        {"b / a", NULL, "f64", "1 3"},
        {"b * edges.a + a", NULL, "f64", "1 2 3"},
        {"\"edges.a\" > 2", NULL, "bool", "2"},
        {"0.5", NULL, "decimal(1,1)", ""},
        {"0.5", "f64", "f64", ""},
        {"edges.a", "i64", "i64", "2"},
        {"length(s)", NULL, "i64", "4"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        hac_expression e;
        hac_error err = HAC_ERROR_NONE;
        size_t character;
        char type[HAC_VALUE_TYPE_NAME_MAX], reads[64] = "";
        if (compile(cases[i].text, cases[i].as, &e, &character, &err) != HAC_OK)
            fail_msg("%s: %s", cases[i].text, err.message);
        for (size_t j = 0; j < e.n_columns; j++)
            sprintf(reads + strlen(reads), "%s%u", j > 0 ? " " : "", e.columns[j]);
        assert_string_equal(hac_value_type_name(e.type, type), cases[i].type);
        assert_string_equal(reads, cases[i].reads);
        assert_int_equal(e.program->n_outputs, 1);
        assert_int_equal(e.program->n_inputs, e.n_columns);
        hac_expression_clear(&e);
    }
}

static void test_constant_value(void **state)
{
    hac_expression e;
    hac_error err = HAC_ERROR_NONE;
    size_t character;
    hac_machine_c *machine = NULL;
    hac_column value;
    (void)state;
    assert_int_equal(compile("(1 - 0.85) * 4", "f64", &e, &character, &err), HAC_OK);
    assert_int_equal(hac_machine_c_new(e.program, 64, &machine, &err), HAC_OK);
    assert_int_equal(hac_machine_c_constant(machine, &value), HAC_ROW_OK);
    assert_float_equal(*(const double *)value.values, 0.6, 1e-15);
    hac_machine_c_free(machine);
    hac_expression_clear(&e);
}

static void test_wrong(void **state)
{
    static const struct {
        const char *text, *as;
        size_t character;
        const char *message;
    } cases[] = {
        {"a + z", NULL, 5, "z"},
        {"a +", NULL, 4, "the text ends here"},
        {"", NULL, 1, "expected"},
        {"sum(a)", NULL, 1, "use `reduce`"},
        {"null", NULL, 1, "null has no type"},
        {"edges.b", NULL, 1, "edges.b"},
        {"a . b", NULL, 3, "'.' is not part"},
        {"x'00'", "f64", 1, "which cannot become f64"},
        {"größe", NULL, 1, "größe"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        hac_expression e = {0};
        hac_error err = HAC_ERROR_NONE;
        size_t character = 99;
        assert_int_equal(compile(cases[i].text, cases[i].as, &e, &character, &err), HAC_INVALID);
        if (strstr(err.message, cases[i].message) == NULL || character != cases[i].character)
            fail_msg("'%s': character %zu: %s", cases[i].text, character, err.message);
        assert_null(strstr(err.message, "character "));
        assert_null(e.program);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_columns_and_types),
        cmocka_unit_test(test_constant_value),
        cmocka_unit_test(test_wrong),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
