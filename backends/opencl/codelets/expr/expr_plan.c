/* SPDX-License-Identifier: Apache-2.0 */
#include "expr_plan.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/limits.h"
#include "kernels/expr_device_ops.cl"

#define ITERATIONS_ROW  8  /* iterations of an instruction, except these */
#define ITERATIONS_LIST 16 /* a search in a list of 4096 */
#define PROGRAMS_MAX    2

#define HOST_FLAG(flags) flags_##flags
enum { HOST = 1, FAILS = 2, INEXACT = 4, STATES = 8 };

static const char *const op_names[HAC_OP_END] = {
#define NAME(name, result, a, b, c, k, flags) [HAC_OP_##name] = #name,
    HAC_OPS(NAME)
#undef NAME
};

/* 1 + the operation's number on the device; 0: only the host has it. */
static const uint8_t device_ops[HAC_OP_END] = {
#define NUMBER(name) [HAC_OP_##name] = EXPR_##name + 1,
    EXPR_DEVICE_OPS(NUMBER)
#undef NUMBER
};

#define NONE   0
#define COLUMN 1
#define ANY    100
#define BOOL   HAC_REPR_BOOL
#define I64    HAC_REPR_I64
#define U64    HAC_REPR_U64
#define F32    HAC_REPR_F32
#define F64    HAC_REPR_F64
#define I128   HAC_REPR_I128
#define STRING HAC_REPR_STRING
static const struct {
    uint8_t operands, flags;
} ops[HAC_OP_END] = {
#define SHAPE(name, result, a, b, c, k, how) [HAC_OP_##name] = {((a) != 0) + ((b) != 0) + ((c) != 0), how},
#define CONSTANT                             2
#define RANGE                                3
#define DIGITS                               4
#define UNIT                                 5
#define LIST                                 6
#define PATTERN                              7
#define TEXT                                 8
    HAC_OPS(SHAPE)
#undef SHAPE
};

static bool on_device(const hac_program *p, const hac_instruction *in)
{
    hac_repr repr = (hac_repr)p->registers[in->result];
    return device_ops[in->op] != 0 && repr != I128 && (repr != STRING || in->op == HAC_OP_COLUMN);
}

/* Whether an operand is a string: IS_NULL and others take any register. */
static bool takes_string(const hac_program *p, const hac_instruction *in)
{
    const uint16_t operands[] = {in->a, in->b, in->c};
    for (unsigned i = 0; i < ops[in->op].operands; i++)
        if (p->registers[operands[i]] == STRING && in->op != HAC_OP_IS_NULL)
            return true;
    return false;
}

hac_status hac_expr_plan_fits(const hac_program *program, const hac_device_facts *facts, bool strings,
                              hac_error *err)
{
    for (size_t i = 0; i < program->n_instructions; i++) {
        const hac_instruction *in = &program->instructions[i];
        if (!on_device(program, in) || takes_string(program, in))
            return hac_fail(err, HAC_UNSUPPORTED, "devices cannot compute %s of %s", op_names[in->op],
                            program->registers[in->result] == I128 ? "128 bits" : "strings");
        if (!facts->fp64 && program->registers[in->result] == F64)
            return hac_fail(err, HAC_UNSUPPORTED, "device \"%s\" has no f64", facts->name);
    }
    for (size_t i = 0; i < program->n_outputs; i++)
        if (!strings && program->registers[program->outputs[i].reg] == STRING)
            return hac_fail(err, HAC_UNSUPPORTED, "devices give no strings");
    return HAC_OK;
}

static uint64_t odd_of(uint64_t seed)
{
    uint64_t z = seed + UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (z ^ (z >> 31)) | 1;
}

static size_t constant_words(const hac_program *p)
{
    size_t words = 0;
    for (size_t i = 0; i < p->n_instructions; i++) {
        const hac_instruction *in = &p->instructions[i];
        if (in->op == HAC_OP_RANGE_I64 || in->op == HAC_OP_RANGE_U64)
            words += 2;
        else if (in->op == HAC_OP_CONSTANT)
            words++;
        else if (in->op == HAC_OP_IN_I64 || in->op == HAC_OP_IN_U64 || in->op == HAC_OP_IN_F64)
            words += 1 + p->constants[in->k].high;
    }
    return words;
}

