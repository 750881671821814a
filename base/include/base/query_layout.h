/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the planner and the codelets of a query agree on: tasks, their spans, parameters and values.
 *
 * The input is cut into *chunks*, numbered over all sources; where they are cut depends on the data only,
 * never on devices. A chunk of text owns the records that start in it. Aggregating a chunk gives a *partial*:
 * its groups, ordered by hash partition, in the chunk's own region of the buffer "partials". Merging a
 * partition adds up that partition of all partials in chunk order, so sums do not depend on who made what.
 * Every task has as its inline data what query.compile gave back, byte for byte: the compiled query and, of a
 * table source, the table's description. A parquet source is cut by rows; how many it has query.compile says
 * of the first file, query.footer of each other one. The inline data of query.compile is the packed
 * hac.client.QuerySpec; that of query.whole may be, too: it then compiles first.
 *
 *   codelet          range over      spans (R read, W written)          params
 *   query.compile    -               0 table R                           0 source bytes, 1 inline
 *   query.footer     -               0 table R                           common   (parquet, several files)
 *   query.quotes     chunks          0 quotes W                          common
 *   query.aggregate  chunks          0 partials W, 1 quotes R, 2 table R common
 *   hash.aggregate   chunks          the same, on the device (flow C)    common
 *   query.merge      partitions      0 partials R, 1 groups W, 2 carry R common
 *   query.carry      partitions      0 partials R, 1 carry W, 2 carry R  common   (splits)
 *   query.finish     -               0 groups R, 1 result W              common
 *   query.rows       chunks          0 rows W, 1 quotes R, 2 table R     common   (no aggregation)
 *   query.gather     -               0 rows R, 1 result W                common
 *   query.whole      -               0 result W, 1 table R               common   (small jobs: all in one)
 *
 * A span that a job has no use for has length 0. A task reads its source from its descriptor, or from the
 * span "table" (HAC_FORMAT_TABLE, or the text itself, already in pool memory), or, query.compile and
 * query.whole only, from behind the spec or the compiled query in its inline data. query.compile reads no
 * more of it than a header line, or what a schema is inferred from. Inline data is at most
 * HAC_QUERY_INLINE_MAX bytes.
 *
 * Spans are whole buffers. A range over chunks counts those of its source from 0: chunk i of the source has
 * the number c = FIRST_CHUNK + i among all. Its region of partials (or rows) begins at c × REGION; the quotes
 * in it are element c of the array of uint64_t "quotes". A range over partitions counts from 0; partition p's
 * region of groups begins at p × GROUP_REGION.
 *
 * query.whole with a result span of length 0 gives the result inline, when it is at most 32 KiB.
 *
 * A job whose input comes in splits (base/split_layout.h) runs in *rounds*: its spans "table" are splits, or
 * its tasks' descriptors have them (records of fixed width: no span, bytes SOURCE_BYTES from FILE_OFFSET on).
 * A chunk is a data set, and their partials are kept until there is no room for more. query.carry then merges
 * them with what earlier ones left, the carry, to a new carry: the groups of partition p as a partial
 * (query/partial.h) at p × GROUP_REGION, in place of rows. The last round's query.merge adds the carry (its
 * regions are of CARRY bytes) before all partials, so that the result is that of a single merge, to the bit.
 *
 * With several passes each merge's span of groups is its pass's part of one buffer; query.finish gets all of
 * them, and partitions × passes as its number of partitions.
 */
#ifndef BASE_QUERY_LAYOUT_H
#define BASE_QUERY_LAYOUT_H

#include <stdint.h>

#define HAC_QUERY_INLINE_MAX 49152 /* a compiled query (32 KiB), and a source of 16 KiB behind it */

