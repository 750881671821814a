/* SPDX-License-Identifier: Apache-2.0 */
/* For fuzz targets of binary records: the chunks of a split begin where records do, as found by a first
 * reading of the source. */
#ifndef QUERY_FUZZ_BINARY_H
#define QUERY_FUZZ_BINARY_H

#include "fuzz_rows.h"
#include "sources/source_parts.h"

/* Reads the split as a whole, then in chunks that begin at each `step`-th kept record. */
static inline void fuzz_split(const fuzz_query *q, const hac_source_place *place, uint64_t step)
{
    uint64_t cuts[64];
    size_t n = 0;
    hac_source *source = NULL;
    hac_batch batch;
    fuzz_rows whole = fuzz_read(q, place, NULL, 0), cut = {.digest = UINT64_C(0xcbf29ce484222325)};
    if (whole.status != HAC_OK || whole.skipped != 0)
        return;
    if (hac_source_open(&q->query, place, NULL, &source, NULL) != HAC_OK ||
        hac_source_begin(source, 0, place->bytes, false, NULL) != HAC_OK)
        abort();
    uint64_t row = 0;
    while (hac_source_next(source, &batch, NULL) == HAC_OK)
        for (size_t r = 0; r < batch.rows; r++, row++)
            if (row % step == 0 && n < sizeof cuts / sizeof *cuts)
                cuts[n++] = source->starts[r];
    for (size_t i = 0; i < n && cut.status == HAC_OK; i++)
        cut.status = fuzz_chunk(source, NULL, cuts[i], i + 1 < n ? cuts[i + 1] : place->bytes, &cut, NULL);
    fuzz_compare(&whole, &cut);
    hac_source_free(source);
}

#endif
