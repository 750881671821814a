/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ways of PoCL (3.1) that shape how programs are built for it.
 *
 * It compiles a kernel's machine code at the first launch of each (kernel, local size, "small grid": fewer
 * than 65,535 work-items), with a linker as a process of its own. Where that process may not be started, in
 * an executor, the driver aborts. So a binary must hold all variants that will be launched, and
 * hac_device_launch refuses others: block style stays below 65,535 work-items a launch, for simt the large
 * variant is built too.
 *
 * CL_PROGRAM_BINARIES in addition compiles every kernel for any local size, which takes as long as all the
 * rest and is never used while the driver has its compiler.
 */
#ifndef OPENCL_POCL_H
#define OPENCL_POCL_H

#include "device_internal.h"

#define HAC_POCL_SMALL_GRID 65535u /* a launch of this many work-items is a large one */

bool hac_is_pocl(const hac_device_facts *facts);

/* Before CL_PROGRAM_BINARIES is asked for: says which variants are to be in it, and has the unused one left
 * out. Best effort: where the driver's cache looks otherwise, the binary is made the slow way. */
void hac_pocl_prepare_binaries(const hac_device *device, const hac_loaded_program *program);

#endif
