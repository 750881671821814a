/* SPDX-License-Identifier: Apache-2.0 */
/* Tests hac_query_splits with the fake daemon, which returns the records of every split. */
#include "split_io.h"

#include <assert.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>
#include <zlib.h>

static fake_daemon *the_daemon;

/* ---- the daemon's hook ---- */

enum { HOLD = 4, SEEN = 512 };

static struct daemon_state {
    unsigned splits;
    char names[SEEN][64];
    uint64_t lines[SEEN], sets[SEEN], header[SEEN];
    bool last[SEEN], data[SEEN];
    /* set by the test */
    int fail_at, hang_up_at, enough_at, wrong_at; /* number of the split, from 0; -1: never */
    bool hold;                                    /* answers after HOLD splits, when no more arrive */
    uint64_t held[2 * HOLD];
    size_t n_held, max_held;
    unsigned buffers; /* number of available buffers; 0: no limit */
    uint64_t max_bytes;
    unsigned in_use;
    unsigned refusals; /* number of requests for memory to refuse temporarily */
    bool ends_it;      /* the last of these refusals ends the job */
    char name[64];
} daemon_is;

static void note_split(fake_session *session, const Hac__Client__AppendSplit *ask)
{
    unsigned at = daemon_is.splits < SEEN ? daemon_is.splits : SEEN - 1;
    snprintf(daemon_is.names[at], sizeof(daemon_is.names[at]), "%s", ask->name);
    daemon_is.last[at] = ask->last;
    daemon_is.data[at] = ask->buffer != 0;
    if (ask->buffer != 0) {
        fake_split split = fake_read_split(session->daemon, ask);
        daemon_is.lines[at] = split.header.lines_before;
        daemon_is.sets[at] = split.header.n_sets;
        daemon_is.header[at] = split.header.header_bytes;
        free(split.memory);
    }
    if (fake_in_use(session->daemon) > daemon_is.in_use)
        daemon_is.in_use = fake_in_use(session->daemon);
    daemon_is.splits++;
}

/* Answers the held splits when no more arrive. The client never has more than HOLD splits in flight. */
static void answer_held(fake_session *session, uint64_t id, bool last)
{
    struct pollfd p = {session->socket, POLLIN, 0};
    if (!last && (daemon_is.n_held < HOLD || poll(&p, 1, 5) > 0))
        return;
    fake_job *job = fake_find_job(session->daemon, id);
    for (size_t i = 0; i < daemon_is.n_held; i++)
        fake_send_split_done(session, daemon_is.held[i], id, job->n_splits++, NULL, 0, false);
    daemon_is.n_held = 0;
    if (last)
        fake_end_job(session, id, NULL);
}

static bool hold_back(fake_session *session, const Hac__Client__Request *request)
{
    assert(daemon_is.n_held < 2 * HOLD);
    daemon_is.held[daemon_is.n_held++] = request->serial;
    if (daemon_is.n_held > daemon_is.max_held)
        daemon_is.max_held = daemon_is.n_held;
    answer_held(session, request->append_split->job, request->append_split->last);
    return true;
}

static bool misbehave(fake_session *session, const Hac__Client__Request *request)
{
    int at = (int)daemon_is.splits - 1;
    uint64_t job = request->append_split->job;
    if (at == daemon_is.hang_up_at) {
        session->hang_up = true;
        return true;
    }
    if (at == daemon_is.wrong_at) {
        fake_send_split_done(session, request->serial, job, 77, NULL, 0, false);
        return true;
    }
    if (daemon_is.enough_at >= 0 && at >= daemon_is.enough_at) {
        fake_send_split_done(session, request->serial, job, (uint64_t)at, "enough\n",
                             at == daemon_is.enough_at ? 7 : 0, true);
        if (request->append_split->last)
            fake_end_job(session, job, NULL);
        return true;
    }
    if (daemon_is.fail_at >= 0 && at >= daemon_is.fail_at) {
        if (at == daemon_is.fail_at && at % 2 == 0) /* tests both orders */
            fake_end_job(session, job, "line 7: no number");
        fake_send_failure(session, request->serial, HAC_NOT_FOUND, "the job has ended");
        if (at == daemon_is.fail_at && at % 2 == 1)
            fake_end_job(session, job, "line 7: no number");
        return true;
    }
    return daemon_is.hold && hold_back(session, request);
}

