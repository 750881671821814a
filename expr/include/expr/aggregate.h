/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The aggregates of the language. Each has one row in src/program/aggregates.def, which the checker, the
 * verifier, the reference page and the group tables of executors read.
 */
#ifndef EXPR_AGGREGATE_H
#define EXPR_AGGREGATE_H

#include "base/histogram.h"

/* Compiled queries store these numbers: new aggregates go to the end. */
typedef enum hac_aggregate_function {
    HAC_AGGREGATE_COUNT_ROWS = 0,
    HAC_AGGREGATE_COUNT,
    HAC_AGGREGATE_COUNT_DISTINCT,
    HAC_AGGREGATE_SUM,
    HAC_AGGREGATE_MIN,
    HAC_AGGREGATE_MAX,
    HAC_AGGREGATE_AVG,
    HAC_AGGREGATE_VARIANCE,
    HAC_AGGREGATE_STDDEV,
    HAC_AGGREGATE_VAR_POP,
    HAC_AGGREGATE_STDDEV_POP,
    HAC_AGGREGATE_FIRST,
    HAC_AGGREGATE_LAST,
    HAC_AGGREGATE_TOP_K,
    HAC_AGGREGATE_HISTOGRAM,
    HAC_AGGREGATE_APPROX_QUANTILE,
    HAC_AGGREGATE_STRING_LIST,
    HAC_AGGREGATE_ARG_MIN,
    HAC_AGGREGATE_ARG_MAX,
    HAC_AGGREGATE_MEDIAN,
    HAC_AGGREGATE_QUANTILE,
    HAC_AGGREGATE_MODE,
    HAC_AGGREGATE_COVAR_POP,
    HAC_AGGREGATE_COVAR_SAMP,
    HAC_AGGREGATE_CORR,
    HAC_AGGREGATE_REGR_SLOPE,
    HAC_AGGREGATE_REGR_INTERCEPT,
    HAC_AGGREGATE_REGR_R2,
    HAC_AGGREGATE_STRING_AGG,
    HAC_AGGREGATE_STRING_AGG_BY, /* ordered by the second argument, as LIST_BY */
    HAC_AGGREGATE_LIST,
    HAC_AGGREGATE_LIST_BY,
    HAC_AGGREGATE_QUANTILE_DISC,
    HAC_AGGREGATE_END
} hac_aggregate_function;

/*
 * What a group keeps while rows are added: X(KIND, name, facts of hac_accumulator_info …), where `name` is
 * the suffix of the row of functions in backends/query/src/groups/accumulators.
 */
/* clang-format off */
#define HAC_ACCUMULATORS(X) \
    X(SUM, sum, .bytes = 16, .on_device = true) /* a window (base/exact.h) of the sum */ \
    X(MIN, min, .on_device = true) /* 8 or 16 bytes, floats as hac_order_f64; starts with the largest value */ \
    X(MAX, max, .on_device = true) \
    X(PAIRS, pairs, .bytes = 112) /* a count of rows; windows of the sums of y, x, y², x² and yx */ \
    X(SQUARES, squares, .bytes = 40) /* windows of the sum and of the sum of squares */ \
    X(FIRST, first, .bytes = 24) /* uint64_t 1 if there is a value, then the value in two words */ \
    X(LAST, last, .bytes = 24) \
    X(VALUES, values, .bytes = 16, .set = true) /* distinct values with their counts */ \
    X(QUANTILE, quantile, .bytes = 32, .set = true) /* the same, rounded where they are many, and both ends */ \
    X(HISTOGRAM, histogram, .bytes = 0) /* 8 · k bytes: counts */ \
    X(ARG_MIN, arg_min, .bytes = 40) /* uint64_t what there is, then both values in two words each */ \
    X(ARG_MAX, arg_max, .bytes = 40) \
    X(ALL_VALUES, all_values, .bytes = 16, .all = true) /* every value */ \
    X(TEXTS, texts, .bytes = 16, .all = true) /* every text */ \
    X(ORDERED_TEXTS, ordered_texts, .bytes = 16, .all = true) /* every text, with what orders it */
/* clang-format on */

#define HAC_ACCUMULATOR_KIND(kind, ...) HAC_ACCUMULATOR_##kind,
typedef enum hac_accumulator_kind {
    HAC_ACCUMULATOR_NONE = 0, /* every group counts its rows and the nulls of each argument */
    HAC_ACCUMULATORS(HAC_ACCUMULATOR_KIND) HAC_ACCUMULATOR_END
} hac_accumulator_kind;
#undef HAC_ACCUMULATOR_KIND

/* Whether the aggregate has a second argument, and of which type. */
typedef enum hac_aggregate_second {
    HAC_SECOND_NONE = 0,
    HAC_SECOND_ANY,
    HAC_SECOND_SAME, /* the type of the first one */
    HAC_SECOND_ALIKE /* a type that the first one may have */
} hac_aggregate_second;

/* Which constants of hac_aggregate the aggregate uses; the others are 0. */
typedef enum hac_aggregate_constants {
    HAC_CONSTANTS_NONE = 0,
    HAC_CONSTANTS_COUNT,   /* k: 1 … HAC_AGGREGATE_K_MAX */
    HAC_CONSTANTS_SHARE,   /* low: 0 … 1 */
    HAC_CONSTANTS_BUCKETS, /* low < high, both finite; k buckets */
    HAC_CONSTANTS_TEXTS    /* k: bytes of the separator at the start of each text, + 1; low: hac_texts_flag */
} hac_aggregate_constants;

/* How the texts of a group are joined. */
typedef enum hac_texts_flag {
    HAC_TEXTS_DESCENDING = 1,
    HAC_TEXTS_NULLS_FIRST = 2,
    HAC_TEXTS_DISTINCT = 4,
    HAC_TEXTS_FLAGS_MAX = 7
} hac_texts_flag;

#define HAC_AGGREGATE_K_MAX 1000

typedef struct hac_aggregate {
    uint8_t function;    /* hac_aggregate_function */
    int16_t argument;    /* output of the query's `rows`, at or above n_keys; -1: none */
    int16_t second;      /* output for the second argument; -1: the aggregate has one argument */
    hac_value_type type; /* of the result */
    uint32_t k;
    hac_constant_number low, high; /* 0 if not used */
} hac_aggregate;

typedef struct hac_aggregate_info {
    const char *name; /* as users write it */
    /* The result's type for an argument of type `argument`; HAC_KIND_NONE: the argument does not fit. */
    hac_value_type (*type)(hac_value_type argument);
    hac_aggregate_second second;
    hac_accumulator_kind accumulator;
    hac_aggregate_constants constants;
    bool never_null; /* a group without values has a result: 0, or a text */
    const char
        *merged_by; /* the aggregate that makes one result of several parts' results; NULL: none does */
} hac_aggregate_info;

/* NULL: there is no such function. */
const hac_aggregate_info *hac_aggregate_info_of(unsigned function);
/* What a constant that does not fit should have been ("low < high"); NULL: the constants fit. */
const char *hac_aggregate_constants_expected(const hac_aggregate *aggregate);
/* Whether `aggregate` may have arguments of these types (HAC_KIND_NONE: no argument). */
bool hac_aggregate_valid(const hac_aggregate *aggregate, hac_value_type argument, hac_value_type second);

#endif
