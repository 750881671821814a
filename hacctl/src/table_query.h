/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The texts of queries that have a small table of numbers in them as constants: a step of k-means, and the
 * product of a matrix with one that is small. Constants keep all their bits: they are the shortest texts that
 * read back as the same f64.
 *
 * How large a table may be follows from what a query may be; more is refused, with what would fit, before
 * anything is sent. Numbers that are often the same can make a query that needs more values at once than
 * there are registers: then the compiler says so.
 *
 *     k-means: k centroids of d columns     k ≤ (250 - d) / 2, k ≤ (8192 + 2d) / (16d + 1); the text of each
 *                                           number, with its column's name, four times in 30 KiB
 *     matrix-multiply: n rows, m columns    n × m ≤ 900, n + m ≤ 250; the text of each number once
 */
#ifndef HACCTL_TABLE_QUERY_H
#define HACCTL_TABLE_QUERY_H

#include <stdbool.h>

#include "base/cleanup.h"
#include "base/error.h"

typedef struct hac_table_query {
    char *schema, *where, *group_by, *select; /* NULL: none */
    bool no_header;                           /* the rows' files have none */
} hac_table_query;

void hac_table_query_clear(hac_table_query *query);

/*
 * Rows are assigned to the nearest centroid: the least sum of squared differences, added up in the order of
 * the columns; of several the first. `centroids` names the columns in its header; `cluster` and `count` are
 * none of them, so that a result is the next step's centroids. Rows with a null among their columns are left
 * out, and those for which `where` (NULL: none) is not true.
 */
HAC_MUST_USE hac_status hac_table_query_k_means(const char *centroids, const char *where,
                                                hac_table_query *ret, hac_error *err);

/*
 * Each row becomes its product with `matrix`, whose rows are as many as the row's columns; terms are added up
 * in the order of those. `rows` is the first file of rows: of text (delimiter not '\0') its first line is
 * looked at, whether it is a header and whether the columns are as many. Columns of the result have the names
 * of `matrix`, or c1, c2 …
 */
HAC_MUST_USE hac_status hac_table_query_multiply(const char *matrix, const char *rows, char delimiter,
                                                 hac_table_query *ret, hac_error *err);

#endif
