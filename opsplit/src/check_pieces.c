/* SPDX-License-Identifier: Apache-2.0 */
/* Pieces: which sub-operator each is, what its results get, and what it reads and writes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/op_layout.h"
#include "base/suggest.h"
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

/* The template of a result that has its operands': of the expression, or of `in`. */
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

/* Row numbers stay row numbers when they are moved. */
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

/* The expression again, for a vector of another type. */
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

/* argmin and argmax of a matrix are of each row. */
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
            /* What the expression reads is as it was before the result was written. */
            hac_vector_state after[1] = {p->c->state[a->vectors[0]]};
            p->c->state[a->vectors[0]] = p->before[a->vectors[0]];
            first = convert(p, a, p->convert_to);
            p->c->state[a->vectors[0]] = after[0];
        }
    }
    return first;
}

/* ---- reads and writes ---- */

static void add_vector(int *list, size_t *n, int vector)
{
    for (size_t i = 0; i < *n; i++)
        if (list[i] == vector)
            return;
    list[(*n)++] = vector;
}

hac_status hac_piece_vectors(hac_logic_checker *c, hac_logic_piece *piece)
{
    size_t most = 0;
    for (size_t i = 0; i < piece->n_arguments; i++) {
        const hac_logic_argument *a = &piece->arguments[i];
        most += a->n_vectors + (a->n_expressions > 0 ? a->expressions[0]->n_vectors : 0);
    }
    piece->reads = hac_logic_alloc(c, most * sizeof *piece->reads);
    piece->writes = hac_logic_alloc(c, most * sizeof *piece->writes);
    if (piece->reads == NULL || piece->writes == NULL)
        return HAC_NO_MEMORY;
    for (size_t i = 0; i < piece->n_arguments; i++) {
        const hac_logic_argument *a = &piece->arguments[i];
        bool written = a->spec->kind == HAC_ARGUMENT_RESULT || a->spec->kind == HAC_ARGUMENT_RESULTS ||
                       a->spec->kind == HAC_ARGUMENT_ASSIGNMENTS;
        for (size_t j = 0; j < a->n_vectors; j++)
            add_vector(written ? piece->writes : piece->reads, written ? &piece->n_writes : &piece->n_reads,
                       a->vectors[j]);
        for (size_t j = 0; a->n_expressions > 0 && j < a->expressions[0]->n_vectors; j++)
            add_vector(piece->reads, &piece->n_reads, a->expressions[0]->vectors[j]);
    }
    return HAC_OK;
}

/* ---- let ---- */

/* A vector of texts by its name: no expression reads it, but it can be copied. */
static int text_vector(hac_logic_checker *c, const hac_yaml_node *node)
{
    int vector = node->kind == HAC_YAML_SCALAR ? hac_vector_lookup(c, node->text) : -1;
    return vector >= 0 && c->logic->vectors[vector].kind == HAC_KIND_STRING ? vector : -1;
}

static hac_status copy_text(hac_logic_checker *c, const hac_yaml_node *node, int vector,
                            hac_logic_expression **ret, hac_shape *shape)
{
    const hac_vector_state *state = &c->state[vector];
    hac_status status = hac_vector_defined(c, node, vector);
    hac_logic_expression *e = hac_logic_alloc(c, sizeof *e);
    int *vectors = hac_logic_alloc(c, sizeof *vectors);
    char *text = hac_logic_copy(c, node->text);
    if (e == NULL || vectors == NULL || text == NULL)
        return HAC_NO_MEMORY;
    vectors[0] = vector;
    *e = (hac_logic_expression){.text = text,
                                .at = hac_logic_at(node),
                                .kind = HAC_KIND_STRING,
                                .vectors = vectors,
                                .n_vectors = 1,
                                .exact = true,
                                .copy = vector};
    *shape = (hac_shape){HAC_VECTOR_SPARSE_TEXT, state->rows, HAC_DIMENSION_ONE, state->entries,
                         HAC_DIMENSION_NONE};
    *ret = e;
    return status;
}

