/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "base/cleanup.h"
#include "fixed_rows.h"
#include "group_coded.h"
#include "group_internal.h"
#include "sources/string_words.h"

/* A window is closed early when it has many bytes of strings, because that memory counts against no job's
 * limit. It must hold one batch. */
#define WINDOW_STRINGS    (UINT64_C(1) << 24)
#define BATCH_STRINGS_MAX (UINT64_C(1) << 28)

typedef struct partial_column {
    hac_value_type type;
    hac_repr repr;
    size_t stored;   /* size of a value in a window */
    uint8_t *values; /* HAC_PARTIAL_WINDOW values */
    uint8_t *states;
    const uint8_t *source; /* this window's values: `values` above, or the caller's fixed rows */
    bool nullable;         /* in this window */
    bool long_strings;     /* in this window */
} partial_column;

struct hac_partial_writer {
    hac_group_table *table;
    uint8_t *region;
    uint64_t capacity, end; /* bytes of the windows so far, written or only counted */
    uint64_t chunk, chunks;
    uint64_t gained_max; /* groups that one chunk began */
    uint64_t n_windows, window_rows, rows_read;
    hac_partial_rule rule;
    bool windows;                        /* rows go into windows */
    uint64_t probed;                     /* rows that were aggregated */
    uint64_t groups_before;              /* the current run */
    uint64_t fresh;                      /* groups that the last whole run began */
    uint64_t chunk_probed, chunk_groups; /* probed and the table's groups when the last chunk began */

    size_t n_columns;
    partial_column *columns;
    uint16_t *partition; /* for each row of the window */
    uint32_t *place;     /* its place */
    uint32_t *order;     /* the row of each place */
    uint32_t *counts;    /* for each partition, and one more */
    uint8_t *in_order;   /* values of a column, by place */
    uint32_t rows;
    uint8_t *strings;
    uint64_t strings_bytes, strings_capacity;
    hac_column *part; /* part of a batch */
};

HAC_DEFINE_CLEANUP(hac_partial_writer *, hac_partial_writer_free)

static uint64_t aligned(uint64_t bytes)
{
    return (bytes + 7) & ~UINT64_C(7);
}

size_t hac_partial_stored_size(hac_value_type type)
{
    return hac_kind_is_text(type.kind) ? HAC_STRING_CELL : hac_value_size(type);
}

uint64_t hac_partial_window_places(const hac_partial_window *window, uint32_t partitions,
                                   const hac_value_type *types, size_t n_columns, uint64_t *ret_values,
                                   uint64_t *ret_states)
{
    uint64_t at = aligned(sizeof *window + (partitions + UINT64_C(1)) * sizeof(uint32_t));
    for (size_t c = 0; c < n_columns; c++) {
        ret_values[c] = at;
        at += aligned(window->rows * hac_partial_stored_size(types[c]));
        ret_states[c] = 0;
        if ((window->nullable[c / 64] >> (c % 64) & 1) != 0) {
            ret_states[c] = at;
            at += aligned(window->rows);
        }
    }
    return at;
}

hac_status hac_partial_writer_new(const hac_query *query, const hac_group_options *options,
                                  hac_partial_writer **ret, hac_error *err)
{
    hac_cleanup(hac_partial_writer_free_cleanup) hac_partial_writer *w = calloc(1, sizeof *w);
    if (w == NULL)
        return hac_fail_no_memory(err);
    hac_status status = hac_group_table_new(query, options, &w->table, err);
    if (status != HAC_OK)
        return status;
    w->rule = hac_partial_rule_of(&w->table->layout);
    w->n_columns = query->rows->n_outputs;
    w->columns = calloc(w->n_columns + 1, sizeof *w->columns);
    w->part = calloc(w->n_columns + 1, sizeof *w->part);
    if (w->columns == NULL || w->part == NULL)
        return hac_fail_no_memory(err);
    for (size_t c = 0; c < w->n_columns; c++) {
        w->columns[c].type = query->rows->outputs[c].type;
        w->columns[c].repr = hac_repr_of(w->columns[c].type);
        w->columns[c].stored = hac_partial_stored_size(w->columns[c].type);
    }
    *ret = hac_steal_ptr(w);
    return HAC_OK;
}

