/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files, as system calls leave them to the caller: reading and writing whole pieces in spite of short
 * transfers and signals, and replacing a file so that nobody sees a part of it.
 *
 * A `point` is the name of a failpoint at which the calls fail in tests, or are short: HAC_FAILPOINT_NAME
 * (failpoint.h); NULL: none. Functions that return an int return 0, or the errno of what failed.
 */
#ifndef BASE_IO_H
#define BASE_IO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

/* Opens a file for reading, -1 with errno. Does not wait for the writer of a FIFO; a terminal does not become
 * the process' controlling one. */
int hac_open_read(const char *path);

/* Whether a regular file has the size that `st` gives. Files of /proc have the size 0, but content. */
bool hac_size_is_known(int fd, const struct stat *st);

/* Reads at `offset` until `bytes` have been read or the file ends. *ret_done, which is also set on failure:
 * bytes read; fewer than `bytes` without an error: the file has ended. */
int hac_pread_all(int fd, void *data, uint64_t bytes, uint64_t offset, uint64_t *ret_done, const char *point);

int hac_write_all(int fd, const void *data, uint64_t bytes, const char *point);
int hac_pwrite_all(int fd, const void *data, uint64_t bytes, uint64_t offset);

/* The failpoints of hac_replace_file. */
typedef struct hac_replace_points {
    const char *open, *write, *rename;
} hac_replace_points;

/* Writes a file of mode 0600 under the name `temporary`, and renames it to `name`, which may exist. Both are
 * paths in `folder` (AT_FDCWD: the current one). A file that a killed process has left under `temporary` is
 * removed. On failure, `name` is as before. */
int hac_replace_file(int folder, const char *temporary, const char *name, const void *data, uint64_t bytes,
                     const hac_replace_points *points);

#endif
