/* SPDX-License-Identifier: Apache-2.0 */
#include "job_failures.h"

#include "base/clock.h"
#include "base/type.h"
#include "jobs/job_clients.h"

#define LOSSES_MAX          3  /* lost executors after which a job leaves a device */
#define BY_HOST_NOTES       8  /* each round of a loop is a plan of its own: not a line for each */
#define LOSSES_LAST         6  /* the same on the last device, which is then given up */
#define KILLS_MAX           20 /* lost executors after which a query is given up, whoever killed them */
#define KILLS_MAX_PLAIN     60 /* the same for jobs that are no queries, which have fewer ways to fill memory */
#define MEMORY_KILLS_MAX    8  /* kernel kills for lack of memory after which a job is given up */
#define YIELDS_MAX          4  /* yields that end a task, or a job that starts over for them */
#define CUT_PIECES          16 /* pieces that are made of one that took too long */
#define MEMORY_KILLS_BESIDE 2  /* the same beside other jobs of its user, without which the job may fit */

static void give_back(hacd_job *job, const hac_dispatch *dispatch, uint32_t attempt)
{
    hac_plan_run_give_back(&job->run, dispatch->task,
                           &(hacd_piece){dispatch->first, dispatch->count, attempt, 0});
}

/* Whether the job could go on without this device. */
static bool has_others(const hacd_job *job, uint32_t device)
{
    const hac_devices *devices = job->jobs->devices;
    for (uint32_t d = 0; d < devices->count; d++)
        if (d != device && hac_devices_may_use(devices, d, job->user) && !(job->excluded & (1u << d)) &&
            (job->device_mask == 0 || (job->device_mask & (1u << d))))
            return true;
    return false;
}

void hac_job_failures_leave_device(hacd_job *job, uint32_t device, const char *why)
{
    const char *name = job->jobs->devices->items[device]->config.name;
    job->run.broken = true; /* nor does the job wait for earlier pieces after a failure */
    if (has_others(job, device)) {
        hacd_job_note(job, "leaves %s: %s", name, why);
        job->excluded |= 1u << device;
    } else if (job->code == HAC_OK) {
        job->code = HAC_FAILED;
        snprintf(job->message, sizeof job->message, "no device is left that can run it: %.64s %.400s", name,
                 why);
    }
}

void hac_job_failures_await_programs(hacd_job *job, const hac_dispatch *dispatch,
                                     const Hac__Executor__Done *done)
{
    hac_jobs *jobs = job->jobs;
    uint32_t device = hacd_job_device(job, dispatch->plan_device);
    const char *name = jobs->devices->items[device]->config.name;
    hacd_job_note(job, "waits for %s to be built for %s", done->needs_programs[0], name);
    if (job->build_started_ns == 0)
        job->build_started_ns = hac_now_ns();
    give_back(job, dispatch, dispatch->attempt);
    job->run.tasks[dispatch->task].awaits |= 1u << dispatch->plan_device;
    job->run.tasks[dispatch->task].builds[dispatch->plan_device] = jobs->devices->items[device]->builds;
    for (size_t i = 0; i < done->n_needs_programs; i++)
        hac_builders_want(jobs->builders, device, done->needs_programs[i], i == 0);
    hacd_job_send_event(job, "build", name, done->needs_programs[0]);
}

/* The device's kernels cannot run the piece, and no other device is left: its host codelet can. Other pieces
 * of a range may be in flight with kernels, and fail, too. */
static bool go_on_by_host(hacd_job *job, const hac_dispatch *dispatch, const char *why)
{
    hac_task_state *state = &job->run.tasks[dispatch->task];
    uint32_t device = hacd_job_device(job, dispatch->plan_device), bit = 1u << dispatch->plan_device;
    if (!dispatch->by_kernels || has_others(job, device))
        return false;
    if (job->n_by_host == 0)
        snprintf(job->by_host_reason, sizeof job->by_host_reason, "%s", why);
    if ((state->by_host & bit) == 0 && job->n_by_host++ < BY_HOST_NOTES)
        hacd_job_note(job, "goes on with the host codelet on %s: %s",
                      job->jobs->devices->items[device]->config.name, why);
    state->by_host |= bit;
    give_back(job, dispatch, dispatch->attempt);
    return true;
}

/* Whether another device of a range task could do what this one does not. */
static bool shares_range(const hacd_job *job, const hac_dispatch *dispatch)
{
    const hac_plan_task *task = &job->plan->tasks[dispatch->task];
    for (uint32_t d = 0; d < job->plan->n_devices; d++) {
        uint32_t index = hacd_job_device(job, d);
        if (d != dispatch->plan_device && task->range && (task->device_mask >> d & 1) != 0 &&
            (job->excluded >> index & 1) == 0 && hac_devices_may_use(job->jobs->devices, index, job->user))
            return true;
    }
    return false;
}

