/* SPDX-License-Identifier: Apache-2.0 */
#include "number_table.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/limits.h"
#include "base/value_text.h"

typedef struct number_reader {
    const char *path;
    char delimiter;
    char *at, *end; /* the rest of the file, followed by a NUL at `end` */
    size_t line;    /* the line that the fields are of */
    char *fields[HAC_COLUMNS_MAX];
    size_t n_fields;
} number_reader;

/* ---- bytes ---- */

/* Reads at most HAC_NUMBER_TABLE_BYTES_MAX bytes, without a byte order mark, and adds a NUL. *ret_whole
 * tells whether that is the whole file. */
static hac_status load(const char *path, char **ret, size_t *ret_bytes, bool *ret_whole, hac_error *err)
{
    hac_autofclose FILE *file = fopen(path, "re");
    hac_autofree char *data = malloc(HAC_NUMBER_TABLE_BYTES_MAX + 1);
    if (data == NULL)
        return hac_fail_no_memory(err);
    size_t bytes = file != NULL ? fread(data, 1, HAC_NUMBER_TABLE_BYTES_MAX, file) : 0;
    if (file == NULL || ferror(file))
        return hac_fail_errno(err, HAC_FAILED, errno, "%s", path);
    *ret_whole = fgetc(file) == EOF;
    if (bytes >= 3 && memcmp(data, "\xef\xbb\xbf", 3) == 0) /* not part of a name */
        memmove(data, data + 3, bytes -= 3);
    data[bytes] = '\0';
    *ret = hac_steal_ptr(data);
    *ret_bytes = bytes;
    return HAC_OK;
}

/* ---- fields ---- */

/* Removes the quotes of the field at *p, in place, and moves *p behind the field. False if the quotes are
 * never closed. */
static bool unquote(char **p)
{
    char *to = *p;
    for (char *from = *p + 1; *from != '\0'; from++) {
        if (*from == '"' && from[1] != '"') {
            *p = from + 1;
            *to = '\0';
            return true;
        }
        from += *from == '"';
        *to++ = *from;
    }
    return false;
}

static hac_status add_field(number_reader *r, char *field, hac_error *err)
{
    if (r->n_fields == HAC_COLUMNS_MAX)
        return hac_fail(err, HAC_INVALID, "%.200s:%zu: more than %d columns", r->path, r->line,
                        HAC_COLUMNS_MAX);
    r->fields[r->n_fields++] = field;
    return HAC_OK;
}

static hac_status split(number_reader *r, char *line, hac_error *err)
{
    r->n_fields = 0;
    for (char *p = line;; p++) {
        char *field = p;
        bool quoted = *p == '"', closed = !quoted || unquote(&p);
        if (!quoted)
            while (*p != '\0' && *p != r->delimiter)
                p++;
        if (!closed || (*p != '\0' && *p != r->delimiter))
            return hac_fail(err, HAC_INVALID,
                            "%.200s:%zu: a quoted field lacks its closing quote, or has text after it",
                            r->path, r->line);
        bool last = *p == '\0';
        if (!quoted)
            *p = '\0';
        hac_status status = add_field(r, field, err);
        if (status != HAC_OK || last)
            return status;
    }
}

/* Reads the next line that is not empty; at the end of the file there are no fields. */
static hac_status next_line(number_reader *r, hac_error *err)
{
    r->n_fields = 0;
    while (r->at < r->end) {
        char *line = r->at, *end = memchr(line, '\n', (size_t)(r->end - line));
        end = end != NULL ? end : r->end;
        r->at = end + 1;
        r->line++;
        if (memchr(line, '\0', (size_t)(end - line)) != NULL)
            return hac_fail(err, HAC_INVALID, "%.200s:%zu: this is not text", r->path, r->line);
        *(end > line && end[-1] == '\r' ? end - 1 : end) = '\0';
        if (*line != '\0')
            return split(r, line, err);
    }
    return HAC_OK;
}

/* ---- the table ---- */

static bool is_number(const char *field)
{
    double value;
    return hac_parse_f64(field, strlen(field), &value) != HAC_TEXT_MALFORMED;
}

