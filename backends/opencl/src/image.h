/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Images: all programs of a device in one file, for `program: {binary: …}` of a profile.
 *
 *     "HACIMAG1"  u32 text bytes  u32 programs  u64 checksum
 *     text        what the image was built for, one "name: value" a line
 *     entries     of program_file.h, as many as there are programs
 *
 * in the machine's byte order, the checksum (XXH3) over the text; every entry has one of its own. A file
 * without that beginning is a vendor's: the driver has to make of it what it can. The bytes of an image are
 * the profile's author's, and still nothing in them is believed before it is checked.
 */
#ifndef OPENCL_IMAGE_H
#define OPENCL_IMAGE_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "opencl/device.h"

/* The least text that says what kernels may have been specialised for; *ret is malloc'ed. */
HAC_MUST_USE hac_status hac_image_text(const hac_device_facts *facts, char **ret, hac_error *err);

/* Whether the bytes begin as an image of ours does. */
bool hac_image_is_ours(const uint8_t *data, size_t bytes);

/*
 * Checks all of an image of ours; *ret_entries is where its first entry begins. HAC_UNSUPPORTED: it was built
 * for another device, driver or version, and says which; HAC_FAILED: it is damaged or cut short. `path` is
 * for messages.
 */
HAC_MUST_USE hac_status hac_image_check(const uint8_t *data, size_t bytes, const char *path,
                                        const hac_device_facts *facts, size_t *ret_entries, hac_error *err);

/* What stands in front of the entries; *ret is malloc'ed. */
HAC_MUST_USE hac_status hac_image_header(const hac_device_facts *facts, uint32_t programs, uint8_t **ret,
                                         size_t *ret_bytes, hac_error *err);

#endif
