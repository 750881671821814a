/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares the C column machine with the reference: every operation on all pairs of edge cases and many
 * random values, in every combination of states, with columns and constants, for batches around every block
 * size, with each set of kernels that this processor runs; and random programs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "base/test_support.h"
#include "machine_parts.h"
#include "machine_strings.h"
#include "program/time_zone.h"
#include "test_columns.h"

#define STRING_BYTES (4u << 20)
#define INPUTS       6

static const size_t sizes[] = {0, 1, 7, 8, 63, 64, 65, 127, 1023, 1024};
#define SIZES (sizeof sizes / sizeof *sizes)

typedef struct kernel_set {
    const char *name;
    const hac_kernels *kernels;
} kernel_set;

static size_t kernel_sets(kernel_set *ret)
{
    size_t n = 0;
    ret[n++] = (kernel_set){"baseline", hac_kernels_baseline};
#if defined(__x86_64__)
    const hac_kernels *best = hac_kernels_best();
    if (best != hac_kernels_baseline)
        ret[n++] = (kernel_set){"x86_64_v3", hac_kernels_x86_64_v3};
#if defined(HAC_KERNELS_V4)
    if (best == hac_kernels_x86_64_v4)
        ret[n++] = (kernel_set){"x86_64_v4", hac_kernels_x86_64_v4};
#endif
#endif
    return n;
}

/* The source of operands: pairs of edge cases first, then random values. */
typedef struct operands {
    test_random random;
    size_t pair;
    unsigned bits; /* above 0: integers of at most so many bits, close to multiples of each other */
    __int128 last; /* the previous operand */
} operands;

/* Kernels have a faster path for batches in which all numbers are small. */
static ref_value small_operand(operands *from, hac_repr repr)
{
    const __int128 limit = ((__int128)1 << from->bits) - 1;
    ref_value value = {0};
    __int128 number =
        (__int128)(test_next(&from->random) >> (64 - 1 - test_below(&from->random, from->bits)));
    if (from->last != 0 && test_below(&from->random, 2) == 0) {
        __int128 times = (limit - 1) / from->last;
        times = times == 0 ? 1 : times / (__int128)(1 + test_below(&from->random, 5));
        number = from->last * times + (__int128)test_below(&from->random, 3) - 1;
    }
    number = number < 0 ? -number : number > limit ? limit : number;
    from->last = number;
    value.u64 = (uint64_t)number;
    value.i64 = test_below(&from->random, 2) == 0 ? (int64_t)number : -(int64_t)number;
    (void)repr;
    return value;
}

/* Whether the operation makes strings as long as a number says: a large one would fill the arena. */
static bool pads(hac_op op)
{
    return op == HAC_OP_LPAD || op == HAC_OP_RPAD;
}

static ref_value next_operand(operands *from, hac_repr repr, unsigned index, bool states)
{
    size_t n = test_edges(repr), i = index == 0 ? from->pair % n : from->pair / n;
    ref_value value = i < n ? test_edge(repr, i) : test_value(&from->random, repr);
    if (from->bits > 0 && repr != HAC_REPR_STRING)
        value = small_operand(from, repr);
    uint64_t dice = test_below(&from->random, 12);
    value.state = (uint8_t)(states && dice < 5 ? dice : 0);
    return value;
}

typedef struct world {
    hac_program *program;
    hac_repr reprs[INPUTS]; /* of the inputs */
    size_t n_inputs;
    hac_column columns[INPUTS];
    ref_value *rows; /* HAC_BATCH_ROWS × INPUTS */
} world;

static void world_columns(world *w, bool states)
{
    for (size_t i = 0; i < w->n_inputs; i++)
        w->columns[i] = test_column_new(w->reprs[i], states && i % 4 != 3);
}

static void world_clear_columns(world *w)
{
    for (size_t i = 0; i < w->n_inputs; i++)
        test_column_free(&w->columns[i]);
}

static void world_fill(world *w, operands *from, size_t rows)
{
    for (size_t row = 0; row < rows; row++, from->pair++)
        for (size_t i = 0; i < w->n_inputs; i++) {
            ref_value *value = &w->rows[row * INPUTS + i];
            *value = next_operand(from, w->reprs[i], (unsigned)i, w->columns[i].states != NULL);
            test_column_set(&w->columns[i], w->reprs[i], row, value);
        }
}

/* Makes the strings entries of a dictionary that no batch had before: most rows repeat the entry of an
 * earlier row. */
static void world_share_strings(world *w, operands *from, size_t rows)
{
    static uint64_t dictionary;
    dictionary++;
    for (size_t i = 0; i < w->n_inputs; i++) {
        hac_string_ref *refs = w->columns[i].values;
        const uint8_t *states = w->columns[i].states;
        for (size_t row = 1; w->reprs[i] == HAC_REPR_STRING && row < rows; row++) {
            size_t other = test_below(&from->random, row);
            if (row % 16 == 0 ||
                (states != NULL && (states[row] != HAC_ROW_OK || states[other] != HAC_ROW_OK)))
                continue;
            refs[row] = refs[other];
            w->rows[row * INPUTS + i] = w->rows[other * INPUTS + i];
        }
        w->columns[i].dictionary = w->reprs[i] == HAC_REPR_STRING ? dictionary : 0;
    }
}

