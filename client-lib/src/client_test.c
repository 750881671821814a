/* SPDX-License-Identifier: Apache-2.0 */
/* Tests connecting, and faults of a daemon: another version, no response, death, hostile responses. */
#include "../tests/fake_daemon.h"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/memfd.h"
#include "connection/connection.h"

#define FDS(test) cmocka_unit_test_setup_teardown(test, hac_test_fds_setup, hac_test_fds_teardown)

static hac_status try_connect(const char *path, hac_error *err)
{
    hac_connect_options options = HAC_CONNECT_OPTIONS_INIT;
    options.socket = path;
    options.software = "test\n1";
    hac_client *client = NULL;
    hac_status status = hac_client_connect(&options, &client, err);
    assert_int_equal(client != NULL, status == HAC_OK);
    hac_client_free(client);
    return status;
}

/* ---- connecting ---- */

static void test_connect(void **state)
{
    (void)state;
    fake_daemon *daemon = fake_start(NULL, NULL);
    hac_client *client = fake_connect(daemon);
    assert_string_equal(hac_client_socket(client), fake_path(daemon));
    assert_true(hac_client_fd(client) >= 0);
    assert_string_equal(hac_version(), "0.1.0");
    hac_client_free(client);
    /* with the path in the environment */
    setenv("HAC_SOCKET", fake_path(daemon), 1);
    assert_int_equal(hac_client_connect(NULL, &client, NULL), HAC_OK);
    assert_string_equal(hac_client_socket(client), fake_path(daemon));
    hac_client_free(client);
    unsetenv("HAC_SOCKET");
    fake_stop(daemon);
}

static void test_no_daemon(void **state)
{
    (void)state;
    hac_error err = HAC_ERROR_NONE;
    assert_int_equal(try_connect("/nowhere/hacd.sock", &err), HAC_NO_DAEMON);
    hac_test_assert_says(err.message, "/nowhere/hacd.sock");
    assert_int_equal(try_connect("", &err), HAC_INVALID);
    /* a process that is not hacd listens at the path */
    char name[] = "/tmp/hac-client-XXXXXX";
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    assert_non_null(mkdtemp(name));
    snprintf(address.sun_path, sizeof(address.sun_path), "%s/s", name);
    int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(listener, (struct sockaddr *)&address, sizeof(address)), 0);
    assert_int_equal(listen(listener, 1), 0);
    assert_int_equal(try_connect(address.sun_path, &err), HAC_NO_DAEMON);
    hac_test_assert_says(err.message, "is no hacd: its socket is of another kind");
    close(listener);
    assert_int_equal(unlink(address.sun_path), 0); /* the client did not remove the socket */
    rmdir(name);
}

static bool other_version(fake_session *session, const Hac__Client__Request *request, hac_frame *frame)
{
    (void)frame;
    Hac__Client__Hello hello;
    hac__client__hello__init(&hello);
    hello.version = HAC_CLIENT_PROTOCOL_VERSION + 1;
    hello.software = (char *)(uintptr_t) "hacd 9.9";
    Hac__Client__Response r = HAC__CLIENT__RESPONSE__INIT;
    r.serial = request->serial;
    r.what_case = HAC__CLIENT__RESPONSE__WHAT_HELLO;
    r.hello = &hello;
    fake_send(session, &r, NULL, 0);
    session->hang_up = true;
    return true;
}

static bool refuse_version(fake_session *session, const Hac__Client__Request *request, hac_frame *frame)
{
    (void)frame;
    fake_send_failure(session, request->serial, HAC_NO_DAEMON, "this hacd speaks 2, the client 1");
    session->hang_up = true;
    return true;
}

static bool refuse_connection(fake_session *session, const Hac__Client__Request *request, hac_frame *frame)
{
    (void)frame;
    (void)request;
    fake_send_failure(session, 0, HAC_REFUSED, "too many connections");
    session->hang_up = true;
    return true;
}

static bool hang_up(fake_session *session, const Hac__Client__Request *request, hac_frame *frame)
{
    (void)frame;
    (void)request;
    return session->hang_up = true;
}

