/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where an input's bytes are cut into data sets: runs of whole records of about `set_bytes`. A set takes as
 * many records as fit in, or one that is larger. Where a set ends depends on the input's bytes alone, not on
 * the pieces that they came in.
 *
 * Bytes are named by their offset in the input. What is not in a set yet must be in memory, the rest need
 * not. All bytes are untrusted. What is wrong *within* a record is for those who read it; only where the next
 * one begins has to be known here.
 */
#ifndef CLIENT_CUT_H
#define CLIENT_CUT_H

#include <stdbool.h>

#include <hac/hac.h>

#define HAC_CUT_RECORD_MAX (UINT64_C(64) << 20) /* bytes of a record, as backends/query has it */
#define HAC_TYPED_DEPTH    64                   /* vectors, lists and maps in one another */

/* How records end. */
typedef struct hac_cut_rule {
    hac_input_format format;
    uint64_t record_bytes; /* fixed */
    bool big_endian;       /* lengths */
    uint64_t set_bytes;    /* 0: every record is a set */
} hac_cut_rule;

/* The bytes of the input in memory: [base, end). */
typedef struct hac_cut_view {
    const uint8_t *data; /* where byte `base` is */
    uint64_t base, end;
    bool last; /* the input ends at `end` */
} hac_cut_view;

typedef struct hac_cut {
    hac_cut_rule rule;
    uint64_t start;    /* of the next set */
    uint64_t lines;    /* that end before `start`; records, where the format has no lines */
    uint64_t at;       /* what lies before was looked at */
    uint64_t lines_at; /* text: that end before `at`; else records that end before `whole` */
    uint64_t whole;    /* formats without lines: records end here, from `start` on */
    bool quoted;       /* csv: `at` is inside quotes */
    bool unclosed; /* csv, after HAC_FAILED: quotes are open from `start` on: those who read them know why */
    bool ragged;   /* the input ends within a record: the last set too, or (fixed) behind the one before */
    /* typed bytes: how many objects are still to come on each level, the first one of which is the record;
     * UINT64_MAX: up to the end mark */
    size_t depth;
    uint64_t left[HAC_TYPED_DEPTH + 1];
} hac_cut;

/* At the start of an input. */
void hac_cut_begin(hac_cut *cut, const hac_cut_rule *rule);

/*
 * The next set: [cut->start, *ret_end), and `start` moves to its end. HAC_AGAIN: more bytes are needed.
 * HAC_NOT_FOUND: all of the input is in sets. HAC_FAILED: nobody can tell where the next record begins, or
 * one is too long; with the line or record.
 */
HAC_MUST_USE hac_status hac_cut_next(hac_cut *cut, const hac_cut_view *view, uint64_t *ret_end,
                                     hac_error *err);

/* Ends a set early, behind the last whole record, after HAC_AGAIN. HAC_NOT_FOUND: there is none. */
HAC_MUST_USE hac_status hac_cut_early(hac_cut *cut, const hac_cut_view *view, uint64_t *ret_end);

/* Formats without lines (cut_binary.c). */
HAC_MUST_USE hac_status hac_cut_fixed(hac_cut *cut, const hac_cut_view *view, uint64_t *ret_end);
HAC_MUST_USE hac_status hac_cut_walked(hac_cut *cut, const hac_cut_view *view, uint64_t *ret_end,
                                       hac_error *err);

/* Bytes of a set of records of fixed width. */
uint64_t hac_cut_fixed_set(const hac_cut_rule *rule);

/* Bytes of a record of fixed width: what the values of a schema take. HAC_INVALID: it has none. */
HAC_MUST_USE hac_status hac_record_bytes(const char *schema, uint64_t *ret, hac_error *err);

#endif
