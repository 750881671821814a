/* SPDX-License-Identifier: Apache-2.0 */
/* One element of the schema: which type its values get, and how they are converted. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "names.h"
#include "schema.h"

#define NAME_CAPACITY 96

/* ---- reading --------------------------------------------------------------------------------------------
 */

/* Reads a union of empty structs: returns the number of the member that is set, 0 if none. */
static uint8_t read_empty_union(hac_thrift *t)
{
    hac_thrift_field field = {0, 0};
    uint8_t ret = 0;
    while (hac_thrift_next(t, &field)) {
        ret = field.id > 0 && field.id < UINT8_MAX ? (uint8_t)field.id : UINT8_MAX;
        hac_thrift_skip(t, &field);
    }
    return ret;
}

static void read_decimal(hac_thrift *t, hac_parquet_element *ret)
{
    hac_thrift_field field = {0, 0};
    ret->scale = ret->precision = 0;
    while (hac_thrift_next(t, &field)) {
        if (field.id == 1)
            hac_thrift_i32(t, &field, &ret->scale);
        else if (field.id == 2)
            hac_thrift_i32(t, &field, &ret->precision);
        else
            hac_thrift_skip(t, &field);
    }
}

/* TimeType and TimestampType. */
static void read_time(hac_thrift *t, hac_parquet_element *ret)
{
    hac_thrift_field field = {0, 0};
    while (hac_thrift_next(t, &field)) {
        if (field.id == 1)
            hac_thrift_bool(t, &field, &ret->utc);
        else if (field.id == 2 && field.type == HAC_THRIFT_STRUCT)
            ret->unit = read_empty_union(t);
        else
            hac_thrift_skip(t, &field);
    }
}

static void read_integer(hac_thrift *t, hac_parquet_element *ret)
{
    hac_thrift_field field = {0, 0};
    while (hac_thrift_next(t, &field)) {
        if (field.id == 1)
            hac_thrift_i8(t, &field, &ret->bits);
        else if (field.id == 2)
            hac_thrift_bool(t, &field, &ret->is_signed);
        else
            hac_thrift_skip(t, &field);
    }
}

static void read_logical(hac_thrift *t, hac_parquet_element *ret)
{
    hac_thrift_field field = {0, 0};
    while (hac_thrift_next(t, &field)) {
        bool known = field.id > HAC_PARQUET_LOGICAL_NONE && field.id < HAC_PARQUET_LOGICAL_OTHER &&
                     field.id != HAC_PARQUET_LOGICAL_INTERVAL;
        ret->logical = known ? (uint8_t)field.id : HAC_PARQUET_LOGICAL_OTHER;
        if (!hac_thrift_struct(t, &field))
            continue;
        if (field.id == HAC_PARQUET_LOGICAL_DECIMAL)
            read_decimal(t, ret);
        else if (field.id == HAC_PARQUET_LOGICAL_TIME || field.id == HAC_PARQUET_LOGICAL_TIMESTAMP)
            read_time(t, ret);
        else if (field.id == HAC_PARQUET_LOGICAL_INTEGER)
            read_integer(t, ret);
        else
            hac_thrift_skip(t, &field);
    }
}

