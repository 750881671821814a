/* SPDX-License-Identifier: Apache-2.0 */
/*
 * op.while: rounds of a loop in which a vector grows by a step that grows, too, against the same loop in
 * plain C. All data lies in one span, whose ends are watched:
 *
 *     x = x + by      by = by + 1      top = the maximum of x      while top < limit
 */
#include <stdlib.h>
#include <string.h>

#include "base/op_while.h"
#include "base/random.h"
#include "codelets.h"
#include "test_ops.h"

#define ROWS   5000
#define ROUNDS 40

/* Where each vector lies. A round reads the vectors that it begins with and writes those that it leaves. */
enum {
    BIG = ROWS * 8 + 64,
    FIRST_X = 0,
    BEGIN_X = FIRST_X + BIG / 64 * 64,
    LEFT_X = BEGIN_X + BIG / 64 * 64,
    FIRST_BY = LEFT_X + BIG / 64 * 64,
    BEGIN_BY = FIRST_BY + 64,
    LEFT_BY = BEGIN_BY + 64,
    PARTIALS = LEFT_BY + 64,
    TOP = PARTIALS + 64,
    STATE = TOP + 64,
    BEFORE = STATE + 64,
    HISTORY = BEFORE + 64,
    BYTES = HISTORY + ROUNDS * 2 * 8,
};

typedef struct test_rounds {
    uint8_t *memory;
    hac_text call;
    hac_task task;
    hac_task_result result;
    hac_error err;
    uint64_t rounds;
    int64_t limit;
    bool behind;
} test_rounds;

static int64_t *at(const test_rounds *r, size_t offset)
{
    return (int64_t *)(void *)(r->memory + offset);
}

/* ---- the call ---- */

static void add(hac_text *to, const void *data, size_t bytes)
{
    static const char zeros[8];
    hac_text_add_bytes(to, data, bytes);
    hac_text_add_bytes(to, zeros, (size_t)(hac_op_while_up(bytes) - bytes));
}

static hac_op_operand operand(uint8_t span, uint64_t rows, uint64_t columns, unsigned kind)
{
    return (hac_op_operand){
        .form = HAC_VECTOR_FIX_VALUE, .kind = (uint8_t)kind, .span = span, .rows = rows, .columns = columns};
}

/* x + y, x + 1, x < limit. */
static void add_program(hac_text *to, unsigned which, int64_t limit)
{
    hac_program_builder *b = NULL;
    hac_program *program = NULL;
    hac_value_type i64 = {.kind = HAC_KIND_I64};
    hac_error err = HAC_ERROR_NONE;
    assert_int_equal(hac_program_builder_new(&b, &err), HAC_OK);
    hac_value_id x = hac_program_builder_input(b, 0, i64), value;
    if (which == 0)
        value = hac_program_builder_op(b, HAC_OP_ADD_I64, x, hac_program_builder_input(b, 1, i64), 0, 0);
    else if (which == 1)
        value = hac_program_builder_op(b, HAC_OP_ADD_I64, x,
                                       hac_program_builder_constant(b, HAC_REPR_I64, 1, 0), 0, 0);
    else
        value = hac_program_builder_op(
            b, HAC_OP_LT_I64, x, hac_program_builder_constant(b, HAC_REPR_I64, (uint64_t)limit, 0), 0, 0);
    hac_program_builder_output(b, value, which == 2 ? (hac_value_type){.kind = HAC_KIND_BOOL} : i64);
    if (hac_program_builder_finish(b, &program, &err) != HAC_OK)
        fail_msg("%s", err.message);
    hac_program_write(program, to);
    hac_program_free(program);
    hac_program_builder_free(b);
}

static void write_call(hac_text *to, const hac_op_operand *operands, uint32_t n, unsigned function,
                       int program, int64_t limit)
{
    hac_text bytes = HAC_TEXT_NONE;
    if (program >= 0)
        add_program(&bytes, (unsigned)program, limit);
    hac_op_call call = {
        .magic = HAC_OP_MAGIC, .function = function, .n_operands = n, .program_bytes = (uint32_t)bytes.bytes};
    hac_text_add_bytes(to, (const char *)&call, sizeof call);
    hac_text_add_bytes(to, (const char *)operands, n * sizeof *operands);
    if (bytes.bytes > 0)
        hac_text_add_bytes(to, bytes.data, bytes.bytes);
    hac_text_clear(&bytes);
}

static hac_op_part part(uint64_t offset, uint64_t bytes)
{
    return (hac_op_part){.offset = offset, .bytes = bytes};
}

static void add_call(hac_text *to, const char *codelet, const hac_op_operand *operands,
                     const hac_op_part *parts, uint32_t n, unsigned function, int program)
{
    hac_text call = HAC_TEXT_NONE;
    hac_op_while_call head = {.n_spans = n};
    write_call(&call, operands, n, function, program, 0);
    strcpy(head.codelet, codelet);
    head.call_bytes = (uint32_t)call.bytes;
    add(to, &head, sizeof head);
    for (uint32_t i = 0; i < n; i++)
        add(to, &parts[i], sizeof parts[i]);
    add(to, call.data, call.bytes);
    hac_text_clear(&call);
}

