/* SPDX-License-Identifier: Apache-2.0 */
/* hac_parquet_rank: how far the first rows of an order reach, by the statistics of row groups. */
#include <stdlib.h>

#include "base/cleanup.h"
#include "format/interval.h"
#include "parquet/prune.h"

/* `rows` values of a row group are not behind `bound`. */
typedef struct reached {
    hac_parquet_scalar bound;
    uint64_t rows;
    uint8_t repr;
    bool descending;
} reached;

/* False: nothing is known of the row group. */
static bool reach(const hac_parquet_file *file, size_t group, size_t leaf, bool descending, reached *ret)
{
    const hac_parquet_chunk *chunk = &file->groups[group].chunks[leaf];
    const hac_parquet_statistics *s = &chunk->statistics;
    hac_parquet_interval interval;
    if (chunk->why != NULL || s->nulls > chunk->values ||
        !hac_parquet_interval_of(&file->leaves[leaf], s->min, s->max, &interval) ||
        !(descending ? interval.has_min : interval.has_max))
        return false;
    bool is_float = interval.repr == HAC_REPR_F32 || interval.repr == HAC_REPR_F64;
    uint64_t values = chunk->values - s->nulls, nans = is_float && !descending ? s->nans : 0;
    if (nans > values) /* NaNs are behind all numbers, and nobody knows how many there are */
        return false;
    *ret = (reached){.bound = descending ? interval.min : interval.max,
                     .rows = values - nans,
                     .repr = interval.repr,
                     .descending = descending};
    return true;
}

static int compare_reached(const void *left, const void *right)
{
    const reached *a = left, *b = right;
    int order = hac_parquet_scalar_compare(a->repr, &a->bound, &b->bound);
    return a->descending ? -order : order;
}

bool hac_parquet_rank(const hac_parquet_file *file, size_t leaf, size_t first, size_t end, uint64_t rows,
                      bool descending, hac_constant *ret, const uint8_t **ret_bytes)
{
    if (first >= end || rows == 0 || file->leaves[leaf].type.kind == HAC_KIND_NONE)
        return false;
    hac_autofree reached *groups = calloc(end - first, sizeof *groups);
    size_t n = 0;
    if (groups == NULL)
        return false;
    for (size_t g = first; g < end; g++)
        n += reach(file, g, leaf, descending, &groups[n]);
    qsort(groups, n, sizeof *groups, compare_reached);
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        sum += groups[i].rows;
        if (sum >= rows)
            return hac_parquet_scalar_constant(groups[i].repr, &groups[i].bound, ret, ret_bytes);
    }
    return false;
}
