/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The C column machine and the text of values: nanoseconds a row, a number. Columns of 256 K rows, in batches
 * of 1,024; the best of several rounds. Numbers against the C library's strtod and printf.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/value_text.h"
#include "expr/machine.h"

#define ROWS   (256 * 1024)
#define ROUNDS 40
#define TEXTS  200000

static const hac_value_type t_f64 = {HAC_KIND_F64, 0, 0}, t_i64 = {HAC_KIND_I64, 0, 0},
                            t_bool = {HAC_KIND_BOOL, 0, 0}, t_date = {HAC_KIND_DATE, 0, 0};

static uint64_t seed = 88172645463325252u;

static uint64_t next(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    return seed ^= seed << 17;
}

static double now(void)
{
    return (double)hac_now_ns();
}

static void must(hac_status status, const hac_error *err)
{
    if (status != HAC_OK) {
        fprintf(stderr, "bench_expr: %s\n", err->message);
        exit(1);
    }
}

static void *column(size_t size)
{
    void *memory = aligned_alloc(64, ROWS * size);
    if (memory == NULL)
        exit(1);
    return memory;
}

/* The best time for all rows, in ns a row. */
static double measure(hac_program *program, hac_column *columns, size_t n_columns)
{
    hac_error err = HAC_ERROR_NONE;
    hac_machine_c *machine = NULL;
    hac_column outputs[HAC_PROGRAM_OUTPUTS_MAX], at[8];
    double best = INFINITY;
    must(hac_machine_c_new(program, 1u << 20, &machine, &err), &err);
    for (int round = 0; round < ROUNDS; round++) {
        double start = now();
        for (size_t row = 0; row < ROWS; row += HAC_BATCH_ROWS) {
            for (size_t i = 0; i < n_columns; i++) {
                at[i] = columns[i];
                at[i].values = (char *)columns[i].values + row * hac_repr_size(hac_repr_of(columns[i].type));
            }
            const hac_batch batch = {HAC_BATCH_ROWS, n_columns, at};
            hac_machine_c_run(machine, &batch, outputs);
        }
        double took = (now() - start) / ROWS;
        best = took < best ? took : best;
    }
    hac_machine_c_free(machine);
    hac_program_free(program);
    return best;
}

static hac_program *finish(hac_program_builder *builder)
{
    hac_program *program = NULL;
    hac_error err = HAC_ERROR_NONE;
    must(hac_program_builder_finish(builder, &program, &err), &err);
    return program;
}

/* 16 operations on two columns. */
static hac_program *chain(hac_program_builder *b, hac_value_type type, const hac_op ops[4], uint64_t constant)
{
    hac_value_id x = hac_program_builder_input(b, 0, type), y = hac_program_builder_input(b, 1, type), v = x;
    hac_value_id c = hac_program_builder_constant(b, hac_repr_of(type), constant, 0);
    for (int i = 0; i < 16; i++)
        v = hac_program_builder_op(b, ops[i % 4], v, i % 3 == 0 ? y : i % 3 == 1 ? x : c, 0, 0);
    hac_program_builder_output(b, v, type);
    return finish(b);
}

static uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* shipdate >= a and shipdate < b and discount between c and d and quantity < e */
static hac_program *q6(hac_program_builder *b, bool decimals, bool with_sum)
{
    hac_value_type type = decimals ? t_i64 : t_f64;
    hac_repr repr = decimals ? HAC_REPR_I64 : HAC_REPR_F64;
    hac_op lt = decimals ? HAC_OP_LT_I64 : HAC_OP_LT_F64, le = decimals ? HAC_OP_LE_I64 : HAC_OP_LE_F64;
    hac_op mul = decimals ? HAC_OP_MUL_I64 : HAC_OP_MUL_F64;
#define CONSTANT(i, f) hac_program_builder_constant(b, repr, decimals ? (uint64_t)(i) : bits_of(f), 0)
    hac_value_id ship = hac_program_builder_input(b, 0, t_date),
                 discount = hac_program_builder_input(b, 1, type),
                 quantity = hac_program_builder_input(b, 2, type),
                 price = hac_program_builder_input(b, 3, type);
    hac_value_id low = hac_program_builder_constant(b, HAC_REPR_I64, 8766, 0),
                 high = hac_program_builder_constant(b, HAC_REPR_I64, 9131, 0);
    hac_value_id all = hac_program_builder_op(b, HAC_OP_LE_I64, low, ship, 0, 0);
    all = hac_program_builder_op(b, HAC_OP_AND, all,
                                 hac_program_builder_op(b, HAC_OP_LT_I64, ship, high, 0, 0), 0, 0);
    all = hac_program_builder_op(b, HAC_OP_AND, all,
                                 hac_program_builder_op(b, le, CONSTANT(5, 0.05), discount, 0, 0), 0, 0);
    all = hac_program_builder_op(b, HAC_OP_AND, all,
                                 hac_program_builder_op(b, le, discount, CONSTANT(7, 0.07), 0, 0), 0, 0);
    all = hac_program_builder_op(b, HAC_OP_AND, all,
                                 hac_program_builder_op(b, lt, quantity, CONSTANT(2400, 24.0), 0, 0), 0, 0);
    hac_program_builder_output(b, all, t_bool);
    if (with_sum)
        hac_program_builder_output(b, hac_program_builder_op(b, mul, price, discount, 0, 0), type);
    return finish(b);
}

