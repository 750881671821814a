/* SPDX-License-Identifier: Apache-2.0 */
#include "host/op_call.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"

hac_status hac_op_fail(hac_error *err, size_t operand, const char *fmt, ...)
{
    char text[HAC_ERROR_MESSAGE_SIZE];
    va_list arguments;
    va_start(arguments, fmt);
    vsnprintf(text, sizeof text, fmt, arguments);
    va_end(arguments);
    return hac_fail(err, HAC_INVALID, "operand %zu: %s", operand, text);
}

hac_status hac_op_fail_offsets(hac_error *err, size_t operand, const hac_op_vector *v, uint64_t row)
{
    return hac_op_fail(err, operand, "row %llu: its offsets do not ascend, or lie outside of %llu entries",
                       (unsigned long long)(v->first + row), (unsigned long long)v->entries);
}

bool hac_op_is_dense(const hac_op_vector *v)
{
    return hac_op_form_is_dense(v->form);
}

bool hac_op_is_float(unsigned kind)
{
    return kind == HAC_KIND_F32 || kind == HAC_KIND_F64;
}

bool hac_op_is_index(const hac_op_vector *v)
{
    return hac_op_is_dense(v) && v->columns == 1 && !hac_op_is_float(v->kind) && v->kind != HAC_KIND_BOOL;
}

unsigned hac_op_sum_kind(unsigned kind)
{
    switch (kind) {
    case HAC_KIND_I32:
    case HAC_KIND_I64:
        return HAC_KIND_I64;
    case HAC_KIND_F32:
    case HAC_KIND_F64:
        return kind;
    default:
        return HAC_KIND_U64;
    }
}

/* ---- operands ---- */

static hac_status place(const hac_span *span, size_t operand, const char *part, uint64_t offset, uint64_t n,
                        uint64_t size, uint8_t **ret, hac_error *err)
{
    /* empty parts point here, so that no pointer is NULL */
    static _Alignas(HAC_ALIGNMENT) uint8_t nothing[HAC_ALIGNMENT];
    uint64_t bytes;
    *ret = nothing;
    if (__builtin_mul_overflow(n, size, &bytes))
        return hac_op_fail(err, operand, "%llu %s are more than any memory", (unsigned long long)n, part);
    if (bytes == 0)
        return HAC_OK;
    if (offset % HAC_ALIGNMENT != 0)
        return hac_op_fail(err, operand, "its %s begin at byte %llu, which is no multiple of %d", part,
                           (unsigned long long)offset, HAC_ALIGNMENT);
    if (offset > span->bytes || bytes > span->bytes - offset)
        return hac_op_fail(err, operand, "its %s (%llu bytes from %llu on) are outside of a span of %llu",
                           part, (unsigned long long)bytes, (unsigned long long)offset,
                           (unsigned long long)span->bytes);
    *ret = span->data + offset;
    return HAC_OK;
}

static hac_status place_dense(const hac_op_operand *o, const hac_span *span, size_t operand, hac_op_vector *v,
                              hac_error *err)
{
    uint64_t elements;
    if (__builtin_mul_overflow(o->rows, o->columns, &elements))
        return hac_op_fail(err, operand, "%llu x %llu elements are more than any memory",
                           (unsigned long long)o->rows, (unsigned long long)o->columns);
    if (hac_op_layout_of(o->form)->one_row && o->rows != 1)
        return hac_op_fail(err, operand, "a Var has one row, not %llu", (unsigned long long)o->rows);
    v->entries = elements;
    return place(span, operand, "values", o->values, elements, v->size, &v->values, err);
}

/* Forms whose rows are found through offsets. */
static hac_status place_rows(const hac_op_operand *o, const hac_span *span, size_t operand, hac_op_vector *v,
                             hac_error *err)
{
    uint64_t n;
    uint8_t *offsets = NULL, *indices = NULL;
    if (__builtin_add_overflow(o->rows, 1, &n))
        return hac_op_fail(err, operand, "too many rows");
    hac_status status = place(span, operand, "offsets", o->offsets, n, 8, &offsets, err);
    if (status == HAC_OK)
        status =
            place(span, operand, "values", o->values, v->ones ? 0 : o->entries, v->size, &v->values, err);
    if (status == HAC_OK && hac_op_layout_of(o->form)->index_bytes > 0)
        status = place(span, operand, "indices", o->indices, o->entries,
                       hac_op_layout_of(o->form)->index_bytes, &indices, err);
    v->offsets = (uint64_t *)(void *)offsets;
    v->indices = indices;
    return status;
}

static hac_status place_sparse(const hac_op_operand *o, const hac_span *span, size_t operand,
                               hac_op_vector *v, hac_error *err)
{
    uint8_t *indices = NULL;
    hac_status status = place(span, operand, "values", o->values, o->entries, v->size, &v->values, err);
    if (status == HAC_OK)
        status = place(span, operand, "indices", o->indices, o->entries, 8, &indices, err);
    v->indices = indices;
    return status;
}

