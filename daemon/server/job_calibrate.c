/* SPDX-License-Identifier: Apache-2.0 */
#include "job_calibrate.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/table.h"
#include "base/type.h"
#include "job_input.h"
#include "job_query.h"
#include "job_sort.h"
#include "server.h"
#include "tuning.h"

#define LARGEST_ITEMS    (UINT64_C(1) << 22)
#define REPEATS          3
#define MIDDLE_KEYS      4096 /* measured more often than few keys or many: models keep medians */
#define MIDDLE_REPEATS   5
#define STEPS_MAX        2048
#define STEP_SECONDS_MAX 2.0 /* larger sizes of a device are left out when one takes longer */

/* One measurement on the devices of `mask`: sort `items` keys of `type`, or group so many rows by so many
 * keys. */
typedef struct calibrate_step {
    uint32_t mask;
    hac_type type;
    uint64_t items;
    hac_sort_algorithm algorithm;
    uint32_t keys;  /* different ones, a power of two; 0: a sort */
    bool kernels;   /* flow C's, else host codelets */
    int setting;    /* tune: index into settings; -1: none */
    double seconds; /* best of the repeats; 0: not run */
} calibrate_step;

typedef struct tune_setting {
    uint32_t device;
    hac_device_tuning tuning;
} tune_setting;

typedef struct calibrate_state {
    bool filled;
    uint32_t keys; /* what the input holds: numbers below it; 0: any */
    calibrate_step steps[STEPS_MAX];
    size_t n_steps, at;
    unsigned repeat;
    bool running; /* steps[at] is being measured */
    double built; /* seconds that the job had waited for kernels before it */
    tune_setting settings[64];
    size_t n_settings;
    hac_device_tuning
        before[HAC_DEVICE_PLACES]; /* settings to go back to if the job does not come to its end */
    bool tuned;
} calibrate_state;

static bool tunes(const hac_job *job)
{
    const calibrate_state *state = job->kind_state;
    return state->n_settings > 0;
}

/* ---- what to measure ---------------------------------------------------------------------------------- */

static void add_step(calibrate_state *state, uint32_t mask, hac_type type, uint64_t items,
                     hac_sort_algorithm algorithm, int setting)
{
    if (state->n_steps < STEPS_MAX)
        state->steps[state->n_steps++] = (calibrate_step){
            .mask = mask, .type = type, .items = items, .algorithm = algorithm, .setting = setting};
}

/* All that a table of few, of some and of many keys has to show: in caches of every level, and beyond. */
static void add_query_steps(calibrate_state *state, uint32_t mask, uint32_t keys, bool kernels)
{
    static const uint64_t rows[] = {1 << 18, 1 << 21};
    for (size_t i = 0; i < sizeof rows / sizeof *rows && state->n_steps < STEPS_MAX; i++)
        state->steps[state->n_steps++] =
            (calibrate_step){.mask = mask, .items = rows[i], .keys = keys, .kernels = kernels, .setting = -1};
}

