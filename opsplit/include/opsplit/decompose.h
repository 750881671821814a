/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The decomposition of a logic file: the sub-operators of each OP, the component of the vectors or the
 * iterations of a loop that each of them gets, and their order.
 *
 * - A piece of a library is a sub-operator. A piece of no library is an exception sub-operator. An OP with
 *   exception sub-operators only is placed as a whole: one sub-operator, one component.
 * - In a dependent chain A → B → D each component passes through all sub-operators in order, as in a
 *   pipeline: component c is at depth d in slot c + d.
 * - Independent sub-operators run side by side, each with a component of its own: in round r the j-th of them
 *   takes component (r + j) mod N, so that each gets every component once.
 * - An independent loop becomes sub-loops with equal parts of its iterations. A dependent loop runs round by
 * round.
 *
 * The decomposition is pure: it depends on a checked logic file and sizes, not on devices. hacd places the
 * parts.
 */
#ifndef OPSPLIT_DECOMPOSE_H
#define OPSPLIT_DECOMPOSE_H

#include "opsplit/logic.h"
#include "opsplit/placement.h"

/* ---- components ---------------------------------------------------------------------------------- */

/* The maximum number of components of one sub-operator in a job. */
#define HAC_COMPONENTS_MAX 64

typedef struct hac_component_range {
    uint64_t first, count;
} hac_component_range;

/* Component `i` of `n` of `rows` rows, by range. Sizes differ by at most one `grain`; the last component
 * may be shorter. Components begin at multiples of the grain (0 and 1: at any row), so that blocks of sums
 * are not split. */
hac_component_range hac_component_of_rows(uint64_t rows, unsigned n, uint64_t grain, unsigned i);

/* Component `i` of `n` of rows [first, end) by weight. `first` is a multiple of the grain. sums[r] is the
 * weight of all rows before r (hac_weight_sums). The weights of components differ by at most one row's
 * weight, plus the grain. */
hac_component_range hac_component_by_weight(const double *sums, uint64_t first, uint64_t end, unsigned n,
                                            uint64_t grain, unsigned i);
/* Sums up the weights of `rows` rows; `sums` has room for rows + 1. A weight that is negative, infinite or
 * NaN counts as 0. If the total is 0, all rows weigh the same. */
void hac_weight_sums(const double *weights, uint64_t rows, double *sums);

/* The component of one row, for partitioners that do not give ranges. `value`: for HASH the bits of the
 * row (of text a hash), for EXPRESSION the value of the expression (i64). */
unsigned hac_component_of_row(hac_partitioner partitioner, uint64_t row, uint64_t value, unsigned n);

/* ---- sub-loops ----------------------------------------------------------------------------------- */

/* The number of iterations from `from` to `to`, which is not included, by `by` (not 0). */
uint64_t hac_loop_iterations(int64_t from, int64_t to, int64_t by);
/* Sub-loop `i` of `n`: iterations [first, first + count). Iteration k has the index from + k × by. For
 * example, 0 … 10 in 5: [0,2) [2,4) [4,6) [6,8) [8,10). */
hac_component_range hac_sub_loop(uint64_t iterations, unsigned n, unsigned i);

/* ---- steps --------------------------------------------------------------------------------------- */

typedef enum hac_suboperator_kind {
    HAC_SUBOPERATOR_LIBRARY = 0,
    HAC_SUBOPERATOR_USER,
    HAC_SUBOPERATOR_EXCEPTION,
    HAC_SUBOPERATOR_WHOLE, /* an OP without any piece of a library */
    HAC_SUBOPERATOR_LOOP   /* a loop; its components are sub-loops */
} hac_suboperator_kind;

/* An earlier sub-operator of the step that has to run before. */
typedef struct hac_dependency {
    size_t on;
    bool whole; /* on all of its components; false: component c depends on component c */
} hac_dependency;

