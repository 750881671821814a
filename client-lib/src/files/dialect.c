/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the quote, the escape and the comments of csv and tsv in the first bytes, where these leave no
 * choice.
 * Each candidate is tried with the reader of dialects (csv_front.h): one that fits gives all records the same
 * number of fields, at least two.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <hac/files.h>

#include "base/byte_order_mark.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/format.h"
#include "base/input_options.h"
#include "first_bytes.h"
#include "input/csv_front.h"

enum { LOOK_BYTES = 1 << 16, LINES = 3 /* of a stream */ };

/* The whole records at the beginning. */
typedef struct text_head {
    hac_input_format format;
    const uint8_t *data;
    size_t bytes;
    bool ended; /* they are all */
} text_head;

/* A dialect that was tried. */
typedef struct trial {
    hac_input_options options;
    hac_csv_look look;
    bool fits;
} trial;

/* ---- the first bytes ---- */

/* Whether there are so many whole lines, with or without those that may be comments. */
static bool count_lines(const hac_first_bytes *first, unsigned wanted, bool comments)
{
    hac_autofree uint8_t *data = malloc(LOOK_BYTES);
    hac_first_bytes unpacked = {
        .name = first->name, .data = data, .bytes = first->bytes, .capacity = LOOK_BYTES};
    hac_error none = HAC_ERROR_NONE;
    if (data == NULL)
        return true;
    memcpy(data, first->data, first->bytes);
    if (hac_first_bytes_unpack(&unpacked, &none) != HAC_OK)
        return true;
    unsigned lines = 0;
    for (size_t at = hac_byte_order_mark(data, unpacked.bytes); at < unpacked.bytes;) {
        const uint8_t *end = memchr(data + at, '\n', unpacked.bytes - at);
        if (end == NULL)
            return false;
        lines += comments || data[at] != '#';
        if (lines == wanted)
            return true;
        at = (size_t)(end - data) + 1;
    }
    return false;
}

static bool has_lines(const hac_first_bytes *first)
{
    return count_lines(first, LINES, false);
}

static bool has_line(const hac_first_bytes *first)
{
    return count_lines(first, 1, true);
}

/* ---- trials ---- */

static trial try_dialect(const text_head *head, const hac_input_options *options)
{
    trial t = {.options = *options};
    uint8_t made[4096];
    size_t used = 0, n = 0;
    hac_error err = HAC_ERROR_NONE;
    hac_cleanup(hac_front_free_cleanup) hac_front *front = NULL;
    hac_status status = hac_csv_front_new(head->format, options, &front, &err);
    if (status == HAC_OK)
        hac_csv_front_look_closely(front);
    for (size_t at = 0; status == HAC_OK && (at < head->bytes || hac_front_holds(front)); at += used)
        status = hac_front_run(front, head->data + at, head->bytes - at, &used, made, sizeof(made), &n, &err);
    if (status == HAC_OK && head->ended)
        status = hac_front_end(front, &err);
    if (status != HAC_OK)
        return t;
    t.look = hac_csv_front_look(front);
    t.fits = t.look.records > 0 && !t.look.uneven && t.look.fields >= 2;
    return t;
}

/* Whether the delimiter of `a` is to be preferred: more quoted fields, then the comma, then more fields. */
static bool is_better(const trial *a, const trial *b)
{
    if (!a->fits || !b->fits)
        return a->fits;
    if (a->look.quoted != b->look.quoted)
        return a->look.quoted > b->look.quoted;
    return b->options.delimiter != ',' && a->look.fields > b->look.fields;
}

/* Tries the dialect with the delimiter that it has, or with each one that is possible. */
static trial try_delimiters(const text_head *head, const hac_input_options *options, bool find_delimiter)
{
    trial best = {.options = *options};
    if (!find_delimiter)
        return try_dialect(head, options);
    for (const char *d = ",;\t|"; *d != '\0'; d++) {
        hac_input_options with = *options;
        with.delimiter = (uint8_t)*d;
        trial t = try_dialect(head, &with);
        if (is_better(&t, &best))
            best = t;
    }
    return best;
}

