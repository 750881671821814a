/* SPDX-License-Identifier: Apache-2.0 */
/* What hacd is asked for each sub-operator, which answer it gives, and how that is printed. hacd is the
 * functions below: they record the request and answer with `said`. */
#include "opsplit/placement.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "opsplit/run.h"

/* ---- a hacd ---- */

struct hac_buffer {
    uint64_t memory[1]; /* and the other options of the request */
};

static struct {
    hac_status status; /* its answer */
    size_t graphs, n;
    const char *machine; /* the simulated machine of the request; NULL: its own */
    hac_op_policy policy;
    uint64_t threshold;
    struct {
        char pin[16];
        char codelet[32];
        hac_type type;
        uint64_t memory;
        size_t n_after;
        int host;
    } asked[512];
} hacd;

static const char *said[8]; /* the reason for task i of a graph; NULL: "because" */

hac_status hac_explain_ops(hac_client *client, const hac_ops *ops, hac_plan_format format, char **ret_text,
                           hac_error *err)
{
    (void)client;
    assert_int_equal(format, HAC_PLAN_JSON);
    assert_true(hacd.n + ops->n_tasks <= sizeof hacd.asked / sizeof *hacd.asked);
    if (hacd.status != HAC_OK)
        return hac_fail(err, hacd.status, "2:5: map: it is so");
    hacd.graphs++;
    hacd.policy = ops->policy;
    hacd.threshold = ops->threshold;
    for (size_t i = 0; i < ops->n_tasks; i++, hacd.n++) {
        const hac_op_task *task = &ops->tasks[i];
        for (size_t s = 0; s < task->n_spans; s++)
            assert_true(task->spans[s].offset + task->spans[s].bytes <= ops->sizes[task->spans[s].buffer]);
        snprintf(hacd.asked[hacd.n].pin, 16, "%s", task->pin != NULL ? task->pin : "");
        snprintf(hacd.asked[hacd.n].codelet, 32, "%s", task->codelet);
        hacd.asked[hacd.n].type = task->type;
        hacd.asked[hacd.n].memory = task->memory;
        hacd.asked[hacd.n].n_after = task->n_after;
        hacd.asked[hacd.n].host = task->host;
    }
    *ret_text = strdup("a plan");
    return HAC_OK;
}

/* A simulated machine, with a name that shows that the request was about it. */
hac_status hac_simulate_ops(hac_client *client, const hac_simulated_device *devices, size_t n_devices,
                            const hac_ops *ops, hac_plan_format format, char **ret_text, hac_error *err)
{
    hacd.machine = n_devices > 0 ? devices[0].name : NULL;
    return hac_explain_ops(client, ops, format, ret_text, err);
}

static hac_status read_plan(const char *text, hac_placed_task *tasks, size_t n, hac_error *err)
{
    (void)err;
    assert_string_equal(text, "a plan");
    for (size_t i = 0; i < n; i++) {
        tasks[i].devices = strdup("cpu.0");
        tasks[i].reason = strdup(i < sizeof said / sizeof *said && said[i] != NULL ? said[i] : "because");
        tasks[i].seconds = 0.5;
    }
    return HAC_OK;
}

hac_status hac_buffer_alloc(hac_client *client, uint64_t bytes, hac_buffer **ret, hac_error *err)
{
    (void)client;
    *ret = bytes < UINT64_C(1) << 24 ? calloc(1, bytes + sizeof **ret) : NULL;
    return *ret != NULL ? HAC_OK : hac_fail(err, HAC_REFUSED, "that is more than there is");
}

void *hac_buffer_data(hac_buffer *buffer)
{
    return buffer->memory;
}

void hac_buffer_free(hac_buffer *buffer)
{
    free(buffer);
}

void hac_job_free(hac_job *job)
{
    assert_null(job);
}

