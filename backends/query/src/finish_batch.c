/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "finish_internal.h"

static hac_status add_string(hac_ordered_batch *b, uint64_t *used, const uint64_t words[2],
                             hac_string_ref *ret, hac_error *err)
{
    if (words[1] > UINT32_MAX - *used)
        return hac_fail(err, HAC_NO_MEMORY, "a batch of rows has more than 4 GiB of strings");
    if (*used + words[1] > b->room) {
        uint64_t room = (*used + words[1]) * 2;
        uint8_t *strings = realloc(b->strings, room);
        if (strings == NULL)
            return hac_fail_no_memory(err);
        b->strings = strings;
        b->room = room;
    }
    if (words[1] != 0)
        memcpy(b->strings + *used, (const void *)(uintptr_t)words[0], words[1]);
    *ret = (hac_string_ref){.offset = (uint32_t)*used, .length = (uint32_t)words[1]};
    *used += words[1];
    return HAC_OK;
}

hac_status hac_ordered_batch_fill(const hac_ordered_rows *rows, uint64_t first, size_t n,
                                  hac_ordered_batch *batch, hac_error *err)
{
    size_t n_visible = rows->query->n_visible;
    uint64_t used = 0, words[2];
    hac_status status = HAC_OK;
    if (batch->memory == NULL)
        batch->memory = aligned_alloc(64, (n_visible + 1) * 17 * HAC_BATCH_ROWS);
    if (batch->memory == NULL)
        return hac_fail_no_memory(err);
    for (size_t c = 0; c < n_visible; c++) {
        hac_repr repr = rows->rows->repr[c];
        size_t size = hac_repr_size(repr);
        uint8_t *values = batch->memory + c * 17 * HAC_BATCH_ROWS;
        batch->columns[c] = (hac_vector){.type = rows->query->outputs.fields[c].type,
                                         .values = values,
                                         .states = values + 16 * HAC_BATCH_ROWS};
        for (size_t i = 0; status == HAC_OK && i < n; i++) {
            batch->columns[c].states[i] = hac_ordered_value(rows, first + i, c, words);
            if (repr == HAC_REPR_STRING)
                status = add_string(batch, &used, words, (hac_string_ref *)(void *)values + i, err);
            else
                memcpy(values + i * size, words, size);
        }
    }
    for (size_t c = 0; c < n_visible; c++)
        batch->columns[c].bytes = batch->strings;
    return status;
}

void hac_ordered_batch_clear(hac_ordered_batch *batch)
{
    free(batch->memory);
    free(batch->strings);
    batch->memory = batch->strings = NULL;
    batch->room = 0;
}
