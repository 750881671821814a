/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls of sub-operators (base/op_layout.h), read from a task's inline data and checked: every part of every
 * operand lies within its span. Other processes may change the contents of spans at any time. Code that takes
 * an index or an offset from a span must therefore read it once (hac_op_once_…) and check the value that it
 * has read.
 */
#ifndef HOST_OP_CALL_H
#define HOST_OP_CALL_H

#include "base/op_catalog.h"
#include "base/op_layout.h"
#include "codelet/codelet.h"
#include "expr/program.h"

typedef struct hac_op_vector {
    uint8_t form, kind;
    bool ones;      /* all entries are 1.0 and `values` is empty */
    size_t size;    /* bytes of an element; 1 for characters */
    uint64_t first; /* the number of its first row in the whole vector */
    uint64_t rows, columns, entries;
    uint8_t *values;
    uint64_t *offsets;
    void *indices; /* uint32_t in matrices, uint64_t in sparse values */
} hac_op_vector;

typedef struct hac_op_request hac_op_request;

/* A codelet: its row of the catalogue and its functions. */
typedef struct hac_op_rule {
    const hac_op_codelet *op;
    hac_status (*check)(const hac_op_request *r, hac_error *err);
    /* `values` and `n_values` are those of hac_task_result; n_values is 0 before. */
    hac_status (*run)(hac_op_request *r, uint64_t *values, size_t *n_values, hac_error *err);
} hac_op_rule;

struct hac_op_request {
    const hac_op_rule *rule;
    hac_op_call call;
    size_t n;
    hac_op_operand operands[HAC_OP_OPERANDS_MAX]; /* as received */
    hac_op_vector v[HAC_OP_OPERANDS_MAX];         /* as pointers into the spans */
    uint64_t first, count;                        /* rows; a task without a range covers all rows */
    hac_program *program;                         /* owned; NULL: none */
    /* for each operand, 1 + the number of the program's constant that replaces it; 0: none */
    uint16_t bound[HAC_OP_OPERANDS_MAX];
    /* the request is run repeatedly, so `eval` and `copy` are kept from run to run */
    bool again;
    struct hac_op_eval *eval;      /* NULL: not made yet */
    uint64_t fixed;                /* op.spmv: the maximum number of bytes of a copy of the matrix */
    struct hac_op_spmv_copy *copy; /* NULL: not made yet */
};

/* The rule of the codelet with this name, with or without ".cl" at the end; NULL: there is none. */
const hac_op_rule *hac_op_rule_find(const char *name);

/* Reads the task's call and checks it against `rule`. HAC_INVALID: the message names the fault and the
 * operand. The request borrows the spans. Clear it even after a failure. */
HAC_MUST_USE hac_status hac_op_request_read(const hac_op_rule *rule, const hac_task *task,
                                            hac_op_request *ret, hac_error *err);
void hac_op_request_clear(hac_op_request *r);

/* The value of an operand that is one element, read once, as the low word of a constant. Integers are
 * widened. */
uint64_t hac_op_constant_of(const hac_op_vector *v);

/* Replaces operands that are one element by constants of the program, with their present values. */
HAC_MUST_USE hac_status hac_op_bind_constants(hac_op_request *r, hac_error *err);
/* Gives these constants the present values of their operands. Returns whether a value has changed. */
bool hac_op_bind_again(hac_op_request *r);

/* The operand whose rows the program is evaluated for: the first operand from `from` on that is more than one
 * element, or else operand `from`. */
const hac_op_vector *hac_op_program_like(const hac_op_request *r, size_t from);

bool hac_op_is_dense(const hac_op_vector *v);
bool hac_op_is_float(unsigned kind);
static inline bool hac_op_is_one(const hac_op_vector *v)
{
    return v->rows == 1 && v->columns == 1;
}

/* The kind in which elements of `kind` are summed. For f32, f64 is allowed as well. */
unsigned hac_op_sum_kind(unsigned kind);

/* Fails with a message that names an operand: "operand 1: …". */
hac_status hac_op_fail(hac_error *err, size_t operand, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

static inline uint64_t hac_op_once_u64(const uint64_t *p)
{
    return __atomic_load_n(p, __ATOMIC_RELAXED);
}

static inline uint32_t hac_op_once_u32(const uint32_t *p)
{
    return __atomic_load_n(p, __ATOMIC_RELAXED);
}

/* Element `i` of a vector of u32, u64, i32 or i64 as an index. Negative elements become very large. */
static inline uint64_t hac_op_index_at(const hac_op_vector *v, uint64_t i)
{
    if (v->size == 8)
        return hac_op_once_u64((const uint64_t *)(const void *)v->values + i);
    uint32_t index = hac_op_once_u32((const uint32_t *)(const void *)v->values + i);
    return v->kind == HAC_KIND_I32 ? (uint64_t)(int64_t)(int32_t)index : index;
}
bool hac_op_is_index(const hac_op_vector *v);

/* Where row `row` of a vector with offsets begins and ends in the vector's entries. Returns false if the
 * offsets descend or lie outside the entries. */
static inline bool hac_op_row_at(const hac_op_vector *v, uint64_t row, uint64_t *ret_from, uint64_t *ret_to)
{
    *ret_from = hac_op_once_u64(v->offsets + row);
    *ret_to = hac_op_once_u64(v->offsets + row + 1);
    return *ret_from <= *ret_to && *ret_to <= v->entries;
}
hac_status hac_op_fail_offsets(hac_error *err, size_t operand, const hac_op_vector *v, uint64_t row);

#endif
