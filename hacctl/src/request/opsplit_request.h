/* SPDX-License-Identifier: Apache-2.0 */
/* The command line of `opsplit run`, which `explain` and `simulate` take as well. */
#ifndef HACCTL_OPSPLIT_REQUEST_H
#define HACCTL_OPSPLIT_REQUEST_H

#include "base/cleanup.h"
#include "job_request.h"
#include "opsplit/run.h"

typedef struct hac_opsplit_request {
    hac_job_request job;
    hac_run_input inputs[HAC_LOGIC_INPUTS_MAX];
    char *names[HAC_LOGIC_INPUTS_MAX]; /* owned: NAME of NAME=FILE */
    hac_logic *logic;
    hac_library *library;
    hac_run_options options;
} hac_opsplit_request;

/* Parses inputs, policy, threshold, components and devices; `command` is for messages. Clears *r if it
 * fails. */
HAC_MUST_USE hac_status hac_opsplit_request_parse(hac_opsplit_request *r, const char *command,
                                                  const hac_args *args, hac_error *err);
/* Frees the logic file and the library as well. */
void hac_opsplit_request_clear(hac_opsplit_request *r);

/* Reads a logic file with hac_logic_read_own; a missing file is HAC_FAILED, as for every input. */
HAC_MUST_USE hac_status hac_opsplit_read(const char *path, hac_library **ret_library, hac_logic **ret,
                                         hac_logic_problems *problems, hac_error *err);

/* Prints a line for each damaged file of the user's library. Damaged files that the logic file needs were
 * reported as errors before. */
void hac_opsplit_say_damaged(const hac_cli *cli, const hac_library *library);

#endif