static void complain(const world *w, const char *set, size_t row, size_t output, const ref_value *got,
                     const ref_value *wanted)
{
    hac_text text = HAC_TEXT_NONE;
    char a[200], b[200];
    hac_repr repr = hac_repr_of(w->program->outputs[output].type);
    reference_print(got, repr, a, sizeof a);
    reference_print(wanted, repr, b, sizeof b);
    hac_program_print(w->program, &text);
    print_error("%s, row %zu, output %zu: %s instead of %s\n%s", set, row, output, a, b, text.data);
    for (size_t i = 0; i < w->n_inputs; i++) {
        reference_print(&w->rows[row * INPUTS + i], w->reprs[i], a, sizeof a);
        print_error("  input %zu: %s\n", i, a);
    }
    hac_text_clear(&text);
    fail();
}

/* The expected outputs: rows × outputs. */
static ref_value *expected(const world *w, size_t rows)
{
    ref_value *registers = calloc(HAC_PROGRAM_REGISTERS_MAX, sizeof *registers);
    ref_value *wanted = calloc(rows * w->program->n_outputs + 1, sizeof *wanted), *at = wanted;
    assert_non_null(registers);
    assert_non_null(wanted);
    for (size_t row = 0; row < rows; row++) {
        reference_run(w->program, &w->rows[row * INPUTS], registers);
        for (size_t i = 0; i < w->program->n_outputs; i++)
            *at++ = registers[w->program->outputs[i].reg];
    }
    free(registers);
    return wanted;
}

static void compare(const world *w, const char *set, const hac_column *outputs, const ref_value *wanted,
                    size_t rows)
{
    for (size_t row = 0; row < rows; row++)
        for (size_t i = 0; i < w->program->n_outputs; i++, wanted++) {
            hac_repr repr = hac_repr_of(w->program->outputs[i].type);
            ref_value got = reference_get(&outputs[i], repr, row);
            if (!reference_equal(&got, wanted, repr))
                complain(w, set, row, i, &got, wanted);
        }
}

/* In an output from a dictionary, rows with the same offset have the same string. */
static void check_dictionary(const hac_column *output, size_t rows)
{
    const hac_string_ref *refs = output->values;
    for (size_t row = 1; output->dictionary != 0 && row < rows; row++)
        for (size_t other = row < 50 ? 0 : row - 50; other < row; other++)
            if (refs[row].offset == refs[other].offset && hac_row_ok(output->states, row) &&
                hac_row_ok(output->states, other))
                assert_int_equal(refs[row].length, refs[other].length);
}

/* One machine for each set of kernels. All batches of a program use the same machines. */
typedef struct machines {
    kernel_set sets[3];
    hac_machine_c *of[3];
    size_t n;
} machines;

static void machines_make(machines *m, const world *w)
{
    m->n = kernel_sets(m->sets);
    for (size_t i = 0; i < m->n; i++)
        assert_int_equal(
            hac_machine_c_new_with(w->program, STRING_BYTES, m->sets[i].kernels, &m->of[i], NULL), HAC_OK);
}

static void machines_free(machines *m)
{
    for (size_t i = 0; i < m->n; i++)
        hac_machine_c_free(m->of[i]);
}

/* Runs one batch with every set of kernels. */
static void check_batch(world *w, const machines *m, size_t rows)
{
    ref_value *wanted = expected(w, rows);
    for (size_t i = 0; i < m->n; i++) {
        hac_column outputs[HAC_PROGRAM_OUTPUTS_MAX];
        hac_batch batch = {rows, w->n_inputs, w->columns};
        for (int again = 0; again < 2; again++) { /* nothing is left over from the previous batch */
            hac_machine_c_run(m->of[i], &batch, outputs);
            compare(w, m->sets[i].name, outputs, wanted, rows);
            for (size_t k = 0; k < w->program->n_outputs; k++)
                check_dictionary(&outputs[k], rows);
        }
    }
    free(wanted);
}

static bool some_strings(const world *w)
{
    bool some = false;
    for (size_t i = 0; i < w->n_inputs; i++)
        some |= w->reprs[i] == HAC_REPR_STRING;
    return some;
}

static void check_values(world *w, size_t pairs, operands from)
{
    machines m;
    w->rows = calloc(HAC_BATCH_ROWS * INPUTS, sizeof *w->rows);
    assert_non_null(w->rows);
    machines_make(&m, w);
    for (int round = 0; round < (some_strings(w) ? 4 : 2); round++) {
        bool shared = round >= 2;
        from.pair = 0;
        world_columns(w, round % 2 == 1);
        for (size_t i = 0; i < SIZES || (from.pair < pairs && !shared); i++) {
            size_t rows = sizes[i % SIZES];
            world_fill(w, &from, rows);
            if (shared)
                world_share_strings(w, &from, rows);
            if (shared && rows > 127) /* the first entries; then more of the same dictionary */
                check_batch(w, &m, 127);
            check_batch(w, &m, rows);
        }
        world_clear_columns(w);
    }
    machines_free(&m);
    free(w->rows);
}

