/* SPDX-License-Identifier: Apache-2.0 */
/* Short names of types for the loops of the machine. */
#ifndef EXPR_SHORT_TYPES_H
#define EXPR_SHORT_TYPES_H

#include <stdint.h>

typedef uint8_t b8;
typedef int64_t i64;
typedef uint64_t u64;
typedef __int128 i128;
typedef float f32;
typedef double f64;

#endif
