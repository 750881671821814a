/* SPDX-License-Identifier: Apache-2.0 */
#include "parquet/prune.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "bloom.h"
#include "page_index.h"

typedef struct pruner {
    const hac_parquet_file *file;
    size_t group;
    const hac_conjuncts *conjuncts;
    const size_t *leaves;
} pruner;

/* The leaf of a bound; SIZE_MAX: there is none, or its chunk cannot be judged. */
static size_t leaf_of(const pruner *p, const hac_bound *bound)
{
    size_t leaf = p->leaves[bound->column];
    bool good = leaf < p->file->n_leaves && p->file->leaves[leaf].type.kind != HAC_KIND_NONE &&
                p->file->groups[p->group].chunks[leaf].why == NULL;
    return good ? leaf : SIZE_MAX;
}

/* Whether this bound may skip nulls: only if no other conjunct can be an error for the row. */
static bool nulls_too(const pruner *p, const hac_bound *bound)
{
    for (size_t i = 0; i < p->conjuncts->n; i++)
        if (i != bound->conjunct && p->conjuncts->conjuncts[i].fails)
            return false;
    return true;
}

static bool excluded_by_statistics(const pruner *p, const hac_bound *bound)
{
    size_t leaf = leaf_of(p, bound);
    if (leaf == SIZE_MAX)
        return false;
    const hac_parquet_statistics *s = &p->file->groups[p->group].chunks[leaf].statistics;
    const hac_parquet_counts counts = {p->file->groups[p->group].rows, s->nulls, s->nans};
    hac_parquet_interval interval;
    hac_parquet_interval_of(&p->file->leaves[leaf], s->min, s->max, &interval);
    return hac_parquet_excludes(&interval, &counts, bound, nulls_too(p, bound));
}

static hac_status excluded_by_bloom(const pruner *p, const hac_bound *bound, bool *ret, hac_error *err)
{
    size_t leaf = leaf_of(p, bound);
    *ret = false;
    if (leaf == SIZE_MAX)
        return HAC_OK;
    const hac_parquet_chunk *chunk = &p->file->groups[p->group].chunks[leaf];
    if (chunk->statistics.nulls != 0 && !nulls_too(p, bound))
        return HAC_OK;
    hac_status status = hac_parquet_bloom_excludes(p->file, &p->file->leaves[leaf], chunk, bound, ret, err);
    return status == HAC_FAILED ? HAC_OK : status; /* the file ends before it does */
}

/* ---- pages ------------------------------------------------------------------------------------------------
 */

static bool excluded_page(const pruner *p, size_t leaf, const hac_parquet_interval *interval,
                          const hac_parquet_counts *counts)
{
    for (size_t i = 0; i < p->conjuncts->n_bounds; i++) {
        const hac_bound *bound = &p->conjuncts->bounds[i];
        if (leaf_of(p, bound) == leaf && hac_parquet_excludes(interval, counts, bound, nulls_too(p, bound)))
            return true;
    }
    return false;
}

/* Adds rows; ranges that touch become one. There is room. */
static void add_range(hac_parquet_ranges *ret, uint64_t first, uint64_t end)
{
    hac_parquet_range *last = ret->n > 0 ? &ret->ranges[ret->n - 1] : NULL;
    if (first == end)
        return;
    if (last != NULL && last->first + last->rows == first)
        last->rows = end - last->first;
    else
        ret->ranges[ret->n++] = (hac_parquet_range){first, end - first};
}

/* Finds the rows of a leaf's pages that are not skipped; HAC_NOT_FOUND: no index has a conclusion. */
static hac_status keep_pages(const pruner *p, size_t leaf, hac_parquet_ranges *ret, hac_error *err)
{
    hac_autofree hac_parquet_page_place *places = NULL;
    size_t n = 0;
    hac_status status = hac_parquet_page_places(p->file, p->group, leaf, &places, &n, err);
    if (status != HAC_OK)
        return status;
    hac_cleanup(hac_parquet_column_index_clear) hac_parquet_column_index index = {.data = NULL};
    status = hac_parquet_column_index_read(p->file, p->group, leaf, n, &index, err);
    if (status != HAC_OK)
        return status;
    ret->ranges = calloc(n, sizeof *ret->ranges);
    if (ret->ranges == NULL)
        return hac_fail_no_memory(err);
    for (size_t i = 0; i < n; i++) {
        uint64_t end = i + 1 < n ? places[i + 1].first_row : p->file->groups[p->group].rows;
        hac_parquet_interval interval;
        hac_parquet_counts counts;
        bool good = hac_parquet_column_index_next(&index, &p->file->leaves[leaf], end - places[i].first_row,
                                                  &interval, &counts);
        if (!good)
            return hac_fail(err, HAC_NOT_FOUND, "the column index is damaged");
        if (!excluded_page(p, leaf, &interval, &counts))
            add_range(ret, places[i].first_row, end);
    }
    return HAC_OK;
}