static void test_handshake_refused(void **state)
{
    (void)state;
    char versions[100];
    snprintf(versions, sizeof(versions), "(hacd 9.9) speaks version %d of the protocol, libhac %s speaks %d",
             HAC_CLIENT_PROTOCOL_VERSION + 1, hac_version(), HAC_CLIENT_PROTOCOL_VERSION);
    const struct {
        fake_hook *hook;
        hac_status status;
        const char *message;
    } cases[] = {
        {other_version, HAC_NO_DAEMON, versions},
        {refuse_version, HAC_NO_DAEMON, "this hacd speaks 2, the client 1"},
        {refuse_connection, HAC_REFUSED, "too many connections"},
        {hang_up, HAC_NO_DAEMON, "has gone away"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        hac_error err = HAC_ERROR_NONE;
        fake_daemon *daemon = fake_start(cases[i].hook, NULL);
        assert_int_equal(try_connect(fake_path(daemon), &err), cases[i].status);
        hac_test_assert_says(err.message, cases[i].message);
        fake_stop(daemon);
    }
}

/* ---- the daemon dies ---- */

typedef struct ended {
    int count;
    hac_status status;
} ended;

static void on_done(void *context, hac_job *job)
{
    ended *e = context;
    e->count++;
    e->status = hac_job_wait(job, 0, NULL);
}

static bool die_on_wait(fake_session *session, const Hac__Client__Request *request, hac_frame *frame)
{
    (void)frame;
    if (request->what_case == HAC__CLIENT__REQUEST__WHAT_SUBMIT_SORT)
        fake_send_accepted(session, request->serial, request->serial);
    else if (request->what_case == HAC__CLIENT__REQUEST__WHAT_QUERY)
        session->hang_up = true;
    else if (request->what_case != HAC__CLIENT__REQUEST__WHAT_WAIT)
        return false;
    return true;
}

static void test_daemon_dies(void **state)
{
    (void)state;
    ended e = {0};
    hac_error err = HAC_ERROR_NONE;
    fake_daemon *daemon = fake_start(die_on_wait, NULL);
    hac_client *client = fake_connect(daemon);
    hac_sort_options options = HAC_SORT_OPTIONS_INIT;
    options.type = HAC_TYPE_U32;
    options.job.done = on_done;
    options.job.context = &e;
    uint32_t *keys = calloc(10000, 4);
    hac_job *jobs[3];
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(hac_sort_memory(client, keys, i == 0 ? 10 : 10000, &options, &jobs[i], NULL),
                         HAC_OK);
    char *text = NULL;
    assert_int_equal(hac_client_query(client, HAC_TOPIC_STATUS, 0, 0, &text, &err), HAC_NO_DAEMON);
    hac_test_assert_says(err.message, "has gone away");
    assert_null(text);
    /* all jobs have ended, and each callback ran once */
    assert_int_equal(e.count, 3);
    assert_int_equal(e.status, HAC_NO_DAEMON);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(hac_job_get_state(jobs[i]), HAC_JOB_FAILED);
        assert_int_equal(hac_job_wait(jobs[i], -1, &err), HAC_NO_DAEMON);
        hac_job_free(jobs[i]);
    }
    /* an event loop sees the error, and every call returns it */
    struct pollfd p = {hac_client_fd(client), POLLIN, 0};
    assert_int_equal(poll(&p, 1, 0), 1);
    assert_int_equal(hac_client_dispatch(client, &err), HAC_NO_DAEMON);
    hac_buffer *buffer = NULL;
    assert_int_equal(hac_buffer_alloc(client, 1, &buffer, &err), HAC_NO_DAEMON);
    hac_job *job = NULL;
    assert_int_equal(hac_sort_memory(client, keys, 10, &options, &job, &err), HAC_NO_DAEMON);
    assert_int_equal(hac_sort_memory(client, keys, 10000, &options, &job, &err), HAC_NO_DAEMON);
    assert_int_equal(e.count, 3);
    free(keys);
    hac_client_free(client);
    fake_stop(daemon);
}

/* ---- hostile responses ---- */

/* Sends a piece of a Text in place of the correct response. */
static void send_text_of(fake_session *session, uint64_t serial, uint64_t bytes, size_t length, int fd)
{
    static uint8_t piece[HAC_INLINE_MAX];
    Hac__Client__Text text = HAC__CLIENT__TEXT__INIT;
    text.bytes = bytes;
    text.text = (ProtobufCBinaryData){length, piece};
    Hac__Client__Response r = HAC__CLIENT__RESPONSE__INIT;
    r.serial = serial;
    r.what_case = HAC__CLIENT__RESPONSE__WHAT_TEXT;
    r.text = &text;
    fake_send(session, &r, &fd, fd >= 0);
}

/* The rest of a text of 100,000 bytes is not what was announced. */
static void hostile_rest(fake_session *session, uint64_t serial, int kind)
{
    if (kind == 0) /* of another size */
        send_text_of(session, serial, 100001, HAC_INLINE_MAX, -1);
    else if (kind == 1) /* no text */
        fake_send_ok(session, serial);
    else /* more than is left, sooner or later */
        send_text_of(session, serial, 100000, HAC_INLINE_MAX, -1);
}

