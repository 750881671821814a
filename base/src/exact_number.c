/* SPDX-License-Identifier: Apache-2.0 */
#include "base/exact_number.h"

#include <string.h>

#include "uint128.h"

/* Numbers from outside may be larger than any sum: what has no room is left off at the lower end. */
#define WORDS HAC_EXACT_NUMBER_WORDS

static void copy(hac_exact_number *to, const hac_exact_number *from)
{
    to->negative = from->negative;
    to->exponent = from->exponent;
    to->n = from->n;
    memmove(to->words, from->words, from->n * sizeof *to->words);
}

/* Takes words of zeros off both ends. */
static void trim(hac_exact_number *x)
{
    uint32_t zeros = 0;
    while (x->n > 0 && x->words[x->n - 1] == 0)
        x->n--;
    while (zeros < x->n && x->words[zeros] == 0)
        zeros++;
    if (zeros > 0) {
        x->n -= zeros;
        x->exponent += 64 * (int32_t)zeros;
        memmove(x->words, x->words + zeros, x->n * sizeof *x->words);
    }
    x->negative = x->negative && x->n > 0;
}

void hac_exact_set_window(hac_exact_number *ret, const uint64_t *words, uint32_t n, int32_t exponent)
{
    uint64_t mask = n > 0 && words[n - 1] >> 63 != 0 ? UINT64_MAX : 0, carry = mask & 1;
    ret->negative = mask != 0;
    ret->exponent = exponent;
    ret->n = n;
    for (uint32_t i = 0; i < n; i++) {
        ret->words[i] = (words[i] ^ mask) + carry;
        carry = carry != 0 && ret->words[i] == 0;
    }
    trim(ret);
}

void hac_exact_set_u64(hac_exact_number *ret, uint64_t value)
{
    hac_exact_set_window(ret, (const uint64_t[]){value, 0}, 2, 0);
}

/* ---- digits ---- */

unsigned hac_exact_split(uint64_t x, uint64_t y, int32_t exponent, bool negative, unsigned *ret_first,
                         int64_t ret[HAC_EXACT_SPLIT_MAX])
{
    unsigned at = (unsigned)(exponent - HAC_EXACT_DIGIT_BASE), shift = at % 32, n = 0;
    hac_u128 product = (hac_u128)x * y;
    uint64_t rest = (uint64_t)(uint32_t)product << shift;
    *ret_first = at / 32;
    product >>= 32;
    while (rest != 0 || product != 0) {
        if (n == 0 && (uint32_t)rest == 0)
            ++*ret_first;
        else
            ret[n++] = negative ? -(int64_t)(uint32_t)rest : (int64_t)(uint32_t)rest;
        rest = (rest >> 32) + ((uint64_t)(uint32_t)product << shift);
        product >>= 32;
    }
    return n;
}

void hac_exact_set_digits(hac_exact_number *ret, const int64_t digits[HAC_EXACT_DIGITS])
{
    uint64_t words[HAC_EXACT_DIGITS / 2 + 2];
    __int128 carry = 0;
    for (size_t i = 0; i < HAC_EXACT_DIGITS / 2; i++) {
        __int128 low = carry + digits[2 * i], high = (low >> 32) + digits[2 * i + 1];
        words[i] = (uint64_t)(uint32_t)low | (uint64_t)high << 32;
        carry = high >> 32;
    }
    words[HAC_EXACT_DIGITS / 2] = (uint64_t)carry;
    words[HAC_EXACT_DIGITS / 2 + 1] = (uint64_t)(carry >> 64);
    hac_exact_set_window(ret, words, HAC_EXACT_DIGITS / 2 + 2, HAC_EXACT_DIGIT_BASE);
}

/* ---- sums ---- */

