/* SPDX-License-Identifier: Apache-2.0 */
#include "byte_arrays.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

static const char too_few[] = "it holds fewer values than it should";
static const char too_long[] = "a string is longer than its page";

static hac_status damaged(hac_error *err, const char *why)
{
    return hac_fail(err, HAC_FAILED, "%s", why);
}

hac_status hac_byte_arrays_begin(hac_byte_arrays *t, hac_byte_arrays_kind kind,
                                 const hac_parquet_kernels *kernels, hac_string_buffer *strings, size_t at,
                                 size_t bytes, hac_error *err)
{
    const char *why = NULL;
    const uint8_t *data = strings->data + at, *end = data;
    t->kind = kind;
    t->strings = strings;
    t->at = at;
    t->end = at + bytes;
    if (kind == HAC_BYTE_ARRAYS_LENGTHS) {
        if ((why = hac_parquet_delta_begin(&t->lengths, kernels, true, false, data, bytes)) != NULL ||
            (why = hac_parquet_delta_end(&t->lengths, &end)) != NULL)
            return damaged(err, why);
        t->at += (size_t)(end - data);
    }
    return HAC_OK;
}

hac_status hac_byte_arrays_begin_prefixes(hac_byte_arrays *t, const hac_parquet_kernels *kernels,
                                          hac_string_buffer *strings, uint64_t at_once, const uint8_t *data,
                                          size_t bytes, hac_error *err)
{
    const char *why;
    const uint8_t *middle = data, *end = data;
    t->kind = HAC_BYTE_ARRAYS_PREFIXES;
    t->strings = strings;
    t->at_once = at_once;
    t->data = data;
    if ((why = hac_parquet_delta_begin(&t->prefixes, kernels, true, false, data, bytes)) != NULL ||
        (why = hac_parquet_delta_end(&t->prefixes, &middle)) != NULL)
        return damaged(err, why);
    size_t rest = (size_t)(data + bytes - middle);
    if ((why = hac_parquet_delta_begin(&t->lengths, kernels, true, false, middle, rest)) != NULL ||
        (why = hac_parquet_delta_end(&t->lengths, &end)) != NULL)
        return damaged(err, why);
    t->at = (size_t)(end - data);
    t->end = bytes;
    return HAC_OK;
}

static hac_status get_plain(hac_byte_arrays *t, size_t n, hac_string_ref *ret, hac_error *err)
{
    const uint8_t *data = t->strings->data;
    size_t at = t->at, end = t->end;
    for (size_t i = 0; i < n; i++) {
        uint32_t length;
        if (end - at < sizeof length)
            return damaged(err, too_few);
        memcpy(&length, data + at, sizeof length);
        at += sizeof length;
        if (length > end - at)
            return damaged(err, too_long);
        if (ret != NULL)
            ret[i] = (hac_string_ref){(uint32_t)at, length};
        at += length;
    }
    t->at = at;
    return HAC_OK;
}

static hac_status get_lengths(hac_byte_arrays *t, size_t n, hac_string_ref *ret, hac_error *err)
{
    uint64_t lengths[HAC_PARQUET_SCRATCH];
    const char *why = hac_parquet_delta_get(&t->lengths, n, lengths);
    if (why != NULL)
        return damaged(err, why);
    for (size_t i = 0; i < n; i++) {
        if (lengths[i] > t->end - t->at)
            return damaged(err, too_long);
        if (ret != NULL)
            ret[i] = (hac_string_ref){(uint32_t)t->at, (uint32_t)lengths[i]};
        t->at += (size_t)lengths[i];
    }
    return HAC_OK;
}

/* Total size of n values; checks that each prefix exists. */
static hac_status measure(const hac_byte_arrays *t, const hac_parquet_last *last, const uint64_t *prefixes,
                          const uint64_t *suffixes, size_t n, size_t *ret, hac_error *err)
{
    uint64_t length = last->bytes, rest = t->end - t->at, sum = 0;
    for (size_t i = 0; i < n; i++) {
        if (prefixes[i] > length)
            return damaged(err, "a string begins with more than the one before it has");
        if (suffixes[i] > rest)
            return damaged(err, too_long);
        rest -= suffixes[i];
        length = prefixes[i] + suffixes[i];
        sum += length;
        if (sum > t->at_once)
            return hac_fail(err, HAC_FAILED, "the strings of %zu rows take more than %llu bytes", n,
                            (unsigned long long)t->at_once);
    }
    *ret = (size_t)sum;
    return HAC_OK;
}

static hac_status remember(hac_parquet_last *last, const uint8_t *data, size_t bytes, hac_error *err)
{
    if (bytes > last->size) {
        uint8_t *more = realloc(last->data, bytes);
        if (more == NULL)
            return hac_fail_no_memory(err);
        last->data = more;
        last->size = bytes;
    }
    if (bytes > 0)
        memcpy(last->data, data, bytes);
    last->bytes = bytes;
    return HAC_OK;
}

static hac_status get_prefixes(hac_byte_arrays *t, hac_parquet_last *last, size_t n, hac_string_ref *ret,
                               hac_error *err)
{
    uint64_t prefixes[HAC_PARQUET_SCRATCH], suffixes[HAC_PARQUET_SCRATCH];
    const hac_string_buffer mark = *t->strings;
    const char *why;
    size_t bytes = 0, place = 0;
    hac_status status;
    if ((why = hac_parquet_delta_get(&t->prefixes, n, prefixes)) != NULL ||
        (why = hac_parquet_delta_get(&t->lengths, n, suffixes)) != NULL)
        return damaged(err, why);
    if ((status = measure(t, last, prefixes, suffixes, n, &bytes, err)) != HAC_OK ||
        (status = hac_string_buffer_place(t->strings, bytes, &place, err)) != HAC_OK)
        return status;
    if (ret == NULL)
        hac_string_buffer_forget(t->strings, &mark);
    const uint8_t *before = last->data;
    uint8_t *to = t->strings->data + place;
    size_t length = last->bytes;
    for (size_t i = 0; i < n; i++) {
        size_t prefix = (size_t)prefixes[i], suffix = (size_t)suffixes[i];
        if (prefix > 0)
            memcpy(to, before, prefix);
        memcpy(to + prefix, t->data + t->at, suffix);
        if (ret != NULL)
            ret[i] = (hac_string_ref){(uint32_t)(to - t->strings->data), (uint32_t)(prefix + suffix)};
        t->at += suffix;
        before = to;
        length = prefix + suffix;
        to += length;
    }
    return n > 0 ? remember(last, before, length, err) : HAC_OK;
}

hac_status hac_byte_arrays_get(hac_byte_arrays *t, hac_parquet_last *last, size_t n, hac_string_ref *ret,
                               hac_error *err)
{
    switch (t->kind) {
    case HAC_BYTE_ARRAYS_PLAIN:
        return get_plain(t, n, ret, err);
    case HAC_BYTE_ARRAYS_LENGTHS:
        return get_lengths(t, n, ret, err);
    default:
        return get_prefixes(t, last, n, ret, err);
    }
}
