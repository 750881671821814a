/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs: what an expression becomes. A straight line of operations on typed registers, each a vector: no
 * jumps, so every program ends, and its cost is its length. Both machines run it a batch of rows at a time.
 *
 * A program travels as bytes (hac_program_write / hac_program_read). Bytes are untrusted: hac_program_read
 * verifies everything that a machine relies on (hac_program_verify), so that a machine checks nothing.
 */
#ifndef EXPR_PROGRAM_H
#define EXPR_PROGRAM_H

#include "base/text.h"
#include "expr/ops.h"
#include "expr/vector.h"

#define HAC_PROGRAM_INPUTS_MAX       256
#define HAC_PROGRAM_OUTPUTS_MAX      256
#define HAC_PROGRAM_REGISTERS_MAX    256
#define HAC_PROGRAM_INSTRUCTIONS_MAX 4096
#define HAC_PROGRAM_CONSTANTS_MAX    4096

typedef struct hac_instruction {
    uint16_t op;      /* hac_op */
    uint16_t result;  /* register */
    uint16_t a, b, c; /* registers; 0 where the operation has no such operand */
    uint16_t k;       /* the immediate: index of an input, a constant, a list; digits; a unit */
} hac_instruction;

/* A fixed-width constant is its value in `low` (bits of a float, sign-extended integers) and, of 128 bits,
 * `high`. A string is program->bytes[low … low + high). A list or a pair is constants [low, low + high). */
typedef struct hac_constant {
    uint8_t repr; /* hac_repr; HAC_REPR_NONE: a list */
    uint64_t low, high;
} hac_constant;

typedef struct hac_program_output {
    uint16_t reg;
    hac_value_type type;
} hac_program_output;

typedef struct hac_program {
    hac_value_type *inputs; /* the types of the columns it reads, by input index */
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

/* Every index in range, every representation as HAC_OPS has it, every register written before it is read,
 * lists sorted, outputs' representations those of their types. HAC_INVALID says what is wrong, and where. */
HAC_MUST_USE hac_status hac_program_verify(const hac_program *program, hac_error *err);

/* Whether a machine without HAC_OP_HOST operations and 128-bit registers can run it, that hands strings out
 * as their columns have them. */
bool hac_program_fits_device(const hac_program *program);
/* Whether all of its operations give the same bits everywhere. */
bool hac_program_exact(const hac_program *program);
/* The input whose column output `output` is as it came; -1: it is none, or was made anew. */
int hac_program_output_input(const hac_program *program, size_t output);

/* Appends the program's bytes (little-endian, versioned). */
void hac_program_write(const hac_program *program, hac_text *ret);
/* Reads a program from the front of `data` and verifies it; *ret_used is its length. HAC_INVALID: not one. */
HAC_MUST_USE hac_status hac_program_read(const uint8_t *data, size_t bytes, size_t *ret_used,
                                         hac_program **ret, hac_error *err);
/* One line an instruction, for people: "r3:i64 = ADD_I64 r1 r2". */
void hac_program_print(const hac_program *program, hac_text *ret);

/* ---- building -------------------------------------------------------------------------------------------
 * Values are numbers that the builder hands out; equal operations on equal operands are made once. Registers
 * are given, reused and counted when the program is finished. Failures (no memory, a limit) stick: builder
 * calls return 0 then, and hac_builder_finish reports. */

typedef struct hac_builder hac_builder;
typedef uint32_t hac_value_id; /* 0: none */

HAC_MUST_USE hac_status hac_builder_new(hac_builder **ret, hac_error *err);
void hac_builder_free(hac_builder *builder);

/* Input `index` (any order, gaps are unused inputs), of that type. */
hac_value_id hac_builder_input(hac_builder *builder, size_t index, hac_value_type type);
/* Constants, by the representation of the result. */
hac_value_id hac_builder_constant(hac_builder *builder, hac_repr repr, uint64_t low, uint64_t high);
hac_value_id hac_builder_string(hac_builder *builder, const uint8_t *bytes, size_t n);
hac_value_id hac_builder_null(hac_builder *builder, hac_repr repr);
/* An operation with registers only, or with digits or a unit as `k`. */
hac_value_id hac_builder_op(hac_builder *builder, hac_op op, hac_value_id a, hac_value_id b, hac_value_id c,
                            unsigned k);
/* RANGE_*: lowest and highest, 128 bits wide where the operation is. */
hac_value_id hac_builder_range(hac_builder *builder, hac_op op, hac_value_id a, __int128 lowest,
                               __int128 highest);
/* IN_*: constants (made by hac_builder_constant or _string) in any order, repeated ones allowed. */
hac_value_id hac_builder_in(hac_builder *builder, hac_op op, hac_value_id a, const hac_value_id *list,
                            size_t n);
/* LIKE with a pattern: bytes as written; `escape` is 0 for none. */
hac_value_id hac_builder_like(hac_builder *builder, hac_value_id a, const uint8_t *pattern, size_t n,
                              uint8_t escape);
/* Fails it for want of memory: for who allocates for its calls. Returns 0. */
hac_value_id hac_builder_no_memory(hac_builder *builder);
hac_repr hac_builder_repr(const hac_builder *builder, hac_value_id value);

/* Appends an output. */
void hac_builder_output(hac_builder *builder, hac_value_id value, hac_value_type type);
/* Gives registers, drops what no output needs, verifies. The builder is empty afterwards. */
HAC_MUST_USE hac_status hac_builder_finish(hac_builder *builder, hac_program **ret, hac_error *err);

#endif
