/* SPDX-License-Identifier: Apache-2.0 */
/* Values of records as numbers, as text and as values of columns. */
#include <stdlib.h>

#include "base/value_text.h"
#include "group_internal.h"
#include "sources/string_words.h"

/* ---- numbers ---- */

double hac_group_power_of_ten(unsigned digits)
{
    static const double exact[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,
                                   1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19,
                                   1e20, 1e21, 1e22, 1e23, 1e24, 1e25, 1e26, 1e27, 1e28, 1e29,
                                   1e30, 1e31, 1e32, 1e33, 1e34, 1e35, 1e36, 1e37, 1e38};
    return exact[digits <= HAC_DECIMAL_DIGITS_MAX ? digits : HAC_DECIMAL_DIGITS_MAX];
}

double hac_number(const hac_column *v, hac_value_type type, hac_repr repr, size_t row)
{
    double scale = type.kind == HAC_KIND_DECIMAL ? hac_group_power_of_ten(type.scale) : 1.0;
    hac_i128 wide;
    switch (repr) {
    case HAC_REPR_I64:
        return (double)((const int64_t *)v->values)[row] / scale;
    case HAC_REPR_U64:
        return (double)((const uint64_t *)v->values)[row];
    case HAC_REPR_F32:
        return (double)((const float *)v->values)[row];
    case HAC_REPR_F64:
        return ((const double *)v->values)[row];
    case HAC_REPR_I128:
        memcpy(&wide, (const uint8_t *)v->values + row * 16, 16);
        return (double)wide / scale;
    default:
        return ((const uint8_t *)v->values)[row];
    }
}

/* ---- text ---- */

void hac_group_text_add(hac_group_text *text, const void *bytes, size_t n)
{
    if (text->broken || n > UINT32_MAX - text->n) {
        text->broken = true;
        return;
    }
    if (text->n + n > text->capacity) {
        uint64_t capacity = (text->n + n) * 2;
        uint8_t *data = realloc(text->data, capacity);
        if (data == NULL) {
            text->broken = true;
            return;
        }
        text->data = data;
        text->capacity = capacity;
    }
    if (n != 0)
        memcpy(text->data + text->n, bytes, n);
    text->n += n;
}

static void add_hex(hac_group_text *text, const uint8_t *bytes, uint32_t n)
{
    char digits[2];
    for (uint32_t i = 0; i < n; i++) {
        hac_print_hex(bytes + i, 1, digits);
        hac_group_text_add(text, digits, 2);
    }
}

void hac_group_text_value(hac_group_text *text, hac_value_type type, const uint64_t words[2])
{
    char number[HAC_PRINT_MAX];
    if (hac_kind_is_text(type.kind)) {
        uint32_t n;
        const uint8_t *bytes = hac_words_to_string(words, &n);
        if (type.kind == HAC_KIND_BYTES)
            add_hex(text, bytes, n);
        else
            hac_group_text_add(text, bytes, n);
    } else {
        hac_group_text_add(text, number, hac_print_value(type, words, 0, number));
    }
}

/* ---- values of columns ---- */

static void put_string(hac_group_text *text, hac_column *v, size_t row, const uint64_t words[2])
{
    uint32_t n;
    const uint8_t *bytes = hac_words_to_string(words, &n);
    ((hac_string_ref *)v->values)[row] = (hac_string_ref){.offset = (uint32_t)text->n, .length = n};
    hac_group_text_add(text, bytes, n);
}

void hac_group_put_words(hac_group_text *text, hac_column *v, size_t row, const uint64_t words[2])
{
    hac_repr repr = hac_repr_of(v->type);
    if (repr == HAC_REPR_STRING)
        put_string(text, v, row, words);
    else if (repr == HAC_REPR_BOOL)
        ((uint8_t *)v->values)[row] = words[0] != 0;
    else
        memcpy((uint8_t *)v->values + row * hac_repr_size(repr), words, hac_repr_size(repr));
}

void hac_group_put_null(hac_column *v, size_t row)
{
    uint64_t nothing[2] = {0, 0};
    v->states[row] = HAC_ROW_NULL;
    memcpy((uint8_t *)v->values + row * hac_repr_size(hac_repr_of(v->type)), nothing,
           hac_repr_size(hac_repr_of(v->type)));
}

void hac_group_put_f64(hac_column *v, size_t row, double value)
{
    if (v->type.kind == HAC_KIND_F32)
        ((float *)v->values)[row] = (float)value;
    else
        ((double *)v->values)[row] = value;
}

/* ---- values in order ---- */

void hac_words_to_ordered(hac_repr repr, uint64_t words[2])
{
    double f64;
    float f32;
    memcpy(&f64, words, sizeof f64);
    memcpy(&f32, words, sizeof f32);
    if (repr == HAC_REPR_F64)
        words[0] = (uint64_t)hac_order_f64(f64);
    else if (repr == HAC_REPR_F32)
        words[0] = (uint64_t)hac_order_f64((double)f32);
}

void hac_ordered_words(const hac_column *v, hac_repr repr, size_t row, uint64_t ret[2])
{
    if (repr == HAC_REPR_F64)
        ret[0] = (uint64_t)hac_order_f64(((const double *)v->values)[row]);
    else if (repr == HAC_REPR_F32)
        ret[0] = (uint64_t)hac_order_f64((double)((const float *)v->values)[row]);
    else
        hac_value_words(v, repr, row, ret);
}

int hac_ordered_compare(hac_repr repr, const uint64_t x[2], const uint64_t y[2])
{
    hac_i128 a, b;
    switch (repr) {
    case HAC_REPR_STRING:
        return hac_string_words_compare(x, y);
    case HAC_REPR_I128:
        memcpy(&a, x, sizeof a);
        memcpy(&b, y, sizeof b);
        return (a > b) - (a < b);
    case HAC_REPR_BOOL:
    case HAC_REPR_U64:
        return (x[0] > y[0]) - (x[0] < y[0]);
    default:
        return ((int64_t)x[0] > (int64_t)y[0]) - ((int64_t)x[0] < (int64_t)y[0]);
    }
}

void hac_group_put_ordered(hac_group_text *text, hac_column *v, size_t row, const uint64_t words[2])
{
    if (hac_kind_is_float(v->type.kind))
        hac_group_put_f64(v, row, hac_unorder_f64((int64_t)words[0]));
    else
        hac_group_put_words(text, v, row, words);
}
