/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The comparison of a rising function with a constant changes its result at most once. The search runs the
 * machine on 1,024 values of the column at a time, so the turning point is exact, however the function
 * rounds.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "bounds.h"
#include "expr/machine.h"
#include "program/op_info.h"
#include "program/type_facts.h"

HAC_DEFINE_CLEANUP(hac_program_builder *, hac_program_builder_free)
HAC_DEFINE_CLEANUP(hac_machine_c *, hac_machine_c_free)
HAC_DEFINE_CLEANUP(hac_program *, hac_program_free)

/* ---- rising functions ------------------------------------------------------------------------------- */

static bool unary_rises(const hac_instruction *at)
{
    switch (at->op) {
    case HAC_OP_BOOL_TO_I64:
    case HAC_OP_I64_TO_U64:
    case HAC_OP_U64_TO_I64:
    case HAC_OP_I64_TO_F32:
    case HAC_OP_U64_TO_F32:
    case HAC_OP_I64_TO_F64:
    case HAC_OP_U64_TO_F64:
    case HAC_OP_F32_TO_F64:
    case HAC_OP_F64_TO_F32:
    case HAC_OP_F64_TO_I64:
    case HAC_OP_F64_TO_U64:
    case HAC_OP_RANGE_I64:
    case HAC_OP_RANGE_U64:
    case HAC_OP_RANGE_I128:
    case HAC_OP_I64_TO_I128:
    case HAC_OP_U64_TO_I128:
    case HAC_OP_I128_TO_I64:
    case HAC_OP_SCALE_UP_I64:
    case HAC_OP_SCALE_DOWN_I64:
    case HAC_OP_SCALE_UP_I128:
    case HAC_OP_SCALE_DOWN_I128:
    case HAC_OP_DECIMAL_TO_F64:
    case HAC_OP_F64_TO_DECIMAL:
    case HAC_OP_FLOOR_F32:
    case HAC_OP_CEIL_F32:
    case HAC_OP_TRUNC_F32:
    case HAC_OP_ROUND_F32:
    case HAC_OP_FLOOR_F64:
    case HAC_OP_CEIL_F64:
    case HAC_OP_TRUNC_F64:
    case HAC_OP_ROUND_F64:
    case HAC_OP_TIMESTAMP_TO_DATE:
    case HAC_OP_DATE_TO_TIMESTAMP:
    case HAC_OP_DATE_TRUNC:
    case HAC_OP_TIME_TRUNC:
        return true;
    case HAC_OP_DATE_PART:
        return at->k == HAC_UNIT_YEAR;
    default:
        return false;
    }
}

/* Whether the operation rises in `a` when `b` is the constant. */
static bool binary_rises(const hac_instruction *at, const hac_constant *constant)
{
    double real;
    switch (at->op) {
    case HAC_OP_ADD_I64:
    case HAC_OP_SUB_I64:
    case HAC_OP_ADD_U64:
    case HAC_OP_SUB_U64:
    case HAC_OP_ADD_I128:
    case HAC_OP_SUB_I128:
        return true;
    case HAC_OP_MUL_I64:
    case HAC_OP_DIV_I64:
        return (int64_t)constant->low > 0;
    case HAC_OP_DIV_F64:
        memcpy(&real, &constant->low, sizeof real);
        return real > 0 && isfinite(real);
    default:
        return false;
    }
}

bool hac_rises(const hac_program_slices *slices, size_t at, uint16_t *ret_column)
{
    const hac_program *program = slices->program;
    for (;;) {
        const hac_instruction *in = &program->instructions[at];
        const hac_instruction *second = &program->instructions[slices->operands[at][1]];
        if (in->op == HAC_OP_COLUMN) {
            *ret_column = in->k;
            return true;
        }
        bool binary = hac_op_table[in->op].b != HAC_REPR_NONE;
        if (!unary_rises(in) &&
            !(binary && second->op == HAC_OP_CONSTANT && binary_rises(in, &program->constants[second->k])))
            return false;
        at = slices->operands[at][0];
    }
}

/* ---- places -------------------------------------------------------------------------------------------- */

#define INFINITE_F32 0x7f800000
#define INFINITE_F64 0x7ff0000000000000

/* The range of places of a type. NaN is behind infinity; both zeros are one place. */
static bool places_of(hac_value_type type, __int128 *ret_min, __int128 *ret_max)
{
    switch (type.kind) {
    case HAC_KIND_F32:
        *ret_max = INFINITE_F32 + 1;
        *ret_min = -INFINITE_F32;
        return true;
    case HAC_KIND_F64:
        *ret_max = INFINITE_F64 + 1;
        *ret_min = -INFINITE_F64;
        return true;
    case HAC_KIND_DECIMAL:
        *ret_max = hac_nines(type.precision);
        *ret_min = -*ret_max;
        return true;
    default:
        if (hac_kinds[type.kind].bits == 0)
            return false;
        hac_integer_range(type.kind, ret_min, ret_max);
        return true;
    }
}

hac_constant hac_place_constant(hac_value_type type, __int128 place)
{
    hac_repr repr = hac_repr_of(type);
    hac_constant constant = {(uint8_t)repr, (uint64_t)place, 0};
    if (repr == HAC_REPR_I128)
        constant.high = (uint64_t)((unsigned __int128)place >> 64);
    if (repr == HAC_REPR_F32 && place < 0)
        constant.low = (uint32_t)-place | 0x80000000u;
    if (repr == HAC_REPR_F64 && place < 0)
        constant.low = (uint64_t)-place | UINT64_C(1) << 63;
    if (repr == HAC_REPR_F32 && place > INFINITE_F32)
        constant.low = 0x7fc00000; /* a quiet NaN */
    if (repr == HAC_REPR_F64 && place > INFINITE_F64)
        constant.low = 0x7ff8000000000000;
    return constant;
}

