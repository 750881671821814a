/* SPDX-License-Identifier: Apache-2.0 */
/* The executor's protocol from outside: a real hac-executor on a socket pair. Needs PoCL. */
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <hac/type.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/memfd.h"
#include "base/test_support.h"
#include "tests/test_child.h"

#define ITEMS 65536u

static int set_up(void **state)
{
    test_make_directories(state);
    test_build(&test_defaults, (const char *[]){"selftest"}, 1);
    return 0;
}

static test_child *start_ready(const test_setup *with)
{
    test_child *child = test_start(NULL);
    test_send_setup(child, with);
    Hac__Executor__DeviceFacts *facts = test_expect(child, HAC__EXECUTOR__REPORT__WHAT_READY)->ready->facts;
    assert_string_equal(facts->type, "cpu");
    assert_int_equal(strlen(facts->kernel_hash), 16);
    assert_false(facts->simt);
    return child;
}

/* A Run command with at most two spans, and its answer. */
typedef struct test_request {
    const char *codelet;
    uint32_t type;
    uint64_t first, count;
    Hac__Executor__Span spans[2];
    size_t n_spans;
    uint64_t params[2];
    size_t n_params;
    uint64_t descriptor;
    uint64_t predecessor;
    const char *then[4];
    size_t n_then;
} test_request;

static Hac__Executor__Span span(uint32_t buffer, uint64_t offset, uint64_t bytes)
{
    Hac__Executor__Span s;
    hac__executor__span__init(&s);
    s.buffer = buffer;
    s.offset = offset;
    s.bytes = bytes;
    return s;
}

/* Returns the task's number. */
static uint64_t send_run(test_child *child, const test_request *r)
{
    static uint64_t serial;
    Hac__Executor__Run run;
    hac__executor__run__init(&run);
    Hac__Executor__Span *spans[2] = {(Hac__Executor__Span *)(uintptr_t)&r->spans[0],
                                     (Hac__Executor__Span *)(uintptr_t)&r->spans[1]};
    run.task = ++serial;
    run.codelet = (char *)(uintptr_t)r->codelet;
    run.type = r->type;
    run.first = r->first;
    run.count = r->count;
    run.spans = spans;
    run.n_spans = r->n_spans;
    run.params = (uint64_t *)(uintptr_t)r->params;
    run.n_params = r->n_params;
    run.descriptor = r->descriptor;
    run.predecessor = r->predecessor;
    run.then = (char **)(uintptr_t)r->then;
    run.n_then = r->n_then;
    Hac__Executor__Command command;
    hac__executor__command__init(&command);
    command.what_case = HAC__EXECUTOR__COMMAND__WHAT_RUN;
    command.run = &run;
    test_send(child, &command, NULL, 0);
    return run.task;
}

static Hac__Executor__Done *ask(test_child *child, test_request r)
{
    (void)send_run(child, &r);
    return test_expect(child, HAC__EXECUTOR__REPORT__WHAT_DONE)->done;
}

static test_request sum_request(uint64_t first, uint64_t count)
{
    return (test_request){.codelet = "selftest.sum",
                          .type = HAC_TYPE_U32,
                          .first = first,
                          .count = count,
                          .spans = {span(7, 0, ITEMS * 4)},
                          .n_spans = 1};
}

static uint64_t fill(uint32_t *items)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < ITEMS; i++)
        sum += items[i] = i * 2654435761u;
    return sum;
}

static void check_sum(const test_setup *with)
{
    test_child *child = start_ready(with);
    uint32_t *items = test_add_buffer(child, 7, ITEMS * 4);
    uint64_t sum = fill(items);
    for (int i = 0; i < 3; i++) {
        Hac__Executor__Done *done = ask(child, sum_request(0, ITEMS));
        assert_string_equal(done->message, "");
        assert_int_equal(done->code, HAC_OK);
        assert_int_equal(done->n_values, 1);
        assert_true(done->values[0] == sum);
        assert_true(done->seconds > 0 && done->seconds < 20);
    }
    hac_memfd_unmap(items, ITEMS * 4);
    assert_int_equal(test_end(child), 0);
}

static void test_sum(void **state)
{
    (void)state;
    check_sum(&test_defaults);
}

