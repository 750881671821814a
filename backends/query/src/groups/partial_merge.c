/* SPDX-License-Identifier: Apache-2.0 */
/* Merges a partition of a partial. Another process wrote it and may still be writing, so data is copied, and
 * the copy is checked and used. */
#include <stdlib.h>

#include "accumulators/accumulator.h"
#include "base/cleanup.h"
#include "fixed_rows.h"
#include "fixed_slots.h"
#include "sources/load_values.h"
#include "sources/string_words.h"

/* Copies of this size stay in a core's cache. */
#define COPY_BYTES (UINT64_C(1) << 18)

typedef struct reading {
    hac_group_table *t;
    const uint8_t *partial;
    hac_partial_header h;
    uint32_t partition;
    const uint8_t *strings;
    hac_exact_units *units; /* of its windows, checked */
    uint64_t budget;        /* bytes that records may still point to: at most the strings' bytes in total */
} reading;

static hac_status damaged(const reading *r, const char *what, hac_error *err)
{
    return hac_fail(err, HAC_INVALID, "the partial of chunk %llu is damaged: %s",
                    (unsigned long long)r->h.chunk, what);
}

/* Turns an offset in the partial into an address. */
static bool resolve_string(reading *r, uint64_t words[2])
{
    uint32_t n = (uint32_t)words[0];
    if (words[0] == HAC_STRING_NONE)
        return false;
    if (n <= HAC_STRING_SHORT)
        return true;
    if (n > r->budget || words[1] > r->h.strings_bytes || n > r->h.strings_bytes - words[1])
        return false;
    r->budget -= n;
    words[1] = (uint64_t)(uintptr_t)(r->strings + words[1]);
    return true;
}

static bool resolve_record(reading *r, uint8_t *record)
{
    const hac_group_layout *l = &r->t->layout;
    bool sound = true;
    for (size_t k = 0; l->strings && k < l->n_keys; k++)
        if (l->keys[k].repr == HAC_REPR_STRING)
            sound = sound && resolve_string(r, (uint64_t *)(void *)(record + l->keys[k].offset));
    for (size_t i = 0; i < l->n_accumulators; i++) {
        const hac_accumulator *a = &l->accumulators[i];
        const hac_accumulator_ops *ops = hac_accumulator_ops_of(a);
        uint64_t *words[HAC_ACCUMULATOR_STRINGS_MAX];
        size_t n = ops->strings != NULL ? ops->strings(a, record + a->offset, words) : 0;
        for (size_t k = 0; k < n; k++)
            sound = sound && resolve_string(r, words[k]);
    }
    return sound;
}

static hac_status merge_set(reading *r, const hac_accumulator *a, uint64_t group, const uint8_t *record,
                            hac_error *err)
{
    uint64_t place[2], entry[3];
    hac_value_list *list = (hac_value_list *)(void *)(hac_group_record(r->t, group) + a->offset);
    hac_status status = HAC_OK;
    memcpy(place, record + a->offset, sizeof place);
    if (place[0] > r->h.strings_bytes || place[1] > (r->h.strings_bytes - place[0]) / sizeof entry ||
        place[1] * sizeof entry > r->budget)
        return damaged(r, "a group's values lie outside of it", err);
    r->budget -= place[1] * sizeof entry;
    for (uint64_t i = 0; status == HAC_OK && i < place[1]; i++) {
        memcpy(entry, r->strings + place[0] + i * sizeof entry, sizeof entry);
        if (a->repr == HAC_REPR_STRING && !resolve_string(r, entry))
            return damaged(r, "a value lies outside of it", err);
        status = hac_accumulator_ops_of(a)->add_entry(r->t, a, list, group, entry, entry[2], err);
    }
    return status;
}

