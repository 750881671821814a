/* SPDX-License-Identifier: Apache-2.0 */
/* The section `vectors`: templates, types, values, split and partitioner. */
#include <stdio.h>
#include <string.h>

#include "base/op_layout.h"
#include "base/suggest.h"
#include "check.h"

static const char elements[] = "bool i32 i64 u32 u64 f32 f64 string";
static const char partitioners[] = "range hash round-robin weight";

hac_status hac_check_declared(hac_logic_checker *c, const hac_yaml_node *map, hac_logic_vector *ret)
{
    int place;
    char templates[HAC_TEMPLATE_WORDS_MAX];
    const hac_yaml_node *form = hac_logic_field(map, "template"), *type = hac_logic_field(map, "type");
    hac_status status = HAC_OK;
    if (form != NULL &&
        (status = hac_logic_word(c, form, hac_vector_template_words(templates), &place)) == HAC_OK)
        ret->form = ret->declared_form = hac_vector_template_find(form->text);
    if (!hac_logic_goes_on(status))
        return status;
    hac_status second = HAC_OK;
    if (type != NULL && (second = hac_logic_word(c, type, elements, &place)) == HAC_OK)
        ret->kind = ret->declared_kind = hac_element_find(type->text);
    if (second != HAC_OK)
        return second;
    if (ret->form != HAC_VECTOR_NONE && ret->kind != HAC_KIND_NONE &&
        hac_op_layout_of(ret->form)->text != (ret->kind == HAC_KIND_STRING))
        return hac_logic_problem(c, type, "a %s cannot have elements of type %s; texts are SparseTextVectors",
                                 hac_vector_template_get(ret->form)->name, hac_element_name(ret->kind));
    if (hac_op_layout_of(ret->form)->text)
        ret->kind = ret->declared_kind = HAC_KIND_STRING;
    if (ret->kind == HAC_KIND_STRING)
        ret->form = ret->declared_form = HAC_VECTOR_SPARSE_TEXT;
    return status;
}

/* Reads `partitioner: hash`, `{weight: V}`, `{hash: V}` or `{expr: "…"}`. Vectors that it names are
 * checked at the end. */
static hac_status check_partitioner(hac_logic_checker *c, const hac_yaml_node *node, hac_logic_vector *v,
                                    const hac_yaml_node **ret_later)
{
    static const hac_partitioner kinds[] = {HAC_PARTITION_RANGE, HAC_PARTITION_HASH,
                                            HAC_PARTITION_ROUND_ROBIN, HAC_PARTITION_WEIGHT};
    int place;
    if (node->kind == HAC_YAML_SCALAR) {
        hac_status status = hac_logic_word(c, node, partitioners, &place);
        if (status == HAC_OK)
            v->partitioner = kinds[place];
        return status;
    }
    hac_status status = hac_logic_need(c, node, HAC_YAML_MAP);
    if (status == HAC_OK)
        status = hac_logic_fields(c, node, "weight hash expr");
    if (status == HAC_OK && node->count != 1)
        return hac_logic_problem(c, node, "`partitioner` has %zu keys; it takes one of weight, hash, expr",
                                 node->count);
    if (status != HAC_OK)
        return status;
    const char *key = node->first->key;
    v->partitioner = strcmp(key, "weight") == 0 ? HAC_PARTITION_WEIGHT
                     : strcmp(key, "hash") == 0 ? HAC_PARTITION_HASH
                                                : HAC_PARTITION_EXPRESSION;
    *ret_later = node->first;
    return HAC_OK;
}

static hac_status check_split(hac_logic_checker *c, const hac_yaml_node *map, hac_logic_vector *v)
{
    const hac_yaml_node *split = hac_logic_field(map, "split");
    const hac_yaml_node *partitioner = hac_logic_field(map, "partitioner");
    uint64_t n;
    hac_status status = HAC_OK;
    if (split != NULL) {
        status = hac_logic_whole(c, split, 1, HAC_LOGIC_SPLIT_MAX, &n);
        if (status != HAC_OK)
            return status;
        v->split = (unsigned)n;
    }
    if (partitioner != NULL)
        status = check_partitioner(c, partitioner, v, &c->partition[v - c->logic->vectors]);
    return status;
}

static hac_status check_vector(hac_logic_checker *c, const hac_yaml_node *node)
{
    if (hac_logic_need(c, node, HAC_YAML_MAP) != HAC_OK ||
        hac_logic_fields(c, node, "template type value rows columns split partitioner") != HAC_OK ||
        hac_logic_new_name(c, node, node->key) != HAC_OK)
        return HAC_INVALID;
    if (hac_vector_lookup(c, node->key) >= 0)
        return hac_logic_problem_key(c, node, "`%s` is an input already; one of them needs another name",
                                     node->key);
    int index = hac_vector_add(c, node, node->key);
    if (index < 0)
        return HAC_INVALID;
    hac_logic_vector *v = &c->logic->vectors[index];
    v->at = hac_logic_key_at(node);
    v->declared = true;
    hac_status status = hac_check_declared(c, node, v);
    if (status == HAC_OK)
        status = check_split(c, node, v);
    if (status != HAC_OK)
        return status;
    const hac_yaml_node *value = hac_logic_field(node, "value"), *rows = hac_logic_field(node, "rows");
    if (value == NULL && rows != NULL)
        return hac_logic_problem_key(c, rows, "`rows` is how often a `value` is repeated, and there is none");
    if (value == NULL)
        return HAC_OK;
    v->origin = HAC_ORIGIN_VALUE;
    c->value[index] = value;
    status = hac_value_describe(c, node, value, v, &c->state[index]);
    v->rows = c->state[index].rows;
    v->columns = c->state[index].columns;
    v->entries = c->state[index].entries;
    return status;
}

