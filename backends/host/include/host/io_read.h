/* SPDX-License-Identifier: Apache-2.0 */
/*
 * io.read: reads `count` bytes of the task's descriptor, from byte params.offset + first on, into span 0 at
 * byte `first` (hac_io_read_params).
 *
 * A client's descriptor is read and never mapped, so no fault can follow from what its owner does to the
 * file. An input that ends early is HAC_FAILED: it was truncated while it was read. Regular files and block
 * devices are read with pread. For everything else (a pipe) the descriptor's own position counts, and
 * params.offset + first must be 0.
 */
#ifndef HOST_IO_READ_H
#define HOST_IO_READ_H

#include "codelet/codelet.h"

hac_status hac_io_read_check(const hac_device_facts *facts, const hac_task *task, hac_error *err);
hac_status hac_io_read_run(hac_device *device, const hac_task *task, hac_task_result *result, hac_error *err);

#endif
