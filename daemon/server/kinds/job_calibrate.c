/* SPDX-License-Identifier: Apache-2.0 */
#include "job_calibrate.h"

#include <stdlib.h>
#include <string.h>

#include "base/calibrate_layout.h"
#include "base/clock.h"
#include "base/type.h"
#include "job_tune.h"
#include "measurement.h"

#define LARGEST_ITEMS     HAC_CALIBRATE_ITEMS
#define REPEATS           3
#define MIDDLE_KEYS       4096 /* measured more often than few keys or many, as models keep medians */
#define MIDDLE_REPEATS    5
#define STEPS_MAX         2048
#define SHORT_SECONDS     0.1 /* of a run that hacd begins by itself */
#define BY_ITSELF_SECONDS 5.0 /* of all such runs on a device, without building kernels */
#define STEP_SECONDS_MAX  2.0 /* if one size takes longer, larger ones are skipped on that device */

/* One measurement on the devices of `mask`. */
typedef struct calibrate_step {
    uint32_t mask;
    hac_workload workload;
    double seconds; /* best of the repeats; 0: not run */
} calibrate_step;

typedef struct calibrate_state {
    hac_measurement measurement;
    calibrate_step steps[STEPS_MAX];
    size_t n_steps, at;
    unsigned repeat;
    bool running;   /* steps[at] is being measured */
    bool by_itself; /* hacd began it */
    double built;   /* job->build_seconds when the step began */
} calibrate_state;

/* ---- what to measure ---------------------------------------------------------------------------------- */

static void add_step(calibrate_state *state, uint32_t mask, hac_workload workload)
{
    if (state->n_steps < STEPS_MAX)
        state->steps[state->n_steps++] = (calibrate_step){.mask = mask, .workload = workload};
}

static void add_sort_step(calibrate_state *state, uint32_t mask, hac_type type, uint64_t items,
                          hac_sort_algorithm algorithm)
{
    add_step(state, mask, (hac_workload){.type = type, .items = items, .algorithm = algorithm});
}

/* Few, some and many keys, and so tables that fit into each level of cache, and beyond. */
static void add_query_steps(calibrate_state *state, uint32_t mask, uint32_t keys, bool kernels)
{
    static const uint64_t rows[] = {1 << 18, 1 << 21};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        add_step(state, mask, (hac_workload){.items = rows[i], .keys = keys, .kernels = kernels});
}

/* Host codelets run on CPUs, kernels everywhere. */
static void list_queries(calibrate_state *state, const hac_devices *devices, uint32_t mask)
{
    static const uint32_t keys[] = {64, MIDDLE_KEYS, 1 << 18};
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
        for (uint32_t i = 0; i < devices->count; i++) {
            const hac_server_device *device = devices->items[i];
            if (!(mask & (1u << i)) || !hac_device_usable(device))
                continue;
            if (device->config.kind == HAC_DEVICE_KIND_CPU)
                add_query_steps(state, 1u << i, keys[k], false);
            add_query_steps(state, 1u << i, keys[k], true);
        }
    }
}

static void add_device_steps(calibrate_state *state, uint32_t mask)
{
    static const uint64_t sizes[] = {4096, 65536, 1 << 20, LARGEST_ITEMS};
    for (int type = HAC_TYPE_U32; type < HAC_TYPE_COUNT; type++)
        for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
            add_sort_step(state, mask, (hac_type)type, sizes[k], HAC_SORT_RADIX);
    for (uint64_t items = 65536; items <= LARGEST_ITEMS; items *= 8)
        add_sort_step(state, mask, HAC_TYPE_U32, items, HAC_SORT_BITONIC);
    add_sort_step(state, mask, HAC_TYPE_U64, LARGEST_ITEMS / 4, HAC_SORT_BITONIC);
}

/* Devices whose capabilities add up are also measured together, so that what they share (memory bandwidth)
 * shows in the figures: one device of each group. */
static uint32_t together_mask(const hac_devices *devices, uint32_t mask)
{
    uint32_t together = 0;
    for (uint32_t i = 0; i < devices->count; i++) {
        bool adds = (mask & (1u << i)) && hac_device_usable(devices->items[i]);
        for (uint32_t j = 0; j < i && adds; j++)
            if ((together & (1u << j)) && devices->items[i]->group[0] != '\0' &&
                strcmp(devices->items[i]->group, devices->items[j]->group) == 0)
                adds = false;
        if (adds)
            together |= 1u << i;
    }
    return together;
}

