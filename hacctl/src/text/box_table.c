/* SPDX-License-Identifier: Apache-2.0 */
#include "box_table.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/value.h"
#include "screen_text.h"
#include "tsv_field.h"

/* A line of tsv without its line feed; the memory is used again. */
typedef struct box_line {
    char *data;
    size_t bytes, capacity;
} box_line;

struct hac_box_table {
    box_line header, part; /* `part` is the line whose end has not come yet */
    box_line first[HAC_BOX_ROWS], last[HAC_BOX_ROWS];
    bool headed;
    uint64_t rows;
};

/* A cell on the screen. */
typedef struct box_cell {
    char *text; /* owned */
    bool null;
} box_cell;

/* What is drawn: a grid of cells, of which row 0 are the names and row 1 the types. */
typedef struct box_grid {
    box_cell *cells; /* owned */
    size_t n_rows, n_columns;
    size_t *wide; /* of each column; 0: left out */
    bool *right;
    size_t n_hidden; /* columns left out, behind column `hidden_at` - 1 */
    size_t hidden_at;
    const hac_box_look *look;
} box_grid;

enum { HEAD_ROWS = 2, TEXT_MIN = 8, FRAME = 3 }; /* FRAME: "│ x " beside a column's text */

hac_box_table *hac_box_table_new(hac_error *err)
{
    hac_box_table *box = calloc(1, sizeof *box);
    if (box == NULL)
        (void)hac_fail_no_memory(err);
    return box;
}

void hac_box_table_free(hac_box_table *box)
{
    if (box == NULL)
        return;
    for (size_t i = 0; i < HAC_BOX_ROWS; i++) {
        free(box->first[i].data);
        free(box->last[i].data);
    }
    free(box->header.data);
    free(box->part.data);
    free(box);
}

/* ---- taking rows ---- */

static hac_status append(box_line *line, const char *data, size_t n, hac_error *err)
{
    size_t wanted;
    if (__builtin_add_overflow(line->bytes, n, &wanted) || wanted > SIZE_MAX / 4)
        return hac_fail_no_memory(err);
    if (wanted > line->capacity) {
        size_t capacity = wanted + wanted / 2 + 64;
        char *grown = realloc(line->data, capacity);
        if (grown == NULL)
            return hac_fail_no_memory(err);
        line->data = grown;
        line->capacity = capacity;
    }
    if (n > 0)
        memcpy(line->data + line->bytes, data, n);
    line->bytes = wanted;
    return HAC_OK;
}

static hac_status keep(box_line *to, const char *data, size_t n, hac_error *err)
{
    to->bytes = 0;
    return append(to, data, n, err);
}

static hac_status take_line(hac_box_table *box, const char *data, size_t n, hac_error *err)
{
    if (!box->headed) {
        box->headed = true;
        return keep(&box->header, data, n, err);
    }
    uint64_t row = box->rows++;
    return keep(row < HAC_BOX_ROWS ? &box->first[row] : &box->last[row % HAC_BOX_ROWS], data, n, err);
}

hac_status hac_box_table_add(hac_box_table *box, const void *bytes, size_t n, hac_error *err)
{
    const char *at = bytes, *end = at + n, *feed;
    hac_status status = HAC_OK;
    for (; status == HAC_OK && n > 0 && (feed = memchr(at, '\n', (size_t)(end - at))) != NULL;
         at = feed + 1) {
        if (box->part.bytes == 0) {
            status = take_line(box, at, (size_t)(feed - at), err);
            continue;
        }
        status = append(&box->part, at, (size_t)(feed - at), err);
        if (status == HAC_OK)
            status = take_line(box, box->part.data, box->part.bytes, err);
        box->part.bytes = 0;
    }
    return status == HAC_OK && at < end ? append(&box->part, at, (size_t)(end - at), err) : status;
}

/* ---- cells ---- */

/* Longer text is never seen: a cell is cut at the width of the terminal. */
enum { CELL_MAX = 4096 };

static bool fill_cell(box_cell *cell, const char *field, size_t bytes)
{
    char raw[CELL_MAX];
    cell->null = bytes == 2 && memcmp(field, "\\N", 2) == 0;
    if (cell->null) {
        if ((cell->text = malloc(sizeof "NULL" + sizeof "…")) != NULL)
            strcpy(cell->text, "NULL");
        return cell->text != NULL;
    }
    bool cut = bytes > sizeof raw;
    bytes = cut ? sizeof raw : bytes;
    while (cut && bytes > 0 && ((uint8_t)field[bytes] & 0xc0) == 0x80)
        bytes--;
    if (bytes > 0)
        memcpy(raw, field, bytes);
    bytes = hac_tsv_unescape(raw, bytes);
    cell->text = malloc(HAC_SCREEN_TEXT_MAX(bytes) + 2 * sizeof "…");
    if (cell->text == NULL)
        return false;
    hac_screen_text(raw, bytes, cell->text);
    if (cut)
        strcat(cell->text, "…");
    return true;
}

