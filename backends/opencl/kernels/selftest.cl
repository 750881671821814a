/* SPDX-License-Identifier: Apache-2.0 */
/* Does this device compute at all? The answer of each kernel is known beforehand
 * (codelets/common/selftest.c). */
#pragma OPENCL FP_CONTRACT OFF

/*
 * One work-item. result[0]: the sum of n values, in 16 lanes. result[1]: the number of iterations of a loop
 * in steps of the first value; its condition reads memory, so that no compiler folds the loop. There are two
 * launches, since llvmpipe counts the iterations of all loops together, but one kernel, since compilers take
 * as long again for another.
 */
__kernel void selftest_sum(__global const uint16 *data, uint n_vectors, uint iterations,
                           __global ulong *result)
{
    __global const uint *step = (__global const uint *)data;
    uint done = 0;
    for (uint i = 0; i < iterations; i += step[0])
        done += step[0];
    ulong16 sums = 0;
    for (uint i = 0; i < n_vectors; i++)
        sums += convert_ulong16(data[i]);
    ulong8 a = sums.lo + sums.hi;
    ulong4 b = a.lo + a.hi;
    ulong2 c = b.lo + b.hi;
    result[0] = c.x + c.y;
    result[1] = done;
}

/* Each work-group reverses its slice through local memory. */
__kernel void selftest_local(__global uint *data, __local uint *tile)
{
    size_t local_id = get_local_id(0), size = get_local_size(0), at = get_global_id(0);
    tile[local_id] = data[at] * 2654435761u + (uint)get_group_id(0);
    barrier(CLK_LOCAL_MEM_FENCE);
    data[at] = tile[size - 1 - local_id];
}
