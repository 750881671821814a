/* SPDX-License-Identifier: Apache-2.0 */
#include "samples.h"

#include <hac/type.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

const char *const hac_sample_kind_names[HAC_SAMPLE_KINDS] = {"request", "response", "command", "report"};

static char name_cpu[] = "cpu.0", name_key[] = "sort.u32", name_file[] = "na\xc3\xafve.bin",
            name_stage[] = "merge 17";
static char op_map[] = "op.map", op_reduce[] = "op.reduce";
static char name_software[] = "hacctl 0.1.0", name_path[] = "/var/cache/hac",
            name_codelet[] = "radix.scatter";
static char name_word[] = "word", source_options[] = "\4\x08\1\0\0\0\0\0\0\0";
static char name_text[] = "cpu.0: lost; running it again on cpu.1", name_hash[] = "0123456789abcdef";

static void client_parts_init(hac_sample_client *c)
{
    hac__client__request__init(&c->request);
    hac__client__response__init(&c->response);
    hac__client__hello__init(&c->hello);
    hac__client__buffer_alloc__init(&c->alloc);
    hac__client__buffer_grow__init(&c->grow);
    hac__client__buffer_release__init(&c->release);
    hac__client__submit_sort__init(&c->sort);
    hac__client__sort_spec__init(&c->spec);
    hac__client__input__init(&c->input);
    hac__client__input__init(&c->payload);
    hac__client__job_options__init(&c->options);
    hac__client__plan_sort__init(&c->plan);
    hac__client__simulated_device__init(&c->device);
    hac__client__capability__init(&c->capability);
    hac__client__query__init(&c->query);
    hac__client__job_ref__init(&c->job);
    hac__client__submit_calibrate__init(&c->calibrate);
    hac__client__revert_tuning__init(&c->revert);
    hac__client__more_text__init(&c->more_text);
    c->more_text.text = 7;
    c->more_text.offset = HAC_INLINE_MAX;
    hac__client__build_kernels__init(&c->build_kernels);
    hac__client__submit_query__init(&c->submit_query);
    hac__client__append_split__init(&c->split);
    hac__client__plan_query__init(&c->plan_query);
    hac__client__submit_ops__init(&c->submit_ops);
    hac__client__plan_ops__init(&c->plan_ops);
    hac__client__append_graph__init(&c->append_graph);
    hac__client__output__init(&c->output);
    hac__client__op_task__init(&c->op_task);
    hac__client__op_task__init(&c->second_op);
    hac__client__op_span__init(&c->op_span);
    hac__client__query_spec__init(&c->query_spec);
    hac__client__query_source__init(&c->source);
    hac__client__compiled_query__init(&c->compiled);
    hac__client__query_method__init(&c->method);
    hac__client__empty__init(&c->empty);
    hac__client__failure__init(&c->failure);
    hac__client__buffer__init(&c->buffer);
    hac__client__job_accepted__init(&c->accepted);
    hac__client__job_event__init(&c->event);
    hac__client__job_done__init(&c->done);
    hac__client__split_done__init(&c->split_done);
    hac__client__graph_done__init(&c->graph_done);
    hac__client__text__init(&c->text);
}

static void client_lists_init(hac_sample_client *c)
{
    for (size_t i = 0; i < COUNT(c->devices); i++)
        c->devices[i] = &c->device;
    for (size_t i = 0; i < COUNT(c->capabilities); i++)
        c->capabilities[i] = &c->capability;
    for (size_t i = 0; i < COUNT(c->inputs); i++)
        c->inputs[i] = &c->input;
    for (size_t i = 0; i < COUNT(c->op_tasks); i++)
        c->op_tasks[i] = i == 0 ? &c->op_task : &c->second_op;
    for (size_t i = 0; i < COUNT(c->op_spans); i++)
        c->op_spans[i] = &c->op_span;
    for (size_t i = 0; i < COUNT(c->op_buffers); i++)
        c->op_buffers[i] = (uint32_t)i + 1;
    for (size_t i = 0; i < COUNT(c->sources); i++)
        c->sources[i] = i;
    for (size_t i = 0; i < COUNT(c->names); i++)
        c->names[i] = name_cpu;
    for (size_t i = 0; i < COUNT(c->steps); i++)
        c->steps[i] = (uint32_t)i + 1;
    for (size_t i = 0; i < COUNT(c->data); i++)
        c->data[i] = (uint8_t)(i * 7);
}

