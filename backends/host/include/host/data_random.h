/* SPDX-License-Identifier: Apache-2.0 */
/*
 * data.random: fills span 0 with pseudo-random bytes from params[0], the seed (splitmix64 by position, so
 * that any cut of the range gives the same data); params[1], if there is one, is a mask of the bits of each
 * item that may be set. The range is in items of 8 bytes. For calibrate and tune.
 */
#ifndef HOST_DATA_RANDOM_H
#define HOST_DATA_RANDOM_H

#include "opencl/codelet.h"

hac_status hac_data_random_check(const hac_device_facts *facts, const hac_task *task, hac_error *err);
hac_status hac_data_random_run(hac_device *device, const hac_task *task, hac_task_result *result,
                               hac_error *err);

#endif
