/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Columns with a list or a map in each row (Parquet files have them). Such a column is read as text, as JSON:
 * `[1,null,3]`, `{"a":1}`. A query can also read a *part* of it: a column of its own, whose values the reader
 * takes out of each row's list.
 */
#ifndef EXPR_NESTED_H
#define EXPR_NESTED_H

#include "base/value.h"

typedef enum hac_nesting {
    HAC_NESTED_NONE = 0, /* one value in each row */
    HAC_NESTED_LIST,
    HAC_NESTED_MAP
} hac_nesting;

typedef struct hac_nested {
    uint8_t kind;           /* hac_nesting */
    hac_value_type key;     /* of a map */
    hac_value_type element; /* of a list, or of a map's values */
} hac_nested;

/* What a query reads of such a column. The numbers are part of compiled queries. */
typedef enum hac_list_part {
    HAC_LIST_WHOLE = 0, /* all of it, as JSON; the only part of a column that is not nested */
    HAC_LIST_LENGTH,    /* i64: the number of elements, nulls included */
    HAC_LIST_CONTAINS,  /* bool: some element, or some key of a map, is the argument */
    HAC_LIST_ELEMENT,   /* the element with that number, -1 is the last; of a map, the value of that key */
    HAC_LIST_UNNEST, /* each element in a row of its own: the source has as many rows as there are elements */
    /* Not of a list: the value of a field of csv that is also read as text (hac_query_text.keeps_fields) */
    HAC_LIST_VALUE,
    HAC_LIST_PART_END
} hac_list_part;

/* The longest argument of a part, which is text in any case, and the first number that an element counted
 * from the end may have. */
#define HAC_LIST_ARGUMENT_MAX 128
#define HAC_LIST_LAST_MAX     1024

/* "list(i64)", "map(string,f64)"; `ret` has room for HAC_NESTED_NAME_MAX. Returns ret. */
#define HAC_NESTED_NAME_MAX (2 * HAC_VALUE_TYPE_NAME_MAX + 8)
const char *hac_nested_name(hac_nested nested, char *ret);

#endif
