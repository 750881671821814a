/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A machine for `simulate`, described by a folder of device profiles: every executor entry of every profile
 * is one device that is present. The profile replaces what the daemon would detect: `style: auto` is simt for
 * a GPU and block otherwise, `testing.slowdown` divides the capabilities, and devices whose affinities
 * overlap form a group unless they name a group.
 */
#ifndef HACCTL_SIMULATED_MACHINE_H
#define HACCTL_SIMULATED_MACHINE_H

#include <stddef.h>

#include <hac/hac.h>

#include "base/cleanup.h"
#include "base/error.h"

typedef struct hac_simulated_machine hac_simulated_machine;

/* HAC_INVALID: no such folder, no profile in it, a bad profile (the message names file, line and key), or
 * two devices with one name. */
HAC_MUST_USE hac_status hac_simulated_machine_load(const char *folder, hac_simulated_machine **ret,
                                                   hac_error *err);
void hac_simulated_machine_free(hac_simulated_machine *machine);
HAC_DEFINE_CLEANUP(hac_simulated_machine *, hac_simulated_machine_free)

const hac_simulated_device *hac_simulated_machine_devices(const hac_simulated_machine *machine);
size_t hac_simulated_machine_count(const hac_simulated_machine *machine);

#endif
