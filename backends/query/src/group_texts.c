/* SPDX-License-Identifier: Apache-2.0 */
/* Results that are made of sets of values: lists, the most frequent ones, quantiles; and histograms. */
#include <math.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/value_text.h"
#include "group_internal.h"
#include "string_words.h"

void hac_group_text_add(hac_group_text *text, const void *bytes, size_t n)
{
    if (text->broken || n > UINT32_MAX - text->n) {
        text->broken = true;
        return;
    }
    if (text->n + n > text->room) {
        uint64_t room = (text->n + n) * 2;
        uint8_t *data = realloc(text->data, room);
        if (data == NULL) {
            text->broken = true;
            return;
        }
        text->data = data;
        text->room = room;
    }
    if (n != 0)
        memcpy(text->data + text->n, bytes, n);
    text->n += n;
}

static size_t print_number(hac_value_type type, const uint64_t words[2], char *text)
{
    __int128 wide;
    double f64;
    float f32;
    switch (type.kind) {
    case HAC_KIND_F64:
        memcpy(&f64, words, sizeof f64);
        return hac_print_f64(f64, text);
    case HAC_KIND_F32:
        memcpy(&f32, words, sizeof f32);
        return hac_print_f32(f32, text);
    case HAC_KIND_DATE:
        return hac_print_date((int32_t)words[0], text);
    case HAC_KIND_TIMESTAMP:
        return hac_print_timestamp((int64_t)words[0], text);
    case HAC_KIND_DECIMAL:
        wide = (int64_t)words[0];
        if (type.precision > HAC_DECIMAL_DIGITS_64)
            memcpy(&wide, words, sizeof wide);
        return hac_print_decimal(wide, type.scale, text);
    default:
        return hac_repr_of(type) == HAC_REPR_U64 ? hac_print_u64(words[0], text)
                                                 : hac_print_i64((int64_t)words[0], text);
    }
}

static void add_hex(hac_group_text *text, const uint8_t *bytes, uint32_t n)
{
    char digits[2];
    for (uint32_t i = 0; i < n; i++) {
        hac_print_hex(bytes + i, 1, digits);
        hac_group_text_add(text, digits, 2);
    }
}

void hac_group_text_value(hac_group_text *text, hac_value_type type, const uint64_t words[2])
{
    char number[HAC_PRINT_MAX];
    if (hac_kind_is_text(type.kind)) {
        uint32_t n;
        const uint8_t *bytes = hac_words_to_string(words, &n);
        if (type.kind == HAC_KIND_BYTES)
            add_hex(text, bytes, n);
        else
            hac_group_text_add(text, bytes, n);
    } else if (type.kind == HAC_KIND_BOOL) {
        hac_group_text_add(text, words[0] != 0 ? "true" : "false", words[0] != 0 ? 4 : 5);
    } else {
        hac_group_text_add(text, number, print_number(type, words, number));
    }
}

/* ---- values in order ---- */

typedef struct ranked {
    const hac_value_entry *entry;
    const hac_accumulator *a;
} ranked;

static int compare_words(const hac_accumulator *a, const uint64_t x[2], const uint64_t y[2])
{
    hac_i128 wx, wy;
    double dx, dy;
    float fx, fy;
    switch (a->repr) {
    case HAC_REPR_STRING:
        return hac_string_words_compare(x, y);
    case HAC_REPR_I128:
        memcpy(&wx, x, sizeof wx);
        memcpy(&wy, y, sizeof wy);
        return (wx > wy) - (wx < wy);
    case HAC_REPR_F64:
        memcpy(&dx, x, sizeof dx);
        memcpy(&dy, y, sizeof dy);
        return (hac_order_f64(dx) > hac_order_f64(dy)) - (hac_order_f64(dx) < hac_order_f64(dy));
    case HAC_REPR_F32:
        memcpy(&fx, x, sizeof fx);
        memcpy(&fy, y, sizeof fy);
        dx = (double)fx;
        dy = (double)fy;
        return (hac_order_f64(dx) > hac_order_f64(dy)) - (hac_order_f64(dx) < hac_order_f64(dy));
    case HAC_REPR_I64:
        return ((int64_t)x[0] > (int64_t)y[0]) - ((int64_t)x[0] < (int64_t)y[0]);
    default:
        return (x[0] > y[0]) - (x[0] < y[0]);
    }
}

