/* SPDX-License-Identifier: Apache-2.0 */
/* Plans, status queries, calibration, and administration of hacd. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/type.h"
#include "connection/options.h"
#include "connection/questions.h"
#include "jobs/jobs.h"
#include "ops/ops.h"
#include "query/calibration_query.h"
#include "query/query.h"
#include "sort/sort.h"

enum { SIMULATED_DEVICES_MAX = 16, CAPABILITIES_MAX = 32 };

/* ---- plans ---- */

/* Fills in where the keys would be in a submitted job: the front ends send few keys in the message. */
static hac_status encode_input(const hac_sort_options *options, uint64_t items, Hac__Client__PlanInput *ret,
                               hac_error *err)
{
    uint64_t bytes;
    if (__builtin_mul_overflow(items, hac_type_size(options->type), &bytes))
        bytes = UINT64_MAX; /* hacd reports the error */
    switch (options->plan_input) {
    case HAC_PLAN_INPUT_BUFFER:
        *ret = HAC__CLIENT__PLAN_INPUT__PLAN_INPUT_BUFFER;
        return HAC_OK;
    case HAC_PLAN_INPUT_MEMORY:
        *ret = bytes <= HAC_INLINE_MAX ? HAC__CLIENT__PLAN_INPUT__PLAN_INPUT_DATA
                                       : HAC__CLIENT__PLAN_INPUT__PLAN_INPUT_BUFFER;
        return HAC_OK;
    case HAC_PLAN_INPUT_FILE:
        *ret = hac_sort_file_inline(options, bytes) ? HAC__CLIENT__PLAN_INPUT__PLAN_INPUT_DATA
                                                    : HAC__CLIENT__PLAN_INPUT__PLAN_INPUT_DESCRIPTOR;
        return HAC_OK;
    }
    return hac_fail(err, HAC_INVALID, "plan input %d does not exist", (int)options->plan_input);
}

static hac_status plan_sort(hac_client *client, uint64_t items, const hac_sort_options *options,
                            hac_plan_format format, Hac__Client__PlanSort *plan, char **ret_text,
                            hac_error *err)
{
    hac_sort_options known;
    Hac__Client__SortSpec spec;
    Hac__Client__JobOptions job_options;
    hac_status status = hac_sort_options_read(options, &known, err);
    if (status == HAC_OK)
        status = hac_sort_spec_encode(&known, 0, &spec, err);
    if (status == HAC_OK)
        status = hac_job_options_encode(&known.job, &job_options, err);
    if (status == HAC_OK)
        status = encode_input(&known, items, &plan->input, err);
    if (status != HAC_OK)
        return status;
    if (format > HAC_PLAN_JSON)
        return hac_fail(err, HAC_INVALID, "plan format %d does not exist", (int)format);
    plan->spec = &spec;
    plan->items = items;
    plan->options = &job_options;
    plan->format = (Hac__Client__PlanFormat)format;
    Hac__Client__Request request = HAC__CLIENT__REQUEST__INIT;
    request.what_case = HAC__CLIENT__REQUEST__WHAT_PLAN_SORT;
    request.plan_sort = plan;
    return hac_client_call_text(client, &request, ret_text, err);
}

hac_status hac_explain_sort(hac_client *client, uint64_t items, const hac_sort_options *options,
                            hac_plan_format format, char **ret_text, hac_error *err)
{
    Hac__Client__PlanSort plan = HAC__CLIENT__PLAN_SORT__INIT;
    return plan_sort(client, items, options, format, &plan, ret_text, err);
}

/* The wire form of simulated devices, in one allocation. */
typedef struct simulated_machine {
    Hac__Client__SimulatedDevice *device_at[SIMULATED_DEVICES_MAX];
    Hac__Client__SimulatedDevice device[SIMULATED_DEVICES_MAX];
    Hac__Client__Capability *capability_at[SIMULATED_DEVICES_MAX][CAPABILITIES_MAX];
    Hac__Client__Capability capability[SIMULATED_DEVICES_MAX][CAPABILITIES_MAX];
} simulated_machine;

