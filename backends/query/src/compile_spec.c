/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "proto/messages.h"
#include "query/infer.h"
#include "query/task.h"

static void free_spec(Hac__Client__QuerySpec **spec)
{
    if (*spec != NULL)
        hac__client__query_spec__free_unpacked(*spec, NULL);
}

static void clear_schema(hac_schema *schema)
{
    hac_schema_clear(schema);
}

static hac_status read_source(const Hac__Client__QuerySpec *spec, hac_source_options *ret, hac_error *err)
{
    const Hac__Client__QuerySource *s = spec->source;
    if (s == NULL || s->format <= HAC_FORMAT_NONE || s->format >= HAC_FORMAT_END)
        return hac_fail(err, HAC_INVALID, "the query does not say what format its source has");
    if (s->delimiter > UINT8_MAX || strlen(s->null_text) >= sizeof ret->null_text)
        return hac_fail(err, HAC_INVALID, "the source's delimiter or null text is too long");
    *ret = (hac_source_options){.format = (hac_format)s->format,
                                .delimiter = s->delimiter == 0 ? ',' : (uint8_t)s->delimiter,
                                .header = s->header,
                                .skip_errors = s->skip_errors,
                                .big_endian = s->big_endian};
    strcpy(ret->null_text, s->null_text);
    ret->first_group = s->first_group;
    ret->groups = s->groups;
    return HAC_OK;
}

/* The file's columns, those that cannot be read with no type. */
static hac_status read_footer(hac_query_task *task, hac_schema *ret, hac_error *err)
{
    hac_status status = hac_query_open_parquet(&task->place, &task->parquet, err);
    if (status != HAC_OK)
        return status;
    size_t n = task->parquet->n_leaves;
    hac_field *fields = calloc(n + 1, sizeof *fields);
    if (fields == NULL)
        return hac_fail_no_memory(err);
    for (size_t i = 0; i < n; i++) {
        const hac_parquet_leaf *leaf = &task->parquet->leaves[i];
        hac_parquet_leaf_name(leaf, fields[i].name);
        fields[i].type = leaf->type;
    }
    *ret = (hac_schema){.fields = fields, .n_fields = n};
    return HAC_OK;
}

/* The table's columns, and their names and types as a schema. */
static hac_status read_table(const Hac__Client__QueryTable *from, hac_table *ret, hac_schema *ret_schema,
                             hac_error *err)
{
    if (from == NULL || from->n_columns == 0 || from->n_columns > HAC_TABLE_COLUMNS_MAX)
        return hac_fail(err, HAC_INVALID, "a table source has 1 to %d columns", HAC_TABLE_COLUMNS_MAX);
    hac_autofree hac_table_column *columns = calloc(from->n_columns, sizeof *columns);
    hac_autofree hac_field *fields = calloc(from->n_columns, sizeof *fields);
    if (columns == NULL || fields == NULL)
        return hac_fail_no_memory(err);
    for (size_t i = 0; i < from->n_columns; i++) {
        const Hac__Client__TableColumn *c = from->columns[i];
        hac_value_type type = {(uint8_t)c->kind, (uint8_t)c->precision, (uint8_t)c->scale};
        if (c->kind >= HAC_KIND_END || c->precision > UINT8_MAX || c->scale > UINT8_MAX ||
            !hac_value_type_valid(type) || strlen(c->name) >= sizeof fields->name)
            return hac_fail(err, HAC_INVALID, "column %zu of the table has no type that is known", i + 1);
        columns[i] = (hac_table_column){.type = type,
                                        .large = c->large,
                                        .validity = c->validity,
                                        .values = c->values,
                                        .bytes = c->bytes,
                                        .n_bytes = c->n_bytes};
        fields[i].type = type;
        strcpy(fields[i].name, c->name);
    }
    *ret = (hac_table){.rows = from->rows, .n_columns = from->n_columns, .columns = hac_steal_ptr(columns)};
    *ret_schema = (hac_schema){.fields = hac_steal_ptr(fields), .n_fields = from->n_columns};
    return HAC_OK;
}

static bool is_inferred(const Hac__Client__QuerySpec *spec)
{
    hac_format format = (hac_format)spec->source->format;
    return spec->source->infer && spec->schema[0] == '\0' &&
           (format == HAC_FORMAT_CSV || format == HAC_FORMAT_TSV || format == HAC_FORMAT_JSONL);
}

static bool has_header(const hac_source_options *o)
{
    return (o->format == HAC_FORMAT_CSV || o->format == HAC_FORMAT_TSV) && o->header;
}

static hac_parquet_settings parquet_settings(const Hac__Client__ParquetOutput *from)
{
    if (from == NULL)
        return (hac_parquet_settings){0};
    return (hac_parquet_settings){.compression = (uint8_t)from->compression,
                                  .group_bytes = from->group_bytes,
                                  .group_rows = from->group_rows,
                                  .block_bytes = from->block_bytes};
}

/* A filter of lines gives them as they were read, with the TABs and backslashes in them. */
static bool filters_lines(const hac_query *query)
{
    return query->source.format == HAC_FORMAT_LINES && query->output == HAC_OUTPUT_TSV &&
           !query->aggregates && query->n_visible == 1;
}

static hac_status compile(const Hac__Client__QuerySpec *spec, const hac_source_options *options,
                          const hac_schema *header, hac_query **ret, hac_error *err)
{
    hac_query_text text = {.schema = options->format == HAC_FORMAT_TABLE ? NULL : spec->schema,
                           .where = spec->where,
                           .group_by = spec->group_by,
                           .select = spec->select,
                           .order_by = spec->order_by,
                           .limit = spec->has_limit ? spec->limit : UINT64_MAX,
                           .output = (hac_output_format)spec->output_format,
                           .parquet = parquet_settings(spec->parquet),
                           .source = *options};
    hac_status status = hac_query_compile(&text, header, ret, err);
    if (status == HAC_OK && filters_lines(*ret))
        (*ret)->output = HAC_OUTPUT_TEXT;
    return status;
}

hac_status hac_query_compile_spec(const uint8_t *data, size_t bytes, hac_query_task *task, hac_error *err)
{
    hac_cleanup(free_spec) Hac__Client__QuerySpec *spec = hac__client__query_spec__unpack(NULL, bytes, data);
    hac_cleanup(clear_schema) hac_schema header = {0};
    hac_source_options options;
    if (spec == NULL)
        return hac_fail(err, HAC_INVALID, "no specification of a query");
    if (spec->output_format >= HAC_OUTPUT_END)
        return hac_fail(err, HAC_INVALID, "output format %u does not exist", spec->output_format);
    hac_status status = read_source(spec, &options, err);
    if (status == HAC_OK && options.format == HAC_FORMAT_TABLE)
        status = read_table(spec->table, &task->table, &header, err);
    else if (status == HAC_OK && options.format == HAC_FORMAT_PARQUET)
        status = read_footer(task, &header, err);
    else if (status == HAC_OK && (options.inferred = is_inferred(spec)))
        status = hac_infer_schema(&options, &task->place, &header, err);
    else if (status == HAC_OK && has_header(&options))
        status = hac_source_header(&options, &task->place, &header, err);
    task->describe = spec->describe;
    if (status == HAC_OK && spec->describe)
        return task->parquet != NULL ? HAC_OK
                                     : hac_fail(err, HAC_INVALID, "only Parquet files are described");
    bool named = header.n_fields != 0;
    if (status == HAC_OK)
        status = compile(spec, &options, named ? &header : NULL, &task->query, err);
    return status == HAC_OK ? hac_query_check_source(task, err) : status;
}
