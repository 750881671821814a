/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sandbox really refuses. Each attempt is made in a child process that has entered the sandbox as an
 * executor does, with a second thread that existed before the call filter was applied. No OpenCL.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "sandbox.h"
#include "tests/test_child.h"

static char *scratch, *readable;

/* An attempt returns 0 if it was refused, or if it did what must still work. */
typedef int (*attempt)(void);

static bool refused(long r)
{
    return r == -1 && (errno == EPERM || errno == EACCES || errno == ENOSYS);
}

typedef struct other_thread {
    attempt attempt;
    pthread_barrier_t confined;
    int result;
} other_thread;

static void *run_in_thread(void *argument)
{
    other_thread *t = argument;
    pthread_barrier_wait(&t->confined);
    t->result = t->attempt();
    return NULL;
}

/* Enters the sandbox after a thread was made and before both attempt something. */
static int confine_and_try(attempt what, bool jit)
{
    const char *missing = NULL;
    const char *read_only[] = {readable, NULL}, *writable[] = {scratch, NULL};
    other_thread other = {.attempt = what};
    pthread_t thread;
    hac_error err = HAC_ERROR_NONE;
    pthread_barrier_init(&other.confined, NULL, 2);
    if (hac_sandbox_early(&err) != HAC_OK || hac_sandbox_files(read_only, writable, &missing, &err) != HAC_OK)
        return 10;
    if (pthread_create(&thread, NULL, run_in_thread, &other) != 0)
        return 11;
    if (missing != NULL || hac_sandbox_calls(jit, &missing, &err) != HAC_OK || missing != NULL)
        return 12;
    pthread_barrier_wait(&other.confined);
    pthread_join(thread, NULL);
    return other.result != 0 ? other.result : what();
}

static int status_of(attempt what, bool jit)
{
    pid_t pid = fork();
    int status = -1;
    if (pid == 0)
        _exit(confine_and_try(what, jit));
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return status;
}

static void expect_refused(attempt what)
{
    int status = status_of(what, false);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static int try_execve(void)
{
    char *args[] = {(char *)(uintptr_t) "true", NULL};
    return refused(execv("/bin/true", args)) &&
                   refused(syscall(SYS_execveat, AT_FDCWD, "/bin/true", args, NULL, 0))
               ? 0
               : 1;
}

static int try_fork(void)
{
    pid_t pid = fork();
    if (pid == 0)
        _exit(0);
    return refused(pid) && refused(syscall(SYS_fork)) && refused(syscall(SYS_clone3, NULL, 0)) ? 0 : 1;
}

static int try_socket(void)
{
    int pair[2];
    return refused(socket(AF_INET, SOCK_STREAM, 0)) && refused(socket(AF_UNIX, SOCK_STREAM, 0)) &&
                   refused(socket(AF_NETLINK, SOCK_RAW, 0)) &&
                   refused(socketpair(AF_UNIX, SOCK_STREAM, 0, pair)) && refused(connect(0, NULL, 0)) &&
                   refused(bind(0, NULL, 0)) && refused(listen(0, 1))
               ? 0
               : 1;
}

static int try_tracing(void)
{
    char byte;
    struct iovec here = {&byte, 1}, there = {&byte, 1};
    return refused(ptrace(PTRACE_ATTACH, getppid(), NULL, NULL)) &&
                   refused(ptrace(PTRACE_TRACEME, 0, 0, 0)) &&
                   refused(process_vm_readv(getppid(), &here, 1, &there, 1, 0)) &&
                   refused(process_vm_writev(getppid(), &here, 1, &there, 1, 0)) &&
                   refused(syscall(SYS_pidfd_open, getppid(), 0))
               ? 0
               : 1;
}

static int try_signals(void)
{
    return refused(kill(getppid(), 0)) && refused(kill(-1, 0)) && refused(kill(0, 0)) &&
                   refused(syscall(SYS_tgkill, getppid(), getppid(), 0)) &&
                   refused(syscall(SYS_tkill, getppid(), 0)) && kill(getpid(), 0) == 0
               ? 0
               : 1;
}

static int try_kernel(void)
{
    return refused(syscall(SYS_bpf, 0, NULL, 0)) &&
                   refused(syscall(SYS_perf_event_open, NULL, 0, -1, -1, 0)) &&
                   refused(syscall(SYS_keyctl, 0, 0)) && refused(syscall(SYS_userfaultfd, 0)) &&
                   refused(syscall(SYS_io_uring_setup, 1, NULL)) &&
                   refused(syscall(SYS_open_by_handle_at, 0, NULL, 0)) &&
                   refused(mount("none", "/tmp", "tmpfs", 0, NULL)) && refused(umount2("/tmp", MNT_DETACH)) &&
                   refused(unshare(CLONE_NEWUSER)) && refused(setns(0, 0)) && refused(chroot("/")) &&
                   refused(syscall(SYS_kexec_load, 0, 0, NULL, 0)) && refused(setuid(0))
               ? 0
               : 1;
}

static int try_others_limits(void)
{
    struct rlimit limit;
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    CPU_SET(0, &cpus);
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return 1;
    return refused(prlimit(getppid(), RLIMIT_NOFILE, &limit, NULL)) &&
                   refused(sched_setaffinity(getppid(), sizeof cpus, &cpus)) &&
                   refused(setpriority(PRIO_PROCESS, (id_t)getppid(), 10))
               ? 0
               : 1;
}

static int try_dumpable(void)
{
    return refused(prctl(PR_SET_DUMPABLE, 1, 0, 0, 0)) && prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) == 0 &&
                   refused(prctl(PR_SET_PDEATHSIG, 0, 0, 0, 0))
               ? 0
               : 1;
}

