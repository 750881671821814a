/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The column machine, block style: one work-item runs a plan over a batch of rows, in vectors of 8 rows.
 * Registers lie in the work-item's scratch and stay in its fastest cache: BATCH values of 64 bits (f32: of
 * 32) and a state byte for each row. `clean` says that all rows of a register are valid, so that states cost
 * nothing where there are no nulls. Included after expr_device_ops.cl and before expr_ops.cl.
 */
#pragma OPENCL FP_CONTRACT OFF
#ifdef cl_khr_fp64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif

#define BATCH   1024 /* HAC_BATCH_ROWS */
#define LANES   8
#define VECTORS (BATCH / LANES)

typedef long8 vi;
typedef ulong8 vu;
typedef float8 vf;
#ifdef cl_khr_fp64
typedef double8 vd;
#endif

/* PoCL's convert_… works lane by lane. */
#ifdef __clang__
#define CONVERT(v, type) __builtin_convertvector(v, type)
#else
#define CONVERT(v, type) convert_##type(v)
#endif
#define AS_I(v)     as_long8(v)
#define AS_U(v)     as_ulong8(v)
#define M64(c)      (c)
#define M32(c)      CONVERT(c, long8)
#define TO_VI(v)    CONVERT(v, long8)
#define TO_VF(v)    CONVERT(v, float8)
#define TO_VD(v)    CONVERT(v, double8)
#define TO_VI_32(v) CONVERT(CONVERT(v, int8), long8)

typedef struct {
    __global const ulong *plan, *constants, *columns;
    __global const uchar *table;
#ifdef EXPR_TABLES
    __global const uchar *tables[EXPR_TABLES_MAX]; /* each column names its own */
#endif
    __global ulong *values;
    __global uchar *states;
    uint rows, vectors;
    /* the first row, null and excluded rows included, where a string's offsets are not in order; ~0: none */
    ulong damaged;
    vi failed;            /* lanes of the current instruction, combined */
    uchar8 fail[VECTORS]; /* its states */
    uchar clean[EXPR_REGISTERS_MAX];
} machine;

#define MACHINE          machine
#define CONSTANT(i)      (m->constants[i])
#define EACH             for (uint v = 0; v < m->vectors; v++)
#define EACH_ROW         for (uint row = 0; row < m->rows; row++)
#define GET(T, r)        (((__global const T *)(m->values + (r)*BATCH))[v])
#define PUT(T, r, x)     (((__global T *)(m->values + (r)*BATCH))[v] = (x))
#define GET_ROW(T, r)    (((__global const T *)(m->values + (r)*BATCH))[row])
#define PUT_ROW(T, r, x) (((__global T *)(m->values + (r)*BATCH))[row] = (x))
#define STATES(r)        ((__global uchar8 *)(m->states + (r)*BATCH))
#define GET_STATE(r)     (m->clean[r] ? (vi)0 : CONVERT(STATES(r)[v], long8))
#define FAIL(state)                                                                                          \
    {                                                                                                        \
        vi f = (state);                                                                                      \
        m->failed |= f;                                                                                      \
        m->fail[v] = CONVERT(f, uchar8);                                                                     \
    }
/* The flag of a result is set after the instruction, since its operands may be the same register. */
#define PUT_STATE(r, s) FAIL(s)
#define COPY(r, a, narrow)                                                                                   \
    if (narrow)                                                                                              \
        PUT(vf, r, GET(vf, a));                                                                              \
    else                                                                                                     \
        PUT(vi, r, GET(vi, a));
#define CHOOSE(r, first, a, b, narrow)                                                                       \
    if (narrow)                                                                                              \
        PUT(vf, r, CONVERT(first, int8) ? GET(vf, a) : GET(vf, b));                                          \
    else                                                                                                     \
        PUT(vi, r, first ? GET(vi, a) : GET(vi, b));
#define FILL(r, value, narrow)                                                                               \
    if (narrow)                                                                                              \
        PUT(vf, r, (vf)as_float((uint)(value)));                                                             \
    else                                                                                                     \
        PUT(vu, r, (vu)(value));

/* any(v) is compiled lane by lane. */
inline bool some(vi v)
{
    long4 w = v.lo | v.hi;
    long2 x = w.lo | w.hi;
    return (x.x | x.y) != 0;
}

#define TAKE(elements, element, wide, to)                                                                    \
    {                                                                                                        \
        typedef elements loose __attribute__((aligned(sizeof(element))));                                    \
        __global const element *from = (__global const element *)(m->table + at) + first;                    \
        for (uint v = 0; v < whole; v++)                                                                     \
            PUT(wide, r, CONVERT(*(__global const loose *)(from + v * LANES), wide));                        \
        for (uint row = whole * LANES; row < m->rows; row++)                                                 \
            PUT_ROW(to, r, (to)from[row]);                                                                   \
    }                                                                                                        \
    break;

