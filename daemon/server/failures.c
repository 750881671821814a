/* SPDX-License-Identifier: Apache-2.0 */
#include "failures.h"

#include "base/clock.h"
#include "base/type.h"
#include "server.h"

#define LOSSES_MAX    3  /* executors a job loses on a device before it goes elsewhere */
#define BY_HOST_NOTES 8  /* a loop's rounds are plans of their own: not a line for each */
#define LOSSES_LAST   6  /* and on the last device, before it is given up */
#define KILLS_MAX     20 /* executors that are killed under a query, by whomever, before it is given up */
#define KILLS_MAX_PLAIN                                                                                      \
    60 /* … under a job without a language of its own, which has fewer ways to fill memory */
#define MEMORY_KILLS_MAX    8 /* … by the kernel, which says that there was no memory */
#define MEMORY_KILLS_BESIDE 2 /* … beside other jobs of its user, without which it may fit */

static void give_back(hac_job *job, const hac_dispatch *dispatch, uint32_t attempt)
{
    hac_run_give_back(&job->run, dispatch->task, &(hac_piece){dispatch->first, dispatch->count, attempt, 0});
}

/* Whether the job could go on without this device. */
static bool has_others(const hac_job *job, uint32_t device)
{
    const hac_devices *devices = &job->server->devices;
    for (uint32_t d = 0; d < devices->count; d++)
        if (d != device && hac_device_usable(devices->items[d]) && !(job->excluded & (1u << d)) &&
            (job->device_mask == 0 || (job->device_mask & (1u << d))))
            return true;
    return false;
}

void hac_failures_leave_device(hac_job *job, uint32_t device, const char *why)
{
    const char *name = job->server->devices.items[device]->config.name;
    job->run.broken = true; /* nor does it wait for what comes before a piece that failed */
    if (has_others(job, device)) {
        hac_job_note(job, "leaves %s: %s", name, why);
        job->excluded |= 1u << device;
    } else if (job->code == HAC_OK) {
        job->code = HAC_FAILED;
        snprintf(job->message, sizeof job->message, "no device is left that can run it: %.64s %.400s", name,
                 why);
    }
}

void hac_failures_await_programs(hac_job *job, const hac_dispatch *dispatch, const Hac__Executor__Done *done)
{
    hac_server *server = job->server;
    uint32_t device = hac_job_device(job, dispatch->plan_device);
    const char *name = server->devices.items[device]->config.name;
    hac_job_note(job, "waits for %s to be built for %s", done->needs_programs[0], name);
    if (job->build_started_ns == 0)
        job->build_started_ns = hac_now_ns();
    give_back(job, dispatch, dispatch->attempt);
    job->run.tasks[dispatch->task].awaits |= 1u << dispatch->plan_device;
    job->run.tasks[dispatch->task].builds[dispatch->plan_device] = server->devices.items[device]->builds;
    for (size_t i = 0; i < done->n_needs_programs; i++)
        hac_builders_want(&server->builders, device, done->needs_programs[i], i == 0);
    hac_job_send_event(job, "build", name, done->needs_programs[0]);
}

/* The device's kernels cannot do it and no other device is left: its host codelet can. Other pieces of a
 * range may be in flight by kernels then, and come here, too. */
static bool go_on_by_host(hac_job *job, const hac_dispatch *dispatch, const char *why)
{
    hac_task_state *state = &job->run.tasks[dispatch->task];
    uint32_t device = hac_job_device(job, dispatch->plan_device), bit = 1u << dispatch->plan_device;
    if (!dispatch->by_kernels || has_others(job, device))
        return false;
    if ((state->by_host & bit) == 0 && job->n_by_host++ < BY_HOST_NOTES)
        hac_job_note(job, "goes on with the host codelet on %s: %s",
                     job->server->devices.items[device]->config.name, why);
    state->by_host |= bit;
    give_back(job, dispatch, dispatch->attempt);
    return true;
}

