/* SPDX-License-Identifier: Apache-2.0 */
#include "validate.h"

#include "wire.h"

hac_status hac_validate_range(uint64_t offset, uint64_t bytes, hac_error *err)
{
    uint64_t end;
    if (__builtin_add_overflow(offset, bytes, &end) || end > HAC_WIRE_BYTES_MAX)
        return hac_fail(err, HAC_PROTOCOL, "%llu bytes from byte %llu on are more than can be",
                        (unsigned long long)bytes, (unsigned long long)offset);
    return HAC_OK;
}

hac_status hac_validate_aligned_range(uint64_t offset, uint64_t bytes, hac_error *err)
{
    if (offset % 64 != 0)
        return hac_fail(err, HAC_PROTOCOL, "offset: is %llu, must be a multiple of 64",
                        (unsigned long long)offset);
    return hac_validate_range(offset, bytes, err);
}

hac_status hac_validate_fd_count(size_t n_fds, size_t expected, hac_error *err)
{
    if (n_fds != expected)
        return hac_fail(err, HAC_PROTOCOL, "%zu descriptors came with it, it takes %zu", n_fds, expected);
    return HAC_OK;
}
