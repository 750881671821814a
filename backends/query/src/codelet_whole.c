/* SPDX-License-Identifier: Apache-2.0 */
/* query.compile; query.whole: everything of a small job in one task, as one chunk. */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "chunk_rows.h"
#include "emit.h"
#include "query/codelets.h"
#include "query/finish.h"
#include "query/group_table.h"
#include "query/layout.h"

#define FIRST_ROOM   (UINT64_C(1) << 16)
#define TABLE_MEMORY (UINT64_C(1) << 29) /* the source is at most 1 MiB */

/* ---- query.compile ---- */

static hac_status check_inline(const hac_task *task, size_t param, hac_error *err)
{
    if (param < task->n_params && task->params[param] > task->inline_in_bytes)
        return hac_fail(err, HAC_INVALID, "the inline data is shorter than its query");
    if (task->params[0] > INT64_MAX)
        return hac_fail(err, HAC_INVALID, "a source of %llu bytes", (unsigned long long)task->params[0]);
    return HAC_OK;
}

hac_status hac_query_check_compile(const hac_device_facts *facts, const hac_task *task, hac_error *err)
{
    (void)facts;
    return check_inline(task, 1, err);
}

/* The source of a task whose query is yet to be compiled; `query_bytes` is the query's part of the inline
 * data. */
static hac_source_place place_of(const hac_task *task, const hac_span *span, size_t query_bytes)
{
    hac_source_place place = {.fd = task->fd, .bytes = task->params[0]};
    uint64_t room = UINT64_MAX;
    if (place.fd < 0 && span != NULL && span->bytes != 0) {
        place.memory = span->data;
        room = span->bytes;
    } else if (place.fd < 0) {
        place.memory = task->inline_in + query_bytes;
        room = task->inline_in_bytes - query_bytes;
    }
    place.bytes = place.bytes < room ? place.bytes : room;
    return place;
}

static bool is_exact_everywhere(const hac_query *q)
{
    return (q->filter == NULL || hac_program_exact(q->filter)) && hac_program_exact(q->rows);
}

static bool fits_device(const hac_query *q)
{
    return (q->filter == NULL || hac_program_fits_device(q->filter)) && hac_program_fits_device(q->rows) &&
           q->aggregates && is_exact_everywhere(q);
}

static bool uses_f64(const hac_program *program)
{
    bool some = false;
    for (size_t i = 0; program != NULL && i < program->n_registers; i++)
        some |= program->registers[i] == HAC_REPR_F64;
    return some;
}

static uint64_t flags_of(const hac_query *q)
{
    uint64_t flags = 0;
    flags |= q->aggregates ? HAC_COMPILED_AGGREGATES : 0;
    flags |= hac_query_order_matters(q) ? HAC_COMPILED_ORDER_MATTERS : 0;
    flags |= fits_device(q) ? HAC_COMPILED_FITS_DEVICE : 0;
    flags |= is_exact_everywhere(q) ? 0 : HAC_COMPILED_HOST_FUNCTION;
    flags |= q->source.format == HAC_FORMAT_CSV ? HAC_COMPILED_NEEDS_QUOTES : 0;
    flags |= uses_f64(q->filter) || uses_f64(q->rows) ? HAC_COMPILED_NEEDS_F64 : 0;
    return flags;
}

/* What the accumulators want of a device. */
static uint64_t with_accumulators(uint64_t flags, const hac_group_layout *layout)
{
    for (size_t i = 0; i < layout->n_accumulators; i++) {
        const hac_accumulator *a = &layout->accumulators[i];
        if (!hac_accumulator_fits_device(a))
            flags = (flags & ~(uint64_t)HAC_COMPILED_FITS_DEVICE) | HAC_COMPILED_HOST_AGGREGATE;
        if (a->repr == HAC_REPR_F32 || a->repr == HAC_REPR_F64) /* floats are ordered and added up as f64 */
            flags |= HAC_COMPILED_NEEDS_F64;
        if (a->kind != HAC_ACCUMULATOR_SUM)
            flags |= HAC_COMPILED_NEEDS_ATOMICS;
    }
    return flags;
}

static uint64_t output_bytes(const hac_query *q)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < q->n_visible; i++)
        sum += hac_kind_is_text(q->outputs.fields[i].type.kind) ? 17 : 13;
    return sum;
}

