/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of decoding, each compared with a simple encoder or loop in this file. */
#include "base/test_support.h"

#include <libdeflate.h>
#include <lz4.h>
#include <snappy-c.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/random.h"
#include "convert_one.h"
#include "read/byte_arrays.h"
#include "read/codec.h"
#include "read/delta.h"
#include "read/rle_hybrid.h"
#include "read/snappy.h"
#include "read/string_buffer.h"

#define MAX 3000

static uint64_t seed = 1;

static uint64_t draw(uint64_t below)
{
    return hac_random_u64(&seed) % below;
}

/* ---- writing bits, bytes and numbers ------------------------------------------------------------------- */

typedef struct output {
    uint8_t data[64 * MAX + HAC_PARQUET_SLACK];
    size_t bytes;
    unsigned bit; /* used bits of the last byte; 0: it is full */
} output;

static output out;

static void put_bits(uint64_t value, unsigned width)
{
    for (unsigned i = 0; i < width; i++) {
        if (out.bit == 0)
            out.data[out.bytes++] = 0;
        out.data[out.bytes - 1] |= (uint8_t)((value >> i & 1) << out.bit);
        out.bit = (out.bit + 1) % 8;
    }
}

static void put_varint(uint64_t value)
{
    out.bit = 0;
    for (; value >= 0x80; value >>= 7)
        out.data[out.bytes++] = (uint8_t)(value | 0x80);
    out.data[out.bytes++] = (uint8_t)value;
}

static void begin_output(void)
{
    memset(&out, 0, sizeof out);
}

/* ---- the loops ----------------------------------------------------------------------------------------- */

static void each_kernels(void (*test)(const hac_parquet_kernels *))
{
    const hac_parquet_kernels *all[3];
    for (size_t n = hac_parquet_kernels_all(all), i = 0; i < n; i++)
        test(all[i]);
}

static void unpacking(const hac_parquet_kernels *k)
{
    static uint64_t wanted[MAX], wide[MAX + 32];
    static uint32_t narrow[MAX + 32];
    for (unsigned width = 0; width <= 64; width++) {
        size_t n = 8 * draw(200);
        begin_output();
        for (size_t i = 0; i < n; i++) {
            wanted[i] = width == 0 ? 0 : hac_random_u64(&seed) >> (64 - width);
            put_bits(wanted[i], width);
        }
        k->unpack_64(out.data, width, n, wide);
        assert_memory_equal(wide, wanted, n * sizeof *wide);
        if (width > 32)
            continue;
        k->unpack_32(out.data, width, n, narrow);
        for (size_t i = 0; i < n; i++)
            assert_int_equal(narrow[i], wanted[i]);
    }
}

static void single_bits(const hac_parquet_kernels *k)
{
    uint8_t ret[MAX + 8];
    begin_output();
    for (size_t i = 0; i < sizeof out.data; i++)
        out.data[i] = (uint8_t)draw(256);
    for (unsigned round = 0; round < 200; round++) {
        size_t first = draw(50), n = draw(MAX), sum = 0;
        uint8_t flip = (uint8_t)draw(2);
        size_t got = k->bits(out.data, first, flip, n, ret);
        for (size_t i = 0; i < n; i++) {
            uint8_t bit = (out.data[(first + i) / 8] >> (first + i) % 8 & 1) ^ flip;
            assert_int_equal(ret[i], bit);
            sum += bit;
        }
        assert_int_equal(got, sum);
    }
}

static void spreading(const hac_parquet_kernels *k)
{
    _Alignas(16) uint8_t values[16 * 1025], ret[16 * 1024], states[1024];
    void (*const spreads[])(const void *, const uint8_t *, size_t, void *) = {k->spread_1, k->spread_4,
                                                                              k->spread_8, k->spread_16};
    const size_t sizes[] = {1, 4, 8, 16};
    for (size_t i = 0; i < sizeof values; i++)
        values[i] = (uint8_t)(1 + draw(255));
    for (unsigned round = 0; round < 40; round++) {
        size_t n = draw(1025), size = sizes[round % 4], next = 0;
        for (size_t i = 0; i < n; i++)
            states[i] = draw(3) == 0;
        spreads[round % 4](values, states, n, ret);
        for (size_t i = 0; i < n; i++) {
            static const uint8_t zero[16];
            assert_memory_equal(ret + i * size, states[i] ? zero : values + next * size, size);
            next += states[i] == 0;
        }
    }
}

static void joining(const hac_parquet_kernels *k)
{
    static const size_t widths[] = {1, 2, 3, 4, 5, 8, 11, 16, 40};
    uint8_t ret[40 * 300];
    begin_output();
    for (size_t i = 0; i < 40 * 400; i++)
        out.data[i] = (uint8_t)draw(256);
    for (size_t w = 0; w < sizeof widths / sizeof *widths; w++) {
        size_t stride = 300 + draw(100), n = draw(301), at = draw(stride - n + 1);
        k->join(out.data + at, stride, widths[w], n, ret);
        for (size_t i = 0; i < n; i++)
            for (size_t b = 0; b < widths[w]; b++)
                assert_int_equal(ret[i * widths[w] + b], out.data[at + b * stride + i]);
    }
}

