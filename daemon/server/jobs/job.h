/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Jobs: what a client asked for, the plan made for it, what ran, and the result until the client has it.
 *
 * States: queued → planned → running → done, failed or cancelled. Each job ends once, in one of the last
 * three. A job runs one plan after another (for example, a probe of unmeasured devices first); the last plan
 * makes the result. The scheduler (scheduler.h) executes the current plan. The job's kind decides what comes
 * next, through hacd_job_kind (kinds/job_sort.c and others).
 */
#ifndef SERVER_JOB_H
#define SERVER_JOB_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include <hac/job.h>

#include "base/list.h"
#include "base/text.h"
#include "executors/builder.h"
#include "executors/device_tuning.h"
#include "executors/executor.h"
#include "executors/machine_view.h"
#include "plan_run.h"
#include "planner/model.h"
#include "planner/plan.h"
#include "planner/plan_history.h"
#include "planner/sort_plan.h"
#include "resources/device.h"
#include "resources/pool.h"
#include "splice_buffers.h"

struct hac_session;
struct hac_submission;
typedef struct hacd_job hacd_job;

#define HAC_JOB_RECORDS_MAX 65536
#define HAC_JOB_LOG_MAX     16384

/* Callbacks at the end of a job, each called once. */
typedef struct hacd_job_events {
    /* The job has ended. Its plan, its records and all of its memory are still there. */
    void (*ended)(hacd_job *job);
    /* All memory but the result is back in the pool: whoever waits for the job can be told. */
    void (*over)(hacd_job *job);
} hacd_job_events;

/* All jobs, and what they run on. */
typedef struct hac_jobs {
    hac_link list; /* the oldest first */
    hac_link queued, active;
    hac_link answering; /* jobs with deferred answers */
    unsigned n_jobs, n_ended, n_active;
    struct hacd_job *by_itself; /* measures devices while nobody wants anything; ends when a job comes */
    unsigned expire_above;      /* if n_ended exceeds this, records are expired before the next tick */
    uint64_t next_id;
    uint64_t idle_since_ns; /* when the last job ended, or hacd started */
    bool kick;              /* run the scheduler before the loop waits again */
    bool deadlines_changed; /* a job with a deadline was submitted */
    bool draining;          /* hacd is shutting down and takes no new jobs */
    double result_expiry;   /* how long results that nobody fetches are kept, in seconds */
    hacd_job_events events;
    hac_devices *devices;
    hac_users *users;
    hac_executors *executors;
    hac_builders *builders;
    hac_machine_view *machine;
    hac_tuning *tuning;
    hac_model_set *models;
    hac_sort_memo *sorts;
    hac_metrics *metrics;
    hac_deferred_close *closer;
} hac_jobs;

/* Items of a task, and the multiple at which pieces begin. */
typedef struct hacd_task_range {
    uint64_t first, count, grain;
} hacd_task_range;

/* Whether more of a task has to be done. */
typedef enum hacd_more {
    HACD_MORE_NOW,
    HACD_MORE_LATER, /* perhaps, when a piece that is in flight has ended */
    HACD_MORE_NEVER  /* the task counts as done; only while no piece of the job is in flight */
} hacd_more;

