/* SPDX-License-Identifier: Apache-2.0 */
/*
 * <hac/hac.h> without a daemon, for hacctl's tests: this process does the jobs, and the environment decides
 * what happens:
 *
 *     FAKE_HAC_CONNECT=N    connecting fails with status N
 *     FAKE_HAC_SUBMIT=N     submitting a job fails with status N
 *     FAKE_HAC_JOB=N        the job fails with status N
 *     FAKE_HAC_SECONDS=S    the job takes S seconds, and reports progress
 *     FAKE_HAC_ANSWERS=DIR  answers to questions: DIR/<topic number>
 *     FAKE_HAC_CALLS=FILE   every call is appended there as a line
 */
#include <errno.h>
#include <hac/files.h>

#include "opsplit/run.h"
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/type.h"

struct hac_client {
    int timer;
    double job_seconds;
    hac_status submit_status, job_status;
};

struct hac_job {
    hac_client *client;
    uint64_t ends_ns;
    hac_job_state state;
    void (*progress)(void *context, hac_job *job, const hac_progress *progress);
    void *context;
    void *data;
    uint64_t bytes;
    const char *text;
};

static void record(const char *fmt, ...) HAC_PRINTF(1, 2);

static void record(const char *fmt, ...)
{
    const char *path = getenv("FAKE_HAC_CALLS");
    hac_autofclose FILE *file = path != NULL ? fopen(path, "ae") : NULL;
    va_list args;
    if (file == NULL)
        return;
    va_start(args, fmt);
    vfprintf(file, fmt, args);
    va_end(args);
    fputc('\n', file);
}

static double number(const char *name)
{
    const char *value = getenv(name);
    return value != NULL ? strtod(value, NULL) : 0;
}

static hac_status fail(hac_status status, hac_error *err)
{
    return status == HAC_OK ? HAC_OK : hac_fail(err, status, "fake: %s", hac_status_name(status));
}

const char *hac_version(void)
{
    return "0.0.fake";
}

hac_status hac_client_connect(const hac_connect_options *options, hac_client **ret_client, hac_error *err)
{
    record("connect socket=%s flags=%u", options->socket != NULL ? options->socket : "-", options->flags);
    hac_status status = (hac_status)number("FAKE_HAC_CONNECT");
    if (status != HAC_OK)
        return fail(status, err);
    hac_client *client = calloc(1, sizeof *client);
    if (client == NULL)
        return hac_fail_no_memory(err);
    client->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    client->job_seconds = number("FAKE_HAC_SECONDS");
    client->submit_status = (hac_status)number("FAKE_HAC_SUBMIT");
    client->job_status = (hac_status)number("FAKE_HAC_JOB");
    *ret_client = client;
    return HAC_OK;
}

void hac_client_free(hac_client *client)
{
    if (client == NULL)
        return;
    close(client->timer);
    free(client);
}

int hac_client_fd(const hac_client *client)
{
    return client->timer;
}

/* ---- jobs ---- */

static hac_status start(hac_client *client, const hac_job_options *options, hac_job **ret, hac_error *err)
{
    if (client->submit_status != HAC_OK)
        return fail(client->submit_status, err);
    hac_job *job = calloc(1, sizeof *job);
    if (job == NULL)
        return hac_fail_no_memory(err);
    job->client = client;
    job->ends_ns = hac_now_ns() + (uint64_t)(client->job_seconds * 1e9);
    job->state = HAC_JOB_RUNNING;
    job->text = "";
    if (options != NULL) {
        job->progress = options->progress;
        job->context = options->context;
    }
    struct itimerspec tick = {.it_interval = {0, 20000000}, .it_value = {0, 1}};
    timerfd_settime(client->timer, 0, &tick, NULL);
    *ret = job;
    return HAC_OK;
}

hac_job_state hac_job_get_state(const hac_job *job)
{
    return job->state;
}

