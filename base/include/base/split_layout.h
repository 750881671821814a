/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A split as it lies in a pool buffer: splice's DirectBuffer (docs/flows/splice.md). The client fills it with
 * whole records and says where its *data sets* begin: pieces of about HAC_SPLIT_SET_BYTES that devices take
 * one by one, each a chunk of a query (base/query_layout.h). The address index of a data set, one element a
 * record, is made by the executor that reads it (backends/query/src/sources/records.h).
 *
 *     header
 *     starts    uint64_t a data set, and one more: byte of the text where it begins; the last is text_bytes
 *     text      from text_offset on. Of csv and tsv with a header the header's line comes first, in every
 *               split; the first data set begins behind it
 *
 * Records of fixed width need no such buffer: of a file a split is a range of bytes, cut into sets of the
 * same size (hac_query_params.file_offset, base/query_layout.h).
 *
 * hacd never looks into it; executors trust nothing in it, and it may change under them.
 */
#ifndef BASE_SPLIT_LAYOUT_H
#define BASE_SPLIT_LAYOUT_H

#include <stdint.h>

#define HAC_SPLIT_MAGIC     UINT64_C(0x31544c5053434148) /* "HACSPLT1" */
#define HAC_SPLIT_SET_BYTES (UINT64_C(1) << 20)
#define HAC_SPLIT_SETS_MAX  1024
/* Splits of one job that the client may have handed over and hacd not answered. */
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
