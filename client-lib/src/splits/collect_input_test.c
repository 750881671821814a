/* SPDX-License-Identifier: Apache-2.0 */
/* Tests inputs that are collected in one buffer. The fake daemon returns the bytes that it receives. */
#include "split_io.h"

static fake_daemon *the_daemon;

static int start(void **state)
{
    return fake_setup(state, NULL, &the_daemon, &client);
}

static int stop(void **state)
{
    return fake_teardown(state, the_daemon, client);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, start, stop)

static void test_whole(void **state)
{
    (void)state;
    const source in[] = {{NULL, "", 0, -1},
                         {NULL,
                          "\xef\xbb\xbf"
                          "a,b\r\n1,\"x\ny\"",
                          15, -1},
                         {NULL, "a,b\n", 4, -1},
                         {NULL, "a,b\n2,z\n", 8, -1}};
    hac_splits splits = splits_of(in, 4);
    hac_query_options options = query(HAC_INPUT_CSV);
    hac_job *job = NULL;
    options.order_by = "a";
    splits.write = NULL;
    run_ok(&splits, &options, &job);
    assert_int_equal(hac_job_bytes(job), 17);
    assert_memory_equal(hac_job_data(job), "a,b\r\n1,\"x\ny\"\n2,z\n", 17);
    hac_job_free(job);
    options.order_by = NULL;
    options.result_format = HAC_RESULT_TABLE;
    splits = splits_of(in + 3, 1);
    run_ok(&splits, &options, &job);
    assert_int_equal(hac_job_bytes(job), 8);
    hac_job_free(job);
}

/* Headers with the same column names are equal, whatever their quoting. Other headers differ. */
static void test_whole_headers(void **state)
{
    (void)state;
    static const struct {
        const char *first, *second;
        bool same;
        const char *select; /* NULL: all columns */
    } cases[] = {
        {"a,b\n", "\"a\",\"b\"\r\n", true, NULL},
        {"\"a\",b\n", "a,\"b\"\n", true, NULL},
        {"\"a\"\"b\"\n", "\"a\"\"b\"\n", true, NULL},
        {"\"\",a\n", ",a\n", true, "a"},
        {"\"a,b\"\n", "a,b\n", false, NULL},
        {"a\n", "ab\n", false, NULL},
        {"ab\n", "a\n", false, NULL},
        {"a\n", "a,\n", false, NULL},
        {"a,b\n", "\"a\",\"c\"\n", false, NULL},
        {"\"a\"\"\"\n", "a\n", false, NULL},
    };
    hac_query_options options = query(HAC_INPUT_CSV);
    options.result_format = HAC_RESULT_TABLE;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const source in[] = {{NULL, cases[i].first, strlen(cases[i].first), -1},
                             {NULL, cases[i].second, strlen(cases[i].second), -1}};
        hac_splits splits = splits_of(in, 2);
        hac_job *job = NULL;
        splits.write = NULL;
        options.select = cases[i].select;
        if (!cases[i].same) {
            run_fails(&splits, &options, HAC_FAILED, "in1: its header is not the one of in0");
            continue;
        }
        run_ok(&splits, &options, &job);
        assert_int_equal(hac_job_bytes(job), strlen(cases[i].first));
        assert_memory_equal(hac_job_data(job), cases[i].first, strlen(cases[i].first));
        hac_job_free(job);
    }
}

static void test_whole_fails(void **state)
{
    (void)state;
    const source headers[] = {{NULL, "a,b\n1,2\n", 8, -1}, {NULL, "b,a\n1,2\n", 8, -1}};
    const source open_quote[] = {{NULL, "a\n\"1\n", 5, -1}, {NULL, "a\n1\n", 4, -1}};
    const source fixed[] = {{NULL, "12345", 5, -1}, {NULL, "1234", 4, -1}};
    hac_query_options options = query(HAC_INPUT_CSV);
    options.order_by = "a";
    hac_splits splits = splits_of(headers, 2);
    run_fails(&splits, &options, HAC_FAILED, "in1: its header is not the one of in0");
    splits = splits_of(open_quote, 2);
    run_fails(&splits, &options, HAC_FAILED, "in0 ends within a record");
    splits = splits_of(headers, 1);
    options.job.memory_limit = 7;
    run_fails(&splits, &options, HAC_REFUSED, "more than the 7 bytes");
    options = query(HAC_INPUT_FIXED);
    options.order_by = "a";
    options.schema = "a:u32";
    splits = splits_of(fixed, 2);
    run_fails(&splits, &options, HAC_FAILED, "in0: 5 bytes are no whole number of records of 4 bytes");
}

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(test_whole), TEST(test_whole_headers), TEST(test_whole_fails)};
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    free(io.written);
    return failed;
}
