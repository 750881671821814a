/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For tests: an interpreter of programs, one row and one value at a time. It shares no code with the machine:
 * integers have 128 bits, dates use the C library, decimals go digit by digit, and text uses base (whose
 * tests have oracles of their own).
 */
#ifndef EXPR_MACHINE_REFERENCE_H
#define EXPR_MACHINE_REFERENCE_H

#include <string.h>

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

/* State 255 if the string would be too long. */
static inline void reference_set_string(ref_value *ret, const char *text, size_t bytes)
{
    if (bytes > sizeof ret->string) {
        ret->state = 255;
        return;
    }
    memcpy(ret->string, text, bytes);
    ret->bytes = bytes;
}

/* Computes one operation on valid operands. If a string would be too long, the state is 255, and the test
 * must not compare the value. */
void reference_op(const hac_program *program, const hac_instruction *at, const ref_value *inputs,
                  const ref_value *a, const ref_value *b, const ref_value *c, ref_value *ret);

/* The operations on strings. False: another operation. */
bool reference_strings(const hac_program *program, const hac_instruction *at, const ref_value *a,
                       const ref_value *b, const ref_value *c, ref_value *ret);

/* The operations with a TEXT, by the C library: regular expressions and formats of times that mean the same
 * there. False: another operation. */
bool reference_texts(const hac_program *program, const hac_instruction *at, const ref_value *a,
                     const ref_value *b, ref_value *ret);

/* The operations on decimals. False: another operation. */
bool reference_decimals(const hac_instruction *at, const ref_value *a, const ref_value *b, ref_value *ret);
void reference_decimal_text(__int128 value, unsigned scale, char *ret);

/* Sets all registers of a program for one row. `registers` has room for all of them. */
void reference_run(const hac_program *program, const ref_value *inputs, ref_value *registers);

/* The value of row `row` of a column. */
ref_value reference_get(const hac_column *column, hac_repr repr, size_t row);
bool reference_equal(const ref_value *a, const ref_value *b, hac_repr repr);
void reference_print(const ref_value *value, hac_repr repr, char *ret, size_t capacity);

#endif
