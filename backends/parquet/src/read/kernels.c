/* SPDX-License-Identifier: Apache-2.0 */
/* Compiled once for each instruction set; HAC_KERNELS is the table's name, HAC_KERNELS_NAME a string. */
#include "kernels.h"

#include <limits.h>
#include <string.h>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#define JULIAN_EPOCH 2440588 /* 1970-01-01 */
#define DAY_US       INT64_C(86400000000)

static inline uint16_t load_16(const uint8_t *from)
{
    uint16_t v;
    memcpy(&v, from, sizeof v);
    return v;
}

static inline uint32_t load_32(const uint8_t *from)
{
    uint32_t v;
    memcpy(&v, from, sizeof v);
    return v;
}

static inline uint64_t load_64(const uint8_t *from)
{
    uint64_t v;
    memcpy(&v, from, sizeof v);
    return v;
}

/* ---- bits ---------------------------------------------------------------------------------------------- */

/* Eight numbers take `width` bytes, so each position is a constant. Numbers wider than 57 bits may reach into
 * a ninth byte. */
static inline uint64_t number(const uint8_t *from, unsigned width, unsigned i)
{
    unsigned bit = i * width, shift = bit % 8;
    uint64_t v = load_64(from + bit / 8) >> shift;
    if (width + shift > 64)
        v |= (uint64_t)from[bit / 8 + 8] << (64 - shift);
    return width < 64 ? v & ((UINT64_C(1) << width) - 1) : v;
}

#define UNPACK(type, bits, width)                                                                            \
    static void unpack_##bits##_##width(const uint8_t *from, size_t n, type *ret)                            \
    {                                                                                                        \
        for (size_t at = 0; at < n; at += 8, from += (width))                                                \
            for (unsigned i = 0; i < 8; i++)                                                                 \
                ret[at + i] = (type)number(from, (width), i);                                                \
    }

/* clang-format off */
#define WIDTHS_32(M)                                                                                         \
    M(1) M(2) M(3) M(4) M(5) M(6) M(7) M(8)                                                                  \
    M(9) M(10) M(11) M(12) M(13) M(14) M(15) M(16)                                                           \
    M(17) M(18) M(19) M(20) M(21) M(22) M(23) M(24)                                                          \
    M(25) M(26) M(27) M(28) M(29) M(30) M(31) M(32)
#define WIDTHS_64(M)                                                                                         \
    M(33) M(34) M(35) M(36) M(37) M(38) M(39) M(40)                                                          \
    M(41) M(42) M(43) M(44) M(45) M(46) M(47) M(48)                                                          \
    M(49) M(50) M(51) M(52) M(53) M(54) M(55) M(56)                                                          \
    M(57) M(58) M(59) M(60) M(61) M(62) M(63) M(64)
/* clang-format on */

#define UNPACK_32(width) UNPACK(uint32_t, 32, width)
#define UNPACK_64(width) UNPACK(uint64_t, 64, width)
WIDTHS_32(UNPACK_32)
WIDTHS_32(UNPACK_64)
WIDTHS_64(UNPACK_64)

#if defined(__AVX2__)
/* Four numbers in each half: a shuffle brings each number's bytes into its lane, a shift its bits. Up to 25
 * bits, so that a number and the bits before it in its first byte fit 32. */
static void unpack_shuffle(const uint8_t *from, unsigned width, size_t n, uint32_t *ret)
{
    uint8_t control[32];
    uint32_t shifts[8];
    for (unsigned i = 0; i < 8; i++) {
        unsigned bit = i < 4 ? i * width : 4 * width % 8 + (i - 4) * width;
        for (unsigned b = 0; b < 4; b++)
            control[4 * i + b] = (uint8_t)(bit / 8 + b);
        shifts[i] = bit % 8;
    }
    const __m256i shuffle = _mm256_loadu_si256((const __m256i *)(const void *)control);
    const __m256i shift = _mm256_loadu_si256((const __m256i *)(const void *)shifts);
    const __m256i mask = _mm256_set1_epi32((int)((1u << width) - 1));
    for (size_t at = 0; at < n; at += 8, from += width) {
        __m256i v = _mm256_loadu2_m128i((const __m128i *)(const void *)(from + width / 2),
                                        (const __m128i *)(const void *)from);
        v = _mm256_and_si256(_mm256_srlv_epi32(_mm256_shuffle_epi8(v, shuffle), shift), mask);
        _mm256_storeu_si256((__m256i *)(void *)(ret + at), v);
    }
}
#endif

