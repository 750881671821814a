/* SPDX-License-Identifier: Apache-2.0 */
#include "expr/machine.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/limits.h"
#include "decimal128.h"
#include "machine_entries.h"
#include "machine_parts.h"
#include "machine_texts.h"

HAC_DEFINE_CLEANUP(hac_machine_c *, hac_machine_c_free)

#define CONSTANTS_MAX 64 /* constants that are kept as columns; others are filled for each batch */
#define NONE          UINT16_MAX

/* What a register holds at one point of the program. */
typedef struct definition {
    uint16_t slot;
    const hac_constant *constant; /* NULL: not a constant */
} definition;

/* The translation from program to steps. The program's constants come first, then the folded ones. */
typedef struct translation {
    const hac_program *program;
    hac_machine_c *machine;
    const hac_kernels *kernels;
    definition now[HAC_PROGRAM_REGISTERS_MAX];
    uint16_t *constant_slot; /* of each constant; NONE: it has no slot yet */
    size_t n_folded;         /* constants that folding made */
    uint32_t *packed;        /* where the values of each list begin; UINT32_MAX: not packed yet */
    size_t list_bytes, constants;
} translation;

/* ---- running ------------------------------------------------------------------------------------------- */

static void run_kernel(hac_machine_c *machine, const hac_step *step, size_t rows)
{
    hac_machine_slot *slots = machine->slots, *r = &slots[step->r];
    const hac_columns columns = {
        .rows = rows,
        .r = r->own_values,
        .a = step->one_a ? (const void *)step->scalar : slots[step->a].values,
        .b = step->one_b ? (const void *)step->scalar : slots[step->b].values,
        .one_a = step->one_a,
        .one_b = step->one_b,
        .k = &step->k,
    };
    hac_combine_states(machine, step, rows);
    if (step->kernel(&columns) == 0 || step->judge == NULL)
        return;
    step->judge(&columns, hac_writable_states(r));
    uint8_t any = 0;
    for (size_t i = 0; i < rows; i++)
        any |= r->states[i];
    if (any == 0)
        r->states = NULL;
}

static void run_null(hac_machine_c *machine, const hac_step *step, size_t rows)
{
    hac_machine_slot *r = &machine->slots[step->r];
    memset(r->own_values, 0, rows * step->size);
    memset(r->own_states, HAC_ROW_NULL, HAC_BATCH_ROWS);
    r->states = r->own_states;
    r->bytes = NULL;
}

/* Writes the constant to all rows. */
static void fill(const hac_constant *constant, size_t rows, void *ret)
{
    hac_string_ref ref = {(uint32_t)constant->low, (uint32_t)constant->high};
    for (size_t i = 0; i < rows; i++)
        switch (constant->repr) {
        case HAC_REPR_BOOL:
            ((uint8_t *)ret)[i] = (uint8_t)constant->low;
            break;
        case HAC_REPR_F32:
            ((uint32_t *)ret)[i] = (uint32_t)constant->low;
            break;
        case HAC_REPR_I128:
            ((unsigned __int128 *)ret)[i] = (unsigned __int128)constant->high << 64 | constant->low;
            break;
        case HAC_REPR_STRING:
            ((hac_string_ref *)ret)[i] = ref;
            break;
        default:
            ((uint64_t *)ret)[i] = constant->low;
        }
}

static void run_constant(hac_machine_c *machine, const hac_step *step, size_t rows)
{
    hac_machine_slot *r = &machine->slots[step->r];
    fill(step->k.list, rows, r->own_values);
    r->states = NULL;
    r->bytes = machine->program->bytes;
}

void hac_machine_c_run(hac_machine_c *machine, const hac_batch *batch, hac_column *ret_outputs)
{
    const hac_program *program = machine->program;
    for (size_t i = 0; i < program->n_inputs && i < batch->n_columns; i++) {
        hac_machine_slot *slot = &machine->slots[machine->first_input + i];
        slot->values = batch->columns[i].values;
        slot->states = batch->columns[i].states;
        slot->bytes = batch->columns[i].bytes;
        slot->dictionary = batch->columns[i].dictionary;
        slot->codes = batch->columns[i].codes;
        slot->entries = batch->columns[i].entries;
    }
    machine->arena_used = 0;
    for (size_t i = 0; i < machine->n_steps; i++)
        hac_step_run_rows(machine, &machine->steps[i], batch->rows);
    for (size_t i = 0; i < program->n_outputs; i++) {
        const hac_machine_slot *slot = &machine->slots[machine->outputs[i]];
        ret_outputs[i] = (hac_column){program->outputs[i].type, slot->values, slot->states, slot->bytes,
                                      slot->dictionary,         slot->codes,  slot->entries};
    }
}

