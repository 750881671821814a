/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Known-answer tests of the radix codelets at the full size of a chunk and of a leaf, with one bucket that is
 * larger than a leaf. Counts and scatters are tried with each map from key to bucket; leaves sort buckets
 * that the host has filled. The keys are multiples of an odd constant: all are different, they cover all bit
 * patterns, and a key's place in the input follows from the key. So an answer is right if it ascends, or lies
 * where it belongs, and every key in it is an input key. A loop that a device ends early makes this fail.
 */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "common/try.h"
#include "radix.h"
#include "radix_job.h"

/* multiplier · inverse = 1 (mod 2^64); their low halves: 1 (mod 2^32) */
static const uint64_t multiplier = UINT64_C(0x9e3779b97f4a7c15), inverse = UINT64_C(0xf1de83e19937733d);

typedef struct radix_trial {
    hac_type type;
    uint32_t index_bytes, key_bytes;
    uint64_t n;
    hac_radix_cut cut;
    uint8_t *in, *out, *index, *table, *counts;
} radix_trial;

static void trial_free(radix_trial *t)
{
    free(t->in);
    free(t->out);
    free(t->index);
    free(t->table);
    free(t->counts);
}

/* A key of the input, computed: fetching it in the order of the output would take most of a test's time. */
static uint64_t key_at(uint32_t key_bytes, uint64_t place)
{
    return key_bytes == 8 ? place * multiplier : (uint32_t)(place * multiplier);
}

static hac_status trial_init(radix_trial *t, hac_error *err)
{
    t->in = hac_radix_alloc(t->n * t->key_bytes);
    t->out = hac_radix_alloc(t->n * t->key_bytes);
    t->index = hac_radix_alloc(t->n * 8);
    t->table = hac_radix_alloc(hac_radix_table_bytes(t->cut.buckets));
    t->counts = hac_radix_alloc(hac_radix_counts_bytes(t->cut.chunks, t->cut.buckets));
    if (t->in == NULL || t->out == NULL || t->index == NULL || t->table == NULL || t->counts == NULL)
        return hac_fail_no_memory(err);
    for (uint64_t i = 0; i < t->n; i++)
        if (t->key_bytes == 8)
            ((uint64_t *)(void *)t->in)[i] = key_at(t->key_bytes, i);
        else
            ((uint32_t *)(void *)t->in)[i] = (uint32_t)key_at(t->key_bytes, i);
    return HAC_OK;
}

/* The place of a key in the input, if the key is there. */
static uint64_t place_of(uint32_t key_bytes, uint64_t key)
{
    return key_bytes == 8 ? key * inverse : (uint32_t)(key * inverse);
}

static bool is_sorted(const radix_trial *t)
{
    hac_radix_order o = hac_radix_order_of(t->type, false, t->index_bytes != 0);
    uint64_t before = 0, before_index = 0;
    for (uint64_t i = 0; i < t->n; i++) {
        uint64_t index = 0, key;
        if (t->index_bytes != 0) {
            index = hac_radix_load(t->index, i, t->index_bytes);
            if (index >= t->n)
                return false;
            key = key_at(t->key_bytes, index);
        } else {
            key = hac_radix_load(t->out, i, t->key_bytes);
            if (place_of(t->key_bytes, key) >= t->n)
                return false;
        }
        uint64_t m = hac_radix_map(&o, key);
        if (i > 0 && (m < before || (m == before && index <= before_index)))
            return false;
        before = m;
        before_index = index;
    }
    return true;
}

static hac_task task_of(const radix_trial *t, uint64_t count)
{
    hac_task task = {.type = t->type, .count = count, .fd = -1};
    HAC_SET_PARAMS(&task, &(hac_radix_params){.items = t->n,
                                              .chunk_items = t->cut.chunk_items,
                                              .buckets = t->cut.buckets,
                                              .index_bytes = t->index_bytes,
                                              .seed = 1});
    return task;
}

/* VALUED: the map has values, and all keys but one are not among them. */
typedef enum forced { AS_SAMPLED, LINEAR_CELLS, LOG_CELLS, SEARCHED, VALUED, REFINED, FORCED } forced;

