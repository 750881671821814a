/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Device hash aggregation, lock-step style: GPU MapReduce with one pool of fast (local) and global memory.
 *
 * Blocks are work-groups, b of Bs; threads are work-items, t of N; threads form groups of 32, g = t / 32.
 * Every block has buckets[] and gm_pool[] in global memory, which live as long as the chunk, and sm_pool[] in
 * local memory, which lives as long as a launch; between launches its contents are kept in the block's
 * sm_rest[]. A bucket holds 1 + the number of a pair, and in its top bit mem_flag[] of that pair: one
 * compare-and-swap changes both.
 *
 *   aggregate_rows    phases 1 and 2: rows first + b·N + t, + Bs·N, … below `end`
 *   aggregate_merge   the blocks' pairs into the global result: work-group b merges hash range b of all blocks, so
 *                     no two work-groups write to the same place
 *
 * Nothing waits for another work-item. Reads of the tables and writes to them are separated: all work-items
 * look up their keys; after a barrier, those that found none try to enter theirs, with one compare-and-swap
 * each; after the next barrier, those that lost look again. So whoever sees a bucket sees the whole pair, and
 * every round enters a key. Accumulators do not depend on order. They are changed by 32-bit atomics, which
 * every device has; only minima and maxima of wide values need 64-bit atomics.
 */
/* clang-format off */
#include "expr_device_ops.cl"
#include "expr_table.cl"
#include "expr_simt.cl"
#include "expr_ops.cl"
#include "expr_simt_run.cl"
#include "hash_layout.cl"
#include "hash_key.cl"
#include "base/exact.h"
#include "hash_misfit.cl"
/* clang-format on */

#pragma OPENCL EXTENSION cl_khr_global_int32_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_global_int32_extended_atomics : enable
#pragma OPENCL EXTENSION cl_khr_local_int32_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_local_int32_extended_atomics : enable
#ifdef cl_khr_int64_base_atomics
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#endif

#define NOBODY 0xffffffffu

typedef struct {
    __global const ulong *shape;
    volatile __global uint *buckets;
    __global ulong *gm_pool;
    __local ulong *sm_pool;
    volatile __global int *misfits;
    uint shift, mask, stride, tail, n_keys;
} table;

/* Key `k` of this work-item's row, in a form in which equal keys have equal words; null is 0. */
inline ulong key_of(const table *t, machine *m, uint k)
{
    __global const ulong *key = t->shape + t->shape[SHAPE_KEYS] + 3 * k;
    uint r = (uint)key[0], how = (uint)key[1];
    if (STATE(r) != 0)
        return 0;
    return key_word(how == KEY_F32 ? (ulong)GET(uint, r) : GET(ulong, r), how);
}

inline ulong null_bits(const table *t, machine *m)
{
    ulong bits = 0;
    for (uint k = 0; k < t->n_keys; k++)
        bits |= (ulong)(STATE((uint)t->shape[t->shape[SHAPE_KEYS] + 3 * k]) == ROW_NULL) << k;
    return bits;
}

inline ulong hash_keys(const table *t, machine *m)
{
    ulong odd1 = m->plan[EXPR_PLAN_SEED], odd2 = m->plan[EXPR_PLAN_SEED + 1], h = odd2;
    for (uint k = 0; k < t->n_keys; k++) {
        h = (h ^ key_of(t, m, k)) * odd1;
        h = (h ^ (h >> 32)) * odd2;
        h ^= h >> 29;
    }
    return h;
}

inline bool same_string(__global const uchar *rows_of, __global const ulong *columns, uint input, ulong a,
                        ulong b)
{
    __global const ulong *column = columns + input * EXPR_COLUMN_WORDS;
    ulong at_a, n_a, at_b, n_b;
    if (!string_at(rows_of, column, a, &at_a, &n_a) || !string_at(rows_of, column, b, &at_b, &n_b) ||
        n_a != n_b)
        return false;
    ulong i = 0;
    for (; i + 8 <= n_a; i += 8)
        if (as_ulong(vload8(0, rows_of + at_a + i)) != as_ulong(vload8(0, rows_of + at_b + i)))
            return false;
    for (; i < n_a; i++)
        if (rows_of[at_a + i] != rows_of[at_b + i])
            return false;
    return true;
}

