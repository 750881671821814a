/* SPDX-License-Identifier: Apache-2.0 */
#include "report.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* The text that a report makes of this JSON. */
static char *made(void (*report)(const cJSON *answer, hac_text *text), const char *json)
{
    hac_text text = HAC_TEXT_NONE;
    char *all = NULL;
    cJSON *parsed = NULL;
    assert_int_equal(hac_json_parse_object(json, "the test", &parsed, NULL), HAC_OK);
    report(parsed, &text);
    cJSON_Delete(parsed);
    assert_int_equal(hac_text_finish(&text, &all, NULL, NULL), HAC_OK);
    return all;
}

static void assert_made(void (*report)(const cJSON *answer, hac_text *text), const char *json,
                        const char *expected)
{
    char *all = made(report, json);
    assert_string_equal(all, expected);
    free(all);
}

static void all_settings(const cJSON *answer, hac_text *text)
{
    hac_report_settings(answer, NULL, 0, text);
}

static void jobs_then(const cJSON *answer, hac_text *text)
{
    hac_report_jobs(answer, 1000, text);
}

static void job_then(const cJSON *answer, hac_text *text)
{
    hac_report_job(answer, 1000, text);
}

static void checks(const cJSON *answer, hac_text *text)
{
    size_t failed = hac_report_checks(answer, text);
    hac_text_addf(text, "%zu failed\n", failed);
}

static void devices(void **state)
{
    (void)state;
    assert_made(
        hac_report_devices,
        "{\"devices\":[{\"name\":\"cpu\",\"state\":\"ready\",\"kind\":\"cpu\",\"group\":\"socket0\","
        "\"threads\":2,"
        "\"memory_bytes\":4294967296,\"device\":\"pthread\",\"capability\":{\"sort.u32\":1.2e8}},"
        "{\"name\":\"mesa\",\"state\":\"unusable\",\"reason\":\"loops end early\",\"capability\":{},"
        "\"codelet_failures\":[\"sort.u32\",\"sort.f64\"],\"program_failures\":[\"radix.simt.64: bad\"],"
        "\"shares_cores_with\":[\"cpu\"]}]}",
        "NAME  STATE     KIND  GROUP    THREADS  MEMORY       SORT U32  DEVICE   NOTE\n"
        "cpu   ready     cpu   socket0        2   4 GiB  120 M items/s  pthread  -\n"
        "mesa  unusable  -     -              -       -              -  -        loops end early; "
        "not used for sort.u32, sort.f64; programs that cannot be built: radix.simt.64: bad; "
        "shares cores with cpu\n");
    assert_made(hac_report_devices, "{\"devices\":[]}", "no devices; `hacctl doctor` says why\n");
    assert_made(hac_report_devices, "{\"devices\":[],\"problem\":\"no OpenCL platform\"}",
                "no OpenCL platform\n");
}

static void odd_json_is_read_liberally(void **state)
{
    static const char *const odd[] = {
        "{}", "{\"devices\":3,\"jobs\":\"x\",\"checks\":{},\"break_even\":null}",
        "{\"devices\":[1,null,{}],\"jobs\":[1,null,{}],\"checks\":[1,null,{}],"
        "\"break_even\":[1,null,{}],\"pairs\":[1,null,{}]}",
        "{\"devices\":[{\"models\":[3,{}],\"name\":7,\"contests\":[3,{\"tried\":[1,{}]}]}],\"receipt\":[1],"
        "\"jobs\":[{\"id\":\"x\",\"devices\":[null,{}]}]}"};
    void (*const reports[])(const cJSON *, hac_text *) = {
        hac_report_devices, jobs_then, job_then, hac_report_models, all_settings, checks, hac_report_search};
    (void)state;
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++)
        for (size_t j = 0; j < sizeof reports / sizeof *reports; j++)
            free(made(reports[j], odd[i]));
    cJSON *json = NULL;
    hac_error err = HAC_ERROR_NONE;
    assert_int_equal(hac_json_parse_object("[1]", "the devices", &json, &err), HAC_PROTOCOL);
    assert_int_equal(hac_json_parse_object("{", "the devices", &json, &err), HAC_PROTOCOL);
    assert_string_equal(err.message, "hacd's answer about the devices is not a JSON object");
}

