/* SPDX-License-Identifier: Apache-2.0 */
#include "base/suggest.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define NAME_MAX_BYTES 64
#define LIST_BYTES     160

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

/* Levenshtein's distance, without case; names of at most NAME_MAX_BYTES. */
static unsigned distance(const char *a, const char *b)
{
    unsigned row[NAME_MAX_BYTES + 1];
    size_t n = strlen(b);
    for (size_t j = 0; j <= n; j++)
        row[j] = (unsigned)j;
    for (size_t i = 1; a[i - 1] != '\0'; i++) {
        unsigned diagonal = row[0];
        row[0] = (unsigned)i;
        for (size_t j = 1; j <= n; j++) {
            unsigned changed = diagonal + (lower(a[i - 1]) != lower(b[j - 1]));
            diagonal = row[j];
            unsigned least = row[j - 1] < row[j] ? row[j - 1] + 1 : row[j] + 1;
            row[j] = changed < least ? changed : least;
        }
    }
    return row[n];
}

const char *hac_suggest(const char *name, const void *list, size_t n, hac_suggest_name get)
{
    const char *nearest = NULL;
    if (strlen(name) > NAME_MAX_BYTES)
        return NULL;
    unsigned least = (unsigned)strlen(name) / 3 + 1; /* exclusive: one slip in three letters */
    for (size_t i = 0; i < n; i++) {
        const char *candidate = get(list, i);
        if (strlen(candidate) > NAME_MAX_BYTES)
            continue;
        unsigned d = distance(name, candidate);
        if (d < least) {
            least = d;
            nearest = candidate;
        }
    }
    return nearest;
}

const char *hac_suggest_text(const char *name, const void *list, size_t n, hac_suggest_name get, char *ret)
{
    if (n == 0) {
        snprintf(ret, HAC_SUGGEST_TEXT_MAX, "there are none");
        return ret;
    }
    size_t used = (size_t)snprintf(ret, HAC_SUGGEST_TEXT_MAX, "there are: ");
    for (size_t i = 0; i < n; i++) {
        const char *candidate = get(list, i);
        if (used + strlen(candidate) > LIST_BYTES) {
            used += (size_t)snprintf(ret + used, HAC_SUGGEST_TEXT_MAX - used, "%s…", i > 0 ? ", " : "");
            break;
        }
        used +=
            (size_t)snprintf(ret + used, HAC_SUGGEST_TEXT_MAX - used, "%s%s", i > 0 ? ", " : "", candidate);
    }
    const char *nearest = hac_suggest(name, list, n, get);
    if (nearest != NULL)
        snprintf(ret + used, HAC_SUGGEST_TEXT_MAX - used, " (did you mean %s?)", nearest);
    return ret;
}
