/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory runs out in hac_opsplit_run and in libhac below it, from the logic file to the outputs. Each
 * allocation fails, alone or with all later ones. Then the same call is made again, and succeeds.
 *
 * hacd is a process of its own for each run, and computes nothing. What a task writes is zero, except that a
 * filter keeps one row of each block, and an index has one value.
 */
#include <hac/opsplit.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/op_layout.h"
#include "base/query_layout.h"
#include "base/test_oom.h"
#include "base/value.h"
#include "fake_daemon.h"

#define EVERY_SUBOP HAC_SOURCE_DIR "/tests/integration/every_subop.yaml"
#define TEMPLATES   HAC_SOURCE_DIR "/tests/integration/opsplit_program.yaml"

enum { ROWS = 4, GRAPHS_FROM = 1000000 /* numbers of jobs of graphs */ };

static char directory[64], path[96], output[96];

/* ---- the daemon, in its process ---- */

static void send_graph_done(fake_session *session, const Hac__Client__Request *request)
{
    static const uint64_t found[HAC_OP_VALUES_MAX] = {1, 1, 1, 1};
    static uint8_t values[512 * (1 + sizeof found)];
    const Hac__Client__SubmitOps *graph = request->append_graph->graph;
    size_t bytes = 0;
    for (size_t i = 0; graph != NULL && i < graph->n_tasks; i++) {
        values[bytes] = HAC_OP_VALUES_MAX;
        memcpy(values + bytes + 1, found, sizeof found);
        bytes += 1 + sizeof found;
    }
    fake_send_graph_done(session, request->serial, request->append_graph->job, values, bytes);
}

static void write_results(fake_session *session, const Hac__Client__SubmitOps *graph)
{
    static const uint8_t zeros[1 << 20];
    static const uint64_t one = 1;
    for (size_t t = 0; t < graph->n_tasks; t++) {
        const Hac__Client__OpTask *task = graph->tasks[t];
        for (size_t s = 0; s < task->n_spans; s++) {
            const Hac__Client__OpSpan *span = task->spans[s];
            if (span->written)
                fake_write(session->daemon, graph->buffers[span->buffer], span->offset, zeros, span->bytes);
        }
        if (strcmp(task->codelet, "op.filter_count") == 0)
            fake_write(session->daemon, graph->buffers[task->spans[0]->buffer], task->spans[0]->offset, &one,
                       sizeof one);
    }
}

static void send_end(fake_session *session, uint64_t serial, uint64_t job)
{
    Hac__Client__JobDone done;
    hac__client__job_done__init(&done);
    done.state = HAC__CLIENT__JOB_STATE__JOB_DONE;
    done.job = job;
    done.text = (char *)(uintptr_t) "";
    fake_send_done(session, serial, &done, -1);
}

static bool answer(fake_session *session, const Hac__Client__Request *request, hac_frame *frame)
{
    static uint64_t waiting, jobs = GRAPHS_FROM;
    (void)frame;
    switch (request->what_case) {
    case HAC__CLIENT__REQUEST__WHAT_SUBMIT_OPS:
        fake_send_accepted(session, request->serial, jobs++);
        return true;
    case HAC__CLIENT__REQUEST__WHAT_WAIT:
        if (request->wait->job < GRAPHS_FROM)
            return false;
        waiting = request->serial;
        return true;
    case HAC__CLIENT__REQUEST__WHAT_APPEND_GRAPH:
        if (request->append_graph->graph != NULL)
            write_results(session, request->append_graph->graph);
        send_graph_done(session, request);
        if (request->append_graph->last)
            send_end(session, waiting, request->append_graph->job);
        return true;
    case HAC__CLIENT__REQUEST__WHAT_CANCEL:
        if (request->cancel->job < GRAPHS_FROM)
            return false;
        fake_send_ok(session, request->serial);
        return true;
    case HAC__CLIENT__REQUEST__WHAT_RELEASE:
        if (request->release->job < GRAPHS_FROM)
            return false;
        fake_send_ok(session, request->serial);
        return true;
    default:
        return false;
    }
}

/* ---- files ---- */

