/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is assumed of a device for codelets that were not measured there: the figure of its kind, times how
 * much slower than its kind the device was at the codelets that were measured. C code on the device's host
 * and kernels are apart, as one says little about the other.
 *
 * In logarithms of time, a device's deviation from its kind is taken as normal with a standard deviation of
 * ln 5, and that of a codelet from its device as one of ln 2.5. So a single codelet counts for about three
 * quarters, and no experience leaves an uncertainty of a factor of 6.
 */
#ifndef PLANNER_EXPERIENCE_H
#define PLANNER_EXPERIENCE_H

#include "planner/machine.h"

/* Fills `experience` of all devices from the models. It looks at every model, so hacd calls it about once a
 * second, not for each plan. */
void hac_experience_learn(hac_machine *machine);

#endif