static bool look(fake_session *session, const Hac__Client__Request *request, hac_frame *frame)
{
    switch (request->what_case) {
    case HAC__CLIENT__REQUEST__WHAT_SUBMIT_QUERY:
        snprintf(daemon_is.name, sizeof(daemon_is.name), "%s", request->submit_query->name);
        return false;
    case HAC__CLIENT__REQUEST__WHAT_BUFFER_ALLOC:
        if (daemon_is.refusals > 0 && request->buffer_alloc->job != 0) {
            daemon_is.refusals--;
            fake_send_refusal(session, request->serial, HAC_REFUSED, "others have it", 0.1);
            if (daemon_is.refusals == 0 && daemon_is.ends_it)
                fake_end_job(session, request->buffer_alloc->job, "the deadline has passed");
            return true;
        }
        if ((daemon_is.buffers == 0 || fake_in_use(session->daemon) < daemon_is.buffers) &&
            (daemon_is.max_bytes == 0 || request->buffer_alloc->bytes <= daemon_is.max_bytes)) {
            fake_default(session, request, frame);
            answer_held(session, 1, false);
            return true;
        }
        fake_send_failure(session, request->serial, HAC_REFUSED, "over quota");
        return true;
    case HAC__CLIENT__REQUEST__WHAT_APPEND_SPLIT:
        note_split(session, request->append_split);
        return misbehave(session, request);
    default:
        return false;
    }
}

static int start(void **state)
{
    memset(&daemon_is, 0, sizeof(daemon_is));
    daemon_is.fail_at = daemon_is.hang_up_at = daemon_is.enough_at = daemon_is.wrong_at = -1;
    return fake_setup(state, look, &the_daemon, &client);
}

static int stop(void **state)
{
    return fake_teardown(state, the_daemon, client);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, start, stop)

/* ---- inputs ---- */

static char *numbers(size_t lines, const char *header, size_t *ret_bytes)
{
    size_t capacity = lines * 24 + 64, n = (size_t)snprintf(NULL, 0, "%s", header);
    char *text = malloc(capacity);
    assert_non_null(text);
    memcpy(text, header, n);
    for (size_t i = 0; i < lines; i++)
        n += (size_t)snprintf(text + n, capacity - n, "%zu,\"x\n%zu\"\n", i, i * i % 97);
    *ret_bytes = n;
    return text;
}

/* ---- results ---- */

static void test_rows(void **state)
{
    (void)state;
    size_t bytes;
    char *text = numbers(40000, "a,b\n", &bytes);
    const source in[] = {{NULL, text, bytes, -1}};
    hac_splits splits = splits_of(in, 1);
    hac_query_options options = query(HAC_INPUT_CSV);
    splits.split_bytes = 50000;
    run_rows(&splits, &options);
    assert_int_equal(io.n_written, bytes - 4);
    assert_memory_equal(io.written, text + 4, bytes - 4);
    assert_string_equal(daemon_is.name, "all of it");
    assert_true(daemon_is.splits > 5 && daemon_is.last[daemon_is.splits - 1]);
    assert_int_equal(daemon_is.lines[0], 1);
    for (size_t i = 0; i < daemon_is.splits; i++) {
        assert_int_equal(daemon_is.header[i], 4);
        assert_string_equal(daemon_is.names[i], "in0");
        assert_int_equal(daemon_is.lines[i] % 2, 1); /* two lines for each record */
    }
    assert_true(daemon_is.in_use <= 6 + 4); /* buffers of splits and of rows */
    free(text);
}

