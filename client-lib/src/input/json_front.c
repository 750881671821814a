/* SPDX-License-Identifier: Apache-2.0 */
#include "json_front.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_grammar.h"

typedef enum mode {
    BEGINNING, /* the first line: it passes unchanged, and decides */
    UNDECIDED, /* an object continues behind the first line: its next token decides */
    LINES,     /* jsonl: all bytes pass */
    DOCUMENT,
} mode;

/* What may come next, between tokens. */
typedef enum expected {
    VALUE,
    VALUE_OR_END, /* behind '[' */
    NAME,
    NAME_OR_END, /* behind '{' */
    COLON,
    COMMA_OR_END,
} expected;

typedef enum token {
    NO_TOKEN,
    STRING,
    ESCAPE, /* behind a backslash */
    HEX,    /* behind \u */
    MINUS,  /* the states of a number are named after the part that was read last */
    ZERO,
    INTEGER,
    POINT,
    FRACTION,
    EXPONENT,
    EXPONENT_SIGN,
    EXPONENT_DIGITS,
    WORD,
} token;

/* What becomes of a byte. */
typedef enum fate {
    DROP,
    KEEP,
    AGAIN, /* the state has changed, and the byte is looked at again */
    BAD,
} fate;

typedef struct json_front {
    hac_front front;
    mode mode;
    expected expected;
    token token;
    const char *word; /* WORD: the rest of the word */
    unsigned digits;  /* HEX: digits that are left */
    bool name;        /* the string is a name */
    bool array;       /* within an array of records */
    bool unended;     /* the last record's line has not ended */
    bool divides;
    uint8_t mark;                           /* bytes of the byte order mark that were read */
    uint64_t bits[HAC_JSON_DEPTH_MAX / 64]; /* brackets open within the record, 1: an object */
    size_t depth;
    uint64_t line, column;  /* of the next byte, from 1 on */
    uint64_t start, opened; /* lines on which the last record and the array begin */
    uint64_t held;          /* line feeds read within the record */
    uint64_t owed;          /* line feeds to write before anything else */
    const char *problem;
} json_front;

static fate bad(json_front *f, const char *what)
{
    f->problem = what;
    return BAD;
}

/* ---- values ---- */

static bool in_object(const json_front *f)
{
    return f->depth > 0 && (f->bits[(f->depth - 1) / 64] >> (f->depth - 1) % 64 & 1) != 0;
}

static fate end_value(json_front *f)
{
    f->token = NO_TOKEN;
    f->expected = f->depth > 0 || f->array ? COMMA_OR_END : VALUE;
    if (f->depth > 0)
        return KEEP;
    f->owed = f->held; /* the record's own line feeds, behind it */
    f->unended = f->held == 0;
    f->held = 0;
    return KEEP;
}

static fate open_bracket(json_front *f, bool object)
{
    if (f->depth == HAC_JSON_DEPTH_MAX)
        return bad(f, "nested more than 512 deep");
    uint64_t bit = UINT64_C(1) << f->depth % 64;
    f->bits[f->depth / 64] &= ~bit;
    f->bits[f->depth / 64] |= object ? bit : 0;
    f->depth++;
    f->expected = object ? NAME_OR_END : VALUE_OR_END;
    return KEEP;
}

static fate begin_string(json_front *f, bool name)
{
    f->token = STRING;
    f->name = name;
    return KEEP;
}

static fate begin_word(json_front *f, uint8_t byte)
{
    static const char *const words[] = {HAC_JSON_WORDS};
    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
        if ((uint8_t)words[i][0] == byte) {
            f->token = WORD;
            f->word = words[i] + 1;
            return KEEP;
        }
    return bad(f, "expected a value");
}

static fate begin_value(json_front *f, uint8_t byte)
{
    if (byte == '{' || byte == '[')
        return open_bracket(f, byte == '{');
    if (byte == '"')
        return begin_string(f, false);
    if (byte == '-' || (byte >= '0' && byte <= '9')) {
        f->token = byte == '-' ? MINUS : byte == '0' ? ZERO : INTEGER;
        return KEEP;
    }
    return begin_word(f, byte);
}

/* The first byte of a record. A line of its own is added if the last record's has not ended. */
static fate begin_record(json_front *f, uint8_t byte)
{
    if (f->unended && byte != '\0' && strchr("{[\"-0123456789tfnNI", byte) != NULL) {
        f->unended = false;
        f->divides = true;
        f->owed = 1;
        return AGAIN;
    }
    f->start = f->line;
    return begin_value(f, byte);
}

/* ---- between tokens ---- */

/* A byte within an array of records, or outside of it, that is not within a record. */
static fate between_records(json_front *f, uint8_t byte)
{
    if (!f->array && byte == '[') {
        f->array = true;
        f->mode = DOCUMENT;
        f->opened = f->line;
        f->expected = VALUE_OR_END;
        return DROP;
    }
    if (!f->array)
        return byte == '{' ? begin_record(f, byte) : bad(f, "expected an object, or an array of objects");
    if (byte == ']' && f->expected != VALUE) {
        f->array = false;
        f->expected = VALUE;
        return DROP;
    }
    if (f->expected != COMMA_OR_END)
        return begin_record(f, byte);
    f->expected = VALUE;
    return byte == ',' ? DROP : bad(f, "expected ',' or ']' behind a record of the array");
}

