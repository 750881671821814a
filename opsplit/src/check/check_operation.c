/* SPDX-License-Identifier: Apache-2.0 */
/* Map interfaces: whether an OP has vectors that its `operation` walks. */
#include "check.h"

typedef bool piece_test(const hac_logic *logic, const hac_logic_piece *piece);

static bool any_vector(const hac_logic *logic, const hac_logic_piece *piece,
                       bool (*test)(const hac_logic *logic, const hac_logic_vector *v))
{
    for (size_t i = 0; i < piece->n_reads; i++)
        if (test(logic, &logic->vectors[piece->reads[i]]))
            return true;
    for (size_t i = 0; i < piece->n_writes; i++)
        if (test(logic, &logic->vectors[piece->writes[i]]))
            return true;
    return false;
}

static bool is_matrix(const hac_logic *logic, const hac_logic_vector *v)
{
    (void)logic;
    return (hac_op_form_has_entries(v->form) && hac_op_layout_of(v->form)->columns) ||
           v->columns != HAC_DIMENSION_ONE;
}

static bool has_matrix(const hac_logic *logic, const hac_logic_piece *piece)
{
    return any_vector(logic, piece, is_matrix);
}

static bool is_of_files(const hac_logic *logic, const hac_logic_vector *v)
{
    return hac_logic_file_numbers(logic, v->rows) >= 0;
}

static bool has_files(const hac_logic *logic, const hac_logic_piece *piece)
{
    return any_vector(logic, piece, is_of_files);
}

/* Whether the piece reads all rows of one vector for each row or component of another one. */
static bool has_cross(const hac_logic *logic, const hac_logic_piece *piece)
{
    for (size_t i = 0; i < piece->n_arguments; i++) {
        const hac_logic_argument *a = &piece->arguments[i];
        bool reads = a->spec->kind == HAC_ARGUMENT_VECTOR || a->spec->kind == HAC_ARGUMENT_VECTORS;
        if (reads && (a->spec->flags & HAC_ARGUMENT_WHOLE) != 0 && a->n_vectors > 0 &&
            logic->vectors[a->vectors[0]].rows != HAC_DIMENSION_ONE && piece->subop->walk != HAC_WALK_SERIAL)
            return true;
    }
    return false;
}

static bool any_piece(const hac_logic *logic, const hac_logic_step *steps, size_t n, piece_test *test)
{
    for (size_t i = 0; i < n; i++) {
        for (size_t p = 0; p < steps[i].n_pieces; p++)
            if (test(logic, &steps[i].pieces[p]))
                return true;
        if (any_piece(logic, steps[i].body, steps[i].n_body, test) ||
            any_piece(logic, steps[i].otherwise, steps[i].n_otherwise, test))
            return true;
    }
    return false;
}

hac_status hac_check_operation(hac_logic_checker *c, const hac_yaml_node *node, hac_operation operation,
                               const hac_logic_step *steps, size_t n)
{
    static const struct {
        piece_test *test;
        const char *lacks;
    } needs[HAC_OPERATION_END] = {
        [HAC_OPERATION_MATRIX_MAP] = {has_matrix, "walks the elements of a matrix, and none of its "
                                                  "sub-operators has one; VectorMap walks rows"},
        [HAC_OPERATION_CROSS_MAP] = {has_cross,
                                     "sets the rows of one vector against all rows of another, and none of "
                                     "its sub-operators does; distance, nearest and gemm do"},
        [HAC_OPERATION_DIR_MAP] = {has_files, "walks the files of a directory, and none of its sub-operators "
                                              "has rows of an input with `directory: true`"}};
    if (needs[operation].test == NULL || any_piece(c->logic, steps, n, needs[operation].test))
        return HAC_OK;
    return hac_logic_problem(c, node, "%s %s", hac_operation_name(operation), needs[operation].lacks);
}
