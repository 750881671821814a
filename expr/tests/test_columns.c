/* SPDX-License-Identifier: Apache-2.0 */
#include "test_columns.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"

#define STRING_CAPACITY 64

uint64_t test_next(test_random *random)
{
    return hac_random_u64(&random->state);
}

uint64_t test_below(test_random *random, uint64_t n)
{
    return test_next(random) % n;
}

static const int64_t edges_i64[] = {0,
                                    1,
                                    -1,
                                    2,
                                    -2,
                                    3,
                                    7,
                                    10,
                                    -10,
                                    59,
                                    60,
                                    100,
                                    365,
                                    1000,
                                    36524,
                                    146097,
                                    -719468,
                                    719162,
                                    2932896,
                                    -719162,
                                    INT32_MAX,
                                    INT32_MIN,
                                    (int64_t)INT32_MAX + 1,
                                    UINT32_MAX,
                                    3037000499,
                                    3037000500,
                                    -3037000500,
                                    86399999999,
                                    86400000000,
                                    -86400000001,
                                    999999999999999999,
                                    1000000000000000000,
                                    4999999999999999999,
                                    5000000000000000000,
                                    -5000000000000000000,
                                    9007199254740993,
                                    -9007199254740993,
                                    4611686018427387904,
                                    -4611686018427387904,
                                    INT64_MAX,
                                    INT64_MAX - 1,
                                    INT64_MIN,
                                    INT64_MIN + 1,
                                    INT64_MAX / 86400000000,
                                    INT64_MAX / 86400000000 + 1};
static const uint64_t edges_u64[] = {0,
                                     1,
                                     2,
                                     3,
                                     10,
                                     255,
                                     256,
                                     UINT32_MAX,
                                     UINT64_C(1) << 32,
                                     UINT64_C(1) << 53,
                                     (UINT64_C(1) << 53) + 1,
                                     INT64_MAX,
                                     UINT64_C(1) << 63,
                                     (UINT64_C(1) << 63) + 1,
                                     UINT64_MAX - 1,
                                     UINT64_MAX,
                                     16777217,
                                     4294967297};
static const double edges_f64[] = {0.0,
                                   -0.0,
                                   1,
                                   -1,
                                   0.5,
                                   -0.5,
                                   1.5,
                                   2.5,
                                   -2.5,
                                   0.49999999999999994,
                                   4503599627370495.5,
                                   4503599627370497.5,
                                   9007199254740993.0,
                                   9223372036854775807.0,
                                   9223372036854774784.0,
                                   -9223372036854775808.0,
                                   18446744073709551615.0,
                                   18446744073709549568.0,
                                   1e38,
                                   99999999999999997748.0,
                                   1e40,
                                   -1e37,
                                   0.1,
                                   1e-7,
                                   1e300,
                                   DBL_MAX,
                                   -DBL_MAX,
                                   DBL_MIN,
                                   4.9406564584124654e-324,
                                   FLT_MAX,
                                   3.4028235677973366e38,
                                   1e-46,
                                   INFINITY,
                                   -INFINITY,
                                   NAN,
                                   -NAN,
                                   0.005,
                                   1.005,
                                   123456789.125};
static const float edges_f32[] = {0.0f,     -0.0f,     1,       -1,          0.5f,       -0.5f,
                                  1.5f,     2.5f,      -2.5f,   0.49999997f, 8388607.5f, 16777216.0f,
                                  0.1f,     1e30f,     FLT_MAX, -FLT_MAX,    FLT_MIN,    1e-45f,
                                  INFINITY, -INFINITY, NAN,     -NAN};
static const char *const edges_string[] = {"",
                                           "a",
                                           "A",
                                           "ab",
                                           "abc",
                                           "Hello, World",
                                           "  x y\t\n",
                                           " ",
                                           "\xc3\xa9",
                                           ("\xe2\x82\xac"
                                            "5"),
                                           "\xe2\x82",
                                           "\xff\xfe",
                                           "\xf0\x9f\x98\x80z",
                                           "a%b",
                                           "a_b",
                                           "\\",
                                           "%",
                                           "aaa",
                                           "aaaa",
                                           "abab",
                                           "b",
                                           "true",
                                           "No",
                                           "0",
                                           "-1",
                                           "+12",
                                           "9223372036854775807",
                                           "9223372036854775808",
                                           "-9223372036854775808",
                                           "18446744073709551616",
                                           "1.5",
                                           "-0.0",
                                           "1e400",
                                           "1e38",
                                           "1e37",
                                           "nan",
                                           "-inf",
                                           "0x10",
                                           "2020-02-29",
                                           "2021-02-29",
                                           "9999-12-31",
                                           "2020-01-31 12:34:56.789",
                                           "2020-01-31T24:00",
                                           "1970-01-01T00:00Z",
                                           "99999999999999999999999999999999999999",
                                           "0.5",
                                           "-.5",
                                           "12.345",
                                           "1,5"};

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define EDGES_I128   14

static __int128 edge_i128(size_t i)
{
    __int128 top = 1;
    for (int k = 0; k < 38; k++)
        top *= 10;
    const __int128 edges[EDGES_I128] = {
        0,       1,       -1,      5,        15,      -15,       49,
        top - 1, 1 - top, top / 2, -top / 2, top / 7, INT64_MAX, (__int128)INT64_MIN - 1};
    return edges[i];
}

size_t test_edges(hac_repr repr)
{
    switch (repr) {
    case HAC_REPR_BOOL:
        return 2;
    case HAC_REPR_I64:
        return COUNT(edges_i64);
    case HAC_REPR_U64:
        return COUNT(edges_u64);
    case HAC_REPR_F32:
        return COUNT(edges_f32);
    case HAC_REPR_F64:
        return COUNT(edges_f64);
    case HAC_REPR_I128:
        return EDGES_I128;
    default:
        return COUNT(edges_string);
    }
}

