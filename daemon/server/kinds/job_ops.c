/* SPDX-License-Identifier: Apache-2.0 */
#include "job_ops.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/op_catalog.h"
#include "base/op_layout.h"
#include "op_totals.h"
#include "submission.h"

#define VALUES_MAX 4                    /* values per task that are passed on */
#define GRAPHS_LOG (UINT64_C(64) << 10) /* bytes of the log of a job with graphs */

/* The values of a task so far; those of its pieces are added up. */
typedef struct op_result {
    uint8_t n; /* HAC_OPS_VALUES_NONE: the task is tentative and has failed */
    uint64_t values[VALUES_MAX];
} op_result;

typedef struct op_graph {
    hac_ops_spec spec; /* borrows from `borrowed` and `sizes` */
    void *borrowed;
    size_t n_tentative;
    uint64_t sizes[HAC_OPS_BUFFERS_MAX];
    hac_pool_buffer *vectors[HAC_OPS_BUFFERS_MAX]; /* held until the job has ended */
    op_result *results;
    hac_plan *plan;  /* made in advance, borrows from the graph; NULL: none */
    uint64_t serial; /* of the request that brought it */
    hac_user *charged_to;
    uint64_t charged; /* bytes of that request; of the first one, the job has charged them */
} op_graph;

/* The answer for a graph that has run. */
typedef struct graph_answer {
    uint64_t serial, number;
    uint8_t *values; /* NULL: no answer is waiting */
    size_t bytes;
} graph_answer;

typedef struct ops_state {
    op_graph *graph; /* running, or the last one that ran */
    bool planned;
    /* For a job whose graphs follow one another: */
    bool graphs;
    bool pending, last; /* `graph` is not answered yet; no further graph follows */
    op_graph *next;     /* arrived meanwhile, runs when `graph` has ended */
    hac_ops_policy policy;
    uint64_t threshold;
    bool kernels;
    graph_answer answer;
    uint64_t n_graphs, n_tasks, graph_ns;
    hac_op_totals totals; /* of the graphs that have ended */
} ops_state;

/* ---- the request -------------------------------------------------------------------------------------- */

/* The codelet's, for its range: with larger pieces a client would keep the device from others for longer. */
static uint64_t grain_of(const Hac__Client__OpTask *task)
{
    const hac_op_codelet *codelet = hac_op_codelet_find(task->codelet);
    return codelet != NULL && codelet->range != HAC_OP_NO_RANGE ? codelet->grain : task->grain;
}

static void read_task(const Hac__Client__OpTask *from, hac_op_spec *ret)
{
    *ret = (hac_op_spec){.codelet = from->codelet,
                         .name = from->name[0] != '\0' ? from->name : from->codelet,
                         .pin = from->pin,
                         .host = from->host,
                         .type = (hac_type)from->type,
                         .first = from->first,
                         .count = from->count,
                         .grain = from->grain > 0 ? grain_of(from) : 0,
                         .n_spans = from->n_spans,
                         .after = from->after,
                         .n_after = from->n_after,
                         .units = from->units,
                         .memory = from->memory,
                         .call = from->call.data,
                         .call_bytes = from->call.len};
    for (size_t s = 0; s < from->n_spans; s++) {
        const Hac__Client__OpSpan *span = from->spans[s];
        ret->spans[s] =
            (hac_plan_span){.buffer = (uint8_t)span->buffer,
                            .access = span->written ? HAC_WRITE : HAC_READ,
                            .offset = span->offset,
                            .bytes = span->bytes,
                            .touch_first = span->touch_bytes > 0 ? span->touch_first : span->offset,
                            .touch_end = span->touch_bytes > 0 ? span->touch_first + span->touch_bytes
                                                               : span->offset + span->bytes};
    }
}

hac_status hac_ops_spec_read(const hac_user *user, const Hac__Client__SubmitOps *ops, const uint64_t *sizes,
                             size_t n_buffers, hac_ops_spec *ret, hac_error *err)
{
    hac_op_spec *tasks = calloc(ops->n_tasks + 1, sizeof *tasks);
    if (tasks == NULL)
        return hac_fail_no_memory(err);
    for (size_t i = 0; i < ops->n_tasks; i++)
        read_task(ops->tasks[i], &tasks[i]);
    *ret = (hac_ops_spec){.tasks = tasks,
                          .n_tasks = ops->n_tasks,
                          .sizes = sizes,
                          .n_buffers = n_buffers,
                          .policy = ops->policy == HAC__CLIENT__OP_POLICY__OP_POLICY_RULE ? HAC_OPS_RULE
                                                                                          : HAC_OPS_MEASURED,
                          .threshold = ops->threshold,
                          .kernels = ops->kernels,
                          .learner = hac_user_learner(user)};
    return HAC_OK;
}

