/* SPDX-License-Identifier: Apache-2.0 */
#include "slab.h"

/* Decimals up to so many digits are INT32; up to HAC_DECIMAL_DIGITS_64 INT64. */
enum { DECIMAL_DIGITS_32 = 9 };

/* The least bytes of two's complement that hold all numbers of so many digits. */
static unsigned decimal_bytes(unsigned digits)
{
    unsigned __int128 most = 1;
    for (unsigned i = 0; i < digits; i++)
        most *= 10;
    unsigned bytes = 1;
    while ((most - 1) >> (8 * bytes - 1) != 0)
        bytes++;
    return bytes;
}

hac_parquet_physical hac_physical_of(hac_value_type type)
{
    switch (type.kind) {
    case HAC_KIND_BOOL:
        return HAC_PARQUET_BOOLEAN;
    case HAC_KIND_I64:
    case HAC_KIND_U64:
    case HAC_KIND_TIMESTAMP:
        return HAC_PARQUET_INT64;
    case HAC_KIND_F32:
        return HAC_PARQUET_FLOAT;
    case HAC_KIND_F64:
        return HAC_PARQUET_DOUBLE;
    case HAC_KIND_STRING:
    case HAC_KIND_BYTES:
        return HAC_PARQUET_BYTE_ARRAY;
    case HAC_KIND_DECIMAL:
        return type.precision <= DECIMAL_DIGITS_32       ? HAC_PARQUET_INT32
               : type.precision <= HAC_DECIMAL_DIGITS_64 ? HAC_PARQUET_INT64
                                                         : HAC_PARQUET_FIXED;
    default:
        return HAC_PARQUET_INT32;
    }
}

hac_stored hac_stored_of(hac_value_type type)
{
    bool is_unsigned = hac_repr_of(type) == HAC_REPR_U64;
    switch (hac_physical_of(type)) {
    case HAC_PARQUET_BOOLEAN:
        return HAC_STORED_BOOL;
    case HAC_PARQUET_INT32:
        return is_unsigned ? HAC_STORED_U32 : HAC_STORED_I32;
    case HAC_PARQUET_INT64:
        return is_unsigned ? HAC_STORED_U64 : HAC_STORED_I64;
    case HAC_PARQUET_FLOAT:
        return HAC_STORED_F32;
    case HAC_PARQUET_DOUBLE:
        return HAC_STORED_F64;
    case HAC_PARQUET_BYTE_ARRAY:
        return HAC_STORED_TEXT;
    default:
        return HAC_STORED_WIDE;
    }
}

unsigned hac_stored_width(hac_value_type type)
{
    switch (hac_stored_of(type)) {
    case HAC_STORED_BOOL:
        return 1;
    case HAC_STORED_I32:
    case HAC_STORED_U32:
    case HAC_STORED_F32:
        return 4;
    case HAC_STORED_WIDE:
        return decimal_bytes(type.precision);
    case HAC_STORED_TEXT:
        return 0;
    default:
        return 8;
    }
}

void hac_slab_init(hac_slab *slab, hac_value_type type)
{
    *slab = (hac_slab){.type = type, .stored = hac_stored_of(type), .width = hac_stored_width(type)};
}

void hac_slab_clear(hac_slab *slab)
{
    hac_bytes_clear(&slab->levels);
    hac_bytes_clear(&slab->values);
    hac_bytes_clear(&slab->ends);
}

/* Copies the values of rows that are not null; *at is written even for those that are, which the next value
 * overwrites: no branch. */
#define DENSE(name, from, to)                                                                                \
    static size_t name(const from *values, const uint8_t *levels, size_t rows, to *ret)                      \
    {                                                                                                        \
        size_t n = 0;                                                                                        \
        for (size_t i = 0; i < rows; i++) {                                                                  \
            ret[n] = (to)values[i];                                                                          \
            n += levels[i];                                                                                  \
        }                                                                                                    \
        return n;                                                                                            \
    }                                                                                                        \
    static void name##_all(const from *values, size_t rows, to *ret)                                         \
    {                                                                                                        \
        for (size_t i = 0; i < rows; i++)                                                                    \
            ret[i] = (to)values[i];                                                                          \
    }
DENSE(dense_bool, uint8_t, uint8_t)
DENSE(dense_narrow, uint64_t, uint32_t)
DENSE(dense_32, uint32_t, uint32_t)
DENSE(dense_64, uint64_t, uint64_t)