/* Replaces radix.sample's decision by a map that its sample would not have chosen. */
static void force_map(const radix_trial *t, forced map)
{
    hac_radix_header h;
    uint16_t *cells = (uint16_t *)(void *)(t->table + hac_radix_cells_offset());
    uint8_t *splitters = t->table + hac_radix_splitters_offset();
    memcpy(&h, t->table, sizeof h);
    if (map == AS_SAMPLED || t->cut.buckets < 8)
        return;
    if (map == REFINED) {
        hac_radix_refine_thirds(t->table);
        return;
    }
    bool linear = map == LINEAR_CELLS;
    h.method = linear ? HAC_RADIX_LINEAR : HAC_RADIX_LOG;
    h.cells = linear || map == VALUED ? HAC_RADIX_FEW_CELLS : HAC_RADIX_CELLS;
    h.base = 0;
    h.shift = linear ? t->key_bytes * 8 - 16 : (t->key_bytes == 8 ? 10u : 11u) - (map == VALUED ? 3u : 0u);
    h.last = UINT16_MAX;
    h.scale = HAC_RADIX_FEW_CELLS;
    h.levels = map == SEARCHED ? 3 : map == VALUED ? HAC_RADIX_VALUES : 0;
    memcpy(t->table, &h, sizeof h);
    for (uint64_t i = 0; i < h.cells; i++)
        cells[i] = (uint16_t)(map == SEARCHED ? 0 : i * t->cut.buckets / h.cells);
    memset(splitters, map == VALUED ? 0 : 0xff, (uint64_t)HAC_RADIX_SPLITTERS * t->key_bytes);
    for (uint64_t i = 0; i < 7 && map == SEARCHED; i++) {
        uint64_t wide = (i + 1) << 61, key = t->key_bytes == 8 ? wide : wide >> 32;
        memcpy(splitters + i * t->key_bytes, &key, t->key_bytes);
    }
}

static hac_status sample(hac_device *device, const radix_trial *t, hac_error *err)
{
    hac_task_result result = {0};
    hac_task task = task_of(t, 0);
    task.spans[0] = (hac_span){t->in, t->n * t->key_bytes};
    task.spans[1] = (hac_span){t->table, hac_radix_table_bytes(t->cut.buckets)};
    task.n_spans = 2;
    return hac_radix_run_sample(device, &task, &result, err);
}

/* base/radix_layout.h. */
static uint32_t mapped_bucket(const radix_trial *t, const hac_radix_header *h, uint64_t m)
{
    const uint16_t *cells = (const uint16_t *)(const void *)(t->table + hac_radix_cells_offset());
    const uint8_t *splitters = t->table + hac_radix_splitters_offset();
    if (h->levels == HAC_RADIX_REFINED)
        return cells[hac_radix_place(h, (const uint32_t *)(const void *)splitters, m)];
    uint32_t b = cells[hac_radix_cell(h, m)];
    for (uint32_t step = hac_radix_searches(h) ? UINT32_C(1) << (h->levels - 1) : 0; step != 0; step >>= 1)
        b += hac_radix_load(splitters, b + step - 1, t->key_bytes) < m ? step : 0;
    return b;
}

/* radix.count on the host, since programs that scatter an index have no such kernel. */
static void count_by_host(const radix_trial *t)
{
    hac_radix_order o = hac_radix_order_of(t->type, false, true);
    hac_radix_header h;
    uint64_t *counts = (uint64_t *)(void *)t->counts, row = hac_radix_row_items(t->cut.buckets);
    memcpy(&h, t->table, sizeof h);
    memset(counts, 0, hac_radix_counts_bytes(t->cut.chunks, t->cut.buckets));
    for (uint64_t i = 0; i < t->n; i++) {
        uint64_t m = hac_radix_map(&o, hac_radix_load(t->in, i, t->key_bytes));
        counts[i / t->cut.chunk_items * row + mapped_bucket(t, &h, m)]++;
    }
    if (h.levels == HAC_RADIX_VALUES)
        counts[0] |= HAC_RADIX_STRANGE; /* all keys but one are no values */
}

