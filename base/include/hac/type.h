/* SPDX-License-Identifier: Apache-2.0 */
/* Types of sort keys and raw arrays. Column types: base/value.h (`hac_kind`). The values are part of the
 * protocol and of libhac's ABI. */
#ifndef HAC_TYPE_H
#define HAC_TYPE_H

#ifdef __cplusplus
extern "C" {
#endif

/* The type of a sort key, or of the elements of a raw array. */
typedef enum hac_type {
    HAC_TYPE_NONE = 0,
    HAC_TYPE_U32 = 1,
    HAC_TYPE_I32 = 2,
    HAC_TYPE_F32 = 3,
    HAC_TYPE_U64 = 4,
    HAC_TYPE_I64 = 5,
    HAC_TYPE_F64 = 6
} hac_type;

#define HAC_TYPE_COUNT 7 /* HAC_TYPE_NONE included */

#ifdef __cplusplus
}
#endif
#endif
