/* SPDX-License-Identifier: Apache-2.0 */
#ifndef QUERY_LOAD_VALUES_H
#define QUERY_LOAD_VALUES_H

#include <stddef.h>
#include <stdint.h>

#include "base/value.h"

/* Converts values as tables and partials store them (little-endian, `stride` bytes apart, unaligned) to
 * adjacent values of the type's representation. All bytes are valid. Not for strings. */
void hac_load_values(hac_value_type type, const uint8_t *from, size_t stride, size_t rows, void *ret_values);
/* The same for values stored in big-endian order. */
void hac_load_values_big_endian(hac_value_type type, const uint8_t *from, size_t stride, size_t rows,
                                void *ret_values);

#endif
