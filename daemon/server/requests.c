/* SPDX-License-Identifier: Apache-2.0 */
/* The handlers of requests, and the table that finds them. */
#include "requests.h"

#include <stdlib.h>
#include <string.h>

#include "admin/deferred_questions.h"
#include "admin/job_parts.h"
#include "admin/job_why.h"
#include "admin/kernel_image.h"
#include "admin/metrics_text.h"
#include "admin/shutdown.h"
#include "admin/state.h"
#include "admin/status_json.h"
#include "base/cleanup.h"
#include "base/log.h"
#include "base/paths.h"
#include "base/text.h"
#include "base/type.h"
#include "executors/start_costs.h"
#include "history/job_history.h"
#include "jobs/job_clients.h"
#include "kinds/job_calibrate.h"
#include "kinds/job_ops.h"
#include "kinds/job_query.h"
#include "kinds/job_sort.h"
#include "kinds/job_splits.h"
#include "kinds/job_tune.h"
#include "kinds/sort_memory.h"
#include "planner/plan_output.h"
#include "scheduler/admission.h"
#include "sessions/session.h"

static hac_server *server_of(const hac_session *session)
{
    return session->sessions->context;
}

static hac_submission submission(hac_session *session, const Hac__Client__Request *request, hac_frame *frame)
{
    return (hac_submission){&server_of(session)->jobs, session, request, frame, false, "", 0, 0};
}

typedef hac_status handler(hac_session *session, const Hac__Client__Request *request, hac_frame *frame,
                           hac_error *err);

static hac_status handle_hello(hac_session *session, const Hac__Client__Request *request, hac_frame *frame,
                               hac_error *err)
{
    (void)frame;
    if (request->hello->version != HAC_CLIENT_PROTOCOL_VERSION)
        return hac_fail(
            err, HAC_NO_DAEMON,
            "protocol mismatch: this hacd (%s) speaks version %d, the client (%.60s) version %u; use "
            "the client of the same release, or restart hacd",
            HAC_VERSION, HAC_CLIENT_PROTOCOL_VERSION, request->hello->software, request->hello->version);
    session->greeted = true;
    Hac__Client__Hello hello = HAC__CLIENT__HELLO__INIT;
    hello.version = HAC_CLIENT_PROTOCOL_VERSION;
    hello.software = (char *)(uintptr_t) "hacd " HAC_VERSION;
    Hac__Client__Response response = HAC__CLIENT__RESPONSE__INIT;
    response.serial = request->serial;
    response.what_case = HAC__CLIENT__RESPONSE__WHAT_HELLO;
    response.hello = &hello;
    hac_session_send(session, &response, NULL, 0);
    return HAC_OK;
}

static hac_status handle_buffer_alloc(hac_session *session, const Hac__Client__Request *request,
                                      hac_frame *frame, hac_error *err)
{
    (void)frame;
    hac_pool_buffer *buffer = NULL;
    hac_submission from = submission(session, request, frame);
    const Hac__Client__BufferAlloc *ask = request->buffer_alloc;
    hac_status status = ask->job != 0
                            ? hacd_job_splits_buffer(&from, ask->job, ask->bytes, &buffer, err)
                            : hac_pool_alloc(session->user, ask->bytes, ask->growable, &buffer, err);
    if (status != HAC_OK)
        return status;
    status = hac_session_hold(session, buffer, err);
    if (status != HAC_OK) {
        hac_pool_release(buffer);
        return status;
    }
    hac_session_send_buffer(session, request->serial, buffer);
    return HAC_OK;
}

static hac_status handle_buffer_grow(hac_session *session, const Hac__Client__Request *request,
                                     hac_frame *frame, hac_error *err)
{
    (void)frame;
    hac_pool_buffer *buffer = hac_session_buffer(session, request->buffer_grow->buffer);
    if (buffer == NULL)
        return hac_fail(err, HAC_INVALID, "this connection holds no buffer %u", request->buffer_grow->buffer);
    hac_status status = hac_pool_grow(buffer, request->buffer_grow->bytes, err);
    if (status == HAC_OK)
        hac_session_send_buffer(session, request->serial, buffer);
    return status;
}

static hac_status handle_buffer_release(hac_session *session, const Hac__Client__Request *request,
                                        hac_frame *frame, hac_error *err)
{
    (void)frame;
    if (!hac_session_drop(session, request->buffer_release->buffer))
        return hac_fail(err, HAC_INVALID, "this connection holds no buffer %u",
                        request->buffer_release->buffer);
    hac_session_send_ok(session, request->serial);
    return HAC_OK;
}

static hac_status handle_submit_sort(hac_session *session, const Hac__Client__Request *request,
                                     hac_frame *frame, hac_error *err)
{
    hac_submission from = submission(session, request, frame);
    return hacd_job_sort_submit(&from, err);
}

