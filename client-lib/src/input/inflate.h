/* SPDX-License-Identifier: Apache-2.0 */
/* Decompresses gzip and zstd inputs piece by piece. All input bytes are untrusted. The memory use is limited
 * for any input: 64 KiB for gzip; for zstd the window of the frame, which the caller limits. */
#ifndef CLIENT_INFLATE_H
#define CLIENT_INFLATE_H

#include <stdbool.h>

#include <hac/error.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/packing.h"

typedef struct hac_inflate hac_inflate;

/* `memory`: the limit of the query's memory in bytes, which a window of zstd above 128 MiB must fit in; 0: no
 * limit. The largest window is 2 GiB. */
HAC_MUST_USE hac_status hac_inflate_new(hac_packing packing, uint64_t memory, hac_inflate **ret,
                                        hac_error *err);
void hac_inflate_free(hac_inflate *state);
HAC_DEFINE_CLEANUP(hac_inflate *, hac_inflate_free)

/*
 * Consumes a part of in[0 … bytes) and fills a part of out[0 … room). If `out` is full, the next call may
 * produce more output without more input. An input may consist of several gzip members or zstd frames. Zeros
 * may follow the last gzip member. HAC_FAILED: the input is damaged; the message names the byte.
 */
HAC_MUST_USE hac_status hac_inflate_run(hac_inflate *state, const uint8_t *in, size_t bytes, size_t *ret_used,
                                        uint8_t *out, size_t capacity, size_t *ret_made, hac_error *err);

/* Declares the end of the input. HAC_FAILED: the input is truncated. */
HAC_MUST_USE hac_status hac_inflate_end(const hac_inflate *state, hac_error *err);

#endif