bool hac_job_failures_go_without(hacd_job *job, const hac_dispatch *dispatch, const Hac__Executor__Done *done)
{
    const hac_plan_task *task = &job->plan->tasks[dispatch->task];
    uint32_t index = hacd_job_device(job, dispatch->plan_device);
    hac_server_device *device = job->jobs->devices->items[index];
    bool cannot = done->code == HAC_DEVICE || done->code == HAC_UNSUPPORTED || done->code == HAC_NO_MEMORY;
    if (!cannot || !dispatch->by_kernels || task->kernels_model == NULL || !shares_range(job, dispatch))
        return false;
    char failure[256];
    snprintf(failure, sizeof failure, "%.64s.%s: %.160s", task->kernels, hac_type_name(task->type),
             done->message);
    if (done->code == HAC_DEVICE)
        hac_device_add_failure(device, failure);
    if ((job->excluded >> index & 1) == 0)
        hacd_job_note(job, "goes on without %s: %s", device->config.name, failure);
    job->excluded |= 1u << index;
    give_back(job, dispatch, dispatch->attempt);
    return true;
}

void hac_job_failures_refused(hacd_job *job, const hac_dispatch *dispatch, const Hac__Executor__Done *done)
{
    const hac_plan_task *task = &job->plan->tasks[dispatch->task];
    uint32_t device = hacd_job_device(job, dispatch->plan_device);
    char failure[256];
    snprintf(failure, sizeof failure, "%.64s.%s: %.160s", task->codelet, hac_type_name(task->type),
             done->message);
    if (done->code == HAC_DEVICE)
        hac_device_add_failure(job->jobs->devices->items[device], failure);
    if (!go_on_by_host(job, dispatch, failure))
        hac_job_failures_leave_device(job, device, failure);
}

/* Why a job leaves a device: what its last task there did, and what the user can do. */
static void describe_losses(const hacd_job *job, const hac_dispatch *dispatch, uint32_t losses,
                            const char *how, char *ret, size_t capacity)
{
    if (dispatch->limit > 0)
        snprintf(ret, capacity,
                 "did not finish %s in the time limit of %.3g s, tried %u times; %s, or raise "
                 "task_deadline_minimum in hacd.yaml",
                 job->plan->tasks[dispatch->task].codelet, dispatch->limit, losses,
                 dispatch->users_pace ? "simplify the query" : "choose other devices");
    else
        snprintf(ret, capacity, "lost %u of its executors, the last one %s", losses, how);
}

static bool may_wait(const hacd_job *job)
{
    return job->user->active_jobs > 1 && job->kind->must_wait == NULL && !job->alone;
}

/* A job that needs more memory than there is would be killed for it again and again. */
static void give_up_starved(hacd_job *job)
{
    if (job->code != HAC_OK || job->cancelling || job->crowded)
        return;
    if (may_wait(job) && job->memory_kills >= MEMORY_KILLS_BESIDE) {
        job->crowded = job->run.broken = true;
        hac_jobs_kick(job->jobs);
        return;
    }
    if (job->memory_kills < MEMORY_KILLS_MAX)
        return;
    job->code = HAC_NO_MEMORY;
    snprintf(job->message, sizeof job->message,
             "memory ran out: %u executors were killed by the kernel, or had no room to start; the job%s may "
             "need more than there is",
             job->memory_kills, job->jobs->n_active > 1 ? " and those beside it" : "");
    hac_jobs_kick(job->jobs);
}

static void give_up_killed(hacd_job *job, const hac_loss *loss)
{
    unsigned max = job->kind->user_errors ? KILLS_MAX : KILLS_MAX_PLAIN;
    if (job->code != HAC_OK || job->retries < max)
        return;
    job->code = loss->counts ? HAC_FAILED : HAC_NO_MEMORY;
    snprintf(job->message, sizeof job->message, "%u executors were lost at it, the last one %s%s",
             job->retries, loss->how, loss->counts ? "" : ": it may need more memory than there is");
}

