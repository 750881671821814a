/* SPDX-License-Identifier: Apache-2.0 */
/* The checker finds the columns and functions of an expression, sets the type of every node, and reports
 * errors. */
#ifndef EXPR_CHECK_H
#define EXPR_CHECK_H

#include "expr/aggregate.h"
#include "syntax/parser.h"

typedef struct hac_checker {
    hac_parser *parser; /* for memory, errors and the limit on nodes */
    const hac_schema *schema;
    /* Fields for columns that are read as strings but have another type: a name then means the converted
     * value. A field of the column's own type means the column. NULL: names mean the columns as read. */
    const hac_field *values;
    /* Parts of lists, to which the checker adds: with room for HAC_COLUMNS_MAX. They are columns behind
     * those of the schema. NULL: parts cannot be read. */
    hac_schema *parts;
    bool unnests;          /* the source takes lists apart that are text */
    bool json;             /* the source is JSON, whose objects can be read as text */
    const hac_item *scope; /* checked columns that names stand for, in place of the schema's; NULL: none */
    size_t n_scope;
    const hac_item *outputs; /* outputs whose names can be used in the expression */
    size_t n_outputs;
    bool
        outputs_last; /* a column goes before an output of the same name (group by); else after it (order by) */
} hac_checker;

/* Sets the function and the constants of a call of an aggregate; the argument and the type are not set. */
void hac_aggregate_constants_of(const hac_node *node, hac_aggregate *ret);

/* Returns the checked node, which may be another node. NULL: parser->status has the failure. */
hac_node *hac_check(hac_checker *checker, hac_node *node);

#endif