static void unpack_32(const uint8_t *from, unsigned width, size_t n, uint32_t *ret)
{
#define ENTRY(w) unpack_32_##w,
    static void (*const by_width[])(const uint8_t *, size_t, uint32_t *) = {NULL, WIDTHS_32(ENTRY)};
#undef ENTRY
    if (width == 0) {
        memset(ret, 0, n * sizeof *ret);
        return;
    }
#if defined(__AVX2__)
    if (width <= 25) {
        unpack_shuffle(from, width, n, ret);
        return;
    }
#endif
    by_width[width](from, n, ret);
}

static void unpack_64(const uint8_t *from, unsigned width, size_t n, uint64_t *ret)
{
#define ENTRY(w) unpack_64_##w,
    static void (*const by_width[])(const uint8_t *, size_t,
                                    uint64_t *) = {NULL, WIDTHS_32(ENTRY) WIDTHS_64(ENTRY)};
#undef ENTRY
    if (width == 0)
        memset(ret, 0, n * sizeof *ret);
    else
        by_width[width](from, n, ret);
}

static size_t bits(const uint8_t *from, size_t first, uint8_t flip, size_t n, uint8_t *ret)
{
    const uint64_t each = UINT64_C(0x0101010101010101), one_each = UINT64_C(0x8040201008040201);
    unsigned shift = first % 8;
    size_t sum = 0;
    from += first / 8;
    for (size_t at = 0; at < n; at += 8, from++) {
        uint64_t byte = (uint8_t)(load_16(from) >> shift);
        uint64_t spread = (((byte * each & one_each) + 0x7f * each) >> 7 & each) ^ flip * each;
        memcpy(ret + at, &spread, sizeof spread);
    }
    for (size_t i = 0; i < n; i++)
        sum += ret[i];
    return sum;
}

/* ---- codes and rows ------------------------------------------------------------------------------------ */

static uint32_t max(const uint32_t *codes, size_t n)
{
    uint32_t max = 0;
    for (size_t i = 0; i < n; i++)
        max = codes[i] > max ? codes[i] : max;
    return max;
}

#define MOVES(bytes, type)                                                                                   \
    static void look_up_##bytes(const void *table, const uint32_t *codes, const uint16_t *positions,         \
                                size_t n, void *ret)                                                         \
    {                                                                                                        \
        const type *from = table;                                                                            \
        type *to = ret;                                                                                      \
        if (positions == NULL)                                                                               \
            for (size_t i = 0; i < n; i++)                                                                   \
                to[i] = from[codes[i]];                                                                      \
        else                                                                                                 \
            for (size_t i = 0; i < n; i++)                                                                   \
                to[i] = from[codes[positions[i]]];                                                           \
    }                                                                                                        \
    static void spread_##bytes(const void *values, const uint8_t *states, size_t n, void *ret)               \
    {                                                                                                        \
        const type *from = values;                                                                           \
        type *to = ret;                                                                                      \
        size_t next = 0;                                                                                     \
        for (size_t i = 0; i < n; i++) {                                                                     \
            bool there = states[i] == 0;                                                                     \
            to[i] = from[next] & (type)(0 - (type)there);                                                    \
            next += there;                                                                                   \
        }                                                                                                    \
    }

typedef unsigned __int128 uint128_t;
MOVES(1, uint8_t)
MOVES(4, uint32_t)
MOVES(8, uint64_t)
MOVES(16, uint128_t)

static void look_up_few(const uint8_t *table, const uint32_t *codes, size_t n, uint8_t *ret)
{
    size_t i = 0;
#if defined(__AVX2__)
    /* Packing interleaves the halves of registers; the last permutation restores the order. */
    const __m256i values = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)(const void *)table));
    const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    for (; i + 32 <= n; i += 32) {
        const __m256i *at = (const __m256i *)(const void *)(codes + i);
        __m256i low = _mm256_packus_epi32(_mm256_loadu_si256(at), _mm256_loadu_si256(at + 1));
        __m256i high = _mm256_packus_epi32(_mm256_loadu_si256(at + 2), _mm256_loadu_si256(at + 3));
        __m256i picked = _mm256_shuffle_epi8(values, _mm256_packus_epi16(low, high));
        _mm256_storeu_si256((__m256i *)(void *)(ret + i), _mm256_permutevar8x32_epi32(picked, order));
    }
