/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside a run. Vectors are values: a sub-operator that writes one gives it new memory, so that what other
 * names, earlier rounds or a job that starts over still read is never changed. Memory goes back to the run
 * when nobody names it any more, and is used again.
 */
#ifndef OPSPLIT_RUN_INTERNAL_H
#define OPSPLIT_RUN_INTERNAL_H

#include "base/op_layout.h"
#include "base/text.h"
#include "opsplit/decompose.h"
#include "opsplit/run.h"

typedef struct hac_run hac_logic_run;

/* ---- memory ---- */

/* A pool buffer, or a slot of one that many small vectors share. */
typedef struct hac_run_memory {
    hac_buffer *buffer;
    uint64_t offset, bytes;
    struct hac_run_memory *shared; /* whose slot it is; NULL: a buffer of its own */
    struct hac_run_slots *slots;   /* that a buffer is cut into; NULL: it is none of these */
    unsigned users;
    struct hac_run_memory *next;  /* spare ones */
    struct hac_run_memory *older; /* all of the run */
    int in_graph;                 /* its number among the graph's buffers; -1 */
} hac_run_memory;

/* Slots of one size. */
enum { HAC_RUN_SLOT_SIZES = 10 };

typedef struct hac_run_slots {
    hac_run_memory *buffer; /* that is being cut into slots; NULL: none yet */
    uint64_t used;          /* bytes of it */
    hac_run_memory *free;
} hac_run_slots;

/* One user less. What a graph that has not run yet uses is held by it until then. */
void hac_run_memory_release(hac_logic_run *run, hac_run_memory *memory);
/* At the end: all of it, whoever uses it. */
void hac_run_memory_clear(hac_logic_run *run);

/* ---- vectors ---- */

/* A task of the graph that has not run yet, and the rows that it writes. */
typedef struct hac_run_writer {
    uint32_t task;
    uint64_t first, end;
} hac_run_writer;

/* The value of a vector of the logic file. */
typedef struct hac_run_vector {
    hac_run_memory *memory; /* NULL: it has no value yet */
    hac_op_operand operand; /* parts are relative to the memory's first byte */
    uint64_t bytes;
    /* Divided between ranks: rows [first, end) are here, the other ranks have the others. `divided` and `cut`
     * are the same on all of them, so that all exchange it, or none. */
    bool divided;
    uint64_t first, end;
    struct hac_run_cut {
        uint64_t grain, rows; /* as the tasks that write it are; grain 0: some other way */
        uint64_t scale, each; /* so many of their rows are `each` rows of it */
        uint64_t by;          /* number of the partition that says where ranks are cut; 0: equal parts */
    } cut;
    hac_run_writer writers[HAC_COMPONENTS_MAX];
    unsigned n_writers;
    unsigned writers_most; /* on all ranks alike */
    uint64_t graph; /* the number of the graph that they are tasks of; on some ranks there may be none */
    bool
        of_round_before; /* what the round before leaves, of rounds that are one task: it has no value here */
    /* Of a run that only places: its values are not known; its size neither, but it is at most this one. */
    bool unknown, most;
} hac_run_vector;

/* What a new vector needs; entries are the room for them. */
typedef struct hac_run_shape {
    hac_vector_template form;
    hac_kind kind;
    uint64_t rows, columns, entries;
} hac_run_shape;

uint8_t *hac_run_data(const hac_run_vector *vector);
HAC_MUST_USE hac_status hac_run_vector_new(hac_logic_run *run, const hac_run_shape *shape,
                                           hac_run_vector *ret, hac_error *err);
void hac_run_vector_clear(hac_logic_run *run, hac_run_vector *vector);
/* A second name for the same value. */
void hac_run_vector_copy(hac_logic_run *run, const hac_run_vector *from, hac_run_vector *to);
/* Whether tasks that write it have not run yet. */
bool hac_run_is_pending(const hac_logic_run *run, const hac_run_vector *vector);
bool hac_run_is_whole(const hac_run_vector *vector);
/* Of a dense vector's values. */
uint64_t hac_run_row_bytes(const hac_op_operand *operand);

/* ---- partitions ---- */

/*
 * Which rows each component gets, and each rank, where these are not ranges of equal length: ranges by weight
 * (`sums`), or single rows in an order of their own (`order`, `parts`). A sub-operator of single rows copies
 * each component's rows side by side, works on these, and puts the results back where they belong.
 */
typedef struct hac_run_partition {
    uint64_t number;
    int vector;                                  /* hac_piece_cut.vector */
    hac_run_vector sources[HAC_OP_OPERANDS_MAX]; /* what it was made of, which it holds */
    size_t n_sources;
    uint64_t rows;
    double *sums;               /* hac_weight_sums; NULL: single rows */
    hac_run_vector order;       /* u64: the row at each place, */
    hac_component_range *parts; /* and the places of each component: whole blocks of HAC_OP_BLOCK */
    unsigned n_parts;
    struct hac_run_partition *older;
} hac_run_partition;

