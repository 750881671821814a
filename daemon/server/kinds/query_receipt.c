/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/query_layout.h"
#include "query_run.h"

static bool selects_rows(const hacd_job *job)
{
    return job->plan != NULL && job->plan->query.engine == HAC_PLAN_ENGINE_ROWS;
}

/* Of partials and their merge, which only aggregation in chunks has. */
static void add_aggregation(const hacd_query *state, const hac_query_info *query, hac_text *text)
{
    const hac_query_totals *totals = &state->totals;
    hac_json_unsigned(text, "groups_in_partials", totals->partial_groups);
    hac_json_unsigned(text, "partitions", query->partitions);
    hac_json_unsigned(text, "passes", query->passes);
    hac_json_unsigned(text, "region_bytes", query->region);
    hac_json_unsigned(text, "region_bytes_needed", totals->needed);
}

void hac_query_run_receipt(const hacd_job *job, hac_text *text)
{
    const struct hacd_query *state = hac_query_of(job);
    const hac_query_totals *totals = &state->totals;
    hac_json_string(text, "input_format", state->spec.format);
    hac_json_string(text, "output_format", state->output);
    hac_json_unsigned(text, "sources", state->spec.n_sources);
    hac_json_unsigned(text, "files_left_out", state->files_left_out);
    hac_json_unsigned(text, "rows_read", totals->rows);
    hac_json_unsigned(text, "rows_kept", totals->kept);
    hac_json_unsigned(text, "rows_skipped", totals->skipped);
    if (!selects_rows(job)) {
        hac_json_unsigned(text, "groups", totals->groups);
        hac_json_unsigned(text, "plans_too_small", state->tries);
    }
    hac_json_unsigned(text, "rows_out", totals->result_rows);
    if (job->plan != NULL && job->plan->query.engine != HAC_PLAN_ENGINE_NONE) {
        const hac_query_info *query = &job->plan->query;
        hac_json_string(text, "engine", hac_plan_engine_name(query->engine));
        hac_json_string(text, "remark", query->remark[0] != '\0' ? query->remark : NULL);
        if (query->engine != HAC_PLAN_ENGINE_WHOLE)
            hac_json_unsigned(text, "chunks", query->chunks);
        if (query->engine == HAC_PLAN_ENGINE_ROWS)
            hac_json_bool(text, "first_rows_only", query->first_rows);
        if (query->engine == HAC_PLAN_ENGINE_HOST || query->engine == HAC_PLAN_ENGINE_DEVICE)
            add_aggregation(state, query, text);
        if (state->parquet)
            hac_parquet_footers_json(totals->reading, text);
        if (query->engine == HAC_PLAN_ENGINE_DEVICE || query->engine == HAC_PLAN_ENGINE_MIXED)
            hac_hash_figures_json(&query->hash, query->hot_keys, text);
    }
}
