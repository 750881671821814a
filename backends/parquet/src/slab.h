/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of a column that wait to be encoded: a level a row, and the values of those that are not null side by
 * side, as they will be stored.
 */
#ifndef PARQUET_SLAB_H
#define PARQUET_SLAB_H

#include "bytes.h"
#include "expr/vector.h"
#include "extremes.h"
#include "parquet/file.h"

/* Of a value; a page's sizes are 31 bits. */
#define HAC_TEXT_BYTES_MAX (1u << 30)

typedef struct hac_slab {
    hac_value_type type;
    hac_stored stored;
    unsigned width;   /* of a value; text: 0 */
    hac_bytes levels; /* a byte a row: 1, or 0 where it is null */
    hac_bytes values; /* text: the characters */
    hac_bytes ends;   /* text: n + 1 uint32_t, text i is from ends[i] to ends[i + 1] of `values` */
    size_t rows, n;   /* n: values */
} hac_slab;

/* How values of a type are stored. */
hac_parquet_physical hac_physical_of(hac_value_type type);
hac_stored hac_stored_of(hac_value_type type);
/* Bytes of a stored value in memory: 1 for bool, 0 for text. */
unsigned hac_stored_width(hac_value_type type);

void hac_slab_init(hac_slab *slab, hac_value_type type);
void hac_slab_clear(hac_slab *slab);

/* Appends rows [first, first + rows) of a vector; texts are at most HAC_TEXT_BYTES_MAX, states HAC_ROW_OK or
 * HAC_ROW_NULL. False: out of memory. */
bool hac_slab_add(hac_slab *slab, const hac_vector *vector, size_t first, size_t rows);

/* Appends all rows of `from`, of the same type, which has none then. False: out of memory. */
bool hac_slab_append(hac_slab *slab, hac_slab *from);

/* Forgets the first rows, which have so many values. */
void hac_slab_drop(hac_slab *slab, size_t rows, size_t values);

static inline const uint8_t *hac_slab_value(const hac_slab *slab, size_t value)
{
    return slab->values.data + value * slab->width;
}

static inline const uint32_t *hac_slab_ends(const hac_slab *slab)
{
    return (const uint32_t *)(const void *)slab->ends.data;
}

#endif
