/* SPDX-License-Identifier: Apache-2.0 */
/* A few threads that wait for work, for as long as a writer lives. The caller of hac_workers_run is one of
 * them. */
#ifndef PARQUET_WORKERS_H
#define PARQUET_WORKERS_H

#include <stdbool.h>
#include <stddef.h>

#define HAC_WORKERS_MAX 64

typedef struct hac_workers hac_workers;

/* NULL: out of memory. Threads that cannot be made are done without. */
hac_workers *hac_workers_new(unsigned threads);
void hac_workers_free(hac_workers *workers);

/* Below it are the numbers that `work` gets. */
unsigned hac_workers_count(const hac_workers *workers);

/* Calls work for items 0 … n - 1, claimed in this order, and returns when all are done. */
typedef void (*hac_workers_work)(void *context, size_t item, unsigned worker);
void hac_workers_run(hac_workers *workers, size_t n, hac_workers_work work, void *context);

#endif
