/* SPDX-License-Identifier: Apache-2.0 */
/* Drives hash_aggregate_simt.cl: one chunk at a time through phase 1, hot keys, phase 2 and merge. What did
 * not fit is repeated with larger tables. */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "hash_job.h"

#define FIRST_PAIRS 4096
#define GROWTH      4
#define PASSES_MAX  1024
#define GROUPS_UNIT 4 /* work-groups of a compute unit */
#define GROUPS_MAX  1024
/* minimum rows of a block: fewer are not worth its tables and its part in each merge */
#define BLOCK_ROWS     2048
#define ITEMS_DEFAULT  64
#define ITEMS_GPU      256  /* buckets of a block for each step of a merge */
#define LOCAL_RESERVED 2048 /* bytes of local memory besides sm_pool[] */
#define SEARCH_STEPS   128  /* assumed iterations of a lookup */
#define CANARIES       3
#define LAUNCH_ROWS    (UINT64_C(1) << 28) /* errors are 8 × row + state, in 32 bits */
enum { SLOT_BUCKETS = 1, SLOT_POOL, SLOT_REST, SLOT_RESULT, SLOT_SCRATCH, SLOT_RESULT_POOL };

/* Why a chunk must be repeated. */
typedef enum again { NOT_AGAIN = 0, TABLES_FULL, LOOPS_CUT } again;

/* Rows that were aggregated, those with hot keys, and those in local memory. */
typedef struct tally {
    uint64_t kept, hits, local_hits;
} tally;

typedef struct buffers {
    cl_mem buckets, pool, rest, result, result_pool;
} buffers;

typedef struct simt_tables {
    hac_hash_job *job;
    uint32_t groups, items;
    uint32_t blocks;                          /* work-groups that have rows of this phase: the first ones */
    uint32_t far;                             /* BLOCK_FAR of all blocks */
    uint32_t gm_pairs, sm_pairs, bucket_bits; /* of a block */
    uint32_t global_pairs, global_bits;
    uint64_t launch_rows; /* maximum of one launch */
    uint32_t parts;       /* launches of a merge */
    buffers buffers;
    uint32_t *counters, *merge_counters;
    tally *tallies; /* work-groups of phase 2 of this chunk */
    uint64_t *hot_rows;
    uint32_t n_hot, pass;
    uint64_t scratch_bytes;
    hac_hash_view view;
    uint64_t index; /* hac_hash_chunk_index of the chunk */
    again again;
} simt_tables;

static void tables_clear(simt_tables *t)
{
    free(t->counters);
    free(t->merge_counters);
    free(t->hot_rows);
    free(t->tallies);
    hac_hash_view_free(&t->view);
}

static uint32_t bits_for(uint64_t pairs)
{
    uint32_t bits = 4;
    while (bits < 31 && (UINT64_C(1) << bits) < 2 * pairs)
        bits++;
    return bits;
}

static uint64_t tables_bytes(const simt_tables *t)
{
    uint64_t pair = t->job->shape.stride * 8;
    return t->groups * ((t->gm_pairs + (uint64_t)t->sm_pairs) * pair + (UINT64_C(4) << t->bucket_bits) +
                        (UINT64_C(4) << t->global_bits)) +
           t->global_pairs * pair;
}

/* Sizes for `pairs` of a block. HAC_NO_MEMORY: sizes stay as they are; use fewer keys. */
static hac_status size_tables(simt_tables *t, uint64_t pairs, hac_error *err)
{
    uint32_t thread_groups = (t->items + THREAD_GROUP - 1) / THREAD_GROUP;
    simt_tables sized = *t;
    pairs = (pairs + thread_groups - 1) / thread_groups * thread_groups;
    if (pairs * t->groups > UINT32_MAX / 4)
        return hac_fail(err, HAC_NO_MEMORY, "the groups of a chunk are too many for the device's tables");
    sized.gm_pairs = (uint32_t)pairs;
    sized.bucket_bits = bits_for(pairs + t->sm_pairs);
    sized.global_pairs = (uint32_t)pairs * t->groups;
    sized.global_bits = bits_for(pairs);
    if (tables_bytes(&sized) > hac_hash_memory(t->job))
        return hac_fail(err, HAC_NO_MEMORY, "the groups of a chunk do not fit %llu bytes of the device",
                        (unsigned long long)hac_hash_memory(t->job));
    *t = sized;
    return HAC_OK;
}

