/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the planner and the codelets of a query agree on: tasks, their spans, their parameters and the values
 * that they report.
 *
 * The input is cut into *chunks*, which are numbered over all sources. Where a chunk begins depends only on
 * the data, never on the devices. A chunk of text owns the records that start in it. A parquet source is cut
 * by rows; query.footer reports how many rows each file has.
 *
 * Aggregating a chunk gives a *partial*: the groups of the chunk, ordered by hash partition, in the chunk's
 * own region of the buffer "partials". A merge task takes one partition of all partials and adds the partials
 * up in chunk order, so sums do not depend on which device aggregated which chunk.
 *
 *   codelet          range over   spans (R read, W written)               used for
 *   query.describe   -            0 result W, 1 table R                   finding a source's columns
 *   query.footer     -            0 table R                               parquet
 *   query.quotes     chunks       0 quotes W                              csv with quotes
 *   query.aggregate  chunks       0 partials W, 1 quotes R, 2 table R     aggregation on the host
 *   hash.aggregate   chunks       0 partials W, 1 quotes R, 2 table R     aggregation on a device
 *   query.merge      partitions   0 partials R, 1 groups W, 2 carry R     aggregation
 *   query.carry      partitions   0 partials R, 1 carry W, 2 carry R      aggregation of splits
 *   query.finish     -            0 groups R, 1 result W                  aggregation
 *   query.rows       chunks       0 rows W, 1 quotes R, 2 table R         queries without aggregation
 *   query.gather     -            0 rows R, 1 result W                    queries without aggregation
 *   query.order      parts        0 rows R, 1 parts W                     rows in an order, with query.join
 *   query.join       parts        0 parts R, 1 result W                   the same, instead of query.gather
 *   query.whole      -            0 result W, 1 table R                   small jobs: one task does all
 *
 * All tasks of a query have the same parameters (hac_query_params). Their inline data is the compiled query,
 * byte for byte as the client sent it (expr/query_blob.h). The inline data of query.describe is a packed
 * hac.client.DescribeInput instead. Inline data is at most HAC_QUERY_INLINE_MAX bytes.
 *
 * A task reads its source from its descriptor, or from the span "table" (columns of a table, or text in pool
 * memory). The source of query.whole and query.describe may also follow the query in the inline data.
 * query.describe reads the header line, the records that types are inferred from, or a footer. It
 * returns a result of at most 32 KiB inline if its result span has length 0, query.whole always.
 *
 * Spans are whole buffers; a span that a job does not need has length 0. A range over chunks counts the
 * chunks of the task's source from 0. Chunk i of the source has the number c = first_chunk + i among all
 * chunks. Its region of partials (or rows) begins at byte c × region. Its entry in "quotes", an array of
 * uint64_t, has the index c. A range over partitions counts from 0. The groups of partition p begin at byte
 * p × group_region.
 *
 * A job whose input comes in splits (base/split_layout.h) runs in *rounds*. The spans "table" of its tasks
 * are splits. For records of fixed width in a file there is no span: the tasks have the file's descriptor,
 * and read source_bytes bytes from file_offset on. Each data set (split_layout.h) is one chunk. Partials are
 * kept until there is no space for more. Then query.carry merges the partials with the carried state of
 * earlier rounds into a new carried state (spans "carry"). It holds the groups of partition p as a partial
 * (query/partial.h) that begins at byte p × group_region. The query.merge of the last round adds the carried
 * state before all partials; a partition's region in it has `carry` bytes. The result is therefore that of a
 * single merge, to the bit.
 *
 * If a query counts distinct values (expr/distinct_query.h), partials are those of its pairs, and the regions
 * of "groups" hold counts of pairs as partials. query.finish merges them.
 *
 * Rows in an order come in *parts* of part_rows rows each (of the result, in its order). query.rows appends a
 * sorted run to each chunk's rows. query.order finds the rows of a part in all runs by their ranks and writes
 * them as they will be in the result to the part's region, which begins at byte p × group_region of "parts";
 * query.join copies the parts to the result. `partitions` is the number of parts, part_rows × partitions at
 * least the number of rows; the last parts may be empty.
 *
 * If the groups are made in several passes over key ranges, the groups span of each merge is the part of one
 * buffer that belongs to its pass. query.finish gets the parts of all passes, and its number of partitions is
 * partitions × passes.
 */
