/* SPDX-License-Identifier: Apache-2.0 */
#include "exact_sums.h"

#include <stdlib.h>
#include <string.h>

#define MIN_DIGITS 1024u

/* ---- order ---- */

static int by_key(const void *p, const void *q)
{
    const hac_exact_digit *x = p, *y = q;
    return (x->key > y->key) - (x->key < y->key);
}

/* Appends a digit to `n` that are in order; returns how many there are then. */
static uint64_t keep(hac_exact_digit *digits, uint64_t n, hac_exact_digit digit)
{
    if (n == 0 || digits[n - 1].key != digit.key) {
        digits[n] = digit;
        return digit.sum != 0 ? n + 1 : n;
    }
    bool counts = HAC_EXACT_DIGIT(digit.key) >= HAC_EXACT_DIGITS;
    digits[n - 1].sum = counts ? 1 : (int64_t)((uint64_t)digits[n - 1].sum + (uint64_t)digit.sum);
    return n;
}

/* Entries are below HAC_EXACT_SUM_MAX; a sum of two that is not is carried into the next digit. The carry has
 * the place of one of the two. */
void hac_exact_sort(hac_exact_sums *sums)
{
    hac_exact_digit *digits = sums->digits;
    uint64_t n = 0;
    if (sums->sorted == sums->n)
        return;
    qsort(digits, sums->n, sizeof *digits, by_key);
    hac_exact_digit carry = {0};
    for (uint64_t i = 0; i < sums->n; i++) {
        hac_exact_digit digit = digits[i];
        if (carry.sum != 0 && carry.key < digit.key) {
            n = keep(digits, n, carry);
            carry.sum = 0;
        }
        if (carry.sum != 0 && carry.key == digit.key) {
            digit.sum += carry.sum;
            carry.sum = 0;
        }
        n = keep(digits, n, digit);
        int64_t *sum = n > 0 ? &digits[n - 1].sum : NULL;
        if (sum != NULL && (*sum >= HAC_EXACT_SUM_MAX || *sum <= -HAC_EXACT_SUM_MAX) &&
            HAC_EXACT_DIGIT(digits[n - 1].key) < HAC_EXACT_DIGITS - 1) {
            carry.key = digits[n - 1].key + 1;
            carry.sum += *sum >> 32;
            *sum &= UINT32_MAX;
        }
    }
    if (carry.sum != 0)
        n = keep(digits, n, carry);
    sums->n = sums->sorted = n;
}

uint64_t hac_exact_seek(const hac_exact_sums *sums, uint64_t key)
{
    uint64_t low = 0, high = sums->sorted;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (sums->digits[middle].key < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* ---- adding ---- */

hac_status hac_exact_put_digit(hac_exact_sums *sums, uint64_t key, int64_t sum, hac_error *err)
{
    if (sums->n == sums->capacity)
        hac_exact_sort(sums);
    if (sums->n == sums->sorted && sums->n >= sums->capacity / 2) {
        uint64_t capacity = sums->capacity == 0 ? MIN_DIGITS : 2 * sums->capacity;
        hac_exact_digit *digits = hac_budget_resize(
            sums->budget, sums->digits, sums->capacity * sizeof *digits, capacity * sizeof *digits, err);
        if (digits == NULL)
            return HAC_NO_MEMORY;
        sums->digits = digits;
        sums->capacity = capacity;
    }
    sums->digits[sums->n++] = (hac_exact_digit){key, sum};
    return HAC_OK;
}

hac_status hac_exact_put_product(hac_exact_sums *sums, uint64_t key, uint64_t x, uint64_t y, int32_t exponent,
                                 bool negative, hac_error *err)
{
    unsigned first;
    int64_t digits[HAC_EXACT_SPLIT_MAX];
    unsigned n = hac_exact_split(x, y, exponent, negative, &first, digits);
    hac_status status = HAC_OK;
    for (unsigned i = 0; status == HAC_OK && i < n; i++)
        status = hac_exact_put_digit(sums, key + first + i, digits[i], err);
    return status;
}

hac_status hac_exact_put_window(hac_exact_sums *sums, uint64_t key, const uint64_t *window, unsigned words,
                                int32_t exponent, hac_error *err)
{
    hac_exact_number number;
    hac_status status = HAC_OK;
    hac_exact_set_window(&number, window, words, exponent);
    for (uint32_t i = 0; status == HAC_OK && i < number.n; i++)
        status = hac_exact_put_product(sums, key, number.words[i], 1, number.exponent + 64 * (int32_t)i,
                                       number.negative, err);
    return status;
}

/* ---- results ---- */

hac_exact_state hac_exact_read(const hac_exact_sums *sums, uint64_t key, hac_exact_number *ret)
{
    uint64_t at = sums->n == 0 ? 0 : hac_exact_seek(sums, key);
    if (at == sums->n || sums->digits[at].key >> 16 != key >> 16)
        return HAC_EXACT_FINITE;
    int64_t digits[HAC_EXACT_DIGITS] = {0};
    bool nan = false, plus = false, minus = false;
    hac_exact_number beside;
    for (; at < sums->n && sums->digits[at].key >> 16 == key >> 16; at++) {
        uint32_t digit = HAC_EXACT_DIGIT(sums->digits[at].key);
        if (digit < HAC_EXACT_DIGITS)
            digits[digit] = sums->digits[at].sum;
        nan |= digit == HAC_EXACT_NAN;
        plus |= digit == HAC_EXACT_PLUS;
        minus |= digit == HAC_EXACT_MINUS;
    }
    hac_exact_set_digits(&beside, digits);
    hac_exact_sum(ret, ret, &beside);
    if (nan || (plus && minus))
        return HAC_EXACT_NOT_A_NUMBER;
    if (plus || minus)
        ret->negative = minus;
    return plus || minus ? HAC_EXACT_INFINITE : HAC_EXACT_FINITE;
}
