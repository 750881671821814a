/* SPDX-License-Identifier: Apache-2.0 */
/* query.quotes, query.aggregate and query.rows: codelets that process chunks in parallel. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "chunk_top.h"
#include "codelet/threads.h"
#include "expr/query_facts.h"
#include "query/codelets.h"
#include "query/partial.h"
#include "query/rows.h"
#include "results/row_runs.h"
#include "scout.h"

typedef struct chunks_worker {
    hac_chunk_rows rows;
    hac_chunk_top top;
    hac_partial_writer *writer;
    uint64_t next; /* the chunk behind those of the partial that is being written; 0: none is */
    uint64_t groups, needed;
    uint64_t read, skipped; /* rows and records before this chunk */
    hac_splice_counters counters;
} chunks_worker;

typedef struct chunks_job {
    hac_query_task task;
    hac_span regions, quotes;
    uint64_t first; /* chunk of the source */
    hac_top_shared top;
    hac_scout scout;
    /* With a limit and no order: 1 + the rows of each chunk that has ended, how many have ended without one
     * missing before them, and the rows of these. NULL: there is no limit. */
    uint64_t *ended, n_ended, rows_ended;
    pthread_mutex_t lock;       /* of these three */
    atomic_uint_fast64_t limit; /* so many chunks have all rows of the result; UINT64_MAX: not known yet */
    uint64_t ran;               /* chunks that ran before the others */
    chunks_worker *workers;
    unsigned n_workers;
} chunks_job;

/* ---- checks ---- */

static hac_status check_quotes(const hac_task *task, size_t span, hac_error *err)
{
    uint64_t end = HAC_PARAMS(hac_query_params, task)->first_chunk + task->first + task->count;
    if (task->spans[span].bytes / sizeof(uint64_t) < end)
        return hac_fail(err, HAC_INVALID, "the quotes of %llu chunks do not fit span %zu",
                        (unsigned long long)end, span);
    return HAC_OK;
}

static hac_status check_chunks(const hac_task *task, hac_error *err)
{
    hac_status status = hac_query_check_chunks(task, err);
    if (status == HAC_OK)
        status = hac_query_check_regions(task, 0, HAC_PARAMS(hac_query_params, task)->chunks,
                                         HAC_PARAMS(hac_query_params, task)->region, err);
    if (status == HAC_OK && task->spans[1].bytes != 0)
        status = check_quotes(task, 1, err);
    return status;
}

hac_status hac_query_check_aggregate(const hac_device_facts *facts, const hac_task *task, hac_error *err)
{
    (void)facts;
    return check_chunks(task, err);
}

hac_status hac_query_check_rows(const hac_device_facts *facts, const hac_task *task, hac_error *err)
{
    (void)facts;
    return check_chunks(task, err);
}

hac_status hac_query_check_quotes(const hac_device_facts *facts, const hac_task *task, hac_error *err)
{
    (void)facts;
    hac_status status = hac_query_check_chunks(task, err);
    return status == HAC_OK ? check_quotes(task, 0, err) : status;
}

/* ---- workers ---- */

static hac_status begin_chunk(chunks_job *j, chunks_worker *w, uint64_t chunk, hac_error *err)
{
    if (w->rows.source == NULL) {
        hac_status status = hac_chunk_rows_init(&j->task, &w->rows, err);
        if (status == HAC_OK)
            status = hac_chunk_rows_let_answer(&w->rows, err);
        if (status != HAC_OK)
            return status;
    }
    w->read = w->rows.read;
    w->skipped = hac_source_skipped(w->rows.source);
    return hac_chunk_rows_begin(&w->rows, &j->task, &j->quotes, chunk, err);
}

static uint8_t *region_of(const chunks_job *j, uint64_t number)
{
    return j->regions.data + number * j->task.region;
}

