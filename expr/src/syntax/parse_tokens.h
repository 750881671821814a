/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tokens that the parser reads, and the nodes that it makes. After a failure, the functions return NULL
 * or false, and parser->status has the failure.
 */
#ifndef EXPR_PARSE_TOKENS_H
#define EXPR_PARSE_TOKENS_H

#include "tree.h"

typedef struct hac_parser {
    hac_arena *arena;
    hac_error *err;
    hac_status status;
    const hac_expr_source *source;
    hac_lexer lexer;
    hac_token token; /* the next token */
    size_t nodes;    /* nodes of all texts so far */
    unsigned depth;
} hac_parser;

/* Fails with the message at the byte offset of the parser's text; NULL. */
#define hac_parser_fail(p, offset, ...)                                                                      \
    ((p)->status = hac_expr_fail((p)->source, (offset), (p)->err, __VA_ARGS__), (void *)NULL)

/* Begins with another text. False: its first token is none. */
bool hac_parser_begin(hac_parser *p, const hac_expr_source *source);
/* The byte offset of the next token. */
size_t hac_parser_at(const hac_parser *p);
/* Leaves the next token behind. */
bool hac_parser_advance(hac_parser *p);
/* What the next token is. */
bool hac_parser_is_word(const hac_parser *p, const char *word);
bool hac_parser_is_symbol(const hac_parser *p, const char *symbol);
/* A word of the language, which cannot be a name without quotes. */
bool hac_parser_is_reserved(const hac_parser *p);
/* NULL: there are no more. */
const char *hac_reserved_word(size_t index);
/* The token behind the next one. */
hac_token hac_parser_peek(const hac_parser *p);
/* Fails because the next token is not what is `expected`; NULL. */
void *hac_parser_unexpected(hac_parser *p, const char *expected);
/* Takes a token, or fails: `expected` says in words what is missing. */
bool hac_parser_expect_symbol(hac_parser *p, const char *symbol, const char *expected);
bool hac_parser_expect_word(hac_parser *p, const char *word, const char *expected);
/* Takes a name, without its quotes, and in lower case if `lower`. */
const char *hac_parser_take_name(hac_parser *p, bool lower, size_t *ret_bytes);

/* Memory of the arena; NULL: there is no more. */
void *hac_parser_memory(hac_parser *p, size_t bytes);

/* Makes a node; the checker uses it, too. */
hac_node *hac_node_new(hac_parser *p, hac_node_kind kind, const hac_expr_source *source, size_t at);
/* A null without type. */
hac_node *hac_node_null(hac_parser *p, const hac_expr_source *source, size_t at);
/* As hac_node_new, of the parser's text. */
hac_node *hac_node_here(hac_parser *p, hac_node_kind kind, size_t at);
/* A NULL among the arguments gives NULL. There is space for one more argument. */
hac_node *hac_node_call(hac_parser *p, const char *name, size_t at, size_t n_args, hac_node *const *args);
/* hac_node_call with the arguments behind `at`. */
#define hac_call(p, name, at, ...)                                                                           \
    hac_node_call((p), (name), (at), sizeof((hac_node *[]){__VA_ARGS__}) / sizeof(hac_node *),               \
                  (hac_node *[]){__VA_ARGS__})
hac_node *hac_parser_too_deep(hac_parser *p, size_t at);
/* Fails because there are too many nodes; NULL. */
hac_node *hac_parser_too_long(hac_parser *p, const hac_expr_source *source, size_t at);

#endif