/* Tasks that were sent ahead are skipped once a task that they depend on, directly or not, has failed. */
static void test_left_out(void **state)
{
    (void)state;
    test_child *child = start_ready(&test_defaults);
    uint32_t *items = test_add_buffer(child, 7, ITEMS * 4);
    (void)fill(items);
    test_request fails = {.codelet = "no.such"}, sum = sum_request(0, ITEMS);
    uint64_t first = send_run(child, &sum), failed = send_run(child, &fails);
    const struct {
        uint64_t predecessor;
        hac_status code;
    } cases[] = {{0, HAC_OK},
                 {first, HAC_CANCELLED},
                 {failed, HAC_CANCELLED},
                 {failed + 3, HAC_CANCELLED},
                 {failed + 1, HAC_CANCELLED},
                 {failed + 6, HAC_OK}};
    assert_int_equal(test_expect(child, HAC__EXECUTOR__REPORT__WHAT_DONE)->done->code, HAC_OK);
    assert_int_equal(test_expect(child, HAC__EXECUTOR__REPORT__WHAT_DONE)->done->code, HAC_UNSUPPORTED);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sum.predecessor = cases[i].predecessor;
        Hac__Executor__Done *done = ask(child, sum);
        assert_int_equal(done->code, cases[i].code);
        assert_int_equal(done->n_values, cases[i].code == HAC_OK);
    }
    hac_memfd_unmap(items, ITEMS * 4);
    assert_int_equal(test_end(child), 0);
}

/* Tasks that arrive together are answered in order. Answers of batched tasks wait for each other; a failure
 * does not wait, and the tasks after it are skipped. */
static void test_together(void **state)
{
    (void)state;
    enum { RUNS = 6 };
    static const hac_status wanted[RUNS] = {HAC_OK,        HAC_OK,        HAC_UNSUPPORTED,
                                            HAC_CANCELLED, HAC_CANCELLED, HAC_OK};
    test_child *child = start_ready(&test_defaults);
    uint32_t *items = test_add_buffer(child, 7, ITEMS * 4);
    uint64_t sum = fill(items);
    Hac__Executor__Span whole = span(7, 0, ITEMS * 4), *spans[] = {&whole};
    Hac__Executor__Run runs[RUNS], *list[RUNS];
    Hac__Executor__Command command;
    for (int batched = 0; batched < 2; batched++) {
        unsigned seen = 0, reports = 0;
        hac__executor__command__init(&command);
        for (unsigned i = 0; i < RUNS; i++) {
            hac__executor__run__init(list[i] = &runs[i]);
            runs[i].task = 1000 + i;
            runs[i].codelet = (char *)(uintptr_t)(wanted[i] == HAC_UNSUPPORTED ? "no.such" : "selftest.sum");
            runs[i].type = HAC_TYPE_U32;
            runs[i].count = ITEMS;
            runs[i].spans = spans;
            runs[i].n_spans = 1;
            runs[i].batched = batched;
            runs[i].predecessor = wanted[i] == HAC_CANCELLED ? 1000 : 0;
        }
        command.runs = list;
        command.n_runs = RUNS;
        test_send(child, &command, NULL, 0);
        for (; seen < RUNS; reports++) {
            const Hac__Executor__Report *report = test_expect(child, HAC__EXECUTOR__REPORT__WHAT__NOT_SET);
            for (size_t i = 0; i < report->n_dones; i++, seen++) {
                assert_int_equal(report->dones[i]->task, 1000 + seen);
                assert_int_equal(report->dones[i]->code, wanted[seen]);
                assert_true(wanted[seen] != HAC_OK || report->dones[i]->values[0] == sum);
            }
        }
        assert_int_equal(seen, RUNS);
        assert_true(batched ? reports >= 3 && reports <= RUNS : reports == RUNS);
    }
    hac_memfd_unmap(items, ITEMS * 4);
    assert_int_equal(test_end(child), 0);
}

static void test_sum_with_copies(void **state)
{
    (void)state;
    test_setup with = test_defaults;
    with.copy_memory = true;
    check_sum(&with);
}

static void test_sum_pinned_to_one_cpu(void **state)
{
    (void)state;
    test_setup with = test_defaults;
    with.affinity[0] = 0;
    with.n_affinity = 1;
    check_sum(&with);
}