/* Work-items of a work-group: at most what the driver allows for either kernel. */
static hac_status items_of(const hac_hash_job *job, uint32_t *ret, hac_error *err)
{
    const hac_device_facts *f = job->facts;
    bool gpu = (f->cl_type & CL_DEVICE_TYPE_GPU) && f->max_work_group >= ITEMS_GPU;
    uint32_t items = job->options.items != 0 ? job->options.items : gpu ? ITEMS_GPU : ITEMS_DEFAULT;
    for (size_t i = 0; i < 2; i++) {
        cl_kernel kernel;
        hac_status status = hac_device_kernel(job->device, hac_hash_program(f),
                                              i == 0 ? "aggregate_rows" : "aggregate_merge", &kernel, err);
        if (status != HAC_OK)
            return status;
        uint32_t max = hac_device_kernel_items(job->device, kernel);
        items = items > max ? max : items;
    }
    items = items > THREAD_GROUP * THREAD_GROUPS_MAX ? THREAD_GROUP * THREAD_GROUPS_MAX : items;
    *ret = items < THREAD_GROUP ? items : items / THREAD_GROUP * THREAD_GROUP;
    return HAC_OK;
}

/* Work-groups for chunks of this many rows. */
static uint32_t groups_of(const hac_hash_job *job, uint64_t rows)
{
    uint64_t groups = (uint64_t)job->facts->compute_units * GROUPS_UNIT, max = rows / BLOCK_ROWS + 1;
    groups = groups < max ? groups : max;
    groups = job->options.groups != 0 ? job->options.groups : groups;
    return groups > GROUPS_MAX ? GROUPS_MAX : groups == 0 ? 1 : (uint32_t)groups;
}

/* Initial pairs of a block: at most the pairs that it can enter, of which each work-item may lose some. */
static uint64_t pairs_of(const simt_tables *t, uint64_t rows)
{
    const hac_hash_job *job = t->job;
    uint64_t steps = rows / ((uint64_t)t->groups * t->items) + 1, max = (steps + 2) * t->items;
    uint64_t first = max < FIRST_PAIRS ? max : FIRST_PAIRS, before = job->pairs < max ? job->pairs : max;
    first = job->options.first_pairs != 0 ? job->options.first_pairs : first;
    return before > first ? before : first;
}

static hac_status tables_init(simt_tables *t, hac_hash_job *job, hac_error *err)
{
    const hac_device_facts *f = job->facts;
    *t = (simt_tables){.job = job, .parts = 1, .launch_rows = LAUNCH_ROWS};
    hac_status status = items_of(job, &t->items, err);
    if (status != HAC_OK)
        return status;
    uint64_t rows = job->max_rows < job->rows ? job->max_rows : job->rows;
    t->groups = groups_of(job, rows);
    uint64_t local = f->local_memory / 2, capacity = local > LOCAL_RESERVED ? local - LOCAL_RESERVED : 0;
    /* a quarter of the memory is kept between launches */
    uint64_t share = hac_hash_memory(job) / 4 / t->groups;
    capacity = capacity < share ? capacity : share;
    if (job->options.hot_keys)
        t->sm_pairs = (uint32_t)(capacity / (job->shape.stride * 8));
    if (f->max_loop_iterations != 0) {
        uint64_t steps = f->max_loop_iterations / 2 / (hac_expr_plan_iterations(&job->plan) + SEARCH_STEPS);
        t->launch_rows = (steps == 0 ? 1 : steps) * t->groups * t->items;
    }
    t->scratch_bytes = hac_expr_plan_scratch(&job->plan, f, t->items);
    t->counters = hac_hash_alloc((uint64_t)t->groups * BLOCK_WORDS * 4);
    t->merge_counters = hac_hash_alloc((uint64_t)t->groups * BLOCK_WORDS * 4);
    t->hot_rows = hac_hash_alloc(((uint64_t)t->sm_pairs + 1) * 8);
    t->tallies = calloc(t->groups, sizeof *t->tallies);
    if (t->counters == NULL || t->merge_counters == NULL || t->hot_rows == NULL || t->tallies == NULL)
        return hac_fail_no_memory(err);
    return size_tables(t, pairs_of(t, rows), err);
}