void hac_partial_writer_free(hac_partial_writer *w)
{
    if (w == NULL)
        return;
    for (size_t c = 0; w->columns != NULL && c < w->n_columns; c++) {
        free(w->columns[c].values);
        free(w->columns[c].states);
    }
    free(w->columns);
    free(w->part);
    free(w->partition);
    free(w->place);
    free(w->order);
    free(w->counts);
    free(w->in_order);
    free(w->strings);
    hac_group_table_free(w->table);
    free(w);
}

void hac_partial_begin(hac_partial_writer *w, uint64_t chunk, uint8_t *region, uint64_t capacity)
{
    hac_group_table_reset(w->table);
    w->chunk = chunk;
    w->region = region;
    w->capacity = capacity;
    w->end = sizeof(hac_partial_header);
    w->n_windows = w->window_rows = w->rows_read = 0;
    w->windows = false;
    w->probed = w->groups_before = w->fresh = 0;
    w->chunks = 1;
    w->gained_max = w->chunk_probed = w->chunk_groups = 0;
    w->rows = 0;
    w->strings_bytes = 0;
    /* the region holds no partial until it is complete */
    memset(region, 0, capacity < sizeof(uint64_t) ? capacity : sizeof(uint64_t));
}

/* ---- several chunks ---- */

/* Whether the table keeps values of every row, or one that depends on which rows are in one table. */
static bool keeps_values(const hac_group_table *t)
{
    return t->layout.n_sets != 0 || t->layout.n_value_columns != 0;
}

/* The groups that another chunk of as many rows would begin, if they come as in the last run. */
static uint64_t expected(const hac_partial_writer *w)
{
    uint64_t rows = w->probed - w->chunk_probed;
    return w->probed < w->rule.probe ? w->table->groups : w->fresh * (rows / w->rule.probe + 1);
}

static void end_chunk(hac_partial_writer *w)
{
    uint64_t gained = w->table->groups - w->chunk_groups;
    w->gained_max = gained > w->gained_max ? gained : w->gained_max;
    w->chunk_groups = w->table->groups;
    w->chunk_probed = w->probed;
}

bool hac_partial_extend(hac_partial_writer *w, uint64_t bytes)
{
    hac_group_table *t = w->table;
    if (w->windows || keeps_values(t) || t->budget.used > t->budget.limit / 4 ||
        t->groups + expected(w) > w->rule.max_groups)
        return false;
    end_chunk(w);
    hac_group_coded_retry(t->coded);
    w->chunks++;
    w->capacity += bytes;
    return true;
}

/* ---- windows ---- */

/* Allocates a window's memory before the first one. */
static hac_status make_window(hac_partial_writer *w, hac_error *err)
{
    bool made = true;
    w->partition = malloc(HAC_PARTIAL_WINDOW * sizeof *w->partition);
    w->place = malloc(HAC_PARTIAL_WINDOW * sizeof *w->place);
    w->order = malloc(HAC_PARTIAL_WINDOW * sizeof *w->order);
    w->counts = calloc(w->table->options.partitions + 1, sizeof *w->counts);
    w->in_order = aligned_alloc(64, HAC_PARTIAL_WINDOW * HAC_STRING_CELL);
    for (size_t c = 0; c < w->n_columns; c++) {
        w->columns[c].values = malloc(HAC_PARTIAL_WINDOW * w->columns[c].stored);
        w->columns[c].states = malloc(HAC_PARTIAL_WINDOW);
        w->columns[c].source = w->columns[c].values;
        made = made && w->columns[c].values != NULL && w->columns[c].states != NULL;
    }
    if (!made || w->partition == NULL || w->place == NULL || w->order == NULL || w->counts == NULL ||
        w->in_order == NULL)
        return hac_fail_no_memory(err);
    return HAC_OK;
}

/* Turns counts into starts. */
static void find_starts(hac_partial_writer *w, uint32_t *ret)
{
    uint32_t partitions = w->table->options.partitions, sum = 0;
    for (uint32_t p = 0; p < partitions; p++) {
        uint32_t n = w->counts[p];
        ret[p] = w->counts[p] = sum;
        sum += n;
    }
    ret[partitions] = sum;
}

/* Gives each row its place. */
static void place_rows(hac_partial_writer *w)
{
    for (uint32_t i = 0; i < w->rows; i++)
        w->place[i] = w->counts[w->partition[i]]++;
}

#define SCATTER(type)                                                                                        \
    for (uint32_t i = 0; i < n; i++)                                                                         \
    ((type *)to)[place[i]] = ((const type *)from)[i]

