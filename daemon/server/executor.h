/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Executors: one process for one (device, user), started on demand, reaped when idle, killed when it hangs.
 * This module knows what is in flight on each and tells the scheduler what became of it; it does not know
 * what jobs are.
 */
#ifndef SERVER_EXECUTOR_H
#define SERVER_EXECUTOR_H

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "base/list.h"
#include "device.h"
#include "metrics.h"
#include "planner/plan.h"
#include "pool.h"
#include "proto/messages.h"
#include "scratch.h"

#define HAC_EXECUTORS_MAX 64 /* slots: a bit each in a buffer's `executors` */

typedef struct hac_executor hac_executor;
typedef struct hac_executors hac_executors;

/* A task, or a piece of a range task, that an executor has been given. Owned by the scheduler. */
typedef struct hac_dispatch {
    hac_link link; /* in the executor's `in_flight` */
    uint64_t id;
    hac_executor *executor;
    void *job;
    uint64_t job_id; /* for the log */
    uint32_t task;
    uint64_t first, count;
    double predicted; /* seconds */
    double units;
    uint64_t sent_ns;
    uint32_t attempt;
    uint64_t behind; /* it is left out if this dispatch, or one after it, fails; 0: it is not sent ahead */
    uint32_t plan_device; /* index into the plan's devices */
    bool together;        /* other devices work on the same range */
    bool cold;            /* the first of its kind on its executor: not learnt from */
    bool fresh;           /* pages are faulted in as it runs */
    bool by_kernels;      /* of a task that has a host codelet, too */
    bool users_pace;      /* a query on the host: how long it takes says nothing of the device */
    double held_seconds;  /* it had the device, by hacd's clock; known when it has ended */
    double limit;         /* seconds after which its executor was killed; 0 if it was not for that */
} hac_dispatch;

typedef enum hac_executor_state {
    HAC_EXECUTOR_STARTING = 0,
    HAC_EXECUTOR_READY,
    HAC_EXECUTOR_ENDING /* killed or left; waiting to be reaped */
} hac_executor_state;

struct hac_executor {
    hac_link link;
    hac_executors *executors;
    unsigned slot;
    uint32_t device; /* index */
    hac_user *user;
    struct hac_child *child;
    hac_executor_state state;
    hac_link in_flight;
    unsigned n_in_flight;
    double in_flight_seconds; /* predicted */
    uint64_t used_ns;         /* last time it had work */
    uint64_t busy_since_ns;   /* when its oldest task in flight became the running one */
    hac_scratch_path scratch;
    uint64_t warm;   /* kinds of tasks it has run before, by hash */
    bool behind;     /* what runs was queued behind something else */
    bool hung;       /* killed for not answering */
    bool started;    /* it has been ready */
    char fatal[256]; /* its own last words */
};

/* How a task's executor was lost. */
typedef struct hac_loss {
    bool started;    /* the task may have run in part; else it was still waiting */
    bool counts;     /* it is held against the task: not a SIGKILL from outside */
    bool for_memory; /* the kernel killed it, as memory ran out */
    const char *how; /* … it ended, after "the executor": "was ended by signal 9 (Killed)" */
} hac_loss;

typedef struct hac_executor_events {
    /* A task has ended, well or not; the dispatch is out of flight and the callee's. */
    void (*done)(void *context, hac_dispatch *dispatch, const Hac__Executor__Done *done);
    /* The executor died with it and has been reaped; the dispatch is as with `done`. */
    void (*lost)(void *context, hac_dispatch *dispatch, const hac_loss *loss);
    /* The kernel has killed one that had no task, as memory ran out, or there is no room to start one.
     * Whether the callee has somebody to hold to account for that; else a start is held against the device,
     * as any that comes to nothing. */
    bool (*starved)(void *context);
    /* The executor of that slot is gone, and all that was registered with it; another may take the slot. */
    void (*gone)(void *context, unsigned slot);
    /* Something may be dispatched again: an executor is ready, or one is gone. */
    void (*changed)(void *context);
} hac_executor_events;

