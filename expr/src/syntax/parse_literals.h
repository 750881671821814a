/* SPDX-License-Identifier: Apache-2.0 */
/* Literals, from their first token on. NULL or false: parser->status has the failure. */
#ifndef EXPR_PARSE_LITERALS_H
#define EXPR_PARSE_LITERALS_H

#include "interval.h"
#include "parse_tokens.h"

/* `at` is the offset of the sign. */
hac_node *hac_parse_number(hac_parser *p, bool negative, size_t at);
hac_node *hac_parse_string(hac_parser *p);
/* x'00ff' */
hac_node *hac_parse_hex_text(hac_parser *p);
/* date '2020-01-31', timestamp '2020-01-31 12:00:00' */
hac_node *hac_parse_time(hac_parser *p, hac_kind kind);
/* The word true or false. */
hac_node *hac_parse_bool_word(hac_parser *p, bool value);
/* A null without type; takes no token. */
hac_node *hac_parse_null(hac_parser *p, size_t at);
/* A number that no token says. */
hac_node *hac_whole_number(hac_parser *p, size_t at, int64_t value);

/* Whether an interval begins here: the word, then a text or a number. */
bool hac_parser_is_interval(const hac_parser *p);
/* interval '1 year 2 hours', interval '90' day, interval 90 day */
bool hac_parse_interval(hac_parser *p, hac_interval *ret);

#endif
