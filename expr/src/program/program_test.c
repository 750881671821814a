/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs: what the builder makes of values, programs as bytes, and hostile programs: every program that the
 * verifier accepts must run without harm (the sanitizers watch).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "machine/machine_parts.h"
#include "test_columns.h"

#define INPUTS 4

static const hac_value_type t_i64 = {HAC_KIND_I64, 0, 0}, t_bool = {HAC_KIND_BOOL, 0, 0},
                            t_string = {HAC_KIND_STRING, 0, 0}, t_f64 = {HAC_KIND_F64, 0, 0};

static hac_program_builder *new_builder(void)
{
    hac_program_builder *builder = NULL;
    assert_int_equal(hac_program_builder_new(&builder, NULL), HAC_OK);
    return builder;
}

static hac_program *finish(hac_program_builder *builder)
{
    hac_program *program = NULL;
    hac_error err = HAC_ERROR_NONE;
    if (hac_program_builder_finish(builder, &program, &err) != HAC_OK)
        fail_msg("%s", err.message);
    return program;
}

/* ---- the builder --------------------------------------------------------------------------------------- */

static void test_equal_operations(void **state)
{
    (void)state;
    hac_program_builder *b = new_builder();
    hac_value_id x = hac_program_builder_input(b, 0, t_i64), y = hac_program_builder_input(b, 2, t_i64);
    assert_int_equal(hac_program_builder_input(b, 0, t_i64), x);
    hac_value_id sum = hac_program_builder_op(b, HAC_OP_ADD_I64, x, y, 0, 0);
    assert_int_equal(hac_program_builder_op(b, HAC_OP_ADD_I64, x, y, 0, 0), sum);
    assert_int_not_equal(hac_program_builder_op(b, HAC_OP_SUB_I64, x, y, 0, 0), sum);
    assert_int_not_equal(hac_program_builder_op(b, HAC_OP_ADD_I64, y, x, 0, 0), sum);
    hac_value_id five = hac_program_builder_constant(b, HAC_REPR_I64, 5, 0);
    assert_int_equal(hac_program_builder_constant(b, HAC_REPR_I64, 5, 0), five);
    assert_int_not_equal(hac_program_builder_constant(b, HAC_REPR_U64, 5, 0), five);
    hac_value_id text = hac_program_builder_string(b, (const uint8_t *)"abc", 3);
    assert_int_equal(hac_program_builder_string(b, (const uint8_t *)"abc", 3), text);
    assert_int_not_equal(hac_program_builder_string(b, (const uint8_t *)"ab", 2), text);
    assert_int_equal(hac_program_builder_null(b, HAC_REPR_F64), hac_program_builder_null(b, HAC_REPR_F64));
    assert_int_not_equal(hac_program_builder_null(b, HAC_REPR_F64),
                         hac_program_builder_null(b, HAC_REPR_F32));
    hac_value_id range = hac_program_builder_range(b, HAC_OP_RANGE_I64, sum, -128, 127);
    assert_int_equal(hac_program_builder_range(b, HAC_OP_RANGE_I64, sum, -128, 127), range);
    assert_int_not_equal(hac_program_builder_range(b, HAC_OP_RANGE_I64, sum, -128, 126), range);
    hac_value_id up = hac_program_builder_op(b, HAC_OP_SCALE_UP_I64, x, 0, 0, 2);
    assert_int_not_equal(hac_program_builder_op(b, HAC_OP_SCALE_UP_I64, x, 0, 0, 3), up);
    assert_int_equal(hac_program_builder_repr(b, up), HAC_REPR_I64);
    hac_program_builder_output(b, range, t_i64);
    hac_program *program = finish(b);
    assert_int_equal(program->n_inputs, 3); /* the second is a gap */
    assert_int_equal(program->inputs[1].kind, HAC_KIND_NONE);
    assert_int_equal(program->n_instructions, 4); /* only two columns, the sum and the range are needed */
    assert_int_equal(program->n_constants, 3);
    assert_int_equal(program->n_bytes, 0);
    hac_program_free(program);
    hac_program_builder_free(b);
}

