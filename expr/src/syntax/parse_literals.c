/* SPDX-License-Identifier: Apache-2.0 */
#include "parse_literals.h"

#include "base/cast_text.h"
#include "base/value_text.h"
#include "literal.h"

/* `at` is the offset of the sign. */
hac_node *hac_parse_number(hac_parser *p, bool negative, size_t at)
{
    hac_node *node = hac_node_here(p, HAC_NODE_LITERAL, at);
    if (node == NULL)
        return NULL;
    const char *problem = hac_literal_number(p->token.text, p->token.bytes, p->token.real, negative,
                                             &node->literal, &node->type);
    if (problem != NULL)
        return hac_parser_fail(p, hac_parser_at(p), "%s", problem);
    return hac_parser_advance(p) ? node : NULL;
}

hac_node *hac_parse_string(hac_parser *p)
{
    hac_node *node = hac_node_here(p, HAC_NODE_LITERAL, hac_parser_at(p));
    char *bytes = hac_parser_memory(p, p->token.bytes);
    if (node == NULL || bytes == NULL)
        return NULL;
    node->type.kind = HAC_KIND_STRING;
    node->literal.n_bytes = hac_token_unquote(&p->token, bytes);
    node->literal.bytes = bytes;
    return hac_parser_advance(p) ? node : NULL;
}

/* x'00ff' */
hac_node *hac_parse_hex_text(hac_parser *p)
{
    size_t at = hac_parser_at(p);
    hac_node *node = hac_parser_advance(p) ? hac_parse_string(p) : NULL;
    if (node == NULL)
        return NULL;
    char *bytes = hac_parser_memory(p, node->literal.n_bytes / 2 + 1);
    if (bytes == NULL)
        return NULL;
    if (hac_parse_hex(node->literal.bytes, node->literal.n_bytes, (uint8_t *)bytes) != HAC_TEXT_OK)
        return hac_parser_fail(p, at, "x'…' takes hexadecimal digits, two a byte");
    node->type.kind = HAC_KIND_BYTES;
    node->literal.bytes = bytes;
    node->literal.n_bytes /= 2;
    return node;
}

/* date '2020-01-31', timestamp '2020-01-31 12:00:00' */
hac_node *hac_parse_time(hac_parser *p, hac_kind kind)
{
    size_t at = hac_parser_at(p);
    hac_node *node = hac_parser_advance(p) ? hac_parse_string(p) : NULL;
    if (node == NULL)
        return NULL;
    int32_t days = 0;
    int64_t microseconds = 0;
    const char *text = node->literal.bytes;
    size_t bytes = node->literal.n_bytes;
    hac_text_status status = kind == HAC_KIND_DATE ? hac_cast_date(text, bytes, &days)
                                                   : hac_cast_timestamp(text, bytes, &microseconds);
    if (status == HAC_TEXT_PRECISION)
        return hac_parser_fail(p, at, "'%.*s' has digits below a microsecond, which timestamps do not have",
                               (int)(bytes < 64 ? bytes : 64), text);
    if (status != HAC_TEXT_OK)
        return hac_parser_fail(p, at, "'%.*s' is not a %s; write %s", (int)(bytes < 64 ? bytes : 64), text,
                               kind == HAC_KIND_DATE ? "date" : "timestamp",
                               kind == HAC_KIND_DATE ? "date '2020-01-31'"
                                                     : "timestamp '2020-01-31 12:00:00'");
    node->at = (uint32_t)at;
    node->type.kind = (uint8_t)kind;
    node->literal.integer = kind == HAC_KIND_DATE ? days : microseconds;
    return node;
}

hac_node *hac_parse_null(hac_parser *p, size_t at)
{
    return hac_node_null(p, p->source, at);
}

hac_node *hac_parse_bool_word(hac_parser *p, bool value)
{
    hac_node *node = hac_node_here(p, HAC_NODE_LITERAL, hac_parser_at(p));
    if (node == NULL)
        return NULL;
    node->type.kind = HAC_KIND_BOOL;
    node->literal.integer = value;
    return hac_parser_advance(p) ? node : NULL;
}

/* ---- intervals ---- */

bool hac_parser_is_interval(const hac_parser *p)
{
    hac_token next = hac_parser_peek(p);
    return hac_parser_is_word(p, "interval") &&
           (next.kind == HAC_TOKEN_STRING || next.kind == HAC_TOKEN_NUMBER);
}

/* interval '1 year 2 hours', interval '90' day, interval 90 day */
bool hac_parse_interval(hac_parser *p, hac_interval *ret)
{
    hac_node *text = hac_parser_advance(p) && p->token.kind == HAC_TOKEN_STRING ? hac_parse_string(p) : NULL;
    const char *bytes = text != NULL ? text->literal.bytes : p->token.text;
    size_t n = text != NULL ? text->literal.n_bytes : p->token.bytes, at = hac_parser_at(p);
    int64_t amount = 0;
    if (p->status != HAC_OK || (text == NULL && !hac_parser_advance(p)))
        return false;
    const char *problem = hac_interval_amount(bytes, n, &amount);
    if (text != NULL && problem != NULL) {
        problem = hac_interval_parse(bytes, n, ret);
    } else if (problem == NULL) {
        bool unit = p->token.kind == HAC_TOKEN_NAME;
        problem = hac_interval_add(ret, amount, p->token.text, unit ? p->token.bytes : 0);
        if (problem == NULL && !hac_parser_advance(p))
            return false;
    }
    return problem == NULL || hac_parser_fail(p, text != NULL ? text->at : at, "%s", problem) != NULL;
}

hac_node *hac_whole_number(hac_parser *p, size_t at, int64_t value)
{
    hac_node *node = hac_node_here(p, HAC_NODE_LITERAL, at);
    if (node != NULL) {
        node->type.kind = HAC_KIND_I64;
        node->literal.integer = value;
    }
    return node;
}
