/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables for people: a header line, aligned columns two spaces apart, no trailing blanks.
 *
 *     static const hac_column columns[] = {{"name", false}, {"memory", true}};
 *     hac_grid grid = HAC_GRID(columns);
 *     hac_grid_add(&grid, "cpu");
 *     hac_grid_add(&grid, "4 GiB");
 *     hac_grid_write(&grid, &text);
 *     hac_grid_clear(&grid);
 *
 * Cells are copied; control characters (file names may hold any) become '?'; NULL and "" become "-". Errors
 * (no memory) stick and are reported by hac_text_finish of the text that the table is written to.
 */
#ifndef HACCTL_GRID_H
#define HACCTL_GRID_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"

typedef struct hac_column {
    const char *header;
    bool right; /* numbers */
} hac_column;

typedef struct hac_grid {
    const hac_column *columns; /* borrowed */
    size_t n_columns;
    char **cells; /* row after row */
    size_t n_cells, room;
    bool broken;
} hac_grid;

#define HAC_GRID(columns)                                                                                    \
    {                                                                                                        \
        (columns), sizeof(columns) / sizeof *(columns), NULL, 0, 0, false                                    \
    }

void hac_grid_add(hac_grid *grid, const char *cell);
void hac_grid_addf(hac_grid *grid, const char *fmt, ...) HAC_PRINTF(2, 3);
size_t hac_grid_rows(const hac_grid *grid);
void hac_grid_write(const hac_grid *grid, hac_text *text);
void hac_grid_clear(hac_grid *grid);

/* Replaces what a terminal would obey (C0 and C1 controls, DEL) by '?'; with `lines`, \n and \t stay. In
 * place. */
void hac_grid_sanitise(char *text, bool lines);

#endif
