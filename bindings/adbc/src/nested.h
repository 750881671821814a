/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Builds small Arrow arrays of any nesting, for the results of ConnectionGetInfo and ConnectionGetObjects. A
 * table of fields, of which each says how deep it is, makes a tree of columns:
 *
 *     static const hac_adbc_field fields[] = {{0, "+s", "", 0}, {1, "u", "name", 0}, {1, "+l", "tables", 0},
 *                                             {2, "u", "item", 0}, {-1, NULL, NULL, 0}};
 *
 * Values are appended to leaves, and then the rows of the columns above are ended. A failed allocation is
 * remembered, and hac_adbc_column_finish reports it.
 */
#ifndef HAC_ADBC_NESTED_H
#define HAC_ADBC_NESTED_H

#include <stdbool.h>

#include "../adbc.h"

enum { HAC_ADBC_NULLABLE = 2 }; /* ARROW_FLAG_NULLABLE */

typedef struct hac_adbc_field {
    int depth; /* -1: the end of the table */
    const char *format, *name;
    int64_t flags;
} hac_adbc_field;

typedef struct hac_adbc_column hac_adbc_column;

/* Makes the columns of a table of fields, whose first one has depth 0. NULL: no memory. */
hac_adbc_column *hac_adbc_column_new(const hac_adbc_field *fields);
void hac_adbc_column_free(hac_adbc_column *column);
hac_adbc_column *hac_adbc_column_child(hac_adbc_column *column, size_t index);

void hac_adbc_put_null(hac_adbc_column *column); /* any format but unions; of structs, a null of each child */
void hac_adbc_put_text(hac_adbc_column *column, const char *text); /* u; NULL: null */
void hac_adbc_put_int(hac_adbc_column *column, int64_t value);     /* b s i I l */
/* Ends a row of a struct, a list or a map: what was put into the children since is in it. */
void hac_adbc_put_row(hac_adbc_column *column);
/* Ends a row of a dense union, whose value was put into this child. */
void hac_adbc_put_union(hac_adbc_column *column, int8_t child);

/* Gives the columns away as a stream of one batch, and frees them, also on failure. */
AdbcStatusCode hac_adbc_column_finish(hac_adbc_column *column, struct ArrowArrayStream *ret,
                                      struct AdbcError *error);

#endif
