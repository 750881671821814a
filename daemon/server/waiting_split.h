/* SPDX-License-Identifier: Apache-2.0 */
/* A split that its client has handed over and that is not answered (job_splits.h): where its bytes are, what
 * is said of it, and the rows that go with its answer. */
#ifndef SERVER_WAITING_SPLIT_H
#define SERVER_WAITING_SPLIT_H

#include "job.h"
#include "planner/query_plan.h"
#include "session.h"

typedef struct hac_waiting_split {
    hac_pool_buffer *buffer; /* held; NULL: it lies in a file … */
    hac_round_file file;     /* … here, of the job's descriptor `slot` */
    uint8_t slot;            /* no other split of the job with data has it; its name's as well */
    uint64_t bytes, set_bytes, serial, number;
    uint32_t sets;
    char *name;
    hac_pool_buffer *rows; /* its answer has them; held */
    uint64_t rows_bytes;
} hac_waiting_split;

/* The split's data and name, for slot `split->slot`: a buffer of the session, or the descriptor that comes
 * with the request. HAC_INVALID: there is none such. */
HAC_MUST_USE hac_status hac_waiting_split_take(hac_session *session, hac_job *job,
                                               const Hac__Client__AppendSplit *request, hac_frame *frame,
                                               hac_waiting_split *split, hac_error *err);

/* Its first data sets, fewer than it has, are not needed any more. It lies in a file. */
void hac_waiting_split_advance(hac_waiting_split *split, uint32_t sets);
/* Its data are not needed any more; and nothing of it is. */
void hac_waiting_split_let_go(hac_job *job, hac_waiting_split *split);
void hac_waiting_split_drop(hac_job *job, hac_waiting_split *split);

#endif