#endif
    for (; i < n; i++)
        ret[i] = table[codes[i]];
}

/* ---- sums ---------------------------------------------------------------------------------------------- */

#define SUM(bits, type)                                                                                      \
    static uint64_t sum_##bits(const type *deltas, size_t n, uint64_t min, uint64_t last, uint64_t *ret)     \
    {                                                                                                        \
        for (size_t i = 0; i < n; i++) {                                                                     \
            last += deltas[i] + min;                                                                         \
            ret[i] = last;                                                                                   \
        }                                                                                                    \
        return last;                                                                                         \
    }
SUM(32, uint32_t)
SUM(64, uint64_t)

static void cut_signed(uint64_t *values, size_t n)
{
    for (size_t i = 0; i < n; i++)
        values[i] = (uint64_t)(int64_t)(int32_t)values[i];
}

static void cut_unsigned(uint64_t *values, size_t n)
{
    for (size_t i = 0; i < n; i++)
        values[i] = (uint32_t)values[i];
}

/* ---- streams ------------------------------------------------------------------------------------------- */

/* Pairs of bytes, pairs of pairs …: each step is an interleaving, which vectorises. */
static void join_4(const uint8_t *from, size_t stride, size_t n, uint8_t *ret)
{
    const uint8_t *a = from, *b = from + stride, *c = b + stride, *d = c + stride;
    for (size_t i = 0; i < n; i++) {
        uint32_t v = (uint32_t)a[i] | (uint32_t)b[i] << 8 | (uint32_t)c[i] << 16 | (uint32_t)d[i] << 24;
        memcpy(ret + 4 * i, &v, sizeof v);
    }
}

static void join_8(const uint8_t *from, size_t stride, size_t n, uint8_t *ret)
{
    enum { TILE = 64 };
    uint32_t low[TILE], high[TILE];
    for (size_t at = 0; at < n; at += TILE) {
        size_t some = n - at < TILE ? n - at : TILE;
        join_4(from + at, stride, some, (uint8_t *)low);
        join_4(from + 4 * stride + at, stride, some, (uint8_t *)high);
        for (size_t i = 0; i < some; i++) {
            uint64_t v = (uint64_t)high[i] << 32 | low[i];
            memcpy(ret + 8 * (at + i), &v, sizeof v);
        }
    }
}

static void join(const uint8_t *from, size_t stride, size_t width, size_t n, uint8_t *ret)
{
    if (width == 4)
        join_4(from, stride, n, ret);
    else if (width == 8)
        join_8(from, stride, n, ret);
    else
        for (size_t b = 0; b < width; b++)
            for (size_t i = 0; i < n; i++)
                ret[i * width + b] = from[b * stride + i];
}

/* ---- conversions --------------------------------------------------------------------------------------- */

/* Negative if outside [low, high]; a difference that wraps comes from a value far outside. */
static inline uint64_t outside(const hac_parquet_rule *rule, int64_t v)
{
    return ((uint64_t)v - (uint64_t)rule->low) | ((uint64_t)rule->high - (uint64_t)v);
}

static inline int64_t big_64(const uint8_t *from, uint32_t width)
{
    return width == 0 ? 0 : (int64_t)__builtin_bswap64(load_64(from)) >> (64 - 8 * width);
}

static inline __int128 big_128(const uint8_t *from, uint32_t width)
{
    if (width == 0)
        return 0;
    uint128_t v = (uint128_t)__builtin_bswap64(load_64(from)) << 64 | __builtin_bswap64(load_64(from + 8));
    return (__int128)v >> (128 - 8 * width);
}

/* Bytes before the last 16 only repeat the sign. */
static inline bool big_cut(const uint8_t **from, uint32_t *width)
{
    uint32_t extra = *width - 16;
    uint8_t sign = (*from)[extra] & 0x80 ? 0xff : 0;
    bool same = true;
    for (uint32_t i = 0; i < extra; i++)
        same = same && (*from)[i] == sign;
    *from += extra;
    *width = 16;
    return same;
}

static inline int64_t floor_thousandth(int64_t v)
{
    return v / 1000 - (v % 1000 < 0);
}