static void release_vectors(op_graph *graph)
{
    for (size_t i = 0; i < HAC_OPS_BUFFERS_MAX; i++)
        hac_pool_clear(&graph->vectors[i]);
}

static void free_graph(op_graph *graph)
{
    if (graph == NULL)
        return;
    hac_plan_free(graph->plan);
    release_vectors(graph);
    if (graph->charged > 0)
        hac_user_release(graph->charged_to, HAC_SLOT_MEMORY, graph->charged);
    free(graph->borrowed);
    free((void *)(uintptr_t)graph->spec.tasks);
    free(graph->results);
    free(graph);
}

HAC_DEFINE_CLEANUP(op_graph *, free_graph)

/* ---- the job ------------------------------------------------------------------------------------------ */

/* Until the client sends more, or for good. */
static hac_status between_graphs(hacd_job *job)
{
    const ops_state *state = job->kind_state;
    hacd_job_clear_run(job);
    return state->last ? HAC_NOT_FOUND : HAC_AGAIN;
}

/* The graph becomes the job's current one. */
static void begin_graph(hacd_job *job, op_graph *graph)
{
    ops_state *state = job->kind_state;
    free_graph(state->graph);
    state->graph = graph;
    for (size_t i = 0; i < graph->spec.n_tasks; i++)
        job->bytes_in += graph->spec.tasks[i].memory;
}

/* Whether a plan that was made in advance can still be used. */
static bool is_plan_good(const hacd_job *job, const hac_plan *plan)
{
    uint32_t allowed = hacd_job_allowed_devices(job);
    for (size_t d = 0; d < plan->n_devices; d++) {
        uint32_t device = plan->devices[d].machine_index;
        if (!(allowed >> device & 1) || !hac_devices_may_use(job->jobs->devices, device, job->user))
            return false;
    }
    return true;
}

static hac_status make_plan(hacd_job *job, op_graph *graph, hac_plan **ret, hac_error *err)
{
    hac_status status = hacd_job_check_devices(job, err);
    if (status != HAC_OK)
        return status;
    graph->spec.device_mask = hacd_job_allowed_devices(job);
    return hac_plan_ops(hac_machine_view_now(job->jobs->machine), &graph->spec, ret, err);
}

/* Plans a graph while another one runs. Errors are reported when its turn comes. */
static void plan_before(hacd_job *job, op_graph *graph)
{
    graph->spec.waits = true;
    hac_status status = make_plan(job, graph, &graph->plan, NULL);
    graph->spec.waits = false;
    if (status != HAC_OK)
        graph->plan = NULL;
}

static hac_status find_plan(hacd_job *job, op_graph *graph, hac_plan **ret, hac_error *err)
{
    hac_plan *plan = hac_steal_ptr(graph->plan);
    if (plan != NULL && is_plan_good(job, plan)) {
        *ret = plan;
        return HAC_OK;
    }
    hac_plan_free(plan);
    return make_plan(job, graph, ret, err);
}

static hac_status next_plan(hacd_job *job, hac_error *err)
{
    ops_state *state = job->kind_state;
    hac_plan *plan = NULL;
    if (state->graphs && !state->pending && state->next != NULL) {
        begin_graph(job, hac_steal_ptr(state->next));
        state->pending = true;
    }
    if (state->graphs && !state->pending)
        return between_graphs(job);
    if (!state->graphs && state->planned && !job->restart && !job->run.replan)
        return HAC_NOT_FOUND;
    hac_status status = find_plan(job, state->graph, &plan, err);
    if (status != HAC_OK)
        return status;
    memset(state->graph->results, 0, state->graph->spec.n_tasks * sizeof *state->graph->results);
    if (state->graphs)
        hacd_job_clear_run(job);
    hacd_job_set_plan(job, plan);
    state->graph_ns = hac_now_ns();
    if (!job->quick && !state->planned)
        hacd_job_note(job, "plan%s: %zu sub-operators, %.3f ms predicted",
                      state->graphs ? " of the first graph" : "", plan->n_tasks,
                      plan->predicted_seconds * 1e3);
    state->planned = true;
    return HAC_OK;
}

