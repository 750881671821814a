/* SPDX-License-Identifier: Apache-2.0 */
/* The test's datagram socket stands in for the service manager. */
#include "service_manager.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/test_support.h"

#define MANAGER "hac-notify-test-%d"

typedef struct fixture {
    uv_loop_t loop;
    uv_timer_t stop;
    hac_service_manager *notify;
    int manager;
} fixture;

/* An abstract socket, which leaves no file behind. */
static int setup(void **state)
{
    fixture *f = calloc(1, sizeof *f);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int n = snprintf(address.sun_path + 1, sizeof address.sun_path - 1, MANAGER, (int)getpid());
    char name[64];
    snprintf(name, sizeof name, "@" MANAGER, (int)getpid());
    assert_non_null(f);
    f->manager = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    assert_return_code(bind(f->manager, (struct sockaddr *)&address,
                            (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n)),
                       errno);
    setenv("NOTIFY_SOCKET", name, 1);
    assert_int_equal(uv_loop_init(&f->loop), 0);
    assert_int_equal(uv_timer_init(&f->loop, &f->stop), 0);
    *state = f;
    return 0;
}

static void close_handle(uv_handle_t *handle, void *context)
{
    (void)context;
    uv_close(handle, NULL);
}

static int teardown(void **state)
{
    fixture *f = *state;
    uv_walk(&f->loop, close_handle, NULL);
    uv_run(&f->loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&f->loop), 0);
    hac_service_manager_free(f->notify);
    close(f->manager);
    free(f);
    unsetenv("NOTIFY_SOCKET");
    return 0;
}

static void start(fixture *f)
{
    hac_error err = HAC_ERROR_NONE;
    assert_int_equal(hac_service_manager_new(&f->loop, &f->notify, &err), HAC_OK);
}

static void nothing(uv_timer_t *timer)
{
    (void)timer;
}

static void turn(fixture *f, unsigned ms)
{
    uv_timer_start(&f->stop, nothing, ms, 0);
    uv_run(&f->loop, UV_RUN_DEFAULT); /* returns when the one timer that keeps the loop alive has fired */
}

static bool next(fixture *f, char text[256])
{
    ssize_t n = recv(f->manager, text, 255, 0);
    text[n > 0 ? n : 0] = '\0';
    return n > 0;
}

static void expect(fixture *f, const char *wanted)
{
    char text[256];
    assert_true(next(f, text));
    assert_int_equal(strncmp(text, wanted, strlen(wanted)), 0);
}

static void expect_silence(fixture *f)
{
    char text[256];
    assert_false(next(f, text));
}

static void states(void **state)
{
    fixture *f = *state;
    start(f);
    assert_null(getenv("NOTIFY_SOCKET"));
    hac_service_manager_reloading(f->notify); /* before the first READY, a reload is part of the start */
    expect_silence(f);
    hac_service_manager_ready(f->notify);
    hac_service_manager_ready(f->notify);
    expect(f, "READY=1");
    expect_silence(f);
    hac_service_manager_reloading(f->notify);
    expect(f, "RELOADING=1\nMONOTONIC_USEC=");
    hac_service_manager_ready(f->notify);
    expect(f, "READY=1");
    hac_service_manager_stopping(f->notify, 33);
    hac_service_manager_stopping(f->notify, 3);
    hac_service_manager_ready(f->notify); /* a probe that ends while hacd is stopping */
    expect(f, "STOPPING=1\nEXTEND_TIMEOUT_USEC=33000000");
    expect_silence(f);
}

static void status_lines(void **state)
{
    fixture *f = *state;
    start(f);
    hac_service_manager_status(f->notify, "%d jobs", 1);
    hac_service_manager_status(f->notify, "%d jobs", 1);
    expect(f, "STATUS=1 jobs");
    hac_service_manager_status(f->notify, "%d jobs", 2); /* too early to be sent, then out of date */
    hac_service_manager_status(f->notify, "%d jobs", 3);
    expect_silence(f);
    turn(f, 1300);
    expect(f, "STATUS=3 jobs");
    expect_silence(f);
}

