/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tree of an expression. The parser makes literals, columns, calls and casts; operators are calls, and
 * what is short for something is written out: `a between b and c` is a >= b and a <= c with one and the same
 * node a, `case` is nested ifs. So a tree is a graph without cycles. The checker fills in the types.
 */
#ifndef EXPR_TREE_H
#define EXPR_TREE_H

#include "base/arena.h"
#include "expr/program.h"
#include "expr/schema.h"
#include "lexer.h"

#define HAC_NODES_MAX      8192 /* of all texts of a query together */
#define HAC_NODE_DEPTH_MAX 512
#define HAC_NODE_ARGS_MAX  2048

typedef struct hac_function hac_function;

typedef enum hac_node_kind {
    HAC_NODE_LITERAL = 1,
    HAC_NODE_COLUMN,
    HAC_NODE_CALL,
    HAC_NODE_CAST,
    HAC_NODE_STAR /* of count(*) and --select */
} hac_node_kind;

typedef struct hac_literal {
    bool null;
    __int128 integer; /* bool, integers, decimals, dates, timestamps */
    double real;      /* floats */
    const char *bytes;
    size_t n_bytes; /* strings */
} hac_literal;

typedef struct hac_node hac_node;
struct hac_node {
    uint8_t kind;  /* hac_node_kind */
    bool try_cast; /* HAC_NODE_CAST: null where it fails */
    bool distinct; /* an aggregate's */
    bool quoted;   /* HAC_NODE_COLUMN: its name was in double quotes */
    uint16_t depth;
    uint32_t at; /* byte offset in the source, for messages */
    const hac_expr_source *source;
    const char *name; /* HAC_NODE_CALL: in lower case; HAC_NODE_COLUMN: without quotes */
    size_t n_name;
    hac_node **args;
    size_t n_args;
    hac_literal literal;
    /* A literal's or cast's from the start; HAC_KIND_NONE: a null without a type. */
    hac_value_type type;

    /* By the checker. */
    bool checked;
    bool constant;   /* no column and no aggregate in it */
    bool aggregates; /* it is an aggregate, or has one in it */
    uint32_t hash;   /* of what hac_node_equal compares */
    int column;      /* in the schema */
    const hac_function *function;
    hac_value_type *wants; /* what each argument is converted to; HAC_KIND_NONE: nothing */

    hac_node *same; /* a node that this one was found to equal */

    /* For passes over a graph: the number of the pass that has been here last, and what it found; constants
     * are worked out in passes of their own, in the midst of others. */
    uint32_t pass, fold_pass;
    hac_value_id value, fold_value;
};

/* `a as b`, `a desc` */
typedef struct hac_item {
    hac_node *node;
    const char *name; /* NULL: none was given */
    bool descending;
    size_t first, end; /* of the expression's text */
    const hac_expr_source *source;
} hac_item;

/* Equal in structure and meaning; both checked. Graphs are compared in the time of their nodes: what was
 * found equal is remembered. */
bool hac_node_equal(hac_node *a, hac_node *b);
bool hac_node_is_literal(const hac_node *node);
/* A literal that is text. */
bool hac_node_is_text(const hac_node *node);

#endif
