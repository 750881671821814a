/* SPDX-License-Identifier: Apache-2.0 */
/* Windows, limits, scratch and errors on the first OpenCL device. */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/test_support.h"
#include "codelet/codelet.h"
#include "codelets.h"
#include "opencl/codelets.h"
#include "opencl/device.h"
#include "opencl/device_open.h"

#define ITEMS 4096u

static hac_device *open_with(hac_device_options options)
{
    hac_device *device = NULL;
    hac_error err = HAC_ERROR_NONE;
    if (hac_device_open(hac_programs(), &options, &device, &err) != HAC_OK)
        fail_msg("%s", err.message);
    return device;
}

static uint32_t *make_items(uint64_t *ret_sum)
{
    uint32_t *items = aligned_alloc(64, ITEMS * sizeof *items);
    assert_non_null(items);
    *ret_sum = 0;
    for (uint32_t i = 0; i < ITEMS; i++) {
        items[i] = i * 77u + 0x80000000u;
        *ret_sum += items[i];
    }
    return items;
}

/* selftest.sum over everything and over a part, and its known answers (local memory is read and written). */
static void check_computes(hac_device *device)
{
    uint64_t expected;
    hac_autofree uint32_t *items = make_items(&expected);
    hac_error err = HAC_ERROR_NONE;
    const hac_codelet *codelet = hac_codelet_find("selftest.sum");
    assert_non_null(codelet);
    hac_task task = {.type = HAC_TYPE_U32,
                     .count = ITEMS,
                     .spans = {{(uint8_t *)items, ITEMS * sizeof *items}},
                     .n_spans = 1,
                     .fd = -1};
    hac_task_result result = {0};
    assert_int_equal(codelet->check(hac_device_get_facts(device), &task, &err), HAC_OK);
    if (codelet->run(device, &task, &result, &err) != HAC_OK)
        fail_msg("%s", err.message);
    assert_int_equal(result.n_values, 1);
    assert_true(result.values[0] == expected);
    if (codelet->known_answer(device, HAC_TYPE_U32, &err) != HAC_OK)
        fail_msg("%s", err.message);
}

static void test_in_place(void **state)
{
    (void)state;
    hac_device *device = open_with((hac_device_options){0});
    check_computes(device);
    hac_device_close(device);
}

static void test_with_copies(void **state)
{
    (void)state;
    hac_device *device = open_with((hac_device_options){.copy_memory = true});
    assert_false(hac_device_get_facts(device)->host_memory);
    for (int i = 0; i < 3; i++) /* spare buffers are reused */
        check_computes(device);
    hac_device_close(device);
}

/* On a device that copies, a window that was opened for reading writes nothing back. */
static void test_access(void **state)
{
    (void)state;
    hac_device *device = open_with((hac_device_options){.copy_memory = true});
    hac_error err = HAC_ERROR_NONE;
    uint64_t sum;
    hac_autofree uint32_t *items = make_items(&sum);
    cl_mem window;
    assert_int_equal(hac_device_open_window(device, items, 4096, HAC_READ, &window, &err), HAC_OK);
    assert_int_equal(hac_device_finish(device, &err), HAC_OK);
    uint32_t before = items[5];
    items[5] = before + 1;
    assert_int_equal(hac_device_close_window(device, window, &err), HAC_OK);
    assert_int_equal(items[5], before + 1);
    /* and a window for both brings the device's contents back */
    assert_int_equal(hac_device_open_window(device, items, 4096, HAC_READ_WRITE, &window, &err), HAC_OK);
    assert_int_equal(hac_device_finish(device, &err), HAC_OK);
    items[5] = 0;
    assert_int_equal(hac_device_close_window(device, window, &err), HAC_OK);
    assert_int_equal(items[5], before + 1);
    hac_device_close(device);
}