static hac_status check_let(hac_logic_checker *c, const hac_yaml_node *node, hac_logic_piece *piece)
{
    const char *text = NULL;
    hac_shape shape;
    hac_logic_argument *a = hac_logic_alloc(c, sizeof *a);
    if (a == NULL)
        return HAC_NO_MEMORY;
    *a = (hac_logic_argument){
        .spec = piece->subop->arguments, .at = hac_logic_at(node), .dimension = HAC_DIMENSION_NONE};
    a->vectors = hac_logic_alloc(c, sizeof *a->vectors);
    a->expressions = hac_logic_alloc(c, sizeof *a->expressions);
    if (a->vectors == NULL || a->expressions == NULL)
        return HAC_NO_MEMORY;
    piece->arguments = a;
    piece->n_arguments = 1;
    hac_status status = hac_logic_text(c, node, &text);
    int copied = status == HAC_OK ? text_vector(c, node) : -1;
    if (copied >= 0)
        status = copy_text(c, node, copied, &a->expressions[0], &shape);
    else if (status == HAC_OK)
        status = hac_check_expression(c, node, text, HAC_KIND_NONE, HAC_OP_OPERANDS_MAX - 1,
                                      &a->expressions[0], &shape);
    hac_yaml_node key = hac_logic_key_node(node); /* where a name is wrong, the key is */
    int vector = hac_vector_lookup_or_add(c, &key, node->key);
    if (vector < 0 || !hac_logic_goes_on(status))
        return status == HAC_OK ? HAC_INVALID : status;
    a->vectors[0] = vector;
    a->n_vectors = 1;
    hac_written w = {.form = shape.form, .rows = HAC_DIMENSION_NONE, .who = "`let`", .flexible = copied < 0};
    hac_vector_state before = c->state[vector];
    if (status == HAC_OK)
        w = (hac_written){shape.form,    a->expressions[0]->kind,
                          shape.rows,    shape.columns,
                          shape.entries, shape.below,
                          copied < 0,    "`let`"};
    a->n_expressions = status == HAC_OK;
    hac_status written = hac_vector_write(c, &key, vector, &w);
    hac_kind kind = c->logic->vectors[vector].kind;
    if (status != HAC_OK || written != HAC_OK || kind == a->expressions[0]->kind)
        return status != HAC_OK ? status : written;
    hac_vector_state after = c->state[vector];
    c->state[vector] = before;
    status = hac_check_expression(c, node, text, kind, HAC_OP_OPERANDS_MAX - 1, &a->expressions[0], &shape);
    c->state[vector] = after;
    return status;
}

/* ---- which sub-operator ---- */

/* Results of a piece that is wrong: so that what reads them is not reported as well. */
static void poison(hac_logic_checker *c, const hac_logic_piece *piece)
{
    for (size_t i = 0; i < piece->n_arguments; i++) {
        const hac_logic_argument *a = &piece->arguments[i];
        bool result = a->spec->kind == HAC_ARGUMENT_RESULT || a->spec->kind == HAC_ARGUMENT_RESULTS;
        for (size_t j = 0; result && j < a->n_vectors; j++)
            if (a->vectors[j] >= 0 && !c->state[a->vectors[j]].defined)
                c->state[a->vectors[j]] = (hac_vector_state){
                    true, 0, HAC_DIMENSION_NONE, HAC_DIMENSION_NONE, HAC_DIMENSION_NONE, HAC_DIMENSION_NONE};
    }
}

/* Names of results that were not read, because something before them is wrong. */
static void poison_named(hac_logic_checker *c, const hac_yaml_node *map, const hac_subop_info *subop)
{
    c->quiet++;
    for (const hac_subop_argument *spec = subop->arguments; spec->name != NULL; spec++) {
        const hac_yaml_node *node = hac_logic_field(map, spec->name);
        bool result = spec->kind == HAC_ARGUMENT_RESULT || spec->kind == HAC_ARGUMENT_RESULTS;
        if (node == NULL || !result)
            continue;
        const hac_yaml_node *item = node->kind == HAC_YAML_LIST ? node->first : node;
        for (; item != NULL && item->kind == HAC_YAML_SCALAR; item = item == node ? NULL : item->next) {
            int vector = hac_vector_lookup_or_add(c, item, item->text);
            if (vector >= 0 && !c->state[vector].defined)
                c->state[vector] = (hac_vector_state){
                    true, 0, HAC_DIMENSION_NONE, HAC_DIMENSION_NONE, HAC_DIMENSION_NONE, HAC_DIMENSION_NONE};
        }
    }
    c->quiet--;
}

static const char *subop_at(const void *list, size_t i)
{
    (void)list;
    const hac_subop_info *subop = hac_subop_get((hac_subop_id)(i + 1));
    return subop->name;
}

