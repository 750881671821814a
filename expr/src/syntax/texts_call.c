/* SPDX-License-Identifier: Apache-2.0 */
#include "texts_call.h"

#include <string.h>

#include "expr/aggregate.h"
#include "parse_literals.h"

const char *hac_texts_name(const char *name)
{
    static const char *const names[][2] = {{"string_agg", "string_agg"},
                                           {"listagg", "string_agg"},
                                           {"group_concat", "string_agg"},
                                           {"list", "list"},
                                           {"array_agg", "list"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i][0], name) == 0)
            return names[i][1];
    return NULL;
}

static hac_node *text(hac_parser *p, const hac_expr_source *source, size_t at, const char *bytes, size_t n)
{
    hac_node *node = hac_node_new(p, HAC_NODE_LITERAL, source, at);
    if (node != NULL) {
        node->type.kind = HAC_KIND_STRING;
        node->literal.bytes = bytes;
        node->literal.n_bytes = n;
    }
    return node;
}

hac_node *hac_texts_call(hac_parser *p, const char *name, size_t at, hac_node *value, hac_node *separator,
                         unsigned flags, hac_node *key)
{
    if (separator == NULL)
        separator = text(p, p->source, at, ",", 1);
    hac_node *number = hac_whole_number(p, at, flags);
    return key != NULL ? hac_call(p, name, at, value, separator, number, key)
                       : hac_call(p, name, at, value, separator, number);
}

/* The value as text. */
static hac_node *as_text(hac_parser *p, hac_node *value)
{
    if (value->type.kind == HAC_KIND_STRING)
        return value;
    hac_node *cast = hac_call(p, "cast", value->at, value);
    if (cast != NULL) {
        cast->kind = HAC_NODE_CAST;
        cast->type.kind = HAC_KIND_STRING;
    }
    return cast;
}

/* The value as an element of a list: text with one double quote before it, which says that it goes in double
 * quotes, or as it is. */
static hac_node *as_element(hac_parser *p, const hac_expr_source *source, hac_node *value, bool nested)
{
    bool plain = nested || value->type.kind == HAC_KIND_BOOL ||
                 hac_kinds[value->type.kind].class == HAC_CLASS_INTEGER ||
                 hac_kinds[value->type.kind].class == HAC_CLASS_FLOAT ||
                 hac_kinds[value->type.kind].class == HAC_CLASS_DECIMAL;
    hac_node *element = as_text(p, value);
    if (!plain)
        element = hac_call(p, "||", value->at, text(p, source, value->at, "\"", 1), element);
    return hac_call(p, "coalesce", value->at, element, text(p, source, value->at, "null", 4));
}

/* The value with one zero: -0.0 and 0.0 are equal, and DISTINCT compares texts. */
static hac_node *with_one_zero(hac_parser *p, hac_node *value)
{
    hac_node *zero = hac_call(p, "cast", value->at, hac_whole_number(p, value->at, 0));
    if (zero == NULL)
        return NULL;
    zero->kind = HAC_NODE_CAST;
    zero->type = value->type;
    hac_node *test = hac_call(p, "=", value->at, value, zero);
    hac_node *ret = hac_call(p, "if", value->at, test, zero, value);
    if (ret != NULL)
        ret->type = value->type;
    return ret;
}

bool hac_texts_arguments(hac_parser *p, hac_node *call, bool nested)
{
    hac_node *value = call->args[0], *separator = call->args[1], *flags = call->args[2];
    hac_node *key = call->n_args > 3 ? call->args[3] : NULL;
    const hac_expr_source *before = p->source;
    p->source = call->source; /* of the nodes that are made */
    bool list = strcmp(call->name, "list") == 0;
    bool floats = hac_kinds[value->type.kind].class == HAC_CLASS_FLOAT;
    if (floats && list && (flags->literal.integer & HAC_TEXTS_DISTINCT) != 0 &&
        (value = with_one_zero(p, value)) == NULL) {
        p->source = before;
        return false;
    }
    hac_node *element = list ? as_element(p, call->source, value, nested) : as_text(p, value);
    hac_node *whole = hac_call(p, "||", value->at, separator, element);
    hac_node *k = hac_whole_number(p, call->at, (int64_t)separator->literal.n_bytes + 1);
    p->source = before;
    if (whole == NULL || k == NULL)
        return false;
    size_t n = 0;
    call->args[n++] = whole;
    if (key != NULL)
        call->args[n++] = key;
    call->args[n++] = k;
    call->args[n++] = flags;
    call->n_args = n;
    return true;
}
