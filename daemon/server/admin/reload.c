/* SPDX-License-Identifier: Apache-2.0 */
#include "reload.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/landlock.h"
#include "base/log.h"
#include "executors/child_setup.h"
#include "executors/device_tuning.h"
#include "executors/restart_backoff.h"
#include "jobs/job_clients.h"
#include "loop/channel.h"
#include "loop/child.h"
#include "loop/service_manager.h"
#include "metrics_http.h"
#include "sessions/session.h"
#include "state.h"

#define OWN_DESCRIPTORS 512 /* descriptors that hacd itself needs at most */
#define PROBE_SECONDS   10.0
#define PLACE_SECONDS   30.0 /* how long retired devices may hold up new ones that need their places */

/* ---- configuration and profiles ----------------------------------------------------------------------- */

static void report_profile_problem(void *context, const hac_error *problem)
{
    hac_server *server = context;
    hac_log_record(HAC_LOG_WARNING, HAC_EVENT_PROFILE, NULL, "profile left out: %s", problem->message);
    hac_text text = HAC_TEXT_NONE;
    if (server->profile_problems != NULL)
        hac_text_add(&text, server->profile_problems);
    hac_text_addf(&text, "%s\n", problem->message);
    char *joined = NULL;
    if (hac_text_finish(&text, &joined, NULL, NULL) == HAC_OK) {
        free(server->profile_problems);
        server->profile_problems = joined;
    }
}

/* `strict`: the first bad file is an error. Else bad files are skipped, logged and shown by `doctor`. */
static hac_status load_profiles(hac_server *server, const hac_daemon_config *config, bool strict,
                                hac_profile_set **ret, hac_error *err)
{
    const char *const *directories = server->options.profile_directories;
    size_t n = server->options.n_profile_directories;
    if (config->n_profile_directories > 0) {
        directories = (const char *const *)config->profile_directories;
        n = config->n_profile_directories;
    }
    return hac_profile_set_load(directories, n, strict, report_profile_problem, server, ret, err);
}

static hac_status find_places(const hac_daemon_config *config, hac_reload_places *ret, hac_error *err)
{
    *ret = (hac_reload_places){.own = HAC_PLACE_ANYWHERE};
    if (config->identity == HAC_IDENTITY_UID)
        return HAC_OK;
    hac_status status = hac_place_roots_find(&ret->roots, err);
    return status == HAC_OK ? hac_own_place(&ret->roots, &ret->own, err) : status;
}

static hac_status load_config(const hac_server *server, hac_daemon_config *ret, hac_reload_places *ret_places,
                              hac_error *err)
{
    hac_status status = HAC_NOT_FOUND;
    if (server->options.config_path[0] != '\0')
        status = hac_daemon_config_load(server->options.config_path, ret, err);
    if (status == HAC_NOT_FOUND)
        status = hac_daemon_config_default(ret, err);
    if (status != HAC_OK)
        return status;
    status = find_places(ret, ret_places, err);
    if (status != HAC_OK)
        hac_daemon_config_clear(ret);
    for (size_t i = 0; status == HAC_OK && i < ret->n_warnings; i++)
        hac_log_record(HAC_LOG_WARNING, HAC_EVENT_OTHER, NULL, "%s", ret->warnings[i]);
    return status;
}

/* The descriptors that hacd may open, less those for connections, the loop and children. Half of them are
 * for what users hold, and half for what is on its way to clients: a queued copy, or the socket of an
 * ended session whose messages are unread, is a descriptor of hacd, too. */
static uint64_t descriptors_for_users(uint32_t connections)
{
    struct rlimit limit;
    uint64_t all = getrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : 1024;
    uint64_t own = all / 4 < OWN_DESCRIPTORS ? all / 4 : OWN_DESCRIPTORS;
    return (all - own - (connections < all / 4 ? connections : all / 4)) / 2;
}

/* `places` are those of the configuration. They are not looked up again here: a look that fails would make
 * all places one. */