uint64_t hac_job_id(const hac_job *job)
{
    (void)job;
    return 7;
}

static void report(hac_job *job, uint64_t now)
{
    uint64_t left = job->ends_ns > now ? job->ends_ns - now : 0;
    hac_progress progress = {.state = HAC_JOB_RUNNING,
                             .fraction = 1 - (double)left * 1e-9 / job->client->job_seconds,
                             .stage = "merge 3",
                             .device = "cpu",
                             .items_per_second = 1.18e8,
                             .eta_seconds = (double)left * 1e-9,
                             .note = "building kernels for cpu (2 of 5)"};
    if (job->progress != NULL && job->client->job_seconds > 0)
        job->progress(job->context, job, &progress);
}

hac_status hac_job_wait(hac_job *job, int timeout_ms, hac_error *err)
{
    uint64_t ticks;
    (void)timeout_ms;
    if (job->state == HAC_JOB_CANCELLED)
        return hac_fail(err, HAC_CANCELLED, "job 7 was cancelled");
    if (read(job->client->timer, &ticks, sizeof ticks) > 0)
        report(job, hac_now_ns());
    if (hac_now_ns() < job->ends_ns)
        return HAC_AGAIN;
    job->state = job->client->job_status == HAC_OK ? HAC_JOB_DONE : HAC_JOB_FAILED;
    return fail(job->client->job_status, err);
}

const void *hac_job_data(const hac_job *job)
{
    return job->data;
}

uint64_t hac_job_bytes(const hac_job *job)
{
    return job->bytes;
}

const char *hac_job_assumed(const hac_job *job)
{
    (void)job;
    return "";
}

int hac_job_column(const hac_job *job, size_t index, const char **ret_name, const char **ret_type)
{
    (void)job;
    (void)index;
    (void)ret_name;
    (void)ret_type;
    return 0;
}

hac_status hac_job_export_arrow(hac_job *job, struct ArrowSchema *ret_schema, struct ArrowArray *ret_array,
                                hac_error *err)
{
    (void)job;
    (void)ret_schema;
    (void)ret_array;
    return hac_fail(err, HAC_INVALID, "the result is no columns");
}

hac_status hac_job_export_arrow_raw(hac_job *job, struct ArrowSchema *ret_schema,
                                    struct ArrowArray *ret_array, hac_error *err)
{
    return hac_job_export_arrow(job, ret_schema, ret_array, err);
}

const char *hac_job_text(const hac_job *job)
{
    return job->text;
}

hac_status hac_job_cancel(hac_job *job, hac_error *err)
{
    (void)err;
    record("cancel");
    job->state = HAC_JOB_CANCELLED;
    return HAC_OK;
}

const char *hac_client_socket(const hac_client *client)
{
    (void)client;
    return "/fake/hacd.sock";
}

hac_status hac_job_release(hac_job *job, hac_error *err)
{
    (void)job;
    (void)err;
    record("release");
    return HAC_OK;
}

hac_status hac_output_begin(hac_client *client, uint64_t job, hac_error *err)
{
    (void)client;
    (void)err;
    record("output begins %llu", (unsigned long long)job);
    return HAC_OK;
}

hac_status hac_output_end(hac_client *client, uint64_t job, hac_status how, const char *message,
                          hac_error *err)
{
    (void)client;
    (void)err;
    record("output ends %llu: %d %s", (unsigned long long)job, (int)how, message);
    return HAC_OK;
}

hac_status hac_job_attach(hac_client *client, uint64_t id, hac_job **ret_job, hac_error *err)
{
    record("attach %llu", (unsigned long long)id);
    if (id != 7)
        return hac_fail(err, HAC_NOT_FOUND, "there is no job %llu", (unsigned long long)id);
    hac_status status = start(client, NULL, ret_job, err);
    if (status == HAC_OK) {
        (*ret_job)->data = strdup("the result");
        (*ret_job)->bytes = 10;
    }
    return status;
}

