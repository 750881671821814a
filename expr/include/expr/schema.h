/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Schemas: lists of named, typed columns, as users write them: `a:i64,"unit price":decimal(15,2),s:string`. A
 * name of letters, digits and _ that does not start with a digit needs no quotes; any byte ≥ 0x80 counts as a
 * letter. Other names stand in double quotes, and "" stands for one double quote. A column may be named like
 * a type. Blanks between the parts are skipped.
 */
#ifndef EXPR_SCHEMA_H
#define EXPR_SCHEMA_H

#include "base/limits.h"
#include "base/text.h"
#include "base/value.h"
#include "expr/nested.h"

/* What the values of a column are. */
typedef enum hac_odd_kind { HAC_ODD_NONE = 0, HAC_ODD_NUMBERS, HAC_ODD_BOOLS, HAC_ODD_TIMES } hac_odd_kind;

/* A value for which a column is text. `among` is what most values are, HAC_ODD_NONE if most are text. */
typedef struct hac_odd_value {
    uint8_t among;
    uint8_t word;  /* 1: `text` is the whole field, without quotes, commas, blanks at its ends and controls */
    char text[22]; /* its beginning, one line of UTF-8; empty: there is no such value */
} hac_odd_value;

typedef struct hac_field {
    char name[HAC_FIELD_NAME_MAX];
    hac_value_type type;
    bool mixed;      /* of JSON: objects or arrays in some records, other values in others; all are text */
    bool member;     /* of JSON: the name is the path of a member of an object, not a name with a dot */
    bool arrays;     /* of JSON: all values are arrays, or objects that lie deep; they are text */
    bool made;       /* the name is not the source's (column_names.h) */
    bool inferred;   /* the type is that of the first records; values that it would change are errors */
    bool only_nulls; /* the source has only nulls there, whatever the type */
    uint8_t forms;   /* HAC_FORM_…: of inferred columns of text, how numbers and dates are written */
    bool empty;      /* of JSON: all values are null or objects without members */
    bool wide;       /* inferred integers, of which some are beyond 2^53 and no f64 */
    bool point; /* numbers that have a decimal point, and cannot be read with a comma; or text that may be */
    bool comma; /* numbers that have a decimal comma, and cannot be read with a point; or text that may be */
    bool infinite;      /* of inferred columns of text: all values are nan or infinite */
    uint8_t separators; /* HAC_SEPARATOR_…: in the values of inferred columns that may be numbers or dates */
    hac_odd_value odd;  /* of inferred columns of text: why they are no numbers, times or bools */
    bool lacking;       /* some file of the query has no such column, and null in its place */
    bool in_path;       /* the values are in the names of folders (base/folder_keys.h), not in the file */
    /* Lists or maps, if not HAC_NESTED_NONE: `type` is string, that of the whole column. */
    hac_nested nested;
    /* hac_list_part: `type` is that of the part, and several columns may have the name. Only the columns of
     * queries are parts. */
    uint8_t part;
    char argument[HAC_LIST_ARGUMENT_MAX]; /* of the part; "" if it takes none */
} hac_field;

typedef struct hac_schema {
    hac_field *fields; /* owned */
    size_t n_fields;
} hac_schema;

/* HAC_INVALID: the message names the fault and its character; the caller adds "--schema: ". */
HAC_MUST_USE hac_status hac_schema_parse(const char *text, hac_schema *ret, hac_error *err);
void hac_schema_clear(hac_schema *schema);
/* Appends the columns of `path`, marked as in_path. They come last, so that readers of files see the other
 * columns only, and take the places of columns of the same names. */
HAC_MUST_USE hac_status hac_schema_add_path(hac_schema *schema, const hac_schema *path, hac_error *err);
/* Appends a schema as hac_schema_parse reads it. */
void hac_schema_print(const hac_schema *schema, hac_text *ret);
/* The index of the column of that name; -1: there is none. Names are case-sensitive. */
int hac_schema_find(const hac_schema *schema, const char *name, size_t bytes);

/* The index of the name in a list. Without an exact match it is that of the only name that differs in the
 * case of ASCII letters; -1: there is none, or there are several. */
int hac_find_name(const void *list, size_t n, const char *(*name_at)(const void *list, size_t i),
                  const char *name, size_t bytes);
/* As hac_schema_find, by hac_find_name: how expressions name columns. */
int hac_schema_find_any_case(const hac_schema *schema, const char *name, size_t bytes);
/* The name of field `i`, for lists of names. */
const char *hac_field_name(const void *schema, size_t i);

#endif
