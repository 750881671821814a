/* SPDX-License-Identifier: Apache-2.0 */
#include "waiting_split.h"

#include <stdlib.h>
#include <string.h>

#include "submission.h"

/* The size of the file shows when it is read. */
static hac_status take_file(hacd_job *job, const Hac__Client__AppendSplit *request, hac_frame *frame,
                            hac_waiting_split *split, hac_error *err)
{
    hac_status status = hac_submission_take_file(job, split->slot, request->name, frame, err);
    split->file = (hac_round_file){.there = status == HAC_OK,
                                   .offset = request->offset,
                                   .set_bytes = request->set_bytes,
                                   .bytes_before = request->bytes_before};
    job->from_descriptor |= split->file.there;
    return status;
}

hac_status hac_waiting_split_take(hac_session *session, hacd_job *job,
                                  const Hac__Client__AppendSplit *request, hac_frame *frame,
                                  hac_waiting_split *split, hac_error *err)
{
    hac_status status = request->in_file
                            ? take_file(job, request, frame, split, err)
                            : hac_submission_take_buffer(session, request->buffer, 0, request->bytes, "split",
                                                         &split->buffer, err);
    if (status != HAC_OK)
        return status;
    split->name = strdup(request->name);
    status = split->name == NULL
                 ? hac_fail_no_memory(err)
                 : hacd_job_put_path(job, split->slot, request->path.data, request->path.len, err);
    if (status != HAC_OK)
        hac_waiting_split_drop(job, split);
    return status;
}

void hac_waiting_split_advance(hac_waiting_split *split, uint32_t sets)
{
    uint64_t bytes = sets * split->file.set_bytes;
    split->file.offset += bytes;
    split->file.bytes_before += bytes;
    split->bytes -= bytes;
    split->sets -= sets;
    if (split->set_bytes > split->bytes)
        split->set_bytes = split->bytes;
}

void hac_waiting_split_let_go(hacd_job *job, hac_waiting_split *split)
{
    hac_pool_clear(&split->buffer);
    if (split->file.there)
        hacd_job_drop_descriptor(job, split->slot);
    split->file.there = false;
}

void hac_waiting_split_drop(hacd_job *job, hac_waiting_split *split)
{
    hac_waiting_split_let_go(job, split);
    hac_pool_clear(&split->rows);
    free(split->name);
    split->name = NULL;
}
