/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The planner of queries (flow C, and what flows B and E share with it): from what query.compile found out
 * and the sizes of the sources to a plan. <base/query_layout.h> has the codelets, their spans and parameters.
 *
 *   small           query.whole, one task
 *   aggregation     [query.quotes] → query.aggregate or hash.aggregate → query.merge → query.finish
 *   no aggregation  [query.quotes] → query.rows → query.gather
 *
 * Where the sources are cut depends on the data alone: a chunk of text is 1/64 of it, 1 MiB to 64 MiB; of a
 * table 1/64 of its rows, 64 Ki at least; of parquet as near to that as whole row groups, or equal parts of
 * one, come. Of several parquet files the footers are read first. Every way to aggregate (host codelets on
 * the CPUs, flow C on each device that can, and on all of them) is priced and listed, and the cheapest that
 * is allowed is the plan.
 */
#ifndef PLANNER_QUERY_PLAN_H
#define PLANNER_QUERY_PLAN_H

#include "planner/machine.h"
#include "planner/plan.h"

#define HAC_QUERY_SOURCES_MAX 253                 /* descriptors of one message */
#define HAC_QUERY_WHOLE_BYTES (UINT64_C(1) << 20) /* up to here one task does it all */
#define HAC_QUERY_PASSES_MAX  64

/* Buffers of these plans, by name. */
#define HAC_QUERY_BUFFER_IN       "in"
#define HAC_QUERY_BUFFER_QUOTES   "quotes"
#define HAC_QUERY_BUFFER_PARTIALS "partials"
#define HAC_QUERY_BUFFER_GROUPS   "groups"
#define HAC_QUERY_BUFFER_RESULT   "result"
#define HAC_QUERY_BUFFER_CARRY    "carry" /* of the job, as are its partials: they outlive a plan */
#define HAC_QUERY_BUFFER_SPLIT    "split" /* and a digit */

typedef enum hac_query_place {
    HAC_QUERY_IN_FILES = 0, /* descriptors, one a source */
    HAC_QUERY_IN_BUFFER,    /* pool memory: one source */
    HAC_QUERY_INLINE,       /* behind the query in its message: one source */
    HAC_QUERY_IN_SPLITS     /* pool memory or a file, again and again: each source is a split */
} hac_query_place;

/* Rounds of a query whose input comes in splits (flow B). */
typedef enum hac_round_stage {
    HAC_ROUND_NONE = 0,
    HAC_ROUND_COMPILE,   /* the query, with the first split for the names and types of columns */
    HAC_ROUND_AGGREGATE, /* splits to partials, behind those that are there */
    HAC_ROUND_CARRY,     /* partials and the carry to a new carry: partials can be overwritten then */
    HAC_ROUND_MERGE,     /* the last one: partials and the carry to the result */
    HAC_ROUND_ROWS       /* splits to rows, without aggregation */
} hac_round_stage;

#define HAC_ROUND_SPLITS_MAX 4
#define HAC_ROUND_ROOM_MAX   1024 /* chunks whose partials are kept until they are merged */

/* Where a split lies that is no buffer. */
typedef struct hac_round_file {
    bool there;
    uint64_t offset, set_bytes, bytes_before; /* as HAC_QUERY_PARAM_… and its data sets */
} hac_round_file;

typedef struct hac_query_round {
    hac_round_stage stage;
    hac_round_file files[HAC_ROUND_SPLITS_MAX];
    uint8_t slots[HAC_ROUND_SPLITS_MAX]; /* of each source: the job's descriptor, if it lies in a file, and
                                          * its name */
    uint32_t sets[HAC_ROUND_SPLITS_MAX]; /* of each source: its data sets, which are chunks */
    uint64_t set_bytes;                  /* of the largest one */
    uint64_t generation;                 /* carries that were written before, and 1 */
    uint64_t held;                       /* chunks whose partials are there */
    uint64_t room;                       /* chunks that the buffer of partials has room for */
    uint64_t region;                     /* bytes of a chunk's region */
    uint32_t partitions;                 /* the same in all rounds */
    uint64_t carry;                      /* bytes of a partition's region in the carry; 0: there is none */
    uint64_t group_region;               /* of what is to be written, carry or groups */
    uint64_t rows_given;                 /* by rounds before */
    uint64_t beside;                     /* bytes of splits that the client has in flight, beside `memory` */
} hac_query_round;