/* A chain needs only as many registers as are alive at once, however long it is. */
static void test_registers_are_used_again(void **state)
{
    (void)state;
    hac_program_builder *b = new_builder();
    hac_value_id x = hac_program_builder_input(b, 0, t_i64), v = x;
    for (int i = 0; i < 2000; i++)
        v = hac_program_builder_op(b, i % 2 == 0 ? HAC_OP_ADD_I64 : HAC_OP_MUL_I64, v, x, 0, 0);
    hac_program_builder_output(b, v, t_i64);
    hac_program *program = finish(b);
    assert_int_equal(program->n_instructions, 2001);
    assert_int_equal(program->n_registers, 3);
    hac_program_free(program);
    program = finish(b); /* it is empty now */
    assert_int_equal(program->n_instructions + program->n_outputs + program->n_inputs, 0);
    hac_program_free(program);
    hac_program_builder_free(b);
}

static void expect_failure(hac_program_builder *b, hac_status wanted)
{
    hac_program *program = NULL;
    hac_error err = HAC_ERROR_NONE;
    assert_int_equal(hac_program_builder_op(b, HAC_OP_ADD_I64, 1, 1, 0, 0), 0); /* failures stick */
    assert_int_equal(hac_program_builder_finish(b, &program, &err), wanted);
    assert_true(err.message[0] != '\0');
    assert_null(program);
    hac_program_builder_output(b, hac_program_builder_constant(b, HAC_REPR_I64, 1, 0),
                               t_i64); /* until hac_program_builder_finish */
    program = finish(b);
    assert_int_equal(program->n_instructions, 1);
    hac_program_free(program);
}

static void test_limits(void **state)
{
    (void)state;
    hac_program_builder *b = new_builder();
    hac_program *program = NULL;
    hac_value_id all[300];
    for (size_t n = 100; n <= 300; n += 156) { /* n values that are all alive */
        for (uint64_t i = 0; i < n; i++)
            all[i] = hac_program_builder_op(b, HAC_OP_ADD_I64, hac_program_builder_input(b, 0, t_i64),
                                            hac_program_builder_constant(b, HAC_REPR_I64, i, 0), 0, 0);
        for (size_t i = 1; i < n; i++)
            all[0] = hac_program_builder_op(b, HAC_OP_ADD_I64, all[0], all[i], 0, 0);
        hac_program_builder_output(b, all[0], t_i64);
        hac_error err = HAC_ERROR_NONE;
        assert_int_equal(hac_program_builder_finish(b, &program, &err), n < 256 ? HAC_OK : HAC_INVALID);
        if (n < 256)
            hac_program_free(program);
    }
    hac_value_id v = hac_program_builder_input(b, 0, t_i64);
    for (int i = 0; i < 4200; i++)
        v = hac_program_builder_op(b, HAC_OP_ADD_I64, v, v, 0, 0);
    hac_program_builder_output(b, v, t_i64);
    assert_int_equal(hac_program_builder_finish(b, &program, NULL), HAC_INVALID); /* 4,201 instructions */
    for (uint64_t i = 0; i < 20000; i++)
        hac_program_builder_constant(b, HAC_REPR_I64, i, 0);
    expect_failure(b, HAC_INVALID);
    for (int i = 0; i < 257; i++)
        hac_program_builder_output(b, hac_program_builder_constant(b, HAC_REPR_I64, 1, 0), t_i64);
    expect_failure(b, HAC_INVALID);
    hac_autofree uint8_t *text = calloc(2u << 20, 1);
    assert_non_null(text);
    hac_program_builder_string(b, text, 2u << 20);
    expect_failure(b, HAC_INVALID);
    hac_program_builder_free(b);
}

