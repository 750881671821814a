/* SPDX-License-Identifier: Apache-2.0 */
/* The chunk of one column in the current row group. Rows wait in `pending` until they are encoded to pages as
 * a trial, which is kept or taken back. So a row group can end exactly where its bytes on disk fit. */
#ifndef PARQUET_COLUMN_WRITER_H
#define PARQUET_COLUMN_WRITER_H

#include "compress.h"
#include "dictionary_writer.h"
#include "pending_rows.h"

#define HAC_PAGE_ROWS 20480 /* maximum of rows in a page */

/* Scratch memory of a thread that encodes. */
typedef struct hac_scratch {
    hac_compressor compressor;
    hac_bytes body, packed, header;
    uint32_t codes[HAC_PAGE_ROWS + 8];
} hac_scratch;

void hac_scratch_clear(hac_scratch *scratch);

typedef struct hac_written_page {
    uint64_t offset, first_row; /* offset in the chunk's data pages; row in the row group */
    uint32_t bytes;             /* with its header */
    uint32_t rows, nulls;
    bool dictionary;
    hac_min_max min_max;
} hac_written_page;

typedef enum hac_column_mode {
    HAC_COLUMN_UNDECIDED = 0, /* it is not decided whether there is a dictionary */
    HAC_COLUMN_DICTIONARY,
    HAC_COLUMN_PLAIN,
} hac_column_mode;

/* The progress of a chunk. */
typedef struct hac_column_state {
    size_t data, pages;    /* bytes of each */
    uint64_t uncompressed; /* of the data pages, with headers */
    uint32_t entries;
    hac_column_mode mode;
    size_t row, value;  /* pending rows and values up to here are encoded */
    uint64_t group_row; /* rows of the chunk */
} hac_column_state;

typedef struct hac_column_writer {
    hac_pending_rows incoming; /* rows that are being added, by the writer's thread */
    hac_pending_rows pending;
    hac_bytes data;  /* the data pages as stored */
    hac_bytes pages; /* a hac_written_page for each page */
    hac_dictionary_writer dictionary;
    /* the dictionary's page with the first dictionary_entries entries; 0: not made */
    hac_bytes dictionary_page;
    uint32_t dictionary_entries;
    uint64_t dictionary_uncompressed; /* including the header, like the page */
    hac_column_state now, kept;       /* with and without the current trial */
    uint64_t group_values;            /* of the row group, kept */
    uint64_t last_values;             /* of the previous row group; 0: there was none */
    uint64_t no_dictionary_values;    /* number of further values without a dictionary */
    uint32_t page_mark;
    bool not_utf8; /* some string is not UTF-8; never reset */

    size_t page_bytes; /* approximate uncompressed size */
    bool no_dictionary;
} hac_column_writer;

void hac_column_writer_init(hac_column_writer *column, hac_value_type type, size_t page_bytes,
                            size_t dictionary_bytes);
void hac_column_writer_clear(hac_column_writer *column);

/* Takes the last trial back, then encodes the first `rows` pending rows. */
HAC_MUST_USE hac_status hac_column_try(hac_column_writer *column, hac_scratch *scratch, size_t rows,
                                       hac_error *err);
void hac_column_keep(hac_column_writer *column);

/* Makes the dictionary's page if it is not made. */
HAC_MUST_USE hac_status hac_column_seal(hac_column_writer *column, hac_scratch *scratch, hac_error *err);

/* Size of the chunk in the file, including the trial: exact if sealed, else an upper estimate, because the
 * compressed size of the dictionary is unknown. */
uint64_t hac_column_bytes(const hac_column_writer *column);

static inline const hac_written_page *hac_column_pages(const hac_column_writer *column, size_t *ret_n)
{
    *ret_n = column->pages.n / sizeof(hac_written_page);
    return (const hac_written_page *)(const void *)column->pages.data;
}

/* Clears the chunk, but keeps the pending rows. */
void hac_column_next_group(hac_column_writer *column);

#endif
