/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A hash table from unique 64-bit keys to objects that contain their own link. The table allocates only the
 * bucket array, which grows with the number of objects.
 */
#ifndef CLIENT_ID_TABLE_H
#define CLIENT_ID_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* The member of an object that links the object into a table. Key 0: the object is in no table. */
typedef struct hac_id_link {
    struct hac_id_link *next;
    uint64_t key;
} hac_id_link;

typedef struct hac_id_table {
    hac_id_link **buckets; /* NULL until the first put */
    size_t n_buckets;      /* a power of two */
    size_t count;
} hac_id_table;

/* The object of type `type` whose member `member` is at `link`. */
#define HAC_OWNER(link, type, member) ((type *)(void *)((char *)(link)-offsetof(type, member)))

/* Inserts `link` with `key`, which must not be 0 and must not be in the table. Fails with HAC_NO_MEMORY. */
HAC_MUST_USE hac_status hac_id_table_put(hac_id_table *table, hac_id_link *link, uint64_t key,
                                         hac_error *err);

/* Returns the link with `key`, or NULL. */
hac_id_link *hac_id_table_find(const hac_id_table *table, uint64_t key);

/* Removes `link` from the table. Does nothing if `link` is in no table. */
void hac_id_table_remove(hac_id_table *table, hac_id_link *link);

/* Frees the buckets, but not the objects. */
void hac_id_table_clear(hac_id_table *table);

#endif