static void test_aggregates(void **state)
{
    (void)state;
    size_t bytes;
    char *text = numbers(20000, "a,b\n", &bytes);
    const source in[] = {{NULL, text, bytes, -1}, {NULL, "b,a\n9,9\n", 8, -1}};
    hac_splits splits = splits_of(in, 2);
    hac_query_options options = query(HAC_INPUT_CSV);
    hac_job *job = NULL;
    options.group_by = "a";
    splits.write = NULL;
    splits.split_bytes = 30000;
    run_ok(&splits, &options, &job);
    assert_int_equal(hac_job_bytes(job), bytes);
    assert_memory_equal(hac_job_data(job), text + 4, bytes - 4);
    assert_memory_equal((const char *)hac_job_data(job) + bytes - 4, "9,9\n", 4);
    assert_string_equal(daemon_is.names[daemon_is.splits - 1], "in1");
    assert_int_equal(daemon_is.lines[daemon_is.splits - 1], 1);
    hac_job_free(job);
    free(text);
}

static void test_small_inputs(void **state)
{
    (void)state;
    const source in[] = {{NULL, "", 0, -1},
                         {NULL, "a\n", 2, -1},
                         {NULL, "a\r\n1\r\n", 6, -1},
                         {NULL, "", 0, -1},
                         {NULL, "a\n2", 3, -1},
                         {"/dev/null", NULL, 0, -1},
                         {NULL,
                          "\xef\xbb\xbf"
                          "a\n3\n",
                          7, -1},
                         {NULL, "", 0, -1}};
    hac_splits splits = splits_of(in, sizeof(in) / sizeof(in[0]));
    hac_query_options options = query(HAC_INPUT_CSV);
    run_rows(&splits, &options);
    assert_written("1\r\n23\n");
    assert_int_equal(daemon_is.splits, 5); /* with the second input's header and the end */
    assert_true(daemon_is.sets[0] == 0 && daemon_is.data[0] && !daemon_is.data[4] && daemon_is.last[4]);
    const source nothing[] = {{"/dev/null", NULL, 0, -1}};
    daemon_is.splits = 0;
    splits = splits_of(nothing, 1);
    run_rows(&splits, &options);
    assert_int_equal(io.n_written, 0);
    assert_true(daemon_is.splits == 1 && !daemon_is.data[0] && daemon_is.last[0]);
}

static void test_long_records(void **state)
{
    (void)state;
    size_t n = 3000000;
    char *text = malloc(n);
    assert_non_null(text);
    memset(text, 'x', n);
    text[10] = text[2500000] = text[2500010] = text[n - 1] = '\n';
    const source in[] = {{NULL, text, n, -1}, {NULL, text, 11, -1}};
    for (uint64_t bytes = 4096; bytes <= 1 << 20; bytes *= 16) {
        hac_splits splits = splits_of(in, 2);
        hac_query_options options = query(HAC_INPUT_LINES);
        splits.split_bytes = bytes;
        run_rows(&splits, &options);
        assert_int_equal(io.n_written, n + 11);
        assert_memory_equal(io.written, text, n);
    }
    free(text);
}

/* A header that fills the buffer to the last byte leaves no space for the first record. */
static void test_header_fills(void **state)
{
    (void)state;
    const char *text = "aa,bbbb\n1,2\n33,4\n";
    const source in[] = {{NULL, text, strlen(text), -1}};
    for (uint64_t bytes = 1; bytes <= 16; bytes++) {
        hac_splits splits = splits_of(in, 1);
        hac_query_options options = query(HAC_INPUT_CSV);
        splits.split_bytes = bytes;
        run_rows(&splits, &options);
        assert_written("1,2\n33,4\n");
    }
}

/* Longer and longer records, while all other buffers are in flight. The buffers come back, and no record is
 * lost. */
static void test_longer_records(void **state)
{
    (void)state;
    const size_t step = 40000, records = 8, few = 20000,
                 n = records * (records + 1) / 2 * step + few * records;
    char *text = malloc(n), *to = text;
    assert_non_null(text);
    for (size_t i = 1; i <= records; i++, to += few) {
        memset(to, 'x', i * step);
        to[i * step - 1] = '\n';
        to += i * step;
        memset(to, '\n', few);
    }
    const source in[] = {{NULL, text, n, -1}};
    hac_splits splits = splits_of(in, 1);
    hac_query_options options = query(HAC_INPUT_LINES);
    options.group_by = "line";
    splits.split_bytes = 4096;
    daemon_is.hold = true;
    hac_job *job = NULL;
    run_ok(&splits, &options, &job);
    hac_job_free(job);
    assert_int_equal(daemon_is.max_held, HOLD);
    free(text);
}

