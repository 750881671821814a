/* SPDX-License-Identifier: Apache-2.0 */
#include "machine_reference.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cast_text.h"
#include "base/text.h"
#include "base/value_text.h"
#include "program/op_info.h"

typedef __int128 i128;

/* ---- integers ------------------------------------------------------------------------------------------ */

static void put_i64(ref_value *ret, i128 value, uint8_t otherwise)
{
    if (value < INT64_MIN || value > INT64_MAX)
        ret->state = otherwise;
    else
        ret->i64 = (int64_t)value;
}

static void put_u64(ref_value *ret, i128 value, uint8_t otherwise)
{
    if (value < 0 || value > (i128)UINT64_MAX)
        ret->state = otherwise;
    else
        ret->u64 = (uint64_t)value;
}

/* Bit by bit. */
static void bits(unsigned op, const ref_value *a, const ref_value *b, ref_value *ret)
{
    bool is_signed = op < HAC_OP_BIT_AND_U64;
    uint64_t x = is_signed ? (uint64_t)a->i64 : a->u64, y = 0, z = 0;
    if (op == HAC_OP_BIT_COUNT_I64 || op == HAC_OP_BIT_COUNT_U64) {
        for (ret->i64 = 0; x != 0; x /= 2)
            ret->i64 += x % 2 == 1;
        return;
    }
    y = is_signed ? (uint64_t)b->i64 : b->u64;
    for (int bit = 63; bit >= 0; bit--) {
        bool p = x >> bit & 1, q = y >> bit & 1;
        bool both = op == HAC_OP_BIT_AND_I64 || op == HAC_OP_BIT_AND_U64;
        bool either = op == HAC_OP_BIT_OR_I64 || op == HAC_OP_BIT_OR_U64;
        z = z * 2 + (both ? p && q : either ? p || q : p != q);
    }
    ret->i64 = (int64_t)z;
    ret->u64 = z;
}

/* a × 2^n or a ÷ 2^n, in steps that stop where nothing changes any more. */
static i128 shifted(i128 value, i128 n, bool left)
{
    const i128 limit = (i128)1 << 100;
    for (i128 i = 0; i < n && i < 200; i++) {
        if (left && value < limit && value > -limit)
            value *= 2;
        if (!left)
            value = value >= 0 ? value / 2 : -((1 - value) / 2);
    }
    return value;
}

static bool integers(unsigned op, const ref_value *a, const ref_value *b, ref_value *ret)
{
    i128 x = a->i64, y = b->i64;
    unsigned __int128 p = a->u64, q = b->u64;
    switch (op) {
    case HAC_OP_BIT_AND_I64:
    case HAC_OP_BIT_AND_U64:
    case HAC_OP_BIT_OR_I64:
    case HAC_OP_BIT_OR_U64:
    case HAC_OP_BIT_XOR_I64:
    case HAC_OP_BIT_XOR_U64:
    case HAC_OP_BIT_COUNT_I64:
    case HAC_OP_BIT_COUNT_U64:
        bits(op, a, b, ret);
        return true;
    case HAC_OP_SHIFT_LEFT_I64:
    case HAC_OP_SHIFT_RIGHT_I64:
        put_i64(ret, shifted(x, y, op == HAC_OP_SHIFT_LEFT_I64), HAC_ROW_OVERFLOW);
        ret->state = y < 0 ? HAC_ROW_OVERFLOW : ret->state;
        return true;
    case HAC_OP_SHIFT_LEFT_U64:
    case HAC_OP_SHIFT_RIGHT_U64:
        put_u64(ret, shifted((i128)p, y = b->i64, op == HAC_OP_SHIFT_LEFT_U64), HAC_ROW_OVERFLOW);
        ret->state = y < 0 ? HAC_ROW_OVERFLOW : ret->state;
        return true;
    case HAC_OP_ADD_I64:
        put_i64(ret, x + y, HAC_ROW_OVERFLOW);
        return true;
    case HAC_OP_SUB_I64:
        put_i64(ret, x - y, HAC_ROW_OVERFLOW);
        return true;
    case HAC_OP_MUL_I64:
        put_i64(ret, x * y, HAC_ROW_OVERFLOW);
        return true;
    case HAC_OP_DIV_I64:
    case HAC_OP_MOD_I64:
        if (y == 0)
            ret->state = HAC_ROW_NULL;
        else
            put_i64(ret, op == HAC_OP_DIV_I64 ? x / y : x % y, HAC_ROW_OVERFLOW);
        return true;
    case HAC_OP_NEG_I64:
        put_i64(ret, -x, HAC_ROW_OVERFLOW);
        return true;
    case HAC_OP_ABS_I64:
        put_i64(ret, x < 0 ? -x : x, HAC_ROW_OVERFLOW);
        return true;
    case HAC_OP_ADD_U64:
        put_u64(ret, (i128)(p + q), HAC_ROW_OVERFLOW);
        return true;
    case HAC_OP_SUB_U64:
        put_u64(ret, (i128)p - (i128)q, HAC_ROW_OVERFLOW);
        return true;
    case HAC_OP_MUL_U64:
        if (p * q > UINT64_MAX)
            ret->state = HAC_ROW_OVERFLOW;
        else
            ret->u64 = (uint64_t)(p * q);
        return true;
    case HAC_OP_DIV_U64:
    case HAC_OP_MOD_U64:
        if (q == 0)
            ret->state = HAC_ROW_NULL;
        else
            ret->u64 = (uint64_t)(op == HAC_OP_DIV_U64 ? p / q : p % q);
        return true;
    default:
        return false;
    }
}

