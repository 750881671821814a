/* SPDX-License-Identifier: Apache-2.0 */
/* Checks of the codelets op.*.cl, and their entries. */
#include "op_cl.h"

#include <string.h>

#include "expr_plan.h"

#define LOCAL_BYTES 16384 /* that the largest kernel needs */

const char *hac_op_expr_program(const hac_device_facts *facts, hac_type type)
{
    (void)type;
    return facts->style == HAC_STYLE_SIMT ? "op.expr.simt" : "op.expr.block";
}

const char *hac_op_move_program(const hac_device_facts *facts, hac_type type)
{
    (void)facts;
    (void)type;
    return "op.move";
}

const char *hac_op_number_program(const hac_device_facts *facts, hac_type type)
{
    bool simt = facts->style == HAC_STYLE_SIMT;
    switch (type) {
    case HAC_TYPE_F32:
        return simt ? "op.f32.simt" : "op.f32.block";
    case HAC_TYPE_F64:
        return !facts->fp64 ? NULL : simt ? "op.f64.simt" : "op.f64.block";
    case HAC_TYPE_I32:
    case HAC_TYPE_I64:
        return simt ? "op.i64.simt" : "op.i64.block";
    default:
        return simt ? "op.u64.simt" : "op.u64.block";
    }
}

static bool is_number_codelet(const char *name)
{
#define NAME(what) "op." #what,
    static const char *const names[] = {HAC_OP_NUMBER_NAMES(NAME)};
#undef NAME
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

static bool moves(const char *name)
{
    return strcmp(name, "op.gather") == 0 || strcmp(name, "op.scatter") == 0;
}

static uint64_t bytes_of(const hac_op_vector *v)
{
    return v->entries * v->size; /* what was checked to lie in memory */
}

/* Operands of which a launch needs all, whatever its rows. */
static bool is_whole(const char *name, size_t operand)
{
    if (strcmp(name, "op.gemm") == 0 || strcmp(name, "op.gemv") == 0 || strcmp(name, "op.spmv") == 0 ||
        strcmp(name, "op.distance") == 0 || strcmp(name, "op.nearest") == 0)
        return operand == 2;
    if (strcmp(name, "op.gather") == 0)
        return operand == 1;
    return strcmp(name, "op.scatter") == 0 ||
           (operand == 1 && (strcmp(name, "op.combine") == 0 || strcmp(name, "op.keys_combine") == 0));
}

static hac_status fail_loops(const hac_device_facts *f, uint64_t n, hac_error *err)
{
    return hac_fail(err, HAC_UNSUPPORTED, "loops of %llu iterations on a device that ends them after %u",
                    (unsigned long long)n, f->max_loop_iterations);
}

/* The longest loop of a work-item, where that depends on the call and not on what lies in memory. */
static uint64_t loop_of(const hac_op_rule *rule, const hac_op_request *r)
{
    const hac_op_vector *a = &r->v[1];
    if (strcmp(rule->name, "op.gemm") == 0)
        return a->columns > UINT32_MAX ? UINT64_MAX : a->columns * 20; /* 16 rows, and the tiles */
    if (strcmp(rule->name, "op.gemv") == 0 || strcmp(rule->name, "op.arg_rows") == 0)
        return a->columns;
    if (strcmp(rule->name, "op.row_reduce") == 0)
        return hac_op_is_dense(a) ? a->columns : 0;
    if (strcmp(rule->name, "op.distance") == 0)
        return a->columns;
    if (strcmp(rule->name, "op.filter_copy") == 0)
        return a->columns > UINT32_MAX ? UINT64_MAX : HAC_OP_LANES * (a->columns + 4);
    if (strcmp(rule->name, "op.nearest") == 0)
        return a->columns > UINT32_MAX ? UINT64_MAX : (a->columns + 2) * r->v[2].rows;
    if (strcmp(rule->name, "op.keys") == 0) /* a table is cleared, then 64 rows are the least */
        return r->v[0].columns > UINT32_MAX ? UINT64_MAX
                                            : r->call.n * r->v[0].columns + 128 * r->v[0].columns;
    if (strcmp(rule->name, "op.histogram") == 0)
        return r->call.n + 64 * 68;
    if (strcmp(rule->name, "op.keys_combine") == 0)
        return r->v[0].rows == 0 ? 0 : a->rows / r->v[0].rows;
    return 0;
}

static hac_status check_program(const hac_device_facts *f, const hac_op_request *r, hac_error *err)
{
    if (!hac_program_exact(r->program) && !(r->call.flags & HAC_OP_FAST))
        return hac_fail(err, HAC_UNSUPPORTED,
                        "the program has operations whose bits differ between devices (exp, sin, pow …): the "
                        "host's are used");
    return hac_expr_plan_fits(r->program, f, false, err);
}

static hac_status check_device(const hac_op_rule *rule, const hac_device_facts *f, const hac_task *task,
                               const hac_op_request *r, hac_error *err)
{
    bool computes = !moves(rule->name);
    if (f->style == HAC_STYLE_SIMT && (f->max_work_group < HAC_OP_LANES || f->local_memory < LOCAL_BYTES))
        return hac_fail(err, HAC_UNSUPPORTED,
                        "device \"%s\" has work-groups of %u and %llu bytes of local memory", f->name,
                        f->max_work_group, (unsigned long long)f->local_memory);
    for (size_t i = 0; i < r->n; i++) {
        if (computes && !f->fp64 && r->v[i].kind == HAC_KIND_F64)
            return hac_fail(err, HAC_UNSUPPORTED, "device \"%s\" has no f64", f->name);
        if (is_whole(rule->name, i) && bytes_of(&r->v[i]) > f->max_allocation)
            return hac_fail(err, HAC_UNSUPPORTED, "operand %zu does not fit a window of %llu bytes", i,
                            (unsigned long long)f->max_allocation);
        uint64_t row_bytes = r->v[i].columns * r->v[i].size, grain = rule->grain;
        if (hac_op_is_dense(&r->v[i]) && r->v[i].rows > 0 &&
            (row_bytes > f->max_allocation / 2 / grain || row_bytes > UINT32_MAX) &&
            bytes_of(&r->v[i]) > f->max_allocation / 2)
            return hac_fail(err, HAC_UNSUPPORTED, "rows of operand %zu do not fit a window of %llu bytes", i,
                            (unsigned long long)f->max_allocation);
    }
    if (!f->fp64 && strcmp(rule->name, "op.histogram") == 0)
        return hac_fail(err, HAC_UNSUPPORTED, "device \"%s\" has no f64", f->name);
    if (r->program != NULL)
        HAC_OP_TRY(check_program(f, r, err));
    uint64_t loop = loop_of(rule, r) * (f->style == HAC_STYLE_SIMT ? 1 : HAC_OP_LANES);
    if (f->max_loop_iterations != 0 && loop >= hac_op_loops(f))
        return fail_loops(f, loop, err);
    if (is_number_codelet(rule->name) &&
        hac_op_number_program(f, task->type) !=
            hac_op_number_program(f, hac_op_type(rule->name, r->operands, r->n)))
        return hac_fail(err, HAC_INVALID, "the task's type is not that of its operands");
    return HAC_OK;
}

static hac_status read_request(const char *name, const hac_device_facts *f, const hac_task *task,
                               hac_op_request *r, hac_error *err)
{
    const hac_op_rule *rule = hac_op_rule_find(name);
    hac_status status = hac_op_request_read(rule, task, r, err);
    return status == HAC_OK ? check_device(rule, f, task, r, err) : status;
}

typedef hac_status (*run_kernels)(hac_device *device, hac_op_request *r, uint64_t *values, size_t *n_values,
                                  hac_error *err);

static hac_status check(const char *name, const hac_device_facts *f, const hac_task *task, hac_error *err)
{
    hac_op_request r;
    hac_status status = read_request(name, f, task, &r, err);
    hac_op_request_clear(&r);
    return status;
}

/* HAC_NOT_FOUND goes on as it is: the executor asks for the program then. */
static hac_status run(const char *name, run_kernels kernels, hac_device *device, const hac_task *task,
                      hac_task_result *result, hac_error *err)
{
    hac_op_request r;
    result->n_values = 0;
    hac_status status = read_request(name, hac_device_get_facts(device), task, &r, err);
    if (status == HAC_OK)
        status = kernels(device, &r, result->values, &result->n_values, err);
    hac_op_request_clear(&r);
    return status == HAC_OK ? status : hac_error_prefix(err, "%s.cl", name);
}

#define DEFINE(what)                                                                                         \
    hac_status hac_op_cl_check_##what(const hac_device_facts *facts, const hac_task *task, hac_error *err)   \
    {                                                                                                        \
        return check("op." #what, facts, task, err);                                                         \
    }                                                                                                        \
    hac_status hac_op_cl_run_##what(hac_device *device, const hac_task *task, hac_task_result *result,       \
                                    hac_error *err)                                                          \
    {                                                                                                        \
        return run("op." #what, hac_op_kernels_##what, device, task, result, err);                           \
    }
HAC_OP_CL_NAMES(DEFINE)
