/* SPDX-License-Identifier: Apache-2.0 */
/*
 * op.keys, op.keys_combine, op.histogram. A unit is a block of OP_KEY_ROWS rows with a table of its own. Each
 * cell of it belongs to one lane, which adds what comes to it in the order of rows: no atomics, and the same sums
 * everywhere. A launch takes rows from … to - 1 of each block: where loops are short there are several. Behind
 * op_number.cl.
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

/* Cells of keys that have no rows are 0, all NaNs alike. */
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
/* One cell of y: `n` rows of `cells` a table; cells first … of a table, `count` of them. */
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
LANE_KERNEL op_histogram(__global const uchar *x, ulong x_at, uint kind, ulong rows, uint from, uint to, ulong n,
                         double a, double b, __global ulong *tables)
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
            double v = i + l < end ? number_at_f64(x, kind, x_at + first + i + l) : (double)NAN;
            MY(bin) = ~0UL;
            if (v >= a && v <= b)
                MY(bin) = min((ulong)((v - a) / (b - a) * (double)n), n - 1);
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
