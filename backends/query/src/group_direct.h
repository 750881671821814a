/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keys of a small range ("perfect hashing"): ids, dates, codes are mostly such. The key less the smallest one
 * is the place in an array of group numbers, four bytes each, where a slot of the hash table has sixteen and
 * is found by a hash. The slots know all groups; this only leads to them faster.
 */
#ifndef QUERY_GROUP_DIRECT_H
#define QUERY_GROUP_DIRECT_H

#include "group_internal.h"

/* Whether keys of the table are looked up so; `keys` are those of its next rows. */
bool hac_direct_ready(hac_group_table *t, const uint64_t *keys, size_t rows);

/* Fills t->at of the rows whose groups are known; the numbers of the others go to *rest, which has room for
 * all, and how many they are is returned. */
size_t hac_direct_find(hac_group_table *t, const uint64_t *keys, size_t rows, uint16_t *rest);

/* The record of `key` is at `at`. False: the key is outside of the range. */
bool hac_direct_note(hac_group_table *t, uint64_t key, uint64_t at);

/* Many keys of a batch were outside: the range grows, or is given up. */
void hac_direct_widen(hac_group_table *t, const uint64_t *keys, size_t rows);

/* The groups are gone. */
void hac_direct_reset(hac_direct *direct);

#endif
