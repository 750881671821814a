/* SPDX-License-Identifier: Apache-2.0 */
#include "program_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <xxhash.h>

#include "base/cleanup.h"
#include "base/failpoint.h"
#include "base/io.h"

static const char magic[8] = {'H', 'A', 'C', 'P', 'R', 'O', 'G', '1'};

typedef struct file_header {
    char magic[8];
    uint64_t key;
    uint32_t name_bytes, notes_bytes;
    uint64_t binary_bytes;
    uint64_t checksum;
} file_header;

_Static_assert(sizeof(file_header) == 40, "no padding: it is written as it is");

hac_status hac_program_entry_read(const uint8_t *data, size_t bytes, size_t *offset, hac_program_entry *ret)
{
    file_header header;
    if (*offset > bytes || bytes - *offset < sizeof header)
        return HAC_NOT_FOUND;
    memcpy(&header, data + *offset, sizeof header);
    const uint8_t *body = data + *offset + sizeof header;
    size_t left = bytes - *offset - sizeof header;
    uint64_t body_bytes;
    if (memcmp(header.magic, magic, sizeof magic) != 0 || header.binary_bytes == 0 ||
        __builtin_add_overflow(header.binary_bytes, (uint64_t)header.name_bytes + header.notes_bytes,
                               &body_bytes) ||
        body_bytes > left || XXH3_64bits(body, body_bytes) != header.checksum)
        return HAC_NOT_FOUND;
    ret->key = header.key;
    ret->name = (const char *)body;
    ret->name_bytes = header.name_bytes;
    ret->notes = ret->name + header.name_bytes;
    ret->notes_bytes = header.notes_bytes;
    ret->binary = body + header.name_bytes + header.notes_bytes;
    ret->binary_bytes = header.binary_bytes;
    *offset += sizeof header + body_bytes;
    return HAC_OK;
}

hac_status hac_program_file_read(const char *path, uint8_t **ret, size_t *ret_bytes, hac_error *err)
{
    hac_autoclose int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    struct stat st;
    if (fd < 0 && errno == ENOENT)
        return hac_fail(err, HAC_NOT_FOUND, "%s: no such file", path);
    if (fd < 0 && errno == ELOOP)
        return hac_fail(err, HAC_REFUSED, "%s: is a link; name the file itself", path);
    if (fd < 0 || fstat(fd, &st) != 0)
        return hac_fail_errno(err, HAC_IO, errno, "%s", path);
    /* A device binary is code that runs in an executor: nobody else may have touched it. */
    if (!S_ISREG(st.st_mode) || (st.st_uid != geteuid() && st.st_uid != 0) ||
        (st.st_mode & (S_IWGRP | S_IWOTH)))
        return hac_fail(err, HAC_REFUSED, "%s: not a regular file that only its owner (we or root) can write",
                        path);
    if (st.st_size <= 0 || (uint64_t)st.st_size > HAC_PROGRAM_FILE_MAX)
        return hac_fail(err, HAC_IO, "%s: %lld bytes is no size for device binaries", path,
                        (long long)st.st_size);
    hac_autofree uint8_t *data = malloc((size_t)st.st_size);
    if (data == NULL)
        return hac_fail_no_memory(err);
    const uint64_t bytes = (uint64_t)st.st_size;
    uint64_t done = 0;
    int errnum = hac_pread_all(fd, data, bytes, 0, &done, HAC_FAILPOINT_NAME("program.read"));
    if (errnum != 0)
        return hac_fail_errno(err, HAC_IO, errnum, "%s", path);
    if (done < bytes)
        return hac_fail(err, HAC_IO, "%s: it became shorter while it was read", path);
    *ret = hac_steal_ptr(data);
    *ret_bytes = (size_t)st.st_size;
    return HAC_OK;
}

hac_status hac_program_write_fully(int fd, const char *path, const void *data, size_t bytes, hac_error *err)
{
    int errnum = hac_write_all(fd, data, bytes, NULL);
    return errnum == 0 ? HAC_OK : hac_fail_errno(err, HAC_IO, errnum, "%s", path);
}

static hac_status write_entry(int fd, const char *path, const hac_program_entry *entry, hac_error *err)
{
    size_t bytes = entry->name_bytes + entry->notes_bytes + entry->binary_bytes;
    hac_autofree uint8_t *body = malloc(bytes);
    if (body == NULL)
        return hac_fail_no_memory(err);
    memcpy(body, entry->name, entry->name_bytes);
    if (entry->notes_bytes > 0)
        memcpy(body + entry->name_bytes, entry->notes, entry->notes_bytes);
    memcpy(body + entry->name_bytes + entry->notes_bytes, entry->binary, entry->binary_bytes);
    file_header header = {.key = entry->key,
                          .name_bytes = (uint32_t)entry->name_bytes,
                          .notes_bytes = (uint32_t)entry->notes_bytes,
                          .binary_bytes = entry->binary_bytes,
                          .checksum = XXH3_64bits(body, bytes)};
    memcpy(header.magic, magic, sizeof magic);
    hac_status status = hac_program_write_fully(fd, path, &header, sizeof header, err);
    if (status == HAC_OK)
        status = hac_program_write_fully(fd, path, body, bytes, err);
    if (status == HAC_OK && fsync(fd) != 0)
        status = hac_fail_errno(err, HAC_IO, errno, "%s: fsync", path);
    return status;
}

hac_status hac_program_file_write(const char *path, const hac_program_entry *entry, hac_error *err)
{
    hac_autofree char *temporary = NULL;
    if (asprintf(&temporary, "%s.XXXXXX", path) < 0) {
        temporary = NULL;
        return hac_fail_no_memory(err);
    }
    hac_autoclose int fd = mkostemp(temporary, O_CLOEXEC); /* mode 0600 */
    if (fd < 0)
        return hac_fail_errno(err, HAC_IO, errno, "%s", temporary);
    hac_status status = write_entry(fd, temporary, entry, err);
    if (status == HAC_OK && rename(temporary, path) != 0)
        status = hac_fail_errno(err, HAC_IO, errno, "%s: rename to %s", temporary, path);
    if (status != HAC_OK)
        unlink(temporary);
    return status;
}
