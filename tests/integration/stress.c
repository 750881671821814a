/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Many threads, each with a client of its own, do all that libhac can and check every answer.
 *
 *     stress THREADS ROUNDS SEED      exit 0 and a line of counts, or 1 and what went wrong
 */
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <hac/hac.h>

typedef struct worker {
    pthread_t thread;
    hac_client *client;
    uint64_t random;
    unsigned number;
    char failure[640];
} worker;

static unsigned rounds;
static atomic_ulong n_inline, n_buffer, n_events, n_cancelled, n_pairs;

static uint64_t next_random(worker *w) /* xorshift64 */
{
    w->random ^= w->random << 13;
    w->random ^= w->random >> 7;
    w->random ^= w->random << 17;
    return w->random;
}

static int fail(worker *w, const char *what, const hac_error *err)
{
    snprintf(w->failure, sizeof w->failure, "thread %u: %s: %.500s", w->number, what,
             err != NULL ? err->message : "");
    return -1;
}

/* Sorted, and with the same sum and xor as before: enough to tell a permutation for random data. */
typedef struct digest {
    uint64_t sum, mixed;
} digest;

static digest digest_of(const uint32_t *keys, uint64_t n)
{
    digest d = {0, 0};
    for (uint64_t i = 0; i < n; i++) {
        d.sum += keys[i];
        d.mixed ^= (uint64_t)keys[i] * UINT64_C(0x9e3779b97f4a7c15);
    }
    return d;
}

static int check(worker *w, const char *what, const hac_job *job, digest before, uint64_t n)
{
    const uint32_t *sorted = hac_job_data(job);
    if (hac_job_bytes(job) < n * sizeof *sorted || (n > 0 && sorted == NULL))
        return fail(w, what, &(hac_error){0, "the result is too short"});
    digest after = digest_of(sorted, n);
    if (after.sum != before.sum || after.mixed != before.mixed)
        return fail(w, what, &(hac_error){0, "the result has other keys than the input"});
    for (uint64_t i = 1; i < n; i++)
        if (sorted[i - 1] > sorted[i])
            return fail(w, what, &(hac_error){0, "the result is not sorted"});
    return 0;
}

static hac_sort_options options_of(worker *w)
{
    hac_sort_options options = HAC_SORT_OPTIONS_INIT;
    options.type = HAC_TYPE_U32;
    if (next_random(w) % 4 == 0)
        options.algorithm = HAC_SORT_BITONIC;
    return options;
}

static int inline_job(worker *w)
{
    uint32_t keys[8192];
    uint64_t n = next_random(w) % 8193;
    hac_error err = HAC_ERROR_NONE;
    hac_job *job = NULL;
    hac_sort_options options = options_of(w);
    for (uint64_t i = 0; i < n; i++)
        keys[i] = (uint32_t)next_random(w);
    digest before = digest_of(keys, n);
    if (hac_sort_memory(w->client, keys, n, &options, &job, &err) != HAC_OK)
        return fail(w, "inline job", &err);
    memset(keys, 0xff, sizeof keys); /* the memory is the caller's again */
    int result = hac_job_wait(job, -1, &err) != HAC_OK ? fail(w, "inline job", &err)
                                                       : check(w, "inline job", job, before, n);
    hac_job_free(job);
    n_inline++;
    return result;
}

