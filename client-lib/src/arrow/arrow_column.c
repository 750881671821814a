/* SPDX-License-Identifier: Apache-2.0 */
#include "arrow_column.h"

#include <inttypes.h>
#include <string.h>

#include "base/error.h"

enum { VIEW_BYTES = 16, VIEW_INLINE = 12, VIEW_BUFFERS_AT = 2 };

static bool is_text(const hac_arrow_column *c)
{
    return hac_kind_is_text((hac_kind)c->type.type.kind);
}

static bool get_bit(const void *bits, uint64_t i)
{
    return ((const uint8_t *)bits)[i / 8] >> (i % 8) & 1;
}

static void set_bit(uint8_t *bits, uint64_t i)
{
    bits[i / 8] |= (uint8_t)(1U << (i % 8));
}

static hac_status fail_row(const hac_arrow_column *c, uint64_t row, const char *what, hac_error *err)
{
    return hac_fail(err, HAC_INVALID, "column %.64s, row %" PRIu64 ": %s", c->name, c->row + row + 1, what);
}

static const char outside_buffers[] = "the text lies outside of the column's buffers";

/* ---- rows ---- */

uint64_t hac_arrow_offset(const hac_arrow_rows *rows, uint64_t row)
{
    const uint8_t *offsets = rows->array->buffers[1];
    int64_t at = 0;
    int32_t narrow = 0;
    if (offsets == NULL)
        return 0;
    if (rows->width == sizeof(at)) { /* the buffer may be unaligned, as a part of another program's message */
        memcpy(&at, offsets + (rows->first + row) * sizeof(at), sizeof(at));
    } else {
        memcpy(&narrow, offsets + (rows->first + row) * sizeof(narrow), sizeof(narrow));
        at = narrow;
    }
    return at > 0 ? (uint64_t)at : 0;
}

static const uint8_t *value_at(const hac_arrow_rows *rows, uint64_t row)
{
    return (const uint8_t *)rows->array->buffers[1] + (rows->first + row) * rows->width;
}

static bool is_valid(const hac_arrow_rows *rows, uint64_t row)
{
    return rows->layout != HAC_ARROW_NULLS &&
           (!rows->nulls || get_bit(rows->array->buffers[0], rows->first + row));
}

/* Finds a text of which the characters are inside or in one of the buffers behind the views. */
static bool view_text(const hac_arrow_rows *rows, uint64_t row, const uint8_t **ret, uint64_t *ret_bytes)
{
    const struct ArrowArray *a = rows->array;
    const uint8_t *view = value_at(rows, row);
    int32_t length, place[2];
    int64_t n_buffers = a->n_buffers - VIEW_BUFFERS_AT - 1, size = 0;
    memcpy(&length, view, sizeof(length));
    if (length < 0)
        return false;
    *ret_bytes = (uint64_t)length;
    *ret = view + sizeof(length);
    if (length <= VIEW_INLINE)
        return true;
    memcpy(place, view + VIEW_BYTES - sizeof(place), sizeof(place));
    if (place[0] < 0 || place[0] >= n_buffers || place[1] < 0)
        return false;
    memcpy(&size, (const uint8_t *)a->buffers[a->n_buffers - 1] + (size_t)place[0] * sizeof(size),
           sizeof(size));
    const uint8_t *bytes = a->buffers[VIEW_BUFFERS_AT + place[0]];
    if (bytes == NULL || (int64_t)place[1] + length > size)
        return false;
    *ret = bytes + place[1];
    return true;
}

/* Finds the text of a valid row. False: it lies outside of the buffers. */
static bool get_text(const hac_arrow_rows *rows, uint64_t row, const uint8_t **ret, uint64_t *ret_bytes)
{
    if (rows->layout == HAC_ARROW_VIEWS)
        return view_text(rows, row, ret, ret_bytes);
    if (rows->layout == HAC_ARROW_FIXED) {
        *ret = rows->width > 0 ? value_at(rows, row) : (const uint8_t *)"";
        *ret_bytes = rows->width;
        return true;
    }
    uint64_t begin = hac_arrow_offset(rows, row), end = hac_arrow_offset(rows, row + 1);
    if (end < begin || end > hac_arrow_offset(rows, rows->n) ||
        (end > begin && rows->array->buffers[2] == NULL))
        return false;
    *ret_bytes = end - begin;
    *ret = end > begin ? (const uint8_t *)rows->array->buffers[2] + begin : (const uint8_t *)"";
    return true;
}

