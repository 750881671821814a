/* SPDX-License-Identifier: Apache-2.0 */
#include "foreign_file.h"

#include <fcntl.h>
#include <sys/stat.h>

bool hac_foreign_stat(int fd, uint32_t *ret_mode, uint64_t *ret_size)
{
    /* Only what the kernel knows already: asking a file server (NFS, FUSE) may block for ever. */
    struct statx info;
    if (fd < 0 || statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_TYPE | STATX_SIZE, &info) != 0)
        return false;
    *ret_mode = info.stx_mode;
    *ret_size = info.stx_size;
    return true;
}
