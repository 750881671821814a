/* SPDX-License-Identifier: Apache-2.0 */
/* A value of accumulator `a` that fits no window. Included after base/exact.h. */
inline void note_misfit(volatile __global int *misfits, __global const ulong *shape, uint a, ulong bits)
{
    if (!hac_exact_finite(bits)) {
        atomic_or(misfits + MISFIT_INTS * (uint)shape[SHAPE_N_ACCS], 1);
        return;
    }
    atomic_min(misfits + MISFIT_INTS * a + MISFIT_LOW, hac_exact_exponent(bits));
    atomic_max(misfits + MISFIT_INTS * a + MISFIT_HIGH, hac_exact_exponent(bits));
}
