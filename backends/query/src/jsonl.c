/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jsonl: one object a line. Strings are unescaped in place; what no column asks for is skipped without being
 * kept, nested or not. No recursion: nesting is a stack of bits.
 */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/short_number.h"
#include "base/value_text.h"
#include "source_parts.h"

#define DEPTH_MAX 512

typedef struct json {
    uint8_t *at, *end;
    const char *problem; /* why it is none; set once */
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
    if (j->at < j->end && *j->at == byte) { /* mostly there are no blanks */
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

/* The next quote or backslash. Reads up to 8 bytes beyond the end: the window has them. */
static inline uint8_t *find_special(uint8_t *at, const uint8_t *end)
{
    const uint64_t ones = UINT64_C(0x0101010101010101), tops = ones << 7;
    for (; at < end; at += 8) {
        uint64_t word = hac_eight_characters(at), quote = word ^ ones * ('"' ^ '0'),
                 slash = word ^ ones * ('\\' ^ '0');
        uint64_t found = (((quote - ones) & ~quote) | ((slash - ones) & ~slash)) & tops;
        if (found != 0) { /* the lowest bit is right, others may not be */
            at += __builtin_ctzll(found) / 8;
            return at < end ? at : NULL;
        }
    }
    return NULL;
}

/* The four digits of a \u; -1: they are none. */
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

/* Behind "\u": one unit, or two that are a surrogate pair. */
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

/* Behind `plain` bytes of a string comes a backslash. */
static bool unescape_string(json *j, uint8_t *start, size_t plain, size_t *ret_bytes)
{
    uint8_t *to = start + plain, *special = to;
    do {
        j->at = special;
        if (!escape(j, &to))
            return false;
        special = find_special(j->at, j->end);
        if (special == NULL)
            return problem(j, "a string has no closing quote");
        plain = (size_t)(special - j->at);
        memmove(to, j->at, plain);
        to += plain;
    } while (*special == '\\');
    j->at = special + 1;
    *ret_bytes = (size_t)(to - start);
    return true;
}

/* A string, at its opening quote: its text, unescaped where it stands. */
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
        if (special == NULL || (*special == '\\' && j->end - special < 2))
            return problem(j, "a string has no closing quote");
        j->at = special + 1;
        if (*special == '"')
            return true;
        j->at++;
    }
}

/* ---- other values ---- */

static bool is_digit(const json *j)
{
    return j->at < j->end && *j->at >= '0' && *j->at <= '9';
}

/* At least one digit. Reads up to 8 bytes beyond the end: the window has them. */
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

/* true, false, null, and what Python writes for floats that are not finite; their text is their value. */
static bool skip_word(json *j)
{
    static const char *const words[] = {"true", "false", "null", "NaN", "Infinity", "-Infinity"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t n = strlen(words[i]);
        if ((size_t)(j->end - j->at) >= n && memcmp(j->at, words[i], n) == 0) {
            j->at += n;
            return true;
        }
    }
    return problem(j, "expected a value");
}

/* A value that is neither object nor array. */
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

/* The brackets that are open: a bit each, 1 for an object. */
typedef struct nesting {
    uint64_t bits[DEPTH_MAX / 64];
    size_t depth;
} nesting;

static bool in_object(const nesting *n)
{
    return n->bits[(n->depth - 1) / 64] >> (n->depth - 1) % 64 & 1;
}

