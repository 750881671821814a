/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The verifier. A machine runs a program that passes here without further checks. There are three passes,
 * over constants, instructions and outputs. Each looks at an element once, so a hostile program costs no more
 * than its length.
 */
#include <string.h>

#include "op_info.h"
#include "op_text.h"

/* The state of the pass over the instructions. */
typedef struct verifier {
    const hac_program *program;
    size_t at; /* instruction */
    bool written[HAC_PROGRAM_REGISTERS_MAX];
    unsigned regexps, zones;
    hac_error *err;
} verifier;

static hac_status refuse(const verifier *v, const char *what)
{
    const hac_instruction *i = &v->program->instructions[v->at];
    return hac_fail(v->err, HAC_INVALID, "program: instruction %zu (%s): %s", v->at,
                    i->op < HAC_OP_END ? hac_op_table[i->op].name : "unknown operation", what);
}

/* ---- constants ----------------------------------------------------------------------------------------- */

static bool scalar_valid(const hac_program *program, const hac_constant *constant)
{
    switch (constant->repr) {
    case HAC_REPR_BOOL:
        return constant->low <= 1 && constant->high == 0;
    case HAC_REPR_F32:
        return constant->low <= UINT32_MAX && constant->high == 0;
    case HAC_REPR_I64:
    case HAC_REPR_U64:
    case HAC_REPR_F64:
        return constant->high == 0;
    case HAC_REPR_I128:
        return true;
    case HAC_REPR_STRING:
        return constant->low <= program->n_bytes && constant->high <= program->n_bytes - constant->low;
    default:
        return false;
    }
}

/* A list has scalars of one representation, in ascending order. */
static bool list_valid(const hac_program *program, const hac_constant *list)
{
    if (list->low > program->n_constants || list->high > program->n_constants - list->low)
        return false;
    const hac_constant *first = program->constants + list->low;
    for (uint64_t i = 0; i < list->high; i++)
        if (first[i].repr != first->repr || !scalar_valid(program, &first[i]) ||
            (i > 0 && hac_constant_compare(&first[i - 1], &first[i], program->bytes) > 0))
            return false;
    return true;
}

static hac_status verify_constants(const hac_program *program, hac_error *err)
{
    uint64_t in_lists = 0;
    for (size_t i = 0; i < program->n_constants; i++) {
        const hac_constant *constant = &program->constants[i];
        bool list = constant->repr == HAC_REPR_NONE;
        /* All lists together are no longer than the constants, so overlapping lists cannot make the check
         * slow. */
        if (list &&
            (constant->high > program->n_constants || (in_lists += constant->high) > program->n_constants))
            return hac_fail(err, HAC_INVALID,
                            "program: constant %zu: the lists are longer than the constants", i);
        if (list ? !list_valid(program, constant) : !scalar_valid(program, constant))
            return hac_fail(err, HAC_INVALID, "program: constant %zu: not a %s", i,
                            hac_repr_name(constant->repr));
    }
    return HAC_OK;
}

/* ---- immediates ---------------------------------------------------------------------------------------- */

static hac_status verify_list(const verifier *v, const hac_instruction *at, bool pair)
{
    const hac_program *program = v->program;
    if (at->k >= program->n_constants || program->constants[at->k].repr != HAC_REPR_NONE)
        return refuse(v, "there is no such list");
    const hac_constant *list = &program->constants[at->k];
    if (pair && list->high != 2)
        return refuse(v, "a range has two ends");
    if (list->high > 0 && program->constants[list->low].repr != program->registers[at->a])
        return refuse(v, "the list is of another representation");
    return HAC_OK;
}

/* A pattern is a string in which each escape precedes a character that needs one. */
static hac_status verify_pattern(const verifier *v, const hac_instruction *at)
{
    const hac_program *program = v->program;
    if (at->k >= program->n_constants || program->constants[at->k].repr != HAC_REPR_STRING)
        return refuse(v, "there is no such pattern");
    const hac_constant *pattern = &program->constants[at->k];
    const uint8_t *p = program->bytes + pattern->low;
    for (uint64_t i = 0; i < pattern->high; i++)
        if (p[i] == HAC_PATTERN_ESCAPE) {
            if (++i == pattern->high || (p[i] != '%' && p[i] != '_' && p[i] != HAC_PATTERN_ESCAPE))
                return refuse(v, "the pattern has an escape before a character that needs none");
        }
    return HAC_OK;
}

/* The limit also bounds the time that a hostile program takes here. */
static hac_status verify_text(verifier *v, const hac_instruction *at)
{
    const hac_program *program = v->program;
    hac_error why = HAC_ERROR_NONE;
    if (at->k >= program->n_constants || program->constants[at->k].repr != HAC_REPR_STRING)
        return refuse(v, "there is no such text");
    if (hac_op_is_regexp(at->op) && v->regexps++ == HAC_PROGRAM_REGEXPS_MAX)
        return hac_fail(v->err, HAC_INVALID, "the expressions have more than %d regular expressions",
                        HAC_PROGRAM_REGEXPS_MAX);
    if (hac_op_is_zone(at->op) && v->zones++ == HAC_PROGRAM_ZONES_MAX)
        return hac_fail(v->err, HAC_INVALID,
                        "the expressions have more than %d conversions between time zones",
                        HAC_PROGRAM_ZONES_MAX);
    const hac_constant *text = &program->constants[at->k];
    hac_status status = hac_op_text_check(at->op, (const char *)program->bytes + text->low, text->high, &why);
    return status == HAC_OK ? HAC_OK : refuse(v, why.message);
}

