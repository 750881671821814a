/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kinds of accumulators: how values are added to one, how two are merged, and the results that aggregates
 * take from it. Each kind has one row of functions, in the file of its name; hac_accumulators lists them.
 */
#ifndef QUERY_ACCUMULATOR_H
#define QUERY_ACCUMULATOR_H

#include "groups/accumulators/accumulate_few.h"
#include "groups/group_internal.h"

/* Rows or records that are added to the table's records. */
typedef struct hac_accumulate_batch {
    uint8_t *records;   /* the table's */
    const uint64_t *at; /* for each row, the offset of its record */
    size_t rows;
    bool one; /* all rows belong to one record */
    const hac_few *few;
    int64_t *lanes;            /* with lanes: those of group 0, from the accumulator's first one on */
    const hac_column *columns; /* all of the rows; NULL: records are added */
    uint32_t stride;           /* bytes of a record */
} hac_accumulate_batch;

/* Divides offsets of records, which are multiples of the record's bytes, by them: with the inverse of the odd
 * part modulo 2^64, a division without a rest is one multiplication. */
typedef struct hac_record_divisor {
    uint64_t inverse;
    unsigned shift;
} hac_record_divisor;

static inline hac_record_divisor hac_record_divisor_of(uint32_t stride)
{
    unsigned shift = (unsigned)__builtin_ctz(stride);
    uint64_t odd = stride >> shift, inverse = odd; /* right in the lowest three bits */
    for (unsigned bits = 3; bits < 64; bits *= 2)
        inverse *= 2 - odd * inverse;
    return (hac_record_divisor){inverse, shift};
}

/* The number of the record at offset `at`. */
static inline uint64_t hac_record_number(hac_record_divisor divisor, uint64_t at)
{
    return (at >> divisor.shift) * divisor.inverse;
}

/* One value of a result. */
typedef struct hac_result_cell {
    hac_group_table *t;
    size_t aggregate; /* its index in the query */
    uint64_t group;
    uint64_t n; /* rows of the group whose argument is not null */
    hac_column *v;
    size_t row;
} hac_result_cell;

#define HAC_ACCUMULATOR_STRINGS_MAX 2
#define HAC_VALUE_BYTES_MAX         40 /* of a value in a hac_value_column */

typedef struct hac_accumulator_ops {
    const hac_exact_term *terms; /* of exact sums */
    uint8_t n_terms;
    /* Gives the words of each string that the accumulator has, at most HAC_ACCUMULATOR_STRINGS_MAX, and
     * returns their number. NULL: it never has any. Not for sets. */
    size_t (*strings)(const hac_accumulator *a, uint8_t *accumulator, uint64_t **ret);
    /* Fills the accumulator of a record without rows. NULL: zeros. */
    void (*empty)(const hac_accumulator *a, uint8_t *ret);
    hac_status (*add)(hac_group_table *t, const hac_accumulate_batch *b, const hac_accumulator *a,
                      const hac_column *v, hac_error *err);
    /* Lists the accumulator's lanes (group_lanes.h), at most HAC_LANES_MAX, with offsets in the accumulator,
     * and returns their number. NULL: it has none. */
    size_t (*lanes)(const hac_accumulator *a, hac_lane *ret);
    /* As `add`, to the lanes of groups t->number[i]. *ret_done is false if the values are no small ones: then
     * nothing was added. */
    hac_status (*add_lanes)(hac_group_table *t, const hac_accumulate_batch *b, const hac_accumulator *a,
                            const hac_column *v, bool *ret_done, hac_error *err);
    /* Adds `count` of a value of another set, in its words, to a group. NULL: the accumulator has no set. */
    hac_status (*add_entry)(hac_group_table *t, const hac_accumulator *a, hac_value_list *list,
                            uint64_t group, const uint64_t words[2], uint64_t count, hac_error *err);
    /* `from` are b->rows records, one after another, whose pointers have been checked. NULL: the values of
     * sets are merged by partial_merge.c. */
    hac_status (*merge)(hac_group_table *t, const hac_accumulate_batch *b, const hac_accumulator *a,
                        const uint8_t *from, hac_error *err);
    /* Of values in a hac_value_column: gives the words of each string of a value. NULL: they have none. */
    size_t (*value_strings)(const hac_accumulator *a, uint8_t *value, uint64_t **ret);
    /* `from` is the accumulator in the group's record. */
    hac_status (*result)(const hac_result_cell *cell, const hac_accumulator *a, const uint8_t *from,
                         hac_error *err);
} hac_accumulator_ops;

#define HAC_ACCUMULATOR_ROW(kind, name, ...) extern const hac_accumulator_ops hac_accumulator_##name;
HAC_ACCUMULATORS(HAC_ACCUMULATOR_ROW)
#undef HAC_ACCUMULATOR_ROW

/* By hac_accumulator_kind; NULL for HAC_ACCUMULATOR_NONE. */
extern const hac_accumulator_ops *const hac_accumulators[HAC_ACCUMULATOR_END];

/* The number at fraction `part` of the way from a to b, two neighbouring values of a group (all_values.c). */
double hac_between_floats(double a, double b, double part);

/* Bytes of a value in the accumulator's hac_value_column. */
size_t hac_accumulator_value_size(const hac_accumulator *a);

static inline const hac_accumulator_ops *hac_accumulator_ops_of(const hac_accumulator *a)
{
    return hac_accumulators[a->kind];
}

/* Runs `code` for each row `i` that is not null. */
#define EACH_VALUE(states, rows, ...)                                                                        \
    if ((states) == NULL) {                                                                                  \
        for (size_t i = 0; i < (rows); i++) {                                                                \
            __VA_ARGS__;                                                                                     \
        }                                                                                                    \
    } else {                                                                                                 \
        for (size_t i = 0; i < (rows); i++) {                                                                \
            if ((states)[i] == 0) {                                                                          \
                __VA_ARGS__;                                                                                 \
            }                                                                                                \
        }                                                                                                    \
    }

/* The lanes of row `i`, from the accumulator's first one on. */
#define LANES(t, b, i) ((b)->lanes + (size_t)(t)->number[i] * (t)->lanes.n)

/* The accumulator at `offset`, as a pointer to `type`: of group number `group`, of the record of row `i`, and
 * of the i-th record of `from`. */
#define RECORD(type, b, offset, group)                                                                       \
    ((type *)(void *)((b)->records + (uint64_t)(group) * (b)->stride + (offset)))
#define PLACE(type, b, offset, i) ((type *)(void *)((b)->records + (b)->at[i] + (offset)))
#define FROM(type, b, offset, from, i)                                                                       \
    ((const type *)(const void *)((from) + (uint64_t)(i) * (b)->stride + (offset)))

#endif