/* *ranges becomes what is in both. */
static hac_status intersect(hac_parquet_ranges *ranges, const hac_parquet_ranges *other, hac_error *err)
{
    hac_parquet_ranges both = {calloc(ranges->n + other->n + 1, sizeof *both.ranges), 0};
    if (both.ranges == NULL)
        return hac_fail_no_memory(err);
    for (size_t i = 0, j = 0; i < ranges->n && j < other->n;) {
        const hac_parquet_range *a = &ranges->ranges[i], *b = &other->ranges[j];
        uint64_t first = a->first > b->first ? a->first : b->first;
        uint64_t a_end = a->first + a->rows, b_end = b->first + b->rows;
        uint64_t end = a_end < b_end ? a_end : b_end;
        if (first < end)
            add_range(&both, first, end);
        if (a_end <= b_end)
            i++;
        else
            j++;
    }
    hac_parquet_ranges_clear(ranges);
    *ranges = both;
    return HAC_OK;
}

/* Whether a bound before this one is on the same leaf. */
static bool seen_before(const pruner *p, size_t bound, size_t leaf)
{
    for (size_t i = 0; i < bound; i++)
        if (leaf_of(p, &p->conjuncts->bounds[i]) == leaf)
            return true;
    return false;
}

static hac_status prune_pages(const pruner *p, hac_parquet_ranges *ranges, hac_error *err)
{
    for (size_t i = 0; i < p->conjuncts->n_bounds && ranges->n > 0; i++) {
        size_t leaf = leaf_of(p, &p->conjuncts->bounds[i]);
        if (leaf == SIZE_MAX || seen_before(p, i, leaf) ||
            p->file->groups[p->group].chunks[leaf].column_index == 0)
            continue;
        hac_cleanup(hac_parquet_ranges_clear) hac_parquet_ranges kept = {NULL, 0};
        hac_error why = HAC_ERROR_NONE;
        hac_status status = keep_pages(p, leaf, &kept, &why);
        if (status == HAC_OK)
            status = intersect(ranges, &kept, &why);
        if (status != HAC_OK && status != HAC_NOT_FOUND)
            return hac_fail(err, status, "%s", why.message);
    }
    return HAC_OK;
}

/* ---- row groups -------------------------------------------------------------------------------------------
 */

/* Whether the row group is skipped completely; counts it in *pruned. */
static hac_status prune_group(const pruner *p, bool *ret, hac_parquet_pruned *pruned, hac_error *err)
{
    const hac_conjuncts *c = p->conjuncts;
    *ret = false;
    for (size_t i = 0; i < c->n_bounds && !*ret; i++)
        *ret = excluded_by_statistics(p, &c->bounds[i]);
    pruned->groups_by_statistics += *ret;
    if (*ret)
        return HAC_OK;
    for (size_t i = 0; i < c->n_bounds && !*ret; i++) {
        hac_status status = excluded_by_bloom(p, &c->bounds[i], ret, err);
        if (status != HAC_OK)
            return status;
    }
    pruned->groups_by_bloom += *ret;
    return HAC_OK;
}

hac_status hac_parquet_prune(const hac_parquet_file *file, size_t group, const hac_conjuncts *conjuncts,
                             const size_t *leaves, hac_parquet_ranges *ret, hac_parquet_pruned *pruned,
                             hac_error *err)
{
    const pruner p = {file, group, conjuncts, leaves};
    uint64_t rows = file->groups[group].rows, kept = 0;
    bool out = false;
    hac_cleanup(hac_parquet_ranges_clear) hac_parquet_ranges ranges = {calloc(1, sizeof *ranges.ranges), 0};
    if (ranges.ranges == NULL)
        return hac_fail_no_memory(err);
    add_range(&ranges, 0, rows);
    hac_status status = rows > 0 ? prune_group(&p, &out, pruned, err) : HAC_OK;
    if (out)
        ranges.n = 0;
    else if (status == HAC_OK)
        status = prune_pages(&p, &ranges, err);
    if (status != HAC_OK)
        return status;
    for (size_t i = 0; i < ranges.n; i++)
        kept += ranges.ranges[i].rows;
    pruned->groups_by_pages += !out && kept == 0 && rows > 0;
    pruned->rows += rows - kept;
    *ret = ranges;
    ranges.ranges = NULL;
    return HAC_OK;
}

void hac_parquet_ranges_clear(hac_parquet_ranges *ranges)
{
    free(ranges->ranges);
    *ranges = (hac_parquet_ranges){NULL, 0};
}
