/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs in the form in which the kernels of the column machine read them: one block of 64-bit words (its
 * layout: kernels/expr_device_ops.cl). Several programs over the same columns become one plan; a filter goes
 * in front of the program whose rows it selects.
 *
 * Programs must have been verified. A string column can only be passed on as an output: its register holds
 * the seeded 64-bit hash of the bytes. Code that compares keys must compare the bytes as well.
 */
#ifndef CODELETS_EXPR_PLAN_H
#define CODELETS_EXPR_PLAN_H

#include "base/table.h"
#include "expr/program.h"
#include "opencl/device.h"

typedef struct hac_expr_plan {
    uint64_t *words; /* 64-byte aligned, owned */
    size_t n_words;
    uint32_t registers, instructions;
    /* registers of the first program, then those of the next */
    uint32_t outputs[2 * HAC_PROGRAM_OUTPUTS_MAX];
    hac_value_type types[2 * HAC_PROGRAM_OUTPUTS_MAX];
    int string_inputs[2 * HAC_PROGRAM_OUTPUTS_MAX]; /* the input that a string output passes on; else -1 */
    size_t n_outputs;
} hac_expr_plan;

/* HAC_UNSUPPORTED: a device cannot run the program; the message says why, for the planner and for people.
 * `strings`: outputs may be string columns. */
HAC_MUST_USE hac_status hac_expr_plan_fits(const hac_program *program, const hac_device_facts *facts,
                                           bool strings, hac_error *err);

/*
 * The plan of `n` programs (1 or 2; NULL programs are left out) over `columns`, by input index. An input that
 * no program reads may be all zero. `seed` is for the hashes. HAC_UNSUPPORTED: as above. HAC_INVALID: an
 * input has no column, or one of another type.
 */
HAC_MUST_USE hac_status hac_expr_plan_init(hac_expr_plan *plan, const hac_program *const *programs, size_t n,
                                           const hac_table_column *columns, size_t n_columns,
                                           const hac_device_facts *facts, uint64_t seed, bool strings,
                                           hac_error *err);
void hac_expr_plan_clear(hac_expr_plan *plan);

/* Moves column `input` to other offsets, for a copy of a part of the table. */
void hac_expr_plan_set_column(hac_expr_plan *plan, size_t input, const hac_table_column *column);

/* Adds registers after those of the programs, for the kernels' own use. */
void hac_expr_plan_add_registers(hac_expr_plan *plan, size_t n);

/* Scratch bytes of a work-item (block), or of a work-group of `lanes` work-items (simt). */
uint64_t hac_expr_plan_scratch(const hac_expr_plan *plan, const hac_device_facts *facts, uint32_t lanes);

/* The maximum number of loop iterations that one row costs a simt work-item, strings not counted. For devices
 * that end long loops. */
uint32_t hac_expr_plan_iterations(const hac_expr_plan *plan);

#endif