/* A buffer that is used for several jobs, one after the other. */
static int buffer_jobs(worker *w)
{
    uint64_t n = 10000 + next_random(w) % 100000;
    hac_error err = HAC_ERROR_NONE;
    hac_buffer *buffer = NULL;
    if (hac_buffer_alloc(w->client, n * 4, &buffer, &err) != HAC_OK)
        return fail(w, "buffer", &err);
    int result = 0;
    for (int turn = 0; turn < 3 && result == 0; turn++) {
        uint32_t *keys = hac_buffer_data(buffer);
        hac_sort_options options = options_of(w);
        hac_job *job = NULL;
        for (uint64_t i = 0; i < n; i++)
            keys[i] = (uint32_t)next_random(w);
        digest before = digest_of(keys, n);
        if (hac_sort_buffer(w->client, buffer, 0, n, &options, &job, &err) != HAC_OK ||
            hac_job_wait(job, -1, &err) != HAC_OK)
            result = fail(w, "buffer job", &err);
        else
            result = check(w, "buffer job", job, before, n);
        digest input = digest_of(keys, n);
        if (result == 0 && (input.sum != before.sum || input.mixed != before.mixed))
            result = fail(w, "buffer job", &(hac_error){0, "the input was modified"});
        hac_job_free(job);
        n_buffer++;
    }
    hac_buffer_free(buffer);
    return result;
}

/* Keys with payloads: each payload follows its key. */
static int pairs_job(worker *w)
{
    uint64_t n = 5000 + next_random(w) % 50000;
    hac_error err = HAC_ERROR_NONE;
    hac_buffer *keys = NULL, *payload = NULL;
    hac_job *job = NULL;
    int result = -1;
    hac_sort_options options = HAC_SORT_OPTIONS_INIT;
    options.type = HAC_TYPE_U32;
    options.algorithm = HAC_SORT_BITONIC;
    if (hac_buffer_alloc(w->client, n * 4, &keys, &err) == HAC_OK &&
        hac_buffer_alloc(w->client, n * 8, &payload, &err) == HAC_OK) {
        uint32_t *k = hac_buffer_data(keys);
        uint64_t *p = hac_buffer_data(payload);
        for (uint64_t i = 0; i < n; i++) {
            k[i] = (uint32_t)next_random(w);
            p[i] = ~(uint64_t)k[i];
        }
        digest before = digest_of(k, n);
        if (hac_sort_pairs(w->client, keys, payload, 8, n, &options, &job, &err) == HAC_OK &&
            hac_job_wait(job, -1, &err) == HAC_OK) {
            const uint32_t *sorted = hac_job_data(job);
            const uint64_t *moved = hac_job_payload(job);
            result = check(w, "pairs", job, before, n);
            for (uint64_t i = 0; result == 0 && i < n; i++)
                if (moved[i] != ~(uint64_t)sorted[i])
                    result = fail(w, "pairs", &(hac_error){0, "a payload left its key"});
        }
    }
    if (result != 0 && w->failure[0] == '\0')
        fail(w, "pairs", &err);
    hac_job_free(job);
    hac_buffer_free(keys);
    hac_buffer_free(payload);
    n_pairs++;
    return result;
}

static void count_done(void *context, hac_job *job)
{
    (void)job;
    ++*(unsigned *)context;
}

/* Several jobs in flight, waited for through the descriptor; one of them is cancelled. */
static int event_jobs(worker *w)
{
    enum { JOBS = 4, ITEMS = 40000 };
    hac_error err = HAC_ERROR_NONE;
    hac_job *jobs[JOBS] = {NULL};
    digest before[JOBS];
    unsigned done = 0, submitted = 0;
    int result = 0;
    uint32_t *keys = malloc(ITEMS * sizeof *keys);
    if (keys == NULL)
        return fail(w, "events", NULL);
    for (int j = 0; j < JOBS && result == 0; j++) {
        hac_sort_options options = options_of(w);
        options.job.done = count_done;
        options.job.context = &done;
        for (int i = 0; i < ITEMS; i++)
            keys[i] = (uint32_t)next_random(w);
        before[j] = digest_of(keys, ITEMS);
        if (hac_sort_memory(w->client, keys, ITEMS, &options, &jobs[j], &err) != HAC_OK)
            result = fail(w, "events", &err);
        else
            submitted++;
    }
    free(keys);
    if (result == 0 && hac_job_cancel(jobs[0], &err) != HAC_OK)
        result = fail(w, "cancel", &err);
    while (result == 0 && done < submitted) {
        struct pollfd p = {hac_client_fd(w->client), POLLIN, 0};
        if (poll(&p, 1, 60000) <= 0)
            result = fail(w, "events", &(hac_error){0, "nothing came for a minute"});
        else if (hac_client_dispatch(w->client, &err) != HAC_OK)
            result = fail(w, "events", &err);
    }
    for (int j = 0; j < JOBS && result == 0; j++) {
        hac_status status = hac_job_wait(jobs[j], 0, &err);
        if (j == 0 && status == HAC_CANCELLED)
            n_cancelled++;
        else if (status != HAC_OK)
            result = fail(w, "events", &err);
        else
            result = check(w, "events", jobs[j], before[j], ITEMS);
        n_events++;
    }
    for (int j = 0; j < JOBS; j++)
        hac_job_free(jobs[j]);
    return result;
}

