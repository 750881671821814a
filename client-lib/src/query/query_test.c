/* SPDX-License-Identifier: Apache-2.0 */
/* Tests queries on files, memory and buffers, and the requests to hacd. The fake daemon returns the input. */
#include "fake_daemon.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "expr/query_blob.h"

/* The last submission as the daemon received it. */
typedef struct seen {
    unsigned count;
    size_t n_inputs;
    Hac__Client__Input__WhereCase where;
    uint64_t bytes, offset, limit;
    uint32_t format, delimiter, output, hot_keys, sample, engine;
    int header, skip, has_limit, detach, acknowledge;
    char columns[64], outputs[64], name[64]; /* names in the compiled query, joined by commas */
    size_t n_keys, n_order;
    bool filters;
    char null_text[HAC_NULL_BYTES_MAX + 1];
    hac_status refuse;
    Hac__Client__Description describe;
} seen;

static seen last;
static fake_daemon *the_daemon;
static hac_client *client;

static void join(char to[64], const hac_schema *schema)
{
    int used = 0;
    to[0] = '\0';
    for (size_t i = 0; i < schema->n_fields; i++) {
        used += snprintf(to + used, (size_t)(64 - used), "%s%s", i > 0 ? "," : "", schema->fields[i].name);
        assert_in_range(used, 0, 63);
    }
}

static void look_at_query(const Hac__Client__CompiledQuery *compiled)
{
    hac_query *query = NULL;
    hac_table table = {0};
    if (hac_query_blob_read(compiled->query.data, compiled->query.len, &query, &table, NULL) != HAC_OK)
        return;
    join(last.columns, &query->columns);
    join(last.outputs, &query->outputs);
    last.delimiter = query->source.options.delimiter;
    last.header = !query->source.options.no_header;
    last.skip = query->source.options.skip_errors;
    last.n_keys = query->n_keys;
    last.n_order = query->n_order;
    last.filters = query->filter != NULL;
    strcpy(last.null_text, query->source.options.null_text);
    free(table.columns);
    hac_query_free(query);
}

static bool look(fake_session *session, const Hac__Client__Request *request, hac_frame *frame)
{
    (void)frame;
    if (request->what_case != HAC__CLIENT__REQUEST__WHAT_SUBMIT_QUERY)
        return false;
    const Hac__Client__SubmitQuery *query = request->submit_query;
    const Hac__Client__QuerySpec *spec = query->spec;
    last.count++;
    last.n_inputs = query->n_inputs;
    last.where = query->inputs[0]->where_case;
    last.bytes = query->inputs[0]->bytes;
    last.offset = query->inputs[0]->offset;
    last.limit = spec->limit;
    last.has_limit = spec->has_limit;
    last.format = spec->source->format;
    last.output = spec->output_format;
    last.hot_keys = spec->method->hot_keys;
    last.sample = spec->method->sample;
    last.engine = spec->method->engine;
    last.detach = query->options->detach;
    last.acknowledge = query->options->acknowledge;
    last.describe = spec->describe;
    if (spec->compiled != NULL)
        look_at_query(spec->compiled);
    snprintf(last.name, sizeof(last.name), "%s", query->inputs[0]->name);
    if (last.refuse == HAC_OK)
        return false;
    fake_send_failure(session, request->serial, last.refuse, "refused on purpose");
    return true;
}

static int start(void **state)
{
    memset(&last, 0, sizeof(last));
    return fake_setup(state, look, &the_daemon, &client);
}

static int stop(void **state)
{
    return fake_teardown(state, the_daemon, client);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, start, stop)

static hac_query_options lines(void)
{
    hac_query_options options = HAC_QUERY_OPTIONS_INIT;
    options.input_format = HAC_INPUT_LINES;
    options.select = "line";
    return options;
}

static void assert_result(hac_job *job, const void *data, size_t bytes)
{
    hac_error err = HAC_ERROR_NONE;
    if (hac_job_wait(job, -1, &err) != HAC_OK)
        fail_msg("%s", err.message);
    assert_int_equal(hac_job_bytes(job), bytes);
    if (bytes > 0)
        assert_memory_equal(hac_job_data(job), data, bytes);
    hac_job_free(job);
}

