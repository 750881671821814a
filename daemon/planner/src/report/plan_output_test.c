/* SPDX-License-Identifier: Apache-2.0 */
/* JSON is read back with cJSON. */
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

static hac_plan *plan_for(const hac_machine *machine, uint64_t items, hac_sort_algorithm algorithm,
                          hac_sort_scheme scheme)
{
    hac_sort_spec spec;
    hac_plan *plan = NULL;
    hac_error err = HAC_ERROR_NONE;
    memset(&spec, 0, sizeof(spec));
    spec.type = HAC_TYPE_U32;
    spec.items = items;
    spec.algorithm = algorithm;
    spec.scheme = scheme;
    spec.fold = HAC_FOLD_NONE;
    if (hac_plan_sort(machine, &spec, &plan, &err) != HAC_OK)
        fail_msg("%s", err.message);
    return plan;
}

static cJSON *json_of(const hac_plan *plan)
{
    char *text = NULL;
    assert_int_equal(hac_plan_to_json(plan, &text, NULL), HAC_OK);
    cJSON *json = cJSON_Parse(text);
    assert_non_null(json);
    free(text);
    return json;
}

static const cJSON *field(const cJSON *json, const char *name)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(json, name);
    if (item == NULL)
        fail_msg("no field %s", name);
    return item;
}

static double number(const cJSON *json, const char *name)
{
    assert_true(cJSON_IsNumber(field(json, name)));
    return field(json, name)->valuedouble;
}

static void assert_text(const cJSON *json, const char *name, const char *value)
{
    assert_true(cJSON_IsString(field(json, name)));
    assert_string_equal(field(json, name)->valuestring, value);
}

static void assert_printed(const cJSON *json, const char *name, const char *value)
{
    char *text = cJSON_PrintUnformatted(field(json, name));
    assert_string_equal(text, value);
    cJSON_free(text);
}

/* The members of a plan, for the flow's worked example in its three schemes. */
static void test_contract(void **state)
{
    (void)state;
    static const struct {
        hac_sort_scheme scheme;
        const char *name, *corun, *shares;
        int weaker;
    } cases[] = {{HAC_SCHEME_PROPORTIONAL, "proportional", "[[1,1],[3,3],[6,6],[10,10]]", "[0.625,0.375]", 6},
                 {HAC_SCHEME_LOWER, "lower", "[[1,3],[5,6],[9,10]]", "[0.75,0.25]", 4},
                 {HAC_SCHEME_UPPER, "upper", "[[1,6],[8,10]]", "[0.5,0.5]", 8},
                 {HAC_SCHEME_NONE, "none", "[]", "[1]", 0}};
    const double capability[2] = {1e8, 0.6e8};
    hac_machine machine = test_machine(capability, 2);
    for (size_t i = 0; i < 4; i++) {
        hac_plan *plan = plan_for(&machine, 16, HAC_SORT_BITONIC, cases[i].scheme);
        cJSON *json = json_of(plan);
        assert_text(json, "flow", "sort");
        assert_text(json, "k_source", "profile");
        assert_text(json, "algorithm", "bitonic");
        assert_text(json, "scheme", cases[i].name);
        assert_printed(json, "k", "0.6");
        assert_printed(json, "n", "4");
        assert_printed(json, "N", "1");
        assert_printed(json, "corun_steps", cases[i].corun);
        assert_printed(json, "folded_steps", "[]");
        assert_printed(json, "shares", cases[i].shares);
        assert_printed(json, "devices", cases[i].weaker > 0 ? "[\"dev0\",\"dev1\"]" : "[\"dev0\"]");
        assert_true(number(json, "predicted_seconds") > 0);
        assert_printed(json, "memory",
                       "{\"bytes\":128,\"of_input\":2,\"buffers\":[{\"name\":\"in\",\"role\":\"input\","
                       "\"bytes\":64},{\"name\":\"out\",\"role\":\"result\",\"bytes\":64}]}");
        assert_int_equal((int)number(json, "weaker_items"), cases[i].weaker);
        const cJSON *parts = field(json, "parts"), *tasks = field(json, "tasks");
        assert_int_equal(cJSON_GetArraySize(parts), cases[i].weaker > 0 ? 2 : 1);
        assert_int_equal(cJSON_GetArraySize(tasks), plan->n_tasks);
        const cJSON *part = cJSON_GetArrayItem(parts, 0);
        assert_text(part, "device", cases[i].weaker > 0 ? "dev1" : "dev0");
        assert_printed(part, "first", "0");
        assert_int_equal((int)number(part, "items"), cases[i].weaker > 0 ? cases[i].weaker : 16);
        assert_printed(part, "k", cases[i].weaker > 0 ? "0.6" : "1");
        assert_printed(part, "N", "1");
        assert_printed(part, "corun_steps", cases[i].corun);
        cJSON_Delete(json);
        hac_plan_free(plan);
    }
}

/* One device: no k, no N. */
static void test_nulls(void **state)
{
    (void)state;
    const double capability[1] = {1e8};
    hac_machine machine = test_machine(capability, 1);
    hac_plan *plan = plan_for(&machine, 1000, HAC_SORT_BITONIC, HAC_SCHEME_AUTO);
    cJSON *json = json_of(plan);
    assert_true(cJSON_IsNull(field(json, "k")));
    assert_true(cJSON_IsNull(field(json, "N")));
    assert_text(json, "scheme", "none");
    cJSON_Delete(json);
    strcpy(plan->sort.algorithm, "radix");
    plan->sort.scheme[0] = '\0';
    json = json_of(plan);
    static const char *const fields[] = {"scheme",       "n",    "N", "weaker_items", "corun_steps",
                                         "folded_steps", "parts"};
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
        assert_true(cJSON_IsNull(field(json, fields[i])));
    cJSON_Delete(json);
    hac_plan_free(plan);
}

