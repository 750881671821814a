/* SPDX-License-Identifier: Apache-2.0 */
#include "expr/schema.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "test_run.h"

/* Prints name:type of every column, with names in brackets. */
static void show(const hac_schema *schema, char *ret, size_t capacity)
{
    char type[HAC_VALUE_TYPE_NAME_MAX];
    size_t used = 0;
    ret[0] = '\0';
    for (size_t i = 0; i < schema->n_fields && used < capacity; i++)
        used += (size_t)snprintf(ret + used, capacity - used, "[%s]%s ", schema->fields[i].name,
                                 hac_value_type_name(schema->fields[i].type, type));
}

static void test_good(void **state)
{
    static const struct {
        const char *text, *columns;
    } cases[] = {
        {"a:i64", "[a]i64 "},
        {"a:i8,b:i16,c:i32,d:i64", "[a]i8 [b]i16 [c]i32 [d]i64 "},
        {"a:u8,b:u16,c:u32,d:u64", "[a]u8 [b]u16 [c]u32 [d]u64 "},
        {"a:f32,b:f64,c:bool,d:date,e:timestamp,f:string",
         "[a]f32 [b]f64 [c]bool [d]date [e]timestamp [f]string "},
        {"a:decimal(15,2)", "[a]decimal(15,2) "},
        {" a : decimal ( 15 , 2 ) , b : string ", "[a]decimal(15,2) [b]string "},
        {"a:decimal(1,0),b:decimal(38,38)", "[a]decimal(1,0) [b]decimal(38,38) "},
        {"\"unit price\":f64", "[unit price]f64 "},
        {"\"a\"\"b\":i64", "[a\"b]i64 "},
        {"\"a,b:c\":i64,x:i8", "[a,b:c]i64 [x]i8 "},
        {"date:date,string:string,i64:u8", "[date]date [string]string [i64]u8 "},
        {"a:I64,b:Decimal(5,1),c:STRING", "[a]i64 [b]decimal(5,1) [c]string "},
        {"_a1:i64,A:i64,a:i64", "[_a1]i64 [A]i64 [a]i64 "},
        {"größe:f64", "[größe]f64 "},
        {"\xff:i64", "[\xff]i64 "},
        {"a\t:\ni64\r\n", "[a]i64 "},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        hac_schema schema = {0};
        hac_error err = HAC_ERROR_NONE;
        char found[512];
        if (hac_schema_parse(cases[i].text, &schema, &err) != HAC_OK)
            fail_msg("%s: %s", cases[i].text, err.message);
        show(&schema, found, sizeof found);
        assert_string_equal(found, cases[i].columns);
        hac_schema_clear(&schema);
        assert_null(schema.fields);
    }
}

static void test_bad(void **state)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"", "character 1: expected a column's name, found the end"},
        {"  ", "character 3: expected a column's name, found the end"},
        {"a", "character 2: expected ':' and a type behind 'a'"},
        {"a i64", "character 3: expected ':' and a type behind 'a'"},
        {"a:", "character 3: expected a type, as in name:i64"},
        {"a:,b:i64", "character 3: expected a type, as in name:i64"},
        {"a:number", "character 3: 'number' is not a type; write f64 or decimal(p,s)"},
        {"a:varchar(10)", "character 3: 'varchar(10)' is not a type; write string"},
        {"a:inch",
         "character 3: 'inch' is not a type: i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 bool date timestamp "
         "timestamptz decimal(p,s) string"},
        {"a:i64,", "character 7: expected a column's name, found the end"},
        {"a:i64 b:i64", "character 7: expected ',' between columns, found 'b'"},
        {"a:i64,a:f64", "character 7: there is a column 'a' already"},
        {"a:i64,\"a\":f64", "character 7: there is a column 'a' already"},
        {"größe:i64,größe:f64", "character 11: there is a column 'größe' already"},
        {"1a:i64", "character 1: a number is followed by 'a' at once"},
        {"1:i64", "character 1: expected a column's name, found '1'"},
        {"'a':i64", "character 1: expected a column's name, found ''a''"},
        {"\"\":i64", "character 1: a column's name has 1 to 127 bytes"},
        {"\"a:i64", "character 1: the name that begins here has no closing \""},
        {"a:decimal(", "character 3: 'decimal(' is not a type: of decimal(p,s) p is 1 to 38 digits, and s, 0 "
                       "to p, are those behind the point"},
        {"a:decimal(39,2)", "character 3: 'decimal(39,2)' is not a type: of decimal(p,s) p is 1 to 38 "
                            "digits, and s, 0 to p, are those behind the point"},
        {"a:decimal(2,3)", "character 3: 'decimal(2,3)' is not a type: of decimal(p,s) p is 1 to 38 digits, "
                           "and s, 0 to p, are those behind the point"},
        {"a:decimal(5;2)", "character 12: ';' is not part of an expression"},
        {"a:decimal(1,1,1,1,1,1,1,1,1,1,1,1,1,1)", "this is too long for the name of a type"},
        {"a:i64)", "character 6: expected ',' between columns, found ')'"},
        {"a:i64\x01", "character 6: the byte 0x01 is not part of an expression"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        hac_schema schema = {(hac_field *)&schema, 77};
        hac_error err = HAC_ERROR_NONE;
        assert_int_equal(hac_schema_parse(cases[i].text, &schema, &err), HAC_INVALID);
        if (strstr(err.message, cases[i].message) == NULL)
            fail_msg("%s: '%s' and not '%s'", cases[i].text, err.message, cases[i].message);
        assert_int_equal(schema.n_fields, 77); /* unchanged */
    }
}