static hac_status handle_submit_query(hac_session *session, const Hac__Client__Request *request,
                                      hac_frame *frame, hac_error *err)
{
    hac_submission from = submission(session, request, frame);
    return request->submit_query->splits ? hacd_job_splits_submit(&from, err)
                                         : hacd_job_query_submit(&from, err);
}

static hac_status handle_submit_ops(hac_session *session, const Hac__Client__Request *request,
                                    hac_frame *frame, hac_error *err)
{
    hac_submission from = submission(session, request, frame);
    return hacd_job_ops_submit(&from, err);
}

static hac_status handle_append_graph(hac_session *session, const Hac__Client__Request *request,
                                      hac_frame *frame, hac_error *err)
{
    hac_submission from = submission(session, request, frame);
    return hacd_job_ops_append(&from, err);
}

static hac_status handle_append_split(hac_session *session, const Hac__Client__Request *request,
                                      hac_frame *frame, hac_error *err)
{
    hac_submission from = submission(session, request, frame);
    return hacd_job_splits_append(&from, err);
}

/* Who came through the socket for administrators may, and hacd's own user. A private daemon's user is
 * hacd's own user. */
static hac_status may_administer(hac_session *session, const char *what, hac_error *err)
{
    if (hac_user_is_administrator(session->user))
        return HAC_OK;
    session->retry_seconds = 0;
    return hac_fail(err, HAC_REFUSED,
                    "%s is for administrators: root through " HAC_ADMIN_SOCKET ", and the service's own user",
                    what);
}

static hac_status handle_submit_calibrate(hac_session *session, const Hac__Client__Request *request,
                                          hac_frame *frame, hac_error *err)
{
    hac_submission from = submission(session, request, frame);
    hac_status status = request->submit_calibrate->tune ? may_administer(session, "tune", err) : HAC_OK;
    return status == HAC_OK ? hacd_job_calibrate_submit(&from, err) : status;
}

static hac_status handle_build_kernels(hac_session *session, const Hac__Client__Request *request,
                                       hac_frame *frame, hac_error *err)
{
    return hac_kernel_image_begin(server_of(session), session, request->serial,
                                  request->build_kernels->device, hac_frame_fd(frame, 0), err);
}

/* ---- plans ------------------------------------------------------------------------------------------- */

static void copy_name(char *to, size_t capacity, const char *from)
{
    snprintf(to, capacity, "%s", from != NULL ? from : "");
}

static void simulated_device(const Hac__Client__SimulatedDevice *from, hac_machine_device *to)
{
    copy_name(to->name, sizeof to->name, from->name);
    copy_name(to->group, sizeof to->group, from->group);
    to->kind = hac_device_kind_find(from->kind);
    copy_name(to->key, sizeof to->key, from->name);
    to->usable = true;
    to->simt = from->simt;
    to->host_memory = from->link_bandwidth <= 0;
    to->threads = from->threads;
    to->block_items = from->block_items;
    to->max_loop_iterations = from->max_loop_iterations;
    to->memory = from->memory != 0 ? from->memory : UINT64_MAX / 4;
    to->max_allocation = from->max_allocation != 0 ? from->max_allocation : to->memory;
    to->local_memory = from->local_memory;
    to->link_bandwidth = from->link_bandwidth;
    to->link_latency = from->link_latency;
    size_t capacity = sizeof to->capability / sizeof *to->capability;
    for (size_t i = 0; i < from->n_capability && i < capacity; i++) {
        copy_name(to->capability[i].key, sizeof to->capability[i].key, from->capability[i]->key);
        to->capability[i].items_per_second = from->capability[i]->items_per_second;
        to->n_capability++;
    }
}

/* Rates and costs that no hardware has would only turn prices into infinities. */
static hac_status check_simulated(const Hac__Client__SimulatedDevice *device, hac_error *err)
{
    const double min = 1e-3, max = 1e18, slowest = 1e6; /* per second; seconds */
    for (size_t i = 0; i < device->n_capability; i++) {
        double rate = device->capability[i]->items_per_second;
        if (!(rate >= min && rate <= max))
            return hac_fail(err, HAC_INVALID,
                            "device `%.64s`: `%.64s` is %g items/s; %g to %g can be simulated", device->name,
                            device->capability[i]->key, rate, min, max);
    }
    bool link =
        device->link_bandwidth == 0 || (device->link_bandwidth >= min && device->link_bandwidth <= max);
    if (!link || !(device->link_latency >= 0 && device->link_latency <= slowest))
        return hac_fail(err, HAC_INVALID, "device `%.64s`: a link of %g bytes/s and %g s cannot be simulated",
                        device->name, device->link_bandwidth, device->link_latency);
    return HAC_OK;
}

