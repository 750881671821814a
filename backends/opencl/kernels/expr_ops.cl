/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the operations of expr/ops.h do, for both styles. The including file defines the types `vi` (signed),
 * `vu`, `vd` and `vf` (8 rows, or one), how registers are read and written (GET, PUT, GET_STATE, PUT_STATE,
 * FAIL), and what EACH repeats for. Masks are `vi`: all ones or zero. Every row is computed, whatever its
 * state, so operations that are undefined for some values (a division by zero) are guarded here.
 */
#define MONTHS_MAX      (4000000000L)
#define SIGN_BIT        ((long)0x8000000000000000L)
#define ONE_OF(m)       ((m) & (vi)1)
#define NAN_64(x)       M64((x) != (x))
#define NAN_32(x)       M32((x) != (x))
#define FLOOR_DIV(a, d) ((a) / (vi)(d)-ONE_OF(M64((a) % (vi)(d) < (vi)0)))

/* Days since 1970-01-01 of a day of the proleptic Gregorian calendar, and back (Hinnant's algorithms). */
inline vi days_from_civil(vi year, vi month, vi day)
{
    vi y = year - ONE_OF(M64(month <= (vi)2));
    vi era = FLOOR_DIV(y, 400);
    vi yoe = y - era * (vi)400;
    vi shifted = month + (M64(month > (vi)2) ? (vi)-3 : (vi)9);
    vi doy = ((vi)153 * shifted + (vi)2) / (vi)5 + day - (vi)1;
    vi doe = yoe * (vi)365 + yoe / (vi)4 - yoe / (vi)100 + doy;
    return era * (vi)146097 + doe - (vi)719468;
}

typedef struct {
    vi year, month, day;
} civil;

inline civil civil_from_days(vi days)
{
    vi z = days + (vi)719468;
    vi era = FLOOR_DIV(z, 146097);
    vi doe = z - era * (vi)146097;
    vi yoe = (doe - doe / (vi)1460 + doe / (vi)36524 - doe / (vi)146096) / (vi)365;
    vi doy = doe - ((vi)365 * yoe + yoe / (vi)4 - yoe / (vi)100);
    vi mp = ((vi)5 * doy + (vi)2) / (vi)153;
    civil c;
    c.day = doy - ((vi)153 * mp + (vi)2) / (vi)5 + (vi)1;
    c.month = mp + (M64(mp < (vi)10) ? (vi)3 : (vi)-9);
    c.year = yoe + era * (vi)400 + ONE_OF(M64(c.month <= (vi)2));
    return c;
}

inline vi days_in_month(vi year, vi month)
{
    vi y4 = M64((year & (vi)3) == (vi)0), y100 = M64(year % (vi)100 == (vi)0);
    vi y400 = M64(year % (vi)400 == (vi)0);
    vi leap = y4 & (~y100 | y400);
    vi thirty = M64(month == (vi)4) | M64(month == (vi)6) | M64(month == (vi)9) | M64(month == (vi)11);
    return M64(month == (vi)2) ? (vi)28 + ONE_OF(leap) : (vi)31 - ONE_OF(thirty);
}

/* Monday is 0. */
inline vi weekday(vi days)
{
    vi shifted = days + (vi)3;
    return shifted - FLOOR_DIV(shifted, 7) * (vi)7;
}

inline vi day_of_year(vi days)
{
    civil c = civil_from_days(days);
    return days - days_from_civil(c.year, (vi)1, (vi)1) + (vi)1;
}

/* hac_date_unit */
inline vi date_part(vi days, uint unit)
{
    civil c = civil_from_days(days);
    switch (unit) {
    case 0:
        return c.year;
    case 1:
        return (c.month + (vi)2) / (vi)3;
    case 2:
        return c.month;
    case 3:
        return (day_of_year(days - weekday(days) + (vi)3) - (vi)1) / (vi)7 + (vi)1;
    case 4:
        return c.day;
    case 5:
        return weekday(days) + (vi)1;
    default:
        return day_of_year(days);
    }
}

inline vi date_trunc(vi days, uint unit)
{
    civil c = civil_from_days(days);
    switch (unit) {
    case 0:
        return days_from_civil(c.year, (vi)1, (vi)1);
    case 1:
        return days_from_civil(c.year, (c.month - (vi)1) / (vi)3 * (vi)3 + (vi)1, (vi)1);
    case 2:
        return days - c.day + (vi)1;
    case 3:
        return days - weekday(days);
    default:
        return days;
    }
}

