/* SPDX-License-Identifier: Apache-2.0 */
#include "input.h"

#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/failpoint.h"
#include "base/text.h"
#include "inflate.h"

enum {
    PIPE_BYTES = 1 << 20,  /* a pipe of the default 64 KiB moves a third as much a second */
    STAGE_BYTES = 1 << 18, /* read at once of what is decompressed */
    FILE_PIECE = 1 << 19,  /* what is read stays in the cache until it is looked at */
    FILE_LEAST = 1 << 20,  /* to be read by others: a descriptor to pass on is more work than few bytes; files
                            * of  /sys, which have less than they say, are smaller */
};

struct hac_input {
    int fd;
    char name[256];
    bool file;            /* regular, with a size: never waited for */
    uint64_t size;        /* of a file: bytes from where it was opened */
    uint64_t got;         /* read from the descriptor */
    bool ended;           /* it has no more */
    bool known;           /* whether it is compressed is known */
    bool named;           /* its name says that it is */
    hac_inflate *inflate; /* NULL: it is not */
    bool more;            /* the decompressor may have more without input */
    uint8_t *stage;       /* STAGE_BYTES; NULL: never needed */
    size_t staged, taken; /* bytes in it, and of these used */
};

static hac_status look(hac_input *input, hac_error *err)
{
    struct stat st;
    int flags = fcntl(input->fd, F_GETFL);
    if (flags < 0 || fstat(input->fd, &st) < 0)
        return hac_fail_errno(err, HAC_FAILED, errno, "cannot read %s", input->name);
    if (S_ISDIR(st.st_mode))
        return hac_fail(err, HAC_FAILED, "%s is a directory", input->name);
    if ((flags & O_PATH) != 0 || (flags & O_ACCMODE) == O_WRONLY)
        return hac_fail(err, HAC_FAILED, "%s is not open for reading", input->name);
    if (S_ISFIFO(st.st_mode))
        (void)fcntl(input->fd, F_SETPIPE_SZ, PIPE_BYTES); /* not allowed: slower */
    off_t at = S_ISREG(st.st_mode) && st.st_size > 0 ? lseek(input->fd, 0, SEEK_CUR) : -1;
    if (at >= 0) {
        input->file = true;
        input->size = at < st.st_size ? (uint64_t)(st.st_size - at) : 0;
    }
    return HAC_OK;
}

hac_status hac_input_open(int fd, const char *name, bool raw, hac_input **ret, hac_error *err)
{
    hac_cleanup(hac_input_free_cleanup) hac_input *input = calloc(1, sizeof(*input));
    if (input == NULL)
        return hac_fail_no_memory(err);
    input->fd = fd;
    input->known = raw;
    input->named = name != NULL && hac_is_packed_name(name);
    hac_utf8_copy_line(input->name, sizeof(input->name), name != NULL ? name : "the input");
    hac_status status = look(input, err);
    if (status == HAC_OK && !raw) {
        input->stage = malloc(STAGE_BYTES);
        if (input->stage == NULL)
            status = hac_fail_no_memory(err);
    }
    if (status == HAC_OK)
        *ret = hac_steal_ptr(input);
    return status;
}

void hac_input_free(hac_input *input)
{
    if (input == NULL)
        return;
    hac_inflate_free(input->inflate);
    free(input->stage);
    free(input);
}

const char *hac_input_name(const hac_input *input)
{
    return input->name;
}

int hac_input_wants(const hac_input *input)
{
    bool held = input->known && (input->more || input->taken < input->staged);
    return input->file || input->ended || held ? -1 : input->fd;
}

bool hac_input_in_file(const hac_input *input, uint64_t *ret_offset, uint64_t *ret_bytes)
{
    off_t at = input->file && input->known && input->inflate == NULL ? lseek(input->fd, 0, SEEK_CUR) : -1;
    if (at < 0 || input->size < FILE_LEAST)
        return false;
    *ret_offset = (uint64_t)at;
    *ret_bytes = input->size;
    return true;
}

/* ---- the descriptor ---- */

/* Files of /sys say that they have a page, whatever they hold: the end is right unless the file has shrunk.
 */
static hac_status check_end(const hac_input *input, hac_error *err)
{
    struct stat st;
    off_t at = lseek(input->fd, 0, SEEK_CUR);
    if (!input->file || input->got == input->size || fstat(input->fd, &st) < 0 ||
        st.st_size - at >= (off_t)(input->size - input->got))
        return HAC_OK;
    return hac_fail(err, HAC_FAILED,
                    "%s: ended after %" PRIu64 " of %" PRIu64 " bytes: it was truncated while it was read",
                    input->name, input->got, input->size);
}

