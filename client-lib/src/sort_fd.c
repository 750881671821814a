/* SPDX-License-Identifier: Apache-2.0 */
/* hac_sort_fd: files go to hacd as descriptors, small ones in the message, streams are read into pool memory.
 */
#include "sort.h"

#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>

#include "base/text.h"
#include "base/type.h"

#define STREAM_FIRST_BYTES (UINT64_C(1) << 20)
#define PIPE_BYTES         (1 << 20) /* a pipe of the default 64 KiB moves a third as much a second */
#define READ_MOST          (UINT64_C(1) << 30)

/* What is read, and how messages call it. */
typedef struct source {
    int fd;
    uint64_t offset, items; /* items UINT64_MAX: to the end */
    char name[256];
    size_t key_bytes;
    const char *type;
} source;

HAC_DEFINE_CLEANUP(hac_buffer *, hac_buffer_free)

/* ---- files ---- */

static hac_status fail_odd(const source *s, uint64_t bytes, hac_error *err)
{
    if (s->offset > 0)
        return hac_fail(err, HAC_FAILED,
                        "%s has %" PRIu64 " bytes from byte %" PRIu64 " on, not a multiple of %zu (%s)",
                        s->name, bytes, s->offset, s->key_bytes, s->type);
    return hac_fail(err, HAC_FAILED, "%s is %" PRIu64 " bytes, not a multiple of %zu (%s)", s->name, bytes,
                    s->key_bytes, s->type);
}

static hac_status fail_short(const source *s, uint64_t bytes, hac_error *err)
{
    return hac_fail(err, HAC_FAILED,
                    "%s is %" PRIu64 " bytes, too short for %" PRIu64 " keys (%s) from byte %" PRIu64 " on",
                    s->name, bytes, s->items, s->type, s->offset);
}

/* How many bytes of keys a file of `size` bytes has. */
static hac_status file_range(const source *s, uint64_t size, uint64_t *ret_bytes, hac_error *err)
{
    if (s->offset > size)
        return hac_fail(err, HAC_FAILED, "%s is %" PRIu64 " bytes, nothing lies at byte %" PRIu64, s->name,
                        size, s->offset);
    uint64_t rest = size - s->offset, bytes;
    if (s->items == UINT64_MAX) {
        if (rest % s->key_bytes != 0)
            return fail_odd(s, rest, err);
        bytes = rest;
    } else if (__builtin_mul_overflow(s->items, s->key_bytes, &bytes) || bytes > rest) {
        return fail_short(s, size, err);
    }
    *ret_bytes = bytes;
    return HAC_OK;
}

/* The keys of a small file; false: somebody else has to find out why they cannot be read, and say so. */
static bool read_small(const source *s, uint8_t *keys, uint64_t bytes)
{
    for (uint64_t done = 0; done < bytes;) {
        ssize_t n = pread(s->fd, keys + done, (size_t)(bytes - done), (off_t)(s->offset + done));
        if (n == 0 || (n < 0 && errno != EINTR))
            return false;
        done += n > 0 ? (uint64_t)n : 0;
    }
    return true;
}

/* `room`: HAC_INLINE_MAX bytes that stay until the job is submitted. */
static hac_status from_file(const source *s, uint64_t size, uint8_t *room, hac_sort_call *call,
                            hac_error *err)
{
    uint64_t bytes = 0;
    hac_status status = file_range(s, size, &bytes, err);
    if (status != HAC_OK)
        return status;
    call->items = bytes / s->key_bytes;
    if (hac_sort_file_inline(call->options, bytes) && read_small(s, room, bytes)) {
        hac_sort_input_inline(room, bytes, &call->keys);
        call->acknowledge = true;
        return HAC_OK;
    }
    hac__client__input__init(&call->keys);
    call->keys.where_case = HAC__CLIENT__INPUT__WHERE_DESCRIPTOR;
    call->keys.descriptor = 0;
    call->keys.offset = s->offset;
    call->keys.bytes = bytes;
    call->fd = s->fd;
    return HAC_OK;
}

/* ---- streams ---- */

/* Reads at most `room` bytes; *ret 0: the end. Waits, also on a non-blocking descriptor. */
static hac_status read_some(const source *s, uint8_t *at, uint64_t room, uint64_t *ret, hac_error *err)
{
    for (;;) {
        ssize_t n = read(s->fd, at, (size_t)(room < READ_MOST ? room : READ_MOST));
        if (n >= 0) {
            *ret = (uint64_t)n;
            return HAC_OK;
        }
        if (errno == EAGAIN) {
            struct pollfd p = {s->fd, POLLIN, 0};
            (void)poll(&p, 1, -1);
        } else if (errno != EINTR) {
            return hac_fail_errno(err, HAC_FAILED, errno, "cannot read %s", s->name);
        }
    }
}