uint8_t hac_machine_c_constant(hac_machine_c *machine, hac_column *ret)
{
    hac_column outputs[HAC_PROGRAM_OUTPUTS_MAX];
    const hac_batch batch = {.rows = 1};
    hac_machine_c_run(machine, &batch, outputs);
    *ret = outputs[0];
    return ret->states == NULL ? HAC_ROW_OK : ret->states[0];
}

/* ---- immediates ---------------------------------------------------------------------------------------- */

static __int128 value_128(const hac_constant *constant)
{
    return (__int128)((unsigned __int128)constant->high << 64 | constant->low);
}

static void prepare_digits(const hac_step *step, hac_argument *k, unsigned digits)
{
    k->number = digits;
    k->power_128 = hac_power_of_ten(digits);
    k->power = digits <= 18 ? (int64_t)k->power_128 : 0;
    if (step->op == HAC_OP_SCALE_UP_I64) { /* the range that can be multiplied without overflow */
        k->high = digits <= 18 ? INT64_MAX / k->power : 0;
        k->low = -k->high;
    }
}

/* Packs the values of a list as a column; strings stay constants. */
static void prepare_list(translation *t, hac_argument *k, unsigned index)
{
    const hac_constant *list = &t->program->constants[index];
    const hac_constant *elements = t->program->constants + list->low;
    k->n_list = list->high;
    k->list = elements;
    k->bytes = t->program->bytes;
    if (list->high == 0 || elements->repr == HAC_REPR_STRING)
        return;
    size_t size = hac_repr_size(elements->repr);
    if (t->packed[index] == UINT32_MAX) {
        t->packed[index] = (uint32_t)t->list_bytes;
        for (uint64_t i = 0; i < list->high; i++)
            fill(&elements[i], 1, t->machine->lists + t->list_bytes + i * size);
        t->list_bytes += (list->high * size + 15) / 16 * 16;
    }
    k->list = t->machine->lists + t->packed[index];
}

static void prepare_argument(translation *t, hac_step *step, const hac_instruction *at)
{
    const hac_program *program = t->program;
    hac_argument *k = &step->k;
    const hac_constant *ends;
    switch (hac_op_table[at->op].k) {
    case HAC_IMMEDIATE_RANGE:
        ends = program->constants + program->constants[at->k].low;
        k->low = (int64_t)ends[0].low;
        k->high = (int64_t)ends[1].low;
        k->low_128 = value_128(&ends[0]);
        k->high_128 = value_128(&ends[1]);
        break;
    case HAC_IMMEDIATE_DIGITS:
        prepare_digits(step, k, at->k);
        break;
    case HAC_IMMEDIATE_UNIT:
        k->number = at->k;
        break;
    case HAC_IMMEDIATE_LIST:
        prepare_list(t, k, at->k);
        break;
    case HAC_IMMEDIATE_PATTERN:
    case HAC_IMMEDIATE_TEXT:
        k->bytes = program->bytes + program->constants[at->k].low;
        k->n_list = program->constants[at->k].high;
        break;
    default:
        break;
    }
}

/* ---- translating --------------------------------------------------------------------------------------- */

static hac_step *add_step(translation *t)
{
    return &t->machine->steps[t->machine->n_steps++];
}

/* The number of a constant: the program's come first, then the folded ones. */
static size_t number_of(const translation *t, const hac_constant *constant)
{
    uintptr_t from = (uintptr_t)t->machine->folded, at = (uintptr_t)constant;
    bool is_folded = at >= from && at - from < t->n_folded * sizeof *constant;
    return is_folded ? t->program->n_constants + (at - from) / sizeof *constant
                     : (size_t)(constant - t->program->constants);
}

/* The slot that holds the constant in all rows: a slot of its own, which is filled once, or the register,
 * which holds the constant until it is written again. */