#define MICROSECONDS_DAY    86400000000L
#define MICROSECONDS_HOUR   3600000000L
#define MICROSECONDS_MINUTE 60000000L
#define MICROSECONDS_SECOND 1000000L

inline vi time_part(vi us, uint unit)
{
    vi of_day = us - FLOOR_DIV(us, MICROSECONDS_DAY) * (vi)MICROSECONDS_DAY;
    switch (unit) {
    case 7:
        return of_day / (vi)MICROSECONDS_HOUR;
    case 8:
        return of_day / (vi)MICROSECONDS_MINUTE % (vi)60;
    case 9:
        return of_day / (vi)MICROSECONDS_SECOND % (vi)60;
    default:
        return of_day % (vi)MICROSECONDS_SECOND;
    }
}

/* Truncation never leaves the type: the lowest timestamps stay as they are. */
inline vi time_trunc(vi us, uint unit)
{
    vi step = (vi)(unit == 7 ? MICROSECONDS_HOUR : unit == 8 ? MICROSECONDS_MINUTE : MICROSECONDS_SECOND);
    vi rest = us % step;
    return us - (rest + (M64(rest < (vi)0) & step));
}

inline vi multiply_overflows(vi a, vi b, vi product)
{
    return M64(mul_hi(a, b) != product >> 63);
}

inline ulong power_of_ten(uint digits)
{
    ulong p = 1;
    for (uint i = 0; i < digits && i < 19; i++)
        p *= 10;
    return p;
}

/* Rounds half away from zero. */
inline vi scale_down(vi a, uint digits)
{
    if (digits > 19)
        return (vi)0;
    vu d = (vu)power_of_ten(digits);
    vi negative = a >> 63;
    vu whole = (AS_U(a) ^ AS_U(negative)) - AS_U(negative);
    vu q = whole / d;
    q += AS_U(ONE_OF(M64(whole - q * d >= d - d / (vu)2)));
    return (AS_I(q) ^ negative) - negative;
}

inline vi scale_up_overflows(vi a, uint digits)
{
    if (digits > 18)
        return M64(a != (vi)0);
    vi limit = (vi)(long)(0x7fffffffffffffffUL / power_of_ten(digits));
    return digits == 0 ? (vi)0 : M64(a > limit) | M64(a < -limit);
}

#ifdef cl_khr_fp64
#define DIV_32(a, b) TO_VF(TO_VD(a) / TO_VD(b)) /* correctly rounded, even if the 32-bit root is not */
#define SQRT_32(a)   TO_VF(sqrt(TO_VD(a)))
#else
#define DIV_32(a, b) ((a) / (b))
#define SQRT_32(a)   sqrt(a)
#endif

#define LESS_64(a, b)  (M64((a) < (b)) | (NAN_64(b) & ~NAN_64(a)))
#define LESS_32(a, b)  (M32((a) < (b)) | (NAN_32(b) & ~NAN_32(a)))
#define EQUAL_64(a, b) (M64((a) == (b)) | (NAN_64(a) & NAN_64(b)))
#define EQUAL_32(a, b) (M32((a) == (b)) | (NAN_32(a) & NAN_32(b)))

/* Names for parts of an instruction, in run_instruction. */
#define UNARY(name, R, A, value)                                                                             \
    case EXPR_##name:                                                                                        \
        EACH                                                                                                 \
        {                                                                                                    \
            A a = GET(A, ra);                                                                                \
            PUT(R, rr, value);                                                                               \
        }                                                                                                    \
        break;
#define BINARY(name, R, A, value)                                                                            \
    case EXPR_##name:                                                                                        \
        EACH                                                                                                 \
        {                                                                                                    \
            A a = GET(A, ra), b = GET(A, rb);                                                                \
            PUT(R, rr, value);                                                                               \
        }                                                                                                    \
        break;
/* `state`: 0, or the new state of the row. */
#define UNARY_FAILS(name, R, A, value, state)                                                                \
    case EXPR_##name:                                                                                        \
        EACH                                                                                                 \
        {                                                                                                    \
            A a = GET(A, ra);                                                                                \
            R r = (value);                                                                                   \
            FAIL(state);                                                                                     \
            PUT(R, rr, r);                                                                                   \
        }                                                                                                    \
        break;