void hac_job_free(hac_job *job)
{
    if (job == NULL)
        return;
    free(job->data);
    free(job);
}

/* ---- sort ---- */

static void record_options(const char *what, uint64_t items, const hac_sort_options *o)
{
    char devices[256] = "", steps[256] = "";
    for (size_t i = 0; i < o->job.n_devices; i++)
        snprintf(devices + strlen(devices), sizeof devices - strlen(devices), "%s,", o->job.devices[i]);
    for (size_t i = 0; i < o->n_fold_steps && o->fold == HAC_FOLD_STEPS; i++)
        snprintf(steps + strlen(steps), sizeof steps - strlen(steps), "%u,", o->fold_steps[i]);
    record("%s items=%llu type=%s descending=%d argsort=%d algorithm=%d scheme=%d fold=%d steps=%s "
           "devices=%s detach=%d "
           "priority=%d deadline=%g memory=%llu fast=%d progress=%d",
           what, (unsigned long long)items, hac_type_name(o->type), o->descending, o->argsort,
           (int)o->algorithm, (int)o->scheme, (int)o->fold, steps, devices, o->job.detach, o->job.priority,
           o->job.deadline_seconds, (unsigned long long)o->job.memory_limit, o->job.fast,
           o->job.progress != NULL);
}

static int compare(const void *a, const void *b, void *context)
{
    const hac_sort_options *o = context;
    uint64_t x = 0, y = 0;
    memcpy(&x, a, hac_type_size(o->type));
    memcpy(&y, b, hac_type_size(o->type));
    hac_key_order order = hac_key_order_of(o->type, o->descending);
    if (hac_type_size(o->type) == 4) {
        x = hac_key_map32(order, (uint32_t)x);
        y = hac_key_map32(order, (uint32_t)y);
    } else {
        x = hac_key_map64(order, x);
        y = hac_key_map64(order, y);
    }
    return (x > y) - (x < y);
}

/* Reads the rest of the input. */
static hac_status read_all(hac_job *job, int fd, hac_error *err)
{
    size_t capacity = 1 << 20;
    job->data = malloc(capacity);
    for (;;) {
        if (job->bytes == capacity) {
            capacity *= 2;
            void *larger = realloc(job->data, capacity);
            if (larger == NULL)
                return hac_fail_no_memory(err);
            job->data = larger;
        }
        ssize_t n = job->data != NULL ? read(fd, (char *)job->data + job->bytes, capacity - job->bytes) : 0;
        if (n == 0)
            return HAC_OK;
        if (n < 0 && errno != EINTR)
            return hac_fail_errno(err, HAC_FAILED, errno, "fake: read");
        job->bytes += n > 0 ? (uint64_t)n : 0;
    }
}

hac_status hac_sort_fd(hac_client *client, int fd, uint64_t offset, uint64_t items, const char *name,
                       const hac_sort_options *options, hac_job **ret_job, hac_error *err)
{
    hac_job *job = NULL;
    (void)offset;
    (void)name;
    record_options("sort", items, options);
    hac_status status = start(client, &options->job, &job, err);
    if (status == HAC_OK)
        status = read_all(job, fd, err);
    if (status == HAC_OK && job->bytes % hac_type_size(options->type) != 0)
        status = hac_fail(err, HAC_FAILED, "fake: odd size");
    if (status != HAC_OK) {
        hac_job_free(job);
        return status;
    }
    if (job->bytes > 0)
        qsort_r(job->data, job->bytes / hac_type_size(options->type), hac_type_size(options->type), compare,
                &(hac_sort_options){.type = options->type, .descending = options->descending});
    *ret_job = job;
    return HAC_OK;
}

/* ---- queries ---- */

static const char *or_none(const char *text)
{
    return text != NULL ? text : "-";
}

