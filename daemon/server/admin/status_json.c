/* SPDX-License-Identifier: Apache-2.0 */
#include "status_json.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/type.h"
#include "executors/device_tuning.h"
#include "idle_calibration.h"
#include "job_parts.h"
#include "loop/child.h"
#include "metrics_http.h"
#include "receipt_engines.h"
#include "resources/device_nodes.h"
#include "scheduler/rates.h"
#include "state.h"

static void add_memory(hac_text *t, const hac_user *user)
{
    uint64_t kept = hac_pool_idle_bytes(user);
    hac_json_open(t, "memory", '{');
    hac_json_unsigned(t, "limit_bytes", user->limits.memory);
    hac_json_unsigned(t, "used_bytes", user->held[HAC_SLOT_MEMORY] - kept);
    hac_json_unsigned(t, "kept_bytes", kept);
    hac_json_close(t, '}');
}

hac_status hac_status_json_status(const hac_server *server, const hac_user *user, char **ret,
                                  size_t *ret_bytes, hac_error *err)
{
    hac_text t = HAC_TEXT_NONE;
    unsigned running, waiting;
    hac_jobs_count(&server->jobs, &running, &waiting);
    hac_json_open(&t, NULL, '{');
    hac_json_open(&t, "daemon", '{');
    hac_json_string(&t, "version", HAC_VERSION);
    hac_json_integer(&t, "protocol", HAC_CLIENT_PROTOCOL_VERSION);
    hac_json_integer(&t, "pid", getpid());
    hac_json_string(&t, "socket", server->options.socket_path);
    hac_json_bool(&t, "private", server->options.private_daemon);
    hac_json_number(&t, "uptime_seconds", hac_seconds_since(server->started_ns));
    hac_json_bool(&t, "draining", server->jobs.draining);
    hac_json_unsigned(&t, "connections", server->sessions.count);
    hac_json_unsigned(&t, "jobs", running + waiting);
    hac_json_unsigned(&t, "jobs_running", running);
    hac_json_close(&t, '}');
    add_memory(&t, user);
    hac_json_close(&t, '}');
    return hac_text_finish(&t, ret, ret_bytes, err);
}

/* ---- devices ------------------------------------------------------------------------------------------ */

static void add_capability(hac_text *t, const hac_server *server, const hac_server_device *device)
{
    hac_json_open(t, "capability", '{');
    for (int type = HAC_TYPE_U32; type < HAC_TYPE_COUNT; type++) {
        double rate = hac_rate_sort(server->models, device, (hac_type)type);
        char key[HAC_NAME_MAX];
        snprintf(key, sizeof key, "sort.%s", hac_type_name((hac_type)type));
        if (rate > 0)
            hac_json_number(t, key, rate);
    }
    static const char *const codelets[] = {"query.aggregate", "hash.aggregate"};
    for (size_t i = 0; i < sizeof codelets / sizeof *codelets; i++) {
        double rate = hac_rate_table(server->models, device, codelets[i]);
        char key[HAC_NAME_MAX];
        snprintf(key, sizeof key, "%s.none", codelets[i]);
        if (rate > 0)
            hac_json_number(t, key, rate);
    }
    hac_json_close(t, '}');
}

static void add_executors(hac_text *t, const hac_server *server, uint32_t index)
{
    hac_json_open(t, "executors", '[');
    for (unsigned i = 0; i < HAC_EXECUTORS_MAX; i++) {
        const hac_executor *executor = server->executors.slots[i];
        if (executor != NULL && executor->device == index && executor->child != NULL)
            hac_json_integer(t, NULL, hac_child_pid(executor->child));
    }
    hac_json_close(t, ']');
}

/* The running task, not one that is queued. */
static void add_running(hac_text *t, const hac_executor *executor, const hac_user *viewer)
{
    const hac_dispatch *first = hac_container_of(executor->in_flight.next, hac_dispatch, link);
    const hacd_job *job = first->job;
    if (job->user != viewer && !hac_user_is_administrator(viewer))
        return;
    hac_json_open(t, NULL, '{');
    hac_json_unsigned(t, "job", job->id);
    hac_json_string(t, "stage", job->plan != NULL ? job->plan->tasks[first->task].stage : NULL);
    hac_json_number(t, "seconds", hac_seconds_since(executor->busy_since_ns));
    hac_json_close(t, '}');
}

