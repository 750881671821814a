/* SPDX-License-Identifier: Apache-2.0 */
/* Known answers of expr.eval: every operation with edge values must give what the C machine gives. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/random.h"
#include "expr/machine.h"
#include "expr_eval.h"

#define ROWS         (3 * HAC_BATCH_ROWS + 17) /* whole batches and a part of one */
#define COLUMN_BYTES ((ROWS * 8 + 63) / 64 * 64)
#define BITMAP_BYTES ((ROWS / 8 + 64) / 64 * 64)
#define COLUMNS      3 /* columns of each representation */
#define N_REPRS      5 /* bool … f64 */

HAC_DEFINE_CLEANUP(hac_program *, hac_program_free)
HAC_DEFINE_CLEANUP(hac_program_builder *, hac_program_builder_free)
HAC_DEFINE_CLEANUP(hac_machine_c *, hac_machine_c_free)

enum { FAILS = 1, HOST = 2, INEXACT = 4, STATES = 8 };
enum { K_NONE = 0, K_COLUMN, K_CONSTANT, K_RANGE, K_DIGITS, K_UNIT, K_LIST, K_PATTERN, K_TEXT };
#define HAC_REPR_ANY HAC_REPR_END

static const struct {
    const char *name;
    uint8_t operands[3], k, flags;
} ops[HAC_OP_END] = {
#define ROW(name, result, a, b, c, k, flags)                                                                 \
    [HAC_OP_##name] = {#name, {HAC_REPR_##a, HAC_REPR_##b, HAC_REPR_##c}, K_##k, flags},
    HAC_OPS(ROW)
#undef ROW
};

/* ---- columns of edge values ---- */

static uint64_t integer_value(uint64_t *state)
{
    static const uint64_t edges[] = {0,
                                     1,
                                     2,
                                     7,
                                     10,
                                     UINT64_MAX,
                                     UINT64_MAX - 1,
                                     INT64_MAX,
                                     (uint64_t)INT64_MAX + 1,
                                     (uint64_t)INT64_MAX + 2,
                                     INT32_MAX,
                                     (uint64_t)INT32_MAX + 1,
                                     UINT32_MAX,
                                     UINT64_C(1) << 53,
                                     (UINT64_C(1) << 53) + 1,
                                     1000000000000000000};
    uint64_t r = hac_random_u64(state);
    switch (r >> 61) {
    case 0:
    case 1:
        return edges[r % 16];
    case 2:
    case 3:
        return (uint64_t)((int64_t)(r % 200) - 100);
    case 4:
    case 5:
        return (uint64_t)(int64_t)(int32_t)r;
    default:
        return hac_random_u64(state);
    }
}

static double float_value(uint64_t *state)
{
    static const double edges[] = {0.0,  -0.0,     1.0,       -1.0,   0.5,    -0.5,    2.5,    NAN,
                                   1e30, INFINITY, -INFINITY, 0x1p63, 0x1p-3, -0x1p63, 0x1p64, 3.0};
    uint64_t r = hac_random_u64(state);
    if (r >> 62 == 0)
        return edges[r % 16];
    if (r >> 62 == 1)
        return (double)((int64_t)(r % 2000) - 1000) / 8;
    return ((double)(r % (UINT64_C(1) << 53)) - 0x1p52) * (r >> 63 ? 1e-40 : 1e-10);
}

static void put_value(uint8_t *values, hac_repr repr, size_t row, uint64_t *state)
{
    uint64_t integer = integer_value(state);
    double number = float_value(state);
    float narrow = (float)number;
    if (repr == HAC_REPR_BOOL)
        values[row / 8] =
            (uint8_t)(values[row / 8] & ~(1u << row % 8)) | (uint8_t)((integer >> 40 & 1) << row % 8);
    else if (repr == HAC_REPR_F32)
        memcpy(values + row * 4, &narrow, 4);
    else
        memcpy(values + row * 8, repr == HAC_REPR_F64 ? (const void *)&number : (const void *)&integer, 8);
}

typedef struct expr_sample {
    uint8_t *memory;
    uint64_t bytes;
    /* column c of representation r is r × COLUMNS + c; the first has no nulls */
    hac_table_column columns[N_REPRS * COLUMNS];
} expr_sample;

static hac_status sample_init(expr_sample *s, hac_error *err)
{
    static const uint8_t kinds[] = {HAC_KIND_BOOL, HAC_KIND_I64, HAC_KIND_U64, HAC_KIND_F32, HAC_KIND_F64};
    uint64_t state = 1, at = 0;
    s->bytes = N_REPRS * COLUMNS * (COLUMN_BYTES + BITMAP_BYTES);
    s->memory = aligned_alloc(64, s->bytes);
    if (s->memory == NULL)
        return hac_fail_no_memory(err);
    memset(s->memory, 0, s->bytes);
    for (size_t i = 0; i < N_REPRS * COLUMNS; i++) {
        hac_table_column *c = &s->columns[i];
        *c = (hac_table_column){.type = {.kind = kinds[i / COLUMNS]},
                                .validity = i % COLUMNS == 0 ? HAC_TABLE_NONE : at + COLUMN_BYTES,
                                .values = at,
                                .bytes = HAC_TABLE_NONE};
        for (size_t row = 0; row < ROWS; row++)
            put_value(s->memory + at, hac_repr_of(c->type), row, &state);
        for (size_t b = 0; b < BITMAP_BYTES; b++) {
            uint64_t once = hac_random_u64(&state); /* three of four bits are set */
            s->memory[at + COLUMN_BYTES + b] = (uint8_t)(once | hac_random_u64(&state));
        }
        at += COLUMN_BYTES + BITMAP_BYTES;
    }
    return HAC_OK;
}

/* ---- a program of one operation ---- */

static uint64_t constant_bits(hac_repr repr, int value)
{
    double number = value / 8.0;
    float narrow = (float)number;
    uint64_t bits = (uint64_t)(int64_t)value;
    if (repr == HAC_REPR_F64)
        memcpy(&bits, &number, 8);
    if (repr == HAC_REPR_F32) {
        bits = 0;
        memcpy(&bits, &narrow, 4);
    }
    return repr == HAC_REPR_BOOL ? (uint64_t)(value & 1) : bits;
}

static hac_value_id list_operation(hac_program_builder *b, hac_op op, hac_value_id a, hac_repr repr)
{
    hac_value_id list[40];
    for (int i = 0; i < 40; i++)
        list[i] = hac_program_builder_constant(
            b, repr, constant_bits(repr, repr == HAC_REPR_U64 ? i * 3 : i * 5 - 99), 0);
    return hac_program_builder_in(b, op, a, list, 40);
}

/* Operands that are dates or months must be valid: i64 columns hold any number. */
static hac_value_id as_date(hac_program_builder *b, hac_value_id value)
{
    hac_value_id million = hac_program_builder_constant(b, HAC_REPR_I64, 1000000, 0);
    return hac_program_builder_op(b, HAC_OP_MOD_I64, value, million, 0, 0);
}

static bool of_dates(hac_op op)
{
    return op == HAC_OP_DATE_PART || op == HAC_OP_DATE_TRUNC || op == HAC_OP_ADD_MONTHS ||
           op == HAC_OP_DATE_TO_TIMESTAMP;
}

static hac_value_type type_of(hac_repr repr)
{
    static const uint8_t kinds[] = {0, HAC_KIND_BOOL, HAC_KIND_I64, HAC_KIND_U64, HAC_KIND_F32, HAC_KIND_F64};
    return (hac_value_type){.kind = kinds[repr]};
}

/* `any` replaces operands of any representation. */
static hac_value_id operation(hac_program_builder *b, hac_op op, hac_repr any, unsigned k)
{
    hac_value_id v[3] = {0, 0, 0};
    for (unsigned i = 0; i < 3 && ops[op].operands[i] != HAC_REPR_NONE; i++) {
        hac_repr repr = (hac_repr)ops[op].operands[i];
        repr = repr == HAC_REPR_ANY ? any : repr;
        size_t column = (size_t)(repr - HAC_REPR_BOOL) * COLUMNS + i;
        v[i] = hac_program_builder_input(b, column, type_of(repr));
        if (of_dates(op))
            v[i] = as_date(b, v[i]);
    }
    if (ops[op].k == K_RANGE)
        return hac_program_builder_range(b, op, v[0], op == HAC_OP_RANGE_U64 ? 3 : -50, 60);
    if (ops[op].k == K_LIST)
        return list_operation(b, op, v[0], (hac_repr)ops[op].operands[0]);
    return hac_program_builder_op(b, op, v[0], v[1], v[2], k);
}

/* ---- comparing ---- */

static void batch_of(const expr_sample *s, size_t first, size_t rows, hac_column *columns, uint8_t *bools,
                     uint8_t *states)
{
    for (size_t i = 0; i < N_REPRS * COLUMNS; i++) {
        const hac_table_column *c = &s->columns[i];
        uint8_t *values = s->memory + c->values + first * hac_value_size(c->type);
        if (c->type.kind == HAC_KIND_BOOL) {
            values = bools + i * HAC_BATCH_ROWS;
            for (size_t row = 0; row < rows; row++)
                values[row] = s->memory[c->values + (first + row) / 8] >> (first + row) % 8 & 1;
        }
        columns[i] = (hac_column){.type = c->type, .values = values};
        if (c->validity == HAC_TABLE_NONE)
            continue;
        columns[i].states = states + i * HAC_BATCH_ROWS;
        for (size_t row = 0; row < rows; row++)
            columns[i].states[row] = !(s->memory[c->validity + (first + row) / 8] >> (first + row) % 8 & 1);
    }
}

static bool same_value(hac_repr repr, const void *expected, size_t row, uint64_t got)
{
    const uint8_t *bytes = expected;
    uint64_t bits = 0;
    memcpy(&bits, bytes + row * hac_repr_size(repr), hac_repr_size(repr));
    double a, b;
    float f, g;
    memcpy(&a, &bits, 8);
    memcpy(&b, &got, 8);
    memcpy(&f, &bits, 4);
    memcpy(&g, &got, 4);
    return bits == got || (repr == HAC_REPR_F64 && isnan(a) && isnan(b)) ||
           (repr == HAC_REPR_F32 && isnan(f) && isnan(g));
}

static hac_status compare(const expr_sample *s, const hac_program *program, const uint8_t *outputs,
                          hac_error *err)
{
    hac_cleanup(hac_machine_c_free_cleanup) hac_machine_c *machine = NULL;
    hac_column columns[N_REPRS * COLUMNS], result;
    hac_autofree uint8_t *memory = malloc(2 * N_REPRS * COLUMNS * HAC_BATCH_ROWS);
    hac_status status = hac_machine_c_new(program, 0, &machine, err);
    if (status != HAC_OK)
        return status;
    if (memory == NULL)
        return hac_fail_no_memory(err);
    for (size_t first = 0; first < ROWS; first += HAC_BATCH_ROWS) {
        size_t rows = ROWS - first < HAC_BATCH_ROWS ? ROWS - first : HAC_BATCH_ROWS;
        batch_of(s, first, rows, columns, memory, memory + N_REPRS * COLUMNS * HAC_BATCH_ROWS);
        hac_batch batch = {.rows = rows, .n_columns = program->n_inputs, .columns = columns};
        hac_machine_c_run(machine, &batch, &result);
        for (size_t row = 0; row < rows; row++) {
            uint64_t value;
            uint8_t state = outputs[hac_expr_states_offset(1, ROWS) + first + row];
            uint8_t expected = result.states == NULL ? (uint8_t)HAC_ROW_OK : result.states[row];
            memcpy(&value, outputs + (first + row) * 8, 8);
            if (state != expected ||
                (state == HAC_ROW_OK && !same_value(hac_repr_of(result.type), result.values, row, value)))
                return hac_fail(err, HAC_DEVICE, "row %zu is 0x%llx (state %u), which is wrong (state %u)",
                                first + row, (unsigned long long)value, state, expected);
        }
    }
    return HAC_OK;
}

static hac_status try_operation(hac_device *device, const expr_sample *s, hac_op op, hac_repr any, unsigned k,
                                uint8_t *outputs, hac_error *err)
{
    hac_cleanup(hac_program_builder_free_cleanup) hac_program_builder *builder = NULL;
    hac_cleanup(hac_program_free_cleanup) hac_program *program = NULL;
    hac_expr_plan plan = {0};
    hac_status status = hac_program_builder_new(&builder, err);
    if (status != HAC_OK)
        return status;
    hac_value_id value = operation(builder, op, any, k);
    hac_program_builder_output(builder, value, type_of(hac_program_builder_repr(builder, value)));
    status = hac_program_builder_finish(builder, &program, err);
    if (status == HAC_OK)
        status = hac_expr_plan_init(&plan, (const hac_program *const[]){program}, 1, s->columns,
                                    N_REPRS * COLUMNS, hac_device_get_facts(device), 0, false, err);
    hac_span table = {s->memory, s->bytes}, out = {outputs, hac_expr_outputs_bytes(1, ROWS)};
    if (status == HAC_OK)
        status = hac_expr_eval_rows(device, &plan, &table, 0, ROWS, &out, err);
    if (status == HAC_OK)
        status = compare(s, program, outputs, err);
    hac_expr_plan_clear(&plan);
    return status == HAC_OK ? status : hac_error_prefix(err, "%s", ops[op].name);
}

/* Whether the device has the operation with these operands. */
static bool applies(const hac_device_facts *facts, hac_op op, hac_repr any)
{
    bool has_any = false, f64 = strstr(ops[op].name, "F64") != NULL;
    for (unsigned i = 0; i < 3; i++)
        has_any |= ops[op].operands[i] == HAC_REPR_ANY;
    f64 |= has_any && any == HAC_REPR_F64;
    if (ops[op].flags & (HOST | INEXACT) || ops[op].k == K_COLUMN || ops[op].k == K_CONSTANT ||
        op == HAC_OP_NULL || (f64 && !facts->fp64))
        return false;
    return has_any || any == HAC_REPR_BOOL; /* other operations: once */
}

static unsigned next_immediate(hac_op op, unsigned k)
{
    if (ops[op].k == K_DIGITS)
        return k < 3 ? k + 1 : k < 20 ? k + 15 : 39;
    return ops[op].k == K_UNIT ? k + 1 : 39;
}

/* Each unit belongs to some operations. */
static bool takes_unit(hac_op op, unsigned unit)
{
    unsigned lowest = op == HAC_OP_TIME_PART || op == HAC_OP_TIME_TRUNC ? HAC_UNIT_HOUR : HAC_UNIT_YEAR;
    unsigned highest = op == HAC_OP_DATE_PART    ? HAC_UNIT_DAY_OF_YEAR
                       : op == HAC_OP_TIME_PART  ? HAC_UNIT_MICROSECOND
                       : op == HAC_OP_DATE_TRUNC ? HAC_UNIT_WEEK
                                                 : HAC_UNIT_SECOND;
    return ops[op].k != K_UNIT || (unit >= lowest && unit <= highest);
}

static hac_status try_all(hac_device *device, const expr_sample *s, uint8_t *outputs, hac_error *err)
{
    hac_status status = HAC_OK;
    for (unsigned op = 0; op < HAC_OP_END; op++)
        for (unsigned any = HAC_REPR_BOOL; any <= HAC_REPR_F64; any++)
            for (unsigned k = 0; applies(hac_device_get_facts(device), op, any) && k <= 38;
                 k = next_immediate(op, k))
                if (status == HAC_OK && takes_unit(op, k))
                    status = try_operation(device, s, op, any, k, outputs, err);
    return status;
}

hac_status hac_expr_eval_known_answer(hac_device *device, hac_type type, hac_error *err)
{
    if (type != HAC_TYPE_U32) /* programs have their own types, so one type is enough */
        return HAC_OK;
    expr_sample s = {0};
    hac_autofree uint8_t *outputs = aligned_alloc(64, (hac_expr_outputs_bytes(1, ROWS) + 63) / 64 * 64);
    hac_status status = outputs == NULL ? hac_fail_no_memory(err) : sample_init(&s, err);
    if (status == HAC_OK)
        status = try_all(device, &s, outputs, err);
    free(s.memory);
    return status;
}
