/* SPDX-License-Identifier: Apache-2.0 */
#include "base/value.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

/* Of parquet.thrift: Type and ConvertedType. */
enum { BOOLEAN = 0, INT32 = 1, INT64 = 2, FLOAT = 4, DOUBLE = 5, BYTE_ARRAY = 6, FIXED = 7 };
enum {
    UTF8 = 0,
    DECIMAL = 5,
    DATE = 6,
    TIMESTAMP_MICROS = 10, /* old readers take it for UTC; the specification asks for it all the same */
    UINT_8 = 11,
    UINT_16 = 12,
    UINT_32 = 13,
    UINT_64 = 14,
    INT_8 = 15,
    INT_16 = 16,
    INT_32 = 17
};

/* bindings/jni/tests/types_test.py reads these rows. */
/* clang-format off */
const hac_kind_info hac_kinds[HAC_KIND_END] = {
    [HAC_KIND_NONE]      = {"none",      HAC_CLASS_NONE,    false, 0, 0,  NULL,   0,          -1},
    [HAC_KIND_BOOL]      = {"bool",      HAC_CLASS_BOOL,    false, 1, 1,  "b",    BOOLEAN,    -1},
    [HAC_KIND_I8]        = {"i8",        HAC_CLASS_INTEGER, true,  1, 7,  "c",    INT32,      INT_8},
    [HAC_KIND_I16]       = {"i16",       HAC_CLASS_INTEGER, true,  2, 15, "s",    INT32,      INT_16},
    [HAC_KIND_I32]       = {"i32",       HAC_CLASS_INTEGER, true,  4, 31, "i",    INT32,      INT_32},
    [HAC_KIND_I64]       = {"i64",       HAC_CLASS_INTEGER, true,  8, 63, "l",    INT64,      -1},
    [HAC_KIND_U8]        = {"u8",        HAC_CLASS_INTEGER, false, 1, 8,  "C",    INT32,      UINT_8},
    [HAC_KIND_U16]       = {"u16",       HAC_CLASS_INTEGER, false, 2, 16, "S",    INT32,      UINT_16},
    [HAC_KIND_U32]       = {"u32",       HAC_CLASS_INTEGER, false, 4, 32, "I",    INT32,      UINT_32},
    [HAC_KIND_U64]       = {"u64",       HAC_CLASS_INTEGER, false, 8, 64, "L",    INT64,      UINT_64},
    [HAC_KIND_F32]       = {"f32",       HAC_CLASS_FLOAT,   true,  4, 0,  "f",    FLOAT,      -1},
    [HAC_KIND_F64]       = {"f64",       HAC_CLASS_FLOAT,   true,  8, 0,  "g",    DOUBLE,     -1},
    [HAC_KIND_DATE]      = {"date",      HAC_CLASS_TIME,    true,  4, 31, "tdD",  INT32,      DATE},
    [HAC_KIND_TIMESTAMP] = {"timestamp", HAC_CLASS_TIME,    true,  8, 63, "tsu:", INT64,      TIMESTAMP_MICROS},
    [HAC_KIND_DECIMAL]   = {"decimal",   HAC_CLASS_DECIMAL, true,  0, 0,  "d:",   FIXED,      DECIMAL},
    [HAC_KIND_STRING]    = {"string",    HAC_CLASS_TEXT,    false, 0, 0,  "u",    BYTE_ARRAY, UTF8},
    [HAC_KIND_BYTES]     = {"bytes",     HAC_CLASS_TEXT,    false, 0, 0,  "z",    BYTE_ARRAY, -1},
};
/* clang-format on */
_Static_assert(HAC_KIND_END == HAC_KIND_BYTES + 1, "a new kind has a row in hac_kinds");

size_t hac_value_size(hac_value_type type)
{
    if (type.kind >= HAC_KIND_END)
        return 0;
    if (type.kind == HAC_KIND_DECIMAL)
        return type.precision <= HAC_DECIMAL_DIGITS_64 ? 8 : 16;
    return hac_kinds[type.kind].bytes;
}

bool hac_value_type_equal(hac_value_type a, hac_value_type b)
{
    return a.kind == b.kind && a.precision == b.precision && a.scale == b.scale;
}

bool hac_value_type_has_zone(hac_value_type type)
{
    return type.kind == HAC_KIND_TIMESTAMP && type.precision == HAC_WITH_ZONE;
}

static bool integer_holds(hac_kind wide, hac_kind narrow)
{
    return hac_kinds[wide].bits >= hac_kinds[narrow].bits &&
           (hac_kinds[wide].is_signed || !hac_kinds[narrow].is_signed);
}