#ifndef BASE_QUERY_LAYOUT_H
#define BASE_QUERY_LAYOUT_H

#include <stdint.h>

#include "base/task_params.h"

/* The parameters of all tasks of a query (base/task_params.h). */
typedef struct hac_query_params {
    uint64_t source_bytes; /* size of the task's source in bytes; in rows for a table or parquet */
    uint64_t chunk;        /* size of a chunk in bytes; in rows for a table or parquet */
    uint64_t first_chunk;  /* number of the source's first chunk among the chunks of all sources */
    uint64_t chunks;       /* number of chunks of all sources */
    uint64_t region;       /* bytes of one chunk's region in "partials" or "rows" */
    uint64_t partitions;   /* a power of two, 1 … 4096 */
    uint64_t group_region; /* bytes of one partition's region in "groups" */
    uint64_t seed;         /* seed of the hash function; random, one for each job */
    uint64_t pass, passes; /* key-range pass `pass` of `passes`; passes 0: one pass */
    uint64_t method;       /* hac_query_method bits */
    /* The next four are for hash.aggregate. */
    uint64_t sample;       /* share of a chunk's rows that phase 1 samples, per mille */
    uint64_t hot_share;    /* share of the sampled keys that become hot, per mille */
    uint64_t work_groups;  /* number of work-groups; 0: as tuned for the device */
    uint64_t work_items;   /* work-items of a work-group; 0: as tuned for the device */
    uint64_t inline_bytes; /* bytes of the query at the front of the inline data; 0: all inline data */
    uint64_t file_bytes;   /* parquet: size of the file in bytes */
    uint64_t data_sets;    /* number of data sets of the split that is the source */
    /* Number of carried states written so far, plus 1, to detect an old one; 0: input not in splits. */
    uint64_t generation;
    /* Bytes of a partition's region in the carried state that the task reads; 0: there is none. For
     * query.rows and query.gather: number of rows that earlier rounds gave, and left out for an offset. */
    uint64_t carry;
    uint64_t file_stamp;   /* parquet: HAC_FOOTER_STAMP of the file; 0: not known */
    uint64_t file_offset;  /* byte of the file at which the split begins */
    uint64_t bytes_before; /* bytes of the source before the split */
    uint64_t part_rows;    /* rows of a part of the result; 0: the result is not made in parts */
} hac_query_params;

_Static_assert(HAC_PARAMS_COUNT(hac_query_params) <= HAC_TASK_PARAMS_MAX,
               "a task has room for its parameters");

/* Defaults in per mille: the rows of a chunk that phase 1 samples, and the sample's keys that become hot. The
 * source of mapreduce calls the most frequent 5 to 10 % of the keys hot; the default lies between them. */
#define HAC_SAMPLE_DEFAULT    50
#define HAC_HOT_SHARE_DEFAULT 80

typedef enum hac_query_method {
    HAC_QUERY_HOT_KEYS = 1, /* phase 2 keeps the hot keys in local memory */
} hac_query_method;

/* The values that query.footer reports. */
typedef enum hac_footer_value {
    HAC_FOOTER_ROWS = 0,   /* rows of the file */
    HAC_FOOTER_GROUP_ROWS, /* rows of its largest row group */
    HAC_FOOTER_DECODED,    /* uncompressed bytes of the columns that the query reads */
    HAC_FOOTER_STAMP,      /* changes when the file is written to; 0: not known */
    HAC_FOOTER_ANSWERED,   /* bytes of _DECODED whose row groups' statistics hold all that the query wants */
    HAC_FOOTER_N_VALUES
} hac_footer_value;

