/* SPDX-License-Identifier: Apache-2.0 */
/* The columns of the SELECT of WITH, which the other texts see in place of the source's. */
#include "compile.h"

static hac_status parse_with(hac_compiler *c)
{
    hac_parser *p = &c->parser;
    hac_status status = HAC_OK;
    if (hac_text_given(c->text->with_where))
        status = hac_parse_expression(p, &c->with_where_source, &c->with_where);
    if (status == HAC_OK)
        status = hac_parse_items(p, &c->with_source, HAC_ITEM_NAMES | HAC_ITEM_STAR | HAC_ITEM_BARE_NAMES,
                                 HAC_PROGRAM_OUTPUTS_MAX, c->withs, &c->n_withs);
    return status;
}

hac_status hac_compile_parse_with(hac_compiler *c)
{
    return hac_text_given(c->text->with_select) ? parse_with(c) : HAC_OK;
}

static hac_status add_column(hac_compiler *c, const hac_item *item, const char *name)
{
    for (size_t i = 0; i < c->n_scope; i++)
        if (strcmp(c->scope[i].name, name) == 0)
            return hac_expr_fail(item->source, item->first, c->err,
                                 "two columns are called '%s'; give one of them another name with 'as', or "
                                 "write * exclude (%s)",
                                 name, name);
    c->scope[c->n_scope] = *item;
    c->scope[c->n_scope++].name = name;
    return HAC_OK;
}

/* All columns of the source but those that the item leaves out. Of those that cannot be read, the message
 * comes when one is used. */
static hac_status add_all(hac_compiler *c, const hac_item *star)
{
    c->checker.outputs = NULL;
    c->checker.n_outputs = 0;
    c->takes_all = true;
    hac_status status = hac_compile_check_star(c, star);
    for (size_t i = 0; i < c->schema.n_fields && status == HAC_OK; i++) {
        const hac_field *field = &c->schema.fields[i];
        if (hac_compile_is_excluded(star, field->name) || field->name[0] == '\0')
            continue;
        const hac_item *other = hac_compile_replaced(star, field->name);
        if (other != NULL) {
            status = add_column(c, other, other->name);
            continue;
        }
        hac_item item = *star;
        item.node = hac_node_new(&c->parser, HAC_NODE_COLUMN, star->source, star->first);
        if (item.node == NULL)
            return c->parser.status;
        item.node->name = field->name;
        item.node->n_name = strlen(field->name);
        status = add_column(c, &item, field->name);
    }
    return status;
}

static hac_status refuse_groups(hac_compiler *c, const hac_node *node)
{
    return hac_expr_fail(node->source, node->at, c->err,
                         "the SELECT of WITH computes columns of rows and makes no groups; write its result "
                         "with -o PART.parquet, and query that file");
}

static hac_status add_item(hac_compiler *c, hac_item *item, size_t before)
{
    c->checker.outputs = c->withs; /* an item may name those before it */
    c->checker.n_outputs = before;
    c->checker.outputs_last = true;
    hac_status status = hac_compile_check_item(c, item);
    if (status == HAC_OK && item->node->aggregates)
        return refuse_groups(c, item->node);
    const char *name = status != HAC_OK     ? NULL
                       : item->name != NULL ? item->name
                                            : hac_compile_own_text(c, item);
    if (status == HAC_OK && name == NULL)
        return hac_fail_no_memory(c->err);
    return status == HAC_OK ? add_column(c, item, name) : status;
}

static hac_status check_with_where(hac_compiler *c)
{
    if (c->with_where == NULL)
        return HAC_OK;
    c->checker.outputs = c->withs;
    c->checker.n_outputs = c->n_withs;
    c->checker.outputs_last = true;
    if ((c->with_where = hac_check(&c->checker, c->with_where)) == NULL)
        return c->parser.status;
    if (c->with_where->aggregates)
        return refuse_groups(c, c->with_where);
    return hac_compile_check_condition(c, c->with_where, &c->with_where_source);
}

hac_status hac_compile_with(hac_compiler *c)
{
    if (!hac_text_given(c->text->with_select))
        return HAC_OK;
    hac_status status = hac_compile_expand_columns(c, c->withs, &c->n_withs);
    if (status == HAC_OK)
        status = check_with_where(c);
    if (status != HAC_OK)
        return status;
    c->scope = hac_arena_alloc(&c->arena, (c->n_withs * c->schema.n_fields + c->n_withs) * sizeof *c->scope);
    if (c->scope == NULL)
        return hac_fail_no_memory(c->err);
    for (size_t i = 0; i < c->n_withs && status == HAC_OK; i++)
        status =
            c->withs[i].node->kind == HAC_NODE_STAR ? add_all(c, &c->withs[i]) : add_item(c, &c->withs[i], i);
    c->checker.outputs = NULL;
    c->checker.n_outputs = 0;
    c->checker.scope = c->scope;
    c->checker.n_scope = c->n_scope;
    return status;
}
