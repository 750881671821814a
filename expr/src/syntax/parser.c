/* SPDX-License-Identifier: Apache-2.0 */
#include "parser.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/value_text.h"
#include "instead_of_sql.h"
#include "interval.h"
#include "literal.h"
#include "machine/utf8_case.h"

#define DEPTH_MAX 128

enum { FILTER_LEVELS = 2 }; /* of a call: if and the condition */
enum { OR = 1, AND, NOT, COMPARISON, CONCAT, SUM, PRODUCT, UNARY };

static hac_node *parse(hac_parser *p, unsigned level);

#define fail_at(p, offset, ...)                                                                              \
    ((p)->status = hac_expr_fail((p)->source, (offset), (p)->err, __VA_ARGS__), (void *)NULL)

static size_t here(const hac_parser *p)
{
    return (size_t)(p->token.text - p->source->text);
}

static bool advance(hac_parser *p)
{
    if (p->status == HAC_OK)
        p->status = hac_lexer_next(&p->lexer, &p->token, p->err);
    return p->status == HAC_OK;
}

static bool is_word(const hac_parser *p, const char *word)
{
    return hac_token_is_word(&p->token, word);
}

static bool is_symbol(const hac_parser *p, const char *symbol)
{
    return hac_token_is_symbol(&p->token, symbol);
}

/* The token behind the next one. */
static hac_token peek(const hac_parser *p)
{
    hac_lexer lexer = p->lexer;
    hac_token token = {.kind = HAC_TOKEN_END};
    if (hac_lexer_next(&lexer, &token, NULL) != HAC_OK)
        token.kind = HAC_TOKEN_END; /* the error is reported when the parser gets there */
    return token;
}

static void *unexpected(hac_parser *p, const char *expected)
{
    if (p->status != HAC_OK)
        return NULL;
    if (p->token.kind == HAC_TOKEN_END)
        return fail_at(p, here(p), "expected %s, but the text ends here", expected);
    return fail_at(p, here(p), "expected %s, found %s%.*s%s%s", expected, p->token.text[0] == '\'' ? "" : "'",
                   (int)p->token.bytes, p->token.text, p->token.text[0] == '\'' ? "" : "'",
                   hac_instead_of_sql(&p->token, p->source->text));
}

static bool expect_symbol(hac_parser *p, const char *symbol, const char *expected)
{
    if (!is_symbol(p, symbol)) {
        unexpected(p, expected);
        return false;
    }
    return advance(p);
}

static bool expect_word(hac_parser *p, const char *word, const char *expected)
{
    if (!is_word(p, word)) {
        unexpected(p, expected);
        return false;
    }
    return advance(p);
}

static void *take_memory(hac_parser *p, size_t bytes)
{
    void *ret = hac_arena_alloc(p->arena, bytes);
    if (ret == NULL && p->status == HAC_OK)
        p->status = hac_fail(p->err, HAC_NO_MEMORY, "out of memory, or an expression that is too large");
    return ret;
}

/* ---- nodes ---- */

hac_node *hac_node_new(hac_parser *p, hac_node_kind kind, const hac_expr_source *source, size_t at)
{
    if (p->nodes++ == HAC_NODES_MAX) {
        p->status = hac_expr_fail(source, at, p->err, "the query is too long (over %d parts)", HAC_NODES_MAX);
        return NULL;
    }
    hac_node *node = take_memory(p, sizeof *node);
    if (node == NULL)
        return NULL;
    node->kind = (uint8_t)kind;
    node->source = source;
    node->at = (uint32_t)at;
    node->depth = 1;
    node->column = -1;
    return node;
}

static hac_node *new_node(hac_parser *p, hac_node_kind kind, size_t at)
{
    return hac_node_new(p, kind, p->source, at);
}

static hac_node *too_deep(hac_parser *p, size_t at)
{
    return fail_at(p, at, "nested too deeply (over %d levels)", HAC_NODE_DEPTH_MAX);
}

hac_node *hac_node_call(hac_parser *p, const char *name, size_t at, size_t n_args, hac_node *const *args)
{
    hac_node *node = new_node(p, HAC_NODE_CALL, at);
    if (node == NULL)
        return NULL;
    node->name = name;
    node->n_name = strlen(name);
    node->args = take_memory(p, (n_args + 1) * sizeof *node->args);
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
    return node->depth > HAC_NODE_DEPTH_MAX ? too_deep(p, at) : node;
}