#define BINARY_FAILS(name, R, A, value, state)                                                               \
    case EXPR_##name:                                                                                        \
        EACH                                                                                                 \
        {                                                                                                    \
            A a = GET(A, ra), b = GET(A, rb);                                                                \
            R r = (value);                                                                                   \
            FAIL(state);                                                                                     \
            PUT(R, rr, r);                                                                                   \
        }                                                                                                    \
        break;

/* A divisor that cannot trap: 1 in place of 0, and of -1 if the quotient would not fit. */
inline vi safe_divisor(vi a, vi b)
{
    vi bad = M64(b == (vi)0) | (M64(b == (vi)-1) & M64(a == (vi)SIGN_BIT));
    return bad ? (vi)1 : b;
}

inline void integer_instruction(MACHINE *m, uint op, uint rr, uint ra, uint rb, uint k)
{
    const vi over = (vi)ROW_OVERFLOW, zero = (vi)0;
    switch (op) {
        BINARY_FAILS(ADD_I64, vi, vi, AS_I(AS_U(a) + AS_U(b)), ((a ^ r) & (b ^ r)) >> 63 & over)
        BINARY_FAILS(SUB_I64, vi, vi, AS_I(AS_U(a) - AS_U(b)), ((a ^ b) & (a ^ r)) >> 63 & over)
        BINARY_FAILS(MUL_I64, vi, vi, AS_I(AS_U(a) * AS_U(b)), multiply_overflows(a, b, r) & over)
        BINARY_FAILS(DIV_I64, vi, vi, a / safe_divisor(a, b),
                     (M64(b == zero) & (vi)ROW_NULL) | (M64(b == (vi)-1) & M64(a == (vi)SIGN_BIT) & over))
        BINARY_FAILS(MOD_I64, vi, vi, a % safe_divisor(a, b), M64(b == zero) & (vi)ROW_NULL)
        UNARY_FAILS(NEG_I64, vi, vi, AS_I((vu)0 - AS_U(a)), M64(a == (vi)SIGN_BIT) & over)
        UNARY_FAILS(ABS_I64, vi, vi, AS_I((AS_U(a) ^ AS_U(a >> 63)) - AS_U(a >> 63)),
                    M64(a == (vi)SIGN_BIT) & over)
        BINARY_FAILS(ADD_U64, vu, vu, a + b, M64(r < a) & over)
        BINARY_FAILS(SUB_U64, vu, vu, a - b, M64(a < b) & over)
        BINARY_FAILS(MUL_U64, vu, vu, a * b, M64(mul_hi(a, b) != (vu)0) & over)
        BINARY_FAILS(DIV_U64, vu, vu, a / (M64(b == (vu)0) ? (vu)1 : b), M64(b == (vu)0) & (vi)ROW_NULL)
        BINARY_FAILS(MOD_U64, vu, vu, a % (M64(b == (vu)0) ? (vu)1 : b), M64(b == (vu)0) & (vi)ROW_NULL)
        BINARY(EQ_BOOL, vi, vi, ONE_OF(M64(a == b)))
        BINARY(LT_BOOL, vi, vi, ONE_OF(M64(a < b)))
        BINARY(EQ_I64, vi, vi, ONE_OF(M64(a == b)))
        BINARY(LT_I64, vi, vi, ONE_OF(M64(a < b)))
        BINARY(LE_I64, vi, vi, ONE_OF(M64(a <= b)))
        BINARY(EQ_U64, vi, vu, ONE_OF(M64(a == b)))
        BINARY(LT_U64, vi, vu, ONE_OF(M64(a < b)))
        BINARY(LE_U64, vi, vu, ONE_OF(M64(a <= b)))
        UNARY(NOT, vi, vi, a ^ (vi)1)
        UNARY(BOOL_TO_I64, vi, vi, a)
        UNARY(I64_TO_BOOL, vi, vi, ONE_OF(M64(a != zero)))
        UNARY_FAILS(I64_TO_U64, vi, vi, a, M64(a < zero) & (vi)ROW_RANGE)
        UNARY_FAILS(U64_TO_I64, vi, vi, a, M64(a < zero) & (vi)ROW_RANGE)
        UNARY_FAILS(RANGE_I64, vi, vi, a,
                    (M64(a < (vi)(long)CONSTANT(k)) | M64(a > (vi)(long)CONSTANT(k + 1))) & (vi)ROW_RANGE)
        UNARY_FAILS(RANGE_U64, vu, vu, a,
                    (M64(a < (vu)CONSTANT(k)) | M64(a > (vu)CONSTANT(k + 1))) & (vi)ROW_RANGE)
        UNARY_FAILS(SCALE_UP_I64, vi, vi, AS_I(AS_U(a) * (vu)power_of_ten(k)),
                    scale_up_overflows(a, k) & over)
        UNARY(SCALE_DOWN_I64, vi, vi, scale_down(a, k))
    }
}

