/* SPDX-License-Identifier: Apache-2.0 */
#include "text_literals.h"

#include <string.h>

#include "base/cast_text.h"
#include "base/value_text.h"
#include "functions.h"
#include "syntax/literal.h"
#include "syntax/types.h"

/* What to write for a value of the type. */
static const char *example_of(hac_value_type type)
{
    switch (type.kind) {
    case HAC_KIND_DATE:
        return "a date is '2024-01-31'";
    case HAC_KIND_TIMESTAMP:
        return "a timestamp is '2024-01-31 12:00:00'";
    case HAC_KIND_BOOL:
        return "a bool is true or false";
    default:
        return "a number is written without quotes";
    }
}

/* Digits, and a point if the type has one. */
static bool is_plain_number(const char *text, size_t bytes, bool point)
{
    size_t digits = 0, points = 0;
    for (size_t i = 0; i < bytes; i++) {
        digits += text[i] >= '0' && text[i] <= '9';
        points += text[i] == '.';
    }
    return digits > 0 && points <= point && digits + points == bytes;
}

static bool read_number(const hac_literal *text, hac_value_type type, hac_literal *ret,
                        hac_value_type *ret_type)
{
    bool sign = text->n_bytes > 0 && (text->bytes[0] == '-' || text->bytes[0] == '+');
    const char *digits = text->bytes + sign;
    size_t n = text->n_bytes - sign;
    if (hac_kind_is_float(type.kind)) {
        if (hac_cast_f64(text->bytes, text->n_bytes, &ret->real) != HAC_TEXT_OK)
            return false;
        if (type.kind == HAC_KIND_F32)
            ret->real = (double)(float)ret->real;
        *ret_type = type;
        return true;
    }
    return is_plain_number(digits, n, type.kind == HAC_KIND_DECIMAL) &&
           hac_literal_number(digits, n, false, sign && text->bytes[0] == '-', ret, ret_type) == NULL;
}

/* A date may be written with a time of day that is 0. */
static bool read_date(const char *text, size_t bytes, hac_literal *ret)
{
    int32_t days = 0;
    int64_t microseconds = 0;
    if (hac_parse_date(text, bytes, &days) == HAC_TEXT_OK) {
        ret->integer = days;
        return true;
    }
    if (hac_cast_timestamp(text, bytes, &microseconds) != HAC_TEXT_OK || microseconds % HAC_US_PER_DAY != 0)
        return false;
    ret->integer = microseconds / HAC_US_PER_DAY;
    return true;
}

/* The value of the type that the text stands for. */
static bool read_text(const hac_literal *text, hac_value_type type, hac_literal *ret,
                      hac_value_type *ret_type)
{
    bool boolean = false;
    int64_t microseconds = 0;
    *ret_type = type;
    switch (type.kind) {
    case HAC_KIND_DATE:
        return read_date(text->bytes, text->n_bytes, ret);
    case HAC_KIND_TIMESTAMP:
        if (hac_cast_timestamp(text->bytes, text->n_bytes, &microseconds) != HAC_TEXT_OK)
            return false;
        ret->integer = microseconds;
        return true;
    case HAC_KIND_BOOL:
        if (hac_cast_bool(text->bytes, text->n_bytes, &boolean) != HAC_TEXT_OK)
            return false;
        ret->integer = boolean;
        return true;
    default:
        return read_number(text, type, ret, ret_type);
    }
}

/* The value takes the text's place in the count of nodes. It is a node of its own, because others may have
 * the text beside values of another type. */
static hac_node *value_of(hac_parser *p, const hac_node *text, const hac_node *beside)
{
    p->nodes--;
    char type[HAC_VALUE_TYPE_NAME_MAX];
    const hac_literal *literal = &text->literal;
    hac_node *node = hac_node_new(p, HAC_NODE_LITERAL, text->source, text->at);
    if (node == NULL || read_text(literal, beside->type, &node->literal, &node->type))
        return node;
    p->status =
        hac_expr_fail(text->source, text->at, p->err, "'%.*s' is not of type %s, as %s%s%s is; %s",
                      (int)(literal->n_bytes < 64 ? literal->n_bytes : 64), literal->bytes,
                      hac_value_type_name(beside->type, type), beside->kind == HAC_NODE_COLUMN ? "'" : "",
                      beside->kind == HAC_NODE_COLUMN ? beside->name : "the value beside it",
                      beside->kind == HAC_NODE_COLUMN ? "'" : "", example_of(beside->type));
    return NULL;
}

/* The letters of arguments that have a type in common. */
static bool is_common(const hac_function *row, const hac_node *node, size_t i)
{
    char letter = hac_function_letter(row, i, node->n_args);
    return letter == 'C' || letter == 'X' || (letter == 'd' && row->args[0] == 'u' && node->n_args == 3);
}

static bool has_type(const hac_node *node)
{
    return node->type.kind != HAC_KIND_NONE && !hac_kind_is_text(node->type.kind);
}

bool hac_read_text_literals(hac_parser *parser, hac_node *node, const hac_function *row)
{
    const hac_node *beside = NULL;
    for (size_t i = 0; i < node->n_args; i++)
        if (beside == NULL && is_common(row, node, i) && has_type(node->args[i]))
            beside = node->args[i];
    for (size_t i = 0; beside != NULL && i < node->n_args; i++) {
        if (!is_common(row, node, i) || !hac_node_is_text(node->args[i]))
            continue;
        hac_node *value = value_of(parser, node->args[i], beside);
        if (value == NULL)
            return false;
        node->args[i] = value;
    }
    return true;
}

bool hac_cast_to_texts(hac_parser *parser, hac_node *node)
{
    bool cast = strcmp(node->name, "concat") == 0;
    for (size_t i = 0; i < node->n_args && !cast; i++)
        cast = strcmp(node->name, "||") == 0 && node->args[i]->type.kind == HAC_KIND_STRING;
    for (size_t i = 0; cast && i < node->n_args; i++) {
        hac_node *value = node->args[i];
        if (!has_type(value))
            continue;
        hac_node *text = hac_node_call(parser, "cast", value->at, 1, &value);
        if (text == NULL)
            return false;
        text->kind = HAC_NODE_CAST;
        text->source = value->source;
        text->type = HAC_TYPE(STRING);
        node->args[i] = text;
    }
    return true;
}