static void test_misuse(void **state)
{
    (void)state;
    hac_program_builder *b = new_builder();
    hac_program_builder_op(b, HAC_OP_ADD_I64, hac_program_builder_input(b, 0, t_f64),
                           hac_program_builder_input(b, 1, t_i64), 0, 0);
    expect_failure(b, HAC_INTERNAL);
    hac_program_builder_op(b, HAC_OP_ADD_I64, hac_program_builder_input(b, 1, t_i64), 0, 0, 0);
    expect_failure(b, HAC_INTERNAL);
    hac_program_builder_op(b, HAC_OP_NEG_I64, hac_program_builder_input(b, 1, t_i64),
                           hac_program_builder_input(b, 1, t_i64), 0, 0);
    expect_failure(b, HAC_INTERNAL);
    hac_program_builder_op(b, HAC_OP_NEG_I64, 77, 0, 0, 0);
    expect_failure(b, HAC_INTERNAL);
    hac_program_builder_input(b, 1, t_i64);
    hac_program_builder_input(b, 1, t_f64);
    expect_failure(b, HAC_INTERNAL);
    hac_program_builder_output(b, hac_program_builder_input(b, 1, t_i64), t_f64);
    expect_failure(b, HAC_INTERNAL);
    hac_program_builder_op(b, HAC_OP_SCALE_UP_I64, hac_program_builder_input(b, 1, t_i64), 0, 0, 39);
    expect_failure(b, HAC_INTERNAL);
    hac_program_builder_op(b, HAC_OP_TIME_PART, hac_program_builder_input(b, 1, t_i64), 0, 0, HAC_UNIT_YEAR);
    expect_failure(b, HAC_INTERNAL);
    hac_program_builder_op(b, HAC_OP_SELECT, hac_program_builder_input(b, 1, t_bool),
                           hac_program_builder_input(b, 0, t_i64), hac_program_builder_input(b, 2, t_f64), 0);
    expect_failure(b, HAC_INTERNAL);
    hac_program_builder_range(b, HAC_OP_RANGE_I64, hac_program_builder_input(b, 1, t_i64), 1, 0);
    expect_failure(b, HAC_INTERNAL);
    hac_value_id column = hac_program_builder_input(b, 1, t_i64);
    hac_program_builder_in(b, HAC_OP_IN_I64, column, &column, 1);
    expect_failure(b, HAC_INTERNAL);
    hac_program_builder_like(b, hac_program_builder_input(b, 1, t_string), (const uint8_t *)"a!", 2, '!');
    expect_failure(b, HAC_INVALID);
    hac_program_builder_free(b);
}

static void test_lists_and_patterns(void **state)
{
    (void)state;
    hac_program_builder *b = new_builder();
    hac_value_id s = hac_program_builder_input(b, 0, t_string), list[4];
    static const char *const words[] = {"pear", "apple", "pear", ""};
    for (int i = 0; i < 4; i++)
        list[i] = hac_program_builder_string(b, (const uint8_t *)words[i], strlen(words[i]));
    hac_program_builder_output(b, hac_program_builder_in(b, HAC_OP_IN_STRING, s, list, 4), t_bool);
    hac_program_builder_output(b, hac_program_builder_like(b, s, (const uint8_t *)"a!%b\\!!_%", 9, '!'),
                               t_bool);
    hac_program *program = finish(b);
    hac_text text = HAC_TEXT_NONE;
    hac_program_print(program, &text);
    assert_non_null(strstr(text.data, "IN_STRING r0 ['' 'apple' 'pear']"));
    assert_non_null(strstr(text.data, "LIKE r0 'a\\%b\\\\!_%'"));
    hac_text_clear(&text);
    hac_program_free(program);
    hac_program_builder_free(b);
}