static void record_query(const char *what, size_t sources, const hac_query_options *o)
{
    const hac_input_options *in = &o->input_options;
    record(
        "%s sources=%zu format=%d schema=%s where=%s group=%s select=%s order=%s limit=%lld out=%d "
        "delimiter=%d no_header=%d skip=%d null=%s hot=%d sample=%u share=%u groups=%u items=%u devices=%zu "
        "detach=%d fast=%d engine=%d big=%d splits=%d sort=%d",
        what, sources, (int)o->input_format, or_none(o->schema), or_none(o->where), or_none(o->group_by),
        or_none(o->select), or_none(o->order_by), (long long)o->limit, (int)o->result_format, in->delimiter,
        in->no_header, in->skip_errors, in->null_text[0] != '\0' ? in->null_text : "-", (int)o->hot_keys,
        o->sample, o->hot_share, o->work_groups, o->work_items, o->job.n_devices, o->job.detach, o->job.fast,
        (int)o->engine, in->big_endian, o->plan_splits, o->sort_rows);
    if (o->distinct || o->select_only)
        record("also distinct=%d only=%d infer=%d", o->distinct, o->select_only, o->infer_schema);
    if (o->result_format == HAC_RESULT_PARQUET)
        record("parquet codec=%d group=%llu rows=%llu block=%llu", (int)o->parquet.compression,
               (unsigned long long)o->parquet.group_bytes, (unsigned long long)o->parquet.group_rows,
               (unsigned long long)o->parquet.block_bytes);
}

/* The result is the contents of the files, one after the other; FAKE_HAC_TEXT is the remark on it. */
hac_status hac_query_files(hac_client *client, const int *fds, const char *const *names, size_t n_files,
                           const hac_query_options *options, hac_job **ret_job, hac_error *err)
{
    hac_job *job = NULL;
    record_query("mapreduce", n_files, options);
    hac_status status = start(client, &options->job, &job, err);
    for (size_t i = 0; i < n_files && status == HAC_OK; i++) {
        hac_job part = {.data = NULL};
        record("file %s", names[i]);
        status = read_all(&part, fds[i], err);
        char *all = status == HAC_OK ? realloc(job->data, job->bytes + part.bytes + 1) : NULL;
        if (all != NULL) {
            memcpy(all + job->bytes, part.data, part.bytes);
            job->data = all;
            job->bytes += part.bytes;
        }
        free(part.data);
    }
    if (status != HAC_OK) {
        hac_job_free(job);
        return status;
    }
    if (getenv("FAKE_HAC_TEXT") != NULL)
        job->text = getenv("FAKE_HAC_TEXT");
    *ret_job = job;
    return HAC_OK;
}

hac_status hac_query_file_list(hac_client *client, const hac_files *files, const hac_query_options *options,
                               hac_job **ret_job, hac_error *err)
{
    record("list of %zu files", hac_files_count(files));
    return hac_query_files(client, NULL, NULL, 0, options, ret_job, err);
}

hac_status hac_query_stream(hac_client *client, int fd, const char *name, const hac_query_options *options,
                            hac_job **ret_job, hac_error *err)
{
    record("stream");
    return hac_query_files(client, &fd, &name, 1, options, ret_job, err);
}

/* Whether rows are handed out while the job runs: without aggregates and order, and not as a Parquet file. */
static bool gives_rows(const hac_query_options *o)
{
    return o->group_by == NULL && o->order_by == NULL && o->result_format != HAC_RESULT_PARQUET &&
           (o->select == NULL || strstr(o->select, "count(") == NULL);
}

/* Waits until there is something to read, or until `stop_fd` is readable. */
static hac_status await(int fd, int stop_fd, hac_error *err)
{
    struct pollfd fds[] = {{.fd = fd, .events = POLLIN}, {.fd = stop_fd, .events = POLLIN}};
    while (poll(fds, 2, -1) < 0 && errno == EINTR)
        continue;
    return (fds[1].revents & POLLIN) != 0 ? hac_fail(err, HAC_CANCELLED, "fake: cancelled") : HAC_OK;
}

