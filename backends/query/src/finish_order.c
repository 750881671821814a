/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "finish_internal.h"
#include "query/layout.h"
#include "query/pool.h"

/* Fewer rows are not worth a thread. */
#define SEGMENT_MIN 16384u

/* A row to be ordered: `first` rises with the first item to order by, as far as 64 bits tell. */
typedef struct entry {
    uint64_t first, at;
} entry;

typedef struct sorting {
    const hac_query *query;
    const hac_rows_reader *rows;
    const uint64_t *starts; /* of the blocks: how many rows come before */
    entry *entries, *merged;
    uint64_t n, segment; /* rows, of a segment */
    uint64_t keep, room; /* that a run keeps at most; entries that each segment has room for */
    uint64_t width;      /* segments of a run that is being merged */
} sorting;

/* ---- comparing ---- */

static uint64_t order_word(hac_repr repr, const uint64_t words[2])
{
    const uint64_t sign = UINT64_C(1) << 63;
    double f64;
    float f32;
    uint64_t head = 0;
    switch (repr) {
    case HAC_REPR_BOOL:
    case HAC_REPR_U64:
        return words[0];
    case HAC_REPR_F32:
        memcpy(&f32, words, sizeof f32);
        return (uint64_t)hac_order_f64((double)f32 + 0.0) ^ sign;
    case HAC_REPR_F64:
        memcpy(&f64, words, sizeof f64);
        return (uint64_t)hac_order_f64(f64 + 0.0) ^ sign;
    case HAC_REPR_I128:
        return words[1] ^ sign;
    case HAC_REPR_STRING:
        memcpy(&head, (const void *)(uintptr_t)words[0], words[1] < 8 ? words[1] : 8);
        return __builtin_bswap64(head);
    default:
        return words[0] ^ sign;
    }
}

/* -1, 0, 1 of two values that are not null. */
static int compare_values(hac_repr repr, const uint64_t a[2], const uint64_t b[2])
{
    if (repr == HAC_REPR_STRING) {
        int order =
            memcmp((const void *)(uintptr_t)a[0], (const void *)(uintptr_t)b[0], a[1] < b[1] ? a[1] : b[1]);
        return order != 0 ? order : (a[1] > b[1]) - (a[1] < b[1]);
    }
    uint64_t x = order_word(repr, a), y = order_word(repr, b);
    if (x == y && repr == HAC_REPR_I128)
        return (a[0] > b[0]) - (a[0] < b[0]);
    return (x > y) - (x < y);
}

static int compare_item(const sorting *s, const hac_order_item *item, uint64_t a, uint64_t b)
{
    uint64_t x[2], y[2];
    uint8_t nx = hac_rows_value(s->rows, a / HAC_BATCH_ROWS, a % HAC_BATCH_ROWS, item->column, x);
    uint8_t ny = hac_rows_value(s->rows, b / HAC_BATCH_ROWS, b % HAC_BATCH_ROWS, item->column, y);
    if (nx != HAC_ROW_OK || ny != HAC_ROW_OK)
        return (nx != HAC_ROW_OK) - (ny != HAC_ROW_OK);
    int order = compare_values(s->rows->repr[item->column], x, y);
    return item->descending ? -order : order;
}

static int compare(const sorting *s, const entry *a, const entry *b)
{
    int order = (a->first > b->first) - (a->first < b->first);
    for (size_t i = 0; order == 0 && i < s->query->n_order; i++)
        order = compare_item(s, &s->query->order[i], a->at, b->at);
    return order != 0 ? order : (a->at > b->at) - (a->at < b->at);
}

static uint64_t first_word(const sorting *s, uint64_t at)
{
    const hac_order_item *item = &s->query->order[0];
    uint64_t words[2];
    if (hac_rows_value(s->rows, at / HAC_BATCH_ROWS, at % HAC_BATCH_ROWS, item->column, words) != HAC_ROW_OK)
        return UINT64_MAX; /* last in both directions; what ties with it is compared in full */
    uint64_t word = order_word(s->rows->repr[item->column], words);
    return item->descending ? ~word : word;
}

/* ---- segments ---- */

#define FEW 12 /* that are sorted by insertion */

