/* SPDX-License-Identifier: Apache-2.0 */
/* jsonl: one object a line. Strings are unescaped in place. Values that no column asks for are skipped. There
 * is no recursion: nesting is a stack of bits, or of lengths where columns are members of nested objects
 * (json_path). */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/json_grammar.h"
#include "base/short_number.h"
#include "base/value_text.h"
#include "source_parts.h"

/*
 * Of the n-th member of the previous line: what stood before its value, which is the name with its quotes and
 * colon, and blanks. The next line probably has the same. lead_bytes 0: unknown. `column` is the column of
 * that name, -1 if no column asks for it.
 */
typedef struct json_key {
    uint32_t lead_bytes;
    int32_t column;
    uint8_t lead[56];
} json_key;
#define JSON_KEYS 64

typedef struct json_source {
    json_key keys[JSON_KEYS];
    uint64_t line; /* a number for the line that is being read, from 1 on */
    /* Columns with a dot in their name: the line that last had a member of exactly that name. */
    uint64_t literal[HAC_COLUMNS_MAX];
    /* Columns that other columns have members of. Reading a member changes the line, so that the texts of
     * these columns are copied before. */
    bool whole[HAC_COLUMNS_MAX];
    uint8_t *copies; /* of the batch */
    size_t copied, capacity;
} json_source;

/*
 * Objects that enclose a value, of which a column asks for a member: "req.net" for the column "req.net.ip".
 * Their names, joined by dots and with a dot at the end, are the first `bytes[depth - 1]` bytes of that
 * column's name; an enclosing object's are fewer bytes of the same name. depth 0: the line's object.
 */
typedef struct json_path {
    const char *names;
    size_t depth;
    uint32_t bytes[HAC_JSON_PATH_MAX];
} json_path;

typedef struct json {
    uint8_t *at, *end;
    const char *problem; /* what is wrong with the line; set once */
} json;

static bool problem(json *j, const char *what)
{
    if (j->problem == NULL)
        j->problem = what;
    return false;
}

static void skip_blanks(json *j)
{
    while (j->at < j->end && (*j->at == ' ' || *j->at == '\t' || *j->at == '\r'))
        j->at++;
}

static inline bool take(json *j, uint8_t byte)
{
    if (j->at < j->end && *j->at == byte) { /* usually there are no blanks */
        j->at++;
        return true;
    }
    skip_blanks(j);
    if (j->at == j->end || *j->at != byte)
        return false;
    j->at++;
    return true;
}

/* ---- strings ---- */

/* Finds the next quote or backslash. Reads up to 8 bytes beyond the end, which the window has. */
static inline uint8_t *find_special(uint8_t *at, const uint8_t *end)
{
    const uint64_t ones = UINT64_C(0x0101010101010101), tops = ones << 7;
    for (; at < end; at += 8) {
        uint64_t word = hac_eight_characters(at), quote = word ^ ones * ('"' ^ '0'),
                 slash = word ^ ones * ('\\' ^ '0');
        uint64_t found = (((quote - ones) & ~quote) | ((slash - ones) & ~slash)) & tops;
        if (found != 0) { /* the lowest bit is correct, the others may not be */
            at += __builtin_ctzll(found) / 8;
            return at < end ? at : NULL;
        }
    }
    return NULL;
}

/* Reads the four digits of a \u; -1: they are not hexadecimal. */
static int32_t hex_unit(const uint8_t *at, const uint8_t *end)
{
    int32_t unit = 0;
    if (end - at < 4)
        return -1;
    for (int i = 0; i < 4; i++) {
        int digit = hac_hex_digit((char)at[i]);
        if (digit < 0)
            return -1;
        unit = unit * 16 + digit;
    }
    return unit;
}