/* Seconds in tasks since hacd started, including the running ones, and what is running. */
static void add_work(hac_text *t, const hac_server *server, uint32_t index, const hac_user *viewer)
{
    double busy = server->devices.items[index]->busy_seconds;
    hac_json_open(t, "running", '[');
    for (unsigned i = 0; i < HAC_EXECUTORS_MAX; i++) {
        const hac_executor *executor = server->executors.slots[i];
        if (executor == NULL || executor->device != index || executor->n_in_flight == 0 ||
            executor->state != HAC_EXECUTOR_READY)
            continue;
        busy += hac_seconds_since(executor->busy_since_ns);
        add_running(t, executor, viewer);
    }
    hac_json_close(t, ']');
    hac_json_number(t, "busy_seconds", busy);
}

static void add_device_lists(hac_text *t, const hac_server *server, uint32_t index)
{
    const hac_server_device *device = server->devices.items[index];
    hac_json_open(t, "affinity", '[');
    for (size_t i = 0; i < device->config.n_affinity; i++)
        hac_json_integer(t, NULL, device->config.affinity[i]);
    hac_json_close(t, ']');
    hac_json_open(t, "shares_cores_with", '[');
    for (uint32_t i = 0; i < server->devices.count; i++)
        if (i != index && !server->devices.items[i]->retired && device->group[0] != '\0' &&
            strcmp(device->group, server->devices.items[i]->group) == 0)
            hac_json_string(t, NULL, server->devices.items[i]->config.name);
    hac_json_close(t, ']');
    hac_json_open(t, "codelet_failures", '[');
    for (size_t i = 0; i < device->n_failures; i++)
        hac_json_string(t, NULL, device->failures[i]);
    hac_json_close(t, ']');
    hac_json_open(t, "program_failures", '[');
    for (size_t i = 0; i < device->n_failed_programs; i++) {
        char failure[sizeof(hac_failed_program) + 2];
        snprintf(failure, sizeof failure, "%s: %s", device->failed_programs[i].name,
                 device->failed_programs[i].reason);
        hac_json_string(t, NULL, failure);
    }
    hac_json_close(t, ']');
}

static void add_device(hac_text *t, const hac_server *server, uint32_t index, const hac_user *viewer)
{
    const hac_server_device *device = server->devices.items[index];
    hac_json_open(t, NULL, '{');
    hac_json_string(t, "name", device->config.name);
    hac_json_string(t, "state", hac_device_state_name(&server->devices, index, viewer));
    hac_json_string(t, "reason", hac_device_reason(&server->devices, index, viewer));
    hac_json_string(t, "kind", hac_device_kind_name(device->config.kind));
    hac_json_string(t, "group", device->group[0] != '\0' ? device->group : NULL);
    hac_json_string(t, "profile", device->config.profile);
    hac_json_string(t, "platform", device->platform);
    hac_json_string(t, "vendor", device->vendor);
    hac_json_string(t, "device", device->device);
    hac_json_string(t, "driver", device->driver);
    hac_json_string(t, "style", device->simt ? "simt" : "block");
    hac_json_unsigned(t, "threads", device->config.threads);
    hac_json_unsigned(t, "compute_units", device->compute_units);
    hac_json_unsigned(t, "memory_bytes", device->global_memory);
    hac_json_unsigned(t, "max_allocation_bytes", device->max_allocation);
    hac_json_unsigned(t, "local_memory_bytes", device->local_memory);
    hac_json_bool(t, "fp64", device->fp64);
    hac_json_number(t, "slowdown", device->config.slowdown);
    hac_json_string(t, "calibration", hac_idle_calibration_state(server, index));
    add_capability(t, server, device);
    add_executors(t, server, index);
    add_work(t, server, index, viewer);
    add_device_lists(t, server, index);
    hac_json_close(t, '}');
}

