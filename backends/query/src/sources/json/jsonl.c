/* SPDX-License-Identifier: Apache-2.0 */
/* jsonl: one object a line. Strings are unescaped in place. Values that no column asks for are skipped. There
 * is no recursion: where columns are members of nested objects, nesting is a stack of lengths (json_path). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/json_grammar.h"
#include "base/value_text.h"
#include "json_text.h"
#include "sources/source_parts.h"

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
    bool all_names;                      /* hac_source_takes_all */
    char odd_name[HAC_UNKNOWN_NAME_MAX]; /* a problem with a name */
} json_source;

/*
 * Objects that enclose a value, of which a column asks for a member: "req.net" for the column "req.net.ip".
 * Their names, joined by dots and with a dot at the end, are the first `bytes[depth - 1]` bytes of that
 * column's name; an enclosing object's are fewer bytes of the same name. depth 0: the line's object.
 * `kept`: a column has the text of one of the objects.
 */
typedef struct json_path {
    const char *names;
    size_t depth;
    uint32_t bytes[HAC_JSON_PATH_MAX];
    bool kept;
} json_path;

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
static inline bool as_before(const hac_json_text *j, const json_key *key)
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
static bool read_name(hac_json_text *j, json_name *ret)
{
    hac_json_skip_blanks(j);
    if (j->at == j->end || *j->at != '"')
        return hac_json_problem(j, "expected a name in quotes");
    if (!hac_json_read_string(j, &ret->text, &ret->bytes))
        return false;
    ret->escaped = j->at != ret->text + ret->bytes + 1;
    if (!hac_json_take(j, ':'))
        return hac_json_problem(j, "expected ':' behind a name");
    hac_json_skip_blanks(j);
    return true;
}

/* Skips the name and the colon of a member, without a change of the line. */
static bool skip_name(hac_json_text *j)
{
    hac_json_skip_blanks(j);
    return j->at < j->end && *j->at == '"' && hac_json_skip_string(j) && hac_json_take(j, ':');
}

/* Whether the value tells no more than a missing one: null, and an object of such values. */
static bool is_nothing(const hac_json_text *j)
{
    hac_json_text ahead = *j;
    size_t depth = 0;
    do {
        hac_json_skip_blanks(&ahead);
        bool object = hac_json_take(&ahead, '{');
        depth += object;
        if (object && !hac_json_take(&ahead, '}')) {
            if (!skip_name(&ahead))
                return false;
            continue;
        }
        depth -= object;
        if (!object && (ahead.at == ahead.end || *ahead.at != 'n' || !hac_json_skip_word(&ahead)))
            return false;
        while (depth > 0 && hac_json_take(&ahead, '}'))
            depth--;
        if (depth > 0 && (!hac_json_take(&ahead, ',') || !skip_name(&ahead)))
            return false;
    } while (depth > 0);
    return true;
}

/* The type that --schema would need for the value. */
static const char *type_of_value(const hac_json_text *j)
{
    hac_json_text ahead = *j;
    int64_t whole;
    double number;
    if (j->at == j->end || strchr("\"[{", *j->at) != NULL || !hac_json_skip_scalar(&ahead))
        return "string";
    const char *text = (const char *)j->at;
    size_t bytes = (size_t)(ahead.at - j->at);
    if (*text == 't' || *text == 'f')
        return "bool";
    bool digits = memchr(text, '.', bytes) == NULL && memchr(text, 'e', bytes) == NULL &&
                  memchr(text, 'E', bytes) == NULL;
    if (digits && hac_parse_i64(text, bytes, &whole) == HAC_TEXT_OK)
        return "i64";
    return hac_parse_f64(text, bytes, &number) == HAC_TEXT_OK ? "f64" : "string";
}

/* Whether columns are members of an object of that name. */
static bool is_object_name(const hac_source *source, const char *name, size_t bytes)
{
    for (size_t i = 0; i < source->n_columns; i++) {
        const hac_source_column *c = &source->columns[i];
        if (c->name_bytes > bytes && c->name[bytes] == '.' && memcmp(c->name, name, bytes) == 0)
            return true;
    }
    return false;
}