/* Host codelets run on CPUs, flow C's kernels everywhere. */
static void list_queries(calibrate_state *state, const hac_server *server, uint32_t mask)
{
    static const uint32_t keys[] = {64, MIDDLE_KEYS, 1 << 18};
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
        for (uint32_t i = 0; i < server->devices.count; i++) {
            const hac_server_device *device = server->devices.items[i];
            if (!(mask & (1u << i)) || !hac_device_usable(device))
                continue;
            if (strcmp(hac_device_kind_name(device->config.kind), "cpu") == 0)
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
            add_step(state, mask, (hac_type)type, sizes[k], HAC_SORT_RADIX, -1);
    for (uint64_t items = 65536; items <= LARGEST_ITEMS; items *= 8)
        add_step(state, mask, HAC_TYPE_U32, items, HAC_SORT_BITONIC, -1);
    add_step(state, mask, HAC_TYPE_U64, LARGEST_ITEMS / 4, HAC_SORT_BITONIC, -1);
}

/* Devices whose capabilities add are measured together as well, so that what they share (memory bandwidth)
 * is in the figures: one of each group. */
static uint32_t together_mask(const hac_server *server, uint32_t mask)
{
    uint32_t together = 0;
    for (uint32_t i = 0; i < server->devices.count; i++) {
        bool adds = (mask & (1u << i)) && hac_device_usable(server->devices.items[i]);
        for (uint32_t j = 0; j < i && adds; j++)
            if ((together & (1u << j)) && server->devices.items[i]->group[0] != '\0' &&
                strcmp(server->devices.items[i]->group, server->devices.items[j]->group) == 0)
                adds = false;
        if (adds)
            together |= 1u << i;
    }
    return together;
}

static void list_calibration(calibrate_state *state, const hac_server *server, uint32_t mask)
{
    unsigned devices = 0;
    for (uint32_t i = 0; i < server->devices.count; i++) {
        if (!(mask & (1u << i)) || !hac_device_usable(server->devices.items[i]))
            continue;
        add_device_steps(state, 1u << i);
        devices++;
    }
    uint32_t together = together_mask(server, mask);
    if (devices > 1 && (together & (together - 1)) != 0)
        add_device_steps(state, together);
    list_queries(state, server, mask);
}

static void add_setting(calibrate_state *state, uint32_t device, const hac_device_tuning *tuning)
{
    if (state->n_settings == sizeof state->settings / sizeof *state->settings)
        return;
    state->settings[state->n_settings] = (tune_setting){device, *tuning};
    int setting = (int)state->n_settings++;
    add_step(state, 1u << device, HAC_TYPE_U32, LARGEST_ITEMS, HAC_SORT_RADIX, setting);
    add_step(state, 1u << device, HAC_TYPE_U32, LARGEST_ITEMS, HAC_SORT_BITONIC, setting);
}

/* Thread counts 1 … Nt (all up to 8, then doubling), each unpinned, compact and spread: placements that are
 * equal by symmetry, or the same set of cores, once. */
static void add_threads(calibrate_state *state, uint32_t index, const hac_server_device *device)
{
    uint32_t most = device->compute_units;
    for (uint32_t n = 1; device->free_threads && n < most; n = n < 8 ? n + 1 : 2 * n)
        for (uint32_t placement = HAC_PLACEMENT_ANY; placement <= HAC_PLACEMENT_SPREAD; placement++)
            if (placement != HAC_PLACEMENT_SPREAD || n > 1)
                add_setting(state, index, &(hac_device_tuning){.threads = n, .placement = placement});
    if (device->free_placement)
        add_setting(state, index, &(hac_device_tuning){.placement = HAC_PLACEMENT_COMPACT});
}

static void add_kernel_settings(calibrate_state *state, uint32_t index, const hac_server_device *device)
{
    if (device->free_style)
        add_setting(
            state, index,
            &(hac_device_tuning){.style = device->simt ? HAC_STYLE_CHOICE_BLOCK : HAC_STYLE_CHOICE_SIMT});
    for (uint32_t block = 1u << 14; device->free_block_items && !device->simt && block <= 1u << 17;
         block *= 2)
        add_setting(state, index, &(hac_device_tuning){.block_items = block});
    for (uint32_t group = 64; device->free_work_group && device->simt && group <= device->max_work_group;
         group *= 2)
        add_setting(state, index, &(hac_device_tuning){.work_group = group});
}

/* The settings as profile and driver have them, then one value changed at a time. What the profile fixes is
 * left alone: that is how a tuned value is switched off. */
static void list_tuning(calibrate_state *state, const hac_server *server, uint32_t mask)
{
    for (uint32_t i = 0; i < server->devices.count; i++) {
        const hac_server_device *device = server->devices.items[i];
        if (!(mask & (1u << i)) || !hac_device_usable(device))
            continue;
        add_setting(state, i, &(hac_device_tuning){0});
        if (strcmp(device->type, "cpu") == 0)
            add_threads(state, i, device);
        add_kernel_settings(state, i, device);
    }
}

/* ---- plans -------------------------------------------------------------------------------------------- */

/* The job's input buffer is filled with random bytes by an executor, with numbers below `keys` where that is
 * not 0. */
static hac_status plan_fill(hac_job *job, uint32_t keys, hac_plan **ret, hac_error *err)
{
    uint64_t mask = keys == 0 ? UINT64_MAX : (uint64_t)(keys - 1) << 32 | (keys - 1);
    hac_plan *plan = NULL;
    uint8_t buffer = 0;
    uint32_t index = 0;
    hac_status status = hac_plan_new("calibrate", &plan, err);
    if (status == HAC_OK)
        status = hac_plan_add_buffer(plan, "in", HAC_BUFFER_INPUT, LARGEST_ITEMS * 8, &buffer, err);
    if (status != HAC_OK) {
        hac_plan_free(plan);
        return status;
    }
    for (uint32_t i = 0; i < job->server->devices.count && plan->n_devices == 0; i++) {
        if (!(job->device_mask & ~job->excluded & (1u << i)))
            continue;
        snprintf(plan->devices[0].name, sizeof plan->devices[0].name, "%s",
                 job->server->devices.items[i]->config.name);
        plan->devices[0].machine_index = i;
        plan->devices[0].share = 1;
        plan->n_devices = 1;
    }
    if (plan->n_devices == 0) {
        hac_plan_free(plan);
        return hac_fail(err, HAC_FAILED, "no device is left to measure");
    }
    hac_plan_task task = {.codelet = "data.random",
                          .type = HAC_TYPE_U64,
                          .count = LARGEST_ITEMS,
                          .device_mask = 1,
                          .repeatable = true,
                          .n_spans = 1,
                          .n_params = 2,
                          .params = {1, mask},
                          .stage = "random keys",
                          .spans = {{.buffer = buffer, .access = HAC_PLAN_WRITE, .bytes = LARGEST_ITEMS * 8}},
                          .units = (double)LARGEST_ITEMS,
                          .predicted_seconds = 0.05};
    status = hac_plan_add_task(plan, &task, NULL, 0, &index, err);
    if (status != HAC_OK) {
        hac_plan_free(plan);
        return status;
    }
    *ret = plan;
    return HAC_OK;
}

static hac_status plan_step(hac_job *job, const calibrate_step *step, hac_plan **ret, hac_error *err)
{
    hac_sort_spec spec = {
        .type = step->type, .items = step->items, .algorithm = step->algorithm, .device_mask = step->mask};
    if (step->mask & job->excluded)
        return hac_fail(err, HAC_FAILED, "a device of this measurement has failed; see above");
    job->spec.items = step->items;
    job->spec.type = step->type;
    return hac_plan_sort(hac_server_machine(job->server), &spec, ret, err);
}

/* A query over two columns in the input, k and v: keys are counted and v is added up. */
static hac_status begin_query(hac_job *job, const calibrate_step *step, hac_error *err)
{
    Hac__Client__QueryTable table = HAC__CLIENT__QUERY_TABLE__INIT;
    Hac__Client__TableColumn columns[2], *pointers[] = {&columns[0], &columns[1]};
    static const char *const names[] = {"k", "v"};
    for (size_t i = 0; i < 2; i++) {
        hac__client__table_column__init(&columns[i]);
        columns[i].name = (char *)(uintptr_t)names[i];
        columns[i].kind = i == 0 ? HAC_KIND_U32 : HAC_KIND_I32;
        columns[i].values = i * 4 * step->items;
        columns[i].validity = columns[i].bytes = HAC_TABLE_NONE;
    }
    table.rows = step->items;
    table.columns = pointers;
    table.n_columns = 2;
    const hac_query_over query = {&table, 8 * step->items, step->keys, "k", "count() as c, sum(v) as s"};
    return hac_query_run_begin(job, &query, step->kernels, err);
}

/* The query's next plan; HAC_NOT_FOUND: it is done. HAC_UNSUPPORTED: not in the way that is to be measured.
 */
static hac_status plan_query(hac_job *job, const calibrate_step *step, hac_error *err)
{
    if (step->mask & job->excluded)
        return hac_fail(err, HAC_UNSUPPORTED, "a device of this measurement has failed; see above");
    hac_status status = hac_query_run_next_plan(job, step->mask, err);
    const char *way = status == HAC_OK ? job->plan->query.way : "";
    if (way[0] == '\0' || strcmp(way, step->kernels ? "device" : "host") == 0)
        return status;
    return hac_fail(err, HAC_UNSUPPORTED, "flow C's kernels cannot run on %s",
                    job->server->devices.items[__builtin_ctz(step->mask)]->config.name);
}

/* Sorts replace the plan that is there, a query's the one that it made itself. */
static hac_status begin_step(hac_job *job, const calibrate_step *step, hac_error *err)
{
    hac_plan *plan = NULL;
    hac_query_run_end(job);
    hac_status status = step->keys != 0 ? begin_query(job, step, err) : plan_step(job, step, &plan, err);
    if (status == HAC_OK && step->keys != 0)
        return plan_query(job, step, err);
    if (status == HAC_OK)
        hac_job_set_plan(job, plan);
    return status;
}

/* A device that took too long at one size is not asked for larger ones of that type. */
static bool too_slow(const calibrate_state *state, const calibrate_step *step)
{
    for (size_t i = 0; i < state->at; i++) {
        const calibrate_step *before = &state->steps[i];
        if (before->mask == step->mask && before->algorithm == step->algorithm &&
            before->setting == step->setting && before->items < step->items && before->keys == step->keys &&
            before->kernels == step->kernels && before->seconds > STEP_SECONDS_MAX / 16)
            return true;
    }
    return false;
}

static void note_measurement(hac_job *job, calibrate_state *state)
{
    calibrate_step *step = &state->steps[state->at];
    double seconds = hac_seconds_since(job->run.started_ns);
    bool waited = job->build_seconds > state->built;
    state->built = job->build_seconds;
    if (waited) /* for kernels, which says nothing of the device: once more */
        return;
    if (step->seconds == 0 || seconds < step->seconds)
        step->seconds = seconds;
    unsigned repeats = step->keys == MIDDLE_KEYS ? MIDDLE_REPEATS : REPEATS;
    if (++state->repeat < repeats && seconds < STEP_SECONDS_MAX)
        return;
    state->repeat = 0;
    state->at++;
}

static void apply_setting(hac_job *job, int index)
{
    const calibrate_state *state = job->kind_state;
    if (index < 0)
        return;
    hac_tuning_apply(job->server, state->settings[index].device, &state->settings[index].tuning);
}

static void finish_report(hac_job *job);

static hac_status fill(hac_job *job, uint32_t keys, hac_error *err)
{
    calibrate_state *state = job->kind_state;
    hac_plan *plan = NULL;
    hac_status status = plan_fill(job, keys, &plan, err);
    if (status != HAC_OK)
        return status;
    state->filled = true;
    state->keys = keys;
    hac_job_set_plan(job, plan);
    return HAC_OK;
}

static void leave_out(hac_job *job, const char *why)
{
    calibrate_state *state = job->kind_state;
    hac_job_note(job, "left out: %s", why);
    state->running = false;
    state->repeat = 0;
    state->at++;
}

/* A plan of the step that runs has been executed. HAC_NOT_FOUND: that was the last one, or it is left out. */
static hac_status go_on(hac_job *job)
{
    calibrate_state *state = job->kind_state;
    const calibrate_step *step = &state->steps[state->at];
    hac_error reason = HAC_ERROR_NONE;
    hac_status status = step->keys != 0 ? plan_query(job, step, &reason) : HAC_NOT_FOUND;
    if (status == HAC_NOT_FOUND && !job->restart)
        note_measurement(job, state);
    else if (status != HAC_OK && status != HAC_NOT_FOUND)
        leave_out(job, reason.message);
    return status == HAC_OK ? HAC_OK : HAC_NOT_FOUND;
}

static hac_status next_plan(hac_job *job, hac_error *err)
{
    calibrate_state *state = job->kind_state;
    if (!state->filled || (job->restart && !state->running))
        return fill(job, state->keys, err);
    if (state->running && go_on(job) == HAC_OK)
        return HAC_OK;
    state->running = false;
    while (state->at < state->n_steps) {
        const calibrate_step *step = &state->steps[state->at];
        hac_error reason = HAC_ERROR_NONE;
        if (too_slow(state, step)) {
            state->at++;
            state->repeat = 0;
            continue;
        }
        if (state->keys != step->keys)
            return fill(job, step->keys, err);
        apply_setting(job, step->setting);
        if (begin_step(job, step, &reason) == HAC_OK) {
            state->running = true;
            return HAC_OK;
        }
        leave_out(job, reason.message);
    }
    hac_query_run_end(job);
    finish_report(job);
    return HAC_NOT_FOUND;
}

/* ---- what tasks report -------------------------------------------------------------------------------- */

static void task_done(hac_job *job, uint32_t task, const Hac__Executor__Done *done)
{
    if (job->query != NULL)
        hac_query_run_task_done(job, task, done);
    else
        hac_job_sort_trim(job, task, done);
}

static hac_status task_ended(hac_job *job, uint32_t task, hac_error *err)
{
    return job->query != NULL ? hac_query_run_task_ended(job, task, err) : HAC_OK;
}

static bool task_failed(hac_job *job, uint32_t task, const Hac__Executor__Done *done)
{
    return job->query != NULL && hac_query_run_task_failed(job, task, done);
}

/* ---- reports ------------------------------------------------------------------------------------------ */

static void add_mask_names(hac_text *t, const hac_server *server, uint32_t mask)
{
    char names[256] = "";
    size_t used = 0;
    for (uint32_t i = 0; i < server->devices.count && used < sizeof names; i++)
        if (mask & (1u << i))
            used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", used ? " + " : "",
                                     server->devices.items[i]->config.name);
    hac_json_string(t, "name", names);
}

