/* SPDX-License-Identifier: Apache-2.0 */
#include "inflate.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "base/error.h"

#define GZIP_ONLY        (15 + 16) /* zlib's windowBits: the largest window, gzip header only */
#define PIECE_MAX        ((size_t)1 << 30)
#define FRAME_HEADER_MAX 18 /* RFC 8878, 3.1.1 */
#define WINDOW_LOG_MIN   27 /* libzstd's default */
#define WINDOW_LOG_MAX   (sizeof(void *) == 4 ? 30 : 31)

struct hac_inflate {
    hac_packing packing;
    uint64_t taken; /* compressed bytes consumed */
    bool whole;     /* a member or frame ends at `taken` */
    bool padding;   /* gzip: only zeros may follow */
    z_stream gzip;
    ZSTD_DCtx *zstd;
    uint8_t header[FRAME_HEADER_MAX]; /* zstd: first bytes of the frame */
    size_t n_header;
    uint64_t frame_made; /* decompressed bytes of the current frame */
};

/* The largest window, as a power of two: what fits in `memory`, between zstd's default and its maximum. */
static int window_log(uint64_t memory)
{
    int log = memory == 0 ? WINDOW_LOG_MAX : 63 - __builtin_clzll(memory);
    return log < WINDOW_LOG_MIN ? WINDOW_LOG_MIN : log > WINDOW_LOG_MAX ? WINDOW_LOG_MAX : log;
}

hac_status hac_inflate_new(hac_packing packing, uint64_t memory, hac_inflate **ret, hac_error *err)
{
    hac_cleanup(hac_inflate_free_cleanup) hac_inflate *state = calloc(1, sizeof(*state));
    if (state == NULL)
        return hac_fail_no_memory(err);
    if (packing == HAC_PACKING_GZIP && inflateInit2(&state->gzip, GZIP_ONLY) != Z_OK)
        return hac_fail_no_memory(err);
    state->packing = packing;
    if (packing == HAC_PACKING_ZSTD && (state->zstd = ZSTD_createDCtx()) == NULL)
        return hac_fail_no_memory(err);
    if (packing == HAC_PACKING_ZSTD)
        (void)ZSTD_DCtx_setParameter(state->zstd, ZSTD_d_windowLogMax, window_log(memory));
    *ret = hac_steal_ptr(state);
    return HAC_OK;
}

void hac_inflate_free(hac_inflate *state)
{
    if (state == NULL)
        return;
    if (state->packing == HAC_PACKING_GZIP)
        inflateEnd(&state->gzip);
    ZSTD_freeDCtx(state->zstd);
    free(state);
}

static const char *name_of(const hac_inflate *state)
{
    return state->packing == HAC_PACKING_GZIP ? "gzip" : "zstd";
}

static hac_status fail_at(const hac_inflate *state, uint64_t byte, const char *what, hac_error *err)
{
    return hac_fail(err, HAC_FAILED, "byte %" PRIu64 " of the %s data: %s", byte, name_of(state), what);
}

/* ---- gzip ---- */

/* Handles the bytes after a member: another member, or zeros. */
static hac_status between_members(hac_inflate *state, const uint8_t *in, size_t bytes, size_t *used,
                                  hac_error *err)
{
    while (*used < bytes && in[*used] == 0 && state->whole) {
        state->padding = true;
        ++*used;
    }
    if (*used == bytes)
        return HAC_OK;
    if (state->padding || in[*used] != 0x1f)
        return fail_at(state, state->taken + *used, "what follows the end is neither gzip nor zeros", err);
    if (inflateReset(&state->gzip) != Z_OK)
        return fail_at(state, state->taken + *used, "the next part cannot be read", err);
    state->whole = false;
    return HAC_OK;
}

static hac_status run_gzip(hac_inflate *state, const uint8_t *in, size_t bytes, size_t *used, uint8_t *out,
                           size_t capacity, size_t *made, hac_error *err)
{
    z_stream *gzip = &state->gzip;
    for (;;) {
        if (state->whole) {
            hac_status status = between_members(state, in, bytes, used, err);
            if (status != HAC_OK || state->whole)
                return status;
        }
        gzip->next_in = (Bytef *)(uintptr_t)(in + *used);
        gzip->avail_in = (uInt)(bytes - *used);
        gzip->next_out = out + *made;
        gzip->avail_out = (uInt)(capacity - *made);
        int result = inflate(gzip, Z_NO_FLUSH);
        *used = bytes - gzip->avail_in;
        *made = capacity - gzip->avail_out;
        if (result == Z_STREAM_END)
            state->whole = true;
        else if (result == Z_MEM_ERROR)
            return hac_fail_no_memory(err);
        else if (result != Z_OK && result != Z_BUF_ERROR)
            return fail_at(state, state->taken + *used,
                           gzip->msg != NULL ? gzip->msg : "it needs a dictionary", err);
        if (result != Z_STREAM_END || *used == bytes)
            return HAC_OK;
    }
}