/* ---- launches ---- */

static hac_status open_buffers(simt_tables *t, hac_error *err)
{
    uint64_t pair = t->job->shape.stride * 8, groups = t->groups;
    hac_device *d = t->job->device;
    buffers *b = &t->buffers;
    hac_status status = hac_device_scratch(d, SLOT_BUCKETS, groups * 4 << t->bucket_bits, &b->buckets, err);
    if (status == HAC_OK)
        status = hac_device_scratch(d, SLOT_POOL, groups * t->gm_pairs * pair, &b->pool, err);
    if (status == HAC_OK)
        status = hac_device_scratch(d, SLOT_REST, groups * t->sm_pairs * pair + 64, &b->rest, err);
    if (status == HAC_OK)
        status = hac_device_scratch(d, SLOT_RESULT, groups * 4 << t->global_bits, &b->result, err);
    if (status == HAC_OK)
        status = hac_device_scratch(d, SLOT_RESULT_POOL, t->global_pairs * pair, &b->result_pool, err);
    return status;
}

static hac_status enqueue_rows(simt_tables *t, uint64_t first, uint64_t end, bool fresh, uint32_t sm_pairs,
                               hac_error *err)
{
    hac_hash_job *job = t->job;
    cl_kernel kernel;
    cl_mem hot_rows, counters, scratch;
    hac_status status =
        hac_device_kernel(job->device, hac_hash_program(job->facts), "aggregate_rows", &kernel, err);
    if (status == HAC_OK)
        status = hac_windows_open(&job->windows, t->hot_rows, ((uint64_t)t->sm_pairs + 1) * 8, HAC_READ,
                                  &hot_rows, err);
    if (status == HAC_OK)
        status = hac_windows_open(&job->windows, t->counters, (uint64_t)t->blocks * BLOCK_WORDS * 4,
                                  HAC_READ_WRITE, &counters, err);
    if (status == HAC_OK)
        status = hac_device_scratch(job->device, SLOT_SCRATCH, t->groups * t->scratch_bytes, &scratch, err);
    if (status == HAC_OK)
        status = hac_hash_units_open(job, err);
    if (status != HAC_OK)
        return status;
    hac_arguments a = {.kernel = kernel, .err = err};
    hac_argument_mem(&a, job->plan_window);
    hac_argument_mem(&a, t->view.mem);
    hac_argument_u64(&a, t->index);
    hac_argument_mem(&a, job->shape_window);
    hac_argument_u64(&a, first - t->view.first_row);
    hac_argument_u64(&a, end - t->view.first_row);
    hac_argument_u32(&a, fresh);
    hac_argument_u32(&a, t->pass);
    hac_argument_u32(&a, job->passes);
    hac_argument_u32(&a, CANARIES);
    hac_argument_mem(&a, hot_rows);
    hac_argument_u32(&a, sm_pairs == 0 ? 0 : t->n_hot);
    hac_argument_u32(&a, t->bucket_bits);
    hac_argument_u32(&a, t->gm_pairs);
    hac_argument_u32(&a, sm_pairs);
    hac_argument_mem(&a, t->buffers.buckets);
    hac_argument_mem(&a, t->buffers.pool);
    hac_argument_mem(&a, t->buffers.rest);
    hac_argument_mem(&a, counters);
    hac_argument_mem(&a, job->shape.misfits_window);
    hac_argument_mem(&a, scratch);
    hac_argument_u64(&a, t->scratch_bytes);
    hac_argument_local(&a, ((uint64_t)sm_pairs * job->shape.stride + 1) * 8);
    return a.status != HAC_OK ? a.status : hac_device_launch(job->device, kernel, t->blocks, t->items, err);
}

