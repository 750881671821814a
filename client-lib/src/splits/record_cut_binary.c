/* SPDX-License-Identifier: Apache-2.0 */
/* Formats without lines: records of fixed width, records after their length, and Hadoop's typed bytes. */
#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "base/format.h"
#include "base/typed_bytes.h"
#include "base/value.h"
#include "record_cut.h"

/* ---- fixed ---- */

static hac_status take_fixed(hac_record_cut *cut, uint64_t end, uint64_t *ret_end)
{
    cut->lines += (end - cut->start) / cut->rule.record_bytes;
    *ret_end = cut->start = end;
    return HAC_OK;
}

uint64_t hac_record_cut_fixed_set(const hac_record_rule *rule)
{
    uint64_t records = rule->set_bytes / rule->record_bytes;
    return rule->record_bytes * (records > 0 ? records : 1);
}

hac_status hac_record_cut_fixed(hac_record_cut *cut, const hac_record_view *view, uint64_t *ret_end)
{
    uint64_t record = cut->rule.record_bytes, set = hac_record_cut_fixed_set(&cut->rule),
             there = view->end - cut->start;
    if (there >= set)
        return take_fixed(cut, cut->start + set, ret_end);
    if (!view->last)
        return HAC_AGAIN;
    cut->ragged = there % record != 0;
    return there < record ? HAC_NOT_FOUND : take_fixed(cut, view->end - there % record, ret_end);
}

/* ---- walked from record to record ---- */

enum { LENGTH_BYTES = 4 };

static hac_status fail_record(const hac_record_cut *cut, hac_error *err, const char *what)
{
    return hac_fail(err, HAC_FAILED, "record %" PRIu64 ", at byte %" PRIu64 ": %s", cut->lines_at + 1,
                    cut->whole, what);
}

/* Reads the 4-byte number at `offset`. False: the bytes have not arrived yet. */
static bool number_at(const hac_record_view *view, uint64_t offset, bool big_endian, uint32_t *ret)
{
    uint8_t b[4];
    if (offset > view->end || view->end - offset < sizeof(b))
        return false;
    memcpy(b, view->data + (offset - view->base), sizeof(b));
    *ret = big_endian ? (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3]
                      : (uint32_t)b[3] << 24 | (uint32_t)b[2] << 16 | (uint32_t)b[1] << 8 | b[0];
    return true;
}

/* Returns the end of the record at cut->whole. The end may be after the bytes that have arrived. HAC_AGAIN:
 * the length has not arrived yet. */
static hac_status length_end(hac_record_cut *cut, const hac_record_view *view, uint64_t *ret)
{
    uint32_t length;
    if (!number_at(view, cut->whole, cut->rule.big_endian, &length))
        return HAC_AGAIN;
    *ret = cut->whole + LENGTH_BYTES + length;
    return HAC_OK;
}

#define UNTIL_MARKER UINT64_MAX

/* Ends an object, and all objects whose last element it is. */
static void end_object(hac_record_cut *cut)
{
    while (cut->depth > 0) {
        uint64_t *left = &cut->left[cut->depth - 1];
        if (*left == UNTIL_MARKER || --*left > 0)
            return;
        cut->depth--;
    }
}

static hac_status enter(hac_record_cut *cut, uint64_t objects, hac_error *err)
{
    if (objects == 0) {
        end_object(cut);
        return HAC_OK;
    }
    if (cut->depth > HAC_TYPED_DEPTH_MAX)
        return fail_record(cut, err, "vectors, lists and maps are more than 64 deep in one another");
    cut->left[cut->depth++] = objects;
    return HAC_OK;
}

/* Skips the head of the object at cut->at. Skips the content, too, unless the content consists of objects. */
static hac_status step_typed(hac_record_cut *cut, const hac_record_view *view, hac_error *err)
{
    uint32_t bytes, number = 0;
    if (cut->at >= view->end)
        return HAC_AGAIN;
    uint8_t code = view->data[cut->at - view->base];
    if (code == HAC_TYPED_MARKER && cut->left[cut->depth - 1] == UNTIL_MARKER) {
        cut->at++;
        cut->depth--;
        end_object(cut);
        return HAC_OK;
    }
    hac_typed_layout layout = hac_typed_layout_of(code, &bytes);
    if (layout == HAC_TYPED_NO_OBJECT)
        return hac_fail(err, HAC_FAILED,
                        "record %" PRIu64 ", at byte %" PRIu64 ": %u at byte %" PRIu64
                        " is no type of typed bytes",
                        cut->lines_at + 1, cut->whole, code, cut->at);
    if (layout == HAC_TYPED_LENGTH || layout == HAC_TYPED_COUNT) {
        if (!number_at(view, cut->at + 1, true, &number))
            return HAC_AGAIN;
        if (number > INT32_MAX)
            return fail_record(cut, err, "a length or a count is negative");
        cut->at += sizeof(number);
    }
    cut->at++;
    if (layout == HAC_TYPED_UNTIL_MARKER)
        return enter(cut, UNTIL_MARKER, err);
    if (layout == HAC_TYPED_COUNT) /* a map counts pairs of a key and a value */
        return enter(cut, code == HAC_TYPED_MAP ? 2 * (uint64_t)number : number, err);
    cut->at += layout == HAC_TYPED_LENGTH ? number : bytes;
    end_object(cut);
    return HAC_OK;
}

