/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For tests: programs, interpreted a row and a value at a time, written without a look at the machine:
 * integers in 128 bits, dates by the C library, decimals digit by digit, text by base (whose tests have
 * oracles of their own).
 */
#ifndef EXPR_MACHINE_REFERENCE_H
#define EXPR_MACHINE_REFERENCE_H

#include "expr/program.h"

#define REFERENCE_STRING_MAX 160

typedef struct ref_value {
    uint8_t state;
    bool boolean;
    int64_t i64;
    uint64_t u64;
    float f32;
    double f64;
    __int128 i128;
    size_t bytes;
    char string[REFERENCE_STRING_MAX];
} ref_value;

/* The value of one operation, of operands that it takes. Strings that would be too long: state 255, which
 * means that the test must not compare. */
void reference_op(const hac_program *program, const hac_instruction *at, const ref_value *inputs,
                  const ref_value *a, const ref_value *b, const ref_value *c, ref_value *ret);

/* The part of it that is decimals; false: another operation. */
bool reference_decimals(const hac_instruction *at, const ref_value *a, const ref_value *b, ref_value *ret);
void reference_decimal_text(__int128 value, unsigned scale, char *ret);

/* All registers of a program after one row. `registers` has room for all. */
void reference_run(const hac_program *program, const ref_value *inputs, ref_value *registers);

/* Row `row` of a vector, as a value. */
ref_value reference_get(const hac_vector *vector, hac_repr repr, size_t row);
bool reference_equal(const ref_value *a, const ref_value *b, hac_repr repr);
void reference_print(const ref_value *value, hac_repr repr, char *ret, size_t room);

#endif