static void fill_values(uint8_t *from, size_t bytes)
{
    unsigned rarity = 1 + (unsigned)draw(6);
    for (size_t i = 0; i < bytes; i++)
        from[i] = draw(rarity) == 0 ? (uint8_t)draw(256) : draw(5) == 0 ? 0xff : 0;
}

static void compare_rule(const hac_parquet_kernels *k, const hac_parquet_rule *r, size_t size)
{
    _Alignas(16) static uint8_t from[40 * 1024 + HAC_PARQUET_SLACK], ret[16 * 1024], one[16];
    uint16_t positions[1024];
    size_t n = draw(1025), some = 0;
    bool all = true, picked_all = true;
    fill_values(from, n * r->width);
    for (size_t i = 0; i < n; i++)
        if (draw(3) == 0)
            positions[some++] = (uint16_t)i;
    bool good = k->convert[r->kind](r, from, NULL, n, ret);
    for (size_t i = 0; i < n; i++) {
        bool fits = convert_one(r, from + i * r->width, one);
        bool half = r->kind == HAC_RULE_HALF || r->kind == HAC_RULE_HALF_64;
        bool nan = (half && (from[2 * i + 1] & 0x7c) == 0x7c) || r->kind == HAC_RULE_FLOAT_64;
        if (fits && !nan)
            assert_memory_equal(ret + i * size, one, size);
        assert_int_equal(k->convert[r->kind](r, from + i * r->width, NULL, 1, one), fits);
        all = all && fits;
    }
    assert_int_equal(good, all);
    good = k->convert[r->kind](r, from, positions, some, ret);
    for (size_t i = 0; i < some; i++) {
        bool fits = k->convert[r->kind](r, from + positions[i] * r->width, NULL, 1, one);
        if (fits)
            assert_memory_equal(ret + i * size, one, size);
        picked_all = picked_all && fits;
    }
    assert_int_equal(good, picked_all);
}

static void converting(const hac_parquet_kernels *k)
{
    static const uint8_t widths[HAC_RULE_END] = {
        [HAC_RULE_COPY_4] = 4,    [HAC_RULE_COPY_8] = 8,       [HAC_RULE_I32] = 4,
        [HAC_RULE_U32] = 4,       [HAC_RULE_RANGE_I32] = 4,    [HAC_RULE_SMALL_U32] = 4,
        [HAC_RULE_RANGE_I64] = 8, [HAC_RULE_MILLIS] = 8,       [HAC_RULE_NANOS] = 8,
        [HAC_RULE_INT96] = 12,    [HAC_RULE_INT96_NANOS] = 12, [HAC_RULE_HALF] = 2,
        [HAC_RULE_FLOAT_64] = 4,  [HAC_RULE_HALF_64] = 2,      [HAC_RULE_WIDE_32] = 4,
        [HAC_RULE_WIDE_64] = 8,   [HAC_RULE_SMALL_U64] = 8};
    for (unsigned round = 0; round < 300; round++) {
        hac_parquet_rule r = {.kind = (hac_parquet_rule_kind)(round % HAC_RULE_END)};
        r.width = widths[r.kind];
        r.digits = 19 + (unsigned)draw(20);
        r.high =
            r.kind == HAC_RULE_MILLIS ? INT64_MAX / 1000 : (int64_t)(hac_random_u64(&seed) >> (3 + draw(60)));
        r.low = -r.high;
        if (r.kind == HAC_RULE_SMALL_U32 || r.kind == HAC_RULE_SMALL_U64) {
            r.high = draw(2) == 0 ? UINT8_MAX : UINT16_MAX;
            r.low = -(r.high + 1) / 2;
        }
        if (r.kind == HAC_RULE_BIG_64 || r.kind == HAC_RULE_BIG_128)
            r.width = (uint32_t)draw(17);
        size_t size = r.kind == HAC_RULE_COPY_4 || r.kind == HAC_RULE_HALF ? 4
                      : r.kind == HAC_RULE_BIG_128 || r.kind == HAC_RULE_WIDE_32 || r.kind == HAC_RULE_WIDE_64
                          ? 16
                          : 8;
        compare_rule(k, &r, size);
    }
}

