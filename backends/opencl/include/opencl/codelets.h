/* SPDX-License-Identifier: Apache-2.0 */
/* The codelets that have OpenCL kernels, and the programs that hold these kernels. */
#ifndef OPENCL_CODELETS_H
#define OPENCL_CODELETS_H

#include "codelet/codelet.h"
#include "opencl/programs.h"

/* A table that ends with an entry whose name is NULL. */
const hac_codelet *hac_opencl_codelets(void);

/* A table that ends with an entry whose name is NULL: hac_device_open takes it. */
const hac_program_source *hac_programs(void);

#endif
