/* SPDX-License-Identifier: Apache-2.0 */
/* Queries record batches of the Arrow C Data and Stream Interfaces: in place, or copied into pool memory in
 * the layout of <base/table.h>. */
#include <string.h>

#include "arrow/arrow_batches.h"
#include "base/value.h"
#include "expr/column_names.h"
#include "jobs/job_input.h"
#include "query.h"

enum { ALIGNMENT = 64 };

/* Batches as the source of a query. */
typedef struct query_table {
    hac_arrow_batches *batches;
    hac_source_columns source; /* owned; the columns in pool memory */
} query_table;

static void table_clear(query_table *t)
{
    hac_source_columns_clear(&t->source);
}

/* What the batches of a column have in common. */
typedef struct column_sums {
    bool nulls, large;
    uint64_t n_bytes;
} column_sums;

static column_sums sum_column(const hac_arrow_batches *b, size_t column)
{
    const hac_arrow_type *type = &b->types[column];
    column_sums sums = {.large = type->layout == HAC_ARROW_OFFSETS && type->width == sizeof(int64_t) &&
                                 type->index_width == 0};
    for (size_t i = 0; i < b->n_batches; i++) {
        sums.nulls |= b->batches[i].columns[column].nulls;
        sums.n_bytes += b->batches[i].columns[column].n_bytes;
    }
    sums.large |= sums.n_bytes > INT32_MAX;
    return sums;
}

static hac_status table_init(hac_arrow_batches *b, query_table *ret, hac_error *err)
{
    size_t n = b->n_columns;
    ret->batches = b;
    hac_table_column *places = ret->source.table.columns = calloc(n + 1, sizeof(*places));
    hac_field *fields = ret->source.schema.fields = calloc(n + 1, sizeof(*fields));
    if (places == NULL || fields == NULL)
        return hac_fail_no_memory(err);
    ret->source.refused = b->refused;
    ret->source.table.rows = b->rows;
    ret->source.table.n_columns = ret->source.schema.n_fields = n;
    for (size_t i = 0; i < n; i++) {
        column_sums sums = sum_column(b, i);
        strcpy(fields[i].name, b->names[i]);
        fields[i].type = places[i].type = b->types[i].type;
        places[i].large = sums.large;
        places[i].n_bytes = sums.n_bytes;
        places[i].validity = places[i].bytes = HAC_TABLE_NONE;
    }
    return hac_column_names_complete(&ret->source.schema, err);
}

static bool is_text(const hac_table_column *place)
{
    return hac_kind_is_text((hac_kind)place->type.kind);
}

static bool is_bool(const hac_table_column *place)
{
    return place->type.kind == HAC_KIND_BOOL;
}

/* ---- in place ---- */

/* Computes the offset of a part of a column in the mapping. False: the part is not in the mapping. */
static bool part_in_place(const hac_mapping *mapping, const void *part, uint64_t bytes, uint64_t *ret)
{
    const uint8_t *at = part;
    if (bytes == 0) {
        *ret = 0;
        return true;
    }
    if (at < mapping->address || at > mapping->address + mapping->mapped)
        return false;
    uint64_t offset = (uint64_t)(at - mapping->address);
    *ret = offset;
    return offset % ALIGNMENT == 0 && bytes <= mapping->mapped - offset;
}

static bool column_in_place(const hac_mapping *mapping, const hac_arrow_column *c, uint64_t rows,
                            hac_table_column *place)
{
    uint64_t bits = (rows + 7) / 8, size = hac_value_size(place->type);
    const void **buffers = c->rows.array->buffers;
    if (!hac_arrow_column_is_table(c))
        return false;
    if (c->rows.nulls && !part_in_place(mapping, buffers[0], bits, &place->validity))
        return false;
    if (!is_text(place))
        return part_in_place(mapping, buffers[1], is_bool(place) ? bits : rows * size, &place->values);
    if (place->large != (c->type.width == sizeof(int64_t)))
        return false;
    place->n_bytes = hac_arrow_offset(&c->rows, rows);
    return part_in_place(mapping, buffers[1], (rows + 1) * c->type.width, &place->values) &&
           part_in_place(mapping, buffers[2], place->n_bytes, &place->bytes);
}

/* Returns the buffer that contains all parts of the only batch in the layout that hacd needs, or NULL. */
static const hac_mapping *table_in_place(const hac_client *client, query_table *t)
{
    const hac_arrow_batches *b = t->batches;
    if (b->n_batches != 1 || b->rows == 0 || b->n_columns == 0 ||
        !hac_arrow_column_is_table(&b->batches[0].columns[0]))
        return NULL;
    const hac_arrow_column *columns = b->batches[0].columns;
    const hac_mapping *mapping =
        hac_mappings_containing(&client->mappings, columns[0].rows.array->buffers[1], 1);
    for (size_t i = 0; i < b->n_columns && mapping != NULL; i++)
        if (!column_in_place(mapping, &columns[i], b->rows, &t->source.table.columns[i]))
            mapping = NULL;
    return mapping;
}

/* ---- copies ---- */