/* Decimals longer than 16 bytes: the leading bytes must repeat the sign. */
static void long_decimals(const hac_parquet_kernels *k)
{
    uint8_t from[20 + HAC_PARQUET_SLACK] = {0};
    hac_parquet_rule r = {.kind = HAC_RULE_BIG_128, .width = 20, .digits = 38};
    __int128 ret = 0;
    from[19] = 7;
    assert_true(k->convert[r.kind](&r, from, NULL, 1, &ret) && ret == 7);
    from[0] = 1;
    assert_false(k->convert[r.kind](&r, from, NULL, 1, &ret));
    memset(from, 0xff, 20);
    assert_true(k->convert[r.kind](&r, from, NULL, 1, &ret) && ret == -1);
    from[3] = 0xfe;
    assert_false(k->convert[r.kind](&r, from, NULL, 1, &ret));
    r = (hac_parquet_rule){.kind = HAC_RULE_BIG_64, .width = 18, .low = -100, .high = 100};
    memset(from, 0xff, 18);
    from[17] = 0x9c;
    int64_t small = 0;
    assert_true(k->convert[r.kind](&r, from, NULL, 1, &small) && small == -100);
    from[17] = 0x9b;
    assert_false(k->convert[r.kind](&r, from, NULL, 1, &small));
}

static void test_loops(void **state)
{
    (void)state;
    each_kernels(unpacking);
    each_kernels(single_bits);
    each_kernels(spreading);
    each_kernels(joining);
    each_kernels(converting);
    each_kernels(long_decimals);
}

/* ---- run lengths and packed bits ----------------------------------------------------------------------- */

/* Encodes n values as runs of random lengths; the last packed run has surplus values. */
static void encode_hybrid(uint32_t *values, size_t n, unsigned width)
{
    uint32_t max = width == 0 ? 0 : UINT32_MAX >> (32 - width);
    begin_output();
    for (size_t at = 0; at < n;) {
        size_t some = 1 + draw(draw(2) ? 10 : 1000);
        some = some < n - at ? some : n - at;
        if (draw(2) == 0) {
            uint32_t value = (uint32_t)hac_random_u64(&seed) & max;
            put_varint(some << 1);
            for (unsigned b = 0; b < (width + 7) / 8; b++)
                out.data[out.bytes++] = (uint8_t)(value >> 8 * b);
            for (size_t i = 0; i < some; i++)
                values[at++] = value;
            continue;
        }
        size_t groups = at + some == n ? (some + 7) / 8 : some / 8;
        put_varint(groups << 1 | 1);
        for (size_t i = 0; i < 8 * groups; i++) {
            uint32_t value = (uint32_t)hac_random_u64(&seed) & max;
            put_bits(value, width);
            if (at < n)
                values[at++] = value;
        }
    }
}

static void hybrid_in_pieces(const hac_parquet_kernels *k)
{
    static uint32_t values[MAX], got[MAX + 64];
    for (unsigned round = 0; round < 400; round++) {
        unsigned width = round % 33;
        size_t n = draw(MAX);
        hac_parquet_hybrid h;
        encode_hybrid(values, n, width);
        assert_null(hac_parquet_hybrid_begin(&h, k, width, out.data, out.bytes));
        for (size_t at = 0; at < n;) {
            size_t some = 1 + draw(draw(2) ? 9 : 1024);
            some = some < n - at ? some : n - at;
            if (draw(3) == 0) {
                assert_null(hac_parquet_hybrid_skip(&h, some));
            } else {
                assert_null(hac_parquet_hybrid_get(&h, some, got));
                assert_memory_equal(got, values + at, some * sizeof *got);
            }
            at += some;
        }
    }
}

static void hybrid_states(const hac_parquet_kernels *k)
{
    static uint32_t values[MAX];
    static uint8_t states[MAX + 64];
    for (unsigned round = 0; round < 200; round++) {
        unsigned width = 1 + round % 3;
        uint32_t max = (1u << width) - 1;
        size_t n = draw(MAX);
        hac_parquet_hybrid h;
        encode_hybrid(values, n, width);
        assert_null(hac_parquet_hybrid_begin(&h, k, width, out.data, out.bytes));
        for (size_t at = 0; at < n;) {
            size_t some = 1 + draw(1024), sum = 0, wanted = 0;
            some = some < n - at ? some : n - at;
            assert_null(hac_parquet_hybrid_states(&h, max, some, states, &sum));
            for (size_t i = 0; i < some; i++) {
                assert_int_equal(states[i], values[at + i] != max);
                wanted += values[at + i] != max;
            }
            assert_int_equal(sum, wanted);
            at += some;
        }
    }
}

static void test_hybrid(void **state)
{
    (void)state;
    each_kernels(hybrid_in_pieces);
    each_kernels(hybrid_states);
}

