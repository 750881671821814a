/* SPDX-License-Identifier: Apache-2.0 */
/* query.footer; query.whole: everything of a small job in one task, as one chunk. */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "chunk_rows.h"
#include "expr/query_facts.h"
#include "query/codelets.h"
#include "query/finish.h"
#include "query/group_table.h"
#include "results/distinct_counts.h"
#include "results/group_rows.h"

#define FIRST_CAPACITY (UINT64_C(1) << 16)
#define TABLE_MEMORY   (UINT64_C(1) << 29) /* the source is at most 1 MiB */

/* ---- query.footer ---- */

/* Some writers leave the uncompressed size 0. */
static uint64_t decoded_bytes(const hac_parquet_chunk *chunk)
{
    return chunk->uncompressed > chunk->bytes ? chunk->uncompressed : chunk->bytes;
}

/* The source that says which row groups are answered; NULL: none are. A source that cannot be opened fails
 * the tasks that read it, which say what is wrong. */
static hac_source *open_answering(const hac_query_task *t)
{
    uint8_t wants[HAC_COLUMNS_MAX];
    hac_source *source = NULL;
    if (!hac_query_statistics_answer(t->query, wants) ||
        hac_source_open(t->query, &t->place, NULL, &source, NULL) != HAC_OK)
        return NULL;
    if (hac_source_answer(source, wants, NULL) == HAC_OK)
        return source;
    hac_source_free(source);
    return NULL;
}

static void count_bytes(const hac_query_task *t, uint64_t first, uint64_t end, uint64_t *values)
{
    hac_source *source = open_answering(t);
    for (size_t i = 0; i < hac_query_columns_in_file(t->query); i++) {
        const hac_field *field = &t->query->columns.fields[i];
        int leaf = hac_parquet_find(t->parquet, field->name, strlen(field->name));
        for (uint64_t g = first; leaf >= 0 && g < end; g++) {
            uint64_t bytes = decoded_bytes(&t->parquet->groups[g].chunks[leaf]);
            values[HAC_FOOTER_DECODED] += bytes;
            if (source != NULL && hac_source_is_answered(source, g))
                values[HAC_FOOTER_ANSWERED] += bytes;
        }
    }
    hac_source_free(source);
}

/* Figures of a parquet source for the planner. */
static void count_rows(const hac_query_task *t, uint64_t *values)
{
    const hac_parquet_file *file = t->parquet;
    const hac_input_options *options = &t->query->source.options;
    if (file == NULL)
        return;
    values[HAC_FOOTER_STAMP] = t->place.stamp;
    uint64_t end = options->row_groups != 0 ? options->first_row_group + options->row_groups : file->n_groups;
    end = end < file->n_groups ? end : file->n_groups;
    for (uint64_t g = options->first_row_group; g < end; g++) {
        uint64_t rows = file->groups[g].rows;
        values[HAC_FOOTER_ROWS] += rows;
        if (rows > values[HAC_FOOTER_GROUP_ROWS])
            values[HAC_FOOTER_GROUP_ROWS] = rows;
    }
    count_bytes(t, options->first_row_group, end, values);
}

hac_status hac_query_check_footer(const hac_device_facts *facts, const hac_task *task, hac_error *err)
{
    (void)facts;
    return hac_query_check_params(task, err);
}

hac_status hac_query_run_footer(hac_device *device, const hac_task *task, hac_task_result *result,
                                hac_error *err)
{
    (void)device;
    hac_query_task t;
    hac_status status = hac_query_task_read(task, 0, &t, err);
    if (status != HAC_OK)
        return status;
    status = hac_query_check_source(&t, err);
    if (status == HAC_OK)
        count_rows(&t, result->values);
    result->n_values = HAC_FOOTER_N_VALUES;
    hac_query_task_clear(&t);
    return status;
}

/* ---- query.whole ---- */

hac_status hac_query_check_whole(const hac_device_facts *facts, const hac_task *task, hac_error *err)
{
    (void)facts;
    return hac_query_check_inline(task, err);
}

