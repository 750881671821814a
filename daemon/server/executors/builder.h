/* SPDX-License-Identifier: Apache-2.0 */
/* Builders: `hac-executor --build` processes that turn kernels into device binaries and test them, once per
 * device, driver and kernel version. They see no user data. An *urgent* builder makes what somebody waits
 * for: the self-test of a new device, and programs that tasks need, one at a time. A second urgent builder
 * helps if there are more programs to build. A *background* builder, at low priority, makes the remaining
 * programs. */
#ifndef SERVER_BUILDER_H
#define SERVER_BUILDER_H

#include <stdbool.h>
#include <uv.h>

#include "proto/messages.h"
#include "resources/device.h"

typedef enum hac_builder_role {
    HAC_BUILDER_URGENT, /* tests the device first */
    HAC_BUILDER_SECOND, /* urgent, too */
    HAC_BUILDER_BACKGROUND,
    HAC_BUILDER_ROLES
} hac_builder_role;

typedef struct hac_builders {
    uv_loop_t *loop;
    hac_devices *devices;
    hac_decoder *decoder;
    hac_deferred_close *closer;
    const char *program, *program_directory, *scratch_directory, *state_directory;
    struct hacd_kernel_builder *at[HAC_BUILDER_ROLES][HAC_DEVICE_PLACES]; /* by role and device */
    double deadline_seconds;                                              /* limit for one program */
    bool quiet;   /* a measurement is running: no background builders */
    char *tested; /* contents of the state file: keys of devices whose self-test passed, one per line */
    bool closed;  /* start no builder until devices are tested again */
    /* A device's state, programs or note has changed. */
    void (*changed)(void *context, uint32_t device);
    void *context;
} hac_builders;

/* Reads from the state file which devices have passed their self-test. */
void hac_builders_init(hac_builders *builders);
void hac_builders_deinit(hac_builders *builders);

/* Marks known devices ready and starts a builder for each of the others. */
void hac_builders_test_devices(hac_builders *builders);

/* Call it after a reload. A builder of a retired device goes on for a device in use with the same programs;
 * if there is none, it is killed. */
void hac_builders_devices_changed(hac_builders *builders);
/* Whether a builder works at this device's place. */
bool hac_builders_at(const hac_builders *builders, uint32_t device);

/* Has `program` built for the device as soon as possible. `now`: before programs that jobs need later. */
void hac_builders_want(hac_builders *builders, uint32_t device, const char *program, bool now);

/* While something is measured, no background builder runs; afterwards they go on. */
void hac_builders_set_quiet(hac_builders *builders, bool quiet);

/* Kills builders that hang. Called a few times a second. */
void hac_builders_check(hac_builders *builders);

void hac_builders_kill_all(hac_builders *builders);
bool hac_builders_busy(const hac_builders *builders);
/* Whether something is being built that a task or a device waits for. */
bool hac_builders_urgent(const hac_builders *builders);

#endif