static void test_hybrid_damage(void **state)
{
    (void)state;
    const hac_parquet_kernels *k = hac_parquet_kernels_get();
    hac_parquet_hybrid h;
    uint32_t got[64];
    size_t sum = 0;
    uint8_t bytes[64];
    uint8_t data[16 + HAC_PARQUET_SLACK] = {2 << 1, 5, 1 << 1};
    assert_non_null(hac_parquet_hybrid_begin(&h, k, 33, data, 3));
    assert_null(hac_parquet_hybrid_begin(&h, k, 8, data, 3));
    assert_null(hac_parquet_hybrid_get(&h, 2, got));
    assert_int_equal(got[1], 5);
    assert_non_null(hac_parquet_hybrid_get(&h, 1, got)); /* a run without its value */
    assert_null(hac_parquet_hybrid_begin(&h, k, 8, data, 2));
    assert_non_null(hac_parquet_hybrid_get(&h, 3, got));
    assert_null(hac_parquet_hybrid_begin(&h, k, 2, data, 2)); /* 5 is not a level up to 2 */
    assert_non_null(hac_parquet_hybrid_states(&h, 2, 2, bytes, &sum));
    memset(data, 0xff, 8);
    assert_null(hac_parquet_hybrid_begin(&h, k, 8, data, 8));
    assert_non_null(hac_parquet_hybrid_get(&h, 1, got)); /* a length without an end */
    memset(data, 0, 8);
    assert_null(hac_parquet_hybrid_begin(&h, k, 8, data, 8));
    assert_non_null(hac_parquet_hybrid_get(&h, 1, got)); /* empty runs */
    data[0] = 4 << 1 | 1; /* four groups of eight, cut after the first 12 values */
    assert_null(hac_parquet_hybrid_begin(&h, k, 4, data, 7));
    assert_null(hac_parquet_hybrid_get(&h, 12, got));
    assert_non_null(hac_parquet_hybrid_get(&h, 1, got));
}

/* ---- differences --------------------------------------------------------------------------------------- */

static void put_zigzag(uint64_t value)
{
    put_varint(value << 1 ^ (0 - (value >> 63)));
}

static unsigned bits_of(uint64_t v)
{
    return v == 0 ? 0 : 64 - (unsigned)__builtin_clzll(v);
}

/* `cut`: the last miniblock ends after its last value. */
static void encode_delta(const uint64_t *values, size_t n, unsigned minis, unsigned mini_values, bool narrow,
                         bool cut)
{
    uint64_t mask = narrow && draw(2) ? UINT32_MAX : UINT64_MAX; /* some writers do not let them wrap */
    put_varint((uint64_t)minis * mini_values);
    put_varint(minis);
    put_varint(n);
    put_zigzag(n > 0 ? values[0] : 0);
    for (size_t at = 1; at < n; at += (size_t)minis * mini_values) {
        size_t end = at + (size_t)minis * mini_values < n ? at + (size_t)minis * mini_values : n;
        uint64_t min = values[at] - values[at - 1];
        for (size_t i = at; i < end; i++)
            if ((int64_t)(values[i] - values[i - 1]) < (int64_t)min)
                min = values[i] - values[i - 1];
        put_zigzag(min);
        size_t widths = out.bytes;
        out.bytes += minis;
        for (unsigned m = 0; m < minis; m++) {
            size_t first = at + (size_t)m * mini_values,
                   last = first + mini_values < end ? first + mini_values : end;
            unsigned width = 0;
            out.data[widths + m] = 0xff; /* widths of unused miniblocks must not be read */
            if (first >= end)
                continue;
            for (size_t i = first; i < last; i++)
                if (bits_of((values[i] - values[i - 1] - min) & mask) > width)
                    width = bits_of((values[i] - values[i - 1] - min) & mask);
            out.data[widths + m] = (uint8_t)width;
            out.bit = 0;
            for (size_t i = first; i < (cut && last == n ? last : first + mini_values); i++)
                put_bits(i < last ? (values[i] - values[i - 1] - min) & mask : 0, width);
        }
    }
}

static void draw_numbers(uint64_t *values, size_t n, bool narrow)
{
    unsigned shift = (unsigned)draw(65), kind = (unsigned)draw(3);
    uint64_t last = hac_random_u64(&seed);
    for (size_t i = 0; i < n; i++) {
        uint64_t step = shift == 64 ? 0 : hac_random_u64(&seed) >> shift;
        last = kind == 0 ? step : kind == 1 ? last + step : last - step;
        values[i] = narrow ? (uint64_t)(int64_t)(int32_t)last : last;
    }
}

static void delta_in_pieces(const hac_parquet_kernels *k)
{
    static uint64_t values[MAX], got[MAX + 64];
    for (unsigned round = 0; round < 600; round++) {
        static const unsigned shapes[][2] = {{4, 32}, {1, 128}, {2, 64}, {8, 32}, {4, 256}};
        const unsigned *shape = shapes[round % 5];
        bool narrow = draw(2), cut = draw(2);
        size_t n = draw(draw(2) ? 40 : MAX), at = 0;
        hac_parquet_delta d;
        const uint8_t *end = NULL;
        draw_numbers(values, n, narrow);
        begin_output();
        encode_delta(values, n, shape[0], shape[1], narrow, cut);
        size_t bytes = out.bytes;
        assert_null(hac_parquet_delta_begin(&d, k, narrow, false, out.data, bytes));
        assert_null(hac_parquet_delta_end(&d, &end));
        assert_int_equal(end - out.data, bytes);
        while (at < n) {
            size_t some = 1 + draw(draw(2) ? 40 : 1024);
            some = some < n - at ? some : n - at;
            assert_null(hac_parquet_delta_get(&d, some, got));
            assert_memory_equal(got, values + at, some * sizeof *got);
            at += some;
        }
        assert_non_null(hac_parquet_delta_get(&d, 1, got));
    }
}