/* Of a row at most, as text of any format; its texts have their own bytes besides. */
static uint64_t output_most(const hac_query *q)
{
    static const uint8_t widest[HAC_KIND_END] = {
        [HAC_KIND_BOOL] = 5,       [HAC_KIND_I8] = 4,
        [HAC_KIND_I16] = 6,        [HAC_KIND_I32] = 11,
        [HAC_KIND_I64] = 20,       [HAC_KIND_U8] = 3,
        [HAC_KIND_U16] = 5,        [HAC_KIND_U32] = 10,
        [HAC_KIND_U64] = 20,       [HAC_KIND_F32] = 16,
        [HAC_KIND_F64] = 25,       [HAC_KIND_DATE] = 12,
        [HAC_KIND_TIMESTAMP] = 29, [HAC_KIND_DECIMAL] = HAC_DECIMAL_DIGITS_MAX + 3};
    uint64_t sum = 0;
    for (size_t i = 0; i < q->n_visible; i++) {
        sum += widest[q->outputs.fields[i].type.kind] + 4; /* what is around it */
        sum += q->output == HAC_OUTPUT_JSON ? strlen(q->outputs.fields[i].name) + 4 : 0;
    }
    return sum;
}

static bool gives_text(const hac_query *q)
{
    bool text = false;
    for (size_t i = 0; i < q->n_visible; i++)
        text |= hac_kind_is_text(q->outputs.fields[i].type.kind);
    return text;
}

/* Bytes of a row of query.rows. */
static uint64_t row_bytes(const hac_query *q)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < q->outputs.n_fields; i++)
        sum += hac_repr_of(q->outputs.fields[i].type) == HAC_REPR_STRING
                   ? 24
                   : hac_repr_size(hac_repr_of(q->outputs.fields[i].type)) + 1;
    return sum;
}

static hac_status describe(const hac_query *q, hac_task_result *result, hac_error *err)
{
    uint64_t group_bytes = row_bytes(q), flags = flags_of(q);
    if (q->aggregates) {
        hac_group_layout layout;
        hac_status status = hac_group_layout_init(q, &layout, err);
        if (status != HAC_OK)
            return status;
        group_bytes = layout.stride;
        flags = with_accumulators(flags, &layout);
        hac_group_layout_clear(&layout);
    }
    result->values[HAC_COMPILE_FLAGS] = flags | (gives_text(q) ? HAC_COMPILED_GIVES_TEXT : 0);
    result->values[HAC_COMPILE_KEYS] = q->n_keys;
    result->values[HAC_COMPILE_AGGREGATES] = q->n_aggregates;
    result->values[HAC_COMPILE_GROUP_BYTES] = group_bytes;
    result->values[HAC_COMPILE_OUTPUT_BYTES] = output_bytes(q);
    result->values[HAC_COMPILE_OUTPUT_MOST] = output_most(q);
    result->n_values = HAC_COMPILE_N_VALUES;
    return HAC_OK;
}

/* What the planner wants to know of a parquet source. */
static void count_rows(const hac_query_task *t, uint64_t *values)
{
    const hac_parquet_file *file = t->parquet;
    const hac_source_options *options = &t->query->source;
    if (file == NULL)
        return;
    values[HAC_COMPILE_STAMP] = t->place.stamp;
    uint64_t end = options->groups != 0 ? options->first_group + options->groups : file->n_groups;
    end = end < file->n_groups ? end : file->n_groups;
    for (uint64_t g = options->first_group; g < end; g++) {
        uint64_t rows = file->groups[g].rows;
        values[HAC_COMPILE_ROWS] += rows;
        if (rows > values[HAC_COMPILE_GROUP_ROWS])
            values[HAC_COMPILE_GROUP_ROWS] = rows;
    }
    for (size_t i = 0; i < t->query->columns.n_fields; i++) {
        const hac_field *field = &t->query->columns.fields[i];
        int leaf = hac_parquet_find(file, field->name, strlen(field->name));
        for (uint64_t g = options->first_group; leaf >= 0 && g < end; g++)
            values[HAC_COMPILE_DECODED] += file->groups[g].chunks[leaf].uncompressed;
    }
}