static void list_calibration(calibrate_state *state, const hac_devices *devices, uint32_t mask)
{
    unsigned n = 0;
    for (uint32_t i = 0; i < devices->count; i++) {
        if (!(mask & (1u << i)) || !hac_device_usable(devices->items[i]))
            continue;
        add_device_steps(state, 1u << i);
        n++;
    }
    uint32_t together = together_mask(devices, mask);
    if (n > 1 && (together & (together - 1)) != 0)
        add_device_steps(state, together);
    list_queries(state, devices, mask);
}

/* What hacd measures by itself: as little as tells how fast the device is at most jobs, the short tasks
 * first. */
static void list_by_itself(calibrate_state *state, const hac_devices *devices, uint32_t index)
{
    static const uint64_t sizes[] = {65536, 1 << 20};
    static const hac_type types[] = {HAC_TYPE_U32, HAC_TYPE_F64};
    const hac_server_device *device = devices->items[index];
    bool cpu = device->config.kind == HAC_DEVICE_KIND_CPU;
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (size_t t = 0; t < sizeof types / sizeof *types; t++)
            add_sort_step(state, 1u << index, types[t], sizes[s], HAC_SORT_RADIX);
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        add_step(state, 1u << index, (hac_workload){.items = sizes[s], .keys = MIDDLE_KEYS, .kernels = !cpu});
}

/* ---- measuring ---------------------------------------------------------------------------------------- */

/* A device that took too long at one size gets no larger sizes of that type. */
static bool too_slow(const calibrate_state *state, const calibrate_step *step)
{
    for (size_t i = 0; i < state->at; i++) {
        const calibrate_step *before = &state->steps[i];
        double expected = before->seconds * (double)step->workload.items / (double)before->workload.items;
        bool over = state->by_itself ? expected > SHORT_SECONDS : before->seconds > STEP_SECONDS_MAX / 16;
        if (before->mask == step->mask && before->workload.algorithm == step->workload.algorithm &&
            before->workload.items < step->workload.items && before->workload.keys == step->workload.keys &&
            before->workload.kernels == step->workload.kernels && over)
            return true;
    }
    return false;
}

static void note_measurement(hacd_job *job, calibrate_state *state)
{
    calibrate_step *step = &state->steps[state->at];
    double seconds = hac_seconds_since(job->run.started_ns);
    bool waited = job->build_seconds > state->built;
    state->built = job->build_seconds;
    if (waited) /* it waited for kernels, which says nothing about the device: measure again */
        return;
    if (step->seconds == 0 || seconds < step->seconds)
        step->seconds = seconds;
    unsigned repeats = step->workload.keys == MIDDLE_KEYS ? MIDDLE_REPEATS : REPEATS;
    if (++state->repeat < repeats && seconds < STEP_SECONDS_MAX)
        return;
    state->repeat = 0;
    state->at++;
}

static void finish_report(hacd_job *job);

static void leave_out(hacd_job *job, const char *why)
{
    calibrate_state *state = job->kind_state;
    hacd_job_note(job, "left out: %s", why);
    state->running = false;
    state->repeat = 0;
    state->at++;
}

/* A plan of the running step has been executed. HAC_NOT_FOUND: it was the step's last plan, or the step is
 * skipped. */
static hac_status go_on(hacd_job *job)
{
    calibrate_state *state = job->kind_state;
    const calibrate_step *step = &state->steps[state->at];
    hac_error reason = HAC_ERROR_NONE;
    hac_status status = hac_measurement_go_on(job, step->mask, &step->workload, &reason);
    if (status == HAC_NOT_FOUND && !job->restart)
        note_measurement(job, state);
    else if (status != HAC_OK && status != HAC_NOT_FOUND)
        leave_out(job, reason.message);
    return status == HAC_OK ? HAC_OK : HAC_NOT_FOUND;
}

/* Whether a measurement that hacd began by itself has taken its time, without what it waited for: builders
 * before it began, and its kernels. */
static bool is_over(const hacd_job *job)
{
    const calibrate_state *state = job->kind_state;
    double waits = job->build_started_ns != 0 ? hac_seconds_since(job->build_started_ns) : 0;
    return state->by_itself && job->started_ns != 0 &&
           hac_seconds_since(job->started_ns) - job->build_seconds - waits > BY_ITSELF_SECONDS;
}