static void test_facts(void **state)
{
    (void)state;
    hac_program_builder *b = new_builder();
    hac_program_builder_output(
        b, hac_program_builder_op(b, HAC_OP_SQRT_F64, hac_program_builder_input(b, 0, t_f64), 0, 0, 0),
        t_f64);
    hac_program *program = finish(b);
    assert_true(hac_program_exact(program) && hac_program_fits_device(program));
    hac_program_free(program);
    hac_program_builder_output(
        b, hac_program_builder_op(b, HAC_OP_EXP_F64, hac_program_builder_input(b, 0, t_f64), 0, 0, 0), t_f64);
    program = finish(b);
    assert_true(!hac_program_exact(program) && hac_program_fits_device(program));
    hac_program_free(program);
    hac_program_builder_output(b, hac_program_builder_input(b, 0, t_string), t_string);
    program = finish(b);
    assert_true(hac_program_exact(program) && hac_program_fits_device(program)); /* as the column has it */
    hac_program_free(program);
    hac_value_id s = hac_program_builder_input(b, 0, t_string);
    hac_program_builder_output(b, hac_program_builder_op(b, HAC_OP_IS_NULL, s, 0, 0, 0), t_bool);
    program = finish(b);
    assert_true(hac_program_fits_device(program));
    hac_program_free(program);
    s = hac_program_builder_input(b, 0, t_string);
    hac_program_builder_output(b, hac_program_builder_op(b, HAC_OP_COALESCE, s, s, 0, 0), t_string);
    program = finish(b);
    assert_false(hac_program_fits_device(program));
    hac_program_free(program);
    s = hac_program_builder_input(b, 0, t_string);
    hac_program_builder_output(b, hac_program_builder_op(b, HAC_OP_LENGTH, s, 0, 0, 0), t_i64);
    program = finish(b);
    assert_false(hac_program_fits_device(program));
    hac_program_free(program);
    hac_program_builder_free(b);
}

/* ---- programs with operations of every kind -------------------------------------------------------------
 * */

static hac_program *rich_program(void)
{
    hac_program_builder *b = new_builder();
    hac_value_id x = hac_program_builder_input(b, 0, t_i64), s = hac_program_builder_input(b, 1, t_string),
                 f = hac_program_builder_input(b, 2, t_f64), p = hac_program_builder_input(b, 3, t_bool),
                 list[3];
    for (uint64_t i = 0; i < 3; i++)
        list[i] = hac_program_builder_constant(b, HAC_REPR_I64, 7 * i, 0);
    hac_value_id in = hac_program_builder_in(b, HAC_OP_IN_I64, x, list, 3);
    hac_value_id like = hac_program_builder_like(b, s, (const uint8_t *)"a\\%%_", 5, '\\');
    hac_value_id range = hac_program_builder_range(b, HAC_OP_RANGE_I64, x, -100, 100);
    hac_value_id wide = hac_program_builder_op(b, HAC_OP_I64_TO_I128, x, 0, 0, 0);
    hac_value_id scaled = hac_program_builder_op(b, HAC_OP_SCALE_UP_I128, wide, 0, 0, 12);
    hac_value_id text = hac_program_builder_op(b, HAC_OP_DECIMAL_TO_STRING, scaled, 0, 0, 3);
    hac_value_id other = hac_program_builder_string(b, (const uint8_t *)"other", 5);
    hac_value_id chosen = hac_program_builder_op(
        b, HAC_OP_SELECT, hac_program_builder_op(b, HAC_OP_AND, in, p, 0, 0), text, s, 0);
    hac_value_id joined = hac_program_builder_op(b, HAC_OP_CONCAT, chosen, other, 0, 0);
    hac_value_id part = hac_program_builder_op(b, HAC_OP_SUBSTR, joined, x,
                                               hac_program_builder_constant(b, HAC_REPR_I64, 3, 0), 0);
    hac_value_id year = hac_program_builder_op(b, HAC_OP_DATE_PART, x, 0, 0, HAC_UNIT_YEAR);
    hac_value_id sum = hac_program_builder_op(
        b, HAC_OP_ADD_F64, f, hac_program_builder_constant(b, HAC_REPR_F64, 0x3ff0000000000000, 0), 0, 0);
    hac_program_builder_output(b, hac_program_builder_op(b, HAC_OP_COALESCE, part, other, 0, 0), t_string);
    hac_program_builder_output(b, hac_program_builder_op(b, HAC_OP_OR, like, p, 0, 0), t_bool);
    hac_program_builder_output(b, range, t_i64);
    hac_program_builder_output(b, year, t_i64);
    hac_program_builder_output(b, sum, t_f64);
    hac_program_builder_output(b, scaled, (hac_value_type){HAC_KIND_DECIMAL, 38, 12});
    hac_program_builder_output(b, hac_program_builder_null(b, HAC_REPR_STRING), t_string);
    hac_program_builder_output(b, hac_program_builder_op(b, HAC_OP_REPLACE, s, other, text, 0), t_string);
    hac_program *program = finish(b);
    hac_program_builder_free(b);
    return program;
}