/* A dry run does not call functions that run tasks or read files. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#define NOT_CALLED(type, name, ...)                                                                          \
    type name(__VA_ARGS__)                                                                                   \
    {                                                                                                        \
        fail_msg("%s was called", #name);                                                                    \
        return (type)0;                                                                                      \
    }

NOT_CALLED(uint64_t, hac_job_bytes, const hac_job *job)
NOT_CALLED(const void *, hac_job_data, const hac_job *job)
NOT_CALLED(uint64_t, hac_job_id, const hac_job *job)
NOT_CALLED(hac_status, hac_job_op_values, const hac_job *job, size_t task, uint64_t values[HAC_OP_VALUES_MAX],
           size_t *n, hac_error *err)
NOT_CALLED(hac_status, hac_job_wait, hac_job *job, int timeout_ms, hac_error *err)
NOT_CALLED(hac_status, hac_ops_begin, hac_client *client, const hac_ops *ops, hac_job **ret, hac_error *err)
NOT_CALLED(hac_status, hac_ops_send, hac_job *job, const hac_ops *ops, const char *log, hac_error *err)
NOT_CALLED(hac_status, hac_ops_await, hac_job *job, hac_error *err)
NOT_CALLED(hac_status, hac_ops_finish, hac_job *job, const char *log, hac_error *err)
NOT_CALLED(hac_status, hac_sort_buffer, hac_client *client, hac_buffer *keys, uint64_t offset, uint64_t items,
           const hac_sort_options *options, hac_job **ret, hac_error *err)
NOT_CALLED(hac_status, hac_query_files, hac_client *client, const int *fds, const char *const *names,
           size_t n, const hac_query_options *options, hac_job **ret, hac_error *err)
NOT_CALLED(hac_status, hac_query_stream, hac_client *client, int fd, const char *name,
           const hac_query_options *options, hac_job **ret, hac_error *err)
NOT_CALLED(hac_status, hac_query_memory, hac_client *client, const void *text, uint64_t bytes,
           const hac_query_options *options, hac_job **ret, hac_error *err)
NOT_CALLED(hac_status, hac_query_buffer, hac_client *client, hac_buffer *buffer, uint64_t offset,
           uint64_t bytes, const hac_query_options *options, hac_job **ret, hac_error *err)
NOT_CALLED(hac_status, hac_client_query, hac_client *client, hac_topic topic, uint64_t job,
           hac_plan_format format, char **ret, hac_error *err)
NOT_CALLED(hac_status, hac_job_attach, hac_client *client, uint64_t id, hac_job **ret, hac_error *err)
NOT_CALLED(hac_status, hac_job_as_input, hac_job *job, hac_buffer **ret, hac_error *err)
NOT_CALLED(hac_status, hac_query_arrow, hac_client *client, const struct ArrowSchema *schema,
           const struct ArrowArray *columns, const hac_query_options *options, hac_job **ret, hac_error *err)
NOT_CALLED(hac_status, hac_job_export_arrow_raw, hac_job *job, struct ArrowSchema *schema,
           struct ArrowArray *array, hac_error *err)

#pragma GCC diagnostic pop

/* ---- walks ---- */

#define VECTORS                                                                                              \
    "vectors:\n"                                                                                             \
    "  i: {type: i64, value: 1, rows: 1024}\n"                                                               \
    "  f: {type: f64, value: 1, rows: 1024}\n"                                                               \
    "  many: {type: f64, value: 1, rows: 20000}\n"                                                           \
    "inputs: {t: {parse: csv, schema: \"x:f64\"}}\n"                                                         \
    "outputs: {o: {columns: [i]}}\n"                                                                         \
    "operators:\n"

static hac_logic *parse(const char *operators)
{
    char text[4096];
    hac_logic *logic = NULL;
    hac_error err = HAC_ERROR_NONE;
    snprintf(text, sizeof text, VECTORS "%s", operators);
    if (hac_logic_parse("t.yaml", text, strlen(text), NULL, &logic, NULL, &err) != HAC_OK)
        fail_msg("%s\n%s", text, err.message);
    return logic;
}

static hac_status walk(const char *operators, const hac_run_options *options, hac_placement **ret,
                       hac_error *err)
{
    hac_logic *logic = parse(operators);
    hacd.graphs = hacd.n = 0;
    *ret = NULL;
    hac_status status = hac_run_placement(NULL, logic, options, read_plan, ret, err);
    hac_logic_free(logic);
    return status;
}

static hac_placement *place(const char *operators, unsigned components)
{
    hac_run_options options = HAC_RUN_OPTIONS_INIT;
    hac_placement *placement;
    hac_error err = HAC_ERROR_NONE;
    options.components = components;
    if (walk(operators, &options, &placement, &err) != HAC_OK)
        fail_msg("%s", err.message);
    return placement;
}

/* The task of a piece with one task and nothing open. */
static const hac_placed_task *only(const hac_placement *placement, size_t piece)
{
    assert_true(piece < placement->n_pieces);
    assert_null(placement->pieces[piece].open);
    assert_int_equal(placement->pieces[piece].n_tasks, 1);
    return placement->pieces[piece].tasks;
}

