/* SPDX-License-Identifier: Apache-2.0 */
#include "list_column.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/value_text.h"
#include "list_argument.h"
#include "list_text.h"
#include "list_values.h"
#include "pages.h"

#define BUFFERED_PAGES 4          /* the text of a batch may be as large as so many pages */
#define LAST_SLACK     (1u << 16) /* bytes of texts that are kept although no value needs them */

struct hac_list_column {
    hac_list_values values;
    hac_value_type type; /* of the result */
    size_t size;         /* bytes of a value of the result */
    hac_nested nested;
    hac_list_part part;
    int64_t number;             /* of the wanted element of a list */
    hac_list_argument argument; /* the wanted element, or key of a map */
    uint64_t rows_left;
    bool begun, inside; /* inside: the current row has more elements to unnest */
    hac_list_text text;
    const hac_parquet_file *file;
    /* The last elements of a row, if one is counted from the end. Their texts are packed when there are more
     * bytes than `pack_at`. */
    size_t pack_at;
    uint8_t last_states[HAC_LIST_LAST_MAX];
    _Alignas(16) uint8_t last[16 * HAC_LIST_LAST_MAX];
};

/* What is made of one row: `at` is its place in the result. */
typedef struct list_row {
    hac_column *result;
    size_t at;
    uint64_t elements;
    size_t text; /* where its text begins */
    uint8_t state;
} list_row;

HAC_DEFINE_CLEANUP(hac_list_column *, hac_list_column_free)

/* ---- life ---- */

static hac_status take_argument(hac_list_column *c, const hac_parquet_leaf *as, hac_error *err)
{
    bool map = c->nested.kind == HAC_NESTED_MAP;
    if (c->part != HAC_LIST_CONTAINS && c->part != HAC_LIST_ELEMENT)
        return HAC_OK;
    if (as->argument == NULL)
        return hac_fail(err, HAC_INVALID, "column %s: the part of its lists has no argument", as->name);
    if (map || c->part == HAC_LIST_CONTAINS) {
        hac_list_argument_read(as->argument, map ? c->nested.key : c->nested.element, &c->argument);
        return HAC_OK;
    }
    if (hac_parse_i64(as->argument, strlen(as->argument), &c->number) != HAC_TEXT_OK ||
        c->number < -HAC_LIST_LAST_MAX)
        return hac_fail(err, HAC_INVALID, "column %s: elements have numbers from %d on", as->name,
                        -HAC_LIST_LAST_MAX);
    return HAC_OK;
}

hac_status hac_list_column_new(const hac_parquet_file *file, size_t leaf, const hac_parquet_leaf *as,
                               hac_list_column **ret, hac_error *err)
{
    bool elements = as->part == HAC_LIST_ELEMENT || as->part == HAC_LIST_UNNEST;
    hac_cleanup(hac_list_column_free_cleanup) hac_list_column *c =
        aligned_alloc(64, (sizeof *c + 63) / 64 * 64);
    if (c == NULL)
        return hac_fail_no_memory(err);
    memset(c, 0, sizeof *c);
    c->file = file;
    c->type = as->type;
    c->size = hac_repr_size(hac_repr_of(as->type));
    c->nested = file->leaves[leaf].nested;
    c->part = (hac_list_part)as->part;
    uint64_t max = BUFFERED_PAGES * file->limits.page_bytes;
    c->text.max = max < UINT32_MAX ? (size_t)max : UINT32_MAX;
    hac_status status = take_argument(c, as, err);
    if (status == HAC_OK)
        status = hac_list_values_new(file, leaf, elements ? as->type : (hac_value_type){0}, &c->values, err);
    if (status != HAC_OK)
        return status;
    c->values.levels_only = c->part == HAC_LIST_LENGTH;
    *ret = hac_steal_ptr(c);
    return HAC_OK;
}

void hac_list_column_free(hac_list_column *c)
{
    if (c == NULL)
        return;
    hac_list_values_clear(&c->values);
    hac_list_text_clear(&c->text);
    free(c);
}

bool hac_list_column_may_fail(const hac_list_column *c)
{
    bool ret = false;
    for (size_t i = 0; i < c->values.n && !c->values.levels_only; i++)
        ret |= hac_flat_column_may_fail(c->values.slots[i]->column);
    return ret;
}