static uint16_t constant_column(translation *t, unsigned reg)
{
    hac_machine_c *machine = t->machine;
    definition *d = &t->now[reg];
    uint16_t *slot = &t->constant_slot[number_of(t, d->constant)];
    if (*slot == NONE && t->constants < machine->constants) {
        *slot = (uint16_t)(machine->first_input + t->program->n_inputs + t->constants++);
        hac_machine_slot *made = &machine->slots[*slot];
        fill(d->constant, HAC_BATCH_ROWS, made->own_values);
        made->values = made->own_values;
        made->bytes = t->program->bytes;
    }
    if (*slot != NONE)
        return *slot;
    hac_step *step = add_step(t);
    *step = (hac_step){.run = run_constant, .op = HAC_OP_CONSTANT, .r = (uint16_t)reg};
    step->k.list = d->constant;
    return d->slot = (uint16_t)reg;
}

static uint16_t operand_slot(translation *t, unsigned reg)
{
    return t->now[reg].slot != NONE ? t->now[reg].slot : constant_column(t, reg);
}

/* Makes a constant operand a scalar, if the kernel takes one. */
static bool bind_scalar(translation *t, hac_step *step, unsigned reg, hac_kernel kernel)
{
    const hac_constant *constant = t->now[reg].constant;
    if (constant == NULL || kernel == NULL)
        return false;
    fill(constant, 1, step->scalar);
    step->kernel = kernel;
    return true;
}

static const hac_kernels *kernels_of(const translation *t, hac_op op)
{
    return t->kernels[op].columns != NULL ? &t->kernels[op] : &hac_kernels_scalar[op];
}

static void bind_operands(translation *t, hac_step *step, const hac_instruction *at)
{
    const hac_op_info *info = &hac_op_table[at->op];
    const hac_kernels *kernels = kernels_of(t, at->op);
    step->kernel = kernels->columns;
    step->one_b = info->b != HAC_REPR_NONE && bind_scalar(t, step, at->b, kernels->one_b);
    step->one_a = info->a != HAC_REPR_NONE && !step->one_b && bind_scalar(t, step, at->a, kernels->one_a);
    const uint8_t operands[] = {info->a, info->b, info->c};
    const uint16_t registers[] = {at->a, at->b, at->c};
    const bool scalar[] = {step->one_a, step->one_b, false};
    uint16_t *slots[] = {&step->a, &step->b, &step->c};
    for (int i = 0; i < 3 && operands[i] != HAC_REPR_NONE; i++) {
        step->operands = (uint8_t)(i + 1);
        *slots[i] = scalar[i] ? t->machine->none : operand_slot(t, registers[i]);
    }
}

static void choose_run(hac_step *step)
{
    hac_op op = step->op;
    step->run = hac_state_step(op);
    if (step->run == NULL)
        step->run = hac_string_step(op);
    if (step->run == NULL)
        step->run = op == HAC_OP_NULL ? run_null : run_kernel;
    step->judge = hac_judges[op];
}

/* ---- folding: operations on constants run once, in advance --------------------------------------- */

static bool is_plain(unsigned repr)
{
    return repr == HAC_REPR_BOOL || repr == HAC_REPR_I64 || repr == HAC_REPR_U64 || repr == HAC_REPR_F32 ||
           repr == HAC_REPR_F64;
}

static bool all_constant(const translation *t, const hac_instruction *at)
{
    const hac_op_info *info = &hac_op_table[at->op];
    const uint8_t operands[] = {info->a, info->b, info->c};
    const uint16_t registers[] = {at->a, at->b, at->c};
    for (int i = 0; i < 3 && operands[i] != HAC_REPR_NONE; i++)
        if (!is_plain(operands[i]) || t->now[registers[i]].constant == NULL)
            return false;
    return operands[0] != HAC_REPR_NONE && info->c == HAC_REPR_NONE;
}

/* Kernels read and write whole blocks. */
typedef struct folding_block {
    _Alignas(HAC_ALIGNMENT) uint8_t bytes[HAC_KERNEL_BLOCK * 8];
} folding_block;

/* The result of an operation on constants, computed by its kernel. NULL: an operand is not constant, or the
 * operation fails. A failure must stay in the program: it counts only if a row uses the result. */
