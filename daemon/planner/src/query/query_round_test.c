/* SPDX-License-Identifier: Apache-2.0 */
/* Rounds of a query whose input comes in splits: their plans, and how large their buffers are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/query_layout.h"
#include "planner/query_plan.h"
#include "test_machines.h"

#define KIB (UINT64_C(1) << 10)
#define MIB (UINT64_C(1) << 20)

static hac_query_spec new_spec(size_t splits, uint32_t sets)
{
    hac_query_spec spec;
    memset(&spec, 0, sizeof(spec));
    spec.place = HAC_QUERY_IN_SPLITS;
    spec.format = "csv";
    spec.flags = HAC_COMPILED_AGGREGATES | HAC_COMPILED_NEEDS_QUOTES;
    spec.keys = 1;
    spec.group_bytes = 32;
    spec.output_bytes = 20;
    spec.seed = 7;
    spec.n_sources = splits;
    for (size_t i = 0; i < splits; i++) {
        spec.sources[i] = sets * MIB;
        spec.bytes += sets * MIB;
        spec.round.sets[i] = sets;
    }
    spec.round.set_bytes = MIB;
    spec.round.generation = 3;
    spec.round.held = 5;
    spec.round.capacity = 100;
    spec.round.region = 64 * KIB;
    spec.round.partitions = 256;
    spec.round.carry = 8 * KIB;
    spec.round.group_region = 16 * KIB;
    return spec;
}

static hac_plan *plan_for(hac_query_spec *spec, hac_round_stage stage)
{
    hac_machine machine = test_pair_beside_gpu();
    hac_plan *plan = NULL;
    hac_error err = HAC_ERROR_NONE;
    spec->round.stage = stage;
    if (hac_plan_query_round(&machine, spec, &plan, &err) != HAC_OK || hac_plan_check(plan, &err) != HAC_OK)
        fail_msg("%s", err.message);
    return plan;
}

static void test_aggregate(void **state)
{
    (void)state;
    hac_query_spec spec = new_spec(3, 16);
    hac_plan *plan = plan_for(&spec, HAC_ROUND_AGGREGATE);
    assert_int_equal(plan->n_tasks, 3);
    assert_int_equal(hac_plan_find_buffer(plan, "quotes"), -1); /* each data set begins at a record */
    for (uint64_t i = 0; i < 3; i++) {
        const hac_plan_task *task = &plan->tasks[i];
        assert_string_equal(task->codelet, "query.aggregate");
        assert_true(task->range && task->repeatable && !task->uses_descriptor);
        assert_int_equal(task->count, 16);
        assert_int_equal(task->n_edges, 0);
        assert_int_equal(HAC_PARAMS(hac_query_params, task)->first_chunk, 5 + 16 * i);
        assert_int_equal(HAC_PARAMS(hac_query_params, task)->chunks, 100);
        assert_int_equal(HAC_PARAMS(hac_query_params, task)->generation, 3);
        assert_int_equal(HAC_PARAMS(hac_query_params, task)->data_sets, 16);
        assert_int_equal(task->spans[0].touch_first, (5 + 16 * i) * 64 * KIB);
        assert_int_equal(task->spans[0].touch_end, (21 + 16 * i) * 64 * KIB);
        assert_int_equal(task->spans[1].bytes, 0);
        assert_int_equal(plan->buffers[task->spans[2].buffer].role, HAC_BUFFER_INPUT);
        assert_int_equal(plan->buffers[task->spans[2].buffer].name[5], '0' + (int)i);
    }
    assert_int_equal(plan->buffers[hac_plan_find_buffer(plan, "partials")].bytes, 100 * 64 * KIB);
    assert_int_equal(plan->query.engine, HAC_PLAN_ENGINE_HOST);
    assert_true(plan->n_candidates >= 3);
    hac_plan_free(plan);
}

