/* SPDX-License-Identifier: Apache-2.0 */
#include "deferred_questions.h"

#include <stdlib.h>

#include "base/clock.h"
#include "state.h"

#define SELF_TEST_SECONDS 20.0 /* how long questions about devices wait for self-tests */

/* A question about the devices that waits for their self-tests. */
typedef struct deferred_query {
    hac_link link;
    hac_session *session;
    uint64_t serial;
    Hac__Client__Topic topic;
    uint64_t since_ns;
} deferred_query;

static bool devices_settled(const hac_server *server)
{
    if (server->probing || server->reload.pending)
        return false;
    for (size_t i = 0; i < server->devices.count; i++)
        if (server->devices.items[i]->state == HAC_DEVICE_UNTESTED && !server->devices.items[i]->retired)
            return false;
    return true;
}

bool hac_deferred_questions_add(hac_server *server, hac_session *session, const Hac__Client__Request *request)
{
    if (devices_settled(server) || session->pending >= HAC_SESSION_PENDING_MAX)
        return false;
    deferred_query *query = calloc(1, sizeof *query);
    if (query == NULL)
        return false;
    query->session = session;
    query->serial = request->serial;
    query->topic = request->query->topic;
    query->since_ns = hac_now_ns();
    session->pending++;
    hac_list_append(&server->deferred, &query->link);
    return true;
}

void hac_deferred_questions_forget_session(hac_server *server, const hac_session *session)
{
    deferred_query *query = NULL;
    hac_list_for_each (query, &server->deferred, deferred_query, link) {
        if (query->session != session)
            continue;
        hac_list_remove(&query->link);
        free(query);
    }
}

void hac_deferred_questions_answer(hac_server *server, hac_question_answerer *answer)
{
    bool settled = devices_settled(server);
    uint64_t now = hac_now_ns();
    deferred_query *query = NULL;
    hac_list_for_each (query, &server->deferred, deferred_query, link) {
        if (!settled && (double)(now - query->since_ns) * 1e-9 < SELF_TEST_SECONDS)
            continue;
        hac_list_remove(&query->link);
        query->session->pending--;
        answer(query->session, query->serial, query->topic);
        free(query);
    }
}
