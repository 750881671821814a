/* SPDX-License-Identifier: Apache-2.0 */
#include "../tests/fake_daemon.h"

#include <stdlib.h>
#include <string.h>

#include "connection/connection.h"
#include "jobs/buffers.h"

static fake_daemon *the_daemon;
static hac_client *client;

static int start(void **state)
{
    return fake_setup(state, NULL, &the_daemon, &client);
}

static int stop(void **state)
{
    return fake_teardown(state, the_daemon, client);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, start, stop)

static void keep_schema(struct ArrowSchema *schema)
{
    (void)schema;
}

static void keep_array(struct ArrowArray *array)
{
    (void)array;
}

typedef struct column {
    struct ArrowSchema schema;
    struct ArrowArray array;
    const void *buffers[2];
} column;

static void make_column(column *c, const char *format, const void *values, int64_t length, int64_t offset)
{
    *c = (column){.schema = {.format = format, .name = "", .release = keep_schema},
                  .array = {.length = length, .offset = offset, .n_buffers = 2, .release = keep_array}};
    c->buffers[1] = values;
    c->array.buffers = c->buffers;
}

static hac_status sort(column *c, hac_job **ret, hac_error *err)
{
    return hac_sort_arrow(client, &c->schema, &c->array, NULL, ret, err);
}

static void fill(int64_t *values, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        values[i] = (i * 7919) % n - n / 2;
}

/* Imports small and large columns with an offset, and exports without a copy. The export outlives the job and
 * its handle. */
static void test_round_trip(void **state)
{
    (void)state;
    const int64_t sizes[] = {0, 1, 100, 4096, 4097, 50000};
    for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
        int64_t n = sizes[s];
        int64_t *values = calloc((size_t)n + 3, sizeof(*values));
        fill(values + 3, n);
        column c;
        make_column(&c, "l", values, n, 3);
        hac_job *job = NULL;
        assert_int_equal(sort(&c, &job, NULL), HAC_OK);
        free(values);
        assert_int_equal(hac_job_wait(job, -1, NULL), HAC_OK);
        struct ArrowSchema schema, second_schema;
        struct ArrowArray array, second;
        assert_int_equal(hac_job_export_arrow(job, &schema, &array, NULL), HAC_OK);
        assert_int_equal(hac_job_export_arrow(job, &second_schema, &second, NULL), HAC_OK);
        assert_ptr_equal(array.buffers[1], hac_job_data(job));
        hac_job_free(job);
        second.release(&second);
        second_schema.release(&second_schema);
        assert_null(second.release);
        assert_null(second_schema.release);
        assert_string_equal(schema.format, "l");
        assert_int_equal(array.length, n);
        assert_int_equal(array.null_count, 0);
        assert_int_equal(array.n_buffers, 2);
        assert_null(array.buffers[0]);
        const int64_t *sorted = array.buffers[1];
        for (int64_t i = 0; i < n; i++)
            assert_int_equal(sorted[i], i - n / 2); /* a permutation: 7919 is coprime to each n */
        array.release(&array);
        schema.release(&schema);
    }
    assert_int_equal(hac_client_dispatch(client, NULL), HAC_OK); /* frees the released arrays */
    assert_true(TAILQ_EMPTY(&client->mappings.used));
}

/* The client does not copy values in pool memory if hacd can read them in place. */
static void test_in_place(void **state)
{
    (void)state;
    enum { N = 1000 };
    hac_buffer *buffer = NULL;
    assert_int_equal(hac_buffer_alloc(client, N * 8, &buffer, NULL), HAC_OK);
    fill(hac_buffer_data(buffer), N);
    hac_job *job = NULL;
    column c;
    for (int64_t offset = 0; offset <= 8; offset++) {
        make_column(&c, "l", hac_buffer_data(buffer), 100, offset);
        assert_int_equal(sort(&c, &job, NULL), HAC_OK);
        assert_int_equal(hac_job_wait(job, -1, NULL), HAC_OK);
        bool inline_result = client->mappings.used.tqh_first == buffer->mapping &&
                             TAILQ_NEXT(buffer->mapping, in_list) == NULL;
        assert_int_equal(inline_result, offset % 8 != 0); /* in place: 64-byte aligned */
        const int64_t *sorted = hac_job_data(job);
        for (int i = 1; i < 100; i++)
            assert_true(sorted[i - 1] < sorted[i]);
        hac_job_free(job);
    }
    hac_buffer_free(buffer);
}

