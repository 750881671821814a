/* SPDX-License-Identifier: Apache-2.0 */
/* op.map, op.filter_count, op.filter_copy. */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "op_eval.h"

HAC_DEFINE_CLEANUP(hac_op_eval *, hac_op_eval_free)

#define STEP (16 * (uint64_t)HAC_OP_BLOCK) /* rows that a thread takes at a time */

typedef struct map_work {
    const hac_op_request *r;
    hac_op_eval *eval;
    uint64_t *kept; /* filter_copy: the row of y where each block of the range begins */
} map_work;

/* ---- op.map ---- */

hac_status hac_op_check_of_map(const hac_op_request *r, hac_error *err)
{
    const hac_op_vector *y = &r->v[0];
    HAC_OP_TRY(hac_op_need_dense(r, 0, err));
    if (r->program->outputs[0].type.kind != y->kind)
        return hac_op_fail(err, 0, "it is not of the kind of the program's output");
    return hac_op_check_inputs(r, 1, y->rows, y->columns, err);
}

static void store(const hac_op_vector *y, uint64_t first, size_t n, const hac_column *v)
{
    const hac_op_kernels *k = hac_op_kernels_best();
    uint8_t *to = hac_op_at(y, first);
    const int64_t *wide = v->values;
    if (y->kind == HAC_KIND_F64)
        k->tidy64(v->values, n, (double *)(void *)to);
    else if (y->kind == HAC_KIND_F32)
        k->tidy32(v->values, n, (float *)(void *)to);
    else if (y->size == 4)
        for (size_t i = 0; i < n; i++)
            ((int32_t *)(void *)to)[i] = (int32_t)wide[i];
    else
        memcpy(to, v->values, n * y->size);
}

static hac_status map_rows(void *context, uint64_t first, uint64_t count, unsigned worker, hac_error *err)
{
    const map_work *w = context;
    const hac_op_vector *y = &w->r->v[0];
    uint64_t at = first * y->columns, end = at + count * y->columns;
    for (; at < end; at += HAC_BATCH_ROWS) {
        size_t n = end - at < HAC_BATCH_ROWS ? (size_t)(end - at) : HAC_BATCH_ROWS;
        hac_column v;
        HAC_OP_TRY(hac_op_eval_batch(w->eval, worker, at, n, &v, err));
        HAC_OP_TRY(hac_op_eval_states(w->eval, &v, at, n, false, err));
        store(y, at, n, &v);
    }
    return HAC_OK;
}

hac_status hac_op_do_map(hac_op_request *r, uint64_t *values, size_t *n_values, hac_error *err)
{
    hac_cleanup(hac_op_eval_free_cleanup) hac_op_eval *eval = NULL;
    (void)values;
    (void)n_values;
    HAC_OP_TRY(hac_op_eval_new(r, &eval, err));
    map_work w = {.r = r, .eval = eval};
    uint64_t step = STEP / r->v[0].columns / HAC_OP_BLOCK * HAC_OP_BLOCK;
    return hac_op_for_rows(r->first, r->count, step == 0 ? HAC_OP_BLOCK : step, map_rows, &w, err);
}

/* ---- filters ---- */

static hac_status check_filter(const hac_op_request *r, size_t counts, size_t inputs, uint64_t rows,
                               hac_error *err)
{
    uint64_t blocks = rows / HAC_OP_BLOCK + (rows % HAC_OP_BLOCK != 0);
    HAC_OP_TRY(hac_op_need_dense(r, counts, err));
    HAC_OP_TRY(hac_op_need_kind(r, counts, HAC_KIND_U64, err));
    HAC_OP_TRY(hac_op_need_columns(r, counts, 1, err));
    if (r->v[counts].rows < blocks)
        return hac_op_fail(err, counts, "%llu counts for %llu blocks", (unsigned long long)r->v[counts].rows,
                           (unsigned long long)blocks);
    if (r->program->outputs[0].type.kind != HAC_KIND_BOOL)
        return hac_fail(err, HAC_INVALID, "the program does not give bool");
    return hac_op_check_inputs(r, inputs, rows, 1, err);
}

hac_status hac_op_check_of_filter_count(const hac_op_request *r, hac_error *err)
{
    return check_filter(r, 0, 1, hac_op_program_like(r, 1)->rows, err);
}

hac_status hac_op_check_of_filter_copy(const hac_op_request *r, hac_error *err)
{
    HAC_OP_TRY(hac_op_need_dense(r, 0, err));
    HAC_OP_TRY(hac_op_need_dense(r, 1, err));
    HAC_OP_TRY(hac_op_need_kind(r, 1, r->v[0].kind, err));
    HAC_OP_TRY(hac_op_need_columns(r, 1, r->v[0].columns, err));
    return check_filter(r, 2, 3, r->v[1].rows, err);
}

/* Which rows of a block are kept. `keep` has HAC_OP_BLOCK bytes; *ret is how many. */
static hac_status judge_block(const map_work *w, uint64_t first, size_t n, unsigned worker, uint8_t *keep,
                              uint64_t *ret, hac_error *err)
{
    uint64_t kept = 0;
    for (size_t at = 0; at < n; at += HAC_BATCH_ROWS) {
        size_t rows = n - at < HAC_BATCH_ROWS ? n - at : HAC_BATCH_ROWS;
        hac_column v;
        HAC_OP_TRY(hac_op_eval_batch(w->eval, worker, first + at, rows, &v, err));
        HAC_OP_TRY(hac_op_eval_states(w->eval, &v, first + at, rows, true, err));
        const uint8_t *values = v.values;
        uint32_t own = 0;
        for (size_t i = 0; v.states != NULL && i < rows; i++)
            keep[at + i] = values[i] & (v.states[i] == HAC_ROW_OK);
        if (v.states == NULL)
            memcpy(keep + at, values, rows);
        for (size_t i = 0; i < rows; i++)
            own += keep[at + i];
        kept += own;
    }
    *ret = kept;
    return HAC_OK;
}

