/* SPDX-License-Identifier: Apache-2.0 */
#include "base/byte_order_mark.h"

#include <string.h>
#include <unistd.h>

bool hac_is_mark_alone(int fd, uint64_t bytes)
{
    uint8_t head[3];
    return bytes == sizeof head && pread(fd, head, sizeof head, 0) == (ssize_t)sizeof head &&
           memcmp(head, "\xef\xbb\xbf", sizeof head) == 0;
}