static void sort_few(const sorting *s, entry *entries, uint64_t n)
{
    for (uint64_t i = 1; i < n; i++) {
        entry moved = entries[i];
        uint64_t j = i;
        for (; j > 0 && compare(s, &entries[j - 1], &moved) > 0; j--)
            entries[j] = entries[j - 1];
        entries[j] = moved;
    }
}

/* Not qsort: rows that are changed meanwhile compare as they like, which it does not stand in every glibc,
 * and it takes memory of its own. `room` is for half of the entries. */
static void sort_entries(const sorting *s, entry *entries, uint64_t n, entry *room)
{
    uint64_t half = n / 2, i = 0, j = half;
    if (n <= FEW) {
        sort_few(s, entries, n);
        return;
    }
    sort_entries(s, entries, half, room);
    sort_entries(s, entries + half, n - half, room);
    if (compare(s, &entries[half - 1], &entries[half]) < 0)
        return;
    memcpy(room, entries, half * sizeof *entries);
    for (uint64_t k = 0; i < half; k++)
        entries[k] = j == n || compare(s, &room[i], &entries[j]) < 0 ? room[i++] : entries[j++];
}

/* Of a heap, the largest on top: puts entries[0] where it belongs. */
static void sift(const sorting *s, entry *heap, uint64_t n)
{
    entry top = heap[0];
    uint64_t i = 0;
    for (uint64_t child; (child = 2 * i + 1) < n; i = child) {
        if (child + 1 < n && compare(s, &heap[child + 1], &heap[child]) > 0)
            child++;
        if (compare(s, &heap[child], &top) <= 0)
            break;
        heap[i] = heap[child];
    }
    heap[i] = top;
}

/* A full, descending array is a heap. */
static void make_heap(entry *sorted, uint64_t n)
{
    for (uint64_t i = 0; i < n / 2; i++) {
        entry swap = sorted[i];
        sorted[i] = sorted[n - 1 - i];
        sorted[n - 1 - i] = swap;
    }
}