static void check_program(world *w, size_t pairs, uint64_t seed)
{
    check_values(w, pairs, (operands){.random = {seed}});
}

/* ---- every operation ----------------------------------------------------------------------------------- */

/* An immediate to try. */
typedef struct immediate {
    unsigned k;          /* digits, unit */
    __int128 low, high;  /* of a range */
    size_t list;         /* elements */
    const char *pattern; /* or a text */
    size_t bytes;
} immediate;

static const char *const patterns[] = {"",           "%",  "_",   "a",      "a%",    "%a",   "%a%",
                                       "a_c",        "%_", "__%", "%b%a%",  "a\\%b", "\\_%", "\\\\",
                                       "%\xc3\xa9%", "_5", "%%%", "a%b%c%", "%lo%o%"};

static const char *const regexps[] = {"/0/a",  "/0/(a|b)*c", "i/1/(A)",   "g/0/b",
                                      "s/0/.", "/0/^$",      "/0/[0-9]+", "g/0/"};
static const char *const formats[] = {"%Y-%m-%d", "%H:%M:%S",           "%F",   "%d.%m.%y %T", "",
                                      "%%",       "%e %b %Y, %I:%M %p", "%j %Y"};

/* An hour ahead of UTC, and two hours after a second of 2001; one that was 5 hours behind; one that is as
 * it was. */
static const hac_zone_rules zones[] = {
    {.offset = 3600, .n_changes = 1, .changes = {{1000000000, 7200}}},
    {.offset = 0, .n_changes = 3, .changes = {{-2000000000, -18000}, {0, -14400}, {1600000000, -18000}}},
    {.offset = -3600},
};

static void set_zone(immediate *k, size_t i)
{
    static uint8_t bytes[HAC_ZONE_BYTES_MAX];
    k->bytes = hac_zone_write(&zones[i % 3], bytes);
    k->pattern = (const char *)bytes;
}

/* Patterns are for the texts, formats for times. */
static const char *text_of(hac_op op, size_t i)
{
    return op == HAC_OP_STRFTIME || op == HAC_OP_STRPTIME ? formats[i % 8] : regexps[i % 8];
}

static bool next_immediate(unsigned kind, hac_op op, size_t i, immediate *ret)
{
    static const unsigned digits[] = {0, 1, 2, 5, 9, 17, 18, 19, 20, 22, 23, 37, 38};
    static const size_t lists[] = {0, 1, 2, 3, 15, 16, 17, 31, 40, 200};
    static const int64_t ranges[][2] = {{0, 0},         {INT8_MIN, INT8_MAX},   {INT32_MIN, INT32_MAX},
                                        {0, INT64_MAX}, {INT64_MIN, INT64_MAX}, {-1, 59}};
    *ret = (immediate){0};
    switch (kind) {
    case HAC_IMMEDIATE_DIGITS:
        ret->k = digits[i % 13];
        return i < 13;
    case HAC_IMMEDIATE_UNIT:
        ret->k = (unsigned)i;
        return i < HAC_UNIT_END;
    case HAC_IMMEDIATE_LIST:
        ret->list = lists[i % 10];
        return i < 10;
    case HAC_IMMEDIATE_PATTERN:
        ret->pattern = patterns[i % 19];
        return i < 19;
    case HAC_IMMEDIATE_TEXT:
        if (op == HAC_OP_ZONE_LOCAL || op == HAC_OP_ZONE_UTC) {
            set_zone(ret, i);
            return i < 3;
        }
        ret->pattern = text_of(op, i);
        ret->bytes = strlen(ret->pattern);
        return i < 8;
    case HAC_IMMEDIATE_RANGE:
        ret->low = ranges[i % 6][0];
        ret->high = ranges[i % 6][1];
        if (op == HAC_OP_RANGE_U64)
            ret->low = ret->low < 0 ? 0 : ret->low;
        if (op == HAC_OP_RANGE_I128 && i == 4)
            ret->high *= 1000000007;
        return i < 6;
    default:
        return i == 0;
    }
}

static hac_value_id constant_of(hac_program_builder *builder, hac_repr repr, const ref_value *value)
{
    uint64_t low = value->u64;
    uint32_t narrow;
    switch (repr) {
    case HAC_REPR_BOOL:
        low = value->boolean;
        break;
    case HAC_REPR_I64:
        low = (uint64_t)value->i64;
        break;
    case HAC_REPR_F32:
        memcpy(&narrow, &value->f32, 4);
        low = narrow;
        break;
    case HAC_REPR_F64:
        memcpy(&low, &value->f64, 8);
        break;
    case HAC_REPR_I128:
        return hac_program_builder_constant(builder, repr, (uint64_t)value->i128,
                                            (uint64_t)(value->i128 >> 64));
    case HAC_REPR_STRING:
        return hac_program_builder_string(builder, (const uint8_t *)value->string, value->bytes);
    default:
        break;
    }
    return hac_program_builder_constant(builder, repr, low, 0);
}