static void assert_bad(column *c, hac_status expected)
{
    hac_job *job = NULL;
    hac_error err = HAC_ERROR_NONE;
    assert_int_equal(sort(c, &job, &err), expected);
    assert_null(job);
    assert_true(err.message[0] != '\0');
}

static void test_refused(void **state)
{
    (void)state;
    int64_t values[16] = {0};
    uint8_t valid[2] = {0xff, 0xfe}; /* item 8 is null */
    hac_job *job = NULL;
    column c;
    const char *formats[] = {"",  "b",  "u",   "U",   "z", "vu",  "+l",      "+s",
                             "n", "w:", "w:0", "w:x", "c", "tdD", "tsu:UTC", "ll"};
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
        make_column(&c, formats[i], values, 16, 0);
        assert_bad(&c, HAC_UNSUPPORTED);
    }
    make_column(&c, "l", values, -1, 0);
    assert_bad(&c, HAC_INVALID);
    make_column(&c, "l", values, 1, -1);
    assert_bad(&c, HAC_INVALID);
    make_column(&c, "l", values, INT64_MAX, 1);
    assert_bad(&c, HAC_INVALID);
    make_column(&c, "l", values, INT64_MAX / 8, 0);
    c.array.offset = INT64_MAX / 8;
    assert_bad(&c, HAC_INVALID);
    make_column(&c, "l", NULL, 16, 0);
    assert_bad(&c, HAC_INVALID);
    make_column(&c, "l", values, 16, 0);
    c.array.n_buffers = 3;
    assert_bad(&c, HAC_INVALID);
    make_column(&c, "l", values, 16, 0);
    c.array.dictionary = &c.array;
    assert_bad(&c, HAC_UNSUPPORTED);
    make_column(&c, "l", values, 16, 0);
    c.array.release = NULL;
    assert_bad(&c, HAC_INVALID);
    /* nulls, found by the count, or by the bitmap if the count is unknown */
    make_column(&c, "l", values, 16, 0);
    c.buffers[0] = valid;
    c.array.null_count = 1;
    assert_bad(&c, HAC_UNSUPPORTED);
    c.array.null_count = -1;
    assert_bad(&c, HAC_UNSUPPORTED);
    c.array.length = 8; /* the null is after the column */
    assert_int_equal(sort(&c, &job, NULL), HAC_OK);
    hac_job_free(job);
    c.array.length = 7;
    c.array.offset = 9; /* the null is before the column */
    assert_int_equal(sort(&c, &job, NULL), HAC_OK);
    hac_job_free(job);
    /* a type that differs from the options */
    hac_sort_options options = HAC_SORT_OPTIONS_INIT;
    options.type = HAC_TYPE_F64;
    assert_int_equal(hac_sort_arrow(client, &c.schema, &c.array, &options, &job, NULL), HAC_INVALID);
}

