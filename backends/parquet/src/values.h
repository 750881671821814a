/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The values of one page, nulls left out, in any encoding, made what expressions want. All plain data, apart
 * from what `scratch` owns.
 */
#ifndef PARQUET_VALUES_H
#define PARQUET_VALUES_H

#include "hybrid.h"
#include "page_header.h"
#include "texts.h"

/* What a leaf's values become; the same for all its pages. */
typedef struct hac_parquet_target {
    const hac_parquet_kernels *kernels;
    uint8_t physical;
    uint32_t width; /* bytes of a stored value; 0: BOOLEAN and BYTE_ARRAY */
    hac_value_type type;
    size_t size;                /* bytes of a value of the representation */
    bool is_text;               /* string refs */
    hac_parquet_rule rule;      /* of what has a width and is no text, and of decimals in BYTE_ARRAY */
    hac_parquet_rule long_rule; /* the same for INT32 and INT64 that were extended to 64 bits */
} hac_parquet_target;

/* false: there is no such conversion. */
bool hac_parquet_target_of(const hac_parquet_leaf *leaf, hac_parquet_target *ret);

/* The dictionary of a chunk, as values of the representation. */
typedef struct hac_parquet_dictionary {
    bool there;
    uint32_t entries;
    void *values; /* there is one more than entries */
    bool marked;  /* some are not the type's: `states` has one an entry */
    uint8_t *states;
    size_t values_room, states_room;
} hac_parquet_dictionary;

void hac_parquet_dictionary_clear(hac_parquet_dictionary *dictionary);

/* Work space, one a column. */
typedef struct hac_parquet_scratch {
    _Alignas(64) uint8_t wide[16 * HAC_PARQUET_SCRATCH + HAC_PARQUET_SLACK];
    _Alignas(64) uint64_t numbers[HAC_PARQUET_SCRATCH];
    _Alignas(64) uint32_t codes[HAC_PARQUET_SCRATCH];
    _Alignas(64) uint8_t bytes[HAC_PARQUET_SCRATCH];
    hac_parquet_last last;
} hac_parquet_scratch;

typedef enum hac_parquet_values_kind {
    HAC_VALUES_NONE = 0, /* of a page without bytes: only nulls */
    HAC_VALUES_FIXED,    /* PLAIN, of a width */
    HAC_VALUES_BITS,     /* PLAIN booleans */
    HAC_VALUES_RUNS,     /* RLE booleans */
    HAC_VALUES_CODES,    /* a dictionary's */
    HAC_VALUES_DELTA,
    HAC_VALUES_SPLIT,
    HAC_VALUES_TEXTS,
} hac_parquet_values_kind;

typedef struct hac_parquet_values {
    hac_parquet_values_kind kind;
    const uint8_t *data; /* FIXED, BITS, SPLIT: `count` values, of which `at` are used */
    size_t count, at;
    union {
        hac_parquet_hybrid hybrid;
        hac_parquet_delta delta;
        hac_parquet_texts texts;
    };
} hac_parquet_values;

/* How values of that encoding are read; HAC_FAILED: they cannot be of this leaf. */
HAC_MUST_USE hac_status hac_parquet_values_kind_of(const hac_parquet_target *target, int32_t encoding,
                                                   hac_parquet_values_kind *ret, hac_error *err);

/* Whether the page's bytes must lie in the room: refs point into them. */
bool hac_parquet_values_in_room(const hac_parquet_target *target, int32_t encoding);

/* What decoding needs besides the page. */
typedef struct hac_parquet_context {
    const hac_parquet_target *target;
    const hac_parquet_dictionary *dictionary;
    hac_parquet_room *room;
    hac_parquet_scratch *scratch;
    uint64_t at_once; /* bytes of values that are put together in one call, at most */
} hac_parquet_context;

/* Values in data[0 … bytes), which is room->data + in_room where hac_parquet_values_in_room. */
HAC_MUST_USE hac_status hac_parquet_values_begin(hac_parquet_values *values,
                                                 const hac_parquet_context *context, int32_t encoding,
                                                 const uint8_t *data, size_t in_room, size_t bytes,
                                                 hac_error *err);

/*
 * The next n (≤ HAC_BATCH_ROWS) values; with `positions` only those n_positions of them, counted from the
 * first. `ret` has room for as many as are given. *ret_marked: one of them is not of the type; only then
 * `states` is written, one a value.
 */
HAC_MUST_USE hac_status hac_parquet_values_get(hac_parquet_values *values, const hac_parquet_context *context,
                                               size_t n, const uint16_t *positions, size_t n_positions,
                                               void *ret, uint8_t *states, bool *ret_marked, hac_error *err);

HAC_MUST_USE hac_status hac_parquet_values_skip(hac_parquet_values *values,
                                                const hac_parquet_context *context, uint64_t n,
                                                hac_error *err);

/* The next n codes; ret has room for n rounded up to 32. All are below the dictionary's entries. */
HAC_MUST_USE hac_status hac_parquet_values_codes(hac_parquet_values *values,
                                                 const hac_parquet_context *context, size_t n, uint32_t *ret,
                                                 hac_error *err);

/* Values of codes that were checked; with `positions` of those n of them. */
void hac_parquet_dictionary_get(const hac_parquet_dictionary *dictionary, const hac_parquet_target *target,
                                const uint32_t *codes, const uint16_t *positions, size_t n, void *ret,
                                uint8_t *states, bool *ret_marked);

/* Makes a dictionary of PLAIN values that lie as said above. */
HAC_MUST_USE hac_status hac_parquet_dictionary_make(hac_parquet_dictionary *dictionary,
                                                    const hac_parquet_context *context, uint32_t entries,
                                                    const uint8_t *data, size_t in_room, size_t bytes,
                                                    hac_error *err);

#endif