static void test_compressed(void **state)
{
    (void)state;
    static uint8_t packed[1000];
    z_stream z = {0};
    deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
    z.next_in = (Bytef *)(uintptr_t) "one\ntwo\n";
    z.avail_in = 8;
    z.next_out = packed;
    z.avail_out = sizeof(packed);
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    deflateEnd(&z);
    size_t n = sizeof(packed) - z.avail_out;
    const source in[] = {{NULL, packed, n, -1}, {NULL, "three\n", 6, -1}, {NULL, packed, n - 1, -1}};
    hac_splits splits = splits_of(in, 2);
    hac_query_options options = query(HAC_INPUT_LINES);
    run_rows(&splits, &options);
    assert_written("one\ntwo\nthree\n");
    splits = splits_of(in, 1);
    splits.uncompressed = 1;
    run_rows(&splits, &options);
    assert_int_equal(io.n_written, n);
    const source twice[] = {in[0], in[0]};
    splits = splits_of(twice, 2);
    splits.uncompressed = 2;
    io.names = (const char *const[]){"a.bin", "b.bin.Gz"};
    run_rows(&splits, &options);
    assert_int_equal(io.n_written, n + 8);
    assert_memory_equal(io.written + n, "one\ntwo\n", 8);
    splits = splits_of(in, 3);
    run_fails(&splits, &options, HAC_FAILED, "in2: the gzip data are cut off");
    /* the same for hac_query_stream */
    int fd = hac_test_file(packed, n);
    hac_job *job = NULL;
    lseek(fd, 0, SEEK_SET);
    assert_int_equal(hac_query_stream(client, fd, "x.gz", &options, &job, NULL), HAC_OK);
    assert_int_equal(hac_job_wait(job, -1, NULL), HAC_OK);
    assert_int_equal(hac_job_bytes(job), 8);
    assert_memory_equal(hac_job_data(job), "one\ntwo\n", 8);
    hac_job_free(job);
    close(fd);
}

static void test_bad_records(void **state)
{
    (void)state;
    const source in[] = {{NULL, "12345678", 8, -1}, {NULL, "123456789", 9, -1}};
    hac_splits splits = splits_of(in, 2);
    hac_query_options options = query(HAC_INPUT_FIXED);
    options.schema = "a:u32";
    run_fails(&splits, &options, HAC_FAILED, "in1: 9 bytes are no whole number of records of 4 bytes");
    splits = splits_of(in, 2);
    options = query(HAC_INPUT_TYPEDBYTES);
    run_fails(&splits, &options, HAC_FAILED, "in0: record 1, at byte 0: 49 at byte 0 is no type");
}

/* Rows before a failure of an input are written, including the rows of that input's whole records. */
static void test_rows_before_bad_inputs(void **state)
{
    (void)state;
    const char *gzip = "\x1f\x8b\x08\0\0\0\0\0\0\xff" /* a stored block with "two\nthr", truncated */
                       "\0\7\0\xf8\xfftwo\nthr";
    const source lines[] = {
        {NULL, "one\n", 4, -1}, {NULL, gzip, 22, -1}, {NULL, "no more\n", 8, -1}, {"/nowhere", NULL, 0, -1}};
    const source fixed[] = {{NULL, "12345678", 8, -1}, {NULL, "abcdefghi", 9, -1}};
    const source typed[] = {{NULL, "\1a\1b", 4, -1}, {NULL, "\1c\1d\x0b", 5, -1}};
    hac_query_options options = query(HAC_INPUT_LINES);
    hac_splits splits = splits_of(lines, 3);
    run_fails(&splits, &options, HAC_FAILED, "in1: the gzip data are cut off");
    assert_written("one\ntwo\n");
    splits = splits_of(lines + 2, 2);
    run_fails(&splits, &options, HAC_FAILED, "cannot open /nowhere");
    assert_written("no more\n");
    options = query(HAC_INPUT_FIXED);
    options.schema = "a:u32";
    splits = splits_of(fixed, 2);
    run_fails(&splits, &options, HAC_FAILED, "in1: 9 bytes are no whole number of records of 4 bytes");
    assert_written("12345678abcdefgh");
    options = query(HAC_INPUT_TYPEDBYTES);
    splits = splits_of(typed, 2);
    run_fails(&splits, &options, HAC_FAILED, "in1: record 2, at byte 4: 11 at byte 4 is no type");
    assert_written("\1a\1b\1c\1d");
}