/* ConvertedType, the older annotation, in terms of the newer. */
static const struct {
    uint8_t logical, unit;
    int8_t bits;
    bool is_signed;
} converted_types[] = {
    {HAC_PARQUET_LOGICAL_STRING, 0, 0, false},
    {HAC_PARQUET_LOGICAL_MAP, 0, 0, false},
    {HAC_PARQUET_LOGICAL_MAP, 0, 0, false}, /* MAP_KEY_VALUE */
    {HAC_PARQUET_LOGICAL_LIST, 0, 0, false},
    {HAC_PARQUET_LOGICAL_ENUM, 0, 0, false},
    {HAC_PARQUET_LOGICAL_DECIMAL, 0, 0, false},
    {HAC_PARQUET_LOGICAL_DATE, 0, 0, false},
    {HAC_PARQUET_LOGICAL_TIME, HAC_PARQUET_UNIT_MILLIS, 0, false},
    {HAC_PARQUET_LOGICAL_TIME, HAC_PARQUET_UNIT_MICROS, 0, false},
    {HAC_PARQUET_LOGICAL_TIMESTAMP, HAC_PARQUET_UNIT_MILLIS, 0, false},
    {HAC_PARQUET_LOGICAL_TIMESTAMP, HAC_PARQUET_UNIT_MICROS, 0, false},
    {HAC_PARQUET_LOGICAL_INTEGER, 0, 8, false},
    {HAC_PARQUET_LOGICAL_INTEGER, 0, 16, false},
    {HAC_PARQUET_LOGICAL_INTEGER, 0, 32, false},
    {HAC_PARQUET_LOGICAL_INTEGER, 0, 64, false},
    {HAC_PARQUET_LOGICAL_INTEGER, 0, 8, true},
    {HAC_PARQUET_LOGICAL_INTEGER, 0, 16, true},
    {HAC_PARQUET_LOGICAL_INTEGER, 0, 32, true},
    {HAC_PARQUET_LOGICAL_INTEGER, 0, 64, true},
    {HAC_PARQUET_LOGICAL_JSON, 0, 0, false},
    {HAC_PARQUET_LOGICAL_BSON, 0, 0, false},
    {HAC_PARQUET_LOGICAL_INTERVAL, 0, 0, false},
};

#define N_CONVERTED_TYPES ((int32_t)(sizeof converted_types / sizeof *converted_types))

/* Derives the logical type if it is absent or unknown here. */
static void take_converted(hac_parquet_element *element)
{
    bool unknown =
        element->logical == HAC_PARQUET_LOGICAL_NONE || element->logical == HAC_PARQUET_LOGICAL_OTHER;
    if (!unknown || element->converted == -1)
        return;
    if (element->converted < 0 || element->converted >= N_CONVERTED_TYPES) {
        element->logical = HAC_PARQUET_LOGICAL_OTHER;
        return;
    }
    element->logical = converted_types[element->converted].logical;
    element->unit = converted_types[element->converted].unit;
    element->bits = converted_types[element->converted].bits;
    element->is_signed = converted_types[element->converted].is_signed;
    element->utc = true;
    element->converted_only = true;
}

void hac_parquet_element_read(hac_thrift *t, hac_parquet_element *ret)
{
    *ret = (hac_parquet_element){.type = -1, .converted = -1};
    hac_thrift_field field = {0, 0};
    int32_t scale = 0, precision = 0;
    while (hac_thrift_next(t, &field)) {
        int32_t *numbers[] = {NULL,      &ret->type,     &ret->type_length, &ret->repetition,
                              NULL,      &ret->children, &ret->converted,   &scale,
                              &precision};
        if (field.id == 4)
            hac_thrift_binary(t, &field, &ret->name);
        else if (field.id >= 1 && field.id <= 8)
            hac_thrift_i32(t, &field, numbers[field.id]);
        else if (field.id == 10 && field.type == HAC_THRIFT_STRUCT)
            read_logical(t, ret);
        else
            hac_thrift_skip(t, &field);
    }
    if (ret->name.data == NULL)
        hac_thrift_break(t, "it has no name");
    if (ret->logical != HAC_PARQUET_LOGICAL_DECIMAL) {
        ret->scale = scale;
        ret->precision = precision;
    }
    take_converted(ret);
}

/* ---- the type -------------------------------------------------------------------------------------------
 */

static const char *const logical_names[] = {
    [HAC_PARQUET_LOGICAL_STRING] = "STRING",       [HAC_PARQUET_LOGICAL_MAP] = "MAP",
    [HAC_PARQUET_LOGICAL_LIST] = "LIST",           [HAC_PARQUET_LOGICAL_ENUM] = "ENUM",
    [HAC_PARQUET_LOGICAL_DATE] = "DATE",           [HAC_PARQUET_LOGICAL_INTERVAL] = "INTERVAL",
    [HAC_PARQUET_LOGICAL_UNKNOWN] = "UNKNOWN",     [HAC_PARQUET_LOGICAL_JSON] = "JSON",
    [HAC_PARQUET_LOGICAL_BSON] = "BSON",           [HAC_PARQUET_LOGICAL_UUID] = "UUID",
    [HAC_PARQUET_LOGICAL_FLOAT16] = "FLOAT16",     [HAC_PARQUET_LOGICAL_VARIANT] = "VARIANT",
    [HAC_PARQUET_LOGICAL_GEOMETRY] = "GEOMETRY",   [HAC_PARQUET_LOGICAL_GEOGRAPHY] = "GEOGRAPHY",
    [HAC_PARQUET_LOGICAL_OTHER] = "not known here"};