/* ---- floats -------------------------------------------------------------------------------------------- */

static bool floats(unsigned op, const ref_value *a, const ref_value *b, ref_value *ret)
{
    volatile float f = a->f32,
                   g = b->f32; /* volatile: the compiler folds nothing and keeps no excess precision */
    volatile double x = a->f64, y = b->f64;
#define BOTH(OP, F, D)                                                                                       \
    case HAC_OP_##OP##_F32:                                                                                  \
        ret->f32 = F;                                                                                        \
        return true;                                                                                         \
    case HAC_OP_##OP##_F64:                                                                                  \
        ret->f64 = D;                                                                                        \
        return true;
#define ONLY(OP, D)                                                                                          \
    case HAC_OP_##OP##_F64:                                                                                  \
        ret->f64 = D;                                                                                        \
        return true;
    switch (op) {
        BOTH(ADD, f + g, x + y)
        BOTH(SUB, f - g, x - y)
        BOTH(MUL, f * g, x * y)
        BOTH(DIV, f / g, x / y)
        BOTH(NEG, -f, -x)
        BOTH(ABS, fabsf(f), fabs(x))
        BOTH(SQRT, sqrtf(f), sqrt(x))
        BOTH(FLOOR, floorf(f), floor(x))
        BOTH(CEIL, ceilf(f), ceil(x))
        BOTH(TRUNC, truncf(f), trunc(x))
        BOTH(ROUND, roundf(f), round(x))
        ONLY(EXP, exp(x))
        ONLY(LN, log(x))
        ONLY(LOG2, log2(x))
        ONLY(LOG10, log10(x))
        ONLY(SIN, sin(x))
        ONLY(COS, cos(x))
        ONLY(TAN, tan(x))
        ONLY(ASIN, asin(x))
        ONLY(ACOS, acos(x))
        ONLY(ATAN, atan(x))
        ONLY(ATAN2, atan2(x, y))
        ONLY(POW, pow(x, y))
    default:
        return false;
    }
}

/* ---- comparisons --------------------------------------------------------------------------------------- */

static int order_floats(double x, double y)
{
    if (isnan(x))
        return isnan(y) ? 0 : 1;
    if (isnan(y))
        return -1;
    return x < y ? -1 : x > y ? 1 : 0;
}