/* The machine to plan for: this one, or a simulated one with these devices. */
typedef struct planned_machine {
    bool simulate;
    Hac__Client__SimulatedDevice *const *devices;
    size_t n_devices;
    const Hac__Client__JobOptions *options;
} planned_machine;

/* The machine to simulate, and the bit mask of the devices that the options name. */
static hac_status simulated_machine(const planned_machine *wanted, hac_machine *ret, uint32_t *ret_mask,
                                    hac_error *err)
{
    const Hac__Client__JobOptions *options = wanted->options;
    if (wanted->n_devices == 0)
        return hac_fail(err, HAC_INVALID, "the machine to simulate has no devices");
    ret->simulated = true;
    for (size_t i = 0; i < wanted->n_devices && i < HAC_DEVICES_MAX; i++) {
        hac_status status = check_simulated(wanted->devices[i], err);
        if (status != HAC_OK)
            return status;
        simulated_device(wanted->devices[i], &ret->devices[ret->n_devices++]);
    }
    *ret_mask = 0;
    for (size_t i = 0; options != NULL && i < options->n_devices; i++) {
        size_t d = 0;
        while (d < ret->n_devices && strcmp(ret->devices[d].name, options->devices[i]) != 0)
            d++;
        if (d == ret->n_devices)
            return hac_fail(err, HAC_INVALID, "unknown device `%.64s` in the simulated machine",
                            options->devices[i]);
        *ret_mask |= 1u << d;
    }
    return HAC_OK;
}

/* The machine to plan for, and the bit mask of allowed devices. A simulated machine is allocated; the caller
 * frees it. */
static hac_status machine_for(hac_session *session, const planned_machine *wanted,
                              hac_machine **ret_simulated, const hac_machine **ret, uint32_t *ret_mask,
                              hac_error *err)
{
    const Hac__Client__JobOptions *options = wanted->options;
    *ret_mask = 0;
    if (wanted->simulate) {
        *ret_simulated = calloc(1, sizeof **ret_simulated);
        *ret = *ret_simulated;
        return *ret_simulated == NULL ? hac_fail_no_memory(err)
                                      : simulated_machine(wanted, *ret_simulated, ret_mask, err);
    }
    *ret = hac_machine_view_now(&server_of(session)->machine);
    hac_status status = HAC_OK;
    if (options != NULL)
        status = hac_devices_mask(&server_of(session)->devices, options->devices, options->n_devices,
                                  ret_mask, err);
    if (status == HAC_OK && session->user->resting != 0) /* a job of this user would go without these */
        *ret_mask = (*ret_mask != 0 ? *ret_mask : UINT32_MAX) & ~session->user->resting;
    return status;
}

static hac_status plan_text(const hac_plan *plan, Hac__Client__PlanFormat format, char **ret, hac_error *err)
{
    return format == HAC__CLIENT__PLAN_FORMAT__PLAN_JSON ? hac_plan_to_json(plan, ret, err)
                                                         : hac_plan_to_text(plan, ret, err);
}

/* Takes ownership of the plan. */
/* `simulated`: the machine need not exist. Frees the plan. */
static hac_status send_plan(hac_session *session, uint64_t serial, hac_plan *plan, bool simulated,
                            Hac__Client__PlanFormat format, hac_error *err)
{
    hac_autofree char *text = NULL;
    const hac_jobs *jobs = &server_of(session)->jobs;
    if (!simulated)
        hac_start_costs_add(jobs->executors, jobs->models, session->user, plan);
    hac_status status = plan_text(plan, format, &text, err);
    hac_plan_free(plan);
    if (status == HAC_OK)
        hac_session_send_text(session, serial, text, strlen(text));
    return status;
}

static hac_status plan_input(const Hac__Client__PlanSort *wanted, hac_sort_spec *spec, hac_error *err)
{
    spec->items = wanted->items;
    spec->from_descriptor = wanted->input == HAC__CLIENT__PLAN_INPUT__PLAN_INPUT_DESCRIPTOR;
    spec->inline_data = wanted->input == HAC__CLIENT__PLAN_INPUT__PLAN_INPUT_DATA;
    if (spec->inline_data && spec->items > HAC_INLINE_MAX / hac_type_size(spec->type))
        return hac_fail(err, HAC_INVALID, "%llu items are too many for a message",
                        (unsigned long long)spec->items);
    return HAC_OK;
}

/* The memory that the user's quota leaves. An input in memory counts as held already. */
static uint64_t sort_memory_limit(const hac_session *session, const Hac__Client__PlanSort *wanted,
                                  const hac_sort_spec *spec)
{
    uint64_t available = hac_pool_available(session->user);
    if (!spec->from_descriptor)
        available += spec->items * (hac_type_size(spec->type) + spec->payload_bytes);
    return wanted->simulate ? UINT64_MAX : available;
}