static bool is_name_or_none(const char *name)
{
    return name == NULL || name[0] == '\0' || hac_is_name(name);
}

static bool is_amount(double value)
{
    return isfinite(value) && value >= 0;
}

static hac_status encode_capabilities(const hac_simulated_device *device, Hac__Client__Capability **at,
                                      Hac__Client__Capability *capability, hac_error *err)
{
    if (device->capability == NULL && device->n_capability > 0)
        return hac_fail(err, HAC_INVALID, "device %s has no list of capabilities", device->name);
    if (device->n_capability > CAPABILITIES_MAX)
        return hac_fail(err, HAC_INVALID, "device %s has %zu capabilities, at most %d can be", device->name,
                        device->n_capability, CAPABILITIES_MAX);
    for (size_t i = 0; i < device->n_capability; i++) {
        const hac_simulated_capability *from = &device->capability[i];
        if (!hac_is_name(from->key) || !is_amount(from->items_per_second))
            return hac_fail(err, HAC_INVALID, "capability %zu of device %s has no key or no rate", i + 1,
                            device->name);
        hac__client__capability__init(&capability[i]);
        capability[i].key = hac_wire_text(from->key);
        capability[i].items_per_second = from->items_per_second;
        at[i] = &capability[i];
    }
    return HAC_OK;
}

static hac_status encode_device(const hac_simulated_device *from, Hac__Client__SimulatedDevice *to,
                                hac_error *err)
{
    if (!hac_is_name(from->name) || !is_name_or_none(from->group) || !is_name_or_none(from->kind))
        return hac_fail(err, HAC_INVALID, "a simulated device has no usable name, group or kind");
    if (!is_amount(from->link_bandwidth) || !is_amount(from->link_latency))
        return hac_fail(err, HAC_INVALID, "the link of device %s is not given in numbers", from->name);
    hac__client__simulated_device__init(to);
    to->name = hac_wire_text(from->name);
    to->group = hac_wire_text(from->group);
    to->kind = hac_wire_text(from->kind);
    to->simt = from->simt != 0;
    to->threads = from->threads;
    to->memory = from->memory;
    to->max_allocation = from->max_allocation;
    to->local_memory = from->local_memory;
    to->max_loop_iterations = from->max_loop_iterations;
    to->block_items = from->block_items;
    to->link_bandwidth = from->link_bandwidth;
    to->link_latency = from->link_latency;
    return HAC_OK;
}

static hac_status encode_machine(const hac_simulated_device *devices, size_t n_devices,
                                 simulated_machine **ret, hac_error *err)
{
    if (n_devices == 0 || n_devices > SIMULATED_DEVICES_MAX)
        return hac_fail(err, HAC_INVALID, "%zu simulated devices are given, 1 to %d can be", n_devices,
                        SIMULATED_DEVICES_MAX);
    size_t stride = devices->size; /* size of the structure in the caller's header */
    if (stride < sizeof(*devices) || stride % _Alignof(hac_simulated_device) != 0)
        return hac_fail(err, HAC_INVALID, "simulated devices need their size set");
    hac_autofree simulated_machine *machine = calloc(1, sizeof(*machine));
    if (machine == NULL)
        return hac_fail_no_memory(err);
    for (size_t i = 0; i < n_devices; i++) {
        const hac_simulated_device *from =
            (const hac_simulated_device *)(const void *)((const char *)devices + i * stride);
        hac_status status = encode_device(from, &machine->device[i], err);
        if (status == HAC_OK)
            status = encode_capabilities(from, machine->capability_at[i], machine->capability[i], err);
        if (status != HAC_OK)
            return status;
        machine->device[i].n_capability = from->n_capability;
        machine->device[i].capability = machine->capability_at[i];
        machine->device_at[i] = &machine->device[i];
    }
    *ret = hac_steal_ptr(machine);
    return HAC_OK;
}