static void test_memory(void **state)
{
    (void)state;
    static const size_t sizes[] = {0, 1, 16383, 16384, 16385, 100000};
    static char text[100000];
    memset(text, 'x', sizeof(text));
    hac_query_options options = lines();
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        hac_job *job = NULL;
        assert_int_equal(hac_query_memory(client, text, sizes[i], &options, &job, NULL), HAC_OK);
        assert_int_equal(last.where, sizes[i] <= 16384 ? HAC__CLIENT__INPUT__WHERE_DATA
                                                       : HAC__CLIENT__INPUT__WHERE_BUFFER);
        assert_int_equal(last.bytes, sizes[i]);
        assert_true(last.acknowledge);
        assert_result(job, text, sizes[i]);
    }
}

static void test_options(void **state)
{
    (void)state;
    hac_query_options options = {
        .size = sizeof(options),
        .schema = "a:i64,b:string",
        .where = "a > 1",
        .group_by = "b",
        .select = "sum(a) as s",
        .order_by = "s desc",
        .limit = 7,
        .result_format = HAC_RESULT_JSON,
        .input_format = HAC_INPUT_CSV,
        .input_options = {.delimiter = 0xfe, .no_header = 1, .skip_errors = 1, .null_text = "NA"},
        .hot_keys = HAC_HOT_KEYS_OFF,
        .sample = 20,
        .engine = HAC_ENGINE_DEVICE};
    hac_job *job = NULL;
    assert_int_equal(hac_query_memory(client, "1", 1, &options, &job, NULL), HAC_OK);
    hac_job_free(job);
    assert_string_equal(last.columns, "a,b");
    assert_string_equal(last.outputs, "b,s");
    assert_true(last.filters && last.n_keys == 1 && last.n_order == 1);
    assert_string_equal(last.null_text, "NA");
    assert_true(last.has_limit && last.limit == 7 && last.skip && !last.header);
    assert_int_equal(last.format, 2);
    assert_int_equal(last.delimiter, 0xfe);
    assert_int_equal(last.output, 1);
    assert_int_equal(last.hot_keys, 2);
    assert_int_equal(last.sample, 20);
    assert_int_equal(last.engine, 2);
    options = lines();
    assert_int_equal(hac_query_memory(client, "1", 1, &options, &job, NULL), HAC_OK);
    hac_job_free(job);
    assert_false(last.has_limit);
    assert_true(last.header);
    options.limit = 0;
    assert_int_equal(hac_query_memory(client, "1", 1, &options, &job, NULL), HAC_OK);
    hac_job_free(job);
    assert_true(last.has_limit && last.limit == 0);
}

static void expect_invalid(const hac_query_options *options, const char *words)
{
    hac_error err = HAC_ERROR_NONE;
    hac_job *job = NULL;
    unsigned before = last.count;
    assert_int_equal(hac_query_memory(client, "1", 1, options, &job, &err), HAC_INVALID);
    hac_test_assert_says(err.message, words);
    assert_null(job);
    assert_int_equal(last.count, before); /* no request was sent */
}