void hac_failures_refused(hac_job *job, const hac_dispatch *dispatch, const Hac__Executor__Done *done)
{
    const hac_plan_task *task = &job->plan->tasks[dispatch->task];
    uint32_t device = hac_job_device(job, dispatch->plan_device);
    char failure[256];
    snprintf(failure, sizeof failure, "%.64s.%s: %.160s", task->codelet, hac_type_name(task->type),
             done->message);
    if (done->code == HAC_DEVICE)
        hac_device_add_failure(job->server->devices.items[device], failure);
    if (!go_on_by_host(job, dispatch, failure))
        hac_failures_leave_device(job, device, failure);
}

/* Why a job leaves a device: what its last task there did, and what can be done. */
static void describe_losses(const hac_job *job, const hac_dispatch *dispatch, uint32_t losses,
                            const char *how, char *ret, size_t room)
{
    if (dispatch->limit > 0)
        snprintf(ret, room,
                 "did not finish %s in the time limit of %.3g s, tried %u times; %s, or raise "
                 "task_deadline_minimum in hacd.yaml",
                 job->plan->tasks[dispatch->task].codelet, dispatch->limit, losses,
                 dispatch->users_pace ? "simplify the query" : "choose other devices");
    else
        snprintf(ret, room, "lost %u of its executors, the last one %s", losses, how);
}

static bool may_wait(const hac_job *job)
{
    return job->user->active_jobs > 1 && job->stream == NULL && !job->alone;
}

/* A job that needs more memory than there is would be killed for it again and again. */
static void give_up_starved(hac_job *job)
{
    if (job->code != HAC_OK || job->cancelling || job->crowded)
        return;
    if (may_wait(job) && job->memory_kills >= MEMORY_KILLS_BESIDE) {
        job->crowded = job->run.broken = true;
        hac_server_kick(job->server);
        return;
    }
    if (job->memory_kills < MEMORY_KILLS_MAX)
        return;
    job->code = HAC_NO_MEMORY;
    snprintf(job->message, sizeof job->message,
             "memory ran out: %u executors were killed by the kernel, or had no room to start; the job%s may "
             "need more than there is",
             job->memory_kills, job->server->n_active > 1 ? " and those beside it" : "");
    hac_server_kick(job->server);
}

static void give_up_killed(hac_job *job, const hac_loss *loss)
{
    unsigned most = job->kind->user_errors ? KILLS_MAX : KILLS_MAX_PLAIN;
    if (job->code != HAC_OK || job->retries < most)
        return;
    job->code = loss->counts ? HAC_FAILED : HAC_NO_MEMORY;
    snprintf(job->message, sizeof job->message, "%u executors were lost at it, the last one %s%s",
             job->retries, loss->how, loss->counts ? "" : ": it may need more memory than there is");
}

void hac_failures_lost(hac_job *job, const hac_dispatch *dispatch, const hac_loss *loss)
{
    uint32_t device = hac_job_device(job, dispatch->plan_device);
    const hac_plan_task *task = &job->plan->tasks[dispatch->task];
    if (loss->started) {
        job->retries++;
        job->memory_kills += loss->for_memory;
        hac_job_note(job, "the executor of %s %s during %s", job->server->devices.items[device]->config.name,
                     loss->how, task->codelet);
    }
    if (loss->counts && ++job->losses[device] >= LOSSES_MAX) {
        char why[400];
        describe_losses(job, dispatch, job->losses[device], loss->how, why, sizeof why);
        if (job->losses[device] >= LOSSES_LAST || has_others(job, device))
            hac_failures_leave_device(job, device, why);
    }
    if (loss->started) {
        give_up_starved(job);
        give_up_killed(job, loss);
    }
    if ((task->repeatable && !job->run.failed) || !loss->started)
        give_back(job, dispatch, dispatch->attempt + loss->started);
    else
        job->run.broken = true;
}

bool hac_failures_starved(hac_server *server)
{
    hac_job *job = NULL, *largest = NULL;
    hac_list_for_each (job, &server->active, hac_job, turn)
        if (!hac_job_is_given_up(job) && (largest == NULL || hac_job_memory(job) > hac_job_memory(largest)))
            largest = job;
    if (largest == NULL)
        return false;
    largest->memory_kills++;
    hac_job_note(
        largest,
        "memory ran out: an executor without a task was killed by the kernel, or had no room to start");
    give_up_starved(largest);
    return true;
}