hac_status hac_simulate_sort(hac_client *client, const hac_simulated_device *devices, size_t n_devices,
                             uint64_t items, const hac_sort_options *options, hac_plan_format format,
                             char **ret_text, hac_error *err)
{
    hac_autofree simulated_machine *machine = NULL;
    hac_status status = encode_machine(devices, n_devices, &machine, err);
    if (status != HAC_OK)
        return status;
    Hac__Client__PlanSort plan = HAC__CLIENT__PLAN_SORT__INIT;
    plan.simulate = true;
    plan.n_devices = n_devices;
    plan.devices = machine->device_at;
    return plan_sort(client, items, options, format, &plan, ret_text, err);
}

/* ---- plans of queries ---- */

static hac_status plan_query(hac_client *client, const hac_planned_query *query, hac_plan_format format,
                             Hac__Client__PlanQuery *plan, char **ret_text, hac_error *err)
{
    hac_autofree hac_compiled_query *compiled = NULL;
    hac_autofree hac_query_footers *footers = calloc(1, sizeof(*footers));
    hac_planned_query planned = HAC_PLANNED_QUERY_INIT;
    hac_query_options known, found;
    hac_query_wire wire;
    hac_status status =
        hac_options_read(query, "planned query", "HAC_PLANNED_QUERY_INIT", &planned, sizeof(planned), err);
    if (status == HAC_OK)
        status = hac_query_options_read(planned.options, &known, err);
    if (status == HAC_OK)
        status = hac_query_encode(&known, NULL, &wire, err);
    if (status != HAC_OK)
        return status;
    if (format > HAC_PLAN_JSON)
        return hac_fail(err, HAC_INVALID, "plan format %d does not exist", (int)format);
    if (planned.n_sources == 0 || planned.n_sources > HAC_QUERY_FILES_MAX)
        return hac_fail(err, HAC_INVALID, "%zu sources are given, 1 to %d can be", planned.n_sources,
                        HAC_QUERY_FILES_MAX);
    for (size_t i = 0; i < planned.n_sources; i++)
        if (planned.sources[i] > INT64_MAX)
            return hac_fail(err, HAC_INVALID, "source %zu is larger than can be", i + 1);
    if (footers == NULL)
        return hac_fail_no_memory(err);
    status = planned.fds != NULL ? hac_query_compile_files(client, planned.fds, planned.names,
                                                           planned.n_sources, &known, &compiled, footers, err)
                                 : hac_query_compile_file(client, planned.fd, &known, &compiled, err);
    if (status != HAC_OK)
        return status;
    status = hac_query_encode_found(&known, NULL, compiled, &found, &wire, err);
    if (status != HAC_OK)
        return status;
    wire.spec.compiled = &compiled->message;
    plan->spec = &wire.spec;
    plan->sources = (uint64_t *)(uintptr_t)planned.sources;
    plan->n_sources = planned.n_sources;
    plan->footers = footers->values;
    plan->n_footers = footers->n;
    plan->files_left_out = known.files_left_out;
    plan->options = &wire.options;
    plan->format = (Hac__Client__PlanFormat)format;
    plan->input = HAC__CLIENT__PLAN_INPUT__PLAN_INPUT_DESCRIPTOR;
    plan->splits = known.plan_splits != 0;
    Hac__Client__Request request = HAC__CLIENT__REQUEST__INIT;
    request.what_case = HAC__CLIENT__REQUEST__WHAT_PLAN_QUERY;
    request.plan_query = plan;
    return hac_client_call_text(client, &request, ret_text, err);
}

hac_status hac_explain_query(hac_client *client, const hac_planned_query *query, hac_plan_format format,
                             char **ret_text, hac_error *err)
{
    Hac__Client__PlanQuery plan = HAC__CLIENT__PLAN_QUERY__INIT;
    return plan_query(client, query, format, &plan, ret_text, err);
}

hac_status hac_simulate_query(hac_client *client, const hac_simulated_device *devices, size_t n_devices,
                              const hac_planned_query *query, hac_plan_format format, char **ret_text,
                              hac_error *err)
{
    hac_autofree simulated_machine *machine = NULL;
    hac_status status = encode_machine(devices, n_devices, &machine, err);
    if (status != HAC_OK)
        return status;
    Hac__Client__PlanQuery plan = HAC__CLIENT__PLAN_QUERY__INIT;
    plan.simulate = true;
    plan.n_devices = n_devices;
    plan.devices = machine->device_at;
    return plan_query(client, query, format, &plan, ret_text, err);
}

