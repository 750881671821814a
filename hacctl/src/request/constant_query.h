/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Queries that contain a small table of numbers as constants: a step of k-means, and the product of a matrix
 * with a small matrix. Constants keep all their bits: they are the shortest decimal texts that read back as
 * the same f64.
 *
 * The limits of a query limit the table. A table that is too large is refused before anything is sent, and
 * the message says what would fit. Repeated numbers can make a query need more values at once than there are
 * registers; the compiler reports that.
 *
 *     k-means: k centroids of d columns     k ≤ (250 - d) / 2, k ≤ (8192 + 2d) / (16d + 1); the text of each
 *                                           number, with its column's name, four times in 30 KiB
 *     matrix-multiply: n rows, m columns    n × m ≤ 840, n + m ≤ 250; the text of each number once
 */
#ifndef HACCTL_CONSTANT_QUERY_H
#define HACCTL_CONSTANT_QUERY_H

#include <stdbool.h>

#include "base/cleanup.h"
#include "base/error.h"

typedef struct hac_constant_query {
    char *schema, *where, *group_by, *select; /* NULL: none */
    bool no_header;                           /* the files of rows have no header line */
} hac_constant_query;

void hac_constant_query_clear(hac_constant_query *query);

/*
 * k-means: assigns each row to the nearest centroid, that is the smallest sum of squared differences, added
 * up in the order of the columns. If several centroids are nearest, the first wins. The header of the file
 * `centroids` names the columns; `cluster` and `count` are skipped, so that a result serves as the centroids
 * of the next step. Rows with a null in a column, and rows for which `where` (NULL: none) is not true, are
 * left out.
 */
HAC_MUST_USE hac_status hac_constant_query_k_means(const char *centroids, const char *where,
                                                   hac_constant_query *ret, hac_error *err);

/*
 * Matrix product: each row becomes its product with `matrix`, which has as many rows as the row has columns.
 * Terms are added up in the order of the columns. `rows` is the first file of rows. If it is text (delimiter
 * not '\0'), its first line tells whether it has a header, and must have the right number of columns. Columns
 * of the result have the names of `matrix`, or c1, c2 …
 */
HAC_MUST_USE hac_status hac_constant_query_multiply(const char *matrix, const char *rows, char delimiter,
                                                    hac_constant_query *ret, hac_error *err);

#endif
