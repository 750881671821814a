/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Users and their books. All that is held for a user is charged here, by uid and not by connection, in the
 * manner of dbus-broker: a user has limits of their own, and of what all users together may have (RAM,
 * descriptors) nobody gets more than a fair part of what the others have left. With n users who hold
 * something, who asks included, a charge is granted as long as
 *
 *     held + amount <= (free + held) / max(2, n)
 *
 * So one user alone never takes more than half, and a user who comes to n others gets 1/(n + 1) of what is
 * free then, whatever the others do. Every charge is released in the end; hac_users_deinit asserts it.
 *
 * Device time is shared out by weighted device-seconds (hac_user_spend): the user with the smallest virtual
 * time is next (turns.h).
 */
#ifndef SERVER_USER_H
#define SERVER_USER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/list.h"
#include "config/daemon_config.h"

#define HAC_USER_DEVICES_MAX 32

typedef enum hac_slot {
    HAC_SLOT_MEMORY = 0, /* bytes: of pool buffers, and of what travels inside messages */
    HAC_SLOT_DESCRIPTORS,
    HAC_SLOT_CONNECTIONS,
    HAC_SLOT_JOBS,
    HAC_SLOTS
} hac_slot;

typedef struct hac_user hac_user;
typedef struct hac_users hac_users;
struct hac_pool_buffer;

struct hac_user {
    hac_link link; /* in hac_users */
    hac_users *users;
    uid_t uid;
    char learner[12]; /* the same as text */
    gid_t *groups;    /* as the kernel said when they last connected */
    size_t n_groups;
    unsigned references; /* sessions, jobs and executors */
    hac_user_limits limits;
    uint64_t held[HAC_SLOTS];
    uint64_t refused[HAC_SLOTS]; /* charges that were not granted, for the metrics */
    struct {                     /* the last one of them */
        hac_slot slot;
        bool hopeless; /* it alone is more than there can ever be for this user */
    } refusal;
    hac_link buffers, idle; /* the pool: buffers in use, and kept for reuse (pool.h) */
    hac_link reservations;  /* of the pool's memory (pool.h) */
    uint32_t active_jobs;   /* whose tasks are handed out */
    uint32_t jobs_alone;    /* that need to be its only active one (hac_job_set_alone) */
    uint32_t ended_jobs;    /* whose records are kept */
    double device_seconds;  /* spent, weighted by the devices' capabilities */
    uint32_t asked, waits;  /* for which devices, as bits: in this round, and since the last one */
    uint64_t waits_since_ns[HAC_USER_DEVICES_MAX];
    double backlog; /* seconds of jobs, as admission.c adds them up */
    bool had_turn;  /* in this round */
    double turn;    /* virtual time: spent seconds by share, and where others were when it came */
    struct {        /* hacd's own time (session.c) */
        uint64_t turn, spent_ns;
        uint64_t gate, oldest_waiting; /* turns in which sessions were served last */
    } loop;
};

struct hac_users {
    hac_link list;
    uint64_t total[HAC_SLOTS]; /* what all users together may have */
    uint64_t held[HAC_SLOTS];
    uint32_t holders[HAC_SLOTS]; /* users who hold something */
    hac_user_limits limits;      /* of a new user, until somebody says otherwise */
    uint32_t next_buffer;
    /* Called before a buffer's memory is freed, so that executors forget it. */
    void (*forget)(void *context, struct hac_pool_buffer *buffer);
    /* Takes the memfd over, gives its pages back (clients may still have it mapped) and closes it, which
     * takes a tenth of a second a GiB: not on the loop. NULL: done at once. */
    void (*discard)(void *context, int fd, uint64_t bytes);
    void *context;
};

void hac_users_init(hac_users *users, const uint64_t total[HAC_SLOTS], const hac_user_limits *limits,
                    void (*forget)(void *context, struct hac_pool_buffer *buffer), void *context);
/* Every book must balance: asserts that nothing is held any more. */
void hac_users_deinit(hac_users *users);

/* The user of that uid, referenced; made if need be. */
HAC_MUST_USE hac_status hac_user_get(hac_users *users, uid_t uid, hac_user **ret, hac_error *err);
/* Takes the list over. */
void hac_user_set_groups(hac_user *user, gid_t *groups, size_t n_groups);
void hac_user_ref(hac_user *user);
/* The user stays, with a warm pool, until hac_pool_trim finds neither. */
void hac_user_unref(hac_user *user);
/* Frees a user with nothing held; asserts that this is so. */
void hac_user_free(hac_user *user);

/* Charges an amount; HAC_REFUSED over the user's own limit or over their part of the whole. */
HAC_MUST_USE hac_status hac_user_charge(hac_user *user, hac_slot slot, uint64_t amount, hac_error *err);
void hac_user_release(hac_user *user, hac_slot slot, uint64_t amount);
/* HAC_REFUSED: memory that could be had, did not the user's jobs need `aside` bytes of it (pool.h). */
HAC_MUST_USE hac_status hac_user_refuse_aside(hac_user *user, hac_slot slot, uint64_t amount, uint64_t aside,
                                              hac_error *err);
/* The most that the user can ever have, when nobody has anything. */
uint64_t hac_user_alone(const hac_user *user, hac_slot slot);
/* How much would be granted now if the user gave `own` of theirs back and the others `others`. */
uint64_t hac_user_room(const hac_user *user, hac_slot slot, uint64_t own, uint64_t others);

/* Whether the user may connect at all. */
bool hac_user_has_access(const hac_user *user);
/* root, or whom hacd runs as. */
bool hac_user_is_administrator(const hac_user *user);
/* Whose models are kept apart, where what a client says goes into them: nobody else's predictions follow from
 * it. NULL for administrators, from whom all learn. */
const char *hac_user_learner(const hac_user *user);

/* Device time, weighted by the device's capability (1: the fastest device), has been used. */
void hac_user_spend(hac_user *user, double seconds);
/* The user has something to run again, beside `others`, the smallest virtual time of those who have
 * (INFINITY: nobody): time in which nothing was wanted is not saved up. */
void hac_user_come(hac_user *user, double others);

#endif