static fate within_record(json_front *f, uint8_t byte)
{
    bool object = in_object(f), ends = byte == (object ? '}' : ']');
    switch (f->expected) {
    case COLON:
        f->expected = VALUE;
        return byte == ':' ? KEEP : bad(f, "expected ':' behind a name");
    case COMMA_OR_END:
        if (!ends && byte != ',')
            return bad(f, object ? "expected ',' or '}'" : "expected ',' or ']'");
        if (!ends) {
            f->expected = object ? NAME : VALUE;
            return KEEP;
        }
        break;
    case NAME:
    case NAME_OR_END:
        if (byte == '"')
            return begin_string(f, true);
        if (!ends || f->expected == NAME)
            return bad(f, "expected a name in quotes");
        break;
    default:
        if (!ends || f->expected == VALUE)
            return begin_value(f, byte);
    }
    f->depth--;
    return end_value(f);
}

/* ---- within tokens ---- */

static fate string_byte(json_front *f, uint8_t byte)
{
    if (byte == '\n')
        return bad(f, "a line ends within a string");
    if (f->token == HEX) {
        bool hex = (byte >= '0' && byte <= '9') || ((byte | 0x20) >= 'a' && (byte | 0x20) <= 'f');
        f->token = --f->digits == 0 ? STRING : HEX;
        return hex ? KEEP : bad(f, "\\u needs four hexadecimal digits");
    }
    if (f->token == ESCAPE) {
        f->token = byte == 'u' ? HEX : STRING;
        f->digits = 4;
        return byte != '\0' && strchr("\"\\/bfnrtu", byte) != NULL
                   ? KEEP
                   : bad(f, "a backslash before a character that has no escape");
    }
    if (byte == '\\')
        f->token = ESCAPE;
    if (byte != '"')
        return KEEP;
    if (!f->name)
        return end_value(f);
    f->token = NO_TOKEN;
    f->expected = COLON;
    return KEEP;
}

static bool is_whole_number(token t)
{
    return t == ZERO || t == INTEGER || t == FRACTION || t == EXPONENT_DIGITS;
}

/* The state of a number behind a digit; NO_TOKEN: none may follow. */
static token behind_digit(token t, uint8_t byte)
{
    switch (t) {
    case MINUS:
        return byte == '0' ? ZERO : INTEGER;
    case INTEGER:
        return INTEGER;
    case POINT:
    case FRACTION:
        return FRACTION;
    case EXPONENT:
    case EXPONENT_SIGN:
    case EXPONENT_DIGITS:
        return EXPONENT_DIGITS;
    default:
        return NO_TOKEN;
    }
}

static fate number_byte(json_front *f, uint8_t byte)
{
    token t = f->token, next = NO_TOKEN;
    if (byte >= '0' && byte <= '9') {
        next = behind_digit(t, byte);
        if (next == NO_TOKEN)
            return bad(f, "a number starts with 0");
    } else if (byte == '.' && (t == ZERO || t == INTEGER)) {
        next = POINT;
    } else if ((byte | 0x20) == 'e' && (t == ZERO || t == INTEGER || t == FRACTION)) {
        next = EXPONENT;
    } else if ((byte == '+' || byte == '-') && t == EXPONENT) {
        next = EXPONENT_SIGN;
    } else if (t == MINUS && byte == 'I') {
        return begin_word(f, byte);
    } else if (!is_whole_number(t)) {
        return bad(f, "a number is incomplete");
    }
    if (next == NO_TOKEN) {
        (void)end_value(f);
        return AGAIN;
    }
    f->token = next;
    return KEEP;
}

static fate word_byte(json_front *f, uint8_t byte)
{
    if (*f->word == '\0') {
        (void)end_value(f);
        return AGAIN;
    }
    return (uint8_t)*f->word++ == byte ? KEEP : bad(f, "expected a value");
}

/* ---- one byte ---- */

static bool in_record(const json_front *f)
{
    return f->depth > 0 || f->token != NO_TOKEN;
}

static fate blank(json_front *f, uint8_t byte)
{
    if (f->mode == BEGINNING)
        return KEEP;
    if (byte != '\n')
        return DROP;
    if (f->depth > 0) {
        f->held++;
        return DROP;
    }
    f->unended = false;
    return KEEP;
}

static fate document_byte(json_front *f, uint8_t byte)
{
    if (f->token >= STRING && f->token <= HEX)
        return string_byte(f, byte);
    if (f->token == WORD)
        return word_byte(f, byte);
    if (f->token != NO_TOKEN)
        return number_byte(f, byte);
    if (byte == ' ' || byte == '\t' || byte == '\r' || byte == '\n')
        return blank(f, byte);
    return f->depth > 0 ? within_record(f, byte) : between_records(f, byte);
}

