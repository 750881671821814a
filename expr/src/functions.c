/* SPDX-License-Identifier: Apache-2.0 */
#include "functions.h"

#include <string.h>

/* clang-format off */
#define NUMERIC(op) (const hac_op[HAC_REPR_END]){[HAC_REPR_I64] = HAC_OP_##op##_I64, [HAC_REPR_U64] = HAC_OP_##op##_U64, \
    [HAC_REPR_F32] = HAC_OP_##op##_F32, [HAC_REPR_F64] = HAC_OP_##op##_F64, [HAC_REPR_I128] = HAC_OP_##op##_I128}
/* unsigned numbers stay as they are */
#define SIGNED(op) (const hac_op[HAC_REPR_END]){[HAC_REPR_I64] = HAC_OP_##op##_I64, [HAC_REPR_F32] = HAC_OP_##op##_F32, \
    [HAC_REPR_F64] = HAC_OP_##op##_F64, [HAC_REPR_I128] = HAC_OP_##op##_I128}
#define INTEGERS(op) (const hac_op[HAC_REPR_END]){[HAC_REPR_I64] = HAC_OP_##op##_I64, [HAC_REPR_U64] = HAC_OP_##op##_U64}
#define FLOATS(op)   (const hac_op[HAC_REPR_END]){[HAC_REPR_F32] = HAC_OP_##op##_F32, [HAC_REPR_F64] = HAC_OP_##op##_F64}
#define ON(repr, op) (const hac_op[HAC_REPR_END]){[HAC_REPR_##repr] = HAC_OP_##op}
#define ALL(op) (const hac_op[HAC_REPR_END]){HAC_OP_##op, HAC_OP_##op, HAC_OP_##op, HAC_OP_##op, HAC_OP_##op, \
    HAC_OP_##op, HAC_OP_##op, HAC_OP_##op}
#define ITSELF (const hac_op[HAC_REPR_END]){0}

#define R(rule) HAC_RESULT_##rule
#define OP(operations) .ops = operations
#define EMIT(function, number) .emit = hac_emit_##function, .k = (number)
#define UNIT(repr, op, unit) .ops = ON(repr, op), .k = HAC_UNIT_##unit
#define IN(name) .section = HAC_SECTION_##name
#define OWN   .nulls = HAC_NULLS_OWN
#define NEVER .nulls = HAC_NULLS_NEVER
#define AGGREGATE(name) .k = HAC_AGGREGATE_##name, .section = HAC_SECTION_AGGREGATE, .nulls = HAC_NULLS_SKIPPED