static hac_status read_operand(const hac_op_rule *rule, const hac_op_operand *o, const hac_task *task,
                               size_t operand, hac_op_vector *v, hac_error *err)
{
    const hac_op_layout *layout = hac_op_layout_of(o->form);
    bool text = layout->text;
    if (o->form <= HAC_VECTOR_NONE || o->form >= HAC_VECTOR_END)
        return hac_op_fail(err, operand, "template %u is not known", o->form);
    if (text ? o->kind != HAC_KIND_STRING : hac_op_element_size(o->kind) == 0)
        return hac_op_fail(err, operand, "elements of kind %u do not fit this template", o->kind);
    if (o->span >= task->n_spans)
        return hac_op_fail(err, operand, "span %u of %zu", o->span, task->n_spans);
    if (o->unused != 0)
        return hac_op_fail(err, operand, "unused bytes are not 0");
    if (o->ones > 1 || (o->ones == 1 && (operand != rule->op->ones || o->form != HAC_VECTOR_SPARSE_MATRIX ||
                                         o->kind != HAC_KIND_F64)))
        return hac_op_fail(err, operand, "it must have values");
    if (o->columns == 0 || (o->columns > 1 && !layout->columns))
        return hac_op_fail(err, operand, "%llu columns", (unsigned long long)o->columns);
    *v = (hac_op_vector){.form = o->form,
                         .kind = o->kind,
                         .ones = o->ones == 1,
                         .size = text ? 1 : hac_op_element_size(o->kind),
                         .first = o->first,
                         .rows = o->rows,
                         .columns = o->columns,
                         .entries = o->entries};
    uint64_t end;
    if (__builtin_add_overflow(o->first, o->rows, &end))
        return hac_op_fail(err, operand, "its rows' numbers are too large");
    const hac_span *span = &task->spans[o->span];
    if (hac_op_is_dense(v))
        return place_dense(o, span, operand, v, err);
    if (!layout->offsets)
        return place_sparse(o, span, operand, v, err);
    return place_rows(o, span, operand, v, err);
}

/* ---- programs ---- */

static hac_status check_program(const hac_op_rule *rule, const hac_op_request *r, hac_error *err)
{
    const hac_program *p = r->program;
    if (p->n_outputs != 1)
        return hac_fail(err, HAC_INVALID, "a program of %zu outputs; one is needed", p->n_outputs);
    if (p->n_inputs > r->n - rule->op->program_at)
        return hac_fail(err, HAC_INVALID, "a program of %zu inputs over %zu operands", p->n_inputs,
                        r->n - rule->op->program_at);
    for (size_t i = 0; i < p->n_instructions; i++) {
        const hac_instruction *in = &p->instructions[i];
        if (in->op != HAC_OP_COLUMN)
            continue;
        const hac_op_vector *v = &r->v[rule->op->program_at + in->k];
        if (p->inputs[in->k].kind != v->kind)
            return hac_op_fail(err, rule->op->program_at + (size_t)in->k,
                               "its kind is not that of the program's input");
    }
    for (size_t i = rule->op->program_at; i < r->n; i++)
        if (!hac_op_is_dense(&r->v[i]))
            return hac_op_fail(err, i, "operands of a program must be dense");
    return HAC_OK;
}

static hac_status read_program(const hac_op_rule *rule, const hac_task *task, hac_op_request *r,
                               hac_error *err)
{
    size_t bytes = r->call.program_bytes, used = 0;
    if (bytes == 0)
        return rule->op->program == HAC_OP_PROGRAM_MUST ? hac_fail(err, HAC_INVALID, "there is no program")
                                                        : HAC_OK;
    if (rule->op->program == HAC_OP_PROGRAM_NONE)
        return hac_fail(err, HAC_INVALID, "it takes no program");
    hac_status status =
        hac_program_read(task->inline_in + task->inline_in_bytes - bytes, bytes, &used, &r->program, err);
    if (status != HAC_OK)
        return status;
    if (used != bytes)
        return hac_fail(err, HAC_INVALID, "%zu bytes follow the program", bytes - used);
    return check_program(rule, r, err);
}

uint64_t hac_op_constant_of(const hac_op_vector *v)
{
    if (v->size == 1)
        return __atomic_load_n(v->values, __ATOMIC_RELAXED) != 0;
    if (v->size == 8)
        return hac_op_once_u64((const uint64_t *)(const void *)v->values);
    uint32_t word = hac_op_once_u32((const uint32_t *)(const void *)v->values);
    return v->kind == HAC_KIND_I32 ? (uint64_t)(int64_t)(int32_t)word : word;
}

