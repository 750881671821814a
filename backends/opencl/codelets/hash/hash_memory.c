/* SPDX-License-Identifier: Apache-2.0 */
#include "hash_job.h"

#include <stdlib.h>

#define MEMORY_SHARE 8 /* fraction of the device's memory for tables */

void *hac_hash_alloc(uint64_t bytes)
{
    return aligned_alloc(64, bytes == 0 ? 64 : (bytes + 63) / 64 * 64);
}

uint64_t hac_hash_memory(const hac_hash_job *job)
{
    uint64_t bytes =
        job->options.memory != 0 ? job->options.memory : job->facts->global_memory / MEMORY_SHARE;
    return bytes < job->facts->max_allocation ? bytes : job->facts->max_allocation;
}