/* Whatever the size: the text is whole and bounded. */
static void test_sizes(void **state)
{
    (void)state;
    double capability[16];
    for (size_t d = 0; d < 16; d++)
        capability[d] = 1e9 / (double)(d + 1);
    for (size_t devices = 1; devices <= 16; devices += 5) {
        hac_machine machine = test_machine(capability, devices);
        for (unsigned n = 0; n <= 40; n += 5) {
            for (hac_sort_scheme s = HAC_SCHEME_PROPORTIONAL; s <= HAC_SCHEME_NONE; s++) {
                hac_plan *plan = plan_for(&machine, (UINT64_C(1) << n) + n / 7, HAC_SORT_BITONIC, s);
                char *text = NULL;
                assert_int_equal(hac_plan_to_text(plan, &text, NULL), HAC_OK);
                assert_true(strlen(text) < 20000);
                assert_non_null(strstr(text, "candidates that were priced"));
                assert_non_null(strstr(text, "  2.00 times the input\n"));
                free(text);
                hac_plan_free(plan);
            }
        }
    }
}

/* hacd has one thread: the largest plans are not described task by task. */
static void test_many_tasks(void **state)
{
    (void)state;
    const double capability[1] = {1e8};
    hac_machine machine = test_machine(capability, 1);
    hac_plan *plan = plan_for(&machine, 1000, HAC_SORT_BITONIC, HAC_SCHEME_AUTO);
    const hac_plan_task like = plan->tasks[0];
    char *text = NULL;
    for (uint32_t i = (uint32_t)plan->n_tasks; i < HAC_PLAN_MAX_TASKS; i++)
        assert_int_equal(hac_plan_add_task(plan, &like, NULL, 0, NULL, NULL), HAC_OK);
    assert_int_equal(hac_plan_to_json(plan, &text, NULL), HAC_OK);
    assert_true(strlen(text) < 2000000);
    cJSON *json = cJSON_Parse(text);
    assert_int_equal(cJSON_GetArraySize(field(json, "tasks")), 4096);
    assert_true(number(json, "tasks_omitted") == HAC_PLAN_MAX_TASKS - 4096);
    cJSON_Delete(json);
    free(text);
    hac_plan_free(plan);
}

static void test_trace(void **state)
{
    (void)state;
    const double capability[2] = {1e8, 0.6e8};
    hac_machine machine = test_machine(capability, 2);
    hac_plan *plan = plan_for(&machine, 16, HAC_SORT_BITONIC, HAC_SCHEME_UPPER);
    const hac_run_record records[] = {
        {.task = 0,
         .device = 1,
         .count = 8,
         .start = 1e-3,
         .seconds = 2e-3,
         .predicted_seconds = 1e-3,
         .stages = {{.name = "read", .start = 0.5e-3, .end = 1.5e-3, .busy = 0.25e-3},
                    {.name = "splice"},                                    /* it had nothing to do */
                    {.name = "map", .start = 1e-3, .end = 9, .busy = 1}}}, /* cut to its task */
        {.task = 1, .device = 0, .first = 8, .count = 8, .start = 1e-3, .seconds = 5e-3, .lost = true},
        {.task = 99, .device = 0},
    };
    char *text = NULL;
    assert_int_equal(hac_trace_to_json(NULL, plan, 0, records, 3, "a \"job\"\n\xff", &text, NULL), HAC_OK);
    cJSON *json = cJSON_Parse(text);
    assert_non_null(json);
    const cJSON *event;
    unsigned predicted = 0, measured = 0, names = 0, stages = 0;
    cJSON_ArrayForEach(event, field(json, "traceEvents"))
    {
        if (strcmp(field(event, "ph")->valuestring, "M") == 0) {
            names++;
            continue;
        }
        if (strcmp(field(event, "cat")->valuestring, "stage") == 0) {
            bool first = stages++ == 0;
            assert_text(event, "name", first ? "read" : "map");
            assert_int_equal((int)number(event, "pid"), 2);
            assert_int_equal((int)number(event, "tid"), first ? 3 : 5);
            assert_true(fabs(number(event, "ts") - (first ? 1500 : 2000)) < 1e-6);
            assert_true(fabs(number(event, "dur") - 1000) < 1e-6);
            continue;
        }
        bool is_measured = strcmp(field(event, "cat")->valuestring, "measured") == 0;
        measured += is_measured;
        predicted += !is_measured;
        assert_int_equal((int)number(event, "tid"), is_measured ? 1 : 2);
        if (is_measured && measured == 1) {
            assert_true(fabs(number(event, "ts") - 1000) < 1e-6);
            assert_true(fabs(number(event, "dur") - 2000) < 1e-6);
            assert_text(event, "name", "steps 1–6");
            assert_int_equal((int)number(event, "pid"), 2);
        }
    }
    assert_int_equal(names, 8);
    assert_int_equal(stages, 2);
    assert_int_equal(measured, 2);
    assert_int_equal(predicted, plan->n_tasks);
    cJSON_Delete(json);
    free(text);
    hac_plan_free(plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_contract), cmocka_unit_test(test_nulls), cmocka_unit_test(test_many_tasks),
        cmocka_unit_test(test_sizes),    cmocka_unit_test(test_trace),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