static hac_status next_plan(hacd_job *job, hac_error *err)
{
    calibrate_state *state = job->kind_state;
    if (!state->measurement.filled || (job->restart && !state->running))
        return hac_measurement_fill(job, job->device_mask, state->measurement.keys, err);
    if (state->running && go_on(job) == HAC_OK)
        return HAC_OK;
    state->running = false;
    if (is_over(job))
        return HAC_NOT_FOUND;
    while (state->at < state->n_steps) {
        const calibrate_step *step = &state->steps[state->at];
        hac_error reason = HAC_ERROR_NONE;
        if (too_slow(state, step)) {
            state->at++;
            state->repeat = 0;
            continue;
        }
        if (state->measurement.keys != step->workload.keys)
            return hac_measurement_fill(job, job->device_mask, step->workload.keys, err);
        if (hac_measurement_begin(job, step->mask, &step->workload, &reason) == HAC_OK) {
            state->running = true;
            return HAC_OK;
        }
        leave_out(job, reason.message);
    }
    hac_query_run_end(job);
    finish_report(job);
    return HAC_NOT_FOUND;
}

/* ---- reports ------------------------------------------------------------------------------------------ */

static void add_mask_names(hac_text *t, const hac_devices *devices, uint32_t mask)
{
    char names[256] = "";
    size_t used = 0;
    for (uint32_t i = 0; i < devices->count && used < sizeof names; i++)
        if (mask & (1u << i))
            used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", used ? " + " : "",
                                     devices->items[i]->config.name);
    hac_json_string(t, "name", names);
}

static void add_measurement(hac_text *t, const calibrate_step *step)
{
    const hac_workload *workload = &step->workload;
    hac_json_open(t, NULL, '{');
    if (workload->keys != 0) {
        hac_json_string(t, "codelet", workload->kernels ? "hash.aggregate" : "query.aggregate");
        hac_json_unsigned(t, "keys", workload->keys);
    } else {
        hac_json_string(t, "codelet", workload->algorithm == HAC_SORT_RADIX ? "sort" : "bitonic");
        hac_json_string(t, "type", hac_type_name(workload->type));
    }
    hac_json_unsigned(t, "items", workload->items);
    hac_json_number(t, "seconds", step->seconds);
    hac_json_number(t, "items_per_second", (double)workload->items / step->seconds);
    hac_json_close(t, '}');
}

static void add_measurements(hac_text *t, const hacd_job *job)
{
    const calibrate_state *state = job->kind_state;
    hac_json_open(t, "devices", '[');
    for (size_t i = 0; i < state->n_steps; i++) {
        uint32_t mask = state->steps[i].mask;
        size_t before = 0;
        while (state->steps[before].mask != mask || state->steps[before].seconds <= 0)
            if (++before > i)
                break;
        if (before != i) /* listed already, or not measured */
            continue;
        hac_json_open(t, NULL, '{');
        add_mask_names(t, job->jobs->devices, mask);
        hac_json_open(t, "models", '[');
        for (size_t k = i; k < state->n_steps; k++)
            if (state->steps[k].mask == mask && state->steps[k].seconds > 0)
                add_measurement(t, &state->steps[k]);
        hac_json_close(t, ']');
        hac_json_close(t, '}');
    }
    hac_json_close(t, ']');
}

/* The smallest power of two from which the planner splits, by the present models. */
static uint64_t splits_from(hacd_job *job, hac_type type)
{
    for (unsigned log2 = 10; log2 <= 30; log2++) {
        hac_sort_spec spec = {.type = type, .items = UINT64_C(1) << log2, .device_mask = job->device_mask};
        hac_plan *plan = NULL;
        if (hac_plan_sort(hac_machine_view_now(job->jobs->machine), &spec, &plan, NULL) != HAC_OK)
            return 0;
        size_t devices = plan->n_devices;
        hac_plan_free(plan);
        if (devices > 1)
            return UINT64_C(1) << log2;
    }
    return 0;
}

static uint32_t usable_devices(const hac_devices *devices)
{
    uint32_t mask = 0;
    for (uint32_t i = 0; i < devices->count; i++)
        mask |= hac_device_usable(devices->items[i]) ? 1u << i : 0;
    return mask;
}

/* Whether the planner has more devices than the measured one. */
static bool is_one_of_several(const hacd_job *job)
{
    return __builtin_popcount(job->device_mask) == 1 &&
           (usable_devices(job->jobs->devices) & ~job->device_mask) != 0;
}

