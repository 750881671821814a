/* SPDX-License-Identifier: Apache-2.0 */
/* The memory of a plan's buffers: held by the job, or allocated from its user's pool. */
#ifndef SERVER_PLAN_BUFFERS_H
#define SERVER_PLAN_BUFFERS_H

#include "job.h"

/* Provides all buffers of the job's plan except late ones (hac_plan_buffers_attach_late). HAC_REFUSED: they
 * exceed the job's limit, or its user's. */
HAC_MUST_USE hac_status hac_plan_buffers_attach(hacd_job *job, hac_error *err);

/* Allocates a late buffer of the running plan with its current size. Its previous memory is released. */
HAC_MUST_USE hac_status hac_plan_buffers_attach_late(hacd_job *job, int buffer, hac_error *err);

/* Bytes of the result of the job's plan: the keys or indices, and the payload after them if there is one. */
uint64_t hac_plan_buffers_result_bytes(const hacd_job *job);

/* HAC_REFUSED: the job needs `needed` bytes, more than its limit. */
hac_status hac_plan_buffers_over_limit(const hacd_job *job, uint64_t needed, hac_error *err);

#endif
