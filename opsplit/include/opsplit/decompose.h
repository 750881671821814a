/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The decomposition of flow D: which sub-operators an OP becomes, and which component of the vectors, or
 * which iterations of a loop, each of them gets, in which order.
 *
 * - Every piece that a library knows is a sub-operator, one that none knows an exception sub-operator. An OP
 *   without any that a library knows is placed as a whole: one sub-operator, one component.
 * - In a dependent chain A → B → D every component passes through all, in order, pipelined: component c is at
 *   depth d in slot c + d.
 * - Sub-operators that do not depend on each other work side by side and begin with a component each: the
 * j-th of them takes component (r + j) mod N in round r, so that all components get their turn with every
 * one.
 * - An independent loop becomes sub-loops: equal parts of its iterations; a dependent one stays one, round by
 *   round.
 *
 * Pure data: made from a checked logic file and sizes, without devices; placing is hacd's.
 */
#ifndef OPSPLIT_DECOMPOSE_H
#define OPSPLIT_DECOMPOSE_H

#include "opsplit/logic.h"
#include "opsplit/placement.h"

/* ---- components ---------------------------------------------------------------------------------- */

/* A job takes no more of one sub-operator, however finely it is to be cut. */
#define HAC_COMPONENTS_MAX 64

typedef struct hac_component_range {
    uint64_t first, count;
} hac_component_range;

/*
 * Component `i` of `n` of `rows` rows, by range: their sizes differ by at most one `grain` (the last one may
 * be less). Ranges begin at multiples of the grain (0, 1: any row), so that blocks of sums are not cut.
 */
hac_component_range hac_component_of_rows(uint64_t rows, unsigned n, uint64_t grain, unsigned i);

/*
 * The same by weight, of rows [first, end), first a multiple of the grain: `sums`[r] is the weight of all
 * rows before r (hac_weight_sums). Sums of components differ by at most one row's weight (and the grain).
 */
hac_component_range hac_component_by_weight(const double *sums, uint64_t first, uint64_t end, unsigned n,
                                            uint64_t grain, unsigned i);
/* From the weights of `rows` rows: `sums` has room for rows + 1. What is negative, infinite or NaN counts as
 * 0; where nothing weighs anything, all rows weigh alike. */
void hac_weight_sums(const double *weights, uint64_t rows, double *sums);

/* The component of a row where components are no ranges. `value`: the row's bits (HASH; of text a hash of it)
 * or what the expression gave (EXPRESSION, as i64). */
unsigned hac_component_of_row(hac_partitioner partitioner, uint64_t row, uint64_t value, unsigned n);

/* ---- sub-loops ----------------------------------------------------------------------------------- */

/* Iterations of [from, to) by `by` (not 0); 0 when there are none. */
uint64_t hac_loop_iterations(int64_t from, int64_t to, int64_t by);
/* Sub-loop `i` of `n`: numbers of iterations, [first, first + count); iteration k has the index from + k ×
 * by. 0 … 10 in 5: [0,2) [2,4) [4,6) [6,8) [8,10). */
hac_component_range hac_sub_loop(uint64_t iterations, unsigned n, unsigned i);

/* ---- steps --------------------------------------------------------------------------------------- */

typedef enum hac_suboperator_kind {
    HAC_SUBOPERATOR_LIBRARY = 0,
    HAC_SUBOPERATOR_USER,
    HAC_SUBOPERATOR_EXCEPTION,
    HAC_SUBOPERATOR_WHOLE, /* an OP that no library knows a piece of */
    HAC_SUBOPERATOR_LOOP   /* a loop; its components are sub-loops */
} hac_suboperator_kind;

/* What a sub-operator waits for: an earlier one of its step. */
typedef struct hac_dependency {
    size_t on;
    bool whole; /* all components of it; else component c waits for component c */
} hac_dependency;