/* The maximum distance of pairs from their home slots, in any block. */
static uint32_t far_of(const simt_tables *t)
{
    uint32_t far = 0;
    for (uint32_t b = 0; b < t->blocks; b++)
        far = t->counters[b * BLOCK_WORDS + BLOCK_FAR] > far ? t->counters[b * BLOCK_WORDS + BLOCK_FAR] : far;
    return far;
}

/* The counters that a launch of `n` work-groups has left. */
static void look_at_counters(simt_tables *t, const uint32_t *counters, uint32_t n)
{
    for (uint32_t b = 0; b < n; b++) {
        const uint32_t *c = counters + b * BLOCK_WORDS;
        if (c[BLOCK_CANARY] != t->items * CANARIES)
            t->again = LOOPS_CUT;
        else if (c[BLOCK_FULL] != 0 && t->again == NOT_AGAIN)
            t->again = TABLES_FULL;
    }
}

/* The first row in error of a launch, in the form of BLOCK_ROW; UINT32_MAX: none. */
static uint32_t bad_row(const simt_tables *t)
{
    uint32_t row = UINT32_MAX;
    for (uint32_t b = 0; b < t->blocks; b++)
        row = t->counters[b * BLOCK_WORDS + BLOCK_ROW] < row ? t->counters[b * BLOCK_WORDS + BLOCK_ROW] : row;
    return row;
}

/* A phase: rows first … end - 1, in as many launches as the device's loop limit requires, on as many
 * work-groups as get rows. t->tallies is what each work-group did. */
static hac_status run_rows(simt_tables *t, uint64_t first, uint64_t end, uint32_t sm_pairs, hac_error *err)
{
    hac_hash_job *job = t->job;
    bool fresh = true;
    uint64_t blocks = (end - first + t->items - 1) / t->items;
    t->blocks = blocks == 0 ? 1 : blocks < t->groups ? (uint32_t)blocks : t->groups;
    memset(t->tallies, 0, t->groups * sizeof *t->tallies);
    for (uint64_t at = first; at < end || fresh; at += t->launch_rows) {
        uint64_t to = end - at < t->launch_rows ? end : at + t->launch_rows;
        size_t keep = job->windows.n;
        hac_status status = enqueue_rows(t, at, to, fresh, sm_pairs, err);
        status = hac_windows_close(&job->windows, keep, status, err);
        if (status != HAC_OK)
            return status;
        look_at_counters(t, t->counters, t->blocks);
        if (t->again != NOT_AGAIN)
            return HAC_OK;
        if (bad_row(t) != UINT32_MAX)
            return hac_hash_fail_row(at + bad_row(t) / 8, bad_row(t) % 8, err);
        for (uint32_t g = 0; g < t->blocks; g++) {
            const uint32_t *counter = t->counters + g * BLOCK_WORDS;
            t->tallies[g].kept += counter[BLOCK_KEPT];
            t->tallies[g].hits += counter[BLOCK_HITS];
            t->tallies[g].local_hits += counter[BLOCK_LOCAL];
        }
        fresh = false;
    }
    t->far = far_of(t);
    return HAC_OK;
}