static void apply_config(hac_server *server, const hac_reload_places *places)
{
    hac_log_set_level(server->config.log_level);
    hac_user *user = NULL;
    server->sessions.places = places->roots;
    server->users.own_place = places->own;
    server->users.total[HAC_SLOT_MEMORY] = server->config.pool_memory;
    server->users.total[HAC_SLOT_DESCRIPTORS] = descriptors_for_users(server->config.max_connections);
    server->users.total[HAC_SLOT_UNREAD] = server->users.total[HAC_SLOT_DESCRIPTORS];
    server->users.total[HAC_SLOT_CONNECTIONS] = server->config.max_connections;
    server->users.total[HAC_SLOT_JOBS] = server->config.max_jobs;
    hac_list_for_each (user, &server->users.list, hac_user, link)
        if (!user->of_daemon)
            user->limits = hac_daemon_config_limits(&server->config, user->uid, user->groups, user->n_groups);
    server->executors.hang_seconds = server->config.task_deadline_minimum;
    server->executors.hang_factor = server->config.task_deadline_factor;
    server->executors.idle_seconds = server->config.executor_idle_timeout;
    server->jobs.result_expiry = server->config.result_expiry;
    if (!server->options.private_daemon && hac_landlock_version() == 0)
        hac_log_record(
            HAC_LOG_WARNING, HAC_EVENT_NO_LANDLOCK, NULL,
            server->config.share_without_landlock
                ? "this kernel has no Landlock, and share_without_landlock is set: users are kept apart "
                  "by separate processes and seccomp alone"
                : "this kernel has no Landlock: one user at a time is served");
    server->builders.deadline_seconds = server->config.build_deadline;
    hac_metrics_http_configure(server);
}

hac_status hac_reload_first(hac_server *server, hac_error *err)
{
    hac_reload_places places;
    hac_status status = load_config(server, &server->config, &places, err);
    if (status == HAC_OK)
        status = load_profiles(server, &server->config, false, &server->profiles, err);
    if (status == HAC_OK)
        apply_config(server, &places);
    return status;
}

static void drop_taken(hac_reload *reload)
{
    if (!reload->taken)
        return;
    hac_daemon_config_clear(&reload->config);
    hac_profile_set_free(reload->profiles);
    reload->profiles = NULL;
    reload->taken = false;
}

void hac_reload_deinit(hac_server *server)
{
    drop_taken(&server->reload);
    hac_devices_clear(&server->reload.devices);
}

/* An error lasts until a reload succeeds, so `doctor` reports it, too. */
static hac_status refuse(hac_server *server, const hac_error *err)
{
    char *problem = NULL;
    if (asprintf(&problem, "not taken in by `reload`, the old ones stay: %s", err->message) >= 0) {
        free(server->profile_problems);
        server->profile_problems = problem;
    }
    return err->code;
}

/* ---- who waits for it --------------------------------------------------------------------------------- */

void hac_reload_forget_session(hac_server *server, const hac_session *session)
{
    hac_waiter *waiter = NULL;
    hac_list_for_each (waiter, &server->reload.waiters, hac_waiter, link) {
        if (waiter->session != session)
            continue;
        hac_list_remove(&waiter->link);
        free(waiter);
    }
}

/* `why_not` NULL: the new configuration is in force. */
static void answer_waiters(hac_server *server, const hac_error *why_not)
{
    hac_waiter *waiter = NULL;
    hac_list_for_each (waiter, &server->reload.waiters, hac_waiter, link) {
        hac_list_remove(&waiter->link);
        waiter->session->pending--;
        if (why_not == NULL)
            hac_session_send_ok(waiter->session, waiter->serial);
        else
            hac_session_send_failure(waiter->session, waiter->serial, why_not, 0);
        free(waiter);
    }
}

