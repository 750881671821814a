/* SPDX-License-Identifier: Apache-2.0 */
#include "hash_job.h"

#include <stdlib.h>

#include "base/cleanup.h"

void hac_hash_count_group(hac_hash_job *job, uint64_t group, uint64_t n, uint64_t rows, uint64_t hits)
{
    hac_hash_work_groups *g = &job->figures.work_groups;
    if (rows == 0 || group >= n)
        return;
    uint64_t bar = hac_hot_bar(group, n), rate = hits * 1000000 / rows;
    g->min = g->n == 0 || rate < g->min ? rate : g->min;
    g->max = rate > g->max ? rate : g->max;
    g->n = n;
    g->rows[bar] += rows;
    g->hits[bar] += hits;
}

const char *hac_hash_program(const hac_device_facts *facts)
{
    return facts->style == HAC_STYLE_SIMT ? "hash.simt" : "hash.block";
}

/* Finds the query's columns: positions say where each is in the table. Without a table they have no place
 * yet. */
static hac_status find_columns(hac_hash_job *job, const hac_query *query, const hac_table *table,
                               hac_error *err)
{
    job->n_columns = query->columns.n_fields;
    if (job->n_columns > HAC_COLUMNS_MAX)
        return hac_fail(err, HAC_INVALID, "a query of more than %d columns", HAC_COLUMNS_MAX);
    for (size_t i = 0; i < job->n_columns; i++) {
        if (table != NULL && query->positions[i] >= table->n_columns)
            return hac_fail(err, HAC_INVALID, "column %s is not in the table", query->columns.fields[i].name);
        job->columns[i] = table != NULL ? table->columns[query->positions[i]]
                                        : (hac_table_column){.type = query->columns.fields[i].type};
    }
    return HAC_OK;
}

/* Whether the device's tables can hold the query's aggregates. */
static hac_status check_style(const hac_hash_job *job, hac_error *err)
{
    if (job->shape.floats && !job->facts->fp64)
        return hac_fail(err, HAC_UNSUPPORTED, "device \"%s\" has no f64", job->facts->name);
    return HAC_OK;
}

hac_status hac_hash_job_init(hac_hash_job *job, hac_device *device, const hac_query *query,
                             const hac_group_layout *layout, const hac_table *table, const hac_span *memory,
                             const hac_hash_options *options, hac_error *err)
{
    *job = (hac_hash_job){.device = device,
                          .facts = hac_device_get_facts(device),
                          .options = *options,
                          .rows = table != NULL ? table->rows : 0,
                          .passes = 1,
                          .windows = {.device = device}};
    if (query->rows == NULL || !query->aggregates)
        return hac_fail(err, HAC_INVALID, "the query aggregates nothing");
    if ((query->filter != NULL && !hac_program_exact(query->filter)) || !hac_program_exact(query->rows))
        return hac_fail(err, HAC_UNSUPPORTED, "the query's functions are not exact on devices");
    if (table != NULL)
        job->memory = *memory;
    hac_status status = table != NULL ? hac_table_check(table, memory->bytes, err) : HAC_OK;
    if (status == HAC_OK)
        status = find_columns(job, query, table, err);
    const hac_program *programs[] = {query->filter, query->rows};
    if (status == HAC_OK)
        status = hac_expr_plan_init(&job->plan, programs, 2, job->columns, job->n_columns, job->facts,
                                    options->seed, true, err);
    if (status == HAC_OK)
        status = hac_hash_shape_init(&job->shape, &job->plan, query, layout, err);
    if (status == HAC_OK)
        status = check_style(job, err);
    if (status == HAC_OK) /* key words have registers of their own */
        hac_expr_plan_add_registers(&job->plan, query->n_keys);
    return status;
}

void hac_hash_job_clear(hac_hash_job *job)
{
    hac_expr_plan_clear(&job->plan);
    hac_hash_shape_clear(&job->shape);
}

const hac_table_column *hac_hash_chunk_columns(const hac_hash_job *job, uint64_t chunk)
{
    return job->loaded != NULL
               ? hac_working_buffer_columns(job->loaded, (size_t)(chunk - job->loaded->first_chunk))
               : job->columns;
}

uint64_t hac_hash_chunk_index(const hac_hash_job *job, uint64_t chunk)
{
    return job->loaded != NULL
               ? hac_working_buffer_element(job->loaded, (size_t)(chunk - job->loaded->first_chunk))
               : UINT64_MAX;
}

