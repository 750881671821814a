/* SPDX-License-Identifier: Apache-2.0 */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aggregate_calls.h"
#include "base/cleanup.h"
#include "base/json_value.h"
#include "base/suggest.h"
#include "column_hint.h"
#include "expr/described_nested.h"
#include "foreign_names.h"
#include "functions.h"
#include "parts.h"
#include "program/date_units.h"
#include "program/regexp_text.h"
#include "program/time_format.h"
#include "syntax/literal.h"
#include "syntax/texts_call.h"
#include "syntax/types.h"
#include "text_literals.h"
#include "zone_file.h"

#define fail(checker, node, ...)                                                                             \
    ((checker)->parser->status =                                                                             \
         hac_expr_fail((node)->source, (node)->at, (checker)->parser->err, __VA_ARGS__),                     \
     (void *)NULL)

/* ---- columns ---- */

static const char *listed_name(const void *list, size_t i)
{
    return ((const char *const *)list)[i];
}

/* The column of text that has the objects of JSON which the name is a member of; NULL: there is none. */
static const char *mixed_object(const hac_checker *c, const hac_node *node)
{
    for (size_t i = 0; i < c->schema->n_fields && c->scope == NULL; i++) {
        const hac_field *field = &c->schema->fields[i];
        size_t bytes = strlen(field->name);
        if (field->mixed && node->n_name > bytes + 1 && node->name[bytes] == '.' &&
            memcmp(node->name, field->name, bytes) == 0)
            return field->name;
    }
    return NULL;
}

/* Fails with a list of the names that exist: outputs that may stand here, and columns. */
static void *no_column(hac_checker *c, const hac_node *node)
{
    char there[HAC_SUGGEST_TEXT_MAX];
    const char *object = mixed_object(c, node);
    if (object != NULL)
        return fail(c, node,
                    "unknown column '%s'; '%s' is an object in some records only, and read as text: for its "
                    "member say --schema '%s:string'",
                    node->name, object, node->name);
    char hint[HAC_COLUMN_HINT_MAX];
    if (hac_column_hint(c->scope == NULL ? c->schema : NULL, c->json, node->name, hint))
        return fail(c, node, "%s", hint);
    size_t columns = c->scope != NULL ? c->n_scope : c->schema->n_fields;
    const char **names = hac_arena_alloc(c->parser->arena, (c->n_outputs + columns + 1) * sizeof *names);
    size_t n = 0;
    if (names == NULL) {
        c->parser->status = hac_fail_no_memory(c->parser->err);
        return NULL;
    }
    for (size_t i = 0; i < c->n_outputs; i++) {
        const char *name = c->outputs[i].name;
        if (name != NULL && name[0] != '\0' && c->scope == NULL &&
            hac_schema_find(c->schema, name, strlen(name)) < 0)
            names[n++] = name;
    }
    for (size_t i = 0; i < columns; i++)
        names[n++] = c->scope != NULL ? c->scope[i].name : c->schema->fields[i].name;
    return fail(c, node, "unknown column '%.*s'%s; %s", (int)(node->n_name < 128 ? node->n_name : 128),
                node->name, node->quoted ? " (text goes in single quotes)" : "",
                hac_suggest_text(node->name, names, n, listed_name, there));
}

static const char *output_name(const void *list, size_t i)
{
    const char *name = ((const hac_item *)list)[i].name;
    return name != NULL ? name : "";
}

/* The item of the list that has the name, in other case where none has it exactly; NULL: none or several. */
static const hac_item *find_item(const hac_item *items, size_t n, const hac_node *node)
{
    int at = node->n_name > 0 ? hac_find_name(items, n, output_name, node->name, node->n_name) : -1;
    return at >= 0 ? &items[at] : NULL;
}

/* NULL: none has the name. */
static const hac_item *find_output(const hac_checker *c, const hac_node *node)
{
    return find_item(c->outputs, c->n_outputs, node);
}

/* Names inside of an output are columns, or outputs before it, so that the output does not find itself. */
static hac_node *check_output(hac_checker *c, const hac_item *output)
{
    size_t n = c->n_outputs;
    bool last = c->outputs_last;
    c->n_outputs = (size_t)(output - c->outputs);
    c->outputs_last = true;
    hac_node *checked = hac_check(c, output->node);
    c->n_outputs = n;
    c->outputs_last = last;
    return checked;
}