static hac_status add_answers(hac_chunk_rows *rows, hac_group_table *table, hac_error *err)
{
    uint64_t more, nulls[HAC_PROGRAM_OUTPUTS_MAX];
    hac_status status;
    while ((status = hac_chunk_rows_answer(rows, &more, nulls)) == HAC_OK) {
        status = hac_group_table_add(table, rows->columns, HAC_ANSWER_ROWS, err);
        if (status == HAC_OK)
            status = hac_group_table_correct(table, more, nulls, err);
        if (status != HAC_OK)
            return status;
    }
    return status == HAC_NOT_FOUND ? HAC_OK : status;
}

static hac_status aggregate_all(hac_chunk_rows *rows, hac_group_table *table, hac_error *err)
{
    hac_status status;
    uint64_t all;
    size_t n;
    if (hac_chunk_rows_all(rows, &all))
        return hac_group_table_count(table, all, err);
    while ((status = hac_chunk_rows_next(rows, &n, err)) == HAC_OK)
        if ((status = hac_group_table_add(table, rows->columns, n, err)) != HAC_OK)
            return status;
    return status == HAC_NOT_FOUND ? add_answers(rows, table, err) : status;
}

/* Writes output rows to memory, which is enlarged until they fit. */
typedef hac_status (*write_rows)(void *context, hac_rows_writer *writer, hac_error *err);

static hac_status write_to_memory(write_rows write, void *context, uint64_t seed, uint8_t **ret,
                                  uint64_t *ret_bytes, hac_error *err)
{
    for (uint64_t capacity = FIRST_CAPACITY;;) {
        hac_rows_writer writer;
        hac_autofree uint8_t *region = aligned_alloc(64, capacity);
        if (region == NULL)
            return hac_fail_no_memory(err);
        hac_rows_begin(&writer, region, capacity, seed, 0);
        hac_status status = write(context, &writer, err);
        if (status != HAC_OK)
            return status;
        if (hac_rows_end(&writer)) {
            *ret = hac_steal_ptr(region);
            *ret_bytes = writer.bytes;
            return HAC_OK;
        }
        capacity = (writer.bytes + 63) / 64 * 64;
    }
}

/* Counters for all rows of the source, even if the result was written several times. */
typedef struct row_counts {
    uint64_t read, kept;
    hac_source_counters source;
} row_counts;

static void end_rows(hac_chunk_rows *rows, row_counts *ret)
{
    *ret = (row_counts){.read = rows->read, .kept = rows->kept};
    if (rows->source != NULL)
        hac_source_count(rows->source, &ret->source);
    hac_chunk_rows_clear(rows);
}

typedef struct grouped {
    hac_group_rows group_rows;
    hac_group_table *table;
    hac_group_table *counts; /* of a query that counts distinct values */
} grouped;

static hac_status write_groups(void *context, hac_rows_writer *writer, hac_error *err)
{
    grouped *g = context;
    return hac_group_rows_add(&g->group_rows, g->counts != NULL ? g->counts : g->table, writer, err);
}

typedef struct fixed {
    const hac_query_task *task;
    row_counts *counts;
} fixed;

static hac_status write_plain(void *context, hac_rows_writer *writer, hac_error *err)
{
    const fixed *p = context;
    const hac_query_task *t = p->task;
    uint64_t max = t->query->n_order == 0 ? t->query->limit : UINT64_MAX;
    hac_chunk_rows rows;
    size_t n;
    hac_status status = hac_chunk_rows_init(t, &rows, err);
    if (status != HAC_OK)
        return status;
    status = hac_source_begin(rows.source, 0, t->source_bytes, false, err);
    while (status == HAC_OK && writer->rows < max) {
        status = hac_chunk_rows_next(&rows, &n, err);
        if (status == HAC_OK)
            hac_rows_add(writer, rows.columns, t->query->outputs.n_fields,
                         n < max - writer->rows ? n : (size_t)(max - writer->rows));
    }
    end_rows(&rows, p->counts);
    return status == HAC_NOT_FOUND ? HAC_OK : status;
}