static void name_annotation(const hac_parquet_element *e, char ret[NAME_CAPACITY])
{
    static const char *const units[] = {"?", "MILLIS", "MICROS", "NANOS"};
    const char *unit = units[e->unit <= HAC_PARQUET_UNIT_NANOS ? e->unit : 0];
    const char *zone = e->utc ? "UTC" : "local";
    switch (e->logical) {
    case HAC_PARQUET_LOGICAL_DECIMAL:
        snprintf(ret, NAME_CAPACITY, "DECIMAL(%d,%d)", (int)e->precision, (int)e->scale);
        return;
    case HAC_PARQUET_LOGICAL_TIME:
    case HAC_PARQUET_LOGICAL_TIMESTAMP:
        snprintf(ret, NAME_CAPACITY, "%s(%s,%s)",
                 e->logical == HAC_PARQUET_LOGICAL_TIME ? "TIME" : "TIMESTAMP", unit, zone);
        return;
    case HAC_PARQUET_LOGICAL_INTEGER:
        snprintf(ret, NAME_CAPACITY, "INTEGER(%d,%s)", e->bits, e->is_signed ? "signed" : "unsigned");
        return;
    default:
        snprintf(ret, NAME_CAPACITY, "%s", logical_names[e->logical]);
    }
}

static void set_type(hac_parquet_leaf *leaf, hac_kind kind, hac_parquet_conversion conversion)
{
    leaf->type = (hac_value_type){.kind = (uint8_t)kind};
    leaf->conversion = (uint8_t)conversion;
}

/* For values without an annotation, or with one that says nothing about the values. */
static bool take_physical(hac_parquet_leaf *leaf)
{
    switch (leaf->physical) {
    case HAC_PARQUET_BOOLEAN:
        set_type(leaf, HAC_KIND_BOOL, HAC_PARQUET_PLAIN);
        return true;
    case HAC_PARQUET_INT32:
        set_type(leaf, HAC_KIND_I32, HAC_PARQUET_PLAIN);
        return true;
    case HAC_PARQUET_INT64:
        set_type(leaf, HAC_KIND_I64, HAC_PARQUET_PLAIN);
        return true;
    case HAC_PARQUET_INT96:
        set_type(leaf, HAC_KIND_TIMESTAMP, HAC_PARQUET_INT96_TIME);
        return true;
    case HAC_PARQUET_FLOAT:
        set_type(leaf, HAC_KIND_F32, HAC_PARQUET_PLAIN);
        return true;
    case HAC_PARQUET_DOUBLE:
        set_type(leaf, HAC_KIND_F64, HAC_PARQUET_PLAIN);
        return true;
    default:
        set_type(leaf, HAC_KIND_BYTES, HAC_PARQUET_PLAIN);
        return true;
    }
}

static bool take_integer(const hac_parquet_element *e, hac_parquet_leaf *leaf)
{
    static const hac_kind kinds[2][4] = {{HAC_KIND_U8, HAC_KIND_U16, HAC_KIND_U32, HAC_KIND_U64},
                                         {HAC_KIND_I8, HAC_KIND_I16, HAC_KIND_I32, HAC_KIND_I64}};
    int size = e->bits == 8 ? 0 : e->bits == 16 ? 1 : e->bits == 32 ? 2 : e->bits == 64 ? 3 : -1;
    if (size < 0 || leaf->physical != (size == 3 ? HAC_PARQUET_INT64 : HAC_PARQUET_INT32))
        return false;
    set_type(leaf, kinds[e->is_signed][size], e->is_signed ? HAC_PARQUET_PLAIN : HAC_PARQUET_UNSIGNED);
    leaf->small_bits = !e->is_signed && e->bits < 32 ? (uint8_t)e->bits : 0;
    return true;
}

