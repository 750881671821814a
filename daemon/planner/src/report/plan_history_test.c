/* SPDX-License-Identifier: Apache-2.0 */
/* What is kept of plans that are gone, and how the trace has it. */
#include "planner/plan_history.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>
#include <cmocka.h>

#include "planner/sort_plan.h"
#include "test_machines.h"

static hac_plan *plan_of(uint64_t items, size_t devices)
{
    static const double capability[2] = {1e8, 0.6e8};
    hac_machine machine = test_machine(capability, devices);
    hac_sort_spec spec = {.type = HAC_TYPE_U32, .items = items, .algorithm = HAC_SORT_RADIX};
    hac_plan *plan = NULL;
    assert_int_equal(hac_plan_sort(&machine, &spec, &plan, NULL), HAC_OK);
    return plan;
}

/* Every task of the plan, one after the other, a millisecond each. */
static size_t run_of(const hac_plan *plan, hac_run_record *ret, size_t capacity)
{
    size_t n = plan->n_tasks < capacity ? plan->n_tasks : capacity;
    for (size_t i = 0; i < n; i++)
        ret[i] = (hac_run_record){.task = (uint32_t)i,
                                  .start = 1e-3 * (double)i,
                                  .seconds = 1e-3,
                                  .predicted_seconds = 2e-3,
                                  .stages = {{.name = "read", .start = 0, .end = 5e-4, .busy = 5e-4}}};
    return n;
}

typedef struct counts {
    unsigned predicted, measured, stages, devices;
    double last; /* of what was measured: its start, in ms */
    double left_out;
} counts;

static counts read_trace(const hac_plan_history *history, const hac_plan *plan, double start,
                         const hac_run_record *records, size_t n)
{
    counts c = {0};
    char *text = NULL;
    assert_int_equal(hac_trace_to_json(history, plan, start, records, n, "job 1", &text, NULL), HAC_OK);
    cJSON *json = cJSON_Parse(text);
    assert_non_null(json);
    const cJSON *event;
    cJSON_ArrayForEach(event, cJSON_GetObjectItem(json, "traceEvents"))
    {
        const cJSON *category = cJSON_GetObjectItem(event, "cat");
        const char *kind = category != NULL ? category->valuestring : "";
        c.devices += strcmp(cJSON_GetObjectItem(event, "name")->valuestring, "process_name") == 0;
        c.predicted += strcmp(kind, "predicted") == 0;
        c.stages += strcmp(kind, "stage") == 0;
        if (strcmp(kind, "measured") == 0) {
            c.measured++;
            c.last = fmax(c.last, cJSON_GetObjectItem(event, "ts")->valuedouble / 1e3);
        }
    }
    c.left_out = cJSON_GetObjectItem(cJSON_GetObjectItem(json, "otherData"), "pieces_left_out")->valuedouble;
    cJSON_Delete(json);
    free(text);
    return c;
}

/* Two rounds that are over, on another number of devices each, and the one that is told of. */
static void test_rounds(void **state)
{
    (void)state;
    hac_plan *first = plan_of(1 << 20, 2), *last = plan_of(1 << 20, 1);
    hac_plan_history history = {.n_pieces = 0};
    hac_run_record records[16];
    size_t n = run_of(first, records, 16);
    assert_int_equal(n, first->n_tasks);
    records[1].device = 1;
    hac_plan_history_add(&history, first, records, n, 0);
    hac_plan_history_add(&history, first, records, n, 0.1);
    hac_plan_free(first); /* nothing of it is used any more */
    size_t m = run_of(last, records, 16);
    counts c = read_trace(&history, last, 0.2, records, m);
    assert_int_equal(c.devices, 2);
    assert_int_equal(c.measured, 2 * n + m);
    assert_int_equal(c.stages, 2 * n + m);
    assert_int_equal(c.predicted, 2 * n + m);
    assert_true(fabs(c.last - (200 + (double)(m - 1))) < 1e-6);
    assert_int_equal((int)c.left_out, 0);
    hac_plan_history_clear(&history);
    assert_null(history.pieces);
    hac_plan_free(last);
}

/* The first and the last ones stay; how many do not is told. */
static void test_bounded(void **state)
{
    (void)state;
    hac_plan *plan = plan_of(1 << 20, 1);
    hac_plan_history history = {.n_pieces = 0};
    hac_run_record records[16];
    size_t n = run_of(plan, records, 16), rounds = 1000;
    for (size_t i = 0; i < rounds; i++)
        hac_plan_history_add(&history, plan, records, n, (double)i);
    assert_int_equal(history.n_pieces, HAC_HISTORY_PIECES);
    assert_int_equal(history.left_out, rounds * n - HAC_HISTORY_PIECES);
    counts c = read_trace(&history, plan, (double)rounds, NULL, 0);
    assert_int_equal(c.measured, HAC_HISTORY_PIECES);
    assert_int_equal((unsigned)c.left_out, rounds * n - HAC_HISTORY_PIECES);
    for (size_t i = 0; i < HAC_HISTORY_PIECES; i++) {
        double round = floor(history.pieces[i].record.start);
        bool early = i < HAC_HISTORY_PIECES / 2;
        double kept = ceil(HAC_HISTORY_PIECES / 2.0 / (double)n);
        assert_true(early ? round <= kept : round >= (double)rounds - kept - 1);
    }
    hac_plan_history_clear(&history);

    enum { MANY = 20000 };
    hac_run_record *many = calloc(MANY, sizeof(*many));
    assert_non_null(many);
    for (size_t i = 0; i < MANY; i++)
        many[i] = (hac_run_record){.task = (uint32_t)(i % n), .start = (double)i};
    many[3].task = 999; /* records that make no sense are none */
    many[4].device = 99;
    hac_plan_history_add(&history, plan, many, MANY, 0);
    assert_int_equal(history.n_pieces, HAC_HISTORY_PIECES - 2);
    assert_int_equal(history.left_out, MANY - HAC_HISTORY_PIECES);
    assert_true(history.pieces[history.n_pieces - 1].record.start == MANY - 1);
    free(many);
    hac_plan_history_clear(&history);
    hac_plan_free(plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rounds), cmocka_unit_test(test_bounded)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