static hac_status unknown_piece(hac_logic_checker *c, const hac_yaml_node *node)
{
    char show[HAC_YAML_SHOW_SIZE];
    const char *near = hac_suggest(node->key, NULL, HAC_SUBOP_FOR - 1, subop_at);
    return hac_logic_problem_key(
        c, node,
        "`%s` is in no library%s%s%s; a sub-operator of your own has `expr` and `out`, or "
        "is added with `hacctl opsplit subop add`",
        hac_yaml_show(node->key, show), near != NULL ? " (did you mean `" : "", near != NULL ? near : "",
        near != NULL ? "`?)" : "");
}

static hac_status exception_piece(hac_logic_checker *c, const hac_yaml_node *node, hac_logic_piece *piece)
{
    const char *near = hac_suggest(node->key, NULL, HAC_SUBOP_FOR - 1, subop_at);
    if (hac_logic_field(node, "expr") == NULL || hac_logic_field(node, "out") == NULL)
        return unknown_piece(c, node);
    hac_yaml_node key = hac_logic_key_node(node);
    if (hac_logic_new_name(c, &key, node->key) != HAC_OK)
        return HAC_INVALID;
    if (near != NULL)
        hac_logic_note(c, node,
                       "`%s` is in no library, so it is an exception sub-operator; did you mean `%s`?",
                       node->key, near);
    piece->kind = HAC_PIECE_EXCEPTION;
    piece->subop = hac_subop_get(HAC_SUBOP_MAP);
    return hac_check_arguments(c, node, piece);
}

static hac_status named_piece(hac_logic_checker *c, const hac_yaml_node *node, hac_logic_piece *piece)
{
    hac_definition *definition = NULL;
    const hac_subop_info *subop = hac_subop_find(node->key);
    if (subop != NULL) {
        piece->subop = subop;
        return hac_check_arguments(c, node, piece);
    }
    hac_status status = hac_definition_find(c, HAC_LIBRARY_SUBOP, node->key, &definition);
    if (status != HAC_OK)
        return status;
    return definition != NULL ? hac_check_user_piece(c, node, definition, piece)
                              : exception_piece(c, node, piece);
}

static hac_status begin_piece(hac_logic_checker *c, const hac_yaml_node *node, hac_logic_piece *piece)
{
    bool let = strcmp(node->key, "let") == 0; /* its keys are vectors */
    const hac_yaml_node *device = let ? NULL : hac_logic_field(node, "device");
    if (++c->work > HAC_LOGIC_WORK_MAX)
        return hac_logic_problem_key(c, node, "too many sub-operators within loops and used OPs");
    if (c->n_pieces == HAC_LOGIC_PIECES_MAX)
        return hac_logic_problem_key(c, node, "more than %d sub-operators", HAC_LOGIC_PIECES_MAX);
    *piece =
        (hac_logic_piece){.kind = HAC_PIECE_LIBRARY, .at = hac_logic_key_at(node), .number = c->n_pieces++};
    piece->name = hac_logic_copy(c, node->key);
    if (piece->name == NULL)
        return HAC_NO_MEMORY;
    if (device != NULL)
        return hac_logic_device(c, device, &piece->device);
    if (c->context.device == NULL)
        return HAC_OK;
    piece->device = hac_logic_copy(c, c->context.device);
    return piece->device != NULL ? HAC_OK : HAC_NO_MEMORY;
}

static const hac_subop_info *results_like(const hac_logic_piece *piece)
{
    return piece->subop != NULL ? piece->subop : hac_subop_get(HAC_SUBOP_MAP);
}

hac_status hac_check_piece(hac_logic_checker *c, const hac_yaml_node *node, hac_logic_piece *ret)
{
    hac_status status = hac_logic_need(c, node, HAC_YAML_MAP);
    if (status == HAC_OK)
        status = begin_piece(c, node, ret);
    if (status == HAC_OK)
        status = named_piece(c, node, ret);
    if (status == HAC_INVALID && node->kind == HAC_YAML_MAP) {
        poison(c, ret);
        poison_named(c, node, results_like(ret));
    }
    return status == HAC_OK ? hac_piece_vectors(c, ret) : status;
}

hac_status hac_check_assignment(hac_logic_checker *c, const hac_yaml_node *let, const hac_yaml_node *node,
                                hac_logic_piece *ret)
{
    hac_status status = begin_piece(c, let, ret);
    if (status != HAC_OK)
        return status;
    ret->subop = hac_subop_get(HAC_SUBOP_LET);
    ret->at = hac_logic_key_at(node);
    status = check_let(c, node, ret);
    return status == HAC_OK ? hac_piece_vectors(c, ret) : status;
}
