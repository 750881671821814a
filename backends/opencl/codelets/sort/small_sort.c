/* SPDX-License-Identifier: Apache-2.0 */
#include "small_sort.h"

#include <string.h>

#include "radix.h"
#include "radix_host.h"

/*
 * A radix sort by bytes, least significant first: one pass over the keys makes all histograms, then one pass
 * follows for each byte in which keys differ. All data lies in the first-level cache or close to it. Few keys
 * are sorted by insertion.
 *
 * Keys whose NaNs all have the same bits are restored from their mapped form. Keys with different NaNs are
 * sorted by index.
 */
#define MAX_32       (HAC_SMALL_SORT_BYTES / 4)
#define MAX_64       (HAC_SMALL_SORT_BYTES / 8)
#define FEW          24
#define DIGITS       256
#define DEFINED_SORT static __attribute__((noinline))

/* sort_NAME: sorts n elements of TYPE by their bytes FIRST … 7 or 3. It is stable; the result lies in a or
 * b. */
#define DEFINE_SORT(name, type, first)                                                                       \
    static void insert_##name(type *a, size_t n)                                                             \
    {                                                                                                        \
        for (size_t i = 1; i < n; i++) {                                                                     \
            type x = a[i];                                                                                   \
            size_t k = i;                                                                                    \
            for (; k > 0 && a[k - 1] > x; k--)                                                               \
                a[k] = a[k - 1];                                                                             \
            a[k] = x;                                                                                        \
        }                                                                                                    \
    }                                                                                                        \
                                                                                                             \
    DEFINED_SORT type *sort_##name(type *a, type *b, size_t n)                                               \
    {                                                                                                        \
        uint16_t at[sizeof(type)][DIGITS];                                                                   \
        if (n <= FEW) {                                                                                      \
            insert_##name(a, n);                                                                             \
            return a;                                                                                        \
        }                                                                                                    \
        memset(at, 0, sizeof at);                                                                            \
        for (size_t i = 0; i < n; i++)                                                                       \
            for (size_t byte = first; byte < sizeof(type); byte++)                                           \
                at[byte][a[i] >> (8 * byte) & 255]++;                                                        \
        for (size_t byte = first; byte < sizeof(type); byte++) {                                             \
            if (at[byte][a[0] >> (8 * byte) & 255] == n)                                                     \
                continue;                                                                                    \
            uint16_t sum = 0;                                                                                \
            for (size_t d = 0; d < DIGITS; d++) {                                                            \
                uint16_t many = at[byte][d];                                                                 \
                at[byte][d] = sum;                                                                           \
                sum = (uint16_t)(sum + many);                                                                \
            }                                                                                                \
            for (size_t i = 0; i < n; i++)                                                                   \
                b[at[byte][a[i] >> (8 * byte) & 255]++] = a[i];                                              \
            type *swap = a;                                                                                  \
            a = b;                                                                                           \
            b = swap;                                                                                        \
        }                                                                                                    \
        return a;                                                                                            \
    }

DEFINE_SORT(keys32, uint32_t, 0)
DEFINE_SORT(keys64, uint64_t, 0)
/* a 32-bit key above its index */
DEFINE_SORT(pairs32, uint64_t, 4)

/* ---- keys ---- */

/* Maps the keys; false: there are NaNs with different bits. */
static bool map_keys32(const hac_radix_order *o, bool is_float, const void *in, size_t n, uint32_t *keys)
{
    memcpy(keys, in, n * sizeof *keys);
    uint32_t nan = 0, nans_differ = 0;
    if (is_float)
        for (size_t i = 0; i < n; i++)
            if ((keys[i] & 0x7fffffffu) > 0x7f800000u) {
                nans_differ |= nan != 0 && nan != keys[i];
                nan = keys[i];
            }
    for (size_t i = 0; i < n; i++)
        keys[i] = hac_key_map32(o->order, keys[i]);
    return !nans_differ;
}

static bool map_keys64(const hac_radix_order *o, bool is_float, const void *in, size_t n, uint64_t *keys)
{
    memcpy(keys, in, n * sizeof *keys);
    uint64_t nan = 0, nans_differ = 0;
    if (is_float)
        for (size_t i = 0; i < n; i++)
            if ((keys[i] & (UINT64_MAX >> 1)) > UINT64_C(0x7ff0000000000000)) {
                nans_differ |= nan != 0 && nan != keys[i];
                nan = keys[i];
            }
    for (size_t i = 0; i < n; i++)
        keys[i] = hac_key_map64(o->order, keys[i]);
    return !nans_differ;
}

static void by_index(hac_type type, bool descending, const uint8_t *in, size_t n, uint8_t *out)
{
    uint32_t index[MAX_32];
    size_t size = hac_type_size(type);
    hac_small_sort_index(type, descending, in, n, index);
    for (size_t i = 0; i < n; i++)
        memcpy(out + i * size, in + index[i] * size, size);
}