#define HIGH_BITS (INT64_C(5) << 32)
#define CALL(name, at, value)                                                                                \
    {                                                                                                        \
#name, SYS_##name, at, value, false                                                                  \
    }

/* Every call of the filter's rules about arguments, with the argument that is refused. The kernel drops the
 * high half of an `int`, so the filter has to refuse the number with high bits, too. `wide`: the kernel
 * reads all 64 bits. */
static int try_arguments(void)
{
    const pid_t parent = getppid();
    const struct {
        const char *name;
        long call;
        unsigned at;
        int64_t value;
        bool wide;
    } calls[] = {
        CALL(prctl, 0, PR_SET_DUMPABLE),
        CALL(prctl, 0, PR_SET_PTRACER),
        CALL(prctl, 0, PR_SET_PDEATHSIG),
        CALL(fcntl, 1, F_SETOWN),
        CALL(fcntl, 1, F_SETOWN_EX),
        CALL(fcntl, 1, F_SETSIG),
        CALL(ioctl, 1, FIOSETOWN),
        CALL(ioctl, 1, SIOCSPGRP),
        CALL(ioctl, 1, TIOCSTI),
        CALL(kill, 0, parent),
        CALL(kill, 0, -1),
        CALL(kill, 0, 0),
        CALL(tgkill, 0, parent),
        CALL(rt_sigqueueinfo, 0, parent),
        CALL(rt_tgsigqueueinfo, 0, parent),
        {"prlimit64", SYS_prlimit64, 2, (int64_t)(intptr_t)&parent, true},
        CALL(clone, 0, SIGCHLD),
    };
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        for (int high = 0; high < (calls[i].wide ? 1 : 2); high++) {
            long a[3] = {0, 0, 0};
            a[calls[i].at] = (long)(calls[i].value ^ (high ? HIGH_BITS : 0));
            errno = 0;
            if (refused(syscall(calls[i].call, a[0], a[1], a[2], 0, 0)))
                continue;
            fprintf(stderr, "%s(argument %u = %lld%s): %s\n", calls[i].name, calls[i].at,
                    (long long)calls[i].value, high ? ", high bits set" : "", strerror(errno));
            return 60 + (int)i;
        }
    }
    return 0;
}

static int try_files_outside(void)
{
    char parent[64], beside[512], there[512];
    snprintf(parent, sizeof parent, "/proc/%d/maps", getppid());
    snprintf(beside, sizeof beside, "%s/new", readable);
    snprintf(there, sizeof there, "%s/there", readable);
    const char *const unreadable[] = {"/etc/passwd", "/etc/group", "/", "/tmp", "/proc", parent};
    const char *const unwritable[] = {"/tmp/hac-sandbox-test", "/usr/hac-sandbox-test", beside, there};
    for (size_t i = 0; i < sizeof unreadable / sizeof *unreadable; i++)
        if (!refused(open(unreadable[i], O_RDONLY | O_CLOEXEC)))
            return 20 + (int)i;
    for (size_t i = 0; i < sizeof unwritable / sizeof *unwritable; i++)
        if (!refused(open(unwritable[i], O_CREAT | O_WRONLY | O_CLOEXEC, 0600)))
            return 30 + (int)i;
    if (!refused(unlink(there)) || !refused(rename(there, beside)) || !refused(truncate(there, 0)))
        return 40;
    return access(there, F_OK) == 0 && open(there, O_RDONLY | O_CLOEXEC) >= 0 ? 0 : 41;
}