/* The column of WITH; NULL: none has the name. */
static hac_node *find_in_scope(const hac_checker *c, const hac_node *node)
{
    const hac_item *item = find_item(c->scope, c->n_scope, node);
    return item != NULL ? item->node : NULL;
}

/* In the columns of WITH, names stand for columns of the source. */
static hac_node *check_in_scope(hac_checker *c, hac_node *column)
{
    hac_checker inner = *c;
    inner.scope = NULL;
    inner.n_scope = inner.n_outputs = 0;
    return hac_check(&inner, column);
}

/* The value of a column that is read as a string: the source reads the field twice. */
static hac_node *value_of(hac_checker *c, hac_node *column)
{
    const hac_field *value = &c->values[column->column];
    if (c->schema->fields[column->column].type.kind == value->type.kind)
        return column; /* text, or in the name of a folder */
    return hac_part_column(c, column, value, value->name);
}

static hac_node *check_column(hac_checker *c, hac_node *node)
{
    const hac_item *output = find_output(c, node);
    if (output != NULL && !c->outputs_last)
        return check_output(c, output);
    hac_node *column = find_in_scope(c, node);
    if (column != NULL)
        return check_in_scope(c, column);
    if (c->scope != NULL)
        return output != NULL ? check_output(c, output) : no_column(c, node);
    node->column = hac_schema_find_any_case(c->schema, node->name, node->n_name);
    if (node->column >= 0) {
        node->name = c->schema->fields[node->column].name;
        node->type = c->schema->fields[node->column].type;
        if (node->type.kind == HAC_KIND_NONE)
            return fail(c, node,
                        "column '%s' cannot be read: it has lists in lists, lists and a name of more than %d "
                        "bytes, or a type that is not known (`hacctl parquet inspect` says which); name "
                        "others",
                        c->schema->fields[node->column].name, HAC_DESCRIBED_NESTED_NAME_MAX);
        return c->values != NULL ? value_of(c, node) : node;
    }
    return output != NULL ? check_output(c, output) : no_column(c, node);
}

/* ---- calls: which row ---- */

static bool type_fits(char letter, const hac_node *arg)
{
    hac_value_type type = arg->type;
    bool null = type.kind == HAC_KIND_NONE, literal = hac_node_is_literal(arg) && !arg->literal.null;
    switch (letter) {
    case 'I':
    case 'i':
        return null || hac_kind_is_integer(type.kind);
    case 'F':
        return type.kind == HAC_KIND_F32;
    case 'N':
        return null || hac_is_number(type);
    case 'M':
        return null || hac_is_number(type) || hac_kinds[type.kind].class == HAC_CLASS_TIME;
    case 'B':
        return null || type.kind == HAC_KIND_BOOL;
    case 'S':
        return null || type.kind == HAC_KIND_STRING;
    case 'Y':
        return null || type.kind == HAC_KIND_BYTES || hac_node_is_text(arg);
    case 'D':
        return type.kind == HAC_KIND_DECIMAL;
    case 'E':
        return null || type.kind == HAC_KIND_DECIMAL || hac_kind_is_integer(type.kind);
    case 'd':
        return null || type.kind == HAC_KIND_DATE;
    case 't':
        return null || type.kind == HAC_KIND_TIMESTAMP;
    case 'T':
        return hac_value_type_has_zone(type);
    case 'p':
    case 'u':
    case 'f':
    case 'r':
    case 'o':
    case 'j':
    case 'z':
        return literal && type.kind == HAC_KIND_STRING;
    case 'k':
        return literal && hac_kind_is_integer(type.kind);
    case 'n':
        return literal && hac_is_number(type);
    default:
        return true;
    }
}

static bool row_fits(const hac_function *row, const hac_node *node)
{
    if (hac_function_letter(row, 0, node->n_args) == '\0' && (node->n_args > 0 || row->args[0] != '\0'))
        return false;
    bool decimals = false, wanted = false;
    for (size_t i = 0; i < node->n_args; i++) {
        char letter = hac_function_letter(row, i, node->n_args);
        if (!type_fits(letter, node->args[i]))
            return false;
        wanted |= letter == 'E';
        decimals |= letter == 'E' && node->args[i]->type.kind == HAC_KIND_DECIMAL;
    }
    return !wanted || decimals;
}

static bool takes_count(const hac_function *row, size_t n)
{
    return n == 0 ? row->args[0] == '\0' : hac_function_letter(row, 0, n) != '\0';
}