/* Every thread is on the CPUs of Setup, and there is one worker. */
static void test_pinning(void **state)
{
    (void)state;
    test_setup with = test_defaults;
    with.n_affinity = 1;
    test_child *child = start_ready(&with);
    char command[160], line[64];
    snprintf(command, sizeof command, "cat /proc/%d/task/*/status | grep Cpus_allowed_list", child->pid);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    int threads = 0;
    while (fgets(line, sizeof line, pipe) != NULL) {
        assert_string_equal(line, "Cpus_allowed_list:\t0\n");
        threads++;
    }
    pclose(pipe);
    assert_true(threads >= 2);
    assert_int_equal(test_end(child), 0);
}

static void test_cpu_that_is_not_there(void **state)
{
    (void)state;
    test_setup with = test_defaults;
    with.affinity[0] = 1023;
    with.n_affinity = 1;
    test_child *child = test_start(NULL);
    test_send_setup(child, &with);
    assert_non_null(strstr(test_expect(child, HAC__EXECUTOR__REPORT__WHAT_FATAL)->fatal, "affinity"));
    assert_int_equal(WEXITSTATUS(test_wait(child)), 1);
    test_child_free(child);
}

/* A busy machine makes single calls long, so the shortest of many calls are compared, of as many as it takes.
 * The bounds fit no executor that is not slowed down, or is slowed down twice. Each has one CPU, so that
 * nothing waits for helpers. */
static void test_slowdown(void **state)
{
    (void)state;
    test_setup with = test_defaults;
    with.affinity[0] = 0;
    with.n_affinity = 1;
    test_child *plain = start_ready(&with);
    with.slowdown = 40;
    test_child *slow = start_ready(&with);
    test_child *both[2] = {plain, slow};
    uint32_t *items[2];
    for (int c = 0; c < 2; c++) {
        items[c] = test_add_buffer(both[c], 7, ITEMS * 4);
        fill(items[c]);
    }
    double best[2] = {1e9, 1e9};
    for (int i = 0; i < 20 || (i < 1000 && !(best[1] > 10 * best[0] && best[1] < 400 * best[0])); i++)
        for (int c = 0; c < 2; c++)
            best[c] = fmin(best[c], ask(both[c], sum_request(0, ITEMS))->seconds);
    assert_true(best[1] > 10 * best[0] && best[1] < 400 * best[0]);
    for (int c = 0; c < 2; c++) {
        hac_memfd_unmap(items[c], ITEMS * 4);
        assert_int_equal(test_end(both[c]), 0);
    }
}

static void expect_refused(test_child *child, test_request r, hac_status code, const char *text)
{
    Hac__Executor__Done *done = ask(child, r);
    assert_int_equal(done->code, code);
    hac_test_assert_says(done->message, text);
    assert_int_equal(done->n_needs_programs, 0);
    assert_int_equal(done->n_values, 0);
}

static void test_bad_tasks(void **state)
{
    (void)state;
    test_child *child = start_ready(&test_defaults);
    uint32_t *items = test_add_buffer(child, 7, ITEMS * 4);
    uint64_t sum = fill(items);
    test_request r = sum_request(0, ITEMS);

    r.codelet = "no.such";
    expect_refused(child, r, HAC_UNSUPPORTED, "no.such");
    r = sum_request(0, ITEMS);
    r.n_spans = 0;
    expect_refused(child, r, HAC_INVALID, "0 spans");
    r.n_spans = 2;
    r.spans[1] = span(7, 0, 64);
    expect_refused(child, r, HAC_INVALID, "2 spans");
    r = sum_request(0, ITEMS);
    r.n_params = 1;
    expect_refused(child, r, HAC_INVALID, "1 params");
    r = sum_request(0, ITEMS);
    r.spans[0].buffer = 8;
    expect_refused(child, r, HAC_INVALID, "buffer 8 is not registered");
    r.spans[0] = span(7, 0, ITEMS * 4 + 1);
    expect_refused(child, r, HAC_INVALID, "not within");
    r.spans[0] = span(7, 64, ITEMS * 4);
    expect_refused(child, r, HAC_INVALID, "not within");
    expect_refused(child, sum_request(16, ITEMS), HAC_INVALID, "within");
    expect_refused(child, sum_request(0, 1), HAC_INVALID, "multiples");
    r = sum_request(0, ITEMS);
    r.type = HAC_TYPE_F64;
    expect_refused(child, r, HAC_INVALID, "u32");
    r = sum_request(0, ITEMS);
    r.descriptor = 99;
    expect_refused(child, r, HAC_INVALID, "descriptor 99");

    /* and it still works */
    assert_true(ask(child, sum_request(0, ITEMS))->values[0] == sum);
    hac_memfd_unmap(items, ITEMS * 4);
    assert_int_equal(test_end(child), 0);
}

