/* SPDX-License-Identifier: Apache-2.0 */
#include "parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/value_text.h"
#include "syntax/types.h"

#define fail(checker, node, ...)                                                                             \
    ((checker)->parser->status =                                                                             \
         hac_expr_fail((node)->source, (node)->at, (checker)->parser->err, __VA_ARGS__),                     \
     (void *)NULL)

/* Elements that follow each other: no part that a source reads. */
enum { SLICE = HAC_LIST_PART_END };

/* The names that other systems have for a part are names of ours. */
static const struct {
    const char *name;
    uint8_t part; /* hac_list_part or SLICE */
    bool only;    /* no other function has the name */
} names[] = {
    {"[]", HAC_LIST_ELEMENT, true},
    {"[:]", SLICE, true},
    {"array_contains", HAC_LIST_CONTAINS, true},
    {"array_extract", HAC_LIST_ELEMENT, true},
    {"array_has", HAC_LIST_CONTAINS, true},
    {"array_length", HAC_LIST_LENGTH, true},
    {"array_slice", SLICE, true},
    {"cardinality", HAC_LIST_LENGTH, true},
    {"contains", HAC_LIST_CONTAINS, false},
    {"element_at", HAC_LIST_ELEMENT, true},
    {"len", HAC_LIST_LENGTH, false},
    {"length", HAC_LIST_LENGTH, false},
    {"list_contains", HAC_LIST_CONTAINS, true},
    {"list_element", HAC_LIST_ELEMENT, true},
    {"list_extract", HAC_LIST_ELEMENT, true},
    {"list_has", HAC_LIST_CONTAINS, true},
    {"list_slice", SLICE, true},
    {"map_contains", HAC_LIST_CONTAINS, true},
    {"unnest", HAC_LIST_UNNEST, true},
};
enum { N_NAMES = sizeof names / sizeof *names };

static int find_name(const char *name)
{
    for (int i = 0; i < N_NAMES; i++)
        if (strcmp(names[i].name, name) == 0)
            return i;
    return -1;
}

bool hac_part_is_named(const char *name)
{
    return find_name(name) >= 0;
}

/* ---- the argument ---- */

static bool copy_text(const hac_node *node, char ret[HAC_LIST_ARGUMENT_MAX])
{
    const hac_literal *literal = &node->literal;
    if (literal->n_bytes >= HAC_LIST_ARGUMENT_MAX || memchr(literal->bytes, '\0', literal->n_bytes) != NULL)
        return false;
    if (literal->n_bytes > 0)
        memcpy(ret, literal->bytes, literal->n_bytes);
    return true;
}

static bool print_number(const hac_node *node, char *ret)
{
    if (!hac_is_number(node->type))
        return false;
    if (hac_kind_is_float(node->type.kind))
        (void)hac_print_f64(node->literal.real, ret);
    else
        (void)hac_print_decimal(node->literal.integer, node->type.scale, ret);
    return true;
}

/* A literal, or text that is a date or a timestamp. */
static bool print_time(const hac_node *node, hac_value_type type, char ret[HAC_LIST_ARGUMENT_MAX])
{
    int32_t days;
    int64_t microseconds;
    const hac_literal *literal = &node->literal;
    bool date = type.kind == HAC_KIND_DATE;
    if (node->type.kind == type.kind)
        return (date ? hac_print_date((int32_t)literal->integer, ret)
                     : hac_print_timestamp((int64_t)literal->integer, ret)) > 0;
    if (!hac_node_is_text(node))
        return false;
    return (date ? hac_parse_date(literal->bytes, literal->n_bytes, &days)
                 : hac_parse_timestamp(literal->bytes, literal->n_bytes, &microseconds)) == HAC_TEXT_OK &&
           copy_text(node, ret);
}

/* The constant as text of that type, in `ret`, which is zero. False: it is of another type, or too long. */
static bool print_argument(const hac_node *node, hac_value_type type, char ret[HAC_LIST_ARGUMENT_MAX])
{
    switch (hac_kinds[type.kind].class) {
    case HAC_CLASS_BOOL:
        strcpy(ret, node->literal.integer != 0 ? "true" : "false");
        return node->type.kind == HAC_KIND_BOOL;
    case HAC_CLASS_TEXT:
        return hac_kind_is_text(node->type.kind) && copy_text(node, ret);
    case HAC_CLASS_TIME:
        return print_time(node, type, ret);
    default:
        return print_number(node, ret);
    }
}

static bool take_number(hac_checker *c, const hac_node *node, char ret[HAC_LIST_ARGUMENT_MAX])
{
    __int128 number = node->literal.integer;
    if (!hac_kind_is_integer(node->type.kind) || number < -HAC_LIST_LAST_MAX || number > INT64_MAX)
        return fail(c, node, "an element's number is an integer: 1 is the first, -1 the last, down to %d",
                    -HAC_LIST_LAST_MAX) != NULL;
    (void)hac_print_i64((int64_t)number, ret);
    return true;
}