static hac_status handle_plan_sort(hac_session *session, const Hac__Client__Request *request,
                                   hac_frame *frame, hac_error *err)
{
    (void)frame;
    const Hac__Client__PlanSort *wanted = request->plan_sort;
    const planned_machine where = {wanted->simulate, wanted->devices, wanted->n_devices, wanted->options};
    hac_autofree hac_machine *simulated = NULL;
    const hac_machine *machine = NULL;
    hac_sort_spec spec;
    hac_plan *plan = NULL;
    hac_status status = hac_sort_spec_read(wanted->spec, &spec, err);
    if (status == HAC_OK)
        status = plan_input(wanted, &spec, err);
    if (status == HAC_OK)
        status = machine_for(session, &where, &simulated, &machine, &spec.device_mask, err);
    if (status == HAC_OK)
        status = hac_sort_plan_in_quota(machine, &spec, NULL,
                                        wanted->options != NULL ? wanted->options->memory_limit : 0,
                                        sort_memory_limit(session, wanted, &spec), &plan, err);
    return status == HAC_OK ? send_plan(session, request->serial, plan, wanted->simulate, wanted->format, err)
                            : status;
}

/* The memory that the job may use, by its limit and its user's quota. 0: there is no limit. */
static uint64_t query_memory_limit(const hac_session *session, const Hac__Client__PlanQuery *wanted,
                                   const hac_query_spec *spec)
{
    uint64_t limit = wanted->options != NULL ? wanted->options->memory_limit : 0;
    uint64_t input = spec->place == HAC_QUERY_IN_BUFFER ? spec->bytes : 0;
    uint64_t available = wanted->simulate ? 0 : hac_pool_available(session->user) | 1;
    uint64_t own = limit > input ? limit - input : 1;
    return limit != 0 && (available == 0 || own < available) ? own : available;
}

static hac_status handle_plan_query(hac_session *session, const Hac__Client__Request *request,
                                    hac_frame *frame, hac_error *err)
{
    (void)frame;
    const Hac__Client__PlanQuery *wanted = request->plan_query;
    const planned_machine where = {wanted->simulate, wanted->devices, wanted->n_devices, wanted->options};
    hac_autofree hac_machine *simulated = NULL;
    const hac_machine *machine = NULL;
    hac_query_spec spec;
    hac_plan *plan = NULL;
    hac_status status = hac_query_plan_read(wanted, &spec, err);
    if (status == HAC_OK)
        status = machine_for(session, &where, &simulated, &machine, &spec.device_mask, err);
    spec.learner = hac_user_learner(session->user);
    spec.memory = query_memory_limit(session, wanted, &spec);
    if (status == HAC_OK)
        status = wanted->splits ? hac_plan_query_splits(machine, &spec, &plan, err)
                                : hac_plan_query(machine, &spec, &plan, err);
    return status == HAC_OK ? send_plan(session, request->serial, plan, wanted->simulate, wanted->format, err)
                            : status;
}

static hac_status handle_plan_ops(hac_session *session, const Hac__Client__Request *request, hac_frame *frame,
                                  hac_error *err)
{
    (void)frame;
    const Hac__Client__PlanOps *wanted = request->plan_ops;
    const planned_machine where = {wanted->simulate, wanted->devices, wanted->n_devices,
                                   wanted->ops->options};
    hac_autofree hac_machine *simulated = NULL;
    const hac_machine *machine = NULL;
    hac_ops_spec spec = {.tasks = NULL};
    hac_plan *plan = NULL;
    hac_status status =
        hac_ops_spec_read(session->user, wanted->ops, wanted->sizes, wanted->n_sizes, &spec, err);
    if (status == HAC_OK)
        status = machine_for(session, &where, &simulated, &machine, &spec.device_mask, err);
    if (status == HAC_OK)
        status = hac_plan_ops(machine, &spec, &plan, err);
    if (status == HAC_OK)
        status = send_plan(session, request->serial, plan, wanted->simulate, wanted->format, err);
    free((void *)(uintptr_t)spec.tasks);
    return status;
}

/* ---- questions ---------------------------------------------------------------------------------------- */

static bool is_visible(const hac_session *session, const hacd_job *job)
{
    return !job->by_itself && (job->user == session->user || hac_user_is_administrator(session->user));
}

/* The job with that id, if it is in memory and this user's. Administrators see all jobs. 0: this user's
 * newest job; of a run of a logic file the run. */