static uint8_t *write_utf8(uint8_t *to, uint32_t code)
{
    if (code < 0x80) {
        *to++ = (uint8_t)code;
    } else if (code < 0x800) {
        *to++ = (uint8_t)(0xc0 | code >> 6);
        *to++ = (uint8_t)(0x80 | (code & 0x3f));
    } else if (code < 0x10000) {
        *to++ = (uint8_t)(0xe0 | code >> 12);
        *to++ = (uint8_t)(0x80 | (code >> 6 & 0x3f));
        *to++ = (uint8_t)(0x80 | (code & 0x3f));
    } else {
        *to++ = (uint8_t)(0xf0 | code >> 18);
        *to++ = (uint8_t)(0x80 | (code >> 12 & 0x3f));
        *to++ = (uint8_t)(0x80 | (code >> 6 & 0x3f));
        *to++ = (uint8_t)(0x80 | (code & 0x3f));
    }
    return to;
}

/* Reads the one or two units (a surrogate pair) that follow "\u". */
static bool unicode_escape(json *j, uint8_t **to)
{
    int32_t unit = hex_unit(j->at, j->end);
    if (unit < 0)
        return problem(j, "\\u needs four hexadecimal digits");
    j->at += 4;
    uint32_t code = (uint32_t)unit;
    if (unit >= 0xd800 && unit < 0xe000) {
        int32_t low =
            j->end - j->at >= 6 && j->at[0] == '\\' && j->at[1] == 'u' ? hex_unit(j->at + 2, j->end) : -1;
        if (unit >= 0xdc00 || low < 0xdc00 || low >= 0xe000)
            return problem(j, "\\u names half of a surrogate pair");
        j->at += 6;
        code = 0x10000 + (((uint32_t)unit & 0x3ff) << 10) + ((uint32_t)low & 0x3ff);
    }
    *to = write_utf8(*to, code);
    return true;
}

static bool escape(json *j, uint8_t **to)
{
    static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
    j->at++;
    if (j->at == j->end)
        return problem(j, "a string has no closing quote");
    uint8_t name = *j->at++;
    if (name == 'u')
        return unicode_escape(j, to);
    const char *found = name != 0 ? strchr(names, name) : NULL;
    if (found == NULL)
        return problem(j, "a backslash before a character that has no escape");
    *(*to)++ = (uint8_t)values[found - names];
    return true;
}

/* Unescapes a string from its first backslash on, which follows `plain` bytes. */
static bool unescape_string(json *j, uint8_t *start, size_t fixed, size_t *ret_bytes)
{
    uint8_t *to = start + fixed, *special = to;
    do {
        j->at = special;
        if (!escape(j, &to))
            return false;
        special = find_special(j->at, j->end);
        if (special == NULL)
            return problem(j, "a string has no closing quote");
        fixed = (size_t)(special - j->at);
        memmove(to, j->at, fixed);
        to += fixed;
    } while (*special == '\\');
    j->at = special + 1;
    *ret_bytes = (size_t)(to - start);
    return true;
}

/* Reads a string from its opening quote on, and unescapes it in place. */
static inline bool read_string(json *j, uint8_t **ret, size_t *ret_bytes)
{
    uint8_t *start = ++j->at, *special = find_special(start, j->end);
    if (special == NULL)
        return problem(j, "a string has no closing quote");
    *ret = start;
    *ret_bytes = (size_t)(special - start);
    j->at = special + 1;
    return *special == '"' || unescape_string(j, start, *ret_bytes, ret_bytes);
}

static bool skip_string(json *j)
{
    j->at++;
    for (;;) {
        uint8_t *special = find_special(j->at, j->end);
        if (special == NULL)
            return problem(j, "a string has no closing quote");
        j->at = special;
        if (*special == '"') {
            j->at++;
            return true;
        }
        uint8_t unused[4], *to = unused;
        if (!escape(j, &to))
            return false;
    }
}

/* ---- other values ---- */

static bool is_digit(const json *j)
{
    return j->at < j->end && *j->at >= '0' && *j->at <= '9';
}

/* Skips digits, at least one. Reads up to 8 bytes beyond the end, which the window has. */
static inline bool digits(json *j)
{
    const uint8_t *first = j->at;
    uint64_t others;
    while (j->at < j->end) {
        others = hac_not_digits(hac_eight_characters(j->at));
        j->at += others != 0 ? __builtin_ctzll(others) / 8 : 8;
        if (others != 0)
            break;
    }
    if (j->at > j->end)
        j->at = j->end;
    return j->at > first || problem(j, "a number is incomplete");
}

