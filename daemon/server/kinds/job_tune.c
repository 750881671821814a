/* SPDX-License-Identifier: Apache-2.0 */
#include "job_tune.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/type.h"
#include "executors/device_tuning.h"
#include "measurement.h"
#include "tune_contest.h"
#include "tune_settings.h"

#define WARM_UPS        2
#define REPEATS         3
#define DISCARDS_MAX    8    /* runs of a visit that something disturbed */
#define RUN_SECONDS_MAX 0.25 /* a workload that takes longer gets fewer items */
#define ITEMS_MIN       4096
#define REPORT_CAPACITY (24u << 10) /* the report must fit into a message */

/* Sorts first, then queries, which need another input. */
static const hac_workload all_workloads[] = {
    {.type = HAC_TYPE_U32, .items = 1u << 20, .algorithm = HAC_SORT_RADIX},
    {.type = HAC_TYPE_F64, .items = 1u << 18, .algorithm = HAC_SORT_RADIX},
    {.type = HAC_TYPE_U32, .items = 1u << 14, .algorithm = HAC_SORT_RADIX},
    {.type = HAC_TYPE_U64, .items = 1u << 18, .algorithm = HAC_SORT_BITONIC},
    {.items = 1u << 18, .keys = 4096, .kernels = true},
    {.items = 1u << 20, .keys = 4096, .kernels = false},
};
#define N_WORKLOADS (sizeof all_workloads / sizeof *all_workloads)
_Static_assert(N_WORKLOADS <= HAC_CONTEST_WORKLOADS_MAX, "");

typedef enum tune_phase {
    TUNE_NEXT_DEVICE = 0,
    TUNE_SIZING,  /* finds the sizes of the workloads for the device, with its present settings */
    TUNE_CONTESTS /* of `subject` */
} tune_phase;

/* A visit to a candidate: which run of which workload is next. */
typedef struct tune_visit {
    size_t candidate, at;
    bool backward; /* the workloads in reverse order: the input need not be filled again */
    unsigned run, discards;
    double seconds[HAC_CONTEST_WORKLOADS_MAX];
} tune_visit;

typedef struct tune_state {
    hac_measurement measurement;
    tune_phase phase;
    uint32_t device; /* index; the devices below it are done */
    hac_tune_subject subject;
    hac_workload workloads[N_WORKLOADS];
    size_t n_workloads;
    hac_device_tuning candidates[HAC_CONTEST_CANDIDATES_MAX];
    hac_contest contest;
    tune_visit visit;
    bool visiting;
    hac_device_tuning before; /* settings of the device when its turn came */
    double gain;              /* product of the contests' */
    unsigned restarts;        /* changes of settings */

    bool running; /* a run of the visit */
    uint64_t began_ns;
    double built;                   /* job->build_seconds at its beginning */
    unsigned retries, job_restarts; /* the job's, at its beginning */
    bool failed;                    /* it failed, because of `reason` */
    char reason[HAC_ERROR_MESSAGE_SIZE];
    hac_text report; /* the devices that are done */
} tune_state;

static hac_server_device *device_of(const hacd_job *job)
{
    const tune_state *state = job->kind_state;
    return job->jobs->devices->items[state->device];
}

static void apply(hacd_job *job, const hac_device_tuning *settings)
{
    tune_state *state = job->kind_state;
    if (memcmp(&device_of(job)->tuning, settings, sizeof *settings) == 0)
        return;
    hac_tuning_apply(job->jobs->tuning, state->device, settings);
    state->restarts++;
}

/* ---- the report ---------------------------------------------------------------------------------------- */

static void describe_workload(const hac_workload *workload, char *ret, size_t capacity)
{
    unsigned long long items = workload->items;
    if (workload->keys == 0)
        snprintf(ret, capacity, "%s sort of %llu %s",
                 workload->algorithm == HAC_SORT_BITONIC ? "bitonic" : "radix", items,
                 hac_type_name(workload->type));
    else
        snprintf(ret, capacity, "%llu rows by %u keys, %s", items, workload->keys,
                 workload->kernels ? "kernels" : "host codelets");
}

