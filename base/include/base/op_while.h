/* SPDX-License-Identifier: Apache-2.0 */
/*
 * op.while: rounds of a loop as one task (docs/decisions/0016-rounds-in-one-task.md). Host only, without a
 * range. Its inline data is a call (hac/op.h) of the condition and then, each part at a multiple of 8 bytes:
 *
 *     hac_op_while_head
 *     hac_op_carry        n_carries
 *     n_calls times       hac_op_while_call, its hac_op_part n_spans, the bytes of its own call
 *
 * The condition's operands are W history, R x1 ... x7: u64, a row a round and a column for each x; and the
 * Vars that its program (bool) reads. A round copies what is carried (in the first one from `first`, later
 * from `from`), makes the calls in turn, keeps x1 ... (integers widened) in the history and looks at the
 * condition. The task ends after as many rounds as the history has rows, after one behind which the condition
 * is not true (a value that it does not have is not), or in one of which a call fails of its data. It leaves
 * both of its values in `state`. One that goes on behind another, whose state is `before`, does nothing where
 * that one did not end as HAC_OP_WHILE_ON.
 *
 * Nothing that is read before the first round may be written: the task can be done again from its beginning.
 *
 * Values: 0 rounds that were done whole, 1 hac_op_while_end.
 */
#ifndef BASE_OP_WHILE_H
#define BASE_OP_WHILE_H

#include <stdint.h>

#define HAC_OP_WHILE_CALLS_MAX   64
#define HAC_OP_WHILE_CARRIES_MAX 32
#define HAC_OP_WHILE_VARS_MAX    7

typedef enum hac_op_while_end {
    HAC_OP_WHILE_ON = 0, /* it could go on */
    HAC_OP_WHILE_OFF,    /* the condition is not true */
    HAC_OP_WHILE_FAILED, /* a call of the round behind the last whole one */
} hac_op_while_end;

/* Bytes in a span of the task. */
typedef struct hac_op_part {
    uint32_t span, unused;
    uint64_t offset, bytes;
} hac_op_part;

typedef struct hac_op_while_head {
    uint32_t n_carries, n_calls;
    hac_op_part state, before; /* 16 bytes each; `before` may have none */
} hac_op_while_head;

typedef struct hac_op_carry {
    /* Of the same size, `first` aside of `to`. All are copied as if at once: `from` may be the `to` of
     * another one, or its own. */
    hac_op_part first, from, to;
} hac_op_carry;

typedef struct hac_op_while_call {
    char codelet[32]; /* ends with a zero */
    uint64_t first, count;
    uint32_t n_spans, call_bytes;
} hac_op_while_call;

/* Where the next part begins. */
static inline uint64_t hac_op_while_up(uint64_t bytes)
{
    return (bytes + 7) / 8 * 8;
}

#endif
