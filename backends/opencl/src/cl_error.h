/* SPDX-License-Identifier: Apache-2.0 */
/* OpenCL's error codes as names and as hac_status. */
#ifndef OPENCL_CL_ERROR_H
#define OPENCL_CL_ERROR_H

#include "opencl/device.h"

/* "CL_INVALID_VALUE"; "unknown OpenCL error" for a code without a name. */
const char *hac_cl_error_name(cl_int code);

/* Reports that `call` returned `code`: "clCreateBuffer: CL_OUT_OF_HOST_MEMORY (-6)". Codes for a lack of
 * memory are HAC_NO_MEMORY, all others HAC_DEVICE. */
hac_status hac_fail_cl(hac_error *err, cl_int code, const char *call);

#endif
