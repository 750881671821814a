/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Job handles. A job lies in its client's tables from its submission until hacd says that it has ended, also
 * when its handle is freed before: the answer may bring a memfd that has to be accounted for.
 *
 *     submit ──▶ JobDone                                small jobs: the first answer is the result
 *     submit ──▶ JobAccepted, wait ──▶ JobDone          with JobEvents in between, if they were asked for
 *     wait ──▶ JobDone, result ──▶ JobDone              where the first JobDone came without its result
 */
#ifndef CLIENT_JOBS_H
#define CLIENT_JOBS_H

#include "connection.h"

/* What a job's result looks like, as far as its handle knows. */
#define FORMAT_ROOM 64 /* of the formats of Arrow that are known here: times end with the name of a zone */

typedef struct hac_result_shape {
    bool known; /* false: attached, or no sort */
    hac_type type;
    bool argsort;
    uint64_t items;
    uint32_t payload_bytes;           /* of one item; 0: none */
    char payload_format[FORMAT_ROOM]; /* Arrow's; "": plain bytes */
} hac_result_shape;

struct hac_job {
    hac_client *client;  /* counted, while the handle is the caller's or exported */
    unsigned references; /* the caller's handle, exported columns, a running callback or wait */
    hac_link by_serial, by_id;
    TAILQ_ENTRY(hac_job) in_list; /* of `flying` or `spare` */
    uint64_t id;                  /* 0: not known yet */
    uint64_t split_bytes;         /* of a split, as hacd would have it; 0: it does not say */
    uint64_t range_bytes;         /* likewise of one that stays in its file */
    hac_job_state state;
    bool flying;   /* in `flying` */
    bool answered; /* accepted or ended */
    bool attached;
    bool detached;
    bool wanted;          /* has callbacks: its end is asked for at once */
    bool fetching;        /* attached: the request under way is `result` */
    bool kept;            /* ended, and hacd keeps it until it is told */
    bool released;        /* it was told */
    uint64_t quick_bytes; /* its part of the client's */
    hac_error error;      /* of a job that ended without a result */

    hac_result_shape shape;
    hac_mapping *input;  /* a user of it, ours to give back at the end; else NULL */
    hac_mapping *result; /* a user of it */
    uint8_t *own;        /* the result that came in a message; kept for the next job */
    size_t own_room;
    const uint8_t *data; /* the result, in `result` or `own` */
    uint64_t bytes;
    char *text;
    struct hac_graph_call
        *graphs[HAC_OPS_UNANSWERED_MAX]; /* ops.c: those that are sent, the first one first */
    unsigned n_graphs;

    void (*progress)(void *context, hac_job *job, const hac_progress *progress);
    void (*done)(void *context, hac_job *job);
    void *context;
};

/* A job that is not submitted yet, with one reference. options NULL: none. */
HAC_MUST_USE hac_status hac_job_new(hac_client *client, const hac_job_options *options, hac_job **ret,
                                    hac_error *err);
hac_job *hac_job_ref(hac_job *job);
void hac_job_unref(hac_job *job); /* NULL allowed */
HAC_DEFINE_CLEANUP(hac_job *, hac_job_unref)

/* Fills in the wire form of a job's options, after checking it; `ret` borrows from `options`. */
HAC_MUST_USE hac_status hac_job_options_encode(const hac_job_options *options, Hac__Client__JobOptions *ret,
                                               hac_error *err);

/* Sends the submission of a new job. `await`: waits for the first answer, so that a refusal is this call's.
 */
HAC_MUST_USE hac_status hac_job_submit(hac_job *job, Hac__Client__Request *request, const int *fds,
                                       size_t n_fds, bool await, hac_error *err);

/* Takes in a response that is about a job; HAC_PROTOCOL ends the connection. Runs callbacks. */
HAC_MUST_USE hac_status hac_jobs_take(hac_client *client, const Hac__Client__Response *response,
                                      hac_frame *frame, hac_error *err);

/* The connection has ended: so have all jobs. Runs callbacks. */
void hac_jobs_fail(hac_client *client, const hac_error *why);

/* Frees the spare handles and the tables. */
void hac_jobs_clear(hac_client *client);

/* Bytes of a result of this shape, and where its payload starts; false: more than 2^63. */
bool hac_result_layout(const hac_result_shape *shape, uint64_t *ret_payload_at, uint64_t *ret_bytes);

#endif
