/* SPDX-License-Identifier: Apache-2.0 */
#include "query/pool.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/failpoint.h"

#define SPIN_NS 50000 /* that is waited awake: waking a thread takes about as long */

/* One call. */
typedef struct pool {
    hac_pool_work work;
    void *context;
    uint64_t n;
    atomic_uint_fast64_t next;
    atomic_bool stop;
    pthread_mutex_t lock; /* the two below */
    uint64_t failed_item;
    hac_error failure;
} pool;

typedef struct team team;

typedef struct member {
    team *team;
    unsigned number; /* from 1 on; 0 is the caller */
    unsigned seen;   /* the last turn it knows of */
    pthread_t thread;
} member;

/* A thread's own helpers, for its calls one after the other. */
struct team {
    pthread_mutex_t lock; /* all but the atomic ones */
    pthread_cond_t begun, ended;
    atomic_uint turn;    /* one more with each call, and at the end */
    atomic_uint working; /* members that have not ended this turn */
    unsigned asleep;     /* members that wait for `begun` */
    bool caller_asleep;  /* waits for `ended` */
    bool leave;
    bool busy; /* the caller's own: in a turn */
    pool *pool;
    unsigned wanted; /* in this turn, the caller, too: those of lower numbers */
    cpu_set_t cpus;  /* that the members run on */
    unsigned n;      /* members there are */
    member members[HAC_POOL_MAX];
};

unsigned hac_pool_threads(void)
{
    cpu_set_t cpus;
    if (sched_getaffinity(0, sizeof cpus, &cpus) != 0)
        return 1;
    int n = CPU_COUNT(&cpus);
    return n < 1 ? 1 : (n > HAC_POOL_MAX ? HAC_POOL_MAX : (unsigned)n);
}

/* ---- one call ---- */

/* Items are claimed in order, so all below the one that failed run to their end: the lowest is always found.
 */
static void note_failure(pool *p, uint64_t item, hac_status status, const hac_error *err)
{
    pthread_mutex_lock(&p->lock);
    if (item < p->failed_item) {
        p->failed_item = item;
        p->failure = *err;
        p->failure.code = status;
    }
    pthread_mutex_unlock(&p->lock);
    atomic_store(&p->stop, true);
}

static void run(pool *p, unsigned worker)
{
    while (!atomic_load_explicit(&p->stop, memory_order_relaxed)) {
        uint64_t item = atomic_fetch_add(&p->next, 1);
        if (item >= p->n)
            break;
        hac_error err = HAC_ERROR_NONE;
        hac_status status = p->work(p->context, item, worker, &err);
        if (status != HAC_OK)
            note_failure(p, item, status, &err);
    }
}

/* ---- members ---- */

/* The next call that wants this member; NULL: it is to leave. */
static pool *next_turn(member *m)
{
    team *t = m->team;
    pool *found = NULL;
    bool leave = false;
    while (found == NULL && !leave) {
        uint64_t end = hac_now_ns() + SPIN_NS;
        while (atomic_load(&t->turn) == m->seen && hac_now_ns() < end)
            ;
        pthread_mutex_lock(&t->lock);
        for (; atomic_load(&t->turn) == m->seen; t->asleep--) {
            t->asleep++;
            pthread_cond_wait(&t->begun, &t->lock);
        }
        m->seen = atomic_load(&t->turn);
        leave = t->leave;
        found = m->number < t->wanted ? t->pool : NULL;
        pthread_mutex_unlock(&t->lock);
    }
    return leave ? NULL : found;
}

static void end_turn(team *t)
{
    if (atomic_fetch_sub(&t->working, 1) > 1)
        return;
    pthread_mutex_lock(&t->lock);
    if (t->caller_asleep)
        pthread_cond_signal(&t->ended);
    pthread_mutex_unlock(&t->lock);
}

static void *serve(void *argument)
{
    member *m = argument;
    for (pool *p = next_turn(m); p != NULL; p = next_turn(m)) {
        run(p, m->number);
        end_turn(m->team);
    }
    return NULL;
}