/* Adds the constants that an instruction needs; *at counts them. Returns its `k`. */
static uint64_t add_constants(const hac_program *p, const hac_instruction *in, uint64_t *constants,
                              size_t *at)
{
    uint64_t k = *at;
    const hac_constant *c = &p->constants[in->k];
    switch (in->op) {
    case HAC_OP_CONSTANT:
        constants[(*at)++] = c->low;
        return k;
    case HAC_OP_IN_I64:
    case HAC_OP_IN_U64:
    case HAC_OP_IN_F64:
        constants[(*at)++] = c->high;
        break;
    case HAC_OP_RANGE_I64:
    case HAC_OP_RANGE_U64:
        break;
    default:
        return in->k;
    }
    for (uint64_t i = 0; i < c->high; i++)
        constants[(*at)++] = p->constants[c->low + i].low;
    return k;
}

static void add_instruction(hac_expr_plan *plan, const hac_program *p, const hac_instruction *in,
                            uint32_t first_register, size_t *constants)
{
    uint64_t *words = plan->words;
    uint64_t *code = words + words[EXPR_PLAN_CODE] + 2 * plan->instructions++;
    uint64_t how = ops[in->op].operands, f = first_register;
    if (ops[in->op].flags & STATES)
        how |= EXPR_OWN_STATES;
    if (p->registers[in->result] == F32)
        how |= EXPR_NARROW;
    uint64_t k = add_constants(p, in, words + words[EXPR_PLAN_CONSTANTS], constants);
    code[0] =
        (uint64_t)(device_ops[in->op] - 1) | (in->result + f) << 16 | (in->a + f) << 32 | (in->b + f) << 48;
    code[1] = (in->c + f) | k << 16 | how << 32;
}

static void add_program(hac_expr_plan *plan, const hac_program *p, size_t *constants)
{
    uint32_t first = plan->registers;
    plan->registers += (uint32_t)p->n_registers;
    for (size_t i = 0; i < p->n_instructions; i++)
        add_instruction(plan, p, &p->instructions[i], first, constants);
    for (size_t i = 0; i < p->n_outputs; i++) {
        uint16_t reg = p->outputs[i].reg;
        size_t o = plan->n_outputs++;
        plan->outputs[o] = first + reg;
        plan->types[o] = p->outputs[i].type;
        plan->string_inputs[o] = p->registers[reg] == STRING ? hac_program_output_input(p, i) : -1;
        plan->words[plan->words[EXPR_PLAN_OUTPUTS] + o] = (first + reg) | (uint64_t)(p->registers[reg] == F32)
                                                                              << 16;
    }
}

static hac_status check_columns(const hac_program *p, const hac_table_column *columns, size_t n_columns,
                                hac_error *err)
{
    for (size_t i = 0; i < p->n_instructions; i++) {
        const hac_instruction *in = &p->instructions[i];
        if (in->op == HAC_OP_COLUMN &&
            (in->k >= n_columns || !hac_value_type_equal(columns[in->k].type, p->inputs[in->k])))
            return hac_fail(err, HAC_INVALID, "input %u of the program is no column of the table", in->k);
    }
    return HAC_OK;
}

static size_t rounded(size_t words)
{
    return (words + HAC_ALIGNMENT / 8 - 1) / (HAC_ALIGNMENT / 8) * (HAC_ALIGNMENT / 8);
}

