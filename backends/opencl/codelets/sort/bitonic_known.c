/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Known-answer test of the bitonic codelets. The keys are multiples of an odd constant: all are different,
 * they cover all bit patterns, and a key's place follows from the key. So an answer is right if it ascends
 * strictly and every key in it is an input key. A pass that a device ends early or reorders makes this fail.
 */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/limits.h"
#include "bitonic.h"
#include "bitonic_pass.h"

/* multiplier · inverse = 1 (mod 2^64); their low halves: 1 (mod 2^32) */
static const uint64_t multiplier = UINT64_C(0x9e3779b97f4a7c15), inverse = UINT64_C(0xf1de83e19937733d);

typedef struct bitonic_sample {
    hac_type type;
    hac_bitonic_index index;
    bool wide;
    uint64_t m;
    uint8_t *in, *work, *final;
} bitonic_sample;

static void sample_free(bitonic_sample *s)
{
    free(s->in);
    free(s->work);
    free(s->final);
}

static void *new_memory(uint64_t bytes)
{
    return aligned_alloc(HAC_ALIGNMENT, (bytes + HAC_ALIGNMENT - 1) / HAC_ALIGNMENT * HAC_ALIGNMENT);
}

static uint64_t key_at(const bitonic_sample *s, const uint8_t *keys, uint64_t i)
{
    uint64_t wide;
    uint32_t narrow;
    if (s->wide) {
        memcpy(&wide, keys + i * 8, 8);
        return wide;
    }
    memcpy(&narrow, keys + i * 4, 4);
    return narrow;
}

static hac_status sample_fill(bitonic_sample *s, hac_error *err)
{
    s->wide = hac_type_size(s->type) == 8;
    s->in = new_memory(s->m * hac_type_size(s->type));
    s->work = new_memory(s->m * hac_bitonic_item_bytes(s->type, s->index));
    s->final = new_memory(s->m * 8);
    if (s->in == NULL || s->work == NULL || s->final == NULL)
        return hac_fail_no_memory(err);
    for (uint64_t i = 0; i < s->m; i++) {
        uint64_t key = i * multiplier;
        uint32_t narrow = (uint32_t)key;
        memcpy(s->in + i * (s->wide ? 8 : 4), s->wide ? (const void *)&key : &narrow, s->wide ? 8 : 4);
    }
    return HAC_OK;
}

/* The key mapped to the sort's order; in argsort all NaNs are equal. */
static uint64_t mapped(const bitonic_sample *s, hac_key_order order, uint64_t key)
{
    uint64_t top = s->type == HAC_TYPE_F32 ? UINT64_C(0x7f800000) : UINT64_C(0x7ff0000000000000);
    if (s->index != HAC_BITONIC_KEYS && hac_type_is_float(s->type) && (key & order.flip) > top)
        return UINT64_MAX;
    return s->wide ? hac_key_map64(order, key) : hac_key_map32(order, (uint32_t)key);
}

static bool sample_is_sorted(const bitonic_sample *s)
{
    hac_key_order order = hac_key_order_of(s->type, false);
    uint64_t before = 0, before_index = 0;
    for (uint64_t i = 0; i < s->m; i++) {
        uint64_t index = 0, key;
        if (s->index != HAC_BITONIC_KEYS) {
            memcpy(&index, s->final + i * s->index, s->index);
            if (index >= s->m)
                return false;
            key = key_at(s, s->in, index);
        } else {
            key = key_at(s, s->work, i);
            uint64_t place = s->wide ? key * inverse : (uint32_t)key * (uint32_t)inverse;
            if (place >= s->m)
                return false;
        }
        key = mapped(s, order, key);
        if (i > 0 && (key < before || (key == before && index <= before_index)))
            return false;
        before = key;
        before_index = index;
    }
    return true;
}

static hac_status run(hac_device *device, const bitonic_sample *s, uint32_t b, uint32_t s0, uint32_t s1,
                      hac_error *err)
{
    hac_task task = {.type = s->type, .count = s->m, .n_spans = s->index == HAC_BITONIC_KEYS ? 2 : 3};
    hac_task_result result = {0};
    task.spans[0] = (hac_span){s->in, s->m * hac_type_size(s->type)};
    task.spans[1] = (hac_span){s->work, s->m * hac_bitonic_item_bytes(s->type, s->index)};
    task.spans[2] = (hac_span){s->final, s->m * 8};
    HAC_SET_PARAMS(
        &task,
        &(hac_bitonic_params){
            .items = s->m, .index_bytes = s->index, .block_log2 = b, .first_step = s0, .last_step = s1});
    return hac_bitonic_run_steps(device, &task, &result, err);
}

/* Sorts m items in blocks of 2^b, in tasks of `stretch` steps (0: one task). */
static hac_status try(hac_device *device, bitonic_sample *s, uint32_t b, uint32_t stretch, hac_error *err)
{
    uint32_t last = hac_bitonic_last_step(hac_bitonic_subsets(s->m));
    hac_status status = sample_fill(s, err);
    if (stretch == 0)
        stretch = last;
    for (uint32_t step = 1; step <= last && status == HAC_OK; step += stretch)
        status = run(device, s, b, step, step + stretch - 1 < last ? step + stretch - 1 : last, err);
    if (status == HAC_OK && !sample_is_sorted(s))
        status = hac_fail(err, HAC_DEVICE, "%llu items of %s in blocks of 2^%u came out wrong",
                          (unsigned long long)s->m, hac_type_name(s->type), b);
    sample_free(s);
    return status;
}

static hac_status known_answer(hac_device *device, hac_type type, hac_bitonic_index index, hac_error *err)
{
    const hac_device_facts *facts = hac_device_get_facts(device);
    uint32_t item_bytes = hac_bitonic_item_bytes(type, index), tile = hac_bitonic_tile_log2(item_bytes);
    hac_bitonic_limits limits = {facts->block_items, facts->max_loop_iterations, facts->local_memory,
                                 facts->max_allocation, facts->style == HAC_STYLE_SIMT};
    uint32_t b = hac_bitonic_block_log2(&limits, item_bytes);
    /* Whole blocks and an incomplete one; every number of fused steps; single steps of every stride. */
    const uint64_t sizes[] = {(UINT64_C(5) << b) / 2 + 77, (UINT64_C(300) << tile) + 13, 333};
    const uint32_t blocks[] = {b, tile, tile}, stretches[] = {0, 0, 1};
    hac_status status = HAC_OK;
    for (size_t i = 0; i < 3 && status == HAC_OK; i++) {
        bitonic_sample s = {.type = type, .index = index, .m = sizes[i]};
        status = try(device, &s, blocks[i], stretches[i], err);
    }
    return status;
}

#define DEFINE_KNOWN_ANSWER(kind, index)                                                                     \
    hac_status hac_bitonic_known_answer_##kind(hac_device *device, hac_type type, hac_error *err)            \
    {                                                                                                        \
        return known_answer(device, type, index, err);                                                       \
    }

DEFINE_KNOWN_ANSWER(keys, HAC_BITONIC_KEYS)
DEFINE_KNOWN_ANSWER(index32, HAC_BITONIC_INDEX32)
DEFINE_KNOWN_ANSWER(index64, HAC_BITONIC_INDEX64)
