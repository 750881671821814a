/* SPDX-License-Identifier: Apache-2.0 */
#include "pool.h"

#include <assert.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/memfd.h"

#define PAGE_BYTES UINT64_C(4096)

void hac_pool_discard(int fd)
{
    /* A client that keeps the buffer mapped reads zeros from now on. It must not keep the pages. */
    (void)hac_memfd_empty(fd); /* buffer_free knows when this cannot work */
    hac_close(fd);
}

/* ---- reservations ---- */

void hac_reservation_begin(hac_user *user, hac_reservation *reservation)
{
    *reservation = (hac_reservation){.bytes = 0};
    hac_list_append(&user->reservations, &reservation->link);
}

void hac_reservation_end(hac_user *user, hac_reservation *reservation)
{
    hac_pool_buffer *buffer = NULL;
    hac_list_for_each (buffer, &user->buffers, hac_pool_buffer, link)
        if (buffer->reservation == reservation)
            hac_pool_unreserve(buffer);
    hac_list_remove(&reservation->link);
    reservation->bytes = 0;
}

void hac_pool_unreserve(hac_pool_buffer *buffer)
{
    if (buffer->reservation != NULL)
        buffer->reservation->held -= buffer->bytes;
    buffer->reservation = NULL;
}

/* Bytes that are reserved for others than `own`, and not in use. */
static uint64_t set_aside(const hac_user *user, const hac_reservation *own)
{
    uint64_t sum = 0;
    const hac_reservation *other = NULL;
    hac_list_for_each (other, &user->reservations, hac_reservation, link)
        sum += other != own && other->bytes > other->held ? other->bytes - other->held : 0;
    return sum;
}

uint64_t hac_pool_aside(const hac_user *user)
{
    return set_aside(user, NULL);
}

/* ---- buffers ---- */

/* Whether the buffer's pages will be free soon. A client that has the memfd of a growable buffer may have
 * sealed it against writing, and then it keeps the pages as long as it likes. */
static bool gives_pages_back(const hac_pool_buffer *buffer)
{
    /* no seal comes after this one */
    return !buffer->growable || hac_memfd_seal_size(buffer->fd, NULL) == HAC_OK;
}

static void buffer_free(hac_pool_buffer *buffer)
{
    hac_user *user = buffer->user;
    user->users->forget(user->users->context, buffer);
    hac_list_remove(&buffer->link);
    if (gives_pages_back(buffer))
        hac_user_release(user, HAC_SLOT_MEMORY, buffer->bytes);
    else
        hac_user_keep(user, buffer->bytes);
    hac_user_release(user, HAC_SLOT_DESCRIPTORS, 1);
    if (user->users->discard != NULL)
        user->users->discard(user->users->context, buffer->fd);
    else
        hac_pool_discard(buffer->fd);
    free(buffer);
}

static uint64_t round_up(uint64_t bytes)
{
    if (bytes == 0)
        bytes = 1;
    return (bytes + PAGE_BYTES - 1) & ~(PAGE_BYTES - 1);
}

/* The smallest idle buffer that fits and wastes at most a quarter. */
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

uint64_t hac_pool_idle_bytes(const hac_user *user)
{
    uint64_t bytes = 0;
    const hac_pool_buffer *buffer = NULL;
    hac_list_for_each (buffer, &user->idle, hac_pool_buffer, link)
        bytes += buffer->bytes;
    return bytes;
}

/* What would become free if the user's idle buffers were freed. */
static uint64_t idle_of(const hac_user *user, hacd_slot slot)
{
    if (slot == HAC_SLOT_MEMORY)
        return hac_pool_idle_bytes(user);
    uint64_t count = 0;
    for (const hac_link *link = user->idle.next; link != &user->idle; link = link->next)
        count++;
    return count;
}

static uint64_t others_idle(const hac_user *user, hacd_slot slot)
{
    uint64_t sum = 0;
    const hac_user *other = NULL;
    hac_list_for_each (other, &user->users->list, hac_user, link)
        sum += other != user && !other->of_daemon ? idle_of(other, slot) : 0;
    return sum;
}

static bool free_oldest_idle(hac_user *user)
{
    if (hac_list_empty(&user->idle))
        return false;
    buffer_free(hac_container_of(user->idle.next, hac_pool_buffer, link));
    return true;
}

/* Makes room for a charge by freeing idle buffers: first the user's own, oldest first, then those of others.
 */
static void make_room(hac_user *user, hacd_slot slot, uint64_t amount)
{
    hac_user *other = NULL;
    while (hac_user_available(user, slot, 0, 0) < amount && free_oldest_idle(user))
        ;
    hac_list_for_each (other, &user->users->list, hac_user, link)
        while (hac_user_available(user, slot, 0, 0) < amount && free_oldest_idle(other))
            ;
}

