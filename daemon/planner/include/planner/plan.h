/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A plan: the graph of tasks that a job becomes. A plan is plain data and the same for every flow: hacd
 * executes it (daemon/server); the planner prices it (plan/price.h), simulates it (plan/simulate.h) and
 * prints it, with the measured times if there are any (plan_output.h).
 *
 * A task runs one codelet over ranges of the job's buffers, either on a device that the plan names or, for
 * a *range task*, divided into sub-ranges that several devices take as they become free. The planner does no
 * I/O, reads no clock and uses no OpenCL. All it knows about the machine is in hac_machine (machine.h).
 */
#ifndef PLANNER_PLAN_H
#define PLANNER_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hac/type.h>

#include "base/cleanup.h"
#include "base/device.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/task_params.h"
#include "planner/hash_figures.h"
#include "planner/model.h"

#define HAC_PLAN_MAX_BUFFERS 32
#define HAC_PLAN_MAX_TASKS   65536
#define HAC_PLAN_NAME_MAX    64
#define HAC_NARROWER_MODELS  2

/* What kind of work a job is: HAC_FLOW_name and the name that users see, in the order of the metrics. */
#define HAC_FLOWS(X)                                                                                         \
    X(SORT, "sort")                                                                                          \
    X(MAPREDUCE, "mapreduce")                                                                                \
    X(SPLICE, "splice")                                                                                      \
    X(PARQUET, "parquet")                                                                                    \
    X(OPSPLIT, "opsplit")                                                                                    \
    X(CALIBRATE, "calibrate")                                                                                \
    X(TUNE, "tune")

#define HAC_FLOW_ENUMERATOR(name, text) HAC_FLOW_##name,
typedef enum hac_flow { HAC_FLOWS(HAC_FLOW_ENUMERATOR) HAC_N_FLOWS } hac_flow;

const char *hac_flow_name(hac_flow flow);

/* How the tasks of a query are carried out. */
typedef enum hac_plan_engine {
    HAC_PLAN_ENGINE_NONE = 0, /* no query, or only its footers are read */
    HAC_PLAN_ENGINE_WHOLE,    /* one task does all of it */
    HAC_PLAN_ENGINE_ROWS,     /* chunks, no aggregation */
    HAC_PLAN_ENGINE_HOST,     /* chunks, aggregated by host codelets */
    HAC_PLAN_ENGINE_DEVICE,   /* chunks, aggregated by kernels */
    HAC_PLAN_ENGINE_MIXED,    /* chunks, aggregated by host codelets on CPUs and by kernels elsewhere */
    HAC_N_PLAN_ENGINES
} hac_plan_engine;

/* "whole", "rows" …; "" for HAC_PLAN_ENGINE_NONE. */
const char *hac_plan_engine_name(hac_plan_engine engine);

/* What a buffer of the plan is to the job. */
typedef enum hac_buffer_role {
    HAC_BUFFER_INPUT = 0, /* the client's; never written */
    HAC_BUFFER_OUTPUT,    /* handed to the client */
    HAC_BUFFER_WORK,      /* temporary; back to the pool when the job ends */
    HAC_BUFFER_SHARED     /* the client's, read and written: vectors of sub-operators */
} hac_buffer_role;

typedef struct hac_plan_buffer {
    char name[16]; /* "in", "out", "index", "work" … */
    hac_buffer_role role;
    uint64_t bytes;
    /* The input is read from a descriptor of the client: the plan has io.read tasks for that. false: the
     * input is in pool memory. */
    bool from_descriptor;
    /* The size is known, and memory is taken, only when the tasks before the buffer's first use have ended.
     * Until then `bytes` is an estimate. */
    bool late;
    bool whole; /* the tasks write all of the buffer, so populating its memory at once saves time */
} hac_plan_buffer;

typedef struct hac_plan_span {
    uint8_t buffer;         /* index into plan->buffers */
    uint8_t access;         /* hac_access */
    uint64_t offset, bytes; /* the window that the codelet gets; `offset` is a multiple of 64 bytes */
    /* The task reads or writes only the bytes [touch_first, touch_end) of the buffer. Tasks on parts of one
     * array all get a window on the whole array; they may run at the same time if the bytes that they touch
     * do not overlap. */
    uint64_t touch_first, touch_end;
} hac_plan_span;

