/* SPDX-License-Identifier: Apache-2.0 */
#include "text_begin.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/foreign_format.h"
#include "base/format.h"
#include "base/io.h"

static const uint8_t mark[] = {0xef, 0xbb, 0xbf};

/* The text behind a byte order mark. */
typedef struct text_begin {
    const uint8_t *data;
    size_t bytes;
    bool ended;
    const hac_query_options *options;
    const char *name;
} text_begin;

static hac_status fail_cr(const text_begin *t, const char *what, const char *command, hac_error *err)
{
    return hac_fail(err, HAC_FAILED, "%.200s: %s; convert it first: %s < FILE", t->name, what, command);
}

static hac_status fail_cr_alone(const text_begin *t, hac_error *err)
{
    return fail_cr(t, "its lines end in CR alone, not in LF or CR LF", "tr '\\r' '\\n'", err);
}

/* An empty line where the names of columns should be. */
static hac_status check_header(const text_begin *t, hac_error *err)
{
    bool wanted = hac_formats[t->options->input_format].header && t->options->input_options.no_header == 0;
    bool empty = (t->bytes > 0 && t->data[0] == '\n') || (t->bytes > 1 && memcmp(t->data, "\r\n", 2) == 0);
    if (!wanted || !empty)
        return HAC_OK;
    return hac_fail(
        err, HAC_FAILED,
        "%.200s: line 1 is empty, and should name the columns; remove it, or say --no-header if no "
        "line names them",
        t->name);
}

/* Looks at the CR at `at`, outside of quotes. *ret_settled: the line ends there. */
static hac_status check_cr(const text_begin *t, size_t at, bool *ret_settled, hac_error *err)
{
    size_t left = t->bytes - at - 1;
    const uint8_t *behind = t->data + at + 1;
    if (left == 0 || (left == 1 && behind[0] == '\r' && !t->ended))
        return HAC_OK; /* the end of the text, or of the bytes that are there yet */
    *ret_settled = true;
    if (behind[0] == '\n')
        return HAC_OK;
    if (left > 1 && behind[0] == '\r' && behind[1] == '\n')
        return fail_cr(t, "its lines end in CR CR LF", "tr -d '\\r'", err);
    return fail_cr_alone(t, err);
}

/* csv and tsv: the first CR outside of quotes is part of the first line's end. */
static hac_status check_fields(const text_begin *t, bool *ret_settled, hac_error *err)
{
    bool quotes = hac_format_has_quotes(t->options->input_format), inside = false;
    hac_status status = check_header(t, err);
    for (size_t i = 0; i < t->bytes && status == HAC_OK && !*ret_settled; i++) {
        inside ^= quotes && t->data[i] == '"';
        if (inside)
            continue;
        if (t->data[i] == '\r')
            status = check_cr(t, i, ret_settled, err);
        else
            *ret_settled = t->data[i] == '\n';
    }
    return status;
}

/* lines, kv, jsonl: a CR within a line is part of it, so only text without any LF is refused. */
static hac_status check_lines(const text_begin *t, bool *ret_settled, hac_error *err)
{
    *ret_settled = memchr(t->data, '\n', t->bytes) != NULL;
    bool enough = t->ended || t->bytes >= HAC_TEXT_BEGIN_BYTES - sizeof mark;
    if (*ret_settled || !enough || t->bytes < 2 || memchr(t->data, '\r', t->bytes - 1) == NULL)
        return HAC_OK;
    return fail_cr_alone(t, err);
}

hac_status hac_text_begin_check(const hac_query_options *options, const char *name, const uint8_t *data,
                                size_t bytes, bool ended, bool *ret_settled, hac_error *err)
{
    const hac_format_info *format = &hac_formats[options->input_format];
    text_begin t = {data, bytes, ended, options, name};
    bool lines = true;
    *ret_settled = true;
    if (format->records == HAC_RECORDS_NONE || bytes == 0)
        return HAC_OK;
    hac_foreign_use use = format->text ? HAC_FOREIGN_TEXT : HAC_FOREIGN_RECORDS;
    hac_status status = hac_foreign_refuse(data, bytes, use, format->name, name, err);
    if (bytes >= sizeof mark && memcmp(data, mark, sizeof mark) == 0) {
        t.data += sizeof mark;
        t.bytes -= sizeof mark;
    }
    if (status == HAC_OK && format->header) {
        lines = false;
        status = check_fields(&t, &lines, err);
    } else if (status == HAC_OK && format->records == HAC_RECORDS_LINE) {
        status = check_lines(&t, &lines, err);
    }
    *ret_settled = ended || bytes >= HAC_TEXT_BEGIN_BYTES || (bytes >= HAC_FOREIGN_BYTES && lines);
    return status;
}

hac_status hac_text_begin_check_file(const hac_query_options *options, const char *name, int fd,
                                     hac_error *err)
{
    uint64_t there = 0;
    size_t capacity = 4096; /* enough for most first lines */
    bool settled = hac_formats[options->input_format].records == HAC_RECORDS_NONE;
    hac_autofree uint8_t *data = NULL;
    hac_status status = HAC_OK;
    for (; status == HAC_OK && !settled; capacity = HAC_TEXT_BEGIN_BYTES) {
        uint8_t *more = realloc(data, capacity);
        if (more == NULL)
            return hac_fail_no_memory(err);
        data = more;
        int errnum = hac_pread_all(fd, data, capacity, 0, &there, NULL);
        bool ended = there < capacity;
        if (errnum == 0)
            status = hac_text_begin_check(options, name, data, (size_t)there, ended, &settled, err);
        settled |= ended;
    }
    return status;
}
