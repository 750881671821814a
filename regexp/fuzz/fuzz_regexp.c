/* SPDX-License-Identifier: Apache-2.0 */
/* Hostile patterns on hostile texts. The lines of the input are flags, pattern and replacement; the rest is
 * the text. Results lie within the text, and searches agree with each other. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "regexp/regexp.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define ROOM 4096

static void check(int ok)
{
    if (!ok)
        abort();
}

typedef struct line {
    const char *at;
    size_t bytes;
} line;

static line take_line(const char **at, const char *end)
{
    const char *newline = *at < end ? memchr(*at, '\n', (size_t)(end - *at)) : NULL;
    line ret = {*at, (size_t)((newline != NULL ? newline : end) - *at)};
    *at = newline != NULL ? newline + 1 : end;
    return ret;
}

static void search(const hac_regexp *regexp, line text, line by)
{
    static char to[ROOM];
    size_t first, bytes, made;
    hac_regexp_found found = hac_regexp_matches(regexp, text.at, text.bytes);
    for (unsigned group = 0; group <= HAC_REGEXP_GROUPS_MAX; group++) {
        hac_regexp_found part = hac_regexp_extract(regexp, text.at, text.bytes, group, &first, &bytes);
        check(first <= text.bytes && bytes <= text.bytes - first);
        check(group > hac_regexp_groups(regexp) || part == found);
    }
    if (hac_regexp_replacement_problem(regexp, by.at, by.bytes) != NULL)
        return;
    for (int all = 0; all < 2; all++) {
        found = hac_regexp_replace(regexp, text.at, text.bytes, by.at, by.bytes, all, to, ROOM, &made);
        check(made <= ROOM && found != HAC_REGEXP_NOT_FOUND);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *at = size > 0 ? (const char *)data : "", *end = at + size;
    char problem[HAC_REGEXP_PROBLEM_MAX] = "";
    line flags = take_line(&at, end), pattern = take_line(&at, end), by = take_line(&at, end);
    unsigned bits = (flags.bytes > 0 && flags.at[0] == 'i' ? HAC_REGEXP_IGNORE_CASE : 0) |
                    (flags.bytes > 0 && flags.at[flags.bytes - 1] == 's' ? HAC_REGEXP_DOT_NEWLINE : 0);
    hac_regexp *regexp = hac_regexp_new(pattern.at, pattern.bytes, bits, problem);
    check((regexp == NULL) == (problem[0] != '\0'));
    if (regexp != NULL)
        search(regexp, (line){at, (size_t)(end - at)}, by);
    hac_regexp_free(regexp);
    return 0;
}
