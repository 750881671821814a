/* SPDX-License-Identifier: Apache-2.0 */
/* The columns of a query whose values are in the names of folders (base/folder_keys.h): all rows of a file
 * have the same value. */
#ifndef QUERY_PATH_VALUES_H
#define QUERY_PATH_VALUES_H

#include "source_parts.h"

/* Zero-initialised; clear it in every case. */
typedef struct hac_path_values {
    hac_source_column *columns; /* owned; the last columns of the query */
    size_t n;
    void *memory;  /* owned; arrays of the columns */
    uint8_t *text; /* owned; the strings */
    bool known;    /* the values are those of `path` */
    const char *path;
} hac_path_values;

/* Makes the columns, without values. HAC_NO_MEMORY. */
HAC_MUST_USE hac_status hac_path_values_init(const hac_query *query, hac_path_values *ret, hac_error *err);
void hac_path_values_clear(hac_path_values *values);

/* Takes the values from folders that have keys: "year=2024/city=Rome/". A column without a key is null.
 * Borrows the path; a second call with the same path costs nothing. HAC_FAILED: a value is none of the
 * column's type. */
HAC_MUST_USE hac_status hac_path_values_set(hac_path_values *values, const char *path, size_t bytes,
                                            hac_error *err);

/* The columns as a part of a batch: HAC_BATCH_ROWS equal rows each. */
void hac_path_values_give(const hac_path_values *values, hac_column *ret);

#endif
