/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_PROCESSORS_H
#define BASE_PROCESSORS_H

#include <sched.h>

/* The number of processors that the calling thread may run on: fewer than the machine has in a container, or
 * under taskset or CPUAffinity=. Their set goes to *ret_set (NULL: it is not wanted); it is empty on a
 * machine with more processors than a cpu_set_t has. */
unsigned hac_processors(cpu_set_t *ret_set);

#endif
