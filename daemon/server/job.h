/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Jobs: what a client asked for, the plan it became, what ran, and the result until the client has it.
 *
 * States: queued → planned → running → done | failed | cancelled; each job ends in exactly one of the last
 * three, once. A job runs one plan after another (a probe of unmeasured devices first, say); the last one
 * makes the result. The scheduler (scheduler.h) executes the current plan; what comes next is the job kind's
 * business (job_sort.c, job_calibrate.c), behind hac_job_kind.
 */
#ifndef SERVER_JOB_H
#define SERVER_JOB_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "base/list.h"
#include "base/text.h"
#include "device.h"
#include "planner/past.h"
#include "planner/plan.h"
#include "planner/sort_plan.h"
#include "pool.h"
#include "run.h"
#include "splice_buffers.h"

struct hac_server;
struct hac_session;
typedef struct hac_job hac_job;

typedef enum hac_job_state {
    HAC_JOB_QUEUED = 0,
    HAC_JOB_PLANNED,
    HAC_JOB_RUNNING,
    HAC_JOB_DONE,
    HAC_JOB_FAILED,
    HAC_JOB_CANCELLED
} hac_job_state;

#define HAC_JOB_RECORDS_MAX 65536
#define HAC_JOB_LOG_MAX     16384

typedef struct hac_job_kind {
    const char *flow; /* "sort", "calibrate", "tune" */
    /* Makes job->plan the next plan, or returns HAC_NOT_FOUND when there is none left: the job is done.
     * Called first when the job starts, then whenever a plan has been executed. HAC_AGAIN: there is nothing
     * to do until the client sends more, which hac_scheduler_wake tells. */
    hac_status (*next_plan)(hac_job *job, hac_error *err);
    /* A buffer of the plan that the job has already, held on its own; NULL: memory is taken for it, or it is
     * the job's input. May be NULL. */
    hac_pool_buffer *(*buffer)(const hac_job *job, const hac_plan_buffer *wanted);
    /* HAC_REFUSED: its plan's buffers need that much, more than its limit. NULL: it needs just that much. */
    hac_status (*over_limit)(hac_job *job, uint64_t needed, hac_error *err);
    /* One task has ended well; values and data are its report's. May be NULL. */
    void (*task_done)(hac_job *job, uint32_t task, const Hac__Executor__Done *done);
    /* Whether a piece that ended well did all that its units say: else nothing is learnt from it. NULL: it
     * did. */
    bool (*did_all)(const hac_job *job, uint32_t task, const Hac__Executor__Done *done);
    /*
     * All of a task has ended well, and what waits for it has not started: the place to give late buffers
     * their size (hac_scheduler_attach), or to set run.replan. HAC_AGAIN: all of it runs once more. Other
     * failures are the job's. May be NULL.
     */
    hac_status (*task_ended)(hac_job *job, uint32_t task, hac_error *err);
    /* A piece could not be done; true: it counts as done all the same. May be NULL. */
    bool (*may_fail)(hac_job *job, uint32_t task, const Hac__Executor__Done *done);
    /* A task could not be done; true: the kind knows a way on (run.replan). May be NULL. */
    bool (*task_failed)(hac_job *job, uint32_t task, const Hac__Executor__Done *done);
    /* Seconds that the job is predicted to take, before it has a plan; 0: not known. NULL: by its input's
     * size. */
    double (*estimate)(const hac_job *job);
    /* Adds members to the job's receipt; may be NULL. */
    void (*receipt)(const hac_job *job, hac_text *text);
    void (*free_state)(hac_job *job);
    void (*ended)(hac_job *job); /* the job has ended, in whatever way; may be NULL */
    /* Sends what hac_job_answer_later has put off. NULL: it puts nothing off. */
    void (*answer)(hac_job *job);
    /* Of a job whose input has no known end: how far it is, for people, and its rate. NULL: its plan tells.
     */
    void (*progress)(const hac_job *job, double elapsed, double *ret_rate, char *note, size_t room);
    bool has_result;
    bool sets_result_bytes; /* itself; else they are those of the plan's buffers */
    bool sends_data;        /* job->data goes with every task */
    bool user_errors;       /* what an executor calls invalid is what the user wrote */
    bool in_order;          /* tasks and their items are: of pieces that fail the first of them counts */
    bool measures;          /* waits until no builder works: it would be measured along */
} hac_job_kind;

/* What a device has done for a job by plans before the current one. */
typedef struct hac_device_use {
    double busy, predicted; /* seconds */
    uint64_t pieces, lost;
} hac_device_use;

/* A foreign descriptor. */
typedef struct hac_job_descriptor {
    int fd;             /* -1: none */
    uint64_t executors; /* who has it, by slot */
} hac_job_descriptor;

#define HAC_JOB_DESCRIPTORS_MAX 256 /* one message brings HAC_FRAME_MAX_FDS at most */

