/* SPDX-License-Identifier: Apache-2.0 */
/*
 * radix.sample and radix.scan. The sample decides how keys become buckets: the cheapest map whose buckets all
 * fit a leaf, except buckets of a single key value.
 */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/random.h"
#include "radix.h"
#include "radix_host.h"

typedef struct key_sample {
    hac_radix_header header;
    const uint64_t *keys; /* sorted */
    uint64_t n;
    uint64_t *splitters;       /* HAC_RADIX_SPLITTERS of them; or values */
    uint32_t *entries;         /* HAC_RADIX_ENTRIES of a refined map */
    uint16_t *cells;           /* HAC_RADIX_CELLS */
    struct cell_count *counts; /* of the cells */
    uint64_t largest;          /* expected keys of the largest bucket that must be sorted */
    bool alone;                /* keys are the result, not an index */
} key_sample;

/* ---- drawing ---- */

#define VALUES_MAX 512 /* maximum of different keys for which values are tried */
#define CELLS_STEP 257 /* difference of cells between two linear maps that are tried */
#define BATCH      64  /* concurrent reads: each of them misses every cache */

/* One key of each of `count` equal stretches of IN, mapped. */
static void draw(const hac_radix_order *o, const uint8_t *in, uint64_t n, uint64_t seed, uint64_t *keys,
                 uint64_t count)
{
    double step = (double)n / (double)count;
    for (uint64_t i = 0; i < count; i += BATCH) {
        uint64_t at[BATCH], some = count - i < BATCH ? count - i : BATCH;
        for (uint64_t k = 0; k < some; k++) {
            double within = count == n ? 0 : (double)(hac_random_u64(&seed) >> 11) * 0x1p-53;
            uint64_t place = (uint64_t)(((double)(i + k) + within) * step);
            at[k] = place < n ? place : n - 1;
            __builtin_prefetch(in + at[k] * o->key_bytes);
        }
        for (uint64_t k = 0; k < some; k++)
            keys[i + k] = hac_radix_map(o, hac_radix_load(in, at[k], o->key_bytes));
    }
}

/* ---- maps ---- */

static unsigned bits_of(uint64_t v)
{
    return v == 0 ? 0 : 64 - (unsigned)__builtin_clzll(v);
}

/* Both maps begin one below the sample, and the linear map ends one above. So keys outside the sample's range
 * share no cell with its ends where cells are narrower than buckets. */
static uint64_t base_of(const key_sample *s)
{
    return s->keys[0] == 0 ? 0 : s->keys[0] - 1;
}

static void choose_linear(key_sample *s, uint32_t cells)
{
    hac_radix_header *h = &s->header;
    uint64_t max = s->keys[s->n - 1], all = h->key_bytes == 4 ? UINT32_MAX : UINT64_MAX;
    h->method = HAC_RADIX_LINEAR;
    h->cells = cells;
    h->base = base_of(s);
    uint64_t range = max - h->base + (max < all);
    h->shift = bits_of(range) > 16 ? bits_of(range) - 16 : 0;
    h->last = (uint32_t)(range >> h->shift);
    uint64_t scale = h->last == 0 ? 1u << 16 : (((uint64_t)cells << 16) - 1) / h->last;
    h->scale = (uint32_t)(scale < 1u << 16 ? scale : 1u << 16);
}

static void choose_log(key_sample *s, uint32_t cells)
{
    hac_radix_header *h = &s->header;
    h->method = HAC_RADIX_LOG;
    h->cells = cells;
    h->base = base_of(s);
    h->shift = bits_of(cells / (h->key_bytes * 8)) - 1;
}

/* Whether all keys of a cell are equal, whatever the sample missed. */
static bool holds_one_value(const hac_radix_header *h, uint32_t cell)
{
    bool wide = h->key_bytes == 8;
    if (cell == 0 && h->base != 0)
        return false;
    if (h->method == HAC_RADIX_LOG)
        return cell >> h->shift <= h->shift;
    return h->levels == 0 && h->shift == 0 && h->scale == 1u << 16 &&
           (cell != h->last || h->base + h->last == (wide ? UINT64_MAX : UINT32_MAX));
}