hac_status hac_status_json_devices(const hac_server *server, const hac_user *viewer, char **ret,
                                   size_t *ret_bytes, hac_error *err)
{
    hac_text t = HAC_TEXT_NONE;
    hac_json_open(&t, NULL, '{');
    hac_json_open(&t, "devices", '[');
    for (uint32_t i = 0; i < server->devices.count; i++)
        if (!server->devices.items[i]->retired)
            add_device(&t, server, i, viewer);
    hac_json_close(&t, ']');
    hac_json_string(&t, "problem", server->devices.problem[0] != '\0' ? server->devices.problem : NULL);
    hac_json_close(&t, '}');
    return hac_text_finish(&t, ret, ret_bytes, err);
}

/* ---- jobs --------------------------------------------------------------------------------------------- */

/* How long a running job will still take, judging by its progress; < 0: there is too little progress. */
static double seconds_left(const hacd_job *job)
{
    double fraction = hacd_job_fraction(job);
    if (job->state != HAC_JOB_RUNNING || fraction < 0.02 || job->started_ns == 0)
        return -1;
    return hac_seconds_since(job->started_ns) * (1 - fraction) / fraction;
}

static void add_job_members(hac_text *t, const hacd_job *job, uint64_t memory_bytes)
{
    hac_json_unsigned(t, "id", job->id);
    hac_json_string(t, "flow", hac_flow_name(job->flow));
    hac_json_string(t, "state", hacd_job_state_name(hacd_job_state_for_all(job)));
    hac_json_unsigned(t, "user", job->user->uid);
    hac_json_unsigned(t, "items", job->items);
    hac_json_string(t, "type", job->type != HAC_TYPE_NONE ? hac_type_name(job->type) : NULL);
    hac_json_string(t, "name", job->name);
    const hacd_job *run = hac_job_parts_run(job);
    if (run != NULL)
        hac_json_unsigned(t, "part_of", run->id);
    else
        hac_json_null(t, "part_of");
    hac_json_integer(t, "submitted", (int64_t)job->submitted_at);
    hac_json_number(t, "seconds", hacd_job_seconds(job));
    hac_json_number(t, "fraction", hacd_job_fraction(job));
    double left = seconds_left(job);
    if (left >= 0)
        hac_json_number(t, "seconds_left", left);
    else
        hac_json_null(t, "seconds_left");
    hac_json_unsigned(t, "memory_bytes", memory_bytes);
    hac_json_integer(t, "priority", job->priority);
    hac_json_bool(t, "detached", job->detached);
    hac_json_bool(t, "cancelling", job->cancelling && !hacd_job_ended(job));
    const char *stage = NULL;
    if (job->state == HAC_JOB_RUNNING && job->run.n_ready > 0 && job->run.tasks != NULL)
        stage = job->plan->tasks[job->run.ready[0]].stage;
    if (job->waiting)
        stage = hacd_job_waits_for_memory(job) ? "waits for memory" : "waits for input";
    hac_json_string(t, "stage", stage);
    hac_json_open(t, "devices", '[');
    for (size_t i = 0; job->plan != NULL && i < job->plan->n_devices; i++)
        hac_json_string(t, NULL, job->plan->devices[i].name);
    hac_json_close(t, ']');
    hac_json_string(t, "message",
                    job->state == HAC_JOB_DONE || job->message[0] == '\0' ? NULL : job->message);
}

void hac_status_json_add_job(hac_text *text, const hacd_job *job)
{
    hac_json_open(text, NULL, '{');
    add_job_members(text, job, hacd_job_memory(job));
    hac_json_close(text, '}');
}

hac_status hac_status_json_line(const hacd_job *job, char **ret, size_t *ret_bytes, hac_error *err)
{
    hac_text t = HAC_TEXT_NONE;
    hac_json_open(&t, NULL, '{');
    add_job_members(&t, job, 0);
    hac_json_close(&t, '}');
    return hac_text_finish(&t, ret, ret_bytes, err);
}

