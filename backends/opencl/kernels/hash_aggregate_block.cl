/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Device hash aggregation, block style. A work-item owns a chunk, with its own buckets[] and gm_pool[], and
 * takes the chunk's rows in batches and in order, so nothing waits.
 *
 *   phase 1  the chunk's first rows go into the table; their most frequent keys become the hot set
 *   phase 2  hot pairs are moved to the front of the pool. The fast memory of a CPU is its cache: sm_pool[] is the
 *            first `hot` pairs of the pool, side by side, and mem_flag[k] is k < hot. Hot pairs keep their sums: the
 *            table belongs to the chunk alone, so nothing can be counted twice.
 *
 * If the hot set catches far fewer rows than the sample promised, it is chosen again. A chunk whose pool is
 * full stops between two batches; the next launch continues with a larger pool.
 */
/* clang-format off */
#include "expr_device_ops.cl"
#include "expr_table.cl"
#include "expr_block.cl"
#include "expr_ops.cl"
#include "expr_block_run.cl"
#include "hash_layout.cl"
#include "hash_key.cl"
#include "base/exact.h"
#include "hash_misfit.cl"
/* clang-format on */

#if defined(__x86_64__) && defined(__clang__)
#define FETCH(p) __asm__ volatile("prefetcht0 %0" : : "m"(*(p)))
#else
#define FETCH(p)
#endif

#define HISTOGRAM  256 /* of reduction counts, to find the most frequent keys */
#define FIRST_LOOK 65536
#define KEYS_MAX   64 /* HAC_QUERY_KEYS_MAX */

typedef struct {
    __global const ulong *shape;
    __global uint *buckets;
    __global ulong *pool;
    __global ulong *state;
    volatile __global int *misfits;
    uint shift, mask, stride, tail, n_keys;
    uint pairs, hot, n;
    uint key[KEYS_MAX]; /* registers of the keys in one form */
    ulong hash[BATCH] __attribute__((aligned(64))); /* also read as vectors */
    uint at[BATCH];   /* where each row's pair begins */
    uint rows[BATCH]; /* which rows of the batch count */
} table;

inline ulong register_word(machine *m, uint r, uint row, uint how)
{
    return how == KEY_F32 ? (ulong)as_uint(GET_ROW(float, r)) : GET_ROW(ulong, r);
}

inline uint state_of(machine *m, uint r, uint row)
{
    return m->clean[r] ? 0 : m->states[r * BATCH + row];
}

/* The rows that count: all, or those whose filter is true. */
inline void select_rows(table *t, machine *m)
{
    ulong filter = t->shape[SHAPE_FILTER];
    uint n = 0;
    if (filter == ~0UL) {
        for (uint row = 0; row < m->rows; row++)
            t->rows[row] = row;
        t->n = m->rows;
        return;
    }
    for (uint row = 0; row < m->rows; row++) {
        t->rows[n] = row;
        n += GET_ROW(ulong, (uint)filter) == 1 && state_of(m, (uint)filter, row) == 0;
    }
    t->n = n;
}

inline void note_error(table *t, ulong row, uint state)
{
    if (t->state[STATE_STATUS] != STATUS_ERROR || row < t->state[STATE_ROW]) {
        t->state[STATE_ROW] = row;
        t->state[STATE_ERROR] = state;
    }
    t->state[STATE_STATUS] = STATUS_ERROR;
}

/* Errors among the rows that count. The filter's own errors count for every row. */
inline void check_register(table *t, machine *m, uint r, ulong first)
{
    if (m->clean[r])
        return;
    for (uint i = 0; i < t->n; i++)
        if (m->states[r * BATCH + t->rows[i]] > ROW_NULL)
            note_error(t, first + t->rows[i], m->states[r * BATCH + t->rows[i]]);
}

inline void check_errors(table *t, machine *m, ulong first)
{
    ulong filter = t->shape[SHAPE_FILTER];
    if (m->damaged != ~0UL)
        note_error(t, m->damaged, ROW_MALFORMED);
    if (filter != ~0UL && !m->clean[filter])
        for (uint row = 0; row < m->rows; row++)
            if (m->states[filter * BATCH + row] > ROW_NULL)
                note_error(t, first + row, m->states[filter * BATCH + row]);
    for (uint k = 0; k < t->n_keys; k++)
        check_register(t, m, (uint)t->shape[t->shape[SHAPE_KEYS] + 3 * k], first);
    for (uint a = 0; a < (uint)t->shape[SHAPE_N_ARGS]; a++)
        check_register(t, m, (uint)t->shape[t->shape[SHAPE_ARGS] + 2 * a], first);
}

