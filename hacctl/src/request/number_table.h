/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small csv file of numbers with commas between them: the centroids of k-means, or the right matrix of a
 * product. Its first line is a header if none of its fields is a number. Every other field is a finite
 * number, and all lines have the same number of fields. Empty lines are skipped.
 */
#ifndef HACCTL_NUMBER_TABLE_H
#define HACCTL_NUMBER_TABLE_H

#include <stddef.h>

#include "base/cleanup.h"
#include "base/error.h"

#define HAC_NUMBER_TABLE_BYTES_MAX (1u << 20) /* of a file; of a larger file only the header is read */

typedef struct hac_number_table {
    char **names;   /* column names; NULL: there is no header */
    double *values; /* row by row */
    size_t rows, columns;
} hac_number_table;

/* Reads a table of at least one row. HAC_FAILED: the file cannot be read. HAC_INVALID: it is not such a
 * table; the message begins with "FILE:LINE: ". Clear *ret in every case. */
HAC_MUST_USE hac_status hac_number_table_read(const char *path, hac_number_table *ret, hac_error *err);

/* Reads only the first line of a file of any size: the names if it is a header, and the number of columns
 * (0: the file is empty). Reads no values. */
HAC_MUST_USE hac_status hac_number_table_read_header(const char *path, char delimiter, hac_number_table *ret,
                                                     hac_error *err);

void hac_number_table_clear(hac_number_table *table);

#endif
