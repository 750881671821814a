/* SPDX-License-Identifier: Apache-2.0 */
/* Arguments of pieces, checked by their rows in the catalogue: first each argument by itself (names,
 * templates, elements), then the rows and columns that arguments share by letter, then the results. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/suggest.h"
#include "check.h"
#include "pieces.h"

/* ---- one by one ---- */

static const char *form_names(unsigned forms, char *ret, size_t capacity)
{
    size_t used = 0;
    ret[0] = '\0';
    for (int i = HAC_VECTOR_NONE + 1; i < HAC_VECTOR_END && used < capacity; i++)
        if ((forms >> i & 1) != 0)
            used += (size_t)snprintf(ret + used, capacity - used, "%s%s", used > 0 ? ", " : "",
                                     hac_vector_template_get((hac_vector_template)i)->name);
    return ret;
}

static bool element_fits(hac_element_rule rule, hac_kind kind)
{
    switch (rule) {
    case HAC_ELEMENT_VALUE:
        return kind != HAC_KIND_STRING;
    case HAC_ELEMENT_NUMBER:
        return kind != HAC_KIND_STRING && kind != HAC_KIND_BOOL;
    case HAC_ELEMENT_INTEGER:
        return hac_kind_is_integer(kind);
    case HAC_ELEMENT_FLOAT:
        return hac_kind_is_float(kind);
    case HAC_ELEMENT_LINEAR:
        return hac_kind_is_float(kind) || kind == HAC_KIND_I64;
    case HAC_ELEMENT_TEXT:
        return kind == HAC_KIND_STRING;
    case HAC_ELEMENT_F64:
        return kind == HAC_KIND_F64;
    default:
        return true;
    }
}

static const char *const element_texts[HAC_ELEMENT_END] = {
    [HAC_ELEMENT_VALUE] = "numbers or truth values",
    [HAC_ELEMENT_NUMBER] = "numbers",
    [HAC_ELEMENT_INTEGER] = "whole numbers",
    [HAC_ELEMENT_FLOAT] = "f32 or f64",
    [HAC_ELEMENT_LINEAR] = "i64, f32 or f64",
    [HAC_ELEMENT_TEXT] = "texts",
    [HAC_ELEMENT_F64] = "f64",
};

static hac_status wrong_element(hac_logic_checker *c, const hac_yaml_node *node, int vector,
                                const char *wanted)
{
    hac_kind kind = c->logic->vectors[vector].kind;
    const char *advice =
        kind == HAC_KIND_STRING ? "number them with `index`" : "convert it with `map` and cast(… as …)";
    return hac_logic_problem(c, node, "`%s` has elements of type %s, and here %s are needed; %s",
                             hac_vector_name(c, vector), hac_element_name(kind), wanted, advice);
}

static hac_status check_operand(const hac_piece_check *p, const hac_yaml_node *node,
                                const hac_subop_argument *spec, int vector)
{
    const hac_logic_vector *v = &p->c->logic->vectors[vector];
    const hac_vector_state *state = &p->c->state[vector];
    char names[160], phrase[HAC_DIMENSION_PHRASE_SIZE];
    if (v->kind == HAC_KIND_NONE)
        return HAC_INVALID; /* reported where it is written */
    if ((spec->forms >> v->form & 1) == 0)
        return hac_logic_problem(p->c, node, "`%s` is a %s; `%s` of `%s` takes %s",
                                 hac_vector_name(p->c, vector), hac_vector_template_get(v->form)->name,
                                 spec->name, p->piece->name, form_names(spec->forms, names, sizeof names));
    if (!element_fits(spec->elements, v->kind))
        return wrong_element(p->c, node, vector, element_texts[spec->elements]);
    if ((spec->flags & HAC_ARGUMENT_MATRIX) == 0 && state->columns != HAC_DIMENSION_ONE)
        return hac_logic_problem(
            p->c, node, "`%s` has %s; `%s` of `%s` takes one column", hac_vector_name(p->c, vector),
            hac_dimension_phrase(p->c, state->columns, "columns", phrase), spec->name, p->piece->name);
    return HAC_OK;
}

