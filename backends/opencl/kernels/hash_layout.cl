/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the kernels of hash.aggregate and their C side (codelets/hash) agree on.
 *
 * A pair of a pool is a row of 64-bit words: HASH, FIRST (the row for which it was made; this row has the
 * key's bytes), NULLS (a bit for each key), the keys, and from `tail` on the aggregates' words, laid out like
 * a group's record in partials: rows, nulls of each argument, accumulators.
 *
 * The shape, in 64-bit words:
 *   0 …     SHAPE_…
 *   keys    three words a key: register, how to make equal values equal (KEY_…), input of a string key
 *   args    two words an argument: register, place of its count of nulls in a pair
 *   accs    four words an accumulator: ACC_…, register, place in a pair, unit of its window (base/exact.h)
 *   empty   the tail of a pair without rows
 */
#define PAIR_HASH  0
#define PAIR_FIRST 1
#define PAIR_NULLS 2
#define PAIR_KEYS  3

#define SHAPE_STRIDE 0 /* words of a pair */
#define SHAPE_TAIL   1
#define SHAPE_N_KEYS 2
#define SHAPE_N_ARGS 3
#define SHAPE_N_ACCS 4
#define SHAPE_KEYS   5 /* where each part begins */
#define SHAPE_ARGS   6
#define SHAPE_ACCS   7
#define SHAPE_EMPTY  8
#define SHAPE_FILTER 9  /* register; all ones: none */
#define SHAPE_SIMPLE 10 /* 1: equal hashes and equal null bits mean equal keys: one key that is no string */
#define SHAPE_WORDS  16

#define KEY_PLAIN  0
#define KEY_F32    1
#define KEY_F64    2
#define KEY_STRING 3

#define ACC_SUM_SIGNED   0 /* two words: 128 bits */
#define ACC_SUM_UNSIGNED 1
#define ACC_SUM_F64      3 /* a window of two words (base/exact.h) */
#define ACC_MIN_SIGNED   4
#define ACC_MIN_UNSIGNED 5
#define ACC_MIN_F32      6 /* f64 as an integer with the same order */
#define ACC_MIN_F64      7
#define ACC_MAX_SIGNED   8
#define ACC_MAX_UNSIGNED 9
#define ACC_MAX_F32      10
#define ACC_MAX_F64      11

/* The state of a chunk, or of a work-group, in 64-bit words. */
#define STATE_NEXT       0 /* finished rows */
#define STATE_PAIRS      1 /* pairs in the pool */
#define STATE_STATUS     2 /* STATUS_… */
#define STATE_ROW        3 /* of the first error, and its state */
#define STATE_ERROR      4
#define STATE_KEPT       5  /* rows that passed the filter */
#define STATE_HOT        6  /* keys in the hot set */
#define STATE_HITS       7  /* reductions into hot pairs */
#define STATE_SAMPLED    8  /* rows that passed the filter and from which the hot set was chosen */
#define STATE_COVERED    9  /* those whose key became hot */
#define STATE_CHOSEN     10 /* how often the hot set was chosen */
#define STATE_SINCE      11 /* rows and hits since then */
#define STATE_SINCE_HITS 12
#define STATE_ROUND      15 /* rows after which the hot set is checked again */
#define STATE_BEHIND     16 /* rows of phase 2 that passed the filter */
#define STATE_FIRST      17 /* SAMPLED and COVERED of the first choice, in phase 1 */
/* set by the host: the chunk's first row, its rows, and those of phase 1 (0: no hot keys) */
#define STATE_FROM       19
#define STATE_ROWS       20
#define STATE_SAMPLE     21
#define STATE_MISFITS    13 /* 1: a value fits no window */
#define STATE_COLUMNS    22 /* set by the host: offset of the words of the rows' columns; ~0: the plan's */
#define STATE_WORDS      24

#define STATUS_DONE  0
#define STATUS_FULL  1 /* the pool is full: continue with a larger one */
#define STATUS_ERROR 2

/* Values of float sums that fit no window: for each accumulator the lowest and the highest exponent of those that
 * are finite; behind the last accumulator, whether any of the others was seen. 32-bit words in global memory. */
#define MISFIT_LOW  0
#define MISFIT_HIGH 1
#define MISFIT_INTS 2

/* Lock-step style. */
#define MEM_FLAG          0x80000000u /* in a bucket: its pair is in sm_pool[] */
#define PROBES_MAX        96          /* maximum slots that a lookup passes */
#define THREAD_GROUP      32
#define THREAD_GROUPS_MAX 32 /* N / 32 */

/* Counters of a block: 32-bit words in global memory, which the host adds up. */
#define BLOCK_KEPT    0
#define BLOCK_HITS    1
#define BLOCK_FULL    2 /* pairs without a place: the chunk is repeated with larger tables */
#define BLOCK_ROW     3 /* first row in error: 8 × its number in the launch + its state; all ones: none */
#define BLOCK_SM_USED 4 /* sm_offset between launches */
#define BLOCK_CANARY  5 /* see canary() */
#define BLOCK_LOCAL   6 /* reductions in local memory; BLOCK_HITS counts those into hot pairs */
#define BLOCK_FAR     7 /* the maximum number of slots between a pair's home and its bucket so far */
#define BLOCK_GM_USED 8 /* gm_offset of each thread group between launches; a merge has one, in block 0 */
#define BLOCK_WORDS   64
