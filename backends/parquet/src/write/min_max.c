/* SPDX-License-Identifier: Apache-2.0 */
#include "min_max.h"

#include <math.h>
#include <string.h>

#include "base/text.h"

static void set(hac_bound_value *ret, const void *value, size_t bytes)
{
    memcpy(ret->data, value, bytes);
    ret->bytes = (uint8_t)bytes;
    ret->exact = true;
}

#define INTEGERS(name, type)                                                                                 \
    static void name(const type *values, size_t n, hac_min_max *ret)                                         \
    {                                                                                                        \
        type min = values[0], max = values[0];                                                               \
        for (size_t i = 1; i < n; i++) {                                                                     \
            min = values[i] < min ? values[i] : min;                                                         \
            max = values[i] > max ? values[i] : max;                                                         \
        }                                                                                                    \
        ret->any = true;                                                                                     \
        set(&ret->min, &min, sizeof min);                                                                    \
        set(&ret->max, &max, sizeof max);                                                                    \
    }
INTEGERS(of_u8, uint8_t)
INTEGERS(of_i32, int32_t)
INTEGERS(of_u32, uint32_t)
INTEGERS(of_i64, int64_t)
INTEGERS(of_u64, uint64_t)

/* Comparisons with NaN are false, so NaN never becomes the minimum or maximum. */
#define FLOATS(name, type, infinity)                                                                         \
    static void name(const type *values, size_t n, hac_min_max *ret)                                         \
    {                                                                                                        \
        type min = infinity, max = -infinity;                                                                \
        size_t numbers = 0;                                                                                  \
        for (size_t i = 0; i < n; i++) {                                                                     \
            min = values[i] < min ? values[i] : min;                                                         \
            max = values[i] > max ? values[i] : max;                                                         \
            numbers += values[i] == values[i];                                                               \
        }                                                                                                    \
        ret->nans = n - numbers;                                                                             \
        ret->any = numbers > 0;                                                                              \
        min = min == 0 ? -(type)0 : min;                                                                     \
        max = max == 0 ? (type)0 : max;                                                                      \
        set(&ret->min, &min, sizeof min);                                                                    \
        set(&ret->max, &max, sizeof max);                                                                    \
    }
FLOATS(of_f32, float, HUGE_VALF)
FLOATS(of_f64, double, HUGE_VAL)

static int compare_wide(const uint8_t *a, const uint8_t *b, size_t width)
{
    int sign = ((int8_t)a[0] > (int8_t)b[0]) - ((int8_t)a[0] < (int8_t)b[0]);
    return sign != 0 ? sign : memcmp(a + 1, b + 1, width - 1);
}

static void of_wide(const uint8_t *values, unsigned width, size_t n, hac_min_max *ret)
{
    const uint8_t *min = values, *max = values;
    for (size_t i = 1; i < n; i++) {
        const uint8_t *value = values + i * width;
        if (compare_wide(value, min, width) < 0)
            min = value;
        if (compare_wide(value, max, width) > 0)
            max = value;
    }
    ret->any = true;
    set(&ret->min, min, width);
    set(&ret->max, max, width);
}

void hac_min_max_of(hac_stored stored, unsigned width, const void *values, size_t n, hac_min_max *ret)
{
    *ret = (hac_min_max){0};
    if (n == 0)
        return;
    switch (stored) {
    case HAC_STORED_BOOL:
        of_u8(values, n, ret);
        break;
    case HAC_STORED_I32:
        of_i32(values, n, ret);
        break;
    case HAC_STORED_U32:
        of_u32(values, n, ret);
        break;
    case HAC_STORED_I64:
        of_i64(values, n, ret);
        break;
    case HAC_STORED_U64:
        of_u64(values, n, ret);
        break;
    case HAC_STORED_F32:
        of_f32(values, n, ret);
        break;
    case HAC_STORED_F64:
        of_f64(values, n, ret);
        break;
    case HAC_STORED_WIDE:
        of_wide(values, width, n, ret);
        break;
    case HAC_STORED_TEXT:
        break;
    }
}

static uint64_t prefix_of(const uint8_t *text, uint32_t bytes)
{
    uint64_t word = 0;
    memcpy(&word, text, bytes < 8 ? bytes : 8);
    return __builtin_bswap64(word);
}

static int compare_text(const uint8_t *a, size_t a_bytes, const uint8_t *b, size_t b_bytes)
{
    size_t common = a_bytes < b_bytes ? a_bytes : b_bytes;
    int order = common == 0 ? 0 : memcmp(a, b, common);
    return order != 0 ? order : (a_bytes > b_bytes) - (a_bytes < b_bytes);
}