static void expect_open(const hac_placement *placement, size_t piece, const char *says)
{
    assert_true(piece < placement->n_pieces);
    assert_int_equal(placement->pieces[piece].n_tasks, 0);
    assert_string_equal(placement->pieces[piece].open, says);
}

/* Hacd gets the type, size and pin of each sub-operator with the policy; its reason comes back to that
 * sub-operator. */
static void test_reasons(void **state)
{
    (void)state;
    hac_run_options options = HAC_RUN_OPTIONS_INIT;
    hac_placement *placement;
    options.policy = HAC_OP_POLICY_RULE;
    options.threshold = 4321;
    said[0] = "rule: integer, 0.0156 MiB < 3072 MiB: cpu";
    said[1] = "measured: cpu.0 1 ms, gpu.0 2 ms";
    said[2] = "pinned to gpu";
    assert_int_equal(walk("  - map: {expr: \"i + 1\", out: a}\n"
                          "  - map: {expr: \"f + 1\", out: b}\n"
                          "  - map: {expr: \"f + 2\", out: c, device: gpu}\n",
                          &options, &placement, NULL),
                     HAC_OK);
    assert_int_equal(hacd.policy, HAC_OP_POLICY_RULE);
    assert_int_equal(hacd.threshold, 4321);
    assert_int_equal(hacd.graphs, 1);
    assert_int_equal(hacd.n, 3);
    for (size_t i = 0; i < 3; i++) {
        const hac_placed_task *task = only(placement, i);
        assert_string_equal(task->codelet, "op.map");
        assert_string_equal(task->reason, said[i]);
        assert_string_equal(task->devices, "cpu.0");
        assert_true(task->seconds == 0.5 && task->first == 0 && task->count == 1024 && !task->at_most);
        assert_int_equal(task->memory, 2 * 1024 * 8);
        assert_int_equal(hacd.asked[i].memory, task->memory);
        assert_int_equal(hacd.asked[i].type, i == 0 ? HAC_TYPE_I64 : HAC_TYPE_F64);
        assert_string_equal(hacd.asked[i].pin, i == 2 ? "gpu" : "");
    }
    hac_placement_free(placement);
    memset(said, 0, sizeof said);
}

/* Expressions that kernels cannot run are marked for the host. */
static void test_host(void **state)
{
    (void)state;
    static const struct {
        const char *expression;
        int host;
    } cases[] = {{"f + 1", 0},  {"sqrt(f) / 3", 0},   {"if(f > 0, f, 0.5)", 0},
                 {"exp(f)", 1}, {"1 / pow(f, 2)", 1}, {"sin(f) + i", 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char operators[256];
        snprintf(operators, sizeof operators,
                 "  - map: {expr: \"%s\", out: a}\n  - reduce: {in: a, out: b}\n", cases[i].expression);
        hac_placement_free(place(operators, 1));
        assert_int_equal(hacd.n, 2);
        assert_int_equal(hacd.asked[0].host, cases[i].host);
        assert_int_equal(hacd.asked[1].host, 1); /* an exact sum */
    }
}

static void test_components(void **state)
{
    (void)state;
    hac_placement *placement = place("  - map: {expr: \"many + 1\", out: a}\n"
                                     "  - map: {expr: \"a + 1\", out: b}\n",
                                     4);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(placement->pieces[i].n_tasks, 4);
        for (unsigned c = 0; c < 4; c++) {
            const hac_placed_task *task = &placement->pieces[i].tasks[c];
            assert_int_equal(task->component, c);
            assert_int_equal(task->components, 4);
            assert_int_equal(hacd.asked[i * 4 + c].n_after, i);
        }
    }
    hac_placement_free(placement);
}

/* One iteration of each sub-loop; of a split loop within a split loop only the first one. */
static void test_sub_loops(void **state)
{
    (void)state;
    hac_placement *placement = place("  - for: {index: j, from: 0, to: 10, split: 5}\n"
                                     "    do:\n"
                                     "      - map: {expr: \"f * j\", out: a}\n"
                                     "      - for: {index: k, from: 0, to: 4, split: 2}\n"
                                     "        do: [{map: {expr: \"f * k\", out: b}}]\n"
                                     "  - for: {index: l, from: 0, to: 9}\n"
                                     "    do: [{map: {expr: \"f + l\", out: f}}]\n",
                                     1);
    for (size_t piece = 0; piece < 2; piece++) {
        assert_int_equal(placement->pieces[piece].n_tasks, 5);
        for (unsigned s = 0; s < 5; s++) {
            assert_int_equal(placement->pieces[piece].tasks[s].sub_loop, s);
            assert_int_equal(placement->pieces[piece].tasks[s].sub_loops, 5);
        }
    }
    assert_int_equal(only(placement, 2)->sub_loops, 1);
    assert_int_equal(hacd.graphs, 1);
    hac_placement_free(placement);
}

