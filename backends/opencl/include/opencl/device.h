/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One opened OpenCL device: facts, programs, memory windows, launches. The only header of the project
 * through which OpenCL is used; codelets are written against it.
 *
 * One thread uses a device. Every call that can fail names the OpenCL call and error in its message.
 */
#ifndef OPENCL_DEVICE_H
#define OPENCL_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include "base/error.h"

typedef struct hac_device hac_device;

/* How kernels are written for a device (DESIGN, "A job is a plan"). */
typedef enum hac_style {
    HAC_STYLE_BLOCK = 0, /* a work-item owns a block, explicit vectors: CPUs, FPGAs */
    HAC_STYLE_SIMT = 1   /* lock-step work-items, local memory: GPUs */
} hac_style;

/* What a codelet may know of its device. Profile limits are already applied. */
typedef struct hac_device_facts {
    char platform[64], vendor[64], name[128], driver[64];
    cl_device_type cl_type;
    hac_style style;
    uint32_t compute_units;       /* worker threads of a CPU device */
    uint32_t max_work_group;      /* work-items */
    uint32_t vector_width;        /* 32-bit lanes of a block-style vector: 4, 8 or 16 */
    uint32_t block_items;         /* items of a block that fits the fast memory of one worker */
    uint32_t max_loop_iterations; /* 0: no limit. Mesa's llvmpipe ends longer loops silently */
    uint64_t local_memory;        /* bytes */
    uint64_t max_allocation;      /* bytes of one window */
    uint64_t global_memory;       /* bytes */
    bool host_memory;             /* zero copy: kernels work on host memory in place */
    bool fp64;
    bool rounds_division; /* 32-bit quotients and roots are correctly rounded, if a program asks for it */
    bool int64_atomics;   /* on both memories; 32-bit ones every device has */
    bool other_order;     /* its byte order is not the host's, or is said not to be: */
    bool turns_order;     /* it is the host's in fact, and what was stored in the other one is turned back */
} hac_device_facts;

const hac_device_facts *hac_device_get_facts(const hac_device *device);

/* A range of mapped, 64-byte aligned memory: what a task reads or writes. */
typedef struct hac_span {
    uint8_t *data;
    uint64_t bytes;
} hac_span;

typedef enum hac_access { HAC_READ = 1, HAC_WRITE = 2, HAC_READ_WRITE = 3 } hac_access;

/*
 * Makes `bytes` of memory from `data` (64-byte aligned, at most facts.max_allocation) visible to kernels
 * as *ret_window. With host_memory nothing is copied; otherwise a device buffer is filled from the host
 * where access includes HAC_READ, and kernels may write to it whatever the access. hac_device_close_window
 * waits for the queue and copies back where access includes HAC_WRITE. A window opened for writing only must
 * be written completely by the kernels.
 */
HAC_MUST_USE hac_status hac_device_open_window(hac_device *device, void *data, uint64_t bytes,
                                               hac_access access, cl_mem *ret_window, hac_error *err);
HAC_MUST_USE hac_status hac_device_close_window(hac_device *device, cl_mem window, hac_error *err);

/* Host memory of any alignment, and where it goes in a window. */
typedef struct hac_piece {
    const void *data;
    uint64_t bytes, at;
} hac_piece;

/*
 * A window for reading of `bytes` that is put together from pieces, on a device that copies (host_memory
 * false). They stay as they are until it is closed; what lies between them in the window is undefined.
 */
HAC_MUST_USE hac_status hac_device_open_pieces(hac_device *device, const hac_piece *pieces, size_t n_pieces,
                                               uint64_t bytes, cl_mem *ret_window, hac_error *err);

/*
 * Memory that windows may lie in stays mapped at `data` until it is removed. A driver copies from and to
 * pageable memory through a buffer of its own; so once a device that copies has copied more than the region's
 * size, the region is pinned. A region that cannot be kept in mind or pinned is copied as before.
 */
void hac_device_add_region(hac_device *device, void *data, uint64_t bytes);
/* Before it is unmapped; nothing may be enqueued. Memory that is no region is none of its business. */
void hac_device_remove_region(hac_device *device, const void *data);

/* Device scratch memory that lives until the device is closed; asked for again by the same slot it is
 * reused when large enough. For per-worker scratch of a codelet; slots are 0 … 7. Contents undefined. */
HAC_MUST_USE hac_status hac_device_scratch(hac_device *device, unsigned slot, uint64_t bytes, cl_mem *ret,
                                           hac_error *err);

/* Gives back the device's memory that is kept for later windows, and all scratch. Nothing may be enqueued. */
void hac_device_trim(hac_device *device);

/* Waits for everything enqueued and copies bytes offset … offset + bytes - 1 of `mem` (scratch memory, or an
 * open window) to `to`: of results whose size only the kernels know, what they used. No bytes: nothing. */
HAC_MUST_USE hac_status hac_device_read(hac_device *device, cl_mem mem, uint64_t offset, uint64_t bytes,
                                        void *to, hac_error *err);

/*
 * The kernel `kernel` of program `program` (a name in the table of opencl/programs.h). Cached; valid until
 * the device is closed. HAC_NOT_FOUND when the program's binary has not been built for this device yet:
 * the executor then asks for it. Never compiles outside the builder.
 */
HAC_MUST_USE hac_status hac_device_kernel(hac_device *device, const char *program, const char *kernel,
                                          cl_kernel *ret_kernel, hac_error *err);

/* The most work-items of a work-group that the driver runs this kernel with; at most facts.max_work_group. */
uint32_t hac_device_kernel_items(const hac_device *device, cl_kernel kernel);

/* Sets argument `index`; the hac_kernel_* helpers exist so that a codelet reads as one line an argument. */
HAC_MUST_USE hac_status hac_kernel_arg(cl_kernel kernel, unsigned index, size_t size, const void *value,
                                       hac_error *err);
HAC_MUST_USE hac_status hac_kernel_arg_mem(cl_kernel kernel, unsigned index, cl_mem mem, hac_error *err);
HAC_MUST_USE hac_status hac_kernel_arg_u32(cl_kernel kernel, unsigned index, uint32_t value, hac_error *err);
HAC_MUST_USE hac_status hac_kernel_arg_u64(cl_kernel kernel, unsigned index, uint64_t value, hac_error *err);
/* `bytes` of local memory as the argument. */
HAC_MUST_USE hac_status hac_kernel_arg_local(cl_kernel kernel, unsigned index, size_t bytes, hac_error *err);

/* Enqueues a one-dimensional launch: `groups` work-groups of `local` work-items. In order behind earlier
 * launches of this device. */
HAC_MUST_USE hac_status hac_device_launch(hac_device *device, cl_kernel kernel, uint64_t groups,
                                          uint32_t local, hac_error *err);

/* Waits for everything enqueued. */
HAC_MUST_USE hac_status hac_device_finish(hac_device *device, hac_error *err);

#endif
