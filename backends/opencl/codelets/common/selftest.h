/* SPDX-License-Identifier: Apache-2.0 */
/*
 * selftest.sum: adds up `count` u32 items of span 0, from item `first` on, into values[0]. Both numbers are
 * multiples of 16.
 *
 * Its known-answer test is the device's self-test: vector sums, local memory, and a loop of 100,000
 * iterations. A driver that ends loops early (Mesa's llvmpipe after 65,535 iterations) reports success, so
 * only the answer shows it. Where the profile sets limits.max_loop_iterations, only that many iterations are
 * tried.
 */
#ifndef CODELETS_SELFTEST_H
#define CODELETS_SELFTEST_H

#include "codelet/codelet.h"

hac_status hac_selftest_check(const hac_device_facts *facts, const hac_task *task, hac_error *err);
hac_status hac_selftest_run(hac_device *device, const hac_task *task, hac_task_result *result,
                            hac_error *err);
const char *hac_selftest_program(const hac_device_facts *facts, hac_type type);
hac_status hac_selftest_known_answer(hac_device *device, hac_type type, hac_error *err);

#endif
