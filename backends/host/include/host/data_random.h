/* SPDX-License-Identifier: Apache-2.0 */
/*
 * data.random (hac_data_random_params): fills span 0 with pseudo-random items of 8 bytes. Each item depends
 * on the seed and its position only (splitmix64), so that any division of the range gives the same data. For
 * calibrate and tune.
 */
#ifndef HOST_DATA_RANDOM_H
#define HOST_DATA_RANDOM_H

#include "codelet/codelet.h"

hac_status hac_data_random_check(const hac_device_facts *facts, const hac_task *task, hac_error *err);
hac_status hac_data_random_run(hac_device *device, const hac_task *task, hac_task_result *result,
                               hac_error *err);

#endif