static const hacd_job *look_up(const hac_session *session, uint64_t id)
{
    hac_jobs *jobs = &server_of(session)->jobs;
    const hacd_job *job = NULL, *run = NULL;
    if (id != 0) {
        job = hacd_job_find(jobs, id);
        return job != NULL && is_visible(session, job) ? job : NULL;
    }
    hac_list_for_each_back (job, &jobs->list, hacd_job, link) {
        if (job->user != session->user || job->by_itself)
            continue;
        run = hac_job_parts_run(job);
        return run != NULL ? run : job;
    }
    return NULL;
}

/* A job that requests can still do something with. */
static hac_status find_job(const hac_session *session, uint64_t id, hacd_job **ret, hac_error *err)
{
    if (id == 0 || look_up(session, id) == NULL)
        return hac_fail(err, HAC_NOT_FOUND,
                        "there is no job %llu of yours that hacd still has at hand; `hacctl jobs --all` also "
                        "lists those that are only remembered",
                        (unsigned long long)id);
    *ret = hacd_job_find(&server_of(session)->jobs, id);
    return HAC_OK;
}

static hac_status job_answer(const hac_server *server, const hacd_job *job, const Hac__Client__Query *query,
                             char **ret, size_t *ret_bytes, hac_error *err)
{
    hac_status status = HAC_OK;
    switch (query->topic) {
    case HAC__CLIENT__TOPIC__TOPIC_SHOW:
        return hac_status_json_show(job, ret, ret_bytes, err);
    case HAC__CLIENT__TOPIC__TOPIC_WHY:
        return hac_job_why(server, job, ret, ret_bytes, err);
    case HAC__CLIENT__TOPIC__TOPIC_RECEIPT:
        return hac_status_json_receipt(job, ret, ret_bytes, err);
    case HAC__CLIENT__TOPIC__TOPIC_LOG:
        *ret = strdup(job->log.data != NULL ? job->log.data : "");
        status = *ret == NULL ? hac_fail_no_memory(err) : HAC_OK;
        break;
    default: {
        char name[32];
        if (job->plan == NULL)
            return hac_fail(err, HAC_NOT_FOUND, "job %llu has no plan (any more)",
                            (unsigned long long)job->id);
        snprintf(name, sizeof name, "job %llu", (unsigned long long)job->id);
        status = query->topic == HAC__CLIENT__TOPIC__TOPIC_TRACE
                     ? hacd_job_trace(job, name, ret, err)
                     : plan_text(job->plan, query->format, ret, err);
    }
    }
    if (status == HAC_OK)
        *ret_bytes = strlen(*ret);
    return status;
}

static hac_status answer(const hac_session *session, const Hac__Client__Query *query, char **ret,
                         size_t *ret_bytes, hac_error *err)
{
    const hac_server *server = server_of(session);
    switch (query->topic) {
    case HAC__CLIENT__TOPIC__TOPIC_STATUS:
        return hac_status_json_status(server, session->user, ret, ret_bytes, err);
    case HAC__CLIENT__TOPIC__TOPIC_DEVICES:
        return hac_status_json_devices(server, session->user, ret, ret_bytes, err);
    case HAC__CLIENT__TOPIC__TOPIC_JOBS:
        return hac_status_json_jobs(server, session->user, ret, ret_bytes, err);
    case HAC__CLIENT__TOPIC__TOPIC_MODELS:
        return hac_status_json_models(server, session->user, ret, ret_bytes, err);
    case HAC__CLIENT__TOPIC__TOPIC_METRICS:
        return hac_metrics_text(server, session->user, ret, ret_bytes, err);
    case HAC__CLIENT__TOPIC__TOPIC_TUNING:
        return hac_status_json_tuning(server, ret, ret_bytes, err);
    case HAC__CLIENT__TOPIC__TOPIC_PROBLEMS:
        return hac_status_json_problems(server, session->user, ret, ret_bytes, err);
    default:
        return job_answer(server, look_up(session, query->job), query, ret, ret_bytes, err);
    }
}

/* Whether the answer lies in the state directory. */
static bool is_remembered(const hac_session *session, const Hac__Client__Query *query)
{
    switch (query->topic) {
    case HAC__CLIENT__TOPIC__TOPIC_SHOW:
    case HAC__CLIENT__TOPIC__TOPIC_WHY:
    case HAC__CLIENT__TOPIC__TOPIC_RECEIPT:
    case HAC__CLIENT__TOPIC__TOPIC_LOG:
    case HAC__CLIENT__TOPIC__TOPIC_TRACE:
    case HAC__CLIENT__TOPIC__TOPIC_PLAN:
        return look_up(session, query->job) == NULL;
    default:
        return query->topic == HAC__CLIENT__TOPIC__TOPIC_ALL_JOBS;
    }
}