static const char *shown_name(const hac_node *node)
{
    return strcmp(node->name, "negate") == 0 ? "-" : strcmp(node->name, "plus") == 0 ? "+" : node->name;
}

/* Prints "(integer, integer), (date, integer)" for the rows that take n arguments. */
static void list_rows(const hac_function *row, size_t n, char *ret, size_t size)
{
    const char *name = row->name;
    size_t used = 0;
    size_t rows = 0;
    const hac_function *end = hac_functions(&rows) + rows;
    ret[0] = '\0';
    for (; row < end && strcmp(row->name, name) == 0 && used + 1 < size; row++) {
        if (!takes_count(row, n))
            continue;
        used += (size_t)snprintf(ret + used, size - used, "%s(", used > 0 ? ", " : "");
        for (size_t i = 0; i < n && i < 8 && used < size; i++)
            used += (size_t)snprintf(ret + used, size - used, "%s%s", i > 0 ? ", " : "",
                                     hac_letter_text(hac_function_letter(row, i, n)));
        if (used < size)
            used += (size_t)snprintf(ret + used, size - used, ")");
    }
}

static void list_types(const hac_node *node, char *ret, size_t size)
{
    char type[HAC_VALUE_TYPE_NAME_MAX];
    size_t used = (size_t)snprintf(ret, size, "(");
    for (size_t i = 0; i < node->n_args && i < 8 && used < size; i++)
        used += (size_t)snprintf(ret + used, size - used, "%s%s", i > 0 ? ", " : "",
                                 node->args[i]->type.kind == HAC_KIND_NONE
                                     ? "null"
                                     : hac_value_type_name(node->args[i]->type, type));
    if (used < size)
        snprintf(ret + used, size - used, ")");
}

static void *no_row(hac_checker *c, const hac_node *node, const hac_function *row)
{
    char takes[200], found[128];
    bool any = false;
    size_t rows = 0;
    const hac_function *end = hac_functions(&rows) + rows;
    for (const hac_function *r = row; r < end && strcmp(r->name, row->name) == 0; r++)
        any |= takes_count(r, node->n_args);
    if (!any)
        return fail(c, node, "%s does not take %zu argument%s; write %s%s", node->name, node->n_args,
                    node->n_args == 1 ? "" : "s", row->syntax != NULL ? row->syntax : row->name,
                    row->syntax != NULL      ? ""
                    : strlen(row->args) == 1 ? "(a)"
                    : row->args[0] == '\0'   ? "()"
                                             : "(a, b)");
    list_rows(row, node->n_args, takes, sizeof takes);
    list_types(node, found, sizeof found);
    bool text = false, bytes = false, strings = strstr(takes, "string") != NULL;
    for (size_t i = 0; i < node->n_args; i++) {
        text |= node->args[i]->type.kind == HAC_KIND_STRING;
        bytes |= node->args[i]->type.kind == HAC_KIND_BYTES;
    }
    /* columns are strings unless a schema says otherwise */
    return fail(c, node, "'%s' takes %s, not %s%s", shown_name(node), takes, found,
                strchr("&|", shown_name(node)[0]) != NULL && node->args[0]->type.kind == HAC_KIND_BOOL
                    ? "; conditions are joined by 'and' and 'or'"
                : hac_is_aggregate(row) && node->args[0]->type.kind == HAC_KIND_BOOL
                    ? "; count_if(a) counts the rows in which a is true"
                : text && !strings ? "; give its column a type in --schema, or cast it"
                : bytes && strings ? "; cast it"
                                   : "");
}

static const char *row_name(const void *list, size_t i)
{
    return ((const hac_function *)list)[i].name;
}

static hac_node *no_function(hac_checker *c, const hac_node *node)
{
    size_t n = 0;
    const char *instead = hac_foreign_name(node->name);
    if (instead != NULL && instead[0] == '=')
        return fail(c, node, "'%s' is written %s", node->name, instead + 1);
    if (instead != NULL)
        return fail(c, node, "unknown function '%s'%s%s", node->name, instead[0] == ';' ? "" : "; write ",
                    instead);
    const hac_function *rows = hac_functions(&n);
    const char *near = hac_suggest(node->name, rows, n, row_name);
    return fail(c, node, "unknown function '%.*s'%s%s%s", (int)(node->n_name < 128 ? node->n_name : 128),
                node->name, near != NULL ? "; did you mean " : "", near != NULL ? near : "",
                near != NULL ? "?" : "");
}