bool hac_value_type_holds(hac_value_type wide, hac_value_type narrow)
{
    if (hac_kind_is_integer(wide.kind) && hac_kind_is_integer(narrow.kind))
        return integer_holds(wide.kind, narrow.kind);
    if (wide.kind == HAC_KIND_DECIMAL && narrow.kind == HAC_KIND_DECIMAL)
        return wide.scale == narrow.scale && wide.precision >= narrow.precision;
    if (wide.kind == HAC_KIND_TIMESTAMP && narrow.kind == HAC_KIND_TIMESTAMP)
        return true;
    return hac_value_type_equal(wide, narrow) || (wide.kind == HAC_KIND_F64 && narrow.kind == HAC_KIND_F32) ||
           (wide.kind == HAC_KIND_BYTES && narrow.kind == HAC_KIND_STRING);
}

bool hac_value_type_common(hac_value_type a, hac_value_type b, hac_value_type *ret)
{
    if (hac_value_type_holds(a, b) || hac_value_type_holds(b, a)) {
        *ret = hac_value_type_holds(a, b) && !hac_value_type_has_zone(b) ? a : b;
        return true;
    }
    for (unsigned kind = HAC_KIND_I8; kind <= HAC_KIND_I64; kind++) { /* u32 and i32: i64 */
        const hac_value_type both = {.kind = (uint8_t)kind};
        if (hac_value_type_holds(both, a) && hac_value_type_holds(both, b)) {
            *ret = both;
            return true;
        }
    }
    return false;
}

const char *hac_kind_name(hac_kind kind)
{
    return hac_kinds[kind < HAC_KIND_END ? kind : HAC_KIND_NONE].name;
}

bool hac_kind_is_number(hac_kind kind)
{
    return hac_kind_is_integer(kind) || hac_kind_is_float(kind) || kind == HAC_KIND_DECIMAL;
}

bool hac_kind_is_integer(hac_kind kind)
{
    return kind < HAC_KIND_END && hac_kinds[kind].class == HAC_CLASS_INTEGER;
}

bool hac_kind_is_float(hac_kind kind)
{
    return kind < HAC_KIND_END && hac_kinds[kind].class == HAC_CLASS_FLOAT;
}

bool hac_kind_is_text(hac_kind kind)
{
    return kind < HAC_KIND_END && hac_kinds[kind].class == HAC_CLASS_TEXT;
}

bool hac_value_type_valid(hac_value_type type)
{
    if (type.kind == HAC_KIND_DECIMAL)
        return type.precision >= 1 && type.precision <= HAC_DECIMAL_DIGITS_MAX &&
               type.scale <= type.precision;
    if (hac_value_type_has_zone(type))
        return type.scale == 0;
    return type.kind > HAC_KIND_NONE && type.kind < HAC_KIND_END && type.precision == 0 && type.scale == 0;
}

const char *hac_value_type_name(hac_value_type type, char *ret)
{
    if (type.kind == HAC_KIND_DECIMAL)
        snprintf(ret, HAC_VALUE_TYPE_NAME_MAX, "decimal(%u,%u)", type.precision, type.scale);
    else
        snprintf(ret, HAC_VALUE_TYPE_NAME_MAX, "%s%s", hac_kind_name((hac_kind)type.kind),
                 hac_value_type_has_zone(type) ? "tz" : "");
    return ret;
}

/* "(15,2)": 0 when it is none. */
static size_t parse_digits(const char *text, size_t bytes, uint8_t *ret)
{
    size_t n = 0;
    unsigned value = 0;
    for (; n < bytes && n < 2 && text[n] >= '0' && text[n] <= '9'; n++)
        value = value * 10 + (unsigned)(text[n] - '0');
    *ret = (uint8_t)value;
    return n;
}

static bool is_decimal(const char *text, size_t bytes)
{
    _Static_assert(sizeof "decimal" == sizeof "numeric", "both names have one length");
    size_t n = strlen("decimal");
    return bytes >= n && (memcmp(text, "decimal", n) == 0 || memcmp(text, "numeric", n) == 0) &&
           (bytes == n || text[n] == '(');
}

/* decimal(p,s); decimal(p) has the scale 0, as SQL has it, and decimal alone is DuckDB's decimal(18,3). */
static bool parse_decimal(const char *text, size_t bytes, hac_value_type *ret)
{
    size_t at = strlen("decimal"), n = 0;
    *ret = (hac_value_type){HAC_KIND_DECIMAL, 18, 3};
    if (bytes == at)
        return true;
    if ((n = parse_digits(text + at + 1, bytes - at - 1, &ret->precision)) == 0)
        return false;
    at += 1 + n;
    ret->scale = 0;
    if (at + 1 == bytes && text[at] == ')')
        return hac_value_type_valid(*ret);
    if (at >= bytes || text[at++] != ',')
        return false;
    if ((n = parse_digits(text + at, bytes - at, &ret->scale)) == 0)
        return false;
    at += n;
    return at + 1 == bytes && text[at] == ')' && hac_value_type_valid(*ret);
}

