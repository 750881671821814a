/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sub-operators in C beside plain loops of C with OpenMP, on the same number of threads, in turns: processor
 * time of each, and their ratio (below 1: the sub-operator takes less). The best of several rounds; the plain
 * loops are compiled for this processor and may add floats up in any order they like (-Ofast), the
 * sub-operators not.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "codelets.h"
#include "host/op.h"
#include "host/op_call.h"
#include "ops_plain.h"

#define ROUNDS 7

typedef struct trial {
    hac_op_call call;
    hac_op_operand operands[HAC_OP_OPERANDS_MAX];
    hac_span spans[HAC_OP_OPERANDS_MAX];
    hac_text program;
} trial;

static double processor_time(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static uint64_t seed = 88172645463325252u;

static uint64_t next(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    return seed ^= seed << 17;
}

static void begin(trial *t, unsigned function)
{
    *t = (trial){.call = {.magic = HAC_OP_MAGIC, .function = function}, .program = HAC_TEXT_NONE};
}

static void end(trial *t)
{
    for (size_t i = 0; i < t->call.n_operands; i++)
        free(t->spans[i].data);
    hac_text_clear(&t->program);
}

static void *add(trial *t, unsigned form, unsigned kind, uint64_t rows, uint64_t columns, uint64_t entries)
{
    size_t i = t->call.n_operands++;
    hac_op_operand o = {
        .form = (uint8_t)form, .kind = (uint8_t)kind, .span = (uint8_t)i, .rows = rows, .columns = columns};
    uint64_t bytes = rows * columns * hac_op_element_size(kind);
    if (form == HAC_VECTOR_SPARSE_MATRIX) {
        o.entries = entries;
        o.indices = ((rows + 1) * 8 + 63) / 64 * 64;
        o.values = o.indices + (entries * 4 + 63) / 64 * 64;
        bytes = o.values + entries * hac_op_element_size(kind);
    }
    t->operands[i] = o;
    t->spans[i] = (hac_span){aligned_alloc(64, (bytes + 63) / 64 * 64), bytes};
    if (t->spans[i].data == NULL)
        exit(1);
    memset(t->spans[i].data, 0, bytes);
    return t->spans[i].data;
}

static double *dense(trial *t, uint64_t rows, uint64_t columns)
{
    double *x = add(t, HAC_VECTOR_FIX_VALUE, HAC_KIND_F64, rows, columns, 0);
    for (uint64_t i = 0; i < rows * columns; i++)
        x[i] = (double)(next() % 1000) / 128;
    return x;
}

static void run(trial *t, const char *name)
{
    static uint8_t bytes[HAC_OP_CALL_MAX];
    hac_error err = HAC_ERROR_NONE;
    size_t operands = t->call.n_operands * sizeof *t->operands;
    t->call.program_bytes = (uint32_t)t->program.bytes;
    memcpy(bytes, &t->call, sizeof t->call);
    memcpy(bytes + sizeof t->call, t->operands, operands);
    if (t->program.bytes != 0)
        memcpy(bytes + sizeof t->call + operands, t->program.data, t->program.bytes);
    hac_task task = {.n_spans = t->call.n_operands,
                     .fd = -1,
                     .inline_in = bytes,
                     .inline_in_bytes = sizeof t->call + operands + t->program.bytes};
    memcpy(task.spans, t->spans, sizeof t->spans);
    hac_task_result result = {0};
    const hac_codelet *codelet = hac_codelet_find(name);
    if (codelet->check(NULL, &task, &err) != HAC_OK || codelet->run(NULL, &task, &result, &err) != HAC_OK) {
        fprintf(stderr, "bench_ops: %s\n", err.message);
        exit(1);
    }
}

typedef void (*plain)(const hac_span *spans, const hac_op_operand *operands);

static void compare(trial *t, const char *name, const char *what, plain loop)
{
    double ours = INFINITY, theirs = INFINITY, wall = INFINITY, plain_wall = INFINITY;
    for (int round = 0; round < ROUNDS; round++) {
        double start = processor_time();
        uint64_t at = hac_now_ns();
        run(t, name);
        wall = fmin(wall, (double)(hac_now_ns() - at) * 1e-6);
        double middle = processor_time();
        at = hac_now_ns();
        loop(t->spans, t->operands);
        plain_wall = fmin(plain_wall, (double)(hac_now_ns() - at) * 1e-6);
        ours = fmin(ours, middle - start);
        theirs = fmin(theirs, processor_time() - middle);
    }
    printf("%-14s %-34s %9.2f %9.2f %7.2f %10.2f %9.2f\n", name, what, ours, theirs, ours / theirs, wall,
           plain_wall);
    fflush(stdout);
}

static hac_value_id number(hac_program_builder *b, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, 8);
    return hac_program_builder_constant(b, HAC_REPR_F64, bits, 0);
}