/* Reads a name, or a list of names where the row allows one. */
static hac_status read_names(const hac_piece_check *p, const hac_yaml_node *node,
                             const hac_subop_argument *spec, hac_logic_argument *a)
{
    bool many = spec->kind == HAC_ARGUMENT_VECTORS || spec->kind == HAC_ARGUMENT_RESULTS;
    bool results = spec->kind == HAC_ARGUMENT_RESULT || spec->kind == HAC_ARGUMENT_RESULTS;
    bool list = many && node->kind == HAC_YAML_LIST;
    const hac_yaml_node *item = list ? node->first : node;
    a->n_vectors = list ? node->count : 1;
    if (a->n_vectors == 0 || a->n_vectors > HAC_OP_OPERANDS_MAX)
        return hac_logic_problem(p->c, node, "`%s` takes from 1 to %d vectors", spec->name,
                                 HAC_OP_OPERANDS_MAX);
    a->vectors = hac_logic_alloc(p->c, a->n_vectors * sizeof *a->vectors);
    if (a->vectors == NULL)
        return HAC_NO_MEMORY;
    for (size_t i = 0; i < a->n_vectors; i++, item = item->next) {
        const char *name = NULL;
        hac_status status = hac_logic_text(p->c, item, &name);
        if (status == HAC_OK && results) {
            a->vectors[i] = hac_vector_lookup_or_add(p->c, item, name);
            status = a->vectors[i] >= 0 ? HAC_OK : HAC_INVALID;
        } else if (status == HAC_OK) {
            status = hac_vector_read(p->c, item, name, &a->vectors[i]);
            if (status == HAC_OK)
                status = check_operand(p, item, spec, a->vectors[i]);
        }
        if (status != HAC_OK)
            return status;
    }
    return HAC_OK;
}

static hac_status read_word(const hac_piece_check *p, const hac_yaml_node *node,
                            const hac_subop_argument *spec, hac_logic_argument *a)
{
    char word[32];
    hac_status status = hac_logic_word(p->c, node, spec->words, &a->word);
    if (status != HAC_OK || strcmp(spec->name, "function") != 0)
        return status;
    (void)hac_logic_nth_word(spec->words, (size_t)a->word, word, sizeof word);
    a->word = strcmp(word, "mean") == 0 ? HAC_LOGIC_MEAN : hac_op_function_find(word);
    return HAC_OK;
}

static hac_kind fixed_kind(hac_element_rule rule)
{
    static const hac_kind kinds[HAC_ELEMENT_END] = {
        [HAC_ELEMENT_BOOL] = HAC_KIND_BOOL, [HAC_ELEMENT_U32] = HAC_KIND_U32,
        [HAC_ELEMENT_U64] = HAC_KIND_U64,   [HAC_ELEMENT_I64] = HAC_KIND_I64,
        [HAC_ELEMENT_F64] = HAC_KIND_F64,
    };
    return kinds[rule];
}

static hac_status read_expression(hac_piece_check *p, const hac_yaml_node *node,
                                  const hac_subop_argument *spec, hac_logic_argument *a)
{
    const char *text;
    hac_status status = hac_logic_text(p->c, node, &text);
    hac_kind as = spec->elements == HAC_ELEMENT_BOOL ? HAC_KIND_NONE : fixed_kind(spec->elements);
    a->expressions = hac_logic_alloc(p->c, sizeof *a->expressions);
    if (a->expressions == NULL)
        return HAC_NO_MEMORY;
    if (status == HAC_OK && spec->kind == HAC_ARGUMENT_SCALAR)
        status = hac_check_scalar(p->c, node, as, &a->expressions[0]);
    else if (status == HAC_OK)
        status = hac_check_expression(p->c, node, text, as, p->piece->subop->operands_max, &a->expressions[0],
                                      &p->shape);
    if (status != HAC_OK)
        return status;
    a->n_expressions = 1;
    if (spec->elements == HAC_ELEMENT_BOOL && a->expressions[0]->kind != HAC_KIND_BOOL)
        return hac_logic_problem(p->c, node, "a condition has to be bool, and this is %s",
                                 hac_element_name(a->expressions[0]->kind));
    if (spec->elements == HAC_ELEMENT_NUMBER && a->expressions[0]->kind == HAC_KIND_BOOL)
        return hac_logic_problem(p->c, node, "this is bool, and a number is needed");
    return HAC_OK;
}

