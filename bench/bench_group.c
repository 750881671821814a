/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Group by in memory: 10 M rows of a u32 key, sum (or var_pop) of an f64 and count, through partials and
 * their merge, with one thread a CPU. One line a cardinality: the best and the median of the rounds, in ms.
 *
 *     bench_group [ROWS [ROUNDS [PARTITIONS [CHUNK_ROWS [CASE|all [strings|var_pop]]]]]]
 */
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "query/group_table.h"
#include "query/partial.h"

#define MAX_THREADS 64

typedef struct job {
    hac_query query;
    const uint32_t *keys;
    const double *values;
    uint64_t rows, chunk, n_chunks, region;
    uint32_t partitions;
    uint8_t *partials;
    atomic_uint_fast64_t next, groups;
    double sum[MAX_THREADS];
    atomic_int thread;
    bool merge, strings;
} job;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* Of all threads: what the time would be on an idle machine, times their number. */
static double cpu(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void must(hac_status status, const hac_error *err)
{
    if (status != HAC_OK) {
        fprintf(stderr, "%s\n", err->message);
        exit(1);
    }
}

/* What a source does with a table: widens a batch. */
static void load(const job *j, uint64_t first, size_t n, hac_column *columns, uint8_t *text)
{
    uint64_t *keys = columns[0].values;
    if (j->strings) {
        hac_string_ref *refs = columns[0].values;
        uint32_t at = 0;
        for (size_t i = 0; i < n; i++) {
            uint32_t key = j->keys[first + i], start = at;
            text[at++] = 'k';
            do
                text[at++] = (uint8_t)('0' + key % 10);
            while ((key /= 10) != 0);
            refs[i] = (hac_string_ref){start, at - start};
        }
        columns[0].bytes = text;
    } else {
        for (size_t i = 0; i < n; i++)
            keys[i] = j->keys[first + i];
    }
    memcpy(columns[1].values, j->values + first, n * sizeof *j->values);
}

static void aggregate(job *j)
{
    hac_error err = HAC_ERROR_NONE;
    hac_partial_writer *writer;
    hac_group_options options = {.seed = 42, .memory = UINT64_C(1) << 34, .partitions = j->partitions};
    _Alignas(64) static _Thread_local uint64_t memory[2][HAC_BATCH_ROWS];
    static _Thread_local uint8_t text[16 * HAC_BATCH_ROWS];
    hac_column columns[2] = {{.type = j->query.rows->outputs[0].type, .values = memory[0]},
                             {.type = j->query.rows->outputs[1].type, .values = memory[1]}};
    must(hac_partial_writer_new(&j->query, &options, &writer, &err), &err);
    for (uint64_t c; (c = atomic_fetch_add(&j->next, 1)) < j->n_chunks;) {
        uint64_t first = c * j->chunk, end = first + j->chunk < j->rows ? first + j->chunk : j->rows, needed,
                 groups;
        hac_partial_begin(writer, c, j->partials + c * j->region, j->region);
        const uint8_t *plain[2] = {(const uint8_t *)(j->keys + first), (const uint8_t *)(j->values + first)};
        bool whole = hac_partial_takes_plain(writer);
        if (whole)
            must(hac_partial_add_plain(writer, plain, end - first, &err), &err);
        for (uint64_t i = whole ? end : first; i < end; i += HAC_BATCH_ROWS) {
            size_t n = end - i < HAC_BATCH_ROWS ? (size_t)(end - i) : HAC_BATCH_ROWS;
            load(j, i, n, columns, text);
            must(hac_partial_add(writer, columns, n, &err), &err);
        }
        must(hac_partial_end(writer, &needed, &groups, &err), &err);
        if (needed > j->region) {
            fprintf(stderr, "region too small: %llu\n", (unsigned long long)needed);
            exit(1);
        }
    }
    hac_partial_writer_free(writer);
}

static void merge(job *j)
{
    hac_error err = HAC_ERROR_NONE;
    hac_group_options options = {.seed = 42, .memory = UINT64_C(1) << 34, .partitions = j->partitions};
    hac_group_table *table;
    must(hac_group_table_new(&j->query, &options, &table, &err), &err);
    for (uint64_t p; (p = atomic_fetch_add(&j->next, 1)) < j->partitions;) {
        hac_group_table_reset(table);
        for (uint64_t c = 0; c < j->n_chunks; c++)
            must(hac_group_table_merge(table, c, j->partials + c * j->region, j->region, (uint32_t)p, &err),
                 &err);
        atomic_fetch_add(&j->groups, hac_group_table_groups(table));
    }
    hac_group_table_free(table);
}

static void *run(void *p)
{
    job *j = p;
    if (j->merge)
        merge(j);
    else
        aggregate(j);
    return NULL;
}

static void phase(job *j, bool is_merge)
{
    cpu_set_t cpus;
    pthread_t threads[MAX_THREADS];
    sched_getaffinity(0, sizeof cpus, &cpus);
    int n = CPU_COUNT(&cpus) < MAX_THREADS ? CPU_COUNT(&cpus) : MAX_THREADS;
    j->merge = is_merge;
    atomic_store(&j->next, 0);
    for (int i = 1; i < n; i++)
        pthread_create(&threads[i], NULL, run, j);
    run(j);
    for (int i = 1; i < n; i++)
        pthread_join(threads[i], NULL);
}

static uint64_t splitmix(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* Zipf by inversion of the continuous law; ranks are scattered over the keys. */
static uint32_t zipf(double u, double s, double n)
{
    double top = pow(n, 1 - s);
    return (uint32_t)pow(u * (top - 1) + 1, 1 / (1 - s)) * 2654435761u;
}

static void fill(uint32_t *keys, double *values, uint64_t rows, uint64_t distinct, double skew)
{
    uint64_t state = 1;
    for (uint64_t i = 0; i < rows; i++) {
        uint64_t r = splitmix(&state);
        keys[i] = skew > 0 ? zipf((double)(r >> 11) / 9007199254740992.0, skew, (double)distinct)
                           : (uint32_t)((r >> 32) * distinct >> 32);
        values[i] = (double)(r & 0xffff) / 7;
    }
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void measure(job *j, const char *name, int rounds)
{
    double total[64], first[64], busy[64];
    for (int i = -1; i < rounds; i++) {
        double start = now(), start_busy = cpu(), middle;
        atomic_store(&j->groups, 0);
        phase(j, false);
        middle = now();
        phase(j, true);
        if (i >= 0) {
            total[i] = now() - start;
            first[i] = middle - start;
            busy[i] = cpu() - start_busy;
        }
    }
    qsort(total, (size_t)rounds, sizeof *total, ascending);
    qsort(busy, (size_t)rounds, sizeof *busy, ascending);
    qsort(first, (size_t)rounds, sizeof *first, ascending);
    printf("%-12s %9llu groups  best %7.1f  median %7.1f  (aggregate %6.1f)  cpu %7.1f ms\n", name,
           (unsigned long long)atomic_load(&j->groups), total[0], total[rounds / 2], first[rounds / 2],
           busy[0]);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    uint64_t rows = argc > 1 ? strtoull(argv[1], NULL, 10) : 10000000;
    int rounds = argc > 2 ? atoi(argv[2]) : 7;
    hac_program_output outputs[2] = {{.type = {.kind = HAC_KIND_U32}}, {.type = {.kind = HAC_KIND_F64}}};
    hac_program program = {.outputs = outputs, .n_outputs = 2};
    hac_aggregate aggregates[2] = {
        {.function = HAC_AGGREGATE_SUM, .argument = 1, .type = {.kind = HAC_KIND_F64}},
        {.function = HAC_AGGREGATE_COUNT_ROWS, .argument = -1, .type = {.kind = HAC_KIND_U64}}};
    static job j;
    j.query = (hac_query){
        .rows = &program, .aggregates = true, .n_keys = 1, .aggregate = aggregates, .n_aggregates = 2};
    j.rows = rows;
    j.partitions = argc > 3 ? (uint32_t)atoi(argv[3]) : 256;
    j.chunk = argc > 4 ? strtoull(argv[4], NULL, 10) : 1 << 20;
    j.strings = argc > 6 && strcmp(argv[6], "strings") == 0;
    if (argc > 6 && strcmp(argv[6], "var_pop") == 0)
        aggregates[0].function = HAC_AGGREGATE_VAR_POP;
    if (j.strings)
        outputs[0].type.kind = HAC_KIND_STRING;
    j.n_chunks = (rows + j.chunk - 1) / j.chunk;
    j.region = (j.chunk * 80 + 262144) / 64 * 64;
    uint32_t *keys = malloc(rows * sizeof *keys);
    double *values = malloc(rows * sizeof *values);
    j.partials = aligned_alloc(64, j.n_chunks * j.region);
    if (keys == NULL || values == NULL || j.partials == NULL || rounds > 64 || rounds < 1)
        return 1;
    j.keys = keys;
    j.values = values;
    static const struct {
        const char *name;
        uint64_t distinct;
        double skew;
    } cases[] = {{"1", 1, 0},
                 {"4", 4, 0},
                 {"64", 64, 0},
                 {"1000", 1000, 0},
                 {"5000", 5000, 0},
                 {"10000", 10000, 0},
                 {"20000", 20000, 0},
                 {"100000", 100000, 0},
                 {"1000000", 1000000, 0},
                 {"10000000", 10000000, 0},
                 {"zipf 1.2", 10000000, 1.2}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (argc > 5 && strcmp(argv[5], "all") != 0 && strcmp(argv[5], cases[i].name) != 0)
            continue;
        fill(keys, values, rows, cases[i].distinct, cases[i].skew);
        measure(&j, cases[i].name, rounds);
    }
    free(keys);
    free(values);
    free(j.partials);
    return 0;
}
