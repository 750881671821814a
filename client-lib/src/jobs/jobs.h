/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Job handles. A job stays in its client's tables from its submission until hacd reports its end, even if the
 * caller frees the handle earlier, because the response may contain a memfd that the client must account for.
 *
 *     submit ──▶ JobDone                                small jobs: the first response contains the result
 *     submit ──▶ JobAccepted, wait ──▶ JobDone          JobEvents come in between, if the caller wants them
 *     wait ──▶ JobDone, result ──▶ JobDone              if the first JobDone does not contain the result
 */
#ifndef CLIENT_JOBS_H
#define CLIENT_JOBS_H

#include "base/limits.h"
#include "base/value.h"
#include "buffers.h"
#include "expr/nested.h"

#define HAC_ARROW_FORMAT_MAX 64 /* bytes of an Arrow format with its NUL; times contain a zone's name */

/* What the handle knows about the layout of a job's result. */
typedef struct hac_result_shape {
    bool known; /* false: the handle is attached, or the job is not a sort */
    hac_type type;
    bool argsort;
    uint64_t items;
    uint32_t payload_bytes;                    /* payload of one item; 0: no payload */
    char payload_format[HAC_ARROW_FORMAT_MAX]; /* Arrow format of the payload; "": plain bytes */
} hac_result_shape;

/* A column of a query's result. */
typedef struct hac_job_column_row {
    char name[HAC_FIELD_NAME_MAX];
    char type[HAC_NESTED_NAME_MAX];
} hac_job_column_row;

struct hac_job {
    hac_client *client;  /* holds a reference while the caller or an export owns the handle */
    unsigned references; /* the caller's handle, exported columns, a running callback or wait */
    hac_release release;
    hac_id_link by_serial, by_id;
    TAILQ_ENTRY(hac_job) in_list; /* of `flying` or `spare` */
    uint64_t id;                  /* 0: not known yet */
    uint64_t split_bytes;         /* hacd's preferred size of a split in memory; 0: hacd has no preference */
    uint64_t range_bytes;         /* hacd's preferred size of a split in a file; 0: hacd has no preference */
    hac_job_state state;
    bool flying;   /* the job is in the list `flying` */
    bool answered; /* the job was accepted or has ended */
    bool attached;
    bool detached;
    bool wanted;          /* the job has callbacks, so the client waits for its end from the start */
    bool fetching;        /* attached jobs: the outstanding request is `result` */
    bool kept;            /* the job has ended, and hacd keeps it until the client releases it */
    bool released;        /* the client has released the job */
    uint64_t quick_bytes; /* this job's part of client->quick_bytes */
    hac_error error;      /* set if the job ended without a result */

    hac_result_shape shape;
    hac_mapping *input; /* memory to give back at the end of the job, or NULL; the job counts as a user */
    struct ArrowArray
        columns_in;      /* columns that the job reads in place, released at its end; or release NULL */
    hac_mapping *result; /* the job counts as a user */
    uint8_t *own;        /* a result that came in a message; the next job reuses the memory */
    size_t own_capacity; /* capacity of `own` */
    const uint8_t *data; /* the result, in `result` or `own` */
    uint64_t bytes;
    char *text;
    char *assumed;               /* what libhac inferred about the input; NULL: nothing */
    hac_job_column_row *columns; /* n_columns of a query's result; owned; NULL: not known */
    size_t n_columns;
    /* ops/ops.c: the unanswered graphs in the order of sending. free_parts drops them; NULL if the job has no
     * graphs. */
    struct hac_graph_call *graphs[HAC_OPS_UNANSWERED_MAX];
    unsigned n_graphs;
    void (*free_parts)(hac_job *job);

    void (*progress)(void *context, hac_job *job, const hac_progress *progress);
    void (*done)(void *context, hac_job *job);
    void *context;
};

/* Creates a job with one reference, without submitting it. `options` may be NULL. */
HAC_MUST_USE hac_status hac_job_new(hac_client *client, const hac_job_options *options, hac_job **ret,
                                    hac_error *err);
hac_job *hac_job_ref(hac_job *job);
void hac_job_unref(hac_job *job); /* `job` may be NULL */
HAC_DEFINE_CLEANUP(hac_job *, hac_job_unref)

/* What an exported array holds of a job. It is the beginning of the array's private data, which is
 * malloc'ed. */
typedef struct hac_export {
    hac_release release;
    hac_job *job; /* holds a reference */
} hac_export;

void hac_export_begin(hac_export *export, hac_job *job);
/* Frees the private data, now or later. Any thread may call this. A forked child keeps its mapping of the
 * result. */
void hac_export_end(hac_export *export);

/* Checks a job's options and fills in their wire form. `ret` points into `options`. */
HAC_MUST_USE hac_status hac_job_options_encode(const hac_job_options *options, Hac__Client__JobOptions *ret,
                                               hac_error *err);

/* Submits a new job. `await`: waits for the first response, so that this call returns the error if hacd
 * refuses the job. */
HAC_MUST_USE hac_status hac_job_submit(hac_job *job, Hac__Client__Request *request, const int *fds,
                                       size_t n_fds, bool await, hac_error *err);

/* The client's handler, which processes responses about jobs. */
extern const hac_client_handler hac_jobs_handler;

/* Computes the size of a result of this shape, and the offset of its payload. False: the size exceeds 2^63.
 * */
bool hac_result_layout(const hac_result_shape *shape, uint64_t *ret_payload_at, uint64_t *ret_bytes);

#endif