/* Reads a whole number, a Var, or a vector whose rows are counted. */
static hac_status read_extent(const hac_piece_check *p, const hac_yaml_node *node,
                              const hac_subop_argument *spec, hac_logic_argument *a)
{
    const char *text = NULL;
    hac_status status = hac_logic_text(p->c, node, &text);
    if (status != HAC_OK)
        return status;
    if (strchr("0123456789-+", text[0]) != NULL) {
        status = hac_logic_whole(p->c, node, 1, UINT64_C(1) << 40, &a->integer);
        a->dimension = status == HAC_OK ? hac_dimension_constant(p->c, a->integer) : HAC_DIMENSION_NONE;
        return status;
    }
    a->vectors = hac_logic_alloc(p->c, sizeof *a->vectors);
    if (a->vectors == NULL)
        return HAC_NO_MEMORY;
    status = hac_vector_read(p->c, node, text, &a->vectors[0]);
    if (status != HAC_OK)
        return status;
    a->n_vectors = 1;
    const hac_logic_vector *v = &p->c->logic->vectors[a->vectors[0]];
    if (v->kind == HAC_KIND_NONE)
        return HAC_INVALID;
    if (v->form != HAC_VECTOR_VAR) {
        a->dimension = p->c->state[a->vectors[0]].rows;
        return HAC_OK;
    }
    if (!hac_kind_is_integer(v->kind))
        return hac_logic_problem(p->c, node,
                                 "`%s` is a Var of %s; `%s` takes a whole number, a Var of one, or a "
                                 "vector with as many rows",
                                 text, hac_element_name(v->kind), spec->name);
    a->dimension = hac_dimension_var(p->c, a->vectors[0]);
    return HAC_OK;
}

static hac_status read_argument(hac_piece_check *p, const hac_yaml_node *node, const hac_subop_argument *spec,
                                hac_logic_argument *a)
{
    bool truth = false;
    hac_status status;
    *a = (hac_logic_argument){.spec = spec, .at = hac_logic_at(node), .dimension = HAC_DIMENSION_NONE};
    switch (spec->kind) {
    case HAC_ARGUMENT_EXPRESSION:
    case HAC_ARGUMENT_SCALAR:
        return read_expression(p, node, spec, a);
    case HAC_ARGUMENT_EXTENT:
        return read_extent(p, node, spec, a);
    case HAC_ARGUMENT_WORD:
        return read_word(p, node, spec, a);
    case HAC_ARGUMENT_INTEGER:
        status = hac_logic_whole(p->c, node, 1, 1 << 20, &a->integer);
        a->dimension = status == HAC_OK ? hac_dimension_constant(p->c, a->integer) : HAC_DIMENSION_NONE;
        return status;
    case HAC_ARGUMENT_TRUTH:
        status = hac_logic_truth(p->c, node, &truth);
        a->integer = truth;
        return status;
    default:
        return read_names(p, node, spec, a);
    }
}

/* ---- which are there ---- */

static const char *argument_words(const hac_subop_info *subop, char *ret, size_t capacity)
{
    size_t used = 0;
    ret[0] = '\0';
    for (const hac_subop_argument *a = subop->arguments; a->name != NULL && used < capacity; a++)
        if ((a->flags & HAC_ARGUMENT_MADE) == 0)
            used += (size_t)snprintf(ret + used, capacity - used, "%s ", a->name);
    snprintf(ret + used, capacity - used, "device");
    return ret;
}

static hac_status check_groups(const hac_piece_check *p, const hac_yaml_node *map, unsigned flag)
{
    char names[128] = "";
    size_t given = 0, used = 0, rows = 0;
    for (const hac_subop_argument *a = p->piece->subop->arguments; a->name != NULL; a++) {
        if ((a->flags & flag) == 0)
            continue;
        rows++;
        given += hac_logic_field(map, a->name) != NULL;
        used +=
            (size_t)snprintf(names + used, sizeof names - used, "%s`%s`", used > 0 ? " or " : "", a->name);
    }
    if (rows == 0 || given == 1 || (given > 1 && flag == HAC_ARGUMENT_ONE_OF))
        return HAC_OK;
    return hac_logic_problem_key(p->c, map, "`%s` %s %s", p->piece->name,
                                 given == 0 ? "needs" : "takes only one of", names);
}