hac_status hac_check_vectors(hac_logic_checker *c, const hac_yaml_node *map)
{
    if (map == NULL)
        return HAC_OK;
    hac_status status = hac_logic_need(c, map, HAC_YAML_MAP);
    return status == HAC_OK ? hac_logic_each(c, map, check_vector) : status;
}

/* ---- when all is settled ---- */

static hac_status finish_partition(hac_logic_checker *c, int index)
{
    hac_logic_vector *v = &c->logic->vectors[index];
    const hac_yaml_node *node = c->partition[index];
    const char *text = NULL;
    hac_shape shape;
    int by = -1;
    hac_status status = hac_logic_text(c, node, &text);
    if (status != HAC_OK)
        return status;
    if (v->partitioner == HAC_PARTITION_EXPRESSION) {
        status = hac_check_expression(c, node, text, HAC_KIND_I64, 7, &v->partition, &shape);
        if (status == HAC_OK && shape.form != HAC_VECTOR_VAR && !hac_dimension_fits(c, shape.rows, v->rows))
            return hac_dimensions_differ(c, node, &(hac_counted){"expr", "rows", shape.rows, false},
                                         &(hac_counted){v->name, "rows", v->rows, false});
        return status;
    }
    status = hac_vector_read(c, node, text, &by);
    if (status != HAC_OK)
        return status;
    if (v->partitioner == HAC_PARTITION_WEIGHT && c->logic->vectors[by].kind == HAC_KIND_STRING)
        return hac_logic_problem(c, node, "`%s` is text; weights are numbers", text);
    if (!hac_dimension_fits(c, c->logic->vectors[by].rows, v->rows))
        return hac_dimensions_differ(c, node, &(hac_counted){text, "rows", c->logic->vectors[by].rows, false},
                                     &(hac_counted){v->name, "rows", v->rows, false});
    v->partition_by = by;
    return HAC_OK;
}

static void note_growth(hac_logic_checker *c, hac_logic_vector *v)
{
    v->grown = v->form != v->declared_form || v->kind != v->declared_kind;
    if (!v->grown || v->declared_form == HAC_VECTOR_NONE)
        return;
    hac_yaml_node at = {.key_line = v->at.line, .key_column = v->at.column};
    hac_logic_note(c, &at, "vector `%s` grows from a %s of %s to a %s of %s: that is what is written into it",
                   v->name, hac_vector_template_get(v->declared_form)->name,
                   hac_element_name(v->declared_kind), hac_vector_template_get(v->form)->name,
                   hac_element_name(v->kind));
}

/* Checks that the vector that rows are hashed by has one value in each row. */
static hac_status check_hash(hac_logic_checker *c, const hac_logic_vector *v, const hac_yaml_node *node)
{
    const hac_logic_vector *by = v->partition_by >= 0 ? &c->logic->vectors[v->partition_by] : v;
    if (v->partitioner != HAC_PARTITION_HASH || hac_op_layout_of(by->form)->text ||
        !hac_op_form_has_entries(by->form))
        return HAC_OK;
    return hac_logic_problem(c, node,
                             "a row of `%s`, a %s, is not one value that could be hashed; name a vector: "
                             "{hash: V}",
                             by->name, hac_vector_template_get(by->form)->name);
}

/* Finishes a vector. It is a mistake to declare a vector that has no value and is never written. */
static hac_status finish_vector(hac_logic_checker *c, int index)
{
    hac_logic_vector *v = &c->logic->vectors[index];
    hac_yaml_node at = {.line = v->at.line, .column = v->at.column};
    if (v->declared && c->value[index] == NULL && !c->written[index])
        return hac_logic_problem(
            c, &at,
            "nothing writes vector `%s`, and it has no `value`; leave it out or name it as "
            "a result",
            v->name);
    if (v->kind == HAC_KIND_NONE)
        return HAC_OK; /* reported where it is written */
    hac_status status = HAC_OK;
    if (c->value[index] != NULL)
        status = hac_value_build(c, c->value[index], v);
    if (status == HAC_OK && c->partition[index] != NULL)
        status = finish_partition(c, index);
    if (status == HAC_OK)
        status = check_hash(c, v, c->partition[index] != NULL ? c->partition[index] : &at);
    note_growth(c, v);
    return status;
}

hac_status hac_finish_vectors(hac_logic_checker *c)
{
    hac_status first = HAC_OK;
    for (size_t i = 0; i < c->logic->n_vectors; i++) {
        hac_status status = finish_vector(c, (int)i);
        if (!hac_logic_goes_on(status))
            return status;
        first = first != HAC_OK ? first : status;
    }
    return first;
}