static void add_measurement(hac_text *t, const calibrate_step *step)
{
    hac_json_open(t, NULL, '{');
    if (step->keys != 0) {
        hac_json_string(t, "codelet", step->kernels ? "hash.aggregate" : "query.aggregate");
        hac_json_unsigned(t, "keys", step->keys);
    } else {
        hac_json_string(t, "codelet", step->algorithm == HAC_SORT_RADIX ? "sort" : "bitonic");
        hac_json_string(t, "type", hac_type_name(step->type));
    }
    hac_json_unsigned(t, "items", step->items);
    hac_json_number(t, "seconds", step->seconds);
    hac_json_number(t, "items_per_second", (double)step->items / step->seconds);
    hac_json_close(t, '}');
}

static void add_measurements(hac_text *t, const hac_job *job)
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
        add_mask_names(t, job->server, mask);
        hac_json_open(t, "models", '[');
        for (size_t k = i; k < state->n_steps; k++)
            if (state->steps[k].mask == mask && state->steps[k].seconds > 0)
                add_measurement(t, &state->steps[k]);
        hac_json_close(t, ']');
        hac_json_close(t, '}');
    }
    hac_json_close(t, ']');
}

/* The smallest power of two from which the planner splits, by the models as they are now. */
static uint64_t splits_from(hac_job *job, hac_type type)
{
    for (unsigned log2 = 10; log2 <= 30; log2++) {
        hac_sort_spec spec = {.type = type, .items = UINT64_C(1) << log2, .device_mask = job->device_mask};
        hac_plan *plan = NULL;
        if (hac_plan_sort(hac_server_machine(job->server), &spec, &plan, NULL) != HAC_OK)
            return 0;
        size_t devices = plan->n_devices;
        hac_plan_free(plan);
        if (devices > 1)
            return UINT64_C(1) << log2;
    }
    return 0;
}