static hac_status check_given(const hac_piece_check *p, const hac_yaml_node *map)
{
    char words[256];
    const hac_subop_info *subop = p->piece->subop;
    hac_status status = hac_logic_fields(p->c, map, argument_words(subop, words, sizeof words));
    for (const hac_subop_argument *a = subop->arguments; a->name != NULL && status == HAC_OK; a++)
        if ((a->flags & HAC_ARGUMENT_REQUIRED) != 0 && hac_logic_field(map, a->name) == NULL)
            status = hac_logic_problem_key(p->c, map, "`%s` of `%s` is missing%s%s; as in %s", a->name,
                                           subop->name, a->text != NULL ? ": " : "",
                                           a->text != NULL ? a->text : "", subop->example + 2);
    if (status == HAC_OK)
        status = check_groups(p, map, HAC_ARGUMENT_ONE_OF);
    return status == HAC_OK ? check_groups(p, map, HAC_ARGUMENT_EITHER) : status;
}

static hac_status read_all(hac_piece_check *p, const hac_yaml_node *map)
{
    hac_logic_piece *piece = p->piece;
    piece->arguments = hac_logic_alloc(p->c, HAC_ARGUMENTS_MAX * sizeof *piece->arguments);
    if (piece->arguments == NULL)
        return HAC_NO_MEMORY;
    hac_status first = HAC_OK;
    for (const hac_subop_argument *spec = piece->subop->arguments; spec->name != NULL; spec++) {
        const hac_yaml_node *node = hac_logic_field(map, spec->name);
        if (node == NULL)
            continue;
        p->nodes[piece->n_arguments] = node;
        hac_status status = read_argument(p, node, spec, &piece->arguments[piece->n_arguments++]);
        if (!hac_logic_goes_on(status))
            return status;
        first = first != HAC_OK ? first : status;
    }
    return first;
}

/* ---- elements that have to agree ---- */

static hac_status check_same(const hac_piece_check *p, const hac_logic_argument *a, const hac_yaml_node *node)
{
    const hac_subop_argument *spec = a->spec;
    hac_kind wanted = HAC_KIND_NONE;
    const char *with = NULL;
    if (spec->kind != HAC_ARGUMENT_VECTOR && spec->kind != HAC_ARGUMENT_VECTORS)
        return HAC_OK;
    if (spec->elements == HAC_ELEMENT_SAME) {
        int other = hac_logic_argument_vector(p->piece, spec->same);
        wanted = other >= 0 ? p->c->logic->vectors[other].kind : HAC_KIND_NONE;
        with = spec->same;
    } else if ((spec->flags & HAC_ARGUMENT_PAIR) != 0 || p->piece->subop->id == HAC_SUBOP_INDEX) {
        wanted = p->c->logic->vectors[a->vectors[0]].kind;
        with = "the first one";
    }
    for (size_t i = 0; i < a->n_vectors && wanted != HAC_KIND_NONE; i++) {
        hac_kind kind = p->c->logic->vectors[a->vectors[i]].kind;
        if (kind != wanted)
            return hac_logic_problem(p->c, node,
                                     "`%s` has elements of type %s, and %s has %s; they have to be of "
                                     "one type: convert one with `map` and cast(… as %s)",
                                     hac_vector_name(p->c, a->vectors[i]), hac_element_name(kind), with,
                                     hac_element_name(wanted), hac_element_name(wanted));
    }
    return HAC_OK;
}

static hac_status check_counts(const hac_piece_check *p)
{
    const hac_logic_argument *in = hac_logic_argument_get(p->piece, "in");
    for (size_t i = 0; i < p->piece->n_arguments; i++) {
        const hac_logic_argument *a = &p->piece->arguments[i];
        if ((a->spec->flags & HAC_ARGUMENT_PAIR) != 0 && a->n_vectors != 2)
            return hac_logic_problem(p->c, p->nodes[i], "`%s` takes two vectors, not %zu", a->spec->name,
                                     a->n_vectors);
        if (p->piece->subop->id == HAC_SUBOP_INDEX && a == in && a->n_vectors > 2)
            return hac_logic_problem(p->c, p->nodes[i], "`index` numbers one or two vectors, not %zu",
                                     a->n_vectors);
        if (a->spec->kind == HAC_ARGUMENT_RESULTS && in != NULL && a->n_vectors != in->n_vectors)
            return hac_logic_problem(p->c, p->nodes[i],
                                     "`%s` has %zu names, and `in` has %zu; each has its result",
                                     a->spec->name, a->n_vectors, in->n_vectors);
        hac_status status = check_same(p, a, p->nodes[i]);
        if (status != HAC_OK)
            return status;
    }
    return HAC_OK;
}

