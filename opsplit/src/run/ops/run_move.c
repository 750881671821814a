/* SPDX-License-Identifier: Apache-2.0 */
/* Sub-operators that move rows: filter, sort, gather, scatter; words and numbers of values; constants. */
#include <string.h>

#include "base/cleanup.h"
#include "ops.h"
#include "run/state/exchange.h"
#include "run/state/graph.h"
#include "run/state/run_base.h"
#include "run/state/vectors.h"
#include "run/tasks/scalar.h"

HAC_DEFINE_CLEANUP(hac_job *, hac_job_free)

/* ---- filter ---- */

/* Rows that are kept: before this rank's blocks, up to their end, and in all. */
static bool count_kept(const hac_logic_run_state *run, const hac_run_vector *counts, uint64_t rows,
                       uint64_t *ret_before, uint64_t *ret_end, uint64_t *ret_all)
{
    const uint64_t *at = (const uint64_t *)(const void *)hac_run_data(counts);
    uint64_t first, end;
    bool divided = hac_run_part(run, rows, HAC_OP_BLOCK, &first, &end);
    *ret_before = *ret_end = *ret_all = 0;
    if (run->dry_run != NULL) { /* there are no counts */
        run->dry_run->at_most = true;
        *ret_end = *ret_all = rows;
        return false;
    }
    for (uint64_t b = 0; b < hac_run_blocks(rows, HAC_OP_BLOCK); b++) {
        *ret_before += b < first / HAC_OP_BLOCK ? at[b] : 0;
        *ret_end += b < hac_run_blocks(end, HAC_OP_BLOCK) ? at[b] : 0;
        *ret_all += at[b];
    }
    return divided;
}

static hac_status copy_kept(hac_logic_run_state *run, const hac_logic_piece *piece,
                            const hac_logic_expression *where, hac_run_vector *in, hac_run_vector *counts,
                            hac_run_vector *ret, hac_error *err)
{
    hac_run_task task = hac_run_task_of(run, piece, "op.filter_copy");
    hac_run_vector result, *like;
    uint64_t before, end, all;
    bool divided = count_kept(run, counts, in->operand.rows, &before, &end, &all);
    hac_status status =
        hac_run_dense(run, (hac_kind)in->operand.kind, all, in->operand.columns, &result, err);
    if (status != HAC_OK)
        return status;
    hac_run_output(&task, &result);
    hac_run_operand(&task, in, false);
    hac_run_operand(&task, counts, true);
    status = hac_run_expression(run, where, &task, &like, err);
    task.rows = in->operand.rows;
    task.grain = HAC_OP_BLOCK;
    task.units = (double)task.rows * (double)in->operand.columns;
    task.scattered = true; /* its results are not at the rows of its range */
    if (status == HAC_OK && all > 0)
        status = hac_run_add(run, &task, NULL, err);
    if (status == HAC_OK) {
        result.divided = divided && all > 0;
        result.first = before;
        result.end = end;
        *ret = result;
    } else {
        hac_run_vector_clear(run, &result);
    }
    return status;
}

hac_status hac_run_filter_piece(hac_logic_run_state *run, const hac_logic_piece *piece, hac_error *err)
{
    const hac_logic_expression *where = hac_logic_argument_expression(piece, "where");
    const hac_logic_argument *in = hac_logic_argument_get(piece, "in"),
                             *out = hac_logic_argument_get(piece, "out");
    hac_run_task task = hac_run_task_of(run, piece, "op.filter_count");
    hac_run_vector counts, *like, values[8], placeholder = {.memory = NULL};
    hac_run_output(&task, &placeholder);
    hac_status status = hac_run_expression(run, where, &task, &like, err);
    if (status == HAC_OK && (like == NULL || in->n_vectors > sizeof values / sizeof *values))
        status = hac_fail(err, HAC_INVALID, "the condition has to be of rows, and of at most 8 vectors");
    if (status != HAC_OK)
        return status;
    task.rows = like->operand.rows;
    uint64_t blocks = hac_run_blocks(task.rows, HAC_OP_BLOCK);
    task.grain = task.scale = HAC_OP_BLOCK;
    task.units = (double)task.rows;
    status = hac_run_dense(run, HAC_KIND_U64, blocks > 0 ? blocks : 1, 1, &counts, err);
    if (status != HAC_OK)
        return status;
    task.operands[0] = &counts;
    for (size_t i = 0; i < in->n_vectors; i++)
        values[i].memory = NULL;
    if (blocks > 0)
        status = hac_run_add(run, &task, NULL, err);
    if (status == HAC_OK)
        status = hac_run_flush(run, err);
    if (status == HAC_OK && blocks > 0)
        status = hac_run_gather(run, &counts, err);
    for (size_t i = 0; i < in->n_vectors && status == HAC_OK; i++)
        if (run->vectors[in->vectors[i]].memory == NULL ||
            run->vectors[in->vectors[i]].operand.rows != task.rows)
            status = hac_fail(err, HAC_FAILED, "%s has not as many rows as the condition",
                              run->logic->vectors[in->vectors[i]].name);
    /* Results may have the names of operands. */
    for (size_t i = 0; i < in->n_vectors && status == HAC_OK; i++)
        hac_run_vector_copy(run, &run->vectors[in->vectors[i]], &values[i]);
    hac_run_vector results[8];
    size_t made = 0;
    for (; made < in->n_vectors && status == HAC_OK; made++)
        status = copy_kept(run, piece, where, &values[made], &counts, &results[made], err);
    for (size_t i = 0; i < made; i++)
        if (status == HAC_OK)
            hac_run_set(run, out->vectors[i], &results[i]);
        else if (i + 1 < made) /* the last one was not made */
            hac_run_vector_clear(run, &results[i]);
    for (size_t i = 0; i < in->n_vectors; i++)
        hac_run_vector_clear(run, &values[i]);
    hac_run_vector_clear(run, &counts);
    return status;
}

