/* SPDX-License-Identifier: Apache-2.0 */
/* The schema of a footer: from its elements, a tree laid out depth first, to leaves. */
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
    HAC_PARQUET_LOGICAL_INTERVAL, /* reserved there; here: the converted type of that name */
    HAC_PARQUET_LOGICAL_INTEGER,
    HAC_PARQUET_LOGICAL_UNKNOWN, /* only nulls */
    HAC_PARQUET_LOGICAL_JSON,
    HAC_PARQUET_LOGICAL_BSON,
    HAC_PARQUET_LOGICAL_UUID,
    HAC_PARQUET_LOGICAL_FLOAT16,
    HAC_PARQUET_LOGICAL_VARIANT,
    HAC_PARQUET_LOGICAL_GEOMETRY,
    HAC_PARQUET_LOGICAL_GEOGRAPHY,
    HAC_PARQUET_LOGICAL_OTHER, /* one that is not known here: values are what they are stored as */
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
    int32_t type, type_length, repetition, children; /* type: -1 where it has none */
    int32_t converted;                               /* -1: none */
    int32_t scale, precision;
    uint8_t logical; /* hac_parquet_logical; of the converted type, where there is no other */
    uint8_t unit;    /* hac_parquet_unit, of times and timestamps */
    bool utc;        /* of times and timestamps */
    int8_t bits;     /* of integers */
    bool is_signed;
} hac_parquet_element;

/* Reads an element; it may set t->broken. */
void hac_parquet_element_read(hac_thrift *t, hac_parquet_element *ret);

/*
 * Fills in leaf->type, conversion, logical and why from the element; the leaf's other fields are there. What
 * the element says may be nonsense: `why` says so. false: no memory, or the arena's limit.
 */
bool hac_parquet_element_type(const hac_parquet_element *element, hac_parquet_leaf *leaf, hac_arena *arena);

/* Whether bounds of such values are ordered as hac orders them, given that the writer used the order of the
 * type. */
bool hac_parquet_element_ordered(const hac_parquet_element *element, const hac_parquet_leaf *leaf);

/* Reads the list of elements that `field` of the footer begins: file->leaves. Damaged: HAC_FAILED. */
HAC_MUST_USE hac_status hac_parquet_schema_read(hac_thrift *t, size_t n, hac_parquet_file *file,
                                                hac_arena *arena, hac_error *err);

#endif