static hac_status read_some(hac_input *input, uint8_t *at, uint64_t room, uint64_t *ret, hac_error *err)
{
    uint64_t most = FILE_PIECE;
    if (input->file && input->size - input->got < most)
        most = input->size - input->got;
    ssize_t n = 0;
    if (most > 0) {
        do
            n = HAC_FAILPOINT(
                "input.read", -1,
                read(input->fd, at, HAC_FAILPOINT_SHORT("input.read", (size_t)(room < most ? room : most))));
        while (n < 0 && errno == EINTR);
    }
    if (n < 0 && errno == EAGAIN)
        return HAC_AGAIN;
    if (n < 0)
        return hac_fail_errno(err, HAC_FAILED, errno, "cannot read %s", input->name);
    input->got += (uint64_t)n;
    input->ended = n == 0;
    *ret = (uint64_t)n;
    return n == 0 ? check_end(input, err) : HAC_OK;
}

/* More into the stage, behind what is there. */
static hac_status fill_stage(hac_input *input, hac_error *err)
{
    uint64_t n = 0;
    if (input->taken == input->staged)
        input->taken = input->staged = 0;
    hac_status status = read_some(input, input->stage + input->staged, STAGE_BYTES - input->staged, &n, err);
    if (status == HAC_OK)
        input->staged += (size_t)n;
    return status;
}

/* ---- compressed or not ---- */

/* Reads until the first bytes say it. */
static hac_status find_packing(hac_input *input, hac_error *err)
{
    bool unsure;
    hac_status status = fill_stage(input, err);
    if (status != HAC_OK)
        return status;
    hac_packing packing = hac_packing_of(input->stage, input->staged, &unsure);
    if ((unsure || input->staged == 0) && !input->ended)
        return HAC_AGAIN;
    if (packing == HAC_PACKING_NONE && input->named)
        return unsure
                   ? hac_fail(err, HAC_FAILED, "%s: the compressed data are cut off, after %zu bytes",
                              input->name, input->staged)
                   : hac_fail(err, HAC_FAILED, "%s: is neither gzip nor zstd, as its name says", input->name);
    if (packing != HAC_PACKING_NONE)
        status = hac_inflate_new(packing, &input->inflate, err);
    input->known = status == HAC_OK;
    return status;
}

static hac_status decompress(hac_input *input, uint8_t *at, uint64_t room, uint64_t *ret, hac_error *err)
{
    size_t used = 0, made = 0;
    if (input->taken == input->staged && !input->more && !input->ended) {
        hac_status status = fill_stage(input, err);
        if (status != HAC_OK)
            return status;
    }
    if (input->taken == input->staged && !input->more) {
        *ret = 0;
        hac_status status = hac_inflate_end(input->inflate, err);
        return status == HAC_OK ? status : hac_error_prefix(err, "%s", input->name);
    }
    hac_status status =
        hac_inflate_run(input->inflate, input->stage + input->taken, input->staged - input->taken, &used, at,
                        room < SIZE_MAX ? (size_t)room : SIZE_MAX, &made, err);
    if (status != HAC_OK)
        return hac_error_prefix(err, "%s", input->name);
    input->taken += used;
    if (used == 0 && made == 0 && !input->more)
        return hac_fail(err, HAC_FAILED, "%s: its compressed data make no sense", input->name);
    input->more = made == room;
    *ret = made;
    return made > 0 ? HAC_OK : HAC_AGAIN;
}

hac_status hac_input_read(hac_input *input, uint8_t *at, uint64_t room, uint64_t *ret, hac_error *err)
{
    if (!input->known) {
        hac_status status = find_packing(input, err);
        if (status != HAC_OK)
            return status;
    }
    if (input->inflate != NULL)
        return decompress(input, at, room, ret, err);
    if (input->taken < input->staged) {
        size_t held = input->staged - input->taken, n = held < room ? held : (size_t)room;
        memcpy(at, input->stage + input->taken, n);
        input->taken += n;
        *ret = n;
        return HAC_OK;
    }
    if (!input->ended)
        return read_some(input, at, room, ret, err);
    *ret = 0;
    return HAC_OK;
}
