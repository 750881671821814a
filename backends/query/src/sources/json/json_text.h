/* SPDX-License-Identifier: Apache-2.0 */
/* The JSON of one line, for the reader of jsonl (jsonl.c) and the search for its names (jsonl_names.c). The
 * functions that every value passes are inline. Strings are unescaped in place. There is no recursion:
 * nesting is a stack of bits. */
#ifndef QUERY_JSON_TEXT_H
#define QUERY_JSON_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/short_number.h"

typedef struct hac_json_text {
    uint8_t *at, *end;
    const char *problem; /* what is wrong with the line; set once */
} hac_json_text;

/* The problem of a name that a query of all columns cannot take. */
#define HAC_JSON_NO_COLUMN_NAME                                                                              \
    "a name that cannot be a column's: those have 1 to 127 bytes, and none is zero"

/* Each of these reads or skips one thing from `at` on. False: a problem. */
bool hac_json_skip_string(hac_json_text *j);
/* Skips a value of any kind. */
bool hac_json_skip_value(hac_json_text *j);
/* Skips true, false, null, and the words that Python writes for non-finite floats; the word is the value's
 * text. */
bool hac_json_skip_word(hac_json_text *j);
/* Unescapes a string from its first backslash on, which follows `plain` bytes. */
bool hac_json_unescape(hac_json_text *j, uint8_t *start, size_t plain, size_t *ret_bytes);

static inline bool hac_json_problem(hac_json_text *j, const char *what)
{
    if (j->problem == NULL)
        j->problem = what;
    return false;
}

static inline void hac_json_skip_blanks(hac_json_text *j)
{
    while (j->at < j->end && (*j->at == ' ' || *j->at == '\t' || *j->at == '\r'))
        j->at++;
}

static inline bool hac_json_take(hac_json_text *j, uint8_t byte)
{
    if (j->at < j->end && *j->at == byte) { /* usually there are no blanks */
        j->at++;
        return true;
    }
    hac_json_skip_blanks(j);
    if (j->at == j->end || *j->at != byte)
        return false;
    j->at++;
    return true;
}

/* Finds the next quote or backslash. Reads up to 8 bytes beyond the end, which the window has. */
static inline uint8_t *hac_json_find_special(uint8_t *at, const uint8_t *end)
{
    const uint64_t ones = UINT64_C(0x0101010101010101), tops = ones << 7;
    for (; at < end; at += 8) {
        uint64_t word = hac_eight_characters(at), quote = word ^ ones * ('"' ^ '0'),
                 slash = word ^ ones * ('\\' ^ '0');
        uint64_t found = (((quote - ones) & ~quote) | ((slash - ones) & ~slash)) & tops;
        if (found != 0) { /* the lowest bit is correct, the others may not be */
            at += __builtin_ctzll(found) / 8;
            return at < end ? at : NULL;
        }
    }
    return NULL;
}

/* Reads a string from its opening quote on, and unescapes it in place. */
static inline bool hac_json_read_string(hac_json_text *j, uint8_t **ret, size_t *ret_bytes)
{
    uint8_t *start = ++j->at, *special = hac_json_find_special(start, j->end);
    if (special == NULL)
        return hac_json_problem(j, "a string has no closing quote");
    *ret = start;
    *ret_bytes = (size_t)(special - start);
    j->at = special + 1;
    return *special == '"' || hac_json_unescape(j, start, *ret_bytes, ret_bytes);
}

static inline bool hac_json_is_digit(const hac_json_text *j)
{
    return j->at < j->end && *j->at >= '0' && *j->at <= '9';
}

/* Skips digits, at least one. Reads up to 8 bytes beyond the end, which the window has. */
static inline bool hac_json_digits(hac_json_text *j)
{
    const uint8_t *first = j->at;
    uint64_t others;
    while (j->at < j->end) {
        others = hac_not_digits(hac_eight_characters(j->at));
        j->at += others != 0 ? __builtin_ctzll(others) / 8 : 8;
        if (others != 0)
            break;
    }
    if (j->at > j->end)
        j->at = j->end;
    return j->at > first || hac_json_problem(j, "a number is incomplete");
}

static inline bool hac_json_skip_number(hac_json_text *j)
{
    if (*j->at == '-')
        j->at++;
    uint8_t *first = j->at;
    if (!hac_json_digits(j))
        return false;
    if (*first == '0' && j->at - first > 1)
        return hac_json_problem(j, "a number starts with 0");
    if (j->at < j->end && *j->at == '.') {
        j->at++;
        if (!hac_json_digits(j))
            return false;
    }
    if (j->at < j->end && (*j->at | 0x20) == 'e') {
        j->at++;
        if (j->at < j->end && (*j->at == '+' || *j->at == '-'))
            j->at++;
        return hac_json_digits(j);
    }
    return true;
}

/* Skips a value that is neither an object nor an array. */
static inline bool hac_json_skip_scalar(hac_json_text *j)
{
    if (j->at == j->end)
        return hac_json_problem(j, "expected a value");
    if (*j->at == '"')
        return hac_json_skip_string(j);
    if (hac_json_is_digit(j) || (*j->at == '-' && j->end - j->at > 1 && j->at[1] != 'I'))
        return hac_json_skip_number(j);
    return hac_json_skip_word(j);
}

#endif