/* Adds key `k` to the hashes of all rows of the batch, and brings equal keys to equal words. If that would
 * change the key's register, the words go to another one, since an argument may use the same register. */
inline void hash_key(table *t, machine *m, uint k)
{
    __global const ulong *key = t->shape + t->shape[SHAPE_KEYS] + 3 * k;
    uint r = (uint)key[0], how = (uint)key[1];
    ulong odd1 = m->plan[EXPR_PLAN_SEED], odd2 = m->plan[EXPR_PLAN_SEED + 1];
    t->key[k] = r;
    if (how == KEY_F32 || how == KEY_F64 || !m->clean[r]) {
        uint to = (uint)m->plan[EXPR_PLAN_REGISTERS] - t->n_keys + k;
        for (uint row = 0; row < m->rows; row++)
            PUT_ROW(ulong, to, state_of(m, r, row) != 0 ? 0 : key_word(register_word(m, r, row, how), how));
        t->key[k] = to;
    }
    ulong8 *hashes = (ulong8 *)t->hash;
    EACH
    {
        vu h = ((k == 0 ? (vu)odd2 : hashes[v]) ^ GET(vu, t->key[k])) * (vu)odd1;
        h = (h ^ (h >> 32)) * (vu)odd2;
        hashes[v] = h ^ (h >> 29);
    }
}

inline uint slot_of(const table *t, ulong h)
{
    return (uint)(h >> t->shift);
}

inline ulong null_bits(const table *t, machine *m, uint row)
{
    ulong bits = 0;
    for (uint k = 0; k < t->n_keys; k++) {
        uint r = (uint)t->shape[t->shape[SHAPE_KEYS] + 3 * k];
        bits |= (ulong)(state_of(m, r, row) == ROW_NULL) << k;
    }
    return bits;
}

inline bool same_string(machine *m, uint input, ulong a, ulong b)
{
    __global const ulong *column = m->columns + input * EXPR_COLUMN_WORDS;
    ulong at_a, n_a, at_b, n_b;
    if (!string_at(m->table, column, a, &at_a, &n_a) || !string_at(m->table, column, b, &at_b, &n_b) ||
        n_a != n_b)
        return false;
    ulong i = 0;
    for (; i + 8 <= n_a; i += 8)
        if (as_ulong(vload8(0, m->table + at_a + i)) != as_ulong(vload8(0, m->table + at_b + i)))
            return false;
    for (; i < n_a; i++)
        if (m->table[at_a + i] != m->table[at_b + i])
            return false;
    return true;
}

inline bool same_keys(const table *t, machine *m, __global const ulong *pair, uint row, ulong first)
{
    for (uint k = 0; k < t->n_keys; k++) {
        __global const ulong *key = t->shape + t->shape[SHAPE_KEYS] + 3 * k;
        if (pair[PAIR_KEYS + k] != GET_ROW(ulong, t->key[k]))
            return false;
        if (key[1] == KEY_STRING && !(pair[PAIR_NULLS] >> k & 1) &&
            !same_string(m, (uint)key[2], pair[PAIR_FIRST], first + row))
            return false;
    }
    return true;
}

inline uint insert(table *t, machine *m, uint slot, ulong h, ulong nulls, uint row, ulong first)
{
    uint at = t->pairs * t->stride;
    __global ulong *pair = t->pool + at;
    __global const ulong *empty = t->shape + t->shape[SHAPE_EMPTY];
    pair[PAIR_HASH] = h;
    pair[PAIR_FIRST] = first + row;
    pair[PAIR_NULLS] = nulls;
    for (uint k = 0; k < t->n_keys; k++)
        pair[PAIR_KEYS + k] = GET_ROW(ulong, t->key[k]);
    for (uint w = t->tail; w < t->stride; w++)
        pair[w] = empty[w - t->tail];
    t->buckets[slot] = ++t->pairs;
    return at;
}

/* From hashes to pairs. The first loop prefetches many lines, the second finds them in cache. Members that do
 * not change are copied: as far as compilers know, stores to the pool could change them. */
