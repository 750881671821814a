/* SPDX-License-Identifier: Apache-2.0 */
/* Row states, and the operations that do not combine states strictly. */
#include <string.h>

#include "machine_parts.h"

static const uint8_t all_ok[HAC_BATCH_ROWS];

static size_t whole_blocks(size_t rows)
{
    return (rows + HAC_KERNEL_BLOCK - 1) & ~(size_t)(HAC_KERNEL_BLOCK - 1);
}

static void highest(uint8_t *restrict r, const uint8_t *restrict a, const uint8_t *restrict b, size_t rows)
{
    size_t n = whole_blocks(rows);
    for (size_t i = 0; i < n; i++)
        r[i] = a[i] > b[i] ? a[i] : b[i];
}

void hac_combine_states(hac_machine_c *machine, const hac_step *step, size_t rows)
{
    hac_machine_slot *r = &machine->slots[step->r];
    const uint16_t operands[] = {step->a, step->b, step->c};
    const uint8_t *states[3];
    size_t n = 0;
    for (unsigned i = 0; i < step->operands; i++) {
        states[n] = machine->slots[operands[i]].states;
        n += states[n] != NULL;
    }
    r->states = n > 0 ? r->own_states : NULL;
    if (n == 1)
        memcpy(r->own_states, states[0], whole_blocks(rows));
    else if (n == 2)
        highest(r->own_states, states[0], states[1], rows);
    else if (n == 3) {
        uint8_t two[HAC_BATCH_ROWS];
        highest(two, states[0], states[1], rows);
        highest(r->own_states, two, states[2], rows);
    }
}

uint8_t *hac_writable_states(hac_machine_slot *slot)
{
    if (slot->states == NULL) {
        memset(slot->own_states, 0, HAC_BATCH_ROWS);
        slot->states = slot->own_states;
    }
    return slot->own_states;
}

static const uint8_t *states_of(const hac_machine_slot *slot)
{
    return slot->states != NULL ? slot->states : all_ok;
}

/* AND; with `flip` 1, OR as the negated AND of negated operands. A false operand decides, whatever the other
 * is. */
static void run_logic(hac_machine_c *machine, const hac_step *step, size_t rows, uint8_t flip)
{
    hac_machine_slot *r = &machine->slots[step->r], *a = &machine->slots[step->a],
                     *b = &machine->slots[step->b];
    size_t n = whole_blocks(rows);
    uint8_t *restrict z = r->own_values;
    const uint8_t *restrict x = a->values, *restrict y = b->values;
    r->states = NULL;
    if (a->states == NULL && b->states == NULL) {
        for (size_t i = 0; i < n; i++)
            z[i] = (uint8_t)((((x[i] ^ flip) & (y[i] ^ flip)) ^ flip) & 1);
        return;
    }
    const uint8_t *restrict sx = states_of(a), *restrict sy = states_of(b);
    uint8_t *restrict sz = r->own_states;
    for (size_t i = 0; i < n; i++) {
        uint8_t p = (x[i] ^ flip) & 1, q = (y[i] ^ flip) & 1;
        uint8_t decided = (uint8_t)(((sx[i] == 0) & (p == 0)) | ((sy[i] == 0) & (q == 0)));
        uint8_t state = sx[i] > sy[i] ? sx[i] : sy[i];
        z[i] = (uint8_t)((p & q & (decided ^ 1)) ^ flip);
        sz[i] = (uint8_t)(state & (uint8_t)(decided - 1)); /* 0 where decided */
    }
    r->states = sz;
}

static void run_and(hac_machine_c *machine, const hac_step *step, size_t rows)
{
    run_logic(machine, step, rows, 0);
}

static void run_or(hac_machine_c *machine, const hac_step *step, size_t rows)
{
    run_logic(machine, step, rows, 1);
}

static void run_is_null(hac_machine_c *machine, const hac_step *step, size_t rows)
{
    hac_machine_slot *r = &machine->slots[step->r], *a = &machine->slots[step->a];
    size_t n = whole_blocks(rows);
    uint8_t *restrict z = r->own_values, *restrict sz = r->own_states;
    const uint8_t *restrict sa = a->states;
    r->states = NULL;
    if (sa == NULL) {
        memset(z, 0, n);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        z[i] = sa[i] == HAC_ROW_NULL;
        sz[i] = sa[i] == HAC_ROW_NULL ? 0 : sa[i];
    }
    r->states = sz;
}

static void run_null_if_error(hac_machine_c *machine, const hac_step *step, size_t rows)
{
    hac_machine_slot *r = &machine->slots[step->r], *a = &machine->slots[step->a];
    size_t n = whole_blocks(rows);
    memcpy(r->own_values, a->values, n * step->size);
    r->bytes = a->bytes;
    r->states = NULL;
    if (a->states == NULL)
        return;
    for (size_t i = 0; i < n; i++)
        r->own_states[i] = a->states[i] > HAC_ROW_NULL ? HAC_ROW_NULL : a->states[i];
    r->states = r->own_states;
}

/* ---- choosing one of two ------------------------------------------------------------------------------- */

/* z = first where `take` is 1, second where it is 0. Not with ?:, which compilers turn into a branch for each
 * value. */