static void test_buffers_come_and_go(void **state)
{
    (void)state;
    test_child *child = start_ready(&test_defaults);
    Hac__Executor__BufferRemove remove;
    hac__executor__buffer_remove__init(&remove);
    Hac__Executor__Command command;
    hac__executor__command__init(&command);
    command.what_case = HAC__EXECUTOR__COMMAND__WHAT_BUFFER_REMOVE;
    command.buffer_remove = &remove;
    for (int round = 0; round < 20; round++) {
        uint32_t *items = test_add_buffer(child, 7, ITEMS * 4);
        assert_true(ask(child, sum_request(0, ITEMS))->values[0] == 0); /* fresh memory is zero */
        remove.buffer = 7;
        test_send(child, &command, NULL, 0);
        expect_refused(child, sum_request(0, ITEMS), HAC_INVALID, "not registered");
        hac_memfd_unmap(items, ITEMS * 4);
    }
    remove.buffer = 12345; /* it never existed: no error */
    test_send(child, &command, NULL, 0);
    assert_int_equal(test_end(child), 0);
}

/* A buffer that its maker could shrink is not mapped; the executor goes on. */
static void test_unsealed_buffer(void **state)
{
    (void)state;
    test_child *child = start_ready(&test_defaults);
    hac_autoclose int fd = memfd_create("unsealed", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    assert_int_equal(ftruncate(fd, ITEMS * 4), 0);
    Hac__Executor__BufferAdd add;
    hac__executor__buffer_add__init(&add);
    add.buffer = 7;
    add.bytes = ITEMS * 4;
    Hac__Executor__Command command;
    hac__executor__command__init(&command);
    command.what_case = HAC__EXECUTOR__COMMAND__WHAT_BUFFER_ADD;
    command.buffer_add = &add;
    test_send(child, &command, &fd, 1);
    expect_refused(child, sum_request(0, ITEMS), HAC_INVALID, "not registered");
    assert_int_equal(test_end(child), 0);
}

static void add_descriptor(test_child *child, uint64_t number, int fd)
{
    Hac__Executor__DescriptorAdd add;
    hac__executor__descriptor_add__init(&add);
    add.descriptor = number;
    Hac__Executor__Command command;
    hac__executor__command__init(&command);
    command.what_case = HAC__EXECUTOR__COMMAND__WHAT_DESCRIPTOR_ADD;
    command.descriptor_add = &add;
    test_send(child, &command, &fd, 1);
}

enum { INPUT_END = 1000002 };

static test_request read_request(uint64_t offset, uint64_t first, uint64_t count)
{
    return (test_request){.codelet = "io.read",
                          .first = first,
                          .count = count,
                          .spans = {span(1, 64, 1 << 20)},
                          .n_spans = 1,
                          .params = {offset, INPUT_END},
                          .n_params = 2,
                          .descriptor = 5};
}

static void test_io_read(void **state)
{
    (void)state;
    test_child *child = start_ready(&test_defaults);
    char path[512];
    snprintf(path, sizeof path, "%s/input", test_defaults.scratch_directory);
    hac_autoclose int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    hac_autofree uint8_t *bytes = malloc(1000000);
    for (size_t i = 0; i < 1000000; i++)
        bytes[i] = (uint8_t)(i * 7 + i / 251);
    assert_int_equal(write(fd, bytes, 1000000), 1000000);
    uint8_t *memory = test_add_buffer(child, 1, (1 << 20) + 64);
    add_descriptor(child, 5, fd);

    Hac__Executor__Done *done = ask(child, read_request(0, 0, 1000000));
    assert_int_equal(done->code, HAC_OK);
    assert_memory_equal(memory + 64, bytes, 1000000);
    assert_int_equal(ask(child, read_request(100, 900, 5000))->code, HAC_OK);
    assert_memory_equal(memory + 64 + 900, bytes + 1000, 5000);
    assert_int_equal(ask(child, read_request(0, 0, 0))->code, HAC_OK);
    expect_refused(child, read_request(0, 0, (1 << 20) + 1), HAC_INVALID, "outside a span");
    expect_refused(child, read_request(0, (1 << 20) - 1, 2), HAC_INVALID, "outside a span");
    expect_refused(child, read_request(UINT64_MAX, 1, 1), HAC_INVALID, "out of range");
    expect_refused(child, read_request(1, 0, 1000000), HAC_FAILED,
                   "the input ended after 1000000 of 1000002 bytes: it was truncated while it was read");
    assert_int_equal(ftruncate(fd, 10), 0);
    expect_refused(child, read_request(0, 0, 1000000), HAC_FAILED, "ended after 10 of 1000002");
    expect_refused(child, read_request(0, 1000, 500), HAC_FAILED, "ended after 10 of 1000002");
    test_request r = read_request(0, 0, 10);
    r.descriptor = 0;
    expect_refused(child, r, HAC_INVALID, "descriptor");

    Hac__Executor__DescriptorRemove remove;
    hac__executor__descriptor_remove__init(&remove);
    remove.descriptor = 5;
    Hac__Executor__Command command;
    hac__executor__command__init(&command);
    command.what_case = HAC__EXECUTOR__COMMAND__WHAT_DESCRIPTOR_REMOVE;
    command.descriptor_remove = &remove;
    test_send(child, &command, NULL, 0);
    expect_refused(child, read_request(0, 0, 10), HAC_INVALID, "not registered");
    hac_memfd_unmap(memory, (1 << 20) + 64);
    assert_int_equal(test_end(child), 0);
}

/* A pipe has no offsets: it is read in sequence, and can end early like a file. */
static void test_io_read_of_a_pipe(void **state)
{
    (void)state;
    test_child *child = start_ready(&test_defaults);
    int pair[2];
    uint8_t bytes[5000];
    assert_int_equal(pipe2(pair, O_CLOEXEC | O_NONBLOCK), 0);
    memset(bytes, 0x5a, sizeof bytes);
    assert_int_equal(write(pair[1], bytes, sizeof bytes), sizeof bytes);
    uint8_t *memory = test_add_buffer(child, 1, (1 << 20) + 64);
    add_descriptor(child, 5, pair[0]);
    assert_int_equal(ask(child, read_request(0, 0, 4000))->code, HAC_OK);
    assert_memory_equal(memory + 64, bytes, 4000);
    expect_refused(child, read_request(0, 4000, 1000), HAC_FAILED, "cannot be read");
    close(pair[1]);
    expect_refused(child, read_request(0, 0, 1001), HAC_FAILED, "ended after 1000 of 1000002");
    close(pair[0]);
    hac_memfd_unmap(memory, (1 << 20) + 64);
    assert_int_equal(test_end(child), 0);
}

/* Without a binary, a task is returned with the name of its program and of those that its job needs later.
 * After the build it runs. */
static void test_needs_program(void **state)
{
    (void)state;
    char *empty = test_make_directory();
    test_setup with = test_defaults;
    with.program_directory = empty;
    test_child *child = start_ready(&with);
    uint32_t *items = test_add_buffer(child, 7, ITEMS * 4);
    uint64_t sum = fill(items);
    test_request first = sum_request(0, ITEMS);
    first.n_then = 4;
    memcpy(first.then, (const char *[]){"no.codelet", "radix.scan", "radix.leaf", "selftest.sum"},
           sizeof first.then);
    Hac__Executor__Done *done = ask(child, first);
    assert_int_equal(done->code, HAC_NOT_FOUND);
    assert_int_equal(done->n_needs_programs, 2); /* each one once */
    assert_string_equal(done->needs_programs[0], "selftest");
    assert_non_null(strstr(done->needs_programs[1], "radix_leaf."));
    test_build(&with, (const char *[]){"selftest"}, 1);
    done = ask(child, sum_request(0, ITEMS));
    assert_int_equal(done->code, HAC_OK);
    assert_true(done->values[0] == sum);
    hac_memfd_unmap(items, ITEMS * 4);
    assert_int_equal(test_end(child), 0);
    test_remove_directory(empty);
}

static void test_ping_and_shutdown(void **state)
{
    (void)state;
    test_child *child = start_ready(&test_defaults);
    Hac__Executor__Ping ping;
    hac__executor__ping__init(&ping);
    ping.serial = 77;
    Hac__Executor__Command command;
    hac__executor__command__init(&command);
    command.what_case = HAC__EXECUTOR__COMMAND__WHAT_PING;
    command.ping = &ping;
    test_send(child, &command, NULL, 0);
    assert_int_equal(test_expect(child, HAC__EXECUTOR__REPORT__WHAT_PONG)->pong->serial, 77);
    Hac__Executor__Nothing nothing;
    hac__executor__nothing__init(&nothing);
    command.what_case = HAC__EXECUTOR__COMMAND__WHAT_SHUTDOWN;
    command.shutdown = &nothing;
    test_send(child, &command, NULL, 0);
    assert_int_equal(test_wait(child), 0);
    test_child_free(child);
}

/* A malformed command ends the executor with a reason, never with a signal. */
static void test_garbage(void **state)
{
    (void)state;
    srand(1);
    for (int round = 0; round < 40; round++) {
        test_child *child = round % 8 == 0 ? start_ready(&test_defaults) : test_start(NULL);
        uint8_t noise[600];
        size_t bytes = 1 + (size_t)rand() % sizeof noise;
        for (size_t i = 0; i < bytes; i++)
            noise[i] = (uint8_t)rand();
        if (round % 2 == 0) { /* after a valid frame header */
            memcpy(hac_frame_body(child->out), noise, bytes);
            assert_int_equal(hac_frame_send(child->socket, child->out, bytes, NULL, 0, NULL), HAC_OK);
        } else {
            assert_int_equal(write(child->socket, noise, bytes), bytes);
        }
        Hac__Executor__Report *report = test_expect(child, HAC__EXECUTOR__REPORT__WHAT_FATAL);
        assert_true(strlen(report->fatal) > 0);
        int status = test_wait(child);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 1);
        test_child_free(child);
    }
}

