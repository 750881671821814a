/* SPDX-License-Identifier: Apache-2.0 */
#include "pending_rows.h"

/* Decimals up to this many digits are INT32; up to HAC_DECIMAL_DIGITS_64, INT64. */
enum { DECIMAL_DIGITS_32 = 9 };

/* The minimum size of a two's complement number with that many digits. */
static unsigned decimal_bytes(unsigned digits)
{
    unsigned __int128 max = 1;
    for (unsigned i = 0; i < digits; i++)
        max *= 10;
    unsigned bytes = 1;
    while ((max - 1) >> (8 * bytes - 1) != 0)
        bytes++;
    return bytes;
}

hac_parquet_physical hac_physical_of(hac_value_type type)
{
    if (type.kind == HAC_KIND_DECIMAL && type.precision <= HAC_DECIMAL_DIGITS_64)
        return type.precision <= DECIMAL_DIGITS_32 ? HAC_PARQUET_INT32 : HAC_PARQUET_INT64;
    return (hac_parquet_physical)hac_kinds[type.kind].parquet_physical;
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

void hac_pending_rows_init(hac_pending_rows *pending, hac_value_type type)
{
    *pending =
        (hac_pending_rows){.type = type, .stored = hac_stored_of(type), .width = hac_stored_width(type)};
}

void hac_pending_rows_clear(hac_pending_rows *pending)
{
    hac_bytes_clear(&pending->levels);
    hac_bytes_clear(&pending->values);
    hac_bytes_clear(&pending->ends);
}

/* Copies the values of rows that are not null. *at is also written for null rows, and the next value
 * overwrites it: the loop has no branch. */
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
static void add_fixed(hac_pending_rows *pending, const hac_column *column, size_t first, size_t rows,
                      bool nulls)
{
    const uint8_t *levels = pending->levels.data + pending->rows;
    hac_repr repr = hac_repr_of(column->type);
    const void *values = (const uint8_t *)column->values + first * hac_repr_size(repr);
    void *at = pending->values.data + pending->values.n;
    size_t n;
    if (pending->stored == HAC_STORED_BOOL)
        n = COPY(dense_bool, uint8_t, uint8_t);
    else if (pending->stored == HAC_STORED_WIDE)
        n = copy_wide(values, levels, rows, pending->width, at);
    else if (repr == HAC_REPR_F32)
        n = COPY(dense_32, uint32_t, uint32_t);
    else if (pending->width == 4)
        n = COPY(dense_narrow, uint64_t, uint32_t);
    else
        n = COPY(dense_64, uint64_t, uint64_t);
    pending->n += n;
    pending->values.n += n * pending->width;
}

static inline void copy_text(uint8_t *to, const uint8_t *from, uint32_t bytes)
{
    if (bytes >= 8 && bytes <= 16) { /* two overlapping words: the most frequent lengths, without a call */
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

static bool add_texts(hac_pending_rows *pending, const hac_column *column, size_t first, size_t rows)
{
    const uint8_t *levels = pending->levels.data + pending->rows;
    const hac_string_ref *refs = (const hac_string_ref *)column->values + first;
    size_t bytes = 0;
    for (size_t i = 0; i < rows; i++)
        bytes += levels[i] ? refs[i].length : 0;
    /* One byte more: texts that are all empty have an address, too. */
    if (!hac_bytes_reserve(&pending->values, bytes + 1) || !hac_bytes_reserve(&pending->ends, (rows + 1) * 4))
        return false;
    uint32_t *ends = (uint32_t *)(void *)pending->ends.data;
    uint32_t end = (uint32_t)pending->values.n;
    ends[pending->n] = end;
    for (size_t i = 0; i < rows; i++) {
        if (!levels[i])
            continue;
        if (refs[i].length > 0)
            copy_text(pending->values.data + end, column->bytes + refs[i].offset, refs[i].length);
        end += refs[i].length;
        ends[++pending->n] = end;
    }
    pending->values.n = end;
    pending->ends.n = (pending->n + 1) * 4;
    return true;
}

bool hac_pending_rows_add(hac_pending_rows *pending, const hac_column *column, size_t first, size_t rows)
{
    if (!hac_bytes_reserve(&pending->levels, rows))
        return false;
    uint8_t *levels = pending->levels.data + pending->rows;
    bool nulls = false;
    if (column->states == NULL) {
        memset(levels, 1, rows);
    } else {
        for (size_t i = 0; i < rows; i++) {
            levels[i] = column->states[first + i] == HAC_ROW_OK;
            nulls |= !levels[i];
        }
    }
    if (pending->stored == HAC_STORED_TEXT) {
        if (!add_texts(pending, column, first, rows))
            return false;
    } else {
        if (!hac_bytes_reserve(&pending->values, rows * pending->width))
            return false;
        add_fixed(pending, column, first, rows, nulls);
    }
    pending->rows += rows;
    pending->levels.n += rows;
    return true;
}

static void empty(hac_pending_rows *pending)
{
    pending->levels.n = pending->values.n = pending->ends.n = 0;
    pending->rows = pending->n = 0;
}

bool hac_pending_rows_append(hac_pending_rows *pending, hac_pending_rows *from)
{
    if (pending->rows == 0) { /* usually nothing is copied */
        hac_pending_rows swapped = *pending;
        *pending = *from;
        *from = swapped;
        empty(from);
        return true;
    }
    size_t offset = pending->values.n;
    if (!hac_bytes_add(&pending->levels, from->levels.data, from->levels.n) ||
        !hac_bytes_add(&pending->values, from->values.data, from->values.n))
        return false;
    if (pending->stored == HAC_STORED_TEXT && from->n > 0) {
        if (!hac_bytes_reserve(&pending->ends, (from->n + 2) * 4))
            return false;
        uint32_t *ends = (uint32_t *)(void *)pending->ends.data + pending->n;
        for (size_t i = 0; i <= from->n; i++)
            ends[i] = hac_pending_rows_ends(from)[i] + (uint32_t)offset;
        pending->ends.n = (pending->n + from->n + 1) * 4;
    }
    pending->rows += from->rows;
    pending->n += from->n;
    empty(from);
    return true;
}

static void drop_front(hac_bytes *bytes, size_t n)
{
    bytes->n -= n;
    if (bytes->n > 0)
        memmove(bytes->data, bytes->data + n, bytes->n);
}

void hac_pending_rows_drop(hac_pending_rows *pending, size_t rows, size_t values)
{
    if (pending->stored != HAC_STORED_TEXT) {
        drop_front(&pending->values, values * pending->width);
    } else if (pending->n > 0) {
        uint32_t *ends = (uint32_t *)(void *)pending->ends.data;
        uint32_t start = ends[values];
        drop_front(&pending->values, start);
        for (size_t i = values; i <= pending->n; i++)
            ends[i - values] = ends[i] - start;
        pending->ends.n -= values * 4;
    }
    drop_front(&pending->levels, rows);
    pending->rows -= rows;
    pending->n -= values;
}
