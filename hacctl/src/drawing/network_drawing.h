/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small bitonic plan as its network: items are horizontal lines, index 0 on top; a comparator is a vertical
 * arrow between the two items it compares, its head at the one that gets the larger. Comparators of one step
 * that would overlap stand beside each other.
 */
#ifndef HACCTL_NETWORK_DRAWING_H
#define HACCTL_NETWORK_DRAWING_H

#include "base/text.h"
#include "plan_view.h"

void hac_network_drawing(const hac_plan_view *plan, hac_text *out); /* plan->is_small_network */

#endif