/* Writes values in the rows' places. They are put in order in `to`, which stays in the core's cache, and then
 * copied: each line of the region is new to the cache, and scattered stores would wait for one after the
 * other. */
static void scatter(const hac_partial_writer *w, size_t size, const void *from, uint8_t *ret)
{
    const uint32_t *place = w->place, n = w->rows;
    void *to = w->in_order;
    switch (size) {
    case 1:
        SCATTER(uint8_t);
        break;
    case 2:
        SCATTER(uint16_t);
        break;
    case 4:
        SCATTER(uint32_t);
        break;
    case 8:
        SCATTER(uint64_t);
        break;
    default:
        SCATTER(hac_i128);
    }
    memcpy(ret, to, n * size);
}

/* For a key and an 8-byte value, in one loop: the places need not be stored. */
static inline __attribute__((always_inline)) void scatter_both(hac_partial_writer *w, size_t key_bytes,
                                                               uint8_t *ret_keys, uint8_t *ret_sums)
{
    uint8_t *restrict keys = w->in_order, *restrict sums = keys + HAC_PARTIAL_WINDOW * key_bytes;
    const uint16_t *restrict partition = w->partition;
    const uint8_t *restrict from_keys = w->columns[0].source, *restrict from_sums = w->columns[1].source;
    uint32_t *restrict counts = w->counts;
    uint64_t rows = w->rows;
    for (uint32_t i = 0; i < rows; i++) {
        uint64_t place = counts[partition[i]]++;
        memcpy(keys + place * key_bytes, from_keys + i * key_bytes, key_bytes);
        memcpy(sums + place * 8, from_sums + i * UINT64_C(8), 8);
    }
    memcpy(ret_keys, keys, rows * key_bytes);
    memcpy(ret_sums, sums, rows * 8);
}

static void scatter_pair(hac_partial_writer *w, uint8_t *keys, uint8_t *sums)
{
    if (w->columns[0].stored == 4)
        scatter_both(w, 4, keys, sums);
    else
        scatter_both(w, 8, keys, sums);
}

/* Writes strings in the rows' places, and the characters of long strings in the order in which the merge
 * reads them, from `at` on. The region is never read back, because other processes can write to it. */
static uint32_t write_strings(hac_partial_writer *w, const partial_column *c, uint8_t *to, uint8_t *bytes,
                              uint32_t at)
{
    scatter(w, HAC_STRING_CELL, c->values, to);
    if (!c->long_strings)
        return at;
    for (uint32_t i = 0; i < w->rows; i++)
        w->order[w->place[i]] = i;
    for (uint32_t i = 0; i < w->rows; i++) {
        uint64_t cell[2];
        memcpy(cell, c->values + (size_t)w->order[i] * HAC_STRING_CELL, sizeof cell);
        uint32_t n = (uint32_t)cell[0];
        if (n <= HAC_STRING_SHORT)
            continue;
        memcpy(bytes + at, w->strings + cell[1], n);
        cell[1] = at;
        memcpy(to + (size_t)i * HAC_STRING_CELL, cell, sizeof cell);
        at += n;
    }
    return at;
}

static void write_columns(hac_partial_writer *w, const uint64_t *values, const uint64_t *states,
                          uint8_t *data, uint64_t strings_offset)
{
    uint32_t strings = 0;
    place_rows(w);
    for (size_t c = 0; c < w->n_columns; c++) {
        const partial_column *from = &w->columns[c];
        if (hac_kind_is_text(from->type.kind))
            strings = write_strings(w, from, data + values[c], data + strings_offset, strings);
        else
            scatter(w, from->stored, from->source, data + values[c]);
        if (states[c] != 0)
            scatter(w, 1, from->states, data + states[c]);
    }
}

