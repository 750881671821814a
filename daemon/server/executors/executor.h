/* SPDX-License-Identifier: Apache-2.0 */
/* Executors: a process per (device, user), started on demand, ended when idle, killed when it hangs. A second
 * one, the side executor, runs short tasks beside a long one of the same user. This module knows which tasks
 * are in flight on each executor and reports their ends to the scheduler. It does not know jobs. */
#ifndef SERVER_EXECUTOR_H
#define SERVER_EXECUTOR_H

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "base/list.h"
#include "loop/scratch.h"
#include "planner/plan.h"
#include "proto/messages.h"
#include "resources/device.h"
#include "resources/metrics.h"
#include "resources/pool.h"
#include "task_message.h"

#define HAC_EXECUTORS_MAX 64 /* slots; a bit each in a buffer's `executors` */

typedef struct hac_executor hac_executor;
typedef struct hac_executors hac_executors;

/* A task, or a piece of a range task, that an executor has been given. The scheduler owns it. */
typedef struct hac_dispatch {
    hac_link link; /* in hac_executor.in_flight */
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
    /* the dispatch whose failure, or that of any after it, makes the executor skip this one; 0: it was not
     * sent ahead */
    uint64_t predecessor;
    uint32_t plan_device;  /* index into the plan's devices */
    bool together;         /* other devices work on the same range */
    bool cold;             /* the first of its kind on its executor; the models do not learn from it */
    bool fresh;            /* pages are faulted in while it runs */
    bool by_kernels;       /* it runs kernels although the task has a host codelet */
    bool claimed;          /* only its client knows how much work it is: it gives way to users who wait */
    uint32_t yields;       /* how often its task gave way before */
    bool users_pace;       /* a query on the host: its duration says nothing about the device */
    double held_seconds;   /* how long it held the device, by hacd's clock; known when it has ended */
    uint64_t abandoned_ns; /* when its job was given up while it was in flight; 0: it was not */
    bool beside;           /* another user's tasks ran on the device at the same time */
    double limit;          /* time limit in seconds for which its executor was killed; 0: it was not */
} hac_dispatch;

typedef enum hac_executor_state {
    HAC_EXECUTOR_STARTING = 0,
    HAC_EXECUTOR_READY,
    HAC_EXECUTOR_ENDING /* killed or asked to exit; waiting to be reaped */
} hac_executor_state;

struct hac_executor {
    hac_link link;
    hac_executors *executors;
    unsigned slot;
    uint32_t device; /* index */
    hac_user *user;
    bool is_side; /* for short tasks, beside the user's other executor there */
    struct hac_child *child;
    hac_executor_state state;
    hac_link in_flight;
    unsigned n_in_flight;
    double in_flight_seconds; /* predicted */
    uint64_t begun_ns;        /* when its process was started */
    uint64_t used_ns;         /* when it last had work */
    uint64_t busy_since_ns;   /* when its oldest task in flight started to run */
    /* task_watch.h */
    int steps_fd;            /* where it counts the steps of its work; -1: nowhere */
    uint64_t steps;          /* their number, when it was last looked at */
    uint64_t moved_ns;       /* when that look was, if the number had changed; or busy_since_ns */
    uint64_t busy_since_cpu; /* processor time that the process had used then, ns */
    uint64_t checked_cpu;    /* … and when the task's limit was last found to be over */
    double more_seconds;     /* added to the limit, because the process waited for a processor */
    hac_scratch_path scratch;
    uint64_t warm;         /* bit set of hashes of the kinds of tasks that it has run */
    bool was_queued;       /* the running task was queued after another one */
    bool overlapped;       /* others were let in beside the running task (fair_share.h) */
    bool goes_beside;      /* its next task was let in beside those of others */
    bool overtook;         /* … though somebody with less virtual time waits */
    bool hung;             /* killed because it did not answer */
    bool gave_way;         /* killed because its task kept other users waiting */
    bool abandoned;        /* killed because its task's job was given up */
    bool has_old_settings; /* its device has other settings now: it takes no more tasks, and leaves */
    bool started;          /* it has been ready */
    char fatal[256];       /* its last report before it exited */
};

/* How a task's executor was lost. */
typedef struct hac_loss {
    bool started;    /* the task may have run in part; else it was still waiting */
    bool counts;     /* the loss counts against the task: it was no SIGKILL from outside */
    bool for_memory; /* the kernel killed the executor because memory ran out */
    bool gave_way;   /* the task kept other users waiting for too long */
    bool abandoned;  /* the job was given up and the task did not end soon */
    const char *how; /* how the executor ended, as a predicate: "was ended by signal 9 (Killed)" */
} hac_loss;