static void test_delta(void **state)
{
    (void)state;
    each_kernels(delta_in_pieces);
}

static void test_delta_damage(void **state)
{
    (void)state;
    static const uint8_t heads[][6] = {
        {0, 4, 1, 0}, {100, 4, 1, 0}, {128, 1, 0, 1, 0}, {128, 1, 3, 1, 0}, {128, 1, 8, 1, 0}};
    const hac_parquet_kernels *k = hac_parquet_kernels_get();
    hac_parquet_delta d;
    uint64_t values[200], got[256];
    const uint8_t *end;
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
        assert_non_null(hac_parquet_delta_begin(&d, k, false, false, heads[i], sizeof heads[i]));
    draw_numbers(values, 200, false);
    begin_output();
    encode_delta(values, 200, 4, 32, false, false);
    for (size_t bytes = 0; bytes < out.bytes; bytes++) {
        if (hac_parquet_delta_begin(&d, k, false, false, out.data, bytes) != NULL)
            continue;
        hac_parquet_delta copy = d;
        const char *why = hac_parquet_delta_end(&d, &end);
        assert_int_equal(why == NULL, hac_parquet_delta_get(&copy, 200, got) == NULL);
    }
    begin_output();
    put_varint(128), put_varint(4), put_varint(UINT64_MAX), put_varint(0);
    assert_null(hac_parquet_delta_begin(&d, k, false, false, out.data, out.bytes));
    assert_non_null(hac_parquet_delta_end(&d, &end));
    assert_non_null(hac_parquet_delta_get(&d, 100, got));
    out.data[out.bytes++] = 0; /* minimum */
    memset(out.data + out.bytes, 65, 4);
    assert_null(hac_parquet_delta_begin(&d, k, true, false, out.data, out.bytes + 600));
    assert_non_null(hac_parquet_delta_get(&d, 100, got));
}

/* ---- strings ------------------------------------------------------------------------------------------- */

#define STRINGS 2500

typedef struct strings {
    uint8_t data[60 * STRINGS];
    size_t at[STRINGS + 1];
    uint64_t prefixes[STRINGS], suffixes[STRINGS], lengths[STRINGS];
} strings;

static strings texts;

static void draw_strings(void)
{
    for (size_t i = 0; i < STRINGS; i++) {
        size_t before = i > 0 ? (size_t)texts.lengths[i - 1] : 0, prefix = draw(before + 1),
               suffix = draw(20);
        prefix = prefix + suffix > 60 ? 0 : prefix;
        uint8_t *to = texts.data + texts.at[i];
        memcpy(to, to - before, prefix);
        for (size_t b = 0; b < suffix; b++)
            to[prefix + b] = (uint8_t)draw(256);
        texts.prefixes[i] = prefix;
        texts.suffixes[i] = suffix;
        texts.lengths[i] = prefix + suffix;
        texts.at[i + 1] = texts.at[i] + prefix + suffix;
    }
}

/* Places a page in the string buffer; returns its offset. */
static size_t place_page(hac_string_buffer *buffer)
{
    size_t place = 0;
    assert_int_equal(hac_string_buffer_place(buffer, out.bytes + HAC_PARQUET_SLACK, &place, NULL), HAC_OK);
    memcpy(buffer->data + place, out.data, out.bytes);
    return place;
}

static void begin_texts(hac_byte_arrays *t, hac_byte_arrays_kind kind, hac_string_buffer *buffer,
                        uint8_t **page)
{
    const hac_parquet_kernels *k = hac_parquet_kernels_get();
    begin_output();
    if (kind == HAC_BYTE_ARRAYS_PREFIXES)
        encode_delta(texts.prefixes, STRINGS, 4, 32, true, false);
    if (kind != HAC_BYTE_ARRAYS_PLAIN)
        encode_delta(kind == HAC_BYTE_ARRAYS_LENGTHS ? texts.lengths : texts.suffixes, STRINGS, 4, 32, true,
                     false);
    for (size_t i = 0; i < STRINGS; i++) {
        uint32_t length = (uint32_t)texts.lengths[i], prefix = 0;
        if (kind == HAC_BYTE_ARRAYS_PREFIXES)
            prefix = (uint32_t)texts.prefixes[i];
        if (kind == HAC_BYTE_ARRAYS_PLAIN) {
            memcpy(out.data + out.bytes, &length, sizeof length);
            out.bytes += sizeof length;
        }
        memcpy(out.data + out.bytes, texts.data + texts.at[i] + prefix, length - prefix);
        out.bytes += length - prefix;
    }
    hac_error err = HAC_ERROR_NONE;
    *page = malloc(out.bytes + HAC_PARQUET_SLACK);
    memcpy(*page, out.data, out.bytes);
    hac_status status = kind == HAC_BYTE_ARRAYS_PREFIXES
                            ? hac_byte_arrays_begin_prefixes(t, k, buffer, 1 << 20, *page, out.bytes, &err)
                            : hac_byte_arrays_begin(t, kind, k, buffer, place_page(buffer), out.bytes, &err);
    assert_int_equal(status, HAC_OK);
}

