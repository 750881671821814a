/* SPDX-License-Identifier: Apache-2.0 */
#include "csv_front.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/format.h"
#include "base/limits.h"

enum {
    PIECE = 1 << 16, /* bytes of input that are looked at before their result is written */
    GROWTH = 4,      /* a byte of input becomes fewer bytes */
    SPARE = 64,
    OWED_MAX = 1 << 20, /* line feeds of successive comments */
};

typedef enum csv_place {
    MARK, /* within a byte order mark at the beginning */
    RECORD,
    LINE, /* only_comments: within a record */
    FIELD,
    PLAIN,
    PLAIN_ESCAPE, /* behind an escape */
    QUOTED,
    QUOTED_ESCAPE,
    CLOSED,    /* behind a quote within quotes */
    CLOSED_CR, /* and a CR behind it */
    COMMENT,
} csv_place;

typedef struct csv_front {
    hac_front front;
    uint8_t delimiter, quote, escape, comment; /* 0: none */
    bool tsv;
    bool own_escapes;   /* tsv: a backslash outside of quotes is the format's own */
    bool only_comments; /* the fields are in the usual form: records pass unchanged */
    bool inside;        /* LINE: within quotes */
    bool parted;        /* LINE: the record may have several fields */
    bool stops_plain[256], stops_quoted[256], stops_line[256];
    csv_place place;
    size_t marked;
    uint8_t *made; /* owned: bytes to write */
    size_t n_made, taken, capacity;
    size_t field;          /* where the plain field begins in `made` */
    bool needs_quotes;     /* csv: the plain field has bytes that must be quoted */
    bool null_mark;        /* the plain field began with an escaped N */
    bool empty_record;     /* nothing of the record but its end */
    uint64_t line, opened; /* the line that is read, and that of the open quote, from 1 on */
    uint64_t owed;         /* line feeds of comments before the first record */
    bool single;           /* the last record had one field */
    bool shifts;
    size_t fields; /* of this record, up to the field that is read */
    uint64_t columns_quoted, columns_plain;
    uint64_t header_quoted, header_plain;
    hac_csv_look look;
    hac_error failure; /* behind the bytes that are made */
} csv_front;

static uint8_t chosen(uint8_t option, uint8_t otherwise)
{
    return option == 0 ? otherwise : option == HAC_MARK_NONE ? 0 : option;
}

/* ---- bytes that are made ---- */

static hac_status reserve(csv_front *f, size_t bytes, hac_error *err)
{
    if (f->capacity - f->n_made >= bytes)
        return HAC_OK;
    size_t capacity = f->n_made + bytes + f->capacity;
    uint8_t *made = realloc(f->made, capacity);
    if (made == NULL)
        return hac_fail_no_memory(err);
    f->made = made;
    f->capacity = capacity;
    return HAC_OK;
}

static void put(csv_front *f, uint8_t byte)
{
    f->made[f->n_made++] = byte;
}

/* A byte of a value in tsv. */
static void put_escaped(csv_front *f, uint8_t byte)
{
    uint8_t letter = byte == '\t' ? 't' : byte == '\n' ? 'n' : byte == '\r' ? 'r' : byte == '\\' ? '\\' : 0;
    if (letter != 0)
        put(f, '\\');
    put(f, letter != 0 ? letter : byte);
}

/* A byte of a value that stands in quotes. */
static void put_quoted(csv_front *f, uint8_t byte)
{
    if (f->tsv) {
        put_escaped(f, byte);
        return;
    }
    if (byte == '"')
        put(f, '"');
    put(f, byte);
}

/* ---- fields ---- */

static void note_field(csv_front *f, bool quoted)
{
    uint64_t bit = f->fields < 64 ? UINT64_C(1) << f->fields : 0;
    uint64_t *columns = f->look.records == 0 ? quoted ? &f->header_quoted : &f->header_plain
                        : quoted             ? &f->columns_quoted
                                             : &f->columns_plain;
    *columns |= bit;
    f->look.quoted += quoted;
}

/* Puts the plain field into quotes, without a CR before the end of the line. */
static hac_status quote_plain(csv_front *f, bool ends_line, hac_error *err)
{
    bool cr = ends_line && f->n_made > f->field && f->made[f->n_made - 1] == '\r';
    size_t bytes = f->n_made - f->field - cr, quotes = 2;
    for (size_t i = 0; i < bytes; i++)
        quotes += f->made[f->field + i] == '"';
    hac_status status = reserve(f, quotes + PIECE * GROWTH + SPARE, err);
    if (status != HAC_OK)
        return status;
    uint8_t *from = f->made + f->n_made, *to = from + quotes;
    f->n_made += quotes;
    if (cr)
        *--to = *--from;
    *--to = '"';
    while (bytes-- > 0) {
        *--to = *--from;
        if (*to == '"')
            *--to = '"';
    }
    *--to = '"';
    return HAC_OK;
}

