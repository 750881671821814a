/* SPDX-License-Identifier: Apache-2.0 */
#include "unnest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/json_value.h"
#include "base/utf8.h"

/* A batch ends when its elements have that many bytes. */
#define TEXTS_ENOUGH ((size_t)16 << 20)

struct hac_unnest {
    size_t column;                 /* of the elements */
    const hac_source_column *from; /* whose text the arrays are */
    hac_source_column *columns;    /* of the rows that are made */
    size_t n_columns;
    void *memory;
    uint8_t *texts; /* the elements of a batch */
    size_t used, capacity;

    uint64_t starts[HAC_BATCH_ROWS]; /* of the rows that the source has read */
    size_t rows, row;                /* these rows, and the one whose elements come next */
    hac_json_items items;            /* that are left of the row, if `begun` */
    bool begun;
};

HAC_DEFINE_CLEANUP(hac_unnest *, hac_unnest_free)

/* Readers find columns by name, or unquote fields in place, so that the first column which reads a text has
 * it. */
static const hac_source_column *text_of(const hac_source *source, size_t column)
{
    const hac_source_column *own = &source->columns[column];
    for (const hac_source_column *c = source->columns; c < own; c++)
        if (c->part == HAC_LIST_WHOLE && c->repr == HAC_REPR_STRING && strcmp(c->name, own->name) == 0)
            return c;
    return own;
}

hac_status hac_unnest_new(hac_source *source, size_t column, hac_unnest **ret, hac_error *err)
{
    hac_cleanup(hac_unnest_free_cleanup) hac_unnest *u = calloc(1, sizeof *u);
    size_t n = source->n_columns, bytes = 0;
    if (u == NULL || (u->columns = calloc(n + 1, sizeof *u->columns)) == NULL)
        return hac_fail_no_memory(err);
    u->column = column;
    u->n_columns = n;
    u->from = text_of(source, column);
    for (size_t i = 0; i < n; i++) {
        hac_source_column *c = &u->columns[i];
        *c = source->columns[i];
        if (i == column) {
            c->type = source->query->columns.fields[i].type;
            c->repr = hac_repr_of(c->type);
        }
        bytes += HAC_BATCH_ROWS * (hac_repr_size(c->repr) + 1);
    }
    uint8_t *memory = u->memory = aligned_alloc(64, bytes + 64);
    if (memory == NULL)
        return hac_fail_no_memory(err);
    memset(memory, 0, bytes + 64);
    for (size_t i = 0; i < n; i++) {
        hac_source_column *c = &u->columns[i];
        c->values = memory;
        c->refs = c->repr == HAC_REPR_STRING ? c->values : NULL;
        c->states = memory + HAC_BATCH_ROWS * hac_repr_size(c->repr);
        memory = c->states + HAC_BATCH_ROWS;
    }
    *ret = hac_steal_ptr(u);
    return HAC_OK;
}

void hac_unnest_free(hac_unnest *u)
{
    if (u == NULL)
        return;
    free(u->columns);
    free(u->memory);
    free(u->texts);
    free(u);
}

void hac_unnest_reset(hac_unnest *u)
{
    u->rows = u->row = 0;
    u->begun = false;
}

bool hac_unnest_has_rows(const hac_unnest *u)
{
    return u->row < u->rows;
}

void hac_unnest_take(hac_unnest *u, hac_source *source)
{
    hac_unnest_reset(u);
    u->rows = source->rows;
    memcpy(u->starts, source->starts, source->rows * sizeof *u->starts);
}

hac_source_column *hac_unnest_columns(hac_unnest *u)
{
    return u->columns;
}

/* ---- arrays ---- */

/* Says what is wrong with a row; with skip_errors it is left out. */
static hac_status bad_row(hac_unnest *u, hac_source *source, const char *problem, hac_error *err)
{
    char where[32];
    u->begun = false;
    if (source->query->source.options.skip_errors) {
        source->skipped++;
        u->row++;
        return HAC_NOT_FOUND;
    }
    hac_source_name_position(source, u->starts[u->row], where);
    return hac_fail(err, HAC_FAILED, "%s, column %s: %s", where, u->from->name, problem);
}

/* Begins with the array of the row. HAC_NOT_FOUND: it has none, or is left out. */
static hac_status begin_row(hac_unnest *u, hac_source *source, hac_error *err)
{
    char text[64], problem[160];
    hac_json_value value;
    if (u->from->states[u->row] != HAC_ROW_OK) {
        u->row++;
        return HAC_NOT_FOUND;
    }
    hac_string_ref ref = ((const hac_string_ref *)u->from->values)[u->row];
    const uint8_t *at = ref.length > 0 ? u->from->bytes + ref.offset : (const uint8_t *)"";
    bool json = hac_json_read(at, ref.length, &value);
    if (json && value.kind == HAC_JSON_NULL) {
        u->row++;
        return HAC_NOT_FOUND;
    }
    if (json && value.kind == HAC_JSON_ARRAY) {
        u->items = hac_json_items_of(&value);
        u->begun = true;
        return HAC_OK;
    }
    size_t n = ref.length < sizeof text ? ref.length : sizeof text - 1;
    memcpy(text, at, n);
    text[n] = '\0';
    hac_utf8_copy_line(text, sizeof text, text);
    snprintf(problem, sizeof problem, "'%s'%s is not an array of JSON", text, n < ref.length ? "..." : "");
    return bad_row(u, source, problem, err);
}

