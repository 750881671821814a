/* SPDX-License-Identifier: Apache-2.0 */
/* Exports results that are tables, as columns of the Arrow C Data Interface. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/query_layout.h"
#include "base/utf8.h"
#include "base/value.h"
#include "query.h"

enum { ALIGNMENT = 64, COLUMNS_MAX = 4096 };

#define NONE UINT64_MAX /* HAC_TABLE_NONE */

bool hac_result_is_table(const hac_job *job)
{
    uint64_t magic;
    if (job->data == NULL || job->bytes < sizeof(hac_result_table))
        return false;
    memcpy(&magic, job->data, sizeof(magic));
    return magic == HAC_RESULT_TABLE_MAGIC;
}

/* ---- checks, because the bytes come from another process ---- */

static hac_status damaged(const char *what, hac_error *err)
{
    return hac_fail(err, HAC_PROTOCOL, "the result is damaged: %s", what);
}

static bool within(uint64_t offset, uint64_t bytes, uint64_t all)
{
    return offset % ALIGNMENT == 0 && offset <= all && bytes <= all - offset;
}

/* Checks that the offsets ascend and that the last offset is within the characters. */
static bool strings_are_sound(const hac_result_column *c, const uint8_t *data, uint64_t rows)
{
    uint64_t before = 0;
    for (uint64_t i = 0; i <= rows; i++) {
        int64_t at = c->large ? ((const int64_t *)(const void *)(data + c->values))[i]
                              : ((const int32_t *)(const void *)(data + c->values))[i];
        if (at < 0 || (uint64_t)at < before || (uint64_t)at > c->n_bytes)
            return false;
        before = (uint64_t)at;
    }
    return true;
}

static hac_status check_column(const hac_job *job, const hac_result_column *c, uint64_t rows, hac_error *err)
{
    hac_value_type type = {c->kind, c->precision, c->scale};
    uint64_t all = job->bytes, bits = rows / 8 + (rows % 8 != 0);
    uint64_t size = hac_kind_is_text(c->kind) ? (c->large ? 8 : 4) : hac_value_size(type), bytes;
    if (memchr(c->name, '\0', sizeof(c->name)) == NULL || !hac_value_type_valid(type) || c->large > 1)
        return damaged("a column has no name or no type", err);
    if (c->validity != NONE && !within(c->validity, bits, all))
        return damaged("a column's nulls lie outside of it", err);
    uint64_t values = hac_kind_is_text(c->kind) ? rows + 1 : rows;
    if (__builtin_mul_overflow(values, size, &bytes) ||
        !within(c->values, c->kind == HAC_KIND_BOOL ? bits : bytes, all))
        return damaged("a column's values lie outside of it", err);
    if (!hac_kind_is_text(c->kind))
        return HAC_OK;
    if ((c->n_bytes > 0 && !within(c->bytes, c->n_bytes, all)) || !strings_are_sound(c, job->data, rows))
        return damaged("a column's strings lie outside of it", err);
    return HAC_OK;
}

static hac_status read_head(const hac_job *job, hac_result_table *ret, hac_error *err)
{
    memcpy(ret, job->data, sizeof(*ret));
    uint64_t capacity = (job->bytes - sizeof(*ret)) / sizeof(hac_result_column);
    if (ret->magic != HAC_RESULT_TABLE_MAGIC || ret->n_columns > capacity || ret->n_columns > COLUMNS_MAX ||
        ret->rows > INT64_MAX / 16)
        return damaged("its head is none", err);
    return HAC_OK;
}

/* ---- schemas ---- */

typedef struct schema_own {
    char format[32];
    char name[128];
    struct ArrowSchema **children;
    struct ArrowSchema *capacity;
} schema_own;

static void release_schema(struct ArrowSchema *schema)
{
    schema_own *own = schema->private_data;
    for (int64_t i = 0; i < schema->n_children; i++)
        if (schema->children[i]->release != NULL)
            schema->children[i]->release(schema->children[i]);
    free(own->children);
    free(own->capacity);
    free(own);
    schema->private_data = NULL;
    schema->release = NULL;
}

