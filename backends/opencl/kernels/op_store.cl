/* SPDX-License-Identifier: Apache-2.0 */
/* What both styles of op.map share: tables of the operands, and how a value is stored in its vector. */

#define OP_TABLES                                                                                            \
    __global const uchar *t0, __global const uchar *t1, __global const uchar *t2, __global const uchar *t3,  \
        __global const uchar *t4, __global const uchar *t5, __global const uchar *t6
#define OP_SET_TABLES(m)                                                                                     \
    (m)->tables[0] = t0;                                                                                     \
    (m)->tables[1] = t1;                                                                                     \
    (m)->tables[2] = t2;                                                                                     \
    (m)->tables[3] = t3;                                                                                     \
    (m)->tables[4] = t4;                                                                                     \
    (m)->tables[5] = t5;                                                                                     \
    (m)->tables[6] = t6

/* Stores the `bits` of a machine's value (an f32 in the low half) as an element of `kind`. All NaNs become
 * one. */
inline void store_value(__global uchar *y, uint kind, ulong i, ulong bits)
{
    switch (kind) {
    case KIND_BOOL:
        y[i] = (uchar)bits;
        break;
    case KIND_F32:
        ((__global uint *)y)[i] = ((uint)bits & 0x7fffffffu) > 0x7f800000u ? 0x7fc00000u : (uint)bits;
        break;
    case KIND_I32:
    case KIND_U32:
        ((__global uint *)y)[i] = (uint)bits;
        break;
    case KIND_F64:
        ((__global ulong *)y)[i] =
            (bits & 0x7fffffffffffffffUL) > 0x7ff0000000000000UL ? 0x7ff8000000000000UL : bits;
        break;
    default:
        ((__global ulong *)y)[i] = bits;
        break;
    }
}
