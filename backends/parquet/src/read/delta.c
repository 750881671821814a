/* SPDX-License-Identifier: Apache-2.0 */
#include "delta.h"

#include <string.h>

#include "format/bytes.h"

#define AT_ONCE 32 /* values: whole bytes, whatever the width */

static const char ends_early[] = "its differences end before its values do";

static const char *read_number(hac_parquet_delta *d, uint64_t *ret)
{
    hac_varint_end what = hac_varint_read(&d->at, d->end, 10, ret);
    return what == HAC_VARINT_WHOLE ? NULL : what == HAC_VARINT_SHORT ? ends_early : "a number is too long";
}

static uint64_t unzigzag(uint64_t v)
{
    return v >> 1 ^ (0 - (v & 1));
}

const char *hac_parquet_delta_begin(hac_parquet_delta *d, const hac_parquet_kernels *kernels, bool narrow,
                                    bool is_unsigned, const uint8_t *data, size_t bytes)
{
    uint64_t block = 0, minis = 0, total = 0, first = 0;
    const char *why;
    *d = (hac_parquet_delta){
        .kernels = kernels, .at = data, .end = data + bytes, .narrow = narrow, .is_unsigned = is_unsigned};
    if ((why = read_number(d, &block)) != NULL || (why = read_number(d, &minis)) != NULL ||
        (why = read_number(d, &total)) != NULL || (why = read_number(d, &first)) != NULL)
        return why;
    if (block == 0 || block % 128 != 0 || block > UINT32_MAX)
        return "a block's size is no multiple of 128";
    if (minis == 0 || minis > block || block % minis != 0 || block / minis % AT_ONCE != 0)
        return "a miniblock's size is no multiple of 32";
    d->minis = d->mini = (uint32_t)minis;
    d->mini_values = (uint32_t)(block / minis);
    d->left = total;
    d->first = true;
    d->last = unzigzag(first);
    return NULL;
}

/* Reads the block's minimum difference and its widths. */
static const char *next_block(hac_parquet_delta *d)
{
    uint64_t min = 0;
    const char *why = read_number(d, &min);
    if (why != NULL)
        return why;
    if ((size_t)(d->end - d->at) < d->minis)
        return ends_early;
    d->min = unzigzag(min);
    d->widths = d->at;
    d->at += d->minis;
    d->mini = 0;
    return NULL;
}

static const char *next_mini(hac_parquet_delta *d)
{
    const char *why = d->mini == d->minis ? next_block(d) : NULL;
    if (why != NULL)
        return why;
    d->width = d->widths[d->mini++];
    d->mini_left = d->mini_values;
    /* differences of 32-bit numbers have 33 bits if a writer does not let them wrap (DuckDB) */
    return d->width > 64 ? "a bit width is too large" : NULL;
}

static void extend(const hac_parquet_delta *d, uint64_t *values, size_t n)
{
    if (d->narrow && d->is_unsigned)
        d->kernels->cut_unsigned(values, n);
    else if (d->narrow)
        d->kernels->cut_signed(values, n);
}

/* Reads up to n values (a multiple of 32, or all that are left) of one miniblock. Bytes behind the last value
 * may be missing. */
static const char *decode(hac_parquet_delta *d, size_t n, uint64_t *ret, size_t *ret_n)
{
    const char *why = d->mini_left == 0 ? next_mini(d) : NULL;
    if (why != NULL)
        return why;
    uint32_t narrow[8 * AT_ONCE];
    size_t some = n < d->mini_left ? n : d->mini_left;
    some = some < 8 * AT_ONCE ? some : 8 * AT_ONCE;
    size_t padded = (some + AT_ONCE - 1) / AT_ONCE * AT_ONCE;
    size_t bytes = padded / 8 * d->width, there = (size_t)(d->end - d->at);
    if (there < (some * d->width + 7) / 8)
        return ends_early;
    if (d->width <= 32) {
        d->kernels->unpack_32(d->at, d->width, (some + 7) & ~(size_t)7, narrow);
        d->last = d->kernels->sum_32(narrow, some, d->min, d->last, ret);
    } else {
        d->kernels->unpack_64(d->at, d->width, (some + 7) & ~(size_t)7, ret);
        d->last = d->kernels->sum_64(ret, some, d->min, d->last, ret);
    }
    extend(d, ret, some);
    d->at += bytes < there ? bytes : there;
    d->mini_left -= (uint32_t)padded;
    *ret_n = some;
    return NULL;
}

static size_t give_ready(hac_parquet_delta *d, size_t n, uint64_t *ret)
{
    size_t some = n < d->n_ready ? n : d->n_ready;
    memcpy(ret, d->ready + AT_ONCE - d->n_ready, some * sizeof *ret);
    d->n_ready -= (uint32_t)some;
    return some;
}

/* Reads the next values to the end of `ready`. */
static const char *make_ready(hac_parquet_delta *d)
{
    size_t n = d->left < AT_ONCE ? (size_t)d->left : AT_ONCE;
    const char *why = decode(d, n, d->ready, &n);
    if (why != NULL)
        return why;
    memmove(d->ready + AT_ONCE - n, d->ready, n * sizeof *d->ready);
    d->n_ready = (uint32_t)n;
    d->left -= n;
    return NULL;
}

const char *hac_parquet_delta_get(hac_parquet_delta *d, size_t n, uint64_t *ret)
{
    size_t done = 0;
    if (n > d->left + d->n_ready)
        return "it holds fewer values than it should";
    if (n > 0 && d->first) {
        ret[done++] = d->last;
        extend(d, ret, 1);
        d->first = false;
        d->left--;
    }
    for (;;) {
        done += give_ready(d, n - done, ret + done);
        size_t some = (n - done) & ~(size_t)(AT_ONCE - 1);
        if (done == n)
            return NULL;
        const char *why = some > 0 ? decode(d, some, ret + done, &some) : make_ready(d);
        if (why != NULL)
            return why;
        done += some;
        d->left -= some;
    }
}

const char *hac_parquet_delta_end(const hac_parquet_delta *d, const uint8_t **ret)
{
    hac_parquet_delta walk = *d;
    const char *why = NULL;
    for (uint64_t left = d->left > 0 ? d->left - 1 : 0; left > 0;) {
        if ((why = next_mini(&walk)) != NULL)
            return why;
        uint64_t some = left < walk.mini_values ? left : walk.mini_values;
        uint64_t bytes = (uint64_t)walk.mini_values / 8 * walk.width, there = (uint64_t)(walk.end - walk.at);
        if (there < (some * walk.width + 7) / 8)
            return ends_early;
        walk.at += bytes < there ? bytes : there;
        left -= some;
    }
    *ret = walk.at;
    return NULL;
}
