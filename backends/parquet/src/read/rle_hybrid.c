/* SPDX-License-Identifier: Apache-2.0 */
#include "rle_hybrid.h"

#include <string.h>

#include "format/bytes.h"

static const char ends_early[] = "its run lengths end before its values do";

const char *hac_parquet_hybrid_begin(hac_parquet_hybrid *h, const hac_parquet_kernels *kernels,
                                     unsigned width, const uint8_t *data, size_t bytes)
{
    *h = (hac_parquet_hybrid){.kernels = kernels, .at = data, .end = data + bytes, .width = width};
    if (width > 32)
        return "a bit width is above 32";
    if (width == 0 && bytes == 0) /* a dictionary of one entry: some writers leave the runs out */
        h->left = UINT64_MAX;
    return NULL;
}

void hac_parquet_hybrid_packed(hac_parquet_hybrid *h, const hac_parquet_kernels *kernels, unsigned width,
                               const uint8_t *data, uint64_t n)
{
    const uint8_t *end = data + (n * width + 7) / 8;
    *h = (hac_parquet_hybrid){.kernels = kernels,
                              .at = end,
                              .end = end,
                              .width = width,
                              .is_packed = true,
                              .left = n,
                              .packed = data};
}

static const char *read_header(hac_parquet_hybrid *h, uint64_t *ret)
{
    hac_varint_end what = hac_varint_read(&h->at, h->end, 5, ret);
    return what == HAC_VARINT_WHOLE   ? NULL
           : what == HAC_VARINT_SHORT ? ends_early
                                      : "a run's length is too large";
}

/* Reads the next run with at least one value. A packed run may be cut at the end of the page. */
static const char *next_run(hac_parquet_hybrid *h)
{
    do {
        uint64_t header = 0;
        const char *why = read_header(h, &header);
        if (why != NULL)
            return why;
        size_t bytes = (size_t)(h->end - h->at);
        h->is_packed = header & 1;
        h->left = header >> 1;
        if (h->is_packed) {
            uint64_t needed = h->left * h->width;
            h->left *= 8;
            h->packed = h->at;
            h->next = 0;
            if (needed > bytes)
                h->left = (uint64_t)bytes * 8 / h->width;
            h->at += needed > bytes ? bytes : needed;
            h->is_packed = h->width > 0; /* without bits all values are 0, as in a run */
        } else {
            size_t needed = (h->width + 7) / 8;
            if (needed > bytes)
                return ends_early;
            h->value = 0;
            memcpy(&h->value, h->at, needed);
            h->at += needed;
        }
    } while (h->left == 0);
    return NULL;
}

/* The number of values, at most n, that can be read from the current run; begins one if needed. */
static const char *some_of_run(hac_parquet_hybrid *h, uint64_t n, size_t *ret)
{
    if (h->left == 0) {
        const char *why = next_run(h);
        if (why != NULL)
            return why;
    }
    *ret = (size_t)(h->left < n ? h->left : n);
    return NULL;
}

static void used(hac_parquet_hybrid *h, size_t n)
{
    h->left -= n;
    h->next += n;
}

static uint32_t packed_one(const hac_parquet_hybrid *h, uint64_t i)
{
    uint64_t bit = i * h->width, v;
    memcpy(&v, h->packed + bit / 8, sizeof v);
    return (uint32_t)(v >> bit % 8 & ((UINT64_C(1) << h->width) - 1));
}

/* Groups of eight begin at byte boundaries; values before the first group are read one by one. */
static void get_packed(const hac_parquet_hybrid *h, size_t n, uint32_t *ret)
{
    size_t done = 0;
    while (done < n && (h->next + done) % 8 != 0) {
        ret[done] = packed_one(h, h->next + done);
        done++;
    }
    size_t whole = (n - done) & ~(size_t)7;
    h->kernels->unpack_32(h->packed + (h->next + done) / 8 * h->width, h->width, whole, ret + done);
    for (done += whole; done < n; done++)
        ret[done] = packed_one(h, h->next + done);
}

const char *hac_parquet_hybrid_get(hac_parquet_hybrid *h, size_t n, uint32_t *ret)
{
    for (size_t done = 0, some = 0; done < n; done += some) {
        const char *why = some_of_run(h, n - done, &some);
        if (why != NULL)
            return why;
        if (h->is_packed)
            get_packed(h, some, ret + done);
        else
            for (size_t i = 0; i < some; i++)
                ret[done + i] = h->value;
        used(h, some);
    }
    return NULL;
}

const char *hac_parquet_hybrid_bits(hac_parquet_hybrid *h, uint8_t flip, size_t n, uint8_t *ret,
                                    size_t *ret_sum)
{
    size_t sum = 0;
    for (size_t done = 0, some = 0; done < n; done += some) {
        const char *why = some_of_run(h, n - done, &some);
        if (why != NULL)
            return why;
        if (h->is_packed) {
            sum += h->kernels->bits(h->packed, (size_t)h->next, flip, some, ret + done);
        } else {
            uint8_t byte = (uint8_t)((h->value != 0) ^ flip);
            if (h->value > 1)
                return "a run's value is too large";
            memset(ret + done, byte, some);
            sum += byte * some;
        }
        used(h, some);
    }
    *ret_sum = sum;
    return NULL;
}

const char *hac_parquet_hybrid_states(hac_parquet_hybrid *h, uint32_t max, size_t n, uint8_t *ret,
                                      size_t *ret_sum)
{
    uint32_t levels[256];
    size_t sum = 0;
    if (h->width == 1 && max == 1)
        return hac_parquet_hybrid_bits(h, 1, n, ret, ret_sum);
    for (size_t done = 0, some = 0; done < n; done += some) {
        some = n - done < 256 ? n - done : 256;
        const char *why = hac_parquet_hybrid_get(h, some, levels);
        if (why == NULL && h->kernels->max(levels, some) > max)
            why = "a definition level is too large";
        if (why != NULL)
            return why;
        for (size_t i = 0; i < some; i++) {
            ret[done + i] = levels[i] != max;
            sum += levels[i] != max;
        }
    }
    *ret_sum = sum;
    return NULL;
}

const char *hac_parquet_hybrid_skip(hac_parquet_hybrid *h, uint64_t n)
{
    for (size_t some = 0; n > 0; n -= some) {
        const char *why = some_of_run(h, n, &some);
        if (why != NULL)
            return why;
        used(h, some);
    }
    return NULL;
}
