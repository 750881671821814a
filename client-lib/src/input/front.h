/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A front: turns an input into the usual form of its format while it is read. JSON documents become jsonl
 * (json_front.h), and csv and tsv of other dialects become csv and tsv (csv_front.h).
 */
#ifndef CLIENT_FRONT_H
#define CLIENT_FRONT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/error.h"

typedef struct hac_front hac_front;

typedef struct hac_front_functions {
    hac_status (*run)(hac_front *front, const uint8_t *in, size_t bytes, size_t *ret_used, uint8_t *out,
                      size_t capacity, size_t *ret_made, hac_error *err);
    bool (*holds)(const hac_front *front);
    hac_status (*end)(hac_front *front, hac_error *err);
    bool (*passes)(const hac_front *front); /* NULL: never */
    const char *(*remark)(const hac_front *front);
    void (*free)(hac_front *front);
} hac_front_functions;

/* The first member of a front of each kind. */
struct hac_front {
    const hac_front_functions *functions;
};

/* Takes *ret_used of the `bytes` at `in`, and writes *ret_made bytes to `out`, which has `capacity` (> 0)
 * bytes. HAC_FAILED: the input is malformed after the bytes that were written; the message begins with its
 * line. */
HAC_MUST_USE static inline hac_status hac_front_run(hac_front *front, const uint8_t *in, size_t bytes,
                                                    size_t *ret_used, uint8_t *out, size_t capacity,
                                                    size_t *ret_made, hac_error *err)
{
    return front->functions->run(front, in, bytes, ret_used, out, capacity, ret_made, err);
}

/* Whether hac_front_run may write bytes without getting any. */
static inline bool hac_front_holds(const hac_front *front)
{
    return front->functions->holds(front);
}

/* Ends the input; the bytes that this makes are held. HAC_FAILED: the input ends where it must not. */
HAC_MUST_USE static inline hac_status hac_front_end(hac_front *front, hac_error *err)
{
    return front->functions->end(front, err);
}

/* Whether the rest of the input is in the usual form, and need not pass the front. */
static inline bool hac_front_passes(const hac_front *front)
{
    return front->functions->passes != NULL && front->functions->passes(front);
}

/* Says, after the input's name, that lines are not those of the input: " (without its comments)". NULL: they
 * are. */
static inline const char *hac_front_remark(const hac_front *front)
{
    return front->functions->remark(front);
}

static inline void hac_front_free(hac_front *front)
{
    if (front != NULL)
        front->functions->free(front);
}
HAC_DEFINE_CLEANUP(hac_front *, hac_front_free)

#endif