/* Parameters, the same list for all tasks of a query. */
typedef enum hac_query_param {
    HAC_QUERY_PARAM_SOURCE_BYTES = 0, /* of this task's source (file, or text in memory); rows for a table */
    HAC_QUERY_PARAM_CHUNK,            /* bytes of a chunk; rows for a table */
    HAC_QUERY_PARAM_FIRST_CHUNK,      /* number of the source's first chunk among all */
    HAC_QUERY_PARAM_CHUNKS,           /* of all sources */
    HAC_QUERY_PARAM_REGION,           /* bytes of one chunk's region of partials, or of rows */
    HAC_QUERY_PARAM_PARTITIONS,       /* a power of two, 1 … 4096 */
    HAC_QUERY_PARAM_GROUP_REGION,     /* bytes of one partition's region of groups */
    HAC_QUERY_PARAM_SEED,             /* of the hash: random, one a job */
    HAC_QUERY_PARAM_PASS,   /* key-range pass: low 32 bits which, high 32 bits of how many (0: one) */
    HAC_QUERY_PARAM_METHOD, /* hac_query_method bits, from bit 16 on sample per mille, from 32 on hot-key
                             * share per mille */
    HAC_QUERY_PARAM_SHAPE,  /* flow C: low 32 bits work-groups, high 32 bits work-items; 0: the device's */
    HAC_QUERY_PARAM_INLINE, /* bytes of the compiled query at the front of the inline data; 0: all of it */
    HAC_QUERY_PARAM_FILE_BYTES, /* parquet, whose source bytes are rows: bytes of the file */
    HAC_QUERY_PARAM_SPLIT, /* low 32 bits: data sets of the split that the source is; high 32 bits: carries
                            * that were written before, and 1. 0: the input does not come in splits */
    HAC_QUERY_PARAM_CARRY, /* bytes of a partition's region of the carry that is read, 0: there is none; of
                            * rows: how many of them earlier rounds gave */
    HAC_QUERY_PARAM_FILE_STAMP,   /* parquet: HAC_COMPILE_STAMP of the file; 0: not known */
    HAC_QUERY_PARAM_FILE_OFFSET,  /* of a split in a file: the byte where it begins … */
    HAC_QUERY_PARAM_BYTES_BEFORE, /* … and bytes of its source before it */
    HAC_QUERY_N_PARAMS
} hac_query_param;

typedef enum hac_query_method {
    HAC_QUERY_HOT_KEYS = 1,      /* phase 2 keeps the hot keys in local memory */
    HAC_QUERY_SHARED_TABLES = 2, /* float sums may be added up in any order (determinism: fast) */
} hac_query_method;

/* Values of query.compile, and of query.footer: those from HAC_COMPILE_ROWS on. */
typedef enum hac_compile_value {
    HAC_COMPILE_FLAGS = 0, /* hac_compile_flag bits */
    HAC_COMPILE_KEYS,
    HAC_COMPILE_AGGREGATES,
    HAC_COMPILE_GROUP_BYTES,  /* bytes of a group in a partial, strings counted with 16 */
    HAC_COMPILE_OUTPUT_BYTES, /* a guess at the bytes of an output row */
    HAC_COMPILE_ROWS,         /* parquet: of this source, … */
    HAC_COMPILE_GROUP_ROWS,   /* … of its largest row group, … */
    HAC_COMPILE_DECODED,      /* … bytes of the columns that the query reads, uncompressed; … */
    HAC_COMPILE_STAMP,        /* … what is another number when the file was written to; 0: not known */
    HAC_COMPILE_OUTPUT_MOST,  /* bytes of an output row at most, without those of its texts */
    HAC_COMPILE_N_VALUES
} hac_compile_value;

typedef enum hac_compile_flag {
    HAC_COMPILED_AGGREGATES = 1,    /* else rows */
    HAC_COMPILED_ORDER_MATTERS = 2, /* hac_query_order_matters */
    HAC_COMPILED_FITS_DEVICE = 4,   /* hash.aggregate can run it: programs, keys and aggregates */
    HAC_COMPILED_NEEDS_QUOTES = 8,  /* csv: records may span lines, query.quotes comes first */
    HAC_COMPILED_NEEDS_F64 = 16,
    HAC_COMPILED_NEEDS_ATOMICS = 32, /* of 64 bits, where tables are shared (simt) */
    HAC_COMPILED_GIVES_TEXT = 64,    /* a column of the result is text */
    /* why it does not fit a device; neither: for its texts, or decimals of more than 18 digits */
    HAC_COMPILED_HOST_FUNCTION = 128, /* one whose bits differ from device to device */
    HAC_COMPILED_HOST_AGGREGATE = 256,
} hac_compile_flag;