/* Runs a verified program on columns of its input types, and reads all results. */
static void run_harmlessly(const hac_program *program)
{
    hac_column columns[HAC_PROGRAM_INPUTS_MAX], outputs[HAC_PROGRAM_OUTPUTS_MAX];
    hac_machine_c *machine = NULL;
    test_random random = {1};
    if (program->n_inputs > INPUTS)
        return;
    for (size_t i = 0; i < program->n_inputs; i++) {
        hac_repr repr = hac_repr_of(program->inputs[i]);
        columns[i] = (hac_column){.type = program->inputs[i]};
        if (repr == HAC_REPR_NONE)
            continue;
        columns[i] = test_column_new(repr, true);
        for (size_t row = 0; row < 65; row++) {
            ref_value value = test_value(&random, repr);
            value.state = row % 5 == 4;
            test_column_set(&columns[i], repr, row, &value);
        }
    }
    hac_batch batch = {65, program->n_inputs, columns};
    assert_int_equal(hac_machine_c_new(program, 2000, &machine, NULL), HAC_OK);
    hac_machine_c_run(machine, &batch, outputs);
    unsigned sum = 0;
    for (size_t i = 0; i < program->n_outputs; i++)
        for (size_t row = 0; row < batch.rows; row++) {
            ref_value value = reference_get(&outputs[i], hac_repr_of(program->outputs[i].type), row);
            for (size_t j = 0; value.state == HAC_ROW_OK && j < value.bytes && j < sizeof value.string; j++)
                sum += (unsigned char)value.string[j];
        }
    assert_true(sum < UINT32_MAX);
    hac_machine_c_free(machine);
    for (size_t i = 0; i < program->n_inputs; i++)
        test_column_free(&columns[i]);
}

static unsigned refused, accepted;

static void judge(const hac_program *program)
{
    hac_error err = HAC_ERROR_NONE;
    if (hac_program_verify(program, &err) != HAC_OK) {
        assert_int_equal(err.code, HAC_INVALID);
        refused++;
        return;
    }
    accepted++;
    run_harmlessly(program);
    hac_text text = HAC_TEXT_NONE;
    hac_program_print(program, &text);
    hac_text_clear(&text);
}

static const uint64_t hostile[] = {0,     1,     2,         3,          4,
                                   5,     6,     7,         8,          9,
                                   10,    12,    38,        39,         128,
                                   200,   255,   256,       4095,       4096,
                                   65535, 65536, INT64_MAX, UINT64_MAX, UINT64_MAX - 4};

#define MUTATE(field)                                                                                        \
    do {                                                                                                     \
        __typeof__(field) saved = (field);                                                                   \
        for (size_t h = 0; h < sizeof hostile / sizeof *hostile; h++) {                                      \
            (field) = (__typeof__(field))hostile[h];                                                         \
            judge(program);                                                                                  \
        }                                                                                                    \
        (field) = (__typeof__(field))(saved + 1);                                                            \
        judge(program);                                                                                      \
        (field) = (__typeof__(field))(saved - 1);                                                            \
        judge(program);                                                                                      \
        (field) = saved;                                                                                     \
    } while (0)

