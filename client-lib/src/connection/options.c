/* SPDX-License-Identifier: Apache-2.0 */
#include "options.h"

#include <string.h>

#include "base/error.h"

hac_status hac_options_read(const void *options, const char *name, const char *init, void *ret, size_t known,
                            hac_error *err)
{
    if (options == NULL)
        return HAC_OK;
    const uint8_t *bytes = options;
    size_t size;
    memcpy(&size, bytes, sizeof(size));
    if (size < sizeof(size))
        return hac_fail(err, HAC_INVALID, "%s options were not set up with %s", name, init);
    for (size_t i = known; i < size; i++)
        if (bytes[i] != 0)
            return hac_fail(err, HAC_UNSUPPORTED, "%s options ask for what libhac %s does not know", name,
                            hac_version());
    memcpy(ret, options, size < known ? size : known);
    return HAC_OK;
}

const char *hac_version(void)
{
    return HAC_VERSION;
}