static void add_calls(hac_text *to)
{
    hac_op_operand x = operand(0, ROWS, 1, HAC_KIND_I64), one = operand(0, 1, 1, HAC_KIND_I64);
    hac_op_operand map[] = {x, x, one}, grow[] = {one, one}, reduce[] = {operand(0, 2, 1, HAC_KIND_I64), x},
                   combine[] = {one, reduce[0]};
    for (uint8_t i = 0; i < 3; i++)
        map[i].span = i;
    grow[1].span = reduce[1].span = combine[1].span = 1;
    add_call(to, "op.map", map,
             (hac_op_part[]){part(LEFT_X, ROWS * 8), part(BEGIN_X, ROWS * 8), part(BEGIN_BY, 8)}, 3,
             HAC_OP_SUM, 0);
    add_call(to, "op.map", grow, (hac_op_part[]){part(LEFT_BY, 8), part(BEGIN_BY, 8)}, 2, HAC_OP_SUM, 1);
    add_call(to, "op.reduce", reduce, (hac_op_part[]){part(PARTIALS, 16), part(LEFT_X, ROWS * 8)}, 2,
             HAC_OP_MAX, -1);
    add_call(to, "op.combine", combine, (hac_op_part[]){part(TOP, 8), part(PARTIALS, 16)}, 2, HAC_OP_MAX, -1);
}

static void pack(test_rounds *r)
{
    hac_op_operand condition[] = {operand(0, r->rounds, 1, HAC_KIND_U64), operand(0, 1, 1, HAC_KIND_I64)};
    hac_op_while_head head = {
        .n_carries = 2, .n_calls = 4, .state = part(STATE, 16), .before = part(BEFORE, r->behind ? 16 : 0)};
    hac_op_carry x = {part(FIRST_X, ROWS * 8), part(LEFT_X, ROWS * 8), part(BEGIN_X, ROWS * 8)};
    hac_op_carry by = {part(FIRST_BY, 8), part(LEFT_BY, 8), part(BEGIN_BY, 8)};
    hac_text text = HAC_TEXT_NONE;
    condition[0].values = HISTORY;
    condition[1].values = TOP;
    write_call(&text, condition, 2, HAC_OP_SUM, 2, r->limit);
    hac_text_clear(&r->call);
    add(&r->call, text.data, text.bytes);
    hac_text_clear(&text);
    add(&r->call, &head, sizeof head);
    add(&r->call, &x, sizeof x);
    add(&r->call, &by, sizeof by);
    add_calls(&r->call);
    assert_false(r->call.broken);
    r->task = (hac_task){.fd = -1,
                         .n_spans = 1,
                         .spans = {{r->memory, BYTES}},
                         .inline_in = (const uint8_t *)r->call.data,
                         .inline_in_bytes = r->call.bytes};
}

static hac_status run(test_rounds *r)
{
    static const hac_device_facts none = {.max_allocation = UINT64_MAX};
    const hac_codelet *codelet = hac_codelet_find("op.while");
    assert_non_null(codelet);
    r->result = (hac_task_result){0};
    r->err = (hac_error)HAC_ERROR_NONE;
    hac_status status = codelet->check(&none, &r->task, &r->err);
    return status == HAC_OK ? codelet->run(NULL, &r->task, &r->result, &r->err) : status;
}

static void begin(test_rounds *r, uint64_t n, int64_t limit)
{
    *r = (test_rounds){.memory = test_guarded(BYTES), .call = HAC_TEXT_NONE, .rounds = n, .limit = limit};
    for (size_t i = 0; i < ROWS; i++)
        at(r, FIRST_X)[i] = (int64_t)(i * 7919 % 1000);
    *at(r, FIRST_BY) = 1;
    pack(r);
}

static void end(test_rounds *r)
{
    assert_true(test_guard_is_whole(r->memory, BYTES));
    hac_text_clear(&r->call);
    free(r->memory);
}

/* The result of `n` rounds from `from` on, with steps from `by` on; the history has it. */
static void check(const test_rounds *r, const int64_t *from, int64_t by, uint64_t n, size_t left_x,
                  size_t left_by)
{
    int64_t sum = 0, max = INT64_MIN;
    for (uint64_t i = 0; i < n; i++)
        sum += by + (int64_t)i;
    for (size_t i = 0; i < ROWS; i++) {
        max = from[i] > max ? from[i] : max;
        if (at(r, left_x)[i] != from[i] + sum)
            fail_msg("row %zu is %lld", i, (long long)at(r, left_x)[i]);
    }
    assert_int_equal(*at(r, left_by), by + (int64_t)n);
    for (uint64_t i = 0; i < n; i++) {
        max += by + (int64_t)i;
        assert_int_equal(at(r, HISTORY)[i], max);
    }
}

