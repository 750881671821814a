/* SPDX-License-Identifier: Apache-2.0 */
/* Items with columns('pattern') or columns(*): one item for each column whose name matches. */
#include "base/cleanup.h"
#include "base/suggest.h"
#include "compile.h"
#include "regexp/regexp.h"

HAC_DEFINE_CLEANUP(hac_regexp *, hac_regexp_free)

/* The first columns(…) of an expression; *ret_other is one with another pattern, if there is any. */
static void find_columns(hac_compiler *c, hac_node *node, const hac_node **ret, const hac_node **ret_other)
{
    if (node->pass == c->pass)
        return;
    node->pass = c->pass;
    if (node->kind == HAC_NODE_COLUMNS && *ret == NULL)
        *ret = node;
    bool all = node->name == NULL;
    if (node->kind == HAC_NODE_COLUMNS &&
        (all != ((*ret)->name == NULL) || (!all && strcmp(node->name, (*ret)->name) != 0)))
        *ret_other = node;
    for (size_t i = 0; i < node->n_args; i++)
        find_columns(c, node->args[i], ret, ret_other);
}

bool hac_compile_names_columns(hac_compiler *c, hac_node *node)
{
    const hac_node *found = NULL, *other = NULL;
    c->pass++;
    find_columns(c, node, &found, &other);
    return found != NULL;
}

/* The expression with a column in the place of columns(…). Parts that have none are shared. In the current
 * pass, `same` of a node that was visited leads to its copy. */
static hac_node *with_column(hac_compiler *c, hac_node *node, const char *name)
{
    hac_parser *p = &c->parser;
    if (node->pass == c->pass)
        return node->same != NULL ? node->same : node;
    node->pass = c->pass;
    node->same = NULL;
    if (node->kind == HAC_NODE_COLUMNS) {
        hac_node *column = hac_node_new(p, HAC_NODE_COLUMN, node->source, node->at);
        if (column == NULL)
            return NULL;
        column->name = name;
        column->n_name = strlen(name);
        return node->same = column;
    }
    hac_node **args = hac_parser_memory(p, (node->n_args + 1) * sizeof *args);
    bool differs = false;
    for (size_t i = 0; args != NULL && i < node->n_args; i++) {
        if ((args[i] = with_column(c, node->args[i], name)) == NULL)
            return NULL;
        differs |= args[i] != node->args[i];
    }
    if (args == NULL || !differs)
        return args == NULL ? NULL : node;
    hac_node *copy = hac_node_new(p, (hac_node_kind)node->kind, node->source, node->at);
    if (copy == NULL)
        return NULL;
    *copy = *node;
    copy->args = args;
    return node->same = copy;
}

/* The item's text, with the column's name in the place of the first columns(…). */
static const char *item_text(hac_compiler *c, const hac_item *item, const hac_node *columns, const char *name)
{
    const char *own = hac_compile_own_text(c, item);
    const char *at = own != NULL ? strcasestr(own, "columns(") : NULL;
    char *text = at != NULL ? hac_arena_alloc(&c->arena, HAC_FIELD_NAME_MAX) : NULL;
    if (text == NULL)
        return own;
    size_t pattern = columns->name != NULL ? columns->n_name + 2 : 1; /* with its quotes */
    const char *rest = at + strlen("columns(");
    rest += *rest == ' ';
    rest += strnlen(rest, pattern);
    rest += *rest == ' ';
    rest += *rest == ')';
    size_t before = (size_t)(at - own), n = strlen(name), after = strlen(rest);
    if (before + n + after >= HAC_FIELD_NAME_MAX)
        return own;
    memcpy(text, own, before);
    memcpy(text + before, name, n);
    memcpy(text + before + n, rest, after + 1);
    return text;
}

static hac_status add_matching(hac_compiler *c, const hac_item *item, const hac_node *columns,
                               const char *name, hac_item *ret, size_t *n)
{
    if (*n == HAC_PROGRAM_OUTPUTS_MAX)
        return hac_expr_fail(item->source, item->first, c->err, "more than %d items",
                             HAC_PROGRAM_OUTPUTS_MAX);
    c->pass++;
    hac_item one = *item;
    one.node = with_column(c, item->node, name);
    if (one.node == NULL)
        return c->parser.status;
    if (one.name == NULL && one.node->kind != HAC_NODE_COLUMN &&
        (one.name = item_text(c, item, columns, name)) == NULL)
        return hac_fail_no_memory(c->err);
    ret[(*n)++] = one;
    return HAC_OK;
}

