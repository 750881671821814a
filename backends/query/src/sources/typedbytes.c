/* SPDX-License-Identifier: Apache-2.0 */
/* typedbytes: alternating keys and values. A record is walked once, without recursion. Objects that columns
 * ask for are noted on the way and converted when the record is complete. */
#include <stdlib.h>
#include <string.h>

#include "base/typed_bytes.h"
#include "source_parts.h"
#include "typed_cells.h"

/* Position in a record. */
typedef struct typed_walk {
    const uint8_t *data;
    size_t at, end; /* end of the window's bytes */
    uint64_t left;  /* bytes from `at` to the source's end */
    const char *problem;
} typed_walk;

typedef enum walked {
    WALKED,
    WALKED_SHORT, /* the window does not have the complete record */
    WALKED_LOST   /* see walk.problem */
} walked;

static walked lost(typed_walk *w, const char *problem)
{
    w->problem = problem;
    return WALKED_LOST;
}

/* Skips `bytes` bytes of an object. */
static walked pass(typed_walk *w, uint64_t bytes)
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

static walked take_u32(typed_walk *w, uint32_t *ret)
{
    walked what = pass(w, sizeof *ret);
    if (what != WALKED)
        return what;
    memcpy(ret, w->data + w->at - sizeof *ret, sizeof *ret);
    *ret = __builtin_bswap32(*ret);
    return *ret <= INT32_MAX ? WALKED : lost(w, "a length or a count is negative");
}

/* Reads an object's code and skips its bytes, unless it contains objects. */
static walked take_head(typed_walk *w, hac_typed_cell *ret)
{
    walked what = pass(w, 1);
    if (what != WALKED)
        return what;
    uint8_t code = w->data[w->at - 1];
    uint32_t n;
    hac_typed_layout layout = hac_typed_layout_of(code, &n);
    if (layout == HAC_TYPED_LENGTH || layout == HAC_TYPED_COUNT)
        what = take_u32(w, &n);
    else if (layout == HAC_TYPED_NO_OBJECT && code != HAC_TYPED_MARKER)
        return lost(w, "an object's type is none of typed bytes");
    if (what != WALKED)
        return what;
    *ret = (hac_typed_cell){.code = code, .at = (uint32_t)w->at, .n = n};
    return layout == HAC_TYPED_FIXED || layout == HAC_TYPED_LENGTH ? pass(w, n) : WALKED;
}

static bool has_objects(uint8_t code)
{
    return code >= HAC_TYPED_VECTOR && code <= HAC_TYPED_MAP;
}

#define UNTIL_MARKER UINT64_MAX

/* The number of objects inside an object. */
static uint64_t objects_in(const hac_typed_cell *head)
{
    return head->code == HAC_TYPED_LIST  ? UNTIL_MARKER
           : head->code == HAC_TYPED_MAP ? 2 * (uint64_t)head->n
                                         : head->n;
}

/* Skips the objects inside an object, at any depth. */
static walked skip_objects(typed_walk *w, const hac_typed_cell *head)
{
    uint64_t open[HAC_TYPED_DEPTH_MAX]; /* objects that still follow, for each level */
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
        if (depth == HAC_TYPED_DEPTH_MAX)
            return lost(w, "objects are nested more than 64 deep");
        open[depth++] = objects_in(&inner);
    }
    return WALKED;
}

/* Skips an object; *ret is its header. */
static walked take_object(typed_walk *w, hac_typed_cell *ret)
{
    walked what = take_head(w, ret);
    if (what != WALKED)
        return what;
    if (ret->code == HAC_TYPED_MARKER)
        return lost(w, "a list's end stands where no list is");
    return has_objects(ret->code) ? skip_objects(w, ret) : WALKED;
}

/* ---- records ---- */

/* Reads the elements of a vector or list as columns 1 … */
static walked take_elements(typed_walk *w, const hac_typed_cell *head, hac_typed_record *ret)
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
        if (1 + ret->elements < ret->capacity)
            ret->cells[1 + ret->elements] = cell;
        ret->elements++;
    }
    return WALKED;
}

static walked take_record(typed_walk *w, hac_typed_record *ret)
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
    ret->many = ret->capacity > 2 && (value.code == HAC_TYPED_VECTOR || value.code == HAC_TYPED_LIST);
    if (ret->many)
        return take_elements(w, &value, ret);
    if (value.code == HAC_TYPED_MARKER)
        return lost(w, "a list's end stands where no list is");
    if (ret->capacity > 1)
        ret->cells[1] = value;
    ret->elements = 1;
    return has_objects(value.code) ? skip_objects(w, &value) : WALKED;
}

/* ---- the format ---- */

static hac_status open_typed(hac_source *source, hac_error *err)
{
    size_t n = source->query->schema_columns;
    if (n == 0 || n > HAC_COLUMNS_MAX)
        return hac_fail(err, HAC_INVALID, "typed bytes are read as 1 to %d columns", HAC_COLUMNS_MAX);
    for (size_t i = 0; i < source->n_columns; i++)
        if (source->columns[i].place >= n)
            return hac_fail(err, HAC_INVALID, "column '%s' is not in the schema", source->columns[i].name);
    hac_status status = hac_typed_open(source, err);
    return status == HAC_OK ? hac_window_init(&source->records.window, &source->place, err) : status;
}

/* Reads the record at `position` of the window. */
static walked walk_record(const hac_window *window, uint64_t position, typed_walk *w, hac_typed_record *ret)
{
    *w = (typed_walk){.data = window->data,
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
    typed_walk w;
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

/* Counts by walking through all records before it. */
static uint64_t typed_number(hac_source *source, uint64_t position)
{
    hac_window window;
    hac_typed_cell key;
    hac_typed_record record = {.cells = &key, .capacity = 1};
    uint64_t number = 1, at = 0;
    typed_walk w;
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

const hac_source_format hac_format_typedbytes = {.state_bytes = sizeof(hac_typed_source),
                                                 .open = open_typed,
                                                 .begin = hac_source_begin_whole,
                                                 .next = next_typed,
                                                 .number = typed_number,
                                                 .close = hac_typed_close};
