/* SPDX-License-Identifier: Apache-2.0 */
/* What queries become: sizes, ways, parameters; and that every plan holds what execution relies on. */
#include "planner/query_plan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/query_layout.h"
#include "planner/plan_output.h"
#include "query_build.h"

#define MIB  (UINT64_C(1) << 20)
#define FITS (HAC_COMPILED_AGGREGATES | HAC_COMPILED_FITS_DEVICE)

/* Two CPUs on cores of their own, and a GPU, as a running machine knows them. */
static hac_machine new_machine(size_t cpus, bool gpu)
{
    hac_machine machine;
    memset(&machine, 0, sizeof(machine));
    for (size_t d = 0; d < cpus + gpu; d++) {
        hac_machine_device *device = &machine.devices[machine.n_devices++];
        snprintf(device->name, sizeof(device->name), d < cpus ? "cpu.%zu" : "gpu%zu", d);
        device->kind = d < cpus ? HAC_DEVICE_KIND_CPU : HAC_DEVICE_KIND_GPU;
        snprintf(device->key, sizeof(device->key), d < cpus ? "cpu.%zu/driver" : "gpu%zu/driver", d);
        device->usable = true;
        device->host_memory = d < cpus;
        device->threads = d < cpus ? 2 : 1;
        device->memory = UINT64_C(1) << 34;
    }
    return machine;
}
static hac_query_spec new_spec(uint64_t bytes)
{
    hac_query_spec spec;
    memset(&spec, 0, sizeof(spec));
    spec.sources[0] = spec.bytes = bytes;
    spec.n_sources = 1;
    spec.format = "csv";
    spec.flags = HAC_COMPILED_AGGREGATES;
    spec.keys = 1;
    spec.group_bytes = 32;
    spec.output_bytes = 20;
    spec.compiled_bytes = 500;
    spec.seed = 7;
    return spec;
}

static hac_query_spec new_table(uint64_t rows, uint64_t row_bytes)
{
    hac_query_spec spec = new_spec(rows);
    spec.table = spec.in_rows = true;
    spec.place = HAC_QUERY_IN_BUFFER;
    spec.format = "table";
    spec.bytes = spec.input_bytes = rows * row_bytes;
    spec.flags = FITS;
    return spec;
}

/* One file of row groups of `group` rows. */
static hac_query_spec new_parquet(uint64_t rows, uint64_t group)
{
    hac_query_spec spec = new_spec(rows);
    spec.in_rows = true;
    spec.group_rows = group < rows ? group : rows;
    spec.format = "parquet";
    spec.bytes = rows * 24;
    spec.input_bytes = spec.files[0] = rows * 10;
    return spec;
}
static hac_plan *plan_for(const hac_machine *machine, const hac_query_spec *spec)
{
    hac_plan *plan = NULL;
    hac_error err = HAC_ERROR_NONE;
    if (hac_plan_query(machine, spec, &plan, &err) != HAC_OK || hac_plan_check(plan, &err) != HAC_OK)
        fail_msg("%s", err.message);
    return plan;
}

static const hac_plan_task *find(const hac_plan *plan, const char *codelet, size_t nth)
{
    for (size_t t = 0; t < plan->n_tasks; t++)
        if (strcmp(plan->tasks[t].codelet, codelet) == 0 && nth-- == 0)
            return &plan->tasks[t];
    return NULL;
}

static size_t count(const hac_plan *plan, const char *codelet)
{
    size_t n = 0;
    while (find(plan, codelet, n) != NULL)
        n++;
    return n;
}

static void test_small(void **state)
{
    (void)state;
    hac_machine machine = new_machine(2, true);
    for (uint64_t bytes = 0; bytes <= HAC_QUERY_WHOLE_BYTES; bytes = bytes * 2 + 1) {
        hac_query_spec spec = new_spec(bytes);
        hac_plan *plan = plan_for(&machine, &spec);
        assert_int_equal(plan->n_tasks, 1);
        assert_string_equal(plan->tasks[0].codelet, "query.whole");
        assert_true(plan->tasks[0].uses_descriptor);
        assert_int_equal(HAC_PARAMS(hac_query_params, &plan->tasks[0])->source_bytes, bytes);
        assert_int_equal(HAC_PARAMS(hac_query_params, &plan->tasks[0])->inline_bytes, 0);
        hac_plan_free(plan);
    }
    hac_query_spec spec = new_spec(HAC_QUERY_WHOLE_BYTES + 1);
    assert_false(hac_query_is_whole(&spec));
    spec = new_spec(1000);
    spec.place = HAC_QUERY_INLINE;
    hac_plan *plan = plan_for(&machine, &spec);
    assert_false(plan->tasks[0].uses_descriptor);
    assert_int_equal(HAC_PARAMS(hac_query_params, &plan->tasks[0])->inline_bytes, 500);
    assert_int_equal(plan->tasks[0].n_params, HAC_PARAMS_COUNT(hac_query_params));
    /* its result comes in the message: no buffer is taken for it */
    assert_true(plan->buffers[plan->result_buffer].late);
    assert_int_equal(plan->tasks[0].spans[0].bytes, 0);
    hac_query_resize(plan, plan->result_buffer, 4096);
    assert_int_equal(plan->tasks[0].spans[0].bytes, 4096);
    assert_int_equal(plan->tasks[0].spans[1].bytes, 0);
    hac_plan_free(plan);
}
/* Of several sources one at most may hold anything for one task to do it. */
static void test_small_sources(void **state)
{
    (void)state;
    hac_machine machine = new_machine(1, false);
    hac_query_spec spec = new_spec(100);
    spec.n_sources = 3;
    spec.sources[0] = 0;
    spec.sources[1] = 100;
    hac_plan *plan = plan_for(&machine, &spec);
    assert_int_equal(plan->n_tasks, 1);
    assert_int_equal(plan->tasks[0].descriptor, 1);
    hac_plan_free(plan);
    spec.sources[1] = 0;
    spec.bytes = 0;
    plan = plan_for(&machine, &spec);
    assert_int_equal(plan->tasks[0].descriptor, 0);
    hac_plan_free(plan);
    spec.sources[0] = spec.sources[2] = 1;
    spec.bytes = 2;
    plan = plan_for(&machine, &spec);
    assert_int_equal(count(plan, "query.aggregate"), 2);
    assert_int_equal(find(plan, "query.aggregate", 1)->descriptor, 2);
    hac_plan_free(plan);
}

