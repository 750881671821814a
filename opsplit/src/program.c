/* SPDX-License-Identifier: Apache-2.0 */
/* libhac-opsplit: hands the request of a program to the runtime. */
#include <hac/opsplit.h>

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "opsplit/run.h"

HAC_DEFINE_CLEANUP(hac_logic *, hac_logic_free)
HAC_DEFINE_CLEANUP(hac_library *, hac_library_free)
HAC_DEFINE_CLEANUP(hac_vector *, hac_vector_free)
HAC_DEFINE_CLEANUP(hac_vector_iterator *, hac_vector_iter_free)

/* What one call of hac_opsplit_run has. */
typedef struct program {
    hac_client *client;
    const hac_opsplit_options *options;
    hac_run_input inputs[HAC_LOGIC_INPUTS_MAX];
    hac_op_operand operands[HAC_LOGIC_INPUTS_MAX];
    const char *names[HAC_LOGIC_VECTORS_MAX];
    hac_vector *results[HAC_LOGIC_VECTORS_MAX]; /* until the whole run has succeeded */
} program;

static void program_free(program *p)
{
    for (size_t i = 0; p != NULL && i < p->options->n_results; i++)
        hac_vector_free(p->results[i]);
    free(p);
}
HAC_DEFINE_CLEANUP(program *, program_free)

static void say(void *context, const char *line)
{
    const program *p = context;
    if (p->options->log != NULL)
        p->options->log(p->options->context, line);
}

/* ---- inputs ---- */

/* Checks offsets and indices by walking over the vector. Dense vectors have none. */
static hac_status verify(const hac_opsplit_input *input, unsigned form, hac_error *err)
{
    hac_cleanup(hac_vector_iter_free_cleanup) hac_vector_iterator *walk = NULL;
    hac_vector_entry entry;
    if (hac_op_form_is_dense(form))
        return HAC_OK;
    hac_status status = hac_vector_iter(input->vector, &walk, err);
    while (status == HAC_OK)
        status = hac_vector_next(walk, &entry, err);
    if (status == HAC_NOT_FOUND)
        return HAC_OK;
    (void)hac_error_prefix(err, "input %s", input->name);
    return status;
}

static hac_status take_input(program *p, size_t i, hac_error *err)
{
    const hac_opsplit_input *input = &p->options->inputs[i];
    if (input->name == NULL || (input->path == NULL) == (input->vector == NULL))
        return hac_fail(err, HAC_INVALID, "input %s: it is either a path or a vector, and has a name",
                        input->name != NULL ? input->name : "without a name");
    for (size_t j = 0; j < i; j++)
        if (strcmp(p->options->inputs[j].name, input->name) == 0)
            return hac_fail(err, HAC_INVALID, "input %s is given twice", input->name);
    p->inputs[i] = (hac_run_input){.name = input->name, .path = input->path};
    if (input->vector == NULL)
        return HAC_OK;
    hac_status status = hac_vector_operand(input->vector, &p->operands[i], err);
    if (status != HAC_OK) {
        (void)hac_error_prefix(err, "input %s", input->name);
        return status;
    }
    p->inputs[i].operand = &p->operands[i];
    p->inputs[i].data = hac_vector_data(input->vector);
    return verify(input, p->operands[i].form, err);
}

/* ---- results ---- */

static hac_status take_result(void *context, size_t number, const hac_op_operand *o, const void *data,
                              hac_error *err)
{
    program *p = context;
    const hac_vector_shape shape = {(hac_vector_template)o->form, (hac_vector_type)o->kind, o->rows,
                                    o->columns, o->entries};
    hac_cleanup(hac_vector_free_cleanup) hac_vector *vector = NULL;
    hac_op_operand to;
    hac_status status = hac_vector_alloc(&shape, p->client, &vector, err);
    if (status == HAC_OK)
        status = hac_vector_operand(vector, &to, err);
    if (status != HAC_OK)
        return status;
    hac_op_copy_parts(o, data, &to, hac_buffer_data(hac_vector_buffer(vector)));
    p->results[number] = hac_steal_ptr(vector);
    return HAC_OK;
}

