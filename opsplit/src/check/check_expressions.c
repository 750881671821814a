/* SPDX-License-Identifier: Apache-2.0 */
/* Expressions, compiled against the vectors that are visible at their place. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "check.h"
#include "expr/expression.h"
#include "expr/machine.h"

#define PROGRAM_BYTES_MAX (HAC_OP_CALL_MAX - 1024) /* the rest of a call is its head and operands */

/* The columns that an expression may name, and the vector of each. */
typedef struct name_table {
    hac_schema schema;
    int vectors[HAC_COLUMNS_MAX];
} name_table;

static void clear_columns(name_table *all)
{
    hac_schema_clear(&all->schema);
}

static void add_column(hac_logic_checker *c, name_table *ret, const char *name, int vector)
{
    const hac_logic_vector *v = &c->logic->vectors[vector];
    if (ret->schema.n_fields == HAC_COLUMNS_MAX || hac_schema_find(&ret->schema, name, strlen(name)) >= 0)
        return;
    hac_field *field = &ret->schema.fields[ret->schema.n_fields];
    snprintf(field->name, sizeof field->name, "%s", name);
    /* A vector of unknown type, because of an earlier problem, counts as a number. */
    field->type = (hac_value_type){.kind = v->kind != HAC_KIND_NONE ? (uint8_t)v->kind : HAC_KIND_F64};
    ret->vectors[ret->schema.n_fields++] = vector;
}

static hac_status collect(hac_logic_checker *c, name_table *ret)
{
    size_t prefix = strlen(c->scope->prefix);
    ret->schema.fields = calloc(HAC_COLUMNS_MAX, sizeof *ret->schema.fields);
    if (ret->schema.fields == NULL)
        return hac_logic_no_memory(c);
    for (size_t i = 0; i < c->scope->n_bound; i++)
        add_column(c, ret, c->scope->bound[i].name, c->scope->bound[i].vector);
    for (size_t i = 0; i < c->logic->n_vectors && !c->scope->closed; i++)
        if (strncmp(c->logic->vectors[i].name, c->scope->prefix, prefix) == 0)
            add_column(c, ret, c->logic->vectors[i].name + prefix, (int)i);
    return HAC_OK;
}

hac_kind hac_element_of(hac_value_type type)
{
    switch (type.kind) {
    case HAC_KIND_BOOL:
    case HAC_KIND_I32:
    case HAC_KIND_I64:
    case HAC_KIND_U32:
    case HAC_KIND_U64:
    case HAC_KIND_F32:
    case HAC_KIND_F64:
        return type.kind;
    case HAC_KIND_I8:
    case HAC_KIND_I16:
        return HAC_KIND_I32;
    case HAC_KIND_U8:
    case HAC_KIND_U16:
        return HAC_KIND_U32;
    case HAC_KIND_DECIMAL:
        return HAC_KIND_F64;
    default:
        return HAC_KIND_NONE;
    }
}

/* Compiles to the kind that is wanted, or to the kind in which vectors store the result. */
static hac_status compile(hac_logic_checker *c, const hac_yaml_node *node, const char *text, hac_kind as,
                          const hac_schema *schema, hac_expression *ret)
{
    size_t character = 0;
    char name[HAC_VALUE_TYPE_NAME_MAX], unknown[HAC_FIELD_NAME_MAX];
    hac_error err = HAC_ERROR_NONE;
    hac_value_type type = {.kind = (uint8_t)as};
    hac_status status = hac_expression_compile(text, schema, type, ret, &character, &err);
    if (status == HAC_INVALID && sscanf(err.message, "unknown column '%127[^']", unknown) == 1)
        return hac_vector_unknown(c, node, character, unknown);
    if (status == HAC_INVALID)
        return hac_logic_problem_in(c, node, character, err.message);
    if (status != HAC_OK)
        return hac_fail(c->err, status, "%s", err.message);
    type.kind = (uint8_t)hac_element_of(ret->type);
    if (type.kind == ret->type.kind)
        return HAC_OK;
    hac_value_type_name(ret->type, name);
    hac_expression_clear(ret);
    if (type.kind == HAC_KIND_NONE)
        return hac_logic_problem(c, node,
                                 "this gives %s, and elements of vectors are numbers or truth values", name);
    status = hac_expression_compile(text, schema, type, ret, &character, &err);
    return status == HAC_OK ? HAC_OK : hac_fail(c->err, status, "%s", err.message);
}

/* ---- what is read ---- */