#define call(p, name, at, ...)                                                                               \
    hac_node_call((p), (name), (at), sizeof((hac_node *[]){__VA_ARGS__}) / sizeof(hac_node *),               \
                  (hac_node *[]){__VA_ARGS__})

/* ---- literals ---- */

/* `at` is the offset of the sign. */
static hac_node *number(hac_parser *p, bool negative, size_t at)
{
    hac_node *node = new_node(p, HAC_NODE_LITERAL, at);
    if (node == NULL)
        return NULL;
    const char *problem = hac_literal_number(p->token.text, p->token.bytes, p->token.real, negative,
                                             &node->literal, &node->type);
    if (problem != NULL)
        return fail_at(p, here(p), "%s", problem);
    return advance(p) ? node : NULL;
}

static hac_node *string(hac_parser *p)
{
    hac_node *node = new_node(p, HAC_NODE_LITERAL, here(p));
    char *bytes = take_memory(p, p->token.bytes);
    if (node == NULL || bytes == NULL)
        return NULL;
    node->type.kind = HAC_KIND_STRING;
    node->literal.n_bytes = hac_token_unquote(&p->token, bytes);
    node->literal.bytes = bytes;
    return advance(p) ? node : NULL;
}

/* x'00ff' */
static hac_node *hex(hac_parser *p)
{
    size_t at = here(p);
    hac_node *node = advance(p) ? string(p) : NULL;
    if (node == NULL)
        return NULL;
    char *bytes = take_memory(p, node->literal.n_bytes / 2 + 1);
    if (bytes == NULL)
        return NULL;
    if (hac_parse_hex(node->literal.bytes, node->literal.n_bytes, (uint8_t *)bytes) != HAC_TEXT_OK)
        return fail_at(p, at, "x'…' takes hexadecimal digits, two a byte");
    node->type.kind = HAC_KIND_BYTES;
    node->literal.bytes = bytes;
    node->literal.n_bytes /= 2;
    return node;
}

/* date '2020-01-31', timestamp '2020-01-31 12:00:00' */
static hac_node *date(hac_parser *p, hac_kind kind)
{
    size_t at = here(p);
    hac_node *node = advance(p) ? string(p) : NULL;
    if (node == NULL)
        return NULL;
    int32_t days = 0;
    int64_t microseconds = 0;
    const char *text = node->literal.bytes;
    size_t bytes = node->literal.n_bytes;
    hac_text_status status = kind == HAC_KIND_DATE ? hac_parse_date(text, bytes, &days)
                                                   : hac_parse_timestamp(text, bytes, &microseconds);
    if (status == HAC_TEXT_PRECISION)
        return fail_at(p, at, "'%.*s' has digits below a microsecond, which timestamps do not have",
                       (int)(bytes < 64 ? bytes : 64), text);
    if (status != HAC_TEXT_OK)
        return fail_at(p, at, "'%.*s' is not a %s; write %s", (int)(bytes < 64 ? bytes : 64), text,
                       kind == HAC_KIND_DATE ? "date" : "timestamp",
                       kind == HAC_KIND_DATE ? "date '2020-01-31'" : "timestamp '2020-01-31 12:00:00'");
    node->at = (uint32_t)at;
    node->type.kind = (uint8_t)kind;
    node->literal.integer = kind == HAC_KIND_DATE ? days : microseconds;
    return node;
}

static hac_node *null_node(hac_parser *p, size_t at)
{
    hac_node *node = new_node(p, HAC_NODE_LITERAL, at);
    if (node != NULL)
        node->literal.null = true;
    return node;
}

static hac_node *boolean(hac_parser *p, bool value)
{
    hac_node *node = new_node(p, HAC_NODE_LITERAL, here(p));
    if (node == NULL)
        return NULL;
    node->type.kind = HAC_KIND_BOOL;
    node->literal.integer = value;
    return advance(p) ? node : NULL;
}

/* ---- names, calls, casts, case ---- */

static const char *take_name(hac_parser *p, bool lower, size_t *ret_bytes)
{
    char *name = take_memory(p, p->token.bytes + 1);
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
    return advance(p) ? name : NULL;
}

