/* SPDX-License-Identifier: Apache-2.0 */
/* Sub-operators that reduce rows: reduce, scan, dot, norm, argmin, argmax, row_reduce, reduce_by_key,
 * histogram. */
#include <math.h>
#include <string.h>

#include "ops.h"
#include "run/state/exchange.h"
#include "run/state/graph.h"
#include "run/state/vectors.h"

/* ---- reduce ---- */

/* The operands of a reduction, maybe with a program. `like` gives the rows. */
typedef struct reduction {
    hac_op_function function;
    hac_kind kind; /* of the elements */
    const hac_logic_expression *expression;
    hac_run_vector *in[2];
    size_t n_in;
    hac_run_vector *like;
    bool length; /* of SQUARES of floats: the root of their sum */
} reduction;

static bool is_arg(hac_op_function function)
{
    return function == HAC_OP_ARGMIN || function == HAC_OP_ARGMAX;
}

/* The function that adds floats exactly, in place of one that rounds each sum. */
static hac_op_function exact_function(hac_op_function function, hac_kind kind)
{
    static const struct {
        hac_op_function rounds, exact;
    } pairs[] = {{HAC_OP_SUM, HAC_OP_EXACT_SUM},
                 {HAC_OP_MAGNITUDE, HAC_OP_EXACT_MAGNITUDE},
                 {HAC_OP_PRODUCTS, HAC_OP_EXACT_PRODUCTS},
                 {HAC_OP_SQUARES, HAC_OP_EXACT_SQUARES}};
    for (size_t i = 0; (kind == HAC_KIND_F32 || kind == HAC_KIND_F64) && i < sizeof pairs / sizeof *pairs;
         i++)
        if (pairs[i].rounds == function)
            return pairs[i].exact;
    return function;
}

static hac_status fail_no_rows(bool is_min, hac_error *err)
{
    return hac_fail(err, HAC_FAILED, "there are no rows, and so no %s", is_min ? "minimum" : "maximum");
}

/* Views an operand as one column, because matrices and entries are reduced element by element. */
static hac_status flatten(hac_logic_run_state *run, hac_run_task *task, hac_run_vector *flat,
                          hac_run_vector **like, hac_error *err)
{
    hac_status status = HAC_OK;
    const hac_run_vector *rows = *like;
    if (rows == NULL || (rows->operand.columns == 1 && hac_op_form_is_dense(rows->operand.form)))
        return HAC_OK;
    for (size_t i = task->n_written; i < task->n_operands && status == HAC_OK; i++) {
        hac_run_vector *v = task->operands[i];
        if (v->operand.columns != 1 || !hac_op_form_is_dense(v->operand.form))
            status = hac_run_gather(run, v, err); /* the view has other rows than the ranks */
        flat[i] = hac_run_flat(v);
        task->operands[i] = &flat[i];
        if (v == rows)
            *like = &flat[i];
    }
    return status;
}