static void describe_verdict(const tune_state *state, const hac_contest_verdict *verdict, char *ret,
                             size_t capacity)
{
    const hac_contest *contest = &state->contest;
    char setting[64], worst[64];
    if (contest->n_candidates < 2) {
        snprintf(ret, capacity, "nothing to try");
        return;
    }
    if (contest->challenger == 0) {
        snprintf(ret, capacity, "the present setting stays: no other of %zu was faster",
                 contest->n_candidates - 1);
        return;
    }
    hac_tune_describe(&state->candidates[contest->challenger], state->subject, setting, sizeof setting);
    describe_workload(&state->workloads[verdict->worst_of], worst, sizeof worst);
    if (verdict->kept)
        snprintf(ret, capacity, "%s is kept: faster in %zu of %zu rounds, by %.0f %%", setting, verdict->wins,
                 contest->n_rounds, (1 / verdict->score - 1) * 100);
    else if (contest->n_rounds == 0)
        snprintf(ret, capacity, "the present setting stays: %s could not be measured again", setting);
    else
        snprintf(ret, capacity,
                 "the present setting stays: %s was faster in %zu of %zu rounds, time × %.2f in the median; "
                 "worst for %s, time × %.2f",
                 setting, verdict->wins, contest->n_rounds, verdict->score, worst, verdict->worst);
}

static void add_tried(const tune_state *state, hac_text *t)
{
    hac_json_open(t, "tried", '[');
    for (size_t c = 1; c < state->contest.n_candidates && t->bytes < REPORT_CAPACITY; c++) {
        char setting[64];
        double score = hac_contest_screening_score(&state->contest, c);
        hac_tune_describe(&state->candidates[c], state->subject, setting, sizeof setting);
        hac_json_open(t, NULL, '{');
        hac_json_string(t, "setting", setting);
        if (score > 0)
            hac_json_number(t, "time", (double)(int)(score * 1000 + 0.5) / 1000);
        else
            hac_json_null(t, "time");
        hac_json_close(t, '}');
    }
    hac_json_close(t, ']');
    hac_json_open(t, "rounds", '[');
    for (size_t r = 0; r < state->contest.n_rounds && t->bytes < REPORT_CAPACITY; r++)
        hac_json_number(t, NULL,
                        (double)(int)(hac_contest_round_score(&state->contest, r) * 1000 + 0.5) / 1000);
    hac_json_close(t, ']');
}

static void report_contest(hacd_job *job, const hac_contest_verdict *verdict)
{
    tune_state *state = job->kind_state;
    hac_text *t = &state->report;
    char present[64], text[400];
    const char *subject = hac_tune_subject_name(device_of(job), state->subject);
    describe_verdict(state, verdict, text, sizeof text);
    hac_tune_describe(&state->candidates[0], state->subject, present, sizeof present);
    hacd_job_note(job, "%s, %s: %s", device_of(job)->config.name, subject, text);
    if (t->bytes >= REPORT_CAPACITY)
        return;
    hac_json_open(t, NULL, '{');
    hac_json_string(t, "subject", subject);
    hac_json_string(t, "present", present);
    hac_json_bool(t, "kept", verdict->kept);
    hac_json_string(t, "verdict", text);
    add_tried(state, t);
    hac_json_close(t, '}');
}

static void begin_device_report(hacd_job *job)
{
    tune_state *state = job->kind_state;
    hac_json_open(&state->report, NULL, '{');
    hac_json_string(&state->report, "name", device_of(job)->config.name);
    hac_json_open(&state->report, "contests", '[');
}

static void end_device_report(hacd_job *job, bool changed)
{
    tune_state *state = job->kind_state;
    hac_text *t = &state->report;
    hac_json_close(t, ']');
    hac_json_open(t, "workloads", '[');
    for (size_t w = 0; w < state->n_workloads && t->bytes < REPORT_CAPACITY; w++) {
        char text[64];
        describe_workload(&state->workloads[w], text, sizeof text);
        hac_json_string(t, NULL, text);
    }
    hac_json_close(t, ']');
    hac_json_bool(t, "kept", changed);
    hac_json_number(t, "gain", state->gain);
    hac_json_unsigned(t, "restarts", state->restarts);
    hac_json_close(t, '}');
}

