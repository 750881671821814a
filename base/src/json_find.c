/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json_find.h"

#include <string.h>

static const char *skip_blanks(const char *at)
{
    return at + strspn(at, " \t\r\n");
}

/* The closing quote of the string that begins at `at`; NULL: there is none. */
static const char *end_of_string(const char *at)
{
    for (at++; *at != '"'; at++) {
        at += *at == '\\';
        if (*at == '\0')
            return NULL;
    }
    return at;
}

/* What follows a value; NULL: the text ends within it. */
static const char *skip_value(const char *at)
{
    size_t depth = 0;
    do {
        if (*at == '"')
            at = end_of_string(at);
        if (at == NULL || *at == '\0')
            return NULL;
        depth += *at == '{' || *at == '[';
        if (*at == '}' || *at == ']') {
            if (depth == 0)
                return at;
            depth--;
        }
        at++;
    } while (depth > 0 || (*at != ',' && *at != '}' && *at != ']'));
    return at;
}

/* The value of a member of the object that begins at `at`; NULL: there is none. */
static const char *find_member(const char *at, const char *key, size_t bytes)
{
    if (*at != '{')
        return NULL;
    do {
        const char *name = skip_blanks(at + 1), *end = *name == '"' ? end_of_string(name) : NULL;
        if (end == NULL || *(at = skip_blanks(end + 1)) != ':')
            return NULL;
        at = skip_blanks(at + 1);
        if ((size_t)(end - name - 1) == bytes && memcmp(name + 1, key, bytes) == 0)
            return at;
        at = skip_value(at);
    } while (at != NULL && *at == ',');
    return NULL;
}

bool hac_json_find_string(const char *json, const char *path, const char **ret, size_t *ret_bytes)
{
    const char *at = skip_blanks(json);
    while (at != NULL && *path != '\0') {
        size_t bytes = strcspn(path, ".");
        at = find_member(at, path, bytes);
        path += bytes + (path[bytes] == '.');
    }
    const char *end = at != NULL && *at == '"' ? end_of_string(at) : NULL;
    if (end == NULL)
        return false;
    *ret = at + 1;
    *ret_bytes = (size_t)(end - at - 1);
    return true;
}