static int order(const ref_value *a, const ref_value *b, hac_repr repr)
{
    switch (repr) {
    case HAC_REPR_BOOL:
        return (int)a->boolean - (int)b->boolean;
    case HAC_REPR_I64:
        return a->i64 < b->i64 ? -1 : a->i64 > b->i64;
    case HAC_REPR_U64:
        return a->u64 < b->u64 ? -1 : a->u64 > b->u64;
    case HAC_REPR_F32:
        return order_floats((double)a->f32, (double)b->f32);
    case HAC_REPR_F64:
        return order_floats(a->f64, b->f64);
    case HAC_REPR_I128:
        return a->i128 < b->i128 ? -1 : a->i128 > b->i128;
    default: {
        size_t i = 0;
        while (i < a->bytes && i < b->bytes && a->string[i] == b->string[i])
            i++;
        if (i == a->bytes || i == b->bytes)
            return a->bytes < b->bytes ? -1 : a->bytes > b->bytes;
        return (unsigned char)a->string[i] < (unsigned char)b->string[i] ? -1 : 1;
    }
    }
}

static ref_value constant(const hac_program *program, size_t index)
{
    const hac_constant *k = &program->constants[index];
    ref_value value;
    memset(&value, 0, offsetof(ref_value, string));
    uint32_t narrow = (uint32_t)k->low;
    value.boolean = k->low & 1;
    value.i64 = (int64_t)k->low;
    value.u64 = k->low;
    memcpy(&value.f32, &narrow, 4);
    memcpy(&value.f64, &k->low, 8);
    value.i128 = (i128)((unsigned __int128)k->high << 64 | k->low);
    if (k->repr == HAC_REPR_STRING)
        reference_set_string(&value, (const char *)program->bytes + k->low, k->high);
    return value;
}