/* What is compared of two pairs, or of a pair and a row. */
#define SAME_PAIR(pair)                                                                                      \
    {                                                                                                        \
        if ((pair)[PAIR_HASH] != h || (pair)[PAIR_NULLS] != nulls)                                           \
            return false;                                                                                    \
        if (t->shape[SHAPE_SIMPLE])                                                                          \
            return true;                                                                                     \
        for (uint k = 0; k < t->n_keys; k++) {                                                               \
            __global const ulong *key = t->shape + t->shape[SHAPE_KEYS] + 3 * k;                             \
            if ((pair)[PAIR_KEYS + k] != key_of(t, m, k))                                                    \
                return false;                                                                                \
            if (key[1] == KEY_STRING && !(nulls >> k & 1) &&                                                 \
                !same_string(m->table, m->columns, (uint)key[2], (pair)[PAIR_FIRST], row))                      \
                return false;                                                                                \
        }                                                                                                    \
        return true;                                                                                         \
    }

inline bool same_global(const table *t, machine *m, __global const ulong *pair, ulong h, ulong nulls,
                        ulong row)
{
    SAME_PAIR(pair)
}

inline bool same_local(const table *t, machine *m, __local const ulong *pair, ulong h, ulong nulls, ulong row)
{
    SAME_PAIR(pair)
}

/* A pair without rows. */
#define FILL_PAIR(pair)                                                                                      \
    {                                                                                                        \
        __global const ulong *empty = t->shape + t->shape[SHAPE_EMPTY];                                      \
        (pair)[PAIR_HASH] = h;                                                                               \
        (pair)[PAIR_FIRST] = row;                                                                            \
        (pair)[PAIR_NULLS] = nulls;                                                                          \
        for (uint k = 0; k < t->n_keys; k++)                                                                 \
            (pair)[PAIR_KEYS + k] = key_of(t, m, k);                                                         \
        for (uint w = t->tail; w < t->stride; w++)                                                           \
            (pair)[w] = empty[w - t->tail];                                                                  \
    }

inline void fill_global(const table *t, machine *m, __global ulong *pair, ulong h, ulong nulls, ulong row)
{
    FILL_PAIR(pair)
}

inline void fill_local(const table *t, machine *m, __local ulong *pair, ulong h, ulong nulls, ulong row)
{
    FILL_PAIR(pair)
}

/* 128 bits in four words. Each carry is added where it belongs, so the sum is right in any order. */
#define ADD_128(acc, low, high)                                                                              \
    {                                                                                                        \
        uint parts[4] = {(uint)(low), (uint)((low) >> 32), (uint)(high), (uint)((high) >> 32)};              \
        uint carry = 0;                                                                                      \
        for (uint i = 0; i < 4; i++) {                                                                       \
            uint x = parts[i] + carry;                                                                       \
            carry = x < carry;                                                                               \
            if (x != 0)                                                                                      \
                carry |= atomic_add((acc) + i, x) > ~x;                                                      \
        }                                                                                                    \
    }

#ifdef cl_khr_fp64
inline long order_of(double d)
{
    long bits = as_long(d);
    return isnan(d) ? 0x7fffffffffffffffL : bits ^ (long)((ulong)(bits >> 63) >> 1);
}
#endif

/* The value of an argument in the form of its accumulator. */
inline ulong reduced_value(machine *m, uint kind, uint r)
{
#ifdef cl_khr_fp64
    if (kind == ACC_MIN_F64 || kind == ACC_MAX_F64)
        return (ulong)order_of(GET(double, r));
    if (kind == ACC_MIN_F32 || kind == ACC_MAX_F32)
        return (ulong)order_of((double)GET(float, r));
#endif
    return GET(ulong, r);
}

