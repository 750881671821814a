/* SPDX-License-Identifier: Apache-2.0 */
/* Finds separator bytes, 64 bytes at a time: compares, makes one bit a byte, then walks through the bits that
 * are set. The fastest scanner for the processor is chosen at run time. */
#ifndef QUERY_SCAN_H
#define QUERY_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HAC_SCAN_PAD 64 /* bytes behind the scanned ones that must be readable */

#define HAC_SCAN_SPARE 8

typedef enum hac_scan_marks {
    HAC_SCAN_LINES = 0, /* newlines only */
    HAC_SCAN_FIELDS,    /* newlines and delimiters */
    HAC_SCAN_QUOTED     /* both, except inside double quotes */
} hac_scan_marks;

/* The result of a scan. A mark is the offset behind a separator, so field i is [marks[i], marks[i + 1] - 1);
 * ends[j] is the index in `marks` of the j-th newline. The caller provides one mark and one end a byte. */
typedef struct hac_scan_index {
    uint32_t *marks, *ends;
    size_t n_marks, n_ends;
} hac_scan_index;

typedef struct hac_scan {
    hac_scan_marks what;
    uint8_t delimiter;
    uint8_t special;   /* FIELDS: a byte (an escape) whose presence is reported */
    size_t known;      /* QUOTED: bytes of data that can be read (for the LF behind a CR) */
    uint64_t inside;   /* all ones if inside quotes */
    uint64_t opens;    /* 1: an opening quote may follow the previous byte */
    uint64_t closed;   /* 1: the previous byte is a closing quote */
    bool special_seen; /* the special byte or a double quote was seen since this was last reset */
    bool misquoted;    /* a quote is misplaced; what follows is meaningless */
    size_t misquoted_at;
} hac_scan;

typedef struct hac_scanner {
    const char *name;
    /* Continues with data[from … to). */
    void (*fields)(hac_scan *scan, const uint8_t *data, size_t from, size_t to, hac_scan_index *index);
    /* Marks where runs of non-blanks begin and end. *in_word is 1 if the byte before `from` is in one. */
    void (*words)(const uint8_t *data, size_t from, size_t to, uint64_t *in_word, hac_scan_index *index);
    uint64_t (*count)(const uint8_t *data, size_t bytes, uint8_t byte); /* needs no padding */
} hac_scanner;

/* The fastest scanner for this processor; and all that it can run, the slowest first, then NULL. */
const hac_scanner *hac_scanner_best(void);
const hac_scanner *hac_scanner_at(size_t i);

#endif
