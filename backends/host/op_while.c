/* SPDX-License-Identifier: Apache-2.0 */
/* op.while (base/op_while.h). */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/op_while.h"
#include "expr/machine.h"
#include "host/op_parts.h"
#include "op_spmv_copy.h"

#define STATE_BYTES  ((int)(2 * sizeof(uint64_t)))
#define FIXED_ROUNDS 8 /* a copy of a matrix pays if at least this many products are made with it */

typedef struct while_carry {
    const uint8_t *first, *from;
    uint8_t *to;
    size_t bytes;
    uint8_t *aside; /* owned: `from` is copied here before anything is written; NULL: no copy is needed */
} while_carry;

typedef struct while_call {
    const hac_op_rule *rule;
    hac_op_request request;
} while_call;

typedef struct while_loop {
    hac_op_request condition;
    while_carry carries[HAC_OP_WHILE_CARRIES_MAX];
    while_call calls[HAC_OP_WHILE_CALLS_MAX];
    hac_op_while_head head;
    uint64_t *state;
    const uint64_t *before; /* NULL: it continues no other task */
} while_loop;

/* ---- reading ---- */

typedef struct while_reader {
    const hac_task *task;
    size_t at;
} while_reader;

/* The next `bytes` of the message; NULL: the message is too short. */
static const uint8_t *take(while_reader *r, size_t bytes)
{
    size_t there = r->task->inline_in_bytes, at = r->at;
    if (at > there || bytes > there - at)
        return NULL;
    r->at = (size_t)hac_op_while_up(at + bytes);
    return r->task->inline_in + at;
}

static bool take_copy(while_reader *r, void *ret, size_t bytes)
{
    const uint8_t *from = take(r, bytes);
    if (from != NULL)
        memcpy(ret, from, bytes);
    return from != NULL;
}

static hac_status fail_short(hac_error *err)
{
    return hac_fail(err, HAC_INVALID, "the rounds' calls are truncated");
}

static hac_status place(const hac_task *task, const hac_op_part *part, hac_span *ret, hac_error *err)
{
    const hac_span *span = part->span < task->n_spans ? &task->spans[part->span] : NULL;
    if (span == NULL || part->unused != 0 || part->offset % 64 != 0 || part->offset > span->bytes ||
        part->bytes > span->bytes - part->offset)
        return hac_fail(err, HAC_INVALID, "%llu bytes from %llu on of span %u of a round are not there",
                        (unsigned long long)part->bytes, (unsigned long long)part->offset, part->span);
    *ret = (hac_span){.data = span->data + part->offset, .bytes = part->bytes};
    return HAC_OK;
}

static bool overlap(const hac_span *a, const hac_span *b)
{
    return a->data < b->data + b->bytes && b->data < a->data + a->bytes;
}

static hac_status read_carry(while_reader *r, while_carry *ret, hac_error *err)
{
    hac_op_carry c;
    hac_span first = {0}, from = {0}, to = {0};
    if (!take_copy(r, &c, sizeof c))
        return fail_short(err);
    hac_status status = place(r->task, &c.first, &first, err);
    if (status == HAC_OK)
        status = place(r->task, &c.from, &from, err);
    if (status == HAC_OK)
        status = place(r->task, &c.to, &to, err);
    if (status != HAC_OK)
        return status;
    if (first.bytes != to.bytes || from.bytes != to.bytes || overlap(&first, &to) ||
        (overlap(&from, &to) && from.data != to.data))
        return hac_fail(err, HAC_INVALID,
                        "what is carried on from round to round is not as large there, or lies there");
    *ret = (while_carry){.first = first.data, .from = from.data, .to = to.data, .bytes = to.bytes};
    return HAC_OK;
}

/* A carry may write what another carry reads. */
static hac_status set_aside(while_loop *l, hac_error *err)
{
    for (uint32_t i = 0; i < l->head.n_carries; i++)
        for (uint32_t j = 0; j < l->head.n_carries && l->carries[i].aside == NULL; j++) {
            while_carry *c = &l->carries[i];
            const hac_span from = {(uint8_t *)(uintptr_t)c->from, c->bytes},
                           to = {l->carries[j].to, l->carries[j].bytes};
            if (i == j || !overlap(&from, &to))
                continue;
            c->aside = malloc(c->bytes + 1);
            if (c->aside == NULL)
                return hac_fail_no_memory(err);
        }
    return HAC_OK;
}