static void bench_machine(void)
{
    static const hac_op f64[] = {HAC_OP_MUL_F64, HAC_OP_ADD_F64, HAC_OP_SUB_F64, HAC_OP_MUL_F64};
    static const hac_op i64[] = {HAC_OP_ADD_I64, HAC_OP_SUB_I64, HAC_OP_ADD_I64, HAC_OP_ADD_I64};
    static const hac_op multiply[] = {HAC_OP_MUL_I64, HAC_OP_SUB_I64, HAC_OP_SUB_I64, HAC_OP_SUB_I64};
    static const hac_op divide[] = {HAC_OP_DIV_I64, HAC_OP_ADD_I64, HAC_OP_ADD_I64, HAC_OP_ADD_I64};
    hac_program_builder *b = NULL;
    hac_error err = HAC_ERROR_NONE;
    double *x = column(8), *y = column(8), *z = column(8), *w = column(8);
    int64_t *i = column(8), *j = column(8), *k = column(8), *l = column(8);
    must(hac_program_builder_new(&b, &err), &err);
    for (size_t row = 0; row < ROWS; row++) {
        i[row] = 8035 + (int64_t)(next() % 2526);
        j[row] = (int64_t)(next() % 11);
        k[row] = 100 * (1 + (int64_t)(next() % 50));
        l[row] = 90000 + (int64_t)(next() % 10000000);
        x[row] = (double)j[row] / 100;
        y[row] = (double)k[row] / 100;
        z[row] = (double)l[row] / 100;
        w[row] = 1 + (double)(next() % 1000) / 1000000;
    }
    hac_column floats[] = {{.type = t_f64, .values = w}, {.type = t_f64, .values = x}};
    hac_column ints[] = {{.type = t_i64, .values = i}, {.type = t_i64, .values = j}};
    hac_column lines_f[] = {{.type = t_date, .values = i},
                            {.type = t_f64, .values = x},
                            {.type = t_f64, .values = y},
                            {.type = t_f64, .values = z}};
    hac_column lines_d[] = {{.type = t_date, .values = i},
                            {.type = t_i64, .values = j},
                            {.type = t_i64, .values = k},
                            {.type = t_i64, .values = l}};
    hac_column days[] = {{.type = t_date, .values = i}};
    printf("machine, ns a row\n");
    printf("  16 operations on f64          %6.3f\n", measure(chain(b, t_f64, f64, bits_of(0.5)), floats, 2));
    printf("  16 operations on i64, + -     %6.3f\n", measure(chain(b, t_i64, i64, 3), ints, 2));
    printf("  16 operations on i64, 4 x     %6.3f\n", measure(chain(b, t_i64, multiply, 3), ints, 2));
    printf("  16 operations on i64, 4 /     %6.3f\n", measure(chain(b, t_i64, divide, 3), ints, 2));
    printf("  Q6's predicate, f64           %6.3f\n", measure(q6(b, false, false), lines_f, 4));
    printf("  Q6's predicate, decimal       %6.3f\n", measure(q6(b, true, false), lines_d, 4));
    printf("  with price * discount, f64    %6.3f\n", measure(q6(b, false, true), lines_f, 4));
    printf("  with price * discount, decimal%6.3f\n", measure(q6(b, true, true), lines_d, 4));
    hac_value_id d = hac_program_builder_input(b, 0, t_date);
    hac_program_builder_output(b, hac_program_builder_op(b, HAC_OP_DATE_PART, d, 0, 0, HAC_UNIT_YEAR), t_i64);
    printf("  year of a date                %6.3f\n", measure(finish(b), days, 1));
    d = hac_program_builder_input(b, 0, t_date);
    hac_program_builder_output(b, hac_program_builder_op(b, HAC_OP_DATE_TRUNC, d, 0, 0, HAC_UNIT_MONTH),
                               t_i64);
    printf("  month of a date, truncated    %6.3f\n", measure(finish(b), days, 1));
    hac_program_builder_output(
        b, hac_program_builder_op(b, HAC_OP_SCALE_DOWN_I64, hac_program_builder_input(b, 0, t_i64), 0, 0, 2),
        t_i64);
    printf("  rescaling a decimal down      %6.3f\n", measure(finish(b), ints, 1));
    hac_program_builder_output(
        b,
        hac_program_builder_op(b, HAC_OP_DIV_I64, hac_program_builder_input(b, 0, t_i64),
                               hac_program_builder_constant(b, HAC_REPR_I64, 7, 0), 0, 0),
        t_i64);
    printf("  i64 by a constant             %6.3f\n", measure(finish(b), ints, 1));
    hac_program_builder_free(b);
}

