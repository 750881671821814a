/* SPDX-License-Identifier: Apache-2.0 */
/* The state of one compilation: reading the texts (compile.c), and making the query (compile_programs.c). */
#ifndef EXPR_COMPILE_H
#define EXPR_COMPILE_H

#include "expr/query.h"
#include "language/check.h"

#define HAC_ORDER_MAX 64

typedef struct hac_output_column {
    hac_node *node;
    const char *name; /* "": a hidden column */
    bool named;       /* the user gave the name */
} hac_output_column;

typedef struct hac_compiler {
    const hac_query_text *text;
    hac_error *err;
    hac_arena arena;
    hac_parser parser;
    hac_checker checker;
    hac_schema schema; /* all columns of the source */
    hac_expr_source where_source, group_source, select_source, order_source;
    uint32_t pass;

    hac_node *where; /* NULL: none */
    /* What a name may stand for: the keys, then the items of select. */
    hac_item names[HAC_QUERY_KEYS_MAX + HAC_PROGRAM_OUTPUTS_MAX];
    hac_item keys[HAC_QUERY_KEYS_MAX], selects[HAC_PROGRAM_OUTPUTS_MAX], orders[HAC_ORDER_MAX];
    size_t n_keys, n_selects, n_orders;
    bool aggregated;

    hac_output_column outputs[HAC_PROGRAM_OUTPUTS_MAX]; /* the visible ones first */
    size_t n_outputs, n_visible;
    size_t left_out; /* columns that `*` leaves out */
    hac_order_item order[HAC_ORDER_MAX];
    size_t n_order;
    /* The inputs of `finals`: the keys, then the distinct aggregates. */
    hac_node *inputs[HAC_PROGRAM_INPUTS_MAX];
    size_t n_inputs;
} hac_compiler;

/* Makes the columns, the programs and the rest of the query. */
HAC_MUST_USE hac_status hac_compile_query(hac_compiler *compiler, hac_query *query);

#endif
