/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opening devices, and the binaries of programs: what the executor, the builder, the probe and tests need
 * beyond opencl/device.h. Codelets do not include this header.
 *
 * A program's binary is the file <program_directory>/<device key>/<program>-<hash>.bin. The device key stands
 * for the platform, the device, the driver and every fact that kernels may have been specialised for. The
 * hash stands for the program's source and build options. The file also records which known-answer tests
 * failed. A file that is missing, truncated, damaged, owned by somebody else or made for something else
 * counts as missing; it is never an error.
 */
#ifndef OPENCL_DEVICE_OPEN_H
#define OPENCL_DEVICE_OPEN_H

#include <hac/type.h>

#include "base/device.h"
#include "opencl/device.h"
#include "opencl/programs.h"

/* What an OpenCL driver says about one device. Texts are trimmed, truncated to their arrays and reduced to
 * printable ASCII. The same texts identify the device when it is opened. */
typedef struct hac_device_listing {
    char platform[64], vendor[64], name[128], driver[64];
    cl_device_type cl_type;
    uint32_t index; /* number among the devices of the same platform and name */
    uint32_t compute_units, max_work_group, clock_mhz;
    uint64_t global_memory, max_allocation, local_memory;
    bool fp64, rounds_division, int64_atomics, available, compiler, unified_memory, little_endian;
    char problem[128]; /* why the device cannot be used; empty if nothing is known against it */
    cl_platform_id platform_id;
    cl_device_id device_id;
} hac_device_listing;

/*
 * Lists all devices of all platforms; *ret is malloc'ed. HAC_NOT_FOUND: there is no platform; the message
 * says what to do. Platforms without devices are left out.
 */
HAC_MUST_USE hac_status hac_device_list(hac_device_listing **ret, size_t *ret_count, hac_error *err);

/* "cpu", "gpu" or "accelerator". */
const char *hac_device_type_name(cl_device_type type);

/* How to open a device. All zero: the first usable device, programs built from source in this process, no
 * files. */
typedef struct hac_device_options {
    const char *platform, *device; /* as listed; NULL or empty: any */
    uint32_t index;
    hac_style_choice style;
    bool copy_memory;
    hac_byte_order byte_order; /* if it is not the driver's, data is converted for kernels */
    /* 0: chosen automatically, or what the driver says; never more than the driver says */
    uint32_t threads; /* worker threads of a CPU device: what the driver was told before it started */
    uint32_t block_items, work_group, max_loop_iterations;
    uint64_t max_allocation, local_memory, memory_limit;
    const char *program_directory; /* NULL or empty: nothing is loaded or saved */
    const char *program_binary;    /* path of an image that holds all programs; NULL or empty: none */
    bool never_build;              /* for executors: a missing program is HAC_NOT_FOUND */
} hac_device_options;

/* `programs` lists all programs that the device may be asked for. The table must outlive the device. */
HAC_MUST_USE hac_status hac_device_open(const hac_program_source *programs, const hac_device_options *options,
                                        hac_device **ret, hac_error *err);

/* Does not wait for the queue: call hac_device_finish first where that matters. NULL is allowed. */
void hac_device_close(hac_device *device);

/* The facts that hac_device_open would give for a listed device. */
void hac_device_facts_of(const hac_device_listing *listing, const hac_device_options *options,
                         hac_device_facts *ret);

/* The hash of all program sources and options as 16 hexadecimal digits. Performance models are kept under
 * it. */
void hac_programs_hash(const hac_program_source *programs, char ret[17]);

/* Whether a usable binary of `program` exists: it is loaded already, or its file can be read and is sound. */
bool hac_program_is_ready(hac_device *device, const char *program);

/* Builds `program` from source. HAC_DEVICE: it does not compile; the message has the first line of the
 * driver's log. Does nothing if the program is built or loaded already. */
HAC_MUST_USE hac_status hac_program_build(hac_device *device, const char *program, hac_error *err);

/*
 * Writes the program's binary to its file, together with the `failures` of known-answer tests: lines of the
 * form "codelet type: what is wrong". HAC_UNSUPPORTED: the driver gives no binaries. HAC_IO: the message
 * names the file.
 */
HAC_MUST_USE hac_status hac_program_save(hac_device *device, const char *program, const char *failures,
                                         hac_error *err);

/*
 * Writes an image of these programs to the descriptor. The programs must have been saved.
 *
 * A device whose options name an image takes its programs from the image and needs no compiler. What it saves
 * is only what the known-answer tests said on this machine. HAC_UNSUPPORTED: the device itself uses an image.
 */
HAC_MUST_USE hac_status hac_program_image_write(hac_device *device, const char *const *programs, size_t n,
                                                int fd, uint64_t *ret_bytes, hac_error *err);

/* What the known-answer test of a codelet and a type said when the loaded program was built. NULL: the test
 * passed or was not run, or the program is not loaded. Valid until the device is closed. */
const char *hac_program_failure(hac_device *device, const char *program, const char *codelet, hac_type type,
                                size_t *ret_bytes);

/* The directory with this device's binaries; NULL if the options have no program_directory. */
const char *hac_device_program_directory(const hac_device *device);

/* Bytes of device memory that are allocated: copies of windows, scratch memory, and buffers kept for later.
 * They never exceed facts.global_memory (the profile's memory.limit); what would is HAC_NO_MEMORY, with the
 * figures. Host memory in which kernels work does not count. */
uint64_t hac_device_allocated(const hac_device *device);

/* From here on the scratch memory of earlier tasks may be freed for others. */
void hac_device_begin_task(hac_device *device);

/* Number of kernels that were launched on the device so far: whether a task ran kernels shows in what it
 * adds.
 */
uint64_t hac_device_launches(const hac_device *device);

#endif