/* Sizes around every boundary: each byte lies in exactly one chunk, each chunk has its region. */
static void check_chunks(const hac_plan *plan, const hac_query_spec *spec)
{
    uint64_t next = 0, source = 0;
    for (size_t n = 0; n < count(plan, "query.aggregate"); n++, source++) {
        const hac_plan_task *task = find(plan, "query.aggregate", n);
        while (spec->sources[source] == 0)
            source++;
        uint64_t bytes = spec->sources[source], chunk = HAC_PARAMS(hac_query_params, task)->chunk;
        assert_int_equal(task->descriptor, source);
        assert_int_equal(HAC_PARAMS(hac_query_params, task)->source_bytes, bytes);
        assert_int_equal(HAC_PARAMS(hac_query_params, task)->first_chunk, next);
        assert_true((task->count - 1) * chunk < bytes && bytes <= task->count * chunk);
        uint64_t region = HAC_PARAMS(hac_query_params, task)->region;
        assert_int_equal(region % 64, 0);
        assert_int_equal(task->spans[0].touch_first, next * region);
        assert_int_equal(task->spans[0].touch_end, (next + task->count) * region);
        next += task->count;
    }
    assert_int_equal(next, plan->query.chunks);
    assert_int_equal(HAC_PARAMS(hac_query_params, find(plan, "query.merge", 0))->chunks, next);
}

static void test_chunks(void **state)
{
    (void)state;
    static const uint64_t sizes[] = {MIB + 1,    2 * MIB,        2 * MIB + 1,      64 * MIB - 1,
                                     64 * MIB,   64 * MIB + 1,   65 * MIB,         1000 * MIB,
                                     4096 * MIB, 4096 * MIB + 1, 100000 * MIB + 7, 5000000 * MIB};
    hac_machine machine = new_machine(2, false);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        hac_query_spec spec = new_spec(sizes[i]);
        hac_plan *plan = plan_for(&machine, &spec);
        assert_in_range(plan->query.chunk, MIB, 64 * MIB);
        check_chunks(plan, &spec);
        hac_plan_free(plan);
        spec.n_sources = 64;
        spec.bytes = 0;
        for (size_t s = 0; s < 64; s++) {
            spec.sources[s] = s % 5 == 3 ? 0 : sizes[i] / (s + 1) + s;
            spec.bytes += spec.sources[s];
        }
        plan = plan_for(&machine, &spec);
        check_chunks(plan, &spec);
        assert_int_equal(find(plan, "query.merge", 0)->n_edges, count(plan, "query.aggregate"));
        hac_plan_free(plan);
    }
}

/* Chunks, and with them the result's bits, depend on the data, not on who works on it. */
static void test_chunks_ignore_the_machine(void **state)
{
    (void)state;
    hac_machine one = new_machine(1, false), three = new_machine(2, true);
    one.devices[0].threads = 64;
    for (uint64_t bytes = 3 * MIB; bytes < UINT64_C(1) << 40; bytes *= 7) {
        hac_query_spec spec = new_spec(bytes);
        hac_plan *a = plan_for(&one, &spec), *b = plan_for(&three, &spec);
        spec.memory = UINT64_C(1) << 33;
        spec.flags |= HAC_COMPILED_NEEDS_QUOTES;
        spec.region = 100000;
        hac_plan *c = plan_for(&one, &spec);
        assert_int_equal(a->query.chunk, b->query.chunk);
        assert_int_equal(a->query.chunk, c->query.chunk);
        hac_plan_free(a);
        hac_plan_free(b);
        hac_plan_free(c);
    }
}

static void test_quotes(void **state)
{
    (void)state;
    hac_machine machine = new_machine(2, false);
    hac_query_spec spec = new_spec(20 * MIB);
    spec.n_sources = 2;
    spec.bytes += spec.sources[1] = 3 * MIB;
    spec.flags |= HAC_COMPILED_NEEDS_QUOTES;
    hac_plan *plan = plan_for(&machine, &spec);
    assert_int_equal(count(plan, "query.quotes"), 2);
    const hac_plan_task *quotes = find(plan, "query.quotes", 1),
                        *aggregate = find(plan, "query.aggregate", 1);
    assert_int_equal(HAC_PARAMS(hac_query_params, quotes)->first_chunk, 20);
    assert_int_equal(quotes->spans[0].touch_first, 20 * 8);
    assert_int_equal(plan->buffers[quotes->spans[0].buffer].bytes, 23 * 8);
    assert_int_equal(aggregate->n_edges, 1);
    assert_ptr_equal(&plan->tasks[plan->edges[aggregate->first_edge]], quotes);
    assert_int_equal(aggregate->spans[1].bytes, 23 * 8);
    assert_true(find(plan, "query.aggregate", 0) < quotes); /* of several failures the first task's is told */
    hac_plan_free(plan);
}

