/* SPDX-License-Identifier: Apache-2.0 */
/* child.h and scratch.h without processes and files, for the fuzz target of sessions: children are objects
 * that answer what the fuzzer tells them. They die like real ones: from the loop, some time after they are
 * told to. */
#ifndef FUZZ_FAKE_CHILD_H
#define FUZZ_FAKE_CHILD_H

#include <stddef.h>
#include <stdint.h>

#include "loop/child.h"

/* Number of children. They are numbered from 0 in the order of their starts. */
size_t fake_children(void);

/* What every child reports at its start: facts, and that a self-test has passed. */
void fake_children_start_up(void);

/* Reports these bytes, valid or not. */
void fake_child_report(size_t index, const uint8_t *body, size_t bytes);

/* Ends the child's oldest task, with a code, values and data. */
void fake_child_answer(size_t index, uint32_t code, uint64_t *values, size_t n_values, uint8_t *data,
                       size_t bytes);

void fake_child_die(size_t index, int64_t status, int signal);

#endif
