/* SPDX-License-Identifier: Apache-2.0 */
#include "op_eval.h"

#include <stdlib.h>
#include <string.h>

#include "codelet/threads.h"

#define STRING_BYTES (1u << 20) /* strings that one batch may make */
#define CAPACITY     (HAC_BATCH_ROWS * 8)

typedef struct eval_worker {
    hac_machine_c *machine; /* made at the first batch */
    uint8_t *scratch;       /* a column of each input */
    hac_column inputs[HAC_OP_OPERANDS_MAX];
} eval_worker;

struct hac_op_eval {
    const hac_op_request *r;
    size_t from; /* the operand that is input 0 */
    bool used[HAC_OP_OPERANDS_MAX];
    /* a thread makes its own worker, since there may be more threads than before */
    eval_worker *workers[HAC_POOL_MAX];
};

/* The evaluation that was made for the program's last run, if it can still be used. */
static hac_op_eval *keep_eval(hac_op_request *r)
{
    hac_op_eval *e = r->eval;
    if (e == NULL || !hac_op_bind_again(r))
        return e;
    for (unsigned i = 0; i < HAC_POOL_MAX; i++) { /* the machine holds the old values */
        if (e->workers[i] == NULL)
            continue;
        hac_machine_c_free(e->workers[i]->machine);
        e->workers[i]->machine = NULL;
    }
    return e;
}

hac_status hac_op_eval_new(hac_op_request *r, hac_op_eval **ret, hac_error *err)
{
    *ret = keep_eval(r);
    if (*ret != NULL)
        return HAC_OK;
    HAC_OP_TRY(hac_op_bind_constants(r, err));
    hac_op_eval *e = calloc(1, sizeof *e);
    if (e == NULL)
        return hac_fail_no_memory(err);
    e->r = r;
    e->from = r->rule->op->program_at;
    for (size_t i = 0; i < r->program->n_instructions; i++)
        if (r->program->instructions[i].op == HAC_OP_COLUMN)
            e->used[r->program->instructions[i].k] = true;
    if (r->again)
        r->eval = e;
    *ret = e;
    return HAC_OK;
}

void hac_op_eval_free(hac_op_eval *e)
{
    if (e == NULL || e->r->again)
        return;
    for (unsigned i = 0; i < HAC_POOL_MAX; i++) {
        if (e->workers[i] == NULL)
            continue;
        hac_machine_c_free(e->workers[i]->machine);
        free(e->workers[i]->scratch);
        free(e->workers[i]);
    }
    free(e);
}

/* Bytes of strings that a batch may make; 0 for a program without strings. */
static size_t string_bytes(const hac_program *p)
{
    for (size_t i = 0; i < p->n_registers; i++)
        if (p->registers[i] == HAC_REPR_STRING)
            return STRING_BYTES;
    return 0;
}

static hac_status worker_init(hac_op_eval *e, unsigned worker, hac_error *err)
{
    if (e->workers[worker] == NULL)
        e->workers[worker] = calloc(1, sizeof *e->workers[worker]);
    eval_worker *w = e->workers[worker];
    if (w == NULL)
        return hac_fail_no_memory(err);
    if (w->machine != NULL)
        return HAC_OK;
    if (w->scratch == NULL)
        w->scratch = hac_op_alloc(HAC_OP_OPERANDS_MAX, CAPACITY);
    if (w->scratch == NULL)
        return hac_fail_no_memory(err);
    return hac_machine_c_new(e->r->program, string_bytes(e->r->program), &w->machine, err);
}

/* The machine reads whole blocks of 64 elements, so the end of a vector is copied. */
static void *load(const hac_op_vector *v, uint64_t first, size_t n, void *scratch)
{
    const uint8_t *x = hac_op_at(v, first);
    bool narrow = v->kind == HAC_KIND_I32 || v->kind == HAC_KIND_U32;
    if (narrow)
        hac_op_kernels_best()->widen(v->kind, v->kind == HAC_KIND_I32 ? HAC_OP_I64 : HAC_OP_U64, x, n,
                                     scratch);
    else if (v->kind == HAC_KIND_BOOL)
        for (size_t i = 0; i < n; i++)
            ((uint8_t *)scratch)[i] = x[i] != 0;
    else if (n == HAC_BATCH_ROWS)
        return hac_op_at(v, first);
    else
        memcpy(scratch, x, n * v->size);
    return scratch;
}

hac_status hac_op_eval_batch(hac_op_eval *e, unsigned worker, uint64_t first, size_t n, hac_column *ret,
                             hac_error *err)
{
    HAC_OP_TRY(worker_init(e, worker, err));
    eval_worker *w = e->workers[worker];
    const hac_program *p = e->r->program;
    for (size_t i = 0; i < p->n_inputs; i++) {
        w->inputs[i] = (hac_column){.type = p->inputs[i]};
        if (e->used[i])
            w->inputs[i].values = load(&e->r->v[e->from + i], first, n, w->scratch + i * CAPACITY);
    }
    hac_batch batch = {.rows = n, .n_columns = p->n_inputs, .columns = w->inputs};
    hac_machine_c_run(w->machine, &batch, ret);
    return HAC_OK;
}

hac_status hac_op_eval_states(const hac_op_eval *e, const hac_column *v, uint64_t first, size_t n, bool null,
                              hac_error *err)
{
    if (v->states == NULL)
        return HAC_OK;
    const hac_op_vector *like = hac_op_program_like(e->r, e->from);
    for (size_t i = 0; i < n; i++)
        if (v->states[i] != HAC_ROW_OK && !(null && v->states[i] == HAC_ROW_NULL))
            return hac_fail(err, HAC_FAILED, "row %llu: %s",
                            (unsigned long long)(like->first + (first + i) / like->columns),
                            v->states[i] == HAC_ROW_NULL ? "there is no value (a division by zero?)"
                                                         : hac_row_state_text(v->states[i]));
    return HAC_OK;
}

unsigned hac_op_eval_kind(const hac_column *v)
{
    static const uint8_t kinds[HAC_REPR_END] = {
        [HAC_REPR_BOOL] = HAC_KIND_BOOL, [HAC_REPR_I64] = HAC_KIND_I64, [HAC_REPR_U64] = HAC_KIND_U64,
        [HAC_REPR_F32] = HAC_KIND_F32,   [HAC_REPR_F64] = HAC_KIND_F64,
    };
    return kinds[hac_repr_of(v->type)];
}

hac_status hac_op_check_inputs(const hac_op_request *r, size_t from, uint64_t rows, uint64_t columns,
                               hac_error *err)
{
    for (size_t i = from; i < r->n; i++) {
        if (hac_op_is_one(&r->v[i]))
            continue;
        HAC_OP_TRY(hac_op_need_rows(r, i, rows, err));
        HAC_OP_TRY(hac_op_need_columns(r, i, columns, err));
    }
    return HAC_OK;
}
