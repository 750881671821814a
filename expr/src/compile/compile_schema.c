/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the columns of a query's source. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/cleanup.h"
#include "base/format.h"
#include "base/suggest.h"
#include "compile.h"
#include "expr/column_names.h"

/* ---- the columns of the source ---- */

/* Copies a schema, with room for more fields. */
static hac_status copy_schema(const hac_schema *from, size_t more, hac_schema *ret, hac_error *err)
{
    hac_field *fields = calloc(from->n_fields + more + 1, sizeof *fields);
    if (fields == NULL)
        return hac_fail_no_memory(err);
    memcpy(fields, from->fields, from->n_fields * sizeof *fields);
    *ret = (hac_schema){fields, from->n_fields};
    return HAC_OK;
}

static hac_status check_header(hac_compiler *c, const hac_schema *header)
{
    char there[HAC_SUGGEST_TEXT_MAX];
    for (size_t i = 0; i < c->schema.n_fields; i++) {
        const char *name = c->schema.fields[i].name;
        if (hac_schema_find(header, name, strlen(name)) < 0)
            return hac_fail(c->err, HAC_INVALID, "--schema: the input has no column '%s'; %s", name,
                            hac_suggest_text(name, header, header->n_fields, hac_field_name, there));
    }
    return HAC_OK;
}

/* Adds the columns that --schema does not list: in the source's order, with the types that they have there. A
 * schema that lists all of them keeps its own order. */
static hac_status add_unlisted(hac_compiler *c, const hac_schema *found)
{
    hac_schema listed = c->schema;
    size_t n = 0;
    for (size_t i = 0; i < found->n_fields; i++)
        n += hac_schema_find(&listed, found->fields[i].name, strlen(found->fields[i].name)) < 0;
    if (n == 0)
        return HAC_OK;
    if (n + listed.n_fields > HAC_COLUMNS_MAX)
        return hac_fail(
            c->err, HAC_INVALID,
            "--schema: there are %zu columns with those of the input; up to %d can be read: select "
            "those that are needed, and list them",
            n + listed.n_fields, HAC_COLUMNS_MAX);
    c->schema = (hac_schema){0};
    hac_status status = copy_schema(found, listed.n_fields, &c->schema, c->err);
    for (size_t i = 0; i < listed.n_fields && status == HAC_OK; i++) {
        int at = hac_schema_find(&c->schema, listed.fields[i].name, strlen(listed.fields[i].name));
        c->schema.fields[at >= 0 ? (size_t)at : c->schema.n_fields++] = listed.fields[i];
    }
    hac_schema_clear(&listed);
    return status;
}

/* Of a format that always has the same columns. */
static hac_status own_schema(hac_compiler *c, const hac_format_info *format)
{
    hac_status status = hac_schema_parse(format->columns, &c->schema, c->err);
    size_t n = c->schema.n_fields;
    if (status == HAC_OK && hac_text_given(c->text->schema))
        return hac_fail(c->err, HAC_INVALID,
                        "--schema: %s has its own column%s: %s%s%s; leave the schema out", format->name,
                        n > 1 ? "s" : "", c->schema.fields[0].name, n > 1 ? ", " : "",
                        n > 1 ? c->schema.fields[1].name : "");
    return status;
}

/* ---- columns in the names of folders ---- */

hac_status hac_compile_read_schema(hac_compiler *c)
{
    if (hac_schema_parse(c->text->schema, &c->schema, c->err) != HAC_OK)
        return hac_error_prefix(c->err, "--schema");
    size_t n = 0;
    for (size_t i = 0; i < c->schema.n_fields; i++) {
        const hac_field *field = &c->schema.fields[i];
        int at = hac_schema_find(&c->path, field->name, strlen(field->name));
        if (at >= 0)
            c->path.fields[at].type = field->type;
        else
            c->schema.fields[n++] = *field;
    }
    c->schema.n_fields = n;
    return HAC_OK;
}