static void test_rows(void **state)
{
    (void)state;
    hac_machine machine = new_machine(2, true);
    hac_query_spec spec = new_spec(100 * MIB);
    spec.flags = 0;
    hac_plan *plan = plan_for(&machine, &spec);
    assert_int_equal(plan->query.engine, HAC_PLAN_ENGINE_ROWS);
    assert_int_equal(count(plan, "query.rows"), 1);
    assert_int_equal(count(plan, "query.gather"), 1);
    assert_int_equal(plan->n_tasks, 2);
    assert_int_equal(plan->tasks[1].spans[0].bytes, plan->query.region * plan->query.chunks);
    assert_true(plan->buffers[plan->result_buffer].late);
    hac_plan_free(plan);
}

static void test_table(void **state)
{
    (void)state;
    hac_machine machine = new_machine(2, true);
    static const uint64_t rows[] = {65537, 1000000, 64 * 65536, 64 * 65536 + 65537, 100000000};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        hac_query_spec spec = new_table(rows[i], 40);
        hac_plan *plan = plan_for(&machine, &spec);
        assert_int_equal(plan->query.chunk % 1024, 0);
        assert_true(plan->query.chunk >= 65536);
        assert_int_equal(plan->query.chunks, (rows[i] + plan->query.chunk - 1) / plan->query.chunk);
        const hac_plan_task *task = find(plan, "query.aggregate", 0);
        assert_int_equal(plan->buffers[task->spans[2].buffer].role, HAC_BUFFER_INPUT);
        assert_int_equal(task->spans[2].bytes, rows[i] * 40);
        assert_false(task->uses_descriptor);
        hac_plan_free(plan);
    }
}

/* Chunks are whole row groups, or each is a part of one. */
static void test_parquet(void **state)
{
    (void)state;
    hac_machine machine = new_machine(2, true);
    static const uint64_t sizes[] = {65537, 1000000, 10000000, 10000001, 600000000},
                          groups[] = {1, 1000, 122880, 1048576, 10000000};
    for (size_t i = 0; i < 25; i++) {
        uint64_t rows = sizes[i / 5], group = groups[i % 5] < rows ? groups[i % 5] : rows;
        hac_query_spec spec = new_parquet(rows, group);
        hac_plan *plan = plan_for(&machine, &spec);
        uint64_t chunk = plan->query.chunk, parts = (group + chunk - 1) / chunk;
        assert_true(chunk % group == 0 || (chunk < group && parts * chunk - group < parts));
        assert_true(chunk >= 32768 && (chunk < 400000 || chunk <= rows / 40));
        assert_int_equal(plan->query.chunks, (rows + chunk - 1) / chunk);
        const hac_plan_task *task = find(plan, "query.aggregate", 0);
        assert_int_equal(HAC_PARAMS(hac_query_params, task)->source_bytes, rows);
        assert_int_equal(HAC_PARAMS(hac_query_params, task)->file_bytes, rows * 10);
        assert_true(task->uses_descriptor);
        hac_plan_free(plan);
    }
}

/* A file that says to have more rows than any has is cut into short tasks all the same, or refused. */
static void test_parquet_of_lies(void **state)
{
    (void)state;
    hac_machine machine = new_machine(2, true);
    hac_query_spec spec = new_parquet(UINT64_C(1) << 36, UINT64_C(1) << 31);
    spec.keys = 0;
    hac_plan *plan = plan_for(&machine, &spec), *none = NULL;
    assert_true(plan->query.chunk <= UINT64_C(17) << 20);
    hac_plan_free(plan);
    spec = new_parquet(UINT64_C(1) << 44, UINT64_C(1) << 31);
    spec.memory = UINT64_C(1) << 32;
    assert_int_equal(hac_plan_query(&machine, &spec, &none, NULL), HAC_REFUSED);
}

static void test_parquet_footers(void **state)
{
    (void)state;
    hac_machine machine = new_machine(2, true);
    hac_query_spec spec = new_parquet(1000, 100);
    hac_error err = HAC_ERROR_NONE;
    hac_plan *plan = NULL;
    spec.n_sources = 3;
    spec.sources[1] = spec.files[1] = 77;
    spec.sources[2] = spec.files[2] = 99;
    assert_int_equal(hac_plan_query_footers(&machine, &spec, &plan, &err), HAC_OK);
    assert_int_equal(plan->n_tasks, 3);
    for (size_t i = 0; i < 3; i++) {
        const hac_plan_task *task = find(plan, "query.footer", i);
        assert_int_equal(task->descriptor, i);
        assert_true(task->uses_descriptor && task->n_edges == 0);
        assert_int_equal(HAC_PARAMS(hac_query_params, task)->file_bytes, spec.files[i]);
    }
    assert_int_equal(hac_plan_check(plan, &err), HAC_OK);
    hac_plan_free(plan);
}

/* What is listed, and why not the others. */
static const hac_plan_candidate *candidate(const hac_plan *plan, const char *name)
{
    for (size_t i = 0; i < plan->n_candidates; i++)
        if (strcmp(plan->candidates[i].name, name) == 0)
            return &plan->candidates[i];
    fail_msg("no candidate is named \"%s\"", name);
    return NULL;
}