static hac_status group_all(const hac_query_task *t, grouped *g, row_counts *counts, hac_error *err)
{
    hac_group_options options = {.seed = t->seed, .memory = TABLE_MEMORY, .partitions = 1};
    hac_chunk_rows rows = {0};
    hac_status status = hac_group_rows_init(t->query, &g->group_rows, err);
    if (status == HAC_OK)
        status = hac_group_table_new(t->grouped, &options, &g->table, err);
    if (status == HAC_OK)
        status = hac_chunk_rows_init(t, &rows, err);
    if (status == HAC_OK)
        status = hac_chunk_rows_let_answer(&rows, err);
    if (status == HAC_OK)
        status = hac_source_begin(rows.source, 0, t->source_bytes, false, err);
    if (status == HAC_OK)
        status = aggregate_all(&rows, g->table, err);
    if (status == HAC_OK)
        status = hac_group_table_ensure(g->table, err);
    end_rows(&rows, counts);
    if (status == HAC_OK && t->distinct != NULL)
        status = hac_group_table_new(&t->distinct->counts, &options, &g->counts, err);
    if (status == HAC_OK && t->distinct != NULL)
        status = hac_distinct_counts_add(t->distinct, g->table, g->counts, err);
    return status;
}

static hac_status make_rows(hac_query_task *t, row_counts *counts, uint8_t **ret, uint64_t *ret_bytes,
                            hac_error *err)
{
    grouped g = {.table = NULL};
    hac_status status;
    if (t->query->aggregates) {
        status = group_all(t, &g, counts, err);
        if (status == HAC_OK)
            status = write_to_memory(write_groups, &g, t->seed, ret, ret_bytes, err);
        hac_group_table_free(g.table);
        hac_group_table_free(g.counts);
        hac_group_rows_clear(&g.group_rows);
        return status;
    }
    return write_to_memory(write_plain, &(fixed){t, counts}, t->seed, ret, ret_bytes, err);
}

/* Stores the result: inline if there is no span. */
static uint8_t *result_memory(const hac_task *task, hac_task_result *result, uint64_t *ret_capacity)
{
    bool is_inline = task->spans[0].bytes == 0;
    *ret_capacity = is_inline ? HAC_INLINE_MAX : task->spans[0].bytes;
    return is_inline ? result->inline_out : task->spans[0].data;
}

/* A small result always comes inline: the client need not map the span. */
static void put_result(const hac_task *task, uint64_t rows, uint64_t bytes, hac_task_result *result)
{
    bool is_inline = task->spans[0].bytes == 0;
    if (!is_inline && bytes > 0 && bytes <= HAC_INLINE_MAX && bytes <= task->spans[0].bytes)
        memcpy(result->inline_out, task->spans[0].data, (size_t)bytes);
    if (bytes <= HAC_INLINE_MAX && (is_inline || bytes <= task->spans[0].bytes))
        result->inline_out_bytes = bytes;
    result->values[0] = rows;
    result->values[1] = bytes;
    result->n_values = HAC_WHOLE_N_VALUES;
}

static hac_status finish_whole(const hac_task *task, hac_query_task *t, hac_task_result *result,
                               hac_error *err)
{
    hac_autofree uint8_t *region = NULL;
    uint64_t bytes = 0;
    hac_finished finished;
    hac_rows_reader reader;
    row_counts counts = {0};
    uint64_t capacity;
    uint8_t *to = result_memory(task, result, &capacity);
    hac_status status = make_rows(t, &counts, &region, &bytes, err);
    if (status != HAC_OK)
        return status;
    hac_rows_reader_init(&reader, t->query);
    status = hac_rows_reader_add(&reader, region, bytes, t->seed, 0, err);
    if (status == HAC_OK)
        status = hac_finish_rows(t->query, &reader, to, capacity, &finished, err);
    hac_rows_reader_clear(&reader);
    if (status != HAC_OK)
        return status;
    put_result(task, finished.rows, finished.bytes, result);
    result->values[HAC_WHOLE_VALUE_READ] = counts.read + counts.source.passed_over;
    result->values[HAC_WHOLE_VALUE_KEPT] = counts.kept;
    result->values[HAC_WHOLE_VALUE_SKIPPED] = counts.source.skipped;
    hac_source_put_counters(&counts.source, result->values + HAC_WHOLE_VALUE_READING);
    return HAC_OK;
}

hac_status hac_query_run_whole(hac_device *device, const hac_task *task, hac_task_result *result,
                               hac_error *err)
{
    (void)device;
    hac_query_task t;
    hac_status status = hac_query_task_read(task, 1, &t, err);
    if (status != HAC_OK)
        return status;
    status = finish_whole(task, &t, result, err);
    status = hac_query_source_read(&t, status, err);
    hac_query_task_clear(&t);
    return status;
}