static hac_value_id apply(hac_program_builder *builder, hac_op op, const hac_value_id *v, const immediate *k,
                          test_random *random)
{
    hac_value_id list[200];
    hac_repr repr = hac_op_table[op].a;
    switch (hac_op_table[op].k) {
    case HAC_IMMEDIATE_RANGE:
        return hac_program_builder_range(builder, op, v[0], k->low, k->high);
    case HAC_IMMEDIATE_LIST:
        for (size_t i = 0; i < k->list; i++) {
            ref_value element = test_value(random, repr);
            list[i] = constant_of(builder, repr, &element);
        }
        return hac_program_builder_in(builder, op, v[0], list, k->list);
    case HAC_IMMEDIATE_PATTERN:
        return hac_program_builder_like(builder, v[0], (const uint8_t *)k->pattern, strlen(k->pattern), '\\');
    case HAC_IMMEDIATE_TEXT:
        return hac_program_builder_text(builder, op, v[0], v[1], (const uint8_t *)k->pattern, k->bytes);
    default:
        return op == HAC_OP_NULL ? hac_program_builder_null(builder, HAC_REPR_I64)
                                 : hac_program_builder_op(builder, op, v[0], v[1], v[2], k->k);
    }
}

/* The representations of the operands; `any` if the operation takes any. */
static unsigned operand_reprs(hac_op op, hac_repr any, hac_repr *ret)
{
    const hac_op_info *info = &hac_op_table[op];
    const uint8_t reprs[] = {info->a, info->b, info->c};
    unsigned n = 0;
    for (; n < 3 && reprs[n] != HAC_REPR_NONE; n++)
        ret[n] = reprs[n] == HAC_REPR_ANY ? any : reprs[n];
    return n;
}

/* Checks an operation on columns. Bit i of `constants`: operand i is a constant, edge case `edge`. */
static void check_op(hac_op op, hac_repr any, const immediate *k, unsigned constants, size_t edge)
{
    world w = {0};
    hac_program_builder *builder = NULL;
    hac_value_id v[3] = {0};
    hac_repr reprs[3];
    test_random random = {op * 7919u + k->k + k->list};
    unsigned n = operand_reprs(op, any, reprs);
    assert_int_equal(hac_program_builder_new(&builder, NULL), HAC_OK);
    size_t pairs = 1;
    for (unsigned i = 0; i < n; i++) {
        if ((constants >> i & 1) != 0) {
            ref_value value = test_edge(reprs[i], edge);
            v[i] = constant_of(builder, reprs[i], &value);
            continue;
        }
        w.reprs[w.n_inputs] = reprs[i];
        v[i] = hac_program_builder_input(builder, w.n_inputs++, test_type(reprs[i]));
        pairs *= i < 2 ? test_edges(reprs[i]) : 1;
    }
    hac_value_id result = apply(builder, op, v, k, &random);
    assert_int_not_equal(result, 0);
    hac_program_builder_output(builder, result, test_type(hac_program_builder_repr(builder, result)));
    hac_error err = HAC_ERROR_NONE;
    if (hac_program_builder_finish(builder, &w.program, &err) != HAC_OK)
        fail_msg("%s: %s", hac_op_table[op].name, err.message);
    check_values(&w, pairs, (operands){.random = {op}, .bits = pads(op) ? 6 : 0});
    hac_program_free(w.program);
    hac_program_builder_free(builder);
}

static void check_constants(hac_op op, hac_repr any, const immediate *k)
{
    hac_repr reprs[3];
    unsigned n = operand_reprs(op, any, reprs);
    for (unsigned mask = 1; mask < 1u << n; mask++) {
        unsigned first = (unsigned)__builtin_ctz(mask);
        size_t edges = test_edges(reprs[first]);
        for (size_t edge = op % HAC_TEST_CASES(6, 18); edge < edges; edge += HAC_TEST_CASES(6, 18)) {
            bool there = !pads(op) || (mask & 2) == 0 || test_edge(HAC_REPR_I64, edge).u64 <= 100;
            for (unsigned i = 0; i < n; i++)
                there &= (mask >> i & 1) == 0 || edge < test_edges(reprs[i]);
            if (there)
                check_op(op, any, k, mask, edge);
        }
    }
}

static void check_kind(hac_op op, hac_repr any)
{
    immediate k;
    for (size_t i = 0; next_immediate(hac_op_table[op].k, op, i, &k); i++) {
        if (hac_op_table[op].k == HAC_IMMEDIATE_UNIT && !hac_op_takes_unit(op, k.k))
            continue;
        check_op(op, any, &k, 0, 0);
        if (i == 0)
            check_constants(op, any, &k);
    }
}

