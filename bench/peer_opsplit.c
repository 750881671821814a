/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What run_opsplit.py measures logic files against: the loops that one writes first, in C with OpenMP.
 *
 *     peer_opsplit k-means FILE COLUMNS K ROUNDS     FILE: f64, row by row
 *     peer_opsplit pagerank FILE ROUNDS              FILE: pairs of i64, each link once, nodes from 0
 *     peer_opsplit links FILE ROUNDS                 the same, but the matrix has no values
 *
 * One line of JSON: seconds from data in memory to the answer, seconds of a round, processor time, and the
 * answer.
 */
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define KEYS_MAX 1024 /* k x columns */

static void *memory(size_t n, size_t size)
{
    void *found = calloc(n > 0 ? n : 1, size);
    if (found == NULL) {
        fputs("peer_opsplit: no memory\n", stderr);
        exit(1);
    }
    return found;
}

static double seconds_of(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static double now(void)
{
    return seconds_of(CLOCK_MONOTONIC);
}

static double used(void) /* of all threads */
{
    return seconds_of(CLOCK_PROCESS_CPUTIME_ID);
}

/* The whole file; *ret_n elements of `size` bytes. */
static void *read_file(const char *path, size_t size, int64_t *ret_n)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL || fseek(file, 0, SEEK_END) != 0) {
        perror(path);
        exit(1);
    }
    size_t n = (size_t)ftell(file) / size;
    rewind(file);
    void *data = memory(n, size);
    if (fread(data, size, n, file) != n) {
        perror(path);
        exit(1);
    }
    fclose(file);
    *ret_n = (int64_t)n;
    return data;
}

static void print_times(double start, double begin, double end, int64_t rounds, double processors)
{
    printf("{\"seconds\": %.9f, \"round_seconds\": %.9f, \"processor_seconds\": %.9f, \"answer\": [",
           end - start, (end - begin) / (double)rounds, processors);
}

/* ---- k-means ---- */

static unsigned nearest(const double *restrict x, const double *restrict centroids, int64_t k,
                        int64_t columns)
{
    unsigned ret = 0;
    double best = DBL_MAX;
    for (int64_t j = 0; j < k; j++) {
        double sum = 0;
        for (int64_t c = 0; c < columns; c++) {
            double d = x[c] - centroids[j * columns + c];
            sum += d * d;
        }
        if (sum < best) {
            best = sum;
            ret = (unsigned)j;
        }
    }
    return ret;
}

/* Assigning and adding up in one pass; a table for each thread. */
static void k_means_round(const double *points, int64_t rows, int64_t columns, int64_t k, double *centroids,
                          uint32_t *cluster)
{
    double sums[KEYS_MAX] = {0};
    int64_t sizes[KEYS_MAX] = {0};
#pragma omp parallel for reduction(+ : sums[:KEYS_MAX], sizes[:KEYS_MAX])
    for (int64_t i = 0; i < rows; i++) {
        unsigned j = nearest(points + i * columns, centroids, k, columns);
        cluster[i] = j;
        sizes[j]++;
        for (int64_t c = 0; c < columns; c++)
            sums[j * columns + c] += points[i * columns + c];
    }
    for (int64_t j = 0; j < k; j++)
        for (int64_t c = 0; c < columns && sizes[j] > 0; c++)
            centroids[j * columns + c] = sums[j * columns + c] / (double)sizes[j];
}

static void k_means(const char *path, int64_t columns, int64_t k, int64_t rounds)
{
    int64_t n;
    double *points = read_file(path, sizeof *points, &n);
    int64_t rows = n / columns;
    if (rows < k || k * columns > KEYS_MAX) {
        fputs("peer_opsplit: too few points or too many centroids\n", stderr);
        exit(1);
    }
    double start = now(), before = used();
    double *centroids = memory((size_t)(k * columns), sizeof *centroids);
    uint32_t *cluster = memory((size_t)rows, sizeof *cluster);
    memcpy(centroids, points, (size_t)(k * columns) * sizeof *centroids);
    double begin = now();
    for (int64_t r = 0; r < rounds; r++)
        k_means_round(points, rows, columns, k, centroids, cluster);
    print_times(start, begin, now(), rounds, used() - before);
    for (int64_t i = 0; i < k * columns; i++)
        printf("%s%.17g", i > 0 ? ", " : "", centroids[i]);
    puts("]}");
    free(points);
    free(centroids);
    free(cluster);
}

