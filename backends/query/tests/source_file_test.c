/* SPDX-License-Identifier: Apache-2.0 */
/* Files that fail, counts of quotes, and the names of rows' places. */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/memfd.h"
#include "base/random.h"
#include "source_support.h"

static int make_file(const char *text, size_t bytes)
{
    int fd = -1;
    assert_int_equal(hac_memfd_create("source", bytes, false, &fd, NULL), HAC_OK);
    assert_int_equal(pwrite(fd, text, bytes, 0), bytes);
    return fd;
}

static const hac_input_format text_formats[] = {HAC_INPUT_CSV,   HAC_INPUT_TSV, HAC_INPUT_LINES,
                                                HAC_INPUT_WORDS, HAC_INPUT_KV,  HAC_INPUT_JSONL};

/* A file that has become shorter, or was never readable, is an error, never a shorter result. */
static void test_truncated_files(void **state)
{
    (void)state;
    for (size_t f = 0; f < sizeof text_formats / sizeof *text_formats; f++) {
        test_query q;
        hac_error err = HAC_ERROR_NONE;
        hac_source *source = NULL;
        hac_batch batch;
        test_query_make(&q, text_formats[f], false, "x:string");
        q.query.source.options.skip_errors = true;
        hac_autoclose int fd = make_file("1\n2\n", 4);
        hac_source_place place = {.fd = fd, .bytes = 5};
        hac_status status = hac_source_open(&q.query, &place, NULL, &source, &err);
        if (status == HAC_OK)
            status = hac_source_begin(source, 0, 5, false, &err);
        if (status == HAC_OK)
            status = hac_source_next(source, &batch, &err);
        assert_int_equal(status, HAC_FAILED);
        assert_string_equal(err.message,
                            "the input ended after 4 of 5 bytes: it was truncated while it was read");
        hac_source_free(source);
    }
}

static void test_unreadable_descriptors(void **state)
{
    (void)state;
    int pipe_fds[2];
    assert_int_equal(pipe(pipe_fds), 0);
    hac_autoclose int directory = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const int fds[] = {pipe_fds[0], directory, 12345};
    for (size_t i = 0; i < 3; i++) {
        test_query q;
        hac_error err = HAC_ERROR_NONE;
        hac_source *source = NULL;
        hac_source_place place = {.fd = fds[i], .bytes = 100};
        uint64_t quotes;
        test_query_make(&q, HAC_INPUT_CSV, true, "x:string");
        assert_int_equal(hac_source_open(&q.query, &place, NULL, &source, &err), HAC_FAILED);
        assert_non_null(strstr(err.message, "the input cannot be read at byte 0: "));
        assert_int_equal(hac_source_quotes(&place, 0, 100, &quotes, &err), HAC_FAILED);
    }
    close(pipe_fds[0]);
    close(pipe_fds[1]);
}

static void test_quotes(void **state)
{
    (void)state;
    const size_t bytes = 700001;
    hac_autofree char *text = malloc(bytes);
    uint64_t seed = 71;
    for (size_t i = 0; i < bytes; i++)
        text[i] = hac_random_u64(&seed) % 3 == 0 ? '"' : 'x';
    hac_autoclose int fd = make_file(text, bytes);
    for (int round = 0; round < 40; round++) {
        uint64_t first = hac_random_u64(&seed) % bytes, end = hac_random_u64(&seed) % (bytes + 1000),
                 wanted = 0, got;
        for (uint64_t i = first; i < end && i < bytes; i++)
            wanted += text[i] == '"';
        hac_source_place place = {.fd = round % 2 ? fd : -1, .memory = (uint8_t *)text, .bytes = bytes};
        assert_int_equal(hac_source_quotes(&place, first, end, &got, NULL), HAC_OK);
        assert_int_equal(got, wanted);
    }
}

static void check_where(hac_input_format format, const char *text, size_t bytes, const char *const *wanted,
                        size_t n)
{
    test_query q;
    hac_source *source = NULL;
    hac_batch batch;
    char where[32];
    test_query_make(&q, format, false, format == HAC_INPUT_FIXED ? "x:u8" : "x:string");
    q.query.source.options.skip_errors = true;
    hac_source_place place = {.fd = -1, .memory = (const uint8_t *)text, .bytes = bytes};
    assert_int_equal(hac_source_open(&q.query, &place, NULL, &source, NULL), HAC_OK);
    assert_int_equal(hac_source_begin(source, 0, bytes, false, NULL), HAC_OK);
    assert_int_equal(hac_source_next(source, &batch, NULL), HAC_OK);
    assert_int_equal(batch.rows, n);
    for (size_t r = 0; r < n; r++) {
        hac_source_where(source, r, where);
        assert_string_equal(where, wanted[r]);
    }
    hac_source_free(source);
}

