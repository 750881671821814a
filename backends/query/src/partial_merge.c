/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Merging a partition of a partial. Another process wrote it, and may still be writing: what is checked is a
 * copy, and the copy is what is used.
 */
#include <stdlib.h>

#include "base/cleanup.h"
#include "group_internal.h"
#include "plain.h"
#include "plain_slots.h"
#include "string_words.h"
#include "widen.h"

/* Copies of so many bytes of records stay in a core's cache. */
#define COPY_BYTES (UINT64_C(1) << 18)

typedef struct reading {
    hac_group_table *t;
    const uint8_t *partial;
    hac_partial_header h;
    uint32_t partition;
    const uint8_t *strings;
    uint64_t budget; /* bytes that records may point to: no more than there are, however often they do it */
} reading;

static hac_status damaged(const reading *r, const char *what, hac_error *err)
{
    return hac_fail(err, HAC_INVALID, "the partial of chunk %llu is damaged: %s",
                    (unsigned long long)r->h.chunk, what);
}

/* From a place in the partial to an address. */
static bool resolve_string(reading *r, uint64_t words[2])
{
    uint32_t n = (uint32_t)words[0];
    if (words[0] == HAC_STRING_NONE || n <= HAC_STRING_SHORT)
        return true;
    if (n > r->budget || words[1] > r->h.strings_bytes || n > r->h.strings_bytes - words[1])
        return false;
    r->budget -= n;
    words[1] = (uint64_t)(uintptr_t)(r->strings + words[1]);
    return true;
}

static bool resolve_key(reading *r, uint64_t words[2])
{
    return words[0] != HAC_STRING_NONE && resolve_string(r, words);
}

static bool resolve_record(reading *r, uint8_t *record)
{
    const hac_group_layout *l = &r->t->layout;
    bool sound = true;
    for (size_t k = 0; l->strings && k < l->n_keys; k++)
        if (l->keys[k].repr == HAC_REPR_STRING)
            sound = sound && resolve_key(r, (uint64_t *)(void *)(record + l->keys[k].offset));
    for (size_t i = 0; i < l->n_accumulators; i++) {
        const hac_accumulator *a = &l->accumulators[i];
        uint64_t *words = (uint64_t *)(void *)(record + a->offset);
        if (a->repr != HAC_REPR_STRING || a->kind == HAC_ACCUMULATOR_VALUES)
            continue;
        if (a->kind == HAC_ACCUMULATOR_MIN || a->kind == HAC_ACCUMULATOR_MAX)
            sound = sound && resolve_string(r, words);
        else
            sound = sound && (words[0] == 0 || resolve_key(r, words + 1));
    }
    return sound;
}

static hac_status merge_set(reading *r, const hac_accumulator *a, uint64_t group, const uint8_t *record,
                            hac_error *err)
{
    uint64_t place[2], entry[3];
    hac_status status = HAC_OK;
    memcpy(place, record + a->offset, sizeof place);
    if (place[0] > r->h.strings_bytes || place[1] > (r->h.strings_bytes - place[0]) / sizeof entry ||
        place[1] * sizeof entry > r->budget)
        return damaged(r, "a group's values lie outside of it", err);
    r->budget -= place[1] * sizeof entry;
    for (uint64_t i = 0; status == HAC_OK && i < place[1]; i++) {
        memcpy(entry, r->strings + place[0] + i * sizeof entry, sizeof entry);
        if (a->repr == HAC_REPR_STRING && !resolve_key(r, entry))
            return damaged(r, "a value lies outside of it", err);
        status = hac_value_set_add(r->t, a, group, entry, entry[2], err);
    }
    return status;
}

static hac_status merge_sets(reading *r, uint64_t group, const uint8_t *record, hac_error *err)
{
    const hac_group_layout *l = &r->t->layout;
    hac_status status = HAC_OK;
    for (size_t i = 0; status == HAC_OK && i < l->n_accumulators; i++)
        if (l->accumulators[i].kind == HAC_ACCUMULATOR_VALUES ||
            l->accumulators[i].kind == HAC_ACCUMULATOR_QUANTILE)
            status = merge_set(r, &l->accumulators[i], group, record, err);
    return status;
}

