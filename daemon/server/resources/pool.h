/* SPDX-License-Identifier: Apache-2.0 */
/* Each user's pool of buffers: memfds that hacd creates, seals, charges to the user (user.h) and hands out,
 * but never maps. A buffer without holders stays *idle* for a while, so that it can be reused for the same
 * user: page faults on new memory take longer than most jobs. A buffer is never reused for another user. When
 * memory or descriptors run short, idle buffers are freed first. */
#ifndef SERVER_POOL_H
#define SERVER_POOL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/list.h"
#include "user.h"

typedef struct hac_pool_buffer hac_pool_buffer;

/* Memory of a user that is reserved for one purpose, used or not. The rest of the user's memory is for
 * everything else. The struct belongs to whoever reserves. */
typedef struct hac_reservation {
    hac_link link;  /* in hac_user.reservations */
    uint64_t bytes; /* reserved; buffers may take more, of what nobody has reserved */
    uint64_t held;  /* bytes of the buffers that belong to the reservation */
} hac_reservation;

struct hac_pool_buffer {
    hac_link link; /* in hac_user.buffers or .idle */
    hac_user *user;
    uint32_t id; /* unique in hacd's life */
    int fd;
    uint64_t bytes;   /* capacity */
    bool growable;    /* not yet sealed against growing */
    bool whole;       /* its holder's plan writes all of it */
    unsigned holders; /* handles of sessions, and jobs */
    uint64_t idle_since_ns;
    uint64_t executors;           /* bit mask of the slots of executors that have it mapped (executor.h) */
    hac_reservation *reservation; /* that it belongs to; NULL: none */
    bool passing; /* rows on their way to a client, who releases the buffer once they are written */
};

/* Frees the pages of a memfd and closes it. */
void hac_pool_discard(int fd);

/* A buffer of at least `bytes`, held once for the caller. An idle buffer is recycled if it fits and wastes at
 * most a quarter; else a new one is made. HAC_REFUSED: over the user's limits, even with all idle buffers
 * freed. */
HAC_MUST_USE hac_status hac_pool_alloc(hac_user *user, uint64_t bytes, bool growable, hac_pool_buffer **ret,
                                       hac_error *err);
/* The same, out of the reservation and of what nobody has reserved. */
HAC_MUST_USE hac_status hac_pool_alloc_on(hac_user *user, hac_reservation *reservation, uint64_t bytes,
                                          bool growable, hac_pool_buffer **ret, hac_error *err);
HAC_MUST_USE hac_status hac_pool_grow(hac_pool_buffer *buffer, uint64_t bytes, hac_error *err);
/* hac_user_charge, which frees idle buffers if need be: first the user's own, then those of others. A charge
 * that is refused frees none. */
HAC_MUST_USE hac_status hac_pool_charge(hac_user *user, hacd_slot slot, uint64_t amount, hac_error *err);
/* What the user could still allocate if all idle buffers were freed. */
uint64_t hac_pool_available(const hac_user *user);
/* The same for a holder of the reservation. */
uint64_t hac_pool_available_to(const hac_user *user, const hac_reservation *reservation);

/* Begins a reservation of 0 bytes. */
void hac_reservation_begin(hac_user *user, hac_reservation *reservation);
/* Ends a reservation. Its buffers stay. */
void hac_reservation_end(hac_user *user, hac_reservation *reservation);
/* Bytes that are reserved and not in use. */
uint64_t hac_pool_aside(const hac_user *user);
/* The buffer no longer belongs to a reservation. */
void hac_pool_unreserve(hac_pool_buffer *buffer);
/* Fixes a growable buffer's size before its first use. */
HAC_MUST_USE hac_status hac_pool_seal(hac_pool_buffer *buffer, hac_error *err);
void hac_pool_hold(hac_pool_buffer *buffer);
void hac_pool_release(hac_pool_buffer *buffer);
/* hac_pool_release of *buffer, if there is one; sets *buffer to NULL. */
static inline void hac_pool_clear(hac_pool_buffer **buffer)
{
    if (*buffer != NULL)
        hac_pool_release(*buffer);
    *buffer = NULL;
}

/* The user's held buffer with that id, or NULL. */
hac_pool_buffer *hac_pool_find(hac_user *user, uint32_t id);

/* Bytes of the user's idle buffers. */
uint64_t hac_pool_idle_bytes(const hac_user *user);

/* Idle buffers are kept for this long. */
#define HAC_POOL_IDLE_SECONDS 60.0
/* Frees buffers that have been idle for `seconds`. Returns how many idle bytes are left over all users. */
uint64_t hac_pool_trim(hac_users *users, double seconds);

#endif
