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

static unsigned min_of(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* Edits (insert, delete, replace, swap neighbours) without case; names of at most NAME_MAX_BYTES. */
static unsigned distance(const char *a, const char *b)
{
    unsigned rows[3][NAME_MAX_BYTES + 1]; /* the row of a letter of a, and the two before */
    size_t n = strlen(b), m = strlen(a);
    for (size_t j = 0; j <= n; j++)
        rows[0][j] = (unsigned)j;
    for (size_t i = 1; i <= m; i++) {
        unsigned *row = rows[i % 3], *above = rows[(i - 1) % 3];
        row[0] = (unsigned)i;
        for (size_t j = 1; j <= n; j++) {
            bool same = lower(a[i - 1]) == lower(b[j - 1]);
            row[j] = min_of(above[j - 1] + !same, 1 + min_of(row[j - 1], above[j]));
            if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1]))
                row[j] = min_of(row[j], rows[(i - 2) % 3][j - 2] + 1);
        }
    }
    return rows[m % 3][n];
}

size_t hac_suggest_index(const char *name, const void *list, size_t n, hac_suggest_name get)
{
    size_t nearest = n;
    if (strlen(name) > NAME_MAX_BYTES)
        return n;
    unsigned min = (unsigned)strlen(name) / 3 + 1; /* exclusive: one slip in three letters */
    for (size_t i = 0; i < n; i++) {
        const char *candidate = get(list, i);
        if (strlen(candidate) > NAME_MAX_BYTES)
            continue;
        unsigned d = distance(name, candidate);
        if (d < min) {
            min = d;
            nearest = i;
        }
    }
    return nearest;
}

const char *hac_suggest(const char *name, const void *list, size_t n, hac_suggest_name get)
{
    size_t i = hac_suggest_index(name, list, n, get);
    return i < n ? get(list, i) : NULL;
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
