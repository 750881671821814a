/* SPDX-License-Identifier: Apache-2.0 */
/*
 * radix.whole under disturbances: somebody writes to TABLE and COUNTS meanwhile (block style uses them), or
 * the device has less memory than hacd knows. The test stands between the codelet and the driver.
 * radix_test.c tests the sorting.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "radix.h"
#include "radix_host.h"
#include "test_codelets.h"

enum { ITEMS = 80000 };

typedef struct whole_sort {
    uint32_t *in, *out, *index;
    uint8_t *table, *counts;
    hac_task task;
} whole_sort;

/* ---- between codelet and driver ---- */

static struct {
    uint64_t limit, used, max; /* bytes of buffers on the device; limit 0: no limit */
    uint64_t refused;
    const void *watched; /* a copy from the device to this address … */
    void (*then)(void *context);
    void *context; /* … calls this function, once */
} driver;

static void find_next(const char *name, void *ret)
{
    void *next = dlsym(RTLD_NEXT, name);
    assert_non_null(next);
    memcpy(ret, &next, sizeof next);
}

cl_mem clCreateBuffer(cl_context context, cl_mem_flags flags, size_t size, void *host, cl_int *code)
{
    cl_mem (*next)(cl_context, cl_mem_flags, size_t, void *, cl_int *);
    find_next("clCreateBuffer", &next);
    if (driver.limit != 0 && driver.used + size > driver.limit) {
        driver.refused++;
        *code = CL_MEM_OBJECT_ALLOCATION_FAILURE;
        return NULL;
    }
    driver.used += size;
    driver.max = driver.used > driver.max ? driver.used : driver.max;
    return next(context, flags, size, host, code);
}

cl_int clReleaseMemObject(cl_mem mem)
{
    cl_int (*next)(cl_mem);
    size_t size = 0;
    find_next("clReleaseMemObject", &next);
    assert_int_equal(clGetMemObjectInfo(mem, CL_MEM_SIZE, sizeof size, &size, NULL), CL_SUCCESS);
    driver.used -= size;
    return next(mem);
}

cl_int clEnqueueReadBuffer(cl_command_queue queue, cl_mem mem, cl_bool blocking, size_t offset, size_t size,
                           void *to, cl_uint n_events, const cl_event *events, cl_event *event)
{
    cl_int (*next)(cl_command_queue, cl_mem, cl_bool, size_t, size_t, void *, cl_uint, const cl_event *,
                   cl_event *);
    find_next("clEnqueueReadBuffer", &next);
    cl_int code = next(queue, mem, blocking, offset, size, to, n_events, events, event);
    if (to == driver.watched) {
        driver.watched = NULL;
        driver.then(driver.context);
    }
    return code;
}

static hac_device *open_device(hac_style_choice style)
{
    memset(&driver, 0, sizeof driver);
    hac_device *device = test_open_device((hac_device_options){.style = style, .copy_memory = true});
    if (style == HAC_STYLE_CHOICE_BLOCK && hac_device_get_facts(device)->style != HAC_STYLE_BLOCK) {
        hac_device_close(device);
        skip(); /* HAC_TEST_SIMT */
    }
    return device;
}

/* ---- sorts ---- */

static whole_sort new_sort(uint64_t n, uint32_t index_bytes)
{
    hac_radix_cut cut = hac_radix_cut_of(n, 8, 0);
    uint64_t random = n;
    whole_sort s = {.in = (uint32_t *)(void *)test_guarded(n * 4),
                    .out = (uint32_t *)(void *)test_guarded(n * 4),
                    .index = (uint32_t *)(void *)test_guarded(n * index_bytes),
                    .table = test_guarded(hac_radix_table_bytes(cut.buckets)),
                    .counts = test_guarded(hac_radix_counts_bytes(cut.chunks, cut.buckets))};
    for (uint64_t i = 0; i < n; i++)
        s.in[i] = (uint32_t)hac_random_u64(&random);
    s.task = (hac_task){.type = HAC_TYPE_U32, .fd = -1, .n_spans = 4 + (index_bytes != 0)};
    HAC_SET_PARAMS(&s.task, &(hac_radix_params){.items = n,
                                                .chunk_items = cut.chunk_items,
                                                .buckets = cut.buckets,
                                                .index_bytes = index_bytes,
                                                .seed = 1});
    s.task.spans[0] = (hac_span){(uint8_t *)s.in, n * 4};
    s.task.spans[1] = (hac_span){s.table, hac_radix_table_bytes(cut.buckets)};
    s.task.spans[2] = (hac_span){s.counts, hac_radix_counts_bytes(cut.chunks, cut.buckets)};
    s.task.spans[3] = (hac_span){(uint8_t *)s.out, n * 4};
    s.task.spans[4] = (hac_span){(uint8_t *)s.index, n * index_bytes};
    return s;
}

static void free_sort(whole_sort *s)
{
    free(s->in);
    free(s->out);
    free(s->index);
    free(s->table);
    free(s->counts);
}

static hac_status run_sort(hac_device *device, const whole_sort *s)
{
    hac_error err = HAC_ERROR_NONE;
    hac_task_result result = {0};
    return hac_radix_run_whole(device, &s->task, &result, &err);
}

static void assert_guards(const whole_sort *s)
{
    for (size_t i = 1; i < s->task.n_spans; i++)
        assert_true(test_guard_is_whole(s->task.spans[i].data, s->task.spans[i].bytes));
}

