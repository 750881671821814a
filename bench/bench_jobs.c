/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Small jobs: latency of one client's sorts of 1,000 u32 keys (p50, p99), then the jobs a second that CLIENTS
 * processes reach together. Prints one JSON object.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <hac/hac.h>

#include "base/clock.h"
#include "patterns.h"

#define KEYS         1000
#define LATENCY_JOBS 20000
#define CLIENTS_MAX  64

static hac_client *connect_or_die(void)
{
    hac_error err = HAC_ERROR_NONE;
    hac_client *client = NULL;
    if (hac_client_connect(NULL, &client, &err) != HAC_OK) {
        fprintf(stderr, "bench_jobs: %s\n", err.message);
        exit(1);
    }
    return client;
}

static double one_job(hac_client *client, const uint32_t *keys)
{
    hac_sort_options options = HAC_SORT_OPTIONS_INIT;
    hac_error err = HAC_ERROR_NONE;
    hac_job *job = NULL;
    options.type = HAC_TYPE_U32;
    uint64_t start = hac_now_ns();
    if (hac_sort_memory(client, keys, KEYS, &options, &job, &err) != HAC_OK ||
        hac_job_wait(job, -1, &err) != HAC_OK) {
        fprintf(stderr, "bench_jobs: %s\n", err.message);
        exit(1);
    }
    const uint32_t *sorted = hac_job_data(job);
    bool wrong = false;
    for (int i = 1; i < KEYS; i++)
        wrong |= sorted[i - 1] > sorted[i];
    double seconds = hac_seconds_since(start);
    hac_job_free(job);
    if (wrong) {
        fprintf(stderr, "bench_jobs: a result is not sorted\n");
        exit(1);
    }
    return seconds;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void worker(const uint32_t *keys, double seconds, uint64_t *ret_jobs)
{
    hac_client *client = connect_or_die();
    uint64_t start = hac_now_ns(), jobs = 0;
    while (hac_seconds_since(start) < seconds) {
        one_job(client, keys);
        jobs++;
    }
    *ret_jobs = jobs;
    hac_client_free(client);
    _exit(0);
}

static double throughput(const uint32_t *keys, int clients, double seconds)
{
    uint64_t *jobs =
        mmap(NULL, CLIENTS_MAX * sizeof *jobs, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (jobs == MAP_FAILED)
        return 0;
    uint64_t start = hac_now_ns();
    for (int i = 0; i < clients; i++)
        if (fork() == 0)
            worker(keys, seconds, &jobs[i]);
    while (wait(NULL) > 0)
        ;
    double elapsed = hac_seconds_since(start);
    uint64_t all = 0;
    for (int i = 0; i < clients; i++)
        all += jobs[i];
    return (double)all / elapsed;
}

int main(int argc, char **argv)
{
    static uint32_t keys[KEYS];
    static double latency[LATENCY_JOBS];
    int clients = argc > 1 ? atoi(argv[1]) : 16;
    if (clients < 1 || clients > CLIENTS_MAX)
        return 2;
    bench_fill("random", HAC_TYPE_U32, keys, KEYS, 7);
    hac_client *client = connect_or_die();
    for (int i = 0; i < 1000; i++)
        one_job(client, keys);
    for (int i = 0; i < LATENCY_JOBS; i++)
        latency[i] = one_job(client, keys);
    hac_client_free(client);
    qsort(latency, LATENCY_JOBS, sizeof *latency, by_value);
    double rate = throughput(keys, clients, 3.0);
    printf("{\"keys\":%d,\"p50_us\":%.1f,\"p99_us\":%.1f,\"p999_us\":%.1f,\"clients\":%d,\"jobs_per_second\":"
           "%.0f}\n",
           KEYS, latency[LATENCY_JOBS / 2] * 1e6, latency[LATENCY_JOBS * 99 / 100] * 1e6,
           latency[LATENCY_JOBS * 999 / 1000] * 1e6, clients, rate);
    return 0;
}
