/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The queue of splits that are sent to hacd. The client fills a buffer, sends it to hacd, waits for the
 * response, and fills the buffer again. While the client fills a buffer, max HAC_SPLIT_QUEUE_MAX splits are
 * in flight. This limit slows the input down to the speed of the devices.
 */
#ifndef CLIENT_SPLIT_QUEUE_H
#define CLIENT_SPLIT_QUEUE_H

#include "files/path_columns.h"
#include "jobs/jobs.h"
#include "split_writer.h"

enum { HAC_SPLIT_QUEUE_MAX = 4, HAC_SPLIT_SLOTS = HAC_SPLIT_QUEUE_MAX + 1 };

typedef struct hac_split_slot {
    hac_buffer *buffer; /* NULL: not allocated yet */
    bool flying;        /* the split is sent, and not answered */
    uint64_t number;    /* number of the split */
    hac_call call;
    hac_error err; /* error of `call` */
} hac_split_slot;

/* How a queue spends its time, in nanoseconds. Time that is neither waiting nor writing counts as reading. */
typedef struct hac_split_times {
    uint64_t reading, input_wait, device_wait, writing;
    uint64_t mark; /* the time before this moment is already counted */
} hac_split_times;

typedef struct hac_split_queue {
    hac_client *client;
    hac_job *job;
    const hac_path_keys_text *path; /* folders of the current input; NULL: none */
    /* Writes rows. NULL: the rows are dropped. */
    hac_status (*write)(void *context, const void *bytes, size_t n, hac_error *err);
    void *context;
    int stop_fd; /* -1: there is no stop_fd */

    hac_split_slot slots[HAC_SPLIT_SLOTS];
    hac_split_slot *in_flight[HAC_SPLIT_SLOTS]; /* splits in flight, in the order of sending */
    size_t n_in_flight;
    /* The slot that is being filled. After a send it stays the same slot, and its memory stays valid, until
     * there is a next slot. */
    hac_split_slot *filling;
    uint64_t usual; /* preferred size of a buffer, in bytes */
    uint64_t sent;  /* number of splits sent */
    bool scarce;    /* the pool has no more buffers for this queue */
    bool enough;    /* hacd needs no more splits, or the job has ended */
    bool last_sent;
    hac_split_times times; /* the caller sets `mark` to the start time */
} hac_split_queue;

typedef struct hac_split_queue_event {
    bool readable; /* the input is readable */
    bool quiet;    /* the timeout expired without an event */
} hac_split_queue_event;

/*
 * Processes responses of hacd and writes the rows in them. Waits until `input` is readable (-1: no input),
 * hacd responds, or timeout_ms is over (-1: no timeout). HAC_CANCELLED: stop_fd is readable. If the job has
 * failed, the function returns the job's error.
 */
HAC_MUST_USE hac_status hac_split_queue_wait(hac_split_queue *queue, int input, int timeout_ms,
                                             hac_split_queue_event *ret, hac_error *err);

/* Sets queue->filling to a buffer of min `bytes`, of the preferred size if possible. Waits for the response
 * to a split in flight. If no split is in flight, waits for memory of other jobs. The previous buffer stays
 * readable, but may be the same buffer. */
HAC_MUST_USE hac_status hac_split_queue_buffer(hac_split_queue *queue, uint64_t bytes, hac_error *err);

/* Sets queue->filling to the first buffer. If the pool refuses the preferred size, the function halves the
 * size, down to `min` bytes. Waits while other jobs use the memory. */
HAC_MUST_USE hac_status hac_split_queue_first(hac_split_queue *queue, uint64_t min, hac_error *err);

/* A split that stays in its file: hacd reads the bytes from the file. */
typedef struct hac_split_range {
    int fd; /* the caller keeps the descriptor */
    uint64_t offset, bytes_before;
} hac_split_range;

/* Sends the split in `range`, or in queue->filling if `range` is NULL. Sends nothing if hacd needs no more
 * splits. `split` NULL: sends only the end of the splits. */
HAC_MUST_USE hac_status hac_split_queue_send(hac_split_queue *queue, const hac_split_sizes *split,
                                             const hac_split_range *range, const char *name, bool last,
                                             hac_error *err);
static inline bool hac_split_queue_full(const hac_split_queue *queue)
{
    return queue->n_in_flight == HAC_SPLIT_QUEUE_MAX;
}

/* Waits for all responses and for the end of the job. */
HAC_MUST_USE hac_status hac_split_queue_finish(hac_split_queue *queue, hac_error *err);

/* Cancels the job if it has not ended, waits for all responses, and drops them. */
void hac_split_queue_abandon(hac_split_queue *queue);

/* Gives the buffers back. No split may be in flight. */
void hac_split_queue_clear(hac_split_queue *queue);

#endif