/* radix.count and radix.scatter, with the host's steps around them. */
static hac_status scatter(hac_device *device, const radix_trial *t, int map, hac_error *err)
{
    hac_task_result result = {0};
    hac_status status;
    hac_span in = {t->in, t->n * t->key_bytes}, table = {t->table, hac_radix_table_bytes(t->cut.buckets)},
             counts = {t->counts, hac_radix_counts_bytes(t->cut.chunks, t->cut.buckets)};
    hac_task count = task_of(t, t->cut.chunks), scan = task_of(t, 0), scatter = count;
    count.spans[0] = scatter.spans[0] = in;
    count.spans[1] = scan.spans[0] = scatter.spans[1] = table;
    count.spans[2] = scan.spans[1] = scatter.spans[2] = counts;
    scatter.spans[3] = (hac_span){t->out, t->n * t->key_bytes};
    scatter.spans[4] = (hac_span){t->index, t->n * 8};
    count.n_spans = 3;
    scan.n_spans = 2;
    scatter.n_spans = 4 + (t->index_bytes != 0);
    TRY(sample(device, t, err));
    force_map(t, (forced)map);
    if (t->index_bytes != 0)
        count_by_host(t);
    else
        TRY(hac_radix_run_count(device, &count, &result, err));
    TRY(hac_radix_run_scan(device, &scan, &result, err));
    return hac_radix_run_scatter(device, &scatter, &result, err);
}

static uint64_t *starts_of(const radix_trial *t)
{
    return (uint64_t *)(void *)(t->table + hac_radix_starts_offset());
}

/* What the checked part of the output, in its order, says about the next key. */
typedef struct known_seen {
    uint64_t next; /* minimum place in the input */
    uint64_t min;  /* minimum mapped key */
    uint64_t max, places;
    bool wrong;
} known_seen;

/* Without branches: a test visits all keys, and a first job waits for the test. */
static inline void see_bucket(const radix_trial *t, const hac_radix_order *o, uint64_t from, uint64_t to,
                              known_seen *s)
{
    for (uint64_t at = from; at < to; at++) {
        uint64_t m = hac_radix_load(t->out, at, o->key_bytes);
        uint64_t place = t->index_bytes != 0 ? hac_radix_load(t->index, at, t->index_bytes)
                                             : place_of(o->key_bytes, hac_radix_unmap(o, m));
        s->wrong |= (place < s->next) | (place >= t->n) | (m < s->min) |
                    (m != hac_radix_map(o, key_at(o->key_bytes, place)));
        s->next = place + 1;
        s->places += place;
        s->max = m > s->max ? m : s->max;
    }
}

/* Whether each bucket has its keys in input order: places in the input ascend, and keys are not below those
 * of earlier buckets. So no key occurs twice in a bucket; and as the places add up to those of all keys, none
 * is missing. */
static inline bool is_scattered_by(const radix_trial *t, const hac_radix_order *o)
{
    const uint64_t *starts = starts_of(t);
    known_seen s = {0};
    for (uint32_t b = 0; b < t->cut.buckets && !s.wrong; b++) {
        if (starts[b + 1] < starts[b] || starts[b + 1] > t->n)
            return false;
        s.next = 0;
        see_bucket(t, o, starts[b], starts[b + 1], &s);
        s.min = s.max;
    }
    return !s.wrong && starts[0] == 0 && starts[t->cut.buckets] == t->n && s.places == t->n * (t->n - 1) / 2;
}

/* Once for each width, as a constant for the compiler. */
static bool is_scattered(const radix_trial *t)
{
    hac_radix_order o = hac_radix_order_of(t->type, false, t->index_bytes != 0);
    if (t->key_bytes == 8) {
        o.key_bytes = 8;
        return is_scattered_by(t, &o);
    }
    o.key_bytes = 4;
    return is_scattered_by(t, &o);
}

/* EVEN: buckets of equal width. MAGNITUDES: one bucket for each bit length, so that the last one has half of
 * the keys. */
typedef enum width { EVEN, MAGNITUDES, WIDTHS } width;