/* Assembled on the device from any addresses, and not written back. */
static void test_pieces(void **state)
{
    (void)state;
    hac_error err = HAC_ERROR_NONE;
    hac_device *device = open_with((hac_device_options){.copy_memory = true});
    uint8_t from[300], before[300], window_bytes[256] = {0};
    for (size_t i = 0; i < sizeof from; i++)
        from[i] = (uint8_t)(i * 7 + 1);
    memcpy(before, from, sizeof from);
    const hac_piece pieces[] = {{from + 3, 61, 0}, {from + 100, 1, 61}, {from + 1, 128, 128}};
    cl_mem window;
    assert_int_equal(hac_device_open_pieces(device, pieces, 3, 256, &window, &err), HAC_OK);
    assert_int_equal(hac_device_read(device, window, 0, 256, window_bytes, &err), HAC_OK);
    for (size_t i = 0; i < 3; i++)
        assert_memory_equal(window_bytes + pieces[i].at, pieces[i].data, pieces[i].bytes);
    assert_int_equal(hac_device_close_window(device, window, &err), HAC_OK);
    assert_memory_equal(from, before, sizeof from);

    const hac_piece outside[] = {{from, 64, 0}, {from, 64, 193}, {from, UINT64_MAX, 1}, {from, 1, 257}};
    for (size_t i = 1; i < 4; i++)
        assert_int_equal(hac_device_open_pieces(device, outside + i, 1, 256, &window, &err), HAC_INTERNAL);
    assert_int_equal(hac_device_open_pieces(device, pieces, 3, 0, &window, &err), HAC_INVALID);
    hac_device_close(device);

    device = open_with((hac_device_options){0});
    if (hac_device_get_facts(device)->host_memory)
        assert_int_equal(hac_device_open_pieces(device, pieces, 3, 256, &window, &err), HAC_INTERNAL);
    hac_device_close(device);
}

static void test_limits(void **state)
{
    (void)state;
    hac_device_options options = {.max_allocation = 1000,
                                  .local_memory = 512,
                                  .work_group = 8,
                                  .block_items = 3000,
                                  .memory_limit = 1 << 20,
                                  .threads = 1,
                                  .max_loop_iterations = 77,
                                  .style = HAC_STYLE_CHOICE_SIMT};
    hac_device *device = open_with(options);
    const hac_device_facts *facts = hac_device_get_facts(device);
    assert_int_equal(facts->max_allocation, 960);
    assert_int_equal(facts->local_memory, 512);
    assert_int_equal(facts->max_work_group, 8);
    assert_int_equal(facts->block_items, 2048);
    assert_int_equal(facts->global_memory, 1 << 20);
    assert_int_equal(facts->compute_units, 1);
    assert_int_equal(facts->max_loop_iterations, 77);
    assert_int_equal(facts->style, HAC_STYLE_SIMT);
    hac_error err = HAC_ERROR_NONE;
    uint64_t sum;
    hac_autofree uint32_t *items = make_items(&sum);
    cl_mem window;
    assert_int_equal(hac_device_open_window(device, items, 960, HAC_READ, &window, &err), HAC_OK);
    assert_int_equal(hac_device_close_window(device, window, &err), HAC_OK);
    assert_int_equal(hac_device_open_window(device, items, 961, HAC_READ, &window, &err), HAC_INVALID);
    assert_non_null(strstr(err.message, "961"));
    assert_int_equal(hac_device_open_window(device, items, 0, HAC_READ, &window, &err), HAC_INVALID);
    assert_int_equal(hac_device_open_window(device, (uint8_t *)items + 32, 64, HAC_READ, &window, &err),
                     HAC_INVALID);
    assert_non_null(strstr(err.message, "aligned"));
    hac_device_close(device);
}

/* All device memory counts: windows, scratch memory, and what is kept of earlier tasks, which gives way. */
static void test_memory_limit(void **state)
{
    (void)state;
    enum { LIMIT = 1 << 20, WINDOWS = 8, BYTES = LIMIT / WINDOWS };
    hac_device *device = open_with((hac_device_options){.copy_memory = true, .memory_limit = LIMIT});
    assert_int_equal(hac_device_get_facts(device)->max_allocation, BYTES);
    hac_autofree uint8_t *data = aligned_alloc(64, BYTES);
    assert_non_null(data);
    memset(data, 1, BYTES);
    cl_mem windows[WINDOWS + 1], scratch;
    hac_error err = HAC_ERROR_NONE;
    for (int task = 0; task < 3; task++) {
        hac_device_begin_task(device);
        for (int i = 0; i < WINDOWS; i++) {
            assert_int_equal(hac_device_open_window(device, data, BYTES, HAC_READ, &windows[i], &err),
                             HAC_OK);
            assert_true(hac_device_allocated(device) <= LIMIT);
        }
        assert_int_equal(hac_device_open_window(device, data, 64, HAC_READ, &windows[WINDOWS], &err),
                         HAC_NO_MEMORY);
        assert_non_null(strstr(err.message, "memory.limit"));
        assert_int_equal(hac_device_scratch(device, 0, 64, &scratch, &err), HAC_NO_MEMORY);
        for (int i = 0; i < WINDOWS; i++)
            assert_int_equal(hac_device_close_window(device, windows[i], &err), HAC_OK);
        hac_device_begin_task(device);
        for (unsigned slot = 0; slot < 8; slot++) /* what windows have left gives way to scratch memory */
            assert_int_equal(hac_device_scratch(device, slot, BYTES, &scratch, &err), HAC_OK);
        assert_int_equal(hac_device_allocated(device), LIMIT);
        assert_int_equal(hac_device_open_window(device, data, 64, HAC_READ, &windows[0], &err),
                         HAC_NO_MEMORY);
    }
    hac_device_trim(device);
    assert_int_equal(hac_device_allocated(device), 0);
    hac_device_close(device);
}

