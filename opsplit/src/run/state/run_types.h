/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state of a run. Vectors are values: a sub-operator that writes a vector gives it new memory. What other
 * names, earlier rounds or a job that starts over still read never changes. Memory that no vector names any
 * more goes back to the run, which uses it again.
 */
#ifndef OPSPLIT_RUN_TYPES_H
#define OPSPLIT_RUN_TYPES_H

#include "base/op_layout.h"
#include "base/text.h"
#include "opsplit/decompose.h"
#include "opsplit/run_options.h"

typedef struct hac_logic_run_state hac_logic_run_state;

/* ---- memory ---- */

/* A pool buffer, or a slot of one that many small vectors share. */
typedef struct hac_run_memory {
    hac_buffer *buffer;
    uint64_t offset, bytes;
    struct hac_run_memory *shared; /* the buffer that has this slot; NULL: this is a buffer of its own */
    struct hac_run_slots *slots;   /* the slots that this buffer is split into; NULL: it is not split */
    unsigned users;
    struct hac_run_memory *next;  /* in the list of spare memory */
    struct hac_run_memory *older; /* in the list of all memory of the run */
    int in_graph;                 /* index of the buffer in the graph; -1: none */
} hac_run_memory;

enum { HAC_RUN_SLOT_SIZES = 10 };

/* Slots of one size. */
typedef struct hac_run_slots {
    hac_run_memory *buffer; /* the buffer that new slots come from; NULL: none yet */
    uint64_t used;          /* bytes of that buffer which are slots already */
    hac_run_memory *free;
} hac_run_slots;

/* ---- vectors ---- */

/* A task of a graph that has not run yet, and the rows that it writes. */
typedef struct hac_run_writer {
    uint32_t task;
    uint64_t first, end;
} hac_run_writer;

/* How the tasks that write a vector divide its rows between ranks. */
typedef struct hac_run_cut {
    uint64_t grain, rows; /* of these tasks; grain 0: the rows are divided some other way */
    uint64_t scale, each; /* `scale` rows of a task are `each` rows of the vector */
    uint64_t by;          /* number of the partition that gives the ranks' parts; 0: the parts are equal */
} hac_run_cut;

/* The value of a vector of the logic file. */
typedef struct hac_run_vector {
    hac_run_memory *memory; /* NULL: the vector has no value yet */
    hac_op_operand operand; /* its parts are relative to the memory's first byte */
    uint64_t bytes;
    /* Divided between ranks: this rank has rows [first, end). `divided` and `cut` are equal on all ranks, so
     * that either all ranks exchange the vector or none does. */
    bool divided;
    uint64_t first, end;
    hac_run_cut cut;
    hac_run_writer writers[HAC_COMPONENTS_MAX];
    unsigned n_writers;
    unsigned writers_max; /* of any rank; equal on all ranks */
    uint64_t graph;       /* number of the graph that has the writers; a rank may have no writer in it */
    /* The vector stands for what the previous round of fused rounds leaves: the client does not have this
     * value. */
    bool of_round_before;
    /* Of a dry run. unknown: the values are not known. at_most: nor is the size, which is at most this one.
     */
    bool unknown, at_most;
} hac_run_vector;

/* What a new vector needs. It gets room for `entries` entries. */
typedef struct hac_run_shape {
    hac_vector_template form;
    hac_kind kind;
    uint64_t rows, columns, entries;
} hac_run_shape;

/* ---- partitions ---- */

/*
 * The rows of each component, and of each rank, where these are not ranges of equal length: either ranges of
 * equal weight (`sums`) or single rows (`order`, `parts`). For single rows the run copies the rows of each
 * component side by side, the sub-operator works on the copies, and the run puts the results back.
 */
typedef struct hac_run_partition {
    uint64_t number;
    int vector;                                  /* hac_piece_cut.vector */
    hac_run_vector sources[HAC_OP_OPERANDS_MAX]; /* the vectors that it was made from; it holds them */
    size_t n_sources;
    uint64_t rows;
    double *sums;               /* of hac_weight_sums; NULL: single rows */
    hac_run_vector order;       /* u64: the row at each place */
    hac_component_range *parts; /* the places of each component: whole blocks of HAC_OP_BLOCK */
    unsigned n_parts;
    struct hac_run_partition *older;
} hac_run_partition;

