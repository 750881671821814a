/* SPDX-License-Identifier: Apache-2.0 */
#include "functions.h"

#include <string.h>

#include "emit/emit.h"

/* clang-format off */
#define NUMERIC(op) (const hac_op[HAC_REPR_END]){[HAC_REPR_I64] = HAC_OP_##op##_I64, [HAC_REPR_U64] = HAC_OP_##op##_U64, \
    [HAC_REPR_F32] = HAC_OP_##op##_F32, [HAC_REPR_F64] = HAC_OP_##op##_F64, [HAC_REPR_I128] = HAC_OP_##op##_I128}
/* not for unsigned numbers */
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

static const hac_function table[] = {
    /* ---- arithmetic ---- */
    {"negate", "-a", "i", R(SAME), OP(SIGNED(NEG)), IN(ARITHMETIC), .text = "the number with the opposite sign", .example = "-(3)", .gives = "-3"},
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
    {"-", "a - b", "II", R(SAME), OP(INTEGERS(SUB)), IN(ARITHMETIC), .text = "in 64 bits; a negative difference of two unsigned numbers is an error", .example = "1 - 2", .gives = "-1"},
    {"-", "a - b", "FF", R(SAME), OP(FLOATS(SUB)), IN(ARITHMETIC), .text = "", .example = "cast(1 as f32) - cast(2 as f32)", .gives = "-1.0"},
    {"-", "a - b", "EE", R(DECIMAL_SUM), OP(NUMERIC(SUB)), IN(ARITHMETIC), .text = "exact: the larger scale, and one digit more", .example = "1 - 0.25", .gives = "0.75"},
    {"-", "a - b", "NN", R(F64), OP(FLOATS(SUB)), IN(ARITHMETIC), .text = "", .example = "1e0 - 2", .gives = "-1.0"},
    {"-", "a - b", "di", R(DATE), EMIT(add_days, 2), IN(ARITHMETIC), .text = "that many days earlier", .example = "date '2020-03-01' - 1", .gives = "2020-02-29"},
    {"-", "a - b", "dd", R(I64), OP(ON(I64, SUB_I64)), IN(ARITHMETIC), .text = "days from b to a", .example = "date '2020-03-01' - date '2020-02-01'", .gives = "29"},
    {"-", "a - b", "tt", R(I64), OP(ON(I64, SUB_I64)), IN(ARITHMETIC), .text = "microseconds from b to a", .example = "timestamp '2020-01-01 00:00:01' - timestamp '2020-01-01'", .gives = "1000000"},
    {"*", "a * b", "II", R(SAME), OP(INTEGERS(MUL)), IN(ARITHMETIC), .text = "in 64 bits; a product that does not fit is an error", .example = "6 * 7", .gives = "42"},
    {"*", "a * b", "FF", R(SAME), OP(FLOATS(MUL)), IN(ARITHMETIC), .text = "", .example = "cast(6 as f32) * cast(7 as f32)", .gives = "42.0"},
    {"*", "a * b", "EE", R(DECIMAL_PRODUCT), OP(NUMERIC(MUL)), IN(ARITHMETIC), .text = "exact: digits and scales add up; a value of more than 38 digits is an error", .example = "1.5 * 0.25", .gives = "0.375"},
    {"*", "a * b", "NN", R(F64), OP(FLOATS(MUL)), IN(ARITHMETIC), .text = "", .example = "6e0 * 7", .gives = "42.0"},
    {"/", "a / b", "FF", R(SAME), OP(FLOATS(DIV)), IN(ARITHMETIC), .text = "", .example = "cast(1 as f32) / cast(2 as f32)", .gives = "0.5"},
    {"/", "a / b", "NN", R(F64), OP(FLOATS(DIV)), IN(ARITHMETIC), .text = "true division, also of integers and decimals; division by zero gives inf, -inf or nan", .example = "1 / 2", .gives = "0.5"},
    {"//", "a // b", "II", R(SAME), OP(INTEGERS(DIV)), IN(ARITHMETIC), OWN, .text = "the quotient without its fraction; null if b is 0", .example = "-7 // 2", .gives = "-3"},
    {"%", "a % b", "II", R(SAME), OP(INTEGERS(MOD)), IN(ARITHMETIC), OWN, .text = "the remainder of //, with the sign of a; null if b is 0", .example = "-7 % 2", .gives = "-1"},
    {"&", "a & b", "II", R(SAME), OP(INTEGERS(BIT_AND)), IN(ARITHMETIC), .text = "the bits that both have", .example = "12 & 10", .gives = "8"},
    {"|", "a | b", "II", R(SAME), OP(INTEGERS(BIT_OR)), IN(ARITHMETIC), .text = "the bits that one of them has", .example = "12 | 10", .gives = "14"},
    {"xor", NULL, "II", R(SAME), OP(INTEGERS(BIT_XOR)), IN(ARITHMETIC), .text = "the bits in which they differ; xor(a, -1) are all bits that a has not", .example = "xor(12, 10)", .gives = "6"},
    {"<<", "a << n", "Ii", R(SAME), OP(INTEGERS(SHIFT_LEFT)), IN(ARITHMETIC), .text = "n bits to the left, a × 2^n; a result that does not fit, or n below 0, is an error", .example = "3 << 4", .gives = "48"},
    {">>", "a >> n", "Ii", R(SAME), OP(INTEGERS(SHIFT_RIGHT)), IN(ARITHMETIC), .text = "n bits to the right, a ÷ 2^n, rounded down; n below 0 is an error", .example = "-5 >> 1", .gives = "-3"},
    {"bit_count", NULL, "I", R(I64), OP(INTEGERS(BIT_COUNT)), IN(ARITHMETIC), .text = "the number of bits that are set", .example = "bit_count(255)", .gives = "8"},
    /* ---- comparison ---- */
    {"=", "a = b", "C", R(BOOL), EMIT(compare, HAC_EQ), IN(COMPARISON), .text = "equal; also written ==", .example = "1 = 1.0", .gives = "true"},
    {"<>", "a <> b", "C", R(BOOL), EMIT(compare, HAC_NE), IN(COMPARISON), .text = "not equal; also written !=", .example = "'a' <> 'A'", .gives = "true"},
    {"<", "a < b", "C", R(BOOL), EMIT(compare, HAC_LT), IN(COMPARISON), .text = "less; texts compare byte by byte, false is less than true", .example = "'B' < 'a'", .gives = "true"},
    {"<=", "a <= b", "C", R(BOOL), EMIT(compare, HAC_LE), IN(COMPARISON), .text = "less or equal", .example = "2 <= 1", .gives = "false"},
    {">", "a > b", "C", R(BOOL), EMIT(compare, HAC_GT), IN(COMPARISON), .text = "greater", .example = "date '2020-01-31' > date '2020-01-30'", .gives = "true"},
    {">=", "a >= b", "C", R(BOOL), EMIT(compare, HAC_GE), IN(COMPARISON), .text = "greater or equal; `a [not] between b and c` is a >= b and a <= c", .example = "3 between 1 and 3", .gives = "true"},
    {"in", "a [not] in (b, …)", "CC+", R(BOOL), EMIT(in, 0), IN(COMPARISON), OWN, .text = "equal to an item of the list; null if no item is equal and one is null", .example = "2 in (1, 2, 3)", .gives = "true"},
    {"like", "a [not] like 'pattern'", "Sp", R(BOOL), EMIT(like, 0), .has_pattern = true, IN(COMPARISON), .text = "% matches any text, _ one character; the pattern must match all of a", .example = "'hello' like 'h_l%'", .gives = "true"},
    {"like", "a [not] like 'pattern' escape 'c'", "Spp", R(BOOL), EMIT(like, 0), .has_pattern = true, IN(COMPARISON), .text = "c before %, _ or c makes that character match itself", .example = "'50%' like '%!%' escape '!'", .gives = "true"},
    {"is null", "a is [not] null", "A", R(BOOL), OP(ALL(IS_NULL)), IN(COMPARISON), NEVER, .text = "true if a is null", .example = "null is null", .gives = "true"},
    /* ---- logic ---- */
    {"and", "a and b", "BB", R(BOOL), OP(ON(BOOL, AND)), IN(LOGIC), OWN, .text = "false if one is false, else null if one is null", .example = "false and null", .gives = "false"},
    {"or", "a or b", "BB", R(BOOL), OP(ON(BOOL, OR)), IN(LOGIC), OWN, .text = "true if one is true, else null if one is null", .example = "true or null", .gives = "true"},
    {"not", "not a", "B", R(BOOL), OP(ON(BOOL, NOT)), IN(LOGIC), .text = "true if a is false", .example = "not 1 = 2", .gives = "true"},
    /* ---- conditions ---- */
    {"if", "if(condition, a, b)", "BXX", R(VALUE), EMIT(if, 0), IN(CONDITION), OWN, .text = "a if the condition is true, else b (also if it is null); `case when c then a … else b end` and `case x when v then a … end` are other ways to write it; without else: null", .example = "case 2 when 1 then 'one' when 2 then 'two' end", .gives = "two"},
    {"coalesce", NULL, "X+", R(SAME), EMIT(coalesce, 0), IN(CONDITION), OWN, .text = "the first argument that is not null", .example = "coalesce(null, 2, 3)", .gives = "2"},
    {"nullif", NULL, "CC", R(SAME), EMIT(nullif, 0), IN(CONDITION), OWN, .text = "null if a = b, else a", .example = "coalesce(nullif(1, 1), 5)", .gives = "5"},
    {"greatest", NULL, "XX+", R(SAME), EMIT(greatest, 1), IN(CONDITION), OWN, .text = "the greatest of the arguments that are not null", .example = "greatest(1, null, 3)", .gives = "3"},
    {"least", NULL, "XX+", R(SAME), EMIT(greatest, 0), IN(CONDITION), OWN, .text = "the smallest of the arguments that are not null", .example = "least('b', 'a')", .gives = "a"},
    /* ---- math ---- */
    {"abs", NULL, "I", R(SAME), OP(SIGNED(ABS)), IN(MATH), .text = "the absolute value", .example = "abs(-3)", .gives = "3"},
    {"abs", NULL, "F", R(SAME), OP(SIGNED(ABS)), IN(MATH), .text = "", .example = "abs(cast(-3 as f32))", .gives = "3.0"},
    {"abs", NULL, "D", R(SAME), OP(SIGNED(ABS)), IN(MATH), .text = "", .example = "abs(-1.5)", .gives = "1.5"},
    {"abs", NULL, "N", R(F64), OP(SIGNED(ABS)), IN(MATH), .text = "", .example = "abs(-15e-1)", .gives = "1.5"},
    {"sign", NULL, "I", R(I64), EMIT(sign, 0), IN(MATH), .text = "-1 below 0, 1 above it, 0 for 0 and nan", .example = "sign(-3)", .gives = "-1"},
    {"sign", NULL, "F", R(I64), EMIT(sign, 0), IN(MATH), .text = "", .example = "sign(cast(0 as f32))", .gives = "0"},
    {"sign", NULL, "D", R(I64), EMIT(sign, 0), IN(MATH), .text = "", .example = "sign(1.5)", .gives = "1"},
    {"sign", NULL, "N", R(I64), EMIT(sign, 0), IN(MATH), .text = "", .example = "sign(-15e-1)", .gives = "-1"},
    {"sqrt", NULL, "F", R(SAME), OP(FLOATS(SQRT)), IN(MATH), .text = "square root; nan below 0", .example = "sqrt(cast(9 as f32))", .gives = "3.0"},
    {"sqrt", NULL, "N", R(F64), OP(FLOATS(SQRT)), IN(MATH), .text = "", .example = "sqrt(2)", .gives = "1.4142135623730951"},
    {"floor", NULL, "I", R(SAME), OP(ITSELF), IN(MATH), .text = "the largest whole number that is not above a", .example = "floor(3)", .gives = "3"},
    {"floor", NULL, "F", R(SAME), OP(FLOATS(FLOOR)), IN(MATH), .text = "", .example = "floor(cast(1.5 as f32))", .gives = "1.0"},
    {"floor", NULL, "D", R(DECIMAL_WHOLE), EMIT(whole, HAC_WHOLE_FLOOR), IN(MATH), .text = "", .example = "floor(-1.5)", .gives = "-2"},
    {"floor", NULL, "N", R(F64), OP(FLOATS(FLOOR)), IN(MATH), .text = "", .example = "floor(-15e-1)", .gives = "-2.0"},
    {"ceil", NULL, "I", R(SAME), OP(ITSELF), IN(MATH), .text = "the smallest whole number that is not below a", .example = "ceil(3)", .gives = "3"},
    {"ceil", NULL, "F", R(SAME), OP(FLOATS(CEIL)), IN(MATH), .text = "", .example = "ceil(cast(1.5 as f32))", .gives = "2.0"},
    {"ceil", NULL, "D", R(DECIMAL_WHOLE), EMIT(whole, HAC_WHOLE_CEIL), IN(MATH), .text = "", .example = "ceil(1.25)", .gives = "2"},
    {"ceil", NULL, "N", R(F64), OP(FLOATS(CEIL)), IN(MATH), .text = "", .example = "ceil(15e-1)", .gives = "2.0"},
    {"trunc", NULL, "I", R(SAME), OP(ITSELF), IN(MATH), .text = "the number without its fraction", .example = "trunc(3)", .gives = "3"},
    {"trunc", NULL, "F", R(SAME), OP(FLOATS(TRUNC)), IN(MATH), .text = "", .example = "trunc(cast(-1.5 as f32))", .gives = "-1.0"},
    {"trunc", NULL, "D", R(DECIMAL_WHOLE), EMIT(whole, HAC_WHOLE_TRUNC), IN(MATH), .text = "", .example = "trunc(-1.75)", .gives = "-1"},
    {"trunc", NULL, "N", R(F64), OP(FLOATS(TRUNC)), IN(MATH), .text = "", .example = "trunc(-15e-1)", .gives = "-1.0"},
    {"round", NULL, "I", R(SAME), OP(ITSELF), IN(MATH), .text = "the nearest whole number; halves round away from zero", .example = "round(3)", .gives = "3"},
    {"round", NULL, "F", R(SAME), OP(FLOATS(ROUND)), IN(MATH), .text = "", .example = "round(cast(2.5 as f32))", .gives = "3.0"},
    {"round", NULL, "D", R(DECIMAL_WHOLE), EMIT(whole, HAC_WHOLE_ROUND), IN(MATH), .text = "", .example = "round(-2.5)", .gives = "-3"},
    {"round", NULL, "N", R(F64), OP(FLOATS(ROUND)), IN(MATH), .text = "", .example = "round(25e-1)", .gives = "3.0"},
    {"round", "round(a, digits)", "Dk", R(DECIMAL_ROUND), EMIT(round_decimal, 0), IN(MATH), .text = "rounds to 0 … 15 digits behind the point; exact for decimals", .example = "round(2.675, 2)", .gives = "2.68"},
    {"round", "round(a, digits)", "Nk", R(F64), EMIT(round_digits, 0), IN(MATH), .text = "of the exact value of the float, so that 1.115e0, which is a little less, gives 1.11", .example = "round(1.25e0, 1)", .gives = "1.3"},
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
    {"concat", NULL, "S+", R(STRING), EMIT(concat, 0), IN(STRING), NEVER, .text = "all arguments, one after another; a null is an empty text", .example = "concat('a', null, 'b')", .gives = "ab"},
    {"length", NULL, "S", R(I64), OP(ON(STRING, LENGTH)), IN(STRING), .text = "UTF-8 characters; a byte that is not UTF-8 counts as one", .example = "length('Zoë')", .gives = "3"},
    {"length", NULL, "Y", R(I64), OP(ON(STRING, BYTES)), IN(STRING), .text = "bytes", .example = "length(x'5a6fc3ab')", .gives = "4"},
    {"bytes", NULL, "S", R(I64), OP(ON(STRING, BYTES)), IN(STRING), .text = "bytes", .example = "bytes('Zoë')", .gives = "4"},
    {"bytes", NULL, "Y", R(I64), OP(ON(STRING, BYTES)), IN(STRING), .text = "", .example = "bytes(x'00ff')", .gives = "2"},
    {"lower", NULL, "S", R(STRING), OP(ON(STRING, LOWER)), IN(STRING), .text = "in lower case, one character for one by Unicode's simple mappings", .example = "lower('ÄBC')", .gives = "äbc"},
    {"upper", NULL, "S", R(STRING), OP(ON(STRING, UPPER)), IN(STRING), .text = "in upper case", .example = "upper('zoë')", .gives = "ZOË"},
    {"trim", NULL, "S", R(STRING), OP(ON(STRING, TRIM)), IN(STRING), .text = "removes blanks at both ends", .example = "trim('  a b ')", .gives = "a b"},
    {"ltrim", NULL, "S", R(STRING), OP(ON(STRING, LTRIM)), IN(STRING), .text = "removes blanks at the start", .example = "ltrim('  a')", .gives = "a"},
    {"rtrim", NULL, "S", R(STRING), OP(ON(STRING, RTRIM)), IN(STRING), .text = "removes blanks at the end", .example = "rtrim('a  ')", .gives = "a"},
    {"substr", "substr(a, from)", "Si", R(STRING), EMIT(substr, 0), IN(STRING), .text = "from character `from` (1 is the first, -1 the last) to the end", .example = "substr('hello', 3)", .gives = "llo"},
    {"substr", "substr(a, from, count)", "Sii", R(STRING), EMIT(substr, 0), IN(STRING), .text = "at most `count` characters; a negative count is of characters before `from`", .example = "substr('hello', 2, 3)", .gives = "ell"},
    {"left", "left(a, n)", "Si", R(STRING), EMIT(left, 0), IN(STRING), .text = "the first n characters; n below 0: all but the last -n", .example = "left('hello', 2)", .gives = "he"},
    {"right", "right(a, n)", "Si", R(STRING), EMIT(right, 0), IN(STRING), .text = "the last n characters; n below 0: all but the first -n", .example = "right('hello', 2)", .gives = "lo"},
    {"lpad", "lpad(a, n, fill)", "SiS", R(STRING), OP(ON(STRING, LPAD)), IN(STRING), .text = "n characters: `fill`, repeated, then a; a longer a is cut at its end. An empty `fill` is an error where it is needed", .example = "lpad('7', 3, '0')", .gives = "007"},
    {"rpad", "rpad(a, n, fill)", "SiS", R(STRING), OP(ON(STRING, RPAD)), IN(STRING), .text = "n characters: a, then `fill`, repeated; a longer a is cut", .example = "rpad('ab', 5, '.-')", .gives = "ab.-."},
    {"reverse", NULL, "S", R(STRING), OP(ON(STRING, REVERSE)), IN(STRING), .text = "the characters in reverse order", .example = "reverse('Zoë')", .gives = "ëoZ"},
    {"split_part", "split_part(a, separator, n)", "SSi", R(STRING), OP(ON(STRING, SPLIT_PART)), IN(STRING), .text = "the n-th of the parts between separators; -1 is the last one. Empty if there is none; an empty separator stands between all characters", .example = "split_part('2020-01-31', '-', 2)", .gives = "01"},
    {"replace", "replace(a, what, by)", "SSS", R(STRING), OP(ON(STRING, REPLACE)), IN(STRING), .text = "replaces every `what` in a by `by`", .example = "replace('a-b-c', '-', '+')", .gives = "a+b+c"},
    {"position", "position(a, part)", "SS", R(I64), OP(ON(STRING, POSITION)), IN(STRING), .text = "the number of the character at which `part` first begins in a; 0: a does not contain it", .example = "position('hello', 'l')", .gives = "3"},
    {"starts_with", "starts_with(a, part)", "SS", R(BOOL), OP(ON(STRING, STARTS_WITH)), IN(STRING), .text = "true if a starts with `part`", .example = "starts_with('hello', 'he')", .gives = "true"},
    {"starts_with", "starts_with(a, part)", "YY", R(BOOL), OP(ON(STRING, STARTS_WITH)), IN(STRING), .text = "", .example = "starts_with(x'00ff', x'00')", .gives = "true"},
    {"ends_with", "ends_with(a, part)", "SS", R(BOOL), OP(ON(STRING, ENDS_WITH)), IN(STRING), .text = "true if a ends with `part`", .example = "ends_with('hello', 'he')", .gives = "false"},
    {"ends_with", "ends_with(a, part)", "YY", R(BOOL), OP(ON(STRING, ENDS_WITH)), IN(STRING), .text = "", .example = "ends_with(x'00ff', x'00')", .gives = "false"},
    {"contains", "contains(a, part)", "SS", R(BOOL), OP(ON(STRING, CONTAINS)), IN(STRING), .text = "true if a contains `part`", .example = "contains('hello', 'll')", .gives = "true"},
    {"contains", "contains(a, part)", "YY", R(BOOL), OP(ON(STRING, CONTAINS)), IN(STRING), .text = "", .example = "contains(x'00ff00', x'ff')", .gives = "true"},
    {"regexp_matches", "regexp_matches(a, 'pattern')", "Sr", R(BOOL), EMIT(regexp, HAC_EMIT_MATCHES), IN(STRING), .text = "true if a contains a match of the regular expression", .example = "regexp_matches('hello', 'l+o$')", .gives = "true"},
    {"regexp_matches", "regexp_matches(a, 'pattern', 'options')", "Sro", R(BOOL), EMIT(regexp, HAC_EMIT_MATCHES), IN(STRING), .text = "i: case does not matter; c: it does; s: . matches a newline, too", .example = "regexp_matches('Hello', 'h.l', 'i')", .gives = "true"},
    {"regexp_extract", "regexp_extract(a, 'pattern')", "Sr", R(STRING), EMIT(regexp, HAC_EMIT_EXTRACT), IN(STRING), .text = "the first match, empty if there is none", .example = "regexp_extract('abc 123', '\\d+')", .gives = "123"},
    {"regexp_extract", "regexp_extract(a, 'pattern', group)", "Srk", R(STRING), EMIT(regexp, HAC_EMIT_EXTRACT), IN(STRING), .text = "what the group (1 … 9; 0: all) of the first match has matched", .example = "regexp_extract('a=1', '(\\w+)=(\\w+)', 2)", .gives = "1"},
    {"regexp_extract", "regexp_extract(a, 'pattern', group, 'options')", "Srko", R(STRING), EMIT(regexp, HAC_EMIT_EXTRACT), IN(STRING), .text = "", .example = "regexp_extract('A=1', 'a=(.)', 1, 'i')", .gives = "1"},
    {"regexp_replace", "regexp_replace(a, 'pattern', 'by')", "Srp", R(STRING), EMIT(regexp, HAC_EMIT_REPLACE), IN(STRING), .text = "replaces the first match; in `by`, \\1 … \\9 stand for groups, \\0 for the match, \\\\ for one \\", .example = "regexp_replace('2020-01', '(\\d+)-(\\d+)', '\\2/\\1')", .gives = "01/2020"},
    {"regexp_replace", "regexp_replace(a, 'pattern', 'by', 'options')", "Srpo", R(STRING), EMIT(regexp, HAC_EMIT_REPLACE), IN(STRING), .text = "g: replaces all matches", .example = "regexp_replace('a-b-c', '-', '', 'g')", .gives = "abc"},
    {"typeof", NULL, "A", R(STRING), EMIT(typeof, 0), IN(STRING), NEVER, .text = "the name of a's type", .example = "typeof(1.5)", .gives = "decimal(2,1)"},
    {"hash", NULL, "A", R(U64), EMIT(hash, 0), IN(STRING), .text = "XXH64 (seed 0) of the value as text; equal values of different types may have different hashes", .example = "hash('abc')", .gives = "4952883123889572249"},
    /* ---- JSON ---- */
    {"json_extract", "a -> 'path', json_extract(a, 'path')", "Sj", R(STRING), OP(ON(STRING, JSON_EXTRACT)), IN(JSON), OWN, .text = "the value at the path of JSON, as JSON; null if there is none. Paths are `'$.a.b'`, `'$.\"a b\"'`, `'$.a[0]'` (`[-1]` is the last one), `'/a/b'`, and `'a'`, the name of a member. `a -> 0` is the first element. Text that is not JSON is an error of the row, here and in the next functions", .example = "json_extract('{\"a\": [1, 2]}', '$.a')", .gives = "[1,2]"},
    {"json_extract_string", "a ->> 'path', json_extract_string(a, 'path')", "Sj", R(STRING), OP(ON(STRING, JSON_STRING)), IN(JSON), OWN, .text = "the same as text: a string without quotes and escapes, and null for null", .example = "'{\"a\": {\"b\": \"x\"}}' ->> '$.a.b'", .gives = "x"},
    {"json_array_length", "json_array_length(a, 'path')", "Sj", R(I64), OP(ON(STRING, JSON_LENGTH)), IN(JSON), OWN, .text = "the number of elements of the array at the path; 0 of other values. Without a path, of a itself", .example = "json_array_length('{\"a\": [1, 2]}', '$.a')", .gives = "2"},
    {"json_type", "json_type(a, 'path')", "Sj", R(STRING), OP(ON(STRING, JSON_TYPE)), IN(JSON), OWN, .text = "ARRAY, OBJECT, VARCHAR, BIGINT (below 0), UBIGINT, DOUBLE, BOOLEAN or NULL", .example = "json_type('[1, true]', '$[1]')", .gives = "BOOLEAN"},
    {"json_keys", "json_keys(a, 'path')", "Sj", R(STRING), OP(ON(STRING, JSON_KEYS)), IN(JSON), OWN, .text = "the names of the members of an object, as an array", .example = "json_keys('{\"b\": 1, \"a\": 2}', '$')", .gives = "[\"b\",\"a\"]"},
    {"json_valid", NULL, "S", R(BOOL), OP(ON(STRING, JSON_VALID)), IN(JSON), .text = "true if a is JSON", .example = "json_valid('[1, 2')", .gives = "false"},
    {"json_element", "json_element(a, n)", "Si", R(STRING), OP(ON(STRING, JSON_ELEMENT)), IN(JSON), OWN, .text = "as `->>`, the n-th element of an array: 1 is the first, -1 the last. a[n] stands for it, with the type of the elements where it is known", .example = "json_element('[\"x\", \"y\"]', -1)", .gives = "y"},
    {"json_slice", "json_slice(a, from, to)", "Sii", R(STRING), OP(ON(STRING, JSON_SLICE)), IN(JSON), OWN, .text = "the array of the elements from number `from` to number `to`; also a[from:to], where each may be missing", .example = "json_slice('[1, 2, 3, 4]', 2, -2)", .gives = "[2,3]"},
    {"json_has", "json_has(a, b)", "SS", R(BOOL), OP(ON(STRING, JSON_CONTAINS)), IN(JSON), OWN, .text = "true if b is the text of an element of an array, or a number that is equal to one; also list_contains(a, b)", .example = "json_has('[1, 2.0]', '2')", .gives = "true"},
    /* ---- dates ---- */
#define DATE_PART(name, unit, words, value) \
    {name, NULL, "d", R(I64), UNIT(I64, DATE_PART, unit), IN(DATE), .text = words, .example = name "(date '2020-02-29')", .gives = value}, \
    {name, NULL, "t", R(I64), EMIT(timestamp_part, HAC_UNIT_##unit), IN(DATE), .text = "", .example = name "(timestamp '2020-02-29 13:45:07')", .gives = value}
    DATE_PART("year", YEAR, "", "2020"),
    DATE_PART("quarter", QUARTER, "1 … 4", "1"),
    DATE_PART("month", MONTH, "1 … 12", "2"),
    DATE_PART("week", WEEK, "1 … 53, of ISO 8601", "9"),
    DATE_PART("day", DAY, "1 … 31", "29"),
    DATE_PART("dow", DAY_OF_WEEK, "the day of the week: Monday is 1, Sunday 7; of dayofweek(a) and extract(dow from a), Sunday is 0", "6"),
    DATE_PART("doy", DAY_OF_YEAR, "the day of the year: 1 … 366", "60"),
    {"hour", NULL, "t", R(I64), UNIT(I64, TIME_PART, HOUR), IN(DATE), .text = "0 … 23", .example = "hour(timestamp '2020-02-29 13:45:07')", .gives = "13"},
    {"minute", NULL, "t", R(I64), UNIT(I64, TIME_PART, MINUTE), IN(DATE), .text = "0 … 59", .example = "minute(timestamp '2020-02-29 13:45:07')", .gives = "45"},
    {"second", NULL, "t", R(I64), UNIT(I64, TIME_PART, SECOND), IN(DATE), .text = "0 … 59", .example = "second(timestamp '2020-02-29 13:45:07')", .gives = "7"},
    {"microsecond", NULL, "t", R(I64), UNIT(I64, TIME_PART, MICROSECOND), IN(DATE), .text = "of the second: 0 … 999999", .example = "microsecond(timestamp '2020-02-29 13:45:07.25')", .gives = "250000"},
    {"epoch", NULL, "t", R(F64), EMIT(epoch, 0), IN(DATE), .text = "seconds since 1970", .example = "epoch(timestamp '1970-01-02 00:00:00.5')", .gives = "86400.5"},
    {"epoch", NULL, "d", R(F64), EMIT(epoch, 1), IN(DATE), .text = "", .example = "epoch(date '1970-01-02')", .gives = "86400.0"},
    {"epoch_us", NULL, "t", R(I64), OP(ITSELF), IN(DATE), .text = "microseconds since 1970", .example = "epoch_us(timestamp '1970-01-01 00:00:01')", .gives = "1000000"},
    {"make_timestamp", "make_timestamp(us)", "i", R(TIMESTAMP), EMIT(make_timestamp, 0), IN(DATE), .text = "the time so many microseconds after the beginning of 1970", .example = "make_timestamp(1580474096 * 1000000)", .gives = "2020-01-31 12:34:56"},
    {"date_diff", "date_diff('unit', a, b)", "udd", R(I64), EMIT(date_diff, 0), IN(DATE), .text = "how often a year, quarter, month, day, hour, minute or second begins after a and up to b; weeks: those days ÷ 7, without the fraction", .example = "date_diff('month', date '2020-01-31', date '2020-03-01')", .gives = "2"},
    {"date_diff", "date_diff('unit', a, b)", "utt", R(I64), EMIT(date_diff, 1), IN(DATE), .text = "", .example = "date_diff('hour', timestamp '2020-01-31 23:59:00', timestamp '2020-02-01 01:00:00')", .gives = "2"},
    {"+ interval", "a + interval '2 hours'", "tii", R(TIMESTAMP), EMIT(add_interval, 0), IN(DATE), .text = "later by years, quarters, months, weeks, days, hours, minutes, seconds, milliseconds or microseconds; months first, as add_months. `-` goes back", .example = "timestamp '2020-01-31 23:00:00' + interval '1 month 2 hours'", .gives = "2020-03-01 01:00:00"},
    {"+ interval", "a + interval '2 hours'", "dii", R(TIMESTAMP), EMIT(add_interval, 1), IN(DATE), .text = "", .example = "date '2020-01-31' - interval '90' day", .gives = "2019-11-02 00:00:00"},
    {"strftime", "strftime(a, 'format')", "tf", R(STRING), EMIT(strftime, 0), IN(DATE), .text = "the time as text, by codes: see *Formats of times*", .example = "strftime(timestamp '2020-02-29 13:45:07', '%d %b %Y, %I:%M %p')", .gives = "29 Feb 2020, 01:45 PM"},
    {"strftime", "strftime(a, 'format')", "df", R(STRING), EMIT(strftime, 1), IN(DATE), .text = "", .example = "strftime(date '2020-02-29', '%A, %j')", .gives = "Saturday, 060"},
    {"strptime", "strptime(a, 'format')", "Sf", R(TIMESTAMP), EMIT(strptime, 0), IN(DATE), .text = "the time that the text says; another text is an error of the row", .example = "strptime('29/Feb/2020:13:45:07 +0100', '%d/%b/%Y:%H:%M:%S %z')", .gives = "2020-02-29 12:45:07+00"},
    {"try_strptime", "try_strptime(a, 'format')", "Sf", R(TIMESTAMP), EMIT(strptime, 1), IN(DATE), OWN, .text = "as strptime, and null for another text", .example = "coalesce(try_strptime('x', '%Y'), timestamp '2020-01-01')", .gives = "2020-01-01 00:00:00"},
    {"at time zone", "a at time zone 'Area/City'", "Tz", R(TIMESTAMP), EMIT(zone, 0), IN(DATE), .text = "what clocks in the zone show at the instant a: see *Time zones*", .example = "timestamp '2020-07-01 12:00:00'::timestamptz at time zone 'Asia/Kolkata'", .gives = "2020-07-01 17:30:00"},
    {"at time zone", "a at time zone 'Area/City'", "tz", R(TIMESTAMP), EMIT(zone, 1), IN(DATE), .text = "the instant, in UTC, at which clocks in the zone show a", .example = "timestamp '2020-07-01 12:00:00' at time zone 'Europe/Berlin'", .gives = "2020-07-01 10:00:00+00"},
    {"at time zone", "a at time zone 'Area/City'", "dz", R(TIMESTAMP), EMIT(zone, 2), IN(DATE), .text = "", .example = "date '2020-07-01' at time zone 'Europe/Berlin'", .gives = "2020-06-30 22:00:00+00"},
    {"date_trunc", "date_trunc('unit', a)", "ud", R(DATE), EMIT(trunc_date, 0), IN(DATE), .text = "the first day of a's year, quarter, month or week (Monday)", .example = "date_trunc('month', date '2020-02-29')", .gives = "2020-02-01"},
    {"date_trunc", "date_trunc('unit', a)", "ut", R(TIMESTAMP), EMIT(trunc_timestamp, 0), IN(DATE), .text = "the start of a's year, quarter, month, week, day, hour, minute or second", .example = "date_trunc('hour', timestamp '2020-02-29 13:45:07')", .gives = "2020-02-29 13:00:00"},
    {"add_months", "add_months(a, n)", "di", R(DATE), EMIT(add_months, 0), IN(DATE), .text = "n months later; a day that the month does not have becomes its last day", .example = "add_months(date '2020-01-31', 1)", .gives = "2020-02-29"},
    {"add_months", "add_months(a, n)", "ti", R(TIMESTAMP), EMIT(add_months, 1), IN(DATE), .text = "", .example = "add_months(timestamp '2020-01-31 12:00:00', -2)", .gives = "2019-11-30 12:00:00"},
    /* ---- aggregates ---- */
/* A row may end with its example, so the example is the first of the rest. */
#define FIRST_OF(first, ...) first
#define FIRST(...) FIRST_OF(__VA_ARGS__, )
#define HAC_AGGREGATE(function, name, syntax, args, result, description, ...) {name, syntax, args, R(result), \
    .k = HAC_AGGREGATE_##function, IN(AGGREGATE), .nulls = HAC_NULLS_SKIPPED, .text = description, .example = FIRST(__VA_ARGS__)},
#define HAC_AGGREGATE_ALSO HAC_AGGREGATE
#include "program/aggregates.def"
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
    case 'M':
        return "number, date or timestamp";
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
    case 'T':
        return "timestamp with zone";
    case 'z':
        return "constant zone";
    case 'p':
        return "constant text";
    case 'k':
        return "constant integer";
    case 'u':
        return "unit";
    case 'f':
        return "constant format";
    case 'r':
        return "constant pattern";
    case 'j':
        return "constant path";
    case 'o':
        return "constant options";
    case 'n':
        return "constant number";
    default:
        return "any";
    }
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
