/* SPDX-License-Identifier: Apache-2.0 */
/*
 * op.while: one task that runs several rounds of a loop (docs/decisions/0016-rounds-in-one-task.md). It is a
 * host codelet and not a range task. Its inline data begins with a call (hac/op.h) that evaluates the
 * condition. These parts follow, each at a multiple of 8 bytes:
 *
 *     hac_op_while_head
 *     hac_op_carry        n_carries
 *     n_calls times       hac_op_while_call, hac_op_part for each of its n_spans, call_bytes of its own call
 *
 * The operands of the condition are `history` (written) and x1 … x7 (read), the Vars that its program reads.
 * The program's result is a bool. `history` is a u64 matrix with one row for each round and one column for
 * each x. A round does this:
 *
 *     1. copies each carried value to its place: from `first` in the first round, from `from` later
 *     2. makes the calls, in order
 *     3. writes x1 … x7 into the round's row of `history`, integers widened to 64 bits
 *     4. evaluates the condition; a null counts as false
 *
 * The task ends when the condition is false, when the history is full, or when a call fails because of its
 * data. It then reports two values, and writes both into `state`:
 *
 *     value 0             number of complete rounds
 *     value 1             hac_op_while_end
 *
 * A task may continue the loop of an earlier op.while task. Its `before` is then the `state` of the earlier
 * task, and it runs no rounds unless the earlier task ended with HAC_OP_WHILE_ON.
 *
 * The rounds must not write data that a round reads and that existed before the task: the task can then be
 * repeated from its beginning.
 */
#ifndef BASE_OP_WHILE_H
#define BASE_OP_WHILE_H

#include <stdint.h>

#define HAC_OP_WHILE_CALLS_MAX   64
#define HAC_OP_WHILE_CARRIES_MAX 32
#define HAC_OP_WHILE_VARS_MAX    7

typedef enum hac_op_while_end {
    HAC_OP_WHILE_ON = 0, /* the condition is still true */
    HAC_OP_WHILE_OFF,    /* the condition is false */
    HAC_OP_WHILE_FAILED, /* a call failed in the round after the last complete one */
} hac_op_while_end;

/* A range of bytes in a span of the task. */
typedef struct hac_op_part {
    uint32_t span, unused;
    uint64_t offset, bytes;
} hac_op_part;

typedef struct hac_op_while_head {
    uint32_t n_carries, n_calls;
    hac_op_part state, before; /* 16 bytes each; `before` may be empty */
} hac_op_while_head;

typedef struct hac_op_carry {
    /* A value that one round hands to the next. The three parts have the same size; `first` and `to` do not
     * overlap. All values are copied as if at the same time, so `from` may be the `to` of the same value or
     * of another one. */
    hac_op_part first, from, to;
} hac_op_carry;

typedef struct hac_op_while_call {
    char codelet[32]; /* zero-terminated */
    uint64_t first, count;
    uint32_t n_spans, call_bytes;
} hac_op_while_call;

/* Rounds up to a multiple of 8: where the next part begins. */
static inline uint64_t hac_op_while_up(uint64_t bytes)
{
    return (bytes + 7) / 8 * 8;
}

#endif
