/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What codelets cost: the unit each one's work is counted in, what is assumed of a device that has not run it
 * yet, and the price of a task on a device.
 *
 *   codelet                unit                  because
 *   sort.small             items × ⌈log2 items⌉  a comparison sort in cache
 *   radix.sample           items sampled
 *   radix.count, .scatter  items                 one pass over memory each
 *   radix.leaf             items                 two passes in cache per bucket
 *   radix.whole            items                 all of them, on a device that copies
 *   radix.scan             counters              chunks × buckets
 *   sort.nan_order         items
 *   sort.gather            items                 one random read each
 *   bitonic.block          items × steps         all in cache: comparisons count
 *   bitonic.tail           items × steps         the same
 *   bitonic.steps          items × passes, as the steps weigh (below)
 *   bitonic.merge          items × passes        long strides, several steps a pass: bandwidth counts
 *   io.read                bytes
 *   query.aggregate,       bytes of the source    text is read, columns are streamed
 *   .rows, .whole, .quotes,
 *   hash.aggregate
 *   query.merge, .finish,  bytes of groups, rows
 *   .gather
 *   query.describe         1
 *   op.*                   as the client has it: elements, or multiplications (base/op_layout.h)
 *
 * A device's price comes from, in this order: the capability that its profile fixes for the codelet
 * ("radix.leaf.u32"), the one it fixes for the whole flow ("sort.u32", "bitonic.u32"), its learnt model, and
 * an assumption by its kind and by what it showed at other codelets (experience.h).
 *
 * A whole query's capability is "mapreduce.none", in bytes of its sources a second.
 *
 * A whole-sort capability C = "sort.<type>" in items/s is spread over the tasks by hac_plan_task.part: radix
 * 0.13 for the count, 0.37 for the scatter and 0.5 for the leaves (measured on two cores: 3.7 + 10 + 14 of
 * 28 ms), bitonic by passes over memory. A bitonic sort's capability is "bitonic.<type>", or
 * C × HAC_BITONIC_OF_RADIX.
 */
#ifndef PLANNER_PRICE_H
#define PLANNER_PRICE_H

#include "planner/machine.h"
#include "planner/plan.h"

/* Bitonic against radix on one device, whole sorts of 2^24 u32: 28 ms against 92. */
#define HAC_BITONIC_OF_RADIX 0.3

/* In passes over memory (0.14 ns an item, u32, PoCL on two cores): a step of the network inside a block (0.01
 * ns), and a step by itself whose stride lies inside a tile (0.4 to 1 ns). */
#define HAC_CACHED_STEP 0.1
#define HAC_SINGLE_STEP 4.0

/* From "a task may start" to its start in an executor, through hacd and the socket, and the way back. */
#define HAC_DISPATCH_SECONDS 60e-6

/* Launch and finish of a kernel, where no model includes it. */
#define HAC_LAUNCH_SECONDS 35e-6

typedef enum hac_price_source {
    HAC_PRICE_ASSUMED = 0,
    HAC_PRICE_UNSURE, /* a model that is stale (model.h) */
    HAC_PRICE_MODEL,
    HAC_PRICE_PROFILE
} hac_price_source;

/* Whether the device should be measured with a piece of the job. */
static inline bool hac_price_is_unsure(hac_price_source source)
{
    return source == HAC_PRICE_ASSUMED || source == HAC_PRICE_UNSURE;
}

/*
 * Seconds of `fraction` (0 … 1] of the task of a sort of `items` on the machine's device, without dispatch
 * and queueing; transfers over the device's link are included (learnt models hold them already). `together`:
 * while other devices work on the job.
 */
double hac_price_task(const hac_machine *machine, size_t device, uint64_t items, const hac_plan_task *task,
                      double fraction, bool together, hac_price_source *ret_source);

/* Seconds assumed of a device of that kind; 0: nothing is assumed of the codelet. */
double hac_price_assumed(const hac_machine_device *device, const char *codelet, hac_type type, double units);

/* Host codelets run on CPU devices. The executors of all devices run on cores of the host, so a host codelet
 * may leave a CPU device that is much slower than such cores: one that takes SLOW_HOST times what is assumed,
 * by what at least two host codelets showed (experience.h). Elsewhere it has to be this much faster. */
#define HAC_ELSEWHERE_GAIN 1.05
bool hac_price_is_slow_host(const hac_machine_device *cpu);

/* Which experience counts for a codelet. */
hac_work_class hac_price_work_class(const char *codelet);

/* The capability the profile fixes under "prefix.type", items/s; 0 if none. */
double hac_machine_capability(const hac_machine_device *device, const char *prefix, hac_type type);

/* HAC_INVALID: a simulated device has no such capability. The message names the profile and the key, and then
 * `unit` (" (bytes a second)", or ""). */
HAC_MUST_USE hac_status hac_machine_needs_capability(const hac_machine *machine, uint32_t device,
                                                     const char *prefix, hac_type type, const char *unit,
                                                     hac_error *err);

#endif
