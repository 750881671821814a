/* SPDX-License-Identifier: Apache-2.0 */
#include "splice_buffers.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>
#include <cmocka.h>

static uint64_t values[HAC_AGGREGATE_VALUE_SPLICE + HAC_SPLICE_N_VALUES];

/* A task's report: `all` for every value, and the busy nanoseconds of the stages. */
static Hac__Executor__Done report(uint64_t all, uint64_t read, uint64_t splice, uint64_t map)
{
    Hac__Executor__Done done = HAC__EXECUTOR__DONE__INIT;
    uint64_t *v = values + HAC_AGGREGATE_VALUE_SPLICE, busy[] = {read, 0, splice, map};
    for (unsigned i = 0; i < HAC_SPLICE_N_VALUES; i++)
        v[i] = all;
    v[HAC_SPLICE_THREADS] = 2;
    for (unsigned i = 0; i < HAC_SPLICE_N_STAGES; i++) {
        uint64_t *stage = v + HAC_SPLICE_STAGES + i * HAC_SPLICE_STAGE_VALUES;
        stage[0] = busy[i];
        stage[1] = 1000000;
        stage[2] = 1000000 + busy[i];
    }
    done.values = values;
    done.n_values = sizeof values / sizeof *values;
    done.seconds = 2;
    return done;
}

static cJSON *json_with(const hac_splice_buffers *buffers, const hac_splice_client *client)
{
    hac_text text = HAC_TEXT_NONE;
    char *all = NULL;
    hac_json_open(&text, NULL, '{');
    hac_splice_buffers_json(buffers, client, &text);
    hac_json_close(&text, '}');
    assert_int_equal(hac_text_finish(&text, &all, NULL, NULL), HAC_OK);
    cJSON *json = cJSON_Parse(all);
    assert_non_null(json);
    free(all);
    return json;
}

static cJSON *json_of(const hac_splice_buffers *buffers)
{
    return json_with(buffers, NULL);
}

static const cJSON *at(const cJSON *json, const char *one, const char *two)
{
    return cJSON_GetObjectItem(cJSON_GetObjectItem(json, one), two);
}

static double number(const cJSON *json, const char *one, const char *two)
{
    assert_non_null(at(json, one, two));
    return at(json, one, two)->valuedouble;
}

static void test_receipt(void **state)
{
    (void)state;
    hac_splice_buffers buffers = {0};
    Hac__Executor__Done done = report(10, 3000000000, 100000000, 1000000000);
    hac_splice_buffers_add(&buffers, "gpu", "hash.aggregate", &done);
    hac_splice_buffers_add(&buffers, "gpu", "hash.aggregate", &done);
    done = report(7, 1000000000, 0, 4000000000);
    hac_splice_buffers_add(&buffers, "cpu", "query.aggregate", &done);
    hac_splice_buffers_add(&buffers, "cpu", "query.merge", &done); /* has no such values */
    done.n_values--;
    hac_splice_buffers_add(&buffers, "cpu", "query.rows", &done); /* of an older executor */
    cJSON *json = json_of(&buffers);
    const cJSON *splice = cJSON_GetObjectItem(json, "splice");
    assert_true(number(splice, "direct_buffer", "data_sets") == 27);
    assert_true(number(splice, "direct_buffer", "largest_bytes") == 10);
    assert_true(number(splice, "working_buffer", "triggers") == 27);
    assert_string_equal(cJSON_GetObjectItem(splice, "slowest_stage")->valuestring, "map");
    const cJSON *devices = cJSON_GetObjectItem(splice, "devices");
    assert_int_equal(cJSON_GetArraySize(devices), 2);
    const cJSON *gpu = cJSON_GetArrayItem(devices, 0), *cpu = cJSON_GetArrayItem(devices, 1);
    assert_string_equal(cJSON_GetObjectItem(gpu, "slowest_stage")->valuestring, "read");
    assert_true(cJSON_IsFalse(cJSON_GetObjectItem(gpu, "in_place")));
    assert_true(cJSON_IsTrue(cJSON_GetObjectItem(cpu, "in_place")));
    /* six seconds of two threads in four seconds of tasks; the map stage of a device has one thread */
    const cJSON *stages = cJSON_GetObjectItem(gpu, "stages");
    assert_true(fabs(number(stages, "read", "busy_seconds") - 6) < 1e-9);
    assert_true(fabs(number(stages, "read", "share") - 0.75) < 1e-9);
    assert_true(fabs(number(stages, "map", "share") - 0.5) < 1e-9);
    assert_true(fabs(number(cJSON_GetObjectItem(cpu, "stages"), "map", "share") - 1) < 1e-9);
    cJSON_Delete(json);
    hac_splice_buffers_clear(&buffers);
    json = json_of(&buffers);
    assert_null(cJSON_GetObjectItem(json, "splice"));
    cJSON_Delete(json);
}

