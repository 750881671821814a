/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of items. */
#include "instead_of_sql.h"
#include "parser.h"

static bool item_name(hac_parser *p, hac_item *item)
{
    size_t bytes = 0, at = hac_parser_at(p);
    if (p->token.kind != HAC_TOKEN_NAME && p->token.kind != HAC_TOKEN_QUOTED) {
        hac_parser_unexpected(p, "a name");
        return false;
    }
    item->name = hac_parser_take_name(p, false, &bytes);
    if (item->name != NULL && (bytes == 0 || bytes >= HAC_FIELD_NAME_MAX))
        (void)hac_parser_fail(p, at, "a column's name has 1 to %d bytes", HAC_FIELD_NAME_MAX - 1);
    return p->status == HAC_OK;
}

enum { EXCLUDED_MAX = 256, REPLACED_MAX = 64 };

/* `exclude a`, `exclude (a, b)`; `except` is the same word to other databases. */
static bool excluded_names(hac_parser *p, hac_item *item)
{
    size_t bytes;
    bool list = hac_parser_advance(p) && hac_parser_is_symbol(p, "(");
    item->excluded = hac_parser_memory(p, EXCLUDED_MAX * sizeof *item->excluded);
    if (item->excluded == NULL || p->status != HAC_OK || (list && !hac_parser_advance(p)))
        return false;
    do {
        if (p->token.kind != HAC_TOKEN_NAME && p->token.kind != HAC_TOKEN_QUOTED) {
            hac_parser_unexpected(p, "the name of a column");
            return false;
        }
        if (item->n_excluded == EXCLUDED_MAX)
            return hac_parser_fail(p, hac_parser_at(p), "more than %d columns are left out", EXCLUDED_MAX) !=
                   NULL;
        if ((item->excluded[item->n_excluded++] = hac_parser_take_name(p, false, &bytes)) == NULL)
            return false;
    } while (list && hac_parser_is_symbol(p, ",") && hac_parser_advance(p));
    return list ? hac_parser_expect_symbol(p, ")", "',' or ')'") : p->status == HAC_OK;
}

/* A new item of the star, which stands for another column: f(a) as a, or a as b. */
static hac_item *other_item(hac_parser *p, hac_item *star)
{
    if (star->replaced == NULL)
        star->replaced = hac_parser_memory(p, REPLACED_MAX * sizeof *star->replaced);
    if (star->replaced == NULL)
        return NULL;
    if (star->n_replaced == REPLACED_MAX) {
        (void)hac_parser_fail(p, hac_parser_at(p), "more than %d columns are replaced or renamed",
                              REPLACED_MAX);
        return NULL;
    }
    hac_item *item = &star->replaced[star->n_replaced++];
    *item = (hac_item){.source = p->source, .first = hac_parser_at(p)};
    return item;
}

/* The column of `a as b`. */
static bool renamed_column(hac_parser *p, hac_item *item)
{
    if (p->token.kind != HAC_TOKEN_NAME && p->token.kind != HAC_TOKEN_QUOTED)
        hac_parser_unexpected(p, "the name of a column");
    else
        item->node = hac_parse_value(p);
    if (p->status == HAC_OK && item->node->kind != HAC_NODE_COLUMN)
        return hac_parser_fail(p, item->first,
                               "rename: the name of a column stands before 'as'; replace (… as column) "
                               "computes one") != NULL;
    item->renames = p->status == HAC_OK ? item->node->name : NULL;
    return p->status == HAC_OK;
}

static bool replaced_value(hac_parser *p, hac_item *item)
{
    item->node = hac_parse_value(p);
    return item->node != NULL;
}

/* `replace (f(a) as a, …)`, `replace f(a) as a`: items with the names of columns; `rename (a as b, …)`. */
static bool other_items(hac_parser *p, hac_item *star, bool rename)
{
    bool list = hac_parser_advance(p) && hac_parser_is_symbol(p, "(");
    if (p->status != HAC_OK || (list && !hac_parser_advance(p)))
        return false;
    do {
        hac_item *item = other_item(p, star);
        if (item == NULL || !(rename ? renamed_column(p, item) : replaced_value(p, item)) ||
            !hac_parser_expect_word(p, "as",
                                    rename ? "'as' and the new name" : "'as' and the name of a column") ||
            !item_name(p, item))
            return false;
    } while (list && hac_parser_is_symbol(p, ",") && hac_parser_advance(p));
    return list ? hac_parser_expect_symbol(p, ")", "',' or ')'") : p->status == HAC_OK;
}

