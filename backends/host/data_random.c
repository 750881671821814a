/* SPDX-License-Identifier: Apache-2.0 */
#include "host/data_random.h"

#include "base/io_layout.h"
#include "base/random.h"

hac_status hac_data_random_check(const hac_device_facts *facts, const hac_task *task, hac_error *err)
{
    (void)facts;
    uint64_t end = 0;
    if (__builtin_add_overflow(task->first, task->count, &end) || end > task->spans[0].bytes / 8)
        return hac_fail(err, HAC_INVALID, "data.random: items %llu … do not lie in the span",
                        (unsigned long long)task->first);
    return HAC_OK;
}

hac_status hac_data_random_run(hac_device *device, const hac_task *task, hac_task_result *result,
                               hac_error *err)
{
    (void)device;
    (void)result;
    (void)err;
    hac_data_random_params p = *HAC_PARAMS(hac_data_random_params, task);
    uint64_t *out = (uint64_t *)(void *)task->spans[0].data;
    for (uint64_t i = task->first; i < task->first + task->count; i++)
        out[i] = hac_random_u64(&(uint64_t){p.seed ^ (i * UINT64_C(0xd1342543de82ef95))}) & p.mask;
    return HAC_OK;
}
