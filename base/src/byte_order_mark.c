/* SPDX-License-Identifier: Apache-2.0 */
#include "base/byte_order_mark.h"

#include <string.h>
#include <unistd.h>

size_t hac_byte_order_mark(const void *text, size_t bytes)
{
    static const uint8_t mark[] = {0xef, 0xbb, 0xbf};
    return bytes >= sizeof mark && memcmp(text, mark, sizeof mark) == 0 ? sizeof mark : 0;
}

bool hac_is_mark_alone(int fd, uint64_t bytes)
{
    uint8_t head[3];
    return bytes == sizeof head && pread(fd, head, sizeof head, 0) == (ssize_t)sizeof head &&
           hac_byte_order_mark(head, sizeof head) != 0;
}
