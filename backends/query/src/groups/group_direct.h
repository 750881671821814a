/* SPDX-License-Identifier: Apache-2.0 */
/* Keys of a small range ("perfect hashing"), as ids, dates and codes usually are. The difference between a
 * key and the smallest key is the index into an array of group numbers. An entry has four bytes, while a
 * slot of the hash table has sixteen and needs a hash. The slots still know all groups; the array is a
 * shortcut. */
#ifndef QUERY_GROUP_DIRECT_H
#define QUERY_GROUP_DIRECT_H

#include "group_internal.h"

/* Whether the array is used for the table. `keys` are the keys of the next rows. */
bool hac_direct_ready(hac_group_table *t, const uint64_t *keys, size_t rows);

/* Fills t->at for rows whose groups are known. Writes the numbers of the other rows to *rest, which has room
 * for all rows, and returns how many there are. */
size_t hac_direct_find(hac_group_table *t, const uint64_t *keys, size_t rows, uint16_t *rest);

/* Notes that the record of `key` is at offset `at`. False: the key is outside the range. */
bool hac_direct_note(hac_group_table *t, uint64_t key, uint64_t at);

/* Called when many keys of a batch were outside: widens the range, or gives the array up. */
void hac_direct_widen(hac_group_table *t, const uint64_t *keys, size_t rows);

/* Forgets all groups. */
void hac_direct_reset(hac_direct *direct);

#endif
