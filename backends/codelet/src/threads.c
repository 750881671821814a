/* SPDX-License-Identifier: Apache-2.0 */
#include "codelet/threads.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/failpoint.h"
#include "base/processors.h"
#include "codelet/progress.h"

/* Time to spin: waking a thread takes about 50 µs, more in a virtual machine. If calls follow each other
 * quickly, as in the rounds of a loop, spinning longer pays. */
#define SPIN_NS      UINT64_C(50000)
#define SPIN_LONG_NS UINT64_C(300000)
#define SHORTLY_NS   UINT64_C(1000000)
#define IDLE_SECONDS 1 /* then a thread ends */

/* Items that are left, [next, end): `next` in the low half of `range`. A claim beyond the end counts `next`
 * up all the same, once for each thread. */
typedef struct share {
    _Alignas(64) atomic_uint_fast64_t range;
} share;

#define ITEMS_MAX (UINT32_MAX - HAC_POOL_MAX)

static uint64_t range_of(uint64_t next, uint64_t end)
{
    return end << 32 | next;
}

static uint64_t next_of(uint64_t range)
{
    return range & UINT32_MAX;
}

static uint64_t end_of(uint64_t range)
{
    return range >> 32;
}

/* One call. */
typedef struct pool {
    hac_pool_work work;
    void *context;
    share shares[HAC_POOL_MAX]; /* one, or one for each thread */
    unsigned n_shares;
    atomic_uint_fast64_t failed_item; /* the lowest one: items above it need not run */
    pthread_mutex_t lock;             /* to change failed_item and the members below */
    hac_error failure;
} pool;

typedef struct team team;

/* Members that no comment excepts are protected by the team's lock. */
typedef struct team_member {
    team *team;
    unsigned number; /* from 1 on; 0 is the caller */
    pthread_cond_t begun;
    uint64_t seen;    /* its own: the last turn that it took part in or missed */
    uint64_t spin_ns; /* its own: time to spin */
    bool asleep;      /* waits for `begun` */
    bool there;       /* it has a thread */
} team_member;

/* Bits of the gate: the number of members inside, whether the turn is open, the turn's number. */
#define GATE_INSIDE UINT64_C(0xffff)
#define GATE_OPEN   UINT64_C(0x10000)
#define GATE_TURN   UINT64_C(0x20000)

/* A thread's helpers, for one call after the other. Members enter a turn. The caller closes it when no item
 * is left, and waits only for members inside. A member that gets no processor meanwhile misses the turn. */
struct team {
    pthread_mutex_t lock;
    pthread_cond_t ended; /* the end of a turn, or of a member's thread */
    _Atomic(uint64_t) gate;
    atomic_bool leave;
    /* threads that may work in this turn, including the caller: the members with lower numbers */
    atomic_uint wanted;
    pool *pool;         /* of this turn; for members inside */
    bool caller_asleep; /* waits for `ended` */
    bool busy;          /* the caller's own: a turn is running */
    cpu_set_t cpus;     /* the caller's own: CPUs that the members run on */
    team_member members[HAC_POOL_MAX];
};
_Static_assert(HAC_POOL_MAX <= GATE_INSIDE, "members of a team are counted in the gate");

/* Finds the CPUs that the calling thread may run on, and their number; 1 if unknown. */
static unsigned find_cpus(cpu_set_t *ret)
{
    unsigned n = hac_processors(ret);
    if (CPU_COUNT(ret) == 0)
        return 1;
    return n > HAC_POOL_MAX ? HAC_POOL_MAX : n;
}

unsigned hac_pool_threads(void)
{
    cpu_set_t cpus;
    return find_cpus(&cpus);
}

/* ---- one call ---- */

/* All items below the failed one still run, so the lowest failure is always found. */
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

/* Claims the share's next item; false: none is left. */
static bool claim(share *s, uint64_t *ret)
{
    uint64_t range = atomic_fetch_add(&s->range, 1);
    *ret = next_of(range);
    return next_of(range) < end_of(range);
}

/* Moves the second half of another share's items to the thread's own share, which has none left. */
static bool steal(share *from, share *own)
{
    uint64_t range = atomic_load(&from->range);
    while (next_of(range) < end_of(range)) {
        uint64_t middle = next_of(range) + (end_of(range) - next_of(range)) / 2;
        if (!atomic_compare_exchange_weak(&from->range, &range, range_of(next_of(range), middle)))
            continue;
        atomic_store(&own->range, range_of(middle, end_of(range)));
        return true;
    }
    return false;
}

