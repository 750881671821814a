/* SPDX-License-Identifier: Apache-2.0 */
/* Vectors and their memory. Small vectors share buffers, one for each size of slots, because a graph has
 * at most 32 buffers. */
#include "vectors.h"

#include <stdlib.h>
#include <string.h>

/* Slots have 256 bytes, and twice as many each up to 128 KiB. The first buffer of a size has few slots;
 * each further buffer has twice as many, up to a limit. */
#define SLOT_MIN    UINT64_C(256)
#define SLOTS_MIN   UINT64_C(4)
#define SLOTS_BYTES (UINT64_C(1) << 20)
#define PAGE_BYTES  UINT64_C(4096)
#define SPARE_WASTE 2 /* a spare buffer is used if it is at most so many times too large */

/* ---- memory ---- */

/* Makes a record that the run frees at its end. */
static hac_run_memory *new_record(hac_logic_run_state *run)
{
    hac_run_memory *memory = calloc(1, sizeof *memory);
    if (memory == NULL)
        return NULL;
    memory->users = 1;
    memory->in_graph = -1;
    memory->older = run->memory;
    run->memory = memory;
    return memory;
}

static hac_status new_buffer(hac_logic_run_state *run, uint64_t bytes, hac_run_memory **ret, hac_error *err)
{
    hac_run_memory *memory = new_record(run);
    if (memory == NULL)
        return hac_fail_no_memory(err);
    memory->bytes = bytes;
    *ret = memory;
    return hac_buffer_alloc(run->client, bytes, &memory->buffer, err);
}

/* The smallest spare buffer that is large enough and not much too large. */
static hac_run_memory *take_spare(hac_logic_run_state *run, uint64_t bytes)
{
    hac_run_memory **best = NULL;
    for (hac_run_memory **at = &run->spare; *at != NULL; at = &(*at)->next)
        if ((*at)->bytes >= bytes && (*at)->bytes / SPARE_WASTE <= bytes &&
            (best == NULL || (*at)->bytes < (*best)->bytes))
            best = at;
    if (best == NULL)
        return NULL;
    hac_run_memory *memory = *best;
    *best = memory->next;
    memory->next = NULL;
    memory->users = 1;
    return memory;
}

/* The smallest slots with `bytes` bytes; NULL: no slots are that large. */
static hac_run_slots *slots_for(hac_logic_run_state *run, uint64_t bytes, uint64_t *ret_size)
{
    *ret_size = SLOT_MIN;
    for (size_t i = 0; i < HAC_RUN_SLOT_SIZES; i++, *ret_size *= 2)
        if (bytes <= *ret_size)
            return &run->slots[i];
    return NULL;
}

static hac_status new_slot(hac_logic_run_state *run, hac_run_slots *slots, uint64_t size,
                           hac_run_memory **ret, hac_error *err)
{
    hac_run_memory *slot = slots->free;
    if (slot != NULL) {
        slots->free = slot->next;
        slot->next = NULL;
        slot->users = 1;
        *ret = slot;
        return HAC_OK;
    }
    if (slots->buffer == NULL || slots->used + size > slots->buffer->bytes) {
        hac_run_memory *buffer = NULL;
        uint64_t first = SLOTS_MIN * size < PAGE_BYTES ? PAGE_BYTES : SLOTS_MIN * size;
        uint64_t bytes = slots->buffer == NULL ? first : 2 * slots->buffer->bytes;
        hac_status status = new_buffer(run, bytes < SLOTS_BYTES ? bytes : SLOTS_BYTES, &buffer, err);
        if (status != HAC_OK)
            return status;
        buffer->slots = slots;
        slots->buffer = buffer;
        slots->used = 0;
    }
    slot = new_record(run);
    if (slot == NULL)
        return hac_fail_no_memory(err);
    slot->buffer = slots->buffer->buffer;
    slot->offset = slots->used;
    slot->bytes = size;
    slot->shared = slots->buffer;
    slots->used += size;
    *ret = slot;
    return HAC_OK;
}

static hac_status take_memory(hac_logic_run_state *run, uint64_t bytes, hac_run_memory **ret, hac_error *err)
{
    uint64_t size;
    hac_run_slots *slots = slots_for(run, bytes, &size);
    if (slots != NULL)
        return new_slot(run, slots, size, ret, err);
    *ret = take_spare(run, bytes);
    return *ret != NULL ? HAC_OK : new_buffer(run, bytes, ret, err);
}

void hac_run_memory_release(hac_logic_run_state *run, hac_run_memory *memory)
{
    if (memory == NULL || --memory->users > 0)
        return;
    hac_run_memory **list = memory->shared != NULL ? &memory->shared->slots->free : &run->spare;
    memory->next = *list;
    *list = memory;
}

void hac_run_memory_clear(hac_logic_run_state *run)
{
    for (hac_run_memory *memory = run->memory, *older; memory != NULL; memory = older) {
        older = memory->older;
        if (memory->shared == NULL)
            hac_buffer_free(memory->buffer);
        free(memory);
    }
    run->memory = run->spare = NULL;
    memset(run->slots, 0, sizeof run->slots);
}

/* ---- shapes ---- */

hac_status hac_run_vector_new(hac_logic_run_state *run, const hac_run_shape *shape, hac_run_vector *ret,
                              hac_error *err)
{
    hac_run_vector vector = {.operand = {.form = (uint8_t)shape->form,
                                         .kind = (uint8_t)shape->kind,
                                         .rows = shape->rows,
                                         .columns = shape->columns,
                                         .entries = shape->entries},
                             .end = shape->rows};
    if (!hac_op_place(&vector.operand, &vector.bytes))
        return hac_fail(err, HAC_REFUSED, "a vector of %llu rows is too large",
                        (unsigned long long)shape->rows);
    hac_status status = take_memory(run, vector.bytes, &vector.memory, err);
    if (status == HAC_OK)
        *ret = vector;
    return status;
}

void hac_run_vector_clear(hac_logic_run_state *run, hac_run_vector *vector)
{
    hac_run_memory_release(run, vector->memory);
    *vector = (hac_run_vector){.memory = NULL};
}

void hac_run_vector_copy(hac_logic_run_state *run, const hac_run_vector *from, hac_run_vector *to)
{
    hac_run_memory *old = to->memory;
    from->memory->users++;
    *to = *from;
    hac_run_memory_release(run, old);
}

uint8_t *hac_run_data(const hac_run_vector *vector)
{
    return (uint8_t *)hac_buffer_data(vector->memory->buffer) + vector->memory->offset;
}

uint64_t hac_run_row_bytes(const hac_op_operand *operand)
{
    return hac_op_element_size(operand->kind) * operand->columns;
}

bool hac_run_is_whole(const hac_run_vector *vector)
{
    return !vector->divided;
}
