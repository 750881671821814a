/* SPDX-License-Identifier: Apache-2.0 */
/* Drives hash_aggregate_block.cl in waves of chunks. Each chunk has its own table, which is enlarged on
 * demand. */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "hash_job.h"
#include "query/partial.h"

#define PASSES_MAX  1024
#define FIRST_PAIRS 8192
#define PAIRS_MAX   (UINT64_C(1) << 30)
#define GROWTH      4
#define WAVE_CHUNKS 4            /* work-items of a compute unit */
#define HOT_BYTES   (512 * 1024) /* bytes of hot pairs: half of a core's second-level cache */

/* The chunks of a wave, with their tables and states. */
typedef struct wave {
    hac_hash_job *job;
    uint64_t first, n; /* chunks */
    uint32_t pass;
    uint64_t pairs; /* pairs of each pool */
    uint32_t bucket_bits;
    uint64_t *pool, *states;
    uint32_t *buckets;
    uint8_t *scratch;
    uint64_t scratch_bytes;
    hac_hash_view view;
} wave;

static void wave_clear(wave *w)
{
    free(w->pool);
    free(w->states);
    free(w->buckets);
    free(w->scratch);
    hac_hash_view_free(&w->view);
}

static uint32_t bits_for(uint64_t pairs)
{
    uint32_t bits = 1;
    while ((UINT64_C(1) << bits) < 2 * pairs)
        bits++;
    return bits;
}

static uint64_t table_bytes(const hac_hash_job *job, uint64_t pairs)
{
    return pairs * job->shape.stride * 8 + (UINT64_C(4) << bits_for(pairs));
}

/* Pairs for a whole chunk. */
static uint64_t max_pairs(const hac_hash_job *job)
{
    return job->max_rows + HAC_BATCH_ROWS;
}

/* HAC_NO_MEMORY: use fewer chunks, or fewer keys of each. */
static hac_status wave_tables(wave *w, uint64_t pairs, hac_error *err)
{
    uint64_t stride = w->job->shape.stride;
    if (pairs > PAIRS_MAX || pairs * stride > UINT32_MAX || /* kernels count the words of a pool in 32 bits */
        w->n * table_bytes(w->job, pairs) > hac_hash_memory(w->job))
        return hac_fail(err, HAC_NO_MEMORY, "the groups of a chunk do not fit %llu bytes of the device",
                        (unsigned long long)hac_hash_memory(w->job));
    uint64_t *pool = hac_hash_alloc(w->n * pairs * stride * 8);
    uint32_t *buckets = hac_hash_alloc(w->n * (UINT64_C(4) << bits_for(pairs)));
    if (pool == NULL || buckets == NULL) {
        free(pool);
        free(buckets);
        return hac_fail_no_memory(err);
    }
    for (uint64_t c = 0; w->pool != NULL && c < w->n; c++)
        memcpy(pool + c * pairs * stride, w->pool + c * w->pairs * stride,
               w->states[c * STATE_WORDS + STATE_PAIRS] * stride * 8);
    free(w->pool);
    free(w->buckets);
    w->pool = pool;
    w->buckets = buckets;
    w->pairs = pairs;
    w->bucket_bits = bits_for(pairs);
    return HAC_OK;
}

static hac_status wave_begin(wave *w, uint64_t pairs, hac_error *err)
{
    hac_hash_job *job = w->job;
    w->scratch_bytes = hac_expr_plan_scratch(&job->plan, job->facts, 1);
    w->states = hac_hash_alloc(w->n * STATE_WORDS * 8);
    w->scratch = hac_hash_alloc(w->n * w->scratch_bytes);
    if (w->states == NULL || w->scratch == NULL)
        return hac_fail_no_memory(err);
    memset(w->states, 0, w->n * STATE_WORDS * 8);
    return wave_tables(w, pairs, err);
}

static uint32_t hot_max(const hac_hash_job *job)
{
    return HOT_BYTES / (8 * job->shape.stride);
}