static hac_status verify_immediate(verifier *v, const hac_instruction *at)
{
    const hac_program *program = v->program;
    unsigned result = program->registers[at->result];
    switch (hac_op_table[at->op].k) {
    case HAC_IMMEDIATE_COLUMN:
        if (at->k >= program->n_inputs || hac_repr_of(program->inputs[at->k]) != result)
            return refuse(v, "there is no such input of that representation");
        return HAC_OK;
    case HAC_IMMEDIATE_CONSTANT:
        if (at->k >= program->n_constants || program->constants[at->k].repr != result)
            return refuse(v, "there is no such constant of that representation");
        return HAC_OK;
    case HAC_IMMEDIATE_RANGE:
        return verify_list(v, at, true);
    case HAC_IMMEDIATE_LIST:
        return verify_list(v, at, false);
    case HAC_IMMEDIATE_PATTERN:
        return verify_pattern(v, at);
    case HAC_IMMEDIATE_TEXT:
        return verify_text(v, at);
    case HAC_IMMEDIATE_DIGITS:
        return at->k <= HAC_DIGITS_MAX ? HAC_OK : refuse(v, "too many digits");
    case HAC_IMMEDIATE_UNIT:
        return hac_op_takes_unit(at->op, at->k) ? HAC_OK : refuse(v, "the operation does not take this unit");
    default:
        return at->k == 0 ? HAC_OK : refuse(v, "it has no immediate");
    }
}

/* ---- instructions -------------------------------------------------------------------------------------- */

static hac_status verify_operand(const verifier *v, const hac_instruction *at, unsigned reg, unsigned wanted)
{
    const hac_program *program = v->program;
    if (wanted == HAC_REPR_NONE)
        return reg == 0 ? HAC_OK : refuse(v, "it has fewer operands");
    if (reg >= program->n_registers || !v->written[reg])
        return refuse(v, "an operand was never written");
    if (reg == at->result)
        return refuse(v, "the result is one of its operands");
    if (wanted == HAC_REPR_ANY)
        wanted = at->op == HAC_OP_IS_NULL ? program->registers[reg] : program->registers[at->result];
    return program->registers[reg] == wanted ? HAC_OK : refuse(v, "an operand is of another representation");
}

static hac_status verify_instruction(verifier *v)
{
    const hac_program *program = v->program;
    const hac_instruction *at = &program->instructions[v->at];
    if (at->op >= HAC_OP_END)
        return refuse(v, "there is no such operation");
    const hac_op_info *info = &hac_op_table[at->op];
    if (at->result >= program->n_registers)
        return refuse(v, "there is no such register");
    if (info->result != HAC_REPR_ANY && program->registers[at->result] != info->result)
        return refuse(v, "the result's register is of another representation");
    hac_status status = verify_operand(v, at, at->a, info->a);
    if (status == HAC_OK)
        status = verify_operand(v, at, at->b, info->b);
    if (status == HAC_OK)
        status = verify_operand(v, at, at->c, info->c);
    if (status == HAC_OK)
        status = verify_immediate(v, at);
    v->written[at->result] = true;
    return status;
}

static hac_status verify_output(const verifier *v, size_t i, const hac_program_output *output)
{
    const hac_program *program = v->program;
    if (!hac_value_type_valid(output->type))
        return hac_fail(v->err, HAC_INVALID, "program: output %zu has no type", i);
    if (output->reg >= program->n_registers || !v->written[output->reg] ||
        program->registers[output->reg] != hac_repr_of(output->type))
        return hac_fail(v->err, HAC_INVALID, "program: output %zu: register %u has no such value", i,
                        output->reg);
    return HAC_OK;
}

static hac_status verify_shape(const hac_program *program, hac_error *err)
{
    if (program->n_inputs > HAC_PROGRAM_INPUTS_MAX || program->n_outputs > HAC_PROGRAM_OUTPUTS_MAX ||
        program->n_registers > HAC_PROGRAM_REGISTERS_MAX ||
        program->n_instructions > HAC_PROGRAM_INSTRUCTIONS_MAX ||
        program->n_constants > HAC_PROGRAM_CONSTANTS_MAX || program->n_bytes > UINT32_MAX)
        return hac_fail(err, HAC_INVALID, "program: larger than programs may be");
    for (size_t i = 0; i < program->n_inputs; i++)
        if (program->inputs[i].kind != HAC_KIND_NONE && !hac_value_type_valid(program->inputs[i]))
            return hac_fail(err, HAC_INVALID, "program: input %zu has no type", i);
    for (size_t i = 0; i < program->n_registers; i++)
        if (program->registers[i] == HAC_REPR_NONE || program->registers[i] >= HAC_REPR_END)
            return hac_fail(err, HAC_INVALID, "program: register %zu has no representation", i);
    return HAC_OK;
}

hac_status hac_program_verify(const hac_program *program, hac_error *err)
{
    verifier v = {.program = program, .err = err};
    hac_status status = verify_shape(program, err);
    if (status == HAC_OK)
        status = verify_constants(program, err);
    for (v.at = 0; status == HAC_OK && v.at < program->n_instructions; v.at++)
        status = verify_instruction(&v);
    for (size_t i = 0; status == HAC_OK && i < program->n_outputs; i++)
        status = verify_output(&v, i, &program->outputs[i]);
    return status;
}
