/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Users and their memory. All that is held for a user is counted here, by uid and not by connection; the
 * buffer pool is the user's too: memfds that hacd creates, seals, charges and hands out, but never maps. A
 * buffer that nobody holds any more is kept for a while and recycled within the user (fresh memory costs more
 * to fault in than most jobs take), never for another user.
 */
#ifndef SERVER_POOL_H
#define SERVER_POOL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/list.h"

typedef struct hac_user hac_user;
typedef struct hac_pool_buffer hac_pool_buffer;
typedef struct hac_users hac_users;

typedef struct hac_user_limits {
    uint64_t memory;      /* bytes of pool memory, in use and recycled */
    uint32_t connections; /* open at the same time */
    uint32_t jobs;        /* not yet ended */
    uint32_t descriptors; /* foreign descriptors held */
    uint32_t buffers;
} hac_user_limits;

struct hac_pool_buffer {
    hac_link link; /* in the user's `held` or `idle` list */
    hac_user *user;
    uint32_t id; /* never used twice in hacd's life */
    int fd;
    uint64_t bytes;   /* capacity */
    bool growable;    /* not yet sealed against growing */
    unsigned holders; /* handles of sessions, and jobs */
    uint64_t idle_since_ns;
    uint64_t executors; /* bit by slot: who has it mapped (executor.h) */
};

struct hac_user {
    hac_link link; /* in hac_users */
    hac_users *users;
    uid_t uid;
    unsigned references; /* sessions, jobs and executors */
    hac_link held, idle;
    uint64_t memory; /* bytes of both lists */
    uint32_t connections, jobs, descriptors, buffers;
    uint32_t active_jobs; /* running now; for fair turns */
};

struct hac_users {
    hac_link list;
    hac_user_limits limits;
    uint32_t next_buffer;
    /* Called before a buffer's memory is freed, so that executors forget it. */
    void (*forget)(void *context, hac_pool_buffer *buffer);
    /* Takes the memfd over, gives its pages back (clients may still have it mapped) and closes it, which
     * takes a tenth of a second a GiB: not on the loop. NULL: done at once. */
    void (*discard)(void *context, int fd, uint64_t bytes);
    void *context;
};

/* Gives back the pages of a memfd and closes it. */
void hac_pool_discard(int fd, uint64_t bytes);

void hac_users_init(hac_users *users, const hac_user_limits *limits,
                    void (*forget)(void *context, hac_pool_buffer *buffer), void *context);
/* Every book must balance: asserts that nothing is held any more. */
void hac_users_deinit(hac_users *users);

/* The user of that uid, referenced; made if need be. */
HAC_MUST_USE hac_status hac_user_get(hac_users *users, uid_t uid, hac_user **ret, hac_error *err);
void hac_user_ref(hac_user *user);
void hac_user_unref(hac_user *user);

/*
 * A buffer of at least `bytes`, held once for the caller: a recycled one when one fits without wasting more
 * than a quarter, else a new one. HAC_REFUSED over the user's limits (idle buffers are freed first).
 */
HAC_MUST_USE hac_status hac_pool_alloc(hac_user *user, uint64_t bytes, bool growable, hac_pool_buffer **ret,
                                       hac_error *err);
HAC_MUST_USE hac_status hac_pool_grow(hac_pool_buffer *buffer, uint64_t bytes, hac_error *err);
/* What the user could have besides the buffers that are held now: idle ones are given up for it. */
uint64_t hac_pool_room(const hac_user *user);
/* Fixes a growable buffer's size before its first use. */
HAC_MUST_USE hac_status hac_pool_seal(hac_pool_buffer *buffer, hac_error *err);
void hac_pool_hold(hac_pool_buffer *buffer);
void hac_pool_release(hac_pool_buffer *buffer);

/* The user's held buffer of that id, or NULL. */
hac_pool_buffer *hac_pool_find(hac_user *user, uint32_t id);

/* Frees idle buffers that have not been used for `seconds`; returns how many bytes all users still keep. */
uint64_t hac_pool_trim(hac_users *users, double seconds);

#endif