/* Throws away the bytes before the keys: a stream cannot seek. */
static hac_status skip(const source *s, uint8_t *room, uint64_t room_bytes, hac_error *err)
{
    for (uint64_t left = s->offset; left > 0;) {
        uint64_t n;
        hac_status status = read_some(s, room, left < room_bytes ? left : room_bytes, &n, err);
        if (status != HAC_OK)
            return status;
        if (n == 0)
            return hac_fail(err, HAC_FAILED, "%s ends before byte %" PRIu64, s->name, s->offset);
        left -= n;
    }
    return HAC_OK;
}

/* Reads up to `most` bytes into the buffer, which grows by doubling. */
static hac_status read_all(const source *s, hac_buffer *buffer, uint64_t most, uint64_t *ret_bytes,
                           hac_error *err)
{
    uint64_t filled = 0, n = 1;
    while (n > 0 && filled < most) {
        uint64_t room = hac_buffer_bytes(buffer);
        if (filled == room) {
            hac_status status = hac_buffer_grow(buffer, room < INT64_MAX / 2 ? room * 2 : INT64_MAX, err);
            if (status != HAC_OK) {
                (void)hac_error_prefix(err, "%s, after %" PRIu64 " bytes", s->name, filled);
                return status;
            }
            room = hac_buffer_bytes(buffer);
        }
        if (room > most)
            room = most;
        hac_status status = read_some(s, (uint8_t *)hac_buffer_data(buffer) + filled, room - filled, &n, err);
        if (status != HAC_OK)
            return status;
        filled += n;
    }
    *ret_bytes = filled;
    return HAC_OK;
}

static hac_status from_stream(hac_client *client, const source *s, hac_sort_call *call, hac_error *err)
{
    uint64_t most = UINT64_MAX, bytes = 0;
    if (s->items != UINT64_MAX && __builtin_mul_overflow(s->items, s->key_bytes, &most))
        return hac_fail(err, HAC_INVALID, "%" PRIu64 " keys are more than can be", s->items);
    (void)fcntl(s->fd, F_SETPIPE_SZ, PIPE_BYTES); /* no pipe, or not allowed: slower */
    hac_cleanup(hac_buffer_free_cleanup) hac_buffer *buffer = NULL;
    hac_status status = hac_buffer_alloc_growable(client, STREAM_FIRST_BYTES, &buffer, err);
    if (status == HAC_OK)
        status = skip(s, hac_buffer_data(buffer), hac_buffer_bytes(buffer), err);
    if (status == HAC_OK)
        status = read_all(s, buffer, most, &bytes, err);
    if (status != HAC_OK)
        return status;
    if (bytes % s->key_bytes != 0)
        return fail_odd(s, bytes, err);
    if (most != UINT64_MAX && bytes < most)
        return fail_short(s, bytes, err);
    call->items = bytes / s->key_bytes;
    call->owned = hac_buffer_take(hac_steal_ptr(buffer));
    if (bytes == 0) /* no range of a buffer */
        return hac_sort_copy_in(client, NULL, 0, call, err);
    hac_sort_input_buffer(call->owned, 0, bytes, &call->keys);
    return HAC_OK;
}

/* ---- */

static hac_status open_source(const source *s, hac_client *client, uint8_t *room, hac_sort_call *call,
                              hac_error *err)
{
    struct stat st;
    int flags = fcntl(s->fd, F_GETFL);
    if (flags < 0 || fstat(s->fd, &st) < 0)
        return hac_fail_errno(err, HAC_FAILED, errno, "cannot read %s", s->name);
    if (S_ISDIR(st.st_mode))
        return hac_fail(err, HAC_FAILED, "%s is a directory", s->name);
    if ((flags & O_PATH) != 0 || (flags & O_ACCMODE) == O_WRONLY)
        return hac_fail(err, HAC_FAILED, "%s is not open for reading", s->name);
    if (S_ISREG(st.st_mode))
        return from_file(s, (uint64_t)st.st_size, room, call, err);
    return from_stream(client, s, call, err);
}

hac_status hac_sort_fd(hac_client *client, int fd, uint64_t offset, uint64_t items, const char *name,
                       const hac_sort_options *options, hac_job **ret_job, hac_error *err)
{
    hac_sort_options known;
    uint64_t bytes = 0;
    hac_status status = hac_sort_options_read(options, &known, err);
    if (status == HAC_OK) /* of the type, for now */
        status = hac_sort_key_bytes(&known, 1, &bytes, err);
    if (status == HAC_OK && offset > INT64_MAX)
        status = hac_fail(err, HAC_INVALID, "byte %" PRIu64 " lies in no file", offset);
    if (status != HAC_OK)
        return status;
    source s = {fd, offset, items, "", (size_t)bytes, hac_type_name(known.type)};
    hac_utf8_copy_line(s.name, sizeof(s.name), name != NULL ? name : "the input");
    hac_sort_call call = {.options = &known, .fd = -1};
    uint8_t room[HAC_INLINE_MAX];
    status = open_source(&s, client, room, &call, err);
    if (status != HAC_OK)
        return status;
    call.keys.name = s.name;
    return hac_sort_submit(client, &call, ret_job, err);
}
