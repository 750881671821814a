/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files that hold device binaries. An entry is
 *
 *     "HACPROG1"  u64 key  u32 name bytes  u32 notes bytes  u64 binary bytes  u64 checksum
 *     name  notes  binary
 *
 * in the machine's byte order, the checksum (XXH3) over all that follows the header. A .bin file is one
 * entry; an image (image.h) has any number of them one behind the other.
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

/* Reads the entry at *offset and moves *offset behind it. HAC_NOT_FOUND: the end, or no whole and
 * undamaged entry there. The entry points into `data`. */
HAC_MUST_USE hac_status hac_program_entry_read(const uint8_t *data, size_t bytes, size_t *offset,
                                               hac_program_entry *ret);

/*
 * Reads a file whole; *ret is malloc'ed. HAC_NOT_FOUND when it is not there, HAC_REFUSED when it is not a
 * regular file of ours or root's, or others may write to it, HAC_IO for anything else.
 */
HAC_MUST_USE hac_status hac_program_file_read(const char *path, uint8_t **ret, size_t *ret_bytes,
                                              hac_error *err);

/* Writes one entry under a temporary name beside `path`, syncs it and renames it. */
HAC_MUST_USE hac_status hac_program_file_write(const char *path, const hac_program_entry *entry,
                                               hac_error *err);

/* All of `data`; `path` is for messages. */
HAC_MUST_USE hac_status hac_program_write_fully(int fd, const char *path, const void *data, size_t bytes,
                                                hac_error *err);

#endif