static hac_status handle_query(hac_session *session, const Hac__Client__Request *request, hac_frame *frame,
                               hac_error *err)
{
    (void)frame;
    hac_autofree char *text = NULL;
    size_t bytes = 0;
    bool about_devices = request->query->topic == HAC__CLIENT__TOPIC__TOPIC_DEVICES ||
                         request->query->topic == HAC__CLIENT__TOPIC__TOPIC_PROBLEMS ||
                         request->query->topic == HAC__CLIENT__TOPIC__TOPIC_TUNING;
    if (about_devices && hac_deferred_questions_add(server_of(session), session, request))
        return HAC_OK; /* answered when the devices' self-tests are done */
    if (is_remembered(session, request->query))
        return hac_job_history_ask(server_of(session), session, request->serial, request->query, err);
    hac_status status = answer(session, request->query, &text, &bytes, err);
    if (status == HAC_OK)
        hac_session_send_text(session, request->serial, text, bytes);
    return status;
}

static hac_status handle_more_text(hac_session *session, const Hac__Client__Request *request,
                                   hac_frame *frame, hac_error *err)
{
    (void)frame;
    return hac_session_send_more_text(session, request->serial, request->more_text->text,
                                      request->more_text->offset, err);
}

void hac_requests_answer_query(hac_session *session, uint64_t serial, Hac__Client__Topic topic)
{
    hac_error err = HAC_ERROR_NONE;
    hac_autofree char *text = NULL;
    size_t bytes = 0;
    Hac__Client__Query query = HAC__CLIENT__QUERY__INIT;
    query.topic = topic;
    if (answer(session, &query, &text, &bytes, &err) == HAC_OK)
        hac_session_send_text(session, serial, text, bytes);
    else
        hac_session_send_failure(session, serial, &err, 0);
}

/* ---- jobs --------------------------------------------------------------------------------------------- */

static hac_status handle_wait(hac_session *session, const Hac__Client__Request *request, hac_frame *frame,
                              hac_error *err)
{
    (void)frame;
    hacd_job *job = NULL;
    hac_status status = find_job(session, request->wait->job, &job, err);
    if (status != HAC_OK)
        return status;
    if (hacd_job_ended_for_all(job) || (hacd_job_ended(job) && job->writer == session)) {
        hacd_job_send_done(session, request->serial, job);
        return HAC_OK;
    }
    return hac_waiter_add(&job->waiters, session, request->serial, err);
}

/* HAC_OK: the job has ended well, and hacd still has its result. */
static hac_status check_result(const hacd_job *job, const hac_session *session, hac_error *err)
{
    unsigned long long id = job->id;
    if (!hacd_job_ended(job) || (job->writer != NULL && job->writer != session))
        return hac_fail(err, HAC_AGAIN, "job %llu has not ended; `hacctl wait` waits for it", id);
    if (job->state != HAC_JOB_DONE)
        return hac_fail(err, HAC_INVALID, "job %llu has no result: it is %s", id,
                        hacd_job_state_name(job->state));
    if (job->kind->has_result && job->released)
        return hac_fail(err, HAC_NOT_FOUND, "the result of job %llu is gone: it was fetched and released",
                        id);
    return HAC_OK;
}

static hac_status handle_result(hac_session *session, const Hac__Client__Request *request, hac_frame *frame,
                                hac_error *err)
{
    (void)frame;
    hacd_job *job = NULL;
    hac_status status = find_job(session, request->result->job, &job, err);
    if (status != HAC_OK)
        return status;
    if (!hacd_job_ended(job) || job->state == HAC_JOB_DONE)
        status = check_result(job, session, err);
    if (status == HAC_OK)
        hacd_job_send_done(session, request->serial, job);
    return status;
}

static hac_status handle_hold(hac_session *session, const Hac__Client__Request *request, hac_frame *frame,
                              hac_error *err)
{
    (void)frame;
    hacd_job *job = NULL;
    hac_status status = find_job(session, request->hold->job, &job, err);
    if (status == HAC_OK)
        status = check_result(job, session, err);
    if (status == HAC_OK && (job->result == NULL || job->user != session->user))
        status = hac_fail(err, HAC_INVALID, "the result of job %llu is not in a buffer of yours",
                          (unsigned long long)job->id);
    if (status == HAC_OK)
        status = hac_pool_seal(job->result, err);
    if (status != HAC_OK)
        return status;
    hac_pool_hold(job->result);
    status = hac_session_hold(session, job->result, err);
    if (status != HAC_OK) {
        hac_pool_release(job->result);
        return status;
    }
    hac_session_send_ok(session, request->serial);
    return HAC_OK;
}

