/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Aggregation: rows of keys and arguments to groups. One table is filled in input order by one thread;
 * partials of tables (partial.h) are merged in chunk order. Keys: any number, any type, null is a key of its
 * own, NaNs are one key, -0.0 is 0.0. The hash is seeded. Memory is counted and bounded.
 */
#ifndef QUERY_GROUP_TABLE_H
#define QUERY_GROUP_TABLE_H

#include "expr/query.h"

typedef struct hac_group_table hac_group_table;

typedef struct hac_group_options {
    uint64_t seed;
    uint64_t memory;       /* bytes the table may take */
    uint32_t partitions;   /* a power of two; groups come out ordered by the top bits of their hash */
    uint32_t pass, passes; /* only keys of this range of hashes are taken in; passes ≤ 1: all */
} hac_group_options;

HAC_MUST_USE hac_status hac_group_table_new(const hac_query *query, const hac_group_options *options,
                                            hac_group_table **ret, hac_error *err);
void hac_group_table_free(hac_group_table *table);
/* Empties the table and keeps its memory. */
void hac_group_table_reset(hac_group_table *table);

/* Takes in rows: the outputs of query->rows, keys first. No row may have a state above HAC_ROW_NULL.
 * HAC_NO_MEMORY: over options.memory; the table is spoilt. HAC_FAILED: a sum overflows (the message names the
 * aggregate). */
HAC_MUST_USE hac_status hac_group_table_add(hac_group_table *table, const hac_vector *columns, size_t rows,
                                            hac_error *err);
/* Without keys there is one group, also when there are no rows: makes it. */
HAC_MUST_USE hac_status hac_group_table_ensure(hac_group_table *table, hac_error *err);
uint64_t hac_group_table_groups(const hac_group_table *table);

/* The table's groups as the partial of chunk number `chunk`: ordered by partition, in first-seen order within
 * it. *ret_bytes is what it takes; it is written only when that is within `room`. The format is partial.h's.
 * HAC_NO_MEMORY. */
HAC_MUST_USE hac_status hac_group_table_write(hac_group_table *table, uint64_t chunk, uint8_t *ret,
                                              uint64_t room, uint64_t *ret_bytes, hac_error *err);

/* Merges partition `partition` of chunk `chunk`'s partial into the table (chunks in ascending order). The
 * bytes are untrusted: another executor may have written them. HAC_INVALID, HAC_NO_MEMORY, HAC_FAILED as
 * above. */
HAC_MUST_USE hac_status hac_group_table_merge(hac_group_table *table, uint64_t chunk, const uint8_t *partial,
                                              uint64_t bytes, uint32_t partition, hac_error *err);

/* Groups [first, first + n) in first-seen order as vectors: keys, then results of the aggregates; the inputs
 * of query->finals. n ≤ HAC_BATCH_ROWS; ret has room for n_keys + n_aggregates. Valid until the next call. */
HAC_MUST_USE hac_status hac_group_table_results(hac_group_table *table, uint64_t first, size_t n,
                                                hac_vector *ret, hac_error *err);

#endif