static hac_node *column(hac_parser *p)
{
    size_t at = here(p);
    hac_node *node = new_node(p, HAC_NODE_COLUMN, at);
    bool quoted = p->token.kind == HAC_TOKEN_QUOTED;
    if (node != NULL)
        node->quoted = quoted;
    if (node == NULL || (node->name = take_name(p, false, &node->n_name)) == NULL)
        return NULL;
    if (node->n_name == 0) /* a header may have an empty name, but no text can refer to it */
        return fail_at(p, at, "a column's name has 1 to %d bytes", HAC_FIELD_NAME_MAX - 1);
    return node;
}

/* The arguments of a call, from behind its opening parenthesis on. `first`, if not NULL, goes before them. */
static hac_node *arguments(hac_parser *p, const char *name, size_t at, hac_node *first)
{
    hac_node *args[64], **list = args;
    size_t n = 0, capacity = sizeof args / sizeof *args;
    if (first != NULL)
        list[n++] = first;
    if (!is_symbol(p, ")")) {
        do {
            if (n == capacity) {
                hac_node **more =
                    capacity < HAC_NODE_ARGS_MAX ? take_memory(p, capacity * 2 * sizeof *more) : NULL;
                if (more == NULL)
                    return p->status != HAC_OK
                               ? NULL
                               : fail_at(p, here(p), "a list of over %d values", HAC_NODE_ARGS_MAX);
                memcpy(more, list, n * sizeof *more);
                list = more;
                capacity *= 2;
            }
            if ((list[n++] = parse(p, OR)) == NULL)
                return NULL;
        } while (is_symbol(p, ",") && advance(p));
    }
    if (p->status != HAC_OK || !expect_symbol(p, ")", "',' or ')'"))
        return NULL;
    return hac_node_call(p, name, at, n, list);
}

/* Appends the next token, in lower case; false: it does not fit. */
static bool take_type_token(hac_parser *p, char *text, size_t size, size_t *used)
{
    if (*used + p->token.bytes >= size)
        return false;
    for (size_t i = 0; i < p->token.bytes; i++) {
        char c = p->token.text[i];
        text[(*used)++] = c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
    }
    return advance(p);
}

/* A type: a name, and what stands in parentheses behind it. */
static bool cast_type(hac_parser *p, hac_value_type *ret, bool *ret_zoned)
{
    char text[32] = "";
    size_t used = 0, at = here(p);
    if (p->token.kind != HAC_TOKEN_NAME) {
        unexpected(p, "a type");
        return false;
    }
    bool fits = take_type_token(p, text, sizeof text, &used);
    if (fits && is_word(p, "precision") && strcmp(text, "double") == 0) /* two words, one type */
        fits = advance(p);
    *ret_zoned = fits && strcmp(text, "timestamptz") == 0;
    used = *ret_zoned ? strlen("timestamp") : used;
    if (fits && is_word(p, "with") && strcmp(text, "timestamp") == 0)
        fits = *ret_zoned =
            advance(p) && expect_word(p, "time", "'time zone'") && expect_word(p, "zone", "'zone'");
    if (fits && is_symbol(p, "(")) {
        while (fits && p->token.kind != HAC_TOKEN_END && !is_symbol(p, ")"))
            fits = take_type_token(p, text, sizeof text, &used);
        fits = fits && take_type_token(p, text, sizeof text, &used);
    }
    if (!fits && p->status != HAC_OK)
        return false;
    hac_error why = HAC_ERROR_NONE;
    if (hac_value_type_parse(text, used, ret, &why) != HAC_OK) {
        (void)fail_at(p, at, "%s", why.message);
        return false;
    }
    return true;
}

/* The cast of a value to the type that stands here. */
static hac_node *cast_node(hac_parser *p, size_t at, bool try_cast, hac_node *value)
{
    hac_value_type type = {0};
    bool zoned = false;
    if (value == NULL || !cast_type(p, &type, &zoned))
        return NULL;
    hac_node *node = call(p, try_cast ? "try_cast" : "cast", at, value);
    if (node == NULL)
        return NULL;
    node->kind = HAC_NODE_CAST;
    node->type = type;
    node->try_cast = try_cast;
    node->zoned = zoned;
    return node;
}

static hac_node *cast(hac_parser *p, size_t at, bool try_cast)
{
    hac_node *value = parse(p, OR);
    if (value == NULL || !expect_word(p, "as", "'as' and a type"))
        return NULL;
    hac_node *node = cast_node(p, at, try_cast, value);
    return node != NULL && expect_symbol(p, ")", "')' behind the type") ? node : NULL;
}