/* Facts about a compiled query, which libhac sends with it (CompiledQuery.flags). */
typedef enum hac_compile_flag {
    HAC_COMPILED_AGGREGATES = 1,     /* the query aggregates; otherwise it gives rows */
    HAC_COMPILED_FITS_DEVICE = 4,    /* hash.aggregate can run its programs, keys and aggregates */
    HAC_COMPILED_NEEDS_QUOTES = 8,   /* csv: records may span lines, so query.quotes runs first */
    HAC_COMPILED_NEEDS_F64 = 16,     /* the device must have 64-bit floats */
    HAC_COMPILED_NEEDS_ATOMICS = 32, /* a device that shares tables (SIMT) must have 64-bit atomics */
    HAC_COMPILED_GIVES_TEXT = 64,    /* a column of the result is text */
    /* Why the query does not fit a device. If no such bit is set, it has strings, or decimals of more than 18
     * digits. */
    HAC_COMPILED_HOST_FUNCTION = 128,  /* a function whose bits differ from device to device */
    HAC_COMPILED_HOST_AGGREGATE = 256, /* an aggregate that only the host has */
    /* One task writes the result: it is a table, or Parquet whose row groups have a certain size in bytes. */
    HAC_COMPILED_ONE_RESULT = 512,
    HAC_COMPILED_FIRST_ROWS = 1024, /* query.rows keeps the first rows of each chunk only */
    HAC_COMPILED_STATISTICS = 2048  /* Parquet's statistics may hold the answer; does not fit a device */
} hac_compile_flag;

/* What a task read from parquet; all 0 for other sources. Times are sums over all threads. */
typedef enum hac_read_value {
    HAC_READ_PASSED_OVER = 0,      /* rows that the filter left out before all their columns were decoded */
    HAC_READ_GROUPS_BY_STATISTICS, /* row groups that statistics ruled out */
    HAC_READ_GROUPS_BY_BLOOM,      /* row groups that a Bloom filter ruled out */
    HAC_READ_GROUPS_BY_PAGES,      /* row groups that the page index ruled out */
    HAC_READ_GROUPS_ANSWERED,      /* row groups whose statistics hold all that the query wants of them */
    HAC_READ_ROWS_PRUNED,          /* rows that were not read because of any of these */
    HAC_READ_BYTES_PRUNED,         /* stored bytes of these rows */
    HAC_READ_PAGES,                /* pages read */
    HAC_READ_PAGES_SKIPPED,        /* pages that were not decompressed */
    HAC_READ_BYTES,                /* bytes read, as stored */
    HAC_READ_BYTES_DECOMPRESSED,
    HAC_READ_BYTES_DECODED,
    HAC_READ_NS, /* nanoseconds of reading */
    HAC_READ_DECOMPRESS_NS,
    HAC_READ_DECODE_NS,
    HAC_READ_N_VALUES
} hac_read_value;

/*
 * What a task did in splice's four buffers and in the stages between them (docs/flows/splice.md). On a CPU
 * the map runs in C, and maps each batch where the preprocessor left it. Nothing is spliced then: a block is
 * a batch, and the WorkingBuffer is one batch for each thread.
 */