/* ---- calls: types ---- */

static bool check_comparison(hac_checker *c, const hac_node *node)
{
    char a[HAC_VALUE_TYPE_NAME_MAX], b[HAC_VALUE_TYPE_NAME_MAX];
    for (size_t i = 1; i < node->n_args; i++) {
        hac_value_type left = node->args[0]->type, right = node->args[i]->type;
        if (hac_comparable(node->args[0], node->args[i]))
            continue;
        (void)fail(c, node,
                   "%s cannot be compared with %s; cast one of them, or give its column another type in the "
                   "schema",
                   hac_value_type_name(left, a), hac_value_type_name(right, b));
        return false;
    }
    return true;
}

/* Collects the arguments with that letter, which must have a common type. */
static size_t gather(const hac_node *node, char letter, hac_node **ret)
{
    size_t n = 0;
    for (size_t i = 0; i < node->n_args; i++)
        if (hac_function_letter(node->function, i, node->n_args) == letter)
            ret[n++] = node->args[i];
    return n;
}

static bool common_types(hac_checker *c, hac_node *node, hac_value_type *ret_integer, hac_value_type *ret_any)
{
    hac_node **list = hac_arena_alloc(c->parser->arena, (node->n_args + 1) * sizeof *list);
    if (list == NULL) {
        c->parser->status = hac_fail_no_memory(c->parser->err);
        return false;
    }
    size_t n = gather(node, 'I', list);
    *ret_integer = hac_common_integer(list, n);
    n = gather(node, 'X', list);
    if (hac_common_type(list, n, ret_any))
        return true;
    char found[128];
    list_types(node, found, sizeof found);
    (void)fail(c, node, "the values of '%s' have no type in common: %s; cast them", node->name, found);
    return false;
}

static bool decimal_result(hac_checker *c, hac_node *node)
{
    hac_value_type a = hac_as_decimal(node->args[0]);
    hac_value_type b = node->n_args > 1 ? hac_as_decimal(node->args[1]) : a;
    unsigned precision = 0, scale = 0;
    switch (node->function->result) {
    case HAC_RESULT_DECIMAL_SUM:
        a = hac_decimal_common(a, b);
        precision = a.precision + 1u;
        scale = a.scale;
        break;
    case HAC_RESULT_DECIMAL_PRODUCT:
        precision = (unsigned)a.precision + b.precision;
        scale = (unsigned)a.scale + b.scale;
        break;
    case HAC_RESULT_DECIMAL_WHOLE:
        precision = (unsigned)a.precision - a.scale + 1u;
        break;
    case HAC_RESULT_DECIMAL_ROUND:
        scale = (unsigned)node->args[1]->literal.integer;
        scale = scale < a.scale ? scale : a.scale;
        precision = (unsigned)a.precision - a.scale + scale + (scale < a.scale);
        break;
    default: /* HAC_RESULT_DECIMAL_TOTAL */
        precision = HAC_DECIMAL_DIGITS_MAX;
        scale = a.scale;
        break;
    }
    if (scale > HAC_DECIMAL_DIGITS_MAX) {
        (void)fail(c, node,
                   "the result of '%s' would have %u digits behind the point, and 38 is the limit; "
                   "cast to a decimal with fewer, or to f64",
                   node->name, scale);
        return false;
    }
    /* the result has as many digits before the point as fit; a row that needs more than 38 digits is in error
     * */
    precision = precision > HAC_DECIMAL_DIGITS_MAX ? HAC_DECIMAL_DIGITS_MAX : precision == 0 ? 1 : precision;
    node->type = hac_decimal(precision, scale);
    return true;
}

/* The type in which an aggregate takes a number, a date or a timestamp without rounding it. */
static hac_value_type measure_type(hac_value_type type)
{
    if (hac_kind_is_integer(type.kind))
        return type.kind == HAC_KIND_U64 ? type : HAC_TYPE(I64);
    return hac_kind_is_float(type.kind) || type.kind == HAC_KIND_NONE ? HAC_TYPE(F64) : type;
}