/* ---- checks ---- */

static hac_status check_views(const char *name, const struct ArrowArray *array, hac_error *err)
{
    int64_t n = array->n_buffers - VIEW_BUFFERS_AT - 1;
    const int64_t *sizes = array->buffers[array->n_buffers - 1];
    if (n > 0 && sizes == NULL)
        return hac_fail(err, HAC_INVALID, "column %.64s does not say how long its %" PRId64 " buffers are",
                        name, n);
    return HAC_OK;
}

/* Checks rows [first, first + n) of an array whose values have this layout. */
static hac_status read_rows(const char *name, const hac_arrow_type *type, const struct ArrowArray *array,
                            uint64_t first, uint64_t n, hac_arrow_rows *ret, hac_error *err)
{
    int64_t wanted = hac_arrow_type_buffers(type);
    uint64_t length = (uint64_t)array->length;
    bool views = type->layout == HAC_ARROW_VIEWS;
    if (array->n_buffers < wanted || (!views && array->n_buffers != wanted) ||
        (array->buffers == NULL && wanted > 0) || array->offset < 0 || array->length < 0 ||
        array->length > INT64_MAX / VIEW_BYTES / 4 || array->offset > INT64_MAX / VIEW_BYTES / 4 ||
        length < first || length - first < n || array->n_children != 0 || array->release == NULL)
        return hac_fail(err, HAC_INVALID, "column %.64s is no valid Arrow array", name);
    *ret = (hac_arrow_rows){.array = array,
                            .first = first + (uint64_t)array->offset,
                            .n = n,
                            .layout = type->layout,
                            .width = type->width};
    uint64_t last;
    if (type->layout == HAC_ARROW_NULLS)
        return HAC_OK;
    if (__builtin_mul_overflow(ret->first + n + 1, (uint64_t)type->width, &last) || last > INT64_MAX)
        return hac_fail(err, HAC_INVALID, "column %.64s is no valid Arrow array", name);
    ret->nulls = array->null_count != 0 && array->buffers[0] != NULL;
    if (array->null_count > 0 && array->buffers[0] == NULL)
        return hac_fail(err, HAC_INVALID, "column %.64s has nulls, but does not say where", name);
    if (n > 0 && array->buffers[1] == NULL && (type->layout != HAC_ARROW_FIXED || type->width > 0))
        return hac_fail(err, HAC_INVALID, "column %.64s has no values", name);
    return views ? check_views(name, array, err) : HAC_OK;
}

/* Checks that the characters are there, which may be missing if all strings are empty. The offsets between
 * the first and the last are checked when they are used. */
static hac_status check_characters(const char *name, const hac_arrow_rows *rows, hac_error *err)
{
    if (rows->layout != HAC_ARROW_OFFSETS || rows->n == 0 || rows->array->buffers[2] != NULL)
        return HAC_OK;
    if (hac_arrow_offset(rows, rows->n) > hac_arrow_offset(rows, 0))
        return hac_fail(err, HAC_INVALID, "column %.64s has no characters", name);
    return HAC_OK;
}

/* ---- a row of a column, through its dictionary ---- */

/* The rows that have the values. */
static const hac_arrow_rows *values_of(const hac_arrow_column *c)
{
    return c->type.index_width > 0 ? &c->dictionary : &c->rows;
}

static uint64_t read_index(const hac_arrow_column *c, uint64_t row)
{
    const uint8_t *at = value_at(&c->rows, row);
    uint8_t bytes[sizeof(uint64_t)] = {0};
    uint64_t index;
    memcpy(bytes, at, c->type.index_width);
    memcpy(&index, bytes, sizeof(index));
    bool negative = c->type.index_signed && (at[c->type.index_width - 1] & 0x80) != 0;
    return negative ? UINT64_MAX : index;
}

/* Finds the row of values_of(c) that is the value of row `row`. *ret_valid false: the row is null. */
static hac_status find_value(const hac_arrow_column *c, uint64_t row, bool *ret_valid, uint64_t *ret,
                             hac_error *err)
{
    *ret = row;
    *ret_valid = is_valid(&c->rows, row);
    if (!*ret_valid || c->type.index_width == 0)
        return HAC_OK;
    *ret = read_index(c, row);
    if (*ret >= c->dictionary.n)
        return fail_row(c, row, "the index is outside of the column's dictionary", err);
    *ret_valid = is_valid(&c->dictionary, *ret);
    return HAC_OK;
}

