/* SPDX-License-Identifier: Apache-2.0 */
#include "input.h"

#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/failpoint.h"
#include "base/format.h"
#include "base/input_options.h"
#include "base/utf8.h"
#include "csv_front.h"
#include "inflate.h"
#include "json_front.h"
#include "text_begin.h"

enum {
    PIPE_BYTES = 1 << 20,  /* three times the throughput of a pipe of the default 64 KiB */
    STAGE_BYTES = 1 << 18, /* bytes of compressed input that are read at once */
    FRONT_BYTES = 1 << 16, /* bytes that pass a front at once */
    FILE_PIECE = 1 << 19,  /* small enough to stay in the cache until the bytes are scanned */
    /* Minimum size of a file that hacd reads itself. Passing a descriptor costs more than reading a small
     * file. The limit also excludes files of /sys, which contain fewer bytes than their size. */
    FILE_MIN = 1 << 20,
};

struct hac_input {
    int fd;
    char name[256];
    bool file;            /* a regular file with a size, which is always readable */
    uint64_t size;        /* files: bytes from the initial offset to the end */
    uint64_t got;         /* bytes read from the descriptor */
    bool ended;           /* the descriptor has no more bytes */
    bool known;           /* the compression has been detected */
    bool named;           /* the name ends in .gz or .zst */
    hac_inflate *inflate; /* NULL: the input is not compressed */
    bool more;            /* the decompressor may have more output without more input */
    uint8_t *stage;       /* STAGE_BYTES bytes; NULL until needed */
    size_t staged, taken; /* bytes in `stage`, and how many of them are consumed */
    uint8_t *unread;      /* owned; bytes from hac_input_unread, or NULL */
    size_t n_unread, reread;
    hac_error failure; /* error of the first read after the bytes in `unread` */
    const hac_query_options *options;
    bool settled;   /* the beginning of the text needs no more checks */
    uint8_t *begin; /* owned; the first `begun` bytes of the text, kept until it is settled */
    size_t begun;
    hac_front *front; /* owned; turns the text into the usual form. NULL: the bytes pass */
    uint8_t *raw;     /* owned; FRONT_BYTES bytes before the front, or NULL: there is none */
    size_t n_raw, raw_taken;
    bool raw_ended;
    const char *remark; /* what the front has done to lines, in the name; NULL: nothing */
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
        (void)fcntl(input->fd, F_SETPIPE_SZ, PIPE_BYTES); /* may fail; then the pipe is slower */
    off_t at = S_ISREG(st.st_mode) && st.st_size > 0 ? lseek(input->fd, 0, SEEK_CUR) : -1;
    if (at >= 0) {
        input->file = true;
        input->size = at < st.st_size ? (uint64_t)(st.st_size - at) : 0;
    }
    return HAC_OK;
}

/* ---- fronts ---- */

static hac_status begin_front(hac_input *input, hac_error *err)
{
    const hac_query_options *options = input->options;
    hac_input_format format = options != NULL ? (hac_input_format)options->input_format : HAC_INPUT_NONE;
    hac_status status = HAC_OK;
    if (format == HAC_INPUT_JSONL)
        status = hac_json_front_new(&input->front, err);
    else if (options != NULL && hac_input_is_dialect(format, &options->input_options))
        status = hac_csv_front_new(format, &options->input_options, &input->front, err);
    else
        return HAC_OK;
    input->raw = malloc(FRONT_BYTES);
    return status == HAC_OK && input->raw == NULL ? hac_fail_no_memory(err) : status;
}

hac_status hac_input_open(int fd, const char *name, bool raw, const hac_query_options *options,
                          hac_input **ret, hac_error *err)
{
    hac_cleanup(hac_input_free_cleanup) hac_input *input = calloc(1, sizeof(*input));
    if (input == NULL)
        return hac_fail_no_memory(err);
    input->fd = fd;
    input->known = raw;
    input->options = options;
    const hac_format_info *format = options != NULL ? &hac_formats[options->input_format] : NULL;
    input->settled = format == NULL || format->records == HAC_RECORDS_NONE || (raw && format->text);
    input->named = name != NULL && hac_is_packed_name(name);
    hac_utf8_copy_line(input->name, sizeof(input->name), name != NULL ? name : "the input");
    hac_status status = look(input, err);
    if (status == HAC_OK && !raw) {
        input->stage = malloc(STAGE_BYTES);
        if (input->stage == NULL)
            status = hac_fail_no_memory(err);
    }
    if (status == HAC_OK)
        status = begin_front(input, err);
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
    free(input->unread);
    free(input->begin);
    hac_front_free(input->front);
    free(input->raw);
    free(input);
}