static hac_status end_plain(csv_front *f, bool ends_line, hac_error *err)
{
    size_t bytes = f->n_made - f->field;
    bool cr = ends_line && bytes > 0 && f->made[f->n_made - 1] == '\r';
    if (f->null_mark && bytes - cr == 1) {
        f->n_made = f->field;
        if (f->tsv) {
            put(f, '\\');
            put(f, 'N');
        }
        if (cr)
            put(f, '\r');
        return HAC_OK;
    }
    if (bytes > cr)
        note_field(f, false);
    return f->needs_quotes ? quote_plain(f, ends_line, err) : HAC_OK;
}

static void end_field(csv_front *f)
{
    put(f, f->delimiter);
    f->fields++;
    f->place = FIELD;
}

static void end_record(csv_front *f)
{
    size_t fields = f->fields + 1;
    put(f, '\n');
    f->line++;
    f->place = RECORD;
    f->fields = 0;
    if (f->empty_record)
        return;
    if (f->look.records == 0)
        f->look.fields = fields;
    f->look.uneven |= fields != f->look.fields;
    f->look.records++;
    f->single = fields == 1 && !f->parted;
    f->shifts |= f->owed > 0 && f->single;
    if (f->single)
        f->owed = 0;
    for (; f->owed > 0; f->owed--)
        put(f, '\n');
}

static hac_status fail_closed(const csv_front *f, hac_error *err)
{
    return hac_fail(err, HAC_FAILED,
                    "line %" PRIu64
                    ": text behind the closing quote of a field: a quote within the field must be "
                    "doubled (%c%c), or stand behind the character that --escape says",
                    f->line, f->quote, f->quote);
}

/* Keeps the number of lines. The line feeds of comments before the first record follow it, as the first line
 * has to name the columns. */
static void end_comment(csv_front *f)
{
    f->line++;
    f->place = RECORD;
    if (f->look.records == 0)
        f->owed++;
    else if (f->single)
        f->shifts = true;
    else
        put(f, '\n');
}

/* ---- one byte ---- */

static void begin_field(csv_front *f)
{
    f->field = f->n_made;
    f->needs_quotes = f->null_mark = false;
    f->place = PLAIN;
}

/* Begins a record; false: the byte belongs to its first field. */
static bool begin_record(csv_front *f, uint8_t byte)
{
    f->empty_record = true;
    if (byte == f->comment && byte != 0) {
        f->place = COMMENT;
        return true;
    }
    f->place = f->only_comments ? LINE : FIELD;
    f->parted = false;
    return false;
}

/* A byte of a record that passes. */
static void line_byte(csv_front *f, uint8_t byte)
{
    f->inside ^= byte == '"' && !f->tsv;
    f->parted |= byte == f->delimiter && !f->inside;
    f->empty_record &= byte == '\n' || byte == '\r';
    f->line += f->inside && byte == '\n';
    if (byte == '\n' && !f->inside)
        end_record(f);
    else
        put(f, byte);
}

/* Takes a byte that may belong to a byte order mark. True: it does not, and the text begins with it. */
static bool mark_byte(csv_front *f, uint8_t byte)
{
    static const uint8_t mark[] = {0xef, 0xbb, 0xbf};
    if (byte == mark[f->marked]) {
        put(f, byte);
        f->place = ++f->marked == sizeof(mark) ? RECORD : MARK;
        return false;
    }
    f->place = f->only_comments ? LINE : PLAIN;
    if (f->marked == 0)
        f->place = RECORD;
    return true;
}

/* A special byte of a plain field. */
static hac_status plain_byte(csv_front *f, uint8_t byte, hac_error *err)
{
    if (byte == f->delimiter || byte == '\n') {
        bool cr_alone =
            byte == '\n' && f->fields == 0 && f->n_made - f->field == 1 && f->made[f->field] == '\r';
        f->empty_record &= byte == '\n' && (f->n_made == f->field || cr_alone);
        hac_status status = end_plain(f, byte == '\n', err);
        if (byte == '\n')
            end_record(f);
        else
            end_field(f);
        return status;
    }
    if (byte == f->escape && byte != 0 && !f->own_escapes) {
        f->place = PLAIN_ESCAPE;
    } else if (f->tsv) {
        if (byte == '\\' && !f->own_escapes)
            put(f, byte);
        put(f, byte);
    } else {
        f->needs_quotes |= byte == '"';
        put(f, byte);
    }
    return HAC_OK;
}

