/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of hac_device, for device.c and program.c. */
#ifndef OPENCL_DEVICE_INTERNAL_H
#define OPENCL_DEVICE_INTERNAL_H

#include "opencl/device_open.h"

#define HAC_MAX_WINDOWS   32
#define HAC_SCRATCH_SLOTS 8
#define HAC_SPARE_BUFFERS 4

/* A program of the table on this device. */
typedef struct hac_loaded_program {
    uint64_t hash; /* of source and options */
    cl_program program;
    bool saved;  /* its file exists, so it has been tested, too */
    char *notes; /* failed tests, one "codelet type: what is wrong" a line; NULL: none */
} hac_loaded_program;

typedef struct hac_loaded_kernel {
    const char *program; /* the table's own string */
    char name[48];
    cl_kernel kernel;
} hac_loaded_kernel;

typedef struct hac_device_window {
    cl_mem mem; /* NULL: unused */
    void *data;
    uint64_t bytes, capacity;
    hac_access access;
} hac_device_window;

/* Host memory in which windows lie and which stays mapped from task to task. */
typedef struct hac_region {
    uint8_t *data;
    uint64_t bytes, copied; /* bytes copied to and from the device before it was pinned */
    cl_mem pin;             /* NULL: not pinned */
    bool tried;
} hac_region;

struct hac_device {
    hac_device_facts facts;
    cl_device_id id;
    cl_context context;
    cl_command_queue queue;
    bool never_build;
    char *directory; /* of this device's binaries; NULL: none */
    uint8_t *image;  /* profile key program.binary */
    size_t image_bytes;
    /* offset of the first entry; 0: a vendor's file, or entries without a header */
    size_t image_entries;
    const hac_program_source *sources; /* the table of programs, borrowed */
    hac_loaded_program *programs;      /* one for each source */
    size_t n_programs;
    hac_loaded_kernel *kernels;
    size_t n_kernels, kernels_capacity;
    uint64_t launches; /* of kernels, so far */
    hac_device_window windows[HAC_MAX_WINDOWS];
    hac_device_window scratch[HAC_SCRATCH_SLOTS];
    bool in_use[HAC_SCRATCH_SLOTS];             /* by the present task */
    hac_device_window spare[HAC_SPARE_BUFFERS]; /* device buffers of closed windows, kept for the next ones */
    hac_region *regions;                        /* ordered by address */
    size_t n_regions, regions_capacity;
};

/* Whether the program is first built with pocl_builtins.cl in place of PoCL's own header. pocl_builtins.cl
 * has what sorts and the self-test call; queries call more. The options claim that PoCL's header has been
 * read. */
#define HAC_SHORT_HEADER_OPTIONS "-D_OPENCL_H_ "
bool hac_program_has_short_header(const hac_device *device, const hac_program_source *source);

/* Sets up and takes down the program side of a device. */
HAC_MUST_USE hac_status hac_device_programs_open(hac_device *device, const hac_device_options *options,
                                                 hac_error *err);
void hac_device_programs_close(hac_device *device);

/* ---- regions.c ---- */

/* Must be called before bytes are copied from or to host memory. Pins the region in which they lie once that
 * pays. */
void hac_regions_note_copy(hac_device *device, const void *data, uint64_t bytes);
void hac_regions_clear(hac_device *device);

#endif
