/* SPDX-License-Identifier: Apache-2.0 */
/* The first rows of chunks for `order by … limit`: only these are written, and the source is told where they
 * end (hac_source_set_cut). The threads of a task share the best end that any of them has found. */
#ifndef QUERY_CHUNK_TOP_H
#define QUERY_CHUNK_TOP_H

#include <pthread.h>

#include "chunk_rows.h"
#include "results/top_rows.h"

/* Of a task. Initialised with HAC_TOP_SHARED_INIT. */
typedef struct hac_top_shared {
    pthread_mutex_t lock;
    hac_top_end end; /* the best so far */
} hac_top_shared;

#define HAC_TOP_SHARED_INIT                                                                                  \
    {                                                                                                        \
        .lock = PTHREAD_MUTEX_INITIALIZER                                                                    \
    }

/* Of a thread; zero-initialised. */
typedef struct hac_chunk_top {
    hac_top_rows rows;
    hac_top_end cut; /* the source's */
    bool cuts;       /* the source can be cut, through `column` */
    size_t column;
} hac_chunk_top;

/* Reads the rest of chunk `chunk` (its number among all chunks). hac_top_rows_end of top->rows then writes
 * its first rows. */
HAC_MUST_USE hac_status hac_chunk_top_read(hac_chunk_top *top, hac_top_shared *shared, hac_chunk_rows *rows,
                                           uint64_t chunk, hac_error *err);
void hac_chunk_top_clear(hac_chunk_top *top);

#endif
