/* SPDX-License-Identifier: Apache-2.0 */
#include "mappings.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/cleanup.h"
#include "base/memfd.h"

/* The part of an idle buffer that stays mapped. The mapping keeps the memfd alive without a descriptor. */
enum { STUB_BYTES = 4096 };

void hac_mappings_init(hac_mappings *mappings)
{
    *mappings = (hac_mappings){.max_idle_mapped = HAC_IDLE_MAPPED_BYTES, .max_idle = HAC_IDLE_MAPPINGS};
    TAILQ_INIT(&mappings->used);
    TAILQ_INIT(&mappings->idle);
}

static uint64_t stub_of(const hac_mapping *mapping)
{
    return mapping->bytes < STUB_BYTES ? mapping->bytes : STUB_BYTES;
}

static void mapping_free(hac_mapping *mapping)
{
    if (mapping->address != NULL)
        hac_memfd_unmap(mapping->address, mapping->mapped);
    hac_close(mapping->fd);
    free(mapping);
}

static void leave_idle(hac_mappings *mappings, hac_mapping *mapping)
{
    TAILQ_REMOVE(&mappings->idle, mapping, in_list);
    mappings->n_idle--;
    mappings->idle_mapped -= mapping->mapped;
}

static void forget_idle(hac_mappings *mappings, hac_mapping *mapping)
{
    leave_idle(mappings, mapping);
    hac_id_table_remove(&mappings->by_id, &mapping->by_id);
    mapping_free(mapping);
}

void hac_mappings_clear(hac_mappings *mappings)
{
    hac_mapping *mapping;
    while ((mapping = TAILQ_FIRST(&mappings->idle)) != NULL)
        forget_idle(mappings, mapping);
    while ((mapping = TAILQ_FIRST(&mappings->used)) != NULL) {
        TAILQ_REMOVE(&mappings->used, mapping, in_list);
        mapping_free(mapping);
    }
    hac_id_table_clear(&mappings->by_id);
}

/* Resizes a mapping with mremap, which can grow a shared mapping without the descriptor. The caller must know
 * that the memfd has `bytes` bytes. */
static hac_status remap(hac_mapping *mapping, uint64_t bytes, hac_error *err)
{
    if (bytes == mapping->mapped)
        return HAC_OK;
    void *address = mremap(mapping->address, (size_t)mapping->mapped, (size_t)bytes, MREMAP_MAYMOVE);
    if (address == MAP_FAILED)
        return hac_fail_errno(err, HAC_NO_MEMORY, errno, "cannot map %" PRIu64 " bytes of pool memory",
                              bytes);
    mapping->address = address;
    mapping->mapped = bytes;
    return HAC_OK;
}

/* Closes the kept descriptor once the memfd can no longer grow. */
static void settle(hac_mapping *mapping)
{
    if (mapping->fd < 0)
        return;
    int seals = fcntl(mapping->fd, F_GET_SEALS);
    if (seals >= 0 && (seals & F_SEAL_GROW) != 0) {
        hac_close(mapping->fd);
        mapping->fd = -1;
    }
}

/* Handles hacd's report that a known memfd holds `bytes`. Trusts the report only up to the size that this
 * client has checked. */
static hac_status refresh(hac_mapping *mapping, uint64_t bytes, hac_error *err)
{
    if (bytes > mapping->bytes) {
        if (mapping->fd < 0)
            return hac_fail(err, HAC_PROTOCOL,
                            "hacd says that buffer %" PRIu32 " has grown, but its size was final",
                            hac_mapping_id(mapping));
        hac_status status = hac_memfd_check(mapping->fd, bytes, err);
        if (status != HAC_OK)
            return status;
        mapping->bytes = bytes;
    }
    settle(mapping);
    return remap(mapping, mapping->bytes, err);
}

static hac_status map_new(hac_mappings *mappings, uint64_t key, uint64_t bytes, int fd, hac_mapping **ret,
                          hac_error *err)
{
    hac_autoclose int owned = fd;
    hac_status status = hac_memfd_check(owned, bytes, err);
    if (status != HAC_OK)
        return status;
    hac_autofree hac_mapping *mapping = calloc(1, sizeof(*mapping));
    if (mapping == NULL)
        return hac_fail_no_memory(err);
    void *address;
    status = hac_memfd_map(owned, bytes, true, &address, err);
    if (status != HAC_OK)
        return status;
    status = hac_id_table_put(&mappings->by_id, &mapping->by_id, key, err);
    if (status != HAC_OK) {
        hac_memfd_unmap(address, bytes);
        return status;
    }
    mapping->address = address;
    mapping->bytes = mapping->mapped = bytes;
    mapping->fresh = true;
    mapping->fd = hac_steal_fd(&owned);
    settle(mapping);
    *ret = hac_steal_ptr(mapping);
    return HAC_OK;
}