static uint32_t bucket_of(const radix_trial *t, uint64_t m, width by)
{
    uint32_t bits = t->key_bytes * 8, length = m == 0 ? 0 : 64 - (uint32_t)__builtin_clzll(m);
    if (by == EVEN)
        return (uint32_t)((m >> (bits - 32)) * t->cut.buckets >> 32);
    return t->cut.buckets > bits ? length : length * t->cut.buckets / (bits + 1);
}

/* radix.scatter on the host. */
static void fill_buckets(const radix_trial *t, width by)
{
    hac_radix_order o = hac_radix_order_of(t->type, false, t->index_bytes != 0);
    uint64_t *starts = starts_of(t), *next = (uint64_t *)(void *)t->counts;
    memset(next, 0, t->cut.buckets * sizeof *next);
    for (uint64_t i = 0; i < t->n; i++)
        next[bucket_of(t, hac_radix_map(&o, hac_radix_load(t->in, i, t->key_bytes)), by)]++;
    starts[0] = 0;
    for (uint32_t b = 0; b < t->cut.buckets; b++) {
        starts[b + 1] = starts[b] + next[b];
        next[b] = starts[b];
    }
    for (uint64_t i = 0; i < t->n; i++) {
        uint64_t m = hac_radix_map(&o, hac_radix_load(t->in, i, t->key_bytes));
        uint64_t at = next[bucket_of(t, m, by)]++;
        memcpy(t->out + at * t->key_bytes, &m, t->key_bytes);
        memcpy(t->index + at * t->index_bytes, &i, t->index_bytes);
    }
}

static hac_status sort_leaves(hac_device *device, const radix_trial *t, int by, hac_error *err)
{
    hac_task_result result = {0};
    hac_task leaf = task_of(t, t->cut.buckets);
    hac_status status;
    leaf.spans[0] = (hac_span){t->table, hac_radix_table_bytes(t->cut.buckets)};
    leaf.spans[1] = (hac_span){t->out, t->n * t->key_bytes};
    leaf.spans[2] = (hac_span){t->index, t->n * 8};
    leaf.n_spans = 2 + (t->index_bytes != 0);
    TRY(sample(device, t, err));
    fill_buckets(t, (width)by);
    return hac_radix_run_leaf(device, &leaf, &result, err);
}

/* The program of radix.whole itself. How it works without enough memory is not tested. */
static hac_status sort_whole(hac_device *device, const radix_trial *t, int way, hac_error *err)
{
    hac_radix_sizes p = {.n = t->n, .key_bytes = t->key_bytes, .index_bytes = t->index_bytes};
    hac_task whole = task_of(t, 0);
    (void)way;
    whole.spans[0] = (hac_span){t->in, t->n * t->key_bytes};
    whole.spans[3] = (hac_span){t->out, t->n * t->key_bytes};
    whole.spans[4] = (hac_span){t->index, t->n * 8};
    whole.n_spans = 4 + (t->index_bytes != 0);
    return hac_radix_run_lsd(device, &whole, &p, err);
}

/* A program's part in a sort, tried in several ways, and the check of its answer. */
typedef struct known {
    hac_status (*run)(hac_device *device, const radix_trial *t, int way, hac_error *err);
    int ways;
    bool (*is_right)(const radix_trial *t);
} known;

static hac_status try_method(hac_device *device, const radix_trial *t, const known *k, int way,
                             hac_error *err)
{
    memset(t->out, 0, t->n * t->key_bytes);
    memset(t->index, 0, t->n * 8);
    hac_status status = k->run(device, t, way, err);
    if (status == HAC_OK && !k->is_right(t))
        return hac_fail(err, HAC_DEVICE, "%llu keys in %u buckets and chunks of %llu (%d) came out wrong",
                        (unsigned long long)t->n, t->cut.buckets, (unsigned long long)t->cut.chunk_items,
                        way);
    return status;
}

static hac_status try_cut(hac_device *device, radix_trial *t, const hac_radix_cut *cut, const known *k,
                          hac_error *err)
{
    t->cut = *cut;
    hac_status status = trial_init(t, err);
    for (int way = 0; status == HAC_OK && way < k->ways; way++)
        status = try_method(device, t, k, way, err);
    trial_free(t);
    t->in = t->out = t->index = t->table = t->counts = NULL;
    return status;
}