static uint32_t usable_devices(const hac_server *server)
{
    uint32_t mask = 0;
    for (uint32_t i = 0; i < server->devices.count; i++)
        mask |= hac_device_usable(server->devices.items[i]) ? 1u << i : 0;
    return mask;
}

/* Whether the planner has more devices than the one that was measured. */
static bool is_one_of_several(const hac_job *job)
{
    return __builtin_popcount(job->device_mask) == 1 &&
           (usable_devices(job->server) & ~job->device_mask) != 0;
}

static void add_break_even(hac_text *t, hac_job *job)
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

/* Product of both algorithms' times under a setting; 0: one of them was not measured. */
static double setting_product(const calibrate_state *state, size_t setting)
{
    double product = 1;
    for (size_t i = 0; i < state->n_steps; i++)
        if (state->steps[i].setting == (int)setting)
            product *= state->steps[i].seconds;
    return product;
}

static bool is_default(const calibrate_state *state, int setting)
{
    static const hac_device_tuning none = {0, 0, 0, 0, 0};
    return memcmp(&state->settings[setting].tuning, &none, sizeof none) == 0;
}

/* The best setting of a device; the first one, as things were, unless another wins by 4 % over both
 * algorithms: noise is no reason. -1: nothing was measured. */
static int best_setting(const calibrate_state *state, uint32_t device)
{
    int best = -1;
    double best_product = 0;
    for (size_t s = 0; s < state->n_settings; s++) {
        double product = setting_product(state, s);
        if (state->settings[s].device != device || product <= 0)
            continue;
        if (best < 0 || product < best_product * (is_default(state, best) ? 0.96 : 1.0)) {
            best = (int)s;
            best_product = product;
        }
    }
    return best;
}

