/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fixed set of device programs: a kernel source (embedded at build time) and its build options. A
 * program's binary is keyed by device, driver and the hash of source + options.
 */
#ifndef OPENCL_PROGRAMS_H
#define OPENCL_PROGRAMS_H

#include <stddef.h>

typedef struct hac_program_source {
    const char *name;    /* "radix.block.32", "radix.simt.64i" … */
    const char *file;    /* for messages: "sort_radix_block.cl" */
    const char *source;  /* the whole text */
    const char *options; /* for clBuildProgram; FP contraction is off in every kernel */
} hac_program_source;

/* The table, ended by an entry whose name is NULL. */
const hac_program_source *hac_programs(void);

#endif
