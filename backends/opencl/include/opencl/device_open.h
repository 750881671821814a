/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opening devices, and the programs' binaries: what the executor, the builder, the probe and tests need
 * beyond opencl/device.h. Codelets do not include this.
 *
 * A program's binary lies in <program_directory>/<device key>/<program>-<hash>.bin. The device key stands
 * for platform, device, driver and every fact that kernels may have been specialised for; the hash for the
 * program's source and options. The file also records which known-answer tests failed. A file that is
 * missing, truncated, damaged, of other owners or made for something else is a miss, never an error.
 */
#ifndef OPENCL_DEVICE_OPEN_H
#define OPENCL_DEVICE_OPEN_H

#include <hac/type.h>

#include "opencl/device.h"

/* What an OpenCL driver says of one device. Texts are trimmed, printable ASCII and cut to their room; the
 * same texts identify the device when it is opened. */
typedef struct hac_device_listing {
    char platform[64], vendor[64], name[128], driver[64];
    cl_device_type cl_type;
    uint32_t index; /* among devices of the same platform and name */
    uint32_t compute_units, max_work_group, clock_mhz;
    uint64_t global_memory, max_allocation, local_memory;
    bool fp64, rounds_division, int64_atomics, available, compiler, unified_memory, little_endian;
    char problem[128]; /* why it cannot be used; empty: nothing known */
    cl_platform_id platform_id;
    cl_device_id device_id;
} hac_device_listing;

/*
 * All devices of all platforms, *ret is malloc'ed. HAC_NOT_FOUND when there is no platform, with what to do;
 * platforms without devices are left out.
 */
HAC_MUST_USE hac_status hac_device_list(hac_device_listing **ret, size_t *ret_count, hac_error *err);

/* "cpu", "gpu" or "accelerator". */
const char *hac_device_type_name(cl_device_type type);

typedef enum hac_style_choice_cl {
    HAC_STYLE_BY_TYPE = 0, /* gpu: simt, anything else: block */
    HAC_STYLE_ONLY_BLOCK,
    HAC_STYLE_ONLY_SIMT
} hac_style_choice_cl;

/* As Setup.byte_order has it. */
typedef enum hac_order_choice {
    HAC_ORDER_NATIVE = 0, /* what the driver says */
    HAC_ORDER_LITTLE,
    HAC_ORDER_BIG
} hac_order_choice;

/* How a device is to be opened. All zero: the first usable device, source builds in process, no files. */
typedef struct hac_device_options {
    const char *platform, *device; /* as listed; NULL or empty: any */
    uint32_t index;
    hac_style_choice_cl style;
    bool copy_memory;
    hac_order_choice byte_order; /* not the driver's: what is stored in it is turned back for kernels */
    /* 0: automatic, or what the driver says; never more than the driver says */
    uint32_t threads; /* worker threads of a CPU device; what the driver was told before it started */
    uint32_t vector_width, block_items, work_group, max_loop_iterations;
    uint64_t max_allocation, local_memory, memory_limit;
    const char *program_directory; /* NULL or empty: nothing is loaded or saved */
    const char *program_binary;    /* path of an image that holds all programs; NULL or empty: none */
    bool never_build;              /* executors: a program that is not there is HAC_NOT_FOUND */
} hac_device_options;

HAC_MUST_USE hac_status hac_device_open(const hac_device_options *options, hac_device **ret, hac_error *err);

/* Waits for nothing: call hac_device_finish first where that matters. NULL is allowed. */
void hac_device_close(hac_device *device);

/* Facts of a listed device as hac_device_open would give them. */
void hac_device_facts_of(const hac_device_listing *listing, const hac_device_options *options,
                         hac_device_facts *ret);

/* Hash of all program sources and options as 16 hexadecimal digits: part of what models are kept under. */
void hac_programs_hash(char ret[17]);

/* Whether a usable binary of `program` is there (already loaded, or its file reads well). */
bool hac_program_is_ready(hac_device *device, const char *program);

/* Builds `program` from its source; HAC_DEVICE with the first line of the driver's log. No effect when it
 * is built or loaded already. */
HAC_MUST_USE hac_status hac_program_build(hac_device *device, const char *program, hac_error *err);

/*
 * Writes the program's binary, with `failures` of known-answer tests: lines "codelet type: what is wrong".
 * HAC_UNSUPPORTED where the driver gives no binaries, HAC_IO naming the file otherwise.
 */
HAC_MUST_USE hac_status hac_program_save(hac_device *device, const char *program, const char *failures,
                                         hac_error *err);

/*
 * Writes an image of these programs, which must have been saved, to the descriptor. A device whose options
 * name an image takes its programs from there, and needs no compiler; what it saves beside is what the
 * known-answer tests said of them on this machine. HAC_UNSUPPORTED: it has an image itself.
 */
HAC_MUST_USE hac_status hac_program_image_write(hac_device *device, const char *const *programs, size_t n,
                                                int fd, uint64_t *ret_bytes, hac_error *err);

/* What the known-answer test of codelet and type said when the loaded program was built; NULL: it passed,
 * was not run, or the program is not loaded. Valid until the device is closed. */
const char *hac_program_failure(hac_device *device, const char *program, const char *codelet, hac_type type,
                                size_t *ret_bytes);

/* The directory of this device's binaries, NULL without a program_directory. */
const char *hac_device_program_directory(const hac_device *device);

#endif
