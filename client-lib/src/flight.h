/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Splits on their way: buffers that are filled, handed to hacd, answered and filled again. While one is
 * filled, at most HAC_FLIGHT_SPLITS are unanswered: that is how devices that are slower than the input hold
 * it back.
 */
#ifndef CLIENT_FLIGHT_H
#define CLIENT_FLIGHT_H

#include "fill.h"
#include "jobs.h"

enum { HAC_FLIGHT_SPLITS = 4, HAC_FLIGHT_SLOTS = HAC_FLIGHT_SPLITS + 1 };

typedef struct hac_slot {
    hac_buffer *buffer; /* NULL: none yet */
    bool flying;        /* handed over and not answered */
    uint64_t number;    /* of the split */
    hac_call call;
    hac_error err; /* of the call */
} hac_slot;

/* What the time of a flight went to, in nanoseconds; what is neither waited nor written is read. */
typedef struct hac_flight_times {
    uint64_t reading, input_wait, device_wait, writing;
    uint64_t mark; /* what was before is counted */
} hac_flight_times;

typedef struct hac_flight {
    hac_client *client;
    hac_job *job;
    hac_status (*write)(void *context, const void *bytes, size_t n, hac_error *err); /* rows; NULL: nowhere */
    void *context;
    int stop_fd; /* -1: none */

    hac_slot slots[HAC_FLIGHT_SLOTS];
    hac_slot *queue[HAC_FLIGHT_SLOTS]; /* those that fly, the first one first */
    size_t n_flying;
    hac_slot *filling; /* or what was filled last: its memory is kept until the next is there */
    uint64_t usual;    /* bytes of a buffer */
    uint64_t sent;     /* splits */
    bool scarce;       /* the pool gives no more buffers */
    bool enough;       /* hacd looks at no more, or the job has ended */
    bool last_sent;
    hac_flight_times times; /* `mark`: when it began */
} hac_flight;

typedef struct hac_flight_event {
    bool readable; /* the input */
    bool quiet;    /* the time was up, and nothing had come */
} hac_flight_event;

/*
 * Takes in what hacd says and writes the rows that have come. Waits until `input` (-1: none) can be read,
 * hacd has said something, or timeout_ms (-1: no limit) are over. HAC_CANCELLED: stop_fd. The job's error,
 * when it has failed.
 */
HAC_MUST_USE hac_status hac_flight_wait(hac_flight *flight, int input, int timeout_ms, hac_flight_event *ret,
                                        hac_error *err);

/* flight->filling becomes a buffer of at least `bytes`, the usual size if possible: waits for one that comes
 * back, or, where none flies, for memory that other jobs have. What was filled last stays readable, but may
 * be this very one. */
HAC_MUST_USE hac_status hac_flight_buffer(hac_flight *flight, uint64_t bytes, hac_error *err);

/* The very first one, of as many bytes as the pool can have, halved down to `least`. Waits while other jobs
 * have them. */
HAC_MUST_USE hac_status hac_flight_first(hac_flight *flight, uint64_t least, hac_error *err);

/* A split that stays in its file. */
typedef struct hac_flight_range {
    int fd; /* borrowed */
    uint64_t offset, bytes_before;
} hac_flight_range;

/* Hands over what is in flight->filling, or in the range (NULL: none), unless hacd has enough. split NULL:
 * only that it was the last one. */
HAC_MUST_USE hac_status hac_flight_send(hac_flight *flight, const hac_fill_split *split,
                                        const hac_flight_range *range, const char *name, bool last,
                                        hac_error *err);
static inline bool hac_flight_full(const hac_flight *flight)
{
    return flight->n_flying == HAC_FLIGHT_SPLITS;
}

/* Waits for all answers and for the end of the job. */
HAC_MUST_USE hac_status hac_flight_land(hac_flight *flight, hac_error *err);

/* Cancels the job, if it has not ended, waits for all answers, and throws them away. */
void hac_flight_abandon(hac_flight *flight);

/* Gives the buffers back. Nothing may fly. */
void hac_flight_clear(hac_flight *flight);

#endif
