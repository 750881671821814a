/* SPDX-License-Identifier: Apache-2.0 */
/*
 * typedbytes: keys and values in turn. A record is walked once, without recursion; what columns ask for is
 * noted on the way, and converted when the record is whole.
 */
#include <stdlib.h>
#include <string.h>

#include "source_parts.h"
#include "typed_cells.h"
#include "typed_codes.h"

#define DEPTH_MAX 64 /* of objects within a key or a value */

/* Where a record is walked. */
typedef struct walk {
    const uint8_t *data;
    size_t at, end; /* end: of what is in the window */
    uint64_t left;  /* from `at` to the source's end */
    const char *problem;
} walk;

typedef enum walked {
    WALKED,
    WALKED_SHORT, /* the window has less than all of it */
    WALKED_LOST   /* walk.problem */
} walked;

static walked lost(walk *w, const char *problem)
{
    w->problem = problem;
    return WALKED_LOST;
}

/* Passes over `bytes` of an object. */
static walked pass(walk *w, uint64_t bytes)
{
    if (bytes > w->left)
        return lost(w, "the input ends within this record");
    if (bytes > HAC_RECORD_MAX)
        return lost(w, "a record is longer than 64 MiB");
    if (bytes > w->end - w->at)
        return WALKED_SHORT;
    w->at += (size_t)bytes;
    w->left -= bytes;
    return WALKED;
}

static walked take_u32(walk *w, uint32_t *ret)
{
    walked what = pass(w, sizeof *ret);
    if (what != WALKED)
        return what;
    memcpy(ret, w->data + w->at - sizeof *ret, sizeof *ret);
    *ret = __builtin_bswap32(*ret);
    return *ret <= INT32_MAX ? WALKED : lost(w, "a length or a count is negative");
}

static bool is_bytes(uint8_t code)
{
    return code == HAC_TYPED_BYTES || code == HAC_TYPED_STRING ||
           (code >= HAC_TYPED_APPLICATION_FIRST && code <= HAC_TYPED_APPLICATION_LAST);
}

/* An object's code and, unless there are objects in it, its bytes. */
static walked take_head(walk *w, hac_typed_cell *ret)
{
    static const uint8_t sizes[] = {0, 1, 1, 4, 8, 4, 8};
    walked what = pass(w, 1);
    if (what != WALKED)
        return what;
    uint8_t code = w->data[w->at - 1];
    uint32_t n = 0;
    if (code >= HAC_TYPED_BYTE && code <= HAC_TYPED_DOUBLE)
        n = sizes[code];
    else if (is_bytes(code) || code == HAC_TYPED_VECTOR || code == HAC_TYPED_MAP)
        what = take_u32(w, &n);
    else if (code != HAC_TYPED_LIST && code != HAC_TYPED_MARKER)
        return lost(w, "an object's type is none of typed bytes");
    if (what != WALKED)
        return what;
    *ret = (hac_typed_cell){.code = code, .at = (uint32_t)w->at, .n = n};
    return is_bytes(code) || code <= HAC_TYPED_DOUBLE ? pass(w, n) : WALKED;
}

static bool has_objects(uint8_t code)
{
    return code >= HAC_TYPED_VECTOR && code <= HAC_TYPED_MAP;
}

#define UNTIL_MARKER UINT64_MAX

/* Objects that follow an object's head, of itself. */
static uint64_t objects_in(const hac_typed_cell *head)
{
    return head->code == HAC_TYPED_LIST  ? UNTIL_MARKER
           : head->code == HAC_TYPED_MAP ? 2 * (uint64_t)head->n
                                         : head->n;
}

/* Passes over the objects in an object, however deep. */
static walked skip_objects(walk *w, const hac_typed_cell *head)
{
    uint64_t open[DEPTH_MAX]; /* objects that are still to come */
    size_t depth = 1;
    hac_typed_cell inner;
    open[0] = objects_in(head);
    while (depth > 0) {
        if (open[depth - 1] == 0) {
            depth--;
            continue;
        }
        walked what = take_head(w, &inner);
        if (what != WALKED)
            return what;
        bool list = open[depth - 1] == UNTIL_MARKER;
        if (inner.code == HAC_TYPED_MARKER && !list)
            return lost(w, "a list's end stands where no list is");
        if (inner.code == HAC_TYPED_MARKER) {
            depth--;
            continue;
        }
        open[depth - 1] -= !list;
        if (!has_objects(inner.code))
            continue;
        if (depth == DEPTH_MAX)
            return lost(w, "objects are nested more than 64 deep");
        open[depth++] = objects_in(&inner);
    }
    return WALKED;
}

/* An object; *ret is its head. */
static walked take_object(walk *w, hac_typed_cell *ret)
{
    walked what = take_head(w, ret);
    if (what != WALKED)
        return what;
    if (ret->code == HAC_TYPED_MARKER)
        return lost(w, "a list's end stands where no list is");
    return has_objects(ret->code) ? skip_objects(w, ret) : WALKED;
}

/* ---- records ---- */