static void test_bad_options(void **state)
{
    (void)state;
    static char text[30722];
    memset(text, 'x', sizeof(text) - 1);
    hac_query_options options = lines();
    options.select = text;
    expect_invalid(&options, "--select: 30721 bytes are too many; 30720");
    options = lines();
    options.where = "a = '\xff'";
    expect_invalid(&options, "--where: byte 6 is not valid UTF-8");
    options = lines();
    options.input_format = HAC_INPUT_NONE;
    expect_invalid(&options, "input format is not set");
    options = lines();
    options.summary = HAC_SUMMARY_VALUES;
    options.order_by = "line";
    expect_invalid(&options, "a summary has no group_by, having, order_by, limit_by and offset");
    options.order_by = NULL;
    options.offset = 1;
    expect_invalid(&options, "a summary has no group_by, having, order_by, limit_by and offset");
    options = lines();
    options.input_format = HAC_INPUT_TABLE;
    expect_invalid(&options, "input format is not set");
    options.input_format = HAC_INPUT_END;
    expect_invalid(&options, " does not exist");
    options.input_format = (hac_input_format)-1;
    expect_invalid(&options, "input format -1 does not exist");
    options = lines();
    options.result_format = (hac_result_format)6;
    expect_invalid(&options, "result format 6");
    options = lines();
    options.input_options.delimiter = ';';
    expect_invalid(&options, "--delimiter: this is an option of csv, and the input is lines");
    options = lines();
    options.sample = 1001;
    expect_invalid(&options, "per mille");
    options.sample = 0;
    options.hot_share = 1001;
    expect_invalid(&options, "per mille");
    static const uint8_t no_delimiters[] = {'\n', '\r', '"'};
    for (size_t i = 0; i < sizeof(no_delimiters) / sizeof(no_delimiters[0]); i++) {
        options = lines();
        options.input_options.delimiter = no_delimiters[i];
        expect_invalid(&options, "delimiter");
    }
    options = lines();
    options.hot_keys = (hac_hot_keys)3;
    expect_invalid(&options, "hot keys 3");
    options = lines();
    options.engine = (hac_engine)3;
    expect_invalid(&options, "engine 3");
    options = lines();
    options.parquet.compression = (hac_compression)5;
    expect_invalid(&options, "compression 5");
    options = lines();
    options.input_options.first_row_group = 1;
    expect_invalid(&options, "option of parquet, and the input is lines");
    options.input_options.first_row_group = 0;
    options.input_options.row_groups = 1;
    expect_invalid(&options, "option of parquet, and the input is lines");
    options = lines();
    options.work_groups = 65537;
    expect_invalid(&options, "at most 65536");
    options.work_groups = 0;
    options.work_items = 65537;
    expect_invalid(&options, "at most 65536");
    options = lines();
    options.input_format = HAC_INPUT_CSV;
    memset(options.input_options.null_text, '1', sizeof(options.input_options.null_text));
    expect_invalid(&options, "--null: must be valid UTF-8 of at most 127 bytes");
    options = lines();
    strcpy(options.input_options.null_text, "NA");
    expect_invalid(&options, "--null: this is an option of csv, tsv, and the input is lines");
    options = lines();
    options.job.priority = 101;
    expect_invalid(&options, "priority");
    options.size = 4;
    expect_invalid(&options, "HAC_QUERY_OPTIONS_INIT");
}

static void test_files(void **state)
{
    (void)state;
    hac_query_options options = lines();
    int fds[253];
    const char *names[253] = {"first", NULL};
    char all[253 * 4 + 1] = "";
    for (size_t i = 0; i < 253; i++) {
        char text[8];
        snprintf(text, sizeof(text), "%03zu\n", i);
        fds[i] = hac_test_file(text, 4);
        strcat(all, text);
    }
    for (size_t n = 1; n <= 253; n += 84) {
        hac_job *job = NULL;
        assert_int_equal(hac_query_files(client, fds, names, n, &options, &job, NULL), HAC_OK);
        assert_int_equal(last.n_inputs, n);
        assert_int_equal(last.where, HAC__CLIENT__INPUT__WHERE_DESCRIPTOR);
        assert_string_equal(last.name, "first");
        assert_result(job, all, 4 * n);
    }
    hac_error err = HAC_ERROR_NONE;
    hac_job *job = NULL;
    assert_int_equal(hac_query_files(client, fds, NULL, 254, &options, &job, &err), HAC_INVALID);
    hac_test_assert_says(err.message, "254 files");
    assert_int_equal(hac_query_files(client, fds, NULL, 0, &options, &job, &err), HAC_INVALID);
    for (size_t i = 0; i < 253; i++)
        close(fds[i]);
}

/* A csv or tsv file with only a byte order mark counts as an empty file, also next to files with a header. */
static void test_mark_alone(void **state)
{
    (void)state;
    static const struct {
        hac_input_format format;
        const char *text;
        size_t bytes, counted;
    } cases[] = {{HAC_INPUT_CSV, "\xef\xbb\xbf", 3, 0},
                 {HAC_INPUT_TSV, "\xef\xbb\xbf", 3, 0},
                 {HAC_INPUT_CSV,
                  "\xef\xbb\xbf"
                  "line\n",
                  8, 8},
                 {HAC_INPUT_CSV, "line", 4, 4},
                 {HAC_INPUT_LINES, "\xef\xbb\xbf", 3, 3}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        hac_query_options options = lines();
        hac_job *job = NULL;
        int fd = hac_test_file(cases[i].text, cases[i].bytes);
        options.input_format = cases[i].format;
        assert_int_equal(hac_query_files(client, &fd, NULL, 1, &options, &job, NULL), HAC_OK);
        assert_int_equal(last.bytes, cases[i].counted);
        hac_job_free(job);
        close(fd);
    }
}

