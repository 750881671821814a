/* SPDX-License-Identifier: Apache-2.0 */
#include "compile.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/suggest.h"
#include "functions.h"
#include "query_verify.h"
#include "types.h"

#define ARENA_BYTES (16u * 1024 * 1024)

HAC_DEFINE_CLEANUP(hac_query *, hac_query_free)

/* The first node of a kind of thing, for the position in a message. */
static const hac_node *find_aggregate(const hac_node *node)
{
    for (size_t i = 0; i < node->n_args; i++)
        if (node->args[i]->aggregates)
            return find_aggregate(node->args[i]);
    return node;
}

#define fail(c, node, ...) hac_expr_fail((node)->source, (node)->at, (c)->err, __VA_ARGS__)

static bool given(const char *text)
{
    return text != NULL && text[strspn(text, " \t\r\n\v\f")] != '\0';
}

/* ---- the columns of the source ---- */

static hac_status all_of_kind(hac_kind kind, const char *const *names, size_t n, hac_schema *ret,
                              hac_error *err)
{
    hac_field *fields = calloc(n, sizeof *fields);
    if (fields == NULL)
        return hac_fail_no_memory(err);
    for (size_t i = 0; i < n; i++) {
        strncpy(fields[i].name, names[i], sizeof fields[i].name - 1);
        fields[i].type = (hac_value_type){.kind = (uint8_t)kind};
    }
    *ret = (hac_schema){fields, n};
    return HAC_OK;
}

static hac_status copy_schema(const hac_schema *from, hac_schema *ret, hac_error *err)
{
    hac_field *fields = calloc(from->n_fields + 1, sizeof *fields);
    if (fields == NULL)
        return hac_fail_no_memory(err);
    memcpy(fields, from->fields, from->n_fields * sizeof *fields);
    *ret = (hac_schema){fields, from->n_fields};
    return HAC_OK;
}

static const char *header_name(const void *list, size_t i)
{
    return ((const hac_schema *)list)->fields[i].name;
}

static hac_status check_header(hac_compiler *c, const hac_schema *header)
{
    char there[HAC_SUGGEST_TEXT_MAX];
    for (size_t i = 0; i < c->schema.n_fields; i++) {
        const char *name = c->schema.fields[i].name;
        if (hac_schema_find(header, name, strlen(name)) < 0)
            return hac_fail(c->err, HAC_INVALID, "--schema: the input has no column '%s'; %s", name,
                            hac_suggest_text(name, header, header->n_fields, header_name, there));
    }
    return HAC_OK;
}

static hac_status fixed_schema(hac_compiler *c, const char *const *names, size_t n, const char *format)
{
    if (given(c->text->schema))
        return hac_fail(c->err, HAC_INVALID,
                        "--schema: %s has its own column%s: %s%s%s; leave the schema out", format,
                        n > 1 ? "s" : "", names[0], n > 1 ? ", " : "", n > 1 ? names[1] : "");
    return all_of_kind(HAC_KIND_STRING, names, n, &c->schema, c->err);
}

static hac_status find_schema(hac_compiler *c, const hac_schema *header)
{
    bool schema_given = given(c->text->schema);
    switch (c->text->source.format) {
    case HAC_FORMAT_LINES:
        return fixed_schema(c, (const char *const[]){"line"}, 1, "lines");
    case HAC_FORMAT_WORDS:
        return fixed_schema(c, (const char *const[]){"word"}, 1, "words");
    case HAC_FORMAT_KV:
        return fixed_schema(c, (const char *const[]){"key", "value"}, 2, "kv");
    case HAC_FORMAT_LENGTHS:
        if (!schema_given)
            return all_of_kind(HAC_KIND_BYTES, (const char *const[]){"record"}, 1, &c->schema, c->err);
        break;
    case HAC_FORMAT_TYPEDBYTES:
        if (!schema_given)
            return all_of_kind(HAC_KIND_STRING, (const char *const[]){"key", "value"}, 2, &c->schema, c->err);
        break;
    default:
        break;
    }
    bool names = header != NULL && header->n_fields <= HAC_FIELDS_MAX;
    if (!schema_given) {
        if (names && header->n_fields > 0)
            return copy_schema(header, &c->schema, c->err);
        if (header != NULL && !names) /* take_named() will */
            return HAC_OK;
        return hac_fail(
            c->err, HAC_INVALID,
            "--schema: say what columns there are, as in 'name:string,price:f64' (csv and tsv with "
            "a header line need none)");
    }
    if (hac_schema_parse(c->text->schema, &c->schema, c->err) != HAC_OK)
        return hac_error_prefix(c->err, "--schema");
    return names ? check_header(c, header) : HAC_OK;
}

