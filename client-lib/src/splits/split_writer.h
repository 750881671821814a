/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fills memory with splits (base/split_layout.h). The client reads the inputs one after another, directly
 * into the memory of the split, and cuts the bytes into data sets as they arrive. The bytes after the last
 * set of a split are copied to the start of the next split. A csv or tsv header line is copied to the start
 * of every split.
 *
 * The caller makes these calls for every split:
 *
 *     hac_split_writer_memory
 *     loop: hac_split_writer_space, read, hac_split_writer_read, hac_split_writer_cut
 *     hac_split_writer_close, send
 */
#ifndef CLIENT_SPLIT_WRITER_H
#define CLIENT_SPLIT_WRITER_H

#include "record_cut.h"

#define HAC_SPLIT_HEADER_MAX (UINT64_C(1) << 20) /* max bytes of a header line, which every split repeats */

typedef enum hac_split_writer_state {
    HAC_SPLIT_WRITER_MORE,  /* more bytes are needed */
    HAC_SPLIT_WRITER_FULL,  /* the split is full: the caller closes it */
    HAC_SPLIT_WRITER_GROW,  /* the next record does not fit: the split needs larger memory */
    HAC_SPLIT_WRITER_ENDED, /* the whole input is in sets */
} hac_split_writer_state;

typedef struct hac_split_writer {
    hac_record_rule rule;
    bool header_wanted; /* inputs begin with a header line */
    bool mark_dropped;  /* a byte order mark is skipped */

    /* the input */
    hac_record_cut cut;
    bool mark_known; /* the writer has checked the input for a byte order mark */
    bool begun;      /* the writer has consumed the byte order mark and the header */
    bool ended;      /* the input has no more bytes */
    bool told;       /* a split of this input was closed, so the reader knows the header */
    uint8_t *header; /* owned */
    uint64_t header_bytes;

    /* the split: text[0 … front) is the repeated header; byte `base` of the input follows */
    uint8_t *memory;
    uint64_t capacity, front, base, end;
    uint64_t lines_before, largest;
    uint32_t n_sets;
} hac_split_writer;

/* The sizes that are sent with a split. */
typedef struct hac_split_sizes {
    uint64_t bytes, largest; /* size of the split, and size of its largest set */
    uint64_t input_bytes;    /* bytes from the input, without a repeated header */
    uint32_t sets;
} hac_split_sizes;

/* Checks a header line: `bytes` of the line are in memory, and `status` is the result of cutting the line. */
HAC_MUST_USE hac_status hac_split_header_check(const hac_record_cut *cut, hac_status status, uint64_t bytes,
                                               hac_error *err);

/* Initializes a writer. rule->set_bytes applies to records, not to the header. */
void hac_split_writer_init(hac_split_writer *writer, const hac_record_rule *rule, bool header);
void hac_split_writer_clear(hac_split_writer *writer);

/* Returns the memory size of a split whose sets have `text` bytes. */
uint64_t hac_split_writer_bytes(uint64_t text);
/* Returns the memory size that the next split needs for the leftover bytes and new bytes. */
uint64_t hac_split_writer_needs(const hac_split_writer *writer);

/* Starts the next split in `memory`, and moves the leftover bytes there. The memory of the previous split
 * must still be valid. It may be the same memory. */
void hac_split_writer_memory(hac_split_writer *writer, uint8_t *memory, uint64_t capacity);

/* Starts another input. The previous input must have no leftover bytes. */
void hac_split_writer_begin(hac_split_writer *writer);

/* Returns where the caller reads the next bytes to, and how many bytes fit. */
uint8_t *hac_split_writer_space(const hac_split_writer *writer, uint64_t *ret_capacity);
void hac_split_writer_read(hac_split_writer *writer, uint64_t bytes);
void hac_split_writer_end(hac_split_writer *writer);

/* Cuts the bytes that have arrived into sets. */
HAC_MUST_USE hac_status hac_split_writer_cut(hac_split_writer *writer, hac_split_writer_state *ret,
                                             hac_error *err);

/* After MORE: cuts the whole records that have arrived. True: there is a split to close. */
bool hac_split_writer_early(hac_split_writer *writer);
/* After a failure of the input: as hac_split_writer_early. The split may also consist of a header alone, and
 * may contain a record with unclosed quotes, because the executor's reader can tell a stray quote from an
 * open quote. */
bool hac_split_writer_rescue(hac_split_writer *writer);
/* After ENDED: true if there is a split to close. A header without records is a split. */
bool hac_split_writer_due(const hac_split_writer *writer);

/* Completes the split in place. */
hac_split_sizes hac_split_writer_close(hac_split_writer *writer);

#endif