/* ---- from cells to buckets ---- */

/* The sample's figures for a cell: its keys, and the keys of its most frequent value. */
typedef struct cell_count {
    uint32_t many, alike;
} cell_count;

/* Forms buckets from cells, left to right, of `target` sampled keys. A cell with as many is a bucket by
 * itself. False: there are not enough buckets. */
static bool pack(key_sample *s, const cell_count *counts, uint64_t target)
{
    uint64_t filled = 0;
    uint32_t bucket = 0, first = 0;
    for (uint32_t c = 0; c < s->header.cells; c++) {
        bool heavy = counts[c].many >= target;
        if (filled >= target || (heavy && c > first)) {
            bucket++;
            filled = 0;
            first = c;
        }
        if (bucket >= s->header.buckets)
            return false;
        s->cells[c] = (uint16_t)bucket;
        filled += counts[c].many;
    }
    return true;
}

/* A bucket of one cell with mostly one key value costs a leaf little more than the other keys. */
static uint32_t left_to_sort(const key_sample *s, uint32_t cell, const cell_count *count)
{
    if (holds_one_value(&s->header, cell))
        return 0;
    return count->alike * 4 >= count->many * 3 ? count->many - count->alike : count->many;
}

/* The largest bucket that a leaf must sort, in keys of the whole input. */
static uint64_t expected_largest(const key_sample *s, const cell_count *counts)
{
    uint64_t largest = 0, filled = 0;
    for (uint32_t c = 0; c < s->header.cells; c++) {
        bool begins = c == 0 || s->cells[c] != s->cells[c - 1];
        bool ends = c + 1 == s->header.cells || s->cells[c + 1] != s->cells[c];
        filled = begins ? 0 : filled;
        filled += begins && ends ? left_to_sort(s, c, &counts[c]) : counts[c].many;
        largest = filled > largest ? filled : largest;
    }
    return (uint64_t)((double)largest * ((double)s->header.items / (double)s->n));
}

static uint32_t cell_of(const key_sample *s, uint64_t key)
{
    return s->header.levels == HAC_RADIX_REFINED ? hac_radix_place(&s->header, s->entries, key)
                                                 : hac_radix_cell(&s->header, key);
}

static void count_cells(const key_sample *s, cell_count *counts)
{
    uint32_t run = 0;
    memset(counts, 0, s->header.cells * sizeof *counts);
    for (uint64_t i = 0; i < s->n; i++) {
        cell_count *c = &counts[cell_of(s, s->keys[i])];
        run = i > 0 && s->keys[i] == s->keys[i - 1] ? run + 1 : 1;
        c->many++;
        c->alike = run > c->alike ? run : c->alike;
    }
}

/* The number of sampled keys for a bucket: half of the buckets are reserved for frequent keys. */
static uint64_t bucket_target(const key_sample *s)
{
    uint64_t items = s->header.items, meant = hac_radix_bucket_items(items), buckets = s->header.buckets;
    uint64_t even = 2 * items / (buckets > 1 ? buckets : 1);
    double share = (double)s->n / (double)items;
    uint64_t target = (uint64_t)(share * (double)(even < meant ? even : meant));
    return target == 0 ? 1 : target;
}

/* Fills in the cells and `largest` for the chosen map. */
static void fill_cells(key_sample *s)
{
    cell_count *counts = s->counts;
    count_cells(s, counts);
    uint64_t target = bucket_target(s);
    while (!pack(s, counts, target))
        target += target / 8 + 1;
    s->largest = expected_largest(s, counts);
}

/* ---- direct ---- */

/* with so many keys, 1.6 times the expected number is no accident: 6 standard deviations */
#define EVEN_KEYS 96

