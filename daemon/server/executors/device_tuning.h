/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What `tune` found, in the file `tuning` of the state directory. Each line is a step: settings of a device,
 * for one driver and one version of the kernels, which replaced those of the line before. So the last step
 * can be reverted, and all of them can be reset. A value that the profile sets always wins: setting it in the
 * profile switches its tuning off.
 */
#ifndef SERVER_DEVICE_TUNING_H
#define SERVER_DEVICE_TUNING_H

#include <stdint.h>

#include "base/text.h"
#include "executor.h"
#include "machine_view.h"
#include "resources/device.h"

typedef struct hac_tuning {
    const char *state_directory;
    hac_executors *executors;
    hac_machine_view *machine;
} hac_tuning;

/* Applies the stored settings to devices that were just found. */
void hac_tuning_load(const hac_tuning *tuning, hac_devices *devices);

/* Gives a device other settings. Executors of the device that run no task end at once, the others when they
 * have none left: a task that is sent from now on runs with the new settings. */
void hac_tuning_apply(const hac_tuning *tuning, uint32_t device, const hac_device_tuning *settings);

/* Stores the device's present settings as a new step. `gain`: how many times as fast it became, as measured.
 */
HAC_MUST_USE hac_status hac_tuning_keep(const hac_tuning *tuning, uint32_t device, double gain,
                                        hac_error *err);

/* Goes back to the settings before the last step (`all`: before all steps) of each device of `mask`. Devices
 * without steps stay as they are. */
HAC_MUST_USE hac_status hac_tuning_revert(const hac_tuning *tuning, uint32_t mask, bool all, hac_error *err);

/* Adds the members of one device: its settings, where each comes from, and its steps. */
void hac_tuning_describe(const hac_tuning *tuning, uint32_t device, hac_text *text);

const char *hac_tuning_placement_name(uint32_t placement);
const char *hac_tuning_style_name(uint32_t style);

#endif
