/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keys that have few values each: several integers of small ranges, or strings from a dictionary. Each value
 * of a key gets a code: 0, 1, 2 and so on. An array finds the code by the integer, or by the string's offset
 * in the dictionary. The codes of all keys are the index into an array of group numbers. A row therefore
 * costs one look-up a key and one more, and no hash. Only rows of groups that the array does not know yet are
 * looked up in the slots.
 */
#ifndef QUERY_GROUP_CODED_H
#define QUERY_GROUP_CODED_H

#include "group_internal.h"

/* As hac_group_find_all for any partition, but sets t->number and t->numbered in place of t->at. *ret_done is false if the keys are others: then nothing was done.
 * Sets t->number, and leaves t->at and t->hash undefined. */
HAC_MUST_USE hac_status hac_group_find_coded(hac_group_table *t, const hac_column *columns, size_t rows,
                                             bool *ret_done, hac_error *err);

/* Forgets all groups. `coded` may be NULL. */
void hac_group_coded_reset(struct hac_group_coded *coded);
/* Tries codes again after keys that had none, before other data with the same groups. `coded` may be NULL. */
void hac_group_coded_retry(struct hac_group_coded *coded);
void hac_group_coded_free(struct hac_group_coded *coded);

#endif