static hac_status place(hac_expr_plan *plan, const hac_program *const *programs, size_t n, size_t n_columns,
                        hac_error *err)
{
    size_t instructions = 0, constants = 0, outputs = 0;
    for (size_t i = 0; i < n; i++) {
        instructions += programs[i]->n_instructions;
        constants += constant_words(programs[i]);
        outputs += programs[i]->n_outputs;
    }
    size_t code = rounded(EXPR_PLAN_WORDS + n_columns * EXPR_COLUMN_WORDS);
    size_t constants_at = rounded(code + 2 * instructions), outputs_at = rounded(constants_at + constants);
    if (constants > UINT16_MAX)
        return hac_fail(err, HAC_UNSUPPORTED, "the lists of the programs are too long for a device");
    plan->n_words = rounded(outputs_at + outputs);
    plan->words = aligned_alloc(HAC_ALIGNMENT, plan->n_words * 8);
    if (plan->words == NULL)
        return hac_fail_no_memory(err);
    memset(plan->words, 0, plan->n_words * 8);
    plan->words[EXPR_PLAN_COLUMNS] = EXPR_PLAN_WORDS;
    plan->words[EXPR_PLAN_CODE] = code;
    plan->words[EXPR_PLAN_CONSTANTS] = constants_at;
    plan->words[EXPR_PLAN_OUTPUTS] = outputs_at;
    plan->words[EXPR_PLAN_N_OUTPUTS] = outputs;
    return HAC_OK;
}

void hac_expr_plan_set_column(hac_expr_plan *plan, size_t input, const hac_table_column *c)
{
    uint64_t *w = plan->words + plan->words[EXPR_PLAN_COLUMNS] + input * EXPR_COLUMN_WORDS;
    bool text = hac_kind_is_text(c->type.kind); /* kernels treat types with the same layout as bytes */
    w[EXPR_COLUMN_KIND] = (text ? HAC_KIND_STRING : c->type.kind) | (text && c->large ? EXPR_KIND_LARGE : 0);
    w[EXPR_COLUMN_VALIDITY] = c->validity;
    w[EXPR_COLUMN_VALUES] = c->values;
    w[EXPR_COLUMN_BYTES] = c->bytes;
    w[EXPR_COLUMN_N_BYTES] = c->n_bytes;
}

hac_status hac_expr_plan_init(hac_expr_plan *plan, const hac_program *const *programs, size_t n,
                              const hac_table_column *columns, size_t n_columns,
                              const hac_device_facts *facts, uint64_t seed, bool strings, hac_error *err)
{
    *plan = (hac_expr_plan){0};
    const hac_program *present[PROGRAMS_MAX];
    size_t n_present = 0, constants = 0;
    hac_status status = HAC_OK;
    for (size_t i = 0; status == HAC_OK && i < n && i < PROGRAMS_MAX; i++) {
        if (programs[i] == NULL)
            continue;
        status = hac_expr_plan_fits(programs[i], facts, strings, err);
        if (status == HAC_OK)
            status = check_columns(programs[i], columns, n_columns, err);
        present[n_present++] = programs[i];
    }
    if (status == HAC_OK)
        status = place(plan, present, n_present, n_columns, err);
    if (status != HAC_OK)
        return status;
    for (size_t i = 0; i < n_columns; i++)
        hac_expr_plan_set_column(plan, i, &columns[i]);
    for (size_t i = 0; i < n_present; i++)
        add_program(plan, present[i], &constants);
    plan->words[EXPR_PLAN_INSTRUCTIONS] = plan->instructions;
    plan->words[EXPR_PLAN_REGISTERS] = plan->registers;
    plan->words[EXPR_PLAN_SEED] = odd_of(seed);
    plan->words[EXPR_PLAN_SEED + 1] = odd_of(seed ^ UINT64_MAX);
    return HAC_OK;
}

void hac_expr_plan_clear(hac_expr_plan *plan)
{
    free(plan->words);
    plan->words = NULL;
}

void hac_expr_plan_add_registers(hac_expr_plan *plan, size_t n)
{
    plan->registers += (uint32_t)n;
    plan->words[EXPR_PLAN_REGISTERS] = plan->registers;
}

uint64_t hac_expr_plan_scratch(const hac_expr_plan *plan, const hac_device_facts *facts, uint32_t lanes)
{
    uint64_t rows = facts->style == HAC_STYLE_SIMT ? lanes : HAC_BATCH_ROWS;
    uint64_t registers = plan->registers == 0 ? 1 : plan->registers;
    return (registers * rows * 9 + 127) / 128 * 128;
}

uint32_t hac_expr_plan_iterations(const hac_expr_plan *plan)
{
    return 1 + plan->instructions * (ITERATIONS_ROW + ITERATIONS_LIST);
}
