/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One line of the sort table: the product, and beside it a peer or the product on single devices, turn by
 * turn in one process, each timed from the call to having read the result. Prints one JSON object.
 * bench/run.py runs it for every line.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <hac/hac.h>

#include "base/clock.h"
#include "base/type.h"
#include "patterns.h"
#include "peer.h"

#define DEVICES_MAX 16
#define REPEATS_MAX 1000
#define WARM_UP     3 /* rounds: kernels built, memory faulted in, models learnt */

typedef struct options {
    hac_type type;
    uint64_t items;
    const char *pattern, *peer_library, *peer_name, *input; /* input: recycled or memory */
    int repeats;
    hac_sort_options sort;
    const char *devices[DEVICES_MAX];
    const char *beside[DEVICES_MAX]; /* each alone takes a turn, too */
    size_t n_beside;
} options;

static void die(const char *what, const hac_error *err)
{
    fprintf(stderr, "bench_sort: %s: %s\n", what, err->message);
    exit(1);
}

/* Reads every byte, as a user of the result would. */
static uint64_t read_all(const void *data, uint64_t bytes)
{
    const uint64_t *words = data;
    uint64_t sum = 0;
    for (uint64_t i = 0; i < bytes / 8; i++)
        sum += words[i];
    return sum;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, int n)
{
    qsort(values, (size_t)n, sizeof *values, by_value);
    return n % 2 != 0 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

static void check_sorted(const options *o, const void *result)
{
    size_t size = hac_type_size(o->type);
    hac_key_order order = hac_key_order_of(o->type, o->sort.descending);
    const uint8_t *bytes = result;
    uint64_t previous = 0;
    for (uint64_t i = 0; i < o->items; i++) {
        uint64_t key = 0;
        memcpy(&key, bytes + i * size, size);
        key = size == 4 ? hac_key_map32(order, (uint32_t)key) : hac_key_map64(order, key);
        if (key < previous) {
            fprintf(stderr, "bench_sort: the result is not sorted at item %llu\n", (unsigned long long)i);
            exit(1);
        }
        previous = key;
    }
}

/* On the devices of the options, or on `device` alone. */
static double time_product(hac_client *client, hac_buffer *buffer, const void *keys, const options *o,
                           const char *device, bool check, uint64_t *sum)
{
    hac_sort_options sort = o->sort;
    if (device != NULL) {
        sort.job.devices = &device;
        sort.job.n_devices = 1;
    }
    hac_error err = HAC_ERROR_NONE;
    hac_job *job = NULL;
    uint64_t start = hac_now_ns();
    hac_status status = strcmp(o->input, "memory") == 0
                            ? hac_sort_memory(client, keys, o->items, &sort, &job, &err)
                            : hac_sort_buffer(client, buffer, 0, o->items, &sort, &job, &err);
    if (status != HAC_OK || hac_job_wait(job, -1, &err) != HAC_OK)
        die("sort", &err);
    *sum += read_all(hac_job_data(job), hac_job_bytes(job));
    double seconds = hac_seconds_since(start);
    if (check && !o->sort.argsort)
        check_sorted(o, hac_job_data(job));
    hac_job_free(job);
    return seconds;
}

static double time_peer(const bench_peer *peer, const options *o, const void *keys, void *work,
                        uint64_t *index, uint64_t *sum)
{
    size_t bytes = o->items * hac_type_size(o->type);
    memcpy(work, keys, bytes);
    uint64_t start = hac_now_ns();
    if (o->sort.argsort) {
        peer->argsort(work, index, o->items);
        *sum += read_all(index, o->items * 8);
    } else {
        peer->sort(work, o->items);
        *sum += read_all(work, bytes);
    }
    return hac_seconds_since(start);
}

static void parse(int argc, char **argv, options *o)
{
    static const struct option table[] = {
        {"type", 1, NULL, 't'},    {"items", 1, NULL, 'n'},     {"pattern", 1, NULL, 'p'},
        {"peer", 1, NULL, 'l'},    {"name", 1, NULL, 'N'},      {"input", 1, NULL, 'i'},
        {"repeats", 1, NULL, 'r'}, {"algorithm", 1, NULL, 'a'}, {"argsort", 0, NULL, 'A'},
        {"device", 1, NULL, 'd'},  {"scheme", 1, NULL, 's'},    {"beside", 1, NULL, 'b'},
        {NULL, 0, NULL, 0},
    };
    static const char *const schemes[] = {"auto", "proportional", "lower", "upper", "none"};
    hac_sort_options sort = HAC_SORT_OPTIONS_INIT;
    *o = (options){HAC_TYPE_U32, 1 << 24, "random", NULL, "x86simdsort", "recycled", 9,
                   sort,         {NULL},  {NULL},   0};
    for (int c; (c = getopt_long(argc, argv, "", table, NULL)) != -1;) {
        switch (c) {
        case 't':
            o->type = hac_type_from_name(optarg);
            break;
        case 'n':
            o->items = strtoull(optarg, NULL, 10);
            break;
        case 'p':
            o->pattern = optarg;
            break;
        case 'l':
            o->peer_library = optarg;
            break;
        case 'N':
            o->peer_name = optarg;
            break;
        case 'i':
            o->input = optarg;
            break;
        case 'r':
            o->repeats = atoi(optarg);
            break;
        case 'a':
            o->sort.algorithm = strcmp(optarg, "bitonic") == 0 ? HAC_SORT_BITONIC
                                : strcmp(optarg, "radix") == 0 ? HAC_SORT_RADIX
                                                               : HAC_SORT_AUTO;
            break;
        case 'A':
            o->sort.argsort = 1;
            break;
        case 'd':
            if (o->sort.job.n_devices < DEVICES_MAX)
                o->devices[o->sort.job.n_devices++] = optarg;
            break;
        case 'b':
            if (o->n_beside < DEVICES_MAX)
                o->beside[o->n_beside++] = optarg;
            break;
        case 's':
            for (int i = 0; i < 5; i++)
                if (strcmp(optarg, schemes[i]) == 0)
                    o->sort.scheme = (hac_sort_scheme)i;
            break;
        default:
            exit(2);
        }
    }
    o->sort.type = o->type;
    o->sort.job.devices = o->sort.job.n_devices > 0 ? o->devices : NULL;
    if (o->type == HAC_TYPE_NONE || o->items == 0 || o->repeats < 1 || o->repeats > REPEATS_MAX) {
        fprintf(stderr, "bench_sort: bad --type, --items or --repeats\n");
        exit(2);
    }
}

int main(int argc, char **argv)
{
    options o;
    parse(argc, argv, &o);
    hac_error err = HAC_ERROR_NONE;
    hac_client *client = NULL;
    hac_buffer *buffer = NULL;
    bench_peer peer = {NULL, NULL};
    size_t bytes = o.items * hac_type_size(o.type);
    static double product[REPEATS_MAX], others[REPEATS_MAX], alone[DEVICES_MAX][REPEATS_MAX];
    uint64_t sum = 0;
    if (hac_client_connect(NULL, &client, &err) != HAC_OK ||
        hac_buffer_alloc(client, bytes, &buffer, &err) != HAC_OK)
        die("connect", &err);
    void *keys = hac_buffer_data(buffer);
    if (!bench_fill(o.pattern, o.type, keys, o.items, 42)) {
        fprintf(stderr, "bench_sort: no pattern %s\n", o.pattern);
        return 2;
    }
    bool has_peer = o.peer_library != NULL && bench_peer_load(o.peer_library, o.peer_name, o.type, &peer);
    void *work = has_peer ? malloc(bytes) : NULL;
    uint64_t *index = has_peer && o.sort.argsort ? malloc(o.items * 8) : NULL;
    for (int i = -WARM_UP; i < o.repeats; i++) {
        int at = i < 0 ? 0 : i;
        product[at] = time_product(client, buffer, keys, &o, NULL, i == -WARM_UP, &sum);
        for (size_t d = 0; d < o.n_beside; d++)
            alone[d][at] = time_product(client, buffer, keys, &o, o.beside[d], i == -WARM_UP, &sum);
        if (has_peer && i >= -1)
            others[at] = time_peer(&peer, &o, keys, work, index, &sum);
    }
    double ours = median(product, o.repeats), theirs = has_peer ? median(others, o.repeats) : 0;
    printf(
        "{\"type\":\"%s\",\"items\":%llu,\"pattern\":\"%s\",\"input\":\"%s\",\"argsort\":%s,\"seconds\":%.9f,"
        "\"best_seconds\":%.9f,\"peer\":\"%s\",\"peer_seconds\":%.9f,\"ratio\":%.4f,\"checksum\":%llu,"
        "\"beside\":[",
        hac_type_name(o.type), (unsigned long long)o.items, o.pattern, o.input,
        o.sort.argsort ? "true" : "false", ours, product[0], has_peer ? o.peer_name : "", theirs,
        ours > 0 ? theirs / ours : 0, (unsigned long long)sum);
    for (size_t d = 0; d < o.n_beside; d++)
        printf("%s%.9f", d > 0 ? "," : "", median(alone[d], o.repeats));
    printf("]}\n");
    free(work);
    free(index);
    hac_buffer_free(buffer);
    hac_client_free(client);
    return 0;
}