/* ---- plans of sub-operators ---- */

static hac_status plan_ops(hac_client *client, const hac_ops *ops, hac_plan_format format,
                           Hac__Client__PlanOps *plan, char **ret_text, hac_error *err)
{
    hac_cleanup(hac_ops_wire_free_cleanup) hac_ops_wire *wire = NULL;
    hac_status status = hac_ops_encode(client, ops, true, &wire, err);
    if (status != HAC_OK)
        return status;
    if (format > HAC_PLAN_JSON)
        return hac_fail(err, HAC_INVALID, "plan format %d does not exist", format);
    plan->ops = hac_ops_wire_message(wire);
    plan->sizes = (uint64_t *)(uintptr_t)ops->sizes;
    plan->n_sizes = ops->n_buffers;
    plan->format = (Hac__Client__PlanFormat)format;
    Hac__Client__Request request = HAC__CLIENT__REQUEST__INIT;
    request.what_case = HAC__CLIENT__REQUEST__WHAT_PLAN_OPS;
    request.plan_ops = plan;
    return hac_client_call_text(client, &request, ret_text, err);
}

hac_status hac_explain_ops(hac_client *client, const hac_ops *ops, hac_plan_format format, char **ret_text,
                           hac_error *err)
{
    Hac__Client__PlanOps plan = HAC__CLIENT__PLAN_OPS__INIT;
    return plan_ops(client, ops, format, &plan, ret_text, err);
}

hac_status hac_simulate_ops(hac_client *client, const hac_simulated_device *devices, size_t n_devices,
                            const hac_ops *ops, hac_plan_format format, char **ret_text, hac_error *err)
{
    hac_autofree simulated_machine *machine = NULL;
    hac_status status = encode_machine(devices, n_devices, &machine, err);
    if (status != HAC_OK)
        return status;
    Hac__Client__PlanOps plan = HAC__CLIENT__PLAN_OPS__INIT;
    plan.simulate = true;
    plan.n_devices = n_devices;
    plan.devices = machine->device_at;
    return plan_ops(client, ops, format, &plan, ret_text, err);
}

/* ---- calibration ---- */

hac_status hac_calibrate(hac_client *client, int tune, const hac_job_options *options, hac_job **ret_job,
                         hac_error *err)
{
    static const hac_job_options none;
    Hac__Client__JobOptions job_options;
    hac_autofree hac_compiled_query *query = NULL;
    hac_status status = hac_job_options_encode(options != NULL ? options : &none, &job_options, err);
    if (status == HAC_OK)
        status = hac_calibration_query_compile(&query, err);
    if (status != HAC_OK)
        return status;
    Hac__Client__SubmitCalibrate calibrate = HAC__CLIENT__SUBMIT_CALIBRATE__INIT;
    calibrate.n_devices = job_options.n_devices;
    calibrate.devices = job_options.devices;
    calibrate.tune = tune != 0;
    calibrate.options = &job_options;
    calibrate.query = &query->message;
    Hac__Client__Request request = HAC__CLIENT__REQUEST__INIT;
    request.what_case = HAC__CLIENT__REQUEST__WHAT_SUBMIT_CALIBRATE;
    request.submit_calibrate = &calibrate;
    hac_cleanup(hac_job_unref_cleanup) hac_job *job = NULL;
    status = hac_job_new(client, options, &job, err);
    if (status == HAC_OK)
        status = hac_job_submit(job, &request, NULL, 0, true, err);
    if (status == HAC_OK)
        *ret_job = hac_steal_ptr(job);
    return status;
}

hac_status hac_tuning_revert(hac_client *client, const char *const *devices, size_t n_devices, int all,
                             hac_error *err)
{
    const hac_job_options options = {.devices = devices, .n_devices = n_devices};
    Hac__Client__JobOptions checked;
    Hac__Client__RevertTuning revert = HAC__CLIENT__REVERT_TUNING__INIT;
    Hac__Client__Request request = HAC__CLIENT__REQUEST__INIT;
    hac_status status = hac_job_options_encode(&options, &checked, err);
    if (status != HAC_OK)
        return status;
    revert.devices = checked.devices;
    revert.n_devices = checked.n_devices;
    revert.all = all != 0;
    request.what_case = HAC__CLIENT__REQUEST__WHAT_REVERT_TUNING;
    request.revert_tuning = &revert;
    return hac_client_call(client, &request, HAC__CLIENT__RESPONSE__WHAT_OK, UINT64_MAX, NULL, err);
}

