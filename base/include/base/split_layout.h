/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The format of a split in a pool buffer: splice's DirectBuffer (docs/flows/splice.md). The client fills it
 * with whole records and divides them into *data sets* of about HAC_SPLIT_SET_BYTES. A data set is a chunk of
 * the query (base/query_layout.h). The executor that reads a data set makes its address index, with one
 * element for each record (backends/query/src/sources/records.h).
 *
 *     header
 *     starts    for each data set the byte of the text where it begins, and then text_bytes: uint64_t
 *     text      from text_offset on. In csv and tsv with a header, every split begins with the header line;
 *               the first data set begins after it
 *
 * Files with records of fixed width need no such buffer: a split is a range of bytes of the file, divided
 * into data sets of equal size (hac_query_params.file_offset, base/query_layout.h).
 *
 * hacd does not read the buffer. Executors must not trust its content, which may change while they read it.
 */
#ifndef BASE_SPLIT_LAYOUT_H
#define BASE_SPLIT_LAYOUT_H

#include <stdint.h>

#define HAC_SPLIT_MAGIC     UINT64_C(0x31544c5053434148) /* "HACSPLT1" */
#define HAC_SPLIT_SET_BYTES (UINT64_C(1) << 20)
#define HAC_SPLIT_SETS_MAX  1024
/* Maximum number of splits of one job that the client has sent and hacd has not answered. */
#define HAC_SPLITS_IN_FLIGHT_MAX 8

typedef struct hac_split_header {
    uint64_t magic;
    uint64_t text_offset; /* from the header; a multiple of 64 */
    uint64_t text_bytes;
    /* Number of lines (in formats without lines: of records) of the source before the first data set, for
     * messages. 0: the source begins with this split. */
    uint64_t lines_before;
    uint32_t n_sets;       /* 1 … HAC_SPLIT_SETS_MAX; 0: the text has no records */
    uint32_t header_bytes; /* bytes of the header line before the first data set; 0: no header line */
    uint64_t unused[3];
} hac_split_header;

#endif
