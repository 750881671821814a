/* SPDX-License-Identifier: Apache-2.0 */
#include "splice/pipeline.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "codelet/threads.h"
#include "query/codelets.h"

#define WORKING       2 /* WorkingBuffers: the device has one, the other is filled */
#define WORK_CAPACITY 4 /* work that waits for the caller: buffers, and data sets that are too large */
#define A_READER      2 /* LaunchingBuffers for each reader */
#define SPARE_TIME    2 /* a LaunchingBuffer keeps this multiple of its share of the ring's memory */

/* A LaunchingBuffer in the ring. */
typedef struct slot {
    hac_launching_buffer buffer;
    uint64_t skipped;
    uint64_t held; /* bytes of the ring that it holds */
    bool too_large;
    bool ready; /* its data set is complete */
    hac_error err;
} slot;

typedef struct block_reader {
    hac_pipeline *pipeline;
    hac_source *source;
    hac_stage preprocess;
    pthread_t thread;
} block_reader;

struct hac_pipeline {
    hac_pipeline_options options;
    const hac_schema *schema;
    block_reader *readers;
    unsigned n_readers, made; /* capacity; threads that run */
    pthread_t splicer_thread;
    bool has_splicer;

    pthread_mutex_t lock;
    pthread_cond_t readers_wake, splicer_wake, caller_wake;
    atomic_bool stop;
    /* Protected by the lock: */
    slot *ring; /* data set c is in slot c % n_ring */
    unsigned n_ring;
    uint64_t claimed, end; /* data sets: the next one for readers, the end */
    uint64_t spliced;      /* the splicer's next data set */
    uint64_t held;         /* bytes in LaunchingBuffers */
    bool is_free[WORKING]; /* not being filled, not waiting for the caller, not at the device */
    hac_pipeline_work queue[WORK_CAPACITY]; /* waits for the caller */
    unsigned first_work, n_work;
    hac_working_buffer *at_device;
    bool through; /* no more work follows: */
    hac_error err;

    /* the splicer's */
    hac_splicer splicer;
    hac_working_buffer working[WORKING];
    unsigned filling;
    hac_splice_counters counters;
};

/* ---- reading: data sets to blocks ---- */

static hac_status source_of(const hac_pipeline *p, block_reader *r, hac_error *err)
{
    const hac_query_task *t = p->options.task;
    const hac_table *table = t->table.n_columns != 0 ? &t->table : NULL;
    return r->source != NULL ? HAC_OK : hac_source_open(t->query, &t->place, table, &r->source, err);
}

/* Waits for memory in the ring. The data set whose turn it is never waits: the others wait for it. */
static bool take_bytes(hac_pipeline *p, slot *s, uint64_t chunk, uint64_t bytes)
{
    pthread_mutex_lock(&p->lock);
    while (!p->stop && chunk != p->spliced && p->held + bytes > p->options.bytes)
        pthread_cond_wait(&p->readers_wake, &p->lock);
    p->held += bytes;
    s->held += bytes;
    pthread_mutex_unlock(&p->lock);
    return !p->stop;
}

static void give_bytes(hac_pipeline *p, slot *s)
{
    p->held -= s->held;
    s->held = 0;
    hac_launching_buffer_empty(&s->buffer);
    if (hac_launching_buffer_memory(&s->buffer) > p->options.bytes / p->n_ring * SPARE_TIME)
        hac_launching_buffer_release(&s->buffer);
}

static hac_status add_batch(hac_pipeline *p, slot *s, uint64_t chunk, const hac_batch *batch, hac_error *err)
{
    uint64_t bytes = hac_launching_buffer_batch_bytes(&s->buffer, batch);
    s->too_large = s->held + bytes > p->options.bytes;
    if (s->too_large)
        return HAC_OK;
    if (!take_bytes(p, s, chunk, bytes))
        return hac_fail(err, HAC_CANCELLED, "the pipeline ends");
    hac_status status = hac_launching_buffer_add(&s->buffer, batch, err);
    s->too_large = status == HAC_UNSUPPORTED;
    return s->too_large ? HAC_OK : status;
}

/* Reads the next batch and measures the time. */
static hac_status next_batch(block_reader *r, hac_batch *batch, hac_error *err)
{
    uint64_t from = hac_now_ns(), before = hac_source_reading(r->source).busy;
    hac_status status = hac_source_next(r->source, batch, err);
    hac_stage_add(&r->preprocess, from, hac_now_ns(), hac_source_reading(r->source).busy - before);
    return status;
}