void hac_list_column_share(hac_list_column *c, hac_parquet_memory *memory)
{
    c->text.memory = memory;
    for (size_t i = 0; i < c->values.n; i++)
        hac_flat_column_share(c->values.slots[i]->column, memory);
}

void hac_list_column_counters(const hac_list_column *c, hac_parquet_counters *ret)
{
    *ret = (hac_parquet_counters){0};
    for (size_t i = 0; i < c->values.n; i++) {
        hac_parquet_counters one;
        hac_flat_column_counters(c->values.slots[i]->column, &one);
        ret->pages += one.pages;
        ret->pages_skipped += one.pages_skipped;
        ret->bytes_skipped += one.bytes_skipped;
        ret->bytes_read += one.bytes_read;
        ret->bytes_decompressed += one.bytes_decompressed;
        ret->bytes_decoded += one.bytes_decoded;
        ret->read_seconds += one.read_seconds;
        ret->decompress_seconds += one.decompress_seconds;
        ret->decode_seconds += one.decode_seconds;
    }
}

/* ---- one element ---- */

/* The values of a list's elements, or of a map's values. */
static const hac_list_slots *elements_of(const hac_list_column *c)
{
    return c->values.slots[c->values.n - 1];
}

/* Copies the current element to a place of `values` and `states`. */
static void copy_element(hac_list_column *c, uint8_t *values, uint8_t *states, size_t to)
{
    const hac_list_slots *s = elements_of(c);
    states[to] = s->states[s->at];
    if (s->values.bytes == NULL) {
        memcpy(values + to * c->size, s->memory + s->at * c->size, c->size);
        return;
    }
    hac_string_ref ref = ((const hac_string_ref *)s->values.values)[s->at];
    uint32_t length = states[to] == HAC_ROW_OK ? ref.length : 0;
    ((hac_string_ref *)(void *)values)[to] = (hac_string_ref){(uint32_t)c->text.bytes, length};
    if (length > 0)
        hac_list_text_put(&c->text, s->values.bytes + ref.offset, length);
}

/* The current slot as JSON; a value that its type does not have is an error of the row. */
static void put_slot(hac_list_column *c, list_row *row, const hac_list_slots *s, bool key)
{
    uint8_t state = s->states[s->at];
    if (state == HAC_ROW_OK)
        hac_list_text_value(&c->text, &s->values, s->at, key);
    else
        hac_list_text_put(&c->text, key ? "\"null\"" : "null", key ? 6 : 4);
    if (state > HAC_ROW_NULL && state > row->state)
        row->state = state;
}

static void put_element(hac_list_column *c, list_row *row)
{
    bool map = c->nested.kind == HAC_NESTED_MAP;
    if (row->elements > 0)
        hac_list_text_put(&c->text, ",", 1);
    if (map) {
        put_slot(c, row, c->values.slots[0], true);
        hac_list_text_put(&c->text, ":", 1);
    }
    put_slot(c, row, elements_of(c), false);
}

/* Whether the current element, or key of a map, is the argument. */
static bool is_argument(const hac_list_column *c)
{
    const hac_list_slots *s = c->values.slots[0];
    return s->states[s->at] == HAC_ROW_OK && hac_list_argument_equals(&c->argument, &s->values, s->at);
}

/* Makes the current element the row's value, in place of another one. */
static void take_element(hac_list_column *c, list_row *row)
{
    c->text.bytes = row->text;
    copy_element(c, row->result->values, row->result->states, row->at);
    row->state = row->result->states[row->at];
}

/* Keeps the texts of the row's last elements only, of which there are so many so far. They lie in the order
 * of the elements, so that each moves to the front of what comes after it. */
static void pack_last(hac_list_column *c, const list_row *row, uint64_t elements)
{
    uint64_t n = (uint64_t)-c->number;
    size_t to = row->text;
    for (uint64_t i = elements > n ? elements - n : 0; i < elements; i++) {
        hac_string_ref *ref = (hac_string_ref *)(void *)c->last + i % n;
        if (ref->length > 0)
            memmove(c->text.data + to, c->text.data + ref->offset, ref->length);
        ref->offset = (uint32_t)to;
        to += ref->length;
    }
    c->text.bytes = to;
    c->pack_at = to + (to - row->text) + LAST_SLACK;
}