/* A split that stays in its file is no buffer: its tasks read the descriptor that the job has for it. */
static void test_in_file(void **state)
{
    (void)state;
    for (int rows = 0; rows < 2; rows++) {
        hac_query_spec spec = new_spec(3, 16);
        spec.flags = rows ? 0 : HAC_COMPILED_AGGREGATES;
        spec.format = "fixed";
        for (uint8_t i = 0; i < 3; i++)
            spec.round.slots[i] = (uint8_t)(7 - i);
        spec.round.files[1] = (hac_round_file){true, 4096, MIB - 8, 512};
        hac_plan *plan = plan_for(&spec, rows ? HAC_ROUND_ROWS : HAC_ROUND_AGGREGATE);
        assert_int_equal(hac_plan_find_buffer(plan, "split1"), -1);
        for (int i = 0; i < 3; i++) {
            const hac_plan_task *task = &plan->tasks[i];
            assert_int_equal(task->uses_descriptor, i == 1);
            assert_int_equal(task->descriptor, 7 - i);
            assert_int_equal(HAC_PARAMS(hac_query_params, task)->generation, 3);
            assert_int_equal(HAC_PARAMS(hac_query_params, task)->data_sets, 16);
            assert_int_equal(task->spans[2].bytes, i == 1 ? 0 : 16 * MIB);
            assert_true(task->units == 16 * MIB);
        }
        const hac_query_params *p = HAC_PARAMS(hac_query_params, &plan->tasks[1]);
        assert_int_equal(p->source_bytes, 16 * MIB);
        assert_int_equal(p->chunk, MIB - 8);
        assert_int_equal(p->file_offset, 4096);
        assert_int_equal(p->bytes_before, 512);
        assert_int_equal(HAC_PARAMS(hac_query_params, &plan->tasks[0])->chunk, MIB);
        hac_plan_free(plan);
    }
}

static void test_range_bytes(void **state)
{
    (void)state;
    assert_int_equal(hac_plan_range_bytes(8 * MIB, UINT64_MAX), 64 * MIB);
    assert_int_equal(hac_plan_range_bytes(8 * MIB, 512 * MIB), 32 * MIB);
    assert_int_equal(hac_plan_range_bytes(8 * MIB, 64 * MIB), 8 * MIB);
    assert_int_equal(hac_plan_range_bytes(32 * MIB, 1), 32 * MIB);
}

/* Four data sets a thread; what data are copied to gets the largest. */
static void test_split_bytes(void **state)
{
    (void)state;
    hac_machine machine = test_pair_beside_gpu();
    const hac_machine_device *d = machine.devices;
    assert_true(d[0].host_memory && d[1].host_memory && !d[2].host_memory);
    for (uint32_t threads = 1; threads < 20; threads++) {
        uint64_t wanted = 4 * MIB * threads;
        machine.devices[0].threads = threads;
        machine.devices[1].threads = 1;
        assert_int_equal(hac_plan_split_bytes(&machine, 1), wanted < 32 * MIB ? wanted : 32 * MIB);
        wanted += 4 * MIB;
        assert_int_equal(hac_plan_split_bytes(&machine, 3), wanted < 32 * MIB ? wanted : 32 * MIB);
    }
    assert_int_equal(hac_plan_split_bytes(&machine, 2), 4 * MIB);
    assert_int_equal(hac_plan_split_bytes(&machine, 4), 32 * MIB);
    assert_int_equal(hac_plan_split_bytes(&machine, 0), 32 * MIB);
    machine.devices[2].usable = false;
    machine.devices[0].threads = 1;
    assert_int_equal(hac_plan_split_bytes(&machine, 0), 8 * MIB);
    machine.n_devices = 0;
    assert_int_equal(hac_plan_split_bytes(&machine, 0), 32 * MIB); /* nothing is known of it */
}