static hac_value_type wanted(const hac_node *node, size_t i, hac_value_type integer, hac_value_type any)
{
    hac_result_rule rule = node->function->result;
    switch (hac_function_letter(node->function, i, node->n_args)) {
    case 'I':
        return integer;
    case 'i':
        return HAC_TYPE(I64);
    case 'N':
        return HAC_TYPE(F64);
    case 'M':
        return measure_type(node->args[i]->type);
    case 'X':
        return any;
    case 'E':
        if (rule == HAC_RESULT_DECIMAL_SUM)
            return node->type;
        /* a product: the representation of the result, the scale of the argument */
        return hac_decimal(node->type.precision > HAC_DECIMAL_DIGITS_64 ? HAC_DECIMAL_DIGITS_MAX
                                                                        : HAC_DECIMAL_DIGITS_64,
                           hac_as_decimal(node->args[i]).scale);
    case 'B':
        return HAC_TYPE(BOOL);
    case 'S':
        return HAC_TYPE(STRING);
    case 'Y':
        return HAC_TYPE(BYTES);
    case 'd':
        return HAC_TYPE(DATE);
    case 't':
    case 'T':
        return hac_value_type_has_zone(node->args[i]->type) ? HAC_TIMESTAMPTZ : HAC_TYPE(TIMESTAMP);
    default:
        return node->args[i]->type;
    }
}

/* Whether the timestamp that a call gives has a zone. */
static bool gives_zone(const hac_node *node)
{
    bool zone = false;
    for (size_t i = 0; i < node->n_args; i++) {
        const hac_node *arg = node->args[i];
        char letter = hac_function_letter(node->function, i, node->n_args);
        if (letter == 'z')
            return !hac_value_type_has_zone(node->args[0]->type);
        zone |= hac_value_type_has_zone(arg->type) ||
                (letter == 'f' && hac_time_format_has_offset(arg->literal.bytes, arg->literal.n_bytes));
    }
    return zone;
}

static void set_result(hac_node *node)
{
    static const hac_kind kinds[] = {
        [HAC_RESULT_BOOL] = HAC_KIND_BOOL,
        [HAC_RESULT_I64] = HAC_KIND_I64,
        [HAC_RESULT_F64] = HAC_KIND_F64,
        [HAC_RESULT_STRING] = HAC_KIND_STRING,
        [HAC_RESULT_U64] = HAC_KIND_U64,
        [HAC_RESULT_DATE] = HAC_KIND_DATE,
        [HAC_RESULT_TIMESTAMP] = HAC_KIND_TIMESTAMP,
    };
    hac_result_rule rule = node->function->result;
    if (rule == HAC_RESULT_SAME)
        node->type = node->wants[0];
    else if (rule == HAC_RESULT_VALUE)
        node->type = node->wants[1];
    else if (rule <= HAC_RESULT_TIMESTAMP)
        node->type = (hac_value_type){(uint8_t)kinds[rule], 0, 0};
    if (rule == HAC_RESULT_TIMESTAMP && gives_zone(node))
        node->type = HAC_TIMESTAMPTZ;
}

static bool give_types(hac_checker *c, hac_node *node)
{
    hac_value_type integer = {0}, any = {0};
    if (strchr(node->function->args, 'C') != NULL && !check_comparison(c, node))
        return false;
    if (!common_types(c, node, &integer, &any))
        return false;
    if (node->function->result >= HAC_RESULT_DECIMAL_SUM && !decimal_result(c, node))
        return false;
    node->wants = hac_arena_alloc(c->parser->arena, (node->n_args + 1) * sizeof *node->wants);
    if (node->wants == NULL) {
        c->parser->status = hac_fail_no_memory(c->parser->err);
        return false;
    }
    for (size_t i = 0; i < node->n_args; i++)
        node->wants[i] = wanted(node, i, integer, any);
    set_result(node);
    return true;
}

/* ---- checks that the table cannot express ---- */

void hac_aggregate_constants_of(const hac_node *node, hac_aggregate *ret)
{
    *ret = (hac_aggregate){.function = node->function->k, .argument = -1, .second = -1};
    hac_constant_number *constant = &ret->low;
    for (size_t i = 1; i < node->n_args; i++) {
        const hac_node *arg = node->args[i];
        char letter = hac_function_letter(node->function, i, node->n_args);
        if (letter == 'k')
            ret->k = (uint32_t)arg->literal.integer;
        if (letter == 'n') {
            *constant = hac_literal_constant(&arg->literal, arg->type);
            constant = &ret->high;
        }
    }
}

