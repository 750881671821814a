/* SPDX-License-Identifier: Apache-2.0 */
/*
 * op.keys, op.keys_combine, op.histogram. A unit is a block of OP_KEY_ROWS rows with its own table. Each cell
 * of the table belongs to one lane, which adds its values in the order of rows: no atomics, and the same sums
 * on every device. A launch takes rows from … to - 1 of each block; if loops are limited there are several
 * launches. Included after op_number.cl.
 */
#if OP_NUMBER == 1 || OP_NUMBER == 2

LANE_KERNEL op_keys(__global const uchar *keys, ulong k_at, uint key_kind, __global const uchar *x, ulong x_at,
                    uint kind, ulong columns, ulong rows, uint from, uint to, ulong n, uint function,
                    __global T *tables, volatile __global uint *fail)
{
    const ulong first = UNIT * OP_KEY_ROWS, cells = columns + 1;
    const uint end = (uint)min((ulong)to, rows - first);
    __global T *table = tables + UNIT * n * cells;
    OWN(uint, bad);
    EACH_LANE
    {
        MY(bad) = 0;
        for (ulong c = l; from == 0 && c < n * cells; c += OP_LANES)
            table[c] = c % cells == 0 ? (T)0 : NAME(start)(function);
        for (uint i = from; i < end; i++) {
            ulong key = index_at(keys, key_kind, k_at + first + i);
            if (key >= n) {
                note_failure(fail, OP_FAIL_INDEX, first + i);
                continue;
            }
            __global T *row = table + key * cells;
            for (ulong c = (l - (uint)(key * cells)) % OP_LANES; c < cells; c += OP_LANES) {
                if (c == 0)
                    row[0] = row[0] + 1;
                else
                    row[c] = NAME(join)(function, row[c],
                                        NAME(number_at)(x, kind, x_at + (first + i) * columns + c - 1), &MY(bad));
            }
        }
        if (MY(bad))
            note_failure(fail, OP_FAIL_SUM, first);
    }
}

/* Cells of keys without rows become 0, and all NaNs one. */
__kernel void op_keys_tidy(__global T *tables, ulong rows, ulong cells)
{
    const ulong row = get_global_id(0);
    if (row >= rows)
        return;
    for (ulong c = 1; c < cells; c++) {
        T v = tables[row * cells + c];
        tables[row * cells + c] = tables[row * cells] == 0 ? (T)0 : TIDIED(v);
    }
}
#endif

#if OP_NUMBER > 0
/* One cell of y: combines `n` tables of `cells`; of each table `count` cells from `first` on. */
__kernel void op_keys_combine(__global const T *tables, ulong n, ulong cells, ulong blocks, ulong first,
                              ulong count, uint function, __global T *y, volatile __global uint *fail)
{
    const ulong at = get_global_id(0);
    if (at >= count)
        return;
    const ulong cell = first + at, key = cell / cells;
    const bool sums = function == OP_SUM || cell % cells == 0;
    uint bad = 0;
    T sum = 0, counted = 0;
    for (ulong b = 0; b < blocks; b++) {
        T v = tables[b * n * cells + cell];
        if (sums) {
            sum = ADD(sum, v, &bad);
        } else {
            T count = tables[b * n * cells + key * cells];
            if (count != 0)
                sum = counted == 0 || NAME(replaces)(function, v, sum) ? v : sum;
            counted = ADD(counted, count, &bad);
        }
    }
    y[at] = TIDIED(sum);
    if (bad)
        note_failure(fail, OP_FAIL_SUM, key);
}
#endif

#if OP_NUMBER == 1
/* The key of element `i` (base/histogram.h), and about its value. */
inline long bucket_key(__global const uchar *x, uint kind, ulong i, double *ret)
{
    *ret = number_at_f64(x, kind, i);
    long bits;
    switch (kind) {
    case OP_F32:
    case OP_F64:
        bits = as_long(*ret + 0.0);
        return bits ^ (long)((ulong)(bits >> 63) >> 1);
    case OP_I32:
        return ((__global const int *)x)[i];
    case OP_U32:
        return (long)((ulong)((__global const uint *)x)[i] ^ 0x8000000000000000UL);
    case OP_U64:
        return (long)(((__global const ulong *)x)[i] ^ 0x8000000000000000UL);
    default:
        return ((__global const long *)x)[i];
    }
}

/* The last of n borders that is not above `key`, which is at or above the first one: `at`, one beside it, or
 * searched. */
inline ulong bucket_of(__global const long *border, ulong n, long key, ulong at)
{
    ulong low = 0, high = n;
    if (key < border[at]) {
        if (key >= border[at - 1])
            return at - 1;
        high = at - 1;
    } else if (at + 1 == n || key < border[at + 1]) {
        return at;
    } else {
        low = at + 1;
    }
    while (high - low > 1) {
        ulong middle = low + (high - low) / 2;
        if (key < border[middle])
            high = middle;
        else
            low = middle;
    }
    return low;
}

/* `reached`, `first`, `last`, `half_low`, `per_width`: hac_buckets. */
LANE_KERNEL op_histogram(__global const uchar *x, ulong x_at, uint kind, ulong rows, uint from, uint to, ulong n,
                         __global const long *border, ulong reached, long first_key, long last_key,
                         double half_low, double per_width, __global ulong *tables)
{
    const ulong first = UNIT * OP_KEY_ROWS;
    const uint end = (uint)min((ulong)to, rows - first);
    __global ulong *table = tables + UNIT * n;
    OWN(ulong, bin);
    SHARED(ulong, bins, OP_LANES);
    EACH_LANE
    {
        for (ulong c = l; from == 0 && c < n; c += OP_LANES)
            table[c] = 0;
    }
    for (uint i = from; i < end; i += OP_LANES) {
        SYNC;
        EACH_LANE
        {
            MY(bin) = ~0UL;
            if (i + l < end) {
                double v;
                long key = bucket_key(x, kind, x_at + first + i + l, &v);
                double guess = (v / 2 - half_low) * per_width;
                if (key >= first_key && key <= last_key)
                    MY(bin) = bucket_of(border, reached, key,
                                        guess > 0 ? min((ulong)min(guess, 0x1p53), reached - 1) : 0UL);
            }
            bins[l] = MY(bin);
        }
        SYNC;
        EACH_LANE
        {
            for (uint k = 0; k < OP_LANES; k++)
                if (bins[k] < n && bins[k] % OP_LANES == l)
                    table[bins[k]]++;
        }
    }
}
#endif