hac_status hac_status_json_jobs(const hac_server *server, const hac_user *viewer, char **ret,
                                size_t *ret_bytes, hac_error *err)
{
    hac_text t = HAC_TEXT_NONE;
    hac_json_open(&t, NULL, '{');
    hac_json_open(&t, "jobs", '[');
    const hacd_job *job = NULL;
    hac_list_for_each (job, &server->jobs.list, hacd_job, link) {
        if (job->by_itself || (job->user != viewer && !hac_user_is_administrator(viewer)))
            continue;
        hac_status_json_add_job(&t, job);
    }
    hac_json_close(&t, ']');
    hac_json_close(&t, '}');
    return hac_text_finish(&t, ret, ret_bytes, err);
}

/* What ran on each device: pieces, seconds, items. */
static void add_device_use(hac_text *t, const hacd_job *job)
{
    hac_json_open(t, "devices", '[');
    for (uint32_t d = 0; job->plan != NULL && d < job->plan->n_devices; d++) {
        hac_device_use use = hac_receipt_use(job, d);
        hac_json_open(t, NULL, '{');
        hac_json_string(t, "name", job->plan->devices[d].name);
        if (hac_plan_is_one_task(job->plan))
            hac_json_null(t, "share_planned");
        else
            hac_json_number(t, "share_planned", job->plan->devices[d].share);
        hac_json_number(t, "busy_seconds", use.busy);
        hac_json_number(t, "predicted_seconds", use.predicted);
        hac_json_unsigned(t, "tasks", use.pieces);
        hac_json_unsigned(t, "tasks_lost", use.lost);
        hac_receipt_engines(job, d, &use, t);
        hac_json_close(t, '}');
    }
    hac_json_close(t, ']');
}

static void add_receipt_members(hac_text *t, const hacd_job *job)
{
    hac_json_unsigned(t, "job", job->id);
    hac_json_string(t, "flow", hac_flow_name(job->flow));
    hac_json_string(t, "state", hacd_job_state_name(job->state));
    hac_json_string(t, "message", job->state == HAC_JOB_DONE ? NULL : job->message);
    hac_json_unsigned(t, "items", job->items);
    hac_json_string(t, "type", job->type != HAC_TYPE_NONE ? hac_type_name(job->type) : NULL);
    hac_json_unsigned(t, "bytes_in", job->bytes_in);
    hac_json_unsigned(t, "bytes_out", job->result_bytes + job->rows_bytes);
    if (job->plan != NULL) {
        hac_json_string(t, "algorithm", job->plan->sort.algorithm[0] ? job->plan->sort.algorithm : NULL);
        hac_json_string(t, "scheme", job->plan->sort.scheme[0] ? job->plan->sort.scheme : NULL);
        if (job->plan->k > 0)
            hac_json_number(t, "k", job->plan->k);
        else
            hac_json_null(t, "k");
        hac_json_string(t, "k_source", job->plan->k > 0 ? job->plan->k_source : NULL);
        hac_json_number(t, "predicted_seconds", job->plan->predicted_seconds + job->earlier.predicted);
    }
    hac_json_number(t, "measured_seconds", hacd_job_run_seconds(job));
    hac_json_number(t, "queued_seconds",
                    job->started_ns > job->submitted_ns ? (double)(job->started_ns - job->submitted_ns) * 1e-9
                                                        : 0);
    hac_json_number(t, "total_seconds", hacd_job_seconds(job));
    hac_json_number(t, "build_seconds", job->build_seconds);
    hac_json_unsigned(t, "retries", job->retries);
    hac_json_unsigned(t, "restarts", job->restarts);
    hac_json_string(t, "determinism", job->fast ? "fast" : "exact");
    hac_json_string(t, "data_path",
                    job->inline_data       ? "inline"
                    : job->from_descriptor ? "descriptor, read in blocks"
                                           : "pool memory");
    add_device_use(t, job);
    char why[400];
    hac_json_string(t, "why_no_kernels", hac_receipt_why_no_kernels(job, why, sizeof why) ? why : NULL);
    if (job->kind->receipt != NULL)
        job->kind->receipt(job, t);
    hac_job_parts_print(job, t);
    hac_json_string(t, "log", job->log.data != NULL ? job->log.data : "");
}