static void assert_reason(const hac_plan *plan, const char *name, const char *words)
{
    const hac_plan_candidate *c = candidate(plan, name);
    if (strstr(c->reason, words) == NULL)
        fail_msg("\"%s\": \"%s\" does not say \"%s\"", name, c->reason, words);
    assert_false(c->chosen);
}

static void test_why_not_device(void **state)
{
    (void)state;
    hac_machine machine = new_machine(1, true);
    hac_query_spec text = new_spec(100 * MIB), table = new_table(10000000, 16);
    hac_plan *plan = plan_for(&machine, &text);
    assert_reason(plan, "device", "it works on texts");
    hac_plan_free(plan);
    text.flags = FITS; /* files are as good as tables */
    plan = plan_for(&machine, &text);
    assert_reason(plan, "device on gpu1", "not measured");
    assert_int_equal(plan->query.engine, HAC_PLAN_ENGINE_HOST);
    hac_plan_free(plan);
    text.hot_keys = HAC_HOT_KEYS_ON;
    plan = plan_for(&machine, &text);
    assert_int_equal(plan->query.engine, HAC_PLAN_ENGINE_DEVICE);
    hac_plan_free(plan);
    table.flags = HAC_COMPILED_AGGREGATES | HAC_COMPILED_HOST_FUNCTION;
    plan = plan_for(&machine, &table);
    assert_reason(plan, "device", "a function whose last bits differ");
    hac_plan_free(plan);
    table.flags = FITS;
    machine.devices[1].simt = true;
    plan = plan_for(&machine, &table);
    assert_reason(plan, "device on gpu1", "not measured");
    assert_int_equal(plan->query.engine, HAC_PLAN_ENGINE_HOST);
    assert_true(candidate(plan, "host on cpu.0")->chosen);
    hac_plan_free(plan);
}

/* A device whose kernels cannot do it is left out, the others are not. */
static void test_why_not_on_device(void **state)
{
    (void)state;
    hac_machine machine = new_machine(1, true);
    hac_query_spec table = new_table(10000000, 16);
    machine.devices[1].simt = machine.devices[1].lacks_f64 = machine.devices[1].lacks_int64_atomics = true;
    table.flags = FITS | HAC_COMPILED_NEEDS_ATOMICS;
    table.hot_keys = HAC_HOT_KEYS_ON;
    hac_plan *plan = plan_for(&machine, &table);
    assert_reason(plan, "device on gpu1", "64-bit atomics");
    assert_true(candidate(plan, "device on cpu.0")->chosen);
    hac_plan_free(plan);
    table.flags = FITS | HAC_COMPILED_NEEDS_F64;
    plan = plan_for(&machine, &table);
    assert_reason(plan, "device on gpu1", "no f64");
    hac_plan_free(plan);
    machine.devices[0].max_loop_iterations = 65535;
    plan = plan_for(&machine, &table);
    assert_reason(plan, "device on cpu.0", "loops");
    assert_int_equal(plan->query.engine, HAC_PLAN_ENGINE_HOST);
    hac_plan_free(plan);
    table.flags = FITS;
    plan = plan_for(&machine, &table);
    assert_true(candidate(plan, "device on gpu1")->chosen);
    hac_plan_free(plan);
}

static void test_hot_keys_on(void **state)
{
    (void)state;
    hac_machine machine = new_machine(1, true);
    hac_query_spec spec = new_table(10000000, 16);
    spec.hot_keys = HAC_HOT_KEYS_ON;
    spec.sample = 20;
    spec.hot_share = 100;
    spec.work_groups = 30;
    spec.work_items = 256;
    hac_plan *plan = plan_for(&machine, &spec);
    assert_int_equal(plan->query.engine, HAC_PLAN_ENGINE_DEVICE);
    assert_true(plan->query.hot_keys);
    const hac_plan_task *task = find(plan, "hash.aggregate", 0);
    const hac_query_params *params = HAC_PARAMS(hac_query_params, task);
    assert_int_equal(params->method, HAC_QUERY_HOT_KEYS);
    assert_int_equal(params->sample, 20);
    assert_int_equal(params->hot_share, 100);
    assert_int_equal(params->work_groups, 30);
    assert_int_equal(params->work_items, 256);
    assert_reason(plan, "host on cpu.0", "hot keys were asked for");
    /* host codelets stay where the CPU is */
    const hac_plan_task *merge = find(plan, "query.merge", 0);
    for (size_t d = 0; d < plan->n_devices; d++)
        assert_int_equal(merge->device_mask >> d & 1, strcmp(plan->devices[d].name, "cpu.0") == 0);
    hac_plan_free(plan);
    spec.hot_keys = HAC_HOT_KEYS_OFF;
    plan = plan_for(&machine, &spec);
    assert_int_equal(HAC_PARAMS(hac_query_params, &plan->tasks[0])->method & HAC_QUERY_HOT_KEYS, 0);
    hac_plan_free(plan);
}

