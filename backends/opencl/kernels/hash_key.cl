/* SPDX-License-Identifier: Apache-2.0 */
/* A key's value in a form in which equal keys have equal words: all NaNs are one, and -0.0 is 0.0. */
inline ulong key_word(ulong w, uint how)
{
    if (how == KEY_F32) {
        float f = as_float((uint)w);
        return isnan(f) ? 0x7fc00000u : as_uint(f + 0.0f);
    }
#ifdef cl_khr_fp64
    if (how == KEY_F64) {
        double d = as_double(w);
        return isnan(d) ? 0x7ff8000000000000UL : as_ulong(d + 0.0);
    }
#endif
    return w;
}