/* Whether no stretch of cells has 1.6 times its share, and no single cell 3 times: with a dozen keys each, a
 * single cell says no more. */
static bool is_even(const key_sample *s)
{
    uint64_t cells = s->header.cells, sum = 0;
    if (s->n == 0)
        return false;
    uint64_t together = EVEN_KEYS * cells / s->n + 1;
    for (uint64_t c = 0; c < cells; c++) {
        sum += s->counts[c].many;
        sum -= c >= together ? s->counts[c - together].many : 0;
        if (sum * cells * 5 > together * s->n * 8 || s->counts[c].many * cells > 3 * s->n)
            return false;
    }
    return true;
}

/* Every cell is a bucket. Their number follows from the keys that a bucket should have. False: keys are not
 * evenly spread. */
static bool choose_direct(key_sample *s)
{
    uint64_t target = bucket_target(s), cells = (s->n + target - 1) / target;
    choose_linear(s, (uint32_t)(cells < s->header.buckets ? cells : s->header.buckets));
    count_cells(s, s->counts);
    for (uint32_t c = 0; c < s->header.cells; c++)
        s->cells[c] = (uint16_t)c;
    s->largest = expected_largest(s, s->counts);
    return is_even(s);
}

/* ---- refined ---- */

#define REFINING_ROUNDS 3
#define REFINED_MAX     12 /* log2 of the places of a cell */

static void begin_refining(key_sample *s)
{
    hac_radix_header *h = &s->header;
    uint64_t range = s->keys[s->n - 1] - base_of(s);
    h->method = HAC_RADIX_LINEAR;
    h->levels = HAC_RADIX_REFINED;
    h->base = base_of(s);
    h->shift = range == 0 ? 0 : h->key_bytes * 8 - bits_of(range);
    h->last = h->scale = 0;
    h->cells = HAC_RADIX_ENTRIES;
    uint32_t low = hac_radix_low_bits(h->key_bytes);
    for (uint32_t i = 0; i < HAC_RADIX_ENTRIES; i++)
        s->entries[i] = i << 6 | low;
}

/* The most sampled keys that a place leaves to be sorted. */
static uint32_t fullest_place(const key_sample *s, uint32_t first, uint32_t places)
{
    uint32_t max = 0;
    for (uint32_t p = first; p < first + places; p++) {
        uint32_t many = left_to_sort(s, p, &s->counts[p]);
        max = many > max ? many : max;
    }
    return max;
}

/* Gives more places to cells whose fullest place has half of a bucket's keys, until it would have a quarter
 * if its keys were evenly spread. False: there are not enough places. */
static bool refine(key_sample *s, uint64_t target)
{
    uint32_t low = hac_radix_low_bits(s->header.key_bytes), place = 0;
    for (uint32_t i = 0; i < HAC_RADIX_ENTRIES; i++) {
        uint32_t first = s->entries[i] >> 6;
        unsigned bits = low - (s->entries[i] & 63);
        uint64_t fullest = fullest_place(s, first, 1u << bits);
        if (fullest >= target / 2 + 1)
            bits += bits_of(fullest * 4 / target);
        bits = bits < REFINED_MAX ? bits : REFINED_MAX;
        s->entries[i] = place << 6 | (low - bits);
        place += 1u << bits;
        if (place > HAC_RADIX_CELLS)
            return false;
    }
    s->header.cells = place;
    return true;
}

/* Cells of equal width; those with many keys are divided. */
static bool choose_refined(key_sample *s, uint64_t good)
{
    begin_refining(s);
    count_cells(s, s->counts);
    for (unsigned round = 0; round < REFINING_ROUNDS; round++) {
        if (!refine(s, bucket_target(s)))
            break;
        fill_cells(s);
        if (s->largest <= good)
            return true;
    }
    s->header.levels = 0;
    return false;
}

/* ---- search ---- */

/* Chooses splitters so that buckets have `target` sampled keys and frequent keys have a bucket of their own.
 * Returns their number, which may exceed the number of buckets. */
