/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The operations of programs. The builder, the verifier, both machines and the reference page read this list:
 *
 *     X(name, result, a, b, c, k, flags)
 *
 * result, a, b, c   representations (HAC_REPR_…) of the registers; NONE: there is no such operand; ANY: any
 * k                 the immediate: NONE, COLUMN (an input), CONSTANT (of the result's representation), RANGE
 *                   (two constants of a's representation, lowest and highest), DIGITS (0 … 38), UNIT
 *                   (hac_date_unit), LIST (a sorted list of constants of a's representation), PATTERN (LIKE),
 *                   TEXT (a format of times, rules of a zone, or options and pattern of a regular expression)
 * flags             FAILS: the operation itself can give null or an error; HOST: only the C machine has it;
 *                   INEXACT: bits may differ between devices; STATES: it does not combine states strictly
 *
 * A LIST may be empty. A PATTERN is a string in which \ stands before each %, _ or \ that stands for itself,
 * and nowhere else. The TEXT of a regular expression is "options/group/pattern": letters of
 * HAC_REGEXP_LETTERS, one digit, then the pattern. The result's register is never an operand's.
 *
 * All operations round to nearest, ties to even, unless their line says otherwise. Floats compare in the
 * total order of SQL engines: NaN equals NaN and is above all numbers, and -0.0 equals 0.0.
 */
#ifndef EXPR_OPS_H
#define EXPR_OPS_H

/* clang-format off */
#define HAC_OPS(X)                                                                                           \
    X(COLUMN,            ANY,    NONE,   NONE,   NONE,   COLUMN,   0)                                        \
    X(CONSTANT,          ANY,    NONE,   NONE,   NONE,   CONSTANT, 0)                                        \
    X(NULL,              ANY,    NONE,   NONE,   NONE,   NONE,     STATES)                                   \
    /* integers: overflow is HAC_ROW_OVERFLOW; division (truncating) and modulo by zero are null */          \
    X(ADD_I64,           I64,    I64,    I64,    NONE,   NONE,     FAILS)                                    \
    X(SUB_I64,           I64,    I64,    I64,    NONE,   NONE,     FAILS)                                    \
    X(MUL_I64,           I64,    I64,    I64,    NONE,   NONE,     FAILS)                                    \
    X(DIV_I64,           I64,    I64,    I64,    NONE,   NONE,     FAILS)                                    \
    X(MOD_I64,           I64,    I64,    I64,    NONE,   NONE,     FAILS)                                    \
    X(NEG_I64,           I64,    I64,    NONE,   NONE,   NONE,     FAILS)                                    \
    X(ABS_I64,           I64,    I64,    NONE,   NONE,   NONE,     FAILS)                                    \
    X(ADD_U64,           U64,    U64,    U64,    NONE,   NONE,     FAILS)                                    \
    X(SUB_U64,           U64,    U64,    U64,    NONE,   NONE,     FAILS)                                    \
    X(MUL_U64,           U64,    U64,    U64,    NONE,   NONE,     FAILS)                                    \
    X(DIV_U64,           U64,    U64,    U64,    NONE,   NONE,     FAILS)                                    \
    X(MOD_U64,           U64,    U64,    U64,    NONE,   NONE,     FAILS)                                    \
    /* bits of 64; a shift by a negative number, or one that loses bits on the left, is an overflow; a shift \
     * to the right repeats the sign */                                                                     \
    X(BIT_AND_I64,       I64,    I64,    I64,    NONE,   NONE,     HOST)                                     \
    X(BIT_OR_I64,        I64,    I64,    I64,    NONE,   NONE,     HOST)                                     \
    X(BIT_XOR_I64,       I64,    I64,    I64,    NONE,   NONE,     HOST)                                     \
    X(SHIFT_LEFT_I64,    I64,    I64,    I64,    NONE,   NONE,     FAILS | HOST)                             \
    X(SHIFT_RIGHT_I64,   I64,    I64,    I64,    NONE,   NONE,     FAILS | HOST)                             \
    X(BIT_COUNT_I64,     I64,    I64,    NONE,   NONE,   NONE,     HOST)                                     \
    X(BIT_AND_U64,       U64,    U64,    U64,    NONE,   NONE,     HOST)                                     \
    X(BIT_OR_U64,        U64,    U64,    U64,    NONE,   NONE,     HOST)                                     \
    X(BIT_XOR_U64,       U64,    U64,    U64,    NONE,   NONE,     HOST)                                     \
    X(SHIFT_LEFT_U64,    U64,    U64,    I64,    NONE,   NONE,     FAILS | HOST)                             \
    X(SHIFT_RIGHT_U64,   U64,    U64,    I64,    NONE,   NONE,     FAILS | HOST)                             \
    X(BIT_COUNT_U64,     I64,    U64,    NONE,   NONE,   NONE,     HOST)                                     \
    /* 128-bit decimals: more than 38 digits is an overflow */                                               \
    X(ADD_I128,          I128,   I128,   I128,   NONE,   NONE,     FAILS | HOST)                             \
    X(SUB_I128,          I128,   I128,   I128,   NONE,   NONE,     FAILS | HOST)                             \
    X(MUL_I128,          I128,   I128,   I128,   NONE,   NONE,     FAILS | HOST)                             \
    X(NEG_I128,          I128,   I128,   NONE,   NONE,   NONE,     HOST)                                     \
    X(ABS_I128,          I128,   I128,   NONE,   NONE,   NONE,     HOST)                                     \
    /* floats: IEEE 754, never a failure */                                                                  \
    X(ADD_F32,           F32,    F32,    F32,    NONE,   NONE,     0)                                        \
    X(SUB_F32,           F32,    F32,    F32,    NONE,   NONE,     0)                                        \
    X(MUL_F32,           F32,    F32,    F32,    NONE,   NONE,     0)                                        \
    X(DIV_F32,           F32,    F32,    F32,    NONE,   NONE,     0)                                        \
    X(NEG_F32,           F32,    F32,    NONE,   NONE,   NONE,     0)                                        \
    X(ABS_F32,           F32,    F32,    NONE,   NONE,   NONE,     0)                                        \
    X(SQRT_F32,          F32,    F32,    NONE,   NONE,   NONE,     0)                                        \
    X(FLOOR_F32,         F32,    F32,    NONE,   NONE,   NONE,     0)                                        \
    X(CEIL_F32,          F32,    F32,    NONE,   NONE,   NONE,     0)                                        \
    X(TRUNC_F32,         F32,    F32,    NONE,   NONE,   NONE,     0)                                        \
    X(ROUND_F32,         F32,    F32,    NONE,   NONE,   NONE,     0)                                        \
    X(ADD_F64,           F64,    F64,    F64,    NONE,   NONE,     0)                                        \
    X(SUB_F64,           F64,    F64,    F64,    NONE,   NONE,     0)                                        \
    X(MUL_F64,           F64,    F64,    F64,    NONE,   NONE,     0)                                        \
    X(DIV_F64,           F64,    F64,    F64,    NONE,   NONE,     0)                                        \
    X(NEG_F64,           F64,    F64,    NONE,   NONE,   NONE,     0)                                        \
    X(ABS_F64,           F64,    F64,    NONE,   NONE,   NONE,     0)                                        \
    X(SQRT_F64,          F64,    F64,    NONE,   NONE,   NONE,     0)                                        \
    X(FLOOR_F64,         F64,    F64,    NONE,   NONE,   NONE,     0)                                        \
    X(CEIL_F64,          F64,    F64,    NONE,   NONE,   NONE,     0)                                        \
    X(TRUNC_F64,         F64,    F64,    NONE,   NONE,   NONE,     0)                                        \
    X(ROUND_F64,         F64,    F64,    NONE,   NONE,   NONE,     0) /* half away from zero, as C's round */ \
    X(EXP_F64,           F64,    F64,    NONE,   NONE,   NONE,     INEXACT)                                  \
    X(LN_F64,            F64,    F64,    NONE,   NONE,   NONE,     INEXACT)                                  \
    X(LOG2_F64,          F64,    F64,    NONE,   NONE,   NONE,     INEXACT)                                  \
    X(LOG10_F64,         F64,    F64,    NONE,   NONE,   NONE,     INEXACT)                                  \
    X(SIN_F64,           F64,    F64,    NONE,   NONE,   NONE,     INEXACT)                                  \
    X(COS_F64,           F64,    F64,    NONE,   NONE,   NONE,     INEXACT)                                  \
    X(TAN_F64,           F64,    F64,    NONE,   NONE,   NONE,     INEXACT)                                  \
    X(ASIN_F64,          F64,    F64,    NONE,   NONE,   NONE,     INEXACT)                                  \
    X(ACOS_F64,          F64,    F64,    NONE,   NONE,   NONE,     INEXACT)                                  \
    X(ATAN_F64,          F64,    F64,    NONE,   NONE,   NONE,     INEXACT)                                  \
    X(ATAN2_F64,         F64,    F64,    F64,    NONE,   NONE,     INEXACT)                                  \
    X(POW_F64,           F64,    F64,    F64,    NONE,   NONE,     INEXACT)                                  \
    /* comparisons; the others exchange the operands or add a NOT */                                         \
    X(EQ_BOOL,           BOOL,   BOOL,   BOOL,   NONE,   NONE,     0)                                        \
    X(LT_BOOL,           BOOL,   BOOL,   BOOL,   NONE,   NONE,     0)                                        \
    X(EQ_I64,            BOOL,   I64,    I64,    NONE,   NONE,     0)                                        \
    X(LT_I64,            BOOL,   I64,    I64,    NONE,   NONE,     0)                                        \
    X(LE_I64,            BOOL,   I64,    I64,    NONE,   NONE,     0)                                        \
    X(EQ_U64,            BOOL,   U64,    U64,    NONE,   NONE,     0)                                        \
    X(LT_U64,            BOOL,   U64,    U64,    NONE,   NONE,     0)                                        \
    X(LE_U64,            BOOL,   U64,    U64,    NONE,   NONE,     0)                                        \
    X(EQ_F32,            BOOL,   F32,    F32,    NONE,   NONE,     0)                                        \
    X(LT_F32,            BOOL,   F32,    F32,    NONE,   NONE,     0)                                        \
    X(LE_F32,            BOOL,   F32,    F32,    NONE,   NONE,     0)                                        \
    X(EQ_F64,            BOOL,   F64,    F64,    NONE,   NONE,     0)                                        \
    X(LT_F64,            BOOL,   F64,    F64,    NONE,   NONE,     0)                                        \
    X(LE_F64,            BOOL,   F64,    F64,    NONE,   NONE,     0)                                        \
    X(EQ_I128,           BOOL,   I128,   I128,   NONE,   NONE,     HOST)                                     \
    X(LT_I128,           BOOL,   I128,   I128,   NONE,   NONE,     HOST)                                     \
    X(LE_I128,           BOOL,   I128,   I128,   NONE,   NONE,     HOST)                                     \
    X(EQ_STRING,         BOOL,   STRING, STRING, NONE,   NONE,     HOST)                                     \
    X(LT_STRING,         BOOL,   STRING, STRING, NONE,   NONE,     HOST) /* byte by byte, unsigned */        \
    X(LE_STRING,         BOOL,   STRING, STRING, NONE,   NONE,     HOST)                                     \
    X(IN_I64,            BOOL,   I64,    NONE,   NONE,   LIST,     0)                                        \
    X(IN_U64,            BOOL,   U64,    NONE,   NONE,   LIST,     0)                                        \
    X(IN_F64,            BOOL,   F64,    NONE,   NONE,   LIST,     0)                                        \
    X(IN_STRING,         BOOL,   STRING, NONE,   NONE,   LIST,     HOST)                                     \
    /* three-valued logic: `false and null` is false, `true or null` is true; an error acts as null */    \
    X(AND,               BOOL,   BOOL,   BOOL,   NONE,   NONE,     STATES)                                   \
    X(OR,                BOOL,   BOOL,   BOOL,   NONE,   NONE,     STATES)                                   \
    X(NOT,               BOOL,   BOOL,   NONE,   NONE,   NONE,     0)                                        \
    X(IS_NULL,           BOOL,   ANY,    NONE,   NONE,   NONE,     STATES) /* an error stays an error */     \
    /* a where true, else b (also where a is null); coalesce: a where not null, else b. The operand that is  \
     * not taken plays no part. c/b have the result's representation. */                                     \
    X(SELECT,            ANY,    BOOL,   ANY,    ANY,    NONE,     STATES)                                   \
    X(COALESCE,          ANY,    ANY,    ANY,    NONE,   NONE,     STATES)                                   \
    X(NULL_IF_ERROR,     ANY,    ANY,    NONE,   NONE,   NONE,     STATES) /* of try_cast */                 \
    /* conversions */                                                                                        \
    X(BOOL_TO_I64,       I64,    BOOL,   NONE,   NONE,   NONE,     0)                                        \
    X(I64_TO_BOOL,       BOOL,   I64,    NONE,   NONE,   NONE,     0)                                        \
    X(I64_TO_U64,        U64,    I64,    NONE,   NONE,   NONE,     FAILS)                                    \
    X(U64_TO_I64,        I64,    U64,    NONE,   NONE,   NONE,     FAILS)                                    \
    X(I64_TO_F32,        F32,    I64,    NONE,   NONE,   NONE,     0)                                        \
    X(U64_TO_F32,        F32,    U64,    NONE,   NONE,   NONE,     0)                                        \
    X(I64_TO_F64,        F64,    I64,    NONE,   NONE,   NONE,     0)                                        \
    X(U64_TO_F64,        F64,    U64,    NONE,   NONE,   NONE,     0)                                        \
    X(F32_TO_F64,        F64,    F32,    NONE,   NONE,   NONE,     0)                                        \
    X(F64_TO_F32,        F32,    F64,    NONE,   NONE,   NONE,     FAILS) /* a number above the largest f32 */ \
    X(F64_TO_I64,        I64,    F64,    NONE,   NONE,   NONE,     FAILS) /* rounds, ties to even */         \
    X(F64_TO_U64,        U64,    F64,    NONE,   NONE,   NONE,     FAILS)                                    \
    X(RANGE_I64,         I64,    I64,    NONE,   NONE,   RANGE,    FAILS)                                    \
    X(RANGE_U64,         U64,    U64,    NONE,   NONE,   RANGE,    FAILS)                                    \
    X(RANGE_I128,        I128,   I128,   NONE,   NONE,   RANGE,    FAILS | HOST)                             \
    X(I64_TO_I128,       I128,   I64,    NONE,   NONE,   NONE,     HOST)                                     \
    X(U64_TO_I128,       I128,   U64,    NONE,   NONE,   NONE,     HOST)                                     \
    X(I128_TO_I64,       I64,    I128,   NONE,   NONE,   NONE,     FAILS | HOST)                             \
    /* × and ÷ 10^k; down rounds half away from zero */                                                      \
    X(SCALE_UP_I64,      I64,    I64,    NONE,   NONE,   DIGITS,   FAILS)                                    \
    X(SCALE_DOWN_I64,    I64,    I64,    NONE,   NONE,   DIGITS,   0)                                        \
    X(SCALE_UP_I128,     I128,   I128,   NONE,   NONE,   DIGITS,   FAILS | HOST)                             \
    X(SCALE_DOWN_I128,   I128,   I128,   NONE,   NONE,   DIGITS,   HOST)                                     \
    X(DECIMAL_TO_F64,    F64,    I128,   NONE,   NONE,   DIGITS,   HOST) /* a ÷ 10^k, correctly rounded */   \
    X(F64_TO_DECIMAL,    I128,   F64,    NONE,   NONE,   DIGITS,   FAILS | HOST) /* rounds half away from 0 */ \
    /* dates: days, of which 32 bits count; timestamps: microseconds */                                      \
    X(DATE_PART,         I64,    I64,    NONE,   NONE,   UNIT,     0) /* of days: year … day, week, dow, doy */ \
    X(TIME_PART,         I64,    I64,    NONE,   NONE,   UNIT,     0) /* of µs: hour minute second µs */     \
    X(TIMESTAMP_TO_DATE, I64,    I64,    NONE,   NONE,   NONE,     0)                                        \
    X(DATE_TO_TIMESTAMP, I64,    I64,    NONE,   NONE,   NONE,     FAILS)                                    \
    X(DATE_TRUNC,        I64,    I64,    NONE,   NONE,   UNIT,     0) /* of days: year quarter month week */ \
    X(TIME_TRUNC,        I64,    I64,    NONE,   NONE,   UNIT,     0) /* of µs: hour minute second */        \
    X(ADD_MONTHS,        I64,    I64,    I64,    NONE,   NONE,     FAILS) /* of days; the day is cut to the month */ \
    /* strings */                                                                                            \
    X(LENGTH,            I64,    STRING, NONE,   NONE,   NONE,     HOST) /* UTF-8 characters; a bad byte is one */ \
    X(BYTES,             I64,    STRING, NONE,   NONE,   NONE,     HOST)                                     \
    X(LOWER,             STRING, STRING, NONE,   NONE,   NONE,     FAILS | HOST) /* one character for one, by Unicode */ \
    X(UPPER,             STRING, STRING, NONE,   NONE,   NONE,     FAILS | HOST)                                     \
    X(TRIM,              STRING, STRING, NONE,   NONE,   NONE,     HOST)                                     \
    X(LTRIM,             STRING, STRING, NONE,   NONE,   NONE,     HOST)                                     \
    X(RTRIM,             STRING, STRING, NONE,   NONE,   NONE,     HOST)                                     \
    X(SUBSTR,            STRING, STRING, I64,    I64,    NONE,     HOST) /* characters b … b + c - 1 that are there; 1 is the first */ \
    X(CONCAT,            STRING, STRING, STRING, NONE,   NONE,     FAILS | HOST)                             \
    X(REPLACE,           STRING, STRING, STRING, STRING, NONE,     FAILS | HOST) /* each b in a by c; b empty: a */ \
    X(POSITION,          I64,    STRING, STRING, NONE,   NONE,     HOST) /* of b in a, 1 is the first, 0 none */ \
    X(STARTS_WITH,       BOOL,   STRING, STRING, NONE,   NONE,     HOST)                                     \
    X(ENDS_WITH,         BOOL,   STRING, STRING, NONE,   NONE,     HOST)                                     \
    X(CONTAINS,          BOOL,   STRING, STRING, NONE,   NONE,     HOST)                                     \
    X(LIKE,              BOOL,   STRING, NONE,   NONE,   PATTERN,  HOST) /* % any run, _ one character */    \
    X(REGEXP_MATCHES,    BOOL,   STRING, NONE,   NONE,   TEXT,     FAILS | HOST) /* fails for want of memory */ \
    X(REGEXP_EXTRACT,    STRING, STRING, NONE,   NONE,   TEXT,     FAILS | HOST) /* no match: empty */       \
    X(REGEXP_REPLACE,    STRING, STRING, STRING, NONE,   TEXT,     FAILS | HOST) /* by b */                  \
    X(STRFTIME,          STRING, I64,    NONE,   NONE,   TEXT,     FAILS | HOST) /* of µs, by a format */    \
    X(STRPTIME,          I64,    STRING, NONE,   NONE,   TEXT,     FAILS | HOST)                             \
    /* of µs; the text is the rules of a time zone (program/time_zone.h) */                                  \
    X(ZONE_LOCAL,        I64,    I64,    NONE,   NONE,   TEXT,     FAILS | HOST) /* from UTC to local time */ \
    X(ZONE_UTC,          I64,    I64,    NONE,   NONE,   TEXT,     FAILS | HOST) /* from local time to UTC */ \
    X(REVERSE,           STRING, STRING, NONE,   NONE,   NONE,     FAILS | HOST)                             \
    X(LPAD,              STRING, STRING, I64,    STRING, NONE,     FAILS | HOST) /* b characters; c repeats before a */ \
    X(RPAD,              STRING, STRING, I64,    STRING, NONE,     FAILS | HOST) /* c empty and needed: an error */ \
    X(SPLIT_PART,        STRING, STRING, STRING, I64,    NONE,     HOST) /* part c between b; -1 the last, else empty */ \
    X(HASH,              U64,    STRING, NONE,   NONE,   NONE,     HOST) /* XXH64 with seed 0 */             \
    X(STRING_TO_BOOL,    BOOL,   STRING, NONE,   NONE,   NONE,     FAILS | HOST)                             \
    X(STRING_TO_I64,     I64,    STRING, NONE,   NONE,   NONE,     FAILS | HOST)                             \
    X(STRING_TO_U64,     U64,    STRING, NONE,   NONE,   NONE,     FAILS | HOST)                             \
    X(STRING_TO_F32,     F32,    STRING, NONE,   NONE,   NONE,     FAILS | HOST)                             \
    X(STRING_TO_F64,     F64,    STRING, NONE,   NONE,   NONE,     FAILS | HOST)                             \
    X(STRING_TO_DATE,    I64,    STRING, NONE,   NONE,   NONE,     FAILS | HOST)                             \
    X(STRING_TO_TIMESTAMP, I64,  STRING, NONE,   NONE,   NONE,     FAILS | HOST)                             \
    X(STRING_TO_DECIMAL, I128,   STRING, NONE,   NONE,   DIGITS,   FAILS | HOST) /* k: the scale */          \
    X(BOOL_TO_STRING,    STRING, BOOL,   NONE,   NONE,   NONE,     HOST)                                     \
    X(I64_TO_STRING,     STRING, I64,    NONE,   NONE,   NONE,     HOST)                                     \
    X(U64_TO_STRING,     STRING, U64,    NONE,   NONE,   NONE,     HOST)                                     \
    X(F32_TO_STRING,     STRING, F32,    NONE,   NONE,   NONE,     HOST)                                     \
    X(F64_TO_STRING,     STRING, F64,    NONE,   NONE,   NONE,     HOST)                                     \
    X(DATE_TO_STRING,    STRING, I64,    NONE,   NONE,   NONE,     FAILS | HOST) /* years 1 … 9999 */        \
    X(TIMESTAMP_TO_STRING, STRING, I64,  NONE,   NONE,   NONE,     FAILS | HOST)                             \
    X(DECIMAL_TO_STRING, STRING, I128,   NONE,   NONE,   DIGITS,   HOST)                                         \
    /* of text that is JSON (base/json_value.h), else HAC_ROW_JSON; b is a path, or an element's number from \
     * 1 on. What is not there is null. STRING and ELEMENT give a string's characters, and null for null */  \
    X(JSON_EXTRACT,      STRING, STRING, STRING, NONE,   NONE,     FAILS | HOST)                             \
    X(JSON_STRING,       STRING, STRING, STRING, NONE,   NONE,     FAILS | HOST)                             \
    X(JSON_ELEMENT,      STRING, STRING, I64,    NONE,   NONE,     FAILS | HOST)                             \
    X(JSON_SLICE,        STRING, STRING, I64,    I64,    NONE,     FAILS | HOST) /* from b to c */           \
    X(JSON_TYPE,         STRING, STRING, STRING, NONE,   NONE,     FAILS | HOST)                             \
    X(JSON_KEYS,         STRING, STRING, STRING, NONE,   NONE,     FAILS | HOST)                             \
    X(JSON_LENGTH,       I64,    STRING, STRING, NONE,   NONE,     FAILS | HOST) /* no array: 0 */           \
    X(JSON_CONTAINS,     BOOL,   STRING, STRING, NONE,   NONE,     FAILS | HOST) /* b is an element's text */ \
    X(JSON_VALID,        BOOL,   STRING, NONE,   NONE,   NONE,     HOST)
/* clang-format on */

typedef enum hac_op {
#define HAC_OP_NAME(name, result, a, b, c, k, flags) HAC_OP_##name,
    HAC_OPS(HAC_OP_NAME)
#undef HAC_OP_NAME
        HAC_OP_END
} hac_op;

typedef enum hac_date_unit {
    HAC_UNIT_YEAR = 0,
    HAC_UNIT_QUARTER,
    HAC_UNIT_MONTH,
    HAC_UNIT_WEEK, /* ISO 8601 */
    HAC_UNIT_DAY,
    HAC_UNIT_DAY_OF_WEEK, /* ISO: Monday is 1 */
    HAC_UNIT_DAY_OF_YEAR,
    HAC_UNIT_HOUR,
    HAC_UNIT_MINUTE,
    HAC_UNIT_SECOND,
    HAC_UNIT_MICROSECOND, /* of the second */
    HAC_UNIT_END
} hac_date_unit;

#endif
