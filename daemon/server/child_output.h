/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a child writes on its standard output and error: its own remarks, and whatever drivers print, from "1
 * warning generated" to an assertion before abort(). Each line becomes a record `executor-remark` of hacd's
 * log, with the user and the device, and within the limits of the log, so that no driver and no user floods
 * it. The last words of a child that dies are told with its end.
 */
#ifndef SERVER_CHILD_OUTPUT_H
#define SERVER_CHILD_OUTPUT_H

#include <uv.h>

#include "base/error.h"
#include "base/log.h"

/* A longer line is cut here. */
#define HAC_CHILD_LINE_MAX 400

typedef struct hac_child_output hac_child_output;

/* A pipe, read by the loop until hac_child_output_close. *ret_theirs: its other end, for the child, to be
 * closed by the caller. `about`: whom the records name (copied). `label`: what they begin with, "hac-executor
 * cpu.0". */
HAC_MUST_USE hac_status hac_child_output_open(uv_loop_t *loop, const hac_log_subject *about,
                                              const char *label, hac_child_output **ret, int *ret_theirs,
                                              hac_error *err);

/* Takes in what is still in the pipe, for a child that has died; then frees it from the loop. NULL is
 * ignored. `ret` (may be NULL): the first line of the last message that it wrote, if that was in the second
 * before, else "". */
void hac_child_output_close(hac_child_output *output, char ret[HAC_CHILD_LINE_MAX]);

#endif
