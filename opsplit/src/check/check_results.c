/* SPDX-License-Identifier: Apache-2.0 */
/* The results of a piece: template, type and dimensions, and the checks that the catalogue cannot express. */
#include <stdio.h>
#include <string.h>

#include "base/op_layout.h"
#include "check.h"
#include "pieces.h"

/* ---- results ---- */

static int dimension_of(const hac_piece_check *p, const char *letter, const hac_vector_state *counterpart,
                        bool columns)
{
    char what[96];
    if (letter == NULL || letter[0] == '1')
        return HAC_DIMENSION_ONE;
    if (letter[0] == '=')
        return counterpart == NULL ? HAC_DIMENSION_NONE : columns ? counterpart->columns : counterpart->rows;
    if (letter[0] == '*') {
        snprintf(what, sizeof what, "what `%s` gives", p->piece->name);
        return hac_dimension_data(p->c, p->map, 0, what);
    }
    const hac_letter *known = &p->letters[letter[0] - 'a'];
    return known->known ? known->dimension : HAC_DIMENSION_ONE;
}

static hac_vector_template only_form(unsigned forms)
{
    for (int i = HAC_VECTOR_NONE + 1; i < HAC_VECTOR_END; i++)
        if (forms == 1u << i)
            return (hac_vector_template)i;
    return HAC_VECTOR_NONE;
}

/* The template of a result: the row's, or that of the expression or of `in`. */
static hac_vector_template form_of(const hac_piece_check *p, const hac_subop_argument *spec)
{
    hac_vector_template form = only_form(spec->forms);
    if (form != HAC_VECTOR_NONE)
        return form;
    if (p->shape.form != HAC_VECTOR_NONE)
        return p->shape.form;
    int in = hac_logic_argument_vector(p->piece, "in");
    form = in >= 0 ? p->c->logic->vectors[in].form : HAC_VECTOR_FIX_VALUE;
    return form == HAC_VECTOR_PVAR || form == HAC_VECTOR_VAR ? HAC_VECTOR_FIX_VALUE : form;
}

static int entries_of(const hac_piece_check *p, size_t argument, hac_vector_template form, bool of_shape)
{
    char what[96];
    if (of_shape)
        return p->shape.entries;
    if (!hac_op_form_has_entries(form))
        return HAC_DIMENSION_NONE;
    snprintf(what, sizeof what, "entries that `%s` gives", p->piece->name);
    return hac_dimension_data(p->c, p->map, 1 + (int)argument, what);
}

/* Row numbers that are only moved stay row numbers. */
static int below_of(const hac_piece_check *p, const hac_subop_argument *spec,
                    const hac_vector_state *counterpart)
{
    if (spec->below != NULL &&
        (p->piece->subop->id != HAC_SUBOP_RANGE || hac_logic_argument_get(p->piece, "from") == NULL))
        return dimension_of(p, spec->below, counterpart, false);
    bool moved = spec->elements == HAC_ELEMENT_SAME && spec->same != NULL && strcmp(spec->same, "in") == 0 &&
                 p->piece->subop->id != HAC_SUBOP_SCATTER && p->piece->subop->id != HAC_SUBOP_DENSE;
    return moved && counterpart != NULL ? counterpart->below : HAC_DIMENSION_NONE;
}

/* Compiles the expression again for a vector of another type. */
static hac_status convert(const hac_piece_check *p, const hac_logic_argument *result, hac_kind kind)
{
    hac_logic_argument *a = NULL;
    hac_shape shape;
    for (size_t i = 0; i < p->piece->n_arguments; i++)
        if (strcmp(p->piece->arguments[i].spec->name, result->spec->same) == 0)
            a = &p->piece->arguments[i];
    if (a == NULL || a->n_expressions == 0 || a->expressions[0]->kind == kind)
        return HAC_OK;
    size_t place = (size_t)(a - p->piece->arguments);
    char *text = a->expressions[0]->text;
    return hac_check_expression(p->c, p->nodes[place], text, kind, p->piece->subop->operands_max,
                                &a->expressions[0], &shape);
}