typedef struct hac_plan_task {
    const char *codelet; /* static, or in plan->strings */
    const char *kernels; /* name of the codelet for devices that are not CPUs; NULL: `codelet` */
    hac_type type;
    bool descending;

    /* A range task covers the items [first, first + count). hacd divides it at multiples of `grain` into
     * pieces, which the devices of device_mask take as they become free. The first pieces follow the
     * predicted rates, later ones the measured ones (range_share.h). A task that is not a range task runs as
     * a whole on one device of device_mask: the one that is free first. */
    bool range;
    uint64_t first, count, grain;
    uint32_t device_mask; /* bits are indices into plan->devices; never 0 */
    int device;           /* the device, if device_mask has one bit and the planner chose it; else -1 */
    /* Range tasks: devices of device_mask whose speed at this codelet is not known. Each gets one short piece
     * at a time until one was measured that did not load the program; then it takes part like the others. */
    uint32_t explored;
    uint32_t guessed; /* range tasks: devices whose price no measurement and no profile knows */

    /* The task overwrites none of its inputs, so it may run again after its executor died. When a task that
     * is not repeatable is lost, the job restarts from its inputs. */
    bool repeatable;
    bool uses_descriptor; /* the task reads descriptor number `descriptor` of the job */
    uint8_t descriptor;
    /* `slices` tasks that differ only in `slice` and in their device share one piece of work. Their spans are
     * the same; the codelet makes sure that each slice touches other bytes. slices 0: not sliced. */
    uint32_t slice, slices;

    hac_plan_span spans[HAC_SPANS_MAX];
    size_t n_spans;
    uint64_t params[HAC_TASK_PARAMS_MAX];
    size_t n_params;
    const uint8_t *data; /* inline data of this task, borrowed from the job; NULL: the job's inline data */
    size_t data_bytes;

    /* Tasks that must end before this one starts: plan->edges[first_edge … first_edge + n_edges). */
    uint32_t first_edge, n_edges;

    double units;  /* work in the codelet's unit (plan/price.h), for the performance models */
    double wanted; /* of a range: the part that will be done, as is guessed; 0: all */
    const char
        *model; /* name of the performance model, in plan->strings or static; NULL: the codelet's name */
    const char *kernels_model; /* the model for devices that run `kernels`; NULL: `model` */
    /* Suffixes of the names of narrower models, the narrowest first, in plan->strings or static; NULL: there
     * is none. They are of tasks that do the same or alike, and what is measured goes to all of them. */
    const char *narrower[HAC_NARROWER_MODELS];
    double part; /* the task's share of the time of a whole sort on one device; 0: not part of a sort */
    double predicted_start;   /* seconds from the job's start to the task's start, as simulated */
    double predicted_seconds; /* duration of the whole task on its devices */
    /* Range tasks: seconds that each device would need for the whole task while the other devices work. */
    double whole_seconds[HAC_DEVICES_MAX];

    /* For drawings and progress. */
    const char *stage;               /* "sample", "scatter", "merge 17" …: static or in plan->strings */
    uint32_t step_first, step_last;  /* bitonic: the first and last network step of the task; 0: none */
    bool side_by_side;               /* bitonic: other devices run other steps at the same time */
    uint64_t item_first, item_count; /* the items that the task touches */
} hac_plan_task;

/* Whether other devices work on the job while the task runs (the argument `together` of hac_model_record). */
static inline bool hac_task_together(const hac_plan_task *task)
{
    return task->side_by_side || (task->range && (task->device_mask & (task->device_mask - 1)) != 0);
}

/* The name of the task's performance model (the argument `codelet` of hac_model_record). Tasks of one codelet
 * that do different kinds of work have different models. `kernels`: on a device that runs the kernels. */
static inline const char *hac_task_model(const hac_plan_task *task, bool kernels)
{
    if (kernels && task->kernels_model != NULL)
        return task->kernels_model;
    return task->model != NULL ? task->model : task->codelet;
}