/* Reduces to one row with the value; for ARGMIN and ARGMAX two columns. */
static hac_status reduce_to(hac_logic_run_state *run, const hac_logic_piece *piece, const reduction *r,
                            hac_run_vector *ret, hac_error *err)
{
    hac_run_task first = hac_run_task_of(run, piece, "op.reduce");
    hac_run_task second = hac_run_task_of(run, piece, "op.combine");
    hac_run_vector partials, value;
    hac_kind kind = hac_run_total_kind(r->function, r->kind);
    if (is_arg(r->function) && kind == HAC_KIND_F32)
        kind = HAC_KIND_F64;
    hac_status status = HAC_OK;
    hac_op_function function = exact_function(r->function, r->kind);
    bool exact = function != r->function;
    if (exact && r->length)
        function = HAC_OP_EXACT_LENGTH;
    first.function = second.function = function;
    hac_run_output(&first, &partials);
    hac_run_vector *like = r->like;
    hac_run_vector flat[HAC_OP_OPERANDS_MAX];
    if (r->expression != NULL)
        status = hac_run_expression(run, r->expression, &first, &like, err);
    if (status == HAC_OK && r->expression != NULL)
        status = flatten(run, &first, flat, &like, err);
    for (size_t i = 0; i < r->n_in; i++)
        hac_run_operand(&first, r->in[i], false);
    if (status != HAC_OK)
        return status;
    first.rows = like != NULL ? like->operand.rows : 1;
    uint64_t blocks = hac_run_blocks(first.rows, HAC_OP_BLOCK);
    if (blocks == 0 && (r->function == HAC_OP_MIN || r->function == HAC_OP_MAX))
        return fail_no_rows(r->function == HAC_OP_MIN, err);
    first.grain = first.scale = HAC_OP_BLOCK;
    first.units = (double)first.rows;
    bool sums = exact && blocks > 1; /* one block gives the result */
    status = hac_run_dense(run, kind, blocks > 0 ? blocks : 1,
                           sums               ? HAC_OP_EXACT_COLUMNS
                           : is_arg(function) ? 2
                                              : 1,
                           &partials, err);
    if (status != HAC_OK)
        return status;
    if (blocks == 0) /* no rows: the sum is 0 */
        memset(hac_run_data(&partials), 0, partials.bytes);
    else
        status = hac_run_add(run, &first, NULL, err);
    if (status == HAC_OK && blocks <= 1 && !is_arg(function)) {
        *ret = partials;
        return HAC_OK;
    }
    if (status == HAC_OK)
        status = is_arg(r->function) ? hac_run_dense(run, HAC_KIND_U64, 1, 2, &value, err)
                                     : hac_run_dense(run, kind, 1, 1, &value, err);
    if (status == HAC_OK) {
        hac_run_output(&second, &value);
        hac_run_operand(&second, &partials, true);
        second.units = (double)blocks;
        status = hac_run_add(run, &second, NULL, err);
        if (status == HAC_OK)
            *ret = value;
        else
            hac_run_vector_clear(run, &value);
    }
    hac_run_vector_clear(run, &partials);
    return status;
}

/* Adds `in` as one column, or the expression. */
static hac_status read_reduction(hac_logic_run_state *run, const hac_logic_piece *piece, reduction *r,
                                 hac_run_vector *flat, hac_error *err)
{
    r->expression = hac_logic_argument_expression(piece, "expr");
    if (r->expression != NULL) {
        r->kind = r->expression->kind;
        return HAC_OK;
    }
    hac_run_vector *in = hac_run_argument(run, piece, "in", err);
    if (in == NULL)
        return HAC_FAILED;
    *flat = hac_run_flat(in);
    hac_status status = HAC_OK;
    if (flat->operand.rows != in->operand.rows && !hac_run_is_whole(in))
        status = hac_run_gather(run, in, err); /* the view has other rows than the ranks */
    if (status == HAC_OK && flat->operand.rows != in->operand.rows)
        *flat = hac_run_flat(in);
    r->kind = (hac_kind)in->operand.kind;
    r->like = r->in[0] = flat;
    r->n_in = 1;
    return status;
}

/* Makes a vector of a number that the client has. */
static hac_status publish_count(hac_logic_run_state *run, const hac_logic_piece *piece, uint64_t count,
                                hac_error *err)
{
    hac_run_vector value;
    hac_status status = hac_run_dense(run, HAC_KIND_U64, 1, 1, &value, err);
    if (status != HAC_OK)
        return status;
    memcpy(hac_run_data(&value), &count, sizeof count);
    hac_run_publish(run, piece, "out", &value);
    return HAC_OK;
}

hac_status hac_run_reduce_piece(hac_logic_run_state *run, const hac_logic_piece *piece, hac_error *err)
{
    reduction r = {.function = (hac_op_function)hac_logic_argument_word(piece, "function")};
    hac_run_vector flat, value;
    hac_status status = read_reduction(run, piece, &r, &flat, err);
    if (status != HAC_OK)
        return status;
    if (r.function == HAC_OP_COUNT && r.expression == NULL && r.kind != HAC_KIND_BOOL)
        return publish_count(run, piece,
                             hac_kind_is_text(r.kind) ? hac_run_argument(run, piece, "in", err)->operand.rows
                                                      : flat.operand.rows,
                             err);
    status = reduce_to(run, piece, &r, &value, err);
    if (status == HAC_OK)
        hac_run_publish(run, piece, "out", &value);
    return status;
}

