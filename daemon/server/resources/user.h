/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Users and their accounts. Everything that is held for a user is charged here, by user and not by
 * connection, as dbus-broker does. A user is a uid or, if hacd.yaml says `identity: cgroup`, a uid in a
 * place: a pod, a container. Each user has limits of their own. Of what all users share (RAM, descriptors),
 * no user may hold more than a fair share of what the others have left. With n users who hold something
 * (other than memory that only clients keep, hac_user_keep), counting the one who asks, a charge is granted
 * as long as
 *
 * held + amount <= (free + held) / max(2, n)
 *
 * So a single user never takes more than half, and a user who joins n others gets 1/(n + 1) of what is free
 * then, whatever the others do. Every charge is released in the end; hac_users_deinit asserts it.
 *
 * Device time is shared by fair queueing of weighted device-seconds (hac_user_spend): the user with the
 * smallest virtual time is next (fair_share.h).
 */
#ifndef SERVER_USER_H
#define SERVER_USER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/list.h"
#include "config/daemon_config.h"
#include "user_place.h"

#define HAC_USER_DEVICES_MAX 32
#define HAC_USER_NAME_SIZE   48

typedef enum hacd_slot {
    HAC_SLOT_MEMORY = 0, /* bytes of pool buffers, and of data inside messages */
    HAC_SLOT_DESCRIPTORS,
    HAC_SLOT_CONNECTIONS,
    HAC_SLOT_JOBS,
    HAC_SLOT_UNREAD, /* descriptors on their way to clients: the kernel limits them for all of hacd */
    HAC_SLOTS
} hacd_slot;

typedef struct hac_user hac_user;
typedef struct hac_users hac_users;

/* What the user's executors on a device did lately (restart_backoff.h). */
typedef struct hac_user_failures {
    unsigned deaths;              /* consecutive deaths of executors that nobody outside hacd killed */
    unsigned start_cost;          /* of consecutive failed starts */
    unsigned shortages;           /* consecutive ones that lacked memory or threads */
    uint64_t retry_at_ns;         /* the user's next executor starts no sooner */
    uint64_t held_back_ns;        /* since when others' executors have to end first; 0: they need not */
    char reason[256];             /* why the device rests for the user */
    uint64_t side_rests_until_ns; /* the user's next side executor starts no sooner (executor.h) */
} hac_user_failures;
struct hac_pool_buffer;

struct hac_user {
    hac_link link; /* in hac_users.list */
    hac_users *users;
    uint64_t number; /* of this account: from 1, never given twice */
    uid_t uid;
    hac_user_place place; /* where the user's clients run */
    /* connected through the socket for administrators: an account of its own, beside the one of that uid */
    bool administers;
    bool of_daemon;                   /* hacd's own account, for what it does by itself: no client has it */
    char learner[HAC_USER_NAME_SIZE]; /* hac_user_name */
    gid_t *groups;                    /* as the kernel reported at the last connect */
    size_t n_groups;
    unsigned references; /* sessions, jobs and executors */
    hac_user_limits limits;
    uint64_t held[HAC_SLOTS];
    uint64_t refused[HAC_SLOTS]; /* refused charges, for the metrics */
    struct {                     /* the last one of them */
        hacd_slot slot;
        bool hopeless; /* the amount alone exceeds what this user can ever have */
    } refusal;
    hac_link buffers, idle; /* pool buffers in use, and idle ones (pool.h) */
    hac_link reservations;  /* of the pool's memory (pool.h) */
    /* of the memory held: pages that a client keeps from being freed; charged until hacd ends */
    uint64_t kept_bytes;
    uint32_t active_jobs;   /* jobs whose tasks are handed out */
    uint32_t jobs_alone;    /* jobs that must be the user's only active one (hacd_job_set_alone) */
    uint32_t ended_jobs;    /* jobs whose records are kept */
    uint32_t texts_over;    /* answers in part sent that are not charged in full (session.c) */
    uint32_t plans_waiting; /* questions in the queue of plans (plan_queue.h) */
    double device_seconds;  /* used, weighted by the devices' speed */
    uint32_t asked, waits;  /* bit masks of devices: asked for in this round; waiting since the last round */
    uint64_t waits_since_ns[HAC_USER_DEVICES_MAX];
    uint32_t resting; /* bit mask of devices that rest for this user alone */
    hac_user_failures failures[HAC_USER_DEVICES_MAX];
    double backlog; /* seconds of the user's waiting jobs, as admission.c adds them up */
    bool had_turn;  /* in this round */
    /* virtual time: device-seconds used, divided by the share, plus where the others were when the user came
     */
    double virtual_time;
    struct { /* hacd's own time for the user (session.c) */
        uint64_t turn, spent_ns;
        uint64_t gate, oldest_waiting; /* turns of the loop in which sessions were last served */
        uint64_t worked_ns;            /* when hacd last worked for the user, plans that no job needs aside */
        uint64_t limit_ns;             /* of one turn (session.c) */
        uint64_t plans_rest_until_ns;  /* plan_queue.h */
    } loop;
};

