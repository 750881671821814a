/* SPDX-License-Identifier: Apache-2.0 */
#include "selftest.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/limits.h"
#include "opencl/device.h"
#include "try.h"

#define PROGRAM         "selftest"
#define LANES           16u
#define SUM_ITEMS       (LANES * 4096u)
#define LOCAL_GROUPS    8u
#define LOOP_ITERATIONS 100000u

/* Two windows for one launch. */
typedef struct in_out {
    cl_mem in, out;
} in_out;

static hac_status open_both(hac_device *device, void *in, uint64_t in_bytes, void *out, uint64_t out_bytes,
                            in_out *ret, hac_error *err)
{
    hac_status status = hac_device_open_window(device, in, in_bytes, HAC_READ, &ret->in, err);
    if (status != HAC_OK)
        return status;
    status = hac_device_open_window(device, out, out_bytes, HAC_WRITE, &ret->out, err);
    if (status != HAC_OK)
        (void)!hac_device_close_window(device, ret->in, NULL);
    return status;
}

static hac_status close_both(hac_device *device, in_out windows, hac_status status, hac_error *err)
{
    hac_error later;
    hac_status first = hac_device_close_window(device, windows.out, &later);
    hac_status second = hac_device_close_window(device, windows.in, &later);
    if (status == HAC_OK && (first != HAC_OK || second != HAC_OK)) {
        status = first != HAC_OK ? first : second;
        if (err != NULL)
            *err = later;
    }
    return status;
}

static hac_status launch_sum(hac_device *device, in_out windows, uint32_t n_vectors, uint32_t iterations,
                             hac_error *err)
{
    hac_status status;
    cl_kernel kernel;
    TRY(hac_device_kernel(device, PROGRAM, "selftest_sum", &kernel, err));
    TRY(hac_kernel_arg_mem(kernel, 0, windows.in, err));
    TRY(hac_kernel_arg_u32(kernel, 1, n_vectors, err));
    TRY(hac_kernel_arg_u32(kernel, 2, iterations, err));
    TRY(hac_kernel_arg_mem(kernel, 3, windows.out, err));
    return hac_device_launch(device, kernel, 1, 1, err);
}

/* out: the sum of `n_vectors`, and how many iterations a loop has made whose step is items[0]. */
static hac_status run_sum(hac_device *device, uint32_t *items, uint32_t n_vectors, uint32_t iterations,
                          uint64_t out[8], hac_error *err)
{
    in_out windows;
    uint64_t vectors = n_vectors > 0 ? n_vectors : 1;
    hac_status status =
        open_both(device, items, vectors * LANES * sizeof *items, out, 8 * sizeof *out, &windows, err);
    if (status != HAC_OK)
        return status;
    status = launch_sum(device, windows, n_vectors, iterations, err);
    return close_both(device, windows, status, err);
}

static hac_status sum(hac_device *device, uint32_t *items, uint64_t count, uint64_t *ret, hac_error *err)
{
    _Alignas(HAC_ALIGNMENT) uint64_t out[8] = {0};
    hac_status status = run_sum(device, items, (uint32_t)(count / LANES), 0, out, err);
    if (status == HAC_OK)
        *ret = out[0];
    return status;
}

hac_status hac_selftest_check(const hac_device_facts *facts, const hac_task *task, hac_error *err)
{
    uint64_t end;
    if (task->type != HAC_TYPE_U32)
        return hac_fail(err, HAC_INVALID, "selftest.sum works on u32");
    if (task->first % LANES != 0 || task->count % LANES != 0 || task->count == 0)
        return hac_fail(err, HAC_INVALID, "first and count must be multiples of %u, count not 0", LANES);
    if (__builtin_add_overflow(task->first, task->count, &end) || end > task->spans[0].bytes / 4)
        return hac_fail(err, HAC_INVALID, "items %llu and %llu more are not within a span of %llu bytes",
                        (unsigned long long)task->first, (unsigned long long)task->count,
                        (unsigned long long)task->spans[0].bytes);
    if (task->count > UINT32_MAX || task->count * 4 > facts->max_allocation)
        return hac_fail(err, HAC_INVALID, "too many items for one window");
    return HAC_OK;
}