static void see_element(hac_list_column *c, list_row *row)
{
    switch (c->part) {
    case HAC_LIST_CONTAINS:
        if (is_argument(c))
            ((uint8_t *)row->result->values)[row->at] = 1;
        break;
    case HAC_LIST_ELEMENT:
        if (c->nested.kind == HAC_NESTED_MAP) {
            if (is_argument(c))
                take_element(c, row);
        } else if (c->number > 0 && row->elements + 1 == (uint64_t)c->number) {
            take_element(c, row);
        } else if (c->number < 0) {
            copy_element(c, c->last, c->last_states, row->elements % (uint64_t)-c->number);
            if (c->text.bytes > c->pack_at && !c->text.broken)
                pack_last(c, row, row->elements + 1);
        }
        break;
    case HAC_LIST_LENGTH:
        break;
    default:
        put_element(c, row);
    }
    row->elements++;
}

/* ---- one row ---- */

static void begin_row(hac_list_column *c, list_row *row, bool is_null)
{
    row->elements = 0;
    row->text = c->text.bytes;
    c->pack_at = row->text + LAST_SLACK;
    row->state = is_null || c->part == HAC_LIST_ELEMENT ? HAC_ROW_NULL : HAC_ROW_OK;
    memset((uint8_t *)row->result->values + row->at * c->size, 0, c->size);
    if (c->part == HAC_LIST_WHOLE && !is_null)
        hac_list_text_put(&c->text, c->nested.kind == HAC_NESTED_MAP ? "{" : "[", 1);
}

/* The element counted from the end, moved to where the row's text begins. */
static void take_last(hac_list_column *c, list_row *row)
{
    uint64_t n = (uint64_t)-c->number;
    if (n == 0 || row->elements < n)
        return;
    size_t from = (size_t)(row->elements % n); /* the oldest of the last n */
    row->state = c->last_states[from];
    uint8_t *to = (uint8_t *)row->result->values + row->at * c->size;
    memcpy(to, c->last + from * c->size, c->size);
    if (elements_of(c)->values.bytes == NULL || c->text.broken)
        return;
    hac_string_ref *ref = (void *)to;
    if (ref->length > 0)
        memmove(c->text.data + row->text, c->text.data + ref->offset, ref->length);
    ref->offset = (uint32_t)row->text;
    c->text.bytes = row->text + ref->length;
}

static void end_row(hac_list_column *c, list_row *row)
{
    hac_column *ret = row->result;
    if (c->part == HAC_LIST_ELEMENT && c->number < 0)
        take_last(c, row);
    if (c->part == HAC_LIST_LENGTH)
        ((int64_t *)ret->values)[row->at] = (int64_t)row->elements;
    if (c->part == HAC_LIST_WHOLE && row->state != HAC_ROW_NULL)
        hac_list_text_put(&c->text, c->nested.kind == HAC_NESTED_MAP ? "}" : "]", 1);
    if (c->part == HAC_LIST_WHOLE && row->state > HAC_ROW_NULL)
        c->text.bytes = row->text;
    if (c->part == HAC_LIST_WHOLE)
        ((hac_string_ref *)ret->values)[row->at] =
            (hac_string_ref){(uint32_t)row->text, (uint32_t)(c->text.bytes - row->text)};
    ret->states[row->at] = row->state;
}

/* `row` NULL: skips it. */
static hac_status read_row(hac_list_column *c, list_row *row, hac_error *err)
{
    hac_list_step step = HAC_LIST_STEP_END;
    hac_status status = hac_list_values_row(&c->values, &step, err);
    if (status == HAC_OK && row != NULL)
        begin_row(c, row, step == HAC_LIST_STEP_NULL);
    while (status == HAC_OK && step == HAC_LIST_STEP_ELEMENT) {
        if (row != NULL)
            see_element(c, row);
        status = hac_list_values_next(&c->values, &step, err);
        if (status == HAC_OK && c->text.broken)
            status = hac_list_text_check(&c->text, err);
    }
    if (status == HAC_OK && row != NULL)
        end_row(c, row);
    c->rows_left--;
    return status;
}

/* ---- rows ---- */

hac_status hac_list_column_begin(hac_list_column *c, size_t group, hac_error *err)
{
    hac_status status = hac_list_values_begin(&c->values, group, err);
    c->begun = status == HAC_OK;
    c->inside = false;
    c->rows_left = c->begun ? c->file->groups[group].rows : 0;
    return status;
}