/* How a piece is cut into components, and which rows each of them gets. */
typedef struct hac_piece_cut {
    unsigned components; /* 1: it is not cut */
    /* RANGE: ranges of equal length. WEIGHT: ranges of equal weight. Else rows go to components one by one,
     * which is possible where a row of the results needs the same row of dense operands, and no more. */
    hac_partitioner partitioner;
    int vector;      /* that states the partitioner, or `files`: the numbers of an input's files; -1: none */
    bool files;      /* ranges end where a file ends (DirMap) */
    bool everywhere; /* every rank has all of the rows (GlobalMap) */
} hac_piece_cut;

/* A sub-operator of a step: a node of the step's graph. */
typedef struct hac_suboperator {
    hac_suboperator_kind kind;
    const char *name;             /* of the piece, the OP or the loop */
    const hac_logic_piece *piece; /* NULL: WHOLE, LOOP */
    unsigned depth;               /* length of the longest chain of sub-operators before it */
    unsigned lane;                /* its place among those of its depth */
    unsigned components;          /* that it is cut into; 1: it is not */
    hac_piece_cut cut;            /* of what has a piece */
    hac_dependency *after;
    size_t n_after;
} hac_suboperator;

/* One sub-operator over one component: what becomes a task. Parts are in the order in which a single worker
 * would take them: by slot, then by sub-operator; none waits for one behind it. */
typedef struct hac_part {
    size_t suboperator;
    unsigned component;
    unsigned slot; /* with a worker for each sub-operator: when it would run */
} hac_part;

typedef struct hac_decomposed_step {
    const hac_logic_step *step;
    unsigned components;
    hac_suboperator *suboperators;
    size_t n_suboperators;
    hac_part *parts;
    size_t n_parts;
    unsigned slots;
    hac_component_range *sub_loops; /* of FOR: iterations of each component, when they are known; else NULL */
    struct hac_decomposed_step *body, *otherwise; /* of control */
    size_t n_body, n_otherwise;
} hac_decomposed_step;

typedef struct hac_decomposition {
    const hac_logic *logic;     /* borrowed */
    hac_decomposed_step *steps; /* the reducer, if there is one, is the last */
    size_t n_steps;
} hac_decomposition;

typedef struct hac_decompose_options {
    unsigned components; /* of vectors whose split is not stated, and of independent loops; 0: 1 */
    unsigned threads;    /* of a node, for TaskMap and DirMap; 0: 1 */
} hac_decompose_options;
/* The processors of this node, at most 64. */
unsigned hac_node_threads(void);

/*
 * As many components as one of the piece's vectors states, or else one with as many rows as one of them; else
 * options->components, of TaskMap and DirMap options->threads if there are none. One: it works on single
 * values, needs everything at once, or its OP is a GlobalMap.
 */
hac_piece_cut hac_piece_cut_of(const hac_logic *logic, hac_operation operation, const hac_logic_piece *piece,
                               const hac_decompose_options *options);

/* One step by itself, as a runtime takes it; ret is cleared by hac_decomposed_step_clear. */
HAC_MUST_USE hac_status hac_decompose_step(const hac_logic *logic, const hac_logic_step *step,
                                           const hac_decompose_options *options, hac_decomposed_step *ret,
                                           hac_error *err);
void hac_decomposed_step_clear(hac_decomposed_step *step);

/* The whole file. options may be NULL. */
HAC_MUST_USE hac_status hac_decompose(const hac_logic *logic, const hac_decompose_options *options,
                                      hac_decomposition **ret, hac_error *err);
void hac_decomposition_free(hac_decomposition *decomposition);

/* For `explain`: text, and as a JSON value under `key` (NULL: at the top). `rows`: of each dimension of the
 * logic file, UINT64_MAX where it is not known; NULL: none is. Components are row ranges where rows are
 * known. `placement`: where each sub-operator would run and why; NULL: that is left out. */
void hac_decomposition_print(const hac_decomposition *decomposition, const uint64_t *rows,
                             const hac_placement *placement, hac_text *ret);
void hac_decomposition_json(const hac_decomposition *decomposition, const uint64_t *rows,
                            const hac_placement *placement, const char *key, hac_text *ret);

#endif