static bool is_flexible(const hac_subop_argument *spec)
{
    return spec->elements == HAC_ELEMENT_SAME &&
           (strcmp(spec->same, "expr") == 0 || strcmp(spec->same, "value") == 0);
}

/* Argmin and argmax of a matrix give a result for each row. */
static void of_matrix(const hac_piece_check *p, hac_written *w)
{
    hac_subop_id id = p->piece->subop->id;
    const hac_letter *rows = &p->letters['n' - 'a'], *columns = &p->letters['c' - 'a'];
    if ((id != HAC_SUBOP_ARGMIN && id != HAC_SUBOP_ARGMAX) || !columns->known ||
        columns->dimension == HAC_DIMENSION_ONE)
        return;
    p->piece->of_rows = true;
    w->form = HAC_VECTOR_FIX_VALUE;
    w->kind = HAC_KIND_U32;
    w->rows = rows->dimension;
    w->below = columns->dimension;
}

static hac_status write_result(hac_piece_check *p, size_t argument, size_t i)
{
    const hac_logic_argument *a = &p->piece->arguments[argument];
    const hac_subop_argument *spec = a->spec;
    const hac_logic_argument *same = spec->same != NULL ? hac_logic_argument_get(p->piece, spec->same) : NULL;
    const hac_vector_state *counterpart =
        same != NULL && same->n_vectors > 0 ? &p->before[same->vectors[i < same->n_vectors ? i : 0]] : NULL;
    char who[HAC_LIBRARY_NAME_MAX + 8];
    snprintf(who, sizeof who, "`%s`", p->piece->name);
    bool of_shape = spec->forms == 0 && p->shape.form != HAC_VECTOR_NONE;
    hac_written w = {.form = form_of(p, spec),
                     .kind = hac_piece_result_kind(p, a, i),
                     .flexible = is_flexible(spec),
                     .who = who};
    w.rows = of_shape ? p->shape.rows : dimension_of(p, spec->rows, counterpart, false);
    w.columns = of_shape ? p->shape.columns : dimension_of(p, spec->columns, counterpart, true);
    w.entries = entries_of(p, argument, w.form, of_shape);
    w.below = of_shape ? p->shape.below : below_of(p, spec, counterpart);
    of_matrix(p, &w);
    hac_status status = hac_vector_write(p->c, p->nodes[argument], a->vectors[i], &w);
    if (status == HAC_OK && w.flexible)
        p->convert_to = p->c->logic->vectors[a->vectors[i]].kind;
    return status;
}

/* ---- what the table does not say ---- */

static hac_status special_reduce(const hac_piece_check *p)
{
    int in = hac_logic_argument_vector(p->piece, "in");
    if (in >= 0 && p->c->logic->vectors[in].kind == HAC_KIND_STRING &&
        hac_logic_argument_word(p->piece, "function") != HAC_OP_COUNT)
        return hac_logic_problem_key(p->c, p->map,
                                     "`%s` is text, of which `reduce` knows only the function count",
                                     hac_vector_name(p->c, in));
    const hac_logic_expression *e = hac_logic_argument_expression(p->piece, "expr");
    if (e != NULL && e->n_vectors == 0)
        return hac_logic_problem_key(p->c, p->map, "`%s` reads no vector, so that there is nothing to reduce",
                                     e->text);
    return HAC_OK;
}

static hac_status cast_first(const hac_piece_check *p, int in, const char *of, const char *wanted,
                             const char *as)
{
    const char *name = hac_vector_name(p->c, in);
    return hac_logic_problem_key(
        p->c, p->map,
        "`%s` has elements of type %s, and `%s` %stakes %s; make others of it before, as in "
        "let: {wider: \"cast(%s as %s)\"}",
        name, hac_element_name(p->c->logic->vectors[in].kind), p->piece->name, of, wanted, name, as);
}

