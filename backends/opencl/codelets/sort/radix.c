/* SPDX-License-Identifier: Apache-2.0 */
/* The codelets of the radix sort that run kernels: radix.count, radix.scatter, radix.leaf. */
#include "radix.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "common/try.h"
#include "radix_host.h"
#include "radix_job.h"

/* ---- names and checks ---- */

static const char *program_of(const hac_device_facts *facts, hac_type type, bool leaf, unsigned kind)
{
    static const char *const names[2][2][2][3] = {
        {{{"radix.block.32", "radix.block.32i", "radix.block.32w"},
          {"radix.block.64", "radix.block.64i", "radix.block.64w"}},
         {{"radix.simt.32", "radix.simt.32i", "radix.simt.32w"},
          {"radix.simt.64", "radix.simt.64i", "radix.simt.64w"}}},
        {{{"radix_leaf.block.32", "radix_leaf.block.32i", "radix_leaf.block.32w"},
          {"radix_leaf.block.64", "radix_leaf.block.64i", "radix_leaf.block.64w"}},
         {{"radix_leaf.simt.32", "radix_leaf.simt.32i", "radix_leaf.simt.32w"},
          {"radix_leaf.simt.64", "radix_leaf.simt.64i", "radix_leaf.simt.64w"}}},
    };
    return names[leaf][facts->style == HAC_STYLE_SIMT][hac_type_size(type) == 8][kind];
}

#define DEFINE_PROGRAMS(suffix, kind)                                                                        \
    const char *hac_radix_program_scatter_##suffix(const hac_device_facts *facts, hac_type type)             \
    {                                                                                                        \
        return program_of(facts, type, false, kind);                                                         \
    }                                                                                                        \
    const char *hac_radix_program_leaf_##suffix(const hac_device_facts *facts, hac_type type)                \
    {                                                                                                        \
        return program_of(facts, type, true, kind);                                                          \
    }

DEFINE_PROGRAMS(keys, 0)
DEFINE_PROGRAMS(index32, 1)
DEFINE_PROGRAMS(index64, 2)

static const hac_radix_span count_spans[] = {HAC_RADIX_KEYS, HAC_RADIX_TABLE, HAC_RADIX_COUNTS};
static const hac_radix_span scatter_spans[] = {HAC_RADIX_KEYS, HAC_RADIX_TABLE, HAC_RADIX_COUNTS,
                                               HAC_RADIX_KEYS, HAC_RADIX_INDEX};
static const hac_radix_span leaf_spans[] = {HAC_RADIX_TABLE, HAC_RADIX_KEYS, HAC_RADIX_INDEX};

static hac_status check_range(const hac_task *task, uint64_t max, const char *what, hac_error *err)
{
    uint64_t end;
    if (task->count == 0 || __builtin_add_overflow(task->first, task->count, &end) || end > max)
        return hac_fail(err, HAC_INVALID, "%s %llu + %llu are not within %llu", what,
                        (unsigned long long)task->first, (unsigned long long)task->count,
                        (unsigned long long)max);
    return HAC_OK;
}

/* A chunk must fit a window, and its loops must fit the device's limit. */
static hac_status check_chunks(const hac_device_facts *facts, const hac_task *task, const hac_radix_sizes *p,
                               hac_error *err)
{
    uint64_t chunk = p->chunk_items < p->n ? p->chunk_items : p->n;
    if (chunk * hac_radix_widest(p) > facts->max_allocation ||
        hac_radix_row_items(p->buckets) * sizeof(uint64_t) > facts->max_allocation)
        return hac_fail(err, HAC_INVALID, "a chunk of %llu keys does not fit a window of %llu bytes",
                        (unsigned long long)chunk, (unsigned long long)facts->max_allocation);
    uint64_t loops = facts->style == HAC_STYLE_SIMT ? chunk / 64 * 20 + p->buckets
                                                    : chunk * 4 + (chunk / 256 + 8) * p->buckets;
    if (facts->max_loop_iterations != 0 && loops > facts->max_loop_iterations)
        return hac_fail(err, HAC_INVALID, "a chunk of %llu keys and %u buckets needs more than %u iterations",
                        (unsigned long long)chunk, p->buckets, facts->max_loop_iterations);
    return check_range(task, p->chunks, "chunks", err);
}