/* Ends chunk `chunk`. */
static void note_chunk(const chunks_job *j, chunks_worker *w, uint64_t chunk)
{
    uint64_t first, end;
    hac_chunk_rows_end(&w->rows);
    hac_query_task_chunk(&j->task, chunk, &first, &end);
    uint64_t skipped = w->rows.source == NULL ? 0 : hac_source_skipped(w->rows.source);
    hac_splice_count_set(&w->counters, w->rows.read - w->read + skipped - w->skipped, end - first);
}

/* Ends a partial, or the rows of a chunk, for which a region has to have that many bytes. */
static void note_result(chunks_worker *w, uint64_t groups, uint64_t needed)
{
    w->groups += groups;
    w->needed = needed > w->needed ? needed : w->needed;
    hac_splice_count_result(&w->counters, needed);
}

static hac_status make_writer(const chunks_job *j, chunks_worker *w, hac_error *err)
{
    hac_group_options options = {.seed = j->task.seed,
                                 .memory = hac_query_table_memory(j->task.region),
                                 .partitions = j->task.partitions,
                                 .pass = j->task.pass,
                                 .passes = j->task.passes};
    return w->writer != NULL ? HAC_OK : hac_partial_writer_new(j->task.grouped, &options, &w->writer, err);
}

static hac_status add_rows(chunks_job *j, chunks_worker *w, uint64_t chunk, hac_error *err)
{
    const uint8_t *values[HAC_PROGRAM_OUTPUTS_MAX];
    uint64_t first, end, all;
    size_t n;
    hac_status status;
    hac_query_task_chunk(&j->task, chunk, &first, &end);
    if (hac_partial_takes_plain(w->writer) &&
        hac_chunk_rows_fixed(&w->rows, &j->task, first, end, values, j->task.query->rows->n_outputs))
        return hac_partial_add_plain(w->writer, values, end - first, err);
    if (hac_chunk_rows_all(&w->rows, &all))
        return hac_partial_count(w->writer, all, err);
    while ((status = hac_chunk_rows_next(&w->rows, &n, err)) == HAC_OK) {
        status = hac_partial_add(w->writer, w->rows.columns, n, err);
        if (status != HAC_OK)
            return status;
    }
    return status == HAC_NOT_FOUND ? HAC_OK : status;
}

static hac_status add_answers(chunks_worker *w, hac_error *err)
{
    uint64_t rows, nulls[HAC_PROGRAM_OUTPUTS_MAX];
    hac_status status;
    while ((status = hac_chunk_rows_answer(&w->rows, &rows, nulls)) == HAC_OK) {
        status = hac_partial_add(w->writer, w->rows.columns, HAC_ANSWER_ROWS, err);
        if (status == HAC_OK)
            status = hac_partial_correct(w->writer, rows, nulls, err);
        if (status != HAC_OK)
            return status;
    }
    return status == HAC_NOT_FOUND ? HAC_OK : status;
}

static hac_status end_partial(chunks_worker *w, hac_error *err)
{
    uint64_t needed, groups;
    if (w->next == 0)
        return HAC_OK;
    w->next = 0;
    hac_status status = hac_partial_end(w->writer, &needed, &groups, err);
    if (status == HAC_OK)
        note_result(w, groups, needed);
    return status;
}

/* Begins a partial for chunk `number` of all, or adds the chunk to the one before it. */
static hac_status begin_partial(const chunks_job *j, chunks_worker *w, uint64_t number, hac_error *err)
{
    hac_status status = HAC_OK;
    if (w->next == 0 || w->next != number || !hac_partial_extend(w->writer, j->task.region)) {
        status = end_partial(w, err);
        hac_partial_begin(w->writer, number, region_of(j, number), j->task.region);
    }
    w->next = number + 1;
    return status;
}

static hac_status aggregate_chunk(void *context, uint64_t item, unsigned thread, hac_error *err)
{
    chunks_job *j = context;
    chunks_worker *w = &j->workers[thread];
    uint64_t chunk = j->first + item;
    hac_status status = make_writer(j, w, err);
    if (status == HAC_OK)
        status = begin_partial(j, w, j->task.first_chunk + chunk, err);
    if (status == HAC_OK)
        status = begin_chunk(j, w, chunk, err);
    if (status == HAC_OK)
        status = add_rows(j, w, chunk, err);
    if (status == HAC_OK)
        status = add_answers(w, err);
    if (status == HAC_OK)
        note_chunk(j, w, chunk);
    return status;
}

