/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What `tune` found, kept in the state directory per device, driver and kernel version. A value that the
 * profile gives is never replaced: that is how each tuned value is switched off.
 */
#ifndef SERVER_TUNING_H
#define SERVER_TUNING_H

#include <stdint.h>

#include "device.h"

struct hac_server;

/* Applies what was kept to the devices that were just found. */
void hac_tuning_load(const struct hac_server *server, hac_devices *devices);

/* Puts a device on other settings; its idle executors are let go so that the next ones have them. */
void hac_tuning_apply(struct hac_server *server, uint32_t device, const hac_device_tuning *tuning);

/* Remembers the device's present settings. */
void hac_tuning_keep(struct hac_server *server, uint32_t device);

#endif
