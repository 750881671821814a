/* SPDX-License-Identifier: Apache-2.0 */
/* The options of a regular expression, and its text in programs: "options/group/pattern". */
#ifndef EXPR_REGEXP_TEXT_H
#define EXPR_REGEXP_TEXT_H

#include <string.h>

#include "regexp/regexp.h"

/* i: case does not matter; c: it does; s: . matches a newline; g: replace all matches */
#define HAC_REGEXP_LETTERS "icsg"

typedef struct hac_regexp_text {
    unsigned flags; /* HAC_REGEXP_… */
    bool all;
    unsigned group;
    const char *pattern;
    size_t bytes;
} hac_regexp_text;

/* Reads options; false: one is unknown. The last one of i and c counts. */
static inline bool hac_regexp_options(const char *letters, size_t n, hac_regexp_text *ret)
{
    for (size_t i = 0; i < n; i++) {
        if (letters[i] == '\0' || strchr(HAC_REGEXP_LETTERS, letters[i]) == NULL)
            return false;
        if (letters[i] == 'i')
            ret->flags |= HAC_REGEXP_IGNORE_CASE;
        else if (letters[i] == 'c')
            ret->flags &= ~(unsigned)HAC_REGEXP_IGNORE_CASE;
        else if (letters[i] == 's')
            ret->flags |= HAC_REGEXP_DOT_NEWLINE;
        else
            ret->all = true;
    }
    return true;
}

/* False: not such a text. */
static inline bool hac_regexp_text_read(const char *text, size_t n, hac_regexp_text *ret)
{
    const char *slash = n > 0 ? memchr(text, '/', n) : NULL;
    size_t options = slash != NULL ? (size_t)(slash - text) : n;
    *ret = (hac_regexp_text){0};
    if (n - options < 3 || slash[1] < '0' || slash[1] > '9' || slash[2] != '/')
        return false;
    ret->group = (unsigned)(slash[1] - '0');
    ret->pattern = slash + 3;
    ret->bytes = n - options - 3;
    return hac_regexp_options(text, options, ret);
}

#endif
