/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The server's devices: what the probe found, what the profiles make of it, and how each is doing. A device
 * stays at its index, so that jobs can name it by number; one that a reload takes away is *retired*: nothing
 * new starts on it, and it keeps its place until nothing refers to it any more (reload.h).
 */
#ifndef SERVER_DEVICE_H
#define SERVER_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"
#include "child.h"
#include "config/profile.h"
#include "planner/machine.h"
#include "planner/plan.h"
#include "proto/messages.h"

#define HAC_DEVICES_MAX         HAC_PLAN_MAX_DEVICES
#define HAC_DEVICE_PLACES       HAC_MACHINE_MAX_DEVICES /* those in use, and the retired ones */
#define HAC_DEVICE_FAILURES_MAX 64
#define HAC_DEVICE_PROGRAMS_MAX 128 /* as many as a builder knows */
#define HAC_DEVICE_WANTED_MAX   8

typedef enum hac_device_state {
    HAC_DEVICE_UNTESTED = 0, /* its self-test has not run yet */
    HAC_DEVICE_READY,
    HAC_DEVICE_UNUSABLE,   /* `reason` says why; stays so until a reload */
    HAC_DEVICE_QUARANTINED /* its executors keep dying; tried again at `retry_at_ns` */
} hac_device_state;

/* Where the threads of a CPU device run. */
typedef enum hac_placement {
    HAC_PLACEMENT_ANY = 0, /* wherever the kernel puts them */
    HAC_PLACEMENT_COMPACT, /* pinned to the first cores */
    HAC_PLACEMENT_SPREAD   /* pinned to cores as far apart as can be */
} hac_placement;

/* What `tune` searches; 0 leaves a value as the profile or the driver has it. */
typedef struct hac_device_tuning {
    uint32_t threads;
    uint32_t placement; /* hac_placement */
    uint32_t style;     /* hac_style_choice: the source's scalar (simt) and vector (block) kernels */
    uint32_t block_items;
    uint32_t work_group;
} hac_device_tuning;

/* A program that cannot be had on a device: tasks that need it go elsewhere, others stay. */
typedef struct hac_failed_program {
    char name[64], reason[320];
} hac_failed_program;

typedef struct hac_server_device {
    hac_device_config config;
    uint64_t origin; /* hash of profile and probe's facts: the same after a reload if neither has changed */
    bool retired;
    /* as probed */
    char platform[128], vendor[128], device[128], driver[128], type[16], kernel_hash[64];
    uint32_t platform_index; /* among equal devices */
    uint32_t compute_units, max_work_group;
    uint64_t global_memory, max_allocation, local_memory;
    bool fp64, int64_atomics, unified_memory;
    /* as an executor reported it; 0 before the first one */
    uint32_t block_items;
    bool simt, probed_simt;

    /* which of the settings the profile leaves to tuning */
    bool free_threads, free_placement, free_style, free_block_items, free_work_group;
    hac_device_tuning tuning; /* as applied */

    char key[160];         /* what models and tests are kept under */
    char program_key[384]; /* what its programs depend on: devices of one key share binaries and a builder */
    char group[HAC_NAME_MAX]; /* "" or the devices it shares cores with */
    hac_device_state state;
    char reason[512];

    double weight;        /* of its seconds beside those of the fastest device; 0: not known yet */
    unsigned deaths;      /* of executors, in a row, that nobody outside asked for */
    uint64_t retry_at_ns; /* no new executor before */
    unsigned start_cost;  /* of starts in a row that came to nothing (executor.c) */

    bool building;        /* a builder runs */
    bool one_builder;     /* a second one has come to nothing */
    unsigned build_kills; /* builders in a row that somebody killed before they had built anything */
    char wanted[HAC_DEVICE_WANTED_MAX][64]; /* programs that jobs wait for, the most urgent first */
    size_t n_wanted;
    uint32_t builds;     /* reports of a builder, for better or worse: a task that waits looks again */
    char build_note[96]; /* "2 of 5" */
    /* "codelet.type: reason" of failed known-answer tests */
    char *failures[HAC_DEVICE_FAILURES_MAX];
    size_t n_failures;
    hac_failed_program *failed_programs;
    size_t n_failed_programs;
} hac_server_device;

typedef struct hac_devices {
    hac_server_device *items[HAC_DEVICE_PLACES]; /* never NULL below `count` */
    size_t count;
    char problem[512]; /* why there are none; "" when there are */
} hac_devices;

void hac_devices_clear(hac_devices *devices);

/* Makes the devices from a probe's report and the profiles. Entries beyond HAC_DEVICES_MAX are left out with
 * a warning in the log. */
HAC_MUST_USE hac_status hac_devices_make(hac_devices *devices, const Hac__Executor__ProbeReport *report,
                                         const hac_profile_set *profiles, hac_error *err);

/* Forgets what its executors and builders have failed at: that is tried again. The fresh one is the same
 * device as just probed. */
void hac_device_renew(hac_server_device *device, const hac_server_device *fresh);
void hac_device_free(hac_server_device *device);

/* A program that a task waits for (`now`: it goes to the front), or that its job needs later, if there is
 * room. */
void hac_device_want(hac_server_device *device, const char *program, bool now);
/* It is built, or cannot be. */
void hac_device_unwant(hac_server_device *device, const char *program);

/* Gives the device other settings, and with them other keys. What the profile fixes stays as it is. */
void hac_device_retune(hac_server_device *device, const hac_device_tuning *tuning);

/* What the planner is told; retired ones are not usable. */
void hac_devices_to_machine(const hac_devices *devices, const hac_model_set *models, hac_machine *ret);

/* Index of the device in use of that name, -1 if there is none. */
int hac_devices_find(const hac_devices *devices, const char *name);

/* The devices of these names as a mask. HAC_INVALID: unknown; HAC_FAILED: unusable, with the reason. */
HAC_MUST_USE hac_status hac_devices_mask(const hac_devices *devices, char *const *names, size_t n_names,
                                         uint32_t *ret, hac_error *err);

bool hac_device_usable(const hac_server_device *device);
unsigned hac_devices_usable(const hac_devices *devices);
/* Those that are not retired. */
unsigned hac_devices_in_use(const hac_devices *devices);
/* For messages when none is: the probe's problem, or what is wrong with the first device. */
const char *hac_devices_why_none(const hac_devices *devices);

/* Tells a child that it serves this device, with the Setup message. */
void hac_device_send_setup(const hac_server_device *device, const char *program_directory,
                           const char *scratch_directory, hac_child *child);

/* Remembers a failed known-answer test. */
void hac_device_add_failure(hac_server_device *device, const char *failure);

/* Notes what became of a program: why it cannot be had, or (NULL) that it is there after all. */
void hac_device_set_program(hac_server_device *device, const char *program, const char *failure);
/* Why a program cannot be had; NULL: nothing is known against it. */
const char *hac_device_program_failure(const hac_server_device *device, const char *program);

const char *hac_device_state_name(const hac_server_device *device);

#endif