/* ---- the search ---------------------------------------------------------------------------------------- */

typedef struct turning_search {
    hac_machine_c *machine;
    hac_batch batch;
    hac_column *column;
    hac_value_type type;
    hac_column result;
} turning_search;

/* Evaluates the comparison at `rows` places from `from` on, `step` apart. False: a row is in error. */
static bool ask(turning_search *s, __int128 from, unsigned __int128 step, size_t rows)
{
    size_t size = hac_repr_size(hac_repr_of(s->type));
    for (size_t i = 0; i < rows; i++) {
        __int128 place = (__int128)((unsigned __int128)from + step * i);
        hac_constant value = hac_place_constant(s->type, place);
        const uint64_t words[2] = {value.low, value.high}; /* hac runs only on little-endian machines */
        memcpy((char *)s->column->values + i * size, words, size);
    }
    s->batch.rows = rows;
    hac_machine_c_run(s->machine, &s->batch, &s->result);
    for (size_t i = 0; s->result.states != NULL && i < rows; i++)
        if (s->result.states[i] != HAC_ROW_OK)
            return false;
    return true;
}

static bool answer(const turning_search *s, size_t row)
{
    return (((const uint8_t *)s->result.values)[row] & 1) != 0;
}

static void find(turning_search *s, hac_place *ret)
{
    __int128 min = 0, max = 0;
    ret->error =
        !places_of(s->type, &min, &max) || !ask(s, min, (unsigned __int128)max - (unsigned __int128)min, 2);
    if (ret->error)
        return;
    ret->first = answer(s, 0);
    ret->last = answer(s, 1);
    ret->turning_point = max;
    while (ret->first != ret->last) { /* the result is `first` at `min`, and not at `max` */
        unsigned __int128 between = (unsigned __int128)max - (unsigned __int128)min - 1;
        size_t rows = between < HAC_BATCH_ROWS ? (size_t)between : HAC_BATCH_ROWS, same = 0;
        unsigned __int128 step = rows == 0 ? 0 : between / rows;
        ret->turning_point = min;
        if (rows == 0)
            return;
        if (!ask(s, (__int128)((unsigned __int128)min + step), step, rows)) {
            ret->error = true; /* unreachable for a rising function that is defined at both ends */
            return;
        }
        while (same < rows && answer(s, same) == ret->first)
            same++;
        __int128 start = min;
        min = (__int128)((unsigned __int128)start + step * same);
        max = same == rows ? max : (__int128)((unsigned __int128)start + step * (same + 1));
    }
}

static hac_status make_comparison(hac_program_slices *slices, size_t f, hac_comparison comparison,
                                  const hac_constant *value, hac_program **ret, hac_error *err)
{
    static const uint16_t less_equal[HAC_REPR_END] = {
        [HAC_REPR_I64] = HAC_OP_LE_I64, [HAC_REPR_U64] = HAC_OP_LE_U64,   [HAC_REPR_F32] = HAC_OP_LE_F32,
        [HAC_REPR_F64] = HAC_OP_LE_F64, [HAC_REPR_I128] = HAC_OP_LE_I128,
    };
    hac_cleanup(hac_program_builder_free_cleanup) hac_program_builder *builder = NULL;
    hac_status status = hac_program_builder_new(&builder, err);
    if (status != HAC_OK)
        return status;
    hac_value_id left = hac_program_slice_copy(slices, f, builder);
    hac_value_id right = hac_program_builder_constant(builder, value->repr, value->low, value->high);
    hac_op op = (hac_op)less_equal[value->repr];
    hac_value_id result = comparison == HAC_COMPARE_LE
                              ? hac_program_builder_op(builder, op, left, right, 0, 0)
                              : hac_program_builder_op(builder, op, right, left, 0, 0);
    hac_program_builder_output(builder, result, (hac_value_type){HAC_KIND_BOOL, 0, 0});
    return hac_program_builder_finish(builder, ret, err);
}

hac_status hac_turning_point_find(hac_program_slices *slices, size_t f, uint16_t column,
                                  hac_comparison comparison, const hac_constant *value, hac_place *ret,
                                  hac_error *err)
{
    hac_cleanup(hac_program_free_cleanup) hac_program *program = NULL;
    hac_cleanup(hac_machine_c_free_cleanup) hac_machine_c *machine = NULL;
    _Alignas(64) uint8_t values[HAC_BATCH_ROWS * sizeof(__int128)];
    hac_status status = make_comparison(slices, f, comparison, value, &program, err);
    if (status == HAC_OK)
        status = hac_machine_c_new(program, 1, &machine, err);
    if (status != HAC_OK)
        return status;
    hac_autofree hac_column *columns = calloc(program->n_inputs, sizeof *columns);
    if (columns == NULL)
        return hac_fail_no_memory(err);
    memset(values, 0, sizeof values);
    columns[column] = (hac_column){.type = program->inputs[column], .values = values};
    turning_search s = {.machine = machine,
                        .batch = {0, program->n_inputs, columns},
                        .column = &columns[column],
                        .type = program->inputs[column]};
    *ret = (hac_place){0};
    find(&s, ret);
    return HAC_OK;
}
