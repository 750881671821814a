/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Images: all programs of a device in one file, for `program: {binary: …}` of a profile.
 *
 *     "HACIMAG1"  u32 text bytes  u32 programs  u64 checksum
 *     text        what the image was built for, one "name: value" a line
 *     entries     of program_file.h, one for each program
 *
 * Numbers are in the machine's byte order. The checksum (XXH3) covers the text; every entry has its own
 * checksum. A file without this beginning comes from a vendor, and only the driver can judge it. The author
 * of the profile provides the image; nothing in it is believed before it is checked.
 */
#ifndef OPENCL_IMAGE_H
#define OPENCL_IMAGE_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "opencl/device.h"

/* Whether the bytes begin like an image that hac wrote. */
bool hac_image_is_ours(const uint8_t *data, size_t bytes);

/*
 * Checks a whole image that hac wrote. *ret_entries is the offset of its first entry. `path` is for messages;
 * `kernels` is the hash of all programs (hac_programs_hash). HAC_UNSUPPORTED: the image was built for another
 * device, driver or version; the message says which. HAC_FAILED: it is damaged or truncated.
 */
HAC_MUST_USE hac_status hac_image_check(const uint8_t *data, size_t bytes, const char *path,
                                        const hac_device_facts *facts, const char *kernels,
                                        size_t *ret_entries, hac_error *err);

/* The header and the text of an image; *ret is malloc'ed. */
HAC_MUST_USE hac_status hac_image_header(const hac_device_facts *facts, const char *kernels,
                                         uint32_t programs, uint8_t **ret, size_t *ret_bytes, hac_error *err);

#endif
