/* SPDX-License-Identifier: Apache-2.0 */
#include "errand.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

struct hac_errand {
    pthread_t thread;
    pthread_mutex_t lock; /* of all below */
    pthread_cond_t changed;
    void (*work)(void *context); /* NULL: nothing to do */
    void *context;
    bool stop;
};

static void *run(void *argument)
{
    hac_errand *e = argument;
    pthread_mutex_lock(&e->lock);
    for (;;) {
        while (e->work == NULL && !e->stop)
            pthread_cond_wait(&e->changed, &e->lock);
        if (e->work == NULL)
            break;
        pthread_mutex_unlock(&e->lock);
        e->work(e->context);
        pthread_mutex_lock(&e->lock);
        e->work = NULL;
        pthread_cond_broadcast(&e->changed);
    }
    pthread_mutex_unlock(&e->lock);
    return NULL;
}

static void destroy(hac_errand *e)
{
    pthread_cond_destroy(&e->changed);
    pthread_mutex_destroy(&e->lock);
    free(e);
}

hac_errand *hac_errand_new(void)
{
    hac_errand *e = calloc(1, sizeof *e);
    if (e == NULL)
        return NULL;
    pthread_mutex_init(&e->lock, NULL);
    pthread_cond_init(&e->changed, NULL);
    if (pthread_create(&e->thread, NULL, run, e) == 0)
        return e;
    destroy(e);
    return NULL;
}

void hac_errand_free(hac_errand *errand)
{
    if (errand == NULL)
        return;
    hac_errand_wait(errand);
    pthread_mutex_lock(&errand->lock);
    errand->stop = true;
    pthread_cond_broadcast(&errand->changed);
    pthread_mutex_unlock(&errand->lock);
    pthread_join(errand->thread, NULL);
    destroy(errand);
}

void hac_errand_begin(hac_errand *errand, void (*work)(void *context), void *context)
{
    pthread_mutex_lock(&errand->lock);
    errand->context = context;
    errand->work = work;
    pthread_cond_broadcast(&errand->changed);
    pthread_mutex_unlock(&errand->lock);
}

void hac_errand_wait(hac_errand *errand)
{
    pthread_mutex_lock(&errand->lock);
    while (errand->work != NULL)
        pthread_cond_wait(&errand->changed, &errand->lock);
    pthread_mutex_unlock(&errand->lock);
}