static void add_tuning(hac_text *t, const calibrate_state *state, size_t setting)
{
    static const char *const placements[] = {"any", "compact", "spread"}, *const styles[] = {"auto", "block",
                                                                                             "simt"};
    const hac_device_tuning *tuning = &state->settings[setting].tuning;
    hac_json_unsigned(t, "threads", tuning->threads);
    hac_json_string(t, "placement", placements[tuning->placement]);
    hac_json_string(t, "style", styles[tuning->style]);
    hac_json_unsigned(t, "block_items", tuning->block_items);
    hac_json_unsigned(t, "work_group", tuning->work_group);
    for (size_t i = 0; i < state->n_steps; i++)
        if (state->steps[i].setting == (int)setting)
            hac_json_number(t,
                            state->steps[i].algorithm == HAC_SORT_RADIX ? "sort_seconds" : "bitonic_seconds",
                            state->steps[i].seconds);
}

static void add_tuned(hac_text *t, hac_job *job)
{
    const calibrate_state *state = job->kind_state;
    hac_json_open(t, "tuned", '[');
    for (uint32_t d = 0; d < job->server->devices.count; d++) {
        int best = best_setting(state, d);
        if (best < 0)
            continue;
        apply_setting(job, best);
        hac_tuning_keep(job->server, d);
        hac_json_open(t, NULL, '{');
        hac_json_string(t, "name", job->server->devices.items[d]->config.name);
        add_tuning(t, state, (size_t)best);
        hac_json_open(t, "tried", '[');
        for (size_t s = 0; s < state->n_settings; s++) {
            if (state->settings[s].device != d || setting_product(state, s) <= 0)
                continue;
            hac_json_open(t, NULL, '{');
            add_tuning(t, state, s);
            hac_json_close(t, '}');
        }
        hac_json_close(t, ']');
        hac_json_close(t, '}');
    }
    hac_json_close(t, ']');
}