hac_status hac_run_dot_piece(hac_logic_run_state *run, const hac_logic_piece *piece, hac_error *err)
{
    const hac_logic_argument *in = hac_logic_argument_get(piece, "in");
    reduction r = {.function = HAC_OP_PRODUCTS, .n_in = 2};
    hac_run_vector value;
    for (size_t i = 0; i < 2; i++) {
        r.in[i] = &run->vectors[in->vectors[i]];
        if (r.in[i]->memory == NULL)
            return hac_fail(err, HAC_FAILED, "vector %s has no value yet",
                            run->logic->vectors[in->vectors[i]].name);
    }
    if (r.in[0]->operand.rows != r.in[1]->operand.rows)
        return hac_fail(err, HAC_FAILED, "the two vectors have %llu and %llu rows",
                        (unsigned long long)r.in[0]->operand.rows, (unsigned long long)r.in[1]->operand.rows);
    r.kind = (hac_kind)r.in[0]->operand.kind;
    r.like = r.in[0];
    hac_status status = reduce_to(run, piece, &r, &value, err);
    if (status == HAC_OK)
        hac_run_publish(run, piece, "out", &value);
    return status;
}

/* ---- values that are looked at ---- */

/* Element `i` of a dense vector, as a double. */
static double number_at(const hac_run_vector *v, uint64_t i)
{
    const uint8_t *at = hac_run_data(v) + v->operand.values + i * hac_op_element_size(v->operand.kind);
    union {
        double f64;
        float f32;
        int64_t i64;
        uint64_t u64;
        int32_t i32;
        uint32_t u32;
    } u = {.u64 = 0};
    memcpy(&u, at, hac_op_element_size(v->operand.kind));
    switch (v->operand.kind) {
    case HAC_KIND_F64:
        return u.f64;
    case HAC_KIND_F32:
        return (double)u.f32;
    case HAC_KIND_I64:
        return (double)u.i64;
    case HAC_KIND_I32:
        return (double)u.i32;
    default:
        return (double)u.u64;
    }
}

static hac_status bring(hac_logic_run_state *run, hac_run_vector *v, hac_error *err)
{
    hac_status status = hac_run_is_pending(run, v) ? hac_run_flush(run, err) : HAC_OK;
    return status == HAC_OK ? hac_run_gather(run, v, err) : status;
}

/* The reduction's value as a double. */
static hac_status reduce_here(hac_logic_run_state *run, const hac_logic_piece *piece, const reduction *r,
                              double *ret, hac_error *err)
{
    hac_run_vector value;
    hac_status status = reduce_to(run, piece, r, &value, err);
    if (status != HAC_OK)
        return status;
    status = bring(run, &value, err);
    if (status == HAC_OK)
        *ret = number_at(&value, 0);
    hac_run_vector_clear(run, &value);
    return status;
}

/* Sums of squares of integers are whole numbers, and have no root yet. */
static hac_status length_of(hac_logic_run_state *run, const hac_logic_piece *piece, const reduction *r,
                            double *ret, hac_error *err)
{
    hac_status status = reduce_here(run, piece, r, ret, err);
    if (status == HAC_OK && r->function == HAC_OP_SQUARES &&
        exact_function(r->function, r->kind) == r->function)
        *ret = sqrt(*ret);
    return status;
}

hac_status hac_run_norm_piece(hac_logic_run_state *run, const hac_logic_piece *piece, hac_error *err)
{
    static const hac_op_function functions[] = {HAC_OP_SQUARES, HAC_OP_MAGNITUDE, HAC_OP_LARGEST};
    int order = hac_logic_argument_word(piece, "order");
    reduction r = {.function = functions[order], .length = order == 0};
    hac_run_vector flat, result;
    double length = 0;
    hac_status status = read_reduction(run, piece, &r, &flat, err);
    if (status == HAC_OK)
        status = length_of(run, piece, &r, &length, err);
    if (status == HAC_OK)
        status = hac_run_dense(run, HAC_KIND_F64, 1, 1, &result, err);
    if (status == HAC_OK) {
        memcpy(hac_run_data(&result), &length, sizeof length);
        hac_run_publish(run, piece, "out", &result);
    }
    return status;
}

/* ---- argmin, argmax ---- */

static hac_status arg_rows(hac_logic_run_state *run, const hac_logic_piece *piece, hac_run_vector *in,
                           hac_op_function function, hac_error *err)
{
    hac_run_task task = hac_run_task_of(run, piece, "op.arg_rows");
    hac_run_vector index;
    hac_status status = hac_run_dense(run, HAC_KIND_U32, in->operand.rows, 1, &index, err);
    if (status != HAC_OK)
        return status;
    hac_run_output(&task, &index);
    hac_run_operand(&task, in, false);
    task.function = function;
    task.rows = in->operand.rows;
    task.grain = HAC_OP_BLOCK;
    task.units = (double)task.rows * (double)in->operand.columns;
    status = hac_run_add(run, &task, NULL, err);
    return hac_run_give(run, piece, "out", &index, status);
}

