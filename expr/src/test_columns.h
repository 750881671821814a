/* SPDX-License-Identifier: Apache-2.0 */
/* For tests: batches of edge cases and random values, of every type, with states. */
#ifndef EXPR_TEST_COLUMNS_H
#define EXPR_TEST_COLUMNS_H

#include "machine_reference.h"

typedef struct test_random {
    uint64_t state;
} test_random;

uint64_t test_next(test_random *random);
uint64_t test_below(test_random *random, uint64_t n);

/* A value of a representation: from its list of edge cases, close to one, or random. */
ref_value test_value(test_random *random, hac_repr repr);
/* Edge case `i` of a representation; how many there are. */
ref_value test_edge(hac_repr repr, size_t i);
size_t test_edges(hac_repr repr);

/* A type of that representation. */
hac_value_type test_type(hac_repr repr);

/* A column with room for a batch, its memory included; freed by test_column_free. */
hac_vector test_column_new(hac_repr repr, bool states);
void test_column_free(hac_vector *column);
/* Strings go to their own place in the column's bytes. */
void test_column_set(hac_vector *column, hac_repr repr, size_t row, const ref_value *value);

#endif
