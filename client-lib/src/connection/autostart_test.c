/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the start of a private daemon. The started program is tests/fake_hacd.c. */
#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include <hac/hac.h>

#include "autostart.h"
#include "base/environment.h"
#include "base/test_support.h"
#include "socket.h"

static char top[64];

static void set_in_top(const char *variable, const char *name)
{
    char path[128];
    snprintf(path, sizeof(path), "%s/%s", top, name);
    mkdir(path, 0700);
    setenv(variable, path, 1);
}

static int setup(void **state)
{
    strcpy(top, "/tmp/hac-test-XXXXXX");
    if (mkdtemp(top) == NULL)
        return -1;
    set_in_top("XDG_RUNTIME_DIR", "run");
    set_in_top("XDG_STATE_HOME", "state");
    set_in_top("HAC_TEST_DIRECTORY", "starts");
    setenv("HAC_LIBEXEC", FAKE_LIBEXEC, 1);
    setenv("HAC_TEST_MODE", "serve", 1);
    unsetenv("HAC_SOCKET");
    return hac_test_fds_setup(state);
}

static int teardown(void **state)
{
    char command[128];
    snprintf(command, sizeof(command), "rm -rf %s", top);
    return system(command) != 0 ? -1 : hac_test_fds_teardown(state);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

/* Returns the number of starts. `ret`, if not NULL, gets the record of the last start. */
static int starts(char *ret, size_t capacity)
{
    char path[512];
    int n = 0;
    snprintf(path, sizeof(path), "%s/starts", top);
    DIR *directory = opendir(path);
    assert_non_null(directory);
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        if (strncmp(entry->d_name, "start.", 6) != 0)
            continue;
        n++;
        if (ret == NULL)
            continue;
        snprintf(path, sizeof(path), "%s/starts/%s", top, entry->d_name);
        FILE *file = fopen(path, "r");
        assert_non_null(file);
        ret[fread(ret, 1, capacity - 1, file)] = '\0';
        fclose(file);
    }
    closedir(directory);
    return n;
}

static hac_client *connect_client(void)
{
    hac_client *client = NULL;
    hac_error err = HAC_ERROR_NONE;
    if (hac_client_connect(NULL, &client, &err) != HAC_OK)
        print_message("%s\n", err.message);
    return client;
}

/* Ends the daemon and waits until its socket is gone. */
static void end_daemon(hac_client *client)
{
    hac_error err = HAC_ERROR_NONE;
    char path[128];
    snprintf(path, sizeof(path), "%s", hac_client_socket(client));
    assert_int_equal(hac_client_drain(client, &err), HAC_OK);
    while (hac_client_dispatch(client, &err) == HAC_OK)
        usleep(1000);
    hac_client_free(client);
    assert_int_equal(access(path, F_OK), -1);
}

static void assert_line(const char *record, const char *line)
{
    char wanted[512];
    snprintf(wanted, sizeof(wanted), "%s\n", line);
    if (strstr(record, wanted) == NULL)
        fail_msg("no \"%s\" in\n%s", line, record);
}

static void count_start(void *context, const char *socket_path)
{
    assert_non_null(strstr(socket_path, "/run/hac/hacd.sock"));
    ++*(int *)context;
}

static void test_started_once_and_used(void **state)
{
    (void)state;
    int started = 0;
    hac_connect_options options = HAC_CONNECT_OPTIONS_INIT;
    options.starting = count_start;
    options.context = &started;
    hac_client *client = NULL, *second = NULL;
    assert_int_equal(hac_client_connect(&options, &client, NULL), HAC_OK);
    assert_int_equal(hac_client_connect(&options, &second, NULL), HAC_OK);
    assert_int_equal(started, 1);
    assert_int_equal(starts(NULL, 0), 1);
    hac_client_free(second);
    end_daemon(client);
    /* start the daemon again after its shutdown */
    client = connect_client();
    assert_non_null(client);
    assert_int_equal(starts(NULL, 0), 2);
    end_daemon(client);
}

/* The daemon inherits nothing from the process that starts it, here a process like an MPI rank in a shell
 * pipeline. */
