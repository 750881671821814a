/* SPDX-License-Identifier: Apache-2.0 */
#include "wait.h"

#include <poll.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/interrupt.h"
#include "detach.h"

enum { LOOK_MS = 1000, CANCEL_SECONDS = 10 };

static void show(void *context, hac_job *job, const hac_progress *progress)
{
    hac_wait *wait = context;
    (void)job;
    hac_progress_show(&wait->line, progress);
}

static void leave(void *context, hac_job *job, const hac_progress *progress)
{
    hac_wait *wait = context;
    (void)progress;
    hac_detach_leave(wait->cli, hac_job_id(job));
}

void hac_wait_prepare(hac_wait *wait, hac_cli *cli, hac_job_options *options)
{
    *wait = (hac_wait){.cli = cli, .line = {.fd = STDERR_FILENO, .shown_ns = 0}};
    if (options == NULL || (!cli->terminal && cli->detach_fd == 0))
        return;
    options->progress = cli->detach_fd > 0 ? leave : show;
    options->context = wait;
}

/* Sleeps until the daemon sends something or a signal arrives, but never for long. */
static void sleep_until_news(hac_wait *wait, bool cancelling)
{
    struct pollfd fds[] = {{.fd = hac_client_fd(wait->cli->client), .events = POLLIN},
                           {.fd = hac_interrupt_fd(), .events = POLLIN}};
    /* the signal's descriptor stays readable, so leave it out after the first signal */
    poll(fds, cancelling ? 1 : 2, cancelling ? LOOK_MS / 10 : LOOK_MS);
}

static hac_status wait_deferred(hac_wait *wait, hac_job *job, bool cancel, hac_error *err)
{
    uint64_t cancelled_at = 0;
    for (;;) {
        hac_status status = hac_job_wait(job, 0, err);
        if (hac_interrupt_count() == 0 && status != HAC_AGAIN)
            return status;
        if (hac_interrupt_count() > 0 && cancelled_at == 0) {
            hac_progress_hide(&wait->line);
            if (!cancel)
                return hac_fail(err, HAC_CANCELLED, "interrupted; job %llu goes on",
                                (unsigned long long)hac_job_id(job));
            /* On an error the daemon or the job has gone, which counts as cancelled. */
            if (status == HAC_AGAIN && hac_job_cancel(job, err) != HAC_OK)
                status = HAC_CANCELLED;
            cancelled_at = hac_now_ns();
        }
        if (cancelled_at != 0 && (status != HAC_AGAIN || hac_seconds_since(cancelled_at) > CANCEL_SECONDS))
            return hac_fail(err, HAC_CANCELLED, "cancelled");
        sleep_until_news(wait, cancelled_at != 0);
    }
}

hac_status hac_wait_for(hac_wait *wait, hac_job *job, bool cancel, hac_error *err)
{
    hac_interrupt_defer(1);
    hac_status status = wait_deferred(wait, job, cancel, err);
    hac_interrupt_defer(0);
    hac_progress_hide(&wait->line);
    if (status == HAC_CANCELLED && err != NULL && err->message[0] == '\0')
        return hac_fail(err, status, "job %llu was cancelled", (unsigned long long)hac_job_id(job));
    return status;
}
