/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A finished program as definitions: for each instruction, the instructions that define its operands.
 * Registers are reused, so an operand is defined by the last write to its register before the instruction. A
 * definition with everything that it needs, its slice, can become part of another program.
 */
#ifndef EXPR_PROGRAM_SLICE_H
#define EXPR_PROGRAM_SLICE_H

#include "expr/program.h"

/* Of a verified program, which is borrowed. A definition's number is that of its instruction. */
typedef struct hac_program_slices {
    const hac_program *program;
    uint16_t (*operands)[3]; /* definitions; 0: the operation has no such operand */
    uint32_t *scratch;       /* one word for each definition */
} hac_program_slices;

/* HAC_NO_MEMORY. */
HAC_MUST_USE hac_status hac_program_slices_find(const hac_program *program, hac_program_slices *ret,
                                                hac_error *err);
void hac_program_slices_clear(hac_program_slices *slices);

/* The definition of the program's output `i`. */
size_t hac_program_slices_output(const hac_program_slices *slices, size_t i);

/* Marks the slice of `at`: scratch[i] is 1 for its definitions, `at` included, and 0 for all others. */
void hac_program_slice_mark(hac_program_slices *slices, size_t at);

/* Copies the slice of `at` into a builder; inputs keep their indices. A failure sticks to the builder. */
hac_value_id hac_program_slice_copy(hac_program_slices *slices, size_t at, hac_program_builder *builder);

#endif