enum { HOSTILE = 14 };

static bool hostile(fake_session *session, const Hac__Client__Request *request, hac_frame *frame)
{
    (void)frame;
    int kind = *(int *)fake_context(session->daemon);
    uint64_t serial = request->serial;
    const uint8_t garbage[] = {'h', 'a', 'c', 0, 4, 0, 0, 0, 0xff, 0xff, 0xff, 0xff};
    if (request->what_case == HAC__CLIENT__REQUEST__WHAT_MORE_TEXT)
        hostile_rest(session, serial, kind - 9);
    if (request->what_case != HAC__CLIENT__REQUEST__WHAT_QUERY)
        return request->what_case == HAC__CLIENT__REQUEST__WHAT_MORE_TEXT;
    switch (kind) {
    case 0: /* wrong serials */
        fake_send_text(session, serial + 1, "later");
        break;
    case 1:
        fake_send_text(session, serial - 1, "earlier");
        break;
    case 2:
        fake_send_ok(session, UINT64_MAX);
        break;
    case 3:
        fake_send_text(session, serial | UINT64_C(1) << 63, "told");
        break;
    case 4: /* responses of another kind */
        fake_send_ok(session, serial);
        break;
    case 5:
        fake_send_buffer(session, serial, 1, 100, -1);
        break;
    case 6: /* unrequested responses about jobs */
        fake_send_accepted(session, serial, 9);
        break;
    case 7:
        fake_send_data(session, serial, 9, "abcd", 4);
        break;
    case 8: /* a descriptor that nobody wants */
        send_text_of(session, serial, 4, 4, STDERR_FILENO);
        break;
    case 9:
    case 10:
    case 11:
        send_text_of(session, serial, 100000, HAC_INLINE_MAX, -1);
        break;
    case 12: /* invalid frames and messages */
        (void)!send(session->socket, "xx", 2, MSG_NOSIGNAL);
        break;
    default:
        (void)!send(session->socket, garbage, sizeof(garbage), MSG_NOSIGNAL);
    }
    return true;
}

static void test_hostile_answers(void **state)
{
    (void)state;
    for (int kind = 0; kind < HOSTILE; kind++) {
        hac_error err = HAC_ERROR_NONE;
        fake_daemon *daemon = fake_start(hostile, &kind);
        hac_client *client = fake_connect(daemon);
        char *text = NULL;
        hac_status status = hac_client_query(client, HAC_TOPIC_STATUS, 0, 0, &text, &err);
        if (status != HAC_PROTOCOL)
            print_message("kind %d: %d %s\n", kind, status, err.message);
        assert_int_equal(status, HAC_PROTOCOL);
        assert_null(text);
        assert_int_equal(hac_client_dispatch(client, &err), HAC_PROTOCOL); /* the error stays */
        hac_client_free(client);
        fake_stop(daemon);
    }
}

/* Hostile responses to a submission of 100 keys. */
static bool hostile_results(fake_session *session, const Hac__Client__Request *request, hac_frame *frame)
{
    (void)frame;
    static const uint8_t zeros[800];
    int kind = *(int *)fake_context(session->daemon);
    if (request->what_case != HAC__CLIENT__REQUEST__WHAT_SUBMIT_SORT)
        return false;
    switch (kind) {
    case 0: /* a wrong size: the caller would read beyond the end */
        fake_send_data(session, request->serial, 1, zeros, 399);
        break;
    case 1:
        fake_send_data(session, request->serial, 1, zeros, 800);
        break;
    case 2:
        fake_send_data(session, request->serial, 1, zeros, 0);
        break;
    case 3: /* accepted twice */
        fake_send_accepted(session, request->serial, 1);
        fake_send_accepted(session, request->serial, 1);
        break;
    case 4: { /* a result in memory that is too short */
        hac_autoclose int fd = -1;
        assert_int_equal(hac_memfd_create("r", 100, false, &fd, NULL), HAC_OK);
        Hac__Client__Buffer buffer = HAC__CLIENT__BUFFER__INIT;
        buffer.bytes = 400;
        buffer.attached = true;
        Hac__Client__JobDone done;
        hac__client__job_done__init(&done);
        done.job = 1;
        done.state = HAC__CLIENT__JOB_STATE__JOB_DONE;
        done.result_case = HAC__CLIENT__JOB_DONE__RESULT_BUFFER;
        done.buffer = &buffer;
        done.result_bytes = 400;
        fake_send_done(session, request->serial, &done, fd);
        break;
    }
    default:
        fake_send_text(session, request->serial, "no job");
    }
    return true;
}