static void task_done(hacd_job *job, uint32_t task, const Hac__Executor__Done *done)
{
    ops_state *state = job->kind_state;
    op_result *result = &state->graph->results[task];
    size_t n = done->n_values < VALUES_MAX ? done->n_values : VALUES_MAX;
    for (size_t i = 0; i < n; i++)
        result->values[i] += done->values[i];
    result->n = (uint8_t)(n > result->n ? n : result->n);
}

static bool is_of_data(const Hac__Executor__Done *done)
{
    return done->code == HAC_FAILED || done->code == HAC_INVALID || done->code == HAC_REFUSED;
}

/* A tentative task may fail because of its data; the client is told which one did. */
static bool may_fail(hacd_job *job, uint32_t task, const Hac__Executor__Done *done)
{
    const ops_state *state = job->kind_state;
    const op_graph *graph = state->graph;
    bool may = task >= graph->spec.n_tasks - graph->n_tentative && is_of_data(done);
    if (may)
        graph->results[task].n = HAC_OPS_VALUES_NONE;
    return may;
}

/* Names the sub-operator that failed. If an output is too small, the client has to give it more memory. */
static bool task_failed(hacd_job *job, uint32_t task, const Hac__Executor__Done *done)
{
    bool of_data = is_of_data(done);
    if (job->code != HAC_OK)
        return true; /* another one failed first, and its message stays */
    if (!of_data)
        return false;
    const ops_state *state = job->kind_state;
    job->code = (hac_status)done->code;
    snprintf(job->message, sizeof job->message, "%.120s: %.380s", state->graph->spec.tasks[task].name,
             done->message);
    return true;
}

/* All tasks' values, in the client's order: for each task their number, then the values. */
static hac_status write_values(const op_graph *graph, uint8_t **ret, size_t *ret_bytes, hac_error *err)
{
    size_t memory = graph->spec.n_tasks * (1 + sizeof graph->results->values), used = 0;
    uint8_t *bytes = malloc(memory + 1);
    if (bytes == NULL)
        return hac_fail_no_memory(err);
    for (size_t t = 0; t < graph->spec.n_tasks; t++) {
        const op_result *result = &graph->results[t];
        size_t n = result->n == HAC_OPS_VALUES_NONE ? 0 : result->n;
        bytes[used++] = result->n;
        memcpy(bytes + used, result->values, n * sizeof result->values[0]);
        used += n * sizeof result->values[0];
    }
    *ret = bytes;
    *ret_bytes = used;
    return HAC_OK;
}

static hac_status give_results(hacd_job *job, hac_error *err)
{
    const ops_state *state = job->kind_state;
    free(job->result_data);
    job->result_data = NULL;
    hac_status status = write_values(state->graph, &job->result_data, &job->result_data_bytes, err);
    job->result_bytes = status == HAC_OK ? job->result_data_bytes : 0;
    return status;
}

static void answer(hacd_job *job)
{
    ops_state *state = job->kind_state;
    hac_autofree uint8_t *values = hac_steal_ptr(state->answer.values);
    if (values != NULL && job->owner != NULL)
        hac_session_send_graph_done(job->owner, state->answer.serial, job->id, state->answer.number, values,
                                    state->answer.bytes);
}

/* Prepares the answer and sends it later: a client that wakes up takes the processor that an executor needs
 * to start the next graph. */
static hac_status end_graph(hacd_job *job, hac_error *err)
{
    ops_state *state = job->kind_state;
    answer(job);
    hac_status status = write_values(state->graph, &state->answer.values, &state->answer.bytes, err);
    if (status != HAC_OK)
        return status;
    state->answer.serial = state->graph->serial;
    state->answer.number = state->n_graphs++;
    hacd_job_answer_later(job);
    hac_op_totals_add(&state->totals, job, &state->graph->spec);
    hacd_job_add_earlier(job, hac_seconds_since(state->graph_ns));
    state->pending = false;
    state->n_tasks += state->graph->spec.n_tasks;
    return HAC_OK;
}

static hac_status task_ended(hacd_job *job, uint32_t task, hac_error *err)
{
    (void)task;
    const ops_state *state = job->kind_state;
    if (job->run.n_done + 1 < job->plan->n_tasks)
        return HAC_OK;
    return state->graphs ? end_graph(job, err) : give_results(job, err);
}