ref_value test_edge(hac_repr repr, size_t i)
{
    ref_value value = {0};
    switch (repr) {
    case HAC_REPR_BOOL:
        value.boolean = i & 1;
        break;
    case HAC_REPR_I64:
        value.i64 = edges_i64[i];
        break;
    case HAC_REPR_U64:
        value.u64 = edges_u64[i];
        break;
    case HAC_REPR_F32:
        value.f32 = edges_f32[i];
        break;
    case HAC_REPR_F64:
        value.f64 = edges_f64[i];
        break;
    case HAC_REPR_I128:
        value.i128 = edge_i128(i);
        break;
    default:
        value.bytes = strlen(edges_string[i]);
        memcpy(value.string, edges_string[i], value.bytes);
    }
    return value;
}

/* All numbers of bits are equally likely. */
static uint64_t random_bits(test_random *random)
{
    return test_next(random) >> test_below(random, 64);
}

static void random_string(test_random *random, ref_value *ret)
{
    static const char letters[] = "ab%_\\ A1.-e:\xc3\xa9\xe2";
    ret->bytes = test_below(random, 14);
    for (size_t i = 0; i < ret->bytes; i++)
        ret->string[i] = letters[test_below(random, sizeof letters - 1)];
}

ref_value test_value(test_random *random, hac_repr repr)
{
    ref_value value = test_edge(repr, test_below(random, test_edges(repr)));
    uint64_t bits = random_bits(random), any = test_next(random);
    if (test_below(random, 3) == 0)
        return value;
    value.u64 = bits;
    value.i64 = any & 1 ? (int64_t)bits : (int64_t)(0 - bits);
    switch (repr) {
    case HAC_REPR_F32:
        if (any & 2)
            memcpy(&value.f32, &any, 4);
        else
            value.f32 = (float)value.i64 / 8;
        break;
    case HAC_REPR_F64:
        if (any & 2)
            memcpy(&value.f64, &bits, 8);
        else
            value.f64 = (double)value.i64 / 16;
        break;
    case HAC_REPR_I128:
        value.i128 = (__int128)value.i64 * (int64_t)(random_bits(random) >> 3);
        if (value.i128 <= edge_i128(8) || value.i128 >= edge_i128(7))
            value.i128 = value.i64;
        break;
    case HAC_REPR_STRING:
        random_string(random, &value);
        break;
    default:
        break;
    }
    return value;
}

hac_value_type test_type(hac_repr repr)
{
    static const uint8_t kinds[HAC_REPR_END] = {
        [HAC_REPR_BOOL] = HAC_KIND_BOOL,    [HAC_REPR_I64] = HAC_KIND_I64, [HAC_REPR_U64] = HAC_KIND_U64,
        [HAC_REPR_F32] = HAC_KIND_F32,      [HAC_REPR_F64] = HAC_KIND_F64, [HAC_REPR_I128] = HAC_KIND_DECIMAL,
        [HAC_REPR_STRING] = HAC_KIND_STRING};
    return (hac_value_type){kinds[repr], repr == HAC_REPR_I128 ? 38 : 0, repr == HAC_REPR_I128 ? 5 : 0};
}

hac_column test_column_new(hac_repr repr, bool states)
{
    hac_column column = {.type = test_type(repr)};
    size_t size = HAC_BATCH_ROWS * hac_repr_size(repr);
    column.values = aligned_alloc(64, size);
    column.states = states ? calloc(HAC_BATCH_ROWS, 1) : NULL;
    column.bytes = repr == HAC_REPR_STRING ? calloc(HAC_BATCH_ROWS, STRING_CAPACITY) : NULL;
    if (column.values == NULL || (states && column.states == NULL) ||
        (repr == HAC_REPR_STRING && column.bytes == NULL))
        abort();
    memset(column.values, repr == HAC_REPR_STRING ? 0 : 0xa5, size); /* undefined, but readable */
    return column;
}

void test_column_free(hac_column *column)
{
    free(column->values);
    free(column->states);
    free((void *)(uintptr_t)column->bytes);
}

void test_column_set(hac_column *column, hac_repr repr, size_t row, const ref_value *value)
{
    char *at = (char *)column->values + row * hac_repr_size(repr);
    char *bytes = (char *)(uintptr_t)column->bytes;
    hac_string_ref ref = {(uint32_t)(row * STRING_CAPACITY), 0};
    if (column->states != NULL)
        column->states[row] = value->state;
    switch (repr) {
    case HAC_REPR_BOOL: /* in rows that are not OK, the other bits are undefined */
        *at = (char)(value->state == HAC_ROW_OK ? value->boolean : 0xa5);
        break;
    case HAC_REPR_I64:
        memcpy(at, &value->i64, 8);
        break;
    case HAC_REPR_U64:
        memcpy(at, &value->u64, 8);
        break;
    case HAC_REPR_F32:
        memcpy(at, &value->f32, 4);
        break;
    case HAC_REPR_F64:
        memcpy(at, &value->f64, 8);
        break;
    case HAC_REPR_I128:
        memcpy(at, &value->i128, 16);
        break;
    default:
        if (value->bytes > STRING_CAPACITY)
            abort();
        if (value->state == HAC_ROW_OK) {
            memcpy(bytes + ref.offset, value->string, value->bytes);
            ref.length = (uint32_t)value->bytes;
        }
        memcpy(at, &ref, sizeof ref);
    }
}
