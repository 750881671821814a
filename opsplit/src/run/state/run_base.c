/* SPDX-License-Identifier: Apache-2.0 */
#include "run_base.h"

#include <inttypes.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "graph.h"

#define STOP_MS 50 /* a run that waits for a job looks so often whether it is given up */

static void add_line(hac_logic_run_state *run, const char *line)
{
    if (run->options->log != NULL)
        run->options->log(run->options->context, line);
    if (run->log.bytes + strlen(line) + 1 < hac_run_log_bytes_left(run))
        hac_text_addf(&run->log, "%s\n", line);
}

void hac_run_log(hac_logic_run_state *run, const char *fmt, ...)
{
    char line[512];
    va_list args;
    va_start(args, fmt);
    vsnprintf(line, sizeof line, fmt, args);
    va_end(args);
    if (run->ahead != NULL)
        hac_text_addf(&run->ahead->log, "%s\n", line);
    else
        add_line(run, line);
}

void hac_run_log_lines(hac_logic_run_state *run, const hac_text *lines)
{
    char line[512];
    size_t bytes = lines->broken ? 0 : lines->bytes;
    for (size_t at = 0, end; at < bytes; at = end + 1) {
        end = at + strcspn(lines->data + at, "\n");
        snprintf(line, sizeof line, "%.*s", (int)(end - at), lines->data + at);
        add_line(run, line);
    }
}

const char *hac_run_log_text(const hac_logic_run_state *run)
{
    return run->log.bytes > 0 && !run->log.broken ? run->log.data : NULL;
}

hac_status hac_run_failed(const hac_logic_run_state *run, hac_status status, hac_error *err)
{
    if (err != NULL && run->where[0] != '\0')
        (void)hac_error_prefix(err, "%s", run->where);
    return status;
}

hac_status hac_run_check_stop(const hac_logic_run_state *run, hac_error *err)
{
    struct pollfd p = {run->options->stop_fd, POLLIN, 0};
    if (run->options->stop_fd >= 0 && poll(&p, 1, 0) > 0)
        return hac_fail(err, HAC_CANCELLED, "cancelled in round %" PRIu64, run->round);
    return HAC_OK;
}

hac_status hac_run_wait_for_job(const hac_logic_run_state *run, hac_job *job, hac_error *err)
{
    hac_status status;
    while ((status = hac_job_wait(job, STOP_MS, err)) == HAC_AGAIN)
        if (hac_run_check_stop(run, err) != HAC_OK)
            return HAC_CANCELLED;
    return status;
}

void hac_run_set_where(hac_logic_run_state *run, hac_logic_position at, const char *what)
{
    snprintf(run->where, sizeof run->where, "%.200s:%u:%u: %.80s", run->logic->file, at.line, at.column,
             what);
    run->at = at;
}

hac_status hac_run_wait(hac_error *err)
{
    return hac_fail(err, HAC_AGAIN, "decided when the values that it reads are known");
}

size_t hac_run_log_bytes_left(const hac_logic_run_state *run)
{
    size_t capacity = HAC_RUN_MESSAGE_MAX - run->graph->bytes;
    return capacity < HAC_OPS_LOG_MAX ? capacity : HAC_OPS_LOG_MAX;
}

bool hac_run_is_single_rank(const hac_logic_run_state *run)
{
    return run->options->ranks == NULL || run->options->ranks->ranks == 1;
}

hac_status hac_run_agree(const hac_logic_run_state *run, hac_status status, hac_error *err)
{
    const hac_ranks *ranks = run->options->ranks;
    return hac_run_is_single_rank(run) ? status : ranks->agree(ranks->context, status, err);
}
