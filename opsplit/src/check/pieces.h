/* SPDX-License-Identifier: Apache-2.0 */
/* One piece while it is checked. */
#ifndef OPSPLIT_PIECES_H
#define OPSPLIT_PIECES_H

#include "check.h"

/* The number that a letter of the catalogue stands for in this piece. */
typedef struct hac_letter {
    bool known;
    int dimension;
    const char *argument; /* the argument that gives the number */
    bool columns;         /* the number is that of its columns */
    int vector;           /* the argument's vector; -1: an expression or a number */
} hac_letter;

typedef struct hac_piece_check {
    hac_logic_checker *c;
    const hac_yaml_node *map;
    hac_logic_piece *piece;
    const hac_yaml_node *nodes[HAC_ARGUMENTS_MAX]; /* the YAML nodes of the arguments */
    hac_shape shape; /* of the piece's expression over rows; NONE: it has none */
    hac_letter letters[26];
    hac_vector_state *before; /* the state of vectors before the results are written */
    hac_kind convert_to; /* the kind of the vector that the expression is written into; NONE: there is none */
} hac_piece_check;

/* Finds the number of each letter, and checks rows and columns. */
hac_status hac_piece_shapes(hac_piece_check *p);
/* Gives the results their types and writes them. */
hac_status hac_piece_write(hac_piece_check *p);

/* The kind of a result by its rule; NONE: unknown. */
hac_kind hac_piece_result_kind(const hac_piece_check *p, const hac_logic_argument *result, size_t i);

#endif