/* One kind of accumulator for both memories: `space` is __local or __global. */
#ifdef cl_khr_int64_base_atomics
#define EXCHANGE_64(space, acc, better, value)                                                               \
    {                                                                                                        \
        ulong old = atom_add((volatile space ulong *)(acc), 0UL);                                            \
        while (better) {                                                                                     \
            ulong seen = atom_cmpxchg((volatile space ulong *)(acc), old, (ulong)(value));                   \
            if (seen == old)                                                                                 \
                break;                                                                                       \
            old = seen;                                                                                      \
        }                                                                                                    \
    }
#else
#define EXCHANGE_64(space, acc, better, value)
#endif

#define REDUCE(space)                                                                                        \
    {                                                                                                        \
        switch (kind) {                                                                                      \
        case ACC_SUM_SIGNED: {                                                                               \
            ulong high = (ulong)((long)x >> 63);                                                             \
            ADD_128((volatile space uint *)acc, x, high)                                                     \
            break;                                                                                           \
        }                                                                                                    \
        case ACC_SUM_UNSIGNED:                                                                               \
            ADD_128((volatile space uint *)acc, x, 0UL)                                                      \
            break;                                                                                           \
        case ACC_SUM_F64: {                                                                                  \
            ulong words[HAC_EXACT_SUM_WORDS];                                                                \
            if (hac_exact_fits(x, unit, HAC_EXACT_SUM_REACH)) {                                              \
                hac_exact_words(x, unit, words);                                                             \
                ADD_128((volatile space uint *)acc, words[0], words[1])                                      \
            } else {                                                                                         \
                note_misfit(t->misfits, t->shape, a, x);                                                     \
            }                                                                                                \
            break;                                                                                           \
        }                                                                                                    \
        case ACC_MIN_UNSIGNED:                                                                               \
            EXCHANGE_64(space, acc, x < old, x)                                                              \
            break;                                                                                           \
        case ACC_MAX_UNSIGNED:                                                                               \
            EXCHANGE_64(space, acc, x > old, x)                                                              \
            break;                                                                                           \
        case ACC_MIN_SIGNED:                                                                                 \
        case ACC_MIN_F32:                                                                                    \
        case ACC_MIN_F64:                                                                                    \
            EXCHANGE_64(space, acc, (long)x < (long)old, x)                                                  \
            break;                                                                                           \
        default:                                                                                             \
            EXCHANGE_64(space, acc, (long)x > (long)old, x)                                                  \
            break;                                                                                           \
        }                                                                                                    \
    }

/* Accumulator `a`, whose window has this unit. */
inline void reduce_global(const table *t, __global ulong *acc, uint kind, uint a, int unit, ulong x)
{
    REDUCE(__global)
}

inline void reduce_local(const table *t, __local ulong *acc, uint kind, uint a, int unit, ulong x)
{
    REDUCE(__local)
}

/* Adds this work-item's row to a pair: rows, nulls, accumulators. */
#define REDUCE_ROW(space, reduce)                                                                            \
    {                                                                                                        \
        __global const ulong *args = t->shape + t->shape[SHAPE_ARGS],                                        \
                             *accs = t->shape + t->shape[SHAPE_ACCS];                                        \
        atomic_inc((volatile space uint *)(pair + t->tail));                                                 \
        for (uint a = 0; a < (uint)t->shape[SHAPE_N_ARGS]; a++)                                              \
            if (STATE((uint)args[2 * a]) == ROW_NULL)                                                        \
                atomic_inc((volatile space uint *)(pair + (uint)args[2 * a + 1]));                           \
        for (uint a = 0; a < (uint)t->shape[SHAPE_N_ACCS]; a++) {                                            \
            uint kind = (uint)accs[4 * a], r = (uint)accs[4 * a + 1];                                        \
            if (STATE(r) == 0)                                                                               \
                reduce(t, pair + (uint)accs[4 * a + 2], kind, a, (int)(long)accs[4 * a + 3],                 \
                       reduced_value(m, kind, r));                                                           \
        }                                                                                                    \
    }

inline void reduce_row_global(const table *t, machine *m, __global ulong *pair)
{
    REDUCE_ROW(__global, reduce_global)
}