hac_status hac_compile_read_path(hac_compiler *c)
{
    if (!hac_text_given(c->text->path_columns))
        return HAC_OK;
    hac_status status = hac_schema_parse(c->text->path_columns, &c->path, c->err);
    for (size_t i = 0; i < c->path.n_fields; i++)
        c->path.fields[i].in_path = true;
    if (status == HAC_OK && !hac_formats[c->text->source.format].path_columns)
        return hac_fail(c->err, HAC_INVALID, "names of folders are no columns of %s",
                        hac_formats[c->text->source.format].name);
    return status == HAC_OK ? HAC_OK : hac_error_prefix(c->err, "columns in the names of folders");
}

hac_status hac_compile_add_path(hac_compiler *c)
{
    bool placed = hac_formats[c->text->source.format].header && c->text->source.options.no_header != 0;
    for (size_t i = 0; i < c->schema.n_fields && placed; i++)
        if (hac_schema_find(&c->path, c->schema.fields[i].name, strlen(c->schema.fields[i].name)) >= 0)
            return hac_fail(c->err, HAC_INVALID,
                            "--schema: '%s' is in the names of folders; give the file's column another name",
                            c->schema.fields[i].name);
    hac_status status = hac_schema_add_path(&c->schema, &c->path, c->err);
    if (status == HAC_OK && c->path.n_fields > 0 && c->schema.n_fields > HAC_COLUMNS_MAX)
        return hac_fail(c->err, HAC_INVALID,
                        "--schema: there are %zu columns with those in the names of folders; up to %d can be "
                        "read: list those that are needed",
                        c->schema.n_fields, HAC_COLUMNS_MAX);
    return status;
}

/* ---- all of them ---- */

hac_status hac_compile_schema(hac_compiler *c, const hac_schema *header)
{
    bool schema_given = hac_text_given(c->text->schema);
    hac_input_format format = c->text->source.format;
    if (hac_formats[format].columns != NULL)
        return own_schema(c, &hac_formats[format]);
    if (!schema_given && hac_format_columns(format) != NULL)
        return hac_schema_parse(hac_format_columns(format), &c->schema, c->err);
    bool names = header != NULL && header->n_fields <= HAC_COLUMNS_MAX;
    if (schema_given) {
        hac_status status = hac_compile_read_schema(c);
        if (status != HAC_OK)
            return status;
        schema_given = c->schema.n_fields > 0;
    }
    if (!schema_given) {
        hac_schema_clear(&c->schema); /* only columns in paths were listed */
        if (names && (header->n_fields > 0 || format == HAC_INPUT_PARQUET)) /* a file may have rows only */
            return copy_schema(header, 0, &c->schema, c->err);
        if (header != NULL && !names) /* hac_compile_named_columns reports it */
            return HAC_OK;
        if (hac_formats[format].by_name && c->text->source.inferred)
            return hac_fail(c->err, HAC_FAILED,
                            "the input has no record to infer columns from; name them with --schema");
        return hac_fail(
            c->err, HAC_INVALID,
            "--schema: say what columns there are, as in 'name:string,price:f64' (csv and tsv with "
            "a header line need none)");
    }
    if (!names || header->n_fields == 0)
        return HAC_OK;
    hac_status status = hac_formats[format].by_name ? HAC_OK : check_header(c, header);
    return status == HAC_OK ? add_unlisted(c, header) : status;
}

/* Digits behind the point of the keys of an inferred decimal, so that later values may have more than the
 * first ones. */
#define KEY_SCALE 12

hac_status hac_compile_keep_fields(hac_compiler *c)
{
    hac_result_format output = c->text->output;
    bool typed = output == HAC_RESULT_TABLE || output == HAC_RESULT_PARQUET || output == HAC_RESULT_JSON ||
                 output == HAC_RESULT_TYPEDBYTES;
    if (!c->text->keeps_fields || typed || c->text->source.format != HAC_INPUT_CSV)
        return HAC_OK;
    c->values = calloc(c->schema.n_fields + 1, sizeof *c->values);
    if (c->values == NULL)
        return hac_fail_no_memory(c->err);
    for (size_t i = 0; i < c->schema.n_fields; i++) {
        hac_field *field = &c->schema.fields[i];
        c->values[i] = *field;
        if (hac_kind_is_text(field->type.kind) || field->type.kind == HAC_KIND_NONE || field->in_path)
            continue;
        c->values[i].part = HAC_LIST_VALUE;
        if (field->inferred && field->type.kind == HAC_KIND_DECIMAL)
            c->values[i].type = (hac_value_type){HAC_KIND_DECIMAL, HAC_DECIMAL_DIGITS_MAX, KEY_SCALE};
        field->type = (hac_value_type){HAC_KIND_STRING, 0, 0};
        field->inferred = false;
    }
    return HAC_OK;
}