/* The bits of a double or an integer in the kind of a result. */
static void put_value(hac_run_vector *to, uint64_t bits, hac_kind from)
{
    double wide;
    float narrow;
    memcpy(&wide, &bits, sizeof wide);
    narrow = (float)wide;
    if (from == HAC_KIND_F32)
        memcpy(hac_run_data(to), &narrow, sizeof narrow);
    else
        memcpy(hac_run_data(to), &bits, hac_op_element_size(to->operand.kind));
}

hac_status hac_run_arg_piece(hac_logic_run_state *run, const hac_logic_piece *piece, hac_error *err)
{
    hac_op_function function = piece->subop->id == HAC_SUBOP_ARGMIN ? HAC_OP_ARGMIN : HAC_OP_ARGMAX;
    hac_run_vector *in = hac_run_argument(run, piece, "in", err), pair, row, value;
    if (in == NULL)
        return HAC_FAILED;
    if (piece->of_rows)
        return arg_rows(run, piece, in, function, err);
    if (in->operand.rows == 0)
        return fail_no_rows(function == HAC_OP_ARGMIN, err);
    hac_kind kind = (hac_kind)in->operand.kind;
    reduction r = {.function = function, .kind = kind, .in = {in}, .n_in = 1, .like = in};
    hac_status status = reduce_to(run, piece, &r, &pair, err);
    if (status != HAC_OK)
        return status;
    status = bring(run, &pair, err);
    if (status == HAC_OK)
        status = hac_run_dense(run, HAC_KIND_U64, 1, 1, &row, err);
    if (status != HAC_OK) {
        hac_run_vector_clear(run, &pair);
        return status;
    }
    uint64_t words[2];
    memcpy(words, hac_run_data(&pair), sizeof words);
    memcpy(hac_run_data(&row), &words[0], sizeof words[0]);
    hac_run_publish(run, piece, "out", &row);
    status = hac_run_dense(run, hac_run_total_kind(HAC_OP_MIN, kind), 1, 1, &value, err);
    if (status == HAC_OK) {
        put_value(&value, words[1], kind);
        hac_run_publish(run, piece, "value", &value);
    }
    hac_run_vector_clear(run, &pair);
    return status;
}

/* ---- rows of matrices ---- */

hac_status hac_run_row_reduce_piece(hac_logic_run_state *run, const hac_logic_piece *piece, hac_error *err)
{
    hac_run_task task = hac_run_task_of(run, piece, "op.row_reduce");
    hac_run_vector *in = hac_run_argument(run, piece, "in", err), result;
    if (in == NULL)
        return HAC_FAILED;
    task.function = (hac_op_function)hac_logic_argument_word(piece, "function");
    hac_status status = hac_run_dense(run, hac_run_total_kind(task.function, (hac_kind)in->operand.kind),
                                      in->operand.rows, 1, &result, err);
    if (status != HAC_OK)
        return status;
    hac_run_output(&task, &result);
    hac_run_operand(&task, in, false);
    task.rows = in->operand.rows;
    task.grain = HAC_OP_BLOCK;
    bool dense = hac_op_form_is_dense(in->operand.form);
    task.units = dense ? (double)task.rows * (double)in->operand.columns : (double)in->operand.entries;
    if (in->operand.columns > 0)
        status = hac_run_add(run, &task, NULL, err);
    else /* as of a row without entries */
        memset(hac_run_data(&result), 0, result.bytes);
    return hac_run_give(run, piece, "out", &result, status);
}

/* ---- scan ---- */