hac_status hac_status_json_receipt(const hacd_job *job, char **ret, size_t *ret_bytes, hac_error *err)
{
    hac_text t = HAC_TEXT_NONE;
    hac_json_open(&t, NULL, '{');
    add_receipt_members(&t, job);
    hac_json_close(&t, '}');
    return hac_text_finish(&t, ret, ret_bytes, err);
}

hac_status hac_status_json_show(const hacd_job *job, char **ret, size_t *ret_bytes, hac_error *err)
{
    char *plan = NULL;
    hac_text t = HAC_TEXT_NONE;
    hac_json_open(&t, NULL, '{');
    add_job_members(&t, job, hacd_job_memory(job));
    hac_json_open(&t, "receipt", '{');
    add_receipt_members(&t, job);
    hac_json_close(&t, '}');
    if (job->plan != NULL && hac_plan_to_json(job->plan, &plan, NULL) == HAC_OK)
        hac_json_raw(&t, "plan", plan);
    else
        hac_json_null(&t, "plan");
    free(plan);
    hac_json_close(&t, '}');
    return hac_text_finish(&t, ret, ret_bytes, err);
}

/* ---- models, problems --------------------------------------------------------------------------------- */

typedef struct model_list {
    hac_text text;
    const char *viewer; /* as hac_user_learner; NULL: sees all */
} model_list;

static void add_model(void *context, const hac_model_entry *entry)
{
    model_list *list = context;
    hac_text *t = &list->text;
    const char *learner = hac_model_learner(entry->codelet);
    if (learner != NULL && list->viewer != NULL && strcmp(learner, list->viewer) != 0)
        return;
    if (hac_model_is_narrow(entry->codelet)) /* a number says nothing to people */
        return;
    hac_json_open(t, NULL, '{');
    hac_json_string(t, "device_key", entry->device_key);
    hac_json_string(t, "codelet", entry->codelet);
    hac_json_string(t, "type", hac_type_name(entry->type));
    hac_json_number(t, "units", entry->units);
    hac_json_number(t, "seconds", entry->seconds);
    hac_json_number(t, "relative_error", entry->relative_error);
    hac_json_unsigned(t, "samples", entry->samples);
    hac_json_unsigned(t, "outliers", entry->outliers);
    hac_json_bool(t, "together", entry->together);
    hac_json_close(t, '}');
}

hac_status hac_status_json_models(const hac_server *server, const hac_user *viewer, char **ret,
                                  size_t *ret_bytes, hac_error *err)
{
    model_list list = {HAC_TEXT_NONE, hac_user_learner(viewer)};
    hac_json_open(&list.text, NULL, '{');
    hac_json_open(&list.text, "models", '[');
    hac_model_each(server->models, add_model, &list);
    hac_json_close(&list.text, ']');
    hac_json_close(&list.text, '}');
    return hac_text_finish(&list.text, ret, ret_bytes, err);
}

hac_status hac_status_json_tuning(const hac_server *server, char **ret, size_t *ret_bytes, hac_error *err)
{
    hac_text t = HAC_TEXT_NONE;
    hac_json_open(&t, NULL, '{');
    hac_json_open(&t, "devices", '[');
    for (uint32_t i = 0; i < server->devices.count; i++) {
        if (server->devices.items[i]->retired)
            continue;
        hac_json_open(&t, NULL, '{');
        hac_tuning_describe(&server->tuning, i, &t);
        hac_json_close(&t, '}');
    }
    hac_json_close(&t, ']');
    hac_json_close(&t, '}');
    return hac_text_finish(&t, ret, ret_bytes, err);
}