hac_status hac_selftest_run(hac_device *device, const hac_task *task, hac_task_result *result, hac_error *err)
{
    uint32_t *items = (uint32_t *)(void *)task->spans[0].data + task->first;
    hac_status status = sum(device, items, task->count, &result->values[0], err);
    if (status == HAC_OK)
        result->n_values = 1;
    return status;
}

const char *hac_selftest_program(const hac_device_facts *facts, hac_type type)
{
    (void)facts;
    (void)type;
    return PROGRAM;
}

/* Known answers ---------------------------------------------------------------------------------- */

static hac_status test_sum(hac_device *device, uint32_t *items, hac_error *err)
{
    uint64_t expected = 0, got = 0;
    uint32_t count = SUM_ITEMS;
    uint32_t limit = hac_device_get_facts(device)->max_loop_iterations;
    if (limit != 0 && count / LANES > limit / 2)
        count = limit / 2 * LANES;
    for (uint32_t i = 0; i < count; i++) {
        items[i] = i * 2654435761u;
        expected += items[i];
    }
    hac_status status = sum(device, items, count, &got, err);
    if (status == HAC_OK && got != expected)
        status = hac_fail(err, HAC_DEVICE, "the sum of %u items is %llu, should be %llu", count,
                          (unsigned long long)got, (unsigned long long)expected);
    return status;
}

static hac_status test_loop(hac_device *device, uint32_t *items, hac_error *err)
{
    _Alignas(HAC_ALIGNMENT) uint64_t out[8] = {0};
    uint32_t limit = hac_device_get_facts(device)->max_loop_iterations;
    uint32_t iterations = limit != 0 && limit < LOOP_ITERATIONS ? limit : LOOP_ITERATIONS;
    for (uint32_t i = 0; i < LANES; i++)
        items[i] = 1;
    hac_status status = run_sum(device, items, 0, iterations, out, err);
    if (status == HAC_OK && out[1] != iterations)
        status = hac_fail(err, HAC_DEVICE,
                          "a loop of %u iterations ended after %llu without an error; if that is the "
                          "driver's limit, state limits: {max_loop_iterations: %llu} in the profile",
                          iterations, (unsigned long long)out[1], (unsigned long long)out[1]);
    return status;
}

static hac_status launch_local(hac_device *device, uint32_t *items, uint32_t local, hac_error *err)
{
    cl_mem window;
    cl_kernel kernel;
    hac_status status = hac_device_kernel(device, PROGRAM, "selftest_local", &kernel, err);
    if (status == HAC_OK)
        status = hac_device_open_window(device, items, sizeof *items * LOCAL_GROUPS * local, HAC_READ_WRITE,
                                        &window, err);
    if (status != HAC_OK)
        return status;
    status = hac_kernel_arg_mem(kernel, 0, window, err);
    if (status == HAC_OK)
        status = hac_kernel_arg_local(kernel, 1, sizeof *items * local, err);
    if (status == HAC_OK)
        status = hac_device_launch(device, kernel, LOCAL_GROUPS, local, err);
    hac_status closed = hac_device_close_window(device, window, status == HAC_OK ? err : NULL);
    return status == HAC_OK ? closed : status;
}

static hac_status test_local(hac_device *device, uint32_t *items, hac_error *err)
{
    uint32_t local = hac_device_get_facts(device)->max_work_group;
    if (local > 64)
        local = 64;
    for (uint32_t i = 0; i < LOCAL_GROUPS * local; i++)
        items[i] = i;
    hac_status status = launch_local(device, items, local, err);
    for (uint32_t i = 0; status == HAC_OK && i < LOCAL_GROUPS * local; i++) {
        uint32_t group = i / local, source = group * local + (local - 1 - i % local);
        uint32_t expected = source * 2654435761u + group;
        if (items[i] != expected)
            status =
                hac_fail(err, HAC_DEVICE, "local memory: item %u is %u, should be %u", i, items[i], expected);
    }
    return status;
}

hac_status hac_selftest_known_answer(hac_device *device, hac_type type, hac_error *err)
{
    if (type != HAC_TYPE_U32)
        return HAC_OK;
    hac_autofree uint32_t *items = aligned_alloc(HAC_ALIGNMENT, SUM_ITEMS * sizeof *items);
    if (items == NULL)
        return hac_fail_no_memory(err);
    hac_status status = test_sum(device, items, err);
    if (status == HAC_OK)
        status = test_local(device, items, err);
    return status == HAC_OK ? test_loop(device, items, err) : status;
}