static hac_status enqueue_merge(simt_tables *t, bool fresh, uint32_t source, uint32_t sources, uint32_t part,
                                uint32_t sm_pairs, hac_error *err)
{
    hac_hash_job *job = t->job;
    cl_kernel kernel;
    cl_mem counters;
    hac_status status =
        hac_device_kernel(job->device, hac_hash_program(job->facts), "aggregate_merge", &kernel, err);
    if (status == HAC_OK)
        status = hac_windows_open(&job->windows, t->merge_counters, (uint64_t)t->groups * BLOCK_WORDS * 4,
                                  HAC_READ_WRITE, &counters, err);
    if (status != HAC_OK)
        return status;
    hac_arguments a = {.kernel = kernel, .err = err};
    hac_argument_mem(&a, job->plan_window);
    hac_argument_mem(&a, t->view.mem);
    hac_argument_u64(&a, t->index);
    hac_argument_mem(&a, job->shape_window);
    hac_argument_u32(&a, fresh);
    hac_argument_u32(&a, source);
    hac_argument_u32(&a, source + sources);
    hac_argument_u32(&a, part);
    hac_argument_u32(&a, t->parts);
    hac_argument_u32(&a, t->far);
    hac_argument_u32(&a, CANARIES);
    hac_argument_u32(&a, t->bucket_bits);
    hac_argument_u32(&a, t->gm_pairs);
    hac_argument_u32(&a, sm_pairs);
    hac_argument_mem(&a, t->buffers.buckets);
    hac_argument_mem(&a, t->buffers.pool);
    hac_argument_mem(&a, t->buffers.rest);
    hac_argument_u32(&a, t->global_bits);
    hac_argument_u32(&a, t->global_pairs);
    hac_argument_mem(&a, t->buffers.result);
    hac_argument_mem(&a, t->buffers.result_pool);
    hac_argument_mem(&a, counters);
    return a.status != HAC_OK ? a.status : hac_device_launch(job->device, kernel, t->groups, t->items, err);
}

/* Merges the blocks' pairs into the global result, a `fresh` or an existing one. If loops are limited, one
 * block at a time. */
static hac_status merge(simt_tables *t, bool fresh, uint32_t sm_pairs, hac_error *err)
{
    uint32_t sources = t->job->facts->max_loop_iterations != 0 ? 1 : t->blocks;
    if (fresh)
        t->merge_counters[BLOCK_GM_USED] = 0;
    for (uint32_t source = 0; source < t->blocks; source += sources) {
        for (uint32_t part = 0; part < t->parts; part++) {
            size_t keep = t->job->windows.n;
            hac_status status = enqueue_merge(t, fresh, source, sources, part, sm_pairs, err);
            status = hac_windows_close(&t->job->windows, keep, status, err);
            if (status != HAC_OK)
                return status;
            look_at_counters(t, t->merge_counters, t->groups);
            if (t->again != NOT_AGAIN)
                return HAC_OK;
            fresh = false;
        }
    }
    return HAC_OK;
}

/* ---- hot keys ---- */

/* The pairs of the global result that have rows. Only the used part is copied from the device. */
static hac_status take_result(simt_tables *t, hac_hash_pieces *pieces, hac_error *err)
{
    uint64_t used = t->merge_counters[BLOCK_GM_USED];
    uint64_t n = used < t->global_pairs ? used : t->global_pairs, bytes = n * t->job->shape.stride * 8;
    uint64_t *pool = hac_hash_alloc(bytes);
    if (pool == NULL)
        return hac_fail_no_memory(err);
    hac_status status = hac_hash_pieces_keep(pieces, pool, err);
    if (status == HAC_OK)
        status = hac_device_read(t->job->device, t->buffers.result_pool, 0, bytes, pool, err);
    if (status == HAC_OK)
        status = hac_hash_pieces_add(t->job, pieces, pool, 0, n, err);
    return status;
}

typedef struct ranked_row {
    uint64_t count, row;
} ranked_row;

static int by_count(const void *a, const void *b)
{
    const ranked_row *x = a, *y = b;
    if (x->count != y->count)
        return x->count < y->count ? 1 : -1;
    return (x->row > y->row) - (x->row < y->row);
}

