/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sorts random numbers on whatever the machine has, in memory that the devices work on without a copy:
 *
 *     cc sort.c $(pkg-config --cflags --libs hac) -o sort && ./sort 10000000
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <hac/hac.h>

static int fail(const hac_error *err)
{
    fprintf(stderr, "sort: %s\n", err->message);
    return 1;
}

static void fill(uint32_t *keys, uint64_t n)
{
    uint32_t x = 1;
    for (uint64_t i = 0; i < n; i++)
        keys[i] = x = x * 1664525 + 1013904223;
}

static int is_sorted(const uint32_t *keys, uint64_t n)
{
    for (uint64_t i = 1; i < n; i++)
        if (keys[i - 1] > keys[i])
            return 0;
    return 1;
}

int main(int argc, char **argv)
{
    uint64_t n = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000000;
    hac_error err = HAC_ERROR_NONE;
    hac_client *client = NULL;
    hac_buffer *keys = NULL;
    hac_job *job = NULL;

    /* the system's daemon, or one of our own, which is started if need be */
    if (hac_client_connect(NULL, &client, &err) != HAC_OK)
        return fail(&err);
    if (hac_buffer_alloc(client, n * sizeof(uint32_t), &keys, &err) != HAC_OK)
        return fail(&err);
    fill(hac_buffer_data(keys), n);

    hac_sort_options options = HAC_SORT_OPTIONS_INIT;
    options.type = HAC_TYPE_U32;
    if (hac_sort_buffer(client, keys, 0, n, &options, &job, &err) != HAC_OK || /* submits */
        hac_job_wait(job, -1, &err) != HAC_OK)                                 /* waits for the end */
        return fail(&err);

    const uint32_t *sorted = hac_job_data(job); /* in the same shared memory: nothing was copied */
    int good = is_sorted(sorted, n);
    printf("%" PRIu64 " numbers, job %" PRIu64 ": %s\n", n, hac_job_id(job), good ? "sorted" : "NOT SORTED");

    hac_job_free(job);
    hac_buffer_free(keys);
    hac_client_free(client);
    return good ? 0 : 1;
}
