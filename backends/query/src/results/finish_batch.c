/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "codelet/progress.h"
#include "finish_internal.h"

/* Rows of an order lie anywhere in memory. Each column's values are therefore taken in steps over all rows of
 * the batch, and each step fetches what the next one reads. */
typedef struct batch_places {
    const uint8_t *value[HAC_BATCH_ROWS];
    uint64_t bytes[HAC_BATCH_ROWS];              /* of a string */
    const hac_rows_place *block[HAC_BATCH_ROWS]; /* of the row */
} batch_places;

/* Finds and fetches the values. Returns whether any is null. */
static bool find_values(const hac_ordered_rows *rows, uint64_t first, size_t n, size_t column, size_t size,
                        batch_places *p, uint8_t *states)
{
    const uint64_t *order = rows->order + first;
    bool nullable = false;
    for (size_t i = 0; i < n; i++) {
        const hac_rows_place *block = &rows->rows->blocks[order[i] / HAC_BATCH_ROWS];
        const hac_rows_column_place *place = &block->columns[column];
        size_t row = order[i] % HAC_BATCH_ROWS;
        p->block[i] = block;
        p->value[i] = block->region + place->values + row * size;
        __builtin_prefetch(p->value[i]);
        nullable |= place->states != 0;
    }
    if (!nullable) {
        memset(states, HAC_ROW_OK, n);
        return false;
    }
    bool any = false;
    for (size_t i = 0; i < n; i++) {
        const hac_rows_column_place *place = &p->block[i]->columns[column];
        bool null = place->states != 0 && p->block[i]->region[place->states + order[i] % HAC_BATCH_ROWS] != 0;
        states[i] = null ? HAC_ROW_NULL : HAC_ROW_OK;
        any |= null;
    }
    return any;
}

static void copy_values(const batch_places *p, size_t n, hac_repr repr, uint8_t *values)
{
    size_t size = hac_repr_size(repr);
    for (size_t i = 0; repr == HAC_REPR_BOOL && i < n; i++)
        values[i] = *p->value[i] != 0;
    for (size_t i = 0; size == 4 && i < n; i++)
        memcpy(values + i * 4, p->value[i], 4);
    for (size_t i = 0; size == 8 && i < n; i++)
        memcpy(values + i * 8, p->value[i], 8);
    for (size_t i = 0; size == 16 && i < n; i++)
        memcpy(values + i * 16, p->value[i], 16);
}

/* Finds and fetches the characters of strings; returns how many there are. */
static uint64_t find_strings(batch_places *p, size_t n, const uint8_t *states)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        hac_string_ref ref;
        memcpy(&ref, p->value[i], sizeof ref);
        /* checked when it is read: the region may change at any time */
        if (states[i] != HAC_ROW_OK || ref.length > p->block[i]->strings_bytes ||
            ref.offset > p->block[i]->strings_bytes - ref.length)
            ref = (hac_string_ref){0, 0};
        p->value[i] = p->block[i]->region + p->block[i]->strings + ref.offset;
        p->bytes[i] = ref.length;
        __builtin_prefetch(p->value[i]);
        sum += ref.length;
    }
    return sum;
}

static hac_status copy_strings(batch_places *p, size_t n, const uint8_t *states, hac_ordered_batch *b,
                               uint64_t *used, hac_string_ref *ret, hac_error *err)
{
    uint64_t bytes = find_strings(p, n, states);
    if (bytes > UINT32_MAX - *used)
        return hac_fail(err, HAC_NO_MEMORY, "a batch of rows has more than 4 GiB of strings");
    if (*used + bytes > b->capacity) {
        uint64_t capacity = (*used + bytes) * 2;
        uint8_t *strings = realloc(b->strings, capacity);
        if (strings == NULL)
            return hac_fail_no_memory(err);
        b->strings = strings;
        b->capacity = capacity;
    }
    for (size_t i = 0; i < n; i++) {
        ret[i] = (hac_string_ref){.offset = (uint32_t)*used, .length = (uint32_t)p->bytes[i]};
        if (p->bytes[i] != 0)
            memcpy(b->strings + *used, p->value[i], p->bytes[i]);
        *used += p->bytes[i];
    }
    return HAC_OK;
}

hac_status hac_ordered_batch_fill(const hac_ordered_rows *rows, uint64_t first, size_t n,
                                  hac_ordered_batch *batch, hac_error *err)
{
    size_t n_visible = rows->query->n_visible;
    uint64_t used = 0;
    batch_places p;
    hac_status status = HAC_OK;
    if (batch->memory == NULL)
        batch->memory = aligned_alloc(64, (n_visible + 1) * 17 * HAC_BATCH_ROWS);
    if (batch->memory == NULL)
        return hac_fail_no_memory(err);
    for (size_t c = 0; status == HAC_OK && c < n_visible; c++) {
        hac_repr repr = rows->rows->repr[c];
        size_t size = hac_repr_size(repr);
        uint8_t *values = batch->memory + c * 17 * HAC_BATCH_ROWS, *states = values + 16 * HAC_BATCH_ROWS;
        batch->columns[c] =
            (hac_column){.type = rows->query->outputs.fields[c].type, .values = values, .states = states};
        bool nulls = find_values(rows, first, n, c, size, &p, states);
        if (repr == HAC_REPR_STRING)
            status = copy_strings(&p, n, states, batch, &used, (hac_string_ref *)(void *)values, err);
        else
            copy_values(&p, n, repr, values);
        for (size_t i = 0; nulls && repr != HAC_REPR_STRING && i < n; i++)
            if (states[i] != HAC_ROW_OK)
                memset(values + i * size, 0, size);
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
    batch->capacity = 0;
}

hac_status hac_ordered_for_batches(const hac_ordered_rows *rows, hac_batch_work work, void *context,
                                   hac_error *err)
{
    hac_autofree hac_ordered_batch *batch = calloc(1, sizeof *batch);
    hac_status status = batch == NULL ? hac_fail_no_memory(err) : HAC_OK;
    for (uint64_t i = 0; status == HAC_OK && i < rows->n; i += HAC_BATCH_ROWS) {
        size_t n = rows->n - i < HAC_BATCH_ROWS ? (size_t)(rows->n - i) : HAC_BATCH_ROWS;
        status = hac_ordered_batch_fill(rows, i, n, batch, err);
        if (status == HAC_OK)
            status = work(context, batch->columns, n, err);
        hac_progress_step();
    }
    if (batch != NULL)
        hac_ordered_batch_clear(batch);
    return status;
}