static hac_status keep(hac_job *job, const void *bytes, size_t n, hac_error *err)
{
    char *all = realloc(job->data, job->bytes + n + 1);
    if (all == NULL)
        return hac_fail_no_memory(err);
    memcpy(all + job->bytes, bytes, n);
    job->data = all;
    job->bytes += n;
    return HAC_OK;
}

static hac_status pass_on(const hac_splits *splits, const hac_query_options *options, hac_job *job, int fd,
                          hac_error *err)
{
    char piece[65536];
    for (;;) {
        hac_status status = await(fd, splits->stop_fd, err);
        ssize_t n = status == HAC_OK ? read(fd, piece, sizeof piece) : 0;
        if (n <= 0)
            return n < 0 ? hac_fail_errno(err, HAC_FAILED, errno, "fake: read") : status;
        report(job, hac_now_ns());
        status = gives_rows(options) ? splits->write(splits->context, piece, (size_t)n, err)
                                     : keep(job, piece, (size_t)n, err);
        if (status != HAC_OK)
            return status;
    }
}

/* The result is the inputs, one after the other, handed out at once or at the end. */
hac_status hac_query_splits(hac_client *client, const hac_splits *splits, const hac_query_options *options,
                            hac_job **ret_job, hac_error *err)
{
    record("splits inputs=%zu name=%s bytes=%llu uncompressed=%d", splits->n_inputs, splits->name,
           (unsigned long long)splits->split_bytes, splits->uncompressed);
    record_query("query", splits->n_inputs, options);
    hac_status status = start(client, &options->job, ret_job, err);
    for (size_t i = 0; i < splits->n_inputs && status == HAC_OK; i++) {
        hac_autoclose int fd = -1;
        const char *name = NULL;
        status = splits->open(splits->context, i, &fd, &name, err);
        if (status != HAC_OK)
            break;
        record("input %s", name);
        status = pass_on(splits, options, *ret_job, fd, err);
    }
    if (status == HAC_OK && getenv("FAKE_HAC_TEXT") != NULL)
        (*ret_job)->text = getenv("FAKE_HAC_TEXT");
    while (status == HAC_OK && (status = hac_job_wait(*ret_job, 0, err)) == HAC_AGAIN)
        status = await(client->timer, splits->stop_fd, err);
    return status;
}

hac_status hac_query_memory(hac_client *client, const void *text, uint64_t bytes,
                            const hac_query_options *options, hac_job **ret_job, hac_error *err)
{
    record_query("memory", 1, options);
    hac_status status = start(client, &options->job, ret_job, err);
    if (status != HAC_OK)
        return status;
    (*ret_job)->data = calloc(1, bytes + 1);
    if ((*ret_job)->data == NULL)
        return hac_fail_no_memory(err);
    memcpy((*ret_job)->data, text, bytes);
    (*ret_job)->bytes = bytes;
    return HAC_OK;
}

/* The answer is the content of the file. */
hac_status hac_describe_parquet(hac_client *client, int fd, const char *name, const hac_job_options *options,
                                hac_job **ret_job, hac_error *err)
{
    hac_query_options query = HAC_QUERY_OPTIONS_INIT;
    query.input_format = HAC_INPUT_PARQUET;
    query.job = *options;
    record("describe");
    return hac_query_files(client, &fd, &name, 1, &query, ret_job, err);
}

/* ---- questions ---- */

/* Reads the file of that name below FAKE_HAC_ANSWERS. */
static hac_status answer(const char *name, char **ret, hac_error *err)
{
    char path[4096];
    const char *folder = getenv("FAKE_HAC_ANSWERS");
    snprintf(path, sizeof path, "%s/%s", folder != NULL ? folder : "/nonexistent", name);
    hac_autofclose FILE *file = fopen(path, "re");
    size_t capacity = 0;
    char *text = NULL;
    if (file == NULL)
        return hac_fail(err, HAC_NOT_FOUND, "fake: no answer %s", name);
    if (getdelim(&text, &capacity, '\0', file) < 0) {
        free(text);
        text = strdup("");
    }
    *ret = text;
    return HAC_OK;
}