/* What reading parquet took; 0 of other sources. Nanoseconds are of all threads together. */
typedef enum hac_read_value {
    HAC_READ_PASSED_OVER = 0,      /* rows that were read and left out before they were decoded whole */
    HAC_READ_GROUPS_BY_STATISTICS, /* row groups that were not read: by statistics, … */
    HAC_READ_GROUPS_BY_BLOOM,      /* … bloom filters, … */
    HAC_READ_GROUPS_BY_PAGES,      /* … the page index */
    HAC_READ_ROWS_PRUNED,          /* by any of these */
    HAC_READ_BYTES_PRUNED,
    HAC_READ_PAGES,
    HAC_READ_PAGES_SKIPPED, /* not decompressed */
    HAC_READ_BYTES,         /* as stored */
    HAC_READ_BYTES_DECOMPRESSED,
    HAC_READ_BYTES_DECODED,
    HAC_READ_NS,
    HAC_READ_DECOMPRESS_NS,
    HAC_READ_DECODE_NS,
    HAC_READ_N_VALUES
} hac_read_value;

/*
 * Flow B's four buffers and the stages between them, of one task (docs/flows/splice.md). Where the map runs
 * in C, on a CPU, batches are mapped where the preprocessor left them: the WorkingBuffer is a batch a thread,
 * there is no splicing, and a block is a batch.
 */
typedef enum hac_splice_value {
    HAC_SPLICE_SETS = 0,    /* DirectBuffer: data sets, */
    HAC_SPLICE_SET_RECORDS, /* records in them, those with errors, too, */
    HAC_SPLICE_SET_BYTES,   /* bytes (of tables and parquet: rows), */
    HAC_SPLICE_SET_LARGEST, /* of the largest */
    HAC_SPLICE_BLOCKS,      /* LaunchingBuffer: data blocks, */
    HAC_SPLICE_BLOCK_BYTES,
    HAC_SPLICE_BLOCK_LARGEST,
    HAC_SPLICE_BLOCKS_MOST,     /* at a time: in the ring, or threads' batches */
    HAC_SPLICE_THREADS,         /* that read and preprocess side by side */
    HAC_SPLICE_CAPACITY,        /* WorkingBuffer: bytes that one may have, */
    HAC_SPLICE_ELEMENTS,        /* blocks that its look-up index has room for, */
    HAC_SPLICE_FILL,            /* the most that one had, its look-up index included, */
    HAC_SPLICE_SPLICED,         /* blocks, */
    HAC_SPLICE_SPLICED_RECORDS, /* elements of look-up indices, */
    HAC_SPLICE_PAUSES,          /* blocks that had to wait for the device to be triggered, */
    HAC_SPLICE_TRIGGERS,        /* and how often it was, ends of tasks included */
    HAC_SPLICE_RESULT_BYTES,    /* ResultBuffer: partials or rows, */
    HAC_SPLICE_RESULT_LARGEST,  /* of one data set */
    HAC_SPLICE_STAGES,          /* HAC_SPLICE_STAGE_VALUES for each hac_splice_stage */
} hac_splice_value;

typedef enum hac_splice_stage {
    HAC_STAGE_READ = 0,   /* bytes of the source into the preprocessor's windows */
    HAC_STAGE_PREPROCESS, /* records found, parsed, converted: the preset parse function */
    HAC_STAGE_SPLICE,     /* blocks copied into the WorkingBuffer */
    HAC_STAGE_MAP,        /* expressions and the aggregation of each data set */
    HAC_SPLICE_N_STAGES
} hac_splice_stage;

/* Of each stage: nanoseconds at work, of all threads together; nanoseconds from the task's beginning to its
 * first work, and to the end of its last. */
#define HAC_SPLICE_STAGE_VALUES 3
#define HAC_SPLICE_N_VALUES     (HAC_SPLICE_STAGES + HAC_SPLICE_STAGE_VALUES * HAC_SPLICE_N_STAGES)

/* Whether of several tasks' values the greatest counts, and not the sum; not for what HAC_SPLICE_STAGES has.
 */
static inline int hac_splice_greatest(unsigned value)
{
    return value == HAC_SPLICE_SET_LARGEST || value == HAC_SPLICE_BLOCK_LARGEST ||
           value == HAC_SPLICE_BLOCKS_MOST || value == HAC_SPLICE_THREADS || value == HAC_SPLICE_CAPACITY ||
           value == HAC_SPLICE_ELEMENTS || value == HAC_SPLICE_FILL || value == HAC_SPLICE_RESULT_LARGEST;
}