static void client_requests_init(hac_sample_client *c)
{
    c->request.serial = 1;
    c->hello.version = HAC_CLIENT_PROTOCOL_VERSION;
    c->hello.software = name_software;
    c->alloc.bytes = 1 << 20;
    c->grow.buffer = 3;
    c->grow.bytes = 1 << 21;
    c->release.buffer = 3;
    c->spec.type = HAC_TYPE_F64;
    c->spec.fold = 2;
    c->spec.fold_steps = c->steps;
    c->spec.n_fold_steps = 3;
    c->input.where_case = c->payload.where_case = HAC__CLIENT__INPUT__WHERE_BUFFER;
    c->input.buffer = 1;
    c->input.offset = 128;
    c->input.bytes = 4096;
    c->input.name = name_file;
    c->payload.buffer = 2;
    c->payload.bytes = 8192;
    c->options.devices = c->names;
    c->options.n_devices = 2;
    c->options.priority = -100;
    c->options.deadline_seconds = 1.5;
    c->options.determinism = 1;
    c->sort.spec = &c->spec;
    c->sort.input = &c->input;
    c->sort.options = &c->options;
    c->device.name = name_cpu;
    c->device.threads = 2;
    c->device.capability = c->capabilities;
    c->device.n_capability = 1;
    c->capability.key = name_key;
    c->capability.items_per_second = 1.2e8;
    c->plan.spec = &c->spec;
    c->plan.items = 1000000;
    c->plan.options = &c->options;
    c->plan.simulate = 1;
    c->plan.devices = c->devices;
    c->plan.n_devices = 2;
    c->query.topic = HAC__CLIENT__TOPIC__TOPIC_TUNING;
    c->query.format = HAC__CLIENT__PLAN_FORMAT__PLAN_JSON;
    c->job.job = 17;
    c->calibrate.options = &c->options;
    c->calibrate.query = &c->compiled;
    c->build_kernels.device = name_cpu;
}

static void client_queries_init(hac_sample_client *c)
{
    c->source.format = 2; /* csv */
    c->source.options = (ProtobufCBinaryData){sizeof source_options - 1, (uint8_t *)source_options};
    c->compiled.query = (ProtobufCBinaryData){sizeof name_hash - 1, (uint8_t *)name_hash};
    c->compiled.flags = 5;
    c->compiled.keys = 1;
    c->compiled.group_bytes = 48;
    c->compiled.output_bytes = 30;
    c->compiled.output_max = 60;
    c->compiled.shape = 7;
    c->compiled.same = 8;
    c->method.hot_keys = 1;
    c->method.sample = 50;
    c->method.hot_share = 100;
    c->query_spec.compiled = &c->compiled;
    c->query_spec.limit = 10;
    c->query_spec.has_limit = 1;
    c->query_spec.source = &c->source;
    c->query_spec.method = &c->method;
    c->submit_query.spec = c->plan_query.spec = &c->query_spec;
    c->submit_query.options = c->plan_query.options = &c->options;
    c->submit_query.inputs = c->inputs;
    c->submit_query.n_inputs = 1;
    c->split.job = 17;
    c->split.buffer = 3;
    c->split.bytes = 1 << 20;
    c->split.sets = 4;
    c->split.set_bytes = 1 << 18;
    c->split.name = name_file;
    c->plan_query.sources = c->sources;
    c->plan_query.n_sources = 3;
}