static bool take_time(const hac_parquet_element *e, hac_parquet_leaf *leaf)
{
    if (e->unit == HAC_PARQUET_UNIT_NONE || e->unit > HAC_PARQUET_UNIT_NANOS)
        return false;
    return leaf->physical == (e->unit == HAC_PARQUET_UNIT_MILLIS ? HAC_PARQUET_INT32 : HAC_PARQUET_INT64) &&
           take_physical(leaf);
}

static bool take_timestamp(const hac_parquet_element *e, hac_parquet_leaf *leaf)
{
    static const hac_parquet_conversion conversions[] = {HAC_PARQUET_PLAIN, HAC_PARQUET_MILLIS,
                                                         HAC_PARQUET_PLAIN, HAC_PARQUET_NANOS};
    if (e->unit == HAC_PARQUET_UNIT_NONE || e->unit > HAC_PARQUET_UNIT_NANOS ||
        leaf->physical != HAC_PARQUET_INT64)
        return false;
    set_type(leaf, HAC_KIND_TIMESTAMP, conversions[e->unit]);
    if (e->utc && !e->converted_only) /* writers of the older types also mean local times, as Arrow has it */
        leaf->type = HAC_TIMESTAMPTZ;
    return true;
}

/* Digits that every value of the physical type fits; hac's own limit for types of any length. */
static int32_t decimal_digits(uint8_t physical)
{
    switch (physical) {
    case HAC_PARQUET_INT32:
        return 9;
    case HAC_PARQUET_INT64:
        return HAC_DECIMAL_DIGITS_64;
    case HAC_PARQUET_BYTE_ARRAY:
    case HAC_PARQUET_FIXED:
        return HAC_DECIMAL_DIGITS_MAX;
    default:
        return 0;
    }
}

static bool take_decimal(const hac_parquet_element *e, hac_parquet_leaf *leaf)
{
    if (e->precision < 1 || e->scale < 0 || e->scale > e->precision ||
        e->precision > decimal_digits(leaf->physical))
        return false;
    bool bytes = leaf->physical == HAC_PARQUET_BYTE_ARRAY || leaf->physical == HAC_PARQUET_FIXED;
    set_type(leaf, HAC_KIND_DECIMAL, bytes ? HAC_PARQUET_BIG_ENDIAN : HAC_PARQUET_PLAIN);
    leaf->type.precision = (uint8_t)e->precision;
    leaf->type.scale = (uint8_t)e->scale;
    return true;
}

/* Checks that the element is stored as that physical type, with that length (0: any). */
static bool take_as(hac_parquet_leaf *leaf, hac_parquet_physical physical, uint32_t length, hac_kind kind,
                    hac_parquet_conversion conversion)
{
    if (leaf->physical != physical || (length != 0 && leaf->type_length != length))
        return false;
    set_type(leaf, kind, conversion);
    return true;
}

