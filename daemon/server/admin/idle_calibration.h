/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measurements that hacd makes by itself, if `calibrate_when_idle` is set. When nothing has been asked of
 * hacd for a while, it measures the devices of which it does not know how fast they are: new ones, and those
 * with a new driver or new settings, whose models have another key. A device is measured for a few seconds,
 * in tasks of at most a tenth of a second. A job that comes ends the measurement; the device is measured on
 * when hacd is idle again.
 */
#ifndef SERVER_IDLE_CALIBRATION_H
#define SERVER_IDLE_CALIBRATION_H

#include <stdint.h>

struct hac_server;

/* The device to measure now; -1: none, or hacd has something else to do. */
int hac_idle_calibration_next(const struct hac_server *server);

/* For listings: "off", "measured", "waiting", "measuring", or "given up" after some attempts. */
const char *hac_idle_calibration_state(const struct hac_server *server, uint32_t device);

#endif
