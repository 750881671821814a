/* SPDX-License-Identifier: Apache-2.0 */
/* The codelets op.*.cl: what the device must have for a call, and which kernels do it. */
#include "op_cl.h"

#include <string.h>

#include "expr/expr_plan.h"

#define LOCAL_BYTES 16384 /* local memory of the largest kernel */

static uint64_t bytes_of(const hac_op_vector *v)
{
    return v->entries * v->size; /* checked to lie in memory */
}

static hac_status fail_loops(const hac_device_facts *f, uint64_t n, hac_error *err)
{
    return hac_fail(err, HAC_UNSUPPORTED, "loops of %llu iterations on a device that ends them after %u",
                    (unsigned long long)n, f->max_loop_iterations);
}

/* The longest loop of a work-item that follows from the call alone, not from data. */
static uint64_t loop_of(const hac_op_codelet *op, const hac_op_request *r)
{
    const hac_op_vector *a = &r->v[1];
    if (strcmp(op->name, "op.gemm") == 0)
        return a->columns > UINT32_MAX ? UINT64_MAX : a->columns * 20; /* 16 rows, and the tiles */
    if (strcmp(op->name, "op.gemv") == 0 || strcmp(op->name, "op.arg_rows") == 0)
        return a->columns;
    if (strcmp(op->name, "op.row_reduce") == 0)
        return hac_op_is_dense(a) ? a->columns : 0;
    if (strcmp(op->name, "op.distance") == 0)
        return a->columns;
    if (strcmp(op->name, "op.filter_copy") == 0)
        return a->columns > UINT32_MAX ? UINT64_MAX : HAC_OP_LANES * (a->columns + 4);
    if (strcmp(op->name, "op.nearest") == 0)
        return a->columns > UINT32_MAX ? UINT64_MAX : (a->columns + 2) * r->v[2].rows;
    if (strcmp(op->name, "op.keys") == 0) /* a table is cleared, and 64 rows are the minimum */
        return r->v[0].columns > UINT32_MAX ? UINT64_MAX
                                            : r->call.n * r->v[0].columns + 128 * r->v[0].columns;
    if (strcmp(op->name, "op.histogram") == 0)
        return r->call.n + 64 * 68;
    if (strcmp(op->name, "op.keys_combine") == 0)
        return r->v[0].rows == 0 ? 0 : a->rows / r->v[0].rows;
    return 0;
}

static hac_status check_program(const hac_device_facts *f, const hac_op_request *r, hac_error *err)
{
    if (!hac_program_exact(r->program))
        return hac_fail(err, HAC_UNSUPPORTED,
                        "the program has operations whose bits differ between devices (exp, sin, pow …): the "
                        "host's are used");
    return hac_expr_plan_fits(r->program, f, false, err);
}

static hac_status check_device(const hac_device_facts *f, const hac_task *task, const hac_op_request *r,
                               hac_error *err)
{
    const hac_op_codelet *op = r->rule->op;
    bool computes = op->family != HAC_OP_FAMILY_MOVE;
    if (f->style == HAC_STYLE_SIMT && (f->max_work_group < HAC_OP_LANES || f->local_memory < LOCAL_BYTES))
        return hac_fail(err, HAC_UNSUPPORTED,
                        "device \"%s\" has work-groups of %u and %llu bytes of local memory", f->name,
                        f->max_work_group, (unsigned long long)f->local_memory);
    for (size_t i = 0; i < r->n; i++) {
        if (computes && !f->fp64 && r->v[i].kind == HAC_KIND_F64)
            return hac_fail(err, HAC_UNSUPPORTED, "device \"%s\" has no f64", f->name);
        if ((op->whole >> i & 1) != 0 && bytes_of(&r->v[i]) > f->max_allocation)
            return hac_fail(err, HAC_UNSUPPORTED, "operand %zu does not fit a window of %llu bytes", i,
                            (unsigned long long)f->max_allocation);
        uint64_t row_bytes = r->v[i].columns * r->v[i].size, grain = op->grain;
        if (hac_op_is_dense(&r->v[i]) && r->v[i].rows > 0 &&
            (row_bytes > f->max_allocation / 2 / grain || row_bytes > UINT32_MAX) &&
            bytes_of(&r->v[i]) > f->max_allocation / 2)
            return hac_fail(err, HAC_UNSUPPORTED, "rows of operand %zu do not fit a window of %llu bytes", i,
                            (unsigned long long)f->max_allocation);
    }
    if (!f->fp64 && op->type == HAC_TYPE_F64)
        return hac_fail(err, HAC_UNSUPPORTED, "device \"%s\" has no f64", f->name);
    if (hac_op_is_exact(r->call.function))
        return hac_fail(err, HAC_UNSUPPORTED, "exact sums are added by the host: vectors lie in its memory");
    if (r->program != NULL)
        HAC_OP_TRY(check_program(f, r, err));
    uint64_t loop = loop_of(op, r) * (f->style == HAC_STYLE_SIMT ? 1 : HAC_OP_LANES);
    if (f->max_loop_iterations != 0 && loop >= hac_op_loops(f))
        return fail_loops(f, loop, err);
    if (op->family == HAC_OP_FAMILY_NUMBER &&
        hac_op_number_program(f, task->type) !=
            hac_op_number_program(f, hac_op_type(op->name, r->operands, r->n)))
        return hac_fail(err, HAC_INVALID, "the task's type is not that of its operands");
    return HAC_OK;
}

static hac_status read_request(const char *name, const hac_device_facts *f, const hac_task *task,
                               hac_op_request *r, hac_error *err)
{
    hac_status status = hac_op_request_read(hac_op_rule_find(name), task, r, err);
    return status == HAC_OK ? check_device(f, task, r, err) : status;
}

hac_status hac_op_cl_check(const char *name, const hac_device_facts *f, const hac_task *task, hac_error *err)
{
    hac_op_request r;
    hac_status status = read_request(name, f, task, &r, err);
    hac_op_request_clear(&r);
    return status;
}

typedef hac_status (*run_kernels)(hac_device *device, hac_op_request *r, uint64_t *values, size_t *n_values,
                                  hac_error *err);

/* NULL: a codelet of the host only. */
static const run_kernels kernels[HAC_OP_CODELETS] = {
#define KERNELS(what, program)         [HAC_OP_CODELET_##what] = hac_op_kernels_##what,
#define HAC_CODELET(name, family, ...) HAC_OP_CL_##family(KERNELS, name)
#include "base/op_catalog.def"
};

/* HAC_NOT_FOUND is passed on: the executor then asks for the program. */
hac_status hac_op_cl_run(const char *name, hac_device *device, const hac_task *task, hac_task_result *result,
                         hac_error *err)
{
    hac_op_request r;
    result->n_values = 0;
    hac_status status = read_request(name, hac_device_get_facts(device), task, &r, err);
    if (status == HAC_OK)
        status = kernels[r.rule->op - hac_op_codelets](device, &r, result->values, &result->n_values, err);
    hac_op_request_clear(&r);
    return status == HAC_OK ? status : hac_error_prefix(err, "%s.cl", name);
}