hac_status hac_run_scan_piece(hac_logic_run_state *run, const hac_logic_piece *piece, hac_error *err)
{
    hac_run_task first = hac_run_task_of(run, piece, "op.scan_sums"),
                 second = hac_run_task_of(run, piece, "op.scan");
    hac_run_vector *in = hac_run_argument(run, piece, "in", err), partials, result;
    if (in == NULL)
        return HAC_FAILED;
    uint64_t rows = in->operand.rows, blocks = hac_run_blocks(rows, HAC_OP_BLOCK);
    first.function = second.function = (hac_op_function)hac_logic_argument_word(piece, "function");
    first.flags = second.flags = hac_logic_argument_truth(piece, "exclusive") ? HAC_OP_EXCLUSIVE : 0;
    hac_kind kind = hac_run_total_kind(first.function, (hac_kind)in->operand.kind);
    hac_status status = hac_run_dense(run, kind, blocks > 0 ? blocks : 1, 1, &partials, err);
    if (status == HAC_OK)
        status = hac_run_dense(run, kind, rows, 1, &result, err);
    if (status != HAC_OK)
        return status;
    hac_run_output(&first, &partials);
    hac_run_operand(&first, in, false);
    first.rows = second.rows = rows;
    first.grain = second.grain = first.scale = HAC_OP_BLOCK;
    first.units = second.units = (double)rows;
    hac_run_output(&second, &result);
    hac_run_operand(&second, in, false);
    hac_run_operand(&second, &partials, true);
    if (rows > 0)
        status = hac_run_add(run, &first, NULL, err);
    if (status == HAC_OK && rows > 0)
        status = hac_run_add(run, &second, NULL, err);
    hac_run_vector_clear(run, &partials);
    return hac_run_give(run, piece, "out", &result, status);
}

/* ---- reduce_by_key ---- */

/* Takes from the table of keys what the piece wants: sums or means, and counts. */
static hac_status take_table(hac_logic_run_state *run, const hac_logic_piece *piece,
                             const hac_run_vector *table, const hac_run_vector *empty, hac_error *err)
{
    bool mean = hac_logic_argument_word(piece, "function") == HAC_LOGIC_MEAN;
    bool is_float = table->operand.kind == HAC_KIND_F64;
    uint64_t n = table->operand.rows, columns = table->operand.columns - 1;
    hac_run_vector out, count;
    hac_status status = hac_run_dense(run, HAC_KIND_I64, n, 1, &count, err);
    if (status == HAC_OK)
        status = hac_run_dense(run, mean ? HAC_KIND_F64 : (hac_kind)table->operand.kind, n,
                               columns > 0 ? columns : 1, &out, err);
    if (status != HAC_OK)
        return status;
    const uint64_t *from = (const uint64_t *)(const void *)hac_run_data(table);
    uint64_t *to = (uint64_t *)(void *)hac_run_data(&out);
    int64_t *counts = (int64_t *)(void *)hac_run_data(&count);
    for (uint64_t k = 0; run->dry_run == NULL && k < n; k++) {
        double rows;
        memcpy(&rows, &from[k * (columns + 1)], sizeof rows);
        counts[k] = is_float ? (int64_t)rows : (int64_t)from[k * (columns + 1)];
        for (uint64_t c = 0; c < columns; c++) {
            uint64_t bits = from[k * (columns + 1) + 1 + c];
            double sum;
            memcpy(&sum, &bits, sizeof sum);
            if (mean) {
                double value = (is_float ? sum : (double)(int64_t)bits) / (double)counts[k];
                memcpy(&bits, &value, sizeof bits);
            }
            if (counts[k] == 0 && empty != NULL)
                memcpy(&bits, hac_run_data(empty) + (k * columns + c) * sizeof bits, sizeof bits);
            to[k * columns + c] = bits;
        }
    }
    hac_run_publish(run, piece, "out", &out);
    hac_run_publish(run, piece, "count", &count);
    return HAC_OK;
}

hac_status hac_run_tables(hac_logic_run_state *run, hac_run_task *first, hac_run_task *second, hac_kind kind,
                          uint64_t n, uint64_t columns, hac_run_vector *ret, hac_error *err)
{
    hac_run_vector tables;
    uint64_t blocks = hac_run_blocks(first->rows, HAC_OP_KEY_BLOCK);
    hac_status status = hac_run_dense(run, kind, (blocks > 0 ? blocks : 1) * n, columns, &tables, err);
    if (status == HAC_OK)
        status = hac_run_dense(run, kind, n, columns, ret, err);
    if (status != HAC_OK)
        return status;
    first->operands[0] = &tables;
    first->grain = first->scale = HAC_OP_KEY_BLOCK;
    first->n = second->n = n;
    first->units = (double)first->rows * (double)columns;
    hac_run_output(second, ret);
    hac_run_operand(second, &tables, true);
    second->rows = n;
    second->grain = HAC_OP_BLOCK;
    second->units = (double)(blocks * n) * (double)columns;
    if (blocks == 0)
        memset(hac_run_data(ret), 0, ret->bytes);
    else
        status = hac_run_add(run, first, NULL, err);
    if (status == HAC_OK && blocks > 0)
        status = hac_run_add(run, second, NULL, err);
    first->operands[0] = NULL;
    hac_run_vector_clear(run, &tables);
    if (status != HAC_OK)
        hac_run_vector_clear(run, ret);
    return status;
}

