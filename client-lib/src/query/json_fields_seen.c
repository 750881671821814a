/* SPDX-License-Identifier: Apache-2.0 */
#include "json_fields_seen.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/json_grammar.h"
#include "base/suggest.h"

enum { NAMES_MAX = 256, SHOWN_MAX = 4 };

typedef struct seen_name {
    char text[HAC_FIELD_NAME_MAX];
} seen_name;

typedef struct json_look {
    const uint8_t *at, *end; /* of the line */
    const hac_schema *columns;
    bool has[HAC_COLUMNS_MAX], not_null[HAC_COLUMNS_MAX];
    size_t records;
    /* The name of the member that is being read, with those of the objects around it and dots in between; its
     * first above[depth - 1] bytes are those of the objects and their dots. */
    char path[HAC_FIELD_NAME_MAX];
    size_t path_bytes, above[HAC_JSON_PATH_MAX], depth;
    seen_name names[NAMES_MAX]; /* different names of values */
    size_t n_names;
} json_look;

/* ---- a line ---- */

static void skip_blanks(json_look *l)
{
    while (l->at < l->end && (*l->at == ' ' || *l->at == '\t' || *l->at == '\r'))
        l->at++;
}

static bool take(json_look *l, uint8_t byte)
{
    skip_blanks(l);
    if (l->at == l->end || *l->at != byte)
        return false;
    l->at++;
    return true;
}

/* Skips a string from its opening quote on. */
static bool skip_string(json_look *l)
{
    for (l->at++; l->at < l->end && *l->at != '"'; l->at++)
        if (*l->at == '\\' && ++l->at == l->end)
            return false;
    return l->at < l->end && *l->at++ == '"';
}

/* Skips a value; of an array or object, all that its brackets enclose. */
static bool skip_value(json_look *l)
{
    const uint8_t *start = l->at;
    for (size_t open = 0; l->at < l->end;) {
        uint8_t byte = *l->at;
        bool closes = byte == ']' || byte == '}';
        if (open == 0 && (byte == ',' || closes))
            break;
        open += byte == '[' || byte == '{';
        open -= closes;
        if (byte != '"')
            l->at++;
        else if (!skip_string(l))
            return false;
    }
    return l->at > start;
}

/* Reads a name and its colon into the path. False: the line cannot be read, or the name has escapes or is too
 * long for a column. */
static bool read_name(json_look *l)
{
    size_t above = l->above[l->depth - 1];
    skip_blanks(l);
    const uint8_t *name = l->at + 1;
    if (l->at == l->end || *l->at != '"' || !skip_string(l))
        return false;
    size_t bytes = (size_t)(l->at - name) - 1;
    if (memchr(name, '\\', bytes) != NULL || memchr(name, 0, bytes) != NULL ||
        above + bytes + 1 >= sizeof(l->path))
        return false;
    memcpy(l->path + above, name, bytes);
    l->path_bytes = above + bytes;
    l->path[l->path_bytes] = '\0';
    return take(l, ':');
}

/* Whether a column has the name of the member that is being read. */
static bool note_column(json_look *l, bool null)
{
    int column = hac_schema_find(l->columns, l->path, l->path_bytes);
    if (column < 0)
        return false;
    l->has[column] = true;
    l->not_null[column] |= !null;
    return true;
}

static void note_value(json_look *l, bool null)
{
    if (note_column(l, null))
        return;
    for (size_t i = 0; i < l->n_names; i++)
        if (strcmp(l->names[i].text, l->path) == 0)
            return;
    if (l->n_names < NAMES_MAX)
        memcpy(l->names[l->n_names++].text, l->path, l->path_bytes + 1);
}

/* Reads a member up to behind its value, or up to the first member of an object, which *ret_entered says. */
static bool read_member(json_look *l, bool *ret_entered)
{
    *ret_entered = false;
    if (!read_name(l))
        return false;
    skip_blanks(l);
    bool object = l->at < l->end && *l->at == '{';
    if (!object || l->depth == HAC_JSON_PATH_MAX) {
        note_value(l, l->at < l->end && *l->at == 'n');
        return skip_value(l);
    }
    (void)note_column(l, false); /* a column of text may be the whole object */
    l->at++;
    l->path[l->path_bytes] = '.';
    l->above[l->depth++] = l->path_bytes + 1;
    *ret_entered = true;
    return true;
}

