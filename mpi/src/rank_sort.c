/* SPDX-License-Identifier: Apache-2.0 */
#include "rank_sort.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/type.h"

#define SAMPLES     256  /* of each rank, at equal distances in its sorted part */
#define PIECE_ITEMS 8192 /* items that the sink takes together */
#define WIDTH_MAX   8    /* bytes of a key or a number */

/* A key as an unsigned integer in the order of the job, and its place in the sorted parts of all ranks in
 * a row. */
typedef struct rank_sample {
    uint64_t key, place;
} rank_sample;

typedef struct rank_sorting {
    hac_mpi *mpi;
    hac_sort_options options;
    size_t width; /* of a key */
    hac_key_order order;
    uint64_t infinity;   /* mapped; floats above it are NaN, which are all equal */
    uint64_t items;      /* in all */
    uint64_t first, own; /* of this rank's part */
    hac_buffer *keys, *places;
    hac_job *job;
    const uint8_t *sorted;     /* the keys of the part, in order */
    const uint64_t *sorted_at; /* with argsort: their numbers in the input */
    uint8_t *received;         /* the keys that this rank merges, rank by rank */
    uint64_t *received_at;     /* with argsort */
    uint64_t before;           /* items of the result before those of this rank */
    /* Tables of ranks or ranks + 1 numbers, allocated before ranks wait for each other. */
    uint64_t *cuts;    /* the items [cuts[r], cuts[r + 1]) of the sorted part go to rank r */
    uint64_t *runs;    /* run r is the received items [runs[r], runs[r + 1]) */
    uint64_t *numbers; /* for exchanges: bytes or counts */
    uint64_t *offsets, *from;
    uint64_t *moved; /* ranks x ranks: items from each rank to each */
    rank_sample *samples;
} rank_sorting;

static void sorting_clear(rank_sorting *s)
{
    hac_job_free(s->job);
    hac_buffer_free(s->keys);
    hac_buffer_free(s->places);
    free(s->received);
    free(s->received_at);
    free(s->cuts);
    free(s->runs);
    free(s->numbers);
    free(s->offsets);
    free(s->from);
    free(s->moved);
    free(s->samples);
}

static unsigned ranks_of(const rank_sorting *s)
{
    return hac_mpi_size(s->mpi);
}

static unsigned rank_of(const rank_sorting *s)
{
    return hac_mpi_rank(s->mpi);
}

static hac_status allocate_tables(rank_sorting *s, hac_error *err)
{
    size_t n = ranks_of(s);
    s->cuts = calloc(n + 1, sizeof *s->cuts);
    s->runs = calloc(n + 1, sizeof *s->runs);
    s->numbers = calloc(n + 1, sizeof *s->numbers);
    s->offsets = calloc(n + 1, sizeof *s->offsets);
    s->from = calloc(n + 1, sizeof *s->from);
    s->moved = calloc(n * n, sizeof *s->moved);
    s->samples = calloc(n * SAMPLES, sizeof *s->samples);
    bool all = s->cuts != NULL && s->runs != NULL && s->numbers != NULL && s->offsets != NULL &&
               s->from != NULL && s->moved != NULL && s->samples != NULL;
    return all ? HAC_OK : hac_fail_no_memory(err);
}

static bool has_runs(const rank_sorting *s, uint64_t items)
{
    return items > 0 && s->options.argsort;
}

/* ---- keys ---- */

static uint64_t mapped(const rank_sorting *s, const uint8_t *at)
{
    uint64_t wide;
    uint32_t narrow;
    if (s->width == sizeof wide)
        return hac_key_map64(s->order, *(uint64_t *)memcpy(&wide, at, sizeof wide));
    return hac_key_map32(s->order, *(uint32_t *)memcpy(&narrow, at, sizeof narrow));
}

static uint64_t key_at(const rank_sorting *s, const uint8_t *keys, uint64_t i)
{
    uint64_t key = mapped(s, keys + i * s->width);
    key = key > s->infinity ? UINT64_MAX : key;
    return s->options.descending ? ~key : key;
}

static void set_order(rank_sorting *s)
{
    const double wide = __builtin_inf();
    const float narrow = __builtin_inff();
    s->width = hac_type_size(s->options.type);
    s->order = hac_key_order_of(s->options.type, false);
    s->infinity = !hac_type_is_float(s->options.type) ? UINT64_MAX
                  : s->width == sizeof wide           ? mapped(s, (const uint8_t *)&wide)
                                                      : mapped(s, (const uint8_t *)&narrow);
}