static const hac_function table[] = {
    /* ---- arithmetic ---- */
    {"negate", "-a", "i", R(SAME), OP(SIGNED(NEG)), IN(ARITHMETIC), .text = "with the other sign", .example = "-(3)", .gives = "-3"},
    {"negate", "-a", "F", R(SAME), OP(SIGNED(NEG)), IN(ARITHMETIC), .text = "", .example = "-cast(1.5 as f32)", .gives = "-1.5"},
    {"negate", "-a", "D", R(SAME), OP(SIGNED(NEG)), IN(ARITHMETIC), .text = "", .example = "-(1.50)", .gives = "-1.50"},
    {"negate", "-a", "N", R(F64), OP(SIGNED(NEG)), IN(ARITHMETIC), .text = "", .example = "-(1e0)", .gives = "-1.0"},
    {"plus", "+a", "I", R(SAME), OP(ITSELF), IN(ARITHMETIC), .text = "the number itself", .example = "+(3)", .gives = "3"},
    {"plus", "+a", "F", R(SAME), OP(ITSELF), IN(ARITHMETIC), .text = "", .example = "+cast(3 as f32)", .gives = "3.0"},
    {"plus", "+a", "D", R(SAME), OP(ITSELF), IN(ARITHMETIC), .text = "", .example = "+(0.5)", .gives = "0.5"},
    {"plus", "+a", "N", R(F64), OP(ITSELF), IN(ARITHMETIC), .text = "", .example = "+(5e-1)", .gives = "0.5"},
    {"+", "a + b", "II", R(SAME), OP(INTEGERS(ADD)), IN(ARITHMETIC), .text = "in 64 bits; a sum that does not fit is an error", .example = "1 + 2", .gives = "3"},
    {"+", "a + b", "FF", R(SAME), OP(FLOATS(ADD)), IN(ARITHMETIC), .text = "", .example = "cast(1 as f32) + cast(2 as f32)", .gives = "3.0"},
    {"+", "a + b", "EE", R(DECIMAL_SUM), OP(NUMERIC(ADD)), IN(ARITHMETIC), .text = "exact: the larger scale, and one digit more", .example = "0.1 + 0.25", .gives = "0.35"},
    {"+", "a + b", "NN", R(F64), OP(FLOATS(ADD)), IN(ARITHMETIC), .text = "", .example = "1e0 + 2", .gives = "3.0"},
    {"+", "a + b", "di", R(DATE), EMIT(add_days, 0), IN(ARITHMETIC), .text = "that many days later", .example = "date '2020-01-31' + 1", .gives = "2020-02-01"},
    {"+", "a + b", "id", R(DATE), EMIT(add_days, 1), IN(ARITHMETIC), .text = "", .example = "1 + date '2020-01-31'", .gives = "2020-02-01"},
    {"-", "a - b", "II", R(SAME), OP(INTEGERS(SUB)), IN(ARITHMETIC), .text = "in 64 bits; of two unsigned numbers a negative difference is an error", .example = "1 - 2", .gives = "-1"},
    {"-", "a - b", "FF", R(SAME), OP(FLOATS(SUB)), IN(ARITHMETIC), .text = "", .example = "cast(1 as f32) - cast(2 as f32)", .gives = "-1.0"},
    {"-", "a - b", "EE", R(DECIMAL_SUM), OP(NUMERIC(SUB)), IN(ARITHMETIC), .text = "exact: the larger scale, and one digit more", .example = "1 - 0.25", .gives = "0.75"},
    {"-", "a - b", "NN", R(F64), OP(FLOATS(SUB)), IN(ARITHMETIC), .text = "", .example = "1e0 - 2", .gives = "-1.0"},
    {"-", "a - b", "di", R(DATE), EMIT(add_days, 2), IN(ARITHMETIC), .text = "that many days earlier", .example = "date '2020-03-01' - 1", .gives = "2020-02-29"},
    {"-", "a - b", "dd", R(I64), OP(ON(I64, SUB_I64)), IN(ARITHMETIC), .text = "days from b to a", .example = "date '2020-03-01' - date '2020-02-01'", .gives = "29"},
    {"-", "a - b", "tt", R(I64), OP(ON(I64, SUB_I64)), IN(ARITHMETIC), .text = "microseconds from b to a", .example = "timestamp '2020-01-01 00:00:01' - timestamp '2020-01-01'", .gives = "1000000"},
    {"*", "a * b", "II", R(SAME), OP(INTEGERS(MUL)), IN(ARITHMETIC), .text = "in 64 bits; a product that does not fit is an error", .example = "6 * 7", .gives = "42"},
    {"*", "a * b", "FF", R(SAME), OP(FLOATS(MUL)), IN(ARITHMETIC), .text = "", .example = "cast(6 as f32) * cast(7 as f32)", .gives = "42.0"},
    {"*", "a * b", "EE", R(DECIMAL_PRODUCT), OP(NUMERIC(MUL)), IN(ARITHMETIC), .text = "exact: digits and scales add up; over 38 digits in a value is an error", .example = "1.5 * 0.25", .gives = "0.375"},
    {"*", "a * b", "NN", R(F64), OP(FLOATS(MUL)), IN(ARITHMETIC), .text = "", .example = "6e0 * 7", .gives = "42.0"},
    {"/", "a / b", "FF", R(SAME), OP(FLOATS(DIV)), IN(ARITHMETIC), .text = "", .example = "cast(1 as f32) / cast(2 as f32)", .gives = "0.5"},
    {"/", "a / b", "NN", R(F64), OP(FLOATS(DIV)), IN(ARITHMETIC), .text = "true division, of integers and decimals too; by zero it is inf, -inf or nan", .example = "1 / 2", .gives = "0.5"},
    {"//", "a // b", "II", R(SAME), OP(INTEGERS(DIV)), IN(ARITHMETIC), OWN, .text = "the quotient without its fraction; null when b is 0", .example = "-7 // 2", .gives = "-3"},
    {"%", "a % b", "II", R(SAME), OP(INTEGERS(MOD)), IN(ARITHMETIC), OWN, .text = "what // leaves, with the sign of a; null when b is 0", .example = "-7 % 2", .gives = "-1"},
    /* ---- comparison ---- */
    {"=", "a = b", "C", R(BOOL), EMIT(compare, HAC_EQ), IN(COMPARISON), .text = "equal; also written ==", .example = "1 = 1.0", .gives = "true"},
    {"<>", "a <> b", "C", R(BOOL), EMIT(compare, HAC_NE), IN(COMPARISON), .text = "not equal; also written !=", .example = "'a' <> 'A'", .gives = "true"},
    {"<", "a < b", "C", R(BOOL), EMIT(compare, HAC_LT), IN(COMPARISON), .text = "less; texts byte by byte, false before true", .example = "'B' < 'a'", .gives = "true"},
    {"<=", "a <= b", "C", R(BOOL), EMIT(compare, HAC_LE), IN(COMPARISON), .text = "less or equal", .example = "2 <= 1", .gives = "false"},
    {">", "a > b", "C", R(BOOL), EMIT(compare, HAC_GT), IN(COMPARISON), .text = "greater", .example = "date '2020-01-31' > date '2020-01-30'", .gives = "true"},
    {">=", "a >= b", "C", R(BOOL), EMIT(compare, HAC_GE), IN(COMPARISON), .text = "greater or equal; `a [not] between b and c` is a >= b and a <= c", .example = "3 between 1 and 3", .gives = "true"},
    {"in", "a [not] in (b, …)", "CC+", R(BOOL), EMIT(in, 0), IN(COMPARISON), OWN, .text = "equal to one of the list; when it is equal to none and the list has a null: null", .example = "2 in (1, 2, 3)", .gives = "true"},
    {"like", "a [not] like 'pattern'", "Sp", R(BOOL), EMIT(like, 0), IN(COMPARISON), .text = "% stands for any text, _ for one character; the whole of a must match", .example = "'hello' like 'h_l%'", .gives = "true"},
    {"like", "a [not] like 'pattern' escape 'c'", "Spp", R(BOOL), EMIT(like, 0), IN(COMPARISON), .text = "c before %, _ or c takes it as it is", .example = "'50%' like '%!%' escape '!'", .gives = "true"},
    {"is null", "a is [not] null", "A", R(BOOL), OP(ALL(IS_NULL)), IN(COMPARISON), NEVER, .text = "whether there is no value", .example = "null is null", .gives = "true"},
    /* ---- logic ---- */
    {"and", "a and b", "BB", R(BOOL), OP(ON(BOOL, AND)), IN(LOGIC), OWN, .text = "false when one is false, else null when one is null", .example = "false and null", .gives = "false"},
    {"or", "a or b", "BB", R(BOOL), OP(ON(BOOL, OR)), IN(LOGIC), OWN, .text = "true when one is true, else null when one is null", .example = "true or null", .gives = "true"},
    {"not", "not a", "B", R(BOOL), OP(ON(BOOL, NOT)), IN(LOGIC), .text = "the opposite", .example = "not 1 = 2", .gives = "true"},
    /* ---- conditions ---- */
    {"if", "if(condition, a, b)", "BXX", R(VALUE), EMIT(if, 0), IN(CONDITION), OWN, .text = "a where the condition is true, else b (also where it is null); `case when c then a … else b end` and `case x when v then a … end` are the same, written out; without else: null", .example = "case 2 when 1 then 'one' when 2 then 'two' end", .gives = "two"},
    {"coalesce", NULL, "X+", R(SAME), EMIT(coalesce, 0), IN(CONDITION), OWN, .text = "the first that is not null", .example = "coalesce(null, 2, 3)", .gives = "2"},
    {"nullif", NULL, "CC", R(SAME), EMIT(nullif, 0), IN(CONDITION), OWN, .text = "null when a = b, else a", .example = "coalesce(nullif(1, 1), 5)", .gives = "5"},
    {"greatest", NULL, "XX+", R(SAME), EMIT(greatest, 1), IN(CONDITION), OWN, .text = "the greatest of the arguments that are not null", .example = "greatest(1, null, 3)", .gives = "3"},
    {"least", NULL, "XX+", R(SAME), EMIT(greatest, 0), IN(CONDITION), OWN, .text = "the least of the arguments that are not null", .example = "least('b', 'a')", .gives = "a"},
    /* ---- math ---- */
    {"abs", NULL, "I", R(SAME), OP(SIGNED(ABS)), IN(MATH), .text = "without its sign", .example = "abs(-3)", .gives = "3"},
    {"abs", NULL, "F", R(SAME), OP(SIGNED(ABS)), IN(MATH), .text = "", .example = "abs(cast(-3 as f32))", .gives = "3.0"},
    {"abs", NULL, "D", R(SAME), OP(SIGNED(ABS)), IN(MATH), .text = "", .example = "abs(-1.5)", .gives = "1.5"},
    {"abs", NULL, "N", R(F64), OP(SIGNED(ABS)), IN(MATH), .text = "", .example = "abs(-15e-1)", .gives = "1.5"},
    {"sqrt", NULL, "F", R(SAME), OP(FLOATS(SQRT)), IN(MATH), .text = "square root; nan below 0", .example = "sqrt(cast(9 as f32))", .gives = "3.0"},
    {"sqrt", NULL, "N", R(F64), OP(FLOATS(SQRT)), IN(MATH), .text = "", .example = "sqrt(2)", .gives = "1.4142135623730951"},
    {"floor", NULL, "I", R(SAME), OP(ITSELF), IN(MATH), .text = "the next whole number below", .example = "floor(3)", .gives = "3"},
    {"floor", NULL, "F", R(SAME), OP(FLOATS(FLOOR)), IN(MATH), .text = "", .example = "floor(cast(1.5 as f32))", .gives = "1.0"},
    {"floor", NULL, "D", R(DECIMAL_WHOLE), EMIT(whole, HAC_WHOLE_FLOOR), IN(MATH), .text = "", .example = "floor(-1.5)", .gives = "-2"},
    {"floor", NULL, "N", R(F64), OP(FLOATS(FLOOR)), IN(MATH), .text = "", .example = "floor(-15e-1)", .gives = "-2.0"},
    {"ceil", NULL, "I", R(SAME), OP(ITSELF), IN(MATH), .text = "the next whole number above", .example = "ceil(3)", .gives = "3"},
    {"ceil", NULL, "F", R(SAME), OP(FLOATS(CEIL)), IN(MATH), .text = "", .example = "ceil(cast(1.5 as f32))", .gives = "2.0"},
    {"ceil", NULL, "D", R(DECIMAL_WHOLE), EMIT(whole, HAC_WHOLE_CEIL), IN(MATH), .text = "", .example = "ceil(1.25)", .gives = "2"},
    {"ceil", NULL, "N", R(F64), OP(FLOATS(CEIL)), IN(MATH), .text = "", .example = "ceil(15e-1)", .gives = "2.0"},
    {"trunc", NULL, "I", R(SAME), OP(ITSELF), IN(MATH), .text = "without the fraction", .example = "trunc(3)", .gives = "3"},
    {"trunc", NULL, "F", R(SAME), OP(FLOATS(TRUNC)), IN(MATH), .text = "", .example = "trunc(cast(-1.5 as f32))", .gives = "-1.0"},
    {"trunc", NULL, "D", R(DECIMAL_WHOLE), EMIT(whole, HAC_WHOLE_TRUNC), IN(MATH), .text = "", .example = "trunc(-1.75)", .gives = "-1"},
    {"trunc", NULL, "N", R(F64), OP(FLOATS(TRUNC)), IN(MATH), .text = "", .example = "trunc(-15e-1)", .gives = "-1.0"},
    {"round", NULL, "I", R(SAME), OP(ITSELF), IN(MATH), .text = "the nearest whole number; halves away from zero", .example = "round(3)", .gives = "3"},
    {"round", NULL, "F", R(SAME), OP(FLOATS(ROUND)), IN(MATH), .text = "", .example = "round(cast(2.5 as f32))", .gives = "3.0"},
    {"round", NULL, "D", R(DECIMAL_WHOLE), EMIT(whole, HAC_WHOLE_ROUND), IN(MATH), .text = "", .example = "round(-2.5)", .gives = "-3"},
    {"round", NULL, "N", R(F64), OP(FLOATS(ROUND)), IN(MATH), .text = "", .example = "round(25e-1)", .gives = "3.0"},
    {"round", "round(a, digits)", "Dk", R(DECIMAL_ROUND), EMIT(round_decimal, 0), IN(MATH), .text = "to 0 … 15 digits behind the point; of a decimal exactly", .example = "round(2.675, 2)", .gives = "2.68"},
    {"round", "round(a, digits)", "Nk", R(F64), EMIT(round_digits, 0), IN(MATH), .text = "", .example = "round(1.25e0, 1)", .gives = "1.3"},
    {"exp", NULL, "N", R(F64), OP(ON(F64, EXP_F64)), IN(MATH), .text = "e to the power of a", .example = "exp(0)", .gives = "1.0"},
    {"ln", NULL, "N", R(F64), OP(ON(F64, LN_F64)), IN(MATH), .text = "natural logarithm", .example = "ln(1)", .gives = "0.0"},
    {"log2", NULL, "N", R(F64), OP(ON(F64, LOG2_F64)), IN(MATH), .text = "logarithm to base 2", .example = "log2(8)", .gives = "3.0"},
    {"log10", NULL, "N", R(F64), OP(ON(F64, LOG10_F64)), IN(MATH), .text = "logarithm to base 10", .example = "log10(1000)", .gives = "3.0"},
    {"pow", NULL, "NN", R(F64), OP(ON(F64, POW_F64)), IN(MATH), .text = "a to the power of b", .example = "pow(2, 10)", .gives = "1024.0"},
    {"sin", NULL, "N", R(F64), OP(ON(F64, SIN_F64)), IN(MATH), .text = "of an angle in radians", .example = "sin(0)", .gives = "0.0"},
    {"cos", NULL, "N", R(F64), OP(ON(F64, COS_F64)), IN(MATH), .text = "of an angle in radians", .example = "cos(0)", .gives = "1.0"},
    {"tan", NULL, "N", R(F64), OP(ON(F64, TAN_F64)), IN(MATH), .text = "of an angle in radians", .example = "tan(0)", .gives = "0.0"},
    {"asin", NULL, "N", R(F64), OP(ON(F64, ASIN_F64)), IN(MATH), .text = "an angle in radians", .example = "asin(0)", .gives = "0.0"},
    {"acos", NULL, "N", R(F64), OP(ON(F64, ACOS_F64)), IN(MATH), .text = "an angle in radians", .example = "acos(1)", .gives = "0.0"},
    {"atan", NULL, "N", R(F64), OP(ON(F64, ATAN_F64)), IN(MATH), .text = "an angle in radians", .example = "atan(0)", .gives = "0.0"},
    {"atan2", "atan2(y, x)", "NN", R(F64), OP(ON(F64, ATAN2_F64)), IN(MATH), .text = "the angle of the point (x, y) in radians", .example = "atan2(0, 1)", .gives = "0.0"},
    {"pi", NULL, "", R(F64), EMIT(pi, 0), IN(MATH), NEVER, .text = "3.14…", .example = "pi()", .gives = "3.141592653589793"},
    /* ---- strings ---- */
    {"||", "a || b", "SS", R(STRING), OP(ON(STRING, CONCAT)), IN(STRING), .text = "a, then b", .example = "'ab' || 'c'", .gives = "abc"},
    {"concat", NULL, "S+", R(STRING), EMIT(concat, 0), IN(STRING), NEVER, .text = "all of them, one after the other; a null is an empty text", .example = "concat('a', null, 'b')", .gives = "ab"},
    {"length", NULL, "S", R(I64), OP(ON(STRING, LENGTH)), IN(STRING), .text = "characters of UTF-8; a byte that is none counts as one", .example = "length('Zoë')", .gives = "3"},
    {"length", NULL, "Y", R(I64), OP(ON(STRING, BYTES)), IN(STRING), .text = "bytes", .example = "length(x'5a6fc3ab')", .gives = "4"},
    {"bytes", NULL, "S", R(I64), OP(ON(STRING, BYTES)), IN(STRING), .text = "bytes", .example = "bytes('Zoë')", .gives = "4"},
    {"bytes", NULL, "Y", R(I64), OP(ON(STRING, BYTES)), IN(STRING), .text = "", .example = "bytes(x'00ff')", .gives = "2"},
    {"lower", NULL, "S", R(STRING), OP(ON(STRING, LOWER)), IN(STRING), .text = "A … Z become a … z; other letters stay", .example = "lower('ABC')", .gives = "abc"},
    {"upper", NULL, "S", R(STRING), OP(ON(STRING, UPPER)), IN(STRING), .text = "a … z become A … Z; other letters stay", .example = "upper('abc')", .gives = "ABC"},
    {"trim", NULL, "S", R(STRING), OP(ON(STRING, TRIM)), IN(STRING), .text = "without blanks at both ends", .example = "trim('  a b ')", .gives = "a b"},
    {"ltrim", NULL, "S", R(STRING), OP(ON(STRING, LTRIM)), IN(STRING), .text = "without blanks in front", .example = "ltrim('  a')", .gives = "a"},
    {"rtrim", NULL, "S", R(STRING), OP(ON(STRING, RTRIM)), IN(STRING), .text = "without blanks behind", .example = "rtrim('a  ')", .gives = "a"},
    {"substr", "substr(a, from)", "Si", R(STRING), EMIT(substr, 0), IN(STRING), .text = "from character `from` (1 is the first) to the end", .example = "substr('hello', 3)", .gives = "llo"},
    {"substr", "substr(a, from, count)", "Sii", R(STRING), EMIT(substr, 0), IN(STRING), .text = "at most `count` characters", .example = "substr('hello', 2, 3)", .gives = "ell"},
    {"replace", "replace(a, what, by)", "SSS", R(STRING), OP(ON(STRING, REPLACE)), IN(STRING), .text = "every `what` in a becomes `by`", .example = "replace('a-b-c', '-', '+')", .gives = "a+b+c"},
    {"position", "position(a, part)", "SS", R(I64), OP(ON(STRING, POSITION)), IN(STRING), .text = "the character at which `part` first begins in a; 0: nowhere", .example = "position('hello', 'l')", .gives = "3"},
    {"starts_with", "starts_with(a, part)", "SS", R(BOOL), OP(ON(STRING, STARTS_WITH)), IN(STRING), .text = "whether a begins so", .example = "starts_with('hello', 'he')", .gives = "true"},
    {"starts_with", "starts_with(a, part)", "YY", R(BOOL), OP(ON(STRING, STARTS_WITH)), IN(STRING), .text = "", .example = "starts_with(x'00ff', x'00')", .gives = "true"},
    {"ends_with", "ends_with(a, part)", "SS", R(BOOL), OP(ON(STRING, ENDS_WITH)), IN(STRING), .text = "whether a ends so", .example = "ends_with('hello', 'he')", .gives = "false"},
    {"ends_with", "ends_with(a, part)", "YY", R(BOOL), OP(ON(STRING, ENDS_WITH)), IN(STRING), .text = "", .example = "ends_with(x'00ff', x'00')", .gives = "false"},
    {"contains", "contains(a, part)", "SS", R(BOOL), OP(ON(STRING, CONTAINS)), IN(STRING), .text = "whether `part` is anywhere in a", .example = "contains('hello', 'll')", .gives = "true"},
    {"contains", "contains(a, part)", "YY", R(BOOL), OP(ON(STRING, CONTAINS)), IN(STRING), .text = "", .example = "contains(x'00ff00', x'ff')", .gives = "true"},
    /* ---- dates ---- */
#define DATE_PART(name, unit, words, value) \
    {name, NULL, "d", R(I64), UNIT(I64, DATE_PART, unit), IN(DATE), .text = words, .example = name "(date '2020-02-29')", .gives = value}, \
    {name, NULL, "t", R(I64), EMIT(timestamp_part, HAC_UNIT_##unit), IN(DATE), .text = "", .example = name "(timestamp '2020-02-29 13:45:07')", .gives = value}
    DATE_PART("year", YEAR, "", "2020"),
    DATE_PART("quarter", QUARTER, "1 … 4", "1"),
    DATE_PART("month", MONTH, "1 … 12", "2"),
    DATE_PART("week", WEEK, "1 … 53, of ISO 8601", "9"),
    DATE_PART("day", DAY, "1 … 31", "29"),
    DATE_PART("dow", DAY_OF_WEEK, "the day of the week: Monday is 1, Sunday 7", "6"),
    DATE_PART("doy", DAY_OF_YEAR, "the day of the year: 1 … 366", "60"),
    {"hour", NULL, "t", R(I64), UNIT(I64, TIME_PART, HOUR), IN(DATE), .text = "0 … 23", .example = "hour(timestamp '2020-02-29 13:45:07')", .gives = "13"},
    {"minute", NULL, "t", R(I64), UNIT(I64, TIME_PART, MINUTE), IN(DATE), .text = "0 … 59", .example = "minute(timestamp '2020-02-29 13:45:07')", .gives = "45"},
    {"second", NULL, "t", R(I64), UNIT(I64, TIME_PART, SECOND), IN(DATE), .text = "0 … 59", .example = "second(timestamp '2020-02-29 13:45:07')", .gives = "7"},
    {"microsecond", NULL, "t", R(I64), UNIT(I64, TIME_PART, MICROSECOND), IN(DATE), .text = "of the second: 0 … 999999", .example = "microsecond(timestamp '2020-02-29 13:45:07.25')", .gives = "250000"},
    {"date_trunc", "date_trunc('unit', a)", "ud", R(DATE), EMIT(trunc_date, 0), IN(DATE), .text = "the first day of a's year, quarter, month or week (Monday)", .example = "date_trunc('month', date '2020-02-29')", .gives = "2020-02-01"},
    {"date_trunc", "date_trunc('unit', a)", "ut", R(TIMESTAMP), EMIT(trunc_timestamp, 0), IN(DATE), .text = "the begin of a's year, quarter, month, week, day, hour, minute or second", .example = "date_trunc('hour', timestamp '2020-02-29 13:45:07')", .gives = "2020-02-29 13:00:00"},
    {"add_months", "add_months(a, n)", "di", R(DATE), EMIT(add_months, 0), IN(DATE), .text = "n months later; a day that the month does not have becomes its last", .example = "add_months(date '2020-01-31', 1)", .gives = "2020-02-29"},
    {"add_months", "add_months(a, n)", "ti", R(TIMESTAMP), EMIT(add_months, 1), IN(DATE), .text = "", .example = "add_months(timestamp '2020-01-31 12:00:00', -2)", .gives = "2019-11-30 12:00:00"},
    /* ---- aggregates ---- */
    {"count", "count(), count(*)", "", R(I64), AGGREGATE(COUNT_ROWS), .text = "rows", .example = "count()"},
    {"count", "count(a)", "A", R(I64), AGGREGATE(COUNT), .text = "rows where a is not null", .example = "count(x)"},
    {"count_distinct", "count_distinct(a), count(distinct a)", "A", R(I64), AGGREGATE(COUNT_DISTINCT), .text = "different values", .example = "count(distinct x)"},
    {"sum", NULL, "I", R(SAME), AGGREGATE(SUM), .text = "in 64 bits; a sum that does not fit is an error", .example = "sum(x)"},
    {"sum", NULL, "D", R(DECIMAL_TOTAL), AGGREGATE(SUM), .text = "exact, with 38 digits", .example = "sum(x * 1.5)"},
    {"sum", NULL, "N", R(F64), AGGREGATE(SUM), .text = "", .example = "sum(x / 2)"},
    {"min", NULL, "X", R(SAME), AGGREGATE(MIN), .text = "the least", .example = "min(x)"},
    {"max", NULL, "X", R(SAME), AGGREGATE(MAX), .text = "the greatest", .example = "max(x)"},
    {"avg", NULL, "I", R(F64), AGGREGATE(AVG), .text = "sum ÷ count; of integers and decimals the sum is exact", .example = "avg(x)"},
    {"avg", NULL, "D", R(F64), AGGREGATE(AVG), .text = "", .example = "avg(x * 1.5)"},
    {"avg", NULL, "N", R(F64), AGGREGATE(AVG), .text = "", .example = "avg(x / 2)"},
    {"variance", NULL, "N", R(F64), AGGREGATE(VARIANCE), .text = "of a sample (n - 1); null below two values", .example = "variance(x)"},
    {"stddev", NULL, "N", R(F64), AGGREGATE(STDDEV), .text = "its square root", .example = "stddev(x)"},
    {"var_pop", NULL, "N", R(F64), AGGREGATE(VARIANCE_POP), .text = "of the whole population (n)", .example = "var_pop(x)"},
    {"stddev_pop", NULL, "N", R(F64), AGGREGATE(STDDEV_POP), .text = "its square root", .example = "stddev_pop(x)"},
    {"first", NULL, "X", R(SAME), AGGREGATE(FIRST), .text = "in the order of the input", .example = "first(x)"},
    {"last", NULL, "X", R(SAME), AGGREGATE(LAST), .text = "in the order of the input", .example = "last(x)"},
    {"top_k", "top_k(a, k)", "Xk", R(STRING), AGGREGATE(TOP_K), .text = "the k (1 … 1000) most frequent values as `value:count, …`, by count, then value", .example = "top_k(x, 3)"},
    {"histogram", "histogram(a, low, high, k)", "Nnnk", R(STRING), AGGREGATE(HISTOGRAM), .text = "counts of k (1 … 1000) buckets of equal width from low to high as `count, …`; values outside are left out", .example = "histogram(x, 0, 100, 10)"},
    {"approx_quantile", "approx_quantile(a, share)", "Nn", R(F64), AGGREGATE(QUANTILE), .text = "about the value below which that share (0 … 1) of the values lies; 0.5 is the median", .example = "approx_quantile(x, 0.5)"},
    {"string_list", NULL, "S", R(STRING), AGGREGATE(STRING_LIST), .text = "the different values in the order of the input, joined by commas", .example = "string_list(cast(x as string))"},
};
/* clang-format on */

#define N_ROWS (sizeof table / sizeof *table)

const hac_function *hac_functions(size_t *ret_n)
{
    *ret_n = N_ROWS;
    return table;
}

const hac_function *hac_function_find(const char *name)
{
    for (size_t i = 0; i < N_ROWS; i++)
        if (strcmp(table[i].name, name) == 0)
            return &table[i];
    return NULL;
}

char hac_function_letter(const hac_function *function, size_t i, size_t n)
{
    const char *args = function->args;
    size_t letters = strlen(args);
    if (args[0] == 'C' && args[1] == '\0')
        return n == 2 ? 'C' : '\0';
    bool repeats = letters > 0 && args[letters - 1] == '+';
    letters -= repeats;
    if (letters == 0 || n < letters || (n > letters && !repeats))
        return '\0';
    return args[i < letters ? i : letters - 1];
}

bool hac_function_exact(const hac_function *function)
{
    enum { FAILS = 0, HOST = 0, STATES = 0, INEXACT = 1 };
#define HAC_OP_INEXACT(name, result, a, b, c, k, flags) [HAC_OP_##name] = ((flags)&INEXACT) != 0,
    static const bool inexact[HAC_OP_END] = {HAC_OPS(HAC_OP_INEXACT)};
#undef HAC_OP_INEXACT
    for (size_t i = 0; function->ops != NULL && i < HAC_REPR_END; i++)
        if (inexact[function->ops[i]])
            return false;
    return true;
}

const char *hac_letter_text(char letter)
{
    switch (letter) {
    case 'I':
    case 'i':
        return "integer";
    case 'F':
        return "f32";
    case 'N':
        return "number";
    case 'B':
        return "bool";
    case 'S':
        return "string";
    case 'Y':
        return "bytes";
    case 'D':
        return "decimal";
    case 'E':
        return "decimal or integer";
    case 'd':
        return "date";
    case 't':
        return "timestamp";
    case 'p':
        return "constant text";
    case 'k':
        return "constant integer";
    case 'u':
        return "unit";
    case 'n':
        return "constant number";
    default:
        return "any";
    }
}

bool hac_unit_find(const char *name, size_t bytes, hac_date_unit *ret)
{
    static const struct {
        const char *name;
        hac_date_unit unit;
    } units[] = {{"year", HAC_UNIT_YEAR},     {"quarter", HAC_UNIT_QUARTER}, {"month", HAC_UNIT_MONTH},
                 {"week", HAC_UNIT_WEEK},     {"day", HAC_UNIT_DAY},         {"hour", HAC_UNIT_HOUR},
                 {"minute", HAC_UNIT_MINUTE}, {"second", HAC_UNIT_SECOND}};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (strlen(units[i].name) == bytes && memcmp(units[i].name, name, bytes) == 0) {
            *ret = units[i].unit;
            return true;
        }
    }
    return false;
}

bool hac_is_aggregate(const hac_function *function)
{
    return function->section == HAC_SECTION_AGGREGATE;
}

bool hac_name_is_aggregate(const char *name)
{
    const hac_function *function = hac_function_find(name);
    return function != NULL && hac_is_aggregate(function);
}
