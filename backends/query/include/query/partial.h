/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A partial is the result of aggregating one chunk, or several consecutive chunks. It is stored in the
 * chunk's region of the buffer of partials.
 *
 * While the next chunk has mostly the same groups, a thread adds its rows to the partial that it is writing,
 * so that these groups are written and merged once for many chunks. Such a partial begins in the region of
 * its first chunk and may continue in the regions of its other chunks, which have no partials of their own.
 *
 * Format:
 *
 *     header
 *     windows      rows that are not aggregated, in input order; each window has up to HAC_PARTIAL_WINDOW
 *                  rows, sorted stably by partition
 *     groups       records (expr/group_layout.h), ordered by partition, in a partition in first-seen order
 *     starts       for each partition the index of its first group, and one more: uint32_t
 *     strings      what the records point to: characters, and distinct values with their counts
 *     sums         for exact sums (exact_sums.h): the unit of each accumulator; then, in the order of their
 *                  keys, the digits that records have no space for, with the index of the record
 *
 * A chunk's rows are aggregated at first. From some row on they may go into windows instead, and the merge
 * then aggregates them in row order. The rule (hac_partial_stops), for the rows that pass the filter and
 * belong to the current pass:
 *
 *     After each `probe` rows, except the first `probe`:
 *         fresh  = groups that began in the last `probe` rows
 *         groups = all groups of the partial so far
 *         all following rows go into windows if  groups + new_weight × fresh > max_groups
 *
 * The reason: more than `max_groups` groups do not fit into a core's cache, where aggregating early gains
 * nothing, and many fresh groups predict that there will be so many. The rule uses only counts of the data,
 * never hashes, memory or time, so every machine makes the same decision. With fixed rows
 * (hac_group_layout.fixed) and evenly distributed keys, all rows of a chunk are aggregated, or almost none
 * are. Rows of other layouts cost more in windows, mainly because strings are copied, so for them `probe` and
 * `max_groups` are larger.
 */
#ifndef QUERY_PARTIAL_H
#define QUERY_PARTIAL_H

#include "expr/group_layout.h"
#include "query/group_table.h"

#define HAC_PARTIAL_WINDOW 65536

typedef struct hac_partial_rule {
    uint32_t probe, new_weight, max_groups;
} hac_partial_rule;

static inline hac_partial_rule hac_partial_rule_of(const hac_group_layout *layout)
{
    if (layout->fixed != HAC_FIXED_NONE)
        return (hac_partial_rule){.probe = 4096, .new_weight = 12, .max_groups = 53248};
    return (hac_partial_rule){.probe = 16384, .new_weight = 2, .max_groups = 57344};
}

/* The rule above, after `rows` rows, a multiple of `probe`. True: the following rows go into windows. */
static inline bool hac_partial_stops(hac_partial_rule rule, uint64_t rows, uint64_t fresh, uint64_t groups)
{
    return rows > rule.probe && groups + fresh * rule.new_weight > rule.max_groups;
}

/* A carry (base/query_layout.h) is a partial without windows. Its chunk number is this bit plus the carry's
 * generation. */
#define HAC_PARTIAL_CARRY (UINT64_C(1) << 63)

#define HAC_PARTIAL_MAGIC UINT64_C(0x3154524150434148) /* "HACPART1" */

/* Offsets count from the header and are multiples of 8. */
typedef struct hac_partial_header {
    uint64_t magic;      /* written last: without it, the region has no partial */
    uint64_t bytes;      /* of the partial */
    uint64_t seed;       /* of the hash */
    uint64_t chunk;      /* number of its first chunk, among all chunks */
    uint64_t chunks;     /* number of its chunks */
    uint32_t partitions; /* the options' number or a multiple of it */
    uint32_t pass, passes;
    uint32_t stride;        /* bytes of a record */
    uint64_t groups;        /* records */
    uint64_t rows;          /* in windows */
    uint64_t n_windows;     /* the first one follows the header */
    uint64_t groups_offset; /* records */
    uint64_t starts_offset;
    uint64_t strings_offset, strings_bytes;
    /* with a single key: index of the record whose key is null; UINT64_MAX if there is none */
    uint64_t null_group;
    uint64_t rows_read;   /* rows that were aggregated or put into windows, for the job's report */
    uint64_t sums_offset; /* hac_exact_units of each accumulator; then digits (exact_sums.h) */
    uint64_t n_digits;
} hac_partial_header;