static hac_status known_answer(hac_device *device, hac_type type, uint32_t index_bytes, const known *k,
                               hac_error *err)
{
    const hac_device_facts *f = hac_device_get_facts(device);
    radix_trial t = {.type = type, .index_bytes = index_bytes, .key_bytes = (uint32_t)hac_type_size(type)};
    uint64_t max = f->max_allocation / 8;
    /* one full chunk and a partial one, leaves of normal size */
    hac_radix_cut cut = hac_radix_cut_of(UINT64_C(1) << 24, f->compute_units, f->max_loop_iterations);
    while (cut.chunk_items > 1024 && cut.chunk_items > max)
        cut.chunk_items /= 2;
    t.n = cut.chunk_items + cut.chunk_items / 2 + 17;
    cut.chunks = 2;
    uint64_t buckets = t.n / 16000 + 8;
    cut.buckets = (uint32_t)(buckets < cut.buckets ? buckets : cut.buckets);
    hac_status status = try_cut(device, &t, &cut, k, err);
    /* enough keys that the block style writes whole lines */
    if (status == HAC_OK && f->max_loop_iterations == 0) {
        cut.buckets = HAC_RADIX_MAX_BUCKETS;
        status = try_cut(device, &t, &cut, k, err);
    }
    /* one bucket: the largest leaf, and one that is too large */
    for (uint64_t n = HAC_RADIX_LEAF_ITEMS; status == HAC_OK && n <= HAC_RADIX_LEAF_ITEMS + 1; n++) {
        t.n = n;
        cut.buckets = 1;
        cut.chunks = (n + cut.chunk_items - 1) / cut.chunk_items;
        status = try_cut(device, &t, &cut, k, err);
    }
    return status;
}

/* Enough keys that each work-group of sort_radix_lsd.cl gets several tiles, then one tile; fewer if a window
 * holds fewer. */
static hac_status known_answer_of_whole(hac_device *device, hac_type type, uint32_t index_bytes,
                                        hac_error *err)
{
    static const known k = {sort_whole, 1, is_sorted};
    const hac_device_facts *f = hac_device_get_facts(device);
    const uint64_t sizes[] = {UINT64_C(50000) * f->compute_units + 17, 1000};
    hac_status status = HAC_OK;
    for (size_t i = 0; status == HAC_OK && i < 2; i++) {
        radix_trial t = {
            .type = type, .index_bytes = index_bytes, .key_bytes = (uint32_t)hac_type_size(type)};
        uint64_t max = f->max_allocation / t.key_bytes;
        t.n = sizes[i] < max ? sizes[i] : max;
        /* the sort has no index */
        const hac_radix_cut cut = {.chunk_items = 1024, .chunks = 1, .buckets = 1};
        status = try_cut(device, &t, &cut, &k, err);
    }
    return status;
}

#define DEFINE_KNOWN_ANSWERS(kind, index_bytes)                                                              \
    hac_status hac_radix_known_answer_scatter_##kind(hac_device *device, hac_type type, hac_error *err)      \
    {                                                                                                        \
        static const known k = {scatter, FORCED, is_scattered};                                              \
        return known_answer(device, type, index_bytes, &k, err);                                             \
    }                                                                                                        \
    hac_status hac_radix_known_answer_leaf_##kind(hac_device *device, hac_type type, hac_error *err)         \
    {                                                                                                        \
        static const known k = {sort_leaves, WIDTHS, is_sorted};                                             \
        return known_answer(device, type, index_bytes, &k, err);                                             \
    }

#define DEFINE_KNOWN_ANSWER_OF_WHOLE(kind, index_bytes)                                                      \
    hac_status hac_radix_known_answer_whole_##kind(hac_device *device, hac_type type, hac_error *err)        \
    {                                                                                                        \
        return known_answer_of_whole(device, type, index_bytes, err);                                        \
    }

DEFINE_KNOWN_ANSWERS(keys, 0)
DEFINE_KNOWN_ANSWERS(index32, 4)
DEFINE_KNOWN_ANSWERS(index64, 8)
DEFINE_KNOWN_ANSWER_OF_WHOLE(keys, 0)
DEFINE_KNOWN_ANSWER_OF_WHOLE(index32, 4)