#define COPY(name, from, to)                                                                                 \
    (nulls ? name((const from *)values, levels, rows, (to *)at)                                              \
           : (name##_all((const from *)values, rows, (to *)at), rows))

static size_t copy_wide(const unsigned __int128 *values, const uint8_t *levels, size_t rows, unsigned width,
                        uint8_t *ret)
{
    size_t n = 0;
    for (size_t i = 0; i < rows; i++) {
        for (unsigned b = 0; b < width; b++)
            ret[n * width + b] = (uint8_t)(values[i] >> (8 * (width - 1 - b)));
        n += levels[i];
    }
    return n;
}

/* The caller has made room for all rows. */
static void add_fixed(hac_slab *slab, const hac_vector *vector, size_t first, size_t rows, bool nulls)
{
    const uint8_t *levels = slab->levels.data + slab->rows;
    hac_repr repr = hac_repr_of(vector->type);
    const void *values = (const uint8_t *)vector->values + first * hac_repr_size(repr);
    void *at = slab->values.data + slab->values.n;
    size_t n;
    if (slab->stored == HAC_STORED_BOOL)
        n = COPY(dense_bool, uint8_t, uint8_t);
    else if (slab->stored == HAC_STORED_WIDE)
        n = copy_wide(values, levels, rows, slab->width, at);
    else if (repr == HAC_REPR_F32)
        n = COPY(dense_32, uint32_t, uint32_t);
    else if (slab->width == 4)
        n = COPY(dense_narrow, uint64_t, uint32_t);
    else
        n = COPY(dense_64, uint64_t, uint64_t);
    slab->n += n;
    slab->values.n += n * slab->width;
}

static inline void copy_text(uint8_t *to, const uint8_t *from, uint32_t bytes)
{
    if (bytes >= 8 && bytes <= 16) { /* two words that overlap: the most frequent lengths, without a call */
        uint64_t head, tail;
        memcpy(&head, from, 8);
        memcpy(&tail, from + bytes - 8, 8);
        memcpy(to, &head, 8);
        memcpy(to + bytes - 8, &tail, 8);
    } else if (bytes > 16) {
        memcpy(to, from, bytes);
    } else {
        for (uint32_t i = 0; i < bytes; i++)
            to[i] = from[i];
    }
}

static bool add_texts(hac_slab *slab, const hac_vector *vector, size_t first, size_t rows)
{
    const uint8_t *levels = slab->levels.data + slab->rows;
    const hac_string_ref *refs = (const hac_string_ref *)vector->values + first;
    size_t bytes = 0;
    for (size_t i = 0; i < rows; i++)
        bytes += levels[i] ? refs[i].length : 0;
    if (!hac_bytes_reserve(&slab->values, bytes) || !hac_bytes_reserve(&slab->ends, (rows + 1) * 4))
        return false;
    uint32_t *ends = (uint32_t *)(void *)slab->ends.data;
    uint32_t end = (uint32_t)slab->values.n;
    ends[slab->n] = end;
    for (size_t i = 0; i < rows; i++) {
        if (!levels[i])
            continue;
        copy_text(slab->values.data + end, vector->bytes + refs[i].offset, refs[i].length);
        end += refs[i].length;
        ends[++slab->n] = end;
    }
    slab->values.n = end;
    slab->ends.n = (slab->n + 1) * 4;
    return true;
}

bool hac_slab_add(hac_slab *slab, const hac_vector *vector, size_t first, size_t rows)
{
    if (!hac_bytes_reserve(&slab->levels, rows))
        return false;
    uint8_t *levels = slab->levels.data + slab->rows;
    bool nulls = false;
    if (vector->states == NULL) {
        memset(levels, 1, rows);
    } else {
        for (size_t i = 0; i < rows; i++) {
            levels[i] = vector->states[first + i] == HAC_ROW_OK;
            nulls |= !levels[i];
        }
    }
    if (slab->stored == HAC_STORED_TEXT) {
        if (!add_texts(slab, vector, first, rows))
            return false;
    } else {
        if (!hac_bytes_reserve(&slab->values, rows * slab->width))
            return false;
        add_fixed(slab, vector, first, rows, nulls);
    }
    slab->rows += rows;
    slab->levels.n += rows;
    return true;
}

static void empty(hac_slab *slab)
{
    slab->levels.n = slab->values.n = slab->ends.n = 0;
    slab->rows = slab->n = 0;
}

bool hac_slab_append(hac_slab *slab, hac_slab *from)
{
    if (slab->rows == 0) { /* the usual case: nothing is copied */
        hac_slab swapped = *slab;
        *slab = *from;
        *from = swapped;
        empty(from);
        return true;
    }
    size_t offset = slab->values.n;
    if (!hac_bytes_add(&slab->levels, from->levels.data, from->levels.n) ||
        !hac_bytes_add(&slab->values, from->values.data, from->values.n))
        return false;
    if (slab->stored == HAC_STORED_TEXT && from->n > 0) {
        if (!hac_bytes_reserve(&slab->ends, (from->n + 2) * 4))
            return false;
        uint32_t *ends = (uint32_t *)(void *)slab->ends.data + slab->n;
        for (size_t i = 0; i <= from->n; i++)
            ends[i] = hac_slab_ends(from)[i] + (uint32_t)offset;
        slab->ends.n = (slab->n + from->n + 1) * 4;
    }
    slab->rows += from->rows;
    slab->n += from->n;
    empty(from);
    return true;
}

static void drop_front(hac_bytes *bytes, size_t n)
{
    bytes->n -= n;
    if (bytes->n > 0)
        memmove(bytes->data, bytes->data + n, bytes->n);
}

void hac_slab_drop(hac_slab *slab, size_t rows, size_t values)
{
    if (slab->stored != HAC_STORED_TEXT) {
        drop_front(&slab->values, values * slab->width);
    } else if (slab->n > 0) {
        uint32_t *ends = (uint32_t *)(void *)slab->ends.data;
        uint32_t start = ends[values];
        drop_front(&slab->values, start);
        for (size_t i = values; i <= slab->n; i++)
            ends[i - values] = ends[i] - start;
        slab->ends.n -= values * 4;
    }
    drop_front(&slab->levels, rows);
    slab->rows -= rows;
    slab->n -= values;
}
