/* SPDX-License-Identifier: Apache-2.0 */
/* Reads fixed (records of values of fixed width) and tables. */
#include <string.h>

#include "load_values.h"
#include "source_parts.h"

/* ---- fixed ---- */

static hac_status open_fixed(hac_source *source, hac_error *err)
{
    size_t record = source->query->schema_columns;
    for (size_t i = 0; i < source->n_columns; i++) {
        const hac_source_column *column = &source->columns[i];
        size_t size = hac_value_size(column->type);
        if (size == 0)
            return hac_fail(err, HAC_INVALID, "column '%s': records of fixed width have no strings",
                            column->name);
        if (column->place > record || size > record - column->place)
            return hac_fail(err, HAC_INVALID, "column '%s' lies outside of its record", column->name);
    }
    if (record == 0)
        return hac_fail(err, HAC_INVALID, "a record of fixed width needs at least one column");
    if (source->place.bytes % record != 0)
        return hac_fail(err, HAC_FAILED, "%llu bytes are no whole number of records of %zu bytes",
                        (unsigned long long)source->place.bytes, record);
    return hac_window_init(&source->records.window, &source->place, err);
}

/* The first record that starts at `position` or later. */
static uint64_t record_start(const hac_source *source, uint64_t position)
{
    uint64_t record = source->query->schema_columns, past = position % record;
    if (position >= source->place.bytes)
        return source->place.bytes;
    return past == 0 ? position : position - past + record;
}

static hac_status begin_fixed(hac_source *source, uint64_t first, uint64_t end, bool inside_quotes,
                              hac_error *err)
{
    (void)inside_quotes;
    (void)err;
    source->next = record_start(source, first);
    source->end = record_start(source, end);
    hac_window_seek(&source->records.window, source->next);
    return HAC_OK;
}

/* Returns the address of the next *ret_rows records. Memory that other processes can write to is read in
 * place: each value is read once, and all bytes are valid values. */
static hac_status next_records(hac_source *source, size_t record, const uint8_t **ret, size_t *ret_rows,
                               hac_error *err)
{
    hac_window *window = &source->records.window;
    uint64_t rows = (source->end - source->next) / record, there;
    hac_status status = HAC_OK;
    *ret_rows = rows < HAC_BATCH_ROWS ? (size_t)rows : HAC_BATCH_ROWS;
    if (source->place.fd < 0) {
        *ret = source->place.memory + source->next;
        return HAC_OK;
    }
    while (status == HAC_OK && window->base + window->bytes < source->next + record)
        status = hac_window_refill(window, (size_t)(source->next - window->base), source->end, err);
    if (status != HAC_OK)
        return status;
    *ret = window->data + (source->next - window->base);
    there = (window->base + window->bytes - source->next) / record;
    if (there < *ret_rows)
        *ret_rows = (size_t)there;
    return HAC_OK;
}

static hac_status next_fixed(hac_source *source, hac_error *err)
{
    const uint8_t *records = NULL;
    size_t record = source->query->schema_columns, rows = 0;
    if (source->next >= source->end)
        return HAC_NOT_FOUND;
    hac_status status = next_records(source, record, &records, &rows, err);
    if (status != HAC_OK)
        return status;
    for (size_t r = 0; r < rows; r++)
        source->starts[r] = source->next + r * record;
    source->rows = rows;
    source->next += rows * record;
    for (size_t i = 0; i < source->n_columns; i++) {
        hac_source_column *column = &source->columns[i];
        const uint8_t *from = records + column->place;
        if (source->query->source.options.big_endian)
            hac_load_values_big_endian(column->type, from, record, source->rows, column->values);
        else
            hac_load_values(column->type, from, record, source->rows, column->values);
        hac_source_check_decimals(source, column);
    }
    return HAC_OK;
}

static uint64_t fixed_number(hac_source *source, uint64_t position)
{
    return position / source->query->schema_columns + source->place.lines_before + 1;
}

const hac_source_format hac_format_fixed = {
    .open = open_fixed, .begin = begin_fixed, .next = next_fixed, .number = fixed_number};

/* ---- table ---- */

static const hac_table_column *table_column(const hac_source *source, const hac_source_column *column)
{
    return &source->table->columns[column->place];
}

static hac_status open_table(hac_source *source, hac_error *err)
{
    char here[HAC_VALUE_TYPE_NAME_MAX], there[HAC_VALUE_TYPE_NAME_MAX];
    if (source->table == NULL || source->place.fd >= 0)
        return hac_fail(err, HAC_INVALID, "a table lies in memory and is described");
    hac_status status = hac_table_check(source->table, source->place.bytes, err);
    if (status != HAC_OK)
        return status;
    for (size_t i = 0; i < source->n_columns; i++) {
        const hac_source_column *column = &source->columns[i];
        if (column->place >= source->table->n_columns)
            return hac_fail(err, HAC_INVALID, "the table has no column %zu ('%s')", column->place,
                            column->name);
        if (!hac_value_type_equal(table_column(source, column)->type, column->type))
            return hac_fail(err, HAC_INVALID, "column '%s' is %s in the table, not %s", column->name,
                            hac_value_type_name(table_column(source, column)->type, there),
                            hac_value_type_name(column->type, here));
    }
    return HAC_OK;
}

