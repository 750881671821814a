/* SPDX-License-Identifier: Apache-2.0 */
#include "path_values.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/folder_keys.h"

/* Names of folders have points as decimal signs, and dates with the year first. */
static const hac_input_options plain_forms;

hac_status hac_path_values_init(const hac_query *query, hac_path_values *ret, hac_error *err)
{
    size_t first = hac_query_columns_in_file(query), n = query->columns.n_fields - first, bytes = 0;
    if (n == 0)
        return HAC_OK;
    ret->columns = calloc(n, sizeof *ret->columns);
    ret->text = malloc(HAC_FOLDER_KEYS_BYTES);
    if (ret->columns == NULL || ret->text == NULL)
        return hac_fail_no_memory(err);
    for (size_t i = 0; i < n; i++) {
        const hac_field *field = &query->columns.fields[first + i];
        ret->columns[i] = (hac_source_column){.type = field->type,
                                              .repr = hac_repr_of(field->type),
                                              .forms = &plain_forms,
                                              .name = field->name,
                                              .name_bytes = strlen(field->name),
                                              .bytes = ret->text};
        bytes += HAC_BATCH_ROWS * (hac_repr_size(ret->columns[i].repr) + 1);
    }
    uint8_t *memory = ret->memory = aligned_alloc(64, bytes + 64);
    if (memory == NULL)
        return hac_fail_no_memory(err);
    memset(memory, 0, bytes + 64);
    for (size_t i = 0; i < n; i++) {
        hac_source_column *column = &ret->columns[i];
        column->values = memory;
        column->refs = column->repr == HAC_REPR_STRING ? column->values : NULL;
        column->states = memory + HAC_BATCH_ROWS * hac_repr_size(column->repr);
        memory = column->states + HAC_BATCH_ROWS;
    }
    ret->n = n;
    return HAC_OK;
}

void hac_path_values_clear(hac_path_values *values)
{
    free(values->columns);
    free(values->memory);
    free(values->text);
    *values = (hac_path_values){.n = 0};
}

/* Copies row 0 to all rows. */
static void repeat(hac_source_column *column)
{
    size_t size = hac_repr_size(column->repr);
    uint8_t *values = column->values;
    for (size_t row = 1; row < HAC_BATCH_ROWS; row++)
        memcpy(values + row * size, values, size);
    memset(column->states, column->marked ? HAC_ROW_NULL : HAC_ROW_OK, HAC_BATCH_ROWS);
}

static hac_status set_value(hac_source_column *column, const char *text, uint32_t at, uint32_t bytes,
                            hac_error *err)
{
    char problem[HAC_TEXT_PROBLEM_MAX];
    column->marked = false;
    if (column->repr == HAC_REPR_STRING) {
        column->refs[0] = (hac_string_ref){at, bytes};
        return HAC_OK;
    }
    hac_text_status status = hac_source_parse(column, text + at, bytes, 0);
    if (status == HAC_TEXT_OK)
        return HAC_OK;
    hac_source_text_problem(column, text + at, bytes, status, problem);
    return hac_fail(err, HAC_FAILED, "the folder %s=%.*s: %s; say --schema '%s:string'", column->name,
                    bytes < 80 ? (int)bytes : 80, text + at, problem, column->name);
}

hac_status hac_path_values_set(hac_path_values *values, const char *path, size_t bytes, hac_error *err)
{
    const char *at = path, *end = path + bytes;
    hac_folder_key key;
    uint32_t used = 0;
    if (values->n == 0 || (values->known && values->path == path))
        return HAC_OK;
    if (bytes > HAC_FOLDER_KEYS_BYTES)
        return hac_fail(err, HAC_INVALID, "names of folders of %zu bytes; %d are possible", bytes,
                        HAC_FOLDER_KEYS_BYTES);
    values->known = false;
    for (size_t i = 0; i < values->n; i++) {
        values->columns[i].marked = true;
        memset(values->columns[i].values, 0, hac_repr_size(values->columns[i].repr));
    }
    while (bytes > 0 && hac_folder_key_next(&at, end, &key)) {
        size_t i = 0;
        while (i < values->n && strcmp(values->columns[i].name, key.name) != 0)
            i++;
        if (i == values->n || hac_folder_key_is_null(&key))
            continue;
        uint32_t n = (uint32_t)hac_folder_key_value(&key, (char *)values->text + used);
        hac_status status = set_value(&values->columns[i], (const char *)values->text, used, n, err);
        if (status != HAC_OK)
            return status;
        used += n;
    }
    for (size_t i = 0; i < values->n; i++)
        repeat(&values->columns[i]);
    values->path = path;
    values->known = true;
    return HAC_OK;
}

void hac_path_values_give(const hac_path_values *values, hac_column *ret)
{
    for (size_t i = 0; i < values->n; i++) {
        const hac_source_column *column = &values->columns[i];
        ret[i] = (hac_column){.type = column->type,
                              .values = column->values,
                              .states = column->marked ? column->states : NULL,
                              .bytes = column->repr == HAC_REPR_STRING ? column->bytes : NULL};
    }
}