/* From `at` on. */
static hac_node *at_time_zone(hac_parser *p, size_t at, hac_node *value)
{
    if (!advance(p) || !expect_word(p, "time", "'time'") || !expect_word(p, "zone", "'zone'"))
        return NULL;
    hac_node *zone =
        p->token.kind == HAC_TOKEN_STRING ? string(p) : unexpected(p, "a zone such as 'Europe/Berlin'");
    return zone != NULL ? call(p, "at time zone", at, value, zone) : NULL;
}

/* value::type, value at time zone 'name', any number of times */
static hac_node *postfixes(hac_parser *p, hac_node *value)
{
    while (value != NULL) {
        size_t at = here(p);
        hac_token next = peek(p);
        if (is_symbol(p, "::"))
            value = advance(p) ? cast_node(p, at, false, value) : NULL;
        else if (is_word(p, "at") && hac_token_is_word(&next, "time"))
            value = at_time_zone(p, at, value);
        else
            break;
    }
    return value;
}

/* `count(distinct x)`. A column may be named distinct. */
static bool take_distinct(hac_parser *p)
{
    if (!is_word(p, "distinct"))
        return false;
    hac_token next = peek(p);
    bool starts = next.kind == HAC_TOKEN_QUOTED || next.kind == HAC_TOKEN_STRING ||
                  next.kind == HAC_TOKEN_NUMBER || next.kind == HAC_TOKEN_NAME ||
                  hac_token_is_symbol(&next, "(");
    static const char *const infix[] = {"and", "or", "is", "in", "like", "ilike", "between", "not", "as"};
    for (size_t i = 0; i < sizeof infix / sizeof *infix; i++)
        starts &= !hac_token_is_word(&next, infix[i]);
    return starts && advance(p);
}

/* `filter (where condition)` behind an aggregate. A column may be named filter. */
static hac_node *filtered(hac_parser *p, hac_node *node)
{
    hac_token next = peek(p);
    if (node == NULL || !is_word(p, "filter") || !hac_token_is_symbol(&next, "("))
        return node;
    if (!advance(p) || !expect_symbol(p, "(", "'('") || !expect_word(p, "where", "'where' and a condition"))
        return NULL;
    hac_node *condition = parse(p, OR);
    if (condition == NULL || !expect_symbol(p, ")", "')' behind the condition"))
        return NULL;
    node->args[node->n_args++] = condition; /* hac_node_call leaves room for it */
    node->filtered = true;
    if (node->depth < condition->depth + FILTER_LEVELS)
        node->depth = (uint16_t)(condition->depth + FILTER_LEVELS);
    return node->depth > HAC_NODE_DEPTH_MAX ? too_deep(p, node->at) : node;
}

static hac_node *function_call(hac_parser *p)
{
    size_t at = here(p), bytes = 0;
    const char *name = take_name(p, true, &bytes);
    if (name == NULL || !advance(p))
        return NULL;
    if (strcmp(name, "cast") == 0 || strcmp(name, "try_cast") == 0)
        return cast(p, at, name[0] == 't');
    if (is_symbol(p, "*")) {
        hac_node *star = new_node(p, HAC_NODE_STAR, here(p));
        if (star == NULL || !advance(p) || !expect_symbol(p, ")", "')'"))
            return NULL;
        return filtered(p, call(p, name, at, star));
    }
    bool distinct = take_distinct(p);
    hac_node *node = arguments(p, name, at, NULL);
    if (node != NULL)
        node->distinct = distinct;
    return filtered(p, node);
}

/* The rest of `case [operand] when … then … [else …] end`, as nested ifs. */
static hac_node *case_branches(hac_parser *p, hac_node *operand, unsigned branches)
{
    size_t at = here(p);
    if (is_word(p, "when")) {
        if (branches == DEPTH_MAX)
            return fail_at(p, at, "a case of over %d branches", DEPTH_MAX);
        hac_node *condition = advance(p) ? parse(p, OR) : NULL;
        if (condition != NULL && operand != NULL)
            condition = call(p, "=", condition->at, operand, condition);
        if (condition == NULL || !expect_word(p, "then", "'then'"))
            return NULL;
        hac_node *value = parse(p, OR);
        hac_node *rest = value != NULL ? case_branches(p, operand, branches + 1) : NULL;
        return rest != NULL ? call(p, "if", value->at, condition, value, rest) : NULL;
    }
    if (branches == 0)
        return unexpected(p, "'when'");
    hac_node *last = NULL;
    if (is_word(p, "else"))
        last = advance(p) ? parse(p, OR) : NULL;
    else
        last = null_node(p, at);
    if (last == NULL || !expect_word(p, "end", "'when', 'else' or 'end' of the case"))
        return NULL;
    return last;
}

