/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parameters of tasks. On their way from the planner to a codelet they are a list of 64-bit numbers; at both
 * ends they are a struct whose members are all uint64_t, one for each codelet or family of codelets
 * (base/…_layout.h).
 */
#ifndef BASE_TASK_PARAMS_H
#define BASE_TASK_PARAMS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/limits.h"

/* The number of parameters that a struct holds. */
#define HAC_PARAMS_COUNT(type) (sizeof(type) / sizeof(uint64_t))

/* The parameters of a task (hac_task, hac_plan_task) as a struct. The executor has checked their number
 * before it runs a codelet. */
#define HAC_PARAMS(type, task) ((const type *)(const void *)(task)->params)

/* Likewise, to change some of them. */
#define HAC_EDIT_PARAMS(type, task) ((type *)(void *)(task)->params)

static inline void hac_set_params(uint64_t *params, size_t *n, const void *from, size_t bytes)
{
    memcpy(params, from, bytes);
    *n = bytes / sizeof *params;
}

/* Gives a task its parameters: HAC_SET_PARAMS(&task, &(hac_gather_params){.items = n, .width = 4}). */
#define HAC_SET_PARAMS(task, ...)                                                                            \
    hac_set_params((task)->params, &(task)->n_params, __VA_ARGS__, sizeof *(__VA_ARGS__))

#endif