/* hacd reports a failure of earlier records, or that it needs no more splits, before an input fails. */
static void test_before_bad_inputs(void **state)
{
    (void)state;
    const source in[] = {{NULL, "a\nb\n", 4, -1}, {"/nowhere", NULL, 0, -1}};
    hac_query_options options = query(HAC_INPUT_LINES);
    hac_splits splits = splits_of(in, 2);
    daemon_is.enough_at = 0;
    run_rows(&splits, &options);
    assert_written("enough\n");
    daemon_is.enough_at = -1;
    for (int at = 0; at < 2; at++) {
        splits = splits_of(in, 2);
        splits.split_bytes = 1;
        daemon_is.splits = 0;
        daemon_is.fail_at = at;
        run_fails(&splits, &options, HAC_FAILED, "line 7: no number");
    }
}

/* ---- timing ---- */

static int pipe_in; /* the write end */

static void write_more(void)
{
    if (io.writes == 1) {
        assert_written("one\n");
        assert_int_equal(write(pipe_in, "ee\n", 3), 3);
    } else {
        close(pipe_in);
    }
}

/* The test writes the second piece after the rows of the first piece arrive. Without an early end of the
 * split, no rows would arrive. */
static void test_early(void **state)
{
    (void)state;
    int ends[2];
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    const source in[] = {{NULL, NULL, 0, ends[0]}};
    hac_splits splits = splits_of(in, 1);
    hac_query_options options = query(HAC_INPUT_LINES);
    options.select = "upper(line), '(sum(' as \"max(\"";
    pipe_in = ends[1];
    io.on_write = write_more;
    assert_int_equal(write(pipe_in, "one\nthr", 7), 7);
    run_rows(&splits, &options);
    assert_written("one\nthree\n");
}

static void *write_slowly(void *context)
{
    int fd = *(int *)context;
    for (int i = 0; i < 4; i++) {
        assert_int_equal(write(fd, "a\nb\n", 4), 4);
        poll(NULL, 0, 30);
    }
    close(fd);
    return NULL;
}

/* The sets of an aggregation must not depend on pauses of the input. */
static void test_no_early_end(void **state)
{
    (void)state;
    static const char *const selects[] = {"count(line)", "1 + Count (line)", "upper(first(line)) as x"};
    for (size_t i = 0; i < 3; i++) {
        int ends[2];
        pthread_t thread;
        assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
        const source in[] = {{NULL, NULL, 0, ends[0]}};
        hac_splits splits = splits_of(in, 1);
        hac_query_options options = query(HAC_INPUT_LINES);
        options.select = selects[i];
        daemon_is.splits = 0;
        assert_int_equal(pthread_create(&thread, NULL, write_slowly, &ends[1]), 0);
        hac_job *job = NULL;
        run_ok(&splits, &options, &job);
        hac_job_free(job);
        pthread_join(thread, NULL);
        assert_int_equal(daemon_is.splits, 1);
    }
}

