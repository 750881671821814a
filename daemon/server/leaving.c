/* SPDX-License-Identifier: Apache-2.0 */
#include "leaving.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "child.h"
#include "image.h"
#include "metrics_http.h"
#include "notify.h"
#include "server.h"
#include "session.h"

#define GOING_SECONDS    3.0 /* to end the executors and write the models */
#define DELIVERY_SECONDS 3.0 /* for a client to fetch what came of a job that ended while draining */

/* Unlinks the socket of a private daemon under the lock that clients take to start one, so that no client
 * connects to a daemon that has made up its mind. Returns false when a client holds the lock. */
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
    struct stat at_path, ours;
    if (stat(server->options.socket_path, &at_path) == 0 && server->socket_inode == at_path.st_ino &&
        fstat(server->options.listener, &ours) == 0)
        unlink(server->options.socket_path);
    return true;
}

static void close_sessions(hac_server *server)
{
    hac_session *session = NULL;
    hac_list_for_each (session, &server->sessions, hac_session, link)
        hac_session_close(session, NULL);
}

/* What goes with hacd: its user has yet to come for it. */
static void report_unfetched(const hac_server *server)
{
    unsigned n = 0;
    const hac_job *job = NULL, *last = NULL;
    hac_list_for_each (job, &server->jobs, hac_job, link) {
        if (!job->detached || (job->result == NULL && job->result_data == NULL))
            continue;
        n++;
        last = job;
    }
    if (last != NULL)
        hac_log_record(
            HAC_LOG_WARNING, HAC_EVENT_LEAVING, NULL,
            "%u results of detached jobs that nobody has fetched go with hacd, the last one that of job "
            "%llu of uid %u",
            n, (unsigned long long)last->id, last->user->uid);
}

void hac_leaving_now(hac_server *server)
{
    if (server->stopping)
        return;
    server->draining = server->stopping = true;
    report_unfetched(server);
    hac_notify_stopping(server->notify, GOING_SECONDS);
    hac_job *job = NULL;
    hac_list_for_each (job, &server->jobs, hac_job, link)
        hac_job_cancel(job, "hacd is leaving");
    hac_executors_kill_all(&server->executors);
    hac_builders_kill_all(&server->builders);
    hac_image_kill(server);
    if (server->probe != NULL)
        hac_child_kill(server->probe);
    hac_metrics_http_stop(server);
    uv_poll_stop(&server->listener);
    hac_server_close_handle((uv_handle_t *)&server->listener, NULL);
    hac_server_close_handle((uv_handle_t *)&server->tick, NULL);
    hac_server_close_handle((uv_handle_t *)&server->executors.watch, NULL);
    hac_server_close_handle((uv_handle_t *)&server->deadline, NULL);
    hac_server_kick(server);
    /* `prepare` goes on until the jobs have settled; the loop ends when the last child is reaped */
}

bool hac_leaving_is_deaf(const hac_server *server)
{
    return server->draining && server->options.activated;
}

void hac_leaving_drain(hac_server *server, const char *why)
{
    if (server->draining)
        return;
    hac_log_record(HAC_LOG_INFO, HAC_EVENT_LEAVING, NULL, "leaving when the running jobs are done: %s", why);
    server->draining = true;
    server->drain_deadline_ns = hac_now_ns() + (uint64_t)(server->config.drain_deadline * 1e9);
    hac_notify_stopping(server->notify, server->config.drain_deadline + GOING_SECONDS);
    if (hac_leaving_is_deaf(server))
        uv_poll_stop(&server->listener);
    server->unlinked = unlink_socket(server); /* else at a tick: clients would wait at a deaf socket */
    hac_server_kick(server);
}

/* Whether a client has yet to fetch the result or the receipt of a job that has just ended. */
static bool undelivered(const hac_server *server)
{
    const hac_job *job = NULL;
    hac_list_for_each (job, &server->jobs, hac_job, link)
        if (job->owner != NULL && hac_job_ended(job) && hac_seconds_since(job->ended_ns) < DELIVERY_SECONDS)
            return true;
    return false;
}

static bool drained(const hac_server *server)
{
    return hac_server_unfinished(server) == 0 && !undelivered(server);
}

/* Nothing to do and nobody there. What is built behind the scenes can wait; what is waited for cannot. */
static bool idle(const hac_server *server)
{
    return server->n_sessions == 0 && hac_server_unfinished(server) == 0 && !server->probing &&
           !server->reload.pending && !hac_builders_urgent(&server->builders);
}

static bool socket_gone(const hac_server *server)
{
    struct stat at_path;
    if (server->options.activated)
        return false;
    return stat(server->options.socket_path, &at_path) != 0 || at_path.st_ino != server->socket_inode;
}

void hac_leaving_consider(hac_server *server)
{
    uint64_t now = hac_now_ns();
    if (server->draining) {
        server->unlinked = server->unlinked || unlink_socket(server);
        if (drained(server) || now > server->drain_deadline_ns)
            hac_leaving_now(server);
        return;
    }
    if (!server->options.private_daemon || !idle(server))
        return;
    bool held = false; /* a detached job's result that somebody may come for */
    hac_job *job = NULL;
    hac_list_for_each (job, &server->jobs, hac_job, link)
        held |= job->detached && (job->result != NULL || job->result_data != NULL);
    bool timed_out = server->config.idle_exit > 0 &&
                     (double)(now - server->idle_since_ns) * 1e-9 > server->config.idle_exit;
    if (timed_out && !held && server->options.activated) {
        hac_leaving_now(server); /* the service manager keeps the socket, and starts another for who comes */
        return;
    }
    if (timed_out && !held && unlink_socket(server))
        hac_server_accept(server); /* who connected just before is served; then there is no socket */
    if (server->n_sessions == 0 && socket_gone(server))
        hac_leaving_now(server);
}

bool hac_leaving_turn(hac_server *server)
{
    if (server->draining && !server->stopping && drained(server))
        hac_leaving_now(server);
    if (!server->stopping || hac_server_unfinished(server) > 0)
        return false;
    close_sessions(server);
    return hac_list_empty(&server->executors.list);
}