static hac_status charge_on(hac_user *user, const hac_reservation *reservation, hacd_slot slot,
                            uint64_t amount, hac_error *err)
{
    uint64_t available = hac_user_available(user, slot, idle_of(user, slot), others_idle(user, slot));
    uint64_t aside = slot == HAC_SLOT_MEMORY ? set_aside(user, reservation) : 0;
    if (amount <= available && (aside > available || amount > available - aside))
        return hac_user_refuse_aside(user, slot, amount, aside, err);
    if (amount <= available)
        make_room(user, slot, amount);
    return hac_user_charge(user, slot, amount, err);
}

hac_status hac_pool_charge(hac_user *user, hacd_slot slot, uint64_t amount, hac_error *err)
{
    return charge_on(user, NULL, slot, amount, err);
}

static hac_status create(hac_user *user, const hac_reservation *reservation, uint64_t bytes, bool growable,
                         hac_pool_buffer **ret, hac_error *err)
{
    hac_autofree hac_pool_buffer *buffer = calloc(1, sizeof *buffer);
    if (buffer == NULL)
        return hac_fail_no_memory(err);
    hac_status status = hac_pool_charge(user, HAC_SLOT_DESCRIPTORS, 1, err);
    if (status != HAC_OK)
        return status;
    status = charge_on(user, reservation, HAC_SLOT_MEMORY, bytes, err);
    if (status == HAC_OK) {
        status = hac_memfd_create("hac-pool", bytes, growable, &buffer->fd, err);
        if (status != HAC_OK)
            hac_user_release(user, HAC_SLOT_MEMORY, bytes);
    }
    if (status != HAC_OK) {
        hac_user_release(user, HAC_SLOT_DESCRIPTORS, 1);
        return status;
    }
    buffer->user = user;
    buffer->id = user->users->next_buffer++;
    buffer->bytes = bytes;
    buffer->growable = growable;
    *ret = hac_steal_ptr(buffer);
    return HAC_OK;
}

hac_status hac_pool_alloc(hac_user *user, uint64_t bytes, bool growable, hac_pool_buffer **ret,
                          hac_error *err)
{
    return hac_pool_alloc_on(user, NULL, bytes, growable, ret, err);
}

hac_status hac_pool_alloc_on(hac_user *user, hac_reservation *reservation, uint64_t bytes, bool growable,
                             hac_pool_buffer **ret, hac_error *err)
{
    if (bytes > UINT64_MAX / 2)
        return hac_fail(err, HAC_INVALID, "a buffer of %llu bytes is too large", (unsigned long long)bytes);
    bytes = round_up(bytes);
    hac_pool_buffer *buffer = growable ? NULL : find_idle(user, bytes);
    if (buffer != NULL && buffer->bytes > hac_pool_available_to(user, reservation))
        buffer = NULL; /* the excess would come out of reserved memory */
    if (buffer == NULL) {
        hac_status status = create(user, reservation, bytes, growable, &buffer, err);
        if (status != HAC_OK)
            return status;
    } else {
        hac_list_remove(&buffer->link);
    }
    buffer->holders = 1;
    buffer->whole = false;
    buffer->reservation = reservation;
    if (reservation != NULL)
        reservation->held += buffer->bytes;
    hac_list_append(&user->buffers, &buffer->link);
    *ret = buffer;
    return HAC_OK;
}

uint64_t hac_pool_available(const hac_user *user)
{
    return hac_pool_available_to(user, NULL);
}

uint64_t hac_pool_available_to(const hac_user *user, const hac_reservation *reservation)
{
    uint64_t available = hac_user_available(user, HAC_SLOT_MEMORY, hac_pool_idle_bytes(user),
                                            others_idle(user, HAC_SLOT_MEMORY));
    uint64_t aside = set_aside(user, reservation);
    return aside < available ? available - aside : 0;
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
    hac_status status = charge_on(buffer->user, buffer->reservation, HAC_SLOT_MEMORY, more, err);
    if (status != HAC_OK)
        return status;
    status = hac_memfd_grow(buffer->fd, bytes, err);
    if (status == HAC_OK)
        buffer->bytes = bytes;
    if (status == HAC_OK && buffer->reservation != NULL)
        buffer->reservation->held += more;
    if (status != HAC_OK)
        hac_user_release(buffer->user, HAC_SLOT_MEMORY, more);
    return status;
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
    hac_pool_unreserve(buffer);
    buffer->passing = false;
    hac_list_remove(&buffer->link);
    buffer->idle_since_ns = hac_now_ns();
    hac_list_append(&buffer->user->idle, &buffer->link);
    if (buffer->growable) /* its size is not sealed, so it cannot be recycled */
        buffer_free(buffer);
}

hac_pool_buffer *hac_pool_find(hac_user *user, uint32_t id)
{
    hac_pool_buffer *buffer = NULL;
    hac_list_for_each (buffer, &user->buffers, hac_pool_buffer, link) {
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
        kept += user->held[HAC_SLOT_MEMORY];
        if (user->references == 0 && user->held[HAC_SLOT_MEMORY] == 0 && user->resting == 0)
            hac_user_free(user);
    }
    return kept;
}