/* x * 0.85 + z, or x > 4. */
static void add_program(trial *t, bool filter)
{
    hac_program_builder *b = NULL;
    hac_program *program = NULL;
    hac_value_type f64 = {.kind = HAC_KIND_F64};
    if (hac_program_builder_new(&b, NULL) != HAC_OK)
        exit(1);
    hac_value_id x = hac_program_builder_input(b, 0, f64), value;
    if (filter)
        value = hac_program_builder_op(b, HAC_OP_LT_F64, number(b, 4), x, 0, 0);
    else
        value = hac_program_builder_op(b, HAC_OP_ADD_F64,
                                       hac_program_builder_op(b, HAC_OP_MUL_F64, x, number(b, 0.85), 0, 0),
                                       hac_program_builder_input(b, 1, f64), 0, 0);
    hac_program_builder_output(b, value, filter ? (hac_value_type){.kind = HAC_KIND_BOOL} : f64);
    if (hac_program_builder_finish(b, &program, NULL) != HAC_OK)
        exit(1);
    hac_program_write(program, &t->program);
    hac_program_free(program);
    hac_program_builder_free(b);
}

static void bench_vectors(uint64_t n, const char *size)
{
    trial t;
    char what[64];
    uint64_t blocks = (n + HAC_OP_BLOCK - 1) / HAC_OP_BLOCK;
    begin(&t, 0);
    dense(&t, n, 1);
    dense(&t, n, 1);
    dense(&t, n, 1);
    add_program(&t, false);
    snprintf(what, sizeof what, "0.85 x + z, %s f64", size);
    compare(&t, "op.map", what, plain_map);
    end(&t);
    begin(&t, HAC_OP_SUM);
    dense(&t, blocks, 1);
    dense(&t, n, 1);
    snprintf(what, sizeof what, "sum, %s f64", size);
    compare(&t, "op.reduce", what, plain_sum);
    t.call.function = HAC_OP_MAX;
    snprintf(what, sizeof what, "max, %s f64", size);
    compare(&t, "op.reduce", what, plain_max);
    end(&t);
    begin(&t, HAC_OP_PRODUCTS);
    dense(&t, blocks, 1);
    dense(&t, n, 1);
    dense(&t, n, 1);
    snprintf(what, sizeof what, "dot, %s f64", size);
    compare(&t, "op.reduce", what, plain_dot);
    end(&t);
    begin(&t, HAC_OP_SUM);
    dense(&t, n, 1);
    dense(&t, n, 1);
    dense(&t, blocks, 1);
    snprintf(what, sizeof what, "running sum, %s f64", size);
    compare(&t, "op.scan", what, plain_scan);
    end(&t);
    begin(&t, 0);
    add(&t, HAC_VECTOR_FIX_VALUE, HAC_KIND_U64, blocks, 1, 0);
    dense(&t, n, 1);
    add_program(&t, true);
    snprintf(what, sizeof what, "x > 4, %s f64", size);
    compare(&t, "op.filter_count", what, plain_count);
    end(&t);
    begin(&t, 0);
    dense(&t, n, 1);
    dense(&t, n, 1);
    uint32_t *index = add(&t, HAC_VECTOR_FIX_VALUE, HAC_KIND_U32, n, 1, 0);
    for (uint64_t i = 0; i < n; i++)
        index[i] = (uint32_t)(next() % n);
    snprintf(what, sizeof what, "anywhere, %s f64", size);
    compare(&t, "op.gather", what, plain_gather);
    end(&t);
}