static void test_back_pressure(void **state)
{
    (void)state;
    size_t bytes;
    char *text = numbers(50000, "", &bytes);
    const source in[] = {{NULL, text, bytes, -1}};
    hac_splits splits = splits_of(in, 1);
    hac_query_options options = query(HAC_INPUT_CSV);
    options.input_options.no_header = 1;
    options.schema = "a:i64,b:i64";
    options.group_by = "a";
    splits.split_bytes = 20000;
    daemon_is.hold = true;
    hac_job *job = NULL;
    run_ok(&splits, &options, &job);
    hac_job_free(job);
    assert_int_equal(daemon_is.max_held, HOLD);
    assert_true(daemon_is.splits > 20 && daemon_is.in_use <= HOLD + 1);
    free(text);
}

/* Checks the number of sets in each split. The first splits are small; later splits have hacd's preferred
 * size. */
static void test_advice(void **state)
{
    (void)state;
    static const struct {
        uint64_t advised, memory, split;
        uint32_t max; /* sets */
    } cases[] = {
        {0, 0, 0, 32},
        {4 << 20, 0, 0, 4},
        {UINT64_MAX, 0, 0, 32},
        {1, 0, 0, 1},
        {4 << 20, 32 << 20, 0, 2},
        {32 << 20, 48 << 20, 0, 3},
        {4 << 20, 0, 3 << 20, 0},
    };
    const size_t bytes = (size_t)70 << 20;
    char *data = calloc(1, bytes);
    assert_non_null(data);
    const source in[] = {{NULL, data, bytes, -1}};
    for (size_t i = 0; i < bytes; i += 1 << 20) /* a record a set */
        memcpy(data + i, &(uint32_t){(1 << 20) - 4}, 4);
    hac_query_options options = query(HAC_INPUT_LENGTHS);
    options.group_by = "record";
    for (size_t k = 0; k < sizeof(cases) / sizeof(*cases); k++) {
        hac_splits splits = splits_of(in, 1);
        fake_advise(the_daemon, cases[k].advised);
        options.job.memory_limit = cases[k].memory;
        splits.split_bytes = cases[k].split;
        daemon_is.splits = 0;
        hac_job *job = NULL;
        run_ok(&splits, &options, &job);
        hac_job_free(job);
        for (uint32_t i = 0, sets = 1; i + 1 < daemon_is.splits && cases[k].max > 0; i++) {
            assert_int_equal(daemon_is.sets[i], sets);
            sets = 2 * sets < cases[k].max ? 2 * sets : cases[k].max;
        }
        if (cases[k].max == 0)
            assert_int_equal(daemon_is.sets[0], 2); /* where a set ends, the next record shows */
    }
    free(data);
}

/* With little pool memory, the client uses smaller splits, and fewer splits at once. */
static void test_little_memory(void **state)
{
    (void)state;
    size_t bytes;
    char *text = numbers(400000, "a,b\n", &bytes);
    const source in[] = {{NULL, text, bytes, -1}};
    hac_query_options options = query(HAC_INPUT_CSV);
    options.group_by = "a";
    for (unsigned buffers = 1; buffers < 4; buffers++) {
        hac_job *job = NULL;
        hac_splits splits = splits_of(in, 1);
        daemon_is.buffers = buffers;
        daemon_is.max_bytes = 3 << 20;
        daemon_is.in_use = daemon_is.splits = 0;
        run_ok(&splits, &options, &job);
        assert_true(daemon_is.splits > 1);
        assert_true(daemon_is.in_use <= buffers);
        assert_int_equal(hac_job_bytes(job), bytes - 4);
        assert_memory_equal(hac_job_data(job), text + 4, bytes - 4);
        hac_job_free(job);
    }
    daemon_is.max_bytes = 1000;
    hac_splits splits = splits_of(in, 1);
    run_fails(&splits, &options, HAC_REFUSED, "over quota");
    free(text);
}

/* The client retries a request for memory that other jobs use, until the memory is free, the job ends, or
 * stop_fd is readable. */