static void test_what_is_no_file(void **state)
{
    (void)state;
    hac_query_options options = lines();
    hac_error err = HAC_ERROR_NONE;
    hac_job *job = NULL;
    int pipes[2], folder = open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    char name[] = "/tmp/hac-test-XXXXXX";
    int closed = mkstemp(name);
    int writing = open(name, O_WRONLY | O_CLOEXEC);
    unlink(name);
    assert_int_equal(pipe2(pipes, O_CLOEXEC), 0);
    const char *called = "it";
    assert_int_equal(hac_query_files(client, pipes, &called, 1, &options, &job, &err), HAC_FAILED);
    hac_test_assert_says(err.message, "it is no file with a size; save it first");
    int made = open("/proc/self/status", O_RDONLY | O_CLOEXEC); /* a file of size 0 with bytes */
    assert_int_equal(hac_query_files(client, &made, &called, 1, &options, &job, &err), HAC_FAILED);
    hac_test_assert_says(err.message, "it is no file with a size; save it first");
    close(made);
    assert_int_equal(hac_query_files(client, &folder, &called, 1, &options, &job, &err), HAC_FAILED);
    hac_test_assert_says(err.message, "it is a directory");
    assert_int_equal(hac_query_files(client, &writing, &called, 1, &options, &job, &err), HAC_FAILED);
    hac_test_assert_says(err.message, "not open for reading");
    close(closed);
    assert_int_equal(hac_query_files(client, &closed, &called, 1, &options, &job, &err), HAC_FAILED);
    hac_test_assert_says(err.message, "cannot read it");
    close(writing);
    close(folder);
    close(pipes[0]);
    close(pipes[1]);
}

static void test_buffer(void **state)
{
    (void)state;
    hac_query_options options = lines();
    hac_error err = HAC_ERROR_NONE;
    hac_buffer *buffer = NULL;
    hac_job *job = NULL;
    assert_int_equal(hac_buffer_alloc(client, 1000, &buffer, NULL), HAC_OK);
    uint8_t *data = hac_buffer_data(buffer);
    for (size_t i = 0; i < 1000; i++)
        data[i] = (uint8_t)i;
    assert_int_equal(hac_query_buffer(client, buffer, 64, 100, &options, &job, NULL), HAC_OK);
    assert_int_equal(last.offset, 64);
    assert_result(job, data + 64, 100);
    assert_int_equal(hac_query_buffer(client, buffer, 63, 100, &options, &job, &err), HAC_INVALID);
    assert_int_equal(hac_query_buffer(client, buffer, 64, UINT64_MAX, &options, &job, &err), HAC_INVALID);
    hac_buffer_free(buffer);
}

static void test_streams(void **state)
{
    (void)state;
    static char text[40000];
    static const size_t sizes[] = {0, 1, 16383, 16384, 16385, 40000};
    memset(text, 'x', sizeof(text));
    hac_query_options options = lines();
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        int pipes[2];
        hac_job *job = NULL;
        assert_int_equal(pipe2(pipes, O_CLOEXEC), 0);
        assert_int_equal(write(pipes[1], text, sizes[i]), sizes[i]);
        close(pipes[1]);
        options.job.memory_limit = sizes[i]; /* the min; 0 means no limit */
        assert_int_equal(hac_query_stream(client, pipes[0], "a stream", &options, &job, NULL), HAC_OK);
        assert_int_equal(last.where, sizes[i] <= 16384 ? HAC__CLIENT__INPUT__WHERE_DATA
                                                       : HAC__CLIENT__INPUT__WHERE_BUFFER);
        assert_string_equal(last.name, "a stream");
        assert_result(job, text, sizes[i]);
        close(pipes[0]);
    }
}

