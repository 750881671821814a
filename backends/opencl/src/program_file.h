/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files that hold device binaries. An entry is
 *
 *     "HACPROG1"  u64 key  u32 name bytes  u32 notes bytes  u64 binary bytes  u64 checksum
 *     name  notes  binary
 *
 * Numbers are in the machine's byte order. The checksum (XXH3) covers everything after the header. A .bin
 * file is one entry; an image (image.h) is a sequence of entries.
 */
#ifndef OPENCL_PROGRAM_FILE_H
#define OPENCL_PROGRAM_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define HAC_PROGRAM_FILE_MAX (UINT64_C(1) << 30)

typedef struct hac_program_entry {
    uint64_t key;
    const char *name; /* not terminated */
    size_t name_bytes;
    const char *notes; /* not terminated */
    size_t notes_bytes;
    const uint8_t *binary;
    size_t binary_bytes;
} hac_program_entry;

/* Reads the entry at *offset and moves *offset behind the entry. HAC_NOT_FOUND: the data ends there, or the
 * entry is damaged or incomplete. *ret points into `data`. */
HAC_MUST_USE hac_status hac_program_entry_read(const uint8_t *data, size_t bytes, size_t *offset,
                                               hac_program_entry *ret);

/*
 * Reads a whole file; *ret is malloc'ed. HAC_NOT_FOUND: there is no such file. HAC_REFUSED: it is no regular
 * file, it belongs neither to this user nor to root, or others may write to it. HAC_IO: any other error.
 */
HAC_MUST_USE hac_status hac_program_file_read(const char *path, uint8_t **ret, size_t *ret_bytes,
                                              hac_error *err);

/* Writes one entry to a temporary file beside `path`, syncs the file and renames it to `path`. */
HAC_MUST_USE hac_status hac_program_file_write(const char *path, const hac_program_entry *entry,
                                               hac_error *err);

/* Writes all of `data`. `path` is for messages. */
HAC_MUST_USE hac_status hac_program_write_fully(int fd, const char *path, const void *data, size_t bytes,
                                                hac_error *err);

#endif