static hac_status special_keys(const hac_piece_check *p)
{
    int function = hac_logic_argument_word(p->piece, "function");
    int in = hac_logic_argument_vector(p->piece, "in"), empty = hac_logic_argument_vector(p->piece, "empty");
    const hac_logic_argument *out = hac_logic_argument_get(p->piece, "out");
    if (in < 0 && (out != NULL || function != HAC_OP_COUNT))
        return hac_logic_problem_key(
            p->c, p->map,
            "`in` of `reduce_by_key` is missing; without it there is only `function: "
            "count` with `count` as its result");
    if (function == HAC_OP_COUNT && out != NULL)
        return hac_logic_problem_key(p->c, p->map, "the result of `function: count` is `count`, not `out`");
    if (in >= 0 && p->c->logic->vectors[in].kind == HAC_KIND_U64)
        return cast_first(p, in, "", "i32, u32, i64, f32, f64 and bool", "i64");
    if (out == NULL || empty < 0)
        return HAC_OK;
    hac_kind kind = hac_piece_result_kind(p, out, 0);
    if (p->c->logic->vectors[empty].kind != kind)
        return hac_logic_problem_key(p->c, p->map,
                                     "`out` has elements of type %s, and `%s` (`empty`) %s; they have "
                                     "to be of one type",
                                     hac_element_name(kind), hac_vector_name(p->c, empty),
                                     hac_element_name(p->c->logic->vectors[empty].kind));
    return HAC_OK;
}

static hac_status special_arg(const hac_piece_check *p)
{
    const hac_letter *columns = &p->letters['c' - 'a'];
    int in = hac_logic_argument_vector(p->piece, "in");
    hac_kind kind = in >= 0 ? p->c->logic->vectors[in].kind : HAC_KIND_NONE;
    if (!columns->known || columns->dimension == HAC_DIMENSION_ONE)
        return HAC_OK;
    if (kind == HAC_KIND_I32 || kind == HAC_KIND_U32)
        return cast_first(p, in, "of a matrix ", "i64, u64, f32 and f64", "i64");
    if (hac_logic_argument_get(p->piece, "value") != NULL)
        return hac_logic_problem_key(p->c, p->map,
                                     "`value` is there for a vector only; of a matrix use `row_reduce`");
    return HAC_OK;
}

static hac_status check_special(const hac_piece_check *p)
{
    switch (p->piece->subop->id) {
    case HAC_SUBOP_REDUCE:
        return special_reduce(p);
    case HAC_SUBOP_REDUCE_BY_KEY:
        return special_keys(p);
    case HAC_SUBOP_ARGMIN:
    case HAC_SUBOP_ARGMAX:
        return special_arg(p);
    default:
        return HAC_OK;
    }
}

hac_status hac_piece_write(hac_piece_check *p)
{
    hac_status status = check_special(p), first = status;
    p->before = hac_logic_alloc(p->c, sizeof p->c->state);
    if (p->before == NULL)
        return HAC_NO_MEMORY;
    memcpy(p->before, p->c->state, sizeof p->c->state);
    for (size_t i = 0; i < p->piece->n_arguments && first == HAC_OK; i++) {
        const hac_logic_argument *a = &p->piece->arguments[i];
        if (a->spec->kind != HAC_ARGUMENT_RESULT && a->spec->kind != HAC_ARGUMENT_RESULTS)
            continue;
        for (size_t j = 0; j < a->n_vectors; j++) {
            status = write_result(p, i, j);
            if (!hac_logic_goes_on(status))
                return status;
            first = first != HAC_OK ? first : status;
        }
        if (first == HAC_OK && p->convert_to != HAC_KIND_NONE) {
            /* The expression reads the vectors as they were before the result was written. */
            hac_vector_state after[1] = {p->c->state[a->vectors[0]]};
            p->c->state[a->vectors[0]] = p->before[a->vectors[0]];
            first = convert(p, a, p->convert_to);
            p->c->state[a->vectors[0]] = after[0];
        }
    }
    return first;
}