/* ---- devices and contests ------------------------------------------------------------------------------ */

static void begin_visit(tune_state *state, size_t candidate)
{
    bool backward = !state->visit.backward;
    memset(&state->visit, 0, sizeof state->visit);
    state->visit.candidate = candidate;
    state->visit.backward = backward;
    state->visiting = true;
}

static void begin_device(hacd_job *job)
{
    tune_state *state = job->kind_state;
    const hac_server_device *device = device_of(job);
    bool cpu = device->config.kind == HAC_DEVICE_KIND_CPU;
    state->before = device->tuning;
    state->gain = 1;
    state->restarts = 0;
    state->n_workloads = 0;
    for (size_t i = 0; i < N_WORKLOADS; i++)
        if (cpu || all_workloads[i].keys == 0 || all_workloads[i].kernels)
            state->workloads[state->n_workloads++] = all_workloads[i];
    state->phase = TUNE_SIZING;
    begin_device_report(job);
    begin_visit(state, 0);
}

static void begin_contest(hacd_job *job)
{
    tune_state *state = job->kind_state;
    memset(&state->contest, 0, sizeof state->contest);
    state->contest.n_workloads = state->n_workloads;
    state->contest.n_candidates =
        hac_tune_list(device_of(job), state->subject, state->candidates, HAC_CONTEST_CANDIDATES_MAX);
}

static void end_device(hacd_job *job)
{
    tune_state *state = job->kind_state;
    hac_server_device *device = device_of(job);
    hac_error err = HAC_ERROR_NONE;
    bool changed = memcmp(&state->before, &device->tuning, sizeof state->before) != 0;
    if (changed && hac_tuning_keep(job->jobs->tuning, state->device, state->gain, &err) != HAC_OK) {
        hacd_job_note(job, "%s; the settings hold until hacd ends", err.message);
        hac_log_record(HAC_LOG_WARNING, HAC_EVENT_STATE, NULL, "%s; the settings hold until hacd ends",
                       err.message);
    }
    end_device_report(job, changed);
    state->phase = TUNE_NEXT_DEVICE;
    state->device++;
}

static void end_contest(hacd_job *job)
{
    tune_state *state = job->kind_state;
    hac_contest_verdict verdict = hac_contest_judge(&state->contest);
    report_contest(job, &verdict);
    apply(job, &state->candidates[verdict.kept ? state->contest.challenger : 0]);
    if (verdict.kept)
        state->gain /= verdict.score;
    if (++state->subject == HAC_TUNE_SUBJECTS)
        end_device(job);
    else
        begin_contest(job);
}

static void end_visit(hacd_job *job)
{
    tune_state *state = job->kind_state;
    state->visiting = false;
    if (state->phase == TUNE_CONTESTS) {
        hac_contest_end_visit(&state->contest, state->visit.seconds);
        return;
    }
    state->phase = TUNE_CONTESTS;
    state->subject = 0;
    if (state->n_workloads > 0)
        begin_contest(job);
    else
        end_device(job);
}

/* Finds what to run next. Returns false if all devices are done. */
static bool find_run(hacd_job *job)
{
    tune_state *state = job->kind_state;
    size_t candidate;
    while (true) {
        if (state->visiting && state->visit.at < state->n_workloads)
            return true;
        if (state->visiting)
            end_visit(job);
        else if (state->phase == TUNE_CONTESTS && hac_contest_next(&state->contest, &candidate))
            begin_visit(state, candidate);
        else if (state->phase == TUNE_CONTESTS)
            end_contest(job);
        else if (state->device == job->jobs->devices->count)
            return false;
        else if ((job->device_mask & (1u << state->device)) && hac_device_usable(device_of(job)))
            begin_device(job);
        else
            state->device++;
    }
}