/* The device engine runs with hot keys and without; asking for the host engine keeps it from running. */
static void test_way_asked_for(void **state)
{
    (void)state;
    hac_machine machine = new_machine(1, true);
    hac_query_spec spec = new_table(10000000, 16);
    spec.engine = HAC_ENGINE_DEVICE;
    for (hac_hot_keys hot = HAC_HOT_KEYS_AUTO; hot <= HAC_HOT_KEYS_OFF; hot++)
        for (size_t device = 0; device < 2; device++) {
            machine.devices[1 - device].usable = false;
            machine.devices[device].usable = true;
            spec.hot_keys = hot;
            hac_plan *plan = plan_for(&machine, &spec);
            assert_int_equal(plan->query.engine, HAC_PLAN_ENGINE_DEVICE);
            assert_string_equal(plan->query.remark, "");
            /* left to the planner: where local memory is a memory of its own */
            bool wanted = hot == HAC_HOT_KEYS_ON || (hot == HAC_HOT_KEYS_AUTO && device == 1);
            uint64_t method = HAC_PARAMS(hac_query_params, find(plan, "hash.aggregate", 0))->method;
            assert_int_equal(method & HAC_QUERY_HOT_KEYS, wanted ? HAC_QUERY_HOT_KEYS : 0);
            assert_int_equal(plan->query.hot_keys, wanted);
            hac_plan_free(plan);
        }
    machine.devices[0].usable = true;
    spec.hot_keys = HAC_HOT_KEYS_AUTO;
    hac_plan *plan = plan_for(&machine, &spec);
    assert_reason(plan, "host on cpu.0", "the device engine was asked for");
    hac_plan_free(plan);
    spec.engine = HAC_ENGINE_HOST;
    spec.hot_keys = HAC_HOT_KEYS_ON;
    plan = plan_for(&machine, &spec);
    assert_int_equal(plan->query.engine, HAC_PLAN_ENGINE_HOST);
    assert_int_equal(candidate(plan, "device")->cause, HAC_CAUSE_NOT_ASKED);
    assert_string_equal(
        plan->query.remark,
        "hot keys have no effect, the device does not aggregate: the host engine was asked for");
    hac_plan_free(plan);
}

static void assert_remark(const hac_query_spec *spec, const char *expected)
{
    hac_machine machine = new_machine(1, true);
    hac_plan *plan = plan_for(&machine, spec);
    assert_string_equal(plan->query.remark, expected);
    hac_plan_free(plan);
}

/* What was asked for and cannot be is not passed over. */
static void test_engine_without_effect(void **state)
{
    (void)state;
    hac_query_spec text = new_spec(100 * MIB), small = new_spec(1000), rows = new_spec(100 * MIB);
    hac_query_spec table = new_table(10000000, 16);
    assert_remark(&text, "");
    text.hot_keys = HAC_HOT_KEYS_OFF;
    assert_remark(&text, "");
    text.hot_keys = small.hot_keys = rows.hot_keys = table.hot_keys = HAC_HOT_KEYS_ON;
    rows.flags = 0;
    assert_remark(&table, "");
    assert_remark(&text, "hot keys have no effect, the device does not aggregate: it works on texts, or has "
                         "decimals of more than 18 digits");
    text.flags = FITS;
    assert_remark(&text, "");
    assert_remark(
        &small,
        "hot keys have no effect, the device does not aggregate: the input is small, one task does it all");
    assert_remark(&rows, "hot keys have no effect, the device does not aggregate: nothing is aggregated");
    strcpy(table.refusal, "the device has no such atomics");
    assert_remark(&table,
                  "hot keys have no effect, the device does not aggregate: the device has no such atomics");
    /* and what runs instead is the best that there is */
    hac_machine two = new_machine(2, false);
    hac_plan *plan = plan_for(&two, &table);
    assert_int_equal(plan->query.engine, HAC_PLAN_ENGINE_HOST);
    assert_int_equal(__builtin_popcount(find(plan, "query.aggregate", 0)->device_mask), 2);
    hac_plan_free(plan);
    table.refusal[0] = '\0';
    table.flags = HAC_COMPILED_AGGREGATES | HAC_COMPILED_HOST_FUNCTION | HAC_COMPILED_HOST_AGGREGATE;
    table.engine = HAC_ENGINE_DEVICE;
    assert_remark(&table, "the device engine was asked for and cannot run it: an aggregate is none of "
                          "count, sum, avg, min and max of numbers of up to 64 bits");
    table.engine = HAC_ENGINE_AUTO;
    table.hot_keys = HAC_HOT_KEYS_AUTO;
    assert_remark(&table, "");
    two.devices[0].kind = HAC_DEVICE_KIND_FPGA; /* no CPU is to be used */
    two.devices[1].kind = HAC_DEVICE_KIND_FPGA;
    plan = plan_for(&two, &table);
    assert_non_null(
        strstr(plan->query.remark, "cpu.0's kernels do not run it, host codelets do: an aggregate"));
    hac_plan_free(plan);
}

