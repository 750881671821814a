/* SPDX-License-Identifier: Apache-2.0 */
#include "base/device.h"

#include <string.h>

#define NAME(kind, name) [HAC_DEVICE_KIND_##kind] = (name),
static const char *const names[HAC_DEVICE_KIND_END] = {HAC_DEVICE_KINDS(NAME)};

const char *hac_device_kind_name(hac_device_kind kind)
{
    return (unsigned)kind < HAC_DEVICE_KIND_END ? names[kind] : "unknown";
}

hac_device_kind hac_device_kind_find(const char *name)
{
    unsigned kind = 0;
    while (kind < HAC_DEVICE_KIND_END && (name == NULL || strcmp(names[kind], name) != 0))
        kind++;
    return (hac_device_kind)kind;
}
