/* SPDX-License-Identifier: Apache-2.0 */
/* Places in a /proc and a tree of cgroups that are folders of this test; the processes are real. */
#include "peer_place.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/test_support.h"

#define POD       "kubepods-burstable-pod0a1b2c3d_1111_2222_3333_444455556666.slice"
#define PLAIN_POD "pod0a1b2c3d-1111-2222-3333-444455556666"

static char top[] = "/tmp/hac-places-XXXXXX", proc[64], cgroups[64];
static hac_place_roots roots;

static int set_up(void **state)
{
    strcpy(top, "/tmp/hac-places-XXXXXX");
    if (hac_test_fds_setup(state) != 0 || mkdtemp(top) == NULL)
        return -1;
    snprintf(proc, sizeof proc, "%s/proc", top);
    snprintf(cgroups, sizeof cgroups, "%s/cgroups", top);
    roots = (hac_place_roots){proc, cgroups, geteuid()};
    return mkdir(proc, 0700) != 0 || mkdir(cgroups, 0700) != 0;
}

static int tear_down(void **state)
{
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", top);
    return system(command) != 0 || hac_test_fds_teardown(state) != 0;
}

/* Makes all folders of a path below `parent`. */
static void make_folders(const char *parent, const char *path)
{
    char at[PATH_MAX];
    for (size_t n = 1; n <= strlen(path); n++) {
        if (path[n] != '/' && path[n] != '\0')
            continue;
        snprintf(at, sizeof at, "%s%.*s", parent, (int)n, path);
        assert_true(mkdir(at, 0700) == 0 || errno == EEXIST);
    }
}

/* A process of that number is in this cgroup, as far as this test's /proc says. */
static void put_process(const char *process, const char *lines)
{
    char folder[32], file[PATH_MAX];
    snprintf(folder, sizeof folder, "/%s", process);
    make_folders(proc, folder);
    snprintf(file, sizeof file, "%s%s/cgroup", proc, folder);
    FILE *f = fopen(file, "we");
    assert_non_null(f);
    fputs(lines, f);
    fclose(f);
}

static const char *cut(const char *path)
{
    static char place[PATH_MAX];
    snprintf(place, sizeof place, "%s", path);
    make_folders(cgroups, path);
    assert_int_equal(hac_place_cut(&roots, place, NULL), HAC_OK);
    return place;
}

static void test_ends(void **state)
{
    (void)state;
    static const char *const same[] = {"/", "/docker/0123456789abcdef", "/kubepods/burstable", "/user.slice",
                                       /* no pods: too short, letters that no UID has */
                                       "/podium/x", "/pod-of-letters-that-are-not-hexadecimal/x"};
    static const char *const shorter[][2] = {
        {"/kubepods.slice/kubepods-burstable.slice/" POD "/cri-containerd-1.scope",
         "/kubepods.slice/kubepods-burstable.slice/" POD},
        {"/kubepods/besteffort/" PLAIN_POD "/0123/init", "/kubepods/besteffort/" PLAIN_POD},
        {"/kubepods/podfedcba9876543210fedcba9876543210/c", "/kubepods/podfedcba9876543210fedcba9876543210"},
        {"/user.slice/user-1000.slice/session-3.scope", "/user.slice/user-1000.slice"},
        {"/user.slice/user-1000.slice/user@1000.service/app.slice/a.scope", "/user.slice/user-1000.slice"},
        {"/system.slice/docker-12.scope/init/x", "/system.slice/docker-12.scope"},
        {"/system.slice/cron.service/x", "/system.slice/cron.service"},
    };
    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        assert_string_equal(cut(same[i]), same[i]);
    for (size_t i = 0; i < sizeof shorter / sizeof *shorter; i++)
        assert_string_equal(cut(shorter[i][0]), shorter[i][1]);
}

/* Below a cgroup that is not root's, its owner may make as many as they like: they are one place. */
static void test_delegated(void **state)
{
    (void)state;
    char folder[PATH_MAX];
    roots.owner = geteuid() + 1;
    assert_string_equal(cut("/a/b/c"), "/a");
    roots.owner = geteuid();
    if (geteuid() != 0)
        return; /* only root can give a folder away */
    make_folders(cgroups, "/machine/theirs/1");
    snprintf(folder, sizeof folder, "%s/machine/theirs", cgroups);
    assert_int_equal(chown(folder, 1, 1), 0);
    assert_string_equal(cut("/machine/theirs/1"), "/machine/theirs");
    assert_string_equal(cut("/machine/theirs/2/3"), "/machine/theirs");
    assert_string_equal(cut("/machine/ours/1"), "/machine/ours/1");
}

static void test_unseen(void **state)
{
    (void)state;
    char outside[] = "/../../kubepods/pod1", gone[] = "/never/made", relative[] = "x",
         deleted[] = "/a (deleted)";
    char *const paths[] = {outside, gone, relative, deleted};
    hac_error err = HAC_ERROR_NONE;
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(hac_place_cut(&roots, paths[i], &err), HAC_REFUSED);
    hac_test_assert_says(err.message, "(deleted)");
}

