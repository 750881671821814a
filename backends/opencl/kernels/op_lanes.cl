/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sub-operators: one source for both styles. The work of 64 lanes is done by a work-group of 64 work-items
 * that share local memory, or by one work-item that loops over the lanes (OP_BLOCK_STYLE). Code between two
 * SYNC runs for each lane; what a lane keeps from one such part to the next is OWN.
 *
 * The contents of buffers are not trusted: offsets and indices are checked where they are read. `fail` gets
 * the lowest row of each kind of failure.
 */
#pragma OPENCL FP_CONTRACT OFF
#ifdef cl_khr_fp64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif

#define OP_LANES     64 /* base/op_layout.h */
#define OP_ROWS      4096
#define OP_KEY_ROWS  65536
#define OP_FAIL_SUM   0
#define OP_FAIL_INDEX 1
#define OP_FAIL_ROW   2
#define OP_FAIL_STATE 3

#ifdef OP_BLOCK_STYLE
#define LANE_KERNEL  __kernel __attribute__((reqd_work_group_size(1, 1, 1))) void
#define EACH_LANE    for (uint l = 0; l < OP_LANES; l++)
#define OWN(T, name) T name[OP_LANES]
#define MY(name)     name[l]
#define SHARED(T, name, n) T name[n]
#define SYNC
#else
#define LANE_KERNEL  __kernel __attribute__((reqd_work_group_size(OP_LANES, 1, 1))) void
#define EACH_LANE
#define OWN(T, name) const uint l = (uint)get_local_id(0); T name
#define MY(name)     name
#define SHARED(T, name, n) __local T name[n]
#define SYNC         barrier(CLK_LOCAL_MEM_FENCE)
#endif
#define UNIT get_group_id(0)

/* hac_kind */
#define OP_BOOL 1
#define OP_I32  4
#define OP_I64  5
#define OP_U32  8
#define OP_U64  9
#define OP_F32  10
#define OP_F64  11

/* hac_op_function */
#define OP_SUM               0
#define OP_MIN               1
#define OP_MAX               2
#define OP_ARGMIN            4
#define OP_ARGMAX            5
#define OP_SQUARES           6
#define OP_MAGNITUDE         7
#define OP_LARGEST           8
#define OP_PRODUCTS          9
#define OP_EUCLIDEAN         10
#define OP_SQUARED_EUCLIDEAN 11
#define OP_MANHATTAN         12
#define OP_COSINE            13

inline void note_failure(volatile __global uint *fail, uint what, ulong row)
{
    atomic_min(&fail[what], (uint)row);
}

/* Element `i` of an index. Negative elements become very large. */
inline ulong index_at(__global const uchar *index, uint kind, ulong i)
{
    switch (kind) {
    case OP_U32:
        return ((__global const uint *)index)[i];
    case OP_I32:
        return (ulong)(long)((__global const int *)index)[i];
    default:
        return ((__global const ulong *)index)[i];
    }
}