static hac_status end_aggregates(void *context, uint64_t item, unsigned thread, hac_error *err)
{
    chunks_job *j = context;
    (void)thread;
    return end_partial(&j->workers[item], err);
}

/* Chunks that follow each other go to one thread, for one partial. */
static hac_status aggregate_chunks(chunks_job *j, uint64_t n, hac_error *err)
{
    hac_status status = hac_pool_run_near(n, aggregate_chunk, j, err);
    return status == HAC_OK ? hac_pool_run(j->n_workers, end_aggregates, j, err) : status;
}

/* Sorts the rows of a region and appends the run to it, as far as there is room. `writer` has written
 * them. */
static hac_status append_run(const hac_query *query, hac_rows_writer *writer, hac_error *err)
{
    hac_rows_reader reader;
    hac_row_keys keys;
    hac_autofree hac_row_entry *entries = NULL;
    uint64_t n = writer->rows < query->limit ? writer->rows : query->limit;
    if (!hac_rows_end(writer)) {
        hac_rows_add_run(writer, NULL, n);
        return HAC_OK;
    }
    hac_rows_reader_init(&reader, query);
    hac_status status =
        hac_rows_reader_add(&reader, writer->region, writer->capacity, writer->seed, writer->number, err);
    hac_row_keys_init(query, &reader, &keys);
    if (status == HAC_OK)
        status = hac_row_run_make(&keys, 0, reader.n_blocks, query->limit, &entries, &n, err);
    hac_rows_reader_clear(&reader);
    if (status == HAC_OK) {
        hac_rows_add_run(writer, entries, n);
        hac_rows_end(writer);
    }
    return status;
}

/* Whether the chunks before a chunk have all rows of the result. */
static bool has_enough(chunks_job *j, uint64_t item)
{
    return item >= atomic_load_explicit(&j->limit, memory_order_relaxed);
}

/* Notes the rows of a chunk. */
static void end_rows(chunks_job *j, uint64_t item, uint64_t rows)
{
    uint64_t wanted = j->task.query->limit;
    if (j->ended == NULL)
        return;
    pthread_mutex_lock(&j->lock);
    j->ended[item] = rows + 1;
    while (j->rows_ended < wanted && j->ended[j->n_ended] > 0) /* there is one more, of no chunk */
        j->rows_ended += j->ended[j->n_ended++] - 1;
    if (j->rows_ended >= wanted)
        atomic_store_explicit(&j->limit, j->n_ended, memory_order_relaxed);
    pthread_mutex_unlock(&j->lock);
}

/* Writes the chunk's rows: all that pass the filter, or those that may be in the result. */
static hac_status write_rows(chunks_job *j, chunks_worker *w, uint64_t item, hac_rows_writer *writer,
                             hac_error *err)
{
    uint64_t place = j->task.first_chunk + j->first + item;
    const hac_query *query = j->task.query;
    uint64_t max = query->n_order == 0 ? query->limit : UINT64_MAX;
    hac_status status = HAC_OK;
    size_t n;
    if (hac_query_wants_first(query) && j->scout.firsts == NULL) {
        status = hac_chunk_top_read(&w->top, &j->top, &w->rows, place, err);
        return status == HAC_OK ? hac_top_rows_end(&w->top.rows, writer, err) : status;
    }
    while (writer->rows < max && !has_enough(j, item) &&
           (status = hac_chunk_rows_next(&w->rows, &n, err)) == HAC_OK)
        hac_rows_add(writer, w->rows.columns, query->outputs.n_fields,
                     n < max - writer->rows ? n : (size_t)(max - writer->rows));
    return status == HAC_NOT_FOUND ? HAC_OK : status;
}

