/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Replaces PoCL's header of OpenCL functions, whose 15,000 declarations take longer to read than one of our
 * programs takes to compile. Each function has all of its overloads for scalars, so the same one is called
 * with either header. If a function is missing, the compilation fails, and the program is compiled with
 * PoCL's own header (program.c).
 */
#define OVERLOAD __attribute__((overloadable))
#define CONST    OVERLOAD __attribute__((const))
#define PURE     OVERLOAD __attribute__((pure))

#define EACH_WIDTH(X, type)       X(type, 2) X(type, 3) X(type, 4) X(type, 8) X(type, 16)
#define EACH_WIDTH_OF(X, to, from) X(to, from, 2) X(to, from, 3) X(to, from, 4) X(to, from, 8) X(to, from, 16)
#define EACH_INTEGER(X)           X(char) X(uchar) X(short) X(ushort) X(int) X(uint) X(long) X(ulong)
#ifdef cl_khr_fp64
#define EACH_REAL(X) X(float) X(double)
#else
#define EACH_REAL(X) X(float)
#endif

#define OF_TWO(type)                                                                                         \
    type CONST min(type, type);                                                                              \
    type CONST max(type, type);                                                                              \
    EACH_WIDTH(OF_TWO_WIDE, type)
#define OF_TWO_WIDE(type, n)                                                                                 \
    type##n CONST min(type##n, type##n);                                                                     \
    type##n CONST min(type##n, type);                                                                        \
    type##n CONST max(type##n, type##n);                                                                     \
    type##n CONST max(type##n, type);
EACH_INTEGER(OF_TWO)
EACH_REAL(OF_TWO)

#define OF_BITS(type)                                                                                        \
    type CONST clz(type);                                                                                    \
    type CONST popcount(type);                                                                               \
    EACH_WIDTH(OF_BITS_WIDE, type)
#define OF_BITS_WIDE(type, n)                                                                                \
    type##n CONST clz(type##n);                                                                              \
    type##n CONST popcount(type##n);
EACH_INTEGER(OF_BITS)

#define SELECT(type, mask)                                                                                   \
    type CONST select(type, type, mask);                                                                     \
    EACH_WIDTH_OF(SELECT_WIDE, type, mask)
#define SELECT_WIDE(type, mask, n) type##n CONST select(type##n, type##n, mask##n);
#define SELECT_BY(signed_type, unsigned_type)                                                                \
    SELECT(signed_type, signed_type)                                                                         \
    SELECT(signed_type, unsigned_type)                                                                       \
    SELECT(unsigned_type, signed_type)                                                                       \
    SELECT(unsigned_type, unsigned_type)
SELECT_BY(char, uchar)
SELECT_BY(short, ushort)
SELECT_BY(int, uint)
SELECT_BY(long, ulong)
SELECT(float, int)
SELECT(float, uint)
#ifdef cl_khr_fp64
SELECT(double, long)
SELECT(double, ulong)
#endif

/* vectors only */
#define CONVERT(to, from, n) to##n CONST convert_##to##n(from##n);
#define CONVERT_FROM(from)                                                                                   \
    EACH_WIDTH_OF(CONVERT, int, from)                                                                        \
    EACH_WIDTH_OF(CONVERT, uint, from)                                                                       \
    EACH_WIDTH_OF(CONVERT, long, from)                                                                       \
    EACH_WIDTH_OF(CONVERT, ulong, from)                                                                      \
    EACH_WIDTH_OF(CONVERT, float, from)
EACH_INTEGER(CONVERT_FROM)
#ifdef cl_khr_fp64
EACH_WIDTH_OF(CONVERT, double, long)
EACH_WIDTH_OF(CONVERT, double, ulong)
#endif

#define SHUFFLE(type, mask, n) type##n CONST shuffle2(type##n, type##n, mask##n);
EACH_WIDTH_OF(SHUFFLE, int, uint)
EACH_WIDTH_OF(SHUFFLE, uint, uint)
EACH_WIDTH_OF(SHUFFLE, long, ulong)
EACH_WIDTH_OF(SHUFFLE, ulong, ulong)

#define LOAD_WIDE(space, type, n)                                                                            \
    type##n PURE vload##n(size_t, const space type *);                                                       \
    void OVERLOAD vstore##n(type##n, size_t, space type *);
#define LOAD_IN(space, type)                                                                                 \
    LOAD_WIDE(space, type, 2)                                                                                \
    LOAD_WIDE(space, type, 4) LOAD_WIDE(space, type, 8) LOAD_WIDE(space, type, 16)
#define LOAD(type) LOAD_IN(__global, type) LOAD_IN(__local, type) LOAD_IN(__private, type)
EACH_INTEGER(LOAD)

#define ATOMIC_IN(space, type)                                                                               \
    type OVERLOAD atomic_inc(volatile space type *);                                                         \
    type OVERLOAD atomic_add(volatile space type *, type);                                                   \
    type OVERLOAD atomic_or(volatile space type *, type);                                                    \
    type OVERLOAD atomic_cmpxchg(volatile space type *, type, type);
#define ATOMIC(type) ATOMIC_IN(__global, type) ATOMIC_IN(__local, type)
ATOMIC(int)
ATOMIC(uint)

void OVERLOAD __attribute__((convergent)) barrier(cl_mem_fence_flags);
size_t CONST get_global_id(uint);
size_t CONST get_global_size(uint);
size_t CONST get_group_id(uint);
size_t CONST get_local_id(uint);
size_t CONST get_local_size(uint);
size_t CONST get_num_groups(uint);

#undef OVERLOAD
#undef CONST
#undef PURE
#undef EACH_WIDTH
#undef EACH_WIDTH_OF
#undef EACH_INTEGER
#undef EACH_REAL
#undef OF_TWO
#undef OF_TWO_WIDE
#undef OF_BITS
#undef OF_BITS_WIDE
#undef SELECT
#undef SELECT_WIDE
#undef SELECT_BY
#undef CONVERT
#undef CONVERT_FROM
#undef SHUFFLE
#undef LOAD_WIDE
#undef LOAD_IN
#undef LOAD
#undef ATOMIC_IN
#undef ATOMIC
