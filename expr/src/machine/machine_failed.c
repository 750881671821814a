/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the value that an operation failed on. It runs only for a message, step by step. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/utf8.h"
#include "base/value_text.h"
#include "machine_parts.h"

/* Where the value of a slot comes from in the row: a text, or a value of an input column. */
typedef struct origin {
    const uint8_t *text; /* NULL: none */
    size_t bytes;
    const hac_column *input; /* NULL: none */
} origin;

static bool is_text(const hac_machine_c *machine, const hac_batch *batch, unsigned slot)
{
    size_t inputs = machine->program->n_inputs;
    if (slot < machine->program->n_registers)
        return machine->program->registers[slot] == HAC_REPR_STRING;
    return slot >= machine->first_input && slot - machine->first_input < inputs &&
           slot - machine->first_input < batch->n_columns &&
           hac_repr_of(machine->program->inputs[slot - machine->first_input]) == HAC_REPR_STRING;
}

/* The origin of an operand: itself if it is a text or an input, else that of the operation which made it. */
static origin origin_of(const hac_machine_c *machine, const hac_batch *batch, const origin *origins,
                        unsigned slot, size_t row)
{
    const hac_machine_slot *s = &machine->slots[slot];
    if (is_text(machine, batch, slot) && hac_row_ok(s->states, row) && s->bytes != NULL) {
        hac_string_ref ref = ((const hac_string_ref *)s->values)[row];
        return (origin){.text = s->bytes + ref.offset, .bytes = ref.length};
    }
    if (slot >= machine->first_input && slot - machine->first_input < machine->program->n_inputs &&
        slot - machine->first_input < batch->n_columns)
        return (origin){.input = &batch->columns[slot - machine->first_input]};
    return slot < machine->program->n_registers ? origins[slot] : (origin){0};
}

static size_t print_text(const origin *o, char *ret, size_t capacity)
{
    char text[64];
    size_t n = o->bytes < sizeof(text) ? o->bytes : sizeof(text) - 1;
    memcpy(text, o->text, n);
    text[n] = '\0';
    for (size_t i = 0; i < n; i++)
        if (text[i] == '\0')
            text[i] = '?';
    size_t kept = hac_utf8_copy_line(text, sizeof(text), text);
    int printed = snprintf(ret, capacity, "'%.*s'%s", (int)kept, text, n < o->bytes ? "..." : "");
    return printed > 0 ? (size_t)printed : 0;
}

static bool print_origin(const origin *o, const hac_program *program, const hac_batch *batch, size_t row,
                         char *ret, size_t capacity)
{
    char text[HAC_PRINT_MAX];
    if (o->text != NULL)
        return print_text(o, ret, capacity) < capacity;
    if (o->input == NULL || o->input->values == NULL || !hac_row_ok(o->input->states, row))
        return false;
    hac_value_type type = program->inputs[o->input - batch->columns];
    size_t n = hac_print_value(type, o->input->values, row, text);
    return snprintf(ret, capacity, "%.*s", (int)n, text) < (int)capacity;
}

/* Whether the operation gives its operand in another type, so that a failure behind it is one of the operand.
 */
static bool converts(unsigned op)
{
    return (op >= HAC_OP_BOOL_TO_I64 && op <= HAC_OP_F64_TO_DECIMAL) || op == HAC_OP_DATE_TO_TIMESTAMP ||
           op == HAC_OP_TIMESTAMP_TO_DATE || (op >= HAC_OP_STRING_TO_BOOL && op <= HAC_OP_STRING_TO_DECIMAL);
}

/* Whether the step is the one that failed in the row: its operands are values there. */
static bool fails_here(const hac_machine_c *machine, const hac_step *step, size_t row, uint8_t state)
{
    const hac_machine_slot *r = &machine->slots[step->r];
    const uint16_t operands[] = {step->a, step->b, step->c};
    if (r->states == NULL || r->states[row] != state || step->operands == 0)
        return false;
    for (size_t i = 0; i < step->operands; i++)
        if (!hac_row_ok(machine->slots[operands[i]].states, row))
            return false;
    return true;
}

bool hac_machine_c_failed_value(hac_machine_c *machine, const hac_batch *batch, size_t row, uint8_t state,
                                char *ret, size_t capacity)
{
    hac_column none[HAC_PROGRAM_OUTPUTS_MAX];
    const hac_program *program = machine->program;
    hac_autofree origin *origins = calloc(program->n_registers + 1, sizeof *origins);
    size_t n_steps = machine->n_steps;
    bool found = false;
    *ret = '\0';
    if (origins == NULL || state == HAC_ROW_OVERFLOW || state == HAC_ROW_PRECISION)
        return false;
    machine->n_steps = 0; /* the run sets the inputs only */
    hac_machine_c_run(machine, batch, none);
    machine->n_steps = n_steps;
    for (size_t i = 0; i < n_steps && !found; i++) {
        const hac_step *step = &machine->steps[i];
        origin from = {0};
        const bool one = step->operands == 1 || state == HAC_ROW_JSON; /* its first operand is the text */
        if (one && step->operands > 0)
            from = origin_of(machine, batch, origins, step->a, row);
        hac_step_run_rows(machine, step, batch->rows);
        found = one && fails_here(machine, step, row, state) &&
                print_origin(&from, program, batch, row, ret, capacity);
        if (step->r < program->n_registers)
            origins[step->r] = converts(step->op) ? from : (origin){0};
    }
    if (!found)
        *ret = '\0';
    return found;
}