/* ---- PageRank ---- */

typedef struct graph {
    int64_t nodes;
    int64_t *offsets;
    uint32_t *indices;
    double *values; /* NULL: all are 1 */
} graph;

/* Both ways, by counting. */
static graph graph_make(const int64_t *edges, int64_t n, bool values)
{
    graph g = {0};
    for (int64_t i = 0; i < 2 * n; i++)
        g.nodes = edges[i] >= g.nodes ? edges[i] + 1 : g.nodes;
    g.offsets = memory((size_t)g.nodes + 2, sizeof *g.offsets);
    g.indices = memory((size_t)(2 * n), sizeof *g.indices);
    for (int64_t i = 0; i < 2 * n; i++)
        g.offsets[edges[i] + 2]++;
    for (int64_t i = 2; i <= g.nodes; i++)
        g.offsets[i] += g.offsets[i - 1];
    for (int64_t i = 0; i < 2 * n; i++) /* i ^ 1: the link's other end */
        g.indices[g.offsets[edges[i] + 1]++] = (uint32_t)edges[i ^ 1];
    if (!values)
        return g;
    g.values = memory((size_t)(2 * n), sizeof *g.values);
    for (int64_t i = 0; i < 2 * n; i++)
        g.values[i] = 1;
    return g;
}

static double spread(const graph *g, int64_t row, const double *restrict share)
{
    double sum = 0;
    if (g->values == NULL)
        for (int64_t e = g->offsets[row]; e < g->offsets[row + 1]; e++)
            sum += share[g->indices[e]];
    else
        for (int64_t e = g->offsets[row]; e < g->offsets[row + 1]; e++)
            sum += g->values[e] * share[g->indices[e]];
    return sum;
}

/* The sum of all changes. */
static double pagerank_round(const graph *g, double *rank, double *share)
{
    double residual = 0;
#pragma omp parallel for
    for (int64_t i = 0; i < g->nodes; i++)
        share[i] = rank[i] / (double)(g->offsets[i + 1] - g->offsets[i]);
#pragma omp parallel for reduction(+ : residual)
    for (int64_t i = 0; i < g->nodes; i++) {
        double next = 0.15 / (double)g->nodes + 0.85 * spread(g, i, share);
        residual += fabs(next - rank[i]);
        rank[i] = next;
    }
    return residual;
}

static void pagerank(const char *path, int64_t rounds, bool values)
{
    int64_t n;
    int64_t *edges = read_file(path, 2 * sizeof *edges, &n);
    double start = now(), before = used(), residual = 0;
    graph g = graph_make(edges, n, values);
    double *rank = memory((size_t)g.nodes, sizeof *rank), *share = memory((size_t)g.nodes, sizeof *share);
    for (int64_t i = 0; i < g.nodes; i++)
        rank[i] = 1 / (double)g.nodes;
    double begin = now();
    for (int64_t r = 0; r < rounds; r++)
        residual = pagerank_round(&g, rank, share);
    double end = now(), processors = used() - before, squares = 0;
    for (int64_t i = 0; i < g.nodes; i++)
        squares += rank[i] * rank[i];
    print_times(start, begin, end, rounds, processors);
    printf("%.17g], \"residual\": %.6g}\n", squares, residual);
    free(edges);
    free(rank);
    free(share);
    free(g.offsets);
    free(g.indices);
    free(g.values);
}

int main(int argc, char **argv)
{
    if (argc == 6 && strcmp(argv[1], "k-means") == 0)
        k_means(argv[2], atoi(argv[3]), atoi(argv[4]), atoi(argv[5]));
    else if (argc == 4 && (strcmp(argv[1], "pagerank") == 0 || strcmp(argv[1], "links") == 0))
        pagerank(argv[2], atoi(argv[3]), argv[1][0] == 'p');
    else {
        fputs(
            "usage: peer_opsplit k-means FILE COLUMNS K ROUNDS | pagerank FILE ROUNDS | links FILE ROUNDS\n",
            stderr);
        return 2;
    }
    return 0;
}
