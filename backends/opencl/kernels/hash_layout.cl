/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the kernels of hash.aggregate and their C side (codelets/hash_aggregate.c) agree on.
 *
 * A pair of a pool is a row of 64-bit words: HASH, FIRST (the row it was made for: it stands for the key's
 * bytes), NULLS (a bit a key), the keys, and from `tail` on what aggregates need, laid out as a group's
 * record is in partials: rows, nulls of each argument, accumulators.
 *
 * The shape, 64-bit words:
 *   0 …     SHAPE_…
 *   keys    three words a key: register, how to make equal values equal (KEY_…), input of a string key
 *   args    two words an argument: register, place of its count of nulls in a pair
 *   accs    four words an accumulator: ACC_…, register, place in a pair, argument
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
#define SHAPE_FILTER 9  /* register, all ones: none */
#define SHAPE_SIMPLE 10 /* 1: equal hashes and null bits are equal keys: one key that is no string */
#define SHAPE_WORDS  16

#define KEY_PLAIN  0
#define KEY_F32    1
#define KEY_F64    2
#define KEY_STRING 3

#define ACC_SUM_SIGNED   0 /* two words: 128 bits */
#define ACC_SUM_UNSIGNED 1
#define ACC_SUM_F32      2 /* one word: f64 */
#define ACC_SUM_F64      3
#define ACC_MIN_SIGNED   4
#define ACC_MIN_UNSIGNED 5
#define ACC_MIN_F32      6 /* f64 as an integer of the same order */
#define ACC_MIN_F64      7
#define ACC_MAX_SIGNED   8
#define ACC_MAX_UNSIGNED 9
#define ACC_MAX_F32      10
#define ACC_MAX_F64      11

/* The state of a chunk, or of a work-group; 64-bit words. */
#define STATE_NEXT       0 /* rows that are done */
#define STATE_PAIRS      1 /* in the pool */
#define STATE_STATUS     2 /* STATUS_… */
#define STATE_ROW        3 /* of the first error; its state */
#define STATE_ERROR      4
#define STATE_KEPT       5  /* rows behind the filter */
#define STATE_HOT        6  /* keys in the hot set */
#define STATE_HITS       7  /* reductions into hot pairs */
#define STATE_SAMPLED    8  /* rows behind the filter that the hot set was chosen from */
#define STATE_COVERED    9  /* those of them whose key became hot */
#define STATE_CHOSEN     10 /* how often the hot set was chosen */
#define STATE_SINCE      11 /* rows and hits since then */
#define STATE_SINCE_HITS 12
#define STATE_PROBED     13 /* of the rule by which partials stop aggregating: rows; new keys of the run */
#define STATE_NEW        14
#define STATE_ROUND      15 /* rows after which the hot set is looked at again */
#define STATE_BEHIND     16 /* rows behind the filter in phase 2 */
#define STATE_FIRST      17 /* SAMPLED and COVERED of the first choice: of phase 1 */
#define STATE_FROM       19 /* set by the host: the chunk's first row, its rows, those of phase 1 (0: no hot keys) */
#define STATE_ROWS       20
#define STATE_SAMPLE     21
#define STATE_COLUMNS    22 /* likewise: byte of the rows where the words of their columns are; ~0: the plan's */
#define STATE_WORDS      24

#define STATUS_DONE    0
#define STATUS_FULL    1 /* more pairs than the pool has room for: go on with a larger one */
#define STATUS_ERROR   2
#define STATUS_WINDOWS 3 /* the rule says that the chunk's rows are not to be aggregated further */

/* Lock-step style. */
#define MEM_FLAG          0x80000000u /* in a bucket: its pair is in sm_pool[] */
#define PROBES_MAX        96          /* slots that a look-up passes at most */
#define THREAD_GROUP      32
#define THREAD_GROUPS_MAX 32 /* N / 32 */

/* Counters of a block: 32-bit words in global memory, added up by the host. */
#define BLOCK_KEPT    0
#define BLOCK_HITS    1
#define BLOCK_FULL    2 /* pairs that found no room: the chunk is done again with larger tables */
#define BLOCK_ROW     3 /* first row in error: 8 × its number in the launch + its state; all ones: none */
#define BLOCK_SM_USED 4 /* sm_offset between launches */
#define BLOCK_CANARY  5 /* see canary() */
#define BLOCK_LOCAL   6 /* reductions into local memory; BLOCK_HITS are those of them into hot pairs */
#define BLOCK_FAR     7 /* the most slots between a pair's home and its bucket, so far */
#define BLOCK_GM_USED 8 /* gm_offset of each thread group between launches; of a merge one, block 0's */
#define BLOCK_WORDS   64