/* Multiplies the words by 2^bits. */
static void shift_up(hac_exact_number *x, uint32_t bits)
{
    uint32_t words = bits / 64, shift = bits % 64;
    if (x->n + words + 1 > WORDS) { /* only for numbers from outside */
        x->n = 0;
        return;
    }
    uint64_t above = 0;
    for (uint32_t i = x->n; i-- > 0;) {
        uint64_t word = x->words[i];
        if (shift == 0) {
            x->words[i + words] = word;
            continue;
        }
        if (i == x->n - 1)
            above = word >> (64 - shift);
        x->words[i + words] = word << shift | (i > 0 ? x->words[i - 1] >> (64 - shift) : 0);
    }
    memset(x->words, 0, words * sizeof *x->words);
    x->n += words;
    if (above != 0)
        x->words[x->n++] = above;
    x->exponent -= (int32_t)bits;
}

static int compare(const hac_exact_number *x, const hac_exact_number *y)
{
    if (x->n != y->n)
        return x->n > y->n ? 1 : -1;
    for (uint32_t i = x->n; i-- > 0;)
        if (x->words[i] != y->words[i])
            return x->words[i] > y->words[i] ? 1 : -1;
    return 0;
}

/* |x| + |y|, with x's exponent; x has at least as many words. */
static void add_magnitudes(hac_exact_number *x, const hac_exact_number *y)
{
    uint64_t carry = 0;
    for (uint32_t i = 0; i < x->n; i++) {
        hac_u128 sum = (hac_u128)x->words[i] + (i < y->n ? y->words[i] : 0) + carry;
        x->words[i] = (uint64_t)sum;
        carry = (uint64_t)(sum >> 64);
    }
    if (carry != 0 && x->n < WORDS)
        x->words[x->n++] = carry;
}

/* |x| - |y|, which is not negative. */
static void subtract_magnitudes(hac_exact_number *x, const hac_exact_number *y)
{
    uint64_t borrow = 0;
    for (uint32_t i = 0; i < x->n; i++) {
        hac_u128 less = (hac_u128)(i < y->n ? y->words[i] : 0) + borrow;
        borrow = x->words[i] < less;
        x->words[i] -= (uint64_t)less;
    }
}

static void add_signed(hac_exact_number *ret, const hac_exact_number *x, const hac_exact_number *y,
                       bool negate)
{
    hac_exact_number a, b;
    copy(&a, x);
    copy(&b, y);
    b.negative ^= negate && b.n > 0;
    if (a.n > 0 && b.n > 0 && a.exponent != b.exponent)
        shift_up(a.exponent > b.exponent ? &a : &b,
                 (uint32_t)(a.exponent > b.exponent ? a.exponent - b.exponent : b.exponent - a.exponent));
    bool larger = compare(&a, &b) >= 0;
    hac_exact_number *to = larger ? &a : &b;
    if (a.negative == b.negative)
        add_magnitudes(to, larger ? &b : &a);
    else
        subtract_magnitudes(to, larger ? &b : &a);
    trim(to);
    copy(ret, to);
}

void hac_exact_sum(hac_exact_number *ret, const hac_exact_number *x, const hac_exact_number *y)
{
    add_signed(ret, x, y, false);
}

void hac_exact_difference(hac_exact_number *ret, const hac_exact_number *x, const hac_exact_number *y)
{
    add_signed(ret, x, y, true);
}

/* ---- products ---- */

void hac_exact_times(hac_exact_number *ret, const hac_exact_number *x, const hac_exact_number *y)
{
    ret->negative = x->negative != y->negative;
    ret->exponent = x->exponent + y->exponent;
    ret->n = x->n == 0 || y->n == 0 || x->n + y->n > WORDS ? 0 : x->n + y->n;
    memset(ret->words, 0, ret->n * sizeof *ret->words);
    for (uint32_t i = 0; ret->n > 0 && i < x->n; i++) {
        uint64_t carry = 0;
        for (uint32_t k = 0; k < y->n; k++) {
            hac_u128 product = (hac_u128)x->words[i] * y->words[k] + ret->words[i + k] + carry;
            ret->words[i + k] = (uint64_t)product;
            carry = (uint64_t)(product >> 64);
        }
        ret->words[i + y->n] = carry;
    }
    trim(ret);
}

