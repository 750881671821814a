/* SPDX-License-Identifier: Apache-2.0 */
/* Definitions of users: where they are used, and by themselves when they are added. */
#include <stdio.h>
#include <string.h>

#include "base/suggest.h"
#include "check.h"
#include "pieces.h"

/* ---- sub-operators ---- */

static hac_status check_keys(hac_logic_checker *c, const hac_yaml_node *node, const hac_definition *d,
                             bool results, const char *more)
{
    char words[2 * HAC_LOGIC_PARAMETERS_MAX * HAC_LIBRARY_NAME_MAX];
    size_t used = 0;
    words[0] = '\0';
    for (size_t i = 0; i < d->n_parameters; i++)
        used += (size_t)snprintf(words + used, sizeof words - used, "%s ", d->parameters[i].name);
    for (size_t i = 0; results && i < d->n_results; i++)
        used += (size_t)snprintf(words + used, sizeof words - used, "%s ", d->results[i].name);
    snprintf(words + used, sizeof words - used, "%s", more);
    return hac_logic_fields(c, node, words);
}

static hac_status bind_argument(hac_logic_checker *c, const hac_yaml_node *map,
                                const hac_parameter *parameter, hac_logic_scope *scope)
{
    const hac_yaml_node *node = hac_logic_field(map, parameter->name);
    const char *name = NULL;
    int vector = -1;
    if (node == NULL)
        return hac_logic_problem_key(c, map, "`%s` of `%s` is missing: a vector of %s", parameter->name,
                                     map->key, hac_element_name(parameter->vector.kind));
    hac_status status = hac_logic_text(c, node, &name);
    if (status == HAC_OK)
        status = hac_vector_read(c, node, name, &vector);
    if (status != HAC_OK)
        return status;
    hac_kind kind = c->logic->vectors[vector].kind;
    if (kind == HAC_KIND_NONE)
        return HAC_INVALID;
    if (kind != parameter->vector.kind)
        return hac_logic_problem(c, node, "`%s` has elements of type %s, and `%s` of `%s` takes %s", name,
                                 hac_element_name(kind), parameter->name, map->key,
                                 hac_element_name(parameter->vector.kind));
    scope->bound[scope->n_bound++] = (hac_binding){parameter->name, vector};
    return HAC_OK;
}

static hac_status out_argument(hac_logic_checker *c, const hac_yaml_node *map, hac_logic_argument *ret)
{
    const hac_yaml_node *node = hac_logic_field(map, "out");
    const char *name = NULL;
    if (node == NULL)
        return hac_logic_problem_key(c, map, "`out` of `%s` is missing: the name of its result", map->key);
    hac_status status = hac_logic_text(c, node, &name);
    *ret = (hac_logic_argument){.spec = hac_subop_argument_find(hac_subop_get(HAC_SUBOP_MAP), "out"),
                                .at = hac_logic_at(node),
                                .vectors = hac_logic_alloc(c, sizeof *ret->vectors),
                                .dimension = HAC_DIMENSION_NONE};
    if (ret->vectors == NULL)
        return HAC_NO_MEMORY;
    ret->vectors[0] = status == HAC_OK ? hac_vector_lookup_or_add(c, node, name) : -1;
    if (ret->vectors[0] < 0)
        return HAC_INVALID;
    ret->n_vectors = 1;
    return HAC_OK;
}

static hac_status compile_body(hac_piece_check *p, const hac_definition *d, hac_logic_argument *ret)
{
    *ret = (hac_logic_argument){.spec = hac_subop_argument_find(p->piece->subop, "expr"),
                                .at = hac_logic_at(p->map),
                                .expressions = hac_logic_alloc(p->c, sizeof *ret->expressions),
                                .n_expressions = 1,
                                .dimension = HAC_DIMENSION_NONE};
    if (ret->expressions == NULL)
        return HAC_NO_MEMORY;
    return hac_check_expression(p->c, p->map, d->body->text, d->result, p->piece->subop->operands_max,
                                &ret->expressions[0], &p->shape);
}

