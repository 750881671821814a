/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables for people: a header line, aligned columns two spaces apart, no trailing blanks.
 *
 *     static const hac_text_column columns[] = {{"name", false}, {"memory", true}};
 *     hac_text_table table = HAC_TEXT_TABLE(columns);
 *     hac_text_table_add(&table, "cpu");
 *     hac_text_table_add(&table, "4 GiB");
 *     hac_text_table_write(&table, &text);
 *     hac_text_table_clear(&table);
 *
 * Cells are copied. Control characters, which file names may contain, become '?'; NULL and "" become "-". An
 * error (no memory) is remembered and reported by hac_text_finish of the text that the table is written to.
 */
#ifndef HACCTL_TEXT_TABLE_H
#define HACCTL_TEXT_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"

typedef struct hac_text_column {
    const char *header;
    bool right; /* right-aligned, for numbers */
} hac_text_column;

typedef struct hac_text_table {
    const hac_text_column *columns; /* borrowed */
    size_t n_columns;
    char **cells; /* row after row */
    size_t n_cells, capacity;
    bool broken;
} hac_text_table;

#define HAC_TEXT_TABLE(columns)                                                                              \
    {                                                                                                        \
        (columns), sizeof(columns) / sizeof *(columns), NULL, 0, 0, false                                    \
    }

void hac_text_table_add(hac_text_table *table, const char *cell);
void hac_text_table_addf(hac_text_table *table, const char *fmt, ...) HAC_PRINTF(2, 3);
/* Adds a whole number; "-" if `number` is not finite. */
void hac_text_table_add_whole(hac_text_table *table, double number);
/* Adds a rate in items per second (hac_number_print_rate); "-" if it is not positive. */
void hac_text_table_add_rate(hac_text_table *table, double rate);
size_t hac_text_table_rows(const hac_text_table *table);
void hac_text_table_write(const hac_text_table *table, hac_text *text);
void hac_text_table_clear(hac_text_table *table);

/* Replaces the characters that a terminal would obey (C0 and C1 controls, DEL) by '?', in place. With
 * `lines`, \n and \t stay. */
void hac_text_table_sanitise(char *text, bool lines);

/* Adds `before`, then a text of the daemon without control characters. Further lines of the text are
 * indented. Does nothing if `said` is NULL or "". */
void hac_text_add_lines(hac_text *text, const char *before, const char *said);

#endif