static bool is_less(uint64_t key, uint64_t place, const rank_sample *than)
{
    return key != than->key ? key < than->key : place < than->place;
}

static int compare(const void *a, const void *b)
{
    const rank_sample *x = a, *y = b;
    return is_less(x->key, x->place, y) ? -1 : is_less(y->key, y->place, x) ? 1 : 0;
}

/* ---- this rank's part ---- */

static hac_status read_keys(const hac_mpi_keys *keys, uint8_t *to, uint64_t bytes, hac_error *err)
{
    uint64_t done = 0;
    int errnum = hac_pread_all(keys->fd, to, bytes, keys->offset, &done, NULL);
    if (errnum != 0)
        return hac_fail_errno(err, HAC_FAILED, errnum, "%s", keys->name);
    if (done < bytes)
        return hac_fail(err, HAC_FAILED, "%s: is shorter than it was", keys->name);
    return HAC_OK;
}

/* The keys in a buffer, with their numbers in the input. */
static hac_status load_part(rank_sorting *s, const hac_mpi_keys *keys, hac_client *client, hac_error *err)
{
    uint64_t bytes = s->own * s->width;
    hac_status status = hac_buffer_alloc(client, bytes, &s->keys, err);
    if (status == HAC_OK)
        status = hac_buffer_alloc(client, s->own * sizeof(uint64_t), &s->places, err);
    if (status == HAC_OK && keys->memory == NULL)
        status = read_keys(keys, hac_buffer_data(s->keys), bytes, err);
    else if (status == HAC_OK)
        memcpy(hac_buffer_data(s->keys), keys->memory, bytes);
    for (uint64_t i = 0; status == HAC_OK && i < s->own; i++)
        ((uint64_t *)hac_buffer_data(s->places))[i] = s->first + i;
    return status;
}

static hac_status sort_part(rank_sorting *s, const hac_mpi_keys *keys, hac_client *client, hac_error *err)
{
    hac_sort_options options = s->options;
    hac_status status;
    options.argsort = 0;
    if (s->own == 0)
        return HAC_OK;
    if (s->options.argsort) {
        status = load_part(s, keys, client, err);
        if (status == HAC_OK)
            status =
                hac_sort_pairs(client, s->keys, s->places, sizeof(uint64_t), s->own, &options, &s->job, err);
    } else if (keys->memory != NULL) {
        status = hac_sort_memory(client, keys->memory, s->own, &options, &s->job, err);
    } else {
        status = hac_sort_fd(client, keys->fd, keys->offset, s->own, keys->name, &options, &s->job, err);
    }
    if (status == HAC_OK)
        status = hac_job_wait(s->job, -1, err);
    if (status != HAC_OK)
        return status;
    s->sorted = hac_job_data(s->job);
    s->sorted_at = has_runs(s, s->own) ? hac_job_payload(s->job) : NULL;
    return HAC_OK;
}

/* ---- where the ranks' parts of the result begin ---- */

