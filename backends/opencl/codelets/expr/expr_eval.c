/* SPDX-License-Identifier: Apache-2.0 */
#include "expr_eval.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "common/windows.h"

#define SIMT_LANES        64
#define SIMT_GROUPS       16  /* work-groups of a compute unit */
#define BLOCK_INSTRUCTION 300 /* iterations of an instruction for a batch, without strings and lists */
#define SCRATCH_SLOT      0

uint64_t hac_expr_states_offset(uint64_t outputs, uint64_t rows)
{
    return (outputs * rows * 8 + 63) / 64 * 64;
}

uint64_t hac_expr_outputs_bytes(uint64_t outputs, uint64_t rows)
{
    return hac_expr_states_offset(outputs, rows) + outputs * rows;
}

const char *hac_expr_eval_program(const hac_device_facts *facts, hac_type type)
{
    (void)type;
    return facts->style == HAC_STYLE_SIMT ? "expr.simt" : "expr.block";
}

/* ---- launches ---- */

typedef struct eval_launch {
    uint64_t groups, rows; /* rows of one launch */
    uint32_t lanes;
} eval_launch;

static hac_status plan_launch(const hac_device_facts *f, const hac_expr_plan *plan, uint64_t rows,
                              eval_launch *ret, hac_error *err)
{
    bool simt = f->style == HAC_STYLE_SIMT;
    uint64_t step =
        simt ? hac_expr_plan_iterations(plan) + plan->n_outputs
             : 1 + (uint64_t)plan->instructions * BLOCK_INSTRUCTION + plan->n_outputs * HAC_BATCH_ROWS;
    uint64_t unit = simt ? SIMT_LANES : HAC_BATCH_ROWS, units = (rows + unit - 1) / unit;
    uint64_t groups = (uint64_t)f->compute_units * (simt ? SIMT_GROUPS : 1);
    eval_launch l = {.lanes = simt ? (f->max_work_group < SIMT_LANES ? f->max_work_group : SIMT_LANES) : 1,
                     .groups = groups < units ? groups : units,
                     .rows = rows};
    if (f->max_loop_iterations != 0) {
        uint64_t steps = f->max_loop_iterations / step;
        if (steps == 0)
            return hac_fail(err, HAC_UNSUPPORTED, "the program is too long for loops of %u iterations",
                            f->max_loop_iterations);
        uint64_t max = steps * l.groups * (simt ? l.lanes : HAC_BATCH_ROWS);
        l.rows = max < rows ? max : rows;
    }
    *ret = l;
    return HAC_OK;
}

/* What all launches of an evaluation share. */
typedef struct evaluation {
    hac_device *device;
    cl_kernel kernel;
    cl_mem plan, table, scratch;
    uint64_t scratch_bytes, n_outputs;
    const hac_span *outputs;
    eval_launch launch;
} evaluation;

static hac_status open_outputs(hac_windows *w, uint8_t *values, uint64_t n, cl_mem *ret_values,
                               uint8_t *states, cl_mem *ret_states, hac_error *err)
{
    hac_status status = hac_windows_open(w, values, n * 8, HAC_WRITE, ret_values, err);
    if (status == HAC_OK)
        status = hac_windows_open(w, states, n, HAC_WRITE, ret_states, err);
    return status;
}

static hac_status enqueue(const evaluation *e, uint64_t first, uint64_t rows, cl_mem values, cl_mem states,
                          hac_error *err)
{
    hac_arguments a = {.kernel = e->kernel, .err = err};
    hac_argument_mem(&a, e->plan);
    hac_argument_mem(&a, e->table);
    hac_argument_u64(&a, first);
    hac_argument_u64(&a, rows);
    hac_argument_mem(&a, e->scratch);
    hac_argument_u64(&a, e->scratch_bytes);
    hac_argument_mem(&a, values);
    hac_argument_mem(&a, states);
    if (a.status != HAC_OK)
        return a.status;
    return hac_device_launch(e->device, e->kernel, e->launch.groups, e->launch.lanes, err);
}

