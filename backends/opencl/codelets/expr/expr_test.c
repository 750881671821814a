/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The OpenCL column machine against the C machine, bit for bit, on the first device found and in both styles:
 * random well-typed programs over columns of all kinds. HAC_TEST_SMALL=1 keeps to sizes for an instrumented
 * device (oclgrind); HAC_TEST_PLATFORM names another platform.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/random.h"
#include "expr/machine.h"
#include "expr_eval.h"
#include "test_codelets.h"

#define N_KINDS    14 /* all have a fixed width of at most 64 bits */
#define COLUMNS    (2 * N_KINDS)
#define OPERATIONS 24

static uint64_t random_state = 88172645463325252u;

/* ---- tables ---- */

typedef struct expr_table {
    uint8_t *memory;
    uint64_t bytes, rows;
    hac_table_column columns[COLUMNS]; /* two columns of each kind, the second with nulls */
} expr_table;

static const uint8_t kinds[N_KINDS] = {HAC_KIND_BOOL,      HAC_KIND_I8,     HAC_KIND_I16, HAC_KIND_I32,
                                       HAC_KIND_I64,       HAC_KIND_U8,     HAC_KIND_U16, HAC_KIND_U32,
                                       HAC_KIND_U64,       HAC_KIND_F32,    HAC_KIND_F64, HAC_KIND_DATE,
                                       HAC_KIND_TIMESTAMP, HAC_KIND_DECIMAL};

static hac_value_type type_of_kind(uint8_t kind)
{
    return kind == HAC_KIND_DECIMAL ? (hac_value_type){kind, 15, 2} : (hac_value_type){.kind = kind};
}

static void fill(uint8_t *values, hac_value_type type, uint64_t rows)
{
    static const double numbers[] = {0.0, -0.0, 1.5, -2.5, 0x1p62, 1e300, -1e300, 0x1p-1070, 7.0, 100.25};
    for (uint64_t i = 0; i < rows; i++) {
        uint64_t r = hac_random_u64(&random_state);
        double d = r % 3 == 0 ? numbers[(r >> 8) % 10] : (double)(int64_t)r / 0x1p40;
        float f = (float)d;
        uint64_t bits = r % 4 == 0 ? r >> 8 : (uint64_t)((int64_t)(r >> 8) % 100);
        if (r % 64 == 0)
            d = f = __builtin_nanf("");
        if (type.kind == HAC_KIND_BOOL) {
            values[i / 8] = (uint8_t)((values[i / 8] & ~(1u << i % 8)) | (r >> 9 & 1) << i % 8);
            continue;
        }
        size_t size = hac_value_size(type);
        memcpy(values + i * size,
               type.kind == HAC_KIND_F64   ? (const void *)&d
               : type.kind == HAC_KIND_F32 ? (const void *)&f
                                           : (const void *)&bits,
               size);
    }
}

/* The memory ends right after the last value, so that address checkers see a kernel that reads on. */
static expr_table table_new(uint64_t rows)
{
    expr_table t = {.rows = rows};
    uint64_t part = (rows * 8 + 63) / 64 * 64 + 64;
    t.bytes = COLUMNS * 2 * part;
    t.memory = aligned_alloc(64, t.bytes);
    assert_non_null(t.memory);
    memset(t.memory, 0, t.bytes);
    for (size_t c = 0; c < COLUMNS; c++) {
        t.columns[c] = (hac_table_column){.type = type_of_kind(kinds[c / 2]),
                                          .validity = c % 2 == 0 ? HAC_TABLE_NONE : (2 * c + 1) * part,
                                          .values = 2 * c * part,
                                          .bytes = HAC_TABLE_NONE};
        fill(t.memory + t.columns[c].values, t.columns[c].type, rows);
        for (uint64_t b = 0; b < rows / 8 + 1; b++) {
            uint64_t once = hac_random_u64(&random_state); /* three of four bits are set */
            t.memory[(2 * c + 1) * part + b] = (uint8_t)(once | hac_random_u64(&random_state));
        }
    }
    return t;
}

/* ---- random programs ---- */

#define HAC_REPR_ANY HAC_REPR_END
enum { FAILS = 1, HOST = 2, INEXACT = 4, STATES = 8 };
enum { K_NONE = 0, K_COLUMN, K_CONSTANT, K_RANGE, K_DIGITS, K_UNIT, K_LIST, K_PATTERN, K_TEXT };

