/* SPDX-License-Identifier: Apache-2.0 */
#include "memory.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "base/limits.h"
#include "base/memfd.h"

/* An open-addressing table from number to item. Deletion moves followers back, so there are no tombstones. */
typedef struct memory_item {
    uint64_t key;
    uint8_t *data; /* buffers; NULL: it could not be mapped */
    uint64_t bytes;
    int fd;     /* descriptors, and unmapped buffers */
    bool whole; /* buffers */
    bool used;
} memory_item;

typedef struct item_table {
    memory_item *items;
    size_t capacity, count; /* capacity: a power of two, or 0 */
} item_table;

struct hac_memory {
    hac_device *device;
    item_table buffers, descriptors;
};

static size_t slot_of(const item_table *t, uint64_t key)
{
    return (size_t)((key * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & (t->capacity - 1);
}

static memory_item *find(const item_table *t, uint64_t key)
{
    if (t->capacity == 0)
        return NULL;
    for (size_t i = slot_of(t, key); t->items[i].used; i = (i + 1) & (t->capacity - 1))
        if (t->items[i].key == key)
            return &t->items[i];
    return NULL;
}

static void place(item_table *t, const memory_item *new_item)
{
    size_t i = slot_of(t, new_item->key);
    while (t->items[i].used)
        i = (i + 1) & (t->capacity - 1);
    t->items[i] = *new_item;
    t->items[i].used = true;
    t->count++;
}

static hac_status make_room(item_table *t, hac_error *err)
{
    if (t->count * 2 < t->capacity)
        return HAC_OK;
    item_table larger = {.capacity = t->capacity == 0 ? 64 : t->capacity * 2};
    larger.items = calloc(larger.capacity, sizeof *larger.items);
    if (larger.items == NULL)
        return hac_fail_no_memory(err);
    for (size_t i = 0; i < t->capacity; i++)
        if (t->items[i].used)
            place(&larger, &t->items[i]);
    free(t->items);
    *t = larger;
    return HAC_OK;
}

static void remove_item(item_table *t, memory_item *gone)
{
    size_t hole = (size_t)(gone - t->items);
    for (size_t i = (hole + 1) & (t->capacity - 1); t->items[i].used; i = (i + 1) & (t->capacity - 1)) {
        size_t home = slot_of(t, t->items[i].key);
        /* it may move into the hole unless its home lies between the hole and its slot */
        if (((i - home) & (t->capacity - 1)) >= ((i - hole) & (t->capacity - 1))) {
            t->items[hole] = t->items[i];
            hole = i;
        }
    }
    t->items[hole].used = false;
    t->count--;
}

static void release(const hac_memory *memory, memory_item *i)
{
    if (i->data != NULL && memory->device != NULL)
        hac_device_remove_region(memory->device, i->data);
    if (i->data != NULL)
        hac_memfd_unmap(i->data, i->bytes);
    else
        hac_close(i->fd);
}

static void clear(const hac_memory *memory, item_table *t)
{
    for (size_t i = 0; i < t->capacity; i++)
        if (t->items[i].used)
            release(memory, &t->items[i]);
    free(t->items);
}

hac_status hac_memory_new(hac_device *device, hac_memory **ret, hac_error *err)
{
    hac_memory *memory = calloc(1, sizeof *memory);
    if (memory == NULL)
        return hac_fail_no_memory(err);
    memory->device = device;
    *ret = memory;
    return HAC_OK;
}

void hac_memory_free(hac_memory *memory)
{
    if (memory == NULL)
        return;
    clear(memory, &memory->buffers);
    clear(memory, &memory->descriptors);
    free(memory);
}

static hac_status may_add(item_table *t, uint64_t key, size_t max, const char *what, hac_error *err)
{
    if (find(t, key) != NULL)
        return hac_fail(err, HAC_PROTOCOL, "%s %llu exists already", what, (unsigned long long)key);
    if (t->count >= max)
        return hac_fail(err, HAC_REFUSED, "more than %zu %ss", max, what);
    return make_room(t, err);
}

static hac_status map(const hac_memory *memory, memory_item *buffer, hac_error *err)
{
    void *data = NULL;
    hac_status status = hac_memfd_map(buffer->fd, buffer->bytes, true, &data, err);
    if (status != HAC_OK)
        return status;
    if (buffer->whole)
        hac_memfd_take_large_pages(data, buffer->bytes);
    if (memory->device != NULL)
        hac_device_add_region(memory->device, data, buffer->bytes);
    buffer->data = data;
    hac_close(buffer->fd);
    buffer->fd = -1;
    return HAC_OK;
}

hac_status hac_memory_add_buffer(hac_memory *memory, uint32_t buffer, uint64_t bytes, bool whole,
                                 int fd_taken, hac_error *err)
{
    hac_autoclose int fd = fd_taken;
    hac_status status = may_add(&memory->buffers, buffer, HAC_MEMORY_MAX_BUFFERS, "buffer", err);
    if (status == HAC_OK)
        status = hac_memfd_check(fd, bytes, err);
    if (status != HAC_OK)
        return status;
    place(&memory->buffers,
          &(memory_item){.key = buffer, .bytes = bytes, .fd = hac_steal_fd(&fd), .whole = whole});
    return map(memory, find(&memory->buffers, buffer), err);
}

void hac_memory_remove_buffer(hac_memory *memory, uint32_t buffer)
{
    memory_item *found = find(&memory->buffers, buffer);
    if (found == NULL)
        return;
    release(memory, found);
    remove_item(&memory->buffers, found);
}

hac_status hac_memory_add_descriptor(hac_memory *memory, uint64_t descriptor, int fd_taken, hac_error *err)
{
    hac_autoclose int fd = fd_taken;
    hac_status status =
        may_add(&memory->descriptors, descriptor, HAC_MEMORY_MAX_DESCRIPTORS, "descriptor", err);
    if (status == HAC_OK)
        place(&memory->descriptors, &(memory_item){.key = descriptor, .fd = hac_steal_fd(&fd)});
    return status;
}

void hac_memory_remove_descriptor(hac_memory *memory, uint64_t descriptor)
{
    memory_item *found = find(&memory->descriptors, descriptor);
    if (found == NULL)
        return;
    release(memory, found);
    remove_item(&memory->descriptors, found);
}

hac_status hac_memory_span(hac_memory *memory, uint32_t buffer, uint64_t offset, uint64_t bytes,
                           hac_span *ret, hac_error *err)
{
    memory_item *found = find(&memory->buffers, buffer);
    uint64_t end;
    if (found == NULL)
        return hac_fail(err, HAC_INVALID, "buffer %u is not registered", buffer);
    if (offset % HAC_ALIGNMENT != 0)
        return hac_fail(err, HAC_INVALID, "offset %llu is not a multiple of %d", (unsigned long long)offset,
                        HAC_ALIGNMENT);
    if (__builtin_add_overflow(offset, bytes, &end) || end > found->bytes)
        return hac_fail(err, HAC_INVALID, "%llu bytes from %llu on are not within buffer %u of %llu bytes",
                        (unsigned long long)bytes, (unsigned long long)offset, buffer,
                        (unsigned long long)found->bytes);
    hac_status status = found->data == NULL ? map(memory, found, err) : HAC_OK;
    if (status != HAC_OK)
        return status;
    *ret = (hac_span){.data = found->data + offset, .bytes = bytes};
    return HAC_OK;
}

hac_status hac_memory_descriptor(const hac_memory *memory, uint64_t descriptor, int *ret_fd, hac_error *err)
{
    const memory_item *found = find(&memory->descriptors, descriptor);
    if (found == NULL)
        return hac_fail(err, HAC_INVALID, "descriptor %llu is not registered",
                        (unsigned long long)descriptor);
    *ret_fd = found->fd;
    return HAC_OK;
}