hac_status hac_query_run_compile(hac_device *device, const hac_task *task, hac_task_result *result,
                                 hac_error *err)
{
    (void)device;
    size_t bytes = task->n_params > 1 && task->params[1] != 0 ? task->params[1] : task->inline_in_bytes;
    const hac_span *span = task->n_spans > 0 ? &task->spans[0] : NULL;
    bool split = task->n_params > HAC_QUERY_PARAM_SPLIT && task->params[HAC_QUERY_PARAM_SPLIT] != 0;
    hac_query_task t = {.place = {.fd = -1}};
    hac_status status = HAC_OK;
    if (split)
        status = hac_query_open_split(task, span, &t, err);
    else
        t.place = place_of(task, span, bytes);
    if (status == HAC_OK)
        status = hac_query_compile_spec(task->inline_in, bytes, &t, err);
    if (status == HAC_OK && t.describe)
        status = hac_fail(err, HAC_INVALID, "a description is no query");
    if (status == HAC_OK)
        status = hac_query_blob_write(t.query, t.table.n_columns != 0 ? &t.table : NULL, result->inline_out,
                                      HAC_INLINE_MAX, &result->inline_out_bytes, err);
    if (status == HAC_OK)
        status = describe(t.query, result, err);
    if (status == HAC_OK)
        count_rows(&t, result->values);
    hac_query_task_clear(&t);
    return status;
}

/* ---- query.footer ---- */

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
    result->n_values = HAC_COMPILE_N_VALUES;
    hac_query_task_clear(&t);
    return status;
}

/* ---- query.whole ---- */

hac_status hac_query_check_whole(const hac_device_facts *facts, const hac_task *task, hac_error *err)
{
    (void)facts;
    return check_inline(task, HAC_QUERY_PARAM_INLINE, err);
}

/* The inline data begins with a compiled query, or with a specification that is yet to be compiled. */
static hac_status read_whole(const hac_task *task, hac_query_task *ret, hac_error *err)
{
    uint64_t magic = 0,
             bytes = task->n_params > HAC_QUERY_PARAM_INLINE ? task->params[HAC_QUERY_PARAM_INLINE] : 0;
    if (bytes == 0)
        bytes = task->inline_in_bytes;
    if (bytes >= sizeof magic)
        memcpy(&magic, task->inline_in, sizeof magic);
    if (magic == HAC_QUERY_BLOB_MAGIC)
        return hac_query_task_read(task, 1, ret, err);
    const hac_span *span = task->n_spans > 1 ? &task->spans[1] : NULL;
    hac_query_task t = {.source_bytes = task->params[0], .place = place_of(task, span, bytes)};
    hac_status status = hac_query_compile_spec(task->inline_in, bytes, &t, err);
    if (status == HAC_OK && t.parquet != NULL) {
        t.source_bytes = UINT64_MAX; /* all rows */
    } else if (status == HAC_OK && t.table.n_columns != 0) {
        t.place.bytes = span == NULL ? 0 : span->bytes;
        t.place.memory = span == NULL ? NULL : span->data;
        t.source_bytes = t.table.rows;
        status = hac_table_check(&t.table, t.place.bytes, err);
    } else if (status == HAC_OK && t.place.bytes < t.source_bytes) {
        status = hac_fail(err, HAC_INVALID, "the source is shorter than said");
    }
    if (status != HAC_OK)
        hac_query_task_clear(&t);
    else
        *ret = t;
    return status;
}

static hac_status aggregate_all(hac_chunk_rows *rows, hac_group_table *table, hac_error *err)
{
    hac_status status;
    size_t n;
    while ((status = hac_chunk_rows_next(rows, &n, err)) == HAC_OK)
        if ((status = hac_group_table_add(table, rows->columns, n, err)) != HAC_OK)
            return status;
    return status == HAC_NOT_FOUND ? HAC_OK : status;
}

/* Writes output rows to memory that is made as large as they need. */
typedef hac_status (*write_rows)(void *context, hac_rows_writer *writer, hac_error *err);

static hac_status write_to_memory(write_rows write, void *context, uint64_t seed, uint8_t **ret,
                                  uint64_t *ret_bytes, hac_error *err)
{
    for (uint64_t room = FIRST_ROOM;;) {
        hac_rows_writer writer;
        hac_autofree uint8_t *region = aligned_alloc(64, room);
        if (region == NULL)
            return hac_fail_no_memory(err);
        hac_rows_begin(&writer, region, room, seed, 0);
        hac_status status = write(context, &writer, err);
        if (status != HAC_OK)
            return status;
        if (hac_rows_end(&writer)) {
            *ret = hac_steal_ptr(region);
            *ret_bytes = writer.bytes;
            return HAC_OK;
        }
        room = (writer.bytes + 63) / 64 * 64;
    }
}

