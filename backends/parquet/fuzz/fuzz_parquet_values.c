/* SPDX-License-Identifier: Apache-2.0 */
/* The values of one page, without a file; FUZZ_STRINGS selects the family of encodings. Input: a byte for the
 * type, one for the encoding, one for the number of values read at a time; then the page. Oracle in addition
 * to the sanitizers: values decoded in pieces, and with every instruction set, are the same. */
#include <stdlib.h>
#include <string.h>

#include "read/values.h"

#define VALUES_MAX 3000
#define ENTRIES    20

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct decoded {
    size_t n; /* values before the failure or the end */
    uint64_t digest;
} decoded;

typedef struct input {
    hac_parquet_leaf leaf;
    int32_t encoding;
    const uint8_t *page;
    size_t bytes;
} input;

#if FUZZ_STRINGS
static const int32_t encodings[] = {HAC_ENCODING_PLAIN, HAC_ENCODING_DELTA_LENGTH_BYTE_ARRAY,
                                    HAC_ENCODING_DELTA_BYTE_ARRAY, HAC_ENCODING_BYTE_STREAM_SPLIT,
                                    HAC_ENCODING_RLE_DICTIONARY};
static const hac_parquet_leaf leaves[] = {
    {.physical = HAC_PARQUET_BYTE_ARRAY, .type = {.kind = HAC_KIND_STRING}},
    {.physical = HAC_PARQUET_FIXED, .type_length = 5, .type = {.kind = HAC_KIND_BYTES}},
    {.physical = HAC_PARQUET_BYTE_ARRAY,
     .type = {HAC_KIND_DECIMAL, 12, 2},
     .conversion = HAC_PARQUET_BIG_ENDIAN},
    {.physical = HAC_PARQUET_FIXED,
     .type_length = 18,
     .type = {HAC_KIND_DECIMAL, 30, 2},
     .conversion = HAC_PARQUET_BIG_ENDIAN},
};
#else
static const int32_t encodings[] = {HAC_ENCODING_PLAIN, HAC_ENCODING_RLE, HAC_ENCODING_RLE_DICTIONARY,
                                    HAC_ENCODING_DELTA_BINARY_PACKED, HAC_ENCODING_BYTE_STREAM_SPLIT};
static const hac_parquet_leaf leaves[] = {
    {.physical = HAC_PARQUET_INT32, .type = {.kind = HAC_KIND_I16}},
    {.physical = HAC_PARQUET_INT32, .type = {.kind = HAC_KIND_U32}, .conversion = HAC_PARQUET_UNSIGNED},
    {.physical = HAC_PARQUET_INT64, .type = {.kind = HAC_KIND_I64}},
    {.physical = HAC_PARQUET_INT64, .type = {.kind = HAC_KIND_TIMESTAMP}, .conversion = HAC_PARQUET_MILLIS},
    {.physical = HAC_PARQUET_INT96,
     .type = {.kind = HAC_KIND_TIMESTAMP},
     .conversion = HAC_PARQUET_INT96_TIME},
    {.physical = HAC_PARQUET_DOUBLE, .type = {.kind = HAC_KIND_F64}},
    {.physical = HAC_PARQUET_BOOLEAN, .type = {.kind = HAC_KIND_BOOL}},
    {.physical = HAC_PARQUET_FIXED,
     .type_length = 2,
     .type = {.kind = HAC_KIND_F32},
     .conversion = HAC_PARQUET_HALF},
};
#endif

static void must(bool condition)
{
    if (!condition)
        abort();
}

static uint64_t mix(uint64_t digest, const uint8_t *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        digest = (digest ^ bytes[i]) * UINT64_C(0x100000001b3);
    return digest;
}

static void add(decoded *ret, const hac_parquet_context *c, const uint8_t *values, size_t n,
                const uint8_t *states)
{
    for (size_t i = 0; i < n; i++) {
        const hac_string_ref *ref = (const void *)(values + i * sizeof *ref);
        uint8_t state = states != NULL ? states[i] : HAC_ROW_OK;
        ret->digest = mix(ret->digest, &state, 1);
        if (c->target->is_text)
            ret->digest = mix(ret->digest, c->strings->data + ref->offset, ref->length);
        else if (state == HAC_ROW_OK)
            ret->digest = mix(ret->digest, values + i * c->target->size, c->target->size);
    }
    ret->n += n;
}

/* Reads up to VALUES_MAX values, `at_once` at a time; only whole pieces. */
static decoded decode(const input *in, const hac_parquet_kernels *kernels, size_t at_once)
{
    static hac_parquet_scratch scratch;
    static _Alignas(64) uint8_t values[16 * HAC_BATCH_ROWS];
    static uint8_t states[HAC_BATCH_ROWS];
    decoded ret = {.digest = UINT64_C(0xcbf29ce484222325)};
    hac_parquet_target target;
    hac_string_buffer strings = {0};
    hac_parquet_dictionary dictionary = {.there = true, .entries = ENTRIES};
    hac_parquet_values v;
    size_t place = 0;
    must(hac_parquet_target_of(&in->leaf, &target));
    target.kernels = kernels;
    dictionary.values = calloc(ENTRIES + 1, target.size);
    must(hac_string_buffer_place(&strings, in->bytes + HAC_PARQUET_SLACK, &place, NULL) == HAC_OK);
    memcpy(strings.data + place, in->page, in->bytes);
    hac_string_buffer_keep(&strings);
    /* the page twice: in the string buffer, where refs point into it, and in memory that does not move */
    uint8_t *page = calloc(1, in->bytes + HAC_PARQUET_SLACK);
    memcpy(page, in->page, in->bytes);
    bool in_strings = hac_parquet_values_in_strings(&target, in->encoding);
    hac_parquet_context c = {&target, &dictionary, &strings, &scratch, 1 << 20};
    bool good = hac_parquet_values_begin(&v, &c, in->encoding, in_strings ? strings.data + place : page,
                                         place, in->bytes, NULL) == HAC_OK;
    while (good && ret.n < VALUES_MAX) {
        bool marked = false;
        hac_string_buffer_begin(&strings, 0, 0);
        good =
            hac_parquet_values_get(&v, &c, at_once, NULL, at_once, values, states, &marked, NULL) == HAC_OK;
        if (good)
            add(&ret, &c, values, at_once, marked ? states : NULL);
    }
    free(page);
    free(dictionary.values);
    hac_string_buffer_clear(&strings);
    scratch.last.bytes = 0;
    return ret;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const hac_parquet_kernels *all[3];
    if (size < 3)
        return 0;
    input in = {.leaf = leaves[data[0] % (sizeof leaves / sizeof *leaves)],
                .encoding = encodings[data[1] % (sizeof encodings / sizeof *encodings)],
                .page = data + 3,
                .bytes = size - 3};
    size_t at_once = 1 + 4 * (size_t)data[2], n = hac_parquet_kernels_all(all);
    decoded first = decode(&in, all[0], at_once), singly = decode(&in, all[0], 1);
    for (size_t i = 1; i < n; i++) {
        decoded other = decode(&in, all[i], at_once);
        must(other.n == first.n && other.digest == first.digest);
    }
    if (singly.n == first.n)
        must(singly.digest == first.digest);
    must(singly.n >= first.n || singly.n >= VALUES_MAX);
    return 0;
}
