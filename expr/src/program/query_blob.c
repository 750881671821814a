/* SPDX-License-Identifier: Apache-2.0 */
#include "expr/query_blob.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

HAC_DEFINE_CLEANUP(hac_query *, hac_query_free)

static size_t padded(size_t bytes)
{
    return (bytes + 7) / 8 * 8;
}

static hac_status read_columns(const uint8_t *data, size_t n, hac_table *ret, hac_error *err)
{
    hac_table_column *columns = calloc(n, sizeof *columns);
    if (columns == NULL)
        return hac_fail_no_memory(err);
    for (size_t i = 0; i < n; i++) {
        hac_query_blob_column c;
        memcpy(&c, data + i * sizeof c, sizeof c);
        columns[i] = (hac_table_column){.type = {c.kind, c.precision, c.scale},
                                        .large = c.large != 0,
                                        .validity = c.validity,
                                        .values = c.values,
                                        .bytes = c.bytes,
                                        .n_bytes = c.n_bytes};
    }
    *ret = (hac_table){.n_columns = n, .columns = columns};
    return HAC_OK;
}

hac_status hac_query_blob_read(const uint8_t *data, size_t bytes, hac_query **ret_query, hac_table *ret_table,
                               hac_error *err)
{
    hac_query_blob blob;
    hac_cleanup(hac_query_free_cleanup) hac_query *query = NULL;
    hac_table table = {0};
    if (bytes < sizeof blob)
        return hac_fail(err, HAC_INVALID, "no compiled query");
    memcpy(&blob, data, sizeof blob);
    if (blob.magic != HAC_QUERY_BLOB_MAGIC || blob.query_bytes > bytes - sizeof blob)
        return hac_fail(err, HAC_INVALID, "no compiled query");
    size_t columns_at = padded(sizeof blob + blob.query_bytes);
    if (blob.n_columns > HAC_COLUMNS_MAX ||
        (blob.n_columns != 0 &&
         (columns_at > bytes || blob.n_columns > (bytes - columns_at) / sizeof(hac_query_blob_column))))
        return hac_fail(err, HAC_INVALID, "the compiled query's table is not whole");
    hac_status status = hac_query_read(data + sizeof blob, blob.query_bytes, &query, err);
    if (status == HAC_OK && (query->source.format == HAC_INPUT_TABLE) != (blob.n_columns != 0))
        return hac_fail(err, HAC_INVALID, "a table source, and no table");
    if (status == HAC_OK && blob.n_columns != 0)
        status = read_columns(data + columns_at, blob.n_columns, &table, err);
    if (status != HAC_OK)
        return status;
    *ret_query = hac_steal_ptr(query);
    *ret_table = table;
    return HAC_OK;
}

static void write_columns(const hac_table *table, uint8_t *ret)
{
    for (size_t i = 0; i < table->n_columns; i++) {
        const hac_table_column *from = &table->columns[i];
        hac_query_blob_column c = {.kind = from->type.kind,
                                   .precision = from->type.precision,
                                   .scale = from->type.scale,
                                   .large = from->large,
                                   .validity = from->validity,
                                   .values = from->values,
                                   .bytes = from->bytes,
                                   .n_bytes = from->n_bytes};
        memcpy(ret + i * sizeof c, &c, sizeof c);
    }
}

hac_status hac_query_blob_write(const hac_query *query, const hac_table *table, uint8_t *ret, size_t size,
                                size_t *ret_bytes, hac_error *err)
{
    hac_cleanup(hac_text_clear) hac_text text = HAC_TEXT_NONE;
    hac_autofree char *bytes = NULL;
    size_t n, n_columns = table == NULL ? 0 : table->n_columns;
    hac_status status = hac_query_write(query, &text, err);
    if (status == HAC_OK)
        status = hac_text_finish(&text, &bytes, &n, err);
    if (status != HAC_OK)
        return status;
    hac_query_blob blob = {HAC_QUERY_BLOB_MAGIC, (uint32_t)n, (uint32_t)n_columns};
    size_t columns_at = padded(sizeof blob + n), all = columns_at + n_columns * sizeof(hac_query_blob_column);
    if (all > size)
        return hac_fail(err, HAC_INVALID, "the query is too large: %zu bytes compiled, and the limit is %zu",
                        all, size);
    memset(ret, 0, columns_at);
    memcpy(ret, &blob, sizeof blob);
    memcpy(ret + sizeof blob, bytes, n);
    if (n_columns != 0)
        write_columns(table, ret + columns_at);
    *ret_bytes = all;
    return HAC_OK;
}