static hac_node *case_of(hac_parser *p)
{
    if (!advance(p))
        return NULL;
    hac_node *operand = is_word(p, "when") ? NULL : parse(p, OR);
    return p->status == HAC_OK ? case_branches(p, operand, 0) : NULL;
}

/* ---- operators ---- */

static hac_node *not_node(hac_parser *p, size_t at, bool negated, hac_node *node)
{
    return negated && node != NULL ? call(p, "not", at, node) : node;
}

static hac_node *is_null(hac_parser *p, size_t at, hac_node *left)
{
    bool negated = false;
    if (!advance(p))
        return NULL;
    if (is_word(p, "not")) {
        negated = true;
        if (!advance(p))
            return NULL;
    }
    if (!expect_word(p, "null", negated ? "'null'" : "'null' or 'not null'"))
        return NULL;
    return not_node(p, at, negated, call(p, "is null", at, left));
}

static hac_node *between(hac_parser *p, size_t at, hac_node *left, bool negated)
{
    hac_node *low = advance(p) ? parse(p, CONCAT) : NULL;
    if (low == NULL || !expect_word(p, "and", "'and' and the upper bound of 'between'"))
        return NULL;
    hac_node *high = parse(p, CONCAT);
    if (high == NULL)
        return NULL;
    hac_node *above = call(p, ">=", at, left, low), *below = call(p, "<=", at, left, high);
    return not_node(p, at, negated, call(p, "and", at, above, below));
}

static hac_node *in_list(hac_parser *p, size_t at, hac_node *left, bool negated)
{
    if (!advance(p) || !expect_symbol(p, "(", "'(' and a list"))
        return NULL;
    if (is_symbol(p, ")"))
        return unexpected(p, "a value");
    return not_node(p, at, negated, arguments(p, "in", at, left));
}

static hac_node *like(hac_parser *p, size_t at, hac_node *left, bool negated)
{
    hac_node *pattern = advance(p) ? parse(p, CONCAT) : NULL;
    if (pattern == NULL)
        return NULL;
    if (!is_word(p, "escape"))
        return not_node(p, at, negated, call(p, "like", at, left, pattern));
    hac_node *escape = advance(p) ? parse(p, CONCAT) : NULL;
    return escape == NULL ? NULL : not_node(p, at, negated, call(p, "like", at, left, pattern, escape));
}

/* A text literal in lower case; another node as it is, for the checker's message. */
static void to_lower(hac_parser *p, hac_node *node)
{
    if (node->kind != HAC_NODE_LITERAL || node->type.kind != HAC_KIND_STRING)
        return;
    size_t capacity = HAC_UTF8_CASE_GROWTH(node->literal.n_bytes);
    char *lower = take_memory(p, capacity + 1);
    if (lower == NULL)
        return;
    node->literal.n_bytes = hac_utf8_case((const uint8_t *)node->literal.bytes, node->literal.n_bytes, false,
                                          (uint8_t *)lower, capacity);
    node->literal.bytes = lower;
}

/* `a ilike b` is lower(a) like b, with b in lower case. */
static hac_node *ilike(hac_parser *p, size_t at, hac_node *left, bool negated)
{
    hac_node *lower = call(p, "lower", at, left);
    hac_node *node = lower != NULL ? like(p, at, lower, false) : NULL;
    for (size_t i = 1; node != NULL && i < node->n_args; i++)
        to_lower(p, node->args[i]);
    return not_node(p, at, negated, node);
}

static const struct {
    const char *symbol, *name;
    unsigned level;
} operators[] = {
    {"=", "=", COMPARISON}, {"==", "=", COMPARISON},  {"<>", "<>", COMPARISON}, {"!=", "<>", COMPARISON},
    {"<", "<", COMPARISON}, {"<=", "<=", COMPARISON}, {">", ">", COMPARISON},   {">=", ">=", COMPARISON},
    {"||", "||", CONCAT},   {"&", "&", CONCAT},       {"|", "|", CONCAT},       {"<<", "<<", CONCAT},
    {">>", ">>", CONCAT},   {"+", "+", SUM},          {"-", "-", SUM},          {"*", "*", PRODUCT},
    {"/", "/", PRODUCT},    {"//", "//", PRODUCT},    {"%", "%", PRODUCT},      {"or", "or", OR},
    {"and", "and", AND},
};

