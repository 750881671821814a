/* SPDX-License-Identifier: Apache-2.0 */
#include "record_cut.h"

#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "base/format.h"
#include "byte_count.h"

#define BLOCK ((size_t)4096) /* bytes of a step of the backward scan */

void hac_record_cut_begin(hac_record_cut *cut, const hac_record_rule *rule)
{
    *cut = (hac_record_cut){.rule = *rule};
}

static const uint8_t *at(const hac_record_view *view, uint64_t offset)
{
    return view->data + (offset - view->base);
}

static bool is_blank(uint8_t byte)
{
    return byte == ' ' || (byte >= '\t' && byte <= '\r');
}

static hac_record_end records_of(const hac_record_cut *cut)
{
    return hac_formats[cut->rule.format].records;
}

/* ---- text: ends of records ---- */

static void look_at(hac_record_cut *cut, const hac_record_view *view, uint64_t until)
{
    const uint8_t *data = at(view, cut->at);
    size_t bytes = (size_t)(until - cut->at);
    if (records_of(cut) == HAC_RECORDS_QUOTED_LINE) {
        hac_byte_counts counts = hac_byte_count_text(data, bytes);
        cut->lines_at += counts.newlines;
        cut->quoted ^= (counts.quotes & 1) != 0;
    } else {
        cut->lines_at += hac_byte_count_lines(data, bytes);
    }
    cut->at = until;
}

/* Returns the end of the last record in [start, cut->at), or `start` if no record ends there. */
static uint64_t last_line(const hac_record_cut *cut, const hac_record_view *view)
{
    const uint8_t *first = at(view, cut->start);
    const uint8_t *found = memrchr(first, '\n', (size_t)(cut->at - cut->start));
    return found == NULL ? cut->start : cut->start + (uint64_t)(found - first) + 1;
}

static uint64_t last_word(const hac_record_cut *cut, const hac_record_view *view)
{
    uint64_t end = cut->at;
    while (end > cut->start && !is_blank(*at(view, end - 1)))
        end--;
    return end;
}

/* Scans backward to a newline outside quotes. The scan starts at the end, where the parity of the quotes is
 * known. */
static uint64_t last_unquoted(const hac_record_cut *cut, const hac_record_view *view)
{
    const uint8_t *first = at(view, cut->start), *end = at(view, cut->at);
    bool inside = cut->quoted;
    while (end > first) {
        size_t bytes = (size_t)(end - first) < BLOCK ? (size_t)(end - first) : BLOCK;
        const uint8_t *block = end - bytes, *quote = memrchr(block, '"', bytes);
        const uint8_t *from = quote == NULL ? block : quote + 1;
        const uint8_t *newline = inside ? NULL : memrchr(from, '\n', (size_t)(end - from));
        if (newline != NULL)
            return cut->start + (uint64_t)(newline - first) + 1;
        inside ^= quote != NULL;
        end = quote == NULL ? block : quote;
    }
    return cut->start;
}

static uint64_t last_end(const hac_record_cut *cut, const hac_record_view *view)
{
    if (records_of(cut) == HAC_RECORDS_QUOTED_LINE)
        return last_unquoted(cut, view);
    return records_of(cut) == HAC_RECORDS_BLANK ? last_word(cut, view) : last_line(cut, view);
}

static const uint8_t *find(const uint8_t *from, const uint8_t *end, uint8_t byte)
{
    const uint8_t *found = memchr(from, byte, (size_t)(end - from));
    return found == NULL ? end : found;
}

/* Returns the first newline in data[0 … bytes) that is outside quotes, or NULL. */
static const uint8_t *next_unquoted(const uint8_t *data, size_t bytes, bool quoted)
{
    const uint8_t *end = data + bytes, *newline = NULL, *quote;
    for (const uint8_t *from = data; from < end; from = quote + 1) {
        quote = find(from, end, '"');
        if (!quoted && (newline == NULL || newline < from))
            newline = find(from, end, '\n');
        if (!quoted && newline < quote)
            return newline;
        if (quote == end)
            break;
        quoted = !quoted;
    }
    return NULL;
}

static const uint8_t *next_blank(const uint8_t *data, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        if (is_blank(data[i]))
            return data + i;
    return NULL;
}