static void jobs(void **state)
{
    (void)state;
    assert_made(
        jobs_then,
        "{\"jobs\":[{\"id\":12,\"flow\":\"sort\",\"state\":\"running\",\"user\":1000,\"items\":16777216,"
        "\"type\":\"u32\",\"name\":\"in\\u001b.bin\",\"part_of\":null,\"submitted\":990,\"seconds\":0.5,"
        "\"fraction\":0.25,"
        "\"stage\":\"merge 3\",\"devices\":[\"cpu\",\"gpu\"]}]}",
        "JOB  STATE    FLOW   ITEMS  TYPE   AGE    TOOK  DONE  USER  STAGE    DEVICES   NAME\n"
        " 12  running  sort  16.8 M  u32   10 s  500 ms  25 %  1000  merge 3  cpu, gpu  in?.bin\n");
    assert_made(jobs_then, "{\"jobs\":[]}", "no jobs\n");
}

static void one_job(void **state)
{
    (void)state;
    assert_made(job_then,
                "{\"id\":12,\"state\":\"done\",\"submitted\":400,\"seconds\":0.0284,\"input_bytes\":67108864,"
                "\"fraction\":1,\"devices\":[\"cpu\"],\"detached\":true,\"message\":\"\",\"plan\":{\"k\":1}}",
                "id                   12\n"
                "state                done\n"
                "submitted            10 min 0 s ago\n"
                "seconds              28.4 ms\n"
                "input_bytes          64 MiB\n"
                "fraction             100 %\n"
                "devices              cpu\n"
                "detached             yes\n");
}

static void models(void **state)
{
    (void)state;
    assert_made(
        hac_report_models,
        "{\"devices\":[{\"name\":\"cpu\",\"models\":[{\"codelet\":\"sort\",\"type\":\"u32\",\"items\":"
        "4194304,"
        "\"seconds\":0.0071,\"items_per_second\":5.9e8,\"relative_error\":0.031}]},{\"name\":\"cpu + gpu\","
        "\"models\":[{\"codelet\":\"sort\",\"type\":\"u32\",\"items_per_second\":9e8}]}],\"pairs\":[{"
        "\"devices\":[\"cpu\",\"gpu\"],\"type\":\"u32\",\"items_per_second\":9e8}],\"break_even\":[{"
        "\"type\":\"u32\",\"splits_from_items\":1048576},{\"type\":\"f64\",\"splits_from_items\":null},"
        "{\"type\":\"i64\",\"splits_from_items\":null,\"text\":\"cpu alone, always\"}]}",
        "DEVICE     CODELET  TYPE   ITEMS     TIME          SPEED  ERROR\n"
        "cpu        sort     u32   4.19 M  7.10 ms  590 M items/s  3.1 %\n"
        "cpu + gpu  sort     u32        -        -  900 M items/s      -\n"
        "\n"
        "TOGETHER  TYPE          SPEED  NOTE\n"
        "cpu, gpu  u32   900 M items/s  -\n"
        "\n"
        "Break-even sizes of this machine:\n"
        "  u32   several devices are faster from 1.05 M items on\n"
        "  f64   one device is fastest at every size\n"
        "  i64   cpu alone, always\n");
}