static hac_status read_set(hac_pipeline *p, block_reader *r, slot *s, uint64_t chunk, hac_error *err)
{
    const hac_query_task *t = p->options.task;
    uint64_t first, end;
    hac_batch batch;
    if (p->options.begins != NULL)
        p->options.begins(p->options.context, chunk);
    hac_status status = source_of(p, r, err);
    if (status != HAC_OK)
        return status;
    uint64_t skipped = hac_source_skipped(r->source);
    hac_query_task_chunk(t, chunk, &first, &end);
    status = hac_source_begin(r->source, first, end,
                              hac_query_inside_quotes(&p->options.quotes, t->first_chunk, chunk), err);
    while (status == HAC_OK && !s->too_large && (status = next_batch(r, &batch, err)) == HAC_OK)
        status = add_batch(p, s, chunk, &batch, err);
    s->skipped = hac_source_skipped(r->source) - skipped;
    if (status != HAC_NOT_FOUND)
        return status;
    uint64_t from = hac_now_ns();
    hac_launching_buffer_seal(&s->buffer);
    hac_stage_add(&r->preprocess, from, hac_now_ns(), 0);
    return HAC_OK;
}

/* Reads a claimed data set into its slot. */
static void fill_slot(hac_pipeline *p, block_reader *r, uint64_t chunk)
{
    slot *s = &p->ring[chunk % p->n_ring];
    s->err = (hac_error)HAC_ERROR_NONE;
    s->too_large = false;
    s->err.code = read_set(p, r, s, chunk, &s->err);
    pthread_mutex_lock(&p->lock);
    if (s->err.code != HAC_OK && chunk < p->end)
        p->end = chunk + 1; /* later data sets are not needed any more */
    s->ready = true;
    pthread_cond_signal(&p->splicer_wake);
    pthread_mutex_unlock(&p->lock);
}

/* Claims the next data set when the ring has a free slot. */
static bool claim(hac_pipeline *p, uint64_t *ret)
{
    pthread_mutex_lock(&p->lock);
    while (!p->stop && p->claimed < p->end && p->claimed >= p->spliced + p->n_ring)
        pthread_cond_wait(&p->readers_wake, &p->lock);
    bool any = !p->stop && p->claimed < p->end;
    if (any) {
        uint64_t max = p->claimed + 1 - p->spliced, *value = &p->counters.values[HAC_SPLICE_BLOCKS_MAX];
        *ret = p->claimed++;
        *value = max > *value ? max : *value;
    }
    pthread_mutex_unlock(&p->lock);
    return any;
}

static void *read_sets(void *argument)
{
    block_reader *r = argument;
    uint64_t chunk;
    while (claim(r->pipeline, &chunk))
        fill_slot(r->pipeline, r, chunk);
    return NULL;
}

/* ---- splicing: blocks to WorkingBuffers ---- */

static void hand_over(hac_pipeline *p, hac_pipeline_work work)
{
    pthread_mutex_lock(&p->lock);
    while (!p->stop && p->n_work == WORK_CAPACITY)
        pthread_cond_wait(&p->splicer_wake, &p->lock);
    if (!p->stop)
        p->queue[(p->first_work + p->n_work++) % WORK_CAPACITY] = work;
    pthread_cond_signal(&p->caller_wake);
    pthread_mutex_unlock(&p->lock);
}

/* Hands the spliced blocks to the caller; the other buffer is filled next. */
static void trigger(hac_pipeline *p)
{
    hac_working_buffer *b = &p->working[p->filling];
    if (!hac_splicer_trigger(&p->splicer))
        return;
    p->filling = (p->filling + 1) % WORKING;
    hand_over(p, (hac_pipeline_work){b, b->first_chunk});
}

/* Waits for the buffer to fill, which the device may still have. */
static hac_working_buffer *filling(hac_pipeline *p)
{
    hac_working_buffer *b = &p->working[p->filling];
    pthread_mutex_lock(&p->lock);
    while (!p->stop && p->splicer.used == 0 && !p->is_free[p->filling])
        pthread_cond_wait(&p->splicer_wake, &p->lock);
    if (p->splicer.used == 0 && !p->stop) {
        p->is_free[p->filling] = false;
        hac_working_buffer_empty(b);
    }
    bool stopped = p->stop;
    pthread_mutex_unlock(&p->lock);
    return stopped ? NULL : b;
}

static hac_status put(hac_pipeline *p, const slot *s, uint64_t chunk, hac_error *err)
{
    hac_working_buffer *b = filling(p);
    if (b == NULL)
        return hac_fail(err, HAC_CANCELLED, "the pipeline ends");
    uint64_t from = hac_now_ns();
    hac_status status = hac_working_buffer_put(b, &p->splicer, &s->buffer, chunk, s->skipped, err);
    hac_stage_add(&p->counters.stages[HAC_STAGE_SPLICE], from, hac_now_ns(), 0);
    return status;
}