/* Passes the bytes on as they are, to the reader of jsonl, which also reports input that is not JSON. */
static fate pass(json_front *f)
{
    f->mode = LINES;
    f->owed += f->held;
    f->held = 0;
    return AGAIN;
}

/* A byte of the first line, which begins with '{' unless it is the first byte that is not blank. */
static fate beginning_byte(json_front *f, uint8_t byte)
{
    static const uint8_t mark[] = {0xef, 0xbb, 0xbf};
    if (f->mark < sizeof(mark) && byte == mark[f->mark] && f->start == 0) {
        f->mark++;
        f->column = 0;
        return KEEP;
    }
    f->mark = sizeof(mark);
    bool begun = f->start != 0, record = in_record(f);
    if (begun && !record && byte != ' ' && byte != '\t' && byte != '\r')
        return pass(f); /* a whole object, and what follows it */
    if (byte == '\n' && record && f->token != NO_TOKEN) {
        fate ended = document_byte(f, byte); /* the end of a number or word; a string cannot go on */
        return ended == BAD ? pass(f) : ended;
    }
    if (byte == '\n' && record) {
        f->mode = UNDECIDED;
        f->held = 1;
        return DROP;
    }
    fate made = document_byte(f, byte);
    return made == BAD ? pass(f) : made;
}

static fate look_at(json_front *f, uint8_t byte)
{
    if (f->mode == LINES)
        return KEEP;
    if (f->mode == BEGINNING)
        return beginning_byte(f, byte);
    mode was = f->mode;
    fate made = document_byte(f, byte);
    if (was == UNDECIDED && made == BAD)
        return pass(f);
    if (was == UNDECIDED && made == KEEP)
        f->mode = DOCUMENT;
    return made;
}

static void count(json_front *f, uint8_t byte)
{
    f->column += (byte & 0xc0) != 0x80;
    if (byte == '\n') {
        f->line++;
        f->column = 1;
    }
}

/* ---- many bytes ---- */

static hac_status fail_at(const json_front *f, hac_error *err)
{
    return hac_fail(err, HAC_FAILED, "line %" PRIu64 ", column %" PRIu64 ": %s", f->line, f->column,
                    f->problem);
}

/* The number of bytes, from `in` on, that pass together: those within a string, or all of jsonl. */
static size_t passing(json_front *f, const uint8_t *in, size_t bytes)
{
    size_t n = 0;
    if (f->mode == LINES)
        return bytes;
    while (f->token == STRING && n < bytes && in[n] != '"' && in[n] != '\\' && in[n] != '\n') {
        f->column += (in[n] & 0xc0) != 0x80;
        n++;
    }
    return n;
}

static hac_status run(hac_front *front, const uint8_t *in, size_t bytes, size_t *ret_used, uint8_t *out,
                      size_t capacity, size_t *ret_made, hac_error *err)
{
    json_front *f = (json_front *)front;
    size_t used = 0, made = 0;
    hac_status status = HAC_OK;
    while (made < capacity && status == HAC_OK) {
        if (f->owed > 0) {
            out[made++] = '\n';
            f->owed--;
            continue;
        }
        if (used == bytes)
            break;
        size_t left = bytes - used < capacity - made ? bytes - used : capacity - made,
               n = passing(f, in + used, left);
        memcpy(out + made, in + used, n);
        used += n;
        made += n;
        if (n == left)
            continue;
        fate what = look_at(f, in[used]);
        if (what == BAD)
            status = fail_at(f, err);
        if (what == KEEP)
            out[made++] = in[used];
        if (what == KEEP || what == DROP)
            count(f, in[used++]);
    }
    *ret_used = used;
    *ret_made = made;
    return status;
}

static bool holds(const hac_front *front)
{
    return ((const json_front *)front)->owed > 0;
}

static hac_status end(hac_front *front, hac_error *err)
{
    json_front *f = (json_front *)front;
    if (f->mode == UNDECIDED) /* one line without an end: the reader of jsonl checks it */
        (void)pass(f);
    if (f->mode != DOCUMENT || (!in_record(f) && !f->array))
        return HAC_OK;
    return hac_fail(err, HAC_FAILED,
                    "line %" PRIu64 ", column %" PRIu64
                    ": the input ends within the %s that begins in line %" PRIu64,
                    f->line, f->column, f->array ? "array" : "object", f->array ? f->opened : f->start);
}

static bool passes(const hac_front *front)
{
    const json_front *f = (const json_front *)front;
    return f->mode == LINES && f->owed == 0;
}

static const char *remark(const hac_front *front)
{
    return ((const json_front *)front)->divides ? " (with each record on a line)" : NULL;
}

static void free_front(hac_front *front)
{
    free(front);
}

static const hac_front_functions functions = {
    .run = run, .holds = holds, .end = end, .passes = passes, .remark = remark, .free = free_front};

hac_status hac_json_front_new(hac_front **ret, hac_error *err)
{
    json_front *f = calloc(1, sizeof(*f));
    if (f == NULL)
        return hac_fail_no_memory(err);
    f->front.functions = &functions;
    f->line = f->column = 1;
    *ret = &f->front;
    return HAC_OK;
}
