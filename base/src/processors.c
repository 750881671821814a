/* SPDX-License-Identifier: Apache-2.0 */
#include "base/processors.h"

#include <stddef.h>
#include <unistd.h>

unsigned hac_processors(cpu_set_t *ret_set)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    int known = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 0;
    if (ret_set != NULL)
        *ret_set = set;
    long online = known > 0 ? known : sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? (unsigned)online : 1;
}