inline void date_instruction(MACHINE *m, uint op, uint rr, uint ra, uint rb, uint k)
{
    switch (op) {
        UNARY(DATE_PART, vi, vi, date_part(a, k))
        UNARY(TIME_PART, vi, vi, time_part(a, k))
        UNARY(DATE_TRUNC, vi, vi, date_trunc(a, k))
        UNARY(TIME_TRUNC, vi, vi, time_trunc(a, k))
        UNARY(TIMESTAMP_TO_DATE, vi, vi, FLOOR_DIV(a, MICROSECONDS_DAY))
        UNARY_FAILS(DATE_TO_TIMESTAMP, vi, vi, AS_I(AS_U(a) * (vu)MICROSECONDS_DAY),
                    multiply_overflows(a, (vi)MICROSECONDS_DAY, r) & (vi)ROW_RANGE)
    case EXPR_ADD_MONTHS:
        EACH
        {
            vi a = GET(vi, ra), b = GET(vi, rb);
            vi bad = M64(b > (vi)MONTHS_MAX) | M64(b < (vi)-MONTHS_MAX);
            civil c = civil_from_days(a);
            vi months = c.year * (vi)12 + c.month - (vi)1 + (bad ? (vi)0 : b);
            vi year = FLOOR_DIV(months, 12), month = months - year * (vi)12 + (vi)1;
            vi days = days_from_civil(year, month, min(c.day, days_in_month(year, month)));
            bad |= M64(days != TO_VI_32(days));
            FAIL(bad & (vi)ROW_OVERFLOW);
            PUT(vi, rr, days);
        }
        break;
    }
}

inline void float_instruction(MACHINE *m, uint op, uint rr, uint ra, uint rb)
{
    switch (op) {
        BINARY(ADD_F32, vf, vf, a + b)
        BINARY(SUB_F32, vf, vf, a - b)
        BINARY(MUL_F32, vf, vf, a * b)
        BINARY(DIV_F32, vf, vf, DIV_32(a, b))
        UNARY(NEG_F32, vf, vf, -a)
        UNARY(ABS_F32, vf, vf, fabs(a))
        UNARY(SQRT_F32, vf, vf, SQRT_32(a))
        UNARY(FLOOR_F32, vf, vf, floor(a))
        UNARY(CEIL_F32, vf, vf, ceil(a))
        UNARY(TRUNC_F32, vf, vf, trunc(a))
        UNARY(ROUND_F32, vf, vf, round(a))
        BINARY(EQ_F32, vi, vf, ONE_OF(EQUAL_32(a, b)))
        BINARY(LT_F32, vi, vf, ONE_OF(LESS_32(a, b)))
        BINARY(LE_F32, vi, vf, ONE_OF(~LESS_32(b, a)))
        UNARY(I64_TO_F32, vf, vi, TO_VF(a))
        UNARY(U64_TO_F32, vf, vu, TO_VF(a))
    }
}

#ifdef cl_khr_fp64
inline vi to_i64(vd a)
{
    vd whole = rint(a);
    vi bad = ~(M64(whole >= (vd)-0x1p63) & M64(whole < (vd)0x1p63));
    return TO_VI(bad ? (vd)0 : whole);
}

inline vi i64_fails(vd a)
{
    vd whole = rint(a);
    return ~(M64(whole >= (vd)-0x1p63) & M64(whole < (vd)0x1p63)) & (vi)ROW_RANGE;
}

/* In two halves: vector units convert signed integers best. */
inline vu to_u64(vd a)
{
    vd whole = rint(a);
    vi high = M64(whole >= (vd)0x1p63), bad = ~(M64(whole >= (vd)0) & M64(whole < (vd)0x1p64));
    vd low = bad ? (vd)0 : high ? whole - (vd)0x1p63 : whole;
    return AS_U(TO_VI(low)) + AS_U(high & ~bad & (vi)SIGN_BIT);
}

inline vi u64_fails(vd a)
{
    vd whole = rint(a);
    return ~(M64(whole >= (vd)0) & M64(whole < (vd)0x1p64)) & (vi)ROW_RANGE;
}

