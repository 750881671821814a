/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Many threads, each with a client of its own, do all that libhac can and check every answer.
 *
 *     stress THREADS ROUNDS SEED             exit 0 and a line of counts, or 1 and what went wrong
 *     stress THREADS 0 SEED MILLISECONDS     for a soak, until standard input ends
 *
 * In a soak a round is followed by a pause of about so long. A line says of each job its flow and the
 * microseconds that it took, "cancelled", "refused" or "failed" and a text. A 'p' on standard input makes all
 * threads pause, a 'g' go on.
 */
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <hac/hac.h>

typedef struct worker {
    pthread_t thread;
    hac_client *client;
    uint64_t random;
    unsigned number;
    hac_status status; /* of what failed */
    char failure[640];
} worker;

static unsigned rounds, pause_ms; /* pause_ms: not 0 in a soak */
static atomic_bool stopping, pausing;
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
    w->status = err != NULL ? err->code : HAC_OK;
    return -1;
}

static uint64_t now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

/* A job of that flow has ended well. */
static void report(const char *flow, uint64_t began_us)
{
    if (pause_ms > 0)
        printf("%s %llu\n", flow, (unsigned long long)(now_us() - began_us));
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
    uint64_t began = now_us();
    if (hac_sort_memory(w->client, keys, n, &options, &job, &err) != HAC_OK)
        return fail(w, "inline job", &err);
    memset(keys, 0xff, sizeof keys); /* the memory is the caller's again */
    int result = hac_job_wait(job, -1, &err) != HAC_OK ? fail(w, "inline job", &err)
                                                       : check(w, "inline job", job, before, n);
    hac_job_free(job);
    if (result == 0)
        report("sort-inline", began);
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
        uint64_t began = now_us();
        if (hac_sort_buffer(w->client, buffer, 0, n, &options, &job, &err) != HAC_OK ||
            hac_job_wait(job, -1, &err) != HAC_OK)
            result = fail(w, "buffer job", &err);
        else
            result = check(w, "buffer job", job, before, n);
        digest input = digest_of(keys, n);
        if (result == 0 && (input.sum != before.sum || input.mixed != before.mixed))
            result = fail(w, "buffer job", &(hac_error){0, "the input was modified"});
        hac_job_free(job);
        if (result == 0)
            report("sort-buffer", began);
        n_buffer++;
    }
    hac_buffer_free(buffer);
    return result;
}

/* Keys with payloads: each payload follows its key. */
static int pairs_job(worker *w)
{
    uint64_t turn = n_pairs++;
    uint64_t n =
        turn % 2 == 0 ? turn / 2 % 3 : 5000 + next_random(w) % 50000; /* nothing, one, two, or many */
    hac_error err = HAC_ERROR_NONE;
    hac_buffer *keys = NULL, *payload = NULL;
    hac_job *job = NULL;
    int result = -1;
    hac_sort_options options = HAC_SORT_OPTIONS_INIT;
    options.type = HAC_TYPE_U32;
    options.algorithm = turn % 4 == 0 ? HAC_SORT_AUTO : HAC_SORT_BITONIC;
    if (hac_buffer_alloc(w->client, n * 4 + 1, &keys, &err) == HAC_OK &&
        hac_buffer_alloc(w->client, n * 8 + 1, &payload, &err) == HAC_OK) {
        uint32_t *k = hac_buffer_data(keys);
        uint64_t *p = hac_buffer_data(payload);
        for (uint64_t i = 0; i < n; i++) {
            k[i] = (uint32_t)next_random(w);
            p[i] = ~(uint64_t)k[i];
        }
        digest before = digest_of(k, n);
        uint64_t began = now_us();
        if (hac_sort_pairs(w->client, keys, payload, 8, n, &options, &job, &err) == HAC_OK &&
            hac_job_wait(job, -1, &err) == HAC_OK) {
            const uint32_t *sorted = hac_job_data(job);
            const uint64_t *moved = hac_job_payload(job);
            result = check(w, "pairs", job, before, n);
            for (uint64_t i = 0; result == 0 && i < n; i++)
                if (moved[i] != ~(uint64_t)sorted[i])
                    result = fail(w, "pairs", &(hac_error){0, "a payload left its key"});
            if (result == 0)
                report("sort-pairs", began);
        }
    }
    if (result != 0 && w->failure[0] == '\0')
        fail(w, "pairs", &err);
    hac_job_free(job);
    hac_buffer_free(keys);
    hac_buffer_free(payload);
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
    uint64_t began = now_us();
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
        if (j == 0 && status == HAC_CANCELLED) {
            n_cancelled++;
            report("cancelled", began);
        } else if (status != HAC_OK) {
            result = fail(w, "events", &err);
        } else if ((result = check(w, "events", jobs[j], before[j], ITEMS)) == 0) {
            report("sort-events", began);
        }
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
    if (status == HAC_OK)
        report("cancelled", now_us());
    return status == HAC_OK ? 0 : fail(w, "abandoned job", &err);
}

