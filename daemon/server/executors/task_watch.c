/* SPDX-License-Identifier: Apache-2.0 */
#include "task_watch.h"

#include <math.h>
#include <time.h>
#include <unistd.h>

#include "base/memfd.h"
#include "loop/child.h"

#define START_SECONDS 30.0 /* a driver may be slow to initialise */
#define LIMIT_MAX     1e9  /* also for predictions of no sense: times in ns have to hold it */
/* Parts of a task's limit: a process that used less than STARVED of it waits for a processor that others
 * have; one that used less than IDLE waits for something else. */
#define STARVED 0.5
#define IDLE    0.002

/* Processor time of the process so far, in ns; 0: unknown. */
static uint64_t cpu_ns(const hac_executor *executor)
{
    clockid_t clock;
    struct timespec used;
    pid_t pid = executor->child != NULL ? hac_child_pid(executor->child) : 0;
    if (pid <= 0 || clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &used) != 0)
        return 0;
    return (uint64_t)used.tv_sec * 1000000000 + (uint64_t)used.tv_nsec;
}

static uint64_t read_steps(const hac_executor *executor)
{
    uint64_t steps = 0;
    if (executor->steps_fd < 0 || pread(executor->steps_fd, &steps, sizeof steps, 0) != sizeof steps)
        return 0;
    return steps;
}

void hac_task_watch_init(hac_executor *executor)
{
    executor->steps_fd = -1;
    if (hac_memfd_create("hac-steps", sizeof(uint64_t), false, &executor->steps_fd, NULL) != HAC_OK)
        executor->steps_fd = -1;
}

void hac_task_watch_deinit(hac_executor *executor)
{
    if (executor->steps_fd >= 0)
        close(executor->steps_fd);
    executor->steps_fd = -1;
}

void hac_task_watch_begin(hac_executor *executor, uint64_t now, bool idle)
{
    executor->busy_since_ns = executor->moved_ns = now;
    executor->busy_since_cpu = executor->checked_cpu = cpu_ns(executor);
    executor->more_seconds = 0;
    executor->overlapped = false;
    if (idle) /* else the next look counts steps of the task before: a hung task lives that much longer */
        executor->steps = read_steps(executor);
}

void hac_task_watch_look(hac_executor *executor, uint64_t now)
{
    if (executor->state != HAC_EXECUTOR_READY || executor->n_in_flight == 0)
        return;
    uint64_t steps = read_steps(executor);
    if (steps == executor->steps)
        return;
    executor->steps = steps;
    executor->moved_ns = now;
    executor->busy_since_cpu = executor->checked_cpu = cpu_ns(executor);
    executor->more_seconds = 0;
}

double hac_task_watch_limit(const hac_executor *executor)
{
    if (executor->state == HAC_EXECUTOR_STARTING)
        return START_SECONDS;
    const hac_dispatch *running = hac_container_of(executor->in_flight.next, hac_dispatch, link);
    const hac_executors *all = executor->executors;
    double by_prediction =
        all->hang_factor * running->predicted * all->devices->items[executor->device]->config.slowdown;
    return fmin(fmax(by_prediction, all->hang_seconds), LIMIT_MAX);
}

/* Whether the running task, whose limit is over, may go on, since other processes had the processor. */
static bool waits_for_processor(hac_executor *executor, double limit)
{
    uint64_t cpu = cpu_ns(executor);
    double used = (double)(cpu - executor->busy_since_cpu) * 1e-9;
    double lately = (double)(cpu - executor->checked_cpu) * 1e-9;
    if (cpu < executor->checked_cpu || used > STARVED * limit || lately < IDLE * limit)
        return false;
    executor->checked_cpu = cpu;
    executor->more_seconds += limit;
    return true;
}

bool hac_task_watch_is_over(hac_executor *executor, uint64_t now)
{
    double limit = hac_task_watch_limit(executor);
    bool over = (double)(now - executor->moved_ns) * 1e-9 > limit + executor->more_seconds;
    return over && (executor->state == HAC_EXECUTOR_STARTING || !waits_for_processor(executor, limit));
}

uint64_t hac_task_watch_end(const hac_executor *executor)
{
    if (executor->state != HAC_EXECUTOR_READY || executor->n_in_flight == 0)
        return UINT64_MAX;
    return executor->moved_ns + (uint64_t)((hac_task_watch_limit(executor) + executor->more_seconds) * 1e9);
}
