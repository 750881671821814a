/* SPDX-License-Identifier: Apache-2.0 */
/* Expressions over Vars: conditions, bounds of loops, arguments that are numbers. */
#include "scalar.h"

#include <string.h>

#include "base/cleanup.h"
#include "expr/machine.h"
#include "run/state/exchange.h"
#include "run/state/graph.h"
#include "run/state/run_base.h"
#include "run/state/vectors.h"

HAC_DEFINE_CLEANUP(hac_machine_c *, hac_machine_c_free)

#define INPUTS_MAX 64

/* An element as the expression machine takes it: integers have 64 bits. */
static uint64_t widened(const uint8_t *at, hac_kind kind)
{
    uint32_t four = 0;
    uint64_t eight = 0;
    switch (kind) {
    case HAC_KIND_BOOL:
        return *at;
    case HAC_KIND_I32:
        memcpy(&four, at, sizeof four);
        return (uint64_t)(int64_t)(int32_t)four;
    case HAC_KIND_U32:
    case HAC_KIND_F32:
        memcpy(&four, at, sizeof four);
        return four;
    default:
        memcpy(&eight, at, sizeof eight);
        return eight;
    }
}

/* Whether tasks still have to write some of the Vars. */
static bool is_pending(const hac_logic_run_state *run, const hac_logic_expression *expression)
{
    for (size_t i = 0; i < expression->n_vectors; i++)
        if (hac_run_is_pending(run, &run->vectors[expression->vectors[i]]))
            return true;
    return false;
}

static hac_status read_inputs(hac_logic_run_state *run, const hac_logic_expression *expression,
                              uint8_t *memory, hac_column *columns, hac_error *err)
{
    for (size_t i = 0; i < expression->n_vectors; i++) {
        const hac_logic_vector *named = &run->logic->vectors[expression->vectors[i]];
        const hac_run_vector *v = &run->vectors[expression->vectors[i]];
        if (v->memory == NULL)
            return hac_fail(err, HAC_INVALID, "%s has no value yet", named->name);
        if (v->operand.rows != 1)
            return hac_fail(err, HAC_INVALID, "%s has %llu rows, where one number is wanted", named->name,
                            (unsigned long long)v->operand.rows);
        uint64_t value = widened(hac_run_data(v) + v->operand.values, (hac_kind)v->operand.kind);
        uint8_t *at = memory + i * HAC_BATCH_ROWS * sizeof value;
        memcpy(at, &value, sizeof value);
        columns[i] = (hac_column){.type = expression->program->inputs[i], .values = at};
    }
    return HAC_OK;
}

static hac_status evaluate(hac_logic_run_state *run, const hac_logic_expression *expression, uint8_t *memory,
                           uint64_t *ret, hac_error *err)
{
    hac_cleanup(hac_machine_c_free_cleanup) hac_machine_c *machine = NULL;
    hac_column columns[INPUTS_MAX], output;
    hac_batch batch = {.rows = 1, .n_columns = expression->n_vectors, .columns = columns};
    memset(columns, 0, sizeof columns);
    hac_status status = read_inputs(run, expression, memory, columns, err);
    if (status == HAC_OK)
        status = hac_machine_c_new_once(expression->program, 1 << 16, &machine, err);
    if (status != HAC_OK)
        return status;
    hac_machine_c_run(machine, &batch, &output);
    if (output.states != NULL && output.states[0] != HAC_ROW_OK)
        return hac_fail(err, HAC_FAILED, "%s: %s", expression->text, hac_row_state_text(output.states[0]));
    *ret = 0;
    memcpy(ret, output.values, hac_repr_size(hac_repr_of(output.type)));
    return HAC_OK;
}

hac_status hac_run_scalar(hac_logic_run_state *run, const hac_logic_expression *expression, uint64_t *ret,
                          hac_error *err)
{
    hac_status status = is_pending(run, expression) ? hac_run_flush(run, err) : HAC_OK;
    for (size_t i = 0; i < expression->n_vectors && status == HAC_OK; i++)
        if (run->vectors[expression->vectors[i]].unknown)
            status = hac_run_wait(err);
        else if (run->vectors[expression->vectors[i]].memory != NULL)
            status = hac_run_gather(run, &run->vectors[expression->vectors[i]], err);
    if (status != HAC_OK)
        return status;
    if (expression->n_vectors > INPUTS_MAX)
        return hac_fail(err, HAC_INVALID, "%s reads more than %d Vars", expression->text, INPUTS_MAX);
    hac_autofree uint8_t *memory =
        aligned_alloc(64, (expression->n_vectors + 1) * HAC_BATCH_ROWS * sizeof(uint64_t));
    if (memory == NULL)
        return hac_fail_no_memory(err);
    memset(memory, 0, (expression->n_vectors + 1) * HAC_BATCH_ROWS * sizeof(uint64_t));
    return evaluate(run, expression, memory, ret, err);
}

hac_status hac_run_look(hac_logic_run_state *run, const hac_logic_step *step, bool *ret, hac_error *err)
{
    uint64_t bits = 0;
    hac_run_set_where(run, step->at, step->name);
    hac_status status = hac_run_scalar(run, step->condition, &bits, err);
    *ret = (bits & 1) != 0;
    if (status != HAC_OK)
        (void)hac_run_failed(run, status, err);
    run->where[0] = '\0';
    return status;
}