/* Which codelets aggregate; what cannot be is planned otherwise, with a remark. */
typedef enum hac_query_wish { HAC_QUERY_ANY_WAY = 0, HAC_QUERY_BY_HOST, HAC_QUERY_BY_FLOW_C } hac_query_wish;
typedef enum hac_hot_keys { HAC_HOT_KEYS_AUTO = 0, HAC_HOT_KEYS_ON, HAC_HOT_KEYS_OFF } hac_hot_keys;

typedef struct hac_query_spec {
    hac_query_place place;
    bool table;                              /* columns in memory */
    bool in_rows;                            /* sources are counted in rows, else in bytes */
    uint64_t sources[HAC_QUERY_SOURCES_MAX]; /* bytes, or rows */
    uint64_t files[HAC_QUERY_SOURCES_MAX];   /* parquet: bytes of each */
    uint64_t stamps[HAC_QUERY_SOURCES_MAX];  /* parquet: HAC_COMPILE_STAMP of each */
    size_t n_sources;
    uint64_t input_bytes; /* of all sources, as they lie there */
    uint64_t bytes; /* that have to be looked at: of parquet those of the query's columns, uncompressed */
    uint64_t
        group_rows; /* parquet: of a row group; chunks are whole ones, or parts of one. 0: there are none */
    const char *format; /* "csv", "words" …: models are kept by it; static */

    /* As query.compile has it. */
    uint64_t flags; /* hac_compile_flag */
    uint64_t keys;
    uint64_t group_bytes, output_bytes, output_most;
    uint64_t compiled_bytes; /* of the compiled query */
    bool fast;               /* determinism */
    bool sorts_rows;         /* it is called a sort */
    bool ends_early;         /* a limit without an order: rows behind the last one wanted are not read */

    uint64_t seed;
    hac_query_wish wish;
    hac_hot_keys hot_keys;      /* on: flow C is asked for, too */
    uint32_t sample, hot_share; /* per mille; 0: the planner's */
    uint32_t work_groups, work_items;

    /* What an earlier try has shown; 0: nothing yet. */
    uint64_t region;       /* bytes that the largest chunk needs, in one pass */
    bool rows_seen;        /* rows: region is what the largest of all chunks needs, … */
    uint64_t result;       /* … and the result takes at most so many bytes */
    uint64_t groups;       /* at most */
    uint64_t group_region; /* bytes that the largest partition of groups needs */
    uint32_t passes;       /* at least */
    char refusal[120];     /* what kept flow C's kernels from doing it */

    hac_query_round round;

    uint64_t memory;      /* bytes that the buffers may take together; 0: no limit */
    uint64_t limit;       /* the job's own, input and splits included; 0: none. For messages */
    uint32_t device_mask; /* machine devices that are allowed; 0: all usable ones */
} hac_query_spec;

/* query.footer of all sources from the second on; they are counted in bytes then. */
HAC_MUST_USE hac_status hac_plan_query_footers(const hac_machine *machine, const hac_query_spec *spec,
                                               hac_plan **ret, hac_error *err);

/* query.compile alone, on a host device. `spec_bytes`: of the packed specification. */
HAC_MUST_USE hac_status hac_plan_query_compile(const hac_machine *machine, const hac_query_spec *spec,
                                               uint64_t spec_bytes, hac_plan **ret, hac_error *err);

/*
 * The query itself. HAC_REFUSED: more memory is needed than there is, in however many passes. HAC_INVALID: a
 * simulated device lacks a capability (names the key); HAC_FAILED: no device can run it.
 */
HAC_MUST_USE hac_status hac_plan_query(const hac_machine *machine, const hac_query_spec *spec, hac_plan **ret,
                                       hac_error *err);

/* A round, by spec->round; errors as above. The sources are the splits that it takes. */
HAC_MUST_USE hac_status hac_plan_query_round(const hac_machine *machine, const hac_query_spec *spec,
                                             hac_plan **ret, hac_error *err);

/*
 * Bytes of a split that keep the devices of `device_mask` (0: all) at work: four data sets for each of their
 * threads. Less does not fill them; more lies in memory where it could lie in a cache, and lets them wait for
 * the first.
 */