hac_status hac_run_keys_piece(hac_logic_run_state *run, const hac_logic_piece *piece, hac_error *err)
{
    hac_run_task first = hac_run_task_of(run, piece, "op.keys"),
                 second = hac_run_task_of(run, piece, "op.keys_combine");
    hac_error none = HAC_ERROR_NONE;
    hac_run_vector *key = hac_run_argument(run, piece, "key", err);
    hac_run_vector table = {.memory = NULL}, placeholder = {.memory = NULL};
    hac_run_vector *in = hac_run_argument(run, piece, "in", &none),
                   *empty = hac_run_argument(run, piece, "empty", &none);
    uint64_t n = 0;
    if (key == NULL || none.code != HAC_OK)
        return none.code != HAC_OK ? hac_fail(err, HAC_FAILED, "%s", none.message) : HAC_FAILED;
    hac_status status = hac_run_extent(run, piece, "keys", "key", &n, err);
    if (status == HAC_OK && n == 0)
        status = hac_fail(err, HAC_FAILED, "there are no keys");
    if (status == HAC_OK && in != NULL && in->operand.rows != key->operand.rows)
        status = hac_fail(err, HAC_FAILED, "there are %llu keys for %llu rows",
                          (unsigned long long)key->operand.rows, (unsigned long long)in->operand.rows);
    if (status != HAC_OK)
        return status;
    int function = hac_logic_argument_word(piece, "function");
    bool counts = function == HAC_OP_COUNT;
    first.function = second.function =
        function == HAC_LOGIC_MEAN || counts ? HAC_OP_SUM : (hac_op_function)function;
    hac_run_output(&first, &placeholder);
    hac_run_operand(&first, key, false);
    if (in != NULL && !counts)
        hac_run_operand(&first, in, false);
    first.rows = key->operand.rows;
    bool is_float =
        in != NULL && !counts && (in->operand.kind == HAC_KIND_F64 || in->operand.kind == HAC_KIND_F32);
    status = hac_run_tables(run, &first, &second, is_float ? HAC_KIND_F64 : HAC_KIND_I64, n,
                            1 + (in != NULL && !counts ? in->operand.columns : 0), &table, err);
    if (status == HAC_OK)
        status = bring(run, &table, err);
    if (status == HAC_OK && empty != NULL)
        status = bring(run, empty, err);
    if (status == HAC_OK)
        status = take_table(run, piece, &table, empty, err);
    hac_run_vector_clear(run, &table);
    return status;
}

hac_status hac_run_histogram_piece(hac_logic_run_state *run, const hac_logic_piece *piece, hac_error *err)
{
    hac_run_task first = hac_run_task_of(run, piece, "op.histogram");
    hac_run_task second = hac_run_task_of(run, piece, "op.keys_combine");
    hac_run_vector *in = hac_run_argument(run, piece, "in", err), result, placeholder = {.memory = NULL};
    const hac_logic_argument *bins = hac_logic_argument_get(piece, "bins");
    if (in == NULL)
        return HAC_FAILED;
    hac_status status = hac_run_number(run, piece, "from", 0, &first.a, err);
    if (status == HAC_OK)
        status = hac_run_number(run, piece, "to", 1, &first.b, err);
    if (status == HAC_OK && !(first.a < first.b))
        status = hac_fail(err, HAC_FAILED, "the intervals go from %g to %g", first.a, first.b);
    if (status != HAC_OK)
        return status;
    hac_run_output(&first, &placeholder);
    hac_run_operand(&first, in, false);
    first.rows = in->operand.rows;
    status = hac_run_tables(run, &first, &second, HAC_KIND_U64, bins->integer, 1, &result, err);
    if (status == HAC_OK)
        hac_run_publish(run, piece, "out", &result);
    return status;
}