static inline bool skip_number(json *j)
{
    if (*j->at == '-')
        j->at++;
    uint8_t *first = j->at;
    if (!digits(j))
        return false;
    if (*first == '0' && j->at - first > 1)
        return problem(j, "a number starts with 0");
    if (j->at < j->end && *j->at == '.') {
        j->at++;
        if (!digits(j))
            return false;
    }
    if (j->at < j->end && (*j->at | 0x20) == 'e') {
        j->at++;
        if (j->at < j->end && (*j->at == '+' || *j->at == '-'))
            j->at++;
        return digits(j);
    }
    return true;
}

/* Skips true, false, null, and the words that Python writes for non-finite floats; the word is the value's
 * text. */
static bool skip_word(json *j)
{
    static const char *const words[] = {HAC_JSON_WORDS, "-Infinity"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t n = strlen(words[i]);
        if ((size_t)(j->end - j->at) >= n && memcmp(j->at, words[i], n) == 0) {
            j->at += n;
            return true;
        }
    }
    return problem(j, "expected a value");
}

/* Skips a value that is neither an object nor an array. */
static inline bool skip_scalar(json *j)
{
    if (j->at == j->end)
        return problem(j, "expected a value");
    if (*j->at == '"')
        return skip_string(j);
    if (is_digit(j) || (*j->at == '-' && j->end - j->at > 1 && j->at[1] != 'I'))
        return skip_number(j);
    return skip_word(j);
}

/* Open brackets, one bit each: 1 for an object. */
typedef struct nesting {
    uint64_t bits[HAC_JSON_DEPTH_MAX / 64];
    size_t depth;
} nesting;

static bool in_object(const nesting *n)
{
    return n->bits[(n->depth - 1) / 64] >> (n->depth - 1) % 64 & 1;
}

static bool push(json *j, nesting *n, bool object)
{
    if (n->depth == HAC_JSON_DEPTH_MAX)
        return problem(j, "nested more than 512 deep");
    uint64_t bit = UINT64_C(1) << n->depth % 64;
    if (object)
        n->bits[n->depth / 64] |= bit;
    else
        n->bits[n->depth / 64] &= ~bit;
    n->depth++;
    return true;
}

static bool skip_key(json *j)
{
    skip_blanks(j);
    if (j->at == j->end || *j->at != '"')
        return problem(j, "expected a name in quotes");
    return skip_string(j) && (take(j, ':') || problem(j, "expected ':' behind a name"));
}

/* Opens brackets up to a value that has none, or up to an empty pair, for which *ret_closed is true. */
static bool descend(json *j, nesting *n, bool *ret_closed)
{
    *ret_closed = false;
    for (;;) {
        skip_blanks(j);
        bool object = j->at < j->end && *j->at == '{';
        if (!object && (j->at == j->end || *j->at != '['))
            return skip_scalar(j);
        j->at++;
        if (!push(j, n, object))
            return false;
        skip_blanks(j);
        if (j->at < j->end && *j->at == (object ? '}' : ']')) {
            j->at++;
            n->depth--;
            *ret_closed = true;
            return true;
        }
        if (object && !skip_key(j))
            return false;
    }
}

static bool skip_value(json *j)
{
    nesting n = {.depth = 0};
    bool closed;
    for (;;) {
        if (!descend(j, &n, &closed))
            return false;
        for (;;) { /* after a value */
            if (n.depth == 0)
                return true;
            if (take(j, ','))
                break;
            if (!take(j, in_object(&n) ? '}' : ']'))
                return problem(j, in_object(&n) ? "expected ',' or '}'" : "expected ',' or ']'");
            n.depth--;
        }
        if (in_object(&n) && !skip_key(j))
            return false;
    }
}

/* ---- objects ---- */

static int32_t find_column(const hac_source *source, const uint8_t *name, size_t bytes)
{
    for (size_t i = 0; i < source->n_columns; i++)
        if (source->columns[i].name_bytes == bytes && memcmp(source->columns[i].name, name, bytes) == 0)
            return (int32_t)i;
    return -1;
}

