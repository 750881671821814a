/* SPDX-License-Identifier: Apache-2.0 */
/* The names of the members of the first records of jsonl, which become columns. */
#include <string.h>

#include "base/json_grammar.h"
#include "json_text.h"
#include "sources/source_parts.h"

#define PATHS_DEEP 8 /* members of objects that lie deeper are no columns of their own */

/* The name of the object that is read, with a point behind it: empty for the record itself. */
typedef struct column_path {
    char name[HAC_FIELD_NAME_MAX];
    size_t bytes;
    unsigned depth;
} column_path;

/* Appends a name to the path. */
static bool join_path(hac_json_text *j, const column_path *path, const uint8_t *name, size_t bytes,
                      column_path *ret)
{
    if (bytes == 0 || path->bytes + bytes >= HAC_FIELD_NAME_MAX || memchr(name, 0, bytes) != NULL)
        return hac_json_problem(j, HAC_JSON_NO_COLUMN_NAME);
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
static bool note_column(hac_json_text *j, size_t n, const column_path *path, hac_kind kind, bool null,
                        hac_schema *schema)
{
    const hac_field *same = n < schema->n_fields ? &schema->fields[n] : NULL;
    int at = same != NULL && strcmp(same->name, path->name) == 0
                 ? (int)n
                 : hac_schema_find(schema, path->name, path->bytes);
    if (at < 0 && schema->n_fields == HAC_COLUMNS_MAX)
        return hac_json_problem(j, "more than 256 names: choose columns with --schema");
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
    if (nulls) /* of a name with a dot that is also a path the first value decides; reading refuses others */
        type->precision =
            (uint8_t)((type->precision & ~(ONLY_NULLS | MEMBER)) | (path->depth > 1 ? MEMBER : 0));
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

static bool note_object(hac_json_text *j, column_path *path, hac_schema *schema);

static bool note_member(hac_json_text *j, size_t n, const column_path *path, hac_schema *schema)
{
    column_path member;
    uint8_t *name;
    size_t bytes;
    hac_json_skip_blanks(j);
    if (j->at == j->end || *j->at != '"')
        return hac_json_problem(j, "expected a name in quotes");
    if (!hac_json_read_string(j, &name, &bytes) || !join_path(j, path, name, bytes, &member))
        return false;
    if (!hac_json_take(j, ':'))
        return hac_json_problem(j, "expected ':' behind a name");
    hac_json_skip_blanks(j);
    bool object = j->at < j->end && *j->at == '{';
    hac_json_text ahead = *j;
    if (object && hac_json_take(&ahead, '{') &&
        hac_json_take(&ahead, '}')) /* says as much about its members as null */
        return note_column(j, n, &member, HAC_KIND_STRING, true, schema) && hac_json_skip_value(j);
    if (object && member.depth < PATHS_DEEP && member.bytes + 2 < HAC_FIELD_NAME_MAX) {
        member.name[member.bytes++] = '.';
        member.name[member.bytes] = '\0';
        return note_object(j, &member, schema);
    }
    bool nested = object || (j->at < j->end && *j->at == '['), null = j->at < j->end && *j->at == 'n';
    return note_column(j, n, &member, nested ? HAC_KIND_NONE : HAC_KIND_STRING, null, schema) &&
           hac_json_skip_value(j);
}

/* Adds the columns of a record, or of an object in it. */
static bool note_object(hac_json_text *j, column_path *path, hac_schema *schema)
{
    if (!hac_json_take(j, '{'))
        return hac_json_problem(j, "expected an object");
    if (hac_json_take(j, '}'))
        return true;
    size_t n = 0;
    do {
        if (!note_member(j, n++, path, schema))
            return false;
    } while (hac_json_take(j, ','));
    return hac_json_take(j, '}') || hac_json_problem(j, "expected ',' or '}'");
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
            hac_json_text j = {view.data + begin, view.data + view.marks[view.ends[i + 1]] - 1, NULL};
            hac_json_skip_blanks(&j);
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