/* Refuses `exclusive` for min and max: there is no minimum or maximum before the first row. */
static hac_status check_scan(const hac_piece_check *p)
{
    bool exclusive = p->piece->subop->id == HAC_SUBOP_SCAN && hac_logic_argument_truth(p->piece, "exclusive");
    int function = exclusive ? hac_logic_argument_word(p->piece, "function") : HAC_OP_SUM;
    if (function == HAC_OP_SUM)
        return HAC_OK;
    return hac_logic_problem(p->c, hac_logic_field(p->map, "exclusive"),
                             "`exclusive` is for `sum` only: before the first row there is no %s",
                             function == HAC_OP_MIN ? "minimum" : "maximum");
}

/* Refuses a vector that two results of a piece write. */
static hac_status check_distinct(const hac_piece_check *p)
{
    int seen[4 * HAC_OP_OPERANDS_MAX];
    size_t n = 0;
    for (size_t i = 0; i < p->piece->n_arguments; i++) {
        const hac_logic_argument *a = &p->piece->arguments[i];
        if (a->spec->kind != HAC_ARGUMENT_RESULT && a->spec->kind != HAC_ARGUMENT_RESULTS)
            continue;
        for (size_t j = 0; j < a->n_vectors && n < sizeof seen / sizeof *seen; j++) {
            for (size_t k = 0; k < n; k++)
                if (seen[k] == a->vectors[j])
                    return hac_logic_problem(p->c, p->nodes[i], "`%s` is named as a result twice",
                                             hac_vector_name(p->c, a->vectors[j]));
            seen[n++] = a->vectors[j];
        }
    }
    return HAC_OK;
}

/* Makes the expression of axpy for op.map: a × x + y. */
static hac_status make_axpy(hac_piece_check *p)
{
    hac_logic_piece *piece = p->piece;
    hac_logic_argument *a = &piece->arguments[piece->n_arguments];
    const hac_yaml_node *node = hac_logic_field(p->map, "a");
    char *text = hac_logic_print(p->c, "(%s) * \"%s\" + \"%s\"", node->text,
                                 hac_vector_name(p->c, hac_logic_argument_vector(piece, "x")),
                                 hac_vector_name(p->c, hac_logic_argument_vector(piece, "y")));
    *a = (hac_logic_argument){.spec = hac_subop_argument_find(piece->subop, "expr"),
                              .at = hac_logic_at(node),
                              .expressions = hac_logic_alloc(p->c, sizeof *a->expressions),
                              .n_expressions = 1,
                              .dimension = HAC_DIMENSION_NONE};
    if (text == NULL || a->expressions == NULL)
        return HAC_NO_MEMORY;
    hac_status status = hac_check_expression(p->c, node, text, HAC_KIND_NONE, piece->subop->operands_max,
                                             &a->expressions[0], &p->shape);
    if (status == HAC_OK)
        p->nodes[piece->n_arguments++] = node;
    return status;
}

hac_status hac_check_arguments(hac_logic_checker *c, const hac_yaml_node *map, hac_logic_piece *piece)
{
    hac_piece_check *p = hac_logic_alloc(c, sizeof *p);
    if (p == NULL)
        return HAC_NO_MEMORY;
    *p = (hac_piece_check){.c = c, .map = map, .piece = piece, .shape = {.form = HAC_VECTOR_NONE}};
    hac_status status = check_given(p, map);
    if (status == HAC_OK)
        status = read_all(p, map);
    if (status == HAC_OK && piece->subop->id == HAC_SUBOP_AXPY)
        status = make_axpy(p);
    if (status == HAC_OK)
        status = check_counts(p);
    if (status == HAC_OK)
        status = check_scan(p);
    if (status == HAC_OK)
        status = check_distinct(p);
    if (status == HAC_OK)
        status = hac_piece_shapes(p);
    if (status == HAC_OK)
        status = hac_piece_write(p);
    return status;
}
