/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a job costs beside its work, one job after the other, and what a question to hacd costs that is no
 * job. Prints one JSON object; times are microseconds.
 *
 *     bench_roundtrip JOBS PID [query]      PID: hacd's, of which the processor time is read
 *
 * A job sorts 4 KiB of pool memory; with null_executor in the place of hac-executor its work is nothing. With
 * `query`, a job is one sum over 4 KiB of CSV inside the message, which needs the real backend.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <hac/hac.h>

#include "base/clock.h"
#include "patterns.h"

#define KEYS      1024 /* u32: 4 KiB */
#define CSV_BYTES 4096
#define WARM_UP   2000

typedef struct bench {
    hac_client *client;
    hac_buffer *keys; /* NULL: the jobs are queries */
    char csv[CSV_BYTES + 32];
    size_t csv_bytes;
    char result[64]; /* of the query */
} bench;

static void die(const char *message)
{
    fprintf(stderr, "bench_roundtrip: %s\n", message);
    exit(1);
}

/* A header and rows of two columns, and the result of the query over them. */
static void make_csv(bench *b)
{
    uint64_t sum = 0;
    b->csv_bytes = (size_t)sprintf(b->csv, "shop,price\n");
    for (unsigned row = 0; b->csv_bytes < CSV_BYTES; row++) {
        unsigned price = row * 7919 % 10007;
        sum += price;
        b->csv_bytes += (size_t)sprintf(b->csv + b->csv_bytes, "%u,%u\n", row % 17, price);
    }
    snprintf(b->result, sizeof b->result, "total\n%llu\n", (unsigned long long)sum);
}

static hac_status submit_sort(bench *b, hac_job **ret, hac_error *err)
{
    hac_sort_options options = HAC_SORT_OPTIONS_INIT;
    options.type = HAC_TYPE_U32;
    return hac_sort_buffer(b->client, b->keys, 0, KEYS, &options, ret, err);
}

static hac_status submit_query(bench *b, hac_job **ret, hac_error *err)
{
    hac_query_options options = HAC_QUERY_OPTIONS_INIT;
    options.input_format = HAC_INPUT_CSV;
    options.schema = "shop:u32,price:u32";
    options.select = "sum(price) as total";
    return hac_query_memory(b->client, b->csv, b->csv_bytes, &options, ret, err);
}

static bool is_result(const bench *b, const hac_job *job)
{
    uint64_t bytes = b->keys != NULL ? KEYS * sizeof(uint32_t) : strlen(b->result);
    return hac_job_data(job) != NULL && hac_job_bytes(job) == bytes &&
           (b->keys != NULL || memcmp(hac_job_data(job), b->result, bytes) == 0);
}

static double one_job(bench *b)
{
    hac_error err = HAC_ERROR_NONE;
    hac_job *job = NULL;
    uint64_t start = hac_now_ns();
    if ((b->keys != NULL ? submit_sort(b, &job, &err) : submit_query(b, &job, &err)) != HAC_OK ||
        hac_job_wait(job, -1, &err) != HAC_OK)
        die(err.message);
    if (!is_result(b, job))
        die("the result is wrong or not there");
    hac_job_free(job);
    return hac_seconds_since(start);
}

static double one_question(hac_client *client)
{
    hac_error err = HAC_ERROR_NONE;
    char *text = NULL;
    uint64_t start = hac_now_ns();
    if (hac_client_query(client, HAC_TOPIC_STATUS, 0, HAC_PLAN_TEXT, &text, &err) != HAC_OK)
        die(err.message);
    free(text);
    return hac_seconds_since(start);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Seconds of user and system time that a process has had. */
static double processor_seconds(const char *pid)
{
    char path[64], line[1024];
    unsigned long user = 0, system = 0;
    snprintf(path, sizeof path, "/proc/%s/stat", pid);
    FILE *file = fopen(path, "r");
    if (file == NULL || fgets(line, sizeof line, file) == NULL)
        die("there is no such process");
    fclose(file);
    if (sscanf(line, "%*d (hacd) %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user, &system) != 2)
        die("it is not hacd");
    return (double)(user + system) / (double)sysconf(_SC_CLK_TCK);
}

static double own_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void print(const char *name, double *latency, size_t n)
{
    qsort(latency, n, sizeof *latency, by_value);
    printf("\"%s\":{\"p50\":%.1f,\"p90\":%.1f,\"p99\":%.1f,\"p999\":%.1f,\"least\":%.1f}", name,
           latency[n / 2] * 1e6, latency[n * 9 / 10] * 1e6, latency[n * 99 / 100] * 1e6,
           latency[n * 999 / 1000] * 1e6, latency[0] * 1e6);
}

int main(int argc, char **argv)
{
    static bench b;
    bool query = argc == 4 && strcmp(argv[3], "query") == 0;
    size_t n = argc == 3 || query ? strtoul(argv[1], NULL, 10) : 0;
    hac_error err = HAC_ERROR_NONE;
    if (n < 1000 || n > 10000000) {
        fputs("usage: bench_roundtrip JOBS PID [query]\n", stderr);
        return 2;
    }
    double *jobs = calloc(n, sizeof *jobs), *questions = calloc(n, sizeof *questions);
    if (jobs == NULL || questions == NULL || hac_client_connect(NULL, &b.client, &err) != HAC_OK ||
        (!query && hac_buffer_alloc(b.client, KEYS * sizeof(uint32_t), &b.keys, &err) != HAC_OK))
        die(err.message);
    if (query)
        make_csv(&b);
    else
        bench_fill("random", HAC_TYPE_U32, hac_buffer_data(b.keys), KEYS, 7);
    for (int i = 0; i < WARM_UP; i++)
        one_job(&b);
    for (size_t i = 0; i < n; i++)
        questions[i] = one_question(b.client);
    double before = processor_seconds(argv[2]), own = own_seconds();
    for (size_t i = 0; i < n; i++)
        jobs[i] = one_job(&b);
    double after = processor_seconds(argv[2]), own_after = own_seconds();
    printf("{\"jobs\":%zu,", n);
    print("job", jobs, n);
    fputc(',', stdout);
    print("question", questions, n);
    printf(",\"hacd_cpu\":%.1f,\"client_cpu\":%.1f}\n", (after - before) * 1e6 / (double)n,
           (own_after - own) * 1e6 / (double)n);
    hac_buffer_free(b.keys);
    hac_client_free(b.client);
    free(jobs);
    free(questions);
    return 0;
}