/* ---- sort ---- */

static hac_type sort_type(unsigned kind)
{
    static const struct {
        uint8_t kind;
        hac_type type;
    } types[] = {{HAC_KIND_I32, HAC_TYPE_I32}, {HAC_KIND_I64, HAC_TYPE_I64}, {HAC_KIND_U32, HAC_TYPE_U32},
                 {HAC_KIND_U64, HAC_TYPE_U64}, {HAC_KIND_F32, HAC_TYPE_F32}, {HAC_KIND_F64, HAC_TYPE_F64}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (types[i].kind == kind)
            return types[i].type;
    return HAC_TYPE_NONE;
}

static hac_status sort_to(hac_logic_run_state *run, const hac_logic_piece *piece, const hac_run_vector *in,
                          bool order, hac_error *err)
{
    hac_cleanup(hac_job_free_cleanup) hac_job *job = NULL;
    hac_sort_options options = HAC_SORT_OPTIONS_INIT;
    hac_run_vector result;
    options.type = sort_type(in->operand.kind);
    options.descending = hac_logic_argument_truth(piece, "descending");
    options.argsort = order;
    options.job = run->options->job;
    uint64_t rows = in->operand.rows;
    if (order && rows > UINT32_MAX)
        return hac_fail(err, HAC_REFUSED, "more rows than have numbers of 32 bits");
    hac_status status =
        hac_run_dense(run, order ? HAC_KIND_U32 : (hac_kind)in->operand.kind, rows, 1, &result, err);
    if (status != HAC_OK)
        return status;
    if (rows > 0) {
        status = hac_sort_buffer(run->client, in->memory->buffer, in->memory->offset + in->operand.values,
                                 rows, &options, &job, err);
        if (status == HAC_OK)
            status = hac_run_wait_for_job(run, job, err);
        if (status == HAC_OK)
            memcpy(hac_run_data(&result), hac_job_data(job), rows * hac_op_element_size(result.operand.kind));
    }
    return hac_run_give(run, piece, order ? "order" : "out", &result, status);
}

hac_status hac_run_sort_piece(hac_logic_run_state *run, const hac_logic_piece *piece, hac_error *err)
{
    hac_run_vector *in = hac_run_argument(run, piece, "in", err), keys = {.memory = NULL};
    if (in == NULL)
        return HAC_FAILED;
    hac_status status = hac_run_is_pending(run, in) ? hac_run_flush(run, err) : HAC_OK;
    if (status == HAC_OK)
        status = hac_run_gather(run, in, err);
    if (status != HAC_OK)
        return status;
    hac_run_vector_copy(run, in, &keys);
    if (hac_logic_argument_vector(piece, "out") >= 0)
        status = sort_to(run, piece, &keys, false, err);
    if (status == HAC_OK && hac_logic_argument_vector(piece, "order") >= 0)
        status = sort_to(run, piece, &keys, true, err);
    hac_run_vector_clear(run, &keys);
    return status;
}

/* ---- gather, scatter ---- */

hac_status hac_run_gather_piece(hac_logic_run_state *run, const hac_logic_piece *piece, hac_error *err)
{
    hac_run_task task = hac_run_task_of(run, piece, "op.gather");
    hac_run_vector *in = hac_run_argument(run, piece, "in", err), result;
    hac_run_vector *index = in != NULL ? hac_run_argument(run, piece, "index", err) : NULL;
    if (in == NULL || index == NULL)
        return HAC_FAILED;
    hac_status status = hac_run_dense(run, (hac_kind)in->operand.kind, index->operand.rows,
                                      in->operand.columns, &result, err);
    if (status != HAC_OK)
        return status;
    hac_run_output(&task, &result);
    hac_run_operand(&task, in, true);
    hac_run_operand(&task, index, false);
    task.rows = index->operand.rows;
    task.grain = HAC_OP_BLOCK;
    task.units = (double)task.rows * (double)in->operand.columns;
    if (task.rows > 0)
        status = hac_run_add(run, &task, NULL, err);
    return hac_run_give(run, piece, "out", &result, status);
}

static hac_status scatter(hac_logic_run_state *run, const hac_logic_piece *piece, hac_run_vector *in,
                          hac_run_vector *index, uint64_t rows, hac_error *err)
{
    hac_run_task task = hac_run_task_of(run, piece, "op.scatter");
    hac_run_vector result;
    hac_status status =
        hac_run_dense(run, (hac_kind)in->operand.kind, rows, in->operand.columns, &result, err);
    if (status != HAC_OK)
        return status;
    hac_run_output(&task, &result);
    hac_run_operand(&task, in, true);
    hac_run_operand(&task, index, true);
    task.units = (double)in->operand.rows * (double)in->operand.columns;
    status = hac_run_add(run, &task, NULL, err);
    return hac_run_give(run, piece, "out", &result, status);
}

hac_status hac_run_scatter_piece(hac_logic_run_state *run, const hac_logic_piece *piece, hac_error *err)
{
    hac_run_vector *in = hac_run_argument(run, piece, "in", err);
    hac_run_vector *index = in != NULL ? hac_run_argument(run, piece, "index", err) : NULL;
    uint64_t rows = 0;
    if (in == NULL || index == NULL)
        return HAC_FAILED;
    hac_status status = hac_run_extent(run, piece, "rows", "index", &rows, err);
    return status == HAC_OK ? scatter(run, piece, in, index, rows, err) : status;
}

/* Views the values and the places of a sparse vector as two columns of the same memory. */
hac_status hac_run_dense_piece(hac_logic_run_state *run, const hac_logic_piece *piece, hac_error *err)
{
    hac_run_vector *in = hac_run_argument(run, piece, "in", err);
    if (in == NULL)
        return HAC_FAILED;
    hac_run_vector values = hac_run_flat(in), places = values;
    places.operand.kind = HAC_KIND_U64;
    places.operand.values = in->operand.indices;
    return scatter(run, piece, &values, &places, in->operand.rows, err);
}

/* ---- text ---- */

hac_status hac_run_tokenize_piece(hac_logic_run_state *run, const hac_logic_piece *piece, hac_error *err)
{
    hac_run_task task = hac_run_task_of(run, piece, "op.tokenize");
    hac_run_vector *in = hac_run_argument(run, piece, "in", err), words, row;
    uint32_t number = 0;
    if (in == NULL)
        return HAC_FAILED;
    /* A word has at least one byte, and a blank or the end of the row follows. */
    uint64_t bytes = in->operand.entries, max = bytes / 2 + in->operand.rows + 1;
    hac_status status = hac_run_vector_new(
        run, &(hac_run_shape){HAC_VECTOR_SPARSE_TEXT, HAC_KIND_STRING, max, 1, bytes}, &words, err);
    if (status == HAC_OK)
        status = hac_run_dense(run, HAC_KIND_U64, max, 1, &row, err);
    if (status != HAC_OK)
        return status;
    hac_run_output(&task, &words);
    hac_run_output(&task, &row);
    hac_run_operand(&task, in, true);
    task.units = (double)bytes;
    status = hac_run_add(run, &task, &number, err);
    uint64_t found[] = {max, bytes};
    if (status == HAC_OK)
        status = hac_run_sizes(run, number, found, 2, err);
    words.operand.rows = words.end = row.operand.rows = row.end = found[0];
    words.operand.entries = found[1];
    status = hac_run_give(run, piece, "out", &words, status);
    return hac_run_give(run, piece, "row", &row, status);
}

hac_status hac_run_index_piece(hac_logic_run_state *run, const hac_logic_piece *piece, hac_error *err)
{
    const hac_logic_argument *in = hac_logic_argument_get(piece, "in"),
                             *out = hac_logic_argument_get(piece, "out");
    hac_run_task task = hac_run_task_of(run, piece, "op.index");
    hac_run_vector ids[2], distinct, *from[2] = {NULL, NULL};
    uint64_t rows = 0, bytes = 0;
    uint32_t number = 0;
    hac_status status =
        in->n_vectors <= 2
            ? HAC_OK
            : hac_fail(err, HAC_INVALID, "`index` takes one or two vectors, not %zu", in->n_vectors);
    for (size_t i = 0; i < in->n_vectors && status == HAC_OK; i++) {
        from[i] = &run->vectors[in->vectors[i]];
        if (from[i]->memory == NULL)
            return hac_fail(err, HAC_FAILED, "vector %s has no value yet",
                            run->logic->vectors[in->vectors[i]].name);
        rows += from[i]->operand.rows;
        bytes += from[i]->operand.entries;
        status = hac_run_dense(run, HAC_KIND_U32, from[i]->operand.rows, 1, &ids[i], err);
    }
    bool text = status == HAC_OK && from[0]->operand.form == HAC_VECTOR_SPARSE_TEXT;
    if (status == HAC_OK)
        status =
            hac_run_vector_new(run,
                               &(hac_run_shape){text ? HAC_VECTOR_SPARSE_TEXT : HAC_VECTOR_FIX_VALUE,
                                                (hac_kind)from[0]->operand.kind, rows, 1, text ? bytes : 0},
                               &distinct, err);
    if (status != HAC_OK)
        return status;
    hac_run_output(&task, &ids[0]);
    hac_run_output(&task, &distinct);
    hac_run_operand(&task, from[0], true);
    if (in->n_vectors > 1) {
        task.also_written = UINT32_C(1) << task.n_operands;
        hac_run_operand(&task, &ids[1], true);
        hac_run_operand(&task, from[1], true);
    }
    task.units = (double)rows;
    status = hac_run_add(run, &task, &number, err);
    uint64_t found[] = {0, 0, rows, bytes};
    if (status == HAC_OK)
        status = hac_run_sizes(run, number, found, 4, err);
    distinct.operand.rows = distinct.end = found[2];
    distinct.operand.entries = text ? found[3] : 0;
    for (size_t i = 0; i < in->n_vectors; i++)
        if (status == HAC_OK)
            hac_run_set(run, out->vectors[i], &ids[i]);
        else
            hac_run_vector_clear(run, &ids[i]);
    if (hac_run_give(run, piece, "distinct", &distinct, status) != HAC_OK)
        return status;
    /* Ids are row numbers of `distinct`, even if `distinct` is not wanted. */
    int below = run->logic->vectors[out->vectors[0]].below;
    if (below >= 0)
        run->dimensions[below] = found[2];
    return HAC_OK;
}

/* ---- constants ---- */

hac_status hac_run_range_piece(hac_logic_run_state *run, const hac_logic_piece *piece, hac_error *err)
{
    const hac_logic_expression *from = hac_logic_argument_expression(piece, "from");
    hac_run_vector result;
    uint64_t rows = 0, first = 0;
    hac_status status = hac_run_extent(run, piece, "rows", NULL, &rows, err);
    if (status == HAC_OK && from != NULL)
        status = hac_run_scalar(run, from, &first, err);
    if (status == HAC_OK)
        status = hac_run_dense(run, HAC_KIND_I64, rows, 1, &result, err);
    if (status != HAC_OK)
        return status;
    uint64_t *at = (uint64_t *)(void *)hac_run_data(&result);
    for (uint64_t i = 0; i < rows; i++)
        at[i] = first + i;
    hac_run_publish(run, piece, "out", &result);
    return HAC_OK;
}

hac_status hac_run_fill_piece(hac_logic_run_state *run, const hac_logic_piece *piece, hac_error *err)
{
    const hac_logic_expression *value = hac_logic_argument_expression(piece, "value");
    hac_run_vector result;
    uint64_t rows = 0, columns = 1, bits = 0;
    hac_status status = hac_run_extent(run, piece, "rows", NULL, &rows, err);
    if (status == HAC_OK && hac_logic_argument_get(piece, "columns") != NULL)
        status = hac_run_extent(run, piece, "columns", NULL, &columns, err);
    if (status == HAC_OK)
        status = hac_run_scalar(run, value, &bits, err);
    if (status == HAC_OK)
        status = hac_run_dense(run, value->kind, rows, columns, &result, err);
    if (status != HAC_OK)
        return status;
    size_t size = hac_op_element_size(value->kind);
    uint8_t *at = hac_run_data(&result);
    for (uint64_t i = 0; i < rows * columns; i++)
        memcpy(at + i * size, &bits, size);
    hac_run_publish(run, piece, "out", &result);
    return HAC_OK;
}
