/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tree of an expression. Its nodes are literals, columns, calls and casts. Operators are calls. The
 * parser writes abbreviations out: `a between b and c` becomes a >= b and a <= c, which share the node a, and
 * `case` becomes nested ifs. So the tree is really a graph without cycles. The checker fills in the types.
 */
#ifndef EXPR_TREE_H
#define EXPR_TREE_H

#include "base/arena.h"
#include "expr/program.h"
#include "expr/schema.h"
#include "lexer.h"

#define HAC_NODES_MAX      8192 /* in all texts of a query */
#define HAC_NODE_DEPTH_MAX 512
#define HAC_NODE_ARGS_MAX  2048

typedef struct hac_function hac_function;

typedef enum hac_node_kind {
    HAC_NODE_LITERAL = 1,
    HAC_NODE_COLUMN,
    HAC_NODE_CALL,
    HAC_NODE_CAST,
    HAC_NODE_STAR,   /* the * of count(*) and of --select */
    HAC_NODE_COLUMNS /* columns('pattern'), columns(*): the item stands for one item a column */
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
    bool try_cast; /* HAC_NODE_CAST: null where the cast fails */
    bool distinct; /* HAC_NODE_CALL: count(distinct x) */
    bool filtered; /* HAC_NODE_CALL: the last argument is the c of `filter (where c)`, until it is checked */
    bool quoted;   /* HAC_NODE_COLUMN: the name was in double quotes */
    uint16_t depth;
    uint32_t at; /* byte offset in the source, for messages */
    const hac_expr_source *source;
    /* HAC_NODE_CALL: in lower case; HAC_NODE_COLUMN: without quotes; HAC_NODE_COLUMNS: the pattern, NULL: all
     * columns. */
    const char *name;
    size_t n_name; /* 0: a part of a list (parts.h), whose name is only for messages */
    hac_node **args;
    size_t n_args;
    hac_literal literal;
    /* The parser sets it for literals and casts. HAC_KIND_NONE: a null without type. */
    hac_value_type type;

    /* Set by the checker: */
    bool checked;
    bool constant;   /* has no column and no aggregate */
    bool aggregates; /* is or contains an aggregate */
    uint32_t hash;   /* of everything that hac_node_equal compares */
    int column;      /* HAC_NODE_COLUMN: index in the schema */
    const hac_function *function;
    hac_value_type *wants; /* the type that each argument is converted to; HAC_KIND_NONE: not converted */

    hac_node *same; /* an equal node, once one was found */

    /* The last pass over the graph that visited the node, and its value there. Constant folding has passes of
     * its own, which run inside other passes. */
    uint32_t pass, fold_pass;
    hac_value_id value, fold_value;
};

/* `a as b`, `a desc` */
typedef struct hac_item hac_item;
struct hac_item {
    hac_node *node;
    const char *name; /* NULL: no `as` */
    bool descending, nulls_first;
    const char **excluded; /* of `* exclude (a, b)` */
    size_t n_excluded;
    /* of `* replace (f(a) as a)`: each has the name of a column; and of `* rename (a as b)` */
    hac_item *replaced;
    size_t n_replaced;
    const char *renames; /* of `* rename (a as b)`: a; else NULL */
    size_t first, end;   /* offsets of the expression in the text */
    const hac_expr_source *source;
};

/* Whether two checked nodes have the same structure and meaning. Equal nodes are remembered, so comparing
 * graphs takes time linear in their nodes. */
bool hac_node_equal(hac_node *a, hac_node *b);
bool hac_node_is_literal(const hac_node *node);
/* Whether the node is a text literal. */
bool hac_node_is_text(const hac_node *node);

#endif
