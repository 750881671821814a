/* SPDX-License-Identifier: Apache-2.0 */
#include "base/packing.h"

#include <string.h>
#include <strings.h>

hac_packing hac_packing_of(const uint8_t *data, size_t bytes, bool *ret_unsure)
{
    static const uint8_t gzip[] = {0x1f, 0x8b, 8}, zstd[] = {0x28, 0xb5, 0x2f, 0xfd},
                         skip[] = {0x2a, 0x4d, 0x18};
    size_t n = bytes < HAC_PACKING_MAGIC ? bytes : HAC_PACKING_MAGIC;
    bool is_gzip = memcmp(data, gzip, n < sizeof(gzip) ? n : sizeof(gzip)) == 0 &&
                   (n < HAC_PACKING_MAGIC || (data[3] & 0xe0) == 0); /* the reserved flags are 0 */
    bool is_zstd = memcmp(data, zstd, n) == 0 ||
                   (n > 0 && (data[0] & 0xf0) == 0x50 && memcmp(data + 1, skip, n - 1) == 0);
    *ret_unsure = n < HAC_PACKING_MAGIC && (is_gzip || is_zstd);
    if (n < HAC_PACKING_MAGIC)
        return HAC_PACKING_NONE;
    return is_gzip ? HAC_PACKING_GZIP : is_zstd ? HAC_PACKING_ZSTD : HAC_PACKING_NONE;
}

bool hac_is_packed_name(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
    const char *dot = strrchr(name, '.');
    return dot != NULL && dot != name && (strcasecmp(dot, ".gz") == 0 || strcasecmp(dot, ".zst") == 0);
}
