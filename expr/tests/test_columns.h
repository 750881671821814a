/* SPDX-License-Identifier: Apache-2.0 */
/* For tests: columns of edge cases and random values, of every type, with states. */
#ifndef EXPR_TEST_COLUMNS_H
#define EXPR_TEST_COLUMNS_H

#include "machine_reference.h"

typedef struct test_random {
    uint64_t state;
} test_random;

uint64_t test_next(test_random *random);
uint64_t test_below(test_random *random, uint64_t n);

/* A value of a representation: an edge case, a value close to one, or a random value. */
ref_value test_value(test_random *random, hac_repr repr);
/* Edge case `i` of a representation, and the number of edge cases. */
ref_value test_edge(hac_repr repr, size_t i);
size_t test_edges(hac_repr repr);

/* A type of that representation. */
hac_value_type test_type(hac_repr repr);

/* Allocates a column for a batch; test_column_free frees it. */
hac_column test_column_new(hac_repr repr, bool states);
void test_column_free(hac_column *column);
/* Each row has its own place for a string in the column's bytes. */
void test_column_set(hac_column *column, hac_repr repr, size_t row, const ref_value *value);

#endif
