/* SPDX-License-Identifier: Apache-2.0 */
#include "id_table.h"

#include <stdlib.h>

enum { FIRST_BUCKETS = 16 };

/* Keys come from counters, so the low bits of the key already spread neighboring keys over the buckets. */
static hac_id_link **bucket_of(hac_id_link **buckets, size_t n_buckets, uint64_t key)
{
    return &buckets[(size_t)key & (n_buckets - 1)];
}

static hac_status grow(hac_id_table *table, hac_error *err)
{
    size_t n_buckets = table->n_buckets == 0 ? FIRST_BUCKETS : table->n_buckets * 2;
    hac_id_link **buckets = calloc(n_buckets, sizeof(*buckets));
    if (buckets == NULL)
        return hac_fail_no_memory(err);
    for (size_t i = 0; i < table->n_buckets; i++) {
        hac_id_link *next;
        for (hac_id_link *link = table->buckets[i]; link != NULL; link = next) {
            hac_id_link **bucket = bucket_of(buckets, n_buckets, link->key);
            next = link->next;
            link->next = *bucket;
            *bucket = link;
        }
    }
    free(table->buckets);
    table->buckets = buckets;
    table->n_buckets = n_buckets;
    return HAC_OK;
}

hac_status hac_id_table_put(hac_id_table *table, hac_id_link *link, uint64_t key, hac_error *err)
{
    if (table->count >= table->n_buckets) {
        hac_status status = grow(table, err);
        if (status != HAC_OK)
            return status;
    }
    hac_id_link **bucket = bucket_of(table->buckets, table->n_buckets, key);
    link->key = key;
    link->next = *bucket;
    *bucket = link;
    table->count++;
    return HAC_OK;
}

hac_id_link *hac_id_table_find(const hac_id_table *table, uint64_t key)
{
    if (table->n_buckets == 0)
        return NULL;
    hac_id_link *link = *bucket_of(table->buckets, table->n_buckets, key);
    while (link != NULL && link->key != key)
        link = link->next;
    return link;
}

void hac_id_table_remove(hac_id_table *table, hac_id_link *link)
{
    if (link->key == 0)
        return;
    hac_id_link **at = bucket_of(table->buckets, table->n_buckets, link->key);
    while (*at != link)
        at = &(*at)->next;
    *at = link->next;
    link->next = NULL;
    link->key = 0;
    table->count--;
}

void hac_id_table_clear(hac_id_table *table)
{
    free(table->buckets);
    *table = (hac_id_table){0};
}
