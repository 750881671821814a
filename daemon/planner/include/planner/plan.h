/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A plan: the graph of tasks that a job becomes. Plain data, one representation for every flow: it is
 * executed (daemon/server), priced and simulated (price.h), explained and drawn (plan_json.h, plan_text.h,
 * plan_svg.h) and laid beside what was measured (trace.h).
 *
 * A task runs one codelet over ranges of the job's buffers, either on a device that the plan names or, for
 * a *range task*, cut into sub-ranges that several devices claim as they become free. The planner is pure:
 * no I/O, no clock, no OpenCL; all it knows of the machine is in hac_machine (machine.h).
 */
#ifndef PLANNER_PLAN_H
#define PLANNER_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hac/type.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "planner/flow_c.h"

#define HAC_PLAN_MAX_DEVICES 16
#define HAC_PLAN_MAX_BUFFERS 32
#define HAC_PLAN_MAX_SPANS   16 /* of one task; the executor protocol has the same limit */
#define HAC_PLAN_MAX_PARAMS  18
#define HAC_PLAN_MAX_TASKS   65536
#define HAC_PLAN_NAME_MAX    64

typedef enum hac_access_mode {
    HAC_PLAN_READ = 1,
    HAC_PLAN_WRITE = 2,
    HAC_PLAN_READ_WRITE = 3
} hac_access_mode;

/* What a buffer of the plan is to the job. */
typedef enum hac_buffer_role {
    HAC_BUFFER_INPUT = 0, /* the client's; never written */
    HAC_BUFFER_OUTPUT,    /* handed to the client */
    HAC_BUFFER_WORK,      /* temporary; back to the pool when the job ends */
    HAC_BUFFER_SHARED     /* the client's, read and written (flow D) */
} hac_buffer_role;

typedef struct hac_plan_buffer {
    char name[16]; /* "in", "out", "index", "work" … */
    hac_buffer_role role;
    uint64_t bytes;
    /* An input that arrives as a foreign descriptor: the tasks that read it into the buffer are part of
     * the plan (codelet io.read); NULL-like false for pool memory. */
    bool from_descriptor;
    /* Its size is known, and its memory taken, only when the tasks before its first use are done; `bytes` is
     * an estimate until then. */
    bool late;
    bool whole; /* the tasks write all of it, and it pays to take its memory at once */
} hac_plan_buffer;

typedef struct hac_plan_span {
    uint8_t buffer;         /* index into plan->buffers */
    uint8_t access;         /* hac_access_mode */
    uint64_t offset, bytes; /* the window the codelet gets; starts at a multiple of 64 bytes */
    /* The bytes of the buffer that the task touches through it: tasks on parts of one array get the whole
     * array and a range, and may run side by side as long as what they touch does not overlap. */
    uint64_t touch_first, touch_end;
} hac_plan_span;

