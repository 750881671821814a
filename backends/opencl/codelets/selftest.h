/* SPDX-License-Identifier: Apache-2.0 */
/*
 * selftest.sum: adds up `count` u32 items of span 0, from item `first` on (both multiples of 16), into
 * values[0]. Its known-answer test is the device's self-test: vector sums, local memory, and a loop of
 * 100,000 iterations, since a driver that ends loops early (Mesa's llvmpipe: at 65,535) reports success.
 * Where the profile states limits.max_loop_iterations only so many are tried.
 */
#ifndef CODELETS_SELFTEST_H
#define CODELETS_SELFTEST_H

#include "opencl/codelet.h"

hac_status hac_selftest_check(const hac_device_facts *facts, const hac_task *task, hac_error *err);
hac_status hac_selftest_run(hac_device *device, const hac_task *task, hac_task_result *result,
                            hac_error *err);
const char *hac_selftest_program(const hac_device_facts *facts, hac_type type);
hac_status hac_selftest_known_answer(hac_device *device, hac_type type, hac_error *err);

#endif