static void plain_escape(csv_front *f, uint8_t byte)
{
    f->null_mark = byte == 'N' && f->n_made == f->field;
    f->line += byte == '\n';
    f->place = PLAIN;
    if (f->tsv) {
        put_escaped(f, byte);
        return;
    }
    f->needs_quotes |= byte == f->delimiter || byte == '\n' || byte == '\r' || byte == '"' || byte == ' ';
    put(f, byte);
}

static void quoted_byte(csv_front *f, uint8_t byte)
{
    f->line += byte == '\n';
    if (byte == f->quote)
        f->place = CLOSED;
    else if (byte == f->escape && byte != 0)
        f->place = QUOTED_ESCAPE;
    else
        put_quoted(f, byte);
}

static hac_status closed_byte(csv_front *f, uint8_t byte, hac_error *err)
{
    if (byte == f->quote && f->place == CLOSED) {
        put_quoted(f, byte);
        f->place = QUOTED;
        return HAC_OK;
    }
    if (byte != '\n' && (f->place == CLOSED_CR || (byte != f->delimiter && byte != '\r')))
        return fail_closed(f, err);
    if (!f->tsv && f->place == CLOSED)
        put(f, '"');
    if (byte == f->delimiter) {
        end_field(f);
    } else if (byte == '\n') {
        end_record(f);
    } else {
        put(f, '\r');
        f->place = CLOSED_CR;
    }
    return HAC_OK;
}

static void field_byte(csv_front *f, uint8_t byte)
{
    begin_field(f);
    if (byte != f->quote || byte == 0)
        return;
    note_field(f, true);
    f->empty_record = false;
    f->opened = f->line;
    f->place = QUOTED;
    if (!f->tsv)
        put(f, '"');
}

/* Looks at a byte. *ret_again: it has changed the place alone, and is looked at once more. */
static hac_status look_at(csv_front *f, uint8_t byte, bool *ret_again, hac_error *err)
{
    switch (f->place) {
    case MARK:
        *ret_again = mark_byte(f, byte);
        return HAC_OK;
    case RECORD:
        *ret_again = !begin_record(f, byte);
        return HAC_OK;
    case LINE:
        line_byte(f, byte);
        return HAC_OK;
    case FIELD:
        field_byte(f, byte);
        *ret_again = f->place == PLAIN;
        return HAC_OK;
    case PLAIN:
        return plain_byte(f, byte, err);
    case PLAIN_ESCAPE:
        plain_escape(f, byte);
        return HAC_OK;
    case QUOTED:
        quoted_byte(f, byte);
        return HAC_OK;
    case QUOTED_ESCAPE:
        f->look.escaped += byte == f->quote;
        f->line += byte == '\n';
        put_quoted(f, byte);
        f->place = QUOTED;
        return HAC_OK;
    case COMMENT:
        if (byte == '\n')
            end_comment(f);
        return HAC_OK;
    default:
        return closed_byte(f, byte, err);
    }
}

/* ---- many bytes ---- */

/* The number of bytes of a field or a comment that need no look. */
static size_t run_of(const csv_front *f, const uint8_t *in, size_t bytes)
{
    const bool *stops = f->place == PLAIN  ? f->stops_plain
                        : f->place == LINE ? f->stops_line
                                           : f->stops_quoted;
    size_t n = 0;
    if (f->place != PLAIN && f->place != QUOTED && f->place != LINE)
        return 0;
    while (n < bytes && !stops[in[n]])
        n++;
    return n;
}

/* Takes a piece of a comment, which ends before its line feed. */
static size_t skip_comment(const csv_front *f, const uint8_t *in, size_t bytes)
{
    const uint8_t *end = f->place == COMMENT ? memchr(in, '\n', bytes) : in;
    return end == NULL ? bytes : (size_t)(end - in);
}

static hac_status take(csv_front *f, const uint8_t *in, size_t bytes, hac_error *err)
{
    if (f->owed > OWED_MAX) {
        f->owed = 0;
        f->shifts = true;
    }
    hac_status status = reserve(f, bytes * GROWTH + SPARE + (size_t)f->owed, err);
    for (size_t i = 0; i < bytes && status == HAC_OK;) {
        size_t n = run_of(f, in + i, bytes - i);
        f->empty_record &= n == 0 || (n == 1 && in[i] == '\r');
        memcpy(f->made + f->n_made, in + i, n);
        f->n_made += n;
        i += n;
        i += skip_comment(f, in + i, bytes - i);
        bool again = false;
        if (i < bytes)
            status = look_at(f, in[i], &again, err);
        i += i < bytes && !again;
    }
    if (status == HAC_OK && f->n_made - f->taken > HAC_RECORD_MAX + 2 * (size_t)PIECE)
        status = hac_fail(err, HAC_FAILED, "line %" PRIu64 ": a record is longer than 64 MiB", f->line);
    return status;
}