/* Sizes that the data decides are maxima, and so are sizes that follow from them. */
static void test_most(void **state)
{
    (void)state;
    hac_placement *placement = place("  - index: {in: i, out: id, distinct: values}\n"
                                     "  - map: {expr: \"values + 1\", out: a}\n"
                                     "  - filter: {where: \"f > 0\", in: f, out: kept}\n"
                                     "  - reduce: {in: kept, out: sum}\n"
                                     "  - distance: {in: kept, to: kept, out: far}\n"
                                     "  - map: {expr: \"i + 1\", out: b}\n",
                                     1);
    assert_false(only(placement, 0)->at_most);
    assert_true(only(placement, 1)->at_most);
    assert_int_equal(only(placement, 1)->count, 1024);
    assert_int_equal(placement->pieces[2].n_tasks, 2); /* the count is exact, the copy not */
    assert_false(placement->pieces[2].tasks[0].at_most);
    assert_true(placement->pieces[2].tasks[1].at_most);
    assert_true(only(placement, 3)->at_most);
    assert_true(only(placement, 4)->at_most);
    assert_false(only(placement, 5)->at_most);
    assert_true(hac_placement_has_max_rows(placement));
    hac_placement_free(placement);
}

/* A piece that is too large for the maximum need not be too large in a run. */
static void test_too_large(void **state)
{
    (void)state;
    hac_placement *placement = place("  - fill: {value: 1e0, rows: 2000, out: many}\n"
                                     "  - distance: {in: many, to: many, out: far}\n"
                                     "  - filter: {where: \"many > 0\", in: many, out: kept}\n"
                                     "  - distance: {in: kept, to: kept, out: near}\n"
                                     "  - map: {expr: \"near + 1\", out: after}\n",
                                     1);
    expect_open(placement, 1, "a run would fail: that is more than there is");
    expect_open(
        placement, 3,
        "decided when the rows are known; with the maximum number of rows a run would fail: that is more "
        "than there is");
    expect_open(placement, 4, "decided when the rows of `near` are known");
    hac_placement_free(placement);
}

/* Pieces that depend on a missing input or on a value. */
static void test_open(void **state)
{
    (void)state;
    hac_placement *placement = place("  - map: {expr: \"t.x + 1\", out: a}\n"
                                     "  - map: {expr: \"a + 1\", out: b}\n"
                                     "  - reduce: {in: i, out: sum}\n"
                                     "  - fill: {value: 1e0, rows: sum, out: c}\n"
                                     "  - map: {expr: \"c + 1\", out: d}\n"
                                     "  - sort: {in: f, out: e}\n"
                                     "  - map: {expr: \"e + 1\", out: g}\n",
                                     1);
    expect_open(placement, 0, "decided when the rows of `t.x` are known: --input t=FILE");
    expect_open(placement, 1, "decided when the rows of `a` are known");
    (void)only(placement, 2);
    assert_true(placement->pieces[3].n_tasks == 0 && placement->pieces[3].open == NULL);
    expect_open(placement, 4, "decided when the rows of `c` are known");
    expect_open(
        placement, 5,
        "a sort of 1024 f64, planned as a job of its own: hacctl explain sort --items 1024 --type f64");
    assert_int_equal(only(placement, 6)->count, 1024);
    assert_false(hac_placement_has_max_rows(placement));
    hac_placement_free(placement);
}

/* Loops and branches: what never runs says so; a result of a round has a size only if it always has this
 * size. */