typedef struct hac_executor_events {
    /* A task has ended, successfully or not. The dispatch is no longer in flight; the callee owns it. */
    void (*done)(void *context, hac_dispatch *dispatch, const Hac__Executor__Done *done);
    /* The executor died with the task and has been reaped. The dispatch as for `done`. */
    void (*lost)(void *context, hac_dispatch *dispatch, const hac_loss *loss);
    /* Memory ran out: the kernel killed an executor that had no task, or there is no memory to start one.
     * Returns whether a job is held responsible. If not, a failed start counts against the device like any
     * other. */
    bool (*starved)(void *context);
    /* The executor in that slot is gone, with everything that was registered with it. The slot may be reused.
     */
    void (*gone)(void *context, unsigned slot);
    /* A task may be dispatched again: an executor is ready, or one is gone. */
    void (*changed)(void *context);
} hac_executor_events;

struct hac_executors {
    uv_loop_t *loop;
    hac_devices *devices;
    hac_users *users;
    hac_decoder *decoder;
    hac_deferred_close *closer;
    hac_link list;
    hac_executor *slots[HAC_EXECUTORS_MAX];
    const char *program;           /* path of hac-executor */
    const char *program_directory; /* where device binaries are */
    const char *scratch_directory; /* parent of each executor's private directory */
    double hang_seconds;           /* time limit of a task: this long, */
    double hang_factor;            /* or this many times its prediction, whichever is more */
    double idle_seconds;
    hac_executor_events events;
    void *context;
    uv_timer_t watch;      /* rings when a running task may have exceeded its limit */
    uint64_t watch_ns;     /* when `watch` rings; 0: it is not set */
    uint64_t again_ns;     /* when somebody who waits for a device is to be served again; 0: never */
    uint64_t n_dispatches; /* so far; dispatches are numbered from 1 */
    uint64_t restarts;     /* deaths seen, for the metrics */
    int64_t oom_kills;     /* kernel kills for lack of memory that were reported, or are of other processes */
    int64_t oom_seen;      /* all such kills at `oom_seen_ns` */
    uint64_t oom_seen_ns;
    int64_t task_refusals; /* hac_pids_cgroup_refusals, when the last one was seen */
    uint64_t starved_ns;   /* when the kernel last killed an executor for lack of memory; 0: never */
    hac_metrics *metrics;
};

/* The user's executor for a device. Starts one if there is none. HAC_AGAIN: it is held back (back-off).
 * HAC_REFUSED: other executors have to end first; an idle one has been asked to. Repeated failed starts
 * quarantine the device. `err` must not be NULL. */
HAC_MUST_USE hac_status hac_executor_get(hac_executors *executors, uint32_t device, hac_user *user,
                                         hac_executor **ret, hac_error *err);

/* The user's side executor for a device. Starts one if there is none, as long as half of all slots are free,
 * there are threads for more than it, and memory did not run out lately. NULL: there is none now. If a side
 * executor does not start, or dies, the user has none on that device for a minute; nothing else is counted.
 */
hac_executor *hac_executor_get_side(hac_executors *executors, uint32_t device, hac_user *user);

/* The user's executor for a device, which is no side executor; NULL: there is none, or it is ending. */
hac_executor *hac_executor_find(const hac_executors *executors, uint32_t device, const hac_user *user);

/* Whether another task of `predicted` seconds may be queued. One task runs and one waits; of short tasks, up
 * to a millisecond's worth may wait. */
bool hac_executor_has_room(const hac_executor *executor, double predicted);

/* Gives the executor a task. Buffers that it has not mapped yet are registered first. */
void hac_executor_run(hac_executor *executor, hac_dispatch *dispatch, hac_task_message *message);
/* Sends the batched tasks that are still held back. */
void hac_executors_flush(hac_executors *executors);

void hac_executor_forget_descriptor(hac_executor *executor, uint64_t descriptor);

/* Tells every executor that has the buffer mapped to unmap it. */
void hac_executors_forget_buffer(hac_executors *executors, hac_pool_buffer *buffer);

/* Initialises the timer that kills hung tasks in time. */
void hac_executors_init_watch(hac_executors *executors);

/* `events.changed` is called at that time: a user who waits may have the device then. */
void hac_executors_ask_again(hac_executors *executors, uint64_t at);

/* The job was cancelled, or failed for another reason than a task: an executor that still runs a task of it
 * after 0.1 s is killed. */
void hac_executors_abandon(hac_executors *executors, const void *job);

/* Kills executors that hang, ends idle ones. Called a few times a second. */
void hac_executors_check(hac_executors *executors);

/* hac_executors_kill_all kills all executors. hac_executors_leave_device ends those of a device once they are
 * idle. */
void hac_executors_kill_all(hac_executors *executors);
void hac_executors_leave_device(hac_executors *executors, uint32_t device);

/* Whether memory has run out recently: nothing should be kept for reuse then. */
bool hac_executors_starve(const hac_executors *executors);

/* Whether the device has an executor, even one that is ending. */
bool hac_executors_at(const hac_executors *executors, uint32_t device);

/* Predicted seconds in flight on a device, over all its executors. */
double hac_executors_backlog(const hac_executors *executors, uint32_t device);

#endif