static bool take_argument(hac_checker *c, const hac_node *call, hac_nested nested, hac_field *part)
{
    const hac_node *node = call->args[1];
    char of[HAC_NESTED_NAME_MAX], type[HAC_VALUE_TYPE_NAME_MAX];
    bool map = nested.kind == HAC_NESTED_MAP;
    if (!hac_node_is_literal(node) || node->literal.null)
        return fail(c, node, "expected a constant: parts of lists are read from the file, row by row") !=
               NULL;
    if (part->part == HAC_LIST_ELEMENT && !map)
        return take_number(c, node, part->argument);
    if (print_argument(node, map ? nested.key : nested.element, part->argument))
        return true;
    return fail(c, node, "'%s' is %s: expected a constant of type %s, up to %d bytes long", part->name,
                hac_nested_name(nested, of), hac_value_type_name(map ? nested.key : nested.element, type),
                HAC_LIST_ARGUMENT_MAX - 1) != NULL;
}

/* ---- the part ---- */

/* The index of the part among those that the query reads; -1: failed. */
static int add_part(hac_checker *c, const hac_node *call, const hac_field *part)
{
    hac_schema *parts = c->parts;
    for (size_t i = 0; i < parts->n_fields; i++) {
        const hac_field *other = &parts->fields[i];
        bool column = strcmp(other->name, part->name) == 0;
        if (column && other->part == part->part && strcmp(other->argument, part->argument) == 0)
            return (int)i;
        if (!column && other->part == HAC_LIST_UNNEST && part->part == HAC_LIST_UNNEST) {
            (void)fail(c, call, "a query unnests one column, and '%s' is unnested already", other->name);
            return -1;
        }
    }
    hac_field *fields = parts->n_fields < HAC_COLUMNS_MAX
                            ? realloc(parts->fields, (parts->n_fields + 1) * sizeof *fields)
                            : NULL;
    if (fields == NULL) {
        c->parser->status = parts->n_fields < HAC_COLUMNS_MAX ? hac_fail_no_memory(c->parser->err) : HAC_OK;
        if (c->parser->status == HAC_OK)
            (void)fail(c, call, "the query reads more than %d parts of lists", HAC_COLUMNS_MAX);
        return -1;
    }
    parts->fields = fields;
    parts->fields[parts->n_fields] = *part;
    return (int)parts->n_fields++;
}

/* How messages name the part: `x[1]`, `contains(x, 'a')`. NULL: no memory. */
static const char *part_name(hac_checker *c, const hac_node *call, const hac_field *part)
{
    bool subscript = call->name[0] == '[', two = call->n_args == 2;
    const char *quote = two && hac_node_is_text(call->args[1]) ? "'" : "", *comma = two ? ", " : "";
    size_t bytes = strlen(call->name) + strlen(part->name) + strlen(part->argument) + sizeof "(, '')";
    char *ret = hac_arena_alloc(c->parser->arena, bytes);
    if (ret == NULL)
        c->parser->status = hac_fail_no_memory(c->parser->err);
    else
        (void)snprintf(ret, bytes, "%s%s%s%s%s%s%s%s", subscript ? "" : call->name, subscript ? "" : "(",
                       part->name, subscript ? "[" : comma, quote, part->argument, quote,
                       subscript ? "]" : ")");
    return ret;
}

hac_node *hac_part_column(hac_checker *c, const hac_node *at, const hac_field *part, const char *name)
{
    int index = name == NULL ? -1 : add_part(c, at, part);
    hac_node *node = index < 0 ? NULL : hac_node_new(c->parser, HAC_NODE_COLUMN, at->source, at->at);
    if (node == NULL)
        return NULL;
    node->name = name; /* n_name stays 0: no text refers to a column by it */
    node->type = part->type;
    node->column = (int)c->schema->n_fields + index;
    return node;
}

static hac_value_type type_of(hac_list_part part, hac_nested nested)
{
    if (part == HAC_LIST_LENGTH)
        return (hac_value_type){.kind = HAC_KIND_I64};
    return part == HAC_LIST_CONTAINS ? (hac_value_type){.kind = HAC_KIND_BOOL} : nested.element;
}

/* ---- lists that are text ---- */

/* Whether the value is text that is an array of JSON: its characters are not what a part of a list means. */
static bool is_array_text(const hac_node *value, const hac_field *field)
{
    return (field != NULL && (field->arrays || field->nested.kind == HAC_NESTED_LIST)) ||
           (value != NULL && value->kind == HAC_NODE_CALL &&
            (strcmp(value->name, "list") == 0 || strcmp(value->name, "json_slice") == 0 ||
             strcmp(value->name, "json_keys") == 0));
}

static hac_node *cast_to(hac_checker *c, hac_node *value, hac_value_type type)
{
    hac_node *cast = value != NULL ? hac_call(c->parser, "cast", value->at, value) : NULL;
    if (cast != NULL) {
        cast->kind = HAC_NODE_CAST;
        cast->type = type;
    }
    return cast;
}

