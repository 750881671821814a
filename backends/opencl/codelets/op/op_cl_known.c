/* SPDX-License-Identifier: Apache-2.0 */
/* Known answers of op.*.cl: what the sub-operators in C give, over whole blocks and parts of blocks. */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/random.h"
#include "op_cl.h"

#define ROWS    (2 * HAC_OP_KEY_BLOCK + HAC_OP_BLOCK + 77)
#define COLUMNS 5
#define OTHERS  19 /* rows of B, or keys */

typedef struct op_trial {
    hac_op_call call;
    hac_op_operand operands[HAC_OP_OPERANDS_MAX];
    uint8_t *memory[HAC_OP_OPERANDS_MAX];
    uint64_t bytes[HAC_OP_OPERANDS_MAX];
    hac_text program;
    uint64_t state;
    bool failed; /* out of memory */
} op_trial;

static void trial_clear(op_trial *t)
{
    for (size_t i = 0; i < t->call.n_operands; i++)
        free(t->memory[i]);
    hac_text_clear(&t->program);
    *t = (op_trial){.program = HAC_TEXT_NONE, .state = t->state};
    t->call.magic = HAC_OP_MAGIC;
}

/* Numbers below `limit`; floats have eighths. */
static void fill(uint8_t *to, unsigned kind, uint64_t n, uint64_t limit, uint64_t *state)
{
    size_t size = hac_op_element_size(kind);
    for (uint64_t i = 0; i < n; i++) {
        uint64_t whole = hac_random_u64(state) % limit;
        double d = (double)whole / 8 - 3;
        float f = (float)d;
        memcpy(to + i * size,
               kind == HAC_KIND_F64   ? (const void *)&d
               : kind == HAC_KIND_F32 ? (const void *)&f
                                      : (const void *)&whole,
               size);
    }
}

static hac_op_operand *add(op_trial *t, unsigned kind, uint64_t rows, uint64_t columns, uint64_t limit)
{
    size_t i = t->call.n_operands++;
    t->operands[i] = (hac_op_operand){.form = HAC_VECTOR_FIX_VALUE,
                                      .kind = (uint8_t)kind,
                                      .span = (uint8_t)i,
                                      .rows = rows,
                                      .columns = columns};
    t->bytes[i] = rows * columns * hac_op_element_size(kind);
    t->memory[i] = hac_op_alloc(t->bytes[i], 1);
    t->failed |= t->memory[i] == NULL;
    if (t->memory[i] != NULL && limit != 0)
        fill(t->memory[i], kind, rows * columns, limit, &t->state);
    else if (t->memory[i] != NULL)
        memset(t->memory[i], 0, t->bytes[i]);
    return &t->operands[i];
}

/* A sparse matrix of ROWS × OTHERS; row i has i % 4 entries. */
static void add_sparse(op_trial *t, unsigned kind)
{
    uint64_t entries = 0, offsets = (ROWS + 1) * 8 / 64 * 64 + 64, indices = 2 * ROWS * 4 / 64 * 64 + 64;
    hac_op_operand *o = add(t, kind, ROWS, OTHERS, 0);
    size_t i = t->call.n_operands - 1u;
    free(t->memory[i]);
    o->form = HAC_VECTOR_SPARSE_MATRIX;
    o->entries = 2 * ROWS;
    o->indices = offsets;
    o->values = offsets + indices;
    t->bytes[i] = o->values + o->entries * hac_op_element_size(kind);
    t->memory[i] = hac_op_alloc(t->bytes[i], 1);
    t->failed |= t->memory[i] == NULL;
    if (t->failed)
        return;
    for (uint64_t row = 0; row < ROWS; row++) {
        ((uint64_t *)(void *)t->memory[i])[row] = entries;
        entries += row % 4;
    }
    ((uint64_t *)(void *)t->memory[i])[ROWS] = entries;
    for (uint64_t e = 0; e < o->entries; e++)
        ((uint32_t *)(void *)(t->memory[i] + offsets))[e] = (uint32_t)(hac_random_u64(&t->state) % OTHERS);
    fill(t->memory[i] + o->values, kind, o->entries, 1000, &t->state);
}