static bool check_format(hac_checker *c, const hac_node *node, const hac_node *format)
{
    char capacity[HAC_TIME_FORMAT_PROBLEM_MAX];
    bool reading = node->function->result == HAC_RESULT_TIMESTAMP;
    const char *problem =
        hac_time_format_problem(format->literal.bytes, format->literal.n_bytes, reading, capacity);
    return problem == NULL || fail(c, format, "the format of times: %s", problem) != NULL;
}

/* Puts the rules of the zone in the place of its name. */
static bool take_zone(hac_checker *c, hac_node *zone)
{
    hac_error why = HAC_ERROR_NONE;
    hac_autofree hac_zone_rules *rules = malloc(sizeof *rules);
    uint8_t *bytes = hac_arena_alloc(c->parser->arena, HAC_ZONE_BYTES_MAX);
    hac_status status = HAC_NO_MEMORY;
    if (rules != NULL && bytes != NULL)
        status = hac_zone_load(c->parser->arena, zone->literal.bytes, zone->literal.n_bytes, rules, &why);
    if (status == HAC_NO_MEMORY) {
        c->parser->status = hac_fail_no_memory(c->parser->err);
        return false;
    }
    if (status != HAC_OK)
        return fail(c, zone, "%s", why.message) != NULL;
    zone->literal.n_bytes = hac_zone_write(rules, bytes);
    zone->literal.bytes = (const char *)bytes;
    return true;
}

/* The arguments behind the pattern: the group, the replacement, the options. */
static bool check_regexp_arguments(hac_checker *c, const hac_node *node, const hac_regexp *regexp)
{
    for (size_t i = 2; i < node->n_args; i++) {
        const hac_literal *literal = &node->args[i]->literal;
        char letter = hac_function_letter(node->function, i, node->n_args);
        const char *problem =
            letter == 'p' ? hac_regexp_replacement_problem(regexp, literal->bytes, literal->n_bytes) : NULL;
        if (letter == 'k' && literal->integer > hac_regexp_groups(regexp))
            return fail(c, node->args[i], "the pattern has %u group%s", hac_regexp_groups(regexp),
                        hac_regexp_groups(regexp) == 1 ? "" : "s") != NULL;
        if (problem != NULL)
            return fail(c, node->args[i], "%s", problem) != NULL;
    }
    return true;
}

static bool check_regexp(hac_checker *c, const hac_node *node)
{
    const hac_node *pattern = node->args[1], *last = node->args[node->n_args - 1];
    char problem[HAC_REGEXP_PROBLEM_MAX];
    hac_regexp_text text = {0};
    bool options = hac_function_letter(node->function, node->n_args - 1, node->n_args) == 'o';
    if (options && !hac_regexp_options(last->literal.bytes, last->literal.n_bytes, &text))
        return fail(c, last,
                    "options are i, c, s and g: 'i' ignores case, 's' lets . match a newline, 'g' "
                    "replaces all matches") != NULL;
    if (text.all && node->function->result == HAC_RESULT_BOOL)
        return fail(c, last, "only regexp_replace takes the option g") != NULL;
    hac_regexp *regexp =
        hac_regexp_new(pattern->literal.bytes, pattern->literal.n_bytes, text.flags, problem);
    if (regexp == NULL)
        return fail(c, pattern, "the regular expression: %s", problem) != NULL;
    bool valid = check_regexp_arguments(c, node, regexp);
    hac_regexp_free(regexp);
    return valid;
}

static bool check_path(hac_checker *c, const hac_node *path)
{
    const char *problem = hac_json_path_problem((const uint8_t *)path->literal.bytes, path->literal.n_bytes);
    return problem == NULL || fail(c, path, "%s", problem) != NULL;
}

