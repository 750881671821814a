/* SPDX-License-Identifier: Apache-2.0 */
/* Sub-operators on matrices: products, distances, construction, transposition. */
#include <string.h>

#include "ops.h"
#include "run/state/graph.h"
#include "run/state/vectors.h"

/* ---- products ---- */

static uint64_t entries_of(const hac_run_vector *matrix)
{
    const hac_op_operand *o = &matrix->operand;
    return hac_op_form_has_entries(o->form) ? o->entries : o->rows * o->columns;
}

hac_status hac_run_product_piece(hac_logic_run_state *run, const hac_logic_piece *piece, hac_error *err)
{
    bool two = piece->subop->id == HAC_SUBOP_GEMM;
    const char *codelet = two ? "op.gemm" : piece->subop->id == HAC_SUBOP_GEMV ? "op.gemv" : "op.spmv";
    hac_run_task task = hac_run_task_of(run, piece, codelet);
    hac_run_vector *left = hac_run_argument(run, piece, two ? "left" : "matrix", err), result;
    hac_run_vector *right = left != NULL ? hac_run_argument(run, piece, two ? "right" : "in", err) : NULL;
    if (left == NULL || right == NULL)
        return HAC_FAILED;
    if (left->operand.columns != right->operand.rows)
        return hac_fail(err, HAC_FAILED, "the matrix has %llu columns, and the other operand %llu rows",
                        (unsigned long long)left->operand.columns, (unsigned long long)right->operand.rows);
    hac_status status = hac_run_dense(run, (hac_kind)left->operand.kind, left->operand.rows,
                                      two ? right->operand.columns : 1, &result, err);
    if (status != HAC_OK)
        return status;
    hac_run_output(&task, &result);
    hac_run_operand(&task, left, false);
    hac_run_operand(&task, right, true);
    task.rows = left->operand.rows;
    task.grain = 1;
    task.units = (double)entries_of(left) * (double)result.operand.columns;
    if (task.rows > 0)
        status = hac_run_add(run, &task, NULL, err);
    return hac_run_give(run, piece, "out", &result, status);
}

/* ---- distances ---- */

hac_status hac_run_distance_piece(hac_logic_run_state *run, const hac_logic_piece *piece, hac_error *err)
{
    bool nearest = piece->subop->id == HAC_SUBOP_NEAREST;
    hac_run_task task = hac_run_task_of(run, piece, nearest ? "op.nearest" : "op.distance");
    hac_run_vector *in = hac_run_argument(run, piece, "in", err), result, distance;
    hac_run_vector *to = in != NULL ? hac_run_argument(run, piece, "to", err) : NULL;
    if (in == NULL || to == NULL)
        return HAC_FAILED;
    if (in->operand.columns != to->operand.columns)
        return hac_fail(err, HAC_FAILED, "the rows have %llu and %llu columns",
                        (unsigned long long)in->operand.columns, (unsigned long long)to->operand.columns);
    if (to->operand.rows == 0)
        return hac_fail(err, HAC_FAILED, "`to` has no rows: %s",
                        nearest ? "none of them can be the nearest"
                                : "there is nothing to have a distance to");
    bool far = nearest && hac_logic_argument_vector(piece, "distance") >= 0;
    hac_kind kind = (hac_kind)in->operand.kind;
    uint64_t rows = in->operand.rows;
    hac_status status = nearest ? hac_run_dense(run, HAC_KIND_U32, rows, 1, &result, err)
                                : hac_run_dense(run, kind, rows, to->operand.rows, &result, err);
    if (status == HAC_OK && far)
        status = hac_run_dense(run, kind, rows, 1, &distance, err);
    if (status != HAC_OK)
        return status;
    task.function = (hac_op_function)hac_logic_argument_word(piece, "function");
    hac_run_output(&task, &result);
    hac_run_operand(&task, in, false);
    hac_run_operand(&task, to, true);
    if (far) /* written, but after operands that are read */
        hac_run_operand(&task, &distance, false);
    task.also_written = far ? UINT32_C(1) << 3 : 0;
    task.rows = rows;
    task.grain = nearest ? HAC_OP_BLOCK : 1;
    task.units = (double)rows * (double)to->operand.rows * (double)in->operand.columns;
    if (rows > 0)
        status = hac_run_add(run, &task, NULL, err);
    (void)hac_run_give(run, piece, "out", &result, status);
    return far ? hac_run_give(run, piece, "distance", &distance, status) : status;
}

/* ---- sparse matrices ---- */

/* Runs a task whose data decides the size of its output, and gives the vector that size. */
static hac_status take_size(hac_logic_run_state *run, hac_run_task *task, hac_run_vector *result,
                            hac_error *err)
{
    uint32_t number = 0;
    hac_status status = hac_run_add(run, task, &number, err);
    uint64_t found[] = {0, result->operand.entries};
    if (status == HAC_OK)
        status = hac_run_sizes(run, number, found, 2, err);
    if (status != HAC_OK)
        return status;
    if (found[1] > result->operand.entries)
        return hac_fail(err, HAC_INTERNAL, "%llu entries, and at most %llu were expected",
                        (unsigned long long)found[1], (unsigned long long)result->operand.entries);
    result->operand.entries = found[1];
    return HAC_OK;
}

