/* SPDX-License-Identifier: Apache-2.0 */
#include "pool.h"

#include <assert.h>
#include <fcntl.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/memfd.h"

#define PAGE_BYTES UINT64_C(4096)

void hac_users_init(hac_users *users, const hac_user_limits *limits,
                    void (*forget)(void *context, hac_pool_buffer *buffer), void *context)
{
    hac_list_init(&users->list);
    users->limits = *limits;
    users->next_buffer = 1;
    users->forget = forget;
    users->discard = NULL;
    users->context = context;
}

void hac_pool_discard(int fd, uint64_t bytes)
{
    /* A client that keeps it mapped reads zeros from here on; it must not keep the pages. */
    (void)fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, (off_t)bytes);
    hac_close(fd);
}

static void buffer_free(hac_pool_buffer *buffer)
{
    hac_user *user = buffer->user;
    user->users->forget(user->users->context, buffer);
    hac_list_remove(&buffer->link);
    user->memory -= buffer->bytes;
    user->buffers--;
    if (user->users->discard != NULL)
        user->users->discard(user->users->context, buffer->fd, buffer->bytes);
    else
        hac_pool_discard(buffer->fd, buffer->bytes);
    free(buffer);
}

static void free_idle(hac_user *user)
{
    while (!hac_list_empty(&user->idle))
        buffer_free(hac_container_of(user->idle.next, hac_pool_buffer, link));
}

static void user_free(hac_user *user)
{
    free_idle(user);
    assert(hac_list_empty(&user->held));
    assert(user->memory == 0 && user->buffers == 0 && user->connections == 0);
    assert(user->jobs == 0 && user->descriptors == 0 && user->active_jobs == 0);
    hac_list_remove(&user->link);
    free(user);
}

void hac_users_deinit(hac_users *users)
{
    hac_user *user = NULL;
    hac_list_for_each (user, &users->list, hac_user, link) {
        assert(user->references == 0);
        user_free(user);
    }
}

hac_status hac_user_get(hac_users *users, uid_t uid, hac_user **ret, hac_error *err)
{
    hac_user *user = NULL;
    hac_list_for_each (user, &users->list, hac_user, link) {
        if (user->uid == uid) {
            user->references++;
            *ret = user;
            return HAC_OK;
        }
    }
    user = calloc(1, sizeof *user);
    if (user == NULL)
        return hac_fail_no_memory(err);
    user->users = users;
    user->uid = uid;
    user->references = 1;
    hac_list_init(&user->held);
    hac_list_init(&user->idle);
    hac_list_append(&users->list, &user->link);
    *ret = user;
    return HAC_OK;
}

void hac_user_ref(hac_user *user)
{
    user->references++;
}

void hac_user_unref(hac_user *user)
{
    assert(user->references > 0);
    /* The pool stays warm after the last reference; hac_pool_trim frees it and then the user. */
    user->references--;
}

static uint64_t round_up(uint64_t bytes)
{
    if (bytes == 0)
        bytes = 1;
    return (bytes + PAGE_BYTES - 1) & ~(PAGE_BYTES - 1);
}

/* The smallest idle buffer that fits and of which at least three quarters are used. */
static hac_pool_buffer *find_idle(hac_user *user, uint64_t bytes)
{
    hac_pool_buffer *best = NULL, *buffer = NULL;
    hac_list_for_each (buffer, &user->idle, hac_pool_buffer, link) {
        bool fits = buffer->bytes >= bytes && buffer->bytes - bytes <= buffer->bytes / 4;
        if (fits && (best == NULL || buffer->bytes < best->bytes))
            best = buffer;
    }
    return best;
}

static hac_status refuse(hac_user *user, uint64_t bytes, hac_error *err)
{
    return hac_fail(err, HAC_REFUSED,
                    "%llu MiB more would exceed this user's memory limit of %llu MiB (%llu MiB in use); free "
                    "buffers or results, or try again when other jobs have ended",
                    (unsigned long long)(bytes >> 20), (unsigned long long)(user->users->limits.memory >> 20),
                    (unsigned long long)(user->memory >> 20));
}

/* Makes room for `bytes` more within the user's limit, at the cost of idle buffers, oldest first. */
static hac_status admit(hac_user *user, uint64_t bytes, hac_error *err)
{
    uint64_t limit = user->users->limits.memory;
    if (bytes > limit)
        return refuse(user, bytes, err);
    while (user->memory > limit - bytes && !hac_list_empty(&user->idle))
        buffer_free(hac_container_of(user->idle.next, hac_pool_buffer, link));
    return user->memory > limit - bytes ? refuse(user, bytes, err) : HAC_OK;
}