typedef enum hac_splice_value {
    /* DirectBuffer. Tables and parquet count rows in place of bytes. */
    HAC_SPLICE_SETS = 0,    /* data sets */
    HAC_SPLICE_SET_RECORDS, /* records in data sets, including records with errors */
    HAC_SPLICE_SET_BYTES,   /* bytes of all data sets */
    HAC_SPLICE_SET_LARGEST, /* bytes of the largest data set */
    /* LaunchingBuffer */
    HAC_SPLICE_BLOCKS,        /* data blocks */
    HAC_SPLICE_BLOCK_BYTES,   /* bytes of all data blocks */
    HAC_SPLICE_BLOCK_LARGEST, /* bytes of the largest data block */
    HAC_SPLICE_BLOCKS_MAX,    /* largest number of blocks at a time, in the ring or in the threads' batches */
    HAC_SPLICE_THREADS,       /* threads that read and preprocess in parallel */
    /* WorkingBuffer */
    HAC_SPLICE_CAPACITY,        /* bytes of one WorkingBuffer */
    HAC_SPLICE_ELEMENTS,        /* capacity of its look-up index, in blocks */
    HAC_SPLICE_FILL,            /* largest number of bytes in use, including the look-up index */
    HAC_SPLICE_SPLICED,         /* blocks spliced */
    HAC_SPLICE_SPLICED_RECORDS, /* records of these blocks: elements of look-up indices */
    HAC_SPLICE_PAUSES,          /* blocks that waited until the device was triggered */
    HAC_SPLICE_TRIGGERS,        /* times that the device was triggered, including the end of a task */
    /* ResultBuffer */
    HAC_SPLICE_RESULT_BYTES,   /* bytes of partials or rows */
    HAC_SPLICE_RESULT_LARGEST, /* the largest number of these bytes that one data set gave */

    HAC_SPLICE_STAGES /* HAC_SPLICE_STAGE_VALUES values for each hac_splice_stage follow */
} hac_splice_value;

typedef enum hac_splice_stage {
    HAC_STAGE_READ = 0,   /* reads bytes of the source into the preprocessor's windows */
    HAC_STAGE_PREPROCESS, /* finds, parses and converts records: the preset parse function */
    HAC_STAGE_SPLICE,     /* copies blocks into the WorkingBuffer */
    HAC_STAGE_MAP,        /* evaluates the expressions and aggregates each data set */
    HAC_SPLICE_N_STAGES
} hac_splice_stage;

/* Each stage has three values, in nanoseconds: the time at work, summed over all threads; the time from the
 * task's start to the stage's first work; the time from the task's start to the end of its last work. */
#define HAC_SPLICE_STAGE_VALUES 3
#define HAC_SPLICE_N_VALUES     (HAC_SPLICE_STAGES + HAC_SPLICE_STAGE_VALUES * HAC_SPLICE_N_STAGES)

/* Whether the job's value is the maximum of its tasks' values, not the sum. `value` is below
 * HAC_SPLICE_STAGES. */
static inline int hac_splice_value_is_max(unsigned value)
{
    return value == HAC_SPLICE_SET_LARGEST || value == HAC_SPLICE_BLOCK_LARGEST ||
           value == HAC_SPLICE_BLOCKS_MAX || value == HAC_SPLICE_THREADS || value == HAC_SPLICE_CAPACITY ||
           value == HAC_SPLICE_ELEMENTS || value == HAC_SPLICE_FILL || value == HAC_SPLICE_RESULT_LARGEST;
}

/*
 * The values that query.aggregate, hash.aggregate and query.rows report. The job's value is the sum over its
 * pieces, except where a comment says otherwise.
 */