static void ends(const test_rounds *r, uint64_t done, hac_op_while_end how)
{
    assert_int_equal(r->result.n_values, 2);
    assert_int_equal(r->result.values[0], done);
    assert_int_equal(r->result.values[1], how);
    assert_int_equal(at(r, STATE)[0], done);
    assert_int_equal(at(r, STATE)[1], how);
}

/* ---- tests ---- */

/* The loop ends after as many rounds as the history has rows, or after the first round whose condition is
 * false. */
static void test_ends(void **state)
{
    (void)state;
    for (uint64_t wanted = 1; wanted <= ROUNDS; wanted += 3)
        for (uint64_t max = 1; max <= ROUNDS; max += 4) {
            test_rounds r;
            begin(&r, max, 999 + (int64_t)(wanted * (wanted + 1) / 2)); /* top after `wanted` rounds */
            uint64_t done = max < wanted ? max : wanted;
            /* after the loss of an executor the task begins again */
            for (int again = 0; again < 2; again++) {
                if (run(&r) != HAC_OK)
                    fail_msg("%s", r.err.message);
                ends(&r, done, wanted <= max ? HAC_OP_WHILE_OFF : HAC_OP_WHILE_ON);
                check(&r, at(&r, FIRST_X), 1, done, LEFT_X, LEFT_BY);
            }
            end(&r);
        }
}

/* A round that fails leaves its inputs. */
static void test_failure(void **state)
{
    (void)state;
    for (int64_t good = 0; good < 5; good++) {
        test_rounds r;
        begin(&r, ROUNDS, INT64_MAX);
        at(&r, FIRST_X)[77] = INT64_MAX - good * (good + 1) / 2 - (good > 0);
        assert_int_equal(run(&r), HAC_OK);
        ends(&r, (uint64_t)good, HAC_OP_WHILE_FAILED);
        check(&r, at(&r, FIRST_X), 1, (uint64_t)good, BEGIN_X, BEGIN_BY);
        end(&r);
    }
}

/* A task continues where another one ended, if that one could go on. */
static void test_behind(void **state)
{
    (void)state;
    for (int64_t how = HAC_OP_WHILE_ON; how <= HAC_OP_WHILE_FAILED; how++) {
        test_rounds r;
        begin(&r, 7, INT64_MAX);
        r.behind = true;
        pack(&r);
        at(&r, BEFORE)[0] = 5;
        at(&r, BEFORE)[1] = how;
        *at(&r, FIRST_BY) = 3;
        memset(at(&r, LEFT_X), 0x5a, ROWS * 8);
        assert_int_equal(run(&r), HAC_OK);
        ends(&r, how == HAC_OP_WHILE_ON ? 7 : 0, (hac_op_while_end)how);
        if (how == HAC_OP_WHILE_ON)
            check(&r, at(&r, FIRST_X), 3, 7, LEFT_X, LEFT_BY);
        else
            assert_int_equal(at(&r, LEFT_X)[4], 0x5a5a5a5a5a5a5a5a);
        end(&r);
    }
}

/* Truncated anywhere; with parts that do not exist or that overlap. */
static void test_damaged(void **state)
{
    (void)state;
    test_rounds r;
    begin(&r, 3, INT64_MAX);
    size_t bytes = r.task.inline_in_bytes;
    for (size_t n = 0; n < bytes; n++) {
        r.task.inline_in_bytes = n;
        if (run(&r) != HAC_INVALID)
            fail_msg("%zu of %zu bytes are taken", n, bytes);
    }
    r.task.inline_in_bytes = bytes;
    assert_int_equal(run(&r), HAC_OK);
    r.task.spans[0].bytes = BYTES - 8; /* the history's last row is not used: it has 3 */
    assert_int_equal(run(&r), HAC_OK);
    r.task.spans[0].bytes = HISTORY + 2 * 8;
    assert_int_equal(run(&r), HAC_INVALID);
    r.task.spans[0].bytes = BYTES;
    uint8_t *call = (uint8_t *)r.call.data;
    uint64_t seed = 3;
    for (unsigned turn = 0; turn < HAC_TEST_CASES(20000, 1500);
         turn++) { /* nothing outside of the span is touched */
        size_t place = (size_t)(hac_random_u64(&seed) % bytes);
        uint8_t old = call[place];
        call[place] =
            (uint8_t)(turn % 2 == 0 ? old ^ 1u << hac_random_u64(&seed) % 8 : hac_random_u64(&seed));
        hac_status ignored = run(&r);
        (void)ignored;
        call[place] = old;
    }
    end(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ends),
        cmocka_unit_test(test_failure),
        cmocka_unit_test(test_behind),
        cmocka_unit_test(test_damaged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