/* ---- elements ---- */

/* Copies the text of an element behind the others. NULL: no memory. */
static uint8_t *put_text(hac_unnest *u, const hac_json_value *element, size_t *ret_bytes)
{
    if (element->bytes > u->capacity - u->used) {
        size_t capacity = 2 * u->capacity + element->bytes + 4096;
        uint8_t *texts = realloc(u->texts, capacity);
        if (texts == NULL)
            return NULL;
        u->texts = texts;
        u->capacity = capacity;
    }
    uint8_t *to = u->texts + u->used;
    if (element->kind == HAC_JSON_STRING) {
        *ret_bytes = hac_json_text(element, to);
    } else {
        memcpy(to, element->at, element->bytes);
        *ret_bytes = element->bytes;
    }
    return to;
}

/* Makes the element the value of row `row` of the batch. HAC_NOT_FOUND: its row is left out. */
static hac_status put_element(hac_unnest *u, hac_source *source, const hac_json_value *element, size_t row,
                              hac_error *err)
{
    hac_source_column *c = &u->columns[u->column];
    char problem[HAC_TEXT_PROBLEM_MAX], text[HAC_TEXT_PROBLEM_MAX + 160];
    size_t bytes = 0;
    c->states[row] = element->kind == HAC_JSON_NULL ? HAC_ROW_NULL : HAC_ROW_OK;
    c->marked |= element->kind == HAC_JSON_NULL;
    if (element->kind == HAC_JSON_NULL)
        return HAC_OK;
    const uint8_t *at = put_text(u, element, &bytes);
    if (at == NULL)
        return hac_fail_no_memory(err);
    if (c->repr == HAC_REPR_STRING) {
        c->refs[row] = (hac_string_ref){(uint32_t)u->used, (uint32_t)bytes};
        u->used += bytes;
        return HAC_OK;
    }
    hac_text_status status = hac_source_is_code(c, (const char *)at, bytes)
                                 ? HAC_TEXT_MALFORMED
                                 : hac_source_parse(c, (const char *)at, bytes, row);
    if (status == HAC_TEXT_OK)
        return HAC_OK;
    hac_source_text_problem(c, (const char *)at, bytes, status, problem);
    snprintf(text, sizeof text, "element %s, the type of the first ones; say --schema '%.64s:string'",
             problem, c->name);
    return bad_row(u, source, text, err);
}

/* Repeats the other columns, whose row is rows_of[i], in row i. */
static void repeat_columns(hac_unnest *u, const hac_source *source, const uint16_t *rows_of)
{
    for (size_t i = 0; i < u->n_columns; i++) {
        const hac_source_column *from = &source->columns[i];
        hac_source_column *to = &u->columns[i];
        size_t size = hac_repr_size(to->repr);
        if (i == u->column)
            continue;
        to->bytes = from->bytes;
        to->marked = from->marked;
        to->missing = from->missing;
        for (size_t r = 0; r < source->rows; r++) {
            memcpy((uint8_t *)to->values + r * size, (const uint8_t *)from->values + rows_of[r] * size, size);
            to->states[r] = from->states[rows_of[r]];
        }
    }
}

static void clear_states(hac_unnest *u)
{
    u->used = 0;
    u->columns[u->column].marked = false;
    for (size_t i = 0; i < u->n_columns; i++)
        memset(u->columns[i].states, 0, HAC_BATCH_ROWS);
}

hac_status hac_unnest_next(hac_unnest *u, hac_source *source, hac_error *err)
{
    uint16_t rows_of[HAC_BATCH_ROWS];
    hac_json_value name, element;
    hac_status status = HAC_OK;
    size_t n = 0;
    clear_states(u);
    while (n < HAC_BATCH_ROWS && u->used < TEXTS_ENOUGH && hac_unnest_has_rows(u)) {
        status = u->begun ? HAC_OK : begin_row(u, source, err);
        if (status == HAC_NOT_FOUND)
            continue;
        if (status == HAC_OK && !hac_json_next(&u->items, &name, &element)) {
            u->begun = false;
            u->row++;
            continue;
        }
        if (status == HAC_OK)
            status = put_element(u, source, &element, n, err);
        if (status == HAC_NOT_FOUND)
            continue;
        if (status != HAC_OK)
            break;
        source->starts[n] = u->starts[u->row];
        rows_of[n++] = (uint16_t)u->row;
    }
    if (status != HAC_OK && status != HAC_NOT_FOUND)
        return status;
    source->rows = n;
    u->columns[u->column].bytes = u->texts;
    repeat_columns(u, source, rows_of);
    return HAC_OK;
}
