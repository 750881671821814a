/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Exact sums of groups (base/exact.h). A group's record has a window for each sum of its accumulators; the
 * windows of one accumulator have the same units in all groups of a table and of a partial. Values
 * that fit no window are kept *beside* it: as digits of 32 bits (base/exact_number.h), for the few groups
 * that have some, with the numbers of NaN and of infinities. A sum is its window plus its digits; the result
 * does not show which value went where.
 *
 * Units follow the values: they are chosen when the first values come and moved when many do not fit.
 */
#ifndef QUERY_EXACT_SUMS_H
#define QUERY_EXACT_SUMS_H

#include "base/exact.h"
#include "base/exact_number.h"
#include "expr/group_layout.h"
#include "group_memory.h"

/* A sum that an accumulator keeps: of first^x · second^y over the rows, of its first and second argument. */
typedef struct hac_exact_term {
    uint8_t offset, words; /* of the window in the accumulator, in bytes and in words */
    uint8_t x, y;
} hac_exact_term;

/* The sums that an accumulator keeps, from its hac_accumulator_ops. */
typedef struct hac_exact_terms {
    const hac_exact_term *terms;
    size_t n_terms;
} hac_exact_terms;

/* A digit of a sum: its key is group << 32 | accumulator << 20 | term << 16 | digit. */
typedef struct hac_exact_digit {
    uint64_t key;
    int64_t sum;
} hac_exact_digit;

/* Digit numbers that are no digits: they count NaNs and infinities. */
#define HAC_EXACT_NAN      0xfffdu
#define HAC_EXACT_PLUS     0xfffeu /* infinities */
#define HAC_EXACT_MINUS    0xffffu
#define HAC_EXACT_SUM_MAX  (INT64_C(1) << 62) /* of a digit */
#define HAC_EXACT_DIGIT(k) ((uint32_t)(k)&0xffff)

/* A window of a record that is merged, taken out because it is too large. */
typedef struct hac_exact_loose {
    size_t row;   /* of the batch */
    uint64_t key; /* the key that group 0 would have */
    uint64_t window[HAC_EXACT_PRODUCT_WORDS];
    unsigned words;
    int32_t exponent;
} hac_exact_loose;

typedef struct hac_exact_sums {
    bool used; /* some accumulator has windows */
    hac_memory_budget *budget;
    hac_exact_units *units; /* for each accumulator */
    hac_exact_terms *of;    /* for each accumulator */
    hac_exact_digit *digits;
    uint64_t n, capacity;
    uint64_t sorted; /* number of digits at the front that are in the order of their keys, each key once */
    uint64_t rows;  /* added since all windows were small; each merged batch counts as HAC_EXACT_SMALL_ROWS */
    uint64_t since; /* rows since units were last moved */
    uint64_t misfits; /* values that did not fit since then */
    /* For fixed rows of f64: what the mantissa of a value is multiplied with to count in the unit `scaled`,
     * by the value's sign and exponent: ±2^shift; 0 for zeros and for what does not fit. */
    int64_t *scales;
    int32_t scaled;
    /* For fixed rows of f64: the values of a batch (hac_exact_ready). After a batch that had no limbs, some
     * batches are not converted. */
    struct hac_limbs *limbs;
    unsigned limbs_pause;
    hac_exact_loose *loose;
    size_t n_loose, loose_capacity;
} hac_exact_sums;

static inline uint64_t hac_exact_key(uint64_t group, size_t accumulator, size_t term)
{
    return group << 32 | (uint64_t)accumulator << 20 | (uint64_t)term << 16;
}

/* Adds ±(x · y · 2^exponent) to a sum. HAC_NO_MEMORY. */
HAC_MUST_USE hac_status hac_exact_put_product(hac_exact_sums *sums, uint64_t key, uint64_t x, uint64_t y,
                                              int32_t exponent, bool negative, hac_error *err);
/* Adds to one digit: also of HAC_EXACT_NAN, … . HAC_NO_MEMORY. */
HAC_MUST_USE hac_status hac_exact_put_digit(hac_exact_sums *sums, uint64_t key, int64_t sum, hac_error *err);
/* Adds a window of up to three words in units of 2^exponent. HAC_NO_MEMORY. */
HAC_MUST_USE hac_status hac_exact_put_window(hac_exact_sums *sums, uint64_t key, const uint64_t *window,
                                             unsigned words, int32_t exponent, hac_error *err);
/* Puts the digits in order, each key once. */
void hac_exact_sort(hac_exact_sums *sums);
/* The index of the first digit whose key is `key` or above. Only digits that hac_exact_sort has put in order
 * are searched. */
uint64_t hac_exact_seek(const hac_exact_sums *sums, uint64_t key);

/* What a sum is. */
typedef enum hac_exact_state { HAC_EXACT_FINITE, HAC_EXACT_INFINITE, HAC_EXACT_NOT_A_NUMBER } hac_exact_state;

/* Adds the digits of the sum `key` to *ret, whose sign is that of an infinite sum. Digits are in order. */
hac_exact_state hac_exact_read(const hac_exact_sums *sums, uint64_t key, hac_exact_number *ret);

/* Whether a window is so small that many can be added without a check: below 2^112 (2^176) units, as much as
 * HAC_EXACT_SMALL_ROWS rows. */
#define HAC_EXACT_SMALL_ROWS 65536
static inline bool hac_exact_small(const uint64_t *window, unsigned words)
{
    int64_t top = (int64_t)window[words - 1] >> 48;
    return top == 0 || top == -1;
}

/* Multiplies a window by 2^shift, which may be negative; false: the result is not a small window, and nothing
 * was done. */
static inline bool hac_exact_move(uint64_t *window, unsigned words, int32_t shift)
{
    uint64_t w[3] = {window[0], window[1], words > 2 ? window[2] : (uint64_t)((int64_t)window[1] >> 63)};
    bool fits = hac_exact_small(window, words);
    if (shift == 0 || (w[0] | w[1] | w[2]) == 0)
        return fits;
    if (!fits || shift > 167 || shift < -191)
        return false;
    for (; shift >= 64; shift -= 64) {
        fits = fits && (int64_t)w[2] == (int64_t)w[1] >> 63;
        w[2] = w[1], w[1] = w[0], w[0] = 0;
    }
    for (; shift <= -64; shift += 64) {
        fits = fits && w[0] == 0;
        w[0] = w[1], w[1] = w[2], w[2] = (uint64_t)((int64_t)w[2] >> 63);
    }
    if (shift > 0) {
        int64_t top = (int64_t)w[2] >> (63 - shift);
        fits = fits && (top == 0 || top == -1);
        w[2] = w[2] << shift | w[1] >> (64 - shift);
        w[1] = w[1] << shift | w[0] >> (64 - shift);
        w[0] <<= shift;
    } else if (shift < 0) {
        fits = fits && w[0] << (64 + shift) == 0;
        w[0] = w[0] >> -shift | w[1] << (64 + shift);
        w[1] = w[1] >> -shift | w[2] << (64 + shift);
        w[2] = (uint64_t)((int64_t)w[2] >> -shift);
    }
    fits = fits && hac_exact_small(w, words) && (words > 2 || w[2] == (uint64_t)((int64_t)w[1] >> 63));
    for (unsigned i = 0; fits && i < words; i++)
        window[i] = w[i];
    return fits;
}

#endif
