/* SPDX-License-Identifier: Apache-2.0 */
/* What kind of query it is, as far as has to be known before hacd has compiled it. */
#include <string.h>
#include <strings.h>

#include "aggregates.h"
#include "query.h"

static bool is_name_part(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           (unsigned char)c >= 0x80;
}

static bool is_aggregate(const char *name, size_t bytes)
{
#define NAME(name) #name,
    static const char *const names[] = {HAC_AGGREGATE_NAMES(NAME)};
#undef NAME
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strlen(names[i]) == bytes && strncasecmp(name, names[i], bytes) == 0)
            return true;
    return false;
}

/* Behind 'text' or a "name", where it is closed; a doubled quote begins another one. */
static const char *skip_quoted(const char *text)
{
    const char *end = strchr(text + 1, *text);
    return end == NULL ? text + strlen(text) : end + 1;
}

/* Whether an aggregate's name stands before a bracket. */
static bool calls_aggregate(const char *text)
{
    const char *name = text;
    size_t bytes = 0;
    while (*text != '\0') {
        if (*text == '\'' || *text == '"') {
            text = skip_quoted(text);
            bytes = 0;
        } else if (is_name_part(*text)) {
            for (name = text; is_name_part(*text); text++)
                ;
            bytes = (size_t)(text - name);
        } else {
            if (*text == '(' && is_aggregate(name, bytes))
                return true;
            if (*text != ' ' && (*text < '\t' || *text > '\r'))
                bytes = 0;
            text++;
        }
    }
    return false;
}

bool hac_query_gives_rows(const hac_query_options *options)
{
    if (options->group_by != NULL && options->group_by[0] != '\0')
        return false;
    return options->select == NULL || !calls_aggregate(options->select);
}