/* ---- zstd ---- */

static void count_frame(hac_inflate *state, const uint8_t *in, size_t bytes, size_t made)
{
    size_t n = FRAME_HEADER_MAX - state->n_header;
    n = n < bytes ? n : bytes;
    memcpy(state->header + state->n_header, in, n);
    state->n_header += n;
    state->frame_made += made;
}

/* Checks the length of a frame against its header. libzstd omits this check if the last block is empty. */
static bool frame_ends(hac_inflate *state)
{
    unsigned long long said = ZSTD_getFrameContentSize(state->header, state->n_header);
    bool right = said == ZSTD_CONTENTSIZE_UNKNOWN || said == state->frame_made;
    state->n_header = 0;
    state->frame_made = 0;
    return right;
}

/* The window of the frame whose header ends in in[0 … bytes) (RFC 8878, 3.1.1.1.2). */
static uint64_t window_of(const hac_inflate *state, const uint8_t *in, size_t bytes)
{
    uint8_t header[FRAME_HEADER_MAX] = {0};
    size_t n = FRAME_HEADER_MAX - state->n_header;
    memcpy(header, state->header, state->n_header);
    memcpy(header + state->n_header, in, n < bytes ? n : bytes);
    if ((header[4] & 0x20) != 0) /* the window is the whole content */
        return ZSTD_getFrameContentSize(header, sizeof(header));
    uint64_t base = UINT64_C(1) << (10 + (header[5] >> 3));
    return base + base / 8 * (header[5] & 7);
}

static hac_status fail_zstd(const hac_inflate *state, size_t code, const uint8_t *in, size_t bytes,
                            uint64_t byte, hac_error *err)
{
    if (ZSTD_getErrorCode(code) != ZSTD_error_frameParameter_windowTooLarge)
        return fail_at(state, byte, ZSTD_getErrorName(code), err);
    return hac_fail(err, HAC_FAILED,
                    "its zstd data need a window of %" PRIu64
                    " bytes, more than the query's memory (--memory) or than "
                    "2 GiB; pack it again without --long, or unpack it first: zstd -dc --long=31 FILE",
                    window_of(state, in, bytes));
}

static hac_status run_zstd(hac_inflate *state, const uint8_t *in, size_t bytes, size_t *used, uint8_t *out,
                           size_t capacity, size_t *made, hac_error *err)
{
    ZSTD_inBuffer from = {in, bytes, 0};
    ZSTD_outBuffer to = {out, capacity, 0};
    do {
        size_t taken = from.pos, written = to.pos;
        size_t result = ZSTD_decompressStream(state->zstd, &to, &from);
        if (ZSTD_isError(result))
            return fail_zstd(state, result, in + taken, bytes - taken, state->taken + from.pos, err);
        if (from.pos == taken && to.pos == written)
            break;
        count_frame(state, in + taken, from.pos - taken, to.pos - written);
        state->whole = result == 0;
        if (state->whole && !frame_ends(state))
            return fail_at(state, state->taken + from.pos, "a frame is not as long as it says", err);
    } while (from.pos < bytes && to.pos < capacity);
    *used = from.pos;
    *made = to.pos;
    return HAC_OK;
}

/* ---- both ---- */

hac_status hac_inflate_run(hac_inflate *state, const uint8_t *in, size_t bytes, size_t *ret_used,
                           uint8_t *out, size_t capacity, size_t *ret_made, hac_error *err)
{
    size_t used = 0, made = 0;
    bytes = bytes < PIECE_MAX ? bytes : PIECE_MAX;
    capacity = capacity < PIECE_MAX ? capacity : PIECE_MAX;
    hac_status status = state->packing == HAC_PACKING_GZIP
                            ? run_gzip(state, in, bytes, &used, out, capacity, &made, err)
                            : run_zstd(state, in, bytes, &used, out, capacity, &made, err);
    if (status != HAC_OK)
        return status;
    state->taken += used;
    *ret_used = used;
    *ret_made = made;
    return HAC_OK;
}

hac_status hac_inflate_end(const hac_inflate *state, hac_error *err)
{
    if (state->whole)
        return HAC_OK;
    return hac_fail(err, HAC_FAILED,
                    "the %s data are cut off: they end within a part, after %" PRIu64 " bytes",
                    name_of(state), state->taken);
}