/*
 * A window: this header; the starts of the partitions (uint32_t, partitions + 1 of them); then for each
 * column of query->rows its values and, if its bit in `nullable` is set, one byte a row that is 1 for null. A
 * value has hac_value_size bytes, a bool one byte. A string has 16: the length in four bytes, then the
 * characters; if there are more than HAC_STRING_SHORT, the first four characters and in the last eight bytes
 * the offset of all characters in the window's strings. Each part begins at a multiple of 8 bytes of the
 * window; the characters come last.
 */
typedef struct hac_partial_window {
    uint64_t bytes; /* where the next window begins */
    uint32_t rows;
    uint32_t strings_bytes;
    uint64_t strings_offset; /* from the window's header */
    uint64_t nullable[4];    /* bit c%64 of word c/64 */
} hac_partial_window;

/* ---- writing: one thread ---- */

typedef struct hac_partial_writer hac_partial_writer;

/* options->memory limits the memory that the writer allocates. */
HAC_MUST_USE hac_status hac_partial_writer_new(const hac_query *query, const hac_group_options *options,
                                               hac_partial_writer **ret, hac_error *err);
void hac_partial_writer_free(hac_partial_writer *writer);

/* Begins chunk number `chunk`, in `capacity` bytes at `region`, which is 8-byte aligned. Bytes that do not
 * fit are counted and not written. A writer can write one chunk after another. */
void hac_partial_begin(hac_partial_writer *writer, uint64_t chunk, uint8_t *region, uint64_t capacity);

/*
 * Adds the next chunk to the partial: its rows come next, and its region of `bytes` lies after the others.
 * False: the chunk needs a partial of its own, because one table might get too many groups or values. Whether
 * rows are in one partial or in two does not change the result.
 */
bool hac_partial_extend(hac_partial_writer *writer, uint64_t bytes);

/* As hac_group_table_add. */
HAC_MUST_USE hac_status hac_partial_add(hac_partial_writer *writer, const hac_column *columns, size_t rows,
                                        hac_error *err);

/* As hac_group_table_count. */
HAC_MUST_USE hac_status hac_partial_count(hac_partial_writer *writer, uint64_t rows, hac_error *err);

/* As hac_group_table_correct. */
HAC_MUST_USE hac_status hac_partial_correct(hac_partial_writer *writer, uint64_t rows, const uint64_t *nulls,
                                            hac_error *err);

/*
 * As hac_partial_add, for columns without nulls as tables store them (base/table.h): `values` has the values
 * of each output of query->rows, for any number of rows. Only allowed if hac_partial_takes_plain is true; it
 * is faster, for a key of 4 or 8 bytes with counts and a sum. Another process may change the memory
 * meanwhile.
 */
bool hac_partial_takes_plain(const hac_partial_writer *writer);
HAC_MUST_USE hac_status hac_partial_add_plain(hac_partial_writer *writer, const uint8_t *const *values,
                                              size_t rows, hac_error *err);

/* Ends the partial. *ret_needed is the size that each region needs for it, as far as this partial shows. If
 * the regions are too small, *ret_needed is larger than their mean size, and no partial is written.
 * *ret_groups is the number of groups and of rows in windows. */
HAC_MUST_USE hac_status hac_partial_end(hac_partial_writer *writer, uint64_t *ret_needed,
                                        uint64_t *ret_groups, hac_error *err);

/* ---- reading ---- */

/* The number of chunks in the header, at most `max`; 1 if there is no partial. `partial` has `capacity`
 * bytes. */
uint64_t hac_partial_chunks(const uint8_t *partial, uint64_t capacity, uint64_t max);

/* Checks the header against the query's layout and options and copies it to *ret; the rest is checked while
 * it is read. HAC_INVALID: this is not the partial of that chunk. */
HAC_MUST_USE hac_status hac_partial_check(const hac_group_layout *layout, const hac_group_options *options,
                                          uint64_t chunk, const uint8_t *partial, uint64_t capacity,
                                          hac_partial_header *ret, hac_error *err);

/* Writes a record without rows. */
void hac_group_layout_empty(const hac_group_layout *layout, uint8_t *record);

#endif
