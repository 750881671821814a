/* SPDX-License-Identifier: Apache-2.0 */
/* Aggregation: turns rows of keys and arguments into groups. One thread fills a table in input order;
 * partials of tables (partial.h) are merged in chunk order. There may be any number of keys of any type. Null
 * is a key, all NaNs are one key, -0.0 equals 0.0. The hash is seeded. Memory is counted and limited. */
#ifndef QUERY_GROUP_TABLE_H
#define QUERY_GROUP_TABLE_H

#include "expr/group_layout.h"

typedef struct hac_group_table hac_group_table;

typedef struct hac_group_options {
    uint64_t seed;
    uint64_t memory; /* limit in bytes */
    /* Number of partitions, a power of two. The top bits of a key's hash are its partition. Partials are
     * ordered by partition. */
    uint32_t partitions;
    /* The table keeps only the groups of key range `pass` of `passes`; passes ≤ 1: all groups. */
    uint32_t pass, passes;
} hac_group_options;

HAC_MUST_USE hac_status hac_group_table_new(const hac_query *query, const hac_group_options *options,
                                            hac_group_table **ret, hac_error *err);
void hac_group_table_free(hac_group_table *table);
/* Empties the table and keeps its memory. */
void hac_group_table_reset(hac_group_table *table);

/* Adds rows: `columns` are the outputs of query->rows, keys first; all states are HAC_ROW_OK or HAC_ROW_NULL.
 * HAC_NO_MEMORY: options.memory is exceeded; the table cannot be used any more. */
HAC_MUST_USE hac_status hac_group_table_add(hac_group_table *table, const hac_column *columns, size_t rows,
                                            hac_error *err);
/* A query without keys has exactly one group, even without rows: creates it. */
HAC_MUST_USE hac_status hac_group_table_ensure(hac_group_table *table, hac_error *err);
uint64_t hac_group_table_groups(const hac_group_table *table);

/* Writes the table's groups as the partial of chunk number `chunk` (format: partial.h), ordered by partition
 * and in first-seen order within a partition. *ret_bytes is the size of the partial. Nothing is written if
 * the partial is larger than `capacity` bytes. */
HAC_MUST_USE hac_status hac_group_table_write(hac_group_table *table, uint64_t chunk, uint8_t *ret,
                                              uint64_t capacity, uint64_t *ret_bytes, hac_error *err);

/* Counts rows of which nothing but their number is wanted: query->rows has no outputs. */
HAC_MUST_USE hac_status hac_group_table_count(hac_group_table *table, uint64_t rows, hac_error *err);

/* Adds to the group of a query without keys: rows, and for each output of query->rows the number of rows for
 * which it is null. Numbers are modulo 2^64, so that these may correct what rows have added. */
HAC_MUST_USE hac_status hac_group_table_correct(hac_group_table *table, uint64_t rows, const uint64_t *nulls,
                                                hac_error *err);

/* Merges partition `partition` of a chunk's partial into the table; chunks come in ascending order. The bytes
 * are not trusted: another process wrote them. HAC_INVALID, HAC_NO_MEMORY as for hac_group_table_add. */
HAC_MUST_USE hac_status hac_group_table_merge(hac_group_table *table, uint64_t chunk, const uint8_t *partial,
                                              uint64_t bytes, uint32_t partition, hac_error *err);

/*
 * Adds `n` groups (at most HAC_BATCH_ROWS) that a device has aggregated. `columns` are the outputs of
 * query->rows for one row of each group. figures[i] points to the words of group i's record
 * (expr/group_layout.h) from rows_offset on. Windows in these words are in the units `units`, one for each
 * accumulator of the layout; NULL: in the table's own units, as when no argument is a float. A group whose
 * key is in the table is merged with it. Groups of other passes are ignored. A query without keys has one
 * group, also for n = 0. Errors as for hac_group_table_add.
 */
HAC_MUST_USE hac_status hac_group_table_put(hac_group_table *table, const hac_column *columns,
                                            const uint64_t *const *figures, const hac_exact_units *units,
                                            size_t n, hac_error *err);

/* Returns groups [first, first + n) in first-seen order as columns: keys, then results of the aggregates,
 * which are the inputs of query->finals. n ≤ HAC_BATCH_ROWS; ret has n_keys + n_aggregates columns, valid
 * until the next call. */
HAC_MUST_USE hac_status hac_group_table_results(hac_group_table *table, uint64_t first, size_t n,
                                                hac_column *ret, hac_error *err);

/*
 * For the table of hac_distinct_query.pairs: groups [first, first + n) as the columns of the query's own keys
 * and one more, whose values are the rows of each pair (uint64_t) and whose state is null if x is. As for
 * hac_group_table_results otherwise.
 */
HAC_MUST_USE hac_status hac_group_table_pairs(hac_group_table *table, uint64_t first, size_t n,
                                              hac_column *ret, hac_error *err);

/* Sums over such a table for a query without keys. */
typedef struct hac_group_pair_counts {
    uint64_t pairs, rows; /* including that of null */
    uint64_t null_rows;   /* 0: x is never null */
} hac_group_pair_counts;
HAC_MUST_USE hac_status hac_group_table_count_pairs(hac_group_table *table, hac_group_pair_counts *ret,
                                                    hac_error *err);

#endif
