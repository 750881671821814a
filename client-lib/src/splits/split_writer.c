/* SPDX-License-Identifier: Apache-2.0 */
#include "split_writer.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/format.h"
#include "base/split_layout.h"

enum { ALIGNMENT = 64, MARK_BYTES = 3 };

void hac_split_writer_init(hac_split_writer *writer, const hac_record_rule *rule, bool header)
{
    const hac_format_info *format = &hac_formats[rule->format];
    *writer = (hac_split_writer){
        .rule = *rule, .header_wanted = header && format->header, .mark_dropped = format->text};
}

void hac_split_writer_clear(hac_split_writer *writer)
{
    free(writer->header);
    writer->header = NULL;
}

/* ---- memory ---- */

/* The offset of the text: after the header of the split and the starts of the maximum number of sets. */
#define TEXT_AT                                                                                              \
    ((sizeof(hac_split_header) + (HAC_SPLIT_SETS_MAX + 1) * sizeof(uint64_t) + ALIGNMENT - 1) / ALIGNMENT *  \
     ALIGNMENT)

uint64_t hac_split_writer_bytes(uint64_t text)
{
    return TEXT_AT + text;
}

uint64_t hac_split_writer_needs(const hac_split_writer *writer)
{
    return hac_split_writer_bytes(writer->header_bytes + (writer->end - writer->cut.start) + 1);
}

static uint8_t *text_of(const hac_split_writer *writer)
{
    return writer->memory + TEXT_AT;
}

static uint64_t *starts_of(const hac_split_writer *writer)
{
    return (uint64_t *)(void *)(writer->memory + sizeof(hac_split_header));
}

void hac_split_writer_memory(hac_split_writer *writer, uint8_t *memory, uint64_t capacity)
{
    uint64_t left = writer->end - writer->cut.start, front = writer->header_bytes;
    const uint8_t *from =
        writer->memory == NULL ? NULL : text_of(writer) + writer->front + (writer->cut.start - writer->base);
    writer->memory = memory;
    writer->capacity = capacity;
    if (left > 0)
        memmove(text_of(writer) + front, from, (size_t)left);
    if (front > 0)
        memcpy(text_of(writer), writer->header, (size_t)front);
    writer->front = front;
    writer->base = writer->cut.start;
    writer->n_sets = 0;
    writer->largest = 0;
}

/* ---- an input ---- */

void hac_split_writer_begin(hac_split_writer *writer)
{
    free(writer->header);
    writer->header = NULL;
    writer->header_bytes = 0;
    hac_record_cut_begin(&writer->cut, &writer->rule);
    if (writer->header_wanted)
        writer->cut.rule.set_bytes = 0; /* the first record is the header */
    writer->begun = false;
    writer->mark_known = !writer->mark_dropped;
    writer->ended = writer->told = false;
    writer->front = writer->base = writer->end = 0;
    writer->lines_before = 0;
}

uint8_t *hac_split_writer_space(const hac_split_writer *writer, uint64_t *ret_capacity)
{
    uint64_t used = TEXT_AT + writer->front + (writer->end - writer->base);
    *ret_capacity = writer->capacity - used;
    return writer->memory + used;
}

void hac_split_writer_read(hac_split_writer *writer, uint64_t bytes)
{
    writer->end += bytes;
}

void hac_split_writer_end(hac_split_writer *writer)
{
    writer->ended = true;
}

static hac_record_view view_of(const hac_split_writer *writer)
{
    return (hac_record_view){text_of(writer) + writer->front, writer->base, writer->end, writer->ended};
}

/* ---- byte order mark and header ---- */

/* Skips a byte order mark. HAC_AGAIN: the bytes so far may be the start of a mark. */
static hac_status drop_mark(hac_split_writer *writer)
{
    static const uint8_t mark[MARK_BYTES] = {0xef, 0xbb, 0xbf};
    size_t there = writer->end < MARK_BYTES ? (size_t)writer->end : MARK_BYTES;
    uint8_t *text = text_of(writer);
    if (memcmp(text, mark, there) != 0)
        return HAC_OK;
    if (there < MARK_BYTES)
        return writer->ended ? HAC_OK : HAC_AGAIN;
    writer->end -= MARK_BYTES;
    memmove(text, text + MARK_BYTES, (size_t)writer->end);
    return HAC_OK;
}

hac_status hac_split_header_check(const hac_record_cut *cut, hac_status status, uint64_t bytes,
                                  hac_error *err)
{
    if (bytes > HAC_SPLIT_HEADER_MAX)
        return hac_fail(err, HAC_FAILED, "line 1: the header is longer than 1 MiB%s",
                        cut->quoted ? ": perhaps a quoted name is not closed" : "");
    if (status == HAC_OK && cut->ragged) /* the whole input would be the header */
        return hac_fail(err, HAC_FAILED, "line 1: a double quote in the header is not closed");
    return status;
}

