/* SPDX-License-Identifier: Apache-2.0 */
/* Makes calls of sub-operators, and memory for them, from a fuzzer's input. */
#ifndef FUZZ_CALLS_H
#define FUZZ_CALLS_H

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "codelets.h"
#include "expr/program.h"
#include "host/op.h"
#include "host/op_call.h"

#define SPAN_BYTES 4096 /* of each operand, allocated exactly */

static const char *const names[] = {
#define HAC_CODELET(name, ...) "op." #name,
#include "base/op_catalog.def"
};

typedef struct fuzz_source {
    const uint8_t *data;
    size_t bytes, at;
} fuzz_source;

static inline uint8_t next(fuzz_source *s)
{
    return s->at < s->bytes ? s->data[s->at++] : 0;
}

/* Valid programs: x1 + x1, and x1 > 3, of i64 and f64. */
static inline void add_program(hac_text *to, unsigned which)
{
    hac_program_builder *b = NULL;
    hac_program *program = NULL;
    hac_repr repr = which & 1 ? HAC_REPR_F64 : HAC_REPR_I64;
    hac_value_type type = {.kind = which & 1 ? HAC_KIND_F64 : HAC_KIND_I64};
    if (hac_program_builder_new(&b, NULL) != HAC_OK)
        abort();
    hac_value_id x = hac_program_builder_input(b, 0, type), value;
    if (which & 2)
        value = hac_program_builder_op(b, which & 1 ? HAC_OP_LT_F64 : HAC_OP_LT_I64,
                                       hac_program_builder_constant(b, repr, 3, 0), x, 0, 0);
    else
        value = hac_program_builder_op(b, which & 1 ? HAC_OP_ADD_F64 : HAC_OP_ADD_I64, x, x, 0, 0);
    hac_program_builder_output(b, value, which & 2 ? (hac_value_type){.kind = HAC_KIND_BOOL} : type);
    if (hac_program_builder_finish(b, &program, NULL) != HAC_OK)
        abort();
    hac_program_write(program, to);
    hac_program_free(program);
    hac_program_builder_free(b);
}

static inline uint64_t up(uint64_t bytes)
{
    return (bytes + 63) / 64 * 64;
}

static inline hac_op_operand make_operand(fuzz_source *s, uint8_t span)
{
    static const uint8_t kinds[] = {HAC_KIND_F64, HAC_KIND_I64, HAC_KIND_U32,  HAC_KIND_U64,
                                    HAC_KIND_F32, HAC_KIND_I32, HAC_KIND_BOOL, HAC_KIND_F64};
    static const uint8_t forms[] = {HAC_VECTOR_FIX_VALUE,     HAC_VECTOR_FIX_VALUE,   HAC_VECTOR_FIX_VALUE,
                                    HAC_VECTOR_SPARSE_MATRIX, HAC_VECTOR_SPARSE_TEXT, HAC_VECTOR_VARIABLE_LEN,
                                    HAC_VECTOR_FIX_VALUE,     HAC_VECTOR_SPARSE_VALUE};
    uint8_t what = next(s), rows = next(s), columns = next(s);
    hac_op_operand o = {.form = forms[what & 7],
                        .kind = kinds[what >> 3 & 7],
                        .ones = what >> 6 == 3,
                        .span = span,
                        .rows = rows % 40,
                        .columns = 1 + (columns < 200 ? 0 : columns % 8u),
                        .entries = 3 * (uint64_t)(columns % 32)};
    if (o.form == HAC_VECTOR_SPARSE_TEXT)
        o.kind = HAC_KIND_STRING;
    o.offsets = 0;
    o.indices = up((o.rows + 1) * 8);
    o.values = hac_op_element_size(o.kind) == 0 || o.form != HAC_VECTOR_FIX_VALUE
                   ? o.indices + (o.form == HAC_VECTOR_SPARSE_MATRIX ? up(o.entries * 4) : 0)
                   : 0;
    if (o.form == HAC_VECTOR_SPARSE_VALUE)
        o.values = o.indices + up(o.entries * 8);
    return o;
}

/* Writes the call's bytes. Returns their number; 0: they do not fit. */
static inline size_t make_call(fuzz_source *s, uint8_t kind, uint8_t *call)
{
    size_t at = sizeof(hac_op_call), n = kind % (HAC_OP_OPERANDS_MAX + 1u);
    hac_text program = HAC_TEXT_NONE;
    hac_op_call c = {.magic = HAC_OP_MAGIC,
                     .function = next(s) % (HAC_OP_FUNCTION_END + 1u),
                     .n_operands = (uint32_t)n,
                     .flags = next(s) % 9u,
                     .a = (double)next(s),
                     .b = (double)next(s),
                     .n = next(s) % 64u};
    for (size_t i = 0; i < n; i++, at += sizeof(hac_op_operand)) {
        hac_op_operand o = make_operand(s, (uint8_t)i);
        memcpy(call + at, &o, sizeof o);
    }
    if (kind & 64) {
        add_program(&program, next(s) % 4);
        c.program_bytes = (uint32_t)program.bytes;
        memcpy(call + at, program.data, program.bytes);
        at += program.bytes;
    }
    hac_text_clear(&program);
    memcpy(call, &c, sizeof c);
    return at;
}

static inline void fill(uint8_t *to, fuzz_source *s, uint8_t small)
{
    for (size_t i = 0; i < SPAN_BYTES; i++) {
        if (s->at == s->bytes)
            s->at = s->bytes < 8 ? 0 : s->bytes / 2;
        to[i] = small && i % 8 != 0 ? 0 : next(s); /* numbers that can be indices or offsets */
    }
}

static inline void make_spans(hac_task *task, fuzz_source *s, uint8_t small)
{
    for (size_t i = 0; i < HAC_SPANS_MAX; i++) {
        task->spans[i] = (hac_span){aligned_alloc(64, SPAN_BYTES), SPAN_BYTES};
        if (task->spans[i].data == NULL)
            abort();
        fill(task->spans[i].data, s, small);
    }
}

/* Runs what passes the check, and frees the memory. */
static inline void try_task(const char *name, hac_task *task)
{
    const hac_codelet *codelet = hac_codelet_find(name);
    hac_task_result result = {0};
    hac_error err = HAC_ERROR_NONE;
    if (codelet == NULL)
        abort();
    if (codelet->check(NULL, task, &err) == HAC_OK)
        (void)!codelet->run(NULL, task, &result, &err);
    if (result.n_values > HAC_TASK_VALUES_MAX)
        abort();
    for (size_t i = 0; i < HAC_SPANS_MAX; i++)
        free(task->spans[i].data);
}

#endif
