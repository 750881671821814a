/* SPDX-License-Identifier: Apache-2.0 */
#include "compile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/cleanup.h"
#include "base/format.h"
#include "base/input_options.h"
#include "base/suggest.h"
#include "base/utf8.h"
#include "language/functions.h"
#include "program/query_verify.h"
#include "syntax/types.h"

#define ARENA_BYTES (16u * 1024 * 1024)

HAC_DEFINE_CLEANUP(hac_query *, hac_query_free)

/* The first aggregate of an expression, for the position in a message. */
static const hac_node *find_aggregate(const hac_node *node)
{
    for (size_t i = 0; i < node->n_args; i++)
        if (node->args[i]->aggregates)
            return find_aggregate(node->args[i]);
    return node;
}

#define fail(c, node, ...) hac_expr_fail((node)->source, (node)->at, (c)->err, __VA_ARGS__)

hac_status hac_compile_check_texts(const hac_query_text *text, hac_error *err)
{
    const hac_source_options *source = &text->source;
    const char *const texts[][2] = {{"--schema", text->schema},        {"--where", text->where},
                                    {"--group-by", text->group_by},    {"--having", text->having},
                                    {"--select", text->select},        {"--order-by", text->order_by},
                                    {"--limit-by", text->limit_by},    {"--with-select", text->with_select},
                                    {"--with-where", text->with_where}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (texts[i][1] != NULL && strnlen(texts[i][1], HAC_EXPRESSION_MAX + 1) > HAC_EXPRESSION_MAX)
            return hac_fail(err, HAC_INVALID, "%s: longer than %d bytes", texts[i][0], HAC_EXPRESSION_MAX);
    if (source->format <= HAC_INPUT_NONE || source->format >= HAC_INPUT_END)
        return hac_fail(err, HAC_INVALID,
                        "--parse: the input's format is not known; give one of " HAC_FORMAT_WORDS);
    if (hac_text_given(text->limit_by) && text->limit_each == UINT64_MAX)
        return hac_fail(err, HAC_INVALID, "--limit-by: say with --limit how many rows of each");
    return hac_input_options_check(source->format, &source->options, err);
}

/* ---- reading and checking ---- */

static unsigned select_flags(const hac_compiler *c)
{
    return HAC_ITEM_NAMES | HAC_ITEM_STAR | (c->text->select_only ? HAC_ITEM_BARE_NAMES : 0u);
}

hac_status hac_compile_parse(hac_compiler *c)
{
    hac_parser *p = &c->parser;
    hac_status status = hac_compile_parse_with(c);
    if (status == HAC_OK && hac_text_given(c->text->where))
        status = hac_parse_expression(p, &c->where_source, &c->where);
    if (status == HAC_OK && hac_text_given(c->text->group_by))
        status =
            hac_parse_items(p, &c->group_source, HAC_ITEM_NAMES, HAC_QUERY_KEYS_MAX, c->keys, &c->n_keys);
    if (status == HAC_OK && hac_text_given(c->text->having))
        status = hac_parse_expression(p, &c->having_source, &c->having);
    if (status == HAC_OK && hac_text_given(c->text->select))
        status = hac_parse_items(p, &c->select_source, select_flags(c), HAC_PROGRAM_OUTPUTS_MAX, c->selects,
                                 &c->n_selects);
    if (status == HAC_OK && hac_text_given(c->text->order_by))
        status =
            hac_parse_items(p, &c->order_source, HAC_ITEM_DIRECTIONS, HAC_ORDER_MAX, c->orders, &c->n_orders);
    if (status == HAC_OK && hac_text_given(c->text->limit_by))
        status =
            hac_parse_items(p, &c->limit_by_source, 0, HAC_QUERY_KEYS_MAX, c->limit_bys, &c->n_limit_bys);
    return status;
}

/* A name that is not a column may be the name of one of the first `n` keys and items of select. */
static void allow_names(hac_compiler *c, size_t n)
{
    memcpy(c->names, c->keys, c->n_keys * sizeof *c->names);
    memcpy(c->names + c->n_keys, c->selects, c->n_selects * sizeof *c->names);
    c->checker.outputs = c->names;
    c->checker.n_outputs = n;
    c->checker.outputs_last = true;
}

/* A row must fulfil both conditions. */
static hac_status join_with_where(hac_compiler *c)
{
    if (c->with_where == NULL)
        return HAC_OK;
    if (c->where != NULL)
        c->where = hac_node_call(&c->parser, "and", 0, 2, (hac_node *[]){c->with_where, c->where});
    else
        c->where = c->with_where;
    if (c->where != NULL)
        c->where = hac_check(&c->checker, c->where);
    return c->parser.status;
}

static hac_status check_where(hac_compiler *c)
{
    if (c->where == NULL)
        return join_with_where(c);
    allow_names(c, c->n_keys + c->n_selects);
    if ((c->where = hac_check(&c->checker, c->where)) == NULL)
        return c->parser.status;
    if (c->where->aggregates)
        return fail(c, find_aggregate(c->where),
                    "'%s' aggregates rows, and --where tests each row by itself; --having tests groups",
                    find_aggregate(c->where)->name);
    hac_status status = hac_compile_check_condition(c, c->where, &c->where_source);
    return status == HAC_OK ? join_with_where(c) : status;
}

/* A query also has groups if only --order-by has an aggregate. This must be known before the outputs are
 * made, when names of outputs are not resolved yet, so the function looks at the unchecked tree. */
bool hac_compile_calls_aggregate(hac_compiler *c, hac_node *node)
{
    if (node->pass == c->pass)
        return false;
    node->pass = c->pass;
    if (node->kind == HAC_NODE_CALL && hac_name_is_aggregate(node->name))
        return true;
    for (size_t i = 0; i < node->n_args; i++)
        if (hac_compile_calls_aggregate(c, node->args[i]))
            return true;
    return false;
}

/* The item of select with that number, counted from 1. */
static hac_status numbered(hac_compiler *c, const hac_item *number, hac_item *ret)
{
    __int128 n = number->node->literal.integer;
    if (n < 1 || n > (__int128)c->n_selects || c->selects[n - 1].node->kind == HAC_NODE_STAR)
        return hac_expr_fail(number->source, number->first, c->err,
                             "a number is the place of an item of --select, 1 to %zu; * has none",
                             c->n_selects);
    *ret = c->selects[n - 1];
    return HAC_OK;
}

static bool is_number(const hac_node *node)
{
    return node->kind == HAC_NODE_LITERAL && !node->literal.null && hac_kind_is_integer(node->type.kind);
}

/* Whether the list is the word `all`, which is no column's name. */
static bool is_all(const hac_compiler *c, const hac_item *items, size_t n)
{
    const hac_node *node = items[0].node;
    return n == 1 && node->kind == HAC_NODE_COLUMN && !node->quoted && strcasecmp(node->name, "all") == 0 &&
           !hac_compile_has_column(c, node->name);
}

/* `group by all`: all items of select without aggregates. Returns whether that is asked for. */
static bool group_by_all(hac_compiler *c)
{
    if (!is_all(c, c->keys, c->n_keys))
        return false;
    c->n_keys = 0;
    c->pass++;
    for (size_t i = 0; i < c->n_selects && c->n_keys < HAC_QUERY_KEYS_MAX; i++) {
        hac_node *item = c->selects[i].node;
        bool key = item->kind != HAC_NODE_STAR && item->kind != HAC_NODE_LITERAL &&
                   !hac_compile_calls_aggregate(c, item);
        if (key)
            c->keys[c->n_keys++] = c->selects[i];
    }
    return true;
}

static hac_status check_key(hac_compiler *c, hac_item *item)
{
    hac_status status = is_number(item->node) ? numbered(c, item, item) : HAC_OK;
    const hac_node *node = status == HAC_OK ? hac_check(&c->checker, item->node) : NULL;
    if (node == NULL)
        return c->parser.status != HAC_OK ? c->parser.status : status;
    if (node->type.kind == HAC_KIND_NONE) { /* all nulls are one group, whatever their type */
        item->node = hac_node_null(&c->parser, item->source, item->first);
        if (item->node == NULL)
            return c->parser.status;
        item->node->type = HAC_TYPE(I64);
    }
    return hac_compile_check_item(c, item);
}

static hac_status check_keys(hac_compiler *c)
{
    c->checker.outputs = c->selects;
    c->checker.n_outputs = c->n_selects;
    c->checker.outputs_last = true;
    size_t n = 0;
    if (c->n_keys > 0)
        (void)group_by_all(c);
    for (size_t i = 0; i < c->n_keys; i++) {
        hac_item *item = &c->keys[i];
        const hac_item given_item = *item; /* a number stands for an item of --select */
        hac_status status = check_key(c, item);
        if (status != HAC_OK)
            return status;
        if (item->node->aggregates)
            return hac_expr_fail(given_item.source, given_item.first, c->err,
                                 "an aggregate cannot be a group's key");
        bool repeated = false;
        for (size_t j = 0; j < n; j++)
            repeated |= hac_node_equal(c->keys[j].node, item->node);
        if (!repeated)
            c->keys[n++] = *item;
    }
    c->n_keys = n;
    c->checker.outputs = NULL;
    c->checker.n_outputs = 0;
    return HAC_OK;
}

/* A name that is not a column may be the name of a key, or of an item before. */
static hac_status check_selects(hac_compiler *c)
{
    for (size_t i = 0; i < c->n_selects; i++) {
        if (c->selects[i].node->kind == HAC_NODE_STAR)
            continue;
        allow_names(c, c->n_keys + i);
        hac_status status = hac_compile_check_item(c, &c->selects[i]);
        if (status != HAC_OK)
            return status;
        c->aggregated |= c->selects[i].node->aggregates;
    }
    c->checker.outputs = NULL;
    c->checker.n_outputs = 0;
    return HAC_OK;
}

/* ---- output columns ---- */

static hac_output_column *output_named(hac_compiler *c, const char *name)
{
    for (size_t i = 0; i < c->n_outputs; i++)
        if (strcmp(c->outputs[i].name, name) == 0)
            return &c->outputs[i];
    return NULL;
}

/* Whether the item is a key, which is an output already. That gets the name of the first item with one. */
static bool is_key_output(hac_compiler *c, const hac_item *item, const char *name)
{
    for (size_t i = 0; i < c->n_key_outputs; i++) {
        hac_output_column *output = &c->outputs[i];
        if (!hac_node_equal(output->node, item->node))
            continue;
        if (item->name == NULL || strcmp(output->name, name) == 0)
            return true;
        if (!output->named && output_named(c, name) == NULL) {
            output->name = name;
            output->named = true;
            return true;
        }
    }
    return false;
}

static hac_status add_output(hac_compiler *c, const hac_item *item)
{
    const char *name = item->name != NULL ? item->name : hac_compile_own_text(c, item);
    if (name == NULL)
        return hac_fail_no_memory(c->err);
    if (is_key_output(c, item, name))
        return HAC_OK;
    const hac_output_column *same = output_named(c, name);
    if (same != NULL && !c->text->select_only && !hac_node_equal(same->node, item->node))
        return hac_expr_fail(item->source, item->first, c->err,
                             "two columns are called '%s'; give one of them another name with 'as'", name);
    if (c->n_outputs == HAC_PROGRAM_OUTPUTS_MAX)
        return hac_expr_fail(item->source, item->first, c->err, "more than %d columns",
                             HAC_PROGRAM_OUTPUTS_MAX);
    c->outputs[c->n_outputs++] = (hac_output_column){item->node, name, item->name != NULL, same != NULL};
    return HAC_OK;
}

static hac_status add_column(hac_compiler *c, const hac_item *star, const char *name)
{
    hac_node *node = hac_node_new(&c->parser, HAC_NODE_COLUMN, star->source, star->first);
    if (node == NULL)
        return c->parser.status;
    node->name = name;
    node->n_name = strlen(name);
    hac_item item = {.node = hac_check(&c->checker, node), .name = c->scope != NULL ? name : NULL};
    item.source = star->source;
    item.first = star->first;
    return item.node != NULL ? add_output(c, &item) : c->parser.status;
}

/* All columns of the source but those that cannot be read. */
static hac_status add_fields(hac_compiler *c, const hac_item *star)
{
    hac_status status = HAC_OK;
    for (size_t i = 0; i < c->schema.n_fields && status == HAC_OK; i++) {
        const hac_field *field = &c->schema.fields[i];
        const hac_item *other = hac_compile_replaced(star, field->name);
        if (hac_compile_is_excluded(star, field->name))
            continue;
        if (other != NULL) {
            status = add_output(c, other);
            continue;
        }
        if (field->type.kind == HAC_KIND_NONE) {
            c->left_out++;
            continue;
        }
        if (field->name[0] == '\0')
            return hac_expr_fail(star->source, star->first, c->err,
                                 "column %zu of the header has no name; name the columns that are wanted",
                                 i + 1);
        status = add_column(c, star, field->name);
    }
    return status;
}

/* Whether a column of WITH is one of the source's that cannot be read. */
static bool is_unreadable(const hac_compiler *c, const hac_item *item)
{
    const hac_node *node = item->node;
    int field = node->kind == HAC_NODE_COLUMN ? hac_schema_find(&c->schema, node->name, node->n_name) : -1;
    return field >= 0 && c->schema.fields[field].type.kind == HAC_KIND_NONE;
}

/* All columns but those that the item leaves out. */
static hac_status add_star(hac_compiler *c, const hac_item *star)
{
    hac_status status = hac_compile_check_star(c, star);
    c->takes_all |= c->scope == NULL;
    if (status == HAC_OK && c->scope == NULL)
        status = add_fields(c, star);
    for (size_t i = 0; i < c->n_scope && status == HAC_OK; i++) {
        const hac_item *other = hac_compile_replaced(star, c->scope[i].name);
        if (hac_compile_is_excluded(star, c->scope[i].name))
            continue;
        if (other != NULL)
            status = add_output(c, other);
        else if (is_unreadable(c, &c->scope[i]))
            c->left_out++;
        else
            status = add_column(c, star, c->scope[i].name);
    }
    return status;
}

static hac_status no_columns(const hac_compiler *c, const hac_item *star)
{
    return hac_expr_fail(star->source, star->first, c->err, "%s",
                         star->n_excluded > 0 ? "exclude leaves out all columns"
                         : c->left_out > 0
                             ? "none of the columns can be read; `hacctl parquet inspect` says why"
                             : "the input has no columns; count() is the number of its rows");
}

/* Whether an output has the name, in any case. */
static bool is_taken(const hac_compiler *c, const char *name)
{
    for (size_t i = 0; i < c->n_outputs; i++)
        if (strcasecmp(c->outputs[i].name, name) == 0)
            return true;
    return false;
}

/* A free name for a column after `before` others of that name: a_1, a_2. NULL: no memory. */
static const char *free_name(hac_compiler *c, const char *name, unsigned before)
{
    char *ret = hac_arena_alloc(&c->arena, HAC_FIELD_NAME_MAX);
    char suffix[16];
    for (unsigned i = before; ret != NULL; i++) {
        int bytes = snprintf(suffix, sizeof suffix, "_%u", i);
        hac_utf8_copy(ret, HAC_FIELD_NAME_MAX - (size_t)bytes, name);
        strcat(ret, suffix);
        if (!is_taken(c, ret))
            return ret;
    }
    return NULL;
}

/* Gives names of their own to the columns that repeat a name. This comes after all columns are known, so that
 * no made name is that of another column. */
static hac_status name_repeated(hac_compiler *c)
{
    const char *asked[HAC_PROGRAM_OUTPUTS_MAX];
    for (size_t i = 0; i < c->n_outputs; i++) {
        asked[i] = c->outputs[i].name;
        unsigned before = 0;
        for (size_t j = 0; j < i && c->outputs[i].repeated; j++)
            before += strcmp(asked[j], asked[i]) == 0;
        if (c->outputs[i].repeated && (c->outputs[i].name = free_name(c, asked[i], before)) == NULL)
            return hac_fail_no_memory(c->err);
    }
    return HAC_OK;
}

static hac_status make_outputs(hac_compiler *c)
{
    const hac_item all = {.source = &c->select_source}, *star = &all;
    hac_status status = HAC_OK;
    for (size_t i = 0; i < c->n_keys && status == HAC_OK && !c->text->select_only; i++)
        status = add_output(c, &c->keys[i]);
    c->n_key_outputs = c->n_outputs;
    if (status == HAC_OK && c->n_selects == 0 && c->n_keys == 0)
        status = add_star(c, star);
    for (size_t i = 0; i < c->n_selects && status == HAC_OK; i++) {
        hac_item *item = &c->selects[i];
        if (item->node->kind != HAC_NODE_STAR)
            status = add_output(c, item);
        else if (!c->aggregated)
            status = add_star(c, star = item);
        else
            status = hac_expr_fail(
                item->source, item->first, c->err,
                "'*' is all columns of a row, and here rows become groups; name what is wanted");
    }
    if (status == HAC_OK && c->n_outputs == 0)
        return no_columns(c, star);
    c->n_visible = c->n_outputs;
    return status == HAC_OK ? name_repeated(c) : status;
}

/* ---- distinct ---- */

/* Whether each group has a row of its own: the keys are among the columns. */
static bool shows_keys(const hac_compiler *c)
{
    for (size_t i = 0; i < c->n_keys; i++) {
        bool shown = false;
        for (size_t j = 0; j < c->n_visible && !shown; j++)
            shown = hac_node_equal(c->outputs[j].node, c->keys[i].node);
        if (!shown)
            return false;
    }
    return true;
}

/* Rows that are distinct are groups by all of their columns. */
static hac_status make_distinct(hac_compiler *c)
{
    if (!c->text->distinct || (c->aggregated && shows_keys(c)))
        return HAC_OK;
    if (c->aggregated)
        return hac_fail(c->err, HAC_INVALID,
                        "--distinct: groups whose keys are not shown may have equal rows; add the keys to "
                        "--select, or query the result again");
    if (c->n_outputs > HAC_QUERY_KEYS_MAX)
        return hac_fail(c->err, HAC_INVALID, "--distinct: rows of more than %d columns", HAC_QUERY_KEYS_MAX);
    c->n_keys = 0;
    for (size_t i = 0; i < c->n_outputs; i++) {
        bool repeated = false;
        for (size_t j = 0; j < i && !repeated; j++)
            repeated = hac_node_equal(c->outputs[j].node, c->outputs[i].node);
        if (!repeated)
            c->keys[c->n_keys++] = (hac_item){.node = c->outputs[i].node, .name = c->outputs[i].name};
    }
    c->aggregated = true;
    return HAC_OK;
}

/* ---- hidden columns ---- */

/* The index of the column with the item's values, which becomes a hidden column if there is none. */
static hac_status column_of(hac_compiler *c, const hac_item *item, uint16_t *ret)
{
    size_t column = 0;
    while (column < c->n_outputs && !hac_node_equal(c->outputs[column].node, item->node))
        column++;
    if (column == HAC_PROGRAM_OUTPUTS_MAX)
        return hac_expr_fail(item->source, item->first, c->err, "more than %d columns",
                             HAC_PROGRAM_OUTPUTS_MAX);
    if (column == c->n_outputs)
        c->outputs[c->n_outputs++] = (hac_output_column){.node = item->node, .name = ""};
    *ret = (uint16_t)column;
    return HAC_OK;
}

/* ---- having ---- */

/* A name is a key, else an item of select, else a column, which must then be the argument of an aggregate. */
static void allow_groups(hac_compiler *c)
{
    allow_names(c, c->n_keys + c->n_selects);
    for (size_t i = 0; i < c->n_keys; i++)
        if (c->names[i].name == NULL && c->keys[i].node->kind == HAC_NODE_COLUMN &&
            c->keys[i].node->n_name > 0)
            c->names[i].name = c->keys[i].node->name;
    c->checker.outputs_last = false;
}

static hac_status make_having(hac_compiler *c)
{
    if (c->having == NULL)
        return HAC_OK;
    allow_groups(c);
    hac_node *node = hac_check(&c->checker, c->having);
    c->checker.outputs = NULL;
    c->checker.n_outputs = 0;
    if (node == NULL)
        return c->parser.status;
    hac_status status = hac_compile_check_condition(c, node, &c->having_source);
    if (node->type.kind == HAC_KIND_NONE)
        node->type = HAC_TYPE(BOOL); /* null is true for no group */
    const hac_item item = {.node = node, .source = &c->having_source};
    return status == HAC_OK ? column_of(c, &item, &c->having_output) : status;
}

/* ---- order by ---- */

static hac_status order_by(hac_compiler *c, const hac_item *item)
{
    uint16_t column = 0;
    hac_status status = column_of(c, item, &column);
    for (size_t i = 0; status == HAC_OK && i < c->n_order; i++)
        if (c->order[i].column == column)
            return HAC_OK; /* a column that was there before decides the order */
    if (status == HAC_OK)
        c->order[c->n_order++] = (hac_order_item){column, item->descending};
    return status;
}

/* Nulls come last in both directions. `a nulls first` orders by `a is not null` before it. */
static hac_status add_order(hac_compiler *c, const hac_item *item)
{
    if (item->nulls_first) {
        hac_item nulls = *item;
        hac_node *null = hac_node_call(&c->parser, "is null", item->first, 1, &item->node);
        hac_node *call = null != NULL ? hac_node_call(&c->parser, "not", item->first, 1, &null) : NULL;
        nulls.node = call != NULL ? hac_check(&c->checker, call) : NULL;
        nulls.descending = false;
        if (nulls.node == NULL)
            return c->parser.status;
        hac_status status = c->n_order < HAC_ORDER_MAX ? order_by(c, &nulls) : HAC_OK;
        if (status != HAC_OK)
            return status;
    }
    if (c->n_order == HAC_ORDER_MAX)
        return hac_expr_fail(item->source, item->first, c->err, "more than %d items", HAC_ORDER_MAX);
    return order_by(c, item);
}

/* Of a sort that keeps fields: what orders its rows is the value of a column, not its text. */
static hac_status order_value(hac_compiler *c, hac_item *item)
{
    if (c->values == NULL || item->node->kind != HAC_NODE_COLUMN)
        return HAC_OK;
    hac_node *column = hac_node_new(&c->parser, HAC_NODE_COLUMN, item->source, item->first);
    if (column == NULL)
        return c->parser.status;
    column->name = item->node->name;
    column->n_name = item->node->n_name;
    item->node = hac_check(&c->checker, column);
    return item->node != NULL ? HAC_OK : c->parser.status;
}

/* A number is the place of a column in the result. */
static hac_status order_number(hac_compiler *c, hac_item *item)
{
    __int128 n = item->node->literal.integer;
    if (n < 1 || n > (__int128)c->n_visible)
        return hac_expr_fail(item->source, item->first, c->err,
                             "a number is the place of a column in the result, 1 to %zu", c->n_visible);
    item->node = c->outputs[n - 1].node;
    return order_value(c, item);
}

/* A name alone is an output before it is a column. In an expression it is a key that is a column, then, of a
 * query without groups, a column, and then an output, as in SQL. */
static hac_status check_order(hac_compiler *c, hac_item *item)
{
    hac_checker *checker = &c->checker;
    const hac_checker of_names = *checker;
    if (item->node->kind == HAC_NODE_COLUMN)
        return hac_compile_check_item(c, item);
    checker->outputs = c->order_names;
    checker->n_outputs = 0;
    for (size_t i = 0; i < c->n_keys && c->aggregated; i++)
        if (c->keys[i].node->kind == HAC_NODE_COLUMN && c->keys[i].node->n_name > 0)
            c->order_names[checker->n_outputs++] =
                (hac_item){.node = c->keys[i].node, .name = c->keys[i].node->name};
    memcpy(c->order_names + checker->n_outputs, of_names.outputs,
           of_names.n_outputs * sizeof *of_names.outputs);
    checker->n_outputs += of_names.n_outputs;
    checker->outputs_last |= !c->aggregated;
    hac_status status = hac_compile_check_item(c, item);
    checker->outputs = of_names.outputs;
    checker->n_outputs = of_names.n_outputs;
    checker->outputs_last = of_names.outputs_last;
    return status;
}

static hac_status check_orders(hac_compiler *c)
{
    for (size_t i = 0; i < c->n_orders; i++) {
        if (is_number(c->orders[i].node) && !c->orders[i].node->checked) {
            hac_status found = order_number(c, &c->orders[i]);
            if (found != HAC_OK)
                return found;
            continue;
        }
        bool name =
            c->orders[i].node->kind == HAC_NODE_COLUMN; /* a name may refer to an output that is constant */
        hac_status status = check_order(c, &c->orders[i]);
        if (status != HAC_OK)
            return status;
        if (c->orders[i].node->constant && !name)
            return hac_expr_fail(c->orders[i].source, c->orders[i].first, c->err,
                                 "a constant orders nothing; write the name of an output column");
    }
    return HAC_OK;
}

/* `order by all`: by all columns of the result, from left to right. */
static hac_status order_by_all(hac_compiler *c)
{
    hac_item item = c->orders[0];
    c->n_orders = 0;
    for (size_t i = 0; i < c->n_visible && c->n_orders < HAC_ORDER_MAX; i++) {
        item.node = c->outputs[i].node;
        if (item.node->constant)
            continue; /* it orders nothing */
        if (order_value(c, &item) != HAC_OK)
            return c->parser.status;
        c->orders[c->n_orders++] = item;
    }
    return HAC_OK;
}

/* The columns of `limit n by`. Numbers and names are those of --order-by. */
static hac_status check_limit_by(hac_compiler *c)
{
    hac_status status = HAC_OK;
    for (size_t i = 0; i < c->n_limit_bys && status == HAC_OK; i++) {
        hac_item *item = &c->limit_bys[i];
        bool number = is_number(item->node) && !item->node->checked;
        status = number ? order_number(c, item) : check_order(c, item);
    }
    return status;
}

static hac_status add_limit_by(hac_compiler *c, const hac_item *item)
{
    uint16_t column = 0;
    hac_status status = column_of(c, item, &column);
    for (size_t i = 0; status == HAC_OK && i < c->n_limit_by; i++)
        if (c->limit_by[i] == column)
            return HAC_OK;
    if (status == HAC_OK)
        c->limit_by[c->n_limit_by++] = column;
    return status;
}

static hac_status make_order(hac_compiler *c)
{
    hac_item named[HAC_PROGRAM_OUTPUTS_MAX];
    hac_status status = HAC_OK;
    for (size_t i = 0; i < c->n_outputs; i++) {
        const hac_output_column *output = &c->outputs[i];
        /* a column of the source comes before a name that was made */
        bool hidden = output->repeated && hac_compile_has_column(c, output->name);
        named[i] = (hac_item){.node = output->node, .name = hidden ? NULL : output->name};
    }
    c->checker.outputs = named;
    c->checker.n_outputs = c->n_outputs;
    c->checker.outputs_last = c->values != NULL; /* the outputs are the columns, as strings */
    c->checker.values = c->values;
    if (c->n_orders > 0 && output_named(c, "all") == NULL && is_all(c, c->orders, c->n_orders))
        status = order_by_all(c);
    if (status == HAC_OK)
        status = check_orders(c);
    if (status == HAC_OK)
        status = check_limit_by(c);
    c->checker.values = NULL;
    c->checker.outputs = NULL;
    c->checker.n_outputs = 0;
    for (size_t i = 0; i < c->n_orders && status == HAC_OK; i++)
        status = add_order(c, &c->orders[i]);
    for (size_t i = 0; i < c->n_limit_bys && status == HAC_OK; i++)
        status = add_limit_by(c, &c->limit_bys[i]);
    return status;
}

/* ---- groups: the inputs of `finals` ---- */

static hac_status collect(hac_compiler *c, hac_node *node)
{
    if (node->pass == c->pass)
        return HAC_OK;
    node->pass = c->pass;
    for (size_t i = 0; i < c->n_inputs; i++)
        if (hac_node_equal(c->inputs[i], node))
            return HAC_OK;
    if (node->kind == HAC_NODE_COLUMN)
        return fail(c, node, "'%s' has many values in a group: %s, or aggregate it, as in first(%s)",
                    node->name, c->n_keys > 0 ? "add it to --group-by" : "group by it", node->name);
    bool aggregate = node->aggregates && hac_name_is_aggregate(node->name);
    if (aggregate && c->n_inputs == HAC_PROGRAM_INPUTS_MAX)
        return fail(c, node, "more than %d keys and aggregates", HAC_PROGRAM_INPUTS_MAX);
    if (aggregate) {
        c->inputs[c->n_inputs++] = node;
        return HAC_OK;
    }
    for (size_t i = 0; i < node->n_args; i++) {
        hac_status status = collect(c, node->args[i]);
        if (status != HAC_OK)
            return status;
    }
    return HAC_OK;
}

static hac_status collect_inputs(hac_compiler *c)
{
    c->pass++;
    for (size_t i = 0; i < c->n_keys; i++)
        c->inputs[c->n_inputs++] = c->keys[i].node;
    for (size_t i = 0; i < c->n_outputs; i++) {
        hac_status status = collect(c, c->outputs[i].node);
        if (status != HAC_OK)
            return status;
    }
    return HAC_OK;
}

static hac_status analyse(hac_compiler *c)
{
    c->checker = (hac_checker){.parser = &c->parser,
                               .schema = &c->schema,
                               .parts = &c->parts,
                               .unnests = hac_query_unnests(c->text->source.format),
                               .json = c->text->source.format == HAC_INPUT_JSONL};
    hac_status status = hac_compile_with(c);
    if (status == HAC_OK)
        status = hac_compile_expand_columns(c, c->selects, &c->n_selects);
    if (status == HAC_OK)
        status = hac_compile_where_columns(c);
    if (status != HAC_OK)
        return status;
    c->aggregated = c->n_keys > 0 || c->having != NULL;
    c->pass++;
    for (size_t i = 0; i < c->n_orders; i++)
        c->aggregated |= hac_compile_calls_aggregate(c, c->orders[i].node);
    for (size_t i = 0; i < c->n_limit_bys; i++)
        c->aggregated |= hac_compile_calls_aggregate(c, c->limit_bys[i].node);
    status = check_where(c);
    if (status == HAC_OK)
        status = check_keys(c);
    if (status == HAC_OK)
        status = check_selects(c);
    if (status == HAC_OK)
        status = make_outputs(c);
    if (status == HAC_OK)
        status = make_distinct(c);
    if (status == HAC_OK)
        status = make_having(c);
    if (status == HAC_OK)
        status = make_order(c);
    return status == HAC_OK && c->aggregated ? collect_inputs(c) : status;
}

static hac_status compile(hac_compiler *c, const hac_schema *header, hac_query *query)
{
    hac_status status = hac_compile_read_path(c);
    if (status == HAC_OK)
        status = hac_compile_schema(c, header);
    if (status == HAC_OK)
        status = hac_compile_parse(c);
    if (status == HAC_OK)
        status = hac_compile_named_columns(c, header);
    if (status == HAC_OK)
        status = hac_compile_add_path(c);
    if (status == HAC_OK)
        status = hac_compile_keep_fields(c);
    if (status == HAC_OK)
        status = analyse(c);
    if (status == HAC_OK)
        status = hac_compile_query(c, query);
    query->left_out = c->left_out;
    query->source.all_names = c->text->source.all_names && c->takes_all &&
                              hac_query_columns_in_file(query) == query->schema_columns;
    if (status == HAC_OK && hac_query_verify(query, c->err) != HAC_OK)
        status = hac_error_prefix(c->err, "a compiled query is not valid; this is a bug");
    return status;
}

static hac_expr_source source_of(const char *option, const char *text)
{
    return (hac_expr_source){.option = option, .text = text != NULL ? text : ""};
}

hac_compiler *hac_compiler_new(const hac_query_text *text, hac_error *err)
{
    hac_compiler *c = calloc(1, sizeof *c);
    if (c == NULL)
        return NULL;
    c->text = text;
    c->err = err;
    c->arena.limit = ARENA_BYTES;
    c->having_output = HAC_QUERY_NO_OUTPUT;
    c->parser = (hac_parser){.arena = &c->arena, .err = err};
    c->where_source = source_of("--where", text->where);
    c->group_source = source_of("--group-by", text->group_by);
    c->having_source = source_of("--having", text->having);
    c->select_source = source_of("--select", text->select);
    c->order_source = source_of("--order-by", text->order_by);
    c->limit_by_source = source_of("--limit-by", text->limit_by);
    c->with_source = source_of("--with-select", text->with_select);
    c->with_where_source = source_of("--with-where", text->with_where);
    return c;
}

void hac_compiler_free(hac_compiler *c)
{
    hac_schema_clear(&c->schema);
    hac_schema_clear(&c->path);
    free(c->values);
    hac_schema_clear(&c->parts);
    hac_arena_clear(&c->arena);
    free(c);
}

hac_status hac_query_compile(const hac_query_text *text, const hac_schema *header, hac_query **ret,
                             hac_error *err)
{
    hac_error unused;
    if (err == NULL)
        err = &unused;
    hac_status status = hac_compile_check_texts(text, err);
    if (status != HAC_OK)
        return status;
    hac_cleanup(hac_query_free_cleanup) hac_query *query = calloc(1, sizeof *query);
    hac_compiler *c = query == NULL ? NULL : hac_compiler_new(text, err);
    if (c == NULL)
        return hac_fail_no_memory(err);
    status = compile(c, header, query);
    hac_compiler_free(c);
    if (status == HAC_OK)
        *ret = hac_steal_ptr(query);
    return status;
}