hac_status hac_build_kernels(hac_client *client, const char *device, int fd, char **ret_text, hac_error *err)
{
    Hac__Client__BuildKernels build = HAC__CLIENT__BUILD_KERNELS__INIT;
    Hac__Client__Request request = HAC__CLIENT__REQUEST__INIT;
    hac_reply reply = {0};
    if (!hac_is_name(device))
        return hac_fail(err, HAC_INVALID, "a device's name has 1 to 255 bytes");
    build.device = hac_wire_text(device);
    request.what_case = HAC__CLIENT__REQUEST__WHAT_BUILD_KERNELS;
    request.build_kernels = &build;
    hac_status status =
        hac_client_call_fd(client, &request, fd, HAC__CLIENT__RESPONSE__WHAT_TEXT, &reply, err);
    if (status == HAC_OK)
        *ret_text = reply.text;
    return status;
}

/* ---- outputs that the client writes ---- */

static hac_status call_output(hac_client *client, Hac__Client__Output *output, hac_error *err)
{
    Hac__Client__Request request = HAC__CLIENT__REQUEST__INIT;
    request.what_case = HAC__CLIENT__REQUEST__WHAT_OUTPUT;
    request.output = output;
    return hac_client_call(client, &request, HAC__CLIENT__RESPONSE__WHAT_OK, UINT64_MAX, NULL, err);
}

hac_status hac_output_begin(hac_client *client, uint64_t job, hac_error *err)
{
    Hac__Client__Output output = HAC__CLIENT__OUTPUT__INIT;
    if (job == 0)
        return hac_fail(err, HAC_INVALID, "there is no job 0");
    output.job = job;
    return call_output(client, &output, err);
}

hac_status hac_output_end(hac_client *client, uint64_t job, hac_status how, const char *message,
                          hac_error *err)
{
    Hac__Client__Output output = HAC__CLIENT__OUTPUT__INIT;
    Hac__Client__Failure failure = HAC__CLIENT__FAILURE__INIT;
    hac_error line = HAC_ERROR_NONE; /* the message, truncated to one line */
    if (job == 0 || (unsigned)how > HAC_INTERNAL)
        return hac_fail(err, HAC_INVALID, "the end of job %" PRIu64 " is %d, which is no hac_status", job,
                        (int)how);
    (void)hac_fail(&line, how, "%s",
                   message != NULL && message[0] != '\0' ? message : "the output is not written");
    output.job = job;
    output.ended = 1;
    failure.code = (uint32_t)how;
    failure.message = line.message;
    output.failure = how != HAC_OK ? &failure : NULL;
    return call_output(client, &output, err);
}

/* ---- administration ---- */

hac_status hac_client_drain(hac_client *client, hac_error *err)
{
    Hac__Client__Empty empty = HAC__CLIENT__EMPTY__INIT;
    Hac__Client__Request request = HAC__CLIENT__REQUEST__INIT;
    request.what_case = HAC__CLIENT__REQUEST__WHAT_DRAIN;
    request.drain = &empty;
    return hac_client_call(client, &request, HAC__CLIENT__RESPONSE__WHAT_OK, UINT64_MAX, NULL, err);
}

hac_status hac_client_reload(hac_client *client, hac_error *err)
{
    Hac__Client__Empty empty = HAC__CLIENT__EMPTY__INIT;
    Hac__Client__Request request = HAC__CLIENT__REQUEST__INIT;
    request.what_case = HAC__CLIENT__REQUEST__WHAT_RELOAD;
    request.reload = &empty;
    return hac_client_call(client, &request, HAC__CLIENT__RESPONSE__WHAT_OK, UINT64_MAX, NULL, err);
}