inline void find_pairs(table *t, machine *m, ulong first)
{
    bool simple = t->shape[SHAPE_SIMPLE] != 0, nullable = false;
    __global uint *buckets = t->buckets;
    __global ulong *pool = t->pool;
    uint n = t->n, stride = t->stride, tail = t->tail, shift = t->shift, mask = t->mask;
    for (uint k = 0; k < t->n_keys; k++)
        nullable |= !m->clean[t->shape[t->shape[SHAPE_KEYS] + 3 * k]];
    for (uint i = 0; i < n; i++) {
        uint number = buckets[(uint)(t->hash[t->rows[i]] >> shift)];
        t->at[i] = number;
        if (number != 0)
            FETCH(pool + (number - 1) * stride);
    }
    for (uint i = 0; i < n; i++) {
        uint row = t->rows[i], number = t->at[i], at;
        ulong h = t->hash[row], nulls = nullable ? null_bits(t, m, row) : 0;
        uint slot = (uint)(h >> shift);
        if (number == 0)
            number = buckets[slot];
        for (;;) {
            if (number == 0) {
                at = insert(t, m, slot, h, nulls, row, first);
                break;
            }
            at = (number - 1) * stride;
            __global const ulong *pair = pool + at;
            if (pair[PAIR_HASH] == h && pair[PAIR_NULLS] == nulls &&
                (simple || same_keys(t, m, pair, row, first)))
                break;
            slot = (slot + 1) & mask;
            number = buckets[slot];
        }
        t->at[i] = at;
        pool[at + tail]++;
    }
}

#define REDUCE(T, R, value, reduce)                                                                          \
    {                                                                                                        \
        __global const R *values = (__global const R *)(m->values + r * BATCH);                              \
        __global const uchar *row_states = m->states + r * BATCH;                                            \
        __global ulong *pool = t->pool + place;                                                              \
        uint n = t->n;                                                                                       \
        for (uint i = 0; i < n; i++) {                                                                       \
            uint row = t->rows[i];                                                                           \
            if (clean || row_states[row] == 0) {                                                             \
                __global ulong *acc = pool + t->at[i];                                                       \
                R v = values[row];                                                                           \
                T x = (value);                                                                               \
                reduce;                                                                                      \
            }                                                                                                \
        }                                                                                                    \
    }                                                                                                        \
    break;

#define LEAST(T)    (*(__global T *)acc = min(*(__global T *)acc, x))
#define GREATEST(T) (*(__global T *)acc = max(*(__global T *)acc, x))

#ifdef cl_khr_fp64
inline long order_of(double d)
{
    long bits = as_long(d);
    return isnan(d) ? 0x7fffffffffffffffL : bits ^ (long)((ulong)(bits >> 63) >> 1);
}
#endif

/* Adds an f64 to a window. */
inline void add_exact(table *t, uint a, int unit, __global ulong *acc, ulong bits)
{
    ulong words[HAC_EXACT_SUM_WORDS], low;
    if (!hac_exact_fits(bits, unit, HAC_EXACT_SUM_REACH)) {
        t->state[STATE_MISFITS] = 1;
        note_misfit(t->misfits, t->shape, a, bits);
        return;
    }
    hac_exact_words(bits, unit, words);
    low = acc[0] + words[0];
    acc[1] += words[1] + (low < words[0]);
    acc[0] = low;
}

/* `a` is the accumulator's number. */
inline void reduce(table *t, machine *m, uint a)
{
    __global const ulong *figures = t->shape + t->shape[SHAPE_ACCS] + 4 * a;
    const uint kind = (uint)figures[0], r = (uint)figures[1], place = (uint)figures[2];
    const int unit = (int)(long)figures[3];
    bool clean = m->clean[r];
    switch (kind) {
    case ACC_SUM_SIGNED:
        REDUCE(long, long, v, {
            ulong low = acc[0] + (ulong)x;
            ulong more = (ulong)(x >> 63) + (low < (ulong)x);
            if (more != 0)
                acc[1] += more;
            acc[0] = low;
        })
    case ACC_SUM_UNSIGNED:
        REDUCE(ulong, ulong, v, {
            ulong low = acc[0] + x;
            acc[1] += low < x;
            acc[0] = low;
        })
    case ACC_MIN_SIGNED:
        REDUCE(long, long, v, LEAST(long))
    case ACC_MIN_UNSIGNED:
        REDUCE(ulong, ulong, v, LEAST(ulong))
    case ACC_MAX_SIGNED:
        REDUCE(long, long, v, GREATEST(long))
    case ACC_MAX_UNSIGNED:
        REDUCE(ulong, ulong, v, GREATEST(ulong))
    case ACC_SUM_F64:
        REDUCE(ulong, ulong, v, add_exact(t, a, unit, acc, x))
#ifdef cl_khr_fp64
    case ACC_MIN_F32:
        REDUCE(long, float, order_of((double)v), LEAST(long))
    case ACC_MIN_F64:
        REDUCE(long, double, order_of(v), LEAST(long))
    case ACC_MAX_F32:
        REDUCE(long, float, order_of((double)v), GREATEST(long))
    case ACC_MAX_F64:
        REDUCE(long, double, order_of(v), GREATEST(long))
#endif
    }
}