/* The elements of a vector or list, as columns 1 … */
static walked take_elements(walk *w, const hac_typed_cell *head, hac_typed_record *ret)
{
    uint64_t left = objects_in(head);
    bool list = left == UNTIL_MARKER;
    hac_typed_cell cell;
    for (; left > 0; left -= !list) {
        walked what = take_head(w, &cell);
        if (what != WALKED)
            return what;
        if (list && cell.code == HAC_TYPED_MARKER)
            break;
        if (cell.code == HAC_TYPED_MARKER)
            return lost(w, "a list's end stands where no list is");
        if (has_objects(cell.code) && (what = skip_objects(w, &cell)) != WALKED)
            return what;
        if (1 + ret->elements < ret->room)
            ret->cells[1 + ret->elements] = cell;
        ret->elements++;
    }
    return WALKED;
}

static walked take_record(walk *w, hac_typed_record *ret)
{
    hac_typed_cell value;
    ret->elements = 0;
    ret->many = false;
    walked what = take_object(w, &ret->cells[0]);
    if (what != WALKED)
        return what;
    if (w->left == 0)
        return lost(w, "a key without a value");
    if ((what = take_head(w, &value)) != WALKED)
        return what;
    ret->many = ret->room > 2 && (value.code == HAC_TYPED_VECTOR || value.code == HAC_TYPED_LIST);
    if (ret->many)
        return take_elements(w, &value, ret);
    if (value.code == HAC_TYPED_MARKER)
        return lost(w, "a list's end stands where no list is");
    if (ret->room > 1)
        ret->cells[1] = value;
    ret->elements = 1;
    return has_objects(value.code) ? skip_objects(w, &value) : WALKED;
}

/* ---- the format ---- */

static hac_status open_typed(hac_source *source, hac_error *err)
{
    size_t n = source->query->schema_columns;
    if (n == 0 || n > HAC_FIELDS_MAX)
        return hac_fail(err, HAC_INVALID, "typed bytes are read as 1 to %d columns", HAC_FIELDS_MAX);
    for (size_t i = 0; i < source->n_columns; i++)
        if (source->columns[i].place >= n)
            return hac_fail(err, HAC_INVALID, "column '%s' is not in the schema", source->columns[i].name);
    hac_status status = hac_typed_new(source, err);
    return status == HAC_OK ? hac_window_init(&source->records.window, &source->place, err) : status;
}

/* The record at `position` of the window. */
static walked walk_record(const hac_window *window, uint64_t position, walk *w, hac_typed_record *ret)
{
    *w = (walk){.data = window->data,
                .at = (size_t)(position - window->base),
                .end = window->bytes,
                .left = window->place->bytes - position};
    walked what = take_record(w, ret);
    if (what == WALKED_SHORT && position == window->base && window->bytes > HAC_RECORD_MAX)
        return lost(w, "a record is longer than 64 MiB");
    if (what == WALKED && w->at - (position - window->base) > HAC_RECORD_MAX)
        return lost(w, "a record is longer than 64 MiB");
    return what;
}

static hac_status next_typed(hac_source *source, hac_error *err)
{
    hac_window *window = &source->records.window;
    const uint64_t first = source->next;
    hac_typed_record *record = hac_typed_begin(source);
    walk w;
    if (first >= source->end)
        return HAC_NOT_FOUND;
    while (source->rows < HAC_BATCH_ROWS && source->next < source->end) {
        uint64_t position = source->next;
        walked what = walk_record(window, position, &w, record);
        if (what == WALKED_LOST) {
            hac_source_lost(source, position, "byte %llu of the record: %s",
                            (unsigned long long)(window->base + w.at - position + 1), w.problem);
            return HAC_OK;
        }
        if (what == WALKED_SHORT && position != first)
            return HAC_OK;
        if (what == WALKED_SHORT)
            return hac_window_refill(window, (size_t)(position - window->base), source->end, err);
        source->next = window->base + w.at;
        source->starts[source->rows++] = position;
        hac_status status = hac_typed_put(source, source->rows - 1, err);
        if (status != HAC_OK || source->late.code != HAC_OK)
            return status;
    }
    return HAC_OK;
}

/* By walking all that is in front of it. */
static uint64_t typed_number(hac_source *source, uint64_t position)
{
    hac_window window;
    hac_typed_cell key;
    hac_typed_record record = {.cells = &key, .room = 1};
    uint64_t number = 1, at = 0;
    walk w;
    if (hac_window_init(&window, &source->place, NULL) != HAC_OK)
        return 0;
    while (at < position) {
        walked what = walk_record(&window, at, &w, &record);
        if (what == WALKED_LOST ||
            (what == WALKED_SHORT &&
             hac_window_refill(&window, (size_t)(at - window.base), position, NULL) != HAC_OK))
            break;
        if (what != WALKED)
            continue;
        at = window.base + w.at;
        number++;
    }
    hac_window_clear(&window);
    return at == position ? source->place.lines_before + number : 0;
}

const hac_source_format hac_format_typedbytes = {false, open_typed, hac_source_begin_whole, next_typed,
                                                 typed_number};
