/* SPDX-License-Identifier: Apache-2.0 */
#include "grid.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

static bool is_continuation(char c)
{
    return ((unsigned char)c & 0xc0) == 0x80;
}

void hac_grid_sanitise(char *text, bool lines)
{
    for (char *p = text; *p != '\0'; p++) {
        unsigned char c = (unsigned char)*p;
        if (lines && (c == '\n' || c == '\t'))
            continue;
        if (c < 0x20 || c == 0x7f) {
            *p = '?';
        } else if (c == 0xc2 && (unsigned char)p[1] >= 0x80 && (unsigned char)p[1] < 0xa0) {
            /* U+0080 … U+009F: C1 controls; terminals take 0x9b for ESC [. */
            *p++ = '?';
            *p = '?';
        }
    }
}

/* Columns on the screen, one a character: wide characters are not worth a locale here. */
static size_t width(const char *s)
{
    size_t n = 0;
    for (; *s != '\0'; s++)
        n += !is_continuation(*s);
    return n;
}

static bool make_room(hac_grid *grid)
{
    if (grid->broken || grid->n_cells < grid->room)
        return !grid->broken;
    size_t room = grid->room != 0 ? grid->room * 2 : 64;
    char **cells = reallocarray(grid->cells, room, sizeof *cells);
    if (cells == NULL) {
        grid->broken = true;
        return false;
    }
    grid->cells = cells;
    grid->room = room;
    return true;
}

void hac_grid_add(hac_grid *grid, const char *cell)
{
    if (!make_room(grid))
        return;
    char *copy = strdup(cell == NULL || *cell == '\0' ? "-" : cell);
    if (copy == NULL) {
        grid->broken = true;
        return;
    }
    hac_grid_sanitise(copy, false);
    grid->cells[grid->n_cells++] = copy;
}

void hac_grid_addf(hac_grid *grid, const char *fmt, ...)
{
    hac_autofree char *cell = NULL;
    va_list args;
    va_start(args, fmt);
    int r = vasprintf(&cell, fmt, args);
    va_end(args);
    if (r < 0) {
        cell = NULL; /* undefined after a failure */
        grid->broken = true;
        return;
    }
    hac_grid_add(grid, cell);
}

size_t hac_grid_rows(const hac_grid *grid)
{
    return grid->n_cells / grid->n_columns;
}

static size_t column_width(const hac_grid *grid, size_t column)
{
    size_t widest = width(grid->columns[column].header);
    for (size_t i = column; i < grid->n_cells; i += grid->n_columns) {
        size_t w = width(grid->cells[i]);
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

void hac_grid_write(const hac_grid *grid, hac_text *text)
{
    hac_autofree size_t *wide = calloc(grid->n_columns, sizeof *wide);
    if (wide == NULL || grid->broken) {
        text->broken = true;
        return;
    }
    for (size_t c = 0; c < grid->n_columns; c++)
        wide[c] = column_width(grid, c);
    for (size_t row = 0; row <= hac_grid_rows(grid); row++) {
        for (size_t c = 0; c < grid->n_columns; c++) {
            const char *cell =
                row == 0 ? grid->columns[c].header : grid->cells[(row - 1) * grid->n_columns + c];
            write_cell(text, cell, wide[c], grid->columns[c].right, c + 1 == grid->n_columns);
        }
        hac_text_add(text, "\n");
    }
}

void hac_grid_clear(hac_grid *grid)
{
    for (size_t i = 0; i < grid->n_cells; i++)
        free(grid->cells[i]);
    free(grid->cells);
    grid->cells = NULL;
    grid->n_cells = grid->room = 0;
    grid->broken = false;
}
