/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the columns of a jsonl query that the input's first objects do not have. Such a column is null in
 * every row, so a misspelt name would otherwise give a wrong result without a word. */
#ifndef CLIENT_JSON_FIELDS_SEEN_H
#define CLIENT_JSON_FIELDS_SEEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "expr/schema.h"

#define HAC_JSON_BEGIN_BYTES    65536 /* no more bytes of the input are looked at */
#define HAC_JSON_RECORDS_ENOUGH 100   /* fewer records of a longer input prove nothing */

/* The first bytes of a jsonl input; borrowed. */
typedef struct hac_json_begin {
    const uint8_t *data;
    size_t bytes;
    bool whole; /* the input has no more */
} hac_json_begin;

/*
 * Appends to `ret`, a text of `capacity` bytes, which of `columns` no record has, or which are null in every
 * record of a whole input of HAC_JSON_RECORDS_ENOUGH records or more; and the name that was meant, if one in
 * the data is near or is that of a member of that name within an object ("req.ip" for "ip"). Nothing is
 * appended if there is none, if there are too few records, or if a line is not plain JSON: whoever reads it
 * reports that.
 */
void hac_json_fields_note(const hac_json_begin *begin, const hac_schema *columns, char *ret, size_t capacity);

#endif