static hac_status check_hashes(const reading *r, size_t rows, hac_error *err)
{
    uint32_t differ = 0;
    for (size_t i = 0; i < rows; i++)
        differ |= hac_hash_partition(r->t->hash[i], r->t->options.partitions) ^ r->partition;
    return differ == 0 ? HAC_OK : damaged(r, "a group is in a partition that it does not belong to", err);
}

/* Records of the usual layout, which the table may have slots for; *ret_done is false where not. */
static hac_status merge_plain(reading *r, const uint8_t *records, size_t n, bool *ret_done, hac_error *err)
{
    hac_status status = hac_plain_slots_ready(r->t, n, ret_done, err);
    if (status != HAC_OK || !*ret_done)
        return status;
    return hac_plain_merge(r->t, records, n, r->partition, err);
}

/* `n` records that were copied to `records`; the first is number `first` of the partial. */
static hac_status merge_records(reading *r, uint8_t *records, uint64_t first, size_t n, hac_error *err)
{
    hac_group_table *t = r->t;
    uint64_t stride = t->layout.stride, null_row = r->h.null_group - first;
    bool null = r->h.null_group >= first && null_row < n, done = false;
    hac_status status = HAC_OK;
    if (t->layout.plain != HAC_PLAIN_NONE && !null)
        status = merge_plain(r, records, n, &done, err);
    if (status != HAC_OK || done)
        return status;
    for (size_t i = 0; i < n; i++)
        if (!resolve_record(r, records + i * stride))
            return damaged(r, "a string lies outside of it", err);
    hac_group_keys_load_records(t, records, n, null ? null_row : SIZE_MAX);
    hac_group_keys_hash(t, n);
    status = check_hashes(r, n, err);
    if (status == HAC_OK)
        status = hac_group_find(t, n, err);
    for (size_t i = 0; status == HAC_OK && i < n; i++) {
        uint64_t group = t->at[i] / stride;
        status = hac_group_merge_record(t, hac_group_record(t, group), records + i * stride, err);
        if (status == HAC_OK && t->layout.n_sets != 0)
            status = merge_sets(r, group, records + i * stride, err);
    }
    return status;
}

/* Where the partition begins and ends; the partial may have been written with finer ones, which lie side by
 * side. */
static void read_bounds(const reading *r, const uint8_t *starts, uint32_t ret[2])
{
    size_t finer = r->h.partitions / r->t->options.partitions, first = r->partition * finer;
    memcpy(&ret[0], starts + first * sizeof *ret, sizeof *ret);
    memcpy(&ret[1], starts + (first + finer) * sizeof *ret, sizeof *ret);
}

static hac_status merge_groups(reading *r, hac_error *err)
{
    uint64_t stride = r->t->layout.stride, batch = COPY_BYTES / stride;
    batch = batch == 0 ? 1 : (batch > HAC_BATCH_ROWS ? HAC_BATCH_ROWS : batch);
    uint32_t bounds[2];
    read_bounds(r, r->partial + r->h.starts_offset, bounds);
    if (bounds[0] > bounds[1] || bounds[1] > r->h.groups)
        return damaged(r, "its partitions are not in order", err);
    if (bounds[0] == bounds[1])
        return HAC_OK;
    hac_autofree uint8_t *records = malloc(batch * stride);
    if (records == NULL)
        return hac_fail_no_memory(err);
    hac_status status = HAC_OK;
    for (uint64_t i = bounds[0]; status == HAC_OK && i < bounds[1]; i += batch) {
        uint64_t n = bounds[1] - i < batch ? bounds[1] - i : batch;
        memcpy(records, r->partial + r->h.groups_offset + i * stride, n * stride);
        status = merge_records(r, records, i, n, err);
    }
    return status;
}

/* ---- windows ---- */

/* A window's header and where the columns are, all within the partial. */
typedef struct window {
    const uint8_t *data;
    hac_partial_window h;
    uint64_t values[HAC_PROGRAM_OUTPUTS_MAX], states[HAC_PROGRAM_OUTPUTS_MAX];
} window;