static void test_texts(void **state)
{
    (void)state;
    hac_string_ref refs[1024];
    for (unsigned round = 0; round < 60; round++) {
        hac_string_buffer buffer = {0};
        hac_parquet_last last = {0};
        hac_byte_arrays t;
        uint8_t *page = NULL;
        draw_strings();
        hac_string_buffer_empty(&buffer);
        begin_texts(&t, (hac_byte_arrays_kind)(round % 3), &buffer, &page);
        hac_string_buffer_keep(&buffer);
        for (size_t at = 0; at < STRINGS;) {
            size_t n = 1 + draw(1024);
            n = n < STRINGS - at ? n : STRINGS - at;
            bool skip = draw(4) == 0;
            hac_string_buffer_begin(&buffer, 0, 0);
            assert_int_equal(hac_byte_arrays_get(&t, &last, n, skip ? NULL : refs, NULL), HAC_OK);
            for (size_t i = 0; !skip && i < n; i++) {
                assert_int_equal(refs[i].length, texts.lengths[at + i]);
                assert_memory_equal(buffer.data + refs[i].offset, texts.data + texts.at[at + i],
                                    refs[i].length);
            }
            at += n;
        }
        assert_int_equal(hac_byte_arrays_get(&t, &last, 1, refs, NULL), HAC_FAILED);
        hac_string_buffer_clear(&buffer);
        free(last.data);
        free(page);
    }
}

/* Values with a long common prefix are small in the page and large in memory. */
static void test_texts_bomb(void **state)
{
    (void)state;
    uint64_t prefixes[1000], suffixes[1000] = {100000};
    hac_string_buffer buffer = {0};
    hac_parquet_last last = {0};
    hac_byte_arrays t;
    hac_error err = HAC_ERROR_NONE;
    hac_string_ref refs[1000];
    for (size_t i = 0; i < 1000; i++)
        prefixes[i] = i > 0 ? 100000 : 0;
    begin_output();
    encode_delta(prefixes, 1000, 4, 32, true, false);
    encode_delta(suffixes, 1000, 4, 32, true, false);
    out.bytes += 100000;
    assert_int_equal(hac_byte_arrays_begin_prefixes(&t, hac_parquet_kernels_get(), &buffer, 1 << 24, out.data,
                                                    out.bytes, &err),
                     HAC_OK);
    assert_int_equal(hac_byte_arrays_get(&t, &last, 1000, refs, &err), HAC_FAILED);
    hac_test_assert_says(err.message, "the strings of 1000 rows take more than 16777216 bytes");
    assert_null(buffer.data);
}

/* ---- the room ------------------------------------------------------------------------------------------ */

/* Pages of random sizes, batches over one or more of them: nothing that is needed is overwritten, and the
 * buffer stays small. */
static void test_room(void **state)
{
    (void)state;
    hac_string_buffer buffer = {0};
    size_t first = 0, end = 0, largest = 0;
    hac_string_buffer_empty(&buffer);
    assert_int_equal(hac_string_buffer_place(&buffer, 500, &first, NULL), HAC_OK);
    hac_string_buffer_keep(&buffer);
    first = end = 0;
    for (unsigned round = 0; round < 3000; round++) {
        hac_string_buffer_begin(&buffer, first, end);
        for (size_t pages = draw(3); pages > 0; pages--) {
            size_t bytes = 1 + draw(1000), place = 0;
            assert_int_equal(hac_string_buffer_place(&buffer, bytes, &place, NULL), HAC_OK);
            assert_true(place >= 500 && (end == first || place >= end || place + bytes <= first));
            memset(buffer.data + place, 1, bytes);
            largest = place + bytes > largest ? place + bytes : largest;
            if (pages == 1) {
                first = place;
                end = place + bytes;
            }
        }
    }
    assert_true(largest < 500 + 5 * 1000);
    hac_string_buffer_clear(&buffer);
}

/* ---- codecs -------------------------------------------------------------------------------------------- */

static uint8_t plain[20000], packed[40000], unpacked[20000 + HAC_PARQUET_SLACK];

static size_t compress_with(uint8_t codec, const uint8_t *from, size_t n, uint8_t *to, size_t capacity)
{
    if (codec == HAC_PARQUET_SNAPPY) {
        assert_int_equal(snappy_compress((const char *)from, n, (char *)to, &capacity), SNAPPY_OK);
        return capacity;
    }
    if (codec == HAC_PARQUET_ZSTD)
        return ZSTD_compress(to, capacity, from, n, 1);
    if (codec == HAC_PARQUET_GZIP) {
        struct libdeflate_compressor *c = libdeflate_alloc_compressor(1);
        capacity = libdeflate_gzip_compress(c, from, n, to, capacity);
        libdeflate_free_compressor(c);
        return capacity;
    }
    if (codec == HAC_PARQUET_UNCOMPRESSED) {
        memcpy(to, from, n);
        return n;
    }
    return (size_t)LZ4_compress_default((const char *)from, (char *)to, (int)n, (int)capacity);
}