/* Many until it is seen that a data set has few groups; what a carry was made with stays. */
static void test_partitions(void **state)
{
    (void)state;
    hac_query_spec spec = new_spec(1, 4);
    hac_round_memory memory = {.sets = 4, .set_bytes = MIB};
    spec.memory = 512 * MIB;
    assert_int_equal(hac_round_partitions(&spec, &memory), 256);
    assert_int_equal(hac_round_fit(&spec, &memory, NULL), HAC_OK);
    assert_int_equal(spec.round.partitions, 256);
    memory.needed = 1000 * spec.group_bytes;
    assert_int_equal(hac_round_partitions(&spec, &memory), 32);
    memory.carry = MIB;
    assert_int_equal(hac_round_fit(&spec, &memory, NULL), HAC_OK);
    assert_int_equal(spec.round.partitions, 256);
    memory.carry = 0;
    assert_int_equal(hac_round_fit(&spec, &memory, NULL), HAC_OK);
    assert_int_equal(spec.round.partitions, 32);
    memory.needed = 10000 * spec.group_bytes;
    assert_int_equal(hac_round_partitions(&spec, &memory), 256);
    spec.keys = 0;
    assert_int_equal(hac_round_fit(&spec, &memory, NULL), HAC_OK);
    assert_int_equal(spec.round.partitions, 1);
}

/* On the device, as any query. */
static void test_by_kernels(void **state)
{
    (void)state;
    hac_query_spec spec = new_spec(1, 16);
    spec.flags |= HAC_COMPILED_FITS_DEVICE;
    spec.engine = HAC_ENGINE_DEVICE;
    hac_plan *plan = plan_for(&spec, HAC_ROUND_AGGREGATE);
    assert_string_equal(plan->tasks[0].codelet, "hash.aggregate");
    assert_int_equal(plan->query.engine, HAC_PLAN_ENGINE_DEVICE);
    hac_plan_free(plan);
}

static void test_carry(void **state)
{
    (void)state;
    hac_query_spec spec = new_spec(1, 16);
    hac_plan *plan = plan_for(&spec, HAC_ROUND_CARRY);
    assert_int_equal(plan->n_tasks, 1);
    const hac_plan_task *task = &plan->tasks[0];
    assert_string_equal(task->codelet, "query.carry");
    assert_true(task->repeatable); /* it reads one carry and writes another */
    assert_int_equal(task->n_spans, 3);
    assert_int_equal(task->count, 256);
    assert_int_equal(HAC_PARAMS(hac_query_params, task)->chunks, 5);
    assert_int_equal(HAC_PARAMS(hac_query_params, task)->carry, 8 * KIB);
    assert_int_equal(HAC_PARAMS(hac_query_params, task)->generation, 3);
    assert_int_equal(HAC_PARAMS(hac_query_params, task)->data_sets, 0);
    assert_int_equal(HAC_PARAMS(hac_query_params, task)->group_region, 16 * KIB);
    assert_int_equal(task->spans[1].bytes, 256 * 16 * KIB);
    assert_int_equal(task->spans[2].bytes, 256 * 8 * KIB);
    assert_int_not_equal(task->spans[1].buffer, task->spans[2].buffer);
    hac_plan_free(plan);
    spec.round.carry = 0;
    plan = plan_for(&spec, HAC_ROUND_CARRY);
    assert_int_equal(plan->tasks[0].n_spans, 3);
    assert_int_equal(plan->tasks[0].spans[2].bytes, 0);
    hac_plan_free(plan);
}

static void test_merge(void **state)
{
    (void)state;
    hac_query_spec spec = new_spec(1, 16);
    for (spec.round.held = 0; spec.round.held < 10; spec.round.held += 5) {
        hac_plan *plan = plan_for(&spec, HAC_ROUND_MERGE);
        assert_int_equal(plan->n_tasks, 2);
        assert_string_equal(plan->tasks[0].codelet, "query.merge");
        assert_int_equal(plan->tasks[0].n_spans, 3);
        assert_int_equal(HAC_PARAMS(hac_query_params, &plan->tasks[0])->chunks, spec.round.held);
        assert_string_equal(plan->tasks[1].codelet, "query.finish");
        assert_int_equal(HAC_PARAMS(hac_query_params, &plan->tasks[1])->partitions, 256);
        assert_true(plan->buffers[plan->result_buffer].late);
        assert_string_equal(plan->buffers[plan->result_buffer].name, "result");
        hac_plan_free(plan);
    }
}

