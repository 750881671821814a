/* SPDX-License-Identifier: Apache-2.0 */
#include "base/value.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    uint8_t size;
} kinds[HAC_KIND_END] = {
    [HAC_KIND_NONE] = {"none", 0},       [HAC_KIND_BOOL] = {"bool", 1},
    [HAC_KIND_I8] = {"i8", 1},           [HAC_KIND_I16] = {"i16", 2},
    [HAC_KIND_I32] = {"i32", 4},         [HAC_KIND_I64] = {"i64", 8},
    [HAC_KIND_U8] = {"u8", 1},           [HAC_KIND_U16] = {"u16", 2},
    [HAC_KIND_U32] = {"u32", 4},         [HAC_KIND_U64] = {"u64", 8},
    [HAC_KIND_F32] = {"f32", 4},         [HAC_KIND_F64] = {"f64", 8},
    [HAC_KIND_DATE] = {"date", 4},       [HAC_KIND_TIMESTAMP] = {"timestamp", 8},
    [HAC_KIND_DECIMAL] = {"decimal", 0}, [HAC_KIND_STRING] = {"string", 0},
    [HAC_KIND_BYTES] = {"bytes", 0},
};

size_t hac_value_size(hac_value_type type)
{
    if (type.kind >= HAC_KIND_END)
        return 0;
    if (type.kind == HAC_KIND_DECIMAL)
        return type.precision <= HAC_DECIMAL_DIGITS_64 ? 8 : 16;
    return kinds[type.kind].size;
}

bool hac_value_type_equal(hac_value_type a, hac_value_type b)
{
    return a.kind == b.kind && a.precision == b.precision && a.scale == b.scale;
}

const char *hac_kind_name(hac_kind kind)
{
    return kinds[kind < HAC_KIND_END ? kind : HAC_KIND_NONE].name;
}

bool hac_kind_is_integer(hac_kind kind)
{
    return kind >= HAC_KIND_I8 && kind <= HAC_KIND_U64;
}

bool hac_kind_is_float(hac_kind kind)
{
    return kind == HAC_KIND_F32 || kind == HAC_KIND_F64;
}

bool hac_kind_is_text(hac_kind kind)
{
    return kind == HAC_KIND_STRING || kind == HAC_KIND_BYTES;
}

bool hac_value_type_valid(hac_value_type type)
{
    if (type.kind == HAC_KIND_DECIMAL)
        return type.precision >= 1 && type.precision <= HAC_DECIMAL_DIGITS_MAX &&
               type.scale <= type.precision;
    return type.kind > HAC_KIND_NONE && type.kind < HAC_KIND_END && type.precision == 0 && type.scale == 0;
}

const char *hac_value_type_name(hac_value_type type, char *ret)
{
    if (type.kind == HAC_KIND_DECIMAL)
        snprintf(ret, HAC_VALUE_TYPE_NAME_MAX, "decimal(%u,%u)", type.precision, type.scale);
    else
        snprintf(ret, HAC_VALUE_TYPE_NAME_MAX, "%s", hac_kind_name((hac_kind)type.kind));
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

static bool parse_decimal(const char *text, size_t bytes, hac_value_type *ret)
{
    size_t at = strlen("decimal"), n = 0;
    if (bytes <= at || memcmp(text, "decimal", at) != 0 || text[at++] != '(')
        return false;
    if ((n = parse_digits(text + at, bytes - at, &ret->precision)) == 0)
        return false;
    at += n;
    if (at >= bytes || text[at++] != ',')
        return false;
    if ((n = parse_digits(text + at, bytes - at, &ret->scale)) == 0)
        return false;
    at += n;
    ret->kind = HAC_KIND_DECIMAL;
    return at + 1 == bytes && text[at] == ')' && hac_value_type_valid(*ret);
}

hac_status hac_value_type_parse(const char *text, size_t bytes, hac_value_type *ret, hac_error *err)
{
    hac_value_type type = {0};
    for (unsigned k = HAC_KIND_NONE + 1; k < HAC_KIND_END; k++) {
        if (k != HAC_KIND_DECIMAL && strlen(kinds[k].name) == bytes &&
            memcmp(kinds[k].name, text, bytes) == 0) {
            ret->kind = (uint8_t)k;
            ret->precision = ret->scale = 0;
            return HAC_OK;
        }
    }
    bool decimal = bytes >= strlen("decimal") && memcmp(text, "decimal", strlen("decimal")) == 0;
    if (!parse_decimal(text, bytes, &type))
        return decimal
                   ? hac_fail(err, HAC_INVALID,
                              "'%.*s' is not a type: of decimal(p,s) p is 1 to 38 digits, and s, 0 to p, are "
                              "those behind the point",
                              (int)(bytes < 64 ? bytes : 64), text)
                   : hac_fail(
                         err, HAC_INVALID,
                         "'%.*s' is not a type: i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 bool date timestamp "
                         "decimal(p,s) string bytes",
                         (int)(bytes < 64 ? bytes : 64), text);
    *ret = type;
    return HAC_OK;
}
