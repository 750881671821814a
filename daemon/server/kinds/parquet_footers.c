/* SPDX-License-Identifier: Apache-2.0 */
#include "parquet_footers.h"

#include <string.h>

/* An executor may report nonsense. That costs its own job memory and time, no more than a large file does. */
#define VALUE_MAX (UINT64_C(1) << 48)

static uint64_t value(const Hac__Executor__Done *done, size_t index)
{
    return index < done->n_values ? done->values[index] : 0;
}

static uint64_t bounded(uint64_t value)
{
    return value < VALUE_MAX ? value : VALUE_MAX;
}

void hac_parquet_footers_take_values(hac_parquet_footers *reading, size_t source, const uint64_t *values)
{
    for (size_t i = 0; i < HAC_FOOTER_N_VALUES; i++)
        reading->values[source][i] = i == HAC_FOOTER_STAMP ? values[i] : bounded(values[i]);
    reading->counted[source] = true;
}

void hac_parquet_footers_take(hac_parquet_footers *reading, size_t source, const Hac__Executor__Done *done)
{
    uint64_t values[HAC_FOOTER_N_VALUES];
    for (size_t i = 0; i < HAC_FOOTER_N_VALUES; i++)
        values[i] = value(done, i);
    hac_parquet_footers_take_values(reading, source, values);
}

void hac_parquet_footers_write(const hac_parquet_footers *reading, size_t n, uint64_t *ret)
{
    memcpy(ret, reading->values, n * sizeof reading->values[0]);
}

bool hac_parquet_footers_apply(const hac_parquet_footers *reading, hac_query_spec *spec)
{
    for (size_t i = 0; i < spec->n_sources; i++)
        if (!reading->counted[i])
            return false;
    spec->in_rows = true;
    spec->bytes = spec->answered = spec->group_rows = 0;
    for (size_t i = 0; i < spec->n_sources; i++) {
        const uint64_t *values = reading->values[i];
        uint64_t group = values[HAC_FOOTER_GROUP_ROWS];
        spec->sources[i] = values[HAC_FOOTER_ROWS];
        spec->stamps[i] = values[HAC_FOOTER_STAMP];
        spec->bytes += values[HAC_FOOTER_DECODED];
        spec->answered += values[HAC_FOOTER_ANSWERED];
        spec->group_rows = group > spec->group_rows ? group : spec->group_rows;
    }
    return true;
}

void hac_parquet_footers_add(uint64_t totals[HAC_READ_N_VALUES], const Hac__Executor__Done *done,
                             size_t first)
{
    for (size_t i = 0; i < HAC_READ_N_VALUES; i++)
        totals[i] += value(done, first + i);
}

void hac_parquet_footers_json(const uint64_t totals[HAC_READ_N_VALUES], hac_text *text)
{
    static const char *const names[HAC_READ_N_VALUES] = {
        [HAC_READ_PASSED_OVER] = "rows_passed_over",
        [HAC_READ_GROUPS_BY_STATISTICS] = "row_groups_skipped_by_statistics",
        [HAC_READ_GROUPS_BY_BLOOM] = "row_groups_skipped_by_bloom_filter",
        [HAC_READ_GROUPS_BY_PAGES] = "row_groups_skipped_by_page_index",
        [HAC_READ_GROUPS_ANSWERED] = "row_groups_answered_by_statistics",
        [HAC_READ_ROWS_PRUNED] = "rows_skipped",
        [HAC_READ_BYTES_PRUNED] = "bytes_skipped",
        [HAC_READ_PAGES] = "pages_read",
        [HAC_READ_PAGES_SKIPPED] = "pages_skipped",
        [HAC_READ_BYTES] = "bytes_read",
        [HAC_READ_BYTES_DECOMPRESSED] = "bytes_decompressed",
        [HAC_READ_BYTES_DECODED] = "bytes_decoded",
        [HAC_READ_NS] = "read_seconds",
        [HAC_READ_DECOMPRESS_NS] = "decompress_seconds",
        [HAC_READ_DECODE_NS] = "decode_seconds",
    };
    hac_json_open(text, "parquet", '{');
    for (size_t i = 0; i < HAC_READ_NS; i++)
        hac_json_unsigned(text, names[i], totals[i]);
    for (size_t i = HAC_READ_NS; i < HAC_READ_N_VALUES; i++)
        hac_json_number(text, names[i], (double)totals[i] * 1e-9);
    hac_json_close(text, '}');
}
