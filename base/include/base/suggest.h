/* SPDX-License-Identifier: Apache-2.0 */
/* "did you mean": names for messages. */
#ifndef BASE_SUGGEST_H
#define BASE_SUGGEST_H

#include <stddef.h>

#define HAC_SUGGEST_TEXT_MAX 320

/* The i-th name of a list. */
typedef const char *(*hac_suggest_name)(const void *list, size_t i);

/* The name of the list that `name` may be a slip for: edits (insert, delete, replace, swap neighbours) in a
 * third of its letters at most, without case; NULL: none is near. */
const char *hac_suggest(const char *name, const void *list, size_t n, hac_suggest_name get);

/* Its place in the list; n: none is near. The name of one is not asked for while that of another is needed.
 */
size_t hac_suggest_index(const char *name, const void *list, size_t n, hac_suggest_name get);

/* "there are: price, quantity (did you mean price?)"; `ret` has room for HAC_SUGGEST_TEXT_MAX. Long lists are
 * cut. Returns ret. */
const char *hac_suggest_text(const char *name, const void *list, size_t n, hac_suggest_name get, char *ret);

#endif
