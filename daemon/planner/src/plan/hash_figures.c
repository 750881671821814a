/* SPDX-License-Identifier: Apache-2.0 */
#include "planner/hash_figures.h"

#include <math.h>

#define PER_RATE 1e-6 /* rates of work-groups are reported per million */

static double rate(uint64_t part, uint64_t all)
{
    return all != 0 ? (double)part / (double)all : NAN;
}

static hac_hash_groups *shape_of(hac_hash_figures *f, uint64_t n)
{
    for (size_t i = 0; i < f->n_groups; i++)
        if (f->groups[i].n == n)
            return &f->groups[i];
    if (f->n_groups == HAC_HASH_SHAPES)
        return NULL;
    f->groups[f->n_groups] = (hac_hash_groups){.n = n, .min = 1};
    return &f->groups[f->n_groups++];
}

void hac_hash_figures_add(hac_hash_figures *f, const uint64_t *values, size_t n)
{
    if (n < HAC_AGGREGATE_N_VALUES)
        return;
    uint64_t hot_set = values[HAC_AGGREGATE_VALUE_HOT_KEYS], groups = values[HAC_AGGREGATE_VALUE_WORK_GROUPS];
    f->sampled += values[HAC_AGGREGATE_VALUE_SAMPLED];
    f->covered += values[HAC_AGGREGATE_VALUE_COVERED];
    f->hot_set = hot_set > f->hot_set ? hot_set : f->hot_set;
    f->chosen += values[HAC_AGGREGATE_VALUE_CHOSEN];
    f->behind += values[HAC_AGGREGATE_VALUE_BEHIND];
    f->hits += values[HAC_AGGREGATE_VALUE_HOT_HITS];
    f->local_hits += values[HAC_AGGREGATE_VALUE_LOCAL_HITS];
    f->pairs_local += values[HAC_AGGREGATE_VALUE_PAIRS_LOCAL];
    f->pairs_global += values[HAC_AGGREGATE_VALUE_PAIRS_GLOBAL];
    f->grown += values[HAC_AGGREGATE_VALUE_GROWN];
    f->key_ranges += values[HAC_AGGREGATE_VALUE_KEY_RANGES];
    hac_hash_groups *shape = groups != 0 ? shape_of(f, groups) : NULL;
    if (shape == NULL)
        return;
    shape->min = fmin(shape->min, (double)values[HAC_AGGREGATE_VALUE_HIT_RATE_MIN] * PER_RATE);
    shape->max = fmax(shape->max, (double)values[HAC_AGGREGATE_VALUE_HIT_RATE_MAX] * PER_RATE);
    for (size_t i = 0; i < HAC_HOT_BARS; i++) {
        shape->rows[i] += values[HAC_AGGREGATE_VALUE_BARS + i];
        shape->hits[i] += values[HAC_AGGREGATE_VALUE_BARS + HAC_HOT_BARS + i];
    }
}

/* ---- bars ---- */

static size_t n_bars(const hac_hash_groups *g)
{
    return g->n < HAC_HOT_BARS ? (size_t)g->n : HAC_HOT_BARS;
}

/* The first work-group of a bar: that g for which hac_hot_bar gets to `bar`. An executor says how many there
 * are: any number. */
static uint64_t first_of(const hac_hash_groups *g, size_t bar)
{
    uint64_t whole = g->n / HAC_HOT_BARS, rest = g->n % HAC_HOT_BARS;
    return g->n <= HAC_HOT_BARS ? bar : bar * whole + (bar * rest + HAC_HOT_BARS - 1) / HAC_HOT_BARS;
}

/* ---- JSON ---- */

static void groups_json(const hac_hash_groups *g, hac_text *out)
{
    hac_json_open(out, NULL, '{');
    hac_json_unsigned(out, "work_groups", g->n);
    hac_json_number(out, "min", g->min);
    hac_json_number(out, "max", g->max);
    hac_json_open(out, "bars", '[');
    for (size_t i = 0; i < n_bars(g); i++) {
        hac_json_open(out, NULL, '{');
        hac_json_unsigned(out, "first", first_of(g, i));
        hac_json_unsigned(out, "last", first_of(g, i + 1) - 1);
        hac_json_unsigned(out, "rows", g->rows[i]);
        hac_json_unsigned(out, "hits", g->hits[i]);
        hac_json_number(out, "hit_rate", rate(g->hits[i], g->rows[i]));
        hac_json_close(out, '}');
    }
    hac_json_close(out, ']');
    hac_json_close(out, '}');
}

void hac_hash_figures_json(const hac_hash_figures *f, bool on, hac_text *out)
{
    hac_json_open(out, "hot_keys", '{');
    hac_json_bool(out, "on", on);
    hac_json_unsigned(out, "sampled_rows", f->sampled);
    hac_json_number(out, "sample_coverage", rate(f->sampled, f->sampled + f->behind));
    hac_json_number(out, "sample_hit_rate", rate(f->covered, f->sampled));
    hac_json_unsigned(out, "hot_set", f->hot_set);
    hac_json_unsigned(out, "chosen", f->chosen);
    hac_json_unsigned(out, "rows_behind_sample", f->behind);
    hac_json_unsigned(out, "hits", f->hits);
    hac_json_number(out, "hit_rate", rate(f->hits, f->behind));
    hac_json_unsigned(out, "local_hits", f->local_hits);
    hac_json_number(out, "local_hit_rate", rate(f->local_hits, f->behind));
    hac_json_unsigned(out, "pairs_local", f->pairs_local);
    hac_json_unsigned(out, "pairs_global", f->pairs_global);
    hac_json_unsigned(out, "tables_grown", f->grown);
    hac_json_unsigned(out, "key_ranges_more", f->key_ranges);
    hac_json_open(out, "work_groups", '[');
    for (size_t i = 0; i < f->n_groups; i++)
        groups_json(&f->groups[i], out);
    hac_json_close(out, ']');
    hac_json_close(out, '}');
    hac_json_open(out, "merge", '{');
    hac_json_unsigned(out, "partials", f->partials);
    hac_json_unsigned(out, "pairs", f->pairs_merged);
    hac_json_unsigned(out, "groups", f->groups_merged);
    hac_json_close(out, '}');
}