static void test_streams_that_fail(void **state)
{
    (void)state;
    hac_query_options options = lines();
    hac_error err = HAC_ERROR_NONE;
    hac_job *job = NULL;
    int zero = open("/dev/zero", O_RDONLY | O_CLOEXEC), folder = open("/tmp", O_RDONLY | O_CLOEXEC);
    options.job.memory_limit = 100000;
    assert_int_equal(hac_query_stream(client, zero, "zeros", &options, &job, &err), HAC_REFUSED);
    hac_test_assert_says(err.message, "zeros has more than the 100000 bytes of memory");
    assert_int_equal(hac_query_stream(client, folder, "tmp", &options, &job, &err), HAC_FAILED);
    hac_test_assert_says(err.message, "tmp is a directory");
    assert_int_equal(hac_query_stream(client, -1, NULL, &options, &job, &err), HAC_FAILED);
    hac_test_assert_says(err.message, "cannot read the input");
    assert_null(job);
    close(zero);
    close(folder);
    int made = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
    assert_int_equal(hac_query_stream(client, made, "status", &options, &job, &err), HAC_OK);
    assert_int_equal(hac_job_wait(job, -1, NULL), HAC_OK);
    assert_memory_equal(hac_job_data(job), "Name:", 5);
    hac_job_free(job);
    close(made);
}

/* The submitting call reports a refusal, and gives the memory of copies back. */
static void test_refused(void **state)
{
    (void)state;
    static char text[50000];
    hac_query_options options = lines();
    hac_error err = HAC_ERROR_NONE;
    hac_job *job = NULL;
    last.refuse = HAC_REFUSED;
    assert_int_equal(hac_query_memory(client, text, 10, &options, &job, &err), HAC_REFUSED);
    hac_test_assert_says(err.message, "refused on purpose");
    assert_int_equal(hac_query_memory(client, text, sizeof(text), &options, &job, &err), HAC_REFUSED);
    assert_int_equal(fake_count(the_daemon, HAC__CLIENT__REQUEST__WHAT_BUFFER_ALLOC), 1);
    hac_job_free(NULL);
    last.refuse = HAC_OK;
    assert_int_equal(hac_query_memory(client, text, 10, &options, &job, &err), HAC_OK);
    assert_int_equal(fake_count(the_daemon, HAC__CLIENT__REQUEST__WHAT_BUFFER_RELEASE), 1);
    hac_job_free(job);
}

static hac_status explain(hac_planned_query *query, size_t n_sources, hac_plan_format format, char **ret,
                          hac_error *err)
{
    query->n_sources = n_sources;
    return hac_explain_query(client, query, format, ret, err);
}

static void test_plans(void **state)
{
    (void)state;
    hac_query_options options = lines();
    hac_error err = HAC_ERROR_NONE;
    uint64_t sources[254] = {100, 0, 7};
    hac_planned_query query = HAC_PLANNED_QUERY_INIT;
    query.sources = sources;
    query.options = &options;
    char *text = NULL;
    assert_int_equal(explain(&query, 3, HAC_PLAN_JSON, &text, NULL), HAC_OK);
    assert_string_equal(text, "{}");
    free(text);
    assert_int_equal(explain(&query, 0, HAC_PLAN_JSON, &text, &err), HAC_INVALID);
    assert_int_equal(explain(&query, 254, HAC_PLAN_JSON, &text, &err), HAC_INVALID);
    assert_int_equal(explain(&query, 1, (hac_plan_format)3, &text, &err), HAC_INVALID);
    sources[1] = UINT64_MAX;
    assert_int_equal(explain(&query, 2, HAC_PLAN_TEXT, &text, &err), HAC_INVALID);
    hac_test_assert_says(err.message, "source 2");
    hac_simulated_capability capability = {"mapreduce.none", 1e8};
    hac_simulated_device device = {
        .size = sizeof(device), .name = "a", .capability = &capability, .n_capability = 1};
    query.n_sources = 1;
    assert_int_equal(hac_simulate_query(client, &device, 1, &query, HAC_PLAN_TEXT, &text, NULL), HAC_OK);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(test_streams),         TEST(test_streams_that_fail),
                                       TEST(test_memory),          TEST(test_options),
                                       TEST(test_bad_options),     TEST(test_files),
                                       TEST(test_what_is_no_file), TEST(test_buffer),
                                       TEST(test_refused),         TEST(test_plans),
                                       TEST(test_mark_alone)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