/* The client learns of the job's end through its pending graphs. */
static void ended(hacd_job *job)
{
    ops_state *state = job->kind_state;
    hac_error err = HAC_ERROR_NONE;
    op_graph *waiting[] = {state->pending ? state->graph : NULL, state->next};
    answer(job);
    state->pending = false;
    (void)hac_fail(&err, job->code != HAC_OK ? job->code : HAC_CANCELLED, "%s",
                   job->message[0] != '\0' ? job->message : "the job has ended");
    for (size_t i = 0; i < sizeof waiting / sizeof *waiting && job->owner != NULL; i++)
        if (waiting[i] != NULL)
            hac_session_send_failure(job->owner, waiting[i]->serial, &err, 0);
    free_graph(hac_steal_ptr(state->next));
    release_vectors(state->graph);
}

static void progress(const hacd_job *job, double elapsed, double *ret_rate, char *note, size_t memory)
{
    const ops_state *state = job->kind_state;
    *ret_rate = elapsed > 0 ? (double)state->n_tasks / elapsed : 0;
    snprintf(note, memory, "%llu graphs of sub-operators so far", (unsigned long long)state->n_graphs);
}

static void receipt(const hacd_job *job, hac_text *text)
{
    const ops_state *state = job->kind_state;
    const hac_ops_spec *spec = &state->graph->spec;
    hac_json_open(text, "opsplit", '{');
    hac_json_string(text, "policy", spec->policy == HAC_OPS_RULE ? "rule" : "measured");
    hac_json_unsigned(text, "threshold", spec->threshold > 0 ? spec->threshold : HAC_OPS_THRESHOLD);
    if (state->graphs) {
        hac_json_unsigned(text, "graphs", state->n_graphs);
        hac_json_unsigned(text, "tasks", state->n_tasks);
        hac_json_number(text, "graph_seconds", job->earlier.seconds);
    }
    hac_op_totals_print(&state->totals, job, spec, text);
    hac_json_open(text, "sub_operators", '['); /* of the last graph */
    for (size_t t = 0; job->plan != NULL && t < job->plan->n_candidates && t < spec->n_tasks; t++) {
        hac_json_open(text, NULL, '{');
        hac_json_string(text, "name", spec->tasks[t].name);
        hac_json_string(text, "codelet", spec->tasks[t].codelet);
        hac_json_unsigned(text, "memory", spec->tasks[t].memory);
        hac_json_string(text, "reason", job->plan->candidates[t].reason);
        hac_json_close(text, '}');
    }
    hac_json_close(text, ']');
    hac_json_close(text, '}');
}

static void free_state(hacd_job *job)
{
    ops_state *state = job->kind_state;
    free_graph(state->graph);
    free_graph(state->next);
    free(state->answer.values);
    hac_op_totals_clear(&state->totals);
}

/* The plan's first buffers are the graph's vectors, in their order. */
static hac_pool_buffer *find_buffer(const hacd_job *job, const hac_plan_buffer *wanted, uint64_t *ret_offset)
{
    const ops_state *state = job->kind_state;
    (void)ret_offset;
    return wanted->role == HAC_BUFFER_SHARED ? state->graph->vectors[wanted - job->plan->buffers] : NULL;
}

/* ---- submission --------------------------------------------------------------------------------------- */

static const void *keep(uint8_t **memory, const void *data, size_t bytes)
{
    uint8_t *kept = *memory;
    if (bytes > 0)
        memcpy(kept, data, bytes);
    *memory += bytes;
    return kept;
}

static const char *keep_text(uint8_t **memory, const char *text)
{
    return keep(memory, text, strlen(text) + 1);
}

/* Copies what the tasks borrow from their request into the graph, as the request is freed with its frame. */
static hac_status keep_borrowed(op_graph *graph, hac_error *err)
{
    hac_op_spec *tasks = (hac_op_spec *)(uintptr_t)graph->spec.tasks;
    size_t bytes = 0;
    for (size_t i = 0; i < graph->spec.n_tasks; i++)
        bytes += tasks[i].n_after * sizeof *tasks[i].after + tasks[i].call_bytes + strlen(tasks[i].codelet) +
                 strlen(tasks[i].name) + strlen(tasks[i].pin) + 3;
    uint8_t *memory = graph->borrowed = malloc(bytes + 1);
    if (memory == NULL)
        return hac_fail_no_memory(err);
    for (size_t i = 0; i < graph->spec.n_tasks; i++) /* numbers first, for their alignment */
        tasks[i].after = keep(&memory, tasks[i].after, tasks[i].n_after * sizeof *tasks[i].after);
    for (size_t i = 0; i < graph->spec.n_tasks; i++) {
        tasks[i].call = keep(&memory, tasks[i].call, tasks[i].call_bytes);
        tasks[i].codelet = keep_text(&memory, tasks[i].codelet);
        tasks[i].name = keep_text(&memory, tasks[i].name);
        tasks[i].pin = keep_text(&memory, tasks[i].pin);
    }
    return HAC_OK;
}