/* Items above the lowest failure need not run. */
static bool is_wanted(pool *p, uint64_t item)
{
    return item <= atomic_load_explicit(&p->failed_item, memory_order_relaxed);
}

static void run_item(pool *p, uint64_t item, unsigned worker)
{
    hac_error err = HAC_ERROR_NONE;
    hac_status status = p->work(p->context, item, worker, &err);
    if (status != HAC_OK)
        note_failure(p, item, status, &err);
    hac_progress_step();
}

/* Runs items in order until none is left that is wanted: those that follow are above them. */
static void run_share(pool *p, share *s, unsigned worker)
{
    uint64_t item;
    while (claim(s, &item) && is_wanted(p, item))
        run_item(p, item, worker);
}

/* Runs the worker's own share, then parts of the others. */
static void run(pool *p, unsigned worker)
{
    share *own = &p->shares[worker % p->n_shares];
    run_share(p, own, worker);
    for (unsigned i = 1; i < p->n_shares; i++)
        while (steal(&p->shares[(worker + i) % p->n_shares], own))
            run_share(p, own, worker);
}

/* ---- members ---- */

static uint64_t turn_of(uint64_t gate)
{
    return gate / GATE_TURN;
}

static bool is_called(const team_member *m)
{
    team *t = m->team;
    return atomic_load(&t->leave) ||
           (turn_of(atomic_load(&t->gate)) != m->seen && m->number < atomic_load(&t->wanted));
}

/* Enters the current turn; false: it is closed or does not want this member. */
static bool enter(team_member *m)
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

/* Waits for a call; false: no call came for a while, or the member must leave. */
static bool sleep_until_called(team_member *m)
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
    pthread_mutex_unlock(&t->lock); /* the team may be freed from here on if the member has left it */
    return goes_on;
}

/* Enters the next call that wants this member; false: the thread ends. Spinning yields the processor. */
static bool next_turn(team_member *m)
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
    team_member *m = argument;
    while (next_turn(m)) {
        run(m->team->pool, m->number);
        leave(m->team);
    }
    return NULL;
}

/* ---- teams ---- */

/* With the lock held. A thread ends by itself after some time without work, so it is detached. */
static bool is_there(team_member *m)
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

/* With the lock held: begins a turn for members with numbers below `wanted`. */
static void call(team *t, unsigned wanted)
{
    atomic_store(&t->wanted, wanted);
    atomic_store(&t->gate, (turn_of(atomic_load(&t->gate)) + 1) * GATE_TURN + GATE_OPEN);
    for (unsigned i = 0; i + 1 < wanted; i++)
        if (t->members[i].asleep)
            pthread_cond_signal(&t->members[i].begun);
}

/* Begins a turn; returns how many threads can work in it, including the caller, at most `wanted`. */
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
        sched_yield(); /* a member may be waiting for this processor */
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

/* Called when the calling thread ends. */
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

/* The calling thread's team for these CPUs. NULL: no memory, or the call is nested in another call of the
 * team. */
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
        uint64_t first = n / n_shares * i + n % n_shares * i / n_shares;
        uint64_t end = n / n_shares * (i + 1) + n % n_shares * (i + 1) / n_shares;
        atomic_init(&p->shares[i].range, range_of(first, end));
    }
}

static hac_status call_all(uint64_t n, unsigned max, hac_pool_work work, void *context, bool near,
                           hac_error *err)
{
    pool p = {.work = work, .context = context, .failed_item = UINT64_MAX};
    cpu_set_t cpus;
    if (n > ITEMS_MAX)
        return hac_fail(err, HAC_REFUSED, "%llu items; at most %llu are possible", (unsigned long long)n,
                        (unsigned long long)ITEMS_MAX);
    unsigned wanted = n > 1 && max > 1 ? find_cpus(&cpus) : 1;
    if (wanted > n && n > 0)
        wanted = (unsigned)n;
    wanted = wanted < max ? wanted : max;
    team *t = wanted > 1 ? team_get(&cpus) : NULL;
    share_out(&p, n, near && t != NULL ? wanted : 1);
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
    return call_all(n, HAC_POOL_MAX, work, context, false, err);
}

hac_status hac_pool_run_few(uint64_t n, unsigned threads, hac_pool_work work, void *context, hac_error *err)
{
    return call_all(n, threads, work, context, false, err);
}

hac_status hac_pool_run_near(uint64_t n, hac_pool_work work, void *context, hac_error *err)
{
    return call_all(n, HAC_POOL_MAX, work, context, true, err);
}