static hac_status run_one(op_trial *t, hac_device *device, const char *name, bool kernels, hac_error *err)
{
    hac_autofree uint8_t *bytes = malloc(HAC_OP_CALL_MAX);
    hac_task_result result = {0};
    if (bytes == NULL || t->failed)
        return hac_fail_no_memory(err);
    size_t operands = t->call.n_operands * sizeof *t->operands;
    t->call.program_bytes = (uint32_t)t->program.bytes;
    memcpy(bytes, &t->call, sizeof t->call);
    memcpy(bytes + sizeof t->call, t->operands, operands);
    if (t->program.bytes != 0)
        memcpy(bytes + sizeof t->call + operands, t->program.data, t->program.bytes);
    hac_task task = {.n_spans = t->call.n_operands,
                     .fd = -1,
                     .type = hac_op_type(name, t->operands, t->call.n_operands),
                     .inline_in = bytes,
                     .inline_in_bytes = sizeof t->call + operands + t->program.bytes};
    for (size_t i = 0; i < t->call.n_operands; i++)
        task.spans[i] = (hac_span){t->memory[i], t->bytes[i]};
    if (!kernels)
        return hac_op_run(name, &task, &result, err);
    hac_status status = hac_op_cl_check(name, hac_device_get_facts(device), &task, err);
    return status == HAC_OK ? hac_op_cl_run(name, device, &task, &result, err) : status;
}

/* Runs the sub-operator in C and as kernels, and compares the first operand. A refusal by the device is no
 * wrong answer. */
static hac_status compare(op_trial *t, hac_device *device, const char *name, unsigned function,
                          hac_error *err)
{
    t->call.function = function;
    if (t->failed)
        return hac_fail_no_memory(err);
    hac_status status = run_one(t, device, name, false, err);
    if (status != HAC_OK)
        return status;
    hac_autofree uint8_t *expected = malloc(t->bytes[0] + 1);
    if (expected == NULL)
        return hac_fail_no_memory(err);
    memcpy(expected, t->memory[0], t->bytes[0]);
    memset(t->memory[0], 0x5a, t->bytes[0]);
    status = run_one(t, device, name, true, err);
    if (status == HAC_UNSUPPORTED)
        status = HAC_OK;
    else if (status == HAC_OK && memcmp(expected, t->memory[0], t->bytes[0]) != 0)
        status = hac_fail(err, HAC_DEVICE, "%s.cl, function %u: not what the host computes", name, function);
    memcpy(t->memory[0], expected, t->bytes[0]);
    return status;
}

/* ---- op.expr ---- */

/* x1 + x1, or x1 < 20. */
static hac_status add_program(op_trial *t, unsigned kind, bool filter, hac_error *err)
{
    hac_program_builder *b = NULL;
    hac_program *program = NULL;
    bool floats = kind == HAC_KIND_F32;
    float limit = 20;
    uint64_t bits = 20;
    HAC_OP_TRY(hac_program_builder_new(&b, err));
    if (floats) {
        bits = 0;
        memcpy(&bits, &limit, sizeof limit);
    }
    hac_value_id x = hac_program_builder_input(b, 0, (hac_value_type){.kind = (uint8_t)kind}), value;
    if (filter) {
        hac_value_id with = hac_program_builder_constant(b, floats ? HAC_REPR_F32 : HAC_REPR_I64, bits, 0);
        value = hac_program_builder_op(b, floats ? HAC_OP_LT_F32 : HAC_OP_LT_I64, x, with, 0, 0);
    } else {
        value = hac_program_builder_op(b, floats ? HAC_OP_ADD_F32 : HAC_OP_ADD_I64, x, x, 0, 0);
    }
    hac_program_builder_output(b, value, (hac_value_type){.kind = filter ? HAC_KIND_BOOL : (uint8_t)kind});
    hac_status status = hac_program_builder_finish(b, &program, err);
    hac_program_builder_free(b);
    if (status != HAC_OK)
        return status;
    hac_program_write(program, &t->program);
    hac_program_free(program);
    return HAC_OK;
}

