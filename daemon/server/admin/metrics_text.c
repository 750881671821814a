/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"
#include "metrics_table.h"
#include "metrics_text.h"
#include "state.h"

#define HAC_METRIC_DESCRIPTION(constant, name, type, unit, labels, help, use)                                \
    [HAC_METRIC_##constant] = {name, type, unit, labels, help, use},
const hac_metric_description hac_metric_descriptions[HAC_N_METRICS] = {HAC_METRICS(HAC_METRIC_DESCRIPTION)};

static const char *const stage_names[HAC_SPLICE_N_STAGES] = {"read", "preprocess", "splice", "map"};

/* ---- families and samples ----------------------------------------------------------------------------- */

/* The family being written; its samples follow. */
typedef struct family {
    hac_text *text;
    const hac_metric_description *of;
} family;

static family begin(hac_text *t, hac_metric_family which)
{
    const hac_metric_description *of = &hac_metric_descriptions[which];
    hac_text_addf(t, "# TYPE %s %s\n", of->name, of->type);
    if (of->unit[0] != '\0')
        hac_text_addf(t, "# UNIT %s %s\n", of->name, of->unit);
    hac_text_addf(t, "# HELP %s %s\n", of->name, of->help);
    return (family){t, of};
}

/* One label. A NULL value ends a list. */
typedef struct label {
    const char *name, *value;
} label;

static void add_value(hac_text *t, const char *value)
{
    for (; *value != '\0'; value++) {
        if (*value == '\n')
            hac_text_add(t, "\\n");
        else if (*value == '"' || *value == '\\')
            hac_text_addf(t, "\\%c", *value);
        else
            hac_text_add_bytes(t, value, 1);
    }
}

/* Writes "name{labels} "; the value follows. */
static void add_name(const family *f, const char *suffix, const label *labels, unsigned n)
{
    const char *bracket = "{";
    hac_text_addf(f->text, "%s%s", f->of->name, suffix);
    for (unsigned i = 0; i < n && labels[i].value != NULL; i++) {
        hac_text_addf(f->text, "%s%s=\"", bracket, labels[i].name);
        add_value(f->text, labels[i].value);
        hac_text_add(f->text, "\"");
        bracket = ",";
    }
    hac_text_add(f->text, bracket[0] == ',' ? "} " : " ");
}

static const char *suffix_of(const family *f)
{
    return strcmp(f->of->type, "counter") == 0 ? "_total" : strcmp(f->of->type, "info") == 0 ? "_info" : "";
}

static void add(const family *f, const label *labels, unsigned n, double value)
{
    add_name(f, suffix_of(f), labels, n);
    if (value == floor(value) && fabs(value) < 1e15)
        hac_text_addf(f->text, "%.0f\n", value);
    else
        hac_text_addf(f->text, "%.9g\n", value);
}

static void add0(const family *f, double value)
{
    add(f, NULL, 0, value);
}

static void add1(const family *f, const char *name, const char *of, double value)
{
    add(f, &(label){name, of}, 1, value);
}

static void add2(const family *f, label first, label second, double value)
{
    add(f, (label[]){first, second}, 2, value);
}

/* Buckets are cumulative. `name` NULL: there is no label. */
static void add_histogram(const family *f, const char *name, const char *of, const hac_histogram *histogram,
                          const double *bounds)
{
    const label whole = {name, of};
    uint64_t count = 0;
    for (unsigned i = 0;; i++) {
        char bound[32] = "+Inf";
        if (isfinite(bounds[i]))
            snprintf(bound, sizeof bound, bounds[i] == floor(bounds[i]) ? "%.1f" : "%g", bounds[i]);
        count += histogram->counts[i];
        const label both[] = {{"le", bound}, whole};
        add_name(f, "_bucket", both, 2);
        hac_text_addf(f->text, "%llu\n", (unsigned long long)count);
        if (isinf(bounds[i]))
            break;
    }
    add_name(f, "_count", &whole, 1);
    hac_text_addf(f->text, "%llu\n", (unsigned long long)count);
    add_name(f, "_sum", &whole, 1);
    hac_text_addf(f->text, "%.9g\n", histogram->sum);
}

/* ---- hacd itself -------------------------------------------------------------------------------------- */

static double resident_bytes(void)
{
    unsigned long size, resident = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (file == NULL)
        return 0;
    if (fscanf(file, "%lu %lu", &size, &resident) != 2)
        resident = 0;
    fclose(file);
    return (double)resident * (double)sysconf(_SC_PAGESIZE);
}

static double cpu_seconds(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
}

static void add_daemon(hac_text *t, const hac_server *server)
{
    char protocol[16];
    struct timespec now;
    snprintf(protocol, sizeof protocol, "%d", HAC_CLIENT_PROTOCOL_VERSION);
    family f = begin(t, HAC_METRIC_BUILD);
    add2(&f, (label){"version", HAC_VERSION}, (label){"protocol", protocol}, 1);
    f = begin(t, HAC_METRIC_START);
    clock_gettime(CLOCK_REALTIME, &now);
    add0(&f, floor(((double)now.tv_sec - hac_seconds_since(server->started_ns)) + 0.5));
    f = begin(t, HAC_METRIC_DRAINING);
    add0(&f, server->jobs.draining);
    f = begin(t, HAC_METRIC_RESIDENT);
    add0(&f, resident_bytes());
    f = begin(t, HAC_METRIC_CPU);
    add0(&f, cpu_seconds());
    f = begin(t, HAC_METRIC_TURN);
    add_histogram(&f, NULL, NULL, &server->metrics.turn_seconds, hac_bounds_turn);
}

static void add_connections(hac_text *t, const hac_server *server)
{
    static const char *const reasons[HAC_N_REFUSALS] = {"limit", "descriptors", "error"};
    const hac_metrics *m = &server->metrics;
    family f = begin(t, HAC_METRIC_CONNECTIONS);
    add0(&f, server->sessions.count);
    f = begin(t, HAC_METRIC_ACCEPTED);
    add0(&f, (double)m->accepted);
    f = begin(t, HAC_METRIC_CONNECTIONS_REFUSED);
    for (unsigned i = 0; i < HAC_N_REFUSALS; i++)
        add1(&f, "reason", reasons[i], (double)m->refused_connections[i]);
    f = begin(t, HAC_METRIC_CUT);
    add0(&f, (double)m->cut);
    f = begin(t, HAC_METRIC_REQUESTS);
    add0(&f, (double)m->requests);
    f = begin(t, HAC_METRIC_REFUSED);
    for (unsigned i = HAC_OK + 1; i <= HAC_INTERNAL; i++)
        if (m->refused[i] > 0 || i == HAC_REFUSED)
            add1(&f, "reason", hac_status_name((hac_status)i), (double)m->refused[i]);
}

static void add_log(hac_text *t, const hac_metrics *m)
{
    static const char *const results[HAC_N_HTTP_RESULTS] = {"served", "refused", "late"};
    hac_log_counts counts;
    hac_log_count(&counts);
    family f = begin(t, HAC_METRIC_LOG);
    for (unsigned i = 0; i < HAC_LOG_N_LEVELS; i++)
        add1(&f, "level", hac_log_level_name((hac_log_level)i), (double)counts.written[i]);
    f = begin(t, HAC_METRIC_LOG_DROPPED);
    add1(&f, "reason", "limit", (double)counts.left_out);
    add1(&f, "reason", "lost", (double)counts.lost);
    f = begin(t, HAC_METRIC_HTTP);
    for (unsigned i = 0; i < HAC_N_HTTP_RESULTS; i++)
        add1(&f, "result", results[i], (double)m->http[i]);
}

/* ---- jobs --------------------------------------------------------------------------------------------- */

/* A job's state in the metrics. */
enum { QUEUED, PLANNED, RUNNING, WAITING, N_STATES };

static void add_jobs(hac_text *t, const hac_server *server)
{
    static const char *const names[N_STATES] = {"queued", "planned", "running", "waiting"};
    unsigned counts[HAC_N_FLOWS][N_STATES] = {{0}}, queued = 0;
    const hacd_job *job = NULL;
    hac_list_for_each (job, &server->jobs.list, hacd_job, link) {
        if (hacd_job_ended(job) || job->by_itself)
            continue;
        unsigned state = job->waiting && !hacd_job_waits_for_memory(job) ? WAITING : (unsigned)job->state;
        counts[job->flow][state]++;
        queued += state == QUEUED;
    }
    family f = begin(t, HAC_METRIC_JOBS);
    for (unsigned i = 0; i < HAC_N_FLOWS; i++)
        for (unsigned s = 0; s < N_STATES; s++)
            add2(&f, (label){"flow", hac_flow_name(i)}, (label){"state", names[s]}, counts[i][s]);
    f = begin(t, HAC_METRIC_QUEUE);
    add0(&f, queued);
}

/* Writes a histogram for each flow. */
static void add_flow_histograms(hac_text *t, const hac_metrics *m, hac_metric_family which, size_t offset,
                                const double *bounds)
{
    family f = begin(t, which);
    for (unsigned i = 0; i < HAC_N_FLOWS; i++)
        add_histogram(&f, "flow", hac_flow_name(i),
                      (const hac_histogram *)(const void *)((const char *)&m->flows[i] + offset), bounds);
}

/* Writes a counter for each flow. */
static void add_flow_counts(hac_text *t, const hac_metrics *m, hac_metric_family which, size_t offset)
{
    family f = begin(t, which);
    for (unsigned i = 0; i < HAC_N_FLOWS; i++) {
        uint64_t value;
        memcpy(&value, (const char *)&m->flows[i] + offset, sizeof value);
        add1(&f, "flow", hac_flow_name(i), (double)value);
    }
}

static void add_shares(hac_text *t, const hac_metrics *m)
{
    family f = begin(t, HAC_METRIC_CAPABILITY);
    for (unsigned i = 0; i < HAC_N_FLOWS; i++)
        if (m->flows[i].k > 0)
            add1(&f, "flow", hac_flow_name(i), m->flows[i].k);
    f = begin(t, HAC_METRIC_SHARE);
    for (unsigned i = 0; i < HAC_N_FLOWS; i++)
        for (unsigned d = 0; d < m->n_devices; d++) {
            if ((m->flows[i].shared >> d & 1) == 0)
                continue;
            label labels[] = {
                {"flow", hac_flow_name(i)}, {"device", m->devices[d].name}, {"kind", "planned"}};
            add(&f, labels, 3, (double)m->flows[i].planned[d]);
            labels[2].value = "measured";
            add(&f, labels, 3, (double)m->flows[i].measured[d]);
        }
}

static void add_flows(hac_text *t, const hac_metrics *m)
{
    static const char *const outcomes[] = {"done", "failed", "cancelled"};
    family f = begin(t, HAC_METRIC_ENDED);
    for (unsigned i = 0; i < HAC_N_FLOWS; i++)
        for (unsigned s = 0; s < 3; s++)
            add2(&f, (label){"state", outcomes[s]}, (label){"flow", hac_flow_name(i)},
                 (double)m->flows[i].ended[s]);
    add_flow_histograms(t, m, HAC_METRIC_QUEUE_TIME, offsetof(hac_flow_metrics, queue_seconds),
                        hac_bounds_seconds);
    add_flow_histograms(t, m, HAC_METRIC_RUN_TIME, offsetof(hac_flow_metrics, run_seconds),
                        hac_bounds_seconds);
    f = begin(t, HAC_METRIC_BUILD_TIME);
    for (unsigned i = 0; i < HAC_N_FLOWS; i++)
        add1(&f, "flow", hac_flow_name(i), m->flows[i].build_seconds);
    add_flow_counts(t, m, HAC_METRIC_BYTES_IN, offsetof(hac_flow_metrics, bytes_in));
    add_flow_counts(t, m, HAC_METRIC_BYTES_OUT, offsetof(hac_flow_metrics, bytes_out));
    add_flow_histograms(t, m, HAC_METRIC_JOB_ERROR, offsetof(hac_flow_metrics, prediction_ratio),
                        hac_bounds_ratio);
    add_flow_counts(t, m, HAC_METRIC_RETRIES, offsetof(hac_flow_metrics, retries));
    add_flow_counts(t, m, HAC_METRIC_RESTARTS, offsetof(hac_flow_metrics, restarts));
    add_shares(t, m);
}

/* ---- devices ------------------------------------------------------------------------------------------ */

typedef struct model_sum {
    const hac_devices *devices;
    double errors[HAC_DEVICE_PLACES], samples[HAC_DEVICE_PLACES];
    unsigned models[HAC_DEVICE_PLACES];
} model_sum;

/* Retired devices are not reported: another device may have the same name. */
static bool in_use(const hac_server *server, size_t place)
{
    return !server->devices.items[place]->retired;
}

static void sum_model(void *context, const hac_model_entry *entry)
{
    model_sum *sum = context;
    for (size_t i = 0; i < sum->devices->count; i++) {
        if (strcmp(sum->devices->items[i]->key, entry->device_key) != 0)
            continue;
        sum->errors[i] += entry->relative_error * entry->samples;
        sum->samples[i] += entry->samples;
        sum->models[i]++;
    }
}

static void add_models(hac_text *t, const hac_server *server)
{
    model_sum sum = {.devices = &server->devices};
    hac_model_each(server->models, sum_model, &sum);
    family f = begin(t, HAC_METRIC_MODELS);
    for (size_t i = 0; i < server->devices.count; i++)
        if (in_use(server, i))
            add1(&f, "device", server->devices.items[i]->config.name, sum.models[i]);
    f = begin(t, HAC_METRIC_MODEL_ERROR);
    for (size_t i = 0; i < server->devices.count; i++)
        if (sum.samples[i] > 0 && in_use(server, i))
            add1(&f, "device", server->devices.items[i]->config.name, sum.errors[i] / sum.samples[i]);
}

static void add_executors(hac_text *t, const hac_server *server)
{
    static const char *const states[] = {"starting", "ready", "ending"};
    unsigned counts[HAC_DEVICE_PLACES][3] = {{0}};
    for (unsigned i = 0; i < HAC_EXECUTORS_MAX; i++) {
        const hac_executor *executor = server->executors.slots[i];
        if (executor != NULL && executor->device < HAC_DEVICE_PLACES)
            counts[executor->device][executor->state]++;
    }
    family f = begin(t, HAC_METRIC_EXECUTORS);
    for (size_t i = 0; i < server->devices.count; i++)
        for (unsigned s = 0; s < 3 && in_use(server, i); s++)
            add2(&f, (label){"device", server->devices.items[i]->config.name}, (label){"state", states[s]},
                 counts[i][s]);
}

/* Seconds in tasks, including those that are running. */
static double busy_seconds(const hac_server *server, const hac_device_metrics *device)
{
    double busy = device->busy_seconds;
    for (unsigned i = 0; i < HAC_EXECUTORS_MAX; i++) {
        const hac_executor *executor = server->executors.slots[i];
        if (executor != NULL && executor->n_in_flight > 0 && executor->state == HAC_EXECUTOR_READY &&
            strcmp(server->devices.items[executor->device]->config.name, device->name) == 0)
            busy += hac_seconds_since(executor->busy_since_ns);
    }
    return busy;
}

static void add_device_states(hac_text *t, const hac_server *server)
{
    family f = begin(t, HAC_METRIC_USABLE);
    for (size_t i = 0; i < server->devices.count; i++)
        if (in_use(server, i))
            add1(&f, "device", server->devices.items[i]->config.name,
                 hac_device_usable(server->devices.items[i]));
    f = begin(t, HAC_METRIC_BACKLOG);
    for (uint32_t i = 0; i < server->devices.count; i++)
        if (in_use(server, i))
            add1(&f, "device", server->devices.items[i]->config.name,
                 hac_executors_backlog(&server->executors, i));
}

/* Writes a counter for each device that ever worked; `splices`: only for devices that ran splices. */
static void add_device_counts(hac_text *t, const hac_metrics *m, hac_metric_family which, size_t offset,
                              bool splices)
{
    family f = begin(t, which);
    for (unsigned i = 0; i < m->n_devices; i++) {
        uint64_t value;
        memcpy(&value, (const char *)&m->devices[i] + offset, sizeof value);
        if (!splices || m->devices[i].splices)
            add1(&f, "device", m->devices[i].name, (double)value);
    }
}

static void add_work(hac_text *t, const hac_server *server)
{
    const hac_metrics *m = &server->metrics;
    family f = begin(t, HAC_METRIC_BUSY);
    for (unsigned i = 0; i < m->n_devices; i++)
        add1(&f, "device", m->devices[i].name, busy_seconds(server, &m->devices[i]));
    f = begin(t, HAC_METRIC_PREDICTED);
    for (unsigned i = 0; i < m->n_devices; i++)
        add1(&f, "device", m->devices[i].name, m->devices[i].predicted_seconds);
    f = begin(t, HAC_METRIC_TASK_ERROR);
    for (unsigned i = 0; i < m->n_devices; i++)
        add_histogram(&f, "device", m->devices[i].name, &m->devices[i].prediction_ratio, hac_bounds_ratio);
    add_device_counts(t, m, HAC_METRIC_TASKS, offsetof(hac_device_metrics, tasks), false);
    add_device_counts(t, m, HAC_METRIC_TASKS_LOST, offsetof(hac_device_metrics, lost), false);
}

static void add_deaths(hac_text *t, const hac_server *server)
{
    static const char *const causes[HAC_N_ENDS] = {"asked", "hung", "sigkill", "signal", "exit"};
    const hac_metrics *m = &server->metrics;
    add_device_counts(t, m, HAC_METRIC_STARTS, offsetof(hac_device_metrics, starts), false);
    family f = begin(t, HAC_METRIC_DEATHS);
    for (unsigned i = 0; i < m->n_devices; i++)
        for (unsigned c = 0; c < HAC_N_ENDS; c++)
            add2(&f, (label){"device", m->devices[i].name}, (label){"cause", causes[c]},
                 (double)m->devices[i].ends[c]);
    f = begin(t, HAC_METRIC_EXECUTOR_RESTARTS);
    add0(&f, (double)server->executors.restarts);
}

static void add_splice(hac_text *t, const hac_metrics *m)
{
    family f = begin(t, HAC_METRIC_FILL);
    for (unsigned i = 0; i < m->n_devices; i++)
        if (m->devices[i].splices)
            add_histogram(&f, "device", m->devices[i].name, &m->devices[i].fill, hac_bounds_fill);
    add_device_counts(t, m, HAC_METRIC_PAUSES, offsetof(hac_device_metrics, pauses), true);
    add_device_counts(t, m, HAC_METRIC_TRIGGERS, offsetof(hac_device_metrics, triggers), true);
    add_device_counts(t, m, HAC_METRIC_BLOCKS, offsetof(hac_device_metrics, blocks), true);
    add_device_counts(t, m, HAC_METRIC_SPLICE_BYTES, offsetof(hac_device_metrics, bytes), true);
    f = begin(t, HAC_METRIC_STAGES);
    for (unsigned i = 0; i < m->n_devices; i++)
        for (unsigned s = 0; m->devices[i].splices && s < HAC_SPLICE_N_STAGES; s++)
            add2(&f, (label){"device", m->devices[i].name}, (label){"stage", stage_names[s]},
                 m->devices[i].stage_seconds[s]);
}

/* ---- users -------------------------------------------------------------------------------------------- */

static bool may_see(const hac_user *viewer, const hac_user *user)
{
    return viewer == user || hac_user_is_administrator(viewer);
}

/* What a user holds, or may hold; in the order of `resources`. */
enum { CONNECTIONS, USER_JOBS, RUNNING_JOBS, DESCRIPTORS, N_RESOURCES };
static const char *const resources[N_RESOURCES] = {"connections", "jobs", "running_jobs", "descriptors"};

static const char *const slots[HAC_SLOTS] = {[HAC_SLOT_MEMORY] = "memory",
                                             [HAC_SLOT_DESCRIPTORS] = "descriptors",
                                             [HAC_SLOT_CONNECTIONS] = "connections",
                                             [HAC_SLOT_JOBS] = "jobs",
                                             [HAC_SLOT_UNREAD] = "unread_descriptors"};

static void user_resources(const hac_user *user, double *ret_used, double *ret_limits)
{
    const hac_user_limits *limits = &user->limits;
    const uint64_t *held = user->held;
    const double used[] = {(double)held[HAC_SLOT_CONNECTIONS], (double)held[HAC_SLOT_JOBS], user->active_jobs,
                           (double)held[HAC_SLOT_DESCRIPTORS]};
    const double max[] = {limits->connections, limits->jobs, -1, limits->descriptors};
    memcpy(ret_used, used, sizeof used);
    memcpy(ret_limits, max, sizeof max);
}

static void add_user(const family *f, const hac_user *user, hac_metric_family which)
{
    char name[HAC_USER_NAME_SIZE], uid[HAC_USER_NAME_SIZE + 8];
    double used[N_RESOURCES], limits[N_RESOURCES];
    const char *suffix = user->of_daemon ? "-hacd" : user->administers ? "-admin" : "";
    hac_user_name(user->uid, user->place, name);
    snprintf(uid, sizeof uid, "%s%s", name, suffix);
    const label who = {"user", uid};
    user_resources(user, used, limits);
    if (which == HAC_METRIC_USER_MEMORY) {
        double kept = (double)hac_pool_idle_bytes(user);
        add2(f, who, (label){"kind", "used"}, (double)user->held[HAC_SLOT_MEMORY] - kept);
        add2(f, who, (label){"kind", "kept"}, kept);
    } else if (which == HAC_METRIC_USER_MEMORY_LIMIT) {
        add1(f, "user", uid, (double)user->limits.memory);
    }
    if (which == HAC_METRIC_USER_SECONDS)
        add1(f, "user", uid, user->device_seconds);
    for (unsigned i = 0; which == HAC_METRIC_USER_REFUSED && i < HAC_SLOTS; i++)
        add2(f, who, (label){"resource", slots[i]}, (double)user->refused[i]);
    for (unsigned i = 0; i < N_RESOURCES; i++) {
        if (which == HAC_METRIC_USER)
            add2(f, who, (label){"resource", resources[i]}, used[i]);
        if (which == HAC_METRIC_USER_LIMIT && limits[i] >= 0)
            add2(f, who, (label){"resource", resources[i]}, limits[i]);
    }
}

static void add_users(hac_text *t, const hac_server *server, const hac_user *viewer)
{
    static const hac_metric_family families[] = {HAC_METRIC_USER_MEMORY,  HAC_METRIC_USER_MEMORY_LIMIT,
                                                 HAC_METRIC_USER,         HAC_METRIC_USER_LIMIT,
                                                 HAC_METRIC_USER_SECONDS, HAC_METRIC_USER_REFUSED};
    for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
        family f = begin(t, families[i]);
        const hac_user *user = NULL;
        hac_list_for_each (user, &server->users.list, hac_user, link)
            if (may_see(viewer, user))
                add_user(&f, user, families[i]);
    }
}

hac_status hac_metrics_text(const hac_server *server, const hac_user *viewer, char **ret, size_t *ret_bytes,
                            hac_error *err)
{
    hac_text t = HAC_TEXT_NONE;
    add_daemon(&t, server);
    add_jobs(&t, server);
    add_flows(&t, &server->metrics);
    add_device_states(&t, server);
    add_work(&t, server);
    add_models(&t, server);
    add_executors(&t, server);
    add_deaths(&t, server);
    add_splice(&t, &server->metrics);
    add_connections(&t, server);
    if (viewer != NULL)
        add_users(&t, server, viewer);
    add_log(&t, &server->metrics);
    hac_text_add(&t, "# EOF\n");
    return hac_text_finish(&t, ret, ret_bytes, err);
}
