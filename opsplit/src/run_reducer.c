/* SPDX-License-Identifier: Apache-2.0 */
/* The reducer of a logic file: same-key values combined. Its keys are numbered, then tables are added up by
 * number, block by block, on every rank, and across ranks in the blocks' order. */
#include <stdio.h>
#include <string.h>

#include "run_pieces.h"

static hac_status number_keys(hac_logic_run *run, const hac_logic_reducer *reducer,
                              const hac_logic_piece *piece, hac_run_vector *ret_ids, hac_run_vector *ret_keys,
                              hac_error *err)
{
    hac_run_vector *key = &run->vectors[reducer->key];
    hac_run_task task = hac_run_task_of(run, piece, "op.index");
    uint32_t number = 0;
    if (key->memory == NULL)
        return hac_fail(err, HAC_FAILED, "vector %s has no value", run->logic->vectors[reducer->key].name);
    bool text = key->operand.form == HAC_VECTOR_SPARSE_TEXT;
    hac_run_shape shape = {text ? HAC_VECTOR_SPARSE_TEXT : HAC_VECTOR_FIX_VALUE, (hac_kind)key->operand.kind,
                           key->operand.rows, 1, text ? key->operand.entries : 0};
    hac_status status = hac_run_dense(run, HAC_KIND_U32, key->operand.rows, 1, ret_ids, err);
    if (status == HAC_OK)
        status = hac_run_vector_new(run, &shape, ret_keys, err);
    if (status != HAC_OK)
        return status;
    hac_run_output(&task, ret_ids);
    hac_run_output(&task, ret_keys);
    hac_run_operand(&task, key, true);
    task.units = (double)key->operand.rows;
    status = hac_run_add(run, &task, &number, err);
    uint64_t found[] = {0, 0, shape.rows, shape.entries};
    if (status == HAC_OK)
        status = hac_run_sizes(run, number, found, 4, err);
    if (status != HAC_OK)
        return status;
    ret_keys->operand.rows = ret_keys->end = found[2];
    ret_keys->operand.entries = text ? found[3] : 0;
    return HAC_OK;
}

/* Column `column` of a table as a vector of its own. */
static hac_status take_column(hac_logic_run *run, const hac_run_vector *table, uint64_t column, hac_kind kind,
                              hac_run_vector *ret, hac_error *err)
{
    uint64_t columns = table->operand.columns;
    hac_status status = hac_run_dense(run, kind, table->operand.rows, 1, ret, err);
    for (uint64_t k = 0; status == HAC_OK && k < table->operand.rows; k++) {
        const uint8_t *at = hac_run_data(table) + (k * columns + column) * sizeof(uint64_t);
        uint64_t bits;
        double value;
        memcpy(&bits, at, sizeof bits);
        memcpy(&value, at, sizeof value);
        if (column == 0 && table->operand.kind == HAC_KIND_F64) /* counts, which are whole */
            bits = (uint64_t)value;
        memcpy(hac_run_data(ret) + k * sizeof bits, &bits, sizeof bits);
    }
    return status;
}

static hac_status reduce_value(hac_logic_run *run, const hac_logic_reducer_value *value,
                               const hac_logic_piece *piece, hac_run_vector *ids, uint64_t n, hac_error *err)
{
    hac_run_task first = hac_run_task_of(run, piece, "op.keys"),
                 second = hac_run_task_of(run, piece, "op.keys_combine");
    hac_run_vector *in = value->function != HAC_OP_COUNT ? &run->vectors[value->in] : NULL;
    hac_run_vector table, result, placeholder = {.memory = NULL};
    if (in != NULL && in->memory == NULL)
        return hac_fail(err, HAC_FAILED, "vector %s has no value", run->logic->vectors[value->in].name);
    if (in != NULL && in->operand.rows != ids->operand.rows)
        return hac_fail(err, HAC_FAILED, "%s has %llu rows, its keys %llu",
                        run->logic->vectors[value->in].name, (unsigned long long)in->operand.rows,
                        (unsigned long long)ids->operand.rows);
    bool is_float = in != NULL && (in->operand.kind == HAC_KIND_F32 || in->operand.kind == HAC_KIND_F64);
    first.function = second.function = in == NULL ? HAC_OP_SUM : value->function;
    hac_run_output(&first, &placeholder);
    hac_run_operand(&first, ids, false);
    if (in != NULL)
        hac_run_operand(&first, in, false);
    first.rows = ids->operand.rows;
    hac_status status = hac_run_tables(run, &first, &second, is_float ? HAC_KIND_F64 : HAC_KIND_I64,
                                       n > 0 ? n : 1, in != NULL ? 2 : 1, &table, err);
    if (status == HAC_OK)
        status = hac_run_flush(run, err);
    if (status == HAC_OK)
        status = hac_run_gather(run, &table, err);
    if (status == HAC_OK)
        status = take_column(run, &table, in != NULL ? 1 : 0,
                             in == NULL ? HAC_KIND_I64 : (hac_kind)table.operand.kind, &result, err);
    if (status == HAC_OK) {
        result.operand.rows = result.end = n; /* a table has a row at least */
        hac_run_set(run, value->out, &result);
    }
    hac_run_vector_clear(run, &table);
    return status;
}

hac_status hac_run_reduce(hac_logic_run *run, const hac_logic_reducer *reducer, hac_error *err)
{
    const hac_logic_piece piece = {.name = (char *)(uintptr_t) "reducer"};
    hac_run_vector ids, keys;
    snprintf(run->where, sizeof run->where, "%.200s:%u:%u: reducer", run->logic->file, reducer->at.line,
             reducer->at.column);
    run->at = reducer->at;
    hac_status status = number_keys(run, reducer, &piece, &ids, &keys, err);
    uint64_t n = status == HAC_OK ? keys.operand.rows : 0;
    if (status == HAC_OK)
        hac_run_set(run, reducer->keys, &keys);
    for (size_t i = 0; i < reducer->n_values && status == HAC_OK; i++)
        status = reduce_value(run, &reducer->values[i], &piece, &ids, n, err);
    if (status != HAC_OK)
        return hac_run_failed(run, status, err);
    hac_run_vector_clear(run, &ids);
    run->where[0] = '\0';
    return HAC_OK;
}