static uint64_t split(const key_sample *s, uint64_t target, uint64_t *splitters)
{
    uint64_t k = 0, filled = 0;
    for (uint64_t i = 0, end; i < s->n && k + 2 < HAC_RADIX_SPLITTERS; i = end) {
        for (end = i + 1; end < s->n && s->keys[end] == s->keys[i]; end++)
            ;
        bool frequent = end - i >= target, more = end < s->n;
        if (frequent && s->keys[i] != 0 && (k == 0 || splitters[k - 1] != s->keys[i] - 1))
            splitters[k++] = s->keys[i] - 1;
        filled += end - i;
        if (more && (frequent || filled >= target)) {
            splitters[k++] = s->keys[i];
            filled = 0;
        }
    }
    return k;
}

/* Cells name the bucket of their first key. *ret_levels: the steps that the fullest cell needs. */
static void index_splitters(key_sample *s, uint64_t k, uint32_t *ret_levels)
{
    uint64_t j = 0, max = 0;
    for (uint32_t c = 0; c < s->header.cells; c++) {
        s->cells[c] = (uint16_t)j;
        uint64_t first = j;
        while (j < k && hac_radix_cell(&s->header, s->splitters[j]) == c)
            j++;
        max = j - first > max ? j - first : max;
    }
    *ret_levels = bits_of(max);
}

/* A search within linear or log cells, whichever takes fewer steps. */
static void choose_search(key_sample *s)
{
    uint64_t target = bucket_target(s), k = split(s, target, s->splitters);
    while (k >= s->header.buckets) {
        target += target / 8 + 1;
        k = split(s, target, s->splitters);
    }
    for (uint64_t i = k; i < HAC_RADIX_SPLITTERS; i++)
        s->splitters[i] = s->header.key_bytes == 4 ? UINT32_MAX : UINT64_MAX;
    uint32_t linear, log;
    choose_linear(s, HAC_RADIX_CELLS);
    index_splitters(s, k, &linear);
    choose_log(s, HAC_RADIX_CELLS);
    index_splitters(s, k, &log);
    if (linear <= log) {
        choose_linear(s, HAC_RADIX_CELLS);
        index_splitters(s, k, &linear);
    }
    s->header.levels = linear <= log ? linear : log;
    s->largest = (uint64_t)((double)(2 * target) * ((double)s->header.items / (double)s->n));
}

/* Puts each cell's value into `splitters`, and the cells up to it into its bucket. A cell without a value
 * gets another cell's. False: two values share a cell. */
static bool place_values(key_sample *s, const uint64_t *values, uint64_t n)
{
    uint32_t next = 0;
    for (uint64_t i = 0; i < n; i++) {
        uint32_t cell = hac_radix_cell(&s->header, values[i]);
        if (cell < next)
            return false;
        for (; next <= cell; next++) {
            s->cells[next] = (uint16_t)i;
            s->splitters[next] = values[i];
        }
    }
    for (; next < s->header.cells; next++) {
        s->cells[next] = (uint16_t)(n - 1);
        s->splitters[next] = values[n - 1];
    }
    return true;
}

/* For a sample with few different keys: tries maps until one gives each key a cell of its own. */
static bool choose_values(key_sample *s)
{
    uint64_t values[VALUES_MAX], n = 0;
    uint64_t max = s->header.buckets < VALUES_MAX ? s->header.buckets : VALUES_MAX;
    for (uint64_t i = 0; i < s->n; i++) {
        if (i > 0 && s->keys[i] == s->keys[i - 1])
            continue;
        if (n == max)
            return false;
        values[n++] = s->keys[i];
    }
    s->header.levels = HAC_RADIX_VALUES;
    s->largest = 0;
    for (uint32_t cells = HAC_RADIX_FEW_CELLS; cells > HAC_RADIX_FEW_CELLS / 2; cells -= CELLS_STEP) {
        choose_linear(s, cells);
        if (place_values(s, values, n))
            return true;
    }
    choose_log(s, HAC_RADIX_FEW_CELLS);
    if (place_values(s, values, n))
        return true;
    s->header.levels = 0;
    return false;
}