static hac_status handle_release(hac_session *session, const Hac__Client__Request *request, hac_frame *frame,
                                 hac_error *err)
{
    (void)frame;
    hacd_job *job = NULL;
    hac_status status = find_job(session, request->release->job, &job, err);
    if (status != HAC_OK)
        return status;
    if (!hacd_job_ended(job) || (job->writer != NULL && job->writer != session))
        return hac_fail(err, HAC_INVALID, "job %llu has not ended; cancel it instead",
                        (unsigned long long)job->id);
    if (job->owner != NULL && job->owner != session)
        return hac_fail(err, HAC_INVALID, "job %llu has a client that has not released its result yet",
                        (unsigned long long)job->id);
    hacd_job_remove_reader(job, session);
    hacd_job_release_result(job);
    hac_session_send_ok(session, request->serial);
    return HAC_OK;
}

static hac_status handle_cancel(hac_session *session, const Hac__Client__Request *request, hac_frame *frame,
                                hac_error *err)
{
    (void)frame;
    hacd_job *job = NULL;
    hac_status status = find_job(session, request->cancel->job, &job, err);
    if (status != HAC_OK)
        return status;
    if (hacd_job_ended(job) && job->writer != NULL && job->writer != session)
        return hac_fail(err, HAC_INVALID,
                        "job %llu is done, and process %d writes its output: end that one instead",
                        (unsigned long long)job->id, (int)job->writer->pid);
    hacd_job_cancel(job, "cancelled by its client");
    hac_session_send_ok(session, request->serial);
    return HAC_OK;
}

static hac_status handle_output(hac_session *session, const Hac__Client__Request *request, hac_frame *frame,
                                hac_error *err)
{
    (void)frame;
    const Hac__Client__Output *output = request->output;
    hac_error failure = HAC_ERROR_NONE;
    hacd_job *job = NULL;
    hac_status status = find_job(session, output->job, &job, err);
    if (status == HAC_OK && !output->ended)
        status = hacd_job_output_begin(job, session, err);
    else if (status == HAC_OK && output->failure != NULL) {
        failure.code = (hac_status)output->failure->code;
        hac_utf8_copy_line(failure.message, sizeof failure.message, output->failure->message);
        status = hacd_job_output_end(job, session, &failure, err);
    } else if (status == HAC_OK)
        status = hacd_job_output_end(job, session, NULL, err);
    if (status == HAC_OK)
        hac_session_send_ok(session, request->serial);
    return status;
}

/* ---- administration ----------------------------------------------------------------------------------- */

static hac_status handle_drain(hac_session *session, const Hac__Client__Request *request, hac_frame *frame,
                               hac_error *err)
{
    (void)frame;
    hac_status status = may_administer(session, "drain", err);
    if (status != HAC_OK)
        return status;
    hac_session_send_ok(session, request->serial);
    hac_shutdown_drain(server_of(session), "asked to by a client");
    return HAC_OK;
}

static hac_status handle_reload(hac_session *session, const Hac__Client__Request *request, hac_frame *frame,
                                hac_error *err)
{
    (void)frame;
    hac_status status = may_administer(session, "reload", err);
    if (status == HAC_OK) /* answered when the new configuration is in force */
        status = hac_reload_begin(server_of(session), session, request->serial, err);
    /* Log one record a minute of a user, who can ask as often as they like; log every attempt of an
     * administrator. */
    const hac_log_subject about = {session->user->uid, 0, NULL};
    if (status != HAC_OK)
        hac_log_record(
            HAC_LOG_ERROR, HAC_EVENT_RELOAD_REFUSED, hac_user_is_administrator(session->user) ? NULL : &about,
            "reload, asked for by uid %u: %s; the old configuration stays", session->user->uid, err->message);
    return status;
}

static hac_status handle_revert_tuning(hac_session *session, const Hac__Client__Request *request,
                                       hac_frame *frame, hac_error *err)
{
    (void)frame;
    const Hac__Client__RevertTuning *revert = request->revert_tuning;
    hac_server *server = server_of(session);
    uint32_t mask = UINT32_MAX;
    hac_status status = may_administer(session, "tune --revert and --reset", err);
    if (status == HAC_OK)
        status = hacd_job_tune_check_none(&server->jobs, err);
    if (status == HAC_OK && revert->n_devices > 0)
        status = hac_devices_mask(&server->devices, revert->devices, revert->n_devices, &mask, err);
    if (status == HAC_OK)
        status = hac_tuning_revert(&server->tuning, mask, revert->all, err);
    if (status == HAC_OK)
        hac_session_send_ok(session, request->serial);
    return status;
}

