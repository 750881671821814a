/* SPDX-License-Identifier: Apache-2.0 */
/* What op_index.c and op_index_text.c share. */
#ifndef HOST_OP_INDEX_H
#define HOST_OP_INDEX_H

#include "host/op_parts.h"

/* The seed of a call's hashes (codelet/hash.h). It is random, so that nobody can prepare values that
 * collide. */
uint64_t hac_op_index_hash_start(void);

/* The ids of operand x (2 or 4): where they are written. */
uint32_t *hac_op_index_ids(const hac_op_request *r, size_t x);

/* Writes each row's id, the rank of its number. `numbers` has the rows of x, then those of x2. */
void hac_op_put_ids(const hac_op_request *r, const uint64_t *numbers, const uint32_t *ranks);

/* op.index of texts: the number of distinct texts, and their bytes. Nothing is written if the result is too
 * small for them. */
HAC_MUST_USE hac_status hac_op_index_texts(const hac_op_request *r, uint64_t *ret_distinct,
                                           uint64_t *ret_bytes, hac_error *err);

#endif
