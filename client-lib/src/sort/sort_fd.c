/* SPDX-License-Identifier: Apache-2.0 */
/* hac_sort_fd. The client sends a large file as a descriptor and a small file in the message, and reads a
 * stream into pool memory. */
#include "sort.h"

#include <inttypes.h>
#include <string.h>

#include "base/failpoint.h"
#include "base/foreign_format.h"
#include "base/io.h"
#include "base/text.h"
#include "base/type.h"
#include "input/stream.h"
#include "jobs/job_input.h"

/* The source of the keys. */
typedef struct sort_source {
    int fd;
    uint64_t offset, items; /* `items` UINT64_MAX: up to the end */
    char name[256];
    size_t key_bytes;
    const char *type;
} sort_source;

/* ---- files ---- */

static hac_status fail_odd(const sort_source *s, uint64_t bytes, hac_error *err)
{
    if (s->offset > 0)
        return hac_fail(err, HAC_FAILED,
                        "%s has %" PRIu64 " bytes from byte %" PRIu64 " on, not a multiple of %zu (%s)",
                        s->name, bytes, s->offset, s->key_bytes, s->type);
    return hac_fail(err, HAC_FAILED, "%s is %" PRIu64 " bytes, not a multiple of %zu (%s)", s->name, bytes,
                    s->key_bytes, s->type);
}

static hac_status fail_short(const sort_source *s, uint64_t bytes, hac_error *err)
{
    return hac_fail(err, HAC_FAILED,
                    "%s is %" PRIu64 " bytes, too short for %" PRIu64 " keys (%s) from byte %" PRIu64 " on",
                    s->name, bytes, s->items, s->type, s->offset);
}

/* Computes the number of bytes of keys in a file of `size` bytes. */
static hac_status file_range(const sort_source *s, uint64_t size, uint64_t *ret_bytes, hac_error *err)
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

/* Reads the keys of a small file. False: the read failed, and the caller submits the file as a descriptor, so
 * that hacd reports the error. */
static bool read_small(const sort_source *s, uint8_t *keys, uint64_t bytes)
{
    uint64_t done = 0;
    return hac_pread_all(s->fd, keys, bytes, s->offset, &done, HAC_FAILPOINT_NAME("sort.read")) == 0 &&
           done == bytes;
}

/* Fills in the call for a file. `scratch` has HAC_INLINE_MAX bytes, and must stay valid until the job is
 * submitted. */
static hac_status from_file(const sort_source *s, uint64_t size, uint8_t *scratch, hac_sort_call *call,
                            hac_error *err)
{
    uint64_t bytes = 0;
    hac_status status = HAC_OK;
    if (s->offset == 0 && call->options->raw == 0)
        status = hac_foreign_refuse_file(s->fd, 0, HAC_FOREIGN_NUMBERS, s->type, s->name, err);
    if (status == HAC_OK)
        status = file_range(s, size, &bytes, err);
    if (status != HAC_OK)
        return status;
    call->items = bytes / s->key_bytes;
    if (hac_sort_file_inline(call->options, bytes) && read_small(s, scratch, bytes)) {
        hac_job_input_inline(scratch, bytes, &call->keys);
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

static hac_status from_stream(hac_client *client, const sort_source *s, hac_sort_call *call, hac_error *err)
{
    uint64_t max = UINT64_MAX, bytes = 0, limit = call->options->job.memory_limit;
    if (s->items != UINT64_MAX && __builtin_mul_overflow(s->items, s->key_bytes, &max))
        return hac_fail(err, HAC_INVALID, "%" PRIu64 " keys are more than can be", s->items);
    bool bounded = limit != 0 && limit < max;
    hac_cleanup(hac_buffer_free_cleanup) hac_buffer *buffer = NULL;
    hac_stream stream = {.fd = s->fd, .name = s->name, .raw = true, .stop_fd = -1};
    hac_status status =
        hac_stream_read(client, &stream, s->offset, bounded ? limit + 1 : max, &buffer, &bytes, err);
    if (status != HAC_OK)
        return status;
    if (bounded && bytes > limit)
        return hac_fail(err, HAC_REFUSED,
                        "%s is a stream, sorted in memory: the job needs at least %" PRIu64
                        " bytes in all, above its limit of %" PRIu64 " bytes",
                        s->name, bytes, limit);
    if (s->offset == 0 && call->options->raw == 0)
        status =
            hac_foreign_refuse(hac_buffer_data(buffer), bytes < HAC_FOREIGN_BYTES ? bytes : HAC_FOREIGN_BYTES,
                               HAC_FOREIGN_NUMBERS, s->type, s->name, err);
    if (status != HAC_OK)
        return status;
    if (bytes % s->key_bytes != 0)
        return fail_odd(s, bytes, err);
    if (max != UINT64_MAX && bytes < max)
        return fail_short(s, bytes, err);
    call->items = bytes / s->key_bytes;
    call->owned = hac_buffer_take(hac_steal_ptr(buffer));
    if (bytes == 0) /* a buffer range must not be empty */
        return hac_sort_copy_in(client, NULL, 0, call, err);
    hac_job_input_buffer(call->owned, 0, bytes, &call->keys);
    return HAC_OK;
}

/* ---- */

static hac_status open_source(const sort_source *s, hac_client *client, uint8_t *scratch, hac_sort_call *call,
                              hac_error *err)
{
    uint64_t size = 0;
    bool is_stream = false;
    hac_stream stream = {.fd = s->fd, .name = s->name, .raw = true, .stop_fd = -1};
    hac_status status = hac_stream_look(&stream, &is_stream, &size, err);
    if (status != HAC_OK)
        return status;
    if (!is_stream)
        return from_file(s, size, scratch, call, err);
    return from_stream(client, s, call, err);
}

hac_status hac_sort_fd(hac_client *client, int fd, uint64_t offset, uint64_t items, const char *name,
                       const hac_sort_options *options, hac_job **ret_job, hac_error *err)
{
    hac_sort_options known;
    uint64_t bytes = 0;
    hac_status status = hac_sort_options_read(options, &known, err);
    if (status == HAC_OK) /* the size of one item */
        status = hac_sort_key_bytes(&known, 1, &bytes, err);
    if (status == HAC_OK && offset > INT64_MAX)
        status = hac_fail(err, HAC_INVALID, "byte %" PRIu64 " lies in no file", offset);
    if (status != HAC_OK)
        return status;
    sort_source s = {fd, offset, items, "", (size_t)bytes, hac_type_name(known.type)};
    hac_utf8_copy_line(s.name, sizeof(s.name), name != NULL ? name : "the input");
    hac_sort_call call = {.options = &known, .fd = -1};
    uint8_t scratch[HAC_INLINE_MAX];
    status = open_source(&s, client, scratch, &call, err);
    if (status != HAC_OK)
        return status;
    call.keys.name = s.name;
    return hac_sort_submit(client, &call, ret_job, err);
}
