/* SPDX-License-Identifier: Apache-2.0 */
/* One piece while it is checked. */
#ifndef OPSPLIT_PIECES_H
#define OPSPLIT_PIECES_H

#include "check.h"

/* What a letter of the table stands for in this piece. */
typedef struct hac_letter {
    bool known;
    int dimension;
    const char *argument; /* that said so … */
    bool columns;         /* … by its columns */
    int vector;           /* … and the vector; -1: an expression or a number */
} hac_letter;

typedef struct hac_piece_check {
    hac_logic_checker *c;
    const hac_yaml_node *map;
    hac_logic_piece *piece;
    const hac_yaml_node *nodes[HAC_ARGUMENTS_MAX]; /* of the arguments */
    hac_shape shape;                               /* of its expression over rows; NONE: it has none */
    hac_letter letters[26];
    hac_vector_state *before; /* what vectors had before the results were written */
    hac_kind convert_to;      /* of the vector that the expression's result goes to; NONE: there is none */
} hac_piece_check;

/* Rows and columns by their letters. */
hac_status hac_piece_shapes(hac_piece_check *p);
/* Types of the results, and that they are written. */
hac_status hac_piece_write(hac_piece_check *p);

/* What a result gets: kind by its rule. NONE: it cannot be told. */
hac_kind hac_piece_result_kind(const hac_piece_check *p, const hac_logic_argument *result, size_t i);

#endif