/* Dropped at once: with the handle goes the job. */
static int abandoned_job(worker *w)
{
    enum { ITEMS = 100000 };
    hac_error err = HAC_ERROR_NONE;
    hac_job *job = NULL;
    hac_sort_options options = options_of(w);
    uint32_t *keys = calloc(ITEMS, sizeof *keys);
    hac_status status =
        keys != NULL ? hac_sort_memory(w->client, keys, ITEMS, &options, &job, &err) : HAC_NO_MEMORY;
    free(keys);
    hac_job_free(job);
    return status == HAC_OK ? 0 : fail(w, "abandoned job", &err);
}

/* A client that comes and goes. */
static int reconnect(worker *w)
{
    hac_error err = HAC_ERROR_NONE;
    char *text = NULL;
    hac_client_free(w->client);
    w->client = NULL;
    hac_connect_options options = HAC_CONNECT_OPTIONS_INIT;
    options.flags = HAC_CONNECT_NO_AUTOSTART;
    if (hac_client_connect(&options, &w->client, &err) != HAC_OK ||
        hac_client_query(w->client, HAC_TOPIC_METRICS, 0, HAC_PLAN_TEXT, &text, &err) != HAC_OK)
        return fail(w, "connect", &err);
    free(text);
    return 0;
}

static void *work(void *argument)
{
    static int (*const kinds[])(worker *) = {inline_job, inline_job, inline_job, buffer_jobs,   event_jobs,
                                             pairs_job,  event_jobs, reconnect,  abandoned_job, buffer_jobs};
    worker *w = argument;
    hac_error err = HAC_ERROR_NONE;
    if (hac_client_connect(NULL, &w->client, &err) != HAC_OK) {
        fail(w, "connect", &err);
        return w;
    }
    int result = 0;
    for (unsigned i = 0; i < rounds && result == 0; i++)
        result = kinds[next_random(w) % (sizeof kinds / sizeof *kinds)](w);
    hac_client_free(w->client);
    return result == 0 ? NULL : w;
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        fputs("usage: stress THREADS ROUNDS SEED\n", stderr);
        return 2;
    }
    unsigned threads = (unsigned)strtoul(argv[1], NULL, 10), failed = 0;
    rounds = (unsigned)strtoul(argv[2], NULL, 10);
    worker *workers = calloc(threads, sizeof *workers);
    if (workers == NULL || threads == 0)
        return 2;
    for (unsigned i = 0; i < threads; i++) {
        workers[i].number = i;
        workers[i].random = (strtoull(argv[3], NULL, 10) + 1) * UINT64_C(0x9e3779b97f4a7c15) + i * 7919 + 1;
        if (pthread_create(&workers[i].thread, NULL, work, &workers[i]) != 0)
            return 2;
    }
    for (unsigned i = 0; i < threads; i++) {
        void *result = NULL;
        pthread_join(workers[i].thread, &result);
        if (result != NULL) {
            fprintf(stderr, "stress: %s\n", workers[i].failure);
            failed++;
        }
    }
    printf("%lu inline, %lu buffer, %lu event jobs of which %lu cancelled, %lu pairs; %u threads failed\n",
           n_inline, n_buffer, n_events, n_cancelled, n_pairs, failed);
    free(workers);
    return failed != 0;
}
