/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The planner of queries (mapreduce, splice, parquet): makes a plan from the figures of a compiled query and
 * the sizes of its sources. base/query_layout.h describes the codelets, their spans and parameters.
 *
 *   small           query.whole, one task
 *   aggregation     [query.quotes] → query.aggregate or hash.aggregate → query.merge → query.finish
 *   no aggregation  [query.quotes] → query.rows → query.gather
 *   rows in order   [query.quotes] → query.rows → query.order → query.join
 *
 * The sizes of chunks depend only on the data. A chunk of text is 1/64 of the text, but 1 MiB to 64 MiB. A
 * chunk of a table is 1/64 of its rows, but at least 256 Ki rows, or 64 Ki if that would make fewer than 16
 * chunks. A chunk of parquet is a number of whole row groups, or an equal part of one, of about that size;
 * the footers of parquet files are read first.
 *
 * The planner prices and lists every engine: host codelets on the CPUs, device hash aggregation on each
 * device that supports the query and on all these devices, and both together (mixed). The cheapest
 * allowed candidate is the plan.
 */
#ifndef PLANNER_QUERY_PLAN_H
#define PLANNER_QUERY_PLAN_H

#include <hac/query.h>

#include "planner/machine.h"
#include "planner/plan.h"

#define HAC_QUERY_WHOLE_BYTES (UINT64_C(1) << 20) /* an input of up to this many bytes is one task */
#define HAC_QUERY_PASSES_MAX  64

/* Names of the buffers in plans of queries. */
#define HAC_QUERY_BUFFER_IN       "in"
#define HAC_QUERY_BUFFER_QUOTES   "quotes"
#define HAC_QUERY_BUFFER_PARTIALS "partials"
#define HAC_QUERY_BUFFER_GROUPS   "groups"
#define HAC_QUERY_BUFFER_PARTS    "parts"
#define HAC_QUERY_BUFFER_RESULT   "result"
#define HAC_QUERY_BUFFER_CARRY    "carry" /* kept by the job from plan to plan, like the partials of splits */
#define HAC_QUERY_BUFFER_SPLIT    "split" /* followed by a digit */

typedef enum hac_query_place {
    HAC_QUERY_IN_FILES = 0, /* one descriptor for each source */
    HAC_QUERY_IN_BUFFER,    /* one source in pool memory */
    HAC_QUERY_INLINE,       /* one source in the message, after the query */
    HAC_QUERY_IN_SPLITS     /* each source is a split, in pool memory or in a file */
} hac_query_place;

/* Rounds of a query whose input comes in splits (splice). */
typedef enum hac_round_stage {
    HAC_ROUND_NONE = 0,
    HAC_ROUND_AGGREGATE, /* aggregates splits to partials, which follow the partials of earlier rounds */
    HAC_ROUND_CARRY,     /* merges the partials and the carry into a new carry, which empties the partials */
    HAC_ROUND_MERGE,     /* the last round: merges the partials and the carry into the result */
    HAC_ROUND_ROWS       /* without aggregation: turns splits into rows */
} hac_round_stage;

#define HAC_ROUND_SPLITS_MAX   4
#define HAC_ROUND_CAPACITY_MAX 1024 /* maximum number of chunks whose partials wait for a merge */

/* The place of a split in a file. */
typedef struct hac_round_file {
    bool there;            /* false: the split is in a buffer */
    uint64_t offset;       /* hac_query_params.file_offset */
    uint64_t set_bytes;    /* bytes of a data set */
    uint64_t bytes_before; /* hac_query_params.bytes_before */
} hac_round_file;

typedef struct hac_query_round {
    hac_round_stage stage;
    hac_round_file files[HAC_ROUND_SPLITS_MAX];
    /* For each source: the number of the job's descriptor (if the split is in a file) and of its name. */
    uint8_t slots[HAC_ROUND_SPLITS_MAX];
    uint32_t sets[HAC_ROUND_SPLITS_MAX]; /* for each source: number of data sets; each is a chunk */
    uint64_t set_bytes;                  /* bytes of the largest data set */
    uint64_t generation;                 /* number of carries written so far, plus 1 */
    uint64_t held;                       /* number of chunks whose partials wait for a merge */
    uint64_t capacity;                   /* capacity of the buffer of partials, in chunks */
    uint64_t region;                     /* bytes of a chunk's region in that buffer */
    uint32_t partitions;                 /* the same in all rounds */
    uint64_t carry;        /* bytes of a partition's region in the carry; 0: there is no carry */
    uint64_t group_region; /* bytes of a partition's region in the carry or groups to write */
    uint64_t rows_given;   /* rows that earlier rounds gave, and left out for an offset */
    uint64_t beside;       /* bytes of the client's splits in flight; not part of `memory` */
} hac_query_round;

