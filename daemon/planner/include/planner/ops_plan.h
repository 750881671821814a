/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The planner of opsplit: makes a plan of a graph of sub-operators over vectors in pool buffers
 * (base/op_layout.h). The client makes the graph. The planner decides where each sub-operator runs:
 *
 *   pin        the sub-operator names a processor type or a device, and runs there
 *   rule       the rule of the source of opsplit (docs/flows/opsplit.md): integers below the threshold and
 *              floats from the threshold on go to a CPU, other sub-operators to a GPU. If the machine has no
 *              such processor, the models decide.
 *   measured   the choice that ends first according to the models: one device, or several devices if the
 *              sub-operator may be divided. Devices that share cores count once.
 *
 * Each decision is a candidate of the plan, with the name of the sub-operator and the reason.
 */
#ifndef PLANNER_OPS_PLAN_H
#define PLANNER_OPS_PLAN_H

#include "planner/machine.h"
#include "planner/plan.h"

#define HAC_OPS_THRESHOLD (UINT64_C(3) << 30) /* bytes; the default threshold of the rule */

typedef enum hac_ops_policy { HAC_OPS_MEASURED = 0, HAC_OPS_RULE } hac_ops_policy;

typedef struct hac_op_spec {
    const char *codelet; /* name of the host codelet: "op.map" */
    const char *name;    /* name of the sub-operator, for candidates and stages */
    const char *pin;     /* processor type or device; NULL: not pinned */
    hac_type type;
    uint64_t first, count, grain; /* grain 0: the task is not divided */
    hac_plan_span spans[HAC_SPANS_MAX];
    size_t n_spans;
    const uint32_t *after; /* indices of the tasks that must end first */
    size_t n_after;
    double units;        /* work, for the performance models */
    uint64_t memory;     /* bytes of its data, which the rule compares with the threshold */
    bool host;           /* the host codelet must run it: kernels would not give the same result */
    const uint8_t *call; /* borrowed; the tasks of the plan point to it */
    size_t call_bytes;
} hac_op_spec;

typedef struct hac_ops_spec {
    const hac_op_spec *tasks;
    size_t n_tasks;
    const uint64_t *sizes; /* bytes of each buffer */
    size_t n_buffers;
    hac_ops_policy policy;
    uint64_t threshold;   /* bytes; 0: HAC_OPS_THRESHOLD */
    bool kernels;         /* use OpenCL kernels also on CPUs */
    uint32_t device_mask; /* devices of the machine that are allowed; 0: all usable devices */
    bool waits;           /* the graph starts when the devices are idle: their backlogs do not count */
    /* A suffix for the names of these tasks' performance models. The units of work come from the client, so
     * the client's measurements go into models of its own. A model that has no samples yet is replaced by the
     * shared one. NULL: the tasks use the shared models. */
    const char *learner;
} hac_ops_spec;

/* HAC_INVALID: the graph is wrong: a span is outside its buffer, bytes are written after or while they are
 * read, or a pin names no device. HAC_INVALID is also returned if a simulated machine lacks a capability; the
 * message names the key. HAC_FAILED: there is no device. */
HAC_MUST_USE hac_status hac_plan_ops(const hac_machine *machine, const hac_ops_spec *spec, hac_plan **ret,
                                     hac_error *err);

#endif