/* A row that has fewer fields than the header gets empty cells. */
static bool fill_row(box_grid *grid, size_t row, const box_line *line)
{
    const char *at = line->data != NULL ? line->data : "", *end = at + line->bytes;
    for (size_t c = 0; c < grid->n_columns; c++) {
        const char *tab = memchr(at, '\t', (size_t)(end - at)), *stop = tab != NULL ? tab : end;
        if (!fill_cell(&grid->cells[row * grid->n_columns + c], at, (size_t)(stop - at)))
            return false;
        at = tab != NULL ? tab + 1 : end;
    }
    return true;
}

static size_t count_fields(const box_line *line)
{
    size_t n = 1;
    for (size_t i = 0; i < line->bytes; i++)
        n += line->data[i] == '\t';
    return n;
}

static void grid_clear(box_grid *grid)
{
    for (size_t i = 0; grid->cells != NULL && i < grid->n_rows * grid->n_columns; i++)
        free(grid->cells[i].text);
    free(grid->cells);
    free(grid->wide);
    free(grid->right);
}

static bool is_number(const char *type)
{
    hac_value_type parsed;
    return hac_value_type_parse(type, strlen(type), &parsed, NULL) == HAC_OK &&
           hac_kind_is_number(parsed.kind);
}

static bool fill_types(box_grid *grid, const char *const *types, size_t n_types)
{
    for (size_t c = 0; c < grid->n_columns; c++) {
        const char *type = c < n_types ? types[c] : "";
        grid->right[c] = is_number(type);
        char *text = malloc(strlen(type) + sizeof "…"); /* room for hac_screen_cut */
        if (text == NULL)
            return false;
        grid->cells[grid->n_columns + c].text = strcpy(text, type);
    }
    return true;
}

static bool fill_grid(const hac_box_table *box, const char *const *types, size_t n_types, box_grid *grid)
{
    uint64_t first = box->rows < HAC_BOX_ROWS ? box->rows : HAC_BOX_ROWS, rest = box->rows - first;
    size_t last = rest < HAC_BOX_ROWS ? (size_t)rest : HAC_BOX_ROWS;
    grid->n_columns = count_fields(&box->header);
    grid->n_rows = HEAD_ROWS + (size_t)first + last;
    grid->cells = calloc(grid->n_rows * grid->n_columns, sizeof *grid->cells);
    grid->wide = calloc(grid->n_columns, sizeof *grid->wide);
    grid->right = calloc(grid->n_columns, sizeof *grid->right);
    bool good = grid->cells != NULL && grid->wide != NULL && grid->right != NULL &&
                fill_row(grid, 0, &box->header) && fill_types(grid, types, n_types);
    for (size_t i = 0; i < first && good; i++)
        good = fill_row(grid, HEAD_ROWS + i, &box->first[i]);
    for (size_t i = 0; i < last && good; i++)
        good =
            fill_row(grid, HEAD_ROWS + (size_t)first + i, &box->last[(box->rows - last + i) % HAC_BOX_ROWS]);
    return good;
}

/* ---- widths ---- */

static size_t total_width(const box_grid *grid)
{
    size_t total = 1 + (grid->n_hidden > 0 ? FRAME + 1 : 0);
    for (size_t c = 0; c < grid->n_columns; c++)
        total += grid->wide[c] > 0 ? grid->wide[c] + FRAME : 0;
    return total;
}

static void measure(box_grid *grid)
{
    for (size_t c = 0; c < grid->n_columns; c++) {
        grid->wide[c] = 1;
        for (size_t r = 0; r < grid->n_rows; r++) {
            size_t width = hac_screen_width(grid->cells[r * grid->n_columns + c].text);
            grid->wide[c] = width > grid->wide[c] ? width : grid->wide[c];
        }
        if (grid->look->width > 0 && grid->wide[c] > grid->look->width)
            grid->wide[c] = grid->look->width;
    }
}

/* Makes the widest column of text narrower by one, until the table fits. Numbers are not cut. */
static void narrow_text(box_grid *grid)
{
    size_t total = total_width(grid);
    while (total > grid->look->width) {
        size_t widest = grid->n_columns;
        for (size_t c = 0; c < grid->n_columns; c++)
            if (!grid->right[c] && grid->wide[c] > TEXT_MIN &&
                (widest == grid->n_columns || grid->wide[c] > grid->wide[widest]))
                widest = c;
        if (widest == grid->n_columns)
            return;
        grid->wide[widest]--;
        total--;
    }
}

