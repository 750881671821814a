/* SPDX-License-Identifier: Apache-2.0 */
/* hacd's devices: what the probe found, what the profiles make of it, and how each device is doing. A device
 * keeps its index, so jobs refer to it by number. A device that a reload removes is *retired*: nothing new
 * starts on it, and it keeps its place until nothing refers to it any more (reload.h). */
#ifndef SERVER_DEVICE_H
#define SERVER_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"
#include "config/profile.h"
#include "loop/child.h"
#include "planner/machine.h"
#include "planner/plan.h"
#include "proto/messages.h"
#include "user.h"

#define HAC_DEVICE_PLACES       HAC_MACHINE_MAX_DEVICES /* those in use, and the retired ones */
#define HAC_DEVICE_FAILURES_MAX 64
#define HAC_DEVICE_PROGRAMS_MAX 128 /* as many as a builder knows */
#define HAC_DEVICE_WANTED_MAX   8

typedef enum hac_device_state {
    HAC_DEVICE_UNTESTED = 0, /* its self-test has not run yet */
    HAC_DEVICE_READY,
    HAC_DEVICE_UNUSABLE,   /* `reason` says why; lasts until a reload */
    HAC_DEVICE_QUARANTINED /* its executors keep dying; hacd tries it again at `retry_at_ns` */
} hac_device_state;

/* Where the threads of a CPU device run. */
typedef enum hacd_thread_placement {
    HAC_PLACEMENT_ANY = 0, /* wherever the kernel puts them */
    HAC_PLACEMENT_COMPACT, /* pinned to the first cores */
    HAC_PLACEMENT_SPREAD   /* pinned to cores that are as far apart as possible */
} hacd_thread_placement;

/* The settings that `tune` searches. 0 leaves a value to the profile or the driver. */
typedef struct hac_device_tuning {
    uint32_t threads;
    uint32_t placement; /* hacd_thread_placement */
    uint32_t style;     /* hac_style_choice: the scalar (simt) or the vector (block) kernels of the source */
    uint32_t block_items;
    uint32_t work_group;
} hac_device_tuning;

/* A program that cannot be built for a device. Only tasks that need it go elsewhere. */
typedef struct hac_failed_program {
    char name[64], reason[320];
} hac_failed_program;

typedef struct hac_server_device {
    hac_device_config config;
    uint64_t origin; /* hash of profile and probe report; unchanged by a reload if neither has changed */
    bool retired;
    /* As probed. */
    char platform[128], vendor[128], device[128], driver[128], type[16], kernel_hash[64];
    uint32_t platform_index; /* among equal devices */
    uint32_t compute_units, max_work_group;
    uint64_t global_memory, max_allocation, local_memory;
    bool fp64, int64_atomics, unified_memory;
    bool on_host_cores; /* by `type`, whatever kind the profile calls it */
    /* In force: as the settings say, or as the last executor reported it. */
    uint32_t block_items, probed_block_items;
    bool simt, probed_simt;

    /* Which settings the profile leaves to tuning. */
    bool free_threads, free_placement, free_style, free_block_items, free_work_group;
    hac_device_tuning tuning; /* the settings in force */

    char key[160]; /* what models and test results are stored under */
    /* what its programs depend on: devices with the same key share binaries and a builder */
    char program_key[384];
    char group[HAC_NAME_MAX]; /* the group of devices that it shares cores with; "": none */
    hac_device_state state;
    char reason[512];

    double weight; /* what a second of this device counts, relative to the fastest device; 0: not known yet */
    /* Failures of all users' executors since one of them did well (restart_backoff.h). */
    unsigned deaths, start_cost;
    hac_user_key failed_user; /* the first of these users; their account may have gone and come again */
    bool failed_for_all;      /* there were several, or hacd could not even start an executor */
    uint64_t retry_at_ns;     /* no new executor is started before this time */

    bool building;        /* a builder is running */
    bool one_builder;     /* a second builder failed */
    unsigned build_kills; /* consecutive builders that were killed before they had built anything */
    char wanted[HAC_DEVICE_WANTED_MAX][64]; /* programs that jobs wait for, the most urgent first */
    size_t n_wanted;
    uint32_t builds;     /* number of reports from builders; with each one, waiting tasks look again */
    char build_note[96]; /* "2 of 5" */
    /* "codelet.type: reason" of failed known-answer tests. */
    char *failures[HAC_DEVICE_FAILURES_MAX];
    size_t n_failures;
    hac_failed_program *failed_programs;
    size_t n_failed_programs;
    unsigned calibrations; /* measurements that hacd began by itself (admin/idle_calibration.h) */
    double busy_seconds;   /* of all tasks that the device has ended */
    double start_seconds;  /* that its executors take to become ready; 0: none has */
} hac_server_device;

