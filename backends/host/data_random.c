/* SPDX-License-Identifier: Apache-2.0 */
#include "host/data_random.h"

hac_status hac_data_random_check(const hac_device_facts *facts, const hac_task *task, hac_error *err)
{
    (void)facts;
    uint64_t end = 0;
    if (__builtin_add_overflow(task->first, task->count, &end) || end > task->spans[0].bytes / 8)
        return hac_fail(err, HAC_INVALID, "data.random: items %llu … do not lie in the span",
                        (unsigned long long)task->first);
    return HAC_OK;
}

/* Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014. */
static uint64_t splitmix64(uint64_t x)
{
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

hac_status hac_data_random_run(hac_device *device, const hac_task *task, hac_task_result *result,
                               hac_error *err)
{
    (void)device;
    (void)result;
    (void)err;
    uint64_t *out = (uint64_t *)(void *)task->spans[0].data;
    for (uint64_t i = task->first; i < task->first + task->count; i++)
        out[i] = splitmix64(task->params[0] ^ (i * UINT64_C(0xd1342543de82ef95)));
    return HAC_OK;
}