static void test_nothing_inherited(void **state)
{
    (void)state;
    cpu_set_t before, one;
    sigset_t blocked, old;
    char record[65536], line[256];
    int leak = open("/dev/null", O_RDONLY); /* not close-on-exec */
    mode_t mask = umask(0);
    assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
    CPU_ZERO(&one);
    for (size_t i = 0; i < CPU_SETSIZE && CPU_COUNT(&one) == 0; i++)
        if (CPU_ISSET(i, &before))
            CPU_SET(i, &one);
    assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGTERM);
    sigprocmask(SIG_BLOCK, &blocked, &old);
    signal(SIGHUP, SIG_IGN);
    setenv("SECRET", "x", 1);
    setenv("POCL_TEST", "kept", 1);
    hac_client *client = connect_client();
    sched_setaffinity(0, sizeof(before), &before);
    sigprocmask(SIG_SETMASK, &old, NULL);
    signal(SIGHUP, SIG_DFL);
    umask(mask);
    close(leak);
    assert_non_null(client);
    assert_int_equal(starts(record, sizeof(record)), 1);
    snprintf(line, sizeof(line), "arguments hacd --private --listen-fd 3 --socket %s",
             hac_client_socket(client));
    assert_line(record, line);
    assert_line(record, "cwd /");
    assert_line(record, "umask 077");
    assert_line(record, "leader 0"); /* so it cannot get a terminal */
    assert_non_null(strstr(record, "\nsession "));
    snprintf(line, sizeof(line), "\nsession %d\n", (int)getsid(0));
    assert_null(strstr(record, line)); /* the daemon has its own session */
    assert_line(record, "fds 4");
    assert_line(record, "blocked 0");
    assert_line(record, "ignored 0");
    assert_line(record, "environment POCL_TEST=kept");
    assert_null(strstr(record, "SECRET"));
    snprintf(line, sizeof(line), "cpus %d", CPU_COUNT(&before));
    assert_line(record, line);
    unsetenv("SECRET");
    unsetenv("POCL_TEST");
    end_daemon(client);
}

static void test_environment_kept(void **state)
{
    (void)state;
    const char *const kept[] = {"HOME=/",
                                "PATH=",
                                "LANG=C",
                                "LD_LIBRARY_PATH=/x",
                                "XDG_RUNTIME_DIR=/",
                                "HAC_X=",
                                "OCL_ICD_VENDORS=a",
                                "POCL_X=1",
                                "RUSTICL_ENABLE=x",
                                "LP_NUM_THREADS=1",
                                "CUDA_X="};
    const char *const dropped[] = {"HOMER=1",    "PATHS=", "LANGUAGE=de", "LD_PRELOAD=/x", "OMPI_X=1",
                                   "DISPLAY=:0", ""};
    for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
        assert_true(hac_environment_keeps(kept[i]));
    for (size_t i = 0; i < sizeof(dropped) / sizeof(dropped[0]); i++)
        assert_false(hac_environment_keeps(dropped[i]));
}

static void test_eight_at_once(void **state)
{
    (void)state;
    enum { N = 8 };
    pid_t children[N];
    int go[2];
    char c;
    assert_int_equal(pipe(go), 0);
    for (int i = 0; i < N; i++) {
        children[i] = fork();
        if (children[i] == 0) {
            close(go[1]);
            (void)!read(go[0], &c, 1); /* until the parent closes its end */
            hac_client *client = connect_client();
            _exit(client == NULL);
        }
    }
    close(go[0]);
    close(go[1]);
    for (int i = 0; i < N; i++) {
        int status;
        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        assert_int_equal(status, 0);
    }
    assert_int_equal(starts(NULL, 0), 1);
    end_daemon(connect_client());
}

static void test_left_over_socket(void **state)
{
    (void)state;
    hac_socket_path path;
    int listener = -1;
    assert_int_equal(hac_private_socket(getenv("XDG_RUNTIME_DIR"), "/tmp", path, NULL), HAC_OK);
    assert_int_equal(hac_socket_listen(path, &listener, NULL), HAC_OK);
    close(listener); /* as after the kill of a daemon */
    hac_client *client = connect_client();
    assert_non_null(client);
    end_daemon(client);
}

/* Connects while a socket of type `kind` listens at the private path. The client must not start a daemon and
 * must not remove the socket. */