/* The input is the first stage, whether the job waits for it or reads it. */
static void test_client(void **state)
{
    (void)state;
    static const struct {
        hac_splice_client client;
        const char *slowest;
    } cases[] = {{{0}, "map"},
                 {{.reading = 3900000000}, "map"},
                 {{.reading = 4100000000}, "input"},
                 {{.reading = 100000000, .input_wait = 4000000000}, "input"},
                 {{.device_wait = 9000000000, .writing = 9000000000}, "map"}};
    hac_splice_buffers buffers = {0};
    Hac__Executor__Done done = report(7, 1000000000, 100000000, 4000000000);
    hac_splice_buffers_add(&buffers, "cpu", "query.aggregate", &done);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cJSON *json = json_with(&buffers, &cases[i].client);
        const cJSON *splice = cJSON_GetObjectItem(json, "splice");
        double reading = (double)cases[i].client.reading * 1e-9;
        assert_string_equal(cJSON_GetObjectItem(splice, "slowest_stage")->valuestring, cases[i].slowest);
        assert_true(fabs(number(splice, "client", "reading_seconds") - reading) < 1e-9);
        cJSON_Delete(json);
    }
    hac_splice_buffers_clear(&buffers);
}

/* What a round that is planned again has reported is taken back. */
static void test_copy(void **state)
{
    (void)state;
    hac_splice_buffers buffers = {0}, before = {0};
    Hac__Executor__Done done = report(10, 3000000000, 100000000, 1000000000);
    hac_splice_buffers_add(&buffers, "gpu", "hash.aggregate", &done);
    hac_splice_buffers_copy(&before, &buffers);
    hac_splice_buffers_add(&buffers, "gpu", "hash.aggregate", &done);
    hac_splice_buffers_add(&buffers, "cpu", "query.aggregate", &done);
    hac_splice_buffers_copy(&buffers, &before);
    assert_int_equal(buffers.n_devices, 1);
    assert_int_equal(buffers.devices[0].values[HAC_SPLICE_SETS], 10);
    assert_int_equal(buffers.devices[0].tasks, 1);
    hac_splice_buffers_clear(&before);
    hac_splice_buffers_copy(&buffers, &before);
    assert_null(buffers.devices);
}

/* A compromised executor may report anything: the sums remain valid numbers. */
static void test_lies(void **state)
{
    (void)state;
    hac_splice_buffers buffers = {0};
    for (int i = 0; i < 3; i++) {
        Hac__Executor__Done done = report(UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX);
        done.seconds = 0;
        hac_splice_buffers_add(&buffers, "cpu", "query.rows", &done);
    }
    cJSON *json = json_of(&buffers);
    const cJSON *splice = cJSON_GetObjectItem(json, "splice");
    assert_true(number(splice, "direct_buffer", "bytes") <= 3.0 * (double)(UINT64_C(1) << 48));
    const cJSON *cpu = cJSON_GetArrayItem(cJSON_GetObjectItem(splice, "devices"), 0);
    assert_true(cJSON_IsNull(at(cJSON_GetObjectItem(cpu, "stages"), "map", "share")));
    cJSON_Delete(json);
    hac_splice_buffers_clear(&buffers);
}

static void test_stages(void **state)
{
    (void)state;
    hac_plan_task tasks[] = {{.codelet = "query.merge"}, {.codelet = "hash.aggregate"}};
    hac_plan plan = {.tasks = tasks, .n_tasks = 2};
    hac_run_record record = {0};
    Hac__Executor__Done done = report(1, 2000000, 0, 5000000);
    hac_splice_buffers_stages(&plan, &done, &record);
    record.task = 1;
    hac_splice_buffers_stages(&plan, NULL, &record);
    assert_null(record.stages[0].name);
    hac_splice_buffers_stages(&plan, &done, &record);
    assert_string_equal(record.stages[HAC_STAGE_MAP].name, "map");
    assert_true(fabs(record.stages[HAC_STAGE_MAP].start - 1e-3) < 1e-12);
    assert_true(fabs(record.stages[HAC_STAGE_MAP].end - 6e-3) < 1e-12);
    assert_true(fabs(record.stages[HAC_STAGE_MAP].busy - 5e-3) < 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_receipt), cmocka_unit_test(test_client), cmocka_unit_test(test_copy),
        cmocka_unit_test(test_lies),    cmocka_unit_test(test_stages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
