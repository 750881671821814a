/* SPDX-License-Identifier: Apache-2.0 */
#include "query_building.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/format.h"
#include "base/query_layout.h"

#define KIB (UINT64_C(1) << 10)
#define MIB (UINT64_C(1) << 20)

#define CHUNKS_WANTED   64
#define CHUNK_MIN       MIB
#define CHUNK_MAX       (64 * MIB)
#define CHUNK_ROWS_MIN  (64 * KIB)
#define CHUNK_ROWS_GOOD (256 * KIB) /* before a chunk's rows go by partition a few thousand make a table */
#define CHUNK_ROWS_MAX  (16 * MIB)  /* a task is short, whatever a file says how many rows it has */
#define TABLE_CHUNKS    16          /* are enough, if that makes them so long */
#define BATCH_ROWS      1024        /* chunks of tables begin at batches, and so at whole bytes of bitmaps */
#define REGION_MIN      (64 * KIB)
#define REGION_SLACK    (4 * KIB) /* a partial's head, and its table of partitions */
#define GROUPS_EARLY    57344     /* of a partial (hac_partial_stops) */
#define GROUP_OVERHEAD  16        /* bytes a group beyond its keys and accumulators */
#define RUN_ENTRY       24        /* bytes of a row in a run */
#define PARTITION_BYTES (128 * KIB)
#define PARTITIONS_MIN  16
#define PARTITIONS_MAX  1024
#define PARTIALS_PART   0.6  /* of the memory, for partials … */
#define GROUPS_PART     0.25 /* … and for groups, when there are several passes; the result needs the rest */
#define PASSES_GOOD     8    /* more of them save little memory: each pass has partitions of its own */
#define RESULT_MAX      (4 * MIB) /* of a small query, before it is known */
#define REST_MIN        (2 * MIB) /* partials and a result beside splits, however small */

static uint64_t align(uint64_t bytes, uint64_t to)
{
    return (bytes + to - 1) / to * to;
}

static uint64_t clamp(uint64_t value, uint64_t min, uint64_t max)
{
    return value < min ? min : value > max ? max : value;
}

static uint64_t power_of_two(uint64_t min)
{
    uint64_t power = 1;
    while (power < min)
        power *= 2;
    return power;
}

/* ---- sizes ---- */

static uint64_t units(const hac_query_spec *spec)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < spec->n_sources; i++)
        sum += spec->sources[i];
    return sum;
}

static uint64_t chunks_of(uint64_t source, uint64_t chunk)
{
    return source / chunk + (source % chunk != 0);
}

/* So many row groups, or such a part of one, as come near to `wanted` rows. */
static uint64_t of_row_groups(uint64_t wanted, uint64_t rows)
{
    if (rows <= wanted)
        return (wanted + rows / 2) / rows * rows;
    uint64_t parts = (rows + wanted / 2) / wanted;
    return (rows + parts - 1) / parts;
}

/* HAC_INPUT_NONE: a table, or data that no query reads. */
static hac_input_format format_of(const hac_query_spec *spec)
{
    return spec->format != NULL ? hac_format_named(spec->format, strlen(spec->format)) : HAC_INPUT_NONE;
}

/* Whether it is one source in which records can be found from the start only. Files of that kind are not read
 * as one: they have no bound, and `hacctl splice` cuts them. */
static bool is_one_chunk(const hac_query_spec *spec)
{
    return (spec->place == HAC_QUERY_IN_BUFFER || spec->place == HAC_QUERY_INLINE) &&
           hac_format_is_sequential(format_of(spec));
}

/* Whether lock-step devices with memory of their own are all there is: each chunk takes them some launches,
 * which only many rows are worth. */
static bool wants_long_chunks(const hac_machine *machine, const uint32_t *devices, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!machine->devices[devices[i]].simt || machine->devices[devices[i]].host_memory)
            return false;
    return true;
}

static uint64_t chunk_size(const hac_query_spec *spec, bool long_ones)
{
    if (is_one_chunk(spec))
        return align(clamp(units(spec), CHUNK_MIN, UINT64_MAX / 2), 4 * KIB);
    uint64_t wanted = units(spec) / (spec->in_rows && long_ones ? TABLE_CHUNKS : CHUNKS_WANTED);
    if (spec->in_rows && wanted < CHUNK_ROWS_GOOD)
        wanted = clamp(units(spec) / TABLE_CHUNKS, CHUNK_ROWS_MIN, CHUNK_ROWS_GOOD);
    if (spec->in_rows && wanted > CHUNK_ROWS_MAX)
        wanted = CHUNK_ROWS_MAX;
    if (spec->group_rows > 0)
        return of_row_groups(wanted, spec->group_rows);
    if (spec->in_rows)
        return align(wanted, BATCH_ROWS);
    return align(clamp(wanted, CHUNK_MIN, CHUNK_MAX), 4 * KIB);
}

/* Rows that so many units of source may be: for text as few bytes each as records tend to have. */
static uint64_t rows_of(const hac_query_spec *spec, uint64_t source_units)
{
    unsigned bytes = hac_formats[format_of(spec)].short_record;
    return spec->in_rows ? source_units : source_units / (bytes != 0 ? bytes : 16) + 1;
}

static bool aggregates(const hac_query_spec *spec)
{
    return (spec->flags & HAC_COMPILED_AGGREGATES) != 0;
}