/* ---- runs ---------------------------------------------------------------------------------------------- */

static size_t workload_index(const tune_state *state)
{
    return state->visit.backward ? state->n_workloads - 1 - state->visit.at : state->visit.at;
}

static void next_workload(tune_state *state)
{
    state->visit.at++;
    state->visit.run = 0;
}

/* While sizes are searched. The order of the others does not change when one is taken out. */
static void remove_workload(tune_state *state)
{
    size_t index = workload_index(state);
    state->n_workloads--;
    memmove(&state->workloads[index], &state->workloads[index + 1],
            (state->n_workloads - index) * sizeof *state->workloads);
    state->visit.run = 0;
}

/* The candidate cannot run a workload, so it is out. */
static void leave_out(hacd_job *job, const char *why)
{
    tune_state *state = job->kind_state;
    char what[64], setting[64];
    describe_workload(&state->workloads[workload_index(state)], what, sizeof what);
    state->running = state->failed = false;
    /* a setting that kills executors says nothing about the device */
    job->excluded &= ~(1u << state->device);
    job->losses[state->device] = 0;
    if (state->phase == TUNE_SIZING) {
        hacd_job_note(job, "%s, %s: left out: %s", device_of(job)->config.name, what, why);
        remove_workload(state);
        return;
    }
    hac_tune_describe(&state->candidates[state->visit.candidate], state->subject, setting, sizeof setting);
    hacd_job_note(job, "%s, %s: %s cannot run: %s", device_of(job)->config.name, setting, what, why);
    state->visiting = false;
    hac_contest_end_visit(&state->contest, NULL);
}

/* The time to size a workload by: the second run, as the first one loads kernels. */
static void note_size(tune_state *state, double seconds)
{
    hac_workload *workload = &state->workloads[workload_index(state)];
    if (state->visit.run++ == 0)
        return;
    if (seconds > RUN_SECONDS_MAX && workload->items >= 2 * ITEMS_MIN)
        workload->items /= seconds > 8 * RUN_SECONDS_MAX && workload->items >= 16 * ITEMS_MIN ? 16 : 2;
    else
        next_workload(state);
}

static void note_run(hacd_job *job)
{
    tune_state *state = job->kind_state;
    tune_visit *visit = &state->visit;
    double seconds = hac_seconds_since(state->began_ns), *best = &visit->seconds[workload_index(state)];
    bool disturbed = job->build_seconds > state->built || job->retries > state->retries ||
                     job->restarts > state->job_restarts;
    if (disturbed && visit->discards++ < DISCARDS_MAX)
        return;
    if (state->phase == TUNE_SIZING) {
        note_size(state, seconds);
        return;
    }
    if (visit->run >= WARM_UPS && (*best == 0 || seconds < *best))
        *best = seconds;
    if (++visit->run == WARM_UPS + REPEATS)
        next_workload(state);
}

/* A plan of the running run has been executed. Returns HAC_OK if it has another one. */
static hac_status go_on(hacd_job *job)
{
    tune_state *state = job->kind_state;
    hac_error reason = HAC_ERROR_NONE;
    if (state->failed) {
        leave_out(job, state->reason);
        return HAC_NOT_FOUND;
    }
    hac_status status =
        hac_measurement_go_on(job, 1u << state->device, &state->workloads[workload_index(state)], &reason);
    if (status == HAC_OK)
        return HAC_OK;
    state->running = false;
    if (status != HAC_NOT_FOUND)
        leave_out(job, reason.message);
    else if (!job->restart)
        note_run(job);
    return HAC_NOT_FOUND;
}

static void finish_report(hacd_job *job)
{
    tune_state *state = job->kind_state;
    hac_json_close(&state->report, ']');
    hac_json_close(&state->report, '}');
    free(job->text);
    job->text = NULL;
    if (hac_text_finish(&state->report, &job->text, NULL, NULL) != HAC_OK)
        hacd_job_note(job, "there is no memory for the report; `hacctl tune --show` shows what was kept");
}

