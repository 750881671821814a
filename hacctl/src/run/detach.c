/* SPDX-License-Identifier: Apache-2.0 */
#include "detach.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "job_output.h"

/* The exit code of the new process, as a shell would give it. */
static int exit_code_of(pid_t child)
{
    int how = 0;
    while (waitpid(child, &how, 0) < 0 && errno == EINTR)
        ;
    return WIFEXITED(how) ? WEXITSTATUS(how) : 128 + WTERMSIG(how);
}

/* Waits for the job's id, prints it, and ends this process, which owns neither temporary files nor the
 * job. */
static _Noreturn void print_id(const hac_cli *cli, int from, pid_t child)
{
    uint64_t job = 0;
    ssize_t n;
    hac_error err = HAC_ERROR_NONE;
    while ((n = read(from, &job, sizeof job)) < 0 && errno == EINTR)
        ;
    if (n != (ssize_t)sizeof job)
        _exit(exit_code_of(child));
    hac_status status = hac_job_output_write_id(cli, job, &err);
    if (status == HAC_OK)
        _exit(0);
    (void)kill(child, SIGTERM); /* the new process cancels the job */
    (void)exit_code_of(child);
    status = hac_job_output_fail_id(job, status, &err);
    hac_cli_report(&err);
    _exit(hac_status_exit_code(status));
}

hac_status hac_detach_enter(hac_cli *cli, const hac_args *args, bool result, hac_error *err)
{
    int ends[2];
    hac_status status = hac_job_output_check_detached(args, result, err);
    if (status != HAC_OK)
        return status;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return hac_fail_errno(err, HAC_FAILED, errno, "the command cannot go on in the background");
    fflush(NULL);
    pid_t parent = getpid(), child = fork();
    if (child < 0) {
        close(ends[0]);
        close(ends[1]);
        return hac_fail_errno(err, HAC_FAILED, errno, "the command cannot go on in the background");
    }
    if (child > 0) {
        close(ends[1]);
        (void)signal(SIGINT, SIG_IGN); /* Ctrl-C reaches the new process, too, and that one reports it */
        print_id(cli, ends[0], child);
    }
    /* a command that is cancelled before there is a job must not go on unseen */
    if (prctl(PR_SET_PDEATHSIG, SIGTERM) != 0 || getppid() != parent)
        _exit(hac_status_exit_code(HAC_CANCELLED));
    close(ends[0]);
    cli->detach_fd = ends[1];
    cli->terminal = false;
    return HAC_OK;
}

void hac_detach_leave(hac_cli *cli, uint64_t job)
{
    if (cli->detach_fd <= 0)
        return;
    /* tell the daemon before anybody knows the id; if it cannot be told, it or the job has gone, which
     * shows soon */
    if (hac_output_begin(cli->client, job, NULL) == HAC_OK)
        cli->output_of = job;
    (void)prctl(PR_SET_PDEATHSIG, 0);
    (void)setsid();
    (void)signal(SIGHUP, SIG_IGN);
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null >= 0) { /* a reader of these descriptors waits until they are closed */
        (void)dup2(null, STDOUT_FILENO);
        (void)dup2(null, STDERR_FILENO);
        close(null);
    }
    (void)!write(cli->detach_fd, &job, sizeof job);
    close(cli->detach_fd);
    cli->detach_fd = 0;
}

void hac_detach_end(hac_cli *cli, hac_status status, const hac_error *err)
{
    uint64_t job = cli->output_of;
    cli->output_of = 0;
    if (job != 0)
        (void)!hac_output_end(cli->client, job, status, err->message, NULL); /* no one hears of errors now */
}
