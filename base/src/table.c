/* SPDX-License-Identifier: Apache-2.0 */
#include "base/table.h"
#include "base/limits.h"

#include <string.h>

typedef struct part {
    const char *name;
    uint64_t offset, bytes;
} part;

/* `items` of `size` bytes; false when that is more than 64 bits. */
static bool times(uint64_t items, uint64_t size, uint64_t *ret)
{
    return !__builtin_mul_overflow(items, size, ret);
}

static uint64_t bitmap_bytes(uint64_t rows)
{
    return rows / 8 + (rows % 8 != 0);
}

static bool values_bytes(const hac_table_column *column, uint64_t rows, uint64_t *ret)
{
    if (column->type.kind == HAC_KIND_BOOL) {
        *ret = bitmap_bytes(rows);
        return true;
    }
    if (hac_kind_is_text(column->type.kind))
        return rows < UINT64_MAX && times(rows + 1, column->large ? 8 : 4, ret);
    return times(rows, hac_value_size(column->type), ret);
}

static hac_status check_part(const part *p, uint64_t bytes, size_t column, hac_error *err)
{
    if (p->offset % HAC_ALIGNMENT != 0)
        return hac_fail(err, HAC_INVALID,
                        "table column %zu: its %s start at byte %llu, not at a multiple of %d", column,
                        p->name, (unsigned long long)p->offset, HAC_ALIGNMENT);
    if (p->offset > bytes || p->bytes > bytes - p->offset)
        return hac_fail(err, HAC_INVALID,
                        "table column %zu: its %s (%llu bytes at %llu) are outside the table's %llu bytes",
                        column, p->name, (unsigned long long)p->bytes, (unsigned long long)p->offset,
                        (unsigned long long)bytes);
    return HAC_OK;
}

static hac_status check_column(const hac_table *table, size_t i, uint64_t bytes, hac_error *err)
{
    const hac_table_column *column = &table->columns[i];
    part values = {.name = "values", .offset = column->values};
    part validity = {"null bits", column->validity, bitmap_bytes(table->rows)};
    part characters = {"characters", column->bytes, column->n_bytes};
    if (!hac_value_type_valid(column->type))
        return hac_fail(err, HAC_INVALID, "table column %zu: its type does not exist", i);
    if (!values_bytes(column, table->rows, &values.bytes))
        return hac_fail(err, HAC_INVALID, "table column %zu: %llu rows are too many", i,
                        (unsigned long long)table->rows);
    hac_status status = check_part(&values, bytes, i, err);
    if (status == HAC_OK && column->validity != HAC_TABLE_NONE)
        status = check_part(&validity, bytes, i, err);
    if (status == HAC_OK && hac_kind_is_text(column->type.kind) &&
        (column->bytes != HAC_TABLE_NONE || column->n_bytes != 0))
        status = check_part(&characters, bytes, i, err);
    return status;
}

hac_status hac_table_check(const hac_table *table, uint64_t bytes, hac_error *err)
{
    if (table->n_columns > HAC_COLUMNS_MAX)
        return hac_fail(err, HAC_INVALID, "a table of %zu columns is too wide (at most %d)", table->n_columns,
                        HAC_COLUMNS_MAX);
    for (size_t i = 0; i < table->n_columns; i++) {
        hac_status status = check_column(table, i, bytes, err);
        if (status != HAC_OK)
            return status;
    }
    return HAC_OK;
}

/* The memory may be shared with whoever filled it: each offset is read once. */
bool hac_table_string(const hac_table_column *column, const uint8_t *memory, uint64_t row,
                      const uint8_t **ret, uint64_t *ret_bytes)
{
    const uint8_t *values = memory + column->values;
    int64_t first, end;
    if (column->large) {
        memcpy(&first, values + row * 8, sizeof first);
        memcpy(&end, values + (row + 1) * 8, sizeof end);
    } else {
        int32_t narrow[2];
        memcpy(narrow, values + row * 4, sizeof narrow);
        first = narrow[0];
        end = narrow[1];
    }
    if (first < 0 || end < first || (uint64_t)end > column->n_bytes)
        return false;
    *ret = column->n_bytes > 0 ? memory + column->bytes + first : memory;
    *ret_bytes = (uint64_t)(end - first);
    return true;
}