static void test_rows(void **state)
{
    (void)state;
    hac_query_spec spec = new_spec(2, 16);
    spec.flags = 0;
    spec.round.rows_given = 12;
    hac_plan *plan = plan_for(&spec, HAC_ROUND_ROWS);
    assert_int_equal(plan->n_tasks, 3);
    assert_string_equal(plan->tasks[1].codelet, "query.rows");
    assert_int_equal(HAC_PARAMS(hac_query_params, &plan->tasks[1])->first_chunk, 16);
    assert_int_equal(HAC_PARAMS(hac_query_params, &plan->tasks[1])->carry, 12);
    assert_string_equal(plan->tasks[2].codelet, "query.gather");
    assert_int_equal(HAC_PARAMS(hac_query_params, &plan->tasks[2])->chunks, 32);
    hac_plan_free(plan);
    spec.n_sources = 1; /* a header alone */
    spec.round.sets[0] = 0;
    plan = plan_for(&spec, HAC_ROUND_ROWS);
    assert_int_equal(plan->n_tasks, 1);
    hac_plan_free(plan);
}

static hac_query_spec fit(uint64_t memory_bytes, hac_round_memory *memory)
{
    hac_query_spec spec = new_spec(1, 16);
    memset(&spec.round, 0, sizeof(spec.round));
    spec.memory = memory_bytes;
    hac_error err = HAC_ERROR_NONE;
    if (hac_round_fit(&spec, memory, &err) != HAC_OK)
        fail_msg("%s", err.message);
    return spec;
}

static void test_sizes(void **state)
{
    (void)state;
    hac_round_memory memory = {.sets = 16, .set_bytes = MIB};
    hac_query_spec spec = fit(UINT64_C(4) << 30, &memory);
    assert_in_range(spec.round.region, MIB, 4 * MIB); /* a guess: twice what groups are made of */
    assert_in_range(spec.round.capacity, 64, HAC_ROUND_CAPACITY_MAX);
    assert_int_equal(hac_round_next(&spec, &memory), HAC_ROUND_AGGREGATE);
    memory.held = spec.round.capacity - 15;
    assert_int_equal(hac_round_next(&spec, &memory), HAC_ROUND_CARRY);
    memory.held = spec.round.capacity - 16;
    memory.needed = spec.round.region / 5 * 4;
    assert_int_equal(hac_round_next(&spec, &memory), HAC_ROUND_AGGREGATE);
    memory.needed = 10 * KIB; /* so little: a buffer of as many bytes takes far more of them */
    assert_int_equal(hac_round_next(&spec, &memory), HAC_ROUND_CARRY);
    memory.held = 0;
    assert_int_equal(hac_round_next(&spec, &memory), HAC_ROUND_NONE);
    spec = fit(UINT64_C(4) << 30, &memory);
    assert_in_range(spec.round.region, 10 * KIB, 20 * KIB);
    assert_int_equal(spec.round.capacity, HAC_ROUND_CAPACITY_MAX);
    assert_int_equal(hac_round_next(&spec, &memory), HAC_ROUND_AGGREGATE);
    spec.region = 40 * KIB; /* what a chunk would have needed */
    memory.held = 1;
    assert_int_equal(hac_round_next(&spec, &memory), HAC_ROUND_CARRY);
    memory.held = 0;
    assert_int_equal(hac_round_next(&spec, &memory), HAC_ROUND_NONE);
}

/* A large carry is worth more partials before it is written again, as far as there is memory. */
static void test_carry_sizes(void **state)
{
    (void)state;
    hac_round_memory memory = {.sets = 16, .set_bytes = MIB, .needed = MIB, .carry = UINT64_C(1) << 30};
    hac_query_spec spec = fit(UINT64_C(8) << 30, &memory);
    assert_in_range(spec.round.region * spec.round.capacity, 900 * MIB, 1024 * MIB);
    spec = fit(UINT64_C(1) << 30, &memory);
    assert_in_range(spec.round.region * spec.round.capacity, 350 * MIB, 410 * MIB);
    memory.held = 20;
    uint64_t region = hac_round_group_region(&spec, &memory, 3 * KIB);
    assert_int_equal(region % 64, 0);
    assert_in_range(region * 256, 1, UINT64_C(1) << 30);
}