/* ---- reading ---- */

/* Adds up the characters, which lie side by side only if they have offsets. */
static hac_status measure(hac_arrow_column *c, hac_error *err)
{
    const hac_arrow_rows *values = values_of(c);
    if (values == &c->rows && c->rows.layout == HAC_ARROW_OFFSETS) {
        uint64_t begin = hac_arrow_offset(&c->rows, 0), end = hac_arrow_offset(&c->rows, c->rows.n);
        c->n_bytes = c->rows.n > 0 && end > begin ? end - begin : 0;
        return HAC_OK;
    }
    hac_status status = HAC_OK;
    for (uint64_t row = 0; row < c->rows.n && status == HAC_OK; row++) {
        const uint8_t *text;
        uint64_t at, bytes;
        bool valid;
        status = find_value(c, row, &valid, &at, err);
        if (status != HAC_OK || !valid)
            continue;
        if (!get_text(values, at, &text, &bytes) || __builtin_add_overflow(c->n_bytes, bytes, &c->n_bytes) ||
            c->n_bytes > INT64_MAX / 2)
            status = fail_row(c, row, outside_buffers, err);
    }
    return status;
}

hac_status hac_arrow_column_read(const char *name, const hac_arrow_type *type, const struct ArrowArray *array,
                                 uint64_t first, uint64_t rows, uint64_t row, hac_arrow_column *ret,
                                 hac_error *err)
{
    hac_arrow_column c = {.name = name, .type = *type, .row = row};
    const hac_arrow_type index = {.layout = HAC_ARROW_FIXED, .width = type->index_width};
    const struct ArrowArray *dictionary = array->dictionary;
    bool has_index = type->index_width > 0;
    if (has_index != (dictionary != NULL))
        return hac_fail(err, HAC_INVALID, "column %.64s is no valid Arrow array: %s", name,
                        has_index ? "it has no dictionary" : "it has a dictionary, and its schema has none");
    hac_status status = read_rows(name, has_index ? &index : type, array, first, rows, &c.rows, err);
    if (status == HAC_OK && has_index)
        status = read_rows(name, type, dictionary, 0,
                           dictionary->length < 0 ? 0 : (uint64_t)dictionary->length, &c.dictionary, err);
    if (status == HAC_OK)
        status = check_characters(name, values_of(&c), err);
    if (status == HAC_OK && is_text(&c))
        status = measure(&c, err);
    if (status != HAC_OK)
        return status;
    c.nulls = rows > 0 && (c.rows.nulls || c.dictionary.nulls || values_of(&c)->layout == HAC_ARROW_NULLS);
    *ret = c;
    return HAC_OK;
}

hac_arrow_column hac_arrow_column_of_nulls(const char *name, const hac_arrow_type *type, uint64_t rows,
                                           uint64_t row)
{
    return (hac_arrow_column){.name = name,
                              .type = *type,
                              .rows = {.n = rows, .layout = HAC_ARROW_NULLS, .nulls = true},
                              .row = row,
                              .nulls = rows > 0};
}

bool hac_arrow_column_has_nulls(const hac_arrow_column *c)
{
    for (uint64_t row = 0; c->nulls && row < c->rows.n; row++)
        if (!is_valid(&c->rows, row))
            return true;
    return false;
}

/* Whether values of fixed width are those of a table. */
static bool is_copied(const hac_arrow_type *type)
{
    return type->width == hac_value_size(type->type) &&
           (type->conversion == HAC_ARROW_AS_IS || type->conversion == HAC_ARROW_RESIZE);
}

bool hac_arrow_column_is_table(const hac_arrow_column *c)
{
    return c->type.index_width == 0 && c->rows.first == 0 &&
           (c->type.layout == HAC_ARROW_BITS || c->type.layout == HAC_ARROW_OFFSETS ||
            (c->type.layout == HAC_ARROW_FIXED && !is_text(c) && is_copied(&c->type)));
}

/* ---- copies ---- */

