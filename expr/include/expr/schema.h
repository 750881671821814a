/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A list of named, typed columns as users write it: `a:i64,"unit price":decimal(15,2),s:string`. A name of
 * letters, digits and _ (not starting with a digit; any byte ≥ 0x80 counts as a letter) may stand bare, every
 * other one in double quotes, "" for one inside. A type's name may be a column's. Blanks between parts are
 * skipped.
 */
#ifndef EXPR_SCHEMA_H
#define EXPR_SCHEMA_H

#include "base/text.h"
#include "base/value.h"

#define HAC_FIELD_NAME_MAX 128 /* with the terminating zero */
#define HAC_FIELDS_MAX     256

typedef struct hac_field {
    char name[HAC_FIELD_NAME_MAX];
    hac_value_type type;
} hac_field;

typedef struct hac_schema {
    hac_field *fields; /* owned */
    size_t n_fields;
} hac_schema;

/* HAC_INVALID says what is wrong and at which character ("--schema: character 12: …" is the caller's prefix).
 */
HAC_MUST_USE hac_status hac_schema_parse(const char *text, hac_schema *ret, hac_error *err);
void hac_schema_clear(hac_schema *schema);
/* Appends a schema as hac_schema_parse takes it. */
void hac_schema_print(const hac_schema *schema, hac_text *ret);
/* The index of a name, -1 if there is none. Names are compared byte by byte, case included. */
int hac_schema_find(const hac_schema *schema, const char *name, size_t bytes);

#endif
