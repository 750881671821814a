/* SPDX-License-Identifier: Apache-2.0 */
/* hac_parquet_answers: results of a row group that its statistics hold. */
#include "format/interval.h"
#include "parquet/prune.h"

bool hac_parquet_answers(const hac_parquet_file *file, size_t group, size_t leaf, unsigned asked,
                         hac_parquet_answer *ret)
{
    const hac_parquet_chunk *chunk = &file->groups[group].chunks[leaf];
    const hac_parquet_statistics *s = &chunk->statistics;
    const hac_parquet_leaf *l = &file->leaves[leaf];
    hac_parquet_answer answer = {.nulls = s->nulls, .any = s->nulls < chunk->values};
    hac_parquet_interval interval;
    *ret = answer;
    if (chunk->why != NULL || l->type.kind == HAC_KIND_NONE || s->nulls > chunk->values)
        return false;
    if (!answer.any && (s->min.data != NULL || s->max.data != NULL))
        return false; /* where there are bounds there are values: the number of nulls is wrong */
    if (!answer.any || asked == 0)
        return true;
    bool min = (asked & HAC_PARQUET_ASK_MIN) != 0, max = (asked & HAC_PARQUET_ASK_MAX) != 0;
    if ((min && !s->min_exact) || (max && !s->max_exact) ||
        (hac_kind_is_float(l->type.kind) && s->nans != 0) ||
        !hac_parquet_interval_of(l, s->min, s->max, &interval))
        return false;
    if (min && !hac_parquet_scalar_constant(interval.repr, &interval.min, &answer.min, &answer.min_bytes))
        return false;
    if (max && !hac_parquet_scalar_constant(interval.repr, &interval.max, &answer.max, &answer.max_bytes))
        return false;
    *ret = answer;
    return true;
}
