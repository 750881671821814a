/* SPDX-License-Identifier: Apache-2.0 */
/* A split that its client has handed over and that is not answered yet (job_splits.h): where its bytes are,
 * its properties, and the rows that go with its answer. */
#ifndef SERVER_WAITING_SPLIT_H
#define SERVER_WAITING_SPLIT_H

#include "jobs/job.h"
#include "planner/query_plan.h"
#include "sessions/session.h"

typedef struct hac_waiting_split {
    hac_pool_buffer *buffer; /* held; NULL: the split is in a file */
    hac_round_file file;     /* where it is in the job's descriptor `slot` */
    uint8_t slot;            /* unique among the job's splits with data; also the index of its name */
    uint64_t bytes, set_bytes, serial, number;
    uint32_t sets;
    char *name;
    hac_pool_buffer *rows; /* rows for its answer; held */
    uint64_t rows_bytes;
} hac_waiting_split;

/* Takes the split's data and name for slot `split->slot`: a buffer of the session, or the descriptor that
 * comes with the request. HAC_INVALID: there is no such buffer or descriptor. */
HAC_MUST_USE hac_status hac_waiting_split_take(hac_session *session, hacd_job *job,
                                               const Hac__Client__AppendSplit *request, hac_frame *frame,
                                               hac_waiting_split *split, hac_error *err);

/* Drops the first data sets of a split in a file; at least one is left. */
void hac_waiting_split_advance(hac_waiting_split *split, uint32_t sets);
/* hac_waiting_split_let_go releases the split's data, hac_waiting_split_drop everything. */
void hac_waiting_split_let_go(hacd_job *job, hac_waiting_split *split);
void hac_waiting_split_drop(hacd_job *job, hac_waiting_split *split);

#endif
