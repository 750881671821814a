/* SPDX-License-Identifier: Apache-2.0 */
#include "fill.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/split_layout.h"

enum { ALIGNMENT = 64, MARK_BYTES = 3 };

void hac_fill_init(hac_fill *fill, const hac_cut_rule *rule, bool header)
{
    hac_input_format format = rule->format;
    bool delimited = format == HAC_INPUT_CSV || format == HAC_INPUT_TSV;
    *fill = (hac_fill){.rule = *rule,
                       .header_wanted = header && delimited,
                       .mark_dropped = delimited || format == HAC_INPUT_JSONL};
}

void hac_fill_clear(hac_fill *fill)
{
    free(fill->header);
    fill->header = NULL;
}

/* ---- memory ---- */

/* Behind the header and the starts of as many sets as can be. */
#define TEXT_AT                                                                                              \
    ((sizeof(hac_split_header) + (HAC_SPLIT_SETS_MAX + 1) * sizeof(uint64_t) + ALIGNMENT - 1) / ALIGNMENT *  \
     ALIGNMENT)

uint64_t hac_fill_bytes(uint64_t text)
{
    return TEXT_AT + text;
}

uint64_t hac_fill_needs(const hac_fill *fill)
{
    return hac_fill_bytes(fill->header_bytes + (fill->end - fill->cut.start) + 1);
}

static uint8_t *text_of(const hac_fill *fill)
{
    return fill->memory + TEXT_AT;
}

static uint64_t *starts_of(const hac_fill *fill)
{
    return (uint64_t *)(void *)(fill->memory + sizeof(hac_split_header));
}

void hac_fill_memory(hac_fill *fill, uint8_t *memory, uint64_t room)
{
    uint64_t left = fill->end - fill->cut.start, front = fill->header_bytes;
    const uint8_t *from =
        fill->memory == NULL ? NULL : text_of(fill) + fill->front + (fill->cut.start - fill->base);
    fill->memory = memory;
    fill->room = room;
    if (left > 0)
        memmove(text_of(fill) + front, from, (size_t)left);
    if (front > 0)
        memcpy(text_of(fill), fill->header, (size_t)front);
    fill->front = front;
    fill->base = fill->cut.start;
    fill->n_sets = 0;
    fill->largest = 0;
}

/* ---- an input ---- */

void hac_fill_begin(hac_fill *fill)
{
    free(fill->header);
    fill->header = NULL;
    fill->header_bytes = 0;
    hac_cut_begin(&fill->cut, &fill->rule);
    if (fill->header_wanted)
        fill->cut.rule.set_bytes = 0; /* the first record is the header */
    fill->begun = false;
    fill->mark_known = !fill->mark_dropped;
    fill->ended = fill->told = false;
    fill->front = fill->base = fill->end = 0;
    fill->lines_before = 0;
}

uint8_t *hac_fill_room(const hac_fill *fill, uint64_t *ret_room)
{
    uint64_t used = TEXT_AT + fill->front + (fill->end - fill->base);
    *ret_room = fill->room - used;
    return fill->memory + used;
}

void hac_fill_read(hac_fill *fill, uint64_t bytes)
{
    fill->end += bytes;
}

void hac_fill_end(hac_fill *fill)
{
    fill->ended = true;
}

static hac_cut_view view_of(const hac_fill *fill)
{
    return (hac_cut_view){text_of(fill) + fill->front, fill->base, fill->end, fill->ended};
}

/* ---- what lies before the records ---- */

/* HAC_AGAIN: what is there may be the beginning of a mark. */
static hac_status drop_mark(hac_fill *fill)
{
    static const uint8_t mark[MARK_BYTES] = {0xef, 0xbb, 0xbf};
    size_t there = fill->end < MARK_BYTES ? (size_t)fill->end : MARK_BYTES;
    uint8_t *text = text_of(fill);
    if (memcmp(text, mark, there) != 0)
        return HAC_OK;
    if (there < MARK_BYTES)
        return fill->ended ? HAC_OK : HAC_AGAIN;
    fill->end -= MARK_BYTES;
    memmove(text, text + MARK_BYTES, (size_t)fill->end);
    return HAC_OK;
}