/* A batch that rows of windows are gathered in. */
typedef struct gathered {
    size_t rows, n_columns;
    bool strings;
    hac_vector *vectors;
    uint8_t *states; /* HAC_BATCH_ROWS a column */
    bool *nullable;
} gathered;

static bool open_window(const reading *r, uint64_t at, const hac_value_type *types, size_t n_columns,
                        window *ret)
{
    uint64_t left = r->h.groups_offset - at;
    if (left < sizeof ret->h)
        return false;
    ret->data = r->partial + at;
    memcpy(&ret->h, ret->data, sizeof ret->h);
    if (ret->h.bytes > left || ret->h.bytes > UINT32_MAX || ret->h.bytes % 8 != 0 ||
        ret->h.bytes < sizeof ret->h || ret->h.rows > HAC_PARTIAL_WINDOW)
        return false;
    uint64_t end =
        hac_partial_window_places(&ret->h, r->h.partitions, types, n_columns, ret->values, ret->states);
    return end <= ret->h.bytes && ret->h.strings_offset == end && ret->h.strings_bytes <= ret->h.bytes - end;
}

/* Refs into the window: short strings lie among the values. */
static bool find_strings(const window *w, hac_vector *v, size_t at, uint64_t cells, uint32_t n)
{
    hac_string_ref *refs = (hac_string_ref *)v->values + at;
    bool sound = true;
    for (uint32_t i = 0; i < n; i++, cells += HAC_STRING_CELL) {
        uint32_t length;
        uint64_t place;
        memcpy(&length, w->data + cells, sizeof length);
        refs[i] = (hac_string_ref){(uint32_t)(cells + sizeof length), length};
        if (length <= HAC_STRING_SHORT)
            continue;
        memcpy(&place, w->data + cells + sizeof place, sizeof place);
        if (length > w->h.strings_bytes || place > w->h.strings_bytes - length)
            sound = false;
        else
            refs[i].offset = (uint32_t)(w->h.strings_offset + place);
    }
    v->bytes = w->data;
    return sound;
}

static bool gather(const window *w, gathered *g, uint32_t first, uint32_t n)
{
    bool sound = true;
    for (size_t c = 0; c < g->n_columns; c++) {
        hac_vector *v = &g->vectors[c];
        size_t stored = hac_partial_stored_size(v->type);
        uint64_t from = w->values[c] + first * stored;
        if (hac_kind_is_text(v->type.kind))
            sound = sound && find_strings(w, v, g->rows, from, n);
        else
            hac_widen(v->type, w->data + from, stored, n,
                      (uint8_t *)v->values + g->rows * hac_repr_size(hac_repr_of(v->type)));
        uint8_t *states = g->states + c * HAC_BATCH_ROWS + g->rows;
        if (w->states[c] == 0 && !g->nullable[c])
            continue;
        if (!g->nullable[c])
            memset(states - g->rows, 0, g->rows);
        g->nullable[c] = true;
        for (uint32_t i = 0; i < n; i++)
            states[i] = w->states[c] != 0 && w->data[w->states[c] + first + i] != 0;
    }
    g->rows += n;
    return sound;
}

static hac_status flush(reading *r, gathered *g, hac_error *err)
{
    hac_status status = HAC_OK;
    for (size_t c = 0; c < g->n_columns; c++) {
        g->vectors[c].states = g->nullable[c] ? g->states + c * HAC_BATCH_ROWS : NULL;
        g->nullable[c] = false;
    }
    if (g->rows != 0)
        status = hac_group_add(r->t, g->vectors, g->rows, r->partition, err);
    g->rows = 0;
    return status;
}

/* Rows of a window, from where they lie. */
static hac_status add_plain(reading *r, const window *w, const gathered *g, uint32_t first, uint32_t n,
                            hac_error *err)
{
    const uint8_t *values[HAC_PLAIN_COLUMNS];
    for (size_t c = 0; c < g->n_columns; c++)
        values[c] = w->data + w->values[c] + first * hac_partial_stored_size(g->vectors[c].type);
    return hac_plain_add(r->t, values, n, r->partition, err);
}

static bool any_nullable(const hac_partial_window *h)
{
    return (h->nullable[0] | h->nullable[1] | h->nullable[2] | h->nullable[3]) != 0;
}

