/* SPDX-License-Identifier: Apache-2.0 */
/* Which rows each rank has, and what ranks exchange. */
#include "exchange.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "graph.h"
#include "run_base.h"
#include "vectors.h"

#define CUTS_MIN 4 /* parts of a coarser grain for each rank, at least: otherwise the grain is too coarse */

/* ---- parts of the rows ---- */

uint64_t hac_run_rank_grain(const hac_logic_run_state *run, uint64_t rows, uint64_t grain)
{
    static const uint64_t coarse[] = {HAC_OP_KEY_BLOCK, HAC_OP_BLOCK};
    for (size_t i = 0; i < sizeof coarse / sizeof *coarse; i++)
        if (coarse[i] >= grain && rows / coarse[i] >= (uint64_t)CUTS_MIN * run->options->ranks->ranks)
            return coarse[i];
    return grain > HAC_RUN_CUT_ROWS ? grain : HAC_RUN_CUT_ROWS;
}

bool hac_run_is_divided(const hac_logic_run_state *run, uint64_t rows, uint64_t grain)
{
    return !hac_run_is_single_rank(run) && !run->cut.everywhere &&
           rows > hac_run_rank_grain(run, rows, grain);
}

uint64_t hac_run_cut_by(const hac_logic_run_state *run, uint64_t rows)
{
    return hac_run_cuts_ranges(run, rows) ? run->partition->number : 0;
}

/* The part of rank r, split as sub-operators of that grain (hac_run_rank_grain). */
static hac_component_range part_of(const hac_logic_run_state *run, uint64_t rows, uint64_t grain, unsigned r)
{
    unsigned ranks = run->options->ranks->ranks;
    return hac_run_cuts_ranges(run, rows)
               ? hac_component_by_weight(run->partition->sums, 0, rows, ranks, grain, r)
               : hac_component_of_rows(rows, ranks, grain, r);
}

bool hac_run_part(const hac_logic_run_state *run, uint64_t rows, uint64_t grain, uint64_t *ret_first,
                  uint64_t *ret_end)
{
    *ret_first = 0;
    *ret_end = rows;
    if (!hac_run_is_divided(run, rows, grain))
        return false;
    hac_component_range part =
        part_of(run, rows, hac_run_rank_grain(run, rows, grain), run->options->ranks->rank);
    *ret_first = part.first;
    *ret_end = part.first + part.count;
    return true;
}

/* ---- exchange ---- */

hac_status hac_run_share_numbers(const hac_logic_run_state *run, uint64_t *all, hac_error *err)
{
    const hac_ranks *ranks = run->options->ranks;
    hac_autofree uint64_t *offsets = calloc(ranks->ranks + 1, sizeof *offsets);
    if (offsets == NULL)
        return hac_fail_no_memory(err);
    for (unsigned r = 0; r <= ranks->ranks; r++)
        offsets[r] = r * sizeof *all;
    return ranks->share(ranks->context, all, offsets, err);
}

/* Finds where the rows of each rank end. */
static hac_status find_ends(const hac_logic_run_state *run, const hac_run_vector *vector, uint64_t *ends,
                            hac_error *err)
{
    const hac_ranks *ranks = run->options->ranks;
    const hac_run_cut *cut = &vector->cut;
    bool equal = cut->grain > 0 && cut->by == 0;
    for (unsigned r = 0; equal && r < ranks->ranks; r++) {
        hac_component_range part = hac_component_of_rows(cut->rows, ranks->ranks, cut->grain, r);
        ends[r] = part.first + part.count == cut->rows ? vector->operand.rows
                                                       : (part.first + part.count) / cut->scale * cut->each;
    }
    if (equal)
        return HAC_OK;
    ends[ranks->rank] = vector->end;
    return hac_run_share_numbers(run, ends, err);
}

hac_status hac_run_gather(hac_logic_run_state *run, hac_run_vector *vector, hac_error *err)
{
    const hac_ranks *ranks = run->options->ranks;
    if (hac_run_is_whole(vector))
        return HAC_OK;
    hac_status status = hac_run_flush(run, err);
    if (status != HAC_OK)
        return status;
    hac_autofree uint64_t *offsets = calloc(ranks->ranks + 1, sizeof *offsets);
    hac_autofree uint64_t *ends = calloc(ranks->ranks, sizeof *ends);
    if (offsets == NULL || ends == NULL)
        return hac_fail_no_memory(err);
    status = find_ends(run, vector, ends, err);
    if (status != HAC_OK)
        return status;
    for (unsigned r = 0; r < ranks->ranks; r++)
        offsets[r + 1] = ends[r] * hac_run_row_bytes(&vector->operand);
    offsets[0] = 0;
    status = ranks->share(ranks->context, hac_run_data(vector) + vector->operand.values, offsets, err);
    run->report->bytes_shared += offsets[ranks->ranks];
    vector->divided = false;
    vector->first = 0;
    vector->end = vector->operand.rows;
    return status;
}