static void settings(void **state)
{
    (void)state;
    assert_made(all_settings,
                "{\"devices\":[{\"name\":\"cpu\",\"threads\":2,\"placement\":\"compact\",\"style\":\"block\","
                "\"block_items\":8,\"work_group\":0,\"from\":{\"threads\":\"tune\",\"placement\":\"driver\"},"
                "\"steps\":1,\"gain\":1.25},{\"name\":\"gpu\"}]}",
                "NAME  THREADS   PLACEMENT         STYLE      BLOCK ITEMS  WORK GROUP  STEPS  LAST GAIN\n"
                "cpu   2 (tune)  compact (driver)  block (-)  8 (-)        auto (-)        1       1.25\n"
                "gpu   auto (-)  auto (-)          auto (-)   auto (-)     auto (-)        -          -\n");
    assert_made(all_settings, "{\"devices\":[]}", "no such device; `hacctl devices` lists them\n");
    assert_made(
        hac_report_search,
        "{\"devices\":[{\"name\":\"cpu\",\"kept\":true,\"gain\":1.5,\"contests\":[{\"subject\":\"kernel "
        "style\",\"present\":\"auto\",\"verdict\":\"simt is kept\",\"tried\":[{\"setting\":\"simt\","
        "\"time\":0.5},{\"setting\":\"x\",\"time\":null}]}]},{\"name\":\"gpu\",\"kept\":false}]}",
        "cpu: other settings are kept, 1.50 times as fast\n"
        "  kernel style (present: auto): simt is kept\n"
        "    simt: time × 0.50 in two visits\n"
        "    x: cannot run all workloads\n"
        "gpu: the settings stay as they are\n");
    assert_made(hac_report_search, "{\"devices\":[]}", "no device was tuned\n");
}

static void receipt(void **state)
{
    (void)state;
    assert_made(
        job_then,
        "{\"id\":3,\"state\":\"done\",\"receipt\":{\"job\":3,\"state\":\"done\",\"scheme\":\"upper\","
        "\"k\":0.6,"
        "\"log\":\"long\",\"devices\":[{\"name\":\"cpu\",\"share_planned\":1,\"busy_seconds\":0.5,"
        "\"predicted_seconds\":0.25,\"tasks\":9,\"tasks_lost\":0,\"engines\":[{\"engine\":\"block kernels\","
        "\"runs_on\":\"cpu\",\"tasks\":8}]}]}}",
        "id                   3\n"
        "state                done\n"
        "scheme               upper\n"
        "k                    0.6\n"
        "\n"
        "DEVICE  SHARE    BUSY  PREDICTED  TASKS  LOST  ENGINES\n"
        "cpu     100 %  500 ms     250 ms      9     0  8 in block kernels on cpu\n");
}

static void doctor(void **state)
{
    (void)state;
    assert_made(
        checks,
        "{\"checks\":[{\"name\":\"opencl\",\"ok\":true,\"message\":\"2 devices\"},"
        "{\"name\":\"runtime folder\",\"ok\":false,\"message\":\"not\\nwritable\\u001b\\n\",\"hint\":\"chmod "
        "0700 it\"}]}",
        "ok      opencl: 2 devices\n"
        "FAILED  runtime folder: not\n"
        "        writable?\n"
        "        chmod 0700 it\n"
        "1 failed\n");
}

static void hash(void **state)
{
    (void)state;
    assert_made(
        job_then,
        "{\"id\":3,\"receipt\":{\"query\":{\"engine\":\"device\",\"hot_keys\":{\"on\":true,\"sampled_rows\":"
        "100,"
        "\"sample_coverage\":0.05,\"sample_hit_rate\":0.9,\"hot_set\":2,\"chosen\":1,\"rows_behind_sample\":"
        "1900,"
        "\"hit_rate\":0.5,\"local_hit_rate\":0.75,\"pairs_local\":6,\"pairs_global\":7,\"tables_grown\":1,"
        "\"key_ranges_more\":0,\"work_groups\":[{\"work_groups\":20,\"min\":0,\"max\":1,\"bars\":["
        "{\"first\":0,\"last\":1,\"hit_rate\":1},{\"first\":2,\"last\":2,\"hit_rate\":0.05},"
        "{\"first\":3,\"last\":19,\"hit_rate\":null}]}]},"
        "\"merge\":{\"partials\":2,\"pairs\":13,\"groups\":9}}}}",
        "id                   3\n"
        "\n"
        "hot keys\n"
        "  sample              5.0 % of the rows (100)\n"
        "  hot set             2 keys at most, with 90.0 % of the sample\n"
        "  chosen              1 times\n"
        "  hit rate            50.0 % of the 1900 rows after the sample\n"
        "  in local memory     75.0 % of them, including other keys\n"
        "  pairs               6 in local memory, 7 overflowed to global memory\n"
        "  tables grown        1 times; 0 more key ranges\n"
        "  merged              2 partials, 13 pairs to 9 groups\n"
        "  hit rate by work-group (20 of them, 0.0 % to 100.0 %)\n"
        "          0-1 100.0 % ########################################\n"
        "            2   5.0 % ##\n"
        "         3-19       - no rows\n");
    assert_made(job_then, "{\"id\":3,\"receipt\":{\"query\":{\"engine\":\"host\"}}}",
                "id                   3\n");
    assert_made(job_then,
                "{\"id\":3,\"receipt\":{\"query\":{\"hot_keys\":{\"on\":false,\"pairs_global\":7}}}}",
                "id                   3\n\nhot keys: off\n"
                "  pairs               - in local memory, 7 in global memory\n"
                "  tables grown        - times; - more key ranges\n"
                "  merged              - partials, - pairs to - groups\n");
}