hac_status hac_check_user_piece(hac_logic_checker *c, const hac_yaml_node *node, hac_definition *d,
                                hac_logic_piece *piece)
{
    hac_logic_scope *outer = c->scope, scope = {.file = outer->file, .prefix = outer->prefix, .closed = true};
    hac_piece_check *p = hac_logic_alloc(c, sizeof *p);
    piece->kind = HAC_PIECE_USER;
    piece->subop = hac_subop_get(HAC_SUBOP_MAP);
    piece->version = d->version;
    piece->arguments = hac_logic_alloc(c, 2 * sizeof *piece->arguments);
    if (p == NULL || piece->arguments == NULL)
        return HAC_NO_MEMORY;
    *p = (hac_piece_check){.c = c, .map = node, .piece = piece, .nodes = {node, node}};
    hac_status status = check_keys(c, node, d, false, "out device");
    for (size_t i = 0; i < d->n_parameters && status == HAC_OK; i++)
        status = bind_argument(c, node, &d->parameters[i], &scope);
    if (status == HAC_OK)
        status = out_argument(c, node, &piece->arguments[1]);
    if (status != HAC_OK)
        return status;
    c->scope = &scope;
    status = compile_body(p, d, &piece->arguments[0]);
    piece->n_arguments = status == HAC_OK ? 2 : 0;
    if (status == HAC_OK)
        status = hac_piece_shapes(p);
    if (status == HAC_OK)
        status = hac_piece_write(p);
    c->scope = outer;
    return status;
}

/* ---- OPs ---- */

/* The prefix of names within an OP that is used: the name of the step, with a number if it is taken. */
static const char *prefix_of(hac_logic_checker *c, const hac_yaml_node *item)
{
    const hac_prefix *prefixes = c->prefixes.data;
    const char *outer = c->scope->prefix, *prefix = NULL;
    for (size_t i = 0; i < c->prefixes.n; i++)
        if (prefixes[i].node == item && strcmp(prefixes[i].outer, outer) == 0)
            return prefixes[i].prefix;
    for (unsigned n = 1; prefix == NULL; n++) {
        prefix = n == 1 ? hac_logic_print(c, "%s%s.", outer, c->context.name)
                        : hac_logic_print(c, "%s%s_%u.", outer, c->context.name, n);
        if (prefix == NULL)
            return NULL;
        for (size_t i = 0; prefix != NULL && i < c->logic->n_vectors; i++)
            if (strncmp(c->logic->vectors[i].name, prefix, strlen(prefix)) == 0)
                prefix = NULL;
        for (size_t i = 0; prefix != NULL && i < c->prefixes.n; i++)
            if (strcmp(prefixes[i].prefix, prefix) == 0)
                prefix = NULL;
    }
    hac_prefix *entry = hac_logic_grow(c, &c->prefixes, sizeof *entry);
    if (entry == NULL)
        return NULL;
    *entry = (hac_prefix){item, outer, prefix};
    return prefix;
}

typedef struct named_dimension {
    const char *name, *what; /* "n"; rows or columns */
    int dimension;
    const char *parameter;
} named_dimension;

typedef struct named_dimensions {
    named_dimension of[2 * HAC_LOGIC_PARAMETERS_MAX];
    size_t n;
} named_dimensions;

static hac_status bind_dimension(hac_logic_checker *c, const hac_yaml_node *node,
                                 const hac_parameter *parameter, const char *name, const char *what,
                                 int dimension, named_dimensions *all)
{
    if (name == NULL || dimension == HAC_DIMENSION_NONE)
        return HAC_OK;
    for (size_t i = 0; i < all->n; i++)
        if (strcmp(all->of[i].name, name) == 0 && !hac_dimension_fits(c, all->of[i].dimension, dimension))
            return hac_dimensions_differ(
                c, node, &(hac_counted){parameter->name, what, dimension, false},
                &(hac_counted){all->of[i].parameter, all->of[i].what, all->of[i].dimension, false});
    all->of[all->n++] = (named_dimension){name, what, dimension, parameter->name};
    return HAC_OK;
}

static bool form_fits(hac_vector_template wanted, hac_vector_template is)
{
    const hac_op_layout *a = hac_op_layout_of(wanted), *b = hac_op_layout_of(is);
    return wanted == is || (a->dense && !a->one_row && b->dense && !b->one_row);
}

static hac_status bind_parameter(hac_logic_checker *c, const hac_yaml_node *node,
                                 const hac_parameter *parameter, named_dimensions *dimensions, int *ret)
{
    const char *name = NULL;
    hac_status status = hac_logic_text(c, node, &name);
    if (status == HAC_OK)
        status = hac_vector_read(c, node, name, ret);
    if (status != HAC_OK)
        return status;
    const hac_logic_vector *v = &c->logic->vectors[*ret];
    if (v->kind == HAC_KIND_NONE)
        return HAC_INVALID;
    if (v->kind != parameter->vector.kind || !form_fits(parameter->vector.form, v->form))
        return hac_logic_problem(c, node, "`%s` is a %s of %s, and `%s` takes a %s of %s", name,
                                 hac_vector_template_get(v->form)->name, hac_element_name(v->kind),
                                 parameter->name, hac_vector_template_get(parameter->vector.form)->name,
                                 hac_element_name(parameter->vector.kind));
    status = bind_dimension(c, node, parameter, parameter->rows, "rows", c->state[*ret].rows, dimensions);
    return status == HAC_OK ? bind_dimension(c, node, parameter, parameter->columns, "columns",
                                             c->state[*ret].columns, dimensions)
                            : status;
}