void hac_exact_times_u64(hac_exact_number *x, uint64_t factor)
{
    uint64_t carry = 0;
    for (uint32_t i = 0; i < x->n; i++) {
        hac_u128 product = (hac_u128)x->words[i] * factor + carry;
        x->words[i] = (uint64_t)product;
        carry = (uint64_t)(product >> 64);
    }
    if (carry != 0 && x->n < WORDS)
        x->words[x->n++] = carry;
    if (factor == 0)
        trim(x);
}

void hac_exact_times_ten(hac_exact_number *x, unsigned digits)
{
    for (; digits >= 19; digits -= 19)
        hac_exact_times_u64(x, UINT64_C(10000000000000000000));
    uint64_t power = 1;
    for (; digits > 0; digits--)
        power *= 10;
    hac_exact_times_u64(x, power);
}

/* ---- rounding ---- */

/* (q + a part below 1 that is not 0 if `more`) · 2^exponent, rounded; q is 0 or has bit 63 set. */
static double round_word(bool negative, uint64_t q, int32_t exponent, bool more)
{
    int32_t top = exponent + 63, kept = top < -1022 ? 53 + 1022 + top : 53; /* bits of the result */
    uint64_t bits = 0, fraction, rest;
    double value;
    if (q != 0 && top > 1023) {
        bits = UINT64_C(0x7ff) << 52;
    } else if (q != 0 && kept >= 0) {
        fraction = kept == 0 ? 0 : q >> (64 - kept);
        rest = q << kept;
        bits = fraction +
               (rest > UINT64_C(1) << 63 || (rest == UINT64_C(1) << 63 && (more || (fraction & 1) != 0)));
        if (top >= -1022) /* the hidden bit adds 1 to the exponent, and a carry into it one more */
            bits += (uint64_t)(top + 1022) << 52;
    }
    bits |= (uint64_t)negative << 63;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* The highest 64 bits, and whether there are more. */
static uint64_t top_word(const hac_exact_number *x, int32_t *ret_exponent, bool *ret_more)
{
    uint64_t top = x->words[x->n - 1], below = x->n > 1 ? x->words[x->n - 2] : 0;
    int zeros = __builtin_clzll(top);
    *ret_exponent = x->exponent + 64 * (int32_t)(x->n - 1) - zeros;
    if (zeros != 0) {
        top = top << zeros | below >> (64 - zeros);
        below <<= zeros;
    }
    *ret_more = below != 0;
    for (uint32_t i = 0; i + 2 < x->n; i++)
        *ret_more |= x->words[i] != 0;
    return top;
}

double hac_exact_round(const hac_exact_number *x)
{
    int32_t exponent;
    bool more;
    if (x->n == 0)
        return 0;
    uint64_t top = top_word(x, &exponent, &more);
    return round_word(x->negative, top, exponent, more);
}

double hac_exact_round_window(const uint64_t words[2], int32_t exponent)
{
    bool negative = words[1] >> 63 != 0;
    hac_u128 value = (hac_u128)words[1] << 64 | words[0];
    if (value == 0)
        return 0;
    value = negative ? -value : value;
    int zeros = (uint64_t)(value >> 64) != 0 ? __builtin_clzll((uint64_t)(value >> 64))
                                             : 64 + __builtin_clzll((uint64_t)value);
    value <<= zeros;
    return round_word(negative, (uint64_t)(value >> 64), exponent + 64 - zeros, (uint64_t)value != 0);
}

/* ---- quotients ---- */

/* Bits of the words. */
static uint32_t bits_of(const hac_exact_number *x)
{
    return 64 * x->n - (uint32_t)__builtin_clzll(x->words[x->n - 1]);
}

/* One word of a quotient: x has n + 1 words, y n, y's top bit is set and the quotient is below 2^64. x
 * becomes the remainder. Knuth, The Art of Computer Programming 2, 4.3.1, algorithm D. */
static uint64_t divide_word(uint64_t *x, const uint64_t *y, uint32_t n)
{
    hac_u128 top = (hac_u128)x[n] << 64 | x[n - 1];
    uint64_t q = x[n] >= y[n - 1] ? UINT64_MAX : (uint64_t)(top / y[n - 1]), carry = 0, borrow = 0;
    for (uint32_t i = 0; i <= n; i++) {
        hac_u128 product = (hac_u128)(i < n ? y[i] : 0) * q + carry;
        carry = (uint64_t)(product >> 64);
        hac_u128 less = (hac_u128)(uint64_t)product + borrow;
        borrow = x[i] < less;
        x[i] -= (uint64_t)less;
    }
    while (borrow != 0) { /* at most twice */
        uint64_t up = 0;
        q--;
        for (uint32_t i = 0; i <= n; i++) {
            hac_u128 sum = (hac_u128)x[i] + (i < n ? y[i] : 0) + up;
            x[i] = (uint64_t)sum;
            up = (uint64_t)(sum >> 64);
        }
        borrow -= up;
    }
    return q;
}

/* The quotient of x and y in `words` words, its top bit or the one below set: |x| / |y| = (*ret + a part
 * below 1, not 0 if *ret_more) · 2^exponent, which is returned. The exponent is even if `even`. */
static int32_t divide(const hac_exact_number *x, const hac_exact_number *y, uint32_t words, bool even,
                      uint64_t ret[2], bool *ret_more)
{
    hac_exact_number b;
    uint64_t a[WORDS + 4] = {0};
    copy(&b, y);
    shift_up(&b, 64 * y->n - bits_of(y));
    uint32_t n = b.n, length = n + words;
    /* x is moved so that it has 64 · length - 1 bits, or one less: below b · 2^(64 · words) */
    int32_t shift = (int32_t)(64 * length - 1) - (int32_t)bits_of(x);
    if (even && ((x->exponent - shift - b.exponent) & 1) != 0)
        shift--;
    *ret_more = false;
    for (uint32_t i = 0; i < x->n; i++) {
        int32_t at = 64 * (int32_t)i + shift, place = at >> 6, by = at & 63;
        hac_u128 word = (hac_u128)x->words[i] << by;
        if (place >= 0)
            a[place] |= (uint64_t)word;
        else
            *ret_more |= (uint64_t)word != 0;
        if (place + 1 >= 0)
            a[place + 1] |= (uint64_t)(word >> 64);
        else
            *ret_more |= (uint64_t)(word >> 64) != 0;
    }
    for (uint32_t w = words; w-- > 0;)
        ret[w] = divide_word(a + w, b.words, n);
    for (uint32_t i = 0; i < n; i++)
        *ret_more |= a[i] != 0;
    return x->exponent - shift - b.exponent;
}

double hac_exact_quotient(const hac_exact_number *x, const hac_exact_number *y)
{
    uint64_t q[2];
    bool more;
    if (x->n == 0)
        return 0;
    int32_t exponent = divide(x, y, 1, false, q, &more);
    int zeros = __builtin_clzll(q[0]); /* 0 … 2: a bit less than 54 would be too few */
    return round_word(x->negative != y->negative, q[0] << zeros, exponent - zeros, more);
}

/* ⌊√x⌋ for x >= 2^124: Newton's iteration from above. */
static uint64_t root_of(hac_u128 x)
{
    uint64_t root = UINT64_MAX;
    for (;;) {
        hac_u128 quotient = x / root;
        if (quotient >= root)
            return root;
        root = (uint64_t)(((hac_u128)root + quotient) / 2);
    }
}

double hac_exact_root(const hac_exact_number *x, const hac_exact_number *y)
{
    uint64_t q[2];
    bool more;
    if (x->n == 0)
        return 0;
    int32_t exponent = divide(x, y, 2, true, q, &more);
    hac_u128 square = (hac_u128)q[1] << 64 | q[0];
    uint64_t root = root_of(square);
    more = more || (hac_u128)root * root != square;
    int zeros = __builtin_clzll(root);
    return round_word(false, root << zeros, exponent / 2 - zeros, more);
}