static hac_status check_rows(const hac_list_column *c, uint64_t rows, hac_error *err)
{
    if (!c->begun || rows > c->rows_left)
        return hac_fail(err, HAC_INTERNAL, "%llu rows of a row group that has %llu left",
                        (unsigned long long)rows, (unsigned long long)(c->begun ? c->rows_left : 0));
    return HAC_OK;
}

/* Ends a call. After a failure nothing can be read. */
static hac_status conclude(hac_list_column *c, hac_status status, hac_error *err)
{
    if (status == HAC_OK && c->rows_left == 0)
        status = hac_list_values_end(&c->values, err);
    if (status == HAC_OK)
        status = hac_list_text_check(&c->text, err);
    c->begun = status == HAC_OK;
    return status;
}

/* The texts of the call before are valid until now. */
static void empty_text(hac_list_column *c)
{
    c->text.bytes = 0;
    c->text.broken = false;
}

/* Says what the values are that a call has set. */
static void describe(const hac_list_column *c, hac_column *ret)
{
    ret->type = c->type;
    ret->bytes = hac_kind_is_text(c->type.kind) ? c->text.data : NULL;
    ret->dictionary = 0;
    ret->codes = NULL;
}

/* Skips the elements of a row of which some were unnested. */
static hac_status leave_row(hac_list_column *c, hac_error *err)
{
    hac_list_step step = HAC_LIST_STEP_ELEMENT;
    hac_status status = HAC_OK;
    while (status == HAC_OK && step == HAC_LIST_STEP_ELEMENT)
        status = hac_list_values_next(&c->values, &step, err);
    c->inside = false;
    c->rows_left--;
    return status;
}

hac_status hac_list_column_skip(hac_list_column *c, uint64_t rows, hac_error *err)
{
    hac_status status = check_rows(c, rows, err);
    if (status != HAC_OK)
        return status;
    for (uint64_t i = 0; i < rows && status == HAC_OK; i++)
        status = c->inside ? leave_row(c, err) : read_row(c, NULL, err);
    return conclude(c, status, err);
}

hac_status hac_list_column_read(hac_list_column *c, size_t rows, const uint16_t *selection, size_t n_selected,
                                hac_column *ret, bool *ret_marked, hac_error *err)
{
    hac_status status = check_rows(c, rows, err);
    size_t given = 0;
    bool marked = false;
    if (status != HAC_OK)
        return status;
    empty_text(c);
    for (size_t i = 0; i < rows && status == HAC_OK; i++) {
        list_row row = {.result = ret, .at = given};
        bool wanted = selection == NULL || (given < n_selected && selection[given] == i);
        status = read_row(c, wanted ? &row : NULL, err);
        if (status != HAC_OK || !wanted)
            continue;
        marked |= ret->states[given] != HAC_ROW_OK;
        given++;
    }
    if ((status = conclude(c, status, err)) != HAC_OK)
        return status;
    describe(c, ret);
    *ret_marked = marked;
    return HAC_OK;
}

hac_status hac_list_column_unnest(hac_list_column *c, size_t rows, hac_column *ret, uint16_t *ret_rows_of,
                                  size_t *ret_elements, size_t *ret_rows, bool *ret_marked, hac_error *err)
{
    hac_status status = check_rows(c, rows, err);
    size_t n = 0, done = 0;
    if (status != HAC_OK)
        return status;
    empty_text(c);
    *ret_marked = false;
    while (status == HAC_OK && n < HAC_BATCH_ROWS && done < rows) {
        hac_list_step step = HAC_LIST_STEP_ELEMENT;
        if (!c->inside)
            status = hac_list_values_row(&c->values, &step, err);
        if (status == HAC_OK && step == HAC_LIST_STEP_ELEMENT) {
            copy_element(c, ret->values, ret->states, n);
            *ret_marked |= ret->states[n] != HAC_ROW_OK;
            ret_rows_of[n++] = (uint16_t)done;
            status = hac_list_values_next(&c->values, &step, err);
        }
        c->inside = step == HAC_LIST_STEP_ELEMENT;
        done += !c->inside;
        c->rows_left -= !c->inside;
    }
    if ((status = conclude(c, status, err)) != HAC_OK)
        return status;
    describe(c, ret);
    *ret_elements = n;
    *ret_rows = done;
    return HAC_OK;
}
