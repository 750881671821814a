/* SPDX-License-Identifier: Apache-2.0 */
#include "codelet/hash.h"

#include <xxhash.h>

uint64_t hac_hash_long_string(uint64_t h, const uint8_t *bytes, size_t n)
{
    return XXH3_64bits_withSeed(bytes, n, h);
}