static hac_status read_call(while_reader *r, while_call *ret, hac_error *err)
{
    hac_op_while_call c;
    if (!take_copy(r, &c, sizeof c))
        return fail_short(err);
    const hac_op_rule *rule =
        memchr(c.codelet, '\0', sizeof c.codelet) != NULL ? hac_op_rule_find(c.codelet) : NULL;
    if (rule == NULL || c.n_spans > HAC_SPANS_MAX)
        return hac_fail(err, HAC_INVALID, "a round calls an unknown sub-operator");
    hac_task task = {
        .fd = -1, .first = c.first, .count = c.count, .n_spans = c.n_spans, .inline_in_bytes = c.call_bytes};
    for (uint32_t i = 0; i < c.n_spans; i++) {
        hac_op_part part;
        if (!take_copy(r, &part, sizeof part))
            return fail_short(err);
        hac_status status = place(r->task, &part, &task.spans[i], err);
        if (status != HAC_OK)
            return status;
    }
    task.inline_in = take(r, c.call_bytes);
    if (task.inline_in == NULL)
        return fail_short(err);
    ret->rule = rule;
    hac_status status = hac_op_request_read(rule, &task, &ret->request, err);
    ret->request.again = true;
    return status == HAC_OK ? status : hac_error_prefix(err, "%s", rule->op->name);
}

static hac_status check_condition(const hac_op_request *r, hac_error *err)
{
    const hac_op_vector *history = &r->v[0];
    if (!hac_op_is_dense(history) || history->kind != HAC_KIND_U64 || history->columns != r->n - 1)
        return hac_op_fail(err, 0, "the history has a u64 for each Var");
    for (size_t i = 1; i < r->n; i++)
        if (!hac_op_is_dense(&r->v[i]) || !hac_op_is_one(&r->v[i]))
            return hac_op_fail(err, i, "a condition reads Vars");
    return r->program->outputs[0].type.kind == HAC_KIND_BOOL
               ? HAC_OK
               : hac_fail(err, HAC_INVALID, "a condition is true or false");
}

static const hac_op_codelet condition_row = {.name = "op.while",
                                             .operands_min = 2,
                                             .operands_max = 1 + HAC_OP_WHILE_VARS_MAX,
                                             .program_at = 1,
                                             .program = HAC_OP_PROGRAM_MUST,
                                             .range = HAC_OP_NO_RANGE,
                                             .grain = 1,
                                             .functions = 1u << HAC_OP_SUM,
                                             .ones = HAC_OP_NO_ONES};
static const hac_op_rule condition_rule = {.op = &condition_row, .check = check_condition};

/* The call at the front of the message. */
static hac_status read_condition(while_reader *r, hac_op_request *ret, hac_error *err)
{
    hac_task task = *r->task;
    hac_op_call head;
    *ret = (hac_op_request){.n = 0};
    if (task.inline_in_bytes < sizeof head)
        return fail_short(err);
    memcpy(&head, task.inline_in, sizeof head);
    uint64_t bytes = sizeof head + (uint64_t)head.n_operands * sizeof(hac_op_operand) + head.program_bytes;
    if (bytes > task.inline_in_bytes)
        return fail_short(err);
    task.inline_in_bytes = (size_t)bytes;
    r->at = (size_t)hac_op_while_up(bytes);
    return hac_op_request_read(&condition_rule, &task, ret, err);
}

static hac_status place_states(const hac_task *task, while_loop *ret, hac_error *err)
{
    hac_span state = {0}, before = {0};
    hac_status status = place(task, &ret->head.state, &state, err);
    if (status == HAC_OK)
        status = place(task, &ret->head.before, &before, err);
    if (status == HAC_OK &&
        (state.bytes != STATE_BYTES || (before.bytes != STATE_BYTES && before.bytes != 0)))
        return hac_fail(err, HAC_INVALID, "the state of rounds has %d bytes", STATE_BYTES);
    ret->state = (uint64_t *)(void *)state.data;
    ret->before = before.bytes != 0 ? (const uint64_t *)(const void *)before.data : NULL;
    return status;
}

/* ---- what no round changes ---- */

#define PARTS 3 /* parts of an operand: values, offsets, indices */

static void find_parts(const hac_op_vector *v, hac_span ret[PARTS])
{
    bool matrix = v->form == HAC_VECTOR_SPARSE_MATRIX;
    ret[0] = ret[1] = ret[2] = (hac_span){.data = v->values, .bytes = 0};
    ret[0].bytes = v->ones ? 0 : v->entries * v->size;
    if (v->offsets != NULL)
        ret[1] = (hac_span){.data = (uint8_t *)v->offsets, .bytes = (v->rows + 1) * 8};
    if (v->indices != NULL)
        ret[2] = (hac_span){.data = v->indices, .bytes = v->entries * (matrix ? 4 : 8)};
}

