/* SPDX-License-Identifier: Apache-2.0 */
/* The compiler's 128-bit integer under a name of ours, for the conversions between numbers and text. */
#ifndef BASE_UINT128_H
#define BASE_UINT128_H

typedef unsigned __int128 hac_u128;

#endif
