/* SPDX-License-Identifier: Apache-2.0 */
#include "query/pool.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/failpoint.h"

/* What is waited awake: waking a thread takes some 50 µs, in a virtual machine more. Where calls come one
 * shortly after the other, as of the rounds of a loop, more is worth it. */
#define SPIN_NS      UINT64_C(50000)
#define SPIN_LONG_NS UINT64_C(300000)
#define SHORTLY_NS   UINT64_C(1000000)
#define IDLE_SECONDS 1 /* then a thread ends */

#define SHARES_MOST 16 /* of one call: threads that begin at items of their own */

/* Items [next, end), claimed in order. */
typedef struct share {
    _Alignas(64) atomic_uint_fast64_t next;
    uint64_t end;
} share;

/* One call. */
typedef struct pool {
    hac_pool_work work;
    void *context;
    share shares[SHARES_MOST];
    unsigned n_shares;
    atomic_uint_fast64_t failed_item; /* the lowest: items above it need not run */
    pthread_mutex_t lock;             /* to change it, and what is below */
    hac_error failure;
} pool;

typedef struct team team;

/* What is not said otherwise is under the team's lock. */
typedef struct member {
    team *team;
    unsigned number; /* from 1 on; 0 is the caller */
    pthread_cond_t begun;
    uint64_t seen;    /* its own: the last turn that it was part of, or missed */
    uint64_t spin_ns; /* its own: that it waits awake */
    bool asleep;      /* waits for `begun` */
    bool there;       /* it has a thread */
} member;

/* A turn's number, whether it can be entered, and how many members are in it. */
#define GATE_INSIDE UINT64_C(0xffff)
#define GATE_OPEN   UINT64_C(0x10000)
#define GATE_TURN   UINT64_C(0x20000)

/* A thread's own helpers, for its calls one after the other. Members enter a turn; the caller closes it when
 * no item is left, and waits only for those inside. One that gets no processor meanwhile misses the turn. */
struct team {
    pthread_mutex_t lock;
    pthread_cond_t ended; /* a turn, or a thread that is to leave */
    _Atomic(uint64_t) gate;
    atomic_bool leave;
    atomic_uint wanted; /* that may work in this turn, the caller included: members of lower numbers */
    pool *pool;         /* of this turn; for those inside */
    bool caller_asleep; /* waits for `ended` */
    bool busy;          /* the caller's own: in a turn */
    cpu_set_t cpus;     /* that the members run on; the caller's own */
    member members[HAC_POOL_MAX];
};
_Static_assert(HAC_POOL_MAX <= GATE_INSIDE, "members of a team are counted in the gate");

/* The CPUs that the calling thread may run on now, and for how many threads that is; none are known: 1. */
static unsigned find_cpus(cpu_set_t *ret)
{
    CPU_ZERO(ret);
    if (sched_getaffinity(0, sizeof *ret, ret) != 0)
        return 1;
    int n = CPU_COUNT(ret);
    return n < 1 ? 1 : (n > HAC_POOL_MAX ? HAC_POOL_MAX : (unsigned)n);
}

unsigned hac_pool_threads(void)
{
    cpu_set_t cpus;
    return find_cpus(&cpus);
}

/* ---- one call ---- */

/* All items below the one that failed run to their end: the lowest is always found. */
static void note_failure(pool *p, uint64_t item, hac_status status, const hac_error *err)
{
    pthread_mutex_lock(&p->lock);
    if (item < atomic_load(&p->failed_item)) {
        atomic_store(&p->failed_item, item);
        p->failure = *err;
        p->failure.code = status;
    }
    pthread_mutex_unlock(&p->lock);
}

static void run_share(pool *p, share *s, unsigned worker)
{
    for (;;) {
        uint64_t item = atomic_fetch_add(&s->next, 1);
        if (item >= s->end || item > atomic_load_explicit(&p->failed_item, memory_order_relaxed))
            return;
        hac_error err = HAC_ERROR_NONE;
        hac_status status = p->work(p->context, item, worker, &err);
        if (status != HAC_OK)
            note_failure(p, item, status, &err);
    }
}

/* Its own share, then what others have left of theirs. */
static void run(pool *p, unsigned worker)
{
    for (unsigned i = 0; i < p->n_shares; i++)
        run_share(p, &p->shares[(worker + i) % p->n_shares], worker);
}

/* ---- members ---- */