/* Bytes of a row beside its values. */
static uint64_t row_overhead(const hac_query_spec *spec)
{
    return GROUP_OVERHEAD + (hac_query_in_parts(spec) ? RUN_ENTRY : 0);
}

/* Bytes of a partial, or of a chunk's rows, that would surely do. */
static uint64_t worst_region(const hac_query_spec *spec, uint64_t chunk, uint32_t partitions)
{
    uint64_t rows = rows_of(spec, chunk);
    if (spec->ends_early && spec->last_row < rows)
        rows = spec->last_row;
    uint64_t each = (aggregates(spec) ? spec->group_bytes : spec->output_bytes) + row_overhead(spec), bytes;
    if (aggregates(spec) && spec->keys == 0)
        rows = 1;
    if (__builtin_mul_overflow(rows, each, &bytes) || bytes > INT64_MAX / 64)
        bytes = INT64_MAX / 64;
    return bytes + REGION_SLACK + 16 * (uint64_t)partitions;
}

/* A first guess: rows are no larger than twice what they were made of. A table's chunk counts its bytes. A
 * partial keeps rows as they are only after its first GROUPS_EARLY groups, which may be larger. */
uint64_t hac_query_guess_region(const hac_query_spec *spec, const hac_query_sizes *sizes)
{
    uint64_t bytes = sizes->chunk;
    if (spec->in_rows && units(spec) > 0)
        bytes = (uint64_t)((double)spec->bytes * ((double)sizes->chunk / (double)units(spec)));
    uint64_t worst = worst_region(spec, sizes->chunk, sizes->partitions);
    worst += spec->ends_early ? worst + REGION_MIN : 0; /* a few rows may have long texts */
    uint64_t likely = 2 * bytes + REGION_MIN, groups;
    if (hac_query_in_parts(spec))
        likely += rows_of(spec, sizes->chunk) * RUN_ENTRY;
    if (aggregates(spec) && spec->keys > 0)
        likely += GROUPS_EARLY * (spec->group_bytes + GROUP_OVERHEAD);
    if (spec->groups > 0 &&
        !__builtin_mul_overflow(spec->groups, spec->group_bytes + GROUP_OVERHEAD, &groups) && groups < worst)
        likely = groups + REGION_MIN;
    else if (spec->groups > 0)
        likely = worst;
    return worst < likely ? worst : likely;
}

/* Without a limit: so much that no product of sizes leaves 64 bits. */
uint64_t hac_query_memory(const hac_query_spec *spec)
{
    return spec->memory != 0 ? spec->memory : INT64_MAX / 2;
}

uint64_t hac_query_with_splits(uint64_t rest, uint64_t beside)
{
    rest = rest > REST_MIN ? rest : REST_MIN;
    uint64_t by_part = rest / 11 * 16 + 16;
    return rest + beside > by_part ? rest + beside : by_part;
}

hac_status hac_query_lacks_memory(const hac_query_spec *spec, double needed, hac_error *err)
{
    uint64_t input = spec->place == HAC_QUERY_IN_BUFFER ? spec->input_bytes : 0; /* not in spec->memory */
    uint64_t there = spec->limit != 0 && spec->limit < hac_query_memory(spec) + input + spec->round.beside
                         ? spec->limit
                         : hac_query_memory(spec) + input;
    double all = fmin(needed + (double)input, (double)(INT64_MAX / 32));
    bool splits = spec->place == HAC_QUERY_IN_SPLITS; /* with more memory, or less, their size is another */
    if (splits)
        all = (double)hac_query_with_splits((uint64_t)all, spec->round.beside);
    return hac_fail(
        err, HAC_REFUSED,
        "this query needs about %.0f MiB of memory%s, and %.*f MiB are there for it; give it more "
        "memory%s, or filter more rows",
        ceil(all / (double)MIB), splits ? " with splits of this size" : "", there < 10 * MIB ? 1 : 0,
        floor(10 * (double)there / (double)MIB) / 10, splits ? " or smaller splits (--split-size)" : "");
}

/* Keys are what passes split. */
static uint32_t passes_max(const hac_query_spec *spec)
{
    return spec->keys == 0 ? 1 : HAC_QUERY_PASSES_MAX;
}

/* Bytes of a chunk's partial in each of so many passes. `whole`: in one pass. */
static uint64_t region_in_passes(const hac_query_spec *spec, uint64_t whole, uint32_t passes)
{
    if (passes == 1)
        return whole;
    uint64_t fixed = spec->region_fixed < whole ? spec->region_fixed : whole;
    uint64_t split = (whole - fixed) / passes;
    return fixed + split + split / 4;
}

/* At most how many bytes the groups take once they are merged, if the partials take `partials` bytes. Text of
 * the result is what partials have beyond their groups. */
static double groups_bound(const hac_query_spec *spec, double partials, uint64_t chunks)
{
    double groups = spec->keys == 0 ? 1 : partials / (double)(spec->group_bytes + 1);
    if (spec->chunk_groups > 0)
        groups = fmin(groups, (double)spec->chunk_groups * (double)chunks);
    double bytes = groups * (double)(spec->output_bytes + 8 * spec->keys);
    if ((spec->flags & HAC_COMPILED_GIVES_TEXT) != 0)
        bytes += fmax(partials - groups * (double)spec->group_bytes, 0);
    return fmin(partials, bytes);
}

