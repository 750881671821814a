/* SPDX-License-Identifier: Apache-2.0 */
/* The strings of one batch that are made of lists: JSON, and copies of elements. */
#ifndef PARQUET_LIST_TEXT_H
#define PARQUET_LIST_TEXT_H

#include "expr/column.h"
#include "parquet/column.h"

typedef struct hac_list_text {
    uint8_t *data;
    size_t bytes, capacity;
    size_t max;  /* more is an error */
    bool broken; /* no memory, or over `max`; what is added then is lost */
    hac_error why;
    hac_parquet_memory *memory; /* in which `data` is counted before it grows; NULL: nowhere */
    uint64_t counted;
} hac_list_text;

void hac_list_text_clear(hac_list_text *text);
void hac_list_text_put(hac_list_text *text, const void *data, size_t bytes);
/* The value in that row as JSON, as results have it: times and floats that are not finite in quotes, bytes as
 * hexadecimal digits. `key`: in quotes in any case. The value must be HAC_ROW_OK. */
void hac_list_text_value(hac_list_text *text, const hac_column *values, size_t row, bool key);
/* Reports what has gone wrong, if anything has. */
HAC_MUST_USE hac_status hac_list_text_check(const hac_list_text *text, hac_error *err);

#endif