typedef struct hac_query_spec {
    hac_query_place place;
    bool table;                            /* the source is columns in memory */
    bool in_rows;                          /* sizes of sources are in rows; false: in bytes */
    uint64_t sources[HAC_DESCRIPTORS_MAX]; /* size of each source, in bytes or rows */
    uint64_t files[HAC_DESCRIPTORS_MAX];   /* parquet: bytes of each file */
    uint64_t stamps[HAC_DESCRIPTORS_MAX];  /* parquet: HAC_FOOTER_STAMP of each file */
    size_t n_sources;
    uint64_t files_left_out; /* by the client, for people */
    uint64_t input_bytes;    /* stored bytes of all sources */
    uint64_t bytes;          /* bytes to process; of parquet: uncompressed bytes of the query's columns */
    /* parquet: rows of the largest row group. A chunk is a number of whole row groups, or a part of one. 0:
     * no row groups. */
    uint64_t group_rows;
    /* parquet, in rows: the part of `bytes` that lies in row groups whose statistics hold the answer. */
    uint64_t answered;
    const char *format; /* "csv", "words" …; part of the names of models; static */

    /* Figures from the client, which compiled the query. */
    uint64_t flags; /* hac_compile_flag */
    uint64_t keys;  /* number of keys */
    uint64_t group_bytes, output_bytes, max_output;
    uint64_t compiled_bytes; /* size of the compiled query */
    uint32_t shape, same;    /* names of performance models; 0: none */
    const char *learner;     /* the user whose models these are; NULL: they are shared */
    bool sorts_rows;         /* the user submitted a sort of rows */
    bool describes;          /* no query: query.describe finds the columns of the source */
    bool ordered;            /* the rows come in an order */
    bool gives_parquet;      /* the result is a Parquet file */
    bool ends_early;   /* a limit, without order or groups: rows after the last wanted row are not read */
    uint64_t last_row; /* if ends_early: number of that row, from 1 on */

    uint64_t seed;
    hac_engine engine;          /* if this engine cannot run the query, another one does, with a remark */
    hac_hot_keys hot_keys;      /* HAC_HOT_KEYS_ON also asks for the device engine */
    uint32_t sample, hot_share; /* per mille; 0: the planner chooses */
    uint32_t work_groups, work_items;

    /* Known from an earlier plan of this job that did not fit; 0: not known. */
    uint64_t region;       /* bytes that the largest chunk needs in one pass */
    uint64_t region_fixed; /* the part of `region` that more passes do not split: the values of one group */
    uint64_t seen_region;  /* bytes that the largest chunk needed in each of `seen_passes` passes */
    uint32_t seen_passes;
    uint64_t chunk_groups;  /* mean number of groups of a chunk in all passes */
    bool rows_seen;         /* queries without aggregation: `region` and `result` hold for all chunks */
    uint64_t result;        /* maximum size of the result in bytes */
    uint64_t groups;        /* maximum number of groups */
    uint64_t group_region;  /* bytes that the largest partition of groups needs */
    uint64_t group_regions; /* number of partitions in all passes of the plan that needed it; 0: that of the
                             * next plan */
    uint64_t group_result;  /* bytes of the result of all groups */
    uint32_t passes;        /* minimum number of passes */
    char refusal[120];      /* why the device could not aggregate; "": no reason is known */

    hac_query_round round;

    uint64_t memory;      /* maximum size of all buffers together, in bytes; 0: no limit */
    uint64_t limit;       /* the job's memory limit with input and splits, for messages; 0: no limit */
    uint32_t device_mask; /* devices of the machine that are allowed; 0: all usable devices */
} hac_query_spec;

/* Plans query.footer for all sources. Their sizes are in bytes until the footers are read. */
HAC_MUST_USE hac_status hac_plan_query_footers(const hac_machine *machine, const hac_query_spec *spec,
                                               hac_plan **ret, hac_error *err);

/*
 * Plans the query. HAC_REFUSED: even with the maximum number of passes the query needs more memory than there
 * is. HAC_INVALID: a simulated device lacks a capability; the message names the key. HAC_FAILED: no device
 * can run the query.
 */
HAC_MUST_USE hac_status hac_plan_query(const hac_machine *machine, const hac_query_spec *spec, hac_plan **ret,
                                       hac_error *err);

/* Plans the round spec->round. The sources are the splits of the round. Errors as above. */
HAC_MUST_USE hac_status hac_plan_query_round(const hac_machine *machine, const hac_query_spec *spec,
                                             hac_plan **ret, hac_error *err);

/*
 * The recommended size of a split in bytes, for the devices of `device_mask` (0: all): four data sets for
 * each thread of the devices. Smaller splits leave threads without work. Larger splits do not stay in caches,
 * and the devices wait longer for the first one.
 */
uint64_t hac_plan_split_bytes(const hac_machine *machine, uint32_t device_mask);
/* The recommended size of a split that stays in its file. It is larger than `split_bytes`, to save rounds, as
 * far as `memory` has space for the partials of its data sets. */