/* Partials of several passes, all groups and the result. What is not known is as much as it can be. */
hac_status hac_query_lacks_groups(const hac_query_spec *spec, uint64_t region, uint64_t chunks,
                                  hac_error *err)
{
    uint32_t passes = passes_max(spec) < PASSES_GOOD ? passes_max(spec) : PASSES_GOOD;
    double partials = (double)region_in_passes(spec, region, passes) * (double)chunks * 17 / 16;
    double bound = groups_bound(spec, (double)region * 4 / 5 * (double)chunks, chunks); /* without slack */
    double groups = bound, result = spec->group_result > 0 ? (double)spec->group_result : bound;
    if (spec->group_region > 0)
        groups = (double)spec->group_region * (double)spec->group_regions * 5 / 4;
    double min = (double)passes * PARTITIONS_MIN * (double)hac_query_group_region(0, PARTITIONS_MIN);
    groups = fmax(groups, spec->keys == 0 ? 0 : min);
    double all = fmax(partials / PARTIALS_PART, partials + groups + result);
    return hac_query_lacks_memory(spec, all * 17 / 16 + MIB, err);
}

/* Bytes of a chunk's region that leave the result its part of the memory. */
static uint64_t region_limit(const hac_query_spec *spec, uint64_t chunks)
{
    return (uint64_t)((double)hac_query_memory(spec) * PARTIALS_PART) / chunks / 64 * 64;
}

static uint64_t with_slack(uint64_t region)
{
    return align(region + region / 16, 4 * KIB);
}

bool hac_query_rows_fit(const hac_query_spec *spec, uint64_t region, uint64_t chunks)
{
    return region <= INT64_MAX / 2 && with_slack(region) <= region_limit(spec, chunks);
}

/* Regions of rows. They are cut to what there is room for: rows that do not fit are counted all the same, and
 * so it is known how much memory they need (rows_seen). */
static hac_status fit_rows(const hac_query_spec *spec, hac_query_sizes *sizes, hac_error *err)
{
    uint64_t max = region_limit(spec, sizes->chunks);
    sizes->passes = 1;
    if (!spec->rows_seen) {
        uint64_t wanted =
            spec->region > 0 ? with_slack(spec->region) : align(hac_query_guess_region(spec, sizes), 4 * KIB);
        sizes->region = clamp(wanted, 64, max > 64 ? max : 64);
        return HAC_OK;
    }
    uint64_t quotes = (spec->flags & HAC_COMPILED_NEEDS_QUOTES) != 0 ? sizes->chunks * sizeof(uint64_t) : 0,
             all;
    sizes->region = align(spec->region, 64);
    if (!__builtin_mul_overflow(sizes->region, sizes->chunks, &all) &&
        !__builtin_add_overflow(all, quotes, &all) && all < hac_query_memory(spec))
        return HAC_OK;
    return hac_query_lacks_memory(
        spec, (double)sizes->region * (double)sizes->chunks + (double)quotes + (double)spec->result, err);
}

/* Sets region and passes so that all partials fit their part of the memory. */
static hac_status fit_regions(const hac_query_spec *spec, hac_query_sizes *sizes, hac_error *err)
{
    uint64_t max = region_limit(spec, sizes->chunks);
    bool known = spec->region > 0;
    uint64_t whole = known ? spec->region + spec->region / 16 : hac_query_guess_region(spec, sizes);
    sizes->passes = spec->passes > 0 ? spec->passes : 1;
    uint64_t region = region_in_passes(spec, whole, sizes->passes);
    /* what is only a guess is cut to what there is room for: it may well do */
    if (!known && region > max && max >= REGION_MIN)
        region = max;
    while (region > max && sizes->passes < passes_max(spec)) {
        sizes->passes *= 2;
        region = region_in_passes(spec, whole, sizes->passes);
    }
    sizes->region = align(region > REGION_SLACK ? region : REGION_SLACK, 4 * KIB);
    if (region > max && !known) /* so much is enough to find out, and for few groups */
        return hac_query_lacks_memory(spec, (double)REGION_MIN * (double)sizes->chunks / PARTIALS_PART, err);
    if (region > max)
        return hac_query_lacks_groups(spec, whole, sizes->chunks, err);
    /* a pass has its part of the groups: as many partitions in all, or empty ones take all the memory */
    sizes->partitions =
        (uint32_t)clamp(sizes->partitions / sizes->passes,
                        sizes->partitions > PARTITIONS_MIN ? PARTITIONS_MIN : 1, sizes->partitions);
    return HAC_OK;
}

static uint32_t choose_partitions(const hac_query_spec *spec)
{
    if (!aggregates(spec) || spec->keys == 0)
        return 1;
    uint64_t bytes = spec->groups > 0 ? spec->groups * (spec->group_bytes + GROUP_OVERHEAD) : spec->bytes / 4;
    return (uint32_t)clamp(power_of_two(bytes / PARTITION_BYTES), PARTITIONS_MIN, PARTITIONS_MAX);
}

uint64_t hac_query_group_region(uint64_t bytes, uint32_t partitions)
{
    /* partitions are by hash: a quarter more than the mean, and room for a few */
    uint64_t mean = bytes / partitions;
    return align(partitions == 1 ? mean + REGION_SLACK : mean + mean / 4 + 4 * REGION_SLACK, 64);
}

/* Bytes of the largest of so many partitions, by those of an earlier plan. */
static uint64_t seen_group_region(const hac_query_spec *spec, uint64_t regions)
{
    if (spec->group_regions == 0 || regions <= spec->group_regions)
        return spec->group_region;
    double part = (double)spec->group_region * (double)spec->group_regions / (double)regions;
    return (uint64_t)fmin((double)spec->group_region, part * 5 / 4);
}

