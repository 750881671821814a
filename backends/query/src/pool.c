/* SPDX-License-Identifier: Apache-2.0 */
#include "query/pool.h"

#include "base/failpoint.h"
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>

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

typedef struct worker {
    pool *pool;
    unsigned number;
    pthread_t thread;
} worker;

unsigned hac_pool_threads(void)
{
    cpu_set_t cpus;
    if (sched_getaffinity(0, sizeof cpus, &cpus) != 0)
        return 1;
    int n = CPU_COUNT(&cpus);
    return n < 1 ? 1 : (n > HAC_POOL_MAX ? HAC_POOL_MAX : (unsigned)n);
}

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

static void *run(void *argument)
{
    const worker *w = argument;
    pool *p = w->pool;
    while (!atomic_load_explicit(&p->stop, memory_order_relaxed)) {
        uint64_t item = atomic_fetch_add(&p->next, 1);
        if (item >= p->n)
            break;
        hac_error err = HAC_ERROR_NONE;
        hac_status status = p->work(p->context, item, w->number, &err);
        if (status != HAC_OK)
            note_failure(p, item, status, &err);
    }
    return NULL;
}

hac_status hac_pool_run(uint64_t n, hac_pool_work work, void *context, hac_error *err)
{
    pool p = {.work = work, .context = context, .n = n, .failed_item = UINT64_MAX};
    worker workers[HAC_POOL_MAX];
    unsigned wanted = hac_pool_threads(), made = 1;
    if (wanted > n)
        wanted = n == 0 ? 1 : (unsigned)n;
    pthread_mutex_init(&p.lock, NULL);
    for (; made < wanted; made++) {
        workers[made] = (worker){.pool = &p, .number = made};
        if (HAC_FAILPOINT("query.thread", 1,
                          pthread_create(&workers[made].thread, NULL, run, &workers[made])) != 0)
            break;
    }
    workers[0] = (worker){.pool = &p};
    run(&workers[0]);
    for (unsigned i = 1; i < made; i++)
        pthread_join(workers[i].thread, NULL);
    pthread_mutex_destroy(&p.lock);
    if (p.failed_item == UINT64_MAX)
        return HAC_OK;
    if (err != NULL)
        *err = p.failure;
    return p.failure.code;
}