/* NOLINTNEXTLINE(readability-function-size): one line a field */
static void test_hostile_fields(void **state)
{
    (void)state;
    hac_program *program = rich_program();
    refused = accepted = 0;
    for (size_t i = 0; i < program->n_instructions; i++) {
        uint16_t written = program->instructions[i].op;
        for (unsigned op = 0; op <= HAC_OP_END; op++) {
            program->instructions[i].op = (uint16_t)op;
            judge(program);
        }
        program->instructions[i].op = written;
        MUTATE(program->instructions[i].op);
        MUTATE(program->instructions[i].result);
        MUTATE(program->instructions[i].a);
        MUTATE(program->instructions[i].b);
        MUTATE(program->instructions[i].c);
        MUTATE(program->instructions[i].k);
    }
    for (size_t i = 0; i < program->n_constants; i++) {
        MUTATE(program->constants[i].repr);
        MUTATE(program->constants[i].low);
        MUTATE(program->constants[i].high);
    }
    for (size_t i = 0; i < program->n_registers; i++)
        MUTATE(program->registers[i]);
    for (size_t i = 0; i < program->n_inputs; i++) {
        MUTATE(program->inputs[i].kind);
        MUTATE(program->inputs[i].precision);
        MUTATE(program->inputs[i].scale);
    }
    for (size_t i = 0; i < program->n_outputs; i++) {
        MUTATE(program->outputs[i].reg);
        MUTATE(program->outputs[i].type.kind);
        MUTATE(program->outputs[i].type.precision);
        MUTATE(program->outputs[i].type.scale);
    }
    assert_true(refused > 1000);
    assert_true(accepted > 100);
    assert_int_equal(hac_program_verify(program, NULL), HAC_OK);
    hac_program_free(program);
}

/* ---- bytes --------------------------------------------------------------------------------------------- */

static void write_program(const hac_program *program, char **ret, size_t *ret_bytes)
{
    hac_text text = HAC_TEXT_NONE;
    hac_program_write(program, &text);
    assert_int_equal(hac_text_finish(&text, ret, ret_bytes, NULL), HAC_OK);
}

/* Reads from a copy of exactly `bytes` bytes, so that the sanitizers see a read behind them. */
static hac_status read_program(const void *data, size_t bytes, size_t *ret_used, hac_program **ret)
{
    hac_autofree uint8_t *copy = malloc(bytes + (bytes == 0));
    assert_non_null(copy);
    memcpy(copy, data, bytes);
    hac_error err = HAC_ERROR_NONE;
    hac_status status = hac_program_read(copy, bytes, ret_used, ret, &err);
    assert_int_equal(status, err.code);
    return status;
}

static void test_round_trip(void **state)
{
    (void)state;
    hac_program *program = rich_program(), *again = NULL;
    char *bytes = NULL, *more = NULL;
    size_t n, n_more, used = 0;
    write_program(program, &bytes, &n);
    assert_int_equal(read_program(bytes, n, &used, &again), HAC_OK);
    assert_int_equal(used, n);
    write_program(again, &more, &n_more);
    assert_int_equal(n, n_more);
    assert_memory_equal(bytes, more, n);
    assert_memory_equal(program->instructions, again->instructions,
                        program->n_instructions * sizeof *program->instructions);
    assert_int_equal(program->n_outputs, again->n_outputs);
    run_harmlessly(again);
    hac_program_free(again);
    hac_autofree char *longer = calloc(n + 9, 1);
    assert_non_null(longer);
    memcpy(longer, bytes, n);
    assert_int_equal(read_program(longer, n + 9, &used, &again),
                     HAC_OK); /* other bytes may follow a program */
    assert_int_equal(used, n);
    hac_program_free(again);
    hac_program_free(program);
    free(bytes);
    free(more);
}

static void test_truncated(void **state)
{
    (void)state;
    hac_program *program = rich_program();
    char *bytes = NULL;
    size_t n, used = 4711;
    write_program(program, &bytes, &n);
    for (size_t cut = 0; cut < n; cut++) {
        hac_program *read = NULL;
        assert_int_equal(read_program(bytes, cut, &used, &read), HAC_INVALID);
        assert_null(read);
        assert_int_equal(used, 4711);
    }
    hac_program_free(program);
    free(bytes);
}

static void test_flipped(void **state)
{
    (void)state;
    hac_program *program = rich_program();
    char *bytes = NULL;
    size_t n, used;
    unsigned read_again = 0;
    write_program(program, &bytes, &n);
    for (size_t i = 0; i < n; i++)
        for (unsigned flip = 1; flip < 256; flip = flip < 128 ? flip * 2 : flip + 127) {
            hac_program *read = NULL;
            bytes[i] = (char)((unsigned char)bytes[i] ^ flip);
            if (read_program(bytes, n, &used, &read) == HAC_OK) {
                run_harmlessly(read);
                hac_program_free(read);
                read_again++;
            }
            bytes[i] = (char)((unsigned char)bytes[i] ^ flip);
        }
    assert_true(read_again > 100 && read_again < n * 9);
    hac_program_free(program);
    free(bytes);
}