#define CHOOSE(name, T)                                                                                      \
    static void name(void *r, const void *a, const void *b, const uint8_t *restrict take, size_t rows)       \
    {                                                                                                        \
        T *restrict z = r;                                                                                   \
        const T *restrict x = a, *restrict y = b;                                                            \
        size_t n = whole_blocks(rows);                                                                       \
        for (size_t i = 0; i < n; i++)                                                                       \
            z[i] = (T)(y[i] ^ ((x[i] ^ y[i]) & (T)(0 - (T)take[i])));                                        \
    }
CHOOSE(choose_1, uint8_t)
CHOOSE(choose_4, uint32_t)
CHOOSE(choose_8, uint64_t)
CHOOSE(choose_16, unsigned __int128)

static void choose(size_t size, void *r, const void *a, const void *b, const uint8_t *take, size_t rows)
{
    switch (size) {
    case 1:
        choose_1(r, a, b, take, rows);
        break;
    case 4:
        choose_4(r, a, b, take, rows);
        break;
    case 8:
        choose_8(r, a, b, take, rows);
        break;
    default:
        choose_16(r, a, b, take, rows);
    }
}

static void choose_states(hac_machine_slot *r, const hac_machine_slot *a, const hac_machine_slot *b,
                          const uint8_t *take, size_t rows)
{
    r->states = NULL;
    if (a->states == NULL && b->states == NULL)
        return;
    choose_1(r->own_states, states_of(a), states_of(b), take, rows);
    r->states = r->own_states;
}

/* If the strings come from two buffers, the chosen ones are copied into the arena. */
static void choose_strings(hac_machine_c *machine, hac_machine_slot *r, const hac_machine_slot *a,
                           const hac_machine_slot *b, const uint8_t *take, size_t rows)
{
    hac_string_ref *z = r->own_values;
    const hac_string_ref *x = a->values, *y = b->values;
    choose_8(z, x, y, take, rows);
    r->bytes = a->bytes;
    if (a->bytes == b->bytes)
        return;
    r->bytes = machine->arena;
    for (size_t i = 0; i < rows; i++) {
        const uint8_t *from = (take[i] ? a : b)->bytes;
        uint32_t length = z[i].length, offset = z[i].offset;
        z[i] = (hac_string_ref){0, 0};
        if (length == 0 || !hac_row_ok(r->states, i))
            continue;
        if (length > machine->arena_capacity - machine->arena_used) {
            hac_writable_states(r)[i] = HAC_ROW_OVERFLOW;
            continue;
        }
        memcpy(machine->arena + machine->arena_used, from + offset, length);
        z[i] = (hac_string_ref){(uint32_t)machine->arena_used, length};
        machine->arena_used += length;
    }
}

static void choose_columns(hac_machine_c *machine, const hac_step *step, const hac_machine_slot *a,
                           const hac_machine_slot *b, const uint8_t *take, size_t rows)
{
    hac_machine_slot *r = &machine->slots[step->r];
    choose_states(r, a, b, take, rows);
    if (machine->program->registers[step->r] == HAC_REPR_STRING)
        choose_strings(machine, r, a, b, take, rows);
    else
        choose(step->size, r->own_values, a->values, b->values, take, rows);
}

static void run_select(hac_machine_c *machine, const hac_step *step, size_t rows)
{
    const hac_machine_slot *condition = &machine->slots[step->a];
    uint8_t take[HAC_BATCH_ROWS];
    const uint8_t *value = condition->values, *state = states_of(condition);
    size_t n = whole_blocks(rows);
    for (size_t i = 0; i < n; i++)
        take[i] = (uint8_t)((state[i] == 0) & value[i] & 1);
    choose_columns(machine, step, &machine->slots[step->b], &machine->slots[step->c], take, rows);
    if (condition->states == NULL)
        return;
    uint8_t *states = hac_writable_states(&machine->slots[step->r]);
    for (size_t i = 0; i < n; i++) /* an error of the condition is an error of the result */
        states[i] = state[i] > HAC_ROW_NULL ? state[i] : states[i];
    if (machine->program->registers[step->r] != HAC_REPR_STRING)
        return;
    hac_string_ref *refs = machine->slots[step->r].own_values;
    for (size_t i = 0; i < rows; i++)
        if (states[i] != HAC_ROW_OK)
            refs[i].length = 0;
}

static void run_coalesce(hac_machine_c *machine, const hac_step *step, size_t rows)
{
    const hac_machine_slot *first = &machine->slots[step->a];
    uint8_t take[HAC_BATCH_ROWS];
    const uint8_t *state = states_of(first);
    size_t n = whole_blocks(rows);
    for (size_t i = 0; i < n; i++)
        take[i] = state[i] != HAC_ROW_NULL;
    choose_columns(machine, step, first, &machine->slots[step->b], take, rows);
}

hac_step_run hac_state_step(hac_op op)
{
    switch (op) {
    case HAC_OP_AND:
        return run_and;
    case HAC_OP_OR:
        return run_or;
    case HAC_OP_IS_NULL:
        return run_is_null;
    case HAC_OP_SELECT:
        return run_select;
    case HAC_OP_COALESCE:
        return run_coalesce;
    case HAC_OP_NULL_IF_ERROR:
        return run_null_if_error;
    default:
        return NULL;
    }
}