static void test_pairs(void **state)
{
    (void)state;
    const struct {
        const char *format;
        uint32_t width;
    } payloads[] = {{"c", 1},           {"S", 2},       {"e", 2},
                    {"g", 8},           {"w:12", 12},   {"d:19,10", 16},
                    {"d:40,2,256", 32}, {"tdD", 4},     {"tsu:UTC", 8},
                    {"tin", 16},        {"w:256", 256}, {"tsu:America/Argentina/Buenos_Aires", 8}};
    enum { N = 100 };
    int64_t keys[N];
    uint8_t *bytes = malloc(N * 256);
    fill(keys, N);
    memset(bytes, 'p', N * 256);
    for (size_t i = 0; i < sizeof(payloads) / sizeof(payloads[0]); i++) {
        column key, payload;
        hac_job *job = NULL;
        make_column(&key, "l", keys, N, 0);
        make_column(&payload, payloads[i].format, bytes, N, 0);
        assert_int_equal(hac_sort_arrow_pairs(client, &key.schema, &key.array, &payload.schema,
                                              &payload.array, NULL, &job, NULL),
                         HAC_OK);
        assert_int_equal(hac_job_wait(job, -1, NULL), HAC_OK);
        struct ArrowSchema schema;
        struct ArrowArray array;
        assert_int_equal(hac_job_export_arrow_payload(job, &schema, &array, NULL), HAC_OK);
        hac_job_free(job);
        assert_string_equal(schema.format, payloads[i].format);
        assert_int_equal(array.length, N);
        assert_memory_equal(array.buffers[1], bytes, N * payloads[i].width);
        schema.release(&schema);
        array.release(&array);
    }
    column key, payload;
    hac_job *job = NULL;
    make_column(&key, "l", keys, N, 0);
    make_column(&payload, "c", bytes, N - 1, 0);
    assert_int_equal(hac_sort_arrow_pairs(client, &key.schema, &key.array, &payload.schema, &payload.array,
                                          NULL, &job, NULL),
                     HAC_INVALID);
    make_column(&payload, "w:257", bytes, N, 0);
    assert_int_equal(hac_sort_arrow_pairs(client, &key.schema, &key.array, &payload.schema, &payload.array,
                                          NULL, &job, NULL),
                     HAC_INVALID);
    static const char *const no_formats[] = {"w", "w16", "d", "d9,2", "dx"};
    for (size_t i = 0; i < sizeof(no_formats) / sizeof(no_formats[0]); i++) {
        make_column(&payload, no_formats[i], bytes, N, 0);
        assert_int_equal(hac_sort_arrow_pairs(client, &key.schema, &key.array, &payload.schema,
                                              &payload.array, NULL, &job, NULL),
                         HAC_UNSUPPORTED);
    }
    free(bytes);
}

static bool no_results(fake_session *session, const Hac__Client__Request *request, hac_frame *frame)
{
    (void)frame;
    static const uint8_t zeros[64];
    if (request->what_case != HAC__CLIENT__REQUEST__WHAT_SUBMIT_SORT)
        return false;
    /* the result of an argsort of 16 i64 keys: u32 indices */
    fake_send_data(session, request->serial, 1, zeros, 64);
    return true;
}

static void test_export_types(void **state)
{
    (void)state;
    fake_daemon *other = fake_start(no_results, NULL);
    hac_client *mine = fake_connect(other);
    int64_t values[16] = {0};
    column c;
    make_column(&c, "l", values, 16, 0);
    hac_sort_options options = HAC_SORT_OPTIONS_INIT;
    options.argsort = 1;
    hac_job *job = NULL;
    struct ArrowSchema schema;
    struct ArrowArray array;
    assert_int_equal(hac_sort_arrow(mine, &c.schema, &c.array, &options, &job, NULL), HAC_OK);
    assert_int_equal(hac_job_export_arrow(job, &schema, &array, NULL), HAC_INVALID); /* not done */
    assert_int_equal(hac_job_wait(job, -1, NULL), HAC_OK);
    assert_int_equal(hac_job_export_arrow_payload(job, &schema, &array, NULL), HAC_INVALID); /* none */
    assert_int_equal(hac_job_export_arrow(job, &schema, &array, NULL), HAC_OK);
    assert_string_equal(schema.format, "I");
    assert_int_equal(array.length, 16);
    hac_job_free(job);
    hac_client_free(mine); /* allowed before the export is released */
    schema.release(&schema);
    array.release(&array);
    fake_stop(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_round_trip), TEST(test_in_place),     TEST(test_refused),
        TEST(test_pairs),      TEST(test_export_types),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