/* Chooses the cheapest map that is good enough. A search pays if leaves would be far too large without it. */
static void choose(key_sample *s)
{
    uint64_t good = HAC_RADIX_LEAF_ITEMS / 4 * 3;
    static const uint32_t cells[] = {HAC_RADIX_FEW_CELLS, HAC_RADIX_CELLS};
    if (s->alone && choose_values(s))
        return;
    if (choose_direct(s))
        return;
    for (size_t i = 0; i < 2; i++) {
        choose_linear(s, cells[i]);
        fill_cells(s);
        if (s->largest <= good || s->header.buckets < 8)
            return;
        choose_log(s, cells[i]);
        fill_cells(s);
        if (s->largest <= good)
            return;
    }
    if (!choose_refined(s, good))
        choose_search(s);
}

static void write_table(const key_sample *s, uint8_t *table)
{
    memcpy(table, &s->header, sizeof s->header);
    memcpy(table + hac_radix_cells_offset(), s->cells, s->header.cells * sizeof *s->cells);
    uint8_t *splitters = table + hac_radix_splitters_offset();
    if (s->header.levels == HAC_RADIX_REFINED)
        memcpy(splitters, s->entries, HAC_RADIX_ENTRIES * sizeof *s->entries);
    else
        for (size_t i = 0; s->header.levels != 0 && i < HAC_RADIX_SPLITTERS; i++)
            memcpy(splitters + i * s->header.key_bytes, &s->splitters[i], s->header.key_bytes);
}

/* ---- codelets ---- */

static const hac_radix_span sample_spans[] = {HAC_RADIX_KEYS, HAC_RADIX_TABLE};

hac_status hac_radix_check_sample(const hac_device_facts *facts, const hac_task *task, hac_error *err)
{
    (void)facts;
    hac_radix_sizes params;
    return hac_radix_sizes_of(task, sample_spans, 2, &params, err);
}

hac_status hac_radix_run_sample(hac_device *device, const hac_task *task, hac_task_result *result,
                                hac_error *err)
{
    (void)device;
    hac_radix_sizes p;
    hac_status status = hac_radix_sizes_of(task, sample_spans, 2, &p, err);
    if (status != HAC_OK)
        return status;
    uint64_t count = hac_radix_sample_items(p.n, p.buckets);
    hac_autofree uint64_t *keys = hac_radix_alloc(count * sizeof *keys);
    hac_autofree uint64_t *splitters = calloc(HAC_RADIX_SPLITTERS, sizeof *splitters);
    hac_autofree uint32_t *entries = calloc(HAC_RADIX_ENTRIES, sizeof *entries);
    hac_autofree uint16_t *cells = calloc(HAC_RADIX_CELLS, sizeof *cells);
    hac_autofree cell_count *counts = calloc(HAC_RADIX_CELLS, sizeof *counts);
    if (keys == NULL || splitters == NULL || entries == NULL || cells == NULL || counts == NULL)
        return hac_fail_no_memory(err);
    hac_radix_order order = hac_radix_order_of(task->type, task->descending, p.index_bytes != 0);
    draw(&order, task->spans[0].data, p.n, HAC_PARAMS(hac_radix_params, task)->seed, keys, count);
    const hac_radix_order as_is = {.key_bytes = 8};
    status = hac_radix_sort_bucket(&as_is, keys, NULL, 0, count, err);
    if (status != HAC_OK)
        return status;
    key_sample s = {.keys = keys,
                    .n = count,
                    .splitters = splitters,
                    .entries = entries,
                    .cells = cells,
                    .counts = counts,
                    .alone = p.index_bytes == 0};
    s.header = (hac_radix_header){
        .magic = HAC_RADIX_MAGIC, .items = p.n, .buckets = p.buckets, .key_bytes = p.key_bytes};
    choose(&s);
    write_table(&s, task->spans[1].data);
    result->values[0] = s.header.method | (uint64_t)s.header.levels << 8;
    result->values[1] = count;
    result->values[2] = s.largest;
    result->n_values = 3;
    return HAC_OK;
}