inline void double_instruction(MACHINE *m, uint op, uint rr, uint ra, uint rb)
{
    switch (op) {
        BINARY(ADD_F64, vd, vd, a + b)
        BINARY(SUB_F64, vd, vd, a - b)
        BINARY(MUL_F64, vd, vd, a * b)
        BINARY(DIV_F64, vd, vd, a / b)
        UNARY(NEG_F64, vi, vi, a ^ (vi)SIGN_BIT)
        UNARY(ABS_F64, vi, vi, a & (vi)~SIGN_BIT)
        UNARY(SQRT_F64, vd, vd, sqrt(a))
        UNARY(FLOOR_F64, vd, vd, floor(a))
        UNARY(CEIL_F64, vd, vd, ceil(a))
        UNARY(TRUNC_F64, vd, vd, trunc(a))
        UNARY(ROUND_F64, vd, vd, round(a))
        BINARY(EQ_F64, vi, vd, ONE_OF(EQUAL_64(a, b)))
        BINARY(LT_F64, vi, vd, ONE_OF(LESS_64(a, b)))
        BINARY(LE_F64, vi, vd, ONE_OF(~LESS_64(b, a)))
        UNARY(I64_TO_F64, vd, vi, TO_VD(a))
        UNARY(U64_TO_F64, vd, vu, TO_VD(a))
        UNARY(F32_TO_F64, vd, vf, TO_VD(a))
        UNARY_FAILS(F64_TO_F32, vf, vd, TO_VF(a),
                    M64(fabs(a) >= (vd)0x1.ffffffp127) & M64(fabs(a) < (vd)INFINITY) & (vi)ROW_RANGE)
        UNARY_FAILS(F64_TO_I64, vi, vd, to_i64(a), i64_fails(a))
        UNARY_FAILS(F64_TO_U64, vu, vd, to_u64(a), u64_fails(a))
    }
}

inline void inexact_instruction(MACHINE *m, uint op, uint rr, uint ra, uint rb)
{
    switch (op) {
        UNARY(EXP_F64, vd, vd, exp(a))
        UNARY(LN_F64, vd, vd, log(a))
        UNARY(LOG2_F64, vd, vd, log2(a))
        UNARY(LOG10_F64, vd, vd, log10(a))
        UNARY(SIN_F64, vd, vd, sin(a))
        UNARY(COS_F64, vd, vd, cos(a))
        UNARY(TAN_F64, vd, vd, tan(a))
        UNARY(ASIN_F64, vd, vd, asin(a))
        UNARY(ACOS_F64, vd, vd, acos(a))
        UNARY(ATAN_F64, vd, vd, atan(a))
        BINARY(ATAN2_F64, vd, vd, atan2(a, b))
        BINARY(POW_F64, vd, vd, pow(a, b))
    }
}
#endif

/* The place in a sorted list of `n` values from constant k + 1 on. Both orders are those of the list. */
#define LISTED(T, less, equal)                                                                               \
    uint low = 0, high = n;                                                                                  \
    while (low < high) {                                                                                     \
        uint middle = (low + high) / 2;                                                                      \
        T x = AS_##T(CONSTANT(k + 1 + middle));                                                              \
        if (less)                                                                                            \
            low = middle + 1;                                                                                \
        else                                                                                                 \
            high = middle;                                                                                   \
    }                                                                                                        \
    if (low == n)                                                                                            \
        return 0;                                                                                            \
    T x = AS_##T(CONSTANT(k + 1 + low));                                                                     \
    return (equal) ? 1 : 0;

#define AS_long(w)   ((long)(w))
#define AS_ulong(w)  ((ulong)(w))
#define AS_double(w) as_double((ulong)(w))

inline long listed_i64(MACHINE *m, uint k, long a)
{
    uint n = (uint)CONSTANT(k);
    LISTED(long, x < a, x == a)
}

inline long listed_u64(MACHINE *m, uint k, ulong a)
{
    uint n = (uint)CONSTANT(k);
    LISTED(ulong, x < a, x == a)
}

#ifdef cl_khr_fp64
inline long listed_f64(MACHINE *m, uint k, double a)
{
    uint n = (uint)CONSTANT(k);
    LISTED(double, x < a || (a != a && x == x), x == a || (x != x && a != a))
}
#endif