static hac_status count_rows(void *context, uint64_t first, uint64_t count, unsigned worker, hac_error *err)
{
    const map_work *w = context;
    uint8_t keep[HAC_OP_BLOCK];
    for (uint64_t at = 0; at < count; at += HAC_OP_BLOCK) {
        size_t n = count - at < HAC_OP_BLOCK ? (size_t)(count - at) : HAC_OP_BLOCK;
        uint64_t kept;
        HAC_OP_TRY(judge_block(w, first + at, n, worker, keep, &kept, err));
        memcpy(hac_op_at(&w->r->v[0], (first + at) / HAC_OP_BLOCK), &kept, sizeof kept);
    }
    return HAC_OK;
}

hac_status hac_op_do_filter_count(hac_op_request *r, uint64_t *values, size_t *n_values, hac_error *err)
{
    hac_cleanup(hac_op_eval_free_cleanup) hac_op_eval *eval = NULL;
    (void)values;
    (void)n_values;
    HAC_OP_TRY(hac_op_eval_new(r, &eval, err));
    map_work w = {.r = r, .eval = eval};
    return hac_op_for_rows(r->first, r->count, STEP, count_rows, &w, err);
}

static inline __attribute__((always_inline)) void copy_kept_of(uint8_t *to, const uint8_t *from,
                                                               const uint8_t *keep, size_t n, uint64_t bytes)
{
    for (size_t i = 0; i < n; i++)
        if (keep[i]) {
            memcpy(to, from + i * bytes, bytes);
            to += bytes;
        }
}

static void copy_kept(uint8_t *to, const uint8_t *from, const uint8_t *keep, size_t n, uint64_t row_bytes)
{
    if (row_bytes == 8)
        copy_kept_of(to, from, keep, n, 8);
    else if (row_bytes == 4)
        copy_kept_of(to, from, keep, n, 4);
    else
        copy_kept_of(to, from, keep, n, row_bytes);
}

static hac_status copy_rows(void *context, uint64_t first, uint64_t count, unsigned worker, hac_error *err)
{
    const map_work *w = context;
    const hac_op_vector *y = &w->r->v[0], *x = &w->r->v[1];
    uint64_t row_bytes = y->size * y->columns, kept;
    uint8_t keep[HAC_OP_BLOCK];
    for (uint64_t at = 0; at < count; at += HAC_OP_BLOCK) {
        size_t n = count - at < HAC_OP_BLOCK ? (size_t)(count - at) : HAC_OP_BLOCK;
        const uint64_t *place = &w->kept[(first + at - w->r->first) / HAC_OP_BLOCK];
        HAC_OP_TRY(judge_block(w, first + at, n, worker, keep, &kept, err));
        if (kept != place[1] - place[0])
            return hac_op_fail(err, 2, "block %llu keeps %llu rows, not %llu",
                               (unsigned long long)((first + at) / HAC_OP_BLOCK), (unsigned long long)kept,
                               (unsigned long long)(place[1] - place[0]));
        uint8_t *to = y->values + place[0] * row_bytes;
        const uint8_t *from = x->values + (first + at) * row_bytes;
        copy_kept(to, from, keep, n, row_bytes);
    }
    return HAC_OK;
}

hac_status hac_op_filter_places(const hac_op_request *r, uint64_t **ret, hac_error *err)
{
    const uint64_t *counts = (const uint64_t *)(const void *)r->v[2].values;
    uint64_t before = r->first / HAC_OP_BLOCK, n = (r->count + HAC_OP_BLOCK - 1) / HAC_OP_BLOCK, sum = 0;
    uint64_t *places = hac_op_alloc(n + 1, sizeof *places);
    if (places == NULL)
        return hac_fail_no_memory(err);
    for (uint64_t b = 0; b < before + n; b++) {
        uint64_t count = hac_op_once_u64(counts + b);
        if (b >= before)
            places[b - before] = sum;
        if (count > HAC_OP_BLOCK) {
            free(places);
            return hac_op_fail(err, 2, "block %llu has %llu rows", (unsigned long long)b,
                               (unsigned long long)count);
        }
        sum += count;
    }
    places[n] = sum;
    *ret = places;
    return HAC_OK;
}

hac_status hac_op_do_filter_copy(hac_op_request *r, uint64_t *values, size_t *n_values, hac_error *err)
{
    hac_cleanup(hac_op_eval_free_cleanup) hac_op_eval *eval = NULL;
    hac_autofree uint64_t *places = NULL;
    HAC_OP_TRY(hac_op_filter_places(r, &places, err));
    uint64_t n = (r->count + HAC_OP_BLOCK - 1) / HAC_OP_BLOCK;
    values[0] = places[n] - places[0];
    values[1] = values[0] * r->v[0].columns;
    *n_values = 2;
    if (places[n] > r->v[0].rows)
        return HAC_OK;
    HAC_OP_TRY(hac_op_eval_new(r, &eval, err));
    map_work w = {.r = r, .eval = eval, .kept = places};
    return hac_op_for_rows(r->first, r->count, STEP, copy_rows, &w, err);
}
