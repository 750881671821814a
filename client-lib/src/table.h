/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A table from unique 64-bit keys to objects that carry their own link: putting in and taking out allocates
 * nothing but the buckets, which grow with the content.
 */
#ifndef CLIENT_TABLE_H
#define CLIENT_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* Member of an object that lies in a table; key 0: in none. */
typedef struct hac_link {
    struct hac_link *next;
    uint64_t key;
} hac_link;

typedef struct hac_table {
    hac_link **buckets; /* NULL: nothing was ever put in */
    size_t n_buckets;   /* a power of two */
    size_t count;
} hac_table;

/* The object of type `type` whose member `member` is at `link`. */
#define HAC_OWNER(link, type, member) ((type *)(void *)((char *)(link)-offsetof(type, member)))

/* Puts `link` in under `key` (not 0, not in the table). HAC_NO_MEMORY. */
HAC_MUST_USE hac_status hac_table_put(hac_table *table, hac_link *link, uint64_t key, hac_error *err);

/* The link under `key`, or NULL. */
hac_link *hac_table_find(const hac_table *table, uint64_t key);

/* Takes `link` out; nothing happens when it is in no table. */
void hac_table_remove(hac_table *table, hac_link *link);

/* Frees the buckets; the objects are their owner's. */
void hac_table_clear(hac_table *table);

#endif
