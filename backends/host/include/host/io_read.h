/* SPDX-License-Identifier: Apache-2.0 */
/*
 * io.read: reads `count` bytes of the task's descriptor, from offset params[0] + first on, to byte `first` of
 * span 0; params[1] is the offset at which the whole input ends, for messages. Foreign descriptors are read
 * and never mapped: whatever their owner does to the file, no fault follows. An input that ends early is
 * HAC_FAILED: it was truncated while it was read.
 *
 * Regular files and block devices are read with pread; for anything else (a pipe) the descriptor's own
 * position is used and params[0] + first must be 0.
 */
#ifndef HOST_IO_READ_H
#define HOST_IO_READ_H

#include "opencl/codelet.h"

hac_status hac_io_read_check(const hac_device_facts *facts, const hac_task *task, hac_error *err);
hac_status hac_io_read_run(hac_device *device, const hac_task *task, hac_task_result *result, hac_error *err);

#endif
