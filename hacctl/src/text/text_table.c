/* SPDX-License-Identifier: Apache-2.0 */
#include "text_table.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "number_print.h"

static bool is_continuation(char c)
{
    return ((unsigned char)c & 0xc0) == 0x80;
}

void hac_text_table_sanitise(char *text, bool lines)
{
    for (char *p = text; *p != '\0'; p++) {
        unsigned char c = (unsigned char)*p;
        if (lines && (c == '\n' || c == '\t'))
            continue;
        if (c < 0x20 || c == 0x7f) {
            *p = '?';
        } else if (c == 0xc2 && (unsigned char)p[1] >= 0x80 && (unsigned char)p[1] < 0xa0) {
            /* C1 controls, U+0080 … U+009F: terminals take 0x9b for ESC [ */
            *p++ = '?';
            *p = '?';
        }
    }
}

/* Columns on the screen, assuming one for each character. Wide characters are not worth a locale here. */
static size_t width(const char *s)
{
    size_t n = 0;
    for (; *s != '\0'; s++)
        n += !is_continuation(*s);
    return n;
}

static bool make_room(hac_text_table *table)
{
    if (table->broken || table->n_cells < table->capacity)
        return !table->broken;
    size_t capacity = table->capacity != 0 ? table->capacity * 2 : 64;
    char **cells = reallocarray(table->cells, capacity, sizeof *cells);
    if (cells == NULL) {
        table->broken = true;
        return false;
    }
    table->cells = cells;
    table->capacity = capacity;
    return true;
}

void hac_text_table_add(hac_text_table *table, const char *cell)
{
    if (!make_room(table))
        return;
    char *copy = strdup(cell == NULL || *cell == '\0' ? "-" : cell);
    if (copy == NULL) {
        table->broken = true;
        return;
    }
    hac_text_table_sanitise(copy, false);
    table->cells[table->n_cells++] = copy;
}

void hac_text_table_addf(hac_text_table *table, const char *fmt, ...)
{
    hac_autofree char *cell = NULL;
    va_list args;
    va_start(args, fmt);
    int r = vasprintf(&cell, fmt, args);
    va_end(args);
    if (r < 0) {
        cell = NULL; /* undefined after a failure */
        table->broken = true;
        return;
    }
    hac_text_table_add(table, cell);
}

size_t hac_text_table_rows(const hac_text_table *table)
{
    return table->n_cells / table->n_columns;
}

static size_t column_width(const hac_text_table *table, size_t column)
{
    size_t widest = width(table->columns[column].header);
    for (size_t i = column; i < table->n_cells; i += table->n_columns) {
        size_t w = width(table->cells[i]);
        widest = w > widest ? w : widest;
    }
    return widest;
}

static void write_cell(hac_text *text, const char *cell, size_t wide, bool right, bool last)
{
    size_t blanks = wide - width(cell);
    if (right)
        hac_text_addf(text, "%*s", (int)blanks, "");
    hac_text_add(text, cell);
    if (!last)
        hac_text_addf(text, "%*s", (int)(right ? 0 : blanks) + 2, "");
}

void hac_text_table_write(const hac_text_table *table, hac_text *text)
{
    hac_autofree size_t *wide = calloc(table->n_columns, sizeof *wide);
    if (wide == NULL || table->broken) {
        text->broken = true;
        return;
    }
    for (size_t c = 0; c < table->n_columns; c++)
        wide[c] = column_width(table, c);
    for (size_t row = 0; row <= hac_text_table_rows(table); row++) {
        for (size_t c = 0; c < table->n_columns; c++) {
            const char *cell =
                row == 0 ? table->columns[c].header : table->cells[(row - 1) * table->n_columns + c];
            write_cell(text, cell, wide[c], table->columns[c].right, c + 1 == table->n_columns);
        }
        hac_text_add(text, "\n");
    }
}

void hac_text_table_clear(hac_text_table *table)
{
    for (size_t i = 0; i < table->n_cells; i++)
        free(table->cells[i]);
    free(table->cells);
    table->cells = NULL;
    table->n_cells = table->capacity = 0;
    table->broken = false;
}

void hac_text_add_lines(hac_text *text, const char *before, const char *said)
{
    hac_autofree char *copy = said != NULL && *said != '\0' ? strdup(said) : NULL;
    if (copy == NULL)
        return;
    hac_text_table_sanitise(copy, true);
    hac_text_add(text, before);
    for (char *rest = copy, *line = strsep(&rest, "\n"); line != NULL; line = strsep(&rest, "\n"))
        if (*line != '\0')
            hac_text_addf(text, "%s%s", line == copy ? "" : "\n        ", line);
}

void hac_text_table_add_whole(hac_text_table *table, double number)
{
    if (isfinite(number))
        hac_text_table_addf(table, "%.0f", number);
    else
        hac_text_table_add(table, NULL);
}

void hac_text_table_add_rate(hac_text_table *table, double rate)
{
    char buffer[HAC_NUMBER_PRINT_MAX];
    hac_text_table_add(table, rate > 0 ? hac_number_print_rate(rate, buffer) : NULL);
}