/* With several passes the groups of all of them are kept, in memory that is taken at the start: as much as
 * they may be, or as there is room for. */
static hac_status fit_groups(const hac_query_spec *spec, hac_query_sizes *sizes, hac_error *err)
{
    uint64_t all = sizes->region * sizes->chunks,
             guess = sizes->groups * (spec->group_bytes + GROUP_OVERHEAD);
    uint64_t regions = (uint64_t)sizes->partitions * sizes->passes;
    sizes->group_region =
        hac_query_group_region(sizes->passes == 1 && guess < all ? guess : all, sizes->partitions);
    if (sizes->passes > 1) {
        uint64_t capacity = (uint64_t)((double)hac_query_memory(spec) * GROUPS_PART) / regions / 64 * 64;
        uint64_t min = hac_query_group_region(0, sizes->partitions);
        sizes->group_region = clamp(sizes->group_region, min, capacity > min ? capacity : min);
    }
    uint64_t seen = seen_group_region(spec, regions);
    if (sizes->group_region < seen)
        sizes->group_region = align(seen, 64);
    if (sizes->passes > 1)
        all += spec->group_result;
    if (sizes->passes == 1 ||
        (all <= hac_query_memory(spec) && sizes->group_region <= (hac_query_memory(spec) - all) / regions))
        return HAC_OK;
    return hac_query_lacks_groups(spec, spec->region > 0 ? spec->region : hac_query_guess_region(spec, sizes),
                                  sizes->chunks, err);
}

/* Takes more passes while partials leave too little memory for the groups and the result. */
static hac_status fit_passes(const hac_query_spec *spec, hac_query_sizes *sizes, hac_error *err)
{
    hac_query_spec more = *spec;
    hac_query_sizes tried = *sizes;
    hac_status status = fit_regions(&more, &tried, err);
    if (status == HAC_OK)
        status = fit_groups(&more, &tried, err);
    while (status == HAC_REFUSED && spec->seen_passes > 0 && tried.passes < passes_max(spec)) {
        more.passes = tried.passes * 2;
        tried = *sizes;
        status = fit_regions(&more, &tried, err);
        if (status == HAC_OK)
            status = fit_groups(&more, &tried, err);
    }
    *sizes = tried;
    return status;
}

static uint64_t guess_groups(const hac_query_spec *spec)
{
    if (spec->keys == 0)
        return 1;
    if (spec->groups > 0)
        return spec->groups;
    uint64_t rows = rows_of(spec, units(spec));
    return rows / 10 + 1;
}

hac_status hac_query_size(const hac_query_spec *spec, const hac_machine *machine, const uint32_t *devices,
                          size_t n, hac_query_sizes *ret, hac_error *err)
{
    hac_query_sizes sizes = {.chunk = chunk_size(spec, wants_long_chunks(machine, devices, n)),
                             .partitions = choose_partitions(spec)};
    for (size_t i = 0; i < spec->n_sources; i++)
        sizes.chunks += chunks_of(spec->sources[i], sizes.chunk);
    if (sizes.chunks == 0)
        return hac_fail(err, HAC_INTERNAL, "query: there is nothing to read");
    sizes.grain = hac_query_threads(machine, devices, n);
    sizes.groups = guess_groups(spec);
    if (hac_query_in_parts(spec))
        hac_query_choose_parts(spec, rows_of(spec, units(spec)), &sizes);
    hac_status status = aggregates(spec) ? fit_passes(spec, &sizes, err) : fit_rows(spec, &sizes, err);
    if (status == HAC_OK)
        *ret = sizes;
    return status;
}

uint32_t hac_query_threads(const hac_machine *machine, const uint32_t *devices, size_t n)
{
    uint32_t max = 1;
    for (size_t i = 0; i < n; i++)
        if (machine->devices[devices[i]].threads > max)
            max = machine->devices[devices[i]].threads;
    return max;
}

bool hac_query_is_whole(const hac_query_spec *spec)
{
    size_t filled = 0;
    if (spec->round.stage != HAC_ROUND_NONE)
        return false;
    for (size_t i = 0; i < spec->n_sources; i++)
        filled += spec->sources[i] > 0;
    bool small = spec->bytes <= HAC_QUERY_WHOLE_BYTES && spec->input_bytes <= HAC_QUERY_WHOLE_BYTES;
    return spec->describes || filled == 0 || (filled == 1 && small);
}

const char *hac_query_codelet(const hac_query_spec *spec, hac_query_strategy strategy)
{
    (void)spec;
    static const char *const names[] = {"query.whole", "query.rows", "query.aggregate", "hash.aggregate",
                                        "query.aggregate"};
    return names[strategy];
}

/* ---- the stages ---- */

/* What one source becomes in a stage: a range over its chunks, or over task->count of them from task->first
 * on. task->item_first is the number of the source's first chunk among all chunks. */
