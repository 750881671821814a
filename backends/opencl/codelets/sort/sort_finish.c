/* SPDX-License-Identifier: Apache-2.0 */
/* What may follow a sort: sort.nan_order and sort.gather. See radix.h. */
#include <string.h>

#include "radix.h"
#include "radix_host.h"

/* ---- sort.nan_order ---- */

hac_status hac_radix_check_nan_order(const hac_device_facts *facts, const hac_task *task, hac_error *err)
{
    (void)facts;
    uint64_t bytes;
    if (!hac_type_is_float(task->type))
        return hac_fail(err, HAC_INVALID, "only floats have NaNs");
    if (task->n_spans != 2 ||
        __builtin_mul_overflow(HAC_PARAMS(hac_nan_order_params, task)->items, hac_type_size(task->type),
                               &bytes) ||
        task->spans[0].bytes < bytes || task->spans[1].bytes < bytes)
        return hac_fail(err, HAC_INVALID, "two spans of as many keys as the param says are needed");
    return HAC_OK;
}

static bool is_nan(uint64_t key, bool wide)
{
    return wide ? (key & (UINT64_MAX >> 1)) > UINT64_C(0x7ff0000000000000)
                : (key & (UINT32_MAX >> 1)) > UINT64_C(0x7f800000);
}

/* The number of NaNs at the end of the sorted keys (at the beginning if descending). *ret_alike: all have the
 * same bits. */
static uint64_t count_nans(const uint8_t *keys, uint64_t n, uint32_t key_bytes, bool descending,
                           bool *ret_alike)
{
    uint64_t nans = 0, first = 0;
    *ret_alike = true;
    for (; nans < n; nans++) {
        uint64_t key = hac_radix_load(keys, descending ? nans : n - 1 - nans, key_bytes);
        if (!is_nan(key, key_bytes == 8))
            break;
        if (nans == 0)
            first = key;
        *ret_alike = *ret_alike && key == first;
    }
    return nans;
}

hac_status hac_radix_run_nan_order(hac_device *device, const hac_task *task, hac_task_result *result,
                                   hac_error *err)
{
    (void)device;
    uint32_t key_bytes = (uint32_t)hac_type_size(task->type);
    uint64_t n = HAC_PARAMS(hac_nan_order_params, task)->items;
    const uint8_t *in = task->spans[0].data;
    uint8_t *out = task->spans[1].data;
    bool alike;
    uint64_t nans = count_nans(out, n, key_bytes, task->descending, &alike);
    result->values[0] = nans;
    result->n_values = 1;
    if (alike)
        return HAC_OK;
    uint64_t to = task->descending ? 0 : n - nans, end = to + nans;
    for (uint64_t i = 0; i < n && to < end; i++) {
        uint64_t key = hac_radix_load(in, i, key_bytes);
        if (is_nan(key, key_bytes == 8))
            memcpy(out + to++ * key_bytes, in + i * key_bytes, key_bytes);
    }
    if (to != end)
        return hac_fail(err, HAC_FAILED, "the output has more NaNs than the input");
    return HAC_OK;
}

/* ---- sort.gather ---- */

#define MAX_ELEMENT (UINT64_C(1) << 20)

hac_status hac_radix_check_gather(const hac_device_facts *facts, const hac_task *task, hac_error *err)
{
    (void)facts;
    uint64_t end, payload, index;
    if (task->n_spans != 3)
        return hac_fail(err, HAC_INVALID, "3 spans are needed");
    const hac_gather_params *p = HAC_PARAMS(hac_gather_params, task);
    uint64_t n = p->items, width = p->width, index_bytes = p->index_bytes;
    if (width == 0 || width > MAX_ELEMENT || (index_bytes != 4 && index_bytes != 8))
        return hac_fail(err, HAC_INVALID, "elements of %llu bytes and indices of %llu cannot be gathered",
                        (unsigned long long)width, (unsigned long long)index_bytes);
    if (__builtin_mul_overflow(n, width, &payload) || __builtin_mul_overflow(n, index_bytes, &index) ||
        task->spans[0].bytes < payload || task->spans[1].bytes < index || task->spans[2].bytes < payload)
        return hac_fail(err, HAC_INVALID, "the spans are too short for %llu elements", (unsigned long long)n);
    if (task->count == 0 || __builtin_add_overflow(task->first, task->count, &end) || end > n)
        return hac_fail(err, HAC_INVALID, "elements %llu + %llu are not within %llu",
                        (unsigned long long)task->first, (unsigned long long)task->count,
                        (unsigned long long)n);
    return HAC_OK;
}

/* With a constant width the copy is a load and a store. Returns the first element whose index is not below n,
 * or `end`. An index that is read ahead only to prefetch its element need not be valid. */
static inline __attribute__((always_inline)) uint64_t gather(const hac_task *task, uint64_t n, size_t width,
                                                             uint32_t index_bytes)
{
    const uint8_t *payload = task->spans[0].data;
    uint8_t *out = task->spans[2].data;
    uint64_t end = task->first + task->count, ahead = 16;
    for (uint64_t i = task->first; i < end; i++) {
        uint64_t from = hac_radix_load(task->spans[1].data, i, index_bytes);
        if (from >= n)
            return i;
        if (i + ahead < end) {
            uint64_t later = hac_radix_load(task->spans[1].data, i + ahead, index_bytes);
            __builtin_prefetch(payload + (later < n ? later : 0) * width);
        }
        memcpy(out + i * width, payload + from * width, width);
    }
    return end;
}

static uint64_t gather_width(const hac_task *task, uint64_t n, size_t width, uint32_t index_bytes)
{
    switch (width) {
    case 1:
        return gather(task, n, 1, index_bytes);
    case 2:
        return gather(task, n, 2, index_bytes);
    case 4:
        return gather(task, n, 4, index_bytes);
    case 8:
        return gather(task, n, 8, index_bytes);
    case 16:
        return gather(task, n, 16, index_bytes);
    default:
        return gather(task, n, width, index_bytes);
    }
}

hac_status hac_radix_run_gather(hac_device *device, const hac_task *task, hac_task_result *result,
                                hac_error *err)
{
    (void)device;
    (void)result;
    const hac_gather_params *p = HAC_PARAMS(hac_gather_params, task);
    uint64_t n = p->items;
    uint64_t end =
        p->index_bytes == 4 ? gather_width(task, n, p->width, 4) : gather_width(task, n, p->width, 8);
    if (end != task->first + task->count)
        return hac_fail(err, HAC_INVALID, "index %llu is not below %llu", (unsigned long long)end,
                        (unsigned long long)n);
    return HAC_OK;
}
