/* SPDX-License-Identifier: Apache-2.0 */
#include "autostart.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/cleanup.h"
#include "base/environment.h"
#include "base/failpoint.h"
#include "base/program_folder.h"
#include "base/text.h"
#include "socket.h"

#define LOG_ROTATE_BYTES (1024 * 1024)
#define MAX_CPUS         8192

enum { LISTEN_FD = 3, REPORT_FD = 4, FIRST_SPARE_FD = 10, TAIL_BYTES = 320 };

/* ---- environment ---- */

/* Returns the environment variables that the daemon inherits. The array is malloc'ed; the strings belong to
 * the environment. */
static hac_status kept_environment(char ***ret, hac_error *err)
{
    size_t n = 0, kept = 0;
    while (environ != NULL && environ[n] != NULL)
        n++;
    char **list = calloc(n + 1, sizeof(*list));
    if (list == NULL)
        return hac_fail_no_memory(err);
    for (size_t i = 0; i < n; i++)
        if (hac_environment_keeps(environ[i]))
            list[kept++] = environ[i];
    *ret = list;
    return HAC_OK;
}

/* ---- the program and its log ---- */

static hac_status find_program(hac_autostart *start, hac_error *err)
{
    static const char here;
    /* in an installation, and in a build tree */
    static const char *const beside[] = {HAC_LIBEXEC_BESIDE, "../libexec"};
    char path[PATH_MAX];
    if (!hac_program_find(&here, beside, sizeof(beside) / sizeof(*beside), HAC_LIBEXECDIR, "hacd", path))
        return hac_fail(err, HAC_NO_DAEMON, "the path of hacd is too long");
    /* The path must be absolute because the daemon starts in "/". */
    if (realpath(path, start->program) == NULL || access(start->program, X_OK) < 0)
        return hac_fail_errno(
            err, HAC_NO_DAEMON, errno,
            "no hacd runs at %s, and none can be started: %s (HAC_LIBEXEC names another folder)",
            start->socket, path);
    return HAC_OK;
}

/* Sets the log's path below /tmp, where hacd keeps its state if HOME is not set. The log must be in this
 * user's own directory; otherwise the function fails. */
static int temporary_log(hac_autostart *start)
{
    hac_socket_path socket;
    if (hac_private_socket(NULL, "/tmp", socket, NULL) != HAC_OK)
        return -1;
    return snprintf(start->log, sizeof(start->log), "%.*s/state/hacd.log",
                    (int)(strrchr(socket, '/') - socket), socket);
}

static bool log_path(hac_autostart *start)
{
    int errnum = hac_user_path(HAC_FOLDER_STATE, "hacd.log", start->log, sizeof(start->log));
    int n = errnum == ENOENT ? temporary_log(start) : 0;
    return errnum == ENOENT ? n > 0 && (size_t)n < sizeof(start->log) : errnum == 0;
}

/* Opens the daemon's log, or /dev/null, because a daemon without a log is better than no daemon. Keeps one
 * old log. */
static int open_log(hac_autostart *start)
{
    const int flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
    int fd = -1;
    struct stat st;
    if (log_path(start)) {
        char folder[PATH_MAX];
        snprintf(folder, sizeof(folder), "%.*s", (int)(strrchr(start->log, '/') - start->log), start->log);
        (void)hac_make_folders(folder); /* opening the log reports the error */
        if (lstat(start->log, &st) == 0 && st.st_size >= LOG_ROTATE_BYTES) {
            char old[PATH_MAX + 4];
            snprintf(old, sizeof(old), "%s.old", start->log);
            (void)rename(start->log, old);
        }
        fd = open(start->log, flags, 0600);
    }
    if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
        start->log_start = st.st_size;
        return fd;
    }
    hac_close(fd);
    start->log[0] = '\0';
    return open("/dev/null", O_WRONLY | O_CLOEXEC);
}

/* ---- the new process: only async-signal-safe calls, because the starting process may have threads ---- */

typedef struct launch {
    const char *program;
    char *const *arguments;
    char *const *environment;
    int listener, log, null, report;
} launch;

static _Noreturn void give_up(int report)
{
    int reason = errno;
    ssize_t ignored = write(report, &reason, sizeof(reason));
    (void)ignored;
    _exit(127);
}

