/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cuts an input into data sets. A data set is a sequence of whole records of about `set_bytes` bytes: as many
 * records as fit, or one larger record. The end of a set depends only on the input's bytes, not on the sizes
 * of the reads.
 *
 * Positions are byte offsets in the input. Bytes that are not in a set yet must be in memory; earlier bytes
 * need not. All bytes are untrusted. This module only finds where the next record begins. The executor's
 * reader reports errors within a record.
 */
#ifndef CLIENT_RECORD_CUT_H
#define CLIENT_RECORD_CUT_H

#include <stdbool.h>

#include <hac/hac.h>

#include "base/limits.h"
#include "base/typed_bytes.h"

/* How records end. */
typedef struct hac_record_rule {
    hac_input_format format;
    uint64_t record_bytes; /* record size of the fixed format */
    bool big_endian;       /* byte order of lengths */
    uint64_t set_bytes;    /* target size of a set; 0: every record is a set */
} hac_record_rule;

/* The bytes [base, end) of the input, which are in memory. */
typedef struct hac_record_view {
    const uint8_t *data; /* address of byte `base` */
    uint64_t base, end;
    bool last; /* the input ends at `end` */
} hac_record_view;

typedef struct hac_record_cut {
    hac_record_rule rule;
    uint64_t start;    /* start of the next set */
    uint64_t lines;    /* lines that end before `start`; for formats without lines, records */
    uint64_t at;       /* the bytes before this offset are scanned */
    uint64_t lines_at; /* text: lines that end before `at`; other formats: records that end before `whole` */
    uint64_t whole;    /* formats without lines: end of the last whole record after `start` */
    bool quoted;       /* csv: `at` is inside quotes */
    /* csv, after HAC_FAILED: a quote after `start` is not closed. The executor's reader can tell why. */
    bool unclosed;
    /* The input ends within a record. The partial record is in the last set, or, for the fixed format, after
     * the last set. */
    bool ragged;
    /* Typed bytes: number of objects that are still missing on each level. Level 0 is the record. UINT64_MAX:
     * the level ends with an end mark. */
    size_t depth;
    uint64_t left[HAC_TYPED_DEPTH_MAX + 1];
} hac_record_cut;

/* Prepares `cut` for the start of an input. */
void hac_record_cut_begin(hac_record_cut *cut, const hac_record_rule *rule);

/*
 * Cuts the next set, [cut->start, *ret_end), and moves `start` to its end. HAC_AGAIN: more bytes are needed.
 * HAC_NOT_FOUND: the whole input is in sets. HAC_FAILED: the start of the next record cannot be found, or a
 * record is too long; the message names the line or record.
 */
HAC_MUST_USE hac_status hac_record_cut_next(hac_record_cut *cut, const hac_record_view *view,
                                            uint64_t *ret_end, hac_error *err);

/* Ends a set early, after the last whole record. Call this after HAC_AGAIN. HAC_NOT_FOUND: there is no whole
 * record. */
HAC_MUST_USE hac_status hac_record_cut_early(hac_record_cut *cut, const hac_record_view *view,
                                             uint64_t *ret_end);

/* Formats without lines (record_cut_binary.c). */
HAC_MUST_USE hac_status hac_record_cut_fixed(hac_record_cut *cut, const hac_record_view *view,
                                             uint64_t *ret_end);
HAC_MUST_USE hac_status hac_record_cut_walked(hac_record_cut *cut, const hac_record_view *view,
                                              uint64_t *ret_end, hac_error *err);

/* Returns the size of a set of records of fixed width. */
uint64_t hac_record_cut_fixed_set(const hac_record_rule *rule);

/* Computes the size of a record from the types in its schema. HAC_INVALID: the schema has no fixed width. */
HAC_MUST_USE hac_status hac_record_bytes(const char *schema, uint64_t *ret, hac_error *err);

#endif