/* The end of the bytes that are settled: a plain field may get quotes until it ends. */
static size_t settled(const csv_front *f)
{
    if (f->place == MARK)
        return 0;
    return f->place == PLAIN || f->place == PLAIN_ESCAPE ? f->field : f->n_made;
}

static size_t give(csv_front *f, uint8_t *out, size_t capacity)
{
    size_t left = settled(f) - f->taken, n = left < capacity ? left : capacity;
    if (n > 0)
        memcpy(out, f->made + f->taken, n);
    f->taken += n;
    if (f->taken == settled(f) && f->taken > 0) {
        memmove(f->made, f->made + f->taken, f->n_made - f->taken);
        f->n_made -= f->taken;
        f->field -= f->field < f->taken ? f->field : f->taken;
        f->taken = 0;
    }
    return n;
}

static bool holds(const hac_front *front)
{
    const csv_front *f = (const csv_front *)front;
    return f->taken < settled(f);
}

static hac_status run(hac_front *front, const uint8_t *in, size_t bytes, size_t *ret_used, uint8_t *out,
                      size_t capacity, size_t *ret_made, hac_error *err)
{
    csv_front *f = (csv_front *)front;
    *ret_used = 0;
    if (!holds(front) && bytes > 0) {
        *ret_used = bytes < PIECE ? bytes : PIECE;
        (void)take(f, in, *ret_used, &f->failure);
    }
    *ret_made = give(f, out, capacity);
    return holds(front) || f->failure.code == HAC_OK
               ? HAC_OK
               : hac_fail(err, f->failure.code, "%s", f->failure.message);
}

static hac_status end(hac_front *front, hac_error *err)
{
    csv_front *f = (csv_front *)front;
    hac_status status = reserve(f, SPARE, err);
    if (status != HAC_OK)
        return status;
    if (f->place == QUOTED || f->place == QUOTED_ESCAPE)
        return hac_fail(err, HAC_FAILED,
                        "line %" PRIu64 ": the quoted field that begins here has no closing quote",
                        f->opened);
    if (f->place == PLAIN_ESCAPE)
        plain_escape(f, f->escape);
    if (f->place == PLAIN)
        status = end_plain(f, true, err);
    if (f->place == CLOSED && !f->tsv)
        put(f, '"');
    f->place = COMMENT; /* all bytes are settled */
    return status;
}

static const char *remark(const hac_front *front)
{
    return ((const csv_front *)front)->shifts ? " (without its comments)" : NULL;
}

static void free_front(hac_front *front)
{
    free(((csv_front *)front)->made);
    free(front);
}

static const hac_front_functions functions = {
    .run = run, .holds = holds, .end = end, .remark = remark, .free = free_front};

hac_status hac_csv_front_new(hac_input_format format, const hac_input_options *options, hac_front **ret,
                             hac_error *err)
{
    csv_front *f = calloc(1, sizeof(*f));
    if (f == NULL)
        return hac_fail_no_memory(err);
    f->front.functions = &functions;
    f->tsv = format == HAC_INPUT_TSV;
    f->delimiter = hac_format_delimiter(format, options->delimiter);
    f->quote = chosen(options->quote, f->tsv ? 0 : '"');
    f->escape = chosen(options->escape, 0);
    f->own_escapes = f->tsv && (options->escape == 0 || options->escape == '\\');
    f->comment = chosen(options->comment, 0);
    if (f->escape == f->quote)
        f->escape = 0;
    f->only_comments = f->tsv ? f->quote == 0 && f->own_escapes : f->quote == '"' && f->escape == 0;
    const uint8_t all[] = {f->quote,           f->escape, '\n', f->tsv ? '\\' : '"', f->tsv ? '\t' : '"',
                           f->tsv ? '\r' : '"'};
    for (size_t i = 0; i < sizeof(all); i++)
        f->stops_quoted[all[i]] = true;
    f->stops_plain[f->delimiter] = f->stops_plain['\n'] = f->stops_plain[f->escape] = true;
    f->stops_plain[f->tsv ? '\\' : '"'] = true;
    f->stops_line['\n'] = f->stops_line['"'] = true;
    f->stops_line[f->delimiter] = true;
    f->line = 1;
    *ret = &f->front;
    return HAC_OK;
}

void hac_csv_front_look_closely(hac_front *front)
{
    ((csv_front *)front)->only_comments = false;
}

hac_csv_look hac_csv_front_look(const hac_front *front)
{
    const csv_front *f = (const csv_front *)front;
    hac_csv_look look = f->look;
    uint64_t quoted = f->columns_quoted | f->header_quoted;
    uint64_t all = (quoted & ~f->columns_plain) & ~(f->header_plain & ~f->columns_quoted);
    look.all_quoted = (size_t)__builtin_popcountll(all);
    return look;
}