typedef struct hacd_job_kind {
    hac_flow flow;
    size_t state_bytes; /* size of kind_state, which is zeroed */
    /* Fills in a new job from the request that submits it. The options common to all jobs have been read
     * already. */
    hac_status (*fill)(struct hac_submission *from, hacd_job *job, hac_error *err);
    /* Sets job->plan to the next plan. Called when the job starts, and whenever a plan has been executed.
     * HAC_NOT_FOUND: there is no further plan, the job is done. HAC_AGAIN: there is nothing to do until the
     * client sends more and hacd_job_wake is called. */
    hac_status (*next_plan)(hacd_job *job, hac_error *err);
    /* A buffer of the plan that the kind already holds, with the offset of the plan's buffer in it
     * (*ret_offset, initially 0). NULL: the buffer is the job's input, or has to be allocated. May be NULL.
     */
    hac_pool_buffer *(*buffer)(const hacd_job *job, const hac_plan_buffer *wanted, uint64_t *ret_offset);
    /* There is no memory for the plan: whether the job waits for memory to be freed. NULL: it does not wait.
     */
    bool (*must_wait)(hacd_job *job);
    /* Whether the job waits for memory now. NULL: it never does. */
    bool (*waits_for_memory)(const hacd_job *job);
    /* Called a few times a second until the job has ended. May be NULL. */
    void (*check)(hacd_job *job);
    /* The plan's buffers need `needed` bytes, more than the job's limit: returns HAC_REFUSED with a message.
     * NULL: the general message. */
    hac_status (*over_limit)(hacd_job *job, uint64_t needed, hac_error *err);
    /* A piece of a task has succeeded; `done` is its report. May be NULL. */
    void (*task_done)(hacd_job *job, uint32_t task, const Hac__Executor__Done *done);
    /* Called before a piece of a range is handed out. NULL: HACD_MORE_NOW. */
    hacd_more (*wants_more)(const hacd_job *job, uint32_t task);
    /* At most how many items the next piece of a range has; 0: any number. NULL: the same. */
    uint64_t (*piece_max)(const hacd_job *job, uint32_t task);
    /* Whether a piece that succeeded did all the work that its units claim. If not, the models do not learn
     * from it. NULL: it did. */
    bool (*did_all)(const hacd_job *job, uint32_t task, const Hac__Executor__Done *done);
    /* A whole task has succeeded, and its dependents have not started. This is the place to size late buffers
     * (hac_plan_buffers_attach_late), or to set run.replan. HAC_AGAIN: run the whole task once more. Other
     * failures fail the job. May be NULL. */
    hac_status (*task_ended)(hacd_job *job, uint32_t task, hac_error *err);
    /* A piece of several items has failed. Returns whether it runs again, in smaller pieces. May be NULL. */
    bool (*cuts_failed)(const hacd_job *job, uint32_t task, const Hac__Executor__Done *done);
    /* A piece has failed. Returns whether it counts as done nevertheless. May be NULL. */
    bool (*may_fail)(hacd_job *job, uint32_t task, const Hac__Executor__Done *done);
    /* A task has failed. Returns whether the kind can go on (run.replan). May be NULL. */
    bool (*task_failed)(hacd_job *job, uint32_t task, const Hac__Executor__Done *done);
    /* Predicted seconds of a job that has no plan yet; 0: unknown. NULL: predicted from the size of the
     * input. */
    double (*estimate)(const hacd_job *job);
    /* The range of a task that the plan does not cut, if the task could be cut. NULL: there are none. */
    bool (*find_range)(const hacd_job *job, uint32_t task, hacd_task_range *ret);
    /* Adds members to the job's receipt; may be NULL. */
    void (*receipt)(const hacd_job *job, hac_text *text);
    void (*free_state)(hacd_job *job); /* frees what kind_state refers to; may be NULL */
    void (*ended)(hacd_job *job);      /* the job has ended, in any state; may be NULL */
    /* Sends the answers that hacd_job_answer_later deferred. NULL: the kind defers none. */
    void (*answer)(hacd_job *job);
    /* For jobs whose input has no known end: progress as text, and the rate in items per second. NULL:
     * progress follows from the plan. */
    void (*progress)(const hacd_job *job, double elapsed, double *ret_rate, char *note, size_t capacity);
    bool has_result;
    bool sets_result_bytes; /* the kind sets result_bytes; else it is the size of the plan's buffers */
    bool user_errors;       /* HAC_INVALID from an executor is an error in the user's data or query */
    bool in_order;          /* tasks and their items are in input order: the first failing piece decides */
    bool claims;            /* clients say how much work there is in a task; hacd does not know */
    bool measures;          /* starts only when no builder runs, which would disturb the measurement */
} hacd_job_kind;