hac_status hac_op_bind_constants(hac_op_request *r, hac_error *err)
{
    const hac_op_rule *rule = r->rule;
    hac_program *p = r->program;
    if (p == NULL || r->n == rule->op->program_at)
        return HAC_OK;
    size_t capacity = p->n_constants + r->n;
    hac_constant *constants = realloc(p->constants, capacity * sizeof *constants);
    if (constants == NULL)
        return hac_fail_no_memory(err);
    p->constants = constants;
    for (size_t i = 0; i < p->n_instructions; i++) {
        hac_instruction *in = &p->instructions[i];
        size_t operand = rule->op->program_at + in->k;
        if (in->op != HAC_OP_COLUMN || !hac_op_is_one(&r->v[operand]))
            continue;
        if (r->bound[operand] == 0) {
            constants[p->n_constants] =
                (hac_constant){.repr = p->registers[in->result], .low = hac_op_constant_of(&r->v[operand])};
            r->bound[operand] = (uint16_t)++p->n_constants;
        }
        *in = (hac_instruction){
            .op = HAC_OP_CONSTANT, .result = in->result, .k = (uint16_t)(r->bound[operand] - 1)};
    }
    return HAC_OK;
}

bool hac_op_bind_again(hac_op_request *r)
{
    bool changed = false;
    for (size_t i = 0; i < r->n; i++) {
        if (r->bound[i] == 0)
            continue;
        hac_constant *constant = &r->program->constants[r->bound[i] - 1];
        uint64_t now = hac_op_constant_of(&r->v[i]);
        changed |= now != constant->low;
        constant->low = now;
    }
    return changed;
}

const hac_op_vector *hac_op_program_like(const hac_op_request *r, size_t from)
{
    for (size_t i = from; i < r->n; i++)
        if (!hac_op_is_one(&r->v[i]))
            return &r->v[i];
    return &r->v[from];
}

/* ---- the call ---- */

static hac_status read_head(const hac_op_rule *rule, const hac_task *task, hac_op_request *r, hac_error *err)
{
    if (task->inline_in_bytes < sizeof r->call || task->inline_in_bytes > HAC_OP_CALL_MAX)
        return hac_fail(err, HAC_INVALID, "a call of %zu bytes", task->inline_in_bytes);
    memcpy(&r->call, task->inline_in, sizeof r->call);
    const hac_op_call *c = &r->call;
    if (c->magic != HAC_OP_MAGIC)
        return hac_fail(err, HAC_INVALID, "this is no call of a sub-operator");
    if (c->n_operands < rule->op->operands_min || c->n_operands > rule->op->operands_max)
        return hac_fail(err, HAC_INVALID, "%u operands; %u to %u are needed", c->n_operands,
                        rule->op->operands_min, rule->op->operands_max);
    if (task->inline_in_bytes !=
        sizeof *c + c->n_operands * sizeof(hac_op_operand) + (uint64_t)c->program_bytes)
        return hac_fail(err, HAC_INVALID, "a call of %u operands and a program of %u bytes in %zu bytes",
                        c->n_operands, c->program_bytes, task->inline_in_bytes);
    if (c->function >= HAC_OP_FUNCTION_END || (rule->op->functions >> c->function & 1) == 0)
        return hac_fail(err, HAC_INVALID, "this sub-operator has no function %u", c->function);
    if (c->flags & ~rule->op->flags)
        return hac_fail(err, HAC_INVALID, "flags 0x%x are not known", c->flags);
    return HAC_OK;
}

static hac_status read_range(const hac_op_rule *rule, const hac_task *task, hac_op_request *r, hac_error *err)
{
    r->first = task->first;
    r->count = task->count;
    if (rule->op->range == HAC_OP_NO_RANGE) {
        if (task->first != 0 || task->count != 0)
            return hac_fail(err, HAC_INVALID, "it has no range");
        return HAC_OK;
    }
    uint64_t rows = r->v[rule->op->range].rows, end;
    if (r->program != NULL && rule->op->range >= rule->op->program_at)
        rows = hac_op_program_like(r, rule->op->program_at)->rows;
    if (task->first == 0 && task->count == 0)
        r->count = rows;
    if (__builtin_add_overflow(r->first, r->count, &end) || end > rows)
        return hac_fail(err, HAC_INVALID, "rows %llu + %llu are not within %llu",
                        (unsigned long long)r->first, (unsigned long long)r->count, (unsigned long long)rows);
    if (r->first % rule->op->grain != 0 || (end % rule->op->grain != 0 && end != rows))
        return hac_fail(err, HAC_INVALID, "rows %llu + %llu do not begin and end at multiples of %u",
                        (unsigned long long)r->first, (unsigned long long)r->count, rule->op->grain);
    return HAC_OK;
}

hac_status hac_op_request_read(const hac_op_rule *rule, const hac_task *task, hac_op_request *r,
                               hac_error *err)
{
    *r = (hac_op_request){.rule = rule};
    hac_status status = read_head(rule, task, r, err);
    if (status != HAC_OK)
        return status;
    r->n = r->call.n_operands;
    for (size_t i = 0; status == HAC_OK && i < r->n; i++) {
        hac_op_operand *o = &r->operands[i];
        memcpy(o, task->inline_in + sizeof r->call + i * sizeof *o, sizeof *o);
        status = read_operand(rule, o, task, i, &r->v[i], err);
    }
    if (status == HAC_OK)
        status = read_program(rule, task, r, err);
    if (status == HAC_OK)
        status = read_range(rule, task, r, err);
    return status == HAC_OK ? rule->check(r, err) : status;
}