static void test_hostile_results(void **state)
{
    (void)state;
    for (int kind = 0; kind < 6; kind++) {
        hac_error err = HAC_ERROR_NONE;
        fake_daemon *daemon = fake_start(hostile_results, &kind);
        hac_client *client = fake_connect(daemon);
        hac_sort_options options = HAC_SORT_OPTIONS_INIT;
        options.type = HAC_TYPE_U32;
        uint32_t keys[100] = {0};
        hac_job *job = NULL;
        assert_int_equal(hac_sort_memory(client, keys, 100, &options, &job, &err), HAC_OK);
        assert_int_equal(hac_job_wait(job, -1, &err), HAC_PROTOCOL);
        assert_null(hac_job_data(job));
        hac_job_free(job);
        hac_client_free(client);
        fake_stop(daemon);
    }
}

/* ---- texts, and a full socket ---- */

static bool long_text(fake_session *session, const Hac__Client__Request *request, hac_frame *frame)
{
    (void)frame;
    if (request->what_case != HAC__CLIENT__REQUEST__WHAT_QUERY)
        return false;
    char *text = malloc(request->query->job + 1);
    memset(text, 'x', request->query->job);
    text[request->query->job] = '\0';
    fake_send_text(session, request->serial, text);
    free(text);
    return true;
}

static void test_texts(void **state)
{
    (void)state;
    const size_t sizes[] = {0, 1, 32767, 32768, 32769, 1000000};
    fake_daemon *daemon = fake_start(long_text, NULL);
    hac_client *client = fake_connect(daemon);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        char *text = NULL;
        assert_int_equal(hac_client_query(client, HAC_TOPIC_SHOW, sizes[i], HAC_PLAN_JSON, &text, NULL),
                         HAC_OK);
        assert_int_equal(strlen(text), sizes[i]);
        free(text);
    }
    hac_client_free(client);
    fake_stop(daemon);
}

/* A daemon that does not read while it writes many messages, like a daemon whose own socket is full. */
static bool flood(fake_session *session, const Hac__Client__Request *request, hac_frame *frame)
{
    (void)frame;
    if (request->what_case != HAC__CLIENT__REQUEST__WHAT_BUFFER_RELEASE)
        return false;
    for (int i = 0; i < 200; i++)
        fake_send_event(session, 1, 0.5, "flood");
    fake_send_ok(session, request->serial);
    return true;
}

static void test_full_socket(void **state)
{
    (void)state;
    fake_daemon *daemon = fake_start(flood, NULL);
    hac_client *client = fake_connect(daemon);
    for (uint32_t i = 0; i < 2000; i++) { /* each request brings 200 events: both directions fill up */
        Hac__Client__BufferRelease release = HAC__CLIENT__BUFFER_RELEASE__INIT;
        release.buffer = i;
        Hac__Client__Request request = HAC__CLIENT__REQUEST__INIT;
        request.what_case = HAC__CLIENT__REQUEST__WHAT_BUFFER_RELEASE;
        request.buffer_release = &release;
        hac_client_tell(client, &request);
    }
    char *text = NULL;
    assert_int_equal(hac_client_query(client, HAC_TOPIC_STATUS, 0, 0, &text, NULL), HAC_OK);
    free(text);
    assert_int_equal(fake_count(daemon, HAC__CLIENT__REQUEST__WHAT_BUFFER_RELEASE), 2000);
    hac_client_free(client);
    fake_stop(daemon);
}

/* ---- plans and administration ---- */

static Hac__Client__PlanInput seen_input;

static bool look_at_plan(fake_session *session, const Hac__Client__Request *request, hac_frame *frame)
{
    (void)session;
    (void)frame;
    if (request->what_case == HAC__CLIENT__REQUEST__WHAT_PLAN_SORT)
        seen_input = request->plan_sort->input;
    return false;
}

/* A plan must describe the same submission as the sort call. For few keys, that is a submission in the
 * message. */
static void assert_plan_input(hac_client *client, hac_plan_input input, hac_sort_algorithm algorithm,
                              uint64_t items, Hac__Client__PlanInput expected)
{
    hac_sort_options options = HAC_SORT_OPTIONS_INIT;
    char *text = NULL;
    options.type = HAC_TYPE_F64;
    options.plan_input = input;
    options.algorithm = algorithm;
    assert_int_equal(hac_explain_sort(client, items, &options, HAC_PLAN_JSON, &text, NULL), HAC_OK);
    assert_int_equal(seen_input, expected);
    free(text);
}

