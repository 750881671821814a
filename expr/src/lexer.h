/* SPDX-License-Identifier: Apache-2.0 */
/* From text to tokens. A token is a slice of the text; nothing is copied. */
#ifndef EXPR_LEXER_H
#define EXPR_LEXER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/* One of the texts of a query, and the option that it came with ("--where"; "" for none). */
typedef struct hac_expr_source {
    const char *option;
    const char *text;
    size_t *character; /* where a failure is noted, instead of in its message; NULL: in the message */
} hac_expr_source;

/* Fails with "--where: character 7: " before the message; `at` is a byte offset, characters are counted from
 * 1. */
hac_status hac_expr_fail(const hac_expr_source *source, size_t at, hac_error *err, const char *fmt, ...)
    HAC_PRINTF(4, 5);

typedef enum hac_token_kind {
    HAC_TOKEN_END = 0,
    HAC_TOKEN_NAME,   /* bare */
    HAC_TOKEN_QUOTED, /* "…" with its quotes */
    HAC_TOKEN_STRING, /* '…' with its quotes */
    HAC_TOKEN_NUMBER,
    HAC_TOKEN_SYMBOL /* one or two characters */
} hac_token_kind;

typedef struct hac_token {
    hac_token_kind kind;
    const char *text;
    size_t bytes;
    bool real; /* a number with an exponent */
} hac_token;

typedef struct hac_lexer {
    const hac_expr_source *source;
    const char *at;
} hac_lexer;

/* The next token; at the end HAC_TOKEN_END for ever. HAC_INVALID: no token begins here. */
HAC_MUST_USE hac_status hac_lexer_next(hac_lexer *lexer, hac_token *ret, hac_error *err);

/* A bare name, compared without case. */
bool hac_token_is_word(const hac_token *token, const char *word);
bool hac_token_is_symbol(const hac_token *token, const char *symbol);

/* A quoted name or a string without its quotes, doubled ones made single; `ret` has room for token->bytes.
 * Returns the length. */
size_t hac_token_unquote(const hac_token *token, char *ret);

/* Letters, digits, _ and every byte from 0x80; a name may not start with a digit. */
bool hac_is_name_start(char c);
bool hac_is_name_part(char c);

#endif