/* What models know decides: the GPU once it is known to be faster, never before. */
static void test_models_decide(void **state)
{
    (void)state;
    hac_machine machine = new_machine(1, true);
    hac_model_set *models = NULL;
    assert_int_equal(hac_model_set_new(&models, NULL), HAC_OK);
    machine.models = models;
    hac_query_spec spec = new_table(10000000, 16);
    const double bytes = 160e6;
    const char *cpu = machine.devices[0].key, *gpu = machine.devices[1].key;
    for (int i = 0; i < 9; i++) {
        hac_model_record(models, cpu, "query.aggregate.table", HAC_TYPE_NONE, bytes, 0.2, false);
        hac_model_record(models, gpu, "hash.aggregate.table", HAC_TYPE_NONE, bytes, 0.02, false);
        hac_model_record(models, cpu, "query.merge", HAC_TYPE_NONE, 48e6, 1e-3, false);
        hac_model_record(models, cpu, "query.finish", HAC_TYPE_NONE, 21e6, 1e-3, false);
    }
    hac_plan *plan = plan_for(&machine, &spec);
    assert_int_equal(plan->query.engine, HAC_PLAN_ENGINE_DEVICE);
    assert_true(candidate(plan, "device on gpu1")->chosen);
    assert_string_equal(plan->k_source, "probe"); /* of the CPU's kernels nothing is known */
    hac_plan_free(plan);
    for (int i = 0; i < 31; i++)
        hac_model_record(models, gpu, "hash.aggregate.table", HAC_TYPE_NONE, bytes, 0.3, false);
    plan = plan_for(&machine, &spec);
    assert_int_equal(plan->query.engine, HAC_PLAN_ENGINE_MIXED);
    hac_plan_free(plan);
    for (int i = 0; i < 31; i++)
        hac_model_record(models, gpu, "hash.aggregate.table", HAC_TYPE_NONE, bytes, 20, false);
    plan = plan_for(&machine, &spec);
    assert_int_equal(plan->query.engine, HAC_PLAN_ENGINE_HOST);
    hac_plan_free(plan);
    hac_model_set_free(models);
}

static void test_two_hosts(void **state)
{
    (void)state;
    hac_machine machine = new_machine(2, false);
    hac_query_spec spec = new_spec(1000 * MIB);
    hac_plan *plan = plan_for(&machine, &spec);
    assert_true(candidate(plan, "host on cpu.0 + cpu.1")->chosen);
    assert_int_equal(plan->n_devices, 2);
    assert_true(plan->devices[0].share > 0.49 && plan->devices[0].share < 0.51);
    assert_true(plan->k > 0.99);
    hac_plan_free(plan);
    /* on the same cores they would only be in each other's way */
    strcpy(machine.devices[0].group, "cores");
    strcpy(machine.devices[1].group, "cores");
    plan = plan_for(&machine, &spec);
    assert_int_equal(plan->n_devices, 1);
    assert_true(plan->k <= 0);
    hac_plan_free(plan);
}

static void test_device_mask(void **state)
{
    (void)state;
    hac_machine machine = new_machine(2, true);
    hac_query_spec spec = new_spec(1000 * MIB);
    spec.device_mask = 2;
    hac_plan *plan = plan_for(&machine, &spec);
    assert_int_equal(plan->n_devices, 1);
    assert_string_equal(plan->devices[0].name, "cpu.1");
    hac_plan_free(plan);
    spec.device_mask = 4; /* no CPU: the GPU's executor has the host codelets as well */
    plan = plan_for(&machine, &spec);
    assert_string_equal(plan->devices[0].name, "gpu2");
    hac_plan_free(plan);
}

static void test_regions(void **state)
{
    (void)state;
    hac_machine machine = new_machine(1, false);
    hac_query_spec spec = new_spec(640 * MIB);
    spec.keys = 0; /* one group: a small region */
    hac_plan *plan = plan_for(&machine, &spec);
    assert_true(plan->query.region <= 8192);
    assert_int_equal(plan->query.partitions, 1);
    hac_plan_free(plan);
    spec.keys = 1;
    plan = plan_for(&machine, &spec);
    uint64_t guess = plan->query.region;
    assert_true(guess > MIB);
    hac_plan_free(plan);
    spec.region = 50 * MIB + 1; /* shown by a try */
    plan = plan_for(&machine, &spec);
    assert_true(plan->query.region > 50 * MIB);
    assert_int_equal(plan->query.passes, 1);
    hac_plan_free(plan);
    /* a guess is cut to what there is room for */
    spec.region = 0;
    spec.memory = guess * 64 / 2;
    plan = plan_for(&machine, &spec);
    assert_true(plan->query.region < guess && plan->query.region * plan->query.chunks <= spec.memory);
    assert_int_equal(plan->query.passes, 1);
    hac_plan_free(plan);
}

static uint32_t plan_partitions(const hac_machine *machine, const hac_query_spec *spec)
{
    hac_plan *plan = plan_for(machine, spec);
    uint32_t partitions = plan->query.partitions;
    hac_plan_free(plan);
    return partitions;
}