static bool lies_in(const hac_op_vector *v, const hac_span *other)
{
    hac_span parts[PARTS];
    find_parts(v, parts);
    return overlap(&parts[0], other) || overlap(&parts[1], other) || overlap(&parts[2], other);
}

static bool is_product(const while_call *c)
{
    return c->rule == hac_op_rule_find("op.spmv");
}

/* Whether an operand of a call that may be written shares memory with the matrix. The matrices of products do
 * not count. */
static bool has_in_operands(const while_call *c, const hac_op_vector *matrix)
{
    bool has = false;
    for (size_t i = 0; i < c->request.n && !has; i++) {
        hac_span parts[PARTS];
        find_parts(&c->request.v[i], parts);
        for (size_t k = 0; k < PARTS && !(i == 1 && is_product(c)); k++)
            has |= lies_in(matrix, &parts[k]);
    }
    return has;
}

static bool is_fixed(const while_loop *l, const hac_op_vector *matrix)
{
    const hac_op_vector *history = &l->condition.v[0];
    const hac_span kept = {.data = history->values, .bytes = history->entries * history->size},
                   state = {.data = (uint8_t *)l->state, .bytes = STATE_BYTES};
    bool fixed = !lies_in(matrix, &kept) && !lies_in(matrix, &state);
    for (uint32_t i = 0; i < l->head.n_carries && fixed; i++)
        fixed = !lies_in(matrix, &(hac_span){.data = l->carries[i].to, .bytes = l->carries[i].bytes});
    for (uint32_t i = 0; i < l->head.n_calls && fixed; i++)
        fixed = !has_in_operands(&l->calls[i], matrix);
    return fixed;
}

/* The limit applies to all copies of a task together, since a task may name any number of products. */
static void find_fixed(while_loop *l)
{
    bool fixed[HAC_OP_WHILE_CALLS_MAX] = {false};
    uint64_t n = 0;
    for (uint32_t i = 0; i < l->head.n_calls && l->condition.v[0].rows >= FIXED_ROUNDS; i++) {
        fixed[i] = is_product(&l->calls[i]) && is_fixed(l, &l->calls[i].request.v[1]);
        n += fixed[i];
    }
    for (uint32_t i = 0; i < l->head.n_calls; i++)
        l->calls[i].request.fixed = fixed[i] ? HAC_OP_SPMV_COPY_BYTES / n : 0;
}

/* ---- all of it ---- */

/* Must be cleared even after a failure. */
static hac_status read_loop(const hac_task *task, while_loop *ret, hac_error *err)
{
    while_reader r = {.task = task};
    hac_status status = read_condition(&r, &ret->condition, err);
    if (status != HAC_OK)
        return status;
    if (!take_copy(&r, &ret->head, sizeof ret->head))
        return fail_short(err);
    if (ret->head.n_carries > HAC_OP_WHILE_CARRIES_MAX || ret->head.n_calls > HAC_OP_WHILE_CALLS_MAX)
        return hac_fail(err, HAC_INVALID, "%u calls and %u vectors to carry on are too many for a round",
                        ret->head.n_calls, ret->head.n_carries);
    status = place_states(task, ret, err);
    for (uint32_t i = 0; i < ret->head.n_carries && status == HAC_OK; i++)
        status = read_carry(&r, &ret->carries[i], err);
    if (status == HAC_OK)
        status = set_aside(ret, err);
    for (uint32_t i = 0; i < ret->head.n_calls && status == HAC_OK; i++)
        status = read_call(&r, &ret->calls[i], err);
    if (status == HAC_OK && r.at < task->inline_in_bytes)
        return hac_fail(err, HAC_INVALID, "%zu bytes follow the rounds' calls", task->inline_in_bytes - r.at);
    if (status == HAC_OK)
        find_fixed(ret);
    return status;
}

static void clear_loop(while_loop *l)
{
    hac_op_request_clear(&l->condition);
    for (uint32_t i = 0; i < HAC_OP_WHILE_CARRIES_MAX; i++)
        free(l->carries[i].aside);
    for (uint32_t i = 0; i < HAC_OP_WHILE_CALLS_MAX; i++)
        hac_op_request_clear(&l->calls[i].request);
}

hac_status hac_op_check_while(const hac_device_facts *facts, const hac_task *task, hac_error *err)
{
    (void)facts;
    hac_autofree while_loop *l = calloc(1, sizeof *l);
    if (l == NULL)
        return hac_fail_no_memory(err);
    hac_status status = read_loop(task, l, err);
    clear_loop(l);
    return status;
}

/* ---- the condition ---- */

/* The machine, and a batch of one row for it. */
typedef struct while_judge {
    hac_machine_c *machine;
    uint64_t *memory; /* owned: HAC_BATCH_ROWS for each Var */
    hac_column columns[HAC_OP_WHILE_VARS_MAX];
} while_judge;