static void end_reload(hac_server *server, const hac_error *why_not)
{
    hac_reload *reload = &server->reload;
    reload->pending = reload->found = reload->again = false;
    drop_taken(reload);
    hac_devices_clear(&reload->devices);
    if (why_not != NULL) {
        refuse(server, why_not);
        hac_log_record(HAC_LOG_ERROR, HAC_EVENT_RELOAD_REFUSED, NULL,
                       "reload: %s; the old configuration stays", why_not->message);
    }
    answer_waiters(server, why_not);
    if (!server->probing)
        hac_service_manager_ready(server->notify);
}

/* ---- devices that go ---------------------------------------------------------------------------------- */

static bool plan_uses(const hacd_job *job, uint32_t place)
{
    for (uint32_t d = 0; job->plan != NULL && d < job->plan->n_devices; d++)
        if (job->plan->devices[d].machine_index == place)
            return true;
    return false;
}

/* Jobs that measure refer to devices by index from their first to their last step. */
static bool job_refers(const hacd_job *job, uint32_t place)
{
    return job->kind->measures || plan_uses(job, place) || (job->device_mask >> place & 1) != 0 ||
           (job->earlier.uses != NULL && job->earlier.uses[place].pieces + job->earlier.uses[place].lost > 0);
}

/* Whether nothing refers to the retired device at that place any more. */
static bool is_free(const hac_server *server, uint32_t place)
{
    const hacd_job *job = NULL;
    if (!server->devices.items[place]->retired || hac_builders_at(&server->builders, place) ||
        hac_executors_at(&server->executors, place))
        return false;
    hac_list_for_each (job, &server->jobs.list, hacd_job, link)
        if (!hacd_job_ended(job) && job_refers(job, place))
            return false;
    return true;
}

/* The first place for a new device; -1: there is none now. */
static int find_place(const hac_server *server)
{
    for (uint32_t i = 0; i < server->devices.count; i++)
        if (is_free(server, i))
            return (int)i;
    return server->devices.count < HAC_DEVICE_PLACES ? (int)server->devices.count : -1;
}

static size_t count_places(const hac_server *server)
{
    size_t n = HAC_DEVICE_PLACES - server->devices.count;
    for (uint32_t i = 0; i < server->devices.count; i++)
        n += is_free(server, i);
    return n;
}

/* Jobs that named the old device now mean the new one with its name. */
static void rename_in_masks(hac_server *server, uint32_t from, uint32_t to)
{
    hacd_job *job = NULL;
    hac_list_for_each (job, &server->jobs.list, hacd_job, link) {
        if (hacd_job_ended(job) || job->kind->measures || (job->device_mask >> from & 1) == 0)
            continue;
        job->device_mask |= UINT32_C(1) << to;
        job->device_mask &= ~(UINT32_C(1) << from);
    }
}

static void retire(hac_server *server, uint32_t place)
{
    hac_server_device *device = server->devices.items[place];
    device->retired = true;
    device->n_wanted = 0;
    snprintf(device->reason, sizeof device->reason, "a reload has removed it, or given it other settings");
    hac_executors_leave_device(&server->executors, place);
    hac_log_subject about = hac_log_device(device->config.name);
    hac_log_record(HAC_LOG_INFO, HAC_EVENT_DEVICE_REMOVED, &about, "device %s is removed",
                   device->config.name);
}

/* ---- devices that come -------------------------------------------------------------------------------- */

/* Forgets what jobs hold against the device that was there before. */
static void forget_place(hac_server *server, uint32_t place)
{
    hacd_job *job = NULL;
    hac_list_for_each (job, &server->jobs.list, hacd_job, link) {
        job->excluded &= ~(UINT32_C(1) << place);
        job->losses[place] = 0;
    }
    hac_restart_forget_device(&server->users, place);
}

