/* SPDX-License-Identifier: Apache-2.0 */
/* Decodes the values of one page without nulls, in any encoding, to the form that expressions use. Plain
 * data, except for what `scratch` owns. */
#ifndef PARQUET_VALUES_H
#define PARQUET_VALUES_H

#include "byte_arrays.h"
#include "format/page_header.h"
#include "rle_hybrid.h"

/* What a leaf's values are converted to; the same for all its pages. */
typedef struct hac_parquet_target {
    const hac_parquet_kernels *kernels;
    uint8_t physical;
    uint32_t width; /* bytes of a stored value; 0: BOOLEAN and BYTE_ARRAY */
    hac_value_type type;
    size_t size;      /* bytes of a value of the representation */
    bool is_text;     /* string refs */
    bool is_unsigned; /* stored INT32 and INT64 hold unsigned numbers */
    /* for values with a width that are not text, and for decimals in BYTE_ARRAY */
    hac_parquet_rule rule;
    hac_parquet_rule long_rule; /* for INT32 and INT64 after they were extended to 64 bits */
} hac_parquet_target;

/* False: there is no such conversion. */
bool hac_parquet_target_of(const hac_parquet_leaf *leaf, hac_parquet_target *ret);

/* The dictionary of a chunk, as values of the representation. */
typedef struct hac_parquet_dictionary {
    bool there;
    uint32_t entries;
    void *values; /* one more than `entries` */
    bool marked;  /* some entries are not of the type: `states` has one state for each */
    uint8_t *states;
    size_t values_capacity, states_capacity;
} hac_parquet_dictionary;

void hac_parquet_dictionary_clear(hac_parquet_dictionary *dictionary);

/* Scratch memory, one for each column. */
typedef struct hac_parquet_scratch {
    _Alignas(64) uint8_t wide[16 * HAC_PARQUET_SCRATCH + HAC_PARQUET_SLACK];
    _Alignas(64) uint64_t numbers[HAC_PARQUET_SCRATCH];
    _Alignas(64) uint32_t codes[HAC_PARQUET_SCRATCH];
    _Alignas(64) uint8_t bytes[HAC_PARQUET_SCRATCH];
    hac_parquet_last last;
} hac_parquet_scratch;

typedef enum hac_parquet_values_kind {
    HAC_VALUES_NONE = 0, /* a page without bytes: only nulls */
    HAC_VALUES_FIXED,    /* PLAIN, of a width */
    HAC_VALUES_BITS,     /* PLAIN booleans */
    HAC_VALUES_RUNS,     /* RLE booleans */
    HAC_VALUES_CODES,    /* a dictionary's */
    HAC_VALUES_DELTA,
    HAC_VALUES_SPLIT,
    HAC_VALUES_BYTE_ARRAYS,
} hac_parquet_values_kind;

typedef struct hac_parquet_values {
    hac_parquet_values_kind kind;
    const uint8_t *data; /* FIXED, BITS, SPLIT: `count` values, of which `at` are used */
    size_t count, at;
    union {
        hac_parquet_hybrid hybrid;
        hac_parquet_delta delta;
        hac_byte_arrays texts;
    };
} hac_parquet_values;

/* Finds how values of that encoding are read. HAC_FAILED: this leaf cannot have it. */
HAC_MUST_USE hac_status hac_parquet_values_kind_of(const hac_parquet_target *target, int32_t encoding,
                                                   hac_parquet_values_kind *ret, hac_error *err);

/* Whether the page's bytes must be in the string buffer, because refs point into them. */
bool hac_parquet_values_in_strings(const hac_parquet_target *target, int32_t encoding);

/* What decoding needs in addition to the page. */
typedef struct hac_parquet_context {
    const hac_parquet_target *target;
    const hac_parquet_dictionary *dictionary;
    hac_string_buffer *strings;
    hac_parquet_scratch *scratch;
    uint64_t at_once; /* maximum size of values assembled by one call */
} hac_parquet_context;

/* Begins reading values in data[0 … bytes), which is strings->data + in_strings if
 * hac_parquet_values_in_strings. */
HAC_MUST_USE hac_status hac_parquet_values_begin(hac_parquet_values *values,
                                                 const hac_parquet_context *context, int32_t encoding,
                                                 const uint8_t *data, size_t in_strings, size_t bytes,
                                                 hac_error *err);

/* Reads the next n (≤ HAC_BATCH_ROWS) values; with `positions`, only those n_positions of them, counted from
 * the first. `ret` has room for the returned values. *ret_marked: some value is not of the type; only then
 * `states` is set, one for each value. */
HAC_MUST_USE hac_status hac_parquet_values_get(hac_parquet_values *values, const hac_parquet_context *context,
                                               size_t n, const uint16_t *positions, size_t n_positions,
                                               void *ret, uint8_t *states, bool *ret_marked, hac_error *err);

HAC_MUST_USE hac_status hac_parquet_values_skip(hac_parquet_values *values,
                                                const hac_parquet_context *context, uint64_t n,
                                                hac_error *err);

/* Reads the next n codes; ret has room for n rounded up to 32. All are below the dictionary's entries. */
HAC_MUST_USE hac_status hac_parquet_values_codes(hac_parquet_values *values,
                                                 const hac_parquet_context *context, size_t n, uint32_t *ret,
                                                 hac_error *err);

/* Looks up the values of checked codes; with `positions`, of those n codes. */
void hac_parquet_dictionary_get(const hac_parquet_dictionary *dictionary, const hac_parquet_target *target,
                                const uint32_t *codes, const uint16_t *positions, size_t n, void *ret,
                                uint8_t *states, bool *ret_marked);

/* Makes a dictionary of PLAIN values; for data and in_strings see hac_parquet_values_begin. */
HAC_MUST_USE hac_status hac_parquet_dictionary_make(hac_parquet_dictionary *dictionary,
                                                    const hac_parquet_context *context, uint32_t entries,
                                                    const uint8_t *data, size_t in_strings, size_t bytes,
                                                    hac_error *err);

#endif