static hac_status next_plan(hacd_job *job, hac_error *err)
{
    tune_state *state = job->kind_state;
    if (state->running && go_on(job) == HAC_OK)
        return HAC_OK;
    state->running = false;
    while (find_run(job)) {
        const hac_workload *workload = &state->workloads[workload_index(state)];
        uint32_t mask = 1u << state->device;
        hac_error reason = HAC_ERROR_NONE;
        if (state->phase == TUNE_CONTESTS)
            apply(job, &state->candidates[state->visit.candidate]);
        if (!state->measurement.filled || state->measurement.keys != workload->keys || job->restart) {
            job->restart = false;
            return hac_measurement_fill(job, mask, workload->keys, err);
        }
        state->built = job->build_seconds;
        state->retries = job->retries;
        state->job_restarts = job->restarts;
        state->began_ns = hac_now_ns();
        if (hac_measurement_begin(job, mask, workload, &reason) == HAC_OK) {
            state->running = true;
            return HAC_OK;
        }
        leave_out(job, reason.message);
    }
    hac_query_run_end(job);
    finish_report(job);
    return HAC_NOT_FOUND;
}

/* The settings cannot run it: the search goes on with others. */
static bool task_failed(hacd_job *job, uint32_t task, const Hac__Executor__Done *done)
{
    tune_state *state = job->kind_state;
    if (hac_measurement_task_failed(job, task, done))
        return true;
    if (!state->running ||
        (done->code != HAC_DEVICE && done->code != HAC_NO_MEMORY && done->code != HAC_UNSUPPORTED))
        return false;
    state->failed = true;
    hac_utf8_copy_line(state->reason, sizeof state->reason, done->message);
    job->run.replan = true;
    return true;
}

/* A search that is cancelled or fails restores the settings of the device that it was at. */
static void ended(hacd_job *job)
{
    tune_state *state = job->kind_state;
    if (state->phase != TUNE_NEXT_DEVICE)
        apply(job, &state->before);
}

static void free_state(hacd_job *job)
{
    tune_state *state = job->kind_state;
    hac_measurement_free(job);
    hac_text_clear(&state->report);
}

/* ---- submission ---------------------------------------------------------------------------------------- */

static hac_status fill(hac_submission *from, hacd_job *job, hac_error *err)
{
    const Hac__Client__SubmitCalibrate *request = from->request->submit_calibrate;
    tune_state *state = job->kind_state;
    hac_status status = hac_measurement_devices(job, request, err);
    if (status != HAC_OK)
        return status;
    hac_json_open(&state->report, NULL, '{');
    hac_json_open(&state->report, "devices", '[');
    snprintf(from->what, sizeof from->what, "tune");
    return hac_measurement_take(job, request->query, err);
}

static const hacd_job_kind tune_kind = {.flow = HAC_FLOW_TUNE,
                                        .state_bytes = sizeof(tune_state),
                                        .fill = fill,
                                        .next_plan = next_plan,
                                        .task_done = hac_measurement_task_done,
                                        .did_all = hac_query_run_did_all,
                                        .task_ended = hac_measurement_task_ended,
                                        .task_failed = task_failed,
                                        .free_state = free_state,
                                        .ended = ended,
                                        .measures = true};

hac_status hacd_job_tune_check_none(const hac_jobs *jobs, hac_error *err)
{
    const hacd_job *job = NULL;
    hac_list_for_each (job, &jobs->list, hacd_job, link)
        if (job->kind == &tune_kind && !hacd_job_ended(job))
            return hac_fail(err, HAC_REFUSED, "job %llu tunes devices; wait for it, or `hacctl cancel %llu`",
                            (unsigned long long)job->id, (unsigned long long)job->id);
    return HAC_OK;
}

hac_status hacd_job_tune_submit(hac_submission *from, hac_error *err)
{
    hac_status status = hacd_job_tune_check_none(from->jobs, err);
    if (status != HAC_OK)
        return status;
    return hac_submission_submit(from, &tune_kind, from->request->submit_calibrate->options, err);
}
