/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a job costs beside its work: 4 KiB of pool memory in, 4 KiB out, one job after the other; and a
 * question to hacd that is no job. With null_executor in the place of hac-executor the work is nothing.
 * Prints one JSON object; times are microseconds.
 *
 *     bench_roundtrip JOBS PID      PID: hacd's, of which the processor time is read
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <hac/hac.h>

#include "base/clock.h"
#include "patterns.h"

#define KEYS    1024 /* u32: 4 KiB */
#define WARM_UP 2000

static void die(const char *message)
{
    fprintf(stderr, "bench_roundtrip: %s\n", message);
    exit(1);
}

static double one_job(hac_client *client, hac_buffer *keys)
{
    hac_sort_options options = HAC_SORT_OPTIONS_INIT;
    hac_error err = HAC_ERROR_NONE;
    hac_job *job = NULL;
    options.type = HAC_TYPE_U32;
    uint64_t start = hac_now_ns();
    if (hac_sort_buffer(client, keys, 0, KEYS, &options, &job, &err) != HAC_OK ||
        hac_job_wait(job, -1, &err) != HAC_OK)
        die(err.message);
    if (hac_job_data(job) == NULL || hac_job_bytes(job) != KEYS * sizeof(uint32_t))
        die("the result is not there");
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
    size_t n = argc == 3 ? strtoul(argv[1], NULL, 10) : 0;
    hac_client *client = NULL;
    hac_buffer *keys = NULL;
    hac_error err = HAC_ERROR_NONE;
    if (n < 1000 || n > 10000000) {
        fputs("usage: bench_roundtrip JOBS PID\n", stderr);
        return 2;
    }
    double *jobs = calloc(n, sizeof *jobs), *questions = calloc(n, sizeof *questions);
    if (jobs == NULL || questions == NULL || hac_client_connect(NULL, &client, &err) != HAC_OK ||
        hac_buffer_alloc(client, KEYS * sizeof(uint32_t), &keys, &err) != HAC_OK)
        die(err.message);
    bench_fill("random", HAC_TYPE_U32, hac_buffer_data(keys), KEYS, 7);
    for (int i = 0; i < WARM_UP; i++)
        one_job(client, keys);
    for (size_t i = 0; i < n; i++)
        questions[i] = one_question(client);
    double before = processor_seconds(argv[2]), own = own_seconds();
    for (size_t i = 0; i < n; i++)
        jobs[i] = one_job(client, keys);
    double after = processor_seconds(argv[2]), own_after = own_seconds();
    printf("{\"jobs\":%zu,", n);
    print("job", jobs, n);
    fputc(',', stdout);
    print("question", questions, n);
    printf(",\"hacd_cpu\":%.1f,\"client_cpu\":%.1f}\n", (after - before) * 1e6 / (double)n,
           (own_after - own) * 1e6 / (double)n);
    hac_buffer_free(keys);
    hac_client_free(client);
    free(jobs);
    free(questions);
    return 0;
}