/* With this Setup the executor says why it cannot serve, and exits. */
static void expect_fatal(Hac__Executor__Setup *message, const char *words)
{
    test_child *child = test_start(NULL);
    Hac__Executor__Command command;
    hac__executor__command__init(&command);
    command.what_case = HAC__EXECUTOR__COMMAND__WHAT_SETUP;
    command.setup = message;
    test_send(child, &command, NULL, 0);
    hac_test_assert_says(test_expect(child, HAC__EXECUTOR__REPORT__WHAT_FATAL)->fatal, words);
    assert_int_equal(WEXITSTATUS(test_wait(child)), 1);
    test_child_free(child);
}

static void test_wrong_version(void **state)
{
    (void)state;
    Hac__Executor__Setup message;
    hac__executor__setup__init(&message);
    message.version = HAC_EXECUTOR_PROTOCOL_VERSION + 1;
    expect_fatal(&message, "version");
}

static void test_no_such_device(void **state)
{
    (void)state;
    Hac__Executor__Setup message;
    hac__executor__setup__init(&message);
    char device[] = "no such device";
    message.version = HAC_EXECUTOR_PROTOCOL_VERSION;
    message.device = device;
    message.scratch_directory = (char *)(uintptr_t)test_defaults.scratch_directory;
    expect_fatal(&message, "no such device");
}

