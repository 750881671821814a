/* SPDX-License-Identifier: Apache-2.0 */
/* The slots of a list's leaf, or of a map's two leaves side by side, as elements of rows. */
#ifndef PARQUET_LIST_VALUES_H
#define PARQUET_LIST_VALUES_H

#include "flat_column.h"

/* The slots of one leaf that were read and not used up. */
typedef struct hac_list_slots {
    hac_flat_column *column;
    uint8_t list_definition; /* there is an element from this definition level on */
    size_t n, at;
    hac_column values; /* its arrays are those below */
    uint8_t repetition[HAC_BATCH_ROWS], definition[HAC_BATCH_ROWS], states[HAC_BATCH_ROWS];
    _Alignas(64) uint8_t memory[16 * HAC_BATCH_ROWS];
} hac_list_slots;

typedef enum hac_list_step {
    HAC_LIST_STEP_NULL,    /* the row has no list */
    HAC_LIST_STEP_EMPTY,   /* the row's list has no elements */
    HAC_LIST_STEP_ELEMENT, /* an element of the row; it may be null */
    HAC_LIST_STEP_END      /* the row has no more elements */
} hac_list_step;

typedef struct hac_list_values {
    hac_list_slots *slots[2]; /* a list: its elements; a map: its keys, then its values */
    size_t n;
    bool levels_only; /* only steps are asked for, no values */
    const char *name; /* of the column, and the row group: for messages */
    size_t group;
} hac_list_values;

/* Borrows the file. Elements are read as type `element`; HAC_KIND_NONE: as the leaf's own. Also after a
 * failure, *ret is to be cleared. */
HAC_MUST_USE hac_status hac_list_values_new(const hac_parquet_file *file, size_t leaf, hac_value_type element,
                                            hac_list_values *ret, hac_error *err);
void hac_list_values_clear(hac_list_values *values);

HAC_MUST_USE hac_status hac_list_values_begin(hac_list_values *values, size_t group, hac_error *err);

/* The first step of the next row. HAC_FAILED: the chunk is damaged, or has no more rows. */
HAC_MUST_USE hac_status hac_list_values_row(hac_list_values *values, hac_list_step *ret, hac_error *err);
/* The step behind an element: another element of the row, or its end. */
HAC_MUST_USE hac_status hac_list_values_next(hac_list_values *values, hac_list_step *ret, hac_error *err);

/* After the last row: checks that no slots are left. */
HAC_MUST_USE hac_status hac_list_values_end(hac_list_values *values, hac_error *err);

#endif