static hac_status try_programs(hac_device *device, op_trial *t, unsigned kind, hac_error *err)
{
    hac_status status;
    trial_clear(t);
    add(t, kind, ROWS, 1, 0);
    add(t, kind, ROWS, 1, 1000);
    status = add_program(t, kind, false, err);
    if (status == HAC_OK)
        status = compare(t, device, "op.map", 0, err);
    trial_clear(t);
    add(t, HAC_KIND_U64, ROWS / HAC_OP_BLOCK + 1, 1, 0);
    add(t, kind, ROWS, 1, 300);
    if (status == HAC_OK)
        status = add_program(t, kind, true, err);
    if (status == HAC_OK)
        status = compare(t, device, "op.filter_count", 0, err);
    uint8_t *counts = t->memory[0], *x = t->memory[1]; /* counted by the codelet in C */
    if (status == HAC_OK) {
        t->memory[2] = counts;
        t->operands[2] = t->operands[0];
        t->bytes[2] = t->bytes[0];
        t->memory[0] = hac_op_alloc(ROWS, 8);
        t->failed |= t->memory[0] == NULL;
        t->operands[0] = t->operands[1];
        t->bytes[0] = t->bytes[1];
        t->operands[3] = t->operands[1];
        t->memory[3] = x;
        t->bytes[3] = t->bytes[1];
        t->operands[2].span = 2;
        t->operands[0].span = 0;
        t->call.n_operands = 4;
        if (t->memory[0] != NULL)
            memset(t->memory[0], 0x5a, ROWS * 8);
        status = compare(t, device, "op.filter_copy", 0, err);
        t->call.n_operands = 3;
    }
    return status;
}

static hac_status try_reductions(hac_device *device, op_trial *t, unsigned kind, hac_error *err)
{
    static const uint8_t functions[] = {HAC_OP_SUM,     HAC_OP_MIN,      HAC_OP_MAX,      HAC_OP_SQUARES,
                                        HAC_OP_LARGEST, HAC_OP_PRODUCTS, HAC_OP_MAGNITUDE};
    for (size_t i = 0; i < sizeof functions; i++) {
        trial_clear(t);
        add(t, kind, ROWS / HAC_OP_BLOCK + 1, 1, 0);
        add(t, kind, ROWS, 1, 1000);
        if (functions[i] == HAC_OP_PRODUCTS)
            add(t, kind, ROWS, 1, 1000);
        HAC_OP_TRY(compare(t, device, "op.reduce", functions[i], err));
    }
    for (unsigned function = HAC_OP_ARGMIN; function <= HAC_OP_ARGMAX; function++) {
        trial_clear(t);
        add(t, kind, ROWS / HAC_OP_BLOCK + 1, 16 / hac_op_element_size(kind), 0);
        add(t, kind, ROWS, 1, 1000);
        HAC_OP_TRY(compare(t, device, "op.reduce", function, err));
    }
    trial_clear(t);
    add(t, kind, 1, 1, 0);
    add(t, kind, HAC_OP_BLOCK + 17, 1, 1000);
    return compare(t, device, "op.combine", HAC_OP_SUM, err);
}

hac_status hac_op_expr_known(hac_device *device, hac_type type, hac_error *err)
{
    static const uint8_t kinds[] = {HAC_KIND_F32, HAC_KIND_I64, HAC_KIND_U64, HAC_KIND_F64};
    op_trial t = {.program = HAC_TEXT_NONE, .state = 1};
    hac_status status = HAC_OK;
    if (type != HAC_TYPE_U32) /* programs have their own types, so one type is enough */
        return HAC_OK;
    for (size_t i = 0; status == HAC_OK && i < sizeof kinds; i++) {
        if (kinds[i] == HAC_KIND_F64 && !hac_device_get_facts(device)->fp64)
            continue;
        status = i < 2 ? try_programs(device, &t, kinds[i], err) : HAC_OK;
        if (status == HAC_OK)
            status = try_reductions(device, &t, kinds[i], err);
    }
    trial_clear(&t);
    return status;
}