static void add_check(hac_text *t, const char *name, bool ok, const char *message, const char *hint)
{
    hac_json_open(t, NULL, '{');
    hac_json_string(t, "name", name);
    hac_json_bool(t, "ok", ok);
    hac_json_string(t, "message", message);
    hac_json_string(t, "hint", ok ? NULL : hint);
    hac_json_close(t, '}');
}

/* Advice about a device that is not used. A full disk is not the device's fault, but the device is tried
 * again only after a reload. */
static const char *device_hint(const hac_server *server, const char *reason, char *buffer, size_t size)
{
    if (strstr(reason, "o space left") == NULL && strstr(reason, "isk quota exceeded") == NULL)
        return "`hacctl devices` shows the device; its driver, or its profile, has to be mended";
    snprintf(buffer, size, "free space in %s, then `hacctl reload`", server->options.cache_directory);
    return buffer;
}

static void add_denied_node(void *context, const char *path, const char *why, const char *hint)
{
    char name[PATH_MAX + 16];
    snprintf(name, sizeof name, "device node %s", path);
    add_check(context, name, false, why, hint);
}

hac_status hac_status_json_problems(const hac_server *server, const hac_user *viewer, char **ret,
                                    size_t *ret_bytes, hac_error *err)
{
    hac_text t = HAC_TEXT_NONE;
    hac_json_open(&t, NULL, '{');
    hac_json_open(&t, "checks", '[');
    bool any = hac_devices_usable_by(&server->devices, viewer) > 0, found = false;
    for (size_t i = 0; i < server->devices.count; i++)
        found |= !server->devices.items[i]->retired;
    add_check(&t, "OpenCL devices", any,
              any                                  ? "at least one device is usable"
              : server->devices.problem[0] != '\0' ? server->devices.problem
                                                   : "no device is usable",
              found ? "the drivers are there: see what is said of each device"
                    : "install an OpenCL driver, for example pocl-opencl-icd, and run `hacctl reload`");
    for (size_t i = 0; i < server->devices.count; i++) {
        const hac_server_device *d = server->devices.items[i];
        if (d->retired)
            continue;
        char name[96], hint[PATH_MAX + 64];
        snprintf(name, sizeof name, "device %s", d->config.name);
        const char *reason = hac_device_reason(&server->devices, i, viewer);
        bool usable = hac_devices_may_use(&server->devices, i, viewer);
        add_check(&t, name, usable, usable ? d->device : reason,
                  device_hint(server, reason, hint, sizeof hint));
    }
    hac_device_nodes_denied("/dev", server->options.private_daemon, add_denied_node, &t);
    add_check(&t, "profiles", server->profile_problems == NULL,
              server->profile_problems != NULL ? server->profile_problems : "all profiles are sound",
              "mend the file and run `hacctl reload`");
    bool state = access(server->options.state_directory, W_OK) == 0;
    add_check(&t, "state directory", state, server->options.state_directory, "it must be writable for hacd");
    bool cache = access(server->options.cache_directory, W_OK) == 0;
    add_check(&t, "cache directory", cache, server->options.cache_directory, "it must be writable for hacd");
    if (!server->options.private_daemon) {
        bool configured = server->config.share_without_landlock;
        add_check(&t, "users kept apart", server->sessions.has_landlock,
                  server->sessions.has_landlock ? "the kernel has Landlock"
                  : configured ? "the kernel has no Landlock, and share_without_landlock is set"
                               : "the kernel has no Landlock: one user at a time is served",
                  "boot with `landlock` in `lsm=`, on Linux 5.13 or later; or set share_without_landlock in "
                  "hacd.yaml if the users trust each other");
    }
    if (server->http != NULL) {
        const char *problem = hac_metrics_http_problem(server);
        add_check(&t, "metrics over HTTP", problem == NULL, problem != NULL ? problem : "served",
                  "another program may have the port; under systemd, docs/metrics.md has the drop-in");
    }
    hac_json_close(&t, ']');
    hac_json_close(&t, '}');
    return hac_text_finish(&t, ret, ret_bytes, err);
}