/* Values of query.aggregate, hash.aggregate and query.rows; the sums over pieces are the job's. */
typedef enum hac_aggregate_value {
    HAC_AGGREGATE_VALUE_ROWS = 0, /* read */
    HAC_AGGREGATE_VALUE_KEPT,     /* by the filter */
    HAC_AGGREGATE_VALUE_SKIPPED,  /* records with errors */
    HAC_AGGREGATE_VALUE_GROUPS,   /* in the partials; rows of query.rows */
    HAC_AGGREGATE_VALUE_NEEDED,   /* the largest region any chunk would have needed; above the region's size:
                                   * the   partial is not there, and the plan is made again with larger regions
                                   */
    HAC_AGGREGATE_VALUE_READ,     /* hac_read_value */
    HAC_AGGREGATE_VALUE_SPLICE = HAC_AGGREGATE_VALUE_READ + HAC_READ_N_VALUES, /* hac_splice_value */
    /* of hash.aggregate: */
    HAC_AGGREGATE_VALUE_HOT_HITS =
        HAC_AGGREGATE_VALUE_SPLICE + HAC_SPLICE_N_VALUES, /* rows of phase 2 whose keys were chosen as hot */
    HAC_AGGREGATE_VALUE_HOT_KEYS,                         /* in the largest hot set */
    HAC_AGGREGATE_VALUE_SAMPLED,                          /* rows of phase 1 */
    HAC_AGGREGATE_VALUE_COVERED,                          /* those of them whose keys became hot */
    HAC_AGGREGATE_VALUE_CHOSEN,       /* how often a hot set was chosen: once a chunk at least */
    HAC_AGGREGATE_VALUE_BEHIND,       /* rows of phase 2 */
    HAC_AGGREGATE_VALUE_LOCAL_HITS,   /* those of them that were reduced in local memory, hot or not */
    HAC_AGGREGATE_VALUE_PAIRS_LOCAL,  /* of all work-groups and chunks: pairs in local memory … */
    HAC_AGGREGATE_VALUE_PAIRS_GLOBAL, /* … and those that went to global memory */
    HAC_AGGREGATE_VALUE_GROWN,        /* how often tables were made larger */
    HAC_AGGREGATE_VALUE_KEY_RANGES,   /* key ranges beyond the first that a chunk was done in */
    HAC_AGGREGATE_VALUE_WORK_GROUPS,  /* their number; 0: none was there in phase 2 */
    HAC_AGGREGATE_VALUE_LEAST,        /* hit rate of any of them, per million */
    HAC_AGGREGATE_VALUE_GREATEST,
    HAC_AGGREGATE_VALUE_BARS, /* rows of phase 2 by work-group (hac_hot_bar), then the hits among them */
} hac_aggregate_value;

#define HAC_HOT_BARS           16
#define HAC_AGGREGATE_N_VALUES (HAC_AGGREGATE_VALUE_BARS + 2 * HAC_HOT_BARS)

/* Work-groups side by side share a bar where there are more than HAC_HOT_BARS: the bar of `group` of `n`. */
static inline uint64_t hac_hot_bar(uint64_t group, uint64_t n)
{
    return n <= HAC_HOT_BARS ? group : group * HAC_HOT_BARS / n;
}

/* A result in the form HAC_OUTPUT_TABLE: this header, n_columns columns, then their parts (base/table.h),
 * each at a multiple of 64. All offsets count from the header. Validity is HAC_TABLE_NONE where no value is
 * null. */
#define HAC_RESULT_TABLE_MAGIC UINT64_C(0x314c424154434148) /* "HACTABL1" */

typedef struct hac_result_table {
    uint64_t magic;
    uint64_t rows;
    uint64_t n_columns;
    uint64_t bytes; /* of all */
} hac_result_table;

typedef struct hac_result_column {
    char name[128]; /* ends with a zero */
    uint8_t kind, precision, scale, large;
    uint32_t unused; /* 0 */
    uint64_t validity, values, bytes, n_bytes;
} hac_result_column;

/* Values of query.merge: groups, the largest group region needed (above the region's size: to be made again),
 * bytes of output text to expect. Of query.finish, query.gather and query.whole: rows and bytes of the
 * result. When the result does not fit its span, value 1 is the size that is needed and nothing else was
 * written. Those of query.whole go on: */
typedef enum hac_whole_value {
    HAC_WHOLE_VALUE_READ = 2, /* rows, as of query.aggregate */
    HAC_WHOLE_VALUE_KEPT,
    HAC_WHOLE_VALUE_SKIPPED,
    HAC_WHOLE_VALUE_READING, /* hac_read_value */
    HAC_WHOLE_N_VALUES = HAC_WHOLE_VALUE_READING + HAC_READ_N_VALUES
} hac_whole_value;

#endif