static void settle_in(hac_server *server, hac_server_device *device)
{
    int at = find_place(server);
    if (at < 0) { /* cannot happen: count_places was asked */
        hac_device_free(device);
        return;
    }
    uint32_t place = (uint32_t)at;
    if (place == server->devices.count)
        server->devices.count++;
    hac_device_free(server->devices.items[place]);
    server->devices.items[place] = device;
    forget_place(server, place);
    for (uint32_t i = 0; i < server->devices.count; i++) {
        hac_server_device *old = server->devices.items[i];
        if (i == place || !old->retired || strcmp(old->config.name, device->config.name) != 0)
            continue;
        rename_in_masks(server, i, place);
        device->busy_seconds += old->busy_seconds; /* a counter never decreases */
        old->busy_seconds = 0;
    }
    hac_log_subject about = hac_log_device(device->config.name);
    hac_log_record(HAC_LOG_INFO, HAC_EVENT_DEVICE, &about, "device %s: %s", device->config.name,
                   device->device);
}

/* The device in use that is the same as `fresh`; NULL: there is none. */
static hac_server_device *find_same(const hac_server *server, const hac_server_device *fresh)
{
    int at = hac_devices_find(&server->devices, fresh->config.name);
    if (at < 0 || server->devices.items[at]->origin != fresh->origin)
        return NULL;
    return server->devices.items[at];
}

static bool is_listed(const hac_devices *devices, const hac_server_device *device)
{
    int at = hac_devices_find(devices, device->config.name);
    return at >= 0 && devices->items[at]->origin == device->origin;
}

static size_t count_new(const hac_server *server)
{
    size_t n = 0;
    for (size_t i = 0; i < server->reload.devices.count; i++)
        n += find_same(server, server->reload.devices.items[i]) == NULL;
    return n;
}

static void change_devices(hac_server *server)
{
    hac_devices *fresh = &server->reload.devices;
    for (uint32_t i = 0; i < server->devices.count; i++)
        if (!server->devices.items[i]->retired && !is_listed(fresh, server->devices.items[i]))
            retire(server, i);
    for (size_t i = 0; i < fresh->count; i++) {
        hac_server_device *same = find_same(server, fresh->items[i]);
        if (same != NULL) {
            hac_device_renew(same, fresh->items[i]);
            hac_restart_forget_device(&server->users,
                                      (uint32_t)hac_devices_find(&server->devices, same->config.name));
            continue;
        }
        settle_in(server, fresh->items[i]);
        fresh->items[i] = NULL;
    }
    memcpy(server->devices.problem, fresh->problem, sizeof server->devices.problem);
    if (server->devices.problem[0] != '\0')
        hac_log_record(HAC_LOG_WARNING, HAC_EVENT_NO_DEVICE, NULL, "%s", server->devices.problem);
    hac_builders_devices_changed(&server->builders);
    hac_builders_test_devices(&server->builders);
    server->machine.stale = true;
    hac_jobs_kick(&server->jobs);
}

/* ---- in force ----------------------------------------------------------------------------------------- */

static void take_config(hac_server *server)
{
    hac_reload *reload = &server->reload;
    if (!reload->taken)
        return;
    free(server->profile_problems);
    server->profile_problems = NULL;
    hac_daemon_config_clear(&server->config);
    hac_profile_set_free(server->profiles);
    server->config = reload->config;
    server->profiles = reload->profiles;
    reload->profiles = NULL;
    reload->taken = false;
    apply_config(server, &reload->places);
}

static void want_probe(hac_server *server);

/* Everything is known and valid. It takes effect, unless new devices have to wait for the places of retired
 * ones. */
static void take_effect(hac_server *server)
{
    hac_reload *reload = &server->reload;
    hac_error err = HAC_ERROR_NONE;
    if (count_new(server) > count_places(server)) {
        if (hac_seconds_since(reload->found_ns) < PLACE_SECONDS)
            return;
        hac_fail(&err, HAC_REFUSED,
                 "jobs still refer to devices that earlier reloads have removed; try again when they have "
                 "ended");
        end_reload(server, &err);
        return;
    }
    take_config(server);
    change_devices(server);
    bool again = reload->again;
    if (!server->probing)
        hac_log_record(HAC_LOG_INFO, HAC_EVENT_RELOADED, NULL, "configuration read again");
    end_reload(server, NULL);
    reload->pending = again;
    if (again)
        want_probe(server);
}

