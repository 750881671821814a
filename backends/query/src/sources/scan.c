/* SPDX-License-Identifier: Apache-2.0 */
#include "scan.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

/* Bit i of the result is set if an odd number of bits 0 … i is set. */
static inline uint64_t prefix_xor(uint64_t bits)
{
    for (unsigned shift = 1; shift < 64; shift *= 2)
        bits ^= bits << shift;
    return bits;
}

/* `odd` marks the bytes behind a closing quote that are no separators. Records the first of them as an error,
 * unless it is the CR of a CR LF. */
static void check_behind_quotes(hac_scan *scan, const uint8_t *data, size_t at, uint64_t odd)
{
    for (; odd != 0; odd &= odd - 1) {
        size_t i = at + (size_t)__builtin_ctzll(odd);
        if (data[i] == '\r' && (i + 1 >= scan->known || data[i + 1] == '\n'))
            continue;
        if (!scan->misquoted || i < scan->misquoted_at)
            scan->misquoted_at = i;
        scan->misquoted = true;
        return;
    }
}

/* For 64 bytes with quotes: the bits of `marks` that count. Parity tells whether a quote opens or closes; the
 * two quotes of "" inside quotes close and open again. Quotes are valid if every opening one follows a
 * separator or a closing quote, and every closing one is followed by a separator, a quote or the end. */
static uint64_t scan_quotes(hac_scan *scan, const uint8_t *data, size_t at, size_t to, uint64_t quotes,
                            uint64_t marks, uint64_t newlines)
{
    /* from the opening quote up to before the closing one */
    uint64_t inside = prefix_xor(quotes) ^ scan->inside;
    uint64_t opening = quotes & inside, closing = quotes & ~inside;
    uint64_t outer = marks & ~inside;
    uint64_t bad = opening & ~((outer | closing) << 1 | scan->opens);
    uint64_t odd = (closing << 1 | scan->closed) & ~(marks | newlines | quotes);
    if (to - at < 64)
        odd &= (UINT64_C(1) << (to - at)) - 1;
    if (bad != 0 && (!scan->misquoted || at + (size_t)__builtin_ctzll(bad) < scan->misquoted_at)) {
        scan->misquoted = true;
        scan->misquoted_at = at + (size_t)__builtin_ctzll(bad);
    }
    if (odd != 0)
        check_behind_quotes(scan, data, at, odd);
    scan->special_seen |= quotes != 0;
    scan->inside = (uint64_t)((int64_t)inside >> 63);
    scan->opens = (outer | closing) >> 63;
    scan->closed = closing >> 63;
    return outer;
}

/* ---- plain C: any processor, and what the others are tested against ---- */

static inline uint64_t equal_plain(const uint8_t *data, uint8_t byte)
{
    uint64_t bits = 0;
    for (unsigned i = 0; i < 64; i++)
        bits |= (uint64_t)(data[i] == byte) << i;
    return bits;
}

static inline uint64_t blank_plain(const uint8_t *data)
{
    uint64_t bits = 0;
    for (unsigned i = 0; i < 64; i++)
        bits |= (uint64_t)(data[i] == ' ' || (data[i] >= '\t' && data[i] <= '\r')) << i;
    return bits;
}

#define SCAN_TARGET
#define SCAN(name) name##_plain
#include "scan_body.h"
#undef SCAN
#undef SCAN_TARGET

static const hac_scanner fixed = {"plain", fields_plain, words_plain, count_plain};

#if defined(__x86_64__)

/* ---- SSE2: every x86-64 ---- */

static inline uint64_t equal_sse2(const uint8_t *data, uint8_t byte)
{
    const __m128i wanted = _mm_set1_epi8((char)byte);
    uint64_t bits = 0;
    for (unsigned i = 0; i < 4; i++) {
        __m128i v = _mm_loadu_si128((const __m128i *)(const void *)(data + 16 * i));
        bits |= (uint64_t)(uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(v, wanted)) << 16 * i;
    }
    return bits;
}

static inline uint64_t blank_sse2(const uint8_t *data)
{
    const __m128i first = _mm_set1_epi8('\t'), range = _mm_set1_epi8('\r' - '\t'), space = _mm_set1_epi8(' ');
    uint64_t bits = 0;
    for (unsigned i = 0; i < 4; i++) {
        __m128i v = _mm_loadu_si128((const __m128i *)(const void *)(data + 16 * i));
        __m128i above = _mm_sub_epi8(v, first);
        __m128i blank =
            _mm_or_si128(_mm_cmpeq_epi8(_mm_min_epu8(above, range), above), _mm_cmpeq_epi8(v, space));
        bits |= (uint64_t)(uint32_t)_mm_movemask_epi8(blank) << 16 * i;
    }
    return bits;
}

#define SCAN_TARGET
#define SCAN(name) name##_sse2
#include "scan_body.h"
#undef SCAN
#undef SCAN_TARGET

static const hac_scanner sse2 = {"sse2", fields_sse2, words_sse2, count_sse2};

/* ---- AVX2 ---- */

#define SCAN_TARGET __attribute__((target("avx2,bmi,bmi2,popcnt,lzcnt")))

SCAN_TARGET static inline uint64_t equal_avx2(const uint8_t *data, uint8_t byte)
{
    const __m256i wanted = _mm256_set1_epi8((char)byte);
    __m256i low = _mm256_loadu_si256((const __m256i *)(const void *)data);
    __m256i high = _mm256_loadu_si256((const __m256i *)(const void *)(data + 32));
    return (uint64_t)(uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(low, wanted)) |
           (uint64_t)(uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(high, wanted)) << 32;
}

SCAN_TARGET static inline uint32_t blank_32_avx2(const uint8_t *data)
{
    __m256i v = _mm256_loadu_si256((const __m256i *)(const void *)data);
    __m256i above = _mm256_sub_epi8(v, _mm256_set1_epi8('\t'));
    __m256i ranged = _mm256_cmpeq_epi8(_mm256_min_epu8(above, _mm256_set1_epi8('\r' - '\t')), above);
    return (uint32_t)_mm256_movemask_epi8(
        _mm256_or_si256(ranged, _mm256_cmpeq_epi8(v, _mm256_set1_epi8(' '))));
}

SCAN_TARGET static inline uint64_t blank_avx2(const uint8_t *data)
{
    return (uint64_t)blank_32_avx2(data) | (uint64_t)blank_32_avx2(data + 32) << 32;
}

#define SCAN(name) name##_avx2
#include "scan_body.h"
#undef SCAN
#undef SCAN_TARGET

static const hac_scanner avx2 = {"avx2", fields_avx2, words_avx2, count_avx2};

static bool has_avx2(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
           __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt");
}

const hac_scanner *hac_scanner_at(size_t i)
{
    const hac_scanner *const all[] = {&fixed, &sse2, has_avx2() ? &avx2 : NULL};
    return i < sizeof all / sizeof *all ? all[i] : NULL;
}

#else

const hac_scanner *hac_scanner_at(size_t i)
{
    return i == 0 ? &fixed : NULL;
}

#endif

const hac_scanner *hac_scanner_best(void)
{
    size_t last = 0;
    while (hac_scanner_at(last + 1) != NULL)
        last++;
    return hac_scanner_at(last);
}