static void test_plan_inputs(void **state)
{
    (void)state;
    fake_daemon *daemon = fake_start(look_at_plan, NULL);
    hac_client *client = fake_connect(daemon);
    const Hac__Client__PlanInput buffer = HAC__CLIENT__PLAN_INPUT__PLAN_INPUT_BUFFER;
    const Hac__Client__PlanInput descriptor = HAC__CLIENT__PLAN_INPUT__PLAN_INPUT_DESCRIPTOR;
    const Hac__Client__PlanInput data = HAC__CLIENT__PLAN_INPUT__PLAN_INPUT_DATA;
    assert_plan_input(client, HAC_PLAN_INPUT_BUFFER, HAC_SORT_AUTO, 4096, buffer);
    assert_plan_input(client, HAC_PLAN_INPUT_MEMORY, HAC_SORT_BITONIC, 4096, data);
    assert_plan_input(client, HAC_PLAN_INPUT_MEMORY, HAC_SORT_AUTO, 4097, buffer);
    assert_plan_input(client, HAC_PLAN_INPUT_FILE, HAC_SORT_AUTO, 4096, data);
    assert_plan_input(client, HAC_PLAN_INPUT_FILE, HAC_SORT_BITONIC, 4096, descriptor);
    assert_plan_input(client, HAC_PLAN_INPUT_FILE, HAC_SORT_AUTO, 4097, descriptor);
    hac_sort_options options = HAC_SORT_OPTIONS_INIT;
    hac_error err = HAC_ERROR_NONE;
    char *text = NULL;
    options.type = HAC_TYPE_F64;
    options.plan_input = (hac_plan_input)3;
    assert_int_equal(hac_explain_sort(client, 1, &options, HAC_PLAN_JSON, &text, &err), HAC_INVALID);
    hac_client_free(client);
    fake_stop(daemon);
}

static void test_plans(void **state)
{
    (void)state;
    fake_daemon *daemon = fake_start(NULL, NULL);
    hac_client *client = fake_connect(daemon);
    hac_error err = HAC_ERROR_NONE;
    hac_sort_options options = HAC_SORT_OPTIONS_INIT;
    options.type = HAC_TYPE_F64;
    char *text = NULL;
    assert_int_equal(hac_explain_sort(client, 1000, &options, HAC_PLAN_JSON, &text, NULL), HAC_OK);
    assert_string_equal(text, "{}");
    free(text);
    const hac_simulated_capability rates[] = {{"sort.f64", 1e8}, {"merge.f64", 2e8}};
    hac_simulated_device devices[2] = {
        {.size = sizeof(devices[0]), .name = "a", .capability = rates, .n_capability = 2},
        {.size = sizeof(devices[0]), .name = "b", .group = "g", .kind = "gpu"}};
    assert_int_equal(hac_simulate_sort(client, devices, 2, 1000, &options, HAC_PLAN_TEXT, &text, NULL),
                     HAC_OK);
    free(text);
    text = NULL;
    assert_int_equal(hac_simulate_sort(client, devices, 0, 1, &options, 0, &text, &err), HAC_INVALID);
    assert_int_equal(hac_simulate_sort(client, devices, 17, 1, &options, 0, &text, &err), HAC_INVALID);
    devices[0].link_latency = -1;
    assert_int_equal(hac_simulate_sort(client, devices, 2, 1, &options, 0, &text, &err), HAC_INVALID);
    devices[0].link_latency = 0;
    devices[0].name = "";
    assert_int_equal(hac_simulate_sort(client, devices, 2, 1, &options, 0, &text, &err), HAC_INVALID);
    devices[0].size = 1;
    assert_int_equal(hac_simulate_sort(client, devices, 2, 1, &options, 0, &text, &err), HAC_INVALID);
    assert_null(text);
    assert_int_equal(hac_client_drain(client, NULL), HAC_OK);
    assert_int_equal(hac_client_reload(client, NULL), HAC_OK);
    assert_int_equal(hac_tuning_revert(client, (const char *const[]){"cpu"}, 1, 0, NULL), HAC_OK);
    assert_int_equal(hac_tuning_revert(client, NULL, 0, 1, NULL), HAC_OK);
    assert_int_equal(hac_tuning_revert(client, (const char *const[]){""}, 1, 1, NULL), HAC_INVALID);
    hac_client_free(client);
    fake_stop(daemon);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FDS(test_connect),     FDS(test_no_daemon),       FDS(test_handshake_refused),
        FDS(test_daemon_dies), FDS(test_hostile_answers), FDS(test_hostile_results),
        FDS(test_texts),       FDS(test_full_socket),     FDS(test_plans),
        FDS(test_plan_inputs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