/* ---- op.<number> ---- */

static hac_status try_scan(hac_device *device, op_trial *t, unsigned kind, hac_error *err)
{
    trial_clear(t);
    add(t, kind, ROWS / HAC_OP_BLOCK + 1, 1, 0);
    add(t, kind, ROWS, 1, 1000);
    HAC_OP_TRY(compare(t, device, "op.scan_sums", HAC_OP_SUM, err));
    trial_clear(t);
    add(t, kind, ROWS, 1, 0);
    add(t, kind, ROWS, 1, 1000);
    add(t, kind, ROWS / HAC_OP_BLOCK + 1, 1, 1000);
    HAC_OP_TRY(compare(t, device, "op.scan", HAC_OP_SUM, err));
    return compare(t, device, "op.scan", HAC_OP_MIN, err);
}

static hac_status try_rows(hac_device *device, op_trial *t, unsigned kind, hac_error *err)
{
    trial_clear(t);
    add(t, kind, ROWS, 1, 0);
    add_sparse(t, kind);
    HAC_OP_TRY(compare(t, device, "op.row_reduce", HAC_OP_SUM, err));
    trial_clear(t);
    add(t, kind, ROWS, 1, 0);
    add(t, kind, ROWS, COLUMNS, 1000);
    HAC_OP_TRY(compare(t, device, "op.row_reduce", HAC_OP_LARGEST, err));
    trial_clear(t);
    add(t, HAC_KIND_U32, ROWS, 1, 0);
    add(t, kind, ROWS, COLUMNS, 1000);
    return compare(t, device, "op.arg_rows", HAC_OP_ARGMAX, err);
}

static hac_status try_products(hac_device *device, op_trial *t, unsigned kind, hac_error *err)
{
    trial_clear(t);
    add(t, kind, ROWS, 1, 0);
    add_sparse(t, kind);
    add(t, kind, OTHERS, 1, 1000);
    HAC_OP_TRY(compare(t, device, "op.spmv", 0, err));
    trial_clear(t);
    add(t, kind, 300, 1, 0);
    add(t, kind, 300, 1000, 1000);
    add(t, kind, 1000, 1, 1000);
    HAC_OP_TRY(compare(t, device, "op.gemv", 0, err));
    trial_clear(t);
    add(t, kind, 133, 151, 0);
    add(t, kind, 133, 170, 1000);
    add(t, kind, 170, 151, 1000);
    return compare(t, device, "op.gemm", 0, err);
}

static hac_status try_distances(hac_device *device, op_trial *t, unsigned kind, hac_error *err)
{
    for (unsigned function = HAC_OP_EUCLIDEAN; function <= HAC_OP_COSINE; function++) {
        trial_clear(t);
        add(t, kind, 1000, OTHERS, 0);
        add(t, kind, 1000, COLUMNS, 1000);
        add(t, kind, OTHERS, COLUMNS, 1000);
        HAC_OP_TRY(compare(t, device, "op.distance", function, err));
        trial_clear(t);
        add(t, HAC_KIND_U32, 1000, 1, 0);
        add(t, kind, 1000, COLUMNS, 1000);
        add(t, kind, OTHERS, COLUMNS, 1000);
        HAC_OP_TRY(compare(t, device, "op.nearest", function, err));
    }
    return HAC_OK;
}