static hac_status search(hac_compiler *c, const hac_node *columns, const hac_regexp *regexp, const char *name,
                         bool *ret)
{
    hac_regexp_found found =
        regexp == NULL ? HAC_REGEXP_FOUND : hac_regexp_matches(regexp, name, strlen(name));
    *ret = found == HAC_REGEXP_FOUND;
    return found != HAC_REGEXP_NO_MEMORY ? HAC_OK
                                         : hac_expr_fail(columns->source, columns->at, c->err,
                                                         "the regular expression takes too much memory");
}

/* Puts the items of all columns that match behind the `n` items of `ret`. */
static hac_status add_all_matching(hac_compiler *c, const hac_item *item, const hac_node *columns,
                                   hac_item *ret, size_t *n)
{
    char problem[HAC_REGEXP_PROBLEM_MAX], there[HAC_SUGGEST_TEXT_MAX];
    hac_cleanup(hac_regexp_free_cleanup) hac_regexp *regexp = NULL;
    if (columns->name != NULL &&
        (regexp = hac_regexp_new(columns->name, columns->n_name, 0, problem)) == NULL)
        return hac_expr_fail(columns->source, columns->at, c->err, "the regular expression: %s", problem);
    c->takes_all |= columns->name == NULL && c->scope == NULL;
    size_t before = *n, n_columns = c->scope != NULL ? c->n_scope : c->schema.n_fields;
    hac_status status = HAC_OK;
    for (size_t i = 0; i < n_columns && status == HAC_OK; i++) {
        const char *name = c->scope != NULL ? c->scope[i].name : c->schema.fields[i].name;
        bool readable = c->scope != NULL || c->schema.fields[i].type.kind != HAC_KIND_NONE, matches = false;
        if (!readable || name[0] == '\0')
            continue;
        status = search(c, columns, regexp, name, &matches);
        if (status == HAC_OK && matches)
            status = add_matching(c, item, columns, name, ret, n);
    }
    if (status != HAC_OK || *n > before)
        return status;
    return hac_expr_fail(columns->source, columns->at, c->err, "columns: no name matches; %s",
                         hac_compile_list_columns(c, "", there));
}

/* The condition for one column after the other, joined by `and`. */
static hac_status join_matching(hac_compiler *c, const hac_node *columns, const hac_item *items, size_t n)
{
    hac_parser *p = &c->parser;
    const hac_expr_source *before = p->source;
    p->source = columns->source;
    hac_node *all = n > 0 ? items[0].node : NULL;
    for (size_t i = 1; i < n && all != NULL; i++)
        all = hac_call(p, "and", columns->at, all, items[i].node);
    p->source = before;
    c->where = all;
    return all != NULL ? HAC_OK : p->status;
}

hac_status hac_compile_where_columns(hac_compiler *c)
{
    const hac_node *columns = NULL, *other = NULL;
    size_t n = 0;
    c->pass++;
    if (c->where != NULL)
        find_columns(c, c->where, &columns, &other);
    if (columns == NULL)
        return HAC_OK;
    if (other != NULL)
        return hac_expr_fail(other->source, other->at, c->err,
                             "columns with another pattern; a condition has one");
    hac_item *items = hac_parser_memory(&c->parser, HAC_PROGRAM_OUTPUTS_MAX * sizeof *items);
    if (items == NULL)
        return c->parser.status;
    const hac_item item = {
        .node = c->where, .name = "", .source = columns->source, .first = columns->at, .end = columns->at};
    hac_status status = add_all_matching(c, &item, columns, items, &n);
    return status == HAC_OK ? join_matching(c, columns, items, n) : status;
}

hac_status hac_compile_expand_columns(hac_compiler *c, hac_item *items, size_t *n)
{
    size_t made = 0;
    bool some = false;
    for (size_t i = 0; i < *n; i++)
        some |= hac_compile_names_columns(c, items[i].node);
    hac_item *all = some ? hac_parser_memory(&c->parser, HAC_PROGRAM_OUTPUTS_MAX * sizeof *all) : NULL;
    if (!some || all == NULL)
        return some ? c->parser.status : HAC_OK;
    for (size_t i = 0; i < *n; i++) {
        const hac_node *columns = NULL, *other = NULL;
        c->pass++;
        find_columns(c, items[i].node, &columns, &other);
        if (other != NULL)
            return hac_expr_fail(other->source, other->at, c->err,
                                 "columns with another pattern; an item has one");
        hac_status status = HAC_OK;
        if (columns != NULL)
            status = add_all_matching(c, &items[i], columns, all, &made);
        else if (made == HAC_PROGRAM_OUTPUTS_MAX)
            status = hac_expr_fail(items[i].source, items[i].first, c->err, "more than %d items",
                                   HAC_PROGRAM_OUTPUTS_MAX);
        else
            all[made++] = items[i];
        if (status != HAC_OK)
            return status;
    }
    memcpy(items, all, made * sizeof *items);
    *n = made;
    return HAC_OK;
}