/* Reads an object and those in it. */
static bool look_at_line(json_look *l)
{
    bool entered = true; /* nothing of the innermost object has been read */
    l->depth = 1;
    l->above[0] = 0;
    if (!take(l, '{'))
        return false;
    while (l->depth > 0) {
        if (take(l, '}')) {
            l->depth--;
            entered = false;
        } else if ((!entered && !take(l, ',')) || !read_member(l, &entered)) {
            return false;
        }
    }
    l->records++;
    skip_blanks(l);
    return l->at == l->end;
}

/* ---- the lines ---- */

/* False: a line is not plain JSON. */
static bool look_at_lines(json_look *l, const hac_json_begin *begin)
{
    static const uint8_t mark[] = {0xef, 0xbb, 0xbf};
    const uint8_t *at = begin->data, *end = begin->data + begin->bytes;
    if (begin->bytes >= sizeof(mark) && memcmp(at, mark, sizeof(mark)) == 0)
        at += sizeof(mark);
    while (at < end) {
        const uint8_t *line_end = memchr(at, '\n', (size_t)(end - at));
        if (line_end == NULL && !begin->whole)
            return true;
        l->at = at;
        l->end = line_end != NULL ? line_end : end;
        at = line_end != NULL ? line_end + 1 : end;
        skip_blanks(l);
        if (l->at < l->end && !look_at_line(l))
            return false;
    }
    return true;
}

/* ---- what to say ---- */

static const char *name_at(const void *list, size_t i)
{
    return ((const seen_name *)list)[i].text;
}

static const char *name_meant(const json_look *l, const char *name)
{
    size_t bytes = strlen(name);
    for (size_t i = 0; i < l->n_names; i++) {
        size_t whole = strlen(l->names[i].text);
        if (whole > bytes && l->names[i].text[whole - bytes - 1] == '.' &&
            strcmp(l->names[i].text + whole - bytes, name) == 0)
            return l->names[i].text;
    }
    return hac_suggest(name, l->names, l->n_names, name_at);
}

static void add_note(const json_look *l, const hac_json_begin *begin, size_t column, char *ret,
                     size_t capacity)
{
    size_t used = strlen(ret);
    const char *name = l->columns->fields[column].name, *meant = NULL;
    if (used + 3 * (size_t)HAC_FIELD_NAME_MAX > capacity)
        return;
    const char *between = used > 0 ? "; " : "";
    if (l->has[column]) {
        snprintf(ret + used, capacity - used, "%sfield '%s' is null in every record", between, name);
        return;
    }
    if (begin->whole)
        used += (size_t)snprintf(ret + used, capacity - used, "%sno record has", between);
    else
        used += (size_t)snprintf(ret + used, capacity - used, "%snone of the first %zu records has", between,
                                 l->records);
    used += (size_t)snprintf(ret + used, capacity - used, " a field '%s'", name);
    if ((meant = name_meant(l, name)) != NULL)
        snprintf(ret + used, capacity - used, "; did you mean '%s'?", meant);
}

void hac_json_fields_note(const hac_json_begin *begin, const hac_schema *columns, char *ret, size_t capacity)
{
    hac_autofree json_look *l = begin->bytes > 0 ? calloc(1, sizeof(*l)) : NULL;
    if (l == NULL) /* without memory there is no note */
        return;
    l->columns = columns;
    if (!look_at_lines(l, begin) || l->records == 0)
        return;
    bool enough = l->records >= HAC_JSON_RECORDS_ENOUGH;
    for (size_t i = 0, shown = 0; i < columns->n_fields && shown < SHOWN_MAX; i++)
        if (l->has[i] ? begin->whole && enough && !l->not_null[i] : begin->whole || enough) {
            add_note(l, begin, i, ret, capacity);
            shown++;
        }
}
