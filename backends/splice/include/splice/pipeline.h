/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The splice pipeline up to a device: data sets of a task (chunks of its source) become WorkingBuffers. All
 * stages run at the same time on different data sets.
 *
 *     readers, one a CPU                     splicer, one            the caller
 *     data set ─▶ LaunchingBuffer (ring) ─▶ WorkingBuffer (two) ─▶ the device maps it
 *
 * Each reader claims the next data set and parses it into the ring's next LaunchingBuffer. The splicer takes
 * blocks in the order of their data sets. A full WorkingBuffer, and the last one, is handed to the caller;
 * the other one is filled while the device works. The faster side waits: readers for a free LaunchingBuffer,
 * the splicer for a block or an empty WorkingBuffer, the caller for a full one.
 *
 * Memory: `bytes` for each WorkingBuffer and their look-up indices; `bytes` for all LaunchingBuffers
 * together, except that the one whose turn it is may use as much again. A data set whose block does not fit
 * an empty WorkingBuffer is left to the caller, which has another method. Results do not depend on sizes or
 * threads.
 *
 * Called by the device's thread. If threads cannot be created, the caller does their work in
 * hac_pipeline_next.
 */
#ifndef SPLICE_PIPELINE_H
#define SPLICE_PIPELINE_H

#include "query/source.h"
#include "query/stage_counters.h"
#include "query/task.h"
#include "splice/working_buffer.h"

#define HAC_WORKING_BYTES (UINT64_C(256) << 20)

typedef struct hac_pipeline hac_pipeline;

typedef struct hac_pipeline_options {
    const hac_query_task *task; /* the task with the source; borrowed */
    hac_span quotes;            /* csv: the span "quotes", as for query.aggregate */
    uint64_t first, n;          /* data sets: chunks of the source */
    uint64_t blocks;            /* maximum of blocks in a WorkingBuffer */
    uint64_t bytes;             /* maximum size of a WorkingBuffer's blocks; 0: HAC_WORKING_BYTES */
    bool other_order;           /* the device's byte order is not the host's */
    /* For tests; 0 and NULL are the defaults. */
    unsigned ring;                                 /* LaunchingBuffers; 0: two for each reader */
    bool alone;                                    /* no threads */
    void (*begins)(void *context, uint64_t chunk); /* called by a reader for each data set */
    void *context;
} hac_pipeline_options;

/* Work for the device. */
typedef struct hac_pipeline_work {
    /* the device may change its memory; NULL: the data set is too large for a WorkingBuffer */
    hac_working_buffer *buffer;
    uint64_t chunk; /* the first data set in the buffer, or the large one */
} hac_pipeline_work;

/* Starts reading. HAC_NO_MEMORY, HAC_INVALID. */
HAC_MUST_USE hac_status hac_pipeline_new(const hac_pipeline_options *options, hac_pipeline **ret,
                                         hac_error *err);
/* Stops all threads and waits for them. */
void hac_pipeline_free(hac_pipeline *pipeline);

/* Waits for the next work, in the order of data sets; the previous work belongs to the pipeline again.
 * HAC_NOT_FOUND: all data sets are done. HAC_FAILED: a record or the file cannot be read, with the message of
 * hac_source_next; if several data sets fail, the lowest counts, and all work before it has been returned. */
HAC_MUST_USE hac_status hac_pipeline_next(hac_pipeline *pipeline, hac_pipeline_work *ret, hac_error *err);

/* Adds the counters of sources and buffers; after HAC_NOT_FOUND. */
void hac_pipeline_count(const hac_pipeline *pipeline, hac_source_counters *reading,
                        hac_splice_counters *counters);

#endif
