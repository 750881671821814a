/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For engines that aggregate elsewhere (a device): their groups into a table, from which a partial is
 * written. A group comes as a row that has its keys, and as the words of a record (layout.h) from rows_offset
 * on.
 */
#ifndef QUERY_GROUP_PUT_H
#define QUERY_GROUP_PUT_H

#include "query/group_table.h"

/*
 * Groups `n` (at most HAC_BATCH_ROWS) into the table: `columns` are the outputs of query->rows for their
 * rows, figures[i] points to the record's words behind its keys. A key that is there already is merged.
 * Groups of other passes than the table's are left out. Without keys there is one group, also for n = 0.
 * Errors as of hac_group_table_add.
 */
HAC_MUST_USE hac_status hac_group_table_put(hac_group_table *table, const hac_vector *columns,
                                            const uint64_t *const *figures, size_t n, hac_error *err);

#endif
