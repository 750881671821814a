/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Passes vectors to a logic file: jacobi.yaml solves A x = b on the devices of the machine. A is n x n: 4 on
 * the diagonal, -1 beside it; b is such that x is 1, 2 … n.
 *
 *     cc jacobi.c $(pkg-config --cflags --libs hac-opsplit) -o jacobi && ./jacobi jacobi.yaml 1000
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <hac/opsplit.h>

/* Inputs, in the order of their names below. */
enum { REST, DIAGONAL, B, TOLERANCE, INPUTS };
static const char *const names[INPUTS] = {"rest", "diagonal", "b", "tolerance"};

static hac_status fill_row(hac_vector *const v[INPUTS], uint64_t row, uint64_t n, hac_error *err)
{
    double before = row > 0 ? (double)row : 0, after = row + 1 < n ? (double)row + 2 : 0;
    hac_status status = hac_vector_emit(v[DIAGONAL], row, 0, hac_vector_f64(4), err);
    if (status == HAC_OK)
        status = hac_vector_emit(v[B], row, 0, hac_vector_f64(4 * ((double)row + 1) - before - after), err);
    if (status == HAC_OK && row > 0)
        status = hac_vector_emit(v[REST], row, row - 1, hac_vector_f64(-1), err);
    if (status == HAC_OK && row + 1 < n)
        status = hac_vector_emit(v[REST], row, row + 1, hac_vector_f64(-1), err);
    return status;
}

static hac_status make_inputs(hac_client *client, hac_vector *v[INPUTS], uint64_t n, hac_error *err)
{
    const hac_vector_shape shapes[INPUTS] = {[REST] = {HAC_VECTOR_SPARSE_MATRIX, HAC_VECTOR_OF_F64, n, n, 0},
                                             [DIAGONAL] = {HAC_VECTOR_FIX_VALUE, HAC_VECTOR_OF_F64, n, 1, 0},
                                             [B] = {HAC_VECTOR_FIX_VALUE, HAC_VECTOR_OF_F64, n, 1, 0},
                                             [TOLERANCE] = {HAC_VECTOR_VAR, HAC_VECTOR_OF_F64, 1, 1, 0}};
    hac_status status = HAC_OK;
    for (int i = 0; status == HAC_OK && i < INPUTS; i++)
        status = hac_vector_new(&shapes[i], &v[i], err);
    for (uint64_t row = 0; status == HAC_OK && row < n; row++)
        status = fill_row(v, row, n, err);
    if (status == HAC_OK)
        status = hac_vector_emit(v[TOLERANCE], 0, 0, hac_vector_f64(1e-9), err);
    for (int i = 0; status == HAC_OK && i < INPUTS; i++)
        status = hac_vector_finish(v[i], client, err); /* into memory shared with the devices */
    return status;
}

static hac_status solve(hac_client *client, const char *file, hac_vector *const v[INPUTS], hac_vector **ret,
                        hac_error *err)
{
    hac_opsplit_input inputs[INPUTS];
    const hac_opsplit_result result = {"x", ret};
    hac_opsplit_options options = HAC_OPSPLIT_OPTIONS_INIT;
    for (int i = 0; i < INPUTS; i++)
        inputs[i] = (hac_opsplit_input){names[i], NULL, v[i]};
    options.inputs = inputs;
    options.n_inputs = INPUTS;
    options.results = &result;
    options.n_results = 1;
    return hac_opsplit_run(client, file, &options, err);
}

static hac_status print(const hac_vector *x, hac_error *err)
{
    hac_vector_iterator *walk = NULL;
    hac_vector_entry entry;
    hac_status status = hac_vector_iter(x, &walk, err);
    while (status == HAC_OK && (status = hac_vector_next(walk, &entry, err)) == HAC_OK)
        printf("%" PRIu64 " %.6f\n", entry.row, entry.value.f64);
    hac_vector_iter_free(walk);
    return status == HAC_NOT_FOUND ? HAC_OK : status; /* the end */
}

int main(int argc, char **argv)
{
    uint64_t n = argc > 2 ? strtoull(argv[2], NULL, 10) : 10;
    hac_error err = HAC_ERROR_NONE;
    hac_client *client = NULL;
    hac_vector *v[INPUTS] = {NULL}, *x = NULL;

    /* The daemon of the system, or a private one, which is started if need be. */
    int failed =
        hac_client_connect(NULL, &client, &err) != HAC_OK || make_inputs(client, v, n, &err) != HAC_OK ||
        solve(client, argc > 1 ? argv[1] : "jacobi.yaml", v, &x, &err) != HAC_OK || print(x, &err) != HAC_OK;
    if (failed)
        fprintf(stderr, "jacobi: %s\n", err.message);
    for (int i = 0; i < INPUTS; i++)
        hac_vector_free(v[i]);
    hac_vector_free(x);
    hac_client_free(client);
    return failed;
}