/* Closes all descriptors from `first` on. */
static void close_from(int first)
{
    if (close_range((unsigned)first, ~0U, 0) == 0)
        return;
    for (int fd = first; fd < 65536; fd++) /* kernels before 5.9 */
        close(fd);
}

static void arrange_descriptors(const launch *l)
{
    /* Move the descriptors away from 0 … 4 first, because dup2 overwrites these numbers below. */
    int listener = fcntl(l->listener, F_DUPFD_CLOEXEC, FIRST_SPARE_FD);
    int log = fcntl(l->log, F_DUPFD_CLOEXEC, FIRST_SPARE_FD);
    int null = fcntl(l->null, F_DUPFD_CLOEXEC, FIRST_SPARE_FD);
    int report = fcntl(l->report, F_DUPFD_CLOEXEC, FIRST_SPARE_FD);
    if (listener < 0 || log < 0 || null < 0 || report < 0)
        give_up(l->report);
    if (dup3(report, REPORT_FD, O_CLOEXEC) < 0 || dup2(null, STDIN_FILENO) < 0 ||
        dup2(log, STDOUT_FILENO) < 0 || dup2(log, STDERR_FILENO) < 0 || dup2(listener, LISTEN_FD) < 0)
        give_up(report);
    close_from(REPORT_FD + 1);
}