/* ---- the graph ---- */

typedef struct hac_run_graph hac_run_graph;

/* The end of a graph at some time, to go back to. */
typedef struct hac_run_mark {
    size_t tasks, planned, bytes;
} hac_run_mark;

/* Components begin at multiples of so many rows where the sub-operator's grain is finer. */
#define HAC_RUN_CUT_ROWS 64

/* ---- dry runs (dry_run.c) ---- */

/* A task of the graph, as its placement is reported. */
typedef struct hac_run_planned {
    size_t piece; /* number in the logic file */
    hac_placed_task task;
} hac_run_planned;

/* The value of a dimension that is not known. */
#define HAC_RUN_NOT_KNOWN UINT64_MAX

/*
 * A dry run makes the tasks and asks hacd for their plan in place of running them. Vectors have memory, but
 * what tasks would have written has no values; what such values decide fails with HAC_AGAIN. Sizes that the
 * data decides are the largest that can be.
 */
typedef struct hac_dry_run {
    hac_placement *placement;
    hac_plan_reader *read_plan;
    /* Takes hacd's plan of `n` tasks, or the reason why there is none (`status`, `why`). */
    hac_status (*take_plan)(hac_logic_run_state *run, const hac_run_planned *tasks, size_t n,
                            hac_status status, const char *plan, const hac_error *why, hac_error *err);
    size_t piece;                 /* number of the current piece */
    bool at_most;                 /* its sizes are the largest that can be */
    bool tasks;                   /* it has tasks */
    unsigned sub_loop, sub_loops; /* 0 of 1: the loop is not split */
    hac_run_vector ids;           /* of the reducer's keys */
    bool *loose;                  /* by vector: its size may change within the current loop or branch */
    hac_error lacking;            /* the first thing that the simulated machine lacks */
} hac_dry_run;

/* ---- the run ---- */

/* A round that is added before the run knows whether the loop goes on. */
typedef struct hac_run_ahead {
    size_t first; /* its first task in the graph */
    hac_text log; /* its lines so far */
} hac_run_ahead;

struct hac_logic_run_state {
    hac_client *client;
    const hac_logic *logic;
    const hac_run_options *options;
    hac_run_report *report;
    hac_run_vector *vectors; /* by their index in the logic file */
    uint64_t
        *dimensions; /* by their index in the logic file; set when a vector that has the dimension is made */
    hac_run_memory *memory; /* the newest; each leads to an older one */
    hac_run_memory *spare;
    hac_run_slots slots[HAC_RUN_SLOT_SIZES];
    hac_run_graph *graph; /* the one that tasks are added to */
    hac_run_graph *sent[HAC_OPS_UNANSWERED_MAX], *spare_graph;
    unsigned n_sent;
    uint64_t n_graphs;
    double useless_seconds;        /* the time of rounds that were added ahead and not needed */
    size_t first_failed;           /* hac_run_first_failed */
    hac_job *job;                  /* of all graphs; NULL: none has run yet */
    hac_text log;                  /* lines for the job's log since the last graph */
    hac_run_ahead *ahead;          /* the round that is being added ahead; NULL: none */
    hac_dry_run *dry_run;          /* of a dry run; NULL: it runs */
    unsigned components, threads;  /* of the current piece; of every node, for TaskMap and DirMap */
    hac_piece_cut cut;             /* of the current piece */
    hac_run_partition *partition;  /* that `cut` asks for; NULL: ranges of equal length */
    hac_run_partition *partitions; /* the newest of each vector that states one */
    uint64_t n_partitions;
    char where[320];       /* the current piece, for messages: "pagerank.yaml:12:9: spmv" */
    hac_logic_position at; /* of the current piece */
    uint64_t round;
};

#endif
