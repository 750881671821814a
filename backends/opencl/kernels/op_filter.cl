/* SPDX-License-Identifier: Apache-2.0 */
/* op.filter_count, op.filter_copy: a unit is a block of rows, a lane takes a run of 64 rows. Included after
 * op_lanes.cl. */

LANE_KERNEL op_filter_count(__global const uchar *keep, ulong rows, __global ulong *counts)
{
    const ulong first = UNIT * OP_ROWS;
    const uint n = (uint)min((ulong)OP_ROWS, rows - first);
    OWN(uint, kept);
    SHARED(uint, run, OP_LANES);
    EACH_LANE
    {
        MY(kept) = 0;
        for (uint i = l * OP_LANES; i < min(n, (l + 1) * OP_LANES); i++)
            MY(kept) += keep[first + i];
        run[l] = MY(kept);
    }
    SYNC;
    EACH_LANE
    {
        if (l == 0) {
            ulong sum = 0;
            for (uint k = 0; k < OP_LANES; k++)
                sum += run[k];
            counts[UNIT] = sum;
        }
    }
}

/* A row has `columns` elements of `size` bytes. Rows of block u go to rows places[u] … places[u + 1] - 1 of
 * y. */
LANE_KERNEL op_filter_copy(__global const uchar *keep, ulong rows, __global const uchar *x, ulong x_at,
                           ulong columns, uint size, __global const ulong *places, ulong base, __global uchar *y,
                           volatile __global uint *fail)
{
    const ulong first = UNIT * OP_ROWS;
    const uint n = (uint)min((ulong)OP_ROWS, rows - first);
    OWN(uint, kept);
    SHARED(uint, run, OP_LANES);
    EACH_LANE
    {
        MY(kept) = 0;
        for (uint i = l * OP_LANES; i < min(n, (l + 1) * OP_LANES); i++)
            MY(kept) += keep[first + i];
        run[l] = MY(kept);
    }
    SYNC;
    EACH_LANE
    {
        ulong to = places[UNIT] - base, all = 0;
        const ulong room = places[UNIT + 1] - places[UNIT];
        for (uint k = 0; k < OP_LANES; k++) {
            to += k < l ? run[k] : 0;
            all += run[k];
        }
        if (all != room)
            note_failure(fail, OP_FAIL_ROW, UNIT);
        for (uint i = l * OP_LANES; all == room && i < min(n, (l + 1) * OP_LANES); i++) {
            for (ulong c = 0; keep[first + i] && c < columns; c++) {
                ulong from = x_at + (first + i) * columns + c, at = to * columns + c;
                if (size == 1)
                    y[at] = x[from];
                else if (size == 4)
                    ((__global uint *)y)[at] = ((__global const uint *)x)[from];
                else
                    ((__global ulong *)y)[at] = ((__global const ulong *)x)[from];
            }
            to += keep[first + i];
        }
    }
}
