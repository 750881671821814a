/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "hash_job.h"

bool hac_hash_view_direct(const hac_hash_job *job)
{
    return job->loaded != NULL ||
           (job->facts->host_memory && job->memory.bytes <= job->facts->max_allocation);
}

static uint64_t rounded(uint64_t bytes)
{
    return (bytes + 63) / 64 * 64;
}

static uint64_t value_bytes(const hac_table_column *c, uint64_t rows)
{
    if (c->type.kind == HAC_KIND_NONE)
        return 0;
    if (c->type.kind == HAC_KIND_BOOL)
        return rows / 8 + 1;
    if (hac_kind_is_text(c->type.kind))
        return (rows + 1) * (c->large ? 8 : 4);
    return rows * hac_value_size(c->type);
}

uint64_t hac_hash_view_bytes(const hac_hash_job *job, uint64_t rows)
{
    uint64_t bytes = 64;
    for (size_t i = 0; i < job->n_columns; i++)
        bytes += rounded(value_bytes(&job->columns[i], rows + 8)) + rounded(rows / 8 + 2);
    return bytes;
}

static uint64_t offset_at(const hac_table_column *c, const uint8_t *values, uint64_t row)
{
    if (c->large) {
        int64_t wide;
        memcpy(&wide, values + row * 8, 8);
        return (uint64_t)wide;
    }
    int32_t narrow;
    memcpy(&narrow, values + row * 4, 4);
    return (uint64_t)(int64_t)narrow;
}

/* Copies the characters of the copied offsets. Each offset must lie between the first and the last: kernels
 * check against the whole column only. */
static hac_status copy_characters(const hac_hash_job *job, const hac_table_column *from, hac_table_column *to,
                                  uint64_t rows, uint8_t *copy, uint64_t *at, uint64_t room, hac_error *err)
{
    const uint8_t *offsets = copy + to->values;
    uint64_t low = offset_at(to, offsets, 0), high = offset_at(to, offsets, rows), before = low;
    for (uint64_t i = 1; i <= rows && before != UINT64_MAX; i++) {
        uint64_t next = offset_at(to, offsets, i);
        before = next < before || next > high ? UINT64_MAX : next;
    }
    if (low > high || high > from->n_bytes || before == UINT64_MAX)
        return hac_fail(err, HAC_FAILED, "the offsets of a string column are not in order");
    if (high - low > room - *at)
        return hac_fail(err, HAC_UNSUPPORTED, "a chunk's strings do not fit the device's memory");
    if (high > low)
        memcpy(copy + *at, job->memory.data + from->bytes + low, high - low);
    to->bytes = *at - low; /* offsets stay as they are */
    to->n_bytes = high;
    *at += rounded(high - low);
    return HAC_OK;
}

static uint64_t characters_of(const hac_hash_job *job, uint64_t first, uint64_t rows)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < job->n_columns; i++) {
        const hac_table_column *c = &job->columns[i];
        if (!hac_kind_is_text(c->type.kind))
            continue;
        uint64_t low = offset_at(c, job->memory.data + c->values, first);
        uint64_t high = offset_at(c, job->memory.data + c->values, first + rows);
        if (low <= high && high <= c->n_bytes)
            bytes += rounded(high - low);
    }
    return bytes;
}

static hac_status copy_column(hac_hash_job *job, size_t i, uint64_t first, uint64_t rows, uint8_t *copy,
                              uint64_t *at, uint64_t room, hac_error *err)
{
    const hac_table_column *from = &job->columns[i];
    hac_table_column to = *from;
    uint64_t bytes = value_bytes(from, rows), last_byte = (first + rows + 7) / 8;
    uint64_t skip = from->type.kind == HAC_KIND_BOOL    ? first / 8
                    : hac_kind_is_text(from->type.kind) ? first * (from->large ? 8 : 4)
                                                        : first * hac_value_size(from->type);
    if (from->type.kind == HAC_KIND_NONE)
        return HAC_OK;
    if (from->type.kind == HAC_KIND_BOOL)
        bytes = last_byte - first / 8;
    to.values = *at;
    memcpy(copy + *at, job->memory.data + from->values + skip, bytes);
    *at += rounded(bytes);
    if (from->validity != HAC_TABLE_NONE) {
        to.validity = *at;
        memcpy(copy + *at, job->memory.data + from->validity + first / 8, last_byte - first / 8);
        *at += rounded(last_byte - first / 8);
    }
    hac_status status = HAC_OK;
    if (hac_kind_is_text(from->type.kind))
        status = copy_characters(job, from, &to, rows, copy, at, room, err);
    if (status == HAC_OK)
        hac_expr_plan_set_column(&job->plan, i, &to);
    return status;
}

/* `first` is a multiple of 8: bitmaps are copied byte by byte. */
static hac_status open_copy(hac_hash_job *job, uint64_t first, uint64_t rows, hac_hash_view *view,
                            hac_error *err)
{
    uint64_t at = 0, room = hac_hash_view_bytes(job, rows) + characters_of(job, first, rows);
    if (room > job->facts->max_allocation)
        return hac_fail(err, HAC_UNSUPPORTED, "a chunk of %llu rows does not fit the device's memory",
                        (unsigned long long)rows);
    view->copy = hac_hash_alloc(room);
    if (view->copy == NULL)
        return hac_fail_no_memory(err);
    hac_status status = HAC_OK;
    for (size_t i = 0; status == HAC_OK && i < job->n_columns; i++)
        status = copy_column(job, i, first, rows, view->copy, &at, room, err);
    if (status == HAC_OK)
        status = hac_windows_open(&job->windows, view->copy, room, HAC_READ, &view->mem, err);
    return status;
}

hac_status hac_hash_view_open(hac_hash_job *job, uint64_t first, uint64_t rows, hac_hash_view *ret,
                              hac_error *err)
{
    *ret = (hac_hash_view){.mem = job->rows_window};
    if (job->loaded != NULL)
        return HAC_OK;
    if (hac_hash_view_direct(job)) {
        if (job->memory.bytes == 0)
            return hac_fail(err, HAC_INVALID, "the table has no memory");
        return hac_windows_open(&job->windows, job->memory.data, job->memory.bytes, HAC_READ, &ret->mem, err);
    }
    ret->first_row = first / 8 * 8;
    return open_copy(job, ret->first_row, rows + first % 8, ret, err);
}

void hac_hash_view_free(hac_hash_view *view)
{
    free(view->copy);
    view->copy = NULL;
}