/* The rows of each work-item, as numbers of the window's rows. */
static void set_rows(wave *w)
{
    const hac_hash_job *job = w->job;
    for (uint64_t c = 0; c < w->n; c++) {
        uint64_t *state = w->states + c * STATE_WORDS;
        uint64_t first, rows = hac_hash_chunk_rows(job, w->first + c, &first);
        state[STATE_FROM] = first - w->view.first_row;
        state[STATE_ROWS] = rows;
        state[STATE_COLUMNS] = hac_hash_chunk_index(job, w->first + c);
        state[STATE_SAMPLE] = job->options.hot_keys ? hac_hash_sample_rows(job, rows) : 0;
    }
}

static hac_status launch(wave *w, hac_error *err)
{
    hac_hash_job *job = w->job;
    hac_windows *windows = &job->windows;
    cl_mem pool, buckets, states, scratch;
    cl_kernel kernel;
    uint64_t stride = job->shape.stride;
    hac_status status =
        hac_device_kernel(job->device, hac_hash_program(job->facts), "aggregate_chunks", &kernel, err);
    if (status == HAC_OK)
        status =
            hac_windows_open(windows, w->buckets, w->n * 4 << w->bucket_bits, HAC_READ_WRITE, &buckets, err);
    if (status == HAC_OK)
        status = hac_windows_open(windows, w->pool, w->n * w->pairs * stride * 8, HAC_READ_WRITE, &pool, err);
    if (status == HAC_OK)
        status = hac_windows_open(windows, w->states, w->n * STATE_WORDS * 8, HAC_READ_WRITE, &states, err);
    if (status == HAC_OK)
        status =
            hac_windows_open(windows, w->scratch, w->n * w->scratch_bytes, HAC_READ_WRITE, &scratch, err);
    if (status == HAC_OK)
        status = hac_hash_units_open(job, err);
    if (status != HAC_OK)
        return status;
    hac_arguments a = {.kernel = kernel, .err = err};
    hac_argument_mem(&a, job->plan_window);
    hac_argument_mem(&a, w->view.mem);
    hac_argument_mem(&a, job->shape_window);
    hac_argument_u32(&a, w->bucket_bits);
    hac_argument_u32(&a, (uint32_t)w->pairs);
    hac_argument_mem(&a, buckets);
    hac_argument_mem(&a, pool);
    hac_argument_mem(&a, states);
    hac_argument_u32(&a, w->pass);
    hac_argument_u32(&a, job->passes);
    hac_argument_u32(&a, job->options.hot_share != 0 ? job->options.hot_share : HAC_HOT_SHARE_DEFAULT);
    hac_argument_u32(&a, hot_max(job));
    hac_argument_mem(&a, job->shape.misfits_window);
    hac_argument_mem(&a, scratch);
    hac_argument_u64(&a, w->scratch_bytes);
    return a.status != HAC_OK ? a.status : hac_device_launch(job->device, kernel, w->n, 1, err);
}

/* Returns whether a chunk stopped because its pool was full. *ret_bad: the chunk that has the first row in
 * error, if any. */
static bool any_full(const wave *w, uint64_t *ret_bad)
{
    bool full = false;
    *ret_bad = UINT64_MAX;
    for (uint64_t c = 0; c < w->n; c++) {
        uint64_t status = w->states[c * STATE_WORDS + STATE_STATUS];
        full |= status == STATUS_FULL;
        if (status == STATUS_ERROR && *ret_bad == UINT64_MAX)
            *ret_bad = c;
    }
    return full;
}

static hac_status run_chunks(wave *w, hac_error *err)
{
    hac_hash_job *job = w->job;
    for (;;) {
        size_t keep = job->windows.n;
        hac_status status = launch(w, err);
        status = hac_windows_close(&job->windows, keep, status, err);
        if (status != HAC_OK)
            return status;
        uint64_t bad;
        bool full = any_full(w, &bad);
        if (bad != UINT64_MAX)
            return hac_hash_fail_row(w->states[bad * STATE_WORDS + STATE_ROW] + w->view.first_row,
                                     (unsigned)w->states[bad * STATE_WORDS + STATE_ERROR], err);
        if (!full)
            return HAC_OK;
        uint64_t max = max_pairs(job), pairs = w->pairs * GROWTH;
        status = wave_tables(w, pairs < max ? pairs : max, err);
        if (status != HAC_OK)
            return status;
        job->figures.grown++;
    }
}

