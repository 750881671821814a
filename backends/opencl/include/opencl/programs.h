/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Device programs: kernel sources, which are embedded at build time, and their build options. A program's
 * binary is identified by the device, the driver and a hash of source and options.
 */
#ifndef OPENCL_PROGRAMS_H
#define OPENCL_PROGRAMS_H

#include <stddef.h>

typedef struct hac_program_source {
    const char *name;    /* "radix.block.32", "radix.simt.64i" … */
    const char *file;    /* shown in messages: "sort_radix_block.cl" */
    const char *source;  /* the whole text */
    const char *options; /* for clBuildProgram; FP contraction is off in every kernel */
} hac_program_source;

#endif