/* What a device did for a job in plans before the current one. */
typedef struct hac_device_use {
    double busy, predicted; /* seconds */
    uint64_t pieces, lost;
    double kernel_busy; /* what of these was done by kernels */
    uint64_t kernel_pieces;
} hac_device_use;

/* For a job that runs many plans: the totals of the plans before the current one. */
typedef struct hacd_job_earlier {
    hac_device_use *uses; /* one for each device of hacd; NULL: no plan has ended yet */
    double seconds, predicted;
} hacd_job_earlier;

/* A descriptor that the client has sent as input. */
typedef struct hacd_job_descriptor {
    int fd;             /* -1: none */
    uint64_t executors; /* bit mask of the slots of executors that have it */
} hacd_job_descriptor;

/* Folders of an input that have keys (base/folder_keys.h). */
typedef struct hacd_job_path {
    uint8_t *data; /* NULL: none */
    size_t bytes;
} hacd_job_path;

#define HAC_JOB_DESCRIPTORS_MAX 256 /* one message carries at most HAC_DESCRIPTORS_MAX */

typedef struct hac_waiter {
    hac_link link;
    struct hac_session *session;
    uint64_t serial;
} hac_waiter;

struct hacd_job {
    hac_link link;      /* in hac_jobs.list */
    hac_link turn;      /* in hac_jobs.queued or .active */
    hac_link answering; /* in hac_jobs.answering */
    hac_jobs *jobs;
    const hacd_job_kind *kind;
    void *kind_state;
    hac_flow flow;                /* what users see: the kind's flow, or the sort of a query that sorts */
    hac_reservation *reservation; /* memory reserved for its plans; NULL: none */
    uint64_t id;
    hac_user *user;
    struct hac_session *owner; /* NULL: detached, or its client is gone */
    uint64_t serial;           /* of the submit request, while it is unanswered */
    uint64_t connection;       /* number of the connection that it came over */
    hac_link waiters;
    hac_link readers; /* sessions other than the owner that read the result's buffer */
    hac_job_state state;
    bool by_itself;                 /* hacd began it (hac_jobs.by_itself): no user sees it */
    bool detached, progress, quick; /* quick: inline, answered by a single message */
    bool cancelling, active, restart;
    /* The session that writes the output. Until the output is written, the job has not ended for other
     * sessions. NULL: no session writes the output. */
    struct hac_session *writer;
    bool unwritten;            /* the client failed to write the output */
    hac_error unwritten_error; /* why the client failed to write the output */
    bool end_reported;         /* the end was counted, logged and reported */
    bool counted;              /* the job counts as one of its user's jobs, until its result is released */
    uint64_t charged_inline;   /* bytes charged for the inline input, then for the inline result */
    bool waiting;              /* waits for its client: neither queued nor active */
    int priority;
    double deadline_seconds;
    uint64_t memory_limit;
    uint32_t device_mask; /* allowed devices; 0: all */
    bool fast;
    char name[256];

    /* The input. */
    uint64_t items;       /* keys or rows, if known; else bytes */
    hac_type type;        /* type of the keys; HAC_TYPE_NONE: the job does not sort keys */
    bool inline_data;     /* input and result travel in messages */
    bool from_descriptor; /* executors read files for it */
    uint8_t *data;        /* sent with every task */
    size_t data_bytes;
    hac_pool_buffer *input;
    uint64_t input_offset;
    hacd_job_descriptor *descriptors;
    size_t n_descriptors;
    hacd_job_path *paths; /* sent with the tasks of an input; by hac_plan_task.descriptor */
    size_t n_paths;

