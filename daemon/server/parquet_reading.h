/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a query's job knows of its Parquet files: how many rows each has, as executors have said who read the
 * footers, and what reading took. hacd looks into no file.
 */
#ifndef SERVER_PARQUET_READING_H
#define SERVER_PARQUET_READING_H

#include "base/query_layout.h"
#include "base/text.h"
#include "planner/query_plan.h"
#include "proto/messages.h"

typedef struct hac_parquet_reading {
    bool counted[HAC_QUERY_SOURCES_MAX]; /* its footer was read: */
    uint64_t rows[HAC_QUERY_SOURCES_MAX];
    uint64_t decoded[HAC_QUERY_SOURCES_MAX]; /* bytes of the query's columns */
    uint64_t stamps[HAC_QUERY_SOURCES_MAX];  /* HAC_COMPILE_STAMP */
    uint64_t group_rows;                     /* of the largest row group of any */
} hac_parquet_reading;

/* Takes what query.compile (source 0) or query.footer has said of a file. */
void hac_parquet_reading_take(hac_parquet_reading *reading, size_t source, const Hac__Executor__Done *done);

/* Sources counted in rows, and what has to be looked at. False: some footers are yet to be read. */
bool hac_parquet_reading_apply(const hac_parquet_reading *reading, hac_query_spec *spec);

/* Adds the hac_read_value values of a task from `first` on. */
void hac_parquet_reading_add(uint64_t totals[HAC_READ_N_VALUES], const Hac__Executor__Done *done,
                             size_t first);

/* Member "parquet" of the receipt. Seconds are of all threads together. */
void hac_parquet_reading_json(const uint64_t totals[HAC_READ_N_VALUES], hac_text *text);

#endif
