/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Builders: `hac-executor --build` processes that turn kernels into device binaries and test them, once a
 * device, driver and kernel version; they see no user data. An *urgent* builder makes what somebody waits
 * for: the self-test of a device that is seen for the first time, programs that tasks need, one at a time. A
 * second one is started beside it where programs are left to build. A *background* builder, at low priority,
 * makes the rest behind them.
 */
#ifndef SERVER_BUILDER_H
#define SERVER_BUILDER_H

#include <stdbool.h>
#include <uv.h>

#include "device.h"
#include "proto/messages.h"

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
    hac_closer *closer;
    const char *program, *program_directory, *scratch_directory, *state_directory;
    struct hac_builder *at[HAC_BUILDER_ROLES][HAC_DEVICE_PLACES]; /* by device */
    double deadline_seconds; /* a builder may take this long for one program */
    bool quiet;              /* something is being measured: no background builders */
    char *tested;            /* text of the state file: keys of devices whose self-test passed, one a line */
    bool closed;             /* no new ones until devices are tested again */
    /* A device's state, programs or note has changed. */
    void (*changed)(void *context, uint32_t device);
    void *context;
} hac_builders;

/* Reads which devices have passed their self-test before. */
void hac_builders_init(hac_builders *builders);
void hac_builders_deinit(hac_builders *builders);

/* Marks known devices ready and starts a builder for each of the others. */
void hac_builders_test_devices(hac_builders *builders);

/* After a reload: what is built for a retired device is built for one in use with the same programs; where
 * there is none it is broken off. */
void hac_builders_devices_changed(hac_builders *builders);
/* Whether a builder works at this device's place. */
bool hac_builders_at(const hac_builders *builders, uint32_t device);

/* Has `program` built for the device as soon as possible: `now`, before what jobs need later. */
void hac_builders_want(hac_builders *builders, uint32_t device, const char *program, bool now);

/* While something is measured no background builder runs; afterwards they go on. */
void hac_builders_set_quiet(hac_builders *builders, bool quiet);

/* Kills the hung. Called a few times a second. */
void hac_builders_check(hac_builders *builders);

void hac_builders_kill_all(hac_builders *builders);
bool hac_builders_busy(const hac_builders *builders);
/* Whether something is built that is waited for. */
bool hac_builders_urgent(const hac_builders *builders);

#endif