static void repeat_name(char *ret, size_t bytes)
{
    memset(ret, 'x', bytes);
    strcpy(ret + bytes, ":i64");
}

static void test_limits(void **state)
{
    (void)state;
    hac_schema schema = {0};
    hac_error err = HAC_ERROR_NONE;
    char name[200];
    repeat_name(name, HAC_FIELD_NAME_MAX - 1);
    assert_int_equal(hac_schema_parse(name, &schema, &err), HAC_OK);
    assert_int_equal(strlen(schema.fields[0].name), HAC_FIELD_NAME_MAX - 1);
    hac_schema_clear(&schema);
    repeat_name(name, HAC_FIELD_NAME_MAX);
    assert_int_equal(hac_schema_parse(name, &schema, &err), HAC_INVALID);
    for (size_t n = HAC_COLUMNS_MAX; n <= HAC_COLUMNS_MAX + 1; n++) {
        hac_text text = HAC_TEXT_NONE;
        for (size_t i = 0; i < n; i++)
            hac_text_addf(&text, "%sc%zu:i64", i > 0 ? "," : "", i);
        assert_int_equal(hac_schema_parse(text.data, &schema, &err),
                         n == HAC_COLUMNS_MAX ? HAC_OK : HAC_INVALID);
        hac_text_clear(&text);
    }
    assert_string_equal(err.message, "character 2195: more than 256 columns");
    hac_schema_clear(&schema);
}

static void test_find(void **state)
{
    (void)state;
    hac_schema schema = {0};
    assert_int_equal(hac_schema_parse("a:i64,ab:i64,A:i64", &schema, NULL), HAC_OK);
    assert_int_equal(hac_schema_find(&schema, "a", 1), 0);
    assert_int_equal(hac_schema_find(&schema, "abc", 2), 1);
    assert_int_equal(hac_schema_find(&schema, "A", 1), 2);
    assert_int_equal(hac_schema_find(&schema, "abc", 3), -1);
    assert_int_equal(hac_schema_find(&schema, "", 0), -1);
    hac_schema_clear(&schema);
    hac_schema_clear(&schema);
}

static void test_print(void **state)
{
    (void)state;
    static const char text[] =
        "a:i64,\"1\":bool,\"two words\":decimal(15,2),\"a \"\" b\":string,\xc3\xa4:date,_1:f32";
    hac_schema schema = {0};
    hac_text printed = HAC_TEXT_NONE;
    assert_int_equal(hac_schema_parse(text, &schema, NULL), HAC_OK);
    hac_schema_print(&schema, &printed);
    assert_string_equal(printed.data, text);
    hac_text_clear(&printed);
    hac_schema_clear(&schema);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_print),  cmocka_unit_test(test_good), cmocka_unit_test(test_bad),
        cmocka_unit_test(test_limits), cmocka_unit_test(test_find),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