/* Spark adds the Julian epoch to a time of 64 bits, which wraps around once for the last 6,682 years of the
 * type's range. Then the stored sum fits 64 bits, and taking the epoch off again does not. The highest bit of
 * *bad is set if the time is out of range, or is no whole number of microseconds. */
static inline int64_t int96_us(const uint8_t *from, uint64_t *bad)
{
    int64_t nanos = (int64_t)load_64(from), day = (int32_t)load_32(from + 8);
    int64_t micros = floor_thousandth(nanos);
    __int128 stored = (__int128)day * DAY_US + micros;
    __int128 time = stored - (__int128)JULIAN_EPOCH * DAY_US;
    if (time < INT64_MIN && stored >= INT64_MIN)
        time += (__int128)1 << 64;
    *bad |= (uint64_t)(time != (int64_t)time || nanos % 1000 != 0) << 63;
    return (int64_t)time;
}

static inline int64_t int96_ns(const uint8_t *from, uint64_t *bad)
{
    int64_t nanos = (int64_t)load_64(from), day = (int32_t)load_32(from + 8);
    __int128 time = (__int128)(day - JULIAN_EPOCH) * DAY_US * 1000 + nanos;
    *bad |= (uint64_t)(time != (int64_t)time) << 63;
    return (int64_t)time;
}

static inline float float_of(uint32_t bits)
{
    float ret;
    memcpy(&ret, &bits, sizeof ret);
    return ret;
}

/* A half: sign, 5 bits of exponent (15 is 0), 10 bits of fraction. */
static inline uint32_t half_bits(uint16_t half)
{
    uint32_t sign = (uint32_t)(half & 0x8000) << 16, rest = half & 0x7fff;
    uint32_t tiny;
    float scaled = (float)rest * 0x1p-24f; /* exact, zero included */
    memcpy(&tiny, &scaled, sizeof tiny);
    uint32_t normal = (rest << 13) + ((127 - 15) << 23);
    uint32_t special = (rest << 13) | 0x7f800000;
    return sign | (rest >= 0x7c00 ? special : rest >= 0x400 ? normal : tiny);
}

/* One loop over consecutive values and one over positions, with the same BODY: `v` points to the value, `i`
 * is the index of the result. */
#define CONVERT(name, bytes, result, BODY)                                                                   \
    static bool name(const hac_parquet_rule *rule, const uint8_t *from, const uint16_t *positions, size_t n, \
                     void *ret)                                                                              \
    {                                                                                                        \
        const size_t width = (bytes);                                                                        \
        result *to = ret;                                                                                    \
        uint64_t bad = 0; /* its highest bit */                                                              \
        (void)rule;                                                                                          \
        if (positions == NULL) {                                                                             \
            for (size_t i = 0; i < n; i++) {                                                                 \
                const uint8_t *v = from + i * width;                                                         \
                BODY                                                                                         \
            }                                                                                                \
        } else {                                                                                             \
            for (size_t i = 0; i < n; i++) {                                                                 \
                const uint8_t *v = from + positions[i] * width;                                              \
                BODY                                                                                         \
            }                                                                                                \
        }                                                                                                    \
        return bad >> 63 == 0;                                                                               \
    }