static void clear_judge(while_judge *j)
{
    hac_machine_c_free(j->machine);
    free(j->memory);
}

static hac_status make_judge(const hac_op_request *condition, while_judge *ret, hac_error *err)
{
    size_t vars = condition->n - 1, bytes = vars * HAC_BATCH_ROWS * sizeof *ret->memory;
    *ret = (while_judge){.memory = aligned_alloc(64, bytes)};
    if (ret->memory == NULL)
        return hac_fail_no_memory(err);
    memset(ret->memory, 0, bytes);
    for (size_t i = 0; i < vars; i++)
        ret->columns[i] = (hac_column){.type = {.kind = condition->v[i + 1].kind},
                                       .values = ret->memory + i * HAC_BATCH_ROWS};
    return hac_machine_c_new(condition->program, 1 << 16, &ret->machine, err);
}

/* Whether the loop continues after round `round`. The round's Vars go into the history. */
static bool goes_on(const hac_op_request *condition, while_judge *j, uint64_t round)
{
    size_t vars = condition->n - 1;
    uint64_t *history = (uint64_t *)(void *)condition->v[0].values + round * vars;
    hac_batch batch = {.rows = 1, .n_columns = vars, .columns = j->columns};
    hac_column output;
    for (size_t i = 0; i < vars; i++) {
        uint64_t value = hac_op_constant_of(&condition->v[i + 1]);
        history[i] = value;
        memcpy(j->columns[i].values, &value, sizeof value);
    }
    hac_machine_c_run(j->machine, &batch, &output);
    return (output.states == NULL || output.states[0] == HAC_ROW_OK) && *(const uint8_t *)output.values != 0;
}

/* ---- rounds ---- */

static bool is_of_data(hac_status status)
{
    return status == HAC_FAILED || status == HAC_INVALID || status == HAC_REFUSED;
}

static hac_status make_call(while_call *c, hac_error *err)
{
    uint64_t values[HAC_TASK_VALUES_MAX];
    size_t n_values = 0;
    hac_status status = c->rule->run(&c->request, values, &n_values, err);
    return status == HAC_OK ? status : hac_error_prefix(err, "%s", c->rule->op->name);
}

static void carry_on(const while_loop *l, bool first)
{
    for (uint32_t i = 0; i < l->head.n_carries && !first; i++)
        if (l->carries[i].aside != NULL)
            memcpy(l->carries[i].aside, l->carries[i].from, l->carries[i].bytes);
    for (uint32_t i = 0; i < l->head.n_carries; i++) {
        const while_carry *c = &l->carries[i];
        const uint8_t *from = first ? c->first : c->aside != NULL ? c->aside : c->from;
        if (from != c->to)
            memcpy(c->to, from, c->bytes);
    }
}

static hac_status run_round(while_loop *l, bool first, hac_error *err)
{
    hac_status status = HAC_OK;
    carry_on(l, first);
    for (uint32_t i = 0; i < l->head.n_calls && status == HAC_OK; i++)
        status = make_call(&l->calls[i], err);
    return status;
}

static hac_status run_rounds(while_loop *l, while_judge *j, uint64_t *values, hac_error *err)
{
    uint64_t rounds = l->condition.v[0].rows, done = 0;
    uint64_t end = l->before != NULL ? hac_op_once_u64(&l->before[1]) : HAC_OP_WHILE_ON;
    while (done < rounds && end == HAC_OP_WHILE_ON) {
        hac_status status = run_round(l, done == 0, err);
        if (status != HAC_OK && !is_of_data(status))
            return status;
        if (status != HAC_OK)
            end = HAC_OP_WHILE_FAILED;
        else if (!goes_on(&l->condition, j, done++))
            end = HAC_OP_WHILE_OFF;
    }
    values[0] = l->state[0] = done;
    values[1] = l->state[1] = end;
    return HAC_OK;
}

hac_status hac_op_run_while(hac_device *device, const hac_task *task, hac_task_result *result, hac_error *err)
{
    (void)device;
    hac_autofree while_loop *l = calloc(1, sizeof *l);
    while_judge j = {.machine = NULL};
    if (l == NULL)
        return hac_fail_no_memory(err);
    hac_status status = read_loop(task, l, err);
    if (status == HAC_OK)
        status = make_judge(&l->condition, &j, err);
    if (status == HAC_OK)
        status = run_rounds(l, &j, result->values, err);
    result->n_values = status == HAC_OK ? 2 : 0;
    clear_judge(&j);
    clear_loop(l);
    return status == HAC_OK ? status : hac_error_prefix(err, "op.while");
}
