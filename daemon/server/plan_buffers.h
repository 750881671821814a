/* SPDX-License-Identifier: Apache-2.0 */
/* The memory of a plan's buffers: the job's own, or taken from its user's pool. */
#ifndef SERVER_PLAN_BUFFERS_H
#define SERVER_PLAN_BUFFERS_H

#include "job.h"

/* All buffers of the job's plan but the late ones (hac_scheduler_attach). HAC_REFUSED: they do not fit the
 * job's limit, or its user's. */
HAC_MUST_USE hac_status hac_plan_buffers_attach(hac_job *job, hac_error *err);

#endif
