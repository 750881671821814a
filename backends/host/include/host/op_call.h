/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls of sub-operators (base/op_layout.h) as their codelets take them: read from a task's inline data and
 * checked, so that every part of every operand lies within its span. What lies in the spans may be changed
 * by others at any time: whoever takes an index or an offset from there reads it once (hac_op_once_…) and
 * checks what it has read.
 */
#ifndef HOST_OP_CALL_H
#define HOST_OP_CALL_H

#include "base/op_layout.h"
#include "expr/program.h"
#include "opencl/codelet.h"

typedef struct hac_op_vector {
    uint8_t form, kind;
    bool ones;      /* entries are 1.0, `values` is empty */
    size_t size;    /* of an element; characters: 1 */
    uint64_t first; /* number of its first row in the whole vector */
    uint64_t rows, columns, entries;
    uint8_t *values;
    uint64_t *offsets;
    void *indices; /* uint32_t of matrices, uint64_t of sparse values */
} hac_op_vector;

typedef struct hac_op_request {
    hac_op_call call;
    size_t n;
    hac_op_operand operands[HAC_OP_OPERANDS_MAX]; /* as they came */
    hac_op_vector v[HAC_OP_OPERANDS_MAX];         /* where they lie */
    uint64_t first, count;                        /* rows; a task without a range has all of them */
    hac_program *program;                         /* owned; NULL: none */
    uint16_t bound[HAC_OP_OPERANDS_MAX]; /* of each operand the constant that it is in the program, and 1; 0:
                                            none */
    bool again;                    /* it is run again and again: what is made for its program stays … */
    struct hac_op_eval *eval;      /* … here; NULL: nothing yet */
    uint64_t fixed;                /* op.spmv: bytes that a copy of its matrix may have, which stays … */
    struct hac_op_spmv_copy *copy; /* … as it is `again`: it is here; NULL: nothing yet */
} hac_op_request;

#define HAC_OP_NO_RANGE 255

typedef enum hac_op_program_use {
    HAC_OP_PROGRAM_NONE = 0,
    HAC_OP_PROGRAM_MAY,
    HAC_OP_PROGRAM_MUST
} hac_op_program_use;

/* What one codelet takes: the lines of base/op_layout.h. */
typedef struct hac_op_rule {
    const char *name;
    uint8_t least, most; /* operands */
    uint8_t inputs;      /* operand that a program's first input is */
    uint8_t program;     /* hac_op_program_use */
    uint8_t range;       /* operand whose rows the range is over */
    uint32_t grain;
    uint32_t functions; /* bits of those it has */
    uint32_t flags;     /* hac_op_flag that it knows, besides HAC_OP_FAST */
    uint8_t ones;       /* operand that may be `ones`; 255: none */
    hac_status (*check)(const hac_op_request *r, hac_error *err);
    /* `values` and `n_values` as of hac_task_result, n_values is 0. */
    hac_status (*run)(hac_op_request *r, uint64_t *values, size_t *n_values, hac_error *err);
} hac_op_rule;

/* The rule of a codelet's name, with or without ".cl"; NULL: none. */
const hac_op_rule *hac_op_rule_find(const char *name);

/* Reads and checks the task's call against `rule`. HAC_INVALID says what is wrong with which operand. The
 * request borrows the spans and is to be cleared whatever happened. */
HAC_MUST_USE hac_status hac_op_request_read(const hac_op_rule *rule, const hac_task *task,
                                            hac_op_request *ret, hac_error *err);
void hac_op_request_clear(hac_op_request *r);

/* The value of an operand of one element, read once, as a constant's low word has it: integers are widened.
 */
uint64_t hac_op_constant_of(const hac_op_vector *v);

/* Operands that are one element for all rows become constants of the program, with the value they have now.
 */
HAC_MUST_USE hac_status hac_op_bind_constants(hac_op_request *r, const hac_op_rule *rule, hac_error *err);
/* Those that were bound get the values that their operands have now; returns whether one is another than
 * before. */
bool hac_op_bind_again(hac_op_request *r);

/* The operand that says how many rows a program is for: the first one from `from` on that is no single
 * element, else the first. */
const hac_op_vector *hac_op_program_like(const hac_op_request *r, size_t from);

bool hac_op_is_dense(const hac_op_vector *v);
bool hac_op_is_float(unsigned kind);
static inline bool hac_op_is_one(const hac_op_vector *v)
{
    return v->rows == 1 && v->columns == 1;
}

/* The kind that elements of `kind` are added up in; f64 for f32 is allowed as well. */
unsigned hac_op_sum_kind(unsigned kind);

/* A failure that names an operand: "operand 1: …". */
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

/* Index `i` of a vector of u32, u64, i32 or i64; negative ones are above all others. */
static inline uint64_t hac_op_index_at(const hac_op_vector *v, uint64_t i)
{
    if (v->size == 8)
        return hac_op_once_u64((const uint64_t *)(const void *)v->values + i);
    uint32_t index = hac_op_once_u32((const uint32_t *)(const void *)v->values + i);
    return v->kind == HAC_KIND_I32 ? (uint64_t)(int64_t)(int32_t)index : index;
}
bool hac_op_is_index(const hac_op_vector *v);

/* Row `row` of a vector with offsets: where it begins and ends in its entries. false: its offsets do not
 * ascend or lie outside. */
static inline bool hac_op_row_at(const hac_op_vector *v, uint64_t row, uint64_t *ret_from, uint64_t *ret_to)
{
    *ret_from = hac_op_once_u64(v->offsets + row);
    *ret_to = hac_op_once_u64(v->offsets + row + 1);
    return *ret_from <= *ret_to && *ret_to <= v->entries;
}
hac_status hac_op_fail_offsets(hac_error *err, size_t operand, const hac_op_vector *v, uint64_t row);

#endif