static const struct {
    const char *name;
    uint8_t result, operands[3], k, flags;
} ops[HAC_OP_END] = {
#define ROW(name, result, a, b, c, k, flags)                                                                 \
    [HAC_OP_##name] = {#name, HAC_REPR_##result, {HAC_REPR_##a, HAC_REPR_##b, HAC_REPR_##c}, K_##k, flags},
    HAC_OPS(ROW)
#undef ROW
};

/* One of the existing values with that representation. */
static hac_value_id pick(hac_program_builder *b, const hac_value_id *values, size_t n, hac_repr repr)
{
    for (int tries = 0; tries < 200; tries++) {
        hac_value_id v = values[hac_random_u64(&random_state) % n];
        if (hac_program_builder_repr(b, v) == repr)
            return v;
    }
    return hac_program_builder_constant(
        b, repr, hac_random_u64(&random_state) & (repr == HAC_REPR_BOOL ? 1 : 0x3fffffff), 0);
}

static bool is_date_operation(hac_op op)
{
    return op == HAC_OP_DATE_PART || op == HAC_OP_DATE_TRUNC || op == HAC_OP_ADD_MONTHS;
}

static hac_value_id operand(hac_program_builder *b, const hac_value_id *values, size_t n, hac_op op,
                            hac_repr repr)
{
    hac_value_id v = pick(b, values, n, repr);
    if (is_date_operation(op)) /* valid dates and months */
        v = hac_program_builder_op(b, HAC_OP_MOD_I64, v,
                                   hac_program_builder_constant(b, HAC_REPR_I64, 700000, 0), 0, 0);
    return v;
}

static unsigned immediate(hac_op op)
{
    static const uint8_t date_units[] = {HAC_UNIT_YEAR, HAC_UNIT_QUARTER, HAC_UNIT_MONTH, HAC_UNIT_WEEK};
    static const uint8_t time_units[] = {HAC_UNIT_HOUR, HAC_UNIT_MINUTE, HAC_UNIT_SECOND};
    if (ops[op].k == K_DIGITS)
        return (unsigned)(hac_random_u64(&random_state) % 20);
    if (ops[op].k != K_UNIT)
        return 0;
    return op == HAC_OP_DATE_PART || op == HAC_OP_DATE_TRUNC ? date_units[hac_random_u64(&random_state) % 4]
                                                             : time_units[hac_random_u64(&random_state) % 3];
}

static hac_value_id random_operation(hac_program_builder *b, const hac_value_id *values, size_t n, bool fp64)
{
    hac_op op;
    do
        op = (hac_op)(hac_random_u64(&random_state) % HAC_OP_END);
    while (ops[op].flags & (HOST | INEXACT) || ops[op].k == K_COLUMN || ops[op].k == K_CONSTANT ||
           op == HAC_OP_NULL || (!fp64 && strstr(ops[op].name, "F64") != NULL));
    hac_repr any = (hac_repr)(HAC_REPR_BOOL + hac_random_u64(&random_state) % (fp64 ? 5 : 4));
    hac_value_id v[3] = {0, 0, 0}, list[30];
    for (unsigned i = 0; i < 3 && ops[op].operands[i] != HAC_REPR_NONE; i++)
        v[i] = operand(b, values, n, op,
                       ops[op].operands[i] == HAC_REPR_ANY ? any : (hac_repr)ops[op].operands[i]);
    size_t listed = 1 + hac_random_u64(&random_state) % 30;
    if (ops[op].k == K_LIST) {
        for (size_t i = 0; i < listed; i++)
            list[i] = hac_program_builder_constant(b, (hac_repr)ops[op].operands[0],
                                                   hac_random_u64(&random_state) % 100, 0);
        return hac_program_builder_in(b, op, v[0], list, listed);
    }
    if (ops[op].k == K_RANGE)
        return hac_program_builder_range(b, op, v[0], op == HAC_OP_RANGE_U64 ? 0 : -90, 90);
    return hac_program_builder_op(b, op, v[0], v[1], v[2], immediate(op));
}

static hac_value_type type_of_repr(hac_repr repr)
{
    static const uint8_t of[] = {0, HAC_KIND_BOOL, HAC_KIND_I64, HAC_KIND_U64, HAC_KIND_F32, HAC_KIND_F64};
    return (hac_value_type){.kind = of[repr]};
}

/* All values are outputs, so that the first wrong one is found. */
static hac_program *random_program(bool fp64)
{
    hac_error err = HAC_ERROR_NONE;
    hac_program_builder *b = NULL;
    hac_program *program = NULL;
    hac_value_id values[COLUMNS + OPERATIONS];
    size_t n = 0;
    assert_int_equal(hac_program_builder_new(&b, &err), HAC_OK);
    for (size_t i = 0; i < 8; i++) {
        size_t c = hac_random_u64(&random_state) % COLUMNS;
        if (fp64 || kinds[c / 2] != HAC_KIND_F64)
            values[n++] = hac_program_builder_input(b, c, type_of_kind(kinds[c / 2]));
    }
    while (n < COLUMNS) {
        values[n] = random_operation(b, values, n, fp64);
        n++;
    }
    for (size_t i = 0; i < n; i++)
        hac_program_builder_output(b, values[i], type_of_repr(hac_program_builder_repr(b, values[i])));
    if (hac_program_builder_finish(b, &program, &err) != HAC_OK)
        fail_msg("%s", err.message);
    hac_program_builder_free(b);
    return program;
}

/* ---- the C machine over the same rows ---- */

static uint64_t widened(const expr_table *t, size_t c, uint64_t row)
{
    const hac_table_column *column = &t->columns[c];
    const uint8_t *values = t->memory + column->values;
    size_t size = hac_value_size(column->type);
    uint64_t bits = 0;
    if (column->type.kind == HAC_KIND_BOOL)
        return values[row / 8] >> row % 8 & 1;
    memcpy(&bits, values + row * size, size);
    if (hac_repr_of(column->type) == HAC_REPR_I64 && size < 8)
        bits = (uint64_t)((int64_t)(bits << (64 - 8 * size)) >> (64 - 8 * size));
    return bits;
}

typedef struct c_batch {
    _Alignas(64) uint8_t values[COLUMNS][HAC_BATCH_ROWS * 8];
    uint8_t states[COLUMNS][HAC_BATCH_ROWS];
    hac_column vectors[COLUMNS];
    hac_column outputs[HAC_PROGRAM_OUTPUTS_MAX];
} c_batch;

static void load_batch(c_batch *b, const expr_table *t, uint64_t first, size_t rows)
{
    for (size_t c = 0; c < COLUMNS; c++) {
        const hac_table_column *column = &t->columns[c];
        size_t size = hac_repr_size(hac_repr_of(column->type));
        b->vectors[c] = (hac_column){.type = column->type, .values = b->values[c]};
        for (size_t i = 0; i < rows; i++) {
            uint64_t bits = widened(t, c, first + i);
            memcpy(b->values[c] + i * size, &bits, size);
            b->states[c][i] = column->validity != HAC_TABLE_NONE &&
                              !(t->memory[column->validity + (first + i) / 8] >> (first + i) % 8 & 1);
        }
        if (column->validity != HAC_TABLE_NONE)
            b->vectors[c].states = b->states[c];
    }
}

static void assert_same(const hac_program *p, size_t o, const hac_column *expected, size_t i, uint64_t got,
                        uint8_t state)
{
    uint8_t state_expected = expected->states == NULL ? (uint8_t)HAC_ROW_OK : expected->states[i];
    hac_repr repr = hac_repr_of(expected->type);
    size_t size = hac_repr_size(repr);
    uint64_t bits = 0;
    memcpy(&bits, (const uint8_t *)expected->values + i * size, size);
    double a, b;
    float f, g;
    memcpy(&a, &bits, 8);
    memcpy(&b, &got, 8);
    memcpy(&f, &bits, 4);
    memcpy(&g, &got, 4);
    bool nan = (repr == HAC_REPR_F64 && a != a && b != b) || (repr == HAC_REPR_F32 && f != f && g != g);
    if (state == state_expected && (state != HAC_ROW_OK || bits == got || nan))
        return;
    hac_text text = HAC_TEXT_NONE;
    char *lines = NULL;
    hac_program_print(p, &text);
    assert_int_equal(hac_text_finish(&text, &lines, NULL, NULL), HAC_OK);
    for (char *line = strtok(lines, "\n"); line != NULL; line = strtok(NULL, "\n"))
        print_error("%s\n", line); /* a line at a time: cmocka truncates longer texts */
    fail_msg("output %zu row %zu: %016llx state %u, not %016llx state %u", o, i, (unsigned long long)got,
             state, (unsigned long long)bits, state_expected);
}

static void compare(const expr_table *t, const hac_program *p, uint64_t first, uint64_t rows,
                    const uint8_t *outputs)
{
    hac_machine_c *machine = NULL;
    c_batch *b = aligned_alloc(64, (sizeof *b + 63) / 64 * 64);
    assert_non_null(b);
    assert_int_equal(hac_machine_c_new(p, 0, &machine, NULL), HAC_OK);
    const uint8_t *states = outputs + hac_expr_states_offset(p->n_outputs, rows);
    for (uint64_t at = 0; at < rows; at += HAC_BATCH_ROWS) {
        size_t n = rows - at < HAC_BATCH_ROWS ? (size_t)(rows - at) : HAC_BATCH_ROWS;
        load_batch(b, t, first + at, n);
        hac_batch batch = {.rows = n, .n_columns = p->n_inputs, .columns = b->vectors};
        hac_machine_c_run(machine, &batch, b->outputs);
        for (size_t i = 0; i < n; i++)
            for (size_t o = 0; o < p->n_outputs; o++) {
                uint64_t value;
                memcpy(&value, outputs + (o * rows + at + i) * 8, 8);
                assert_same(p, o, &b->outputs[o], i, value, states[o * rows + at + i]);
            }
    }
    hac_machine_c_free(machine);
    free(b);
}

/* ---- tests ---- */

static void try_program(hac_device *device, const expr_table *t, uint64_t first, uint64_t rows)
{
    hac_error err = HAC_ERROR_NONE;
    hac_program *p = random_program(hac_device_get_facts(device)->fp64);
    hac_expr_plan plan;
    if (hac_expr_plan_init(&plan, (const hac_program *const[]){p}, 1, t->columns, COLUMNS,
                           hac_device_get_facts(device), 0, false, &err) != HAC_OK)
        fail_msg("%s", err.message);
    uint64_t bytes = hac_expr_outputs_bytes(p->n_outputs, rows);
    uint8_t *outputs = test_guarded(bytes);
    hac_span table = {t->memory, t->bytes}, out = {outputs, bytes};
    if (hac_expr_eval_rows(device, &plan, &table, first, rows, &out, &err) != HAC_OK)
        fail_msg("%s", err.message);
    assert_true(test_guard_is_whole(outputs, bytes));
    compare(t, p, first, rows, outputs);
    free(outputs);
    hac_expr_plan_clear(&plan);
    hac_program_free(p);
}

static void try_programs(hac_device_options options)
{
    static const uint64_t sizes[] = {1, 7, 8, 9, 63, 64, 65, 1000, 1023, 1024, 1025, 2047, 2048, 4097, 10000};
    hac_device *device = test_open_device(options);
    size_t n = test_small_sizes() ? 4 : sizeof sizes / sizeof *sizes, rounds = test_small_sizes() ? 1 : 6;
    for (size_t i = 0; i < n; i++)
        for (size_t round = 0; round < rounds; round++) {
            uint64_t first = round == 0 ? 0 : hac_random_u64(&random_state) % 300;
            expr_table t = table_new(first + sizes[i]);
            try_program(device, &t, first, sizes[i]);
            free(t.memory);
        }
    hac_device_close(device);
}

static void test_block(void **state)
{
    (void)state;
    try_programs((hac_device_options){.style = HAC_STYLE_CHOICE_BLOCK});
}

static void test_simt(void **state)
{
    (void)state;
    try_programs((hac_device_options){.style = HAC_STYLE_CHOICE_SIMT});
}

static void test_copied(void **state)
{
    (void)state;
    try_programs((hac_device_options){.style = HAC_STYLE_CHOICE_BLOCK, .copy_memory = true});
}

/* Limited loops: the rows go in many launches. */
static void test_short_loops(void **state)
{
    (void)state;
    try_programs((hac_device_options){.style = HAC_STYLE_CHOICE_SIMT, .max_loop_iterations = 2000});
}

static void known_answer(hac_style_choice style)
{
    hac_error err = HAC_ERROR_NONE;
    hac_device *device = test_open_device((hac_device_options){.style = style});
    if (hac_expr_eval_known_answer(device, HAC_TYPE_U32, &err) != HAC_OK)
        fail_msg("%s", err.message);
    hac_device_close(device);
}

static void test_known_answers(void **state)
{
    (void)state;
    known_answer(HAC_STYLE_CHOICE_SIMT);
    known_answer(HAC_STYLE_CHOICE_BLOCK);
}

/* A task as it arrives from outside: the bytes of a program, descriptions of columns. */
static void test_task(void **state)
{
    (void)state;
    hac_error err = HAC_ERROR_NONE;
    hac_device *device = test_open_device((hac_device_options){0});
    expr_table t = table_new(3000);
    hac_program *p = random_program(hac_device_get_facts(device)->fp64);
    hac_text bytes = HAC_TEXT_NONE;
    hac_program_write(p, &bytes);
    for (size_t i = 0; i < p->n_inputs; i++) {
        const hac_table_column *from = &t.columns[i];
        hac_expr_column c = {.kind = from->type.kind,
                             .precision = from->type.precision,
                             .scale = from->type.scale,
                             .validity = from->validity,
                             .values = from->values,
                             .bytes = from->bytes};
        hac_text_add_bytes(&bytes, (const char *)&c, sizeof c);
    }
    uint64_t out_bytes = hac_expr_outputs_bytes(p->n_outputs, 2000);
    hac_task task = {.first = 500,
                     .count = 2000,
                     .n_spans = 2,
                     .fd = -1,
                     .inline_in = (const uint8_t *)bytes.data,
                     .inline_in_bytes = bytes.bytes};
    HAC_SET_PARAMS(&task, &(hac_expr_params){.rows = 3000});
    task.spans[0] = (hac_span){t.memory, t.bytes};
    task.spans[1] = (hac_span){aligned_alloc(64, (out_bytes + 63) / 64 * 64), out_bytes};
    hac_task_result result = {0};
    const hac_device_facts *facts = hac_device_get_facts(device);
    if (hac_expr_eval_check(facts, &task, &err) != HAC_OK ||
        hac_expr_eval_run(device, &task, &result, &err) != HAC_OK)
        fail_msg("%s", err.message);
    compare(&t, p, 500, 2000, task.spans[1].data);

    hac_task bad = task;
    bad.first = 1001;
    assert_int_equal(hac_expr_eval_check(facts, &bad, &err), HAC_INVALID);
    bad = task;
    bad.spans[1].bytes--;
    assert_int_equal(hac_expr_eval_check(facts, &bad, &err), HAC_INVALID);
    bad = task;
    bad.spans[0].bytes = 64;
    assert_int_equal(hac_expr_eval_check(facts, &bad, &err), HAC_INVALID);
    for (size_t cut = 0; cut < bytes.bytes; cut++) {
        bad = task;
        bad.inline_in_bytes = cut;
        assert_int_equal(hac_expr_eval_check(facts, &bad, &err), HAC_INVALID);
    }
    free(task.spans[1].data);
    hac_text_clear(&bytes);
    hac_program_free(p);
    free(t.memory);
    hac_device_close(device);
}

static void test_host_only_is_refused(void **state)
{
    (void)state;
    hac_error err = HAC_ERROR_NONE;
    hac_program_builder *b = NULL;
    hac_program *p = NULL;
    assert_int_equal(hac_program_builder_new(&b, &err), HAC_OK);
    hac_value_id s = hac_program_builder_input(b, 0, (hac_value_type){.kind = HAC_KIND_STRING});
    hac_program_builder_output(b, hac_program_builder_op(b, HAC_OP_LENGTH, s, 0, 0, 0),
                               type_of_repr(HAC_REPR_I64));
    assert_int_equal(hac_program_builder_finish(b, &p, &err), HAC_OK);
    hac_program_builder_free(b);
    hac_device_facts facts = {.fp64 = true};
    assert_int_equal(hac_expr_plan_fits(p, &facts, true, &err), HAC_UNSUPPORTED);
    assert_non_null(strstr(err.message, "LENGTH"));
    hac_program_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_block),
        cmocka_unit_test(test_simt),
        cmocka_unit_test(test_copied),
        cmocka_unit_test(test_short_loops),
        cmocka_unit_test(test_known_answers),
        cmocka_unit_test(test_task),
        cmocka_unit_test(test_host_only_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