hac_status hac_client_query(hac_client *client, hac_topic topic, uint64_t job, hac_plan_format format,
                            char **ret_text, hac_error *err)
{
    char name[32];
    (void)client;
    record("query topic=%d job=%llu format=%d", (int)topic, (unsigned long long)job, (int)format);
    if (job != 0 && job != 7)
        return hac_fail(err, HAC_NOT_FOUND, "there is no job %llu", (unsigned long long)job);
    snprintf(name, sizeof name, "%d", (int)topic);
    return answer(name, ret_text, err);
}

hac_status hac_explain_sort(hac_client *client, uint64_t items, const hac_sort_options *options,
                            hac_plan_format format, char **ret_text, hac_error *err)
{
    char name[32];
    (void)client;
    record_options("explain", items, options);
    record("plan input=%d", (int)options->plan_input);
    snprintf(name, sizeof name, "plan%d", (int)format);
    return answer(name, ret_text, err);
}

hac_status hac_explain_query(hac_client *client, const hac_planned_query *query, hac_plan_format format,
                             char **ret_text, hac_error *err)
{
    char name[32];
    (void)client;
    record_query("explain", query->n_sources, query->options);
    for (size_t i = 0; i < query->n_sources; i++)
        record("source %llu%s", (unsigned long long)query->sources[i], query->fds != NULL ? " there" : "");
    snprintf(name, sizeof name, "plan%d", (int)format);
    return answer(name, ret_text, err);
}

hac_status hac_simulate_query(hac_client *client, const hac_simulated_device *devices, size_t n_devices,
                              const hac_planned_query *query, hac_plan_format format, char **ret_text,
                              hac_error *err)
{
    for (size_t i = 0; i < n_devices; i++)
        record("device %s", devices[i].name);
    return hac_explain_query(client, query, format, ret_text, err);
}

hac_status hac_simulate_sort(hac_client *client, const hac_simulated_device *devices, size_t n_devices,
                             uint64_t items, const hac_sort_options *options, hac_plan_format format,
                             char **ret_text, hac_error *err)
{
    for (size_t i = 0; i < n_devices; i++)
        record("device %s group=%s kind=%s simt=%d", devices[i].name, devices[i].group, devices[i].kind,
               devices[i].simt);
    return hac_explain_sort(client, items, options, format, ret_text, err);
}

hac_status hac_calibrate(hac_client *client, int tune, const hac_job_options *options, hac_job **ret_job,
                         hac_error *err)
{
    record("calibrate tune=%d devices=%zu first=%s", tune, options->n_devices,
           options->n_devices > 0 ? options->devices[0] : "-");
    hac_status status = start(client, options, ret_job, err);
    if (status != HAC_OK)
        return status;
    char *text = NULL;
    if (answer(tune ? "tune" : "calibrate", &text, err) == HAC_OK) {
        (*ret_job)->data = text;
        (*ret_job)->text = text;
    }
    return HAC_OK;
}

hac_status hac_tuning_revert(hac_client *client, const char *const *devices, size_t n_devices, int all,
                             hac_error *err)
{
    (void)client;
    (void)err;
    record("revert all=%d devices=%zu first=%s", all, n_devices, n_devices > 0 ? devices[0] : "-");
    return HAC_OK;
}

hac_status hac_client_drain(hac_client *client, hac_error *err)
{
    (void)client;
    (void)err;
    record("drain");
    return HAC_OK;
}

