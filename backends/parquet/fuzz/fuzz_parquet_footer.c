/* SPDX-License-Identifier: Apache-2.0 */
/* A Parquet file whose pages are not read. Its metadata is parsed, described, and used for pruning. The
 * magics are set and the footer's length is limited to the file, so that the metadata behind them is
 * fuzzed. */
#include <stdlib.h>
#include <string.h>

#include "parquet/prune.h"
#include "read/page_index.h"

#define ENDS       12
#define GROUPS_MAX 3
#define LEAVES_MAX 24

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static void must(bool condition)
{
    if (!condition)
        abort();
}

static void check_ranges(const hac_parquet_ranges *ranges, uint64_t rows)
{
    uint64_t end = 0;
    for (size_t i = 0; i < ranges->n; i++) {
        const hac_parquet_range *range = &ranges->ranges[i];
        must(range->rows > 0 && (i == 0 || range->first > end));
        must(range->first <= rows && range->rows <= rows - range->first);
        end = range->first + range->rows;
    }
}

static void prune(const hac_parquet_file *file, size_t group, size_t leaf)
{
    hac_constant values[] = {
        {.low = 2, .high = 1}, {.low = 0, .high = 5}, {.low = UINT64_MAX / 3, .high = 0}};
    hac_conjunct conjunct = {.fails = false};
    hac_bound bound = {.values = values, .bytes = (const uint8_t *)"a string of bytes"};
    const hac_conjuncts conjuncts = {.conjuncts = &conjunct, .n = 1, .bounds = &bound, .n_bounds = 1};
    bound.repr = (uint8_t)hac_repr_of(file->leaves[leaf].type);
    if (bound.repr == HAC_REPR_STRING) /* makes a string: its address */
        values[2] = values[0];
    for (size_t i = 0; i < 3; i++)
        values[i].repr = bound.repr;
    for (unsigned comparison = 0; comparison <= HAC_COMPARE_NOT_NULL; comparison++) {
        bound.comparison = (uint8_t)comparison;
        bound.n_values = comparison == HAC_COMPARE_IN ? 3 : comparison >= HAC_COMPARE_NULL ? 0 : 1;
        hac_parquet_ranges ranges;
        hac_parquet_pruned pruned = {.rows = 0};
        must(hac_parquet_prune(file, group, &conjuncts, &leaf, &ranges, &pruned, NULL) == HAC_OK);
        check_ranges(&ranges, file->groups[group].rows);
        hac_parquet_ranges_clear(&ranges);
    }
}

static void look(const hac_parquet_file *file)
{
    hac_text text = HAC_TEXT_NONE;
    hac_parquet_describe(file, &text);
    hac_text_clear(&text);
    for (size_t group = 0; group < file->n_groups && group < GROUPS_MAX; group++)
        for (size_t leaf = 0; leaf < file->n_leaves && leaf < LEAVES_MAX; leaf++) {
            const hac_parquet_chunk *chunk = &file->groups[group].chunks[leaf];
            must(chunk->first_byte <= file->place.bytes &&
                 chunk->bytes <= file->place.bytes - chunk->first_byte);
            must((file->leaves[leaf].why == NULL) == (file->leaves[leaf].type.kind != HAC_KIND_NONE));
            prune(file, group, leaf);
        }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    uint8_t *copy = malloc(bytes > 0 ? bytes : 1);
    must(copy != NULL);
    memcpy(copy, data, bytes);
    if (bytes >= ENDS) {
        memcpy(copy, "PAR1", 4);
        memcpy(copy + bytes - 4, "PAR1", 4);
        uint32_t length = (uint32_t)copy[bytes - 8] | (uint32_t)copy[bytes - 7] << 8;
        length = length < bytes - ENDS ? length : (uint32_t)(bytes - ENDS);
        for (unsigned i = 0; i < 4; i++)
            copy[bytes - 8 + i] = (uint8_t)(length >> 8 * i);
    }
    const hac_parquet_place place = {.fd = -1, .memory = copy, .bytes = bytes};
    hac_parquet_file *file;
    if (hac_parquet_open(&place, NULL, &file, NULL) == HAC_OK) {
        look(file);
        hac_parquet_close(file);
    }
    free(copy);
    return 0;
}