/* Of all rows of the source, however often the result was written. */
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
    hac_emitter emitter;
    hac_group_table *table;
} grouped;

static hac_status write_groups(void *context, hac_rows_writer *writer, hac_error *err)
{
    grouped *g = context;
    return hac_emit_groups(&g->emitter, g->table, writer, err);
}

typedef struct plain {
    const hac_query_task *task;
    row_counts *counts;
} plain;

static hac_status write_plain(void *context, hac_rows_writer *writer, hac_error *err)
{
    const plain *p = context;
    const hac_query_task *t = p->task;
    uint64_t most = t->query->n_order == 0 ? t->query->limit : UINT64_MAX;
    hac_chunk_rows rows;
    size_t n;
    hac_status status = hac_chunk_rows_init(t, &rows, err);
    if (status != HAC_OK)
        return status;
    status = hac_source_begin(rows.source, 0, t->source_bytes, false, err);
    while (status == HAC_OK && writer->rows < most) {
        status = hac_chunk_rows_next(&rows, &n, err);
        if (status == HAC_OK)
            hac_rows_add(writer, rows.columns, t->query->outputs.n_fields,
                         n < most - writer->rows ? n : (size_t)(most - writer->rows));
    }
    end_rows(&rows, p->counts);
    return status == HAC_NOT_FOUND ? HAC_OK : status;
}

static hac_status group_all(const hac_query_task *t, grouped *g, row_counts *counts, hac_error *err)
{
    hac_group_options options = {.seed = t->seed, .memory = TABLE_MEMORY, .partitions = 1};
    hac_chunk_rows rows = {0};
    hac_status status = hac_emitter_init(t->query, &g->emitter, err);
    if (status == HAC_OK)
        status = hac_group_table_new(t->query, &options, &g->table, err);
    if (status == HAC_OK)
        status = hac_chunk_rows_init(t, &rows, err);
    if (status == HAC_OK)
        status = hac_source_begin(rows.source, 0, t->source_bytes, false, err);
    if (status == HAC_OK)
        status = aggregate_all(&rows, g->table, err);
    if (status == HAC_OK)
        status = hac_group_table_ensure(g->table, err);
    end_rows(&rows, counts);
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
        hac_emitter_clear(&g.emitter);
        return status;
    }
    return write_to_memory(write_plain, &(plain){t, counts}, t->seed, ret, ret_bytes, err);
}

/* The result's bytes: inline where there is no span. */
static uint8_t *result_room(const hac_task *task, hac_task_result *result, uint64_t *ret_room)
{
    bool is_inline = task->spans[0].bytes == 0;
    *ret_room = is_inline ? HAC_INLINE_MAX : task->spans[0].bytes;
    return is_inline ? result->inline_out : task->spans[0].data;
}

static void put_result(const hac_task *task, uint64_t rows, uint64_t bytes, hac_task_result *result)
{
    if (task->spans[0].bytes == 0 && bytes <= HAC_INLINE_MAX)
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
    uint64_t room;
    uint8_t *to = result_room(task, result, &room);
    hac_status status = make_rows(t, &counts, &region, &bytes, err);
    if (status != HAC_OK)
        return status;
    hac_rows_reader_init(&reader, t->query);
    status = hac_rows_reader_add(&reader, region, bytes, t->seed, 0, err);
    if (status == HAC_OK)
        status = hac_finish_rows(t->query, &reader, to, room, &finished, err);
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

static hac_status write_description(const hac_task *task, const hac_query_task *t, hac_task_result *result,
                                    hac_error *err)
{
    hac_cleanup(hac_text_clear) hac_text text = HAC_TEXT_NONE;
    uint64_t room;
    uint8_t *to = result_room(task, result, &room);
    hac_parquet_describe(t->parquet, &text);
    if (text.broken)
        return hac_fail_no_memory(err);
    if (text.bytes <= room)
        memcpy(to, text.data, text.bytes);
    put_result(task, t->parquet->rows, text.bytes, result);
    return HAC_OK;
}

hac_status hac_query_run_whole(hac_device *device, const hac_task *task, hac_task_result *result,
                               hac_error *err)
{
    (void)device;
    hac_query_task t;
    hac_status status = read_whole(task, &t, err);
    if (status != HAC_OK)
        return status;
    status = t.describe ? write_description(task, &t, result, err) : finish_whole(task, &t, result, err);
    status = hac_query_source_read(&t, status, err);
    hac_query_task_clear(&t);
    return status;
}