static hac_status take_header(hac_split_writer *writer, hac_error *err)
{
    hac_record_view view = view_of(writer);
    uint64_t end = 0;
    hac_status status = hac_record_cut_next(&writer->cut, &view, &end, err);
    status = hac_split_header_check(&writer->cut, status, status == HAC_OK ? end : writer->end, err);
    if (status != HAC_OK)
        return status;
    writer->header = malloc((size_t)end);
    if (writer->header == NULL)
        return hac_fail_no_memory(err);
    memcpy(writer->header, view.data, (size_t)end);
    writer->header_bytes = end;
    writer->cut.rule.set_bytes = writer->rule.set_bytes;
    return HAC_OK;
}

/* Consumes the mark and the header. In the first split the header stays where it was read. HAC_NOT_FOUND: the
 * input is empty. */
static hac_status begin_records(hac_split_writer *writer, hac_error *err)
{
    hac_status status = HAC_OK;
    if (!writer->mark_known)
        status = drop_mark(writer);
    writer->mark_known = status == HAC_OK;
    if (status == HAC_OK && writer->header_wanted)
        status = take_header(writer, err);
    writer->begun = status == HAC_OK;
    return status;
}

/* ---- sets ---- */

static uint64_t place_of(const hac_split_writer *writer, uint64_t offset)
{
    return writer->front + (offset - writer->base);
}

static void add_set(hac_split_writer *writer, uint64_t start, uint64_t end, uint64_t lines)
{
    if (writer->n_sets == 0) {
        starts_of(writer)[0] = place_of(writer, start);
        writer->lines_before = lines;
    }
    starts_of(writer)[++writer->n_sets] = place_of(writer, end);
    if (end - start > writer->largest)
        writer->largest = end - start;
}

/* Cuts one set. HAC_AGAIN: more bytes are needed. HAC_NOT_FOUND: no bytes are left. */
static hac_status cut_one(hac_split_writer *writer, hac_error *err)
{
    uint64_t start = writer->cut.start, lines = writer->cut.lines, end;
    hac_record_view view = view_of(writer);
    hac_status status = hac_record_cut_next(&writer->cut, &view, &end, err);
    if (status == HAC_OK)
        add_set(writer, start, end, lines);
    return status;
}

hac_status hac_split_writer_cut(hac_split_writer *writer, hac_split_writer_state *ret, hac_error *err)
{
    uint64_t capacity;
    hac_status status = writer->begun ? HAC_OK : begin_records(writer, err);
    while (status == HAC_OK && writer->n_sets < HAC_SPLIT_SETS_MAX)
        status = cut_one(writer, err);
    (void)hac_split_writer_space(writer, &capacity);
    if (status == HAC_OK || (status == HAC_AGAIN && capacity == 0 && writer->n_sets > 0))
        *ret = HAC_SPLIT_WRITER_FULL;
    else if (status == HAC_AGAIN)
        *ret = capacity == 0 ? HAC_SPLIT_WRITER_GROW : HAC_SPLIT_WRITER_MORE;
    else if (status == HAC_NOT_FOUND)
        *ret = HAC_SPLIT_WRITER_ENDED;
    else
        return status;
    return HAC_OK;
}

bool hac_split_writer_early(hac_split_writer *writer)
{
    uint64_t start = writer->cut.start, lines = writer->cut.lines, end;
    hac_record_view view = view_of(writer);
    if (writer->begun && writer->n_sets < HAC_SPLIT_SETS_MAX &&
        hac_record_cut_early(&writer->cut, &view, &end) == HAC_OK)
        add_set(writer, start, end, lines);
    return writer->n_sets > 0;
}

bool hac_split_writer_rescue(hac_split_writer *writer)
{
    (void)hac_split_writer_early(writer);
    if (writer->begun && writer->cut.unclosed && writer->n_sets < HAC_SPLIT_SETS_MAX)
        add_set(writer, writer->cut.start, writer->end, writer->cut.lines);
    return hac_split_writer_due(writer);
}

bool hac_split_writer_due(const hac_split_writer *writer)
{
    return writer->n_sets > 0 || (writer->header_bytes > 0 && !writer->told);
}

hac_split_sizes hac_split_writer_close(hac_split_writer *writer)
{
    if (writer->n_sets == 0)
        starts_of(writer)[0] = place_of(writer, writer->cut.start);
    uint64_t text_bytes = starts_of(writer)[writer->n_sets];
    const hac_split_header header = {.magic = HAC_SPLIT_MAGIC,
                                     .text_offset = TEXT_AT,
                                     .text_bytes = text_bytes,
                                     .lines_before = writer->lines_before,
                                     .n_sets = writer->n_sets,
                                     .header_bytes = (uint32_t)writer->header_bytes};
    memcpy(writer->memory, &header, sizeof(header));
    uint64_t repeated = writer->told ? writer->front : 0;
    writer->told = true;
    return (hac_split_sizes){TEXT_AT + text_bytes, writer->largest, text_bytes - repeated, writer->n_sets};
}