static hac_status create(hac_user *user, uint64_t bytes, bool growable, hac_pool_buffer **ret, hac_error *err)
{
    if (user->buffers >= user->users->limits.buffers)
        return hac_fail(err, HAC_REFUSED, "this user already holds %u buffers; free some", user->buffers);
    hac_status status = admit(user, bytes, err);
    if (status != HAC_OK)
        return status;
    hac_autofree hac_pool_buffer *buffer = calloc(1, sizeof *buffer);
    if (buffer == NULL)
        return hac_fail_no_memory(err);
    status = hac_memfd_create("hac-pool", bytes, growable, &buffer->fd, err);
    if (status != HAC_OK)
        return status;
    buffer->user = user;
    buffer->id = user->users->next_buffer++;
    buffer->bytes = bytes;
    buffer->growable = growable;
    user->memory += bytes;
    user->buffers++;
    *ret = hac_steal_ptr(buffer);
    return HAC_OK;
}

hac_status hac_pool_alloc(hac_user *user, uint64_t bytes, bool growable, hac_pool_buffer **ret,
                          hac_error *err)
{
    if (bytes > UINT64_MAX / 2)
        return hac_fail(err, HAC_INVALID, "a buffer of %llu bytes is too large", (unsigned long long)bytes);
    bytes = round_up(bytes);
    hac_pool_buffer *buffer = growable ? NULL : find_idle(user, bytes);
    if (buffer == NULL) {
        hac_status status = create(user, bytes, growable, &buffer, err);
        if (status != HAC_OK)
            return status;
    } else {
        hac_list_remove(&buffer->link);
    }
    buffer->holders = 1;
    hac_list_append(&user->held, &buffer->link);
    *ret = buffer;
    return HAC_OK;
}

uint64_t hac_pool_room(const hac_user *user)
{
    uint64_t held = 0, limit = user->users->limits.memory;
    const hac_pool_buffer *buffer = NULL;
    hac_list_for_each (buffer, &user->held, hac_pool_buffer, link)
        held += buffer->bytes;
    return held < limit ? limit - held : 0;
}

hac_status hac_pool_grow(hac_pool_buffer *buffer, uint64_t bytes, hac_error *err)
{
    if (!buffer->growable)
        return hac_fail(err, HAC_INVALID, "buffer %u cannot grow: it was not made growable, or a job uses it",
                        buffer->id);
    if (bytes > UINT64_MAX / 2)
        return hac_fail(err, HAC_INVALID, "a buffer of %llu bytes is too large", (unsigned long long)bytes);
    bytes = round_up(bytes);
    if (bytes <= buffer->bytes)
        return HAC_OK;
    uint64_t more = bytes - buffer->bytes;
    hac_status status = admit(buffer->user, more, err);
    if (status == HAC_OK)
        status = hac_memfd_grow(buffer->fd, bytes, err);
    if (status != HAC_OK)
        return status;
    buffer->user->memory += more;
    buffer->bytes = bytes;
    return HAC_OK;
}

hac_status hac_pool_seal(hac_pool_buffer *buffer, hac_error *err)
{
    if (!buffer->growable)
        return HAC_OK;
    hac_status status = hac_memfd_seal_size(buffer->fd, err);
    if (status == HAC_OK)
        buffer->growable = false;
    return status;
}

void hac_pool_hold(hac_pool_buffer *buffer)
{
    buffer->holders++;
}

void hac_pool_release(hac_pool_buffer *buffer)
{
    assert(buffer->holders > 0);
    if (--buffer->holders > 0)
        return;
    hac_list_remove(&buffer->link);
    buffer->idle_since_ns = hac_now_ns();
    hac_list_append(&buffer->user->idle, &buffer->link);
    if (buffer->growable) /* its size is not sealed: not for recycling */
        buffer_free(buffer);
}

hac_pool_buffer *hac_pool_find(hac_user *user, uint32_t id)
{
    hac_pool_buffer *buffer = NULL;
    hac_list_for_each (buffer, &user->held, hac_pool_buffer, link) {
        if (buffer->id == id)
            return buffer;
    }
    return NULL;
}

uint64_t hac_pool_trim(hac_users *users, double seconds)
{
    uint64_t now = hac_now_ns(), kept = 0;
    hac_user *user = NULL;
    hac_list_for_each (user, &users->list, hac_user, link) {
        while (!hac_list_empty(&user->idle)) {
            hac_pool_buffer *oldest = hac_container_of(user->idle.next, hac_pool_buffer, link);
            if ((double)(now - oldest->idle_since_ns) * 1e-9 < seconds)
                break;
            buffer_free(oldest);
        }
        kept += user->memory;
        if (user->references == 0 && user->memory == 0)
            user_free(user);
    }
    return kept;
}
