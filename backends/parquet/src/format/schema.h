/* SPDX-License-Identifier: Apache-2.0 */
/* The schema of a footer: turns its elements, a tree in depth-first order, into leaves. */
#ifndef PARQUET_SCHEMA_H
#define PARQUET_SCHEMA_H

#include "base/arena.h"
#include "parquet/file.h"
#include "thrift.h"

/* The numbers are those of LogicalType in parquet.thrift. */
typedef enum hac_parquet_logical {
    HAC_PARQUET_LOGICAL_NONE = 0,
    HAC_PARQUET_LOGICAL_STRING,
    HAC_PARQUET_LOGICAL_MAP,
    HAC_PARQUET_LOGICAL_LIST,
    HAC_PARQUET_LOGICAL_ENUM,
    HAC_PARQUET_LOGICAL_DECIMAL,
    HAC_PARQUET_LOGICAL_DATE,
    HAC_PARQUET_LOGICAL_TIME,
    HAC_PARQUET_LOGICAL_TIMESTAMP,
    /* reserved in parquet.thrift; used here for the converted type of that name */
    HAC_PARQUET_LOGICAL_INTERVAL,
    HAC_PARQUET_LOGICAL_INTEGER,
    HAC_PARQUET_LOGICAL_UNKNOWN, /* only nulls */
    HAC_PARQUET_LOGICAL_JSON,
    HAC_PARQUET_LOGICAL_BSON,
    HAC_PARQUET_LOGICAL_UUID,
    HAC_PARQUET_LOGICAL_FLOAT16,
    HAC_PARQUET_LOGICAL_VARIANT,
    HAC_PARQUET_LOGICAL_GEOMETRY,
    HAC_PARQUET_LOGICAL_GEOGRAPHY,
    HAC_PARQUET_LOGICAL_OTHER, /* unknown here: values have their stored type */
} hac_parquet_logical;

typedef enum hac_parquet_unit {
    HAC_PARQUET_UNIT_NONE = 0,
    HAC_PARQUET_UNIT_MILLIS,
    HAC_PARQUET_UNIT_MICROS,
    HAC_PARQUET_UNIT_NANOS,
} hac_parquet_unit;

/* A SchemaElement. */
typedef struct hac_parquet_element {
    hac_parquet_slice name;
    int32_t type, type_length, repetition, children; /* type: -1 if it has none */
    int32_t converted;                               /* -1: none */
    int32_t scale, precision;
    uint8_t logical;     /* hac_parquet_logical; derived from the converted type if there is no logical one */
    uint8_t unit;        /* hac_parquet_unit, of times and timestamps */
    bool utc;            /* of times and timestamps */
    bool converted_only; /* there is no LogicalType, only the older ConvertedType */
    int8_t bits;         /* of integers */
    bool is_signed;
} hac_parquet_element;

/* Reads an element; may set t->broken. */
void hac_parquet_element_read(hac_thrift *t, hac_parquet_element *ret);

/* Sets leaf->type, nested (as a list), conversion, logical and why from the element; the caller has set the
 * other fields. The element may be invalid: then `why` is set. False: no memory, or the arena's limit. */
bool hac_parquet_element_type(const hac_parquet_element *element, hac_parquet_leaf *leaf, hac_arena *arena);

/* Whether the writer's order of such values, the order of the type, is also hac's order. */
bool hac_parquet_element_ordered(const hac_parquet_element *element, const hac_parquet_leaf *leaf);

/* Reads the list of elements at `field` of the footer into file->leaves. HAC_FAILED: damaged. */
HAC_MUST_USE hac_status hac_parquet_schema_read(hac_thrift *t, size_t n, hac_parquet_file *file,
                                                hac_arena *arena, hac_error *err);

#endif