/* False: values cannot be stored like this. */
static bool take_type(const hac_parquet_element *e, hac_parquet_leaf *leaf)
{
    switch (e->logical) {
    case HAC_PARQUET_LOGICAL_STRING:
    case HAC_PARQUET_LOGICAL_ENUM:
    case HAC_PARQUET_LOGICAL_JSON:
        return take_as(leaf, HAC_PARQUET_BYTE_ARRAY, 0, HAC_KIND_STRING, HAC_PARQUET_PLAIN);
    case HAC_PARQUET_LOGICAL_BSON:
    case HAC_PARQUET_LOGICAL_GEOMETRY:
    case HAC_PARQUET_LOGICAL_GEOGRAPHY:
        return take_as(leaf, HAC_PARQUET_BYTE_ARRAY, 0, HAC_KIND_BYTES, HAC_PARQUET_PLAIN);
    case HAC_PARQUET_LOGICAL_UUID:
        return take_as(leaf, HAC_PARQUET_FIXED, 16, HAC_KIND_BYTES, HAC_PARQUET_PLAIN);
    case HAC_PARQUET_LOGICAL_INTERVAL:
        return take_as(leaf, HAC_PARQUET_FIXED, 12, HAC_KIND_BYTES, HAC_PARQUET_PLAIN);
    case HAC_PARQUET_LOGICAL_FLOAT16:
        return take_as(leaf, HAC_PARQUET_FIXED, 2, HAC_KIND_F32, HAC_PARQUET_HALF);
    case HAC_PARQUET_LOGICAL_DATE:
        return take_as(leaf, HAC_PARQUET_INT32, 0, HAC_KIND_DATE, HAC_PARQUET_PLAIN);
    case HAC_PARQUET_LOGICAL_INTEGER:
        return take_integer(e, leaf);
    case HAC_PARQUET_LOGICAL_TIME:
        return take_time(e, leaf);
    case HAC_PARQUET_LOGICAL_TIMESTAMP:
        return take_timestamp(e, leaf);
    case HAC_PARQUET_LOGICAL_DECIMAL:
        return take_decimal(e, leaf);
    case HAC_PARQUET_LOGICAL_MAP:
    case HAC_PARQUET_LOGICAL_LIST:
    case HAC_PARQUET_LOGICAL_VARIANT:
        return false; /* these are groups */
    default:
        return take_physical(leaf);
    }
}

/* Formats a text in the arena; NULL: no memory. */
static HAC_PRINTF(2, 3) const char *keep_text(hac_arena *arena, const char *fmt, ...)
{
    char text[2 * NAME_CAPACITY];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    char *ret = hac_arena_alloc(arena, strlen(text) + 1);
    if (ret != NULL)
        strcpy(ret, text);
    return ret;
}

bool hac_parquet_element_type(const hac_parquet_element *element, hac_parquet_leaf *leaf, hac_arena *arena)
{
    char annotation[NAME_CAPACITY];
    if (element->logical != HAC_PARQUET_LOGICAL_NONE) {
        name_annotation(element, annotation);
        leaf->logical = keep_text(arena, "%s", annotation);
        if (leaf->logical == NULL)
            return false;
    }
    if (leaf->max_repetition > 1) {
        leaf->why = "it is in a list of lists";
    } else if (leaf->physical == HAC_PARQUET_FIXED && leaf->type_length == 0) {
        leaf->why = "it is FIXED_LEN_BYTE_ARRAY without a length";
    } else if (element->logical == HAC_PARQUET_LOGICAL_DECIMAL &&
               element->precision > HAC_DECIMAL_DIGITS_MAX) {
        leaf->why = "it is a decimal of more than 38 digits";
    } else if (!take_type(element, leaf)) {
        leaf->type = (hac_value_type){.kind = HAC_KIND_NONE};
        leaf->why = keep_text(arena, "it is annotated %s, which %s cannot be", annotation,
                              hac_parquet_physical_name(leaf->physical));
        return leaf->why != NULL;
    }
    if (leaf->max_repetition == 0) {
        leaf->only_nulls = leaf->why == NULL && element->logical == HAC_PARQUET_LOGICAL_UNKNOWN;
    } else if (leaf->why == NULL) {
        leaf->nested = (hac_nested){.kind = HAC_NESTED_LIST, .element = leaf->type};
        leaf->type = (hac_value_type){.kind = HAC_KIND_STRING};
    }
    return true;
}

bool hac_parquet_element_ordered(const hac_parquet_element *element, const hac_parquet_leaf *leaf)
{
    switch (element->logical) {
    case HAC_PARQUET_LOGICAL_INTERVAL:
    case HAC_PARQUET_LOGICAL_UNKNOWN:
    case HAC_PARQUET_LOGICAL_GEOMETRY:
    case HAC_PARQUET_LOGICAL_GEOGRAPHY:
    case HAC_PARQUET_LOGICAL_OTHER:
        return false;
    default:
        return leaf->type.kind != HAC_KIND_NONE;
    }
}