static bool star_item(hac_parser *p, hac_item *item)
{
    item->node = hac_node_here(p, HAC_NODE_STAR, hac_parser_at(p));
    if (item->node == NULL || !hac_parser_advance(p))
        return false;
    bool exclude = hac_parser_is_word(p, "exclude") || hac_parser_is_word(p, "except");
    if (exclude && !excluded_names(p, item))
        return false;
    if (hac_parser_is_word(p, "replace") && !other_items(p, item, false))
        return false;
    return !hac_parser_is_word(p, "rename") || other_items(p, item, true);
}

/* asc, desc; nulls first, nulls last */
static bool item_direction(hac_parser *p, hac_item *item)
{
    if (hac_parser_is_word(p, "asc") || hac_parser_is_word(p, "desc")) {
        item->descending = hac_parser_is_word(p, "desc");
        if (!hac_parser_advance(p))
            return false;
    }
    if (!hac_parser_is_word(p, "nulls"))
        return true;
    if (!hac_parser_advance(p))
        return false;
    item->nulls_first = hac_parser_is_word(p, "first");
    return item->nulls_first ? hac_parser_advance(p) : hac_parser_expect_word(p, "last", "'first' or 'last'");
}

/* Whether a name without `as` stands here. */
static bool is_bare_name(const hac_parser *p)
{
    return p->token.kind == HAC_TOKEN_QUOTED ||
           (p->token.kind == HAC_TOKEN_NAME && !hac_parser_is_reserved(p) &&
            hac_instead_of_sql(&p->token, p->source->text)[0] == '\0');
}

static bool parse_item(hac_parser *p, unsigned flags, hac_item *item)
{
    *item = (hac_item){.source = p->source, .first = hac_parser_at(p)};
    if ((flags & HAC_ITEM_STAR) != 0 && hac_parser_is_symbol(p, "*"))
        return star_item(p, item);
    item->node = hac_parse_value(p);
    item->end = hac_parser_at(p);
    if (item->node == NULL)
        return false;
    if ((flags & HAC_ITEM_NAMES) != 0 && hac_parser_is_word(p, "as"))
        return hac_parser_advance(p) && item_name(p, item);
    if ((flags & HAC_ITEM_BARE_NAMES) != 0 && is_bare_name(p))
        return item_name(p, item);
    return (flags & HAC_ITEM_DIRECTIONS) == 0 || item_direction(p, item);
}

hac_status hac_parse_items(hac_parser *p, const hac_expr_source *source, unsigned flags, size_t max,
                           hac_item *ret, size_t *ret_n)
{
    size_t n = 0;
    if (!hac_parser_begin(p, source))
        return p->status;
    for (;;) {
        if (n == max) {
            (void)hac_parser_fail(p, hac_parser_at(p), "more than %zu items", max);
            return p->status;
        }
        if (!parse_item(p, flags, &ret[n++]))
            return p->status;
        if (p->token.kind == HAC_TOKEN_END)
            break;
        if (!hac_parser_is_symbol(p, ",")) {
            hac_parser_unexpected(p, (flags & HAC_ITEM_NAMES) != 0 ? "an operator, 'as', ',' or the end"
                                     : (flags & HAC_ITEM_DIRECTIONS) != 0
                                         ? "'asc', 'desc', 'nulls', ',' or the end"
                                         : "an operator, ',' or the end");
            return p->status;
        }
        if (!hac_parser_advance(p))
            return p->status;
        if (p->token.kind == HAC_TOKEN_END && (flags & HAC_ITEM_BARE_NAMES) != 0)
            break; /* SELECT a, b, FROM … */
    }
    *ret_n = n;
    return HAC_OK;
}
