/* SPDX-License-Identifier: Apache-2.0 */
/* The argument of a part of a list: a value to compare with, which is text until the type of the file's
 * column is known. */
#ifndef PARQUET_LIST_ARGUMENT_H
#define PARQUET_LIST_ARGUMENT_H

#include "expr/column.h"
#include "expr/nested.h"

typedef struct hac_list_argument {
    bool possible; /* the text is a value of the type; else no value is equal to it */
    union {
        uint8_t boolean;
        int64_t integer;
        uint64_t natural;
        float single;
        double real;
        __int128 wide;
    };
    uint8_t text[HAC_LIST_ARGUMENT_MAX];
    size_t bytes;
} hac_list_argument;

/* Reads `text` as a value of that type. */
void hac_list_argument_read(const char *text, hac_value_type type, hac_list_argument *ret);

/* Whether the value in that row, which is HAC_ROW_OK, equals the argument; a NaN equals a NaN. */
bool hac_list_argument_equals(const hac_list_argument *argument, const hac_column *values, size_t row);

#endif