static void test_never_more_than_the_driver_says(void **state)
{
    (void)state;
    hac_device *plain = open_with((hac_device_options){0});
    hac_device *greedy = open_with((hac_device_options){.max_allocation = UINT64_MAX,
                                                        .local_memory = UINT64_MAX,
                                                        .memory_limit = UINT64_MAX,
                                                        .work_group = UINT32_MAX,
                                                        .threads = UINT32_MAX});
    const hac_device_facts *a = hac_device_get_facts(plain), *b = hac_device_get_facts(greedy);
    assert_true(a->max_allocation == b->max_allocation && a->max_allocation > 0);
    assert_true(a->local_memory == b->local_memory);
    assert_true(a->global_memory == b->global_memory && a->global_memory > 0);
    assert_true(a->max_work_group == b->max_work_group && a->compute_units == b->compute_units);
    assert_true(a->block_items >= 256 && (a->block_items & (a->block_items - 1)) == 0);
    hac_device_close(plain);
    hac_device_close(greedy);
}

static void test_windows_run_out(void **state)
{
    (void)state;
    hac_device *device = open_with((hac_device_options){0});
    hac_error err = HAC_ERROR_NONE;
    uint64_t sum;
    hac_autofree uint32_t *items = make_items(&sum);
    cl_mem windows[33];
    size_t n = 0;
    while (n < 33 && hac_device_open_window(device, items, 64, HAC_READ, &windows[n], &err) == HAC_OK)
        n++;
    assert_int_equal(n, 32);
    assert_int_equal(err.code, HAC_INTERNAL);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(hac_device_close_window(device, windows[i], &err), HAC_OK);
    assert_int_equal(hac_device_close_window(device, windows[0], &err), HAC_INTERNAL);
    assert_int_equal(hac_device_close_window(device, NULL, &err), HAC_INTERNAL);
    hac_device_close(device);
}

static void test_scratch(void **state)
{
    (void)state;
    hac_device *device = open_with((hac_device_options){0});
    hac_error err = HAC_ERROR_NONE;
    cl_mem a, b, c;
    assert_int_equal(hac_device_scratch(device, 0, 1000, &a, &err), HAC_OK);
    assert_int_equal(hac_device_scratch(device, 0, 10, &b, &err), HAC_OK);
    assert_ptr_equal(a, b);
    assert_int_equal(hac_device_scratch(device, 7, 10, &c, &err), HAC_OK);
    assert_int_equal(hac_device_scratch(device, 0, 100000, &b, &err), HAC_OK);
    size_t bytes = 0;
    assert_int_equal(clGetMemObjectInfo(b, CL_MEM_SIZE, sizeof bytes, &bytes, NULL), CL_SUCCESS);
    assert_true(bytes >= 100000);
    assert_int_equal(hac_device_scratch(device, 8, 10, &c, &err), HAC_INVALID);
    assert_int_equal(hac_device_scratch(device, 1, 0, &c, &err), HAC_INVALID);
    assert_int_equal(hac_device_scratch(device, 1, UINT64_MAX, &c, &err), HAC_INVALID);
    hac_device_close(device);
}

static void sum_into(hac_device *device, cl_mem items, cl_mem result)
{
    hac_error err = HAC_ERROR_NONE;
    cl_kernel kernel;
    assert_int_equal(hac_device_kernel(device, "selftest", "selftest_sum", &kernel, &err), HAC_OK);
    assert_int_equal(hac_kernel_arg_mem(kernel, 0, items, &err), HAC_OK);
    assert_int_equal(hac_kernel_arg_u32(kernel, 1, ITEMS / 16, &err), HAC_OK);
    assert_int_equal(hac_kernel_arg_u32(kernel, 2, 0, &err), HAC_OK);
    assert_int_equal(hac_kernel_arg_mem(kernel, 3, result, &err), HAC_OK);
    assert_int_equal(hac_device_launch(device, kernel, 1, 1, &err), HAC_OK);
}