static bool check_constants(hac_checker *c, const hac_node *node)
{
    for (size_t i = 0; i < node->n_args; i++) {
        hac_node *arg = node->args[i];
        char letter = hac_function_letter(node->function, i, node->n_args);
        hac_date_unit unit = HAC_UNIT_DAY;
        if (letter == 'u') {
            bool known = hac_unit_find(arg->literal.bytes, arg->literal.n_bytes, &unit);
            bool date = node->function->result == HAC_RESULT_DATE;
            if (!known || (date && unit >= HAC_UNIT_HOUR)) {
                (void)fail(c, arg, "expected 'year', 'quarter', 'month', 'week'%s",
                           date ? " or 'day' (of a date)" : ", 'day', 'hour', 'minute' or 'second'");
                return false;
            }
        }
        if (letter == 'k') {
            bool aggregate = hac_is_aggregate(node->function);
            int highest = aggregate                                     ? HAC_AGGREGATE_K_MAX
                          : node->function->section == HAC_SECTION_MATH ? 15
                                                                        : HAC_REGEXP_GROUPS_MAX;
            if (arg->literal.integer < aggregate || arg->literal.integer > highest) {
                (void)fail(c, arg, "expected a number from %d to %d", aggregate, highest);
                return false;
            }
        }
        if (letter == 'f' && !check_format(c, node, arg))
            return false;
        if (letter == 'z' && !take_zone(c, arg))
            return false;
        if (letter == 'j' && !check_path(c, arg))
            return false;
        if (letter == 'p' && i == 2 && node->function->has_pattern &&
            (arg->literal.n_bytes != 1 || (unsigned char)arg->literal.bytes[0] >= 0x80)) {
            (void)fail(c, arg, "expected one ASCII character behind 'escape'");
            return false;
        }
    }
    return strchr(node->function->args, 'r') == NULL || check_regexp(c, node);
}

static bool check_pattern(hac_checker *c, const hac_node *node)
{
    const hac_literal *pattern = &node->args[1]->literal;
    char escape = node->n_args > 2 ? node->args[2]->literal.bytes[0] : '\0';
    for (size_t i = 0; escape != '\0' && i < pattern->n_bytes; i++) {
        if (pattern->bytes[i] != escape)
            continue;
        if (++i == pattern->n_bytes) {
            (void)fail(c, node->args[1], "the pattern ends with its escape character");
            return false;
        }
    }
    return true;
}

static bool check_aggregate(hac_checker *c, const hac_node *node)
{
    hac_aggregate aggregate;
    hac_aggregate_constants_of(node, &aggregate);
    const char *expected = hac_aggregate_constants_expected(&aggregate);
    if (expected == NULL)
        return true;
    (void)fail(c, node->args[1], "expected %s", expected);
    return false;
}

static bool check_arguments(hac_checker *c, hac_node *node)
{
    for (size_t i = 0; i < node->n_args; i++) {
        if ((node->args[i] = hac_check(c, node->args[i])) == NULL)
            return false;
    }
    return true;
}

/* An aggregate is of rows: names inside of it are columns first, as in `max(price) as price … order by
 * max(price)`. */
static bool check_aggregated(hac_checker *c, hac_node *node)
{
    bool last = c->outputs_last;
    c->outputs_last = true;
    bool good = check_arguments(c, node);
    c->outputs_last = last;
    return good;
}

/* What string_agg and list do with a value depends on its type. */
static bool check_texts(hac_checker *c, hac_node *node)
{
    if (hac_texts_name(node->name) == NULL)
        return true;
    bool last = c->outputs_last;
    c->outputs_last = true;
    hac_node *value = node->args[0] = hac_check(c, node->args[0]);
    c->outputs_last = last;
    if (value == NULL)
        return false;
    if (value->type.kind == HAC_KIND_BYTES || value->type.kind == HAC_KIND_NONE)
        return fail(c, value, "'%s' takes values that have a text; cast this", node->name) != NULL;
    bool field =
        value->kind == HAC_NODE_COLUMN && value->column >= 0 && (size_t)value->column < c->schema->n_fields;
    bool nested = field && c->schema->fields[value->column].nested.kind != HAC_NESTED_NONE;
    return hac_texts_arguments(c->parser, node, nested);
}

/* Text literals become values of the other arguments' type, and what is joined to text becomes text. */
static bool fit_texts(hac_checker *c, hac_node *node, const hac_function *row)
{
    return hac_read_text_literals(c->parser, node, row) && hac_cast_to_texts(c->parser, node) &&
           check_arguments(c, node);
}