static uint64_t turn_of(uint64_t gate)
{
    return gate / GATE_TURN;
}

static bool is_called(const member *m)
{
    team *t = m->team;
    return atomic_load(&t->leave) ||
           (turn_of(atomic_load(&t->gate)) != m->seen && m->number < atomic_load(&t->wanted));
}

/* Takes part in the turn that there is; false: it is closed, or does not want this member. */
static bool enter(member *m)
{
    team *t = m->team;
    uint64_t gate = atomic_load(&t->gate);
    m->seen = turn_of(gate);
    while ((gate & GATE_OPEN) != 0 && turn_of(gate) == m->seen && m->number < atomic_load(&t->wanted))
        if (atomic_compare_exchange_weak(&t->gate, &gate, gate + 1))
            return true;
    return false;
}

static void leave(team *t)
{
    uint64_t gate = atomic_fetch_sub(&t->gate, 1) - 1;
    if ((gate & (GATE_OPEN | GATE_INSIDE)) != 0)
        return;
    pthread_mutex_lock(&t->lock);
    if (t->caller_asleep)
        pthread_cond_signal(&t->ended);
    pthread_mutex_unlock(&t->lock);
}

/* Until the member is called; false: nobody wanted it for a while, or it is to leave. */
static bool sleep_until_called(member *m)
{
    team *t = m->team;
    struct timespec end;
    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_sec += IDLE_SECONDS;
    pthread_mutex_lock(&t->lock);
    m->asleep = true;
    while (!is_called(m) && pthread_cond_timedwait(&m->begun, &t->lock, &end) != ETIMEDOUT)
        ;
    m->asleep = false;
    bool goes_on = m->there = is_called(m) && !t->leave;
    if (t->leave)
        pthread_cond_signal(&t->ended);
    pthread_mutex_unlock(&t->lock); /* from here on a team that it has left may be gone */
    return goes_on;
}

/* In the next call that wants this member; false: it ends. Who waits awake leaves the processor to others. */
static bool next_turn(member *m)
{
    do {
        uint64_t start = hac_now_ns();
        while (!is_called(m) && hac_now_ns() - start < m->spin_ns)
            sched_yield();
        if ((!is_called(m) || atomic_load(&m->team->leave)) && !sleep_until_called(m))
            return false;
        m->spin_ns = hac_now_ns() - start < SHORTLY_NS ? SPIN_LONG_NS : SPIN_NS;
    } while (!enter(m));
    return true;
}

static void *serve(void *argument)
{
    member *m = argument;
    while (next_turn(m)) {
        run(m->team->pool, m->number);
        leave(m->team);
    }
    return NULL;
}

/* ---- teams ---- */

/* With the lock held. A thread ends by itself when it has had nothing to do for a while, so nobody joins it.
 */
static bool is_there(member *m)
{
    pthread_t thread;
    if (m->there)
        return true;
    m->seen = turn_of(atomic_load(&m->team->gate));
    m->spin_ns = SPIN_NS;
    m->there = HAC_FAILPOINT("query.thread", 1, pthread_create(&thread, NULL, serve, m)) == 0;
    if (m->there)
        pthread_detach(thread);
    return m->there;
}

/* With the lock held: a turn, open for members of numbers below `wanted`. */
static void call(team *t, unsigned wanted)
{
    atomic_store(&t->wanted, wanted);
    atomic_store(&t->gate, (turn_of(atomic_load(&t->gate)) + 1) * GATE_TURN + GATE_OPEN);
    for (unsigned i = 0; i + 1 < wanted; i++)
        if (t->members[i].asleep)
            pthread_cond_signal(&t->members[i].begun);
}

/* How many threads may work at it, the caller's, too: those that can be had, with `wanted` enough. */
static unsigned begin_turn(team *t, pool *p, unsigned wanted)
{
    unsigned threads = 1;
    pthread_mutex_lock(&t->lock);
    while (threads < wanted && is_there(&t->members[threads - 1]))
        threads++;
    t->busy = threads > 1;
    t->pool = p;
    if (threads > 1)
        call(t, threads);
    pthread_mutex_unlock(&t->lock);
    return threads;
}

static bool is_empty(team *t)
{
    return (atomic_load(&t->gate) & GATE_INSIDE) == 0;
}

