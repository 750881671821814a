/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every text of a group that is not null, for string_agg and list, alone or with the value that orders it.
 * A text begins with the separator of the aggregate, k - 1 bytes. In lists, a double quote behind the
 * separator says that the rest of the text goes in double quotes.
 */
#include <stdlib.h>

#include "accumulator.h"
#include "base/cleanup.h"
#include "base/utf8.h"
#include "sources/string_words.h"

/* The first of its members is all of a text without an order. */
typedef struct text_value {
    uint64_t text[2];
    uint64_t null;   /* the key is null */
    uint64_t key[2]; /* ordered words */
} text_value;

_Static_assert(sizeof(text_value) == HAC_VALUE_BYTES_MAX, "the largest value of a column");

static bool has_key(const hac_accumulator *a)
{
    return a->kind == HAC_ACCUMULATOR_ORDERED_TEXTS;
}

size_t hac_accumulator_value_size(const hac_accumulator *a)
{
    if (has_key(a))
        return sizeof(text_value);
    return a->kind == HAC_ACCUMULATOR_TEXTS ? sizeof((text_value *)NULL)->text
                                            : hac_repr_size((hac_repr)a->repr);
}

static size_t value_strings(const hac_accumulator *a, uint8_t *value, uint64_t **ret)
{
    text_value *v = (text_value *)(void *)value;
    size_t n = 0;
    ret[n++] = v->text;
    if (has_key(a) && v->null == 0 && a->second_repr == HAC_REPR_STRING)
        ret[n++] = v->key;
    return n;
}

/* ---- adding ---- */

static hac_status add_texts(hac_group_table *t, const hac_accumulate_batch *b, const hac_accumulator *a,
                            const hac_column *v, hac_error *err)
{
    hac_value_column *to = &t->value_columns[a->set];
    const hac_column *by = has_key(a) ? &b->columns[a->second] : NULL;
    const hac_record_divisor divisor = hac_record_divisor_of(b->stride);
    hac_status status = hac_value_column_reserve(to, b->rows, err);
    for (size_t i = 0; status == HAC_OK && i < b->rows; i++) {
        text_value value = {.null = by != NULL && by->states != NULL && by->states[i] != 0};
        uint64_t *words[HAC_ACCUMULATOR_STRINGS_MAX];
        if (v->states != NULL && v->states[i] != 0)
            continue;
        hac_value_words(v, HAC_REPR_STRING, i, value.text);
        if (by != NULL && value.null == 0)
            hac_ordered_words(by, a->second_repr, i, value.key);
        size_t strings = value_strings(a, (uint8_t *)&value, words);
        for (size_t k = 0; status == HAC_OK && k < strings; k++)
            status = hac_group_arena_keep(&t->arena, words[k], err);
        to->groups[to->n] = (uint32_t)hac_record_number(divisor, b->at[i]);
        memcpy(to->values + to->n++ * to->size, &value, to->size);
    }
    return status;
}

/* ---- order ---- */

typedef struct placed {
    const text_value *value;
    const hac_accumulator *a;
    unsigned flags;
} placed;

/* Values lie in the order of the input. */
static int by_place(const placed *x, const placed *y)
{
    return (x->value > y->value) - (x->value < y->value);
}

static int by_text(const void *p, const void *q)
{
    const placed *x = p, *y = q;
    int order = hac_string_words_compare(x->value->text, y->value->text);
    return order != 0 ? order : by_place(x, y);
}

static int by_key(const void *p, const void *q)
{
    const placed *x = p, *y = q;
    if (!has_key(x->a))
        return by_place(x, y);
    bool first = (x->flags & HAC_TEXTS_NULLS_FIRST) != 0, x_null = x->value->null != 0;
    bool y_null = y->value->null != 0;
    if (x_null || y_null)
        return x_null == y_null ? by_place(x, y) : x_null == first ? -1 : 1;
    int order = hac_ordered_compare(x->a->second_repr, x->value->key, y->value->key);
    if (order == 0)
        return by_place(x, y);
    return (x->flags & HAC_TEXTS_DESCENDING) != 0 ? -order : order;
}

/* Keeps the first of equal texts. Returns how many are left. */
static uint64_t keep_distinct(placed *all, uint64_t n)
{
    uint64_t kept = 0;
    qsort(all, n, sizeof *all, by_text);
    for (uint64_t i = 0; i < n; i++)
        if (kept == 0 || hac_string_words_compare(all[kept - 1].value->text, all[i].value->text) != 0)
            all[kept++] = all[i];
    return kept;
}

/* ---- results ---- */

