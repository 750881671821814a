/* SPDX-License-Identifier: Apache-2.0 */
/* Pieces: which sub-operator each is, and what it reads and writes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/op_layout.h"
#include "base/suggest.h"
#include "check.h"
#include "pieces.h"

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
    size_t max = 0;
    for (size_t i = 0; i < piece->n_arguments; i++) {
        const hac_logic_argument *a = &piece->arguments[i];
        max += a->n_vectors + (a->n_expressions > 0 ? a->expressions[0]->n_vectors : 0);
    }
    piece->reads = hac_logic_alloc(c, max * sizeof *piece->reads);
    piece->writes = hac_logic_alloc(c, max * sizeof *piece->writes);
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

/* The text vector that a name refers to; -1: it is not one. No expression reads text, but `let` can copy
 * it. */
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
    hac_yaml_node key = hac_logic_key_node(node); /* problems about the name are reported at the key */
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

/* Gives the results of a wrong piece a value, so that pieces which read them are not reported as well. */
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

/* The same for results whose names were not read, because the problem came before them. */
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
    bool let = strcmp(node->key, "let") == 0; /* the keys of `let` are vectors */
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
