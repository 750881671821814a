/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Regular expressions with the syntax and the meaning of RE2: a search takes time linear in the text,
 * whatever the pattern, and memory within HAC_REGEXP_MEMORY. There are neither lookarounds nor references
 * back. Text is UTF-8; a byte that is not matches nothing, not even `.`.
 *
 * This is the one file of the project that C++ is behind. No exception leaves it.
 */
#ifndef REGEXP_REGEXP_H
#define REGEXP_REGEXP_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HAC_REGEXP_MEMORY      (8 << 20) /* bytes of a pattern and of its searches */
#define HAC_REGEXP_GROUPS_MAX  9         /* groups that can be asked for: \1 … \9 */
#define HAC_REGEXP_PROBLEM_MAX 160

typedef enum hac_regexp_flag {
    HAC_REGEXP_IGNORE_CASE = 1,
    HAC_REGEXP_DOT_NEWLINE = 2 /* . matches a newline, too */
} hac_regexp_flag;

typedef struct hac_regexp hac_regexp;

/* NULL: not a regular expression, or no memory. The message says which; it may quote the pattern. */
hac_regexp *hac_regexp_new(const char *pattern, size_t bytes, unsigned flags,
                           char ret_problem[HAC_REGEXP_PROBLEM_MAX]);
void hac_regexp_free(hac_regexp *regexp);

/* The number of groups in parentheses. */
unsigned hac_regexp_groups(const hac_regexp *regexp);

typedef enum hac_regexp_found {
    HAC_REGEXP_NOT_FOUND = 0,
    HAC_REGEXP_FOUND,
    HAC_REGEXP_NO_MEMORY
} hac_regexp_found;

/* Searches the leftmost match. Texts may change while they are searched: then the result is any, but within
 * the text. */
hac_regexp_found hac_regexp_matches(const hac_regexp *regexp, const char *text, size_t bytes);
/* What group `group` of the match has matched, 0: the whole match. A group that plays no part is empty. */
hac_regexp_found hac_regexp_extract(const hac_regexp *regexp, const char *text, size_t bytes, unsigned group,
                                    size_t *ret_first, size_t *ret_bytes);

/* NULL, or what is wrong with a replacement: \0 … \9 stand for groups, \\ for a backslash. */
const char *hac_regexp_replacement_problem(const hac_regexp *regexp, const char *by, size_t bytes);

/* Replaces the first match, or all, which do not overlap. HAC_REGEXP_NO_MEMORY: the result is longer than
 * `capacity`, too. */
hac_regexp_found hac_regexp_replace(const hac_regexp *regexp, const char *text, size_t bytes, const char *by,
                                    size_t by_bytes, bool all, char *to, size_t capacity, size_t *ret_bytes);

#ifdef __cplusplus
}
#endif

#endif