static void add_escape(hac_group_text *text, uint8_t byte)
{
    static const char named[] = "\"\\\b\f\n\r\t", names[] = "\"\\bfnrt", digits[] = "0123456789abcdef";
    const char *found = byte != 0 ? strchr(named, byte) : NULL;
    if (found != NULL)
        hac_group_text_add(text, (const char[]){'\\', names[found - named]}, 2);
    else
        hac_group_text_add(text, (const char[]){'\\', 'u', '0', '0', digits[byte >> 4], digits[byte & 15]},
                           6);
}

/* Bytes that are not UTF-8 become U+FFFD, one for each byte. */
static void add_quoted(hac_group_text *text, const uint8_t *bytes, size_t n)
{
    hac_group_text_add(text, "\"", 1);
    for (size_t i = 0, step; i < n; i += step) {
        size_t plain = i;
        while (plain < n && bytes[plain] >= 0x20 && bytes[plain] < 0x7f && bytes[plain] != '"' &&
               bytes[plain] != '\\')
            plain++;
        step = plain - i;
        if (step > 0) {
            hac_group_text_add(text, bytes + i, step);
        } else if (bytes[i] < 0x80) {
            add_escape(text, bytes[i]);
            step = 1;
        } else {
            step = hac_utf8_sequence((const char *)bytes + i, n - i);
            hac_group_text_add(text, step > 0 ? (const char *)bytes + i : "\xef\xbf\xbd",
                               step > 0 ? step : 3);
            step = step > 0 ? step : 1;
        }
    }
    hac_group_text_add(text, "\"", 1);
}

/* JSON has no numbers that are not finite: they are written as strings. */
static bool is_finite(const uint8_t *bytes, size_t n)
{
    return n < 3 ||
           (memcmp(bytes, "nan", 3) != 0 && memcmp(bytes, "inf", 3) != 0 && memcmp(bytes, "-in", 3) != 0);
}

static void add_text(hac_group_text *text, const text_value *value, uint32_t separator, bool list, bool first)
{
    uint32_t n;
    const uint8_t *bytes = hac_words_to_string(value->text, &n);
    separator = separator < n ? separator : n;
    if (!first)
        hac_group_text_add(text, bytes, separator);
    bytes += separator;
    n -= separator;
    if (list && n > 0 && bytes[0] == '"')
        add_quoted(text, bytes + 1, n - 1);
    else if (list && !is_finite(bytes, n))
        add_quoted(text, bytes, n);
    else
        hac_group_text_add(text, bytes, n);
}

static hac_status texts_result(const hac_result_cell *cell, const hac_accumulator *a, const uint8_t *from,
                               hac_error *err)
{
    const hac_aggregate *g = &cell->t->layout.query->aggregate[cell->aggregate];
    bool list = g->function == HAC_AGGREGATE_LIST || g->function == HAC_AGGREGATE_LIST_BY;
    unsigned flags = (unsigned)g->low.digits;
    hac_group_text *text = &cell->t->results->text;
    hac_value_column *column = &cell->t->value_columns[a->set];
    hac_status status = hac_value_column_sort(column, cell->t->groups, err);
    uint64_t n = 0;
    (void)from;
    if (status != HAC_OK)
        return status;
    const uint8_t *values = hac_value_column_of(column, cell->group, &n);
    hac_autofree placed *all = malloc((n + 1) * sizeof *all);
    if (all == NULL)
        return hac_fail_no_memory(err);
    for (uint64_t i = 0; i < n; i++)
        all[i] = (placed){(const text_value *)(const void *)(values + i * column->size), a, flags};
    if ((flags & HAC_TEXTS_DISTINCT) != 0)
        n = keep_distinct(all, n);
    if (has_key(a) || (flags & HAC_TEXTS_DISTINCT) != 0)
        qsort(all, n, sizeof *all, by_key);
    hac_string_ref ref = {.offset = (uint32_t)text->n};
    hac_group_text_add(text, "[", list);
    for (uint64_t i = 0; i < n; i++)
        add_text(text, all[i].value, g->k - 1, list, i == 0);
    hac_group_text_add(text, "]", list);
    ref.length = (uint32_t)(text->n - ref.offset);
    ((hac_string_ref *)cell->v->values)[cell->row] = ref;
    return HAC_OK;
}

const hac_accumulator_ops hac_accumulator_texts = {
    .value_strings = value_strings, .add = add_texts, .result = texts_result};
const hac_accumulator_ops hac_accumulator_ordered_texts = {
    .value_strings = value_strings, .add = add_texts, .result = texts_result};
