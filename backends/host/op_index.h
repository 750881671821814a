/* SPDX-License-Identifier: Apache-2.0 */
/* op.index: texts are numbered in a file of their own. */
#ifndef HOST_OP_INDEX_H
#define HOST_OP_INDEX_H

#include "op_parts.h"

/* What the hashes of a call begin with (query/hash.h): random, so that nobody can prepare values that
 * collide. */
uint64_t hac_op_index_hash_start(void);

/* Each row's id: the rank of its number; rows of x, then of x2. */
void hac_op_put_ids(const hac_op_request *r, const uint64_t *numbers, const uint32_t *ranks);

/* How many distinct texts there are, and their bytes; nothing is written where these have no room. */
HAC_MUST_USE hac_status hac_op_index_texts(const hac_op_request *r, uint64_t *ret_distinct,
                                           uint64_t *ret_bytes, hac_error *err);

#endif
