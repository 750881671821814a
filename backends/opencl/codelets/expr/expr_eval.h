/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Codelet expr.eval: the column machine on the device. Evaluates a program for rows of a table.
 *
 *   range    rows first … first + count - 1 of the table
 *   spans    0 the table (R), 1 the outputs (W)
 *   params   hac_expr_params
 *   inline   the program (hac_program_write), then a hac_expr_column for each of its inputs
 *
 * Output o of row i (counted from `first`) has 8 bytes at (o × count + i) × 8; an f32 takes the first four.
 * The hac_row_states follow all values, rounded up to 64 bytes, at o × count + i. Programs with strings,
 * 128-bit values or functions that only the host has are refused with HAC_UNSUPPORTED.
 */
#ifndef CODELETS_EXPR_EVAL_H
#define CODELETS_EXPR_EVAL_H

#include "codelet/codelet.h"
#include "expr_plan.h"

typedef struct hac_expr_params {
    uint64_t rows; /* of the table */
} hac_expr_params;

typedef struct hac_expr_column {
    uint8_t kind, precision, scale, large;
    uint32_t unused; /* 0 */
    uint64_t validity, values, bytes, n_bytes;
} hac_expr_column;

/* The offset of the outputs' states, and the bytes of values and states together. */
uint64_t hac_expr_states_offset(uint64_t outputs, uint64_t rows);
uint64_t hac_expr_outputs_bytes(uint64_t outputs, uint64_t rows);

HAC_MUST_USE hac_status hac_expr_eval_check(const hac_device_facts *facts, const hac_task *task,
                                            hac_error *err);
HAC_MUST_USE hac_status hac_expr_eval_run(hac_device *device, const hac_task *task, hac_task_result *result,
                                          hac_error *err);
const char *hac_expr_eval_program(const hac_device_facts *facts, hac_type type);
HAC_MUST_USE hac_status hac_expr_eval_known_answer(hac_device *device, hac_type type, hac_error *err);

/* Evaluates without a task. `table` and `outputs` are 64-byte aligned. */
HAC_MUST_USE hac_status hac_expr_eval_rows(hac_device *device, const hac_expr_plan *plan,
                                           const hac_span *table, uint64_t first, uint64_t rows,
                                           const hac_span *outputs, hac_error *err);

#define HAC_EXPR_CODELETS                                                                                    \
    {                                                                                                        \
        .name = "expr.eval",                                                                                 \
        .min_spans = 2,                                                                                      \
        .max_spans = 2,                                                                                      \
        .params = HAC_PARAMS_COUNT(hac_expr_params),                                                         \
        .check = hac_expr_eval_check,                                                                        \
        .run = hac_expr_eval_run,                                                                            \
        .program = hac_expr_eval_program,                                                                    \
        .known_answer = hac_expr_eval_known_answer,                                                          \
    },

#endif
