/* SPDX-License-Identifier: Apache-2.0 */
/* Tests files with records of fixed width, which hac_query_splits sends as ranges of the file. */
#include "split_io.h"

#define MIB ((size_t)1 << 20)

static fake_daemon *the_daemon;

enum { SEEN = 256, RECORD = 12 };

static struct seen {
    bool in_file, last;
    uint64_t offset, bytes, set_bytes, before;
    uint32_t sets;
    char name[64];
} seen[SEEN];
static size_t n_seen;
static int enough_at = -1; /* number of the split, from 0; -1: never */

static bool look(fake_session *session, const Hac__Client__Request *request, hac_frame *frame)
{
    (void)frame;
    if (request->what_case != HAC__CLIENT__REQUEST__WHAT_APPEND_SPLIT)
        return false;
    const Hac__Client__AppendSplit *ask = request->append_split;
    assert_true(n_seen < SEEN);
    struct seen *to = &seen[n_seen++];
    *to = (struct seen){.in_file = ask->in_file,
                        .last = ask->last,
                        .offset = ask->offset,
                        .bytes = ask->bytes,
                        .set_bytes = ask->set_bytes,
                        .before = ask->bytes_before,
                        .sets = ask->sets};
    snprintf(to->name, sizeof(to->name), "%s", ask->name);
    if (enough_at < 0 || (int)n_seen <= enough_at)
        return false;
    fake_send_split_done(session, request->serial, ask->job, n_seen - 1, NULL, 0, true);
    if (ask->last)
        fake_end_job(session, ask->job, NULL);
    return true;
}

static int start(void **state)
{
    n_seen = 0;
    enough_at = -1;
    return fake_setup(state, look, &the_daemon, &client);
}

static int stop(void **state)
{
    return fake_teardown(state, the_daemon, client);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, start, stop)

static uint8_t *some_bytes(size_t n)
{
    uint8_t *data = malloc(n);
    assert_non_null(data);
    for (size_t i = 0; i < n; i++)
        data[i] = (uint8_t)(i * 2654435761u >> 13);
    return data;
}

static hac_splits splits_in(const source *sources, size_t n, hac_query_options *options, bool rows)
{
    *options = query(HAC_INPUT_FIXED);
    options->schema = "a:u32,b:f64";
    options->group_by = rows ? NULL : "a";
    hac_splits splits = splits_of(sources, n);
    return splits;
}

static void gives(const hac_splits *splits, const hac_query_options *options, const uint8_t *data,
                  size_t bytes)
{
    hac_job *job = NULL;
    n_seen = 0;
    run_ok(splits, options, &job);
    if (options->group_by == NULL) {
        assert_int_equal(io.n_written, bytes);
        assert_memory_equal(io.written, data, bytes);
    } else {
        assert_int_equal(hac_job_bytes(job), bytes);
        assert_memory_equal(hac_job_data(job), data, bytes);
    }
    hac_job_free(job);
}

/* The ranges cover each byte once, in order. All sets have the same size, wherever splits end. Splits have
 * hacd's preferred size, or the size in the options. */
static void test_ranges(void **state)
{
    (void)state;
    static const struct {
        bool rows;
        size_t advised, asked, wanted; /* sizes of a split */
    } cases[] = {{false, 0, 0, 32}, {false, 4, 0, 16}, {true, 4, 0, 4}, {false, 4, 3, 3}, {true, 4, 3, 3}};
    const size_t bytes = 36 * MIB / RECORD * RECORD, set = MIB / RECORD * RECORD;
    uint8_t *data = some_bytes(bytes);
    const source in[] = {{NULL, data, bytes, -1}};
    for (size_t k = 0; k < sizeof(cases) / sizeof(*cases); k++) {
        hac_query_options options;
        hac_splits splits = splits_in(in, 1, &options, cases[k].rows);
        fake_advise(the_daemon, cases[k].advised * MIB);
        splits.split_bytes = cases[k].asked * MIB;
        gives(&splits, &options, data, bytes);
        uint64_t at = 0;
        for (size_t i = 0; i < n_seen; i++) {
            assert_true(seen[i].in_file && seen[i].last == (i + 1 == n_seen));
            assert_int_equal(seen[i].offset, at);
            assert_int_equal(seen[i].before, at);
            assert_int_equal(seen[i].set_bytes, seen[i].bytes < set ? seen[i].bytes : set);
            assert_true(seen[i].last || seen[i].sets == cases[k].wanted);
            assert_string_equal(seen[i].name, "in0");
            at += seen[i].bytes;
        }
    }
    free(data);
}

