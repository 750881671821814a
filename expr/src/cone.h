/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A finished program seen as definitions: what each instruction makes, and from which others. Registers are
 * used again, so an operand's register says nothing by itself; the last write before it does. A definition
 * with all that it needs (its cone) can become part of another program.
 */
#ifndef EXPR_CONE_H
#define EXPR_CONE_H

#include "expr/program.h"

/* A verified program's, which is borrowed. Definitions are numbered as instructions are. */
typedef struct hac_cones {
    const hac_program *program;
    uint16_t (*operands)[3]; /* definitions; 0 where the operation has no such operand */
    uint32_t *scratch;       /* one word a definition */
} hac_cones;

/* HAC_NO_MEMORY. */
HAC_MUST_USE hac_status hac_cones_find(const hac_program *program, hac_cones *ret, hac_error *err);
void hac_cones_clear(hac_cones *cones);

/* The definition that the program's output `i` is. */
size_t hac_cones_output(const hac_cones *cones, size_t i);

/* Marks what `at` needs, itself included: scratch[i] is 1, of all others 0. */
void hac_cone_mark(hac_cones *cones, size_t at);

/* `at` and all it needs as values of a builder; inputs keep their indices. What goes wrong sticks to the
 * builder. */
hac_value_id hac_cone_copy(hac_cones *cones, size_t at, hac_builder *builder);

#endif
