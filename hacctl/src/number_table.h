/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small csv file of numbers, comma between them: the centroids of k-means, the right matrix of a product.
 * Its first line is a header if none of its fields is a number. Every other field is a finite number, every
 * line has as many; empty lines are skipped.
 */
#ifndef HACCTL_NUMBER_TABLE_H
#define HACCTL_NUMBER_TABLE_H

#include <stddef.h>

#include "base/cleanup.h"
#include "base/error.h"

#define HAC_NUMBER_TABLE_COLUMNS_MAX 256
#define HAC_NUMBER_TABLE_BYTES_MAX   (1u << 20) /* of a file, and of the header of a larger one */

typedef struct hac_number_table {
    char **names;   /* of the columns; NULL: there is no header */
    double *values; /* row by row */
    size_t rows, columns;
} hac_number_table;

/* HAC_FAILED: cannot be read. HAC_INVALID: is no such table; the message begins with "FILE:LINE: ". At least
 * one row. To be cleared in every case. */
HAC_MUST_USE hac_status hac_number_table_read(const char *path, hac_number_table *ret, hac_error *err);

/* Looks at the first line alone, of a file of any size: names, if that is a header, and columns (0: empty
 * file); no values. */
HAC_MUST_USE hac_status hac_number_table_read_header(const char *path, char delimiter, hac_number_table *ret,
                                                     hac_error *err);

void hac_number_table_clear(hac_number_table *table);

#endif
