/* SPDX-License-Identifier: Apache-2.0 */
/* Splits a text into tokens. A token points into the text; nothing is copied. */
#ifndef EXPR_LEXER_H
#define EXPR_LEXER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/* One of the texts of a query. */
typedef struct hac_expr_source {
    const char *option; /* where the text comes from: "--where"; "": unknown */
    const char *text;
    size_t *character; /* receives the position of a failure; NULL: the message has the position */
} hac_expr_source;

/* Fails with HAC_INVALID and "--where: character 7: " before the message. `at` is a byte offset; characters
 * are counted from 1. */
hac_status hac_expr_fail(const hac_expr_source *source, size_t at, hac_error *err, const char *fmt, ...)
    HAC_PRINTF(4, 5);

typedef enum hac_token_kind {
    HAC_TOKEN_END = 0,
    HAC_TOKEN_NAME,   /* without quotes */
    HAC_TOKEN_QUOTED, /* "…", quotes included */
    HAC_TOKEN_STRING, /* '…', quotes included */
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

/* Reads the next token. At the end it is HAC_TOKEN_END, again and again. HAC_INVALID: no token begins here.
 * */
HAC_MUST_USE hac_status hac_lexer_next(hac_lexer *lexer, hac_token *ret, hac_error *err);

/* Whether the token is that name without quotes; case does not matter. */
bool hac_token_is_word(const hac_token *token, const char *word);
/* Whether the token is a word of the language, which names a column only in quotes. */
bool hac_token_is_reserved(const hac_token *token);
bool hac_token_is_symbol(const hac_token *token, const char *symbol);

/* Copies a quoted name or string without its quotes, and with single instead of doubled quotes inside. `ret`
 * has room for token->bytes. Returns the length. */
size_t hac_token_unquote(const hac_token *token, char *ret);

/* Names have letters, digits, _ and bytes ≥ 0x80, and do not start with a digit. */
bool hac_is_name_start(char c);
bool hac_is_name_part(char c);

#endif