/* Sets the bits [to_first, to_first + n) that are set in [first, first + n) of `from`. NULL: all. */
static void copy_bits(uint8_t *to, uint64_t to_first, const uint8_t *from, uint64_t first, uint64_t n)
{
    uint64_t i = 0;
    while (i < n) {
        bool whole = (to_first + i) % 8 == 0 && n - i >= 8;
        if (!whole) {
            if (from == NULL || get_bit(from, first + i))
                set_bit(to, to_first + i);
            i++;
            continue;
        }
        uint64_t at = first + i;
        unsigned bits = 0xff;
        if (from != NULL) /* the byte behind is looked at only if some of the eight bits are in it */
            bits = at % 8 == 0
                       ? from[at / 8]
                       : ((unsigned)from[at / 8] >> at % 8 | (unsigned)from[at / 8 + 1] << (8 - at % 8));
        to[(to_first + i) / 8] = (uint8_t)bits;
        i += 8;
    }
}

static hac_status copy_validity(const hac_arrow_column *c, uint8_t *validity, hac_error *err)
{
    if (c->dictionary.nulls) {
        for (uint64_t row = 0; row < c->rows.n; row++) {
            uint64_t at;
            bool valid;
            hac_status status = find_value(c, row, &valid, &at, err);
            if (status != HAC_OK)
                return status;
            if (valid)
                set_bit(validity, c->row + row);
        }
    } else if (values_of(c)->layout != HAC_ARROW_NULLS) {
        copy_bits(validity, c->row, c->rows.nulls ? c->rows.array->buffers[0] : NULL, c->rows.first,
                  c->rows.n);
    }
    return HAC_OK;
}