static void assert_sorted(const whole_sort *s)
{
    const hac_radix_params *p = HAC_PARAMS(hac_radix_params, &s->task);
    uint64_t n = p->items, sum = 0;
    for (uint64_t i = 0; i < n; i++) {
        uint32_t key = p->index_bytes != 0 ? s->in[s->index[i]] : s->out[i];
        uint32_t before = i == 0 ? 0 : p->index_bytes != 0 ? s->in[s->index[i - 1]] : s->out[i - 1];
        assert_true(before <= key);
        sum += s->in[i] - (uint64_t)key;
    }
    assert_int_equal(sum, 0);
    assert_guards(s);
}

/* ---- what others write ---- */

/* A sound table, and another one with more cells, to which keys come that have no cell in the old maps. */
static void write_other_table(void *context)
{
    const whole_sort *s = context;
    hac_radix_header h;
    memcpy(&h, s->table, sizeof h);
    h.method = HAC_RADIX_LINEAR;
    h.levels = 0;
    h.base = 0;
    h.shift = 16;
    h.cells = HAC_RADIX_CELLS;
    h.last = UINT16_MAX;
    h.scale = 1u << 16;
    memset(s->table + hac_radix_cells_offset(), 0, HAC_RADIX_CELLS * sizeof(uint16_t));
    memcpy(s->table, &h, sizeof h);
}

static void write_counts(void *context)
{
    const whole_sort *s = context;
    uint64_t *counts = (uint64_t *)(void *)s->counts, random = 5;
    for (uint64_t i = 0; i < s->task.spans[2].bytes / 8; i++)
        counts[i] = hac_random_u64(&random) >> (i % 64);
}

/* Keys are scattered with the same table with which they were counted. */
static void the_table_stays_the_same(void **state)
{
    (void)state;
    hac_device *device = open_device(HAC_STYLE_CHOICE_BLOCK);
    for (uint32_t index = 0; index <= 4; index += 4) {
        whole_sort s = new_sort(ITEMS, index);
        driver.watched = s.counts;
        driver.then = write_other_table;
        driver.context = &s;
        assert_int_equal(run_sort(device, &s), HAC_OK);
        assert_null(driver.watched);
        assert_sorted(&s);
        free_sort(&s);
    }
    hac_device_close(device);
}

static void wrong_counts_are_noticed(void **state)
{
    (void)state;
    hac_device *device = open_device(HAC_STYLE_CHOICE_BLOCK);
    whole_sort s = new_sort(ITEMS, 4);
    driver.watched = s.counts;
    driver.then = write_counts;
    driver.context = &s;
    assert_int_equal(run_sort(device, &s), HAC_FAILED);
    assert_guards(&s);
    free_sort(&s);
    hac_device_close(device);
}

/* ---- want of memory ---- */

/* Buffers that were kept from a sort of another size make room. */
static void kept_buffers_make_room(void **state)
{
    (void)state;
    hac_device *device = open_device(HAC_STYLE_CHOICE_SIMT);
    whole_sort large = new_sort(UINT64_C(8) * ITEMS, 0), small = new_sort(UINT64_C(3) * ITEMS, 0);
    assert_int_equal(run_sort(device, &large), HAC_OK);
    uint64_t enough = driver.max;
    hac_device_trim(device);
    assert_int_equal(driver.used, 0);
    driver.limit = enough;
    for (int i = 0; i < 4; i++) {
        whole_sort *s = i % 2 == 0 ? &small : &large;
        memset(s->out, 0, s->task.spans[3].bytes);
        assert_int_equal(run_sort(device, s), HAC_OK);
        assert_sorted(s);
    }
    assert_true(driver.max <= enough);
    free_sort(&large);
    free_sort(&small);
    hac_device_close(device);
    assert_int_equal(driver.used, 0);
}

/* Device memory that argsort kept is available for a window of another codelet. */
static void others_get_the_memory(void **state)
{
    (void)state;
    hac_error err = HAC_ERROR_NONE;
    hac_device *device = open_device(HAC_STYLE_CHOICE_SIMT);
    whole_sort s = new_sort(ITEMS, 4);
    uint64_t bytes = UINT64_C(15) * ITEMS; /* keys and indices, each of them twice: 16 */
    uint8_t *data = test_guarded(bytes);
    cl_mem window;
    assert_int_equal(run_sort(device, &s), HAC_OK);
    assert_true(driver.used > bytes);
    driver.limit = driver.used;
    assert_int_equal(hac_device_open_window(device, data, bytes, HAC_READ, &window, &err), HAC_OK);
    assert_int_equal(hac_device_close_window(device, window, &err), HAC_OK);
    free(data);
    free_sort(&s);
    hac_device_close(device);
    assert_int_equal(driver.used, 0);
}

/* Others may take the device's memory. Then the phases work on a part of the keys at a time; with too little
 * memory even for that, the task fails with a message. */
static void with_little_memory_phases(void **state)
{
    (void)state;
    for (uint32_t index = 0; index <= 4; index += 4) {
        hac_device *device = open_device(HAC_STYLE_CHOICE_SIMT);
        uint64_t n = UINT64_C(40) * ITEMS;
        whole_sort s = new_sort(n, index);
        driver.limit = n * 8; /* input and result take this much, and more is needed */
        assert_int_equal(run_sort(device, &s), HAC_OK);
        assert_true(driver.refused > 0 && driver.max <= driver.limit);
        assert_sorted(&s);
        driver.limit = 1 << 16;
        assert_int_equal(run_sort(device, &s), HAC_NO_MEMORY);
        driver.limit = 0;
        memset(s.out, 0, n * 4);
        assert_int_equal(run_sort(device, &s), HAC_OK);
        assert_sorted(&s);
        free_sort(&s);
        hac_device_close(device);
        assert_int_equal(driver.used, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_table_stays_the_same),  cmocka_unit_test(wrong_counts_are_noticed),
        cmocka_unit_test(kept_buffers_make_room),    cmocka_unit_test(others_get_the_memory),
        cmocka_unit_test(with_little_memory_phases),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