static void finish_report(hac_job *job)
{
    hac_text t = HAC_TEXT_NONE;
    hac_json_open(&t, NULL, '{');
    if (tunes(job)) {
        add_tuned(&t, job);
        ((calibrate_state *)job->kind_state)->tuned = true;
    } else {
        add_measurements(&t, job);
        add_break_even(&t, job);
    }
    hac_json_close(&t, '}');
    free(job->text);
    job->text = NULL;
    if (hac_text_finish(&t, &job->text, NULL, NULL) == HAC_OK && strlen(job->text) >= HAC_INLINE_MAX)
        job->text[HAC_INLINE_MAX - 1] =
            '\0'; /* cannot happen with 16 devices; a message must never be lost */
}

/* A cancelled or failed search leaves nothing behind. */
static void restore_settings(hac_job *job)
{
    const calibrate_state *state = job->kind_state;
    for (uint32_t i = 0; !state->tuned && i < job->server->devices.count; i++)
        if (job->device_mask & (1u << i))
            hac_tuning_apply(job->server, i, &state->before[i]);
}

static void free_state(hac_job *job)
{
    hac_query_run_end(job);
    free(job->kind_state);
}

/* ---- submission --------------------------------------------------------------------------------------- */

static const hac_job_kind calibrate_kind = {.flow = "calibrate",
                                            .next_plan = next_plan,
                                            .task_done = task_done,
                                            .did_all = hac_query_run_did_all,
                                            .task_ended = task_ended,
                                            .task_failed = task_failed,
                                            .free_state = free_state,
                                            .sends_data = true,
                                            .measures = true};