static hac_node *whole_path(hac_checker *c, const hac_node *call)
{
    hac_node *node = hac_node_new(c->parser, HAC_NODE_LITERAL, call->source, call->at);
    if (node != NULL) {
        node->type.kind = HAC_KIND_STRING;
        node->literal.bytes = "$";
        node->literal.n_bytes = 1;
    }
    return node;
}

/* The function of JSON that gives the part of text. */
static hac_node *part_of_text(hac_checker *c, const hac_node *call, unsigned part, hac_value_type element)
{
    hac_parser *p = c->parser;
    hac_node *text = call->args[0], *value = call->n_args > 1 ? call->args[1] : NULL;
    bool typed = element.kind != HAC_KIND_NONE && element.kind != HAC_KIND_STRING;
    switch (part) {
    case HAC_LIST_LENGTH:
        return hac_call(p, "json_array_length", call->at, text, whole_path(c, call));
    case HAC_LIST_CONTAINS:
        return hac_call(p, "json_has", call->at, text,
                        value->type.kind == HAC_KIND_STRING
                            ? value
                            : cast_to(c, value, (hac_value_type){.kind = HAC_KIND_STRING}));
    case HAC_LIST_ELEMENT: {
        hac_node *found = hac_call(p, "json_element", call->at, text, value);
        return typed ? cast_to(c, found, element) : found;
    }
    default:
        return hac_call(p, "json_slice", call->at, text, value, call->args[2]);
    }
}

static hac_node *of_text(hac_checker *c, const hac_node *call, unsigned part, const hac_field *field)
{
    const hac_node *text = call->args[0];
    bool nested = field != NULL && field->nested.kind != HAC_NESTED_NONE;
    hac_value_type element = nested ? field->nested.element : (hac_value_type){.kind = HAC_KIND_STRING};
    if (text->type.kind != HAC_KIND_STRING || (nested && field->nested.kind == HAC_NESTED_MAP) ||
        element.kind == HAC_KIND_BYTES)
        return fail(c, call, "%s takes a list here, or text that is an array of JSON",
                    call->name[0] == '[' ? "[ ]" : call->name);
    if (part == HAC_LIST_UNNEST) {
        if (field == NULL || field->in_path || !c->unnests)
            return fail(c, call, "unnest takes a column of csv, tsv, JSON lines, logfmt or Parquet");
        hac_field of = {
            .type = element, .part = HAC_LIST_UNNEST, .inferred = field->inferred, .lacking = field->lacking};
        strcpy(of.name, field->name);
        return hac_part_column(c, call, &of, part_name(c, call, &of));
    }
    const hac_expr_source *before = c->parser->source;
    c->parser->source = call->source; /* of the nodes that are made */
    hac_node *made = part_of_text(c, call, part, element);
    c->parser->source = before;
    return made;
}

/* ---- which one ---- */

/* Whether the source's reader takes the part out of its lists; else they are read as text. */
static bool is_read(const hac_node *call, unsigned part, const hac_field *field)
{
    if (field == NULL || field->nested.kind == HAC_NESTED_NONE || field->arrays || part == SLICE)
        return false;
    if (call->n_args < 2 || field->nested.kind == HAC_NESTED_MAP)
        return true;
    const hac_node *value = call->args[1];
    return hac_node_is_literal(value) && !value->literal.null &&
           (part != HAC_LIST_ELEMENT || value->literal.integer >= -HAC_LIST_LAST_MAX);
}

hac_node *hac_part_of(hac_checker *c, const hac_node *call)
{
    int name = find_name(call->name);
    const hac_node *column = call->n_args > 0 ? call->args[0] : NULL;
    const unsigned part = names[name].part;
    const size_t takes = part == SLICE ? 3 : part == HAC_LIST_CONTAINS || part == HAC_LIST_ELEMENT ? 2 : 1;
    const hac_field *field =
        column != NULL && column->kind == HAC_NODE_COLUMN && (size_t)column->column < c->schema->n_fields
            ? &c->schema->fields[column->column]
            : NULL;
    bool read = is_read(call, part, field) && c->parts != NULL;
    if (!read && !names[name].only && !is_array_text(column, field))
        return NULL;
    if (call->n_args != takes)
        return fail(c, call, "%s(list%s) takes %zu argument%s", call->name,
                    takes == 3   ? ", from, to"
                    : takes == 2 ? ", value"
                                 : "",
                    takes, takes > 1 ? "s" : "");
    if (!read)
        return of_text(c, call, part, field);
    if (part == HAC_LIST_UNNEST && field->nested.kind == HAC_NESTED_MAP)
        return fail(c, call, "'%s' has maps, and unnest takes lists", field->name);
    hac_field of = {.type = type_of((hac_list_part)part, field->nested),
                    .part = (uint8_t)part,
                    .lacking = field->lacking};
    strcpy(of.name, field->name);
    if (takes == 2 && !take_argument(c, call, field->nested, &of))
        return NULL;
    return hac_part_column(c, call, &of, part_name(c, call, &of));
}
