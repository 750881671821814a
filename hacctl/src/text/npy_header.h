/* SPDX-License-Identifier: Apache-2.0 */
/* The header of NumPy's .npy files (numpy.lib.format): what sort needs to know to read such an array. */
#ifndef HACCTL_NPY_HEADER_H
#define HACCTL_NPY_HEADER_H

#include <stdbool.h>

#include <hac/hac.h>

typedef struct hac_npy_array {
    bool is_npy; /* false: the file does not begin like .npy, and nothing else is known */
    hac_type type;
    uint64_t offset, items; /* the items lie at `offset` */
} hac_npy_array;

/* Reads the beginning of the file. HAC_FAILED: the array has more dimensions than one, or a type that cannot
 * be sorted, or its header is damaged. A file that cannot be read is not .npy. */
HAC_MUST_USE hac_status hac_npy_header_read(int fd, const char *name, hac_npy_array *ret, hac_error *err);

#endif