static void check_ops(hac_op first, hac_op end)
{
    for (hac_op op = first; op < end; op++) {
        if (op == HAC_OP_COLUMN || op == HAC_OP_CONSTANT)
            continue;
        hac_repr reprs[3] = {0};
        operand_reprs(op, HAC_REPR_ANY, reprs);
        bool open = reprs[0] == HAC_REPR_ANY || reprs[1] == HAC_REPR_ANY;
        for (hac_repr any = HAC_REPR_BOOL; any < (open ? HAC_REPR_END : HAC_REPR_I64); any++)
            check_kind(op, any);
    }
}

static void test_numbers(void **state)
{
    (void)state;
    check_ops(HAC_OP_COLUMN, HAC_OP_EQ_BOOL);
}

static void test_comparisons_and_logic(void **state)
{
    (void)state;
    check_ops(HAC_OP_EQ_BOOL, HAC_OP_BOOL_TO_I64);
}

static void test_conversions_and_dates(void **state)
{
    (void)state;
    check_ops(HAC_OP_BOOL_TO_I64, HAC_OP_LENGTH);
}

static void test_strings(void **state)
{
    (void)state;
    check_ops(HAC_OP_LENGTH, HAC_OP_END);
}

static void check_small(hac_op op, unsigned k, unsigned bits)
{
    world w = {0};
    hac_program_builder *builder = NULL;
    hac_value_id v[3] = {0};
    hac_repr reprs[3];
    const hac_op_info *info = &hac_op_table[op];
    unsigned n = operand_reprs(op, HAC_REPR_NONE, reprs);
    assert_int_equal(hac_program_builder_new(&builder, NULL), HAC_OK);
    for (unsigned i = 0; i < n; i++) {
        w.reprs[w.n_inputs] = reprs[i];
        v[i] = hac_program_builder_input(builder, w.n_inputs++, test_type(reprs[i]));
    }
    hac_program_builder_output(builder, hac_program_builder_op(builder, op, v[0], v[1], v[2], k),
                               test_type(info->result));
    if (n == 2) { /* and with constants */
        hac_value_id constant = hac_program_builder_constant(builder, reprs[1], 86399, 0);
        hac_program_builder_output(builder, hac_program_builder_op(builder, op, v[0], constant, 0, 0),
                                   test_type(info->result));
        hac_program_builder_output(builder, hac_program_builder_op(builder, op, constant, v[1], 0, 0),
                                   test_type(info->result));
    }
    assert_int_equal(hac_program_builder_finish(builder, &w.program, NULL), HAC_OK);
    for (uint64_t seed = 0; seed < HAC_TEST_CASES(2, 1); seed++)
        check_values(&w, 0, (operands){.random = {seed * 77 + op}, .bits = bits});
    hac_program_free(w.program);
    hac_program_builder_free(builder);
}

/* Batches of small numbers only, and of numbers that are just too large. */
static void test_small_numbers(void **state)
{
    (void)state;
    static const hac_op plain[] = {HAC_OP_DIV_I64,           HAC_OP_MOD_I64,   HAC_OP_DIV_U64,
                                   HAC_OP_MOD_U64,           HAC_OP_MUL_I64,   HAC_OP_MUL_U64,
                                   HAC_OP_TIMESTAMP_TO_DATE, HAC_OP_ADD_MONTHS};
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++) {
        static const unsigned bits[] = {3, 16, 26, 30, 31, 32, 51, 52, 53};
        for (size_t j = 0; j < sizeof bits / sizeof *bits; j++)
            check_small(plain[i], 0, bits[j]);
    }
    for (unsigned unit = 0; unit < HAC_UNIT_END; unit++) {
        static const unsigned bits[] = {8, 15, 20, 28, 30, 31, 43, 51, 52, 53};
        static const hac_op ops[] = {HAC_OP_DATE_PART, HAC_OP_DATE_TRUNC, HAC_OP_TIME_PART,
                                     HAC_OP_TIME_TRUNC};
        for (size_t i = 0; i < 4; i++)
            for (size_t j = 0; j < sizeof bits / sizeof *bits && hac_op_takes_unit(ops[i], unit); j++)
                check_small(ops[i], unit, bits[j]);
    }
    for (unsigned digits = 0; digits <= 20; digits += HAC_TEST_CASES(1, 3))
        for (unsigned bits = 4; bits <= 53; bits += digits % 2 == 0 ? 7 : 12)
            check_small(HAC_OP_SCALE_DOWN_I64, digits, bits);
}

/* ---- programs ------------------------------------------------------------------------------------------ */

/* The values made so far, by representation. */
typedef struct garden {
    hac_program_builder *builder;
    test_random random;
    hac_value_id values[HAC_REPR_END][256];
    size_t n[HAC_REPR_END];
} garden;