static float half_value(const uint8_t *from)
{
    uint16_t half;
    memcpy(&half, from, sizeof(half));
    uint32_t sign = (uint32_t)(half >> 15) << 31, exponent = half >> 10 & 0x1f, fraction = half & 0x3ff, bits;
    float value;
    if (exponent == 0) { /* 0, or a fraction of 2^-24 */
        value = (float)fraction * 0x1p-24F;
        return sign != 0 ? -value : value;
    }
    bits = sign | (exponent == 0x1f ? 0xffU : exponent + 127 - 15) << 23 | fraction << 13;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

/* Copies the low bytes of a signed integer, or adds bytes of its sign. False: it does not fit. */
static bool resize(const uint8_t *from, size_t width, uint8_t *to, size_t size)
{
    size_t both = width < size ? width : size;
    uint8_t sign = (from[both - 1] & 0x80) != 0 ? 0xff : 0;
    memcpy(to, from, both);
    memset(to + both, sign, size - both);
    for (size_t i = both; i < width; i++)
        if (from[i] != sign)
            return false;
    return true;
}

/* Converts a time. NULL, or why that is not possible. */
static const char *convert_time(const hac_arrow_type *type, const uint8_t *from, uint8_t *to)
{
    int64_t value, converted;
    memcpy(&value, from, sizeof(value));
    if (type->conversion == HAC_ARROW_MULTIPLY) {
        if (__builtin_mul_overflow(value, type->factor, &converted))
            return "the time is out of range";
        memcpy(to, &converted, sizeof(converted));
        return NULL;
    }
    converted = value / type->factor;
    if (type->conversion == HAC_ARROW_DIVIDE) {
        memcpy(to, &converted, sizeof(converted));
        return value % type->factor == 0 ? NULL
                                         : "the time has nanoseconds, and timestamps have microseconds; cast "
                                           "it to microseconds, or to int64 for whole nanoseconds";
    }
    int32_t days = (int32_t)converted;
    memcpy(to, &days, sizeof(days));
    if (days != converted)
        return "the date is out of range";
    return value % type->factor == 0 ? NULL : "the date has a time of day; cast it to a timestamp";
}

/* Copies one value of fixed width. NULL, or why that is not possible. */
static const char *convert(const hac_arrow_type *type, const uint8_t *from, uint8_t *to)
{
    size_t size = hac_value_size(type->type);
    float widened;
    switch ((hac_arrow_conversion)type->conversion) {
    case HAC_ARROW_AS_IS:
        memcpy(to, from, size);
        return NULL;
    case HAC_ARROW_RESIZE:
        return resize(from, type->width, to, size) ? NULL : "the number has more digits than its type";
    case HAC_ARROW_WIDEN:
        widened = half_value(from);
        memcpy(to, &widened, sizeof(widened));
        return NULL;
    default:
        return convert_time(type, from, to);
    }
}

static hac_status copy_fixed(const hac_arrow_column *c, uint8_t *to, hac_error *err)
{
    const hac_arrow_rows *values = values_of(c);
    size_t size = hac_value_size(c->type.type);
    to += c->row * size;
    if (values == &c->rows && is_copied(&c->type) && c->rows.n > 0) {
        memcpy(to, value_at(&c->rows, 0), (size_t)c->rows.n * size);
        return HAC_OK;
    }
    for (uint64_t row = 0; row < c->rows.n; row++, to += size) {
        uint64_t at;
        bool valid;
        hac_status status = find_value(c, row, &valid, &at, err);
        if (status != HAC_OK)
            return status;
        const char *why = NULL;
        if (valid)
            why = convert(&c->type, value_at(values, at), to);
        else
            memset(to, 0, size);
        if (why != NULL)
            return fail_row(c, row, why, err);
    }
    return HAC_OK;
}

static hac_status copy_bools(const hac_arrow_column *c, uint8_t *to, hac_error *err)
{
    const hac_arrow_rows *values = values_of(c);
    if (values == &c->rows) {
        copy_bits(to, c->row, c->rows.n > 0 ? c->rows.array->buffers[1] : NULL, c->rows.first, c->rows.n);
        return HAC_OK;
    }
    for (uint64_t row = 0; row < c->rows.n; row++) {
        uint64_t at;
        bool valid;
        hac_status status = find_value(c, row, &valid, &at, err);
        if (status != HAC_OK)
            return status;
        if (valid && get_bit(values->array->buffers[1], values->first + at))
            set_bit(to, c->row + row);
    }
    return HAC_OK;
}

/* ---- copies of text ---- */

static void put_offset(const hac_arrow_target *target, uint64_t row, uint64_t at)
{
    int64_t wide = (int64_t)at;
    int32_t narrow = (int32_t)at;
    if (target->large)
        memcpy(target->values + row * sizeof(wide), &wide, sizeof(wide));
    else
        memcpy(target->values + row * sizeof(narrow), &narrow, sizeof(narrow));
}

/* Copies characters that lie side by side, and their offsets. */
static hac_status copy_offsets(const hac_arrow_column *c, hac_arrow_target *target, hac_error *err)
{
    uint64_t begin = c->rows.n > 0 ? hac_arrow_offset(&c->rows, 0) : 0, before = begin;
    for (uint64_t row = 0; row < c->rows.n; row++) {
        uint64_t at = hac_arrow_offset(&c->rows, row);
        if (at < before || at - begin > c->n_bytes)
            return fail_row(c, row, outside_buffers, err);
        put_offset(target, c->row + row, target->used + at - begin);
        before = at;
    }
    if (c->rows.n > 0 && before - begin > c->n_bytes)
        return fail_row(c, c->rows.n - 1, outside_buffers, err);
    if (c->n_bytes > 0)
        memcpy(target->bytes + target->used, (const uint8_t *)c->rows.array->buffers[2] + begin,
               (size_t)c->n_bytes);
    return HAC_OK;
}

static hac_status copy_texts(const hac_arrow_column *c, hac_arrow_target *target, hac_error *err)
{
    const hac_arrow_rows *values = values_of(c);
    uint64_t used = target->used, end = target->used + c->n_bytes;
    for (uint64_t row = 0; row < c->rows.n; row++) {
        const uint8_t *text;
        uint64_t at, bytes;
        bool valid;
        put_offset(target, c->row + row, used);
        hac_status status = find_value(c, row, &valid, &at, err);
        if (status != HAC_OK)
            return status;
        if (!valid)
            continue;
        /* The producer may change its memory while this reads it. */
        if (!get_text(values, at, &text, &bytes) || bytes > end - used)
            return fail_row(c, row, outside_buffers, err);
        if (bytes > 0)
            memcpy(target->bytes + used, text, (size_t)bytes);
        used += bytes;
    }
    return HAC_OK;
}

hac_status hac_arrow_column_copy(const hac_arrow_column *c, hac_arrow_target *target, hac_error *err)
{
    hac_status status = target->validity != NULL ? copy_validity(c, target->validity, err) : HAC_OK;
    if (status != HAC_OK)
        return status;
    if (!is_text(c))
        return c->type.type.kind == HAC_KIND_BOOL ? copy_bools(c, target->values, err)
                                                  : copy_fixed(c, target->values, err);
    if (values_of(c) == &c->rows && c->rows.layout == HAC_ARROW_OFFSETS)
        status = copy_offsets(c, target, err);
    else
        status = copy_texts(c, target, err);
    if (status != HAC_OK)
        return status;
    target->used += c->n_bytes;
    put_offset(target, c->row + c->rows.n, target->used);
    return HAC_OK;
}
