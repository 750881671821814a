/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One opened OpenCL device: facts, programs, memory windows, launches. This header is the only one of the
 * project through which OpenCL is used; codelets are written against it.
 *
 * Only one thread may use a device. An error message names the OpenCL call that failed and its code.
 */
#ifndef OPENCL_DEVICE_H
#define OPENCL_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include "base/error.h"
#include "codelet/facts.h"

typedef struct hac_device hac_device;

const hac_device_facts *hac_device_get_facts(const hac_device *device);

/*
 * Makes `bytes` of memory from `data` visible to kernels as *ret_window. `data` is 64-byte aligned, and
 * `bytes` is at most facts.max_allocation.
 *
 * With host_memory, kernels work on the memory in place. Otherwise the window is a device buffer: it is
 * filled from `data` if access includes HAC_READ, and kernels may write to it whatever the access is.
 * hac_device_close_window waits for the queue and, if access includes HAC_WRITE, copies the buffer back. The
 * kernels must write every byte of a window that was opened with HAC_WRITE alone.
 */
HAC_MUST_USE hac_status hac_device_open_window(hac_device *device, void *data, uint64_t bytes,
                                               hac_access access, cl_mem *ret_window, hac_error *err);
HAC_MUST_USE hac_status hac_device_close_window(hac_device *device, cl_mem window, hac_error *err);

/* Host memory of any alignment, and its place in a window. */
typedef struct hac_piece {
    const void *data;
    uint64_t bytes, at;
} hac_piece;

/*
 * Opens a window of `bytes` for reading and fills it from pieces. Only for devices that copy (host_memory is
 * false). The pieces must not change until the window is closed. The bytes between them are undefined.
 */
HAC_MUST_USE hac_status hac_device_open_pieces(hac_device *device, const hac_piece *pieces, size_t n_pieces,
                                               uint64_t bytes, cl_mem *ret_window, hac_error *err);

/*
 * Announces host memory in which windows will lie. It must stay mapped until the region is removed.
 *
 * A driver copies pageable memory through a buffer of its own. Once a device that copies has copied more
 * bytes than the region has, the region is therefore pinned. A region that cannot be recorded or pinned is
 * copied as any other memory.
 */
void hac_device_add_region(hac_device *device, void *data, uint64_t bytes);
/* Call this before the memory is unmapped, while nothing is enqueued. Memory that is no region is ignored. */
void hac_device_remove_region(hac_device *device, const void *data);

/* Device memory for a codelet's scratch, valid until the device is closed or trimmed. A later call with the
 * same slot (0 … 7) gets the same buffer if it is large enough. The contents are undefined. */
HAC_MUST_USE hac_status hac_device_scratch(hac_device *device, unsigned slot, uint64_t bytes, cl_mem *ret,
                                           hac_error *err);

/* Frees all scratch memory and the device buffers that are kept for later windows. Nothing may be
 * enqueued. */
void hac_device_trim(hac_device *device);

/* Waits for everything enqueued, then copies bytes offset … offset + bytes - 1 of `mem` to `to`. `mem` is
 * scratch memory or an open window. For results whose size only the kernels know. With 0 bytes it only
 * waits. */
HAC_MUST_USE hac_status hac_device_read(hac_device *device, cl_mem mem, uint64_t offset, uint64_t bytes,
                                        void *to, hac_error *err);

/*
 * The kernel `kernel` of program `program` (a name in the table of programs), valid until the device is
 * closed. Kernels are cached. HAC_NOT_FOUND: the program has not been built for this device yet; the executor
 * then asks hacd for it. Only the builder compiles.
 */
HAC_MUST_USE hac_status hac_device_kernel(hac_device *device, const char *program, const char *kernel,
                                          cl_kernel *ret_kernel, hac_error *err);

/* The maximum number of work-items in a work-group with which the driver runs this kernel; never more than
 * facts.max_work_group. */
uint32_t hac_device_kernel_items(const hac_device *device, cl_kernel kernel);

/* Sets argument `index`. The helpers for common types keep a codelet at one line for each argument. */
HAC_MUST_USE hac_status hac_kernel_arg(cl_kernel kernel, unsigned index, size_t size, const void *value,
                                       hac_error *err);
HAC_MUST_USE hac_status hac_kernel_arg_mem(cl_kernel kernel, unsigned index, cl_mem mem, hac_error *err);
HAC_MUST_USE hac_status hac_kernel_arg_u32(cl_kernel kernel, unsigned index, uint32_t value, hac_error *err);
HAC_MUST_USE hac_status hac_kernel_arg_u64(cl_kernel kernel, unsigned index, uint64_t value, hac_error *err);
/* Sets the argument to `bytes` of local memory. */
HAC_MUST_USE hac_status hac_kernel_arg_local(cl_kernel kernel, unsigned index, size_t bytes, hac_error *err);

/* Enqueues a one-dimensional launch of `groups` work-groups of `local` work-items. Launches of a device run
 * in the order in which they were enqueued. */
HAC_MUST_USE hac_status hac_device_launch(hac_device *device, cl_kernel kernel, uint64_t groups,
                                          uint32_t local, hac_error *err);

/* Waits for everything enqueued. */
HAC_MUST_USE hac_status hac_device_finish(hac_device *device, hac_error *err);

#endif