/* Small whole numbers as keys of every type: their order is known without an oracle for floats. */
static void put_key(void *keys, hac_type type, size_t i, int64_t value)
{
    switch (type) {
    case HAC_TYPE_F32:
        ((float *)keys)[i] = (float)value;
        break;
    case HAC_TYPE_F64:
        ((double *)keys)[i] = (double)value;
        break;
    case HAC_TYPE_U64:
    case HAC_TYPE_I64:
        ((int64_t *)keys)[i] = value;
        break;
    default:
        ((int32_t *)keys)[i] = (int32_t)value;
    }
}

static int64_t get_key(const void *keys, hac_type type, size_t i)
{
    switch (type) {
    case HAC_TYPE_F32:
        return (int64_t)((const float *)keys)[i];
    case HAC_TYPE_F64:
        return (int64_t)((const double *)keys)[i];
    case HAC_TYPE_U64:
    case HAC_TYPE_I64:
        return ((const int64_t *)keys)[i];
    default:
        return ((const int32_t *)keys)[i];
    }
}

enum { TYPED_KEYS = 2000, TYPED_VALUES = 4000 };

/* The result against a counting sort: where the keys of each value begin, in the order that is wanted. */
static bool typed_right(const hac_sort_options *o, const int64_t *values, size_t n, const void *got)
{
    uint32_t begin[TYPED_VALUES + 1] = {0};
    for (size_t i = 0; i < n; i++)
        begin[(o->descending ? TYPED_VALUES - 1 - values[i] : values[i]) + 1]++;
    for (size_t v = 0; v < TYPED_VALUES; v++)
        begin[v + 1] += begin[v];
    for (size_t i = 0; i < n; i++) { /* equal keys keep their order */
        size_t at = begin[o->descending ? TYPED_VALUES - 1 - values[i] : values[i]]++;
        if (o->argsort ? ((const uint32_t *)got)[at] != i : get_key(got, o->type, at) != values[i])
            return false;
    }
    return true;
}

static int typed_job(worker *w)
{
    static const hac_type types[] = {HAC_TYPE_U32, HAC_TYPE_I32, HAC_TYPE_F32,
                                     HAC_TYPE_U64, HAC_TYPE_I64, HAC_TYPE_F64};
    _Alignas(64) char keys[TYPED_KEYS * 8];
    int64_t values[TYPED_KEYS];
    size_t n = next_random(w) % (TYPED_KEYS + 1);
    hac_error err = HAC_ERROR_NONE;
    hac_job *job = NULL;
    hac_sort_options options = options_of(w);
    options.type = types[next_random(w) % 6];
    options.descending = next_random(w) % 2;
    options.argsort = next_random(w) % 2;
    if (next_random(w) % 4 == 0)
        options.algorithm = HAC_SORT_RADIX;
    for (size_t i = 0; i < n; i++) {
        values[i] = (int64_t)(next_random(w) % TYPED_VALUES);
        put_key(keys, options.type, i, values[i]);
    }
    uint64_t began = now_us();
    if (hac_sort_memory(w->client, keys, n, &options, &job, &err) != HAC_OK)
        return fail(w, "typed job", &err);
    int result = 0;
    if (hac_job_wait(job, -1, &err) != HAC_OK)
        result = fail(w, "typed job", &err);
    else if (!typed_right(&options, values, n, hac_job_data(job)))
        result = fail(w, "typed job", &(hac_error){0, "the result is wrong"});
    hac_job_free(job);
    if (result == 0)
        report(options.argsort ? "argsort" : "sort-typed", began);
    return result;
}

enum { WORDS = 20, WORD = 4 };

/* Text of n words "w00 " … and the counts of them, as a query for these writes it. */
static void some_words(worker *w, char *text, size_t n, char *ret_answer, size_t capacity)
{
    unsigned counts[WORDS] = {0};
    for (size_t i = 0; i < n; i++) {
        unsigned word = (unsigned)(next_random(w) % WORDS);
        counts[word]++;
        text[i * WORD] = 'w';
        text[i * WORD + 1] = (char)('0' + word / 10);
        text[i * WORD + 2] = (char)('0' + word % 10);
        text[i * WORD + 3] = next_random(w) % 8 == 0 ? '\n' : ' ';
    }
    size_t at = (size_t)snprintf(ret_answer, capacity, "word,n\n");
    for (unsigned i = 0; i < WORDS; i++)
        if (counts[i] > 0)
            at += (size_t)snprintf(ret_answer + at, capacity - at, "w%02u,%u\n", i, counts[i]);
}