/* ---- of an input with more columns than can be read, those that the query names ---- */

static void mark_named(hac_compiler *c, hac_node *node, const hac_schema *header, bool *ret)
{
    if (node == NULL || node->pass == c->pass)
        return;
    node->pass = c->pass;
    int field = node->kind == HAC_NODE_COLUMN ? hac_schema_find(header, node->name, strlen(node->name)) : -1;
    if (field >= 0)
        ret[field] = true;
    for (size_t i = 0; i < node->n_args; i++)
        mark_named(c, node->args[i], header, ret);
}

/* Returns whether --select is none of `*`, which is all columns. */
static bool mark_all_named(hac_compiler *c, const hac_schema *header, bool *ret)
{
    bool star = false;
    c->pass++;
    mark_named(c, c->where, header, ret);
    for (size_t i = 0; i < c->n_keys; i++)
        mark_named(c, c->keys[i].node, header, ret);
    for (size_t i = 0; i < c->n_selects; i++) {
        mark_named(c, c->selects[i].node, header, ret);
        star |= c->selects[i].node->kind == HAC_NODE_STAR;
    }
    for (size_t i = 0; i < c->n_orders; i++)
        mark_named(c, c->orders[i].node, header, ret);
    return !star;
}

/* With them as many others as there is room for: messages about unknown names list what there is. */
static hac_status take_named(hac_compiler *c, const hac_schema *header)
{
    size_t n = 0, others = HAC_FIELDS_MAX;
    if (c->schema.n_fields > 0)
        return HAC_OK;
    hac_autofree bool *named = calloc(header->n_fields, sizeof *named);
    hac_field *fields = calloc(HAC_FIELDS_MAX, sizeof *fields);
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
                        header->n_fields, HAC_FIELDS_MAX);
    for (size_t i = 0; i < header->n_fields; i++) {
        if (!named[i] && others == 0)
            continue;
        others -= !named[i];
        fields[n++] = header->fields[i];
    }
    c->schema.n_fields = n;
    return HAC_OK;
}

