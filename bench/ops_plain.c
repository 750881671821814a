/* SPDX-License-Identifier: Apache-2.0 */
#include "ops_plain.h"

#include <stdlib.h>
#include <string.h>

#define VECTOR(i) ((double *)(void *)spans[i].data)
#define ROWS(i)   ((int64_t)operands[i].rows)

void plain_map(const hac_span *spans, const hac_op_operand *operands)
{
    double *restrict y = VECTOR(0);
    const double *restrict x = VECTOR(1), *restrict z = VECTOR(2);
#pragma omp parallel for
    for (int64_t i = 0; i < ROWS(0); i++)
        y[i] = x[i] * 0.85 + z[i];
}

void plain_sum(const hac_span *spans, const hac_op_operand *operands)
{
    const double *restrict x = VECTOR(1);
    double sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (int64_t i = 0; i < ROWS(1); i++)
        sum += x[i];
    VECTOR(0)[0] = sum;
}

void plain_max(const hac_span *spans, const hac_op_operand *operands)
{
    const double *restrict x = VECTOR(1);
    double max = x[0];
#pragma omp parallel for reduction(max : max)
    for (int64_t i = 0; i < ROWS(1); i++)
        max = x[i] > max ? x[i] : max;
    VECTOR(0)[0] = max;
}

void plain_dot(const hac_span *spans, const hac_op_operand *operands)
{
    const double *restrict x = VECTOR(1), *restrict y = VECTOR(2);
    double sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (int64_t i = 0; i < ROWS(1); i++)
        sum += x[i] * y[i];
    VECTOR(0)[0] = sum;
}

/* One thread: the first loop that one writes has a chain. */
void plain_scan(const hac_span *spans, const hac_op_operand *operands)
{
    double *restrict y = VECTOR(0), sum = 0;
    const double *restrict x = VECTOR(1);
    for (int64_t i = 0; i < ROWS(0); i++)
        y[i] = sum += x[i];
}

void plain_count(const hac_span *spans, const hac_op_operand *operands)
{
    const double *restrict x = VECTOR(1);
    int64_t n = 0;
#pragma omp parallel for reduction(+ : n)
    for (int64_t i = 0; i < ROWS(1); i++)
        n += x[i] > 4;
    ((int64_t *)(void *)spans[0].data)[0] = n;
}

void plain_gather(const hac_span *spans, const hac_op_operand *operands)
{
    double *restrict y = VECTOR(0);
    const double *restrict x = VECTOR(1);
    const uint32_t *restrict index = (const uint32_t *)(const void *)spans[2].data;
#pragma omp parallel for
    for (int64_t i = 0; i < ROWS(0); i++)
        y[i] = x[index[i]];
}

void plain_gemm(const hac_span *spans, const hac_op_operand *operands)
{
    double *restrict c = VECTOR(0);
    const double *restrict a = VECTOR(1), *restrict b = VECTOR(2);
    int64_t n = (int64_t)operands[0].columns, depth = (int64_t)operands[1].columns;
#pragma omp parallel for
    for (int64_t i = 0; i < ROWS(0); i++) {
        memset(c + i * n, 0, (size_t)n * sizeof *c);
        for (int64_t k = 0; k < depth; k++)
            for (int64_t j = 0; j < n; j++)
                c[i * n + j] += a[i * depth + k] * b[k * n + j];
    }
}

void plain_gemv(const hac_span *spans, const hac_op_operand *operands)
{
    double *restrict y = VECTOR(0);
    const double *restrict a = VECTOR(1), *restrict x = VECTOR(2);
    int64_t n = (int64_t)operands[1].columns;
#pragma omp parallel for
    for (int64_t i = 0; i < ROWS(0); i++) {
        double sum = 0;
        for (int64_t k = 0; k < n; k++)
            sum += a[i * n + k] * x[k];
        y[i] = sum;
    }
}

void plain_spmv(const hac_span *spans, const hac_op_operand *operands)
{
    double *restrict y = VECTOR(0);
    const double *restrict x = VECTOR(2);
    const uint64_t *restrict offsets = (const uint64_t *)(const void *)spans[1].data;
    const uint32_t *restrict indices = (const uint32_t *)(const void *)(spans[1].data + operands[1].indices);
    const double *restrict values = (const double *)(const void *)(spans[1].data + operands[1].values);
#pragma omp parallel for
    for (int64_t i = 0; i < ROWS(0); i++) {
        double sum = 0;
        for (uint64_t e = offsets[i]; e < offsets[i + 1]; e++)
            sum += values[e] * x[indices[e]];
        y[i] = sum;
    }
}

void plain_row_sums(const hac_span *spans, const hac_op_operand *operands)
{
    double *restrict y = VECTOR(0);
    const uint64_t *restrict offsets = (const uint64_t *)(const void *)spans[1].data;
    const double *restrict values = (const double *)(const void *)(spans[1].data + operands[1].values);
#pragma omp parallel for
    for (int64_t i = 0; i < ROWS(0); i++) {
        double sum = 0;
        for (uint64_t e = offsets[i]; e < offsets[i + 1]; e++)
            sum += values[e];
        y[i] = sum;
    }
}

void plain_nearest(const hac_span *spans, const hac_op_operand *operands)
{
    uint32_t *restrict y = (uint32_t *)(void *)spans[0].data;
    const double *restrict a = VECTOR(1), *restrict b = VECTOR(2);
    int64_t columns = (int64_t)operands[1].columns, others = (int64_t)operands[2].rows;
#pragma omp parallel for
    for (int64_t i = 0; i < ROWS(1); i++) {
        double best = 1e300;
        for (int64_t j = 0; j < others; j++) {
            double sum = 0;
            for (int64_t k = 0; k < columns; k++) {
                double d = a[i * columns + k] - b[j * columns + k];
                sum += d * d;
            }
            if (sum < best) {
                best = sum;
                y[i] = (uint32_t)j;
            }
        }
    }
}

/* A table for each thread, added up at the end. */
void plain_keys(const hac_span *spans, const hac_op_operand *operands)
{
    const uint32_t *restrict keys = (const uint32_t *)(const void *)spans[1].data;
    const double *restrict x = VECTOR(2);
    int64_t columns = (int64_t)operands[2].columns;
    uint64_t cells = operands[0].columns;
#pragma omp parallel
    {
        double *table = calloc(operands[0].rows * cells, sizeof *table);
        if (table == NULL)
            abort();
#pragma omp for
        for (int64_t i = 0; i < ROWS(1); i++) {
            double *row = table + keys[i] * cells;
            row[0] += 1;
            for (int64_t c = 0; c < columns; c++)
                row[c + 1] += x[i * columns + c];
        }
#pragma omp critical
        for (uint64_t i = 0; i < 1000 && i < operands[0].rows * cells; i++)
            VECTOR(0)[i] += table[i];
        free(table);
    }
}