static void splice(void **state)
{
    (void)state;
    static const char stages[] =
        "\"stages\":{\"read\":{\"busy_seconds\":0.05,\"share\":0.1},\"preprocess\":{\"busy_seconds\":0.4,"
        "\"share\":0.5},\"splice\":{\"busy_seconds\":0.01,\"share\":0.025},\"map\":{\"busy_seconds\":0.4,"
        "\"share\":1.5}},\"slowest_stage\":\"map\"";
    char json[2048];
    snprintf(
        json, sizeof json,
        "{\"id\":3,\"receipt\":{\"splice\":{\"devices\":[{\"name\":\"gpu\\u001b\",\"tasks\":2,\"threads\":1,"
        "\"in_place\":false,\"direct_buffer\":{\"data_sets\":29,\"records\":1,\"bytes\":1048576,"
        "\"largest_bytes\":1024},\"launching_buffer\":{\"blocks\":29,\"bytes\":2048,\"largest_bytes\":512,"
        "\"most_at_once\":4},\"working_buffer\":{\"capacity_bytes\":4096,\"index_blocks\":8,"
        "\"highest_fill_bytes\":1024,\"blocks\":29,\"records\":1,\"pauses\":3,\"triggers\":4},"
        "\"result_buffer\":{\"bytes\":100,\"largest_bytes\":10},%s}]}}}",
        stages);
    assert_made(
        job_then, json,
        "id                   3\n\n"
        "buffers of gpu?, in 2 tasks of 1 reading thread\n"
        "  DirectBuffer     29 data sets of 1 record, 1 MiB; the largest 1 KiB\n"
        "  LaunchingBuffer  29 blocks, 2 KiB; the largest 512 B; up to 4 at a time\n"
        "  WorkingBuffer    [##########..............................] 1 KiB of 4 KiB, index of 8 blocks\n"
        "                   29 blocks spliced, 3 pauses, 4 triggers\n"
        "  ResultBuffer     100 B; the largest 10 B\n"
        "  stages, busy share of the tasks' time; seconds of all threads\n"
        "  read             [####....................................]  10 %  50 ms\n"
        "  preprocess       [####################....................]  50 %  400 ms\n"
        "  splice           [#.......................................] 2.5 %  10 ms\n"
        "  map              [########################################] 150 %  400 ms  the slowest\n");
    assert_made(
        job_then,
        "{\"id\":3,\"receipt\":{\"splice\":{\"slowest_stage\":\"input\",\"client\":{\"reading_seconds\":0.05,"
        "\"input_wait_seconds\":1.5,\"device_wait_seconds\":0}}}}",
        "id                   3\n\n"
        "input, slower than the devices\n"
        "  read and cut     50 ms\n"
        "  waited for it    1.50 s\n"
        "  held back        0 s\n"
        "  rows written     -\n");
    char *all = made(job_then, "{\"receipt\":{\"splice\":{\"devices\":[{\"in_place\":true},7]}}}");
    assert_non_null(strstr(all, "a batch for each thread, mapped in place: - at most\n"));
    free(all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(devices),  cmocka_unit_test(hash),    cmocka_unit_test(odd_json_is_read_liberally),
        cmocka_unit_test(jobs),     cmocka_unit_test(one_job), cmocka_unit_test(models),
        cmocka_unit_test(settings), cmocka_unit_test(doctor),  cmocka_unit_test(receipt),
        cmocka_unit_test(splice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
