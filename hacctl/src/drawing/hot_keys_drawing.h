/* SPDX-License-Identifier: Apache-2.0 */
/* What device kernels that aggregate did: figures, and the hit rate of hot keys by work-group. */
#ifndef HACCTL_HOT_KEYS_DRAWING_H
#define HACCTL_HOT_KEYS_DRAWING_H

#include <cjson/cJSON.h>

#include "base/text.h"

/* The height of the drawing; 0: there is nothing to draw. `query` is the member of a receipt, or NULL. */
double hac_hot_keys_drawing_height(const cJSON *query);
void hac_hot_keys_drawing(const cJSON *query, double left, double top, double width, hac_text *out);

#endif
