/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The types of columns: what schemas, expressions, tables and results are made of. (Sort keys have their own,
 * smaller set: <hac/type.h>.)
 */
#ifndef BASE_VALUE_H
#define BASE_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* The numbers are part of the client protocol: only ever added to. */
typedef enum hac_kind {
    HAC_KIND_NONE = 0,
    HAC_KIND_BOOL,
    HAC_KIND_I8,
    HAC_KIND_I16,
    HAC_KIND_I32,
    HAC_KIND_I64,
    HAC_KIND_U8,
    HAC_KIND_U16,
    HAC_KIND_U32,
    HAC_KIND_U64,
    HAC_KIND_F32,
    HAC_KIND_F64,
    HAC_KIND_DATE,      /* days since 1970-01-01, 32 bits */
    HAC_KIND_TIMESTAMP, /* microseconds since 1970-01-01 00:00:00 UTC, 64 bits */
    HAC_KIND_DECIMAL,   /* an integer times 10^-scale: 64 bits up to 18 digits, 128 bits up to 38 */
    HAC_KIND_STRING,    /* text; need not be UTF-8 */
    HAC_KIND_BYTES,     /* bytes that are no text: printed as hex */
    HAC_KIND_END
} hac_kind;

/* A timestamp counts microseconds. */
#define HAC_US_PER_SECOND INT64_C(1000000)
#define HAC_US_PER_MINUTE (60 * HAC_US_PER_SECOND)
#define HAC_US_PER_HOUR   (60 * HAC_US_PER_MINUTE)
#define HAC_US_PER_DAY    (24 * HAC_US_PER_HOUR)

#define HAC_DECIMAL_DIGITS_64  18
#define HAC_DECIMAL_DIGITS_MAX 38

typedef struct hac_value_type {
    uint8_t kind;             /* hac_kind */
    uint8_t precision, scale; /* of decimals; a timestamp with zone has precision HAC_WITH_ZONE; else 0 */
} hac_value_type;

/*
 * A timestamp without zone is what some clock shows. A timestamp with zone, "timestamptz", is an instant: its
 * values are in UTC, and it is printed with "+00". Where one meets the other, the clock shows UTC.
 */
#define HAC_WITH_ZONE   1
#define HAC_TIMESTAMPTZ ((hac_value_type){HAC_KIND_TIMESTAMP, HAC_WITH_ZONE, 0})

typedef enum hac_kind_class {
    HAC_CLASS_NONE = 0,
    HAC_CLASS_BOOL,
    HAC_CLASS_INTEGER,
    HAC_CLASS_FLOAT,
    HAC_CLASS_TIME,
    HAC_CLASS_DECIMAL,
    HAC_CLASS_TEXT /* of any length: strings and bytes, which are handled alike */
} hac_kind_class;

/* Facts of a kind. What a module does with a kind is in a table of that module. */
typedef struct hac_kind_info {
    const char *name; /* in schemas, messages and JSON */
    uint8_t class;    /* hac_kind_class */
    bool is_signed;
    uint8_t bytes; /* of a value in a table; 0: text and decimals (hac_value_size) */
    uint8_t bits;  /* of the largest magnitude of an integer, a time or a bool; 0: others */
    const char
        *arrow; /* format of the Arrow C Data Interface; a timestamp's zone and a decimal's digits follow */
    uint8_t parquet_physical; /* parquet.thrift: Type; decimals have several */
    int8_t parquet_converted; /* parquet.thrift: ConvertedType; -1: none */
} hac_kind_info;

extern const hac_kind_info hac_kinds[HAC_KIND_END];

/* Bytes of one value in a table: 1 for bool, 8 or 16 for decimals, 0 for text (it is refs) and none. */
size_t hac_value_size(hac_value_type type);

bool hac_value_type_equal(hac_value_type a, hac_value_type b);
bool hac_value_type_has_zone(hac_value_type type);
/* Whether every value of `narrow` is, unchanged, a value of `wide`: i32 and i64, u32 and i64, f32 and f64,
 * decimals of the same scale, string and bytes, timestamps with and without zone; every type and itself. */
bool hac_value_type_holds(hac_value_type wide, hac_value_type narrow);
/* The smallest type that holds both, for columns that are the same column in different files. False: none
 * does. */
bool hac_value_type_common(hac_value_type a, hac_value_type b, hac_value_type *ret);
/* "i64", "decimal" …; "none" for what is no kind. */
const char *hac_kind_name(hac_kind kind);
bool hac_kind_is_integer(hac_kind kind); /* i8 … u64 */
bool hac_kind_is_float(hac_kind kind);
bool hac_kind_is_number(hac_kind kind); /* integer, float, decimal */
bool hac_kind_is_text(hac_kind kind);

/* A type that exists, with a precision and a scale that it may have. */
bool hac_value_type_valid(hac_value_type type);

/* "i64", "decimal(15,2)" …; `ret` has room for HAC_VALUE_TYPE_NAME_MAX. Returns ret. */
#define HAC_VALUE_TYPE_NAME_MAX 24
const char *hac_value_type_name(hac_value_type type, char *ret);

/* SQL's names of types beside ours. NULL: there are no more. */
const char *hac_value_type_alias(size_t index, hac_value_type *ret);

/* The type that `text` of `bytes` names ("i64", "decimal(15,2)", "string" …). HAC_INVALID: none. */
HAC_MUST_USE hac_status hac_value_type_parse(const char *text, size_t bytes, hac_value_type *ret,
                                             hac_error *err);

#endif