/* A file that the fake daemon returns as a table when it is queried. */
static void write_table(const char *name, const char *const *columns, const char *kinds)
{
    enum { PART = 64 };
    static uint8_t file[16384];
    size_t n = strlen(kinds), at = (sizeof(hac_result_table) + n * sizeof(hac_result_column) + 63) / 64 * 64;
    static const int64_t offsets[ROWS + 1] = {0, 1, 2, 3, 5}, whole[ROWS] = {1, 0, 1, 2};
    static const double real[ROWS] = {0.5, 1.5, -1, 3};
    char to[160];
    memset(file, 0, sizeof file);
    for (size_t c = 0; c < n; c++) {
        hac_result_column column = {.validity = UINT64_MAX, .values = at, .bytes = UINT64_MAX};
        snprintf(column.name, sizeof column.name, "%s", columns[c]);
        column.kind = kinds[c] == 'f' ? HAC_KIND_F64 : kinds[c] == 'i' ? HAC_KIND_I64 : HAC_KIND_STRING;
        if (kinds[c] == 's') {
            column.large = 1;
            column.bytes = at + PART;
            column.n_bytes = 5;
            memcpy(file + at, offsets, sizeof offsets);
            memcpy(file + at + PART, "abac ", 5);
            at += PART;
        } else {
            memcpy(file + at, kinds[c] == 'f' ? (const void *)real : whole, sizeof real);
        }
        at += PART;
        memcpy(file + sizeof(hac_result_table) + c * sizeof column, &column, sizeof column);
    }
    const hac_result_table head = {HAC_RESULT_TABLE_MAGIC, ROWS, n, at};
    memcpy(file, &head, sizeof head);
    snprintf(to, sizeof to, "%s/%s", directory, name);
    FILE *f = fopen(to, "we");
    assert_true(f != NULL && fwrite(file, 1, at, f) == at && fclose(f) == 0);
}

/* Removes the outputs of a run, none of which may be incomplete. Returns their number. */
static size_t remove_outputs(void)
{
    DIR *dir = opendir(output);
    size_t n = 0;
    for (struct dirent *entry; dir != NULL && (entry = readdir(dir)) != NULL;) {
        if (entry->d_name[0] == '.')
            continue;
        const char *dot = strchr(entry->d_name, '.');
        assert_true(dot != NULL && strchr(dot + 1, '.') == NULL); /* no temporary file */
        assert_int_equal(unlinkat(dirfd(dir), entry->d_name, 0), 0);
        n++;
    }
    if (dir != NULL)
        closedir(dir);
    return n;
}

/* ---- one run ---- */

typedef struct call {
    const char *file;
    const hac_opsplit_input *inputs;
    size_t n_inputs;
    const char *const *results;
    size_t n_results, n_outputs;
} call;

static hac_status run_call(hac_client *client, const call *c, hac_error *err)
{
    hac_vector *vectors[16] = {NULL};
    hac_opsplit_result results[16];
    hac_opsplit_options options = HAC_OPSPLIT_OPTIONS_INIT;
    options.inputs = c->inputs;
    options.n_inputs = c->n_inputs;
    options.results = results;
    options.n_results = c->n_results;
    options.output = output;
    options.components = 2;
    for (size_t i = 0; i < c->n_results; i++)
        results[i] = (hac_opsplit_result){c->results[i], &vectors[i]};
    hac_status status = hac_opsplit_run(client, c->file, &options, err);
    size_t outputs = remove_outputs();
    for (size_t i = 0; i < c->n_results; i++) {
        assert_true((vectors[i] != NULL) == (status == HAC_OK)); /* all of them or none */
        hac_vector_free(vectors[i]);
    }
    if (status == HAC_OK)
        assert_int_equal(outputs, c->n_outputs);
    return status;
}

/* The socket of the daemon, or a connection to it. */
static int open_socket(bool listens)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    const struct sockaddr *to = (const struct sockaddr *)&address;
    assert_true(fd >= 0);
    if (listens)
        assert_true(bind(fd, to, sizeof address) == 0 && listen(fd, 4) == 0);
    else
        (void)connect(fd, to, sizeof address); /* it may have ended already */
    return fd;
}

static pid_t serve(void)
{
    unlink(path);
    hac_autoclose int listener = open_socket(true);
    pid_t child = fork();
    if (child == 0) {
        hac_test_oom_disarm();
        fake_serve_one(listener, answer);
        _exit(0);
    }
    assert_true(child > 0);
    return child;
}

typedef struct connection {
    pid_t child;
    hac_client *client; /* NULL: it was not made */
} connection;

static hac_status begin(connection *ret, hac_error *err)
{
    hac_connect_options options = HAC_CONNECT_OPTIONS_INIT;
    options.socket = path;
    *ret = (connection){serve(), NULL};
    return hac_client_connect(&options, &ret->client, err);
}

static void end(connection *c)
{
    int how;
    hac_client_free(c->client);
    hac_close(open_socket(false)); /* the daemon may still wait for a client */
    assert_int_equal(waitpid(c->child, &how, 0), c->child);
    if (how != 0) /* libhac broke the protocol */
        fail_msg("the daemon ended with status 0x%x", (unsigned)how);
}

/* The call succeeds when there is memory again: with the same client, or with another one if an answer was
 * dropped, which ends the connection. */