/* ---- keeping rows -------------------------------------------------------------------------------------- */

static void check_keep(size_t rows, test_random *random, unsigned per_mille, bool states)
{
    hac_column columns[HAC_REPR_END] = {{.values = NULL}}; /* columns[0] is unused */
    hac_column keep = test_column_new(HAC_REPR_BOOL, states);
    ref_value wanted[HAC_REPR_END];
    static ref_value all[HAC_BATCH_ROWS][HAC_REPR_END];
    size_t kept[HAC_BATCH_ROWS], n = 0;
    for (hac_repr repr = HAC_REPR_BOOL; repr < HAC_REPR_END; repr++)
        columns[repr] = test_column_new(repr, repr % 2 == 0);
    for (size_t row = 0; row < rows; row++) {
        ref_value value = {.boolean = test_below(random, 1000) < per_mille};
        value.state = (uint8_t)(states ? test_below(random, 3) : 0);
        test_column_set(&keep, HAC_REPR_BOOL, row, &value);
        if (value.state == HAC_ROW_OK && value.boolean)
            kept[n++] = row;
        for (hac_repr repr = HAC_REPR_BOOL; repr < HAC_REPR_END; repr++) {
            all[row][repr] = test_value(random, repr);
            all[row][repr].state = (uint8_t)(repr % 2 == 0 ? test_below(random, 3) : 0);
            test_column_set(&columns[repr], repr, row, &all[row][repr]);
        }
    }
    hac_batch batch = {rows, HAC_REPR_END, columns};
    assert_int_equal(hac_batch_keep(&batch, &keep), n);
    assert_int_equal(batch.rows, n);
    for (size_t i = 0; i < n; i++)
        for (hac_repr repr = HAC_REPR_BOOL; repr < HAC_REPR_END; repr++) {
            wanted[repr] = reference_get(&columns[repr], repr, i);
            assert_true(reference_equal(&wanted[repr], &all[kept[i]][repr], repr));
        }
    test_column_free(&keep);
    for (hac_repr repr = HAC_REPR_BOOL; repr < HAC_REPR_END; repr++)
        test_column_free(&columns[repr]);
}

/* All 256 cases of eight rows, behind rows that are kept and rows that are not. At most three numbers are
 * written behind the kept rows. */
static void test_rows_kept(void **state)
{
    (void)state;
    uint8_t keep[64];
    uint16_t rows[sizeof keep + 4];
    for (unsigned bits = 0; bits < 256; bits++)
        for (size_t first = 0; first < 24; first++)
            for (size_t n = first; n <= first + 8; n++) {
                size_t expected = 0;
                for (size_t i = 0; i < n; i++)
                    keep[i] = (i < first ? i % 2 == 0 : bits >> (i - first) & 1) != 0;
                memset(rows, 0xee, sizeof rows);
                size_t kept = hac_rows_kept(keep, n, rows);
                for (size_t i = 0; i < n; i++)
                    if (keep[i] != 0)
                        assert_int_equal(rows[expected++], i);
                assert_int_equal(kept, expected);
                assert_int_equal(rows[n + 3], 0xeeee);
            }
}

static void test_keep(void **state)
{
    (void)state;
    static const size_t sizes[] = {0, 1, 7, 8, 63, 64, 65, 1023, 1024};
    static const unsigned shares[] = {0, 1, 20, 500, 980, 1000};
    test_random random = {5};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (size_t j = 0; j < sizeof shares / sizeof *shares; j++)
            for (int states = 0; states < 2; states++)
                check_keep(sizes[i], &random, shares[j], states == 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_equal_operations),
        cmocka_unit_test(test_registers_are_used_again),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_misuse),
        cmocka_unit_test(test_lists_and_patterns),
        cmocka_unit_test(test_facts),
        cmocka_unit_test(test_hostile_fields),
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_truncated),
        cmocka_unit_test(test_flipped),
        cmocka_unit_test(test_rows_kept),
        cmocka_unit_test(test_keep),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
