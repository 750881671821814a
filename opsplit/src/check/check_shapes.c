/* SPDX-License-Identifier: Apache-2.0 */
/* How many rows and columns the arguments of a piece have, and its results get. */
#include <stdio.h>
#include <string.h>

#include "pieces.h"

static hac_letter *letter_of(hac_piece_check *p, const char *letter)
{
    bool plain = letter != NULL && letter[0] >= 'a' && letter[0] <= 'z';
    return plain ? &p->letters[letter[0] - 'a'] : NULL;
}

/* ---- letters ---- */

static hac_counted counted(const hac_piece_check *p, const hac_letter *letter)
{
    return (hac_counted){letter->vector >= 0 ? hac_vector_name(p->c, letter->vector) : letter->argument,
                         letter->columns ? "columns" : "rows", letter->dimension, false};
}

static hac_status letters_differ(const hac_piece_check *p, const hac_yaml_node *node, const hac_letter *is,
                                 const hac_letter *was)
{
    hac_counted a = counted(p, is), b = counted(p, was);
    return hac_dimensions_differ(p->c, node, &a, &b);
}

static hac_status bind_letter(hac_piece_check *p, const hac_yaml_node *node, const char *name, hac_letter is)
{
    hac_letter *letter = letter_of(p, name);
    if (letter == NULL || is.dimension == HAC_DIMENSION_NONE)
        return HAC_OK;
    if (letter->known)
        return hac_dimension_fits(p->c, is.dimension, letter->dimension)
                   ? HAC_OK
                   : letters_differ(p, node, &is, letter);
    is.known = true;
    *letter = is;
    return HAC_OK;
}

static bool is_input(const hac_subop_argument *spec)
{
    return spec->kind == HAC_ARGUMENT_VECTOR || spec->kind == HAC_ARGUMENT_VECTORS;
}

static hac_status bind_vectors(hac_piece_check *p, size_t i)
{
    const hac_logic_argument *a = &p->piece->arguments[i];
    hac_status status = HAC_OK;
    for (size_t j = 0; j < a->n_vectors && status == HAC_OK; j++) {
        const hac_vector_state *state = &p->c->state[a->vectors[j]];
        const hac_yaml_node *node = p->nodes[i];
        hac_letter rows = {.dimension = state->rows, .argument = a->spec->name, .vector = a->vectors[j]};
        hac_letter columns = rows;
        columns.dimension = state->columns;
        columns.columns = true;
        status = bind_letter(p, node, a->spec->rows, rows);
        if (status == HAC_OK)
            status = bind_letter(p, node, a->spec->columns, columns);
    }
    return status;
}

/* Gives the letters of an argument with an expression the shape of the expression. */
static hac_status bind_shape(hac_piece_check *p, size_t i)
{
    char phrase[HAC_DIMENSION_PHRASE_SIZE];
    const hac_subop_argument *spec = p->piece->arguments[i].spec;
    hac_letter rows = {.dimension = p->shape.rows, .argument = spec->name, .vector = -1};
    hac_letter columns = {
        .dimension = p->shape.columns, .argument = spec->name, .vector = -1, .columns = true};
    if (spec->columns != NULL && spec->columns[0] == '1' && p->shape.columns != HAC_DIMENSION_ONE)
        return hac_logic_problem(p->c, p->nodes[i], "this has %s; `%s` takes one column",
                                 hac_dimension_phrase(p->c, p->shape.columns, "columns", phrase), spec->name);
    hac_status status = bind_letter(p, p->nodes[i], spec->rows, rows);
    return status == HAC_OK ? bind_letter(p, p->nodes[i], spec->columns, columns) : status;
}

/* Extents come first, then bounded arguments, then other vectors. */
static hac_status bind_extents(hac_piece_check *p)
{
    for (size_t i = 0; i < p->piece->n_arguments; i++) {
        const hac_logic_argument *a = &p->piece->arguments[i];
        if (a->spec->kind != HAC_ARGUMENT_EXTENT && a->spec->kind != HAC_ARGUMENT_INTEGER)
            continue;
        hac_letter is = {.dimension = a->dimension, .argument = a->spec->name, .vector = -1};
        hac_status status = bind_letter(p, p->nodes[i], a->spec->rows, is);
        if (status != HAC_OK)
            return status;
    }
    for (size_t i = 0; i < p->piece->n_arguments; i++) {
        const hac_logic_argument *a = &p->piece->arguments[i];
        hac_letter *letter = is_input(a->spec) ? letter_of(p, a->spec->below) : NULL;
        int below = letter != NULL ? p->c->state[a->vectors[0]].below : HAC_DIMENSION_NONE;
        if (below != HAC_DIMENSION_NONE && !letter->known)
            *letter =
                (hac_letter){.known = true, .dimension = below, .argument = a->spec->name, .vector = -1};
    }
    return HAC_OK;
}

