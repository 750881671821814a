/* SPDX-License-Identifier: Apache-2.0 */
#include "query/task.h"

hac_status hac_query_check_source(const hac_query_task *task, hac_error *err)
{
    hac_source *source = NULL;
    if (task->parquet == NULL)
        return HAC_OK;
    hac_status status = hac_source_open(task->query, &task->place, NULL, &source, err);
    hac_source_free(source);
    return status;
}