/* Begins the chunk, or only its rows that were scouted. *ret_empty: there are none, and nothing is begun. */
static hac_status begin_rows(chunks_job *j, chunks_worker *w, uint64_t item, bool *ret_empty, hac_error *err)
{
    const hac_scout *scout = &j->scout;
    *ret_empty = scout->firsts != NULL && scout->firsts[item] == scout->firsts[item + 1];
    if (*ret_empty)
        return HAC_OK;
    hac_status status = begin_chunk(j, w, j->first + item, err);
    if (status == HAC_OK && scout->firsts != NULL)
        hac_source_want(w->rows.source, scout->numbers + scout->firsts[item],
                        scout->firsts[item + 1] - scout->firsts[item]);
    return status;
}

static hac_status rows_chunk(void *context, uint64_t index, unsigned number, hac_error *err)
{
    chunks_job *j = context;
    chunks_worker *w = &j->workers[number];
    const hac_query *query = j->task.query;
    uint64_t item = j->ran + index, chunk = j->first + item, place = j->task.first_chunk + chunk;
    hac_rows_writer writer;
    bool empty;
    if (has_enough(j, item))
        return HAC_OK; /* nothing reads its region */
    hac_status status = begin_rows(j, w, item, &empty, err);
    if (status != HAC_OK)
        return status;
    hac_rows_begin(&writer, region_of(j, place), j->task.region, j->task.seed, place);
    status = empty ? HAC_OK : write_rows(j, w, item, &writer, err);
    if (status != HAC_OK)
        return status;
    if (j->task.part_rows == 0)
        hac_rows_end(&writer);
    else if ((status = append_run(query, &writer, err)) != HAC_OK)
        return status;
    note_chunk(j, w, chunk);
    note_result(w, j->task.part_rows == 0 ? writer.rows : writer.run_rows, writer.bytes);
    end_rows(j, item, writer.rows);
    return HAC_OK;
}

/* With a limit, and without a filter, the first chunk has enough rows, as a rule: it runs alone. What fails
 * after the last row of the result might as well not have been read. */
static hac_status first_rows(chunks_job *j, uint64_t n, hac_error *err)
{
    const hac_query *query = j->task.query;
    hac_status status = HAC_OK;
    j->ended = calloc(n + 1, sizeof *j->ended);
    if (j->ended == NULL)
        return hac_fail_no_memory(err);
    if (query->limit == 0)
        return HAC_OK;
    if (query->filter == NULL && n > 0)
        status = rows_chunk(j, 0, 0, err);
    j->ran = query->filter == NULL && n > 0;
    if (status == HAC_OK)
        status = hac_pool_run(n - j->ran, rows_chunk, j, err);
    return has_enough(j, n) ? HAC_OK : status;
}

static hac_status rows_chunks(chunks_job *j, uint64_t n, hac_error *err)
{
    return hac_query_ends_early(j->task.query) ? first_rows(j, n, err) : hac_pool_run(n, rows_chunk, j, err);
}

/* ---- tasks ---- */

/* Adds what the worker has counted. Rows that were scouted were counted then. */
static void count_worker(const chunks_job *j, const chunks_worker *w, uint64_t *v,
                         hac_source_counters *counters, hac_splice_counters *splice)
{
    bool scouted = j->scout.firsts != NULL;
    v[HAC_AGGREGATE_VALUE_ROWS] += scouted ? 0 : w->rows.read;
    v[HAC_AGGREGATE_VALUE_KEPT] += scouted ? 0 : w->rows.kept;
    if (w->rows.source != NULL) {
        hac_source_count(w->rows.source, counters);
        if (!scouted)
            hac_chunk_rows_count(&w->rows, splice);
    }
    hac_splice_merge(splice, &w->counters);
    v[HAC_AGGREGATE_VALUE_GROUPS] += w->groups;
    if (w->needed > v[HAC_AGGREGATE_VALUE_NEEDED])
        v[HAC_AGGREGATE_VALUE_NEEDED] = w->needed;
}