/* Appends values whose strings lie in the partial. */
static hac_status merge_values(reading *r, const hac_accumulator *a, uint64_t group, const uint8_t *values,
                               uint64_t n, hac_error *err)
{
    hac_value_column *column = &r->t->value_columns[a->set];
    uint64_t value[HAC_VALUE_BYTES_MAX / 8], *words[HAC_ACCUMULATOR_STRINGS_MAX];
    hac_status status = HAC_OK;
    for (uint64_t i = 0; status == HAC_OK && i < n; i++) {
        memcpy(value, values + i * column->size, column->size);
        size_t strings = hac_accumulator_ops_of(a)->value_strings(a, (uint8_t *)value, words);
        for (size_t k = 0; status == HAC_OK && k < strings; k++) {
            if (!resolve_string(r, words[k]))
                return damaged(r, "a value lies outside of it", err);
            status = hac_group_arena_keep(&r->t->arena, words[k], err);
        }
        if (status == HAC_OK)
            status = hac_value_column_append(column, group, (const uint8_t *)value, 1, err);
    }
    return status;
}

/* Appends all values of a group to the table's column. */
static hac_status merge_all(reading *r, const hac_accumulator *a, uint64_t group, const uint8_t *record,
                            hac_error *err)
{
    hac_value_column *column = &r->t->value_columns[a->set];
    uint64_t place[2];
    memcpy(place, record + a->offset, sizeof place);
    if (place[0] > r->h.strings_bytes || place[1] > (r->h.strings_bytes - place[0]) / column->size ||
        place[1] * column->size > r->budget)
        return damaged(r, "a group's values lie outside of it", err);
    r->budget -= place[1] * column->size;
    if (hac_accumulator_ops_of(a)->value_strings != NULL)
        return merge_values(r, a, group, r->strings + place[0], place[1], err);
    return hac_value_column_append(column, group, r->strings + place[0], place[1], err);
}

static hac_status merge_sets(reading *r, uint64_t group, const uint8_t *record, hac_error *err)
{
    const hac_group_layout *l = &r->t->layout;
    hac_status status = HAC_OK;
    for (size_t i = 0; status == HAC_OK && i < l->n_accumulators; i++)
        if (hac_accumulator_info_of(&l->accumulators[i])->set)
            status = merge_set(r, &l->accumulators[i], group, record, err);
        else if (hac_accumulator_info_of(&l->accumulators[i])->all)
            status = merge_all(r, &l->accumulators[i], group, record, err);
    return status;
}

/* ---- exact sums ---- */

/* Copies the units of the partial's windows. Those of arguments that are no floats are 0. */
static hac_status read_units(reading *r, hac_error *err)
{
    const hac_group_layout *l = &r->t->layout;
    r->units = calloc(l->n_accumulators + 1, sizeof *r->units);
    if (r->units == NULL)
        return hac_fail_no_memory(err);
    memcpy(r->units, r->partial + r->h.sums_offset, l->n_accumulators * sizeof *r->units);
    for (size_t i = 0; i < l->n_accumulators; i++)
        for (size_t f = 0; f < 2; f++) {
            int32_t unit = r->units[i].of[f];
            bool sound = hac_accumulator_is_float(&l->accumulators[i], f)
                             ? unit == HAC_EXACT_NO_UNIT ||
                                   (unit >= HAC_EXACT_EXPONENT_MIN && unit <= HAC_EXACT_EXPONENT_MAX)
                             : unit == 0;
            if (!sound)
                return damaged(r, "a sum has an impossible unit", err);
        }
    return HAC_OK;
}

static hac_exact_digit digit_at(const reading *r, uint64_t i)
{
    hac_exact_digit digit;
    uint64_t units = r->t->layout.n_accumulators * sizeof *r->units;
    memcpy(&digit, r->partial + r->h.sums_offset + units + i * sizeof digit, sizeof digit);
    return digit;
}