static uint64_t part_begin(const hac_logic_run_state *run, uint64_t rows, uint64_t grain, unsigned r)
{
    return r == run->options->ranks->ranks ? rows : part_of(run, rows, grain, r).first;
}

static uint64_t within(uint64_t row, uint64_t first, uint64_t end)
{
    return row < first ? first : row < end ? row : end;
}

/* Rank r has rows [has[r], has[r + 1]). Gives each rank its part, split at multiples of `grain`. */
static hac_status move_rows(hac_logic_run_state *run, hac_run_vector *vector, const uint64_t *has,
                            uint64_t grain, hac_error *err)
{
    const hac_ranks *ranks = run->options->ranks;
    unsigned n = ranks->ranks, own = ranks->rank;
    uint64_t rows = vector->operand.rows, bytes = hac_run_row_bytes(&vector->operand);
    uint64_t first = part_begin(run, rows, grain, own), end = part_begin(run, rows, grain, own + 1);
    uint8_t *data = hac_run_data(vector) + vector->operand.values;
    hac_autofree uint64_t *to = calloc(n + 1, sizeof *to);
    hac_autofree uint64_t *from = calloc(n + 1, sizeof *from);
    if (to == NULL || from == NULL)
        return hac_fail_no_memory(err);
    for (unsigned r = 0; r <= n; r++) {
        to[r] = (within(part_begin(run, rows, grain, r), has[own], has[own + 1]) - has[own]) * bytes;
        from[r] = (within(has[r], first, end) - first) * bytes;
    }
    vector->divided = true;
    vector->first = first;
    vector->end = end;
    vector->cut = (hac_run_cut){grain, rows, 1, 1, hac_run_cut_by(run, rows)};
    run->report->bytes_shared += from[n] - (from[own + 1] - from[own]);
    return ranks->exchange(ranks->context, data + has[own] * bytes, to, data + first * bytes, from, err);
}

hac_status hac_run_spread(hac_logic_run_state *run, hac_run_vector *vector, const uint64_t *firsts,
                          hac_error *err)
{
    const hac_ranks *ranks = run->options->ranks;
    uint64_t rows = vector->operand.rows, bytes = hac_run_row_bytes(&vector->operand);
    if (hac_run_is_divided(run, rows, 1))
        return move_rows(run, vector, firsts, hac_run_rank_grain(run, rows, 1), err);
    hac_autofree uint64_t *offsets = calloc(ranks->ranks + 1, sizeof *offsets);
    if (offsets == NULL)
        return hac_fail_no_memory(err);
    for (unsigned r = 0; r <= ranks->ranks; r++)
        offsets[r] = firsts[r] * bytes;
    run->report->bytes_shared += rows * bytes;
    return ranks->share(ranks->context, hac_run_data(vector) + vector->operand.values, offsets, err);
}

hac_status hac_run_recut(hac_logic_run_state *run, hac_run_vector *vector, uint64_t grain, hac_error *err)
{
    unsigned n = run->options->ranks->ranks;
    hac_autofree uint64_t *has = calloc(n + 1, sizeof *has);
    hac_status status = hac_run_flush(run, err);
    if (has == NULL)
        return hac_fail_no_memory(err);
    if (status == HAC_OK)
        status = find_ends(run, vector, has + 1, err);
    return status == HAC_OK ? move_rows(run, vector, has, grain, err) : status;
}

hac_status hac_run_collect(hac_logic_run_state *run, hac_run_vector *vector, hac_error *err)
{
    const hac_ranks *ranks = run->options->ranks;
    if (hac_run_is_whole(vector))
        return HAC_OK;
    unsigned n = ranks->ranks, own = ranks->rank;
    uint64_t bytes = hac_run_row_bytes(&vector->operand);
    uint8_t *data = hac_run_data(vector) + vector->operand.values;
    hac_autofree uint64_t *has = calloc(n + 1, sizeof *has);
    hac_autofree uint64_t *to = calloc(n + 1, sizeof *to);
    hac_autofree uint64_t *from = calloc(n + 1, sizeof *from);
    hac_status status = hac_run_flush(run, err);
    if (has == NULL || to == NULL || from == NULL)
        return hac_fail_no_memory(err);
    if (status == HAC_OK)
        status = find_ends(run, vector, has + 1, err);
    if (status != HAC_OK)
        return status;
    for (unsigned r = 1; r <= n; r++) {
        to[r] = (has[own + 1] - has[own]) * bytes;
        from[r] = own == 0 ? has[r] * bytes : 0;
    }
    run->report->bytes_shared += own == 0 ? from[n] - from[1] : to[1];
    return ranks->exchange(ranks->context, data + has[own] * bytes, to, data, from, err);
}

bool hac_run_cuts_ranges(const hac_logic_run_state *run, uint64_t rows)
{
    return run->partition != NULL && run->partition->sums != NULL && run->partition->rows == rows;
}