inline void count_nulls(table *t, machine *m, uint r, uint place)
{
    if (m->clean[r])
        return;
    for (uint i = 0; i < t->n; i++)
        t->pool[t->at[i] + place] += m->states[r * BATCH + t->rows[i]] == ROW_NULL;
}

inline void reduce_all(table *t, machine *m)
{
    __global const ulong *args = t->shape + t->shape[SHAPE_ARGS];
    for (uint a = 0; a < (uint)t->shape[SHAPE_N_ARGS]; a++)
        count_nulls(t, m, (uint)args[2 * a], (uint)args[2 * a + 1]);
    for (uint a = 0; a < (uint)t->shape[SHAPE_N_ACCS]; a++)
        reduce(t, m, a);
}

/* Fills buckets[] again from the pool. */
inline void index_pool(table *t)
{
    for (uint s = 0; s <= t->mask; s++)
        t->buckets[s] = 0;
    for (uint p = 0; p < t->pairs; p++) {
        uint slot = slot_of(t, t->pool[p * t->stride + PAIR_HASH]);
        while (t->buckets[slot] != 0)
            slot = (slot + 1) & t->mask;
        t->buckets[slot] = p + 1;
    }
}

inline void swap_pairs(table *t, uint a, uint b)
{
    for (uint w = 0; w < t->stride; w++) {
        ulong x = t->pool[a * t->stride + w];
        t->pool[a * t->stride + w] = t->pool[b * t->stride + w];
        t->pool[b * t->stride + w] = x;
    }
}

inline uint frequency(const table *t, uint p)
{
    return (uint)min(t->pool[p * t->stride + t->tail], (ulong)HISTOGRAM - 1);
}

/* The `share` per mille most frequent keys, at most `most`, become the first pairs of the pool. */
inline void choose_hot(table *t, uint share, uint max_hot)
{
    uint seen[HISTOGRAM];
    uint wanted = (uint)min((ulong)max_hot, max((ulong)t->pairs * share / 1000, (ulong)1));
    for (uint i = 0; i < HISTOGRAM; i++)
        seen[i] = 0;
    for (uint p = 0; p < t->pairs; p++)
        seen[frequency(t, p)]++;
    uint fewest = HISTOGRAM - 1, above = 0;
    while (fewest > 1 && above + seen[fewest] <= wanted)
        above += seen[fewest--];
    uint equal = wanted > above ? wanted - above : 0;
    ulong covered = 0;
    t->hot = 0;
    for (uint p = 0; p < t->pairs && t->hot < wanted; p++) {
        uint f = frequency(t, p);
        if (f < fewest || (f == fewest && equal == 0))
            continue;
        equal -= f == fewest;
        covered += t->pool[p * t->stride + t->tail];
        if (p != t->hot)
            swap_pairs(t, p, t->hot);
        t->hot++;
    }
    index_pool(t);
    t->state[STATE_COVERED] = covered;
    t->state[STATE_SAMPLED] = t->state[STATE_KEPT];
    t->state[STATE_SINCE] = t->state[STATE_SINCE_HITS] = 0;
    if (t->state[STATE_CHOSEN]++ == 0) {
        t->state[STATE_FIRST] = t->state[STATE_SAMPLED];
        t->state[STATE_FIRST + 1] = covered;
    }
}

inline void count_hits(table *t)
{
    ulong hits = 0;
    for (uint i = 0; i < t->n; i++)
        hits += t->at[i] < t->hot * t->stride;
    t->state[STATE_HITS] += hits;
    t->state[STATE_BEHIND] += t->n;
    t->state[STATE_SINCE_HITS] += hits;
    t->state[STATE_SINCE] += t->n;
}

/* Whether there were far fewer hits since the last check than the sample promised, so that the hot set must
 * be chosen again. Checks become rarer each time, since choosing takes time, too. */
