/* SPDX-License-Identifier: Apache-2.0 */
/* Inputs that are compressed in gzip or zstd, decompressed piece by piece. All bytes are untrusted; whatever
 * they say, memory is bounded: 64 KiB for gzip, the frame's window for zstd, at most 128 MiB. */
#ifndef CLIENT_INFLATE_H
#define CLIENT_INFLATE_H

#include <stdbool.h>

#include <hac/error.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"

typedef enum hac_packing { HAC_PACKING_NONE = 0, HAC_PACKING_GZIP, HAC_PACKING_ZSTD } hac_packing;

#define HAC_PACKING_MAGIC 4 /* bytes that say it */

/* How an input that begins with these bytes is compressed; *ret_unsure: more bytes may make a difference. */
hac_packing hac_packing_of(const uint8_t *data, size_t bytes, bool *ret_unsure);

typedef struct hac_inflate hac_inflate;

HAC_MUST_USE hac_status hac_inflate_new(hac_packing packing, hac_inflate **ret, hac_error *err);
void hac_inflate_free(hac_inflate *state);
HAC_DEFINE_CLEANUP(hac_inflate *, hac_inflate_free)

/*
 * Takes some of in[0 … bytes) and fills some of out[0 … room). Where out is full there may be more to come
 * without more input. Members of gzip and frames of zstd may follow one another, and zeros the last member of
 * gzip. HAC_FAILED: damaged, with the byte.
 */
HAC_MUST_USE hac_status hac_inflate_run(hac_inflate *state, const uint8_t *in, size_t bytes, size_t *ret_used,
                                        uint8_t *out, size_t room, size_t *ret_made, hac_error *err);

/* No more input follows. HAC_FAILED: it is cut off. */
HAC_MUST_USE hac_status hac_inflate_end(const hac_inflate *state, hac_error *err);

#endif