/* ---- the probe ---------------------------------------------------------------------------------------- */

/* While hacd looks for the first devices, requests wait in their sockets: nearly all of them need devices. */
static void pause_sessions(hac_server *server, bool pause)
{
    hac_session *session = NULL;
    hac_list_for_each (session, &server->sessions.list, hac_session, link)
        hac_channel_pause(session->channel, pause);
    if (pause) {
        hac_listener_pause(&server->listener);
        hac_listener_pause(&server->admin_listener);
    } else {
        hac_listener_resume(&server->listener);
        hac_listener_resume(&server->admin_listener);
    }
}

static void end_first_probe(hac_server *server)
{
    server->probing = false;
    pause_sessions(server, false);
    hac_service_manager_ready(server->notify);
}

/* The first probe failed: there are no devices. */
static void no_devices(hac_server *server, const hac_error *why)
{
    snprintf(server->devices.problem, sizeof server->devices.problem, "%s", why->message);
    hac_log_record(HAC_LOG_ERROR, HAC_EVENT_NO_DEVICE, NULL, "%s", why->message);
    take_config(server);
    end_reload(server, NULL);
    end_first_probe(server);
    server->machine.stale = true;
    hac_jobs_kick(&server->jobs);
}

static void probe_failed(hac_server *server, const hac_error *why)
{
    if (server->probing)
        no_devices(server, why);
    else
        end_reload(server, why);
}

static void take_report(hac_server *server, const Hac__Executor__ProbeReport *report)
{
    hac_reload *reload = &server->reload;
    hac_error err = HAC_ERROR_NONE;
    const hac_profile_set *profiles = reload->taken ? reload->profiles : server->profiles;
    reload->awaiting = false;
    if (hac_devices_make(&reload->devices, report, profiles, &err) != HAC_OK) {
        probe_failed(server, &err);
        return;
    }
    hac_tuning_load(&server->tuning, &reload->devices);
    reload->found = true;
    reload->found_ns = hac_now_ns();
    take_effect(server);
    if (server->probing)
        end_first_probe(server);
}

static void on_probe_report(void *context, const Hac__Executor__Report *report)
{
    hac_server *server = context;
    if (!server->reload.awaiting || server->stopping)
        return;
    if (report->what_case == HAC__EXECUTOR__REPORT__WHAT_PROBE)
        take_report(server, report->probe);
    else if (report->what_case == HAC__EXECUTOR__REPORT__WHAT_FATAL)
        snprintf(server->reload.problem, sizeof server->reload.problem, "%s", report->fatal);
}

static void describe_end(const hac_reload *reload, int64_t status, int signal, bool asked, hac_error *ret)
{
    if (asked)
        hac_fail(ret, HAC_FAILED,
                 "an OpenCL driver hung while devices were probed; set OCL_ICD_VENDORS to leave it out");
    else if (reload->problem[0] != '\0')
        hac_fail(ret, HAC_FAILED, "%s", reload->problem);
    else
        hac_fail(
            ret, HAC_FAILED,
            "probing for devices ended with %s %d%s%s%s: an OpenCL driver failed; set OCL_ICD_VENDORS to "
            "leave it out",
            signal != 0 ? "signal" : "status", signal != 0 ? signal : (int)status, signal != 0 ? " (" : "",
            signal != 0 ? strsignal(signal) : "", signal != 0 ? ")" : "");
}

static void on_probe_gone(void *context, int64_t status, int signal, bool asked)
{
    hac_server *server = context;
    hac_reload *reload = &server->reload;
    hac_error err = HAC_ERROR_NONE;
    server->probe = NULL;
    hac_scratch_remove(&server->loop, reload->scratch);
    if (server->stopping)
        return;
    if (reload->awaiting) {
        reload->awaiting = false;
        describe_end(reload, status, signal, asked, &err);
        probe_failed(server, &err);
    } else if (reload->pending && !reload->found) {
        want_probe(server); /* the probe belonged to an earlier reload */
    }
}