/* The first digit of record `record` or of one behind it. */
static uint64_t seek_digit(const reading *r, uint64_t record)
{
    uint64_t low = 0, high = r->h.n_digits;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (digit_at(r, middle).key >> 32 < record)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Digits of a sum of values reach less far than those of products. */
#define SUM_DIGIT_FIRST ((-1088 - HAC_EXACT_DIGIT_BASE) / 32)
#define SUM_DIGIT_END   ((1088 - HAC_EXACT_DIGIT_BASE) / 32)

/* Digits below are fractions, which sums of integers and decimals do not have. */
#define WHOLE_DIGIT_FIRST (-HAC_EXACT_DIGIT_BASE / 32)

static bool is_sound_digit(const hac_group_layout *l, hac_exact_digit digit)
{
    size_t accumulator = digit.key >> 20 & 0xfff, term = digit.key >> 16 & 0xf;
    if (accumulator >= l->n_accumulators || digit.sum >= HAC_EXACT_SUM_MAX || digit.sum <= -HAC_EXACT_SUM_MAX)
        return false;
    const hac_accumulator *a = &l->accumulators[accumulator];
    const hac_accumulator_ops *ops = hac_accumulator_ops_of(a);
    uint32_t number = HAC_EXACT_DIGIT(digit.key);
    if (term >= ops->n_terms)
        return false;
    if (!hac_accumulator_is_float(a, 0) && !hac_accumulator_is_float(a, 1) &&
        (number < WHOLE_DIGIT_FIRST || number >= HAC_EXACT_DIGITS))
        return false;
    if (number >= HAC_EXACT_NAN)
        return term == 0;
    return ops->terms[term].x + ops->terms[term].y > 1 ? number < HAC_EXACT_DIGITS
                                                       : number >= SUM_DIGIT_FIRST && number < SUM_DIGIT_END;
}

/* Merges the digits of records [first, first + n), whose groups t->at leads to. */
static hac_status merge_digits(reading *r, uint64_t first, size_t n, hac_error *err)
{
    hac_group_table *t = r->t;
    hac_status status = HAC_OK;
    for (uint64_t i = seek_digit(r, first); status == HAC_OK && i < r->h.n_digits; i++) {
        hac_exact_digit digit = digit_at(r, i);
        uint64_t row = (digit.key >> 32) - first;
        if (row >= n)
            break;
        if (!is_sound_digit(&t->layout, digit))
            return damaged(r, "a sum has an impossible digit", err);
        status = hac_exact_put_digit(
            &t->exact, (digit.key & UINT32_MAX) | t->at[row] / t->layout.stride << 32, digit.sum, err);
    }
    return status;
}

static bool has_digits(const reading *r, uint64_t first, size_t n)
{
    uint64_t i = r->h.n_digits == 0 ? 0 : seek_digit(r, first);
    return i < r->h.n_digits && (digit_at(r, i).key >> 32) - first < n;
}

static hac_status check_hashes(const reading *r, size_t rows, hac_error *err)
{
    uint32_t differ = 0;
    for (size_t i = 0; i < rows; i++)
        differ |= hac_hash_partition(r->t->hash[i], r->t->options.partitions) ^ r->partition;
    return differ == 0 ? HAC_OK : damaged(r, "a group is in a partition that it does not belong to", err);
}

/* Merges records into the table's slots; *ret_done is false if the table cannot have slots. */
static hac_status merge_fixed(reading *r, const uint8_t *records, size_t n, bool *ret_done, hac_error *err)
{
    hac_status status = hac_fixed_slots_ready(r->t, n, ret_done, err);
    if (status != HAC_OK || !*ret_done)
        return status;
    return hac_fixed_rows_merge(r->t, records, n, r->partition, err);
}

/* Merges `n` records, which were copied to `records`. The first is number `first` of the partial. */
static hac_status merge_records(reading *r, uint8_t *records, uint64_t first, size_t n, hac_error *err)
{
    hac_group_table *t = r->t;
    uint64_t stride = t->layout.stride, null_row = r->h.null_group - first;
    bool null = r->h.null_group >= first && null_row < n, done = false;
    hac_status status = hac_exact_align(t, r->units, records, n, err);
    bool plain = status == HAC_OK && t->exact.n_loose == 0 && !has_digits(r, first, n);
    if (plain && t->layout.slots && !null)
        status = merge_fixed(r, records, n, &done, err);
    if (status == HAC_OK && !plain)
        status = hac_group_leave_slots(t, err);
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
    if (status == HAC_OK)
        status = hac_group_merge_records(t, t->at, records, n, err);
    if (status == HAC_OK)
        status = hac_exact_put_loose(t, err);
    if (status == HAC_OK && !plain)
        status = merge_digits(r, first, n, err);
    bool sets = t->layout.n_sets != 0 || t->layout.n_value_columns != 0;
    for (size_t i = 0; sets && status == HAC_OK && i < n; i++)
        status = merge_sets(r, t->at[i] / stride, records + i * stride, err);
    return status;
}

/* Reads where the partition begins and ends. The partial may have been written with more partitions: each of
 * ours then consists of adjacent ones. */
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

/* A window's header, and where its columns are, all checked to lie within the partial. */
typedef struct window {
    const uint8_t *data;
    hac_partial_window h;
    uint64_t values[HAC_PROGRAM_OUTPUTS_MAX], states[HAC_PROGRAM_OUTPUTS_MAX];
} window;

/* A batch in which rows of windows are collected. */
typedef struct gathered {
    size_t rows, n_columns;
    bool strings;
    hac_column *columns;
    uint8_t *states; /* HAC_BATCH_ROWS for each column */
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

/* Makes refs into the window; short strings are in the cells themselves. */
static bool find_strings(const window *w, hac_column *v, size_t at, uint64_t cells, uint32_t n)
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
        hac_column *v = &g->columns[c];
        size_t stored = hac_partial_stored_size(v->type);
        uint64_t from = w->values[c] + first * stored;
        if (hac_kind_is_text(v->type.kind))
            sound = sound && find_strings(w, v, g->rows, from, n);
        else
            hac_load_values(v->type, w->data + from, stored, n,
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
        g->columns[c].states = g->nullable[c] ? g->states + c * HAC_BATCH_ROWS : NULL;
        g->nullable[c] = false;
    }
    if (g->rows != 0)
        status = hac_group_add(r->t, g->columns, g->rows, r->partition, err);
    g->rows = 0;
    return status;
}

/* Adds rows of a window without copying them. */
static hac_status add_fixed(reading *r, const window *w, const gathered *g, uint32_t first, uint32_t n,
                            hac_error *err)
{
    const uint8_t *values[HAC_FIXED_COLUMNS];
    for (size_t c = 0; c < g->n_columns; c++)
        values[c] = w->data + w->values[c] + first * hac_partial_stored_size(g->columns[c].type);
    return hac_fixed_rows_add(r->t, values, n, r->partition, err);
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
    if (r->t->layout.fixed != HAC_FIXED_NONE && !any_nullable(&w->h)) {
        status = flush(r, g, err);
        return status == HAC_OK ? add_fixed(r, w, g, bounds[0], bounds[1] - bounds[0], err) : status;
    }
    for (uint32_t first = bounds[0], n; status == HAC_OK && first < bounds[1]; first += n) {
        uint32_t left = bounds[1] - first, capacity = (uint32_t)(HAC_BATCH_ROWS - g->rows);
        n = left < capacity ? left : capacity;
        if (!gather(w, g, first, n))
            return damaged(r, "a row's string lies outside of it", err);
        if (g->rows == HAC_BATCH_ROWS)
            status = flush(r, g, err);
    }
    /* strings of the next window have another base address */
    return status == HAC_OK && g->strings ? flush(r, g, err) : status;
}

static hac_status gathered_init(hac_group_table *t, gathered *g, hac_value_type *types, hac_error *err)
{
    const hac_program *rows = t->layout.query->rows;
    size_t n = rows->n_outputs, bytes = n * HAC_BATCH_ROWS * 16;
    if (t->scratch == NULL)
        t->scratch =
            aligned_alloc(64, bytes + ((n * (HAC_BATCH_ROWS + sizeof(hac_column) + 1)) + 63) / 64 * 64);
    if (t->scratch == NULL)
        return hac_fail_no_memory(err);
    uint8_t *memory = t->scratch;
    *g = (gathered){.n_columns = n, .columns = (hac_column *)(void *)(memory + bytes)};
    g->states = (uint8_t *)(g->columns + n);
    g->nullable = (bool *)(g->states + n * HAC_BATCH_ROWS);
    for (size_t c = 0; c < n; c++) {
        types[c] = rows->outputs[c].type;
        g->columns[c] = (hac_column){.type = types[c], .values = memory + c * HAC_BATCH_ROWS * 16};
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
    status = read_units(&r, err);
    if (status == HAC_OK)
        status = merge_groups(&r, err);
    free(r.units);
    return status == HAC_OK ? merge_windows(&r, err) : status;
}
