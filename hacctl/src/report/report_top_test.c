/* SPDX-License-Identifier: Apache-2.0 */
/* What `hacctl top` makes of two reports of the daemon. */
#include "report_top.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static cJSON *parse(const char *json)
{
    cJSON *parsed = NULL;
    assert_int_equal(hac_json_parse_object(json, "the test", &parsed, NULL), HAC_OK);
    return parsed;
}

/* Checks the text of `now` after the report `before` (NULL: `now` is the first). */
static void assert_top(const char *before, const char *now, const char *expected)
{
    hac_autojson cJSON *first = before != NULL ? parse(before) : NULL;
    hac_autojson cJSON *second = parse(now);
    hac_autofree char *all = NULL;
    hac_text text = HAC_TEXT_NONE;
    assert_int_equal(hac_top_derive(first, second, NULL), HAC_OK);
    hac_report_top(second, &text);
    assert_int_equal(hac_text_finish(&text, &all, NULL, NULL), HAC_OK);
    assert_string_equal(all, expected);
}

static const char idle[] = "{\"at\":10,\"daemon\":{\"version\":\"0.1.0\",\"uptime_seconds\":63.7,\"jobs\":0,"
                           "\"jobs_running\":0,\"connections\":1},\"memory\":{\"limit_bytes\":1073741824,"
                           "\"used_bytes\":0,\"kept_bytes\":1048576},\"devices\":[{\"name\":\"cpu\","
                           "\"state\":\"ready\",\"busy_seconds\":2,\"running\":[]}],\"jobs\":["
                           "{\"id\":3,\"state\":\"done\",\"fraction\":1}]}";

static void nothing_runs(void **state)
{
    (void)state;
    assert_top(NULL, idle,
               "hacd 0.1.0, up 63 s\n"
               "jobs    0 running, 0 waiting; 1 connection\n"
               "memory  0 B in use, 1 MiB kept for reuse, limit 1 GiB\n"
               "\n"
               "DEVICE  STATE  BUSY  RUNNING\n"
               "cpu     ready  -     -\n"
               "\n"
               "no jobs\n");
}

static void what_two_looks_tell(void **state)
{
    (void)state;
    assert_top(
        "{\"at\":10,\"devices\":[{\"name\":\"gpu\",\"busy_seconds\":7},{\"name\":\"cpu\","
        "\"busy_seconds\":2}],\"jobs\":[{\"id\":4,\"fraction\":0.25}]}",
        "{\"at\":12,\"daemon\":{\"version\":\"0.1.0\",\"uptime_seconds\":5,\"draining\":true},"
        "\"devices\":[{\"name\":\"cpu\",\"state\":\"ready\",\"busy_seconds\":3,\"running\":[{\"job\":4,"
        "\"stage\":\"merge\",\"seconds\":0.5}]},{\"name\":\"gpu\",\"state\":\"ready\","
        "\"busy_seconds\":19,\"running\":[]}],\"jobs\":[{\"id\":4,\"state\":\"running\","
        "\"flow\":\"sort\",\"fraction\":0.5,\"items\":1000000,\"seconds\":3,\"seconds_left\":4,"
        "\"memory_bytes\":2048,\"stage\":\"merge\",\"devices\":[\"cpu\",\"gpu\"],\"name\":\"x\\u001b\"},"
        "{\"id\":5,\"state\":\"queued\",\"flow\":\"sort\",\"cancelling\":true,\"seconds\":0,"
        "\"seconds_left\":null,\"devices\":[]}]}",
        "hacd 0.1.0, up 5 s, draining: no new jobs\n"
        "\n"
        "DEVICE  STATE  BUSY                RUNNING\n"
        "cpu     ready  [#####-----]  50 %  job 4: merge, 500 ms\n"
        "gpu     ready  [##########] 100 %  -\n"
        "\n"
        "JOB  STATE       FLOW  DONE                         RATE  TIME  LEFT  MEMORY  STAGE  DEVICES   "
        "NAME\n"
        "  4  running     sort  [#####-----]  50 %  125 K items/s   3 s   4 s   2 KiB  merge  cpu, gpu  "
        "x?\n"
        "  5  cancelling  sort  -                               -   0 s     -       -  -      -         "
        "-\n");
}

static void buffers_of_splits(void **state)
{
    (void)state;
    assert_top(
        "{\"at\":1,\"jobs\":[{\"id\":7,\"splice\":{\"direct_buffer\":{\"bytes\":134217728}}}]}",
        "{\"at\":3,\"daemon\":{\"version\":\"9\",\"uptime_seconds\":1},\"devices\":[],\"jobs\":[{\"id\":7,"
        "\"state\":\"running\",\"flow\":\"splice\",\"name\":\"log\",\"splice\":{\"direct_buffer\":{\"bytes\":"
        "671088640},\"devices\":[{"
        "\"name\":\"gpu\",\"direct_buffer\":{\"data_sets\":640,\"bytes\":671088640},"
        "\"launching_buffer\":{\"blocks\":640,\"bytes\":1048576},\"working_buffer\":{"
        "\"capacity_bytes\":268435456,\"highest_fill_bytes\":1048576,\"pauses\":2,\"triggers\":12},"
        "\"result_buffer\":{\"bytes\":2048},\"slowest_stage\":\"preprocess\",\"stages\":{"
        "\"read\":{\"share\":0.05},\"preprocess\":{\"share\":0.9},\"splice\":{\"share\":null},"
        "\"map\":{\"share\":0.25}}}]}}]}",
        "hacd 9, up 1 s\n"
        "\n"
        "no devices; `hacctl doctor` says why\n"
        "\n"
        "JOB  STATE    FLOW    DONE          RATE  TIME  LEFT  MEMORY  STAGE  DEVICES  NAME\n"
        "  7  running  splice  640 MiB  256 MiB/s     -     -       -  -      -        log\n"
        "\n"
        "JOB  DEVICE     DATA SETS      BLOCKS           WORKING  PAUSES  TRIGGERS  RESULTS   READ  PARSE  "
        "SPLICE   MAP\n"
        "  7  gpu     640, 640 MiB  640, 1 MiB  1 MiB of 256 MiB       2        12    2 KiB  5.0 %  *90 %  "
        "     -  25 %\n");
}

/* Members that the daemon leaves out are not shown, or shown as "-". */
static void answers_that_lack(void **state)
{
    (void)state;
    assert_top("{}", "{}", "hacd -, up -\n\nno devices; `hacctl doctor` says why\n\nno jobs\n");
    assert_top("{\"at\":1,\"devices\":[{}],\"jobs\":[{}]}",
               "{\"at\":0.5,\"devices\":[{\"name\":1}],\"jobs\":[{\"state\":\"running\"}]}",
               "hacd -, up -\n"
               "\n"
               "DEVICE  STATE  BUSY  RUNNING\n"
               "-       -      -     -\n"
               "\n"
               "JOB  STATE    FLOW  DONE  RATE  TIME  LEFT  MEMORY  STAGE  DEVICES  NAME\n"
               "  -  running  -     -        -     -     -       -  -      -        -\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_runs),
        cmocka_unit_test(what_two_looks_tell),
        cmocka_unit_test(buffers_of_splits),
        cmocka_unit_test(answers_that_lack),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