static const hac_radix_span scan_spans[] = {HAC_RADIX_TABLE, HAC_RADIX_COUNTS};

hac_status hac_radix_check_scan(const hac_device_facts *facts, const hac_task *task, hac_error *err)
{
    (void)facts;
    hac_radix_sizes params;
    return hac_radix_sizes_of(task, scan_spans, 2, &params, err);
}

/* Whether every key of every chunk is its cell's value. Removes the mark that says so from each chunk. */
static bool take_marks(uint64_t *counts, const hac_radix_sizes *p)
{
    uint64_t row_items = hac_radix_row_items(p->buckets), marks = 0;
    for (uint64_t chunk = 0; chunk < p->chunks; chunk++) {
        marks |= counts[chunk * row_items] & HAC_RADIX_STRANGE;
        counts[chunk * row_items] &= ~HAC_RADIX_STRANGE;
    }
    return marks == 0;
}

/* Keys of each bucket; false if a count is impossible. */
static bool add_up(const uint64_t *counts, const hac_radix_sizes *p, uint64_t *starts)
{
    uint64_t row_items = hac_radix_row_items(p->buckets);
    memset(starts, 0, (p->buckets + 1) * sizeof *starts);
    for (uint64_t chunk = 0; chunk < p->chunks; chunk++) {
        /* OR of all counts: unlike a maximum, every machine has vector instructions for it */
        uint64_t bits = 0;
        for (uint32_t b = 0; b < p->buckets; b++) {
            uint64_t c = counts[chunk * row_items + b];
            bits |= c;
            starts[b] += c;
        }
        /* chunk_items, the maximum of a count, is a power of two */
        if (bits >= 2 * p->chunk_items)
            return false;
    }
    return true;
}

hac_status hac_radix_run_scan(hac_device *device, const hac_task *task, hac_task_result *result,
                              hac_error *err)
{
    (void)device;
    hac_radix_sizes p;
    hac_status status = hac_radix_sizes_of(task, scan_spans, 2, &p, err);
    if (status != HAC_OK)
        return status;
    uint64_t *starts = (uint64_t *)(void *)(task->spans[0].data + hac_radix_starts_offset());
    uint64_t *counts = (uint64_t *)(void *)task->spans[1].data;
    uint64_t row_items = hac_radix_row_items(p.buckets), sum = 0, largest = 0, used = 0;
    hac_radix_header *header = (hac_radix_header *)(void *)task->spans[0].data;
    bool usual = take_marks(counts, &p), possible = add_up(counts, &p, starts);
    for (uint32_t b = 0; b <= p.buckets; b++) {
        uint64_t many = b < p.buckets ? starts[b] : 0;
        largest = many > largest ? many : largest;
        used = many != 0 ? b + 1 : used;
        starts[b] = sum;
        sum += many;
    }
    if (!possible || sum != p.n)
        return hac_fail(err, HAC_FAILED, "the buckets hold %llu keys of %llu: not every chunk was counted",
                        (unsigned long long)sum, (unsigned long long)p.n);
    uint64_t at[HAC_RADIX_MAX_BUCKETS];
    memcpy(at, starts, p.buckets * sizeof *at);
    for (uint64_t chunk = 0; chunk < p.chunks; chunk++)
        for (uint32_t b = 0; b < p.buckets; b++) {
            uint64_t many = counts[chunk * row_items + b];
            counts[chunk * row_items + b] = at[b];
            at[b] += many;
        }
    header->counted = usual && header->levels == HAC_RADIX_VALUES && p.index_bytes == 0;
    result->values[0] = largest;
    result->values[1] = used;
    result->n_values = 2;
    return HAC_OK;
}