/* Whether the column's name is `name` below the path; or, with `within`, that of something within it. */
static bool is_below(const hac_source_column *column, const json_path *path, const uint8_t *name,
                     size_t bytes, bool within)
{
    size_t above = path->depth > 0 ? path->bytes[path->depth - 1] : 0, end = above + bytes;
    return (within ? column->name_bytes > end && column->name[end] == '.' : column->name_bytes == end) &&
           memcmp(column->name + above, name, bytes) == 0 && memcmp(column->name, path->names, above) == 0;
}

/* Appends an object's name to the path if a column asks for something within it. */
static bool enter_name(const hac_source *source, json_path *path, const uint8_t *name, size_t bytes)
{
    size_t above = path->depth > 0 ? path->bytes[path->depth - 1] : 0;
    for (size_t i = 0; i < source->n_columns && path->depth < HAC_JSON_PATH_MAX; i++)
        if (is_below(&source->columns[i], path, name, bytes, true)) {
            path->names = source->columns[i].name;
            path->bytes[path->depth++] = (uint32_t)(above + bytes + 1);
            return true;
        }
    return false;
}

/* Whether the n-th member's name and the bytes around it are the same as in the previous line. */
static inline bool as_before(const json *j, const json_key *key)
{
    uint64_t word, last;
    size_t n = key->lead_bytes;
    if (n == 0 || (size_t)(j->end - j->at) < n)
        return false;
    if (n < 8) { /* both can be read beyond n bytes */
        memcpy(&word, j->at, 8);
        memcpy(&last, key->lead, 8);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
        return (word ^ last) >> (64 - 8 * n) == 0;
#else
        return (word ^ last) << (64 - 8 * n) == 0;
#endif
    }
    for (size_t i = 0; i + 8 < n; i += 8) {
        memcpy(&word, j->at + i, 8);
        memcpy(&last, key->lead + i, 8);
        if (word != last)
            return false;
    }
    memcpy(&word, j->at + n - 8, 8);
    memcpy(&last, key->lead + n - 8, 8);
    return word == last;
}

typedef struct json_name {
    uint8_t *text;
    size_t bytes;
    bool escaped; /* the text is unescaped, and the line changed */
} json_name;

/* Reads a name, its colon, and blanks. */
static bool read_name(json *j, json_name *ret)
{
    skip_blanks(j);
    if (j->at == j->end || *j->at != '"')
        return problem(j, "expected a name in quotes");
    if (!read_string(j, &ret->text, &ret->bytes))
        return false;
    ret->escaped = j->at != ret->text + ret->bytes + 1;
    if (!take(j, ':'))
        return problem(j, "expected ':' behind a name");
    skip_blanks(j);
    return true;
}

/*
 * Reads from behind '{' or ',' of the line's object up to a value, and finds the column of that name; -1:
 * none asks for it. path->depth > 0: columns ask for members of the value. Names that take part in paths are
 * looked up in every line.
 */
static bool read_key(hac_source *source, json *j, size_t n, int32_t *ret, json_path *path)
{
    json_source *s = source->state;
    const uint8_t *lead = j->at;
    json_name name;
    if (!read_name(j, &name))
        return false;
    *ret = find_column(source, name.text, name.bytes);
    bool dotted = *ret >= 0 && memchr(name.text, '.', name.bytes) != NULL;
    if (dotted)
        s->literal[*ret] = s->line;
    bool entered = (*ret < 0 || s->whole[*ret]) && enter_name(source, path, name.text, name.bytes);
    if (n >= JSON_KEYS)
        return true;
    json_key *key = &s->keys[n];
    size_t whole = (size_t)(j->at - lead);
    key->column = *ret;
    key->lead_bytes = name.escaped || dotted || entered || whole > sizeof key->lead ? 0 : (uint32_t)whole;
    memcpy(key->lead, lead, key->lead_bytes);
    return true;
}