static const hac_constant *fold(translation *t, const hac_instruction *at)
{
    folding_block a, b, result; /* every byte that is read is written first */
    hac_step step = {.op = at->op};
    unsigned repr = t->program->registers[at->result];
    if (!is_plain(repr) || !all_constant(t, at))
        return NULL;
    choose_run(&step);
    step.kernel = kernels_of(t, at->op)->columns;
    if (step.run != run_kernel)
        return NULL;
    prepare_argument(t, &step, at);
    fill(t->now[at->a].constant, HAC_KERNEL_BLOCK, a.bytes);
    if (hac_op_table[at->op].b != HAC_REPR_NONE)
        fill(t->now[at->b].constant, HAC_KERNEL_BLOCK, b.bytes);
    const hac_columns columns = {.rows = 1, .r = result.bytes, .a = a.bytes, .b = b.bytes, .k = &step.k};
    if (step.kernel(&columns) != 0)
        return NULL;
    hac_constant *made = &t->machine->folded[t->n_folded++];
    *made = (hac_constant){.repr = (uint8_t)repr};
    memcpy(&made->low, result.bytes, hac_repr_size(repr)); /* constants are little-endian, too */
    return made;
}

static void translate(translation *t, const hac_instruction *at)
{
    definition *result = &t->now[at->result];
    if (at->op == HAC_OP_COLUMN) {
        *result = (definition){(uint16_t)(t->machine->first_input + at->k), NULL};
        return;
    }
    if (at->op == HAC_OP_CONSTANT) {
        *result = (definition){NONE, &t->program->constants[at->k]};
        return;
    }
    const hac_constant *folded = fold(t, at);
    if (folded != NULL) {
        *result = (definition){NONE, folded};
        return;
    }
    hac_step made = {.op = at->op, .r = at->result};
    bind_operands(t, &made, at);
    made.size = (uint8_t)hac_repr_size(t->program->registers[at->result]);
    prepare_argument(t, &made, at);
    choose_run(&made);
    *add_step(t) = made;
    *result = (definition){at->result, NULL};
}

/* ---- memory -------------------------------------------------------------------------------------------- */

static size_t column_bytes(unsigned repr)
{
    return HAC_BATCH_ROWS * (hac_repr_size(repr) + 1);
}

/* Whether the operation may put strings into the arena. */
static bool makes_strings(const hac_program *program, const hac_instruction *at)
{
    return program->registers[at->result] == HAC_REPR_STRING && at->op != HAC_OP_COLUMN &&
           at->op != HAC_OP_CONSTANT && at->op != HAC_OP_NULL && at->op != HAC_OP_TRIM &&
           at->op != HAC_OP_LTRIM && at->op != HAC_OP_RTRIM && at->op != HAC_OP_SUBSTR &&
           at->op != HAC_OP_SPLIT_PART && at->op != HAC_OP_REGEXP_EXTRACT;
}

static hac_status allocate_arena(hac_machine_c *machine, size_t string_bytes, hac_error *err)
{
    bool needed = false;
    for (size_t i = 0; i < machine->program->n_instructions; i++)
        needed |= makes_strings(machine->program, &machine->program->instructions[i]);
    if (!needed)
        return HAC_OK;
    machine->arena_capacity = string_bytes < UINT32_MAX ? string_bytes : UINT32_MAX;
    machine->arena = malloc(machine->arena_capacity + 1);
    return machine->arena != NULL ? HAC_OK : hac_fail_no_memory(err);
}

/* Registers have values and states, constants have values. All rows are readable from the start. */
static hac_status allocate_columns(hac_machine_c *machine, size_t constants, hac_error *err)
{
    const hac_program *program = machine->program;
    size_t bytes = constants * column_bytes(HAC_REPR_I128);
    for (size_t i = 0; i < program->n_registers; i++)
        bytes += column_bytes(program->registers[i]);
    machine->memory = aligned_alloc(HAC_ALIGNMENT, bytes + HAC_ALIGNMENT);
    if (machine->memory == NULL)
        return hac_fail_no_memory(err);
    memset(machine->memory, 0, bytes);
    uint8_t *at = machine->memory;
    for (size_t i = 0; i < program->n_registers; i++) {
        hac_machine_slot *slot = &machine->slots[i];
        size_t values = HAC_BATCH_ROWS * hac_repr_size(program->registers[i]);
        slot->values = slot->own_values = at;
        slot->own_states = at + values;
        at += values + HAC_BATCH_ROWS;
    }
    for (size_t i = 0; i < constants; i++) {
        machine->slots[machine->first_input + program->n_inputs + i].own_values = at;
        at += column_bytes(HAC_REPR_I128);
    }
    return HAC_OK;
}