/* sort_index[]: the H most frequent keys of phase 1, each as a row that has the key. */
static hac_status choose_hot(simt_tables *t, uint64_t kept, hac_error *err)
{
    hac_hash_job *job = t->job;
    hac_hash_pieces pieces = {0};
    uint64_t share = job->options.hot_share != 0 ? job->options.hot_share : HAC_HOT_SHARE_DEFAULT;
    hac_status status = take_result(t, &pieces, err);
    hac_autofree ranked_row *sort_index = calloc(pieces.n + 1, sizeof *sort_index);
    if (status == HAC_OK && sort_index == NULL)
        status = hac_fail_no_memory(err);
    if (status == HAC_OK) {
        for (uint64_t i = 0; i < pieces.n; i++)
            sort_index[i] = (ranked_row){pieces.pairs[i][job->shape.tail], pieces.pairs[i][PAIR_FIRST]};
        qsort(sort_index, pieces.n, sizeof *sort_index, by_count);
        uint64_t hot = pieces.n * share / 1000;
        hot = hot == 0 && pieces.n != 0 ? 1 : hot;
        t->n_hot = (uint32_t)(hot < t->sm_pairs ? hot : t->sm_pairs);
        for (uint32_t i = 0; i < t->n_hot; i++) {
            t->hot_rows[i] = sort_index[i].row;
            job->figures.covered += sort_index[i].count;
        }
        job->figures.sampled += kept;
        job->figures.chosen++;
        if (t->n_hot > job->figures.hot_keys)
            job->figures.hot_keys = t->n_hot;
    }
    hac_hash_pieces_clear(&pieces);
    return status;
}

/* ---- figures ---- */

static uint64_t kept_by_all(const simt_tables *t)
{
    uint64_t kept = 0;
    for (uint32_t g = 0; g < t->groups; g++)
        kept += t->tallies[g].kept;
    return kept;
}

/* The pairs of a block's pools after a launch. */
static void count_pairs(const simt_tables *t, uint32_t group)
{
    hac_hash_job_figures *f = &t->job->figures;
    const uint32_t *counter = t->counters + group * BLOCK_WORDS;
    uint32_t thread_groups = (t->items + THREAD_GROUP - 1) / THREAD_GROUP;
    f->pairs_local += counter[BLOCK_SM_USED];
    for (uint32_t g = 0; g < thread_groups; g++)
        f->pairs_global += counter[BLOCK_GM_USED + g] - t->gm_pairs / thread_groups * g;
}

/* Phase 2 of a chunk. */
static void add_figures(const simt_tables *t, bool hot)
{
    hac_hash_job_figures *f = &t->job->figures;
    for (uint32_t g = 0; g < t->blocks; g++) {
        const tally *one = &t->tallies[g];
        count_pairs(t, g);
        if (!hot)
            continue;
        f->behind += one->kept;
        f->hits += one->hits;
        f->local_hits += one->local_hits;
        hac_hash_count_group(t->job, g, t->groups, one->kept, one->hits);
    }
}

/* ---- chunks ---- */

/* Both phases and the merges of one chunk, in one pass. t->again says why it must be repeated. */
static hac_status try_chunk(simt_tables *t, uint64_t first, uint64_t end, uint64_t *ret_kept, hac_error *err)
{
    hac_hash_job *job = t->job;
    hac_hash_job_figures before = job->figures;
    bool hot = job->options.hot_keys && t->sm_pairs != 0;
    uint64_t second = hot ? first + hac_hash_sample_rows(job, end - first) : first;
    uint64_t sampled = 0;
    t->again = NOT_AGAIN;
    t->n_hot = 0;
    hac_status status = open_buffers(t, err);
    if (status == HAC_OK && hot)
        status = run_rows(t, first, second, 0, err);
    if (status == HAC_OK && hot && t->again == NOT_AGAIN)
        status = merge(t, true, 0, err);
    if (status == HAC_OK && hot && t->again == NOT_AGAIN) {
        sampled = kept_by_all(t);
        status = choose_hot(t, sampled, err);
    }
    if (status == HAC_OK && t->again == NOT_AGAIN)
        status = run_rows(t, second, end, t->sm_pairs, err);
    if (status == HAC_OK && t->again == NOT_AGAIN) {
        add_figures(t, hot);
        status = merge(t, !hot, t->sm_pairs, err);
    }
    if (t->again != NOT_AGAIN)
        job->figures = before;
    *ret_kept = sampled + kept_by_all(t);
    return status;
}