/* The number of items of this rank's sorted part that are less than the sample. */
static uint64_t count_less(const rank_sorting *s, const rank_sample *than)
{
    uint64_t low = 0, high = s->own;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (is_less(key_at(s, s->sorted, middle), s->first + middle, than))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static hac_status share_samples(rank_sorting *s, hac_error *err)
{
    unsigned n = ranks_of(s), own = rank_of(s);
    uint64_t *counts = s->numbers;
    counts[own] = s->own < SAMPLES ? s->own : SAMPLES;
    for (uint64_t i = 0; i < counts[own]; i++) {
        uint64_t at = (uint64_t)((unsigned __int128)s->own * (2 * i + 1) / (2 * counts[own]));
        s->samples[(size_t)own * SAMPLES + i] = (rank_sample){key_at(s, s->sorted, at), s->first + at};
    }
    for (unsigned r = 0; r <= n; r++)
        s->offsets[r] = (uint64_t)r * SAMPLES * sizeof *s->samples;
    hac_status status = hac_mpi_share(s->mpi, s->samples, s->offsets, err);
    return status == HAC_OK ? hac_mpi_share_numbers(s->mpi, counts, err) : status;
}

/* Finds which items of this rank's part go to which rank. */
static hac_status find_cuts(rank_sorting *s, hac_error *err)
{
    unsigned n = ranks_of(s);
    uint64_t all = 0;
    hac_status status = share_samples(s, err);
    if (status != HAC_OK)
        return status;
    for (unsigned r = 0; r < n; all += s->numbers[r++])
        memmove(s->samples + all, s->samples + (size_t)r * SAMPLES, s->numbers[r] * sizeof *s->samples);
    qsort(s->samples, all, sizeof *s->samples, compare);
    for (unsigned r = 1; r < n; r++)
        s->cuts[r] = all > 0 ? count_less(s, &s->samples[all * r / n]) : 0;
    s->cuts[n] = s->own;
    return HAC_OK;
}

/* ---- exchange ---- */

/* The width of an item of the result. */
static size_t result_width(const rank_sorting *s)
{
    return !s->options.argsort            ? s->width
           : s->items < UINT64_C(1) << 32 ? sizeof(uint32_t)
                                          : sizeof(uint64_t);
}

static hac_status exchange_items(rank_sorting *s, const hac_mpi_sink *sink, hac_error *err)
{
    unsigned n = ranks_of(s);
    uint64_t mine = s->runs[n];
    s->received = malloc(mine * s->width + 1);
    s->received_at = malloc((has_runs(s, mine) ? mine * sizeof(uint64_t) : 0) + 1);
    hac_status status = s->received == NULL || s->received_at == NULL ? hac_fail_no_memory(err) : HAC_OK;
    if (status == HAC_OK)
        status = sink->begin(sink->context, s->before, mine, result_width(s), err);
    status = hac_mpi_agree(s->mpi, status, err);
    for (int places = 0; places <= (s->options.argsort ? 1 : 0) && status == HAC_OK; places++) {
        uint64_t size = places ? sizeof(uint64_t) : s->width;
        for (unsigned r = 0; r <= n; r++) {
            s->from[r] = s->cuts[r] * size;
            s->offsets[r] = s->runs[r] * size;
        }
        status = hac_mpi_exchange(s->mpi, places ? (const void *)s->sorted_at : s->sorted, s->from,
                                  places ? (void *)s->received_at : s->received, s->offsets, err);
    }
    return status;
}

/* Exchanges the numbers of items between all ranks, then the items. */
static hac_status exchange(rank_sorting *s, const hac_mpi_sink *sink, hac_error *err)
{
    unsigned n = ranks_of(s);
    for (unsigned r = 0; r <= n; r++)
        s->offsets[r] = (uint64_t)r * n * sizeof *s->moved;
    for (unsigned r = 0; r < n; r++)
        s->moved[(size_t)rank_of(s) * n + r] = s->cuts[r + 1] - s->cuts[r];
    hac_status status = hac_mpi_share(s->mpi, s->moved, s->offsets, err);
    for (unsigned r = 0; r < n; r++)
        for (unsigned to = 0; to < rank_of(s); to++)
            s->before += s->moved[(size_t)r * n + to];
    for (unsigned r = 0; r < n; r++)
        s->runs[r + 1] = s->runs[r] + s->moved[(size_t)r * n + rank_of(s)];
    return status == HAC_OK ? exchange_items(s, sink, err) : status;
}

/* ---- merge ---- */

/* A heap of the next item of each run. The smallest item is on top; of equal items that of the lower rank. */
typedef struct heap {
    struct {
        uint64_t key, at, end;
        unsigned run;
    } * tops;
    unsigned n;
} heap;

static bool goes_before(const heap *h, unsigned a, unsigned b)
{
    return h->tops[a].key != h->tops[b].key ? h->tops[a].key < h->tops[b].key
                                            : h->tops[a].run < h->tops[b].run;
}

static void sink(heap *h, unsigned i)
{
    for (;;) {
        unsigned min = i;
        for (unsigned child = 2 * i + 1; child <= 2 * i + 2 && child < h->n; child++)
            if (goes_before(h, child, min))
                min = child;
        if (min == i)
            return;
        __typeof__(*h->tops) moved = h->tops[i];
        h->tops[i] = h->tops[min];
        h->tops[min] = moved;
        i = min;
    }
}

static void fill(const rank_sorting *s, heap *h)
{
    for (unsigned r = 0; r < ranks_of(s); r++) {
        if (s->runs[r] == s->runs[r + 1])
            continue;
        h->tops[h->n].run = r;
        h->tops[h->n].at = s->runs[r];
        h->tops[h->n].end = s->runs[r + 1];
        h->tops[h->n++].key = key_at(s, s->received, s->runs[r]);
    }
    for (unsigned i = h->n; i-- > 0;)
        sink(h, i);
}

/* The index in `received` of the next item. */
static uint64_t take(const rank_sorting *s, heap *h)
{
    uint64_t at = h->tops[0].at++;
    if (h->tops[0].at < h->tops[0].end)
        h->tops[0].key = key_at(s, s->received, h->tops[0].at);
    else
        h->tops[0] = h->tops[--h->n];
    sink(h, 0);
    return at;
}

static void put(const rank_sorting *s, uint8_t *to, size_t width, uint64_t at)
{
    if (s->options.argsort)
        memcpy(to, &s->received_at[at], width); /* little-endian, like all stored values */
    else
        memcpy(to, s->received + at * s->width, width);
}

static hac_status merge(const rank_sorting *s, const hac_mpi_sink *sink, hac_error *err)
{
    size_t width = result_width(s);
    uint64_t mine = s->runs[ranks_of(s)];
    hac_autofree uint8_t *piece = malloc((size_t)PIECE_ITEMS * WIDTH_MAX);
    heap h = {.tops = calloc(ranks_of(s), sizeof *h.tops)};
    hac_status status = piece == NULL || h.tops == NULL ? hac_fail_no_memory(err) : HAC_OK;
    if (status == HAC_OK)
        fill(s, &h);
    for (uint64_t done = 0; done < mine && status == HAC_OK;) {
        uint64_t n = mine - done < PIECE_ITEMS ? mine - done : PIECE_ITEMS;
        for (uint64_t i = 0; i < n; i++)
            put(s, piece + i * width, width, take(s, &h));
        status = sink->take(sink->context, piece, n, err);
        done += n;
    }
    free(h.tops);
    return status;
}

/* ---- all of it ---- */

/* The parts of all ranks in a row; ranks that were called with other options would wait for each other for
 * ever, or take bytes for other keys. */
static hac_status place_part(rank_sorting *s, uint64_t items, hac_error *err)
{
    unsigned n = ranks_of(s), own = rank_of(s);
    uint64_t what = (uint64_t)s->options.type << 2 | (s->options.argsort != 0 ? 2 : 0) |
                    (s->options.descending != 0 ? 1 : 0);
    s->numbers[own] = what;
    hac_status status = hac_mpi_share_numbers(s->mpi, s->numbers, err);
    for (unsigned r = 0; r < n && status == HAC_OK; r++)
        if (s->numbers[r] != s->numbers[0])
            return hac_fail(err, HAC_INVALID, "rank %u: its type or order is not that of rank 0", r);
    s->numbers[own] = s->own = items;
    if (status == HAC_OK)
        status = hac_mpi_share_numbers(s->mpi, s->numbers, err);
    for (unsigned r = 0; r < n; r++) {
        s->first += r < own ? s->numbers[r] : 0;
        if (__builtin_add_overflow(s->items, s->numbers[r], &s->items))
            return hac_fail(err, HAC_INVALID, "there are more items than a number can count");
    }
    return status;
}

hac_status hac_mpi_sort_keys(hac_mpi *mpi, hac_client *client, const hac_mpi_keys *keys,
                             const hac_sort_options *options, const hac_mpi_sink *sink, hac_status status,
                             hac_error *err)
{
    hac_cleanup(sorting_clear) rank_sorting s = {.mpi = mpi};
    if (status == HAC_OK)
        status = allocate_tables(&s, err);
    status = hac_mpi_agree(mpi, status, err);
    if (status != HAC_OK)
        return status;
    s.options = *options;
    set_order(&s);
    status = place_part(&s, keys->items, err);
    if (status != HAC_OK)
        return status;
    status = hac_mpi_agree(mpi, sort_part(&s, keys, client, err), err);
    if (status == HAC_OK)
        status = find_cuts(&s, err);
    if (status == HAC_OK)
        status = exchange(&s, sink, err);
    return status == HAC_OK ? hac_mpi_agree(mpi, merge(&s, sink, err), err) : status;
}
