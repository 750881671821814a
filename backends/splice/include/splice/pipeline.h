/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Flow B up to a device: the data sets of a task (chunks of its source) become WorkingBuffers, all stages at
 * the same time and on different data sets.
 *
 *     readers, one a CPU                     splicer, one            the caller
 *     data set ─▶ LaunchingBuffer (ring) ─▶ WorkingBuffer (two) ─▶ the device maps it
 *
 * Each reader takes the next data set, parses it, and has the ring's next LaunchingBuffer for it. The splicer
 * takes blocks in the order of their data sets. A WorkingBuffer that is full, and the last one, is handed to
 * the caller; while the device works on it the other one is filled. Whoever is faster waits: readers for a
 * free LaunchingBuffer, the splicer for a block or an empty WorkingBuffer, the caller for a full one.
 *
 * Memory: of the WorkingBuffers `bytes` each and their look-up indices, of the LaunchingBuffers together
 * `bytes` at most, but for the one whose turn it is: it may have as much again. A data set whose block does
 * not fit an empty WorkingBuffer is left to the caller (it has another way). What data sets and blocks are
 * does not depend on any of this: neither sizes nor threads play a part in results.
 *
 * Called by one thread, the device's. Threads that cannot be made are done without: the caller's does their
 * work, in hac_pipeline_next.
 */
#ifndef SPLICE_PIPELINE_H
#define SPLICE_PIPELINE_H

#include "query/source.h"
#include "query/stages.h"
#include "query/task.h"
#include "splice/working_buffer.h"

#define HAC_WORKING_BYTES (UINT64_C(256) << 20)

typedef struct hac_pipeline hac_pipeline;

typedef struct hac_pipeline_options {
    const hac_query_task *task; /* its source; borrowed */
    hac_span quotes;            /* of csv, as query.aggregate gets it */
    uint64_t first, n;          /* data sets: chunks of the source */
    uint64_t blocks;            /* of a WorkingBuffer, at most */
    uint64_t bytes;             /* of a WorkingBuffer's blocks, at most; 0: HAC_WORKING_BYTES */
    bool other_order;           /* the device's byte order is not the host's */
    /* For tests: 0 and NULL are what is usual. */
    unsigned ring;                                 /* LaunchingBuffers; 0: two a reader */
    bool alone;                                    /* no threads */
    void (*begins)(void *context, uint64_t chunk); /* called by a reader for each data set */
    void *context;
} hac_pipeline_options;

/* What the device is to do next. */
typedef struct hac_pipeline_work {
    hac_working_buffer *buffer; /* the device may change its memory; NULL: a data set too large for one */
    uint64_t chunk;             /* the first one in it, or that one */
} hac_pipeline_work;

/* Begins to read. HAC_NO_MEMORY, HAC_INVALID. */
HAC_MUST_USE hac_status hac_pipeline_new(const hac_pipeline_options *options, hac_pipeline **ret,
                                         hac_error *err);
/* Ends what is at work and waits for it. */
void hac_pipeline_free(hac_pipeline *pipeline);

/*
 * Waits for the next work, in the order of data sets; what the call before gave is the pipeline's again.
 * HAC_NOT_FOUND: all data sets are through. HAC_FAILED: a record that cannot be read, as hac_source_next says
 * it, or the file; of several data sets the lowest, and all work in front of it has been given.
 */
HAC_MUST_USE hac_status hac_pipeline_next(hac_pipeline *pipeline, hac_pipeline_work *ret, hac_error *err);

/* Adds what sources and buffers have counted; after HAC_NOT_FOUND. */
void hac_pipeline_count(const hac_pipeline *pipeline, hac_source_counters *reading,
                        hac_splice_counters *counters);

#endif