uint64_t hac_plan_split_bytes(const hac_machine *machine, uint32_t device_mask);
/* Bytes of a split that stays in its file: more, for fewer rounds, where the query has so much `memory` that
 * there is room for what comes of its data sets. */
uint64_t hac_plan_range_bytes(uint64_t split_bytes, uint64_t memory);

/* What a stream of spec->bytes is predicted to take: the tasks are those of one of its splits, the times
 * those of all of them. spec->round and spec->sources are not looked at. */
HAC_MUST_USE hac_status hac_plan_query_splits(const hac_machine *machine, const hac_query_spec *spec,
                                              hac_plan **ret, hac_error *err);

/* What rounds have shown, and hold. */
typedef struct hac_round_memory {
    uint64_t needed;    /* bytes of the largest partial so far; 0: there was none */
    uint64_t held;      /* chunks in the partials */
    uint64_t sets;      /* of the next split */
    uint64_t set_bytes; /* of its largest one */
    uint64_t carry;     /* bytes of the carry */
} hac_round_memory;

/*
 * Partitions of groups for what was seen of them so far. Partials of more partitions can be merged with those
 * of fewer: while there is no carry their number may fall.
 */
uint32_t hac_round_partitions(const hac_query_spec *spec, const hac_round_memory *memory);

/*
 * Sets partitions, region and room of spec->round for a buffer of partials that is to be taken: regions as
 * large as partials have been, or a guess; as many as make rounds worth a carry, which reads and writes all
 * groups. HAC_REFUSED: the next split does not fit spec->memory.
 */
HAC_MUST_USE hac_status hac_round_fit(hac_query_spec *spec, const hac_round_memory *memory, hac_error *err);

/* Whether the partials' buffer, of spec->round's region and room, does for the next split:
 * HAC_ROUND_AGGREGATE. HAC_ROUND_CARRY: what is in it is to be merged first. HAC_ROUND_NONE: another one is
 * to be taken. */
hac_round_stage hac_round_next(const hac_query_spec *spec, const hac_round_memory *memory);

/* Bytes of a partition's region for what a merge gives of the partials and the carry, whose partitions have
 * at most `carried` bytes; as many as there is memory for. */
uint64_t hac_round_group_region(const hac_query_spec *spec, const hac_round_memory *memory, uint64_t carried);

/* Whether regions of `region` bytes leave enough of the memory for the result of rows. */
bool hac_query_rows_fit(const hac_query_spec *spec, uint64_t region, uint64_t chunks);

/* HAC_REFUSED: its buffers need so many bytes, beside an input that is in memory and splits. */
hac_status hac_query_lacks_memory(const hac_query_spec *spec, double needed, hac_error *err);

/* HAC_REFUSED, with a memory that is enough for the groups, whatever they are: the largest chunk has partials
 * of `region` bytes in one pass. */
hac_status hac_query_lacks_groups(const hac_query_spec *spec, uint64_t region, uint64_t chunks,
                                  hac_error *err);

/* Bytes of memory for a query of splits that needs `rest` beside them: a sixteenth of it is a split, five of
 * them are there (client-lib), `beside` bytes at least. */
uint64_t hac_query_with_splits(uint64_t rest, uint64_t beside);

/* Whether one query.whole does it. */
bool hac_query_is_whole(const hac_query_spec *spec);

/* Bytes of a region of groups when the partials have at most `bytes` in all. */
uint64_t hac_query_group_region(uint64_t bytes, uint32_t partitions);

/*
 * Whether a piece that ended well did all the work that its task's units say; else its time says nothing of
 * them: rows up to a limit are a small part of the input, and what outgrows its region or result stops there.
 * `values` are its report's (base/query_layout.h); `result_room`: bytes of the result's buffer, 0: it comes
 * in the message.
 */
bool hac_query_did_all(const hac_query_spec *spec, const hac_plan_task *task, uint64_t result_room,
                       const uint64_t *values, size_t n_values);

/* Gives the buffer of that name another size, and with it the spans of the tasks that have not run. */
void hac_query_resize(hac_plan *plan, int buffer, uint64_t bytes);

#endif
