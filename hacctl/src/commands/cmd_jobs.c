/* SPDX-License-Identifier: Apache-2.0 */
/* hacctl jobs */
#include <time.h>

#include "cmd.h"
#include "list_topic.h"

static void jobs_now(const cJSON *answer, hac_text *text)
{
    hac_report_jobs(answer, time(NULL), text);
}

hac_status hac_cmd_jobs(hac_cli *cli, const hac_args *args, hac_error *err)
{
    hac_topic topic = hac_args_has(args, HAC_OPT_ALL) ? HAC_TOPIC_ALL_JOBS : HAC_TOPIC_JOBS;
    return hac_list_topic(cli, topic, "the jobs", jobs_now, err);
}
