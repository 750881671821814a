/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The planner of flow D: a graph of sub-operators over vectors in pool buffers (base/op_layout.h) becomes a
 * plan. The graph is the client's; what is decided here is where each sub-operator runs, and why.
 *
 *   pin        the sub-operator names a processor type or a device: there
 *   rule       the source's: with T the threshold, integers below T and floats from T on go to a CPU,
 * integers from T on and floats below T to a GPU; a type that is not present leaves the choice to the models
 *   measured   what the models say ends first: one device, or, of those that may be cut, several; devices
 * that share cores count once
 *
 * Every decision is one of the plan's candidates, named after the sub-operator, with the reason.
 */
#ifndef PLANNER_OPS_PLAN_H
#define PLANNER_OPS_PLAN_H

#include "planner/machine.h"
#include "planner/plan.h"

#define HAC_OPS_THRESHOLD (UINT64_C(3) << 30) /* bytes: the rule's, where none is given */

typedef enum hac_ops_policy { HAC_OPS_MEASURED = 0, HAC_OPS_RULE } hac_ops_policy;

typedef struct hac_op_spec {
    const char *codelet; /* "op.map": as on devices that run host codelets */
    const char *name, *pin;
    hac_type type;
    uint64_t first, count, grain; /* grain 0: it is not cut */
    hac_plan_span spans[HAC_PLAN_MAX_SPANS];
    size_t n_spans;
    const uint32_t *after;
    size_t n_after;
    double units;
    uint64_t memory;
    bool host;           /* by its host codelet: kernels cannot do it alike */
    const uint8_t *call; /* borrowed: the plan's tasks point to it */
    size_t call_bytes;
} hac_op_spec;

typedef struct hac_ops_spec {
    const hac_op_spec *tasks;
    size_t n_tasks;
    const uint64_t *sizes; /* bytes of each buffer */
    size_t n_buffers;
    hac_ops_policy policy;
    uint64_t threshold;   /* bytes; 0: HAC_OPS_THRESHOLD */
    bool kernels;         /* OpenCL kernels also on CPUs */
    uint32_t device_mask; /* machine devices that are allowed; 0: all usable ones */
    bool waits;           /* until what devices have at present is done: their backlogs do not count */
    /* Who alone learns from these tasks, for the units are what a client says: their models have this behind
     * the codelet's name. What all learn from is taken where there is none yet. NULL: all learn from them. */
    const char *learner;
} hac_ops_spec;

/* HAC_INVALID: the graph cannot be (a span outside its buffer, bytes that are written after or while they are
 * read, a pin that names nothing); HAC_FAILED: no device. Of a simulated machine a capability that is missing
 * is HAC_INVALID and names the key. */
HAC_MUST_USE hac_status hac_plan_ops(const hac_machine *machine, const hac_ops_spec *spec, hac_plan **ret,
                                     hac_error *err);

#endif