static hac_status take_buffers(hac_session *session, const Hac__Client__SubmitOps *request, op_graph *graph,
                               hac_error *err)
{
    hac_status status = HAC_OK;
    for (size_t i = 0; i < request->n_buffers && status == HAC_OK; i++) {
        char what[32];
        snprintf(what, sizeof what, "vector %zu", i);
        status =
            hac_submission_take_buffer(session, request->buffers[i], 0, 0, what, &graph->vectors[i], err);
        if (status == HAC_OK)
            graph->sizes[i] = graph->vectors[i]->bytes;
    }
    return status;
}

/* `bytes`: of the request, to be charged for the graph. */
static hac_status take_graph(hac_session *session, const hacd_job *job, uint64_t serial, uint64_t bytes,
                             const Hac__Client__SubmitOps *request, op_graph **ret, hac_error *err)
{
    hac_cleanup(free_graph_cleanup) op_graph *graph = calloc(1, sizeof *graph);
    if (graph == NULL)
        return hac_fail_no_memory(err);
    graph->serial = serial;
    graph->n_tentative = request->n_tentative;
    hac_status status = hac_pool_charge(job->user, HAC_SLOT_MEMORY, bytes, err);
    if (status != HAC_OK)
        return status;
    graph->charged_to = job->user;
    graph->charged = bytes;
    status = take_buffers(session, request, graph, err);
    if (status == HAC_OK)
        status = hac_ops_spec_read(job->user, request, graph->sizes, request->n_buffers, &graph->spec, err);
    if (status == HAC_OK)
        status = keep_borrowed(graph, err);
    if (status != HAC_OK)
        return status;
    graph->results = calloc(graph->spec.n_tasks + 1, sizeof *graph->results);
    if (graph->results == NULL)
        return hac_fail_no_memory(err);
    *ret = hac_steal_ptr(graph);
    return HAC_OK;
}

static hac_status fill(hac_submission *from, hacd_job *job, hac_error *err)
{
    const Hac__Client__SubmitOps *request = from->request->submit_ops;
    ops_state *state = job->kind_state;
    op_graph *graph = NULL;
    hac_utf8_copy_line(job->name, sizeof job->name, request->name);
    hac_status status = take_graph(from->session, job, 0, 0, request, &graph, err);
    if (status != HAC_OK)
        return status;
    begin_graph(job, graph);
    state->graphs = request->graphs;
    state->policy = graph->spec.policy;
    state->threshold = graph->spec.threshold;
    state->kernels = graph->spec.kernels;
    if (state->graphs && job->detached)
        return hac_fail(err, HAC_INVALID,
                        "a job whose graphs follow cannot be detached: they come from its client");
    if (state->graphs)
        job->log_capacity = GRAPHS_LOG;
    from->inline_input = !state->graphs;
    if (state->graphs)
        snprintf(from->what, sizeof from->what, "graphs of sub-operators");
    else
        snprintf(from->what, sizeof from->what, "%zu sub-operators", request->n_tasks);
    return HAC_OK;
}

/* The rows of the codelet's range, if the call says them and they are not those of a program's inputs. */
static uint64_t rows_of(const hac_op_spec *op, const hac_op_codelet *codelet)
{
    hac_op_call call;
    hac_op_operand operand;
    size_t at = sizeof call + codelet->range * sizeof operand;
    if (op->call_bytes < at + sizeof operand)
        return 0;
    memcpy(&call, op->call, sizeof call);
    memcpy(&operand, (const uint8_t *)op->call + at, sizeof operand);
    bool of_program = call.program_bytes > 0 && codelet->range >= codelet->program_at;
    return of_program || call.n_operands <= codelet->range ? 0 : operand.rows;
}

static bool find_range(const hacd_job *job, uint32_t task, hacd_task_range *ret)
{
    const ops_state *state = job->kind_state;
    const hac_op_spec *op = &state->graph->spec.tasks[task];
    const hac_op_codelet *codelet = hac_op_codelet_find(op->codelet);
    if (codelet == NULL || codelet->range == HAC_OP_NO_RANGE)
        return false;
    *ret = (hacd_task_range){op->first, op->count > 0 ? op->count : rows_of(op, codelet), codelet->grain};
    return ret->count > 0 && ret->first % ret->grain == 0;
}

