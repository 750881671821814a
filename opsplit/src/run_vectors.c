/* SPDX-License-Identifier: Apache-2.0 */
/* Vectors' memory. Vars and what is as small share a buffer: a job has 32 of them at most. */
#include <stdlib.h>
#include <string.h>

#include "run_internal.h"

#define SLOT_BYTES  UINT64_C(256) /* what is at most so large gets a slot */
#define SLOTS_BYTES (UINT64_C(1) << 20)
#define SPARE_WASTE 2 /* a spare buffer that is at most so many times too large is taken */

/* ---- memory ---- */

/* A record that the run frees at its end. */
static hac_run_memory *new_record(hac_logic_run *run)
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

static hac_status new_buffer(hac_logic_run *run, uint64_t bytes, hac_run_memory **ret, hac_error *err)
{
    hac_run_memory *memory = new_record(run);
    if (memory == NULL)
        return hac_fail_no_memory(err);
    memory->bytes = bytes;
    *ret = memory;
    return hac_buffer_alloc(run->client, bytes, &memory->buffer, err);
}

/* The smallest spare buffer that is large enough, if it is not far too large. */
static hac_run_memory *take_spare(hac_logic_run *run, uint64_t bytes)
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

static hac_status new_slot(hac_logic_run *run, hac_run_memory **ret, hac_error *err)
{
    hac_run_memory *slot = run->free_slots;
    if (slot != NULL) {
        run->free_slots = slot->next;
        slot->next = NULL;
        slot->users = 1;
        *ret = slot;
        return HAC_OK;
    }
    if (run->slots == NULL || run->slots_used + SLOT_BYTES > SLOTS_BYTES) {
        hac_run_memory *slots = NULL;
        hac_status status = new_buffer(run, SLOTS_BYTES, &slots, err);
        if (status != HAC_OK)
            return status;
        run->slots = slots;
        run->slots_used = 0;
    }
    slot = new_record(run);
    if (slot == NULL)
        return hac_fail_no_memory(err);
    slot->buffer = run->slots->buffer;
    slot->offset = run->slots_used;
    slot->bytes = SLOT_BYTES;
    slot->shared = run->slots;
    run->slots_used += SLOT_BYTES;
    *ret = slot;
    return HAC_OK;
}

static hac_status take_memory(hac_logic_run *run, uint64_t bytes, hac_run_memory **ret, hac_error *err)
{
    if (bytes <= SLOT_BYTES)
        return new_slot(run, ret, err);
    *ret = take_spare(run, bytes);
    return *ret != NULL ? HAC_OK : new_buffer(run, bytes, ret, err);
}

void hac_run_memory_release(hac_logic_run *run, hac_run_memory *memory)
{
    if (memory == NULL || --memory->users > 0)
        return;
    hac_run_memory **list = memory->shared != NULL ? &run->free_slots : &run->spare;
    memory->next = *list;
    *list = memory;
}

void hac_run_memory_clear(hac_logic_run *run)
{
    for (hac_run_memory *memory = run->memory, *older; memory != NULL; memory = older) {
        older = memory->older;
        if (memory->shared == NULL)
            hac_buffer_free(memory->buffer);
        free(memory);
    }
    run->memory = run->spare = run->slots = run->free_slots = NULL;
}

/* ---- shapes ---- */

hac_status hac_run_vector_new(hac_logic_run *run, const hac_run_shape *shape, hac_run_vector *ret,
                              hac_error *err)
{
    hac_run_vector vector = {.operand = {.form = (uint8_t)shape->form,
                                         .kind = (uint8_t)shape->kind,
                                         .rows = shape->rows,
                                         .columns = shape->columns,
                                         .entries = shape->entries},
                             .end = shape->rows};
    if (!hac_op_place(&vector.operand, &vector.bytes))
        return hac_fail(err, HAC_REFUSED, "a vector of %llu rows is larger than can be",
                        (unsigned long long)shape->rows);
    hac_status status = take_memory(run, vector.bytes, &vector.memory, err);
    if (status == HAC_OK)
        *ret = vector;
    return status;
}

void hac_run_vector_clear(hac_logic_run *run, hac_run_vector *vector)
{
    hac_run_memory_release(run, vector->memory);
    *vector = (hac_run_vector){.memory = NULL};
}

void hac_run_vector_copy(hac_logic_run *run, const hac_run_vector *from, hac_run_vector *to)
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
