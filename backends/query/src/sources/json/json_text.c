/* SPDX-License-Identifier: Apache-2.0 */
#include "json_text.h"

#include <string.h>

#include "base/json_escape.h"
#include "base/json_grammar.h"

/* ---- strings ---- */

/* Reads the one or two units (a surrogate pair) that follow "\u". */
static bool unicode_escape(hac_json_text *j, uint8_t **to)
{
    const uint8_t *at = j->at;
    int32_t code = hac_json_unicode(&at, j->end);
    j->at += at - j->at;
    if (code == HAC_JSON_NOT_HEX)
        return hac_json_problem(j, "\\u needs four hexadecimal digits");
    if (code == HAC_JSON_HALF_PAIR)
        return hac_json_problem(j, "\\u names half of a surrogate pair");
    *to += hac_json_put_utf8(code, *to);
    return true;
}

static bool escape(hac_json_text *j, uint8_t **to)
{
    static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
    j->at++;
    if (j->at == j->end)
        return hac_json_problem(j, "a string has no closing quote");
    uint8_t name = *j->at++;
    if (name == 'u')
        return unicode_escape(j, to);
    const char *found = name != 0 ? strchr(names, name) : NULL;
    if (found == NULL)
        return hac_json_problem(j, "a backslash before a character that has no escape");
    *(*to)++ = (uint8_t)values[found - names];
    return true;
}

bool hac_json_unescape(hac_json_text *j, uint8_t *start, size_t plain, size_t *ret_bytes)
{
    uint8_t *to = start + plain, *special = to;
    do {
        j->at = special;
        if (!escape(j, &to))
            return false;
        special = hac_json_find_special(j->at, j->end);
        if (special == NULL)
            return hac_json_problem(j, "a string has no closing quote");
        plain = (size_t)(special - j->at);
        memmove(to, j->at, plain);
        to += plain;
    } while (*special == '\\');
    j->at = special + 1;
    *ret_bytes = (size_t)(to - start);
    return true;
}

bool hac_json_skip_string(hac_json_text *j)
{
    j->at++;
    for (;;) {
        uint8_t *special = hac_json_find_special(j->at, j->end);
        if (special == NULL)
            return hac_json_problem(j, "a string has no closing quote");
        j->at = special;
        if (*special == '"') {
            j->at++;
            return true;
        }
        uint8_t unused[4], *to = unused;
        if (!escape(j, &to))
            return false;
    }
}

bool hac_json_skip_word(hac_json_text *j)
{
    static const char *const words[] = {HAC_JSON_WORDS, "-Infinity"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t n = strlen(words[i]);
        if ((size_t)(j->end - j->at) >= n && memcmp(j->at, words[i], n) == 0) {
            j->at += n;
            return true;
        }
    }
    return hac_json_problem(j, "expected a value");
}

/* Open brackets, one bit each: 1 for an object. */
typedef struct nesting {
    uint64_t bits[HAC_JSON_DEPTH_MAX / 64];
    size_t depth;
} nesting;

static bool in_object(const nesting *n)
{
    return n->bits[(n->depth - 1) / 64] >> (n->depth - 1) % 64 & 1;
}

static bool push(hac_json_text *j, nesting *n, bool object)
{
    if (n->depth == HAC_JSON_DEPTH_MAX)
        return hac_json_problem(j, "nested more than 512 deep");
    uint64_t bit = UINT64_C(1) << n->depth % 64;
    if (object)
        n->bits[n->depth / 64] |= bit;
    else
        n->bits[n->depth / 64] &= ~bit;
    n->depth++;
    return true;
}

static bool skip_key(hac_json_text *j)
{
    hac_json_skip_blanks(j);
    if (j->at == j->end || *j->at != '"')
        return hac_json_problem(j, "expected a name in quotes");
    return hac_json_skip_string(j) &&
           (hac_json_take(j, ':') || hac_json_problem(j, "expected ':' behind a name"));
}

/* Opens brackets up to a value that has none, or up to an empty pair, for which *ret_closed is true. */
static bool descend(hac_json_text *j, nesting *n, bool *ret_closed)
{
    *ret_closed = false;
    for (;;) {
        hac_json_skip_blanks(j);
        bool object = j->at < j->end && *j->at == '{';
        if (!object && (j->at == j->end || *j->at != '['))
            return hac_json_skip_scalar(j);
        j->at++;
        if (!push(j, n, object))
            return false;
        hac_json_skip_blanks(j);
        if (j->at < j->end && *j->at == (object ? '}' : ']')) {
            j->at++;
            n->depth--;
            *ret_closed = true;
            return true;
        }
        if (object && !skip_key(j))
            return false;
    }
}

bool hac_json_skip_value(hac_json_text *j)
{
    nesting n = {.depth = 0};
    bool closed;
    for (;;) {
        if (!descend(j, &n, &closed))
            return false;
        for (;;) { /* after a value */
            if (n.depth == 0)
                return true;
            if (hac_json_take(j, ','))
                break;
            if (!hac_json_take(j, in_object(&n) ? '}' : ']'))
                return hac_json_problem(j, in_object(&n) ? "expected ',' or '}'" : "expected ',' or ']'");
            n.depth--;
        }
        if (in_object(&n) && !skip_key(j))
            return false;
    }
}
