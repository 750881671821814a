/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzes compressed inputs. Input: a byte (size of the input pieces), a byte (size of the output pieces),
 * then the compressed bytes. Oracles besides the sanitizers: other piece sizes give the same output, or an
 * error again; every call makes progress while there is input; a complete input ends without an error.
 */
#include <stdlib.h>
#include <string.h>

#include "input/inflate.h"

enum { HEAD = 2, OUT_MAX = 1 << 20 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool ok)
{
    if (!ok)
        abort();
}

static hac_status run(hac_packing packing, const uint8_t *in, size_t bytes, size_t piece, size_t capacity,
                      uint8_t *out, size_t *ret_made)
{
    hac_inflate *state = NULL;
    size_t at = 0, made = 0, got = 1;
    hac_status status = hac_inflate_new(packing, 1, &state, NULL);
    must(status == HAC_OK);
    while (status == HAC_OK && (at < bytes || got > 0) && made < OUT_MAX) {
        size_t used = 0, n = bytes - at < piece ? bytes - at : piece;
        size_t left = OUT_MAX - made < capacity ? OUT_MAX - made : capacity;
        got = 0;
        status = hac_inflate_run(state, in + at, n, &used, out + made, left, &got, NULL);
        must(status != HAC_OK || (used <= n && got <= left && (n == 0 || used + got > 0)));
        at += used;
        made += got;
    }
    if (status == HAC_OK && made < OUT_MAX)
        status = hac_inflate_end(state, NULL);
    hac_inflate_free(state);
    *ret_made = made;
    return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t one[OUT_MAX], other[OUT_MAX];
    size_t made = 0, again = 0;
    bool unsure;
    if (size < HEAD)
        return 0;
    hac_packing packing = hac_packing_of(data + HEAD, size - HEAD, &unsure);
    if (packing == HAC_PACKING_NONE)
        return 0;
    hac_status status = run(packing, data + HEAD, size - HEAD, size, OUT_MAX, one, &made);
    hac_status same =
        run(packing, data + HEAD, size - HEAD, (size_t)data[0] + 1, (size_t)data[1] * 64 + 1, other, &again);
    if (made < OUT_MAX && again < OUT_MAX)
        must(status == same && (status != HAC_OK || made == again));
    must(memcmp(one, other, made < again ? made : again) == 0);
    return 0;
}