/* All rows in one launch: kernels write to the outputs themselves. */
static hac_status launch_once(const evaluation *e, hac_windows *w, uint64_t first, uint64_t rows,
                              hac_error *err)
{
    cl_mem values, states;
    uint8_t *at = e->outputs->data;
    hac_status status = open_outputs(w, at, e->n_outputs * rows, &values,
                                     at + hac_expr_states_offset(e->n_outputs, rows), &states, err);
    if (status == HAC_OK)
        status = enqueue(e, first, rows, values, states, err);
    return status;
}

/* If loops are limited: a part of the rows at a time, copied to its place. */
static hac_status launch_part(const evaluation *e, hac_windows *w, uint64_t first, uint64_t rows,
                              uint64_t all, uint64_t done, hac_error *err)
{
    uint64_t offset = hac_expr_states_offset(e->n_outputs, rows), n = e->n_outputs;
    hac_autofree uint8_t *part = aligned_alloc(64, (hac_expr_outputs_bytes(n, rows) + 63) / 64 * 64);
    if (part == NULL)
        return hac_fail_no_memory(err);
    cl_mem values, states;
    size_t keep = w->n;
    hac_status status = open_outputs(w, part, n * rows, &values, part + offset, &states, err);
    if (status == HAC_OK)
        status = enqueue(e, first + done, rows, values, states, err);
    status = hac_windows_close(w, keep, status, err);
    for (uint64_t o = 0; status == HAC_OK && o < n; o++) {
        memcpy(e->outputs->data + (o * all + done) * 8, part + o * rows * 8, rows * 8);
        memcpy(e->outputs->data + hac_expr_states_offset(n, all) + o * all + done, part + offset + o * rows,
               rows);
    }
    return status;
}

static hac_status launch_all(const evaluation *e, hac_windows *w, uint64_t first, uint64_t rows,
                             hac_error *err)
{
    if (e->launch.rows == rows)
        return launch_once(e, w, first, rows, err);
    hac_status status = HAC_OK;
    for (uint64_t done = 0; status == HAC_OK && done < rows; done += e->launch.rows) {
        uint64_t n = rows - done < e->launch.rows ? rows - done : e->launch.rows;
        status = launch_part(e, w, first, n, rows, done, err);
    }
    return status;
}

hac_status hac_expr_eval_rows(hac_device *device, const hac_expr_plan *plan, const hac_span *table,
                              uint64_t first, uint64_t rows, const hac_span *outputs, hac_error *err)
{
    const hac_device_facts *f = hac_device_get_facts(device);
    evaluation e = {.device = device, .n_outputs = plan->n_outputs, .outputs = outputs};
    hac_windows w = {.device = device};
    if (rows == 0 || plan->n_outputs == 0)
        return HAC_OK;
    hac_status status = plan_launch(f, plan, rows, &e.launch, err);
    if (status != HAC_OK)
        return status;
    e.scratch_bytes = hac_expr_plan_scratch(plan, f, e.launch.lanes);
    status = hac_device_kernel(device, hac_expr_eval_program(f, HAC_TYPE_NONE), "expr_eval", &e.kernel, err);
    if (status == HAC_OK)
        status = hac_device_scratch(device, SCRATCH_SLOT, e.scratch_bytes * e.launch.groups, &e.scratch, err);
    if (status == HAC_OK)
        status = hac_windows_open(&w, plan->words, plan->n_words * 8, HAC_READ, &e.plan, err);
    e.table = e.plan; /* a program without inputs */
    if (status == HAC_OK && table->bytes != 0)
        status = hac_windows_open(&w, table->data, table->bytes, HAC_READ, &e.table, err);
    if (status == HAC_OK)
        status = launch_all(&e, &w, first, rows, err);
    return hac_windows_close(&w, 0, status, err);
}

/* ---- the task ---- */

