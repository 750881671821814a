/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The progress line on standard error: rewritten in place at most ten times a second, as wide as the
 * terminal.
 *
 *     [########----------------]  33 %  merge 17  118 M items/s  2 s left  (building kernels for cpu (2 of
 *     5))
 */
#ifndef HACCTL_PROGRESS_H
#define HACCTL_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hac/hac.h>

typedef struct hac_progress_line {
    int fd;
    uint64_t shown_ns; /* when the line was last written; 0: it is not on the screen */
} hac_progress_line;

/* Writes the line, cut to `columns`, into the `bytes` bytes at `ret`; NUL-terminated. */
void hac_progress_format(const hac_progress *progress, size_t columns, char *ret, size_t bytes);

void hac_progress_show(hac_progress_line *line, const hac_progress *progress);
/* Removes the line from the screen. */
void hac_progress_hide(hac_progress_line *line);

#endif