/* ---- the graph ---- */

typedef struct hac_run_graph hac_run_graph;

/* A task to be: operands in the codelet's order, outputs first. */
typedef struct hac_run_task {
    const char *codelet;
    const char *name, *pin;
    hac_run_vector *operands[HAC_OP_OPERANDS_MAX];
    size_t n_operands, n_written;
    uint32_t also_written; /* bits of written operands behind those that are read */
    bool scattered;        /* what it writes is not where its rows are: all of its outputs */
    uint32_t whole;        /* bits of operands that it needs all rows of, whatever its range */
    hac_op_function function;
    uint32_t flags;
    double a, b;
    uint64_t n;
    const hac_program *program;
    uint64_t rows, grain; /* of the range; grain 0: no range */
    uint64_t scale;       /* rows of the range make one row of output 0: blocks; 0: 1 */
    double units;         /* of all rows */
} hac_run_task;

/* Whether it writes operand i. */
bool hac_run_writes(const hac_run_task *task, size_t i);

/* Sets run->partition for the piece as run->cut says; NULL: ranges of equal length, also where the values
 * that it goes by are not there yet. Flushes where it has to. */
HAC_MUST_USE hac_status hac_run_partition_find(hac_logic_run *run, const hac_logic_piece *piece,
                                               hac_error *err);
void hac_run_partitions_clear(hac_logic_run *run);
/* Whether the partition cuts ranges of so many rows; whether it takes this task's rows one by one. */
bool hac_run_cuts_ranges(const hac_logic_run *run, uint64_t rows);
bool hac_run_takes_single_rows(const hac_logic_run *run, const hac_run_task *task);

HAC_MUST_USE hac_status hac_run_graph_new(hac_logic_run *run, hac_run_graph **ret, hac_error *err);
void hac_run_graph_free(hac_run_graph *graph);

/*
 * Adds the tasks of one sub-operator: one a component of this rank's rows. Operands that are not whole where
 * that is needed are exchanged between the ranks first. The outputs' writers and rows are set. *ret_first:
 * number of the first task (for hac_run_values), may be NULL.
 */
HAC_MUST_USE hac_status hac_run_add(hac_logic_run *run, const hac_run_task *task, uint32_t *ret_first,
                                    hac_error *err);
/* The job of all graphs, once. */
HAC_MUST_USE hac_status hac_run_begin_job(hac_logic_run *run, hac_error *err);
/* Runs what was added; afterwards vectors' memory may be read. HAC_AGAIN: not while rounds are added ahead,
 * or graphs are on their way. */
HAC_MUST_USE hac_status hac_run_flush(hac_logic_run *run, hac_error *err);
/* Sends what was added without waiting; at most two graphs are on their way. What is added then may read what
 * those write: it runs when they have ended. */
HAC_MUST_USE hac_status hac_run_send(hac_logic_run *run, hac_error *err);
/* Waits for the one that was sent first. */
HAC_MUST_USE hac_status hac_run_await(hac_logic_run *run, hac_error *err);
/* What was added is not to run. */
void hac_run_forget_graph(hac_logic_run *run);
/* What is added from here on is tentative: it may fail. */
void hac_run_tentative(hac_logic_run *run);
/* The first task of the graph that has just run which has failed; SIZE_MAX: none. */
size_t hac_run_first_failed(const hac_logic_run *run);
/* Whether tasks write it that were added before those of the round that is added ahead. */
bool hac_run_is_of_round_before(const hac_logic_run *run, const hac_run_vector *vector);
/* How far the graph is: so many tasks, … */
typedef struct hac_run_mark {
    size_t tasks, planned, bytes;
} hac_run_mark;
hac_run_mark hac_run_mark_graph(const hac_logic_run *run);
/* … of which those behind the mark are taken back. Nothing names their results any more. */
void hac_run_take_back(hac_logic_run *run, hac_run_mark mark);
/* How many such graphs as what was added fit into one, of at most so many bytes that are written; it may turn
 * out that they are fewer. */
unsigned hac_run_graphs_fit(const hac_logic_run *run, uint64_t bytes);
/* Bytes that the log may have in the graph's message. */
size_t hac_run_lines_room(const hac_logic_run *run);
/* Runs what was added, too. `sizes`: the most that can be; afterwards what task `task` has found. */
HAC_MUST_USE hac_status hac_run_sizes(hac_logic_run *run, uint32_t task, uint64_t *sizes, size_t n,
                                      hac_error *err);

/* ---- ranks (run_ranks.c) ---- */

#define HAC_RUN_CUT_ROWS 64 /* components begin at multiples of so many rows where the grain is finer */

