/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The chunk of one column in the row group that is being written: rows wait in a slab, are encoded to pages
 * on trial, and the trial is kept or taken back; so the group can be cut where its bytes on disk fit.
 */
#ifndef PARQUET_COLUMN_WRITER_H
#define PARQUET_COLUMN_WRITER_H

#include "compress.h"
#include "dictionary_writer.h"
#include "slab.h"

#define HAC_PAGE_ROWS 20480 /* of a page, at most */

/* What a thread needs to encode. */
typedef struct hac_scratch {
    hac_compressor compressor;
    hac_bytes body, packed, header;
    uint32_t codes[HAC_PAGE_ROWS + 8];
} hac_scratch;

void hac_scratch_clear(hac_scratch *scratch);

typedef struct hac_written_page {
    uint64_t offset, first_row; /* in the chunk's data pages; in the row group */
    uint32_t bytes;             /* with its header */
    uint32_t rows, nulls;
    bool dictionary;
    hac_extremes extremes;
} hac_written_page;

typedef enum hac_column_mode {
    HAC_COLUMN_UNDECIDED = 0, /* whether there will be a dictionary */
    HAC_COLUMN_DICTIONARY,
    HAC_COLUMN_PLAIN,
} hac_column_mode;

/* How far the chunk is. */
typedef struct hac_column_state {
    size_t data, pages;    /* bytes of each */
    uint64_t uncompressed; /* of the data pages, with headers */
    uint32_t entries;
    hac_column_mode mode;
    size_t row, value;  /* of the slab: encoded up to here */
    uint64_t group_row; /* rows of the chunk */
} hac_column_state;

typedef struct hac_column_writer {
    hac_slab incoming; /* rows that are being added; the writer's */
    hac_slab slab;
    hac_bytes data;  /* the data pages, as they will be stored */
    hac_bytes pages; /* a hac_written_page each */
    hac_dictionary_writer dictionary;
    hac_bytes dictionary_page; /* of the first dictionary_entries entries; 0: none made */
    uint32_t dictionary_entries;
    uint64_t dictionary_uncompressed; /* with header, as the page */
    hac_column_state now, kept;       /* with the trial, without it */
    uint64_t group_values;            /* of the row group, kept */
    uint64_t last_values;             /* of the row group before; 0: there was none */
    uint64_t no_dictionary_values;    /* so many values more are not worth a dictionary */
    uint32_t page_mark;
    bool not_utf8; /* a string that is not; stays */

    size_t page_bytes; /* about, uncompressed */
    bool no_dictionary;
} hac_column_writer;

void hac_column_writer_init(hac_column_writer *column, hac_value_type type, size_t page_bytes,
                            size_t dictionary_bytes);
void hac_column_writer_clear(hac_column_writer *column);

/* Takes the last trial back, and encodes the first `rows` rows that are not encoded yet. */
HAC_MUST_USE hac_status hac_column_try(hac_column_writer *column, hac_scratch *scratch, size_t rows,
                                       hac_error *err);
void hac_column_keep(hac_column_writer *column);

/* Makes the dictionary's page, unless it is made. */
HAC_MUST_USE hac_status hac_column_seal(hac_column_writer *column, hac_scratch *scratch, hac_error *err);

/* Bytes of the chunk in the file, with the trial: exact when sealed, else a little more than there will be
 * (how much dictionaries can be compressed is not known yet). */
uint64_t hac_column_bytes(const hac_column_writer *column);

static inline const hac_written_page *hac_column_pages(const hac_column_writer *column, size_t *ret_n)
{
    *ret_n = column->pages.n / sizeof(hac_written_page);
    return (const hac_written_page *)(const void *)column->pages.data;
}

/* Forgets the chunk, keeps the rows that are not encoded. */
void hac_column_next_group(hac_column_writer *column);

#endif