static uint64_t block_of(const sorting *s, uint64_t row)
{
    uint64_t low = 0, high = s->rows->n_blocks;
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        if (s->starts[middle] <= row)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Of the segment's rows the least that there is room for, in their order. */
static hac_status sort_segment(void *context, uint64_t item, unsigned worker, hac_error *err)
{
    sorting *s = context;
    uint64_t first = item * s->segment, end = s->n - first < s->segment ? s->n : first + s->segment;
    uint64_t kept = end - first < s->room ? end - first : s->room, block = block_of(s, first);
    entry *entries = s->entries + item * s->room, *room = s->merged + item * s->room;
    (void)worker;
    (void)err;
    for (uint64_t i = first; i < end; i++) {
        while (i - s->starts[block] >= s->rows->blocks[block].rows)
            block++;
        uint64_t at = block * HAC_BATCH_ROWS + (i - s->starts[block]);
        entry next = {.first = first_word(s, at), .at = at};
        if (i - first < kept) {
            entries[i - first] = next;
            continue;
        }
        if (i - first == kept) {
            sort_entries(s, entries, kept, room);
            make_heap(entries, kept);
        }
        if (compare(s, &next, &entries[0]) < 0) {
            entries[0] = next;
            sift(s, entries, kept);
        }
    }
    sort_entries(s, entries, kept, room);
    return HAC_OK;
}

/* ---- merging ---- */

/* Rows that a run of `width` segments from segment `first` on has. */
static uint64_t run_rows(const sorting *s, uint64_t first, uint64_t width)
{
    uint64_t from = first * s->segment, to = (first + width) * s->segment;
    from = from < s->n ? from : s->n;
    to = to < s->n ? to : s->n;
    return to - from < s->keep ? to - from : s->keep;
}

static hac_status merge_runs(void *context, uint64_t item, unsigned worker, hac_error *err)
{
    sorting *s = context;
    uint64_t left = item * 2 * s->width, right = left + s->width;
    uint64_t n_a = run_rows(s, left, s->width), n_b = run_rows(s, right, s->width);
    uint64_t n = run_rows(s, left, 2 * s->width), i = 0, j = 0;
    const entry *a = s->entries + left * s->room, *b = s->entries + right * s->room;
    entry *to = s->merged + left * s->room;
    (void)worker;
    (void)err;
    for (uint64_t k = 0; k < n; k++)
        to[k] = j == n_b || (i < n_a && compare(s, &a[i], &b[j]) < 0) ? a[i++] : b[j++];
    return HAC_OK;
}

static hac_status sort_all(sorting *s, uint64_t segments, hac_error *err)
{
    hac_status status = hac_pool_run(segments, sort_segment, s, err);
    for (s->width = 1; status == HAC_OK && s->width < segments; s->width *= 2) {
        status = hac_pool_run((segments + 2 * s->width - 1) / (2 * s->width), merge_runs, s, err);
        entry *swap = s->entries;
        s->entries = s->merged;
        s->merged = swap;
    }
    return status;
}

static uint64_t *starts_of(const hac_rows_reader *rows)
{
    uint64_t *starts = malloc((rows->n_blocks + 1) * sizeof *starts), sum = 0;
    for (size_t b = 0; starts != NULL && b < rows->n_blocks; b++) {
        starts[b] = sum;
        sum += rows->blocks[b].rows;
    }
    return starts;
}

/* As they are. */
static void number_rows(const hac_rows_reader *rows, uint64_t n, uint64_t *order)
{
    uint64_t k = 0;
    for (size_t b = 0; b < rows->n_blocks; b++)
        for (uint32_t i = 0; i < rows->blocks[b].rows && k < n; i++)
            order[k++] = b * HAC_BATCH_ROWS + i;
}

/* Threads take a segment of the rows each, and of these the first `n` are enough. */
static hac_status order_rows(const hac_query *query, const hac_rows_reader *rows, uint64_t *order, uint64_t n,
                             hac_error *err)
{
    sorting s = {.query = query, .rows = rows, .n = rows->rows, .keep = n};
    uint64_t segments = hac_pool_threads(), most = s.n / SEGMENT_MIN + 1;
    segments = segments < most ? segments : most;
    s.segment = (s.n + segments - 1) / segments;
    s.room = s.segment < n ? s.segment : n;
    hac_autofree uint64_t *starts = starts_of(rows);
    hac_autofree entry *entries = malloc(segments * s.room * sizeof *entries);
    hac_autofree entry *merged = malloc(segments * s.room * sizeof *merged);
    if (starts == NULL || entries == NULL || merged == NULL)
        return hac_fail_no_memory(err);
    s.starts = starts;
    s.entries = entries;
    s.merged = merged;
    hac_status status = sort_all(&s, segments, err);
    for (uint64_t i = 0; status == HAC_OK && i < n; i++)
        order[i] = s.entries[i].at;
    return status;
}

hac_status hac_finish_order(const hac_query *query, const hac_rows_reader *rows, uint64_t **ret,
                            uint64_t *ret_n, hac_error *err)
{
    uint64_t n = rows->rows < query->limit ? rows->rows : query->limit;
    hac_autofree uint64_t *order = malloc((n + 1) * sizeof *order);
    if (order == NULL)
        return hac_fail_no_memory(err);
    hac_status status = HAC_OK;
    if (query->n_order == 0)
        number_rows(rows, n, order);
    else if (n != 0)
        status = order_rows(query, rows, order, n, err);
    if (status != HAC_OK)
        return status;
    *ret = hac_steal_ptr(order);
    *ret_n = n;
    return HAC_OK;
}

hac_status hac_finish_rows(const hac_query *query, const hac_rows_reader *rows, uint8_t *result,
                           uint64_t room, hac_finished *ret, hac_error *err)
{
    hac_autofree uint64_t *order = NULL;
    hac_ordered_rows ordered = {.query = query, .rows = rows};
    uint64_t bytes = 0;
    hac_status status = hac_finish_order(query, rows, &order, &ordered.n, err);
    if (status != HAC_OK)
        return status;
    ordered.order = order;
    if (query->output == HAC_OUTPUT_TABLE)
        status = hac_finish_table(&ordered, result, room, &bytes, err);
    else if (query->output == HAC_OUTPUT_PARQUET)
        status = hac_finish_parquet(&ordered, result, room, &bytes, err);
    else
        status = hac_finish_text(&ordered, result, room, &bytes, err);
    if (status == HAC_OK)
        *ret = (hac_finished){.rows = ordered.n, .bytes = bytes};
    return status;
}