const char *hac_input_name(const hac_input *input)
{
    return input->name;
}

const char *hac_input_remark(const hac_input *input)
{
    return input->remark;
}

void hac_input_unread(hac_input *input, uint8_t *bytes, size_t n, const hac_error *failure)
{
    input->unread = bytes;
    input->n_unread = n;
    input->failure = *failure;
}

int hac_input_wants(const hac_input *input)
{
    if (input->reread < input->n_unread || input->failure.code != HAC_OK)
        return -1;
    if (input->raw != NULL &&
        (input->raw_taken < input->n_raw || input->raw_ended || hac_front_holds(input->front)))
        return -1;
    bool held = input->known && (input->more || input->taken < input->staged);
    return input->file || input->ended || held ? -1 : input->fd;
}

bool hac_input_in_file(const hac_input *input, uint64_t *ret_offset, uint64_t *ret_bytes)
{
    off_t at = input->file && input->known && input->inflate == NULL ? lseek(input->fd, 0, SEEK_CUR) : -1;
    if (at < 0 || input->size < FILE_MIN)
        return false;
    *ret_offset = (uint64_t)at;
    *ret_bytes = input->size;
    return true;
}

/* ---- the descriptor ---- */

/* Checks an end of file before the expected size. Files of /sys report a size of one page, whatever they
 * contain, so an early end is an error only if the file has shrunk. */
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

static hac_status read_some(hac_input *input, uint8_t *at, uint64_t capacity, uint64_t *ret, hac_error *err)
{
    uint64_t max = FILE_PIECE;
    if (input->file && input->size - input->got < max)
        max = input->size - input->got;
    ssize_t n = 0;
    if (max > 0) {
        do
            n = HAC_FAILPOINT(
                "input.read", -1,
                read(input->fd, at,
                     HAC_FAILPOINT_SHORT("input.read", (size_t)(capacity < max ? capacity : max))));
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

/* Reads more bytes to the end of the stage. */
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

/* Reads until the first bytes identify the compression. */
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
        status = hac_inflate_new(packing, input->options == NULL ? 0 : input->options->job.memory_limit,
                                 &input->inflate, err);
    input->known = status == HAC_OK;
    return status;
}

static hac_status decompress(hac_input *input, uint8_t *at, uint64_t capacity, uint64_t *ret, hac_error *err)
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
                        capacity < SIZE_MAX ? (size_t)capacity : SIZE_MAX, &made, err);
    if (status != HAC_OK)
        return hac_error_prefix(err, "%s", input->name);
    input->taken += used;
    if (used == 0 && made == 0 && !input->more)
        return hac_fail(err, HAC_FAILED, "%s: its compressed data make no sense", input->name);
    input->more = made == capacity;
    *ret = made;
    return made > 0 ? HAC_OK : HAC_AGAIN;
}

/* ---- reading ---- */

/* Checks the beginning of the text, of which `n` more bytes are at `at`; 0: the input ends. */
static hac_status check_begin(hac_input *input, const uint8_t *at, size_t n, hac_error *err)
{
    size_t left = HAC_TEXT_BEGIN_BYTES - input->begun;
    if (input->settled)
        return HAC_OK;
    if (input->begun == 0 && (n >= left || n == 0)) /* as of files and fast streams */
        return hac_text_begin_check(input->options, input->name, at, n < left ? n : left, n == 0,
                                    &input->settled, err);
    if (input->begin == NULL && (input->begin = malloc(HAC_TEXT_BEGIN_BYTES)) == NULL)
        return hac_fail_no_memory(err);
    memcpy(input->begin + input->begun, at, n < left ? n : left);
    input->begun += n < left ? n : left;
    return hac_text_begin_check(input->options, input->name, input->begin, input->begun, n == 0,
                                &input->settled, err);
}