static hac_status start_probe(hac_server *server, hac_error *err)
{
    static const hac_child_events events = {on_probe_report, on_probe_gone};
    hac_autofree char **environment = NULL;
    hac_status status = hac_child_setup_environment(NULL, &environment, err);
    if (status == HAC_OK)
        status = hac_scratch_make(server->options.scratch_directory, server->reload.scratch, err);
    if (status != HAC_OK)
        return status;
    hac_child_options options = {
        server->options.executor_program, "--probe", NULL, HAC_LOG_NOBODY, environment, {server->closer, 0}};
    status =
        hac_child_start(&server->loop, &options, server->child_decoder, &events, server, &server->probe, err);
    if (status != HAC_OK) {
        hac_scratch_remove(&server->loop, server->reload.scratch);
        return status;
    }
    Hac__Executor__Setup setup = HAC__EXECUTOR__SETUP__INIT;
    Hac__Executor__Command command = HAC__EXECUTOR__COMMAND__INIT;
    setup.version = HAC_EXECUTOR_PROTOCOL_VERSION;
    /* Even a driver that only lists its devices may open a cache, and would take one that others can reach.
     */
    setup.scratch_directory = server->reload.scratch;
    command.what_case = HAC__EXECUTOR__COMMAND__WHAT_SETUP;
    command.setup = &setup;
    hac_child_send(server->probe, &command, NULL, 0);
    return HAC_OK;
}

/* Starts a probe, unless one is running: its end decides what comes next. */
static void want_probe(hac_server *server)
{
    hac_error err = HAC_ERROR_NONE;
    hac_reload *reload = &server->reload;
    if (server->probe != NULL)
        return;
    reload->problem[0] = '\0';
    reload->probed_ns = hac_now_ns();
    reload->awaiting = start_probe(server, &err) == HAC_OK;
    if (!reload->awaiting)
        probe_failed(server, &err);
}

void hac_reload_probe(hac_server *server)
{
    server->probing = server->reload.pending = true;
    pause_sessions(server, true);
    want_probe(server);
}

/* ---- a reload ----------------------------------------------------------------------------------------- */

static hac_status read_aside(hac_server *server, hac_daemon_config *ret_config, hac_reload_places *ret_places,
                             hac_profile_set **ret_profiles, hac_error *err)
{
    hac_status status = load_config(server, ret_config, ret_places, err);
    if (status != HAC_OK)
        return status;
    status = load_profiles(server, ret_config, true, ret_profiles, err);
    if (status != HAC_OK)
        hac_daemon_config_clear(ret_config);
    return status;
}

hac_status hac_reload_begin(hac_server *server, hac_session *session, uint64_t serial, hac_error *err)
{
    hac_reload *reload = &server->reload;
    hac_daemon_config config;
    hac_reload_places places;
    hac_profile_set *profiles = NULL;
    hac_error why = HAC_ERROR_NONE;
    if (server->jobs.draining)
        return hac_fail(err, HAC_REFUSED, "hacd is about to leave");
    hac_service_manager_reloading(server->notify);
    hac_status status = read_aside(server, &config, &places, &profiles, &why);
    if (status != HAC_OK) {
        if (!reload->pending) /* else the probe starts when the running one has ended */
            hac_service_manager_ready(server->notify);
        *err = why;
        return refuse(server, &why);
    }
    drop_taken(reload);
    reload->config = config;
    reload->places = places;
    reload->profiles = profiles;
    reload->taken = true;
    reload->again = reload->awaiting;
    reload->found = false; /* it was made with the profiles that were read before */
    hac_devices_clear(&reload->devices);
    reload->pending = true;
    if (session != NULL)
        status = hac_waiter_add(&reload->waiters, session, serial, err);
    want_probe(server);
    return status;
}

void hac_reload_check(hac_server *server)
{
    hac_reload *reload = &server->reload;
    if (server->probe != NULL && hac_seconds_since(reload->probed_ns) > PROBE_SECONDS)
        hac_child_kill(server->probe);
    if (reload->found)
        take_effect(server);
}