typedef struct hac_plan_task {
    const char *codelet; /* static, or in plan->strings */
    const char *kernels; /* what it is on devices that are no CPUs; NULL: the same (flow D) */
    hac_type type;
    bool descending;

    /* Range tasks: [first, first + count) may be cut at multiples of `grain`, and the pieces run on any
     * device whose bit is set in device_mask, sized by hac_plan.devices[].share and corrected as measured.
     * Other tasks: `device` runs it whole (a lone bit in device_mask, too). */
    bool range;
    uint64_t first, count, grain;
    uint32_t device_mask;
    int device; /* index into plan->devices; -1: any one in device_mask */

    /* A task whose inputs it does not overwrite may run again after its executor died; the others force
     * the job to restart from its inputs. */
    bool repeatable;
    bool uses_descriptor; /* reads a foreign descriptor of the job … */
    uint8_t descriptor;   /* … this one of them */
    /* Tasks that are equal but for `slice` (and the device) do one piece of work together: what they touch
     * is disjoint by the codelet's contract, though their spans say the same. slices 0: not sliced. */
    uint32_t slice, slices;

    hac_plan_span spans[HAC_PLAN_MAX_SPANS];
    size_t n_spans;
    uint64_t params[HAC_PLAN_MAX_PARAMS];
    size_t n_params;
    const uint8_t *data; /* its own inline data (flow D); NULL: the job's. Borrowed from the job */
    size_t data_bytes;

    /* Tasks that must be done before this one starts: plan->edges[first_edge … first_edge + n_edges). */
    uint32_t first_edge, n_edges;

    double units; /* work in the codelet's unit, for the models (src/units.h) */
    const char
        *model;  /* what its model is kept under, in plan->strings or static; NULL: the codelet's name */
    double part; /* of the time of the whole sort on one device; 0: does not belong to it */
    double predicted_start;   /* seconds from the job's start, as simulated */
    double predicted_seconds; /* of the whole task, on the devices it is planned for */
    double
        whole_seconds[HAC_PLAN_MAX_DEVICES]; /* range tasks: of all of it on that device, beside the others */

    /* For pictures and progress. */
    const char *stage;               /* "sample", "scatter", "merge 17" …: static or in plan->strings */
    uint32_t step_first, step_last;  /* bitonic: network steps this task runs; 0 if none */
    bool side_by_side;               /* bitonic: belongs to a side-by-side stretch */
    uint64_t item_first, item_count; /* items touched, for drawing */
} hac_plan_task;

/* Whether other devices work on the job at the same time: what hac_model_record wants to know. */
static inline bool hac_task_together(const hac_plan_task *task)
{
    return task->side_by_side || (task->range && (task->device_mask & (task->device_mask - 1)) != 0);
}

/* The name that models of this task are kept under (hac_model_record's `codelet`): tasks of one codelet may
 * do work of quite different kinds. */
static inline const char *hac_task_model(const hac_plan_task *task)
{
    return task->model != NULL ? task->model : task->codelet;
}

typedef struct hac_plan_device {
    char name[HAC_PLAN_NAME_MAX];
    uint32_t machine_index; /* index into the hac_machine it was planned for */
    double capability;      /* items/s for this flow and type */
    double share;           /* of the items, 0 … 1; shares add up to 1 */
} hac_plan_device;

/* One device's part of a bitonic plan (any number of devices). */
typedef struct hac_sort_part {
    uint32_t device; /* index into plan->devices */
    uint64_t first, items;
    double k;             /* this device's capability ÷ the strongest one's */
    int N;                /* 1/2^(N+1) ≤ k/(1+k) < 1/2^N, N ≥ 1 */
    uint32_t (*corun)[2]; /* [first, last] step runs, ascending, before folding */
    size_t n_corun;
} hac_sort_part;

/* A way the planner looked at, with its price: what `explain` lists and `why` reads out. */
typedef struct hac_plan_candidate {
    char name[96];  /* "radix on cpu.0 + cpu.1", "bitonic upper", "no split" … */
    double seconds; /* predicted; < 0: not possible */
    bool chosen;
    char reason[160]; /* why not, or why */
} hac_plan_candidate;

/* What explain prints for a sort besides the plan. */
typedef struct hac_sort_info {
    uint64_t items;
    hac_type type;
    bool descending, argsort;
    char algorithm[16];    /* "radix", "bitonic", "small" */
    char scheme[16];       /* "proportional", "lower", "upper", "none"; empty where none applies */
    int n;                 /* ⌈log2 items⌉ */
    int N;                 /* of the weakest part's device, for every scheme; 0 where there is one device */
    uint64_t weaker_items; /* items not on the strongest device */
    uint32_t (*corun)[2];  /* side-by-side step runs over all parts, before folding */
    size_t n_corun;
    uint32_t *folded; /* steps that folding then gave to the strongest device, ascending */
    size_t n_folded;
    hac_sort_part *parts;
    size_t n_parts;
} hac_sort_info;

