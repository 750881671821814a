/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs as bytes, little-endian:
 *
 *   u32 magic   u16 inputs, registers, instructions, constants, outputs   u32 bytes
 *   inputs        u8 kind, precision, scale
 *   registers     u8 representation
 *   instructions  u8 result, a, b, c   u16 operation, immediate
 *   constants     u8 representation   u64 low   for i128, strings and lists: u64 high
 *   outputs       u8 register, kind, precision, scale
 *   bytes
 */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "op_info.h"

HAC_DEFINE_CLEANUP(hac_program *, hac_program_free)

#define MAGIC UINT64_C(0x32475048) /* "HPG2"; the digit is the version */

static void put(hac_text *text, uint64_t value, unsigned bytes)
{
    char little[8];
    for (unsigned i = 0; i < bytes; i++)
        little[i] = (char)(value >> 8 * i);
    hac_text_add_bytes(text, little, bytes);
}

static void put_type(hac_text *text, hac_value_type type)
{
    put(text, type.kind, 1);
    put(text, type.precision, 1);
    put(text, type.scale, 1);
}

static bool has_high(unsigned repr)
{
    return repr == HAC_REPR_NONE || repr == HAC_REPR_I128 || repr == HAC_REPR_STRING;
}

static void put_instruction(hac_text *text, const hac_instruction *at)
{
    put(text, at->result, 1);
    put(text, at->a, 1);
    put(text, at->b, 1);
    put(text, at->c, 1);
    put(text, at->op, 2);
    put(text, at->k, 2);
}

void hac_program_write(const hac_program *program, hac_text *ret)
{
    put(ret, MAGIC, 4);
    put(ret, program->n_inputs, 2);
    put(ret, program->n_registers, 2);
    put(ret, program->n_instructions, 2);
    put(ret, program->n_constants, 2);
    put(ret, program->n_outputs, 2);
    put(ret, program->n_bytes, 4);
    for (size_t i = 0; i < program->n_inputs; i++)
        put_type(ret, program->inputs[i]);
    for (size_t i = 0; i < program->n_registers; i++)
        put(ret, program->registers[i], 1);
    for (size_t i = 0; i < program->n_instructions; i++)
        put_instruction(ret, &program->instructions[i]);
    for (size_t i = 0; i < program->n_constants; i++) {
        put(ret, program->constants[i].repr, 1);
        put(ret, program->constants[i].low, 8);
        if (has_high(program->constants[i].repr))
            put(ret, program->constants[i].high, 8);
    }
    for (size_t i = 0; i < program->n_outputs; i++) {
        put(ret, program->outputs[i].reg, 1);
        put_type(ret, program->outputs[i].type);
    }
    if (program->n_bytes > 0)
        hac_text_add_bytes(ret, (const char *)program->bytes, program->n_bytes);
}

/* The bytes that are left. After `ended`, the bytes were too few and all reads give 0. */
typedef struct program_reader {
    const uint8_t *at, *end;
    bool ended;
} program_reader;

static uint64_t get(program_reader *r, unsigned bytes)
{
    uint64_t value = 0;
    if ((size_t)(r->end - r->at) < bytes) {
        r->ended = true;
        r->at = r->end;
        return 0;
    }
    for (unsigned i = 0; i < bytes; i++)
        value |= (uint64_t)r->at[i] << 8 * i;
    r->at += bytes;
    return value;
}

static hac_value_type get_type(program_reader *r)
{
    hac_value_type type = {.kind = (uint8_t)get(r, 1)};
    type.precision = (uint8_t)get(r, 1);
    type.scale = (uint8_t)get(r, 1);
    return type;
}

static void get_counts(program_reader *r, hac_program *ret)
{
    ret->n_inputs = get(r, 2);
    ret->n_registers = get(r, 2);
    ret->n_instructions = get(r, 2);
    ret->n_constants = get(r, 2);
    ret->n_outputs = get(r, 2);
    ret->n_bytes = get(r, 4);
}

/* Whether the remaining bytes can hold so many elements: memory is only allocated for elements that can
 * exist. */
static bool plausible(const program_reader *r, const hac_program *p)
{
    uint64_t min = p->n_inputs * 3 + p->n_registers + p->n_instructions * 8 + p->n_constants * 9 +
                   p->n_outputs * 4 + p->n_bytes;
    return !r->ended && min <= (uint64_t)(r->end - r->at);
}

static bool allocate(hac_program *p)
{
    p->inputs = calloc(p->n_inputs + 1, sizeof *p->inputs);
    p->registers = calloc(p->n_registers + 1, 1);
    p->instructions = calloc(p->n_instructions + 1, sizeof *p->instructions);
    p->constants = calloc(p->n_constants + 1, sizeof *p->constants);
    p->outputs = calloc(p->n_outputs + 1, sizeof *p->outputs);
    p->bytes = calloc(p->n_bytes + 1, 1);
    return p->inputs != NULL && p->registers != NULL && p->instructions != NULL && p->constants != NULL &&
           p->outputs != NULL && p->bytes != NULL;
}

static void get_instruction(program_reader *r, hac_instruction *ret)
{
    ret->result = (uint16_t)get(r, 1);
    ret->a = (uint16_t)get(r, 1);
    ret->b = (uint16_t)get(r, 1);
    ret->c = (uint16_t)get(r, 1);
    ret->op = (uint16_t)get(r, 2);
    ret->k = (uint16_t)get(r, 2);
}

static void get_parts(program_reader *r, hac_program *p)
{
    for (size_t i = 0; i < p->n_inputs; i++)
        p->inputs[i] = get_type(r);
    for (size_t i = 0; i < p->n_registers; i++)
        p->registers[i] = (uint8_t)get(r, 1);
    for (size_t i = 0; i < p->n_instructions; i++)
        get_instruction(r, &p->instructions[i]);
    for (size_t i = 0; i < p->n_constants; i++) {
        p->constants[i].repr = (uint8_t)get(r, 1);
        p->constants[i].low = get(r, 8);
        if (has_high(p->constants[i].repr))
            p->constants[i].high = get(r, 8);
    }
    for (size_t i = 0; i < p->n_outputs; i++) {
        p->outputs[i].reg = (uint16_t)get(r, 1);
        p->outputs[i].type = get_type(r);
    }
    if ((size_t)(r->end - r->at) < p->n_bytes) {
        r->ended = true;
        return;
    }
    memcpy(p->bytes, r->at, p->n_bytes);
    r->at += p->n_bytes;
}

hac_status hac_program_read(const uint8_t *data, size_t bytes, size_t *ret_used, hac_program **ret,
                            hac_error *err)
{
    if (bytes == 0)
        return hac_fail(err, HAC_INVALID, "program: no bytes");
    program_reader r = {data, data + bytes, false};
    if (get(&r, 4) != MAGIC)
        return hac_fail(err, HAC_INVALID, "program: the bytes are not a program of this version");
    hac_cleanup(hac_program_free_cleanup) hac_program *program = calloc(1, sizeof *program);
    if (program == NULL)
        return hac_fail_no_memory(err);
    get_counts(&r, program);
    if (!plausible(&r, program))
        return hac_fail(err, HAC_INVALID, "program: %zu bytes are too few", bytes);
    if (!allocate(program))
        return hac_fail_no_memory(err);
    get_parts(&r, program);
    if (r.ended)
        return hac_fail(err, HAC_INVALID, "program: %zu bytes are too few", bytes);
    hac_status status = hac_program_verify(program, err);
    if (status != HAC_OK)
        return status;
    *ret_used = (size_t)(r.at - data);
    *ret = hac_steal_ptr(program);
    return HAC_OK;
}
