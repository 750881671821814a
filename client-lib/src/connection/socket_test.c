/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
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
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "base/test_support.h"
#include "socket.h"

#define FDS(test) cmocka_unit_test_setup_teardown(test, make_directory, remove_directory)

static char top[64]; /* stands for /tmp */

static int make_directory(void **state)
{
    strcpy(top, "/tmp/hac-test-XXXXXX");
    return mkdtemp(top) == NULL || chmod(top, 0755) < 0 ? -1 : hac_test_fds_setup(state);
}

static int remove_directory(void **state)
{
    char command[128];
    snprintf(command, sizeof(command), "rm -rf %s", top);
    return system(command) != 0 ? -1 : hac_test_fds_teardown(state);
}

static char *path_of(const char *name)
{
    static char path[256];
    snprintf(path, sizeof(path), "%s/%s", top, name);
    return path;
}

/* The directory of a private daemon below `top`. */
static char *own_directory(void)
{
    char name[32];
    snprintf(name, sizeof(name), "hac-%u", (unsigned)geteuid());
    return path_of(name);
}

static void test_private_made(void **state)
{
    (void)state;
    hac_socket_path path;
    char expected[512];
    struct stat st;
    assert_int_equal(hac_private_socket(NULL, top, path, NULL), HAC_OK);
    snprintf(expected, sizeof(expected), "%s/hacd.sock", own_directory());
    assert_string_equal(path, expected);
    assert_int_equal(stat(own_directory(), &st), 0);
    assert_int_equal(st.st_mode & 07777, 0700);
    assert_int_equal(hac_private_socket(NULL, top, path, NULL), HAC_OK); /* the directory exists now */
}

static void test_private_in_runtime(void **state)
{
    (void)state;
    hac_socket_path path;
    char runtime[128], expected[512];
    snprintf(runtime, sizeof(runtime), "%s/run", top);
    assert_int_equal(mkdir(runtime, 0700), 0);
    assert_int_equal(hac_private_socket(runtime, top, path, NULL), HAC_OK);
    snprintf(expected, sizeof(expected), "%s/hac/hacd.sock", runtime);
    assert_string_equal(path, expected);
    /* a directory that other users can write to, or that does not exist, is not used */
    const char *bad[] = {"relative", "/nowhere/at/all", "/etc/passwd", "/tmp"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_int_equal(hac_private_socket(bad[i], top, path, NULL), HAC_OK);
        assert_non_null(strstr(path, "/hac-"));
    }
}

static void assert_refused(const char *reason)
{
    hac_socket_path path = "untouched";
    hac_error err = HAC_ERROR_NONE;
    assert_int_equal(hac_private_socket(NULL, top, path, &err), HAC_REFUSED);
    assert_string_equal(path, "untouched");
    hac_test_assert_says(err.message, reason);
}

static void test_unsafe_directories_refused(void **state)
{
    (void)state;
    char target[128];
    snprintf(target, sizeof(target), "%s/elsewhere", top);
    assert_int_equal(mkdir(target, 0700), 0);
    /* a symbolic link, even to a safe directory */
    assert_int_equal(symlink(target, own_directory()), 0);
    assert_refused("is not a directory");
    assert_int_equal(unlink(own_directory()), 0);
    /* a file */
    FILE *file = fopen(own_directory(), "w");
    assert_non_null(file);
    fclose(file);
    assert_refused("is not a directory");
    assert_int_equal(unlink(own_directory()), 0);
    /* accessible to other users */
    assert_int_equal(mkdir(own_directory(), 0700), 0);
    for (mode_t bit = 1; bit <= 040; bit <<= 1) {
        assert_int_equal(chmod(own_directory(), 0700 | bit), 0);
        assert_refused("chmod 700");
    }
    assert_int_equal(chmod(own_directory(), 0700), 0);
    /* owned by another user */
    if (geteuid() == 0) {
        assert_int_equal(chown(own_directory(), 12345, 12345), 0);
        assert_refused("belongs to user 12345");
    }
}

static void test_long_names(void **state)
{
    (void)state;
    hac_socket_path path = "untouched";
    hac_error err = HAC_ERROR_NONE;
    char name[200];
    memset(name, 'x', sizeof(name) - 1);
    name[0] = '/';
    for (size_t length = 100; length < sizeof(name); length++) {
        name[length] = '\0';
        bool fits = length < sizeof(hac_socket_path);
        assert_int_equal(hac_socket_path_set(path, name, &err), fits ? HAC_OK : HAC_INVALID);
        assert_int_equal(hac_private_socket(NULL, name, path, &err) == HAC_OK,
                         false); /* too long, or missing */
        name[length] = 'x';
    }
    assert_int_equal(hac_socket_path_set(path, "", &err), HAC_INVALID);
}

static void test_listen_and_connect(void **state)
{
    (void)state;
    hac_error err = HAC_ERROR_NONE;
    struct stat st;
    const char *path = path_of("hacd.sock");
    hac_autoclose int listener = -1, client = -1;
    assert_int_equal(hac_socket_connect(path, false, &client, &err), HAC_NO_DAEMON);
    assert_int_equal(hac_socket_listen(path, &listener, &err), HAC_OK);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    assert_int_equal(hac_socket_connect(path, false, &client, &err), HAC_OK);
    assert_true((fcntl(client, F_GETFL) & O_NONBLOCK) != 0);
    assert_true((fcntl(client, F_GETFD) & FD_CLOEXEC) != 0);
    hac_closep(&listener);
    hac_closep(&client);
    assert_int_equal(hac_socket_connect(path, false, &client, &err), HAC_NO_DAEMON); /* stale socket */
    assert_int_equal(client, -1);
}

/* Starts a process of another user that listens at `path` until it is killed. The process writes a byte to
 * `ready` when it listens. */
static pid_t listen_as(uid_t uid, const char *path, int ready[2])
{
    pid_t child = fork();
    if (child != 0)
        return child;
    int listener = -1;
    if (setuid(uid) < 0 || hac_socket_listen(path, &listener, NULL) != HAC_OK)
        _exit(1);
    if (write(ready[1], "x", 1) != 1)
        _exit(1);
    close(ready[1]);
    for (;;)
        pause();
}

static void test_foreign_listener_refused(void **state)
{
    (void)state;
    if (geteuid() != 0)
        skip();
    hac_error err = HAC_ERROR_NONE;
    char directory[128], path[160], c;
    int ready[2], client = -1;
    snprintf(directory, sizeof(directory), "%s/theirs", top);
    snprintf(path, sizeof(path), "%s/hacd.sock", directory);
    assert_int_equal(mkdir(directory, 0755), 0);
    assert_int_equal(chown(directory, 12345, 12345), 0);
    assert_int_equal(pipe(ready), 0);
    pid_t child = listen_as(12345, path, ready);
    close(ready[1]);
    assert_int_equal(read(ready[0], &c, 1), 1);
    close(ready[0]);
    assert_int_equal(hac_socket_connect(path, false, &client, &err), HAC_REFUSED);
    assert_non_null(strstr(err.message, "user 12345 listens at"));
    /* the client connects if it trusts the owner of the socket, for example the user of a service */
    assert_int_equal(hac_socket_connect(path, true, &client, &err), HAC_OK);
    close(client);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FDS(test_private_made), FDS(test_private_in_runtime), FDS(test_unsafe_directories_refused),
        FDS(test_long_names),   FDS(test_listen_and_connect), FDS(test_foreign_listener_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
