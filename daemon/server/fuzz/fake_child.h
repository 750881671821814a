/* SPDX-License-Identifier: Apache-2.0 */
/*
 * child.h and scratch.h without processes and files, for the session's fuzz target: children are objects that
 * answer what the fuzzer makes them answer. They die as real ones do: from the loop, some time after they are
 * told to.
 */
#ifndef FUZZ_FAKE_CHILD_H
#define FUZZ_FAKE_CHILD_H

#include <stddef.h>
#include <stdint.h>

#include "child.h"

/* How many there are; they are numbered from 0 on, in the order of their starts. */
size_t fake_children(void);

/* What every child answers unasked: its facts, that a self-test has passed. */
void fake_children_start_up(void);

/* One report of these bytes, valid or not. */
void fake_child_report(size_t index, const uint8_t *body, size_t bytes);

/* The end of the task it was given first: a code, values, data. */
void fake_child_answer(size_t index, uint32_t code, uint64_t *values, size_t n_values, uint8_t *data,
                       size_t bytes);

void fake_child_die(size_t index, int64_t status, int signal);

#endif