static inline bool column_value(const hac_source *source, json *j, hac_source_column *column, size_t row)
{
    const uint8_t *base = source->records.window.data;
    uint8_t *text;
    size_t bytes;
    skip_blanks(j);
    text = j->at;
    if (j->at < j->end && *j->at == '"') {
        if (!read_string(j, &text, &bytes))
            return false;
    } else if (j->at < j->end && (*j->at == '{' || *j->at == '[')) {
        if (!skip_value(j)) /* its text, which is a value of strings only */
            return false;
        bytes = (size_t)(j->at - text);
    } else if (!skip_scalar(j)) {
        return false;
    } else {
        bytes = (size_t)(j->at - text);
        if (bytes == 4 && memcmp(text, "null", 4) == 0) {
            column->refs[row] = (hac_string_ref){0, 0};
            column->states[row] = HAC_ROW_NULL;
            return true;
        }
    }
    column->refs[row] = (hac_string_ref){(uint32_t)(text - base), (uint32_t)bytes};
    column->states[row] = HAC_ROW_OK;
    return true;
}

/* Puts a copy of the column's value in its place. */
static bool copy_value(hac_source *source, json *j, hac_source_column *column, size_t row,
                       const uint8_t *text, size_t bytes)
{
    json_source *s = source->state;
    if (bytes > UINT32_MAX - s->copied)
        return problem(j, "the objects that are read as a whole, too, have more than 4 GiB");
    if (bytes > s->capacity - s->copied) {
        size_t capacity = 2 * s->capacity + bytes + 4096;
        uint8_t *copies = realloc(s->copies, capacity);
        if (copies == NULL)
            return problem(j, "no memory for a copy of the object");
        s->copies = copies;
        s->capacity = capacity;
    }
    if (bytes > 0)
        memcpy(s->copies + s->copied, text, bytes);
    column->refs[row] = (hac_string_ref){(uint32_t)s->copied, (uint32_t)bytes};
    column->states[row] = HAC_ROW_OK;
    s->copied += bytes;
    return true;
}

/* Reads the value of a column that other columns have members of. An object is copied and left unread, so
 * that the caller can read the members: *ret_object. */
static bool whole_value(hac_source *source, json *j, hac_source_column *column, size_t row, bool *ret_object)
{
    skip_blanks(j);
    uint8_t *text = j->at;
    *ret_object = j->at < j->end && *j->at == '{';
    if (*ret_object) {
        if (!skip_value(j) || !copy_value(source, j, column, row, text, (size_t)(j->at - text)))
            return false;
        j->at = text;
        return true;
    }
    if (!column_value(source, j, column, row))
        return false;
    hac_string_ref ref = column->refs[row];
    return column->states[row] != HAC_ROW_OK ||
           copy_value(source, j, column, row, source->records.window.data + ref.offset, ref.length);
}

/* Reads a member of a nested object. One that a member of exactly that name overrules is skipped. */
static bool nested_member(hac_source *source, json *j, json_path *path, size_t row, bool *ret_entered)
{
    const json_source *s = source->state;
    json_name name;
    size_t i = 0;
    *ret_entered = false;
    if (!read_name(j, &name))
        return false;
    while (i < source->n_columns && !is_below(&source->columns[i], path, name.text, name.bytes, false))
        i++;
    bool wanted = i < source->n_columns && s->literal[i] != s->line, object = false;
    if (wanted && !s->whole[i])
        return column_value(source, j, &source->columns[i], row);
    if (wanted && !whole_value(source, j, &source->columns[i], row, &object))
        return false;
    if (wanted && !object)
        return true;
    *ret_entered = (i == source->n_columns || s->whole[i]) && j->at < j->end && *j->at == '{' &&
                   enter_name(source, path, name.text, name.bytes);
    return *ret_entered || skip_value(j);
}

/* Reads what follows a value within the path's objects, up to the next member or the end of all of them. */
static bool after_nested(json *j, json_path *path)
{
    while (path->depth > 0 && !take(j, ',')) {
        if (!take(j, '}'))
            return problem(j, "expected ',' or '}'");
        path->depth--;
    }
    return true;
}

/* Reads a value of which columns ask for members: path->depth is 1. Only an object has any. */
static bool nested_object(hac_source *source, json *j, json_path *path, size_t row)
{
    bool entered = true;
    if (j->at == j->end || *j->at != '{')
        return skip_value(j);
    do {
        if (entered)
            j->at++;
        if (entered && take(j, '}')) { /* an empty object */
            entered = false;
            path->depth--;
        } else if (!nested_member(source, j, path, row, &entered)) {
            return false;
        }
        if (!entered && !after_nested(j, path))
            return false;
    } while (path->depth > 0);
    return true;
}

