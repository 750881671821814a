/* SPDX-License-Identifier: Apache-2.0 */
#include "bloom.h"

#include <math.h>
#include <string.h>
#include <xxhash.h>

#include "format/sizes.h"
#include "format/thrift.h"

#define HEADER_BYTES 256 /* a header has about 20 */
#define FILTER_MAX   (128u << 20)
#define BLOCK_BYTES  32
#define BLOCK_WORDS  8

/* Where the blocks of a filter are. A filter whose header and the metadata of its chunk do not agree about
 * its size is not used: values would be looked up in the wrong blocks. */
typedef struct bloom {
    uint64_t first;
    uint64_t blocks; /* 0: there is no usable filter */
} bloom;

/* Reads a union whose only known member is the first one. */
static void read_choice(hac_thrift *t, bool *ret_first)
{
    hac_thrift_field field = {0, 0};
    while (hac_thrift_next(t, &field)) {
        *ret_first = field.id == 1;
        hac_thrift_skip(t, &field);
    }
}

static hac_status read_header(const hac_parquet_file *file, const hac_parquet_chunk *chunk, bloom *ret,
                              hac_error *err)
{
    uint8_t data[HEADER_BYTES];
    uint64_t capacity = file->place.bytes - chunk->bloom;
    if (chunk->bloom_bytes != 0 && chunk->bloom_bytes < capacity)
        capacity = chunk->bloom_bytes;
    size_t bytes = capacity < sizeof data ? (size_t)capacity : sizeof data;
    hac_status status = hac_parquet_read(file, chunk->bloom, data, bytes, err);
    if (status != HAC_OK)
        return status;
    hac_thrift t;
    hac_thrift_begin(&t, data, bytes);
    hac_thrift_field field = {0, 0};
    int32_t filter_bytes = 0;
    bool known[5] = {false}; /* algorithm, hash, compression: indexed by field number */
    while (hac_thrift_next(&t, &field)) {
        if (field.id == 1)
            hac_thrift_i32(&t, &field, &filter_bytes);
        else if (field.id >= 2 && field.id <= 4 && field.type == HAC_THRIFT_STRUCT)
            read_choice(&t, &known[field.id]);
        else
            hac_thrift_skip(&t, &field);
    }
    uint64_t header = (uint64_t)(t.at - data);
    bool good = t.broken == NULL && known[2] && known[3] && known[4] && filter_bytes > 0 &&
                (uint32_t)filter_bytes <= FILTER_MAX && filter_bytes % BLOCK_BYTES == 0 &&
                (uint64_t)filter_bytes <= capacity - header &&
                (chunk->bloom_bytes == 0 || header + (uint64_t)filter_bytes == chunk->bloom_bytes);
    ret->first = chunk->bloom + header;
    ret->blocks = good ? (uint64_t)filter_bytes / BLOCK_BYTES : 0;
    return HAC_OK;
}

static hac_status contains(const hac_parquet_file *file, const bloom *filter, const uint8_t *value,
                           size_t bytes, bool *ret, hac_error *err)
{
    static const uint32_t salts[BLOCK_WORDS] = {0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d,
                                                0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31};
    uint64_t hash = XXH64(value, bytes, 0);
    uint64_t block = (hash >> 32) * filter->blocks >> 32;
    uint8_t words[BLOCK_BYTES];
    hac_status status = hac_parquet_read(file, filter->first + block * BLOCK_BYTES, words, sizeof words, err);
    *ret = true;
    for (size_t i = 0; i < BLOCK_WORDS && status == HAC_OK; i++) {
        uint32_t bit = (uint32_t)hash * salts[i] >> 27;
        *ret &= (words[4 * i + bit / 8] >> bit % 8 & 1) != 0; /* words are little-endian */
    }
    return status;
}

/* ---- values as they are stored ----------------------------------------------------------------------------
 */

/* The only stored form of a value. */
typedef struct stored {
    uint8_t capacity[16];
    const uint8_t *data;
    size_t bytes;
} stored;

static void store_little(uint64_t value, size_t bytes, stored *ret)
{
    for (size_t i = 0; i < bytes; i++)
        ret->capacity[i] = (uint8_t)(value >> 8 * i);
    ret->data = ret->capacity;
    ret->bytes = bytes;
}

