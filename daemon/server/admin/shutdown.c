/* SPDX-License-Identifier: Apache-2.0 */
#include "shutdown.h"

#include <fcntl.h>
#include <math.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "kernel_image.h"
#include "loop/blocking_work.h"
#include "loop/child.h"
#include "loop/service_manager.h"
#include "metrics_http.h"
#include "sessions/session.h"
#include "state.h"

#define GOING_SECONDS    3.0 /* to end the executors and write the models */
#define DELIVERY_SECONDS 3.0 /* for a client to fetch the result of a job that ended while draining */

/* Unlinks a socket, unless another daemon has put its own there. */
static void unlink_own(const char *path, int listener, ino_t inode)
{
    struct stat at_path, ours;
    if (path[0] != '\0' && stat(path, &at_path) == 0 && inode == at_path.st_ino &&
        fstat(listener, &ours) == 0)
        unlink(path);
}

/* Unlinks the socket of a private daemon, under the lock that clients take to start one, so that no client
 * connects to a daemon that is about to exit. Returns false if a client holds the lock. */
static bool unlink_socket(hac_server *server)
{
    char lock_path[PATH_MAX + 8];
    if (!server->options.private_daemon || server->options.activated ||
        server->options.socket_path[0] == '\0')
        return true;
    snprintf(lock_path, sizeof lock_path, "%s.lock", server->options.socket_path);
    hac_autoclose int lock = open(lock_path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (lock >= 0 && flock(lock, LOCK_EX | LOCK_NB) != 0)
        return false;
    unlink_own(server->options.socket_path, server->options.listener, server->socket_inode);
    return true;
}

static void close_sessions(hac_server *server)
{
    hac_session *session = NULL;
    hac_list_for_each (session, &server->sessions.list, hac_session, link)
        hac_session_close(session, NULL);
}

/* Logs results that are lost because their users have not fetched them. */
static void report_unfetched(const hac_server *server)
{
    unsigned n = 0;
    const hacd_job *job = NULL, *last = NULL;
    hac_list_for_each (job, &server->jobs.list, hacd_job, link) {
        if (!job->detached || (job->result == NULL && job->result_data == NULL))
            continue;
        n++;
        last = job;
    }
    if (last != NULL)
        hac_log_record(
            HAC_LOG_WARNING, HAC_EVENT_LEAVING, NULL,
            "%u results of detached jobs that nobody has fetched are lost with hacd, the last one of job "
            "%llu of uid %u",
            n, (unsigned long long)last->id, last->user->uid);
}

void hac_shutdown_now(hac_server *server)
{
    if (server->stopping)
        return;
    server->jobs.draining = server->stopping = true;
    report_unfetched(server);
    hac_service_manager_stopping(server->notify, GOING_SECONDS);
    hacd_job *job = NULL;
    hac_list_for_each (job, &server->jobs.list, hacd_job, link)
        hacd_job_cancel(job, "hacd is leaving");
    hac_executors_kill_all(&server->executors);
    hac_builders_kill_all(&server->builders);
    hac_kernel_image_kill(server);
    if (server->probe != NULL)
        hac_child_kill(server->probe);
    hac_metrics_http_stop(server);
    hac_listener_deinit(&server->listener);
    hac_listener_deinit(&server->admin_listener);
    unlink_own(server->options.admin_path, server->options.admin_listener, server->admin_inode);
    hac_close_handle((uv_handle_t *)&server->tick, NULL);
    hac_close_handle((uv_handle_t *)&server->executors.watch, NULL);
    hac_close_handle((uv_handle_t *)&server->deadlines.timer, NULL);
    hac_jobs_kick(&server->jobs);
    /* `prepare` runs until the jobs have settled; the loop ends when the last child is reaped. */
}

void hac_shutdown_drain(hac_server *server, const char *why)
{
    if (server->jobs.draining)
        return;
    hac_log_record(HAC_LOG_INFO, HAC_EVENT_LEAVING, NULL, "leaving when the running jobs are done: %s", why);
    server->jobs.draining = true;
    hac_jobs_end_by_itself(&server->jobs, "hacd is leaving");
    server->drain_deadline_ns = hac_now_ns() + (uint64_t)(server->config.drain_deadline * 1e9);
    hac_service_manager_stopping(server->notify, server->config.drain_deadline + GOING_SECONDS);
    if (server->options.activated) { /* they would be refused here; the next hacd serves them */
        hac_listener_close(&server->admin_listener);
        hac_listener_close(&server->listener);
    }
    /* if it fails, it is tried again at each tick: clients would wait at a dead socket */
    server->unlinked = unlink_socket(server);
    hac_jobs_kick(&server->jobs);
}

/* Whether a client has yet to fetch the result or the receipt of a job that has just ended. */
static bool undelivered(const hac_server *server)
{
    const hacd_job *job = NULL;
    hac_list_for_each (job, &server->jobs.list, hacd_job, link)
        if (job->owner != NULL && hacd_job_ended(job) && hac_seconds_since(job->ended_ns) < DELIVERY_SECONDS)
            return true;
    return false;
}

static bool drained(const hac_server *server)
{
    return hac_jobs_unfinished(&server->jobs) == 0 && !undelivered(server);
}

/* Whether hacd has nothing to do and nobody is connected. Programs that are built in advance can wait, but
 * not those that somebody waits for. What hacd measures by itself keeps nobody waiting. */
static bool idle(const hac_server *server)
{
    bool measures = server->jobs.by_itself != NULL;
    return server->sessions.count == 0 && hac_jobs_unfinished(&server->jobs) == measures &&
           !server->probing && !server->reload.pending &&
           (measures || !hac_builders_urgent(&server->builders));
}

double hac_shutdown_idle_left(const hac_server *server)
{
    if (!server->options.private_daemon || server->config.idle_exit <= 0 || server->sessions.count > 0)
        return INFINITY;
    uint64_t since = server->jobs.idle_since_ns > server->sessions.idle_since_ns
                         ? server->jobs.idle_since_ns
                         : server->sessions.idle_since_ns;
    return server->config.idle_exit - hac_seconds_since(since);
}

static bool socket_gone(const hac_server *server)
{
    struct stat at_path;
    if (server->options.activated)
        return false;
    return stat(server->options.socket_path, &at_path) != 0 || at_path.st_ino != server->socket_inode;
}

void hac_shutdown_consider(hac_server *server)
{
    uint64_t now = hac_now_ns();
    if (server->jobs.draining) {
        server->unlinked = server->unlinked || unlink_socket(server);
        if (drained(server) || now > server->drain_deadline_ns)
            hac_shutdown_now(server);
        return;
    }
    if (!server->options.private_daemon || !idle(server))
        return;
    bool held = false; /* somebody may come for a detached job's result */
    hacd_job *job = NULL;
    hac_list_for_each (job, &server->jobs.list, hacd_job, link)
        held |= job->detached && (job->result != NULL || job->result_data != NULL);
    bool timed_out = hac_shutdown_idle_left(server) < 0;
    if (timed_out && !held && server->options.activated) {
        /* the service manager keeps the socket, and starts hacd again for the next client */
        hac_shutdown_now(server);
        return;
    }
    if (timed_out && !held && unlink_socket(server))
        hac_listener_accept(
            &server->listener); /* serves who connected just before; then there is no socket any more */
    if (server->sessions.count == 0 && socket_gone(server))
        hac_shutdown_now(server);
}

bool hac_shutdown_turn(hac_server *server)
{
    if (server->jobs.draining && !server->stopping && drained(server))
        hac_shutdown_now(server);
    if (!server->stopping || hac_jobs_unfinished(&server->jobs) > 0)
        return false;
    close_sessions(server);
    return hac_list_empty(&server->executors.list);
}
