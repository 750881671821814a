/* SPDX-License-Identifier: Apache-2.0 */
/* The three modes of hac-executor. Each begins with the first command after Setup and normally ends with
 * HAC_NOT_FOUND: hacd has closed the connection. */
#ifndef EXECUTOR_MODES_H
#define EXECUTOR_MODES_H

#include "parent.h"

/* Lists the machine's OpenCL devices. */
HAC_MUST_USE hac_status hac_mode_probe(hac_parent *parent, const Hac__Executor__Setup *setup, hac_error *err);

/* Builds and tests device programs. */
HAC_MUST_USE hac_status hac_mode_build(hac_parent *parent, const Hac__Executor__Setup *setup, hac_error *err);

/* Runs tasks. */
HAC_MUST_USE hac_status hac_mode_run(hac_parent *parent, const Hac__Executor__Setup *setup, hac_error *err);

#endif