static void close_window(hac_partial_writer *w)
{
    uint64_t values[HAC_PROGRAM_OUTPUTS_MAX], states[HAC_PROGRAM_OUTPUTS_MAX];
    hac_value_type types[HAC_PROGRAM_OUTPUTS_MAX];
    uint32_t partitions = w->table->options.partitions;
    hac_partial_window h = {.rows = w->rows, .strings_bytes = (uint32_t)w->strings_bytes};
    for (size_t c = 0; c < w->n_columns; c++) {
        types[c] = w->columns[c].type;
        if (w->columns[c].nullable)
            h.nullable[c / 64] |= UINT64_C(1) << (c % 64);
    }
    h.strings_offset = hac_partial_window_places(&h, partitions, types, w->n_columns, values, states);
    h.bytes = aligned(h.strings_offset + h.strings_bytes);
    bool fits = w->end <= w->capacity && h.bytes <= w->capacity - w->end;
    uint8_t *data = fits ? w->region + w->end : NULL;
    if (fits) {
        find_starts(w, (uint32_t *)(void *)(data + sizeof h));
        memcpy(data, &h, sizeof h);
        bool pair = w->table->layout.fixed != HAC_FIXED_NONE && w->n_columns == 2;
        if (pair && !w->columns[0].nullable && !w->columns[1].nullable)
            scatter_pair(w, data + values[0], data + values[1]);
        else
            write_columns(w, values, states, data, h.strings_offset);
    }
    w->end += h.bytes;
    w->n_windows++;
    w->window_rows += w->rows;
    w->rows = 0;
    w->strings_bytes = 0;
    memset(w->counts, 0, (partitions + 1) * sizeof *w->counts);
    for (size_t c = 0; c < w->n_columns; c++)
        w->columns[c].nullable = w->columns[c].long_strings = false;
}

static hac_status reserve_strings(hac_partial_writer *w, uint64_t bytes, hac_error *err)
{
    if (w->strings_bytes + bytes <= w->strings_capacity)
        return HAC_OK;
    uint64_t capacity = (w->strings_bytes + bytes) * 2;
    uint8_t *strings = realloc(w->strings, capacity);
    if (strings == NULL)
        return hac_fail_no_memory(err);
    w->strings = strings;
    w->strings_capacity = capacity;
    return HAC_OK;
}

/* Copies a long string's characters; there is room. Its cell gets their offset. */
static void keep_long(hac_partial_writer *w, partial_column *c, uint64_t cell[2])
{
    uint32_t n = (uint32_t)cell[0];
    memcpy(w->strings + w->strings_bytes, (const void *)(uintptr_t)cell[1], n);
    cell[1] = w->strings_bytes;
    w->strings_bytes += n;
    c->long_strings = true;
}

/* For a key, whose words are known. */
static void append_words(hac_partial_writer *w, partial_column *c, const uint64_t *low, const uint64_t *high,
                         size_t rows)
{
    uint8_t *to = c->values + (size_t)w->rows * HAC_STRING_CELL;
    for (size_t i = 0; i < rows; i++, to += HAC_STRING_CELL) {
        uint64_t cell[2] = {low[i], high[i]};
        if ((uint32_t)cell[0] > HAC_STRING_SHORT)
            keep_long(w, c, cell);
        memcpy(to, cell, sizeof cell);
    }
}

static void append_strings(hac_partial_writer *w, partial_column *c, const hac_column *v, size_t rows)
{
    const hac_string_ref *refs = v->values;
    uint8_t *to = c->values + (size_t)w->rows * HAC_STRING_CELL;
    for (size_t i = 0; i < rows; i++, to += HAC_STRING_CELL) {
        uint32_t n = v->states != NULL && v->states[i] != 0 ? 0 : refs[i].length;
        uint64_t cell[2];
        hac_string_to_words(v->bytes + refs[i].offset, n, &cell[0], &cell[1]);
        if (n > HAC_STRING_SHORT)
            keep_long(w, c, cell);
        memcpy(to, cell, sizeof cell);
    }
}

#define NARROW(to_type, from_type)                                                                           \
    for (size_t i = 0; i < rows; i++)                                                                        \
    ((to_type *)to)[i] = (to_type)((const from_type *)v->values)[i]

static void append_values(hac_partial_writer *w, const partial_column *c, const hac_column *v, size_t rows)
{
    void *to = c->values + w->rows * c->stored;
    if (c->repr == HAC_REPR_I64 && c->stored == 4)
        NARROW(int32_t, int64_t);
    else if (c->repr == HAC_REPR_U64 && c->stored == 4)
        NARROW(uint32_t, uint64_t);
    else if ((c->repr == HAC_REPR_I64 || c->repr == HAC_REPR_U64) && c->stored == 2)
        NARROW(uint16_t, uint64_t);
    else if ((c->repr == HAC_REPR_I64 || c->repr == HAC_REPR_U64) && c->stored == 1)
        NARROW(uint8_t, uint64_t);
    else
        memcpy(to, v->values, rows * c->stored);
}

