/* SPDX-License-Identifier: Apache-2.0 */
#include "scout.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "chunk_top.h"
#include "codelet/threads.h"
#include "expr/query_facts.h"
#include "results/row_runs.h"

#define GROUP_ROWS_MAX (UINT64_C(64) << 10) /* rows whose pages one row unpacks, in larger row groups */

/* The first rows of a chunk: rows of the scout's query. */
typedef struct chunk_region {
    uint8_t *data;
    uint64_t bytes;
} chunk_region;

typedef struct scout_worker {
    hac_chunk_rows rows;
    hac_chunk_top top;
} scout_worker;

typedef struct scout_job {
    const hac_query_task *task;
    uint64_t first, count;
    hac_query query; /* outputs: the items of the order, then the rows' numbers */
    hac_query_task scouting;
    hac_top_shared top;
    scout_worker *workers;
    chunk_region *regions; /* of the chunks */
    uint64_t memory;       /* bytes that all regions may take */
    atomic_uint_fast64_t used;
} scout_job;

/* ---- whether it pays ---- */

/* Whether rows have columns that neither the order nor the filter reads, and no expression can fail. */
static bool has_others(const hac_query *query, const hac_program *order)
{
    bool wanted[HAC_PROGRAM_INPUTS_MAX] = {false}, read[HAC_PROGRAM_INPUTS_MAX] = {false};
    if (hac_program_may_fail(query->rows))
        return false;
    hac_program_reads(query->rows, wanted);
    hac_program_reads(order, read);
    if (query->filter != NULL)
        hac_program_reads(query->filter, read);
    for (size_t i = 0; i < query->columns.n_fields; i++)
        if (wanted[i] && !read[i])
            return true;
    return false;
}

static bool pays(const scout_job *j)
{
    const hac_parquet_file *file = j->task->place.parquet;
    uint64_t first, end, last;
    if (file == NULL || file->n_groups == 0)
        return false;
    hac_query_task_chunk(j->task, j->first, &first, &end);
    hac_query_task_chunk(j->task, j->first + j->count - 1, &last, &end);
    uint64_t group = file->rows / file->n_groups;
    group = group < GROUP_ROWS_MAX ? group : GROUP_ROWS_MAX;
    return j->task->query->limit <= (end - first) / (group + 1) && has_others(j->task->query, j->query.rows);
}

/* ---- the query of the order ---- */

static hac_status make_query(scout_job *j, hac_error *err)
{
    const hac_query *query = j->task->query;
    uint16_t outputs[HAC_PROGRAM_OUTPUTS_MAX];
    size_t n = query->n_order;
    j->query = *query;
    j->query.rows = NULL;
    j->query.outputs = (hac_schema){.fields = calloc(n + 1, sizeof(hac_field)), .n_fields = n + 1};
    j->query.order = calloc(n + 1, sizeof *j->query.order);
    if (j->query.outputs.fields == NULL || j->query.order == NULL)
        return hac_fail_no_memory(err);
    for (size_t i = 0; i < n; i++) {
        outputs[i] = query->order[i].column;
        j->query.order[i] = (hac_order_item){(uint16_t)i, query->order[i].descending};
        j->query.outputs.fields[i].type = query->outputs.fields[outputs[i]].type;
    }
    j->query.outputs.fields[n].type = (hac_value_type){.kind = HAC_KIND_U64};
    j->query.n_visible = n + 1;
    return hac_program_part(query->rows, outputs, n, &j->query.rows, err);
}

/* ---- chunks ---- */

/* HAC_NO_MEMORY: also if all regions together would take more than they may. */
static hac_status enlarge(scout_job *j, chunk_region *region, uint64_t bytes, hac_error *err)
{
    free(region->data);
    region->data = NULL;
    uint64_t more = bytes - region->bytes, used = atomic_fetch_add(&j->used, more);
    region->bytes = bytes;
    if (bytes > j->memory || used > j->memory - more)
        return hac_fail(err, HAC_NO_MEMORY, "the rows that are scouted need more than %llu bytes of memory",
                        (unsigned long long)j->memory);
    region->data = aligned_alloc(64, (bytes + 63) & ~63ull);
    return region->data != NULL ? HAC_OK : hac_fail_no_memory(err);
}

/* Keeps the chunk's first rows: its region is enlarged until they fit. */
static hac_status keep_rows(scout_job *j, hac_chunk_top *top, chunk_region *region, uint64_t chunk,
                            hac_error *err)
{
    hac_rows_writer writer = {.bytes = UINT64_C(4) << 10};
    do {
        if (enlarge(j, region, writer.bytes, err) != HAC_OK)
            return HAC_NO_MEMORY;
        hac_rows_begin(&writer, region->data, region->bytes, 0, chunk);
        hac_status status = hac_top_rows_end(&top->rows, &writer, err);
        if (status != HAC_OK)
            return status;
    } while (!hac_rows_end(&writer));
    return HAC_OK;
}

static hac_status scout_chunk(void *context, uint64_t item, unsigned thread, hac_error *err)
{
    scout_job *j = context;
    scout_worker *w = &j->workers[thread];
    uint64_t chunk = j->first + item, number = j->task->first_chunk + chunk;
    hac_status status = HAC_OK;
    if (w->rows.source == NULL)
        status = hac_chunk_rows_init(&j->scouting, &w->rows, err);
    w->rows.numbered = true;
    if (status == HAC_OK)
        status = hac_chunk_rows_begin(&w->rows, &j->scouting, &(hac_span){0}, chunk, err);
    if (status == HAC_OK)
        status = hac_chunk_top_read(&w->top, &j->top, &w->rows, number, err);
    if (status == HAC_OK)
        status = keep_rows(j, &w->top, &j->regions[item], number, err);
    hac_chunk_rows_end(&w->rows);
    return status;
}