static void end_turn(team *t)
{
    uint64_t end = hac_now_ns() + SPIN_LONG_NS;
    atomic_fetch_and(&t->gate, ~GATE_OPEN);
    while (!is_empty(t) && hac_now_ns() < end)
        sched_yield(); /* one of them may be waiting for this processor */
    if (!is_empty(t)) {
        pthread_mutex_lock(&t->lock);
        t->caller_asleep = true;
        while (!is_empty(t))
            pthread_cond_wait(&t->ended, &t->lock);
        t->caller_asleep = false;
        pthread_mutex_unlock(&t->lock);
    }
    t->busy = false;
}

static void dismiss(team *t)
{
    pthread_mutex_lock(&t->lock);
    atomic_store(&t->leave, true);
    for (unsigned i = 0; i < HAC_POOL_MAX; i++)
        pthread_cond_signal(&t->members[i].begun);
    for (unsigned i = 0; i < HAC_POOL_MAX; i++)
        while (t->members[i].there)
            pthread_cond_wait(&t->ended, &t->lock);
    atomic_store(&t->leave, false);
    pthread_mutex_unlock(&t->lock);
}

/* The calling thread ends. */
static void team_free(void *value)
{
    team *t = value;
    dismiss(t);
    for (unsigned i = 0; i < HAC_POOL_MAX; i++)
        pthread_cond_destroy(&t->members[i].begun);
    pthread_cond_destroy(&t->ended);
    pthread_mutex_destroy(&t->lock);
    free(t);
}

static pthread_key_t own_team;
static bool has_key;

static void make_key(void)
{
    has_key = pthread_key_create(&own_team, team_free) == 0;
}

static team *team_new(void)
{
    team *t = calloc(1, sizeof *t);
    if (t == NULL)
        return NULL;
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->ended, NULL);
    for (unsigned i = 0; i < HAC_POOL_MAX; i++) {
        t->members[i].team = t;
        t->members[i].number = i + 1;
        pthread_cond_init(&t->members[i].begun, &attributes);
    }
    pthread_condattr_destroy(&attributes);
    return t;
}

/* The calling thread's, on these CPUs; NULL: there is no memory for one, or it works at a call that this one
 * is part of. */
static team *team_get(const cpu_set_t *cpus)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_key);
    team *t = has_key ? pthread_getspecific(own_team) : NULL;
    if (has_key && t == NULL) {
        t = team_new();
        if (t != NULL && pthread_setspecific(own_team, t) != 0) {
            team_free(t);
            t = NULL;
        }
    }
    if (t == NULL || t->busy)
        return NULL;
    if (!CPU_EQUAL(cpus, &t->cpus)) {
        dismiss(t);
        t->cpus = *cpus;
    }
    return t;
}

static void share_out(pool *p, uint64_t n, unsigned n_shares)
{
    p->n_shares = n_shares;
    for (unsigned i = 0; i < n_shares; i++) {
        atomic_init(&p->shares[i].next, n / n_shares * i + n % n_shares * i / n_shares);
        p->shares[i].end = n / n_shares * (i + 1) + n % n_shares * (i + 1) / n_shares;
    }
}

static hac_status call_all(uint64_t n, hac_pool_work work, void *context, bool near, hac_error *err)
{
    pool p = {.work = work, .context = context, .failed_item = UINT64_MAX};
    cpu_set_t cpus;
    unsigned wanted = n > 1 ? find_cpus(&cpus) : 1;
    if (wanted > n && n > 0)
        wanted = (unsigned)n;
    team *t = wanted > 1 ? team_get(&cpus) : NULL;
    share_out(&p, n, near && t != NULL ? (wanted < SHARES_MOST ? wanted : SHARES_MOST) : 1);
    pthread_mutex_init(&p.lock, NULL);
    unsigned threads = t != NULL ? begin_turn(t, &p, wanted) : 1;
    run(&p, 0);
    if (threads > 1)
        end_turn(t);
    pthread_mutex_destroy(&p.lock);
    if (atomic_load(&p.failed_item) == UINT64_MAX)
        return HAC_OK;
    if (err != NULL)
        *err = p.failure;
    return p.failure.code;
}

hac_status hac_pool_run(uint64_t n, hac_pool_work work, void *context, hac_error *err)
{
    return call_all(n, work, context, false, err);
}

hac_status hac_pool_run_near(uint64_t n, hac_pool_work work, void *context, hac_error *err)
{
    return call_all(n, work, context, true, err);
}