static const hacd_job_kind ops_kind = {.flow = HAC_FLOW_OPSPLIT,
                                       .state_bytes = sizeof(ops_state),
                                       .fill = fill,
                                       .next_plan = next_plan,
                                       .task_done = task_done,
                                       .task_ended = task_ended,
                                       .may_fail = may_fail,
                                       .task_failed = task_failed,
                                       .receipt = receipt,
                                       .find_range = find_range,
                                       .claims = true,
                                       .buffer = find_buffer,
                                       .ended = ended,
                                       .free_state = free_state,
                                       .has_result = true,
                                       .sets_result_bytes = true,
                                       .user_errors = true};

static const hacd_job_kind graphs_kind = {.flow = HAC_FLOW_OPSPLIT,
                                          .state_bytes = sizeof(ops_state),
                                          .fill = fill,
                                          .next_plan = next_plan,
                                          .task_done = task_done,
                                          .task_ended = task_ended,
                                          .may_fail = may_fail,
                                          .task_failed = task_failed,
                                          .receipt = receipt,
                                          .answer = answer,
                                          .ended = ended,
                                          .progress = progress,
                                          .find_range = find_range,
                                          .claims = true,
                                          .buffer = find_buffer,
                                          .free_state = free_state,
                                          .user_errors = true};

hac_status hacd_job_ops_submit(hac_submission *from, hac_error *err)
{
    const Hac__Client__SubmitOps *request = from->request->submit_ops;
    return hac_submission_submit(from, request->graphs ? &graphs_kind : &ops_kind, request->options, err);
}

/* ---- the graphs of a job ------------------------------------------------------------------------------ */

/* One graph may run, and one may wait. */
static hac_status check_turn(const hacd_job *job, bool brings_graph, hac_error *err)
{
    const ops_state *state = job->kind_state;
    if (hacd_job_ended(job) || job->code != HAC_OK || job->cancelling)
        return hac_fail(err, job->code != HAC_OK ? job->code : HAC_CANCELLED, "%s",
                        job->message[0] != '\0' ? job->message : "the job has ended");
    if (brings_graph ? state->next != NULL : state->pending)
        return hac_fail(err, HAC_INVALID, "%s of job %llu %s not answered yet: wait for %s",
                        brings_graph ? "two graphs" : "a graph", (unsigned long long)job->id,
                        brings_graph ? "are" : "is", brings_graph ? "one of them" : "it");
    if (state->last)
        return hac_fail(err, HAC_INVALID, "job %llu has had its last graph already",
                        (unsigned long long)job->id);
    return HAC_OK;
}

/* Adds each line of the client's text to the job's log. */
static void note_lines(hacd_job *job, const char *log)
{
    for (const char *end; *log != '\0'; log = *end == '\0' ? end : end + 1) {
        end = strchrnul(log, '\n');
        if (end > log)
            hacd_job_note(job, "%.*s", (int)(end - log), log);
    }
}

static hac_status append_graph(const hac_submission *from, hacd_job *job,
                               const Hac__Client__SubmitOps *request, hac_error *err)
{
    ops_state *state = job->kind_state;
    op_graph *graph = NULL;
    hac_status status =
        take_graph(from->session, job, from->request->serial, from->frame->body_bytes, request, &graph, err);
    if (status != HAC_OK)
        return status;
    graph->spec.policy = state->policy;
    graph->spec.threshold = state->threshold;
    graph->spec.kernels = state->kernels;
    if (state->pending) {
        plan_before(job, graph);
        state->next = graph;
    } else {
        begin_graph(job, graph);
        state->pending = true;
    }
    return HAC_OK;
}

hac_status hacd_job_ops_append(hac_submission *from, hac_error *err)
{
    const Hac__Client__AppendGraph *request = from->request->append_graph;
    uint64_t serial = from->request->serial;
    hacd_job *job = NULL;
    hac_status status = hac_submission_find_job(from, request->job, &graphs_kind, "graphs", &job, err);
    if (status == HAC_OK)
        status = check_turn(job, request->graph != NULL, err);
    if (status != HAC_OK)
        return status;
    ops_state *state = job->kind_state;
    answer(job); /* before anything about this request is sent */
    note_lines(job, request->log);
    if (request->graph != NULL)
        status = append_graph(from, job, request->graph, err);
    else
        hac_session_send_graph_done(from->session, serial, job->id, state->n_graphs, NULL, 0);
    if (status != HAC_OK)
        return status;
    state->last = request->last;
    hacd_job_wake(job);
    return HAC_OK;
}