static void test_passes(void **state)
{
    (void)state;
    hac_machine machine = new_machine(2, false);
    hac_query_spec spec = new_spec(640 * MIB);
    spec.region = 20 * MIB;
    spec.memory = 640 * MIB;
    hac_plan *plan = plan_for(&machine, &spec);
    uint32_t passes = plan->query.passes;
    assert_true(passes >= 4 && (passes & (passes - 1)) == 0);
    assert_true(plan->query.region * plan->query.chunks <= spec.memory);
    assert_int_equal(count(plan, "query.aggregate"), passes);
    assert_int_equal(count(plan, "query.merge"), passes);
    uint64_t groups =
        plan->query.partitions * HAC_PARAMS(hac_query_params, find(plan, "query.merge", 0))->group_region;
    for (uint32_t p = 0; p < passes; p++) {
        const hac_plan_task *aggregate = find(plan, "query.aggregate", p),
                            *merge = find(plan, "query.merge", p);
        assert_int_equal(HAC_PARAMS(hac_query_params, aggregate)->pass, p);
        assert_int_equal(HAC_PARAMS(hac_query_params, aggregate)->passes, passes);
        assert_int_equal(merge->spans[1].offset, p * groups);
        assert_int_equal(merge->spans[1].bytes, groups);
    }
    const hac_plan_task *finish = find(plan, "query.finish", 0);
    assert_int_equal(HAC_PARAMS(hac_query_params, finish)->partitions,
                     (uint64_t)plan->query.partitions * passes);
    assert_int_equal(finish->spans[0].bytes, groups * passes);
    assert_false(plan->buffers[finish->spans[0].buffer].late);
    assert_true(plan->query.region * plan->query.chunks + groups * passes <= spec.memory);
    hac_plan_free(plan);
    spec.group_region = 200000; /* shown by a try, and there is room for it */
    plan = plan_for(&machine, &spec);
    assert_int_equal(HAC_PARAMS(hac_query_params, find(plan, "query.merge", 0))->group_region, 200000);
    hac_plan_free(plan);
    spec.group_region = 0;
    spec.region = 0;
    uint32_t partitions = plan_partitions(&machine, &spec);
    spec.passes = 8; /* asked for: a task ran out of memory */
    plan = plan_for(&machine, &spec);
    assert_int_equal(plan->query.passes, 8);
    /* as many partitions in all, so that the empty ones of many passes do not fill the memory */
    assert_int_equal(plan->query.partitions * 8, partitions);
    hac_plan_free(plan);
}

