/* SPDX-License-Identifier: Apache-2.0 */
/* op.distance, op.nearest. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "codelet/threads.h"
#include "host/op_parts.h"

#define COLUMNS_MAX   (1 << 18)
#define STEP_PRODUCTS (1u << 18) /* rows that a thread takes at a time */

static hac_status check_pair(const hac_op_request *r, size_t a, hac_error *err)
{
    HAC_OP_TRY(hac_op_need_dense(r, a, err));
    HAC_OP_TRY(hac_op_need_dense(r, a + 1, err));
    if (!hac_op_is_float(r->v[a].kind))
        return hac_op_fail(err, a, "distances are of f32 or f64");
    HAC_OP_TRY(hac_op_need_kind(r, a + 1, r->v[a].kind, err));
    if (r->v[a].columns > COLUMNS_MAX)
        return hac_fail(err, HAC_UNSUPPORTED, "distances of rows of %llu columns; %d are possible",
                        (unsigned long long)r->v[a].columns, COLUMNS_MAX);
    return hac_op_need_columns(r, a + 1, r->v[a].columns, err);
}

hac_status hac_op_check_of_distance(const hac_op_request *r, hac_error *err)
{
    HAC_OP_TRY(check_pair(r, 1, err));
    HAC_OP_TRY(hac_op_need_dense(r, 0, err));
    HAC_OP_TRY(hac_op_need_kind(r, 0, r->v[1].kind, err));
    HAC_OP_TRY(hac_op_need_rows(r, 0, r->v[1].rows, err));
    return hac_op_need_columns(r, 0, r->v[2].rows, err);
}

hac_status hac_op_check_of_nearest(const hac_op_request *r, hac_error *err)
{
    HAC_OP_TRY(check_pair(r, 1, err));
    HAC_OP_TRY(hac_op_need_dense(r, 0, err));
    HAC_OP_TRY(hac_op_need_kind(r, 0, HAC_KIND_U32, err));
    HAC_OP_TRY(hac_op_need_columns(r, 0, 1, err));
    HAC_OP_TRY(hac_op_need_rows(r, 0, r->v[1].rows, err));
    if (r->v[2].rows == 0 || r->v[2].rows > INT32_MAX)
        return hac_op_fail(err, 2, "%llu rows to choose from", (unsigned long long)r->v[2].rows);
    if (r->n < 4)
        return HAC_OK;
    HAC_OP_TRY(hac_op_need_dense(r, 3, err));
    HAC_OP_TRY(hac_op_need_kind(r, 3, r->v[1].kind, err));
    HAC_OP_TRY(hac_op_need_columns(r, 3, 1, err));
    return hac_op_need_rows(r, 3, r->v[1].rows, err);
}

typedef struct distance_work {
    const hac_op_request *r;
    const hac_op_kernels *kernels;
    hac_op_number number;
    uint8_t *norms;      /* COSINE: lengths of B's rows */
    uint8_t **scratches; /* for each thread */
} distance_work;

/* Lengths of B's rows. Squares are added in ascending order of columns. */
static hac_status norms_of(distance_work *w, hac_error *err)
{
    const hac_op_vector *b = &w->r->v[2];
    if (w->r->call.function != HAC_OP_COSINE)
        return HAC_OK;
    w->norms = hac_op_alloc(b->rows, b->size);
    if (w->norms == NULL)
        return hac_fail_no_memory(err);
    for (uint64_t row = 0; row < b->rows; row++) {
        uint8_t *to = w->norms + row * b->size;
        w->kernels->in_turn[w->number](HAC_OP_SQUARES, hac_op_at(b, row * b->columns), b->columns, to);
        if (b->size == 4)
            *(float *)(void *)to = sqrtf(*(float *)(void *)to);
        else
            *(double *)(void *)to = sqrt(*(double *)(void *)to);
    }
    return HAC_OK;
}

static hac_status distance_rows(void *context, uint64_t first, uint64_t count, unsigned worker,
                                hac_error *err)
{
    distance_work *w = context;
    const hac_op_request *r = w->r;
    const hac_op_vector *a = &r->v[1], *b = &r->v[2];
    if (w->scratches[worker] == NULL)
        w->scratches[worker] = hac_op_alloc(a->columns, HAC_OP_TURNED_BYTES);
    if (w->scratches[worker] == NULL)
        return hac_fail_no_memory(err);
    hac_op_tile tile = {.function = r->call.function,
                        .columns = (size_t)a->columns,
                        .b = b->values,
                        .b_rows = b->rows,
                        .b_norms = w->norms,
                        .turned = w->scratches[worker]};
    for (uint64_t at = first; at < first + count; at += HAC_OP_TILE_ROWS) {
        uint64_t left = first + count - at;
        tile.rows = left < HAC_OP_TILE_ROWS ? (size_t)left : HAC_OP_TILE_ROWS;
        tile.a = hac_op_at(a, at * a->columns);
        if (r->v[0].kind == a->kind)
            w->kernels->distance[w->number](&tile, hac_op_at(&r->v[0], at * b->rows), b->rows);
        else
            w->kernels->nearest[w->number](&tile, (uint32_t *)(void *)hac_op_at(&r->v[0], at),
                                           r->n > 3 ? hac_op_at(&r->v[3], at) : NULL);
    }
    return HAC_OK;
}

static hac_status run_distances(hac_op_request *r, hac_error *err)
{
    const hac_op_vector *a = &r->v[1], *b = &r->v[2];
    const unsigned threads = HAC_POOL_MAX; /* there may be more threads later */
    distance_work w = {.r = r,
                       .kernels = hac_op_kernels_best(),
                       .number = hac_op_number_of(a->kind),
                       .scratches = calloc(threads, sizeof *w.scratches)};
    uint64_t products = a->columns * (b->rows + 1), tiles = STEP_PRODUCTS / HAC_OP_TILE_ROWS / products + 1;
    hac_status status = w.scratches == NULL ? hac_fail_no_memory(err) : norms_of(&w, err);
    if (status == HAC_OK)
        status = hac_op_for_rows(r->first, r->count, tiles * HAC_OP_TILE_ROWS, distance_rows, &w, err);
    for (unsigned i = 0; w.scratches != NULL && i < threads; i++)
        free(w.scratches[i]);
    free(w.scratches);
    free(w.norms);
    return status;
}

hac_status hac_op_do_distance(hac_op_request *r, uint64_t *values, size_t *n_values, hac_error *err)
{
    (void)values;
    (void)n_values;
    return run_distances(r, err);
}

hac_status hac_op_do_nearest(hac_op_request *r, uint64_t *values, size_t *n_values, hac_error *err)
{
    (void)values;
    (void)n_values;
    return run_distances(r, err);
}