CONVERT(copy_4_each, 4, uint32_t, to[i] = load_32(v);)
CONVERT(copy_8_each, 8, uint64_t, to[i] = load_64(v);)
CONVERT(i32, 4, int64_t, to[i] = (int32_t)load_32(v);)
CONVERT(u32, 4, uint64_t, to[i] = load_32(v);)
CONVERT(range_i32, 4, int64_t, {
    to[i] = (int32_t)load_32(v);
    bad |= outside(rule, to[i]);
})
CONVERT(small_u32, 4, int64_t, {
    int64_t stored = (int32_t)load_32(v);
    to[i] = stored & rule->high;
    bad |= outside(rule, stored);
})
CONVERT(small_u64, 8, int64_t, {
    int64_t stored = (int32_t)load_64(v);
    to[i] = stored & rule->high;
    bad |= outside(rule, stored);
})
CONVERT(range_i64, 8, int64_t, {
    to[i] = (int64_t)load_64(v);
    bad |= outside(rule, to[i]);
})
CONVERT(millis, 8, int64_t, {
    uint64_t ms = load_64(v);
    to[i] = (int64_t)(ms * 1000);
    bad |= outside(rule, (int64_t)ms);
})
CONVERT(nanos, 8, int64_t, {
    int64_t ns = (int64_t)load_64(v);
    to[i] = floor_thousandth(ns);
    bad |= (uint64_t)(ns % 1000 != 0) << 63;
})
CONVERT(int96, 12, int64_t, to[i] = int96_us(v, &bad);)
CONVERT(int96_nanos, 12, int64_t, to[i] = int96_ns(v, &bad);)
CONVERT(half, 2, uint32_t, to[i] = half_bits(load_16(v));)
CONVERT(float_64, 4, double, to[i] = (double)float_of(load_32(v));)
CONVERT(half_64, 2, double, to[i] = (double)float_of(half_bits(load_16(v)));)
CONVERT(wide_32, 4, __int128, to[i] = (int32_t)load_32(v);)
CONVERT(wide_64, 8, __int128, to[i] = (int64_t)load_64(v);)
CONVERT(big_64_each, rule->width, int64_t, {
    if (width <= 8) {
        to[i] = big_64(v, rule->width);
        bad |= outside(rule, to[i]);
    } else {
        uint32_t bytes_left = rule->width;
        bool fits = bytes_left <= 16 || big_cut(&v, &bytes_left);
        __int128 wide = big_128(v, bytes_left);
        to[i] = (int64_t)wide;
        bad |= outside(rule, to[i]) | (uint64_t)(!fits || wide != to[i]) << 63;
    }
})

static bool big_128_each(const hac_parquet_rule *rule, const uint8_t *from, const uint16_t *positions,
                         size_t n, void *ret)
{
    __int128 *to = ret, limit = 1;
    bool good = true;
    for (unsigned d = 0; d < rule->digits; d++)
        limit *= 10;
    for (size_t i = 0; i < n; i++) {
        const uint8_t *v = from + (positions == NULL ? i : positions[i]) * rule->width;
        uint32_t width = rule->width;
        good &= width <= 16 || big_cut(&v, &width);
        to[i] = big_128(v, width);
        good &= to[i] < limit && to[i] > -limit;
    }
    return good;
}

/* Values without conversion are copied at once. */
#define COPY(bytes)                                                                                          \
    static bool copy_##bytes(const hac_parquet_rule *rule, const uint8_t *from, const uint16_t *positions,   \
                             size_t n, void *ret)                                                            \
    {                                                                                                        \
        if (positions != NULL)                                                                               \
            return copy_##bytes##_each(rule, from, positions, n, ret);                                       \
        memcpy(ret, from, n *(bytes));                                                                       \
        return true;                                                                                         \
    }
COPY(4)
COPY(8)

const hac_parquet_kernels HAC_KERNELS = {
    .name = HAC_KERNELS_NAME,
    .unpack_32 = unpack_32,
    .unpack_64 = unpack_64,
    .bits = bits,
    .max = max,
    .look_up_1 = look_up_1,
    .look_up_4 = look_up_4,
    .look_up_8 = look_up_8,
    .look_up_16 = look_up_16,
    .look_up_few = look_up_few,
    .spread_1 = spread_1,
    .spread_4 = spread_4,
    .spread_8 = spread_8,
    .spread_16 = spread_16,
    .sum_32 = sum_32,
    .sum_64 = sum_64,
    .cut_signed = cut_signed,
    .cut_unsigned = cut_unsigned,
    .join = join,
    .convert = {[HAC_RULE_COPY_4] = copy_4,
                [HAC_RULE_COPY_8] = copy_8,
                [HAC_RULE_I32] = i32,
                [HAC_RULE_U32] = u32,
                [HAC_RULE_RANGE_I32] = range_i32,
                [HAC_RULE_RANGE_I64] = range_i64,
                [HAC_RULE_SMALL_U32] = small_u32,
                [HAC_RULE_SMALL_U64] = small_u64,
                [HAC_RULE_MILLIS] = millis,
                [HAC_RULE_NANOS] = nanos,
                [HAC_RULE_INT96] = int96,
                [HAC_RULE_INT96_NANOS] = int96_nanos,
                [HAC_RULE_HALF] = half,
                [HAC_RULE_FLOAT_64] = float_64,
                [HAC_RULE_HALF_64] = half_64,
                [HAC_RULE_WIDE_32] = wide_32,
                [HAC_RULE_WIDE_64] = wide_64,
                [HAC_RULE_BIG_64] = big_64_each,
                [HAC_RULE_BIG_128] = big_128_each},
};
