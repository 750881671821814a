/* SPDX-License-Identifier: Apache-2.0 */
#include "codelet/background_task.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

struct hac_background_task {
    pthread_t thread;
    pthread_mutex_t lock; /* protects the members below */
    pthread_cond_t changed;
    void (*work)(void *context); /* NULL: nothing to do */
    void *context;
    bool stop;
};

static void *run(void *argument)
{
    hac_background_task *t = argument;
    pthread_mutex_lock(&t->lock);
    for (;;) {
        while (t->work == NULL && !t->stop)
            pthread_cond_wait(&t->changed, &t->lock);
        if (t->work == NULL)
            break;
        pthread_mutex_unlock(&t->lock);
        t->work(t->context);
        pthread_mutex_lock(&t->lock);
        t->work = NULL;
        pthread_cond_broadcast(&t->changed);
    }
    pthread_mutex_unlock(&t->lock);
    return NULL;
}

static void destroy(hac_background_task *t)
{
    pthread_cond_destroy(&t->changed);
    pthread_mutex_destroy(&t->lock);
    free(t);
}

hac_background_task *hac_background_task_new(void)
{
    hac_background_task *t = calloc(1, sizeof *t);
    if (t == NULL)
        return NULL;
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->changed, NULL);
    if (pthread_create(&t->thread, NULL, run, t) == 0)
        return t;
    destroy(t);
    return NULL;
}

void hac_background_task_free(hac_background_task *task)
{
    if (task == NULL)
        return;
    hac_background_task_wait(task);
    pthread_mutex_lock(&task->lock);
    task->stop = true;
    pthread_cond_broadcast(&task->changed);
    pthread_mutex_unlock(&task->lock);
    pthread_join(task->thread, NULL);
    destroy(task);
}

void hac_background_task_begin(hac_background_task *task, void (*work)(void *context), void *context)
{
    pthread_mutex_lock(&task->lock);
    task->context = context;
    task->work = work;
    pthread_cond_broadcast(&task->changed);
    pthread_mutex_unlock(&task->lock);
}

void hac_background_task_wait(hac_background_task *task)
{
    pthread_mutex_lock(&task->lock);
    while (task->work != NULL)
        pthread_cond_wait(&task->changed, &task->lock);
    pthread_mutex_unlock(&task->lock);
}
