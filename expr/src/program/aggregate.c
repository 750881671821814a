/* SPDX-License-Identifier: Apache-2.0 */
#include "expr/aggregate.h"

#include <math.h>

#include "type_facts.h"

#define NO_TYPE HAC_TYPE(NONE)

static hac_value_type count_type(hac_value_type argument)
{
    (void)argument;
    return HAC_TYPE(I64);
}

static hac_value_type same_type(hac_value_type argument)
{
    return argument;
}

static bool is_sum_argument(hac_value_type type)
{
    return type.kind == HAC_KIND_I64 || type.kind == HAC_KIND_U64 || type.kind == HAC_KIND_F64 ||
           type.kind == HAC_KIND_DECIMAL;
}

static hac_value_type sum_type(hac_value_type argument)
{
    if (!is_sum_argument(argument))
        return NO_TYPE;
    return argument.kind == HAC_KIND_DECIMAL ? hac_decimal(HAC_DECIMAL_DIGITS_MAX, argument.scale) : argument;
}

static hac_value_type avg_type(hac_value_type argument)
{
    return is_sum_argument(argument) ? HAC_TYPE(F64) : NO_TYPE;
}

static hac_value_type regression_type(hac_value_type argument)
{
    bool time = hac_kinds[argument.kind].class == HAC_CLASS_TIME;
    return time || is_sum_argument(argument) ? HAC_TYPE(F64) : NO_TYPE;
}

static hac_value_type f64_type(hac_value_type argument)
{
    return argument.kind == HAC_KIND_F64 ? argument : NO_TYPE;
}

static hac_value_type top_k_type(hac_value_type argument)
{
    (void)argument;
    return HAC_TYPE(STRING);
}

static hac_value_type histogram_type(hac_value_type argument)
{
    bool number = hac_kind_is_integer(argument.kind) || argument.kind == HAC_KIND_DECIMAL ||
                  argument.kind == HAC_KIND_F64;
    return number ? HAC_TYPE(STRING) : NO_TYPE;
}

static hac_value_type string_list_type(hac_value_type argument)
{
    return argument.kind == HAC_KIND_STRING ? argument : NO_TYPE;
}

#define HAC_AGGREGATE(function, aggregate_name, syntax, args, result, text, example, ...)                    \
    [HAC_AGGREGATE_##function] = {.name = (aggregate_name), __VA_ARGS__},
static const hac_aggregate_info table[] = {
#include "aggregates.def"
};
_Static_assert(sizeof table / sizeof *table == HAC_AGGREGATE_END, "each aggregate has a row");

const hac_aggregate_info *hac_aggregate_info_of(unsigned function)
{
    return function < HAC_AGGREGATE_END ? &table[function] : NULL;
}

static bool finite_constant(const hac_constant_number *number)
{
    return isfinite(number->real) &&
           (number->scale == HAC_CONSTANT_REAL || number->scale <= HAC_DECIMAL_DIGITS_MAX);
}

const char *hac_aggregate_constants_expected(const hac_aggregate *a)
{
    _Static_assert(HAC_AGGREGATE_K_MAX == 1000, "a text below says it");
    hac_aggregate_constants constants = table[a->function].constants;
    bool texts = constants == HAC_CONSTANTS_TEXTS;
    bool count = constants == HAC_CONSTANTS_COUNT || constants == HAC_CONSTANTS_BUCKETS || texts;
    if (count ? a->k < 1 || a->k > HAC_AGGREGATE_K_MAX : a->k != 0)
        return "a number from 1 to 1000";
    if (!finite_constant(&a->low) || !finite_constant(&a->high))
        return "finite numbers";
    if (constants == HAC_CONSTANTS_BUCKETS)
        return hac_constant_less(&a->low, &a->high) ? NULL : "low < high";
    if (texts && (a->low.scale != 0 || a->low.digits < 0 || a->low.digits > HAC_TEXTS_FLAGS_MAX))
        return "flags of an order";
    double low_max = texts ? HAC_TEXTS_FLAGS_MAX : constants == HAC_CONSTANTS_SHARE ? 1 : 0;
    double low = a->low.real, high = a->high.real;
    return low >= 0 && low <= low_max && high >= 0 && high <= 0 ? NULL : "a share from 0 to 1";
}

static bool second_fits(unsigned function, hac_value_type argument, hac_value_type second)
{
    hac_aggregate_second rule = table[function].second;
    if (rule == HAC_SECOND_SAME)
        return hac_value_type_equal(argument, second);
    if (rule == HAC_SECOND_ALIKE)
        return table[function].type(second).kind != HAC_KIND_NONE;
    return (rule == HAC_SECOND_ANY) == (second.kind != HAC_KIND_NONE);
}

bool hac_aggregate_valid(const hac_aggregate *a, hac_value_type argument, hac_value_type second)
{
    if (a->function >= HAC_AGGREGATE_END || hac_aggregate_constants_expected(a) != NULL ||
        !second_fits(a->function, argument, second))
        return false;
    hac_value_type type = table[a->function].type(argument);
    return type.kind != HAC_KIND_NONE && hac_value_type_equal(type, a->type);
}