typedef enum hac_aggregate_value {
    HAC_AGGREGATE_VALUE_ROWS = 0, /* rows read */
    HAC_AGGREGATE_VALUE_KEPT,     /* rows that the filter kept */
    HAC_AGGREGATE_VALUE_SKIPPED,  /* records that were left out because of errors */
    HAC_AGGREGATE_VALUE_GROUPS,   /* groups in the partials; query.rows: rows written */
    /* The largest region that a chunk needed, in bytes. If it is larger than `region`, the chunk's partial is
     * missing, and the planner makes another plan with larger regions. */
    HAC_AGGREGATE_VALUE_NEEDED,
    HAC_AGGREGATE_VALUE_READ,                                                  /* hac_read_value */
    HAC_AGGREGATE_VALUE_SPLICE = HAC_AGGREGATE_VALUE_READ + HAC_READ_N_VALUES, /* hac_splice_value */

    /* The rest is reported by hash.aggregate. Phase 1 samples rows to choose the hot keys; phase 2 aggregates
     * the other rows. */
    HAC_AGGREGATE_VALUE_HOT_HITS =
        HAC_AGGREGATE_VALUE_SPLICE + HAC_SPLICE_N_VALUES, /* rows of phase 2 that have a hot key */
    HAC_AGGREGATE_VALUE_HOT_KEYS,                         /* keys in the largest hot set */
    HAC_AGGREGATE_VALUE_SAMPLED,                          /* rows of phase 1 */
    HAC_AGGREGATE_VALUE_COVERED,                          /* rows of phase 1 whose key became hot */
    HAC_AGGREGATE_VALUE_CHOSEN,       /* times that a hot set was chosen, at least once for each chunk */
    HAC_AGGREGATE_VALUE_BEHIND,       /* rows of phase 2 */
    HAC_AGGREGATE_VALUE_LOCAL_HITS,   /* rows of phase 2 that were reduced in local memory, hot or not */
    HAC_AGGREGATE_VALUE_PAIRS_LOCAL,  /* (key, value) pairs that stayed in local memory */
    HAC_AGGREGATE_VALUE_PAIRS_GLOBAL, /* (key, value) pairs that went to global memory */
    HAC_AGGREGATE_VALUE_GROWN,        /* times that a table was made larger */
    HAC_AGGREGATE_VALUE_KEY_RANGES,   /* passes over a chunk beyond the first, one for each key range */
    HAC_AGGREGATE_VALUE_WORK_GROUPS,  /* number of work-groups; 0: no phase 2 */
    HAC_AGGREGATE_VALUE_HIT_RATE_MIN, /* lowest hit rate of a work-group, per million */
    HAC_AGGREGATE_VALUE_HIT_RATE_MAX, /* highest hit rate of a work-group, per million */
    /* HAC_HOT_BARS counts of rows of phase 2 by work-group (hac_hot_bar), then as many counts of the hits
     * among these rows. */
    HAC_AGGREGATE_VALUE_BARS
} hac_aggregate_value;

#define HAC_HOT_BARS           16
#define HAC_AGGREGATE_N_VALUES (HAC_AGGREGATE_VALUE_BARS + 2 * HAC_HOT_BARS)

/* The bar that counts work-group `group` of `n`. With more than HAC_HOT_BARS work-groups, neighbours share a
 * bar. */
static inline uint64_t hac_hot_bar(uint64_t group, uint64_t n)
{
    return n <= HAC_HOT_BARS ? group : group * HAC_HOT_BARS / n;
}

/* A result of format HAC_RESULT_TABLE: this header, n_columns times hac_result_column, then the parts of the
 * columns (base/table.h), each at a multiple of 64 bytes. Offsets count from the header. The validity offset
 * is HAC_TABLE_NONE if no value of the column is null. */
#define HAC_RESULT_TABLE_MAGIC UINT64_C(0x314c424154434148) /* "HACTABL1" */

typedef struct hac_result_table {
    uint64_t magic;
    uint64_t rows;
    uint64_t n_columns;
    uint64_t bytes; /* size of the result, header included */
} hac_result_table;

typedef struct hac_result_column {
    char name[128]; /* ends with a zero */
    uint8_t kind, precision, scale, large;
    uint32_t unused; /* 0 */
    uint64_t validity, values, bytes, n_bytes;
} hac_result_column;

/* A column of a source, as query.describe returns it. kind 0: the column has a type that cannot be read. For
 * a Parquet file, 8 bytes follow the columns: the number of bytes at the front of the footer that hold the
 * schema. A file whose footer begins with the same bytes has the same columns. */
typedef struct hac_described_column {
    char name[128]; /* ends with a zero; a longer name is truncated */
    uint8_t kind, precision, scale;
    uint8_t flags; /* HAC_DESCRIBED_… */
} hac_described_column;

enum {
    HAC_DESCRIBED_MADE_NAME = 1,  /* the name is not from the source (expr/column_names.h) */
    HAC_DESCRIBED_ONLY_NULLS = 2, /* all values are null, whatever type the column is read as */
    HAC_DESCRIBED_MIXED = 4,      /* of JSON: hac_field.mixed */
    HAC_DESCRIBED_NESTED = 8,     /* the column has lists or maps (expr/described_nested.h) */
    HAC_DESCRIBED_FORMS = 16,     /* times a HAC_FORM_… */
};