/* If the parent is killed while a task runs, the executor ends: nobody is left to take the result. */
static void test_parent_dies(void **state)
{
    (void)state;
    int pipe_fds[2];
    assert_int_equal(pipe2(pipe_fds, O_CLOEXEC), 0);
    pid_t middle = fork();
    if (middle == 0) {
        test_setup with = test_defaults;
        with.slowdown = 1e6;
        test_child *child = start_ready(&with);
        uint32_t *items = test_add_buffer(child, 7, ITEMS * 4);
        fill(items);
        test_request r = sum_request(0, ITEMS);
        send_run(child, &r);
        nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
        if (write(pipe_fds[1], &child->pid, sizeof child->pid) < 0)
            _exit(1);
        kill(getpid(), SIGKILL);
    }
    pid_t executor = 0;
    close(pipe_fds[1]);
    assert_int_equal(read(pipe_fds[0], &executor, sizeof executor), sizeof executor);
    close(pipe_fds[0]);
    waitpid(middle, NULL, 0);
    int tries = 0;
    char state_path[64], text[256] = "";
    snprintf(state_path, sizeof state_path, "/proc/%d/stat", executor);
    for (; tries < 8000; tries++) { /* its task would take longer */
        FILE *file = fopen(state_path, "re");
        if (file == NULL)
            break;
        bool zombie = fgets(text, sizeof text, file) != NULL && strstr(text, ") Z") != NULL;
        fclose(file);
        if (zombie)
            break;
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    assert_true(tries < 8000);
}

static void test_probe(void **state)
{
    (void)state;
    test_child *child = test_start("--probe");
    test_send_setup(child, &test_defaults);
    Hac__Executor__ProbeReport *probe = test_expect(child, HAC__EXECUTOR__REPORT__WHAT_PROBE)->probe;
    assert_string_equal(probe->problem, "");
    assert_true(probe->n_devices >= 1);
    Hac__Executor__DeviceFacts *facts = probe->devices[0];
    assert_string_equal(facts->platform, test_platform());
    assert_true(getenv("HAC_TEST_PLATFORM") != NULL || strcmp(facts->type, "cpu") == 0);
    assert_true(facts->compute_units >= 1 && facts->global_memory > 0 && facts->max_allocation > 0);
    assert_true(facts->available && facts->compiler && facts->block_items > 0);
    assert_string_equal(facts->problem, "");
    assert_int_equal(strlen(facts->kernel_hash), 16);
    assert_int_equal(test_end(child), 0);
}

static void test_probe_without_platform(void **state)
{
    (void)state;
    hac_autofree char *vendors = strdup(getenv("OCL_ICD_VENDORS") ? getenv("OCL_ICD_VENDORS") : "");
    setenv("OCL_ICD_VENDORS", "/nonexistent.icd", 1);
    test_child *child = test_start("--probe");
    if (vendors[0] != '\0')
        setenv("OCL_ICD_VENDORS", vendors, 1);
    else
        unsetenv("OCL_ICD_VENDORS");
    test_send_setup(child, &test_defaults);
    Hac__Executor__ProbeReport *probe = test_expect(child, HAC__EXECUTOR__REPORT__WHAT_PROBE)->probe;
    assert_int_equal(probe->n_devices, 0);
    assert_non_null(strstr(probe->problem, "install a driver"));
    assert_int_equal(test_end(child), 0);
}

/* Started by hand, it says so and exits. */
static void test_without_hacd(void **state)
{
    (void)state;
    assert_int_equal(WEXITSTATUS(system(HAC_EXECUTOR_PATH " 3</dev/null 2>/dev/null")), 2);
    assert_int_equal(WEXITSTATUS(system(HAC_EXECUTOR_PATH " 3<&- 2>/dev/null")), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sum),
        cmocka_unit_test(test_left_out),
        cmocka_unit_test(test_together),
        cmocka_unit_test(test_sum_with_copies),
        cmocka_unit_test(test_sum_pinned_to_one_cpu),
        cmocka_unit_test(test_pinning),
        cmocka_unit_test(test_cpu_that_is_not_there),
        cmocka_unit_test(test_slowdown),
        cmocka_unit_test(test_bad_tasks),
        cmocka_unit_test(test_buffers_come_and_go),
        cmocka_unit_test(test_unsealed_buffer),
        cmocka_unit_test(test_io_read),
        cmocka_unit_test(test_io_read_of_a_pipe),
        cmocka_unit_test(test_needs_program),
        cmocka_unit_test(test_ping_and_shutdown),
        cmocka_unit_test(test_garbage),
        cmocka_unit_test(test_wrong_version),
        cmocka_unit_test(test_no_such_device),
        cmocka_unit_test(test_parent_dies),
        cmocka_unit_test(test_probe),
        cmocka_unit_test(test_probe_without_platform),
        cmocka_unit_test(test_without_hacd),
    };
    return cmocka_run_group_tests(tests, set_up, test_remove_directories);
}
