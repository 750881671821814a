/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Small jobs: latency of one client's sorts of 1,000 u32 keys (p50, p99), then the jobs a second that CLIENTS
 * processes reach together. Prints one JSON object. In turns with the jobs a message is passed along the same
 * way by processes that do nothing else: what the machine takes to wake three processes, which no job can do
 * without.
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <hac/hac.h>

#include "base/clock.h"
#include "patterns.h"

#define KEYS         1000
#define LATENCY_JOBS 20000
#define TURN_JOBS    1000
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

/* ---- passing a message along as a job's: client, hacd, executor, hacd, client ---- */

static char message[64];

static void pass(int from, int to)
{
    if (read(from, message, sizeof message) <= 0 || write(to, message, sizeof message) <= 0)
        _exit(0);
}

static void stand_in_for_hacd(int client, int executor)
{
    struct pollfd ends[] = {{client, POLLIN, 0}, {executor, POLLIN, 0}};
    for (;;) {
        if (poll(ends, 2, -1) < 0)
            _exit(1);
        if (ends[0].revents != 0)
            pass(client, executor);
        if (ends[1].revents != 0)
            pass(executor, client);
    }
}

/* The client's socket; closing it ends both. */
static int start_passing(void)
{
    int first[2], second[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, first) != 0 ||
        socketpair(AF_UNIX, SOCK_SEQPACKET, 0, second) != 0)
        exit(1);
    if (fork() == 0) {
        close(first[0]);
        close(second[1]);
        stand_in_for_hacd(first[1], second[0]);
    }
    if (fork() == 0) {
        close(first[0]);
        close(first[1]);
        close(second[0]);
        for (;;)
            pass(second[1], second[1]);
    }
    close(first[1]);
    close(second[0]);
    close(second[1]);
    return first[0];
}

static double one_message(int passing)
{
    uint64_t start = hac_now_ns();
    if (write(passing, message, sizeof message) <= 0 || read(passing, message, sizeof message) <= 0)
        exit(1);
    return hac_seconds_since(start);
}

/* ---- latency and throughput ---- */

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double percentile(const double *sorted, int per_mille)
{
    return sorted[LATENCY_JOBS / 1000 * per_mille] * 1e6;
}

static void measure_latency(const uint32_t *keys, double *jobs, double *messages)
{
    int passing = start_passing();
    hac_client *client = connect_or_die();
    for (int i = 0; i < TURN_JOBS; i++)
        one_job(client, keys);
    for (int turn = 0; turn < LATENCY_JOBS; turn += TURN_JOBS) {
        for (int i = turn; i < turn + TURN_JOBS; i++)
            jobs[i] = one_job(client, keys);
        for (int i = turn; i < turn + TURN_JOBS; i++)
            messages[i] = one_message(passing);
    }
    hac_client_free(client);
    close(passing);
    qsort(jobs, LATENCY_JOBS, sizeof *jobs, by_value);
    qsort(messages, LATENCY_JOBS, sizeof *messages, by_value);
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
    static double jobs[LATENCY_JOBS], messages[LATENCY_JOBS];
    int clients = argc > 1 ? atoi(argv[1]) : 16;
    if (clients < 1 || clients > CLIENTS_MAX)
        return 2;
    bench_fill("random", HAC_TYPE_U32, keys, KEYS, 7);
    measure_latency(keys, jobs, messages);
    double rate = throughput(keys, clients, 3.0);
    printf("{\"keys\":%d,\"p50_us\":%.1f,\"p99_us\":%.1f,\"p999_us\":%.1f,\"passing_p50_us\":%.1f,"
           "\"passing_p99_us\":%.1f,\"passing_p999_us\":%.1f,\"clients\":%d,\"jobs_per_second\":%.0f}\n",
           KEYS, percentile(jobs, 500), percentile(jobs, 990), percentile(jobs, 999),
           percentile(messages, 500), percentile(messages, 990), percentile(messages, 999), clients, rate);
    return 0;
}