/* What a column has to do with the options decimal, thousands and dates. */
enum {
    HAC_FORM_FOUND = 1,         /* its values are read with an option that is not the default */
    HAC_FORM_DECIMAL_COMMA = 2, /* they are text, and could be numbers with decimal commas */
    HAC_FORM_THOUSANDS = 4,     /* … numbers with separators of thousands */
    HAC_FORM_DATES = 8,         /* … dates of one or both orders */
    HAC_FORM_ALL = 15
};

/* What query.describe is asked to find in csv and tsv (query/detect.h), and how numbers and dates of formats
 * of text are written (query/infer.h). */
enum { HAC_DETECT_DELIMITER = 1, HAC_DETECT_HEADER = 2, HAC_DETECT_FORMS = 4 };

/* The separators in the values of a column: of thousands, and of dates with the year at the end. */
enum {
    HAC_SEPARATOR_COMMA = 1,
    HAC_SEPARATOR_POINT = 2,
    HAC_SEPARATOR_SPACE = 4,
    HAC_SEPARATOR_APOSTROPHE = 8,
    HAC_SEPARATOR_DATE_POINT = 16,
    HAC_SEPARATOR_DATE_SLASH = 32,
    HAC_SEPARATOR_DATE_DASH = 64,
    HAC_SEPARATORS_OF_DATES = 112
};

/* With HAC_DETECT_FORMS: at this bit begin the HAC_SEPARATOR_DATE_… of dates that have the order of the
 * option `dates`; dates with other separators have no order. 0: all have it. */
#define HAC_DETECT_SEPARATORS 8
#define HAC_DETECT_MAX                                                                                       \
    (HAC_DETECT_DELIMITER | HAC_DETECT_HEADER | HAC_DETECT_FORMS |                                           \
     HAC_SEPARATORS_OF_DATES << HAC_DETECT_SEPARATORS)

/* query.describe of formats with a header or with inferred types: its answer ends with a uint64_t of what was
 * found: the delimiter, 0 if it is the format's, HAC_DETECTED_NO_HEADER, and the values of the options
 * decimal, thousands and dates in a byte each. */
#define HAC_DETECTED_NO_HEADER (UINT64_C(1) << 8)
#define HAC_DETECTED_DECIMAL   16 /* bit at which the value begins */
#define HAC_DETECTED_THOUSANDS 24
#define HAC_DETECTED_DATES     32

/*
 * query.merge reports three values: the number of groups; the largest group region that was needed, in bytes
 * (if it is larger than `group_region`, the merge has to be repeated with larger regions); the expected bytes
 * of output text.
 *
 * query.order reports three values: the number of rows; the largest region that a part needed, in bytes (if
 * it is larger than `group_region`, the parts have to be made again with larger regions); the bytes of its
 * parts in the result, at most. Every piece of query.join reports two values: the rows of the result, and its
 * bytes or, from pieces that do not know them, 0. If the result does not fit its span, nothing was written.
 *
 * query.finish, query.gather and query.whole report two values: the rows and the bytes of the result. If the
 * result does not fit its span, value 1 is the size that is needed, and nothing else was written. query.whole
 * reports these values as well:
 */
typedef enum hac_whole_value {
    HAC_WHOLE_VALUE_READ = 2, /* rows, as HAC_AGGREGATE_VALUE_ROWS, _KEPT and _SKIPPED */
    HAC_WHOLE_VALUE_KEPT,
    HAC_WHOLE_VALUE_SKIPPED,
    HAC_WHOLE_VALUE_READING, /* hac_read_value */
    HAC_WHOLE_N_VALUES = HAC_WHOLE_VALUE_READING + HAC_READ_N_VALUES
} hac_whole_value;

#endif
