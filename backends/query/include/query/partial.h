/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Partials: what aggregating one chunk gives, as bytes in the chunk's region.
 *
 *     header
 *     windows      rows as they came, up to HAC_PARTIAL_WINDOW each, stably by partition within each
 *     groups       records (layout.h) by partition, in first-seen order within it
 *     starts       uint32_t a partition, and one more: where its groups begin
 *     strings      what the records point to: characters; distinct values with their counts
 *
 * A chunk's first rows are aggregated. When many of its rows begin new groups, a table is wasted on them:
 * from then on rows go into windows as they are, and the merge adds them up, in row order. What decides is a
 * count of the data alone, never hashes, memory or time, because it decides in which order floats are added:
 *
 *     rows that count (behind the filter and the pass) are looked at in runs of `probe`. After each but the
 *     first, all rows that follow go into windows when the chunk has more than `most_groups` groups, each
 *     that the run began counted `new_weight` times more
 *
 * So many groups no longer lie in a near cache, and many new ones say that there will be as many: of plain
 * rows (hac_group_layout.plain) with evenly distributed keys a chunk's are all aggregated, or nearly none.
 * Rows of other layouts cost more in windows, above all strings, which are copied: they get longer runs and
 * more groups.
 *
 * So the value of a float sum is: over chunks in order, + (the sum of the aggregated rows, from 0.0, in row
 * order), then + each row of the windows in row order. Whoever writes partials keeps to that.
 */
#ifndef QUERY_PARTIAL_H
#define QUERY_PARTIAL_H

#include "query/group_table.h"
#include "query/layout.h"

#define HAC_PARTIAL_WINDOW 65536

typedef struct hac_partial_rule {
    uint32_t probe, new_weight, most_groups;
} hac_partial_rule;

static inline hac_partial_rule hac_partial_rule_of(const hac_group_layout *layout)
{
    if (layout->plain != HAC_PLAIN_NONE)
        return (hac_partial_rule){.probe = 4096, .new_weight = 12, .most_groups = 40960};
    return (hac_partial_rule){.probe = 16384, .new_weight = 2, .most_groups = 57344};
}

/* The rule, after `rows` rows, a whole number of runs; `fresh`: new groups in the last one, of `groups`. */
static inline bool hac_partial_stops(hac_partial_rule rule, uint64_t rows, uint64_t fresh, uint64_t groups)
{
    return rows > rule.probe && groups + fresh * rule.new_weight > rule.most_groups;
}

/* A carry (base/query_layout.h) is a partial with groups alone; its number is this and its generation. */
#define HAC_PARTIAL_CARRY (UINT64_C(1) << 63)

#define HAC_PARTIAL_MAGIC UINT64_C(0x3154524150434148) /* "HACPART1" */

/* All offsets count from the header and are multiples of 8. */
typedef struct hac_partial_header {
    uint64_t magic;      /* written last: a region without it holds nothing */
    uint64_t bytes;      /* of the partial */
    uint64_t seed;       /* of the hash */
    uint64_t chunk;      /* number among all */
    uint32_t partitions; /* as the options say, or so many times more; and pass */
    uint32_t pass, passes;
    uint32_t stride;        /* bytes of a record */
    uint64_t groups;        /* records */
    uint64_t rows;          /* in windows */
    uint64_t n_windows;     /* the first lies behind the header */
    uint64_t groups_offset; /* records */
    uint64_t starts_offset;
    uint64_t strings_offset, strings_bytes;
    uint64_t null_group; /* with a single key: number of the record whose key is null, UINT64_MAX: none */
    uint64_t rows_read;  /* that were taken in, for the receipt */
    uint64_t unused[1];
} hac_partial_header;

/*
 * A window: this header, starts of the partitions (uint32_t, partitions + 1 of them), then each column of
 * query->rows: values of hac_value_size bytes (bool: one byte; strings: 16, the length in four, then the
 * characters; of one of more than HAC_STRING_SHORT four of them, and in the last eight where all are among
 * the window's characters), then, when its bit in `nullable` is set, a byte a row that is 1 where it is null.
 * Each part begins at a multiple of 8 bytes of the window; the characters come last.
 */
typedef struct hac_partial_window {
    uint64_t bytes; /* of the window: where the next one begins */
    uint32_t rows;
    uint32_t strings_bytes;
    uint64_t strings_offset; /* from the window's header */
    uint64_t nullable[4];    /* bit c%64 of word c/64 */
} hac_partial_window;

/* ---- writing: one chunk, one thread ---- */

typedef struct hac_partial_writer hac_partial_writer;

/* `room` bytes at `region` (8-byte aligned) are the chunk's. What does not fit is counted and not written.
 * options->memory bounds what the writer takes besides. */
HAC_MUST_USE hac_status hac_partial_writer_new(const hac_query *query, const hac_group_options *options,
                                               hac_partial_writer **ret, hac_error *err);
void hac_partial_writer_free(hac_partial_writer *writer);

/* Begins chunk number `chunk`; the writer may have written others before. */
void hac_partial_begin(hac_partial_writer *writer, uint64_t chunk, uint8_t *region, uint64_t room);

/* As hac_group_table_add. */
HAC_MUST_USE hac_status hac_partial_add(hac_partial_writer *writer, const hac_vector *columns, size_t rows,
                                        hac_error *err);

/* The same for columns without nulls that lie in memory as tables have them (base/table.h): `values` of the
 * outputs of query->rows, `rows` of them, any number. Only where hac_partial_takes_plain says so: it is the
 * faster way for a key of 4 or 8 bytes with counts and a sum. The memory may change meanwhile. */
bool hac_partial_takes_plain(const hac_partial_writer *writer);
HAC_MUST_USE hac_status hac_partial_add_plain(hac_partial_writer *writer, const uint8_t *const *values,
                                              size_t rows, hac_error *err);

/* Ends the chunk. *ret_needed is the size of the partial: above the room it was not written, and what lies in
 * the region is no partial. *ret_groups: groups, and rows that went into windows. */
HAC_MUST_USE hac_status hac_partial_end(hac_partial_writer *writer, uint64_t *ret_needed,
                                        uint64_t *ret_groups, hac_error *err);

/* ---- reading ---- */

/* Checks the header (a copy is in *ret) against the query's layout and options; the rest is checked as it is
 * read. HAC_INVALID: it is not the partial of that chunk. */
HAC_MUST_USE hac_status hac_partial_check(const hac_group_layout *layout, const hac_group_options *options,
                                          uint64_t chunk, const uint8_t *partial, uint64_t room,
                                          hac_partial_header *ret, hac_error *err);

#endif