/* What a launch leaves in scratch memory: all of it, and a part. */
static void test_read(void **state)
{
    (void)state;
    hac_error err = HAC_ERROR_NONE;
    for (int copy = 0; copy < 2; copy++) {
        hac_device *device = open_with((hac_device_options){.copy_memory = copy != 0});
        uint64_t sum, got = 0;
        hac_autofree uint32_t *items = make_items(&sum);
        cl_mem window, scratch;
        assert_int_equal(
            hac_device_open_window(device, items, ITEMS * sizeof *items, HAC_READ, &window, &err), HAC_OK);
        assert_int_equal(hac_device_scratch(device, 2, 64, &scratch, &err), HAC_OK);
        sum_into(device, window, scratch);
        assert_int_equal(hac_device_read(device, scratch, 0, sizeof got, &got, &err), HAC_OK);
        assert_true(got == sum && sum >> 32 != 0);
        uint8_t part[8] = {1, 1, 1, 1, 1, 1, 1, 1};
        assert_int_equal(hac_device_read(device, scratch, 3, 5, part, &err), HAC_OK);
        assert_memory_equal(part, (const uint8_t *)&sum + 3, 5);
        assert_true(part[5] == 1 && part[6] == 1 && part[7] == 1);
        assert_int_equal(hac_device_read(device, scratch, 0, 0, NULL, &err), HAC_OK);
        assert_int_equal(hac_device_read(device, scratch, 60, 8, part, &err), HAC_DEVICE);
        assert_non_null(strstr(err.message, "clEnqueueReadBuffer: "));
        assert_int_equal(hac_device_close_window(device, window, &err), HAC_OK);
        hac_device_close(device);
    }
}

/* Drivers of CPUs allocate device memory with this function. */
static void leave_secrets(uint64_t bytes)
{
    void *before[8];
    for (size_t k = 0; k < 8; k++) {
        before[k] = malloc(bytes + 256);
        assert_non_null(before[k]);
        memset(before[k], 'S', bytes + 256);
    }
    for (size_t k = 0; k < 8; k++)
        free(before[k]);
}

/* Bytes of a window that kernels did not write never show what somebody else had on the device. The same
 * holds for a buffer of an earlier window of which only a piece was written. */
static void test_windows_are_empty(void **state)
{
    (void)state;
    enum { LARGE = 96 * 1024 };
    hac_device *device = open_with((hac_device_options){.copy_memory = true});
    static const uint64_t sizes[] = {1, 7, 8, 4099, LARGE};
    for (size_t i = 0; i < 2 * sizeof sizes / sizeof *sizes; i++) {
        uint64_t size = sizes[i / 2];
        leave_secrets(size);
        hac_autofree uint8_t *data = aligned_alloc(64, LARGE);
        cl_mem window = NULL;
        assert_non_null(data);
        memset(data, 1, LARGE);
        const hac_piece zero = {"", 1, size / 2};
        if (i % 2 != 0) {
            assert_int_equal(hac_device_open_pieces(device, &zero, 1, size, &window, NULL), HAC_OK);
            assert_int_equal(hac_device_close_window(device, window, NULL), HAC_OK);
        }
        assert_int_equal(hac_device_open_window(device, data, size, HAC_WRITE, &window, NULL), HAC_OK);
        assert_int_equal(hac_device_close_window(device, window, NULL), HAC_OK);
        for (uint64_t b = 0; b < LARGE; b++)
            assert_int_equal(data[b], b >= size);
        hac_device_trim(device);
    }
    hac_device_close(device);
}

static void test_errors_name_the_call(void **state)
{
    (void)state;
    hac_device *device = open_with((hac_device_options){0});
    hac_error err = HAC_ERROR_NONE;
    cl_kernel kernel;
    assert_int_equal(hac_device_kernel(device, "selftest", "no_such_kernel", &kernel, &err), HAC_DEVICE);
    assert_non_null(strstr(err.message, "clCreateKernel: CL_INVALID_KERNEL_NAME (-46)"));
    assert_non_null(strstr(err.message, "no_such_kernel"));
    assert_int_equal(hac_device_kernel(device, "no.such", "k", &kernel, &err), HAC_INTERNAL);
    assert_int_equal(hac_device_kernel(device, "selftest", "selftest_sum", &kernel, &err), HAC_OK);
    cl_kernel again;
    assert_int_equal(hac_device_kernel(device, "selftest", "selftest_sum", &again, &err), HAC_OK);
    assert_ptr_equal(kernel, again);
    uint32_t items = hac_device_kernel_items(device, kernel);
    assert_true(items > 0 && items <= hac_device_get_facts(device)->max_work_group);
    assert_int_equal(hac_kernel_arg_u32(kernel, 99, 1, &err), HAC_DEVICE);
    assert_non_null(strstr(err.message, "kernel selftest_sum, argument 99: clSetKernelArg: CL_INVALID_ARG"));
    assert_int_equal(hac_device_launch(device, kernel, 0, 1, &err), HAC_INVALID);
    assert_int_equal(hac_device_launch(device, kernel, 1, 1u << 30, &err), HAC_INVALID);
    assert_int_equal(hac_device_launch(device, kernel, UINT64_MAX, 2, &err), HAC_INVALID);
    hac_device_close(device);
}

