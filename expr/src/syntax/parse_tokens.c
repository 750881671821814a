/* SPDX-License-Identifier: Apache-2.0 */
#include "parse_tokens.h"

#include <string.h>

#include "instead_of_sql.h"

size_t hac_parser_at(const hac_parser *p)
{
    return (size_t)(p->token.text - p->source->text);
}

bool hac_parser_advance(hac_parser *p)
{
    if (p->status == HAC_OK)
        p->status = hac_lexer_next(&p->lexer, &p->token, p->err);
    return p->status == HAC_OK;
}

bool hac_parser_is_word(const hac_parser *p, const char *word)
{
    return hac_token_is_word(&p->token, word);
}

bool hac_parser_is_symbol(const hac_parser *p, const char *symbol)
{
    return hac_token_is_symbol(&p->token, symbol);
}

/* The token behind the next one. */
hac_token hac_parser_peek(const hac_parser *p)
{
    hac_lexer lexer = p->lexer;
    hac_token token = {.kind = HAC_TOKEN_END};
    if (hac_lexer_next(&lexer, &token, NULL) != HAC_OK)
        token.kind = HAC_TOKEN_END; /* the error is reported when the parser gets there */
    return token;
}

void *hac_parser_unexpected(hac_parser *p, const char *expected)
{
    if (p->status != HAC_OK)
        return NULL;
    if (p->token.kind == HAC_TOKEN_END)
        return hac_parser_fail(p, hac_parser_at(p), "expected %s, but the text ends here", expected);
    return hac_parser_fail(p, hac_parser_at(p), "expected %s, found %s%.*s%s%s", expected,
                           p->token.text[0] == '\'' ? "" : "'", (int)p->token.bytes, p->token.text,
                           p->token.text[0] == '\'' ? "" : "'",
                           hac_instead_of_sql(&p->token, p->source->text));
}

bool hac_parser_expect_symbol(hac_parser *p, const char *symbol, const char *expected)
{
    if (!hac_parser_is_symbol(p, symbol)) {
        hac_parser_unexpected(p, expected);
        return false;
    }
    return hac_parser_advance(p);
}

bool hac_parser_expect_word(hac_parser *p, const char *word, const char *expected)
{
    if (!hac_parser_is_word(p, word)) {
        hac_parser_unexpected(p, expected);
        return false;
    }
    return hac_parser_advance(p);
}

void *hac_parser_memory(hac_parser *p, size_t bytes)
{
    void *ret = hac_arena_alloc(p->arena, bytes);
    if (ret == NULL && p->status == HAC_OK)
        p->status = hac_fail(p->err, HAC_NO_MEMORY, "out of memory, or an expression that is too large");
    return ret;
}

/* ---- nodes ---- */

hac_node *hac_parser_too_long(hac_parser *p, const hac_expr_source *source, size_t at)
{
    p->status = hac_expr_fail(source, at, p->err, "the query is too long (over %d parts)", HAC_NODES_MAX);
    return NULL;
}

hac_node *hac_node_new(hac_parser *p, hac_node_kind kind, const hac_expr_source *source, size_t at)
{
    if (p->nodes == HAC_NODES_MAX)
        return hac_parser_too_long(p, source, at);
    p->nodes++;
    hac_node *node = hac_parser_memory(p, sizeof *node);
    if (node == NULL)
        return NULL;
    node->kind = (uint8_t)kind;
    node->source = source;
    node->at = (uint32_t)at;
    node->depth = 1;
    node->column = -1;
    return node;
}

hac_node *hac_node_null(hac_parser *p, const hac_expr_source *source, size_t at)
{
    hac_node *node = hac_node_new(p, HAC_NODE_LITERAL, source, at);
    if (node != NULL)
        node->literal.null = true;
    return node;
}

hac_node *hac_node_here(hac_parser *p, hac_node_kind kind, size_t at)
{
    return hac_node_new(p, kind, p->source, at);
}

hac_node *hac_parser_too_deep(hac_parser *p, size_t at)
{
    return hac_parser_fail(p, at, "nested too deeply (over %d levels)", HAC_NODE_DEPTH_MAX);
}

hac_node *hac_node_call(hac_parser *p, const char *name, size_t at, size_t n_args, hac_node *const *args)
{
    hac_node *node = hac_node_here(p, HAC_NODE_CALL, at);
    if (node == NULL)
        return NULL;
    node->name = name;
    node->n_name = strlen(name);
    node->args = hac_parser_memory(p, (n_args + 1) * sizeof *node->args);
    if (node->args == NULL)
        return NULL;
    node->n_args = n_args;
    for (size_t i = 0; i < n_args; i++) {
        if (args[i] == NULL)
            return NULL;
        node->args[i] = args[i];
        if (args[i]->depth >= node->depth)
            node->depth = (uint16_t)(args[i]->depth + 1);
    }
    return node->depth > HAC_NODE_DEPTH_MAX ? hac_parser_too_deep(p, at) : node;
}

const char *hac_parser_take_name(hac_parser *p, bool lower, size_t *ret_bytes)
{
    char *name = hac_parser_memory(p, p->token.bytes + 1);
    if (name == NULL)
        return NULL;
    size_t n = p->token.bytes;
    if (p->token.kind == HAC_TOKEN_QUOTED)
        n = hac_token_unquote(&p->token, name);
    else
        memcpy(name, p->token.text, n);
    for (size_t i = 0; lower && i < n; i++)
        if (name[i] >= 'A' && name[i] <= 'Z')
            name[i] = (char)(name[i] + 32);
    name[n] = '\0';
    *ret_bytes = n;
    return hac_parser_advance(p) ? name : NULL;
}

const char *hac_reserved_word(size_t index)
{
    static const char *const words[] = {"and",  "or",   "not",  "in",   "is", "like", "ilike", "between",
                                        "case", "when", "then", "else", "as", "null", "true",  "false"};
    return index < sizeof words / sizeof *words ? words[index] : NULL;
}

bool hac_parser_is_reserved(const hac_parser *p)
{
    return hac_token_is_reserved(&p->token);
}

bool hac_parser_begin(hac_parser *p, const hac_expr_source *source)
{
    p->source = source;
    p->lexer = (hac_lexer){source, source->text};
    p->depth = 0;
    p->status = HAC_OK;
    return hac_parser_advance(p);
}
