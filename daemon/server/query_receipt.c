/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/query_layout.h"
#include "query_run.h"

void hac_query_run_receipt(const hac_job *job, hac_text *text)
{
    const struct hac_query_run *state = job->query;
    const hac_query_totals *totals = &state->totals;
    hac_json_string(text, "input_format", state->spec.format);
    hac_json_string(text, "output_format", state->output);
    hac_json_unsigned(text, "sources", state->spec.n_sources);
    hac_json_unsigned(text, "rows_read", totals->rows);
    hac_json_unsigned(text, "rows_kept", totals->kept);
    hac_json_unsigned(text, "rows_skipped", totals->skipped);
    hac_json_unsigned(text, "groups", totals->groups);
    hac_json_unsigned(text, "groups_in_partials", totals->partial_groups);
    hac_json_unsigned(text, "rows_out", totals->result_rows);
    hac_json_unsigned(text, "plans_too_small", state->tries);
    if (job->plan != NULL && job->plan->query.way[0] != '\0') {
        const hac_query_info *query = &job->plan->query;
        hac_json_string(text, "way", query->way);
        hac_json_string(text, "remark", query->remark[0] != '\0' ? query->remark : NULL);
        hac_json_unsigned(text, "chunks", query->chunks);
        hac_json_unsigned(text, "partitions", query->partitions);
        hac_json_unsigned(text, "passes", query->passes);
        hac_json_unsigned(text, "region_bytes", query->region);
        hac_json_unsigned(text, "region_bytes_needed", totals->needed);
        if (state->parquet)
            hac_parquet_reading_json(totals->reading, text);
        if (strcmp(query->way, "device") == 0)
            hac_flow_c_json(&query->flow_c, query->hot_keys, text);
    }
}