static inline bool member(hac_source *source, json *j, size_t n, size_t row)
{
    const json_key *key = &((const json_source *)source->state)->keys[n < JSON_KEYS ? n : 0];
    json_path path;
    int32_t column;
    path.names = "";
    path.depth = 0;
    if (n < JSON_KEYS && as_before(j, key)) {
        j->at += key->lead_bytes;
        column = key->column;
    } else if (!read_key(source, j, n, &column, &path)) {
        return false;
    }
    bool whole = column >= 0 && ((const json_source *)source->state)->whole[column];
    if (column >= 0 && !whole)
        return column_value(source, j, &source->columns[column], row);
    bool object = true;
    if (whole && !whole_value(source, j, &source->columns[column], row, &object))
        return false;
    if (!object)
        return true;
    return path.depth > 0 ? nested_object(source, j, &path, row) : skip_value(j);
}

/* Sets all columns of rows [row, end) to null, until a member gives them a value. */
static void clear_rows(hac_source *source, size_t row, size_t end)
{
    for (size_t i = 0; i < source->n_columns; i++) {
        memset(&source->columns[i].refs[row], 0, (end - row) * sizeof(hac_string_ref));
        memset(&source->columns[i].states[row], HAC_ROW_NULL, end - row);
    }
}

/* After all rows: notes which columns have nulls. */
static void mark_nulls(hac_source *source, size_t end)
{
    for (size_t i = 0; i < source->n_columns; i++) {
        uint8_t *states = source->columns[i].states, any = 0;
        for (size_t r = 0; r < source->rows; r++)
            any |= states[r];
        source->columns[i].marked = any != HAC_ROW_OK;
        memset(states + source->rows, HAC_ROW_OK, end - source->rows);
    }
}

/* Reads the line's object into row `row`. If a name comes twice, the last value counts. */
static bool read_object(hac_source *source, json *j, size_t row)
{
    if (!take(j, '{'))
        return problem(j, "expected an object");
    ((json_source *)source->state)->line++;
    if (!take(j, '}')) {
        size_t n = 0;
        do {
            if (!member(source, j, n++, row))
                return false;
        } while (take(j, ','));
        if (!take(j, '}'))
            return problem(j, "expected ',' or '}'");
    }
    skip_blanks(j);
    return j->at == j->end || problem(j, "something follows the object");
}

/* ---- names without a source ---- */

#define PATHS_DEEP 8 /* members of objects that lie deeper are no columns of their own */

/* The name of the object that is read, with a point behind it: empty for the record itself. */
typedef struct column_path {
    char name[HAC_FIELD_NAME_MAX];
    size_t bytes;
    unsigned depth;
} column_path;

/* Appends a name to the path. */
static bool join_path(json *j, const column_path *path, const uint8_t *name, size_t bytes, column_path *ret)
{
    if (bytes == 0 || path->bytes + bytes >= HAC_FIELD_NAME_MAX || memchr(name, 0, bytes) != NULL)
        return problem(j, "a name that cannot be a column's: those have 1 to 127 bytes");
    memcpy(ret->name, path->name, path->bytes);
    memcpy(ret->name + path->bytes, name, bytes);
    ret->bytes = path->bytes + bytes;
    ret->name[ret->bytes] = '\0';
    ret->depth = path->depth + 1;
    return true;
}

/* Set in the precision of a column's type until the columns are settled: all of its values are null; some are
 * arrays or objects too deep, and others are neither; it is a member of a nested object. */
enum { ONLY_NULLS = 1, ARRAYS = 2, MEMBER = 4 };

/* Adds a column unless it is there; the n-th member of a record is often the n-th column. The values of a
 * column that is always an array or null, or an object too deep, have no kind. */