static void format_of(const hac_result_column *c, char *ret, size_t capacity)
{
    int used = snprintf(ret, capacity, "%s", hac_kinds[c->kind].arrow);
    if (c->kind == HAC_KIND_DECIMAL)
        snprintf(ret + used, capacity - (size_t)used, "%u,%u", (unsigned)c->precision, (unsigned)c->scale);
    if (hac_value_type_has_zone((hac_value_type){c->kind, c->precision, c->scale}))
        snprintf(ret + used, capacity - (size_t)used, "UTC");
    if (hac_kind_is_text(c->kind) && c->large)
        ret[0] = (char)(ret[0] - 'a' + 'A');
}

/* Creates a schema with space for `n_children` children, which are not set yet. */
static hac_status new_schema(size_t n_children, struct ArrowSchema *ret, hac_error *err)
{
    hac_autofree schema_own *own = calloc(1, sizeof(*own));
    if (own == NULL)
        return hac_fail_no_memory(err);
    own->children = calloc(n_children + 1, sizeof(struct ArrowSchema *));
    own->capacity = calloc(n_children + 1, sizeof(struct ArrowSchema));
    if (own->children == NULL || own->capacity == NULL) {
        free(own->children);
        free(own->capacity);
        return hac_fail_no_memory(err);
    }
    for (size_t i = 0; i < n_children; i++)
        own->children[i] = &own->capacity[i];
    strcpy(own->format, "+s");
    *ret = (struct ArrowSchema){.format = own->format,
                                .name = own->name,
                                .n_children = (int64_t)n_children,
                                .children = own->children,
                                .release = release_schema,
                                .private_data = own};
    (void)hac_steal_ptr(own);
    return HAC_OK;
}

static hac_status fill_child_schema(const hac_result_column *c, struct ArrowSchema *ret, hac_error *err)
{
    hac_status status = new_schema(0, ret, err);
    if (status != HAC_OK)
        return status;
    schema_own *own = ret->private_data;
    format_of(c, own->format, sizeof(own->format));
    (void)hac_utf8_replace(own->name, sizeof(own->name), c->name);
    ret->flags = 2; /* ARROW_FLAG_NULLABLE */
    return HAC_OK;
}

/* ---- arrays ---- */

typedef struct array_own {
    hac_export export; /* comes first */
    const void *buffers[3];
    void *wide; /* decimals that were widened to 128 bits */
    struct ArrowArray **children;
    struct ArrowArray *capacity;
} array_own;

static void release_array(struct ArrowArray *array)
{
    array_own *own = array->private_data;
    for (int64_t i = 0; i < array->n_children; i++)
        if (array->children[i]->release != NULL)
            array->children[i]->release(array->children[i]);
    free(own->children);
    free(own->capacity);
    free(own->wide);
    hac_export_end(&own->export);
    array->private_data = NULL;
    array->release = NULL;
}

static hac_status new_array(hac_job *job, uint64_t rows, size_t n_children, struct ArrowArray *ret,
                            hac_error *err)
{
    hac_autofree array_own *own = calloc(1, sizeof(*own));
    if (own == NULL)
        return hac_fail_no_memory(err);
    own->children = calloc(n_children + 1, sizeof(struct ArrowArray *));
    own->capacity = calloc(n_children + 1, sizeof(struct ArrowArray));
    if (own->children == NULL || own->capacity == NULL) {
        free(own->children);
        free(own->capacity);
        return hac_fail_no_memory(err);
    }
    for (size_t i = 0; i < n_children; i++)
        own->children[i] = &own->capacity[i];
    hac_export_begin(&own->export, job);
    *ret = (struct ArrowArray){.length = (int64_t)rows,
                               .n_buffers = 1,
                               .n_children = (int64_t)n_children,
                               .buffers = own->buffers,
                               .children = own->children,
                               .release = release_array,
                               .private_data = own};
    (void)hac_steal_ptr(own);
    return HAC_OK;
}

/* Widens decimals to 128 bits, which readers of Arrow expect. */
static hac_status widen(const uint8_t *from, uint64_t rows, void **ret, hac_error *err)
{
    int64_t *wide = calloc((size_t)rows + 1, 2 * sizeof(int64_t));
    if (wide == NULL)
        return hac_fail_no_memory(err);
    for (uint64_t i = 0; i < rows; i++) {
        memcpy(&wide[2 * i], from + 8 * i, sizeof(int64_t));
        wide[2 * i + 1] = wide[2 * i] < 0 ? -1 : 0;
    }
    *ret = wide;
    return HAC_OK;
}