static hac_status take_attached(hac_mappings *mappings, hac_mapping *known, const Hac__Client__Buffer *buffer,
                                hac_frame *frame, hac_mapping **ret, hac_error *err)
{
    hac_autoclose int fd = hac_frame_take_fd(frame, 0);
    if (fd < 0)
        return hac_fail(err, HAC_PROTOCOL, "hacd sent buffer %" PRIu32 " without its memory", buffer->buffer);
    if (known != NULL && known->users > 0)
        return hac_fail(err, HAC_PROTOCOL, "hacd sent other memory for buffer %" PRIu32 ", which is in use",
                        buffer->buffer);
    if (known != NULL) /* hacd reused the id for another memfd */
        forget_idle(mappings, known);
    return map_new(mappings, (uint64_t)buffer->buffer + 1, buffer->bytes, hac_steal_fd(&fd), ret, err);
}

hac_status hac_mappings_take(hac_mappings *mappings, const Hac__Client__Buffer *buffer, hac_frame *frame,
                             bool lend, hac_mapping **ret, hac_error *err)
{
    hac_mapping *mapping = NULL;
    hac_id_link *link = hac_id_table_find(&mappings->by_id, (uint64_t)buffer->buffer + 1);
    hac_mapping *known = link == NULL ? NULL : HAC_OWNER(link, hac_mapping, by_id);
    if (buffer->attached) {
        hac_status status = take_attached(mappings, known, buffer, frame, &mapping, err);
        if (status != HAC_OK)
            return status;
    } else if (known == NULL) {
        return hac_fail(err, HAC_PROTOCOL,
                        "hacd takes buffer %" PRIu32 " for one that this client has mapped", buffer->buffer);
    } else if (known->users > 0 && (lend || known->lent || buffer->bytes > known->bytes)) {
        return hac_fail(err, HAC_PROTOCOL, "hacd lent buffer %" PRIu32 " a second time", buffer->buffer);
    } else {
        hac_status status = refresh(known, buffer->bytes, err);
        if (status != HAC_OK)
            return status;
        mapping = known;
        if (mapping->users == 0)
            leave_idle(mappings, mapping);
    }
    if (mapping->users++ == 0)
        TAILQ_INSERT_TAIL(&mappings->used, mapping, in_list);
    mapping->lent = lend;
    *ret = mapping;
    return HAC_OK;
}

hac_status hac_mappings_grown(hac_mappings *mappings, const Hac__Client__Buffer *buffer, hac_frame *frame,
                              hac_error *err)
{
    hac_id_link *link = hac_id_table_find(&mappings->by_id, (uint64_t)buffer->buffer + 1);
    hac_mapping *mapping = link == NULL ? NULL : HAC_OWNER(link, hac_mapping, by_id);
    if (mapping == NULL || !mapping->lent)
        return hac_fail(err, HAC_PROTOCOL, "hacd grew buffer %" PRIu32 ", which is not in use",
                        buffer->buffer);
    if (buffer->attached) { /* hacd sent the same memfd again */
        hac_close(mapping->fd);
        mapping->fd = hac_frame_take_fd(frame, 0);
    }
    return refresh(mapping, buffer->bytes, err);
}

/* Enforces the limits on idle mappings, starting with the least recently used mapping. */
static void trim(hac_mappings *mappings)
{
    while (mappings->n_idle > mappings->max_idle)
        forget_idle(mappings, TAILQ_FIRST(&mappings->idle));
    hac_mapping *mapping = TAILQ_FIRST(&mappings->idle);
    while (mapping != NULL && mappings->idle_mapped > mappings->max_idle_mapped) {
        uint64_t before = mapping->mapped;
        if (remap(mapping, stub_of(mapping), NULL) == HAC_OK)
            mappings->idle_mapped -= before - mapping->mapped;
        mapping = TAILQ_NEXT(mapping, in_list);
    }
}

void hac_mappings_share(hac_mapping *mapping)
{
    mapping->users++;
}

void hac_mappings_drop(hac_mappings *mappings, hac_mapping *mapping)
{
    if (mapping == NULL || --mapping->users > 0)
        return;
    mapping->lent = mapping->fresh = false;
    settle(mapping); /* the first use fixes the size */
    TAILQ_REMOVE(&mappings->used, mapping, in_list);
    TAILQ_INSERT_TAIL(&mappings->idle, mapping, in_list);
    mappings->n_idle++;
    mappings->idle_mapped += mapping->mapped;
    trim(mappings);
}

hac_mapping *hac_mappings_containing(const hac_mappings *mappings, const void *address, uint64_t bytes)
{
    hac_mapping *mapping;
    uintptr_t at = (uintptr_t)address;
    TAILQ_FOREACH(mapping, &mappings->used, in_list)
    {
        uintptr_t start = (uintptr_t)mapping->address;
        if (mapping->lent && at >= start && at - start <= mapping->mapped &&
            bytes <= mapping->mapped - (at - start))
            return mapping;
    }
    return NULL;
}