/* Comparisons that are words. False: the next token is something else. */
static bool word_operator(hac_parser *p, hac_node **left)
{
    size_t at = here(p);
    bool negated = is_word(p, "not");
    hac_token word = negated ? peek(p) : p->token;
    hac_node *(*make)(hac_parser *, size_t, hac_node *, bool) = NULL;
    if (hac_token_is_word(&word, "between"))
        make = between;
    else if (hac_token_is_word(&word, "in"))
        make = in_list;
    else if (hac_token_is_word(&word, "like"))
        make = like;
    else if (hac_token_is_word(&word, "ilike"))
        make = ilike;
    if (make != NULL)
        *left = negated && !advance(p) ? NULL : make(p, at, *left, negated);
    else if (is_word(p, "is"))
        *left = is_null(p, at, *left);
    else
        return false;
    return true;
}

/* ---- intervals ---- */

static bool is_interval(const hac_parser *p)
{
    hac_token next = peek(p);
    return is_word(p, "interval") && (next.kind == HAC_TOKEN_STRING || next.kind == HAC_TOKEN_NUMBER);
}

/* interval '1 year 2 hours', interval '90' day, interval 90 day */
static bool take_interval(hac_parser *p, hac_interval *ret)
{
    hac_node *text = advance(p) && p->token.kind == HAC_TOKEN_STRING ? string(p) : NULL;
    const char *bytes = text != NULL ? text->literal.bytes : p->token.text;
    size_t n = text != NULL ? text->literal.n_bytes : p->token.bytes, at = here(p);
    int64_t amount = 0;
    if (p->status != HAC_OK || (text == NULL && !advance(p)))
        return false;
    const char *problem = hac_interval_amount(bytes, n, &amount);
    if (text != NULL && problem != NULL) {
        problem = hac_interval_parse(bytes, n, ret);
    } else if (problem == NULL) {
        bool unit = p->token.kind == HAC_TOKEN_NAME;
        problem = hac_interval_add(ret, amount, p->token.text, unit ? p->token.bytes : 0);
        if (problem == NULL && !advance(p))
            return false;
    }
    return problem == NULL || fail_at(p, text != NULL ? text->at : at, "%s", problem) != NULL;
}

static hac_node *whole_number(hac_parser *p, size_t at, int64_t value)
{
    hac_node *node = new_node(p, HAC_NODE_LITERAL, at);
    if (node != NULL) {
        node->type.kind = HAC_KIND_I64;
        node->literal.integer = value;
    }
    return node;
}

/* `left + interval …`, from the word interval on: a call with the months and the microseconds. */
static hac_node *plus_interval(hac_parser *p, size_t at, hac_node *left, bool minus)
{
    hac_interval interval = {0};
    size_t place = here(p);
    if (!take_interval(p, &interval))
        return NULL;
    if (minus && (__builtin_sub_overflow(0, interval.months, &interval.months) ||
                  __builtin_sub_overflow(0, interval.microseconds, &interval.microseconds)))
        return fail_at(p, place, "the interval is too large");
    return call(p, "+ interval", at, left, whole_number(p, place, interval.months),
                whole_number(p, place, interval.microseconds));
}

static bool infix_operator(hac_parser *p, unsigned level, hac_node **left)
{
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
        if (operators[i].level < level ||
            !(is_symbol(p, operators[i].symbol) || is_word(p, operators[i].symbol)))
            continue;
        size_t at = here(p);
        bool sum = operators[i].level == SUM, minus = is_symbol(p, "-");
        if (advance(p) && sum && is_interval(p)) {
            *left = plus_interval(p, at, *left, minus);
            return true;
        }
        hac_node *right = p->status == HAC_OK ? parse(p, operators[i].level + 1) : NULL;
        *left = right != NULL ? call(p, operators[i].name, at, *left, right) : NULL;
        return true;
    }
    return false;
}

static hac_node *parenthesis(hac_parser *p)
{
    hac_node *node = advance(p) ? parse(p, OR) : NULL;
    return node != NULL && expect_symbol(p, ")", "')'") ? node : NULL;
}

