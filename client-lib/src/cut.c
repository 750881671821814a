/* SPDX-License-Identifier: Apache-2.0 */
#include "cut.h"

#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "count.h"

#define BLOCK ((size_t)4096) /* looked at backwards at once */

void hac_cut_begin(hac_cut *cut, const hac_cut_rule *rule)
{
    *cut = (hac_cut){.rule = *rule};
}

static const uint8_t *at(const hac_cut_view *view, uint64_t offset)
{
    return view->data + (offset - view->base);
}

static bool is_blank(uint8_t byte)
{
    return byte == ' ' || (byte >= '\t' && byte <= '\r');
}

/* ---- text: what ends a record ---- */

static void look_at(hac_cut *cut, const hac_cut_view *view, uint64_t until)
{
    const uint8_t *data = at(view, cut->at);
    size_t bytes = (size_t)(until - cut->at);
    if (cut->rule.format == HAC_INPUT_CSV) {
        hac_text_counts counts = hac_count_text(data, bytes);
        cut->lines_at += counts.newlines;
        cut->quoted ^= (counts.quotes & 1) != 0;
    } else {
        cut->lines_at += hac_count_lines(data, bytes);
    }
    cut->at = until;
}

/* The end of the last record in [start, cut->at); start: none ends there. */
static uint64_t last_line(const hac_cut *cut, const hac_cut_view *view)
{
    const uint8_t *first = at(view, cut->start);
    const uint8_t *found = memrchr(first, '\n', (size_t)(cut->at - cut->start));
    return found == NULL ? cut->start : cut->start + (uint64_t)(found - first) + 1;
}

static uint64_t last_word(const hac_cut *cut, const hac_cut_view *view)
{
    uint64_t end = cut->at;
    while (end > cut->start && !is_blank(*at(view, end - 1)))
        end--;
    return end;
}

/* From the end, where the parity of the quotes is known, back to a newline outside of them. */
static uint64_t last_unquoted(const hac_cut *cut, const hac_cut_view *view)
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

static uint64_t last_end(const hac_cut *cut, const hac_cut_view *view)
{
    if (cut->rule.format == HAC_INPUT_CSV)
        return last_unquoted(cut, view);
    return cut->rule.format == HAC_INPUT_WORDS ? last_word(cut, view) : last_line(cut, view);
}

static const uint8_t *find(const uint8_t *from, const uint8_t *end, uint8_t byte)
{
    const uint8_t *found = memchr(from, byte, (size_t)(end - from));
    return found == NULL ? end : found;
}

/* The first newline in data[0 … bytes) that is outside of quotes, or NULL. */
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

/* The end of the first record that ends behind cut->at, or 0; looks at all up to there. */
static uint64_t next_end(hac_cut *cut, const hac_cut_view *view)
{
    const uint8_t *data = at(view, cut->at), *found;
    size_t bytes = (size_t)(view->end - cut->at);
    if (cut->rule.format == HAC_INPUT_CSV)
        found = next_unquoted(data, bytes, cut->quoted);
    else
        found = cut->rule.format == HAC_INPUT_WORDS ? next_blank(data, bytes) : memchr(data, '\n', bytes);
    uint64_t end = found == NULL ? view->end : cut->at + (uint64_t)(found - data) + 1;
    look_at(cut, view, end);
    return found == NULL ? 0 : end;
}

/* ---- text: sets ---- */

/* A set ends at `end`, which was looked at. */
static hac_status end_set(hac_cut *cut, const hac_cut_view *view, uint64_t end, uint64_t *ret_end)
{
    cut->lines = cut->lines_at - hac_count_lines(at(view, end), (size_t)(cut->at - end));
    cut->start = cut->at = end;
    cut->lines_at = cut->lines;
    cut->quoted = false;
    *ret_end = end;
    return HAC_OK;
}

static hac_status fail_long(hac_cut *cut, hac_error *err)
{
    cut->unclosed = cut->quoted;
    if (cut->rule.format == HAC_INPUT_WORDS)
        return hac_fail(err, HAC_FAILED, "line %" PRIu64 ": a word is longer than 64 MiB", cut->lines + 1);
    return hac_fail(err, HAC_FAILED, "line %" PRIu64 ": a record is longer than 64 MiB%s", cut->lines + 1,
                    cut->quoted ? ": perhaps a quoted field is not closed" : "");
}

/* The rest of the input is the last set. */
static hac_status end_input(hac_cut *cut, const hac_cut_view *view, uint64_t *ret_end)
{
    look_at(cut, view, view->end);
    cut->ragged = cut->quoted;
    return end_set(cut, view, view->end, ret_end);
}

static hac_status next_text(hac_cut *cut, const hac_cut_view *view, uint64_t *ret_end, hac_error *err)
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
    if ((end != 0 ? end : view->end) - cut->start > HAC_CUT_RECORD_MAX)
        return fail_long(cut, err);
    if (end != 0)
        return end_set(cut, view, end, ret_end);
    return view->last ? end_input(cut, view, ret_end) : HAC_AGAIN;
}

/* ---- all formats ---- */

hac_status hac_cut_next(hac_cut *cut, const hac_cut_view *view, uint64_t *ret_end, hac_error *err)
{
    switch (cut->rule.format) {
    case HAC_INPUT_FIXED:
        return hac_cut_fixed(cut, view, ret_end);
    case HAC_INPUT_LENGTHS:
    case HAC_INPUT_TYPEDBYTES:
        return hac_cut_walked(cut, view, ret_end, err);
    default:
        return next_text(cut, view, ret_end, err);
    }
}

hac_status hac_cut_early(hac_cut *cut, const hac_cut_view *view, uint64_t *ret_end)
{
    uint64_t end = cut->whole;
    if (cut->rule.format == HAC_INPUT_FIXED)
        end = view->end - (view->end - cut->start) % cut->rule.record_bytes;
    else if (cut->rule.format != HAC_INPUT_LENGTHS && cut->rule.format != HAC_INPUT_TYPEDBYTES)
        end = last_end(cut, view);
    if (end <= cut->start)
        return HAC_NOT_FOUND;
    if (cut->rule.format == HAC_INPUT_FIXED)
        cut->lines += (end - cut->start) / cut->rule.record_bytes;
    else if (cut->rule.format == HAC_INPUT_LENGTHS || cut->rule.format == HAC_INPUT_TYPEDBYTES)
        cut->lines = cut->lines_at;
    else
        return end_set(cut, view, end, ret_end);
    *ret_end = cut->start = end;
    return HAC_OK;
}