/* ---- the first rows of all chunks ---- */

static int compare_numbers(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* blocks[i] is the end of the blocks of chunk i. */
static hac_status list_rows(const scout_job *j, const hac_rows_reader *reader, const size_t *blocks,
                            const hac_row_entry *entries, uint64_t n, hac_scout *ret, hac_error *err)
{
    ret->numbers = malloc((n + 1) * sizeof *ret->numbers);
    ret->firsts = calloc(j->count + 1, sizeof *ret->firsts);
    if (ret->numbers == NULL || ret->firsts == NULL)
        return hac_fail_no_memory(err);
    for (uint64_t i = 0; i < n; i++) {
        size_t block = entries[i].at / HAC_BATCH_ROWS;
        uint64_t words[2], chunk = 0;
        while (blocks[chunk] <= block)
            chunk++;
        ret->firsts[chunk + 1]++;
        (void)hac_rows_value(reader, block, (uint32_t)(entries[i].at % HAC_BATCH_ROWS), j->query.n_order,
                             words);
        ret->numbers[i] = words[0];
    }
    for (uint64_t c = 0; c < j->count; c++)
        ret->firsts[c + 1] += ret->firsts[c];
    qsort(ret->numbers, n, sizeof *ret->numbers, compare_numbers); /* chunks are in the order of rows */
    return HAC_OK;
}

static hac_status find_first(const scout_job *j, hac_scout *ret, hac_error *err)
{
    hac_rows_reader reader;
    hac_row_keys keys;
    hac_autofree hac_row_entry *entries = NULL;
    uint64_t n = 0;
    hac_autofree size_t *blocks = calloc(j->count + 1, sizeof *blocks);
    hac_status status = blocks == NULL ? hac_fail_no_memory(err) : HAC_OK;
    hac_rows_reader_init(&reader, &j->query);
    for (uint64_t i = 0; i < j->count && status == HAC_OK; i++) {
        status = hac_rows_reader_add(&reader, j->regions[i].data, j->regions[i].bytes, 0,
                                     j->task->first_chunk + j->first + i, err);
        blocks[i] = reader.n_blocks;
    }
    hac_row_keys_init(&j->query, &reader, &keys);
    if (status == HAC_OK)
        status = hac_row_run_make(&keys, 0, reader.n_blocks, j->query.limit, &entries, &n, err);
    if (status == HAC_OK)
        status = list_rows(j, &reader, blocks, entries, n, ret, err);
    hac_rows_reader_clear(&reader);
    return status;
}

/* ---- all of it ---- */

static void clear(scout_job *j, hac_scout *ret)
{
    for (unsigned i = 0; j->workers != NULL && i < hac_pool_threads(); i++) {
        scout_worker *w = &j->workers[i];
        ret->read += w->rows.read;
        ret->kept += w->rows.kept;
        if (w->rows.source != NULL) {
            hac_source_count(w->rows.source, &ret->counters);
            hac_chunk_rows_count(&w->rows, &ret->splice);
        }
        hac_chunk_top_clear(&w->top);
        hac_chunk_rows_clear(&w->rows);
    }
    for (uint64_t i = 0; j->regions != NULL && i < j->count; i++)
        free(j->regions[i].data);
    free(j->workers);
    free(j->regions);
    free(j->query.outputs.fields);
    free(j->query.order);
    hac_program_free(j->query.rows);
}

/* Whether sources leave out rows by the first item of the order; opens the first worker's source. */
static hac_status may_cut(scout_job *j, bool *ret, hac_error *err)
{
    int input = hac_program_output_input(j->query.rows, 0);
    hac_status status = hac_chunk_rows_init(&j->scouting, &j->workers[0].rows, err);
    *ret = status == HAC_OK && input >= 0 && hac_source_numbers(j->workers[0].rows.source) != NULL &&
           hac_source_may_cut(j->workers[0].rows.source, (size_t)input);
    return status;
}

hac_status hac_scout_run(const hac_query_task *task, uint64_t first, uint64_t count, hac_scout *ret,
                         hac_error *err)
{
    scout_job j = {.task = task,
                   .first = first,
                   .count = count,
                   .top = HAC_TOP_SHARED_INIT,
                   .memory = hac_query_table_memory(task->region)};
    hac_scout found = {0};
    bool cuts = false;
    if (!hac_query_wants_first(task->query) || task->place.parquet == NULL || count == 0)
        return HAC_OK;
    if (task->query->n_order >= HAC_PROGRAM_OUTPUTS_MAX) /* the row's number is one output more */
        return HAC_OK;
    hac_status status = make_query(&j, err);
    if (status == HAC_OK && pays(&j)) {
        j.scouting = *task;
        j.scouting.query = &j.query;
        j.workers = calloc(hac_pool_threads(), sizeof *j.workers);
        j.regions = calloc(count, sizeof *j.regions);
        status = j.workers == NULL || j.regions == NULL ? hac_fail_no_memory(err) : may_cut(&j, &cuts, err);
    }
    if (status == HAC_OK && cuts)
        status = hac_pool_run(count, scout_chunk, &j, err);
    if (status == HAC_NO_MEMORY) { /* the rows are read without */
        status = HAC_OK;
        cuts = false;
    }
    if (status == HAC_OK && cuts)
        status = find_first(&j, &found, err);
    clear(&j, &found);
    if (status != HAC_OK || !cuts)
        hac_scout_clear(&found);
    else
        *ret = found;
    return status;
}

void hac_scout_clear(hac_scout *scout)
{
    free(scout->numbers);
    free(scout->firsts);
    *scout = (hac_scout){0};
}
