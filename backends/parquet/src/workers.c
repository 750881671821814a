/* SPDX-License-Identifier: Apache-2.0 */
#include "workers.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

typedef struct thread {
    hac_workers *workers;
    unsigned number;
    pthread_t id;
} thread;

struct hac_workers {
    pthread_mutex_t lock; /* of all but `next` */
    pthread_cond_t begun, ended;
    unsigned long round; /* one a run */
    unsigned busy;       /* threads that have not ended this round */
    bool stop;
    hac_workers_work work;
    void *context;
    size_t n;
    atomic_size_t next;
    unsigned count; /* the caller among them */
    thread threads[HAC_WORKERS_MAX];
};

static void take_items(hac_workers *w, unsigned number)
{
    for (;;) {
        size_t item = atomic_fetch_add(&w->next, 1);
        if (item >= w->n)
            return;
        w->work(w->context, item, number);
    }
}

static void *run(void *argument)
{
    const thread *self = argument;
    hac_workers *w = self->workers;
    unsigned long seen = 0;
    pthread_mutex_lock(&w->lock);
    for (;;) {
        while (w->round == seen && !w->stop)
            pthread_cond_wait(&w->begun, &w->lock);
        if (w->stop)
            break;
        seen = w->round;
        pthread_mutex_unlock(&w->lock);
        take_items(w, self->number);
        pthread_mutex_lock(&w->lock);
        if (--w->busy == 0)
            pthread_cond_signal(&w->ended);
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

hac_workers *hac_workers_new(unsigned threads)
{
    hac_workers *w = calloc(1, sizeof *w);
    if (w == NULL)
        return NULL;
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->begun, NULL);
    pthread_cond_init(&w->ended, NULL);
    w->count = 1;
    while (w->count < threads && w->count < HAC_WORKERS_MAX) {
        thread *t = &w->threads[w->count];
        *t = (thread){.workers = w, .number = w->count};
        if (pthread_create(&t->id, NULL, run, t) != 0)
            break;
        w->count++;
    }
    return w;
}

void hac_workers_free(hac_workers *workers)
{
    if (workers == NULL)
        return;
    pthread_mutex_lock(&workers->lock);
    workers->stop = true;
    pthread_cond_broadcast(&workers->begun);
    pthread_mutex_unlock(&workers->lock);
    for (unsigned i = 1; i < workers->count; i++)
        pthread_join(workers->threads[i].id, NULL);
    pthread_cond_destroy(&workers->ended);
    pthread_cond_destroy(&workers->begun);
    pthread_mutex_destroy(&workers->lock);
    free(workers);
}

unsigned hac_workers_count(const hac_workers *workers)
{
    return workers->count;
}

void hac_workers_run(hac_workers *workers, size_t n, hac_workers_work work, void *context)
{
    pthread_mutex_lock(&workers->lock);
    workers->work = work;
    workers->context = context;
    workers->n = n;
    atomic_store(&workers->next, 0);
    workers->busy = workers->count - 1;
    workers->round++;
    if (workers->busy > 0)
        pthread_cond_broadcast(&workers->begun);
    pthread_mutex_unlock(&workers->lock);
    take_items(workers, 0);
    pthread_mutex_lock(&workers->lock);
    while (workers->busy > 0)
        pthread_cond_wait(&workers->ended, &workers->lock);
    pthread_mutex_unlock(&workers->lock);
}