static hac_status check_reads(hac_logic_checker *c, const hac_yaml_node *node, const hac_logic_expression *e)
{
    for (size_t i = 0; i < e->n_vectors; i++) {
        const hac_logic_vector *v = &c->logic->vectors[e->vectors[i]];
        hac_status status = hac_vector_defined(c, node, e->vectors[i]);
        if (status != HAC_OK)
            return status;
        if (v->kind == HAC_KIND_NONE)
            return HAC_INVALID; /* reported where it is written */
        if (v->kind == HAC_KIND_STRING)
            return hac_logic_problem(
                c, node,
                "`%s` is text, which expressions of sub-operators do not read; number it "
                "with `index`, or filter it with `where` of its input",
                hac_vector_name(c, e->vectors[i]));
    }
    return HAC_OK;
}

static bool is_one(const hac_vector_state *state)
{
    return state->rows == HAC_DIMENSION_ONE && state->columns == HAC_DIMENSION_ONE &&
           state->entries == HAC_DIMENSION_NONE;
}

static hac_status shapes_differ(hac_logic_checker *c, const hac_yaml_node *node, int a, int b)
{
    const hac_vector_state *s = &c->state[a], *t = &c->state[b];
    bool rows = !hac_dimension_fits(c, s->rows, t->rows);
    bool columns = !rows && !hac_dimension_fits(c, s->columns, t->columns);
    if (!rows && !columns)
        return hac_logic_problem(c, node,
                                 "`%s` and `%s` are sparse with entries in different places; an expression "
                                 "needs entries in the same places",
                                 hac_vector_name(c, a), hac_vector_name(c, b));
    const char *what = rows ? "rows" : "columns";
    return hac_dimensions_differ(
        c, node, &(hac_counted){hac_vector_name(c, a), what, rows ? s->rows : s->columns, false},
        &(hac_counted){hac_vector_name(c, b), what, rows ? t->rows : t->columns, false});
}

/* Adds a vector to the shape of the result: dense values for rows, a global value for global values only. */
static void add_shape(hac_shape *shape, const hac_vector_state *state, hac_vector_template form)
{
    if (shape->form == HAC_VECTOR_VAR)
        *shape = (hac_shape){form == HAC_VECTOR_VAR ? HAC_VECTOR_FIX_VALUE : form, state->rows,
                             state->columns, state->entries, HAC_DIMENSION_NONE};
    else if (shape->form == HAC_VECTOR_PVAR && form != HAC_VECTOR_VAR)
        shape->form = form;
}

static hac_status check_shape(hac_logic_checker *c, const hac_yaml_node *node, hac_logic_expression *e,
                              hac_shape *ret)
{
    hac_shape shape = {HAC_VECTOR_VAR, HAC_DIMENSION_ONE, HAC_DIMENSION_ONE, HAC_DIMENSION_NONE,
                       HAC_DIMENSION_NONE};
    int first = -1;
    for (size_t i = 0; i < e->n_vectors; i++) {
        const hac_vector_state *state = &c->state[e->vectors[i]];
        if (is_one(state)) {
            e->ones |= UINT64_C(1) << i;
            continue;
        }
        const hac_vector_state *other = first >= 0 ? &c->state[first] : state;
        if (!hac_dimension_fits(c, other->rows, state->rows) ||
            !hac_dimension_fits(c, other->columns, state->columns) ||
            (first >= 0 && other->entries != state->entries))
            return shapes_differ(c, node, first, e->vectors[i]);
        first = first >= 0 ? first : e->vectors[i];
        add_shape(&shape, state, c->logic->vectors[e->vectors[i]].form);
    }
    if (e->copy >= 0)
        shape.below = c->state[e->copy].below;
    *ret = shape;
    return HAC_OK;
}

/* ---- the whole ---- */

static hac_status keep_program(hac_logic_checker *c, hac_logic_expression *e, hac_expression *made)
{
    hac_program **program = hac_logic_grow(c, &c->programs, sizeof *program);
    if (program == NULL)
        return HAC_NO_MEMORY;
    *program = e->program = hac_steal_ptr(made->program);
    e->exact = hac_program_exact(e->program);
    return HAC_OK;
}

/* The vector that the whole expression names; -1: the expression is more than a name. */
static int only_vector(const char *text, const name_table *all, const hac_expression *made, hac_kind as)
{
    if (made->n_columns != 1)
        return -1;
    const hac_field *field = &all->schema.fields[made->columns[0]];
    size_t length = strlen(field->name), blanks = strspn(text, " ");
    const char *name = text + blanks;
    bool quoted = name[0] == '"' && strncmp(name + 1, field->name, length) == 0 && name[length + 1] == '"';
    if (!quoted && strncmp(name, field->name, length) != 0)
        return -1;
    name += length + (quoted ? 2 : 0);
    bool same = as == HAC_KIND_NONE || as == (hac_kind)field->type.kind;
    return name[strspn(name, " ")] == '\0' && same ? all->vectors[made->columns[0]] : -1;
}