inline void reduce_row_local(const table *t, machine *m, __local ulong *pair)
{
    REDUCE_ROW(__local, reduce_local)
}

/* Whether the row counts. *ret_error: the highest state of its operands, if that is an error. */
inline bool row_counts(const table *t, machine *m, uint *ret_error)
{
    ulong filter = t->shape[SHAPE_FILTER];
    bool counts = true;
    uint state = 0;
    if (filter != ~0UL) {
        state = STATE((uint)filter);
        counts = state == 0 && GET(ulong, (uint)filter) == 1;
    }
    for (uint k = 0; counts && k < t->n_keys; k++)
        state = max(state, (uint)STATE((uint)t->shape[t->shape[SHAPE_KEYS] + 3 * k]));
    for (uint a = 0; counts && a < (uint)t->shape[SHAPE_N_ARGS]; a++)
        state = max(state, (uint)STATE((uint)t->shape[t->shape[SHAPE_ARGS] + 2 * a]));
    if (m->damaged)
        state = ROW_MALFORMED;
    *ret_error = state > ROW_NULL ? state : 0;
    return counts && state <= ROW_NULL;
}

/* What the work-items of a block share, in local memory. */
typedef struct {
    uint gm_offset[THREAD_GROUPS_MAX], gm_end[THREAD_GROUPS_MAX]; /* of each thread group's part of a pool */
    uint sm_offset, sm_flag;
    uint waiting[2]; /* whether a work-item must look again, in this round and in the next */
    uint hits, local_hits, kept, full, bad_row, canaries;
    uint far; /* the maximum number of slots between a pair's home and its bucket */
} block;

/* A work-item's place for its next pair. */
typedef struct {
    uint number, flag; /* NOBODY: none yet */
    uint round;
} spare_pair;

/* From `slot` on: the pair with these keys, or the first free slot. Only reads. *ret_free: it is a free
 * slot. */
inline uint look_up(const table *t, machine *m, uint slot, ulong h, ulong nulls, ulong row, bool *ret_free,
                    uint *ret_word)
{
    for (uint i = 0; i < PROBES_MAX; i++) {
        uint word = t->buckets[slot], number = (word & ~MEM_FLAG) - 1;
        bool same = false;
        if (word & MEM_FLAG)
            same = same_local(t, m, t->sm_pool + number * t->stride, h, nulls, row);
        else if (word != 0)
            same = same_global(t, m, t->gm_pool + (ulong)number * t->stride, h, nulls, row);
        *ret_free = word == 0;
        *ret_word = word;
        if (word == 0 || same)
            return slot;
        slot = (slot + 1) & t->mask;
    }
    return NOBODY;
}

/*
 * Some drivers end loops after a number of iterations without an error; from then on every loop runs once. So
 * each work-item runs one more loop at the end and counts `n` times if all went well. If the count is too
 * low, the host repeats the launch in smaller pieces.
 */
inline void canary(volatile __local uint *count, uint n)
{
    for (uint i = 0; i < n; i++)
        atomic_inc(count);
}

/* A place for a pair: in sm_pool[] while there is space, then in this thread group's part of gm_pool[]. */
inline bool take_place(__local block *s, spare_pair *p, uint sm_pairs)
{
    if (p->number == NOBODY && atomic_or(&s->sm_flag, 0) == 0) {
        p->number = atomic_inc(&s->sm_offset);
        p->flag = MEM_FLAG;
        if (p->number >= sm_pairs) {
            atomic_or(&s->sm_flag, 1);
            p->number = NOBODY;
        }
    }
    if (p->number == NOBODY) {
        uint g = (uint)get_local_id(0) / THREAD_GROUP;
        p->number = atomic_inc(&s->gm_offset[g]);
        p->flag = 0;
        if (p->number >= s->gm_end[g])
            p->number = NOBODY;
    }
    return p->number != NOBODY;
}

/* The next round may begin: all work-items see the same state. */
inline bool goes_on(__local block *s, spare_pair *p)
{
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    return s->waiting[p->round++ & 1] != 0;
}

inline void between(__local block *s, const spare_pair *p)
{
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    if (get_local_id(0) == 0)
        s->waiting[(p->round + 1) & 1] = 0;
}