static void count_set(hac_pipeline *p, const slot *s, uint64_t chunk)
{
    const hac_query_task *t = p->options.task;
    uint64_t first, end;
    hac_query_task_chunk(t, chunk, &first, &end);
    hac_splice_count_set(&p->counters, s->buffer.records + s->skipped, end - first);
    hac_splice_count_block(&p->counters, hac_launching_buffer_bytes(&s->buffer));
    p->counters.values[HAC_SPLICE_SPLICED_RECORDS] += s->buffer.records;
}

/* Puts a block into a WorkingBuffer. In a pause, the caller gets the buffer, and the block goes to the other
 * one. */
static hac_status splice(hac_pipeline *p, slot *s, uint64_t chunk, hac_error *err)
{
    s->too_large |= !hac_splicer_fits(&p->splicer, hac_launching_buffer_bytes(&s->buffer), 1);
    if (s->too_large) {
        trigger(p);
        hand_over(p, (hac_pipeline_work){NULL, chunk});
        return HAC_OK;
    }
    hac_status status = put(p, s, chunk, err);
    if (status == HAC_AGAIN) {
        trigger(p);
        status = put(p, s, chunk, err);
    }
    if (status == HAC_OK)
        count_set(p, s, chunk);
    return status;
}

/* Returns the block of the next data set; NULL: there is none. Without readers, it is read here. */
static slot *next_block(hac_pipeline *p)
{
    uint64_t chunk;
    if (p->made == 0 && claim(p, &chunk))
        fill_slot(p, &p->readers[0], chunk);
    pthread_mutex_lock(&p->lock);
    slot *s = &p->ring[p->spliced % p->n_ring];
    while (!p->stop && p->spliced < p->end && !s->ready)
        pthread_cond_wait(&p->splicer_wake, &p->lock);
    bool any = !p->stop && p->spliced < p->end;
    pthread_mutex_unlock(&p->lock);
    return any ? s : NULL;
}

static void free_slot(hac_pipeline *p, slot *s)
{
    pthread_mutex_lock(&p->lock);
    give_bytes(p, s);
    s->ready = false;
    p->spliced++;
    pthread_cond_broadcast(&p->readers_wake);
    pthread_mutex_unlock(&p->lock);
}

static void end_splicing(hac_pipeline *p, const hac_error *err)
{
    trigger(p);
    pthread_mutex_lock(&p->lock);
    p->err = *err;
    p->through = true;
    pthread_cond_signal(&p->caller_wake);
    pthread_mutex_unlock(&p->lock);
}

/* Splices one block. False: there are no more, or an error has occurred. */
static bool splice_next(hac_pipeline *p)
{
    hac_error err = HAC_ERROR_NONE;
    slot *s = next_block(p);
    if (s != NULL && s->err.code == HAC_OK)
        err.code = splice(p, s, p->spliced, &err);
    else if (s != NULL)
        err = s->err;
    else
        err.code = HAC_NOT_FOUND;
    if (err.code != HAC_OK) {
        end_splicing(p, &err);
        return false;
    }
    free_slot(p, s);
    return true;
}

static void *splice_blocks(void *argument)
{
    while (splice_next(argument))
        ;
    return NULL;
}

/* ---- the caller ---- */

hac_status hac_pipeline_next(hac_pipeline *p, hac_pipeline_work *ret, hac_error *err)
{
    pthread_mutex_lock(&p->lock);
    if (p->at_device != NULL)
        p->is_free[p->at_device - p->working] = true;
    p->at_device = NULL;
    pthread_cond_signal(&p->splicer_wake);
    while (p->n_work == 0 && !p->through) {
        if (p->has_splicer) {
            pthread_cond_wait(&p->caller_wake, &p->lock);
            continue;
        }
        pthread_mutex_unlock(&p->lock);
        (void)splice_next(p);
        pthread_mutex_lock(&p->lock);
    }
    hac_status status = HAC_OK;
    if (p->n_work != 0) {
        *ret = p->queue[p->first_work];
        p->first_work = (p->first_work + 1) % WORK_CAPACITY;
        p->n_work--;
        p->at_device = ret->buffer;
        pthread_cond_signal(&p->splicer_wake);
    } else {
        status = p->err.code;
        if (err != NULL && status != HAC_NOT_FOUND)
            *err = p->err;
    }
    pthread_mutex_unlock(&p->lock);
    return status;
}

