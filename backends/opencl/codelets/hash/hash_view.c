/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "hash_job.h"

#define PIECES_OF_COLUMN 3 /* validity, values or offsets, characters */

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

/* A view under construction. */
typedef struct assembly {
    hac_hash_job *job;
    uint64_t first, rows;
    hac_piece *pieces;
    size_t n;
    uint64_t at;      /* bytes of the view so far */
    uint8_t *offsets; /* where the next column is copied to */
} assembly;

static void add(assembly *a, const void *data, uint64_t bytes)
{
    if (bytes != 0)
        a->pieces[a->n++] = (hac_piece){data, bytes, a->at};
    a->at += rounded(bytes);
}

/*
 * Each offset must lie between the first and the last offset, since kernels check against the whole column
 * only. They get a checked copy, which nobody can change.
 */
static hac_status add_text(assembly *a, const hac_table_column *from, hac_table_column *to, hac_error *err)
{
    const hac_span *memory = &a->job->memory;
    uint64_t size = from->large ? 8 : 4, bytes = (a->rows + 1) * size;
    uint8_t *offsets = a->offsets;
    memcpy(offsets, memory->data + from->values + a->first * size, bytes);
    uint64_t low = offset_at(to, offsets, 0), high = offset_at(to, offsets, a->rows), before = low;
    for (uint64_t i = 1; i <= a->rows && before != UINT64_MAX; i++) {
        uint64_t next = offset_at(to, offsets, i);
        before = next < before || next > high ? UINT64_MAX : next;
    }
    if (low > high || high > from->n_bytes || before == UINT64_MAX)
        return hac_fail(err, HAC_FAILED, "the offsets of a string column are not in order");
    a->offsets += rounded(bytes);
    add(a, offsets, bytes);
    to->bytes = a->at - low; /* offsets keep their values */
    to->n_bytes = high;
    add(a, memory->data + from->bytes + low, high - low);
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

static uint64_t offsets_bytes(const hac_hash_job *job, uint64_t rows)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < job->n_columns; i++)
        if (hac_kind_is_text(job->columns[i].type.kind))
            bytes += rounded(value_bytes(&job->columns[i], rows));
    return bytes;
}

/* `first` is a multiple of 8, since bitmaps are copied byte by byte. */
static hac_status add_column(assembly *a, size_t i, hac_error *err)
{
    const hac_table_column *from = &a->job->columns[i];
    const uint8_t *memory = a->job->memory.data;
    hac_table_column to = *from;
    uint64_t bits = (a->first + a->rows + 7) / 8 - a->first / 8;
    hac_status status = HAC_OK;
    if (from->type.kind == HAC_KIND_NONE)
        return HAC_OK;
    if (from->validity != HAC_TABLE_NONE) {
        to.validity = a->at;
        add(a, memory + from->validity + a->first / 8, bits);
    }
    to.values = a->at;
    if (hac_kind_is_text(from->type.kind))
        status = add_text(a, from, &to, err);
    else if (from->type.kind == HAC_KIND_BOOL)
        add(a, memory + from->values + a->first / 8, bits);
    else
        add(a, memory + from->values + a->first * hac_value_size(from->type), value_bytes(from, a->rows));
    if (status == HAC_OK)
        hac_expr_plan_set_column(&a->job->plan, i, &to);
    return status;
}

/* Opens the window. A device that copies takes the pieces from where they lie. */
static hac_status open_assembled(const assembly *a, uint64_t capacity, hac_hash_view *view, hac_error *err)
{
    hac_windows *windows = &a->job->windows;
    if (a->at > capacity) /* offsets have changed since */
        return hac_fail(err, HAC_FAILED, "the offsets of a string column are not in order");
    if (!a->job->facts->host_memory)
        return hac_windows_open_pieces(windows, a->pieces, a->n, capacity, &view->mem, err);
    view->copy = hac_hash_alloc(capacity);
    if (view->copy == NULL)
        return hac_fail_no_memory(err);
    for (size_t i = 0; i < a->n; i++)
        memcpy(view->copy + a->pieces[i].at, a->pieces[i].data, a->pieces[i].bytes);
    return hac_windows_open(windows, view->copy, capacity, HAC_READ, &view->mem, err);
}

static hac_status open_copy(hac_hash_job *job, uint64_t first, uint64_t rows, hac_hash_view *view,
                            hac_error *err)
{
    uint64_t capacity = hac_hash_view_bytes(job, rows) + characters_of(job, first, rows);
    if (capacity > job->facts->max_allocation)
        return hac_fail(err, HAC_UNSUPPORTED, "a chunk of %llu rows does not fit the device's memory",
                        (unsigned long long)rows);
    view->offsets = hac_hash_alloc(offsets_bytes(job, rows));
    hac_autofree hac_piece *pieces = calloc(job->n_columns * PIECES_OF_COLUMN + 1, sizeof *pieces);
    if (view->offsets == NULL || pieces == NULL)
        return hac_fail_no_memory(err);
    assembly a = {job, first, rows, pieces, 0, 0, view->offsets};
    hac_status status = HAC_OK;
    for (size_t i = 0; status == HAC_OK && i < job->n_columns; i++)
        status = add_column(&a, i, err);
    return status == HAC_OK ? open_assembled(&a, capacity, view, err) : status;
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
    free(view->offsets);
    view->copy = view->offsets = NULL;
}
