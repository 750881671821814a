/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A window on a source's bytes: a buffer of our own that moves over the file or the memory. Files are read
 * with pread in blocks that stay in a core's cache. Memory is copied likewise: it may be shared with whoever
 * filled it, vectors read beyond the end, and fields are unescaped where they stand.
 */
#ifndef QUERY_WINDOW_H
#define QUERY_WINDOW_H

#include "query/source.h"
#include "query/stages.h"

#define HAC_WINDOW_BLOCK (UINT64_C(1) << 18)
#define HAC_RECORD_MAX   (UINT64_C(64) << 20) /* bytes of one record */

typedef struct hac_window {
    const hac_source_place *place;
    uint8_t *data; /* owned; HAC_SCAN_PAD bytes behind `room` are readable */
    size_t room, bytes;
    uint64_t base;     /* where in the source data[0] is */
    size_t most;       /* bytes that it may hold: HAC_RECORD_MAX + 1, unless its user says more after init */
    hac_stage reading; /* since it was made */
} hac_window;

/* An empty window at the source's start; for sources of a few bytes a small one. */
HAC_MUST_USE hac_status hac_window_init(hac_window *window, const hac_source_place *place, hac_error *err);
void hac_window_clear(hac_window *window);

/* Empties the window and moves it. */
void hac_window_seek(hac_window *window, uint64_t position);
bool hac_window_at_end(const hac_window *window); /* it holds the source's last byte */

/*
 * Forgets the first `drop` bytes and reads more behind the rest; at least a byte unless the source ends. What
 * lies behind position `until` is read sparingly. Grows when one record fills it. HAC_FAILED: the file cannot
 * be read or has become shorter. The window never holds more than `most` bytes: a record that is not whole
 * then is too long, wherever it was read.
 */
HAC_MUST_USE hac_status hac_window_refill(hac_window *window, size_t drop, uint64_t until, hac_error *err);

/* Exactly `bytes` of a place at `position`. */
HAC_MUST_USE hac_status hac_place_read(const hac_source_place *place, uint64_t position, uint8_t *ret,
                                       size_t bytes, hac_error *err);

#endif
