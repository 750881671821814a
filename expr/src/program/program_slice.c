/* SPDX-License-Identifier: Apache-2.0 */
#include "program_slice.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "op_info.h"

HAC_DEFINE_CLEANUP(hac_program_builder *, hac_program_builder_free)

hac_status hac_program_slices_find(const hac_program *program, hac_program_slices *ret, hac_error *err)
{
    uint16_t last[HAC_PROGRAM_REGISTERS_MAX] = {0}; /* the definition that each register holds */
    hac_program_slices slices = {.program = program};
    slices.operands = calloc(program->n_instructions + 1, sizeof *slices.operands);
    slices.scratch = calloc(program->n_instructions + 1, sizeof *slices.scratch);
    if (slices.operands == NULL || slices.scratch == NULL) {
        hac_program_slices_clear(&slices);
        return hac_fail_no_memory(err);
    }
    for (size_t i = 0; i < program->n_instructions; i++) {
        const hac_instruction *at = &program->instructions[i];
        const hac_op_info *info = &hac_op_table[at->op];
        slices.operands[i][0] = info->a == HAC_REPR_NONE ? 0 : last[at->a];
        slices.operands[i][1] = info->b == HAC_REPR_NONE ? 0 : last[at->b];
        slices.operands[i][2] = info->c == HAC_REPR_NONE ? 0 : last[at->c];
        last[at->result] = (uint16_t)i;
    }
    *ret = slices;
    return HAC_OK;
}

void hac_program_slices_clear(hac_program_slices *slices)
{
    free(slices->operands);
    free(slices->scratch);
    *slices = (hac_program_slices){0};
}

size_t hac_program_slices_output(const hac_program_slices *slices, size_t i)
{
    const hac_program *program = slices->program;
    size_t at = program->n_instructions;
    while (at-- > 0)
        if (program->instructions[at].result == program->outputs[i].reg)
            return at;
    return 0; /* unreachable: the verifier checks that outputs are written */
}

static unsigned operands_of(const hac_program_slices *slices, size_t at)
{
    const hac_op_info *info = &hac_op_table[slices->program->instructions[at].op];
    return info->a == HAC_REPR_NONE ? 0 : info->b == HAC_REPR_NONE ? 1 : info->c == HAC_REPR_NONE ? 2 : 3;
}

void hac_program_slice_mark(hac_program_slices *slices, size_t at)
{
    memset(slices->scratch, 0, slices->program->n_instructions * sizeof *slices->scratch);
    slices->scratch[at] = 1;
    for (size_t i = at + 1; i-- > 0;) /* operands are defined before their users */
        for (unsigned k = 0; slices->scratch[i] != 0 && k < operands_of(slices, i); k++)
            slices->scratch[slices->operands[i][k]] = 1;
}

static hac_value_id copy_constant(const hac_program *program, const hac_constant *constant,
                                  hac_program_builder *builder)
{
    if (constant->repr == HAC_REPR_STRING)
        return hac_program_builder_string(builder, program->bytes + constant->low, constant->high);
    return hac_program_builder_constant(builder, constant->repr, constant->low, constant->high);
}

static __int128 end_of_range(const hac_constant *end)
{
    switch (end->repr) {
    case HAC_REPR_I64:
        return (int64_t)end->low;
    case HAC_REPR_I128:
        return (__int128)((unsigned __int128)end->high << 64 | end->low);
    default:
        return end->low;
    }
}

static hac_value_id copy_range(const hac_program *program, const hac_instruction *at, hac_value_id a,
                               hac_program_builder *builder)
{
    const hac_constant *ends = program->constants + program->constants[at->k].low;
    __int128 lowest = end_of_range(&ends[0]), highest = end_of_range(&ends[1]);
    return hac_program_builder_range(builder, (hac_op)at->op, a, lowest, highest);
}

static hac_value_id copy_list(const hac_program *program, const hac_instruction *at, hac_value_id a,
                              hac_program_builder *builder)
{
    const hac_constant *list = &program->constants[at->k];
    hac_autofree hac_value_id *elements = calloc(list->high + 1, sizeof *elements);
    if (elements == NULL)
        return hac_program_builder_no_memory(builder);
    for (uint64_t i = 0; i < list->high; i++)
        elements[i] = copy_constant(program, &program->constants[list->low + i], builder);
    return hac_program_builder_in(builder, (hac_op)at->op, a, elements, list->high);
}

/* `ids` has the values of the definitions that were copied so far. */
static hac_value_id copy_one(const hac_program_slices *slices, size_t i, const uint32_t *ids,
                             hac_program_builder *builder)
{
    const hac_program *program = slices->program;
    const hac_instruction *at = &program->instructions[i];
    hac_value_id operands[3] = {0};
    for (unsigned k = 0; k < operands_of(slices, i); k++)
        operands[k] = ids[slices->operands[i][k]];
    switch (hac_op_table[at->op].k) {
    case HAC_IMMEDIATE_COLUMN:
        return hac_program_builder_input(builder, at->k, program->inputs[at->k]);
    case HAC_IMMEDIATE_CONSTANT:
        return copy_constant(program, &program->constants[at->k], builder);
    case HAC_IMMEDIATE_RANGE:
        return copy_range(program, at, operands[0], builder);
    case HAC_IMMEDIATE_LIST:
        return copy_list(program, at, operands[0], builder);
    case HAC_IMMEDIATE_PATTERN:
        return hac_program_builder_like(builder, operands[0], program->bytes + program->constants[at->k].low,
                                        program->constants[at->k].high, HAC_PATTERN_ESCAPE);
    case HAC_IMMEDIATE_TEXT:
        return hac_program_builder_text(builder, (hac_op)at->op, operands[0], operands[1],
                                        program->bytes + program->constants[at->k].low,
                                        program->constants[at->k].high);
    default:
        break;
    }
    if (at->op == HAC_OP_NULL)
        return hac_program_builder_null(builder, program->registers[at->result]);
    return hac_program_builder_op(builder, (hac_op)at->op, operands[0], operands[1], operands[2], at->k);
}

hac_value_id hac_program_slice_copy(hac_program_slices *slices, size_t at, hac_program_builder *builder)
{
    hac_program_slice_mark(slices, at);
    for (size_t i = 0; i <= at; i++)
        if (slices->scratch[i] != 0)
            slices->scratch[i] = copy_one(slices, i, slices->scratch, builder);
    return slices->scratch[at];
}

/* ---- parts of programs ---- */

hac_status hac_program_part(const hac_program *program, const uint16_t *outputs, size_t n, hac_program **ret,
                            hac_error *err)
{
    hac_cleanup(hac_program_slices_clear) hac_program_slices slices = {0};
    hac_cleanup(hac_program_builder_free_cleanup) hac_program_builder *builder = NULL;
    hac_status status = hac_program_slices_find(program, &slices, err);
    if (status == HAC_OK)
        status = hac_program_builder_new(&builder, err);
    if (status != HAC_OK)
        return status;
    for (size_t i = 0; i < program->n_inputs; i++)
        if (program->inputs[i].kind != HAC_KIND_NONE)
            hac_program_builder_input(builder, i, program->inputs[i]);
    for (size_t i = 0; i < n; i++) {
        size_t at = hac_program_slices_output(&slices, outputs[i]);
        hac_value_id value = hac_program_slice_copy(&slices, at, builder);
        hac_program_builder_output(builder, value, program->outputs[outputs[i]].type);
    }
    return hac_program_builder_finish(builder, ret, err);
}