static const hac_job_kind tune_kind = {.flow = "tune",
                                       .next_plan = next_plan,
                                       .task_done = hac_job_sort_trim,
                                       .free_state = free_state,
                                       .ended = restore_settings,
                                       .measures = true};

static hac_status fill_job(hac_session *session, hac_job *job, const Hac__Client__SubmitCalibrate *request,
                           hac_error *err)
{
    hac_server *server = session->server;
    calibrate_state *state = job->kind_state;
    hac_status status =
        hac_devices_mask(&server->devices, request->devices, request->n_devices, &job->device_mask, err);
    if (status != HAC_OK)
        return status;
    if (request->n_devices == 0)
        job->device_mask = usable_devices(server);
    if (job->device_mask == 0)
        return hac_fail(err, HAC_FAILED, "no device is usable: %s", server->devices.problem);
    if (request->tune)
        list_tuning(state, server, job->device_mask);
    else
        list_calibration(state, server, job->device_mask);
    if (request->options != NULL) {
        job->detached = request->options->detach;
        job->progress = request->options->progress && !job->detached;
        job->priority = request->options->priority;
        job->deadline_seconds = request->options->deadline_seconds;
        job->memory_limit = request->options->memory_limit;
    }
    for (uint32_t i = 0; i < server->devices.count; i++)
        state->before[i] = server->devices.items[i]->tuning;
    return hac_pool_alloc(job->user, LARGEST_ITEMS * 8, false, &job->input, err);
}

hac_status hac_job_calibrate_submit(hac_session *session, uint64_t serial,
                                    const Hac__Client__SubmitCalibrate *request, hac_error *err)
{
    hac_job *job = NULL;
    hac_status status = hac_job_begin(session, request->tune ? &tune_kind : &calibrate_kind,
                                      sizeof(calibrate_state), &job, err);
    if (status == HAC_OK)
        status = fill_job(session, job, request, err);
    if (status != HAC_OK) {
        hac_job_free(job);
        return status;
    }
    job->owner = job->detached ? NULL : session;
    hac_session_send_accepted(session, serial, job);
    hac_job_submit(job);
    return HAC_OK;
}