static hac_node *check_call(hac_checker *c, hac_node *node)
{
    hac_node *condition = hac_take_filter(node);
    if (!hac_rewrite_count(c, node))
        return NULL;
    if (condition == NULL && hac_part_is_named(node->name)) {
        hac_node *part = check_arguments(c, node) ? hac_part_of(c, node) : NULL;
        if (part != NULL || c->parser->status != HAC_OK)
            return part == NULL || part->kind == HAC_NODE_COLUMN ? part : hac_check(c, part);
    }
    const hac_function *row = hac_function_find(node->name);
    if (row == NULL)
        return no_function(c, node);
    if (!check_texts(c, node) || (condition != NULL && !hac_rewrite_filter(c, node, row, condition)))
        return NULL;
    if (!hac_rewrite_arg(c, node))
        return NULL;
    bool aggregate = hac_is_aggregate(row);
    if (!(aggregate ? check_aggregated(c, node) : check_arguments(c, node)))
        return NULL;
    for (size_t i = 0; aggregate && i < node->n_args; i++)
        if (node->args[i]->aggregates)
            return fail(c, node, "an aggregate inside of '%s': aggregates do not nest", node->name);
    if (!fit_texts(c, node, row))
        return NULL;
    size_t rows = 0;
    const hac_function *end = hac_functions(&rows) + rows, *first = row;
    while (row < end && strcmp(row->name, node->name) == 0 && !row_fits(row, node))
        row++;
    if (row == end || strcmp(row->name, node->name) != 0)
        return no_row(c, node, first);
    node->function = row;
    if (!check_constants(c, node) || !give_types(c, node))
        return NULL;
    if ((row->has_pattern && !check_pattern(c, node)) || (aggregate && !check_aggregate(c, node)))
        return NULL;
    return node;
}

/* A call whose values are all nulls without type becomes such a null. In place, because other nodes may point
 * to it. */
static hac_node *untyped(hac_checker *c, hac_node *node)
{
    if (hac_is_aggregate(node->function))
        return fail(c, node, "null has no type here; write cast(null as i64)");
    node->kind = HAC_NODE_LITERAL;
    node->literal.null = true;
    node->function = NULL;
    node->n_args = 0;
    return node;
}

static hac_node *check_cast(hac_checker *c, hac_node *node)
{
    char from[HAC_VALUE_TYPE_NAME_MAX], to[HAC_VALUE_TYPE_NAME_MAX];
    if (!check_arguments(c, node))
        return NULL;
    if (hac_castable(node->args[0]->type, node->type))
        return node;
    return fail(c, node, "%s cannot be cast to %s", hac_value_type_name(node->args[0]->type, from),
                hac_value_type_name(node->type, to));
}

static uint32_t mix(uint32_t hash, uint64_t value)
{
    return (uint32_t)(((hash ^ (uint32_t)value) * UINT64_C(0x9e3779b97f4a7c15)) >> 29) +
           (uint32_t)(value >> 32);
}

static uint32_t hash_of(const hac_node *node)
{
    uint32_t hash = mix(node->kind, (uint64_t)(node->column + 1));
    hash = mix(hash, node->type.kind);
    hash = mix(hash, (uint64_t)node->literal.integer);
    for (size_t i = 0; i < node->literal.n_bytes; i++)
        hash = mix(hash, (unsigned char)node->literal.bytes[i]);
    for (size_t i = 0; node->kind == HAC_NODE_CALL && i < node->n_name; i++)
        hash = mix(hash, (unsigned char)node->name[i]);
    for (size_t i = 0; i < node->n_args; i++)
        hash = mix(hash, node->args[i]->hash);
    return hash;
}

static void conclude(hac_node *node)
{
    bool aggregate = node->kind == HAC_NODE_CALL && hac_is_aggregate(node->function);
    node->constant = node->kind != HAC_NODE_COLUMN && !aggregate;
    node->aggregates = aggregate;
    for (size_t i = 0; i < node->n_args; i++) {
        node->constant &= node->args[i]->constant;
        node->aggregates |= node->args[i]->aggregates;
    }
    node->hash = hash_of(node);
    node->checked = true;
}

hac_node *hac_check(hac_checker *c, hac_node *node)
{
    if (node->checked)
        return node;
    hac_node *checked = node;
    switch (node->kind) {
    case HAC_NODE_COLUMN:
        checked = check_column(c, node);
        break;
    case HAC_NODE_CALL:
        checked = check_call(c, node);
        if (checked != NULL && checked->type.kind == HAC_KIND_NONE)
            checked = untyped(c, node);
        break;
    case HAC_NODE_CAST:
        checked = check_cast(c, node);
        break;
    case HAC_NODE_COLUMNS:
        return fail(c, node, "columns(…) stands in the items of SELECT, and in WHERE");
    case HAC_NODE_STAR:
        return fail(c, node, "expected a value, found '*'");
    default:
        break;
    }
    if (checked != NULL && !checked->checked)
        conclude(checked);
    return checked;
}