typedef struct eval_request {
    hac_program *program;
    hac_table_column *columns;
} eval_request;

static void request_clear(eval_request *r)
{
    hac_program_free(r->program);
    free(r->columns);
}

static hac_status read_columns(eval_request *r, const uint8_t *data, uint64_t rows, uint64_t bytes,
                               hac_error *err)
{
    size_t n = r->program->n_inputs;
    r->columns = calloc(n == 0 ? 1 : n, sizeof *r->columns);
    if (r->columns == NULL)
        return hac_fail_no_memory(err);
    for (size_t i = 0; i < n; i++) {
        hac_expr_column c;
        memcpy(&c, data + i * sizeof c, sizeof c);
        r->columns[i] = (hac_table_column){.type = {c.kind, c.precision, c.scale},
                                           .large = c.large != 0,
                                           .validity = c.validity,
                                           .values = c.values,
                                           .bytes = c.bytes,
                                           .n_bytes = c.n_bytes};
    }
    hac_table table = {.rows = rows, .n_columns = n, .columns = r->columns};
    return hac_table_check(&table, bytes, err);
}

static hac_status request_read(eval_request *r, const hac_task *task, hac_error *err)
{
    size_t used = 0;
    *r = (eval_request){0};
    hac_status status = hac_program_read(task->inline_in, task->inline_in_bytes, &used, &r->program, err);
    if (status != HAC_OK)
        return status;
    if ((task->inline_in_bytes - used) / sizeof(hac_expr_column) != r->program->n_inputs)
        return hac_fail(err, HAC_INVALID, "expr.eval: columns for %zu inputs were expected",
                        r->program->n_inputs);
    return read_columns(r, task->inline_in + used, HAC_PARAMS(hac_expr_params, task)->rows,
                        task->spans[0].bytes, err);
}

static hac_status check_sizes(const hac_device_facts *f, const hac_task *task, const hac_program *program,
                              hac_error *err)
{
    uint64_t end, cells, rows = HAC_PARAMS(hac_expr_params, task)->rows;
    if (task->count == 0 || __builtin_add_overflow(task->first, task->count, &end) || end > rows)
        return hac_fail(err, HAC_INVALID, "rows %llu + %llu are not within %llu",
                        (unsigned long long)task->first, (unsigned long long)task->count,
                        (unsigned long long)rows);
    if (__builtin_mul_overflow(task->count, program->n_outputs * 9 + 1, &cells) ||
        hac_expr_outputs_bytes(program->n_outputs, task->count) > task->spans[1].bytes)
        return hac_fail(err, HAC_INVALID, "the outputs do not fit their span");
    if (task->spans[0].bytes > f->max_allocation || cells > f->max_allocation)
        return hac_fail(err, HAC_INVALID, "the table or the outputs do not fit a window of %llu bytes",
                        (unsigned long long)f->max_allocation);
    return HAC_OK;
}

hac_status hac_expr_eval_check(const hac_device_facts *facts, const hac_task *task, hac_error *err)
{
    eval_request r;
    hac_status status = request_read(&r, task, err);
    if (status == HAC_OK)
        status = check_sizes(facts, task, r.program, err);
    request_clear(&r);
    return status;
}

hac_status hac_expr_eval_run(hac_device *device, const hac_task *task, hac_task_result *result,
                             hac_error *err)
{
    eval_request r;
    hac_expr_plan plan = {0};
    (void)result;
    hac_status status = request_read(&r, task, err);
    if (status == HAC_OK) {
        const hac_program *programs[] = {r.program};
        status = hac_expr_plan_init(&plan, programs, 1, r.columns, r.program->n_inputs,
                                    hac_device_get_facts(device), 0, false, err);
    }
    if (status == HAC_OK)
        status = hac_expr_eval_rows(device, &plan, &task->spans[0], task->first, task->count, &task->spans[1],
                                    err);
    hac_expr_plan_clear(&plan);
    request_clear(&r);
    return status;
}