/* ---- teams ---- */

static void begin_turn(team *t, pool *p, unsigned wanted)
{
    pthread_mutex_lock(&t->lock);
    t->busy = true;
    t->pool = p;
    t->wanted = wanted;
    atomic_store(&t->working, wanted - 1);
    atomic_fetch_add(&t->turn, 1);
    if (t->asleep > 0)
        pthread_cond_broadcast(&t->begun);
    pthread_mutex_unlock(&t->lock);
}

static void await_end(team *t)
{
    uint64_t end = hac_now_ns() + SPIN_NS;
    while (atomic_load(&t->working) > 0 && hac_now_ns() < end)
        ;
    pthread_mutex_lock(&t->lock);
    t->caller_asleep = true;
    while (atomic_load(&t->working) > 0)
        pthread_cond_wait(&t->ended, &t->lock);
    t->caller_asleep = t->busy = false;
    pthread_mutex_unlock(&t->lock);
}

static void dismiss(team *t)
{
    t->leave = true;
    begin_turn(t, NULL, 1);
    for (unsigned i = 0; i < t->n; i++)
        pthread_join(t->members[i].thread, NULL);
    t->leave = t->busy = false;
    t->n = 0;
}

/* The calling thread ends. */
static void team_free(void *value)
{
    team *t = value;
    dismiss(t);
    pthread_cond_destroy(&t->begun);
    pthread_cond_destroy(&t->ended);
    pthread_mutex_destroy(&t->lock);
    free(t);
}

static pthread_key_t own_team;

static void make_key(void)
{
    (void)pthread_key_create(&own_team, team_free);
}

/* The calling thread's, on the CPUs that it may run on now; NULL: there is no memory for one, or it works at
 * a call that this one is part of. */
static team *team_get(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    cpu_set_t cpus;
    pthread_once(&once, make_key);
    team *t = pthread_getspecific(own_team);
    if (t == NULL) {
        t = calloc(1, sizeof *t);
        if (t == NULL || pthread_setspecific(own_team, t) != 0) {
            free(t);
            return NULL;
        }
        pthread_mutex_init(&t->lock, NULL);
        pthread_cond_init(&t->begun, NULL);
        pthread_cond_init(&t->ended, NULL);
    }
    if (t->busy)
        return NULL;
    if (sched_getaffinity(0, sizeof cpus, &cpus) == 0 && !CPU_EQUAL(&cpus, &t->cpus)) {
        dismiss(t);
        t->cpus = cpus;
    }
    return t;
}

/* Members for so many threads, or as many as can be had; how many there are then, with the caller. */
static unsigned hire(team *t, unsigned wanted)
{
    while (t->n + 1 < wanted) {
        member *m = &t->members[t->n];
        *m = (member){.team = t, .number = t->n + 1, .seen = atomic_load(&t->turn)};
        if (HAC_FAILPOINT("query.thread", 1, pthread_create(&m->thread, NULL, serve, m)) != 0)
            break;
        t->n++;
    }
    return wanted < t->n + 1 ? wanted : t->n + 1;
}

hac_status hac_pool_run(uint64_t n, hac_pool_work work, void *context, hac_error *err)
{
    pool p = {.work = work, .context = context, .n = n, .failed_item = UINT64_MAX};
    unsigned wanted = hac_pool_threads();
    if (wanted > n)
        wanted = n == 0 ? 1 : (unsigned)n;
    team *t = wanted > 1 ? team_get() : NULL;
    pthread_mutex_init(&p.lock, NULL);
    unsigned threads = t != NULL ? hire(t, wanted) : 1;
    if (threads > 1)
        begin_turn(t, &p, threads);
    run(&p, 0);
    if (threads > 1)
        await_end(t);
    pthread_mutex_destroy(&p.lock);
    if (p.failed_item == UINT64_MAX)
        return HAC_OK;
    if (err != NULL)
        *err = p.failure;
    return p.failure.code;
}
