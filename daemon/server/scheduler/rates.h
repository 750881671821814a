/* SPDX-License-Identifier: Apache-2.0 */
/* How fast a device is, by its profile or its models. 0: unknown. */
#ifndef SERVER_RATES_H
#define SERVER_RATES_H

#include "planner/model.h"
#include "resources/device.h"

/* Keys per second of whole sorts of 2^22 keys. */
double hac_rate_sort(const hac_model_set *models, const hac_server_device *device, hac_type type);
/* Bytes per second of `codelet` over a table of 16 MiB. */
double hac_rate_table(const hac_model_set *models, const hac_server_device *device, const char *codelet);

#endif