static uint64_t reserve(uint64_t *used, uint64_t bytes)
{
    uint64_t at = *used;
    *used = (at + bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    return at;
}

/* Sets the offset of every part, and returns the total size. The sum cannot overflow: the batches have at
 * most INT64_MAX / 2 bytes of values, and INT64_MAX / 64 rows. */
static uint64_t place_columns(query_table *t)
{
    uint64_t used = 0, rows = t->batches->rows, bits = (rows + 7) / 8;
    for (size_t i = 0; i < t->batches->n_columns; i++) {
        hac_table_column *place = &t->source.table.columns[i];
        column_sums sums = sum_column(t->batches, i);
        place->validity = sums.nulls ? reserve(&used, bits) : HAC_TABLE_NONE;
        place->bytes = HAC_TABLE_NONE;
        if (is_text(place)) {
            place->n_bytes = sums.n_bytes;
            place->values = reserve(&used, (rows + 1) * (place->large ? 8 : 4));
            place->bytes = reserve(&used, place->n_bytes);
        } else {
            place->values = reserve(&used, is_bool(place) ? bits : rows * hac_value_size(place->type));
        }
    }
    return used;
}

static hac_status copy_column(const query_table *t, size_t column, uint8_t *memory, hac_error *err)
{
    const hac_table_column *place = &t->source.table.columns[column];
    uint64_t rows = t->batches->rows, bits = (rows + 7) / 8;
    hac_arrow_target target = {.values = memory + place->values, .large = place->large};
    if (place->validity != HAC_TABLE_NONE) {
        target.validity = memory + place->validity;
        memset(target.validity, 0, (size_t)bits);
    }
    if (is_text(place))
        target.bytes = memory + place->bytes;
    if (is_text(place) && rows == 0)
        memset(target.values, 0, place->large ? 8 : 4);
    if (is_bool(place))
        memset(target.values, 0, (size_t)bits);
    hac_status status = HAC_OK;
    for (size_t i = 0; i < t->batches->n_batches && status == HAC_OK; i++)
        status = hac_arrow_column_copy(&t->batches->batches[i].columns[column], &target, err);
    return status;
}

static hac_status copy_table(hac_client *client, query_table *t, hac_query_call *call,
                             Hac__Client__Input *input, hac_error *err)
{
    hac_cleanup(hac_buffer_free_cleanup) hac_buffer *buffer = NULL;
    uint64_t bytes = place_columns(t);
    hac_status status = hac_buffer_alloc(client, bytes > 0 ? bytes : 1, &buffer, err);
    for (size_t i = 0; i < t->batches->n_columns && status == HAC_OK; i++)
        status = copy_column(t, i, hac_buffer_data(buffer), err);
    if (status != HAC_OK)
        return status;
    call->owned = hac_buffer_take(hac_steal_ptr(buffer));
    hac_job_input_buffer(call->owned, 0, bytes, input);
    return HAC_OK;
}

/* ---- submission ---- */

/* Submits the query. `leave`: the only batch, if it is read in place, is left to the job. */
static hac_status submit(hac_client *client, hac_arrow_batches *b, hac_query_options *options, bool leave,
                         hac_job **ret_job, hac_error *err)
{
    hac_cleanup(table_clear) query_table t = {0};
    hac_status status = table_init(b, &t, err);
    if (status != HAC_OK)
        return status;
    options->schema = NULL; /* the columns define the schema */
    Hac__Client__Input input, *list[] = {&input};
    hac_query_call call = {.options = options, .table = &t.source, .inputs = list, .n_inputs = 1};
    const hac_mapping *mapping = table_in_place(client, &t);
    if (mapping == NULL)
        status = copy_table(client, &t, &call, &input, err);
    else
        hac_job_input_buffer(mapping, 0, mapping->bytes, &input);
    if (mapping != NULL && leave)
        call.borrowed = b->batches[0].array;
    return status == HAC_OK ? hac_query_submit(client, &call, ret_job, err) : status;
}

hac_status hac_query_arrow(hac_client *client, const struct ArrowSchema *schema,
                           const struct ArrowArray *columns, const hac_query_options *options,
                           hac_job **ret_job, hac_error *err)
{
    hac_query_options known;
    hac_cleanup(hac_arrow_batches_clear) hac_arrow_batches b = {0};
    hac_status status = hac_query_options_read(options, &known, err);
    if (status == HAC_OK)
        status = hac_arrow_batches_one(schema, columns, &b, err);
    return status == HAC_OK ? submit(client, &b, &known, false, ret_job, err) : status;
}

hac_status hac_query_arrow_stream(hac_client *client, struct ArrowArrayStream *stream,
                                  const hac_query_options *options, hac_job **ret_job, hac_error *err)
{
    hac_query_options known = HAC_QUERY_OPTIONS_INIT;
    hac_cleanup(hac_arrow_batches_clear) hac_arrow_batches b = {0};
    hac_status status = hac_query_options_read(options, &known, err);
    if (status != HAC_OK) {
        hac_arrow_stream_release(stream);
        return status;
    }
    status = hac_arrow_batches_read(stream, known.job.memory_limit, &b, err);
    return status == HAC_OK ? submit(client, &b, &known, true, ret_job, err) : status;
}