/* ---- comments ---- */

static size_t count_in(const uint8_t *line, const uint8_t *end, char byte)
{
    size_t n = 0;
    for (; line < end; line++)
        n += *line == (uint8_t)byte;
    return n;
}

/* Whether the first lines begin with '#', and none of them can be the header: with no delimiter do they have
 * as many fields as the line behind them. */
static bool begins_with_comments(const text_head *head, const hac_input_options *options)
{
    const uint8_t *first = head->data + hac_byte_order_mark(head->data, head->bytes),
                  *end = head->data + head->bytes, *line = first, *line_end = NULL;
    while (line < end && *line == '#' && (line_end = memchr(line, '\n', (size_t)(end - line))) != NULL)
        line = line_end + 1;
    if (line == first || line >= end || *line == '#')
        return false;
    const uint8_t *next = memchr(line, '\n', (size_t)(end - line));
    if (next == NULL)
        next = end;
    char told[2] = {(char)hac_format_delimiter(head->format, options->delimiter), '\0'};
    bool parted = false;
    for (const char *d = told[0] != ',' || options->delimiter != 0 ? told : ",;\t| "; *d != '\0'; d++) {
        size_t n = count_in(line, next, *d);
        for (const uint8_t *c = first; n > 0 && c < line; c = line_end + 1) {
            line_end = memchr(c, '\n', (size_t)(line - c));
            if (count_in(c, line_end, *d) == n)
                return false;
        }
        parted |= n > 0;
        if (d[1] == ' ' && parted) /* a space separates fields if nothing else does */
            break;
    }
    return parted;
}

/* ---- all ---- */

/* Whether the fields in single quotes leave no choice: without them the records do not fit, or a column has
 * all of its values in them. */
static bool is_single(const trial *t, bool usual_fits)
{
    return t->fits && t->look.quoted > 0 && (!usual_fits || (t->look.quoted > 1 && t->look.all_quoted > 0));
}

/* Finds an escape within double quotes, single quotes, or both. */
static bool find_quotes(const text_head *head, bool find_delimiter, hac_input_options *options)
{
    trial usual = try_delimiters(head, options, find_delimiter);
    if (usual.fits && usual.look.quoted > 0)
        return false;
    static const uint8_t marks[][2] = {{0, '\\'}, {'\'', 0}, {'\'', '\\'}};
    for (size_t i = usual.fits ? 1 : 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
        hac_input_options candidate = *options;
        candidate.quote = marks[i][0];
        candidate.escape = marks[i][1];
        trial t = try_delimiters(head, &candidate, find_delimiter);
        bool escapes = candidate.escape == 0 || (t.fits && t.look.escaped > 0);
        if (!escapes || !(candidate.quote == 0 ? t.fits : is_single(&t, usual.fits)))
            continue;
        *options = t.options;
        return true;
    }
    return false;
}

static void note(char *ret, size_t capacity, const char *name, uint8_t byte)
{
    size_t used = strlen(ret);
    snprintf(ret + used, capacity - used,
             byte == '\t'   ? "%s --%s '\\t'"
             : byte == '\'' ? "%s --%s \"%c\""
                            : "%s --%s '%c'",
             "", name, byte);
}