static void test_where(void **state)
{
    (void)state;
    static const char *const lines[] = {"line 1", "line 3", "line 5"};
    check_where(HAC_INPUT_CSV, "a\na,b\n\"\n\"\nc", 11, lines, 3);
    check_where(HAC_INPUT_JSONL, "{}\nx\n{}\n\n{}", 11, lines, 3);
    check_where(HAC_INPUT_WORDS, "a\n\nb\n\n c ", 9, lines, 3);
    check_where(HAC_INPUT_FIXED, "ab", 2, (const char *const[]){"record 1", "record 2"}, 2);
}

/* Chunks are independent: begun again, out of order, or after an error. */
static void test_begin_again(void **state)
{
    (void)state;
    test_query q;
    hac_source *source = NULL;
    hac_batch batch;
    test_query_make(&q, HAC_INPUT_CSV, false, "x:i64");
    hac_source_place place = {.fd = -1, .memory = (const uint8_t *)"1\n2\nx,x\n4\n", .bytes = 10};
    assert_int_equal(hac_source_open(&q.query, &place, NULL, &source, NULL), HAC_OK);
    assert_int_equal(hac_source_next(source, &batch, NULL), HAC_NOT_FOUND); /* no chunk was begun */
    for (int round = 0; round < 3; round++) {
        assert_int_equal(hac_source_begin(source, 2, 10, false, NULL), HAC_OK);
        assert_int_equal(hac_source_next(source, &batch, NULL), HAC_OK);
        assert_int_equal(((int64_t *)batch.columns->values)[0], 2);
        assert_int_equal(hac_source_next(source, &batch, NULL), HAC_FAILED);
        assert_int_equal(hac_source_next(source, &batch, NULL), HAC_FAILED);
        assert_int_equal(hac_source_begin(source, 8, 100, false, NULL), HAC_OK);
        assert_int_equal(hac_source_next(source, &batch, NULL), HAC_OK);
        assert_int_equal(((int64_t *)batch.columns->values)[0], 4);
        assert_int_equal(hac_source_next(source, &batch, NULL), HAC_NOT_FOUND);
        assert_int_equal(hac_source_next(source, &batch, NULL), HAC_NOT_FOUND);
        assert_int_equal(hac_source_begin(source, 10, 100, false, NULL), HAC_OK);
        assert_int_equal(hac_source_next(source, &batch, NULL), HAC_NOT_FOUND);
    }
    hac_source_free(source);
    hac_source_free(NULL);
}

static void test_bad_queries(void **state)
{
    (void)state;
    test_query q;
    hac_error err = HAC_ERROR_NONE;
    hac_source *source = NULL;
    hac_source_place place = {.fd = -1, .memory = (const uint8_t *)"", .bytes = 0};
    test_query_make(&q, HAC_INPUT_NONE, false, "x:i64");
    assert_int_equal(hac_source_open(&q.query, &place, NULL, &source, &err), HAC_INVALID);
    test_query_make(&q, HAC_INPUT_END, false, "x:i64");
    assert_int_equal(hac_source_open(&q.query, &place, NULL, &source, &err), HAC_INVALID);
    test_query_make(&q, HAC_INPUT_TABLE, false, "x:i64");
    assert_int_equal(hac_source_open(&q.query, &place, NULL, &source, &err), HAC_INVALID);
    test_query_make(&q, HAC_INPUT_CSV, false, "x:i64");
    q.fields[0].type.kind = HAC_KIND_NONE;
    assert_int_equal(hac_source_open(&q.query, &place, NULL, &source, &err), HAC_INVALID);
    test_query_make(&q, HAC_INPUT_CSV, false, "x:i64");
    q.positions[0] = 1;
    assert_int_equal(hac_source_open(&q.query, &place, NULL, &source, &err), HAC_INVALID);
    assert_null(source);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_truncated_files), cmocka_unit_test(test_unreadable_descriptors),
        cmocka_unit_test(test_quotes),          cmocka_unit_test(test_where),
        cmocka_unit_test(test_begin_again),     cmocka_unit_test(test_bad_queries),
    };
    return cmocka_run_group_tests(tests, hac_test_fds_setup, hac_test_fds_teardown);
}