/* Skips a value that no column takes. It is an error where the query has to take all of them. */
static bool skip_unknown(hac_source *source, hac_json_text *j, const json_path *path, const json_name *name,
                         const char *type)
{
    json_source *s = source->state;
    size_t above = path->depth > 0 ? path->bytes[path->depth - 1] : 0, n = above + name->bytes;
    char full[HAC_FIELD_NAME_MAX];
    if (!s->all_names || path->kept || is_nothing(j))
        return hac_json_skip_value(j);
    if (name->bytes == 0 || n >= sizeof full || memchr(name->text, '\0', name->bytes) != NULL)
        return hac_json_problem(j, HAC_JSON_NO_COLUMN_NAME);
    memcpy(full, path->names, above);
    memcpy(full + above, name->text, name->bytes);
    full[n] = '\0';
    if (hac_schema_find(&source->query->columns, full, n) >= 0) /* a column in paths */
        return hac_json_skip_value(j);
    if (is_object_name(source, full, n))
        snprintf(
            s->odd_name, sizeof s->odd_name,
            "'%s' is no object here, and is one in the first records; with --schema '\"%s\":string' it is "
            "a text",
            full, full);
    else
        hac_source_unknown_name(full, type, s->odd_name);
    return hac_json_problem(j, s->odd_name);
}

/* A column whose name has a dot is a field of that name or a member of an object: an inferred column is what
 * it is in the first records. */
static bool check_dotted(hac_source *source, hac_json_text *j, const hac_source_column *column, bool member)
{
    json_source *s = source->state;
    if (!column->inferred || column->member == member || is_nothing(j))
        return true;
    snprintf(s->odd_name, sizeof s->odd_name,
             "'%s' is %s here, and %s in the first records; with --schema '\"%s\":TYPE' both are one column",
             column->name, member ? "a member of an object" : "a name with a dot",
             member ? "a name with a dot" : "a member of an object", column->name);
    return hac_json_problem(j, s->odd_name);
}

/*
 * Reads from behind '{' or ',' of the line's object up to a value, and finds the column of that name; -1:
 * none asks for it. path->depth > 0: columns ask for members of the value. Names that take part in paths are
 * looked up in every line.
 */
static bool read_key(hac_source *source, hac_json_text *j, size_t n, int32_t *ret, json_path *path,
                     json_name *ret_name)
{
    json_source *s = source->state;
    const uint8_t *lead = j->at;
    json_name name;
    if (!read_name(j, &name))
        return false;
    *ret = find_column(source, name.text, name.bytes);
    bool dotted = *ret >= 0 && memchr(name.text, '.', name.bytes) != NULL;
    if (dotted && !check_dotted(source, j, &source->columns[*ret], false))
        return false;
    if (dotted)
        s->literal[*ret] = s->line;
    *ret_name = name;
    path->kept = *ret >= 0;
    bool entered = (*ret < 0 || s->whole[*ret]) && enter_name(source, path, name.text, name.bytes);
    if (n >= JSON_KEYS)
        return true;
    json_key *key = &s->keys[n];
    size_t whole = (size_t)(j->at - lead);
    key->column = *ret;
    bool looks = dotted || entered || (*ret < 0 && s->all_names);
    key->lead_bytes = name.escaped || looks || whole > sizeof key->lead ? 0 : (uint32_t)whole;
    memcpy(key->lead, lead, key->lead_bytes);
    return true;
}