/* Says what was found, and how to say otherwise; or, if the input is not read so, how to say that. */
static void note_found(const hac_input_options *told, const hac_input_options *found, bool taken, char *ret,
                       size_t capacity)
{
    char what[80] = "", otherwise[96] = "";
    const struct {
        const char *name, *otherwise;
        uint8_t told, found;
    } rows[] = {{"delimiter", "--delimiter", told->delimiter, found->delimiter},
                {"quote", "--quote '\"'", told->quote, found->quote},
                {"escape", "--escape none", told->escape, found->escape},
                {"comment", "--comment none", told->comment, found->comment}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        size_t used = strlen(otherwise);
        if (rows[i].told == rows[i].found || (i == 0 && rows[i].found == ','))
            continue;
        note(what, sizeof(what), rows[i].name, rows[i].found);
        snprintf(otherwise + used, sizeof(otherwise) - used, "%s%s", used > 0 ? " or " : "",
                 rows[i].otherwise);
    }
    if (what[0] != '\0' && taken)
        snprintf(ret, capacity, "the first records look like%s; say %s if that is wrong", what, otherwise);
    else if (what[0] != '\0')
        snprintf(ret, capacity,
                 "the first records look like%s; say that if it is right: a stream with --schema is read as "
                 "it is written, and nothing is assumed of it",
                 what);
}

/* Finds the dialect, and sets it in the options if it is to be `taken`. */
static void find_dialect(const text_head *head, bool taken, hac_query_options *options, char *ret_note,
                         size_t capacity)
{
    hac_input_options *own = &options->input_options, told = *own;
    bool csv = options->input_format == HAC_INPUT_CSV;
    bool find_delimiter = csv && own->delimiter == 0 && (options->find & HAC_FIND_DELIMITER) != 0;
    if (own->comment == 0 && begins_with_comments(head, own))
        own->comment = '#';
    if (csv && own->quote == 0 && own->escape == 0) {
        (void)find_quotes(head, find_delimiter, own);
    } else if (find_delimiter && hac_input_is_dialect(HAC_INPUT_CSV, own) &&
               (own->quote > HAC_MARK_NONE || own->escape > HAC_MARK_NONE)) {
        trial t = try_delimiters(head, own, true);
        if (t.fits)
            own->delimiter = t.options.delimiter;
    }
    note_found(&told, own, taken, ret_note, capacity);
    if (!taken)
        *own = told;
}

/* Whether the options leave anything open, so that looking costs no pause of a stream. */
static bool looks(const hac_query_options *options)
{
    const hac_input_options *own = &options->input_options;
    bool csv = options->input_format == HAC_INPUT_CSV;
    bool delimiter = csv && own->delimiter == 0 && (options->find & HAC_FIND_DELIMITER) != 0;
    bool header = own->no_header == 0 && (options->find & HAC_FIND_HEADER) != 0;
    return (csv || options->input_format == HAC_INPUT_TSV) && (delimiter || header);
}

int hac_files_is_dialect(const hac_query_options *options)
{
    return hac_input_is_dialect((hac_input_format)options->input_format, &options->input_options);
}

hac_status hac_files_find_dialect(const char *name, int fd, hac_query_options *options, char *note,
                                  size_t note_bytes, hac_error *err)
{
    if (note_bytes > 0)
        note[0] = '\0';
    if (!looks(options))
        return HAC_OK;
    hac_error local = HAC_ERROR_NONE;
    hac_autofree uint8_t *data = malloc(LOOK_BYTES);
    hac_first_bytes first = {.name = name, .data = data, .capacity = LOOK_BYTES, .stop_fd = options->stop_fd};
    if (data == NULL)
        return hac_fail_no_memory(err);
    const bool schema = options->schema != NULL; /* the rows of a stream are to come as they are written */
    hac_status status = hac_first_bytes_look(&first, fd, schema ? has_line : has_lines, &local);
    if (status == HAC_OK)
        status = hac_first_bytes_unpack(&first, &local);
    if (status == HAC_CANCELLED)
        return hac_fail(err, status, "%s", local.message);
    if (status != HAC_OK) /* whoever reads the input reports it */
        return HAC_OK;
    text_head head = {options->input_format, data, first.bytes, first.ended};
    const uint8_t *end = memrchr(data, '\n', first.bytes);
    if (!first.ended)
        head.bytes = end == NULL ? 0 : (size_t)(end - data) + 1;
    if (head.bytes > 0)
        find_dialect(&head, !schema || !first.stream, options, note, note_bytes);
    return HAC_OK;
}
