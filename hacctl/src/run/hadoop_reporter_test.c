/* SPDX-License-Identifier: Apache-2.0 */
/* The lines for Hadoop, and that counters are reported as increments. */
#include "hadoop_reporter.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "text/json_fields.h"

static void assert_status(const hac_progress *progress, const char *expected)
{
    char text[HAC_HADOOP_REPORTER_TEXT];
    size_t bytes = hac_hadoop_reporter_format_status(progress, text);
    assert_string_equal(text, expected);
    assert_int_equal(bytes, strlen(text));
}

static void states(void **state)
{
    (void)state;
    hac_progress progress = {.state = HAC_JOB_RUNNING};
    assert_status(&progress, "reporter:status:hac: working\n");
    progress.stage = "aggregate";
    progress.fraction = 0.5;
    progress.items_per_second = 1.18e6;
    assert_status(&progress, "reporter:status:hac: aggregate, 50 %, 1.18 M items/s\n");
    progress.fraction = -1;
    progress.note = "building\nreporter:counter:x,y,1";
    assert_status(&progress,
                  "reporter:status:hac: aggregate, 1.18 M items/s, building?reporter:counter:x,y,1\n");
    char long_note[2000];
    memset(long_note, 'x', sizeof long_note - 1);
    long_note[sizeof long_note - 1] = '\0';
    progress.note = long_note;
    char text[HAC_HADOOP_REPORTER_TEXT];
    size_t bytes = hac_hadoop_reporter_format_status(&progress, text);
    assert_true(bytes < sizeof text && text[bytes - 1] == '\n' && text[bytes] == '\0');
}

static void assert_counters(hac_hadoop_reporter *reporter, const char *receipt, const char *expected)
{
    char text[HAC_HADOOP_REPORTER_TEXT];
    hac_autojson cJSON *json = NULL;
    assert_int_equal(hac_json_parse_object(receipt, "the test", &json, NULL), HAC_OK);
    size_t bytes = hac_hadoop_reporter_format_counters(reporter, json, text);
    assert_string_equal(text, expected);
    assert_int_equal(bytes, strlen(text));
}

static void counters(void **state)
{
    (void)state;
    hac_hadoop_reporter reporter = {.quiet = false};
    assert_counters(&reporter, "{}", "");
    assert_counters(&reporter, "{\"query\":{\"rows_read\":0}}", "");
    assert_counters(&reporter, "{\"query\":{\"rows_read\":5,\"groups\":2,\"rows_out\":null}}",
                    "reporter:counter:hac,records_read,5\nreporter:counter:hac,groups,2\n");
    assert_counters(&reporter, "{\"query\":{\"rows_read\":5,\"groups\":2}}", "");
    assert_counters(&reporter,
                    "{\"query\":{\"rows_read\":12,\"groups\":1,\"rows_skipped\":3,\"rows_out\":7}}",
                    "reporter:counter:hac,records_read,7\nreporter:counter:hac,records_skipped,3\n"
                    "reporter:counter:hac,rows_out,7\n");
    assert_counters(&reporter, "{\"query\":{\"rows_read\":1e300,\"rows_out\":-4}}", "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(states), cmocka_unit_test(counters)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
