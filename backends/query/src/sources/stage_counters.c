/* SPDX-License-Identifier: Apache-2.0 */
#include "query/stage_counters.h"

void hac_stage_add(hac_stage *stage, uint64_t from, uint64_t to, uint64_t other)
{
    uint64_t whole = to > from ? to - from : 0;
    stage->busy += whole > other ? whole - other : 0;
    if (stage->first == 0 || from < stage->first)
        stage->first = from;
    if (to > stage->last)
        stage->last = to;
}

void hac_stage_merge(hac_stage *stage, const hac_stage *from)
{
    if (from->first == 0)
        return;
    stage->busy += from->busy;
    if (stage->first == 0 || from->first < stage->first)
        stage->first = from->first;
    if (from->last > stage->last)
        stage->last = from->last;
}

static void raise(uint64_t *value, uint64_t to)
{
    *value = to > *value ? to : *value;
}

void hac_splice_count_set(hac_splice_counters *counters, uint64_t records, uint64_t bytes)
{
    counters->values[HAC_SPLICE_SETS]++;
    counters->values[HAC_SPLICE_SET_RECORDS] += records;
    counters->values[HAC_SPLICE_SET_BYTES] += bytes;
    raise(&counters->values[HAC_SPLICE_SET_LARGEST], bytes);
}

void hac_splice_count_block(hac_splice_counters *counters, uint64_t bytes)
{
    counters->values[HAC_SPLICE_BLOCKS]++;
    counters->values[HAC_SPLICE_BLOCK_BYTES] += bytes;
    raise(&counters->values[HAC_SPLICE_BLOCK_LARGEST], bytes);
}

void hac_splice_count_result(hac_splice_counters *counters, uint64_t bytes)
{
    counters->values[HAC_SPLICE_RESULT_BYTES] += bytes;
    raise(&counters->values[HAC_SPLICE_RESULT_LARGEST], bytes);
}

static void add_counts(hac_splice_counters *counters, const uint64_t *values)
{
    for (unsigned i = 0; i < HAC_SPLICE_STAGES; i++)
        if (hac_splice_value_is_max(i))
            raise(&counters->values[i], values[i]);
        else
            counters->values[i] += values[i];
}

void hac_splice_merge(hac_splice_counters *counters, const hac_splice_counters *from)
{
    add_counts(counters, from->values);
    for (unsigned i = 0; i < HAC_SPLICE_N_STAGES; i++)
        hac_stage_merge(&counters->stages[i], &from->stages[i]);
}

void hac_splice_put_values(const hac_splice_counters *counters, uint64_t start, uint64_t *ret)
{
    for (unsigned i = 0; i < HAC_SPLICE_STAGES; i++)
        ret[i] = counters->values[i];
    for (unsigned i = 0; i < HAC_SPLICE_N_STAGES; i++) {
        const hac_stage *stage = &counters->stages[i];
        uint64_t *to = ret + HAC_SPLICE_STAGES + i * HAC_SPLICE_STAGE_VALUES;
        to[0] = stage->busy;
        to[1] = stage->first > start ? stage->first - start : 0;
        to[2] = stage->last > start ? stage->last - start : 0;
    }
}

void hac_splice_add_values(hac_splice_counters *counters, uint64_t start, const uint64_t *values,
                           bool stages_only)
{
    if (!stages_only)
        add_counts(counters, values);
    for (unsigned i = 0; i < HAC_SPLICE_N_STAGES; i++) {
        const uint64_t *from = values + HAC_SPLICE_STAGES + i * HAC_SPLICE_STAGE_VALUES;
        if (from[2] != 0)
            hac_stage_merge(&counters->stages[i], &(hac_stage){from[0], start + from[1], start + from[2]});
    }
}