hac_status hac_radix_check_count_keys(const hac_device_facts *facts, const hac_task *task, hac_error *err)
{
    hac_radix_sizes p;
    hac_status status;
    TRY(hac_radix_sizes_of(task, count_spans, 3, &p, err));
    return check_chunks(facts, task, &p, err);
}

#define DEFINE_CHECKS(kind, bytes, extra)                                                                    \
    hac_status hac_radix_check_scatter_##kind(const hac_device_facts *facts, const hac_task *task,           \
                                              hac_error *err)                                                \
    {                                                                                                        \
        hac_radix_sizes p;                                                                                   \
        hac_status status;                                                                                   \
        TRY(hac_radix_sizes_of_kind(task, scatter_spans, 4 + (extra), bytes, &p, err));                      \
        return check_chunks(facts, task, &p, err);                                                           \
    }                                                                                                        \
    hac_status hac_radix_check_leaf_##kind(const hac_device_facts *facts, const hac_task *task,              \
                                           hac_error *err)                                                   \
    {                                                                                                        \
        (void)facts;                                                                                         \
        hac_radix_sizes p;                                                                                   \
        hac_status status;                                                                                   \
        TRY(hac_radix_sizes_of_kind(task, leaf_spans, 2 + (extra), bytes, &p, err));                         \
        return check_range(task, p.buckets, "buckets", err);                                                 \
    }

DEFINE_CHECKS(keys, 0, 0)
DEFINE_CHECKS(index32, 4, 1)
DEFINE_CHECKS(index64, 8, 1)

/* ---- count and scatter ---- */

hac_radix_stretch hac_radix_stretch_of(const hac_radix_sizes *p, uint64_t first, uint64_t count)
{
    hac_radix_stretch s = {first, count, first * p->chunk_items, count * p->chunk_items};
    if (s.first_item + s.items > p->n)
        s.items = p->n - s.first_item;
    return s;
}

/* The number of chunks for which `bytes` each fit one window; at least 1. */
static uint64_t chunks_within(uint64_t window, uint64_t bytes)
{
    return bytes == 0 || window / bytes > UINT32_MAX ? UINT32_MAX : window / bytes == 0 ? 1 : window / bytes;
}