/* How a piece is split into components, and which rows each component gets. */
typedef struct hac_piece_cut {
    unsigned components; /* 1: the piece is not split */
    /* RANGE: ranges of equal length. WEIGHT: ranges of equal weight. The others assign single rows, which
     * needs a sub-operator whose result row depends only on the same row of dense operands. */
    hac_partitioner partitioner;
    int vector;      /* the vector that states the partitioner, or the numbers of files (`files`); -1: none */
    bool files;      /* ranges end where a file ends (DirMap) */
    bool everywhere; /* every rank has all rows (GlobalMap) */
} hac_piece_cut;

/* A sub-operator of a step: a node of the step's graph. */
typedef struct hac_suboperator {
    hac_suboperator_kind kind;
    const char *name;             /* of the piece, the OP or the loop */
    const hac_logic_piece *piece; /* NULL for WHOLE and LOOP */
    unsigned depth;               /* length of the longest chain of sub-operators before this one */
    unsigned lane;                /* its place among the sub-operators of the same depth */
    unsigned components;          /* 1: it is not split */
    hac_piece_cut cut;            /* of a sub-operator with a piece */
    hac_dependency *after;
    size_t n_after;
} hac_suboperator;

/* One sub-operator over one component; it becomes a task. Parts are in the order in which a single worker
 * would run them: by slot, then by sub-operator. No part depends on a later one. */
typedef struct hac_part {
    size_t suboperator;
    unsigned component;
    unsigned slot; /* when it would run if each sub-operator had a worker */
} hac_part;

typedef struct hac_decomposed_step {
    const hac_logic_step *step;
    unsigned components;
    hac_suboperator *suboperators;
    size_t n_suboperators;
    hac_part *parts;
    size_t n_parts;
    unsigned slots;
    /* Of FOR: the iterations of each component, if they are known; else NULL. */
    hac_component_range *sub_loops;
    struct hac_decomposed_step *body, *otherwise; /* of control flow */
    size_t n_body, n_otherwise;
} hac_decomposed_step;

typedef struct hac_decomposition {
    const hac_logic *logic;     /* borrowed */
    hac_decomposed_step *steps; /* the last step is the reducer, if there is one */
    size_t n_steps;
} hac_decomposition;

typedef struct hac_decompose_options {
    unsigned components; /* of vectors that do not state their split, and of independent loops; 0: 1 */
    unsigned threads;    /* threads of a node, for TaskMap and DirMap; 0: 1 */
} hac_decompose_options;
/* The processors of this node, at most 64. */
unsigned hac_node_threads(void);

/* The number of components of a piece: as many as one of its vectors states, or else a vector with the
 * same rows; otherwise options->threads for TaskMap and DirMap, and options->components for the rest. A
 * piece is not split if it works on single values, if it needs all rows at once, or if its OP is a
 * GlobalMap. */
hac_piece_cut hac_piece_cut_of(const hac_logic *logic, hac_operation operation, const hac_logic_piece *piece,
                               const hac_decompose_options *options);

/* Decomposes one step, as a runtime takes it. Clear *ret with hac_decomposed_step_clear. */
HAC_MUST_USE hac_status hac_decompose_step(const hac_logic *logic, const hac_logic_step *step,
                                           const hac_decompose_options *options, hac_decomposed_step *ret,
                                           hac_error *err);
void hac_decomposed_step_clear(hac_decomposed_step *step);

/* Decomposes the whole file. options may be NULL. */
HAC_MUST_USE hac_status hac_decompose(const hac_logic *logic, const hac_decompose_options *options,
                                      hac_decomposition **ret, hac_error *err);
void hac_decomposition_free(hac_decomposition *decomposition);

/* Prints a decomposition for `explain`, as text or as a JSON value under `key` (NULL: at the top). `rows`:
 * the number of rows of each dimension of the logic file, UINT64_MAX if it is not known; NULL: none is
 * known. Components are printed as row ranges where rows are known. `placement`: where each sub-operator
 * would run and why; NULL: not printed. */
void hac_decomposition_print(const hac_decomposition *decomposition, const uint64_t *rows,
                             const hac_placement *placement, hac_text *ret);
void hac_decomposition_json(const hac_decomposition *decomposition, const uint64_t *rows,
                            const hac_placement *placement, const char *key, hac_text *ret);

#endif