static inline bool column_value(const hac_source *source, hac_json_text *j, hac_source_column *column,
                                size_t row)
{
    const uint8_t *base = source->records.window.data;
    uint8_t *text;
    size_t bytes;
    hac_json_skip_blanks(j);
    text = j->at;
    if (j->at < j->end && *j->at == '"') {
        if (!hac_json_read_string(j, &text, &bytes))
            return false;
    } else if (j->at < j->end && (*j->at == '{' || *j->at == '[')) {
        if (!hac_json_skip_value(j)) /* its text, which is a value of strings only */
            return false;
        bytes = (size_t)(j->at - text);
    } else if (!hac_json_skip_scalar(j)) {
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
static bool copy_value(hac_source *source, hac_json_text *j, hac_source_column *column, size_t row,
                       const uint8_t *text, size_t bytes)
{
    json_source *s = source->state;
    if (bytes > UINT32_MAX - s->copied)
        return hac_json_problem(j, "the objects that are read as a whole, too, have more than 4 GiB");
    if (bytes > s->capacity - s->copied) {
        size_t capacity = 2 * s->capacity + bytes + 4096;
        uint8_t *copies = realloc(s->copies, capacity);
        if (copies == NULL)
            return hac_json_problem(j, "no memory for a copy of the object");
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
static bool whole_value(hac_source *source, hac_json_text *j, hac_source_column *column, size_t row,
                        bool *ret_object)
{
    hac_json_skip_blanks(j);
    uint8_t *text = j->at;
    *ret_object = j->at < j->end && *j->at == '{';
    if (*ret_object) {
        if (!hac_json_skip_value(j) || !copy_value(source, j, column, row, text, (size_t)(j->at - text)))
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
static bool nested_member(hac_source *source, hac_json_text *j, json_path *path, size_t row,
                          bool *ret_entered)
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
    if (wanted && !check_dotted(source, j, &source->columns[i], true))
        return false;
    if (wanted && !s->whole[i])
        return column_value(source, j, &source->columns[i], row);
    if (wanted && !whole_value(source, j, &source->columns[i], row, &object))
        return false;
    if (wanted && !object)
        return true;
    path->kept |= wanted;
    *ret_entered = (i == source->n_columns || s->whole[i]) && j->at < j->end && *j->at == '{' &&
                   enter_name(source, path, name.text, name.bytes);
    if (*ret_entered)
        return true;
    return i < source->n_columns ? hac_json_skip_value(j)
                                 : skip_unknown(source, j, path, &name, type_of_value(j));
}

/* Reads what follows a value within the path's objects, up to the next member or the end of all of them. */
static bool after_nested(hac_json_text *j, json_path *path)
{
    while (path->depth > 0 && !hac_json_take(j, ',')) {
        if (!hac_json_take(j, '}'))
            return hac_json_problem(j, "expected ',' or '}'");
        path->depth--;
    }
    return true;
}

/* Reads a value of which columns ask for members: path->depth is 1. Only an object has any. */
static bool nested_object(hac_source *source, hac_json_text *j, json_path *path, const json_name *name,
                          size_t row)
{
    const json_path record = {.names = "", .kept = path->kept};
    bool entered = true;
    if (j->at == j->end || *j->at != '{')
        return skip_unknown(source, j, &record, name, "string");
    do {
        if (entered)
            j->at++;
        if (entered && hac_json_take(j, '}')) { /* an empty object */
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

static inline bool member(hac_source *source, hac_json_text *j, size_t n, size_t row)
{
    const json_key *key = &((const json_source *)source->state)->keys[n < JSON_KEYS ? n : 0];
    json_path path;
    json_name name = {.text = NULL};
    int32_t column;
    path.names = "";
    path.depth = 0;
    path.kept = true;
    if (n < JSON_KEYS && as_before(j, key)) {
        j->at += key->lead_bytes;
        column = key->column;
    } else if (!read_key(source, j, n, &column, &path, &name)) {
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
    if (path.depth > 0)
        return nested_object(source, j, &path, &name, row);
    return column < 0 && name.text != NULL ? skip_unknown(source, j, &path, &name, type_of_value(j))
                                           : hac_json_skip_value(j);
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
static bool read_object(hac_source *source, hac_json_text *j, size_t row)
{
    if (!hac_json_take(j, '{'))
        return hac_json_problem(j, "expected an object");
    ((json_source *)source->state)->line++;
    if (!hac_json_take(j, '}')) {
        size_t n = 0;
        do {
            if (!member(source, j, n++, row))
                return false;
        } while (hac_json_take(j, ','));
        if (!hac_json_take(j, '}'))
            return hac_json_problem(j, "expected ',' or '}'");
    }
    hac_json_skip_blanks(j);
    return j->at == j->end || hac_json_problem(j, "something follows the object");
}

/* ---- the format ---- */

static hac_status open_jsonl(hac_source *source, hac_error *err)
{
    json_source *s = source->state;
    s->all_names = hac_source_takes_all(source);
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
        hac_json_text j = {view.data + begin, view.data + view.marks[view.ends[used + 1]] - 1, NULL};
        hac_json_skip_blanks(&j);
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
