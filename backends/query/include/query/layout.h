/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The record of a group, in tables and in partials: 64-bit words, then the next group's.
 *
 *   keys          one word a key, two for strings (hash.h) and 16-byte decimals. With more than one key: all
 * in one word if they fit (hac_group_layout.packed), else a word of null bits comes first. A single key that
 * is null has a group that is known by its number. rows          the group's rows nulls         of each
 * argument column: the rows where it is null accumulators  one for each (kind, argument) that the aggregates
 * need: sum(x) and avg(x) share theirs
 *
 * A query's layout follows from the compiled query alone, so everybody who reads it agrees.
 */
#ifndef QUERY_LAYOUT_H
#define QUERY_LAYOUT_H

#include "expr/query.h"

typedef enum hac_accumulator_kind {
    HAC_ACCUMULATOR_NONE = 0,  /* count: rows and nulls say it */
    HAC_ACCUMULATOR_SUM,       /* 16 bytes: signed integer of 128 bits */
    HAC_ACCUMULATOR_SUM_FLOAT, /* 8: f64 */
    HAC_ACCUMULATOR_MIN,       /* 8 or 16: see hac_order_f64; begins with the largest there is */
    HAC_ACCUMULATOR_MAX,
    HAC_ACCUMULATOR_MOMENTS, /* 24: uint64 count, f64 mean, f64 sum of squared differences from it */
    HAC_ACCUMULATOR_FIRST,   /* 24: uint64 whether there is one, value of two words */
    HAC_ACCUMULATOR_LAST,
    HAC_ACCUMULATOR_VALUES,    /* 16: a set of distinct values with their counts */
    HAC_ACCUMULATOR_QUANTILE,  /* 16: the same, of values rounded to HAC_QUANTILE_BITS */
    HAC_ACCUMULATOR_HISTOGRAM, /* 8 · k: counts */
} hac_accumulator_kind;

/*
 * Approximate quantiles count values rounded to so many significant bits (to nearest, ties to even): the
 * answer is within 2^-10 of the exact one, relative to it, integers up to 1024 are exact, and neither order
 * nor grouping of the rows plays a part.
 */
#define HAC_QUANTILE_BITS 10

#define HAC_HISTOGRAM_MAX 4096

typedef struct hac_accumulator {
    uint8_t kind;
    uint8_t repr;    /* of the argument */
    int16_t nulls;   /* index of the argument in hac_group_layout.arguments */
    uint16_t column; /* of the argument, among the outputs of query->rows */
    hac_value_type type;
    uint32_t offset, bytes; /* in the record */
    uint32_t set;           /* VALUES, QUANTILE: which of the table's sets */
    uint32_t k;             /* HISTOGRAM */
    double low, high;
} hac_accumulator;

typedef struct hac_group_key {
    uint8_t repr;
    uint8_t bits;    /* packed: of the value */
    uint32_t offset; /* packed: of the value in the word, the null bit above it; else bytes in the record */
} hac_group_key;

/* The usual aggregation, which has ways of its own: one integer key of 4 or 8 bytes, rows are counted and at
 * most one sum of values of 8 bytes is formed: f64, i64, u64, decimals of up to 18 digits. */
typedef enum hac_plain_sum {
    HAC_PLAIN_COUNT = 0, /* none */
    HAC_PLAIN_F64,
    HAC_PLAIN_SIGNED, /* in 128 bits */
    HAC_PLAIN_UNSIGNED
} hac_plain_sum;

typedef enum hac_plain_keys {
    HAC_PLAIN_NONE = 0, /* it is another one */
    HAC_PLAIN_U32,
    HAC_PLAIN_I32, /* dates, too */
    HAC_PLAIN_64
} hac_plain_keys;

typedef struct hac_group_layout {
    const hac_query *query; /* borrowed */
    hac_group_key keys[HAC_QUERY_KEYS_MAX];
    size_t n_keys;
    bool packed;          /* all keys in one word (also a single key of one word) */
    bool strings;         /* there is one among the keys */
    uint32_t key_words;   /* words of all keys, with the null bits */
    uint32_t rows_offset; /* uint64_t; behind it one for each argument */
    uint16_t *arguments;  /* columns */
    size_t n_arguments;
    hac_accumulator *accumulators;
    size_t n_accumulators;
    uint32_t n_sets;
    uint8_t *of_aggregate; /* index + 1 of each aggregate's accumulator; 0: none (counts) */
    uint32_t stride;       /* bytes of a record */
    hac_plain_keys plain;
    hac_plain_sum plain_sum;
} hac_group_layout;

/* HAC_INVALID: the query has an aggregate that its argument does not allow. Borrows `query`. */
HAC_MUST_USE hac_status hac_group_layout_init(const hac_query *query, hac_group_layout *ret, hac_error *err);
void hac_group_layout_clear(hac_group_layout *layout);

/* Whether flow C's kernels have it: sums, least and greatest of values of one word. */
bool hac_accumulator_fits_device(const hac_accumulator *accumulator);

/* A record without rows. */
void hac_group_layout_empty(const hac_group_layout *layout, uint8_t *record);

/* What to call aggregate `index` in a message: its output column's name, else "aggregate 2 (sum)". */
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