inline void look_at_hits(table *t, uint share, uint max_hot)
{
    ulong round = t->state[STATE_ROUND];
    if (t->state[STATE_SINCE] < round)
        return;
    /* a set that should catch few rows promises too much: its keys were in the sample by luck */
    if (t->state[STATE_COVERED] * 4 > t->state[STATE_SAMPLED] &&
        t->state[STATE_SINCE_HITS] * t->state[STATE_SAMPLED] * 2 <
            t->state[STATE_COVERED] * t->state[STATE_SINCE]) {
        choose_hot(t, share, max_hot);
        t->state[STATE_ROUND] = 2 * round;
    }
    t->state[STATE_SINCE] = t->state[STATE_SINCE_HITS] = 0;
}

/* Aggregates the rows of the batch that count. */
inline void take_in(table *t, machine *m, ulong first)
{
    find_pairs(t, m, first);
    reduce_all(t, m);
    if (t->state[STATE_CHOSEN] != 0)
        count_hits(t);
}

/* Only keys of one range of hashes are taken. */
inline void keep_pass(table *t, uint pass, uint passes)
{
    uint n = 0;
    for (uint i = 0; i < t->n; i++) {
        t->rows[n] = t->rows[i];
        n += (t->hash[t->rows[i]] & 0xffffffffu) * passes >> 32 == pass;
    }
    t->n = n;
}

/*
 * Work-item g does chunk g. The chunk's state says which rows are to be done and what was done. Its buckets
 * are at g × 2^bucket_bits, its pool at g × pool_pairs pairs. A state that is zero except for what the host
 * sets begins a chunk; any other state continues one. `hot_share` per mille of phase 1's keys, at most
 * `hot_most`, are hot. `misfits`: see hash_layout.cl.
 */
__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void
aggregate_chunks(__global const ulong *plan, __global const uchar *rows_of, __global const ulong *shape,
                 uint bucket_bits, uint pool_pairs, __global uint *buckets, __global ulong *pool,
                 __global ulong *states, uint pass, uint passes, uint hot_share, uint hot_most,
                 volatile __global int *misfits, __global uchar *scratch, ulong scratch_bytes)
{
    ulong g = get_group_id(0);
    machine own_machine, *m = &own_machine;
    table own_table, *t = &own_table;
    machine_begin(m, plan, rows_of, scratch + g * scratch_bytes);
    t->shape = shape;
    t->stride = (uint)shape[SHAPE_STRIDE];
    t->tail = (uint)shape[SHAPE_TAIL];
    t->n_keys = (uint)shape[SHAPE_N_KEYS];
    t->buckets = buckets + (g << bucket_bits);
    t->mask = (1u << bucket_bits) - 1;
    t->shift = 64 - bucket_bits;
    t->pool = pool + g * pool_pairs * t->stride;
    t->state = states + g * STATE_WORDS;
    t->misfits = misfits;
    m->columns = columns_at(plan, rows_of, t->state[STATE_COLUMNS]);
    t->pairs = (uint)t->state[STATE_PAIRS];
    t->hot = (uint)t->state[STATE_HOT];
    ulong from = t->state[STATE_FROM], rows = t->state[STATE_ROWS], sample = t->state[STATE_SAMPLE];
    ulong done = t->state[STATE_NEXT];
    if (done >= rows)
        return;
    index_pool(t);
    t->state[STATE_STATUS] = STATUS_DONE;
    if (t->state[STATE_ROUND] == 0)
        t->state[STATE_ROUND] = FIRST_LOOK;
    while (done < rows) {
        if (sample != 0 && done >= sample && t->state[STATE_CHOSEN] == 0)
            choose_hot(t, hot_share, hot_most);
        uint n = (uint)min((ulong)BATCH, rows - done);
        if (pool_pairs - t->pairs < n) {
            t->state[STATE_STATUS] = STATUS_FULL;
            break;
        }
        machine_run(m, from + done, n);
        select_rows(t, m);
        check_errors(t, m, from + done);
        if (t->state[STATE_STATUS] == STATUS_ERROR)
            break;
        for (uint i = 0; t->n_keys == 0 && i < BATCH; i++)
            t->hash[i] = 0;
        for (uint k = 0; k < t->n_keys; k++)
            hash_key(t, m, k);
        if (passes > 1)
            keep_pass(t, pass, passes);
        take_in(t, m, from + done);
        t->state[STATE_KEPT] += t->n;
        done += n;
        if (t->state[STATE_CHOSEN] != 0)
            look_at_hits(t, hot_share, hot_most);
    }
    t->state[STATE_NEXT] = done;
    t->state[STATE_PAIRS] = t->pairs;
    t->state[STATE_HOT] = t->hot;
}