hac_status hac_build_kernels(hac_client *client, const char *device, int fd, char **ret_text, hac_error *err)
{
    (void)client;
    record("kernels %s", device);
    if (write(fd, "image", 5) != 5 ||
        asprintf(ret_text, "{\"device\": \"%s\", \"bytes\": 5, \"programs\": 1, \"left_out\": null}",
                 device) < 0)
        return hac_fail(err, HAC_IO, "no");
    return HAC_OK;
}

hac_status hac_client_reload(hac_client *client, hac_error *err)
{
    (void)client;
    (void)err;
    record("reload");
    return HAC_OK;
}

/* Checks logic files really, and only pretends to run them. */
hac_status hac_run_logic(hac_client *client, const hac_logic *logic, const hac_run_options *options,
                         hac_run_report *ret, hac_error *err)
{
    (void)client;
    (void)err;
    record("run %s inputs=%zu policy=%d threshold=%llu components=%u", logic->name, options->n_inputs,
           (int)options->policy, (unsigned long long)options->threshold, options->components);
    *ret = (hac_run_report){.job = 1, .graphs = 1};
    return HAC_OK;
}

/* Places each sub-operator as one task on a device that does not exist. */
hac_status hac_run_placement(hac_client *client, const hac_logic *logic, const hac_run_options *options,
                             hac_plan_reader *read_plan, hac_placement **ret, hac_error *err)
{
    static const char plan[] = "{\"tasks\": [{\"devices\": [\"a\", \"b\"]}],"
                               " \"candidates\": [{\"predicted_seconds\": 0.5, \"reason\": \"so\"}]}";
    (void)client;
    record("place %s inputs=%zu policy=%d threshold=%llu components=%u", logic->name, options->n_inputs,
           (int)options->policy, (unsigned long long)options->threshold, options->components);
    hac_status status = HAC_OK;
    *ret = calloc(1, sizeof **ret);
    (*ret)->pieces = calloc(logic->n_pieces + 1, sizeof *(*ret)->pieces);
    for (size_t i = 0; i < logic->n_pieces && status == HAC_OK; i++) {
        hac_piece_placement *piece = &(*ret)->pieces[(*ret)->n_pieces++];
        piece->tasks = calloc(1, sizeof *piece->tasks);
        piece->n_tasks = 1;
        snprintf(piece->tasks->codelet, sizeof piece->tasks->codelet, "op.fake");
        piece->tasks->components = piece->tasks->sub_loops = 1;
        status = read_plan(plan, piece->tasks, 1, err);
    }
    return status;
}

/* Results of jobs as inputs are for tests with a daemon (tests/integration/job_input_test.py). */
#define NOT_FAKED(name, ...)                                                                                 \
    hac_status name(__VA_ARGS__)                                                                             \
    {                                                                                                        \
        fprintf(stderr, "%s is not faked\n", #name);                                                         \
        abort();                                                                                             \
    }

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
NOT_FAKED(hac_job_as_input, hac_job *job, hac_buffer **ret_buffer, hac_error *err)
NOT_FAKED(hac_sort_buffer, hac_client *client, hac_buffer *keys, uint64_t offset, uint64_t items,
          const hac_sort_options *options, hac_job **ret_job, hac_error *err)
NOT_FAKED(hac_sort_memory, hac_client *client, const void *keys, uint64_t items,
          const hac_sort_options *options, hac_job **ret_job, hac_error *err)
NOT_FAKED(hac_query_buffer, hac_client *client, hac_buffer *buffer, uint64_t offset, uint64_t bytes,
          const hac_query_options *options, hac_job **ret_job, hac_error *err)
NOT_FAKED(hac_query_arrow, hac_client *client, const struct ArrowSchema *schema,
          const struct ArrowArray *columns, const hac_query_options *options, hac_job **ret_job,
          hac_error *err)
#pragma GCC diagnostic pop

void hac_buffer_free(hac_buffer *buffer)
{
    if (buffer != NULL)
        abort();
}
