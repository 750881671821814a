/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fills memory with splits (base/split_layout.h): the bytes of one input after another are read straight to
 * where they stay, and cut into data sets as they come. What is left over behind the last set of a split is
 * copied to the front of the next one; of csv and tsv with a header so is that line.
 *
 *     hac_fill_memory ─▶ { hac_fill_room, read, hac_fill_read ─▶ hac_fill_cut } … ─▶ hac_fill_close ─▶ send
 */
#ifndef CLIENT_FILL_H
#define CLIENT_FILL_H

#include "cut.h"

#define HAC_FILL_HEADER_MAX (UINT64_C(1) << 20) /* bytes of a header line, which every split repeats */

typedef enum hac_fill_state {
    HAC_FILL_MORE,  /* more bytes are needed */
    HAC_FILL_FULL,  /* the split takes no more: it is to be closed */
    HAC_FILL_GROW,  /* not one record fits in: larger memory is needed */
    HAC_FILL_ENDED, /* all of the input is in sets */
} hac_fill_state;

typedef struct hac_fill {
    hac_cut_rule rule;
    bool header_wanted; /* inputs begin with a header line */
    bool mark_dropped;  /* a byte order mark is no data */

    /* the input */
    hac_cut cut;
    bool mark_known; /* whether it begins with a byte order mark */
    bool begun;      /* what lies before its first record was taken */
    bool ended;      /* it has no more bytes */
    bool told;       /* a split of it was closed: its header is known to those who read it */
    uint8_t *header; /* owned */
    uint64_t header_bytes;

    /* the split: text[0 … front) is the header repeated, byte `base` of the input lies behind it */
    uint8_t *memory;
    uint64_t room, front, base, end;
    uint64_t lines_before, largest;
    uint32_t n_sets;
} hac_fill;

/* What is said of a split beside its bytes. */
typedef struct hac_fill_split {
    uint64_t bytes, largest; /* of all of it, of its largest set */
    uint64_t input_bytes;    /* that came from the input: a repeated header did not */
    uint32_t sets;
} hac_fill_split;

/* `set_bytes` of the rule is that of records. */
void hac_fill_init(hac_fill *fill, const hac_cut_rule *rule, bool header);
void hac_fill_clear(hac_fill *fill);

/* Bytes of memory for a split whose sets have `text` bytes. */
uint64_t hac_fill_bytes(uint64_t text);
/* Bytes of memory that the next split needs, for what is left over and more. */
uint64_t hac_fill_needs(const hac_fill *fill);

/* The next split is filled in `memory`; what is left over moves there. The memory of the split before must be
 * there still, and may be the same. */
void hac_fill_memory(hac_fill *fill, uint8_t *memory, uint64_t room);

/* Another input begins. Nothing of one before may be left over. */
void hac_fill_begin(hac_fill *fill);

/* Where the next bytes go, and how many of them fit in. */
uint8_t *hac_fill_room(const hac_fill *fill, uint64_t *ret_room);
void hac_fill_read(hac_fill *fill, uint64_t bytes);
void hac_fill_end(hac_fill *fill);

/* Cuts what has come. */
HAC_MUST_USE hac_status hac_fill_cut(hac_fill *fill, hac_fill_state *ret, hac_error *err);

/* After MORE: cuts the whole records that are there. Whether there is a split to be closed. */
bool hac_fill_early(hac_fill *fill);
/* The input has failed: the same, also for a header alone; and a record in which quotes are not closed, as
 * those who read it can tell a stray quote from one that is open. */
bool hac_fill_rescue(hac_fill *fill);
/* After ENDED: whether there is a split to be closed. A header without records is one. */
bool hac_fill_due(const hac_fill *fill);

/* Completes the split where it lies. */
hac_fill_split hac_fill_close(hac_fill *fill);

#endif