/* Returns the end of the first record that ends after cut->at, or 0. Scans all bytes up to that end. */
static uint64_t next_end(hac_record_cut *cut, const hac_record_view *view)
{
    const uint8_t *data = at(view, cut->at), *found;
    size_t bytes = (size_t)(view->end - cut->at);
    if (records_of(cut) == HAC_RECORDS_QUOTED_LINE)
        found = next_unquoted(data, bytes, cut->quoted);
    else
        found = records_of(cut) == HAC_RECORDS_BLANK ? next_blank(data, bytes) : memchr(data, '\n', bytes);
    uint64_t end = found == NULL ? view->end : cut->at + (uint64_t)(found - data) + 1;
    look_at(cut, view, end);
    return found == NULL ? 0 : end;
}

/* ---- text: sets ---- */

/* Ends a set at `end`. The bytes before `end` are scanned. */
static hac_status end_set(hac_record_cut *cut, const hac_record_view *view, uint64_t end, uint64_t *ret_end)
{
    cut->lines = cut->lines_at - hac_byte_count_lines(at(view, end), (size_t)(cut->at - end));
    cut->start = cut->at = end;
    cut->lines_at = cut->lines;
    cut->quoted = false;
    *ret_end = end;
    return HAC_OK;
}

static hac_status fail_long(hac_record_cut *cut, hac_error *err)
{
    cut->unclosed = cut->quoted;
    if (records_of(cut) == HAC_RECORDS_BLANK)
        return hac_fail(err, HAC_FAILED, "line %" PRIu64 ": a word is longer than 64 MiB", cut->lines + 1);
    return hac_fail(err, HAC_FAILED, "line %" PRIu64 ": a record is longer than 64 MiB%s", cut->lines + 1,
                    cut->quoted ? ": perhaps a quoted field is not closed" : "");
}

/* Ends the last set at the end of the input. */
static hac_status end_input(hac_record_cut *cut, const hac_record_view *view, uint64_t *ret_end)
{
    look_at(cut, view, view->end);
    cut->ragged = cut->quoted;
    return end_set(cut, view, view->end, ret_end);
}

static hac_status next_text(hac_record_cut *cut, const hac_record_view *view, uint64_t *ret_end,
                            hac_error *err)
{
    uint64_t limit = cut->start + cut->rule.set_bytes, end;
    if (view->end == cut->start)
        return view->last ? HAC_NOT_FOUND : HAC_AGAIN;
    if (cut->at < limit) {
        if (view->end < limit && view->last)
            return end_input(cut, view, ret_end);
        look_at(cut, view, view->end < limit ? view->end : limit);
        if (cut->at < limit)
            return HAC_AGAIN;
        end = last_end(cut, view);
        if (end > cut->start)
            return end_set(cut, view, end, ret_end);
    }
    end = next_end(cut, view);
    if ((end != 0 ? end : view->end) - cut->start > HAC_RECORD_MAX)
        return fail_long(cut, err);
    if (end != 0)
        return end_set(cut, view, end, ret_end);
    return view->last ? end_input(cut, view, ret_end) : HAC_AGAIN;
}

/* ---- all formats ---- */

hac_status hac_record_cut_next(hac_record_cut *cut, const hac_record_view *view, uint64_t *ret_end,
                               hac_error *err)
{
    switch (records_of(cut)) {
    case HAC_RECORDS_FIXED:
        return hac_record_cut_fixed(cut, view, ret_end);
    case HAC_RECORDS_LENGTH:
    case HAC_RECORDS_TYPED:
        return hac_record_cut_walked(cut, view, ret_end, err);
    default:
        return next_text(cut, view, ret_end, err);
    }
}

hac_status hac_record_cut_early(hac_record_cut *cut, const hac_record_view *view, uint64_t *ret_end)
{
    uint64_t end = cut->whole;
    if (records_of(cut) == HAC_RECORDS_FIXED)
        end = view->end - (view->end - cut->start) % cut->rule.record_bytes;
    else if (hac_formats[cut->rule.format].text)
        end = last_end(cut, view);
    if (end <= cut->start)
        return HAC_NOT_FOUND;
    if (records_of(cut) == HAC_RECORDS_FIXED)
        cut->lines += (end - cut->start) / cut->rule.record_bytes;
    else if (!hac_formats[cut->rule.format].text)
        cut->lines = cut->lines_at;
    else
        return end_set(cut, view, end, ret_end);
    *ret_end = cut->start = end;
    return HAC_OK;
}