/* Our name of a type that others name differently, with or without a length in brackets; NULL: none. */
static const char *our_type(const char *text, size_t bytes)
{
    static const char *const names[][2] = {
        {"int4", "i32"},
        {"int32", "i32"},
        {"long", "i64"},
        {"int8", "i64"},
        {"int64", "i64"},
        {"int16", "i16"},
        {"uint8", "u8"},
        {"uint16", "u16"},
        {"uint32", "u32"},
        {"uint64", "u64"},
        {"float64", "f64"},
        {"float8", "f64"},
        {"float32", "f32"},
        {"float4", "f32"},
        {"varchar", "string"},
        {"char", "string"},
        {"str", "string"},
        {"utf8", "string"},
        {"uhugeint", "decimal(38,0)"},
        {"number", "f64 or decimal(p,s)"},
    };
    const char *bracket = memchr(text, '(', bytes);
    size_t n = bracket != NULL ? (size_t)(bracket - text) : bytes;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i][0]) == n && strncasecmp(names[i][0], text, n) == 0)
            return names[i][1];
    return NULL;
}

/* SQL's names of types, which are aliases, and the name of the type that has no kind of its own. */
#define PLAIN(kind)                                                                                          \
    {                                                                                                        \
        HAC_KIND_##kind, 0, 0                                                                                \
    }
static const struct {
    const char *name;
    hac_value_type type;
} aliases[] = {
    {"int", PLAIN(I32)},
    {"integer", PLAIN(I32)},
    {"bigint", PLAIN(I64)},
    {"smallint", PLAIN(I16)},
    {"tinyint", PLAIN(I8)},
    {"double", PLAIN(F64)},
    {"float", PLAIN(F32)},
    {"real", PLAIN(F32)},
    {"varchar", PLAIN(STRING)},
    {"text", PLAIN(STRING)},
    {"boolean", PLAIN(BOOL)},
    {"timestamptz", {HAC_KIND_TIMESTAMP, HAC_WITH_ZONE, 0}},
    {"utinyint", PLAIN(U8)},
    {"usmallint", PLAIN(U16)},
    {"uinteger", PLAIN(U32)},
    {"ubigint", PLAIN(U64)},
    {"blob", PLAIN(BYTES)},
    {"bytea", PLAIN(BYTES)},
    {"binary", PLAIN(BYTES)},
    {"varbinary", PLAIN(BYTES)},
    {"logical", PLAIN(BOOL)},
    {"datetime", PLAIN(TIMESTAMP)},
    {"hugeint", {HAC_KIND_DECIMAL, HAC_DECIMAL_DIGITS_MAX, 0}},
};

const char *hac_value_type_alias(size_t index, hac_value_type *ret)
{
    if (index >= sizeof aliases / sizeof *aliases)
        return NULL;
    *ret = aliases[index].type;
    return aliases[index].name;
}

hac_status hac_value_type_parse(const char *text, size_t bytes, hac_value_type *ret, hac_error *err)
{
    hac_value_type type = {0};
    for (unsigned k = HAC_KIND_NONE + 1; k < HAC_KIND_END; k++) {
        if (k != HAC_KIND_DECIMAL && strlen(hac_kinds[k].name) == bytes &&
            memcmp(hac_kinds[k].name, text, bytes) == 0) {
            ret->kind = (uint8_t)k;
            ret->precision = ret->scale = 0;
            return HAC_OK;
        }
    }
    for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++) {
        if (strlen(aliases[i].name) == bytes && strncasecmp(aliases[i].name, text, bytes) == 0) {
            *ret = aliases[i].type;
            return HAC_OK;
        }
    }
    const char *ours = our_type(text, bytes);
    if (ours != NULL)
        return hac_fail(err, HAC_INVALID, "'%.*s' is not a type; write %s", (int)(bytes < 64 ? bytes : 64),
                        text, ours);
    bool decimal = is_decimal(text, bytes);
    if (!decimal || !parse_decimal(text, bytes, &type))
        return decimal
                   ? hac_fail(err, HAC_INVALID,
                              "'%.*s' is not a type: of decimal(p,s) p is 1 to 38 digits, and s, 0 to p, are "
                              "those behind the point",
                              (int)(bytes < 64 ? bytes : 64), text)
                   : hac_fail(
                         err, HAC_INVALID,
                         "'%.*s' is not a type: i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 bool date timestamp "
                         "timestamptz decimal(p,s) string bytes",
                         (int)(bytes < 64 ? bytes : 64), text);
    *ret = type;
    return HAC_OK;
}