/* A map over two devices, and a sum behind it. */
static void client_ops_init(hac_sample_client *c)
{
    c->op_span.buffer = 1;
    c->op_span.bytes = 1 << 20;
    c->op_span.written = 1;
    c->op_task.codelet = op_map;
    c->op_task.name = name_word;
    c->op_task.type = HAC_TYPE_F64;
    c->op_task.count = 1 << 17;
    c->op_task.grain = 4096;
    c->op_task.spans = c->op_spans;
    c->op_task.n_spans = 2;
    c->op_task.call = (ProtobufCBinaryData){200, c->data};
    c->op_task.units = 1 << 17;
    c->op_task.memory = 1 << 21;
    c->op_task.pin = name_cpu;
    c->op_task.host = true;
    c->second_op.codelet = op_reduce;
    c->second_op.call = c->op_task.call;
    c->second_op.after = c->op_after;
    c->second_op.n_after = 1;
    c->submit_ops.name = name_word;
    c->submit_ops.buffers = c->op_buffers;
    c->submit_ops.n_buffers = 2;
    c->submit_ops.tasks = c->op_tasks;
    c->submit_ops.n_tasks = 2;
    c->submit_ops.options = &c->options;
    c->submit_ops.policy = HAC__CLIENT__OP_POLICY__OP_POLICY_RULE;
    c->submit_ops.threshold = 1 << 20;
    c->plan_ops.ops = &c->submit_ops;
    c->plan_ops.sizes = c->sources;
    c->plan_ops.n_sizes = 2;
    c->append_graph.job = 17;
    c->append_graph.graph = &c->submit_ops;
    c->append_graph.log = name_word;
    c->output.job = 17;
    c->output.ended = 1;
    c->output.failure = &c->failure;
}

void hac_sample_client_init(hac_sample_client *c)
{
    memset(c, 0, sizeof *c);
    client_parts_init(c);
    client_lists_init(c);
    client_requests_init(c);
    client_queries_init(c);
    client_ops_init(c);
    c->response.serial = 1;
    c->failure.code = HAC_FAILED;
    c->failure.message = name_text;
    c->failure.retry_after_seconds = 0.5;
    c->buffer.buffer = 3;
    c->buffer.bytes = 1 << 20;
    c->accepted.job = 17;
    c->event.job = 17;
    c->event.state = HAC__CLIENT__JOB_STATE__JOB_RUNNING;
    c->event.fraction = 1;
    c->event.stage = name_stage;
    c->event.eta_seconds = -1;
    c->event.note = name_text;
    c->done.job = 17;
    c->done.state = HAC__CLIENT__JOB_STATE__JOB_DONE;
    c->done.result_case = HAC__CLIENT__JOB_DONE__RESULT_DATA;
    c->done.data = (ProtobufCBinaryData){4096, c->data};
    c->done.result_bytes = 4096;
    c->split_done.job = 17;
    c->split_done.split = 3;
    c->graph_done.job = 17;
    c->graph_done.graph = 3;
    c->graph_done.values = (ProtobufCBinaryData){10, c->data};
    c->text.text = (ProtobufCBinaryData){100, c->data};
    c->text.bytes = 100;
}

static void executor_parts_init(hac_sample_executor *e)
{
    hac__executor__command__init(&e->command);
    hac__executor__report__init(&e->report);
    hac__executor__setup__init(&e->setup);
    hac__executor__buffer_add__init(&e->buffer_add);
    hac__executor__buffer_remove__init(&e->buffer_remove);
    hac__executor__descriptor_add__init(&e->descriptor_add);
    hac__executor__descriptor_remove__init(&e->descriptor_remove);
    hac__executor__run__init(&e->run);
    hac__executor__span__init(&e->span);
    hac__executor__build__init(&e->build);
    hac__executor__ping__init(&e->ping);
    hac__executor__nothing__init(&e->nothing);
    hac__executor__device_facts__init(&e->facts);
    hac__executor__probe_report__init(&e->probe);
    hac__executor__ready__init(&e->ready);
    hac__executor__done__init(&e->done);
    hac__executor__built__init(&e->built);
    hac__executor__build_end__init(&e->build_end);
    hac__executor__image__init(&e->image);
    hac__executor__pong__init(&e->pong);
}

static void executor_lists_init(hac_sample_executor *e)
{
    for (size_t i = 0; i < COUNT(e->spans); i++)
        e->spans[i] = &e->span;
    for (size_t i = 0; i < COUNT(e->devices); i++)
        e->devices[i] = &e->facts;
    for (size_t i = 0; i < COUNT(e->affinity); i++)
        e->affinity[i] = (uint32_t)i;
    for (size_t i = 0; i < COUNT(e->numbers); i++)
        e->numbers[i] = UINT64_MAX - i;
    for (size_t i = 0; i < COUNT(e->names); i++)
        e->names[i] = name_codelet;
    for (size_t i = 0; i < COUNT(e->data); i++)
        e->data[i] = (uint8_t)(i * 11);
}