static hac_status place_of_peer(int socket, hac_user_place *ret, hac_error *err)
{
    struct ucred peer;
    socklen_t length = sizeof peer;
    assert_int_equal(getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &length), 0);
    return hac_peer_place(&roots, socket, peer.pid, ret, err);
}

/* The same process in several cgroups, beside hierarchies of version 1. */
static void test_peer(void **state)
{
    (void)state;
    char self[16];
    int pair[2];
    hac_user_place a = HAC_PLACE_ANYWHERE, b = a, again = a, own = a;
    snprintf(self, sizeof self, "%d", (int)getpid());
    make_folders(cgroups, "/a/1");
    make_folders(cgroups, "/a/2");
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
    put_process(self, "4:memory:/a/2\n1:name=systemd:/x\n0::/a/1\n");
    assert_int_equal(place_of_peer(pair[0], &a, NULL), HAC_OK);
    assert_int_equal(place_of_peer(pair[1], &again, NULL), HAC_OK);
    assert_true(hac_user_place_equal(a, again));
    /* printf /a/1 | sha256sum */
    assert_true(hac_user_place_equal(a, (hac_user_place){0x3fb28a9e06ca87d8, 0xf9af3218959f9c9c}));
    put_process(self, "0::/a/2\n");
    assert_int_equal(place_of_peer(pair[0], &b, NULL), HAC_OK);
    assert_false(hac_user_place_equal(a, b));
    put_process("self", "0::/a/1\n");
    assert_int_equal(hac_own_place(&roots, &own, NULL), HAC_OK);
    assert_true(hac_user_place_equal(own, a));
    put_process(self, "4:memory:/a/2\n"); /* no version 2 */
    assert_int_equal(place_of_peer(pair[0], &b, NULL), HAC_REFUSED);
    assert_int_equal(hac_peer_place(&roots, pair[0], 0, &b, NULL), HAC_REFUSED); /* not among hacd's pids */
    close(pair[0]);
    close(pair[1]);
}

/* The rest of a line that is longer than a path may be is not a line of its own, wherever it is cut. */
static void test_overlong_line(void **state)
{
    (void)state;
    char self[16], lines[2 * PATH_MAX];
    int pair[2];
    hac_user_place ours = HAC_PLACE_ANYWHERE, place = ours;
    snprintf(self, sizeof self, "%d", (int)getpid());
    make_folders(cgroups, "/ours");
    make_folders(cgroups, "/victim");
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
    put_process(self, "0::/ours\n");
    assert_int_equal(place_of_peer(pair[0], &ours, NULL), HAC_OK);
    for (int n = PATH_MAX - 16; n < PATH_MAX + 16; n++) {
        int length = snprintf(lines, sizeof lines, "4:memory:/%0*d0::/victim\n", n, 0);
        put_process(self, lines);
        assert_int_equal(place_of_peer(pair[0], &place, NULL), HAC_REFUSED);
        snprintf(lines + length, sizeof lines - (size_t)length, "0::/ours\n");
        put_process(self, lines);
        assert_int_equal(place_of_peer(pair[0], &place, NULL), HAC_OK);
        assert_true(hac_user_place_equal(place, ours));
    }
    close(pair[0]);
    close(pair[1]);
}

/* A client that hands its connection on and ends: another process, elsewhere, may have its number by now. */
static void test_ended(void **state)
{
    (void)state;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    hac_user_place place = HAC_PLACE_ANYWHERE;
    char number[16];
    snprintf(address.sun_path, sizeof address.sun_path, "%s/socket", top);
    int listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(listener, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(listener, 1), 0);
    pid_t child = fork();
    if (child == 0) {
        int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
        _exit(connect(fd, (struct sockaddr *)&address, sizeof address) != 0);
    }
    int accepted = accept4(listener, NULL, NULL, SOCK_CLOEXEC), result = 0;
    assert_true(accepted >= 0);
    siginfo_t info;
    assert_int_equal(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0); /* a zombie */
    make_folders(cgroups, "/victim");
    snprintf(number, sizeof number, "%d", (int)child);
    put_process(number, "0::/victim\n");
    assert_int_equal(place_of_peer(accepted, &place, NULL), HAC_REFUSED);
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_int_equal(result, 0);
    assert_int_equal(hac_peer_place(&roots, accepted, child, &place, NULL), HAC_REFUSED); /* reaped */
    close(accepted);
    close(listener);
}

int main(void)
{
    hac_place_roots machine;
    hac_error err = HAC_ERROR_NONE;
    if (hac_place_roots_find(&machine, &err) != HAC_OK && strstr(err.message, "6.5") != NULL) {
        printf("SKIPPED: %s\n", err.message);
        return 77;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_ends, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_delegated, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_unseen, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_peer, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_overlong_line, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_ended, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