static void test_control(void **state)
{
    (void)state;
    hac_placement *placement = place("  - for: {index: j, from: 3, to: 3}\n"
                                     "    do: [{map: {expr: \"f * j\", out: a}}]\n"
                                     "  - if: {condition: \"1 > 2\"}\n"
                                     "    then: [{map: {expr: \"f + 1\", out: b}}]\n"
                                     "    else: [{map: {expr: \"f + 2\", out: b}}]\n"
                                     "  - reduce: {in: f, out: sum}\n"
                                     "  - if: {condition: \"sum > 2\"}\n"
                                     "    then: [{map: {expr: \"f + 1\", out: c}}]\n"
                                     "    else: [{map: {expr: \"f + 2\", out: c}}]\n"
                                     "  - map: {expr: \"c + 1\", out: d}\n"
                                     "  - while: {condition: \"left > 1\", rounds: 9}\n"
                                     "    do:\n"
                                     "      - filter: {where: \"f > 0\", in: f, out: g}\n"
                                     "      - reduce: {in: g, out: left}\n"
                                     "  - map: {expr: \"g + 1\", out: h}\n",
                                     1);
    expect_open(placement, 0, "not run: the loop has no iterations");
    expect_open(placement, 1, "not run: the condition has the other value");
    (void)only(placement, 2);
    (void)only(placement, 3);
    (void)only(placement, 4); /* either branch may run */
    (void)only(placement, 5);
    (void)only(placement, 6);
    assert_int_equal(placement->pieces[7].n_tasks, 2);
    expect_open(placement, 9, "decided when the rows of `g` are known");
    hac_placement_free(placement);
}

/* Results that are computed from results of tasks are unknown, although no task writes them. */
static void test_values(void **state)
{
    (void)state;
    static const char *const makers[] = {"norm: {in: f, out: v}", "argmax: {in: f, out: w, value: v}",
                                         "reduce: {in: f, out: v}"};
    for (size_t i = 0; i < sizeof makers / sizeof *makers; i++) {
        char text[512];
        snprintf(text, sizeof text,
                 "  - %s\n"
                 "  - if: {condition: \"v > 2\"}\n"
                 "    then: [{map: {expr: \"f + 1\", out: c}}]\n"
                 "    else: [{map: {expr: \"f + 2\", out: c}}]\n",
                 makers[i]);
        hac_placement *placement = place(text, 1);
        (void)only(placement, 1);
        (void)only(placement, 2);
        hac_placement_free(placement);
    }
}

/* Failures that a run would have are reported. If hacd cannot be asked, there is no answer. */
static void test_failures(void **state)
{
    (void)state;
    const hac_run_options options = HAC_RUN_OPTIONS_INIT;
    const hac_run_input input = {.name = "u", .path = "u.csv"};
    hac_run_options wrong = options;
    hac_placement *placement;
    hac_error err = HAC_ERROR_NONE;
    hacd.status = HAC_INVALID;
    placement = place("  - map: {expr: \"f + 1\", out: a}\n", 1);
    expect_open(placement, 0, "a run would fail: 2:5: map: it is so");
    hac_placement_free(placement);
    hacd.status = HAC_NO_DAEMON;
    assert_int_equal(walk("  - map: {expr: \"f + 1\", out: a}\n", &options, &placement, &err), HAC_NO_DAEMON);
    assert_null(placement);
    assert_string_equal(err.message, "2:5: map: it is so");
    /* What a simulated machine lacks is not a failure of the run: there is no answer. */
    const hac_simulated_device device = {.size = sizeof device, .name = "big"};
    hac_run_options elsewhere = options;
    elsewhere.machine = &device;
    elsewhere.n_machine = 1;
    hacd.status = HAC_INVALID;
    assert_int_equal(walk("  - map: {expr: \"f + 1\", out: a}\n", &elsewhere, &placement, &err), HAC_INVALID);
    assert_string_equal(err.message, "2:5: map: it is so");
    hacd.status = HAC_OK;
    assert_int_equal(walk("  - map: {expr: \"f + 1\", out: a}\n", &elsewhere, &placement, &err), HAC_OK);
    assert_string_equal(hacd.machine, "big");
    assert_int_equal(only(placement, 0)->count, 1024);
    hac_placement_free(placement);
    wrong.inputs = &input;
    wrong.n_inputs = 1;
    assert_int_equal(walk("  - map: {expr: \"f + 1\", out: a}\n", &wrong, &placement, &err), HAC_INVALID);
    assert_string_equal(err.message, "t.yaml has no input called u");
}

/* ---- printed ---- */

static char cpu[] = "cpu.0", both[] = "cpu.0, gpu.0";
static char rule[] = "rule: float, 2 MiB < 3072 MiB: gpu", pin[] = "pinned to cpu",
            prices[] = "measured: cpu.0 1.2 ms, gpu.0 0.4 ms", later[] = "decided when it is known";