static void sort32(hac_type type, bool descending, const void *in, size_t n, void *out)
{
    uint32_t a[MAX_32], b[MAX_32];
    hac_radix_order o = hac_radix_order_of(type, descending, false);
    if (!map_keys32(&o, hac_type_is_float(type), in, n, a)) {
        by_index(type, descending, in, n, out);
        return;
    }
    uint32_t *sorted = sort_keys32(a, b, n);
    for (size_t i = 0; i < n; i++)
        sorted[i] = hac_key_unmap32(o.order, sorted[i]);
    memcpy(out, sorted, n * sizeof *sorted);
}

static void sort64(hac_type type, bool descending, const void *in, size_t n, void *out)
{
    uint64_t a[MAX_64], b[MAX_64];
    hac_radix_order o = hac_radix_order_of(type, descending, false);
    if (!map_keys64(&o, hac_type_is_float(type), in, n, a)) {
        by_index(type, descending, in, n, out);
        return;
    }
    uint64_t *sorted = sort_keys64(a, b, n);
    for (size_t i = 0; i < n; i++)
        sorted[i] = hac_key_unmap64(o.order, sorted[i]);
    memcpy(out, sorted, n * sizeof *sorted);
}

void hac_small_sort_keys(hac_type type, bool descending, const void *in, size_t n, void *out)
{
    if (n == 0)
        return;
    if (hac_type_size(type) == 4)
        sort32(type, descending, in, n, out);
    else
        sort64(type, descending, in, n, out);
}

/* ---- indices ---- */

static void index32(const hac_radix_order *o, const uint8_t *in, size_t n, uint32_t *out)
{
    uint64_t a[MAX_32], b[MAX_32];
    for (size_t i = 0; i < n; i++) {
        uint32_t key;
        memcpy(&key, in + i * sizeof key, sizeof key);
        a[i] = hac_radix_map(o, key) << 32 | i;
    }
    const uint64_t *sorted = sort_pairs32(a, b, n);
    for (size_t i = 0; i < n; i++)
        out[i] = (uint32_t)sorted[i];
}

/* 64-bit keys do not move; their numbers do. */
static void index64(const hac_radix_order *o, const uint8_t *in, size_t n, uint32_t *out)
{
    uint64_t keys[MAX_64];
    uint16_t numbers[2][MAX_64], *a = numbers[0], *b = numbers[1];
    uint64_t differ = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t key;
        memcpy(&key, in + i * sizeof key, sizeof key);
        keys[i] = hac_radix_map(o, key);
        differ |= keys[i] ^ keys[0];
        a[i] = (uint16_t)i;
    }
    for (unsigned shift = 0; shift < 64; shift += 8) {
        uint16_t at[DIGITS] = {0}, sum = 0;
        if ((differ >> shift & 255) == 0)
            continue;
        for (size_t i = 0; i < n; i++)
            at[keys[i] >> shift & 255]++;
        for (size_t d = 0; d < DIGITS; d++) {
            uint16_t many = at[d];
            at[d] = sum;
            sum = (uint16_t)(sum + many);
        }
        for (size_t i = 0; i < n; i++)
            b[at[keys[a[i]] >> shift & 255]++] = a[i];
        uint16_t *swap = a;
        a = b;
        b = swap;
    }
    for (size_t i = 0; i < n; i++)
        out[i] = a[i];
}

void hac_small_sort_index(hac_type type, bool descending, const void *in, size_t n, uint32_t *out)
{
    hac_radix_order o = hac_radix_order_of(type, descending, true);
    if (n == 0)
        return;
    if (o.key_bytes == 4)
        index32(&o, in, n, out);
    else
        index64(&o, in, n, out);
}

/* ---- sort.small ---- */

hac_status hac_radix_check_small(const hac_device_facts *facts, const hac_task *task, hac_error *err)
{
    (void)facts;
    size_t size = hac_type_size(task->type);
    uint64_t index_bytes = HAC_PARAMS(hac_small_sort_params, task)->index_bytes;
    if (size == 0)
        return hac_fail(err, HAC_INVALID, "no element type");
    if (index_bytes != 0 && index_bytes != 4)
        return hac_fail(err, HAC_INVALID, "the one param is 0 for keys or 4 for indices");
    if (task->inline_in_bytes > HAC_SMALL_SORT_BYTES || task->inline_in_bytes % size != 0)
        return hac_fail(err, HAC_INVALID, "%zu bytes are not at most %d bytes of keys of %zu",
                        task->inline_in_bytes, HAC_SMALL_SORT_BYTES, size);
    return HAC_OK;
}

hac_status hac_radix_run_small(hac_device *device, const hac_task *task, hac_task_result *result,
                               hac_error *err)
{
    (void)device;
    (void)err;
    size_t n = task->inline_in_bytes / hac_type_size(task->type);
    if (HAC_PARAMS(hac_small_sort_params, task)->index_bytes == 0) {
        hac_small_sort_keys(task->type, task->descending, task->inline_in, n, result->inline_out);
        result->inline_out_bytes = task->inline_in_bytes;
        return HAC_OK;
    }
    uint32_t index[MAX_32];
    hac_small_sort_index(task->type, task->descending, task->inline_in, n, index);
    memcpy(result->inline_out, index, n * sizeof *index);
    result->inline_out_bytes = n * sizeof *index;
    return HAC_OK;
}