static hac_status add_source_task(hac_query_building *b, const char *codelet, size_t source, uint32_t pass,
                                  hac_plan_task *task, const uint32_t *deps, size_t n_deps, uint32_t *ret,
                                  hac_error *err)
{
    const hac_query_spec *spec = b->spec;
    uint64_t chunks = chunks_of(spec->sources[source], b->sizes->chunk);
    uint64_t all = units(spec);
    task->codelet = codelet;
    task->range = true;
    task->count = task->count > 0 ? task->count : chunks;
    task->grain = b->sizes->grain < task->count ? b->sizes->grain : task->count;
    if (task->grain > 1 && task->first % task->grain != 0) /* after the chunk that is read ahead */
        task->grain = 1;
    task->device = -1;
    task->repeatable = true;
    task->uses_descriptor = spec->place == HAC_QUERY_IN_FILES;
    task->descriptor = (uint8_t)source;
    task->units = (double)hac_query_work(spec) * (double)spec->sources[source] / (double)(all > 0 ? all : 1) *
                  ((double)task->count / (double)chunks);
    if (spec->ends_early && task->count > 1) /* one chunk has all rows, as a rule */
        task->wanted = 1 / (double)b->sizes->chunks;
    task->item_count = task->count;
    hac_building_params(b, pass, task);
    HAC_EDIT_PARAMS(hac_query_params, task)->source_bytes = spec->sources[source];
    HAC_EDIT_PARAMS(hac_query_params, task)->file_bytes = spec->files[source];
    HAC_EDIT_PARAMS(hac_query_params, task)->file_stamp = spec->stamps[source];
    HAC_EDIT_PARAMS(hac_query_params, task)->first_chunk = task->item_first;
    hac_status status = hac_building_model(b, task, err);
    return status == HAC_OK ? hac_plan_add_task(b->plan, task, deps, n_deps, ret, err) : status;
}

void hac_building_touch(hac_plan_span *s, uint64_t first, uint64_t count, uint64_t bytes)
{
    s->touch_first = first * bytes;
    s->touch_end = (first + count) * bytes;
}

/* Counts the quotes in every chunk of a source, so that each can be read by itself. */
static hac_status add_quotes(hac_query_building *b, size_t source, uint64_t first, uint32_t *ret,
                             hac_error *err)
{
    uint64_t chunks = chunks_of(b->spec->sources[source], b->sizes->chunk);
    hac_plan_task task = {.device_mask = b->host, .stage = "quotes", .item_first = first, .n_spans = 2};
    task.spans[0] = hac_building_span(b, b->quotes, HAC_WRITE);
    task.spans[1] = hac_building_span(b, b->in, HAC_READ);
    hac_building_touch(&task.spans[0], first, chunks, sizeof(uint64_t));
    return add_source_task(b, "query.quotes", source, 0, &task, NULL, 0, ret, err);
}

/* A task that reads chunks [from, from + count) of a source, whose first chunk is number `first` of all. */
static hac_status add_reader(hac_query_building *b, uint32_t pass, size_t source, uint64_t first,
                             uint64_t from, uint64_t count, const uint32_t *deps, size_t n_deps,
                             hac_error *err)
{
    hac_plan_task task = {
        .device_mask = b->set, .item_first = first, .first = from, .count = count, .n_spans = 3, .part = 1};
    task.stage = b->strategy == HAC_QUERY_ROWS ? "rows" : "aggregate";
    task.spans[0] = hac_building_span(b, b->partials, HAC_WRITE);
    task.spans[1] = hac_building_span(b, b->quotes, HAC_READ);
    task.spans[2] = hac_building_span(b, b->in, HAC_READ);
    hac_building_touch(&task.spans[0], first + from, count, b->sizes->region);
    if (n_deps > 0 && b->quotes >= 0)
        hac_building_touch(&task.spans[1], first, from + count, sizeof(uint64_t));
    else
        hac_building_touch(&task.spans[1], 0, 0, 0);
    hac_status status =
        hac_building_kernels(b, pass == 0 && source == hac_building_largest_source(b->spec), &task, err);
    if (status == HAC_OK)
        status = add_source_task(b, hac_query_codelet(b->spec, b->strategy), source, pass, &task, deps,
                                 n_deps, &b->last[b->n_last], err);
    b->n_last += status == HAC_OK;
    return status;
}

/* The number of chunks, 1 or 0, that are read before quotes are counted: with a limit, the first chunk may be
 * all that is read, and no quotes come before it. */
static uint64_t chunks_ahead(const hac_query_building *b, uint64_t first, uint64_t chunks)
{
    return b->spec->ends_early && b->strategy == HAC_QUERY_ROWS && b->quotes >= 0 && first == 0 && chunks > 1;
}

/*
 * One pass over all sources. `before`: the merge of the pass before, whose partials are overwritten. The
 * quotes of a source are counted in the first pass, by a task right before the one that reads it: of several
 * failures the first task's is told, and that has to be the first source's.
 */
static hac_status add_pass(hac_query_building *b, uint32_t pass, uint32_t *quotes, const uint32_t *before,
                           hac_error *err)
{
    uint64_t first = 0;
    b->n_last = 0;
    for (size_t i = 0; i < b->spec->n_sources; i++) {
        uint64_t chunks = chunks_of(b->spec->sources[i], b->sizes->chunk);
        uint32_t deps[2];
        size_t n_deps = 0;
        hac_status status = HAC_OK;
        if (chunks == 0)
            continue;
        uint64_t ahead = chunks_ahead(b, first, chunks);
        if (ahead > 0)
            status = add_reader(b, pass, i, first, 0, ahead, NULL, 0, err);
        if (status == HAC_OK && b->quotes >= 0 && pass == 0)
            status = add_quotes(b, i, first, &quotes[i], err);
        if (b->quotes >= 0)
            deps[n_deps++] = quotes[i];
        if (before != NULL)
            deps[n_deps++] = *before;
        if (status == HAC_OK)
            status = add_reader(b, pass, i, first, ahead, chunks - ahead, deps, n_deps, err);
        if (status != HAC_OK)
            return status;
        first += chunks;
    }
    return HAC_OK;
}

