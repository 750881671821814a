/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that are other names of an expression. The parser writes the expression in their place. */
#ifndef EXPR_OTHER_NAMES_H
#define EXPR_OTHER_NAMES_H

#include "tree.h"

typedef struct hac_other_name {
    const char *name;       /* in lower case */
    unsigned n_args;        /* they are called a, b, c */
    const char *expression; /* names a, b, c stand for the arguments */
    const char *aggregate;  /* the aggregate that the expression calls; NULL: none */
} hac_other_name;

/* All names, in the order of the reference page. */
const hac_other_name *hac_other_names(size_t *ret_n);
/* NULL: no such name takes that many arguments. */
const hac_other_name *hac_other_name_find(const char *name, size_t n_args);

/* The expression for `extract(unit from a)`, in which `a` stands for the argument. Case plays no
 * part. NULL: there is no such unit. */
const char *hac_extracted_unit(const char *unit, size_t bytes);

/* The call of the function below `node`, which is an expression before its arguments are put into it. NULL:
 * there is none. */
hac_node *hac_find_call(hac_node *node, const char *name);

/* Puts the arguments into the place of the names a, b, c. Every node below `node` whose source is `from` gets
 * the source and the offset of `call`. Returns the node, or the argument that takes its place. */
hac_node *hac_put_arguments(hac_node *node, const hac_expr_source *from, const hac_node *call);

#endif