/*
 * The bucket's word for this work-item's keys, which are entered if they are new; 0: no space. All work-items
 * call it, those without a row with `pending` false.
 */
inline uint find_or_enter(const table *t, machine *m, __local block *s, spare_pair *p, uint sm_pairs,
                          bool pending, ulong h, ulong nulls, ulong row)
{
    uint slot = (uint)(h >> t->shift), word = 0;
    do {
        bool free = false;
        if (pending) {
            slot = look_up(t, m, slot, h, nulls, row, &free, &word);
            pending = slot != NOBODY && free;
            if (slot == NOBODY) {
                word = 0;
                atomic_inc(&s->full);
            }
        }
        between(s, p);
        if (pending && !take_place(s, p, sm_pairs)) {
            pending = false;
            atomic_inc(&s->full);
        }
        if (pending) {
            if (p->flag)
                fill_local(t, m, t->sm_pool + p->number * t->stride, h, nulls, row);
            else
                fill_global(t, m, t->gm_pool + (ulong)p->number * t->stride, h, nulls, row);
            if (atomic_cmpxchg(&t->buckets[slot], 0, (p->number + 1) | p->flag) == 0) {
                word = (p->number + 1) | p->flag;
                atomic_max(&s->far, (slot - (uint)(h >> t->shift)) & t->mask);
                p->number = NOBODY;
                pending = false;
            } else {
                atomic_or(&s->waiting[p->round & 1], 1);
            }
        }
    } while (goes_on(s, p));
    return word;
}

inline void table_begin(table *t, __global const ulong *shape)
{
    t->shape = shape;
    t->stride = (uint)shape[SHAPE_STRIDE];
    t->tail = (uint)shape[SHAPE_TAIL];
    t->n_keys = (uint)shape[SHAPE_N_KEYS];
}