    hac_plan *plan;            /* the current one; the last one if the job has ended */
    hac_splice_buffers splice; /* of all tasks so far */
    hacd_job_earlier earlier;
    hac_plan_history history; /* of the plans before the current one */
    hacd_plan_run run;
    unsigned restarts, retries;
    unsigned yields;          /* restarts after a task that cannot be repeated gave way to other users */
    unsigned memory_kills;    /* executors that the kernel killed during this plan because memory ran out */
    bool crowded;             /* after so many kills the job starts over, without the user's other jobs */
    bool alone;               /* must be its user's only active job */
    uint32_t n_by_host;       /* tasks that went on with their host codelets because their kernels failed */
    char by_host_reason[256]; /* how the first of these failed */
    uint32_t losses[HAC_DEVICE_PLACES]; /* executors lost on each device */
    uint32_t excluded;                  /* bit mask of devices that lost three */
    uint64_t bytes_in;
    uint64_t build_started_ns; /* when it began to wait for kernels; 0: it does not wait */
    double build_seconds;      /* how long it waited for kernels */
    bool released;             /* its result was fetched and released, or has expired */
    bool unsaved;              /* has ended, and its record is to be saved (history/job_store.h) */
    bool saving;               /* its record may not be on disk yet */
    bool saved;                /* its record was saved before */

    /* The result. */
    uint8_t *result_data;
    size_t result_data_bytes;
    hac_pool_buffer *result;
    uint64_t result_bytes;
    uint64_t rows_bytes; /* bytes of results that were sent with splits */
    char *text;
    hac_status code;
    char message[HAC_ERROR_MESSAGE_SIZE];

    /* when a task first waited there for the user's other jobs (side_executor.h); 0: none waits */
    uint64_t held_since_ns[HAC_DEVICE_PLACES];
    uint64_t submitted_ns, planned_ns, started_ns, ended_ns, last_event_ns;
    time_t submitted_at;
    hac_text log;
    size_t
        log_capacity; /* maximum size of `log` in bytes; HAC_JOB_LOG_MAX unless the kind sets another limit */
};

/* A new job, queued and listed, without an owner. */
HAC_MUST_USE hac_status hacd_job_new(hac_jobs *jobs, const hacd_job_kind *kind, hac_user *user,
                                     hacd_job **ret, hac_error *err);
/* Frees a job and all it holds. The job must have ended or never started. */
void hacd_job_free(hacd_job *job);

/* Sets whether the job must be its user's only active job. If so, no other job of the user is started
 * meanwhile. */
void hacd_job_set_alone(hacd_job *job, bool alone);

/* Puts the job into the queue. */
void hacd_job_submit(hacd_job *job);

/* Continues a job that waits (hacd_job_kind.next_plan): its client has sent more, or there is memory for it.
 */
void hacd_job_wake(hacd_job *job);

/* Cancels the job: nothing more is handed out, and the job ends when the tasks in flight have ended. Most end
 * soon (HAC_SHARE_LONGEST); the executor of one that does not is killed (hac_executors_abandon). */
void hacd_job_cancel(hacd_job *job, const char *why);

/* Fails a job that has not ended, when the tasks in flight have ended, like hacd_job_cancel. A job that is
 * about to fail for another reason keeps that reason, and waits no longer for its tasks. */
void hacd_job_fail(hacd_job *job, const char *why);

/* Whether the job has ended for everybody: its output is written, too. */
bool hacd_job_ended_for_all(const hacd_job *job);
/* The state to show: a job whose output is being written is running. */
hac_job_state hacd_job_state_for_all(const hacd_job *job);

/* Seconds until the deadline of a job that has not ended; INFINITY without a deadline. */
double hacd_job_time_left(const hacd_job *job);
/* Fails a job that missed its deadline. */
void hacd_job_fail_late(hacd_job *job);

hacd_job *hacd_job_find(hac_jobs *jobs, uint64_t id);
bool hacd_job_ended(const hacd_job *job);
/* Whether the job waits for memory. */
bool hacd_job_waits_for_memory(const hacd_job *job);
const char *hacd_job_state_name(hac_job_state state);
double hacd_job_fraction(const hacd_job *job);
double hacd_job_seconds(const hacd_job *job);
/* Seconds that its plans have run; of an ended job. */
double hacd_job_run_seconds(const hacd_job *job);
/* Pool bytes that the job holds now; each buffer counts once. */
uint64_t hacd_job_memory(const hacd_job *job);
/* Bit mask of the devices that the job may use: the devices that the user asked for, without the devices that
 * lost too many of the job's executors. */