typedef struct hac_waiter {
    hac_link link;
    struct hac_session *session;
    uint64_t serial;
} hac_waiter;

struct hac_job {
    hac_link link;      /* server's jobs, oldest first */
    hac_link turn;      /* server's queued or active list */
    hac_link answering; /* server's list of those that have put answers off */
    struct hac_server *server;
    const hac_job_kind *kind;
    void *kind_state;
    struct hac_query_run *query;      /* job_query.h; NULL: none */
    struct hac_stream_memory *stream; /* stream_memory.h; NULL: it reads none */
    uint64_t id;
    hac_user *user;
    struct hac_session *owner; /* NULL: detached, or its client is gone */
    uint64_t serial;           /* of the submit request, while it is unanswered */
    hac_link waiters;
    hac_link readers; /* of its result's buffer, who are not its owner */
    hac_job_state state;
    bool detached, progress, quick; /* quick: inline, answered by one message */
    bool cancelling, active, restart;
    struct hac_session *writer; /* who writes its output: for others it has not ended; NULL: nobody */
    bool unwritten;             /* its writer could not write it … */
    hac_error unwritten_error;  /* … for this */
    bool ended_said;            /* … to metrics, log and those who wait */
    bool counted;               /* as one of its user's jobs: until it has ended and its result is released */
    uint64_t charged_inline;    /* bytes of its inline input, then of its inline result */
    bool waiting;               /* for its client: neither queued nor active */
    int priority;
    double deadline_seconds;
    uint64_t memory_limit;
    uint32_t device_mask; /* allowed; 0: all */
    uint64_t split_bytes; /* that suit its devices; 0: it takes no splits */
    uint64_t range_bytes; /* of one that stays in its file */
    bool fast;
    bool sorts_rows; /* a query that is called a sort */
    char name[256];

    /* input */
    hac_sort_spec spec;
    uint8_t *data; /* inline input */
    size_t data_bytes;
    hac_pool_buffer *input, *payload;
    hac_pool_buffer *shared[HAC_PLAN_MAX_BUFFERS]; /* what the plan's buffers of that role are, by index */
    uint64_t input_offset, payload_offset;
    hac_job_descriptor *descriptors;
    size_t n_descriptors;

    hac_plan *plan;            /* the current one, the last one when the job has ended */
    hac_splice_buffers splice; /* of the tasks so far that have any */
    hac_device_use *earlier;   /* by server device, of the rounds of a job with splits; NULL: none yet */
    double earlier_seconds, earlier_predicted; /* likewise */
    hac_past past;                             /* what ran of the plans before the current one */
    hac_run run;
    unsigned restarts, retries;
    unsigned memory_kills; /* executors that the kernel killed during this plan, as memory ran out */
    bool crowded;          /* … so many that it starts over without its user's other jobs beside it */
    bool alone;            /* it waits for them to end, or runs, and none of them is begun */
    uint32_t n_by_host;    /* tasks whose kernels could not do them, and whose host codelets went on */
    uint32_t losses[HAC_DEVICE_PLACES]; /* executors lost on each device */
    uint32_t excluded;                  /* devices that lost three */
    uint64_t bytes_in;
    uint64_t build_started_ns; /* kernels are being built for it; 0: no */
    double build_seconds;      /* it waited for kernels */
    bool released;             /* its result was fetched and given back, or has expired */

    /* result */
    uint8_t *result_data;
    size_t result_data_bytes;
    hac_pool_buffer *result;
    uint64_t result_bytes;
    uint64_t rows_bytes; /* of results that went with splits */
    char *text;
    hac_status code;
    char message[HAC_ERROR_MESSAGE_SIZE];

    uint64_t submitted_ns, planned_ns, started_ns, ended_ns, last_event_ns;
    time_t submitted_at;
    hac_text log;
    size_t log_room; /* bytes; HAC_JOB_LOG_MAX where its kind says nothing else */
};

/* The session waits for one more answer; HAC_REFUSED: for too many already. */
HAC_MUST_USE hac_status hac_waiter_add(hac_link *waiters, struct hac_session *session, uint64_t serial,
                                       hac_error *err);

/* A job in state queued, owned by nobody yet, listed by the server. */
HAC_MUST_USE hac_status hac_job_new(struct hac_server *server, const hac_job_kind *kind, hac_user *user,
                                    hac_job **ret, hac_error *err);
/* Frees it and all it holds; it must have ended or never started. */
void hac_job_free(hac_job *job);

/* Whether it has to be the only active job of its user: that one's other jobs are not begun meanwhile. */
void hac_job_set_alone(hac_job *job, bool alone);

/* Puts it in the queue of those that want to run. */
void hac_job_submit(hac_job *job);

/* Takes effect when what is in flight has come back: within one chunk. */
void hac_job_cancel(hac_job *job, const char *why);