static bool store_integer(const hac_parquet_leaf *leaf, __int128 value, stored *ret)
{
    size_t width = hac_parquet_width(leaf->physical, leaf->type_length);
    if (leaf->conversion == HAC_PARQUET_BIG_ENDIAN) {
        /* a number of any length has many forms; 16 bytes hold every decimal */
        if (leaf->physical != HAC_PARQUET_FIXED || width > sizeof ret->capacity)
            return false;
        for (size_t i = 0; i < width; i++)
            ret->capacity[width - 1 - i] = (uint8_t)(value >> 8 * i);
        ret->data = ret->capacity;
        ret->bytes = width;
        return value >> (8 * width - 1) == 0 || value >> (8 * width - 1) == -1;
    }
    if (leaf->conversion == HAC_PARQUET_MILLIS) {
        if (value % 1000 != 0)
            return false;
        value /= 1000;
    } else if (leaf->conversion != HAC_PARQUET_PLAIN && leaf->conversion != HAC_PARQUET_UNSIGNED) {
        return false; /* several stored values convert to this one */
    }
    if (leaf->small_bits != 0 && value >> (leaf->small_bits - 1) != 0)
        return false; /* it may be stored with its highest bit repeated */
    store_little((uint64_t)value, width, ret);
    bool is_unsigned = leaf->conversion == HAC_PARQUET_UNSIGNED;
    __int128 end = (__int128)1 << (8 * width - (is_unsigned ? 0 : 1));
    return value < end && value >= (is_unsigned ? 0 : -end);
}

static bool store(const hac_parquet_leaf *leaf, const hac_bound *bound, const hac_constant *value,
                  stored *ret)
{
    bool integers = leaf->physical != HAC_PARQUET_BOOLEAN && leaf->physical != HAC_PARQUET_INT96;
    switch (bound->repr) {
    case HAC_REPR_I64:
        return integers && store_integer(leaf, (int64_t)value->low, ret);
    case HAC_REPR_U64:
        return integers && store_integer(leaf, value->low, ret);
    case HAC_REPR_I128:
        return store_integer(leaf, (__int128)((unsigned __int128)value->high << 64 | value->low), ret);
    case HAC_REPR_F32:
        store_little(value->low, 4, ret);
        return leaf->physical == HAC_PARQUET_FLOAT;
    case HAC_REPR_F64:
        store_little(value->low, 8, ret);
        return true;
    case HAC_REPR_STRING:
        ret->data = bound->bytes + value->low;
        ret->bytes = value->high;
        return true;
    default:
        return false;
    }
}

/* Floats that equal floats with other bits: 0 and NaN. */
static bool has_twins(const hac_bound *bound, const hac_constant *value)
{
    unsigned bits = bound->repr == HAC_REPR_F32 ? 32 : 64;
    uint64_t magnitude = value->low << (65 - bits), infinity;
    infinity = bits == 32 ? UINT64_C(0x7f800000) << 33 : UINT64_C(0x7ff0000000000000) << 1;
    return (bound->repr == HAC_REPR_F32 || bound->repr == HAC_REPR_F64) &&
           (magnitude == 0 || magnitude > infinity);
}

hac_status hac_parquet_bloom_excludes(const hac_parquet_file *file, const hac_parquet_leaf *leaf,
                                      const hac_parquet_chunk *chunk, const hac_bound *bound, bool *ret,
                                      hac_error *err)
{
    *ret = false;
    bool equality = bound->comparison == HAC_COMPARE_EQ || bound->comparison == HAC_COMPARE_IN;
    if (chunk->bloom == 0 || !equality || bound->n_values == 0 || bound->repr != hac_repr_of(leaf->type))
        return HAC_OK;
    bloom filter = {0, 0};
    hac_status status = read_header(file, chunk, &filter, err);
    bool found = filter.blocks == 0;
    for (size_t i = 0; i < bound->n_values && !found && status == HAC_OK; i++) {
        stored value = {.bytes = 0};
        if (has_twins(bound, &bound->values[i]) || !store(leaf, bound, &bound->values[i], &value))
            found = true;
        else
            status = contains(file, &filter, value.data, value.bytes, &found, err);
    }
    *ret = status == HAC_OK && !found;
    return status;
}
