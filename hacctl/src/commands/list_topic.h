/* SPDX-License-Identifier: Apache-2.0 */
/* Commands that list what hacd has: devices, jobs. */
#ifndef HACCTL_LIST_TOPIC_H
#define HACCTL_LIST_TOPIC_H

#include "cli/cli.h"
#include "report/report.h"

/* Prints hacd's answer about `topic`: with --json as it is, else as the text that `list` makes of it. `what`
 * names the answer in messages. */
hac_status hac_list_topic(hac_cli *cli, hac_topic topic, const char *what,
                          void (*list)(const cJSON *answer, hac_text *text), hac_error *err);

#endif
