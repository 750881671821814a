/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the planner knows of a machine: its devices and their performance models. Filled by the server from
 * probes, profiles and learnt models, or by `simulate` from a directory of profiles alone.
 */
#ifndef PLANNER_MACHINE_H
#define PLANNER_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/device.h"
#include "planner/model.h"

#define HAC_MACHINE_MAX_DEVICES 32 /* at most HAC_DEVICES_MAX of them usable */

/* What codelets do their work. */
typedef enum hac_work_class {
    HAC_WORK_HOST = 0, /* C code, on the cores of the device's host */
    HAC_WORK_KERNELS,
    HAC_WORK_CLASSES
} hac_work_class;

/* How a device compares with its kind (experience.h). */
typedef struct hac_experience {
    double factor;      /* of the time assumed by its kind; 0: not looked at, as 1 */
    double uncertainty; /* the factor within which the assumption is likely to be; 0: not looked at */
    unsigned codelets;  /* measured there */
} hac_experience;

typedef struct hac_machine_device {
    char name[64];
    char group[64]; /* devices of one group share cores: their capabilities do not add */
    hac_device_kind kind;
    char key[160]; /* what models are kept under: device, driver, kernel hash, threads */
    bool usable;   /* false: listed, but nothing is planned for it */
    bool simt;
    bool host_memory; /* false: data is copied to it and back */
    bool lacks_f64, lacks_int64_atomics;
    uint32_t threads;
    uint32_t block_items;
    uint32_t max_loop_iterations; /* 0: no limit */
    uint64_t memory, max_allocation, local_memory;
    double link_bandwidth; /* bytes/s; 0: none */
    double link_latency;   /* seconds */
    double backlog;        /* seconds of work queued on it already */
    hac_experience experience[HAC_WORK_CLASSES];
    /* capabilities fixed by the profile, items/s, by "codelet.type" or "flow.type" */
    struct {
        char key[64];
        double items_per_second;
    } capability[32];
    size_t n_capability;
} hac_machine_device;

typedef struct hac_machine {
    hac_machine_device devices[HAC_MACHINE_MAX_DEVICES];
    size_t n_devices;
    const hac_model_set *models; /* borrowed; NULL: profile capabilities only (simulate) */
    bool simulated;              /* a capability that is missing is an error that names the key */
} hac_machine;

#endif