bool hac_run_alone(const hac_logic_run *run);
/* Where ranks may be cut: alike for sub-operators of different grain if there are rows enough, so that what
 * one has written the next one finds on the same rank. */
uint64_t hac_run_rank_grain(const hac_logic_run *run, uint64_t rows, uint64_t grain);
/* What is only one part anyway every rank works out by itself: that is sooner done than sent. */
bool hac_run_is_divided(const hac_logic_run *run, uint64_t rows, uint64_t grain);
/* Of which partition ranks' parts are; 0: they are equal. */
uint64_t hac_run_cut_by(const hac_logic_run *run, uint64_t rows);
/* Rows of this rank: [first, end) of `rows`, cut at multiples of grain. false: all are, of each rank. */
bool hac_run_part(const hac_logic_run *run, uint64_t rows, uint64_t grain, uint64_t *ret_first,
                  uint64_t *ret_end);

/* What is below is collective: all ranks call it. */

/* One number of each rank, on all of them: all[rank] is this one's before. */
HAC_MUST_USE hac_status hac_run_share_numbers(const hac_logic_run *run, uint64_t *all, hac_error *err);
/* All rows of a vector on every rank; flushes where it has to. */
HAC_MUST_USE hac_status hac_run_gather(hac_logic_run *run, hac_run_vector *vector, hac_error *err);
/* All rows on rank 0; on the others it stays as it is, and in name on rank 0, too. */
HAC_MUST_USE hac_status hac_run_collect(hac_logic_run *run, hac_run_vector *vector, hac_error *err);
/* A divided vector, of which each row is a row: cut as sub-operators of that grain (hac_run_rank_grain) are.
 */
HAC_MUST_USE hac_status hac_run_recut(hac_logic_run *run, hac_run_vector *vector, uint64_t grain,
                                      hac_error *err);
/* The worst of all ranks' states, on every rank; alone: `status`. */
HAC_MUST_USE hac_status hac_run_agree(const hac_logic_run *run, hac_status status, hac_error *err);
/*
 * Rank r has rows [firsts[r], firsts[r + 1]) of a dense vector, of which all ranks have the size. Afterwards
 * it has those of its equal part, as sub-operators are cut, or all where it is too short to be divided.
 */
HAC_MUST_USE hac_status hac_run_spread(hac_logic_run *run, hac_run_vector *vector, const uint64_t *firsts,
                                       hac_error *err);

/* ---- placing without running ---- */

/* A task of the graph, for its placement. */
typedef struct hac_run_planned {
    size_t piece; /* number in the logic file */
    hac_placed_task task;
} hac_run_planned;

#define HAC_RUN_NOT_KNOWN UINT64_MAX /* a dimension */

/*
 * In a run that only places, hac_run_flush asks hacd for the plan of what was added. Vectors have memory, but
 * those that tasks would have written have no values; what is decided by those is HAC_AGAIN. Sizes that the
 * data decides are the most that they can be.
 */
typedef struct hac_run_placing {
    hac_placement *placement;
    hac_plan_reader *read_plan;
    size_t piece;                 /* at work, … */
    bool most;                    /* … of sizes that are the most that they can be … */
    bool tasks;                   /* … and needs tasks */
    unsigned sub_loop, sub_loops; /* 0 of 1: no loop that is split */
    hac_run_vector ids;           /* the reducer's */
    bool *loose;                  /* by vector: in a loop or a branch its size may change */
    hac_error lacking;            /* what the machine that is simulated lacks, the first time */
} hac_run_placing;

/* HAC_AGAIN: a value is wanted that is not known. */
hac_status hac_run_wait(hac_error *err);
/* Takes the plan of `n` tasks in, or why there is none (`status`, `why`). */
HAC_MUST_USE hac_status hac_run_placed(hac_logic_run *run, const hac_run_planned *tasks, size_t n,
                                       hac_status status, const char *plan, const hac_error *why,
                                       hac_error *err);

/* ---- rounds ahead (run_while.c) ---- */

/* A round that is added before it is known whether it is wanted. */
typedef struct hac_run_ahead {
    size_t first; /* task of it */
    hac_text log; /* lines so far */
} hac_run_ahead;

/* ---- the run ---- */

/* Whether inputs are given that the file has not. */
HAC_MUST_USE hac_status hac_run_check_names(const hac_logic *logic, const hac_run_options *options,
                                            hac_error *err);
/* What is as long as the file says. To be cleared also when it fails. */
HAC_MUST_USE hac_status hac_run_open(hac_logic_run *run, hac_error *err);
void hac_run_clear(hac_logic_run *run);

