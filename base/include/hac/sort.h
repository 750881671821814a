/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Enumerations of sorts. Their numbers are part of the protocol and of libhac's ABI: values are only ever
 * added. The …_END values count the others; they are not part of the ABI.
 */
#ifndef HAC_SORT_H
#define HAC_SORT_H

#ifdef __cplusplus
extern "C" {
#endif

/* How keys are sorted; any of them gives the same result. */
typedef enum hac_sort_algorithm {
    HAC_SORT_AUTO = 0,
    HAC_SORT_BITONIC = 1,
    HAC_SORT_RADIX = 2,
    HAC_SORT_END
} hac_sort_algorithm;

/* How a bitonic sort is shared by devices of different speed; see docs/flows/sort.md, The split rule
 * of the network. */
typedef enum hac_sort_scheme {
    HAC_SCHEME_AUTO = 0,
    HAC_SCHEME_PROPORTIONAL = 1,
    HAC_SCHEME_LOWER = 2,
    HAC_SCHEME_UPPER = 3,
    HAC_SCHEME_NONE = 4,
    HAC_SCHEME_END
} hac_sort_scheme;

/* Which steps of a bitonic sort the strongest device does alone; the devices share the other steps. */
typedef enum hac_sort_fold {
    HAC_FOLD_AUTO = 0,
    HAC_FOLD_NONE = 1,
    HAC_FOLD_STEPS = 2, /* those that the options list */
    HAC_FOLD_END
} hac_sort_fold;

#ifdef __cplusplus
}
#endif
#endif
