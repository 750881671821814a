/* SPDX-License-Identifier: Apache-2.0 */
#include "base/folder_keys.h"

#include <string.h>

static int digit_of(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static size_t unescape(const char *text, size_t bytes, char *ret)
{
    size_t n = 0;
    for (size_t i = 0; i < bytes; i++) {
        int high = text[i] == '%' && i + 2 < bytes ? digit_of(text[i + 1]) : -1;
        int low = high >= 0 ? digit_of(text[i + 2]) : -1;
        ret[n++] = low >= 0 ? (char)(high * 16 + low) : text[i];
        i += low >= 0 ? 2 : 0;
    }
    return n;
}

bool hac_folder_key_next(const char **at, const char *end, hac_folder_key *ret)
{
    const char *slash;
    while (*at < end && (slash = memchr(*at, '/', (size_t)(end - *at))) != NULL) {
        const char *folder = *at, *equals = memchr(folder, '=', (size_t)(slash - folder));
        *at = slash + 1;
        size_t bytes = equals != NULL ? (size_t)(equals - folder) : 0;
        if (bytes == 0 || bytes >= sizeof ret->name)
            continue;
        ret->name[unescape(folder, bytes, ret->name)] = '\0';
        ret->value = equals + 1;
        ret->value_bytes = (size_t)(slash - ret->value);
        if (ret->name[0] != '\0')
            return true;
    }
    return false;
}

size_t hac_folder_key_value(const hac_folder_key *key, char *ret)
{
    return unescape(key->value, key->value_bytes, ret);
}

bool hac_folder_key_is_null(const hac_folder_key *key)
{
    static const char null[] = "__HIVE_DEFAULT_PARTITION__";
    return key->value_bytes == sizeof null - 1 && memcmp(key->value, null, sizeof null - 1) == 0;
}
