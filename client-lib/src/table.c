/* SPDX-License-Identifier: Apache-2.0 */
#include "table.h"

#include <stdlib.h>

enum { FIRST_BUCKETS = 16 };

/* Keys are counters: neighbouring ones belong into different buckets, which the low bits do already. */
static hac_link **bucket_of(hac_link **buckets, size_t n_buckets, uint64_t key)
{
    return &buckets[(size_t)key & (n_buckets - 1)];
}

static hac_status grow(hac_table *table, hac_error *err)
{
    size_t n_buckets = table->n_buckets == 0 ? FIRST_BUCKETS : table->n_buckets * 2;
    hac_link **buckets = calloc(n_buckets, sizeof(*buckets));
    if (buckets == NULL)
        return hac_fail_no_memory(err);
    for (size_t i = 0; i < table->n_buckets; i++) {
        hac_link *next;
        for (hac_link *link = table->buckets[i]; link != NULL; link = next) {
            hac_link **bucket = bucket_of(buckets, n_buckets, link->key);
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

hac_status hac_table_put(hac_table *table, hac_link *link, uint64_t key, hac_error *err)
{
    if (table->count >= table->n_buckets) {
        hac_status status = grow(table, err);
        if (status != HAC_OK)
            return status;
    }
    hac_link **bucket = bucket_of(table->buckets, table->n_buckets, key);
    link->key = key;
    link->next = *bucket;
    *bucket = link;
    table->count++;
    return HAC_OK;
}

hac_link *hac_table_find(const hac_table *table, uint64_t key)
{
    if (table->n_buckets == 0)
        return NULL;
    hac_link *link = *bucket_of(table->buckets, table->n_buckets, key);
    while (link != NULL && link->key != key)
        link = link->next;
    return link;
}

void hac_table_remove(hac_table *table, hac_link *link)
{
    if (link->key == 0)
        return;
    hac_link **at = bucket_of(table->buckets, table->n_buckets, link->key);
    while (*at != link)
        at = &(*at)->next;
    *at = link->next;
    link->next = NULL;
    link->key = 0;
    table->count--;
}

void hac_table_clear(hac_table *table)
{
    free(table->buckets);
    *table = (hac_table){0};
}
