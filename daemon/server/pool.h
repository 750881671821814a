/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The buffer pool of each user: memfds that hacd creates, seals, charges to the user (user.h) and hands out,
 * but never maps. A buffer that nobody holds any more is kept for a while and recycled within the user (fresh
 * memory costs more to fault in than most jobs take), never for another user; where memory or descriptors run
 * short, buffers that are kept go first.
 */
#ifndef SERVER_POOL_H
#define SERVER_POOL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/list.h"
#include "user.h"

typedef struct hac_pool_buffer hac_pool_buffer;

/* Memory of a user that is kept for one purpose, whether it is in use or not: all others have what is left
 * beside it. Lives with who reserves. */
typedef struct hac_reservation {
    hac_link link;  /* in the user's list */
    uint64_t bytes; /* kept; more may be taken, of what nobody has reserved */
    uint64_t held;  /* of the buffers that were taken on it */
} hac_reservation;

struct hac_pool_buffer {
    hac_link link; /* in the user's `buffers` or `idle` list */
    hac_user *user;
    uint32_t id; /* never used twice in hacd's life */
    int fd;
    uint64_t bytes;   /* capacity */
    bool growable;    /* not yet sealed against growing */
    bool whole;       /* its holder's plan writes all of it */
    unsigned holders; /* handles of sessions, and jobs */
    uint64_t idle_since_ns;
    uint64_t executors;           /* bit by slot: who has it mapped (executor.h) */
    hac_reservation *reservation; /* that it was taken on; NULL: none */
    bool passing;                 /* rows on their way to a client, who gives it back when they are written */
};

/* Gives back the pages of a memfd and closes it. */
void hac_pool_discard(int fd, uint64_t bytes);

/*
 * A buffer of at least `bytes`, held once for the caller: a recycled one when one fits without wasting more
 * than a quarter, else a new one. HAC_REFUSED over the user's limits (idle buffers are freed first).
 */
HAC_MUST_USE hac_status hac_pool_alloc(hac_user *user, uint64_t bytes, bool growable, hac_pool_buffer **ret,
                                       hac_error *err);
/* The same of what is reserved so, and of what is left. */
HAC_MUST_USE hac_status hac_pool_alloc_on(hac_user *user, hac_reservation *reservation, uint64_t bytes,
                                          bool growable, hac_pool_buffer **ret, hac_error *err);
HAC_MUST_USE hac_status hac_pool_grow(hac_pool_buffer *buffer, uint64_t bytes, hac_error *err);
/* hac_user_charge, at the cost of buffers that are kept for reuse: the user's own first, then the others'. A
 * charge that cannot be had costs none. */
HAC_MUST_USE hac_status hac_pool_charge(hac_user *user, hac_slot slot, uint64_t amount, hac_error *err);
/* What the user could have besides the buffers that are held now: idle ones are given up for it. */
uint64_t hac_pool_room(const hac_user *user);
/* The same of what is reserved so, and of what is left. */
uint64_t hac_pool_room_on(const hac_user *user, const hac_reservation *reservation);

/* Reserves nothing yet. */
void hac_reservation_begin(hac_user *user, hac_reservation *reservation);
/* The buffers that were taken on it stay. */
void hac_reservation_end(hac_user *user, hac_reservation *reservation);
/* Bytes that are reserved and not in use. */
uint64_t hac_pool_aside(const hac_user *user);
/* The buffer counts as taken on none. */
void hac_pool_unreserve(hac_pool_buffer *buffer);
/* Fixes a growable buffer's size before its first use. */
HAC_MUST_USE hac_status hac_pool_seal(hac_pool_buffer *buffer, hac_error *err);
void hac_pool_hold(hac_pool_buffer *buffer);
void hac_pool_release(hac_pool_buffer *buffer);
/* Likewise, if there is one; there is none afterwards. */
static inline void hac_pool_clear(hac_pool_buffer **buffer)
{
    if (*buffer != NULL)
        hac_pool_release(*buffer);
    *buffer = NULL;
}

/* The user's held buffer of that id, or NULL. */
hac_pool_buffer *hac_pool_find(hac_user *user, uint32_t id);

/* Bytes of a user's buffers that are kept for reuse. */
uint64_t hac_pool_idle_bytes(const hac_user *user);

/* Frees idle buffers that have not been used for `seconds`; returns how many bytes all users still keep. */
uint64_t hac_pool_trim(hac_users *users, double seconds);

#endif