/* ---- text ---------------------------------------------------------------------------------------------- */

typedef struct texts {
    char (*text)[32];
    size_t *bytes;
    double *values;
} texts;

static double parse_ours(const texts *t)
{
    double sum = 0, value = 0, start = now();
    for (size_t i = 0; i < TEXTS; i++)
        if (hac_parse_f64(t->text[i], t->bytes[i], &value) == HAC_TEXT_OK)
            sum += value;
    double took = now() - start;
    return sum == 0.12345 ? 0 : took / TEXTS;
}

static double parse_libc(const texts *t)
{
    double sum = 0, start = now();
    for (size_t i = 0; i < TEXTS; i++)
        sum += strtod(t->text[i], NULL);
    double took = now() - start;
    return sum == 0.12345 ? 0 : took / TEXTS;
}

static double print_ours(const texts *t)
{
    char text[HAC_PRINT_MAX];
    size_t sum = 0;
    double start = now();
    for (size_t i = 0; i < TEXTS; i++)
        sum += hac_print_f64(t->values[i], text);
    double took = now() - start;
    return sum == 1 ? 0 : took / TEXTS;
}

/* The shortest of %.15g, %.16g and %.17g that reads back. */
static double print_libc(const texts *t)
{
    char text[64];
    size_t sum = 0;
    double start = now();
    for (size_t i = 0; i < TEXTS; i++)
        for (int digits = 15; digits <= 17; digits++) {
            sum += (size_t)snprintf(text, sizeof text, "%.*g", digits, t->values[i]);
            if (strtod(text, NULL) == t->values[i])
                break;
        }
    double took = now() - start;
    return sum == 1 ? 0 : took / TEXTS;
}

static double best_of(double (*function)(const texts *), const texts *t)
{
    double best = INFINITY;
    for (int round = 0; round < 7; round++) {
        double took = function(t);
        best = took < best ? took : best;
    }
    return best;
}

static double value_of(int kind)
{
    uint64_t bits = next();
    double value;
    switch (kind) {
    case 0:
        return (double)(bits % 10000000) / 100;
    case 1:
        return (double)(bits >> 11) * 0x1p-53;
    case 2:
        return (double)(bits % 1000000);
    default:
        bits &= UINT64_C(0xbfffffffffffffff);
        memcpy(&value, &bits, sizeof value);
        return value;
    }
}

static void bench_text(void)
{
    static const char *const kinds[] = {"12345.67", "0.123… (17 digits)", "123456.0", "any bits"};
    texts t = {malloc(TEXTS * 32), malloc(TEXTS * sizeof(size_t)), malloc(TEXTS * sizeof(double))};
    if (t.text == NULL || t.bytes == NULL || t.values == NULL)
        exit(1);
    printf("text, ns a number             parse  strtod   print  printf\n");
    for (int kind = 0; kind < 4; kind++) {
        for (size_t i = 0; i < TEXTS; i++) {
            t.values[i] = value_of(kind);
            t.bytes[i] = hac_print_f64(t.values[i], t.text[i]);
            t.text[i][t.bytes[i]] = '\0';
        }
        printf("  %-24s %8.1f%8.1f%8.1f%8.1f\n", kinds[kind], best_of(parse_ours, &t),
               best_of(parse_libc, &t), best_of(print_ours, &t), best_of(print_libc, &t));
    }
    free(t.text);
    free(t.bytes);
    free(t.values);
}

int main(void)
{
    bench_machine();
    bench_text();
    return 0;
}
