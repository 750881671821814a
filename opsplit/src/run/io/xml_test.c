/* SPDX-License-Identifier: Apache-2.0 */
/* Compares XML with a text that is built byte by byte: at the ends of blocks, and with a sink that fails.
 * tests/integration/opsplit_xml_test.py reads the XML with a parser. */
#include "xml.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"

#define HEAD   "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<rows>\n"
#define BEFORE "  <row><value name=\"t\">"
#define AFTER  "</value></row>\n"
#define TAIL   "</rows>\n"
#define LOST   "\xef\xbf\xbd"

/* ---- the sink ---- */

typedef struct sunk {
    char *data;
    size_t bytes, calls, last;
    size_t fails_at; /* the call that fails; 0: none */
} sunk;

static hac_status take(void *context, const void *data, size_t bytes, hac_error *err)
{
    sunk *s = context;
    assert_true(s->fails_at == 0 || s->calls < s->fails_at); /* no call follows one that has failed */
    assert_true(s->calls == 0 || s->last == HAC_XML_BLOCK);  /* all but the last are whole blocks */
    assert_true(bytes > 0 && bytes <= HAC_XML_BLOCK);
    if (++s->calls == s->fails_at)
        return hac_fail(err, HAC_CANCELLED, "full");
    s->data = realloc(s->data, s->bytes + bytes);
    assert_non_null(s->data);
    memcpy(s->data + s->bytes, data, bytes);
    s->bytes += bytes;
    s->last = bytes;
    return HAC_OK;
}

/* ---- columns ---- */

typedef struct columns {
    struct ArrowSchema schema, fields[16], *field_list[16];
    struct ArrowArray array, values[16], *value_list[16];
    const void *buffers[16][3];
} columns;

static void begin(columns *t, int64_t rows)
{
    memset(t, 0, sizeof *t);
    t->schema = (struct ArrowSchema){.format = "+s", .children = t->field_list};
    t->array = (struct ArrowArray){.length = rows, .children = t->value_list};
}

static void add(columns *t, const char *name, const char *format, const void *values, const void *texts,
                int64_t offset)
{
    int64_t c = t->array.n_children;
    t->buffers[c][1] = values;
    t->buffers[c][2] = texts;
    t->fields[c] = (struct ArrowSchema){.format = format, .name = name};
    t->values[c] = (struct ArrowArray){.length = t->array.length, .offset = offset, .buffers = t->buffers[c]};
    t->field_list[c] = &t->fields[c];
    t->value_list[c] = &t->values[c];
    t->schema.n_children = ++t->array.n_children;
}

static hac_status write_text(const char *text, size_t bytes, sunk *s, hac_error *err)
{
    columns t;
    const int64_t offsets[] = {0, (int64_t)bytes};
    begin(&t, 1);
    add(&t, "t", "U", offsets, text, 0);
    return hac_xml_write(&t.schema, &t.array, take, s, err);
}

static void expect(const sunk *s, const char *wanted, size_t bytes)
{
    assert_int_equal(s->bytes, bytes);
    assert_memory_equal(s->data, wanted, bytes);
}

/* ---- tests ---- */