static void test_memory_that_others_have(void **state)
{
    (void)state;
    const source in[] = {{NULL, "a\n1\n2\n", 6, -1}};
    hac_query_options options = query(HAC_INPUT_CSV);
    options.group_by = "a";
    hac_job *job = NULL;
    hac_splits splits = splits_of(in, 1);
    daemon_is.refusals = 5;
    run_ok(&splits, &options, &job);
    assert_int_equal(daemon_is.refusals, 0);
    assert_int_equal(daemon_is.splits, 1);
    hac_job_free(job);
    daemon_is.refusals = 3;
    daemon_is.ends_it = true;
    splits = splits_of(in, 1);
    run_fails(&splits, &options, HAC_FAILED, "the deadline has passed");
    assert_int_equal(daemon_is.refusals, 0);
    int stop[2];
    assert_int_equal(pipe(stop), 0);
    assert_int_equal(write(stop[1], "", 1), 1);
    splits = splits_of(in, 1);
    splits.stop_fd = stop[0];
    daemon_is.refusals = UINT_MAX;
    run_fails(&splits, &options, HAC_CANCELLED, "cancelled");
    close(stop[0]);
    close(stop[1]);
}

/* Endless inputs. The run ends before the input in all these tests. */
static const source endless[] = {{"/dev/zero", NULL, 0, -1}};

static hac_splits endless_splits(hac_query_options *options)
{
    *options = query(HAC_INPUT_FIXED);
    options->schema = "a:u64";
    hac_splits splits = splits_of(endless, 1);
    splits.split_bytes = 40000;
    return splits;
}

static void test_enough(void **state)
{
    (void)state;
    hac_query_options options;
    for (int at = 0; at < 7; at++) {
        hac_splits splits = endless_splits(&options);
        daemon_is.splits = 0;
        daemon_is.enough_at = at;
        run_rows(&splits, &options);
        assert_memory_equal(io.written + io.n_written - 7, "enough\n", 7);
        assert_true(daemon_is.last[daemon_is.splits - 1]);
    }
}

static void test_job_fails(void **state)
{
    (void)state;
    hac_query_options options;
    for (int at = 0; at < 6; at++) {
        hac_splits splits = endless_splits(&options);
        daemon_is.splits = 0;
        daemon_is.fail_at = at;
        run_fails(&splits, &options, HAC_FAILED, "line 7: no number");
    }
}

/* Callbacks that fail without a message. */
static hac_status refuse_to_open(void *context, size_t index, int *ret_fd, const char **ret_name,
                                 hac_error *err)
{
    (void)context, (void)index, (void)ret_fd, (void)ret_name, (void)err;
    return HAC_IO;
}

static hac_status refuse_to_write(void *context, const void *bytes, size_t n, hac_error *err)
{
    (void)context, (void)bytes, (void)n, (void)err;
    return HAC_IO;
}

static void test_writer_fails(void **state)
{
    (void)state;
    hac_query_options options;
    for (int at = 0; at < 3; at++) {
        hac_splits splits = endless_splits(&options);
        io.fail_write_at = at;
        run_fails(&splits, &options, HAC_IO, "the disk is full");
    }
    assert_int_equal(fake_count(the_daemon, HAC__CLIENT__REQUEST__WHAT_CANCEL), 3);
    const source in[] = {{"/nowhere/at/all", NULL, 0, -1}};
    hac_splits splits = splits_of(in, 1);
    run_fails(&splits, &options, HAC_FAILED, "cannot open /nowhere/at/all");
    splits.open = refuse_to_open;
    splits.n_inputs = 1;
    run_fails(&splits, &options, HAC_IO, "input 1 cannot be opened");
    splits = endless_splits(&options);
    splits.write = refuse_to_write;
    run_fails(&splits, &options, HAC_IO, "the result cannot be written");
}

static int stop_pipe[2];

static void ask_to_stop(void)
{
    if (io.writes == 5)
        assert_int_equal(write(stop_pipe[1], "x", 1), 1);
}

static void test_stop(void **state)
{
    (void)state;
    hac_query_options options;
    assert_int_equal(pipe2(stop_pipe, O_CLOEXEC), 0);
    hac_splits splits = endless_splits(&options);
    splits.stop_fd = stop_pipe[0];
    io.on_write = ask_to_stop;
    run_fails(&splits, &options, HAC_CANCELLED, "cancelled");
    close(stop_pipe[0]);
    close(stop_pipe[1]);
}

