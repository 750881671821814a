/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows that hacctl itself makes, such as a summary, as csv, tsv, JSON lines or Markdown. They have the form
 * that the same rows of a query have (docs/formats.md).
 *
 *     static const hac_cell_column columns[] = {{"column", "string"}, {"count", "i64"}};
 *     hac_cell_table table = HAC_CELL_TABLE(columns);
 *     hac_cell_table_add(&table, "price");
 *     hac_cell_table_add(&table, "3");
 *     hac_cell_table_csv(&table, &text);
 *     hac_cell_table_clear(&table);
 *
 * Cells are copied; NULL is null. If memory runs out, the table notes it and hac_text_finish reports it.
 */
#ifndef HACCTL_CELL_TABLE_H
#define HACCTL_CELL_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"

typedef struct hac_cell_column {
    const char *name, *type; /* a type as a schema names it; cells of numbers are written as they are */
} hac_cell_column;

typedef struct hac_cell_table {
    const hac_cell_column *columns; /* borrowed */
    size_t n_columns;
    char **cells; /* row after row */
    size_t n_cells, capacity;
    bool broken;
} hac_cell_table;

#define HAC_CELL_TABLE(columns)                                                                              \
    {                                                                                                        \
        (columns), sizeof(columns) / sizeof *(columns), NULL, 0, 0, false                                    \
    }

void hac_cell_table_add(hac_cell_table *table, const char *cell);
void hac_cell_table_clear(hac_cell_table *table);

void hac_cell_table_csv(const hac_cell_table *table, hac_text *text);
void hac_cell_table_tsv(const hac_cell_table *table, hac_text *text);
void hac_cell_table_json(const hac_cell_table *table, hac_text *text);
void hac_cell_table_markdown(const hac_cell_table *table, hac_text *text);

#endif
