/* SPDX-License-Identifier: Apache-2.0 */
#include "extremes.h"

#include <math.h>
#include <string.h>

#include "base/text.h"

static void set(hac_extreme *ret, const void *value, size_t bytes)
{
    memcpy(ret->data, value, bytes);
    ret->bytes = (uint8_t)bytes;
    ret->exact = true;
}

#define INTEGERS(name, type)                                                                                 \
    static void name(const type *values, size_t n, hac_extremes *ret)                                        \
    {                                                                                                        \
        type least = values[0], greatest = values[0];                                                        \
        for (size_t i = 1; i < n; i++) {                                                                     \
            least = values[i] < least ? values[i] : least;                                                   \
            greatest = values[i] > greatest ? values[i] : greatest;                                          \
        }                                                                                                    \
        ret->any = true;                                                                                     \
        set(&ret->least, &least, sizeof least);                                                              \
        set(&ret->greatest, &greatest, sizeof greatest);                                                     \
    }
INTEGERS(of_u8, uint8_t)
INTEGERS(of_i32, int32_t)
INTEGERS(of_u32, uint32_t)
INTEGERS(of_i64, int64_t)
INTEGERS(of_u64, uint64_t)

/* Comparisons with NaN are false, so that it never becomes an extreme. */
#define FLOATS(name, type, infinity)                                                                         \
    static void name(const type *values, size_t n, hac_extremes *ret)                                        \
    {                                                                                                        \
        type least = infinity, greatest = -infinity;                                                         \
        size_t numbers = 0;                                                                                  \
        for (size_t i = 0; i < n; i++) {                                                                     \
            least = values[i] < least ? values[i] : least;                                                   \
            greatest = values[i] > greatest ? values[i] : greatest;                                          \
            numbers += values[i] == values[i];                                                               \
        }                                                                                                    \
        ret->nans = n - numbers;                                                                             \
        ret->any = numbers > 0;                                                                              \
        least = least == 0 ? -(type)0 : least;                                                               \
        greatest = greatest == 0 ? (type)0 : greatest;                                                       \
        set(&ret->least, &least, sizeof least);                                                              \
        set(&ret->greatest, &greatest, sizeof greatest);                                                     \
    }
FLOATS(of_f32, float, HUGE_VALF)
FLOATS(of_f64, double, HUGE_VAL)

static int compare_wide(const uint8_t *a, const uint8_t *b, size_t width)
{
    int sign = ((int8_t)a[0] > (int8_t)b[0]) - ((int8_t)a[0] < (int8_t)b[0]);
    return sign != 0 ? sign : memcmp(a + 1, b + 1, width - 1);
}

static void of_wide(const uint8_t *values, unsigned width, size_t n, hac_extremes *ret)
{
    const uint8_t *least = values, *greatest = values;
    for (size_t i = 1; i < n; i++) {
        const uint8_t *value = values + i * width;
        if (compare_wide(value, least, width) < 0)
            least = value;
        if (compare_wide(value, greatest, width) > 0)
            greatest = value;
    }
    ret->any = true;
    set(&ret->least, least, width);
    set(&ret->greatest, greatest, width);
}

void hac_extremes_of(hac_stored stored, unsigned width, const void *values, size_t n, hac_extremes *ret)
{
    *ret = (hac_extremes){0};
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

void hac_text_extremes_add(hac_text_extremes *e, const uint8_t *text, uint32_t bytes)
{
    uint64_t prefix = prefix_of(text, bytes);
    if (!e->any || prefix < e->least_prefix ||
        (prefix == e->least_prefix && compare_text(text, bytes, e->least, e->least_bytes) < 0)) {
        e->least = text;
        e->least_bytes = bytes;
        e->least_prefix = prefix;
    }
    if (!e->any || prefix > e->greatest_prefix ||
        (prefix == e->greatest_prefix && compare_text(text, bytes, e->greatest, e->greatest_bytes) > 0)) {
        e->greatest = text;
        e->greatest_bytes = bytes;
        e->greatest_prefix = prefix;
    }
    e->any = true;
}

/* The longest beginning of at most HAC_BOUND_BYTES that ends with a character; *ret_utf8: all of it is
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

/* Makes the last character greater, so that all texts that begin like `bound` lie below; what is the greatest
 * already goes. False: all of it went. */
static bool raise(hac_extreme *bound, bool utf8)
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
        /* within the last six bits of a character the next one is well-formed, too */
        if (bound->bytes - start > 1 && *last < 0xbf) {
            ++*last;
            return true;
        }
        bound->bytes = (uint8_t)start;
    }
    return false;
}

static void set_text(hac_extreme *ret, const uint8_t *text, size_t bytes, bool greatest)
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
    ret->none = greatest && !raise(ret, utf8);
}

void hac_text_extremes_end(const hac_text_extremes *extremes, hac_extremes *ret)
{
    *ret = (hac_extremes){.any = extremes->any};
    if (!extremes->any)
        return;
    set_text(&ret->least, extremes->least, extremes->least_bytes, false);
    set_text(&ret->greatest, extremes->greatest, extremes->greatest_bytes, true);
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

int hac_extreme_compare(hac_stored stored, const hac_extreme *a, const hac_extreme *b)
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

/* Of equal bounds an exact one is a value that occurs. */
static void join(hac_extreme *extreme, const hac_extreme *more, int order)
{
    bool none = extreme->none || more->none;
    if (order > 0 || (order == 0 && more->exact))
        *extreme = *more;
    extreme->none = none;
}

void hac_extremes_join(hac_stored stored, hac_extremes *extremes, const hac_extremes *more)
{
    extremes->nans += more->nans;
    if (!more->any)
        return;
    if (!extremes->any) {
        extremes->any = true;
        extremes->least = more->least;
        extremes->greatest = more->greatest;
        return;
    }
    join(&extremes->least, &more->least, hac_extreme_compare(stored, &extremes->least, &more->least));
    join(&extremes->greatest, &more->greatest,
         hac_extreme_compare(stored, &more->greatest, &extremes->greatest));
}