static void on_alarm(int number)
{
    (void)number;
    if (write(stop_pipe[1], "x", 1) < 0)
        abort();
}

/* Stops a wait for an input without bytes, for both kinds of reading. stop_fd is readable before the wait, or
 * a signal makes it readable. */
static void test_stop_at_input(void **state)
{
    (void)state;
    const struct sigaction action = {.sa_handler = on_alarm};
    struct sigaction before;
    const struct itimerval soon = {.it_value = {.tv_usec = 50000}};
    assert_int_equal(sigaction(SIGALRM, &action, &before), 0);
    for (int i = 0; i < 4; i++) {
        int ends[2];
        hac_query_options options = query(HAC_INPUT_LINES);
        assert_int_equal(pipe2(stop_pipe, O_CLOEXEC), 0);
        assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
        const source in[] = {{NULL, NULL, 0, ends[0]}};
        hac_splits splits = splits_of(in, 1);
        splits.stop_fd = stop_pipe[0];
        options.order_by = i % 2 == 0 ? NULL : "line";
        if (i < 2)
            on_alarm(0);
        else
            assert_int_equal(setitimer(ITIMER_REAL, &soon, NULL), 0);
        run_fails(&splits, &options, HAC_CANCELLED, "cancelled");
        close(ends[1]);
        close(stop_pipe[0]);
        close(stop_pipe[1]);
    }
    assert_int_equal(sigaction(SIGALRM, &before, NULL), 0);
}

static void test_daemon_dies(void **state)
{
    (void)state;
    hac_query_options options;
    for (int at = 0; at < 4; at++) {
        hac_splits splits = endless_splits(&options);
        hac_client_free(client);
        fake_stop(the_daemon);
        daemon_is.splits = 0;
        daemon_is.hang_up_at = at;
        the_daemon = fake_start(look, NULL);
        client = fake_connect(the_daemon);
        run_fails(&splits, &options, HAC_NO_DAEMON, "has gone away");
    }
}

static void test_wrong_answer(void **state)
{
    (void)state;
    hac_query_options options;
    hac_splits splits = endless_splits(&options);
    daemon_is.wrong_at = 2;
    run_fails(&splits, &options, HAC_PROTOCOL, "another split");
}

/* ---- refused ---- */

static void test_options(void **state)
{
    (void)state;
    hac_query_options options = query(HAC_INPUT_CSV);
    hac_splits splits = splits_of(endless, 0);
    run_fails(&splits, &options, HAC_INVALID, "no input");
    splits = splits_of(endless, 1);
    options.job.detach = 1;
    run_fails(&splits, &options, HAC_INVALID, "detached");
    options = query(HAC_INPUT_PARQUET);
    run_fails(&splits, &options, HAC_UNSUPPORTED, "Parquet");
    options = query(HAC_INPUT_FIXED);
    run_fails(&splits, &options, HAC_INVALID, "schema");
    options = query(HAC_INPUT_LINES);
    splits.write = NULL;
    run_fails(&splits, &options, HAC_INVALID, "no way to write them");
    splits.split_bytes = UINT64_MAX;
    run_fails(&splits, &options, HAC_INVALID, "too large");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_rows),
        TEST(test_aggregates),
        TEST(test_small_inputs),
        TEST(test_long_records),
        TEST(test_longer_records),
        TEST(test_header_fills),
        TEST(test_compressed),
        TEST(test_bad_records),
        TEST(test_rows_before_bad_inputs),
        TEST(test_before_bad_inputs),
        TEST(test_early),
        TEST(test_no_early_end),
        TEST(test_back_pressure),
        TEST(test_little_memory),
        TEST(test_advice),
        TEST(test_memory_that_others_have),
        TEST(test_enough),
        TEST(test_job_fails),
        TEST(test_writer_fails),
        TEST(test_stop),
        TEST(test_stop_at_input),
        TEST(test_daemon_dies),
        TEST(test_wrong_answer),
        TEST(test_options),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    free(io.written);
    return failed;
}