void hac_pipeline_count(const hac_pipeline *p, hac_source_counters *reading, hac_splice_counters *counters)
{
    hac_splice_counters own = p->counters;
    own.values[HAC_SPLICE_THREADS] = p->made != 0 ? p->made : 1;
    own.values[HAC_SPLICE_CAPACITY] = p->splicer.capacity;
    own.values[HAC_SPLICE_ELEMENTS] = p->splicer.elements;
    own.values[HAC_SPLICE_FILL] = p->splicer.highest;
    own.values[HAC_SPLICE_SPLICED] = p->splicer.blocks;
    own.values[HAC_SPLICE_PAUSES] = p->splicer.pauses;
    own.values[HAC_SPLICE_TRIGGERS] = p->splicer.triggers;
    for (unsigned i = 0; i < p->n_readers; i++) {
        const block_reader *r = &p->readers[i];
        hac_stage_merge(&own.stages[HAC_STAGE_PREPROCESS], &r->preprocess);
        if (r->source == NULL)
            continue;
        hac_stage reads = hac_source_reading(r->source);
        hac_stage_merge(&own.stages[HAC_STAGE_READ], &reads);
        hac_source_count(r->source, reading);
    }
    hac_splice_merge(counters, &own);
}

/* ---- begin and end ---- */

static hac_status make_buffers(hac_pipeline *p, hac_error *err)
{
    p->readers = calloc(p->n_readers, sizeof *p->readers);
    p->ring = calloc(p->n_ring, sizeof *p->ring);
    if (p->readers == NULL || p->ring == NULL)
        return hac_fail_no_memory(err);
    hac_status status =
        hac_working_buffer_rule(p->schema, p->options.blocks, p->options.bytes, &p->splicer, err);
    for (unsigned i = 0; status == HAC_OK && i < p->n_ring; i++)
        status = hac_launching_buffer_init(&p->ring[i].buffer, p->schema, err);
    for (unsigned i = 0; status == HAC_OK && i < WORKING; i++) {
        p->is_free[i] = true;
        status = hac_working_buffer_init(&p->working[i], p->schema, &p->splicer, p->options.other_order, err);
    }
    for (unsigned i = 0; i < p->n_readers; i++)
        p->readers[i].pipeline = p;
    return status;
}

static void start_threads(hac_pipeline *p)
{
    if (p->options.alone)
        return;
    while (p->made < p->n_readers &&
           pthread_create(&p->readers[p->made].thread, NULL, read_sets, &p->readers[p->made]) == 0)
        p->made++;
    p->has_splicer = pthread_create(&p->splicer_thread, NULL, splice_blocks, p) == 0;
}

HAC_DEFINE_CLEANUP(hac_pipeline *, hac_pipeline_free)

hac_status hac_pipeline_new(const hac_pipeline_options *options, hac_pipeline **ret, hac_error *err)
{
    if (options->n == 0 || options->blocks == 0)
        return hac_fail(err, HAC_INVALID, "no data sets to read");
    hac_cleanup(hac_pipeline_free_cleanup) hac_pipeline *p = calloc(1, sizeof *p);
    if (p == NULL)
        return hac_fail_no_memory(err);
    unsigned threads = hac_pool_threads();
    p->options = *options;
    p->schema = &options->task->query->columns;
    p->claimed = p->spliced = options->first;
    p->end = options->first + options->n;
    p->n_readers = options->n < threads ? (unsigned)options->n : threads;
    p->n_ring = options->ring != 0 ? options->ring : A_READER * p->n_readers;
    if (options->bytes == 0 || options->bytes > HAC_WORKING_BYTES)
        p->options.bytes = HAC_WORKING_BYTES;
    if (options->blocks > options->n)
        p->options.blocks = options->n;
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->readers_wake, NULL);
    pthread_cond_init(&p->splicer_wake, NULL);
    pthread_cond_init(&p->caller_wake, NULL);
    hac_status status = make_buffers(p, err);
    if (status != HAC_OK)
        return status;
    start_threads(p);
    *ret = hac_steal_ptr(p);
    return HAC_OK;
}

static void stop(hac_pipeline *p)
{
    pthread_mutex_lock(&p->lock);
    p->stop = true;
    pthread_cond_broadcast(&p->readers_wake);
    pthread_cond_broadcast(&p->splicer_wake);
    pthread_mutex_unlock(&p->lock);
    for (unsigned i = 0; i < p->made; i++)
        pthread_join(p->readers[i].thread, NULL);
    if (p->has_splicer)
        pthread_join(p->splicer_thread, NULL);
}

void hac_pipeline_free(hac_pipeline *p)
{
    if (p == NULL)
        return;
    stop(p);
    for (unsigned i = 0; p->readers != NULL && i < p->n_readers; i++)
        hac_source_free(p->readers[i].source);
    for (unsigned i = 0; p->ring != NULL && i < p->n_ring; i++)
        hac_launching_buffer_clear(&p->ring[i].buffer);
    for (unsigned i = 0; i < WORKING; i++)
        hac_working_buffer_clear(&p->working[i]);
    free(p->readers);
    free(p->ring);
    pthread_cond_destroy(&p->readers_wake);
    pthread_cond_destroy(&p->splicer_wake);
    pthread_cond_destroy(&p->caller_wake);
    pthread_mutex_destroy(&p->lock);
    free(p);
}