static void reset_signals(void)
{
    const struct sigaction initial = {.sa_handler = SIG_DFL};
    for (int signal = 1; signal < NSIG; signal++)
        (void)sigaction(signal, &initial, NULL); /* fails for SIGKILL, SIGSTOP and glibc's signals */
    sigset_t none;
    sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Removes an inherited CPU binding: an MPI rank is bound to one core, but the daemon serves the whole
 * machine. The kernel ignores CPUs that do not exist. */
static void use_all_cpus(void)
{
    unsigned char all[MAX_CPUS / 8];
    memset(all, 0xff, sizeof(all));
    (void)sched_setaffinity(0, sizeof(all), (const cpu_set_t *)(const void *)all);
}

static _Noreturn void become_daemon(const launch *l)
{
    if (setsid() < 0)
        give_up(l->report);
    pid_t daemon = fork(); /* the daemon is not a session leader, so it gets no terminal, and is reparented */
    if (daemon < 0)
        give_up(l->report);
    if (daemon > 0)
        _exit(0);
    arrange_descriptors(l);
    use_all_cpus();
    umask(077);
    if (chdir("/") < 0)
        give_up(REPORT_FD);
    reset_signals();
    execve(l->program, l->arguments, l->environment);
    give_up(REPORT_FD);
}

/* ---- starting it ---- */

/* Waits until the daemon's program runs, or returns the reason why it does not run. */
static hac_status await_exec(int report, const char *program, hac_error *err)
{
    int reason = 0;
    ssize_t n;
    do
        n = read(report, &reason, sizeof(reason));
    while (n < 0 && errno == EINTR);
    if (n != 0)
        return hac_fail_errno(err, HAC_NO_DAEMON, n > 0 ? reason : errno, "cannot start %s", program);
    return HAC_OK;
}

static hac_status spawn(launch *l, hac_error *err)
{
    int report[2];
    if (HAC_FAILPOINT("autostart.pipe", -1, pipe2(report, O_CLOEXEC)) < 0)
        return hac_fail_errno(err, HAC_IO, errno, "cannot start %s", l->program);
    l->report = report[1];
    /* Signal handlers of the caller must not run in the child. */
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pid_t child = HAC_FAILPOINT("autostart.fork", -1, fork());
    if (child == 0)
        become_daemon(l);
    int fork_errno = errno;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    hac_close(report[1]);
    hac_status status = child < 0 ? hac_fail_errno(err, HAC_IO, fork_errno, "cannot start %s", l->program)
                                  : await_exec(report[0], l->program, err);
    hac_close(report[0]);
    if (child > 0) /* ECHILD if the caller reaps all children */
        while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
            ;
    return status;
}

static hac_status launch_daemon(hac_autostart *start, int listener, hac_error *err)
{
    char socket_path[sizeof(hac_socket_path)];
    hac_status status = hac_socket_path_set(socket_path, start->socket, err);
    if (status != HAC_OK)
        return status;
    char argument[][16] = {"hacd", "--private", "--listen-fd", "3", "--socket"};
    char *const arguments[] = {argument[0], argument[1], argument[2], argument[3],
                               argument[4], socket_path, NULL};
    hac_autofree char **environment = NULL;
    hac_autoclose int log = open_log(start);
    hac_autoclose int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (log < 0 || null < 0)
        return hac_fail_errno(err, HAC_IO, errno, "cannot open /dev/null");
    status = kept_environment(&environment, err);
    if (status != HAC_OK)
        return status;
    launch l = {start->program, arguments, environment, listener, log, null, -1};
    return spawn(&l, err);
}

static hac_status start_daemon(hac_autostart *start, int *ret_socket, hac_error *err)
{
    hac_status status = find_program(start, err);
    if (status != HAC_OK)
        return status;
    if (start->starting != NULL && !start->started)
        start->starting(start->context, start->socket);
    /* No process listens and this client holds the lock, so a file at this path is stale. */
    if (unlink(start->socket) < 0 && errno != ENOENT)
        return hac_fail_errno(err, HAC_IO, errno, "cannot remove what is left of a daemon at %s",
                              start->socket);
    hac_autoclose int listener = -1;
    status = hac_socket_listen(start->socket, &listener, err);
    if (status != HAC_OK)
        return status;
    status = launch_daemon(start, listener, err);
    if (status != HAC_OK) {
        (void)unlink(start->socket);
        return status;
    }
    start->started = true;
    return hac_socket_connect(start->socket, false, ret_socket, err);
}

static hac_status lock_socket(const char *socket_path, int *ret_fd, hac_error *err)
{
    char path[sizeof(hac_socket_path) + 8];
    snprintf(path, sizeof(path), "%s.lock", socket_path);
    hac_autoclose int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return hac_fail_errno(err, HAC_IO, errno, "cannot open %s", path);
    while (flock(fd, LOCK_EX) < 0)
        if (errno != EINTR)
            return hac_fail_errno(err, HAC_IO, errno, "cannot lock %s", path);
    *ret_fd = hac_steal_fd(&fd);
    return HAC_OK;
}

hac_status hac_autostart_connect(hac_autostart *start, int *ret_socket, hac_error *err)
{
    if (getauxval(AT_SECURE) != 0)
        return hac_fail(err, HAC_NO_DAEMON, "no hacd runs at %s; a set-user-ID program does not start one",
                        start->socket);
    hac_autoclose int lock = -1;
    hac_status status = lock_socket(start->socket, &lock, err);
    if (status != HAC_OK)
        return status;
    /* another client may have started the daemon */
    status = hac_socket_connect(start->socket, false, ret_socket, err);
    if (status == HAC_NO_DAEMON)
        status = start_daemon(start, ret_socket, err);
    (void)flock(lock, LOCK_UN); /* a child that another thread forked may keep the descriptor open */
    return status;
}

/* ---- errors of the start ---- */

/* Returns the end of the daemon's log as one line. */
static void log_tail(const hac_autostart *start, char ret[TAIL_BYTES])
{
    ret[0] = '\0';
    hac_autoclose int fd = start->log[0] != '\0' ? open(start->log, O_RDONLY | O_CLOEXEC | O_NOFOLLOW) : -1;
    struct stat st;
    if (fd < 0 || fstat(fd, &st) < 0 || st.st_size <= start->log_start)
        return;
    off_t from = st.st_size - (TAIL_BYTES - 1);
    if (from < start->log_start)
        from = start->log_start;
    char text[TAIL_BYTES];
    ssize_t n = pread(fd, text, sizeof(text) - 1, from);
    while (n > 0 && text[n - 1] == '\n')
        n--;
    if (n <= 0)
        return;
    text[n] = '\0';
    hac_utf8_copy_line(ret, TAIL_BYTES, text);
}

hac_status hac_autostart_fail(const hac_autostart *start, hac_error *err)
{
    char tail[TAIL_BYTES];
    log_tail(start, tail);
    if (start->log[0] == '\0')
        return hac_fail(
            err, HAC_NO_DAEMON,
            "%s was started but left without an answer, and its log could not be written: are HOME and "
            "the XDG directories, or /tmp, writable?",
            start->program);
    if (tail[0] == '\0')
        return hac_fail(err, HAC_NO_DAEMON,
                        "%s was started but left without an answer; nothing is in its log %s", start->program,
                        start->log);
    return hac_fail(err, HAC_NO_DAEMON, "%s was started but left without an answer: %s", start->program,
                    tail);
}
