/* SPDX-License-Identifier: Apache-2.0 */
/* A window on a source's bytes: a private buffer that moves over the file or the memory. Files are read with
 * pread, in blocks that stay in a core's cache. Memory is copied as well: the process that filled it may
 * still write, vectors read beyond the end, and fields are unescaped in place. */
#ifndef QUERY_WINDOW_H
#define QUERY_WINDOW_H

#include "base/limits.h"
#include "query/source.h"
#include "query/stage_counters.h"

#define HAC_WINDOW_BLOCK (UINT64_C(1) << 18)

typedef struct hac_window {
    const hac_source_place *place;
    uint8_t *data; /* owned; HAC_SCAN_PAD bytes behind `capacity` are readable */
    size_t capacity, bytes;
    uint64_t base;     /* offset of data[0] in the source */
    size_t max;        /* maximum of bytes: HAC_RECORD_MAX + 1 unless the user of the window increases it */
    hac_stage reading; /* time spent on reading */
} hac_window;

/* Makes an empty window at the source's start; a small one for small sources. */
HAC_MUST_USE hac_status hac_window_init(hac_window *window, const hac_source_place *place, hac_error *err);
void hac_window_clear(hac_window *window);

/* Empties the window and moves it. */
void hac_window_seek(hac_window *window, uint64_t position);
bool hac_window_at_end(const hac_window *window); /* true if it has the source's last byte */

/* Drops the first `drop` bytes and reads more, at least one byte unless the source ends. Reads little beyond
 * position `until`. The buffer grows when one record fills it, up to `max` bytes: a record that is still
 * incomplete then is too long. HAC_FAILED: the file cannot be read or has become shorter. */
HAC_MUST_USE hac_status hac_window_refill(hac_window *window, size_t drop, uint64_t until, hac_error *err);

/* Reads exactly `bytes` bytes at `position`. */
HAC_MUST_USE hac_status hac_place_read(const hac_source_place *place, uint64_t position, uint8_t *ret,
                                       size_t bytes, hac_error *err);

#endif