uint64_t hac_plan_range_bytes(uint64_t split_bytes, uint64_t memory);

/* Plans a stream of spec->bytes bytes. The plan has the tasks of one split; its times are for all splits.
 * spec->round and spec->sources are ignored. */
HAC_MUST_USE hac_status hac_plan_query_splits(const hac_machine *machine, const hac_query_spec *spec,
                                              hac_plan **ret, hac_error *err);

/* The memory that a job over splits needs and holds. */
typedef struct hac_round_memory {
    uint64_t needed;    /* bytes of the largest partial so far; 0: no partial yet */
    uint64_t held;      /* number of chunks whose partials wait for a merge */
    uint64_t sets;      /* number of data sets of the next split */
    uint64_t set_bytes; /* bytes of the largest data set of the next split */
    uint64_t carry;     /* bytes of the carry */
} hac_round_memory;

/*
 * The number of partitions that suits the groups seen so far. Partials with more partitions can be merged
 * with partials with fewer, so the number may become smaller while there is no carry.
 */
uint32_t hac_round_partitions(const hac_query_spec *spec, const hac_round_memory *memory);

/*
 * Sets `partitions`, `region` and `capacity` of spec->round for a new buffer of partials. The regions are as
 * large as the largest partial so far, or a guess. There are so many regions that a carry, which reads and
 * writes all groups, is rare. HAC_REFUSED: the next split does not fit spec->memory.
 */
HAC_MUST_USE hac_status hac_round_fit(hac_query_spec *spec, const hac_round_memory *memory, hac_error *err);

/* The next step of a job whose buffer of partials has the `region` and `capacity` of spec->round.
 * HAC_ROUND_AGGREGATE: the partials of the next split fit. HAC_ROUND_CARRY: the partials in the buffer have
 * to be merged first. HAC_ROUND_NONE: the job needs another buffer. */
hac_round_stage hac_round_next(const hac_query_spec *spec, const hac_round_memory *memory);

/* Bytes of a partition's region for the result of merging the partials with the carry, as far as there is
 * memory. The partitions of the carry have at most `carried` bytes. */
uint64_t hac_round_group_region(const hac_query_spec *spec, const hac_round_memory *memory, uint64_t carried);

/* For a query without aggregation: whether regions of `region` bytes leave enough memory for the result. */
bool hac_query_rows_fit(const hac_query_spec *spec, uint64_t region, uint64_t chunks);

/* Returns HAC_REFUSED: the buffers need `needed` bytes, in addition to the input in memory and the splits. */
hac_status hac_query_lacks_memory(const hac_query_spec *spec, double needed, hac_error *err);

/* Notes in `spec` that the largest chunk needed `needed` bytes in each of `passes` passes. Uses
 * spec->chunk_groups. */
void hac_query_learn_region(hac_query_spec *spec, uint64_t needed, uint32_t passes);

/* Sets the number of partitions into which query.merge merges partials with at least as many partitions. */
void hac_query_set_partitions(hac_plan *plan, uint32_t partitions);

/* Returns HAC_REFUSED with a message that names a sufficient memory limit. The largest chunk has partials of
 * `region` bytes in one pass. */
hac_status hac_query_lacks_groups(const hac_query_spec *spec, uint64_t region, uint64_t chunks,
                                  hac_error *err);

/* The memory limit for a query over splits that needs `rest` bytes in addition to the splits. libhac makes
 * splits of a sixteenth of the limit, and keeps five of them in flight; these take at least `beside` bytes.
 */
uint64_t hac_query_with_splits(uint64_t rest, uint64_t beside);

/* Whether one query.whole does it. */
bool hac_query_is_whole(const hac_query_spec *spec);

/* Bytes of a region of groups when the partials have at most `bytes` in all. */
uint64_t hac_query_group_region(uint64_t bytes, uint32_t partitions);

/*
 * Whether a piece that ended well did all the work that its task's units say; else its time says nothing of
 * them: rows up to a limit are a small part of the input, what outgrows its region or result stops there, and
 * what statistics answer is not read.
 * `values` are its report's (base/query_layout.h); `result_capacity`: bytes of the result's buffer, 0: it
 * comes in the message.
 */
bool hac_query_did_all(const hac_query_spec *spec, const hac_plan_task *task, uint64_t result_capacity,
                       const uint64_t *values, size_t n_values);

/* Whether rows in an order are made in parts (query.order, query.join). With little memory they are not:
 * parts are a copy of the result. */
bool hac_query_in_parts(const hac_query_spec *spec);

/* Sets the number of parts, now that the number of rows is known. */
void hac_query_set_parts(hac_plan *plan, uint64_t rows);

/* Gives the buffer of that name another size, and with it the spans of the tasks that have not run. */
void hac_query_resize(hac_plan *plan, int buffer, uint64_t bytes);

#endif