hac_status hac_building_merge(hac_query_building *b, uint32_t pass, uint32_t *ret, hac_error *err)
{
    uint64_t bytes = b->sizes->group_region * b->sizes->partitions;
    uint64_t partitions = b->sizes->partitions;
    bool carries = b->spec->round.stage == HAC_ROUND_CARRY;
    hac_plan_task task = {.codelet = carries ? "query.carry" : "query.merge",
                          .range = true,
                          .count = partitions,
                          .grain = b->sizes->grain < partitions ? b->sizes->grain : partitions,
                          .device_mask = b->host,
                          .device = -1,
                          .repeatable = true,
                          .n_spans = 2,
                          .units = (double)(b->sizes->groups * (b->spec->group_bytes + GROUP_OVERHEAD)),
                          .stage = carries ? "carry" : "merge",
                          .item_count = partitions};
    task.spans[0] = hac_building_span(b, b->partials, HAC_READ);
    if (b->spec->round.stage != HAC_ROUND_NONE)
        task.spans[task.n_spans++] = hac_building_span(b, b->carry, HAC_READ);
    task.spans[1] = (hac_plan_span){.buffer = (uint8_t)b->groups,
                                    .access = HAC_WRITE,
                                    .offset = pass * bytes,
                                    .bytes = bytes,
                                    .touch_first = pass * bytes,
                                    .touch_end = (pass + 1) * bytes};
    hac_building_params(b, pass, &task);
    hac_status status = hac_building_narrower(b, &task, err);
    return status == HAC_OK ? hac_plan_add_task(b->plan, &task, b->last, b->n_last, ret, err) : status;
}

/* The last task: query.finish or query.gather. */
hac_status hac_building_finish(hac_query_building *b, const uint32_t *deps, size_t n_deps, hac_error *err)
{
    bool rows = b->strategy == HAC_QUERY_ROWS;
    hac_plan_task task = {.codelet = rows ? "query.gather" : "query.finish",
                          .count = 1,
                          .device_mask = b->host,
                          .device = -1,
                          .repeatable = true,
                          .n_spans = 2,
                          .units = (double)b->plan->buffers[b->result].bytes,
                          .stage = rows ? "gather" : "finish",
                          .item_count = 1};
    task.spans[0] = hac_building_span(b, rows ? b->partials : b->groups, HAC_READ);
    task.spans[1] = hac_building_span(b, b->result, HAC_WRITE);
    hac_building_params(b, 0, &task);
    HAC_EDIT_PARAMS(hac_query_params, &task)->partitions = (uint64_t)b->sizes->partitions * b->sizes->passes;
    if (b->spec->gives_parquet) /* columns that are encoded and compressed, instead of rows that are copied */
        task.model = rows ? "query.gather.parquet" : "query.finish.parquet";
    hac_status status = hac_building_narrower(b, &task, err);
    return status == HAC_OK ? hac_plan_add_task(b->plan, &task, deps, n_deps, NULL, err) : status;
}

uint64_t hac_building_guess_result(const hac_query_spec *spec, const hac_query_sizes *sizes)
{
    uint64_t rows = aggregates(spec) ? sizes->groups : rows_of(spec, units(spec)), bytes;
    if (spec->ends_early && spec->last_row < rows)
        rows = spec->last_row;
    if (__builtin_mul_overflow(rows, spec->output_bytes + 1, &bytes) || bytes > INT64_MAX / 64)
        bytes = INT64_MAX / 64;
    return align(bytes + 4 * KIB, 64);
}

static hac_status add_buffers(hac_query_building *b, hac_error *err)
{
    const hac_query_sizes *s = b->sizes;
    hac_status status = HAC_OK;
    bool rows = b->strategy == HAC_QUERY_ROWS;
    if (b->spec->place == HAC_QUERY_IN_BUFFER)
        status = hac_building_buffer(b, HAC_QUERY_BUFFER_IN, HAC_BUFFER_INPUT, b->spec->input_bytes, false,
                                     &b->in, err);
    if (status == HAC_OK && (b->spec->flags & HAC_COMPILED_NEEDS_QUOTES))
        status = hac_building_buffer(b, HAC_QUERY_BUFFER_QUOTES, HAC_BUFFER_WORK,
                                     s->chunks * sizeof(uint64_t), false, &b->quotes, err);
    if (status == HAC_OK)
        status = hac_building_buffer(b, HAC_QUERY_BUFFER_PARTIALS, HAC_BUFFER_WORK, s->region * s->chunks,
                                     false, &b->partials, err);
    if (status == HAC_OK && !rows)
        status =
            hac_building_buffer(b, HAC_QUERY_BUFFER_GROUPS, HAC_BUFFER_WORK,
                                s->group_region * s->partitions * s->passes, s->passes == 1, &b->groups, err);
    uint64_t result = hac_building_guess_result(b->spec, s);
    if (status == HAC_OK && rows && hac_query_in_parts(b->spec))
        status = hac_building_buffer(b, HAC_QUERY_BUFFER_PARTS, HAC_BUFFER_WORK,
                                     align(result / s->parts + 1, 64) * s->parts, true, &b->parts, err);
    if (status == HAC_OK)
        status =
            hac_building_buffer(b, HAC_QUERY_BUFFER_RESULT, HAC_BUFFER_OUTPUT, result, true, &b->result, err);
    b->plan->result_buffer = b->result;
    return status;
}

