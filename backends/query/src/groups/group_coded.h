/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keys that have few values each: entries of dictionaries, and several integers of small ranges. No row is
 * hashed that belongs to a known group.
 *
 * - A single key from a dictionary (hac_column.codes): an array finds the group by the code.
 * - Several keys: each value of a key has a number: 0, 1, 2 and so on. An array finds the number by the
 *   code, or by the integer. The numbers of all keys are the index into an array of groups. A value has the
 *   same number in all dictionaries, so the array of groups lasts when the next row group has another one.
 *
 * Only rows of groups that the arrays do not know yet are looked up in the slots. The array of groups has
 * 2^16 places: numbers of all keys together have at most 16 bits. A key may switch between codes and integers
 * from batch to batch, as some pages of a column may have no codes; the arrays begin anew then.
 */
#ifndef QUERY_GROUP_CODED_H
#define QUERY_GROUP_CODED_H

#include "group_internal.h"

/* As hac_group_find_all for any partition, but sets t->number in place of t->at, and t->numbered. *ret_done
 * is false if the keys are others: then nothing was done. Leaves t->at and t->hash undefined. */
HAC_MUST_USE hac_status hac_group_find_coded(hac_group_table *t, const hac_column *columns, size_t rows,
                                             bool *ret_done, hac_error *err);

/* Forgets all groups. `coded` may be NULL. */
void hac_group_coded_reset(struct hac_group_coded *coded);
/* Tries codes again after keys that had none, before other data with the same groups. `coded` may be NULL. */
void hac_group_coded_retry(struct hac_group_coded *coded);
void hac_group_coded_free(struct hac_group_coded *coded);

#endif