static void add_break_even(hac_text *t, hacd_job *job)
{
    bool one_of_several = is_one_of_several(job);
    hac_json_open(t, "break_even", '[');
    for (int type = HAC_TYPE_U32; type < HAC_TYPE_COUNT; type++) {
        uint64_t items = splits_from(job, (hac_type)type);
        char text[160];
        hac_json_open(t, NULL, '{');
        hac_json_string(t, "type", hac_type_name((hac_type)type));
        if (items > 0) {
            hac_json_unsigned(t, "splits_from_items", items);
            snprintf(text, sizeof text, "a sort of %s is split over several devices from %llu items on",
                     hac_type_name((hac_type)type), (unsigned long long)items);
        } else {
            hac_json_null(t, "splits_from_items");
            snprintf(text, sizeof text,
                     one_of_several ? "only one device was measured: when a sort of %s is split is not known"
                                    : "a sort of %s runs on one device at every size",
                     hac_type_name((hac_type)type));
        }
        hac_json_string(t, "text", text);
        hac_json_close(t, '}');
    }
    hac_json_close(t, ']');
}

static void finish_report(hacd_job *job)
{
    hac_text t = HAC_TEXT_NONE;
    hac_json_open(&t, NULL, '{');
    add_measurements(&t, job);
    add_break_even(&t, job);
    hac_json_close(&t, '}');
    free(job->text);
    job->text = NULL;
    if (hac_text_finish(&t, &job->text, NULL, NULL) == HAC_OK && strlen(job->text) >= HAC_INLINE_MAX)
        job->text[HAC_INLINE_MAX - 1] =
            '\0'; /* cannot happen with 16 devices, but a message must never be lost */
}

/* ---- submission --------------------------------------------------------------------------------------- */

static hac_status fill_job(hac_submission *from, hacd_job *job, hac_error *err)
{
    const Hac__Client__SubmitCalibrate *request = from->request->submit_calibrate;
    hac_status status = hac_measurement_devices(job, request, err);
    if (status != HAC_OK)
        return status;
    list_calibration(job->kind_state, job->jobs->devices, job->device_mask);
    snprintf(from->what, sizeof from->what, "calibrate");
    return hac_measurement_take(job, request->query, err);
}

static const hacd_job_kind calibrate_kind = {.flow = HAC_FLOW_CALIBRATE,
                                             .state_bytes = sizeof(calibrate_state),
                                             .fill = fill_job,
                                             .next_plan = next_plan,
                                             .task_done = hac_measurement_task_done,
                                             .did_all = hac_query_run_did_all,
                                             .task_ended = hac_measurement_task_ended,
                                             .task_failed = hac_measurement_task_failed,
                                             .free_state = hac_measurement_free,
                                             .measures = true};

static const uint8_t own_query[] = {
#include "calibration_query_table.inc"
};

static hac_status fill_by_itself(hacd_job *job, uint32_t device, hac_error *err)
{
    calibrate_state *state = job->kind_state = calloc(1, sizeof *state);
    Hac__Client__CompiledQuery *query =
        hac__client__compiled_query__unpack(NULL, sizeof own_query, own_query);
    hac_status status = state == NULL || query == NULL ? hac_fail_no_memory(err) : HAC_OK;
    if (status == HAC_OK) {
        state->by_itself = true;
        list_by_itself(state, job->jobs->devices, device);
        status = hac_measurement_take(job, query, err);
    }
    hac__client__compiled_query__free_unpacked(query, NULL);
    return status;
}

hac_status hacd_job_calibrate_by_itself(hac_jobs *jobs, hac_user *user, uint32_t device, hac_error *err)
{
    hacd_job *job = NULL;
    hac_status status = hacd_job_new(jobs, &calibrate_kind, user, &job, err);
    if (status == HAC_OK) {
        job->by_itself = true;
        job->device_mask = 1u << device;
        job->priority = INT32_MIN;
        status = fill_by_itself(job, device, err);
    }
    if (status != HAC_OK) {
        hacd_job_free(job);
        return status;
    }
    hacd_job_submit(job);
    return HAC_OK;
}

hac_status hacd_job_calibrate_submit(hac_submission *from, hac_error *err)
{
    const Hac__Client__SubmitCalibrate *request = from->request->submit_calibrate;
    return request->tune ? hacd_job_tune_submit(from, err)
                         : hac_submission_submit(from, &calibrate_kind, request->options, err);
}