struct hac_executors {
    uv_loop_t *loop;
    hac_devices *devices;
    hac_users *users;
    hac_decoder *decoder;
    hac_closer *closer;
    hac_link list;
    hac_executor *slots[HAC_EXECUTORS_MAX];
    const char *program;           /* path of hac-executor */
    const char *program_directory; /* device binaries */
    const char *scratch_directory; /* a private directory each is made below it */
    double hang_seconds;           /* a task may take this long … */
    double hang_factor;            /* … or this many times its prediction, whichever is more */
    double idle_seconds;
    hac_executor_events events;
    void *context;
    uv_timer_t watch;     /* rings when a running task may have taken too long … */
    uint64_t watch_ns;    /* … at this time; 0: it is not set */
    uint64_t restarts;    /* deaths seen, for the metrics */
    int64_t oom_kills;    /* the kernel's that were told of, or are no executor's … */
    int64_t oom_seen;     /* … and all that there were … */
    uint64_t oom_seen_ns; /* … then */
    uint64_t starved_ns;  /* the kernel last killed an executor for want of memory; 0: never */
    hac_metrics *metrics;
};

/*
 * The user's executor for a device: the one there is, or a new one that is starting. HAC_AGAIN while a
 * starting one is held back (back-off) or all slots are taken by busy ones. Starts that fail again and again
 * put the device to rest. `err` is needed.
 */
HAC_MUST_USE hac_status hac_executor_get(hac_executors *executors, uint32_t device, hac_user *user,
                                         hac_executor **ret, hac_error *err);

/* The one there is; NULL: none, or it is about to end. */
hac_executor *hac_executor_find(const hac_executors *executors, uint32_t device, const hac_user *user);

/* Whether another task of `predicted` seconds may be queued: one runs, one waits behind it, and small ones
 * are queued up to a millisecond's worth. */
bool hac_executor_has_room(const hac_executor *executor, double predicted);

/* Gives the executor a task. Buffers it has not mapped yet are registered first. `descriptor` 0: none. */
typedef struct hac_executor_input {
    Hac__Executor__Run *run;
    hac_pool_buffer *buffers[HAC_PLAN_MAX_SPANS];
    size_t n_buffers;
    uint64_t descriptor;
    int descriptor_fd;
    bool send_descriptor; /* it does not have it yet */
} hac_executor_input;
void hac_executor_run(hac_executor *executor, hac_dispatch *dispatch, const hac_executor_input *input);
/* Sends what brief tasks have been given since: they may wait for each other until then. */
void hac_executors_flush(hac_executors *executors);

void hac_executor_forget_descriptor(hac_executor *executor, uint64_t descriptor);

/* Tells every executor that has it mapped to unmap a buffer. */
void hac_executors_forget_buffer(hac_executors *executors, hac_pool_buffer *buffer);

/* Readies the timer by which hung tasks are killed in time. */
void hac_executors_init_watch(hac_executors *executors);

/* Kills the hung, lets the idle go. Called a few times a second. */
void hac_executors_check(hac_executors *executors);

/* Kills (now) or lets go (when idle) everything: at the end, and when devices change. */
void hac_executors_kill_all(hac_executors *executors);
void hac_executors_leave_device(hac_executors *executors, uint32_t device);

/* Whether memory has run out of late: nothing is to be kept for reuse then, from which it could be had. */
bool hac_executors_starve(const hac_executors *executors);

/* Whether there is an executor of that device, be it about to end. */
bool hac_executors_at(const hac_executors *executors, uint32_t device);

/* Predicted seconds in flight on a device, over all its executors. */
double hac_executors_backlog(const hac_executors *executors, uint32_t device);

/* Environment for children: what passes the allow-list, plus the device's own. NULL-terminated, malloc'ed
 * array whose strings from `environ` are borrowed; free with free(). */
HAC_MUST_USE hac_status hac_child_environment(const hac_device_config *config, char ***ret, hac_error *err);

#endif