static void assert_refused(const hac_machine *machine, const hac_query_spec *spec, hac_status status,
                           const char *words)
{
    hac_plan *plan = NULL;
    hac_error err = HAC_ERROR_NONE;
    assert_int_equal(hac_plan_query(machine, spec, &plan, &err), status);
    assert_null(plan);
    if (strstr(err.message, words) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", err.message, words);
}

static void test_refused(void **state)
{
    (void)state;
    hac_machine machine = new_machine(2, false);
    hac_query_spec spec = new_spec(640 * MIB);
    spec.region = 600 * MIB;
    spec.memory = 100 * MIB;
    assert_refused(&machine, &spec, HAC_REFUSED, "more memory");
    spec.region = 20 * MIB;
    spec.memory = 640 * MIB;
    spec.group_region = 10 * MIB;
    assert_refused(&machine, &spec, HAC_REFUSED, "MiB of memory, and 640 MiB are there for it");
    spec.group_region = UINT64_C(1) << 56; /* times partitions and passes: 2^64 or more */
    spec.passes = 64;
    assert_refused(&machine, &spec, HAC_REFUSED, "more memory");
    spec.memory = 0;
    assert_refused(&machine, &spec, HAC_REFUSED, "more memory");
    spec = new_spec(640 * MIB);
    spec.memory = MIB;
    assert_refused(&machine, &spec, HAC_REFUSED, "more memory");
    spec.n_sources = 0;
    assert_refused(&machine, &spec, HAC_INVALID, "0 sources");
    spec.n_sources = 254;
    assert_refused(&machine, &spec, HAC_INVALID, "254 sources");
    spec = new_spec(UINT64_MAX);
    assert_refused(&machine, &spec, HAC_INVALID, "larger than can be");
    spec = new_spec(640 * MIB);
    spec.device_mask = 8;
    assert_refused(&machine, &spec, HAC_FAILED, "no usable device");
    machine.simulated = true;
    spec.device_mask = 0;
    assert_refused(&machine, &spec, HAC_INVALID, "mapreduce.none");
}

static void test_simulated(void **state)
{
    (void)state;
    hac_machine machine = new_machine(2, false);
    machine.simulated = true;
    for (size_t d = 0; d < 2; d++) {
        strcpy(machine.devices[d].capability[0].key, "mapreduce.none");
        machine.devices[d].capability[0].items_per_second = d == 0 ? 1e8 : 0.5e8;
        machine.devices[d].n_capability = 1;
    }
    hac_query_spec spec = new_spec(1500000000);
    hac_plan *plan = plan_for(&machine, &spec);
    assert_true(plan->predicted_seconds > 9.9 && plan->predicted_seconds < 10.8);
    assert_true(plan->k > 0.499 && plan->k < 0.501);
    assert_string_equal(plan->k_source, "profile");
    assert_true(plan->devices[0].share > 0.66 && plan->devices[0].share < 0.67);
    hac_plan_free(plan);
}

/* One task however large the source is. */
static void test_describe(void **state)
{
    (void)state;
    hac_machine machine = new_machine(1, true);
    hac_query_spec spec = new_spec(640 * MIB);
    spec.describes = true;
    hac_plan *plan = plan_for(&machine, &spec);
    assert_int_equal(plan->n_tasks, 1);
    assert_string_equal(plan->tasks[0].codelet, "query.describe");
    assert_true(plan->tasks[0].uses_descriptor);
    assert_int_equal(HAC_PARAMS(hac_query_params, &plan->tasks[0])->source_bytes, 640 * MIB);
    hac_plan_free(plan);
    spec = new_spec(640 * MIB); /* the header of a file that is not empty */
    spec.describes = true;
    spec.n_sources = 2;
    spec.sources[1] = spec.sources[0], spec.sources[0] = 0;
    plan = plan_for(&machine, &spec);
    assert_true(plan->tasks[0].descriptor == 1 &&
                HAC_PARAMS(hac_query_params, &plan->tasks[0])->source_bytes == 640 * MIB);
    hac_plan_free(plan);
    spec = new_spec(10);
    spec.describes = true;
    spec.place = HAC_QUERY_INLINE;
    spec.compiled_bytes = 77;
    plan = plan_for(&machine, &spec);
    assert_int_equal(HAC_PARAMS(hac_query_params, &plan->tasks[0])->inline_bytes, 77);
    hac_plan_free(plan);
}

static void test_group_regions(void **state)
{
    (void)state;
    for (uint32_t partitions = 1; partitions <= 1024; partitions *= 2)
        for (uint64_t bytes = 0; bytes < UINT64_C(1) << 40; bytes = bytes * 3 + 1) {
            uint64_t region = hac_query_group_region(bytes, partitions);
            assert_true(region * partitions >= bytes + partitions);
            assert_int_equal(region % 64, 0);
        }
}

static void test_resize(void **state)
{
    (void)state;
    hac_machine machine = new_machine(1, false);
    hac_query_spec spec = new_spec(20 * MIB);
    hac_plan *plan = plan_for(&machine, &spec);
    int groups = hac_plan_find_buffer(plan, HAC_QUERY_BUFFER_GROUPS);
    hac_query_resize(plan, groups, 1 << 20);
    assert_int_equal(find(plan, "query.merge", 0)->spans[1].bytes, 1 << 20);
    assert_int_equal(find(plan, "query.finish", 0)->spans[0].bytes, 1 << 20);
    assert_int_equal(find(plan, "query.merge", 0)->spans[0].bytes, plan->query.region * plan->query.chunks);
    assert_int_equal(hac_plan_check(plan, NULL), HAC_OK);
    assert_int_equal(hac_plan_find_buffer(plan, "nowhere"), -1);
    hac_plan_free(plan);
}

static void test_explained(void **state)
{
    (void)state;
    static const char *const json[] = {
        "\"flow\":\"mapreduce\"", "\"k\":",       "\"k_source\":", "\"shares\":",
        "\"predicted_seconds\":", "\"devices\":", "\"tasks\":",    "\"engine\":\"host\"",
        "\"chunks\":20"};
    hac_machine machine = new_machine(2, true);
    hac_query_spec spec = new_spec(20 * MIB);
    hac_plan *plan = plan_for(&machine, &spec);
    char *text = NULL;
    assert_int_equal(hac_plan_to_json(plan, &text, NULL), HAC_OK);
    for (size_t i = 0; i < sizeof(json) / sizeof(json[0]); i++)
        if (strstr(text, json[i]) == NULL)
            fail_msg("%s is not in %s", json[i], text);
    free(text);
    assert_int_equal(hac_plan_to_text(plan, &text, NULL), HAC_OK);
    assert_non_null(strstr(text, "mapreduce of 20 MiB of csv: host codelets; 20 chunks, 64 partitions"));
    assert_non_null(strstr(text, "B/s"));
    assert_non_null(strstr(text, "device"));
    free(text);
    hac_plan_free(plan);
}

/* Times of pieces that ended early would be taken for those of all the work. */
static void test_did_all(void **state)
{
    (void)state;
    static const struct {
        const char *codelet;
        bool ends_early;
        uint64_t region, capacity, second;
        bool all;
    } cases[] = {
        {"query.rows", false, 0, 0, 5, true},        {"query.rows", true, 0, 0, 5, false},
        {"query.whole", false, 0, 0, 5, true},       {"query.whole", true, 0, 0, 5, false},
        {"query.aggregate", true, 0, 0, 5, true},    {"hash.aggregate", true, 0, 0, 5, true},
        {"query.merge", true, 1024, 0, 1024, true},  {"query.merge", false, 1024, 0, 1025, false},
        {"query.finish", true, 0, 1024, 1024, true}, {"query.finish", false, 0, 0, 1025, true},
        {"query.gather", true, 0, 1024, 5, false},   {"query.gather", false, 0, 1024, 1025, false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        hac_query_spec spec = {.ends_early = cases[i].ends_early};
        hac_plan_task task = {.codelet = cases[i].codelet};
        const uint64_t values[2] = {7, cases[i].second};
        HAC_EDIT_PARAMS(hac_query_params, &task)->group_region = cases[i].region;
        assert_int_equal(hac_query_did_all(&spec, &task, cases[i].capacity, values, 2), cases[i].all);
    }
    hac_query_spec spec = {0};
    hac_plan_task task = {.codelet = "query.merge"};
    assert_true(hac_query_did_all(&spec, &task, 0, NULL, 0)); /* a report without figures */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small),
        cmocka_unit_test(test_small_sources),
        cmocka_unit_test(test_chunks),
        cmocka_unit_test(test_chunks_ignore_the_machine),
        cmocka_unit_test(test_quotes),
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_parquet),
        cmocka_unit_test(test_parquet_of_lies),
        cmocka_unit_test(test_parquet_footers),
        cmocka_unit_test(test_why_not_device),
        cmocka_unit_test(test_why_not_on_device),
        cmocka_unit_test(test_hot_keys_on),
        cmocka_unit_test(test_way_asked_for),
        cmocka_unit_test(test_engine_without_effect),
        cmocka_unit_test(test_models_decide),
        cmocka_unit_test(test_two_hosts),
        cmocka_unit_test(test_device_mask),
        cmocka_unit_test(test_regions),
        cmocka_unit_test(test_passes),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_simulated),
        cmocka_unit_test(test_describe),
        cmocka_unit_test(test_group_regions),
        cmocka_unit_test(test_resize),
        cmocka_unit_test(test_explained),
        cmocka_unit_test(test_did_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