static void test_little_memory(void **state)
{
    (void)state;
    hac_round_memory memory = {.sets = 16, .set_bytes = MIB};
    hac_query_spec spec = fit(16 * MIB, &memory); /* a guess is cut to what there is room for */
    assert_in_range(spec.round.region * 16, 1, 16 * MIB * 4 / 10);
    spec.round.region = 0;
    memory.needed = MIB;
    hac_error err = HAC_ERROR_NONE;
    assert_int_equal(hac_round_fit(&spec, &memory, &err), HAC_REFUSED);
    assert_non_null(strstr(err.message, "memory"));
    memory.sets = 1;
    assert_int_equal(hac_round_fit(&spec, &memory, &err), HAC_OK);
    assert_true(spec.round.capacity >= 1);
}

/* The tasks of a split, the time of all of them. */
static void test_streams(void **state)
{
    (void)state;
    hac_machine machine = test_pair_beside_gpu();
    hac_plan *one = NULL, *many = NULL;
    hac_error err = HAC_ERROR_NONE;
    hac_query_spec spec = new_spec(1, 32);
    spec.memory = 0;
    assert_int_equal(hac_plan_query_splits(&machine, &spec, &one, &err), HAC_OK);
    assert_int_equal(one->flow, HAC_FLOW_SPLICE);
    assert_int_equal(one->query.splits, 1);
    spec.bytes = spec.sources[0] = 20000 * MIB;
    assert_int_equal(hac_plan_query_splits(&machine, &spec, &many, &err), HAC_OK);
    assert_int_equal(many->query.splits, 625);
    assert_true(many->query.bytes == 20000 * MIB);
    assert_int_equal(many->n_tasks, one->n_tasks);
    assert_true(hac_plan_memory(many) == hac_plan_memory(one));
    assert_true(many->predicted_seconds > 624 * one->predicted_seconds);
    assert_true(many->predicted_seconds < 626 * one->predicted_seconds);
    hac_plan_free(one);
    hac_plan_free(many);
    spec.flags &= ~(uint32_t)HAC_COMPILED_AGGREGATES;
    spec.keys = 0;
    spec.bytes = spec.sources[0] = 0;
    assert_int_equal(hac_plan_query_splits(&machine, &spec, &one, &err), HAC_OK);
    assert_int_equal(one->query.engine, HAC_PLAN_ENGINE_ROWS);
    hac_plan_free(one);
}

/* Without splits: records that are found from the start only are one chunk in memory; files are cut. */
static void test_one_chunk(void **state)
{
    (void)state;
    static const char *const formats[] = {"lengths", "typedbytes", "fixed"};
    hac_machine machine = test_pair_beside_gpu();
    for (size_t i = 0; i < 9; i++) {
        hac_query_spec spec = new_spec(1, 1000);
        hac_plan *plan = NULL;
        spec.format = formats[i % 3];
        spec.place = (hac_query_place)(i / 3);
        spec.input_bytes = spec.bytes;
        assert_int_equal(hac_plan_query(&machine, &spec, &plan, NULL), HAC_OK);
        bool one = spec.place != HAC_QUERY_IN_FILES && i % 3 < 2;
        assert_int_equal(plan->query.chunks == 1, one);
        assert_true(plan->query.chunks * plan->query.chunk >= spec.bytes);
        hac_plan_free(plan);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_in_file),       cmocka_unit_test(test_range_bytes),
        cmocka_unit_test(test_split_bytes),   cmocka_unit_test(test_partitions),
        cmocka_unit_test(test_one_chunk),     cmocka_unit_test(test_aggregate),
        cmocka_unit_test(test_by_kernels),    cmocka_unit_test(test_carry),
        cmocka_unit_test(test_merge),         cmocka_unit_test(test_rows),
        cmocka_unit_test(test_sizes),         cmocka_unit_test(test_carry_sizes),
        cmocka_unit_test(test_little_memory), cmocka_unit_test(test_streams),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
