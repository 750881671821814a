/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The encodings of BYTE_ARRAY, to refs: PLAIN and DELTA_LENGTH_BYTE_ARRAY point into the page, which lies in
 * a room; values of DELTA_BYTE_ARRAY are put together in the room, and their page lies elsewhere.
 */
#ifndef PARQUET_TEXTS_H
#define PARQUET_TEXTS_H

#include "delta.h"
#include "expr/vector.h"
#include "room.h"

#define HAC_PARQUET_SCRATCH (HAC_BATCH_ROWS + 32) /* numbers: decoders write up to 31 more than asked for */

typedef enum hac_parquet_texts_kind {
    HAC_TEXTS_PLAIN,
    HAC_TEXTS_LENGTHS,
    HAC_TEXTS_PREFIXES,
} hac_parquet_texts_kind;

typedef struct hac_parquet_texts {
    hac_parquet_texts_kind kind;
    hac_parquet_room *room;
    uint64_t at_once; /* bytes of values put together by one call, at most */
    size_t at, end;   /* of the bytes to come: offsets in the room, with PREFIXES in `data` */
    const uint8_t *data;
    hac_parquet_delta lengths, prefixes;
} hac_parquet_texts;

/* The value that came last, over pages: files of old writers go on from the page before. */
typedef struct hac_parquet_last {
    uint8_t *data;
    size_t bytes, size;
} hac_parquet_last;

/* PLAIN and LENGTHS: the page's values are [at, at + bytes) of the room. */
HAC_MUST_USE hac_status hac_parquet_texts_begin(hac_parquet_texts *t, hac_parquet_texts_kind kind,
                                                const hac_parquet_kernels *kernels, hac_parquet_room *room,
                                                size_t at, size_t bytes, hac_error *err);
/* PREFIXES: they are data[0 … bytes). */
HAC_MUST_USE hac_status hac_parquet_texts_begin_prefixes(hac_parquet_texts *t,
                                                         const hac_parquet_kernels *kernels,
                                                         hac_parquet_room *room, uint64_t at_once,
                                                         const uint8_t *data, size_t bytes, hac_error *err);

/* The next n (≤ HAC_BATCH_ROWS) values; ret NULL: leaves them out. With PREFIXES they lie side by side. */
HAC_MUST_USE hac_status hac_parquet_texts_get(hac_parquet_texts *t, hac_parquet_last *last, size_t n,
                                              hac_string_ref *ret, hac_error *err);

#endif
