/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a table's columns (base/table.h), in both styles. Included after expr_device_ops.cl. */

/* The words of the columns: at byte `at` of the table, if rows lie in blocks with an index
 * (splice/working_buffer.h); ~0: the plan's own. */
inline __global const ulong *columns_at(__global const ulong *plan, __global const uchar *table, ulong at)
{
    return at == ~0UL ? plan + plan[EXPR_PLAN_COLUMNS] : (__global const ulong *)(table + at);
}

inline long bit_at(__global const uchar *bits, ulong i)
{
    return (bits[i >> 3] >> (i & 7)) & 1;
}

inline ulong mix(ulong h, ulong w, ulong odd)
{
    h = (h ^ w) * odd;
    return h ^ (h >> 32);
}

/* The seeded hash of a string; the register of a string column holds it. */
inline ulong hash_bytes(__global const uchar *s, ulong n, ulong odd1, ulong odd2)
{
    ulong h = mix(odd2, n, odd1);
    for (; n >= 8; s += 8, n -= 8)
        h = mix(h, as_ulong(vload8(0, s)), odd1);
    ulong rest = 0;
    for (uint i = 0; i < n; i++)
        rest |= (ulong)s[i] << (8 * i);
    return mix(mix(h, rest, odd2), h >> 17, odd1);
}

/* Where string `row` lies. Returns false if its offsets are not in order. */
inline bool string_at(__global const uchar *table, __global const ulong *column, ulong row, ulong *ret_at,
                      ulong *ret_bytes)
{
    ulong from, to;
    __global const uchar *values = table + column[EXPR_COLUMN_VALUES];
    if (column[EXPR_COLUMN_KIND] & EXPR_KIND_LARGE) {
        from = ((__global const ulong *)values)[row];
        to = ((__global const ulong *)values)[row + 1];
    } else {
        from = (ulong)((__global const int *)values)[row];
        to = (ulong)((__global const int *)values)[row + 1];
    }
    *ret_at = column[EXPR_COLUMN_BYTES] + from;
    *ret_bytes = to - from;
    return from <= to && to <= column[EXPR_COLUMN_N_BYTES];
}