static hac_status build_main(hac_query_building *b, hac_error *err)
{
    uint32_t quotes[HAC_DESCRIPTORS_MAX] = {0}, merges[HAC_QUERY_PASSES_MAX];
    hac_status status = add_buffers(b, err);
    if (b->strategy == HAC_QUERY_ROWS) {
        if (status == HAC_OK)
            status = add_pass(b, 0, quotes, NULL, err);
        if (status == HAC_OK)
            status =
                b->parts >= 0 ? hac_building_parts(b, err) : hac_building_finish(b, b->last, b->n_last, err);
        return status;
    }
    for (uint32_t pass = 0; pass < b->sizes->passes && status == HAC_OK; pass++) {
        status = add_pass(b, pass, quotes, pass > 0 ? &merges[pass - 1] : NULL, err);
        if (status == HAC_OK)
            status = hac_building_merge(b, pass, &merges[pass], err);
    }
    return status == HAC_OK ? hac_building_finish(b, merges, b->sizes->passes, err) : status;
}

/* The first that is not empty, or else the first: an empty file has no header either. */
static size_t first_source(const hac_query_spec *spec)
{
    size_t i = 0;
    while (i + 1 < spec->n_sources && spec->sources[i] == 0)
        i++;
    return spec->n_sources > 0 && spec->sources[i] > 0 ? i : 0;
}

/* Bytes of a buffer for the result of a small query; 0: it comes inline. What does not fit makes the task run
 * again. Groups are few, as a rule; rows are as many as the source has, or fewer. */
static uint64_t whole_result(const hac_query_spec *spec)
{
    uint64_t memory = hac_query_memory(spec), bytes;
    if (spec->describes || aggregates(spec) || spec->ends_early)
        return 0;
    if (__builtin_mul_overflow(rows_of(spec, units(spec)), spec->output_bytes + 1, &bytes) ||
        bytes < HAC_INLINE_MAX / 2)
        return 0;
    bytes += bytes / 2 + HAC_INLINE_MAX;
    return bytes < RESULT_MAX && bytes < memory / 4 ? align(bytes, 64) : 0;
}

/* All in one task. */
static hac_status build_whole(hac_query_building *b, hac_error *err)
{
    const hac_query_spec *spec = b->spec;
    uint64_t result = whole_result(spec);
    size_t source = first_source(spec); /* only one may be not empty */
    hac_status status = HAC_OK;
    if (spec->place == HAC_QUERY_IN_BUFFER)
        status = hac_building_buffer(b, HAC_QUERY_BUFFER_IN, HAC_BUFFER_INPUT, spec->input_bytes, false,
                                     &b->in, err);
    if (status == HAC_OK)
        status = hac_building_buffer(b, HAC_QUERY_BUFFER_RESULT, HAC_BUFFER_OUTPUT, result, result == 0,
                                     &b->result, err);
    if (status != HAC_OK)
        return status;
    b->plan->result_buffer = b->result;
    hac_plan_task task = {.codelet = spec->describes ? "query.describe" : "query.whole",
                          .count = 1,
                          .device_mask = b->host,
                          .device = -1,
                          .repeatable = true,
                          .uses_descriptor = spec->place == HAC_QUERY_IN_FILES,
                          .descriptor = (uint8_t)source,
                          .n_spans = 2,
                          .units = spec->describes ? 1 : (double)hac_query_work(spec) + 1,
                          .part = 1,
                          .stage = spec->describes ? "describe" : "query",
                          .item_count = 1};
    task.spans[0] = hac_building_span(b, b->result, HAC_WRITE);
    task.spans[1] = hac_building_span(b, b->in, HAC_READ);
    hac_building_params(b, 0, &task);
    HAC_EDIT_PARAMS(hac_query_params, &task)->source_bytes = spec->sources[source];
    HAC_EDIT_PARAMS(hac_query_params, &task)->file_bytes = spec->files[source];
    HAC_EDIT_PARAMS(hac_query_params, &task)->file_stamp = spec->stamps[source];
    if (!spec->describes)
        status = hac_building_model(b, &task, err);
    return status == HAC_OK ? hac_plan_add_task(b->plan, &task, NULL, 0, NULL, err) : status;
}

/* A device that is only explored does not count: the plan is what it would be without it. */
static hac_plan_engine engine_of(const hac_query_building *b)
{
    static const hac_plan_engine engines[] = {[HAC_QUERY_WHOLE] = HAC_PLAN_ENGINE_WHOLE,
                                              [HAC_QUERY_ROWS] = HAC_PLAN_ENGINE_ROWS,
                                              [HAC_QUERY_HOST] = HAC_PLAN_ENGINE_HOST,
                                              [HAC_QUERY_DEVICE] = HAC_PLAN_ENGINE_DEVICE};
    bool cpu = false, other = false;
    for (size_t d = 0; d < b->plan->n_devices; d++) {
        cpu |= (b->set >> d & 1) != 0 && hac_building_is_cpu(b, d);
        other |= (b->set >> d & 1) != 0 && !hac_building_is_cpu(b, d);
    }
    if (b->strategy != HAC_QUERY_MIXED)
        return engines[b->strategy];
    return cpu && other ? HAC_PLAN_ENGINE_MIXED : cpu ? HAC_PLAN_ENGINE_HOST : HAC_PLAN_ENGINE_DEVICE;
}

