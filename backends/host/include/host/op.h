/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The codelets op.* in C. base/op_layout.h defines what each codelet computes. A codelet uses one thread for
 * each CPU that the executor may run on. The results do not depend on the number of threads.
 */
#ifndef HOST_OP_H
#define HOST_OP_H

#include "codelet/codelet.h"

/* Checks or runs a call of the codelet with this name. The codelet's row is in base/op_catalog.def. */
hac_status hac_op_check(const char *name, const hac_task *task, hac_error *err);
hac_status hac_op_run(const char *name, const hac_task *task, hac_task_result *result, hac_error *err);

/* op.while: rounds of calls of the other codelets (base/op_while.h). */
hac_status hac_op_check_while(const hac_device_facts *facts, const hac_task *task, hac_error *err);
hac_status hac_op_run_while(hac_device *device, const hac_task *task, hac_task_result *result,
                            hac_error *err);

#endif