struct hac_users {
    hac_link list;
    uint64_t total[HAC_SLOTS]; /* what all users together may hold */
    uint64_t held[HAC_SLOTS];
    uint32_t holders[HAC_SLOTS]; /* number of users who hold some, kept_bytes aside */
    hac_user_limits limits;      /* of a new user, until the configuration says otherwise */
    uint32_t next_buffer;
    uint64_t n_accounts;      /* that were ever made */
    hac_user_place own_place; /* where hacd runs, if places tell users apart; else anywhere */
    bool own_is_ordinary;     /* hacd's own uid administers nothing at the socket for everybody */
    /* Called before a buffer's memory is freed, so that executors forget the buffer. */
    void (*forget)(void *context, struct hac_pool_buffer *buffer);
    /* Takes over the memfd, frees its pages (clients may still have it mapped) and closes it. That takes a
     * tenth of a second per GiB, so it must not happen on the loop. NULL: it happens at once. */
    void (*discard)(void *context, int fd);
    void *context;
};

void hac_users_init(hac_users *users, const uint64_t total[HAC_SLOTS], const hac_user_limits *limits,
                    void (*forget)(void *context, struct hac_pool_buffer *buffer), void *context);
/* Asserts that nothing is held any more. */
void hac_users_deinit(hac_users *users);

/* What a user is known by. */
typedef struct hac_user_key {
    uid_t uid;
    hac_user_place place; /* see hac_user */
    bool administers;     /* through the socket for administrators, whatever the place */
} hac_user_key;

/* Returns the user with one more reference, and creates it if necessary. */
HAC_MUST_USE hac_status hac_user_get(hac_users *users, hac_user_key key, hac_user **ret, hac_error *err);
/* "UID", or "UID.PLACE" if there is a place: in names of folders and models, and for people. */
void hac_user_name(uid_t uid, hac_user_place place, char ret[HAC_USER_NAME_SIZE]);

/* Returns hacd's own account of that uid with one more reference. It has no limits of its own, and what it
 * holds is nobody's less: it is not in the totals. */
HAC_MUST_USE hac_status hac_user_get_daemon(hac_users *users, uid_t uid, hac_user **ret, hac_error *err);
/* Takes ownership of `groups`. */
void hac_user_set_groups(hac_user *user, gid_t *groups, size_t n_groups);
void hac_user_ref(hac_user *user);
/* Without references, the user and its warm pool stay until hac_pool_trim finds the pool empty. */
void hac_user_unref(hac_user *user);
/* Frees a user; asserts that it holds nothing. */
void hac_user_free(hac_user *user);

/* Charges an amount. HAC_REFUSED: over the user's own limit, or over a fair share of the total. */
HAC_MUST_USE hac_status hac_user_charge(hac_user *user, hacd_slot slot, uint64_t amount, hac_error *err);
void hac_user_release(hac_user *user, hacd_slot slot, uint64_t amount);
/* A client keeps that much of the user's memory from being freed: it is never released, and does not make the
 * user a holder. */
void hac_user_keep(hac_user *user, uint64_t bytes);
/* HAC_REFUSED for memory that would be available if the user's jobs had not reserved `aside` bytes of it
 * (pool.h). */
HAC_MUST_USE hac_status hac_user_refuse_aside(hac_user *user, hacd_slot slot, uint64_t amount, uint64_t aside,
                                              hac_error *err);
/* The most that the user can ever hold, if nobody holds anything. */
uint64_t hac_user_max(const hac_user *user, hacd_slot slot);
/* How much would be granted if the user released `own` and the others released `others`. */
uint64_t hac_user_available(const hac_user *user, hacd_slot slot, uint64_t own, uint64_t others);

/* Whether the user may connect at all. */
bool hac_user_has_access(const hac_user *user);
/* Whether the user came through the socket for administrators, or hacd runs as this user, in the same place,
 * and own_is_ordinary is not set. Root is a user like any other: in a container without a user namespace,
 * everybody may be root, or have the uid that hacd has. */
bool hac_user_is_administrator(const hac_user *user);
/* The suffix of the user's own performance models (hac_ops_spec.learner). Figures that depend on what a
 * client claims go into these models, so that they do not change the predictions of others. NULL for
 * administrators, whose figures go into the shared models. */
const char *hac_user_learner(const hac_user *user);

/* Whether another user has active jobs, or hacd worked for them within the last second. */
bool hac_user_has_others(const hac_user *user, uint64_t now_ns);

/* Charges device time, or hacd's own time for plans, weighted by the device's speed (1: the fastest device,
 * and hacd). */
void hac_user_spend(hac_user *user, double seconds);
/* The user has something to run again. `others` is the smallest virtual time of the other users who have
 * (INFINITY: nobody). Idle time does not earn credit. */
void hac_user_activate(hac_user *user, double others);

#endif