/* An undirected graph has as many rows as columns. */
static hac_status make_square(hac_piece_check *p)
{
    char first[HAC_DIMENSION_PHRASE_SIZE], second[HAC_DIMENSION_PHRASE_SIZE];
    hac_letter *rows = &p->letters['e' - 'a'], *columns = &p->letters['f' - 'a'];
    if (p->piece->subop->id != HAC_SUBOP_CSR || !hac_logic_argument_truth(p->piece, "symmetric"))
        return HAC_OK;
    if (!rows->known && columns->known)
        *rows = *columns;
    if (rows->known && !columns->known)
        *columns = *rows;
    if (rows->known && !hac_dimension_fits(p->c, rows->dimension, columns->dimension))
        return hac_logic_problem_key(
            p->c, p->map,
            "with `symmetric` there are as many rows as columns; here there are %s, and %s. "
            "Number both with one `index`, or say `rows` and `columns`",
            hac_dimension_phrase(p->c, rows->dimension, "rows", first),
            hac_dimension_phrase(p->c, columns->dimension, "columns", second));
    return HAC_OK;
}

/* Reports extents that are needed, and are neither given nor known. */
static hac_status check_extents(hac_piece_check *p)
{
    for (const hac_subop_argument *spec = p->piece->subop->arguments; spec->name != NULL; spec++) {
        const hac_letter *letter = spec->kind == HAC_ARGUMENT_EXTENT ? letter_of(p, spec->rows) : NULL;
        bool one = p->piece->subop->id == HAC_SUBOP_FILL && strcmp(spec->name, "columns") == 0;
        if (letter == NULL || letter->known || one)
            continue;
        return hac_logic_problem_key(p->c, p->map,
                                     "the number of %s is not known here for `%s`; add `%s`: a whole "
                                     "number, a Var, or a vector with as many rows",
                                     spec->name, p->piece->name, spec->name);
    }
    return HAC_OK;
}

hac_status hac_piece_shapes(hac_piece_check *p)
{
    hac_status status = bind_extents(p);
    for (size_t i = 0; i < p->piece->n_arguments && status == HAC_OK; i++) {
        const hac_subop_argument *spec = p->piece->arguments[i].spec;
        if (is_input(spec))
            status = bind_vectors(p, i);
        else if (spec->kind == HAC_ARGUMENT_EXPRESSION && p->shape.form != HAC_VECTOR_NONE)
            status = bind_shape(p, i);
    }
    if (status == HAC_OK)
        status = make_square(p);
    return status == HAC_OK ? check_extents(p) : status;
}

/* ---- kinds of results ---- */

static hac_kind wide(hac_kind kind)
{
    if (kind == HAC_KIND_I32 || kind == HAC_KIND_I64)
        return HAC_KIND_I64;
    return hac_kind_is_float(kind) ? kind : HAC_KIND_U64;
}

static hac_kind total_kind(int function, hac_kind kind)
{
    switch (function) {
    case HAC_OP_COUNT:
        return HAC_KIND_U64;
    case HAC_OP_MIN:
    case HAC_OP_MAX:
    case HAC_OP_LARGEST:
    case HAC_OP_ARGMIN:
    case HAC_OP_ARGMAX:
        return wide(kind);
    default:
        return hac_kind_is_float(kind) ? HAC_KIND_F64 : wide(kind);
    }
}

/* The j-th vector, or the expression, of the first of these arguments that is given. */
static hac_kind operand_kind(const hac_piece_check *p, const char *names, size_t j)
{
    char name[32];
    for (size_t i = 0; hac_logic_nth_word(names, i, name, sizeof name); i++) {
        const hac_logic_argument *a = hac_logic_argument_get(p->piece, name);
        if (a == NULL)
            continue;
        if (a->n_expressions > 0)
            return a->expressions[0]->kind;
        return p->c->logic->vectors[a->vectors[j < a->n_vectors ? j : 0]].kind;
    }
    return HAC_KIND_NONE;
}

static int function_of(const hac_piece_check *p)
{
    hac_subop_id id = p->piece->subop->id;
    if (id == HAC_SUBOP_ARGMIN || id == HAC_SUBOP_ARGMAX)
        return HAC_OP_ARGMIN;
    return hac_logic_argument_word(p->piece, "function");
}

hac_kind hac_piece_result_kind(const hac_piece_check *p, const hac_logic_argument *result, size_t i)
{
    hac_kind kind = result->spec->same != NULL ? operand_kind(p, result->spec->same, i) : HAC_KIND_NONE;
    switch (result->spec->elements) {
    case HAC_ELEMENT_SAME:
        return kind;
    case HAC_ELEMENT_TOTAL:
        return total_kind(function_of(p), kind);
    case HAC_ELEMENT_KEYED:
        return hac_kind_is_float(kind) || function_of(p) == HAC_LOGIC_MEAN ? HAC_KIND_F64 : HAC_KIND_I64;
    case HAC_ELEMENT_U32:
        return HAC_KIND_U32;
    case HAC_ELEMENT_U64:
        return HAC_KIND_U64;
    case HAC_ELEMENT_I64:
        return HAC_KIND_I64;
    case HAC_ELEMENT_F64:
        return HAC_KIND_F64;
    case HAC_ELEMENT_TEXT:
        return HAC_KIND_STRING;
    default:
        return HAC_KIND_NONE;
    }
}
