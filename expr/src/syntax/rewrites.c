/* SPDX-License-Identifier: Apache-2.0 */
#include "rewrites.h"

#include <stdio.h>
#include <string.h>

#include "machine/utf8_case.h"
#include "parse_literals.h"

hac_node *hac_rewrite_same(hac_parser *p, size_t at, hac_node *a, hac_node *b)
{
    hac_node *equal = hac_call(p, "=", at, a, b);
    hac_node *nulls = hac_call(p, "and", at, hac_call(p, "is null", at, a), hac_call(p, "is null", at, b));
    return hac_call(p, "coalesce", at, equal, nulls);
}

static hac_node *boolean(hac_parser *p, size_t at, bool value)
{
    hac_node *node = hac_node_here(p, HAC_NODE_LITERAL, at);
    if (node != NULL) {
        node->type.kind = HAC_KIND_BOOL;
        node->literal.integer = value;
    }
    return node;
}

hac_node *hac_rewrite_is(hac_parser *p, size_t at, hac_node *a, bool value)
{
    hac_node *opposite = hac_call(p, "not", at, a); /* which takes conditions only */
    hac_node *test = hac_call(p, "coalesce", at, opposite, boolean(p, at, value));
    return value ? hac_call(p, "not", at, test) : test;
}

static hac_node *text(hac_parser *p, size_t at, const char *bytes, size_t n)
{
    hac_node *node = hac_node_here(p, HAC_NODE_LITERAL, at);
    if (node != NULL) {
        node->type.kind = HAC_KIND_STRING;
        node->literal.bytes = bytes;
        node->literal.n_bytes = n;
    }
    return node;
}

/* Joins all arguments, each with a separator before it, and cuts off the first separator. `concat` leaves
 * out nulls. */
hac_node *hac_rewrite_concat_ws(hac_parser *p, size_t at, hac_node *const *args, size_t n)
{
    if (n < 2)
        return hac_parser_fail(p, at, "write concat_ws(separator, a, …)");
    hac_node **parts = hac_parser_memory(p, n * sizeof *parts);
    if (parts == NULL)
        return NULL;
    for (size_t i = 1; i < n; i++) {
        hac_node *part = hac_call(p, "concat", at, args[0], args[i]);
        parts[i - 1] =
            hac_call(p, "if", at, hac_call(p, "is null", at, args[i]), hac_parse_null(p, at), part);
    }
    hac_node *all = hac_node_call(p, "concat", at, n - 1, parts);
    hac_node *from = hac_call(p, "+", at, hac_call(p, "length", at, args[0]), hac_whole_number(p, at, 1));
    return hac_call(p, "substr", at, all, from);
}

/* The characters as a class of a regular expression. Returns its bytes. */
static size_t class_of(const hac_literal *characters, char *ret)
{
    size_t used = 0;
    ret[used++] = '[';
    for (size_t i = 0; i < characters->n_bytes; i++) {
        if (strchr("\\]^-[", characters->bytes[i]) != NULL && characters->bytes[i] != '\0')
            ret[used++] = '\\';
        ret[used++] = characters->bytes[i];
    }
    ret[used++] = ']';
    return used;
}

hac_node *hac_rewrite_trim(hac_parser *p, size_t at, const char *name, hac_node *a, hac_node *characters)
{
    if (!hac_node_is_text(characters))
        return hac_parser_fail(p, at, "%s takes a constant text behind its first argument: %s(a, 'xyz')",
                               name, name);
    if (characters->literal.n_bytes == 0) /* not `a` itself, which may be no text */
        return hac_call(p, "substr", at, a, hac_whole_number(p, at, 1));
    size_t class = 2 * characters->literal.n_bytes + 2, used = 0;
    char *pattern = hac_parser_memory(p, 2 * class + 8);
    if (pattern == NULL)
        return NULL;
    bool left = name[0] != 'r', right = name[0] != 'l';
    if (left) {
        pattern[used++] = '^';
        used += class_of(&characters->literal, pattern + used);
        pattern[used++] = '+';
    }
    if (left && right)
        pattern[used++] = '|';
    if (right) {
        used += class_of(&characters->literal, pattern + used);
        memcpy(pattern + used, "+$", 2);
        used += 2;
    }
    return hac_call(p, "regexp_replace", at, a, text(p, at, pattern, used), text(p, at, "", 0),
                    text(p, at, "g", 1));
}

/* Turns a constant share into 1 - share. */
static bool turn_share(hac_literal *share, hac_value_type type)
{
    __int128 one = 1;
    for (unsigned i = 0; type.kind == HAC_KIND_DECIMAL && i < type.scale; i++)
        one *= 10;
    if (type.kind == HAC_KIND_F64)
        share->real = 1 - share->real;
    else
        share->integer = one - share->integer;
    return type.kind == HAC_KIND_F64 || type.kind == HAC_KIND_DECIMAL || hac_kind_is_integer(type.kind);
}

hac_node *hac_rewrite_within_group(hac_parser *p, size_t at, hac_node *call, hac_node *value, bool descending)
{
    bool cont = strcmp(call->name, "percentile_cont") == 0 || strcmp(call->name, "quantile_cont") == 0;
    if (strcmp(call->name, "mode") == 0 && call->n_args == 0 && !descending)
        return hac_call(p, "mode", call->at, value);
    bool disc = strcmp(call->name, "percentile_disc") == 0 && !descending;
    if (!(cont || disc) || call->n_args != 1 || call->args[0]->kind != HAC_NODE_LITERAL)
        return hac_parser_fail(p, at,
                               "within group follows percentile_cont(share), percentile_disc(share), "
                               "ascending, and mode(); write "
                               "quantile(x, 0.5), mode(x) or top_k(x, k)");
    hac_node *share = call->args[0];
    if (descending && !turn_share(&share->literal, share->type))
        return hac_parser_fail(p, share->at, "expected a share from 0 to 1");
    return hac_call(p, disc ? "quantile_disc" : "quantile", call->at, value, share);
}

hac_node *hac_rewrite_json_number(hac_parser *p, hac_node *call)
{
    enum { PATH_MAX_BYTES = 32 };
    if (call == NULL || call->n_args != 2 || strncmp(call->name, "json_", 5) != 0)
        return call;
    const hac_node *path = call->args[1];
    if (path->kind != HAC_NODE_LITERAL || path->literal.null || path->type.kind != HAC_KIND_I64 ||
        strcmp(call->name, "json_element") == 0)
        return call;
    char *printed = hac_parser_memory(p, PATH_MAX_BYTES);
    if (printed == NULL)
        return NULL;
    int n = snprintf(printed, PATH_MAX_BYTES, "$[%lld]", (long long)path->literal.integer);
    call->args[1] = text(p, path->at, printed, (size_t)n);
    return call->args[1] != NULL ? call : NULL;
}

void hac_rewrite_lower(hac_parser *p, hac_node *node)
{
    if (node->kind != HAC_NODE_LITERAL || node->type.kind != HAC_KIND_STRING)
        return;
    size_t capacity = HAC_UTF8_CASE_GROWTH(node->literal.n_bytes);
    char *lower = hac_parser_memory(p, capacity + 1);
    if (lower == NULL)
        return;
    node->literal.n_bytes = hac_utf8_case((const uint8_t *)node->literal.bytes, node->literal.n_bytes, false,
                                          (uint8_t *)lower, capacity);
    node->literal.bytes = lower;
}