uint64_t hac_hash_chunk_rows(const hac_hash_job *job, uint64_t chunk, uint64_t *ret_first)
{
    if (job->loaded != NULL) {
        *ret_first = 0;
        return job->loaded->blocks[chunk - job->loaded->first_chunk].records;
    }
    uint64_t first = chunk * job->chunk_rows;
    *ret_first = first < job->rows ? first : job->rows;
    uint64_t left = job->rows - *ret_first;
    return left < job->chunk_rows ? left : job->chunk_rows;
}

uint64_t hac_hash_sample_rows(const hac_hash_job *job, uint64_t rows)
{
    uint64_t share = job->options.sample != 0 ? job->options.sample : HAC_SAMPLE_DEFAULT;
    uint64_t sample = rows / 1000 * share + rows % 1000 * share / 1000;
    return sample == 0 && rows != 0 ? 1 : sample;
}

hac_status hac_hash_open_plan(hac_hash_job *job, hac_error *err)
{
    hac_status status = hac_windows_open(&job->windows, job->plan.words, job->plan.n_words * 8, HAC_READ,
                                         &job->plan_window, err);
    if (status == HAC_OK)
        status = hac_windows_open(&job->windows, job->shape.words, job->shape.n_words * 8, HAC_READ,
                                  &job->shape_window, err);
    return status;
}

hac_status hac_hash_fail_row(uint64_t row, unsigned state, hac_error *err)
{
    return hac_fail(err, HAC_FAILED, "row %llu: %s", (unsigned long long)row + 1, hac_row_state_text(state));
}

static int compare_rows(const void *a, const void *b)
{
    const uint64_t *x = *(const uint64_t *const *)a, *y = *(const uint64_t *const *)b;
    return (x[PAIR_FIRST] > y[PAIR_FIRST]) - (x[PAIR_FIRST] < y[PAIR_FIRST]);
}

void hac_hash_pieces_clear(hac_hash_pieces *pieces)
{
    for (size_t i = 0; i < pieces->n_pools; i++)
        free(pieces->pools[i]);
    free(pieces->pools);
    free(pieces->pairs);
    *pieces = (hac_hash_pieces){0};
}

hac_status hac_hash_pieces_add(hac_hash_job *job, hac_hash_pieces *pieces, const uint64_t *pool,
                               uint64_t first, uint64_t n, hac_error *err)
{
    if (pieces->n + n > pieces->capacity) {
        uint64_t capacity = (pieces->n + n) * 2;
        const uint64_t **pairs = realloc(pieces->pairs, capacity * sizeof *pairs);
        if (pairs == NULL)
            return hac_fail_no_memory(err);
        pieces->pairs = pairs;
        pieces->capacity = capacity;
    }
    for (uint64_t p = first; p < first + n; p++) {
        const uint64_t *pair = pool + p * job->shape.stride;
        pieces->pairs[pieces->n] = pair;
        pieces->n += pair[job->shape.tail] != 0;
    }
    return HAC_OK;
}

hac_status hac_hash_pieces_keep(hac_hash_pieces *pieces, uint64_t *pool, hac_error *err)
{
    uint64_t **pools = realloc(pieces->pools, (pieces->n_pools + 1) * sizeof *pools);
    if (pools == NULL) {
        free(pool);
        return hac_fail_no_memory(err);
    }
    pieces->pools = pools;
    pools[pieces->n_pools++] = pool;
    return HAC_OK;
}

hac_status hac_hash_deliver(hac_hash_job *job, uint64_t chunk, uint64_t first_row, uint64_t kept,
                            bool refused, hac_hash_pieces *pieces, hac_error *err)
{
    bool sorted = true;
    for (uint64_t i = 1; sorted && i < pieces->n; i++)
        sorted = pieces->pairs[i - 1][PAIR_FIRST] < pieces->pairs[i][PAIR_FIRST];
    if (!sorted)
        qsort(pieces->pairs, pieces->n, sizeof *pieces->pairs, compare_rows);
    uint64_t first;
    job->figures.rows += hac_hash_chunk_rows(job, chunk, &first);
    job->figures.kept += refused ? 0 : kept;
    job->figures.groups += pieces->n;
    hac_hash_chunk_groups groups = {
        .chunk = chunk,
        .skipped = job->loaded != NULL ? job->loaded->blocks[chunk - job->loaded->first_chunk].skipped : 0,
        .pairs = pieces->pairs,
        .n = pieces->n,
        .first_row = first_row,
        .kept = kept,
        .refused = refused};
    return job->sink(job->context, &groups, err);
}
