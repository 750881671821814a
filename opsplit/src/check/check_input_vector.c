/* SPDX-License-Identifier: Apache-2.0 */
/* Inputs that are vectors, `link: {template: SparseMatrix, type: f64, columns: link}`. A program passes them
 * in. */
#include <string.h>

#include "base/op_layout.h"
#include "check.h"

/* The dimensions that an input may have beside its rows. */
enum { COLUMNS = 0, ENTRIES = 1 };

/* Reads `columns` of a template that has columns: a number, or the rows of an input, maybe of this one. */
static hac_status check_columns(hac_logic_checker *c, const hac_yaml_node *map, int index,
                                hac_logic_vector *v)
{
    const hac_yaml_node *columns = hac_logic_field(map, "columns");
    const hac_op_layout *layout = hac_op_layout_of(v->form);
    bool matrix = layout->columns && !layout->dense;
    if (columns != NULL && (!layout->columns || layout->one_row))
        return hac_logic_problem_key(c, columns, "a %s has no columns",
                                     hac_vector_template_get(v->form)->name);
    if (columns != NULL)
        return hac_check_extent(c, columns, index + 1, &v->columns);
    v->columns = matrix ? hac_dimension_data(c, map, COLUMNS, "columns of the matrix") : HAC_DIMENSION_ONE;
    return HAC_OK;
}

static hac_status check_shape(hac_logic_checker *c, const hac_yaml_node *map, int index, hac_logic_vector *v)
{
    const hac_yaml_node *rows = hac_logic_field(map, "rows");
    hac_logic_input *input = &c->logic->inputs[index];
    hac_status status = HAC_OK;
    if (rows != NULL && hac_op_layout_of(v->form)->one_row)
        return hac_logic_problem_key(c, rows, "a Var has one row; a FixValueVector has `rows`");
    input->rows = hac_op_layout_of(v->form)->one_row ? HAC_DIMENSION_ONE : hac_dimension_input(c, index);
    if (rows != NULL)
        status = hac_check_extent(c, rows, index, &input->rows);
    v->rows = input->rows;
    if (!hac_op_form_is_dense(v->form))
        v->entries = hac_dimension_data(c, map, ENTRIES, "entries of the input");
    return status == HAC_OK ? check_columns(c, map, index, v) : status;
}

hac_status hac_check_input_vector(hac_logic_checker *c, const hac_yaml_node *map, int index)
{
    hac_logic_input *input = &c->logic->inputs[index];
    hac_status status = hac_logic_fields(c, map, "template type rows columns");
    int vector = status == HAC_OK ? hac_vector_add(c, map, map->key) : -1;
    if (vector < 0)
        return HAC_INVALID;
    hac_logic_vector *v = &c->logic->vectors[vector];
    v->at = input->at;
    v->origin = HAC_ORIGIN_INPUT;
    v->input = index;
    input->is_vector = true;
    input->file_vector = input->name_vector = -1;
    status = hac_check_declared(c, map, v);
    if (status == HAC_OK && (v->form == HAC_VECTOR_NONE || v->kind == HAC_KIND_NONE))
        return hac_logic_problem_key(
            c, map, "`%s` needs `template` and `type`, as in {template: FixValueVector, type: f64}",
            map->key);
    if (status == HAC_OK)
        status = check_shape(c, map, index, v);
    if (status != HAC_OK)
        return status;
    c->state[vector] = (hac_vector_state){true, 0, v->rows, v->columns, v->entries, HAC_DIMENSION_NONE};
    input->columns = hac_logic_alloc(c, sizeof *input->columns);
    if (input->columns == NULL)
        return HAC_NO_MEMORY;
    input->columns[0] = (hac_logic_column){.name = input->name, .vector = vector};
    input->n_columns = 1;
    return HAC_OK;
}
