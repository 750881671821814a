/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of sub-operators for tests: each operand in memory of its own, with a guard at its end. */
#ifndef CODELETS_TEST_OPS_H
#define CODELETS_TEST_OPS_H

#include "base/op_layout.h"
#include "codelet/codelet.h"
#include "expr/program.h"
#include "test_codelets.h"

typedef struct test_call {
    hac_op_call call;
    hac_op_operand operands[HAC_OP_OPERANDS_MAX];
    uint64_t bytes[HAC_OP_OPERANDS_MAX];
    uint8_t *memory[HAC_OP_OPERANDS_MAX];
    hac_text program;
    uint8_t inline_in[HAC_OP_CALL_MAX];
    hac_task task;
    hac_task_result result;
    hac_error err;
} test_call;

void test_call_init(test_call *c, unsigned function);
void test_call_clear(test_call *c);

/* Adds an operand, filled with 0xa5; returns its values. */
void *test_dense(test_call *c, unsigned kind, uint64_t rows, uint64_t columns);
hac_op_operand *test_sparse(test_call *c, unsigned kind, uint64_t rows, uint64_t columns, uint64_t entries);
hac_op_operand *test_text(test_call *c, uint64_t rows, uint64_t characters);
hac_op_operand *test_variable(test_call *c, unsigned kind, uint64_t rows, uint64_t entries);
void *test_values(const test_call *c, size_t operand);
uint64_t *test_offsets(const test_call *c, size_t operand);
uint32_t *test_indices(const test_call *c, size_t operand);

/* Appends the builder's program with `value` as its output. */
void test_program(test_call *c, hac_program_builder *builder, hac_value_id value, unsigned kind);

/* Check, then run, over rows first … first + count - 1. */
hac_status test_run(test_call *c, hac_device *device, const char *codelet, uint64_t first, uint64_t count);
/* Checks and runs in pieces of `step` rows of `rows` (0: no range). It must succeed, and no guard may
 * change. */
void test_run_well(test_call *c, hac_device *device, const char *codelet, uint64_t rows, uint64_t step);

/* Assembles the call's message again after a change. */
void test_call_pack(test_call *c);

/* Fills with values of a kind: small ones and edges. With `odd`, floats are sometimes NaN or infinite. */
void test_fill(void *values, unsigned kind, uint64_t n, uint64_t *state, bool odd);

#endif
