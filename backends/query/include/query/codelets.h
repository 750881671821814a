/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The query.* codelets (base/query_layout.h says what they read, write and give back). They run on the host
 * and use, for the time of a task, one thread for each CPU that the executor may run on; results do not
 * depend on it.
 */
#ifndef QUERY_CODELETS_H
#define QUERY_CODELETS_H

#include "opencl/codelet.h"
#include "query/task.h"

/* The entries for the codelet table: name, spans, parameters, function names. */
#define HAC_QUERY_CODELETS                                                                                   \
    HAC_QUERY_CODELET("query.compile", 0, 1, 1, compile)                                                     \
    HAC_QUERY_CODELET("query.footer", 0, 1, HAC_QUERY_N_PARAMS, footer)                                      \
    HAC_QUERY_CODELET("query.quotes", 1, 2, HAC_QUERY_N_PARAMS, quotes)                                      \
    HAC_QUERY_CODELET("query.aggregate", 3, 3, HAC_QUERY_N_PARAMS, aggregate)                                \
    HAC_QUERY_CODELET("query.merge", 2, 3, HAC_QUERY_N_PARAMS, merge)                                        \
    HAC_QUERY_CODELET("query.carry", 3, 3, HAC_QUERY_N_PARAMS, carry)                                        \
    HAC_QUERY_CODELET("query.finish", 2, 2, HAC_QUERY_N_PARAMS, finish)                                      \
    HAC_QUERY_CODELET("query.rows", 3, 3, HAC_QUERY_N_PARAMS, rows)                                          \
    HAC_QUERY_CODELET("query.gather", 2, 2, HAC_QUERY_N_PARAMS, gather)                                      \
    HAC_QUERY_CODELET("query.whole", 1, 2, 1, whole)

#define HAC_QUERY_CODELET(codelet, least, most, least_params, what)                                          \
    {                                                                                                        \
        .name = (codelet),                                                                                   \
        .engine = HAC_ENGINE_HOST,                                                                           \
        .min_spans = (least),                                                                                \
        .max_spans = (most),                                                                                 \
        .min_params = (least_params),                                                                        \
        .max_params = HAC_QUERY_N_PARAMS,                                                                    \
        .check = hac_query_check_##what,                                                                     \
        .run = hac_query_run_##what,                                                                         \
    },

#define HAC_QUERY_DECLARE(what)                                                                              \
    hac_status hac_query_check_##what(const hac_device_facts *facts, const hac_task *task, hac_error *err);  \
    hac_status hac_query_run_##what(hac_device *device, const hac_task *task, hac_task_result *result,       \
                                    hac_error *err);

HAC_QUERY_DECLARE(compile)
HAC_QUERY_DECLARE(footer)
HAC_QUERY_DECLARE(quotes)
HAC_QUERY_DECLARE(aggregate)
HAC_QUERY_DECLARE(merge)
HAC_QUERY_DECLARE(carry)
HAC_QUERY_DECLARE(finish)
HAC_QUERY_DECLARE(rows)
HAC_QUERY_DECLARE(gather)
HAC_QUERY_DECLARE(whole)

/* For other codelets that aggregate: whether chunk `chunk` of the task's source begins inside a quoted field,
 * by the span "quotes" (length 0: no). */
bool hac_query_inside_quotes(const hac_span *quotes, uint64_t first_chunk, uint64_t chunk);

#endif