void hac_sample_executor_init(hac_sample_executor *e)
{
    memset(e, 0, sizeof *e);
    executor_parts_init(e);
    executor_lists_init(e);
    e->setup.version = HAC_EXECUTOR_PROTOCOL_VERSION;
    e->setup.device_name = name_cpu;
    e->setup.affinity = e->affinity;
    e->setup.n_affinity = 2;
    e->setup.slowdown = 1;
    e->setup.program_directory = name_path;
    e->setup.scratch_directory = name_path;
    e->buffer_add.buffer = 1;
    e->buffer_add.bytes = 4096;
    e->descriptor_add.descriptor = 9;
    e->descriptor_remove.descriptor = 9;
    e->span.buffer = 1;
    e->span.offset = 64;
    e->span.bytes = 1024;
    e->run.task = 5;
    e->run.codelet = name_codelet;
    e->run.type = HAC_TYPE_U32;
    e->run.count = 10;
    e->run.spans = e->spans;
    e->run.n_spans = 2;
    e->run.params = e->numbers;
    e->run.n_params = 3;
    e->run.then = e->names;
    e->run.n_then = 2;
    e->run.data = (ProtobufCBinaryData){4096, e->data};
    e->build.programs = e->names;
    e->build.n_programs = 2;
    e->ping.serial = e->pong.serial = 4;
    e->facts.platform = e->facts.vendor = e->facts.device = name_cpu;
    e->facts.global_memory = UINT64_C(1) << 34;
    e->facts.kernel_hash = name_hash;
    e->probe.devices = e->devices;
    e->probe.n_devices = 2;
    e->ready.facts = &e->facts;
    e->done.task = 5;
    e->done.seconds = 0.25;
    e->done.values = e->numbers;
    e->done.n_values = 2;
    e->done.data = (ProtobufCBinaryData){4096, e->data};
    e->done.needs_programs = e->names;
    e->done.n_needs_programs = 2;
    e->built.program = name_codelet;
    e->built.done = 1;
    e->built.of = 5;
    e->built.failures = e->names;
    e->built.n_failures = 1;
}

/* ---- the samples: one function a member, which returns the number of descriptors -------------------- */