inline void list_instruction(MACHINE *m, uint op, uint rr, uint ra, uint k)
{
    switch (op) {
    case EXPR_IN_I64:
        EACH_ROW
        {
            PUT_ROW(long, rr, listed_i64(m, k, GET_ROW(long, ra)));
        }
        break;
    case EXPR_IN_U64:
        EACH_ROW
        {
            PUT_ROW(long, rr, listed_u64(m, k, GET_ROW(ulong, ra)));
        }
        break;
#ifdef cl_khr_fp64
    case EXPR_IN_F64:
        EACH_ROW
        {
            PUT_ROW(long, rr, listed_f64(m, k, GET_ROW(double, ra)));
        }
        break;
#endif
    }
}

/* Operations that set the states of their rows themselves. */
inline void state_instruction(MACHINE *m, uint op, uint rr, uint ra, uint rb, uint rc, uint narrow)
{
    switch (op) {
    case EXPR_NULL:
        EACH
        {
            PUT(vi, rr, (vi)0);
            PUT_STATE(rr, (vi)ROW_NULL);
        }
        break;
    case EXPR_AND:
    case EXPR_OR:
        EACH
        {
            vi decides = (vi)(op == EXPR_OR);
            vi a = GET(vi, ra), b = GET(vi, rb), sa = GET_STATE(ra), sb = GET_STATE(rb);
            vi decided = (M64(sa == (vi)0) & M64(a == decides)) | (M64(sb == (vi)0) & M64(b == decides));
            PUT(vi, rr, decided ? decides : decides ^ (vi)1);
            PUT_STATE(rr, ~decided & max(sa, sb));
        }
        break;
    case EXPR_IS_NULL:
        EACH
        {
            vi s = GET_STATE(ra);
            PUT(vi, rr, ONE_OF(M64(s == (vi)ROW_NULL)));
            PUT_STATE(rr, M64(s > (vi)ROW_NULL) & s);
        }
        break;
    case EXPR_NULL_IF_ERROR:
        EACH
        {
            COPY(rr, ra, narrow);
            vi s = GET_STATE(ra);
            PUT_STATE(rr, min(s, (vi)ROW_NULL));
        }
        break;
    case EXPR_SELECT:
        EACH
        {
            vi sa = GET_STATE(ra), sb = GET_STATE(rb), sc = GET_STATE(rc);
            vi first = M64(sa == (vi)0) & M64(GET(vi, ra) == (vi)1);
            vi s = first ? sb : sc;
            CHOOSE(rr, first, rb, rc, narrow);
            PUT_STATE(rr, M64(sa > (vi)ROW_NULL) ? sa : s);
        }
        break;
    case EXPR_COALESCE:
        EACH
        {
            vi sa = GET_STATE(ra), sb = GET_STATE(rb);
            vi first = M64(sa != (vi)ROW_NULL);
            CHOOSE(rr, first, ra, rb, narrow);
            PUT_STATE(rr, first ? sa : sb);
        }
        break;
    }
}

/* Which of the functions above has an operation. Their order is that of the list. */
inline void compute(MACHINE *m, uint op, uint rr, uint ra, uint rb, uint rc, uint k, uint narrow)
{
    if (op == EXPR_CONSTANT) {
        ulong value = CONSTANT(k);
        EACH
        {
            FILL(rr, value, narrow);
        }
    } else if (op <= EXPR_MOD_U64 || op == EXPR_NOT || (op >= EXPR_EQ_BOOL && op <= EXPR_LE_U64) ||
               (op >= EXPR_BOOL_TO_I64 && op <= EXPR_U64_TO_I64) ||
               (op >= EXPR_RANGE_I64 && op <= EXPR_SCALE_DOWN_I64)) {
        integer_instruction(m, op, rr, ra, rb, k);
    } else if (op >= EXPR_DATE_PART) {
        date_instruction(m, op, rr, ra, rb, k);
    } else if (op >= EXPR_IN_I64 && op <= EXPR_IN_F64) {
        list_instruction(m, op, rr, ra, k);
#ifdef cl_khr_fp64
    } else if (op >= EXPR_EXP_F64 && op <= EXPR_POW_F64) {
        inexact_instruction(m, op, rr, ra, rb);
    } else if ((op >= EXPR_ADD_F64 && op <= EXPR_ROUND_F64) || (op >= EXPR_EQ_F64 && op <= EXPR_LE_F64) ||
               (op >= EXPR_I64_TO_F64 && op <= EXPR_F64_TO_U64)) {
        double_instruction(m, op, rr, ra, rb);
#endif
    } else {
        float_instruction(m, op, rr, ra, rb);
    }
}