/* Bits first … first + 8 × whole - 1 as vectors; `invert` 1 inverts them. */
#define EACH_BITS(bits, use)                                                                                 \
    for (uint v = 0; v < whole; v++) {                                                                       \
        ulong i = first + v * LANES;                                                                         \
        uint byte = (bits)[i >> 3];                                                                          \
        if (i & 7)                                                                                           \
            byte = ((byte | (uint)(bits)[(i >> 3) + 1] << 8) >> (i & 7)) & 0xff;                             \
        vi lanes = ((vi)(long)byte >> (vi)(0, 1, 2, 3, 4, 5, 6, 7)) & (vi)1;                                 \
        use;                                                                                                 \
    }

inline void load_bits(machine *m, __global const uchar *bits, ulong first, uint r)
{
    uint whole = m->rows / LANES;
    EACH_BITS(bits, PUT(vi, r, lanes))
    for (uint row = whole * LANES; row < m->rows; row++)
        PUT_ROW(long, r, bit_at(bits, first + row));
}

inline void load_validity(machine *m, __global const uchar *bits, ulong first, uint r)
{
    uint whole = m->rows / LANES;
    vi nulls = 0;
    EACH_BITS(bits, nulls |= lanes ^ (vi)1; STATES(r)[v] = CONVERT(lanes ^ (vi)1, uchar8))
    long tail = 0;
    for (uint row = whole * LANES; row < m->rows; row++) {
        long null = bit_at(bits, first + row) ^ 1;
        m->states[r * BATCH + row] = (uchar)null;
        tail |= null;
    }
    m->clean[r] = !some(nulls) && tail == 0;
}

inline void load_strings(machine *m, __global const ulong *column, ulong first, uint r)
{
    ulong odd1 = m->plan[EXPR_PLAN_SEED], odd2 = m->plan[EXPR_PLAN_SEED + 1];
    for (uint row = 0; row < m->rows; row++) {
        ulong at, bytes, h = 0;
        bool null = !m->clean[r] && m->states[r * BATCH + row] == ROW_NULL;
        if (!string_at(m->table, column, first + row, &at, &bytes)) {
            if (m->clean[r])
                for (uint i = 0; i < BATCH; i++)
                    m->states[r * BATCH + i] = 0;
            m->clean[r] = 0;
            m->states[r * BATCH + row] = ROW_MALFORMED;
            m->damaged = min(m->damaged, first + row);
        } else if (!null) {
            h = hash_bytes(m->table + at, bytes, odd1, odd2);
        }
        PUT_ROW(ulong, r, h);
    }
}

/* Rows first … first + rows - 1 of input `k`, widened. */
inline void load_column(machine *m, uint k, ulong first, uint r)
{
    __global const ulong *column = m->columns + k * EXPR_COLUMN_WORDS;
#ifdef EXPR_TABLES
    m->table = m->tables[column[EXPR_COLUMN_TABLE]];
#endif
    ulong at = column[EXPR_COLUMN_VALUES];
    uint whole = m->rows / LANES;
    m->clean[r] = 1;
    if (column[EXPR_COLUMN_VALIDITY] != ~0UL)
        load_validity(m, m->table + column[EXPR_COLUMN_VALIDITY], first, r);
    switch (column[EXPR_COLUMN_KIND]) {
    case KIND_BOOL:
        load_bits(m, m->table + at, first, r);
        break;
    case KIND_BOOL | EXPR_KIND_BYTES:
        EACH_ROW PUT_ROW(long, r, m->table[at + first + row] != 0);
        break;
    case KIND_I8:
        TAKE(char8, char, vi, long)
    case KIND_I16:
        TAKE(short8, short, vi, long)
    case KIND_I32:
    case KIND_DATE:
        TAKE(int8, int, vi, long)
    case KIND_I64:
    case KIND_U64:
    case KIND_F64:
    case KIND_TIMESTAMP:
    case KIND_DECIMAL:
        TAKE(long8, long, vi, long)
    case KIND_U8:
        TAKE(uchar8, uchar, vu, ulong)
    case KIND_U16:
        TAKE(ushort8, ushort, vu, ulong)
    case KIND_U32:
        TAKE(uint8, uint, vu, ulong)
    case KIND_F32:
        TAKE(float8, float, vf, float)
    default:
        load_strings(m, column, first, r);
        break;
    }
}

/* The state of a strict result is the highest state of its operands or, if they are valid, its own. */
inline void combine_states(machine *m, uint rr, uint ra, uint rb, uint rc, uint operands, bool own)
{
    bool clean =
        (operands < 1 || m->clean[ra]) && (operands < 2 || m->clean[rb]) && (operands < 3 || m->clean[rc]);
    if (own || !clean) {
        for (uint v = 0; v < m->vectors; v++) {
            uchar8 s = 0;
            if (operands >= 1 && !m->clean[ra])
                s = max(s, STATES(ra)[v]);
            if (operands >= 2 && !m->clean[rb])
                s = max(s, STATES(rb)[v]);
            if (operands >= 3 && !m->clean[rc])
                s = max(s, STATES(rc)[v]);
            if (own)
                s = s == (uchar8)0 ? m->fail[v] : s;
            STATES(rr)[v] = s;
        }
    }
    m->clean[rr] = clean && !own;
}