/* Larger tables, or smaller launches. */
static hac_status mend(simt_tables *t, hac_error *err)
{
    if (t->again == TABLES_FULL) {
        t->job->figures.grown++;
        return size_tables(t, (uint64_t)t->gm_pairs * GROWTH, err);
    }
    uint64_t min = (uint64_t)t->groups * t->items;
    if (min == 0 || (t->launch_rows <= min && t->parts >= 1u << t->bucket_bits))
        return hac_fail(err, HAC_UNSUPPORTED, "the device ends loops before a row is through");
    t->launch_rows = t->launch_rows / 2 < min ? min : t->launch_rows / 2 / min * min;
    t->parts *= 2;
    return HAC_OK;
}

static hac_status run_passes(simt_tables *t, uint64_t first, uint64_t end, hac_hash_pieces *pieces,
                             uint64_t *ret_kept, hac_error *err)
{
    hac_status status = HAC_OK;
    for (t->pass = 0; status == HAC_OK && t->pass < t->job->passes;) {
        uint64_t kept;
        status = try_chunk(t, first, end, &kept, err);
        if (status != HAC_OK)
            break;
        if (t->again != NOT_AGAIN) {
            status = mend(t, err);
            continue;
        }
        *ret_kept += kept;
        status = take_result(t, pieces, err);
        t->pass++;
    }
    return status;
}

/* All passes, again with other units as long as values fit no window. */
static hac_status run_units(simt_tables *t, uint64_t first, uint64_t end, hac_hash_pieces *pieces,
                            uint64_t *ret_kept, hac_error *err)
{
    hac_hash_job *job = t->job;
    const hac_hash_job_figures before = job->figures;
    for (;;) {
        size_t keep = job->windows.n;
        *ret_kept = 0;
        hac_status status = hac_hash_open_plan(job, err);
        if (status == HAC_OK)
            status = run_passes(t, first, end, pieces, ret_kept, err);
        status = hac_windows_close(&job->windows, keep, status, err);
        if (status != HAC_OK || !hac_hash_units_misfit(&job->shape) || !hac_hash_units_move(&job->shape))
            return status;
        hac_hash_pieces_clear(pieces);
        job->figures = before;
    }
}

static hac_status run_chunk(simt_tables *t, uint64_t chunk, hac_error *err)
{
    hac_hash_job *job = t->job;
    hac_hash_pieces pieces = {0};
    uint64_t first, rows = hac_hash_chunk_rows(job, chunk, &first);
    size_t keep = job->windows.n;
    uint64_t kept = 0;
    const hac_hash_job_figures before = job->figures;
    t->index = hac_hash_chunk_index(job, chunk);
    hac_status status = hac_hash_view_open(job, first, rows, &t->view, err);
    hac_hash_units_begin(&job->shape);
    if (status == HAC_OK)
        status = run_units(t, first, first + rows, &pieces, &kept, err);
    if (status == HAC_OK)
        status = hac_hash_deliver(job, chunk, t->view.first_row, kept, hac_hash_units_misfit(&job->shape),
                                  &pieces, err);
    if (status != HAC_OK) /* it may be repeated */
        job->figures = before;
    status = hac_windows_close(&job->windows, keep, status, err);
    hac_hash_view_free(&t->view);
    hac_hash_pieces_clear(&pieces);
    return status;
}

static hac_status check_atomics(const hac_hash_job *job, hac_error *err)
{
    if (job->shape.wide_extremes && !job->facts->int64_atomics)
        return hac_fail(err, HAC_UNSUPPORTED, "device \"%s\" has no 64-bit atomics", job->facts->name);
    return HAC_OK;
}

hac_status hac_hash_run_simt(hac_hash_job *job, uint64_t first, uint64_t n, hac_error *err)
{
    simt_tables t = {0};
    hac_status status = check_atomics(job, err);
    if (status == HAC_OK)
        status = tables_init(&t, job, err);
    for (uint64_t c = 0; status == HAC_OK && c < n;) {
        status = run_chunk(&t, first + c, err);
        if (status == HAC_OK) {
            c++;
        } else if (status == HAC_NO_MEMORY && job->passes < PASSES_MAX) {
            job->figures.passes += job->passes;
            job->passes *= 2;
            status = HAC_OK;
        }
    }
    job->pairs = t.gm_pairs;
    tables_clear(&t);
    return status;
}