static int by_count(const void *p, const void *q)
{
    const ranked *x = p, *y = q;
    if (x->entry->count != y->entry->count)
        return x->entry->count > y->entry->count ? -1 : 1;
    return compare_words(x->a, x->entry->words, y->entry->words);
}

static hac_status rank(const hac_group_table *t, const hac_accumulator *a, const hac_value_list *list,
                       ranked **ret, hac_error *err)
{
    const hac_value_set *set = &t->sets[a->set];
    ranked *all = malloc((list->n + 1) * sizeof *all);
    size_t n = 0;
    if (all == NULL)
        return hac_fail_no_memory(err);
    for (uint32_t e = list->first; e != 0; e = set->entries[e - 1].next)
        all[n++] = (ranked){.entry = &set->entries[e - 1], .a = a};
    *ret = all;
    return HAC_OK;
}

hac_status hac_group_top_k(const hac_group_table *t, const hac_accumulator *a, uint32_t k,
                           const hac_value_list *list, hac_group_text *text, hac_error *err)
{
    hac_autofree ranked *all = NULL;
    hac_status status = rank(t, a, list, &all, err);
    if (status != HAC_OK)
        return status;
    qsort(all, list->n, sizeof *all, by_count);
    for (uint64_t i = 0; i < list->n && i < k; i++) {
        char number[HAC_PRINT_MAX];
        hac_group_text_add(text, ", ", i == 0 ? 0 : 2);
        hac_group_text_value(text, a->type, all[i].entry->words);
        hac_group_text_add(text, ":", 1);
        hac_group_text_add(text, number, hac_print_u64(all[i].entry->count, number));
    }
    return HAC_OK;
}

void hac_group_string_list(const hac_group_table *t, const hac_accumulator *a, const hac_value_list *list,
                           hac_group_text *text)
{
    const hac_value_set *set = &t->sets[a->set];
    for (uint32_t e = list->first; e != 0; e = set->entries[e - 1].next) {
        hac_group_text_add(text, ",", e == list->first ? 0 : 1);
        hac_group_text_value(text, a->type, set->entries[e - 1].words);
    }
}

void hac_group_histogram(const hac_accumulator *a, const uint64_t *counts, hac_group_text *text)
{
    for (uint32_t i = 0; i < a->k; i++) {
        char number[HAC_PRINT_MAX];
        hac_group_text_add(text, ", ", i == 0 ? 0 : 2);
        hac_group_text_add(text, number, hac_print_u64(counts[i], number));
    }
}

/* ---- quantiles ---- */

static int by_value(const void *p, const void *q)
{
    double x, y;
    memcpy(&x, ((const ranked *)p)->entry->words, sizeof x);
    memcpy(&y, ((const ranked *)q)->entry->words, sizeof y);
    return (hac_order_f64(x) > hac_order_f64(y)) - (hac_order_f64(x) < hac_order_f64(y));
}

/* Between the values of ranks ⌊share · (n - 1)⌋ and the next, as linear interpolation has it. */
hac_status hac_group_quantile(const hac_group_table *t, const hac_accumulator *a, double share,
                              const hac_value_list *list, double *ret, hac_error *err)
{
    hac_autofree ranked *all = NULL;
    hac_status status = rank(t, a, list, &all, err);
    if (status != HAC_OK)
        return status;
    qsort(all, list->n, sizeof *all, by_value);
    uint64_t n = 0, seen = 0;
    for (uint64_t i = 0; i < list->n; i++)
        n += all[i].entry->count;
    double position = share * (double)(n - 1), low = floor(position), between[2] = {0, 0};
    for (uint64_t i = 0; i < list->n; i++) {
        double value;
        memcpy(&value, all[i].entry->words, sizeof value);
        if ((double)seen <= low)
            between[0] = value;
        if ((double)seen <= low + 1)
            between[1] = value;
        seen += all[i].entry->count;
    }
    double part = position - low;
    *ret = part > 0 ? between[0] + (between[1] - between[0]) * part : between[0];
    return HAC_OK;
}
