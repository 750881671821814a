/* SPDX-License-Identifier: Apache-2.0 */
/* What a child writes to standard output and error: its own log, and whatever drivers print, from "1 warning
 * generated" to an assertion before abort(). Each line becomes an `executor-remark` record of hacd's log,
 * with user and device. The log's rate limits apply, so no driver and no user can flood it. The last words of
 * a dying child are reported together with its end. */
#ifndef SERVER_CHILD_OUTPUT_H
#define SERVER_CHILD_OUTPUT_H

#include <uv.h>

#include "base/error.h"
#include "base/log.h"

/* Longer lines are truncated. */
#define HAC_CHILD_LINE_MAX 400

typedef struct hac_child_output hac_child_output;

/* Opens a pipe that the loop reads until hac_child_output_close. *ret_theirs is the child's end; the caller
 * closes it. `about` is the subject of the records (copied). `label` is their prefix, such as "hac-executor
 * cpu.0". */
HAC_MUST_USE hac_status hac_child_output_open(uv_loop_t *loop, const hac_log_subject *about,
                                              const char *label, hac_child_output **ret, int *ret_theirs,
                                              hac_error *err);

/* Reads what is left in the pipe of a dead child, and frees the pipe. NULL is ignored. If `ret` is not NULL,
 * it receives the first line of the child's last message if that was written within the last second, else "".
 */
void hac_child_output_close(hac_child_output *output, char ret[HAC_CHILD_LINE_MAX]);

#endif