static int query_job(worker *w)
{
    char text[20000 * WORD], answer[512];
    size_t n = next_random(w) % (next_random(w) % 4 == 0 ? 20000 : 1000);
    hac_error err = HAC_ERROR_NONE;
    hac_job *job = NULL;
    hac_query_options options = HAC_QUERY_OPTIONS_INIT;
    options.input_format = HAC_INPUT_WORDS;
    options.group_by = "word";
    options.select = "count() as n";
    options.order_by = "word";
    options.job.detach = next_random(w) % 8 == 0;
    some_words(w, text, n, answer, sizeof answer);
    uint64_t began = now_us(), id = 0;
    hac_status status = hac_query_memory(w->client, text, n * WORD, &options, &job, &err);
    if (status == HAC_OK && options.job.detach) { /* leaves, and is found again by its number */
        id = hac_job_id(job);
        hac_job_free(job);
        job = NULL;
        status = hac_job_attach(w->client, id, &job, &err);
    }
    int result = 0;
    if (status != HAC_OK || hac_job_wait(job, -1, &err) != HAC_OK)
        result = fail(w, "query", &err);
    else if (hac_job_bytes(job) != strlen(answer) || memcmp(hac_job_data(job), answer, strlen(answer)) != 0)
        result = fail(w, "query", &(hac_error){0, "the counts are wrong"});
    hac_job_free(job);
    if (result == 0)
        report(options.job.detach ? "query-detached" : "query", began);
    return result;
}

/* Plans of sorts of any size; nothing runs. */
static int explain_job(worker *w)
{
    hac_error err = HAC_ERROR_NONE;
    hac_sort_options options = options_of(w);
    char *text = NULL;
    uint64_t began = now_us();
    if (hac_explain_sort(w->client, next_random(w) % 100000000, &options, HAC_PLAN_JSON, &text, &err) !=
        HAC_OK)
        return fail(w, "explain", &err);
    int result = text[0] == '{' ? 0 : fail(w, "explain", &(hac_error){0, "no JSON object"});
    free(text);
    if (result == 0)
        report("explain", began);
    return result;
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
    uint64_t began = now_us();
    if (hac_client_connect(&options, &w->client, &err) != HAC_OK ||
        hac_client_query(w->client, HAC_TOPIC_METRICS, 0, HAC_PLAN_TEXT, &text, &err) != HAC_OK)
        return fail(w, "connect", &err);
    free(text);
    report("connect", began);
    return 0;
}

/* In a soak a failure is a line, and the thread goes on with a new connection. */
static void go_on(worker *w)
{
    printf("%s %s\n", w->status == HAC_REFUSED ? "refused" : "failed", w->failure);
    w->failure[0] = '\0';
    usleep(200000);
    if (reconnect(w) != 0) {
        printf("failed %s\n", w->failure);
        stopping = true;
    }
}

/* A round of a soak, and a pause. */
static void soak_round(worker *w)
{
    while (pausing && !stopping)
        usleep(20000);
    /* Small ones mostly: many jobs, not much work. */
    static int (*const kinds[])(worker *) = {inline_job,  inline_job, inline_job, typed_job, typed_job,
                                             typed_job,   query_job,  query_job,  query_job, explain_job,
                                             buffer_jobs, event_jobs, pairs_job,  reconnect, abandoned_job};
    if (kinds[next_random(w) % (sizeof kinds / sizeof *kinds)](w) != 0)
        go_on(w);
    usleep((useconds_t)(next_random(w) % (2 * pause_ms + 1)) * 1000);
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
    while (pause_ms > 0 && !stopping)
        soak_round(w);
    for (unsigned i = 0; i < rounds && result == 0; i++)
        result = kinds[next_random(w) % (sizeof kinds / sizeof *kinds)](w);
    hac_client_free(w->client);
    return result == 0 ? NULL : w;
}

static void wait_for_end_of_input(void)
{
    char c;
    while (read(STDIN_FILENO, &c, 1) > 0)
        pausing = c == 'p';
    stopping = true;
}

int main(int argc, char **argv)
{
    if (argc != 4 && argc != 5) {
        fputs("usage: stress THREADS ROUNDS SEED [MILLISECONDS]\n", stderr);
        return 2;
    }
    unsigned threads = (unsigned)strtoul(argv[1], NULL, 10), failed = 0;
    rounds = (unsigned)strtoul(argv[2], NULL, 10);
    pause_ms = argc == 5 ? (unsigned)strtoul(argv[4], NULL, 10) : 0;
    setvbuf(stdout, NULL, _IOLBF, 0);
    worker *workers = calloc(threads, sizeof *workers);
    if (workers == NULL || threads == 0)
        return 2;
    for (unsigned i = 0; i < threads; i++) {
        workers[i].number = i;
        workers[i].random = (strtoull(argv[3], NULL, 10) + 1) * UINT64_C(0x9e3779b97f4a7c15) + i * 7919 + 1;
        if (pthread_create(&workers[i].thread, NULL, work, &workers[i]) != 0)
            return 2;
    }
    if (pause_ms > 0)
        wait_for_end_of_input();
    for (unsigned i = 0; i < threads; i++) {
        void *result = NULL;
        pthread_join(workers[i].thread, &result);
        if (result != NULL) {
            fprintf(stderr, "stress: %s\n", workers[i].failure);
            failed++;
        }
    }
    if (pause_ms == 0)
        printf(
            "%lu inline, %lu buffer, %lu event jobs of which %lu cancelled, %lu pairs; %u threads failed\n",
            n_inline, n_buffer, n_events, n_cancelled, n_pairs, failed);
    free(workers);
    return failed != 0;
}
