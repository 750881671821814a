/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Codelet hash.aggregate: hash aggregation on the device. Spans, parameters and values are in
 * base/query_layout.h. Kernels work in place on a table in memory. Other sources come as columns through
 * splice/pipeline.h. HAC_UNSUPPORTED: the device cannot run the query, for the reason in the message; the
 * planner then uses query.aggregate. Both codelets write partials that merge to the same groups, bit for bit.
 *
 * Sums of floats are exact (base/exact.h): no order of rows, style or device changes a bit. A chunk whose
 * values fit no common window goes to the C engine.
 */
#ifndef CODELETS_HASH_AGGREGATE_H
#define CODELETS_HASH_AGGREGATE_H

#include "base/query_layout.h"
#include "codelet/codelet.h"

HAC_MUST_USE hac_status hac_hash_aggregate_check(const hac_device_facts *facts, const hac_task *task,
                                                 hac_error *err);
HAC_MUST_USE hac_status hac_hash_aggregate_run(hac_device *device, const hac_task *task,
                                               hac_task_result *result, hac_error *err);
const char *hac_hash_aggregate_program(const hac_device_facts *facts, hac_type type);
HAC_MUST_USE hac_status hac_hash_aggregate_known_answer(hac_device *device, hac_type type, hac_error *err);

#define HAC_HASH_CODELETS                                                                                    \
    {                                                                                                        \
        .name = "hash.aggregate",                                                                            \
        .min_spans = 3,                                                                                      \
        .max_spans = 3,                                                                                      \
        .params = HAC_PARAMS_COUNT(hac_query_params),                                                        \
        .check = hac_hash_aggregate_check,                                                                   \
        .run = hac_hash_aggregate_run,                                                                       \
        .program = hac_hash_aggregate_program,                                                               \
        .known_answer = hac_hash_aggregate_known_answer,                                                     \
    },

#endif
