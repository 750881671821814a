/* SPDX-License-Identifier: Apache-2.0 */
/* Compressed pages. Input: a byte for the codec, two for the size that should come out; then the page. */
#include <stdlib.h>

#include "../src/codec.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    hac_parquet_codecs codecs = {NULL, NULL};
    hac_error err = HAC_ERROR_NONE;
    if (size < 3)
        return 0;
    size_t wanted = data[1] | (size_t)data[2] << 8;
    uint8_t *ret = malloc(wanted + 1); /* what lies behind is the sanitizer's */
    if (ret == NULL)
        return 0;
    hac_status status = hac_parquet_decompress(&codecs, data[0] % 9, data + 3, size - 3, ret, wanted, &err);
    if (status != HAC_OK && err.message[0] == 0)
        abort();
    hac_parquet_codecs_clear(&codecs);
    free(ret);
    return 0;
}