typedef struct hac_devices {
    hac_server_device *items[HAC_DEVICE_PLACES]; /* never NULL below `count` */
    size_t count;
    char problem[512]; /* why there are no devices; "" if there are */
} hac_devices;

void hac_devices_clear(hac_devices *devices);

/* Makes the devices from a probe's report and the profiles. Devices beyond HAC_DEVICES_MAX are dropped, with
 * a warning in the log. */
HAC_MUST_USE hac_status hac_devices_make(hac_devices *devices, const Hac__Executor__ProbeReport *report,
                                         const hac_profile_set *profiles, hac_error *err);

/* Forgets the failures of the device's executors and builders, so that hacd tries again. `fresh` is the same
 * device as just probed. */
void hac_device_renew(hac_server_device *device, const hac_server_device *fresh);
void hac_device_free(hac_server_device *device);

/* Asks for a program. `now`: a task waits for it, so it goes to the front; else its job needs it later, and
 * it is added if there is space. */
void hac_device_want(hac_server_device *device, const char *program, bool now);
/* The program is built, or cannot be built. */
void hac_device_unwant(hac_server_device *device, const char *program);

/* Gives the device other settings, and so other keys. Settings that the profile fixes do not change. */
void hac_device_retune(hac_server_device *device, const hac_device_tuning *tuning);

/* An executor has opened the device with so many items in a block; 0: it does not say. */
void hac_device_set_block_items(hac_server_device *device, uint32_t block_items);

/* An executor of the device took so long to become ready. */
void hac_device_note_start(hac_server_device *device, double seconds);

/* The machine as the planner sees it. Retired devices are not usable. */
void hac_devices_to_machine(const hac_devices *devices, const hac_model_set *models, hac_machine *ret);

/* Index of the device in use with that name; -1: none. */
int hac_devices_find(const hac_devices *devices, const char *name);

/* The devices with these names as a bit mask. HAC_INVALID: unknown name. HAC_FAILED: device not usable, with
 * the reason. */
HAC_MUST_USE hac_status hac_devices_mask(const hac_devices *devices, char *const *names, size_t n_names,
                                         uint32_t *ret, hac_error *err);

/* Whether the device serves several processes in turns by itself: processors do by the kernel, GPUs by the
 * driver. Other devices may have to be reconfigured for another process. */
bool hac_device_has_time_slices(const hac_server_device *device);
bool hac_device_usable(const hac_server_device *device);
unsigned hac_devices_usable(const hac_devices *devices);
/* The same for a user, for whom alone a device may rest. */
bool hac_devices_may_use(const hac_devices *devices, size_t index, const hac_user *user);
unsigned hac_devices_usable_by(const hac_devices *devices, const hac_user *user);
/* Number of devices that are not retired. */
unsigned hac_devices_in_use(const hac_devices *devices);
/* HAC_FAILED: no device is usable for the user; the probe's problem, or the first device's. */
HAC_MUST_USE hac_status hac_devices_check_any(const hac_devices *devices, const hac_user *user,
                                              hac_error *err);

/* Records a failed known-answer test. */
void hac_device_add_failure(hac_server_device *device, const char *failure);

/* Records why a program cannot be built; `failure` NULL: it has been built after all. */
void hac_device_set_program(hac_server_device *device, const char *program, const char *failure);
/* Why a program cannot be built; NULL: no failure is known. */
const char *hac_device_program_failure(const hac_server_device *device, const char *program);

/* The state of a device, and why it is not ready, as it is for a user; NULL: for everybody. */
const char *hac_device_state_name(const hac_devices *devices, size_t index, const hac_user *user);
const char *hac_device_reason(const hac_devices *devices, size_t index, const hac_user *user);

#endif