static void test_print(void **state)
{
    (void)state;
    hac_placed_task tasks[] = {
        {"op.map", 0, 4, 0, 1, 0, 64, false, false, 1, 0.5, cpu, rule},
        {"op.map", 1, 4, 0, 1, 64, 64, false, false, 1, 0.5, cpu, rule},
        {"op.map", 2, 4, 0, 1, 128, 64, false, false, 1, 0.5, both, prices},
        {"op.map", 3, 4, 0, 1, 192, 8, true, false, 1, 0.5, cpu, rule},
        {"op.fold", 0, 1, 0, 3, 0, 0, false, false, 1, 0.5, cpu, pin},
        {"op.fold", 0, 1, 1, 3, 0, 0, false, false, 1, 0.5, cpu, pin},
        {"op.fold", 0, 1, 2, 3, 0, 0, true, false, 1, NAN, NULL, NULL},
    };
    const struct {
        hac_piece_placement placement;
        const char *text;
    } cases[] = {
        {{tasks, sizeof tasks / sizeof *tasks, later},
         "  op.map [1 to 2 of 4] rows [0, 128) on cpu.0: rule: float, 2 MiB < 3072 MiB: gpu\n"
         "  op.map [3 of 4] rows [128, 192) on cpu.0, gpu.0: measured: cpu.0 1.2 ms, gpu.0 0.4 ms\n"
         "  op.map [4 of 4] rows [192, 200) (at most) on cpu.0: rule: float, 2 MiB < 3072 MiB: gpu\n"
         "  op.fold [sub-loop 1 to 2 of 3] on cpu.0: pinned to cpu\n"
         "  op.fold [sub-loop 3 of 3] (at most) on ?: ?\n"
         "  the rest: decided when it is known\n"},
        {{NULL, 0, later}, "  decided when it is known\n"},
        {{NULL, 0, NULL}, "  nothing to place: it is done without a device\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        hac_text text = HAC_TEXT_NONE;
        char *printed = NULL;
        hac_piece_placement_print(&cases[i].placement, 2, &text);
        assert_int_equal(hac_text_finish(&text, &printed, NULL, NULL), HAC_OK);
        assert_string_equal(printed, cases[i].text);
        free(printed);
    }
}

static void test_json(void **state)
{
    (void)state;
    hac_placed_task tasks[] = {
        {"op.map", 1, 4, 2, 3, 64, 64, true, false, 9, 0.5, both, prices},
        {"op.fold", 0, 1, 0, 1, 0, 0, false, false, 1, NAN, cpu, pin},
    };
    const hac_piece_placement placement = {tasks, 2, later};
    static const char expected[] =
        "{\"tasks\":[{\"codelet\":\"op.map\",\"component\":1,\"components\":4,\"sub_loop\":2,\"sub_loops\":3,"
        "\"rows\":[64,128],\"places\":false,\"at_most\":true,\"memory\":9,\"devices\":\"cpu.0, gpu.0\","
        "\"predicted_seconds\":0.5,\"reason\":\"measured: cpu.0 1.2 ms, gpu.0 0.4 ms\"},"
        "{\"codelet\":\"op.fold\",\"component\":0,\"components\":1,\"sub_loop\":0,\"sub_loops\":1,"
        "\"rows\":null,\"places\":false,\"at_most\":false,\"memory\":1,\"devices\":\"cpu.0\",\"predicted_"
        "seconds\":null,"
        "\"reason\":\"pinned to cpu\"}],\"open\":\"decided when it is known\"}";
    hac_text text = HAC_TEXT_NONE;
    char *printed = NULL;
    hac_json_open(&text, NULL, '{');
    hac_piece_placement_json(&placement, &text);
    hac_json_close(&text, '}');
    assert_int_equal(hac_text_finish(&text, &printed, NULL, NULL), HAC_OK);
    assert_string_equal(printed, expected);
    free(printed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reasons), cmocka_unit_test(test_components), cmocka_unit_test(test_sub_loops),
        cmocka_unit_test(test_most),    cmocka_unit_test(test_too_large),  cmocka_unit_test(test_open),
        cmocka_unit_test(test_control), cmocka_unit_test(test_failures),   cmocka_unit_test(test_print),
        cmocka_unit_test(test_json),    cmocka_unit_test(test_values),     cmocka_unit_test(test_host),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