static uint64_t min(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Only a count looks whether keys are values. The lock-step style always looks buckets up. */
static uint32_t levels_of(const hac_radix_job *job, bool counting)
{
    uint32_t levels = job->table.header.levels;
    if (job->table.direct && job->facts->style == HAC_STYLE_BLOCK)
        return HAC_RADIX_DIRECT;
    return levels == HAC_RADIX_VALUES && !counting ? 0 : levels;
}

/* The first COMMON_ARGS arguments, which count and scatter share. */
static hac_status common_args(hac_radix_job *job, cl_kernel kernel, const hac_radix_stretch *s, cl_mem in,
                              uint32_t levels, uint32_t buckets, hac_error *err)
{
    const hac_radix_header *h = &job->table.header;
    const hac_key_order *o = &job->order.order;
    unsigned i = 0;
    hac_status status;
    TRY(hac_kernel_arg_mem(kernel, i++, in, err));
    TRY(hac_kernel_arg_u64(kernel, i++, s->items, err));
    TRY(hac_kernel_arg_u32(kernel, i++, (uint32_t)job->p.chunk_items, err));
    TRY(hac_kernel_arg_u32(kernel, i++, (uint32_t)s->count, err));
    TRY(hac_kernel_arg_mem(kernel, i++, job->cells, err));
    TRY(hac_kernel_arg_mem(kernel, i++, job->splitters, err));
    TRY(hac_radix_key_arg(job, kernel, i++, h->base, err));
    const uint32_t figures[] = {h->method, h->shift, h->last, h->scale, levels};
    for (size_t k = 0; k < 5; k++)
        TRY(hac_kernel_arg_u32(kernel, i++, figures[k], err));
    const uint64_t masks[] = {o->flip, o->sign, o->rotate, o->reverse, job->order.top};
    for (size_t k = 0; k < 5; k++)
        TRY(hac_radix_key_arg(job, kernel, i++, masks[k], err));
    TRY(hac_kernel_arg_u32(kernel, i++, buckets, err));
    return hac_kernel_arg_u32(kernel, i++, (uint32_t)hac_radix_row_items(job->p.buckets), err);
}

#define COMMON_ARGS 19

static uint8_t *item_at(const hac_span *span, uint64_t item, uint64_t bytes)
{
    return span->data + item * bytes;
}

static hac_status open_input(hac_radix_job *job, const hac_span *in, const hac_radix_stretch *s, cl_mem *ret,
                             hac_error *err)
{
    return hac_radix_open(job, item_at(in, s->first_item, job->p.key_bytes), s->items * job->p.key_bytes,
                          HAC_READ, ret, err);
}

static uint64_t row_bytes(const hac_radix_job *job)
{
    return hac_radix_row_items(job->p.buckets) * sizeof(uint64_t);
}

hac_status hac_radix_count_launch(hac_radix_job *job, hac_type type, const hac_radix_stretch *s, cl_mem in,
                                  cl_mem counts, hac_error *err)
{
    cl_kernel kernel;
    hac_status status;
    TRY(hac_device_kernel(job->device, program_of(job->facts, type, false, 0), "radix_count", &kernel, err));
    TRY(common_args(job, kernel, s, in, levels_of(job, true), job->p.buckets, err));
    TRY(hac_kernel_arg_mem(kernel, COMMON_ARGS, counts, err));
    return hac_radix_launch(job, kernel, COMMON_ARGS + 1, s->count, err);
}

static hac_status count_stretch(hac_radix_job *job, const hac_task *task, const hac_radix_stretch *s,
                                hac_error *err)
{
    cl_mem in, counts;
    hac_status status;
    TRY(open_input(job, &task->spans[0], s, &in, err));
    TRY(hac_radix_open(job, task->spans[2].data + s->first * row_bytes(job), s->count * row_bytes(job),
                       HAC_WRITE, &counts, err));
    TRY(hac_radix_count_launch(job, task->type, s, in, counts, err));
    return hac_radix_close_from(job, in, err);
}

static hac_status count_chunks(hac_radix_job *job, const hac_task *task, hac_error *err)
{
    hac_status status;
    TRY(hac_radix_open_table(job, err));
    uint64_t max = min(chunks_within(job->facts->max_allocation, job->p.chunk_items * job->p.key_bytes),
                       chunks_within(job->facts->max_allocation, row_bytes(job)));
    for (uint64_t c = 0; c < task->count; c += max) {
        hac_radix_stretch s = hac_radix_stretch_of(&job->p, task->first + c, min(max, task->count - c));
        TRY(count_stretch(job, task, &s, err));
    }
    return HAC_OK;
}

hac_status hac_radix_run_count(hac_device *device, const hac_task *task, hac_task_result *result,
                               hac_error *err)
{
    (void)result;
    hac_radix_job job;
    hac_status status = hac_radix_job_begin(&job, device, task, &task->spans[1], count_spans, 3, err);
    if (status == HAC_OK)
        status = count_chunks(&job, task, err);
    return hac_radix_job_end(&job, status, err);
}

/* Where a scatter writes: OUT itself, or a private buffer. */
typedef struct radix_output {
    uint8_t *keys, *index;
    uint64_t *starts; /* rows of places in the buffer */
    uint64_t items;
    hac_access access;
} radix_output;

hac_status hac_radix_scatter_launch(hac_radix_job *job, hac_type type, const hac_radix_stretch *s, cl_mem in,
                                    const hac_radix_target *to, hac_error *err)
{
    cl_kernel kernel;
    hac_status status;
    TRY(hac_device_kernel(job->device, program_of(job->facts, type, false, job->p.index_bytes / 4),
                          "radix_scatter", &kernel, err));
    TRY(common_args(job, kernel, s, in, levels_of(job, false), hac_radix_filled(&job->table), err));
    TRY(hac_kernel_arg_mem(kernel, COMMON_ARGS, to->starts, err));
    TRY(hac_kernel_arg_u32(kernel, COMMON_ARGS + 2, (uint32_t)to->items, err));
    TRY(hac_kernel_arg_u64(kernel, COMMON_ARGS + 3, s->first_item, err));
    TRY(hac_kernel_arg_mem(kernel, COMMON_ARGS + 4, to->keys, err));
    if (job->p.index_bytes != 0)
        TRY(hac_kernel_arg_mem(kernel, COMMON_ARGS + 5, to->index, err));
    return hac_radix_launch(job, kernel, COMMON_ARGS + 1, s->count, err);
}

static hac_status scatter_stretch(hac_radix_job *job, const hac_task *task, const hac_radix_stretch *s,
                                  const radix_output *t, hac_error *err)
{
    cl_mem in;
    hac_radix_target to = {.items = t->items};
    hac_status status;
    TRY(open_input(job, &task->spans[0], s, &in, err));
    TRY(hac_radix_open(job, t->starts, s->count * row_bytes(job), HAC_READ, &to.starts, err));
    TRY(hac_radix_open(job, t->keys, t->items * job->p.key_bytes, t->access, &to.keys, err));
    if (job->p.index_bytes != 0)
        TRY(hac_radix_open(job, t->index, t->items * job->p.index_bytes, t->access, &to.index, err));
    TRY(hac_radix_scatter_launch(job, task->type, s, in, &to, err));
    return hac_radix_close_from(job, in, err);
}

/* Kernels write to OUT itself if it is host memory and fits one window. */
static bool writes_in_place(const hac_radix_job *job)
{
    return job->facts->host_memory && job->p.n <= UINT64_C(1) << 31 &&
           job->p.n * hac_radix_widest(&job->p) <= job->facts->max_allocation;
}

static hac_status scatter_in_place(hac_radix_job *job, const hac_task *task, hac_error *err)
{
    uint64_t max = min(chunks_within(job->facts->max_allocation, job->p.chunk_items * job->p.key_bytes),
                       chunks_within(job->facts->max_allocation, row_bytes(job)));
    radix_output t = {.keys = task->spans[3].data, .items = job->p.n, .access = HAC_WRITE};
    t.index = job->p.index_bytes != 0 ? task->spans[4].data : NULL;
    hac_status status;
    for (uint64_t c = 0; c < task->count; c += max) {
        hac_radix_stretch s = hac_radix_stretch_of(&job->p, task->first + c, min(max, task->count - c));
        t.starts = (uint64_t *)(void *)(task->spans[2].data + s.first * row_bytes(job));
        TRY(scatter_stretch(job, task, &s, &t, err));
    }
    return HAC_OK;
}

/* A private buffer for some chunks: their keys bucket by bucket, without gaps. */
typedef struct staging {
    uint8_t *keys, *index;
    uint64_t *starts;  /* for each chunk: places in the buffer */
    uint64_t *buckets; /* where each bucket begins in the buffer, and the end */
} staging;

static void staging_free(staging *g)
{
    free(g->keys);
    free(g->index);
    free(g->starts);
    free(g->buckets);
}

static hac_status staging_init(staging *g, const hac_radix_job *job, uint64_t chunks, hac_error *err)
{
    uint64_t items = min(chunks * job->p.chunk_items, job->p.n);
    g->keys = hac_radix_alloc(items * job->p.key_bytes);
    g->index = hac_radix_alloc(items * job->p.index_bytes);
    g->starts = hac_radix_alloc(chunks * row_bytes(job));
    g->buckets = hac_radix_alloc((job->p.buckets + 1) * sizeof(uint64_t));
    if (g->keys == NULL || g->index == NULL || g->starts == NULL || g->buckets == NULL)
        return hac_fail_no_memory(err);
    return HAC_OK;
}

/* The row of a chunk, or, behind the last chunk, the ends of the buckets. */
static const uint64_t *row_at(const hac_radix_job *job, const hac_task *task, uint64_t chunk)
{
    if (chunk < job->p.chunks)
        return (const uint64_t *)(const void *)(task->spans[2].data + chunk * row_bytes(job));
    return (const uint64_t *)(const void *)(task->spans[1].data + hac_radix_starts_offset()) + 1;
}

static hac_status staging_plan(staging *g, const hac_radix_job *job, const hac_task *task,
                               const hac_radix_stretch *s, hac_error *err)
{
    uint64_t row_items = hac_radix_row_items(job->p.buckets), place = 0;
    for (uint32_t b = 0; b < job->p.buckets; b++) {
        g->buckets[b] = place;
        for (uint64_t c = 0; c < s->count; c++) {
            uint64_t many = row_at(job, task, s->first + c + 1)[b] - row_at(job, task, s->first + c)[b];
            if (many > job->p.chunk_items)
                return hac_fail(err, HAC_FAILED, "the counts of chunk %llu are not valid",
                                (unsigned long long)(s->first + c));
            g->starts[c * row_items + b] = place;
            place += many;
        }
    }
    g->buckets[job->p.buckets] = place;
    if (place != s->items)
        return hac_fail(err, HAC_FAILED, "chunks %llu + %llu count %llu keys of %llu",
                        (unsigned long long)s->first, (unsigned long long)s->count, (unsigned long long)place,
                        (unsigned long long)s->items);
    return HAC_OK;
}

static hac_status staging_copy_out(const staging *g, const hac_radix_job *job, const hac_task *task,
                                   const hac_radix_stretch *s, hac_error *err)
{
    for (uint32_t b = 0; b < job->p.buckets; b++) {
        uint64_t to = row_at(job, task, s->first)[b], from = g->buckets[b], many = g->buckets[b + 1] - from;
        if (to > job->p.n || many > job->p.n - to)
            return hac_fail(err, HAC_FAILED, "bucket %u does not lie in the output", b);
        memcpy(item_at(&task->spans[3], to, job->p.key_bytes), g->keys + from * job->p.key_bytes,
               many * job->p.key_bytes);
        if (job->p.index_bytes != 0)
            memcpy(item_at(&task->spans[4], to, job->p.index_bytes), g->index + from * job->p.index_bytes,
                   many * job->p.index_bytes);
    }
    return HAC_OK;
}

#define STAGING_BYTES (UINT64_C(64) << 20)

static hac_status scatter_staged(hac_radix_job *job, const hac_task *task, staging *g, hac_error *err)
{
    uint64_t max = min(chunks_within(min(job->facts->max_allocation, STAGING_BYTES),
                                     job->p.chunk_items * hac_radix_widest(&job->p)),
                       chunks_within(job->facts->max_allocation, row_bytes(job)));
    max = min(max, task->count);
    hac_status status;
    TRY(staging_init(g, job, max, err));
    for (uint64_t c = 0; c < task->count; c += max) {
        hac_radix_stretch s = hac_radix_stretch_of(&job->p, task->first + c, min(max, task->count - c));
        radix_output t = {g->keys, g->index, g->starts, s.items, HAC_WRITE};
        TRY(staging_plan(g, job, task, &s, err));
        TRY(scatter_stretch(job, task, &s, &t, err));
        TRY(staging_copy_out(g, job, task, &s, err));
    }
    return HAC_OK;
}

static hac_status scatter_chunks(hac_radix_job *job, const hac_task *task, hac_error *err)
{
    hac_status status;
    TRY(hac_radix_open_table(job, err));
    if (writes_in_place(job))
        return scatter_in_place(job, task, err);
    staging g = {0};
    status = scatter_staged(job, task, &g, err);
    staging_free(&g);
    return status;
}

hac_status hac_radix_run_scatter(hac_device *device, const hac_task *task, hac_task_result *result,
                                 hac_error *err)
{
    (void)result;
    hac_radix_job job;
    hac_status status =
        hac_radix_job_begin(&job, device, task, &task->spans[1], scatter_spans, task->n_spans, err);
    if (status == HAC_OK && job.table.header.counted == 0)
        status = scatter_chunks(&job, task, err);
    return hac_radix_job_end(&job, status, err);
}
