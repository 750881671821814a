/* SPDX-License-Identifier: Apache-2.0 */
#include "window.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/failpoint.h"
#include "base/io.h"
#include "scan.h"

/* Bytes that are first read beyond a chunk's end, where its last record ends. */
#define SLACK ((size_t)4096)

hac_status hac_place_read(const hac_source_place *place, uint64_t position, uint8_t *ret, size_t bytes,
                          hac_error *err)
{
    if (place->fd < 0) {
        memcpy(ret, place->memory + position, bytes);
        return HAC_OK;
    }
    uint64_t at = place->fd_offset + position, done = 0;
    int errnum = hac_pread_all(place->fd, ret, bytes, at, &done, HAC_FAILPOINT_NAME("query.read"));
    if (errnum != 0)
        return hac_fail_errno(err, HAC_FAILED, errnum, "the input cannot be read at byte %llu",
                              (unsigned long long)(at + done));
    if (done == bytes)
        return HAC_OK;
    if (place->split)
        return hac_fail(err, HAC_FAILED,
                        "the input ended after %llu bytes: it was truncated while it was read",
                        (unsigned long long)(at + done));
    return hac_fail(err, HAC_FAILED,
                    "the input ended after %llu of %llu bytes: it was truncated while it was read",
                    (unsigned long long)(position + done), (unsigned long long)place->bytes);
}

static uint8_t *allocate(size_t capacity)
{
    size_t bytes = (capacity + HAC_SCAN_PAD + 63) / 64 * 64;
    uint8_t *data = aligned_alloc(64, bytes);
    if (data != NULL)
        memset(data + capacity, 0, bytes - capacity);
    return data;
}

hac_status hac_window_init(hac_window *window, const hac_source_place *place, hac_error *err)
{
    uint64_t capacity = place->bytes < HAC_WINDOW_BLOCK ? place->bytes : HAC_WINDOW_BLOCK + SLACK;
    *window = (hac_window){.place = place,
                           .capacity = (size_t)(capacity > 64 ? capacity : 64),
                           .max = (size_t)HAC_RECORD_MAX + 1};
    window->data = allocate(window->capacity);
    return window->data != NULL ? HAC_OK : hac_fail_no_memory(err);
}

void hac_window_clear(hac_window *window)
{
    free(window->data);
    window->data = NULL;
    window->bytes = window->capacity = 0;
}

void hac_window_seek(hac_window *window, uint64_t position)
{
    window->base = position;
    window->bytes = 0;
}

bool hac_window_at_end(const hac_window *window)
{
    return window->base + window->bytes >= window->place->bytes;
}

static hac_status grow(hac_window *window, size_t capacity, hac_error *err)
{
    uint8_t *data = allocate(capacity);
    if (data == NULL)
        return hac_fail_no_memory(err);
    memcpy(data, window->data, window->bytes);
    free(window->data);
    window->data = data;
    window->capacity = capacity;
    return HAC_OK;
}

/* Bytes to read next: a block; or, if a record already has several blocks, as many bytes again, because the
 * record is scanned from its start each time. */
static uint64_t wanted(const hac_window *window, uint64_t until)
{
    uint64_t position = window->base + window->bytes, left = window->place->bytes - position;
    uint64_t want = window->bytes > SLACK ? window->bytes : SLACK;
    uint64_t max = window->bytes > HAC_WINDOW_BLOCK ? window->bytes : HAC_WINDOW_BLOCK;
    if (position < until && until - position + SLACK > want)
        want = until - position + SLACK;
    if (want > max)
        want = max;
    if (want > window->max - window->bytes)
        want = window->max - window->bytes;
    return want < left ? want : left;
}

hac_status hac_window_refill(hac_window *window, size_t drop, uint64_t until, hac_error *err)
{
    window->bytes -= drop;
    window->base += drop;
    if (drop > 0)
        memmove(window->data, window->data + drop, window->bytes);
    uint64_t want = wanted(window, until);
    hac_status status = HAC_OK;
    if (window->bytes + want > window->capacity) {
        if (window->bytes > window->capacity / 2 &&
            (status = grow(window, window->capacity * 2, err)) != HAC_OK)
            return status;
        if (want > window->capacity - window->bytes)
            want = window->capacity - window->bytes;
    }
    uint64_t from = hac_now_ns();
    status = hac_place_read(window->place, window->base + window->bytes, window->data + window->bytes,
                            (size_t)want, err);
    hac_stage_add(&window->reading, from, hac_now_ns(), 0);
    if (status == HAC_OK)
        window->bytes += (size_t)want;
    return status;
}
