/* SPDX-License-Identifier: Apache-2.0 */
#include "arrow_type.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

enum { VIEW_BYTES = 16 };

static bool begins(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* ---- what is read ---- */

/* Reads the formats "d:15,2" and "d:15,2,64". */
static bool read_decimal(const char *format, hac_arrow_type *ret)
{
    unsigned precision, scale, bits = 128;
    int used = 0, more = 0;
    if (sscanf(format, "d:%3u,%3u%n", &precision, &scale, &used) != 2)
        return false;
    if (format[used] == ',' && (sscanf(format + used, ",%4u%n", &bits, &more) != 1))
        return false;
    if (format[used + more] != '\0' || (bits != 128 && bits != 64 && bits != 32) ||
        precision > HAC_DECIMAL_DIGITS_MAX || scale > precision)
        return false;
    ret->type = (hac_value_type){HAC_KIND_DECIMAL, (uint8_t)precision, (uint8_t)scale};
    ret->layout = HAC_ARROW_FIXED;
    ret->width = bits / 8;
    ret->conversion = HAC_ARROW_RESIZE;
    /* An array of 64 bits has at most 18 digits, one of 32 bits 9. */
    return hac_value_type_valid(ret->type) && (bits != 32 || precision <= 9) &&
           ret->width >= (bits == 32 ? 4 : hac_value_size(ret->type));
}

/* Reads the formats "w:16" … of a fixed number of bytes. */
static bool read_wide(const char *format, hac_arrow_type *ret)
{
    char *end;
    if (format[2] < '0' || format[2] > '9')
        return false;
    unsigned long width = strtoul(format + 2, &end, 10);
    if (*end != '\0' || width > INT32_MAX)
        return false;
    ret->type.kind = HAC_KIND_BYTES;
    ret->layout = HAC_ARROW_FIXED;
    ret->width = (uint32_t)width;
    return true;
}

/* Formats that are not those of a kind. A zone may follow the prefix of a timestamp. */
static const struct {
    const char *format;
    bool prefix;
    uint8_t kind, layout;
    uint32_t width;
    uint8_t conversion;
    int64_t factor;
} odd_formats[] = {
    {"n", false, HAC_KIND_STRING, HAC_ARROW_NULLS, 0, HAC_ARROW_AS_IS, 0},
    {"e", false, HAC_KIND_F32, HAC_ARROW_FIXED, 2, HAC_ARROW_WIDEN, 0},
    {"tdm", false, HAC_KIND_DATE, HAC_ARROW_FIXED, 8, HAC_ARROW_DAYS, 86400000},
    {"tss:", true, HAC_KIND_TIMESTAMP, HAC_ARROW_FIXED, 8, HAC_ARROW_MULTIPLY, 1000000},
    {"tsm:", true, HAC_KIND_TIMESTAMP, HAC_ARROW_FIXED, 8, HAC_ARROW_MULTIPLY, 1000},
    {"tsu:", true, HAC_KIND_TIMESTAMP, HAC_ARROW_FIXED, 8, HAC_ARROW_AS_IS, 0},
    {"tsn:", true, HAC_KIND_TIMESTAMP, HAC_ARROW_FIXED, 8, HAC_ARROW_DIVIDE, 1000},
    {"U", false, HAC_KIND_STRING, HAC_ARROW_OFFSETS, 8, HAC_ARROW_AS_IS, 0},
    {"Z", false, HAC_KIND_BYTES, HAC_ARROW_OFFSETS, 8, HAC_ARROW_AS_IS, 0},
    {"vu", false, HAC_KIND_STRING, HAC_ARROW_VIEWS, VIEW_BYTES, HAC_ARROW_AS_IS, 0},
    {"vz", false, HAC_KIND_BYTES, HAC_ARROW_VIEWS, VIEW_BYTES, HAC_ARROW_AS_IS, 0},
};

static bool read_odd_format(const char *format, hac_arrow_type *ret)
{
    for (size_t i = 0; i < sizeof(odd_formats) / sizeof(odd_formats[0]); i++) {
        bool is = odd_formats[i].prefix ? begins(format, odd_formats[i].format)
                                        : strcmp(format, odd_formats[i].format) == 0;
        if (!is)
            continue;
        *ret = (hac_arrow_type){.type.kind = odd_formats[i].kind,
                                .layout = odd_formats[i].layout,
                                .conversion = odd_formats[i].conversion,
                                .width = odd_formats[i].width,
                                .factor = odd_formats[i].factor};
        if (ret->type.kind == HAC_KIND_TIMESTAMP && format[strlen(odd_formats[i].format)] != '\0')
            ret->type = HAC_TIMESTAMPTZ;
        return true;
    }
    return false;
}

static bool read_format(const char *format, hac_arrow_type *ret)
{
    *ret = (hac_arrow_type){0};
    if (begins(format, "d:"))
        return read_decimal(format, ret);
    if (begins(format, "w:"))
        return read_wide(format, ret);
    if (read_odd_format(format, ret))
        return true;
    for (unsigned k = HAC_KIND_NONE + 1; k < HAC_KIND_END; k++) {
        if (strcmp(format, hac_kinds[k].arrow) != 0)
            continue;
        ret->type.kind = (uint8_t)k;
        ret->layout = k == HAC_KIND_BOOL              ? HAC_ARROW_BITS
                      : hac_kind_is_text((hac_kind)k) ? HAC_ARROW_OFFSETS
                                                      : HAC_ARROW_FIXED;
        ret->width = hac_kind_is_text((hac_kind)k) ? sizeof(int32_t) : hac_kinds[k].bytes;
        return true;
    }
    return false;
}

/* ---- what is refused ---- */

/* What a format that queries do not take is, and what to do with such a column. */
static const char *describe_refused(const char *format)
{
    static const char *const reasons[][2] = {
        {"+l", "a list: unnest it, or leave it out"},
        {"+L", "a list: unnest it, or leave it out"},
        {"+vl", "a list: unnest it, or leave it out"},
        {"+vL", "a list: unnest it, or leave it out"},
        {"+w", "a list: unnest it, or leave it out"},
        {"+s", "a struct: make columns of its members, or leave it out"},
        {"+m", "a map: make columns of its members, or leave it out"},
        {"+u", "a union: cast it to one type, or leave it out"},
        {"+r", "run-end encoded: decode it first"},
        {"tt", "a time of a day: cast it to int64, or leave it out"},
        {"tD", "a duration: cast it to int64, or leave it out"},
        {"ti", "an interval: cast it to int64, or leave it out"},
        {"d:", "a decimal of another size: cast it to decimal128 of up to 38 digits"},
    };
    for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
        if (begins(format, reasons[i][0]))
            return reasons[i][1];
    return "which queries do not take";
}

static hac_status read_index(const struct ArrowSchema *schema, const char *name, hac_arrow_type *ret,
                             hac_error *err)
{
    hac_arrow_type index;
    const char *values = schema->dictionary->format;
    if (schema->format == NULL || !read_format(schema->format, &index) ||
        !hac_kind_is_integer((hac_kind)index.type.kind))
        return hac_fail(
            err, HAC_INVALID,
            "column %.64s has a dictionary, but its indices have Arrow format \"%.40s\", which is "
            "no integer",
            name, schema->format != NULL ? schema->format : "");
    if (values == NULL || schema->dictionary->dictionary != NULL || !read_format(values, ret))
        return hac_fail(err, HAC_UNSUPPORTED, "column %.64s has a dictionary of Arrow format \"%.40s\", %s",
                        name, values != NULL ? values : "", describe_refused(values != NULL ? values : ""));
    ret->index_width = (uint8_t)index.width;
    ret->index_signed = hac_kinds[index.type.kind].is_signed;
    return HAC_OK;
}

hac_status hac_arrow_type_read(const struct ArrowSchema *schema, hac_arrow_type *ret, hac_error *err)
{
    const char *format = schema->format, *name = schema->name;
    if (name == NULL || name[0] == '\0') /* of a stream of one column */
        name = "of the stream";
    hac_arrow_type type;
    if (schema->dictionary != NULL) {
        hac_status status = read_index(schema, name, &type, err);
        if (status != HAC_OK)
            return status;
    } else if (format == NULL || !read_format(format, &type)) {
        return hac_fail(err, HAC_UNSUPPORTED, "column %.64s has Arrow format \"%.40s\", %s", name,
                        format != NULL ? format : "", describe_refused(format != NULL ? format : ""));
    }
    *ret = type;
    return HAC_OK;
}

int64_t hac_arrow_type_buffers(const hac_arrow_type *type)
{
    static const uint8_t buffers[] = {[HAC_ARROW_NULLS] = 0,
                                      [HAC_ARROW_BITS] = 2,
                                      [HAC_ARROW_FIXED] = 2,
                                      [HAC_ARROW_OFFSETS] = 3,
                                      [HAC_ARROW_VIEWS] = 3};
    return buffers[type->layout];
}
