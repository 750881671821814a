/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json_document.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/byte_order_mark.h"
#include "base/cleanup.h"
#include "base/io.h"

static size_t skip_string(const uint8_t *data, size_t at, size_t bytes)
{
    for (at++; at < bytes && data[at] != '"' && data[at] != '\n'; at++)
        at += data[at] == '\\';
    return at;
}

bool hac_json_is_document(const uint8_t *data, size_t bytes)
{
    size_t at = hac_byte_order_mark(data, bytes);
    long depth = 0;
    while (at < bytes && strchr(" \t\r\n", data[at]) != NULL && data[at] != '\0')
        at++;
    if (at == bytes || (data[at] != '{' && data[at] != '['))
        return false;
    if (data[at] == '[')
        return true;
    for (; at < bytes && data[at] != '\n'; at++) {
        if (data[at] == '"')
            at = skip_string(data, at, bytes);
        if (at >= bytes || data[at] == '\n')
            return false;
        depth += data[at] == '{' || data[at] == '[';
        depth -= data[at] == '}' || data[at] == ']';
    }
    return at < bytes && depth > 0;
}

bool hac_json_is_document_file(int fd)
{
    hac_autofree uint8_t *data = malloc(HAC_JSON_DOCUMENT_BYTES);
    off_t from = lseek(fd, 0, SEEK_CUR);
    uint64_t there = 0;
    if (data == NULL || from < 0)
        return false;
    (void)hac_pread_all(fd, data, HAC_JSON_DOCUMENT_BYTES, (uint64_t)from, &there, NULL);
    return there > 0 && hac_json_is_document(data, (size_t)there);
}