static hac_status try_keys(hac_device *device, op_trial *t, unsigned kind, hac_error *err)
{
    for (unsigned function = HAC_OP_SUM; function <= HAC_OP_MAX; function++) {
        trial_clear(t);
        add(t, kind, 3 * OTHERS, COLUMNS + 1, 0);
        add(t, HAC_KIND_U32, ROWS, 1, OTHERS);
        add(t, kind, ROWS, COLUMNS, 1000);
        t->call.n = OTHERS;
        HAC_OP_TRY(compare(t, device, "op.keys", function, err));
    }
    return HAC_OK;
}

static hac_status try_combining(hac_device *device, op_trial *t, unsigned kind, hac_error *err)
{
    trial_clear(t);
    add(t, kind, OTHERS, 3, 0);
    add(t, kind, 7 * OTHERS, 3, 1000);
    HAC_OP_TRY(compare(t, device, "op.keys_combine", HAC_OP_SUM, err));
    if (kind != HAC_KIND_F64)
        return HAC_OK;
    static const uint8_t kinds[] = {HAC_KIND_F64, HAC_KIND_F32, HAC_KIND_I32,
                                    HAC_KIND_U32, HAC_KIND_I64, HAC_KIND_U64};
    for (size_t i = 0; i < sizeof kinds; i++) {
        trial_clear(t);
        add(t, HAC_KIND_U64, 3 * OTHERS, 1, 0);
        add(t, kinds[i], ROWS, 1, 1000);
        t->call.n = OTHERS;
        t->call.a = 0;
        t->call.b = 100;
        HAC_OP_TRY(compare(t, device, "op.histogram", 0, err));
    }
    return HAC_OK;
}

hac_status hac_op_number_known(hac_device *device, hac_type type, hac_error *err)
{
    static const uint8_t kinds[HAC_TYPE_COUNT] = {[HAC_TYPE_F32] = HAC_KIND_F32,
                                                  [HAC_TYPE_F64] = HAC_KIND_F64,
                                                  [HAC_TYPE_I64] = HAC_KIND_I64,
                                                  [HAC_TYPE_U64] = HAC_KIND_U64};
    unsigned kind = kinds[type];
    op_trial t = {.program = HAC_TEXT_NONE, .state = 2};
    if (kind == 0) /* narrow integers are widened, so their programs are those of wide integers */
        return HAC_OK;
    hac_status status = try_scan(device, &t, kind, err);
    if (status == HAC_OK)
        status = try_rows(device, &t, kind, err);
    if (status == HAC_OK && kind != HAC_KIND_U64)
        status = try_products(device, &t, kind, err);
    if (status == HAC_OK && hac_op_is_float(kind))
        status = try_distances(device, &t, kind, err);
    if (status == HAC_OK && (kind == HAC_KIND_F64 || kind == HAC_KIND_I64))
        status = try_keys(device, &t, kind, err);
    if (status == HAC_OK && kind != HAC_KIND_F32)
        status = try_combining(device, &t, kind, err);
    trial_clear(&t);
    return status;
}

/* ---- op.move ---- */

hac_status hac_op_move_known(hac_device *device, hac_type type, hac_error *err)
{
    op_trial t = {.program = HAC_TEXT_NONE, .state = 3};
    hac_status status = HAC_OK;
    if (type != HAC_TYPE_U32)
        return HAC_OK;
    for (uint64_t columns = 1; status == HAC_OK && columns <= 3; columns += 2) {
        trial_clear(&t);
        add(&t, HAC_KIND_F32, ROWS, columns, 0);
        add(&t, HAC_KIND_F32, 5000, columns, 1000);
        add(&t, HAC_KIND_U64, ROWS, 1, 5000);
        status = compare(&t, device, "op.gather", 0, err);
        trial_clear(&t);
        add(&t, HAC_KIND_U64, 5000, columns, 0);
        add(&t, HAC_KIND_U64, ROWS, columns, 1000);
        add(&t, HAC_KIND_U32, ROWS, 1, 5000);
        if (status == HAC_OK)
            status = compare(&t, device, "op.scatter", 0, err);
    }
    trial_clear(&t);
    return status;
}