static hac_status merge_window(reading *r, const window *w, gathered *g, hac_error *err)
{
    uint32_t bounds[2];
    hac_status status = HAC_OK;
    read_bounds(r, w->data + sizeof w->h, bounds);
    if (bounds[0] > bounds[1] || bounds[1] > w->h.rows)
        return damaged(r, "a window's partitions are not in order", err);
    if (r->t->layout.plain != HAC_PLAIN_NONE && !any_nullable(&w->h)) {
        status = flush(r, g, err);
        return status == HAC_OK ? add_plain(r, w, g, bounds[0], bounds[1] - bounds[0], err) : status;
    }
    for (uint32_t first = bounds[0], n; status == HAC_OK && first < bounds[1]; first += n) {
        uint32_t left = bounds[1] - first, room = (uint32_t)(HAC_BATCH_ROWS - g->rows);
        n = left < room ? left : room;
        if (!gather(w, g, first, n))
            return damaged(r, "a row's string lies outside of it", err);
        if (g->rows == HAC_BATCH_ROWS)
            status = flush(r, g, err);
    }
    /* strings of the next window have another base */
    return status == HAC_OK && g->strings ? flush(r, g, err) : status;
}

static hac_status gathered_init(hac_group_table *t, gathered *g, hac_value_type *types, hac_error *err)
{
    const hac_program *rows = t->layout.query->rows;
    size_t n = rows->n_outputs, bytes = n * HAC_BATCH_ROWS * 16;
    if (t->scratch == NULL)
        t->scratch =
            aligned_alloc(64, bytes + ((n * (HAC_BATCH_ROWS + sizeof(hac_vector) + 1)) + 63) / 64 * 64);
    if (t->scratch == NULL)
        return hac_fail_no_memory(err);
    uint8_t *memory = t->scratch;
    *g = (gathered){.n_columns = n, .vectors = (hac_vector *)(void *)(memory + bytes)};
    g->states = (uint8_t *)(g->vectors + n);
    g->nullable = (bool *)(g->states + n * HAC_BATCH_ROWS);
    for (size_t c = 0; c < n; c++) {
        types[c] = rows->outputs[c].type;
        g->vectors[c] = (hac_vector){.type = types[c], .values = memory + c * HAC_BATCH_ROWS * 16};
        g->strings |= hac_kind_is_text(types[c].kind);
        g->nullable[c] = false;
    }
    return HAC_OK;
}

static hac_status merge_windows(reading *r, hac_error *err)
{
    hac_value_type types[HAC_PROGRAM_OUTPUTS_MAX];
    gathered g = {0};
    window w;
    hac_status status = HAC_OK;
    if (r->h.n_windows != 0)
        status = gathered_init(r->t, &g, types, err);
    uint64_t at = sizeof r->h, rows = 0;
    for (uint64_t i = 0; status == HAC_OK && i < r->h.n_windows; i++) {
        if (!open_window(r, at, types, g.n_columns, &w))
            return damaged(r, "a window lies outside of it", err);
        rows += w.h.rows;
        at += w.h.bytes;
        status = merge_window(r, &w, &g, err);
    }
    if (status == HAC_OK && rows != r->h.rows)
        return damaged(r, "rows are missing", err);
    return status == HAC_OK && r->h.n_windows != 0 ? flush(r, &g, err) : status;
}

hac_status hac_group_table_merge(hac_group_table *table, uint64_t chunk, const uint8_t *partial,
                                 uint64_t bytes, uint32_t partition, hac_error *err)
{
    reading r = {.t = table, .partial = partial, .partition = partition};
    if (partition >= table->options.partitions)
        return hac_fail(err, HAC_INVALID, "partition %u of %u", partition, table->options.partitions);
    hac_status status = hac_partial_check(&table->layout, &table->options, chunk, partial, bytes, &r.h, err);
    if (status != HAC_OK)
        return status;
    r.strings = partial + r.h.strings_offset;
    r.budget = r.h.strings_bytes;
    status = merge_groups(&r, err);
    return status == HAC_OK ? merge_windows(&r, err) : status;
}