static hac_status read_next(hac_input *input, uint8_t *at, uint64_t capacity, uint64_t *ret, hac_error *err)
{
    if (!input->known) {
        hac_status status = find_packing(input, err);
        if (status != HAC_OK)
            return status;
    }
    if (input->inflate != NULL)
        return decompress(input, at, capacity, ret, err);
    if (input->taken < input->staged) {
        size_t held = input->staged - input->taken, n = held < capacity ? held : (size_t)capacity;
        memcpy(at, input->stage + input->taken, n);
        input->taken += n;
        *ret = n;
        return HAC_OK;
    }
    if (!input->ended)
        return read_some(input, at, capacity, ret, err);
    *ret = 0;
    return HAC_OK;
}

/* Reads bytes as they are in the input, decompressed, and checks the first ones. */
static hac_status read_checked(hac_input *input, uint8_t *at, uint64_t capacity, uint64_t *ret,
                               hac_error *err)
{
    hac_status status = read_next(input, at, capacity, ret, err);
    if (status == HAC_OK)
        status = check_begin(input, at, (size_t)*ret, err);
    if (status != HAC_OK)
        *ret = 0; /* the bytes of a refused input are none of its records */
    return status;
}

/* ---- bytes that pass a front ---- */

/* Says in the input's name that lines are not those of the input. */
static void note_lines(hac_input *input)
{
    size_t used = strlen(input->name);
    if (input->remark != NULL)
        return;
    input->remark = hac_front_remark(input->front);
    if (input->remark != NULL)
        snprintf(input->name + used, sizeof(input->name) - used, "%s", input->remark);
}

/* Reads more bytes for the front when it has none. */
static hac_status fill_raw(hac_input *input, hac_error *err)
{
    uint64_t n = 0;
    if (input->raw_taken < input->n_raw || input->raw_ended || hac_front_holds(input->front))
        return HAC_OK;
    input->raw_taken = input->n_raw = 0;
    hac_status status = read_checked(input, input->raw, FRONT_BYTES, &n, err);
    input->n_raw = (size_t)n;
    input->raw_ended = status == HAC_OK && n == 0;
    return status;
}

/* Passes bytes of the input through the front. */
static hac_status read_lines(hac_input *input, uint8_t *at, uint64_t capacity, uint64_t *ret, hac_error *err)
{
    size_t used = 0, made = 0;
    hac_error local = HAC_ERROR_NONE;
    hac_status status = fill_raw(input, err);
    if (status != HAC_OK)
        return status;
    bool end = input->raw_ended && input->raw_taken == input->n_raw;
    if (end)
        status = hac_front_end(input->front, &local);
    if (status == HAC_OK)
        status = hac_front_run(input->front, input->raw + input->raw_taken, input->n_raw - input->raw_taken,
                               &used, at, capacity < SIZE_MAX ? (size_t)capacity : SIZE_MAX, &made, &local);
    input->raw_taken += used;
    note_lines(input);
    if (status != HAC_OK) /* behind the bytes that were made */
        (void)hac_fail(&input->failure, status, "%s: %s", input->name, local.message);
    if (status != HAC_OK && made == 0)
        return hac_fail(err, status, "%s", input->failure.message);
    *ret = made;
    return made > 0 || end ? HAC_OK : HAC_AGAIN;
}

/* The first line has decided that the input is jsonl, and is read: the others need no front. */
static void leave_front(hac_input *input)
{
    if (input->front == NULL || input->raw_taken < input->n_raw || !hac_front_passes(input->front) ||
        input->raw_ended)
        return;
    hac_front_free(hac_steal_ptr(input->front));
    free(hac_steal_ptr(input->raw));
}

hac_status hac_input_read(hac_input *input, uint8_t *at, uint64_t capacity, uint64_t *ret, hac_error *err)
{
    if (input->reread < input->n_unread) {
        size_t left = input->n_unread - input->reread, n = left < capacity ? left : (size_t)capacity;
        memcpy(at, input->unread + input->reread, n);
        input->reread += n;
        *ret = n;
        return HAC_OK;
    }
    if (input->failure.code != HAC_OK)
        return hac_fail(err, input->failure.code, "%s", input->failure.message);
    leave_front(input);
    return input->raw != NULL ? read_lines(input, at, capacity, ret, err)
                              : read_checked(input, at, capacity, ret, err);
}
