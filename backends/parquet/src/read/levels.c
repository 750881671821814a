/* SPDX-License-Identifier: Apache-2.0 */
#include "levels.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "expr/column.h"
#include "format/sizes.h"

enum { REPETITION = 0, DEFINITION = 1 };

static const char *const names[] = {"repetition", "definition"};

/* The bytes of the page that are not read yet. */
typedef struct rest {
    const uint8_t *data;
    size_t bytes;
} rest;

void hac_parquet_levels_clear(hac_parquet_levels *levels)
{
    free(levels->packed[REPETITION]);
    free(levels->packed[DEFINITION]);
    *levels = (hac_parquet_levels){.there = false};
}

static uint8_t max_of(const hac_parquet_leaf *leaf, int which)
{
    return which == DEFINITION ? leaf->max_definition : leaf->max_repetition;
}

static int32_t encoding_of(const hac_parquet_page_header *h, int which)
{
    return which == DEFINITION ? h->definition_encoding : h->repetition_encoding;
}

hac_status hac_parquet_levels_check(const hac_parquet_leaf *leaf, const hac_parquet_page_header *header,
                                    hac_error *err)
{
    for (int which = REPETITION; which <= DEFINITION; which++) {
        int32_t encoding = encoding_of(header, which);
        if (max_of(leaf, which) > 0 && encoding != HAC_ENCODING_RLE && encoding != HAC_ENCODING_BIT_PACKED)
            return hac_fail(err, HAC_FAILED, "its %s levels are neither RLE nor BIT_PACKED", names[which]);
    }
    return HAC_OK;
}

/* Reads levels of the deprecated encoding BIT_PACKED, without a length: all of the page, packed from the
 * highest bit down. They become a packed run, from the lowest bit up. */
static hac_status begin_packed(hac_parquet_levels *l, int which, hac_parquet_hybrid *ret,
                               const hac_parquet_kernels *kernels, unsigned width, uint64_t n, rest *from,
                               hac_error *err)
{
    uint64_t needed = (n * width + 7) / 8;
    if (needed > from->bytes)
        return hac_fail(err, HAC_FAILED, "its %s levels are longer than the page", names[which]);
    uint8_t *levels = realloc(l->packed[which], (size_t)needed + HAC_PARQUET_SLACK);
    if (levels == NULL)
        return hac_fail_no_memory(err);
    l->packed[which] = levels;
    memset(levels, 0, (size_t)needed + HAC_PARQUET_SLACK);
    for (uint64_t i = 0; i < n * width; i++) {
        uint64_t to = i - i % width + (width - 1 - i % width); /* bits within a level are reversed, too */
        levels[to / 8] |= (uint8_t)((from->data[i / 8] >> (7 - i % 8) & 1) << to % 8);
    }
    hac_parquet_hybrid_packed(ret, kernels, width, levels, n);
    from->data += needed;
    from->bytes -= (size_t)needed;
    return HAC_OK;
}

/* v1: the length of the runs stands before them. */
static hac_status take_length(rest *from, int which, uint32_t *ret, hac_error *err)
{
    if (from->bytes < sizeof *ret)
        return hac_fail(err, HAC_FAILED, "it has no room for its %s levels", names[which]);
    memcpy(ret, from->data, sizeof *ret);
    from->data += sizeof *ret;
    from->bytes -= sizeof *ret;
    if (*ret > from->bytes)
        return hac_fail(err, HAC_FAILED, "its %s levels are longer than the page", names[which]);
    return HAC_OK;
}

static hac_status begin_one(hac_parquet_levels *l, int which, const hac_parquet_leaf *leaf,
                            const hac_parquet_kernels *kernels, const hac_parquet_page_header *h, rest *from,
                            hac_error *err)
{
    hac_parquet_hybrid *ret = which == DEFINITION ? &l->definition : &l->repetition;
    bool is_v2 = h->type == HAC_PAGE_DATA_V2;
    unsigned width = hac_parquet_bits(max_of(leaf, which));
    uint32_t length = which == DEFINITION ? h->definition_bytes : h->repetition_bytes;
    if (!is_v2 && max_of(leaf, which) == 0)
        return HAC_OK;
    if (!is_v2 && encoding_of(h, which) == HAC_ENCODING_BIT_PACKED)
        return begin_packed(l, which, ret, kernels, width, h->values, from, err);
    hac_status status = is_v2 ? HAC_OK : take_length(from, which, &length, err);
    if (status != HAC_OK)
        return status;
    const char *why = NULL;
    if (max_of(leaf, which) > 0)
        why = hac_parquet_hybrid_begin(ret, kernels, width, from->data, length);
    from->data += length; /* of v2, the header's reader has checked the lengths */
    from->bytes -= length;
    return why == NULL ? HAC_OK : hac_fail(err, HAC_FAILED, "%s", why);
}

hac_status hac_parquet_levels_begin(hac_parquet_levels *levels, const hac_parquet_leaf *leaf,
                                    const hac_parquet_kernels *kernels, const hac_parquet_page_header *header,
                                    const uint8_t *data, size_t bytes, size_t *ret_used, hac_error *err)
{
    rest from = {data, bytes};
    levels->there = leaf->max_definition > 0;
    hac_status status = begin_one(levels, REPETITION, leaf, kernels, header, &from, err);
    if (status == HAC_OK)
        status = begin_one(levels, DEFINITION, leaf, kernels, header, &from, err);
    *ret_used = bytes - from.bytes;
    return status;
}

hac_status hac_parquet_levels_states(hac_parquet_levels *levels, const hac_parquet_leaf *leaf, size_t n,
                                     uint8_t *states, size_t *ret_nulls, hac_error *err)
{
    const char *why = NULL;
    *ret_nulls = 0;
    if (levels->there)
        why = hac_parquet_hybrid_states(&levels->definition, leaf->max_definition, n, states, ret_nulls);
    return why == NULL ? HAC_OK : hac_fail(err, HAC_FAILED, "%s", why);
}

/* Reads the next n levels as bytes. */
static hac_status take_bytes(hac_parquet_hybrid *hybrid, int which, uint32_t max, size_t n, uint8_t *ret,
                             hac_error *err)
{
    uint32_t levels[HAC_BATCH_ROWS + 32], seen = 0;
    const char *why = hac_parquet_hybrid_get(hybrid, n, levels);
    if (why != NULL)
        return hac_fail(err, HAC_FAILED, "%s", why);
    for (size_t i = 0; i < n; i++) {
        seen = levels[i] > seen ? levels[i] : seen;
        ret[i] = (uint8_t)levels[i];
    }
    return seen <= max ? HAC_OK : hac_fail(err, HAC_FAILED, "a %s level is too large", names[which]);
}

hac_status hac_parquet_levels_slots(hac_parquet_levels *levels, const hac_parquet_leaf *leaf, size_t n,
                                    uint8_t *ret_repetition, uint8_t *ret_definition, uint8_t *states,
                                    size_t *ret_nulls, hac_error *err)
{
    size_t nulls = 0;
    hac_status status =
        take_bytes(&levels->repetition, REPETITION, leaf->max_repetition, n, ret_repetition, err);
    if (status == HAC_OK)
        status = take_bytes(&levels->definition, DEFINITION, leaf->max_definition, n, ret_definition, err);
    for (size_t i = 0; status == HAC_OK && i < n; i++) {
        states[i] = ret_definition[i] == leaf->max_definition ? HAC_ROW_OK : HAC_ROW_NULL;
        nulls += states[i];
    }
    *ret_nulls = nulls;
    return status;
}