/* Returns the end of a typed record, and continues where the last call stopped. Level 0 counts the key and
 * the value. */
static hac_status typed_end(hac_record_cut *cut, const hac_record_view *view, uint64_t *ret, hac_error *err)
{
    hac_status status = HAC_OK;
    if (cut->depth == 0 && cut->at <= cut->whole) {
        cut->at = cut->whole;
        cut->left[cut->depth++] = 2;
    }
    while (status == HAC_OK && cut->depth > 0) {
        status = step_typed(cut, view, err);
        if (cut->at - cut->whole > HAC_RECORD_MAX) /* limits the walk, too */
            break;
    }
    *ret = cut->at;
    return status;
}

static hac_status record_end(hac_record_cut *cut, const hac_record_view *view, uint64_t *ret, hac_error *err)
{
    bool lengths = hac_formats[cut->rule.format].records == HAC_RECORDS_LENGTH;
    hac_status status = lengths ? length_end(cut, view, ret) : typed_end(cut, view, ret, err);
    uint64_t max = HAC_RECORD_MAX + (lengths ? LENGTH_BYTES : 0); /* the length is not part of the record */
    if (status == HAC_OK && *ret - cut->whole > max)
        return fail_record(
            cut, err,
            lengths ? "a record is longer than 64 MiB: is the byte order of the lengths the right one?"
                    : "a record is longer than 64 MiB: are these typed bytes?");
    return status;
}

static hac_status take_walked(hac_record_cut *cut, uint64_t end, uint64_t *ret_end)
{
    cut->lines = cut->lines_at;
    *ret_end = cut->start = end;
    return HAC_OK;
}

hac_status hac_record_cut_walked(hac_record_cut *cut, const hac_record_view *view, uint64_t *ret_end,
                                 hac_error *err)
{
    uint64_t limit = cut->start + cut->rule.set_bytes, end;
    for (;;) {
        if (cut->whole == view->end)
            break;
        hac_status status = record_end(cut, view, &end, err);
        if (status != HAC_OK && status != HAC_AGAIN)
            return status;
        if (status == HAC_OK && end > limit && cut->whole > cut->start)
            return take_walked(cut, cut->whole, ret_end);
        if (status == HAC_AGAIN || end > view->end) {
            if (!view->last)
                return HAC_AGAIN;
            end = view->end;
            if (end > limit && cut->whole > cut->start)
                return take_walked(cut, cut->whole, ret_end);
            cut->ragged = true;
        }
        cut->whole = end;
        cut->lines_at++;
        if (end > limit)
            return take_walked(cut, end, ret_end);
    }
    if (!view->last)
        return HAC_AGAIN;
    return cut->whole == cut->start ? HAC_NOT_FOUND : take_walked(cut, cut->whole, ret_end);
}

/* ---- the size of a record of fixed width ---- */

/* Returns the position after a name and its colon. The name may be in double quotes, with "" for a
 * double quote. NULL: the colon is missing. */
static const char *skip_name(const char *text)
{
    bool quoted = false;
    for (; *text != '\0' && (quoted || *text != ':'); text++)
        quoted ^= *text == '"';
    return *text == ':' ? text + 1 : NULL;
}

/* Copies a type in lower case and without blanks, up to a comma outside brackets. Returns the end of the
 * type. */
static const char *take_type(const char *text, char *ret, size_t capacity)
{
    size_t n = 0;
    for (int depth = 0; *text != '\0' && (depth > 0 || *text != ','); text++) {
        depth += (*text == '(') - (*text == ')');
        if (!isspace((unsigned char)*text) && n + 1 < capacity)
            ret[n++] = (char)tolower((unsigned char)*text);
    }
    ret[n] = '\0';
    return text;
}

hac_status hac_record_bytes(const char *schema, uint64_t *ret, hac_error *err)
{
    uint64_t bytes = 0;
    const char *text = schema;
    if (text == NULL || *text == '\0')
        return hac_fail(err, HAC_INVALID, "records of fixed width need a schema: --schema name:type,…");
    for (int column = 1; text != NULL && *text != '\0'; column++) {
        char name[HAC_VALUE_TYPE_NAME_MAX + 8];
        hac_value_type type;
        text = skip_name(text);
        if (text == NULL)
            return hac_fail(err, HAC_INVALID, "--schema: column %d has no type, as in name:i64", column);
        text = take_type(text, name, sizeof(name));
        if (hac_value_type_parse(name, strlen(name), &type, err) != HAC_OK)
            return hac_error_prefix(err, "--schema: column %d", column);
        if (hac_value_size(type) == 0)
            return hac_fail(err, HAC_INVALID, "--schema: column %d: records of fixed width have no strings",
                            column);
        bytes += hac_value_size(type);
        text += *text == ',';
    }
    *ret = bytes;
    return HAC_OK;
}
