/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Computes y = A x on the devices of the machine. The program fills the sparse matrix A and the vector x
 * element by element, a sub-operator multiplies them, and the program reads the result. A is n x n: 2 on the
 * diagonal, -1 beside it.
 *
 *     cc vectors.c $(pkg-config --cflags --libs hac) -o vectors && ./vectors 1000
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <hac/vector.h>

/* Emits the rows of A in reverse, because keys may come in any order. */
static hac_status fill(hac_vector *a, hac_vector *x, uint64_t n, hac_error *err)
{
    hac_status status = HAC_OK;
    for (uint64_t row = n; status == HAC_OK && row-- > 0;) {
        status = hac_vector_emit(x, row, 0, hac_vector_f64((double)row * (double)row), err);
        if (status == HAC_OK)
            status = hac_vector_emit(a, row, row, hac_vector_f64(2), err);
        if (status == HAC_OK && row > 0)
            status = hac_vector_emit(a, row, row - 1, hac_vector_f64(-1), err);
        if (status == HAC_OK && row + 1 < n)
            status = hac_vector_emit(a, row, row + 1, hac_vector_f64(-1), err);
    }
    return status;
}

/* One task: the codelet op.spmv over y (written), A and x. <hac/op.h> has its operands. */
static hac_status multiply(hac_job *job, hac_vector *const vectors[3], uint64_t n, hac_error *err)
{
    struct {
        hac_op_call call;
        hac_op_operand operands[3];
    } call = {{HAC_OP_MAGIC, HAC_OP_SUM, 3, 0, 0, 0, 0, 0}, {{0}}};
    hac_op_span spans[3];
    hac_buffer *buffers[3];
    hac_status status = HAC_OK;
    for (uint8_t i = 0; status == HAC_OK && i < 3; i++) {
        status = hac_vector_operand(vectors[i], &call.operands[i], err);
        call.operands[i].span = i;
        buffers[i] = hac_vector_buffer(vectors[i]);
        spans[i] = (hac_op_span){.buffer = i, .written = i == 0, .bytes = hac_buffer_bytes(buffers[i])};
    }
    if (status != HAC_OK)
        return status;
    hac_op_task task = {.codelet = "op.spmv",
                        .type = HAC_TYPE_F64,
                        .count = n,
                        .grain = 1,
                        .spans = spans,
                        .n_spans = 3,
                        .call = &call,
                        .call_bytes = sizeof call,
                        .units = (double)call.operands[1].entries};
    hac_ops graph = HAC_OPS_INIT;
    graph.buffers = buffers;
    graph.n_buffers = 3;
    graph.tasks = &task;
    graph.n_tasks = 1;
    return hac_ops_run(job, &graph, NULL, err);
}

static hac_status print(const hac_vector *y, hac_error *err)
{
    hac_vector_iterator *walk = NULL;
    hac_vector_entry entry;
    hac_status status = hac_vector_iter(y, &walk, err);
    while (status == HAC_OK && (status = hac_vector_next(walk, &entry, err)) == HAC_OK)
        printf("%" PRIu64 " %g\n", entry.row, entry.value.f64);
    hac_vector_iter_free(walk);
    return status == HAC_NOT_FOUND ? HAC_OK : status; /* the end */
}

int main(int argc, char **argv)
{
    uint64_t n = argc > 1 ? strtoull(argv[1], NULL, 10) : 10;
    hac_error err = HAC_ERROR_NONE;
    hac_client *client = NULL;
    hac_job *job = NULL;
    hac_vector *a = NULL, *x = NULL, *y = NULL;
    const hac_vector_shape matrix = {HAC_VECTOR_SPARSE_MATRIX, HAC_VECTOR_OF_F64, n, n, 0};
    const hac_vector_shape vector = {HAC_VECTOR_FIX_VALUE, HAC_VECTOR_OF_F64, n, 1, 0};
    hac_ops ops = HAC_OPS_INIT;
    ops.name = "vectors";

    /* The daemon of the system, or a private one, which is started if need be. */
    int failed = hac_client_connect(NULL, &client, &err) != HAC_OK ||
                 hac_vector_new(&matrix, &a, &err) != HAC_OK || hac_vector_new(&vector, &x, &err) != HAC_OK ||
                 fill(a, x, n, &err) != HAC_OK ||
                 hac_vector_finish(a, client, &err) != HAC_OK || /* into memory shared with the devices */
                 hac_vector_finish(x, client, &err) != HAC_OK ||
                 hac_vector_alloc(&vector, client, &y, &err) != HAC_OK ||
                 hac_ops_begin(client, &ops, &job, &err) != HAC_OK ||
                 multiply(job, (hac_vector *const[]){y, a, x}, n, &err) != HAC_OK ||
                 hac_ops_finish(job, NULL, &err) != HAC_OK || print(y, &err) != HAC_OK;
    if (failed)
        fprintf(stderr, "vectors: %s\n", err.message);

    hac_job_free(job); /* before the vectors whose memory it uses */
    hac_vector_free(a);
    hac_vector_free(x);
    hac_vector_free(y);
    hac_client_free(client);
    return failed;
}