/* Makes a first line without a number the names; *ret_used is true then. */
static hac_status take_header(number_reader *r, hac_number_table *ret, bool *ret_used, hac_error *err)
{
    *ret_used = false;
    ret->columns = r->n_fields;
    for (size_t i = 0; i < r->n_fields; i++)
        if (is_number(r->fields[i]))
            return HAC_OK;
    ret->names = calloc(r->n_fields + 1, sizeof *ret->names);
    if (ret->names == NULL)
        return hac_fail_no_memory(err);
    for (size_t i = 0; i < r->n_fields; i++) {
        size_t bytes = strlen(r->fields[i]);
        if (bytes == 0 || bytes > HAC_FIELD_NAME_MAX - 1)
            return hac_fail(err, HAC_INVALID, "%.200s:%zu: a column's name has 1 to %d bytes, not %zu",
                            r->path, r->line, HAC_FIELD_NAME_MAX - 1, bytes);
        if ((ret->names[i] = strdup(r->fields[i])) == NULL)
            return hac_fail_no_memory(err);
    }
    *ret_used = true;
    return HAC_OK;
}

static hac_status add_row(const number_reader *r, hac_number_table *ret, hac_error *err)
{
    if (r->n_fields != ret->columns)
        return hac_fail(err, HAC_INVALID, "%.200s:%zu: %zu columns, and the first line has %zu", r->path,
                        r->line, r->n_fields, ret->columns);
    for (size_t i = 0; i < ret->columns; i++) {
        double *to = &ret->values[ret->rows * ret->columns + i];
        const char *field = r->fields[i];
        hac_text_status status = hac_parse_f64(field, strlen(field), to);
        if (status == HAC_TEXT_MALFORMED)
            return hac_fail(err, HAC_INVALID, "%.200s:%zu: '%.64s' is not a number", r->path, r->line, field);
        if (status != HAC_TEXT_OK || !isfinite(*to))
            return hac_fail(err, HAC_INVALID, "%.200s:%zu: %.64s is not a finite number", r->path, r->line,
                            field);
    }
    ret->rows++;
    return HAC_OK;
}

static hac_status read_rows(number_reader *r, hac_number_table *ret, hac_error *err)
{
    bool used;
    hac_status status = next_line(r, err);
    if (status == HAC_OK)
        status = take_header(r, ret, &used, err);
    /* a number takes at least two bytes, with its separator */
    size_t max = (size_t)(r->end - r->at) / 2 + r->n_fields + 1;
    ret->values = status == HAC_OK ? malloc(max * sizeof *ret->values) : NULL;
    if (status == HAC_OK && ret->values == NULL)
        return hac_fail_no_memory(err);
    if (status == HAC_OK && used)
        status = next_line(r, err);
    while (status == HAC_OK && r->n_fields > 0) {
        status = add_row(r, ret, err);
        if (status == HAC_OK)
            status = next_line(r, err);
    }
    if (status == HAC_OK && ret->rows == 0)
        return hac_fail(err, HAC_INVALID, "%.200s:%zu: there is no row of numbers", r->path, r->line + 1);
    return status;
}

hac_status hac_number_table_read(const char *path, hac_number_table *ret, hac_error *err)
{
    hac_autofree char *data = NULL;
    size_t bytes;
    bool whole;
    *ret = (hac_number_table){.names = NULL};
    hac_status status = load(path, &data, &bytes, &whole, err);
    if (status != HAC_OK)
        return status;
    if (!whole)
        return hac_fail(err, HAC_INVALID, "%.200s: is larger than %u bytes", path,
                        HAC_NUMBER_TABLE_BYTES_MAX);
    number_reader r = {.path = path, .delimiter = ',', .at = data, .end = data + bytes};
    return read_rows(&r, ret, err);
}

hac_status hac_number_table_read_header(const char *path, char delimiter, hac_number_table *ret,
                                        hac_error *err)
{
    hac_autofree char *data = NULL;
    size_t bytes;
    bool whole, used;
    *ret = (hac_number_table){.names = NULL};
    hac_status status = load(path, &data, &bytes, &whole, err);
    if (status != HAC_OK)
        return status;
    if (!whole && memchr(data, '\n', bytes) == NULL)
        return hac_fail(err, HAC_INVALID, "%.200s:1: the line is longer than %u bytes", path,
                        HAC_NUMBER_TABLE_BYTES_MAX);
    number_reader r = {.path = path, .delimiter = delimiter, .at = data, .end = data + bytes};
    status = next_line(&r, err);
    return status == HAC_OK && r.n_fields > 0 ? take_header(&r, ret, &used, err) : status;
}

void hac_number_table_clear(hac_number_table *table)
{
    for (size_t i = 0; table->names != NULL && i < table->columns; i++)
        free(table->names[i]);
    free(table->names);
    free(table->values);
    *table = (hac_number_table){.names = NULL};
}
