/* SPDX-License-Identifier: Apache-2.0 */
/* op.reduce, op.combine: a unit is a block of rows. Included after op_number.cl. */

/* The partial result of each block of `rows` rows of x (and y, for PRODUCTS), from elements x_at and y_at
 * on. */
LANE_KERNEL NAME(op_reduce)(__global const uchar *x, ulong x_at, __global const uchar *y, ulong y_at, uint kind,
                            ulong rows, uint function, __global T *partials, volatile __global uint *fail)
{
    const ulong first = UNIT * OP_ROWS;
    const uint n = (uint)min((ulong)OP_ROWS, rows - first);
    OWN(T, sum);
    SHARED(T, lane, OP_LANES);
    EACH_LANE
    {
        uint bad = 0;
        MY(sum) = NAME(start)(function);
        for (uint i = l; i < n; i += OP_LANES) {
            T v = NAME(number_at)(x, kind, x_at + first + i);
            if (function == OP_PRODUCTS)
                v = PRODUCT(v, NAME(number_at)(y, kind, y_at + first + i), &bad);
            else
                v = NAME(term)(function, v, &bad);
            MY(sum) = NAME(join)(function, MY(sum), v, &bad);
        }
        lane[l] = MY(sum);
        if (bad)
            note_failure(fail, OP_FAIL_SUM, first);
    }
    for (uint s = OP_LANES / 2; s > 0; s /= 2) {
        SYNC;
        EACH_LANE
        {
            uint bad = 0;
            if (l < s)
                lane[l] = NAME(join)(function, lane[l], lane[l + s], &bad);
            if (bad)
                note_failure(fail, OP_FAIL_SUM, first);
        }
    }
    EACH_LANE
    {
        if (l == 0)
            partials[UNIT] = TIDIED(lane[0]);
    }
}

/* ARGMIN and ARGMAX: a partial result is the value (8 bytes) and the row's number, counted from `number`
 * on. */
LANE_KERNEL NAME(op_arg)(__global const uchar *x, ulong x_at, uint kind, ulong rows, uint function, ulong number,
                         __global ulong *partials)
{
    const ulong first = UNIT * OP_ROWS;
    const uint n = (uint)min((ulong)OP_ROWS, rows - first);
    OWN(T, best);
    SHARED(T, value, OP_LANES);
    SHARED(uint, at, OP_LANES);
    EACH_LANE
    {
        uint where = l < n ? l : 0;
        MY(best) = NAME(number_at)(x, kind, x_at + first + where);
        for (uint i = l + OP_LANES; i < n; i += OP_LANES) {
            T v = NAME(number_at)(x, kind, x_at + first + i);
            if (NAME(replaces)(function, v, MY(best))) {
                MY(best) = v;
                where = i;
            }
        }
        value[l] = MY(best);
        at[l] = where;
    }
    for (uint s = OP_LANES / 2; s > 0; s /= 2) {
        SYNC;
        EACH_LANE
        {
            if (l < s && (NAME(replaces)(function, value[l + s], value[l]) ||
                          (!NAME(replaces)(function, value[l], value[l + s]) && at[l + s] < at[l]))) {
                value[l] = value[l + s];
                at[l] = at[l + s];
            }
        }
    }
    EACH_LANE
    {
        if (l == 0) {
            partials[2 * UNIT] = 0;
            *(__global T *)&partials[2 * UNIT] = TIDIED(value[0]);
            partials[2 * UNIT + 1] = number + first + at[0];
        }
    }
}
