/* SPDX-License-Identifier: Apache-2.0 */
#include "deferred_close.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "blocking_work.h"

/* Freeing this much memory takes milliseconds. */
#define LARGE_BYTES (1 << 24)

#define UNREAD_MAX 64

typedef struct waiting_fd {
    int fd;
    uint64_t user;
    bool socket; /* discard unread messages first */
} waiting_fd;

/* All members are protected by the lock. */
struct hac_deferred_close {
    pthread_mutex_t lock;
    pthread_cond_t some;
    waiting_fd *waiting; /* in order of arrival */
    size_t n, capacity;
    uint64_t at_work[HAC_DEFERRED_CLOSE_THREADS]; /* the user whose descriptor each thread is closing */
    unsigned n_at_work, threads, idle;
    bool leave;
};

hac_status hac_deferred_close_new(hac_deferred_close **ret, hac_error *err)
{
    hac_deferred_close *c = calloc(1, sizeof *c);
    if (c == NULL)
        return hac_fail_no_memory(err);
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->some, NULL);
    *ret = c;
    return HAC_OK;
}

static void destroy(hac_deferred_close *c)
{
    pthread_mutex_destroy(&c->lock);
    pthread_cond_destroy(&c->some);
    free(c->waiting);
    free(c);
}

/* Only memfds have seals, and their size is known without asking a file server. */
static bool is_small_memory(int fd)
{
    struct stat info;
    return fcntl(fd, F_GET_SEALS) >= 0 && fstat(fd, &info) == 0 && info.st_blocks < LARGE_BYTES / 512;
}

static void close_entry(waiting_fd e)
{
    char byte;
    for (int i = 0; e.socket && i < UNREAD_MAX && recv(e.fd, &byte, sizeof byte, MSG_DONTWAIT) > 0; i++)
        ;
    hac_close(e.fd);
}

static unsigned at_work(const hac_deferred_close *c, uint64_t user)
{
    unsigned found = 0;
    for (unsigned i = 0; i < c->n_at_work; i++)
        found += c->at_work[i] == user;
    return found;
}

/* Index of the first descriptor whose user has a thread left; n: none. */
static size_t find_next(const hac_deferred_close *c)
{
    size_t i = 0;
    while (i < c->n && at_work(c, c->waiting[i].user) >= HAC_DEFERRED_CLOSE_PER_USER)
        i++;
    return i;
}

static void *serve(void *argument);

static void start_thread(hac_deferred_close *c)
{
    pthread_t thread;
    sigset_t before;
    hac_block_signals(&before);
    bool started = pthread_create(&thread, NULL, serve, c) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (started)
        pthread_detach(thread);
    c->threads += started;
}

/* Makes sure that a thread that does not hang is available. Returns false if there is no thread at all. */
static bool find_thread(hac_deferred_close *c)
{
    if (find_next(c) == c->n)
        return true;
    if (c->idle > 0)
        pthread_cond_signal(&c->some);
    else if (c->threads < HAC_DEFERRED_CLOSE_THREADS)
        start_thread(c);
    return c->threads > 0;
}

/* Called with the lock held; releases it while close() runs. */
static void close_one(hac_deferred_close *c, size_t i)
{
    waiting_fd e = c->waiting[i];
    memmove(&c->waiting[i], &c->waiting[i + 1], (--c->n - i) * sizeof *c->waiting);
    c->at_work[c->n_at_work++] = e.user;
    (void)find_thread(c);
    pthread_mutex_unlock(&c->lock);
    close_entry(e);
    pthread_mutex_lock(&c->lock);
    unsigned mine = 0;
    while (c->at_work[mine] != e.user)
        mine++;
    c->at_work[mine] = c->at_work[--c->n_at_work];
}

/* One thread stays alive when there is nothing to do. */
static void *serve(void *argument)
{
    hac_deferred_close *c = argument;
    pthread_mutex_lock(&c->lock);
    for (;;) {
        size_t i = find_next(c);
        if (i < c->n) {
            close_one(c, i);
            continue;
        }
        if (c->leave || c->idle > 0)
            break;
        c->idle++;
        pthread_cond_wait(&c->some, &c->lock);
        c->idle--;
    }
    bool last = --c->threads == 0 && c->leave;
    pthread_mutex_unlock(&c->lock);
    if (last)
        destroy(c);
    return NULL;
}

/* Returns false if the descriptor was not accepted. */
static bool add(hac_deferred_close *c, waiting_fd e)
{
    if (c->n == c->capacity) {
        size_t capacity = c->capacity == 0 ? 64 : 2 * c->capacity;
        waiting_fd *waiting = realloc(c->waiting, capacity * sizeof *waiting);
        if (waiting == NULL)
            return false;
        c->waiting = waiting;
        c->capacity = capacity;
    }
    c->waiting[c->n++] = e;
    if (find_thread(c))
        return true;
    c->n--;
    return false;
}

static void close_later(hac_deferred_close *c, waiting_fd e)
{
    bool taken = false;
    if (c != NULL) {
        pthread_mutex_lock(&c->lock);
        taken = add(c, e);
        pthread_mutex_unlock(&c->lock);
    }
    if (!taken)
        close_entry(e);
}

void hac_deferred_close_fd(hac_fd_owner owner, int fd)
{
    if (fd >= 0)
        close_later(is_small_memory(fd) ? NULL : owner.closer, (waiting_fd){fd, owner.user, false});
}

void hac_deferred_close_socket(hac_fd_owner owner, int fd)
{
    close_later(owner.closer, (waiting_fd){fd, owner.user, true});
}

size_t hac_deferred_close_pending(hac_deferred_close *c, uint64_t user)
{
    pthread_mutex_lock(&c->lock);
    size_t found = at_work(c, user);
    for (size_t i = 0; i < c->n; i++)
        found += c->waiting[i].user == user;
    pthread_mutex_unlock(&c->lock);
    return found;
}

void hac_deferred_close_free(hac_deferred_close *c)
{
    if (c == NULL)
        return;
    pthread_mutex_lock(&c->lock);
    c->leave = true;
    bool last = c->threads == 0;
    pthread_cond_broadcast(&c->some);
    pthread_mutex_unlock(&c->lock);
    if (last)
        destroy(c);
}