#define REQUEST(name, CASE, part)                                                                            \
    static size_t request_##name(hac_sample_client *c)                                                       \
    {                                                                                                        \
        hac_sample_choose(c->request, name, HAC__CLIENT__REQUEST__WHAT_##CASE, &c->part);                    \
        return 0;                                                                                            \
    }
#define RESPONSE(name, CASE, part)                                                                           \
    static size_t response_##name(hac_sample_client *c)                                                      \
    {                                                                                                        \
        hac_sample_choose(c->response, name, HAC__CLIENT__RESPONSE__WHAT_##CASE, &c->part);                  \
        return 0;                                                                                            \
    }
#define COMMAND(name, CASE, part, fds)                                                                       \
    static size_t command_##name(hac_sample_executor *e)                                                     \
    {                                                                                                        \
        hac_sample_choose(e->command, name, HAC__EXECUTOR__COMMAND__WHAT_##CASE, &e->part);                  \
        return fds;                                                                                          \
    }
#define REPORT(name, CASE, part)                                                                             \
    static size_t report_##name(hac_sample_executor *e)                                                      \
    {                                                                                                        \
        hac_sample_choose(e->report, name, HAC__EXECUTOR__REPORT__WHAT_##CASE, &e->part);                    \
        return 0;                                                                                            \
    }

REQUEST(hello, HELLO, hello)
REQUEST(buffer_alloc, BUFFER_ALLOC, alloc)
REQUEST(buffer_grow, BUFFER_GROW, grow)
REQUEST(buffer_release, BUFFER_RELEASE, release)
REQUEST(submit_sort, SUBMIT_SORT, sort)
REQUEST(plan_sort, PLAN_SORT, plan)
REQUEST(query, QUERY, query)
REQUEST(wait, WAIT, job)
REQUEST(result, RESULT, job)
REQUEST(release, RELEASE, job)
REQUEST(cancel, CANCEL, job)
REQUEST(hold, HOLD, job)
REQUEST(submit_calibrate, SUBMIT_CALIBRATE, calibrate)
REQUEST(submit_query, SUBMIT_QUERY, submit_query)
REQUEST(append_split, APPEND_SPLIT, split)
REQUEST(plan_query, PLAN_QUERY, plan_query)
REQUEST(submit_ops, SUBMIT_OPS, submit_ops)
REQUEST(append_graph, APPEND_GRAPH, append_graph)
REQUEST(output, OUTPUT, output)
REQUEST(drain, DRAIN, empty)
REQUEST(reload, RELOAD, empty)
REQUEST(revert_tuning, REVERT_TUNING, revert)
REQUEST(more_text, MORE_TEXT, more_text)

static size_t request_build_kernels(hac_sample_client *c)
{
    hac_sample_choose(c->request, build_kernels, HAC__CLIENT__REQUEST__WHAT_BUILD_KERNELS, &c->build_kernels);
    return 1;
}

static size_t request_sort_inline(hac_sample_client *c)
{
    c->input.where_case = HAC__CLIENT__INPUT__WHERE_DATA;
    c->input.data = (ProtobufCBinaryData){HAC_INLINE_MAX, c->data};
    c->input.bytes = HAC_INLINE_MAX;
    c->input.offset = 0;
    return request_submit_sort(c);
}

static size_t request_sort_nothing(hac_sample_client *c)
{
    request_sort_inline(c);
    c->input.data = (ProtobufCBinaryData){0, NULL};
    c->input.bytes = 0;
    return 0;
}

static size_t request_sort_pairs(hac_sample_client *c)
{
    c->spec.payload_bytes = 256;
    c->sort.payload = &c->payload;
    return request_submit_sort(c);
}

static size_t request_sort_descriptors(hac_sample_client *c)
{
    request_sort_pairs(c);
    c->input.where_case = c->payload.where_case = HAC__CLIENT__INPUT__WHERE_DESCRIPTOR;
    c->input.descriptor = 1;
    c->input.offset = 3;
    c->payload.descriptor = 0;
    return 2;
}

static size_t request_query_file(hac_sample_client *c)
{
    c->input.where_case = HAC__CLIENT__INPUT__WHERE_DESCRIPTOR;
    c->input.descriptor = 0;
    c->input.offset = 5;
    request_submit_query(c);
    return 1;
}

static size_t request_query_table(hac_sample_client *c)
{
    c->source.format = 1;
    c->query_spec.rows = 100;
    return request_submit_query(c);
}

static size_t request_query_splits(hac_sample_client *c)
{
    c->submit_query.n_inputs = 0;
    c->submit_query.splits = 1;
    c->submit_query.name = name_file;
    return request_submit_query(c);
}

static size_t request_plan_ops(hac_sample_client *c)
{
    c->submit_ops.n_buffers = 0;
    hac_sample_choose(c->request, plan_ops, HAC__CLIENT__REQUEST__WHAT_PLAN_OPS, &c->plan_ops);
    return 0;
}

/* A job of graphs, of which none is there yet. */
static size_t request_graphs(hac_sample_client *c)
{
    c->submit_ops.n_buffers = c->submit_ops.n_tasks = 0;
    c->submit_ops.graphs = 1;
    return request_submit_ops(c);
}

static size_t request_graph_last(hac_sample_client *c)
{
    c->append_graph.graph = NULL;
    c->append_graph.last = 1;
    return request_append_graph(c);
}

static size_t request_split_last(hac_sample_client *c)
{
    c->split.buffer = c->split.sets = 0;
    c->split.bytes = c->split.set_bytes = 0;
    c->split.last = 1;
    return request_append_split(c);
}

RESPONSE(hello, HELLO, hello)
RESPONSE(failure, FAILURE, failure)
RESPONSE(buffer, BUFFER, buffer)
RESPONSE(accepted, ACCEPTED, accepted)
RESPONSE(done, DONE, done)
RESPONSE(text, TEXT, text)
RESPONSE(ok, OK, empty)
RESPONSE(split_done, SPLIT_DONE, split_done)
RESPONSE(graph_done, GRAPH_DONE, graph_done)

static size_t response_event(hac_sample_client *c)
{
    hac_sample_choose(c->response, event, HAC__CLIENT__RESPONSE__WHAT_EVENT, &c->event);
    c->response.serial = 0;
    return 0;
}

static size_t response_refused(hac_sample_client *c)
{
    c->response.serial = 0;
    return response_failure(c);
}

static size_t response_buffer_attached(hac_sample_client *c)
{
    c->buffer.attached = 1;
    response_buffer(c);
    return 1;
}

static size_t response_done_failed(hac_sample_client *c)
{
    c->done.state = HAC__CLIENT__JOB_STATE__JOB_FAILED;
    c->done.result_case = HAC__CLIENT__JOB_DONE__RESULT__NOT_SET;
    c->done.failure = &c->failure;
    return response_done(c);
}

static size_t response_done_calibrate(hac_sample_client *c)
{
    c->done.result_case = HAC__CLIENT__JOB_DONE__RESULT__NOT_SET;
    c->done.result_bytes = 0;
    c->done.text = name_text;
    return response_done(c);
}

static size_t response_done_buffer(hac_sample_client *c)
{
    c->done.result_case = HAC__CLIENT__JOB_DONE__RESULT_BUFFER;
    c->done.buffer = &c->buffer;
    return response_done(c);
}

static size_t response_done_attached(hac_sample_client *c)
{
    c->buffer.attached = 1;
    response_done_buffer(c);
    return 1;
}

static size_t response_split_rows(hac_sample_client *c)
{
    c->split_done.result_case = HAC__CLIENT__SPLIT_DONE__RESULT_DATA;
    c->split_done.data = (ProtobufCBinaryData){4096, c->data};
    c->split_done.result_bytes = 4096;
    c->split_done.enough = 1;
    return response_split_done(c);
}

static size_t response_split_buffer(hac_sample_client *c)
{
    c->split_done.result_case = HAC__CLIENT__SPLIT_DONE__RESULT_BUFFER;
    c->split_done.buffer = &c->buffer;
    c->split_done.result_bytes = 100;
    c->buffer.attached = 1;
    response_split_done(c);
    return 1;
}

static size_t response_text_begun(hac_sample_client *c)
{
    c->text.bytes = 1 << 20;
    return response_text(c);
}

COMMAND(setup, SETUP, setup, 0)
COMMAND(buffer_add, BUFFER_ADD, buffer_add, 1)
COMMAND(buffer_remove, BUFFER_REMOVE, buffer_remove, 0)
COMMAND(descriptor_add, DESCRIPTOR_ADD, descriptor_add, 1)
COMMAND(descriptor_remove, DESCRIPTOR_REMOVE, descriptor_remove, 0)
COMMAND(run, RUN, run, 0)
COMMAND(build, BUILD, build, 0)

static size_t command_runs(hac_sample_executor *e)
{
    e->run.batched = 1;
    e->run.data.len = 100;
    e->runs[0] = e->runs[1] = &e->run;
    e->command.runs = e->runs;
    e->command.n_runs = 2;
    return 0;
}

static size_t command_setup_steps(hac_sample_executor *e)
{
    e->setup.counts_steps = true;
    command_setup(e);
    return 1;
}

static size_t command_build_image(hac_sample_executor *e)
{
    e->build.image = true;
    command_build(e);
    return 1;
}

COMMAND(ping, PING, ping, 0)
COMMAND(shutdown, SHUTDOWN, nothing, 0)

REPORT(probe, PROBE, probe)
REPORT(ready, READY, ready)
REPORT(done, DONE, done)

static size_t report_dones(hac_sample_executor *e)
{
    e->done.data.len = 100;
    e->dones[0] = e->dones[1] = &e->done;
    e->report.dones = e->dones;
    e->report.n_dones = 2;
    return 0;
}

REPORT(built, BUILT, built)
REPORT(build_end, BUILD_END, build_end)
REPORT(image, IMAGE, image)
REPORT(pong, PONG, pong)

static size_t report_fatal(hac_sample_executor *e)
{
    hac_sample_choose(e->report, fatal, HAC__EXECUTOR__REPORT__WHAT_FATAL, name_text);
    return 0;
}

#define S(kind, name)                                                                                        \
    {                                                                                                        \
#name, kind##_##name                                                                                 \
    }

static const struct {
    const char *name;
    size_t (*make)(hac_sample_client *c);
} requests[] = {S(request, hello),          S(request, buffer_alloc),  S(request, buffer_grow),
                S(request, buffer_release), S(request, submit_sort),   S(request, sort_inline),
                S(request, sort_nothing),   S(request, sort_pairs),    S(request, sort_descriptors),
                S(request, plan_sort),      S(request, query),         S(request, wait),
                S(request, result),         S(request, release),       S(request, cancel),
                S(request, hold),           S(request, drain),         S(request, submit_calibrate),
                S(request, submit_query),   S(request, query_file),    S(request, query_table),
                S(request, query_splits),   S(request, append_split),  S(request, split_last),
                S(request, plan_query),     S(request, submit_ops),    S(request, append_graph),
                S(request, graphs),         S(request, graph_last),    S(request, output),
                S(request, plan_ops),       S(request, build_kernels), S(request, reload),
                S(request, revert_tuning),  S(request, more_text)},
  responses[] = {S(response, hello),          S(response, failure),     S(response, refused),
                 S(response, buffer),         S(response, accepted),    S(response, buffer_attached),
                 S(response, event),          S(response, done),        S(response, done_failed),
                 S(response, done_calibrate), S(response, done_buffer), S(response, done_attached),
                 S(response, text),           S(response, text_begun),  S(response, ok),
                 S(response, split_done),     S(response, split_rows),  S(response, split_buffer),
                 S(response, graph_done)};

static const struct {
    const char *name;
    size_t (*make)(hac_sample_executor *e);
} commands[] = {S(command, setup),
                S(command, buffer_add),
                S(command, buffer_remove),
                S(command, descriptor_add),
                S(command, descriptor_remove),
                S(command, run),
                S(command, runs),
                S(command, build),
                S(command, build_image),
                S(command, setup_steps),
                S(command, ping),
                S(command, shutdown)},
  reports[] = {S(report, probe),     S(report, ready), S(report, done), S(report, dones), S(report, built),
               S(report, build_end), S(report, image), S(report, pong), S(report, fatal)};

size_t hac_sample_count(hac_sample_kind kind)
{
    const size_t counts[HAC_SAMPLE_KINDS] = {COUNT(requests), COUNT(responses), COUNT(commands),
                                             COUNT(reports)};
    return counts[kind];
}

static void client_sample_get(hac_sample_kind kind, size_t index, hac_sample *ret)
{
    hac_sample_client *c = malloc(sizeof *c);
    if (c == NULL)
        abort();
    hac_sample_client_init(c);
    bool request = kind == HAC_SAMPLE_REQUEST;
    ret->name = request ? requests[index].name : responses[index].name;
    ret->n_fds = request ? requests[index].make(c) : responses[index].make(c);
    ret->bytes = protobuf_c_message_pack(request ? &c->request.base : &c->response.base, ret->body);
    free(c);
}

static void executor_sample_get(hac_sample_kind kind, size_t index, hac_sample *ret)
{
    hac_sample_executor *e = malloc(sizeof *e);
    if (e == NULL)
        abort();
    hac_sample_executor_init(e);
    bool command = kind == HAC_SAMPLE_COMMAND;
    ret->name = command ? commands[index].name : reports[index].name;
    ret->n_fds = command ? commands[index].make(e) : reports[index].make(e);
    ret->bytes = protobuf_c_message_pack(command ? &e->command.base : &e->report.base, ret->body);
    free(e);
}

void hac_sample_get(hac_sample_kind kind, size_t index, hac_sample *ret)
{
    if (kind == HAC_SAMPLE_REQUEST || kind == HAC_SAMPLE_RESPONSE)
        client_sample_get(kind, index, ret);
    else
        executor_sample_get(kind, index, ret);
}