uint32_t hacd_job_allowed_devices(const hacd_job *job);
/* HAC_FAILED: none of these is usable now. */
HAC_MUST_USE hac_status hacd_job_check_devices(const hacd_job *job, hac_error *err);
/* hacd's index of the plan's device. */
static inline uint32_t hacd_job_device(const hacd_job *job, uint32_t plan_device)
{
    return job->plan->devices[plan_device].machine_index;
}

/* Adds a line to the job's log, with the time since submission. The log is bounded. */
void hacd_job_note(hacd_job *job, const char *fmt, ...) HAC_PRINTF(2, 3);

/* Takes ownership of a descriptor as the job's `index`th, unless it fails. HAC_REFUSED: over the user's
 * limit. */
HAC_MUST_USE hac_status hacd_job_put_descriptor(hacd_job *job, size_t index, int fd, hac_error *err);
/* No task reads the descriptor any more: closes it here and in executors. */
void hacd_job_drop_descriptor(hacd_job *job, size_t index);
/* Charges bytes that came in a message until the job has ended. HAC_REFUSED: over the user's limit. */
HAC_MUST_USE hac_status hacd_job_charge_inline(hacd_job *job, uint64_t bytes, hac_error *err);
/* The descriptor's id in executors. */
/* Sets the folders of input `index`, which has `bytes` bytes of names with keys; none in place of earlier
 * ones if that is 0. HAC_NO_MEMORY. */
HAC_MUST_USE hac_status hacd_job_put_path(hacd_job *job, size_t index, const uint8_t *path, size_t bytes,
                                          hac_error *err);
uint64_t hacd_job_descriptor_id(const hacd_job *job, size_t index);

/* The client is done with the result. Its memory goes back to the pool when all readers are done. */
void hacd_job_release_result(hacd_job *job);
/* Whether the job is cancelled or has failed: none of its tasks is handed out any more, and a task in flight
 * may run without those of other devices that were to run beside it. */
bool hacd_job_is_given_up(const hacd_job *job);
/* The job fails, and an earlier piece of the input may be the cause. */
bool hacd_job_seeks_failure(const hacd_job *job);
void hacd_job_finish(hacd_job *job, hac_job_state state, hac_status code, const char *message);
/* Calls the kind's `answer` in this turn of the loop, after the scheduler has handed out work. */
void hacd_job_answer_later(hacd_job *job);
void hac_jobs_answer(hac_jobs *jobs);
/* Drops the execution state of the current plan, and its buffers except those that hold the result. */
void hacd_job_clear_run(hacd_job *job);
/* Adds a record to what its device has done. */
void hac_device_use_add(hac_device_use *use, const hac_run_record *record);
/* Adds up the records of the current plan, which has been executed, before another plan replaces it. */
void hacd_job_add_earlier(hacd_job *job, double seconds);
/* The job's trace. The job must have a plan. */
HAC_MUST_USE hac_status hacd_job_trace(const hacd_job *job, const char *name, char **ret, hac_error *err);
/* Replaces the current plan and its records by the next plan. */
void hacd_job_set_plan(hacd_job *job, hac_plan *plan);

/* Makes the scheduler run before the loop waits again. */
void hac_jobs_kick(hac_jobs *jobs);
/* Number of jobs that have not ended. */
unsigned hac_jobs_unfinished(const hac_jobs *jobs);
/* Of these, those of users: how many are active, and how many are not. What hacd measures by itself is
 * nobody's job. */
void hac_jobs_count(const hac_jobs *jobs, unsigned *ret_running, unsigned *ret_waiting);
/* Ends the measurement that hacd began by itself, if there is one. It does not count as an attempt. */
void hac_jobs_end_by_itself(hac_jobs *jobs, const char *why);
/* Calls the kinds' `check`. Called a few times a second. */
void hac_jobs_check(hac_jobs *jobs);
/* Frees the results and records that nobody fetched within the configured time, and the oldest ones if there
 * are too many. */
void hac_jobs_expire(hac_jobs *jobs);

#endif
