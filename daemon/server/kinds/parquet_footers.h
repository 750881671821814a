/* SPDX-License-Identifier: Apache-2.0 */
/* What a query's job knows about its Parquet files: the number of rows in each, as reported by the executors
 * that read the footers, and what reading cost. hacd looks into no file. */
#ifndef SERVER_PARQUET_FOOTERS_H
#define SERVER_PARQUET_FOOTERS_H

#include "base/query_layout.h"
#include "base/text.h"
#include "planner/query_plan.h"
#include "proto/messages.h"

typedef struct hac_parquet_footers {
    bool counted[HAC_DESCRIPTORS_MAX]; /* its footer was read; the following are known: */
    uint64_t values[HAC_DESCRIPTORS_MAX][HAC_FOOTER_N_VALUES];
} hac_parquet_footers;

/* Takes what query.footer reported about a file. */
void hac_parquet_footers_take(hac_parquet_footers *reading, size_t source, const Hac__Executor__Done *done);
/* Takes the HAC_FOOTER_N_VALUES values of a file that a client asked for before. */
void hac_parquet_footers_take_values(hac_parquet_footers *reading, size_t source, const uint64_t *values);

/* Writes HAC_FOOTER_N_VALUES values for each of the `n` files, which have been read. */
void hac_parquet_footers_write(const hac_parquet_footers *reading, size_t n, uint64_t *ret);

/* Counts the sources in rows, and sets the bytes to read and those of them that statistics answer. Returns
 * false if some footers have not been read. */
bool hac_parquet_footers_apply(const hac_parquet_footers *reading, hac_query_spec *spec);

/* Adds the hac_read_value values of a task, which start at `first`. */
void hac_parquet_footers_add(uint64_t totals[HAC_READ_N_VALUES], const Hac__Executor__Done *done,
                             size_t first);

/* Adds member "parquet" to the receipt. Seconds are summed over all threads. */
void hac_parquet_footers_json(const uint64_t totals[HAC_READ_N_VALUES], hac_text *text);

#endif