/* Makes smaller pieces of what took too long. Returns false if that is not possible. */
static bool cut(hacd_job *job, const hac_dispatch *dispatch)
{
    hac_plan_task *task = &job->plan->tasks[dispatch->task];
    hac_task_state *state = &job->run.tasks[dispatch->task];
    hacd_task_range range = {task->first, task->count, task->grain};
    if (!task->range &&
        (job->kind->find_range == NULL || !job->kind->find_range(job, dispatch->task, &range)))
        return false;
    uint64_t items = task->range ? dispatch->count : range.count;
    uint64_t grain = range.grain > 0 ? range.grain : 1;
    if (items <= grain)
        return false;
    uint64_t max = items / CUT_PIECES / grain * grain;
    state->piece_max = max > grain ? max : grain;
    if (!task->range) { /* all of it again */
        task->range = true;
        task->first = range.first;
        task->count = range.count;
        task->grain = range.grain;
        hac_plan_run_redo(&job->run, dispatch->task);
        return true;
    }
    give_back(job, dispatch, dispatch->attempt + 1);
    return true;
}

static void refuse_long_task(hacd_job *job, const char *codelet, const char *device)
{
    if (job->code != HAC_OK)
        return;
    job->code = HAC_REFUSED;
    snprintf(
        job->message, sizeof job->message,
        "%.64s takes too long at a stretch on %.64s while other users wait for it, and cannot be cut into "
        "smaller pieces; divide its input, or try again later",
        codelet, device);
    hac_jobs_kick(job->jobs);
}

/* The task kept other users waiting. It goes on in smaller pieces, or else runs again when it is the user's
 * turn, each time for longer. */
static void give_way(hacd_job *job, const hac_dispatch *dispatch)
{
    const char *device = job->jobs->devices->items[hacd_job_device(job, dispatch->plan_device)]->config.name;
    const char *codelet = job->plan->tasks[dispatch->task].codelet;
    hac_task_state *state = &job->run.tasks[dispatch->task];
    if (cut(job, dispatch)) {
        hacd_job_note(job, "%s kept other users waiting for %s: goes on in pieces of %llu", codelet, device,
                      (unsigned long long)state->piece_max);
        return;
    }
    hacd_job_note(job, "%s kept other users waiting for %s: runs again when they have had their turn",
                  codelet, device);
    if (++state->yields >= YIELDS_MAX)
        refuse_long_task(job, codelet, device);
    give_back(job, dispatch, dispatch->attempt + 1);
}

/* A task that cannot be repeated kept other users waiting: the job starts over. The task's state ends with
 * the plan, so the job counts the yields. Pieces that are lost later in the same plan add nothing. */
static void give_way_and_start_over(hacd_job *job, const hac_dispatch *dispatch)
{
    const char *device = job->jobs->devices->items[hacd_job_device(job, dispatch->plan_device)]->config.name;
    const char *codelet = job->plan->tasks[dispatch->task].codelet;
    if (job->run.broken)
        return;
    job->run.broken = true;
    hacd_job_note(job, "%s kept other users waiting for %s and cannot be repeated", codelet, device);
    if (++job->yields >= YIELDS_MAX)
        refuse_long_task(job, codelet, device);
}

uint32_t hac_job_failures_yields(const hacd_job *job, uint32_t task)
{
    return job->run.tasks[task].yields + job->yields;
}

void hac_job_failures_lost(hacd_job *job, const hac_dispatch *dispatch, const hac_loss *loss)
{
    uint32_t device = hacd_job_device(job, dispatch->plan_device);
    const hac_plan_task *task = &job->plan->tasks[dispatch->task];
    if (loss->abandoned) {
        give_back(job, dispatch, dispatch->attempt);
        return;
    }
    if (loss->started && loss->gave_way) {
        if (task->repeatable && !job->run.failed)
            give_way(job, dispatch);
        else
            give_way_and_start_over(job, dispatch);
        return;
    }
    if (loss->started) {
        job->retries++;
        job->memory_kills += loss->for_memory;
        hacd_job_note(job, "the executor of %s %s during %s", job->jobs->devices->items[device]->config.name,
                      loss->how, task->codelet);
    }
    if (loss->counts && ++job->losses[device] >= LOSSES_MAX) {
        char why[400];
        describe_losses(job, dispatch, job->losses[device], loss->how, why, sizeof why);
        if (job->losses[device] >= LOSSES_LAST || has_others(job, device))
            hac_job_failures_leave_device(job, device, why);
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

bool hac_job_failures_starved(hac_jobs *jobs)
{
    hacd_job *job = NULL, *largest = NULL;
    hac_list_for_each (job, &jobs->active, hacd_job, turn)
        if (!hacd_job_is_given_up(job) &&
            (largest == NULL || hacd_job_memory(job) > hacd_job_memory(largest)))
            largest = job;
    if (largest == NULL)
        return false;
    largest->memory_kills++;
    hacd_job_note(
        largest,
        "memory ran out: an executor without a task was killed by the kernel, or had no room to start");
    give_up_starved(largest);
    return true;
}