static void test_codecs(void **state)
{
    (void)state;
    static const uint8_t codecs[] = {HAC_PARQUET_UNCOMPRESSED, HAC_PARQUET_SNAPPY,  HAC_PARQUET_GZIP,
                                     HAC_PARQUET_ZSTD,         HAC_PARQUET_LZ4_RAW, HAC_PARQUET_LZ4};
    hac_parquet_codecs contexts = {0};
    for (size_t i = 0; i < sizeof plain; i++)
        plain[i] = (uint8_t)(draw(4) == 0 ? draw(256) : i / 100);
    for (size_t c = 0; c < sizeof codecs; c++)
        for (size_t n = 1; n <= sizeof plain; n = n * 7 + 3) {
            uint8_t codec = codecs[c];
            hac_error err = HAC_ERROR_NONE;
            size_t bytes = compress_with(codec, plain, n, packed, sizeof packed);
            assert_int_equal(hac_parquet_decompress(&contexts, codec, packed, bytes, unpacked, n, &err),
                             HAC_OK);
            assert_memory_equal(unpacked, plain, n);
            assert_int_equal(hac_parquet_decompress(&contexts, codec, packed, bytes, unpacked, n - 1, &err),
                             HAC_FAILED);
            assert_int_equal(hac_parquet_decompress(&contexts, codec, packed, bytes - 1, unpacked, n, &err),
                             HAC_FAILED);
            if (n < sizeof plain)
                assert_int_equal(
                    hac_parquet_decompress(&contexts, codec, packed, bytes, unpacked, n + 1, &err),
                    HAC_FAILED);
        }
    hac_parquet_codecs_clear(&contexts);
}

/* Text with random repetitions of every distance and length. */
static void draw_plain(size_t n)
{
    for (size_t at = 0; at < n;) {
        size_t some = 1 + draw(draw(3) == 0 ? 200 : 12), far = 1 + draw(draw(2) ? 20 : 3000);
        bool again = far <= at && draw(3) != 0;
        for (size_t end = at + some < n ? at + some : n; at < end; at++)
            plain[at] = again ? plain[at - far] : (uint8_t)draw(256);
    }
}

/* Includes tags that no compressor writes: the result of the library is right. */
static void test_snappy_tags(void **state)
{
    (void)state;
    static char wanted[4000];
    static uint8_t got[4000 + HAC_PARQUET_SLACK];
    size_t right = 0;
    for (unsigned round = 0; round < 20000; round++) {
        size_t made = 0, limit = 1 + draw(3000), bytes = 0;
        begin_output();
        out.bytes = 2; /* the length, always of two bytes */
        while (made < limit) {
            size_t n = 1 + draw(64), far = 1 + draw(draw(2) ? 20 : 2000), kind = draw(4);
            bool wrong = draw(2000) == 0;
            if (kind == 1)
                n = 4 + n % 8;
            if (kind == 0 || (far > made && !wrong)) {
                n = draw(4) == 0 ? n + 60 : n % 8 + 1;
                size_t more =
                    n > 60 || draw(8) == 0 ? 1 + draw(4) : 0; /* bytes of the length behind the tag */
                out.data[out.bytes++] = (uint8_t)((more > 0 ? 59 + more : n - 1) << 2);
                for (size_t b = 0; b < more; b++)
                    out.data[out.bytes++] = (uint8_t)((n - 1) >> 8 * b);
                for (size_t i = 0; i < n; i++)
                    out.data[out.bytes++] = (uint8_t)draw(256);
            } else if (kind == 1) {
                out.data[out.bytes++] = (uint8_t)(1 | (n - 4) << 2 | far >> 8 << 5);
                out.data[out.bytes++] = (uint8_t)far;
            } else {
                out.data[out.bytes++] = (uint8_t)(kind | (n - 1) << 2);
                for (unsigned b = 0; b < (kind == 2 ? 2 : 4); b++)
                    out.data[out.bytes++] = (uint8_t)(far >> 8 * b);
            }
            made += n;
        }
        bytes = out.bytes - draw(2) * draw(3);
        out.data[0] = (uint8_t)(made | 0x80);
        out.data[1] = (uint8_t)(made >> 7);
        size_t capacity = made;
        bool good = snappy_uncompress((const char *)out.data, bytes, wanted, &capacity) == SNAPPY_OK;
        assert_int_equal(hac_parquet_snappy(out.data, bytes, got, made), good);
        if (good)
            assert_memory_equal(got, wanted, made);
        right += good;
    }
    assert_in_range(right, 5000, 19000);
}

