/* SPDX-License-Identifier: Apache-2.0 */
/* The process log, messages, and what all ranks agree on. */
#ifndef OPSPLIT_RUN_BASE_H
#define OPSPLIT_RUN_BASE_H

#include "run_types.h"

/* A line of the process log. It goes to the caller at once, and to the job's log with the next graph. */
void hac_run_log(hac_logic_run_state *run, const char *fmt, ...) HAC_PRINTF(2, 3);
/* Logs the lines of a round that was added ahead and counts. */
void hac_run_log_lines(hac_logic_run_state *run, const hac_text *lines);
/* The lines for the job's log; NULL: none. */
const char *hac_run_log_text(const hac_logic_run_state *run);
/* Number of bytes that log lines may take in the graph's message. */
size_t hac_run_log_bytes_left(const hac_logic_run_state *run);

/* Sets the current piece or loop, for messages. */
void hac_run_set_where(hac_logic_run_state *run, hac_logic_position at, const char *what);
/* Prefixes the message with the current piece or loop. Returns `status`. */
hac_status hac_run_failed(const hac_logic_run_state *run, hac_status status, hac_error *err);
/* HAC_CANCELLED: the caller gives the run up. */
HAC_MUST_USE hac_status hac_run_check_stop(const hac_logic_run_state *run, hac_error *err);
/* Waits for a job. HAC_CANCELLED: the run is given up; hacd cancels the job when the caller frees it. */
HAC_MUST_USE hac_status hac_run_wait_for_job(const hac_logic_run_state *run, hac_job *job, hac_error *err);
/* Fails with HAC_AGAIN: a dry run needs a value that is not known. */
hac_status hac_run_wait(hac_error *err);

/* Whether there is only this rank. */
bool hac_run_is_single_rank(const hac_logic_run_state *run);
/* The worst status of all ranks, on every rank. Collective: all ranks call it. */
HAC_MUST_USE hac_status hac_run_agree(const hac_logic_run_state *run, hac_status status, hac_error *err);

#endif