void hac_text_min_max_add(hac_text_min_max *e, const uint8_t *text, uint32_t bytes)
{
    uint64_t prefix = prefix_of(text, bytes);
    if (!e->any || prefix < e->min_prefix ||
        (prefix == e->min_prefix && compare_text(text, bytes, e->min, e->min_bytes) < 0)) {
        e->min = text;
        e->min_bytes = bytes;
        e->min_prefix = prefix;
    }
    if (!e->any || prefix > e->max_prefix ||
        (prefix == e->max_prefix && compare_text(text, bytes, e->max, e->max_bytes) > 0)) {
        e->max = text;
        e->max_bytes = bytes;
        e->max_prefix = prefix;
    }
    e->any = true;
}

/* Length of the longest prefix of at most HAC_BOUND_BYTES that ends with a character; *ret_utf8: the text is
 * UTF-8. */
static size_t cut(const uint8_t *text, size_t bytes, bool *ret_utf8)
{
    size_t end = 0;
    *ret_utf8 = true;
    while (end < HAC_BOUND_BYTES) {
        size_t length = hac_utf8_sequence((const char *)text + end, bytes - end);
        *ret_utf8 = *ret_utf8 && length > 0;
        length = length == 0 ? 1 : length;
        if (end + length > HAC_BOUND_BYTES)
            break;
        end += length;
    }
    return end;
}

/* Increments the last character, so that all texts that begin with the old `bound` are below the new one;
 * characters that are already the largest are dropped. False: all were dropped. */
static bool raise(hac_bound_value *bound, bool utf8)
{
    while (bound->bytes > 0) {
        uint8_t *last = &bound->data[bound->bytes - 1];
        if (!utf8 || *last < 0x7f) {
            if (*last != 0xff) {
                ++*last;
                return true;
            }
            bound->bytes--;
            continue;
        }
        size_t start = bound->bytes - 1u;
        while ((bound->data[start] & 0xc0) == 0x80)
            start--;
        /* within the last six bits of a character, the next one is well-formed, too */
        if (bound->bytes - start > 1 && *last < 0xbf) {
            ++*last;
            return true;
        }
        bound->bytes = (uint8_t)start;
    }
    return false;
}

static void set_text(hac_bound_value *ret, const uint8_t *text, size_t bytes, bool max)
{
    ret->bytes = (uint8_t)bytes;
    ret->exact = bytes <= HAC_BOUND_BYTES;
    if (ret->exact) {
        if (bytes > 0)
            memcpy(ret->data, text, bytes);
        return;
    }
    bool utf8;
    ret->bytes = (uint8_t)cut(text, bytes, &utf8);
    memcpy(ret->data, text, ret->bytes);
    ret->none = max && !raise(ret, utf8);
}

void hac_text_min_max_end(const hac_text_min_max *min_max, hac_min_max *ret)
{
    *ret = (hac_min_max){.any = min_max->any};
    if (!min_max->any)
        return;
    set_text(&ret->min, min_max->min, min_max->min_bytes, false);
    set_text(&ret->max, min_max->max, min_max->max_bytes, true);
}

#define ORDER(name, type)                                                                                    \
    static int name(const uint8_t *a, const uint8_t *b)                                                      \
    {                                                                                                        \
        type x, y;                                                                                           \
        memcpy(&x, a, sizeof x);                                                                             \
        memcpy(&y, b, sizeof y);                                                                             \
        return (x > y) - (x < y);                                                                            \
    }
ORDER(order_i32, int32_t)
ORDER(order_u32, uint32_t)
ORDER(order_i64, int64_t)
ORDER(order_u64, uint64_t)
ORDER(order_f32, float)
ORDER(order_f64, double)

int hac_bound_value_compare(hac_stored stored, const hac_bound_value *a, const hac_bound_value *b)
{
    switch (stored) {
    case HAC_STORED_I32:
        return order_i32(a->data, b->data);
    case HAC_STORED_U32:
        return order_u32(a->data, b->data);
    case HAC_STORED_I64:
        return order_i64(a->data, b->data);
    case HAC_STORED_U64:
        return order_u64(a->data, b->data);
    case HAC_STORED_F32:
        return order_f32(a->data, b->data);
    case HAC_STORED_F64:
        return order_f64(a->data, b->data);
    case HAC_STORED_WIDE:
        return compare_wide(a->data, b->data, a->bytes);
    default:
        return compare_text(a->data, a->bytes, b->data, b->bytes);
    }
}

/* Of two equal bounds, an exact one is a value that occurs. */
static void join(hac_bound_value *extreme, const hac_bound_value *more, int order)
{
    bool none = extreme->none || more->none;
    if (order > 0 || (order == 0 && more->exact))
        *extreme = *more;
    extreme->none = none;
}

void hac_min_max_join(hac_stored stored, hac_min_max *min_max, const hac_min_max *more)
{
    min_max->nans += more->nans;
    if (!more->any)
        return;
    if (!min_max->any) {
        min_max->any = true;
        min_max->min = more->min;
        min_max->max = more->max;
        return;
    }
    join(&min_max->min, &more->min, hac_bound_value_compare(stored, &min_max->min, &more->min));
    join(&min_max->max, &more->max, hac_bound_value_compare(stored, &more->max, &min_max->max));
}
