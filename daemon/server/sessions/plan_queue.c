/* SPDX-License-Identifier: Apache-2.0 */
#include "plan_queue.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

#define REST_ALL         3
#define REST_OWN         9
#define RETRY_SECONDS    0.1
#define USER_WAITING_MAX 64 /* questions of a user */
#define NS_PER_MS        1000000u

typedef struct waiting_plan {
    hac_link link;
    hac_session *session;
    size_t bytes;
    uint8_t body[];
} waiting_plan;

/* The turn itself is in hac_plan_queue_turn: these only end the wait for it. */
static void on_more(uv_idle_t *handle)
{
    (void)handle;
}

static void on_rested(uv_timer_t *timer)
{
    (void)timer;
}

void hac_plan_queue_init(hac_plan_queue *queue, uv_loop_t *loop)
{
    hac_list_init(&queue->list);
    uv_idle_init(loop, &queue->more);
    uv_timer_init(loop, &queue->rests);
    uv_unref((uv_handle_t *)&queue->more);
    uv_unref((uv_handle_t *)&queue->rests);
}

hac_status hac_plan_queue_add(hac_plan_queue *queue, hac_session *session, const hac_frame *frame,
                              hac_error *err)
{
    hac_user *user = session->user;
    if (user->plans_waiting >= USER_WAITING_MAX) {
        session->retry_seconds = RETRY_SECONDS;
        return hac_fail(err, HAC_REFUSED,
                        "%u plans that this user asked for are not made yet; wait for their answers",
                        (unsigned)user->plans_waiting);
    }
    waiting_plan *plan = malloc(sizeof *plan + frame->body_bytes);
    if (plan == NULL)
        return hac_fail_no_memory(err);
    hac_status status = hac_pool_charge(user, HAC_SLOT_MEMORY, frame->body_bytes, err);
    if (status != HAC_OK) {
        free(plan);
        return status;
    }
    plan->session = session;
    plan->bytes = frame->body_bytes;
    memcpy(plan->body, frame->body, frame->body_bytes);
    user->plans_waiting++;
    hac_list_append(&queue->list, &plan->link);
    return HAC_OK;
}

static void take_out(waiting_plan *plan)
{
    hac_user *user = plan->session->user;
    hac_user_release(user, HAC_SLOT_MEMORY, plan->bytes);
    user->plans_waiting--;
    hac_list_remove(&plan->link);
}

void hac_plan_queue_forget_session(hac_plan_queue *queue, const hac_session *session)
{
    waiting_plan *plan = NULL;
    hac_list_for_each (plan, &queue->list, waiting_plan, link) {
        if (plan->session != session)
            continue;
        take_out(plan);
        free(plan);
    }
}

/* The oldest question of the user who has rested longest. */
static waiting_plan *next_plan(const hac_plan_queue *queue)
{
    waiting_plan *best = NULL, *plan = NULL;
    hac_list_for_each (plan, &queue->list, waiting_plan, link)
        if (best == NULL ||
            plan->session->user->loop.plans_rest_until_ns < best->session->user->loop.plans_rest_until_ns)
            best = plan;
    return best;
}

/* When the question may be answered; 0: at once. */
static uint64_t rest_of(const hac_plan_queue *queue, const hac_user *user, uint64_t now)
{
    uint64_t own = user->loop.plans_rest_until_ns;
    uint64_t end = own > queue->rest_until_ns ? own : queue->rest_until_ns;
    return end > now && hac_user_has_others(user, now) ? end : 0;
}

static void answer(hac_plan_queue *queue, waiting_plan *plan)
{
    hac_error err = HAC_ERROR_NONE;
    hac_session *session = plan->session;
    hac_user *user = session->user; /* the session may end; the user lives at least until the next tick */
    hac_frame frame = {.body = plan->body, .body_bytes = plan->bytes};
    Hac__Client__Request *request = NULL;
    uint64_t began = hac_now_ns();
    take_out(plan);
    if (hac_decode_request(session->sessions->decoder, plan->body, plan->bytes, 0, &request, &err) == HAC_OK)
        queue->answer(session, request, &frame);
    else /* it was valid before: there is no memory */
        hac_session_close(session, err.message);
    free(plan);
    uint64_t end = hac_now_ns(), spent = end - began;
    hac_user_spend(user, (double)spent * 1e-9);
    user->loop.plans_rest_until_ns = end + REST_OWN * spent;
    queue->rest_until_ns = end + REST_ALL * spent;
}

void hac_plan_queue_turn(hac_plan_queue *queue)
{
    uint64_t now = hac_now_ns(), rest = 0;
    waiting_plan *plan = next_plan(queue);
    if (plan != NULL && rest_of(queue, plan->session->user, now) == 0) {
        answer(queue, plan);
        plan = next_plan(queue);
        now = hac_now_ns();
    }
    if (plan != NULL)
        rest = rest_of(queue, plan->session->user, now);
    uv_idle_stop(&queue->more);
    uv_timer_stop(&queue->rests);
    if (rest > 0)
        uv_timer_start(&queue->rests, on_rested, (rest - now + NS_PER_MS - 1) / NS_PER_MS, 0);
    else if (plan != NULL)
        uv_idle_start(&queue->more, on_more);
}