static hac_status begin_table(hac_source *source, uint64_t first, uint64_t end, bool inside_quotes,
                              hac_error *err)
{
    (void)inside_quotes;
    (void)err;
    source->end = end < source->table->rows ? end : source->table->rows;
    source->next = first < source->end ? first : source->end;
    return HAC_OK;
}

/* Reads the offsets of rows next … next + rows (rows + 1 of them), each once, because the memory may be
 * shared. */
static void read_offsets(const hac_source *source, const hac_table_column *column, size_t rows, int64_t *ret)
{
    const uint8_t *values = source->place.memory + column->values;
    if (column->large) {
        memcpy(ret, values + source->next * 8, (rows + 1) * 8);
        return;
    }
    for (size_t r = 0; r <= rows; r++) {
        int32_t offset;
        memcpy(&offset, values + (source->next + r) * 4, sizeof offset);
        ret[r] = offset;
    }
}

static hac_status fail_string(const hac_source *source, const hac_source_column *column, size_t row,
                              const char *what, hac_error *err)
{
    return hac_fail(err, HAC_FAILED, "row %llu, column %s: %s", (unsigned long long)(source->next + row + 1),
                    column->name, what);
}

/* Makes refs for as many rows as 32-bit offsets can address. */
static hac_status table_strings(const hac_source *source, hac_source_column *column, size_t *rows,
                                hac_error *err)
{
    const hac_table_column *from = table_column(source, column);
    int64_t offsets[HAC_BATCH_ROWS + 1];
    size_t n = *rows;
    read_offsets(source, from, n, offsets);
    for (size_t r = 0; r < n; r++) {
        if (offsets[0] < 0 || offsets[r + 1] < offsets[r] || (uint64_t)offsets[r + 1] > from->n_bytes)
            return fail_string(source, column, r, "its string does not lie within the column", err);
        if (offsets[r + 1] - offsets[0] > UINT32_MAX) {
            n = r;
            break;
        }
        ((hac_string_ref *)column->values)[r] =
            (hac_string_ref){(uint32_t)(offsets[r] - offsets[0]), (uint32_t)(offsets[r + 1] - offsets[r])};
    }
    if (n == 0)
        return fail_string(source, column, 0, "its string is longer than 4 GiB", err);
    column->bytes = source->place.memory + (from->n_bytes > 0 ? from->bytes + (uint64_t)offsets[0] : 0);
    *rows = n;
    return HAC_OK;
}

static void table_bools(const hac_source *source, hac_source_column *column)
{
    const uint8_t *bits = source->place.memory + table_column(source, column)->values;
    uint8_t *values = column->values;
    for (size_t r = 0; r < source->rows; r++)
        values[r] = bits[(source->next + r) / 8] >> (source->next + r) % 8 & 1;
}

static void table_nulls(const hac_source *source, hac_source_column *column)
{
    const hac_table_column *from = table_column(source, column);
    if (from->validity == HAC_TABLE_NONE)
        return;
    const uint8_t *bits = source->place.memory + from->validity;
    uint8_t any = 0;
    for (size_t r = 0; r < source->rows; r++) {
        uint8_t null = !(bits[(source->next + r) / 8] >> (source->next + r) % 8 & 1);
        column->states[r] = null; /* HAC_ROW_NULL is 1 */
        any |= null;
    }
    column->marked = any != 0;
    if (!column->marked || column->repr != HAC_REPR_STRING)
        return;
    for (size_t r = 0; r < source->rows; r++)
        if (column->states[r] != HAC_ROW_OK)
            ((hac_string_ref *)column->values)[r] = (hac_string_ref){0, 0};
}

static void table_values(hac_source *source, hac_source_column *column)
{
    size_t size = hac_value_size(column->type);
    table_nulls(source, column);
    if (column->repr == HAC_REPR_STRING)
        return;
    if (column->repr == HAC_REPR_BOOL) {
        table_bools(source, column);
        return;
    }
    const uint8_t *from = source->place.memory + table_column(source, column)->values + source->next * size;
    hac_load_values(column->type, from, size, source->rows, column->values);
    hac_source_check_decimals(source, column);
}

static hac_status next_table(hac_source *source, hac_error *err)
{
    uint64_t left = source->end - source->next;
    size_t rows = left < HAC_BATCH_ROWS ? (size_t)left : HAC_BATCH_ROWS;
    if (left == 0)
        return HAC_NOT_FOUND;
    hac_status status = HAC_OK;
    for (size_t i = 0; i < source->n_columns && status == HAC_OK; i++)
        if (source->columns[i].repr == HAC_REPR_STRING)
            status = table_strings(source, &source->columns[i], &rows, err);
    if (status != HAC_OK)
        return status;
    source->rows = rows;
    uint64_t *starts = source->starts, next = source->next;
    for (size_t r = 0; r < rows; r++)
        starts[r] = next + r;
    for (size_t i = 0; i < source->n_columns; i++)
        table_values(source, &source->columns[i]);
    source->next += rows;
    return HAC_OK;
}

const hac_source_format hac_format_table = {.open = open_table, .begin = begin_table, .next = next_table};