static void append_states(hac_partial_writer *w, partial_column *c, const hac_column *v, size_t rows)
{
    uint8_t *to = c->states + w->rows;
    if (v->states == NULL && !c->nullable)
        return;
    if (!c->nullable)
        memset(c->states, 0, w->rows);
    c->nullable = true;
    memset(to, 0, rows);
    if (v->states == NULL)
        return;
    for (size_t i = 0; i < rows; i++) {
        to[i] = v->states[i] != 0;
        /* the value of a null is undefined, but the partial's bytes must not be */
        if (to[i] != 0 && !hac_kind_is_text(c->type.kind))
            memset(c->values + (w->rows + i) * c->stored, 0, c->stored);
    }
}

/* Adds as many rows as fit the window. */
static hac_status append(hac_partial_writer *w, const hac_column *columns, size_t rows, hac_error *err)
{
    hac_group_table *t = w->table;
    uint64_t strings = 0;
    for (size_t c = 0; c < w->n_columns; c++)
        if (hac_kind_is_text(w->columns[c].type.kind))
            strings += hac_column_string_bytes(&columns[c], rows);
    if (strings > BATCH_STRINGS_MAX)
        return hac_fail(err, HAC_FAILED, "a batch of rows has more than 256 MiB of strings");
    if (w->rows != 0 && w->strings_bytes + strings > WINDOW_STRINGS)
        close_window(w);
    hac_status status = reserve_strings(w, strings, err);
    if (status != HAC_OK)
        return status;
    hac_group_keys_load(t, columns, rows);
    hac_group_keys_hash(t, rows);
    for (size_t i = 0; i < rows; i++) {
        uint32_t p = hac_hash_partition(t->hash[i], t->options.partitions);
        w->partition[w->rows + i] = (uint16_t)p;
        w->counts[p]++;
    }
    for (size_t c = 0, word = 0; c < w->n_columns; c++) {
        bool text = hac_kind_is_text(w->columns[c].type.kind);
        if (text && c < t->layout.n_keys)
            append_words(w, &w->columns[c], t->columns[word], t->columns[word + 1], rows);
        else if (text)
            append_strings(w, &w->columns[c], &columns[c], rows);
        else
            append_values(w, &w->columns[c], &columns[c], rows);
        append_states(w, &w->columns[c], &columns[c], rows);
        word += c < t->layout.n_keys && t->layout.keys[c].bits > 64 ? 2 : 1;
    }
    w->rows += (uint32_t)rows;
    if (w->rows == HAC_PARTIAL_WINDOW)
        close_window(w);
    return HAC_OK;
}

/* Writes the rows as a window without copying them first. */
static void append_plain(hac_partial_writer *w, const uint8_t *const *values, size_t rows)
{
    if (w->rows != 0)
        close_window(w);
    hac_fixed_rows_partitions(w->table, values[0], rows, w->partition, w->counts);
    for (size_t c = 0; c < w->n_columns; c++)
        w->columns[c].source = values[c];
    w->rows = (uint32_t)rows;
    close_window(w);
    for (size_t c = 0; c < w->n_columns; c++)
        w->columns[c].source = w->columns[c].values;
}

/* ---- rows ---- */

/* Adds rows up to the end of the run. */
static uint64_t run_capacity(const hac_partial_writer *w)
{
    return w->rule.probe - w->probed % w->rule.probe;
}

/* After each run: decides whether the following rows go into windows. */
static hac_status probe(hac_partial_writer *w, size_t rows, hac_error *err)
{
    uint64_t groups = w->table->groups;
    w->probed += rows;
    if (w->probed % w->rule.probe != 0)
        return HAC_OK;
    w->fresh = groups - w->groups_before;
    w->windows = hac_partial_stops(w->rule, w->probed, w->fresh, groups);
    w->groups_before = groups;
    return w->windows && w->partition == NULL ? make_window(w, err) : HAC_OK;
}

static const hac_column *part_of(hac_partial_writer *w, const hac_column *columns, size_t from)
{
    for (size_t c = 0; c < w->n_columns; c++) {
        w->part[c] = columns[c];
        w->part[c].values = (uint8_t *)columns[c].values + from * hac_repr_size(w->columns[c].repr);
        w->part[c].states = columns[c].states == NULL ? NULL : columns[c].states + from;
        w->part[c].codes = columns[c].codes == NULL ? NULL : columns[c].codes + from;
    }
    return w->part;
}

