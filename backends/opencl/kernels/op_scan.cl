/* SPDX-License-Identifier: Apache-2.0 */
/* op.scan_sums, op.scan: a unit is a block of rows, a lane takes a run of 64 rows. Included after
 * op_number.cl. */

/* `writes` 0: only the total of each block. `carries`: the carry into each block. */
LANE_KERNEL op_scan(__global const uchar *x, ulong x_at, uint kind, ulong rows, uint function, uint exclusive,
                    uint writes, __global const T *carries, __global T *y, __global T *totals,
                    volatile __global uint *fail)
{
    const ulong first = UNIT * OP_ROWS;
    const uint n = (uint)min((ulong)OP_ROWS, rows - first);
    OWN(T, sum);
    SHARED(T, run, OP_LANES);
    EACH_LANE
    {
        uint bad = 0;
        MY(sum) = NAME(start)(function);
        for (uint i = l * OP_LANES; i < min(n, (l + 1) * OP_LANES); i++)
            MY(sum) = NAME(join)(function, MY(sum), NAME(number_at)(x, kind, x_at + first + i), &bad);
        run[l] = MY(sum);
        if (bad)
            note_failure(fail, OP_FAIL_SUM, first);
    }
    SYNC;
    EACH_LANE
    {
        uint bad = 0;
        T before = NAME(start)(function), carry = writes ? carries[UNIT] : (T)0;
        for (uint k = 0; k < l; k++)
            before = NAME(join)(function, before, run[k], &bad);
        T own = NAME(start)(function);
        for (uint i = l * OP_LANES; writes && i < min(n, (l + 1) * OP_LANES); i++) {
            T last = own;
            own = NAME(join)(function, own, NAME(number_at)(x, kind, x_at + first + i), &bad);
            T here = NAME(join)(function, before, exclusive ? last : own, &bad);
            y[first + i] = TIDIED(NAME(join)(function, carry, here, &bad));
        }
        if (l * OP_LANES < n && (l + 1) * OP_LANES >= n) { /* the last run */
            before = NAME(join)(function, before, run[l], &bad);
            if (!writes)
                totals[UNIT] = TIDIED(before);
        }
        if (bad && l * OP_LANES < n)
            note_failure(fail, OP_FAIL_SUM, first);
    }
}
