/* SPDX-License-Identifier: Apache-2.0 */
/* What the texts of a query say before the columns of its source are known. */
#include <string.h>

#include "compile.h"

bool hac_query_text_aggregates(const hac_query_text *text)
{
    hac_error unused;
    hac_compiler *c = hac_compiler_new(text, &unused);
    if (c == NULL)
        return false;
    bool aggregates = hac_compile_check_texts(text, &unused) == HAC_OK && hac_compile_parse(c) == HAC_OK &&
                      (c->n_keys > 0 || c->having != NULL || text->distinct);
    c->pass++;
    for (size_t i = 0; i < c->n_selects; i++)
        aggregates |= hac_compile_calls_aggregate(c, c->selects[i].node);
    hac_compiler_free(c);
    return aggregates;
}

/* Whether an expression has the name of a column that is neither in the schema nor an item's own name. */
static bool names_other(hac_compiler *c, const hac_node *node)
{
    bool other = node->kind == HAC_NODE_COLUMN && hac_schema_find(&c->schema, node->name, node->n_name) < 0 &&
                 hac_schema_find(&c->path, node->name, node->n_name) < 0;
    for (size_t i = 0; other && node->kind == HAC_NODE_COLUMN && i < c->n_keys + c->n_selects; i++) {
        const hac_item *item = i < c->n_keys ? &c->keys[i] : &c->selects[i - c->n_keys];
        other = item->name == NULL || strlen(item->name) != node->n_name ||
                memcmp(item->name, node->name, node->n_name) != 0;
    }
    for (size_t i = 0; i < node->n_args && !other; i++)
        other = names_other(c, node->args[i]);
    return other;
}

static bool any_names_other(hac_compiler *c)
{
    /* a name of WITH may stand for any column */
    bool other = (c->n_selects == 0 && c->n_keys == 0) || c->n_withs > 0 ||
                 (c->where != NULL && names_other(c, c->where)) ||
                 (c->having != NULL && names_other(c, c->having));
    for (size_t i = 0; i < c->n_keys && !other; i++)
        other = names_other(c, c->keys[i].node);
    for (size_t i = 0; i < c->n_selects && !other; i++)
        other = c->selects[i].node->kind == HAC_NODE_STAR ||
                hac_compile_names_columns(c, c->selects[i].node) || names_other(c, c->selects[i].node);
    for (size_t i = 0; i < c->n_orders && !other; i++)
        other = names_other(c, c->orders[i].node);
    for (size_t i = 0; i < c->n_limit_bys && !other; i++)
        other = names_other(c, c->limit_bys[i].node);
    return other;
}

bool hac_query_text_names_other(const hac_query_text *text)
{
    hac_error unused;
    hac_compiler *c = hac_compiler_new(text, &unused);
    if (c == NULL)
        return false;
    bool other = hac_compile_check_texts(text, &unused) == HAC_OK && hac_compile_parse(c) == HAC_OK &&
                 hac_compile_read_path(c) == HAC_OK &&
                 hac_schema_parse(text->schema, &c->schema, &unused) == HAC_OK && any_names_other(c);
    hac_compiler_free(c);
    return other;
}

static bool any_excludes(const hac_item *items, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (items[i].n_excluded > 0)
            return true;
    return false;
}

bool hac_query_text_excludes(const hac_query_text *text)
{
    hac_error unused;
    hac_compiler *c = hac_compiler_new(text, &unused);
    if (c == NULL)
        return false;
    bool excludes = hac_compile_check_texts(text, &unused) == HAC_OK && hac_compile_parse(c) == HAC_OK &&
                    (any_excludes(c->selects, c->n_selects) || any_excludes(c->withs, c->n_withs));
    hac_compiler_free(c);
    return excludes;
}
