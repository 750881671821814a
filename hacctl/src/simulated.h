/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A machine that one does not have, from a folder of device profiles: every executor entry of every profile
 * is one device that is present. What the daemon would find out is taken from the profile: `style: auto` is
 * simt for a GPU and block otherwise, `testing.slowdown` divides the capabilities, and devices whose
 * affinities overlap form a group unless they name one.
 */
#ifndef HACCTL_SIMULATED_H
#define HACCTL_SIMULATED_H

#include <stddef.h>

#include <hac/hac.h>

#include "base/cleanup.h"
#include "base/error.h"

typedef struct hac_simulated hac_simulated;

/* HAC_INVALID: no such folder, no profile in it, a bad one (the message names file, line and key), or two
 * devices of one name. */
HAC_MUST_USE hac_status hac_simulated_load(const char *folder, hac_simulated **ret, hac_error *err);
void hac_simulated_free(hac_simulated *machine);
HAC_DEFINE_CLEANUP(hac_simulated *, hac_simulated_free)

const hac_simulated_device *hac_simulated_devices(const hac_simulated *machine);
size_t hac_simulated_count(const hac_simulated *machine);

#endif