static bool push(json *j, nesting *n, bool object)
{
    if (n->depth == DEPTH_MAX)
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

/* Opens brackets until a value that has none, or an empty pair; *ret_closed: the latter. */
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
        for (;;) { /* behind a value */
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

/* The n-th member's name and what is around it are what they were in the line before. */
static inline bool as_before(const json *j, const hac_json_key *key)
{
    uint64_t word, last;
    size_t n = key->lead_bytes;
    if (n == 0 || (size_t)(j->end - j->at) < n)
        return false;
    if (n < 8) { /* both can be read further */
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

/* From behind '{' or ',' up to a value: which column it is of, -1: of none. */
static bool read_key(hac_source *source, json *j, size_t n, int32_t *ret)
{
    const uint8_t *lead = j->at;
    uint8_t *name;
    size_t bytes;
    skip_blanks(j);
    if (j->at == j->end || *j->at != '"')
        return problem(j, "expected a name in quotes");
    if (!read_string(j, &name, &bytes))
        return false;
    bool escaped = j->at != name + bytes + 1;
    if (!take(j, ':'))
        return problem(j, "expected ':' behind a name");
    skip_blanks(j);
    *ret = find_column(source, name, bytes);
    if (n >= HAC_JSON_KEYS)
        return true;
    hac_json_key *key = &source->keys[n];
    size_t whole = (size_t)(j->at - lead);
    key->column = *ret;
    key->lead_bytes = escaped || whole > sizeof key->lead ? 0 : (uint32_t)whole;
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
        return problem(j, "an object or array where a value is wanted");
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

static inline bool member(hac_source *source, json *j, size_t n, size_t row)
{
    const hac_json_key *key = &source->keys[n < HAC_JSON_KEYS ? n : 0];
    int32_t column;
    if (n < HAC_JSON_KEYS && as_before(j, key)) {
        j->at += key->lead_bytes;
        column = key->column;
    } else if (!read_key(source, j, n, &column)) {
        return false;
    }
    return column < 0 ? skip_value(j) : column_value(source, j, &source->columns[column], row);
}

/* All columns of rows [row, end) are null until a member gives them a value. */
static void clear_rows(hac_source *source, size_t row, size_t end)
{
    for (size_t i = 0; i < source->n_columns; i++) {
        memset(&source->columns[i].refs[row], 0, (end - row) * sizeof(hac_string_ref));
        memset(&source->columns[i].states[row], HAC_ROW_NULL, end - row);
    }
}

/* The rows are all there: says which columns have nulls. */
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

/* The line's object into row `row`. A name that comes twice: the last counts. */
static bool read_object(hac_source *source, json *j, size_t row)
{
    if (!take(j, '{'))
        return problem(j, "expected an object");
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

/* The n-th name of an object, added to the schema unless it is there. */
static bool note_name(json *j, size_t n, const uint8_t *name, size_t bytes, hac_schema *schema)
{
    const hac_field *same = n < schema->n_fields ? &schema->fields[n] : NULL;
    if (bytes == 0 || bytes >= HAC_FIELD_NAME_MAX || memchr(name, 0, bytes) != NULL)
        return problem(j, "a name that cannot be a column's: those have 1 to 127 bytes");
    if ((same != NULL && strlen(same->name) == bytes && memcmp(same->name, name, bytes) == 0) ||
        hac_schema_find(schema, (const char *)name, bytes) >= 0)
        return true;
    if (schema->n_fields == HAC_FIELDS_MAX)
        return problem(j, "more than 256 names: choose columns with --schema");
    hac_field *field = &schema->fields[schema->n_fields++];
    memcpy(field->name, name, bytes);
    field->name[bytes] = 0;
    field->type = (hac_value_type){.kind = HAC_KIND_STRING};
    return true;
}

static bool note_member(json *j, size_t n, hac_schema *schema)
{
    uint8_t *name;
    size_t bytes;
    skip_blanks(j);
    if (j->at == j->end || *j->at != '"')
        return problem(j, "expected a name in quotes");
    if (!read_string(j, &name, &bytes) || !note_name(j, n, name, bytes, schema))
        return false;
    if (!take(j, ':'))
        return problem(j, "expected ':' behind a name");
    skip_blanks(j);
    if (j->at < j->end && (*j->at == '{' || *j->at == '['))
        return problem(j, "an object or array; name the columns that are values with --schema");
    return skip_scalar(j);
}

static bool note_object(json *j, hac_schema *schema)
{
    if (!take(j, '{'))
        return problem(j, "expected an object");
    if (take(j, '}'))
        return true;
    size_t n = 0;
    do {
        if (!note_member(j, n++, schema))
            return false;
    } while (take(j, ','));
    return take(j, '}') || problem(j, "expected ',' or '}'");
}

static hac_status note_objects(const hac_source_options *options, hac_records *records, uint64_t sample,
                               hac_schema *schema, hac_error *err)
{
    hac_record_view view;
    hac_status status = HAC_OK;
    while (sample > 0 && (status = hac_records_next(records, &view, err)) == HAC_OK) {
        size_t n = view.n < sample ? view.n : (size_t)sample;
        for (size_t i = 0; i < n; i++) {
            uint32_t begin = view.marks[view.ends[i]];
            json j = {view.data + begin, view.data + view.marks[view.ends[i + 1]] - 1, NULL};
            skip_blanks(&j);
            if (j.at == j.end || note_object(&j, schema) || options->skip_errors)
                continue;
            hac_fail(err, HAC_FAILED, "byte %zu of the line: %s", (size_t)(j.at - view.data) - begin + 1,
                     j.problem);
            return hac_line_error(records->window.place, view.base + begin, err);
        }
        hac_records_take(records, n);
        sample -= n;
    }
    return status == HAC_NOT_FOUND ? HAC_OK : status;
}

static void clear_records(hac_records *records)
{
    hac_records_clear(records);
}

hac_status hac_jsonl_names(const hac_source_options *options, const hac_source_place *place, uint64_t sample,
                           hac_schema *ret, hac_error *err)
{
    hac_cleanup(clear_records) hac_records records = {0};
    hac_schema schema = {.fields = calloc(HAC_FIELDS_MAX, sizeof *schema.fields)};
    uint64_t start;
    if (schema.fields == NULL)
        return hac_fail_no_memory(err);
    hac_status status = hac_records_init(&records, place, (hac_scan){.what = HAC_SCAN_LINES}, err);
    if (status == HAC_OK)
        status = hac_source_read_header(&records, NULL, &start, err);
    if (status == HAC_OK)
        status = hac_records_begin(&records, start, place->bytes, false, true, err);
    if (status == HAC_OK)
        status = note_objects(options, &records, sample, &schema, err);
    if (status == HAC_OK && schema.n_fields == 0)
        status = hac_fail(err, HAC_FAILED,
                          "the input has no object to infer columns from; name them with --schema");
    if (status != HAC_OK) {
        hac_schema_clear(&schema);
        return status;
    }
    *ret = schema;
    return HAC_OK;
}

/* ---- the format ---- */

static hac_status open_jsonl(hac_source *source, hac_error *err)
{
    source->keys = calloc(HAC_JSON_KEYS, sizeof *source->keys);
    if (source->keys == NULL)
        return hac_fail_no_memory(err);
    hac_status status =
        hac_records_init(&source->records, &source->place, (hac_scan){.what = HAC_SCAN_LINES}, err);
    if (status == HAC_OK)
        status = hac_source_read_header(&source->records, NULL, &source->data_start, err);
    return status;
}

static hac_status begin_jsonl(hac_source *source, uint64_t first, uint64_t end, bool inside_quotes,
                              hac_error *err)
{
    (void)inside_quotes;
    bool whole = source->place.split || first <= source->data_start;
    return hac_records_begin(&source->records, first < source->data_start ? source->data_start : first, end,
                             false, whole, err);
}

static hac_status next_jsonl(hac_source *source, hac_error *err)
{
    hac_record_view view;
    hac_status status = hac_records_next(&source->records, &view, err);
    if (status != HAC_OK)
        return status;
    size_t used = 0;
    for (size_t i = 0; i < source->n_columns; i++)
        source->columns[i].bytes = view.data;
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
    mark_nulls(source, view.n);
    hac_records_take(&source->records, used);
    return HAC_OK;
}

const hac_source_format hac_format_jsonl = {true, open_jsonl, begin_jsonl, next_jsonl, NULL};