static hac_status fill_in(hac_logic_checker *c, const hac_yaml_node *node, const char *text, hac_kind as,
                          const name_table *all, hac_expression *made, hac_logic_expression *e)
{
    e->at = hac_logic_at(node);
    e->text = hac_logic_copy(c, text);
    e->vectors = hac_logic_alloc(c, made->n_columns * sizeof *e->vectors);
    if (e->text == NULL || e->vectors == NULL)
        return HAC_NO_MEMORY;
    e->n_vectors = made->n_columns;
    e->constant = made->n_columns == 0;
    e->kind = made->type.kind;
    for (size_t i = 0; i < made->n_columns; i++)
        e->vectors[i] = all->vectors[made->columns[i]];
    e->copy = only_vector(text, all, made, as);
    return keep_program(c, e, made);
}

static hac_status check_size(hac_logic_checker *c, const hac_yaml_node *node, const hac_logic_expression *e,
                             unsigned max)
{
    hac_text bytes = HAC_TEXT_NONE;
    hac_program_write(e->program, &bytes);
    size_t n = bytes.bytes;
    bool broken = bytes.broken;
    hac_text_clear(&bytes);
    if (broken)
        return hac_logic_no_memory(c);
    if (n > PROGRAM_BYTES_MAX)
        return hac_logic_problem(c, node, "the expression is too long for one sub-operator; make two of it");
    if (e->n_vectors > max)
        return hac_logic_problem(c, node,
                                 "the expression reads %zu vectors, and at most %u are allowed here; compute "
                                 "a part of it first, with `map`",
                                 e->n_vectors, max);
    return HAC_OK;
}

static hac_status check_expression(hac_logic_checker *c, const hac_yaml_node *node, const char *text,
                                   hac_kind as, unsigned max, hac_logic_expression *e, hac_shape *ret_shape)
{
    hac_cleanup(clear_columns) name_table all = {.schema = {NULL, 0}};
    hac_expression made = {0};
    if (strlen(text) > HAC_LOGIC_EXPRESSION_MAX)
        return hac_logic_problem(c, node, "an expression of more than %d bytes", HAC_LOGIC_EXPRESSION_MAX);
    hac_status status = collect(c, &all);
    if (status == HAC_OK)
        status = compile(c, node, text, as, &all.schema, &made);
    if (status == HAC_OK)
        status = fill_in(c, node, text, as, &all, &made, e);
    hac_expression_clear(&made);
    if (status == HAC_OK)
        status = check_reads(c, node, e);
    if (status == HAC_OK)
        status = check_size(c, node, e, max);
    return status == HAC_OK ? check_shape(c, node, e, ret_shape) : status;
}

hac_status hac_check_expression(hac_logic_checker *c, const hac_yaml_node *node, const char *text,
                                hac_kind as, unsigned max, hac_logic_expression **ret, hac_shape *ret_shape)
{
    hac_logic_expression *e = hac_logic_alloc(c, sizeof *e);
    if (e == NULL)
        return HAC_NO_MEMORY;
    hac_status status = check_expression(c, node, text, as, max, e, ret_shape);
    if (status == HAC_OK)
        *ret = e;
    return status;
}

hac_status hac_check_scalar(hac_logic_checker *c, const hac_yaml_node *node, hac_kind as,
                            hac_logic_expression **ret)
{
    char phrase[HAC_DIMENSION_PHRASE_SIZE];
    const char *text;
    hac_shape shape;
    hac_status status = hac_logic_text(c, node, &text);
    if (status == HAC_OK)
        status = hac_check_expression(c, node, text, as, HAC_OP_OPERANDS_MAX - 1, ret, &shape);
    if (status != HAC_OK)
        return status;
    if (shape.rows != HAC_DIMENSION_ONE || shape.columns != HAC_DIMENSION_ONE)
        return hac_logic_problem(
            c, node, "this has %s, and here one value is needed; `reduce` makes one value of many",
            hac_dimension_phrase(c, shape.rows, "rows", phrase));
    return HAC_OK;
}

bool hac_expression_constant(const hac_logic_expression *e, int64_t *ret)
{
    hac_machine_c *machine = NULL;
    hac_column value;
    if (!e->constant || hac_machine_c_new_once(e->program, 256, &machine, NULL) != HAC_OK)
        return false;
    bool good = hac_machine_c_constant(machine, &value) == HAC_ROW_OK &&
                (hac_repr_of(value.type) == HAC_REPR_I64 || hac_repr_of(value.type) == HAC_REPR_U64);
    if (good)
        memcpy(ret, value.values, sizeof *ret);
    hac_machine_c_free(machine);
    return good;
}