static void keep(garden *g, hac_value_id value)
{
    hac_repr repr = hac_program_builder_repr(g->builder, value);
    assert_int_not_equal(repr, HAC_REPR_NONE);
    if (g->n[repr] < 256)
        g->values[repr][g->n[repr]++] = value;
}

static hac_value_id pick(garden *g, hac_repr repr)
{
    uint64_t dice = test_below(&g->random, 10);
    if (g->n[repr] == 0 || dice == 0) {
        ref_value value = test_value(&g->random, repr);
        return constant_of(g->builder, repr, &value);
    }
    if (dice == 1)
        return hac_program_builder_null(g->builder, repr);
    return g->values[repr][test_below(&g->random, g->n[repr])];
}

static void grow(garden *g)
{
    hac_op op = (hac_op)test_below(&g->random, HAC_OP_END);
    hac_repr any = (hac_repr)(1 + test_below(&g->random, HAC_REPR_END - 1)), reprs[3];
    immediate k;
    hac_value_id v[3] = {0};
    if (op == HAC_OP_COLUMN || op == HAC_OP_CONSTANT || pads(op))
        return;
    if (!next_immediate(hac_op_table[op].k, op, test_below(&g->random, 12), &k) &&
        hac_op_table[op].k != HAC_IMMEDIATE_NONE)
        return;
    if (hac_op_table[op].k == HAC_IMMEDIATE_UNIT && !hac_op_takes_unit(op, k.k))
        return;
    unsigned n = operand_reprs(op, any, reprs);
    for (unsigned i = 0; i < n; i++)
        v[i] = pick(g, reprs[i]);
    keep(g, apply(g->builder, op, v, &k, &g->random));
}

static hac_program *random_program(uint64_t seed, world *w)
{
    garden g = {.random = {seed}};
    hac_program *program = NULL;
    hac_error err = HAC_ERROR_NONE;
    assert_int_equal(hac_program_builder_new(&g.builder, NULL), HAC_OK);
    w->n_inputs = 1 + test_below(&g.random, INPUTS);
    for (size_t i = 0; i < w->n_inputs; i++) {
        w->reprs[i] = (hac_repr)(1 + test_below(&g.random, HAC_REPR_END - 1));
        keep(&g, hac_program_builder_input(g.builder, i, test_type(w->reprs[i])));
    }
    size_t length = test_below(&g.random, 60);
    for (size_t i = 0; i < length; i++)
        grow(&g);
    size_t outputs = test_below(&g.random, 6);
    for (size_t i = 0; i < outputs; i++) {
        hac_repr repr = (hac_repr)(1 + test_below(&g.random, HAC_REPR_END - 1));
        hac_value_id value = g.n[repr] > 0 ? g.values[repr][g.n[repr] - 1] : pick(&g, repr);
        hac_program_builder_output(g.builder, value, test_type(repr));
    }
    if (hac_program_builder_finish(g.builder, &program, &err) != HAC_OK)
        fail_msg("%s", err.message);
    hac_program_builder_free(g.builder);
    return program;
}

static void test_random_programs(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < HAC_TEST_CASES(200, 60); seed++) {
        world w = {0};
        w.program = random_program(seed, &w);
        check_program(&w, 0, seed);
        hac_program_free(w.program);
    }
}

/* More constants than the machine keeps as columns; all are needed as columns. */
static void test_many_constants(void **state)
{
    (void)state;
    hac_program_builder *builder = NULL;
    world w = {.reprs = {HAC_REPR_BOOL}, .n_inputs = 1};
    assert_int_equal(hac_program_builder_new(&builder, NULL), HAC_OK);
    hac_value_id condition = hac_program_builder_input(builder, 0, test_type(HAC_REPR_BOOL));
    hac_value_id sum = hac_program_builder_constant(builder, HAC_REPR_I64, 0, 0);
    for (uint64_t i = 0; i < HAC_TEST_CASES(200, 50); i++) {
        hac_value_id one = hac_program_builder_constant(builder, HAC_REPR_I64, 2 * i + 1, 0),
                     other = hac_program_builder_constant(builder, HAC_REPR_I64, 2 * i + 2, 0);
        hac_value_id taken = hac_program_builder_op(builder, HAC_OP_SELECT, condition, one, other, 0);
        sum = hac_program_builder_op(builder, HAC_OP_ADD_I64, sum, taken, 0, 0);
    }
    hac_program_builder_output(builder, sum, test_type(HAC_REPR_I64));
    assert_int_equal(hac_program_builder_finish(builder, &w.program, NULL), HAC_OK);
    check_program(&w, 0, 1);
    hac_program_free(w.program);
    hac_program_builder_free(builder);
}