static bool note_column(json *j, size_t n, const column_path *path, hac_kind kind, bool null,
                        hac_schema *schema)
{
    const hac_field *same = n < schema->n_fields ? &schema->fields[n] : NULL;
    int at = same != NULL && strcmp(same->name, path->name) == 0
                 ? (int)n
                 : hac_schema_find(schema, path->name, path->bytes);
    if (at < 0 && schema->n_fields == HAC_COLUMNS_MAX)
        return problem(j, "more than 256 names: choose columns with --schema");
    if (at < 0) {
        at = (int)schema->n_fields++;
        memcpy(schema->fields[at].name, path->name, path->bytes + 1);
        schema->fields[at].type.kind = (uint8_t)kind;
        schema->fields[at].type.precision = (null ? ONLY_NULLS : 0) | (path->depth > 1 ? MEMBER : 0);
    }
    hac_value_type *type = &schema->fields[at].type;
    if (null)
        return true;
    bool nulls = (type->precision & ONLY_NULLS) != 0, array = kind == HAC_KIND_NONE;
    if (!nulls && array != (type->kind == HAC_KIND_NONE))
        type->precision |= ARRAYS;
    type->precision &= (uint8_t)~ONLY_NULLS;
    type->kind = nulls || type->kind == HAC_KIND_NONE ? (uint8_t)kind : type->kind;
    return true;
}

/* Whether a column is a member of the objects that the other one has in some records. */
static bool is_member(const hac_field *field, const hac_field *object)
{
    size_t bytes = strlen(object->name);
    return (field->type.precision & MEMBER) != 0 && strncmp(field->name, object->name, bytes) == 0 &&
           field->name[bytes] == '.';
}

/*
 * A column with objects in some records, and null in all others, is the columns of their members. One that
 * has other values, too, is one column of text, as is one with arrays, or with objects too deep: their text
 * is JSON.
 */
static void settle_columns(hac_schema *schema)
{
    size_t n = 0;
    for (size_t i = 0; i < schema->n_fields; i++) {
        hac_field *field = &schema->fields[i];
        bool object = false, nulls = (field->type.precision & ONLY_NULLS) != 0;
        for (size_t k = 0; k < schema->n_fields && !object; k++)
            object = is_member(&schema->fields[k], field);
        field->mixed = !nulls && (object || (field->type.precision & ARRAYS) != 0);
        field->member = (field->type.precision & MEMBER) != 0;
        field->arrays = !nulls && !field->mixed && field->type.kind == HAC_KIND_NONE;
        field->empty = nulls;
        if (nulls && object)
            field->name[0] = '\0';
    }
    for (size_t i = 0; i < schema->n_fields; i++) {
        hac_field *field = &schema->fields[i];
        bool gone = field->name[0] == '\0';
        for (size_t k = 0; k < schema->n_fields && !gone; k++)
            gone = schema->fields[k].mixed && is_member(field, &schema->fields[k]);
        field->type.kind = HAC_KIND_STRING;
        if (!gone)
            schema->fields[n++] = *field;
    }
    for (size_t i = 0; i < n; i++)
        schema->fields[i].type.precision = 0;
    schema->n_fields = n;
}

static bool note_object(json *j, column_path *path, hac_schema *schema);

static bool note_member(json *j, size_t n, const column_path *path, hac_schema *schema)
{
    column_path member;
    uint8_t *name;
    size_t bytes;
    skip_blanks(j);
    if (j->at == j->end || *j->at != '"')
        return problem(j, "expected a name in quotes");
    if (!read_string(j, &name, &bytes) || !join_path(j, path, name, bytes, &member))
        return false;
    if (!take(j, ':'))
        return problem(j, "expected ':' behind a name");
    skip_blanks(j);
    bool object = j->at < j->end && *j->at == '{';
    json ahead = *j;
    if (object && take(&ahead, '{') && take(&ahead, '}')) /* says as much about its members as null */
        return note_column(j, n, &member, HAC_KIND_STRING, true, schema) && skip_value(j);
    if (object && member.depth < PATHS_DEEP && member.bytes + 2 < HAC_FIELD_NAME_MAX) {
        member.name[member.bytes++] = '.';
        member.name[member.bytes] = '\0';
        return note_object(j, &member, schema);
    }
    bool nested = object || (j->at < j->end && *j->at == '['), null = j->at < j->end && *j->at == 'n';
    return note_column(j, n, &member, nested ? HAC_KIND_NONE : HAC_KIND_STRING, null, schema) &&
           skip_value(j);
}