struct hac_run {
    hac_client *client;
    const hac_logic *logic;
    const hac_run_options *options;
    hac_run_report *report;
    hac_run_vector *vectors; /* by the logic's index */
    uint64_t *dimensions;    /* likewise: as the vectors that have them were made */
    hac_run_memory *memory;  /* the newest; each leads to an older one */
    hac_run_memory *spare;
    hac_run_slots slots[HAC_RUN_SLOT_SIZES];
    hac_run_graph *graph; /* that is added to */
    hac_run_graph *sent[HAC_OPS_UNANSWERED_MAX], *spare_graph;
    unsigned n_sent;
    uint64_t n_graphs;
    double seconds_for_nothing;    /* that rounds took which were added ahead and did not count */
    size_t first_failed;           /* hac_run_first_failed */
    hac_job *job;                  /* of all graphs; NULL: none has run yet */
    hac_text log;                  /* for it, since the last one */
    hac_run_ahead *ahead;          /* a round is added ahead; NULL: none is */
    hac_run_placing *placing;      /* NULL: it runs */
    unsigned components, threads;  /* of the piece at work; of every node, for TaskMap and DirMap */
    hac_piece_cut cut;             /* of the piece at work, … */
    hac_run_partition *partition;  /* … and what it comes to; NULL: ranges of equal length */
    hac_run_partition *partitions; /* of each vector that states one the newest */
    uint64_t n_partitions;
    char where[320];       /* the piece at work, for messages: "pagerank.yaml:12:9: spmv" */
    hac_logic_position at; /* where it is */
    uint64_t round;
};

/* How the piece, of that step (NULL: of none), is cut: run->cut, components, partition. */
HAC_MUST_USE hac_status hac_run_cut(hac_logic_run *run, const hac_logic_step *step,
                                    const hac_logic_piece *piece, hac_error *err);
/* What comes now is no piece. */
void hac_run_uncut(hac_logic_run *run);
HAC_MUST_USE hac_status hac_run_piece(hac_logic_run *run, const hac_logic_piece *piece, hac_error *err);
HAC_MUST_USE hac_status hac_run_steps(hac_logic_run *run, const hac_logic_step *steps, size_t n,
                                      hac_error *err);
HAC_MUST_USE hac_status hac_run_while(hac_logic_run *run, const hac_logic_step *step, hac_error *err);
/* A condition's value. */
HAC_MUST_USE hac_status hac_run_look(hac_logic_run *run, const hac_logic_step *step, bool *ret,
                                     hac_error *err);
/* Of a loop of so many iterations; 1: it is not split. */
unsigned hac_run_sub_loops(const hac_logic_run *run, const hac_logic_step *step, uint64_t iterations);
/* The Var of a loop's index. */
HAC_MUST_USE hac_status hac_run_set_index(hac_logic_run *run, int vector, int64_t value, hac_error *err);
/* Inputs that are not given have no value afterwards. */
HAC_MUST_USE hac_status hac_run_load(hac_logic_run *run, hac_error *err);
/* An input's `n` rows or columns (`what`): as many as `dimension` says, if that is known by now. */
HAC_MUST_USE hac_status hac_run_check_extent(hac_logic_run *run, size_t input, int dimension, uint64_t n,
                                             const char *what, hac_error *err);
/* Vectors that a program hands over, and those that it wants back (run_handed.c). */
HAC_MUST_USE hac_status hac_run_load_handed(hac_logic_run *run, size_t input, const hac_run_input *given,
                                            hac_error *err);
HAC_MUST_USE hac_status hac_run_check_results(const hac_logic *logic, const hac_run_options *options,
                                              hac_error *err);
HAC_MUST_USE hac_status hac_run_give_back(hac_logic_run *run, hac_error *err);
HAC_MUST_USE hac_status hac_run_write(hac_logic_run *run, hac_error *err);
/* A piece of the reducer: the first one numbers the keys, *ids is each row's then; the others use it. */
HAC_MUST_USE hac_status hac_run_reducer_piece(hac_logic_run *run, const hac_logic_piece *piece,
                                              hac_run_vector *ids, hac_error *err);
HAC_MUST_USE hac_status hac_run_reduce(hac_logic_run *run, hac_error *err);

/* The value of an expression over Vars: its bits, of the expression's kind. Flushes where it has to. */
HAC_MUST_USE hac_status hac_run_scalar(hac_logic_run *run, const hac_logic_expression *expression,
                                       uint64_t *ret, hac_error *err);
/* A line of the process log: for the caller, and for the job's log, where it goes with the next graph. */
void hac_run_log(hac_logic_run *run, const char *fmt, ...) HAC_PRINTF(2, 3);
/* The lines of a round that was added ahead. */
void hac_run_log_lines(hac_logic_run *run, const hac_text *lines);
const char *hac_run_log_text(const hac_logic_run *run);
/* Prefixes the message with where in the file the run is; gives back `status`. */
hac_status hac_run_failed(const hac_logic_run *run, hac_status status, hac_error *err);

#endif