/* The name of the task's narrower model number `which`. Returns false if there is none. */
bool hac_task_narrower_model(const hac_plan_task *task, bool kernels, size_t which,
                             char ret[HAC_MODEL_NAME_MAX]);

typedef struct hac_plan_device {
    char name[HAC_PLAN_NAME_MAX];
    uint32_t machine_index; /* index into the hac_machine it was planned for */
    double capability;      /* items per second for this flow and type */
    double share;           /* the device's share of the items, 0 … 1; all shares add up to 1 */
    bool explored;          /* it gets a short piece of a range, which measures it (hac_plan_task.explored) */
    /* The factor within which its predicted time is likely to be, if much of that is assumed; 0: it is
     * known. */
    double uncertainty;
    unsigned experience; /* number of other codelets measured there, on which the assumption rests */
} hac_plan_device;

/* The part of one device in a bitonic sort. */
typedef struct hac_sort_part {
    uint32_t device; /* index into plan->devices */
    uint64_t first, items;
    double k; /* the device's capability divided by the strongest device's */
    int N;    /* the number with 1/2^(N+1) ≤ k/(1+k) < 1/2^N; at least 1 */
    /* [first, last] of each run of network steps that the device runs while others work; ascending, before
     * folding */
    uint32_t (*corun)[2];
    size_t n_corun;
} hac_sort_part;

/* What decided whether a candidate plan was chosen, for code; hac_plan_candidate.reason is for people. */
typedef enum hac_candidate_cause {
    HAC_CAUSE_PRICE = 0, /* the price, or an estimate of it */
    HAC_CAUSE_CANNOT,    /* nothing can run the candidate */
    HAC_CAUSE_NOT_ASKED  /* an option of the user excludes the candidate */
} hac_candidate_cause;

/* A candidate plan with its price, as `explain` and `why` list it. */
typedef struct hac_plan_candidate {
    char name[96];  /* "radix on cpu.0 + cpu.1", "bitonic upper", "no split" … */
    double seconds; /* predicted; < 0: not possible */
    bool chosen;
    bool by_kernels; /* a query that kernels alone aggregate */
    hac_candidate_cause cause;
    char reason[160]; /* why it was chosen, or why not; print it with hac_candidate_reason */
} hac_plan_candidate;

/* What `explain` prints of a sort in addition to the tasks. */
typedef struct hac_sort_info {
    uint64_t items;
    hac_type type;
    bool descending, argsort;
    char algorithm[16];    /* "radix", "bitonic", "small" */
    char scheme[16];       /* "proportional", "lower", "upper", "none"; empty where none applies */
    int n;                 /* ⌈log2 items⌉ */
    int N;                 /* hac_sort_part.N of the weakest device; 0: there is one device */
    uint64_t weaker_items; /* number of items that are not on the strongest device */
    uint32_t (*corun)[2];  /* [first, last] of each run of steps that several devices run at the same time,
                              before folding */
    size_t n_corun;
    uint32_t *folded; /* steps that folding gave to the strongest device, ascending */
    size_t n_folded;
    hac_sort_part *parts;
    size_t n_parts;
} hac_sort_info;

/* What `explain` prints of a query in addition to the tasks. */
typedef struct hac_query_info {
    hac_plan_engine engine;
    const char *format;
    uint64_t sources, bytes; /* number of sources; their bytes */
    uint64_t files_left_out; /* files that the client need not read */
    uint64_t rows;           /* rows of a table; 0: the source is no table */
    uint64_t chunk, chunks;  /* size of a chunk in bytes (of a table: in rows); number of chunks */
    uint64_t region;         /* bytes of the partials of one chunk */
    uint32_t partitions, passes;
    uint64_t splits; /* number of splits; the plan has the tasks of one of them; 0: no splits */
    uint64_t rounds; /* number of rounds so far; the plan has the tasks of the last one; 0: no rounds */
    bool sorts_rows; /* the user submitted a sort of rows */
    bool first_rows; /* each chunk keeps only the rows that may be in the result (order by with a limit) */
    bool hot_keys;
    uint32_t sample, hot_share; /* per mille */
    char remark[200];           /* which option has no effect, and why; "": every option has an effect */
    hac_hash_figures hash;      /* figures of the device hash aggregation so far */
} hac_query_info;

