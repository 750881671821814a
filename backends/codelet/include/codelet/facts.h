/* SPDX-License-Identifier: Apache-2.0 */
/* What a codelet may know about its device, and the memory that a task gets. Needs no OpenCL. */
#ifndef CODELET_FACTS_H
#define CODELET_FACTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/device.h"

/* The device itself is in opencl/device.h. A codelet in C passes it on and never looks inside. */
typedef struct hac_device hac_device;

/* How kernels are written for a device. */
typedef enum hac_style {
    HAC_STYLE_BLOCK = 0, /* a work-item owns a block and uses vectors: CPUs, FPGAs */
    HAC_STYLE_SIMT = 1   /* work-items in lock-step, local memory: GPUs */
} hac_style;

/* What a codelet may know about its device. The limits of the profile are applied already. */
typedef struct hac_device_facts {
    char platform[64], vendor[64], name[128], driver[64];
    uint64_t cl_type; /* CL_DEVICE_TYPE_… */
    hac_style style;
    uint32_t compute_units;       /* worker threads of a CPU device */
    uint32_t max_work_group;      /* work-items */
    uint32_t block_items;         /* number of items of a block that fits into one worker's fast memory */
    uint32_t max_loop_iterations; /* 0: no limit. Mesa's llvmpipe leaves longer loops without an error */
    uint64_t local_memory;        /* bytes */
    uint64_t max_allocation;      /* bytes of the largest buffer that a kernel can get */
    uint64_t global_memory;       /* bytes */
    bool host_memory;             /* kernels work on host memory in place, without a copy */
    bool fp64;                    /* the device has 64-bit floats */
    /* 32-bit quotients and square roots are correctly rounded if the program is built with that option
     * (-cl-fp32-correctly-rounded-divide-sqrt) */
    bool rounds_division;
    bool int64_atomics; /* 64-bit atomics in local and global memory; every device has 32-bit atomics */
    bool other_order;   /* the device's byte order is not the host's, or its profile says so */
    /* The profile declares another byte order, but the kernels use the host's (to test such devices): data is
     * converted before the kernels run. */
    bool turns_order;
} hac_device_facts;

/* A range of mapped, 64-byte aligned memory that a task reads or writes. */
typedef struct hac_span {
    uint8_t *data;
    uint64_t bytes;
} hac_span;

#endif