static hac_status bind_result(hac_logic_checker *c, const hac_yaml_node *node, int *ret)
{
    const char *name = NULL;
    hac_status status = hac_logic_text(c, node, &name);
    if (status != HAC_OK)
        return status;
    *ret = hac_vector_lookup_or_add(c, node, name);
    return *ret >= 0 ? HAC_OK : HAC_INVALID;
}

static hac_status bind_all(hac_logic_checker *c, const hac_yaml_node *use, const hac_yaml_node *with,
                           const hac_definition *d, hac_logic_scope *scope)
{
    named_dimensions dimensions = {.n = 0};
    hac_status status = with != NULL ? hac_logic_need(c, with, HAC_YAML_MAP) : HAC_OK;
    if (status == HAC_OK && with != NULL)
        status = check_keys(c, with, d, true, "");
    for (size_t i = 0; i < d->n_parameters + d->n_results && status == HAC_OK; i++) {
        bool result = i >= d->n_parameters;
        const hac_parameter *parameter = result ? &d->results[i - d->n_parameters] : &d->parameters[i];
        const hac_yaml_node *node = with != NULL ? hac_logic_field(with, parameter->name) : NULL;
        hac_binding *bound = &scope->bound[scope->n_bound];
        if (node == NULL)
            return hac_logic_problem(c, use, "`%s` needs `with: {%s: …}`: its %s %s, a %s of %s", use->text,
                                     parameter->name, result ? "result" : "parameter", parameter->name,
                                     hac_vector_template_get(parameter->vector.form)->name,
                                     hac_element_name(parameter->vector.kind));
        bound->name = parameter->name;
        status = result ? bind_result(c, node, &bound->vector)
                        : bind_parameter(c, node, parameter, &dimensions, &bound->vector);
        scope->n_bound++;
    }
    return status;
}

static const char *op_at(const void *list, size_t i)
{
    return hac_library_at(list, i)->name;
}

static hac_status unknown_op(hac_logic_checker *c, const hac_yaml_node *use)
{
    char there[HAC_SUGGEST_TEXT_MAX], show[HAC_YAML_SHOW_SIZE];
    size_t n = c->library != NULL ? hac_library_count(c->library) : 0;
    return hac_logic_problem(
        c, use, "no OP is called `%s`; of your own %s. `hacctl opsplit op add FILE` adds one",
        hac_yaml_show(use->text, show), hac_suggest_text(use->text, c->library, n, op_at, there));
}

hac_status hac_check_use(hac_logic_checker *c, const hac_yaml_node *item, const hac_yaml_node *use,
                         hac_body_checker *check_body, hac_grow *steps)
{
    hac_definition *d = NULL;
    const char *name = NULL;
    hac_logic_scope *outer = c->scope, *scope = hac_logic_alloc(c, sizeof *scope);
    hac_status status = scope != NULL ? hac_logic_text(c, use, &name) : HAC_NO_MEMORY;
    if (status == HAC_OK)
        status = hac_definition_find(c, HAC_LIBRARY_OP, name, &d);
    if (status != HAC_OK)
        return status;
    if (d == NULL)
        return unknown_op(c, use);
    if (c->uses == HAC_LOGIC_USES_MAX)
        return hac_logic_problem(c, use, "more than %d OPs within each other; does `%s` use itself?",
                                 HAC_LOGIC_USES_MAX, name);
    *scope = (hac_logic_scope){.file = d->file, .prefix = prefix_of(c, item)};
    if (scope->prefix == NULL)
        return HAC_NO_MEMORY;
    status = bind_all(c, use, hac_logic_field(item, "with"), d, scope);
    if (status != HAC_OK)
        return status;
    if (c->context.operation == HAC_OPERATION_NONE)
        c->context.operation = d->operation;
    c->uses++;
    c->scope = scope;
    status = check_body(c, d->body, steps);
    c->scope = outer;
    c->uses--;
    return status;
}

/* ---- by themselves ---- */