static int try_writable_code(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    void *both = mmap(NULL, page, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    void *data = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return both == MAP_FAILED && data != MAP_FAILED && mprotect(data, page, PROT_READ | PROT_EXEC) == -1 ? 0
                                                                                                         : 1;
}

static int try_jit(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    void *data = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return data != MAP_FAILED && mprotect(data, page, PROT_READ | PROT_EXEC) == 0 ? 0 : 1;
}

static void *nothing(void *argument)
{
    return argument;
}

/* What drivers do all the time. */
static int do_what_is_allowed(void)
{
    char path[512], renamed[520];
    pthread_t thread;
    snprintf(path, sizeof path, "%s/file", scratch);
    snprintf(renamed, sizeof renamed, "%s.2", path);
    hac_autoclose int fd = open(path, O_CREAT | O_RDWR | O_TRUNC | O_CLOEXEC, 0600);
    hac_autoclose int cpus = open("/proc/cpuinfo", O_RDONLY | O_CLOEXEC);
    hac_autoclose int self = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
    hac_autoclose int sys = open("/sys/devices/system/cpu/online", O_RDONLY | O_CLOEXEC);
    hac_autoclose int zero = open("/dev/null", O_RDWR | O_CLOEXEC);
    hac_autoclose int memory = memfd_create("x", MFD_CLOEXEC);
    if (fd < 0 || cpus < 0 || self < 0 || sys < 0 || zero < 0 || memory < 0 || write(fd, "x", 1) != 1)
        return 1;
    if (rename(path, renamed) != 0 || unlink(renamed) != 0 || mkdir(path, 0700) != 0 || rmdir(path) != 0)
        return 2;
    hac_autoclose int maps = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    if (maps < 0)
        return 4;
    if (pthread_create(&thread, NULL, nothing, NULL) != 0 || pthread_join(thread, NULL) != 0)
        return 3;
    return 0;
}

static int do_abort(void)
{
    abort();
}

#define REFUSAL(name)                                                                                        \
    static void test_##name(void **state)                                                                    \
    {                                                                                                        \
        (void)state;                                                                                         \
        expect_refused(try_##name);                                                                          \
    }
REFUSAL(execve)
REFUSAL(fork)
REFUSAL(socket)
REFUSAL(tracing)
REFUSAL(signals)
REFUSAL(kernel)
REFUSAL(others_limits)
REFUSAL(dumpable)
REFUSAL(arguments)
REFUSAL(files_outside)
REFUSAL(writable_code)

static void test_jit(void **state)
{
    (void)state;
    int status = status_of(try_jit, true);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void test_allowed(void **state)
{
    (void)state;
    expect_refused(do_what_is_allowed);
}

/* A crash is still reported as one, and leaves no core. */
static void test_abort(void **state)
{
    (void)state;
    int status = status_of(do_abort, false);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGABRT);
    assert_false(WCOREDUMP(status));
}

/* HAC_SANDBOX=off has no effect: this build has no sanitizers. */
static void test_cannot_be_off(void **state)
{
    (void)state;
    setenv("HAC_SANDBOX", "off", 1);
    expect_refused(try_socket);
    expect_refused(try_files_outside);
    unsetenv("HAC_SANDBOX");
}

static int make_directories(void **state)
{
    (void)state;
    scratch = test_make_directory();
    readable = test_make_directory();
    char there[512];
    snprintf(there, sizeof there, "%s/there", readable);
    hac_autoclose int fd = open(there, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    return 0;
}

static int remove_directories(void **state)
{
    (void)state;
    test_remove_directory(scratch);
    test_remove_directory(readable);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_execve),        cmocka_unit_test(test_fork),
        cmocka_unit_test(test_socket),        cmocka_unit_test(test_tracing),
        cmocka_unit_test(test_signals),       cmocka_unit_test(test_kernel),
        cmocka_unit_test(test_others_limits), cmocka_unit_test(test_dumpable),
        cmocka_unit_test(test_arguments),     cmocka_unit_test(test_files_outside),
        cmocka_unit_test(test_writable_code), cmocka_unit_test(test_jit),
        cmocka_unit_test(test_allowed),       cmocka_unit_test(test_abort),
        cmocka_unit_test(test_cannot_be_off),
    };
    return cmocka_run_group_tests(tests, make_directories, remove_directories);
}