static hac_status take_result_names(program *p, hac_error *err)
{
    const hac_opsplit_options *options = p->options;
    for (size_t i = 0; i < options->n_results; i++) {
        if (options->results[i].name == NULL || options->results[i].ret_vector == NULL)
            return hac_fail(err, HAC_INVALID, "result %zu has no name, or no place where it goes", i);
        p->names[i] = options->results[i].name;
    }
    return HAC_OK;
}

/* ---- the run ---- */

static hac_status read_logic(const hac_opsplit_options *options, const char *path, hac_library **ret_library,
                             hac_logic **ret, hac_error *err)
{
    hac_logic_problems problems = HAC_LOGIC_PROBLEMS_NONE;
    hac_status status = hac_logic_read_own(path, ret_library, ret, &problems, err);
    for (size_t i = 0; i < problems.n && options->problem != NULL; i++)
        options->problem(options->context, problems.messages[i]);
    hac_logic_problems_clear(&problems);
    return status;
}

static hac_status new_program(hac_client *client, const hac_opsplit_options *options, program **ret,
                              hac_error *err)
{
    if (options->size != sizeof *options)
        return hac_fail(err, HAC_INVALID, "options of %zu bytes: begin with HAC_OPSPLIT_OPTIONS_INIT",
                        options->size);
    if (options->n_inputs > HAC_LOGIC_INPUTS_MAX || options->n_results > HAC_LOGIC_VECTORS_MAX ||
        options->components > HAC_LOGIC_SPLIT_MAX)
        return hac_fail(err, HAC_INVALID,
                        "%zu inputs, %zu results, %u components; at most %d, %d and %d are taken",
                        options->n_inputs, options->n_results, options->components, HAC_LOGIC_INPUTS_MAX,
                        HAC_LOGIC_VECTORS_MAX, HAC_LOGIC_SPLIT_MAX);
    *ret = calloc(1, sizeof **ret);
    if (*ret == NULL)
        return hac_fail_no_memory(err);
    (*ret)->client = client;
    (*ret)->options = options;
    return HAC_OK;
}

static hac_run_options run_options(program *p)
{
    hac_run_options ret = HAC_RUN_OPTIONS_INIT;
    ret.inputs = p->inputs;
    ret.n_inputs = p->options->n_inputs;
    ret.output = p->options->output;
    ret.results = p->names;
    ret.n_results = p->options->n_results;
    ret.result = take_result;
    ret.policy = p->options->policy;
    ret.threshold = p->options->threshold;
    ret.kernels = p->options->kernels;
    ret.components = p->options->components;
    ret.job = p->options->job;
    ret.job.progress = NULL;
    ret.job.done = NULL;
    ret.job.detach = 0;
    ret.log = say;
    ret.context = p;
    ret.stop_fd = p->options->stop_fd;
    return ret;
}

hac_status hac_opsplit_run(hac_client *client, const char *path, const hac_opsplit_options *options,
                           hac_error *err)
{
    static const hac_opsplit_options none = HAC_OPSPLIT_OPTIONS_INIT;
    hac_cleanup(program_free_cleanup) program *p = NULL;
    hac_cleanup(hac_library_free_cleanup) hac_library *library = NULL;
    hac_cleanup(hac_logic_free_cleanup) hac_logic *logic = NULL;
    hac_run_report report;
    hac_status status = new_program(client, options != NULL ? options : &none, &p, err);
    if (status == HAC_OK)
        status = read_logic(p->options, path, &library, &logic, err);
    for (size_t i = 0; status == HAC_OK && i < p->options->n_inputs; i++)
        status = take_input(p, i, err);
    if (status == HAC_OK)
        status = take_result_names(p, err);
    if (status != HAC_OK)
        return status;
    const hac_run_options run = run_options(p);
    status = hac_run_logic(client, logic, &run, &report, err);
    for (size_t i = 0; status == HAC_OK && i < p->options->n_results; i++)
        *p->options->results[i].ret_vector = hac_steal_ptr(p->results[i]);
    return status;
}
