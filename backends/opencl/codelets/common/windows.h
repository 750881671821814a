/* SPDX-License-Identifier: Apache-2.0 */
/* The open windows of a task: opened one by one, closed together even after a failure. */
#ifndef CODELETS_WINDOWS_H
#define CODELETS_WINDOWS_H

#include "opencl/device.h"

#define HAC_WINDOWS_MAX 16

typedef struct hac_windows {
    hac_device *device;
    cl_mem open[HAC_WINDOWS_MAX];
    size_t n;
} hac_windows;

HAC_MUST_USE hac_status hac_windows_open(hac_windows *windows, void *data, uint64_t bytes, hac_access access,
                                         cl_mem *ret, hac_error *err);

/* hac_device_open_pieces. */
HAC_MUST_USE hac_status hac_windows_open_pieces(hac_windows *windows, const hac_piece *pieces,
                                                size_t n_pieces, uint64_t bytes, cl_mem *ret, hac_error *err);

/* Closes windows, the newest first, until `keep` are left; that brings back what kernels wrote. Returns
 * `status`, or what went wrong here. */
HAC_MUST_USE hac_status hac_windows_close(hac_windows *windows, size_t keep, hac_status status,
                                          hac_error *err);

/* Sets the arguments 0, 1, … of a kernel in turn. After a failure the other arguments are skipped. */
typedef struct hac_arguments {
    cl_kernel kernel;
    unsigned next;
    hac_status status;
    hac_error *err;
} hac_arguments;

void hac_argument_mem(hac_arguments *a, cl_mem mem);
void hac_argument_u32(hac_arguments *a, uint32_t value);
void hac_argument_u64(hac_arguments *a, uint64_t value);
void hac_argument_local(hac_arguments *a, size_t bytes);

#endif
