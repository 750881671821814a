/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a part of a file says of its row groups. Only processes of one machine read it.
 *
 *     head, one byte a column (1: some string is not UTF-8), padded to 8
 *     for each row group: group head, then for each column: chunk head, its hac_written_page
 */
#ifndef PARQUET_PART_FACTS_H
#define PARQUET_PART_FACTS_H

#include "footer_writer.h"

typedef struct hac_part_head {
    uint64_t columns, groups;
} hac_part_head;

typedef struct hac_part_group {
    uint64_t rows, bytes;
    uint64_t facts_bytes; /* of its chunks' description */
} hac_part_group;

typedef struct hac_part_chunk {
    uint64_t bytes, uncompressed, dictionary_bytes, pages;
} hac_part_chunk;

#endif