hac_status hac_partial_add(hac_partial_writer *w, const hac_column *columns, size_t rows, hac_error *err)
{
    hac_status status = HAC_OK;
    if (w->table->options.passes > 1)
        status = hac_group_keep_pass(w->table, columns, rows, &columns, &rows, err);
    w->rows_read += rows;
    for (size_t from = 0, n; status == HAC_OK && from < rows; from += n) {
        uint64_t capacity = w->windows ? HAC_PARTIAL_WINDOW - w->rows : run_capacity(w);
        n = rows - from < capacity ? rows - from : (size_t)capacity;
        const hac_column *part = n == rows ? columns : part_of(w, columns, from);
        if (w->windows) {
            status = append(w, part, n, err);
            continue;
        }
        status = hac_group_add(w->table, part, n, UINT32_MAX, err);
        if (status == HAC_OK && w->table->layout.n_keys != 0)
            status = probe(w, n, err);
    }
    return status;
}

hac_status hac_partial_count(hac_partial_writer *w, uint64_t rows, hac_error *err)
{
    w->rows_read += rows;
    return hac_group_table_count(w->table, rows, err);
}

hac_status hac_partial_correct(hac_partial_writer *w, uint64_t rows, const uint64_t *nulls, hac_error *err)
{
    w->rows_read += rows;
    return hac_group_table_correct(w->table, rows, nulls, err);
}

bool hac_partial_takes_plain(const hac_partial_writer *w)
{
    return w->table->options.passes <= 1 && w->table->layout.fixed != HAC_FIXED_NONE;
}

hac_status hac_partial_add_plain(hac_partial_writer *w, const uint8_t *const *values, size_t rows,
                                 hac_error *err)
{
    hac_status status = HAC_OK;
    w->rows_read += rows;
    for (size_t from = 0, n; status == HAC_OK && from < rows; from += n) {
        const uint8_t *part[HAC_FIXED_COLUMNS];
        uint64_t capacity = w->windows ? HAC_PARTIAL_WINDOW : run_capacity(w);
        n = rows - from < capacity ? rows - from : (size_t)capacity;
        for (size_t c = 0; c < w->n_columns; c++)
            part[c] = values[c] + from * w->columns[c].stored;
        if (w->windows) {
            append_plain(w, part, n);
            continue;
        }
        status = hac_fixed_rows_add(w->table, part, n, UINT32_MAX, err);
        if (status == HAC_OK)
            status = probe(w, n, err);
    }
    return status;
}

/* A chunk alone has as many groups as it began, and those of others that it has, too: the first chunk of
 * several shows how many these are. */
static uint64_t needed_by_one(const hac_partial_writer *w, const hac_partial_header *h)
{
    if (w->chunks == 1 || h->groups == 0)
        return h->bytes;
    uint64_t groups = h->groups * h->stride + h->strings_bytes, region = w->capacity / w->chunks;
    uint64_t one = h->bytes - groups + (uint64_t)((double)groups * (double)w->gained_max / (double)h->groups);
    uint64_t mean = h->bytes / w->chunks + 1;
    one = one > mean ? one : mean;
    return h->bytes <= w->capacity && one > region ? region : one;
}

hac_status hac_partial_end(hac_partial_writer *w, uint64_t *ret_needed, uint64_t *ret_groups, hac_error *err)
{
    hac_group_table *t = w->table;
    hac_status status = hac_group_table_ensure(t, err);
    if (status != HAC_OK)
        return status;
    if (w->rows != 0)
        close_window(w);
    hac_partial_header h = {.magic = HAC_PARTIAL_MAGIC,
                            .seed = t->options.seed,
                            .chunk = w->chunk,
                            .chunks = w->chunks,
                            .partitions = t->options.partitions,
                            .pass = t->options.pass,
                            .passes = t->options.passes,
                            .stride = t->layout.stride,
                            .rows = w->window_rows,
                            .n_windows = w->n_windows,
                            .rows_read = w->rows_read};
    status = hac_group_write(t, w->region, w->end, w->capacity, &h, err);
    if (status != HAC_OK)
        return status;
    end_chunk(w);
    if (h.bytes <= w->capacity)
        memcpy(w->region, &h, sizeof h);
    *ret_needed = needed_by_one(w, &h);
    *ret_groups = h.groups + h.rows;
    return HAC_OK;
}