static hac_status take_header(hac_fill *fill, hac_error *err)
{
    hac_cut_view view = view_of(fill);
    uint64_t end = 0;
    hac_status status = hac_cut_next(&fill->cut, &view, &end, err);
    if ((status == HAC_OK ? end : fill->end) > HAC_FILL_HEADER_MAX)
        return hac_fail(err, HAC_FAILED, "line 1: the header is longer than 1 MiB%s",
                        fill->cut.quoted ? ": perhaps a quoted name is not closed" : "");
    if (status == HAC_OK && fill->cut.ragged) /* all of the input would be its header, and no record */
        return hac_fail(err, HAC_FAILED, "line 1: a double quote in the header is not closed");
    if (status != HAC_OK)
        return status;
    fill->header = malloc((size_t)end);
    if (fill->header == NULL)
        return hac_fail_no_memory(err);
    memcpy(fill->header, view.data, (size_t)end);
    fill->header_bytes = end;
    fill->cut.rule.set_bytes = fill->rule.set_bytes;
    return HAC_OK;
}

/* In the first split the header stays where it was read. HAC_NOT_FOUND: the input has no bytes. */
static hac_status begin_records(hac_fill *fill, hac_error *err)
{
    hac_status status = HAC_OK;
    if (!fill->mark_known)
        status = drop_mark(fill);
    fill->mark_known = status == HAC_OK;
    if (status == HAC_OK && fill->header_wanted)
        status = take_header(fill, err);
    fill->begun = status == HAC_OK;
    return status;
}

/* ---- sets ---- */

static uint64_t place_of(const hac_fill *fill, uint64_t offset)
{
    return fill->front + (offset - fill->base);
}

static void add_set(hac_fill *fill, uint64_t start, uint64_t end, uint64_t lines)
{
    if (fill->n_sets == 0) {
        starts_of(fill)[0] = place_of(fill, start);
        fill->lines_before = lines;
    }
    starts_of(fill)[++fill->n_sets] = place_of(fill, end);
    if (end - start > fill->largest)
        fill->largest = end - start;
}

/* HAC_AGAIN: more bytes are needed. HAC_NOT_FOUND: none are left. */
static hac_status cut_one(hac_fill *fill, hac_error *err)
{
    uint64_t start = fill->cut.start, lines = fill->cut.lines, end;
    hac_cut_view view = view_of(fill);
    hac_status status = hac_cut_next(&fill->cut, &view, &end, err);
    if (status == HAC_OK)
        add_set(fill, start, end, lines);
    return status;
}

hac_status hac_fill_cut(hac_fill *fill, hac_fill_state *ret, hac_error *err)
{
    uint64_t room;
    hac_status status = fill->begun ? HAC_OK : begin_records(fill, err);
    while (status == HAC_OK && fill->n_sets < HAC_SPLIT_SETS_MAX)
        status = cut_one(fill, err);
    (void)hac_fill_room(fill, &room);
    if (status == HAC_OK || (status == HAC_AGAIN && room == 0 && fill->n_sets > 0))
        *ret = HAC_FILL_FULL;
    else if (status == HAC_AGAIN)
        *ret = room == 0 ? HAC_FILL_GROW : HAC_FILL_MORE;
    else if (status == HAC_NOT_FOUND)
        *ret = HAC_FILL_ENDED;
    else
        return status;
    return HAC_OK;
}

bool hac_fill_early(hac_fill *fill)
{
    uint64_t start = fill->cut.start, lines = fill->cut.lines, end;
    hac_cut_view view = view_of(fill);
    if (fill->begun && fill->n_sets < HAC_SPLIT_SETS_MAX && hac_cut_early(&fill->cut, &view, &end) == HAC_OK)
        add_set(fill, start, end, lines);
    return fill->n_sets > 0;
}

bool hac_fill_rescue(hac_fill *fill)
{
    (void)hac_fill_early(fill);
    if (fill->begun && fill->cut.unclosed && fill->n_sets < HAC_SPLIT_SETS_MAX)
        add_set(fill, fill->cut.start, fill->end, fill->cut.lines);
    return hac_fill_due(fill);
}

bool hac_fill_due(const hac_fill *fill)
{
    return fill->n_sets > 0 || (fill->header_bytes > 0 && !fill->told);
}

hac_fill_split hac_fill_close(hac_fill *fill)
{
    if (fill->n_sets == 0)
        starts_of(fill)[0] = place_of(fill, fill->cut.start);
    uint64_t text_bytes = starts_of(fill)[fill->n_sets];
    const hac_split_header header = {.magic = HAC_SPLIT_MAGIC,
                                     .text_offset = TEXT_AT,
                                     .text_bytes = text_bytes,
                                     .lines_before = fill->lines_before,
                                     .n_sets = fill->n_sets,
                                     .header_bytes = (uint32_t)fill->header_bytes};
    memcpy(fill->memory, &header, sizeof(header));
    uint64_t repeated = fill->told ? fill->front : 0;
    fill->told = true;
    return (hac_fill_split){TEXT_AT + text_bytes, fill->largest, text_bytes - repeated, fill->n_sets};
}
