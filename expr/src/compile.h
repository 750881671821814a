/* SPDX-License-Identifier: Apache-2.0 */
/* The state of one compilation: what is written (compile.c) and what is made of it (compile_programs.c). */
#ifndef EXPR_COMPILE_H
#define EXPR_COMPILE_H

#include "check.h"
#include "expr/query.h"

#define HAC_ORDER_MAX 64

typedef struct hac_output_column {
    hac_node *node;
    const char *name; /* "" for a hidden one */
    bool named;       /* by the user */
} hac_output_column;

typedef struct hac_compiler {
    const hac_query_text *text;
    hac_error *err;
    hac_arena arena;
    hac_parser parser;
    hac_checker checker;
    hac_schema schema; /* of the source, all columns */
    hac_expr_source where_source, group_source, select_source, order_source;
    uint32_t pass;

    hac_node *where; /* NULL: none */
    hac_item keys[HAC_QUERY_KEYS_MAX], selects[HAC_PROGRAM_OUTPUTS_MAX], orders[HAC_ORDER_MAX];
    size_t n_keys, n_selects, n_orders;
    bool aggregated;

    hac_output_column outputs[HAC_PROGRAM_OUTPUTS_MAX]; /* the visible ones first */
    size_t n_outputs, n_visible;
    hac_order_item order[HAC_ORDER_MAX];
    size_t n_order;
    /* What `finals` reads: the keys, then the different aggregates. */
    hac_node *inputs[HAC_PROGRAM_INPUTS_MAX];
    size_t n_inputs;
} hac_compiler;

/* Columns, programs and the rest of the query, from all of the above. */
HAC_MUST_USE hac_status hac_compile_query(hac_compiler *compiler, hac_query *query);

#endif