/* Makes a sparse matrix without entries. No codelet takes one without columns. */
static void empty_rows(hac_run_vector *matrix)
{
    memset(hac_run_data(matrix) + matrix->operand.offsets, 0, (matrix->operand.rows + 1) * sizeof(uint64_t));
    matrix->operand.entries = 0;
}

/* Whether the steps need the values of a matrix, not only the places of its entries. */
static bool steps_read_values(const hac_logic_step *steps, size_t n, int vector)
{
    for (size_t i = 0; i < n; i++) {
        const hac_logic_step *step = &steps[i];
        for (size_t p = 0; p < step->n_pieces; p++) {
            const hac_logic_piece *piece = &step->pieces[p];
            bool takes_ones = piece->kind == HAC_PIECE_LIBRARY && (piece->subop->id == HAC_SUBOP_SPMV ||
                                                                   piece->subop->id == HAC_SUBOP_ROW_REDUCE);
            for (size_t r = 0; r < piece->n_reads && !takes_ones; r++)
                if (piece->reads[r] == vector)
                    return true;
        }
        for (size_t c = 0; c < step->n_collect; c++)
            if (step->collect[c].in == vector)
                return true;
        if (steps_read_values(step->body, step->n_body, vector) ||
            steps_read_values(step->otherwise, step->n_otherwise, vector))
            return true;
    }
    return false;
}

/* Whether any step of the file does. Otherwise a matrix of ones needs no memory for values, and a product
 * reads a third less. */
static bool values_are_read(const hac_logic_run_state *run, int vector)
{
    const hac_logic *logic = run->logic;
    for (size_t i = 0; i < logic->n_outputs; i++)
        for (size_t c = 0; c < logic->outputs[i].n_columns; c++)
            if (logic->outputs[i].columns[c].vector == vector)
                return true;
    for (size_t i = 0; i < run->options->n_results; i++)
        if (hac_logic_vector_find(logic, run->options->results[i]) == vector)
            return true;
    return steps_read_values(logic->steps, logic->n_steps, vector);
}

hac_status hac_run_csr_piece(hac_logic_run_state *run, const hac_logic_piece *piece, hac_error *err)
{
    bool terms = piece->subop->id == HAC_SUBOP_TERM_COUNTS;
    hac_run_task task = hac_run_task_of(run, piece, "op.csr");
    hac_error none = HAC_ERROR_NONE;
    hac_run_vector *row = hac_run_argument(run, piece, "row", err), matrix;
    hac_run_vector *column =
        row != NULL ? hac_run_argument(run, piece, terms ? "term" : "column", err) : NULL;
    hac_run_vector *value = terms ? NULL : hac_run_argument(run, piece, "value", &none);
    if (row == NULL || column == NULL || none.code != HAC_OK)
        return none.code != HAC_OK ? hac_fail(err, HAC_FAILED, "%s", none.message) : HAC_FAILED;
    bool symmetric = !terms && hac_logic_argument_truth(piece, "symmetric");
    uint64_t rows = 0, columns = 0, max;
    hac_status status = hac_run_extent(run, piece, "rows", "row", &rows, err);
    if (status == HAC_OK)
        status =
            hac_run_extent(run, piece, terms ? "terms" : "columns", terms ? "term" : "column", &columns, err);
    if (status == HAC_OK && __builtin_mul_overflow(row->operand.rows, symmetric ? 2 : 1, &max))
        status = hac_fail(err, HAC_REFUSED, "a matrix with so many entries is too large");
    if (status == HAC_OK)
        status = hac_run_vector_new(
            run, &(hac_run_shape){HAC_VECTOR_SPARSE_MATRIX, HAC_KIND_F64, rows, columns, max}, &matrix, err);
    if (status != HAC_OK)
        return status;
    task.flags = symmetric ? HAC_OP_SYMMETRIC : 0;
    matrix.operand.ones =
        symmetric && value == NULL && !values_are_read(run, hac_logic_argument_vector(piece, "out"));
    hac_run_output(&task, &matrix);
    hac_run_operand(&task, row, true);
    hac_run_operand(&task, column, true);
    if (value != NULL)
        hac_run_operand(&task, value, true);
    task.units = (double)row->operand.rows;
    if (row->operand.rows > 0)
        status = take_size(run, &task, &matrix, err);
    else
        empty_rows(&matrix);
    return hac_run_give(run, piece, "out", &matrix, status);
}

hac_status hac_run_transpose_piece(hac_logic_run_state *run, const hac_logic_piece *piece, hac_error *err)
{
    hac_run_task task = hac_run_task_of(run, piece, "op.transpose");
    hac_run_vector *in = hac_run_argument(run, piece, "in", err), result;
    if (in == NULL)
        return HAC_FAILED;
    const hac_op_operand *o = &in->operand;
    bool sparse = o->form == HAC_VECTOR_SPARSE_MATRIX;
    hac_run_shape shape = {sparse ? HAC_VECTOR_SPARSE_MATRIX : HAC_VECTOR_FIX_VALUE, (hac_kind)o->kind,
                           o->columns, o->rows, sparse ? o->entries : 0};
    hac_status status = hac_run_vector_new(run, &shape, &result, err);
    if (status != HAC_OK)
        return status;
    hac_run_output(&task, &result);
    hac_run_operand(&task, in, true);
    task.units = (double)entries_of(in);
    if (entries_of(in) > 0)
        status = hac_run_add(run, &task, NULL, err);
    else if (sparse)
        empty_rows(&result);
    return hac_run_give(run, piece, "out", &result, status);
}