static hac_status allocate(hac_machine_c *machine, size_t string_bytes, hac_error *err)
{
    const hac_program *program = machine->program;
    size_t constants = program->n_constants < CONSTANTS_MAX ? program->n_constants : CONSTANTS_MAX;
    machine->constants = constants;
    machine->folded = calloc(program->n_instructions + 1, sizeof *machine->folded);
    machine->first_input = program->n_registers;
    machine->none = (uint16_t)(program->n_registers + program->n_inputs + constants);
    machine->slots = calloc(program->n_registers + program->n_inputs + constants + 1, sizeof *machine->slots);
    /* one step for each instruction, and one for each of its operands that is a constant */
    machine->steps = aligned_alloc(16, (program->n_instructions * 4 + 1) * sizeof *machine->steps);
    machine->lists = aligned_alloc(HAC_ALIGNMENT, (program->n_constants * 16 + HAC_ALIGNMENT) /
                                                      HAC_ALIGNMENT * HAC_ALIGNMENT);
    if (machine->slots == NULL || machine->steps == NULL || machine->lists == NULL || machine->folded == NULL)
        return hac_fail_no_memory(err);
    hac_status status = allocate_columns(machine, constants, err);
    return status == HAC_OK ? allocate_arena(machine, string_bytes, err) : status;
}

static void translate_all(translation *t)
{
    const hac_program *program = t->program;
    hac_machine_c *machine = t->machine;
    memset(t->now, 0, sizeof t->now);
    for (size_t i = 0; i < program->n_constants; i++)
        t->packed[i] = UINT32_MAX;
    for (size_t i = 0; i < program->n_constants + program->n_instructions; i++)
        t->constant_slot[i] = NONE;
    for (size_t i = 0; i < program->n_instructions; i++)
        translate(t, &program->instructions[i]);
    for (size_t i = 0; i < program->n_outputs; i++)
        machine->outputs[i] = operand_slot(t, program->outputs[i].reg);
}

hac_status hac_machine_c_new_once(const hac_program *program, size_t string_bytes, hac_machine_c **ret,
                                  hac_error *err)
{
    return hac_machine_c_new_with(program, string_bytes, hac_kernels_baseline, ret, err);
}

hac_status hac_machine_c_new_with(const hac_program *program, size_t string_bytes, const hac_kernels *kernels,
                                  hac_machine_c **ret, hac_error *err)
{
    hac_cleanup(hac_machine_c_free_cleanup) hac_machine_c *machine = calloc(1, sizeof *machine);
    if (machine == NULL)
        return hac_fail_no_memory(err);
    machine->program = program;
    hac_status status = allocate(machine, string_bytes, err);
    if (status != HAC_OK)
        return status;
    hac_autofree uint16_t *slots = calloc(program->n_constants + program->n_instructions + 1, sizeof *slots);
    hac_autofree uint32_t *packed = calloc(program->n_constants + 1, sizeof *packed);
    if (slots == NULL || packed == NULL)
        return hac_fail_no_memory(err);
    translation t = {
        .program = program, .machine = machine, .kernels = kernels, .constant_slot = slots, .packed = packed};
    translate_all(&t);
    status = hac_machine_texts(machine, err);
    if (status != HAC_OK)
        return status;
    hac_machine_entries(machine);
    *ret = hac_steal_ptr(machine);
    return HAC_OK;
}

void hac_machine_c_free(hac_machine_c *machine)
{
    if (machine == NULL)
        return;
    hac_machine_texts_free(machine);
    hac_machine_entries_free(machine);
    free(machine->slots);
    free(machine->steps);
    free(machine->memory);
    free(machine->lists);
    free(machine->arena);
    free(machine->folded);
    free(machine);
}