static void test_types(void **state)
{
    (void)state;
    columns t;
    sunk s = {.data = NULL};
    const uint8_t bits[] = {2};
    const int32_t i32[] = {0, INT32_MIN, 7}, short_offsets[] = {0, 1, 1, 3};
    const int64_t i64[] = {0, INT64_MIN, INT64_MAX}, offsets[] = {0, 0, 2, 3};
    const uint32_t u32[] = {0, UINT32_MAX, 1};
    const uint64_t u64[] = {0, UINT64_MAX, 1};
    const float f32[] = {0, 0.1f, -1};
    const double f64[] = {0, 0.1, -1e300};
    begin(&t, 2);
    add(&t, "b", "b", bits, NULL, 1);
    add(&t, "i", "i", i32, NULL, 1);
    add(&t, "l", "l", i64, NULL, 1);
    add(&t, "I", "I", u32, NULL, 1);
    add(&t, "L", "L", u64, NULL, 1);
    add(&t, "f", "f", f32, NULL, 1);
    add(&t, "g", "g", f64, NULL, 1);
    add(&t, "u", "u", short_offsets, "abc", 1);
    add(&t, "U", "U", offsets, "def", 1);
    assert_int_equal(hac_xml_write(&t.schema, &t.array, take, &s, NULL), HAC_OK);
#define ROW(b, i, l, I, L, f, g, u, U)                                                                       \
    "  <row><value name=\"b\">" b "</value><value name=\"i\">" i "</value><value name=\"l\">" l              \
    "</value><value name=\"I\">" I "</value><value name=\"L\">" L "</value><value name=\"f\">" f             \
    "</value><value name=\"g\">" g "</value><value name=\"u\">" u "</value><value name=\"U\">" U             \
    "</value></row>\n"
    static const char wanted[] = HEAD ROW("true", "-2147483648", "-9223372036854775808", "4294967295",
                                          "18446744073709551615", "0.1", "0.1", "", "de")
        ROW("false", "7", "9223372036854775807", "1", "1", "-1.0", "-1e+300", "bc", "f") TAIL;
    expect(&s, wanted, sizeof wanted - 1);
    free(s.data);
}

static void test_no_rows_no_columns(void **state)
{
    (void)state;
    columns t;
    sunk s = {.data = NULL};
    begin(&t, 0);
    assert_int_equal(hac_xml_write(&t.schema, &t.array, take, &s, NULL), HAC_OK);
    expect(&s, HEAD TAIL, strlen(HEAD TAIL));
    free(s.data);
}