/* Leaves out columns in the middle, until the table fits. The first column stays. */
static void hide_columns(box_grid *grid)
{
    size_t first = grid->n_columns / 2, end = first;
    while (total_width(grid) > grid->look->width && grid->n_hidden + 1 < grid->n_columns) {
        bool before = grid->n_columns - end < first;
        size_t hidden = before || end == grid->n_columns ? --first : end++;
        grid->wide[hidden] = 0;
        grid->n_hidden++;
        grid->hidden_at = first;
    }
}

/* ---- drawing ---- */

static const char dim[] = "\x1b[2m", plain[] = "\x1b[0m";

static void repeat(hac_text *text, const char *what, size_t times)
{
    for (size_t i = 0; i < times; i++)
        hac_text_add(text, what);
}

/* A line across the table, with `left`, `middle` and `right` where it meets the frame. */
static void draw_line(const box_grid *grid, const char *left, const char *middle, const char *right,
                      hac_text *text)
{
    const char *join = left;
    for (size_t c = 0; c < grid->n_columns; c++) {
        if (grid->n_hidden > 0 && c == grid->hidden_at) {
            hac_text_addf(text, "%s───", join);
            join = middle;
        }
        if (grid->wide[c] == 0)
            continue;
        hac_text_add(text, join);
        repeat(text, "─", grid->wide[c] + 2);
        join = middle;
    }
    hac_text_addf(text, "%s\n", right);
}

static void draw_cell(const box_grid *grid, const box_cell *cell, size_t wide, bool right, bool faint,
                      hac_text *text)
{
    hac_screen_cut(cell->text, wide);
    size_t blanks = wide - hac_screen_width(cell->text);
    bool colour = grid->look->colour && (faint || cell->null);
    hac_text_addf(text, "│ %*s%s%s%s%*s ", right ? (int)blanks : 0, "", colour ? dim : "", cell->text,
                  colour ? plain : "", right ? 0 : (int)blanks, "");
}

static void draw_row(const box_grid *grid, size_t row, hac_text *text)
{
    for (size_t c = 0; c < grid->n_columns; c++) {
        if (grid->n_hidden > 0 && c == grid->hidden_at)
            hac_text_add(text, "│ … ");
        if (grid->wide[c] > 0)
            draw_cell(grid, &grid->cells[row * grid->n_columns + c], grid->wide[c], grid->right[c], row == 1,
                      text);
    }
    hac_text_add(text, "│\n");
}

/* 12345678 as "12,345,678". */
static void print_count(uint64_t number, char ret[32])
{
    char digits[24];
    int n = snprintf(digits, sizeof digits, "%llu", (unsigned long long)number), to = 0;
    for (int i = 0; i < n; i++) {
        if (i > 0 && (n - i) % 3 == 0)
            ret[to++] = ',';
        ret[to++] = digits[i];
    }
    ret[to] = '\0';
}

/* The line that stands for the rows between the first and the last ones. */
static void draw_gap(const box_grid *grid, uint64_t rows, hac_text *text)
{
    char count[32], said[64];
    size_t inside = total_width(grid) - 2;
    print_count(rows, count);
    snprintf(said, sizeof said, "… %s row%s …", count, rows == 1 ? "" : "s");
    if (inside >= 1)
        hac_screen_cut(said, inside);
    size_t blanks = inside - hac_screen_width(said);
    hac_text_addf(text, "│%*s%s%*s│\n", (int)(blanks / 2), "", said, (int)(blanks - blanks / 2), "");
}

static void draw(const hac_box_table *box, const box_grid *grid, hac_text *text)
{
    char count[32];
    size_t shown = grid->n_rows - HEAD_ROWS;
    draw_line(grid, "┌", "┬", "┐", text);
    draw_row(grid, 0, text);
    draw_row(grid, 1, text);
    draw_line(grid, "├", "┼", "┤", text);
    for (size_t i = 0; i < shown; i++) {
        if (i == HAC_BOX_ROWS && box->rows > shown)
            draw_gap(grid, box->rows - shown, text);
        draw_row(grid, HEAD_ROWS + i, text);
    }
    draw_line(grid, "└", "┴", "┘", text);
    print_count(box->rows, count);
    if (box->rows > shown || grid->n_hidden > 0)
        hac_text_addf(text, "%s row%s", count, box->rows == 1 ? "" : "s");
    if (grid->n_hidden > 0)
        hac_text_addf(text, ", %zu columns of which %zu are shown", grid->n_columns,
                      grid->n_columns - grid->n_hidden);
    if (box->rows > shown || grid->n_hidden > 0)
        hac_text_add(text, "\n");
}

void hac_box_table_write(hac_box_table *box, const char *const *types, size_t n_types,
                         const hac_box_look *look, hac_text *text)
{
    box_grid grid = {.look = look};
    if (!fill_grid(box, types, n_types, &grid)) {
        text->broken = true;
    } else {
        measure(&grid);
        if (look->width > 0) {
            narrow_text(&grid);
            hide_columns(&grid);
        }
        draw(box, &grid, text);
    }
    grid_clear(&grid);
}
