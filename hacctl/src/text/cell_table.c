/* SPDX-License-Identifier: Apache-2.0 */
#include "cell_table.h"

#include <stdlib.h>
#include <string.h>

void hac_cell_table_add(hac_cell_table *table, const char *cell)
{
    if (!table->broken && table->n_cells == table->capacity) {
        size_t capacity = table->capacity != 0 ? 2 * table->capacity : 64;
        char **cells = reallocarray(table->cells, capacity, sizeof *cells);
        table->broken = cells == NULL;
        table->cells = cells != NULL ? cells : table->cells;
        table->capacity = cells != NULL ? capacity : table->capacity;
    }
    char *copy = !table->broken && cell != NULL ? strdup(cell) : NULL;
    table->broken |= cell != NULL && copy == NULL;
    if (!table->broken)
        table->cells[table->n_cells++] = copy;
}

void hac_cell_table_clear(hac_cell_table *table)
{
    for (size_t i = 0; i < table->n_cells; i++)
        free(table->cells[i]);
    free(table->cells);
    table->cells = NULL;
    table->n_cells = table->capacity = 0;
}

/* Adds the text with other texts in the place of some characters: `pairs` is a list of a character, what
 * stands for it, and a zero. */
static void add_escaped(hac_text *text, const char *cell, const char *const *pairs)
{
    for (; *cell != '\0'; cell++) {
        size_t i = 0;
        while (pairs[i] != NULL && pairs[i][0] != *cell)
            i++;
        if (pairs[i] != NULL)
            hac_text_add(text, pairs[i] + 1);
        else
            hac_text_add_bytes(text, cell, 1);
    }
}

static void csv_cell(hac_text *text, const char *cell)
{
    static const char *const quotes[] = {"\"\"\"", NULL};
    bool plain = cell == NULL || (*cell != '\0' && strpbrk(cell, ",\"\r\n") == NULL);
    if (plain) {
        hac_text_add(text, cell != NULL ? cell : "");
        return;
    }
    hac_text_add(text, "\"");
    add_escaped(text, cell, quotes);
    hac_text_add(text, "\"");
}

static void tsv_cell(hac_text *text, const char *cell)
{
    static const char *const escapes[] = {"\t\\t", "\n\\n", "\r\\r", "\\\\\\", NULL};
    if (cell == NULL)
        hac_text_add(text, "\\N");
    else
        add_escaped(text, cell, escapes);
}

static void markdown_cell(hac_text *text, const char *cell)
{
    static const char *const escapes[] = {"|\\|", "\\\\\\", "<&lt;", "&&amp;", "\n<br>", "\r", NULL};
    if (cell != NULL)
        add_escaped(text, cell, escapes);
}

/* Writes the names and then the rows, each with `before` in front, `between` cells and `after` at the end. */
static void write_rows(const hac_cell_table *table, hac_text *text, void (*cell)(hac_text *, const char *),
                       const char *before, const char *between, const char *after, const char *rule)
{
    size_t n = table->n_columns;
    text->broken |= table->broken;
    for (size_t i = 0; i < n + table->n_cells; i++) {
        hac_text_add(text, i % n == 0 ? before : between);
        cell(text, i < n ? table->columns[i].name : table->cells[i - n]);
        if (i % n == n - 1)
            hac_text_add(text, after);
        for (size_t c = 0; rule != NULL && i == n - 1 && c <= n; c++)
            hac_text_add(text, c < n ? rule : "|\n");
    }
}

void hac_cell_table_csv(const hac_cell_table *table, hac_text *text)
{
    write_rows(table, text, csv_cell, "", ",", "\n", NULL);
}

void hac_cell_table_tsv(const hac_cell_table *table, hac_text *text)
{
    write_rows(table, text, tsv_cell, "", "\t", "\n", NULL);
}

void hac_cell_table_markdown(const hac_cell_table *table, hac_text *text)
{
    write_rows(table, text, markdown_cell, "| ", " | ", " |\n", "|---");
}

/* JSON has no infinities: they are strings. */
static bool is_json_number(const char *type, const char *cell)
{
    return (strcmp(type, "i64") == 0 || strcmp(type, "f64") == 0) && strpbrk(cell, "ni") == NULL;
}

void hac_cell_table_json(const hac_cell_table *table, hac_text *text)
{
    text->broken |= table->broken;
    for (size_t i = 0; i < table->n_cells; i++) {
        const hac_cell_column *column = &table->columns[i % table->n_columns];
        if (i % table->n_columns == 0)
            hac_json_open(text, NULL, '{');
        if (table->cells[i] != NULL && is_json_number(column->type, table->cells[i]))
            hac_json_raw(text, column->name, table->cells[i]);
        else
            hac_json_string(text, column->name, table->cells[i]);
        if (i % table->n_columns != table->n_columns - 1)
            continue;
        hac_json_close(text, '}');
        hac_text_add(text, "\n");
        text->comma = 0;
    }
}
