/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compressed pages. Input: a byte for the codec, two for the size that should come out; then the page. Snappy
 * is compared with the library.
 */
#include <snappy-c.h>
#include <stdlib.h>
#include <string.h>

#include "read/codec.h"
#include "read/kernels.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A literal of 2^32 bytes, which the library takes for an empty one: such a page is invalid. */
static bool has_huge_literal(const uint8_t *from, size_t bytes)
{
    static const uint8_t tag[] = {0xfc, 0xff, 0xff, 0xff, 0xff};
    return memmem(from, bytes, tag, sizeof tag) != NULL;
}

static void compare_snappy(const uint8_t *from, size_t bytes, const uint8_t *got, size_t n, bool good)
{
    size_t length = 0;
    char *wanted = malloc(n + 1);
    bool fits = snappy_uncompressed_length((const char *)from, bytes, &length) == SNAPPY_OK && length == n;
    if (wanted == NULL)
        abort();
    fits = fits && snappy_uncompress((const char *)from, bytes, wanted, &length) == SNAPPY_OK;
    if ((fits != good && !(fits && has_huge_literal(from, bytes))) || (good && memcmp(wanted, got, n) != 0))
        abort();
    free(wanted);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    hac_parquet_codecs codecs = {NULL, NULL};
    hac_error err = HAC_ERROR_NONE;
    if (size < 3)
        return 0;
    size_t wanted = data[1] | (size_t)data[2] << 8;
    uint8_t *ret = malloc(wanted + HAC_PARQUET_SLACK); /* the sanitizer sees accesses behind it */
    uint8_t *from = malloc(size + HAC_PARQUET_SLACK);
    if (ret == NULL || from == NULL)
        abort();
    memcpy(from, data + 3, size - 3);
    memset(from + size - 3, 0, HAC_PARQUET_SLACK);
    hac_status status = hac_parquet_decompress(&codecs, data[0] % 9, from, size - 3, ret, wanted, &err);
    if (status != HAC_OK && err.message[0] == 0)
        abort();
    if (data[0] % 9 == HAC_PARQUET_SNAPPY)
        compare_snappy(from, size - 3, ret, wanted, status == HAC_OK);
    free(from);
    hac_parquet_codecs_clear(&codecs);
    free(ret);
    return 0;
}
