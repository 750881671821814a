/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs: compiled expressions. A program is a straight line of operations on typed registers. Each
 * register is a column. There are no jumps, so every program ends, and its cost is its length. The C machine
 * and the OpenCL machine run a program on one batch of rows at a time.
 *
 * A program travels as bytes (hac_program_write, hac_program_read). The bytes are untrusted: hac_program_read
 * calls hac_program_verify, which checks everything that a machine relies on. A machine checks nothing.
 */
#ifndef EXPR_PROGRAM_H
#define EXPR_PROGRAM_H

#include "base/text.h"
#include "expr/column.h"
#include "expr/ops.h"

#define HAC_PROGRAM_INPUTS_MAX       256
#define HAC_PROGRAM_OUTPUTS_MAX      256
#define HAC_PROGRAM_REGISTERS_MAX    256
#define HAC_PROGRAM_INSTRUCTIONS_MAX 4096
#define HAC_PROGRAM_CONSTANTS_MAX    4096

typedef struct hac_instruction {
    uint16_t op;      /* hac_op */
    uint16_t result;  /* register */
    uint16_t a, b, c; /* registers; 0 where the operation has no such operand */
    uint16_t k;       /* immediate: index of an input, a constant or a list; number of digits; a unit */
} hac_instruction;

/* A fixed-width constant has its value in `low` (the bits of a float; integers are sign-extended) and, if it
 * has 128 bits, in `high`. A string is program->bytes[low … low + high). A list or a pair is the constants
 * [low, low + high). */
typedef struct hac_constant {
    uint8_t repr; /* hac_repr; HAC_REPR_NONE: a list */
    uint64_t low, high;
} hac_constant;

typedef struct hac_program_output {
    uint16_t reg;
    hac_value_type type;
} hac_program_output;

typedef struct hac_program {
    hac_value_type *inputs; /* the types of the columns that the program reads, by input index */
    size_t n_inputs;
    uint8_t *registers; /* hac_repr of each */
    size_t n_registers;
    hac_instruction *instructions;
    size_t n_instructions;
    hac_constant *constants;
    size_t n_constants;
    uint8_t *bytes; /* of string constants */
    size_t n_bytes;
    hac_program_output *outputs;
    size_t n_outputs;
} hac_program;

void hac_program_free(hac_program *program);

/* Checks that every index is in range, that representations are those of HAC_OPS, that every register is
 * written before it is read, that lists are sorted, and that outputs have the representations of their types.
 * HAC_INVALID: the message names the fault and its place. */
HAC_MUST_USE hac_status hac_program_verify(const hac_program *program, hac_error *err);

/* Whether a device can run the program: it has no HAC_OP_HOST operations and no 128-bit registers, and
 * returns strings only as their columns contain them. */
bool hac_program_fits_device(const hac_program *program);
/* Whether all operations of the program give the same bits on every device. */
bool hac_program_exact(const hac_program *program);
/* Whether the program may mark a row as an error although the columns that it reads have none there. */
bool hac_program_may_fail(const hac_program *program);
/* The input whose column is output `output`, unchanged; -1: the output is computed. */
int hac_program_output_input(const hac_program *program, size_t output);
/* Sets reads[i] for each input that the program reads; leaves the others as they are. */
void hac_program_reads(const hac_program *program, bool *reads);
/* A program with outputs outputs[0 … n) of `program`, and the same inputs. HAC_NO_MEMORY. */
HAC_MUST_USE hac_status hac_program_part(const hac_program *program, const uint16_t *outputs, size_t n,
                                         hac_program **ret, hac_error *err);

/* Appends the program's bytes (little-endian, versioned). */
void hac_program_write(const hac_program *program, hac_text *ret);
/* Reads a program from the start of `data` and verifies it; *ret_used is its length. HAC_INVALID: `data` does
 * not begin with a valid program. */
HAC_MUST_USE hac_status hac_program_read(const uint8_t *data, size_t bytes, size_t *ret_used,
                                         hac_program **ret, hac_error *err);
/* Appends one line for each instruction: "r3:i64 = ADD_I64 r1 r2". */
void hac_program_print(const hac_program *program, hac_text *ret);

/* ---- building -------------------------------------------------------------------------------------------
 * The builder hands out numbers for values. Equal operations on equal operands are built once. Registers are
 * assigned when the program is finished. After a failure (no memory, a limit) all calls of the builder return
 * 0, and hac_program_builder_finish reports the failure. */

typedef struct hac_program_builder hac_program_builder;
typedef uint32_t hac_value_id; /* 0: none */

HAC_MUST_USE hac_status hac_program_builder_new(hac_program_builder **ret, hac_error *err);
void hac_program_builder_free(hac_program_builder *builder);

/* Input `index`. Inputs may come in any order; an index that is left out is an unused input. */
hac_value_id hac_program_builder_input(hac_program_builder *builder, size_t index, hac_value_type type);
/* A constant of representation `repr`: see hac_constant. */
hac_value_id hac_program_builder_constant(hac_program_builder *builder, hac_repr repr, uint64_t low,
                                          uint64_t high);
hac_value_id hac_program_builder_string(hac_program_builder *builder, const uint8_t *bytes, size_t n);
hac_value_id hac_program_builder_null(hac_program_builder *builder, hac_repr repr);
/* An operation without immediate (`k` is 0), or whose immediate `k` is a number of digits or a unit. */
hac_value_id hac_program_builder_op(hac_program_builder *builder, hac_op op, hac_value_id a, hac_value_id b,
                                    hac_value_id c, unsigned k);
/* RANGE_*. Operations on 128 bits use all bits of `lowest` and `highest`. */
hac_value_id hac_program_builder_range(hac_program_builder *builder, hac_op op, hac_value_id a,
                                       __int128 lowest, __int128 highest);
/* IN_*. The list has constants (hac_program_builder_constant, _string) in any order, and may repeat them. */
hac_value_id hac_program_builder_in(hac_program_builder *builder, hac_op op, hac_value_id a,
                                    const hac_value_id *list, size_t n);
/* LIKE. `pattern` is as the user wrote it; `escape` is 0 if there is no escape character. */
hac_value_id hac_program_builder_like(hac_program_builder *builder, hac_value_id a, const uint8_t *pattern,
                                      size_t n, uint8_t escape);
/* Operations with a TEXT: STRFTIME, STRPTIME, ZONE_*, REGEXP_*. */
hac_value_id hac_program_builder_text(hac_program_builder *builder, hac_op op, hac_value_id a, hac_value_id b,
                                      const uint8_t *text, size_t n);
/* Makes the builder fail with HAC_NO_MEMORY, for callers whose own allocation has failed. Returns 0. */
hac_value_id hac_program_builder_no_memory(hac_program_builder *builder);
hac_repr hac_program_builder_repr(const hac_program_builder *builder, hac_value_id value);

/* Appends an output. */
void hac_program_builder_output(hac_program_builder *builder, hac_value_id value, hac_value_type type);
/* Drops what no output needs, assigns registers and verifies the program. The builder is empty afterwards. */
HAC_MUST_USE hac_status hac_program_builder_finish(hac_program_builder *builder, hac_program **ret,
                                                   hac_error *err);

#endif
