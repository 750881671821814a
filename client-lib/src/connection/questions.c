/* SPDX-License-Identifier: Apache-2.0 */
#include "questions.h"

hac_status hac_client_call_text(hac_client *client, Hac__Client__Request *request, char **ret_text,
                                hac_error *err)
{
    hac_reply reply = {0};
    hac_status status =
        hac_client_call(client, request, HAC__CLIENT__RESPONSE__WHAT_TEXT, UINT64_MAX, &reply, err);
    if (status == HAC_OK)
        *ret_text = reply.text;
    return status;
}

hac_status hac_client_query(hac_client *client, hac_topic topic, uint64_t job, hac_plan_format format,
                            char **ret_text, hac_error *err)
{
    if (topic > HAC_TOPIC_ALL_JOBS || format > HAC_PLAN_JSON)
        return hac_fail(err, HAC_INVALID, "topic %d or format %d does not exist", (int)topic, (int)format);
    Hac__Client__Query query = HAC__CLIENT__QUERY__INIT;
    query.topic = (Hac__Client__Topic)topic;
    query.job = job;
    query.format = (Hac__Client__PlanFormat)format;
    Hac__Client__Request request = HAC__CLIENT__REQUEST__INIT;
    request.what_case = HAC__CLIENT__REQUEST__WHAT_QUERY;
    request.query = &query;
    return hac_client_call_text(client, &request, ret_text, err);
}