/* Adds the columns of a record, or of an object in it. */
static bool note_object(json *j, column_path *path, hac_schema *schema)
{
    if (!take(j, '{'))
        return problem(j, "expected an object");
    if (take(j, '}'))
        return true;
    size_t n = 0;
    do {
        if (!note_member(j, n++, path, schema))
            return false;
    } while (take(j, ','));
    return take(j, '}') || problem(j, "expected ',' or '}'");
}

static hac_status note_objects(const hac_source_options *options, hac_records *records, uint64_t sample,
                               hac_schema *schema, hac_error *err)
{
    hac_records_view view;
    hac_status status = HAC_OK;
    while (sample > 0 && (status = hac_records_next(records, &view, err)) == HAC_OK) {
        size_t n = view.n < sample ? view.n : (size_t)sample;
        for (size_t i = 0; i < n; i++) {
            uint32_t begin = view.marks[view.ends[i]];
            json j = {view.data + begin, view.data + view.marks[view.ends[i + 1]] - 1, NULL};
            skip_blanks(&j);
            column_path record = {.bytes = 0};
            if (j.at == j.end || note_object(&j, &record, schema) || options->options.skip_errors)
                continue;
            hac_fail(err, HAC_FAILED, "byte %zu of the line: %s", (size_t)(j.at - view.data) - begin + 1,
                     j.problem);
            return hac_line_error(records->window.place, view.base + begin, err);
        }
        hac_records_take(records, n);
        sample -= n;
    }
    settle_columns(schema);
    return status == HAC_NOT_FOUND ? HAC_OK : status;
}

hac_status hac_jsonl_names(const hac_source_options *options, const hac_source_place *place, uint64_t sample,
                           hac_schema *ret, hac_error *err)
{
    return hac_source_line_names(options, place, sample, note_objects, ret, err);
}

/* ---- the format ---- */

static hac_status open_jsonl(hac_source *source, hac_error *err)
{
    json_source *s = source->state;
    for (size_t i = 0; i < source->n_columns; i++)
        for (size_t k = 0; k < source->n_columns && !s->whole[i]; k++) {
            const hac_source_column *object = &source->columns[i], *member = &source->columns[k];
            s->whole[i] = object->repr == HAC_REPR_STRING && member->name_bytes > object->name_bytes &&
                          member->name[object->name_bytes] == '.' &&
                          memcmp(member->name, object->name, object->name_bytes) == 0;
        }
    return hac_source_open_lines(source, err);
}

static void close_jsonl(hac_source *source)
{
    free(((json_source *)source->state)->copies);
}

static hac_status next_jsonl(hac_source *source, hac_error *err)
{
    hac_records_view view;
    hac_status status = hac_records_next(&source->records, &view, err);
    if (status != HAC_OK)
        return status;
    size_t used = 0;
    json_source *s = source->state;
    s->copied = 0;
    clear_rows(source, 0, view.n);
    for (; used < view.n; used++) {
        uint32_t begin = view.marks[view.ends[used]];
        json j = {view.data + begin, view.data + view.marks[view.ends[used + 1]] - 1, NULL};
        skip_blanks(&j);
        if (j.at == j.end)
            continue;
        if (!read_object(source, &j, source->rows)) {
            if (hac_source_bad_record(source, view.base + begin, NULL, "byte %zu of the line: %s",
                                      (size_t)(j.at - view.data) - begin + 1, j.problem)) {
                clear_rows(source, source->rows, source->rows + 1);
                continue;
            }
            break;
        }
        source->starts[source->rows++] = view.base + begin;
    }
    for (size_t i = 0; i < source->n_columns; i++)
        source->columns[i].bytes = s->whole[i] ? s->copies : view.data;
    mark_nulls(source, view.n);
    hac_records_take(&source->records, used);
    return HAC_OK;
}

const hac_source_format hac_format_jsonl = {.state_bytes = sizeof(json_source),
                                            .open = open_jsonl,
                                            .begin = hac_source_begin_lines,
                                            .next = next_jsonl,
                                            .close = close_jsonl};
