/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "codelet/threads.h"
#include "finish_internal.h"
#include "limit_by.h"
#include "limit_by_few.h"
#include "row_runs.h"

/* A thread does not pay for fewer rows. */
#define RUN_MIN  16384u
#define RUNS_MAX 128u
#define PART_MIN 32768u

typedef struct ordering {
    hac_row_keys keys;
    uint64_t keep; /* maximum of rows in a run */
    hac_row_run *runs;
    size_t n_runs;
    uint64_t part; /* rows that an item of the second step puts in order */
    uint64_t *order;
    uint64_t n; /* rows in order */
} ordering;

static hac_status make_run(void *context, uint64_t item, unsigned worker, hac_error *err)
{
    ordering *o = context;
    hac_row_run *run = &o->runs[item];
    hac_row_entry *entries = NULL;
    (void)worker;
    hac_status status =
        hac_row_run_make(&o->keys, run->first_block, run->n_blocks, o->keep, &entries, &run->n, err);
    for (uint64_t i = 0; status == HAC_OK && i < run->n; i++)
        entries[i].at -= run->first_block * HAC_BATCH_ROWS;
    run->entries = entries;
    return status;
}

static hac_status order_part(void *context, uint64_t item, unsigned worker, hac_error *err)
{
    const ordering *o = context;
    hac_row_runs runs = {.keys = &o->keys, .runs = o->runs, .n = o->n_runs};
    uint64_t first = item * o->part, end = o->n - first < o->part ? o->n : first + o->part, n;
    hac_autofree uint64_t *order = NULL;
    (void)worker;
    hac_status status = hac_row_runs_order(&runs, first, end, &order, &n, err);
    if (status != HAC_OK)
        return status;
    if (n != end - first) /* another process has changed them */
        return hac_fail(err, HAC_INVALID, "rows changed while they were sorted");
    memcpy(o->order + first, order, n * sizeof *order);
    return HAC_OK;
}

/* Runs of about equally many rows, each of whole blocks. */
static void divide_blocks(const hac_rows_reader *rows, ordering *o, size_t n_runs)
{
    uint64_t sum = 0;
    size_t block = 0;
    for (size_t r = 0; r < n_runs; r++) {
        uint64_t end = (uint64_t)((double)rows->rows * (double)(r + 1) / (double)n_runs);
        size_t first = block;
        while (block < rows->n_blocks && (r + 1 == n_runs || sum < end))
            sum += rows->blocks[block++].rows;
        o->runs[r] = (hac_row_run){.first_block = first, .n_blocks = block - first};
    }
    o->n_runs = n_runs;
}

/* Keeps the rows in their order. */
static void number_rows(const hac_rows_reader *rows, uint64_t n, uint64_t *order)
{
    uint64_t k = 0;
    for (size_t b = 0; b < rows->n_blocks; b++)
        for (uint32_t i = 0; i < rows->blocks[b].rows && k < n; i++)
            order[k++] = b * HAC_BATCH_ROWS + i;
}

static hac_status order_rows(const hac_query *query, const hac_rows_reader *rows, uint64_t *order, uint64_t n,
                             hac_error *err)
{
    uint64_t n_runs = rows->rows / RUN_MIN + 1;
    ordering o = {.keep = n, .part = PART_MIN, .order = order, .n = n};
    hac_autofree hac_row_run *runs = calloc(RUNS_MAX, sizeof *runs);
    if (runs == NULL)
        return hac_fail_no_memory(err);
    o.runs = runs;
    hac_row_keys_init(query, rows, &o.keys);
    divide_blocks(rows, &o, n_runs < RUNS_MAX ? (size_t)n_runs : RUNS_MAX);
    hac_status status = hac_pool_run(o.n_runs, make_run, &o, err);
    if (status == HAC_OK)
        status = hac_pool_run((n + o.part - 1) / o.part, order_part, &o, err);
    for (size_t r = 0; r < o.n_runs; r++)
        free((void *)(uintptr_t)runs[r].entries);
    return status;
}

/* Drops the first rows: `offset` of them. */
static void drop_front(uint64_t *order, uint64_t *n, uint64_t offset)
{
    uint64_t front = *n < offset ? *n : offset;
    *n -= front;
    if (front > 0)
        memmove(order, order + front, *n * sizeof *order);
}

/* There are *n rows to be put in order; those that limit_by leaves remain. */
static hac_status order_all_rows(const hac_query *query, const hac_rows_reader *rows, uint64_t *order,
                                 uint64_t *n, hac_error *err)
{
    hac_status status = HAC_OK;
    if (query->n_order == 0)
        number_rows(rows, *n, order);
    else if (*n != 0)
        status = order_rows(query, rows, order, *n, err);
    if (status == HAC_OK && query->n_limit_by > 0)
        status = hac_limit_by(query, rows, order_rows, order, *n, n, err);
    return status;
}

hac_status hac_finish_order(const hac_query *query, const hac_rows_reader *rows, uint64_t **ret,
                            uint64_t *ret_n, uint64_t *ret_passed, hac_error *err)
{
    uint64_t n = rows->rows < query->limit ? rows->rows : query->limit;
    hac_autofree uint64_t *order = malloc((n + 1) * sizeof *order);
    if (order == NULL)
        return hac_fail_no_memory(err);
    hac_status status = HAC_OK;
    bool done = false;
    if (query->n_limit_by > 0)
        status = hac_limit_by_few(query, rows, order, &n, &done, err);
    if (status == HAC_OK && !done)
        status = order_all_rows(query, rows, order, &n, err);
    if (query->n_limit_by > 0)
        n = n < query->limit_after ? n : query->limit_after;
    if (status != HAC_OK)
        return status;
    *ret_passed = n;
    drop_front(order, &n, query->offset);
    *ret = hac_steal_ptr(order);
    *ret_n = n;
    return HAC_OK;
}

hac_status hac_finish_rows(const hac_query *query, const hac_rows_reader *rows, uint8_t *result,
                           uint64_t capacity, hac_finished *ret, hac_error *err)
{
    hac_autofree uint64_t *order = NULL;
    hac_ordered_rows ordered = {.query = query, .rows = rows};
    uint64_t bytes = 0, passed = 0;
    hac_status status = hac_finish_order(query, rows, &order, &ordered.n, &passed, err);
    if (status != HAC_OK)
        return status;
    ordered.order = order;
    if (query->output == HAC_RESULT_TABLE)
        status = hac_finish_table(&ordered, result, capacity, &bytes, err);
    else if (query->output == HAC_RESULT_PARQUET)
        status = hac_finish_parquet(&ordered, result, capacity, &bytes, err);
    else
        status = hac_finish_text(&ordered, result, capacity, &bytes, err);
    if (status == HAC_OK)
        *ret = (hac_finished){.rows = ordered.n, .passed = passed, .bytes = bytes};
    return status;
}