static void test_characters(void **state)
{
    (void)state;
    static const struct {
        const char *text, *value, *name; /* name NULL: the name is the value */
    } cases[] = {
        {"a<b>c&d\"e'", "a&lt;b&gt;c&amp;d&quot;e'", NULL},
        {"]]>", "]]&gt;", NULL},
        {"\t\n\r", "\t\n&#13;", "&#9;&#10;&#13;"},
        {"\x01\x08\x0b\x0c\x0e\x1f\x7f", LOST LOST LOST LOST LOST LOST "\x7f", NULL},
        {"\xc2\x80\xc3\xa4\xe2\x82\xac\xf0\x9f\x99\x82", "\xc2\x80\xc3\xa4\xe2\x82\xac\xf0\x9f\x99\x82",
         NULL},
        {"\xed\x9f\xbf\xee\x80\x80\xef\xbf\xbd\xf4\x8f\xbf\xbf",
         "\xed\x9f\xbf\xee\x80\x80\xef\xbf\xbd\xf4\x8f\xbf\xbf", NULL},
        {"\xef\xbf\xbe|\xef\xbf\xbf", LOST "|" LOST, NULL},
        {"\xed\xa0\x80", LOST LOST LOST, NULL},          /* half a UTF-16 pair */
        {"\xf4\x90\x80\x80", LOST LOST LOST LOST, NULL}, /* beyond Unicode */
        {"\xc0\xaf", LOST LOST, NULL},                   /* longer than needed */
        {"\xe2\x82", LOST LOST, NULL},                   /* cut off */
        {"\xe2\x82<", LOST LOST "&lt;", NULL},
        {"\xff"
         "a\x80",
         LOST "a" LOST, NULL},
        {"", "", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        columns t;
        sunk s = {.data = NULL};
        char wanted[256];
        const int64_t offsets[] = {0, (int64_t)strlen(cases[i].text)};
        begin(&t, 1);
        add(&t, cases[i].text, "U", offsets, cases[i].text, 0);
        assert_int_equal(hac_xml_write(&t.schema, &t.array, take, &s, NULL), HAC_OK);
        snprintf(wanted, sizeof wanted, HEAD "  <row><value name=\"%s\">%s" AFTER TAIL,
                 cases[i].name != NULL ? cases[i].name : cases[i].value, cases[i].value);
        expect(&s, wanted, strlen(wanted));
        free(s.data);
    }
}

/* A zero byte is a control character too. */
static void test_zero(void **state)
{
    (void)state;
    sunk s = {.data = NULL};
    assert_int_equal(write_text("a\0b", 3, &s, NULL), HAC_OK);
    expect(&s, HEAD BEFORE "a" LOST "b" AFTER TAIL, strlen(HEAD BEFORE "a" LOST "b" AFTER TAIL));
    free(s.data);
}

/* The whole text has one to three blocks, a byte less and a byte more; then each escape lies across the
 * end of a block. */
static void test_blocks(void **state)
{
    (void)state;
    const size_t frame = strlen(HEAD BEFORE AFTER TAIL);
    char *text = malloc(4 * HAC_XML_BLOCK), *wanted = malloc(4 * HAC_XML_BLOCK);
    assert_true(text != NULL && wanted != NULL);
    memset(text, 'x', 4 * HAC_XML_BLOCK);
    for (size_t blocks = 1; blocks <= 3; blocks++)
        for (size_t more = 0; more <= 2; more++) {
            size_t bytes = blocks * HAC_XML_BLOCK + more - 1, n = bytes - frame;
            sunk s = {.data = NULL};
            assert_int_equal(write_text(text, n, &s, NULL), HAC_OK);
            assert_int_equal(s.calls, (bytes + HAC_XML_BLOCK - 1) / HAC_XML_BLOCK);
            snprintf(wanted, 4 * HAC_XML_BLOCK, "%s%.*s%s", HEAD BEFORE, (int)n, text, AFTER TAIL);
            expect(&s, wanted, bytes);
            free(s.data);
        }
    for (size_t n = HAC_XML_BLOCK - frame - 8; n < HAC_XML_BLOCK; n++) {
        static const char odd[] = "<\xe2\x82\xac\r\x01&\xff";
        sunk s = {.data = NULL};
        memcpy(text + n, odd, strlen(odd));
        assert_int_equal(write_text(text, n + strlen(odd), &s, NULL), HAC_OK);
        memset(text + n, 'x', strlen(odd));
        snprintf(wanted, 4 * HAC_XML_BLOCK, "%s%.*s%s", HEAD BEFORE, (int)n, text,
                 "&lt;\xe2\x82\xac&#13;" LOST "&amp;" LOST AFTER TAIL);
        expect(&s, wanted, strlen(wanted));
        free(s.data);
    }
    free(text);
    free(wanted);
}

static void test_failures(void **state)
{
    (void)state;
    hac_error err = HAC_ERROR_NONE;
    char *text = malloc(8 * HAC_XML_BLOCK);
    assert_non_null(text);
    memset(text, '&', 8 * HAC_XML_BLOCK);
    for (size_t call = 1; call <= 3; call++) {
        sunk s = {.fails_at = call};
        assert_int_equal(write_text(text, 8 * HAC_XML_BLOCK, &s, &err), HAC_CANCELLED);
        assert_string_equal(err.message, "full");
        assert_int_equal(s.calls, call);
        free(s.data);
    }
    sunk s = {.fails_at = 1}; /* less than a block comes at the end */
    assert_int_equal(write_text(text, 1, &s, &err), HAC_CANCELLED);
    columns t;
    sunk none = {.data = NULL};
    begin(&t, 1);
    add(&t, "day", "tdD", NULL, NULL, 0);
    assert_int_equal(hac_xml_write(&t.schema, &t.array, take, &none, &err), HAC_INTERNAL);
    assert_string_equal(err.message, "column day has the Arrow type tdD, which cannot be written as XML");
    assert_int_equal(none.calls, 0);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_types),      cmocka_unit_test(test_no_rows_no_columns),
        cmocka_unit_test(test_characters), cmocka_unit_test(test_zero),
        cmocka_unit_test(test_blocks),     cmocka_unit_test(test_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