/* ---- an input with more columns than a schema may have ---- */

/* Marks the column that has the name. Without such a column, marks all that have it in other case, so that
 * the name stays ambiguous. */
static void mark_column(const hac_node *node, const hac_schema *header, bool *ret)
{
    int exact = hac_schema_find(header, node->name, node->n_name);
    if (exact >= 0)
        ret[exact] = true;
    for (size_t i = 0; exact < 0 && i < header->n_fields; i++)
        ret[i] |= strcasecmp(header->fields[i].name, node->name) == 0;
}

static void mark_named(hac_compiler *c, hac_node *node, const hac_schema *header, bool *ret)
{
    if (node == NULL || node->pass == c->pass)
        return;
    node->pass = c->pass;
    if (node->kind == HAC_NODE_COLUMN)
        mark_column(node, header, ret);
    for (size_t i = 0; i < node->n_args; i++)
        mark_named(c, node->args[i], header, ret);
}

/* Marks the columns that the query names. Returns false if --select has `*`, which is all columns. */
static bool mark_all_named(hac_compiler *c, const hac_schema *header, bool *ret)
{
    bool star = false;
    c->pass++;
    mark_named(c, c->where, header, ret);
    mark_named(c, c->having, header, ret);
    mark_named(c, c->with_where, header, ret);
    for (size_t i = 0; i < c->n_withs; i++) {
        mark_named(c, c->withs[i].node, header, ret);
        star |= c->withs[i].node->kind == HAC_NODE_STAR;
    }
    for (size_t i = 0; i < c->n_keys; i++)
        mark_named(c, c->keys[i].node, header, ret);
    for (size_t i = 0; i < c->n_selects; i++) {
        mark_named(c, c->selects[i].node, header, ret);
        star |= c->selects[i].node->kind == HAC_NODE_STAR && c->n_withs == 0;
    }
    for (size_t i = 0; i < c->n_orders; i++)
        mark_named(c, c->orders[i].node, header, ret);
    for (size_t i = 0; i < c->n_limit_bys; i++)
        mark_named(c, c->limit_bys[i].node, header, ret);
    for (size_t i = 0; i < c->n_withs && !star; i++)
        star = hac_compile_names_columns(c, c->withs[i].node);
    for (size_t i = 0; i < c->n_selects && !star && c->n_withs == 0; i++)
        star = hac_compile_names_columns(c, c->selects[i].node);
    return !star;
}

hac_status hac_compile_named_columns(hac_compiler *c, const hac_schema *header)
{
    size_t n = 0, others = HAC_COLUMNS_MAX;
    if (c->schema.n_fields > 0 || header->n_fields == 0)
        return HAC_OK;
    hac_autofree bool *named = calloc(header->n_fields, sizeof *named);
    hac_field *fields = calloc(HAC_COLUMNS_MAX, sizeof *fields);
    if (named == NULL || fields == NULL) {
        free(fields);
        return hac_fail_no_memory(c->err);
    }
    c->schema = (hac_schema){fields, 0};
    bool few = mark_all_named(c, header, named);
    for (size_t i = 0; i < header->n_fields && few; i++) {
        few = !named[i] || others > 0;
        others -= named[i] && few;
    }
    if (!few)
        return hac_fail(c->err, HAC_INVALID,
                        "--schema: the input has %zu columns, of which at most %d can be read; name those "
                        "that are needed",
                        header->n_fields, HAC_COLUMNS_MAX);
    for (size_t i = 0; i < header->n_fields; i++) {
        if (!named[i] && others == 0)
            continue;
        others -= !named[i];
        fields[n++] = header->fields[i];
    }
    c->schema.n_fields = n;
    return HAC_OK;
}
