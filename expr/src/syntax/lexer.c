/* SPDX-License-Identifier: Apache-2.0 */
#include "lexer.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "expr/expression.h"

hac_status hac_expr_fail(const hac_expr_source *source, size_t at, hac_error *err, const char *fmt, ...)
{
    char message[HAC_ERROR_MESSAGE_SIZE];
    va_list args;
    va_start(args, fmt);
    vsnprintf(message, sizeof message, fmt, args);
    va_end(args);
    size_t character = 1;
    for (size_t i = 0; i < at && source->text[i] != '\0'; i++)
        character += ((unsigned char)source->text[i] & 0xc0) != 0x80;
    if (source->character != NULL) {
        *source->character = character;
        return hac_fail(err, HAC_INVALID, "%s", message);
    }
    return hac_fail(err, HAC_INVALID, "%s%scharacter %zu: %s", source->option,
                    source->option[0] != '\0' ? ": " : "", character, message);
}

bool hac_is_name_start(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (unsigned char)c >= 0x80;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

bool hac_is_name_part(char c)
{
    return hac_is_name_start(c) || is_digit(c);
}

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Skips "…" or '…', in which quotes are doubled. NULL: there is no closing quote. */
static const char *skip_quoted(const char *at)
{
    char quote = *at++;
    for (;; at++) {
        if (*at == '\0')
            return NULL;
        if (*at == quote && *++at != quote)
            return at;
    }
}

static const char *skip_digits(const char *at)
{
    while (is_digit(*at))
        at++;
    return at;
}

/* 12, 1.5, .5, 1., 1e3, 1.5E-3 */
static const char *skip_number(const char *at, bool *ret_real)
{
    at = skip_digits(at);
    if (*at == '.')
        at = skip_digits(at + 1);
    *ret_real = false;
    if (*at == 'e' || *at == 'E') {
        const char *digits = at + (at[1] == '+' || at[1] == '-' ? 2 : 1);
        if (is_digit(*digits)) {
            *ret_real = true;
            at = skip_digits(digits);
        }
    }
    return at;
}

static size_t symbol_length(const char *at)
{
    static const char *const doubles[] = {
        "//", "==", "<>", "!=", "<=", ">=", "||", "::", "<<", ">>", "**", "->"};
    if (at[0] == '&' && at[1] == '&')
        return 0; /* not two operators */
    if (strncmp(at, "->>", 3) == 0)
        return 3;
    for (size_t i = 0; i < sizeof doubles / sizeof *doubles; i++)
        if (memcmp(at, doubles[i], 1) == 0 && at[1] == doubles[i][1])
            return 2;
    return strchr("+-*/%=<>(),:&|^[]", *at) != NULL ? 1 : 0;
}

static hac_status no_token(const hac_lexer *lexer, hac_error *err)
{
    size_t offset = (size_t)(lexer->at - lexer->source->text);
    char c = *lexer->at;
    if (c == '\'' || c == '"')
        return hac_expr_fail(lexer->source, offset, err, "the %s that begins here has no closing %c",
                             c == '"' ? "name" : "text", c);
    if (c == '~' || (c == '!' && lexer->at[1] == '~'))
        return hac_expr_fail(
            lexer->source, offset, err,
            "'~' is not part of an expression; write regexp_matches(a, '^(pattern)$'), or like");
    if (c == '{')
        return hac_expr_fail(lexer->source, offset, err, "there are no structs; members are columns: a.b");
    const char *word = c == '&' ? "and" : c == '!' ? "not" : NULL;
    if (word != NULL)
        return hac_expr_fail(lexer->source, offset, err, "'%.*s' is not part of an expression; write '%s'",
                             c == '&' ? 2 : 1, lexer->at, word);
    if (c == ';')
        return hac_expr_fail(lexer->source, offset, err, "';' is not part of an expression; leave it out");
    if ((unsigned char)c < 0x20 || c == 0x7f)
        return hac_expr_fail(lexer->source, offset, err, "the byte 0x%02x is not part of an expression",
                             (unsigned)(unsigned char)c);
    return hac_expr_fail(lexer->source, offset, err,
                         "'%c' is not part of an expression; a name with other characters than letters, "
                         "digits and _ goes in double quotes, text in single ones",
                         c);
}

hac_status hac_lexer_next(hac_lexer *lexer, hac_token *ret, hac_error *err)
{
    while (is_blank(*lexer->at))
        lexer->at++;
    const char *start = lexer->at, *end = start;
    hac_token token = {.kind = HAC_TOKEN_END, .text = start};
    if (hac_is_name_start(*start)) {
        token.kind = HAC_TOKEN_NAME;
        while (hac_is_name_part(*end) || (*end == '.' && hac_is_name_start(end[1])))
            end++;
    } else if (is_digit(*start) || (*start == '.' && is_digit(start[1]))) {
        token.kind = HAC_TOKEN_NUMBER;
        end = skip_number(start, &token.real);
        if (hac_is_name_part(*end) || *end == '.')
            return hac_expr_fail(lexer->source, (size_t)(start - lexer->source->text), err,
                                 "a number is followed by '%c' at once; names cannot start with a digit",
                                 (unsigned char)*end < 0x80 ? *end : '?');
    } else if (*start == '"' || *start == '\'') {
        token.kind = *start == '"' ? HAC_TOKEN_QUOTED : HAC_TOKEN_STRING;
        end = skip_quoted(start);
    } else if (*start != '\0') {
        token.kind = HAC_TOKEN_SYMBOL;
        end += symbol_length(start);
    }
    if (end == NULL || (end == start && *start != '\0'))
        return no_token(lexer, err);
    token.bytes = (size_t)(end - start);
    lexer->at = end;
    *ret = token;
    return HAC_OK;
}

bool hac_token_is_word(const hac_token *token, const char *word)
{
    return token->kind == HAC_TOKEN_NAME && strlen(word) == token->bytes &&
           strncasecmp(token->text, word, token->bytes) == 0;
}

bool hac_token_is_reserved(const hac_token *token)
{
    static const char *const words[] = {"and",  "or",   "not",  "in",   "is", "like", "ilike", "between",
                                        "case", "when", "then", "else", "as", "null", "true",  "false"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (hac_token_is_word(token, words[i]))
            return true;
    return false;
}

bool hac_expression_reserves(const char *name)
{
    const hac_token token = {HAC_TOKEN_NAME, name, strlen(name), false};
    return hac_token_is_reserved(&token);
}

bool hac_token_is_symbol(const hac_token *token, const char *symbol)
{
    return token->kind == HAC_TOKEN_SYMBOL && strlen(symbol) == token->bytes &&
           memcmp(token->text, symbol, token->bytes) == 0;
}

size_t hac_token_unquote(const hac_token *token, char *ret)
{
    size_t n = 0;
    for (size_t i = 1; i + 1 < token->bytes; i++) {
        ret[n++] = token->text[i];
        if (token->text[i] == token->text[0])
            i++; /* the second of a doubled quote */
    }
    return n;
}