static hac_status fill_child_array(hac_job *job, const hac_result_column *c, uint64_t rows,
                                   struct ArrowArray *ret, hac_error *err)
{
    static const uint8_t nothing[ALIGNMENT];
    hac_value_type type = {c->kind, c->precision, c->scale};
    hac_status status = new_array(job, rows, 0, ret, err);
    if (status != HAC_OK)
        return status;
    array_own *own = ret->private_data;
    ret->n_buffers = hac_kind_is_text(c->kind) ? 3 : 2;
    ret->null_count = c->validity != NONE ? -1 : 0;
    own->buffers[0] = c->validity != NONE ? job->data + c->validity : NULL;
    own->buffers[1] = job->data + c->values;
    if (hac_kind_is_text(c->kind))
        own->buffers[2] = c->n_bytes > 0 ? job->data + c->bytes : nothing;
    if (c->kind == HAC_KIND_DECIMAL && hac_value_size(type) == 8) {
        status = widen(job->data + c->values, rows, &own->wide, err);
        own->buffers[1] = own->wide;
    }
    if (status != HAC_OK)
        release_array(ret);
    return status;
}

static uint64_t offset_at(const hac_result_column *c, const uint8_t *data, uint64_t row)
{
    return c->large ? (uint64_t)((const int64_t *)(const void *)(data + c->values))[row]
                    : (uint64_t)((const int32_t *)(const void *)(data + c->values))[row];
}

/* Whether every text of a checked column is UTF-8: all of them together are, and none begins inside of a
 * character. */
static bool texts_are_utf8(const hac_result_column *c, const uint8_t *data, uint64_t rows)
{
    uint64_t first = offset_at(c, data, 0), end = offset_at(c, data, rows);
    if (first == end)
        return true;
    const uint8_t *texts = data + c->bytes;
    if (!hac_utf8_is_valid(texts + first, (size_t)(end - first)))
        return false;
    for (uint64_t i = 1; i < rows; i++) {
        uint64_t at = offset_at(c, data, i);
        if (at < end && (texts[at] & 0xc0) == 0x80)
            return false;
    }
    return true;
}

static hac_status fill_columns(hac_job *job, bool raw, const hac_result_table *table,
                               struct ArrowSchema *schema, struct ArrowArray *array, hac_error *err)
{
    hac_status status = HAC_OK;
    for (size_t i = 0; i < table->n_columns && status == HAC_OK; i++) {
        hac_result_column c;
        memcpy(&c, job->data + sizeof(*table) + i * sizeof(c), sizeof(c));
        status = check_column(job, &c, table->rows, err);
        if (status == HAC_OK && !raw && c.kind == HAC_KIND_STRING &&
            !texts_are_utf8(&c, job->data, table->rows))
            c.kind = HAC_KIND_BYTES;
        if (status == HAC_OK)
            status = fill_child_schema(&c, schema->children[i], err);
        if (status == HAC_OK)
            status = fill_child_array(job, &c, table->rows, array->children[i], err);
    }
    return status;
}

hac_status hac_result_export(hac_job *job, bool raw, struct ArrowSchema *ret_schema,
                             struct ArrowArray *ret_array, hac_error *err)
{
    hac_result_table table;
    struct ArrowSchema schema;
    struct ArrowArray array;
    hac_status status = read_head(job, &table, err);
    if (status == HAC_OK)
        status = new_schema(table.n_columns, &schema, err);
    if (status != HAC_OK)
        return status;
    status = new_array(job, table.rows, table.n_columns, &array, err);
    if (status != HAC_OK) {
        release_schema(&schema);
        return status;
    }
    status = fill_columns(job, raw, &table, &schema, &array, err);
    if (status != HAC_OK) {
        release_schema(&schema);
        release_array(&array);
        return status;
    }
    *ret_schema = schema;
    *ret_array = array;
    return HAC_OK;
}