/* Clears the block's tables, or restores what the previous launch left. */
inline void block_begin(const table *t, __local block *s, __global const ulong *sm_rest,
                        __global const uint *counter, uint fresh, uint gm_pairs, uint sm_pairs)
{
    uint t_id = (uint)get_local_id(0), n = (uint)get_local_size(0);
    uint n_groups = (n + THREAD_GROUP - 1) / THREAD_GROUP;
    if (fresh) {
        for (uint i = t_id; i <= t->mask; i += n)
            t->buckets[i] = 0;
    } else {
        for (uint i = t_id; i < counter[BLOCK_SM_USED] * t->stride; i += n)
            t->sm_pool[i] = sm_rest[i];
    }
    if (t_id < n_groups) {
        s->gm_offset[t_id] = fresh ? gm_pairs / n_groups * t_id : counter[BLOCK_GM_USED + t_id];
        s->gm_end[t_id] = gm_pairs / n_groups * (t_id + 1);
    }
    if (t_id == 0) {
        s->sm_offset = fresh ? 0 : counter[BLOCK_SM_USED];
        s->sm_flag = s->sm_offset >= sm_pairs;
        s->waiting[0] = s->waiting[1] = s->hits = s->local_hits = s->kept = s->full = s->canaries = 0;
        s->bad_row = NOBODY;
        s->far = fresh ? 0 : counter[BLOCK_FAR];
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
}

/* Saves local memory, which does not outlive the launch. Nothing points to a place that was taken and never
 * entered. */
inline void block_end(const table *t, __local block *s, __global ulong *sm_rest, __global uint *counter,
                      uint sm_pairs)
{
    uint t_id = (uint)get_local_id(0), n = (uint)get_local_size(0);
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    for (uint i = t_id; i < min(s->sm_offset, sm_pairs) * t->stride; i += n)
        sm_rest[i] = t->sm_pool[i];
    if (t_id < (n + THREAD_GROUP - 1) / THREAD_GROUP)
        counter[BLOCK_GM_USED + t_id] = min(s->gm_offset[t_id], s->gm_end[t_id]);
    if (t_id == 0) {
        counter[BLOCK_SM_USED] = min(s->sm_offset, sm_pairs);
        counter[BLOCK_KEPT] = s->kept;
        counter[BLOCK_HITS] = s->hits;
        counter[BLOCK_LOCAL] = s->local_hits;
        counter[BLOCK_FULL] = s->full;
        counter[BLOCK_ROW] = s->bad_row;
        counter[BLOCK_CANARY] = s->canaries;
        counter[BLOCK_FAR] = s->far;
    }
}

/*
 * One launch of phase 1 or 2 by all blocks: rows first … end - 1 of the table, or of a block of it with the
 * columns at byte `index`. `fresh`: 1 if the blocks' tables must be cleared first. `hot_rows`: `n_hot` rows
 * whose keys are hot (phase 2, fresh). Every block enters all of them with empty accumulators, as the first
 * pairs of sm_pool[]. `sm_pairs`: pairs of sm_pool[]; `gm_pairs`: pairs of gm_pool[], a multiple of the
 * thread groups. Only keys of the pass-th of `passes` ranges of hashes are taken. `misfits`: see hash_layout.cl.
 */
__kernel void aggregate_rows(__global const ulong *plan, __global const uchar *rows_of, ulong index,
                             __global const ulong *shape, ulong first, ulong end, uint fresh, uint pass,
                             uint passes, uint canaries, __global const ulong *hot_rows, uint n_hot,
                             uint bucket_bits, uint gm_pairs, uint sm_pairs, __global uint *buckets,
                             __global ulong *gm_pool, __global ulong *sm_rest, __global uint *counters,
                             volatile __global int *misfits, __global uchar *scratch, ulong scratch_bytes, __local ulong *sm_pool)
{
    __local block shared;
    uint b = (uint)get_group_id(0), t_id = (uint)get_local_id(0), n_threads = (uint)get_local_size(0);
    machine own_machine, *m = &own_machine;
    table own_table, *t = &own_table;
    spare_pair spare = {NOBODY, 0, 0};
    uint kept = 0, hits = 0, local_hits = 0;
    machine_begin(m, plan, rows_of, scratch + b * scratch_bytes);
    m->columns = columns_at(plan, rows_of, index);
    table_begin(t, shape);
    t->buckets = buckets + ((ulong)b << bucket_bits);
    t->mask = (1u << bucket_bits) - 1;
    t->shift = 64 - bucket_bits;
    t->gm_pool = gm_pool + (ulong)b * gm_pairs * t->stride;
    t->sm_pool = sm_pool;
    t->misfits = misfits;
    sm_rest += (ulong)b * sm_pairs * t->stride;
    counters += b * BLOCK_WORDS;
    block_begin(t, &shared, sm_rest, counters, fresh, gm_pairs, sm_pairs);

    /* the hot keys first (i = t, i < H, i += N), then the rows */
    ulong hot_steps = fresh ? (n_hot + n_threads - 1) / n_threads : 0;
    ulong stride_rows = (ulong)get_num_groups(0) * n_threads;
    ulong steps = hot_steps + (end - first + stride_rows - 1) / stride_rows;
    for (ulong step = 0; step < steps; step++) {
        bool hot = step < hot_steps;
        uint error = 0;
        ulong row = hot ? step * n_threads + t_id
                        : first + (step - hot_steps) * stride_rows + (ulong)b * n_threads + t_id;
        bool counts = hot ? row < n_hot : row < end;
        if (hot && counts)
            row = hot_rows[row];
        if (counts) {
            machine_run(m, row);
            counts = row_counts(t, m, &error);
        }
        if (error != 0)
            atomic_min(&shared.bad_row, (uint)(row - first) * 8 + error);
        ulong h = counts ? hash_keys(t, m) : 0, nulls = counts ? null_bits(t, m) : 0;
        counts = counts && (h & 0xffffffffu) * passes >> 32 == pass;
        uint word = find_or_enter(t, m, &shared, &spare, sm_pairs, counts, h, nulls, row);
        if (hot || !counts || word == 0)
            continue;
        uint number = (word & ~MEM_FLAG) - 1;
        kept++;
        hits += (word & MEM_FLAG) != 0 && number < n_hot;
        local_hits += (word & MEM_FLAG) != 0;
        if (word & MEM_FLAG)
            reduce_row_local(t, m, sm_pool + number * t->stride);
        else
            reduce_row_global(t, m, t->gm_pool + (ulong)number * t->stride);
    }
    atomic_add(&shared.kept, kept);
    atomic_add(&shared.hits, hits);
    atomic_add(&shared.local_hits, local_hits);
    canary(&shared.canaries, canaries);
    block_end(t, &shared, sm_rest, counters, sm_pairs);
}

/* ---- merging ---- */

/* Adds the pair `from` to the pair `to` with the same key. */
inline void merge_pair(const table *t, __global ulong *to, __global const ulong *from)
{
    __global const ulong *args = t->shape + t->shape[SHAPE_ARGS], *accs = t->shape + t->shape[SHAPE_ACCS];
    atomic_add((volatile __global uint *)(to + t->tail), (uint)from[t->tail]);
    for (uint a = 0; a < (uint)t->shape[SHAPE_N_ARGS]; a++) {
        uint place = (uint)args[2 * a + 1];
        if (from[place] != 0)
            atomic_add((volatile __global uint *)(to + place), (uint)from[place]);
    }
    for (uint a = 0; a < (uint)t->shape[SHAPE_N_ACCS]; a++) {
        uint kind = (uint)accs[4 * a], place = (uint)accs[4 * a + 2];
        if (kind == ACC_SUM_SIGNED || kind == ACC_SUM_UNSIGNED || kind == ACC_SUM_F64)
            ADD_128((volatile __global uint *)(to + place), from[place], from[place + 1])
        else
            reduce_global(t, to + place, kind, a, 0, from[place]);
    }
}

inline bool same_pair(const table *t, __global const ulong *columns, __global const uchar *rows_of,
                      __global const ulong *a, __global const ulong *b)
{
    if (a[PAIR_HASH] != b[PAIR_HASH] || a[PAIR_NULLS] != b[PAIR_NULLS])
        return false;
    if (t->shape[SHAPE_SIMPLE])
        return true;
    for (uint k = 0; k < t->n_keys; k++) {
        __global const ulong *key = t->shape + t->shape[SHAPE_KEYS] + 3 * k;
        if (a[PAIR_KEYS + k] != b[PAIR_KEYS + k])
            return false;
        if (key[1] == KEY_STRING && !(a[PAIR_NULLS] >> k & 1) &&
            !same_string(rows_of, columns, (uint)key[2], a[PAIR_FIRST], b[PAIR_FIRST]))
            return false;
    }
    return true;
}

/* From `slot` on: the pair with the same keys, or the first free slot. Only reads. */
inline uint look_up_pair(const table *t, __global const ulong *columns, __global const uchar *rows_of,
                         uint slot, __global const ulong *pair, uint *ret_number)
{
    for (uint i = 0; i < PROBES_MAX; i++) {
        uint number = t->buckets[slot];
        *ret_number = number;
        if (number == 0 || same_pair(t, columns, rows_of, t->gm_pool + (ulong)(number - 1) * t->stride, pair))
            return slot;
        slot = (slot + 1) & t->mask;
    }
    return NOBODY;
}

/*
 * Merges pairs of the blocks source_first … source_end - 1 into the global result. Work-group b takes the
 * pairs whose home slot in their block's buckets[] is in the b-th part of all slots, and of that in the
 * part-th of `parts` parts. A pair lies at most `far` slots after its home. The result of work-group b has
 * its own buckets. The pool is common and filled from its beginning, so that the host reads only what was
 * used: counters[BLOCK_GM_USED] places are taken, or all if that number is greater. Pairs without rows (hot
 * keys that did not occur, lost insertions) are left out.
 */
__kernel void aggregate_merge(__global const ulong *plan, __global const uchar *rows_of, ulong index,
                              __global const ulong *shape, uint fresh, uint source_first, uint source_end,
                              uint part, uint parts, uint far, uint canaries, uint bucket_bits,
                              uint gm_pairs, uint sm_pairs, __global const uint *buckets,
                              __global const ulong *gm_pool, __global const ulong *sm_rest, uint global_bits, uint global_pairs,
                              __global uint *global_buckets, __global ulong *global_pool,
                              __global uint *counters)
{
    __local uint waiting[2], full, canary_count;
    uint b = (uint)get_group_id(0), t_id = (uint)get_local_id(0), n_threads = (uint)get_local_size(0);
    uint n_blocks = (uint)get_num_groups(0), all = 1u << bucket_bits;
    table own_table, *t = &own_table;
    __global uint *counter = counters + b * BLOCK_WORDS;
    volatile __global uint *used = counters + BLOCK_GM_USED;
    __global const ulong *columns = columns_at(plan, rows_of, index);
    table_begin(t, shape);
    t->buckets = global_buckets + ((ulong)b << global_bits);
    t->mask = (1u << global_bits) - 1;
    t->gm_pool = global_pool;
    if (fresh)
        for (uint i = t_id; i <= t->mask; i += n_threads)
            t->buckets[i] = 0;
    if (t_id == 0)
        waiting[0] = waiting[1] = full = canary_count = 0;
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);

    uint low = (uint)((ulong)all * b / n_blocks), high = (uint)((ulong)all * (b + 1) / n_blocks);
    uint from = low + (uint)((ulong)(high - low) * part / parts);
    uint to = low + (uint)((ulong)(high - low) * (part + 1) / parts);
    uint reach = to > from ? min(to - from + far, all) : 0, all_reach = reach * (source_end - source_first);
    uint spare = NOBODY, round = 0;
    for (uint first = 0; first < all_reach; first += n_threads) { /* several sources at a time */
        uint i = first + t_id, source = source_first + i / reach;
        uint word =
            i < all_reach ? buckets[((ulong)source << bucket_bits) + ((from + i % reach) & (all - 1))] : 0;
        bool pending = word != 0;
        __global const ulong *pair = gm_pool;
        if (pending) {
            ulong number = (word & ~MEM_FLAG) - 1;
            pair = word & MEM_FLAG ? sm_rest + ((ulong)source * sm_pairs + number) * t->stride
                                   : gm_pool + ((ulong)source * gm_pairs + number) * t->stride;
            uint home = (uint)(pair[PAIR_HASH] >> (64 - bucket_bits));
            pending = home >= from && home < to && pair[t->tail] != 0;
        }
        bool merges = pending;
        uint slot = (uint)pair[PAIR_HASH] & t->mask, number = 0;
        for (;;) {
            if (pending) {
                slot = look_up_pair(t, columns, rows_of, slot, pair, &number);
                if (slot == NOBODY || number != 0)
                    pending = false;
                if (slot == NOBODY)
                    atomic_inc(&full);
            }
            barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
            if (t_id == 0)
                waiting[(round + 1) & 1] = 0;
            if (pending && spare == NOBODY) {
                spare = atomic_inc(used);
                if (spare >= global_pairs) {
                    spare = slot = NOBODY;
                    pending = false;
                    atomic_inc(&full);
                }
            }
            if (pending) {
                __global ulong *fresh_pair = t->gm_pool + (ulong)spare * t->stride;
                __global const ulong *empty = shape + shape[SHAPE_EMPTY];
                for (uint w = 0; w < t->stride; w++)
                    fresh_pair[w] = w < t->tail ? pair[w] : empty[w - t->tail];
                number = spare + 1;
                if (atomic_cmpxchg(&t->buckets[slot], 0, number) == 0) {
                    spare = NOBODY;
                    pending = false;
                } else {
                    atomic_or(&waiting[round & 1], 1);
                }
            }
            barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
            if (waiting[round++ & 1] == 0)
                break;
        }
        if (merges && slot != NOBODY)
            merge_pair(t, t->gm_pool + (ulong)(number - 1) * t->stride, pair);
    }
    canary(&canary_count, canaries);
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    if (t_id == 0) {
        counter[BLOCK_FULL] = full;
        counter[BLOCK_CANARY] = canary_count;
    }
}