typedef struct hac_plan {
    hac_flow flow;
    double k; /* capability of the second strongest device divided by the strongest's; 0: one device */
    const char *k_source; /* "model", "probe" or "profile" */
    double predicted_seconds;
    double start_seconds; /* of predicted_seconds: until the first device is at work; set by hacd */
    hac_plan_device devices[HAC_DEVICES_MAX];
    size_t n_devices;
    hac_plan_buffer buffers[HAC_PLAN_MAX_BUFFERS];
    size_t n_buffers;
    int result_buffer; /* index of the buffer that the client gets */
    hac_plan_task *tasks;
    size_t n_tasks;
    uint32_t *edges;
    size_t n_edges;
    /* hacd may queue a task on an executor before the task's predecessors have ended. This holds if no
     * decision of hacd lies between them, and if no task overwrites what an earlier task reads, so that both
     * may run again. */
    bool ahead;
    hac_plan_candidate *candidates;
    size_t n_candidates;
    hac_sort_info sort;
    hac_query_info query;
    char **strings; /* owned stage names */
    size_t n_strings;
} hac_plan;

void hac_plan_free(hac_plan *plan);

/* Bytes of all buffers of the plan, input included; a job's memory limit applies to them. */
uint64_t hac_plan_memory(const hac_plan *plan);

/* The name of the job for users: the flow, or "sort" for a query that sorts rows. */
const char *hac_plan_name(const hac_plan *plan);

/* Whether the plan is that of a query: mapreduce, or a round of splice. */
bool hac_plan_is_query(const hac_plan *plan);

/* Whether the plan is one task that any of several devices may run; no device has a share then. */
bool hac_plan_is_one_task(const hac_plan *plan);

/* Prints the devices: "cpu.0 (60 %), cpu.1 (40 %)"; for a plan of one task "cpu.0 or cpu.1". */
void hac_plan_name_devices(const hac_plan *plan, char *ret, size_t bytes);

/* The index of the plan's buffer of that name, -1 if there is none. */
int hac_plan_find_buffer(const hac_plan *plan, const char *name);

/* Prints the reason of a candidate into `text`: with "not possible: " before it if no price was computed
 * because nothing can run the candidate, or because an option excludes it. Returns `text`. */
const char *hac_candidate_reason(const hac_plan_candidate *candidate, char *text, size_t capacity);
#define HAC_CANDIDATE_REASON_MAX 176 /* bytes that hac_candidate_reason needs */

/* The planners of the flows build plans with the following functions, which fail with HAC_NO_MEMORY or at a
 * limit of this header. */
HAC_MUST_USE hac_status hac_plan_new(hac_flow flow, hac_plan **ret, hac_error *err);
HAC_MUST_USE hac_status hac_plan_add_buffer(hac_plan *plan, const char *name, hac_buffer_role role,
                                            uint64_t bytes, uint8_t *ret_index, hac_error *err);
/* Appends a copy of *task, which depends on `deps`; *ret_index is its index. */
HAC_MUST_USE hac_status hac_plan_add_task(hac_plan *plan, const hac_plan_task *task, const uint32_t *deps,
                                          size_t n_deps, uint32_t *ret_index, hac_error *err);

/* Copies `text` into the plan, once for equal texts: for hac_plan_task.stage. */
HAC_MUST_USE hac_status hac_plan_add_string(hac_plan *plan, const char *text, const char **ret,
                                            hac_error *err);
HAC_MUST_USE hac_status hac_plan_add_candidate(hac_plan *plan, const hac_plan_candidate *candidate,
                                               hac_error *err);

HAC_DEFINE_CLEANUP(hac_plan *, hac_plan_free)

/* Checks what execution relies on: indices, spans inside buffers, dependencies on earlier tasks only, and no
 * write conflicts between tasks that may run at the same time. Returns HAC_INTERNAL with a message. */
HAC_MUST_USE hac_status hac_plan_check(const hac_plan *plan, hac_error *err);

#endif
