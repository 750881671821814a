/* SPDX-License-Identifier: Apache-2.0 */
/* For tests: compiles expressions over four rows of every type, runs them and prints the results. */
#ifndef EXPR_TEST_RUN_H
#define EXPR_TEST_RUN_H

/* cmocka.h needs these headers before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "expr/query.h"

/*
 *   row   i8   i32  i64                   u8   u32         u64                   f32   f64   b
 *   1    -128  -5   -9223372036854775808  0    0           0                    -1.5  -1.5  true
 *   2       0   0   -1                    1    7           1                     0.5   0.1  false
 *   3     127   7   9223372036854775807   255  4294967295  18446744073709551615  nan   inf  true
 *   4    null in every column
 *
 *         s      d           t                           p (decimal(15,2))  w (decimal(30,4))
 *   1    ""      1969-12-31  1969-12-31 23:59:59.999999  -1.25              -0.0001
 *   2    "Abc"   2020-02-29  2020-02-29 13:45:07.250000  0.05               1.5000
 *   3    "Zoë"   9999-12-31  9999-12-31 00:00:00         9999999999999.99   99999999999999999999999999.9999
 *
 *   raw (bytes): the bytes of s: none, 41 62 63, 5a 6f c3 ab
 */
#define TEST_ROWS 4
extern const char test_schema[];

/* Compiles a query over test_schema (jsonl). */
hac_status test_compile(const char *where, const char *group_by, const char *select, const char *order_by,
                        hac_query **ret, hac_error *err);

/* Prints the values of an expression in the four rows: "a|b|c|-" (- is null, !overflow … an error). `ret` has
 * `capacity` bytes. Returns the name of the type; "": the expression does not compile, and ret has the
 * message. */
const char *test_run(const char *expression, char *ret, size_t capacity);

/* Prints the value of a constant expression. */
void test_value(const char *expression, char *ret, size_t capacity);

#endif
