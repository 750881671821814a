/* SPDX-License-Identifier: Apache-2.0 */
#include "bytes.h"

#include <stdlib.h>

void hac_bytes_clear(hac_bytes *bytes)
{
    free(bytes->data);
    *bytes = (hac_bytes){0};
}

bool hac_bytes_reserve(hac_bytes *bytes, size_t more)
{
    size_t wanted;
    if (bytes->broken || __builtin_add_overflow(bytes->n, more, &wanted) || wanted > SIZE_MAX / 2)
        return !(bytes->broken = true);
    if (wanted <= bytes->capacity)
        return true;
    size_t capacity = bytes->capacity + bytes->capacity / 2;
    if (capacity < wanted)
        capacity = wanted < 64 ? 64 : wanted;
    uint8_t *data = realloc(bytes->data, capacity);
    if (data == NULL)
        return !(bytes->broken = true);
    bytes->data = data;
    bytes->capacity = capacity;
    return true;
}

bool hac_bytes_add(hac_bytes *bytes, const void *data, size_t n)
{
    if (!hac_bytes_reserve(bytes, n))
        return false;
    if (n > 0)
        memcpy(bytes->data + bytes->n, data, n);
    bytes->n += n;
    return true;
}
