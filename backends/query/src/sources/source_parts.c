/* SPDX-License-Identifier: Apache-2.0 */
#include "source_parts.h"

#include "base/cleanup.h"
#include "base/format.h"
#include "base/text.h"
#include "base/utf8.h"

#include <stdarg.h>
#include <stdio.h>

hac_status hac_source_begin_whole(hac_source *source, uint64_t first, uint64_t end, bool inside_quotes,
                                  hac_error *err)
{
    (void)inside_quotes;
    if (first > 0 && !source->place.split)
        return hac_fail(
            err, HAC_INVALID,
            "an input of lengths or typedbytes cannot be cut into chunks, as records are found from "
            "its start only: read it with `hacctl splice`");
    source->end = end < source->place.bytes ? end : source->place.bytes;
    source->next = first;
    hac_window_seek(&source->records.window, first < source->end ? first : source->end);
    return HAC_OK;
}

/* Postpones an error until the rows before it have been read; its place is determined then. */
HAC_PRINTF(4, 0)
static void fail_later(hac_source *source, uint64_t position, const char *column, const char *fmt,
                       va_list args)
{
    char message[384];
    vsnprintf(message, sizeof message, fmt, args);
    source->late_at = position;
    hac_fail(&source->late, HAC_FAILED, "%s%s: %s", column != NULL ? ", column " : "",
             column != NULL ? column : "", message);
}

bool hac_source_bad_record(hac_source *source, uint64_t position, const char *column, const char *fmt, ...)
{
    if (source->query->source.options.skip_errors) {
        source->skipped++;
        return true;
    }
    va_list args;
    va_start(args, fmt);
    fail_later(source, position, column, fmt, args);
    va_end(args);
    return false;
}

bool hac_source_takes_all(const hac_source *source)
{
    const hac_source_options *options = &source->query->source;
    return options->all_names && !options->options.skip_errors;
}

void hac_source_unknown_name(const char *name, const char *type, char ret[HAC_UNKNOWN_NAME_MAX])
{
    char line[HAC_FIELD_NAME_MAX];
    hac_cleanup(hac_text_clear) hac_text quoted = HAC_TEXT_NONE;
    hac_utf8_copy_line(line, sizeof line, name);
    hac_text_add_name(&quoted, line);
    snprintf(ret, HAC_UNKNOWN_NAME_MAX,
             "none of the first records, from which the columns are inferred, has a field %.*s; take it with "
             "--schema '%.*s:%s', or say with --select which columns are wanted",
             (int)quoted.bytes, quoted.data, (int)quoted.bytes, quoted.data, type);
}

void hac_source_bad_value(hac_source *source, size_t row, const hac_source_column *column, const char *fmt,
                          ...)
{
    if (source->query->source.options.skip_errors) {
        source->n_dropped += !source->dropped[row];
        source->dropped[row] = true;
        return;
    }
    va_list args;
    va_start(args, fmt);
    fail_later(source, source->starts[row], column->name, fmt, args);
    va_end(args);
    source->rows = row;
}

void hac_source_lost(hac_source *source, uint64_t position, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    fail_later(source, position, NULL, fmt, args);
    va_end(args);
    hac_error why = source->late;
    if (source->query->source.options.skip_errors)
        hac_fail(&source->late, HAC_FAILED, "%s" HAC_LOST_TEXT, why.message);
}

void hac_source_name_position(hac_source *source, uint64_t position, char *ret)
{
    hac_input_format format = source->query->source.format;
    bool lines = source->format->number == NULL;
    if (hac_formats[format].records == HAC_RECORDS_NONE) {
        snprintf(ret, 32, "row %llu", (unsigned long long)position + 1);
        return;
    }
    uint64_t number =
        lines ? hac_line_number(&source->place, position) : source->format->number(source, position);
    snprintf(ret, 32, "%s %llu",
             number == 0 ? "byte"
             : lines     ? "line"
                         : "record",
             (unsigned long long)(number == 0 ? position : number));
}

void hac_source_where(hac_source *source, size_t row, char *ret)
{
    hac_source_name_position(source, source->starts[row < HAC_BATCH_ROWS ? row : 0], ret);
}
