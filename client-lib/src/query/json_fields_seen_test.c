/* SPDX-License-Identifier: Apache-2.0 */
#include "json_fields_seen.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/test_support.h"

/* The note for columns in the form of a schema, on bytes in memory of exactly their size. */
static const char *note(const char *schema, const char *text, size_t bytes, bool whole)
{
    static char ret[512];
    hac_schema columns = {0};
    hac_autofree uint8_t *data = malloc(bytes + 1);
    assert_non_null(data);
    memcpy(data + 1, text, bytes);
    const hac_json_begin begin = {data + 1, bytes, whole};
    assert_int_equal(hac_schema_parse(schema, &columns, NULL), HAC_OK);
    ret[0] = '\0';
    hac_json_fields_note(&begin, &columns, ret, sizeof(ret));
    hac_schema_clear(&columns);
    return ret;
}

static void check(const char *schema, const char *text, const char *wanted)
{
    assert_string_equal(note(schema, text, strlen(text), true), wanted);
}

static void test_names(void **state)
{
    (void)state;
    const char *s = "stauts:i64";
    check(s, "{\"status\":1,\"t\":2}\n", "no record has a field 'stauts'; did you mean 'status'?");
    check(s, "\xef\xbb\xbf{\"t\":\"{\\\"stauts\\\":1}\"}", "no record has a field 'stauts'");
    check(s, "{\"t\":1}\r\n\r\n { \"stauts\" : 2 } \r\n", "");
    check(s, "{\"stauts\":null}\n", "");
    check(s, "{}\n", "no record has a field 'stauts'");
    check(s, "{\"t\":[{\"stauts\":1}]}\n", "no record has a field 'stauts'");
    check("a:i64,bb:i64", "{\"c\":1}\n", "no record has a field 'a'; no record has a field 'bb'");
    check(s, "", "");
    check(s, "\n\n", "");
}

static void test_nested(void **state)
{
    (void)state;
    const char *text = "{\"req\":{\"ip\":1,\"net\":{\"mask\":2}},\"t\":[{\"x\":1}]}\n";
    check("\"req.ip\":i64,\"req.net.mask\":i64,t:i64", text, "");
    check("ip:i64", text, "no record has a field 'ip'; did you mean 'req.ip'?");
    check("\"req.net.msk\":i64", text, "no record has a field 'req.net.msk'; did you mean 'req.net.mask'?");
    check("\"t.x\":i64", text, "no record has a field 't.x'");
    check("\"a.b\":i64", "{\"a.b\":1}\n", "");
    /* a whole object, as text */
    check("req:string,t:string", text, "");
    check("\"req.net\":string,\"req.ip\":i64", text, "");
    check("net:string", text, "no record has a field 'net'");
}

/* Lines that are not plain JSON are the reader's matter, and so is a name with escapes. */
static void test_silent(void **state)
{
    (void)state;
    check("b:i64", "{\"a\":1}\n[1]\n", "");
    check("b:i64", "{\"a\":1}x\n", "");
    check("b:i64", "{\"a\":1,}\n", "");
    check("b:i64", "{\"a\":\"}\n", "");
    check("b:i64", "{\"a\":{\"c\":[1,2}\n", "");
    check("b:i64", "{\"\\u0062\":1}\n", "");
}

/* A line of every kind, damaged and cut: nothing behind it is read, which the sanitizers check. */
static void test_damaged(void **state)
{
    (void)state;
    static const char line[] = "{\"a\":{\"b\":[1,{\"c\":\"x\\\"\"}],\"d\":{}},\"e\":null,\"f\":\"\\\\\"}";
    for (size_t bytes = 0; bytes < sizeof(line); bytes++)
        for (size_t at = 0; at < bytes; at++) {
            char text[sizeof(line)];
            memcpy(text, line, sizeof(line));
            text[at] = "{}[]\",:\\n "[(at * 7 + bytes) % 10];
            (void)note("zz:i64", text, bytes, true);
        }
}

static void test_many_records(void **state)
{
    (void)state;
    static const char *const line = "{\"status\":1,\"n\":null}\n";
    char text[101 * 32];
    size_t used = 0;
    for (int i = 0; i < 99; i++)
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%s", line);
    assert_string_equal(note("stauts:i64", text, used, false), "");
    assert_string_equal(note("n:i64", text, used, true), "");
    used += (size_t)snprintf(text + used, sizeof(text) - used, "%s", line);
    assert_string_equal(note("stauts:i64", text, used - 1, false), ""); /* the last line may go on */
    assert_string_equal(note("stauts:i64", text, used, false),
                        "none of the first 100 records has a field 'stauts'; did you mean 'status'?");
    assert_string_equal(note("n:i64", text, used, true), "field 'n' is null in every record");
    assert_string_equal(note("n:i64", text, used, false), ""); /* a later one may have a value */
}

/* Of many columns some are named, and the text stays within its room. */
static void test_room(void **state)
{
    (void)state;
    check("a:i64,b:i64,c:i64,d:i64,e:i64,f:i64", "{}",
          "no record has a field 'a'; no record has a field 'b'; no record has a field 'c'; no record has a "
          "field 'd'");
    char schema[4 * 140] = "";
    for (int c = 'a'; c < 'e'; c++) {
        size_t used = strlen(schema);
        memset(schema + used, c, 127);
        strcpy(schema + used + 127, c < 'd' ? ":i64," : ":i64");
    }
    const char *said = note(schema, "{}", 2, true);
    assert_non_null(strstr(said, "aaaa'"));
    assert_null(strstr(said, "dddd"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),   cmocka_unit_test(test_nested),       cmocka_unit_test(test_silent),
        cmocka_unit_test(test_damaged), cmocka_unit_test(test_many_records), cmocka_unit_test(test_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
