/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finding the bytes that separate things, 64 at a time: compare, one bit a byte, then walk the bits that are
 * set. The fastest way that the processor has is chosen at run time.
 */
#ifndef QUERY_SCAN_H
#define QUERY_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HAC_SCAN_PAD 64 /* bytes that must be readable behind what is scanned */

#define HAC_SCAN_SPARE 8

typedef enum hac_scan_marks {
    HAC_SCAN_LINES = 0, /* newlines only */
    HAC_SCAN_FIELDS,    /* delimiters too */
    HAC_SCAN_QUOTED     /* both, but not within double quotes */
} hac_scan_marks;

/* What was found. A mark is the offset behind a separator, so that field i lies in [marks[i], marks[i + 1] -
 * 1); ends[j] is the index in `marks` of the j-th newline. The caller sees to the room: a mark and an end a
 * byte. */
typedef struct hac_scan_index {
    uint32_t *marks, *ends;
    size_t n_marks, n_ends;
} hac_scan_index;

typedef struct hac_scan {
    hac_scan_marks what;
    uint8_t delimiter;
    uint8_t special;   /* FIELDS: a byte whose presence is reported (an escape) */
    size_t known;      /* QUOTED: bytes of data that may be looked at (for the LF behind a CR) */
    uint64_t inside;   /* all ones: inside quotes */
    uint64_t opens;    /* 1: the byte before is one that an opening quote may follow */
    uint64_t closed;   /* 1: the byte before is a closing quote */
    bool special_seen; /* since it was last reset: the special byte, or a double quote */
    bool misquoted;    /* a quote stands where none may be; what follows means nothing */
    size_t misquoted_at;
} hac_scan;

typedef struct hac_scanner {
    const char *name;
    /* Scans on: data[from … to). */
    void (*fields)(hac_scan *scan, const uint8_t *data, size_t from, size_t to, hac_scan_index *index);
    /* Marks where runs of non-blanks begin and end; *in_word is 1 when the byte before `from` is in one. */
    void (*words)(const uint8_t *data, size_t from, size_t to, uint64_t *in_word, hac_scan_index *index);
    uint64_t (*count)(const uint8_t *data, size_t bytes, uint8_t byte); /* needs no pad */
} hac_scanner;

/* The fastest here; and all that can run here, the plainest first (NULL: no more). */
const hac_scanner *hac_scanner_best(void);
const hac_scanner *hac_scanner_at(size_t i);

#endif