static handler *const handlers[] = {
    [HAC__CLIENT__REQUEST__WHAT_HELLO] = handle_hello,
    [HAC__CLIENT__REQUEST__WHAT_BUFFER_ALLOC] = handle_buffer_alloc,
    [HAC__CLIENT__REQUEST__WHAT_BUFFER_GROW] = handle_buffer_grow,
    [HAC__CLIENT__REQUEST__WHAT_BUFFER_RELEASE] = handle_buffer_release,
    [HAC__CLIENT__REQUEST__WHAT_SUBMIT_SORT] = handle_submit_sort,
    [HAC__CLIENT__REQUEST__WHAT_PLAN_SORT] = handle_plan_sort,
    [HAC__CLIENT__REQUEST__WHAT_SUBMIT_QUERY] = handle_submit_query,
    [HAC__CLIENT__REQUEST__WHAT_APPEND_SPLIT] = handle_append_split,
    [HAC__CLIENT__REQUEST__WHAT_PLAN_QUERY] = handle_plan_query,
    [HAC__CLIENT__REQUEST__WHAT_SUBMIT_OPS] = handle_submit_ops,
    [HAC__CLIENT__REQUEST__WHAT_APPEND_GRAPH] = handle_append_graph,
    [HAC__CLIENT__REQUEST__WHAT_PLAN_OPS] = handle_plan_ops,
    [HAC__CLIENT__REQUEST__WHAT_QUERY] = handle_query,
    [HAC__CLIENT__REQUEST__WHAT_WAIT] = handle_wait,
    [HAC__CLIENT__REQUEST__WHAT_RESULT] = handle_result,
    [HAC__CLIENT__REQUEST__WHAT_RELEASE] = handle_release,
    [HAC__CLIENT__REQUEST__WHAT_CANCEL] = handle_cancel,
    [HAC__CLIENT__REQUEST__WHAT_OUTPUT] = handle_output,
    [HAC__CLIENT__REQUEST__WHAT_HOLD] = handle_hold,
    [HAC__CLIENT__REQUEST__WHAT_SUBMIT_CALIBRATE] = handle_submit_calibrate,
    [HAC__CLIENT__REQUEST__WHAT_BUILD_KERNELS] = handle_build_kernels,
    [HAC__CLIENT__REQUEST__WHAT_DRAIN] = handle_drain,
    [HAC__CLIENT__REQUEST__WHAT_RELOAD] = handle_reload,
    [HAC__CLIENT__REQUEST__WHAT_REVERT_TUNING] = handle_revert_tuning,
    [HAC__CLIENT__REQUEST__WHAT_MORE_TEXT] = handle_more_text,
};

static bool asks_for_plan(size_t what)
{
    return what == HAC__CLIENT__REQUEST__WHAT_PLAN_SORT || what == HAC__CLIENT__REQUEST__WHAT_PLAN_QUERY ||
           what == HAC__CLIENT__REQUEST__WHAT_PLAN_OPS;
}

/* When to retry, in seconds; 0: retrying is pointless. A plan is refused for a limit of its own. */
static double retry_after(const hac_session *session, size_t what, hac_status code)
{
    if (session->retry_seconds >= 0) /* the handler knows */
        return session->retry_seconds;
    return code == HAC_REFUSED && !asks_for_plan(what)
               ? hac_admission_retry(&server_of(session)->jobs, session->user)
               : 0;
}

static void fail_request(hac_session *session, const Hac__Client__Request *request, const hac_error *err)
{
    server_of(session)->metrics.refused[(unsigned)err->code % HAC_METRICS_STATUSES]++;
    hac_session_send_failure(session, request->serial, err,
                             retry_after(session, (size_t)request->what_case, err->code));
}

void hac_requests_plan(hac_session *session, const Hac__Client__Request *request, hac_frame *frame)
{
    hac_error err = HAC_ERROR_NONE;
    session->retry_seconds = -1;
    if (handlers[request->what_case](session, request, frame, &err) != HAC_OK)
        fail_request(session, request, &err);
}

void hac_requests_handle(hac_session *session, const Hac__Client__Request *request, hac_frame *frame)
{
    hac_error err = HAC_ERROR_NONE;
    hac_metrics *metrics = &server_of(session)->metrics;
    size_t what = (size_t)request->what_case;
    metrics->requests++;
    if (what >= sizeof handlers / sizeof *handlers || handlers[what] == NULL) {
        hac_session_close(session, "it sent a request of no known kind");
        return;
    }
    bool hello = what == HAC__CLIENT__REQUEST__WHAT_HELLO;
    if (hello == session->greeted) {
        hac_session_close(session, hello ? "it greeted twice" : "it did not greet");
        return;
    }
    session->retry_seconds = -1;
    session->user->refusal.hopeless = false;
    hac_status status = asks_for_plan(what)
                            ? hac_plan_queue_add(&server_of(session)->plans, session, frame, &err)
                            : handlers[what](session, request, frame, &err);
    if (status != HAC_OK) {
        fail_request(session, request, &err);
        if (hello)
            hac_session_close(session, err.message);
    }
}
