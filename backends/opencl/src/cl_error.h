/* SPDX-License-Identifier: Apache-2.0 */
/* OpenCL's error codes as names and as statuses of ours. */
#ifndef OPENCL_CL_ERROR_H
#define OPENCL_CL_ERROR_H

#include "opencl/device.h"

/* "CL_INVALID_VALUE"; "unknown OpenCL error" for a code that no table lists. */
const char *hac_cl_error_name(cl_int code);

/* Reports that `call` returned `code`: "clCreateBuffer: CL_OUT_OF_HOST_MEMORY (-6)". HAC_NO_MEMORY for
 * codes that say so, HAC_DEVICE otherwise. */
hac_status hac_fail_cl(hac_error *err, cl_int code, const char *call);

#endif
