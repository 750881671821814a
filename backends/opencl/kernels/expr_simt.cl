/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The column machine, lock-step style: a work-item runs a plan for one row, its neighbours for the
 * neighbouring rows. Register r of work-item t is at r × lanes + t of the work-group's scratch, so that
 * neighbours access neighbouring words. Included after expr_device_ops.cl and before expr_ops.cl.
 */
#pragma OPENCL FP_CONTRACT OFF
#ifdef cl_khr_fp64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif

typedef long vi;
typedef ulong vu;
typedef float vf;
#ifdef cl_khr_fp64
typedef double vd;
#endif

#define AS_I(v)     ((long)(v))
#define AS_U(v)     ((ulong)(v))
#define M64(c)      (-(long)(c))
#define M32(c)      (-(long)(c))
#define TO_VI(v)    ((long)(v))
#define TO_VF(v)    ((float)(v))
#define TO_VD(v)    ((double)(v))
#define TO_VI_32(v) ((long)(int)(v))

typedef struct {
    __global const ulong *plan, *constants, *columns;
    __global const uchar *table;
#ifdef EXPR_TABLES
    __global const uchar *tables[EXPR_TABLES_MAX]; /* each column names its own */
#endif
    __global ulong *values; /* of this work-item */
    __global uchar *states;
    uint lanes;
    uint fail; /* the state that the current instruction itself gives */
    bool damaged; /* a string's offsets are not in order, even if the row is null or excluded */
} machine;

#define MACHINE     machine
#define CONSTANT(i) (m->constants[i])
#define EACH
#define EACH_ROW
#define GET(T, r)                      (*(__global const T *)(m->values + (r)*m->lanes))
#define PUT(T, r, x)                   (*(__global T *)(m->values + (r)*m->lanes) = (x))
#define GET_ROW(T, r)                  GET(T, r)
#define PUT_ROW(T, r, x)               PUT(T, r, x)
#define STATE(r)                       (m->states[(r)*m->lanes])
#define GET_STATE(r)                   ((long)STATE(r))
#define FAIL(state)                    m->fail = (uint)(state);
#define PUT_STATE(r, s)                FAIL(s)
#define COPY(r, a, narrow)             PUT(ulong, r, GET(ulong, a));
#define CHOOSE(r, first, a, b, narrow) PUT(ulong, r, (first) ? GET(ulong, a) : GET(ulong, b));
#define FILL(r, value, narrow)         PUT(ulong, r, value);

#define VALUE_AT(element, wide) PUT(wide, r, (wide)((__global const element *)values)[row]);

inline void load_column(machine *m, uint k, ulong row, uint r)
{
    __global const ulong *column = m->columns + k * EXPR_COLUMN_WORDS;
#ifdef EXPR_TABLES
    m->table = m->tables[column[EXPR_COLUMN_TABLE]];
#endif
    __global const uchar *values = m->table + column[EXPR_COLUMN_VALUES];
    uint state = 0;
    if (column[EXPR_COLUMN_VALIDITY] != ~0UL)
        state = (uint)bit_at(m->table + column[EXPR_COLUMN_VALIDITY], row) ^ 1;
    switch ((uint)column[EXPR_COLUMN_KIND]) {
    case KIND_BOOL:
        PUT(long, r, bit_at(values, row));
        break;
    case KIND_BOOL | EXPR_KIND_BYTES:
        PUT(long, r, values[row] != 0);
        break;
    case KIND_I8:
        VALUE_AT(char, long)
        break;
    case KIND_I16:
        VALUE_AT(short, long)
        break;
    case KIND_I32:
    case KIND_DATE:
        VALUE_AT(int, long)
        break;
    case KIND_U8:
        VALUE_AT(uchar, ulong)
        break;
    case KIND_U16:
        VALUE_AT(ushort, ulong)
        break;
    case KIND_U32:
    case KIND_F32: /* its bits */
        VALUE_AT(uint, ulong)
        break;
    case KIND_STRING:
    case KIND_STRING | EXPR_KIND_LARGE: {
        ulong at, bytes, h = 0;
        if (!string_at(m->table, column, row, &at, &bytes)) {
            state = ROW_MALFORMED;
            m->damaged = true;
        } else if (state == 0) {
            h = hash_bytes(m->table + at, bytes, m->plan[EXPR_PLAN_SEED], m->plan[EXPR_PLAN_SEED + 1]);
        }
        PUT(ulong, r, h);
        break;
    }
    default:
        VALUE_AT(ulong, ulong)
        break;
    }
    STATE(r) = (uchar)state;
}
