/* SPDX-License-Identifier: Apache-2.0 */
#ifndef QUERY_WIDEN_H
#define QUERY_WIDEN_H

#include <stddef.h>
#include <stdint.h>

#include "base/value.h"

/*
 * Values as tables and partials store them (little-endian, `stride` bytes apart, no alignment) to values of
 * the type's representation, one behind the other. Any bytes are a value. Not for strings.
 */
void hac_widen(hac_value_type type, const uint8_t *from, size_t stride, size_t rows, void *ret_values);
/* The same of values that are stored big-endian. */
void hac_widen_big(hac_value_type type, const uint8_t *from, size_t stride, size_t rows, void *ret_values);

#endif