/* Adds up the figures of a chunk whose pairs are used. */
static void add_figures(hac_hash_job *job, uint64_t chunk, const uint64_t *state)
{
    hac_hash_job_figures *f = &job->figures;
    bool chosen = state[STATE_CHOSEN] != 0;
    f->pairs_local += state[STATE_HOT];
    f->pairs_global += state[STATE_PAIRS] - state[STATE_HOT];
    if (!job->options.hot_keys)
        return;
    f->chosen += state[STATE_CHOSEN];
    f->sampled += chosen ? state[STATE_FIRST] : state[STATE_KEPT]; /* the whole chunk was the sample */
    f->covered += state[STATE_FIRST + 1];
    f->behind += state[STATE_BEHIND];
    f->hits += state[STATE_HITS];
    f->local_hits += state[STATE_HITS];
    if (state[STATE_HOT] > f->hot_keys)
        f->hot_keys = state[STATE_HOT];
    hac_hash_count_group(job, job->before + chunk, job->all_chunks, state[STATE_BEHIND], state[STATE_HITS]);
}

/* The results of a wave's chunks. */
typedef struct block_collection {
    hac_hash_pieces *pieces; /* for each chunk */
    uint64_t *kept;
    bool *refused;
} block_collection;

static void collection_clear(block_collection *k, uint64_t n)
{
    for (uint64_t c = 0; k->pieces != NULL && c < n; c++)
        hac_hash_pieces_clear(&k->pieces[c]);
    free(k->pieces);
    free(k->kept);
    free(k->refused);
}

static hac_status collect(wave *w, block_collection *k, hac_error *err)
{
    hac_status status = HAC_OK;
    for (uint64_t c = 0; status == HAC_OK && c < w->n; c++) {
        const uint64_t *state = w->states + c * STATE_WORDS;
        status = hac_hash_pieces_add(w->job, &k->pieces[c], w->pool + c * w->pairs * w->job->shape.stride, 0,
                                     state[STATE_PAIRS], err);
        k->kept[c] += state[STATE_KEPT];
        k->refused[c] |= state[STATE_MISFITS] != 0;
        if (!k->refused[c])
            add_figures(w->job, w->first + c, state);
    }
    if (status == HAC_OK)
        status = hac_hash_pieces_keep(&k->pieces[0], hac_steal_ptr(w->pool), err);
    return status;
}

/* One pass over the chunks of a wave. */
static hac_status run_pass(wave *w, uint64_t *pairs, block_collection *k, hac_error *err)
{
    hac_hash_job *job = w->job;
    size_t keep = job->windows.n;
    uint64_t from, last, rows = hac_hash_chunk_rows(job, w->first + w->n - 1, &last);
    (void)hac_hash_chunk_rows(job, w->first, &from);
    hac_status status = wave_begin(w, *pairs, err);
    if (status == HAC_OK)
        status = hac_hash_view_open(job, from, last + rows - from, &w->view, err);
    if (status == HAC_OK)
        status = hac_hash_open_plan(job, err);
    if (status == HAC_OK) {
        set_rows(w);
        status = run_chunks(w, err);
    }
    if (status == HAC_OK)
        status = collect(w, k, err);
    *pairs = w->pairs != 0 ? w->pairs : *pairs;
    return hac_windows_close(&job->windows, keep, status, err);
}

