/* SPDX-License-Identifier: Apache-2.0 */
/* Vectors that a program passes in as inputs, and vectors that it gets back. Inputs are copied once,
 * because they stay the program's. */
#include "given_vectors.h"

#include <string.h>

#include "run/state/exchange.h"
#include "run/state/run_base.h"
#include "run/state/vectors.h"

/* ---- inputs ---- */

static hac_status check_type(const hac_logic_input *input, const hac_logic_vector *named,
                             const hac_run_input *given, hac_error *err)
{
    const hac_op_operand *o = given->operand;
    if (o == NULL)
        return hac_fail(
            err, HAC_INVALID,
            "input %s is a vector, which a program passes in (hac_opsplit_run); it cannot be read from %s",
            input->name, given->path);
    if (o->form == named->form && o->kind == named->kind)
        return HAC_OK;
    return hac_fail(
        err, HAC_INVALID, "input %s is a %s of %s in the logic file, and the program passes in a %s of %s",
        input->name, hac_vector_template_get(named->form)->name, hac_element_name(named->kind),
        hac_vector_template_get((hac_vector_template)o->form)->name, hac_element_name((hac_kind)o->kind));
}

hac_status hac_run_check_extent(hac_logic_run_state *run, size_t input, int dimension, uint64_t n,
                                const char *what, hac_error *err)
{
    const hac_logic_dimension *d = dimension >= 0 ? &run->logic->dimensions[dimension] : NULL;
    bool own = d != NULL && d->kind == HAC_DIMENSION_INPUT && (size_t)d->index == input;
    if (own && strcmp(what, "rows") == 0)
        run->dimensions[dimension] = n; /* later inputs may need the same number */
    if (d == NULL || (d->kind != HAC_DIMENSION_CONSTANT && d->kind != HAC_DIMENSION_INPUT))
        return HAC_OK;
    uint64_t wanted = d->kind == HAC_DIMENSION_CONSTANT ? d->value : run->dimensions[dimension];
    if (wanted == HAC_RUN_NOT_KNOWN) /* a dry run may lack inputs */
        wanted = run->dimensions[dimension] = n;
    if (n == wanted)
        return HAC_OK;
    return hac_fail(err, HAC_INVALID, "input %s has %llu %s; it has to have %llu%s%s%s",
                    run->logic->inputs[input].name, (unsigned long long)n, what, (unsigned long long)wanted,
                    d->kind == HAC_DIMENSION_INPUT ? " (" : "", d->kind == HAC_DIMENSION_INPUT ? d->name : "",
                    d->kind == HAC_DIMENSION_INPUT ? ")" : "");
}

hac_status hac_run_load_given(hac_logic_run_state *run, size_t input, const hac_run_input *given,
                              hac_error *err)
{
    const hac_logic_input *named = &run->logic->inputs[input];
    int index = named->columns[0].vector;
    const hac_logic_vector *vector = &run->logic->vectors[index];
    hac_status status = check_type(named, vector, given, err);
    if (status == HAC_OK)
        status = hac_run_check_extent(run, input, vector->rows, given->operand->rows, "rows", err);
    if (status == HAC_OK)
        status = hac_run_check_extent(run, input, vector->columns, given->operand->columns, "columns", err);
    if (status != HAC_OK)
        return status;
    const hac_op_operand *o = given->operand;
    const hac_run_shape shape = {vector->form, vector->kind, o->rows, o->columns,
                                 hac_op_form_is_dense(o->form) ? 0 : o->entries};
    status = hac_run_vector_new(run, &shape, &run->vectors[index], err);
    if (status != HAC_OK)
        return status;
    hac_op_copy_parts(o, given->data, &run->vectors[index].operand, hac_run_data(&run->vectors[index]));
    run->report->rows_loaded += o->rows;
    hac_run_log(run, "input %s: %llu rows of a vector", named->name, (unsigned long long)o->rows);
    return HAC_OK;
}

/* ---- results ---- */

hac_status hac_run_check_results(const hac_logic *logic, const hac_run_options *options, hac_error *err)
{
    for (size_t i = 0; i < options->n_results; i++)
        if (hac_logic_vector_find(logic, options->results[i]) < 0)
            return hac_fail(err, HAC_INVALID, "%s has no vector called %s", logic->file, options->results[i]);
    return HAC_OK;
}

hac_status hac_run_give_back(hac_logic_run_state *run, hac_error *err)
{
    const hac_run_options *options = run->options;
    hac_status status = HAC_OK;
    for (size_t i = 0; i < options->n_results && status == HAC_OK; i++) {
        hac_run_vector *v = &run->vectors[hac_logic_vector_find(run->logic, options->results[i])];
        if (v->memory == NULL)
            return hac_fail(err, HAC_FAILED, "vector %s has no value at the end", options->results[i]);
        status = hac_run_gather(run, v, err);
        if (status == HAC_OK)
            status = options->result(options->context, i, &v->operand, hac_run_data(v), err);
    }
    return status;
}
