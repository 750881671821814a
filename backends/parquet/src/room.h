/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the bytes of strings lie that one vector's refs point into: the dictionary's in front, then pages and
 * strings put together, of the batch that is being read and of the page that is not yet read to its end. What
 * is no longer needed is used again, so that there are at most about three pages. Places are offsets: memory
 * moves when it grows.
 */
#ifndef PARQUET_ROOM_H
#define PARQUET_ROOM_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

typedef struct hac_parquet_room {
    uint8_t *data;
    size_t most;    /* that it may grow to; 0: as far as refs reach */
    size_t size;    /* allocated; HAC_PARQUET_SLACK more are readable */
    size_t kept;    /* the dictionary's bytes */
    size_t low;     /* in use up to here … */
    size_t gap_end; /* … free up to here, in use up to `high`; SIZE_MAX: all above `low` is free */
    size_t high;
} hac_parquet_room;

void hac_parquet_room_clear(hac_parquet_room *room);

/* Another chunk begins: nothing is kept. */
void hac_parquet_room_empty(hac_parquet_room *room);

/* All that was placed so far is a dictionary's, and stays. */
void hac_parquet_room_keep(hac_parquet_room *room);

/* A batch begins: but for the dictionary only [first, end) is still needed; first == end: nothing. */
void hac_parquet_room_begin(hac_parquet_room *room, size_t first, size_t end);

/* A place for so many bytes. HAC_FAILED: there would be more than `most`, or than refs can tell apart;
 * HAC_NO_MEMORY. */
HAC_MUST_USE hac_status hac_parquet_room_place(hac_parquet_room *room, size_t bytes, size_t *ret,
                                               hac_error *err);

/* What was placed since `before`, a copy, is not needed any more. */
void hac_parquet_room_forget(hac_parquet_room *room, const hac_parquet_room *before);

#endif
