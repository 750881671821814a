/* SPDX-License-Identifier: Apache-2.0 */
#include "test_ops.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "codelets.h"

void test_call_init(test_call *c, unsigned function)
{
    memset(c, 0, sizeof *c);
    c->call = (hac_op_call){.magic = HAC_OP_MAGIC, .function = function};
    c->program = (hac_text)HAC_TEXT_NONE;
}

void test_call_clear(test_call *c)
{
    for (size_t i = 0; i < c->call.n_operands; i++)
        free(c->memory[i]);
    hac_text_clear(&c->program);
}

static uint64_t rounded(uint64_t bytes)
{
    return (bytes + 63) / 64 * 64;
}

static hac_op_operand *add(test_call *c, hac_op_operand o, uint64_t bytes)
{
    size_t i = c->call.n_operands++;
    o.span = (uint8_t)i;
    c->operands[i] = o;
    c->bytes[i] = bytes;
    c->memory[i] = test_guarded(bytes);
    return &c->operands[i];
}

void *test_dense(test_call *c, unsigned kind, uint64_t rows, uint64_t columns)
{
    hac_op_operand o = {
        .form = HAC_VECTOR_FIX_VALUE, .kind = (uint8_t)kind, .rows = rows, .columns = columns};
    add(c, o, rows * columns * hac_op_element_size(kind));
    return c->memory[c->call.n_operands - 1];
}

hac_op_operand *test_sparse(test_call *c, unsigned kind, uint64_t rows, uint64_t columns, uint64_t entries)
{
    uint64_t offsets = rounded((rows + 1) * 8), indices = rounded(entries * 4);
    hac_op_operand o = {.form = HAC_VECTOR_SPARSE_MATRIX,
                        .kind = (uint8_t)kind,
                        .rows = rows,
                        .columns = columns,
                        .entries = entries,
                        .indices = offsets,
                        .values = offsets + indices};
    return add(c, o, offsets + indices + entries * hac_op_element_size(kind));
}

static hac_op_operand *add_rows(test_call *c, hac_op_operand o, uint64_t size)
{
    o.columns = 1;
    o.values = rounded((o.rows + 1) * 8);
    return add(c, o, o.values + o.entries * size);
}

hac_op_operand *test_text(test_call *c, uint64_t rows, uint64_t characters)
{
    hac_op_operand o = {
        .form = HAC_VECTOR_SPARSE_TEXT, .kind = HAC_KIND_STRING, .rows = rows, .entries = characters};
    return add_rows(c, o, 1);
}

hac_op_operand *test_variable(test_call *c, unsigned kind, uint64_t rows, uint64_t entries)
{
    hac_op_operand o = {
        .form = HAC_VECTOR_VARIABLE_LEN, .kind = (uint8_t)kind, .rows = rows, .entries = entries};
    return add_rows(c, o, hac_op_element_size(kind));
}

void *test_values(const test_call *c, size_t operand)
{
    return c->memory[operand] + c->operands[operand].values;
}

uint64_t *test_offsets(const test_call *c, size_t operand)
{
    return (uint64_t *)(void *)(c->memory[operand] + c->operands[operand].offsets);
}

uint32_t *test_indices(const test_call *c, size_t operand)
{
    return (uint32_t *)(void *)(c->memory[operand] + c->operands[operand].indices);
}

void test_program(test_call *c, hac_program_builder *builder, hac_value_id value, unsigned kind)
{
    hac_program *program = NULL;
    hac_error err = HAC_ERROR_NONE;
    hac_program_builder_output(builder, value, (hac_value_type){.kind = (uint8_t)kind});
    if (hac_program_builder_finish(builder, &program, &err) != HAC_OK)
        fail_msg("%s", err.message);
    hac_program_write(program, &c->program);
    hac_program_free(program);
}

void test_call_pack(test_call *c)
{
    uint8_t *at = c->inline_in;
    c->call.program_bytes = (uint32_t)c->program.bytes;
    memcpy(at, &c->call, sizeof c->call);
    at += sizeof c->call;
    memcpy(at, c->operands, c->call.n_operands * sizeof *c->operands);
    at += c->call.n_operands * sizeof *c->operands;
    if (c->program.bytes != 0)
        memcpy(at, c->program.data, c->program.bytes);
    c->task = (hac_task){.n_spans = c->call.n_operands,
                         .fd = -1,
                         .inline_in = c->inline_in,
                         .inline_in_bytes = (size_t)(at - c->inline_in) + c->program.bytes};
    for (size_t i = 0; i < c->call.n_operands; i++)
        c->task.spans[i] = (hac_span){c->memory[i], c->bytes[i]};
}

hac_status test_run(test_call *c, hac_device *device, const char *codelet, uint64_t first, uint64_t count)
{
    static const hac_device_facts none = {.max_allocation = UINT64_MAX};
    const hac_codelet *found = hac_codelet_find(codelet);
    assert_non_null(found);
    test_call_pack(c);
    c->task.first = first;
    c->task.count = count;
    c->task.type = hac_op_type(codelet, c->operands, c->call.n_operands);
    c->result = (hac_task_result){0};
    c->err = (hac_error)HAC_ERROR_NONE;
    hac_status status =
        found->check(device == NULL ? &none : hac_device_get_facts(device), &c->task, &c->err);
    return status == HAC_OK ? found->run(device, &c->task, &c->result, &c->err) : status;
}

void test_run_well(test_call *c, hac_device *device, const char *codelet, uint64_t rows, uint64_t step)
{
    uint64_t first = 0;
    do {
        uint64_t count = rows - first < step ? rows - first : step;
        if (test_run(c, device, codelet, first, count) != HAC_OK)
            fail_msg("%s, rows %llu + %llu: %s", codelet, (unsigned long long)first,
                     (unsigned long long)count, c->err.message);
        first += count;
    } while (first < rows);
    for (size_t i = 0; i < c->call.n_operands; i++)
        assert_true(test_guard_is_whole(c->memory[i], c->bytes[i]));
}

static double float_value(uint64_t r, bool odd)
{
    static const double edges[] = {0.0, -0.0, 1.0, -1.0, 1e-300, 1e300, INFINITY, -INFINITY, NAN, 0x1p-1070};
    if (r % 16 == 0)
        return edges[(r >> 8) % (odd ? 10 : 4)];
    return (double)((int64_t)(r >> 20) % 1000003) / 4093.0;
}

static int64_t whole_value(uint64_t r, unsigned kind, bool odd)
{
    int64_t whole = odd && r % 8 == 0 ? (int64_t)(r >> 16) : (int64_t)(r >> 8) % 1000 - 500;
    if (kind == HAC_KIND_U32 || kind == HAC_KIND_U64 || kind == HAC_KIND_BOOL)
        whole = whole < 0 ? -whole : whole;
    return kind == HAC_KIND_BOOL ? whole % 2 : whole;
}

void test_fill(void *values, unsigned kind, uint64_t n, uint64_t *state, bool odd)
{
    uint8_t *to = values;
    size_t size = hac_op_element_size(kind);
    for (uint64_t i = 0; i < n; i++, to += size) {
        uint64_t r = hac_random_u64(state);
        if (kind == HAC_KIND_F64 || kind == HAC_KIND_F32) {
            double d = float_value(r, odd);
            float f = (float)d;
            memcpy(to, kind == HAC_KIND_F64 ? (const void *)&d : (const void *)&f, size);
        } else {
            int64_t whole = whole_value(r, kind, odd);
            memcpy(to, &whole, size);
        }
    }
}