/* A shared open file is read from its current offset, and the offset is at the end afterwards. */
static void test_place(void **state)
{
    (void)state;
    const size_t bytes = 3 * MIB / RECORD * RECORD, skipped = 2 * RECORD;
    uint8_t *data = some_bytes(bytes);
    int fd = hac_test_file(data, bytes), other = dup(fd);
    assert_int_equal(lseek(fd, (off_t)skipped, SEEK_SET), skipped);
    const source in[] = {{NULL, NULL, 0, fd}};
    hac_query_options options;
    hac_splits splits = splits_in(in, 1, &options, false);
    gives(&splits, &options, data + skipped, bytes - skipped);
    assert_true(n_seen == 1 && seen[0].in_file);
    assert_int_equal(seen[0].offset, skipped);
    assert_int_equal(seen[0].before, 0);
    assert_int_equal(lseek(other, 0, SEEK_CUR), bytes);
    close(other);
    free(data);
}

/* Ranges mixed with small files, streams, and files with the name of a compressed file. The client reads
 * these inputs itself. */
static void test_mixed(void **state)
{
    (void)state;
    const size_t bytes = 4 * MIB / RECORD * RECORD, small = 1000 * RECORD;
    uint8_t *data = some_bytes(bytes);
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], data, small), small);
    close(ends[1]);
    const source in[] = {
        {NULL, data, small, -1}, {NULL, data, bytes, -1}, {NULL, NULL, 0, ends[0]}, {NULL, data, bytes, -1}};
    hac_query_options options;
    hac_splits splits = splits_in(in, 4, &options, true);
    uint8_t *all = malloc(2 * (bytes + small));
    assert_non_null(all);
    for (size_t i = 0; i < 2; i++) {
        memcpy(all + i * (bytes + small), data, small);
        memcpy(all + i * (bytes + small) + small, data, bytes);
    }
    gives(&splits, &options, all, 2 * (bytes + small));
    assert_int_equal(n_seen, 4);
    for (size_t i = 0; i < 4; i++)
        assert_true(seen[i].in_file == (i % 2 == 1) && seen[i].name[2] == (char)('0' + i));
    static const char *const names[] = {"in.gz"};
    const source packed[] = {{NULL, data, bytes, -1}};
    splits = splits_in(packed, 1, &options, true);
    io.names = names;
    run_fails(&splits, &options, HAC_FAILED, "in.gz: is neither gzip nor zstd");
    free(all);
    free(data);
}

/* A file that ends within a record: its whole records count, and the file fails. */
static void test_ragged(void **state)
{
    (void)state;
    const size_t bytes = 2 * MIB / RECORD * RECORD + 5;
    uint8_t *data = some_bytes(bytes);
    const source in[] = {{NULL, data, bytes, -1}, {NULL, data, bytes - 5, -1}};
    hac_query_options options;
    hac_splits splits = splits_in(in, 2, &options, true);
    run_fails(&splits, &options, HAC_FAILED, "in0: 2097149 bytes are no whole number of records of 12 bytes");
    assert_int_equal(io.n_written, bytes - 5);
    assert_memory_equal(io.written, data, bytes - 5);
    assert_true(n_seen >= 1 && !seen[0].last);
    free(data);
}

static void test_enough(void **state)
{
    (void)state;
    const size_t bytes = 30 * MIB / RECORD * RECORD;
    uint8_t *data = some_bytes(bytes);
    const source in[] = {{NULL, data, bytes, -1}, {"/nowhere", NULL, 0, -1}};
    hac_query_options options;
    hac_splits splits = splits_in(in, 2, &options, true);
    enough_at = 2;
    splits.split_bytes = MIB;
    hac_job *job = NULL;
    run_ok(&splits, &options, &job);
    hac_job_free(job);
    assert_true(n_seen < 12);
    free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_ranges), TEST(test_place), TEST(test_mixed), TEST(test_ragged), TEST(test_enough),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    free(io.written);
    return failed;
}