/* An operation on constants runs once, unless it fails: (0.15 / 100) + x, and 1 / 0 + x. */
static void test_folding(void **state)
{
    (void)state;
    hac_program_builder *builder = NULL;
    assert_int_equal(hac_program_builder_new(&builder, NULL), HAC_OK);
    for (int fails = 0; fails < 2; fails++) {
        hac_repr repr = fails ? HAC_REPR_I64 : HAC_REPR_F64;
        world w = {.reprs = {repr}, .n_inputs = 1};
        double part = 0.15;
        uint64_t bits;
        memcpy(&bits, &part, sizeof bits);
        hac_value_id x = hac_program_builder_input(builder, 0, test_type(repr)), made;
        if (fails)
            made = hac_program_builder_op(builder, HAC_OP_DIV_I64,
                                          hac_program_builder_constant(builder, repr, 1, 0),
                                          hac_program_builder_constant(builder, repr, 0, 0), 0, 0);
        else
            made = hac_program_builder_op(
                builder, HAC_OP_DIV_F64, hac_program_builder_constant(builder, repr, bits, 0),
                hac_program_builder_op(builder, HAC_OP_U64_TO_F64,
                                       hac_program_builder_constant(builder, HAC_REPR_U64, 100, 0), 0, 0, 0),
                0, 0);
        hac_program_builder_output(
            builder, hac_program_builder_op(builder, fails ? HAC_OP_ADD_I64 : HAC_OP_ADD_F64, made, x, 0, 0),
            test_type(repr));
        assert_int_equal(hac_program_builder_finish(builder, &w.program, NULL), HAC_OK);
        machines m;
        machines_make(&m, &w);
        for (size_t i = 0; i < m.n; i++)
            assert_int_equal(m.of[i]->n_steps, fails ? 2 : 1);
        machines_free(&m);
        check_program(&w, 0, 1);
        hac_program_free(w.program);
    }
    hac_program_builder_free(builder);
}

static void test_constant(void **state)
{
    (void)state;
    hac_program_builder *builder = NULL;
    hac_program *program = NULL;
    hac_machine_c *machine = NULL;
    hac_column result;
    assert_int_equal(hac_program_builder_new(&builder, NULL), HAC_OK);
    for (int round = 0; round < 3; round++) {
        static const uint64_t divisors[] = {7, 0, UINT64_MAX};
        static const uint8_t wanted[] = {HAC_ROW_OK, HAC_ROW_NULL, HAC_ROW_OVERFLOW};
        hac_value_id a = hac_program_builder_constant(builder, HAC_REPR_I64, (uint64_t)INT64_MIN, 0);
        hac_value_id b = hac_program_builder_constant(builder, HAC_REPR_I64, divisors[round], 0);
        hac_program_builder_output(builder, hac_program_builder_op(builder, HAC_OP_DIV_I64, a, b, 0, 0),
                                   test_type(HAC_REPR_I64));
        assert_int_equal(hac_program_builder_finish(builder, &program, NULL), HAC_OK);
        assert_int_equal(hac_machine_c_new(program, 0, &machine, NULL), HAC_OK);
        assert_int_equal(hac_machine_c_constant(machine, &result), wanted[round]);
        if (round == 0)
            assert_int_equal(*(int64_t *)result.values, INT64_MIN / 7);
        hac_machine_c_free(machine);
        hac_program_free(program);
    }
    hac_program_builder_free(builder);
}

/* Rows whose strings no longer fit are HAC_ROW_OVERFLOW; the rows before them are right. */
static void test_full_arena(void **state)
{
    (void)state;
    static const hac_op makers[] = {HAC_OP_LOWER, HAC_OP_CONCAT, HAC_OP_REPLACE, HAC_OP_COALESCE};
    hac_program_builder *builder = NULL;
    assert_int_equal(hac_program_builder_new(&builder, NULL), HAC_OK);
    hac_column columns[2] = {test_column_new(HAC_REPR_STRING, true), test_column_new(HAC_REPR_STRING, false)};
    ref_value ten = {.bytes = 10, .string = "0123456789"}, empty = {0}, null = {.state = HAC_ROW_NULL};
    for (size_t row = 0; row < 100; row++) {
        test_column_set(&columns[0], HAC_REPR_STRING, row, row % 7 == 3 ? &null : &ten);
        test_column_set(&columns[1], HAC_REPR_STRING, row, row % 7 == 3 ? &ten : &empty);
    }
    for (size_t i = 0; i < 4; i++)
        for (size_t capacity = 0; capacity < 140; capacity++) {
            hac_program *program = NULL;
            hac_machine_c *machine = NULL;
            hac_value_id a = hac_program_builder_input(builder, 0, test_type(HAC_REPR_STRING)),
                         b = hac_program_builder_input(builder, 1, test_type(HAC_REPR_STRING));
            hac_value_id c = makers[i] == HAC_OP_REPLACE ? b : 0;
            hac_program_builder_output(builder,
                                       hac_program_builder_op(builder, makers[i], a, i == 0 ? 0 : b, c, 0),
                                       test_type(HAC_REPR_STRING));
            assert_int_equal(hac_program_builder_finish(builder, &program, NULL), HAC_OK);
            assert_int_equal(hac_machine_c_new(program, capacity, &machine, NULL), HAC_OK);
            hac_column result;
            hac_batch batch = {100, 2, columns};
            hac_machine_c_run(machine, &batch, &result);
            size_t fits = 0;
            for (size_t row = 0; row < 100; row++) {
                ref_value got = reference_get(&result, HAC_REPR_STRING, row);
                bool strict_null = row % 7 == 3 && makers[i] != HAC_OP_COALESCE;
                assert_true(got.state == HAC_ROW_OVERFLOW ||
                            got.state == (strict_null ? HAC_ROW_NULL : HAC_ROW_OK));
                assert_true(got.state == HAC_ROW_OK || got.bytes == 0);
                if (got.state == HAC_ROW_OK) {
                    assert_int_equal(got.bytes, 10);
                    assert_memory_equal(got.string, "0123456789", 10);
                    fits++;
                }
            }
            assert_int_equal(fits, capacity / 10);
            hac_machine_c_free(machine);
            hac_program_free(program);
        }
    hac_program_builder_free(builder);
    test_column_free(&columns[0]);
    test_column_free(&columns[1]);
}