static hac_status run_chunks(const hac_task *task, bool aggregates, hac_task_result *result, hac_error *err)
{
    chunks_job j = {.regions = task->spans[0],
                    .quotes = task->spans[1],
                    .first = task->first,
                    .n_workers = hac_pool_threads(),
                    .top = HAC_TOP_SHARED_INIT,
                    .lock = PTHREAD_MUTEX_INITIALIZER,
                    .limit = UINT64_MAX};
    uint64_t start = hac_now_ns();
    hac_status status = hac_query_task_read(task, 2, &j.task, err);
    if (status != HAC_OK)
        return status;
    j.workers = calloc(j.n_workers, sizeof *j.workers);
    if (j.workers == NULL)
        status = hac_fail_no_memory(err);
    if (status == HAC_OK && j.task.query->aggregates != aggregates)
        status = hac_fail(err, HAC_INVALID, "the query is of the other kind");
    if (status == HAC_OK)
        status = hac_scout_run(&j.task, j.first, task->count, &j.scout, err);
    if (status == HAC_OK)
        status = aggregates ? aggregate_chunks(&j, task->count, err) : rows_chunks(&j, task->count, err);
    status = hac_query_source_read(&j.task, status, err);
    uint64_t *v = result->values;
    memset(v, 0, sizeof result->values);
    result->n_values = HAC_AGGREGATE_VALUE_SPLICE + HAC_SPLICE_N_VALUES;
    v[HAC_AGGREGATE_VALUE_ROWS] = j.scout.read;
    v[HAC_AGGREGATE_VALUE_KEPT] = j.scout.kept;
    hac_source_counters counters = j.scout.counters;
    hac_splice_counters splice = j.scout.splice;
    for (unsigned i = 0; j.workers != NULL && i < j.n_workers; i++) {
        chunks_worker *w = &j.workers[i];
        count_worker(&j, w, v, &counters, &splice);
        hac_partial_writer_free(w->writer);
        hac_chunk_top_clear(&w->top);
        hac_chunk_rows_clear(&w->rows);
    }
    v[HAC_AGGREGATE_VALUE_ROWS] += counters.passed_over;
    v[HAC_AGGREGATE_VALUE_SKIPPED] = counters.skipped;
    hac_source_put_counters(&counters, v + HAC_AGGREGATE_VALUE_READ);
    hac_splice_put_values(&splice, start, v + HAC_AGGREGATE_VALUE_SPLICE);
    free(j.workers);
    free(j.ended);
    hac_scout_clear(&j.scout);
    hac_query_task_clear(&j.task);
    return status;
}

hac_status hac_query_run_aggregate(hac_device *device, const hac_task *task, hac_task_result *result,
                                   hac_error *err)
{
    (void)device;
    return run_chunks(task, true, result, err);
}

hac_status hac_query_run_rows(hac_device *device, const hac_task *task, hac_task_result *result,
                              hac_error *err)
{
    (void)device;
    return run_chunks(task, false, result, err);
}

static hac_status count_quotes(void *context, uint64_t item, unsigned number, hac_error *err)
{
    const chunks_job *j = context;
    uint64_t first, end, count;
    (void)number;
    hac_query_task_chunk(&j->task, j->first + item, &first, &end);
    hac_status status = hac_source_quotes(&j->task.place, first, end, &count, err);
    if (status == HAC_OK)
        memcpy(j->quotes.data + (j->task.first_chunk + j->first + item) * sizeof count, &count, sizeof count);
    return status;
}

hac_status hac_query_run_quotes(hac_device *device, const hac_task *task, hac_task_result *result,
                                hac_error *err)
{
    (void)device;
    chunks_job j = {.quotes = task->spans[0], .first = task->first};
    hac_status status = hac_query_task_read(task, 1, &j.task, err);
    if (status != HAC_OK)
        return status;
    status = hac_pool_run(task->count, count_quotes, &j, err);
    hac_query_task_clear(&j.task);
    result->n_values = 0;
    return status;
}