static bool is_reserved(const hac_parser *p)
{
    static const char *const words[] = {"and",  "or",   "not",  "in",   "is", "like", "ilike", "between",
                                        "case", "when", "then", "else", "as", "null", "true",  "false"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (is_word(p, words[i]))
            return true;
    return false;
}

static hac_node *named(hac_parser *p)
{
    hac_token next = peek(p);
    if (next.kind == HAC_TOKEN_STRING && is_word(p, "date"))
        return date(p, HAC_KIND_DATE);
    if (next.kind == HAC_TOKEN_STRING && is_word(p, "timestamp"))
        return date(p, HAC_KIND_TIMESTAMP);
    if (next.kind == HAC_TOKEN_STRING && is_word(p, "x"))
        return hex(p);
    if (is_interval(p))
        return fail_at(p, here(p), "an interval stands behind the + or - of a date or a timestamp");
    if (is_word(p, "true") || is_word(p, "false"))
        return boolean(p, is_word(p, "true"));
    if (is_word(p, "null")) {
        hac_node *node = null_node(p, here(p));
        return advance(p) ? node : NULL;
    }
    if (is_word(p, "case"))
        return case_of(p);
    if (is_reserved(p)) {
        if (next.kind == HAC_TOKEN_END || hac_token_is_symbol(&next, ")"))
            return unexpected(p, "a value");
        return fail_at(p, here(p),
                       "expected a value, found the word '%.*s'; a column of that name goes in "
                       "double quotes",
                       (int)p->token.bytes, p->token.text);
    }
    return hac_token_is_symbol(&next, "(") ? function_call(p) : column(p);
}

static hac_node *operand(hac_parser *p, size_t at)
{
    switch (p->token.kind) {
    case HAC_TOKEN_NUMBER:
        return number(p, false, at);
    case HAC_TOKEN_STRING:
        return string(p);
    case HAC_TOKEN_QUOTED:
        return column(p);
    case HAC_TOKEN_NAME:
        return named(p);
    default:
        return is_symbol(p, "(") ? parenthesis(p) : unexpected(p, "a value");
    }
}

static hac_node *prefix(hac_parser *p)
{
    size_t at = here(p);
    if (is_word(p, "not")) {
        hac_node *node = advance(p) ? parse(p, COMPARISON) : NULL;
        return not_node(p, at, true, node);
    }
    if (is_symbol(p, "-") || is_symbol(p, "+")) {
        bool negative = is_symbol(p, "-");
        if (!advance(p))
            return NULL;
        if (p->token.kind == HAC_TOKEN_NUMBER)
            return postfixes(p, number(p, negative, at));
        hac_node *node = parse(p, UNARY);
        return node != NULL ? call(p, negative ? "negate" : "plus", at, node) : NULL;
    }
    return postfixes(p, operand(p, at));
}

static hac_node *parse(hac_parser *p, unsigned level)
{
    if (++p->depth > DEPTH_MAX)
        return fail_at(p, here(p), "nested too deeply (over %d levels)", DEPTH_MAX);
    hac_node *left = prefix(p);
    while (left != NULL &&
           ((level <= COMPARISON && word_operator(p, &left)) || infix_operator(p, level, &left)))
        ;
    p->depth--;
    return p->status == HAC_OK ? left : NULL;
}

/* ---- whole texts ---- */

static bool begin(hac_parser *p, const hac_expr_source *source)
{
    p->source = source;
    p->lexer = (hac_lexer){source, source->text};
    p->depth = 0;
    p->status = HAC_OK;
    return advance(p);
}

hac_status hac_parse_expression(hac_parser *p, const hac_expr_source *source, hac_node **ret)
{
    hac_node *node = begin(p, source) ? parse(p, OR) : NULL;
    if (node != NULL && p->token.kind != HAC_TOKEN_END)
        unexpected(p, "an operator or the end");
    if (p->status == HAC_OK)
        *ret = node;
    return p->status;
}

static bool item_name(hac_parser *p, hac_item *item)
{
    size_t bytes = 0, at = here(p);
    if (p->token.kind != HAC_TOKEN_NAME && p->token.kind != HAC_TOKEN_QUOTED) {
        unexpected(p, "a name");
        return false;
    }
    item->name = take_name(p, false, &bytes);
    if (item->name != NULL && (bytes == 0 || bytes >= HAC_FIELD_NAME_MAX))
        (void)fail_at(p, at, "a column's name has 1 to %d bytes", HAC_FIELD_NAME_MAX - 1);
    return p->status == HAC_OK;
}

enum { EXCLUDED_MAX = 256 };

/* `exclude a`, `exclude (a, b)`; `except` is the same word to other databases. */
static bool excluded_names(hac_parser *p, hac_item *item)
{
    size_t bytes;
    bool list = advance(p) && is_symbol(p, "(");
    item->excluded = take_memory(p, EXCLUDED_MAX * sizeof *item->excluded);
    if (item->excluded == NULL || p->status != HAC_OK || (list && !advance(p)))
        return false;
    do {
        if (p->token.kind != HAC_TOKEN_NAME && p->token.kind != HAC_TOKEN_QUOTED) {
            unexpected(p, "the name of a column");
            return false;
        }
        if (item->n_excluded == EXCLUDED_MAX)
            return fail_at(p, here(p), "more than %d columns are left out", EXCLUDED_MAX) != NULL;
        if ((item->excluded[item->n_excluded++] = take_name(p, false, &bytes)) == NULL)
            return false;
    } while (list && is_symbol(p, ",") && advance(p));
    return list ? expect_symbol(p, ")", "',' or ')'") : p->status == HAC_OK;
}

static bool star_item(hac_parser *p, hac_item *item)
{
    item->node = new_node(p, HAC_NODE_STAR, here(p));
    if (item->node == NULL || !advance(p))
        return false;
    if (is_word(p, "replace"))
        return fail_at(p, here(p), "there is no REPLACE; write * exclude (a), f(a) as a") != NULL;
    return is_word(p, "exclude") || is_word(p, "except") ? excluded_names(p, item) : true;
}

/* asc, desc; nulls first, nulls last */
static bool item_direction(hac_parser *p, hac_item *item)
{
    if (is_word(p, "asc") || is_word(p, "desc")) {
        item->descending = is_word(p, "desc");
        if (!advance(p))
            return false;
    }
    if (!is_word(p, "nulls"))
        return true;
    if (!advance(p))
        return false;
    item->nulls_first = is_word(p, "first");
    return item->nulls_first ? advance(p) : expect_word(p, "last", "'first' or 'last'");
}

/* Whether a name without `as` stands here. */
static bool is_bare_name(const hac_parser *p)
{
    return p->token.kind == HAC_TOKEN_QUOTED || (p->token.kind == HAC_TOKEN_NAME && !is_reserved(p) &&
                                                 hac_instead_of_sql(&p->token, p->source->text)[0] == '\0');
}

static bool parse_item(hac_parser *p, unsigned flags, hac_item *item)
{
    *item = (hac_item){.source = p->source, .first = here(p)};
    if ((flags & HAC_ITEM_STAR) != 0 && is_symbol(p, "*"))
        return star_item(p, item);
    item->node = parse(p, OR);
    item->end = here(p);
    if (item->node == NULL)
        return false;
    if ((flags & HAC_ITEM_NAMES) != 0 && is_word(p, "as"))
        return advance(p) && item_name(p, item);
    if ((flags & HAC_ITEM_BARE_NAMES) != 0 && is_bare_name(p))
        return item_name(p, item);
    return (flags & HAC_ITEM_DIRECTIONS) == 0 || item_direction(p, item);
}

hac_status hac_parse_items(hac_parser *p, const hac_expr_source *source, unsigned flags, size_t max,
                           hac_item *ret, size_t *ret_n)
{
    size_t n = 0;
    if (!begin(p, source))
        return p->status;
    for (;;) {
        if (n == max) {
            (void)fail_at(p, here(p), "more than %zu items", max);
            return p->status;
        }
        if (!parse_item(p, flags, &ret[n++]))
            return p->status;
        if (p->token.kind == HAC_TOKEN_END)
            break;
        if (!is_symbol(p, ",")) {
            unexpected(p, (flags & HAC_ITEM_NAMES) != 0        ? "an operator, 'as', ',' or the end"
                          : (flags & HAC_ITEM_DIRECTIONS) != 0 ? "'asc', 'desc', 'nulls', ',' or the end"
                                                               : "an operator, ',' or the end");
            return p->status;
        }
        if (!advance(p))
            return p->status;
    }
    *ret_n = n;
    return HAC_OK;
}
