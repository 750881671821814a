/* SPDX-License-Identifier: Apache-2.0 */
#include "expr/program.h"

#include <stdlib.h>
#include <string.h>

#include "op_info.h"

/* The words of HAC_OPS's last column. */
enum { FAILS = HAC_OP_FAILS, HOST = HAC_OP_HOST, INEXACT = HAC_OP_INEXACT, STATES = HAC_OP_STATES };

const hac_op_info hac_op_table[HAC_OP_END] = {
#define HAC_OP_ROW(name, result, a, b, c, k, flags)                                                          \
    {#name, HAC_REPR_##result, HAC_REPR_##a, HAC_REPR_##b, HAC_REPR_##c, HAC_IMMEDIATE_##k, flags},
    HAC_OPS(HAC_OP_ROW)
#undef HAC_OP_ROW
};

bool hac_op_takes_unit(hac_op op, unsigned unit)
{
    switch (op) {
    case HAC_OP_DATE_PART:
        return unit <= HAC_UNIT_DAY_OF_YEAR;
    case HAC_OP_TIME_PART:
        return unit >= HAC_UNIT_HOUR && unit <= HAC_UNIT_MICROSECOND;
    case HAC_OP_DATE_TRUNC:
        return unit <= HAC_UNIT_WEEK;
    case HAC_OP_TIME_TRUNC:
        return unit >= HAC_UNIT_HOUR && unit <= HAC_UNIT_SECOND;
    default:
        return false;
    }
}

const char *hac_repr_name(unsigned repr)
{
    static const char *const names[HAC_REPR_END] = {"list", "bool", "i64",  "u64",
                                                    "f32",  "f64",  "i128", "string"};
    return repr < HAC_REPR_END ? names[repr] : "?";
}

/* NaN equals NaN and is above all numbers. */
static int compare_floats(double a, double b)
{
    bool a_nan = a != a, b_nan = b != b;
    if (a_nan || b_nan)
        return a_nan - b_nan;
    return (a > b) - (a < b);
}

static int compare_i128(const hac_constant *a, const hac_constant *b)
{
    if (a->high != b->high)
        return (int64_t)a->high < (int64_t)b->high ? -1 : 1;
    return (a->low > b->low) - (a->low < b->low);
}

static int compare_strings(const hac_constant *a, const hac_constant *b, const uint8_t *bytes)
{
    size_t common = a->high < b->high ? a->high : b->high;
    int order = common == 0 ? 0 : memcmp(bytes + a->low, bytes + b->low, common);
    return order != 0 ? order : (a->high > b->high) - (a->high < b->high);
}

int hac_constant_compare(const hac_constant *a, const hac_constant *b, const uint8_t *bytes)
{
    double x, y;
    float f, g;
    switch (a->repr) {
    case HAC_REPR_I64:
        return ((int64_t)a->low > (int64_t)b->low) - ((int64_t)a->low < (int64_t)b->low);
    case HAC_REPR_F64:
        memcpy(&x, &a->low, sizeof x);
        memcpy(&y, &b->low, sizeof y);
        return compare_floats(x, y);
    case HAC_REPR_F32:
        memcpy(&f, &(uint32_t){(uint32_t)a->low}, sizeof f);
        memcpy(&g, &(uint32_t){(uint32_t)b->low}, sizeof g);
        return compare_floats((double)f, (double)g);
    case HAC_REPR_I128:
        return compare_i128(a, b);
    case HAC_REPR_STRING:
        return compare_strings(a, b, bytes);
    default:
        return (a->low > b->low) - (a->low < b->low);
    }
}

void hac_program_free(hac_program *program)
{
    if (program == NULL)
        return;
    free(program->inputs);
    free(program->registers);
    free(program->instructions);
    free(program->constants);
    free(program->bytes);
    free(program->outputs);
    free(program);
}

/* Whether the instruction makes a string other than by reading a column, or uses more of a string than its
 * state. */
static bool works_on_strings(const hac_program *program, const hac_instruction *in)
{
    const hac_op_info *info = &hac_op_table[in->op];
    const struct {
        uint8_t repr;
        uint16_t reg;
    } operands[] = {{(uint8_t)info->a, in->a}, {(uint8_t)info->b, in->b}, {(uint8_t)info->c, in->c}};
    if (program->registers[in->result] == HAC_REPR_STRING && in->op != HAC_OP_COLUMN)
        return true;
    for (size_t i = 0; i < 3 && in->op != HAC_OP_IS_NULL; i++)
        if (operands[i].repr != HAC_REPR_NONE && program->registers[operands[i].reg] == HAC_REPR_STRING)
            return true;
    return false;
}

bool hac_program_fits_device(const hac_program *program)
{
    for (size_t i = 0; i < program->n_registers; i++)
        if (program->registers[i] == HAC_REPR_I128)
            return false;
    for (size_t i = 0; i < program->n_instructions; i++)
        if ((hac_op_table[program->instructions[i].op].flags & HAC_OP_HOST) != 0 ||
            works_on_strings(program, &program->instructions[i]))
            return false;
    return true;
}

bool hac_program_exact(const hac_program *program)
{
    for (size_t i = 0; i < program->n_instructions; i++)
        if ((hac_op_table[program->instructions[i].op].flags & HAC_OP_INEXACT) != 0)
            return false;
    return true;
}

/* Operations that make strings fail if the strings need more memory than a batch may have. */
static bool may_fail(const hac_program *program, const hac_instruction *at)
{
    return (hac_op_table[at->op].flags & HAC_OP_FAILS) != 0 ||
           (program->registers[at->result] == HAC_REPR_STRING && at->op != HAC_OP_COLUMN &&
            at->op != HAC_OP_CONSTANT && at->op != HAC_OP_NULL);
}

bool hac_program_may_fail(const hac_program *program)
{
    for (size_t i = 0; i < program->n_instructions; i++)
        if (may_fail(program, &program->instructions[i]))
            return true;
    return false;
}

int hac_program_output_input(const hac_program *program, size_t output)
{
    const hac_instruction *last = NULL; /* registers are reused */
    for (size_t i = 0; i < program->n_instructions; i++)
        if (program->instructions[i].result == program->outputs[output].reg)
            last = &program->instructions[i];
    return last != NULL && last->op == HAC_OP_COLUMN ? last->k : -1;
}

void hac_program_reads(const hac_program *program, bool *reads)
{
    for (size_t i = 0; i < program->n_instructions; i++)
        if (program->instructions[i].op == HAC_OP_COLUMN)
            reads[program->instructions[i].k] = true;
}

static void print_string(const uint8_t *bytes, uint64_t n, hac_text *ret)
{
    hac_text_add(ret, "'");
    for (uint64_t i = 0; i < n && i < 32; i++)
        if (bytes[i] >= 0x20 && bytes[i] < 0x7f)
            hac_text_addf(ret, "%c", bytes[i]);
        else
            hac_text_addf(ret, "\\x%02x", bytes[i]);
    hac_text_add(ret, n > 32 ? "…'" : "'");
}

static void print_constant(const hac_program *program, unsigned index, hac_text *ret)
{
    const hac_constant *constant = &program->constants[index];
    double value;
    float narrow;
    switch (constant->repr) {
    case HAC_REPR_NONE:
        hac_text_add(ret, "[");
        for (uint64_t i = 0; i < constant->high && i < 8; i++) {
            hac_text_add(ret, i == 0 ? "" : " ");
            print_constant(program, (unsigned)(constant->low + i), ret);
        }
        hac_text_add(ret, constant->high > 8 ? " …]" : "]");
        break;
    case HAC_REPR_I64:
        hac_text_addf(ret, "%lld", (long long)constant->low);
        break;
    case HAC_REPR_F32:
        memcpy(&narrow, &(uint32_t){(uint32_t)constant->low}, sizeof narrow);
        hac_text_addf(ret, "%.9g", (double)narrow);
        break;
    case HAC_REPR_F64:
        memcpy(&value, &constant->low, sizeof value);
        hac_text_addf(ret, "%.17g", value);
        break;
    case HAC_REPR_I128:
        hac_text_addf(ret, "0x%016llx%016llx", (unsigned long long)constant->high,
                      (unsigned long long)constant->low);
        break;
    case HAC_REPR_STRING:
        print_string(program->bytes + constant->low, constant->high, ret);
        break;
    default:
        hac_text_addf(ret, "%llu", (unsigned long long)constant->low);
    }
}

static void print_instruction(const hac_program *program, const hac_instruction *at, hac_text *ret)
{
    const hac_op_info *info = &hac_op_table[at->op];
    hac_text_addf(ret, "r%u:%s = %s", at->result, hac_repr_name(program->registers[at->result]), info->name);
    if (info->a != HAC_REPR_NONE)
        hac_text_addf(ret, " r%u", at->a);
    if (info->b != HAC_REPR_NONE)
        hac_text_addf(ret, " r%u", at->b);
    if (info->c != HAC_REPR_NONE)
        hac_text_addf(ret, " r%u", at->c);
    if (info->k == HAC_IMMEDIATE_NONE) {
        hac_text_add(ret, "\n");
        return;
    }
    hac_text_add(ret, " ");
    if (info->k == HAC_IMMEDIATE_COLUMN || info->k == HAC_IMMEDIATE_DIGITS || info->k == HAC_IMMEDIATE_UNIT)
        hac_text_addf(ret, "%u", at->k);
    else
        print_constant(program, at->k, ret);
    hac_text_add(ret, "\n");
}

void hac_program_print(const hac_program *program, hac_text *ret)
{
    char name[HAC_VALUE_TYPE_NAME_MAX];
    for (size_t i = 0; i < program->n_instructions; i++)
        print_instruction(program, &program->instructions[i], ret);
    for (size_t i = 0; i < program->n_outputs; i++)
        hac_text_addf(ret, "output %zu: r%u %s\n", i, program->outputs[i].reg,
                      hac_value_type_name(program->outputs[i].type, name));
}