static hac_status check_options(const hac_query_text *text, hac_error *err)
{
    const hac_source_options *source = &text->source;
    const char *const texts[] = {text->schema, text->where, text->group_by, text->select, text->order_by};
    const char *const names[] = {"--schema", "--where", "--group-by", "--select", "--order-by"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (texts[i] != NULL && strnlen(texts[i], HAC_QUERY_TEXT_MAX) == HAC_QUERY_TEXT_MAX)
            return hac_fail(err, HAC_INVALID, "%s: longer than %d bytes", names[i], HAC_QUERY_TEXT_MAX - 1);
    if (source->format <= HAC_FORMAT_NONE || source->format >= HAC_FORMAT_END)
        return hac_fail(err, HAC_INVALID,
                        "--parse: the input's format is not known; give one of csv tsv jsonl lines words kv "
                        "fixed lengths typedbytes");
    if (strchr("\"\r\n", source->delimiter) != NULL && source->delimiter != '\0')
        return hac_fail(err, HAC_INVALID, "a quote or a line's end cannot be the delimiter");
    return HAC_OK;
}

/* ---- reading and checking ---- */

static hac_status parse_all(hac_compiler *c)
{
    hac_status status = HAC_OK;
    hac_parser *p = &c->parser;
    if (given(c->text->where))
        status = hac_parse_expression(p, &c->where_source, &c->where);
    if (status == HAC_OK && given(c->text->group_by))
        status =
            hac_parse_items(p, &c->group_source, HAC_ITEM_NAMES, HAC_QUERY_KEYS_MAX, c->keys, &c->n_keys);
    if (status == HAC_OK && given(c->text->select))
        status = hac_parse_items(p, &c->select_source, HAC_ITEM_NAMES | HAC_ITEM_STAR,
                                 HAC_PROGRAM_OUTPUTS_MAX, c->selects, &c->n_selects);
    if (status == HAC_OK && given(c->text->order_by))
        status =
            hac_parse_items(p, &c->order_source, HAC_ITEM_DIRECTIONS, HAC_ORDER_MAX, c->orders, &c->n_orders);
    return status;
}

static hac_status check_where(hac_compiler *c)
{
    char type[HAC_VALUE_TYPE_NAME_MAX];
    if (c->where == NULL)
        return HAC_OK;
    if ((c->where = hac_check(&c->checker, c->where)) == NULL)
        return c->parser.status;
    if (c->where->aggregates)
        return fail(c, find_aggregate(c->where), "'%s' is of many rows, and --where looks at one",
                    find_aggregate(c->where)->name);
    if (c->where->type.kind != HAC_KIND_BOOL && c->where->type.kind != HAC_KIND_NONE)
        return hac_expr_fail(&c->where_source, 0, c->err, "a condition is true or false, and this is %s",
                             hac_value_type_name(c->where->type, type));
    return HAC_OK;
}

static hac_status check_item(hac_compiler *c, hac_item *item)
{
    hac_node *node = hac_check(&c->checker, item->node);
    if (node == NULL)
        return c->parser.status;
    if (node->type.kind == HAC_KIND_NONE)
        return hac_expr_fail(item->source, item->first, c->err,
                             "null has no type here; write cast(null as i64)");
    item->node = node;
    return HAC_OK;
}

static hac_status check_keys(hac_compiler *c)
{
    c->checker.outputs = c->selects;
    c->checker.n_outputs = c->n_selects;
    c->checker.outputs_last = true;
    size_t n = 0;
    for (size_t i = 0; i < c->n_keys; i++) {
        hac_item *item = &c->keys[i];
        hac_status status = check_item(c, item);
        if (status != HAC_OK)
            return status;
        if (item->node->aggregates)
            return hac_expr_fail(item->source, item->first, c->err, "an aggregate cannot be a group's key");
        if (item->node->kind == HAC_NODE_LITERAL)
            return hac_expr_fail(item->source, item->first, c->err,
                                 "a constant makes no groups; write the column's name or an expression");
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

/* A name that is no column may be a key's. */
static hac_status check_selects(hac_compiler *c)
{
    c->checker.outputs = c->keys;
    c->checker.n_outputs = c->n_keys;
    for (size_t i = 0; i < c->n_selects; i++) {
        if (c->selects[i].node->kind == HAC_NODE_STAR)
            continue;
        hac_status status = check_item(c, &c->selects[i]);
        if (status != HAC_OK)
            return status;
        c->aggregated |= c->selects[i].node->aggregates;
    }
    c->checker.outputs = NULL;
    c->checker.n_outputs = 0;
    return HAC_OK;
}

/* ---- output columns ---- */

/* The item's own text, its blanks made one; too long a one is cut. */
static const char *own_text(hac_compiler *c, const hac_item *item)
{
    if (item->node->kind == HAC_NODE_COLUMN)
        return item->node->name;
    char *name = hac_arena_alloc(&c->arena, HAC_FIELD_NAME_MAX);
    if (name == NULL)
        return NULL;
    const char *text = item->source->text;
    size_t used = 0, end = item->end;
    char quote = '\0';
    while (end > item->first && strchr(" \t\r\n\v\f", text[end - 1]) != NULL)
        end--;
    for (size_t i = item->first; i < end && used < HAC_FIELD_NAME_MAX - 1; i++) {
        bool blank = quote == '\0' && strchr(" \t\r\n\v\f", text[i]) != NULL;
        if (blank && used > 0 && name[used - 1] == ' ')
            continue;
        if (text[i] == quote)
            quote = '\0';
        else if (quote == '\0' && (text[i] == '"' || text[i] == '\''))
            quote = text[i];
        name[used++] = blank ? ' ' : text[i];
    }
    if (used == HAC_FIELD_NAME_MAX - 1) { /* not in the middle of a character */
        used -= 3;
        while (used > 0 && ((unsigned char)name[used] & 0xc0) == 0x80)
            used--;
        memcpy(name + used, "...", 4);
    }
    return name;
}

static hac_output_column *output_named(hac_compiler *c, const char *name)
{
    for (size_t i = 0; i < c->n_outputs; i++)
        if (strcmp(c->outputs[i].name, name) == 0)
            return &c->outputs[i];
    return NULL;
}

static hac_status add_output(hac_compiler *c, const hac_item *item)
{
    const char *name = item->name != NULL ? item->name : own_text(c, item);
    if (name == NULL)
        return hac_fail_no_memory(c->err);
    hac_output_column *same = output_named(c, name);
    if (same != NULL && !hac_node_equal(same->node, item->node))
        return hac_expr_fail(item->source, item->first, c->err,
                             "two columns are called '%s'; give one of them another name with 'as'", name);
    for (size_t i = 0; same == NULL && i < c->n_outputs; i++) {
        hac_output_column *output = &c->outputs[i];
        if (!hac_node_equal(output->node, item->node))
            continue;
        if (item->name == NULL)
            return HAC_OK; /* once is enough */
        if (!output->named && i < c->n_keys && c->aggregated) {
            output->name = name; /* the key's own column gets the name */
            output->named = true;
            return HAC_OK;
        }
    }
    if (same != NULL)
        return HAC_OK;
    if (c->n_outputs == HAC_PROGRAM_OUTPUTS_MAX)
        return hac_expr_fail(item->source, item->first, c->err, "more than %d columns",
                             HAC_PROGRAM_OUTPUTS_MAX);
    c->outputs[c->n_outputs++] = (hac_output_column){item->node, name, item->name != NULL};
    return HAC_OK;
}

/* All columns of the schema. */
static hac_status add_star(hac_compiler *c, const hac_expr_source *source, size_t at)
{
    for (size_t i = 0; i < c->schema.n_fields; i++) {
        if (c->schema.fields[i].name[0] == '\0')
            return hac_expr_fail(source, at, c->err,
                                 "column %zu of the header has no name; name the columns that are wanted",
                                 i + 1);
        hac_node *node = hac_node_new(&c->parser, HAC_NODE_COLUMN, source, at);
        if (node == NULL)
            return c->parser.status;
        node->name = c->schema.fields[i].name;
        node->n_name = strlen(node->name);
        hac_item item = {.node = hac_check(&c->checker, node), .source = source, .first = at};
        hac_status status = item.node != NULL ? add_output(c, &item) : c->parser.status;
        if (status != HAC_OK)
            return status;
    }
    return HAC_OK;
}

static hac_status make_outputs(hac_compiler *c)
{
    hac_status status = HAC_OK;
    for (size_t i = 0; i < c->n_keys && status == HAC_OK; i++)
        status = add_output(c, &c->keys[i]);
    if (status == HAC_OK && c->n_selects == 0 && c->n_keys == 0)
        status = add_star(c, &c->select_source, 0);
    for (size_t i = 0; i < c->n_selects && status == HAC_OK; i++) {
        hac_item *item = &c->selects[i];
        if (item->node->kind != HAC_NODE_STAR)
            status = add_output(c, item);
        else if (!c->aggregated)
            status = add_star(c, item->source, item->first);
        else
            status = hac_expr_fail(
                item->source, item->first, c->err,
                "'*' is all columns of a row, and here rows become groups; name what is wanted");
    }
    c->n_visible = c->n_outputs;
    return status;
}

/* ---- order by ---- */

static hac_status add_order(hac_compiler *c, const hac_item *item)
{
    size_t column = 0;
    while (column < c->n_outputs && !hac_node_equal(c->outputs[column].node, item->node))
        column++;
    for (size_t i = 0; i < c->n_order; i++)
        if (c->order[i].column == column)
            return HAC_OK; /* it decides nothing any more */
    if (column == HAC_PROGRAM_OUTPUTS_MAX)
        return hac_expr_fail(item->source, item->first, c->err, "more than %d columns",
                             HAC_PROGRAM_OUTPUTS_MAX);
    if (column == c->n_outputs)
        c->outputs[c->n_outputs++] = (hac_output_column){item->node, "", false};
    c->order[c->n_order++] = (hac_order_item){(uint16_t)column, item->descending};
    return HAC_OK;
}

static hac_status check_orders(hac_compiler *c)
{
    for (size_t i = 0; i < c->n_orders; i++) {
        bool name = c->orders[i].node->kind == HAC_NODE_COLUMN; /* of an output, which may be constant */
        hac_status status = check_item(c, &c->orders[i]);
        if (status != HAC_OK)
            return status;
        if (c->orders[i].node->constant && !name)
            return hac_expr_fail(c->orders[i].source, c->orders[i].first, c->err,
                                 "a constant orders nothing; write the name of an output column");
    }
    return HAC_OK;
}

/* Names of output columns go before those of the source. */
static hac_status make_order(hac_compiler *c)
{
    hac_item named[HAC_PROGRAM_OUTPUTS_MAX];
    for (size_t i = 0; i < c->n_outputs; i++)
        named[i] = (hac_item){.node = c->outputs[i].node, .name = c->outputs[i].name};
    c->checker.outputs = named;
    c->checker.n_outputs = c->n_outputs;
    c->checker.outputs_last = false;
    hac_status status = check_orders(c);
    c->checker.outputs = NULL;
    c->checker.n_outputs = 0;
    for (size_t i = 0; i < c->n_orders && status == HAC_OK; i++)
        status = add_order(c, &c->orders[i]);
    return status;
}

/* An aggregate in --order-by alone makes groups too: known before the outputs are made. Names of outputs are
 * not known yet, so this looks at the tree as it is written. */
static bool calls_aggregate(hac_compiler *c, hac_node *node)
{
    if (node->pass == c->pass)
        return false;
    node->pass = c->pass;
    if (node->kind == HAC_NODE_CALL && hac_name_is_aggregate(node->name))
        return true;
    for (size_t i = 0; i < node->n_args; i++)
        if (calls_aggregate(c, node->args[i]))
            return true;
    return false;
}

/* ---- groups: what is left when rows have become groups ---- */

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
    c->checker = (hac_checker){.parser = &c->parser, .schema = &c->schema};
    c->aggregated = c->n_keys > 0;
    c->pass++;
    for (size_t i = 0; i < c->n_orders; i++)
        c->aggregated |= calls_aggregate(c, c->orders[i].node);
    hac_status status = check_where(c);
    if (status == HAC_OK)
        status = check_keys(c);
    if (status == HAC_OK)
        status = check_selects(c);
    if (status == HAC_OK)
        status = make_outputs(c);
    if (status == HAC_OK)
        status = make_order(c);
    return status == HAC_OK && c->aggregated ? collect_inputs(c) : status;
}

static hac_status compile(hac_compiler *c, const hac_schema *header, hac_query *query)
{
    hac_status status = find_schema(c, header);
    if (status == HAC_OK)
        status = parse_all(c);
    if (status == HAC_OK)
        status = take_named(c, header);
    if (status == HAC_OK)
        status = analyse(c);
    if (status == HAC_OK)
        status = hac_compile_query(c, query);
    if (status == HAC_OK && hac_query_verify(query, c->err) != HAC_OK)
        status = hac_error_prefix(c->err, "a compiled query is not valid; this is a bug");
    return status;
}

static hac_expr_source source_of(const char *option, const char *text)
{
    return (hac_expr_source){.option = option, .text = text != NULL ? text : ""};
}

hac_status hac_query_compile(const hac_query_text *text, const hac_schema *header, hac_query **ret,
                             hac_error *err)
{
    hac_error unused;
    if (err == NULL)
        err = &unused;
    hac_status status = check_options(text, err);
    if (status != HAC_OK)
        return status;
    hac_cleanup(hac_query_free_cleanup) hac_query *query = calloc(1, sizeof *query);
    hac_compiler *c = calloc(1, sizeof *c);
    if (query == NULL || c == NULL) {
        free(c);
        return hac_fail_no_memory(err);
    }
    c->text = text;
    c->err = err;
    c->arena.limit = ARENA_BYTES;
    c->parser = (hac_parser){.arena = &c->arena, .err = err};
    c->where_source = source_of("--where", text->where);
    c->group_source = source_of("--group-by", text->group_by);
    c->select_source = source_of("--select", text->select);
    c->order_source = source_of("--order-by", text->order_by);
    status = compile(c, header, query);
    hac_schema_clear(&c->schema);
    hac_arena_clear(&c->arena);
    free(c);
    if (status == HAC_OK)
        *ret = hac_steal_ptr(query);
    return status;
}
