/* SPDX-License-Identifier: Apache-2.0 */
#include "link.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

struct hacpy_link {
    hac_client *client;
    pthread_mutex_t lock; /* of the client */
    hacpy_held *unwanted; /* what is to be freed; atomic */
    int references;       /* atomic */
    int fd;
    pid_t owner;
    hacpy_link *next, **place; /* in the list of links */
};

/* ---- processes that are forked ---- */

/* The links of this process. A forked child closes their sockets, for hacd is to see when the parent ends. */
static hacpy_link *links;
static pthread_mutex_t links_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t links_once = PTHREAD_ONCE_INIT;
static bool links_watched;

static void before_fork(void)
{
    pthread_mutex_lock(&links_lock);
}

static void after_in_parent(void)
{
    pthread_mutex_unlock(&links_lock);
}

static void after_in_child(void)
{
    for (const hacpy_link *link = links; link != NULL; link = link->next)
        close(link->fd);
    links = NULL;
    pthread_mutex_unlock(&links_lock);
}

static void watch_forks(void)
{
    links_watched = pthread_atfork(before_fork, after_in_parent, after_in_child) == 0;
}

static bool list_link(hacpy_link *link)
{
    pthread_once(&links_once, watch_forks);
    if (!links_watched)
        return false;
    pthread_mutex_lock(&links_lock);
    link->next = links;
    link->place = &links;
    if (links != NULL)
        links->place = &link->next;
    links = link;
    pthread_mutex_unlock(&links_lock);
    return true;
}

static void unlist_link(hacpy_link *link)
{
    pthread_mutex_lock(&links_lock);
    *link->place = link->next;
    if (link->next != NULL)
        link->next->place = link->place;
    pthread_mutex_unlock(&links_lock);
}

/* ---- life ---- */

/* A thread may lock it again: columns that are released with the lock held may run Python code. */
static bool init_lock(pthread_mutex_t *lock)
{
    pthread_mutexattr_t attributes;
    if (pthread_mutexattr_init(&attributes) != 0)
        return false;
    bool good = pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE) == 0 &&
                pthread_mutex_init(lock, &attributes) == 0;
    pthread_mutexattr_destroy(&attributes);
    return good;
}

hacpy_link *hacpy_link_new(hac_client *client)
{
    hacpy_link *link = calloc(1, sizeof(*link));
    if (link == NULL || !init_lock(&link->lock)) {
        free(link);
        return NULL;
    }
    link->client = client;
    link->fd = hac_client_fd(client);
    link->references = 1;
    link->owner = getpid();
    if (!list_link(link)) {
        pthread_mutex_destroy(&link->lock);
        free(link);
        return NULL;
    }
    return link;
}

hacpy_link *hacpy_link_ref(hacpy_link *link)
{
    __atomic_add_fetch(&link->references, 1, __ATOMIC_RELAXED);
    return link;
}

void hacpy_link_unref(hacpy_link *link)
{
    if (link == NULL || __atomic_sub_fetch(&link->references, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    if (!hacpy_link_is_ours(link)) /* closing the parent's connection is the parent's affair */
        return;
    unlist_link(link);
    hac_client_free(link->client);
    pthread_mutex_destroy(&link->lock);
    free(link);
}

bool hacpy_link_is_ours(const hacpy_link *link)
{
    return link->owner == getpid();
}

static short events_now(const hacpy_link *link, int timeout_ms)
{
    struct pollfd at = {.fd = link->fd, .events = POLLIN | POLLRDHUP};
    return poll(&at, 1, timeout_ms) > 0 ? at.revents : 0;
}

bool hacpy_link_is_broken(const hacpy_link *link)
{
    return (events_now(link, 0) & (POLLHUP | POLLRDHUP | POLLERR | POLLNVAL)) != 0;
}

void hacpy_link_poll(const hacpy_link *link, int timeout_ms)
{
    (void)events_now(link, timeout_ms);
}

/* ---- what is freed later ---- */

static void held_delete(hacpy_held *held)
{
    hac_job_free(held->job);
    hac_buffer_free(held->buffer);
    if (held->array.release != NULL)
        held->array.release(&held->array);
    hacpy_progress_unref(held->progress);
    free(held);
}

/* The list has the last one first. A job is freed before its input, which was let go after it. */
static hacpy_held *reversed(hacpy_held *list)
{
    hacpy_held *turned = NULL;
    while (list != NULL) {
        hacpy_held *next = list->next;
        list->next = turned;
        turned = list;
        list = next;
    }
    return turned;
}

/* Frees the list. The lock is held, and so is a reference of the link besides those of the list. */
static void free_unwanted(hacpy_link *link)
{
    hacpy_held *held = reversed(__atomic_exchange_n(&link->unwanted, NULL, __ATOMIC_ACQ_REL));
    while (held != NULL) {
        hacpy_held *next = held->next;
        held_delete(held);
        hacpy_link_unref(link);
        held = next;
    }
}

/* Frees the list unless somebody has the lock, who then does it in hacpy_link_unlock. */
static void try_free_unwanted(hacpy_link *link)
{
    while (__atomic_load_n(&link->unwanted, __ATOMIC_ACQUIRE) != NULL) {
        if (pthread_mutex_trylock(&link->lock) != 0)
            return;
        free_unwanted(link);
        pthread_mutex_unlock(&link->lock);
    }
}

hac_client *hacpy_link_lock(hacpy_link *link)
{
    pthread_mutex_lock(&link->lock);
    return link->client;
}

void hacpy_link_unlock(hacpy_link *link)
{
    hacpy_link_ref(link);
    free_unwanted(link);
    pthread_mutex_unlock(&link->lock);
    try_free_unwanted(link); /* what was put into the list between the two lines above */
    hacpy_link_unref(link);
}

hacpy_held *hacpy_held_new(hacpy_link *link)
{
    hacpy_held *held = calloc(1, sizeof(*held));
    if (held == NULL)
        return NULL;
    held->link = hacpy_link_ref(link);
    held->references = 1;
    return held;
}

hacpy_held *hacpy_held_ref(hacpy_held *held)
{
    __atomic_add_fetch(&held->references, 1, __ATOMIC_RELAXED);
    return held;
}

void hacpy_held_keep_progress(hacpy_held *held, const hac_job_options *options)
{
    if (options->progress != NULL)
        held->progress = hacpy_progress_ref(options->context);
}

void hacpy_held_unref(hacpy_held *held)
{
    if (held == NULL || __atomic_sub_fetch(&held->references, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    hacpy_link *link = held->link;
    if (!hacpy_link_is_ours(link))
        return;
    hacpy_link_ref(link);
    held->next = __atomic_load_n(&link->unwanted, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&link->unwanted, &held->next, held, true, __ATOMIC_RELEASE,
                                        __ATOMIC_RELAXED))
        ;
    try_free_unwanted(link);
    hacpy_link_unref(link);
}
