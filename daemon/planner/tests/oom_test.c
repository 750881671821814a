/* SPDX-License-Identifier: Apache-2.0 */
/* Every allocation of the planner fails once: plans of each flow, and each form in which plans are shown. */
#include <stdlib.h>
#include <string.h>

#include "base/query_layout.h"
#include "base/test_oom.h"
#include "planner/ops_plan.h"
#include "planner/plan_history.h"
#include "planner/query_plan.h"
#include "planner/sort_plan.h"
#include "test_machines.h"

#define MIB (UINT64_C(1) << 20)

typedef struct work {
    hac_machine machine;
    hac_sort_spec sort;
    hac_query_spec query;
    hac_ops_spec ops;
    hac_plan *plan;
} work;

static hac_machine new_machine(void)
{
    hac_machine machine = test_pair_beside_gpu();
    for (size_t d = 0; d < machine.n_devices; d++) {
        machine.devices[d].block_items = 1u << 15;
        machine.devices[d].local_memory = 32768;
    }
    return machine;
}

static hac_status plan_sort(void *context, hac_error *err)
{
    const work *w = context;
    hac_plan *plan = NULL;
    hac_status status = hac_plan_sort(&w->machine, &w->sort, &plan, err);
    if (status == HAC_OK)
        status = hac_plan_check(plan, err);
    hac_plan_free(plan);
    return status;
}

/* What cannot be remembered is planned anew. */
static hac_status plan_sort_again(void *context, hac_error *err)
{
    const work *w = context;
    hac_sort_memo *memo = NULL;
    hac_status status = hac_sort_memo_new(&memo, err);
    for (int i = 0; i < 2 && status == HAC_OK; i++) {
        hac_plan *plan = NULL;
        status = hac_plan_sort_again(&w->machine, &w->sort, memo, &plan, err);
        hac_plan_free(plan);
    }
    hac_sort_memo_free(memo);
    return status;
}

static hac_status plan_query(void *context, hac_error *err)
{
    const work *w = context;
    hac_plan *plan = NULL;
    hac_status status = w->query.round.stage == HAC_ROUND_NONE
                            ? hac_plan_query(&w->machine, &w->query, &plan, err)
                            : hac_plan_query_round(&w->machine, &w->query, &plan, err);
    if (status == HAC_OK)
        status = hac_plan_check(plan, err);
    hac_plan_free(plan);
    return status;
}

static hac_status plan_splits(void *context, hac_error *err)
{
    const work *w = context;
    hac_plan *plan = NULL;
    hac_status status = hac_plan_query_splits(&w->machine, &w->query, &plan, err);
    hac_plan_free(plan);
    return status;
}

static hac_status plan_ops(void *context, hac_error *err)
{
    const work *w = context;
    hac_plan *plan = NULL;
    hac_status status = hac_plan_ops(&w->machine, &w->ops, &plan, err);
    if (status == HAC_OK)
        status = hac_plan_check(plan, err);
    hac_plan_free(plan);
    return status;
}

static hac_query_spec new_query(uint64_t bytes)
{
    hac_query_spec spec;
    memset(&spec, 0, sizeof(spec));
    spec.sources[0] = spec.sources[1] = bytes;
    spec.bytes = 2 * bytes;
    spec.n_sources = 2;
    spec.format = "csv";
    spec.flags = HAC_COMPILED_AGGREGATES | HAC_COMPILED_NEEDS_QUOTES | HAC_COMPILED_FITS_DEVICE;
    spec.keys = 1;
    spec.group_bytes = 32;
    spec.output_bytes = 20;
    spec.compiled_bytes = 500;
    spec.seed = 7;
    return spec;
}

static hac_query_spec new_round(hac_round_stage stage)
{
    hac_query_spec spec = new_query(3 * MIB);
    spec.place = HAC_QUERY_IN_SPLITS;
    spec.flags = HAC_COMPILED_AGGREGATES | HAC_COMPILED_NEEDS_QUOTES;
    spec.round = (hac_query_round){.stage = stage,
                                   .sets = {3, 3},
                                   .set_bytes = MIB,
                                   .generation = 3,
                                   .held = 5,
                                   .capacity = 100,
                                   .region = 64 << 10,
                                   .partitions = 256,
                                   .carry = 8 << 10,
                                   .group_region = 16 << 10};
    return spec;
}