static void refused_by(int kind, mode_t mode, const char *says)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    hac_socket_path path;
    hac_error err = HAC_ERROR_NONE;
    hac_client *client = NULL;
    assert_int_equal(hac_private_socket(getenv("XDG_RUNTIME_DIR"), "/tmp", path, NULL), HAC_OK);
    strcpy(address.sun_path, path);
    int listener = socket(AF_UNIX, kind | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(listener, (struct sockaddr *)&address, sizeof(address)), 0);
    assert_int_equal(chmod(path, mode), 0);
    assert_int_equal(listen(listener, 1), 0);
    assert_int_equal(hac_client_connect(NULL, &client, &err), HAC_REFUSED);
    assert_non_null(strstr(err.message, says));
    assert_non_null(strstr(err.message, path));
    assert_int_equal(starts(NULL, 0), 0);
    assert_int_equal(access(path, F_OK), 0);
    close(listener);
    unlink(path);
}

/* If a process listens but the client cannot use it, the client reports the reason and does not replace the
 * process. */
static void test_not_replaced(void **state)
{
    (void)state;
    refused_by(SOCK_STREAM, 0600, "another kind");
    if (geteuid() != 0) /* root may connect anywhere: fault/errors_test.py */
        refused_by(SOCK_SEQPACKET, 0, "Permission denied");
}

/* The daemon shuts down just when the client connects. It closes the connection, and the client starts
 * another daemon. */
static void test_leaves_while_connecting(void **state)
{
    (void)state;
    setenv("HAC_TEST_MODE", "leave-once", 1);
    hac_client *client = connect_client();
    assert_non_null(client);
    assert_int_equal(starts(NULL, 0), 2);
    end_daemon(client);
}

static void test_dies_at_start(void **state)
{
    (void)state;
    setenv("HAC_TEST_MODE", "die", 1);
    hac_error err = HAC_ERROR_NONE;
    hac_client *client = NULL;
    assert_int_equal(hac_client_connect(NULL, &client, &err), HAC_NO_DAEMON);
    assert_non_null(strstr(err.message, "first line error: no room for a daemon"));
    assert_in_range(starts(NULL, 0), 2, 3);
}

static void test_not_started(void **state)
{
    (void)state;
    hac_error err = HAC_ERROR_NONE;
    hac_client *client = NULL;
    hac_connect_options options = HAC_CONNECT_OPTIONS_INIT;
    options.flags = HAC_CONNECT_NO_AUTOSTART;
    assert_int_equal(hac_client_connect(&options, &client, &err), HAC_NO_DAEMON);
    setenv("HAC_LIBEXEC", "/nowhere", 1);
    assert_int_equal(hac_client_connect(NULL, &client, &err), HAC_NO_DAEMON);
    assert_non_null(strstr(err.message, "/nowhere/hacd"));
    /* the file is not a program: the client must remove the socket */
    char path[160];
    set_in_top("HAC_LIBEXEC", "bad");
    snprintf(path, sizeof(path), "%s/bad/hacd", top);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fclose(file);
    chmod(path, 0755);
    assert_int_equal(hac_client_connect(NULL, &client, &err), HAC_NO_DAEMON);
    assert_non_null(strstr(err.message, "Exec format error"));
    snprintf(path, sizeof(path), "%s/run/hac/hacd.sock", top);
    assert_int_equal(access(path, F_OK), -1);
    assert_int_equal(starts(NULL, 0), 0);
}

static void test_log_rotated(void **state)
{
    (void)state;
    char path[160], old[170];
    struct stat st;
    snprintf(path, sizeof(path), "%s/state/hac", top);
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(path, sizeof(path), "%s/state/hac/hacd.log", top);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(ftruncate(fileno(file), 1024 * 1024), 0);
    fclose(file);
    hac_client *client = connect_client();
    assert_non_null(client);
    snprintf(old, sizeof(old), "%s.old", path);
    assert_int_equal(stat(old, &st), 0);
    assert_int_equal(st.st_size, 1024 * 1024);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    end_daemon(client);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_started_once_and_used), TEST(test_nothing_inherited), TEST(test_environment_kept),
        TEST(test_eight_at_once),         TEST(test_left_over_socket),  TEST(test_leaves_while_connecting),
        TEST(test_not_replaced),          TEST(test_dies_at_start),     TEST(test_not_started),
        TEST(test_log_rotated),
    };
    if (access(HAC_SYSTEM_SOCKET, F_OK) == 0) {
        print_message("skipped: this machine has a system daemon, which would be used instead\n");
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
