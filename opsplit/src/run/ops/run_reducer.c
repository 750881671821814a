/* SPDX-License-Identifier: Apache-2.0 */
/* The reducer of a logic file: combines the values of equal keys. The keys are numbered. Then tables by
 * key number are added up, block by block, on each rank and then across ranks in the order of blocks. */
#include <stdio.h>
#include <string.h>

#include "ops.h"
#include "run/state/exchange.h"
#include "run/state/graph.h"
#include "run/state/run_base.h"
#include "run/state/vectors.h"
#include "run/tasks/partition.h"

static hac_status number_keys(hac_logic_run_state *run, const hac_logic_piece *piece, hac_run_vector *ret_ids,
                              hac_error *err)
{
    const hac_logic_reducer *reducer = run->logic->reducer;
    hac_run_vector *key = &run->vectors[reducer->key], ids, keys;
    hac_run_task task = hac_run_task_of(run, piece, "op.index");
    uint32_t number = 0;
    if (key->memory == NULL)
        return hac_fail(err, HAC_FAILED, "vector %s has no value", run->logic->vectors[reducer->key].name);
    bool text = key->operand.form == HAC_VECTOR_SPARSE_TEXT;
    hac_run_shape shape = {text ? HAC_VECTOR_SPARSE_TEXT : HAC_VECTOR_FIX_VALUE, (hac_kind)key->operand.kind,
                           key->operand.rows, 1, text ? key->operand.entries : 0};
    hac_status status = hac_run_dense(run, HAC_KIND_U32, key->operand.rows, 1, &ids, err);
    if (status == HAC_OK)
        status = hac_run_vector_new(run, &shape, &keys, err);
    if (status != HAC_OK)
        return status;
    hac_run_output(&task, &ids);
    hac_run_output(&task, &keys);
    hac_run_operand(&task, key, true);
    task.units = (double)key->operand.rows;
    status = hac_run_add(run, &task, &number, err);
    uint64_t found[] = {0, 0, shape.rows, shape.entries};
    if (status == HAC_OK)
        status = hac_run_sizes(run, number, found, 4, err);
    if (status != HAC_OK)
        return status;
    keys.operand.rows = keys.end = found[2];
    keys.operand.entries = text ? found[3] : 0;
    hac_run_set(run, reducer->keys, &keys);
    *ret_ids = ids;
    return HAC_OK;
}

/* Copies a column of a table to a vector. */
static hac_status take_column(hac_logic_run_state *run, const hac_run_vector *table, uint64_t column,
                              hac_run_vector *ret, hac_error *err)
{
    uint64_t columns = table->operand.columns;
    hac_status status = hac_run_dense(run, (hac_kind)table->operand.kind, table->operand.rows, 1, ret, err);
    for (uint64_t k = 0; status == HAC_OK && run->dry_run == NULL && k < table->operand.rows; k++)
        memcpy(hac_run_data(ret) + k * sizeof(uint64_t),
               hac_run_data(table) + (k * columns + column) * sizeof(uint64_t), sizeof(uint64_t));
    return status;
}

static hac_status check_rows(const hac_logic_run_state *run, const hac_logic_reducer_value *value,
                             const hac_run_vector *in, const hac_run_vector *ids, hac_error *err)
{
    if (in->memory == NULL)
        return hac_fail(err, HAC_FAILED, "vector %s has no value", run->logic->vectors[value->in].name);
    if (in->operand.rows != ids->operand.rows)
        return hac_fail(err, HAC_FAILED, "%s has %llu rows, its keys %llu",
                        run->logic->vectors[value->in].name, (unsigned long long)in->operand.rows,
                        (unsigned long long)ids->operand.rows);
    return HAC_OK;
}

/* Makes the table of counts, or of counts and values, of one value of the reducer. It has at least one
 * row. */
static hac_status reduce_value(hac_logic_run_state *run, const hac_logic_reducer_value *value,
                               const hac_logic_piece *piece, hac_run_vector *ids, hac_error *err)
{
    hac_run_task first = hac_run_task_of(run, piece, "op.keys"),
                 second = hac_run_task_of(run, piece, "op.keys_combine");
    hac_run_vector *in = value->function != HAC_OP_COUNT ? &run->vectors[value->in] : NULL;
    hac_run_vector table = {.memory = NULL}, result, placeholder = {.memory = NULL};
    uint64_t n = run->vectors[run->logic->reducer->keys].operand.rows;
    hac_status status = in != NULL ? check_rows(run, value, in, ids, err) : HAC_OK;
    if (status != HAC_OK)
        return status;
    bool is_float = in != NULL && (in->operand.kind == HAC_KIND_F32 || in->operand.kind == HAC_KIND_F64);
    first.function = second.function = in == NULL ? HAC_OP_SUM : value->function;
    hac_run_output(&first, &placeholder);
    hac_run_operand(&first, ids, false);
    if (in != NULL)
        hac_run_operand(&first, in, false);
    first.rows = ids->operand.rows;
    status = hac_run_tables(run, &first, &second, is_float ? HAC_KIND_F64 : HAC_KIND_I64, n > 0 ? n : 1,
                            in != NULL ? 2 : 1, &table, err);
    if (status == HAC_OK)
        status = hac_run_flush(run, err);
    if (status == HAC_OK)
        status = hac_run_gather(run, &table, err);
    if (status == HAC_OK)
        status = take_column(run, &table, in != NULL ? 1 : 0, &result, err);
    if (status == HAC_OK) {
        result.operand.rows = result.end = n;
        hac_run_set(run, value->out, &result);
    }
    hac_run_vector_clear(run, &table);
    return status;
}

hac_status hac_run_reducer_piece(hac_logic_run_state *run, const hac_logic_piece *piece, hac_run_vector *ids,
                                 hac_error *err)
{
    const hac_logic_reducer *reducer = run->logic->reducer;
    /* Messages and receipts show the reducer as one piece. */
    const hac_logic_piece named = {.name = (char *)(uintptr_t) "reducer"};
    size_t i = (size_t)(piece - reducer->step->pieces);
    run->at = reducer->at;
    hac_status status = hac_run_choose_cut(run, NULL, piece, err);
    if (status != HAC_OK)
        return status;
    return i == 0 ? number_keys(run, &named, ids, err)
                  : reduce_value(run, &reducer->values[i - 1], &named, ids, err);
}

hac_status hac_run_reduce(hac_logic_run_state *run, hac_error *err)
{
    const hac_logic_reducer *reducer = run->logic->reducer;
    hac_run_vector ids = {.memory = NULL};
    hac_status status = HAC_OK;
    if (reducer == NULL)
        return HAC_OK;
    snprintf(run->where, sizeof run->where, "%.200s:%u:%u: reducer", run->logic->file, reducer->at.line,
             reducer->at.column);
    for (size_t i = 0; i < reducer->step->n_pieces && status == HAC_OK; i++)
        status = hac_run_reducer_piece(run, &reducer->step->pieces[i], &ids, err);
    hac_run_vector_clear(run, &ids);
    hac_run_clear_cut(run);
    if (status != HAC_OK)
        return hac_run_failed(run, status, err);
    run->where[0] = '\0';
    return HAC_OK;
}
