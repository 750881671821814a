/* SPDX-License-Identifier: Apache-2.0 */
/* Sub-operators, <hac/op.h>: what only hac itself needs. */
#ifndef BASE_OP_LAYOUT_H
#define BASE_OP_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hac/op.h>
#include <hac/type.h>

#include "base/limits.h"
#include "base/value.h"

/* Limits of a graph of sub-operators (SubmitOps). */
#define HAC_OPS_BUFFERS_MAX 32
#define HAC_OPS_TASKS_MAX   512
#define HAC_OPS_AFTER_MAX   64
#define HAC_OPS_CODELET_MAX 31
#define HAC_OPS_LOG_MAX     16384 /* bytes of lines for the job's log in one message */
#define HAC_OPS_VALUES_NONE 255   /* in place of the number of a task's values: it has failed */

/*
 * The type that a task of `codelet` has (hac_task.type, OpTask.type): kernels are built for it, models are
 * kept by it. HAC_TYPE_NONE: no such codelet, or too few operands.
 */
hac_type hac_op_type(const char *codelet, const hac_op_operand *operands, size_t n);

/* Bytes of an element of `kind` in a vector, 0 for what vectors do not have. */
size_t hac_op_element_size(unsigned kind);

/* How vectors of a template lie in memory. */
typedef struct hac_op_layout {
    bool dense;          /* values[rows × columns] and nothing else; others have values[entries] */
    bool offsets;        /* offsets[rows + 1]: the entries of each row */
    uint8_t index_bytes; /* of each of indices[entries]; 0: no indices */
    bool text;           /* elements are texts, others are numbers */
    bool columns;        /* there may be several columns */
    bool one_row;
} hac_op_layout;

/* The layout of a hac_vector_template. All of it is zero if there is no such template. */
const hac_op_layout *hac_op_layout_of(unsigned form);
bool hac_op_form_is_dense(unsigned form);
/* Whether vectors of the template have entries: all templates that are not dense do. */
bool hac_op_form_has_entries(unsigned form);

/* Bytes of each part that a vector of this template, kind, rows, columns and entries has; 0: it has none. */
typedef struct hac_op_parts {
    uint64_t values, offsets, indices;
} hac_op_parts;
/* false: it is larger than can be. */
bool hac_op_part_bytes(const hac_op_operand *operand, hac_op_parts *ret);

/*
 * Where the parts of a vector lie whose template, kind, rows, columns and entries `operand` has, and the
 * bytes of all of them, at least 64. false: it is larger than can be.
 */
bool hac_op_place(hac_op_operand *operand, uint64_t *ret_bytes);

/* The parts of a vector from where they lie at `data` to where they are to lie at `ret`: two operands of one
 * shape. */
void hac_op_copy_parts(const hac_op_operand *from, const void *data, const hac_op_operand *to, void *ret);

/* Whether the function adds floats exactly. */
static inline bool hac_op_is_exact(unsigned function)
{
    return function >= HAC_OP_EXACT_SUM && function <= HAC_OP_EXACT_LENGTH;
}

#endif