static void test_snappy_texts(void **state)
{
    (void)state;
    for (unsigned round = 0; round < 500; round++) {
        size_t n = draw(sizeof plain);
        draw_plain(n);
        size_t bytes = compress_with(HAC_PARQUET_SNAPPY, plain, n, packed, sizeof packed);
        assert_true(hac_parquet_snappy(packed, bytes, unpacked, n));
        assert_memory_equal(unpacked, plain, n);
    }
}

/* Two members or frames, one after another. */
static void test_codecs_in_parts(void **state)
{
    (void)state;
    static const uint8_t codecs[] = {HAC_PARQUET_GZIP, HAC_PARQUET_ZSTD};
    hac_parquet_codecs contexts = {0};
    for (size_t c = 0; c < sizeof codecs; c++) {
        size_t bytes = compress_with(codecs[c], plain, 5000, packed, sizeof packed);
        bytes += compress_with(codecs[c], plain + 5000, 7000, packed + bytes, sizeof packed - bytes);
        assert_int_equal(hac_parquet_decompress(&contexts, codecs[c], packed, bytes, unpacked, 12000, NULL),
                         HAC_OK);
        assert_memory_equal(unpacked, plain, 12000);
        assert_int_equal(hac_parquet_decompress(&contexts, codecs[c], packed, bytes, unpacked, 5000, NULL),
                         HAC_FAILED);
    }
    hac_parquet_codecs_clear(&contexts);
}

static size_t put_big_endian(size_t at, size_t v)
{
    for (unsigned b = 0; b < 4; b++)
        packed[at + b] = (uint8_t)(v >> (24 - 8 * b));
    return at + 4;
}

/* Hadoop's frames: one or two, of one or two blocks each. */
static void test_hadoop_lz4(void **state)
{
    (void)state;
    hac_parquet_codecs contexts = {0};
    for (unsigned shape = 0; shape < 4; shape++) {
        size_t frames = 1 + shape / 2, blocks = 1 + shape % 2, at = 0, done = 0;
        for (size_t f = 0; f < frames; f++) {
            at = put_big_endian(at, blocks * 3000);
            for (size_t b = 0; b < blocks; b++, done += 3000) {
                size_t bytes = compress_with(HAC_PARQUET_LZ4_RAW, plain + done, 3000, packed + at + 4,
                                             sizeof packed - at);
                at = put_big_endian(at, bytes) + bytes;
            }
        }
        assert_int_equal(hac_parquet_decompress(&contexts, HAC_PARQUET_LZ4, packed, at, unpacked, done, NULL),
                         HAC_OK);
        assert_memory_equal(unpacked, plain, done);
        for (size_t cut = 0; cut < at; cut++)
            assert_int_equal(
                hac_parquet_decompress(&contexts, HAC_PARQUET_LZ4, packed, cut, unpacked, done, NULL),
                HAC_FAILED);
    }
    hac_parquet_codecs_clear(&contexts);
}

static void test_other_codecs(void **state)
{
    (void)state;
    static const uint8_t brotli[] = {0x1b, 0x3b, 0, 0, 0x24, 0xc3, 0xc4, 0xc6, 0xe2, 0x9b, 0x20, 0x46, 0x03};
    hac_parquet_codecs contexts = {0};
    hac_error err = HAC_ERROR_NONE;
    assert_int_equal(
        hac_parquet_decompress(&contexts, HAC_PARQUET_BROTLI, brotli, sizeof brotli, unpacked, 60, &err),
        HAC_OK);
    for (size_t i = 0; i < 60; i++)
        assert_int_equal(unpacked[i], "abc"[i % 3]);
    assert_int_equal(
        hac_parquet_decompress(&contexts, HAC_PARQUET_BROTLI, brotli, sizeof brotli, unpacked, 59, &err),
        HAC_FAILED);
    hac_test_assert_says(err.message, "its 13 bytes of BROTLI do not become 59 bytes");
    assert_int_equal(
        hac_parquet_decompress(&contexts, HAC_PARQUET_LZO, brotli, sizeof brotli, unpacked, 60, &err),
        HAC_FAILED);
    hac_test_assert_says(err.message, "its codec is not read: LZO (number 3)");
    assert_int_equal(hac_parquet_decompress(&contexts, 200, brotli, sizeof brotli, unpacked, 60, &err),
                     HAC_FAILED);
    hac_parquet_codecs_clear(&contexts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_loops),         cmocka_unit_test(test_hybrid),
        cmocka_unit_test(test_hybrid_damage), cmocka_unit_test(test_delta),
        cmocka_unit_test(test_delta_damage),  cmocka_unit_test(test_texts),
        cmocka_unit_test(test_texts_bomb),    cmocka_unit_test(test_room),
        cmocka_unit_test(test_codecs),        cmocka_unit_test(test_codecs_in_parts),
        cmocka_unit_test(test_snappy_texts),  cmocka_unit_test(test_snappy_tags),
        cmocka_unit_test(test_hadoop_lz4),    cmocka_unit_test(test_other_codecs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