/* Ends a job that has not ended as failed, likewise when nothing of it is in flight any more. */
void hac_job_fail(hac_job *job, const char *why);

/*
 * The session, whose job it is, writes the output itself: until hac_job_output_end the job has not ended for
 * others, even if all work of it is done. A session that goes away ends it as failed.
 */
HAC_MUST_USE hac_status hac_job_output_begin(hac_job *job, struct hac_session *session, hac_error *err);
/* `failure` NULL: written. Else the job ends as failed with it, unless it has failed, or was cancelled, by
 * itself. */
HAC_MUST_USE hac_status hac_job_output_end(hac_job *job, struct hac_session *session,
                                           const hac_error *failure, hac_error *err);
/* Whether it has ended for everybody: its output is written, too. */
bool hac_job_ended_for_all(const hac_job *job);
/* For people: a job whose output is being written runs. */
hac_job_state hac_job_state_for_all(const hac_job *job);

/* Seconds until the deadline of a job that has not ended; infinite without one. */
double hac_job_time_left(const hac_job *job);
/* A missed deadline is a failure, not somebody's cancel. */
void hac_job_fail_late(hac_job *job);

/* The session goes away: its jobs that are not detached are cancelled, or freed when they have ended. */
void hac_jobs_session_closed(struct hac_server *server, struct hac_session *session);

hac_job *hac_job_find(struct hac_server *server, uint64_t id);
bool hac_job_ended(const hac_job *job);
/* What users know it as. */
const char *hac_job_flow(const hac_job *job);
const char *hac_job_state_name(hac_job_state state);
double hac_job_fraction(const hac_job *job);
double hac_job_seconds(const hac_job *job);
/* Bytes of the pool that it holds now, each buffer once. */
uint64_t hac_job_memory(const hac_job *job);
/* Devices that it may use: those that were asked for without those that lost it too often. */
uint32_t hac_job_allowed_devices(const hac_job *job);
/* The number among hacd's of the plan's device. */
static inline uint32_t hac_job_device(const hac_job *job, uint32_t plan_device)
{
    return job->plan->devices[plan_device].machine_index;
}

/* Adds a line to the job's log: what happened, with the time since submission. Bounded. */
void hac_job_note(hac_job *job, const char *fmt, ...) HAC_PRINTF(2, 3);

/* Takes over a descriptor, unless it fails, as the job's `index`th, which it has none for yet; HAC_REFUSED:
 * over the user's limit. */
HAC_MUST_USE hac_status hac_job_put_descriptor(hac_job *job, size_t index, int fd, hac_error *err);
/* No task reads it any more: closes it, here and in executors. */
void hac_job_drop_descriptor(hac_job *job, size_t index);
/* Counts bytes that travelled in a message until the job has ended; HAC_REFUSED: over the user's limit. */
HAC_MUST_USE hac_status hac_job_charge_inline(hac_job *job, uint64_t bytes, hac_error *err);
/* What executors know it by. */
uint64_t hac_job_descriptor_id(const hac_job *job, size_t index);

/* Lets go of the buffers that its plans shared (`shared`). */
void hac_job_release_shared(hac_job *job);
/* The client is done with the result: its memory goes back to the pool, when those are done that read it. */
void hac_job_release_result(hac_job *job);
/* The session has got the result's buffer, and reads it until it says or goes. */
void hac_job_add_reader(hac_job *job, struct hac_session *session);
void hac_job_remove_reader(hac_job *job, const struct hac_session *session);

/* Used by the scheduler. */
/* Nothing more of it is handed out; what is in flight runs beside nothing. */
bool hac_job_is_given_up(const hac_job *job);
/* It fails, and what comes before the piece that failed may be why. */
bool hac_job_seeks_failure(const hac_job *job);
void hac_job_finish(hac_job *job, hac_job_state state, hac_status code, const char *message);
void hac_job_send_event(hac_job *job, const char *stage, const char *device, const char *note);
/* Has its kind answer its client in this turn of the loop, but after the scheduler has handed out work. */
void hac_job_answer_later(hac_job *job);
void hac_jobs_answer(struct hac_server *server);
/* Drops the current plan's execution state and its buffers but those that hold the result. */
void hac_job_clear_run(hac_job *job);
/* Adds up what was recorded of the current plan, which has been executed, before another takes its place. */
void hac_job_add_earlier(hac_job *job, double seconds);
/* What ran, as a trace; the job has a plan. */
HAC_MUST_USE hac_status hac_job_trace(const hac_job *job, const char *name, char **ret, hac_error *err);
/* Takes over the next plan in place of the current one and of what was recorded of it. */
void hac_job_set_plan(hac_job *job, hac_plan *plan);

/* Frees results and records of ended jobs that nobody fetched within the configured time, and the oldest when
 * there are too many. */
void hac_jobs_expire(struct hac_server *server);

#endif