static void call_again(connection *c, const call *what, const char *after)
{
    hac_error err = HAC_ERROR_NONE;
    hac_status status = c->client != NULL ? run_call(c->client, what, &err) : HAC_NO_MEMORY;
    if (status == HAC_NO_MEMORY) {
        if (c->client != NULL)
            hac_test_assert_says(err.message, "hacd at ");
        end(c);
        status = begin(c, &err);
        if (status == HAC_OK)
            status = run_call(c->client, what, &err);
    }
    if (status != HAC_OK)
        fail_msg("after \"%s\": \"%s\"", after, err.message);
}

static hac_status run(void *context, hac_error *err)
{
    static unsigned runs;
    connection c;
    hac_status status = begin(&c, err);
    if (status == HAC_OK)
        status = run_call(c.client, context, err);
    hac_test_oom_disarm();
    if (status != HAC_OK && (runs++ % 4 == 0 || getenv("HAC_TEST_OOM_STEP") == NULL))
        call_again(&c, context, err->message);
    end(&c);
    return status;
}

/* ---- tests ---- */

/* Files as inputs, every sub-operator, loops, the reducer, and outputs in every format. */
static void test_every_subop(void **state)
{
    (void)state;
    static const char *const results[] = {"mixed", "each", "cells", "verdict"};
    static char paths[4][128];
    static const char *const names[] = {"a", "many", "p", "text"};
    hac_opsplit_input inputs[4];
    write_table("a", (const char *const[]){"x", "y", "n", "k", "w"}, "ffiis");
    write_table("many", (const char *const[]){"key", "value", "whole"}, "ifi");
    write_table("p", (const char *const[]){"c0", "c1", "c2", "c3"}, "ffff");
    write_table("text", (const char *const[]){"line"}, "s");
    for (size_t i = 0; i < 4; i++) {
        snprintf(paths[i], sizeof paths[i], "%s/%s", directory, names[i]);
        inputs[i] = (hac_opsplit_input){names[i], paths[i], NULL};
    }
    call c = {EVERY_SUBOP, inputs, 4, results, 4, 17};
    hac_test_exhaust(run, &c, 1000);
}

/* Vectors of every template as inputs and as results. */
static void test_templates(void **state)
{
    (void)state;
    static const char *const names[] = {"a", "x", "k", "p", "s", "v", "t"};
    static const char *const results[] = {"a", "x", "k", "p", "s", "v", "t", "y", "vs", "d", "words"};
    static const hac_op_operand forms[] = {
        {.form = HAC_VECTOR_SPARSE_MATRIX, .kind = HAC_KIND_F64, .rows = ROWS, .columns = ROWS},
        {.form = HAC_VECTOR_FIX_VALUE, .kind = HAC_KIND_F64, .rows = ROWS, .columns = 1},
        {.form = HAC_VECTOR_VAR, .kind = HAC_KIND_F64, .rows = 1, .columns = 1},
        {.form = HAC_VECTOR_PVAR, .kind = HAC_KIND_F64, .rows = ROWS, .columns = 3},
        {.form = HAC_VECTOR_SPARSE_VALUE, .kind = HAC_KIND_I64, .rows = ROWS, .columns = 1},
        {.form = HAC_VECTOR_VARIABLE_LEN, .kind = HAC_KIND_I64, .rows = ROWS, .columns = 1},
        {.form = HAC_VECTOR_SPARSE_TEXT, .kind = HAC_KIND_STRING, .rows = ROWS, .columns = 1}};
    enum { N = sizeof forms / sizeof *forms };
    static _Alignas(64) const uint8_t zeros[4096]; /* without entries */
    hac_vector *vectors[N] = {NULL};
    hac_opsplit_input inputs[N];
    for (size_t i = 0; i < N; i++) {
        hac_op_operand operand = forms[i];
        uint64_t bytes = 0;
        assert_true(hac_op_place(&operand, &bytes) && bytes <= sizeof zeros);
        assert_int_equal(hac_vector_view(&operand, zeros, sizeof zeros, &vectors[i], NULL), HAC_OK);
        inputs[i] = (hac_opsplit_input){names[i], NULL, vectors[i]};
    }
    call c = {TEMPLATES, inputs, N, results, sizeof results / sizeof *results, 1};
    hac_test_exhaust(run, &c, 200);
    for (size_t i = 0; i < N; i++)
        hac_vector_free(vectors[i]);
}

static int setup(void **state)
{
    strcpy(directory, "/tmp/hac-oom-XXXXXX");
    if (mkdtemp(directory) == NULL)
        return -1;
    snprintf(path, sizeof path, "%s/hacd.sock", directory);
    snprintf(output, sizeof output, "%s/out", directory);
    return setenv("XDG_DATA_HOME", directory, 1) != 0 ? -1 : hac_test_fds_setup(state);
}

static int teardown(void **state)
{
    char command[160];
    snprintf(command, sizeof command, "rm -r '%s'", directory);
    return system(command) != 0 ? -1 : hac_test_fds_teardown(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_subop), cmocka_unit_test(test_templates)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