/* What explain prints for a query besides the plan. */
typedef struct hac_query_info {
    char way[16]; /* "whole", "host", "device", "rows"; empty: no query */
    const char *format;
    uint64_t sources, bytes, rows; /* rows: of a table */
    uint64_t chunk, chunks;        /* bytes, or rows of a table */
    uint64_t region;               /* bytes of partials a chunk */
    uint32_t partitions, passes;
    uint64_t splits; /* of all, where the tasks are those of one of them; 0: they are of all */
    uint64_t rounds; /* of a job with splits: the tasks are the last one's; 0: it has none */
    bool sorts_rows; /* it is called a sort */
    bool hot_keys;
    uint32_t sample, hot_share; /* per mille */
    char remark[200];           /* of what was asked for and has no effect; empty: nothing */
    hac_flow_c flow_c;          /* what its kernels have done so far */
} hac_query_info;

typedef struct hac_plan {
    const char *flow;     /* "sort", "mapreduce", "splice" */
    double k;             /* weaker ÷ stronger of the first two devices by capability; 0: one device */
    const char *k_source; /* "model", "probe" or "profile" */
    double predicted_seconds;
    hac_plan_device devices[HAC_PLAN_MAX_DEVICES];
    size_t n_devices;
    hac_plan_buffer buffers[HAC_PLAN_MAX_BUFFERS];
    size_t n_buffers;
    int result_buffer; /* index of the buffer the client gets */
    hac_plan_task *tasks;
    size_t n_tasks;
    uint32_t *edges;
    size_t n_edges;
    /* Tasks may be queued on an executor behind those that they wait for: nothing is decided between them,
     * and none writes over what an earlier one reads, so that both may run again. */
    bool ahead;
    hac_plan_candidate *candidates;
    size_t n_candidates;
    hac_sort_info sort;
    hac_query_info query;
    char **strings; /* owned stage names */
    size_t n_strings;
} hac_plan;

void hac_plan_free(hac_plan *plan);

/* What all of a plan's buffers take together, the input's included: what a job's limit is held against. */
uint64_t hac_plan_memory(const hac_plan *plan);

/* What users know it as: its flow, but a query that sorts rows is a sort. */
const char *hac_plan_name(const hac_plan *plan);

/* Whether it is a query: mapreduce, or a round of splice. */
bool hac_plan_is_query(const hac_plan *plan);

/* Whether it is one task that any of several devices may do: none of them has a share of it. */
bool hac_plan_is_one_task(const hac_plan *plan);

/* "cpu.0 (60 %), cpu.1 (40 %)", or "cpu.0 or cpu.1" of a plan of one task. */
void hac_plan_name_devices(const hac_plan *plan, char *ret, size_t bytes);

/* The index of the plan's buffer of that name, -1 if there is none. */
int hac_plan_find_buffer(const hac_plan *plan, const char *name);

/* Building (for the flows' planners). A plan grows by these; every failure is HAC_NO_MEMORY or a limit. */
HAC_MUST_USE hac_status hac_plan_new(const char *flow, hac_plan **ret, hac_error *err);
HAC_MUST_USE hac_status hac_plan_add_buffer(hac_plan *plan, const char *name, hac_buffer_role role,
                                            uint64_t bytes, uint8_t *ret_index, hac_error *err);
/* Copies *task (edges aside) behind the others and makes it depend on `deps`; *ret_index is its index. */
HAC_MUST_USE hac_status hac_plan_add_task(hac_plan *plan, const hac_plan_task *task, const uint32_t *deps,
                                          size_t n_deps, uint32_t *ret_index, hac_error *err);

/* Keeps a copy of `text` in the plan (once per distinct text), for hac_plan_task.stage. */
HAC_MUST_USE hac_status hac_plan_add_string(hac_plan *plan, const char *text, const char **ret,
                                            hac_error *err);
HAC_MUST_USE hac_status hac_plan_add_candidate(hac_plan *plan, const hac_plan_candidate *candidate,
                                               hac_error *err);

HAC_DEFINE_CLEANUP(hac_plan *, hac_plan_free)

/* Checks every rule that execution relies on (indices, spans inside buffers, dependencies that point back,
 * no write conflict between tasks that may run at the same time). HAC_INTERNAL says what is broken. */
HAC_MUST_USE hac_status hac_plan_check(const hac_plan *plan, hac_error *err);

#endif
