/* SPDX-License-Identifier: Apache-2.0 */
/* For tests of sources: queries built by hand, and whole sources read as text, with any division into
 * chunks. */
#ifndef QUERY_SOURCE_SUPPORT_H
#define QUERY_SOURCE_SUPPORT_H

#include "base/cleanup.h"
#include "base/text.h"
#include "query/source.h"

/* cmocka.h comes last */
#include "base/test_support.h"

typedef struct test_query {
    hac_query query;
    hac_field fields[32];
    uint16_t positions[32];
    uint8_t widths[32]; /* lengths */
} test_query;

/* A query for the columns of `schema` ("a:i64 b:string", no quotes), in that order, at positions 0, 1 …
 * (fixed: at their bytes). */
void test_query_make(test_query *ret, hac_input_format format, bool header, const char *schema);

/* How a source is read. */
typedef struct test_reading {
    const char *data;
    size_t bytes;
    const hac_table *table; /* `data` is its memory */
    uint64_t chunk;         /* bytes or rows of a chunk; 0: one chunk */
    const uint64_t *cuts;   /* or the starts of chunks, from the second on; n_cuts of them */
    size_t n_cuts;
    bool file; /* through a descriptor, after some other bytes */
} test_reading;

/* All rows as text, one a line: "5|-|<3:abc>|\n" (null is -), chunks in order. A failure ends it with "error:
 * MESSAGE". With skip_errors it ends with "skipped: N". Checks the promises of every batch. */
char *test_read(const hac_query *query, const test_reading *reading);
char *test_read_text(const hac_query *query, const char *text); /* in one chunk */

/* Appends bytes of binary formats: a number of 1 … 16 bytes, little- or big-endian; a text after its length
 * (4 bytes). */
void test_put(hac_text *text, bool big, size_t bytes, __int128 value);
void test_put_text(hac_text *text, bool big, const char *data, size_t bytes);

/* Asserts that `data`, whose records end at `ends`, gives `wanted` in one chunk and in chunks of 1, 2, 3, 7 …
 * records, from memory and from a file. */
void test_check_records(const hac_query *query, const hac_text *data, const uint64_t *ends, size_t n,
                        const char *wanted);

/* Asserts that chunks of 1 … 64 bytes, from memory and from a file, give `wanted`. */
void test_check_chunks(const hac_query *query, const char *data, size_t bytes, const char *wanted);

/* Opens a file of $HAC_TEST_DATA; if there is none, returns NULL and says so. */
char *test_data(const char *name, size_t *ret_bytes);

#endif
