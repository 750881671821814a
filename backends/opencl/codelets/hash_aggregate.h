/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Codelet hash.aggregate: flow C on the device. Span, parameters and values: base/query_layout.h. A table in
 * memory is worked on where it is; every other source comes as columns, by splice/pipeline.h. HAC_UNSUPPORTED
 * says what of the query this device cannot do; the planner takes query.aggregate then. Both write partials
 * that merge to the same groups, bit for bit.
 *
 * Block style keeps the rows' order, so it sums floats as the C engine does; lock-step style does so only
 * with HAC_QUERY_SHARED_TABLES.
 */
#ifndef CODELETS_HASH_AGGREGATE_H
#define CODELETS_HASH_AGGREGATE_H

#include "base/query_layout.h"
#include "opencl/codelet.h"

HAC_MUST_USE hac_status hac_hash_aggregate_check(const hac_device_facts *facts, const hac_task *task,
                                                 hac_error *err);
HAC_MUST_USE hac_status hac_hash_aggregate_run(hac_device *device, const hac_task *task,
                                               hac_task_result *result, hac_error *err);
const char *hac_hash_aggregate_program(const hac_device_facts *facts, hac_type type);
HAC_MUST_USE hac_status hac_hash_aggregate_known_answer(hac_device *device, hac_type type, hac_error *err);

#define HAC_HASH_CODELETS                                                                                    \
    {                                                                                                        \
        .name = "hash.aggregate",                                                                            \
        .engine = HAC_ENGINE_OPENCL,                                                                         \
        .min_spans = 3,                                                                                      \
        .max_spans = 3,                                                                                      \
        .min_params = HAC_QUERY_N_PARAMS,                                                                    \
        .max_params = HAC_QUERY_N_PARAMS,                                                                    \
        .check = hac_hash_aggregate_check,                                                                   \
        .run = hac_hash_aggregate_run,                                                                       \
        .program = hac_hash_aggregate_program,                                                               \
        .known_answer = hac_hash_aggregate_known_answer,                                                     \
    },

#endif
