/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sources that are no tables, for hash.aggregate: chunks of any format as columns in memory, narrow as
 * base/table.h has them, of the query's columns only. Chunks are read side by side, one a thread of the
 * executor's CPUs, and handed over in their order, a *wave* of them at a time. While the device works on one
 * wave the next is read.
 *
 * Memory: a wave has at most HAC_HASH_WAVE_BYTES of columns, or what a window of the device holds if that is
 * less. Three times that is what a loader takes at most: the wave at work, the one that is read, and, before
 * they are put together, its chunks. How many chunks a wave has follows from the size of those before.
 *
 * Chunks keep their rows and numbers; a partial does not depend on waves.
 */
#ifndef CODELETS_HASH_LOAD_H
#define CODELETS_HASH_LOAD_H

#include "hash_job.h"
#include "query/task.h"

#define HAC_HASH_WAVE_BYTES (UINT64_C(256) << 20)

typedef struct hac_hash_loader hac_hash_loader;

typedef struct hac_hash_load {
    const hac_query_task *task; /* its source; borrowed */
    hac_span quotes;            /* of csv, as query.aggregate gets it */
    uint64_t first, n;          /* chunks of the source */
    uint64_t chunks;            /* of a wave, at most */
    uint64_t bytes;             /* of a wave, at most; 0: HAC_HASH_WAVE_BYTES */
} hac_hash_load;

/* Begins to read. HAC_NO_MEMORY. */
HAC_MUST_USE hac_status hac_hash_loader_new(const hac_hash_load *load, hac_hash_loader **ret, hac_error *err);
/* What its sources have counted so far, added; not while a wave is read: after the last one. */
void hac_hash_loader_count(const hac_hash_loader *loader, hac_source_counters *counters);
/* Waits for a thread that reads. */
void hac_hash_loader_free(hac_hash_loader *loader);

/* The next wave, valid until the next call but one; the wave behind it is being read from here on.
 * HAC_FAILED: a record that cannot be read, as hac_source_next says it, or the file. HAC_NOT_FOUND: all
 * chunks are through. *ret_too_large: it is one chunk, too large for a wave, and nothing of it was kept. */
HAC_MUST_USE hac_status hac_hash_loader_next(hac_hash_loader *loader, const hac_hash_rows **ret,
                                             bool *ret_too_large, hac_error *err);

#endif