static bool comparisons(const hac_program *program, const hac_instruction *at, const ref_value *a,
                        const ref_value *b, ref_value *ret)
{
    const hac_constant *list = &program->constants[at->k];
    switch (at->op) {
#define COMPARE(T)                                                                                           \
    case HAC_OP_EQ_##T:                                                                                      \
        ret->boolean = order(a, b, HAC_REPR_##T) == 0;                                                       \
        return true;                                                                                         \
    case HAC_OP_LT_##T:                                                                                      \
        ret->boolean = order(a, b, HAC_REPR_##T) < 0;                                                        \
        return true;
#define COMPARE_ALL(T)                                                                                       \
    COMPARE(T)                                                                                               \
    case HAC_OP_LE_##T:                                                                                      \
        ret->boolean = order(a, b, HAC_REPR_##T) <= 0;                                                       \
        return true;
        COMPARE(BOOL)
        COMPARE_ALL(I64)
        COMPARE_ALL(U64)
        COMPARE_ALL(F32)
        COMPARE_ALL(F64)
        COMPARE_ALL(I128)
        COMPARE_ALL(STRING)
    case HAC_OP_IN_I64:
    case HAC_OP_IN_U64:
    case HAC_OP_IN_F64:
    case HAC_OP_IN_STRING:
        for (uint64_t i = 0; i < list->high; i++) {
            ref_value element = constant(program, list->low + i);
            ret->boolean |= order(a, &element, program->constants[list->low].repr) == 0;
        }
        return true;
    case HAC_OP_RANGE_I64:
    case HAC_OP_RANGE_U64:
    case HAC_OP_RANGE_I128: {
        hac_repr repr = program->constants[list->low].repr;
        ref_value low = constant(program, list->low), high = constant(program, list->low + 1);
        *ret = *a;
        ret->state = order(a, &low, repr) < 0 || order(a, &high, repr) > 0 ? HAC_ROW_RANGE : HAC_ROW_OK;
        return true;
    }
    default:
        return false;
    }
}

/* ---- logic and states ---------------------------------------------------------------------------------- */

static bool is(const ref_value *v, bool value)
{
    return v->state == HAC_ROW_OK && v->boolean == value;
}

static uint8_t max(uint8_t a, uint8_t b)
{
    return a > b ? a : b;
}

static bool states(unsigned op, const ref_value *a, const ref_value *b, const ref_value *c, ref_value *ret)
{
    switch (op) {
    case HAC_OP_NULL:
        ret->state = HAC_ROW_NULL;
        return true;
    case HAC_OP_AND:
    case HAC_OP_OR: {
        bool decides = op == HAC_OP_OR;
        bool decided = is(a, decides) || is(b, decides);
        ret->boolean = decided ? decides : !decides;
        ret->state = decided ? HAC_ROW_OK : max(a->state, b->state);
        return true;
    }
    case HAC_OP_IS_NULL:
        ret->boolean = a->state == HAC_ROW_NULL;
        ret->state = a->state == HAC_ROW_NULL ? HAC_ROW_OK : a->state;
        return true;
    case HAC_OP_SELECT:
        if (a->state > HAC_ROW_NULL)
            ret->state = a->state;
        else
            *ret = is(a, true) ? *b : *c;
        return true;
    case HAC_OP_COALESCE:
        *ret = a->state == HAC_ROW_NULL ? *b : *a;
        return true;
    case HAC_OP_NULL_IF_ERROR:
        *ret = *a;
        if (ret->state > HAC_ROW_NULL && ret->state != 255)
            ret->state = HAC_ROW_NULL;
        return true;
    default:
        return false;
    }
}

/* ---- conversions --------------------------------------------------------------------------------------- */

static bool conversions(unsigned op, const ref_value *a, ref_value *ret)
{
    double whole = nearbyint(a->f64);
    switch (op) {
    case HAC_OP_NOT:
        ret->boolean = !a->boolean;
        return true;
    case HAC_OP_BOOL_TO_I64:
        ret->i64 = a->boolean;
        return true;
    case HAC_OP_I64_TO_BOOL:
        ret->boolean = a->i64 != 0;
        return true;
    case HAC_OP_I64_TO_U64:
        put_u64(ret, a->i64, HAC_ROW_RANGE);
        return true;
    case HAC_OP_U64_TO_I64:
        put_i64(ret, a->u64, HAC_ROW_RANGE);
        return true;
    case HAC_OP_I64_TO_F32:
        ret->f32 = (float)a->i64;
        return true;
    case HAC_OP_U64_TO_F32:
        ret->f32 = (float)a->u64;
        return true;
    case HAC_OP_I64_TO_F64:
        ret->f64 = (double)a->i64;
        return true;
    case HAC_OP_U64_TO_F64:
        ret->f64 = (double)a->u64;
        return true;
    case HAC_OP_F32_TO_F64:
        ret->f64 = (double)a->f32;
        return true;
    case HAC_OP_F64_TO_F32:
        ret->f32 = (float)a->f64;
        if (isinf(ret->f32) && !isinf(a->f64))
            ret->state = HAC_ROW_RANGE;
        return true;
    case HAC_OP_F64_TO_I64:
        if (isnan(whole) || fabs(whole) > 1e19)
            ret->state = HAC_ROW_RANGE;
        else
            put_i64(ret, (i128)whole, HAC_ROW_RANGE);
        return true;
    case HAC_OP_F64_TO_U64:
        if (isnan(whole) || fabs(whole) > 1e20)
            ret->state = HAC_ROW_RANGE;
        else
            put_u64(ret, (i128)whole, HAC_ROW_RANGE);
        return true;
    default:
        return false;
    }
}

/* ---- dates, by the C library --------------------------------------------------------------------------- */

#define DAY INT64_C(86400000000)

static struct tm civil(int64_t days)
{
    struct tm tm;
    time_t seconds = (time_t)(days * 86400);
    if (gmtime_r(&seconds, &tm) == NULL)
        abort();
    return tm;
}

static int64_t days_of(int year, int month, int day)
{
    struct tm tm = {.tm_year = year, .tm_mon = month, .tm_mday = day};
    return timegm(&tm) / 86400 - (timegm(&tm) % 86400 < 0);
}

static int64_t date_part(int64_t days, unsigned unit)
{
    struct tm tm = civil(days);
    char week[8];
    switch (unit) {
    case HAC_UNIT_YEAR:
        return tm.tm_year + INT64_C(1900);
    case HAC_UNIT_QUARTER:
        return tm.tm_mon / 3 + 1;
    case HAC_UNIT_MONTH:
        return tm.tm_mon + 1;
    case HAC_UNIT_WEEK:
        strftime(week, sizeof week, "%V", &tm);
        return atoi(week);
    case HAC_UNIT_DAY:
        return tm.tm_mday;
    case HAC_UNIT_DAY_OF_WEEK:
        return tm.tm_wday == 0 ? 7 : tm.tm_wday;
    default:
        return tm.tm_yday + 1;
    }
}

static int64_t date_trunc(int64_t days, unsigned unit)
{
    struct tm tm = civil(days);
    switch (unit) {
    case HAC_UNIT_YEAR:
        return days - tm.tm_yday;
    case HAC_UNIT_QUARTER:
        return days_of(tm.tm_year, tm.tm_mon - tm.tm_mon % 3, 1);
    case HAC_UNIT_MONTH:
        return days - tm.tm_mday + 1;
    default:
        return days - (tm.tm_wday + 6) % 7;
    }
}

static int64_t time_unit(unsigned unit)
{
    return unit == HAC_UNIT_HOUR     ? DAY / 24
           : unit == HAC_UNIT_MINUTE ? 60000000
           : unit == HAC_UNIT_SECOND ? 1000000
                                     : 1;
}

static i128 floor_divide(i128 a, i128 b)
{
    return a / b - (a % b < 0);
}

static void add_months(int64_t days, int64_t months, ref_value *ret)
{
    struct tm tm = civil(days);
    if (months > 200000000 || months < -200000000) {
        ret->state = HAC_ROW_OVERFLOW;
        return;
    }
    i128 total = (i128)tm.tm_year * 12 + tm.tm_mon + months;
    int year = (int)floor_divide(total, 12), month = (int)(total - floor_divide(total, 12) * 12);
    int64_t first = days_of(year, month, 1), next = days_of(year, month + 1, 1);
    int64_t day = first + tm.tm_mday - 1;
    day = day >= next ? next - 1 : day;
    if (day < INT32_MIN || day > INT32_MAX)
        ret->state = HAC_ROW_OVERFLOW;
    else
        ret->i64 = day;
}

static bool dates(const hac_instruction *at, const ref_value *a, const ref_value *b, ref_value *ret)
{
    int64_t days = (int32_t)a->i64, unit = time_unit(at->k);
    i128 above = at->k == HAC_UNIT_HOUR ? 24 : at->k == HAC_UNIT_MICROSECOND ? 1000000 : 60;
    switch (at->op) {
    case HAC_OP_DATE_PART:
        ret->i64 = date_part(days, at->k);
        return true;
    case HAC_OP_DATE_TRUNC:
        ret->i64 = date_trunc(days, at->k);
        return true;
    case HAC_OP_TIME_PART: {
        i128 units = floor_divide(a->i64, unit);
        ret->i64 = (int64_t)(units - floor_divide(units, above) * above);
        return true;
    }
    case HAC_OP_TIME_TRUNC:
        ret->i64 = (int64_t)(floor_divide(a->i64, unit) * unit);
        return true;
    case HAC_OP_TIMESTAMP_TO_DATE:
        ret->i64 = (int64_t)floor_divide(a->i64, DAY);
        return true;
    case HAC_OP_DATE_TO_TIMESTAMP:
        put_i64(ret, (i128)a->i64 * DAY, HAC_ROW_RANGE);
        return true;
    case HAC_OP_ADD_MONTHS:
        add_months(days, b->i64, ret);
        return true;
    default:
        return false;
    }
}

/* ---- text ---------------------------------------------------------------------------------------------- */

static bool parse(const hac_instruction *at, const ref_value *a, ref_value *ret)
{
    hac_text_status status;
    int32_t date = 0;
    switch (at->op) {
    case HAC_OP_STRING_TO_BOOL:
        status = hac_cast_bool(a->string, a->bytes, &ret->boolean);
        break;
    case HAC_OP_STRING_TO_I64:
        status = hac_cast_i64(a->string, a->bytes, &ret->i64);
        break;
    case HAC_OP_STRING_TO_U64:
        status = hac_cast_u64(a->string, a->bytes, &ret->u64);
        break;
    case HAC_OP_STRING_TO_F32:
        status = hac_cast_f32(a->string, a->bytes, &ret->f32);
        break;
    case HAC_OP_STRING_TO_F64:
        status = hac_cast_f64(a->string, a->bytes, &ret->f64);
        break;
    case HAC_OP_STRING_TO_DATE:
        status = hac_cast_date(a->string, a->bytes, &date);
        ret->i64 = date;
        break;
    case HAC_OP_STRING_TO_TIMESTAMP:
        status = hac_cast_timestamp(a->string, a->bytes, &ret->i64);
        break;
    case HAC_OP_STRING_TO_DECIMAL:
        status = hac_cast_decimal(a->string, a->bytes, 38, at->k, &ret->i128);
        break;
    default:
        return false;
    }
    ret->state = status == HAC_TEXT_OK          ? HAC_ROW_OK
                 : status == HAC_TEXT_RANGE     ? HAC_ROW_RANGE
                 : status == HAC_TEXT_PRECISION ? HAC_ROW_PRECISION
                                                : HAC_ROW_MALFORMED;
    return true;
}

static bool print(const hac_instruction *at, const ref_value *a, ref_value *ret)
{
    char text[HAC_PRINT_MAX];
    size_t bytes;
    switch (at->op) {
    case HAC_OP_BOOL_TO_STRING:
        bytes = (size_t)snprintf(text, sizeof text, "%s", a->boolean ? "true" : "false");
        break;
    case HAC_OP_I64_TO_STRING:
        bytes = (size_t)snprintf(text, sizeof text, "%lld", (long long)a->i64);
        break;
    case HAC_OP_U64_TO_STRING:
        bytes = (size_t)snprintf(text, sizeof text, "%llu", (unsigned long long)a->u64);
        break;
    case HAC_OP_F32_TO_STRING:
        bytes = hac_print_f32(a->f32, text);
        break;
    case HAC_OP_F64_TO_STRING:
        bytes = hac_print_f64(a->f64, text);
        break;
    case HAC_OP_DATE_TO_STRING:
        bytes = hac_print_date((int32_t)a->i64, text);
        break;
    case HAC_OP_TIMESTAMP_TO_STRING:
        bytes = hac_print_timestamp(a->i64, text);
        break;
    case HAC_OP_DECIMAL_TO_STRING:
        reference_decimal_text(a->i128, at->k, text);
        bytes = strlen(text);
        break;
    default:
        return false;
    }
    bool time = at->op == HAC_OP_DATE_TO_STRING || at->op == HAC_OP_TIMESTAMP_TO_STRING;
    if (time && (text[0] == '-' || text[4] != '-' || memcmp(text, "0000", 4) == 0)) {
        ret->state = HAC_ROW_RANGE; /* not one of the years 0001 … 9999 */
        return true;
    }
    reference_set_string(ret, text, bytes);
    return true;
}

/* ---- all of it ----------------------------------------------------------------------------------------- */

void reference_op(const hac_program *program, const hac_instruction *at, const ref_value *inputs,
                  const ref_value *a, const ref_value *b, const ref_value *c, ref_value *ret)
{
    const hac_op_info *info = &hac_op_table[at->op];
    const ref_value *operands[] = {info->a ? a : NULL, info->b ? b : NULL, info->c ? c : NULL};
    uint8_t highest = 0;
    for (int i = 0; i < 3; i++)
        if (operands[i] != NULL)
            highest = max(highest, operands[i]->state);
    memset(ret, 0, offsetof(ref_value, string));
    if (highest == 255 || ((info->flags & HAC_OP_STATES) == 0 && highest != HAC_ROW_OK)) {
        ret->state = highest;
        return;
    }
    if (at->op == HAC_OP_COLUMN)
        *ret = inputs[at->k];
    else if (at->op == HAC_OP_CONSTANT)
        *ret = constant(program, at->k);
    else if (!integers(at->op, a, b, ret) && !reference_decimals(at, a, b, ret) &&
             !floats(at->op, a, b, ret) && !comparisons(program, at, a, b, ret) &&
             !states(at->op, a, b, c, ret) && !conversions(at->op, a, ret) && !dates(at, a, b, ret) &&
             !reference_strings(program, at, a, b, c, ret) && !reference_texts(program, at, a, b, ret) &&
             !parse(at, a, ret) && !print(at, a, ret))
        abort();
}

void reference_run(const hac_program *program, const ref_value *inputs, ref_value *registers)
{
    for (size_t i = 0; i < program->n_instructions; i++) {
        const hac_instruction *at = &program->instructions[i];
        ref_value result;
        reference_op(program, at, inputs, &registers[at->a], &registers[at->b], &registers[at->c], &result);
        registers[at->result] = result;
    }
}

ref_value reference_get(const hac_column *column, hac_repr repr, size_t row)
{
    ref_value value = {.state = column->states == NULL ? HAC_ROW_OK : column->states[row]};
    const char *at = (const char *)column->values + row * hac_repr_size(repr);
    hac_string_ref ref;
    switch (repr) {
    case HAC_REPR_BOOL:
        value.boolean = *at & 1;
        break;
    case HAC_REPR_I64:
        memcpy(&value.i64, at, 8);
        break;
    case HAC_REPR_U64:
        memcpy(&value.u64, at, 8);
        break;
    case HAC_REPR_F32:
        memcpy(&value.f32, at, 4);
        break;
    case HAC_REPR_F64:
        memcpy(&value.f64, at, 8);
        break;
    case HAC_REPR_I128:
        memcpy(&value.i128, at, 16);
        break;
    default:
        memcpy(&ref, at, sizeof ref);
        if (ref.length > 0 && value.state == HAC_ROW_OK)
            reference_set_string(&value, (const char *)column->bytes + ref.offset, ref.length);
        else
            value.bytes = ref.length;
    }
    return value;
}

/* All NaNs are equal. */
static bool same_bits(double a, double b)
{
    return (isnan(a) && isnan(b)) || memcmp(&a, &b, sizeof a) == 0;
}

bool reference_equal(const ref_value *a, const ref_value *b, hac_repr repr)
{
    if (a->state == 255 || b->state == 255)
        return true;
    if (a->state != b->state)
        return false;
    if (a->state != HAC_ROW_OK) /* then strings have no length */
        return repr != HAC_REPR_STRING || (a->bytes == 0 || b->bytes == 0);
    switch (repr) {
    case HAC_REPR_F32:
        return same_bits((double)a->f32, (double)b->f32);
    case HAC_REPR_F64:
        return same_bits(a->f64, b->f64);
    case HAC_REPR_BOOL:
        return a->boolean == b->boolean;
    default:
        return order(a, b, repr) == 0;
    }
}

void reference_print(const ref_value *value, hac_repr repr, char *ret, size_t capacity)
{
    if (value->state != HAC_ROW_OK) {
        snprintf(ret, capacity, "state %u", value->state);
        return;
    }
    switch (repr) {
    case HAC_REPR_BOOL:
        snprintf(ret, capacity, "%d", value->boolean);
        break;
    case HAC_REPR_I64:
        snprintf(ret, capacity, "%lld", (long long)value->i64);
        break;
    case HAC_REPR_U64:
        snprintf(ret, capacity, "%llu", (unsigned long long)value->u64);
        break;
    case HAC_REPR_F32:
        snprintf(ret, capacity, "%a", (double)value->f32);
        break;
    case HAC_REPR_F64:
        snprintf(ret, capacity, "%a", value->f64);
        break;
    case HAC_REPR_I128:
        snprintf(ret, capacity, "0x%016llx%016llx", (unsigned long long)(value->i128 >> 64),
                 (unsigned long long)value->i128);
        break;
    default:
        snprintf(ret, capacity, "'%.*s' (%zu bytes)", (int)(value->bytes < 60 ? value->bytes : 60),
                 value->string, value->bytes);
    }
}