static void test_no_such_device(void **state)
{
    (void)state;
    hac_device *device = NULL;
    hac_error err = HAC_ERROR_NONE;
    hac_device_options options = {.device = "no such device", .index = 3};
    assert_int_equal(hac_device_open(hac_programs(), &options, &device, &err), HAC_NOT_FOUND);
    assert_null(device);
    assert_non_null(strstr(err.message, "no such device"));
    hac_device_close(NULL);
}

/* Opening with exactly what the list says gives that device. */
static void test_open_as_listed(void **state)
{
    (void)state;
    hac_autofree hac_device_listing *list = NULL;
    size_t count = 0;
    hac_error err = HAC_ERROR_NONE;
    assert_int_equal(hac_device_list(&list, &count, &err), HAC_OK);
    assert_true(count > 0);
    for (size_t i = 0; i < count; i++) {
        if (list[i].problem[0] != '\0')
            continue;
        hac_device *device = open_with((hac_device_options){
            .platform = list[i].platform, .device = list[i].name, .index = list[i].index});
        assert_string_equal(hac_device_get_facts(device)->name, list[i].name);
        assert_string_equal(hac_device_get_facts(device)->platform, list[i].platform);
        hac_device_close(device);
    }
}

/* Copies from and to regions, pinned or not, and beside them; regions come and go in any order. */
static void test_regions(void **state)
{
    (void)state;
    enum { MIB = 1 << 20, REGIONS = 5 };
    hac_device *device = NULL;
    hac_device_options options = {.platform = getenv("HAC_TEST_PLATFORM"), .copy_memory = true};
    uint8_t *data[REGIONS];
    assert_int_equal(hac_device_open(hac_programs(), &options, &device, NULL), HAC_OK);
    for (int i = 0; i < REGIONS; i++) {
        data[i] = aligned_alloc(4096, 2 * MIB);
        assert_non_null(data[i]);
        memset(data[i], i + 1, 2 * MIB);
        if (i != 2)
            hac_device_add_region(device, data[i], i == 3 ? MIB / 2 : 2 * MIB);
    }
    for (int round = 0; round < 5; round++)
        for (int i = 0; i < REGIONS; i++) {
            cl_mem window = NULL;
            if (round == 3 && i == 1)
                hac_device_remove_region(device, data[i]);
            assert_int_equal(
                hac_device_open_window(device, data[i] + MIB, MIB, HAC_READ_WRITE, &window, NULL), HAC_OK);
            assert_int_equal(hac_device_finish(device, NULL), HAC_OK);
            memset(data[i] + MIB, 99, MIB); /* the old contents are on the device and come back */
            assert_int_equal(hac_device_close_window(device, window, NULL), HAC_OK);
            for (size_t b = MIB; b < 2 * MIB; b += 4093)
                assert_int_equal(data[i][b], i + 1);
        }
    hac_device_remove_region(device, data[2]);
    hac_device_remove_region(device, data[4]);
    hac_device_remove_region(device, data[4]);
    hac_device_close(device);
    for (int i = 0; i < REGIONS; i++)
        free(data[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_in_place),
        cmocka_unit_test(test_with_copies),
        cmocka_unit_test(test_access),
        cmocka_unit_test(test_pieces),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_memory_limit),
        cmocka_unit_test(test_never_more_than_the_driver_says),
        cmocka_unit_test(test_windows_run_out),
        cmocka_unit_test(test_scratch),
        cmocka_unit_test(test_read),
        cmocka_unit_test(test_windows_are_empty),
        cmocka_unit_test(test_errors_name_the_call),
        cmocka_unit_test(test_no_such_device),
        cmocka_unit_test(test_open_as_listed),
        cmocka_unit_test(test_regions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