static void watchdog(void **state)
{
    fixture *f = *state;
    char text[256];
    unsigned pings = 0;
    setenv("WATCHDOG_USEC", "80000", 1);
    start(f);
    assert_null(getenv("WATCHDOG_USEC"));
    expect_silence(f);
    uint64_t began = hac_now_ns();
    for (int tries = 0; tries < 300 && pings < 4; tries++) { /* on a busy machine some pings are late */
        turn(f, 110);
        while (next(f, text))
            pings += strcmp(text, "WATCHDOG=1") == 0;
    }
    assert_in_range(pings, 4, 4 + hac_seconds_since(began) / 0.02);
    usleep(100000); /* the loop hangs */
    expect_silence(f);
}

/* A watchdog that is meant for another process, or whose variables are invalid. */
static void no_watchdog(void **state)
{
    fixture *f = *state;
    static const char *const bad[] = {"", "soon", "-1", "99999999999999999999999", "0", "1000"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        hac_error err = HAC_ERROR_NONE;
        hac_service_manager *notify = NULL;
        char name[64];
        snprintf(name, sizeof name, "@" MANAGER, (int)getpid());
        setenv("NOTIFY_SOCKET", name, 1);
        setenv("WATCHDOG_USEC", bad[i], 1);
        if (i + 1 == sizeof bad / sizeof *bad)
            setenv("WATCHDOG_PID", "1", 1);
        assert_int_equal(hac_service_manager_new(&f->loop, &notify, &err), HAC_OK);
        turn(f, 5);
        expect_silence(f);
        assert_null(getenv("WATCHDOG_PID"));
        uv_walk(&f->loop, close_handle, NULL);
        uv_run(&f->loop, UV_RUN_DEFAULT);
        hac_service_manager_free(notify);
        uv_timer_init(&f->loop, &f->stop);
    }
}

/* What a full queue does not accept is sent when there is space, and nothing blocks meanwhile. */
static void deaf_manager(void **state)
{
    fixture *f = *state;
    struct sockaddr_un address;
    socklen_t bytes = sizeof address;
    assert_return_code(getsockname(f->manager, (struct sockaddr *)&address, &bytes), errno);
    hac_autoclose int other = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    while (sendto(other, "FULL=1", 6, 0, (struct sockaddr *)&address, bytes) == 6)
        continue;
    assert_int_equal(errno, EAGAIN);
    start(f);
    uint64_t began = hac_now_ns();
    hac_service_manager_ready(f->notify);
    hac_service_manager_status(f->notify, "busy");
    assert_true(hac_seconds_since(began) < 5); /* would block for ever if it blocked */
    char text[256];
    while (next(f, text))
        assert_string_equal(text, "FULL=1");
    turn(f, 250);
    expect(f, "READY=1");
    expect(f, "STATUS=busy");
    expect_silence(f);
}

static void nobody(void **state)
{
    fixture *f = *state;
    char long_name[200] = "/";
    memset(long_name + 1, 'x', sizeof long_name - 2);
    const char *const names[] = {NULL,     "", "@", "/", "relative", "vsock:1:2", "/nonexistent/notify",
                                 long_name};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        hac_error err = HAC_ERROR_NONE;
        hac_service_manager *notify = NULL;
        unsetenv("NOTIFY_SOCKET");
        if (names[i] != NULL)
            setenv("NOTIFY_SOCKET", names[i], 1);
        assert_int_equal(hac_service_manager_new(&f->loop, &notify, &err), HAC_OK);
        hac_service_manager_ready(notify);
        hac_service_manager_status(notify, "fine");
        hac_service_manager_stopping(notify, 1);
        turn(f, 1);
        uv_walk(&f->loop, close_handle, NULL);
        uv_run(&f->loop, UV_RUN_DEFAULT);
        hac_service_manager_free(notify);
        uv_timer_init(&f->loop, &f->stop);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(states, setup, teardown),
        cmocka_unit_test_setup_teardown(status_lines, setup, teardown),
        cmocka_unit_test_setup_teardown(watchdog, setup, teardown),
        cmocka_unit_test_setup_teardown(no_watchdog, setup, teardown),
        cmocka_unit_test_setup_teardown(deaf_manager, setup, teardown),
        cmocka_unit_test_setup_teardown(nobody, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