/* All passes over the chunks of a wave. */
static hac_status run_passes(hac_hash_job *job, uint64_t first, uint64_t n, uint64_t *pairs,
                             block_collection *k, uint64_t *ret_first_row, hac_error *err)
{
    *k = (block_collection){.pieces = calloc(n, sizeof *k->pieces),
                            .kept = calloc(n, sizeof *k->kept),
                            .refused = calloc(n, sizeof *k->refused)};
    hac_status status = HAC_OK;
    if (k->pieces == NULL || k->kept == NULL || k->refused == NULL)
        status = hac_fail_no_memory(err);
    for (uint32_t pass = 0; status == HAC_OK && pass < job->passes; pass++) {
        wave w = {.job = job, .first = first, .n = n, .pass = pass};
        status = run_pass(&w, pairs, k, err);
        *ret_first_row = w.view.first_row;
        wave_clear(&w);
    }
    return status;
}

static hac_status run_wave(hac_hash_job *job, uint64_t first, uint64_t n, uint64_t *pairs, hac_error *err)
{
    block_collection k = {.pieces = NULL};
    const hac_hash_job_figures before = job->figures;
    uint64_t first_row = 0;
    hac_hash_units_begin(&job->shape);
    hac_status status = run_passes(job, first, n, pairs, &k, &first_row, err);
    while (status == HAC_OK && hac_hash_units_misfit(&job->shape) && hac_hash_units_move(&job->shape)) {
        collection_clear(&k, n);
        job->figures = before;
        status = run_passes(job, first, n, pairs, &k, &first_row, err);
    }
    for (uint64_t c = 0; status == HAC_OK && c < n; c++)
        status = hac_hash_deliver(job, first + c, first_row, k.kept[c], k.refused[c], &k.pieces[c], err);
    if (status != HAC_OK) /* it may be repeated with fewer chunks or keys */
        job->figures = before;
    collection_clear(&k, n);
    return status;
}

/* The number of chunks of a wave: their largest tables must fit. */
static uint64_t wave_chunks(const hac_hash_job *job, uint64_t pairs)
{
    uint64_t max = max_pairs(job), fit = hac_hash_memory(job) / table_bytes(job, max < pairs ? max : pairs);
    uint64_t chunks = (uint64_t)job->facts->compute_units * WAVE_CHUNKS;
    if (!hac_hash_view_direct(job)) {
        uint64_t rows = job->facts->max_allocation / 2 / (hac_hash_view_bytes(job, 1024) / 1024 + 1);
        fit = fit < rows / job->max_rows ? fit : rows / job->max_rows;
    }
    chunks = chunks < fit ? chunks : fit;
    return chunks == 0 ? 1 : chunks;
}

/* Tables do not fit: use fewer chunks first, then a part of the keys at a time. */
static hac_status make_fit(hac_hash_job *job, uint64_t *max, uint64_t *pairs, hac_error *err)
{
    if (*max > 1) {
        *max = 1;
        return HAC_OK;
    }
    if (job->passes >= PASSES_MAX)
        return hac_error_prefix(err, "in %u parts", job->passes);
    job->figures.passes += job->passes;
    job->passes *= 2;
    *pairs = *pairs / 2 < HAC_BATCH_ROWS ? HAC_BATCH_ROWS : *pairs / 2;
    return HAC_OK;
}

hac_status hac_hash_run_block(hac_hash_job *job, uint64_t first, uint64_t n, hac_error *err)
{
    uint64_t pairs = job->pairs != 0                 ? job->pairs
                     : job->options.first_pairs != 0 ? job->options.first_pairs
                                                     : FIRST_PAIRS;
    if (job->facts->max_loop_iterations != 0)
        return hac_fail(err, HAC_UNSUPPORTED, "chunks take more than %u iterations of a loop",
                        job->facts->max_loop_iterations);
    if (pairs < HAC_BATCH_ROWS)
        pairs = HAC_BATCH_ROWS;
    uint64_t max = wave_chunks(job, GROWTH * pairs);
    hac_status status = HAC_OK;
    for (uint64_t done = 0; status == HAC_OK && done < n;) {
        uint64_t chunks = n - done < max ? n - done : max;
        status = run_wave(job, first + done, chunks, &pairs, err);
        if (status == HAC_OK)
            done += chunks;
        else if (status == HAC_NO_MEMORY)
            status = make_fit(job, &max, &pairs, err);
    }
    job->pairs = pairs;
    return status;
}
