/* SPDX-License-Identifier: Apache-2.0 */
/* A thread that does one thing at a time while its owner does another. */
#ifndef PARQUET_ERRAND_H
#define PARQUET_ERRAND_H

typedef struct hac_errand hac_errand;

/* NULL: out of memory, or no thread can be made. */
hac_errand *hac_errand_new(void);
/* Waits for what was begun. */
void hac_errand_free(hac_errand *errand);

/* Begins `work`. What was begun before must have been waited for. */
void hac_errand_begin(hac_errand *errand, void (*work)(void *context), void *context);
/* Returns when it is done; at once where nothing was begun. */
void hac_errand_wait(hac_errand *errand);

#endif