static int parameter_dimension(hac_logic_checker *c, const hac_parameter *parameter, const char *name,
                               bool columns)
{
    char text[2 * HAC_LIBRARY_NAME_MAX];
    if (name != NULL)
        return hac_dimension_parameter(c, name);
    const hac_op_layout *layout = hac_op_layout_of(parameter->vector.form);
    if (layout->one_row || (columns && (layout->dense || !layout->columns)))
        return HAC_DIMENSION_ONE;
    snprintf(text, sizeof text, "%s of %s", columns ? "columns" : "rows", parameter->name);
    return hac_dimension_parameter(c, text);
}

static hac_status add_parameter(hac_logic_checker *c, const hac_parameter *parameter, bool subop)
{
    int index = hac_vector_add(c, parameter->node, parameter->name);
    if (index < 0)
        return HAC_INVALID;
    hac_logic_vector *v = &c->logic->vectors[index];
    v->form = v->declared_form = parameter->vector.form;
    v->kind = v->declared_kind = parameter->vector.kind;
    v->origin = HAC_ORIGIN_PARAMETER;
    v->rows = subop ? hac_dimension_parameter(c, "rows")
                    : parameter_dimension(c, parameter, parameter->rows, false);
    v->columns = subop ? HAC_DIMENSION_ONE : parameter_dimension(c, parameter, parameter->columns, true);
    if (hac_op_form_has_entries(v->form))
        v->entries = hac_dimension_data(c, parameter->node, 0, "entries");
    c->state[index] = (hac_vector_state){true, 0, v->rows, v->columns, v->entries, HAC_DIMENSION_NONE};
    return HAC_OK;
}

static hac_status check_results(hac_logic_checker *c, const hac_definition *d)
{
    hac_status first = HAC_OK;
    for (size_t i = 0; i < d->n_results; i++) {
        const hac_parameter *result = &d->results[i];
        int vector = hac_vector_lookup(c, result->name);
        hac_yaml_node key = hac_logic_key_node(result->node);
        hac_status status = HAC_OK;
        if (vector < 0 || !c->state[vector].defined)
            status = hac_logic_problem(c, &key, "no step gives the result `%s` a value%s", result->name,
                                       vector >= 0 && c->state[vector].maybe > 0 ? " for certain" : "");
        else if (c->logic->vectors[vector].kind != HAC_KIND_NONE &&
                 (c->logic->vectors[vector].kind != result->vector.kind ||
                  !form_fits(result->vector.form, c->logic->vectors[vector].form)))
            status = hac_logic_problem(c, &key, "the result `%s` is said to be a %s of %s, and is a %s of %s",
                                       result->name, hac_vector_template_get(result->vector.form)->name,
                                       hac_element_name(result->vector.kind),
                                       hac_vector_template_get(c->logic->vectors[vector].form)->name,
                                       hac_element_name(c->logic->vectors[vector].kind));
        first = first != HAC_OK ? first : status;
    }
    return first;
}

typedef struct definition_walk {
    const hac_definition *definition;
    const hac_vector_state *start;
    hac_body_checker *check_body;
} definition_walk;

static hac_status walk_op(hac_logic_checker *c, const void *what)
{
    const definition_walk *w = what;
    hac_grow steps = {NULL, 0, 0};
    memcpy(c->state, w->start, sizeof c->state);
    c->context = (hac_op_context){.name = w->definition->name};
    hac_status status = w->check_body(c, w->definition->body, &steps);
    return status == HAC_OK ? check_results(c, w->definition) : status;
}

hac_status hac_definition_check(hac_logic_checker *c, const hac_definition *d, hac_body_checker *check_body)
{
    bool subop = d->kind == HAC_LIBRARY_SUBOP;
    hac_logic_expression *expression = NULL;
    hac_shape shape;
    const char *text = NULL;
    hac_status status = HAC_OK;
    for (size_t i = 0; i < d->n_parameters && status == HAC_OK; i++)
        status = add_parameter(c, &d->parameters[i], subop);
    if (status != HAC_OK)
        return status;
    if (subop) {
        status = hac_logic_text(c, d->body, &text);
        return status == HAC_OK ? hac_check_expression(c, d->body, text, d->result, HAC_OP_OPERANDS_MAX - 1,
                                                       &expression, &shape)
                                : status;
    }
    definition_walk w = {.definition = d, .check_body = check_body};
    hac_vector_state *start = hac_logic_alloc(c, sizeof c->state);
    if (start == NULL)
        return HAC_NO_MEMORY;
    memcpy(start, c->state, sizeof c->state);
    w.start = start;
    return hac_checker_settle(c, walk_op, &w);
}
