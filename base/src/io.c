/* SPDX-License-Identifier: Apache-2.0 */
#include "base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/failpoint.h"

#define PIECE_MAX (UINT64_C(1) << 30) /* of one call: read and write transfer at most 2 GiB - 4 KiB */

int hac_open_read(const char *path)
{
    return open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
}

bool hac_size_is_known(int fd, const struct stat *st)
{
    char byte;
    return S_ISREG(st->st_mode) && (st->st_size > 0 || pread(fd, &byte, sizeof byte, 0) <= 0);
}

/* Bytes of the next call. */
static size_t piece(uint64_t left, const char *point)
{
    (void)point;
    return HAC_FAILPOINT_SHORT(point, (size_t)(left < PIECE_MAX ? left : PIECE_MAX));
}

int hac_pread_all(int fd, void *data, uint64_t bytes, uint64_t offset, uint64_t *ret_done, const char *point)
{
    (void)point;
    for (*ret_done = 0; *ret_done < bytes;) {
        size_t max = piece(bytes - *ret_done, point);
        ssize_t n = HAC_FAILPOINT(point, -1,
                                  pread(fd, (uint8_t *)data + *ret_done, max, (off_t)(offset + *ret_done)));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n < 0 ? errno : 0;
        *ret_done += (uint64_t)n;
    }
    return 0;
}

/* Writes at `*at`, or with NULL where the file's position is. */
static int write_all(int fd, const uint8_t *data, uint64_t bytes, const uint64_t *at, const char *point)
{
    (void)point;
    for (uint64_t done = 0; done < bytes;) {
        size_t max = piece(bytes - done, point);
        ssize_t n = HAC_FAILPOINT(point, -1,
                                  at == NULL ? write(fd, data + done, max)
                                             : pwrite(fd, data + done, max, (off_t)(*at + done)));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return errno;
        done += (uint64_t)n;
    }
    return 0;
}

int hac_write_all(int fd, const void *data, uint64_t bytes, const char *point)
{
    return write_all(fd, data, bytes, NULL, point);
}

int hac_pwrite_all(int fd, const void *data, uint64_t bytes, uint64_t offset)
{
    return write_all(fd, data, bytes, &offset, NULL);
}

int hac_replace_file(int folder, const char *temporary, const char *name, const void *data, uint64_t bytes,
                     const hac_replace_points *points)
{
    const int flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW;
    (void)points;
    (void)unlinkat(folder, temporary, 0); /* whatever it is: opening a FIFO would wait for a reader */
    hac_autoclose int fd = HAC_FAILPOINT(points->open, -1, openat(folder, temporary, flags, 0600));
    if (fd < 0)
        return errno;
    int errnum = hac_write_all(fd, data, bytes, points->write);
    if (errnum == 0 && HAC_FAILPOINT(points->rename, -1, renameat(folder, temporary, folder, name)) != 0)
        errnum = errno;
    if (errnum != 0)
        (void)unlinkat(folder, temporary, 0);
    return errnum;
}