static void test_sort(void **state)
{
    (void)state;
    work w = {.machine = test_machine((double[]){4e8, 1e8, 1e8}, 3)};
    static const uint64_t items[] = {1000, 1 << 20, 5000000};
    for (size_t i = 0; i < sizeof(items) / sizeof(items[0]); i++)
        for (int algorithm = HAC_SORT_BITONIC; algorithm <= HAC_SORT_RADIX; algorithm++) {
            w.sort = (hac_sort_spec){.type = HAC_TYPE_U32,
                                     .items = items[i],
                                     .algorithm = (hac_sort_algorithm)algorithm,
                                     .from_descriptor = i == 1,
                                     .argsort = i == 2};
            hac_test_exhaust(plan_sort, &w, 2);
        }
    w.machine.simulated = false;
    w.sort = (hac_sort_spec){.type = HAC_TYPE_U32, .items = 1000};
    hac_test_exhaust(plan_sort_again, &w, 2);
}

static void test_query(void **state)
{
    (void)state;
    work w = {.machine = new_machine(), .query = new_query(100)};
    hac_test_exhaust(plan_query, &w, 2);
    w.query = new_query(100 * MIB);
    hac_test_exhaust(plan_query, &w, 4);
    w.query.flags = HAC_COMPILED_NEEDS_QUOTES; /* rows */
    hac_test_exhaust(plan_query, &w, 4);
    for (int stage = HAC_ROUND_AGGREGATE; stage <= HAC_ROUND_MERGE; stage++) {
        w.query = new_round((hac_round_stage)stage);
        hac_test_exhaust(plan_query, &w, 2);
    }
    w.query = new_query(100 * MIB);
    w.query.place = HAC_QUERY_IN_SPLITS;
    hac_test_exhaust(plan_splits, &w, 2);
}

static void test_ops(void **state)
{
    (void)state;
    static const uint64_t sizes[] = {8 * MIB, 8 * MIB, 8 * MIB};
    static const uint32_t first = 0;
    hac_op_spec ops[2];
    for (size_t i = 0; i < 2; i++) {
        ops[i] = (hac_op_spec){.codelet = "op.map",
                               .name = "step/map",
                               .pin = "",
                               .type = HAC_TYPE_F32,
                               .count = 1 << 20,
                               .grain = 4096,
                               .n_spans = 2,
                               .units = 1 << 20,
                               .memory = MIB,
                               .after = &first,
                               .n_after = i,
                               .call = (const uint8_t *)"call",
                               .call_bytes = 4};
        ops[i].spans[0] = (hac_plan_span){(uint8_t)(i + 1), HAC_WRITE, 0, 8 * MIB, 0, 8 * MIB};
        ops[i].spans[1] = (hac_plan_span){(uint8_t)i, HAC_READ, 0, 8 * MIB, 0, 8 * MIB};
    }
    work w = {.machine = new_machine(), .ops = {.tasks = ops, .n_tasks = 2, .sizes = sizes, .n_buffers = 3}};
    hac_test_exhaust(plan_ops, &w, 4);
    w.ops.policy = HAC_OPS_RULE;
    hac_test_exhaust(plan_ops, &w, 4);
}

/* ---- how plans are shown ---- */

static hac_status show(hac_status (*to)(const hac_plan *plan, char **ret, hac_error *err), const work *w,
                       hac_error *err)
{
    char *text = NULL;
    hac_status status = to(w->plan, &text, err);
    free(text);
    return status;
}

static hac_status show_json(void *context, hac_error *err)
{
    return show(hac_plan_to_json, context, err);
}

static hac_status show_text(void *context, hac_error *err)
{
    return show(hac_plan_to_text, context, err);
}

static hac_status show_trace(void *context, hac_error *err)
{
    const work *w = context;
    hac_run_record record = {.count = w->plan->tasks[0].count, .seconds = 0.1, .predicted_seconds = 0.2};
    char *text = NULL;
    hac_plan_history history = {.n_pieces = 0};
    hac_plan_history_add(&history, w->plan, &record, 1, 0); /* without memory: nothing of it */
    hac_status status = hac_trace_to_json(&history, w->plan, 1, &record, 1, "sort", &text, err);
    hac_plan_history_clear(&history);
    free(text);
    return status;
}

static void test_output(void **state)
{
    (void)state;
    static const uint64_t items[] = {32, 5000000};
    for (size_t i = 0; i < 2; i++) {
        work w = {.machine = test_machine((double[]){4e8, 1e8}, 2)};
        const hac_sort_spec spec = {.type = HAC_TYPE_U32,
                                    .items = items[i],
                                    .algorithm = HAC_SORT_BITONIC,
                                    .scheme = HAC_SCHEME_LOWER};
        assert_int_equal(hac_plan_sort(&w.machine, &spec, &w.plan, NULL), HAC_OK);
        hac_test_exhaust(show_json, &w, 2);
        hac_test_exhaust(show_text, &w, 2);
        hac_test_exhaust(show_trace, &w, 2);
        hac_plan_free(w.plan);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sort),
        cmocka_unit_test(test_query),
        cmocka_unit_test(test_ops),
        cmocka_unit_test(test_output),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
