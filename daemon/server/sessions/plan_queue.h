/* SPDX-License-Identifier: Apache-2.0 */
/* Questions for plans (PlanSort, PlanQuery, PlanOps) that wait for their turn. One may take hacd
 * milliseconds, in which it serves nobody else, and costs its client next to nothing. So in a turn of the
 * loop hacd makes at most one plan that no job asked for, after all jobs and all other requests.
 *
 * While other users work, two rests follow a plan: REST_ALL times as long as it took for all questions, and
 * REST_OWN times as long for the same user's. The user who has rested longest is next. The time is charged
 * to the user like device time (hac_user_spend). What waits is charged to the user's memory. */
#ifndef SERVER_PLAN_QUEUE_H
#define SERVER_PLAN_QUEUE_H

#include <uv.h>

#include "session.h"

typedef struct hac_plan_queue {
    hac_link list; /* the oldest first */
    uint64_t rest_until_ns;
    uv_idle_t more;   /* active while another turn of the loop has to follow at once */
    uv_timer_t rests; /* ends the wait when a rest has ended */
    /* Answers a question. */
    void (*answer)(hac_session *session, const Hac__Client__Request *request, hac_frame *frame);
} hac_plan_queue;

void hac_plan_queue_init(hac_plan_queue *queue, uv_loop_t *loop);

/* Keeps a copy of the question. HAC_REFUSED: too many of the user's wait. */
HAC_MUST_USE hac_status hac_plan_queue_add(hac_plan_queue *queue, hac_session *session,
                                           const hac_frame *frame, hac_error *err);
/* The session ends. */
void hac_plan_queue_forget_session(hac_plan_queue *queue, const hac_session *session);
/* Answers the next question, if there is one whose turn it is. Called once in a turn of the loop, when
 * everything else is done. */
void hac_plan_queue_turn(hac_plan_queue *queue);

#endif
