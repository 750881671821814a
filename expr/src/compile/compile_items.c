/* SPDX-License-Identifier: Apache-2.0 */
/* Items of lists and conditions, and the columns that they may name. */
#include "base/suggest.h"
#include "compile.h"

hac_status hac_compile_check_condition(hac_compiler *c, const hac_node *node, const hac_expr_source *source)
{
    char type[HAC_VALUE_TYPE_NAME_MAX];
    if (node->type.kind == HAC_KIND_BOOL || node->type.kind == HAC_KIND_NONE)
        return HAC_OK;
    return hac_expr_fail(source, 0, c->err, "a condition is true or false, and this is %s",
                         hac_value_type_name(node->type, type));
}

hac_status hac_compile_check_item(hac_compiler *c, hac_item *item)
{
    if (c->scope != NULL && item->name == NULL && item->node->kind == HAC_NODE_COLUMN)
        item->name = item->node->name; /* it may be another one in the source */
    hac_node *node = hac_check(&c->checker, item->node);
    if (node == NULL)
        return c->parser.status;
    if (node->type.kind == HAC_KIND_NONE)
        return hac_expr_fail(item->source, item->first, c->err,
                             "null has no type here; write cast(null as i64)");
    item->node = node;
    return HAC_OK;
}

const char *hac_compile_own_text(hac_compiler *c, const hac_item *item)
{
    if (item->node->kind == HAC_NODE_COLUMN && item->node->n_name > 0) /* not a part of a list */
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
    if (used == HAC_FIELD_NAME_MAX - 1) { /* do not cut in the middle of a character */
        used -= 3;
        while (used > 0 && ((unsigned char)name[used] & 0xc0) == 0x80)
            used--;
        memcpy(name + used, "...", 4);
    }
    return name;
}

static const char *name_in_scope(const void *list, size_t i)
{
    return ((const hac_item *)list)[i].name;
}

/* The column's own name, which may differ in case; NULL: there is none. */
static const char *column_name(const hac_compiler *c, const char *name)
{
    const hac_item *scope = c->checker.scope;
    int at = scope != NULL ? hac_find_name(scope, c->checker.n_scope, name_in_scope, name, strlen(name))
                           : hac_schema_find_any_case(&c->schema, name, strlen(name));
    return at < 0 ? NULL : scope != NULL ? scope[at].name : c->schema.fields[at].name;
}

bool hac_compile_has_column(const hac_compiler *c, const char *name)
{
    return column_name(c, name) != NULL;
}

const char *hac_compile_list_columns(const hac_compiler *c, const char *name, char *ret)
{
    return c->checker.scope != NULL
               ? hac_suggest_text(name, c->checker.scope, c->checker.n_scope, name_in_scope, ret)
               : hac_suggest_text(name, &c->schema, c->schema.n_fields, hac_field_name, ret);
}

bool hac_compile_is_excluded(const hac_item *star, const char *name)
{
    for (size_t i = 0; i < star->n_excluded; i++)
        if (strcmp(star->excluded[i], name) == 0)
            return true;
    return false;
}

const hac_item *hac_compile_replaced(const hac_item *star, const char *name)
{
    for (size_t i = 0; i < star->n_replaced; i++) {
        const hac_item *item = &star->replaced[i];
        if (strcmp(item->renames != NULL ? item->renames : item->name, name) == 0)
            return item;
    }
    return NULL;
}

/* Puts the column's own name in the place of one that may differ in case. */
static hac_status take_column_name(hac_compiler *c, const hac_item *item, const char *word, const char **name)
{
    char there[HAC_SUGGEST_TEXT_MAX];
    const char *own = column_name(c, *name);
    if (own == NULL)
        return hac_expr_fail(item->source, item->first, c->err, "%s: unknown column '%s'; %s", word, *name,
                             hac_compile_list_columns(c, *name, there));
    *name = own;
    return HAC_OK;
}

static hac_status check_replaced(hac_compiler *c, const hac_item *star, hac_item *item)
{
    const char *word = item->renames != NULL ? "rename" : "replace",
               **column = item->renames != NULL ? &item->renames : &item->name;
    hac_status status = take_column_name(c, item, word, column);
    if (status == HAC_OK && hac_compile_is_excluded(star, *column))
        return hac_expr_fail(item->source, item->first, c->err, "'%s' is both excluded and %sd", *column,
                             word);
    if (status == HAC_OK && hac_compile_replaced(star, *column) != item)
        return hac_expr_fail(
            item->source, item->first, c->err,
            "'%s' is named twice in replace and rename; write exclude (%s), and an item for it", *column,
            *column);
    if (status == HAC_OK)
        status = hac_compile_check_item(c, item);
    if (status == HAC_OK && item->node->aggregates)
        return hac_expr_fail(
            item->source, item->first, c->err,
            "'*' is all columns of a row, and aggregates are of groups; name what is wanted");
    return status;
}

hac_status hac_compile_check_star(hac_compiler *c, const hac_item *star)
{
    hac_status status = HAC_OK;
    for (size_t i = 0; i < star->n_excluded && status == HAC_OK; i++)
        status = take_column_name(c, star, "exclude", &star->excluded[i]);
    for (size_t i = 0; i < star->n_replaced && status == HAC_OK; i++)
        status = check_replaced(c, star, &star->replaced[i]);
    return status;
}