static void bench_matrices(void)
{
    trial t;
    begin(&t, 0);
    dense(&t, 512, 512);
    dense(&t, 512, 512);
    dense(&t, 512, 512);
    compare(&t, "op.gemm", "512 x 512 x 512 f64, loops i k j", plain_gemm);
    end(&t);
    begin(&t, 0);
    dense(&t, 4000, 1);
    dense(&t, 4000, 2000);
    dense(&t, 2000, 1);
    compare(&t, "op.gemv", "4000 x 2000 f64", plain_gemv);
    end(&t);
    enum { NODES = 1000000, DEGREE = 10 };
    begin(&t, 0);
    dense(&t, NODES, 1);
    uint8_t *m = add(&t, HAC_VECTOR_SPARSE_MATRIX, HAC_KIND_F64, NODES, NODES, (uint64_t)NODES * DEGREE);
    dense(&t, NODES, 1);
    uint64_t *offsets = (uint64_t *)(void *)m;
    uint32_t *indices = (uint32_t *)(void *)(m + t.operands[1].indices);
    double *values = (double *)(void *)(m + t.operands[1].values);
    for (uint64_t i = 0; i <= NODES; i++)
        offsets[i] = i * DEGREE;
    for (uint64_t e = 0; e < (uint64_t)NODES * DEGREE; e++) {
        indices[e] = (uint32_t)(next() % NODES);
        values[e] = 1;
    }
    compare(&t, "op.spmv", "1 M rows of 10, anywhere, f64", plain_spmv);
    t.call.n_operands = 2;
    compare(&t, "op.row_reduce", "sums, 1 M rows of 10, f64", plain_row_sums);
    t.call.n_operands = 3;
    end(&t);
}

static void bench_points(uint64_t rows, uint64_t others, uint64_t columns)
{
    trial t;
    char what[64];
    begin(&t, HAC_OP_SQUARED_EUCLIDEAN);
    add(&t, HAC_VECTOR_FIX_VALUE, HAC_KIND_U32, rows, 1, 0);
    dense(&t, rows, columns);
    dense(&t, others, columns);
    snprintf(what, sizeof what, "%llu points, %llu of %llu f64", (unsigned long long)rows,
             (unsigned long long)others, (unsigned long long)columns);
    compare(&t, "op.nearest", what, plain_nearest);
    end(&t);
}

static void bench_keys(uint64_t rows, uint64_t n, uint64_t columns)
{
    trial t;
    char what[64];
    begin(&t, HAC_OP_SUM);
    t.call.n = n;
    dense(&t, (rows + HAC_OP_KEY_BLOCK - 1) / HAC_OP_KEY_BLOCK * n, columns + 1);
    uint32_t *keys = add(&t, HAC_VECTOR_FIX_VALUE, HAC_KIND_U32, rows, 1, 0);
    dense(&t, rows, columns);
    for (uint64_t i = 0; i < rows; i++)
        keys[i] = (uint32_t)(next() % n);
    snprintf(what, sizeof what, "%llu rows, %llu keys, %llu f64", (unsigned long long)rows,
             (unsigned long long)n, (unsigned long long)columns);
    compare(&t, "op.keys", what, plain_keys);
    end(&t);
}

/* OpenMP's threads spin between loops unless they are told not to, before they are made: that would count as
 * time of what runs in the meantime. */
static void begin_quietly(char **arguments)
{
    if (getenv("OMP_WAIT_POLICY") != NULL)
        return;
    setenv("OMP_WAIT_POLICY", "passive", 1);
    execv("/proc/self/exe", arguments);
}

int main(int n, char **arguments)
{
    (void)n;
    begin_quietly(arguments);
    printf("%-14s %-34s %9s %9s %7s %10s %9s\n", "", "processor ms:", "hac", "plain", "ratio",
           "wall ms:", "plain");
    bench_vectors(UINT64_C(1) << 18, "256 K");
    bench_vectors(UINT64_C(1) << 24, "16 M");
    bench_matrices();
    bench_points(1000000, 16, 4);
    bench_points(200000, 256, 64);
    bench_keys(10000000, 16, 4);
    bench_keys(10000000, 1000, 1);
    return 0;
}
