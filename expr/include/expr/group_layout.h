/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The record of a group, in tables and in partials, is a sequence of 64-bit words:
 *
 *   keys          one word a key; two words for strings (codelet/hash.h) and 16-byte decimals. Several keys
 *                 share one word if they fit (hac_group_layout.packed); otherwise a word of null bits comes
 *                 first. A single null key has no bit: its group is known by its number.
 *   rows          number of rows of the group
 *   nulls         for each argument column, the number of rows where it is null
 *   accumulators  one for each (kind, argument) that the aggregates need: sum(x) and avg(x) share one
 *
 * A query's layout follows from the compiled query alone, so all readers agree on it.
 */
#ifndef EXPR_GROUP_LAYOUT_H
#define EXPR_GROUP_LAYOUT_H

#include "expr/query.h"

/* Approximate quantiles are exact while a group has at most so many distinct values. Those of other groups
 * are rounded to HAC_QUANTILE_BITS significant bits (to nearest, ties to even), except the smallest and the
 * largest one: the result is within 2^-10 of the exact one, relative to it, and integers up to 1024 are
 * exact. */
#define HAC_QUANTILE_EXACT 1000
#define HAC_QUANTILE_BITS  10

typedef struct hac_accumulator {
    uint8_t kind;
    uint8_t repr;    /* of the argument */
    int16_t nulls;   /* index of the argument in hac_group_layout.arguments */
    uint16_t column; /* the argument's index among the outputs of query->rows */
    hac_value_type type;
    /* the second argument; its type is HAC_KIND_NONE if there is none */
    uint8_t second_repr;
    uint16_t second;
    hac_value_type second_type;
    uint32_t offset, bytes; /* in the record */
    uint32_t set;           /* VALUES, QUANTILE: index of the table's set; kinds with `all`: of its column */
    uint32_t k;             /* HISTOGRAM */
    hac_constant_number low, high; /* HISTOGRAM */
} hac_accumulator;

/* What follows from an accumulator's kind alone. */
typedef struct hac_accumulator_info {
    uint16_t bytes; /* in a record; 0: by the type of the argument, or the aggregate's parameter */
    bool set;       /* a hac_value_list, which leads into a hac_value_set of the table */
    bool all;       /* the values are in a hac_value_column of the table */
    bool on_device; /* device kernels have it, for arguments of one word */
} hac_accumulator_info;

const hac_accumulator_info *hac_accumulator_info_of(const hac_accumulator *accumulator);

typedef struct hac_group_key {
    uint8_t repr;
    uint8_t bits; /* packed: of the value */
    /* packed: bit of the value in the word, with the null bit above it; else byte in the record */
    uint32_t offset;
} hac_group_key;

/* Units of the windows (base/exact.h) of an accumulator: of its first and its second argument. Those of
 * arguments that are no floats are 0. HAC_EXACT_NO_UNIT: all windows are zero. */
#define HAC_EXACT_NO_UNIT (1 << 20) /* above all exponents */
typedef struct hac_exact_units {
    int32_t of[2];
} hac_exact_units;

/* Whether the accumulator's first (0) or second (1) argument is a float. */
static inline bool hac_accumulator_is_float(const hac_accumulator *accumulator, size_t argument)
{
    return (argument == 0 ? accumulator->repr : accumulator->second_repr) == HAC_REPR_F64;
}

/* The most frequent aggregations have code of their own (fixed_rows.h): one integer key, a count of rows and
 * at most one accumulator: a sum of f64, of integers or of decimals of up to 18 digits, or the squares of
 * f64. */
typedef enum hac_fixed_sum {
    HAC_FIXED_COUNT = 0, /* no sum */
    HAC_FIXED_F64,       /* all in 128 bits */
    HAC_FIXED_SIGNED,
    HAC_FIXED_UNSIGNED,
    HAC_FIXED_SQUARES /* sums of f64 and of their squares */
} hac_fixed_sum;

/* Keys of rows as tables and windows store them: of 4 or 8 bytes, beside values of 8 bytes. */
typedef enum hac_fixed_keys {
    HAC_FIXED_NONE = 0, /* another aggregation, or values of other sizes */
    HAC_FIXED_U32,
    HAC_FIXED_I32, /* also dates */
    HAC_FIXED_64
} hac_fixed_keys;

typedef struct hac_group_layout {
    const hac_query *query; /* borrowed */
    hac_group_key keys[HAC_QUERY_KEYS_MAX];
    size_t n_keys;
    bool packed;          /* all keys are in one word (also a single key of one word) */
    bool strings;         /* some key is a string */
    uint32_t key_words;   /* words of all keys, including null bits */
    uint32_t rows_offset; /* uint64_t rows, followed by one uint64_t for each argument */
    uint16_t *arguments;  /* columns */
    size_t n_arguments;
    hac_accumulator *accumulators;
    size_t n_accumulators;
    uint32_t n_sets, n_value_columns;
    uint8_t *of_aggregate; /* for each aggregate, index + 1 of its accumulator; 0: none (counts) */
    uint32_t stride;       /* bytes of a record */
    bool slots;            /* one of the most frequent aggregations: groups may be in slots (fixed_slots.h) */
    hac_fixed_keys fixed;
    hac_fixed_sum fixed_sum;
} hac_group_layout;

/* `query` is borrowed, and was compiled or read (hac_query_read), which verifies its aggregates. HAC_INVALID:
 * there are too many keys or aggregates. */
HAC_MUST_USE hac_status hac_group_layout_init(const hac_query *query, hac_group_layout *ret, hac_error *err);
void hac_group_layout_clear(hac_group_layout *layout);

/* Whether device kernels have this accumulator: sums, minima and maxima of one-word values. */
bool hac_accumulator_fits_device(const hac_accumulator *accumulator);

/* The name of aggregate `index` for messages: its output column's name, else "aggregate 2 (sum)". */
#define HAC_AGGREGATE_NAME_MAX 192
const char *hac_aggregate_name(const hac_query *query, size_t index, char *ret);

/* Floats as integers of the same order, for min and max: -0.0 below 0.0, NaN above all numbers. */
static inline int64_t hac_order_f64(double value)
{
    union {
        double f;
        int64_t i;
    } u = {.f = value};
    if (value != value)
        return INT64_MAX;
    return u.i ^ (int64_t)((uint64_t)(u.i >> 63) >> 1);
}

static inline double hac_unorder_f64(int64_t order)
{
    union {
        int64_t i;
        double f;
    } u = {.i = order ^ (int64_t)((uint64_t)(order >> 63) >> 1)};
    return u.f;
}

#endif