/* The owner of a table may change its strings while the machine reads them. Here the column is the machine's
 * own arena, so writing the result changes the strings that are read later, and more matches are found than
 * were counted. */
static void test_changing_string(void **state)
{
    (void)state;
    hac_program_builder *builder = NULL;
    hac_program *program = NULL;
    hac_machine_c *machine = NULL;
    assert_int_equal(hac_program_builder_new(&builder, NULL), HAC_OK);
    hac_value_id a = hac_program_builder_input(builder, 0, test_type(HAC_REPR_STRING));
    hac_value_id from = hac_program_builder_string(builder, (const uint8_t *)"a", 1);
    hac_value_id with = hac_program_builder_string(builder, (const uint8_t *)"aaaa", 4);
    hac_program_builder_output(builder, hac_program_builder_op(builder, HAC_OP_REPLACE, a, from, with, 0),
                               test_type(HAC_REPR_STRING));
    assert_int_equal(hac_program_builder_finish(builder, &program, NULL), HAC_OK);
    assert_int_equal(hac_machine_c_new(program, 1000, &machine, NULL), HAC_OK);
    hac_column column = test_column_new(HAC_REPR_STRING, false), result;
    hac_batch batch = {1, 1, &column};
    test_column_set(&column, HAC_REPR_STRING, 0, &(ref_value){.bytes = 1, .string = "b"});
    hac_machine_c_run(machine, &batch, &result);
    uint8_t *arena = (uint8_t *)(uintptr_t)result.bytes;
    const uint8_t *own = column.bytes;
    memset(arena, 'x', 1000);
    arena[0] = 'a';
    *(hac_string_ref *)column.values = (hac_string_ref){0, 100};
    column.bytes = arena;
    hac_machine_c_run(machine, &batch, &result);
    assert_true(((const hac_string_ref *)result.values)->length <= 103); /* as many as were counted */
    for (size_t i = 103; i < 1000; i++)
        assert_int_equal(arena[i], 'x');
    column.bytes = own;
    hac_machine_c_free(machine);
    hac_program_free(program);
    hac_program_builder_free(builder);
    test_column_free(&column);
}

/* A segment between two % is searched, not tried at every character. */
static void test_long_patterns(void **state)
{
    (void)state;
    static uint8_t text[1 << 22], pattern[8192];
    memset(text, 'a', sizeof text);
    memset(pattern, 'a', sizeof pattern);
    pattern[0] = '%';
    pattern[sizeof pattern - 1] = '%';
    clock_t start = clock();
    assert_true(hac_like(text, sizeof text, pattern, sizeof pattern));
    assert_true(hac_like(text, sizeof text, pattern, sizeof pattern - 1));
    pattern[sizeof pattern - 2] = 'b';
    assert_false(hac_like(text, sizeof text, pattern, sizeof pattern));
    assert_false(hac_like(text, sizeof text, pattern, sizeof pattern - 1));
    text[sizeof text - 1] = 'b';
    assert_true(hac_like(text, sizeof text, pattern, sizeof pattern));
    assert_true(hac_like(text, sizeof text, pattern, sizeof pattern - 1));
    pattern[sizeof pattern - 3] = '%';
    assert_true(hac_like(text, sizeof text, pattern, sizeof pattern));
    assert_true(clock() - start < 5 * CLOCKS_PER_SEC);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_comparisons_and_logic),
        cmocka_unit_test(test_conversions_and_dates),
        cmocka_unit_test(test_strings),
        cmocka_unit_test(test_small_numbers),
        cmocka_unit_test(test_random_programs),
        cmocka_unit_test(test_many_constants),
        cmocka_unit_test(test_folding),
        cmocka_unit_test(test_constant),
        cmocka_unit_test(test_full_arena),
        cmocka_unit_test(test_changing_string),
        cmocka_unit_test(test_long_patterns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
