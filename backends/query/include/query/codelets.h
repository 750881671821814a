/* SPDX-License-Identifier: Apache-2.0 */
/* The query.* codelets; base/query_layout.h describes their spans, parameters and values. They run on the
 * host, with one thread for each CPU that the executor may use; results do not depend on the number of
 * threads. */
#ifndef QUERY_CODELETS_H
#define QUERY_CODELETS_H

#include "codelet/codelet.h"
#include "query/task.h"

/* A table that ends with an entry whose name is NULL. */
const hac_codelet *hac_query_codelets(void);

#define HAC_QUERY_DECLARE(what)                                                                              \
    hac_status hac_query_check_##what(const hac_device_facts *facts, const hac_task *task, hac_error *err);  \
    hac_status hac_query_run_##what(hac_device *device, const hac_task *task, hac_task_result *result,       \
                                    hac_error *err);

HAC_QUERY_DECLARE(describe)
HAC_QUERY_DECLARE(footer)
HAC_QUERY_DECLARE(quotes)
HAC_QUERY_DECLARE(aggregate)
HAC_QUERY_DECLARE(merge)
HAC_QUERY_DECLARE(carry)
HAC_QUERY_DECLARE(finish)
HAC_QUERY_DECLARE(rows)
HAC_QUERY_DECLARE(gather)
HAC_QUERY_DECLARE(order)
HAC_QUERY_DECLARE(join)
HAC_QUERY_DECLARE(whole)

#endif