void hac_building_info(const hac_query_building *b)
{
    const hac_query_spec *spec = b->spec;
    hac_query_info *info = &b->plan->query;
    info->engine = engine_of(b);
    info->format = spec->format;
    info->sources = spec->n_sources;
    info->files_left_out = spec->files_left_out;
    info->bytes = spec->bytes;
    info->rows = spec->in_rows ? units(spec) : 0;
    info->chunk = b->sizes->chunk;
    info->chunks = b->sizes->chunks;
    info->sorts_rows = spec->sorts_rows;
    info->first_rows = b->strategy == HAC_QUERY_ROWS && (spec->flags & HAC_COMPILED_FIRST_ROWS) != 0;
    info->region = b->sizes->region;
    info->partitions = b->sizes->partitions;
    info->passes = b->sizes->passes;
    info->hot_keys = info->engine != HAC_PLAN_ENGINE_HOST && b->strategy >= HAC_QUERY_DEVICE &&
                     hac_building_places_hot_keys(b);
    info->sample = spec->sample > 0 ? spec->sample : HAC_SAMPLE_DEFAULT;
    info->hot_share = spec->hot_share > 0 ? spec->hot_share : HAC_HOT_SHARE_DEFAULT;
    b->plan->sort.items = spec->bytes; /* what prices are in proportion to */
}

/* Row groups are parquet's. */
static hac_flow flow_of(const hac_query_spec *spec)
{
    return spec->format != NULL && strcmp(spec->format, "parquet") == 0 ? HAC_FLOW_PARQUET
                                                                        : HAC_FLOW_MAPREDUCE;
}

hac_status hac_building_begin(hac_query_building *b, const hac_machine *machine, const hac_query_spec *spec,
                              const hac_query_sizes *sizes, hac_query_strategy strategy,
                              const hac_device_set *set, const hac_device_set *host, hac_error *err)
{
    *b = (hac_query_building){.machine = machine,
                              .spec = spec,
                              .sizes = sizes,
                              .strategy = strategy,
                              .in = -1,
                              .quotes = -1,
                              .partials = -1,
                              .groups = -1,
                              .parts = -1,
                              .result = -1,
                              .carry = -1};
    hac_status status = hac_plan_new(flow_of(spec), &b->plan, err);
    if (status != HAC_OK)
        return status;
    hac_building_devices(b, set, host);
    hac_building_info(b);
    return HAC_OK;
}

hac_status hac_building_end(hac_query_building *b, hac_status status, hac_plan **ret)
{
    if (status == HAC_OK)
        *ret = b->plan;
    else
        hac_plan_free(b->plan);
    return status;
}

hac_status hac_query_build(const hac_machine *machine, const hac_query_spec *spec,
                           const hac_query_sizes *sizes, hac_query_strategy strategy,
                           const hac_device_set *set, const hac_device_set *host, hac_plan **ret,
                           hac_error *err)
{
    hac_query_sizes small = {
        .chunk = spec->in_rows ? units(spec) : spec->bytes, .chunks = 1, .partitions = 1, .passes = 1};
    bool whole = strategy == HAC_QUERY_WHOLE;
    hac_query_building b;
    hac_status status =
        hac_building_begin(&b, machine, spec, whole ? &small : sizes, strategy, set, host, err);
    if (status == HAC_OK)
        status = whole ? build_whole(&b, err) : build_main(&b, err);
    return hac_building_end(&b, status, ret);
}

hac_status hac_query_build_footers(const hac_machine *machine, const hac_query_spec *spec,
                                   const hac_device_set *set, hac_plan **ret, hac_error *err)
{
    hac_cleanup(hac_plan_free_cleanup) hac_plan *plan = NULL;
    hac_status status = hac_plan_new(flow_of(spec), &plan, err);
    hac_query_sizes none = {.partitions = 1, .passes = 1};
    if (status != HAC_OK)
        return status;
    hac_query_building b = {
        .plan = plan, .machine = machine, .spec = spec, .sizes = &none, .in = -1, .parts = -1};
    hac_building_devices(&b, set, set);
    b.plan->sort.items = 1;
    if (spec->place == HAC_QUERY_IN_BUFFER)
        status = hac_building_buffer(&b, HAC_QUERY_BUFFER_IN, HAC_BUFFER_INPUT, spec->input_bytes, false,
                                     &b.in, err);
    for (size_t i = 0; i < spec->n_sources && status == HAC_OK; i++) {
        hac_plan_task task = {.codelet = "query.footer",
                              .count = 1,
                              .device_mask = b.host,
                              .device = -1,
                              .repeatable = true,
                              .uses_descriptor = spec->place == HAC_QUERY_IN_FILES,
                              .descriptor = (uint8_t)i,
                              .n_spans = b.in >= 0 ? 1 : 0,
                              .units = 1,
                              .stage = "footers",
                              .item_count = 1};
        hac_building_params(&b, 0, &task);
        HAC_EDIT_PARAMS(hac_query_params, &task)->file_bytes = spec->files[i];
        if (b.in >= 0) {
            task.spans[0] = hac_building_span(&b, b.in, HAC_READ);
            plan->result_buffer = b.in; /* there is no result: never handed out, as the job's kind sees to */
        }
        status = hac_plan_add_task(plan, &task, NULL, 0, NULL, err);
    }
    if (status == HAC_OK)
        *ret = hac_steal_ptr(plan);
    return status;
}
