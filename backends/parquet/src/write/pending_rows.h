/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of a column that wait to be encoded: one level a row, and the values that are not null, contiguously
 * and in the form in which they are stored. */
#ifndef PARQUET_PENDING_ROWS_H
#define PARQUET_PENDING_ROWS_H

#include "expr/column.h"
#include "format/bytes.h"
#include "min_max.h"
#include "parquet/file.h"

/* Maximum size of a value; a page's sizes have 31 bits. */
#define HAC_TEXT_BYTES_MAX (1u << 30)

typedef struct hac_pending_rows {
    hac_value_type type;
    hac_stored stored;
    unsigned width;   /* bytes of a value; 0: text */
    hac_bytes levels; /* a byte a row: 1, or 0 for null */
    hac_bytes values; /* text: the characters */
    hac_bytes ends;   /* text: n + 1 uint32_t, text i is from ends[i] to ends[i + 1] of `values` */
    size_t rows, n;   /* rows; values that are not null */
} hac_pending_rows;

/* How values of a type are stored. */
hac_parquet_physical hac_physical_of(hac_value_type type);
hac_stored hac_stored_of(hac_value_type type);
/* Bytes of a stored value in memory: 1 for bool, 0 for text. */
unsigned hac_stored_width(hac_value_type type);

void hac_pending_rows_init(hac_pending_rows *pending, hac_value_type type);
void hac_pending_rows_clear(hac_pending_rows *pending);

/* Appends rows [first, first + rows) of a column. Texts have at most HAC_TEXT_BYTES_MAX bytes, states are
 * HAC_ROW_OK or HAC_ROW_NULL. False: out of memory. */
bool hac_pending_rows_add(hac_pending_rows *pending, const hac_column *column, size_t first, size_t rows);

/* Moves all rows of `from`, which has the same type, to the end. False: out of memory. */
bool hac_pending_rows_append(hac_pending_rows *pending, hac_pending_rows *from);

/* Removes the first `rows` rows, which have that many values. */
void hac_pending_rows_drop(hac_pending_rows *pending, size_t rows, size_t values);

static inline const uint8_t *hac_pending_rows_value(const hac_pending_rows *pending, size_t value)
{
    return pending->values.data + value * pending->width;
}

static inline const uint32_t *hac_pending_rows_ends(const hac_pending_rows *pending)
{
    return (const uint32_t *)(const void *)pending->ends.data;
}

#endif
